"""Packing blocks along an axis: each in the first place that is free as long as it lives.

Free places (gaps) lie in a treap for each group: a search tree by where they lie that is a heap by random
ranks (Seidel and Aragon, *Randomized Search Trees*, 1996), in which each node knows the widest gap below it.
"""

from __future__ import annotations

import numpy as np

from ..jit import inline, kernel

#: Columns of a node: its children, where its gap lies and how wide it is, the widest gap of its subtree, and
#: its rank.
LEFT, RIGHT, AT, WIDE, MOST, RANK, NODE_SIZE = 0, 1, 2, 3, 4, 5, 6
#: A path from the root is no longer, but for a chance of less than 1 in 2 ** 64.
DEEPEST = 512


@inline
def measure(node, nodes):  # type: ignore[no-untyped-def]
    """Note the widest gap of a subtree whose children are right.

    Parameters
    ----------
    node : int
    nodes : int64 (gaps + 2, NODE_SIZE)
        As for :func:`pack`.
    """
    most = nodes[node, WIDE]
    most = max(most, nodes[nodes[node, LEFT], MOST])
    nodes[node, MOST] = max(most, nodes[nodes[node, RIGHT], MOST])


@inline
def measure_path(path, depth, nodes):  # type: ignore[no-untyped-def]
    """Note the widest gaps of the nodes of a path, from its end up.

    Parameters
    ----------
    path : int64 (DEEPEST,)
    depth : int
        How many nodes it has.
    nodes : int64 (gaps + 2, NODE_SIZE)
        As for :func:`pack`.
    """
    while depth > 0:
        depth -= 1
        measure(path[depth], nodes)


@inline
def attach(parent, side, child, group, roots, nodes):  # type: ignore[no-untyped-def]
    """Hang a subtree below a node, or make it the root.

    Parameters
    ----------
    parent : int
        0: none.
    side : {LEFT, RIGHT}
    child : int
    group, roots, nodes
        As for :func:`path_to`.
    """
    if parent == 0:
        roots[group] = child
    else:
        nodes[parent, side] = child


@inline
def path_to(at, group, roots, nodes, path):  # type: ignore[no-untyped-def]
    """Write the path to the gap at a place, itself included.

    Parameters
    ----------
    at : int
    group : int
    roots : int64 (groups,)
    nodes : int64 (gaps + 2, NODE_SIZE)
    path : int64 (DEEPEST,)
        Filled: nodes from the root on.

    Returns
    -------
    int
        The path's length.
    """
    depth = 0
    node = roots[group]
    while node != 0:
        path[depth] = node
        depth += 1
        if nodes[node, AT] == at:
            break
        node = nodes[node, LEFT] if at < nodes[node, AT] else nodes[node, RIGHT]
    return depth


@inline
def remove(depth, group, roots, nodes, path, free):  # type: ignore[no-untyped-def]
    """Take the last node of a path out of its tree: its subtrees are merged.

    Parameters
    ----------
    depth : int
        How many nodes the path has.
    group, roots, nodes, path
        As for :func:`path_to`; ``path`` is overwritten.
    free : int64 (2,)
        As for :func:`pack`.
    """
    node = path[depth - 1]
    depth -= 1
    parent = np.int64(0)
    side = LEFT
    if depth > 0:
        parent = path[depth - 1]
        side = LEFT if nodes[parent, LEFT] == node else RIGHT
    a = nodes[node, LEFT]
    b = nodes[node, RIGHT]
    while a != 0 and b != 0:
        if nodes[a, RANK] >= nodes[b, RANK]:
            attach(parent, side, a, group, roots, nodes)
            parent = a
            side = RIGHT
            a = nodes[a, RIGHT]
        else:
            attach(parent, side, b, group, roots, nodes)
            parent = b
            side = LEFT
            b = nodes[b, LEFT]
        path[depth] = parent
        depth += 1
    attach(parent, side, a if a != 0 else b, group, roots, nodes)
    measure_path(path, depth, nodes)
    nodes[node, LEFT] = free[0]
    free[0] = node


@inline
def insert(at, wide, group, roots, nodes, path, free):  # type: ignore[no-untyped-def]
    """Put a new gap into its tree: what it comes to lie over is split.

    Parameters
    ----------
    at, wide : int
        The gap.
    group, roots, nodes, path
        As for :func:`path_to`; ``path`` is working space.
    free : int64 (2,)
        As for :func:`pack`.
    """
    node = free[0]
    free[0] = nodes[node, LEFT]
    # A rank by multiplying and mixing a counter (SplitMix).
    free[1] += 1
    rank = np.uint64(free[1]) * np.uint64(0x9E3779B97F4A7C15)
    rank = (rank ^ (rank >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    nodes[node, RANK] = np.int64(rank >> np.uint64(2))
    nodes[node, AT] = at
    nodes[node, WIDE] = wide
    depth = 0
    parent = np.int64(0)
    side = LEFT
    below = roots[group]
    while below != 0 and nodes[below, RANK] >= nodes[node, RANK]:
        path[depth] = below
        depth += 1
        parent = below
        side = LEFT if at < nodes[below, AT] else RIGHT
        below = nodes[below, side]
    attach(parent, side, node, group, roots, nodes)
    path[depth] = node
    depth += 1
    left_end = node
    left_side = LEFT
    right_end = node
    right_side = RIGHT
    while below != 0:
        path[depth] = below
        depth += 1
        if nodes[below, AT] < at:
            nodes[left_end, left_side] = below
            left_end = below
            left_side = RIGHT
            below = nodes[below, RIGHT]
        else:
            nodes[right_end, right_side] = below
            right_end = below
            right_side = LEFT
            below = nodes[below, LEFT]
    nodes[left_end, left_side] = 0
    nodes[right_end, right_side] = 0
    measure_path(path, depth, nodes)


@inline
def take(wide, group, roots, tops, nodes, path, free):  # type: ignore[no-untyped-def]
    """Return the first place of a group that is wide enough; it is taken.

    Parameters
    ----------
    wide : int
    group, roots, nodes, path
        As for :func:`path_to`; ``path`` is working space.
    tops : int64 (groups,)
        Where the last block of each group ends.
    free : int64 (2,)
        As for :func:`pack`.

    Returns
    -------
    int
        From the beginning of the group.
    """
    node = roots[group]
    if nodes[node, MOST] < wide:
        at = tops[group]
        tops[group] = at + wide
        return at
    depth = 0
    while True:
        path[depth] = node
        depth += 1
        if nodes[nodes[node, LEFT], MOST] >= wide:
            node = nodes[node, LEFT]
        elif nodes[node, WIDE] >= wide:
            break
        else:
            node = nodes[node, RIGHT]
    at = nodes[node, AT]
    if nodes[node, WIDE] == wide:
        remove(depth, group, roots, nodes, path, free)
    else:
        nodes[node, AT] = at + wide
        nodes[node, WIDE] -= wide
        measure_path(path, depth, nodes)
    return at


@inline
def give(at, wide, group, roots, tops, nodes, path, free):  # type: ignore[no-untyped-def]
    """Give a place back: it is joined with the gaps beside it.

    Parameters
    ----------
    at, wide : int
        The place.
    group, roots, nodes, path
        As for :func:`path_to`; ``path`` is working space.
    tops : int64 (groups,)
        Where the last block of each group ends.
    free : int64 (2,)
        As for :func:`pack`.
    """
    before = np.int64(0)
    after = np.int64(0)
    node = roots[group]
    while node != 0:
        if nodes[node, AT] < at:
            before = node
            node = nodes[node, RIGHT]
        else:
            after = node
            node = nodes[node, LEFT]
    joins = before != 0 and nodes[before, AT] + nodes[before, WIDE] == at
    if at + wide == tops[group]:
        tops[group] = at
        if joins:
            tops[group] = nodes[before, AT]
            depth = path_to(nodes[before, AT], group, roots, nodes, path)
            remove(depth, group, roots, nodes, path, free)
    elif after != 0 and nodes[after, AT] == at + wide:
        if joins:
            at = nodes[before, AT]
            wide += nodes[before, WIDE]
            depth = path_to(at, group, roots, nodes, path)
            remove(depth, group, roots, nodes, path, free)
        depth = path_to(nodes[after, AT], group, roots, nodes, path)
        nodes[after, WIDE] += wide
        nodes[after, AT] = at
        measure_path(path, depth, nodes)
    elif joins:
        depth = path_to(nodes[before, AT], group, roots, nodes, path)
        nodes[before, WIDE] += wide
        measure_path(path, depth, nodes)
    else:
        insert(at, wide, group, roots, nodes, path, free)


@inline
def reach_cell(group, cell, tops, cells_of, extent):  # type: ignore[no-untyped-def]
    """Note how far a group reaches in all cells up to ``cell``.

    Parameters
    ----------
    group, cell : int
    tops, cells_of, extent
        As for :func:`pack`.
    """
    while cells_of[group] < cell:
        cells_of[group] += 1
        extent[group, cells_of[group]] = max(extent[group, cells_of[group]], tops[group])


@kernel
def pack(  # type: ignore[no-untyped-def]
    row,
    gone,
    free_row,
    group,
    taken,
    cell_born,
    cell_gone,
    roots,
    tops,
    cells_of,
    nodes,
    path,
    free,
    low,
    extent,
):
    """Place blocks, each in the first place of its group that is free while it lives.

    Parameters
    ----------
    row, free_row : int64 (n,)
        After which row each lives, ascending, and which row ends it; -1: none.
    gone : int64 (m,)
        The blocks that are ended, by the row that ends them.
    group : int32 (n,)
    taken : int64 (n,)
        How wide each is.
    cell_born, cell_gone : int64 (n,)
        The cells of time in which they begin and end.
    roots, tops, cells_of : int64 (groups,)
        0, 0 and -1 before: the tree of gaps, where the last block ends, the cell that was reached.
    nodes : int64 (gaps + 2, NODE_SIZE)
        0 before; node 0 represents none.
    path : int64 (DEEPEST,)
    free : int64 (2,)
        The first unused node (they are chained by ``LEFT``), and a counter.
    low : int64 (n,)
        Filled: where each lies, from the beginning of its group.
    extent : int64 (groups, cells)
        0 before; filled: how far a group reaches in each cell at most.
    """
    ended = 0
    at = 0
    while at < len(row) or ended < len(gone):
        if ended < len(gone) and (at >= len(row) or free_row[gone[ended]] <= row[at]):
            block = gone[ended]
            ended += 1
            of = group[block]
            reach_cell(of, cell_gone[block], tops, cells_of, extent)
            if taken[block] > 0:
                give(low[block], taken[block], of, roots, tops, nodes, path, free)
            continue
        of = group[at]
        reach_cell(of, cell_born[at], tops, cells_of, extent)
        if taken[at] > 0:
            low[at] = take(taken[at], of, roots, tops, nodes, path, free)
        extent[of, cell_born[at]] = max(extent[of, cell_born[at]], tops[of])
        at += 1
    for of in range(len(tops)):
        reach_cell(of, extent.shape[1] - 1, tops, cells_of, extent)
