"""Every place where a rule's edges stand in lists of callees, whether or not the grammar used it there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inline, kernel
from .subtrees import mix


@inline
def _same(child: Any, count: Any, a: Any, b: Any, length: Any) -> Any:
    """Whether two stretches of edges are the same."""
    k = 0
    while k < length and child[a + k] == child[b + k] and count[a + k] == count[b + k]:
        k += 1
    return k == length


@kernel
def hash_edges(child: Any, count: Any, base: Any, seed: Any, hashes: Any) -> None:
    """Fill the hashes of all stretches that begin with the first edge.

    That of ``[a, b)`` is ``hashes[b] - hashes[a] * base ** (b - a)``.

    Parameters
    ----------
    child : int32 (e,)
    count : int64 (e,)
        The edges.
    base, seed : uint64
        ``base`` is odd.
    hashes : uint64 (e + 1,)
        Filled.
    """
    hashes[0] = np.uint64(0)
    for e in range(len(child)):
        one = mix(mix(seed, np.uint64(child[e])), np.uint64(count[e]))
        hashes[e + 1] = hashes[e] * base + one


@kernel
def find_sequences(
    first: Any,
    child: Any,
    count: Any,
    hashes: Any,
    base: Any,
    length: Any,
    at: Any,
    by_length: Any,
    places: Any,
    beyond: Any,
    table: Any,
    found_list: Any,
    found_at: Any,
) -> None:
    """Find where the edges of each rule stand in the lists, from left to right and without overlaps.

    Time is the number of edges times that of different lengths.

    Parameters
    ----------
    first, child, count : int64 (lists + 1,), int32 (e,), int64 (e,)
        The lists of edges.
    hashes : uint64 (e + 1,)
    base : uint64
        As :func:`hash_edges` has them.
    length, at : int64 (rules,)
        Edges of each rule, and where they stand once.
    by_length : int64 (rules,)
        The rules, shortest first.
    places : int64 (rules + 1,)
        If ``found_at`` is empty, each rule's number of places is added to the element after its own; else it
        holds where the rule's places go, which moves on to their end.
    beyond : int64 (rules,)
        Zeros: filled with the edge behind each rule's last place.
    table : int64 (2^k,)
        Working space for twice as many rules as have one length.
    found_list, found_at : int64 (places,) or (0,)
        Filled: the list and the edge of each place, ascending for each rule.
    """
    slots = np.uint64(len(table) - 1)
    low = 0
    while low < len(by_length):
        n = length[by_length[low]]
        high = low
        while high < len(by_length) and length[by_length[high]] == n:
            high += 1
        power = np.uint64(1)
        for _ in range(n):
            power *= base
        table[:] = -1
        for k in range(low, high):
            rule = by_length[k]
            slot = mix(np.uint64(n), hashes[at[rule] + n] - hashes[at[rule]] * power) & slots
            while table[slot] >= 0:
                slot = (slot + np.uint64(1)) & slots
            table[slot] = rule
        for owner in range(len(first) - 1):
            for e in range(first[owner], first[owner + 1] - n + 1):
                slot = mix(np.uint64(n), hashes[e + n] - hashes[e] * power) & slots
                while table[slot] >= 0:
                    rule = table[slot]
                    # Rules of different symbols may have the same edges.
                    if e >= beyond[rule] and _same(child, count, e, at[rule], n):
                        beyond[rule] = e + n
                        if len(found_at) == 0:
                            places[rule + 1] += 1
                        else:
                            found_list[places[rule]] = owner
                            found_at[places[rule]] = e
                            places[rule] += 1
                    slot = (slot + np.uint64(1)) & slots
        low = high
