"""Goroutines as calls: each from its begin to its end, and within it what it does not run in."""

from __future__ import annotations

from ...jit import kernel

#: Kinds of events (``trace.events``).
BEGIN, END = 0, 1


@kernel
def lay_changes(  # type: ignore[no-untyped-def]
    is_first, is_last, is_away, goes_on, time, until, event, root, inside, many, outermost, frames,
    region_change, region_kind, region_function, region_time, region_event,
    change, kind, function, at, of_event, begun,
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
    time, until, event : int64 (changes,)
        When the state begins and ends, and the event that says so.
    root, inside : int64 (changes,)
        The goroutine's own function, and the one that stands for the state.
    many, outermost : int64 (changes,)
        How many functions are around the state, and where in ``frames`` the outermost is; callees are before.
    frames : int64 (frames,)
        Functions.
    region_change, region_kind, region_function, region_time, region_event : int64 (regions,)
        Further begins and ends, ordered by the change that they come after.
    change, function, at, of_event : int64 (events,)
    kind : uint8 (events,)
        Filled: of each begin and end its change, what it is, its function (-1: an end's), time and event.
    begun : int64 (changes,)
        Filled for those that are away: the begin that stands for the state.
    """
    n = len(time)
    row = 0
    region = 0
    for i in range(n):
        if is_first[i]:
            change[row], kind[row], function[row], at[row], of_event[row] = (
                i,
                BEGIN,
                root[i],
                time[i],
                event[i],
            )
            row += 1
        if is_away[i]:
            for k in range(many[i]):
                change[row], kind[row], function[row] = i, BEGIN, frames[outermost[i] - k]
                at[row], of_event[row] = time[i], event[i]
                row += 1
            begun[i] = row
            change[row], kind[row], function[row], at[row], of_event[row] = (
                i,
                BEGIN,
                inside[i],
                time[i],
                event[i],
            )
            row += 1
        while region < len(region_change) and region_change[region] == i:
            change[row], kind[row], function[row] = i, region_kind[region], region_function[region]
            at[row], of_event[row] = region_time[region], region_event[region]
            row += 1
            region += 1
        if is_away[i]:
            change[row], kind[row], function[row] = i, END, -1
            at[row], of_event[row] = until[i], event[min(i + 1, n - 1)]
            row += 1
        ends = 0
        if is_away[i] and not (i + 1 < n and goes_on[i + 1]):
            ends += many[i]
        if goes_on[i] and is_away[i - 1]:
            ends += many[i - 1]
        if is_last[i]:
            ends += 1
        for _ in range(ends):
            change[row], kind[row], function[row], at[row], of_event[row] = i, END, -1, until[i], event[i]
            row += 1
