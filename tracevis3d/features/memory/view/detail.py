"""Memory's blocks in more detail, in the places that they have in their picture."""

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
from .layout import WIDTH, breaks, compose
from .metadata import meaning
from .terrain import heights, pieces, terrain

if TYPE_CHECKING:
    from .parameters import Parameters


class LevelOfDetail:
    """A terrain in which neighbours come apart when one zooms in; see ``views.detail``.

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
                0, self._picture.span, (0.0, WIDTH), self._picture.pixels_per_unit,
                ("block", "block cluster"),
            ),
        )  # fmt: skip
        # No block's height changes on the way.
        self._heights = heights(self._picture)

    def look(self, pane: int, seen: tuple[float, float], pixels_per_unit: float) -> Detail:
        """Return the blocks of the whole window, within ``seen`` each that can be seen by itself.

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
        pyramid = picture.arrangement.pyramid
        coarse = picture.parameters.resolution * (high - low) / (WIDTH * picture.pixels_per_unit)
        fine = coarse * picture.pixels_per_unit / pixels_per_unit
        begin, end = max(seen[0], low), min(seen[1], high)
        near = pyramid.cut(begin, end, fine, breaks(picture, fine))
        parts = [near]
        # What lies beside it, as in the picture; of items that reach into it the part beside.
        first, last = (int(near.first[0]), int(near.stop[-1])) if len(near) else (0, 0)
        items = picture.items
        if begin > low and first > 0:
            left = items.stop <= first
            edge = int(items.stop[left][-1]) if left.any() else int(items.first[0])
            parts[:0] = [_only(items, left), self._between(edge, first, coarse)]
        if end < high and last < len(pyramid):
            right = items.first >= last
            edge = int(items.first[right][0]) if right.any() else int(items.stop[-1])
            parts += [self._between(last, edge, coarse), _only(items, right)]
        columns = {f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Items)}
        nearer = replace(picture, items=Items(**columns), pixels_per_unit=pixels_per_unit)
        paint = Paint()
        colors = block_colors(nearer, paint)
        shown = terrain(nearer, pieces(nearer, self._heights), colors)
        return Detail(shown, (), paint.palette, meaning(nearer))

    def _between(self, first: int, stop: int, coarse: float) -> Items:
        """Return the items of the positions from ``first`` on to ``stop``."""
        pyramid = self._picture.arrangement.pyramid
        if stop <= first:
            return pyramid.cut(0.0, 0.0, coarse)
        limits = np.unique(np.append(breaks(self._picture, coarse), [first, stop]))
        till = float(pyramid.low[stop]) if stop < len(pyramid) else self._picture.arrangement.total
        found = pyramid.cut(float(pyramid.low[first]), till, coarse, limits)
        return _only(found, (found.first >= first) & (found.stop <= stop))


def _only(items: Items, which: NDArray[np.bool_]) -> Items:
    return Items(**{f.name: getattr(items, f.name)[which] for f in fields(Items)})
