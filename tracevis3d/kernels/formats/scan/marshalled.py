"""Profiles of Python's own profiler, as ``marshal`` writes them: a table of functions and of their callers.

Source: CPython's ``Python/marshal.c`` and ``Lib/pstats.py``. What is flagged can be referred to later, by its
number among all that is flagged.
"""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel
from ...raw_bytes import address, load64

#: Slots of the state: the next byte; texts, keys, functions, callers and flagged values so far.
AT, TEXTS, KEYS, FUNCTIONS, CALLERS, FLAGGED, STATE_SIZE = 0, 1, 2, 3, 4, 5, 6
#: What flagged values are: something else, a text, a key, four numbers of a caller, a whole number, a float.
_OTHER, _TEXT, _KEY, _FOUR, _WHOLE, _REAL = 0, 1, 2, 3, 4, 5
_FLAG, _PLAIN = np.uint8(0x80), np.uint8(0x7F)
_REFERENCE, _INT, _FLOAT, _SHORT_TUPLE, _TUPLE, _TABLE, _END = 114, 105, 103, 41, 40, 123, 48
_SHORT_TEXT, _SHORT_INTERNED, _TEXTS = 122, 90, (115, 117, 116, 97, 65)


@inline
def _word(data, at):  # type: ignore[no-untyped-def]
    """Return four bytes as a number with a sign."""
    found = np.uint32(data[at]) | np.uint32(data[at + 1]) << np.uint32(8)
    found |= np.uint32(data[at + 2]) << np.uint32(16) | np.uint32(data[at + 3]) << np.uint32(24)
    return np.int64(np.int32(found))


@inline
def _referred(data, at, state, kinds, kind):  # type: ignore[no-untyped-def]
    """Return the number of what is referred to; -1 if that is of another kind."""
    if at + 5 > len(data):
        return np.int64(-1)
    number = _word(data, at + 1)
    if number < 0 or number >= state[FLAGGED] or kinds[number] != kind:
        return np.int64(-1)
    state[AT] = at + 5
    return number


@inline
def _tuple(data, state, count, kinds):  # type: ignore[no-untyped-def]
    """Pass the beginning of a tuple of so many; return its number if it is flagged, -1 if not, or -2."""
    at = state[AT]
    if at + 5 > len(data):
        return np.int64(-2)
    what = data[at] & _PLAIN
    many = np.int64(-1)
    if what == _SHORT_TUPLE:
        many = np.int64(data[at + 1])
        state[AT] = at + 2
    elif what == _TUPLE:
        many = _word(data, at + 1)
        state[AT] = at + 5
    if many != count:
        return np.int64(-2)
    if data[at] & _FLAG == 0:
        return np.int64(-1)
    number = state[FLAGGED]
    kinds[number] = _OTHER
    state[FLAGGED] += 1
    return number


@inline
def _text(data, state, kinds, values, begin, size):  # type: ignore[no-untyped-def]
    """Return the row of the next text; -1 if it is none."""
    at = state[AT]
    if at + 2 > len(data):
        return np.int64(-1)
    what = data[at] & _PLAIN
    if what == _REFERENCE:
        number = _referred(data, at, state, kinds, _TEXT)
        return values[number] if number >= 0 else np.int64(-1)
    if what in (_SHORT_TEXT, _SHORT_INTERNED):
        many = np.int64(data[at + 1])
        first = at + 2
    elif what in _TEXTS:
        if at + 5 > len(data):
            return np.int64(-1)
        many = _word(data, at + 1)
        first = at + 5
    else:
        return np.int64(-1)
    if many < 0 or many > len(data) - first:
        return np.int64(-1)
    row = state[TEXTS]
    begin[row], size[row] = first, many
    state[TEXTS] += 1
    if data[at] & _FLAG != 0:
        kinds[state[FLAGGED]], values[state[FLAGGED]] = _TEXT, row
        state[FLAGGED] += 1
    state[AT] = first + many
    return row


@inline
def _number(data, state, kinds, values):  # type: ignore[no-untyped-def]
    """Write the next number, or a float's bits, behind all values; return whether there is one."""
    last = len(values) - 1
    at = state[AT]
    if at + 5 > len(data):
        return False
    what = data[at] & _PLAIN
    if what == _REFERENCE:
        number = _word(data, at + 1)
        if number < 0 or number >= state[FLAGGED] or kinds[number] < _WHOLE:
            return False
        kinds[last], values[last] = kinds[number], values[number]
        state[AT] = at + 5
        return True
    if what == _INT:
        kinds[last], values[last] = _WHOLE, _word(data, at + 1)
        state[AT] = at + 5
    elif what == _FLOAT and at + 9 <= len(data):
        kinds[last], values[last] = _REAL, np.int64(load64(address(data) + at + 1))
        state[AT] = at + 9
    else:
        return False
    if data[at] & _FLAG != 0:
        flagged = state[FLAGGED]
        kinds[flagged], values[flagged] = kinds[last], values[last]
        state[FLAGGED] += 1
    return True


@inline
def _key(data, state, kinds, values, begin, size, files, lines, names):  # type: ignore[no-untyped-def]
    """Return the row of the next key, which is a file, a line and a name; -1 if it is none."""
    at = state[AT]
    if at < len(data) and data[at] & _PLAIN == _REFERENCE:
        number = _referred(data, at, state, kinds, _KEY)
        return values[number] if number >= 0 else np.int64(-1)
    flagged = _tuple(data, state, np.int64(3), kinds)
    if flagged < -1:
        return np.int64(-1)
    file = _text(data, state, kinds, values, begin, size)
    if file < 0 or not _number(data, state, kinds, values) or kinds[len(kinds) - 1] != _WHOLE:
        return np.int64(-1)
    line = values[len(values) - 1]
    name = _text(data, state, kinds, values, begin, size)
    if name < 0:
        return np.int64(-1)
    row = state[KEYS]
    files[row], lines[row], names[row] = file, line, name
    state[KEYS] += 1
    if flagged >= 0:
        kinds[flagged], values[flagged] = _KEY, row
    return row


@inline
def _four(data, state, kinds, values, row, found, is_real):  # type: ignore[no-untyped-def]
    """Write the next four numbers; return whether there are four."""
    for k in range(4):
        if not _number(data, state, kinds, values):
            return False
        found[k, row] = values[len(values) - 1]
        is_real[k, row] = kinds[len(kinds) - 1] == _REAL
    return True


@inline
def _table(data, state, kinds):  # type: ignore[no-untyped-def]
    """Pass the beginning of a table; return whether there is one."""
    at = state[AT]
    if at >= len(data) or data[at] & _PLAIN != _TABLE:
        return False
    if data[at] & _FLAG != 0:
        kinds[state[FLAGGED]] = _OTHER
        state[FLAGGED] += 1
    state[AT] = at + 1
    return True


@kernel
def scan_profile(  # type: ignore[no-untyped-def]
    data, state, kinds, values, begin, size, files, lines, names,
    function, of_function, function_is_real, callee, caller, of_caller, caller_is_real,
):  # fmt: skip
    """Read a table of functions; return whether it is all like profiles that Python writes.

    A function's value is a tuple of four numbers and a table of callers, whose values are four numbers.

    Parameters
    ----------
    data : uint8 (bytes,)
    state : int64 (STATE_SIZE,)
        Zeros before; filled.
    kinds : uint8 (bytes + 1,)
    values : int64 (bytes + 1,)
        Working space, for each flagged value, and the last number.
    begin, size : int64 (bytes / 2,)
        Filled: where each text is.
    files, lines, names : int64 (bytes / 8,)
        Filled: text, number and text of each key.
    function, callee, caller : int64 (bytes / 8,)
        Filled: the key of each function, and the keys of each call between two.
    of_function, of_caller : int64 (4, bytes / 8)
        Filled: the numbers of each, or a float's bits.
    function_is_real, caller_is_real : bool (4, bytes / 8)
        Filled: which are floats.
    """
    if not _table(data, state, kinds):
        return False
    while state[AT] < len(data) and data[state[AT]] != _END:
        row = state[FUNCTIONS]
        key = _key(data, state, kinds, values, begin, size, files, lines, names)
        if key < 0 or _tuple(data, state, np.int64(5), kinds) < -1:
            return False
        function[row] = key
        if not _four(data, state, kinds, values, row, of_function, function_is_real):
            return False
        state[FUNCTIONS] += 1
        if not _table(data, state, kinds):
            return False
        while state[AT] < len(data) and data[state[AT]] != _END:
            row = state[CALLERS]
            other = _key(data, state, kinds, values, begin, size, files, lines, names)
            if other < 0 or state[AT] >= len(data):
                return False
            callee[row], caller[row] = key, other
            state[CALLERS] += 1
            if data[state[AT]] & _PLAIN == _REFERENCE:
                number = _referred(data, state[AT], state, kinds, _FOUR)
                if number < 0:
                    return False
                for k in range(4):
                    of_caller[k, row] = of_caller[k, values[number]]
                    caller_is_real[k, row] = caller_is_real[k, values[number]]
                continue
            number = _tuple(data, state, np.int64(4), kinds)
            if number < -1 or not _four(data, state, kinds, values, row, of_caller, caller_is_real):
                return False
            if number >= 0:
                kinds[number], values[number] = _FOUR, row
        if state[AT] >= len(data):
            return False
        state[AT] += 1
    return state[AT] < len(data)
