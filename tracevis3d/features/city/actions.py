"""Letting the stack run over the roofs."""

from __future__ import annotations

from ... import units
from ...views.actions import Action, Change, State

#: How long the whole trace takes.
_SECONDS = 12.0


def _last(state: State) -> int:
    return max(state.traces[-1].span_ns - 1, 0)


def _begin(state: State) -> int:
    """Return the moment to play from: the one that is shown, unless that is the last one."""
    text = str(state.parameters["stack"])
    shown = units.read_time("stack", text) if text else 0
    return shown if 0 <= shown < _last(state) else 0


def play(state: State) -> Change:
    """Return the parameters of the last moment; on the way there the stack runs through all before it."""
    begin, end = _begin(state), _last(state)
    return Change(
        {"stack": f"{end}ns"},
        between=lambda share: {"stack": f"{round(begin + (end - begin) * share)}ns"},
        seconds=_SECONDS * (end - begin) / max(end, 1),
        patience=10.0,
        message="Play the Stack",
    )


def hide(state: State) -> Change:
    """Return the parameters without a stack."""
    return Change({"stack": ""}, message="Hide the Stack")


def can_play(state: State) -> bool:
    """Return whether there is a trace whose stack could run, and one map."""
    return len(state.traces) > 0 and _last(state) > 0 and not state.parameters["multiples"]


def can_hide(state: State) -> bool:
    """Return whether a stack is shown."""
    return bool(state.parameters["stack"])


PLAY_STACK = Action(
    "play_stack", "Play the Stack", "Let the stack run over the roofs, from the moment shown to the end",
    play, icon="PLAY", applies=can_play, about="view",
)  # fmt: skip
HIDE_STACK = Action(
    "hide_stack", "Hide the Stack", "Show arcs of all calls again instead of the stack at a moment",
    hide, icon="HIDE_ON", applies=can_hide, about="view",
)  # fmt: skip
