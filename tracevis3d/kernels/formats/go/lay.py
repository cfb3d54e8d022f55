# ruff: noqa: SIM109 (comparing with a tuple takes Numba longer to compile)
"""Goroutines as calls: each from its begin to its end, and within it what it does not run in."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...jit import inline, kernel
from .follow import CREATED, GONE, IS_STATUS, RUNNABLE, RUNNING, STATE, SYSCALL, WAITING

#: Kinds of events (``trace.events``).
BEGIN, END = 0, 1
#: Slots of the counts of :func:`settle_changes`: calls, waits, what ends waits, and creations.
CALLS, WAITS, RELEASES, CREATIONS, COUNTS = range(5)


@inline
def _is_behind(a, b, part, rank):  # type: ignore[no-untyped-def]
    """Return whether change ``a`` belongs behind ``b``."""
    return part[a] > part[b] or (part[a] == part[b] and rank[a] > rank[b])


@kernel
def order_changes(who, place, part, rank, cursor, order, spare):  # type: ignore[no-untyped-def]
    """Order changes by goroutine, then part and rank; equal ones as they stand. Runs in order are merged.

    Parameters
    ----------
    who : int32 (changes,)
    place : int64 (goroutines,)
        Where each goroutine belongs among all.
    part, rank : int32 (changes,), int64 (changes,)
    cursor : int64 (goroutines + 1,)
        Where the changes of the goroutine at each place begin; moved to their end.
    order : int64 (changes,)
        Filled.
    spare : int64 (changes,)
        Working space.
    """
    for i in range(len(who)):
        g = place[who[i]]
        order[cursor[g]] = i
        cursor[g] += 1
    low: Any = np.int64(0)
    for g in range(len(place)):
        high = cursor[g]
        while True:
            # One round: each two runs become one.
            runs, at = 0, low
            while at < high:
                middle = at + 1
                while middle < high and not _is_behind(order[middle - 1], order[middle], part, rank):
                    middle += 1
                runs += 1
                if middle == high:
                    break
                stop = middle + 1
                while stop < high and not _is_behind(order[stop - 1], order[stop], part, rank):
                    stop += 1
                runs += 1
                # What is not behind the second run's first stays, and so does what is left of the second.
                i, high_i = at, middle
                while i < high_i:
                    k = (i + high_i) // 2
                    if _is_behind(order[k], order[middle], part, rank):
                        high_i = k
                    else:
                        i = k + 1
                for k in range(i, middle):
                    spare[k] = order[k]
                j, k = middle, i
                while i < middle:
                    if j == stop or not _is_behind(spare[i], order[j], part, rank):
                        order[k] = spare[i]
                        i += 1
                    else:
                        order[k] = order[j]
                        j += 1
                    k += 1
                at = stop
            if runs <= 2:
                break
        low = high


@kernel
def settle_changes(order, first, becomes, time, stack, outermost, many, frames, entry, counts):  # type: ignore[no-untyped-def]
    """Take out what says nothing new, make times ascend, and count what there will be.

    Parameters
    ----------
    order : int64 (changes,)
        By goroutine, then as they happen; changed: ``first`` says how many are left.
    first : int64 (goroutines + 1,)
        Each one's first change in ``order``; the last item is the number of changes. Changed.
    becomes : uint8 (changes,)
        States with flags.
    time : int64 (changes,)
        Changed: not earlier than that of the change before.
    stack : int32 (changes,)
    outermost, many : int64 (stacks,)
        The last frame of each, and how many it has.
    frames : int32 (frames,)
        Functions.
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
        for i in range(begin, stop):
            row = order[i]
            if i > begin and becomes[row] & IS_STATUS:
                continue
            if i > begin and time[row] < now:
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
                    counts[CALLS] += many[one]
                    if frames[outermost[one]] == frames[entry[g]]:
                        counts[CALLS] -= 1
            if state == WAITING:
                counts[WAITS] += 1
            if state == RUNNABLE and before == WAITING:
                counts[RELEASES] += 1
            before = state
            order[n] = row
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
    as_events, order, first, becomes, time, reason, stack, at_byte, last, threads, roots,
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
    order, first, becomes, time, stack, outermost, many, frames
        As :func:`settle_changes` takes and leaves them.
    reason : int32 (changes,)
        Rows of ``waits``, of waits.
    at_byte : int64 (changes,)
        Where the event is that says so.
    last : int
        When the recording ends.
    threads, roots : int32 (goroutines,)
        Each one's thread, and its own function.
    ready, inside : int
        The functions that stand for being ready to run, and for a system call.
    waits : int32 (reasons,)
        Those that stand for waits.
    region_change, region_kind, region_function, region_time, region_byte : int64 (regions,)
        Further begins and ends, ordered by the place in ``order`` of the change that they come after.
    wait, wait_until, wait_call : int64 (waits,)
        Filled: the places in ``order`` of changes that are waits, until when they are, and the call or
        event that is the wait.
    release, creation : int64 (k,)
        Filled: the places in ``order`` of changes that end waits, and of those that create a goroutine.
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
    n_waits, n_releases, n_creations = np.int64(0), np.int64(0), np.int64(0)
    for g in range(len(threads)):
        d = np.int64(0)
        who, root = np.int64(threads[g]), np.int64(roots[g])
        before, around_before = np.int64(GONE), np.int64(0)
        for i in range(first[g], first[g + 1]):
            row = order[i]
            now, said = time[row], at_byte[row]
            state = np.int64(becomes[row] & STATE)
            is_last = i + 1 == first[g + 1]
            until, next_said = np.int64(last), said
            goes_on_next = False
            if not is_last:
                after = order[i + 1]
                until, next_said = time[after], at_byte[after]
                goes_on_next = becomes[after] & STATE == RUNNABLE and stack[after] < 0
            elif state == GONE:
                until = now
            # Who is ready after it waited or was in a system call is still where it was.
            can_go_on = state == WAITING or state == SYSCALL
            goes_on = state == RUNNABLE and stack[row] < 0 and (before == WAITING or before == SYSCALL)
            is_away = state != RUNNING and state != GONE
            if becomes[row] & CREATED:
                creation[n_creations] = i
                n_creations += 1
            if i == first[g]:
                c, d = _begin(
                    as_events, thread, kind, function, start, byte, parent, depth, opened,
                    c, d, who, root, now, said,
                )  # fmt: skip
            around = np.int64(0)
            if is_away:
                one = np.int64(stack[row])
                if one >= 0 and not becomes[row] & CREATED and many[one] > 0:
                    around = many[one]
                    frame = outermost[one]
                    if frames[frame] == root:
                        around -= 1
                        frame -= 1
                    for k in range(around):
                        c, d = _begin(
                            as_events, thread, kind, function, start, byte, parent, depth, opened,
                            c, d, who, np.int64(frames[frame - k]), now, said,
                        )  # fmt: skip
                what = np.int64(ready)
                if state == WAITING:
                    what = np.int64(waits[reason[row]])
                    wait[n_waits], wait_until[n_waits], wait_call[n_waits] = i, until, c
                    n_waits += 1
                elif state == SYSCALL:
                    what = np.int64(inside)
                elif before == WAITING:
                    release[n_releases] = i
                    n_releases += 1
                c, d = _begin(
                    as_events, thread, kind, function, start, byte, parent, depth, opened,
                    c, d, who, what, now, said,
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
                        c, d, who, region_function[region], then, region_byte[region],
                    )  # fmt: skip
                else:
                    c, d = _end(
                        as_events, thread, kind, function, start, byte, end, extent, opened,
                        c, d, who, region_function[region], then, region_byte[region],
                    )  # fmt: skip
                    if d < 0:
                        return False
                region += 1
            if is_away:
                c, d = _end(
                    as_events, thread, kind, function, start, byte, end, extent, opened,
                    c, d, who, np.int64(-1), until, next_said,
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
                    c, d, who, np.int64(-1), until, said,
                )  # fmt: skip
                if d < 0:
                    return False
            before, around_before = state, around
        if not as_events and d > 0:
            return False
    return True


@kernel
def find_last_changes(first, order, time, goroutine, at, found):  # type: ignore[no-untyped-def]
    """Find the last change of a goroutine that is not later than a moment.

    Parameters
    ----------
    first : int64 (goroutines + 1,)
        Each one's first change; the last item is the number of changes.
    order : int64 (changes,)
        By goroutine.
    time : int64 (changes,)
        Ascending within a goroutine, in that order.
    goroutine, at : int64 (moments,)
        Of whom, and when.
    found : int64 (moments,)
        Filled: the place in ``order``; -1: all are later.
    """
    for i in range(len(goroutine)):
        begin = first[goroutine[i]]
        low, high = begin, first[goroutine[i] + 1]
        while low < high:
            middle = (low + high) // 2
            if time[order[middle]] <= at[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low - 1 if low > begin else -1
