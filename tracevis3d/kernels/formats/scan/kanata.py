"""Kanata logs of processor pipelines: lines to columns.

Source: https://github.com/shioyadan/Konata/blob/master/docs/kanata-log-format.md
"""

from __future__ import annotations

import numpy as np

from ...intern import intern_bytes
from ...jit import inline, kernel
from .lines import find_byte

#: Slots of the scanner's state (int64); OTHER counts commands that the format does not have.
POSITION, LINE, ROWS, NAMES, CYCLE = 0, 1, 2, 3, 4
MALFORMED, MALFORMED_LINE, OTHER, OTHER_LINE, STATE_SIZE = 5, 6, 7, 8, 9
#: Return values of the scanner.
DONE, NAMES_FULL = 0, 1
#: Kinds of a row: an instruction, its label, begin and end of a stage, the instruction's end, a dependency.
INSTRUCTION, LABEL, STAGE, STAGE_END, RETIRE, DEPENDENCY = 0, 1, 2, 3, 4, 5

_TAB, _LF, _CR, _BLANK, _MINUS, _EQUALS, _ZERO, _NINE = 9, 10, 13, 32, 45, 61, 48, 57
_C, _E, _I, _L, _R, _S, _W, _K = 67, 69, 73, 76, 82, 83, 87, 75
_EIGHT_LF = np.uint64(0x0A0A0A0A0A0A0A0A)
_NONE = -9223372036854775808
#: Numbers beyond this are none: sums of them stay within int64.
_MOST = 1 << 60


@inline
def _field(data, at, stop):  # type: ignore[no-untyped-def]
    """Return where the field at ``at`` begins and ends, without blanks, and where the next one begins."""
    end = at
    while end < stop and data[end] != _TAB:
        end += 1
    following = min(end + 1, stop)
    while at < end and data[at] == _BLANK:
        at += 1
    while end > at and (data[end - 1] == _BLANK or data[end - 1] == _CR):
        end -= 1
    return at, end, following


@inline
def _number(data, low, high):  # type: ignore[no-untyped-def]
    """Return the whole number ``data[low:high]``; the least int64 if it is none."""
    at = low
    if at < high and data[at] == _MINUS:
        at += 1
    if at >= high:
        return np.int64(_NONE)
    value = np.int64(0)
    while at < high:
        byte = data[at]
        if byte < _ZERO or byte > _NINE or value > _MOST // 10:
            return np.int64(_NONE)
        value = value * 10 + np.int64(byte - _ZERO)
        at += 1
    return -value if data[low] == _MINUS else value


@kernel
def scan_kanata(  # type: ignore[no-untyped-def]
    data, state, kind, instruction, detail, name, time, table, hashes, starts, lengths
):
    """Write a row for each command that says something of an instruction.

    Texts other than labels are passed over. Lines that don't fit are counted in ``state``. Resumable: it
    stops where the table of names is full.

    Parameters
    ----------
    data : uint8 (bytes,)
    state : int64 (STATE_SIZE,)
        Zeros before the first call.
    kind : uint8 (lines,)
        Filled: INSTRUCTION, LABEL, STAGE, STAGE_END, RETIRE or DEPENDENCY.
    instruction : int64 (lines,)
        Filled: its number in the file.
    detail : int64 (lines,)
        Filled: the instruction's thread, the stage's lane, how the instruction ends (1: flushed), or what a
        dependency depends on; 0 for a label.
    name : int32 (lines,)
        Filled: the number of a stage's name or a label's text, else -1.
    time : int64 (lines,)
        Filled: the cycle.
    table, hashes, starts, lengths
        The names, as :func:`...intern.intern_bytes` takes them.

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
    cycle = state[CYCLE]
    result = DONE
    while at < end:
        if names >= len(hashes):
            result = NAMES_FULL
            break
        stop = find_byte(data, at, end, _EIGHT_LF)
        begin = at
        at = stop + 1
        line += 1
        low, high, following = _field(data, begin, stop)
        if low >= high:
            continue
        command = data[low]
        first_low, first_high, following = _field(data, following, stop)
        first = _number(data, first_low, first_high)
        is_good = first != _NONE
        if command == _K and high - low == 6:
            continue
        if command == _C and high - low == 2 and data[low + 1] == _EQUALS:
            if is_good:
                cycle = first
        elif high - low != 1:
            if state[OTHER] == 0:
                state[OTHER_LINE] = line
            state[OTHER] += 1
            continue
        elif command == _C:
            is_good = is_good and first >= 0 and cycle <= _MOST - first
            if is_good:
                cycle += first
        else:
            low, high, following = _field(data, following, stop)
            second = _number(data, low, high)
            is_good = is_good and second != _NONE
            low, high, following = _field(data, following, stop)
            row = np.int64(-1)
            has_name = False
            if command == _I:
                row = np.int64(INSTRUCTION)
                second = _number(data, low, high)
                is_good = is_good and second != _NONE
            elif command == _L:
                if is_good and second != 0:
                    continue
                row = np.int64(LABEL)
                # A label may hold tabs.
                high = stop
                while high > low and (
                    data[high - 1] == _BLANK or data[high - 1] == _CR or data[high - 1] == _TAB
                ):
                    high -= 1
                has_name = True
            elif command == _S:
                row = np.int64(STAGE)
                has_name = True
            elif command == _E:
                row = np.int64(STAGE_END)
            elif command == _R:
                row = np.int64(RETIRE)
                second = _number(data, low, high)
                is_good = is_good and second != _NONE
            elif command == _W:
                row = np.int64(DEPENDENCY)
            else:
                if state[OTHER] == 0:
                    state[OTHER_LINE] = line
                state[OTHER] += 1
                continue
            is_good = is_good and first >= 0 and (not has_name or high > low)
            if is_good:
                number = np.int64(-1)
                if has_name:
                    number = intern_bytes(data, low, high, table, hashes, starts, lengths, names)
                    if number == names:
                        names += 1
                kind[rows] = row
                instruction[rows] = first
                detail[rows] = second
                name[rows] = number
                time[rows] = cycle
                rows += 1
        if not is_good:
            if state[MALFORMED] == 0:
                state[MALFORMED_LINE] = line
            state[MALFORMED] += 1
    state[POSITION] = at
    state[LINE] = line
    state[ROWS] = rows
    state[NAMES] = names
    state[CYCLE] = cycle
    return result
