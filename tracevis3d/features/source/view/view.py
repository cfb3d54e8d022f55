"""Files as slabs of lines: where in the source the time goes.

After Seesoft (Eick, Steffen and Sumner, 1992) and its form with heights, SUIF Explorer's bird's-eye view and
SvPablo's metrics of lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.frame import Frame
from ....drawing.palettes import Colors
from ....drawing.picked import Description, PickedElement
from ....drawing.primitives import Drawing
from ....progress import Progress
from ....trace.model import Trace
from ....trace.profile import note as profile_note
from ....views.describe import StoredNames
from ....views.describe import describe as describe_element
from ....views.element_metadata import FILE, LINE
from ....views.view import View
from ..findings import summary
from . import slabs
from .detail import LevelOfDetail
from .layout import Layout, camera, compose
from .parameters import Parameters

_FINDING: Colors = np.array([0.93, 0.38, 0.09, 1.0], np.float32)


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the source of one trace.

    Parameters
    ----------
    traces : one Trace
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
        If no line of source is known.
    UsageError
        If nothing of what is wanted is known of any line.
    """
    (trace,) = traces
    progress(0.0, "summing up lines")
    picture = compose(trace, parameters, frame)
    progress(0.6, "building slabs")
    drawing = DrawingBuilder()
    mark = drawing.color(_FINDING)
    colors = slabs.Coloring(drawing, picture)
    slabs.ground(drawing, picture)
    slabs.bars(drawing, picture, colors, picture.pixels_per_unit)
    slabs.names(drawing, picture, mark)
    drawing.explain(colors.legend)
    drawing.note(trace.source.title, *_notes(picture))
    progress(1.0, "drawn")
    return drawing.finish(
        camera(picture), summary(trace, picture.lines),
        lines=len(picture.lines), files=len(picture.lines.files),
    )  # fmt: skip


def _notes(picture: Layout) -> tuple[str, ...]:
    p, lines = picture.parameters, picture.lines
    kind = units.SCALES[p.scale]
    notes = [f"{'height' if picture.high > 0 else 'length'}: {lines.height.title}, {kind} scale"]
    every, shown = len(lines.files), len(picture.shown)
    if shown < every:
        there = np.isin(lines.file, picture.shown)
        share = units.percentage(float(lines.value[there].sum() / lines.value.sum()))
        notes.append(f"{shown:,} of {every:,} files, with {share} of it")
    if lines.unplaced > 5e-3:
        notes.append(f"{units.percentage(lines.unplaced)} of it is at no known line")
    notes.append(profile_note(picture.trace))
    notes.append(picture.trace.problems.note())
    return tuple(notes)


def describe(
    element: PickedElement, traces: Sequence[Trace | StoredNames], parameters: Any = None
) -> list[Description]:
    """Return the description of a line: what is known of it, and the longest call of its function.

    Parameters
    ----------
    element : PickedElement
    traces : sequence of Trace or StoredNames
        One.
    parameters : object
        Those of the view.

    Returns
    -------
    list of Description
    """
    texts, values = dict(element.texts), dict(element.values)
    if FILE not in texts:
        return describe_element(element, traces, parameters)
    file, line = texts.pop(FILE), values.pop(LINE, 0.0)
    title = file.replace("\\", "/").rpartition("/")[2] or file
    said = Description(f"{title}:{int(line)}" if line > 0 else title, where=file)
    said.rows = [(title, text) for title, text in texts.items() if text]
    said.rows += [(title, units.count(value)) for title, value in values.items()]
    if not any(call >= 0 for call in element.calls.values()):
        return [said]
    return [said, *describe_element(element.as_call(), traces, parameters)]


VIEW = View(
    name="source",
    title="Source",
    sentence="Files as slabs of lines: where in the source the time, waits, bytes or samples are",
    traces=(1, 1),
    parameters=Parameters,
    draw=draw,
    level_of_detail=LevelOfDetail,
    describe=describe,
    suits=lambda trace: 0.1 if len(trace.calls) else 0.0,
    docs="source.md",
)
