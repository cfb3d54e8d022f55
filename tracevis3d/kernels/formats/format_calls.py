"""Calls as text: one record per begin and per end, in the order of a thread's time."""

from __future__ import annotations

import numpy as np

from ..jit import inline, kernel

#: Slots of the state: the next call, how many calls are open, how many bytes are written.
NEXT, OPEN, WRITTEN = 0, 1, 2
#: Rows of the fixed texts: before the name of a call that begins, that ends, behind the name and the time.
BEGIN, END, AFTER_NAME, AFTER_TIME = 0, 1, 2, 3
_DIGITS = 20
_ZERO, _MINUS = 48, 45


@inline
def _copy(source, first, row, out, at):  # type: ignore[no-untyped-def]
    for i in range(first[row], first[row + 1]):
        out[at] = source[i]
        at += 1
    return at


@kernel
def format_calls(  # type: ignore[no-untyped-def]
    function, start, end, extent, stop, origin, text, text_first, name, name_first, stack, state, out
):
    """Write begins and ends of the calls of one thread until ``out`` is full or all is written.

    Call ``i < stop`` is written as ``text[BEGIN] name text[AFTER_NAME] time text[AFTER_TIME]``, its end with
    ``text[END]`` in place of the first, where string ``k`` of ``text`` is
    ``text[text_first[k]:text_first[k + 1]]``.

    Parameters
    ----------
    function : int32 (calls,)
    start, end, extent : int64 (calls,)
        Of the calls, in pre-order.
    stop : int
        Behind the last call of the thread.
    origin : int
        Nanoseconds, added to all times.
    text, text_first : uint8 (bytes,), int64 (5,)
        The fixed texts.
    name, name_first : uint8 (bytes,), int64 (functions + 1,)
        The names of the functions.
    stack : int64 (depth,)
        Working space, as long as the calls are deep; kept between calls of this.
    state : int64 (3,)
        ``state[NEXT]`` is the thread's first call before; ``state[WRITTEN]`` is set to 0 between calls of
        this.
    out : uint8 (room,)
        Filled up to ``state[WRITTEN]``.

    Returns
    -------
    bool
        Whether all is written; if not, call it again.
    """
    call = state[NEXT]
    depth = state[OPEN]
    at = state[WRITTEN]
    fixed = text_first[len(text_first) - 1] + _DIGITS
    while True:
        ends = depth > 0 and (call == stop or stack[depth - 1] + extent[stack[depth - 1]] <= call)
        if not ends and call == stop:
            break
        which = stack[depth - 1] if ends else call
        row = function[which]
        if at + fixed + name_first[row + 1] - name_first[row] > len(out):
            break
        time = origin + (end[which] if ends else start[which])
        if ends:
            depth -= 1
        else:
            stack[depth] = call
            depth += 1
            call += 1
        at = _copy(text, text_first, END if ends else BEGIN, out, at)
        at = _copy(name, name_first, row, out, at)
        at = _copy(text, text_first, AFTER_NAME, out, at)
        if time < 0:
            out[at] = _MINUS
            at += 1
            time = -time
        rest = time
        digits = 1
        while rest >= 10:
            rest //= 10
            digits += 1
        for k in range(digits - 1, -1, -1):
            out[at + k] = np.uint8(_ZERO + time % 10)
            time //= 10
        at += digits
        at = _copy(text, text_first, AFTER_TIME, out, at)
    state[NEXT] = call
    state[OPEN] = depth
    state[WRITTEN] = at
    return call == stop and depth == 0
