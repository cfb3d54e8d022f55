"""Findings about how long the same work takes: functions that got slower or faster, and the common pace."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .counterparts import Groups
from .evidence import LEAST, Evidence, Finding, rounded, weighted_median

#: A function's usual call has to differ from the pace by this many times the usual deviation of paths ...
_NOISES = 3.0
#: ... and at least by this factor.
LEAST_FACTOR = 1.15
#: Minimum number of paths to determine the pace of a stretch of the run.
_ENOUGH_PATHS = 5

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def extra_times(evidence: Evidence) -> Floats:
    """Return what each path's self time is beyond the pace, float64 (n,); 0 where only one trace has it."""
    paths = evidence.paths
    expected = evidence.pace * evidence.factor * paths.self_time[0]
    return np.asarray(np.where(evidence.state < 2, paths.self_time[1] - expected, 0.0))


def times(evidence: Evidence, judged: Groups) -> list[Finding]:
    """Return the functions whose usual call takes longer, or less long, than the pace lets expect.

    Calls are set against those in the same place. What is out of the ordinary in a single call counts as
    much as in the next one, so that a stall is no change; the median call has to differ, also from what
    else ran meanwhile.

    Parameters
    ----------
    evidence : Evidence
    judged : Groups

    Returns
    -------
    list of Finding
    """
    found = []
    for function, groups in changed(evidence, judged):
        found.append(_finding(evidence, judged, function, groups))
    return found


def changed(evidence: Evidence, judged: Groups, share: float = LEAST) -> list[tuple[int, Ints]]:
    """Return the functions that are slower or faster, with the groups of calls that show it.

    Parameters
    ----------
    evidence : Evidence
    judged : Groups
    share : float
        Of the longer run's time, that the change of a function takes at least.

    Returns
    -------
    list of (int, int64 (k,))
        Common ids in order; the group with the largest change first.
    """
    least = max(_NOISES * evidence.noise, math.log(LEAST_FACTOR))
    passes = (np.abs(judged.ratio) > least) & (judged.ratio * judged.change > 0)
    total = np.bincount(judged.function[passes], judged.change[passes], len(evidence.comparison.identity))
    found = []
    for function in np.flatnonzero(np.abs(total) >= share * evidence.most_time).tolist():
        groups = np.flatnonzero(
            passes & (judged.function == function) & (judged.change * total[function] > 0)
        )
        groups = groups[np.argsort(-rounded(judged.change[groups]), kind="stable")]
        ratio = float(judged.ratio[groups[0]])
        around = _pace_around(evidence, judged, function, groups)
        if math.copysign(1.0, ratio) * (ratio - around) > least:
            found.append((function, groups))
    return found


def _pace_around(evidence: Evidence, judged: Groups, function: int, groups: Ints) -> float:
    """Return the logarithm of how much longer other functions take in B while these calls run."""
    if evidence.exact:
        return 0.0
    calls = evidence.comparison.traces[1].calls
    mine = np.concatenate([judged.b[judged.first[g] : judged.first[g + 1]] for g in groups.tolist()])
    low, high = int(calls.start[mine].min()), int(calls.end[mine].max())
    nodes, ratio, weight = evidence.spread
    other = evidence.paths.function[0, nodes] != function
    other &= (evidence.hulls[1, 0, nodes] >= low) & (evidence.hulls[1, 1, nodes] <= high)
    if np.count_nonzero(other) < _ENOUGH_PATHS:
        return 0.0
    return weighted_median(ratio[other], weight[other]) - math.log(evidence.pace)


def nodes_of(evidence: Evidence, judged: Groups, groups: Ints) -> Ints:
    """Return the paths of the calls in some groups.

    Parameters
    ----------
    evidence : Evidence
    judged : Groups
    groups : int64 (k,)

    Returns
    -------
    int64 (n,)
        Those of the first group first.
    """
    parts = [judged.b[judged.first[g] : judged.first[g + 1]] for g in groups.tolist()]
    nodes = evidence.paths.of_call[1][np.concatenate(parts)].astype(np.int64)
    _, first = np.unique(nodes, return_index=True)
    return np.asarray(nodes[np.sort(first)])


def _finding(evidence: Evidence, judged: Groups, function: int, groups: Ints) -> Finding:
    paths = evidence.paths
    nodes = nodes_of(evidence, judged, groups)
    first = int(nodes[0])
    change = float(judged.change[groups].sum())
    parts = [slice(int(judged.first[g]), int(judged.first[g + 1])) for g in groups.tolist()]
    own = [
        np.concatenate([times[side[part]] for part in parts])
        for times, side in zip(evidence.self_times, (judged.a, judged.b))
    ]
    return Finding(
        "slower" if change > 0 else "faster",
        evidence.share(change, 0.0),
        (evidence.label(first, 0), evidence.label(first, 1)),
        evidence.way(first),
        certainty="certain" if len(own[1]) >= _ENOUGH_PATHS else "likely",
        **evidence.about(nodes),
        details={
            "change_ns": round(change),
            "pace": evidence.pace,
            "factor": float(evidence.factor[first]),
            "cause": evidence.labels[function],
            "cause_self_ns": [int(paths.self_time[s, nodes].sum()) for s in range(2)],
            "cause_share": 1.0,
            "median_ns": [float(np.median(side)) for side in own],
            "paths": len(nodes),
        },
    )


def pace(evidence: Evidence) -> list[Finding]:
    """Return one finding if everything takes longer, or shorter, by about the same factor."""
    factor = evidence.pace
    if max(factor, 1 / factor) < LEAST_FACTOR:
        return []
    known = evidence.state < 2
    before = float((evidence.factor * evidence.paths.self_time[0])[known].sum())
    now = float(evidence.paths.self_time[1][known].sum())
    roots = np.flatnonzero((evidence.paths.parent < 0) & (evidence.paths.calls > 0).all(axis=0))
    about = evidence.about(roots)
    about["calls"], about["time_ns"], about["below"] = (0, 0), (round(before), round(now)), (0, 0)
    return [
        Finding(
            "pace",
            evidence.share((factor - 1) * before, 0.0),
            ("", ""),
            **about,
            details={
                "factor": factor,
                "varies": math.expm1(evidence.noise),
                **({} if evidence.weights is None else {"kind": evidence.weights.kind}),
            },
        )
    ]
