"""What a person does with lanes and levels in a window: fold, unfold, and make room for names."""

from __future__ import annotations

from typing import Any

from ....drawing.frame import Frame
from ....parameters import read
from ....trace.names import word_of_thread
from ....views.actions import Action, Change, State
from ....views.time_window import WIDTH
from .layout import compose

#: Height of a level in lines of the window's type.
_ROW = 1.6
#: Lowest and highest level that keys lead to, in scene units.
_LEVELS = (0.01, 2.0)


def in_window(line: float) -> dict[str, Any]:
    """Return the parameters of an icicle that is read in a window: names fit on its levels.

    Parameters
    ----------
    line : float
        Height of a line of the window's type, as a share of the width that the drawing has there.

    Returns
    -------
    dict
    """
    level = round(min(max(_ROW * line * WIDTH, _LEVELS[0]), _LEVELS[1]), 3)
    return {"unfolded": "auto", "order": "busiest", "level": level, "taper": 0.0, "recede": 0.0, "gap": 0.14}


def _thread_of(state: State) -> int:
    """Return the thread that an action is about."""
    if state.element is not None and state.element.kind == "thread":
        return state.element.id
    return int(state.trace.calls.thread[state.call])


def fold(state: State) -> Change:
    """Return the parameters that fold a thread's lane, or unfold it.

    Parameters
    ----------
    state : State
        With the thread's name, or with a call of it.

    Returns
    -------
    Change
    """
    trace, thread = state.trace, _thread_of(state)
    picture, _, _ = compose(trace, read(state.view.parameters, dict(state.parameters)), Frame())
    unfolded = set(picture.threads[~picture.folded].tolist())
    opens = thread not in unfolded
    unfolded ^= {thread}
    words = [word_of_thread(trace, t) for t in picture.threads.tolist() if t in unfolded]
    every = len(words) == len(picture.threads)
    text = "all" if every else ", ".join(words) or "none"
    return Change({"unfolded": text}, message="Unfold Thread" if opens else "Fold Thread")


def heighten(state: State) -> Change:
    """Return the parameter that makes levels higher, or lower, by a factor.

    Parameters
    ----------
    state : State
        With the factor as its amount.

    Returns
    -------
    Change
    """
    p: Any = read(state.view.parameters, dict(state.parameters))
    level = p.level
    if not level:
        edge = compose(state.trace, p, Frame())[0].lanes.edge
        level = float(edge[-1]) / max(len(edge) - 1, 1)
    level = round(min(max(level * state.amount, _LEVELS[0]), _LEVELS[1]), 4)
    return Change({"level": level}, message="Height of Levels")


FOLD = Action(
    "fold_thread",
    "Fold or Unfold Thread",
    "Show all levels of a thread, or squeeze them into one low lane",
    fold,
    icon="TRIA_DOWN",
    triggers=("menu", "click"),
    applies=lambda state: state.element is not None and state.element.kind == "thread",
)
HEIGHTEN = Action(
    "heighten_levels",
    "Height of Levels",
    "Make the levels of the call stack higher, or lower",
    heighten,
    triggers=("heighten",),
    about="view",
)
