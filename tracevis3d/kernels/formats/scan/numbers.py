"""Rows of whole numbers with commas between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...jit import kernel

#: Places in the state of :func:`scan_rows`.
LINE, ROWS, MALFORMED, FIRST_MALFORMED = 0, 1, 2, 3
STATE_SIZE = 4


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
