# ruff: noqa: SIM109 (comparing with a tuple takes Numba longer to compile)
"""Changes of goroutines' states, from the bytes of an execution trace of Go 1.22 or later."""

from __future__ import annotations

import numpy as np

from ...intern import slot_of
from ...jit import inline, kernel
from ..protobuf.fields import read_varint
from . import scan
from .scan import (
    BLOCK,
    CREATE,
    CREATE_SYSCALL,
    CREATE_WAITING,
    DESTROY,
    DESTROY_SYSCALL,
    ENTER,
    FIRST,
    GENERATION,
    LATEST,
    LEAVE_LATE,
    STACK,
    START,
    STATUS,
    STATUS_STACK,
    STOP,
    STOP_RUNNING,
    STREAM,
    STRING,
    SWITCH,
    SWITCH_DESTROY,
    TIME,
    TIMED,
    TOLD,
    UNBLOCK,
    WORDS,
)

#: States of a goroutine ...
RUNNABLE, RUNNING, WAITING, SYSCALL, GONE = 0, 1, 2, 3, 4
#: ... and flags beside them: the event creates it; the event says what is known if it is its first.
CREATED, IS_STATUS, STATE = 8, 16, 7
#: Reasons of waits that no text says; that of row k of the texts is ``TEXTS + k``.
UNKNOWN, CREATED_WAITING, SWITCHED, NO_TEXT, TEXTS = 0, 1, 2, 3, 4
#: Columns of a batch that :func:`follow_batches` gets beside those of :mod:`.scan`: the places of its
#: generation and of its stream among all, and what keys of its texts and stacks begin with (-1: it has none).
PART, WRITER, TEXT_KEY, STACK_KEY, BATCH_COLUMNS = range(scan.BATCH_COLUMNS, scan.BATCH_COLUMNS + 5)
#: Columns of a stream: what is left of who runs there by what other streams say; who runs there (-1: nobody),
#: the number that the last to begin said, and the generation that it is of.
NEXT, END, RUNS, SAID, SAID_IN, STREAM_COLUMNS = range(6)
#: Slots of the state (int64): goroutines, changes, and other events that are written; the latest time; events
#: whose time is none, and the byte of the first in the file; whether there was no room for a goroutine.
N_GOROUTINES, N_CHANGES, N_OTHERS, LAST, BAD, BAD_BYTE, IS_FULL, STATE_SIZE = range(8)
#: Columns of another event: its byte, generation, time, kind, the goroutine that runs where it is written,
#: and what it says.
O_AT, O_GENERATION, O_TIME, O_KIND, O_RUNNING, O_A, O_B, O_C, O_D, OTHER_COLUMNS = range(10)
#: Numbers of texts and stacks are below this.
MOST = 1 << 44


@kernel
def fill_places(keys, rows, table_keys, table_rows):  # type: ignore[no-untyped-def]
    """Enter keys into an empty table; of equal ones the last counts.

    Parameters
    ----------
    keys : int64 (n,)
    rows : int64 (n,)
        What is found under each.
    table_keys : int64 (2**k,)
        Filled. Longer than the keys are many.
    table_rows : int32 (2**k,)
        -1 before; filled.
    """
    mask = np.uint64(len(table_rows) - 1)
    for i in range(len(keys)):
        slot = slot_of(keys[i], mask)
        while table_rows[slot] >= 0 and table_keys[slot] != keys[i]:
            slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
        table_keys[slot], table_rows[slot] = keys[i], rows[i]


@inline
def _row(begin, number, table_keys, table_rows):  # type: ignore[no-untyped-def]
    """Return the row of a text or stack; -1: there is none."""
    if begin < 0 or number <= -MOST or number >= MOST:
        return np.int64(-1)
    key = begin + number
    mask = np.uint64(len(table_rows) - 1)
    slot = slot_of(key, mask)
    while table_rows[slot] >= 0:
        if table_keys[slot] == key:
            return np.int64(table_rows[slot])
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
    return np.int64(-1)


@inline
def _goroutine(number, table, numbers, state):  # type: ignore[no-untyped-def]
    """Return which goroutine has a number, a new one if none has; -1: it is no number of one."""
    if number <= 0:
        return np.int64(-1)
    mask = np.uint64(len(table) - 1)
    slot = slot_of(number, mask)
    while table[slot] >= 0:
        if numbers[table[slot]] == number:
            return np.int64(table[slot])
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
    count = state[N_GOROUTINES]
    if count == len(numbers):
        state[IS_FULL] = 1
        return np.int64(-1)
    table[slot] = count
    numbers[count] = number
    state[N_GOROUTINES] = count + 1
    return count


@kernel
def follow_batches(  # type: ignore[no-untyped-def]
    data, kinds, batches, factor, base, elsewhere, streams, text_keys, text_rows, stack_keys, stack_rows,
    table, numbers, many, begun, is_stop, is_block, state,
    first, who, rank, time, byte, becomes, reason, stack, by, others,
):  # fmt: skip
    """Write a row for each change of a goroutine's state, in the order of batches, and for other events.

    A status is left out where the goroutine has a row of an earlier generation.

    Parameters
    ----------
    data : uint8 (bytes,)
    kinds : int64 (256, 5)
        :data:`.scan.KINDS`.
    batches : int64 (batches, BATCH_COLUMNS)
        Ordered by generation, stream and time.
    factor : float64 (batches,)
        Nanoseconds in a tick.
    base : int
        The earliest time, ticks.
    elsewhere : int64 (k, 2)
        Who runs on a stream from the beginning of which generation: generation, goroutine; ordered by stream
        and generation, and then as they are written.
    streams : int64 (streams, STREAM_COLUMNS)
        Where the rows of ``elsewhere`` begin and end for each; nobody runs there. Changed.
    text_keys, text_rows, stack_keys, stack_rows : int64 (2**k,), int32 (2**k,)
        Filled by :func:`fill_places`.
    table : int32 (2**k,)
        -1 before; changed. Longer than ``numbers``.
    numbers : int64 (goroutines,)
        Filled. If it has no room for one, the trace must be followed again with more.
    many : int64 (goroutines,)
        0 before; filled: changes of each.
    begun : int64 (goroutines,)
        Filled: the place of the generation in which each has its first change.
    is_stop, is_block : bool (texts + 1,)
        False before; filled: texts that are a reason to stop, or to wait. The first stands for no text.
    state : int64 (STATE_SIZE,)
        Zeros before, but for LAST, which is below all times; filled.
    first : int64 (generations + 1,)
        Filled: the first change of each generation; the last item is the number of changes.
    who : int32 (changes,)
        The goroutine: a row of ``numbers``.
    rank : int64 (changes,)
        A goroutine's changes in a generation are ordered by these: twice the number of what comes before,
        one more but for a status.
    time : int64 (changes,)
        Nanoseconds.
    byte : int64 (changes,)
        Where the event is.
    becomes : uint8 (changes,)
        The state from then on, with flags.
    reason, stack, by : int32 (changes,)
        Of a wait, its reason; where its code was; and who did it; -1: none.
    others : int64 (others, OTHER_COLUMNS)
    """
    n, n_others, last = np.int64(0), np.int64(0), state[LAST]
    start = np.float64(base)
    first[0] = 0
    for i in range(len(batches)):
        stream, generation, writer = batches[i, STREAM], batches[i, GENERATION], batches[i, WRITER]
        runs, said, said_in = streams[writer, RUNS], streams[writer, SAID], streams[writer, SAID_IN]
        o = streams[writer, NEXT]
        while o < streams[writer, END] and elsewhere[o, 0] <= generation:
            runs, said = _goroutine(elsewhere[o, 1], table, numbers, state), np.int64(0)
            o += 1
        streams[writer, NEXT] = o
        of, text_key, stack_key = batches[i, PART], batches[i, TEXT_KEY], batches[i, STACK_KEY]
        begin = np.int64(round(start * factor[i]))
        ticks = np.uint64(batches[i, TIME])
        at, stop = batches[i, FIRST], batches[i, STOP]
        while at < stop:
            place = at
            kind = np.int64(data[at])
            at += 1
            if kind == STRING:
                one, at = read_varint(data, at, stop)
                one, at = read_varint(data, at, stop)
                at += np.int64(one)
                continue
            if kind == STACK:
                one, at = read_varint(data, at, stop)
                one, at = read_varint(data, at, stop)
                for _ in range(4 * np.int64(one)):
                    one, at = read_varint(data, at, stop)
                continue
            words, timed = kinds[kind, WORDS], kinds[kind, TIMED]
            if words < 0:
                continue
            one, at = read_varint(data, at, stop)
            if timed == scan.LATER:
                ticks += one
            elif timed == scan.AT_TIME:
                ticks = one
            a, b, c, d = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            if words > 1:
                one, at = read_varint(data, at, stop)
                a = np.int64(one)
            if words > 2:
                one, at = read_varint(data, at, stop)
                b = np.int64(one)
            if words > 3:
                one, at = read_varint(data, at, stop)
                c = np.int64(one)
            if words > 4:
                one, at = read_varint(data, at, stop)
                d = np.int64(one)
            if timed == scan.NO_TIME:
                continue
            # In two parts: a product of 2**53 and more would lose nanoseconds.
            now = np.int64(ticks)
            span = np.float64(now - base) * factor[i]
            if now < 0 or not span + start * factor[i] < LATEST:
                if state[BAD] == 0 or place < state[BAD_BYTE]:
                    state[BAD_BYTE] = place
                state[BAD] += 1
                continue
            now = np.int64(round(span)) + begin
            last = max(last, now)
            if kinds[kind, TOLD] == 1:
                others[n_others, O_AT], others[n_others, O_GENERATION] = place, generation
                others[n_others, O_TIME], others[n_others, O_KIND] = now, kind
                others[n_others, O_RUNNING] = runs
                others[n_others, O_A], others[n_others, O_B] = a, b
                others[n_others, O_C], others[n_others, O_D] = c, d
                n_others += 1
                continue
            if kinds[kind, scan.CHANGED] == 0:
                continue
            # Of whom, what comes before, what it becomes, why, where, and by whom.
            after = said if said_in == generation else np.int64(0)
            one_who, order, is_said = runs, after, np.int64(1)
            then, why, where, whose = np.int64(RUNNING), np.int64(-1), np.int64(-1), np.int64(-1)
            if kind == START:
                one_who, order = _goroutine(a, table, numbers, state), b
                runs, said, said_in = one_who, b, generation
            elif kind == STOP_RUNNING or kind == BLOCK:
                then = np.int64(RUNNABLE) if kind == STOP_RUNNING else np.int64(WAITING)
                text = _row(text_key, a, text_keys, text_rows)
                if kind == BLOCK:
                    is_block[text + 1] = True
                else:
                    is_stop[text + 1] = True
                why, where = TEXTS + text, _row(stack_key, b, stack_keys, stack_rows)
                runs, said = np.int64(-1), np.int64(0)
            elif kind == UNBLOCK:
                one_who, order = _goroutine(a, table, numbers, state), b
                then, whose = np.int64(RUNNABLE), runs
            elif kind == ENTER:
                then, where = np.int64(SYSCALL), _row(stack_key, b, stack_keys, stack_rows)
            elif kind == LEAVE_LATE:
                then = np.int64(RUNNABLE)
                runs, said = np.int64(-1), np.int64(0)
            elif kind == CREATE or kind == CREATE_WAITING:
                one_who, order = _goroutine(a, table, numbers, state), np.int64(0)
                then, whose = np.int64(RUNNABLE | CREATED), runs
                if kind == CREATE_WAITING:
                    then, why = np.int64(WAITING | CREATED), np.int64(CREATED_WAITING)
                where = _row(stack_key, b, stack_keys, stack_rows)
            elif kind == CREATE_SYSCALL:
                one_who, order = _goroutine(a, table, numbers, state), np.int64(0)
                then = np.int64(SYSCALL)
                runs, said, said_in = one_who, np.int64(0), generation
            elif kind == DESTROY or kind == DESTROY_SYSCALL:
                then = np.int64(GONE)
                runs, said = np.int64(-1), np.int64(0)
            elif kind == SWITCH or kind == SWITCH_DESTROY:
                then = np.int64(GONE)
                if kind == SWITCH:
                    then, why = np.int64(WAITING), np.int64(SWITCHED)
                if one_who >= 0:
                    who[n], rank[n], time[n], byte[n] = one_who, 2 * order + 1, now, place
                    becomes[n], reason[n], stack[n], by[n] = then, why, -1, -1
                    if many[one_who] == 0:
                        begun[one_who] = of
                    many[one_who] += 1
                    n += 1
                whose = runs
                one_who, order = _goroutine(a, table, numbers, state), b
                then, why = np.int64(RUNNING), np.int64(-1)
                runs, said, said_in = one_who, b, generation
            elif kind == STATUS or kind == STATUS_STACK:
                order, is_said = np.int64(0), np.int64(0)
                one_who = _goroutine(a, table, numbers, state) if c > 0 else np.int64(-1)
                then = np.int64(WAITING)
                if c == 1:
                    then = np.int64(RUNNABLE)
                elif c == 2:
                    then = np.int64(RUNNING)
                elif c == 3:
                    then = np.int64(SYSCALL)
                if then == WAITING:
                    why = np.int64(UNKNOWN)
                if kind == STATUS_STACK:
                    where = _row(stack_key, d, stack_keys, stack_rows)
                if b == stream and (then == RUNNING or then == SYSCALL):
                    runs, said, said_in = one_who, np.int64(0), generation
                then |= IS_STATUS
                if one_who >= 0 and many[one_who] > 0 and begun[one_who] < of:
                    continue
            # LEAVE: who runs goes on running.
            if one_who >= 0:
                who[n], rank[n], time[n], byte[n] = one_who, 2 * order + is_said, now, place
                becomes[n], reason[n], stack[n], by[n] = then, why, where, whose
                if many[one_who] == 0:
                    begun[one_who] = of
                many[one_who] += 1
                n += 1
        streams[writer, RUNS], streams[writer, SAID], streams[writer, SAID_IN] = runs, said, said_in
        first[of + 1] = n
        if state[IS_FULL] == 1:
            return
    state[N_CHANGES], state[N_OTHERS], state[LAST] = n, n_others, last
