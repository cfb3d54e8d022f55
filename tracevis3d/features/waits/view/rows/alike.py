"""Threads that do the same, such as the workers of a pool: in a picture of many threads they share a row."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from .....errors import UsageError
from .....trace.cached_results import cached_with_trace
from .....trace.model import Trace
from .....trace.names import word_of_thread
from .....units import counted
from .....views.actions import Action, Change, State

Ints = NDArray[np.int64]

#: The kind of a row's bands, and the value that says of how many threads a row is.
KIND, MANY = "thread group", "threads"
#: Numbers in a thread's name tell the workers of a pool apart.
_NUMBER = re.compile(r"\d+")


@cached_with_trace()
def groups(trace: Trace) -> Ints:
    """Return the group of each thread: those of one process and name, whose first calls are of one set.

    Names are the same if they differ in numbers alone. First calls are those that no other call made.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    int64 (threads,)
        From 0, in the order of the groups' first threads.
    """
    threads, calls = trace.threads, trace.calls
    roots = np.flatnonzero(calls.depth == 1)
    function = calls.function[roots].astype(np.int64)
    pairs = np.unique(calls.thread[roots].astype(np.int64) * (len(trace.functions) + 1) + function)
    thread, function = np.divmod(pairs, len(trace.functions) + 1)
    bounds = np.searchsorted(thread, np.arange(len(threads) + 1))
    known: dict[object, int] = {}
    found = np.empty(len(threads), np.int64)
    for t in range(len(threads)):
        first_calls = function[bounds[t] : bounds[t + 1]].tobytes()
        key = (threads.process[t], _NUMBER.sub("", threads.name[t]), first_calls)
        found[t] = known.setdefault(key, len(known))
    return found


def merged(group: Ints, weight: Ints, apart: Ints, most: int, least: float) -> tuple[list[Ints], Ints]:
    """Return the rows of threads of which those of a group share one, and the threads that have no row.

    Parameters
    ----------
    group : int64 (threads,)
        As :func:`groups` returns them.
    weight : int64 (threads,)
        Threads without any are left out.
    apart : int64 (k,)
        Threads that share no row, and are shown in any case.
    most : int
        Rows, of which the groups of ``apart`` take one each; the others' are the heaviest.
    least : float
        Of the weight of a row, as a share of the heaviest one's.

    Returns
    -------
    rows : list of int64 (k,)
        Threads, the heaviest of each row first.
    others : int64 (m,)
        Threads, the heaviest first.
    """
    live = np.flatnonzero(weight > 0)
    alone = np.isin(live, apart)
    unit = np.where(alone, len(group) + live, group[live])
    known, unit = np.unique(unit, return_inverse=True)
    total = np.bincount(unit.reshape(-1), weight[live], len(known))
    wanted = np.bincount(unit.reshape(-1), alone, len(known)) > 0
    heavy = int(np.count_nonzero(~wanted & (total >= least * total.max(initial=0))))
    # A group that was opened takes no room from the others.
    room = max(most - len(np.unique(group[live[alone]])), 0 if alone.any() else 1)
    chosen = np.lexsort((-total, ~wanted))[: int(wanted.sum()) + min(room, heavy)]
    place = np.full(len(known), len(known))
    place[np.sort(chosen)] = np.arange(len(chosen))
    of = place[unit.reshape(-1)]
    order = np.lexsort((live, -weight[live], of))
    bounds = np.searchsorted(of[order], np.arange(len(chosen) + 1))
    rows = [live[order[a:b]] for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist())]
    return rows, live[order[bounds[-1] :]]


def _thread_of(state: State) -> int:
    """Return the thread of what an action is about; -1: of none."""
    if state.call >= 0:
        return int(state.trace.calls.thread[state.call])
    element = state.element
    return element.id if element is not None and element.kind in (KIND, "row", "thread") else -1


def is_group(state: State) -> bool:
    """Return whether an element is of a row of several threads: its bands, its plate or its sphere."""
    element = state.element
    return element is not None and (element.kind == KIND or dict(element.values).get(MANY, 1) > 1)


def _open_group(state: State) -> Change:
    """Return the parameters with which each thread of a group has a row of its own."""
    trace, thread = state.trace, _thread_of(state)
    group = groups(trace)
    many = int(np.count_nonzero(group == group[thread])) if thread >= 0 else 0
    if many < 2:
        raise UsageError(
            "Point at a row of several threads, or at a call of a thread that does the same as others"
        )
    words = [*filter(None, (word.strip() for word in state.parameters["opened"].split(",")))]
    word = word_of_thread(trace, thread)
    return Change(
        {"opened": ", ".join([*words, *([word] if word not in words else [])])},
        message=f"{counted(many, 'thread')} that do the same",
    )


def _close_groups(state: State) -> Change:
    """Return the parameters with which all threads that do the same share a row."""
    return Change({"opened": "", "groups": "always"}, message="Threads that do the same share a row")


GROUP_ACTIONS = (
    Action(
        "open_group",
        "Open Group of Threads",
        "Give each thread that does the same as this one a row of its own, such as the workers of a pool",
        _open_group,
        icon="COMMUNITY",
        triggers=("menu", "double click"),
        applies=is_group,
        about="view",
    ),
    Action(
        "close_groups",
        "Close Groups of Threads",
        "Draw threads that do the same as one row, which shows how many of them run and wait",
        _close_groups,
        icon="USER",
        about="view",
    ),
)
