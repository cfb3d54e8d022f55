"""Goroutines as calls: each from its begin to its end, and within it what it does not run in."""

from __future__ import annotations

import numpy as np

from ...jit import kernel

#: Kinds of events (``trace.events``).
BEGIN, END = 0, 1


@kernel
def lay_changes(  # type: ignore[no-untyped-def]
    is_first, is_last, is_away, goes_on, time, until, of, byte, root, inside, many, outermost, frames,
    region_change, region_kind, region_function, region_time, region_byte,
    thread, kind, function, at, said_at, begun,
):  # fmt: skip
    """Write begins and ends of calls, in the order of each goroutine.

    Parameters
    ----------
    is_first, is_last : bool (changes,)
        Whether a change of state is its goroutine's first or last one.
    is_away : bool (changes,)
        Whether it does not run from then on.
    goes_on : bool (changes,)
        Whether the goroutine is still where the change before says.
    time, until : int64 (changes,)
        When the state begins and ends.
    of : int32 (changes,)
        The goroutine's thread.
    byte : int64 (changes,)
        Where the event is that says so.
    root, inside : int64 (changes,)
        The goroutine's own function, and the one that stands for the state.
    many, outermost : int64 (changes,)
        How many functions are around the state, and where in ``frames`` the outermost is; callees are before.
    frames : int64 (frames,)
        Functions.
    region_change, region_kind, region_function, region_time, region_byte : int64 (regions,)
        Further begins and ends, ordered by the change that they come after.
    thread : int32 (events,)
    kind : uint8 (events,)
    function : int32 (events,)
    at, said_at : int64 (events,)
        Filled: of each begin and end its thread, what it is, its function (-1: an end's), time and byte.
    begun : int64 (changes,)
        Filled for those that are away: the begin that stands for the state.
    """
    n = len(time)
    row = 0
    region = 0
    for i in range(n):
        if is_first[i]:
            thread[row], kind[row], function[row] = of[i], BEGIN, root[i]
            at[row], said_at[row] = time[i], byte[i]
            row += 1
        if is_away[i]:
            for k in range(many[i]):
                thread[row], kind[row], function[row] = of[i], BEGIN, frames[outermost[i] - k]
                at[row], said_at[row] = time[i], byte[i]
                row += 1
            begun[i] = row
            thread[row], kind[row], function[row] = of[i], BEGIN, inside[i]
            at[row], said_at[row] = time[i], byte[i]
            row += 1
        while region < len(region_change) and region_change[region] == i:
            thread[row], kind[row], function[row] = of[i], region_kind[region], region_function[region]
            at[row], said_at[row] = region_time[region], region_byte[region]
            row += 1
            region += 1
        if is_away[i]:
            thread[row], kind[row], function[row] = of[i], END, -1
            at[row], said_at[row] = until[i], byte[min(i + 1, n - 1)]
            row += 1
        ends = 0
        if is_away[i] and not (i + 1 < n and goes_on[i + 1]):
            ends += many[i]
        if goes_on[i] and is_away[i - 1]:
            ends += many[i - 1]
        if is_last[i]:
            ends += 1
        for _ in range(ends):
            thread[row], kind[row], function[row] = of[i], END, -1
            at[row], said_at[row] = until[i], byte[i]
            row += 1


@kernel
def follow_streams(  # type: ignore[no-untyped-def]
    stream, generation, starts, ends, goes_on, who, number, other, other_stream, running, after
):
    """Say for each event who runs just before it where it is written.

    Parameters
    ----------
    stream, generation : int64 (events,)
        What wrote the event, and in which part of the trace; ordered by both.
    starts, ends : bool (events,)
        Whether from then on the goroutine of ``who`` runs there, and whether none does.
    goes_on : bool (events,)
        Whether ``number`` says what the goroutine's next event comes after.
    who, number : int64 (events,)
    other, other_stream : int64 (others,)
        Events that say who runs elsewhere, from the beginning of their generation, and where; ordered by
        ``other_stream``, then generation.
    running, after : int64 (events,)
        Filled: the goroutine (-1: none), and what the event comes after (0: not known).
    """
    runs, said, said_in, o = np.int64(-1), np.int64(0), np.int64(0), 0
    for row in range(len(stream)):
        if row == 0 or stream[row] != stream[row - 1]:
            runs, said = np.int64(-1), np.int64(0)
        while o < len(other) and (
            other_stream[o] < stream[row]
            or (other_stream[o] == stream[row] and generation[other[o]] <= generation[row])
        ):
            if other_stream[o] == stream[row]:
                runs, said = who[other[o]], np.int64(0)
            o += 1
        running[row] = runs
        after[row] = said if said_in == generation[row] else np.int64(0)
        if starts[row]:
            runs, said_in = who[row], generation[row]
            said = number[row] if goes_on[row] else np.int64(0)
        elif ends[row]:
            runs, said = np.int64(-1), np.int64(0)


@kernel
def find_last_changes(first, time, goroutine, at, found):  # type: ignore[no-untyped-def]
    """Find the last change of a goroutine that is not later than a moment.

    Parameters
    ----------
    first : int64 (goroutines + 1,)
        Each one's first change; the last item is the number of changes.
    time : int64 (changes,)
        Ascending within a goroutine.
    goroutine, at : int64 (moments,)
        Of whom, and when.
    found : int64 (moments,)
        Filled; -1: all are later.
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
