"""Scanners of recordings of memory: heaptrack's lines and memray's records, bytes in, columns out."""

from __future__ import annotations

import numpy as np

from ..intern import intern_bytes
from ..jit import inline, kernel
from .scan.lines import find_byte

#: Slots of the scanners' state (int64).
POSITION, LINE, ROWS, OTHERS, NAMES, MALFORMED, MALFORMED_LINE = 0, 1, 2, 3, 4, 5, 6
STATE_SIZE = 7
#: Return values of a scanner.
DONE, NAMES_FULL = 0, 1
#: Kinds of heaptrack's rows.
PLUS, MINUS, STAMP, RESIDENT = 0, 1, 2, 3

_TAB, _LF, _CR, _BLANK, _HASH, _PLUS, _MINUS = 9, 10, 13, 32, 35, 43, 45
_C, _R, _ZERO, _NINE, _A, _X, _LOWER = 99, 82, 48, 57, 97, 120, 32
_EIGHT_LF, _EIGHT_TABS = np.uint64(0x0A0A0A0A0A0A0A0A), np.uint64(0x0909090909090909)
_NONE = -1


@inline
def hexadecimal(data, low, high):  # type: ignore[no-untyped-def]
    """Return the hexadecimal number ``data[low:high]``.

    Parameters
    ----------
    data : uint8 (bytes,)
    low, high : int

    Returns
    -------
    int64
        Below 2**60; -1 if it is none, or has more than 15 digits.
    """
    if high <= low or high - low > 15:
        return np.int64(_NONE)
    value = np.int64(0)
    for i in range(low, high):
        byte = np.int64(data[i])
        if byte >= _ZERO and byte <= _NINE:
            digit = byte - _ZERO
        else:
            digit = (byte | _LOWER) - _A + 10
            if digit < 10 or digit > 15:
                return np.int64(_NONE)
        value = value * 16 + digit
    return value


@inline
def decimal(data, low, high):  # type: ignore[no-untyped-def]
    """Return the decimal number ``data[low:high]``.

    Parameters
    ----------
    data : uint8 (bytes,)
    low, high : int

    Returns
    -------
    int64
        Below 10**18; -1 if it is none, or has more than 18 digits.
    """
    if high <= low or high - low > 18:
        return np.int64(_NONE)
    value = np.int64(0)
    for i in range(low, high):
        byte = np.int64(data[i])
        if byte < _ZERO or byte > _NINE:
            return np.int64(_NONE)
        value = value * 10 + byte - _ZERO
    return value


@kernel
def scan_heaptrack(data, state, kind, value, other, line_of):  # type: ignore[no-untyped-def]
    """Read heaptrack's lines ``+ info``, ``- info``, ``c ms`` and ``R pages`` (hexadecimal) into columns.

    Other lines (strings, addresses, stacks ...) are few, and left to the caller.

    Parameters
    ----------
    data : uint8 (bytes,)
    state : int64 (STATE_SIZE,)
        Filled: where it ends, how many lines, rows, other and malformed lines there are.
    kind : uint8 (rows,)
        Filled: PLUS, MINUS, STAMP or RESIDENT.
    value : int64 (rows,)
        Filled: the number on the line.
    other, line_of : int64 (lines,)
        Filled: the byte at which each other line begins, and its number.
    """
    end = len(data)
    at = np.int64(0)
    line = np.int64(0)
    rows = np.int64(0)
    others = np.int64(0)
    while at < end:
        begin = at
        stop = find_byte(data, at, end, _EIGHT_LF)
        at = stop + 1
        line += 1
        if stop > begin and data[stop - 1] == _CR:
            stop -= 1
        if stop == begin or data[begin] == _HASH:
            continue
        first = data[begin]
        if first != _PLUS and first != _MINUS and first != _C and first != _R:
            other[others] = begin
            line_of[others] = line
            others += 1
            continue
        number = np.int64(_NONE)
        if stop > begin + 2 and data[begin + 1] == _BLANK:
            number = hexadecimal(data, begin + 2, stop)
        if number < 0:
            state[MALFORMED] += 1
            if state[MALFORMED] == 1:
                state[MALFORMED_LINE] = line
            continue
        kind[rows] = (
            PLUS if first == _PLUS else MINUS if first == _MINUS else STAMP if first == _C else RESIDENT
        )
        value[rows] = number
        rows += 1
    state[POSITION] = at
    state[LINE] = line
    state[ROWS] = rows
    state[OTHERS] = others


@kernel
def name_blocks(kind, info, top, below, address, unknown):  # type: ignore[no-untyped-def]
    """Give each block of heaptrack a number, from 1: a free takes the youngest block of its info.

    Parameters
    ----------
    kind : uint8 (rows,)
        PLUS for an allocation; any other is a free.
    info : int64 (rows,)
        What heaptrack's line refers to: a size and a stack.
    top : int64 (infos,)
        0 before; the youngest living block of each info.
    below : int64 (rows + 1,)
        Working space: the next older block of the same info.
    address : int64 (rows,)
        Filled: the block's number; 0 for a free without a block.
    unknown : int64 (2,)
        How many such frees there are, and the row of the first.
    """
    blocks = np.int64(0)
    for row in range(len(kind)):
        which = info[row]
        if kind[row] == PLUS:
            blocks += 1
            below[blocks] = top[which]
            top[which] = blocks
            address[row] = blocks
        else:
            block = top[which]
            address[row] = block
            if block:
                top[which] = below[block]
            else:
                unknown[0] += 1
                if unknown[0] == 1:
                    unknown[1] = row


@kernel
def scan_memray(  # type: ignore[no-untyped-def]
    data, state, tid, address, size, allocator, stack, table, hashes, starts, lengths
):
    """Read ``seq tid 0xaddress size ALLOCATOR stack`` lines, fields parted by tabs, into columns.

    Resumable: it stops where the table of names is full.

    Parameters
    ----------
    data : uint8 (bytes,)
    state : int64 (STATE_SIZE,)
        Zeros before the first call.
    tid, allocator : int32 (lines,)
        Filled: numbers in one table of names.
    address, size, stack : int64 (lines,)
        Filled; sizes are bytes.
    table, hashes, starts, lengths
        The names, as :func:`..intern.intern_bytes` takes them.

    Returns
    -------
    int
        DONE or NAMES_FULL.
    """
    end = len(data)
    at = state[POSITION]
    line = state[LINE]
    rows = state[ROWS]
    names = state[NAMES]
    result = DONE
    while at < end:
        if names + 2 > len(hashes):
            result = NAMES_FULL
            break
        begin = at
        stop = find_byte(data, at, end, _EIGHT_LF)
        at = stop + 1
        line += 1
        if stop > begin and data[stop - 1] == _CR:
            stop -= 1
        if stop == begin or data[begin] == _HASH:
            continue
        one = find_byte(data, begin, stop, _EIGHT_TABS)
        two = find_byte(data, min(one + 1, stop), stop, _EIGHT_TABS)
        three = find_byte(data, min(two + 1, stop), stop, _EIGHT_TABS)
        four = find_byte(data, min(three + 1, stop), stop, _EIGHT_TABS)
        five = find_byte(data, min(four + 1, stop), stop, _EIGHT_TABS)
        where = np.int64(_NONE)
        if three > two + 3 and data[two + 1] == _ZERO and data[two + 2] | _LOWER == _X:
            where = hexadecimal(data, two + 3, three)
        bytes_ = decimal(data, three + 1, four)
        frame = decimal(data, five + 1, stop)
        if where < 0 or bytes_ < 0 or frame < 0 or two == one + 1 or five == four + 1:
            state[MALFORMED] += 1
            if state[MALFORMED] == 1:
                state[MALFORMED_LINE] = line
            continue
        address[rows] = where
        size[rows] = bytes_
        stack[rows] = frame
        low = one + 1
        high = two
        for part in range(2):
            known = intern_bytes(data, low, high, table, hashes, starts, lengths, names)
            if known == names:
                names += 1
            if part == 0:
                tid[rows] = known
                low = four + 1
                high = five
            else:
                allocator[rows] = known
        rows += 1
    state[POSITION] = at
    state[LINE] = line
    state[ROWS] = rows
    state[NAMES] = names
    return result
