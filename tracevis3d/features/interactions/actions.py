"""Moving along the axis of a time drum: a double click zooms to an element, a drag sets the window."""

from __future__ import annotations

from typing import cast

from ...views.actions import Action, Change, State
from ...views.time_window import bounded
from .view.parameters import Parameters
from .view.pointing import DrumPlaces

#: Share of the window that a double click zooms in to.
_NEARER = 0.2


def is_on_axis(state: State) -> bool:
    """Return whether an element lies along the axis of time: those of the hierarchy don't."""
    return state.element is not None and state.element.kind != "sector" and state.share is not None


def zoom_around(state: State) -> Change:
    """Return the window around an element: a phase is shown whole."""
    element = state.element
    assert element is not None
    assert state.share is not None
    if element.kind in ("phase", "step") and element.time is not None:
        low, high = element.time
    else:
        low, high = state.share - _NEARER / 2, state.share + _NEARER / 2
    where, source = DrumPlaces(state.traces, _parameters(state)), element.source
    times = where.time_at(source, low), where.time_at(source, high)
    return Change(windows={source: bounded(state.traces[source], *times)}, message="Zoom in Time")


def _parameters(state: State) -> Parameters:
    return cast(Parameters, state.view.parameters(**state.parameters))


def is_window(state: State) -> bool:
    """Return whether dragging sets the window; with Shift it selects."""
    return not state.extend


def show_time(state: State) -> Change:
    """Return the window that was dragged along."""
    assert state.span is not None
    return Change(windows={state.source: bounded(state.trace, *state.span)}, message="Time Window")


ZOOM_AROUND = Action("zoom_around", "Zoom around It", "Show what is around this in time", zoom_around,
                     triggers=("double click",), applies=is_on_axis)  # fmt: skip
SHOW_TIME = Action("show_time", "Show This Time", "Show the time that the mouse was dragged along", show_time,
                   triggers=("drag",), applies=is_window, about="view")  # fmt: skip
