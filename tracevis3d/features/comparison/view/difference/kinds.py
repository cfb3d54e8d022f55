"""How each call differs from the other trace, and how much that matters.

A call is judged by its call path, as findings are: by the tree of call paths that both traces have in
common. What differs by its place or its number takes all that is below it along; what is slower or faster is
so by its own time alone, so that callers stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....analysis.measures import self_times
from .....kernels.comparison.findings import ALONE, RECOUNTED, add_up, inherit
from .....layout.cut import Clusters, cut_index
from ...findings.counterparts import groups
from ...findings.disturbances import imports
from ...findings.durations import changed, extra_times, nodes_of
from ...findings.evidence import Evidence, Finding
from ...findings.find import Findings
from ...findings.order import find_pairs
from ...findings.ranking import NOISE

#: Kinds of differences, in the order of the legend.
SAME, ONLY, MOVED, OFTEN, SLOWER, FASTER, STALLED = range(7)
KINDS = (
    "same, in place",
    "only in one run",
    "moved",
    "more or less often",
    "slower in B",
    "faster in B",
    "stalled once",
)
#: Smaller shares of the run's time or calls are no differences in time or order.
_LEAST = 5e-4
#: What moved matters by what it costs, not by how much it is; but it is seen.
_LEAST_MOVED = 0.001
#: Calls below these have the same kind.
_TAKES_ALONG = (ONLY, MOVED, OFTEN)
#: A cluster is of a kind that takes this share of its time.
_OF_CLUSTER = 0.25
#: Shares of the run, and the strength of a difference's colour from each on ...
_SHARES = np.array([0.0, 0.001, 0.004, 0.015, 0.05])
_STRENGTHS = np.array([0.2, 0.4, 0.6, 0.8, 1.0])
#: ... limited to this plus the rest times the share of the call that differs.
_FAINTEST = 0.2
#: Stalls are the machine's: where the program differs they are no stronger than this.
_STALL_BESIDE = 0.2
#: A tube is slower or faster, and a call stalled, if this share of the calls' time is their own.
_ITSELF = 0.5

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Kinds = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Differences:
    """How the calls of two traces differ.

    Attributes
    ----------
    findings : Findings
        What is to be said of them, the most important first.
    kind : (uint8 (n,), uint8 (m,))
        Of each call of A and of B: ``SAME`` and so on.
    strength : (float64 (n,), float64 (m,))
        How strongly it is reported, 0 to 1: by the share of the run that the difference is about, and by how
        much of the call it is: all of it where it is in one run alone, what is more or less where it is
        counted or measured.
    share : float64 (7,)
        The share of both runs' time that is of each kind: what calls take themselves, but of slower and
        faster ones only what they take more or less, and of stalled ones what similar calls don't take.
    """

    findings: Findings
    kind: tuple[Kinds, Kinds]
    strength: tuple[Floats, Floats]
    share: Floats
    _own: tuple[Ints, Ints]

    @property
    def names(self) -> tuple[str, ...]:
        """What each kind is called: profiles know weights, not how long a call takes."""
        if self.findings.evidence.weights is None:
            return KINDS
        return (*KINDS[:SLOWER], "more in B", "less in B", *KINDS[STALLED:])

    def of_tubes(self, source: int, calls: Ints) -> tuple[Kinds, Floats]:
        """Return kind and strength of calls for tubes, which show a call with all that is below it.

        Parameters
        ----------
        source : int
            0 for A, 1 for B.
        calls : int64 (n,)

        Returns
        -------
        (uint8 (n,), float64 (n,))
        """
        every = self.findings.evidence.comparison.traces[source].calls
        kind, strength = self.kind[source][calls], self.strength[source][calls]
        itself = self._own[source][calls] >= _ITSELF * (every.end - every.start)[calls]
        calm = np.isin(kind, (SLOWER, FASTER, STALLED)) & ~itself
        return np.where(calm, SAME, kind).astype(np.uint8), np.where(calm, 0.0, strength)

    def of(self, source: int, calls: Ints, clusters: Clusters) -> tuple[Kinds, Floats]:
        """Return kind and strength of what is drawn of a trace: of calls, then of clusters.

        A cluster is of the kind, other than the same, that most of its time is of, where that is a quarter.

        Parameters
        ----------
        source : int
            0 for A, 1 for B.
        calls : int64 (n,)
        clusters : Clusters
            Of the same trace.

        Returns
        -------
        (uint8 (n + c,), float64 (n + c,))
        """
        trace = self.findings.evidence.comparison.traces[source]
        kind, strength = self.kind[source], self.strength[source]
        if not len(clusters):
            return kind[calls], strength[calls]
        order = cut_index(trace).order
        low = order[clusters.first]
        last = order[clusters.stop - 1]
        high = np.maximum(last + trace.calls.extent[last], low + 1)
        own = self._own[source].astype(np.float64)
        spent = np.zeros((len(KINDS), len(clusters)))
        heavy = np.zeros((len(KINDS), len(clusters)))
        for k in range(1, len(KINDS)):
            is_it = kind == k
            time = np.concatenate([[0.0], np.cumsum(np.where(is_it, own, 0.0))])
            spent[k] = time[high] - time[low]
            worth = np.concatenate([[0.0], np.cumsum(np.where(is_it, own * strength, 0.0))])
            heavy[k] = worth[high] - worth[low]
        whole = np.concatenate([[0.0], np.cumsum(own)])
        whole = np.maximum(whole[high] - whole[low], 1.0)
        most = spent.argmax(axis=0)
        at = np.arange(len(clusters))
        is_most = spent[most, at] >= _OF_CLUSTER * whole
        merged = np.where(is_most, most, SAME).astype(np.uint8)
        mean = np.where(is_most, heavy[most, at] / np.maximum(spent[most, at], 1.0), 0.0)
        return np.concatenate([kind[calls], merged]), np.concatenate([strength[calls], mean])


def strength_of(weight: Floats, part: Floats) -> Floats:
    """Return how strongly differences are reported.

    Parameters
    ----------
    weight : float64 (n,)
        The share of the run that each is about.
    part : float64 (n,)
        How much of the call it is.

    Returns
    -------
    float64 (n,)
        0 to 1.
    """
    step = _STRENGTHS[np.searchsorted(_SHARES, weight, side="right") - 1]
    return np.asarray(np.minimum(step, _FAINTEST + (1.0 - _FAINTEST) * part))


def differences(findings: Findings) -> Differences:
    """Judge all calls of both traces.

    Parameters
    ----------
    findings : Findings
        They say what has moved.

    Returns
    -------
    Differences
    """
    evidence = findings.evidence
    kind, strength = of_paths(evidence, findings.found)
    traces = evidence.comparison.traces
    kinds, strengths, owns = [], [], []
    for s, trace in enumerate(traces):
        of_call = evidence.paths.of_call[s]
        kinds.append(kind[of_call])
        strengths.append(strength[of_call])
        owns.append(self_times(trace.calls))
    if evidence.weights is None:
        _reordered(evidence, kinds, strengths)
    time = np.zeros(len(KINDS))
    stalled = _stalled(findings, kinds, strengths, owns)
    for one, own in zip(kinds, owns):
        time += np.bincount(one, own.astype(np.float64), len(KINDS))
    time[SAME] += time[STALLED] - stalled
    time[STALLED] = stalled
    whole = max(float(time.sum()), 1.0)
    extra = np.abs(extra_times(evidence))
    for k in (SLOWER, FASTER):
        changed = min(float(extra[kind == k].sum()), float(time[k]))
        time[SAME] += time[k] - changed
        time[k] = changed
    share = time / whole
    return Differences(
        findings, (kinds[0], kinds[1]), (strengths[0], strengths[1]), share, (owns[0], owns[1])
    )


def of_paths(evidence: Evidence, found: list[Finding]) -> tuple[Kinds, Floats]:
    """Return the kind of each common call path, and how strongly its difference is reported.

    Parameters
    ----------
    evidence : Evidence
    found : list of Finding

    Returns
    -------
    (uint8 (n,), float64 (n,))
    """
    if evidence.weights is not None:
        return _of_weights(evidence, found)
    paths, n = evidence.paths, len(evidence.paths)
    kind, weight, part = np.zeros(n, np.uint8), np.zeros(n), np.ones(n)
    _durations(evidence, kind, weight, part)
    recounted = np.flatnonzero(evidence.state == RECOUNTED)
    before = evidence.before[recounted]
    change = [
        np.abs(table[1, recounted] - pace * before * table[0, recounted]) / most
        for table, pace, most in (
            (paths.time, evidence.pace, evidence.most_time),
            (paths.below, 1.0, evidence.most_calls),
        )
    ]
    kind[recounted], weight[recounted] = OFTEN, np.minimum(np.maximum(*change), 1.0)
    often = np.stack([before, np.ones(len(before))]) * paths.calls[:, recounted]
    part[recounted] = 1.0 - often.min(axis=0) / np.maximum(often.max(axis=0), 1e-9)
    moved = np.zeros(n, np.bool_)
    for finding in found:
        if finding.kind == "moved":
            moved[finding.nodes] = True
        elif finding.kind == "repetitions" and "itself" in finding.details:
            kind[finding.nodes], weight[finding.nodes] = OFTEN, finding.score
            least, most = sorted(finding.calls)
            part[finding.nodes] = 1.0 - least / max(most, 1)
    size = len(evidence.comparison.identity)
    cost = moving_costs(evidence, found)
    alone = [np.flatnonzero((evidence.state == ALONE) & (paths.calls[s] > 0)) for s in (0, 1)]
    here = [np.bincount(paths.function[s, alone[s]], minlength=size) > 0 for s in (0, 1)]
    for s in (0, 1):
        nodes = alone[s]
        went = here[1 - s][paths.function[s, nodes]] | moved[nodes]
        kind[nodes] = np.where(went, MOVED, ONLY)
        about = np.maximum(
            paths.time[s, nodes] / evidence.most_time, paths.below[s, nodes] / evidence.most_calls
        )
        about = np.where(went, np.minimum(about, np.maximum(cost[nodes], _LEAST_MOVED)), about)
        weight[nodes], part[nodes] = np.minimum(about, 1.0), 1.0
    strength = np.where(kind == SAME, 0.0, strength_of(weight, part))
    own = kind.copy()
    owner = np.where(own != SAME, np.arange(n), -1).astype(np.int32)
    inherit(paths.parent, owner)
    held = np.flatnonzero((own == SAME) & (owner >= 0))
    held = held[np.isin(own[owner[held]], _TAKES_ALONG)]
    kind[held], strength[held] = own[owner[held]], strength[owner[held]]
    # What is counted more often below what is, is part of that.
    for step in _STRENGTHS[1:]:
        strong = np.flatnonzero((kind == OFTEN) & (strength >= step))
        inside = (kind == OFTEN) & evidence.within(strong)
        strength[inside] = np.maximum(strength[inside], step)
    return kind, strength


def _of_weights(evidence: Evidence, found: list[Finding]) -> tuple[Kinds, Floats]:
    """Return kind and strength of the paths of two profiles: what findings are about differs."""
    n = len(evidence.paths)
    kind, weight, part = np.zeros(n, np.uint8), np.zeros(n), np.ones(n)
    of_weights = [one for one in found if one.kind in ("heavier", "lighter")]
    # What explains a path first has it: later ones don't count it.
    for finding in sorted(of_weights, key=lambda one: -one.details["round"]):
        itself = finding.details["itself"]
        nodes = finding.nodes if itself else np.flatnonzero(evidence.within(finding.nodes))
        a, b = finding.details["weight"]
        kind[nodes] = ONLY if not a or not b else SLOWER if finding.kind == "heavier" else FASTER
        weight[nodes] = finding.score
        part[nodes] = abs(b - a) / max(a, b, 1)
    return kind, np.where(kind == SAME, 0.0, strength_of(weight, part))


def moving_costs(evidence: Evidence, found: list[Finding]) -> Floats:
    """Return how much longer, or shorter, moved calls take in B, as a share of the longer run.

    The time of imports is left out: which import is the first of a module says nothing of the program.

    Parameters
    ----------
    evidence : Evidence
    found : list of Finding
        Paths that one of them says to have moved are one piece of work, others those of their function.

    Returns
    -------
    float64 (n,)
        Of each common call path that one trace alone has; 0 of others.
    """
    paths, n = evidence.paths, len(evidence.paths)
    own = np.where(imports(evidence), 0.0, paths.self_time.astype(np.float64))
    for row in own:
        add_up(paths.parent, row)
    piece = np.full((2, n), -1, np.int64)
    for s in (0, 1):
        here = (evidence.state == ALONE) & (paths.calls[s] > 0)
        piece[s, here] = paths.function[s, here]
    size = len(evidence.comparison.identity)
    for number, finding in enumerate(f for f in found if f.kind == "moved"):
        nodes = finding.nodes
        piece[:, nodes] = np.where(piece[:, nodes] >= 0, size + number, -1)
    pieces = size + len(found)
    time = np.stack([np.bincount(of[of >= 0], row[of >= 0], pieces) for of, row in zip(piece, own)])
    change = np.abs(time[1] - evidence.pace * time[0]) / evidence.most_time
    of = piece.max(axis=0)
    return np.asarray(np.where(of >= 0, change[np.maximum(of, 0)], 0.0))


def _durations(evidence: Evidence, kind: Kinds, weight: Floats, part: Floats) -> None:
    """Mark the paths of functions whose usual call takes longer, or shorter; stalls don't count."""
    paths, judged = evidence.paths, evidence.once(groups)
    usual = evidence.pace * evidence.factor * paths.self_time[0]
    for _, of in changed(evidence, judged, _LEAST):
        for group in of.tolist():
            change = float(judged.change[group])
            nodes = nodes_of(evidence, judged, np.array([group]))
            kind[nodes] = SLOWER if change > 0 else FASTER
            weight[nodes] = min(abs(change) / evidence.most_time, 1.0)
            most = max(float(paths.self_time[1, nodes].sum()), float(usual[nodes].sum()), 1.0)
            part[nodes] = min(abs(change) / most, 1.0)


def _stalled(findings: Findings, kinds: list[Kinds], strengths: list[Floats], owns: list[Ints]) -> float:
    """Mark the calls that stalled and differ by nothing else; return what they took beyond similar ones.

    Calls that spend most of their time in others are left out: a stall is but a part of them.
    """
    total = 0.0
    most = 1.0 if all(finding.kind in NOISE for finding in findings.found) else _STALL_BESIDE
    for finding in findings.found:
        if finding.kind != "stall":
            continue
        s = "AB".index(finding.details["trace"])
        for stall in finding.details["stalls"]:
            call, beyond = stall["call"], float(stall["beyond_ns"])
            calls, own = findings.evidence.comparison.traces[s].calls, max(float(owns[s][call]), 1.0)
            if kinds[s][call] != SAME or own < _ITSELF * float(calls.end[call] - calls.start[call]):
                continue
            weight = np.array([min(beyond / findings.evidence.most_time, 1.0)])
            kinds[s][call] = STALLED
            strength = strength_of(weight, np.array([min(beyond / own, 1.0)]))[0]
            strengths[s][call] = min(float(strength), most)
            total += min(beyond, own)
    return total


def _reordered(evidence: Evidence, kinds: list[Kinds], strengths: list[Floats]) -> None:
    """Mark calls, with all below them, that come in another order in the other trace."""
    pairs = evidence.once(find_pairs)
    for row in np.flatnonzero(~pairs.in_order).tolist():
        ids = (int(pairs.a[row]), int(pairs.b[row]))
        calls = [trace.calls for trace in evidence.comparison.traces]
        lasted = min(int(c.end[i] - c.start[i]) for c, i in zip(calls, ids))
        held = min(int(c.extent[i]) for c, i in zip(calls, ids))
        share = evidence.share(lasted, held)
        if share < _LEAST:
            continue
        longer = [float(c.end[i] - c.start[i]) for c, i in zip(calls, ids)]
        cost = evidence.share(longer[1] - evidence.pace * longer[0], 0.0)
        share = min(share, max(cost, _LEAST_MOVED))
        for s, (c, i) in enumerate(zip(calls, ids)):
            inside = slice(i, i + int(c.extent[i]))
            plain = kinds[s][inside] == SAME
            kinds[s][inside] = np.where(plain, MOVED, kinds[s][inside])
            strength = float(strength_of(np.array([share]), np.ones(1))[0])
            strengths[s][inside] = np.where(plain, strength, strengths[s][inside])
