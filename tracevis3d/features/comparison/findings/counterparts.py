"""Each call of B with its counterpart in A, and how much longer it takes than expected from that."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....trace.model import Calls
from .evidence import FEW_CALLS, PER_STALL, Evidence

#: Minimum number of calls in both traces for which a path is judged by itself.
_ENOUGH = 3
#: Minimum number of stretches between the calls of a single call for which these are judged.
_ENOUGH_GAPS = 8

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """The calls of B that have a counterpart in A, in groups that are judged together.

    A group holds the calls of one path; calls of paths with fewer than three form one group for each
    function.

    Attributes
    ----------
    a, b : int64 (m,)
        Calls, the ones of a group next to each other.
    extra : float64 (m,)
        Nanoseconds of own time in B beyond what A's call and the pace let expect.
    first : int64 (k + 1,)
        Where each group begins.
    function : int64 (k,)
        Common id.
    low, high : float64 (k,)
        What is below, or above, is out of the ordinary: a call of A, or of B, was stalled.
    change : float64 (k,)
        Nanoseconds more in B, stalls left out.
    ratio : float64 (k,)
        Natural logarithm of how many times as long the median call takes, beyond the pace; 0 where
        there are too few calls to tell.
    """

    a: Ints
    b: Ints
    extra: Floats
    first: Ints
    function: Ints
    low: Floats
    high: Floats
    change: Floats
    ratio: Floats

    def __len__(self) -> int:
        return len(self.function)

    @property
    def of_pair(self) -> Ints:
        """The group of each pair of calls: int64 (m,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    @property
    def few(self) -> NDArray[np.bool_]:
        """Which groups have too few calls to know what is usual: bool (k,)."""
        return np.asarray(np.diff(self.first) < _ENOUGH)

    @property
    def usual(self) -> Floats:
        """``extra`` without outliers: float64 (m,)."""
        of = self.of_pair
        return np.asarray(np.clip(self.extra, self.low[of], self.high[of]))


def in_place(evidence: Evidence) -> tuple[Ints, Ints]:
    """Pair each call of B, on paths that both traces have, with a call of A on its path.

    In turn where both make equally many; else with the call of A of the same rank by own time.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    (int64 (m,), int64 (m,))
        Calls of A and of B, ordered by path.
    """
    paths = evidence.paths
    chosen = [np.flatnonzero((evidence.state < 2)[of]) for of in paths.of_call]
    node = [of[calls] for of, calls in zip(paths.of_call, chosen)]
    count = [np.bincount(of, minlength=len(paths)).astype(np.int64) for of in node]
    same = count[0] == count[1]
    ordered, first = [], []
    for calls, of, own, n in zip(chosen, node, evidence.self_times, count):
        # The calls are in order: a stable sort leaves those of equal keys so.
        ordered.append(calls[np.lexsort((np.where(same[of], 0, own[calls]), of))])
        first.append(np.cumsum(n) - n)
    of = paths.of_call[1][ordered[1]]
    rank = np.arange(len(of)) - first[1][of]
    place = (2 * rank + 1) * count[0][of] // (2 * count[1][of])
    return ordered[0][first[0][of] + place], ordered[1]


def groups(evidence: Evidence) -> Groups:
    """Group the calls that have counterparts, and judge each group.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    Groups
    """
    paths = evidence.paths
    a, b = in_place(evidence)
    node = paths.of_call[1][b].astype(np.int64)
    function = paths.function[0, node].astype(np.int64)
    fewest = np.minimum(*(np.bincount(of, minlength=len(paths)) for of in paths.of_call))
    key = np.where(fewest[node] >= _ENOUGH, len(evidence.comparison.identity) + node, function)
    order = np.lexsort((b, key))
    a, b, key, function = a[order], b[order], key[order], function[order]
    own = [times[calls].astype(np.float64) for times, calls in zip(evidence.self_times, (a, b))]
    extra = own[1] - evidence.pace * own[0]
    first = np.append(np.flatnonzero(np.diff(key, prepend=-1)), len(key))
    n = np.diff(first)
    of = np.repeat(np.arange(len(n)), n)
    begin = first[:-1]
    if evidence.exact:
        total = np.add.reduceat(extra, begin)
        before = np.add.reduceat(evidence.pace * own[0], begin)
        wide = np.full(len(n), np.inf)
        ratio = np.log(np.maximum(before + total, 1) / np.maximum(before, 1))
        return Groups(a, b, extra, first, function[begin], -wide, wide, total, ratio)
    by_extra = extra[np.lexsort((extra, of))]
    out = 1 + n // PER_STALL
    # Where A makes fewer calls, one that stalled is the counterpart of several.
    kinds, stands_for = _different(a, of, len(n))
    most = np.maximum.reduceat(stands_for, begin)
    out_a = np.minimum((1 + kinds // PER_STALL) * most, (n - 1) // 2)
    low, high = by_extra[begin + out_a], by_extra[begin + n - 1 - out]
    few = n < _ENOUGH
    low, high = np.where(few, 0.0, low), np.where(few, 0.0, high)
    usual = np.clip(extra, low[of], high[of])
    change = np.add.reduceat(usual, begin)
    # What calls save that A never made is not known: each of A's counts once.
    saved = np.add.reduceat(usual / stands_for, begin)
    change = np.where(change < 0, np.minimum(saved, 0.0), change)
    each = np.log(np.maximum(own[1], 1) / np.maximum(own[0], 1)) - math.log(evidence.pace)
    by_ratio = each[np.lexsort((each, of))]
    ratio = (by_ratio[begin + (n - 1) // 2] + by_ratio[begin + n // 2]) / 2
    # A median of few says little where a run varies more than the runs differ: but for outliers, all agree.
    some = n < FEW_CALLS
    agreed = np.where(ratio > 0, by_ratio[begin + out_a].clip(0), by_ratio[begin + n - 1 - out].clip(None, 0))
    ratio[some] = agreed[some]
    ratio[few] = 0.0
    found = Groups(a, b, extra, first, function[begin], low, high, change, ratio)
    return _with_gaps(evidence, found, np.flatnonzero(few))


def _different(calls: Ints, of: Ints, groups: int) -> tuple[Ints, Ints]:
    """Return how many different calls are in each group (groups,), and how often each is in its own (m,)."""
    order = np.lexsort((calls, of))
    again = np.zeros(len(calls), np.bool_)
    again[1:] = (np.diff(calls[order]) == 0) & (np.diff(of[order]) == 0)
    which = np.empty(len(calls), np.int64)
    which[order] = np.cumsum(~again)
    return (
        np.bincount(of[order][~again], minlength=groups).astype(np.int64),
        np.bincount(which).astype(np.int64)[which],
    )


def _with_gaps(evidence: Evidence, found: Groups, few: Ints) -> Groups:
    """Judge groups of one or two calls by the stretches between the calls that these make."""
    calls = [trace.calls for trace in evidence.comparison.traces]
    for group in few.tolist():
        pairs = range(int(found.first[group]), int(found.first[group + 1]))
        if abs(float(found.extra[pairs.start : pairs.stop].sum())) < evidence.least_time:
            continue
        gaps = [[own_stretches(c, int(side[i])) for i in pairs] for c, side in zip(calls, (found.a, found.b))]
        same = [(x, y) for x, y in zip(*gaps) if len(x) == len(y)]
        x, y = (np.concatenate([np.empty(0), *side]) for side in (zip(*same) if same else ((), ())))
        if len(x) < _ENOUGH_GAPS:
            continue
        out = 1 + len(x) // PER_STALL
        extra = np.sort(y - evidence.pace * x)
        usual = np.clip(extra, extra[out], extra[-1 - out])
        found.change[group] = usual.sum()
        each = np.log(np.maximum(y, 1) / np.maximum(x, 1))
        found.ratio[group] = float(np.median(each)) - math.log(evidence.pace)
        if usual.sum() > 0:
            found.high[group] = usual.sum() / len(pairs)
        else:
            found.low[group] = usual.sum() / len(pairs)
    return found


def own_stretches(calls: Calls, call: int) -> Floats:
    """Return how long a call runs itself before, between and after the calls that it makes.

    Parameters
    ----------
    calls : Calls
    call : int

    Returns
    -------
    float64 (k + 1,)
        Nanoseconds; k calls are made.
    """
    made = call + np.flatnonzero(calls.parent[call : call + int(calls.extent[call])] == call)
    begin = np.concatenate(([calls.start[call]], calls.end[made]))
    end = np.concatenate((calls.start[made], [calls.end[call]]))
    return np.asarray((end - begin).astype(np.float64))
