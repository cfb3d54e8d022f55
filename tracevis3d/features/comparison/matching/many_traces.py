"""More than two traces: their similarities pair by pair, their order, and their clusters.

Nothing is compared call by call: a pair of traces is compared as :mod:`.match` does, by units (distinct sets
of functions, or classes of equal subtrees), and what the pair comes to is kept in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....analysis.measures import self_times
from ....errors import UsageError
from ....progress import Progress, part, silent
from ....trace.model import Trace
from ....trace.storage.cache import cached
from . import match
from .defaults import IDENTITY, MEASURE, TAU
from .identity import Identity, identify
from .similarity import Side

#: Part of the cache's key: raise it when what this module computes changes.
VERSION = 1
#: Kinds of similarity of whole traces, with descriptions.
CELLS = {
    "best": "each call's similarity with its most similar call of the other trace (0 without a match), the "
    "mean over the trace's time",
    "time": "share of the trace's time within calls that have a match in the other trace",
    "functions": "functions that both traces call, of those that either calls",
}
#: Units between two progress reports.
_UNITS_A_REPORT = 256
#: Maximum number of traces for which the best order is found.
_EXACT = 12
#: Clusters end where the mean similarity of two falls below this.
CUT = 0.5

Cells = Literal["best", "time", "functions"]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Merge(NamedTuple):
    """Two clusters that become one: the traces of both, and the mean similarity between them."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    similarity: float


@dataclass(frozen=True, eq=False)
class Similarities:
    """The similarities of whole traces.

    Attributes
    ----------
    best : float64 (n, n)
        Row i, column j: the mean, over the self time of trace i, of each call's similarity with its most
        similar call of trace j; calls without a match count 0. It is 1 if each call of i has a call in j
        with the same functions below it. Not symmetric.
    time : float64 (n, n)
        Share of the time of i's root calls within calls that have a match in j. Not symmetric. It is 1 as
        soon as the root calls match.
    functions : float64 (n, n)
        Jaccard similarity of the sets of functions that both traces call. Symmetric.
    identity : tuple of str (n (n - 1) / 2)
        Which identity each pair (i, j), i < j, was compared by, row by row: ``exact`` or ``name``.
    """

    best: Floats
    time: Floats
    functions: Floats
    identity: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.best)

    def cells(self, name: str) -> Floats:
        """Return the matrix called ``name``, a key of :data:`CELLS`.

        Parameters
        ----------
        name : str
            A key of :data:`CELLS`.

        Returns
        -------
        float64 (n, n)
            0 to 1, from the row's trace to the column's.

        Raises
        ------
        UsageError
            If there is none of that name.
        """
        if name not in CELLS:
            raise UsageError(f"there is no similarity {name!r} of traces: choose one of {', '.join(CELLS)}")
        found: Floats = {"best": self.best, "time": self.time, "functions": self.functions}[name]
        return found

    def mutual(self, name: str) -> Floats:
        """Return the mean of the matrix ``name`` and its transpose, the basis of order and clusters."""
        cells = self.cells(name)
        return np.asarray((cells + cells.T) / 2)


def similarities(
    traces: Sequence[Trace],
    *,
    tau: float | str | Fraction = TAU,
    identity: str = IDENTITY,
    measure: str = MEASURE,
    rewrite: Iterable[Sequence[str]] = (),
    fuzzy: float | None = None,
    cache: bool = True,
    progress: Progress = silent,
) -> Similarities:
    """Compare each trace with each other one.

    Parameters
    ----------
    traces : sequence of Trace
        Two or more.
    tau, identity, measure, rewrite, fuzzy
        Of :func:`.match.compare`. Functions are identified pair by pair, so ``auto`` may choose another
        identity for two versions of a program than for two runs of one.
    cache : bool
        Keep what each pair comes to, and use existing results.
    progress : Progress

    Returns
    -------
    Similarities

    Raises
    ------
    UsageError
        If a parameter is off, or there are fewer than two traces.
    InputError
        If two traces are too large to be compared.
    """
    rules = [tuple(rule) for rule in rewrite]
    match.check_settings(tau, identity, measure, rules)
    n = len(traces)
    if n < 2:
        raise UsageError("there is only one trace: give two or more")
    settings = match.Settings(match.threshold(tau), measure)
    tables = np.ones((3, n, n))
    kinds: list[str] = []
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    for done, (i, j) in enumerate(pairs):
        step = part(progress, done / len(pairs), (done + 1) / len(pairs))
        # In a fixed order, so that the cached result is found for either order.
        a, b = (i, j) if traces[i].source.hash <= traces[j].source.hash else (j, i)
        common = identify(traces[a], traces[b], identity, rewrite=rules, fuzzy=fuzzy)
        kinds.append(common.kind)
        found = _pair(traces[a], traces[b], common, settings, cache, step)
        tables[:, a, b], tables[:, b, a] = found[:, 0], found[:, 1]
    progress(1.0, "compared")
    return Similarities(tables[0], tables[1], tables[2], tuple(kinds))


def _pair(
    a: Trace, b: Trace, identity: Identity, settings: match.Settings, cache: bool, progress: Progress
) -> Floats:
    """Return ``best``, ``time`` and ``functions`` of two traces, both ways: float64 (3, 2)."""

    def make() -> Mapping[str, NDArray[Any]]:
        comparison = match.Comparison(
            a, b, identity, settings, cache=cache, progress=part(progress, 0.0, 0.6)
        )
        both = _functions_in_common(a, b, identity)
        best = mean_best(comparison, part(progress, 0.6, 1.0))
        return {"pair": np.array([*best, *comparison.matched_time, both, both])}

    if not cache or not a.source.hash or not b.source.hash:
        return make()["pair"].reshape(3, 2)
    key = repr(
        (
            [a.source.hash, b.source.hash],
            identity.a.tobytes(),
            identity.b.tobytes(),
            settings.measure,
            settings.tau,
            match.VERSION,
        )
    )
    return cached(f"pair-{VERSION}", key, make)["pair"].reshape(3, 2)


def mean_best(comparison: match.Comparison, progress: Progress = silent) -> tuple[float, float]:
    """Return for both traces the mean of the calls' best similarities, weighted with their self time.

    The best similarity of a call is that of its unit with the most similar unit of the other trace, 0 if
    that is not above τ. A trace whose calls take no time at all has them weigh alike.

    Parameters
    ----------
    comparison : Comparison
    progress : Progress

    Returns
    -------
    (float, float)
        0 to 1, of A and of B.
    """
    known, tau = comparison.similarity, comparison.settings.tau
    best_a, best_b = np.zeros(len(known.calls_a)), np.zeros(len(known.calls_b))
    for unit in range(len(best_a)):
        if not unit % _UNITS_A_REPORT:
            progress(unit / len(best_a), "finding the best matches")
        row = known.row(unit)
        share = np.where(row.above(tau), row.share(), 0.0)
        best_a[unit] = share.max(initial=0.0)
        np.maximum(best_b, share, out=best_b)
    a, b = comparison.sides
    return _mean(best_a, known.unit_a, a), _mean(best_b, known.unit_b, b)


def _mean(best: Floats, unit: NDArray[np.int32], side: Side) -> float:
    if not len(side.calls):
        return 0.0
    time = self_times(side.calls)
    weight = np.bincount(side.subtrees.of_call, weights=time, minlength=len(unit))
    if not weight.any():
        weight = side.subtrees.occurrences.astype(np.float64)
    return float(np.average(best[unit], weights=weight))


def _functions_in_common(a: Trace, b: Trace, identity: Identity) -> float:
    """Return the Jaccard similarity of what both traces call: of Γ of all their root calls together."""
    called = []
    for trace, ids in ((a, identity.a), (b, identity.b)):
        mine = np.zeros(len(identity), np.bool_)
        mine[ids[np.bincount(trace.calls.function, minlength=len(trace.functions)) > 0]] = True
        called.append(mine)
    either = int(np.count_nonzero(called[0] | called[1]))
    return int(np.count_nonzero(called[0] & called[1])) / either if either else 0.0


def best_order(similar: Floats) -> Ints:
    """Return the order in which the most similar are neighbours: int64 (n,).

    The sum of the similarities of neighbours is the greatest that any order has for up to 12 traces
    (dynamic programming over subsets: Held and Karp 1962); for more, none that is reached by turning a
    stretch around has a greater one. Of an order and its reverse the one whose first trace comes first.

    Parameters
    ----------
    similar : float64 (n, n)
        Symmetric.

    Returns
    -------
    int64 (n,)
    """
    n = len(similar)
    order = _best_path(similar) if n <= _EXACT else _turned(similar)
    return order if order[0] <= order[-1] else order[::-1].copy()


def _best_path(similar: Floats) -> Ints:
    n = len(similar)
    # best[s, k]: the greatest sum of a path through the subset s that ends in k.
    best = np.full((1 << n, n), -np.inf)
    before = np.zeros((1 << n, n), np.int64)
    best[1 << np.arange(n), np.arange(n)] = 0.0
    for subset in range(1 << n):
        inside = np.flatnonzero(subset >> np.arange(n) & 1)
        if len(inside) < 2:
            continue
        rest = subset ^ (1 << inside)
        sums = best[rest] + similar[inside]
        before[subset, inside] = sums.argmax(axis=1)
        best[subset, inside] = sums.max(axis=1)
    path, subset = [int(best[-1].argmax())], (1 << n) - 1
    while len(path) < n:
        last = path[-1]
        path.append(int(before[subset, last]))
        subset ^= 1 << last
    return np.array(path[::-1], np.int64)


def _turned(similar: Floats) -> Ints:
    n = len(similar)
    start = int(similar.sum(axis=1).argmin())
    path, left = [start], set(range(n)) - {start}
    while left:
        path.append(max(left, key=lambda k: (similar[path[-1], k], -k)))
        left.remove(path[-1])
    order = np.array(path, np.int64)
    better = True
    while better:
        better = False
        for i in range(n):
            for j in range(i + 1, n):
                gain = 0.0
                if i:
                    gain += similar[order[i - 1], order[j]] - similar[order[i - 1], order[i]]
                if j < n - 1:
                    gain += similar[order[i], order[j + 1]] - similar[order[j], order[j + 1]]
                if gain > 1e-12:
                    order[i : j + 1] = order[i : j + 1][::-1].copy()
                    better = True
    return order


def merges(similar: Floats) -> list[Merge]:
    """Join the two most similar clusters until one is left (average linkage); of equal ones the first.

    Parameters
    ----------
    similar : float64 (n, n)
        Symmetric.

    Returns
    -------
    list of Merge
        In the order in which they are made.
    """
    found: list[Merge] = []
    clusters: list[tuple[int, ...]] = [(i,) for i in range(len(similar))]
    while len(clusters) > 1:
        pairs = [(i, j) for i in range(len(clusters)) for j in range(i + 1, len(clusters))]
        means = [float(similar[np.ix_(clusters[i], clusters[j])].mean()) for i, j in pairs]
        top = int(np.argmax(means))
        i, j = pairs[top]
        found.append(Merge(clusters[i], clusters[j], means[top]))
        clusters[i] = tuple(sorted(clusters[i] + clusters[j]))
        del clusters[j]
    return found


def clusters(similar: Floats, cut: float = CUT) -> list[tuple[int, ...]]:
    """Return the clusters that :func:`merges` has made before the mean similarity falls below ``cut``.

    Parameters
    ----------
    similar : float64 (n, n)
        Symmetric.
    cut : float
        0 to 1.

    Returns
    -------
    list of tuple of int
    """
    found: list[tuple[int, ...]] = [(i,) for i in range(len(similar))]
    for merge in merges(similar):
        if merge.similarity < cut:
            break
        found = [c for c in found if c not in (merge.left, merge.right)]
        found.append(tuple(sorted(merge.left + merge.right)))
    return sorted(found)


def facts(
    traces: Sequence[Trace], found: Similarities, cells: str = "best", cut: float = CUT
) -> dict[str, Any]:
    """Return what ``tracevis3d similarity --json`` prints.

    Parameters
    ----------
    traces : sequence of Trace
        Those that were compared.
    found : Similarities
        What :func:`similarities` found.
    cells : str
        A key of :data:`CELLS`: what order and clusters go by.
    cut : float
        Clusters are at least so similar, 0 to 1.

    Returns
    -------
    dict
        ``traces`` : list of {"file", "calls", "functions", "span_ns"};
        ``best``, ``time``, ``functions`` : n lists of n numbers, see :class:`Similarities`;
        ``order`` : indices into ``traces``, neighbours being most similar;
        ``clusters`` : lists of indices; ``merges`` : list of {"left", "right", "similarity"};
        ``cells``, ``cut`` : what order and clusters go by;
        ``identity`` : list of {"a", "b", "kind"}.
    """
    similar = found.mutual(cells)
    pairs = [(i, j) for i in range(len(found)) for j in range(i + 1, len(found))]
    return {
        "traces": [
            {
                "file": trace.source.path,
                "calls": len(trace.calls),
                "functions": len(trace.functions),
                "span_ns": trace.span_ns,
            }
            for trace in traces
        ],
        "best": found.best.tolist(),
        "time": found.time.tolist(),
        "functions": found.functions.tolist(),
        "cells": cells,
        "order": best_order(similar).tolist(),
        "cut": cut,
        "clusters": [list(cluster) for cluster in clusters(similar, cut)],
        "merges": [
            {"left": list(m.left), "right": list(m.right), "similarity": m.similarity}
            for m in merges(similar)
        ],
        "identity": [{"a": i, "b": j, "kind": kind} for (i, j), kind in zip(pairs, found.identity)],
    }


def letter_of(k: int) -> str:
    """Return the short name of the trace in place ``k``: A to Z, then numbers from 27 on."""
    return chr(ord("A") + k) if k < 26 else str(k + 1)
