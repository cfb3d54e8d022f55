"""The cells of murals: strips and walls that show a whole trace."""

from __future__ import annotations

from typing import Any

from ..jit import kernel


@kernel
def count_cells(depth: Any, hidden: Any, deepest: int, counts: Any) -> None:
    """Count the calls of each cell.

    Parameters
    ----------
    depth : int32 (n,)
        1 or more.
    hidden : bool (n,)
    deepest : int
        The depth of the last row.
    counts : int64 (2, height, width)
        Zeros; the calls that are shown and those that are hidden are added.
    """
    height, width, n = counts.shape[1], counts.shape[2], len(depth)
    for i in range(n):
        row = (depth[i] - 1) * height // deepest
        if hidden[i]:
            counts[1, row, i * width // n] += 1
        else:
            counts[0, row, i * width // n] += 1


@kernel
def longest_in_cells(start: Any, end: Any, row: Any, low: float, step: float, most: Any, longest: Any,
                     after: Any) -> None:  # fmt: skip
    """Find the call that takes the most of each cell's time; of equal ones the first.

    A column that one call takes all of is passed over from then on, so time is linear in calls and cells.

    Parameters
    ----------
    start, end : int64 (n,)
        Nanoseconds.
    row : int64 (n,)
    low, step : float
        Where the first column begins, and how wide one is, in nanoseconds.
    most : float64 (rows, columns)
        Zeros; the time that the longest one takes of each cell.
    longest : int64 (rows, columns)
        -1; the calls.
    after : int64 (rows, columns + 1)
        Each its own column; used to pass over taken ones.
    """
    columns = most.shape[1]
    for i in range(len(start)):
        if (start[i] < low and end[i] <= low) or start[i] >= low + step * columns:
            continue
        r = row[i]
        first = max(int((start[i] - low) / step), 0)
        last = min(int((end[i] - low) / step), columns - 1)
        k = first
        while k <= last:
            # Go to the next column that is not taken, and shorten the way there.
            free = k
            while after[r, free] != free:
                free = after[r, free]
            while after[r, k] != free:
                beyond = after[r, k]
                after[r, k] = free
                k = beyond
            k = free
            if k > last:
                break
            begins, ends = low + step * k, low + step * (k + 1)
            time = min(float(end[i]), ends) - max(float(start[i]), begins)
            # Where it ends takes nothing of the next column.
            if time > most[r, k] or (k == first and longest[r, k] < 0):
                most[r, k], longest[r, k] = time, i
            if start[i] <= begins and end[i] >= ends:
                after[r, k] = k + 1
            k += 1
