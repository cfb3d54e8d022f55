"""Findings about the machine, not the program: single calls that stalled, and stretches that were slow.

They are reported as such, and after all findings about the program. A call that stalled once may also be one
that had more to do; who reads the finding decides.
"""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from ....kernels.comparison.findings import add_up
from .counterparts import Groups
from .durations import LEAST_FACTOR
from .evidence import Evidence, Finding, Range, rounded, weighted_median

#: A stall takes at least this share of the longer run.
LEAST_STALL = 0.02
#: A slow start takes at least this share of it, unless modules are compiled in one run alone.
_LEAST_START = 0.05
#: Minimum number of paths for which a stretch, and not one function, is slow.
_ENOUGH_PATHS = 5
#: Maximum number of reported slow stretches, the largest first.
_MOST = 2
#: Functions that find, read and compile a module that is imported.
_IMPORT = re.compile(r"<frozen importlib|[\\/]importlib[\\/]_bootstrap|<frozen zipimport")
#: The code of a module; and of these functions, the one that runs the module, and the one that compiles it.
_MODULE, _IMPORTLIB = re.compile(r"^<module>"), re.compile(r"[\\/]importlib[\\/]")
_LOADED, _COMPILED = re.compile(r"\bexec_module\b"), re.compile(r"\bsource_to_code\b")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def stalls(evidence: Evidence, judged: Groups, start: list[Finding]) -> list[Finding]:
    """Return the calls that took long once: one finding for each trace.

    Parameters
    ----------
    evidence : Evidence
    judged : Groups
    start : list of Finding
        What is reported of the import of modules is not reported again.

    Returns
    -------
    list of Finding
    """
    if evidence.exact:
        return []
    reported = np.zeros(len(evidence.paths), np.bool_)
    for finding in start:
        reported[finding.nodes] = True
    reported = reported[evidence.paths.of_call[1][judged.b]]
    of = judged.of_pair
    over = [np.minimum(judged.low, 0.0)[of] - judged.extra, judged.extra - np.maximum(judged.high, 0.0)[of]]
    found = []
    for s, beyond in enumerate(over):
        which = np.flatnonzero((beyond >= LEAST_STALL * evidence.most_time) & ~reported)
        if len(which):
            calls = (judged.a, judged.b)[s]
            which = which[np.lexsort((calls[which], -rounded(beyond[which])))]
            # A call of A may be the counterpart of several.
            which = which[np.sort(np.unique(calls[which], return_index=True)[1])]
            found.append(_stall(evidence, judged, s, which, beyond[which]))
    return found


def _stall(evidence: Evidence, judged: Groups, s: int, which: Ints, beyond: Floats) -> Finding:
    sides = (judged.a[which], judged.b[which])
    calls, mine = evidence.comparison.traces[s].calls, sides[s]
    nodes = evidence.paths.of_call[s][mine].astype(np.int64)
    _, first = np.unique(nodes, return_index=True)
    own = [times[side] for times, side in zip(evidence.self_times, sides)]
    ranges: list[Range | None] = []
    for trace, side in zip(evidence.comparison.traces, sides):
        ranges.append((int(trace.calls.start[side].min()), int(trace.calls.end[side].max())))
    node = int(nodes[0])
    single = np.diff(judged.first)[judged.of_pair[which[0]]] <= 2
    return Finding(
        "stall",
        evidence.share(float(beyond.sum()), 0.0),
        (evidence.label(node, 0), evidence.label(node, 1)),
        evidence.way(node),
        certainty="unsure" if single else "likely",
        calls=(len(which), len(which)),
        time_ns=(int(own[0].sum()), int(own[1].sum())),
        ranges=(ranges[0], ranges[1]),
        examples=(int(sides[0][0]), int(sides[1][0])),
        nodes=nodes[np.sort(first)],
        details={
            "trace": "AB"[s],
            "count": len(which),
            "change_ns": round(float(beyond.sum()) * (1 if s else -1)),
            "longest_ns": round(float(beyond[0])),
            "single": bool(single),
            "stalls": [
                {
                    "call": int(call),
                    "function": evidence.label(int(evidence.paths.of_call[s][call]), s),
                    "start_ns": int(calls.start[call]),
                    "own_ns": int(evidence.self_times[s][call]),
                    "beyond_ns": round(over),
                }
                for call, over in zip(mine.tolist(), beyond.tolist(), strict=True)
            ],
        },
    )


def drifts(evidence: Evidence, judged: Groups, known: Ints, loading: Ints) -> list[Finding]:
    """Return the parts of the run in which everything takes longer, or less long, than in the rest.

    Parameters
    ----------
    evidence : Evidence
    judged : Groups
    known : int64 (k,)
        Groups that are reported as slower or faster.
    loading : int64 (m,)
        Paths of Python's import, as :func:`importing` returns them: what these take is reported as a whole.

    Returns
    -------
    list of Finding
    """
    if evidence.exact or not len(judged):
        return []
    paths, of = evidence.paths, judged.of_pair
    node = paths.of_call[1][judged.b]
    # A function called once or twice has no usual call; a call too short for a stall may still be in a slow
    # stretch.
    little = np.where(np.abs(judged.extra) < LEAST_STALL * evidence.most_time, judged.extra, 0.0)
    rest = np.where(judged.few[of], little, judged.usual)
    rest[np.isin(of, known)] = 0.0
    total = np.bincount(node, rest, len(paths))
    usual = np.bincount(node, evidence.pace * evidence.self_times[0][judged.a], len(paths))
    add_up(paths.parent, total)
    add_up(paths.parent, usual)
    factor = (usual + total) / np.maximum(usual, 1.0)
    apart = (factor >= LEAST_FACTOR) | (factor <= 1 / LEAST_FACTOR)
    apart[loading] = False
    large = np.flatnonzero((np.abs(total) >= evidence.least_time) & apart)
    found: list[Finding] = []
    reported = np.zeros(len(paths), np.bool_)
    nodes, ratio, weight = evidence.spread
    for place in large[np.argsort(-rounded(total[large]), kind="stable")].tolist():
        if len(found) == _MOST:
            break
        inside = evidence.within(np.array([place]))
        if reported[inside].any():
            continue
        here = inside[nodes]
        if np.count_nonzero(here) < _ENOUGH_PATHS:
            continue
        drift = weighted_median(ratio[here], weight[here]) - math.log(evidence.pace)
        if drift * total[place] <= 0 or abs(drift) < math.log(LEAST_FACTOR):
            continue
        reported |= inside
        about = evidence.about(np.array([place]))
        found.append(
            Finding(
                "drift",
                evidence.share(float(total[place]), 0.0),
                (evidence.label(place, 0), evidence.label(place, 1)),
                evidence.way(place),
                certainty="likely",
                **about,
                details={"change_ns": round(float(total[place])), "factor": math.exp(drift), "start": False},
            )
        )
    return found


def importing(evidence: Evidence) -> Ints:
    """Return the paths that end in a function of Python's import, if both runs import equally many modules.

    How long these take, and whether they compile or ask for a folder again, is not affected by the program.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    int64 (k,)
    """
    loading = _named(evidence, _IMPORT)
    loaded = evidence.calls_of_function[:, loading & _named(evidence, _LOADED)].sum(axis=1)
    nodes = np.flatnonzero(loading[evidence.paths.function].all(axis=0))
    return np.asarray(nodes if loaded[0] == loaded[1] else nodes[:0])


def inner(evidence: Evidence, nodes: Ints) -> Ints:
    """Return those of some paths whose caller is one of them: the program asks for the others.

    Parameters
    ----------
    evidence : Evidence
    nodes : int64 (k,)
        As :func:`importing` returns them.

    Returns
    -------
    int64 (n,)
    """
    return np.asarray(nodes[np.isin(evidence.paths.parent[nodes], nodes)])


def imports(evidence: Evidence) -> NDArray[np.bool_]:
    """Return the paths of imports: of Python's own functions for it, of modules' code, and all below.

    The first module on a path is the program, those below it are imported.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    bool (n,)
        Of the common call paths.
    """
    function, parent = evidence.paths.function, evidence.paths.parent
    loading = (_named(evidence, _IMPORT) | _named(evidence, _IMPORTLIB))[function].any(axis=0)
    module = _named(evidence, _MODULE)[function].any(axis=0)
    program = evidence.within(np.flatnonzero(module))
    imported = module & (parent >= 0) & program[parent]
    return evidence.within(np.flatnonzero(loading | imported))


def slow_start(evidence: Evidence, nodes: Ints) -> list[Finding]:
    """Return that one run took longer to import the same modules: from a cold disk, or compiled again.

    Parameters
    ----------
    evidence : Evidence
    nodes : int64 (k,)
        As :func:`importing` returns them.

    Returns
    -------
    list of Finding
        One at most.
    """
    if not len(nodes):
        return []
    loading, counts = _named(evidence, _IMPORT), evidence.calls_of_function
    loaded = counts[:, loading & _named(evidence, _LOADED)].sum(axis=1)
    own = evidence.paths.self_time[:, nodes].sum(axis=1)
    expected, now = evidence.pace * float(own[0]), float(own[1])
    change = now - expected
    compiled = counts[:, loading & _named(evidence, _COMPILED)].sum(axis=1)
    slow = abs(change) >= _LEAST_START * evidence.most_time and max(now, expected) >= LEAST_FACTOR * min(
        now, expected
    )
    if not slow and compiled[0] == compiled[1]:
        return []
    nodes = nodes[np.argsort(-evidence.paths.self_time[:, nodes].max(axis=0), kind="stable")]
    first = int(nodes[0])
    about = {**evidence.about(nodes), "time_ns": (int(own[0]), int(own[1]))}
    return [
        Finding(
            "drift",
            evidence.share(change, 0.0),
            (evidence.label(first),) * 2,
            evidence.way(first),
            certainty="likely",
            **about,
            details={
                "change_ns": round(change),
                "factor": now / max(expected, 1.0),
                "start": True,
                "modules": int(loaded[0]),
                "compiled": compiled.tolist(),
            },
        )
    ]


def _named(evidence: Evidence, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
    """Return which common functions have a recorded name in which the pattern is found."""
    found = np.zeros(len(evidence.comparison.identity), np.bool_)
    ids = (evidence.comparison.identity.a, evidence.comparison.identity.b)
    for trace, of in zip(evidence.comparison.traces, ids):
        found[of] |= np.array([bool(pattern.search(name)) for name in trace.functions.name], np.bool_)
    return found
