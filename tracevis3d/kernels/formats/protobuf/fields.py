"""Protobuf's wire format, one level of messages at a time, into columns.

Source: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel

#: Kinds of a field on the wire.
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
#: Fields of the state: rows written, messages that are damaged, and the byte and the number of the first.
S_ROWS, S_DAMAGED, S_BYTE, S_MESSAGE, STATE_SIZE = 0, 1, 2, 3, 4


@inline
def read_varint(data, at, stop):  # type: ignore[no-untyped-def]
    """Return the number at a place, and what follows it.

    Parameters
    ----------
    data : uint8 (bytes,)
    at, stop : int

    Returns
    -------
    value : uint64
    after : int64
        The place behind it; -1 if it does not end before ``stop``, or within ten bytes.
    """
    value = np.uint64(0)
    shift = np.uint64(0)
    while at < stop and shift < np.uint64(64):
        # No place counts from the end: that need not be asked for each byte.
        byte = data[np.uintp(at)]
        at += 1
        value |= np.uint64(byte & np.uint8(0x7F)) << shift
        if byte < 0x80:
            return value, at
        shift += np.uint64(7)
    return value, np.int64(-1)


@inline
def mark_ends(word):  # type: ignore[no-untyped-def]
    """Return a word of which the highest bit of each byte is set in which a number ends.

    Parameters
    ----------
    word : uint64
        Eight bytes, as they follow each other.

    Returns
    -------
    uint64
    """
    return ~word & np.uint64(0x8080808080808080)


@inline
def first_number(word, ends):  # type: ignore[no-untyped-def]
    """Return the first number in eight bytes.

    Parameters
    ----------
    word, ends : uint64
        The bytes, and what :func:`mark_ends` says of them; not 0.

    Returns
    -------
    uint64
    """
    word &= (ends ^ (ends - np.uint64(1))) & np.uint64(0x7F7F7F7F7F7F7F7F)
    # Seven bits of each byte become 14 of two, those 28 of four, and 56 of all.
    word = (word & np.uint64(0x007F007F007F007F)) | ((word & np.uint64(0x7F007F007F007F00)) >> np.uint64(1))
    word = (word & np.uint64(0x00003FFF00003FFF)) | ((word & np.uint64(0x3FFF00003FFF0000)) >> np.uint64(2))
    return (word & np.uint64(0x0FFFFFFF)) | ((word & np.uint64(0x0FFFFFFF00000000)) >> np.uint64(4))


@inline
def read_field(data, at, stop):  # type: ignore[no-untyped-def]
    """Return the number of a field, its value, and what follows it.

    Parameters
    ----------
    data : uint8 (bytes,)
    at, stop : int

    Returns
    -------
    field : int64
    found : int64
        The value of a varint, or the byte where another value begins.
    length : int64
        How many bytes that has; -1: a varint.
    after : int64
        The place behind it; -1 if it is damaged.
    """
    tag, at = read_varint(data, at, stop)
    kind = np.int64(tag & np.uint64(7))
    field = np.int64(tag >> np.uint64(3))
    length = np.int64(-1)
    found = np.int64(0)
    if at < 0 or field == 0:
        return field, found, length, np.int64(-1)
    if kind == VARINT:
        plain, at = read_varint(data, at, stop)
        return field, np.int64(plain), length, at
    if kind == BYTES:
        plain, at = read_varint(data, at, stop)
        length = np.int64(plain)
    elif kind in (FIXED64, FIXED32):
        length = np.int64(8) if kind == FIXED64 else np.int64(4)
    else:
        at = np.int64(-1)
    if at < 0 or length < 0 or length > stop - at:
        return field, found, length, np.int64(-1)
    return field, at, length, at + length


@kernel
def find_records(data, at, first):  # type: ignore[no-untyped-def]
    """Find messages that each stand behind their size, a number of four bytes; a size of 0 ends them.

    Parameters
    ----------
    data : uint8 (bytes,)
    at : int
        Where the first size is.
    first : int64 (most,)
        Filled with the place of each size. They are five bytes apart at least.

    Returns
    -------
    count : int64
    at : int64
        Where it ends: at the size of 0, behind the data where a message is longer than what is left, or
        with less than a size left.
    is_ended : bool
        Whether there was a size of 0.
    """
    count, at = np.int64(0), np.int64(at)
    while at <= len(data) - 4:
        size = np.int64(data[at]) | np.int64(data[at + 1]) << 8
        size |= np.int64(data[at + 2]) << 16 | np.int64(data[at + 3]) << 24
        if size == 0:
            return count, at, True
        first[count] = at
        count += 1
        at += 4 + size
    return count, at, False


@kernel
def scan_fields(data, first, stop, is_dry, state, message, number, value, size):  # type: ignore[no-untyped-def]
    """Write a row for each field of messages.

    A message ends where it is damaged.

    Parameters
    ----------
    data : uint8 (bytes,)
    first, stop : int64 (messages,)
        Message ``i`` is ``data[first[i]:stop[i]]``.
    is_dry : bool
        Only count the rows.
    state : int64 (STATE_SIZE,)
        Zeros before; filled.
    message : int64 (rows,)
        Filled: the message's index.
    number : int32 (rows,)
        Filled: the field's number.
    value : int64 (rows,)
        Filled: the value of a varint, or the byte where another value begins.
    size : int64 (rows,)
        Filled: how many bytes that has; -1: a varint.
    """
    rows = np.int64(0)
    for i in range(len(first)):
        at = np.int64(first[i])
        end = np.int64(stop[i])
        while at < end:
            begin = at
            field, found, length, at = read_field(data, at, end)
            if at < 0:
                if state[S_DAMAGED] == 0:
                    state[S_BYTE] = begin
                    state[S_MESSAGE] = i
                state[S_DAMAGED] += 1
                break
            if not is_dry:
                message[rows] = i
                number[rows] = field
                value[rows] = found
                size[rows] = length
            rows += 1
    state[S_ROWS] = rows


@kernel
def scan_packed(data, first, stop, is_dry, state, message, value):  # type: ignore[no-untyped-def]
    """Write a row for each of the varints that are packed in pieces of the data.

    Parameters
    ----------
    data : uint8 (bytes,)
    first, stop : int64 (pieces,)
        Piece ``i`` is ``data[first[i]:stop[i]]``; it ends where it is damaged.
    is_dry : bool
        Only count the rows.
    state : int64 (STATE_SIZE,)
        Zeros before; filled.
    message, value : int64 (rows,)
        Filled: the piece's index, and the number.
    """
    rows = np.int64(0)
    for i in range(len(first)):
        at = np.int64(first[i])
        end = np.int64(stop[i])
        while at < end:
            begin = at
            plain, at = read_varint(data, at, end)
            if at < 0:
                if state[S_DAMAGED] == 0:
                    state[S_BYTE] = begin
                    state[S_MESSAGE] = i
                state[S_DAMAGED] += 1
                break
            if not is_dry:
                message[rows] = i
                value[rows] = np.int64(plain)
            rows += 1
    state[S_ROWS] = rows


#: What a field is wanted as: not at all, a varint, the eight bytes of a fixed64, where its bytes are, or
#: where those of each of several are.
UNWANTED, NUMBER, EIGHT, PLACE, LIST = 0, 1, 2, 3, 4
#: Further fields of the state: fields that are another kind on the wire, and the number of the first.
S_ODD, S_ODD_NUMBER, TAKE_STATE_SIZE = 4, 5, 6
#: The size of a field that a message does not have.
MISSING = -2


@kernel
def take_fields(data, first, stop, kind, slot, state, value, size, owner, number, begin, end):  # type: ignore[no-untyped-def]
    """Write the wanted fields of messages: a column for each field, of several in a message the last counts.

    A message ends where it is damaged.

    Parameters
    ----------
    data : uint8 (bytes,)
    first, stop : int64 (messages,)
        Message ``i`` is ``data[first[i]:stop[i]]``.
    kind : uint8 (fields,)
        What the field of each number is wanted as: NUMBER, EIGHT, PLACE or LIST.
    slot : int64 (fields,)
        Its row of ``value`` and ``size``.
    state : int64 (TAKE_STATE_SIZE,)
        Zeros before; filled.
    value : int64 (slots, messages)
        What missing fields are, before; filled: the number, or the byte where the bytes begin.
    size : int64 (slots, messages)
        MISSING before; filled: how many bytes that has; -1: a varint.
    owner, number, begin, end : int64 (room,)
        Filled: message and field of each item of lists, and where its bytes are. There is room for one for
        two bytes of a message.
    """
    rows = np.int64(0)
    for i in range(len(first)):
        at = np.int64(first[i])
        last = np.int64(stop[i])
        while at < last:
            place = at
            field, found, length, at = read_field(data, at, last)
            if at < 0:
                if state[S_DAMAGED] == 0:
                    state[S_BYTE] = place
                    state[S_MESSAGE] = i
                state[S_DAMAGED] += 1
                break
            if field >= len(kind) or kind[field] == UNWANTED:
                continue
            wanted = kind[field]
            if (length < 0) != (wanted == NUMBER):
                if state[S_ODD] == 0:
                    state[S_ODD_NUMBER] = field
                state[S_ODD] += 1
            elif wanted == LIST:
                owner[rows], number[rows], begin[rows], end[rows] = i, field, found, found + length
                rows += 1
            elif wanted != EIGHT or length == 8:
                if wanted == EIGHT:
                    word = np.uint64(0)
                    for k in range(8):
                        word |= np.uint64(data[found + k]) << np.uint64(8 * k)
                    found = np.int64(word)
                value[slot[field], i] = found
                size[slot[field], i] = length
    state[S_ROWS] = rows
