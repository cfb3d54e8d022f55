"""Collapsing categories and opening them again: rows and columns onto the walls, levels into one bar."""

from __future__ import annotations

from collections.abc import Callable

from ...views.actions import Action, Change, State

_SECONDS = 0.8
#: The camera's angle, and the one from which the wall at the left is seen.
_TURN, _TO_THE_WALL = 16.0, 54.0


def _to(parameter: str, goal: float, message: str, turn: float | None = None) -> Callable[[State], Change]:
    """Return what moves a parameter to a value, with all values on the way; and the camera, if ``turn``."""
    goals = {parameter: goal} | ({} if turn is None else {"turn": turn})

    def run(state: State) -> Change:
        begin = {name: float(state.parameters[name]) for name in goals}
        return Change(
            dict(goals),
            between=lambda share: {name: begin[name] + (goals[name] - begin[name]) * share for name in goals},
            seconds=_SECONDS,
            patience=0.5,
            message=message,
        )

    return run


def _is_not(parameter: str, goal: float) -> Callable[[State], bool]:
    return lambda state: bool(state.parameters[parameter] != goal)


def _can_lift(state: State) -> bool:
    return bool(state.parameters["spread"] < 1.0 and state.parameters["third"] != "none")


LIFT = Action(
    "lift_category", "Lift the Third Category", "Give each slice of time, or each thread, a floor of its own",
    _to("spread", 1.0, "Lift the Third Category"), icon="TRIA_UP", applies=_can_lift, about="view",
)  # fmt: skip
COLLAPSE = Action(
    "collapse_category", "Collapse the Third Category", "Put all slices of time, or threads, into one bar",
    _to("spread", 0.0, "Collapse the Third Category"), icon="TRIA_DOWN", applies=_is_not("spread", 0.0),
    about="view",
)  # fmt: skip
COLLAPSE_ROWS = Action(
    "collapse_rows", "Collapse the Rows", "Put all rows on each other at the wall at the back",
    _to("rows_open", 0.0, "Collapse the Rows"), icon="TRIA_UP_BAR", applies=_is_not("rows_open", 0.0),
    about="view",
)  # fmt: skip
OPEN_ROWS = Action(
    "open_rows", "Open the Rows", "Give each row its place on the floor",
    _to("rows_open", 1.0, "Open the Rows"), icon="TRIA_DOWN_BAR", applies=_is_not("rows_open", 1.0),
    about="view",
)  # fmt: skip
COLLAPSE_COLUMNS = Action(
    "collapse_columns", "Collapse the Columns", "Put all columns on each other at the wall at the left",
    _to("columns_open", 0.0, "Collapse the Columns", _TO_THE_WALL), icon="TRIA_LEFT_BAR",
    applies=_is_not("columns_open", 0.0), about="view",
)  # fmt: skip
OPEN_COLUMNS = Action(
    "open_columns", "Open the Columns", "Give each column its place on the floor",
    _to("columns_open", 1.0, "Open the Columns", _TURN), icon="TRIA_RIGHT_BAR",
    applies=_is_not("columns_open", 1.0), about="view",
)  # fmt: skip
ACTIONS = (LIFT, COLLAPSE, COLLAPSE_ROWS, OPEN_ROWS, COLLAPSE_COLUMNS, OPEN_COLUMNS)
