"""Linux' ftrace as text: lines to columns, where a line is written as usual; others are left to who calls."""

from __future__ import annotations

import numpy as np

from ...intern import intern_bytes
from ...jit import inline, kernel
from .lines import find_byte

#: Slots of the scanner's state (int64); LIMIT is the number of rows that there is room for.
POSITION, LINE, ROWS, NAMES, LIMIT, STATE_SIZE = 0, 1, 2, 3, 4, 5
#: Return values of the scanner.
DONE, NAMES_FULL, ROWS_FULL = 0, 1, 2
#: Kinds of a row; UNUSUAL: the line is not understood here.
SWITCH, WAKING, ENTRY, EXIT, MOMENT, UNUSUAL = 0, 1, 2, 3, 4, 5
#: Columns of a row. A switch has the threads FIRST and SECOND, their names, and 1 in VALUE if the first
#: sleeps; a wake-up who is woken in FIRST, and in VALUE who wakes; a system call its name, and what it
#: returns in VALUE; an unusual line where it begins and ends.
NUMBER, KIND, TIME, CPU, TID, COMM, PROCESS, FIRST, SECOND, VALUE, NAME, OTHER, COLUMNS = range(13)
#: Numbers before the event of a line.
HEAD_SIZE = 5
#: Names that one line may have.
_MOST_NAMES = 3

_TAB, _LF, _BLANK, _HASH, _OPEN, _CLOSE, _MINUS, _DOT, _COLON = 9, 10, 32, 35, 40, 41, 45, 46, 58
_EQUALS, _GREATER, _LEFT, _BACKSLASH, _RIGHT, _UNDERLINE = 61, 62, 91, 92, 93, 95
_EIGHT_LF = np.uint64(0x0A0A0A0A0A0A0A0A)


def _text(text: bytes) -> np.ndarray:  # type: ignore[type-arg]
    return np.frombuffer(text, np.uint8)


_SYS, _ENTER, _LEAVE, _CPUS = _text(b"sys_"), _text(b"enter_"), _text(b"exit_"), _text(b"cpus=")
_SCHED_SWITCH = _text(b"sched_switch")
_SCHED_WAKING, _SCHED_WAKEUP = _text(b"sched_waking"), _text(b"sched_wakeup")
_MARK, _PRINT, _BPRINT = _text(b"tracing_mark_write"), _text(b"print"), _text(b"bprint")
_PREV_COMM, _PREV_PID = _text(b"prev_comm="), _text(b" prev_pid=")
_PREV_STATE, _NEXT_COMM = _text(b" prev_state="), _text(b" ==> next_comm=")
_NEXT_PID, _WOKEN_COMM, _WOKEN_PID = _text(b" next_pid="), _text(b"comm="), _text(b" pid=")
_PAGE_END = _text(b"\\n\\")
#: Equals signs in a switch, with those of its arrow, and in a wake-up whose names hold none.
_IN_SWITCH, _IN_WAKING = 9, 4


@inline
def _is_at(data, at, stop, text):  # type: ignore[no-untyped-def]
    if at + len(text) > stop:
        return False
    i = 0
    while i < len(text) and data[at + i] == text[i]:
        i += 1
    return i == len(text)


@inline
def _find(data, at, stop, text):  # type: ignore[no-untyped-def]
    """Return where ``text`` is from ``at`` on; ``stop`` if it is not there."""
    while at < stop:
        if data[at] == text[0] and _is_at(data, at, stop, text):
            return at
        at += 1
    return stop


@inline
def _digits(data, at, stop, most):  # type: ignore[no-untyped-def]
    """Return the number of 1 to ``most`` digits at ``at``, and where it ends: at ``at`` if there is none."""
    value, i = np.int64(0), at
    while i < stop and 48 <= data[i] <= 57:
        value = value * 10 + np.int64(data[i] - 48)
        i += 1
        if i - at > most:
            return value, at
    return value, i


@inline
def _past_blanks(data, at, stop):  # type: ignore[no-untyped-def]
    while at < stop and (data[at] == _BLANK or data[at] == _TAB):
        at += 1
    return at


@inline
def _is_word(byte):  # type: ignore[no-untyped-def]
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == _UNDERLINE


@inline
def _head(data, dash, stop, out):  # type: ignore[no-untyped-def]
    """Read what follows the name of a program, from its dash on; return where the event begins, else -1.

    ``out`` gets thread, process, processor, time, and 1 if the thread is interrupted.
    """
    out[0], at = _digits(data, dash + 1, stop, 9)
    if at == dash + 1 or at >= stop or not (data[at] == _BLANK or data[at] == _TAB):
        return np.int64(-1)
    at = _past_blanks(data, at, stop)
    out[1] = -1
    if at < stop and data[at] == _OPEN:
        at = _past_blanks(data, at + 1, stop)
        value, end = _digits(data, at, stop, 9)
        if end > at:
            out[1] = value
        else:
            while end < stop and data[end] == _MINUS:
                end += 1
        if end == at or end + 1 >= stop or data[end] != _CLOSE:
            return np.int64(-1)
        at = _past_blanks(data, end + 1, stop)
        if at == end + 1:
            return np.int64(-1)
    if at >= stop or data[at] != _LEFT:
        return np.int64(-1)
    out[2], end = _digits(data, at + 1, stop, 9)
    if end == at + 1 or end >= stop or data[end] != _RIGHT:
        return np.int64(-1)
    at = _past_blanks(data, end + 1, stop)
    if at == end + 1:
        return np.int64(-1)
    end = at
    while end < stop and data[end] != _BLANK and data[end] != _TAB and data[end] != _COLON:
        end += 1
    out[4] = 0
    if end < stop and data[end] != _COLON:
        if not 4 <= end - at <= 6:
            return np.int64(-1)
        flag = data[at + 2]
        # Of interrupts: h, H, s, z, Z.
        out[4] = flag == 104 or flag == 72 or flag == 115 or flag == 122 or flag == 90
        at = _past_blanks(data, end, stop)
    seconds, end = _digits(data, at, stop, 9)
    if end == at or end >= stop or data[end] != _DOT:
        return np.int64(-1)
    parts, last = _digits(data, end + 1, stop, 9)
    digits = last - end - 1
    if digits < 6 or last >= stop or data[last] != _COLON:
        return np.int64(-1)
    while digits < 9:
        parts *= 10
        digits += 1
    out[3] = seconds * 1_000_000_000 + parts
    at = _past_blanks(data, last + 1, stop)
    # A bracket has the time since the last line.
    return np.int64(-1) if at == last + 1 or at >= stop or data[at] == _OPEN else np.int64(at)


@inline
def _count(data, at, stop, byte):  # type: ignore[no-untyped-def]
    many = 0
    while at < stop:
        many += data[at] == byte
        at += 1
    return many


@kernel
def scan_ftrace(data, state, wake, head, rows, table, hashes, starts, lengths):  # type: ignore[no-untyped-def]
    """Write a row for each line that is neither blank nor a comment.

    Resumable: it stops where the table of names or the rows are full.

    Parameters
    ----------
    data : uint8 (bytes,)
        Without carriage returns.
    state : int64 (STATE_SIZE,)
        Zeros before the first call, but for LIMIT.
    wake : int
        Which event is a wake-up: 1 ``sched_waking``, 2 ``sched_wakeup``, 0 none.
    head : int64 (HEAD_SIZE,)
        Scratch: what stands before the event of a line.
    rows : int64 (LIMIT, COLUMNS)
        Filled.
    table, hashes, starts, lengths
        The names, as :func:`...intern.intern_bytes` takes them.

    Returns
    -------
    int
        DONE, NAMES_FULL or ROWS_FULL.
    """
    end = len(data)
    at, line, row, names = state[POSITION], state[LINE], state[ROWS], state[NAMES]
    result = DONE
    while at < end:
        if names + _MOST_NAMES > len(hashes):
            result = NAMES_FULL
            break
        if row >= state[LIMIT]:
            result = ROWS_FULL
            break
        low = at
        stop = find_byte(data, at, end, _EIGHT_LF)
        whole = stop
        at = stop + 1
        number = line
        line += 1
        if low >= stop or data[low] == _HASH or _is_at(data, low, stop, _CPUS):
            continue
        is_usual, is_blank = True, True
        for place in range(low, stop):
            byte = data[place]
            is_usual = is_usual and (byte >= _BLANK or byte == _TAB)
            is_blank = is_blank and (byte == _BLANK or 9 <= byte <= 13)
        if is_blank:
            continue
        if stop - low > 3 and _is_at(data, stop - 3, stop, _PAGE_END):
            stop -= 3
        first = _past_blanks(data, low, stop)
        event, dash = np.int64(-1), first + 1
        while is_usual and event < 0 and dash < stop:
            if data[dash] == _MINUS:
                event = _head(data, dash, stop, head)
            dash += 1
        out = rows[row]
        for column in range(COLUMNS):
            out[column] = -1
        out[NUMBER], out[KIND], out[FIRST], out[SECOND] = number, UNUSUAL, low, whole
        row += 1
        if event < 0:
            continue
        comm_end = dash - 1
        while data[comm_end - 1] == _BLANK or data[comm_end - 1] == _TAB:
            comm_end -= 1
        colon = event
        while colon < stop and data[colon] != _COLON:
            colon += 1
        text = _past_blanks(data, min(colon + 1, stop), stop)
        kind = UNUSUAL
        name_low = name_high = other_low = other_high = event
        one = two = value = np.int64(-1)
        if _is_at(data, event, stop, _SYS):
            name_low = event + 4
            i = name_low
            while i < stop and _is_word(data[i]):
                i += 1
            name_high = i
            if i > name_low and i < stop and data[i] == _OPEN:
                kind = ENTRY
            elif i > name_low + 6 and i == colon and colon < stop and _is_at(data, name_low, i, _ENTER):
                kind = ENTRY
                name_low += 6
            elif i > name_low:
                returned = np.int64(-1)
                if i == colon and colon < stop and i > name_low + 5 and _is_at(data, name_low, i, _LEAVE):
                    name_low += 5
                    returned = i + 1
                elif i + 2 < stop and data[i] == _BLANK and data[i + 1] == _MINUS and data[i + 2] == _GREATER:
                    returned = i + 3
                if returned >= 0:
                    i = _past_blanks(data, returned, stop)
                    if i + 1 < stop and data[i] == 48 and data[i + 1] == 120:
                        i += 2
                    bits, begun = np.uint64(0), i
                    while i < stop and i - begun < 17 and (48 <= data[i] <= 57 or 97 <= data[i] <= 102):
                        digit = data[i] - 48 if data[i] <= 57 else data[i] - 87
                        bits = (bits << np.uint64(4)) | np.uint64(digit)
                        i += 1
                    if 0 < i - begun <= 16 and (i >= stop or not _is_word(data[i])):
                        kind = EXIT
                        value = np.int64(bits)
        elif colon < stop and colon - event == 12 and _is_at(data, event, colon, _SCHED_SWITCH):
            if _is_at(data, text, stop, _PREV_COMM) and _count(data, text, stop, _EQUALS) == _IN_SWITCH:
                name_low = text + len(_PREV_COMM)
                name_high = _find(data, name_low, stop, _PREV_PID)
                one, i = _digits(data, min(name_high + len(_PREV_PID), stop), stop, 9)
                is_good = i > name_high + len(_PREV_PID) and i < stop and data[i] == _BLANK
                state_at = _find(data, i, stop, _PREV_STATE) + len(_PREV_STATE)
                arrow = _find(data, min(state_at, stop), stop, _NEXT_COMM)
                other_low = min(arrow + len(_NEXT_COMM), stop)
                other_high = _find(data, other_low, stop, _NEXT_PID)
                two, i = _digits(data, min(other_high + len(_NEXT_PID), stop), stop, 9)
                is_good = is_good and i > other_high + len(_NEXT_PID) and (i >= stop or data[i] == _BLANK)
                is_good = is_good and state_at < arrow and _count(data, state_at, arrow, _BLANK) == 0
                if is_good:
                    kind = SWITCH
                    # 0, R and R+ could go on running.
                    long = arrow - state_at
                    runs = long == 1 and (data[state_at] == 48 or data[state_at] == 82)
                    runs = runs or (long == 2 and data[state_at] == 82 and data[state_at + 1] == 43)
                    value = np.int64(not runs)
        elif (
            colon < stop
            and colon - event == 12
            and (
                (wake == 1 and _is_at(data, event, colon, _SCHED_WAKING))
                or (wake == 2 and _is_at(data, event, colon, _SCHED_WAKEUP))
            )
        ):
            if _is_at(data, text, stop, _WOKEN_COMM) and _count(data, text, stop, _EQUALS) == _IN_WAKING:
                name_low = text + len(_WOKEN_COMM)
                name_high = _find(data, name_low, stop, _WOKEN_PID)
                one, i = _digits(data, min(name_high + len(_WOKEN_PID), stop), stop, 9)
                if i > name_high + len(_WOKEN_PID) and i < stop and data[i] == _BLANK:
                    kind = WAKING
                    value = np.int64(0) if head[4] else head[0]
        elif colon < stop and not (
            _is_at(data, event, colon, _MARK)
            or _is_at(data, event, colon, _PRINT)
            or _is_at(data, event, colon, _BPRINT)
        ):
            kind = MOMENT
            name_low, name_high = event, colon
        if kind == UNUSUAL:
            continue
        out[KIND], out[TIME], out[CPU], out[TID], out[PROCESS] = kind, head[3], head[2], head[0], head[1]
        out[FIRST], out[SECOND], out[VALUE] = one, two, value
        out[COMM] = intern_bytes(data, first, comm_end, table, hashes, starts, lengths, names)
        names += out[COMM] == names
        out[NAME] = intern_bytes(data, name_low, name_high, table, hashes, starts, lengths, names)
        names += out[NAME] == names
        if kind == SWITCH:
            out[OTHER] = intern_bytes(data, other_low, other_high, table, hashes, starts, lengths, names)
            names += out[OTHER] == names
    state[POSITION], state[LINE], state[ROWS], state[NAMES] = at, line, row, names
    return result
