"""The boxes of an icicle in more detail, at their places in the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....drawing.frame import Frame
from ....drawing.palettes import BASE, GRID, OTHER, PALETTES
from ....layout.cut import CutBuffers, joined
from ....trace.model import Trace
from ....views.calls.colors import coloring
from ....views.calls.measures import measure
from ....views.detail import Detail, Pane, readable, refined_cut, within
from ....views.time_window import WIDTH
from .boxes import call_boxes, cluster_boxes, measured
from .layout import compose, rows_of
from .names import names_on_fronts


class LevelOfDetail:
    """An icicle with level of detail; see :class:`....views.detail.LevelOfDetail`.

    Parameters
    ----------
    traces : sequence of Trace
        One.
    parameters : object
        Those of the view.
    frame : Frame
        Of the picture that it adds to.
    """

    def __init__(self, traces: Sequence[Trace], parameters: object, frame: Frame) -> None:
        (self._trace,) = traces
        self._picture, self._base, _ = compose(self._trace, parameters, frame)  # type: ignore[arg-type]
        p = self._picture.parameters
        self.panes: tuple[Pane, ...] = (
            Pane(0, self._picture.window, (0.0, WIDTH), self._picture.pixels_per_unit),
        )
        self.camera = self._picture.camera
        self._colors = coloring(self._trace, p.color, PALETTES[p.palette], p.entries, self._picture.threads)
        self._palette = np.vstack([self._colors.palette, OTHER[None], GRID[None], BASE[None]])
        self._measure = measure(self._trace, p.measure)
        # The scale stays that of the picture, so that no thickness changes on the way.
        self._scale, _, _ = measured(self._measure, p, self._base)
        self._buffers = CutBuffers()

    def look(self, pane: int, seen: tuple[float, float], pixels_per_unit: float) -> Detail:
        """Return calls and clusters of the whole window, and names on those within ``seen``.

        Parameters
        ----------
        pane : int
            There is one, 0.
        seen : (float, float)
            Nanoseconds.
        pixels_per_unit : float
            Pixels of a scene unit in the zoomed part.

        Returns
        -------
        Detail
        """
        picture, p, window = self._picture, self._picture.parameters, self.panes[pane].window
        resolution = p.resolution * (window[1] - window[0]) / (WIDTH * pixels_per_unit)
        edge = picture.lanes.edge
        level = float(edge[-1]) / max(len(edge) - 1, 1)
        rows = rows_of(picture.threads, picture.folded, picture.lanes, level, pixels_per_unit)
        cut = joined(
            [
                refined_cut(self._trace, self._base, window, seen, resolution, some, self._buffers, step)
                for some, step in rows
            ],
            self._trace.calls,
        )
        shares = np.zeros(len(cut.calls)), np.zeros(len(cut.clusters))
        if self._measure is not None:
            values = self._measure.calls(cut.calls), self._measure.clusters(cut.clusters)
            shares = self._scale.place(values[0]), self._scale.place(values[1])
        calls = call_boxes(picture, cut, self._colors, shares[0])
        clusters = cluster_boxes(picture, cut, self._colors, shares[1])
        first, last = (self.panes[pane].place(t) for t in seen)
        detailed = replace(picture, pixels_per_unit=pixels_per_unit)
        names = names_on_fronts(detailed, within(calls, first, last), clusters, p.labels)
        return Detail(
            (calls, clusters), (readable(names, picture.least_text, pixels_per_unit),), self._palette
        )
