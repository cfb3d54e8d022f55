"""What a live view shows of calls that have just come: each looked at once, when it has ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inline, kernel
from .growing_calls import OPEN

#: Places in the state of :func:`merge_calls`: the first call that was not looked at, how many calls are
#: watched until they end, calls deeper than is shown, and rows that the output had no room for.
SEEN, WATCHED, DEEPER, FULL = 0, 1, 2, 3
STATE_SIZE = 4


@kernel
def merge_calls(
    watch: Any,
    state: Any,
    count: int,
    top: int,
    cell: int,
    levels: int,
    function: Any,
    parent: Any,
    depth: Any,
    start: Any,
    end: Any,
    kind_of: Any,
    run: Any,
    out_time: Any,
    out_what: Any,
) -> Any:
    """Write down the calls of a thread that have ended since the last time; short neighbours become one row.

    Parameters
    ----------
    watch : int64 (w,)
        Calls that were open the last time, outermost first; then those that are open now.
    state : int64 (STATE_SIZE,)
    count, top : int
        Calls of the thread, and the innermost open one (-1: none).
    cell : int
        Nanoseconds: shorter calls are merged with what is so close, up to four cells.
    levels : int
        Calls of a greater depth are counted alone.
    function, parent, depth, start, end
        As :func:`.growing_calls.grow_calls` fills them.
    kind_of : int32 (functions,)
        Colour kind of each function.
    run : int64 (levels, 5)
        The row under construction at each level: start, end, calls (0: none), function of its longest call,
        duration of that.
    out_time : int64 (m, 2)
        Start and end of each row.
    out_what : int32 (m, 4)
        Level, kind, number of calls (0: one that is no shorter than a cell), function.

    Returns
    -------
    int
        Rows written.
    """
    n = np.int64(0)
    watched = state[WATCHED]
    for k in range(watched):
        i = watch[k]
        if i >= 0 and end[i] != OPEN:
            n = _ended(
                i, cell, levels, function, depth, start, end, kind_of, run, out_time, out_what, state, n
            )
    for i in range(state[SEEN], count):
        if end[i] != OPEN:
            n = _ended(
                i, cell, levels, function, depth, start, end, kind_of, run, out_time, out_what, state, n
            )
    state[SEEN] = count
    # What is open now, from the inside out; the innermost ones are left out if there are too many.
    inner = np.int64(top)
    while inner >= 0 and end[inner] != OPEN:
        inner = parent[inner]
    height = np.int64(0)
    at = inner
    while at >= 0:
        height += 1
        at = parent[at]
    at = inner
    for k in range(height - 1, -1, -1):
        if k < len(watch):
            watch[k] = at
        at = parent[at]
    state[WATCHED] = min(height, len(watch))
    return n


@inline
def _ended(
    i: Any,
    cell: Any,
    levels: Any,
    function: Any,
    depth: Any,
    start: Any,
    end: Any,
    kind_of: Any,
    run: Any,
    out_time: Any,
    out_what: Any,
    state: Any,
    n: Any,
) -> Any:
    """Take one ended call; return the number of rows then."""
    level = depth[i] - 1
    if level >= levels:
        state[DEEPER] += 1
        return n
    lasted = end[i] - start[i]
    near = start[i] - run[level, 1] < cell and end[i] - run[level, 0] < 4 * cell
    if run[level, 2] > 0 and not (lasted < cell and near):
        if n < len(out_time):
            # What is too short to be seen is as long as can be seen.
            out_time[n, 0] = run[level, 0]
            out_time[n, 1] = max(run[level, 1], run[level, 0] + cell)
            out_what[n, 0] = level
            out_what[n, 1] = kind_of[run[level, 3]]
            out_what[n, 2] = run[level, 2]
            out_what[n, 3] = run[level, 3]
            n += 1
        else:
            state[FULL] += 1
        run[level, 2] = 0
    if lasted >= cell:
        if n < len(out_time):
            out_time[n, 0] = start[i]
            out_time[n, 1] = end[i]
            out_what[n, 0] = level
            out_what[n, 1] = kind_of[function[i]]
            out_what[n, 2] = 0
            out_what[n, 3] = function[i]
            n += 1
        else:
            state[FULL] += 1
        return n
    if run[level, 2] == 0:
        run[level, 0] = start[i]
        run[level, 4] = -1
    run[level, 1] = end[i]
    run[level, 2] += 1
    if lasted > run[level, 4]:
        run[level, 3] = function[i]
        run[level, 4] = lasted
    return n
