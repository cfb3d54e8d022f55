# ruff: noqa: SIM109 (comparing with a tuple takes Numba longer to compile)
"""The scheduler's events in bundles of ftrace's: switches, wake-ups and marks, in one pass.

Source: https://perfetto.dev/docs/reference/trace-packet-proto
"""

from __future__ import annotations

import numpy as np

from ...intern import intern_bytes
from ...jit import kernel
from .fields import S_BYTE, S_DAMAGED, S_MESSAGE, S_ODD, S_ODD_NUMBER, read_field

#: What the fields are of which the numbers are given.
STAMP, PID, FLAGS, SWITCH, WAKING, WAKEUP, PRINT, FIELDS = 0, 1, 2, 3, 4, 5, 6, 7
#: Kinds of messages, each with a row of the state: bundles, events, switches and wake-ups.
BUNDLES, EVENTS, SWITCHED, WOKEN, LEVELS = 0, 1, 2, 3, 4
#: What is counted: rows of each table, events of the kind that is not asked for, and names.
N_SWITCHES, N_WAKES, N_PRINTS, N_COLUMNS, N_OTHERS, N_NAMES, COUNTS = 0, 1, 2, 3, 4, 5, 6
#: What the scan returns: all is read, there is no room for rows, or for names.
DONE, FULL, FULL_OF_NAMES = 0, 1, 2
#: Columns of a table of switches, of wake-ups, of marks and of bundles' columns.
S_TIME, S_CPU, S_TID, S_LEAVES, S_COMES, S_SLEEPS, S_NAME, S_OTHER, SWITCH_COLUMNS = 0, 1, 2, 3, 4, 5, 6, 7, 8
W_TIME, W_CPU, W_BY, W_WOKEN, W_NAME, WAKE_COLUMNS = 0, 1, 2, 3, 4, 5
P_TIME, P_TID, P_FIRST, P_STOP, PRINT_COLUMNS = 0, 1, 2, 3, 4
C_FIRST, C_STOP, C_CPU, COLUMN_COLUMNS = 0, 1, 2, 3
#: Fields of a bundle, of a switch and of a wake-up.
_PROCESSOR, _EVENT, _COMPACT = 1, 2, 4
_PREV_COMM, _PREV_PID, _PREV_STATE, _NEXT_COMM, _NEXT_PID = 1, 2, 4, 5, 6
_COMM, _PID = 1, 2
#: Bits of a state with which a thread could not go on running.
_ASLEEP = 0xFF
#: Flags of an interrupt, hard or soft: what it does is not done by the thread that it interrupts.
_INTERRUPTED = 0x18


@kernel
def scan_events(  # type: ignore[no-untyped-def]
    data, first, stop, fields, state, counts, table, hashes, starts, lengths, switches, wakes, prints, columns
):
    """Write a row for each switch, wake-up and mark, and for each part of a bundle that is in columns.

    A message ends where it is damaged. Of several fields of one number the last counts; what is missing is 0,
    or the empty name, which has the number 0.

    Parameters
    ----------
    data : uint8 (bytes,)
    first, stop : int64 (bundles,)
        Bundle ``i`` is ``data[first[i]:stop[i]]``.
    fields : int64 (FIELDS,)
        The numbers of an event's fields: time, thread, flags, and the kinds of events. Of WAKING and WAKEUP
        the first is read, the other is counted.
    state : int64 (LEVELS, TAKE_STATE_SIZE)
        Zeros before; filled for each kind of message. S_MESSAGE is where the first damaged one ends.
    counts : int64 (COUNTS,)
        Zeros before, but for the names that there are; filled.
    table, hashes, starts, lengths
        As :func:`...intern.intern_bytes` takes them.
    switches : int64 (SWITCH_COLUMNS, room)
        Filled: time, processor, thread, who leaves, who comes, whether the first sleeps, and their names.
    wakes : int64 (WAKE_COLUMNS, room)
        Filled: time, processor, who wakes (0: an interrupt), who is woken, and the name.
    prints : int64 (PRINT_COLUMNS, room)
        Filled: time, thread, and where the message is.
    columns : int64 (COLUMN_COLUMNS, room)
        Filled: where the message is, and the processor.

    Returns
    -------
    int
        DONE, FULL or FULL_OF_NAMES: then all is to be scanned again, with more room.
    """
    names = counts[N_NAMES]
    if names == 0:
        starts[0], lengths[0], names = 0, 0, np.int64(1)
    n_switches, n_wakes, n_prints, n_columns, n_others = 0, 0, 0, 0, 0
    stamp, thread, flagged = fields[STAMP], fields[PID], fields[FLAGS]
    switch, waking, other, mark = fields[SWITCH], fields[WAKING], fields[WAKEUP], fields[PRINT]
    result = DONE
    for i in range(len(first)):
        at, end = np.int64(first[i]), np.int64(stop[i])
        bundle_end, event_end = end, end
        cpu, time, tid, flags = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        of_bundle = n_switches, n_wakes, n_columns
        of_event = n_switches, n_wakes, n_prints
        level = BUNDLES
        # Each helper is called in one place alone, so that it is compiled into the loop.
        while True:
            if at >= end:
                if level == BUNDLES:
                    break
                if level == EVENTS:
                    for row in range(of_event[0], n_switches):
                        switches[S_TIME, row], switches[S_TID, row] = time, tid
                    for row in range(of_event[1], n_wakes):
                        wakes[W_TIME, row] = time
                        wakes[W_BY, row] = tid if flags & _INTERRUPTED == 0 else 0
                    for row in range(of_event[2], n_prints):
                        prints[P_TIME, row], prints[P_TID, row] = time, tid
                    level, end = BUNDLES, bundle_end
                else:
                    n_switches += level == SWITCHED
                    n_wakes += level == WOKEN
                    level, end = EVENTS, event_end
                continue
            place = at
            field, found, length, at = read_field(data, at, end)
            if at < 0:
                if state[level, S_DAMAGED] == 0:
                    state[level, S_BYTE], state[level, S_MESSAGE] = place, end
                state[level, S_DAMAGED] += 1
                at = end
                continue
            is_bytes, is_name = False, False
            if level == SWITCHED:
                is_name = field == _PREV_COMM or field == _NEXT_COMM
                if not (is_name or field == _PREV_PID or field == _PREV_STATE or field == _NEXT_PID):
                    continue
                is_bytes = is_name
            elif level == WOKEN:
                is_name = field == _COMM
                if not (is_name or field == _PID):
                    continue
                is_bytes = is_name
            elif level == EVENTS:
                is_bytes = field == switch or field == waking or field == other or field == mark
                if not (is_bytes or field == stamp or field == thread or field == flagged):
                    continue
            else:
                is_bytes = field == _EVENT or field == _COMPACT
                if not (is_bytes or field == _PROCESSOR):
                    continue
            if is_bytes != (length >= 0):
                if state[level, S_ODD] == 0:
                    state[level, S_ODD_NUMBER] = field
                state[level, S_ODD] += 1
                continue
            if is_name:
                # The empty name comes first, whether it is there or not.
                number = np.int64(0)
                if length > 0:
                    if names >= len(starts):
                        result = FULL_OF_NAMES
                        break
                    number = intern_bytes(data, found, found + length, table, hashes, starts, lengths, names)
                    names += number == names
                found = number
            if level == SWITCHED:
                if field == _PREV_PID:
                    switches[S_LEAVES, n_switches] = found
                elif field == _NEXT_PID:
                    switches[S_COMES, n_switches] = found
                elif field == _PREV_STATE:
                    switches[S_SLEEPS, n_switches] = found & _ASLEEP != 0
                elif field == _PREV_COMM:
                    switches[S_NAME, n_switches] = found
                else:
                    switches[S_OTHER, n_switches] = found
            elif level == WOKEN:
                wakes[W_NAME if is_name else W_WOKEN, n_wakes] = found
            elif level == EVENTS:
                if field == stamp:
                    time = found
                elif field == thread:
                    tid = found
                elif field == flagged:
                    flags = found
                elif field == switch:
                    if n_switches >= switches.shape[1]:
                        result = FULL
                        break
                    for column in range(S_LEAVES, SWITCH_COLUMNS):
                        switches[column, n_switches] = 0
                    level, at, end = SWITCHED, found, found + length
                elif field == waking:
                    if n_wakes >= wakes.shape[1]:
                        result = FULL
                        break
                    wakes[W_WOKEN, n_wakes], wakes[W_NAME, n_wakes] = 0, 0
                    level, at, end = WOKEN, found, found + length
                elif field == mark:
                    if n_prints >= prints.shape[1]:
                        result = FULL
                        break
                    prints[P_FIRST, n_prints], prints[P_STOP, n_prints] = found, found + length
                    n_prints += 1
                else:
                    n_others += 1
            elif field == _PROCESSOR:
                cpu = found
            elif field == _COMPACT:
                if n_columns >= columns.shape[1]:
                    result = FULL
                    break
                columns[C_FIRST, n_columns], columns[C_STOP, n_columns] = found, found + length
                n_columns += 1
            else:
                time, tid, flags = np.int64(0), np.int64(0), np.int64(0)
                of_event = n_switches, n_wakes, n_prints
                event_end = found + length
                level, at, end = EVENTS, found, event_end
        if result != DONE:
            break
        for row in range(of_bundle[0], n_switches):
            switches[S_CPU, row] = cpu
        for row in range(of_bundle[1], n_wakes):
            wakes[W_CPU, row] = cpu
        for row in range(of_bundle[2], n_columns):
            columns[C_CPU, row] = cpu
    counts[N_SWITCHES], counts[N_WAKES], counts[N_PRINTS] = n_switches, n_wakes, n_prints
    counts[N_COLUMNS], counts[N_OTHERS], counts[N_NAMES] = n_columns, n_others, names
    return result
