"""The distinct subtrees of a trace: the compact call graph of SEAT (Hamou-Lhadj and Lethbridge)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..kernels.tree.subtrees import fill_table, number_subtrees
from ..trace.cached_results import cached_with_trace
from ..trace.model import Calls, Trace

T = TypeVar("T", bound=np.generic)

#: All bits of a hash.
HASH_MASK = 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, eq=False)
class Subtrees:
    """The classes of identical subtrees, numbered so that children come before their parents.

    Two calls are in one class if they call the same function and their children, in order, are in the
    same classes. Threads share classes.

    Attributes
    ----------
    of_call : int32 (n,)
        Class of each call.
    function : int32 (m,)
        Function of the class's calls.
    first : int64 (m + 1,)
        The children of class ``c`` are ``child[first[c]:first[c + 1]]``, in the order of the calls.
    child : int32 (e,)
        Classes; ``e < n``.
    call : int64 (m,)
        The first call of the class.
    occurrences : int64 (m,)
        Number of calls of the class.
    extent : int64 (m,)
        Number of calls in one such subtree, the root included.
    """

    of_call: NDArray[np.int32]
    function: NDArray[np.int32]
    first: NDArray[np.int64]
    child: NDArray[np.int32]
    call: NDArray[np.int64]
    occurrences: NDArray[np.int64]
    extent: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.function)


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of the graph: a child that repeats in a row is one edge with a label.

    Attributes
    ----------
    first : int64 (m + 1,)
        The edges of class ``c`` are ``first[c]`` to ``first[c + 1]``, in the order of the calls.
    child : int32 (e,)
        The class they lead to.
    count : int64 (e,)
        How often the child is called in a row there (the edge's label, Fig. 28).
    """

    first: NDArray[np.int64]
    child: NDArray[np.int32]
    count: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.child)

    @cached_property
    def source(self) -> NDArray[np.int32]:
        """The class that each edge leaves, int32 (e,)."""
        return np.repeat(np.arange(len(self.first) - 1, dtype=np.int32), np.diff(self.first))


def distinct_subtrees(calls: Calls, *, hash_mask: int = HASH_MASK) -> Subtrees:
    """Find the distinct subtrees of ``calls`` in linear time.

    Parameters
    ----------
    calls : Calls
        ``function`` and ``extent`` are read.
    hash_mask : int
        Bits of the 64-bit hash that are used. The result doesn't depend on it, only the time does: tests
        provoke collisions with it.

    Returns
    -------
    Subtrees
    """
    n = len(calls)
    function = np.ascontiguousarray(calls.function, np.int32)
    extent = np.ascontiguousarray(calls.extent, np.int64)
    leaf = np.full(int(function.max()) + 1 if n else 0, -1, np.int32)
    # A secret seed, so nobody can make a trace whose subtrees collide.
    seed, mask = np.uint64(secrets.randbits(64)), np.uint64(hash_mask)

    of_call = np.empty(n, np.int32)
    capacity = min(max(n, 1), 1 << 14)
    class_function = np.empty(capacity, np.int32)
    class_first = np.zeros(capacity + 1, np.int64)
    class_child = np.empty(4 * capacity, np.int32)
    class_call = np.empty(capacity, np.int64)
    class_occurrences = np.empty(capacity, np.int64)
    class_hash = np.empty(capacity, np.uint64)
    table = empty_table(capacity)
    stop, classes, edges = n, 0, 0
    while stop:
        stop, classes, edges, wanted = number_subtrees(
            function, extent, stop, seed, mask, of_call, leaf, table, classes, edges,
            class_function, class_first, class_child, class_call, class_occurrences, class_hash,
        )  # fmt: skip
        if stop and wanted > len(class_child):
            class_child = grown(class_child, min(n, max(wanted, 2 * len(class_child))))
        if stop and classes == capacity:
            capacity = min(n, 2 * capacity)
            class_function = grown(class_function, capacity)
            class_first = grown(class_first, capacity + 1)
            class_call = grown(class_call, capacity)
            class_occurrences = grown(class_occurrences, capacity)
            class_hash = grown(class_hash, capacity)
            table = empty_table(capacity)
            fill_table(table, class_hash, classes)
    call = class_call[:classes].copy()
    return Subtrees(
        of_call,
        class_function[:classes].copy(),
        class_first[: classes + 1].copy(),
        class_child[:edges].copy(),
        call,
        class_occurrences[:classes].copy(),
        extent[call],
    )


@cached_with_trace()
def subtrees_of(trace: Trace) -> Subtrees:
    """Return the distinct subtrees of a trace; kept with it."""
    return distinct_subtrees(trace.calls)


def empty_table(capacity: int) -> NDArray[np.uint64]:
    """Return a hash table that ``capacity`` entries fill to half at most."""
    return np.zeros(1 << (2 * capacity - 1).bit_length(), np.uint64)


def grown(array: NDArray[T], size: int) -> NDArray[T]:
    """Return a larger copy of ``array``: ``size`` elements, the new ones not set.

    Parameters
    ----------
    array : (n,)
        It stays as it is.
    size : int
        At least ``n``.

    Returns
    -------
    (size,)
        Of the same dtype.
    """
    larger = np.empty(size, array.dtype)
    larger[: len(array)] = array
    return larger
