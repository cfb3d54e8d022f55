"""Phases of a run: stretches in which the same elements interact, found automatically; and their repeats.

The calls are cut into windows of equal length; each is the distribution of its pairs of elements. The cuts
between phases are those that leave least variation within phases, every cut paying its price: the optimal
partition (Jackson et al. 2005) of square roots of shares, under which distance is Hellinger's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.interactions.phases import pick_stretches, slide_similarity
from ...trace.model import Trace
from .hierarchy import Hierarchy
from .interactions import Interactions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Windows at most, calls of a window at least, and pairs that are distinguished, at most.
_WINDOWS, _CALLS, _PAIRS = 600, 24, 4096
#: A cut has to explain this share of the variation in the whole run.
LEAST = 0.008
#: Phases are of one kind if the overlap of their distributions (Bhattacharyya) is at least this.
ALIKE = 0.85


@dataclass(frozen=True, eq=False)
class Phases:
    """The phases of a stretch of interactions, one after another.

    Attributes
    ----------
    edge : int64 (phases + 1,)
        Places among the interactions: phase i is the slice ``[edge[i], edge[i + 1])``.
    kind : int32 (phases,)
        Phases of one kind do the same; kinds are numbered in order of appearance.
    explained : float
        Share of the variation that lies between phases, 0 to 1.
    """

    edge: Ints
    kind: NDArray[np.int32]
    explained: float

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def kinds(self) -> int:
        """The number of kinds of phases."""
        return int(self.kind.max(initial=-1)) + 1


def find_phases(found: Interactions, low: int = 0, high: int | None = None, least: float = LEAST) -> Phases:
    """Find the phases among the interactions ``low`` up to ``high``.

    Linear in the calls: the number of windows is bounded.

    Parameters
    ----------
    found : Interactions
    low, high : int
    least : float
        Share of the variation that each cut has to explain; smaller finds more phases.

    Returns
    -------
    Phases
    """
    high = len(found) if high is None else high
    n = high - low
    features = window_features(found, low, high)
    if features is None:
        return Phases(
            np.array([low, high] if n > 0 else [low], np.int64), np.zeros(int(n > 0), np.int32), 0.0
        )
    edge, feature = features
    windows = len(feature)
    pair, pairs = _distinguished(found, low, high)
    cuts, explained = _optimal_cuts(feature, least, _chance((feature**2).mean(axis=0), n // windows, windows))
    exact = _refined(pair, edge, cuts, pairs)
    kind = _kinds(np.sqrt(_distributions(pair, exact, pairs)))
    return joined(Phases(exact + low, kind, explained))


def joined(phases: Phases) -> Phases:
    """Return the phases with neighbours of one kind as one: between them nothing changes."""
    kept = np.concatenate([[True], phases.kind[1:] != phases.kind[:-1]])[: len(phases)]
    _, kind = np.unique(phases.kind[kept], return_inverse=True)
    edge = np.concatenate([phases.edge[:-1][kept], phases.edge[-1:]])
    return Phases(edge, kind.astype(np.int32), phases.explained)


def window_features(found: Interactions, low: int, high: int) -> tuple[Ints, Floats] | None:
    """Cut the interactions ``low`` up to ``high`` into windows of equal length.

    Parameters
    ----------
    found : Interactions
    low, high : int
        The slice ``[low, high)`` of the calls.

    Returns
    -------
    (int64 (windows + 1,), float64 (windows, k)) or None
        Edges, counted from ``low``, and of each window the square roots of its pairs' shares, a vector of
        length 1; None if there are too few calls.
    """
    n = high - low
    windows = min(_WINDOWS, n // _CALLS)
    if windows < 2:
        return None
    edge = np.linspace(0, n, windows + 1).astype(np.int64)
    pair, pairs = _distinguished(found, low, high)
    return edge, np.sqrt(_distributions(pair, edge, pairs))


def _distinguished(found: Interactions, low: int, high: int) -> tuple[NDArray[np.int32], int]:
    """Return the pairs of some interactions, and how many there are: of very many some share a number."""
    pair = found.pair[low:high]
    if found.pairs > _PAIRS:
        pair = (pair.astype(np.int64) * 2654435761 % _PAIRS).astype(np.int32)
    return pair, min(found.pairs, _PAIRS)


def _distributions(pair: NDArray[np.int32], edge: Ints, pairs: int) -> Floats:
    """Return the share of each pair among the calls of each stretch, float64 (stretches, pairs)."""
    stretch = np.repeat(np.arange(len(edge) - 1), np.diff(edge))
    counts = np.bincount(stretch * pairs + pair, minlength=(len(edge) - 1) * pairs).reshape(-1, pairs)
    return np.asarray(counts / np.maximum(np.diff(edge), 1)[:, None])


def _chance(share: Floats, calls: int, windows: int) -> float:
    """Return the variation that a cut explains at most by chance, where nothing changes.

    A share's square root varies by 1 / 4n, or by the share where that is less: the best of all cuts then
    explains about the upper tail of a chi-squared distribution (the bound of Laurent and Massart).
    """
    freedom = float(np.minimum(1.0, 4 * calls * share).sum())
    tail = 2 * math.log(windows)
    return (freedom + 2 * math.sqrt(freedom * tail) + 2 * tail) / (4 * calls)


def _optimal_cuts(feature: Floats, least: float, chance: float) -> tuple[Ints, float]:
    """Return the edges, in windows, of the partition of least cost, and the share of variation explained.

    A cut has to explain the share ``least`` of all variation, and more than ``chance``.
    """
    n = len(feature)
    likeness = feature @ feature.T
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = likeness.cumsum(axis=0).cumsum(axis=1)
    own = np.concatenate([[0.0], np.cumsum(np.diagonal(likeness))])
    ends = np.diagonal(sums)

    def cost(begin: Ints, end: int) -> Floats:
        inside = ends[end] + ends[begin] - 2 * sums[begin, end]
        return np.asarray(np.maximum(own[end] - own[begin] - inside / (end - begin), 0.0))

    whole = float(cost(np.zeros(1, np.int64), n)[0])
    price = max(least * whole, chance)
    best, come = np.zeros(n + 1), np.zeros(n + 1, np.int64)
    best[0] = -price
    for end in range(1, n + 1):
        begins = np.arange(end)
        total = best[:end] + cost(begins, end) + price
        come[end] = int(np.argmin(total))
        best[end] = total[come[end]]
    cuts = [n]
    while cuts[-1] > 0:
        cuts.append(int(come[cuts[-1]]))
    left = best[n] - price * (len(cuts) - 2)
    return np.array(cuts[::-1], np.int64), 1.0 - left / whole if whole > 1e-12 else 0.0


def _refined(pair: NDArray[np.int32], edge: Ints, cuts: Ints, pairs: int) -> Ints:
    """Move each cut to the call where one phase's distribution begins to fit better than the other's."""
    out = edge[cuts].copy()
    shares = _distributions(pair, edge[cuts], pairs)
    smooth = np.log(shares + 1e-4)
    for i in range(1, len(cuts) - 1):
        low, high = edge[max(cuts[i] - 1, cuts[i - 1])], edge[min(cuts[i] + 1, cuts[i + 1])]
        gain = (smooth[i - 1] - smooth[i])[pair[low:high]]
        at = low + int(np.argmax(np.concatenate([[0.0], np.cumsum(gain)])))
        out[i] = max(at, out[i - 1] + 1)
    out[-1] = len(pair)
    # A window across two phases may have become a phase of its own: its rest is none.
    least = (len(pair) // (len(edge) - 1)) // 2
    kept = [0]
    for i in range(1, len(out) - 1):
        if out[i] - out[kept[-1]] >= least and out[-1] - out[i] >= least:
            kept.append(i)
    return out[[*kept, len(out) - 1]]


def _kinds(feature: Floats) -> NDArray[np.int32]:
    """Number what each phase does: the first earlier kind that it overlaps enough, else a new one."""
    kind = np.empty(len(feature), np.int32)
    leaders: list[int] = []
    for i in range(len(feature)):
        if leaders:
            overlap = feature[leaders] @ feature[i]
            best = int(np.argmax(overlap))
            if overlap[best] >= ALIKE:
                kind[i] = best
                continue
        kind[i] = len(leaders)
        leaders.append(i)
    return kind


def shared_kinds(parts: Sequence[tuple[Interactions, Phases]]) -> list[NDArray[np.int32]]:
    """Number what the phases of several traces do together, int32 (phases,) each.

    The traces' elements are numbered alike. Of phases that do the same the first has the lowest number.

    Parameters
    ----------
    parts : sequence of (Interactions, Phases)
        Of each trace its interactions and its phases.

    Returns
    -------
    list of int32 (phases,)
    """
    if not parts:
        return []
    codes = [f.caller.astype(np.int64) * f.elements + f.callee for f, _ in parts]
    known = np.unique(np.concatenate(codes))
    rows = []
    for (found, phases), code in zip(parts, codes, strict=True):
        column = np.searchsorted(known, code)
        share = np.zeros((len(phases), len(known)))
        for i in range(len(phases)):
            low, high = int(phases.edge[i]), int(phases.edge[i + 1])
            np.add.at(share[i], column, found.counts(low, high) / (high - low))
        rows.append(np.sqrt(share))
    return np.split(_kinds(np.concatenate(rows)), np.cumsum([len(row) for row in rows])[:-1])


@dataclass(frozen=True)
class Run:
    """Phases that recur in the same order: ``period`` of them, ``times`` times, from ``first`` on.

    Attributes
    ----------
    first : int
        The first phase.
    period : int
        How many phases recur together.
    times : int
        How often, 2 or more.
    """

    first: int
    period: int
    times: int


def phase_runs(kind: NDArray[np.int32]) -> list[Run]:
    """Find where kinds of phases follow each other in the same order, several times in a row.

    Of all runs that begin at a phase the longest counts, of equally long ones that of the shortest period.

    Parameters
    ----------
    kind : int32 (phases,)
        What each phase does, as a number.

    Returns
    -------
    list of Run
    """
    n, runs, at = len(kind), [], 0
    while at < n:
        best = Run(at, 1, 1)
        for period in range(1, (n - at) // 2 + 1):
            same = kind[at + period :] == kind[at : n - period]
            length = int(np.argmin(same)) if not same.all() else len(same)
            times = length // period + 1
            if times > 1 and times * period > best.times * best.period:
                best = Run(at, period, times)
        if best.times > 1:
            runs.append(best)
        at += best.times * best.period
    return runs


def letter(kind: int) -> str:
    """Return the letters a kind of phase is called by: A to Z, AA, AB, ..."""
    text = ""
    kind += 1
    while kind > 0:
        kind, rest = divmod(kind - 1, 26)
        text = chr(65 + rest) + text
    return text


def enclosing_call(trace: Trace, found: Interactions, low: int, high: int) -> int:
    """Return the innermost call that the interactions ``low`` up to ``high`` lie in; -1 if none does.

    Parameters
    ----------
    trace : Trace
    found : Interactions
        Of the trace.
    low, high : int
        The slice ``[low, high)`` of the calls.

    Returns
    -------
    int
    """
    calls = found.call[low:high]
    if not len(calls):
        return -1
    parent, extent = trace.calls.parent, trace.calls.extent
    first, last = int(calls.min()), int(calls.max())
    at = int(parent[first])
    while at >= 0 and at + int(extent[at]) <= last:
        at = int(parent[at])
    return at


def characteristic(found: Interactions, counts: Ints, overall: Ints, most: int = 3) -> list[int]:
    """Return the pairs that characterize a stretch: frequent in it, and more than in the whole run.

    Ranked by their part of the Kullback-Leibler divergence of the stretch from the whole.

    Parameters
    ----------
    found : Interactions
    counts : int64 (pairs,)
        Of the stretch.
    overall : int64 (pairs,)
        Of the whole run.
    most : int
        How many pairs.

    Returns
    -------
    list of int
        The most characteristic first.
    """
    here = counts / max(int(counts.sum()), 1)
    usual = overall / max(int(overall.sum()), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(here > 0, here * np.log(here / np.maximum(usual, 1e-12)), 0.0)
    score = part + 0.1 * here
    order = np.argsort(-score, kind="stable")[:most]
    return [int(p) for p in order if counts[p] > 0]


@dataclass(frozen=True, eq=False)
class Repeats:
    """The repeats of a stretch of calls.

    Attributes
    ----------
    low, high : int
        The stretch itself, among the interactions.
    first : int64 (k,)
        Where each repeat begins; as long as the stretch, not overlapping it nor each other.
    similar : float32 (k,)
        Share of the calls that both have, whatever their order; 1: the same calls.
    exact : bool (k,)
        The same calls in the same order.
    """

    low: int
    high: int
    first: Ints
    similar: NDArray[np.float32]
    exact: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.first)


def find_repeats(found: Interactions, low: int, high: int, least: float) -> Repeats:
    """Find the (near) repeats of the interactions ``low`` up to ``high``; linear in the calls.

    Parameters
    ----------
    found : Interactions
    low, high : int
    least : float
        Share of the calls that a repeat has to have in common with the stretch.

    Returns
    -------
    Repeats
    """
    length = high - low
    pair = np.ascontiguousarray(found.pair)
    if length < 1 or length > len(pair):
        return Repeats(low, high, np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0, np.bool_))
    wanted = np.bincount(pair[low:high], minlength=found.pairs).astype(np.int32)
    similar = np.empty(len(pair) - length + 1, np.float32)
    slide_similarity(pair, wanted, np.zeros(found.pairs, np.int32), length, similar)
    value = similar.copy()
    value[max(low - length + 1, 0) : high] = 0.0  # the stretch and what overlaps it
    place = np.empty(len(value) // length + 2, np.int64)
    k = pick_stretches(pair, low, value, np.float32(max(least, 1e-6)), length, length // 2, place)
    first = place[:k].copy()
    exact = np.array([np.array_equal(pair[i : i + length], pair[low:high]) for i in first.tolist()], np.bool_)
    return Repeats(low, high, first, similar[first], exact)


def describe(hierarchy: Hierarchy, found: Interactions, pair: int) -> str:
    """Write a pair of elements for people.

    Parameters
    ----------
    hierarchy : Hierarchy
    found : Interactions
        The calls between its elements.
    pair : int
        Which one.

    Returns
    -------
    str
    """
    a, b = (int(hierarchy.node[e]) for e in (found.caller[pair], found.callee[pair]))
    names = hierarchy.distinct
    if a == b:
        return names[a]
    if hierarchy.by == "threads" and hierarchy.parent[a] == hierarchy.parent[b]:
        # The thread would be named twice.
        return f"{hierarchy.name[a]} → {names[b]}"
    return f"{names[a]} → {names[b]}"
