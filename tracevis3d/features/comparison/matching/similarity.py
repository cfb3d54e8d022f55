r"""How similar two calls of two traces are: the measures, all in whole numbers and exact.

A measure compares *units*: distinct sets of functions, or classes of equal subtrees; what it says of two
units it says of all their calls. Each similarity is a fraction of two whole numbers, so that ``s > tau`` is
decided without rounding.

==========  ==============================================================================================
jaccard     \|Γ(f) ∩ Γ(g)\| / \|Γ(f) ∪ Γ(g)\|: the functions called in both call stacks, of those called
            in either (TraceDiff, Eq. 3). How often, and in which order, is all the same.
duration    the same, but each function counts by its share of the self time of both traces (the mean of
            the two shares, in steps of 1/50,000, one step at least): what takes long decides.
multiset    Σ min(n(F), m(F)) / Σ max(n(F), m(F)) over the functions F, called n(F) times in the one and
            m(F) times in the other call stack: how often counts too.
order       L / (\|Γ(f)\| + \|Γ(g)\| - L), L being the most functions that both call stacks first call in
            the same order. Never above jaccard, and equal to it where nothing is permuted.
==========  ==============================================================================================
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....analysis.join import LANES, BlockCounts, SetJoin
from ....analysis.measures import self_times
from ....analysis.sets import Sets
from ....analysis.subtrees import Subtrees, grown
from ....errors import InputError, UsageError
from ....kernels.comparison.join import common_with_all, mark_set
from ....kernels.comparison.similarity import common_calls, common_order, list_functions
from ....progress import Progress, silent
from ....trace.model import Calls
from . import defaults

#: Names of measures.
MEASURES = tuple(defaults.MEASURES)
#: Measures that compare distinct sets together.
QUICK = ("jaccard", "duration")
#: Kernels release the GIL, so threads suffice; more than two are seldom free while Blender draws.
THREADS = 2
#: Steps of a function's share of the time.
STEPS = 50_000
#: Classes that are compared side by side.
_CHUNK = 64
#: Classes and members that a comparison of all classes may look at: about a minute of work.
BUDGET = 40_000_000_000
#: Bytes that a block's thresholds, and its hits, take at most (the latter not below 64 lanes).
LEAST_BYTES, HIT_BYTES = 1 << 26, 1 << 25
#: Members that the lists of all classes may have together.
ROOM = 1_000_000_000

Ints = NDArray[np.int64]
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two traces, with its functions under their common ids.

    Attributes
    ----------
    calls : Calls
        Functions as recorded.
    subtrees : Subtrees
        ``function`` holds common ids.
    sets : Sets
        Of common ids.
    functions : int
        Number of common ids.
    of_function : int32 (functions of the trace,)
        Common ids.
    """

    calls: Calls
    subtrees: Subtrees
    sets: Sets
    functions: int
    of_function: NDArray[np.int32]


class Row(NamedTuple):
    """The similarity of one unit of A with every unit of B: ``common / whole``, both int64 (units of B,)."""

    common: Ints
    whole: Ints

    def above(self, threshold: Fraction) -> NDArray[np.bool_]:
        """Return where the similarity is above ``threshold``, strictly, without rounding."""
        return self.common * threshold.denominator > self.whole * threshold.numerator

    def share(self) -> NDArray[np.float64]:
        """Return the similarity as a float64 array."""
        return np.asarray(self.common / np.maximum(self.whole, 1))


class PairCounts(NamedTuple):
    """How many pairs of units are similar.

    Attributes
    ----------
    pairs : int64 (t, units of A)
        For each threshold and each unit of A: units of B that are more similar to it.
    weight : int64 (units of A,)
        For each unit of A: calls of B above the first threshold.
    met : bool (units of B,)
        Whether any unit of A is above the first threshold.
    """

    pairs: Ints
    weight: Ints
    met: NDArray[np.bool_]


class Hits(NamedTuple):
    """Which units of B match each of a block of units of A.

    Attributes
    ----------
    units : int32 (k,)
        Units of A.
    hit : uint8 (units of B, width >= k)
        1 where a unit of B matches the unit of the column.
    place : int32 (units of B,)
        Row of ``hit`` of each unit.
    """

    units: NDArray[np.int32]
    hit: NDArray[np.uint8]
    place: NDArray[np.int32]


class Similarity(Protocol):
    """The interface of all measures.

    Attributes
    ----------
    unit_a, unit_b : int32 (classes,)
        Unit of each class.
    calls_a, calls_b : int64 (units,)
        Calls of each unit.
    """

    unit_a: NDArray[np.int32]
    unit_b: NDArray[np.int32]
    calls_a: Ints
    calls_b: Ints

    def row(self, unit: int) -> Row:
        """Return the similarity of unit ``unit`` of A with all units of B; takes well below a millisecond."""

    def count(self, thresholds: list[Fraction], progress: Progress = silent) -> PairCounts:
        """Count the pairs above each of the ascending ``thresholds``.

        Parameters
        ----------
        thresholds : list of Fraction
            Ascending, 0 to 1.
        progress : Progress

        Returns
        -------
        PairCounts
            Of units and of calls, for each threshold.
        """

    def hits(self, threshold: Fraction, progress: Progress = silent) -> Iterator[Hits]:
        """Go through the units of A, in blocks, with what matches them.

        Parameters
        ----------
        threshold : Fraction
            Two units match if their similarity is above it, strictly.
        progress : Progress

        Returns
        -------
        iterator of Hits
        """


def similarity(measure: str, a: Side, b: Side) -> Similarity:
    """Return the measure called ``measure`` for two traces.

    Parameters
    ----------
    measure : str
        One of :data:`MEASURES`.
    a, b : Side
        What is compared of either trace.

    Returns
    -------
    Similarity

    Raises
    ------
    UsageError
        If there is no such measure.
    InputError
        If the traces are too large for it.
    """
    if measure == "jaccard":
        return SetSimilarity(a, b)
    if measure == "duration":
        return SetSimilarity(a, b, duration_weights(a, b))
    if measure == "multiset":
        return CountSimilarity(a, b)
    if measure == "order":
        return OrderSimilarity(a, b)
    raise UsageError(f"there is no measure {measure!r}: choose one of {', '.join(MEASURES)}")


def duration_weights(a: Side, b: Side) -> Ints:
    """Return what each function counts in the measure ``duration``: int64 (functions,), from 1.

    Parameters
    ----------
    a, b : Side
        What is compared of either trace.

    Returns
    -------
    int64 (functions,)
    """
    shares = np.zeros(a.functions)
    for side in (a, b):
        own = self_times(side.calls)
        time = np.bincount(side.of_function[side.calls.function], weights=own, minlength=a.functions)
        shares += time / max(time.sum(), 1.0) / 2.0
    return np.asarray(np.maximum(np.rint(shares * STEPS), 1.0), np.int64)


class SetSimilarity:
    """Jaccard similarity of the sets of functions, each function counting 1 or its weight.

    Parameters
    ----------
    a, b : Side
        What is compared of either trace.
    weight : int64 (functions,), optional
        What each function counts.
    """

    def __init__(self, a: Side, b: Side, weight: Ints | None = None) -> None:
        self.unit_a, self.unit_b = a.sets.of_class, b.sets.of_class
        self.calls_a = _sum_by(self.unit_a, a.subtrees.occurrences, len(a.sets))
        self.calls_b = _sum_by(self.unit_b, b.subtrees.occurrences, len(b.sets))
        self.join = SetJoin(a.sets, b.sets, a.functions, self.calls_b, weight)
        self._marked = np.zeros(a.functions, np.int64)
        self._nothing = np.zeros(a.functions, np.int64)

    def row(self, unit: int) -> Row:
        """Return the similarity of one unit: see :meth:`Similarity.row`."""
        join = self.join
        a, b = join.a, join.b
        mark_set(unit, a.base, a.first, a.added, join.weight, self._marked)
        common = np.empty(len(b), np.int64)
        common_with_all(b.base, b.first, b.added, self._marked, common)
        mark_set(unit, a.base, a.first, a.added, self._nothing, self._marked)
        return Row(common, join.size_a[unit] + join.size_b - common)

    def count(self, thresholds: list[Fraction], progress: Progress = silent) -> PairCounts:
        # Each size needs space for each threshold.
        """Count the pairs above thresholds: see :meth:`Similarity.count`.

        Parameters
        ----------
        thresholds : list of Fraction
            Ascending, 0 to 1.
        progress : Progress

        Returns
        -------
        PairCounts
        """
        at_once = max(1, LEAST_BYTES // (4 * LANES * max(1, self.join.sizes)))
        first = self._count(thresholds[:at_once], progress)
        if len(thresholds) <= at_once:
            return first
        rest = self.count(thresholds[at_once:], progress)
        return first._replace(pairs=np.concatenate((first.pairs, rest.pairs)))

    def _count(self, thresholds: list[Fraction], progress: Progress) -> PairCounts:
        join = self.join
        pairs = np.zeros((len(thresholds), len(join.a)), np.int64)
        weight = np.zeros(len(join.a), np.int64)
        met = np.zeros(len(join.b), np.uint8)
        # Neighbouring blocks take about as long: dealt out in turn, the threads end together. The caller's
        # thread takes part, and no thread is started for what one does in a moment.
        blocks = join.blocks()
        threads = THREADS if len(blocks) > 2 else 1
        shares = [blocks[t::threads] for t in range(threads)]

        def work(share: list[NDArray[np.int32]], report: Progress) -> list[BlockCounts]:
            found = []
            for done, block in enumerate(share, 1):
                found.append(join.count_block(block, thresholds))
                report(done / len(share), "comparing sets")
            return found

        others = [_pool().submit(work, share, silent) for share in shares[1:]]
        results = [work(shares[0], progress), *(other.result() for other in others)]
        for share, found in zip(shares, results):
            for block, counted in zip(share, found):
                pairs[:, block], weight[block] = counted.pairs, counted.weight
                met |= counted.met
        return PairCounts(pairs, weight, met[join.place] > 0)

    def hits(self, threshold: Fraction, progress: Progress = silent) -> Iterator[Hits]:
        """Go through the units of A: see :meth:`Similarity.hits`.

        Parameters
        ----------
        threshold : Fraction
            Two units match if their similarity is above it, strictly.
        progress : Progress

        Returns
        -------
        iterator of Hits
        """
        blocks = self.join.blocks(HIT_BYTES)[::-1]
        found = _in_threads(
            lambda block: self.join.count_block(block, [threshold], keep=True).hit, blocks, progress
        )
        for block, hit in zip(blocks, found):
            yield Hits(block, hit, self.join.place)


class _Lists(NamedTuple):
    """The functions below each class: ``function[first[c]:first[c + 1]]``, in the order of first calls."""

    first: Ints
    function: NDArray[np.int32]
    calls: Ints


class _ClassSimilarity:
    """Compares classes of equal subtrees, one by one."""

    def __init__(self, a: Side, b: Side) -> None:
        self.unit_a = np.arange(len(a.subtrees), dtype=np.int32)
        self.unit_b = np.arange(len(b.subtrees), dtype=np.int32)
        self.calls_a, self.calls_b = a.subtrees.occurrences, b.subtrees.occurrences
        self.lists_a, self.lists_b = _list_functions(a), _list_functions(b)
        self.functions = a.functions
        self.size_a, self.size_b = self._sizes(a, self.lists_a), self._sizes(b, self.lists_b)

    def _sizes(self, side: Side, lists: _Lists) -> Ints:
        raise NotImplementedError

    def _common(self, unit: int, low: int, high: int) -> Ints:
        """Return what the unit has in common with each of B; 0 for those not of a size low..high."""
        raise NotImplementedError

    def row(self, unit: int) -> Row:
        common = self._common(unit, 0, np.iinfo(np.int64).max)
        return Row(common, self.size_a[unit] + self.size_b - common)

    def count(self, thresholds: list[Fraction], progress: Progress = silent) -> PairCounts:
        n = len(self.calls_a)
        pairs = np.zeros((len(thresholds), n), np.int64)
        weight = np.zeros(n, np.int64)
        met = np.zeros(len(self.calls_b), np.bool_)
        chunks = self._chunks()

        def compare(units: range) -> None:
            for unit in units:
                row = self._near(unit, thresholds[0])
                for t, threshold in enumerate(thresholds):
                    above = row.above(threshold)
                    pairs[t, unit] = np.count_nonzero(above)
                    if t == 0:
                        weight[unit] = self.calls_b[above].sum()
                        met[above] = True

        for _ in _in_threads(compare, chunks, progress):
            pass
        return PairCounts(pairs, weight, met)

    def hits(self, threshold: Fraction, progress: Progress = silent) -> Iterator[Hits]:
        place = np.arange(len(self.calls_b), dtype=np.int32)
        chunks = self._chunks()

        def compare(units: range) -> NDArray[np.uint8]:
            hit = np.zeros((len(place), _CHUNK), np.uint8)
            for lane, unit in enumerate(units):
                hit[:, lane] = self._near(unit, threshold).above(threshold)
            return hit

        for units, hit in zip(chunks, _in_threads(compare, chunks, progress)):
            yield Hits(np.arange(units.start, units.stop, dtype=np.int32), hit, place)

    def _near(self, unit: int, threshold: Fraction) -> Row:
        """Return the row, with nothing in common where the sizes alone rule out more than ``threshold``."""
        size = int(self.size_a[unit])
        high = int(size / threshold) if threshold else np.iinfo(np.int64).max
        common = self._common(unit, int(size * threshold), high)
        return Row(common, size + self.size_b - common)

    def _chunks(self) -> list[range]:
        n = len(self.calls_a)
        if n * (len(self.calls_b) + len(self.lists_b.function)) > BUDGET:
            raise InputError(
                f"The {n:,} and {len(self.calls_b):,} distinct subtrees of these traces are too many to "
                "compare by this measure: take the measure jaccard or duration, or leave out part of them."
            )
        return [range(i, min(i + _CHUNK, n)) for i in range(0, n, _CHUNK)]


class CountSimilarity(_ClassSimilarity):
    """Weighted Jaccard similarity of how often each function is called in two subtrees."""

    def _sizes(self, side: Side, lists: _Lists) -> Ints:
        return side.subtrees.extent

    def _common(self, unit: int, low: int, high: int) -> Ints:
        a, b = self.lists_a, self.lists_b
        here = np.zeros(self.functions, np.int64)
        own = slice(a.first[unit], a.first[unit + 1])
        here[a.function[own]] = a.calls[own]
        common = np.empty(len(self.calls_b), np.int64)
        common_calls(b.first, b.function, b.calls, self.size_b, low, high, here, common)
        return common


class OrderSimilarity(_ClassSimilarity):
    """Jaccard similarity of the functions that two subtrees first call in the same order."""

    def _sizes(self, side: Side, lists: _Lists) -> Ints:
        return np.diff(lists.first)

    def _common(self, unit: int, low: int, high: int) -> Ints:
        a, b = self.lists_a, self.lists_b
        rank = np.zeros(self.functions, np.int64)
        own = a.function[a.first[unit] : a.first[unit + 1]]
        rank[own] = np.arange(1, len(own) + 1)
        common = np.empty(len(self.calls_b), np.int64)
        common_order(b.first, b.function, low, high, rank, np.empty(self.functions, np.int64), common)
        return common


def _list_functions(side: Side) -> _Lists:
    subtrees = side.subtrees
    m = len(subtrees)
    mark, total = np.zeros(side.functions, np.int32), np.zeros(side.functions, np.int64)
    first = np.zeros(m + 1, np.int64)
    function = np.empty(16 * m + 16, np.int32)
    count = np.empty(len(function), np.int64)
    start = 0
    while True:
        start = list_functions(
            subtrees.function, subtrees.first, subtrees.child, start, mark, total, first, function, count
        )
        if start == m:
            return _Lists(first, function[: first[m]].copy(), count[: first[m]].copy())
        if len(function) > ROOM:
            raise InputError(
                f"The {m:,} distinct subtrees of this trace reach too many different functions to list "
                "them: take the measure jaccard or duration, or leave out part of the trace."
            )
        # The class is taken up again, so it must find no function marked by its first attempt.
        mark[mark == start + 1] = 0
        function, count = grown(function, 2 * len(function)), grown(count, 2 * len(count))


def _sum_by(index: NDArray[np.int32], value: Ints, size: int) -> Ints:
    """Return the sums of ``value`` by ``index``, exactly (they are below 2**53)."""
    return np.bincount(index, weights=value, minlength=size).astype(np.int64)


def _in_threads(do: Callable[[T], R], tasks: list[T], progress: Progress) -> Iterator[R]:
    """Yield ``do(task)`` for each task in turn; :data:`THREADS` work ahead, but not far."""
    if len(tasks) < 2:
        yield from map(do, tasks)
        return
    pool = _pool()
    left = iter(tasks)
    ahead = deque(pool.submit(do, task) for task in islice(left, 2 * THREADS))
    try:
        for done in range(1, len(tasks) + 1):
            result = ahead.popleft().result()
            ahead.extend(pool.submit(do, task) for task in islice(left, 1))
            yield result
            progress(done / len(tasks), "comparing")
    finally:
        for future in ahead:
            future.cancel()


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the threads that compare; starting them again each time would take longer than small traces."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="tracevis3d-compare")
