"""Blocks of memory in more detail, at their places in the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.palettes import Paint
from ....trace.model import Trace
from ....views.detail import Detail, Pane
from ..pyramid import Items
from .colors import block_colors
from .layout import compose
from .metadata import meaning
from .terrain import heights, pieces, terrain

if TYPE_CHECKING:
    from .parameters import Parameters


class LevelOfDetail:
    """A terrain in which merged neighbours are separated by zooming in; see ``views.detail``.

    Parameters
    ----------
    traces : sequence of Trace
        One.
    parameters : Parameters
        Those of the view.
    frame : Frame
        Of the picture that it adds to.
    """

    def __init__(self, traces: Sequence[Trace], parameters: Parameters, frame: Frame) -> None:
        (trace,) = traces
        self._picture = compose(trace, parameters, frame)
        self.camera = self._picture.camera
        self.panes: tuple[Pane, ...] = (
            Pane(
                0, self._picture.span, (0.0, self._picture.wide), self._picture.pixels_per_unit,
                ("block", "block cluster"),
            ),
        )  # fmt: skip
        # No block's height changes on the way.
        self._heights = heights(self._picture)

    def look(self, pane: int, seen: tuple[float, float], pixels_per_unit: float) -> Detail:
        """Return the blocks of the whole window; within ``seen``, each that is wide enough is drawn alone.

        Parameters
        ----------
        pane : int
            There is one, 0.
        seen : (float, float)
            Bytes, or what else the axis counts.
        pixels_per_unit : float
            Pixels of a scene unit in the zoomed part.

        Returns
        -------
        Detail
        """
        picture, (low, high) = self._picture, self.panes[pane].window
        pyramid, limits = picture.arrangement.pyramid, picture.arrangement.regions
        coarse = picture.parameters.resolution * (high - low) / (picture.wide * picture.pixels_per_unit)
        fine = coarse * picture.pixels_per_unit / pixels_per_unit
        begin, end = max(seen[0], low), min(seen[1], high)
        near = pyramid.cut(begin, end, fine, limits)
        # Items outside it, as in the picture; of items that reach into it, the part outside.
        parts = [near, *self._beside(near, int(max(coarse, 1)))]
        columns = {f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Items)}
        detailed = replace(picture, items=Items(**columns), pixels_per_unit=pixels_per_unit)
        paint = Paint()
        colors = block_colors(detailed, paint)
        shown = terrain(detailed, pieces(detailed, self._heights), colors)
        return Detail(shown, (), paint.palette, meaning(detailed))

    def _beside(self, near: Items, least: int) -> list[Items]:
        """Return the picture's items without the positions of ``near``."""
        items, pyramid = self._picture.items, self._picture.arrangement.pyramid
        # Runs of positions that are near, then what is left of each item between them.
        joined = np.flatnonzero(near.first[1:] != near.stop[:-1])
        if not len(near):
            return [items]
        first = near.first[np.append(0, joined + 1)]
        stop = near.stop[np.append(joined, len(near) - 1)]
        a, b = np.searchsorted(stop, items.first, "right"), np.searchsorted(first, items.stop, "left")
        whole = a >= b
        begins, ends = [], []
        for i in np.flatnonzero(~whole).tolist():
            at, last = int(items.first[i]), int(items.stop[i])
            for run in range(int(a[i]), int(b[i])):
                if first[run] > at:
                    begins.append(at)
                    ends.append(int(first[run]))
                at = int(stop[run])
            if at < last:
                begins.append(at)
                ends.append(last)
        rest = pyramid.items(np.array(begins, np.int64), np.array(ends, np.int64), least)
        return [_only(items, whole), rest]


def _only(items: Items, which: NDArray[np.bool_]) -> Items:
    return Items(**{f.name: getattr(items, f.name)[which] for f in fields(Items)})
