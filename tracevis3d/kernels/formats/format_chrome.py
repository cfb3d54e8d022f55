"""Calls as Chrome trace records."""

from __future__ import annotations

import numpy as np

from ..jit import inline, kernel

#: Slots of the state: the next call, how many calls are open, how many bytes are written.
NEXT, OPEN, WRITTEN, STATE_SIZE = range(4)
#: Rows of the fixed texts, before those of the arguments: before the name, then what follows it.
HEAD, COMPLETE, BEGIN, END, DURATION, CLOSE, FIRST_ARGUMENTS = range(7)
#: Maximum length of a number, in bytes.
_DIGITS = 24


@inline
def _copy(source, first, row, out, at):  # type: ignore[no-untyped-def]
    for i in range(first[row], first[row + 1]):
        out[at] = source[i]
        at += 1
    return at


@inline
def _write(ns, out, at):  # type: ignore[no-untyped-def]
    """Write nanoseconds as microseconds with three digits behind the point."""
    if ns < 0:
        out[at] = 45
        at += 1
        ns = -ns
    rest = ns // 1000
    digits = 1
    while rest >= 10:
        rest //= 10
        digits += 1
    whole = ns // 1000
    ns -= whole * 1000
    for k in range(digits - 1, -1, -1):
        out[at + k] = 48 + whole % 10
        whole //= 10
    at += digits
    out[at] = 46
    out[at + 1] = 48 + ns // 100
    out[at + 2] = 48 + ns // 10 % 10
    out[at + 3] = 48 + ns % 10
    return at + 4


@kernel
def is_ambiguous(start, end, extent, parent, low, high):  # type: ignore[no-untyped-def]
    """Return whether a call has no duration, so that its place is ambiguous.

    It has calls below it, or starts where its caller ends.

    Parameters
    ----------
    start, end, extent, parent : int64 (calls,)
        Of the calls, in pre-order.
    low, high : int
        The calls that are examined.

    Returns
    -------
    bool
    """
    for i in range(low, high):
        if start[i] == end[i] and (extent[i] > 1 or (parent[i] >= 0 and start[i] == end[parent[i]])):
            return True
    return False


@kernel
def format_chrome(  # type: ignore[no-untyped-def]
    function, start, end, extent, arguments, low, high, pairs, origin,
    text, text_first, name, name_first, stack, state, out,
):  # fmt: skip
    """Write records of the calls ``[low, high)`` of one thread until ``out`` is full or all is written.

    Parameters
    ----------
    function, start, end, extent : columns of the calls
    arguments : int32 (calls,)
        Row of the arguments' text from ``FIRST_ARGUMENTS`` on; -1 for none.
    low, high : int
        The thread's calls.
    pairs : bool
        Begin and end records; else complete ones.
    origin : int
        Nanoseconds, added to all times.
    text, text_first, name, name_first : uint8, int64
        String ``k`` is ``text[text_first[k]:text_first[k + 1]]``; names by function.
    stack : int64
        As long as the calls are deep.
    state : int64 (STATE_SIZE,)
        ``state[NEXT]`` is ``low`` at first; ``state[WRITTEN]`` is set to 0 between calls of this.
    out : uint8

    Returns
    -------
    done : bool
    """
    call = state[NEXT]
    depth = state[OPEN]
    at = state[WRITTEN]
    fixed = text_first[FIRST_ARGUMENTS] + 2 * _DIGITS
    while True:
        ends = depth > 0 and (call == high or stack[depth - 1] + extent[stack[depth - 1]] <= call)
        if not ends and call == high:
            break
        which = stack[depth - 1] if ends else call
        row = function[which]
        said = np.int64(arguments[which])
        length = fixed + name_first[row + 1] - name_first[row]
        if said >= 0:
            length += text_first[FIRST_ARGUMENTS + said + 1] - text_first[FIRST_ARGUMENTS + said]
        if at + length > len(out):
            break
        at = _copy(text, text_first, HEAD, out, at)
        at = _copy(name, name_first, row, out, at)
        at = _copy(text, text_first, END if ends else (BEGIN if pairs else COMPLETE), out, at)
        at = _write(origin + (end[which] if ends else start[which]), out, at)
        if ends:
            depth -= 1
        else:
            if pairs:
                stack[depth] = call
                depth += 1
            else:
                at = _copy(text, text_first, DURATION, out, at)
                at = _write(end[which] - start[which], out, at)
            if said >= 0:
                at = _copy(text, text_first, FIRST_ARGUMENTS + said, out, at)
            call += 1
        at = _copy(text, text_first, CLOSE, out, at)
    state[NEXT] = call
    state[OPEN] = depth
    state[WRITTEN] = at
    return call == high and depth == 0
