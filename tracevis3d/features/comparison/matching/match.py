"""What two traces have in common (TraceDiff, section III): matches, their number and their groups.

Matches are never listed as such: two recorded traces of 300,000 calls have billions. They are kept as pairs
of units (distinct sets of functions, see :mod:`.similarity`) and are counted; :meth:`Comparison.between`
lists those between calls that are visible, the most important first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....analysis.join import plain
from ....analysis.sets import distinct_sets
from ....analysis.subtrees import Subtrees, distinct_subtrees
from ....errors import UsageError, not_recorded
from ....kernels.comparison.groups import cover, flag_above, sum_outermost
from ....progress import Progress, part, silent
from ....trace.model import Calls, Trace
from ....trace.storage.cache import cached
from ....views.everywhere.rewrite import check_rules
from .defaults import IDENTITY, MEASURE, TAU
from .groups import GroupRoots, Groups, Paths, count_literal, find_groups, find_paths
from .identity import KINDS, Identity, Renamed, identify
from .similarity import MEASURES, PairCounts, Row, Side, Similarity, similarity

#: Part of the cache's key: raise it when the results of this module or of those that it uses change.
VERSION = 1
#: Maximum number of decimals of a threshold: numerator and denominator are multiplied with counts in 64 bits.
_DECIMALS = 9
#: Number of bars of the histogram of similarities.
BARS = 20
#: Calls of A compared with B at a time.
_CHUNK = 256

Ints = NDArray[np.int64]


def threshold(tau: float | str | Fraction) -> Fraction:
    """Return τ as the exact fraction of its decimal text, so that 0.3 is 3/10.

    Parameters
    ----------
    tau : float, str or Fraction
        A number as text, or as Python writes it.

    Returns
    -------
    Fraction

    Raises
    ------
    UsageError
        If it isn't a number from 0 to 1 with at most nine decimals.
    """
    try:
        exact = Fraction(str(tau))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"tau={tau}: a number from 0 to 1 is expected") from None
    if not 0 <= exact <= 1:
        raise UsageError(f"tau={tau}: a number from 0 to 1 is expected")
    if exact.denominator > 10**_DECIMALS:
        raise UsageError(f"tau={tau}: at most {_DECIMALS} decimals are compared")
    return exact


def check_settings(
    tau: float | str | Fraction, identity: str, measure: str, rewrite: Iterable[Sequence[str]] = ()
) -> None:
    """Raise UsageError if a setting is invalid, before minutes are spent on reading.

    Parameters
    ----------
    tau : float, str or Fraction
        See :func:`threshold`.
    identity : str
        One of :data:`.identity.KINDS`.
    measure : str
        One of :data:`.similarity.MEASURES`.
    rewrite : iterable of sequence of str
        Pairs of a regular expression and its replacement.

    Raises
    ------
    UsageError
        If one of these is off.
    """
    threshold(tau)
    if identity not in KINDS:
        raise UsageError(f"there is no identity {identity!r}: choose one of {', '.join(KINDS)}")
    if measure not in MEASURES:
        raise UsageError(f"there is no measure {measure!r}: choose one of {', '.join(MEASURES)}")
    check_rules(rewrite)


@dataclass(frozen=True)
class Settings:
    """The settings of a comparison of two traces.

    Attributes
    ----------
    tau : Fraction
        Calls match if their similarity is above it, strictly.
    measure : str
        One of :data:`.similarity.MEASURES`.
    """

    tau: Fraction = Fraction(str(TAU))
    measure: str = MEASURE


class Matches(NamedTuple):
    """Some matches: calls of A and of B, and how similar they are (float64)."""

    a: Ints
    b: Ints
    similarity: NDArray[np.float64]


class Unmatched(NamedTuple):
    """The outermost calls that have no match and none below them, by function.

    Attributes
    ----------
    function : int32 (k,)
        Functions of the trace, the longest time first; one of those that are the same under the identity.
    calls, time, longest : int64 (k,)
        Number of these calls, their duration together in nanoseconds, the longest one.
    """

    function: NDArray[np.int32]
    calls: Ints
    time: Ints
    longest: Ints


class Comparison:
    """Two compared traces. Expensive results are computed when first requested, and cached.

    Parameters
    ----------
    a, b : Trace
    identity : Identity
    settings : Settings
    cache : bool
        Keep results under the user's cache folder, and use existing ones. Traces without a hash
        (``Trace.source``) are never kept.
    progress : Progress

    Attributes
    ----------
    traces : tuple of Trace
    identity : Identity
    settings : Settings
    sides : tuple of Side
        Distinct subtrees and sets of both, under the common ids.
    similarity : Similarity
    """

    def __init__(
        self,
        a: Trace,
        b: Trace,
        identity: Identity,
        settings: Settings | None = None,
        *,
        cache: bool = True,
        progress: Progress = silent,
    ) -> None:
        self.traces = (a, b)
        self.identity = identity
        self.settings = settings or Settings()
        self._cache = cache and bool(a.source.hash) and bool(b.source.hash)
        self._progress = progress
        progress(0.0, "finding distinct subtrees")
        self.sides = (
            _side(a.calls, identity.a, len(identity)),
            _side(b.calls, identity.b, len(identity)),
        )
        self.similarity: Similarity = similarity(self.settings.measure, *self.sides)

    # -- counts --------------------------------------------------------------------------------------

    @cached_property
    def counts(self) -> PairCounts:
        """Pairs of units that match; :attr:`set_pairs` and :attr:`call_pairs` sum them up."""

        def make() -> Mapping[str, NDArray[Any]]:
            found = self.similarity.count([self.settings.tau], part(self._progress, 0.1, 0.4))
            return {"pairs": found.pairs[0], "weight": found.weight, "met": found.met.astype(np.uint8)}

        kept = self._kept("counts", make)
        return PairCounts(kept["pairs"][None], kept["weight"], kept["met"].astype(np.bool_))

    @property
    def set_pairs(self) -> int:
        """Number of pairs of units (for Jaccard: of distinct sets) that match."""
        return int(self.counts.pairs[0].sum())

    @property
    def call_pairs(self) -> int:
        """Number of matches: pairs of calls with a similarity above τ."""
        return _exact_dot(self.similarity.calls_a, self.counts.weight)

    @cached_property
    def histogram(self) -> Ints:
        """Pairs of units by similarity, int64 (:data:`BARS`,): bar ``k`` is (k/20, (k+1)/20], without 0."""

        def make() -> Mapping[str, NDArray[Any]]:
            edges = [Fraction(k, BARS) for k in range(BARS)]
            above = self.similarity.count(edges, part(self._progress, 0.4, 0.6)).pairs.sum(axis=1)
            return {"histogram": above - np.append(above[1:], 0)}

        return self._kept("histogram", make, tau=False)["histogram"]

    # -- matches -------------------------------------------------------------------------------------

    def row(self, call: int) -> Row:
        """Return the similarity of one call of A with every unit of B."""
        return self.similarity.row(int(self.unit_of_a(np.array([call]))[0]))

    def unit_of_a(self, calls: Ints) -> NDArray[np.int32]:
        """Return the units of calls of A."""
        return np.asarray(self.similarity.unit_a[self.sides[0].subtrees.of_call[calls]])

    def unit_of_b(self, calls: Ints) -> NDArray[np.int32]:
        """Return the units of calls of B."""
        return np.asarray(self.similarity.unit_b[self.sides[1].subtrees.of_call[calls]])

    def matched(self, trace: int) -> NDArray[np.bool_]:
        """Return which calls of trace 0 (A) or 1 (B) have a match: bool (calls,)."""
        unit, met = self._met(trace)
        return np.asarray(met[unit][self.sides[trace].subtrees.of_call])

    def _met(self, trace: int) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the unit of each class, and which units have a match."""
        if trace == 0:
            return self.similarity.unit_a, self.counts.pairs[0] > 0
        return self.similarity.unit_b, self.counts.met

    def between(self, calls_a: Ints, calls_b: Ints, most: int = 100_000) -> Matches:
        """List the matches between some calls of A and some of B, such as those that are visible.

        The rule, where there are more than ``most``: those with the largest product of similarity and the
        shorter one's duration; of equal ones the earlier.

        Parameters
        ----------
        calls_a, calls_b : int64 (n,), (m,)
        most : int
            How many are returned at most.

        Returns
        -------
        Matches
            The most important first. Takes time in proportion to the pairs of the calls that are given,
            and less where ``most`` cuts the list short; memory in proportion to ``most``.
        """
        return _between(self, np.asarray(calls_a, np.int64), np.asarray(calls_b, np.int64), most)

    # -- groups --------------------------------------------------------------------------------------

    @cached_property
    def paths(self) -> tuple[Paths, Paths]:
        """The paths of units of all calls of both traces."""
        of = (self.similarity.unit_a, self.similarity.unit_b)
        a, b = (find_paths(s.calls, unit[s.subtrees.of_call]) for s, unit in zip(self.sides, of))
        return a, b

    @cached_property
    def groups(self) -> Groups:
        """The groups of all matches, by the rule ``nearest``."""
        progress = part(self._progress, 0.6, 0.8)
        return find_groups(self.similarity, self.settings.tau, *self.paths, progress)

    def roots_of(self, a: Ints, b: Ints) -> GroupRoots:
        """Return the group of each of the matches ``(a[i], b[i])``, by the rule ``nearest``.

        Finds no other groups, which takes a fraction of the time unless these are known already.

        Parameters
        ----------
        a : int64 (m,)
            Calls of A.
        b : int64 (m,)
            Calls of B.

        Returns
        -------
        GroupRoots
        """
        groups = self.__dict__.get("groups")
        if groups is None:
            progress = part(self._progress, 0.6, 0.8)
            groups = find_groups(self.similarity, self.settings.tau, *self.paths, progress, (a, b))
        return groups.roots_of(self.traces[0].calls, self.traces[1].calls, a, b)

    @cached_property
    def groups_literal(self) -> tuple[int | None, str]:
        """Number of groups by the printed rule; None and the reason if that can't be computed."""
        calls = (self.traces[0].calls, self.traces[1].calls)

        def make() -> Mapping[str, NDArray[Any]]:
            progress = part(self._progress, 0.8, 1.0)
            count, reason = count_literal(self.similarity, self.settings.tau, *calls, *self.paths, progress)
            return {
                "count": np.array([-1 if count is None else count], np.int64),
                "reason": np.frombuffer(reason.encode(), np.uint8),
            }

        kept = self._kept("literal", make)
        count, reason = int(kept["count"][0]), kept["reason"].tobytes().decode()
        return (None if reason else count), reason

    def groups_within(self, a: int, b: int) -> Groups:
        """Return the groups of the matches strictly below call ``a`` of A and call ``b`` of B.

        They explain the match of the two, if they match.

        Parameters
        ----------
        a : int
            A call of A.
        b : int
            A call of B.

        Returns
        -------
        Groups
        """
        below = []
        of = (self.similarity.unit_a, self.similarity.unit_b)
        for side, unit, call in zip(self.sides, of, (a, b)):
            high = call + int(side.calls.extent[call])
            below.append(_paths_of(side, unit, call + 1, high))
        return find_groups(self.similarity, self.settings.tau, below[0], below[1])

    # -- time ----------------------------------------------------------------------------------------

    @cached_property
    def matched_time(self) -> tuple[float, float]:
        """For each trace: the share of its root calls' time within calls that have a match; 0 if no time."""
        shares = []
        for trace, calls in enumerate(t.calls for t in self.traces):
            root = int((calls.end - calls.start)[calls.depth == 1].sum())
            unit, met = self._met(trace)
            within = cover(met[unit].astype(np.uint8), self.sides[trace].subtrees.of_call, *_times(calls))
            shares.append(within / root if root else 0.0)
        return shares[0], shares[1]

    def unmatched(self, trace: int) -> Unmatched:
        """Return the calls of trace 0 (A) or 1 (B) that have no match anywhere in their call stack."""
        side = self.sides[trace]
        unit, met = self._met(trace)
        tree = side.subtrees
        flag = met[unit].astype(np.uint8)
        flag_above(tree.first, tree.child, flag)
        calls, time = np.zeros(len(tree), np.int64), np.zeros(len(tree), np.int64)
        longest = np.full(len(tree), -1, np.int64)
        sum_outermost(1 - flag, tree.of_call, *_times(side.calls), calls, time, longest)
        return _by_function(side.calls, tree, calls, time, longest)

    # -- the whole -----------------------------------------------------------------------------------

    def _kept(
        self, what: str, make: Callable[[], Mapping[str, NDArray[Any]]], tau: bool = True
    ) -> Mapping[str, NDArray[Any]]:
        if not self._cache:
            return make()
        identity = self.identity
        key = repr(
            (
                [trace.source.hash for trace in self.traces],
                identity.a.tobytes(),
                identity.b.tobytes(),
                self.settings.measure,
                self.settings.tau if tau else None,
            )
        )
        return cached(f"{what}-{VERSION}", key, make)


def compare(
    a: Trace,
    b: Trace,
    *,
    tau: float | str | Fraction = TAU,
    identity: str | Identity = IDENTITY,
    measure: str = MEASURE,
    rewrite: Iterable[Sequence[str]] = (),
    renamed: Iterable[Renamed] = (),
    fuzzy: float | None = None,
    cache: bool = True,
    progress: Progress = silent,
) -> Comparison:
    """Compare two traces.

    Parameters
    ----------
    a, b : Trace
    tau : float or str
        Two calls match if their similarity is above it, strictly; the paper recommends 0.1 to 0.3.
    identity : str or Identity
        When two functions are the same: ``auto``, ``exact`` or ``name`` (see :func:`.identity.identify`).
    measure : str
        One of :data:`.similarity.MEASURES`.
    rewrite, renamed, fuzzy
        Of :func:`.identity.identify`.
    cache : bool
        Keep the results, and use existing ones.
    progress : Progress

    Returns
    -------
    Comparison
        What it says is computed when it is requested.

    Raises
    ------
    UsageError
        If a parameter is off.
    InputError
        If the traces are too large to be compared, or record memory alone: what is compared are calls.
    """
    if not len(a.calls) and not len(b.calls) and (len(a.memory) or len(b.memory)):
        raise not_recorded(a.source.path, "calls")
    check_settings(tau, identity if isinstance(identity, str) else identity.kind, measure)
    settings = Settings(threshold(tau), measure)
    if isinstance(identity, str):
        identity = identify(a, b, identity, rewrite=rewrite, renamed=renamed, fuzzy=fuzzy)
    return Comparison(a, b, identity, settings, cache=cache, progress=progress)


def _side(calls: Calls, ids: NDArray[np.int32], functions: int) -> Side:
    tree = distinct_subtrees(calls)
    tree = replace(tree, function=ids[tree.function] if len(tree) else tree.function)
    return Side(calls, tree, distinct_sets(tree), functions, ids)


def _paths_of(side: Side, unit: NDArray[np.int32], low: int, high: int) -> Paths:
    return find_paths(side.calls, unit[side.subtrees.of_call], low, high)


def _times(calls: Calls) -> tuple[Ints, Ints, Ints]:
    return plain(calls.start), plain(calls.end), plain(calls.extent)


def _exact_dot(left: Ints, right: Ints) -> int:
    """Return the sum of products of counts as an int that doesn't overflow: the left sum up below 2**32."""
    low = (1 << 31) - 1
    return int((left * (right & low)).sum()) + (int((left * (right >> 31)).sum()) << 31)


def _by_function(calls: Calls, tree: Subtrees, count: Ints, time: Ints, longest: Ints) -> Unmatched:
    """Sum up by function, under the common ids, what was summed up by class."""
    chosen = np.flatnonzero(count)
    ids, index = np.unique(tree.function[chosen], return_inverse=True)
    index = index.reshape(-1)
    sums = [np.zeros(len(ids), np.int64) for _ in range(2)]
    for total, column in zip(sums, (count, time)):
        np.add.at(total, index, column[chosen])
    best = np.full(len(ids), -1, np.int64)
    # The last one that is written stays: the longest.
    order = np.argsort((calls.end - calls.start)[longest[chosen]], kind="stable")
    best[index[order]] = longest[chosen][order]
    by_time = np.lexsort((ids, -sums[1]))
    return Unmatched(calls.function[best[by_time]], sums[0][by_time], sums[1][by_time], best[by_time])


def _between(comparison: Comparison, calls_a: Ints, calls_b: Ints, most: int) -> Matches:
    lasted = [t.calls.end[c] - t.calls.start[c] for t, c in zip(comparison.traces, (calls_a, calls_b))]
    by_length = np.lexsort((calls_a, -lasted[0]))
    calls_a, length_a, length_b = calls_a[by_length], lasted[0][by_length], lasted[1]
    unit_a = comparison.unit_of_a(calls_a)
    units_b, of_b = np.unique(comparison.unit_of_b(calls_b), return_inverse=True)
    of_b = of_b.reshape(-1)
    rows: dict[int, NDArray[np.float64]] = {}
    a, b = np.empty(0, np.int64), np.empty(0, np.int64)
    shares, weights = np.empty(0), np.empty(0)
    for low in range(0, len(calls_a), _CHUNK):
        chunk = slice(low, low + _CHUNK)
        # No later match weighs more than its call of A lasts.
        if len(weights) == most and most and length_a[low] < weights[-1]:
            break
        for unit in np.unique(unit_a[chunk]).tolist():
            if unit not in rows:
                row = comparison.similarity.row(unit)
                rows[unit] = np.where(row.above(comparison.settings.tau), row.share(), 0.0)[units_b]
        share = np.stack([rows[unit] for unit in unit_a[chunk].tolist()])[:, of_b]
        left, right = np.nonzero(share)
        found = share[left, right]
        weight = found * np.minimum(length_a[chunk][left], length_b[right])
        a = np.concatenate((a, calls_a[chunk][left]))
        b = np.concatenate((b, calls_b[right]))
        shares, weights = np.concatenate((shares, found)), np.concatenate((weights, weight))
        order = np.lexsort((b, a, -weights))[:most]
        a, b, shares, weights = a[order], b[order], shares[order], weights[order]
        rows = {unit: rows[unit] for unit in list(rows)[-4096:]}
    return Matches(a, b, shares)
