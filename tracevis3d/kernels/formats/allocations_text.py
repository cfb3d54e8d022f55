"""Scanners of recordings of memory: heaptrack's lines and memray's records, bytes in, columns out."""

from __future__ import annotations

import numpy as np

from ..intern import intern_bytes
from ..jit import inline, kernel
from .scan.lines import find_byte

#: Slots of the scanners' state (int64).
POSITION, LINE, ROWS, OTHERS, NAMES, MALFORMED, MALFORMED_LINE = 0, 1, 2, 3, 4, 5, 6
ADDRESSES, TRACES, INFOS, STATE_SIZE = 7, 8, 9, 10
#: Bytes that no block has: more than a program's addresses reach.
LARGEST = 1 << 57
#: Return values of a scanner.
DONE, NAMES_FULL = 0, 1
#: Kinds of heaptrack's rows.
PLUS, MINUS, STAMP, RESIDENT = 0, 1, 2, 3

_TAB, _LF, _CR, _BLANK, _HASH, _PLUS, _MINUS = 9, 10, 13, 32, 35, 43, 45
_C, _R, _ZERO, _NINE, _A, _X, _LOWER = 99, 82, 48, 57, 97, 120, 32
_T, _ALLOCATION, _ADDRESS = 116, 97, 105
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


@inline
def _two_numbers(data, low, high):  # type: ignore[no-untyped-def]
    """Return the two hexadecimal numbers in ``data[low:high]``, parted by blanks; -1 if it is not two."""
    first = np.int64(_NONE)
    second = np.int64(_NONE)
    words = 0
    at = low
    while at < high:
        while at < high and data[at] == _BLANK:
            at += 1
        begin = at
        while at < high and data[at] != _BLANK:
            at += 1
        if at > begin:
            words += 1
            if words == 1:
                first = hexadecimal(data, begin, at)
            elif words == 2:
                second = hexadecimal(data, begin, at)
    if words != 2 or second < 0:
        first = np.int64(_NONE)
    return first, second


@kernel
def scan_heaptrack(data, state, kind, value, other, line_of, trace, info):  # type: ignore[no-untyped-def]
    """Read heaptrack's lines into columns: events, stacks and kinds of allocations, all hexadecimal.

    Events are ``+ info``, ``- info``, ``c ms`` and ``R pages``; stacks ``t address parent``, kinds of
    allocations ``a size stack``. Other lines (strings, addresses ...) are few, and left to the caller.

    Parameters
    ----------
    data : uint8 (bytes,)
    state : int64 (STATE_SIZE,)
        Zeros before; filled: where it ends, how many lines, rows, other and malformed lines there are, and
        how many addresses, stacks and kinds of allocations.
    kind : uint8 (rows,)
        Filled: PLUS, MINUS, STAMP or RESIDENT.
    value : int64 (rows,)
        Filled: the number on the line.
    other, line_of : int64 (lines,)
        Filled: the byte at which each other line begins, and its number.
    trace : int64 (lines, 2)
        Filled: of each stack its address and the stack that called it, both from 1, 0: none.
    info : int64 (lines, 2)
        Filled: of each kind of allocation its bytes, and its stack, from 1, 0: none.
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
        if first in (_T, _ALLOCATION):
            one, two = np.int64(_NONE), np.int64(_NONE)
            if stop > begin + 2 and data[begin + 1] == _BLANK:
                one, two = _two_numbers(data, begin + 2, stop)
            is_good = one >= 0 and two <= state[TRACES]
            if first == _T:
                is_good = is_good and 0 < one <= state[ADDRESSES]
                trace[state[TRACES], 0] = one if is_good else 0
                trace[state[TRACES], 1] = two if is_good else 0
                state[TRACES] += 1
            else:
                is_good = is_good and one < LARGEST
                info[state[INFOS], 0] = one if is_good else 0
                info[state[INFOS], 1] = two if is_good else 0
                state[INFOS] += 1
            if not is_good:
                state[MALFORMED] += 1
                if state[MALFORMED] == 1:
                    state[MALFORMED_LINE] = line
            continue
        if first != _PLUS and first != _MINUS and first != _C and first != _R:
            if first == _ADDRESS:
                state[ADDRESSES] += 1
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
def chain_frames(trace, first, function, line, innermost, out_parent, out_function, out_line):  # type: ignore[no-untyped-def]
    """Write the frames of stacks: those of an address lie in those of the stack that called it.

    Parameters
    ----------
    trace : int64 (stacks, 2)
        As :func:`scan_heaptrack` fills it: address and calling stack.
    first : int64 (addresses + 1,)
        Frames ``first[i]`` to ``first[i + 1]`` are those of address ``i``, from the outside in.
    function, line : int32 (addresses' frames,)
    innermost : int32 (stacks,)
        Filled: the innermost frame of each stack; -1: none.
    out_parent, out_function, out_line : int32 (frames,)
        Filled.

    Returns
    -------
    int
        How many frames there are.
    """
    frames = np.int64(0)
    for i in range(len(trace)):
        above = np.int64(innermost[trace[i, 1] - 1]) if trace[i, 1] > 0 else np.int64(_NONE)
        if trace[i, 0] > 0:
            for k in range(first[trace[i, 0] - 1], first[trace[i, 0]]):
                out_parent[frames] = above
                out_function[frames] = function[k]
                out_line[frames] = line[k]
                above = frames
                frames += 1
        innermost[i] = above
    return frames


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
