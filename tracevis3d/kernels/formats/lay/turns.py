"""Turns of threads: which begin an end belongs to, and from where to where something is known of each."""

from __future__ import annotations

from ...jit import kernel


@kernel
def pair_turns(group, begins, opened, end):  # type: ignore[no-untyped-def]
    """Find, for each begin that is directly followed by an end in its group, that end.

    Parameters
    ----------
    group : int64 (n,)
        From 0, in the order of time.
    begins : bool (n,)
    opened : int64 (groups,)
        -1 before; changed.
    end : int64 (n,)
        -1 before; the row of each begin's end is filled in.
    """
    for row in range(len(group)):
        one = group[row]
        if begins[row]:
            opened[one] = row
        elif opened[one] >= 0:
            end[opened[one]] = row
            opened[one] = -1


@kernel
def find_bounds(group, place, first, last):  # type: ignore[no-untyped-def]
    """Find the rows with the lowest and the highest place of each group.

    Parameters
    ----------
    group : int64 (n,)
        From 0; below it the row is left out.
    place : int64 (n,)
    first, last : int64 (groups,)
        -1 before; filled. Of equal places the first, and the last row.
    """
    for row in range(len(group)):
        one = group[row]
        if one >= 0:
            if first[one] < 0 or place[row] < place[first[one]]:
                first[one] = row
            if last[one] < 0 or place[row] >= place[last[one]]:
                last[one] = row


@kernel
def find_who_runs(is_switch, cpu, comes, other, leaves, name, runs, running, title):  # type: ignore[no-untyped-def]
    """Fill in who a switch stops, who wakes, and who runs, by the last switch of the processor.

    Parameters
    ----------
    is_switch : bool (n,)
        In the order of time; all others are wake-ups.
    cpu : int64 (n,)
        The processor, from 0.
    comes, other : int64 (n,)
        Of a switch: who runs from then on, and that one's name.
    leaves, name, runs : int64 (n,)
        Who a switch stops, that one's name, and who runs, or wakes: below 0 it is filled in. Of whom nothing
        is known is 0, but -1 wakes; a name is filled in where a switch says it.
    running, title : int64 (processors,)
        -1 before; changed.
    """
    for row in range(len(cpu)):
        one = cpu[row]
        if runs[row] < 0:
            runs[row] = max(running[one], 0) if is_switch[row] else running[one]
        if is_switch[row]:
            if leaves[row] < 0:
                leaves[row] = max(running[one], 0)
                if title[one] >= 0:
                    name[row] = title[one]
            running[one], title[one] = comes[row], other[row]
