"""Rearranging rows by hand: swapped by dragging, pulled out by a double click, the splitter of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....drawing.frame import Frame
from .....drawing.picked import PickedElement
from .....errors import UsageError
from .....trace.model import Trace
from .....trace.names import word_of_thread
from .....views.actions import Action, Change, State
from .....views.time_window import time_window
from ..found_waits import waits_of
from ..overview import SHARE_OF_HEIGHT, SPLITTER
from ..story import staged, story
from .alike import KIND, is_group
from .choice import ROOM, Chosen, choose

if TYPE_CHECKING:
    from ..parameters import Parameters

#: Kinds of elements whose ids are threads, and the one that is dragged.
_THREADS, _HANDLE = ("thread", "row", KIND, "overview row"), "thread"
#: Least and greatest share of the picture's height that the main thread's part is dragged to.
_LEAST, _MOST = 0.05, 0.8


def thread_of(trace: Trace, element: PickedElement | None) -> int:
    """Return the thread that an element is of; -1: none is known.

    Parameters
    ----------
    trace : Trace
    element : PickedElement or None

    Returns
    -------
    int
    """
    if element is None:
        return -1
    call = element.calls.get(element.source, -1)
    if call >= 0:
        return int(trace.calls.thread[call])
    return element.id if element.kind in _THREADS else -1


def is_handle(state: State) -> bool:
    """Return whether an element is the sphere beside a row."""
    return state.element is not None and state.element.kind == _HANDLE


def swap(state: State) -> Change:
    """Return the order in which a thread's row has changed places with the one that it was dropped on.

    Parameters
    ----------
    state : State
        With the sphere of one row, and any element of the other as its target.

    Returns
    -------
    Change

    Raises
    ------
    UsageError
        If it was not dropped on a row, or on its own.
    """
    trace, chosen = state.trace, _chosen(state)
    places = [_place(chosen, thread_of(trace, what)) for what in (state.element, state.target)]
    if min(places) < 0:
        raise UsageError("Drop a thread on another thread's row, or on the sphere beside it, to swap them")
    i, j = places
    if i == j:
        raise UsageError("Drop it on another row to swap them")
    first = [int(row[0]) for row in chosen.rows]
    first[i], first[j] = first[j], first[i]
    words = [word_of_thread(trace, thread) for thread in first]
    wanted: dict[str, Any] = {"order": ", ".join(words)}
    if chosen.main and 0 in places:
        wanted["main"] = words[0]
    title = trace.threads.title
    return Change(wanted, message=f"{title(first[j])} and {title(first[i])} are swapped")


def make_main(state: State) -> Change:
    """Return the parameters in which a row's thread is the main one; that of the main one takes it back."""
    thread = thread_of(state.trace, state.element)
    word, title = word_of_thread(state.trace, thread), state.trace.threads.title(thread)
    if state.parameters["main"] == word:
        return Change({"main": "auto"}, message=f"{title} is no longer chosen as the main thread")
    return Change({"main": word}, message=f"{title} is the main thread")


def is_row(state: State) -> bool:
    """Return whether an element stands for a single row's thread."""
    return state.element is not None and state.element.kind in ("thread", "row") and not is_group(state)


def is_splitter(state: State) -> bool:
    """Return whether an element is the splitter between the main thread and the others."""
    return state.element is not None and state.element.kind == SPLITTER


def move_splitter(state: State) -> Change:
    """Return the share of the height that the main thread gets where the splitter was dropped."""
    element = state.element
    assert element is not None
    values = dict(element.values)
    height, share = values["height"], values[SHARE_OF_HEIGHT]
    share -= (state.point[2] - element.point[2]) / height
    return Change({"split": round(min(max(share, _LEAST), _MOST), 4)}, message="Splitter")


def _chosen(state: State) -> Chosen:
    """Return the rows that are shown."""
    trace, p = state.trace, _parameters(state)
    waits = waits_of(trace, p.rules)
    p = staged(waits, p, story(waits, p))
    return choose(trace, waits, p, Frame().height * ROOM, time_window(trace, p.start, p.end))


def _parameters(state: State) -> Parameters:
    made: Parameters = state.view.parameters(**state.parameters)
    return made


def _place(chosen: Chosen, thread: int) -> int:
    """Return the row that a thread is in; -1: none, or that of all for which there is no room."""
    last = len(chosen.rows) - chosen.rest
    return next((i for i, row in enumerate(chosen.rows[:last]) if thread in row), -1)


ROW_ACTIONS = (
    Action(
        "swap_threads",
        "Swap Threads",
        "Drag the sphere beside a thread's row onto another row to swap them",
        swap,
        triggers=("drop",),
        applies=is_handle,
        about="view",
    ),
    Action(
        "move_splitter",
        "Move the Splitter",
        "Give the main thread more or less room, and the others the rest",
        move_splitter,
        triggers=("drop",),
        applies=is_splitter,
        about="view",
    ),
    Action(
        "make_main_thread",
        "Make It the Main Thread",
        "Pull the thread out of the others; again: choose the main thread automatically",
        make_main,
        triggers=("double click",),
        applies=is_row,
        about="view",
    ),
)
