"""The rows of threads in more detail, at their places in the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....drawing.frame import Frame
from ....drawing.palettes import Paint
from ....layout.cut import CutBuffers
from ....trace.model import Trace
from ....views.detail import Detail, Pane, readable, refined_cut
from .annotations.captions import function_names
from .calls import call_blocks, meaning, one_window
from .colors import color_calls
from .found_waits import waits_of
from .layout import compose
from .story import staged, story, waits_about

if TYPE_CHECKING:
    from .parameters import Parameters


class LevelOfDetail:
    """Threads with level of detail, where time is straight and the same for all rows.

    See :class:`....views.detail.LevelOfDetail`.

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
        (self._trace,) = traces
        waits = waits_of(self._trace, parameters.rules)
        finding = story(waits, parameters)
        staged_as = staged(waits, parameters, finding)
        self._picture = compose(self._trace, waits, staged_as, frame)
        self.camera = self._picture.camera
        window = one_window(self._picture)
        self.panes: tuple[Pane, ...] = ()
        if window is not None:
            self.panes = (
                Pane(
                    0, window, (0.0, self._picture.theatre.width), self._picture.pixels_per_unit,
                    ("call", "cluster", "start"),
                ),
            )  # fmt: skip
        self._paint = Paint()
        self._colors = color_calls(
            self._picture, self._paint, waits_about(waits, staged_as, finding), finding
        )
        self._buffers = CutBuffers()

    def look(self, pane: int, seen: tuple[float, float], pixels_per_unit: float) -> Detail:
        """Return the calls and clusters of all rows, and names on those within ``seen``.

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
        picture, window = self._picture, self.panes[pane].window
        finer = picture.pixels_per_unit / pixels_per_unit
        cuts = tuple(
            cut
            if len(row.threads) > 1
            else refined_cut(
                self._trace,
                cut,
                window,
                seen,
                finer * cut.resolution,
                row.threads,
                self._buffers,
                max(math.ceil(finer * cut.step), 1) if cut.step > 1 else 1,
            )
            for row, cut in zip(picture.rows, picture.cuts)
        )
        detailed = replace(picture, cuts=cuts, pixels_per_unit=pixels_per_unit)
        low, high = ((min(max(t, window[0]), window[1]) - window[0]) / (window[1] - window[0]) for t in seen)
        color = self._colors.of(np.concatenate([cut.calls for cut in cuts]))
        names = function_names(detailed, color, picture.parameters.labels, (low, high))
        return Detail(
            tuple(call_blocks(detailed, self._colors)),
            tuple(readable(group, picture.least_text, pixels_per_unit) for group in names),
            self._paint.palette,
            {"start": meaning(self._trace)},
        )
