"""Calls that grow while the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import kernel

#: Places in the state of :func:`grow_calls`.
TOP, COUNT, UNMATCHED, LATEST, MISMATCHED = 0, 1, 2, 3, 4
STATE_SIZE = 5
#: End of a call that is still open.
OPEN = np.iinfo(np.int64).max


@kernel
def grow_calls(
    kind: Any,
    which: Any,
    time: Any,
    state: Any,
    function: Any,
    parent: Any,
    depth: Any,
    start: Any,
    end: Any,
) -> None:
    """Add begins (kind 0) and ends (1) of one thread, in the order of the program.

    An end closes the innermost open call of its function, and those inside it; one without such a call is
    counted. Times that go back are raised to the latest one.

    Parameters
    ----------
    kind : uint8 (n,)
    which : uint32 (n,)
        Function.
    time : int64 (n,)
    state : int64 (STATE_SIZE,)
        TOP is the innermost open call (-1: none), COUNT the number of calls, UNMATCHED that of ends without a
        begin, MISMATCHED that of calls closed by the end of an outer one, LATEST the latest time.
    function, depth : int32 (m,)
    parent, start, end : int64 (m,)
        The calls so far, with room for ``n`` more; filled.
    """
    top, count, latest = state[TOP], state[COUNT], state[LATEST]
    for i in range(len(kind)):
        latest = max(latest, time[i])
        if kind[i] == 0:
            function[count] = which[i]
            parent[count] = top
            depth[count] = 1
            if top >= 0:
                depth[count] = depth[top] + 1
            start[count] = latest
            end[count] = OPEN
            top = count
            count += 1
            continue
        at = top
        while at >= 0 and function[at] != which[i]:
            at = parent[at]
        if at < 0:
            state[UNMATCHED] += 1
            continue
        while top != at:
            end[top] = latest
            top = parent[top]
            state[MISMATCHED] += 1
        end[at] = latest
        top = parent[at]
    state[TOP], state[COUNT], state[LATEST] = top, count, latest


@kernel
def take_calls(
    first: int,
    count: int,
    low: Any,
    now: Any,
    function: Any,
    parent: Any,
    depth: Any,
    start: Any,
    end: Any,
    base: int,
    thread: int,
    new: Any,
    out_function: Any,
    out_parent: Any,
    out_depth: Any,
    out_start: Any,
    out_end: Any,
    out_extent: Any,
    out_thread: Any,
) -> Any:
    """Copy the calls of a thread that reach beyond a moment, in pre-order.

    Parameters
    ----------
    first, count : int
        The calls from ``first`` to ``count`` start at ``low`` or later; earlier ones may still reach there.
    low, now : int64
        The moment, and the end that open calls get.
    function, parent, depth, start, end
        As :func:`grow_calls` fills them.
    base : int
        Where the copies begin; ``thread`` is written beside them.
    new : int64, at least as long as ``count - first`` and as the deepest call is deep
        Working space.
    out_function, out_depth, out_thread : int32
    out_parent, out_start, out_end, out_extent : int64
        Filled from ``base`` on.

    Returns
    -------
    int
        How many were copied.
    """
    # What was open at that moment was open when the last call before it began: its callers, and itself.
    above = 0
    at = np.int64(first) - 1
    while at >= 0:
        if end[at] >= low:
            new[above] = at
            above += 1
        at = parent[at]
    n = base
    for k in range(above - 1, -1, -1):
        i = new[k]
        out_function[n] = function[i]
        out_parent[n] = n - 1 if n > base else -1
        out_depth[n] = n - base + 1
        out_start[n] = start[i]
        out_end[n] = min(end[i], now)
        out_extent[n] = 1
        out_thread[n] = thread
        n += 1
    for i in range(first, count):
        p = np.int64(-1)
        if parent[i] >= first:
            p = new[parent[i] - first]
        elif parent[i] >= 0:
            # One of the callers before: the one of its depth.
            p = np.int64(base + depth[parent[i]] - 1)
        new[i - first] = n
        out_function[n] = function[i]
        out_parent[n] = p
        out_depth[n] = 1
        if p >= 0:
            out_depth[n] = out_depth[p] + 1
        out_start[n] = start[i]
        out_end[n] = min(end[i], now)
        out_extent[n] = 1
        out_thread[n] = thread
        n += 1
    for i in range(n - 1, base - 1, -1):
        if out_parent[i] >= 0:
            out_extent[out_parent[i]] += out_extent[i]
    return n - base
