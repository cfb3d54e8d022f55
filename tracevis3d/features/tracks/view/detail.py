"""The strips of a wall in more detail, in the places that they have in its picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....drawing.builder import DrawingBuilder
from ....drawing.frame import Frame
from ....trace.model import Trace
from ....views.detail import Detail, Pane
from ....views.time_window import WIDTH
from ..series import Steps
from . import wall
from .colors import band_colors
from .layout import cell_edges, compose, pixels_per_unit


class LevelOfDetail:
    """Tracks with level of detail: finer cells where one looks; see :class:`....views.detail.LevelOfDetail`.

    Rates keep their cells: what happens in a second is a mean over a time, and a finer one would be higher.

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
        (trace,) = traces
        self._picture = compose(trace, parameters, frame)  # type: ignore[arg-type]
        drawing = DrawingBuilder()
        self.camera = wall.draw(drawing, self._picture, (), 0)
        self._strips = wall.strips_of(self._picture)
        self.panes: tuple[Pane, ...] = ()
        if self._picture.parameters.form == "wall":
            near = pixels_per_unit(self.camera, frame)
            self.panes = (Pane(0, self._picture.window, (0.0, WIDTH), near, ("band", "peak")),)

    def look(self, pane: int, seen: tuple[float, float], pixels_per_unit: float) -> Detail:
        """Return the strips of the whole window, in finer cells within ``seen``.

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
        picture, (low, high) = self._picture, self.panes[pane].window
        first, last = max(int(seen[0]), int(low)), min(int(seen[1]) + 1, int(high))
        width = picture.parameters.resolution * (high - low) / (WIDTH * pixels_per_unit)
        edges = picture.edges
        if last > first:
            finer = cell_edges((first, last), (last - first) / max(width, 1.0))
            edges = np.unique(np.concatenate([edges[(edges < first) | (edges > last)], finer]))
        detailed = replace(picture, edges=edges)
        strips = []
        for one in self._strips:
            if all(isinstance(band.series, Steps) for band in one.track.bands):
                strips.append(
                    (detailed, replace(one, cells=[b.series.cells(edges) for b in one.track.bands]))
                )
            else:
                strips.append((picture, one))
        drawing = DrawingBuilder()
        colors = [band_colors(drawing, one.track, picture.parameters.palette) for _, one in strips]
        wall.draw_strips(drawing, strips, colors)
        return Detail(tuple(drawing.elements), (), drawing.paint.palette, drawing.meaning)
