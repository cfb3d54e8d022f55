"""Begins and ends of asynchronous operations, paired."""

from __future__ import annotations

from ..jit import kernel

#: Maximum number of open spans compared with an end: deeper ones are not distinguished by name.
_REACH = 64


@kernel
def pair_spans(group, begins, name, time, last, start, stop, parent, row, lost):  # type: ignore[no-untyped-def]
    """Pair the begins and ends of each group (int64, ascending), which are in the order of their times.

    An end closes the innermost open span of its name (any, if the name is -1) and with it those inside.

    Parameters
    ----------
    group, name, time : int64 (n,)
    begins : uint8 (n,)
        1 for a begin, 0 for an end.
    last : int
        When spans that never end are closed.
    start, stop, parent, row : int64 (begins,)
        Written: the spans, in the order of their begins; ``row`` is that of the begin.
    lost : int64 (2,)
        Written: how many ends and begins found no partner, and the row of the first of them.

    Returns
    -------
    count : int
        Number of spans.
    """
    count = 0
    innermost = -1
    for i in range(len(group)):
        if i > 0 and group[i] != group[i - 1]:
            innermost = -1
        if begins[i]:
            start[count] = time[i]
            stop[count] = last
            parent[count] = innermost
            row[count] = i
            innermost = count
            count += 1
            lost[0] += 1
            if lost[0] == 1:
                lost[1] = i
            continue
        found = innermost
        steps = 0
        while found >= 0 and name[i] >= 0 and name[row[found]] != name[i] and steps < _REACH:
            found = parent[found]
            steps += 1
        if found < 0 or steps == _REACH:
            lost[0] += 1
            if lost[0] == 1:
                lost[1] = i
            continue
        while innermost != found:
            stop[innermost] = time[i]
            innermost = parent[innermost]
            lost[0] -= 1
        stop[found] = time[i]
        lost[0] -= 1
        innermost = parent[found]
    return count
