"""Repetitions among the children of one call."""

from __future__ import annotations

from typing import Any

from ..jit import kernel


@kernel
def find_runs(
    first: Any,
    child: Any,
    longest_period: int,
    start: int,
    at: int,
    runs: int,
    run_class: Any,
    run_first: Any,
    run_period: Any,
    run_times: Any,
) -> tuple[int, int, int]:
    """Find where a class's children repeat: the same classes in the same order, several times in a row.

    From the left, the run that takes in most children is taken, of equal ones that of the shortest period;
    the search continues behind it.

    Parameters
    ----------
    first : int64 (m + 1,)
    child : int32 (e,)
        The classes' children, as in ``analysis.subtrees.Subtrees``.
    longest_period : int
    start, at : int
        The class and the place among its children from which on to search.
    runs : int
        How many there are so far.
    run_class, run_first, run_period, run_times : int32 (room,)
        Filled: the class, the place of the run's first child, how many children are repeated, how often.

    Returns
    -------
    start, at, runs : int
        ``start`` is ``m`` when done, and smaller when there is no more room.
    """
    m = len(first) - 1
    c = start
    while c < m:
        low = first[c]
        n = first[c + 1] - low
        i = at
        at = 0
        while i < n - 1:
            best_period = 0
            best_times = 0
            for period in range(1, min(longest_period, (n - i) // 2) + 1):
                k = i + period
                while k < n and child[low + k] == child[low + k - period]:
                    k += 1
                times = (k - i) // period
                if times > 1 and times * period > best_times * best_period:
                    best_period = period
                    best_times = times
            if best_times == 0:
                i += 1
                continue
            if runs == len(run_class):
                return c, i, runs
            run_class[runs] = c
            run_first[runs] = i
            run_period[runs] = best_period
            run_times[runs] = best_times
            runs += 1
            i += best_period * best_times
        c += 1
    return m, 0, runs


@kernel
def common_of_pairs(left: Any, right: Any, base: Any, first: Any, added: Any, mark: Any, common: Any) -> None:
    """Count the functions that the two sets of each pair have in common.

    Parameters
    ----------
    left, right : int32 (n,)
        Sets; pairs with the same left one are neighbours.
    base : int32 (s,)
    first : int64 (s + 1,)
    added : int32 (a,)
        The sets, as in ``analysis.sets.Sets``.
    mark : int32 (functions,)
        Zero on entry.
    common : int64 (n,)
        Filled.
    """
    stamp = 0
    for i in range(len(left)):
        if i == 0 or left[i] != left[i - 1]:
            stamp = i + 1
            walked = left[i]
            while walked >= 0:
                for k in range(first[walked], first[walked + 1]):
                    mark[added[k]] = stamp
                walked = base[walked]
        total = 0
        walked = right[i]
        while walked >= 0:
            for k in range(first[walked], first[walked + 1]):
                if mark[added[k]] == stamp:
                    total += 1
            walked = base[walked]
        common[i] = total


@kernel
def locate_runs(
    which: Any,
    class_of: Any,
    extent: Any,
    run_of_class: Any,
    run_first: Any,
    run_children: Any,
    found: int,
    out_parent: Any,
    out_run: Any,
    out_first: Any,
    out_last: Any,
) -> int:
    """Find the calls at both ends of each run of some calls' children.

    Parameters
    ----------
    which : int64 (k,)
        Calls.
    class_of : int32 (n,)
    extent : int64 (n,)
        Of all calls.
    run_of_class : int64 (m + 1,)
        The runs of class ``c`` are ``[run_of_class[c], run_of_class[c + 1])``, in order.
    run_first, run_children : int32 (runs,)
        The place of the run's first child, and how many children it takes in.
    found : int
        0.
    out_parent, out_run, out_first, out_last : int64 (room,)
        Filled: the call, the run, its first and its last child.

    Returns
    -------
    int
        How many there are.
    """
    for k in range(len(which)):
        i = which[k]
        c = class_of[i]
        call = i + 1
        place = 0
        for r in range(run_of_class[c], run_of_class[c + 1]):
            while place < run_first[r]:
                call += extent[call]
                place += 1
            out_parent[found] = i
            out_run[found] = r
            out_first[found] = call
            while place < run_first[r] + run_children[r] - 1:
                call += extent[call]
                place += 1
            out_last[found] = call
            found += 1
    return found
