"""The compact trace graph: edges with iteration labels, classes by other criteria, and the way back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inline, kernel
from .subtrees import mix

#: How children are compared: in order; in order, repeats of one child in a row as one; as multisets; as sets.
ORDERED, COLLAPSED, MULTISET, SET = 0, 1, 2, 3


@kernel
def count_iterations(first: Any, child: Any, edge_first: Any, edge_child: Any, edge_count: Any) -> int:
    """Join equal children in a row into one edge.

    Parameters
    ----------
    first : int64 (m + 1,)
    child : int32 (e,)
        The children of class ``c`` are ``child[first[c]:first[c + 1]]``.
    edge_first : int64 (m + 1,)
    edge_child : int32 (e,)
    edge_count : int64 (e,)
        Filled: the same with each run of equal children as one edge, and how often it repeats.

    Returns
    -------
    int
        The number of edges.
    """
    edges = 0
    edge_first[0] = 0
    for c in range(len(first) - 1):
        start = edges
        for k in range(first[c], first[c + 1]):
            if edges > start and edge_child[edges - 1] == child[k]:
                edge_count[edges - 1] += 1
            else:
                edge_child[edges] = child[k]
                edge_count[edges] = 1
                edges += 1
        edge_first[c + 1] = edges
    return edges


@inline
def _alike(
    mode: Any, a: Any, b: Any, edge_first: Any, edge_child: Any, edge_count: Any, inner: Any, tally: Any
) -> Any:
    """Whether the children of classes ``a`` and ``b``, seen through ``inner``, are equal by ``mode``."""
    i, i_end = edge_first[a], edge_first[a + 1]
    j, j_end = edge_first[b], edge_first[b + 1]
    if mode <= 1:  # in order
        i_left = np.int64(0)
        j_left = np.int64(0)
        before = np.int64(-1)
        while True:
            # Two edges in a row may be the same seen through ``inner``; counts decide where runs end.
            if mode == 1:
                while i < i_end and inner[edge_child[i]] == before:
                    i += 1
                while j < j_end and inner[edge_child[j]] == before:
                    j += 1
                if i >= i_end or j >= j_end:
                    return i >= i_end and j >= j_end
                before = np.int64(inner[edge_child[i]])
                if before != np.int64(inner[edge_child[j]]):
                    return False
            else:
                if i_left == 0 and i < i_end:
                    i_left = edge_count[i]
                if j_left == 0 and j < j_end:
                    j_left = edge_count[j]
                if i >= i_end or j >= j_end:
                    return i >= i_end and j >= j_end
                if inner[edge_child[i]] != inner[edge_child[j]]:
                    return False
                step = min(i_left, j_left)
                i_left -= step
                j_left -= step
                if i_left == 0:
                    i += 1
                if j_left == 0:
                    j += 1
    equal = True
    if mode == 2:
        for k in range(i, i_end):
            tally[inner[edge_child[k]]] += edge_count[k]
        for k in range(j, j_end):
            tally[inner[edge_child[k]]] -= edge_count[k]
        for k in range(i, i_end):
            equal &= tally[inner[edge_child[k]]] == 0
        for k in range(j, j_end):
            equal &= tally[inner[edge_child[k]]] == 0
    else:
        for k in range(i, i_end):
            tally[inner[edge_child[k]]] |= 1
        for k in range(j, j_end):
            tally[inner[edge_child[k]]] |= 2
        for k in range(i, i_end):
            equal &= tally[inner[edge_child[k]]] == 3
        for k in range(j, j_end):
            equal &= tally[inner[edge_child[k]]] == 3
    for k in range(i, i_end):
        tally[inner[edge_child[k]]] = 0
    for k in range(j, j_end):
        tally[inner[edge_child[k]]] = 0
    return equal


@kernel
def number_alike(
    mode: int,
    function: Any,
    edge_first: Any,
    edge_child: Any,
    edge_count: Any,
    inner: Any,
    seed: Any,
    mask: Any,
    table: Any,
    tally: Any,
    of_class: Any,
    representative: Any,
) -> int:
    """Number the classes that are similar: same function, and children alike by ``mode``.

    Parameters
    ----------
    mode : int
        ORDERED, COLLAPSED, MULTISET or SET.
    function : int32 (m,)
    edge_first : int64 (m + 1,)
    edge_child : int32 (e,)
    edge_count : int64 (e,)
    inner : int32 (m,)
        What children are compared by. The array ``of_class`` itself compares whole subtrees (children come
        before their parents); the numbers of one level less compare down to a depth.
    seed, mask : uint64
        Start of each hash, and its bits that are kept.
    table : uint64 (2**k,)
        Empty; open addressing, as in :func:`.subtrees.number_subtrees`.
    tally : int64 (m,)
        Zeros; left as zeros.
    of_class : int32 (m,)
    representative : int32 (m,)
        Filled: the number of each class; for each number, the first class that has it.

    Returns
    -------
    int
        How many numbers there are.
    """
    slots = np.uint64(len(table) - 1)
    low_half = np.uint64(0xFFFFFFFF)
    numbers = 0
    for c in range(len(function)):
        hashed = mix(seed, np.uint64(function[c]))
        before = np.int64(-1)
        total = np.uint64(0)
        for k in range(edge_first[c], edge_first[c + 1]):
            seen = np.int64(inner[edge_child[k]])
            if mode == 0:
                for _ in range(edge_count[k]):
                    hashed = mix(hashed, np.uint64(seen))
            elif mode == 1:
                if seen != before:
                    hashed = mix(hashed, np.uint64(seen))
                before = seen
            elif mode == 2:
                total += mix(seed, np.uint64(seen)) * np.uint64(edge_count[k])
            elif tally[seen] == 0:
                tally[seen] = 1
                total += mix(seed, np.uint64(seen))
        if mode == 3:
            for k in range(edge_first[c], edge_first[c + 1]):
                tally[inner[edge_child[k]]] = 0
        if mode >= 2:
            hashed = mix(hashed, total)
        hashed &= mask
        tag = hashed & ~low_half
        slot = hashed & slots
        found = np.int64(-1)
        while table[slot] != 0:
            entry = table[slot]
            if entry & ~low_half == tag:
                number = np.int64(entry & low_half) - 1
                other = np.int64(representative[number])
                if function[other] == function[c] and _alike(
                    mode, other, np.int64(c), edge_first, edge_child, edge_count, inner, tally
                ):
                    found = number
                    break
            slot = (slot + np.uint64(1)) & slots
        if found < 0:
            found = np.int64(numbers)
            representative[found] = c
            table[slot] = tag | np.uint64(found + 1)
            numbers += 1
        of_class[c] = found
    return numbers


@kernel
def expand_graph(
    roots: Any,
    function: Any,
    first: Any,
    child: Any,
    extent: Any,
    out_class: Any,
    out_function: Any,
    out_parent: Any,
    out_depth: Any,
    out_extent: Any,
) -> None:
    """Write the calls that the graph represents, in pre-order: the trace without its times.

    Parameters
    ----------
    roots : int32 (r,)
        Classes of the root calls.
    function : int32 (m,)
    first : int64 (m + 1,)
    child : int32 (e,)
    extent : int64 (m,)
        Calls in one subtree of the class.
    out_class, out_function, out_depth : int32 (n,)
    out_parent, out_extent : int64 (n,)
        Filled.
    """
    n = 0
    for r in range(len(roots)):
        # A call's children are written below it before they are visited: each knows its place by then.
        base = np.int64(n)
        out_class[n] = roots[r]
        out_parent[n] = -1
        out_depth[n] = 1
        n += extent[roots[r]]
        for i in range(base, n):
            c = out_class[i]
            out_function[i] = function[c]
            out_extent[i] = extent[c]
            at = i + 1
            for k in range(first[c], first[c + 1]):
                out_class[at] = child[k]
                out_parent[at] = i
                out_depth[at] = out_depth[i] + 1
                at += extent[child[k]]


@kernel
def sum_rows(
    edge_first: Any,
    edge_child: Any,
    marked: Any,
    hide: bool,
    below: Any,
    rows: Any,
    every: Any,
    of_marked: Any,
) -> None:
    """Count the rows that a tree list shows for each class, and sum them over the edges.

    Parameters
    ----------
    edge_first : int64 (m + 1,)
    edge_child : int32 (e,)
    marked : bool (m,)
        Classes that ``hide`` leaves out, with all below them.
    hide : bool
    below : int64 (m,)
        Rows of each class as a child, itself included. The array ``rows`` itself expands everything.
    rows : int64 (m,)
        Filled: 1 and the rows of the children that aren't left out.
    every, of_marked : int64 (e + 1,)
        Filled: the rows of all edges before each, and of those that lead to marked classes, left out or not.
    """
    total, left_out = np.int64(0), np.int64(0)
    for c in range(len(edge_first) - 1):
        before, out_before = total, left_out
        for k in range(edge_first[c], edge_first[c + 1]):
            every[k], of_marked[k] = total, left_out
            child = edge_child[k]
            total += below[child]
            if marked[child]:
                left_out += below[child]
        rows[c] = 1 + total - before
        if hide:
            rows[c] -= left_out - out_before
    every[len(edge_child)] = total
    of_marked[len(edge_child)] = left_out


@kernel
def order_nodes(first: Any, child: Any, mark: Any, stack: Any, at: Any, order: Any) -> Any:
    """Order the nodes of a graph so that children come before their parents.

    Parameters
    ----------
    first : int64 (m + 1,)
    child : int32 (e,)
    mark : uint8 (m,)
        Zeros; afterwards not of use.
    stack : int32 (m,)
    at : int64 (m,)
        Working space.
    order : int32 (m,)
        Filled: the nodes, children first.

    Returns
    -------
    int
        -1, or an edge that closes a cycle.
    """
    done = 0
    for root in range(len(mark)):
        if mark[root] != 0:
            continue
        depth = 1
        stack[0] = root
        at[0] = first[root]
        mark[root] = 1
        while depth > 0:
            node = stack[depth - 1]
            k = at[depth - 1]
            if k == first[node + 1]:
                mark[node] = 2
                order[done] = node
                done += 1
                depth -= 1
                continue
            at[depth - 1] = k + 1
            below = child[k]
            if mark[below] == 1:
                return k
            if mark[below] == 0:
                mark[below] = 1
                stack[depth] = below
                at[depth] = first[below]
                depth += 1
    return -1


@kernel
def count_calls(order: Any, first: Any, child: Any, count: Any, limit: Any, extent: Any) -> Any:
    """Count the calls that each node unfolds to, up to a limit.

    Parameters
    ----------
    order : int32 (m,)
        Nodes, children first.
    first, child, count : int64 (m + 1,), int32 (e,), int64 (e,)
        The edges with their iterations.
    limit : int64
    extent : int64 (m,)
        Filled; the limit where there would be more.

    Returns
    -------
    int
        The number of nodes that reach the limit.
    """
    beyond = 0
    for i in range(len(order)):
        node = order[i]
        calls = np.int64(1)
        for k in range(first[node], first[node + 1]):
            below = extent[child[k]]
            if count[k] > (limit - calls) // below:
                calls = limit
                break
            calls += below * count[k]
        extent[node] = calls
        beyond += calls >= limit
    return beyond
