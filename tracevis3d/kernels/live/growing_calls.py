"""Calls that grow while the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel

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
) -> Any:
    """Add begins (kind 0) and ends (1) of one thread, in the order of the program, while there is room.

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
        The calls so far, and room for more; filled.

    Returns
    -------
    int
        How many of the events were taken: all but those from the first begin on that has no room.
    """
    top, count, latest = state[TOP], state[COUNT], state[LATEST]
    taken = np.int64(len(kind))
    for i in range(len(kind)):
        if kind[i] == 0 and count == len(start):
            taken = np.int64(i)
            break
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
    return taken


@kernel
def close_calls(state: Any, parent: Any, end: Any) -> Any:
    """Let all open calls of a thread end at its latest time; return how many there were.

    The arrays are those of :func:`grow_calls`.
    """
    n = np.int64(0)
    at = state[TOP]
    while at >= 0:
        if end[at] == OPEN:
            end[at] = state[LATEST]
            n += 1
        at = parent[at]
    state[TOP] = -1
    return n


@kernel
def carry_calls(
    top: Any,
    function: Any,
    start: Any,
    parent: Any,
    out_function: Any,
    out_parent: Any,
    out_depth: Any,
    out_start: Any,
    out_end: Any,
) -> Any:
    """Write the open calls of a full segment into the empty one that follows it, the outermost first.

    Parameters
    ----------
    top : int64
        The innermost open call; -1: none.
    function, start, parent
        As :func:`grow_calls` has filled them.
    out_function, out_parent, out_depth, out_start, out_end
        The same of the new segment, with room for them; filled.

    Returns
    -------
    int
        How many there are.
    """
    n = np.int64(0)
    at = np.int64(top)
    while at >= 0:
        n += 1
        at = parent[at]
    at = np.int64(top)
    for k in range(n - 1, -1, -1):
        out_function[k] = function[at]
        out_parent[k] = k - 1
        out_depth[k] = k + 1
        out_start[k] = start[at]
        out_end[k] = OPEN
        at = parent[at]
    return n


@kernel
def find_calls(at: Any, time: Any, function: Any, parent: Any, end: Any, out: Any) -> None:
    """Find the innermost call at each of some moments.

    Parameters
    ----------
    at : int64 (n,)
        The last call that began by then; -1: none.
    time : int64 (n,)
    function, parent, end
        As :func:`grow_calls` has filled them.
    out : int64 (n,)
        The call's function; -1: there is none.
    """
    for i in range(len(at)):
        call = at[i]
        while call >= 0 and end[call] < time[i]:
            call = parent[call]
        out[i] = -1
        if call >= 0:
            out[i] = function[call]


@kernel
def take_calls(
    first: int,
    count: int,
    carried: int,
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
    chain: Any,
    out_function: Any,
    out_parent: Any,
    out_depth: Any,
    out_start: Any,
    out_end: Any,
    out_extent: Any,
    out_thread: Any,
) -> Any:
    """Copy the calls of a segment that reach beyond a moment, in pre-order.

    Parameters
    ----------
    first, count : int
        The calls from ``first`` to ``count`` start at ``low`` or later; earlier ones may still reach there.
    carried : int
        So many calls in front were open when the segment began, and have been copied from the one before it:
        they get the end that is known here. -1: this is the first segment.
    low, now : int64
        The moment, and the end that open calls get.
    function, parent, depth, start, end
        As :func:`grow_calls` fills them.
    base : int
        Where the copies begin; ``thread`` is written beside them.
    new : int64, at least as long as ``count`` and as the deepest call is deep
        Working space.
    chain : int64, at least as long as the deepest call is deep
        Where the carried calls were copied to, and, when this returns, where those that are carried on were.
    out_function, out_depth, out_thread : int32
    out_parent, out_start, out_end, out_extent : int64
        Filled from ``base`` on; extents are 1 (see :func:`sum_extents`).

    Returns
    -------
    int
        How many were copied.
    """
    n = base
    if carried >= 0:
        for k in range(carried):
            new[k] = chain[k]
            out_end[chain[k]] = min(end[k], now)
    else:
        # What was open at that moment was open when the last call before it began: its callers, and itself.
        above = 0
        at = np.int64(first) - 1
        while at >= 0:
            if end[at] >= low:
                chain[above] = at
                above += 1
            at = parent[at]
        for k in range(above - 1, -1, -1):
            i = chain[k]
            new[i] = n
            out_function[n] = function[i]
            out_parent[n] = n - 1 if n > base else -1
            out_depth[n] = n - base + 1
            out_start[n] = start[i]
            out_end[n] = min(end[i], now)
            out_extent[n] = 1
            out_thread[n] = thread
            n += 1
    for i in range(max(first, carried), count):
        p = np.int64(-1)
        if parent[i] >= 0:
            p = new[parent[i]]
        new[i] = n
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
    at = np.int64(count) - 1
    while at >= 0 and end[at] != OPEN:
        at = parent[at]
    inner = at
    height = 0
    while at >= 0:
        height += 1
        at = parent[at]
    at = inner
    for k in range(height - 1, -1, -1):
        chain[k] = new[at]
        at = parent[at]
    return n - base


@kernel
def sum_extents(base: int, stop: int, parent: Any, extent: Any) -> None:
    """Add up how many calls there are in and below each of the calls of a thread, from ``base`` to ``stop``.

    Parameters
    ----------
    base, stop : int
    parent : int64 (n,)
        In pre-order; -1: none.
    extent : int64 (n,)
        Ones; filled.
    """
    for i in range(stop - 1, base - 1, -1):
        if parent[i] >= 0:
            extent[parent[i]] += extent[i]
