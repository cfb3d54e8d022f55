"""Rows of whole numbers with commas between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...jit import kernel

#: Places in the state of :func:`scan_rows`.
LINE, ROWS, MALFORMED, FIRST_MALFORMED = 0, 1, 2, 3
STATE_SIZE = 4
#: What Ruby's numbers begin with, and the sign of large ones.
_FIXNUM, _BIGNUM, _MINUS = b"il-"


@kernel
def scan_rows(data: Any, start: int, stop: int, least: int, state: Any, out: Any, lines: Any) -> None:
    """Read ``a,b[,c]`` from each line of ``data[start:stop]``; spaces are skipped, empty lines too.

    Parameters
    ----------
    data : uint8 (bytes,)
    start, stop : int
    least : int
        Numbers that a line must have; those up to 3 that it lacks are 1.
    state : int64 (STATE_SIZE,)
        LINE is the number of the line at ``start`` and is moved on; ROWS, MALFORMED (lines) and the
        number of the first malformed line are counted.
    out : int64 (rows, 3)
    lines : int64 (rows,)
        Filled: the numbers, and the line that each row is in. As many rows as there are lines are enough.
    """
    row = state[ROWS]
    at = start
    while at < stop:
        numbers = 0
        digits = 0
        value = np.int64(0)
        good = True
        empty = True
        while at < stop and data[at] != 10:
            byte = data[at]
            at += 1
            if 48 <= byte <= 57:
                empty = False
                digits += 1
                good &= digits <= 18
                if digits <= 18:
                    value = value * 10 + np.int64(byte - 48)
            elif byte == 44:
                empty = False
                good &= digits > 0 and numbers < 2
                if numbers < 2:
                    out[row, numbers] = value
                numbers += 1
                digits = 0
                value = np.int64(0)
            elif byte != 32 and byte != 13 and byte != 9:
                empty = False
                good = False
        at += 1
        if not empty:
            if numbers < 3:
                out[row, numbers] = value
            numbers += 1
            good &= digits > 0 and least <= numbers <= 3
            if good:
                for k in range(numbers, 3):
                    out[row, k] = 1
                lines[row] = state[LINE]
                row += 1
            else:
                if state[MALFORMED] == 0:
                    state[FIRST_MALFORMED] = state[LINE]
                state[MALFORMED] += 1
        state[LINE] += 1
    state[ROWS] = row


@kernel
def scan_marshalled(data: Any, start: int, out: Any, is_object: Any) -> tuple[Any, Any]:
    """Read whole numbers in a row as Ruby marshals them, until something else comes.

    Parameters
    ----------
    data : uint8 (bytes,)
    start : int
        Where the first one begins.
    out : int64 (n,)
        Filled; no more than its length is read.
    is_object : uint8 (n,)
        Filled: whether Ruby counts the number among its objects, which large ones are.

    Returns
    -------
    count, at : int64
        How many there are, and where the next value begins. A number that is cut, or reaches 2**62, is left
        there.
    """
    count, at = np.int64(0), np.int64(start)
    while count < len(out) and at + 1 < len(data):
        kind, first = np.int64(data[at]), np.int64(data[at + 1])
        begin, size, is_minus, is_large = at + 2, np.int64(0), False, False
        value = np.int64(0)
        if kind == _FIXNUM:
            if first <= 4:
                size = first
            elif first >= 252:
                size, is_minus = 256 - first, True
            else:
                value = first - 5 if first < 128 else first - 251
        elif kind == _BIGNUM and at + 2 < len(data) and data[at + 2] > 5 and data[at + 2] < 10:
            begin, size, is_large = at + 3, 2 * (np.int64(data[at + 2]) - 5), True
        else:
            break
        if begin + size > len(data) or (size == 8 and data[begin + 7] >= 64):
            break
        for k in range(size):
            value |= np.int64(data[begin + k]) << (8 * k)
        if is_minus:
            value -= np.int64(1) << (8 * size)
        elif is_large and first == _MINUS:
            value = -value
        out[count] = value
        is_object[count] = is_large
        count += 1
        at = begin + size
    return count, at
