"""Scanners of what speedscope files are full of: events, and lists of numbers.

They take JSON that is known to be well-formed, so they never look past its end, and give up (-1) on
whatever is not written plainly; the caller decodes it in another way then.
"""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel

_BLANK, _QUOTE, _COMMA, _MINUS, _DOT, _ZERO, _NINE, _COLON = 32, 34, 44, 45, 46, 48, 57, 58
_UPPER_C, _UPPER_E, _UPPER_O, _OPEN_LIST, _CLOSE_LIST = 67, 69, 79, 91, 93
_A, _E, _F, _M, _P, _R, _T, _Y, _OPEN_MAP, _CLOSE_MAP = 97, 101, 102, 109, 112, 114, 116, 121, 123, 125
_LIMIT = 1 << 62
_MAX_DIGITS = 18
#: Digits of a whole number that a float has exactly.
_EXACT = 15
_N = 110
_HAS_TYPE, _HAS_FRAME, _HAS_AT = 1, 2, 4


@inline
def skip_blanks(data, at):  # type: ignore[no-untyped-def]
    """Return the next place that holds no white space.

    Parameters
    ----------
    data : uint8 (bytes,)
    at : int

    Returns
    -------
    int
    """
    while data[at] <= _BLANK:
        at += 1
    return at


@inline
def scan_decimal(data, at, places, out, row):  # type: ignore[no-untyped-def]
    """Store the number at ``at`` times ``10**places``, rounded half to even.

    Parameters
    ----------
    data : uint8 (bytes,)
    at, places : int
    out : int64 (rows,)
    row : int
        Where in ``out`` it is stored.

    Returns
    -------
    int64
        What follows the number; -1 if it has an exponent, more than 18 digits, or reaches 2**62.
    """
    negative = data[at] == _MINUS
    if negative:
        at += 1
    value = np.int64(0)
    digits = 0
    left = -1
    while True:
        byte = data[at]
        if byte >= _ZERO and byte <= _NINE:
            value = value * 10 + np.int64(byte - _ZERO)
            if value > 0:
                digits += 1
                if digits > _MAX_DIGITS:
                    return np.int64(-1)
            if left >= 0:
                left += 1
        elif byte == _DOT:
            left = 0
        else:
            break
        at += 1
    if byte | 32 == _E or not (data[at - 1] >= _ZERO and data[at - 1] <= _NINE):
        return np.int64(-1)
    shift = places - max(left, 0)
    for _ in range(shift):
        if value >= _LIMIT // 10:
            return np.int64(-1)
        value *= 10
    if shift < 0:
        power = np.int64(1)
        for _ in range(min(-shift, _MAX_DIGITS + 1)):
            power = power * 10 if power <= _LIMIT // 10 else power
        # The divisor stays below int64; a value of 18 digits over 10**18 or more is 0 or 1 at most.
        rest = value % power
        value //= power
        if 2 * rest > power or (2 * rest == power and value & 1):
            value += 1
    out[row] = -value if negative else value
    return np.int64(at)


@kernel
def scan_numbers(data, level, places, out, first):  # type: ignore[no-untyped-def]
    """Read a list of numbers, or a list of lists of whole numbers.

    Parameters
    ----------
    data : uint8 (bytes,)
    level : {1, 2}
        A list, or a list of lists.
    places : int
        Numbers are stored times ``10**places``.
    out : int64 (numbers,)
        Filled.
    first : int64 (rows + 1,)
        Filled for level 2: row ``i`` is ``out[first[i]:first[i + 1]]``.

    Returns
    -------
    int64
        How many numbers (level 1) or rows (level 2) there are; -1 if it is written otherwise.
    """
    depth = 0
    numbers = np.int64(0)
    rows = np.int64(0)
    at = np.int64(0)
    while True:
        at = skip_blanks(data, at)
        byte = data[at]
        if byte == _COMMA:
            at += 1
        elif byte == _OPEN_LIST:
            if depth == level:
                return np.int64(-1)
            if depth == 1:
                first[rows] = numbers
                rows += 1
            depth += 1
            at += 1
        elif byte == _CLOSE_LIST:
            depth -= 1
            at += 1
            if depth == 0:
                break
        else:
            if depth != level or (byte != _MINUS and (byte < _ZERO or byte > _NINE)):
                return np.int64(-1)
            begin = at
            at = scan_decimal(data, at, places, out, numbers)
            if at < 0:
                return np.int64(-1)
            if level == 2:
                for i in range(begin, at):
                    if data[i] == _DOT:
                        return np.int64(-1)
            numbers += 1
    if level == 2:
        first[rows] = numbers
        return np.int64(rows)
    return np.int64(numbers)


@kernel
def scan_table(data, out):  # type: ignore[no-untyped-def]
    """Read a list of lists of numbers or null.

    Parameters
    ----------
    data : uint8 (bytes,)
    out : float64 (rows, columns)
        Filled where there are numbers.

    Returns
    -------
    int64
        How many rows there are; -1 if it is written otherwise, a row is longer than ``out`` is wide, or a
        number has an exponent or more than 15 digits, which a float might not be equal to.
    """
    rows = np.int64(-1)
    column = np.int64(0)
    depth = 0
    at = np.int64(0)
    while True:
        at = skip_blanks(data, at)
        byte = data[at]
        if byte == _COMMA:
            column += 1
            at += 1
        elif byte == _OPEN_LIST:
            if depth == 2:
                return np.int64(-1)
            if depth == 1:
                rows += 1
            column = np.int64(0)
            depth += 1
            at += 1
        elif byte == _CLOSE_LIST:
            depth -= 1
            at += 1
            if depth == 0:
                return np.int64(rows + 1)
        elif depth != 2 or column >= out.shape[1]:
            return np.int64(-1)
        elif byte == _N:
            at += 4
        else:
            negative = byte == _MINUS
            if negative:
                at += 1
            value = np.int64(0)
            digits = 0
            places = -1
            while True:
                byte = data[at]
                if byte >= _ZERO and byte <= _NINE:
                    value = value * 10 + np.int64(byte - _ZERO)
                    if value > 0:
                        digits += 1
                    if places >= 0:
                        places += 1
                    if digits > _EXACT or places > _EXACT:
                        return np.int64(-1)
                elif byte == _DOT:
                    places = 0
                else:
                    break
                at += 1
            if byte | 32 == _E or not (data[at - 1] >= _ZERO and data[at - 1] <= _NINE):
                return np.int64(-1)
            power = np.float64(1)
            for _ in range(places):
                power *= 10
            # Both are exact, so the quotient is the nearest float, as other readers have it.
            number = np.float64(value) / power
            out[rows, column] = -number if negative else number


@kernel
def scan_profile_events(data, places, kind, frame, time):  # type: ignore[no-untyped-def]
    """Read a list of ``{"type": "O" or "C", "frame": whole number, "at": number}``, keys in any order.

    Parameters
    ----------
    data : uint8 (bytes,)
    places : int
    kind : uint8 (rows,)
        Filled: 0 for O and 1 for C.
    frame : int64 (rows,)
        Filled.
    time : int64 (rows,)
        Filled: ``at`` times ``10**places``.

    Returns
    -------
    int64
        How many there are; -1 if the list is written otherwise.
    """
    rows = np.int64(0)
    at = skip_blanks(data, np.int64(0)) + 1
    while True:
        at = skip_blanks(data, at)
        if data[at] == _CLOSE_LIST:
            return np.int64(rows)
        if data[at] == _COMMA:
            at = skip_blanks(data, at + 1)
        if data[at] != _OPEN_MAP:
            return np.int64(-1)
        at = skip_blanks(data, at + 1)
        has = 0
        while data[at] == _QUOTE:
            one = data[at + 1]
            two = data[at + 2]
            what = 0
            length = 0
            if one == _T and two == _Y and data[at + 3] == _P and data[at + 4] == _E:
                what = _HAS_TYPE
                length = 5
            elif one == _A and two == _T:
                what = _HAS_AT
                length = 3
            elif one == _F and two == _R and data[at + 3] == _A and data[at + 4] == _M and data[at + 5] == _E:
                what = _HAS_FRAME
                length = 6
            if what == 0 or data[at + length] != _QUOTE:
                return np.int64(-1)
            at = skip_blanks(data, at + length + 1)
            at = skip_blanks(data, at + 1)  # the colon
            if what == _HAS_TYPE:
                letter = data[at + 1]
                if (
                    data[at] != _QUOTE
                    or data[at + 2] != _QUOTE
                    or (letter != _UPPER_O and letter != _UPPER_C)
                ):
                    return np.int64(-1)
                kind[rows] = letter == _UPPER_C
                at += 3
            else:
                if data[at] != _MINUS and (data[at] < _ZERO or data[at] > _NINE):
                    return np.int64(-1)
                begin = at
                is_time = what == _HAS_AT
                at = scan_decimal(data, at, places if is_time else 0, time if is_time else frame, rows)
                if at < 0:
                    return np.int64(-1)
                if not is_time:
                    for i in range(begin, at):
                        if data[i] == _DOT:
                            return np.int64(-1)
            has |= what
            at = skip_blanks(data, at)
            if data[at] == _COMMA:
                at = skip_blanks(data, at + 1)
        if has != _HAS_TYPE | _HAS_FRAME | _HAS_AT or data[at] != _CLOSE_MAP:
            return np.int64(-1)
        at += 1
        rows += 1
