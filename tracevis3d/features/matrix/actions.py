"""Lifting the third category off the bars, and collapsing it onto the floor again."""

from __future__ import annotations

from ...views.actions import Action, Change, State

_SECONDS = 0.8


def _spread(state: State) -> float:
    return float(state.parameters["spread"])


def lift(state: State) -> Change:
    """Return the parameters with a floor for each level."""
    return _to(state, 1.0, "Lift the Third Category")


def collapse(state: State) -> Change:
    """Return the parameters with all levels in one bar."""
    return _to(state, 0.0, "Collapse the Third Category")


def can_lift(state: State) -> bool:
    """Return whether levels lie in one bar, and there are several."""
    return _spread(state) < 1.0 and state.parameters["third"] != "none"


def can_collapse(state: State) -> bool:
    """Return whether levels are lifted off."""
    return _spread(state) > 0.0


def _to(state: State, goal: float, message: str) -> Change:
    begin = _spread(state)
    return Change(
        {"spread": goal},
        between=lambda share: {"spread": begin + (goal - begin) * share},
        seconds=_SECONDS,
        message=message,
    )


LIFT = Action(
    "lift_category", "Lift the Third Category", "Give each slice of time, or each thread, a floor of its own",
    lift, icon="TRIA_UP", applies=can_lift, about="view",
)  # fmt: skip
COLLAPSE = Action(
    "collapse_category", "Collapse the Third Category", "Put all slices of time, or threads, into one bar",
    collapse, icon="TRIA_DOWN", applies=can_collapse, about="view",
)  # fmt: skip
