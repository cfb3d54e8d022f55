# ruff: noqa: SIM109 (comparing with a tuple takes Numba longer to compile)
"""Scanners of line formats: enter/exit logs and collapsed stacks, bytes in, columns out.

Both are resumable: they stop where the table of names is full and continue from there once it has grown.
"""

from __future__ import annotations

import numpy as np

from ...intern import intern_bytes
from ...jit import inline, kernel
from ...raw_bytes import address, load64, trailing_zeros

#: Slots of the scanners' state (int64): position, rows written, and problems with their places.
POSITION, LINE, ROWS, NAMES, FRAMES = 0, 1, 2, 3, 4
MALFORMED, MALFORMED_LINE, BAD_TIME, BAD_TIME_LINE, NO_COUNT, NO_COUNT_LINE = 5, 6, 7, 8, 9, 10
#: Stop when this many rows are written.
LIMIT = 11
STATE_SIZE = 12
#: Return values of a scanner.
DONE, NAMES_FULL = 0, 1

_TAB, _LF, _CR, _BLANK, _HASH, _PLUS, _COMMA, _MINUS, _DOT = 9, 10, 13, 32, 35, 43, 44, 45, 46
_ZERO, _NINE, _SEMICOLON, _LESS, _GREATER = 48, 57, 59, 60, 62
_E, _N, _X, _LOWER = 101, 110, 120, 32
_EIGHT_LF, _EIGHT_SEMICOLONS = np.uint64(0x0A0A0A0A0A0A0A0A), np.uint64(0x3B3B3B3B3B3B3B3B)
_NONE = -9223372036854775808
_LIMIT = 922337203685477579
"""Above this one more digit may leave int64."""


@inline
def scaled_decimal(data, low, high, wanted):  # type: ignore[no-untyped-def]
    """Return the decimal number ``data[low:high]`` times ``10**wanted``, cut off.

    Parameters
    ----------
    data : uint8 (bytes,)
    low, high, wanted : int

    Returns
    -------
    int64
        The least int64 if it is none, or leaves int64.
    """
    value = np.int64(0)
    digits = 0
    places = -1
    for i in range(low, high):
        byte = data[i]
        if byte >= _ZERO and byte <= _NINE:
            digits += 1
            if places < wanted:
                if value > _LIMIT:
                    return np.int64(_NONE)
                value = value * 10 + np.int64(byte - _ZERO)
                if places >= 0:
                    places += 1
        elif byte == _DOT and places < 0:
            places = 0
        elif i > low or (byte != _MINUS and byte != _PLUS):
            return np.int64(_NONE)
    if digits == 0:
        return np.int64(_NONE)
    for _ in range(wanted - max(places, 0)):
        if value > _LIMIT:
            return np.int64(_NONE)
        value *= 10
    return -value if data[low] == _MINUS else value


@inline
def find_byte(data, at, end, eight):  # type: ignore[no-untyped-def]
    """Return the first place of a byte.

    Parameters
    ----------
    data : uint8 (bytes,)
    at, end : int
    eight : uint64
        The byte, eight times.

    Returns
    -------
    int
        ``end`` if it is not there.
    """
    base = address(data)
    while at + 8 <= end:
        word = load64(base + at) ^ eight
        # The lowest bit set belongs to the first zero byte of the word.
        found = (word - np.uint64(0x0101010101010101)) & ~word & np.uint64(0x8080808080808080)
        if found:
            return at + (trailing_zeros(found) >> 3)
        at += 8
    wanted = eight & np.uint64(0xFF)
    while at < end and np.uint64(data[at]) != wanted:
        at += 1
    return at


@inline
def is_separator(byte):  # type: ignore[no-untyped-def]
    """Whether a byte parts the fields of a line."""
    # Most bytes of names are letters, above all separators.
    if byte > _SEMICOLON:
        return False
    return byte == _TAB or byte == _BLANK or byte == _COMMA or byte == _SEMICOLON or byte == _CR


@kernel
def scan_enter_exit(  # type: ignore[no-untyped-def]
    data, state, thread, kind, function, time, table, hashes, starts, lengths
):
    """Read ``tid +/- name ns`` lines, fields parted by tabs, commas, semicolons or blanks, into columns.

    The name is what lies between the direction and the last field, so it may hold separators itself. A time's
    fraction is cut off. Empty lines and lines that begin with ``#`` are passed over; others that don't fit
    are counted in ``state``.

    Parameters
    ----------
    data : uint8 (bytes,)
    state : int64 (STATE_SIZE,)
        Zeros before the first call, but for LIMIT.
    thread, function : int32 (rows,)
        Filled: numbers in one table of names; ``function`` is -1 for an exit without a name.
    kind : uint8 (rows,)
        Filled: 0 for an enter, 1 for an exit.
    time : int64 (rows,)
        Filled: nanoseconds.
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
        if names + 2 > len(hashes):
            result = NAMES_FULL
            break
        stop = find_byte(data, at, end, _EIGHT_LF)
        begin = at
        at = stop + 1
        line += 1
        # The last field, found from the end.
        last_high = stop
        while last_high > begin and is_separator(data[last_high - 1]):
            last_high -= 1
        last_low = last_high
        while last_low > begin and not is_separator(data[last_low - 1]):
            last_low -= 1
        # Thread and direction, found from the start; the name begins behind them.
        tid_low = begin
        while tid_low < last_high and is_separator(data[tid_low]):
            tid_low += 1
        if tid_low == last_high or data[tid_low] == _HASH:
            continue
        tid_high = tid_low
        while tid_high < last_low and not is_separator(data[tid_high]):
            tid_high += 1
        word_low = tid_high
        while word_low < last_low and is_separator(data[word_low]):
            word_low += 1
        word_high = word_low
        while word_high < last_low and not is_separator(data[word_high]):
            word_high += 1
        name_low = word_high
        while name_low < last_low and is_separator(data[name_low]):
            name_low += 1
        name_high = last_low
        while name_high > name_low and is_separator(data[name_high - 1]):
            name_high -= 1
        way = -1
        if word_high > word_low:
            byte = data[word_low]
            if word_high - word_low == 1:
                if byte == _PLUS or byte == _GREATER:
                    way = 0
                elif byte == _MINUS or byte == _LESS:
                    way = 1
            elif byte | _LOWER == _E:  # enter, entry, exit
                second = data[word_low + 1] | _LOWER
                if second == _N:
                    way = 0
                elif second == _X:
                    way = 1
        if way < 0:
            state[MALFORMED] += 1
            if state[MALFORMED] == 1:
                state[MALFORMED_LINE] = line
            continue
        when = scaled_decimal(data, last_low, last_high, np.int64(0))
        if when == _NONE:
            state[BAD_TIME] += 1
            if state[BAD_TIME] == 1:
                state[BAD_TIME_LINE] = line
            continue
        kind[rows] = way
        time[rows] = when
        low = tid_low
        high = tid_high
        function[rows] = -1
        for part in range(2):
            known = intern_bytes(data, low, high, table, hashes, starts, lengths, names)
            if known == names:
                names += 1
            if part == 0:
                thread[rows] = known
                low = name_low
                high = name_high
                if low == high and way == 1:
                    break
            else:
                function[rows] = known
        rows += 1
    state[POSITION] = at
    state[LINE] = line
    state[ROWS] = rows
    state[NAMES] = names
    return result


@inline
def is_blank(byte):  # type: ignore[no-untyped-def]
    """Whether a byte is white space within a line."""
    return byte == _BLANK or byte == _TAB or byte == _CR


@kernel
def scan_collapsed(data, state, first, weight, frame, table, hashes, starts, lengths):  # type: ignore[no-untyped-def]
    """Read ``a;b;c 12`` lines.

    A stack without a count weighs one sample (and is counted); empty frames are passed over, blanks around a
    frame too. A line that begins with ``#`` and has no count is a comment. At most as many frames as there
    are lines and semicolons are written.

    Parameters
    ----------
    data : uint8 (bytes,)
    state : int64 (STATE_SIZE,)
        Zeros before the first call, but for LIMIT.
    first : int64 (rows + 1,)
        ``first[0]`` is 0; filled from 1 on.
    weight : int64 (rows,)
        Filled: thousandths of a sample.
    frame : int32 (frames,)
        Filled: numbers of names; stack ``i`` is ``frame[first[i]:first[i + 1]]``, root first.
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
    frames = state[FRAMES]
    limit = state[LIMIT]
    result = DONE
    while at < end and rows < limit:
        begin = at
        stop = find_byte(data, at, end, _EIGHT_LF)
        at = stop + 1
        line += 1
        last = stop
        while last > begin and is_blank(data[last - 1]):
            last -= 1
        number = last
        while number > begin and not is_blank(data[number - 1]):
            number -= 1
        if number == last:
            continue
        count = scaled_decimal(data, number, last, np.int64(3))
        high = number
        if count == _NONE:
            if data[begin] == _HASH:
                continue
            high = last
        before = frames
        piece = begin
        while piece < high:
            piece_end = find_byte(data, piece, high, _EIGHT_SEMICOLONS)
            left = piece
            right = piece_end
            piece = piece_end + 1
            while left < right and is_blank(data[left]):
                left += 1
            while right > left and is_blank(data[right - 1]):
                right -= 1
            if left == right:
                continue
            if names >= len(hashes):
                result = NAMES_FULL
                break
            known = intern_bytes(data, left, right, table, hashes, starts, lengths, names)
            if known == names:
                names += 1
            frame[frames] = known
            frames += 1
        if result == NAMES_FULL:
            # The line is read again from its start; the names it has so far stay.
            at = begin
            line -= 1
            frames = before
            break
        if frames == before or (count < 0 and count != _NONE):
            frames = before
            state[MALFORMED] += 1
            if state[MALFORMED] == 1:
                state[MALFORMED_LINE] = line
            continue
        if count == _NONE:
            count = np.int64(1000)
            state[NO_COUNT] += 1
            if state[NO_COUNT] == 1:
                state[NO_COUNT_LINE] = line
        weight[rows] = count
        rows += 1
        first[rows] = frames
    state[POSITION] = at
    state[LINE] = line
    state[ROWS] = rows
    state[NAMES] = names
    state[FRAMES] = frames
    return result
