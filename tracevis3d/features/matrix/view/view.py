"""Who deals with whom, how much, and when: a matrix with three categories.

After De Pauw's matrices of calls, Vampir's matrix of messages, Thor's three categories on three axes, and the
Do-Loop-Surface of rounds and workers. Rows and columns stand in an order in which blocks show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.frame import Frame
from ....drawing.palettes import GRID, Colors
from ....drawing.picked import Description, PickedElement
from ....drawing.primitives import Drawing
from ....progress import Progress
from ....trace import profile
from ....trace.model import Trace
from ....views.calls.actions import with_actions
from ....views.describe import StoredNames
from ....views.describe import describe as describe_element
from ....views.view import View
from ..actions import ACTIONS
from ..findings import findings
from . import cells, surface
from .layout import Layout, camera, compose
from .parameters import Parameters

_FINDING: Colors = np.array([0.93, 0.38, 0.09, 1.0], np.float32)


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the matrix of one trace.

    Parameters
    ----------
    traces : one Trace
    parameters : Parameters
    frame : Frame
        Of the picture.
    progress : Progress

    Returns
    -------
    Drawing

    Raises
    ------
    InputError
        If the trace has nothing of what is requested.
    UsageError
        If the window is empty, or there is no such function.
    """
    (trace,) = traces
    progress(0.0, "summing up")
    picture = compose(trace, parameters, frame)
    found = findings(picture.table)
    progress(0.6, "building bars")
    drawing = DrawingBuilder()
    mark, hair = drawing.color(_FINDING), drawing.color(GRID)
    colors = cells.Colors(drawing, picture)
    cells.floor(drawing, picture)
    cells.grid(drawing, picture, hair)
    cells.sums_on_the_floor(drawing, picture, colors)
    if picture.is_surface:
        surface.surface(drawing, picture, colors)
    else:
        cells.bars(drawing, picture, colors)
    cells.walls(drawing, picture, colors)
    cells.names(drawing, picture)
    shown = found[: parameters.findings]
    if picture.is_surface:
        surface.ridges(drawing, picture, shown, mark)
    cells.marks(drawing, picture, shown, mark)
    drawing.explain(*colors.legends())
    drawing.note(trace.source.title, *_notes(picture))
    progress(1.0, "drawn")
    flat = picture.table.flat
    return drawing.finish(
        camera(picture), found[0].sentence,
        rows=flat.shape[0], columns=flat.shape[1], levels=picture.table.value.shape[2],
    )  # fmt: skip


def _notes(picture: Layout) -> tuple[str, ...]:
    table = picture.table
    notes = []
    if picture.high > 0:
        kind = units.SCALES[picture.scale.kind]
        notes.append(f"height: {table.of}, {kind} scale")
    p = picture.parameters
    if p.form == "surface" and not picture.is_surface:
        notes.append(
            "bars: neither rows nor columns have an order here, or a category is collapsed or lifted"
        )
    if p.rows_open < 1 or p.columns_open < 1:
        notes.append("collapsed: what lies on each other adds up")
    levels = table.levels
    if levels.what == "time" and len(levels.names) > 1:
        step = (picture.window[1] - picture.window[0]) / len(levels.names)
        notes.append(f"{len(levels.names):,} slices of {units.duration(step)}, by the begin of each")
    if table.within:
        calls = profile.counted_calls(picture.trace, table.within)
        notes.append(f"{calls} within one part (within=yes) left out")
    notes += filter(None, (profile.note(picture.trace), picture.trace.problems.note()))
    return tuple(notes)


def describe(
    element: PickedElement, traces: Sequence[Trace | StoredNames], parameters: Any = None
) -> list[Description]:
    """Return the description of a cell: who with whom, how much, when.

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
        The cell's heaviest call comes second.
    """
    texts = dict(element.texts)
    if element.kind != "cell":
        return describe_element(element, traces, parameters)
    said = Description(f"{texts.pop('row', '')} → {texts.pop('column', '')}")
    said.rows = [(title, text) for title, text in texts.items() if text]
    known = {title for title, _ in said.rows}
    said.rows += [
        (title, units.count(value)) for title, value in element.values if value > 1 and title not in known
    ]
    if not element.calls:
        return [said]
    return [said, *describe_element(element.as_call(), traces, parameters)]


VIEW = View(
    name="matrix",
    title="Matrix",
    sentence="Who calls, waits for or sends to whom, how much and when: a matrix of bars between walls",
    traces=(1, 1),
    parameters=Parameters,
    draw=draw,
    describe=describe,
    actions=with_actions(*ACTIONS),
    suits=lambda trace: 0.3 if len(trace.calls) else 0.0,
    docs="matrix.md",
)
