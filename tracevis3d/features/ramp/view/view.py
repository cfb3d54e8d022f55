"""Rounds as a ramp: each repetition is a bar one step further, its stages coloured.

The slope is the rate, a step is a stall, and what sticks out is a straggler; after GPV (Weaver and others,
2001), Roberts' TraceVis and PipeCleaner, which show the instructions of a processor so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.frame import Frame
from ....drawing.palettes import Colors
from ....drawing.primitives import Drawing
from ....progress import Progress
from ....trace import profile
from ....trace.model import Trace
from ....views.detail import Detail, Pane
from ....views.time_window import WIDTH
from ....views.view import View
from ..findings import compare, findings
from . import bars
from .layout import Layout, camera, compose
from .parameters import Parameters

_FINDING: Colors = np.array([0.93, 0.38, 0.09, 1.0], np.float32)


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the rounds of one trace, or of two in depth.

    Parameters
    ----------
    traces : one or two of Trace
    parameters : Parameters
    frame : Frame
        Of the picture: it determines the size of a pixel.
    progress : Progress

    Returns
    -------
    Drawing

    Raises
    ------
    InputError
        If a trace has neither calls nor operations.
    UsageError
        If nothing is repeated, or no round is in the window.
    """
    profile.check_order(traces, "ramp")
    progress(0.0, "finding rounds")
    picture = compose(traces, parameters, frame)
    progress(0.6, "building the ramp")
    drawing = DrawingBuilder()
    mark = drawing.color(_FINDING)
    colors = bars.Stages(drawing, picture)
    drawing.measure(bars.floor(drawing, picture), bars.steps_ruler(picture))
    for run in range(len(picture.runs)):
        bars.bars(drawing, picture, run, colors)
        bars.stages(drawing, picture, run, colors)
    if parameters.histogram:
        drawing.measure(bars.histogram(drawing, picture, colors))
    last = picture.runs[-1]
    found = findings(last)
    bars.marks(drawing, picture, found[: parameters.findings], mark)
    drawing.explain(colors.legend(picture))
    title, names = found[0].sentence, traces[0].source.title
    if len(picture.runs) > 1:
        title = compare(picture.runs[0], last)
        names = f"first run {names}, second run {traces[1].source.title}"
    drawing.note(names, *_notes(picture))
    progress(1.0, "drawn")
    return drawing.finish(camera(picture), title, rounds=sum(map(len, picture.runs)))


def _notes(picture: Layout) -> tuple[str, ...]:
    notes = []
    for run, word in zip(picture.runs, ("", " in the second run"), strict=False):
        median = units.duration(float(np.median(run.duration)))
        notes.append(f"{units.counted(len(run), 'round')}{word}, median {median}")
    if picture.reach > 0:
        notes.append("a bar that takes longer sticks out further")
    if picture.parameters.histogram:
        notes.append("at the end: the distribution of durations, logarithmic scale")
    notes.append(picture.traces[-1].problems.note())
    return tuple(notes)


class LevelOfDetail:
    """Rounds with more detail: shorter stages; see :class:`....views.detail.LevelOfDetail`.

    Parameters
    ----------
    traces : sequence of Trace
        One or two.
    parameters : object
        Those of the view.
    frame : Frame
        Of the picture that it adds to.
    """

    def __init__(self, traces: Sequence[Trace], parameters: object, frame: Frame) -> None:
        self._picture = compose(traces, parameters, frame)  # type: ignore[arg-type]
        self.camera = camera(self._picture)
        self.panes: tuple[Pane, ...] = tuple(
            Pane(run, window, (0.0, WIDTH), self._picture.pixels_per_unit, (kind,))
            for run, (window, kind) in enumerate(
                zip(self._picture.windows, ("stage", "stage of the second run"), strict=False)
            )
        )

    def look(self, pane: int, seen: tuple[float, float], pixels_per_unit: float) -> Detail:
        """Return the stages of a run, those that are seen down to a pixel.

        Parameters
        ----------
        pane : int
            The run.
        seen : (float, float)
            Nanoseconds.
        pixels_per_unit : float
            Pixels of a scene unit in the zoomed part.

        Returns
        -------
        Detail
        """
        picture, rounds = self._picture, self._picture.runs[pane]
        inside = (rounds.stage_end > seen[0]) & (rounds.stage_start < seen[1])
        coarse, fine = (bars.resolution_ns(picture, p) for p in (picture.pixels_per_unit, pixels_per_unit))
        drawing = DrawingBuilder()
        colors = bars.Stages(drawing, picture)
        bars.stages(drawing, picture, pane, colors, np.where(inside, fine, coarse))
        return Detail(tuple(drawing.elements), (), drawing.paint.palette, drawing.meaning)


VIEW = View(
    name="ramp",
    title="Ramp",
    sentence="Repetitions (requests, tests, iterations) as bars, one step further each, with their stages",
    traces=(1, 2),
    parameters=Parameters,
    draw=draw,
    level_of_detail=LevelOfDetail,
    suits=lambda trace: 0.15 if len(trace.calls) else 0.0,
    runs_right=True,
    docs="ramp.md",
)
