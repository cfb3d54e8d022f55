"""The cells of a strip that shows a whole trace."""

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
