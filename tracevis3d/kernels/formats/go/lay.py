# ruff: noqa: SIM109 (comparing with a tuple takes Numba longer to compile)
"""Goroutines as calls: each from its begin to its end, and within it what it does not run in."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...jit import inline, kernel
from .follow import CREATED, GONE, IS_STATUS, RUNNABLE, RUNNING, STATE, SYSCALL, WAITING

#: Kinds of events (``trace.events``).
BEGIN, END = 0, 1
#: Columns of a goroutine while changes are ordered; LISTED are the goroutines of a part, in the first rows.
CURSOR, SEEN, MANY, NEXT, LATEST, IS_LATE, LISTED, ORDER_COLUMNS = range(8)
#: Slots of the counts of :func:`settle_changes`: calls, waits, what ends waits, creations, changes to being
#: ready to run, and to being in a system call.
CALLS, WAITS, RELEASES, CREATIONS, READY, INSIDE, COUNTS = range(7)


@inline
def _sort(low, high, rank, order, spare):  # type: ignore[no-untyped-def]
    """Order changes by rank; equal ones as they stand. Runs in order are merged."""
    while True:
        # One round: each two runs become one.
        runs, at = 0, low
        while at < high:
            middle = at + 1
            while middle < high and rank[order[middle - 1]] <= rank[order[middle]]:
                middle += 1
            runs += 1
            if middle == high:
                break
            stop = middle + 1
            while stop < high and rank[order[stop - 1]] <= rank[order[stop]]:
                stop += 1
            runs += 1
            # What is not behind the second run's first stays, and so does what is left of the second.
            i, high_i = at, middle
            while i < high_i:
                k = (i + high_i) // 2
                if rank[order[k]] > rank[order[middle]]:
                    high_i = k
                else:
                    i = k + 1
            for k in range(i, middle):
                spare[k] = order[k]
            j, k = middle, i
            while i < middle:
                if j == stop or rank[spare[i]] <= rank[order[j]]:
                    order[k] = spare[i]
                    i += 1
                else:
                    order[k] = order[j]
                    j += 1
                k += 1
            at = stop
        if runs <= 2:
            break


@kernel
def order_changes(  # type: ignore[no-untyped-def]
    parts, who, rank, time, byte, becomes, reason, stack, by, place, goroutines, order, spare,
    to_time, to_byte, to_becomes, to_reason, to_stack, to_by,
):  # fmt: skip
    """Order changes by goroutine, then part and rank; equal ones as they stand.

    One part after the other, so that what is read again is still in the processor's cache.

    Parameters
    ----------
    parts : int64 (parts + 1,)
        The first change of each; the last item is the number of changes.
    who : int32 (changes,)
    rank, time, byte : int64 (changes,)
    becomes : uint8 (changes,)
    reason, stack, by : int32 (changes,)
        As :func:`.follow.follow_batches` fills them.
    place : int64 (goroutines,)
        Where each goroutine belongs among all.
    goroutines : int64 (goroutines, ORDER_COLUMNS)
        Of each, by its place: where its changes are written, as far as they are (CURSOR), and -1 for the last
        part that has some (SEEN). Changed.
    order, spare : int64 (most,)
        Working space: as many items as a part has at most.
    to_time, to_byte, to_becomes, to_reason, to_stack, to_by
        Filled: the columns in that order.
    """
    for part in range(len(parts) - 1):
        count = 0
        for i in range(parts[part], parts[part + 1]):
            g = place[who[i]]
            if goroutines[g, SEEN] != part:
                goroutines[g, SEEN], goroutines[g, MANY], goroutines[g, LATEST] = part, 0, rank[i]
                goroutines[g, IS_LATE] = 0
                goroutines[count, LISTED] = g
                count += 1
            goroutines[g, MANY] += 1
            goroutines[g, IS_LATE] |= rank[i] < goroutines[g, LATEST]
            goroutines[g, LATEST] = rank[i]
        low: Any = np.int64(0)
        for k in range(count):
            g = goroutines[k, LISTED]
            goroutines[g, NEXT] = low
            low += goroutines[g, MANY]
        for i in range(parts[part], parts[part + 1]):
            g = place[who[i]]
            order[goroutines[g, NEXT]] = i
            goroutines[g, NEXT] += 1
        for k in range(count):
            g = goroutines[k, LISTED]
            at, high = goroutines[g, CURSOR], goroutines[g, NEXT]
            low = high - goroutines[g, MANY]
            if goroutines[g, IS_LATE] == 1:
                _sort(low, high, rank, order, spare)
            for j in range(low, high):
                i = order[j]
                to_time[at], to_byte[at], to_becomes[at] = time[i], byte[i], becomes[i]
                to_reason[at], to_stack[at], to_by[at] = reason[i], stack[i], by[i]
                at += 1
            goroutines[g, CURSOR] = at


@kernel
def settle_changes(  # type: ignore[no-untyped-def]
    first, time, byte, becomes, reason, stack, by, outermost, many, frames, opened, waited, entry, counts
):
    """Take out what says nothing new, make times ascend, and count what there will be.

    Parameters
    ----------
    first : int64 (goroutines + 1,)
        Each one's first change; the last item is the number of changes. Changed: it says how many are left.
    time, byte : int64 (changes,)
    becomes : uint8 (changes,)
    reason, stack, by : int32 (changes,)
        By goroutine, then as they happen. Changed: rows move up, and no time is earlier than that of the
        change before.
    outermost, many : int64 (stacks,)
        The last frame of each, and how many it has.
    frames : int32 (frames,)
        Functions.
    opened : bool (stacks,)
        False before; filled: those whose functions are calls.
    waited : bool (reasons,)
        False before; filled: those of waits.
    entry : int64 (goroutines,)
        Filled: the frame that the goroutine begins in, outermost in its first stack; -1: none is known.
    counts : int64 (COUNTS,)
        Zeros before; filled.
    """
    n = np.int64(0)
    begin = first[0]
    for g in range(len(entry)):
        stop = first[g + 1]
        first[g] = n
        entry[g] = -1
        before, now = np.int64(GONE), np.int64(0)
        for row in range(begin, stop):
            if row > begin and becomes[row] & IS_STATUS:
                continue
            if row > begin and time[row] < now:
                time[row] = now
            now = time[row]
            state = np.int64(becomes[row] & STATE)
            one = np.int64(stack[row])
            if one >= 0 and many[one] > 0 and entry[g] < 0:
                entry[g] = outermost[one]
            if becomes[row] & CREATED:
                counts[CREATIONS] += 1
            if state != RUNNING and state != GONE:
                counts[CALLS] += 1
                if one >= 0 and not becomes[row] & CREATED and many[one] > 0:
                    opened[one] = True
                    counts[CALLS] += many[one]
                    if frames[outermost[one]] == frames[entry[g]]:
                        counts[CALLS] -= 1
            if state == WAITING:
                counts[WAITS] += 1
                waited[reason[row]] = True
            elif state == SYSCALL:
                counts[INSIDE] += 1
            elif state == RUNNABLE:
                counts[READY] += 1
                if before == WAITING:
                    counts[RELEASES] += 1
            before = state
            if n < row:
                time[n], byte[n], becomes[n] = time[row], byte[row], becomes[row]
                reason[n], stack[n], by[n] = reason[row], stack[row], by[row]
            n += 1
        if n > first[g]:
            counts[CALLS] += 1
        begin = stop
    first[len(entry)] = n


@inline
def _begin(  # type: ignore[no-untyped-def]
    as_events, thread, kind, function, start, byte, parent, depth, opened, c, d, who, what, time, said
):
    """Write the begin of a call; return how many rows there are, and how many calls are open."""
    thread[c], function[c], start[c] = who, what, time
    if as_events:
        kind[c], byte[c] = BEGIN, said
    else:
        parent[c] = opened[d - 1] if d > 0 else -1
        depth[c] = d + 1
        opened[d] = c
    return c + 1, d + 1


@inline
def _end(  # type: ignore[no-untyped-def]
    as_events, thread, kind, function, start, byte, end, extent, opened, c, d, who, what, time, said
):
    """Write an end; return how many rows there are, and how many calls are open: -1 where it does not fit."""
    if as_events:
        thread[c], kind[c], function[c], start[c], byte[c] = who, END, what, time, said
        return c + 1, d
    if d <= 0:
        return c, np.int64(-1)
    call = opened[d - 1]
    if what >= 0 and function[call] != what:
        return c, np.int64(-1)
    end[call], extent[call] = time, c - call
    return c, d - 1


@kernel
def lay_changes(  # type: ignore[no-untyped-def]
    as_events, first, time, at_byte, becomes, reason, stack, last, origin, threads, roots,
    ready, inside, waits, outermost, many, frames,
    region_change, region_kind, region_function, region_time, region_byte,
    wait, wait_until, wait_call, release, creation,
    thread, kind, function, start, byte, parent, depth, end, extent, opened,
):  # fmt: skip
    """Write the calls of goroutines, or their begins and ends, in the order of each goroutine.

    Parameters
    ----------
    as_events : bool
        Write begins and ends, not calls.
    first, time, at_byte, becomes, reason, stack, outermost, many, frames
        As :func:`settle_changes` takes and leaves them. The reasons of waits are rows of ``waits``.
    last : int
        When the recording ends.
    origin : int
        What times of calls, but not those of events, count from.
    threads, roots : int32 (goroutines,)
        Each one's thread, and its own function.
    ready, inside : int
        The functions that stand for being ready to run, and for a system call.
    waits : int32 (reasons,)
        Those that stand for waits.
    region_change, region_kind, region_function, region_time, region_byte : int64 (regions,)
        Further begins and ends, ordered by the change that they come after.
    wait, wait_until, wait_call : int64 (waits,)
        Filled: the changes that are waits, until when they are, and the call or event that is the wait.
    release, creation : int64 (k,)
        Filled: the changes that end waits, and those that create a goroutine.
    thread, function : int32 (n,)
    start : int64 (n,)
        Filled: of each call, or event (its time). An end's function is -1, but for regions.
    kind, byte : uint8 (n,), int64 (n,)
        Filled with events: what each is, and where.
    parent, depth, end, extent : int64 (n,), int32 (n,), int64 (n,), int64 (n,)
        Filled with calls.
    opened : int64 (calls,)
        Working space.

    Returns
    -------
    bool
        Whether all begins and ends fit together. If not, they must be written as events.
    """
    c, region = np.int64(0), np.int64(0)
    base = np.int64(0) if as_events else np.int64(origin)
    n_waits, n_releases, n_creations = np.int64(0), np.int64(0), np.int64(0)
    for g in range(len(threads)):
        d = np.int64(0)
        who, root = np.int64(threads[g]), np.int64(roots[g])
        before, around_before = np.int64(GONE), np.int64(0)
        for i in range(first[g], first[g + 1]):
            now, said = time[i], at_byte[i]
            state = np.int64(becomes[i] & STATE)
            is_last = i + 1 == first[g + 1]
            until, next_said = np.int64(last), said
            goes_on_next = False
            if not is_last:
                until, next_said = time[i + 1], at_byte[i + 1]
                goes_on_next = becomes[i + 1] & STATE == RUNNABLE and stack[i + 1] < 0
            elif state == GONE:
                until = now
            # Who is ready after it waited or was in a system call is still where it was.
            can_go_on = state == WAITING or state == SYSCALL
            goes_on = state == RUNNABLE and stack[i] < 0 and (before == WAITING or before == SYSCALL)
            is_away = state != RUNNING and state != GONE
            if becomes[i] & CREATED:
                creation[n_creations] = i
                n_creations += 1
            if i == first[g]:
                c, d = _begin(
                    as_events, thread, kind, function, start, byte, parent, depth, opened,
                    c, d, who, root, now - base, said,
                )  # fmt: skip
            around = np.int64(0)
            if is_away:
                one = np.int64(stack[i])
                if one >= 0 and not becomes[i] & CREATED and many[one] > 0:
                    around = many[one]
                    frame = outermost[one]
                    if frames[frame] == root:
                        around -= 1
                        frame -= 1
                    for k in range(around):
                        c, d = _begin(
                            as_events, thread, kind, function, start, byte, parent, depth, opened,
                            c, d, who, np.int64(frames[frame - k]), now - base, said,
                        )  # fmt: skip
                what = np.int64(ready)
                if state == WAITING:
                    what = np.int64(waits[reason[i]])
                    wait[n_waits], wait_until[n_waits], wait_call[n_waits] = i, until, c
                    n_waits += 1
                elif state == SYSCALL:
                    what = np.int64(inside)
                elif before == WAITING:
                    release[n_releases] = i
                    n_releases += 1
                c, d = _begin(
                    as_events, thread, kind, function, start, byte, parent, depth, opened,
                    c, d, who, what, now - base, said,
                )  # fmt: skip
            latest = now
            while region < len(region_change) and region_change[region] == i:
                then = region_time[region]
                if not as_events and (then < latest or then > until):
                    return False
                latest = then
                if region_kind[region] == BEGIN:
                    c, d = _begin(
                        as_events, thread, kind, function, start, byte, parent, depth, opened,
                        c, d, who, region_function[region], then - base, region_byte[region],
                    )  # fmt: skip
                else:
                    c, d = _end(
                        as_events, thread, kind, function, start, byte, end, extent, opened,
                        c, d, who, region_function[region], then - base, region_byte[region],
                    )  # fmt: skip
                    if d < 0:
                        return False
                region += 1
            if is_away:
                c, d = _end(
                    as_events, thread, kind, function, start, byte, end, extent, opened,
                    c, d, who, np.int64(-1), until - base, next_said,
                )  # fmt: skip
                if d < 0:
                    return False
            ends = np.int64(0)
            if is_away and not (can_go_on and goes_on_next):
                ends += around
            if goes_on:
                ends += around_before
            if is_last:
                ends += 1
            for _ in range(ends):
                c, d = _end(
                    as_events, thread, kind, function, start, byte, end, extent, opened,
                    c, d, who, np.int64(-1), until - base, said,
                )  # fmt: skip
                if d < 0:
                    return False
            before, around_before = state, around
        if not as_events and d > 0:
            return False
    return True


@kernel
def find_last_changes(first, time, goroutine, at, found):  # type: ignore[no-untyped-def]
    """Find the last change of a goroutine that is not later than a moment.

    Parameters
    ----------
    first : int64 (goroutines + 1,)
        Each one's first change; the last item is the number of changes.
    time : int64 (changes,)
        By goroutine, ascending within each.
    goroutine, at : int64 (moments,)
        Of whom, and when.
    found : int64 (moments,)
        Filled: the change; -1: all are later.
    """
    for i in range(len(goroutine)):
        begin = first[goroutine[i]]
        low, high = begin, first[goroutine[i] + 1]
        while low < high:
            middle = (low + high) // 2
            if time[middle] <= at[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low - 1 if low > begin else -1
