"""Calls sorted by function, and sorted runs of them merged as far as needed."""

from __future__ import annotations

from typing import Any

from ..jit import inline, kernel


@kernel
def sort_by_function(function: Any, by_time: Any, place: Any, order: Any) -> None:
    """Sort calls by function; calls of one function stay in the order of ``by_time``.

    Parameters
    ----------
    function : int32 (n,)
        Of each call.
    by_time : int32 (n,)
        All calls.
    place : int64 (functions,)
        Where the calls of each function begin; moved to where they end.
    order : int32 (n,)
        Filled with calls.
    """
    for i in range(len(by_time)):
        call = by_time[i]
        f = function[call]
        order[place[f]] = call
        place[f] += 1


@kernel
def first_not_before(order: Any, start: Any, low: Any, high: Any, time: int, call: int, found: Any) -> None:
    """Find in each of some runs the first call that is not before another, by start, then by number.

    Parameters
    ----------
    order : int32 (n,)
        Calls; each run is sorted.
    start : int64 (calls,)
    low, high : int64 (m,)
        Run ``k`` is ``order[low[k]:high[k]]``.
    time, call : int
        Start and number of the other; no call needs to have them.
    found : int64 (m,)
        Filled with positions in ``order``; the run's end if all are before.
    """
    for k in range(len(low)):
        a = low[k]
        b = high[k]
        while a < b:
            middle = (a + b) >> 1
            c = order[middle]
            if start[c] < time or (start[c] == time and c < call):
                a = middle + 1
            else:
                b = middle
        found[k] = a


@inline
def _sooner(order: Any, start: Any, one: int, other: int, step: int) -> bool:
    """Whether the call at position ``one`` comes before that at ``other``, in the direction of ``step``."""
    a = order[one]
    b = order[other]
    if start[a] != start[b]:
        return (start[a] < start[b]) == (step > 0)  # type: ignore[no-any-return]
    return (a < b) == (step > 0)  # type: ignore[no-any-return]


@inline
def _sink(order: Any, start: Any, at: Any, heap: Any, size: int, top: int, step: int) -> None:
    """Let the run at ``top`` of the heap sink to its place."""
    run = heap[top]
    while True:
        below = 2 * top + 1
        if below >= size:
            break
        if below + 1 < size and _sooner(order, start, at[heap[below + 1]], at[heap[below]], step):
            below += 1
        if not _sooner(order, start, at[heap[below]], at[run], step):
            break
        heap[top] = heap[below]
        top = below
    heap[top] = run


@kernel
def merge_runs(order: Any, start: Any, at: Any, end: Any, step: int, heap: Any, out: Any) -> int:
    """Merge sorted runs by start, then by number, until ``out`` is full.

    Parameters
    ----------
    order : int32 (n,)
        Calls; each run is sorted.
    start : int64 (calls,)
    at, end : int64 (m,)
        Run ``k`` goes from position ``at[k]`` in steps of ``step`` up to ``end[k]``, which is not part of
        it. ``at`` is moved.
    step : {1, -1}
        Forwards, or backwards from the last.
    heap : int64 (m,)
        Working space.
    out : int32 (most,)
        Filled.

    Returns
    -------
    int
        How many calls it got.
    """
    size = 0
    for k in range(len(at)):
        if at[k] != end[k]:
            heap[size] = k
            size += 1
    for i in range(size):
        _sink(order, start, at, heap, size, size - 1 - i, step)
    count = 0
    while size > 0 and count < len(out):
        run = heap[0]
        out[count] = order[at[run]]
        count += 1
        at[run] += step
        if at[run] == end[run]:
            size -= 1
            heap[0] = heap[size]
        if size > 0:
            _sink(order, start, at, heap, size, 0, step)
    return count
