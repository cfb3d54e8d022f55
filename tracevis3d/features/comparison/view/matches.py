"""The matches that a comparison draws, and their groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....kernels.layout.bundle import longest_rise
from ....trace.model import Calls, Trace
from ....trace.profile import untimed_kind
from ..matching.match import Comparison

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Values of a parameter ``matches``.
MATCHES = {
    "best": "for each call the most similar one in the other trace; of those less than 0.1 behind it, one of "
    "the same function is preferred, the nearest in the order of calls",
    "all": "every match between calls that are drawn, the longest and most similar first",
}
#: Similarities this little below the best count as equal to it, so that loops are matched in step.
NEARLY = 0.1
#: Maximum number of listed matches.
MOST = 200_000
#: Pairs of calls that are examined together.
_CHUNK = 1 << 22
#: Rows of similarities that may be requested to know how well each call of B is matched anywhere.
_ROWS = 4096
#: A group with a larger share of the time is divided.
_LARGEST = 0.3
#: Groups that one is divided into at most; what lies in none of them stays in it.
_MOST_PARTS = 256


@dataclass(frozen=True, eq=False)
class Chosen:
    """Matches to draw, the most important first.

    Attributes
    ----------
    a, b : int64 (m,)
        Calls.
    similarity : float64 (m,)
    importance : float64 (m,)
        Similarity times the shorter duration, nanoseconds.
    left_out : int
        Matches between drawn calls that were not chosen.
    """

    a: Ints
    b: Ints
    similarity: Floats
    importance: Floats
    left_out: int

    def __len__(self) -> int:
        return len(self.a)

    def only(self, which: Flags | Ints) -> Chosen:
        """Return some of them."""
        return Chosen(
            self.a[which], self.b[which], self.similarity[which], self.importance[which], self.left_out
        )


def choose(like: Likeness, windows: tuple[tuple[int, int], ...], rule: str, both: bool = True) -> Chosen:
    """Choose matches between drawn calls.

    Parameters
    ----------
    like : Likeness
        Of the calls of A and B that are drawn.
    windows : two of (int, int)
        Nanoseconds: positions are relative to these.
    rule : str
        A key of :data:`MATCHES`.
    both : bool
        With the rule ``best``: that of each call of B, too, not of A's calls alone.

    Returns
    -------
    Chosen
        The most important first.
    """
    comparison = like.comparison
    if rule == "all":
        found = comparison.between(*like.calls, most=MOST)
        a, b, similarity = found.a, found.b, found.similarity
        total = like.count()
    else:
        a, b, similarity, total = _best(like, windows, both)
    lasted = [t.calls.end[c] - t.calls.start[c] for t, c in zip(comparison.traces, (a, b))]
    importance = similarity * np.minimum(*lasted)
    order = np.lexsort((b, a, -importance))[:MOST]
    return Chosen(a[order], b[order], similarity[order], importance[order], total - len(order))


@dataclass(frozen=True, eq=False)
class Likeness:
    """How similar the drawn calls of both traces are, each row of similarities requested once.

    Attributes
    ----------
    comparison : Comparison
    calls : int64 (n,), (m,)
        The calls of A and B that are drawn.
    best : float64 (n,), (m,)
        How similar the most similar call of the other trace is; 0 without a match. For B's calls all units of
        A are asked where these are no more than a few thousand, else those of the drawn calls.
    matches : float64 (units of A,), (units of B,)
        How many calls of the other trace those of each unit match; NaN where that was not asked.
    """

    comparison: Comparison
    calls: tuple[Ints, Ints]
    best: tuple[Floats, Floats]
    matches: tuple[Floats, Floats]
    _unit: tuple[Ints, Ints]
    _units: NDArray[np.int32]
    #: Of all units of A and B; NaN for those of A that were not asked.
    _bests: tuple[Floats, Floats]
    #: Similarities of these units of A with the units of B that are drawn; None where they are too many.
    _table: Floats | None

    def rows(self) -> Iterator[tuple[Ints, Floats]]:
        """Yield some places in ``calls[0]`` and the similarity, 0 if no match, with each of ``calls[1]``."""
        of_a, of_b = self._unit
        step = max(1, _CHUNK // max(len(of_b), 1))
        for low in range(0, len(of_a), step):
            which = np.arange(low, min(low + step, len(of_a)))
            if self._table is not None:
                yield which, self._table[np.ix_(of_a[which], of_b)]
            else:
                here, inverse = np.unique(of_a[which], return_inverse=True)
                units_b = np.unique(self.comparison.unit_of_b(self.calls[1]))
                found = np.stack([_row(self.comparison, u)[units_b] for u in self._units[here].tolist()])
                yield which, found[np.ix_(inverse.reshape(-1), of_b)]

    def unit_pairs(self) -> Ints:
        """Return the pairs of units of A and B that are drawn and match, the most similar :data:`MOST`.

        Returns
        -------
        int64 (k, 2)
        """
        units_b = np.unique(self.comparison.unit_of_b(self.calls[1])).astype(np.int64)
        found, share = [np.empty((0, 2), np.int64)], [np.empty(0)]
        for i, unit in enumerate(self._units.tolist()):
            row = self._table[i] if self._table is not None else _row(self.comparison, unit)[units_b]
            which = np.flatnonzero(row)
            found.append(np.stack([np.full(len(which), unit), units_b[which]], axis=1))
            share.append(row[which])
        pair, alike = np.concatenate(found), np.concatenate(share)
        return pair if len(pair) <= MOST else pair[np.argsort(-alike, kind="stable")[:MOST]]

    def best_of(self, trace: int, calls: Ints) -> Floats:
        """Return how similar the most similar call of the other trace is to others than the drawn calls, too.

        Units of A that were not asked yet are asked; see :attr:`best`.

        Parameters
        ----------
        trace : int
            0 for A, 1 for B: that of ``calls``.
        calls : int64 (n,)
            Their indices.

        Returns
        -------
        float64 (n,)
            0 where none is above τ.
        """
        best_a, best_b = self._bests
        if trace == 1:
            return np.asarray(best_b[self.comparison.unit_of_b(calls)])
        unit = self.comparison.unit_of_a(calls)
        for u in np.unique(unit[np.isnan(best_a[unit])]).tolist():
            best_a[u] = _row(self.comparison, u).max(initial=0.0)
        return np.asarray(best_a[unit])

    def count(self) -> int:
        """Return how many matches there are between the drawn calls."""
        return sum(int(np.count_nonzero(share)) for _, share in self.rows())


def likeness(comparison: Comparison, calls: tuple[Ints, Ints], anywhere: bool = True) -> Likeness:
    """Return how similar the calls ``calls[0]`` of A and ``calls[1]`` of B are, computed when requested.

    With ``anywhere`` false, what is best for B's calls is searched for among the drawn calls of A only.

    Parameters
    ----------
    comparison : Comparison
    calls : (int64 (n,), int64 (m,))
        Those of A and of B.
    anywhere : bool
        Whether all calls of A are asked, and not the drawn ones alone.

    Returns
    -------
    Likeness
    """
    units, of_a = np.unique(comparison.unit_of_a(calls[0]), return_inverse=True)
    units_b, of_b = np.unique(comparison.unit_of_b(calls[1]), return_inverse=True)
    known = comparison.similarity
    asked = np.arange(len(known.calls_a)) if anywhere and len(known.calls_a) <= _ROWS else units
    best_a, best_b = np.full(len(known.calls_a), np.nan), np.zeros(len(known.calls_b))
    place = np.full(len(known.calls_a), -1, np.int64)
    place[units] = np.arange(len(units))
    table = np.empty((len(units), len(units_b))) if len(units) * len(units_b) <= 4 * _CHUNK else None
    many_a, many_b = np.full(len(known.calls_a), np.nan), np.zeros(len(known.calls_b))
    for unit in asked.tolist():
        share = _row(comparison, unit)
        met = share > 0
        many_a[unit] = known.calls_b[met].sum()
        many_b[met] += known.calls_a[unit]
        best_a[unit] = share.max(initial=0.0)
        np.maximum(best_b, share, out=best_b)
        if table is not None and place[unit] >= 0:
            table[place[unit]] = share[units_b]
    of = of_a.reshape(-1).astype(np.int64), of_b.reshape(-1).astype(np.int64)
    best = best_a[units][of[0]], best_b[units_b][of[1]]
    if len(asked) < len(known.calls_a):
        many_b[:] = np.nan
    return Likeness(comparison, calls, best, (many_a, many_b), of, units, (best_a, best_b), table)


def _row(comparison: Comparison, unit: int) -> Floats:
    """Return the similarity of a unit of A with every unit of B, 0 where that is not a match."""
    row = comparison.similarity.row(unit)
    return np.where(row.above(comparison.settings.tau), row.share(), 0.0)


def _best(like: Likeness, windows: tuple[tuple[int, int], ...], both: bool) -> tuple[Ints, Ints, Floats, int]:
    """Return each call's best match, of A and of B, each pair once; and how many matches there are."""
    comparison, calls = like.comparison, like.calls
    n, m = len(calls[0]), len(calls[1])
    if not n or not m:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), 0
    identity = (comparison.identity.a, comparison.identity.b)
    function, at = [], []
    for s, (trace, ids) in enumerate(zip(comparison.traces, calls)):
        function.append(identity[s][trace.calls.function[ids]])
        at.append(places(trace, ids, windows[s]))
    best_a, best_b = np.zeros(n), np.zeros(m)
    total = 0
    for which, share in like.rows():
        total += int(np.count_nonzero(share))
        best_a[which] = share.max(axis=1)
        np.maximum(best_b, share.max(axis=0), out=best_b)
    of_a, score_a = np.zeros(n, np.int64), np.zeros(n)
    of_b, score_b, rank_b = np.zeros(m, np.int64), np.zeros(m), np.full(m, -np.inf)
    column = np.arange(m)
    for which, share in like.rows():
        # The same function first, then the nearer one.
        rank = (function[0][which][:, None] == function[1][None]).astype(np.float64)
        for left, right in zip(*at):
            rank -= 0.25 * np.minimum(np.abs(left[which][:, None] - right[None]), 1.0)
        open_ = (share > 0) & (share > best_a[which][:, None] - NEARLY)
        place = np.where(open_, rank, -np.inf).argmax(axis=1)
        of_a[which], score_a[which] = place, share[np.arange(len(which)), place]
        # Results for B from earlier rows are kept unless a later row is better.
        open_ = (share > 0) & (share > best_b - NEARLY)
        rank = np.where(open_, rank, -np.inf)
        row = rank.argmax(axis=0)
        better = rank[row, column] > rank_b
        of_b[better] = which[row[better]]
        score_b[better], rank_b[better] = share[row, column][better], rank[row, column][better]
    if not both:
        score_b[:] = 0.0
    pairs = np.concatenate(
        [
            np.flatnonzero(score_a > 0) * m + of_a[score_a > 0],
            of_b[score_b > 0] * m + np.flatnonzero(score_b > 0),
        ]
    )
    score = np.concatenate([score_a[score_a > 0], score_b[score_b > 0]])
    pairs, first = np.unique(pairs, return_index=True)
    return calls[0][pairs // m], calls[1][pairs % m], score[first], total


def places(trace: Trace, ids: Ints, window: tuple[int, int]) -> tuple[Floats, Floats]:
    """Return where the stacks of calls begin and end in the order of their thread's calls: 0 to 1.

    The order is that of all calls that start in the window. Unlike time it is the same in two runs of which
    one takes longer here and there.

    Parameters
    ----------
    trace : Trace
    ids : int64 (n,)
        Calls.
    window : (int, int)
        Nanoseconds.

    Returns
    -------
    (float64 (n,), float64 (n,))
    """
    calls, threads = trace.calls, trace.threads
    thread = calls.thread[ids]
    low, span = np.zeros(len(threads), np.int64), np.ones(len(threads), np.int64)
    for t in np.unique(thread).tolist():
        begin, count = int(threads.first[t]), int(threads.count[t])
        # Within a thread calls are in the order of their starts.
        start = calls.start[begin : begin + count]
        low[t] = begin + np.searchsorted(start, window[0], "left")
        span[t] = max(begin + int(np.searchsorted(start, window[1], "right")) - low[t], 1)
    first, stop = (ids - low[thread]) / span[thread], (ids + calls.extent[ids] - low[thread]) / span[thread]
    return np.clip(first, 0.0, 1.0), np.clip(stop, 0.0, 1.0)


def unmatched_calls(comparison: Comparison, trace: int) -> Ints:
    """Return the outermost calls that have no match and none below them.

    Parameters
    ----------
    comparison : Comparison
    trace : int
        0 for A, 1 for B.

    Returns
    -------
    int64 (k,)
        Ascending.
    """
    calls, matched = comparison.traces[trace].calls, comparison.matched(trace)
    before = np.concatenate([[0], np.cumsum(matched)])
    here = np.arange(len(calls))
    alone = before[here + calls.extent] == before[here]
    return np.flatnonzero(alone & ~(alone[np.maximum(calls.parent, 0)] & (calls.parent >= 0)))


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of the chosen matches, for colours and for control trees.

    Attributes
    ----------
    of : int64 (m,)
        Group of each match; the groups that take most time come first.
    a, b : int64 (groups,)
        Each group's root R(G) = (G_A, G_B).
    weight : float64 (groups,)
        The shorter duration of the two roots.
    trunk : int
        Groups from this number on hold matches that enclose others that are groups of their own.
    """

    of: Ints
    a: Ints
    b: Ints
    weight: Floats
    trunk: int

    def __len__(self) -> int:
        return len(self.a)


def group(comparison: Comparison, chosen: Chosen, divide: bool) -> Grouping:
    """Group the chosen matches as TraceDiff does (section III), the nearest enclosing group for each.

    Programs whose main function matches have one group around everything. With ``divide`` a group of more
    than three tenths of the time is replaced by the groups of the matches below its root, until none is.

    Parameters
    ----------
    comparison : Comparison
    chosen : Chosen
        The matches.
    divide : bool
        Whether groups that hold nearly all are divided.

    Returns
    -------
    Grouping
    """
    calls = (comparison.traces[0].calls, comparison.traces[1].calls)
    m = len(chosen)
    roots = comparison.roots_of(chosen.a, chosen.b)
    alone = roots.pair < 0  # in a group that was not kept: on its own
    pairs = np.stack([np.where(alone, chosen.a, roots.a), np.where(alone, chosen.b, roots.b)], axis=1)
    root, of = np.unique(pairs, axis=0, return_inverse=True) if m else (pairs, np.empty(0, np.int64))
    found: list[tuple[int, int]] = [(int(a), int(b)) for a, b in root]
    of = of.reshape(-1).astype(np.int64)
    above: set[int] = set()
    if divide and m:
        span = _weight(calls, found).max()
        queue = [g for g, w in enumerate(_weight(calls, found)) if w > _LARGEST * span]
        steps = 0
        while queue and steps < 400:
            steps += 1
            g = queue.pop()
            parts, part_of = _divide(calls, chosen, np.flatnonzero(of == g), found[g])
            if not parts:
                continue
            above.add(g)
            inside = np.flatnonzero(of == g)
            base = len(found)
            found += parts
            of[inside[part_of >= 0]] = base + part_of[part_of >= 0]
            weight = _weight(calls, parts)
            queue += [base + i for i, w in enumerate(weight) if w > _LARGEST * span]
    used = np.zeros(len(found), np.bool_)
    used[of] = True
    weight = _weight(calls, found)
    is_above = np.zeros(len(found), np.bool_)
    is_above[list(above)] = True
    order = np.lexsort((-weight, is_above))
    order = order[used[order]]
    number = np.full(len(found), -1, np.int64)
    number[order] = np.arange(len(order))
    table = np.array(found, np.int64).reshape(-1, 2)[order]
    return Grouping(
        number[of], table[:, 0], table[:, 1], weight[order], int(np.count_nonzero(used & ~is_above))
    )


def _weight(calls: tuple[Calls, Calls], roots: list[tuple[int, int]]) -> Floats:
    table = np.array(roots, np.int64).reshape(-1, 2)
    lasted = [c.end[t] - c.start[t] for c, t in zip(calls, table.T)]
    return np.asarray(np.minimum(*lasted), np.float64)


def _divide(
    calls: tuple[Calls, Calls], chosen: Chosen, inside: Ints, root: tuple[int, int]
) -> tuple[list[tuple[int, int]], Ints]:
    """Return the outermost matches strictly below ``root``, and which of them each of ``inside`` lies in.

    Those at the root itself, and beside all outermost ones, lie in none: -1.
    """
    a, b = chosen.a[inside], chosen.b[inside]
    part = np.full(len(inside), -1, np.int64)
    below = (a != root[0]) & (b != root[1])
    parts: list[tuple[int, int]] = []
    extent = [c.extent for c in calls]
    depth = [c.depth for c in calls]
    order = np.flatnonzero(below)
    # Callers before callees.
    order = order[np.lexsort((-chosen.similarity[inside[order]], depth[0][a[order]] + depth[1][b[order]]))]
    open_ = np.ones(len(order), np.bool_)
    while open_.any() and len(parts) < _MOST_PARTS:
        i = order[int(np.argmax(open_))]
        u, v = int(a[i]), int(b[i])
        here = (a >= u) & (a < u + extent[0][u]) & (b >= v) & (b < v + extent[1][v]) & below & (part < 0)
        part[here] = len(parts)
        parts.append((u, v))
        open_ &= ~here[order]
    return parts, part


def displacement(comparison: Comparison, chosen: Chosen) -> Floats:
    """Return how far each match has moved in the order of calls, 0 for those that keep it: float64 (m,).

    Matches are ranked by the start of their call in A and by that in B. Those on a longest sequence that
    rises in both keep the order; the others have moved by the difference of their ranks, as a share of all.

    Parameters
    ----------
    comparison : Comparison
    chosen : Chosen
        The matches.

    Returns
    -------
    float64 (m,)
    """
    m = len(chosen)
    if not m or any(map(untimed_kind, comparison.traces)):
        # Call paths of a profile without times lie side by side, in no order of their own.
        return np.zeros(m)
    start = [t.calls.start[c] for t, c in zip(comparison.traces, (chosen.a, chosen.b))]
    rank = []
    for s in start:
        _, inverse = np.unique(s, return_inverse=True)
        rank.append(inverse.reshape(-1).astype(np.int64))
    order = np.lexsort((rank[1], rank[0]))
    on = np.empty(m, np.uint8)
    longest_rise(np.ascontiguousarray(rank[1][order]), np.empty(m, np.int64), np.empty(m, np.int64), on)
    moved = np.empty(m, np.bool_)
    moved[order] = on == 0
    share = np.abs(rank[0] / max(rank[0].max(), 1) - rank[1] / max(rank[1].max(), 1))
    return np.where(moved, share, 0.0)
