"""Zooming along bytes in the view of memory, by the wheel and back by a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...trace.model import Trace
from ...views.actions import Action, Change, State
from ...views.calls.same_clock import shown_above
from .view.layout import sizes

#: Of the bytes: no view shows less.
_LEAST = 1e-6
#: Seconds that a step takes.
_SECONDS = 0.22

Range = tuple[float, float]


def zoom(state: State) -> Change:
    """Return the parameters that show so many times less of the bytes; what the mouse is over stays."""
    wide, _ = sizes(float(state.parameters["opening"]))
    share = min(max(state.point[0] / wide, 0.0), 1.0)
    low, high = _bytes(state.goal or state.parameters)
    wide = min(max((high - low) / state.amount, _LEAST), 1.0)
    left = min(max(low + share * (high - low - wide), 0.0), 1.0 - wide)
    return _to(state, (left, left + wide))


def is_zoomed(state: State) -> bool:
    """Return whether a part of the bytes is shown."""
    low, high = _bytes(state.parameters)
    return high - low < 1.0


def show_all_bytes(state: State) -> Change:
    """Return the parameters that show all bytes."""
    return _to(state, (0.0, 1.0))


def _bytes(parameters: Mapping[str, Any]) -> Range:
    return float(parameters["left"]), float(parameters["right"])


def _to(state: State, goal: Range) -> Change:
    begin = _bytes(state.parameters)
    return Change(
        {"left": goal[0], "right": goal[1]},
        between=_between(begin, goal) if begin != goal else None,
        seconds=_SECONDS,
        message="Zoom in Bytes",
    )


def _between(begin: Range, goal: Range) -> Callable[[float], dict[str, float]]:
    """Return the transition from one range of bytes to another, with an even zoom."""
    (a, b), (c, d) = begin, goal
    whole = (b - a) - (d - c)

    def at(share: float) -> dict[str, float]:
        # Widths are multiplied, not added.
        wide = (b - a) * ((d - c) / (b - a)) ** share
        left = a + (c - a) * (((b - a) - wide) / whole if abs(whole) > 1e-12 else share)
        return {"left": left, "right": left + wide}

    return at


ZOOM = Action(
    "zoom_in_bytes",
    "Zoom in Bytes",
    "Show fewer bytes, or more, around what the mouse is over",
    zoom,
    triggers=("wheel",),
    about="view",
)
SHOW_ALL_BYTES = Action(
    "show_all_bytes",
    "Show All Bytes",
    "Show all bytes again",
    show_all_bytes,
    triggers=("home",),
    applies=is_zoomed,
    about="view",
)


def _without_memory(trace: Trace) -> str:
    if len(trace.memory):
        return ""
    return "This recording has no memory: record it with 'tracevis3d record --memory'"


MEMORY_ABOVE = shown_above(
    "memory_above",
    "Memory on This Clock",
    "memory",
    "Show the blocks of memory of the same time above this view, and all views at once",
    _without_memory,
)
