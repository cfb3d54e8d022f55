"""Stacks of samples, laid side by side: neighbours' common beginnings become one call."""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel


@inline
def _common(frame, low, low_end, other, other_end):  # type: ignore[no-untyped-def]
    """Return how many first frames of the two stacks are equal."""
    shared = 0
    while (
        low + shared < low_end and other + shared < other_end and frame[low + shared] == frame[other + shared]
    ):
        shared += 1
    return shared


@kernel
def count_stack_events(order, thread, first, frame):  # type: ignore[no-untyped-def]
    """Return how many events :func:`lay_stacks` will write.

    Parameters
    ----------
    order, thread, first, frame
        As :func:`lay_stacks` takes them.

    Returns
    -------
    int64
    """
    total = np.int64(0)
    for k in range(len(order)):
        i = order[k]
        shared = 0
        if k > 0 and thread[order[k - 1]] == thread[i]:
            j = order[k - 1]
            shared = _common(frame, first[i], first[i + 1], first[j], first[j + 1])
        total += 2 * (first[i + 1] - first[i] - shared)
    return total


@kernel
def lay_stacks(  # type: ignore[no-untyped-def]
    order, thread, first, frame, weight, begin, out_thread, out_kind, out_function, out_time
):
    """Write begin (0) and end (1) events of the stacks, one after another.

    Parameters
    ----------
    order : int64 (n,)
        The stacks in the order in which they are taken; those of a thread stand together.
    thread : int32 (n,)
    first : int64 (n + 1,)
    frame : int32 (m,)
        Functions: stack ``i`` is ``frame[first[i]:first[i + 1]]``, root first.
    weight : int64 (n,)
        How long each lasts, in nanoseconds.
    begin : int64 (threads,)
        Where the first stack of each thread starts.
    out_thread, out_kind, out_function, out_time : int32, uint8, int32, int64 (events,)
        Filled.

    Returns
    -------
    int64
        How many events there are.
    """
    written = np.int64(0)
    now = np.int64(0)
    for k in range(len(order)):
        i = order[k]
        low = first[i]
        high = first[i + 1]
        shared = np.int64(0)
        if k == 0 or thread[order[k - 1]] != thread[i]:
            now = begin[thread[i]]
        else:
            j = order[k - 1]
            shared = _common(frame, low, high, first[j], first[j + 1])
        for d in range(low + shared, high):
            out_thread[written] = thread[i]
            out_kind[written] = 0
            out_function[written] = frame[d]
            out_time[written] = now
            written += 1
        now += weight[i]
        # Calls that the thread's next stack does not share end here.
        keep = np.int64(0)
        if k + 1 < len(order) and thread[order[k + 1]] == thread[i]:
            n = order[k + 1]
            keep = _common(frame, low, high, first[n], first[n + 1])
        for d in range(high - 1, low + keep - 1, -1):
            out_thread[written] = thread[i]
            out_kind[written] = 1
            out_function[written] = frame[d]
            out_time[written] = now
            written += 1
    return written
