"""Dominators in a graph: which node alone keeps another one reachable.

Source: Lengauer and Tarjan, A Fast Algorithm for Finding Dominators in a Flowgraph, TOPLAS 1(1), 1979 (the
simple version, O(m log n)).
"""

from __future__ import annotations

from ..jit import inline, kernel


@inline
def _best(at, ancestor, label, semi, path):  # type: ignore[no-untyped-def]
    """Return the node of least semidominator on the way from a node to the root of its tree."""
    if ancestor[at] < 0:
        return at
    count = 0
    here = at
    while ancestor[ancestor[here]] >= 0:
        path[count] = here
        count += 1
        here = ancestor[here]
    for k in range(count - 1, -1, -1):
        node = path[k]
        above = ancestor[node]
        if semi[label[above]] < semi[label[node]]:
            label[node] = label[above]
        ancestor[node] = ancestor[above]
    return label[at]


@kernel
def find_dominators(first, target, roots, source, work, number, order, dominator):  # type: ignore[no-untyped-def]
    """Find the immediate dominator of each node that roots reach.

    Parameters
    ----------
    first : int64 (n + 1,)
        Node ``i`` has the edges ``first[i]`` to ``first[i + 1]``.
    target : int64 (edges,)
        The node that each leads to.
    roots : int64 (k,)
    source : int64 (edges + k,)
        Working space.
    work : int64 (10, n + 2)
        Working space.
    number : int64 (n,)
        Filled: the place of each node in a search that goes deep first, from 0; -1: nothing reaches it.
    order : int64 (n,)
        Filled: the nodes by their places.
    dominator : int64 (n,)
        Filled: the nearest node that lies on all ways from roots to a node; -1: there is none.

    Returns
    -------
    int
        How many nodes are reached. Dominators stand before what they dominate in ``order``.
    """
    n = len(number)
    # Places are one further here: 0 is a root of all roots.
    parent, next_edge, stack, before, filled = work[0], work[1], work[2], work[3], work[4]
    semi, label, path, ancestor, found = work[1], work[2], work[5], work[6], work[7]
    bucket, following = work[8], work[9]
    before[: n + 2] = 0
    number[:] = -1
    dominator[:] = -1
    count = 0
    for root in roots:
        if number[root] >= 0:
            continue
        number[root], order[count], next_edge[root] = count, root, first[root]
        count += 1
        parent[count], stack[0], depth = 0, root, 1
        while depth:
            node = stack[depth - 1]
            if next_edge[node] == first[node + 1]:
                depth -= 1
                continue
            to = target[next_edge[node]]
            next_edge[node] += 1
            if number[to] < 0:
                number[to], order[count], next_edge[to] = count, to, first[to]
                count += 1
                parent[count] = number[node] + 1
                stack[depth] = to
                depth += 1
    # Edges backwards, by place; roots have one from the root of all.
    for root in roots:
        before[number[root] + 2] += 1
    for place in range(count):
        node = order[place]
        for edge in range(first[node], first[node + 1]):
            before[number[target[edge]] + 2] += 1
    for place in range(count + 1):
        before[place + 1] += before[place]
        filled[place + 1] = before[place + 1]
    filled[0] = 0
    for root in roots:
        source[filled[number[root] + 1]] = 0
        filled[number[root] + 1] += 1
    for place in range(count):
        node = order[place]
        for edge in range(first[node], first[node + 1]):
            to = number[target[edge]] + 1
            source[filled[to]] = place + 1
            filled[to] += 1
    for place in range(count + 1):
        semi[place] = label[place] = place
        ancestor[place] = bucket[place] = -1
    for place in range(count, 0, -1):
        for edge in range(before[place], before[place + 1]):
            best = _best(source[edge], ancestor, label, semi, path)
            semi[place] = min(semi[place], semi[best])
        following[place] = bucket[semi[place]]
        bucket[semi[place]] = place
        above = parent[place]
        ancestor[place] = above
        while bucket[above] >= 0:
            inner = bucket[above]
            bucket[above] = following[inner]
            best = _best(inner, ancestor, label, semi, path)
            found[inner] = best if semi[best] < semi[inner] else above
    for place in range(1, count + 1):
        if found[place] != semi[place]:
            found[place] = found[found[place]]
        dominator[order[place - 1]] = order[found[place] - 1] if found[place] else -1
    return count


@kernel
def fold_alike(above, kind, folded):  # type: ignore[no-untyped-def]
    """Put nodes of one kind that lie below each other into one.

    Parameters
    ----------
    above : int64 (n,)
        The node above, which stands before; -1: none.
    kind : int32 (n,)
    folded : int64 (n,)
        Filled: the topmost of the nodes of its kind right above each other.
    """
    for i in range(len(above)):
        same = above[i] >= 0 and kind[above[i]] == kind[i]
        folded[i] = folded[above[i]] if same else i
