"""Chunks of flight recordings: events and constants, laid out as the chunk's own metadata says.

Source: jdk.jfr.internal.consumer.ChunkHeader, ConstantMap and ParserFactory of the JDK. Each class is a small
program of operations that reads one value of it; what is wanted becomes rows.
"""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel

#: Operations: a number, bytes to pass over, a text, the beginning and the end of a list.
NUMBER, PASS, TEXT, LIST, AGAIN = 0, 1, 2, 3, 4
#: Ways in which a text is written: none, an empty one, a constant, UTF-8, UTF-16 units, Latin-1.
NO_TEXT, EMPTY, CONSTANT, UTF8, UNITS, LATIN1 = 0, 1, 2, 3, 4, 5
#: Fields of the state: next event, records and rows written, whether they did not fit, and the byte of damage
#: (-1: none).
S_AT, S_RECORDS, S_ROWS, S_FULL, S_DAMAGE, STATE_SIZE = 0, 1, 2, 3, 4, 5
#: Types of events that are not described by metadata.
_METADATA, _CONSTANTS = 0, 1
#: Lists within lists.
DEEPEST = 8
#: What a place is where something did not fit, or is damaged.
_IS_FULL, _IS_DAMAGED = -2, -1


@inline
def _number(data, at, stop):  # type: ignore[no-untyped-def]
    """Return the number at a place, and the place behind it; -1 if it does not end."""
    value = np.uint64(0)
    shift = np.uint64(0)
    while at < stop:
        byte = data[at]
        at += 1
        if shift == np.uint64(56):
            # The ninth byte has all of its bits.
            return np.int64(value | (np.uint64(byte) << shift)), at
        value |= np.uint64(byte & np.uint8(0x7F)) << shift
        if byte < 0x80:
            return np.int64(value), at
        shift += np.uint64(7)
    return np.int64(0), np.int64(-1)


@inline
def _after_text(data, at, stop):  # type: ignore[no-untyped-def]
    """Return the place behind a text; -1 if it is none."""
    if at >= stop:
        return np.int64(-1)
    way = np.int64(data[at])
    at += 1
    if way <= EMPTY:
        return at
    size, at = _number(data, at, stop)
    if at < 0 or way > LATIN1:
        return np.int64(-1)
    if way == CONSTANT:
        return at
    if size < 0 or size > stop - at:
        return np.int64(-1)
    if way != UNITS:
        return at + size
    for _ in range(size):
        _unit, at = _number(data, at, stop)
        if at < 0:
            return np.int64(-1)
    return at


@inline
def _read(data, at, stop, first, last, op, argument, slot, left, state, row_record, row_slot, row_value):  # type: ignore[no-untyped-def]
    """Read a value by the operations from ``first`` to ``last``; return the place behind it, or why not."""
    record = state[S_RECORDS]
    depth = np.int64(0)
    now = np.int64(first)
    while now < last:
        what = op[now]
        value = at
        if what in (NUMBER, LIST):
            value, at = _number(data, at, stop)
        elif what == TEXT:
            at = _after_text(data, at, stop)
        elif what == PASS:
            at = at + argument[now] if argument[now] <= stop - at else np.int64(_IS_DAMAGED)
        if at < 0:
            return np.int64(_IS_DAMAGED)
        if what == LIST:
            if value > 0:
                left[depth] = value
                depth += 1
                now += 1
            else:
                now = argument[now]
            continue
        if what == AGAIN:
            left[depth - 1] -= 1
            if left[depth - 1] > 0:
                now = argument[now]
            else:
                depth -= 1
                now += 1
            continue
        if slot[now] >= 0:
            if state[S_ROWS] >= len(row_record):
                return np.int64(_IS_FULL)
            row_record[state[S_ROWS]] = record
            row_slot[state[S_ROWS]] = slot[now]
            row_value[state[S_ROWS]] = value
            state[S_ROWS] += 1
        now += 1
    return at


@kernel
def scan_chunk(  # type: ignore[no-untyped-def]
    data, stop, class_of, first, op, argument, slot, wanted, left, state, counted,
    record_class, record_key, row_record, row_slot, row_value,
):  # fmt: skip
    """Read events and constants from ``state[S_AT]`` on, until they end, are damaged, or do not fit.

    Parameters
    ----------
    data : uint8 (bytes,)
    stop : int
        Where the chunk ends.
    class_of : int32 (ids,)
        The class of each id of a type; -1: none.
    first : int64 (classes + 1,)
        Class ``i`` is read by operations ``first[i]`` to ``first[i + 1]``.
    op : uint8 (operations,)
    argument : int64 (operations,)
        Bytes to pass over; the operation behind a list; the first one of a list.
    slot : int32 (operations,)
        The number of the column that gets what is read: the number, or where the text begins; -1: none.
    wanted : bool (classes,)
        Whether a class has a column.
    left : int64 (DEEPEST,)
        Working space.
    state : int64 (STATE_SIZE,)
        The first event, and zeros; filled.
    counted : int64 (classes + 1,)
        Gets how many events there are of classes that are not wanted; the last, of those without a class.
    record_class, record_key : int64 (records,)
        Filled: the class of each event and constant that is wanted, and the constant's key; -1: an event.
    row_record, row_slot, row_value : int64 (rows,)
        Filled.
    """
    state[S_FULL] = 0
    state[S_DAMAGE] = -1
    while state[S_AT] < stop:
        begin = np.int64(state[S_AT])
        rows, records = np.int64(state[S_ROWS]), np.int64(state[S_RECORDS])
        size, at = _number(data, begin, stop)
        if at < 0 or size <= 0 or size > stop - begin:
            state[S_DAMAGE] = begin
            return
        end = begin + size
        state[S_AT] = end
        kind, at = _number(data, at, end)
        if kind == _METADATA and at >= 0:
            continue
        if kind == _CONSTANTS and at >= 0:
            # When they were written, how long that took, and where the ones before are.
            for _ in range(3):
                if at >= 0:
                    _unused, at = _number(data, at, end)
            at = at + 1 if at >= 0 else np.int64(_IS_DAMAGED)
            pools = np.int64(0)
            if at >= 0:
                pools, at = _number(data, at, end)
            while pools > 0 and at >= 0:
                pools -= 1
                number, at = _number(data, at, end)
                count = np.int64(0)
                if at >= 0:
                    count, at = _number(data, at, end)
                if at < 0:
                    break
                which = class_of[number] if 0 <= number < len(class_of) else -1
                if which < 0:
                    at = np.int64(_IS_DAMAGED)
                    break
                while count > 0 and at >= 0:
                    count -= 1
                    key, at = _number(data, at, end)
                    if at < 0:
                        break
                    if wanted[which] and state[S_RECORDS] >= len(record_class):
                        at = np.int64(_IS_FULL)
                        break
                    at = _read(
                        data, at, end, first[which], first[which + 1], op, argument, slot, left, state,
                        row_record, row_slot, row_value,
                    )  # fmt: skip
                    if wanted[which] and at >= 0:
                        record_class[state[S_RECORDS]] = which
                        record_key[state[S_RECORDS]] = key
                        state[S_RECORDS] += 1
        elif at >= 0:
            which = class_of[kind] if 0 <= kind < len(class_of) else -1
            if which < 0 or not wanted[which]:
                counted[which if which >= 0 else len(counted) - 1] += 1
                continue
            if state[S_RECORDS] >= len(record_class):
                at = np.int64(_IS_FULL)
            else:
                at = _read(
                    data, at, end, first[which], first[which + 1], op, argument, slot, left, state,
                    row_record, row_slot, row_value,
                )  # fmt: skip
                if at >= 0:
                    record_class[state[S_RECORDS]] = which
                    record_key[state[S_RECORDS]] = -1
                    state[S_RECORDS] += 1
        if at == _IS_FULL:
            state[S_AT] = begin
            state[S_ROWS] = rows
            state[S_RECORDS] = records
            state[S_FULL] = 1
            return
        if at < 0:
            # Constants before the damage are kept, half a value is not.
            while state[S_ROWS] > rows and row_record[state[S_ROWS] - 1] >= state[S_RECORDS]:
                state[S_ROWS] -= 1
            state[S_DAMAGE] = begin
            return


@kernel
def find_text_ends(data, begin, end):  # type: ignore[no-untyped-def]
    """Find where texts end.

    Parameters
    ----------
    data : uint8 (bytes,)
    begin : int64 (n,)
        Where they begin, as :func:`scan_chunk` found them.
    end : int64 (n,)
        Filled.
    """
    for i in range(len(begin)):
        end[i] = _after_text(data, np.int64(begin[i]), np.int64(len(data)))
