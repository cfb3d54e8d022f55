"""Threads that do the same: workers of a pool, of which a picture of many threads shows one first."""

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


def one_of_each(group: Ints, weight: Ints) -> NDArray[np.bool_]:
    """Return which threads stand for their groups: the heaviest of each, the first of equal ones.

    Parameters
    ----------
    group : int64 (threads,)
        As :func:`groups` returns them.
    weight : int64 (threads,)
        Threads without any stand for none.

    Returns
    -------
    bool (threads,)
    """
    order = np.lexsort((-weight, group))
    first = np.ones(len(order), np.bool_)
    first[1:] = group[order[1:]] != group[order[:-1]]
    stands = np.zeros(len(group), np.bool_)
    stands[order[first]] = True
    return stands & (weight > 0)


def more_alike(group: Ints, weight: Ints, shown: Ints) -> Ints:
    """Return for each shown thread how many of its group are not shown; 0 for all but its first.

    Parameters
    ----------
    group : int64 (threads,)
    weight : int64 (threads,)
        Threads without any have nothing to show.
    shown : int64 (rows,)
        Threads.

    Returns
    -------
    int64 (rows,)
    """
    hidden = weight > 0
    hidden[shown] = False
    count = np.bincount(group[hidden], minlength=int(group.max(initial=-1)) + 1)
    heaviest = np.lexsort((np.arange(len(shown)), -weight[shown], group[shown]))
    of = group[shown][heaviest]
    first = np.ones(len(of), np.bool_)
    first[1:] = of[1:] != of[:-1]
    more = np.zeros(len(shown), np.int64)
    more[heaviest[first]] = count[of[first]]
    return more


def _show_alike(state: State) -> Change:
    """Return the parameters that show all threads of a call's thread's group."""
    trace = state.trace
    group = groups(trace)
    mine = np.flatnonzero((group == group[trace.calls.thread[state.call]]) & (trace.threads.count > 0))
    if len(mine) < 2:
        raise UsageError("No other thread does the same as this one")
    words = ", ".join(word_of_thread(trace, t) for t in mine.tolist())
    return Change({"threads": words}, message=f"{counted(len(mine), 'thread')} that do the same")


SHOW_ALIKE = Action(
    "show_alike",
    "Show Threads like This",
    "Show all threads that do the same as this call's thread, such as the workers of a pool",
    _show_alike,
    icon="COMMUNITY",
)
