"""Turning cones until a call is in front, and opening them around it."""

from __future__ import annotations

from collections.abc import Callable

from ....views.actions import Action, Change, State

#: Seconds: according to Robertson and others, one second is long enough to follow and not boring.
_SECONDS = 0.9
#: Cones turn in steps if rebuilding the view, with its lists, takes at most this many seconds.
_PATIENCE = 2.0


def can_turn(state: State) -> bool:
    """Return whether a click on a call turns cones: a bubble has none, and a ball moves at a double click."""
    return state.call >= 0 and state.parameters["layout"] not in ("bubble", "hyperbolic")


def can_open(state: State) -> bool:
    """Return whether there is something to open around a call."""
    return state.call >= 0 and state.parameters["layout"] != "bubble"


def turn_to(state: State) -> Change:
    """Return the parameters with a call in front, and the way there."""
    return _to(state, {"facing": str(state.call)}, "Turn Cones")


def open_around(state: State) -> Change:
    """Return the parameters with a call in front, or in the middle of a ball, and its surroundings shown."""
    return _to(state, {"facing": str(state.call), "focus": str(state.call)}, "Open Around Call")


def _to(state: State, wanted: dict[str, str], message: str) -> Change:
    if all(state.parameters[name] == text for name, text in wanted.items()):
        return Change()
    # A transition continues from its current state.
    start = str(state.parameters["facing"] or state.parameters["focus"])
    return Change(
        wanted,
        between=_between(start, wanted),
        seconds=_SECONDS,
        patience=_PATIENCE,
        message=message,
    )


def _between(start: str, wanted: dict[str, str]) -> Callable[[float], dict[str, str | int]]:
    def at(share: float) -> dict[str, str | int]:
        # Names would jump from side to side, so they only return at the end.
        return {**wanted, "facing": f"{start}~{wanted['facing']}~{share:.4f}", "labels": 0}

    return at


TURN = Action("turn_to", "Turn to It", "Turn the cones until this call is in front", turn_to,
              triggers=("click",), applies=can_turn)  # fmt: skip
OPEN_AROUND = Action("open_around", "Open around It", "Show what is around this call", open_around,
                     triggers=("double click",), applies=can_open)  # fmt: skip
