"""Rigi Standard Format: lines to columns, and a stack of open calls from calls between elements."""

from __future__ import annotations

import numpy as np

from ...intern import intern_bytes
from ...jit import inline, kernel
from .lines import find_byte, scaled_decimal

#: Slots of the scanner's state (int64).
POSITION, LINE, ROWS, NAMES, LIMIT = 0, 1, 2, 3, 4
MALFORMED, MALFORMED_LINE, BAD_TIME, BAD_TIME_LINE, OTHER, OTHER_LINE, UNTIMED = 5, 6, 7, 8, 9, 10, 11
STATE_SIZE = 12
#: Return values of the scanner.
DONE, NAMES_FULL = 0, 1
#: Kinds of a row.
CONTAIN, CALL = 0, 1
#: Fields of a row in the table of names: container or caller, member or callee, thread, method.
FIELDS = 4

_BLANK, _QUOTE, _HASH, _BACKSLASH = 32, 34, 35, 92
_C, _UPPER = 99, 32
_EIGHT_LF = np.uint64(0x0A0A0A0A0A0A0A0A)
_NONE = -9223372036854775808
_GOOD, _NO_END, _NO_TIME = 0, 1, 2


@inline
def _is_space(byte):  # type: ignore[no-untyped-def]
    return byte <= _BLANK


@inline
def _field(data, at, stop):  # type: ignore[no-untyped-def]
    """Return where the next field begins and ends, without its quotes, and where the search continues."""
    while at < stop and _is_space(data[at]):
        at += 1
    low = at
    if at < stop and data[at] == _QUOTE:
        low = at = at + 1
        while at < stop and data[at] != _QUOTE:
            at += 2 if data[at] == _BACKSLASH else 1
        at = min(at, stop)
        return low, at, min(at + 1, stop)
    while at < stop and not _is_space(data[at]):
        at += 1
    return low, at, at


@inline
def _verb(data, low, high):  # type: ignore[no-untyped-def]
    """Return CONTAIN for ``contain...``, CALL for ``call...``, else -1; in any case of letters."""
    if high - low < 4 or high - low > 8 or (data[low] | _UPPER) != _C:
        return -1
    second, third = data[low + 1] | _UPPER, data[low + 2] | _UPPER
    if second == 111 and third == 110:
        return CONTAIN
    if second == 97 and third == 108:
        return CALL
    return -1


@kernel
def scan_rsf(  # type: ignore[no-untyped-def]
    data, state, kind, name, time, rest, table, hashes, starts, lengths
):
    """Read ``contain PARENT CHILD`` and ``call FROM TO [TIME [THREAD [METHOD ...]]]`` lines into columns.

    Fields are parted by white space; one in double quotes may hold it. Empty lines and lines that begin with
    ``#`` are passed over; others that don't fit are counted in ``state``.

    Parameters
    ----------
    data : uint8 (bytes,)
    state : int64 (STATE_SIZE,)
        Zeros before the first call, but for LIMIT.
    kind : uint8 (rows,)
        Filled: CONTAIN or CALL.
    name : int32 (rows, FIELDS)
        Filled: numbers in one table of names, -1 for a field that is not there: container and member, or
        caller, callee, thread and method.
    time : int64 (rows,)
        Filled: as written, cut off; the least int64 for a call without a time (which is counted), 0 for a
        member.
    rest : int64 (rows,)
        Filled: the place of what follows the method, -1 if nothing does.
    table, hashes, starts, lengths
        The names, as :func:`...intern.intern_bytes` takes them.

    Returns
    -------
    int
        DONE (or the limit is reached) or NAMES_FULL.
    """
    end = len(data)
    at = state[POSITION]
    line = state[LINE]
    rows = state[ROWS]
    names = state[NAMES]
    limit = state[LIMIT]
    result = DONE
    while at < end and rows < limit:
        if names + FIELDS > len(hashes):
            result = NAMES_FULL
            break
        stop = find_byte(data, at, end, _EIGHT_LF)
        low, high, at_field = _field(data, at, stop)
        at = stop + 1
        line += 1
        if low >= high or data[low] == _HASH:
            continue
        verb = _verb(data, low, high)
        if verb < 0:
            state[OTHER] += 1
            if state[OTHER] == 1:
                state[OTHER_LINE] = line
            continue
        # One loop for all fields, so that each helper is compiled into it once: both ends, time, the names of
        # thread and method, and what follows.
        what, column = _GOOD, 0
        name[rows, 2] = name[rows, 3] = rest[rows] = -1
        time[rows] = _NONE if verb == CALL else 0
        for field in range(6 if verb == CALL else 2):
            low, high, at_field = _field(data, at_field, stop)
            if low >= high:
                if field < 2:
                    what = _NO_END
                break
            if field == 5:
                rest[rows] = low
            elif field == 2:
                time[rows] = scaled_decimal(data, low, high, 0)
                if time[rows] == _NONE:
                    what = _NO_TIME
                    break
            else:
                name[rows, column] = intern_bytes(data, low, high, table, hashes, starts, lengths, names)
                if name[rows, column] == names:
                    names += 1
                column += 1
        if what == _NO_END:
            state[MALFORMED] += 1
            if state[MALFORMED] == 1:
                state[MALFORMED_LINE] = line
            continue
        if what == _NO_TIME:
            state[BAD_TIME] += 1
            if state[BAD_TIME] == 1:
                state[BAD_TIME_LINE] = line
            continue
        if time[rows] == _NONE:
            state[UNTIMED] += 1
        kind[rows] = verb
        rows += 1
    state[POSITION] = at
    state[LINE] = line
    state[ROWS] = rows
    state[NAMES] = names
    return result


@kernel
def nest_calls(  # type: ignore[no-untyped-def]
    first, caller, callee, function, outside, time, row,
    frame_element, frame_function, frame_run, frame_below, latest,
    kind, event_function, event_time, event_row, counts,
):  # fmt: skip
    """Turn calls from element to element into begins and ends that nest.

    A call is made by the innermost open call of its caller; calls further in are over by then. Where none is
    open, the caller itself is opened first, as what was called from outside. A method that an element calls
    on itself, and that is open within the same stay in the element, is called again: a loop, no recursion.

    Parameters
    ----------
    first : int64 (threads + 1,)
        Rows of each thread.
    caller, callee : int32 (n,)
        Elements.
    function, outside : int32 (n,)
        The function that is called, and the one that represents the caller if that is called from outside.
    time, row : int64 (n,)
        Ascending within a thread; the row of each event.
    frame_element, frame_function, frame_run, frame_below : int32 (2 n + 1,)
        Working space: of each open call, where the run of open calls of its element begins, and the next
        open call of the same function.
    latest : int32 (functions,)
        Working space, -1: the innermost open call of each function.
    kind : uint8 (4 n,)
    event_function : int32 (4 n,)
    event_time, event_row : int64 (4 n,)
        Written: 0 for a begin and 1 for an end; ``event_row`` is -1 for events without a row.
    counts : int64 (threads + 1,)
        Written: where the events of each thread begin.
    """
    out = 0
    for t in range(len(first) - 1):
        counts[t] = out
        depth = 0
        last = np.int64(0)
        for i in range(first[t], first[t + 1]):
            last = time[i]
            source, target, f = caller[i], callee[i], function[i]
            keep = depth
            while keep > 0 and frame_element[keep - 1] != source:
                keep -= 1
            # Not the one that the run began with: that was called by another element.
            if source == target and keep > 0 and latest[f] > frame_run[keep - 1] and latest[f] < keep:
                keep = latest[f]
            while depth > keep:
                depth -= 1
                g = frame_function[depth]
                latest[g] = frame_below[depth]
                kind[out], event_function[out], event_time[out], event_row[out] = 1, g, last, -1
                out += 1
            for step in range(2):
                g, element, record = f, target, row[i]
                if step == 0:
                    if depth > 0:
                        continue
                    g, element, record = outside[i], source, np.int64(-1)
                kind[out], event_function[out], event_time[out], event_row[out] = 0, g, last, record
                out += 1
                frame_element[depth], frame_function[depth] = element, g
                same = depth > 0 and frame_element[depth - 1] == element
                frame_run[depth] = frame_run[depth - 1] if same else depth
                frame_below[depth] = latest[g]
                latest[g] = depth
                depth += 1
        while depth > 0:
            depth -= 1
            g = frame_function[depth]
            latest[g] = frame_below[depth]
            kind[out], event_function[out], event_time[out], event_row[out] = 1, g, last, -1
            out += 1
    counts[len(first) - 1] = out
