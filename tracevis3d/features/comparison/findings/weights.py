"""Findings about two profiles of samples: functions that weigh more, or less, than chance explains.

A function is judged with all that it calls, and by itself. The one whose difference is the least likely to be
chance is reported first, because callers have much else below them and callees have only part of it; what
it explains is then taken away from both profiles, and the rest is judged again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....kernels.comparison.findings import add_up, find_not_recursive
from .durations import LEAST_FACTOR
from .evidence import LEAST, Evidence, Finding
from .sampling import Weights, significance

#: Standard deviations that a difference takes.
LEAST_SIGNIFICANCE = 4.0
#: What formats call a caller whose name, or even address, is not known.
_UNKNOWN = ("[unknown]", "(unknown)", "??")
#: Functions are reported until no other differs, but at most so many.
_MOST = 40

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def weight_changes(evidence: Evidence, weights: Weights) -> list[Finding]:
    """Return the functions that weigh more, or less, in B.

    Parameters
    ----------
    evidence : Evidence
    weights : Weights

    Returns
    -------
    list of Finding
        Of the kinds ``heavier`` and ``lighter``, the most certain first.
    """
    paths, pace = evidence.paths, evidence.pace
    function = paths.function.max(axis=0).astype(np.int64)
    size = len(evidence.comparison.identity)
    own = weights.own.copy()
    #: Samples of B that one of A lets expect.
    expected = pace * weights.rate[1] / weights.rate[0]
    outermost = not_recursive(paths.parent, function)
    #: What goes through callers that nobody knows is the work of those that they call.
    nobody = size + np.array([i for i, name in enumerate(evidence.labels) if name in _UNKNOWN], np.int64)
    most = max(sum(own[0]), sum(own[1]), 1.0)
    found: list[Finding] = []
    #: Which paths have been explained, and by which finding.
    taken = np.full(len(function), -1)
    while len(found) < _MOST:
        whole = own.copy()
        for row in whole:
            add_up(paths.parent, row)
        itself = [np.bincount(function, row, size) for row in own]
        below = [np.bincount(function[outermost], row[outermost], size) for row in whole]
        a, b = (np.concatenate(pair).astype(np.float64) for pair in zip(itself, below))
        z = significance(*weights.samples((a, b)), expected)
        z[(np.abs(b - pace * a) < LEAST * most) | _is_near(pace * a, b)] = 0.0
        z[nobody] = 0.0
        if not len(z) or np.abs(z).max() < LEAST_SIGNIFICANCE:
            break
        best = _first_of(np.flatnonzero(np.abs(z) >= np.abs(z).max() * (1 - 1e-9)), a, b, function, size)
        is_itself, chosen = best < size, best % size
        mine = np.flatnonzero(function == chosen)
        nodes = mine if is_itself else mine[outermost[mine]]
        here = (own if is_itself else whole)[:, nodes].max(axis=0)
        heaviest = np.argsort(-here, kind="stable")
        nodes = nodes[heaviest]
        gone = mine if is_itself else np.flatnonzero(evidence.within(nodes))
        others = [found[i].functions for i in np.unique(taken[gone]).tolist() if i >= 0]
        without = [name_a or name_b for name_a, name_b in others]
        weight = float(a[best]), float(b[best])
        one = _finding(evidence, weights, nodes, is_itself, weight, float(z[best]), most)
        is_most = bool(2 * here[heaviest[0]] > max(weight))
        one.details.update(without=without, round=len(found), mostly=is_most)
        found.append(one)
        taken[gone[(own[0][gone] > 0) | (own[1][gone] > 0)]] = len(found) - 1
        own[:, gone] = 0.0
    return found


def not_recursive(parent: NDArray[np.int32], function: Ints) -> NDArray[np.bool_]:
    """Return which call paths end in a function that none of their callers is.

    Parameters
    ----------
    parent : int32 (n,)
        -1: none. Before its callees.
    function : int64 (n,)

    Returns
    -------
    bool (n,)
    """
    n = len(parent)
    size, place, order = (np.empty(n, np.int64) for _ in range(3))
    outermost = np.empty(n, np.uint8)
    until = np.zeros(int(function.max()) + 1, np.int64)
    find_not_recursive(parent, function, size, place, order, until, outermost)
    return outermost.astype(np.bool_)


def _is_near(a: Floats, b: Floats) -> NDArray[np.bool_]:
    return np.asarray(np.maximum(a, b) < LEAST_FACTOR * np.minimum(a, b))


def _first_of(rows: Ints, a: Floats, b: Floats, function: Ints, size: int) -> int:
    """Return which of equally certain rows is reported.

    It is the function itself that takes it, else the innermost one that all goes through; or, if it is new
    or gone, the one that it is entered by.
    """
    one_sided = (a[rows] == 0) | (b[rows] == 0)
    first = np.full(size, len(function))
    np.minimum.at(first, function, np.arange(len(function)))
    preferred = (rows < size) != one_sided
    first = first[rows % size]
    place = np.where(one_sided, first, -first)
    return int(rows[np.lexsort((place, ~preferred))[0]])


def _finding(
    evidence: Evidence, weights: Weights, nodes: Ints, is_itself: bool, weight: tuple[float, float],
    z: float, most: float,
) -> Finding:  # fmt: skip
    paths = evidence.paths
    first = int(nodes[0])
    here = [bool((paths.calls[s, nodes] > 0).any()) for s in range(2)]
    label = evidence.label(first)
    return Finding(
        "heavier" if z > 0 else "lighter",
        min(abs(weight[1] - evidence.pace * weight[0]) / most, 1.0),
        (label if here[0] else "", label if here[1] else ""),
        evidence.way(first),
        **evidence.about(nodes),
        details={
            "itself": is_itself,
            "kind": weights.kind,
            "weight": [round(one) for one in weight],
            "total": list(weights.total),
            "samples": [round(one * rate, 3) for one, rate in zip(weight, weights.rate)],
            "deviations": abs(z),
            "pace": evidence.pace,
            "paths": len(nodes),
        },
    )
