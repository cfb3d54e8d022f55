"""What an operating system says of its threads, as begins and ends in the order of each thread."""

from __future__ import annotations

import numpy as np

from ...intern import slot_of
from ...jit import inline, kernel

#: Columns of rows: where they are written, when, on which processor, what they are; who leaves or is woken;
#: who comes, or what a system call returns; whether who leaves sleeps, or the system call; and who runs.
LINE, TIME, CPU, KIND, LEAVES, COMES, ASLEEP, RUNS, ROW_COLUMNS = range(9)
RETURNS, CALL = COMES, ASLEEP
#: Columns of marks: where they are, when, whose, BEGIN or END, and what begins (-1: an end).
MARK_LINE, MARK_TIME, MARK_WHO, MARK_KIND, MARK_FUNCTION, MARK_COLUMNS = range(6)
#: Kinds of rows.
SWITCH, WAKING, FORK, STATE, ENTRY, EXIT = range(6)
#: Kinds of events (``trace.events``).
BEGIN, END = 0, 1
#: Columns of a thread: the row in which it left its core, or entered a system call, until it returns (-1: it
#: did not); the first and the last row or mark in which it runs, counted together (-1: none); and its events
#: but for those of its life.
LEFT, ENTERED, FIRST, LAST, EVENTS, THREAD_COLUMNS = range(6)
#: What stands for an end in place of a begin's end.
_IS_END = -2


@inline
def _thread(number, table, ids, count):  # type: ignore[no-untyped-def]
    """Return which thread has a number, and how many there are; -1: it is no thread's."""
    if number <= 0:
        return np.int64(-1), count
    mask = np.uint64(len(table) - 1)
    slot = slot_of(number, mask)
    while table[slot] >= 0:
        if ids[table[slot]] == number:
            return np.int64(table[slot]), count
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
    table[slot] = count
    ids[count] = number
    return count, count + 1


@inline
def _note_running(one, threads, at):  # type: ignore[no-untyped-def]
    """Note that a thread runs in a row or mark."""
    if one >= 0:
        if threads[one, FIRST] < 0:
            threads[one, FIRST] = at
        threads[one, LAST] = at


@kernel
def survey_threads(rows, marks, clones, table, ids, threads, who, of_mark, ends):  # type: ignore[no-untyped-def]
    """Number threads, and find which begins have an end.

    A thread that leaves its core begins something, which ends when it returns, unless it leaves again before;
    so does a system call, which ends when the thread leaves that.

    Parameters
    ----------
    rows : int64 (ROW_COLUMNS, n)
        Ascending by line. SWITCH, WAKING, ENTRY and EXIT say something; who runs may be of any kind.
    marks : int64 (MARK_COLUMNS, m)
        Begins and ends that a program says itself, ascending by line; they come behind the row of their line.
    clones : bool (names,)
        Of system calls, whether such a call returns 0 in a thread that did not call it.
    table : int32 (2**k,)
        -1 before; working space. Longer than ``ids``.
    ids : int64 (room,)
        Filled: the number of each thread.
    threads : int64 (room, THREAD_COLUMNS)
        -1 before, but for EVENTS, 0; filled.
    who : int32 (3, n)
        Filled: which thread runs, leaves or is woken, and comes; -1: none.
    of_mark : int32 (m,)
        Filled.
    ends : int64 (n,)
        -1 before; filled for a row that begins something: the row that ends it.

    Returns
    -------
    int64
        How many threads there are; -1: there is no room for them.
    """
    count, mark, at = np.int64(0), np.int64(0), np.int64(0)
    n, n_marks = rows.shape[1], marks.shape[1]
    for row in range(n + 1):
        while mark < n_marks and (row == n or marks[MARK_LINE, mark] < rows[LINE, row]):
            if count == len(ids):
                return np.int64(-1)
            one, count = _thread(marks[MARK_WHO, mark], table, ids, count)
            _note_running(one, threads, at)
            if one >= 0:
                threads[one, EVENTS] += 1
            of_mark[mark] = one
            mark += 1
            at += 1
        if row == n:
            break
        if count + 3 > len(ids):
            return np.int64(-1)
        kind = rows[KIND, row]
        runs, count = _thread(rows[RUNS, row], table, ids, count)
        _note_running(runs, threads, at)
        leaves, comes = np.int64(-1), np.int64(-1)
        if kind == SWITCH:
            leaves, count = _thread(rows[LEAVES, row], table, ids, count)
            comes, count = _thread(rows[COMES, row], table, ids, count)
            _note_running(comes, threads, at)
            # One leaves before the other comes.
            if leaves >= 0:
                threads[leaves, LEFT] = row
            if comes >= 0 and threads[comes, LEFT] >= 0:
                ends[threads[comes, LEFT]] = row
                threads[comes, LEFT] = -1
                threads[comes, EVENTS] += 2
        elif kind == WAKING:
            leaves, count = _thread(rows[LEAVES, row], table, ids, count)
        elif runs >= 0 and kind == ENTRY:
            threads[runs, ENTERED] = row
        elif runs >= 0 and kind == EXIT:
            # A new thread leaves the call of its creator, which it never entered.
            is_new = rows[RETURNS, row] == 0 and clones[rows[CALL, row]]
            if threads[runs, ENTERED] >= 0 and not is_new:
                ends[threads[runs, ENTERED]] = row
                threads[runs, ENTERED] = -1
                threads[runs, EVENTS] += 2
        who[0, row], who[1, row], who[2, row] = runs, leaves, comes
        at += 1
    return count


@inline
def _add(one, place, thread, line, kind, function, time, at_line, what, of, now):  # type: ignore[no-untyped-def]
    """Write an event of a thread; return where."""
    at = place[one]
    thread[at], line[at], kind[at], function[at], time[at] = one, at_line, what, of, now
    place[one] = at + 1
    return at


@kernel
def lay_threads(  # type: ignore[no-untyped-def]
    rows, marks, who, of_mark, ends, threads, life, sleeps, preempted, calls, place, is_off,
    thread, line, kind, function, time, is_asleep, until,
):  # fmt: skip
    """Write begins and ends in the order of each thread.

    Parameters
    ----------
    rows, marks, who, of_mark, ends, threads
        As :func:`survey_threads` takes and fills them; ``ends`` is changed.
    life : int32 (threads,)
        The function that stands for the life of each, from the first to the last row or mark in which it
        runs; -1: none.
    sleeps, preempted : int
        The functions that stand for sleeping, and for being off the core.
    calls : int32 (names,)
        The functions that stand for system calls.
    place : int64 (threads,)
        Where the events of each thread begin; changed.
    is_off : bool (threads,)
        False before; working space.
    thread, line, kind, function, time
        Filled: int32, int64, uint8, int32, int64 (events,); nanoseconds.
    is_asleep : bool (events,)
        False before; filled: whether it is the begin of a sleep.
    until : int64 (events,)
        Filled where it is: when that ends.
    """
    mark, at = np.int64(0), np.int64(0)
    n, n_marks = rows.shape[1], marks.shape[1]
    for row in range(n + 1):
        while mark < n_marks and (row == n or marks[MARK_LINE, mark] < rows[LINE, row]):
            one = np.int64(of_mark[mark])
            if one >= 0:
                here, now = marks[MARK_LINE, mark], marks[MARK_TIME, mark]
                out = thread, line, kind, function, time
                if threads[one, FIRST] == at and life[one] >= 0:
                    _add(one, place, *out, here, BEGIN, life[one], now)
                _add(one, place, *out, here, marks[MARK_KIND, mark], marks[MARK_FUNCTION, mark], now)
                if threads[one, LAST] == at and life[one] >= 0:
                    _add(one, place, *out, here, END, -1, now)
            mark += 1
            at += 1
        if row == n:
            break
        out = thread, line, kind, function, time
        here, now, what = rows[LINE, row], rows[TIME, row], rows[KIND, row]
        runs, leaves, comes = np.int64(who[0, row]), np.int64(who[1, row]), np.int64(who[2, row])
        for k in range(2):
            one = runs if k == 0 else comes
            if one >= 0 and (k == 0 or comes != runs) and threads[one, FIRST] == at and life[one] >= 0:
                _add(one, place, *out, here, BEGIN, life[one], now)
        if what == SWITCH:
            if leaves >= 0 and ends[row] >= 0:
                asleep = rows[ASLEEP, row] != 0
                of = sleeps if asleep else preempted
                begin = _add(leaves, place, *out, here, BEGIN, of, now)
                is_off[leaves] = True
                if asleep:
                    is_asleep[begin], until[begin] = True, rows[TIME, ends[row]]
            if comes >= 0 and is_off[comes]:
                _add(comes, place, *out, here, END, -1, now)
                is_off[comes] = False
        elif what == ENTRY and ends[row] >= 0:
            _add(runs, place, *out, here, BEGIN, calls[rows[CALL, row]], now)
            ends[ends[row]] = _IS_END
        elif what == EXIT and ends[row] == _IS_END:
            _add(runs, place, *out, here, END, -1, now)
        for k in range(2):
            one = runs if k == 0 else comes
            if one >= 0 and (k == 0 or comes != runs) and threads[one, LAST] == at and life[one] >= 0:
                _add(one, place, *out, here, END, -1, now)
        at += 1
