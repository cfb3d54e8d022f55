"""One number for each call."""

from __future__ import annotations

from typing import Any

from ..jit import kernel


@kernel
def fill_self_times(parent: Any, start: Any, end: Any, self_time: Any) -> None:
    """Fill each call's duration without its children's.

    Parameters
    ----------
    parent, start, end : int64 (n,)
        Of the calls; a parent stands before its children, -1: none.
    self_time : int64 (n,)
        Filled; nanoseconds.
    """
    for i in range(len(parent)):
        duration = end[i] - start[i]
        self_time[i] = duration
        if parent[i] >= 0:
            self_time[parent[i]] -= duration


@kernel
def add_outermost(function: Any, extent: Any, start: Any, end: Any, until: Any, total: Any) -> None:
    """Sum up the durations of the calls that are in no other call of their function.

    Parameters
    ----------
    function : int32 (n,)
    extent, start, end : int64 (n,)
        Of the calls, in pre-order.
    until : int64 (functions,)
        Working space; 0 before.
    total : int64 (functions,)
        Filled; nanoseconds. 0 before.
    """
    for i in range(len(function)):
        f = function[i]
        if i >= until[f]:
            total[f] += end[i] - start[i]
            until[f] = i + extent[i]


@kernel
def find_range(start: Any, end: Any, extent: Any) -> Any:
    """Find when the first of nested calls begins and the last one ends; only the outermost ones are read.

    Parameters
    ----------
    start, end, extent : int64 (n,)
        Of the calls, in pre-order; at least one.

    Returns
    -------
    low, high : int64
        Nanoseconds.
    """
    low, high = start[0], end[0]
    i = extent[0]
    while i < len(start):
        low, high = min(low, start[i]), max(high, end[i])
        i += extent[i]
    return low, high


@kernel
def mark_used(column: Any, used: Any) -> None:
    """Mark what a column names; ends early where all is marked.

    Parameters
    ----------
    column : int32 (n,)
        Indices of ``used``.
    used : bool (m,)
        Changed.
    """
    left = 0
    for k in range(len(used)):
        if not used[k]:
            left += 1
    for i in range(len(column)):
        if left == 0:
            return
        if not used[column[i]]:
            used[column[i]] = True
            left -= 1
