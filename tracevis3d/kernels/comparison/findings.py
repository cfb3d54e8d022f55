"""Sums and marks along a tree of call paths, whose nodes come after their parents."""

from __future__ import annotations

from typing import Any

from ..jit import kernel

#: State of a call path: called as often as expected, more or less often, only in one trace, or below such a
#: path.
ALIKE, RECOUNTED, ALONE, BELOW = 0, 1, 2, 3


@kernel
def inherit(parent: Any, value: Any) -> None:
    """Give nodes whose ``value`` is negative that of their parent.

    Parameters
    ----------
    parent : int32 (n,)
        -1: none.
    value : int32 (n,)
        Changed in place.
    """
    for i in range(len(parent)):
        if value[i] < 0 and parent[i] >= 0:
            value[i] = value[parent[i]]


@kernel
def add_up(parent: Any, total: Any) -> None:
    """Add to each node the totals of the nodes below it.

    Parameters
    ----------
    parent : int32 (n,)
        -1: none.
    total : float64 (n,)
        Each node's own; changed in place.
    """
    for back in range(len(parent)):
        i = len(parent) - 1 - back
        if parent[i] >= 0:
            total[parent[i]] += total[i]


@kernel
def find_outermost_nodes(parent: Any, chosen: Any, within: Any) -> None:
    """Find the nodes that lie below a chosen one.

    Parameters
    ----------
    parent : int32 (n,)
        -1: none.
    chosen : uint8 (n,)
    within : uint8 (n,)
        Filled: 1 below a chosen node, else 0. The outermost chosen nodes are those with 0.
    """
    for i in range(len(parent)):
        within[i] = 0
        if parent[i] >= 0 and (within[parent[i]] or chosen[parent[i]]):
            within[i] = 1


@kernel
def find_not_recursive(
    parent: Any, function: Any, size: Any, place: Any, order: Any, until: Any, outermost: Any
) -> None:
    """Find the nodes whose function none of the nodes above them has.

    Parameters
    ----------
    parent : int32 (n,)
        -1: none.
    function : int64 (n,)
    size, place, order : int64 (n,)
        Working space: nodes of each subtree, where the next of its nodes stands in pre-order, nodes in it.
    until : int64 (functions,)
        Working space; 0 before.
    outermost : uint8 (n,)
        Filled: 1 if there is no such node above.
    """
    for i in range(len(parent)):
        size[i] = 1
    for back in range(len(parent)):
        i = len(parent) - 1 - back
        if parent[i] >= 0:
            size[parent[i]] += size[i]
    end = 0
    for i in range(len(parent)):
        above = parent[i]
        at = end
        if above >= 0:
            at = place[above]
            place[above] += size[i]
        else:
            end += size[i]
        order[at] = i
        place[i] = at + 1
    for at in range(len(parent)):
        i = order[at]
        f = function[i]
        outermost[i] = 0
        if at >= until[f]:
            outermost[i] = 1
            until[f] = at + size[i]


@kernel
def judge(
    parent: Any, calls_a: Any, calls_b: Any, tolerance: float, state: Any, before: Any, factor: Any
) -> None:
    """Compare how often the paths are called with how often that is to be expected.

    Either as often as in A, or as many times more often as the caller is.

    Parameters
    ----------
    parent : int32 (n,)
    calls_a, calls_b : int64 (n,)
    tolerance : float
        Share of the calls that may be more or less than expected.
    state : uint8 (n,)
        Filled: ALIKE, RECOUNTED, ALONE or BELOW.
    before, factor : float64 (n,)
        Filled: how many calls of B one of A lets expect, by the callers alone, and with the node's own.
    """
    for i in range(len(parent)):
        above = parent[i]
        expected = 1.0
        if above >= 0:
            expected = factor[above]
        if above >= 0 and state[above] >= ALONE:
            state[i] = BELOW
            before[i] = 1.0
            factor[i] = 1.0
            continue
        a, b = float(calls_a[i]), float(calls_b[i])
        if abs(b - a) <= abs(b - expected * a):
            expected = 1.0
        before[i] = expected
        factor[i] = expected
        if calls_a[i] == 0 or calls_b[i] == 0:
            state[i] = ALONE
            continue
        apart = abs(b - expected * a)
        state[i] = ALIKE
        if apart > 0.5 and apart > tolerance * max(expected * a, b):
            state[i] = RECOUNTED
            factor[i] = b / a


@kernel
def find_stretches(extent: Any, parent: Any, thread: Any, matched: Any, first: Any, last: Any) -> int:
    """Find runs of neighbouring calls none of which has a match, nor any call below them.

    Calls are neighbours if they have one caller, and no call that matches, or has such below it, comes
    between them.

    Parameters
    ----------
    extent, parent, thread : int64 (n,), int64 (n,), int32 (n,)
        Of the calls, in pre-order.
    matched : uint8 (n,)
        1 for a call that matches, or has one below it that does.
    first, last : int64 (n,)
        Filled: the outermost calls at both ends of each run.

    Returns
    -------
    int
        How many runs there are.
    """
    runs = 0
    i = 0
    while i < len(extent):
        if matched[i]:
            i += 1
            continue
        follows = False
        if runs > 0:
            before = last[runs - 1]
            follows = before + extent[before] == i and parent[before] == parent[i]
            follows = follows and thread[before] == thread[i]
        if not follows:
            first[runs] = i
            runs += 1
        last[runs - 1] = i
        i += extent[i]
    return runs


@kernel
def mark_above(parent: Any, mark: Any) -> None:
    """Mark every call above a marked one.

    Parameters
    ----------
    parent : int64 (n,)
        Of the calls, in pre-order; -1: none.
    mark : uint8 (n,)
        Changed in place.
    """
    for back in range(len(parent)):
        i = len(parent) - 1 - back
        if mark[i] and parent[i] >= 0:
            mark[parent[i]] = 1
