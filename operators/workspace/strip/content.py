"""What lies on the strip: the traces of the active view, with all that is known of their time."""

from dataclasses import dataclass, field
from typing import Any

import bpy

from ....tracevis3d.drawing.primitives import Callout
from ....tracevis3d.trace.selection import read_range
from ....tracevis3d.views.time_strip import Columns, Lane, columns, lanes, written
from ....tracevis3d.views.time_window import Window
from ...explore import marks
from ...explore.motion import window_time
from ...lists import search
from ...overlay import callouts
from ...overlay.content import contents
from ...state import selection, settings, sources, trace_state
from ...views import viewport
from . import stored

#: Margins of the strip in pixels at scale 1: beside, above (a line of text, and signs) and below (the ruler).
_BESIDE, _ABOVE, _BELOW, _GUTTER, _APART = 12.0, 36.0, 22.0, 18.0, 4.0
#: Search results that are shown at most: evenly spread where there are more.
_MOST = 4000


@dataclass(frozen=True)
class Row:
    """A trace on the strip.

    Attributes
    ----------
    source : int
        Which of the view's traces.
    key : str
    name : str
        What it is called, and how long it takes.
    lane : Lane
    window : (int, int) or None
        The time that the view shows; None if it has no window of time.
    timed : bool
        Whether the trace has times; else they count its records.
    """

    source: int
    key: str
    name: str
    lane: Lane
    window: Window | None
    timed: bool

    def said(self, ns: float, digits: int = 4) -> str:
        """Write a time of the trace."""
        return written(ns, digits, self.timed)


@dataclass
class State:
    """The mouse on the strip.

    Attributes
    ----------
    area : int
        The area that it is in: its pointer as a number; 0: none.
    at : (float, float)
        Its pixel there.
    windows : dict
        Windows that are being dragged, by trace of the view: drawn before the view shows them.
    brush : (int, int, int) or None
        Trace of the view, and the range of time that is being selected.
    """

    area: int = 0
    at: tuple[float, float] = (0.0, 0.0)
    windows: dict[int, Window] = field(default_factory=dict)
    brush: tuple[int, int, int] | None = None


state = State()


def rows_in(context: bpy.types.Context, region: Any) -> tuple[bpy.types.Collection | None, list[Row]]:
    """Return the view that the strip is about, and its traces from top to bottom."""
    view = settings.active_in(context.scene)
    if view is None:
        return None, []
    known = [
        (i, key, whole) for i, key in enumerate(trace_state.keys_of(view)) if (whole := stored.whole_of(key))
    ]
    scale = context.preferences.system.ui_scale
    gutter = _GUTTER if len(known) > 1 else 0.0
    box = (
        (_BESIDE + gutter) * scale,
        _BELOW * scale,
        region.width - _BESIDE * scale,
        region.height - _ABOVE * scale,
    )
    found = lanes(*box, [whole for _, _, whole in known], _APART * scale)
    made = []
    for (source, key, whole), lane in zip(known, found, strict=True):
        timed = stored.is_timed(key)
        lasts = written(whole[1] - whole[0], 4, timed)
        name = f"{sources.name_of(settings.of(view).sources[source])}  {lasts}"
        window = state.windows.get(source) or window_time.of(view, source)
        made.append(Row(source, key, name, lane, window, timed))
    return view, made


def selected(row: Row) -> Columns:
    """Return the pixels of the selected calls, float (n, 2)."""
    return _of_calls(row, selection.selected(row.key).calls)


def hovered(row: Row) -> Columns:
    """Return the pixels of the calls that the mouse is over, in any view."""
    return _of_calls(row, selection.hovered(row.key))


def _of_calls(row: Row, calls: Any) -> Columns:
    trace = sources.loaded(row.key)
    if trace is None or not len(calls):
        return columns(row.lane, [], [])
    return columns(row.lane, trace.calls.start[calls], trace.calls.end[calls])


def selected_range(row: Row) -> Window | None:
    """Return the range of time that is selected, or being selected."""
    if state.brush is not None and state.brush[0] == row.source:
        return state.brush[1:]
    chosen: Window | None = selection.selected(row.key).time_range
    return chosen


def marked(row: Row) -> list[tuple[float, float]]:
    """Return the pixels of the marked ranges, each for itself."""
    return [(row.lane.x_of(a), row.lane.x_of(b)) for a, b in marks.marked(row.key)]


def found(scene: bpy.types.Scene, row: Row) -> tuple[Columns, float | None]:
    """Return the pixels where search results start, and that of the current result."""
    searched = scene.tracevis3d_search
    if searched.trace != row.key or not searched.total:
        return columns(row.lane, [], []), None
    trace, results = search.known(searched)
    if trace is None or results is None:
        return columns(row.lane, [], []), None
    calls = results.spread(_MOST)
    start = trace.calls.start[calls]
    current = searched.current
    at = row.lane.x_of(int(trace.calls.start[current])) if 0 <= current < len(trace.calls) else None
    return columns(row.lane, start, start), at


def _callouts(view: bpy.types.Collection) -> tuple[Callout, ...]:
    known = contents.of(view) if not len(view.tracevis3d_differences) else None
    return known.explained.callouts if known is not None else ()


def go_to(context: bpy.types.Context, view: bpy.types.Collection, number: int) -> None:
    """Go to a finding of a view by its number."""
    if len(view.tracevis3d_differences):
        view.tracevis3d_difference = number
    elif number < len(_callouts(view)) and (area := viewport.largest(context)) is not None:
        known = contents.of(view)
        assert known is not None
        callouts.go(context, area, view, known.explained, number)


def stretches(view: bpy.types.Collection, row: Row) -> list[tuple[float, float, str, Any]]:
    """Return left end, right end, name and colour of each part of a trace's time, such as its phases."""
    known = contents.of(view)
    if known is None:
        return []
    palette = known.explained.palette
    return [
        (row.lane.x_of(one.start), row.lane.x_of(one.end), one.text, (*palette[one.color][:3].tolist(), 1.0))
        for one in known.explained.stretches
        if one.source == row.source
    ]


def findings(view: bpy.types.Collection, row: Row) -> list[tuple[float, float, int]]:
    """Return left end, right end and number, from 0, of each finding of a trace, in order of time.

    They are those of the view's list; of a view without one what its callouts are about.
    """
    made = []
    for number, callout in enumerate(_callouts(view)):
        spans = [(start, end) for source, start, end in callout.spans if source == row.source]
        made += [(row.lane.x_of(start), row.lane.x_of(end), number) for start, end in spans]
    for number, finding in enumerate(view.tracevis3d_differences):
        spans = finding.spans.split("|")
        span = read_range(spans[row.source]) if row.source < len(spans) else None
        if span is not None:
            made.append((row.lane.x_of(span[0]), row.lane.x_of(span[1]), number))
    return sorted(made)
