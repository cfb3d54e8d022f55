"""The sets of functions below each distinct subtree, as a tree of additions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel
from .subtrees import mix


@kernel
def number_sets(
    class_function: Any,
    class_first: Any,
    class_child: Any,
    start: int,
    turn: int,
    seed: Any,
    mask: Any,
    budget: int,
    of_class: Any,
    mark: Any,
    table: Any,
    sets: int,
    added: int,
    set_base: Any,
    set_size: Any,
    set_first: Any,
    set_added: Any,
    set_hash: Any,
    set_seen: Any,
) -> tuple[int, int, int, int, int]:
    """Give each class the number of the set of functions in its subtree, from the first class on.

    A set is its base, the largest set of a child's, and the functions added to that. To add, the members
    of the base are marked by walking its bases; they still are where the class before left just that set,
    as along a recursion. The hash is a sum over the members, so it needs no order; a candidate of the same
    size whose members are all marked is the same set.

    Parameters
    ----------
    class_function : int32 (m,)
    class_first : int64 (m + 1,)
    class_child : int32 (e,)
    start : int
        The classes before it are done.
    turn : int
        How many classes were taken up so far, those taken up again included.
    seed, mask : uint64
        Start of each member's hash; bits of it that are kept (fewer only to test collisions).
    budget : int
        Members that may still be looked at.
    of_class : int32 (m,)
        Filled: set of each class.
    mark : int32 (functions,)
        The last turn that marked the function; 0 for none.
    table : uint64 (2**k,)
        Open addressing: the hash's upper half above the set + 1; 0 is free. At most half full.
    sets, added : int
        How many sets, and functions added, there are so far.
    set_base, set_size : int32 (s,)
    set_first : int64 (s + 1,)
    set_added : int32 (a,)
        Filled for each set.
    set_hash : uint64 (s,)
        Filled: sum of the members' hashes.
    set_seen : int32 (s,)
        The last turn that took the set in; 0 for none.

    Returns
    -------
    start, turn, sets, added, budget : int
        ``start`` is ``m`` when done, and smaller when a buffer must grow or when ``budget`` is below 0.
    """
    slots = np.uint64(len(table) - 1)
    low_half = np.uint64(0xFFFFFFFF)
    capacity = len(set_base)
    room = len(set_added)
    marked = -1  # the set whose members are marked
    stamp = 0  # the turn that marked them
    for c in range(start, len(class_function)):
        if sets == capacity or added == room or budget < 0:
            return c, turn, sets, added, budget
        turn += 1
        f = class_function[c]
        own = mix(seed, np.uint64(f)) & mask
        top = added
        base = -1
        size = 0
        hashed = np.uint64(0)
        leaf = class_first[c] == class_first[c + 1]
        if leaf:
            set_added[top] = f
            top += 1
            size = 1
            hashed = own
        else:
            for k in range(class_first[c], class_first[c + 1]):
                wider = of_class[class_child[k]]
                if base < 0 or set_size[wider] > set_size[base]:
                    base = wider
            size = set_size[base]
            hashed = set_hash[base]
            if base != marked:
                stamp = turn
                walked = base
                while walked >= 0:
                    set_seen[walked] = turn
                    for k in range(set_first[walked], set_first[walked + 1]):
                        mark[set_added[k]] = stamp
                    walked = set_base[walked]
                budget -= size
                marked = base
            set_seen[base] = turn
            if mark[f] != stamp:
                mark[f] = stamp
                set_added[top] = f
                top += 1
                size += 1
                hashed += own
            for child in range(class_first[c], class_first[c + 1]):
                walked = of_class[class_child[child]]
                while walked >= 0 and set_seen[walked] != turn:
                    set_seen[walked] = turn
                    for k in range(set_first[walked], set_first[walked + 1]):
                        g = set_added[k]
                        if mark[g] != stamp:
                            if top == room:
                                return c, turn, sets, added, budget
                            mark[g] = stamp
                            set_added[top] = g
                            top += 1
                            size += 1
                            hashed += mix(seed, np.uint64(g)) & mask
                    budget -= set_first[walked + 1] - set_first[walked] + 1
                    walked = set_base[walked]
            if top == added:
                of_class[c] = base
                continue
        found: Any = -1
        tag = hashed & ~low_half
        slot = hashed & slots
        while table[slot] != 0:
            s: Any = np.int64(table[slot] & low_half) - 1
            if set_hash[s] == hashed and set_size[s] == size:
                same = True
                if leaf:
                    same = set_added[set_first[s]] == f
                else:
                    walked = s
                    while same and walked >= 0:
                        for k in range(set_first[walked], set_first[walked + 1]):
                            if mark[set_added[k]] != stamp:
                                same = False
                                break
                        walked = set_base[walked]
                    budget -= size
                if same:
                    found = s
                    break
            slot = (slot + np.uint64(1)) & slots
        if found < 0:
            found = sets
            sets += 1
            set_base[found] = base
            set_size[found] = size
            set_hash[found] = hashed
            set_seen[found] = 0
            added = top
            set_first[sets] = added
            table[slot] = tag | np.uint64(found + 1)
        of_class[c] = found
        if not leaf:
            marked = found
    return len(class_function), turn, sets, added, budget
