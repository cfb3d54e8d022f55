"""What classes of equal subtrees have in common when calls are counted, or their order matters."""

from __future__ import annotations

from typing import Any

from ..jit import kernel


@kernel
def list_functions(
    class_function: Any,
    class_first: Any,
    class_child: Any,
    start: int,
    mark: Any,
    total: Any,
    first: Any,
    function: Any,
    count: Any,
) -> int:
    """List the functions below each class in the order of their first calls, with the number of calls.

    Parameters
    ----------
    class_function : int32 (m,)
    class_first : int64 (m + 1,)
    class_child : int32 (e,)
        The classes, children before parents, as in ``analysis.subtrees.Subtrees``.
    start : int
        The classes before it are done.
    mark : int32 (functions,)
        Zero on entry; class + 1 that has listed the function last.
    total : int64 (functions,)
        Scratch.
    first : int64 (m + 1,)
    function : int32 (room,)
    count : int64 (room,)
        Filled: those of class ``c`` are the slice ``[first[c], first[c + 1])``.

    Returns
    -------
    int
        ``m`` when done; else the class that needs more room.
    """
    for c in range(start, len(class_function)):
        top = first[c]
        stamp = c + 1
        if top == len(function):
            return c
        f = class_function[c]
        mark[f] = stamp
        total[f] = 1
        function[top] = f
        top += 1
        for k in range(class_first[c], class_first[c + 1]):
            child = class_child[k]
            for j in range(first[child], first[child + 1]):
                g = function[j]
                if mark[g] == stamp:
                    total[g] += count[j]
                else:
                    if top == len(function):
                        return c
                    mark[g] = stamp
                    total[g] = count[j]
                    function[top] = g
                    top += 1
        for j in range(first[c], top):
            count[j] = total[function[j]]
        first[c + 1] = top
    return len(class_function)


@kernel
def common_calls(
    first: Any, function: Any, count: Any, calls: Any, low: int, high: int, here: Any, common: Any
) -> None:
    """Sum, for each class, the smaller of the two numbers of calls of each function.

    Parameters
    ----------
    first : int64 (m + 1,)
    function : int32 (room,)
    count : int64 (room,)
        As :func:`list_functions` fills them.
    calls : int64 (m,)
        All calls of one such subtree.
    low, high : int
        Classes with fewer or more calls are left out.
    here : int64 (functions,)
        Calls in the subtree that the classes are compared with.
    common : int64 (m,)
        Filled; 0 where left out.
    """
    for c in range(len(calls)):
        total = 0
        if low <= calls[c] <= high:
            for k in range(first[c], first[c + 1]):
                total += min(count[k], here[function[k]])
        common[c] = total


@kernel
def common_order(first: Any, function: Any, low: int, high: int, rank: Any, tails: Any, common: Any) -> None:
    """Find, for each class, how many functions can be kept so that both subtrees call them in one order.

    That is the longest increasing subsequence of the functions' ranks (patience sorting).

    Parameters
    ----------
    first : int64 (m + 1,)
    function : int32 (room,)
        As :func:`list_functions` fills them: in the order of their first calls.
    low, high : int
        Classes with fewer or more functions are left out.
    rank : int64 (functions,)
        The function's place in the subtree that the classes are compared with, from 1; 0 if it isn't there.
    tails : int64 (functions,)
        Scratch.
    common : int64 (m,)
        Filled; 0 where left out.
    """
    for c in range(len(common)):
        longest = 0
        size = first[c + 1] - first[c]
        if low <= size <= high:
            for k in range(first[c], first[c + 1]):
                r = rank[function[k]]
                if r == 0:
                    continue
                if longest == 0 or tails[longest - 1] < r:
                    tails[longest] = r
                    longest += 1
                    continue
                left = 0
                right = longest - 1
                while left < right:
                    middle = (left + right) // 2
                    if tails[middle] < r:
                        left = middle + 1
                    else:
                        right = middle
                tails[left] = r
        common[c] = longest


@kernel
def add_shares(
    common: Any, whole: Any, numerator: int, denominator: int, weight: Any, factor: int, total: Any
) -> float:
    """Sum up the similarities of one unit's matches, weighted, and add them to those of the units matched.

    Parameters
    ----------
    common, whole : int64 (n,)
        The unit's similarity with each of the others is their quotient.
    numerator, denominator : int
        Of τ: a similarity above it, strictly, is a match.
    weight : int64 (n,)
        Calls of each of the others.
    factor : int
        Calls of the unit.
    total : float64 (n,)
        Increased by ``factor`` times the similarity of each match.

    Returns
    -------
    float
    """
    found = 0.0
    for i in range(len(common)):
        if common[i] * denominator > whole[i] * numerator:
            share = common[i] / max(whole[i], 1)
            found += share * weight[i]
            total[i] += factor * share
    return found
