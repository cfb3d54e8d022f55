"""Groups of matches: calls by the path of units above them, the outermost matches, and the printed rule.

A unit is what calls are compared by: a distinct set of functions, or a class of equal subtrees. A path is
the sequence of units from a root call down to a call, with equal neighbours taken as one; the calls at which
a path begins are its heads. Whether a match has another one above it depends on the two paths alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel
from ..tree.subtrees import mix

#: Relation of two units: nothing in common, something, or enough for a match.
APART, TOUCHING, MATCHING = 0, 1, 2


@kernel
def number_paths(
    parent: Any,
    begin: Any,
    end: Any,
    unit: Any,
    offset: int,
    start: int,
    seed: Any,
    table: Any,
    keys: Any,
    paths: int,
    path_of_call: Any,
    path_parent: Any,
    path_unit: Any,
    path_calls: Any,
    path_first: Any,
    path_last: Any,
    path_longest: Any,
    path_time: Any,
) -> tuple[int, int]:
    """Number the paths of consecutive calls, parents before children.

    Parameters
    ----------
    parent, begin, end : int64 (n,)
        Of the calls, which are those from ``offset`` on; a parent before ``offset`` is none.
    unit : int32 (n,)
    offset : int
    start : int
        The calls before it (counted from 0) are done.
    seed : uint64
    table : int32 (2**k,)
        Open addressing: path + 1; 0 is free. At most half full.
    keys : uint64 (capacity,)
        Filled for each path: its parent and its unit.
    paths : int
        How many there are so far.
    path_of_call : int32 (n,)
        Filled.
    path_parent, path_unit : int32 (capacity,)
    path_calls : int64 (capacity,)
        Heads.
    path_first, path_last, path_longest : int64 (capacity,)
        The first, the last and the longest head, as calls of the trace.
    path_time : int64 (capacity,)
        Duration of all heads together.

    Returns
    -------
    start, paths : int
        ``start`` is ``n`` when done, and smaller when the buffers must grow.
    """
    capacity = len(path_parent)
    slots = np.uint64(len(table) - 1)
    for i in range(start, len(unit)):
        above = parent[i] - offset
        p = -1
        if above >= 0:
            p = path_of_call[above]
            if path_unit[p] == unit[i]:
                path_of_call[i] = p
                continue
        key = (np.uint64(p + 1) << np.uint64(32)) | np.uint64(unit[i])
        slot = mix(seed, key) & slots
        found = -1
        while table[slot] != 0:
            if keys[table[slot] - 1] == key:
                found = table[slot] - 1
                break
            slot = (slot + np.uint64(1)) & slots
        lasted = end[i] - begin[i]
        if found < 0:
            if paths == capacity:
                return i, paths
            found = paths
            paths += 1
            table[slot] = paths
            keys[found] = key
            path_parent[found] = p
            path_unit[found] = unit[i]
            path_calls[found] = 0
            path_time[found] = 0
            path_first[found] = i + offset
            path_longest[found] = i + offset
        longest = path_longest[found] - offset
        if lasted > end[longest] - begin[longest]:
            path_longest[found] = i + offset
        path_of_call[i] = found
        path_calls[found] += 1
        path_last[found] = i + offset
        path_time[found] += lasted
    return len(unit), paths


@kernel
def fill_path_table(table: Any, keys: Any, paths: int, seed: Any) -> None:
    """Enter paths into a larger table of :func:`number_paths`.

    Parameters
    ----------
    table : int32 (2**k,)
        Zeros; filled.
    keys : uint64 (capacity,)
        As :func:`number_paths` has filled them.
    paths : int
        How many there are.
    seed : uint64
    """
    slots = np.uint64(len(table) - 1)
    for i in range(paths):
        slot = mix(seed, keys[i]) & slots
        while table[slot] != 0:
            slot = (slot + np.uint64(1)) & slots
        table[slot] = i + 1


@kernel
def find_outermost(
    level: Any,
    parent_level: Any,
    length: Any,
    row: Any,
    calls: Any,
    first: Any,
    last: Any,
    hit: Any,
    open_lanes: Any,
    rest: Any,
    top: Any,
    top_bytes: Any,
    count: Any,
    first_found: Any,
    last_found: Any,
) -> None:
    """For each lane, find the outermost calls that match it: those with no matching call above.

    Parameters
    ----------
    level, parent_level, length : int32 (n,)
        Of the paths in pre-order, as ``analysis.join.Forest`` lays them out; ``parent_level`` 0 for a root.
    row : int32 (n,)
        Row of ``hit`` of the path's unit.
    calls, first, last : int64 (n,)
        Of the path: number of heads, the first and the last.
    hit : uint64 (rows, width / 8)
        A byte per lane: 1 where the unit matches it.
    open_lanes : uint64 (levels + 1, width / 8)
        Scratch; row 0 has the byte 1 for every lane.
    rest, top : uint64 (width / 8,)
        Scratch.
    top_bytes : uint8 (width,)
        The same memory as ``top``.
    count, first_found, last_found : int32 (width,)
        Zero, large and -1 on entry; filled: how many outermost matching calls, the first, the last.
    """
    words = hit.shape[1]
    n = len(level)
    i = 0
    while i < n:
        to = level[i]
        come = parent_level[i]
        r = row[i]
        still = np.uint64(0)
        found = np.uint64(0)
        for w in range(words):
            here = open_lanes[come, w] & hit[r, w]
            left = open_lanes[come, w] ^ here
            top[w] = here
            rest[w] = left
            still |= left
            found |= here
        for w in range(words):
            # The largest child reuses its parent's row.
            open_lanes[to, w] = rest[w]
        if found != 0:
            heads = np.int32(calls[i])
            low = np.int32(first[i])
            high = np.int32(last[i])
            for x in range(8 * words):
                if top_bytes[x]:
                    count[x] += heads
                    first_found[x] = min(first_found[x], low)
                    last_found[x] = max(last_found[x], high)
        if still == 0:
            i += length[i]
        else:
            i += 1


@kernel
def find_roots(
    alive: Any,
    length: Any,
    unit: Any,
    state: Any,
    still_alive: Any,
    roots: Any,
) -> tuple[int, int]:
    """Go through the paths of B that are still open to one path of A.

    Parameters
    ----------
    alive : int32 (k,)
        Paths of B, as places in pre-order, that neither match the path of A above this one nor lie below
        one that does, and that have something in common with it.
    length, unit : int32 (n,)
        Of B's paths, by place.
    state : uint8 (units of B,)
        How the units of B stand to the path's.
    still_alive : int32 (>= k,)
        Filled: those that are open to the paths below.
    roots : int32 (>= k,)
        Filled: those that match, with none above that does.

    Returns
    -------
    alive, roots : int
    """
    open_paths = 0
    found = 0
    closed = 0
    for k in range(len(alive)):
        y = alive[k]
        if y < closed:
            continue
        stands = state[unit[y]]
        if stands == TOUCHING:
            still_alive[open_paths] = y
            open_paths += 1
        else:
            # Below a match all is in its group; below a set apart no set has anything in common.
            closed = y + length[y]
            if stands == MATCHING:
                roots[found] = y
                found += 1
    return open_paths, found


@kernel
def scan_literal(
    order: Any,
    start: int,
    unit: Any,
    extent: Any,
    count: Any,
    first: Any,
    last: Any,
    extent_b: Any,
    state: Any,
) -> int:
    """Count the groups that the printed rule makes, from the matches' outermost calls alone.

    Of the matches of one call u, taken in the order of B's calls, only the outermost can open a group: the
    others lie in the group that one of those has just opened, or in the current one.

    Parameters
    ----------
    order : int64 (n,)
        A's calls in breadth-first order.
    start : int
        Those before it are done.
    unit : int32 (n,)
        Of A's calls.
    extent : int64 (n,)
    count, first, last : int64 (units of A,)
        How many outermost matching calls of B, the first, the last.
    extent_b : int64 (calls of B,)
    state : int64 (3,)
        Groups so far, and the root (call of A, call of B) of the current one; -1 for none.

    Returns
    -------
    int
        ``n`` when done; else the place in ``order`` of a call some of whose outermost matches lie within
        the current group and some behind it: the caller counts these, and continues after it.
    """
    groups, group_a, group_b = state[0], state[1], state[2]
    done = len(order)
    for k in range(start, len(order)):
        u = order[k]
        a = unit[u]
        if count[a] == 0:
            continue
        if group_a >= 0 and group_a <= u < group_a + extent[group_a]:
            behind = group_b + extent_b[group_b]
            if group_b <= first[a] < behind:
                if last[a] < behind:
                    continue
                done = k
                break
        groups += count[a]
        group_a = u
        group_b = last[a]
    state[0], state[1], state[2] = groups, group_a, group_b
    return done


@kernel
def cover(matched: Any, unit: Any, begin: Any, end: Any, extent: Any) -> int:
    """Return the time within the outermost calls whose unit is matched.

    Parameters
    ----------
    matched : uint8 (units,)
    unit : int32 (n,)
        Of the calls, in pre-order.
    begin, end, extent : int64 (n,)

    Returns
    -------
    int
        Nanoseconds.
    """
    total = 0
    i = 0
    n = len(unit)
    while i < n:
        if matched[unit[i]]:
            total += end[i] - begin[i]
            i += extent[i]
        else:
            i += 1
    return total


@kernel
def flag_above(first: Any, child: Any, flag: Any) -> None:
    """Spread ``flag`` (uint8, by class) from the classes to those that contain them.

    Parameters
    ----------
    first : int64 (m + 1,)
    child : int32 (e,)
        The classes' children, as in ``analysis.subtrees.Subtrees``.
    flag : uint8 (m,)
        Set to 1 where a class below has it.
    """
    for c in range(len(flag)):
        for k in range(first[c], first[c + 1]):
            if flag[child[k]]:
                flag[c] = 1
                break


@kernel
def sum_outermost(
    chosen: Any,
    of_call: Any,
    begin: Any,
    end: Any,
    extent: Any,
    calls: Any,
    time: Any,
    longest: Any,
) -> None:
    """Sum up the outermost calls whose class is ``chosen``, by class.

    Parameters
    ----------
    chosen : uint8 (m,)
    of_call : int32 (n,)
    begin, end, extent : int64 (n,)
    calls, time, longest : int64 (m,)
        Zero, zero and -1 on entry; filled: how many, their duration together, the longest.
    """
    i = 0
    n = len(of_call)
    while i < n:
        c = of_call[i]
        if not chosen[c]:
            i += 1
            continue
        lasted = end[i] - begin[i]
        calls[c] += 1
        time[c] += lasted
        if longest[c] < 0 or lasted > end[longest[c]] - begin[longest[c]]:
            longest[c] = i
        i += extent[i]


@kernel
def assign_groups(
    parent_a: Any,
    parent_b: Any,
    place_a: Any,
    place_b: Any,
    offset_a: int,
    offset_b: int,
    path_parent: Any,
    path_length: Any,
    root_first: Any,
    root_b: Any,
    match_a: Any,
    match_b: Any,
    pair: Any,
    group_a: Any,
    group_b: Any,
) -> None:
    """Find the nearest group that encloses each match.

    Parameters
    ----------
    parent_a, parent_b : int64 (calls,)
        Callers, of all calls.
    place_a, place_b : int32
        Path of each call, from ``offset_a`` and ``offset_b`` on.
    offset_a, offset_b : int
        First call of A and of B that is compared; callers before it don't count.
    path_parent : int32 (paths of A,)
    path_length : int32 (paths of B,)
        Paths in the subtree.
    root_first : int64 (paths of A + 1,)
    root_b : int32 (r,)
        Group roots of path ``x`` of A: the paths of B ``root_b[root_first[x]:root_first[x + 1]]``, ascending.
    match_a, match_b : int64 (n,)
        Calls.
    pair, group_a, group_b : int64 (n,)
        Filled: the index in ``root_b`` and the two root calls, or -1.
    """
    for i in range(len(match_a)):
        u = match_a[i]
        v = match_b[i]
        y = place_b[v - offset_b]
        x = place_a[u - offset_a]
        pair[i] = -1
        group_a[i] = -1
        group_b[i] = -1
        while x >= 0:
            low = root_first[x]
            high = root_first[x + 1]
            while low < high:  # the last root that begins at or before y
                middle = (low + high) // 2
                if root_b[middle] <= y:
                    low = middle + 1
                else:
                    high = middle
            low -= 1
            if low >= root_first[x] and y < root_b[low] + path_length[root_b[low]]:
                pair[i] = low
                break
            x = path_parent[x]
        if pair[i] < 0:
            continue
        while place_a[u - offset_a] != x:
            u = parent_a[u]
        while parent_a[u] >= offset_a and place_a[parent_a[u] - offset_a] == x:
            u = parent_a[u]
        y = root_b[pair[i]]
        while place_b[v - offset_b] != y:
            v = parent_b[v]
        while parent_b[v] >= offset_b and place_b[parent_b[v] - offset_b] == y:
            v = parent_b[v]
        group_a[i] = u
        group_b[i] = v
