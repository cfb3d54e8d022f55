"""Sampled stacks inside of recorded calls of the same thread."""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel


@inline
def _put(is_dry, written, kind, function, time, out_kind, out_function, out_time):  # type: ignore[no-untyped-def]
    if not is_dry:
        out_kind[written] = kind
        out_function[written] = function
        out_time[written] = time
    return written + 1


@kernel
def lay_inside(  # type: ignore[no-untyped-def]
    call_start, call_end, time, stack, parent, function, depth, barrier, opened, level, path, is_dry,
    out_kind, out_function, out_time,
):  # fmt: skip
    """Write begin (0) and end (1) events of the frames of samples, each within the call it was opened in.

    A frame ends with the call that it was opened in, or where a sample lacks it; one that a call began in
    stays open as long as that call.

    Parameters
    ----------
    call_start, call_end : int64 (calls,)
        Of the thread's calls, in pre-order.
    time, stack : int64 (n,), int32 (n,)
        The samples, by time: each one's innermost frame; -1 ends what was sampled.
    parent, function, depth : int32 (frames,)
        Of the frames: the next outer one (-1: none), its function, its depth from 1.
    barrier : int64 (depth of the calls,)
        Working space.
    opened, level, path : int32 (deepest stack,)
        Working space.
    is_dry : bool
        Only count the events.
    out_kind, out_function, out_time : uint8, int32, int64 (events,)
        Filled.

    Returns
    -------
    int
        How many events there are.
    """
    # Each has one type, so that the called kernels are compiled once.
    opens, closes = np.uint8(0), np.uint8(1)
    written = np.int64(0)
    next_call = 0
    n_barriers = 0
    n_open = 0
    for i in range(len(time)):
        now = time[i]
        while True:
            is_end = n_barriers > 0 and barrier[n_barriers - 1] <= now
            is_begin = next_call < len(call_start) and call_start[next_call] <= now
            if is_end and is_begin and call_start[next_call] < barrier[n_barriers - 1]:
                is_end = False
            if is_end:
                while n_open > 0 and level[n_open - 1] >= n_barriers:
                    n_open -= 1
                    at = barrier[n_barriers - 1]
                    written = _put(
                        is_dry, written, closes, opened[n_open], at, out_kind, out_function, out_time
                    )
                n_barriers -= 1
            elif is_begin:
                barrier[n_barriers] = call_end[next_call]
                n_barriers += 1
                next_call += 1
            else:
                break
        frame = stack[i]
        size = depth[frame] if frame >= 0 else 0
        for k in range(size - 1, -1, -1):
            path[k] = function[frame]
            frame = parent[frame]
        shared = 0
        while shared < size and shared < n_open and opened[shared] == path[shared]:
            shared += 1
        locked = 0
        while locked < n_open and level[locked] < n_barriers:
            locked += 1
        while n_open > max(shared, locked):
            n_open -= 1
            written = _put(is_dry, written, closes, opened[n_open], now, out_kind, out_function, out_time)
        if shared >= locked:
            for k in range(n_open, size):
                opened[k] = path[k]
                level[k] = n_barriers
                written = _put(is_dry, written, opens, path[k], now, out_kind, out_function, out_time)
            n_open = max(n_open, size)
    # Calls still open were opened before calls that continue, and end with them.
    while n_open > 0:
        at = barrier[n_barriers - 1] if n_barriers > 0 else time[len(time) - 1]
        while n_open > 0 and (level[n_open - 1] >= n_barriers - 1):
            n_open -= 1
            written = _put(is_dry, written, closes, opened[n_open], at, out_kind, out_function, out_time)
        n_barriers -= 1
    return written
