"""The exact join of two traces' distinct sets: how many functions each pair of sets has in common.

One trace's sets are lanes, a block of them side by side; the other's are walked as the tree of additions
that :mod:`..tree.sets` made. Going from a set to one that builds on it adds, in all lanes at once, one row
for each function added: that is the whole cost of a pair, however large its sets are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel

#: Rows that a byte of hits can count before it overflows.
_MOST_HITS = 255
#: Maximum weight that fits into sixteen bits.
_MOST_WEIGHT = 65535


@kernel
def lay_tree(
    parent: Any,
    size: Any,
    heavy: Any,
    free: Any,
    position: Any,
    level: Any,
) -> None:
    """Lay a forest out in pre-order, the largest child of each node last.

    A walk in this order may keep what it knows of a node in row ``level`` of a buffer: the largest child
    takes its parent's row over, so there are at most ``log2(n) + 1`` rows, however deep the forest is.

    Parameters
    ----------
    parent : int32 (n,)
        -1 for a root; a parent comes before its children.
    size, heavy, free : int32 (n,)
        Filled: nodes in the subtree; the largest child, -1 for none; scratch.
    position, level : int32 (n,)
        Filled: place in pre-order; row, from 1.
    """
    n = len(parent)
    for i in range(n):
        size[i] = 1
        heavy[i] = -1
    for i in range(n - 1, -1, -1):
        p = parent[i]
        if p >= 0:
            size[p] += size[i]
            if heavy[p] < 0 or size[i] > size[heavy[p]]:
                heavy[p] = i
    top = 0
    for i in range(n):
        p = parent[i]
        if p < 0:
            position[i] = top
            top += size[i]
            level[i] = 1
        elif heavy[p] == i:
            position[i] = position[p] + size[p] - size[i]
            level[i] = level[p]
        else:
            position[i] = free[p]
            free[p] += size[i]
            level[i] = level[p] + 1
        free[i] = position[i] + 1


@kernel
def fill_lanes(
    chosen: Any,
    base: Any,
    first: Any,
    added: Any,
    value: Any,
    lanes: Any,
    row: Any,
) -> None:
    """Write the functions of each lane's set.

    Parameters
    ----------
    chosen : int32 (used,)
        The set of each lane.
    base : int32 (s,)
    first : int64 (s + 1,)
    added : int32 (a,)
        The sets, as in ``analysis.sets.Sets``.
    value : unsigned (functions,)
        What a function counts.
    lanes : unsigned (rows, width)
        Zero on entry, with a row for each function of the chosen sets; filled with the values of the
        functions that are in the lane's set.
    row : int32 (functions,)
        -1 on entry; filled: the row of each function that is in any lane.
    """
    rows = 0
    for lane in range(len(chosen)):
        walked = chosen[lane]
        while walked >= 0:
            for k in range(first[walked], first[walked + 1]):
                f = added[k]
                if row[f] < 0:
                    row[f] = rows
                    rows += 1
                lanes[row[f], lane] = value[f]
            walked = base[walked]


@kernel
def fill_least(
    sizes: Any,
    lane_sizes: Any,
    p: Any,
    q: Any,
    never: int,
    least: Any,
) -> None:
    """Write what sets must have in common to be more similar than a threshold.

    ``c / (a + b - c) > p / q`` is ``c >= floor(p (a + b) / (p + q)) + 1`` in whole numbers.

    Parameters
    ----------
    sizes : int64 (r,)
        Sizes of the walked sets, each once.
    lane_sizes : int64 (used,)
        In ascending order.
    p, q : int64 (t,)
        The thresholds as fractions.
    never : int
        More than any lane's size: filled in for lanes that are not used, and where more would be needed.
    least : unsigned (r, t, width)
        Filled.
    """
    used = len(lane_sizes)
    width = least.shape[2]
    for r in range(len(sizes)):
        for t in range(len(p)):
            last = -1
            least_common = 0
            for lane in range(used):
                if lane_sizes[lane] != last:
                    last = lane_sizes[lane]
                    least_common = min(never, p[t] * (sizes[r] + last) // (p[t] + q[t]) + 1)
                least[r, t, lane] = least_common
            for lane in range(used, width):
                least[r, t, lane] = never


@kernel
def count_block(
    level: Any,
    parent_level: Any,
    length: Any,
    size: Any,
    rank: Any,
    lowest: int,
    weight: Any,
    first: Any,
    added: Any,
    row: Any,
    lanes: Any,
    least: Any,
    low: int,
    high: int,
    counters: Any,
    hit: Any,
    hits: Any,
    hit_weight: Any,
    pairs: Any,
    pair_weight: Any,
    met: Any,
) -> None:
    """Count the pairs of one block's lanes with all walked sets that are above each threshold.

    Parameters
    ----------
    level, parent_level : int32 (n,)
        Rows of ``counters`` of each walked set and of its base (0 for none), in the order of the walk.
    length : int32 (n,)
        Sets in the subtree: those that include this one come within it.
    size : int64 (n,)
    rank : int32 (n,)
        Rank of the set's size.
    lowest : int
        Rank of the size in the first row of ``least``.
    weight : int64 (n,)
        Calls that have this set.
    first : int64 (n + 1,)
    added : int32 (a,)
        The functions that set ``i`` adds: ``added[first[i]:first[i + 1]]``.
    row : int32 (functions,)
        Row of ``lanes`` of each function; -1 if no lane has it.
    lanes : unsigned (rows, width)
    least : unsigned (r, t, width)
        The thresholds in ascending order.
    low, high : int
        Smaller and larger sets can't be above the lowest threshold.
    counters : unsigned (levels + 1, width)
        Scratch; row 0 is zero.
    hit : uint8 (n or 1, width)
        Zero on entry. With a row for each walked set, filled: 1 where it is above the lowest threshold with
        the lane. With one row, scratch.
    hits : uint8 (t, width)
    hit_weight : uint16 (width,)
        Scratch, zero on entry and when done.
    pairs : int64 (t, width)
        Added to: pairs above each threshold.
    pair_weight : int64 (width,)
        Added to: the weights of the sets that are above the lowest threshold.
    met : uint8 (n,)
        Set to 1 where a set is above the lowest threshold with any lane.
    """
    width = lanes.shape[1]
    thresholds = least.shape[1]
    keep = thresholds == 1 and len(hit) == len(level)
    rows = 0
    pending = 0
    w = 0
    n = len(level)
    while True:
        if w == n or rows == _MOST_HITS:
            for t in range(thresholds):
                for x in range(width):
                    pairs[t, x] += hits[t, x]
                    hits[t, x] = 0
            rows = 0
        if w == n:
            break
        if size[w] > high:
            w += length[w]
            continue
        to = level[w]
        come = parent_level[w]
        if come != to:
            for x in range(width):
                counters[to, x] = counters[come, x]
        for k in range(first[w], first[w + 1]):
            r = row[added[k]]
            if r >= 0:
                for x in range(width):
                    counters[to, x] += lanes[r, x]
        if size[w] >= low:
            rows += 1
            at = w if keep else 0
            of_size = rank[w] - lowest
            for t in range(thresholds):
                for x in range(width):
                    hit[at, x] = counters[to, x] >= least[of_size, t, x]
                found = np.uint8(0)
                for x in range(width):
                    found |= hit[at, x]
                if found == 0:
                    break
                for x in range(width):
                    hits[t, x] += hit[at, x]
                if t == 0:
                    met[w] = 1
                    left = weight[w]
                    while left > 0:
                        # In steps that sixteen bits hold; most sets are taken in one.
                        step = min(left, _MOST_WEIGHT - pending)
                        step16 = np.uint16(step)
                        for x in range(width):
                            hit_weight[x] += step16 * hit[at, x]
                        left -= step
                        pending += step
                        if pending == _MOST_WEIGHT:
                            for x in range(width):
                                pair_weight[x] += hit_weight[x]
                                hit_weight[x] = 0
                            pending = 0
        w += 1
    for x in range(width):
        pair_weight[x] += hit_weight[x]
        hit_weight[x] = 0


@kernel
def mark_set(
    index: int,
    base: Any,
    first: Any,
    added: Any,
    value: Any,
    marked: Any,
) -> None:
    """Write ``value[f]`` into ``marked`` for each function of set ``index``; all zero again with ``value`` 0.

    Parameters
    ----------
    index : int
    base : int32 (s,)
    first : int64 (s + 1,)
    added : int32 (a,)
    value : int64 (functions,)
    marked : int64 (functions,)
        Filled where the set has a function.
    """
    walked = index
    while walked >= 0:
        for k in range(first[walked], first[walked + 1]):
            marked[added[k]] = value[added[k]]
        walked = base[walked]


@kernel
def common_with_all(
    base: Any,
    first: Any,
    added: Any,
    marked: Any,
    common: Any,
) -> None:
    """Sum ``marked`` over the functions of every set, each from its base.

    Parameters
    ----------
    base : int32 (s,)
    first : int64 (s + 1,)
    added : int32 (a,)
    marked : int64 (functions,)
    common : int64 (s,)
        Filled.
    """
    for s in range(len(base)):
        total = 0
        if base[s] >= 0:
            total = common[base[s]]
        for k in range(first[s], first[s + 1]):
            total += marked[added[k]]
        common[s] = total
