"""Filters: which calls they settle, and what is left of the calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel


@kernel
def settle(
    extent: Any,
    flags: Any,
    flag_of_call: Any,
    node_of_call: Any,
    low: int,
    high: int,
    subtrees: bool,
    effect: int,
    number: int,
    state: Any,
    by: Any,
    own: Any,
    seen: Any,
) -> Any:
    """Give marked calls, or their subtrees, a state.

    Parameters
    ----------
    extent : int64 (n,)
    flags : uint8
        Of the distinct subtrees, or of the calls if ``flag_of_call`` is empty.
    flag_of_call : int32 (n,) or (0,)
        The distinct subtree of each call.
    node_of_call : int32 (n,)
        The same.
    low, high : int
        The calls that are examined.
    subtrees : bool
        Whether what is below a marked call is meant too.
    effect, number : int
    state, by : uint8 (n,)
        ``effect`` and ``number`` are written to them.
    own : uint8 (n,)
        Set for marked calls where the effect is 1, to hide; taken back where it is another.
    seen : uint8 (m,)
        Set for the distinct subtrees of marked calls.

    Returns
    -------
    int
        How many calls are marked.
    """
    marked = np.int64(0)
    until = np.int64(low)
    per_call = len(flag_of_call) == 0
    for i in range(low, high):
        flag = flags[i] if per_call else flags[flag_of_call[i]]
        if flag:
            marked += 1
            seen[node_of_call[i]] = 1
            if subtrees and i + extent[i] > until:
                until = i + extent[i]
        if flag or i < until:
            state[i] = effect
            by[i] = number
            if effect != 1:
                own[i] = 0
            elif flag:
                own[i] = 1
    return marked


@kernel
def find_shown_below(parent: Any, hidden: Any, shown_below: Any) -> None:
    """Find the calls with a call below them that isn't hidden.

    Parameters
    ----------
    parent : int64 (n,)
    hidden : bool (n,)
    shown_below : uint8 (n,)
        Zeros; 1 is written for those calls.
    """
    for i in range(len(parent) - 1, -1, -1):
        if parent[i] >= 0 and (shown_below[i] or not hidden[i]):
            shown_below[parent[i]] = 1


@kernel
def keep_calls(parent: Any, keep: Any, new: Any, kept_parent: Any, kept_depth: Any, kept_extent: Any) -> None:
    """Number the calls that are kept, and find each one's nearest kept caller.

    Parameters
    ----------
    parent : int64 (n,)
    keep : uint8 (n,)
    new : int64 (n,)
        Filled: the new number of a kept call; for another that of its nearest kept caller, -1 for none.
    kept_parent, kept_extent : int64 (k,)
    kept_depth : int32 (k,)
        Filled for the kept calls; ``kept_extent`` is zeros before.
    """
    count = np.int64(0)
    for i in range(len(parent)):
        above = np.int64(-1)
        if parent[i] >= 0:
            above = new[parent[i]]
        if keep[i]:
            new[i] = count
            kept_parent[count] = above
            kept_depth[count] = 1
            if above >= 0:
                kept_depth[count] = kept_depth[above] + 1
            count += 1
        else:
            new[i] = above
    for k in range(count - 1, -1, -1):
        kept_extent[k] += 1
        if kept_parent[k] >= 0:
            kept_extent[kept_parent[k]] += kept_extent[k]
