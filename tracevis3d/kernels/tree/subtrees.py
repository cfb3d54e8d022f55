"""Distinct subtrees of the calls by hash-consing (the compact call graph of SEAT)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inline, kernel


@inline
def mix(hashed: Any, word: Any) -> Any:
    """Return the hash of what was hashed so far, followed by one more word.

    Parameters
    ----------
    hashed, word : uint64

    Returns
    -------
    uint64
    """
    product = (hashed ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return product ^ (product >> np.uint64(32))


@kernel
def number_subtrees(
    function: Any,
    extent: Any,
    stop: int,
    seed: Any,
    mask: Any,
    of_call: Any,
    leaf: Any,
    table: Any,
    classes: int,
    edges: int,
    class_function: Any,
    class_first: Any,
    class_child: Any,
    class_call: Any,
    class_occurrences: Any,
    class_hash: Any,
) -> tuple[int, int, int, int]:
    """Give each call the number of its subtree's class, from the last call to the first.

    The classes of a call's children are known when its turn comes, so a class is its function and the
    numbers of its children's classes. A hash finds the candidates; each is compared in full.

    Parameters
    ----------
    function : int32 (n,)
    extent : int64 (n,)
    stop : int
        The calls from here on are done.
    seed, mask : uint64
        Start of each hash; bits of the hash that are kept (fewer only to test collisions).
    of_call : int32 (n,)
        Filled: class of each call.
    leaf : int32 (functions,)
        Class of the function's leaf calls; -1 before there is one.
    table : uint64 (2**k,)
        Open addressing: the hash's upper half above the class + 1; 0 is free. At most half full.
    classes, edges : int
        How many there are so far.
    class_function : int32 (c,)
    class_first : int64 (c + 1,)
    class_child : int32 (e,)
    class_call, class_occurrences : int64 (c,)
    class_hash : uint64 (c,)
        Filled for each class: function, children, the first call, the number of calls, the hash.

    Returns
    -------
    stop, classes, edges, wanted : int
        ``stop`` is 0 when all calls are done; else the buffers must grow to at least one more class and
        to ``wanted`` edges.
    """
    slots = np.uint64(len(table) - 1)
    capacity = len(class_function)
    low_half = np.uint64(0xFFFFFFFF)
    for i in range(stop - 1, -1, -1):
        f = function[i]
        end = i + extent[i]
        found: Any = -1
        degree = 0
        slot = np.uint64(0)
        tag = np.uint64(0)
        hashed = np.uint64(0)
        if extent[i] == 1:
            found = leaf[f]
        else:
            hashed = mix(seed, np.uint64(f))
            j = i + 1
            while j < end:
                hashed = mix(hashed, np.uint64(of_call[j]))
                degree += 1
                j += extent[j]
            hashed &= mask
            tag = hashed & ~low_half
            slot = hashed & slots
            while table[slot] != 0:
                entry = table[slot]
                if entry & ~low_half == tag:
                    c = np.int64(entry & low_half) - 1
                    k = class_first[c]
                    if class_function[c] == f and class_first[c + 1] - k == degree:
                        j = i + 1
                        while j < end and class_child[k] == of_call[j]:
                            k += 1
                            j += extent[j]
                        if j >= end:
                            found = c
                            break
                slot = (slot + np.uint64(1)) & slots
        if found < 0:
            if classes == capacity or edges + degree > len(class_child):
                return i + 1, classes, edges, edges + degree
            found = classes
            classes += 1
            class_function[found] = f
            class_hash[found] = hashed if degree > 0 else mix(seed, np.uint64(f)) & mask
            class_occurrences[found] = 0
            if degree == 0:
                leaf[f] = found
            else:
                table[slot] = tag | np.uint64(found + 1)
                j = i + 1
                while j < end:
                    class_child[edges] = of_call[j]
                    edges += 1
                    j += extent[j]
            class_first[classes] = edges
        of_call[i] = found
        class_call[found] = i
        class_occurrences[found] += 1
    return 0, classes, edges, edges


@kernel
def fill_table(table: Any, hashes: Any, count: int) -> None:
    """Enter ``0 ... count - 1`` by their hashes into a larger table.

    Parameters
    ----------
    table : uint64 (2**k,)
        0 before; filled: the hash's upper half above the number + 1.
    hashes : uint64 (capacity,)
    count : int
    """
    slots = np.uint64(len(table) - 1)
    for i in range(count):
        slot = hashes[i] & slots
        while table[slot] != 0:
            slot = (slot + np.uint64(1)) & slots
        table[slot] = (hashes[i] & ~np.uint64(0xFFFFFFFF)) | np.uint64(i + 1)
