"""Calls that grow while the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel

#: Places in the state of :func:`grow_calls`.
TOP, COUNT, UNMATCHED, LATEST, MISMATCHED, BACK, FARTHEST_BACK, INDEXED, KNOWN, FULL = range(10)
STATE_SIZE = 10
#: Open calls that are looked through for an end's; where there are more they are put into the index.
_NEAR = 32
#: End of a call that is still open.
OPEN = np.iinfo(np.int64).max


@kernel
def _slot(function: Any, open_key: Any) -> Any:
    """Return where a function stands in the hash table, or has room if it is not there."""
    mask = len(open_key) - 1
    # Fibonacci hashing: the upper bits of the product are spread evenly.
    slot = np.int64((np.uint64(function) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)) & mask
    while open_key[slot] != 0 and open_key[slot] != function + 1:
        slot = (slot + 1) & mask
    return slot


@kernel
def _index(
    top: Any, indexed: Any, function: Any, parent: Any, state: Any, open_key: Any, open_count: Any
) -> Any:
    """Put the open calls above ``indexed`` into the index; return False, and put none, without room."""
    at = top
    while at > indexed:
        slot = _slot(function[at], open_key)
        if open_key[slot] == 0:
            if 2 * state[KNOWN] >= len(open_key):
                break
            open_key[slot] = function[at] + 1
            state[KNOWN] += 1
        open_count[slot] += 1
        at = parent[at]
    if at <= indexed:
        return True
    done, at = at, top
    while at != done:
        open_count[_slot(function[at], open_key)] -= 1
        at = parent[at]
    return False


@kernel
def grow_calls(
    kind: Any,
    which: Any,
    time: Any,
    again: bool,
    state: Any,
    open_key: Any,
    open_count: Any,
    function: Any,
    parent: Any,
    depth: Any,
    start: Any,
    end: Any,
) -> Any:
    """Add begins (kind 0) and ends (1) of one thread, in the order of the program, while there is room.

    An end closes the innermost open call of its function, and those inside it; one without such a call is
    counted. Times that go back are raised to the latest one. It is linear however deep the stack is: where an
    end's call is not near the top, the open calls are put into an index, each at most once.

    Parameters
    ----------
    kind : uint8 (n,)
    which : uint32 (n,)
        Function.
    time : int64 (n,)
    again : bool
        They report again what is open, and begin before what came last.
    state : int64 (STATE_SIZE,)
        TOP is the innermost open call (-1: none), COUNT the number of calls, UNMATCHED that of ends without a
        begin, MISMATCHED that of calls closed by the end of an outer one, LATEST the latest time, BACK how
        many times went back, FARTHEST_BACK by how much at most, INDEXED the innermost open call in the index
        (-1: none; all calls around it are in it, too), KNOWN how many functions the index holds, FULL whether
        the index has no room left.
    open_key, open_count : int32 (k,)
        The index, a hash table of how many calls of each function are open: its number + 1 (0: none), and how
        many. k is a power of two.
    function, depth : int32 (m,)
    parent, start, end : int64 (m,)
        The calls so far, and room for more; filled.

    Returns
    -------
    int
        How many of the events were taken: all but those from the first begin on that has no room, or from the
        first end on for which the index has none.
    """
    top, count, latest, indexed = state[TOP], state[COUNT], state[LATEST], state[INDEXED]
    taken = np.int64(len(kind))
    for i in range(len(kind)):
        if kind[i] == 0 and count == len(start):
            taken = np.int64(i)
            break
        if time[i] < latest and not again:
            state[BACK] += 1
            state[FARTHEST_BACK] = max(state[FARTHEST_BACK], latest - time[i])
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
        at, near = top, 0
        while at > indexed and function[at] != which[i]:
            at = parent[at]
            near += 1
        if at <= indexed:
            if near > _NEAR:
                if not _index(top, indexed, function, parent, state, open_key, open_count):
                    state[FULL] = 1
                    taken = np.int64(i)
                    break
                indexed = top
            if open_count[_slot(which[i], open_key)] == 0:
                state[UNMATCHED] += 1
                continue
        while True:
            call = top
            top = parent[call]
            end[call] = latest
            if call <= indexed:
                open_count[_slot(function[call], open_key)] -= 1
                indexed = top
            if function[call] == which[i]:
                break
            state[MISMATCHED] += 1
    state[TOP], state[COUNT], state[LATEST], state[INDEXED] = top, count, latest, indexed
    return taken


@kernel
def rehash_open(open_key: Any, open_count: Any, out_key: Any, out_count: Any) -> Any:
    """Copy what is open into a hash table of another size.

    Parameters
    ----------
    open_key, open_count : int32 (k,)
        As :func:`grow_calls` has filled them.
    out_key, out_count : int32 (j,)
        Zeros, a power of two; filled.

    Returns
    -------
    int
        How many functions that are.
    """
    n = 0
    for i in range(len(open_key)):
        if open_count[i] > 0:
            slot = _slot(open_key[i] - 1, out_key)
            out_key[slot], out_count[slot] = open_key[i], open_count[i]
            n += 1
    return n


@kernel
def close_calls(state: Any, parent: Any, end: Any) -> Any:
    """Let all open calls of a thread end at its latest time.

    Parameters
    ----------
    state, parent, end
        As :func:`grow_calls` has filled them.

    Returns
    -------
    int
        How many there were.
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
        Where the copies begin.
    thread : int
        Written to ``out_thread``.
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
