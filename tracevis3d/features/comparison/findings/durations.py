"""Findings about how long the same work takes: call paths and functions that got slower or faster."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....kernels.comparison.findings import add_up, inherit
from .evidence import Evidence, Finding

#: A change is reported if it takes at least this share of the longer trace ...
LEAST = 0.01
#: ... is farther from the pace than this many times what paths are usually from it, ...
_NOISES = 3.0
#: ... and by at least this factor.
_LEAST_FACTOR = 1.15
#: So many calls of a path show whether the usual one has changed.
_ENOUGH_CALLS = 8
#: Largest changes of single paths that are looked at in either direction.
_LOOKED_AT = 12
#: Else a change has to be so many times the largest one in the other direction: pauses of the machine fall
#: on either trace.
DOMINATES = 3.0

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def extra_times(evidence: Evidence) -> Floats:
    """Return what each path's self time is beyond the pace, float64 (n,); 0 where only one trace has it."""
    paths = evidence.paths
    expected = evidence.pace * evidence.factor * paths.self_time[0]
    return np.asarray(np.where(evidence.state < 2, paths.self_time[1] - expected, 0.0))


def times(evidence: Evidence, noise: Noise) -> list[Finding]:
    """Return the call paths, then the functions, whose time differs from what the pace lets expect.

    A path is reported at the deepest place that still has the difference: the same time in its callers
    is not reported again. Differences spread over many paths are reported for the function that takes them.

    Parameters
    ----------
    evidence : Evidence
    noise : Noise
        What repeated runs would differ by.

    Returns
    -------
    list of Finding
    """
    paths = evidence.paths
    known = evidence.state < 2
    extra = extra_times(evidence)
    total = extra.copy()
    add_up(paths.parent, total)
    usual = np.where(known, evidence.pace * evidence.factor * paths.self_time[0], 0.0)
    add_up(paths.parent, usual)
    least = LEAST * evidence.most_time
    flagged = np.flatnonzero(known & (np.abs(total) >= least))
    owner = np.full(len(paths), -1, np.int32)
    owner[flagged] = flagged
    inherit(paths.parent, owner)
    rest = {int(node): float(total[node]) for node in flagged}
    for node in flagged.tolist():
        above = int(paths.parent[node])
        above = int(owner[above]) if above >= 0 else -1
        if above >= 0:
            rest[above] -= float(total[node])
    found: list[Finding] = []
    reported = np.zeros(len(paths), np.bool_)
    for node in flagged.tolist():
        inside = np.flatnonzero((owner == node) & known)
        if abs(rest[node]) < least or not noise.passes(rest[node], float(usual[node]), inside, extra):
            continue
        reported[inside] = True
        found.append(_finding(evidence, np.array([node]), rest[node], extra, inside))
    found += _functions(evidence, noise, np.where(reported, 0.0, extra), known)
    return found


@dataclass(frozen=True)
class Noise:
    """Distinguishes changes of the program from the variation between its runs.

    Attributes
    ----------
    evidence : Evidence
    longest : (float, float)
        The largest change of a path to less time and to more that its usual call doesn't show, nanoseconds.
    """

    evidence: Evidence
    longest: tuple[float, float]

    @classmethod
    def of(cls, evidence: Evidence) -> Noise:
        """Look at the largest changes of single paths."""
        extra = extra_times(evidence)
        largest = []
        for sign in (-1.0, 1.0):
            order = np.argsort(-sign * extra, kind="stable")[:_LOOKED_AT]
            changes = [float(extra[i]) for i in order.tolist() if sign * extra[i] > 0]
            sudden = [
                abs(change)
                for i, change in zip(order.tolist(), changes)
                if not _usual_call_differs(evidence, i, change)
            ]
            largest.append(max(sudden, default=0.0))
        return cls(evidence, (largest[0], largest[1]))

    def passes(self, change: float, usual: float, inside: Ints, extra: Floats) -> bool:
        """Return whether ``change`` of what usually takes ``usual`` is one of the program.

        It was spent at the paths ``inside``.

        Parameters
        ----------
        change : float
            Nanoseconds more in B; negative: less.
        usual : float
            Nanoseconds that A's time and the pace lead to expect.
        inside : int64 (k,)
            Paths.
        extra : float64 (paths,)
            Nanoseconds more in B than expected, of each path's own time.

        Returns
        -------
        bool
        """
        now = usual + change
        if usual > 0 and now > 0 and max(now / usual, usual / now) <= _LEAST_FACTOR:
            return False
        if abs(change) > DOMINATES * self.longest[change < 0]:
            return True
        most = int(inside[np.argmax(extra[inside] * np.sign(change))])
        return _usual_call_differs(self.evidence, most, change)


def _usual_call_differs(evidence: Evidence, node: int, change: float) -> bool:
    """Return whether a path's median call differs by more than the noise, in the direction of ``change``."""
    paths = evidence.paths
    if paths.calls[:, node].min() < _ENOUGH_CALLS:
        return False
    usual = [
        float(np.median(own[of_call == node])) for own, of_call in zip(evidence.self_times, paths.of_call)
    ]
    if min(usual) <= 0:
        return False
    ratio = math.log(usual[1] / usual[0] / evidence.pace)
    return math.copysign(1.0, change) * ratio > max(_NOISES * evidence.noise, math.log(_LEAST_FACTOR))


def _functions(evidence: Evidence, noise: Noise, extra: Floats, known: NDArray[np.bool_]) -> list[Finding]:
    paths = evidence.paths
    function = paths.function[0]
    size = len(evidence.comparison.identity)
    change = np.bincount(function, extra, size)
    usual = np.bincount(function, evidence.pace * evidence.factor * paths.self_time[0] * known, size)
    found = []
    for f in np.flatnonzero(np.abs(change) >= LEAST * evidence.most_time).tolist():
        nodes = np.flatnonzero((function == f) & known)
        if not noise.passes(float(change[f]), float(usual[f]), nodes, extra):
            continue
        nodes = nodes[np.argsort(-np.abs(extra[nodes]), kind="stable")]
        found.append(_finding(evidence, nodes, float(change[f]), extra, nodes))
    return found


def _finding(evidence: Evidence, nodes: Ints, change: float, extra: Floats, inside: Ints) -> Finding:
    """Return a finding about ``nodes``: the time was spent at the paths ``inside``."""
    paths = evidence.paths
    first = int(nodes[0])
    spent = np.bincount(paths.function[0, inside], extra[inside], len(evidence.comparison.identity))
    cause = int(np.argmax(spent * np.sign(change)))
    own = np.flatnonzero(paths.function[0, inside] == cause)
    self_time = [int(paths.self_time[s, inside[own]].sum()) for s in range(2)]
    return Finding(
        "slower" if change > 0 else "faster",
        evidence.share(change, 0.0),
        (evidence.label(first, 0), evidence.label(first, 1)),
        evidence.way(first),
        **evidence.about(nodes),
        details={
            "change_ns": round(change),
            "pace": evidence.pace,
            "factor": float(evidence.factor[first]),
            "cause": evidence.labels[cause],
            "cause_self_ns": self_time,
            "cause_share": float(min(1.0, abs(spent[cause] / change))) if change else 0.0,
            "paths": len(nodes),
        },
    )


def pace(evidence: Evidence) -> list[Finding]:
    """Return that all takes longer, or less long, alike: one finding, however many calls it is seen in."""
    factor = evidence.pace
    if max(factor, 1 / factor) < _LEAST_FACTOR:
        return []
    known = evidence.state < 2
    before = float((evidence.factor * evidence.paths.self_time[0])[known].sum())
    now = float(evidence.paths.self_time[1][known].sum())
    if not evidence.time[0] or not evidence.time[1]:
        return []
    roots = np.flatnonzero((evidence.paths.parent < 0) & (evidence.paths.calls > 0).all(axis=0))
    about = evidence.about(roots)
    about["calls"], about["time_ns"], about["below"] = (0, 0), (round(before), round(now)), (0, 0)
    share = abs(factor - 1) * before / evidence.most_time
    return [
        Finding(
            "pace",
            min(share, 1.0),
            ("", ""),
            **about,
            details={"factor": factor, "varies": math.expm1(evidence.noise)},
        )
    ]
