"""Findings about calls without matches: stretches with no counterpart in the other trace."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....analysis.join import plain
from ....kernels.comparison.findings import find_stretches, mark_above
from .evidence import Evidence, Finding

Ints = NDArray[np.int64]

#: Maximum number of stretches reported of each trace, the longest ones.
_MOST = 20


def stretches(evidence: Evidence) -> list[Finding]:
    """Return the longest stretches of neighbouring calls that have no match, nor any call below them.

    Stretches within the same call path, in the same functions, are one finding.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    list of Finding
    """
    found: list[Finding] = []
    for s in range(2):
        first, last = unmatched_runs(evidence, s)
        if not len(first):
            continue
        calls, of_call = evidence.comparison.traces[s].calls, evidence.paths.of_call[s]
        lasted = calls.end[last] - calls.start[first]
        held = last + calls.extent[last] - first
        key = of_call[first].astype(np.int64) * len(evidence.paths) + of_call[last]
        keys, group = np.unique(key, return_inverse=True)
        group = group.reshape(-1)
        time = np.bincount(group, lasted, len(keys)).astype(np.int64)
        below = np.bincount(group, held, len(keys)).astype(np.int64)
        before = np.concatenate(([0], np.cumsum(evidence.calm_own[s])))
        calm = np.bincount(group, before[last + calls.extent[last]] - before[first], len(keys))
        weight = np.maximum(calm / evidence.most_time, below / evidence.most_calls)
        # One call under two names has no match, because its name is all that there is: it is a new name.
        paths = evidence.paths
        renamed = (paths.function[0] != paths.function[1]) & (paths.calls > 0).all(axis=0)
        weight[renamed[keys // len(paths)] & renamed[keys % len(paths)]] = 0
        for g in np.argsort(-weight, kind="stable")[: min(_MOST, np.count_nonzero(weight))].tolist():
            runs = np.flatnonzero(group == g)
            share = evidence.share(float(calm[g]), float(below[g]))
            found.append(_finding(evidence, s, first[runs], last[runs], int(time[g]), int(below[g]), share))
    return found


def unmatched_runs(evidence: Evidence, trace: int) -> tuple[Ints, Ints]:
    """Return the outermost calls at both ends of each run of neighbours without any match.

    Parameters
    ----------
    evidence : Evidence
    trace : int
        0 for A, 1 for B.

    Returns
    -------
    (int64 (k,), int64 (k,))
        The first and the last call of each.
    """
    calls = evidence.comparison.traces[trace].calls
    matched = evidence.comparison.matched(trace).astype(np.uint8)
    mark_above(plain(calls.parent), matched)
    first, last = np.empty((2, len(calls)), np.int64)
    runs = find_stretches(plain(calls.extent), plain(calls.parent), plain(calls.thread), matched, first, last)
    return first[:runs].copy(), last[:runs].copy()


def _finding(
    evidence: Evidence, s: int, first: Ints, last: Ints, time: int, below: int, share: float
) -> Finding:
    calls, of_call = evidence.comparison.traces[s].calls, evidence.paths.of_call[s]
    longest = int(np.argmax(calls.end[last] - calls.start[first]))
    begin, end = int(first[longest]), int(last[longest])
    names = [evidence.label(int(of_call[call]), s) for call in (begin, end)]
    node = int(of_call[begin])

    def pair(value: int) -> tuple[int, int]:
        return (value, 0) if s == 0 else (0, value)

    hull = (int(calls.start[first].min()), int(calls.end[last].max()))
    return Finding(
        "unmatched",
        share,
        (names[0], "") if s == 0 else ("", names[0]),
        evidence.way(node),
        calls=pair(len(first)),
        time_ns=pair(time),
        below=pair(below),
        ranges=(hull, None) if s == 0 else (None, hull),
        examples=(begin, -1) if s == 0 else (-1, begin),
        details={
            "trace": "AB"[s],
            "first": names[0],
            "last": names[1],
            "longest_ns": int(calls.end[end] - calls.start[begin]),
            "longest_start_ns": int(calls.start[begin]),
            # One function that the other trace never calls: a plainer fact than that nothing matches.
            "new": names[0] == names[1]
            and _never(evidence, 1 - s, int(evidence.paths.function[1 - s, node])),
        },
        nodes=np.unique(of_call[np.concatenate([first, last])]).astype(np.int64),
    )


def _never(evidence: Evidence, trace: int, function: int) -> bool:
    return int(evidence.calls_of_function[trace, function]) == 0
