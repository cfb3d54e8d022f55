"""The walls of a comparison in more detail, at their places in the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....drawing.frame import Frame
from ....drawing.palettes import Paint
from ....layout.cut import CutBuffers
from ....progress import silent
from ....trace.model import Trace
from ....views.detail import Detail, Pane, readable, refined_cut, within
from .. import links
from . import colors
from .base_drawing import base_drawing
from .boxes import boxes_of, explained
from .difference.paint import DifferencePaint
from .names import names
from .parameters import Parameters, as_drawn


class LevelOfDetail:
    """Two walls with level of detail; see ``views.detail``. A fan has none.

    Parameters
    ----------
    traces : sequence of Trace
        Two; of more there is no detail.
    parameters : Parameters
        Those of the view.
    frame : Frame
        Of the picture that it adds to.
    """

    def __init__(self, traces: Sequence[Trace], parameters: Parameters, frame: Frame) -> None:
        parameters = self._p = as_drawn(parameters, len(traces))
        self._buffers = CutBuffers()
        self.panes: tuple[Pane, ...] = ()
        if len(traces) > 2:
            return
        drawing, self._sweep = base_drawing(traces, parameters, frame, silent)
        picture = self._sweep.picture
        self.comparison = self._sweep.like.comparison
        self.camera = picture.camera
        self.panes = tuple(
            Pane(w.source, w.window, (w.offset, w.offset + w.width), picture.pixels_per_unit)
            for w in picture.walls
        )
        self._palette = drawing.palette
        self._meaning = links.of_calls(self._sweep.like)

    def look(self, pane: int, seen: tuple[float, float], pixels_per_unit: float) -> Detail:
        """Return the calls and clusters of one wall, and names on those within ``seen``.

        Parameters
        ----------
        pane : int
            0 for A, 1 for B.
        seen : (float, float)
            Nanoseconds.
        pixels_per_unit : float
            Pixels of a scene unit in the zoomed part.

        Returns
        -------
        Detail
        """
        sweep, p = self._sweep, self._p
        picture = sweep.picture
        wall = picture.walls[pane]
        # Where the picture is coarser than a pixel, for its overview, so is the detail.
        finer = picture.pixels_per_unit / pixels_per_unit
        resolution = wall.cut.resolution * finer
        threads = np.flatnonzero(wall.lane_of >= 0)
        step = max(math.ceil(finer * wall.cut.step), 1) if wall.cut.step > 1 else 1
        cut = refined_cut(wall.trace, wall.cut, wall.window, seen, resolution, threads, self._buffers, step)
        near = replace(wall, cut=cut)
        best = sweep.like.best_of(pane, near.drawn)
        paint = Paint()
        paint.add(self._palette)
        own = colors.color_of_match(near.drawn, (sweep.shown.a, sweep.shown.b)[pane], sweep.own)
        if p.walls == "difference":
            color = DifferencePaint(sweep.differing(), paint).of_drawn(near, best)
        else:
            color = colors.of_walls(float(self.comparison.settings.tau), paint, p).of(best, own)
        coverage = explained(self.comparison, near) if p.plates == "coverage" else None
        parts = boxes_of(near, color, best, coverage, paint)
        first, last = (self.panes[pane].place(t) for t in seen)
        detailed = replace(picture, pixels_per_unit=pixels_per_unit)
        texts = names(detailed, near, within(parts[0], first, last), p.labels, paint.palette)
        labels = (readable(texts, picture.least_text, pixels_per_unit),)
        return Detail(tuple(parts), labels, paint.palette, self._meaning)
