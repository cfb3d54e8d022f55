"""The exact join of two traces' distinct sets: counts of the pairs that are more similar than a threshold.

Prefix filters (AllPairs, PPJoin) can't help at the thresholds of 0.1 to 0.3 that traces are compared with:
the prefix is nearly the whole set. So every pair is examined, some billions a second, in the way that
:mod:`..kernels.comparison.join` describes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..kernels.comparison.join import common_with_all, count_block, fill_lanes, fill_least, lay_tree
from .sets import Sets

#: Sets joined in parallel lanes.
LANES = 512
#: The lanes of all sets are kept if they take at most this many bytes.
KEPT_BYTES = 1 << 25
#: Maximum number of members of one trace's sets written out: some seconds of work.
BUDGET = 4_000_000_000
#: Maximum number of pairs of sets compared: some minutes of work.
MOST_PAIRS = 2_000_000_000_000

#: Integer types for counting intersections, each with a bound above the sizes of the sets that it is used
#: for.
_COUNTERS = tuple((kind, int(np.iinfo(kind).max)) for kind in (np.uint8, np.uint16, np.uint32))
#: A bound above the size of every set.
_ANY_SIZE = int(np.iinfo(np.int64).max) - 1

Ints = NDArray[np.int64]


class BlockCounts(NamedTuple):
    """What :meth:`SetJoin.count_block` returns.

    Attributes
    ----------
    pairs : int64 (t, k)
        For each threshold and each chosen set: sets of B that are more similar to it.
    weight : int64 (k,)
        Calls of B with a set above the first threshold.
    met : uint8 (sets of B,)
        1 where any chosen set is above the first threshold.
    hit : uint8 (sets of B, width >= k)
        If kept: 1 where the chosen set is above the threshold.

    The rows of both are places of the walk; ``SetJoin.place`` is the place of a set.
    """

    pairs: Ints
    weight: Ints
    met: NDArray[np.uint8]
    hit: NDArray[np.uint8]


def plain(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as kernels want it: contiguous and not read-only (Numba compiles for those again)."""
    return np.require(column, None, ["C", "A", "W"])


@dataclass(frozen=True, eq=False)
class Forest:
    """A forest in pre-order, the largest child of each node last.

    Attributes
    ----------
    order : int32 (n,)
        The node at each place.
    position : int32 (n,)
        The place of each node.
    length : int32 (n,)
        By place: nodes in the subtree.
    level : int32 (n,)
        By place: row of a buffer that a walk keeps the node's state in, from 1.
    parent : int32 (n,)
        By place: the parent's place; -1 for a root.
    """

    order: NDArray[np.int32]
    position: NDArray[np.int32]
    length: NDArray[np.int32]
    level: NDArray[np.int32]
    parent: NDArray[np.int32]


def lay_forest(parent: NDArray[np.int32]) -> Forest:
    """Lay a forest out in pre-order; a parent comes before its children in ``parent`` (-1: a root)."""
    n = len(parent)
    size, heavy, free, position, level = (np.empty(n, np.int32) for _ in range(5))
    lay_tree(np.ascontiguousarray(parent, np.int32), size, heavy, free, position, level)
    order = np.empty(n, np.int32)
    order[position] = np.arange(n, dtype=np.int32)
    above = parent[order]
    return Forest(order, position, size[order], level[order], np.where(above < 0, -1, position[above]))


def function_weights(functions: int, weight: Ints | None) -> Ints:
    """Return the weights as int64 (functions,): those given, or 1 each.

    Parameters
    ----------
    functions : int
        How many there are.
    weight : int64 (functions,) or None
        None: each counts the same.

    Returns
    -------
    int64 (functions,)
    """
    return np.ones(functions, np.int64) if weight is None else np.ascontiguousarray(weight, np.int64)


def set_weights(sets: Sets, weight: Ints) -> Ints:
    """Return the sum of ``weight`` over the functions of each set, as int64 (sets,).

    Parameters
    ----------
    sets : Sets
        As differences from their largest child's set.
    weight : int64 (functions,)
        See :func:`function_weights`.

    Returns
    -------
    int64 (sets,)
    """
    total = np.empty(len(sets), np.int64)
    common_with_all(sets.base, sets.first, sets.added, weight, total)
    return total


class SetJoin:
    """Joins the distinct sets of two traces, whose functions have common ids.

    Parameters
    ----------
    a, b : Sets
    functions : int
        Number of common ids.
    calls_b : int64 (sets of B,)
        Calls of B that have the set.
    weight : int64 (functions,), optional
        What a function counts; 1 each by default. Their sum is below 2**31.

    Raises
    ------
    InputError
        If the sets are too many to compare, or A's have too many members in all to be written out.
    """

    def __init__(self, a: Sets, b: Sets, functions: int, calls_b: Ints, weight: Ints | None = None) -> None:
        self.a, self.b = a, b
        self.weight = function_weights(functions, weight)
        self.size_a = set_weights(a, self.weight)
        self.size_b = set_weights(b, self.weight)
        if int(a.size.sum(dtype=np.int64)) > BUDGET or len(a) * len(b) > MOST_PAIRS:
            raise InputError(
                f"The {len(a):,} and {len(b):,} distinct sets of functions of these traces are too many or "
                "too large to compare each with each: leave out part of the traces."
            )
        self._small_weights = int(self.weight.max(initial=0)) < 256
        self._kept: dict[tuple[int, int], tuple[NDArray[Any], NDArray[np.int32]]] = {}
        self._buffers: list[NDArray[np.uint8]] = []
        self._lay_walk(functions, calls_b)
        self._by_size = np.argsort(self.size_a, kind="stable").astype(np.int32)

    def _lay_walk(self, functions: int, calls_b: Ints) -> None:
        """Bring B's sets into the order of the walk, without the functions that A doesn't call."""
        b = self.b
        forest = lay_forest(b.base)
        called = np.zeros(functions, np.bool_)
        called[self.a.added] = True
        order = forest.order
        lengths = np.diff(b.first)[order]
        start = np.cumsum(lengths) - lengths
        source = np.arange(int(lengths.sum())) + np.repeat(b.first[:-1][order] - start, lengths)
        added = b.added[source]
        kept = called[added]
        counted = np.concatenate(([0], np.cumsum(kept)))
        self._first = counted[np.concatenate((start, [len(added)]))].astype(np.int64)
        self._added = added[kept]
        self._order = order
        #: Position of each set of B in the walk, which is the row of its hits.
        self.place = forest.position
        self._level, self._length = forest.level, forest.length
        self._levels = int(forest.level.max(initial=0))
        self._parent_level = np.where(forest.parent < 0, 0, forest.level[forest.parent]).astype(np.int32)
        self._size = self.size_b[order]
        self._calls = np.ascontiguousarray(calls_b[order], np.int64)
        self._sizes, rank = np.unique(self._size, return_inverse=True)
        self._rank = rank.reshape(-1).astype(np.int32)

    def _lanes_of(
        self, chosen: NDArray[np.int32], width: int, value: np.dtype[Any]
    ) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.uint8] | None]:
        """Return the lanes of a block, the functions' rows of them, and the buffer to give back, if any.

        The lanes of small traces are kept: they serve at every threshold.
        """
        block = int(chosen[0]), len(chosen)
        if block in self._kept:
            return *self._kept[block], None
        a = self.a
        rows = min(len(self.weight), int(a.size[chosen].sum(dtype=np.int64)))
        size = rows * width * value.itemsize
        keep = size * len(a) <= KEPT_BYTES * width
        buffer = np.zeros(size, np.uint8) if keep else self._take(size)
        lanes, row = buffer[:size].view(value).reshape(rows, width), np.full(len(self.weight), -1, np.int32)
        fill_lanes(chosen, a.base, a.first, a.added, self.weight.astype(value), lanes, row)
        if not keep:
            return lanes, row, buffer
        self._kept[block] = lanes, row
        return lanes, row, None

    def _take(self, size: int) -> NDArray[np.uint8]:
        """Return zeros, if possible in a used buffer: fresh memory costs more than everything else."""
        try:
            buffer = self._buffers.pop()
        except IndexError:
            return np.zeros(size, np.uint8)
        if len(buffer) < size:
            return np.zeros(size, np.uint8)
        buffer[:size] = 0
        return buffer

    @property
    def sizes(self) -> int:
        """How many different sizes B's sets have."""
        return len(self._sizes)

    def blocks(self, most: int | None = None) -> list[NDArray[np.int32]]:
        """Return A's sets in blocks of at most :data:`LANES` that are joined side by side.

        Narrower ones if ``most`` bytes wouldn't hold a byte for each lane and each set of B.

        Parameters
        ----------
        most : int, optional
            Bytes of working memory that there are.

        Returns
        -------
        list of int32 (k,)
            Together all sets, in ascending order of size.
        """
        width = LANES if most is None else min(LANES, max(64, most // max(1, len(self.b)) // 64 * 64))
        return [self._by_size[i : i + width] for i in range(0, len(self.a), width)]

    def count_block(
        self, chosen: NDArray[np.int32], thresholds: list[Fraction], keep: bool = False
    ) -> BlockCounts:
        """Count the pairs of the sets ``chosen`` of A, in ascending order of size, with all sets of B.

        Parameters
        ----------
        chosen : int32 (k,)
        thresholds : list of Fraction
            Ascending.
        keep : bool
            Also return, for the one threshold, which pairs are above it.

        Returns
        -------
        BlockCounts
        """
        used, m = len(chosen), len(self.b)
        width = -(-used // 64) * 64
        lane_sizes = self.size_a[chosen]
        smallest, largest = int(lane_sizes[0]), int(lane_sizes[-1])
        # What a lane has in common with any set is at most its own size: most blocks need only bytes.
        counter, never = next(kind for kind in _COUNTERS if largest < kind[1])
        value = np.uint8 if self._small_weights else counter
        lanes, row, buffer = self._lanes_of(chosen, width, np.dtype(value))
        p, q = thresholds[0].numerator, thresholds[0].denominator
        low = smallest * p // q  # a set of just this size reaches the threshold at most
        high = largest * q // p if p else _ANY_SIZE
        within = slice(*np.searchsorted(self._sizes, (low, high + 1)).tolist())
        sizes = self._sizes[within]
        least = np.empty((len(sizes), len(thresholds), width), counter)
        numerators = np.array([t.numerator for t in thresholds], np.int64)
        denominators = np.array([t.denominator for t in thresholds], np.int64)
        fill_least(sizes, lane_sizes, numerators, denominators, never, least)
        hit = np.zeros((m if keep else 1, width), np.uint8)
        pairs = np.zeros((len(thresholds), width), np.int64)
        weight = np.zeros(width, np.int64)
        met = np.zeros(m, np.uint8)
        count_block(
            self._level, self._parent_level, self._length, self._size, self._rank, within.start, self._calls,
            self._first, self._added, row, lanes, least, low, high,
            np.zeros((self._levels + 1, width), counter), hit,
            np.zeros((len(thresholds), width), np.uint8), np.zeros(width, np.uint16), pairs, weight, met,
        )  # fmt: skip
        if buffer is not None:
            self._buffers.append(buffer)
        return BlockCounts(pairs[:, :used], weight[:used], met, hit)
