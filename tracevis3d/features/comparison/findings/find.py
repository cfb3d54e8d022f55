"""The findings about two traces, ranked.

Everything is found from the tree of call paths that both traces have in common and from one pass over the
calls, never from pairs of calls. The score of a finding is the share that it is about: of the longer trace's
time or of the larger one's calls, whichever is more. Findings of a hundredth and more are reported, and
shorter ones of what is counted. They are ranked by their score and by what they say (:mod:`.ranking`).

============  ===========================================================================================
kind          what the score counts
============  ===========================================================================================
unmatched     time, and calls, of stretches in which no call has a match (TraceDiff: similarity above τ)
moved         of calls that lie below other callers in the other trace: the smaller of the two sides
only          of a function that the other trace never calls, with all below it; where the other trace has
              calls that match it, of the function alone
alone         of calls that a common caller makes in one trace alone, of a function that both traces call
repetitions   time and calls by which repetitions differ from what their callers let expect
offset        time by which a wait differs: all that follows starts later, or earlier, by this much
slower        time by which the calls of a function are beyond the pace of all common paths, stalls left out
faster        the same, below the pace
order         of calls that come before others in one trace, and after them in the other
renamed       self time, and calls, of a function that does the same work under another name
wrapped       calls of functions that lie around the same work in one trace alone
pace          time by which everything takes longer, or less long, alike
drift         the same, of one part of the run, such as the import of modules
stall         time by which single calls took longer than their like
heavier       of two profiles of samples: weight of a function beyond the pace and beyond chance
lighter       the same, below the pace
alike         0: the program does the same in both; with the largest difference that there is
============  ===========================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....progress import Progress, silent
from ..matching.match import Comparison
from .counterparts import groups
from .counts import alone, detours, new_functions, recursions, repetitions
from .disturbances import drifts, importing, inner, slow_start, stalls
from .durations import changed, extra_times, pace, times
from .evidence import FEW_CALLS, LEAST, Evidence, Finding
from .likeness import groups_of
from .moves import add_most_similar, joined, merge_alone_into_only, together
from .order import find_pairs, offsets, out_of_order
from .ranking import NOISE, rank
from .stretches import stretches
from .weights import weight_changes

#: The kinds of findings, and a heading for each.
KINDS = {
    "unmatched": "Without a match",
    "moved": "Moved to other callers",
    "only": "Called in only one trace",
    "alone": "Called here in only one trace",
    "repetitions": "Called more or less often",
    "offset": "Starts later or earlier",
    "slower": "Slower in B",
    "faster": "Faster in B",
    "order": "In a different order",
    "renamed": "Renamed",
    "wrapped": "Called through other functions",
    "pace": "Everything takes longer or shorter",
    "drift": "A part takes longer or shorter",
    "stall": "Stalled",
    "heavier": "Weighs more in B",
    "lighter": "Weighs less in B",
    "alike": "Alike",
}
#: Findings about what is called, and in which order, are reported from these scores on: they are counted, so
#: they are certain though they are short.
_LEAST_COUNTED = {
    "only": 0.0005, "renamed": 0.0005, "wrapped": 0.0005, "order": 0.001, "alone": 0.002,
    "repetitions": 0.002,
}  # fmt: skip
#: Repetitions belong to a unit of work if they differ from its factor by at most this factor.
_GOES_WITH = 1.25
#: Findings about calls that one trace makes alone, or more often.
_CALLED = ("unmatched", "moved", "only", "alone", "repetitions")
#: That none of this many expected calls is made is no chance.
_EXPECTED = 3
#: A finding is left out if another explains this share of it.
_EXPLAINED = 0.5
#: Maximum number of findings reported.
TOP = 10
#: Those that are too small to be reported, where nothing else differs.
_SMALL = 3


@dataclass(frozen=True, eq=False)
class Findings:
    """The findings about two traces.

    Attributes
    ----------
    evidence : Evidence
    found : list of Finding
        The most important first.
    left_out : int
        Findings that were not important enough to be among them.
    """

    evidence: Evidence
    found: list[Finding]
    left_out: int


def find(comparison: Comparison, top: int = TOP, progress: Progress = silent) -> Findings:
    """Find the differences between two traces that matter.

    Parameters
    ----------
    comparison : Comparison
    top : int
        Findings that are returned at most.
    progress : Progress

    Returns
    -------
    Findings
        The most important first.
    """
    progress(0.0, "merging the call paths")
    evidence = Evidence(comparison)
    progress(0.3, "looking for differences")
    if evidence.weights is not None:
        return _of_profiles(evidence, top)
    pairs, judged = evidence.once(find_pairs), evidence.once(groups)
    known = np.array([g for _, of in changed(evidence, judged) for g in of.tolist()], np.int64)
    loading = importing(evidence)
    start = slow_start(evidence, loading)
    stalled = stalls(evidence, judged, start)
    every = [
        *stretches(evidence),
        *new_functions(evidence),
        *alone(evidence),
        *repetitions(evidence),
        *recursions(evidence),
        *offsets(evidence, pairs),
        *(f for f in times(evidence, judged) if not _from_cold_disk(f, start) and not _as_stalls(f, stalled)),
        *out_of_order(evidence, pairs),
        *detours(evidence),
        *pace(evidence),
        *start,
        *drifts(evidence, judged, known, loading),
        *stalled,
    ]
    within = inner(evidence, loading)
    every = [f for f in every if f.kind in NOISE or not len(f.nodes) or not np.isin(f.nodes, within).all()]
    progress(0.6, "looking for the most similar calls")
    reported = _reported(evidence, [f for f in every if f.score >= _LEAST_COUNTED.get(f.kind, LEAST)])
    if all(finding.kind in NOISE for finding in reported):
        # However few they are, calls that are counted are no noise: nothing else differs.
        small = [finding for finding in every if finding.kind in _LEAST_COUNTED and finding.score > 0]
        reported = [*_reported(evidence, small)[:_SMALL], *reported]
    if all(finding.kind in NOISE for finding in reported):
        reported.append(_alike(evidence))
    progress(0.9, "grouping matches")
    return Findings(evidence, _grouped(evidence, reported[:top]), max(len(reported) - top, 0))


def _reported(evidence: Evidence, worth: list[Finding]) -> list[Finding]:
    """Return findings that are worth reporting, the most important first: those with one cause as one."""
    worth = sorted(worth, key=rank)
    worth = merge_alone_into_only(together(evidence, joined(evidence, add_most_similar(evidence, worth))))
    worth.sort(key=rank)
    reported: list[Finding] = []
    for finding in worth:
        if any(_explains(evidence, other, finding) for other in reported):
            continue
        unit = next((other for other in reported if _goes_with(other, finding)), None)
        if unit is None:
            reported.append(finding)
        else:
            unit.details["with"].append(finding.functions[0])
    return reported


def _from_cold_disk(finding: Finding, start: list[Finding]) -> bool:
    """Return whether few calls differ no more than the imports do: what is slow may be the disk of both."""
    if not start or min(finding.calls) >= FEW_CALLS:
        return False
    usual = [max(time, 1.0) for time in finding.details["median_ns"]]
    factor, imports = math.log(usual[1] / usual[0]), math.log(start[0].details["factor"])
    return factor * imports > 0 and abs(factor) <= abs(imports)


def _as_stalls(finding: Finding, stalled: list[Finding]) -> bool:
    """Return whether few calls are slow, each by no more than as many others stalled in the same run."""
    few, change = min(finding.calls), abs(finding.details["change_ns"])
    if few >= FEW_CALLS:
        return False
    slow = "B" if finding.kind == "slower" else "A"
    return any(
        stall.details["trace"] == slow
        and stall.details["count"] >= few
        and change <= min(few * stall.details["longest_ns"], abs(stall.details["change_ns"]))
        for stall in stalled
    )


def _of_profiles(evidence: Evidence, top: int) -> Findings:
    """Find what two profiles differ in, by what their call paths weigh: no more is known of them."""
    assert evidence.weights is not None
    reported = sorted(weight_changes(evidence, evidence.weights), key=rank)
    reported += [finding for finding in pace(evidence) if finding.score >= LEAST]
    if all(finding.kind in NOISE for finding in reported):
        reported.append(_alike(evidence))
    return Findings(evidence, _grouped(evidence, reported[:top]), max(len(reported) - top, 0))


def _goes_with(unit: Finding, finding: Finding) -> bool:
    """Return whether calls are made more or less often because units of work are: by nearly their factor."""
    if finding.kind != "repetitions" or not unit.details.get("unit"):
        return False
    factors = [math.log(f.calls[1] / f.calls[0]) for f in (unit, finding)]
    # Just this factor is within it, whatever the rounding.
    near = abs(factors[0] - factors[1]) <= math.log(_GOES_WITH) + 1e-12
    return near and factors[0] * factors[1] > 0


def _explains(evidence: Evidence, reported: Finding, finding: Finding) -> bool:
    """Return whether ``finding`` follows from one that was reported before it."""
    if finding.kind in _CALLED and reported.kind in _CALLED:
        if finding.kind == "unmatched":
            # Both call it as often: it has no match because of what is called below it.
            count = evidence.paths.calls[:, finding.nodes]
            above = evidence.paths.parent[reported.nodes]
            if (count[0] == count[1]).all() and np.isin(above, finding.nodes).any():
                return True
        if reported.kind == "repetitions" and (s := finding.details.get("trace")):
            # More calls don't explain calls that only the other trace makes, or that it would make, too.
            more = reported.calls[1] > reported.calls[0]
            if more != (s == "B") or _expected_in_both(reported, finding, "AB".index(s)):
                return False
        # Moved calls are reported as a whole; there may be more findings within them.
        if reported.kind == "moved":
            inside = np.isin(finding.nodes, reported.nodes)
        else:
            inside = evidence.within(reported.nodes)[finding.nodes]
        weight = np.maximum(evidence.paths.time[:, finding.nodes], 1)
        if finding.kind == "moved" and reported.kind == "repetitions":
            # More calls are one end of a move at most; the other has to lie within them, too.
            weight = weight * (evidence.paths.calls[:, finding.nodes] > 0)
            return bool((weight[:, inside].sum(axis=1) >= _EXPLAINED * weight.sum(axis=1)).all())
        weight = np.maximum(evidence.paths.time[:, finding.nodes].sum(axis=0), 1)
        return bool(weight[inside].sum() >= _EXPLAINED * weight.sum())
    if finding.kind in ("slower", "faster") and reported.kind == "offset":
        near = abs(finding.details["change_ns"] - reported.details["change_ns"])
        same = finding.details["cause"] == reported.details["within"]
        return bool(same and near <= (1 - _EXPLAINED) * abs(finding.details["change_ns"]))
    return False


def _expected_in_both(reported: Finding, finding: Finding, trace: int) -> bool:
    """Return whether one trace never makes calls that its own, fewer repetitions let expect.

    Units of work are unlike each other: what is in some of them alone follows from their number.
    """
    if reported.details["unit"] or finding.details.get("elsewhere"):
        return False
    return finding.calls[trace] * reported.calls[1 - trace] >= _EXPECTED * reported.calls[trace]


def _alike(evidence: Evidence) -> Finding:
    extra = np.abs(extra_times(evidence))
    most = float(extra.max(initial=0.0))
    roots = np.flatnonzero(evidence.paths.parent < 0)
    return Finding(
        "alike", 0.0, ("", ""), **evidence.about(roots),
        details={
            "most": most / evidence.most_time,
            "most_ns": round(most),
            "most_function": evidence.label(int(np.argmax(extra))) if len(extra) else "",
            "same_calls": evidence.weights is None and _same_calls(evidence),
            "varies": float(np.expm1(evidence.noise)),
            **_weighed(evidence),
        },
    )  # fmt: skip


def _weighed(evidence: Evidence) -> dict[str, Any]:
    """Return what a finding says of two profiles: what is weighed, and how much of it there is."""
    weights = evidence.weights
    if weights is None:
        return {}
    samples = [round(total * rate) for total, rate in zip(weights.total, weights.rate)]
    return {"kind": weights.kind, "total": list(weights.total), "samples": samples}


def _same_calls(evidence: Evidence) -> bool:
    """Return whether both traces make the same calls in the same order."""
    comparison = evidence.comparison
    a, b = (trace.calls for trace in comparison.traces)
    ids = comparison.identity
    return (
        len(a) == len(b)
        and bool(np.array_equal(a.extent, b.extent))
        and bool(np.array_equal(ids.a[a.function], ids.b[b.function]))
    )


def _grouped(evidence: Evidence, found: list[Finding]) -> list[Finding]:
    """Say in which group of matches each finding's examples are."""
    pairs = []
    for finding in found:
        a, b = finding.examples
        best = finding.details.get("most_alike")
        if best:
            a, b = (a if a >= 0 else best["call"]), (b if b >= 0 else best["call"])
        pairs.append((a, b))
    whole = [i for i, (a, b) in enumerate(pairs) if a >= 0 and b >= 0]
    roots = groups_of(evidence, [pairs[i] for i in whole])
    grouped = list(found)
    for i, group in zip(whole, roots):
        grouped[i] = replace(grouped[i], group=group)
    return grouped
