"""The parameters of the view compare that show a finding."""

from __future__ import annotations

import re

from ....units import short_time
from ..findings.evidence import Evidence, Finding, Range
from ..findings.find import Findings
from ..matching.defaults import IDENTITY, MEASURE, TAU
from ..matching.match import Comparison
from ..view.annotations.own_time import longest_own_stretch
from ..view.match_settings import written
from .sentences import caption

#: A window with a larger share of the trace shows the whole trace.
_MOST = 0.75
#: Margin on both sides, as a share of what is shown, and its minimum as a share of the trace.
_MARGIN, _LEAST_MARGIN = 0.25, 0.004
#: What takes less of its window than this is shown enlarged.
_SEEN = 0.03
#: Length of the enlarged window, relative to what is shown.
_CLOSER = 12.0
#: Number of callers drawn above what is shown.
_CALLERS = 4
#: Maximum number of framed calls in each trace, the longest first.
_FRAMED = 12


def settings(findings: Findings, finding: Finding) -> dict[str, str]:
    """Return the parameters of a figure of ``finding``, as texts that the command line takes, too.

    Parameters
    ----------
    findings : Findings
        With their evidence.
    finding : Finding
        One of them.

    Returns
    -------
    dict of str to str
    """
    found = {**of_comparison(findings.evidence.comparison), "annotate": "0", "repeats": "0"}
    shown = windows(findings.evidence, finding)
    if shown != (None, None) and (first := _first_depth(findings.evidence, finding)) > 1:
        found["first_depth"] = f"{first}"
    if shown != (None, None):
        found["overview"] = "no"
        if focus := _focus(finding):
            found["focus"] = focus
    if framed := mark(findings.evidence, finding, shown):
        found["mark"] = framed
    for name, window in zip("ab", shown):
        if window is not None:
            found[f"start_{name}"], found[f"end_{name}"] = (short_time(t) for t in window)
    if finding.kind == "order":
        found["color"] = "permutation"
    found["caption"] = caption(finding)
    return found


def of_comparison(comparison: Comparison) -> dict[str, str]:
    """Return the parameters by which the view compares as the findings did."""
    found = {}
    chosen, identity = comparison.settings, comparison.identity
    if float(chosen.tau) != TAU:
        found["tau"] = f"{float(chosen.tau):g}"
    if chosen.measure != MEASURE:
        found["measure"] = chosen.measure
    if identity.asked != IDENTITY:
        found["identity"] = identity.asked
    if identity.rewrite:
        found["rewrite"] = written(identity.rewrite)
    if identity.given:
        found["renamed"] = written((pair.a, pair.b) for pair in identity.given)
    if identity.fuzzy is not None:
        found["fuzzy"] = f"{identity.fuzzy:g}"
    return found


def _first_depth(evidence: Evidence, finding: Finding) -> int:
    """Return the first stack depth to draw: callers far above the calls in question add nothing."""
    highest = []
    for s, trace in enumerate(evidence.comparison.traces):
        shown = [finding.examples[s]] if finding.examples[s] >= 0 else []
        if len(finding.nodes):
            shown += evidence.longest_calls(finding.nodes, s, _FRAMED)
        if finding.details.get("most_alike") and finding.details.get("trace") != "AB"[s]:
            shown.append(finding.details["most_alike"]["call"])
        highest += [int(trace.calls.depth[call]) for call in shown]
    return max(min(highest, default=1) - _CALLERS, 1)


def mark(evidence: Evidence, finding: Finding, shown: tuple[Range | None, Range | None]) -> str:
    """Return the calls to frame: the longest ones of the finding in the windows.

    Parameters
    ----------
    evidence : Evidence
    finding : Finding
    shown : (Range or None, Range or None)
        The windows of A and B, in nanoseconds; None for all of a trace.

    Returns
    -------
    str
        As the parameter ``mark`` takes it; empty: nothing is framed.
    """
    if finding.kind in ("pace", "alike"):
        return ""
    if finding.kind == "only" and max(finding.calls) > _FRAMED:
        return _word(next(name for name in finding.functions if name))
    words: list[str] = []
    for s, example in enumerate(finding.examples):
        calls = [example] if example >= 0 else []
        if len(finding.nodes) and finding.kind not in ("unmatched", "stall"):
            calls = evidence.longest_calls(finding.nodes, s, _FRAMED, shown[s])
        words += [f"{'AB'[s]}:{call}" + " itself" * is_own(finding) for call in calls]
    return ", ".join(words)


def is_own(finding: Finding) -> bool:
    """Return whether a finding is about the time that calls take themselves, not about those below them."""
    return finding.kind in ("slower", "faster", "stall")


def _word(name: str) -> str:
    """Write a function's name as the parameters mark and focus take it."""
    return re.sub(r"[>,*]", "*", name)


def _focus(finding: Finding) -> str:
    """Return the calls whose matches keep their colours; all others become grey."""
    if is_own(finding):
        return ""
    if finding.kind == "repetitions":
        # With several call paths, the caller is omitted.
        last = finding.path[-1:] if finding.details["paths"] > 1 else finding.path[-2:]
        return " > ".join(_word(name) for name in last)
    if finding.kind in ("pace", "alike"):
        return ""
    a, b = finding.examples
    return f"A:{a}" if a >= 0 else f"B:{b}" if b >= 0 else ""


def windows(evidence: Evidence, finding: Finding) -> tuple[Range | None, Range | None]:
    """Return the time windows of A and B that show the finding; None for all of a trace.

    Where one trace has nothing to show, what the common caller does there is shown.

    Parameters
    ----------
    evidence : Evidence
    finding : Finding

    Returns
    -------
    Range or None, Range or None
        Nanoseconds.
    """
    if finding.kind in ("pace", "alike", "wrapped"):
        return None, None
    found: list[Range | None] = []
    for s, trace in enumerate(evidence.comparison.traces):
        whole = max(int(trace.calls.end.max(initial=1)), 1)
        own = finding.ranges[s]
        around = _caller(evidence, finding, s)
        span = own or around
        if span is None:
            found.append(None)
            continue
        if own is not None and finding.examples[s] >= 0:
            call = finding.examples[s]
            one = int(trace.calls.start[call]), int(trace.calls.end[call])
            if is_own(finding):
                one = longest_own_stretch(trace.calls, call)
                span = one if finding.calls[s] == 1 else span
            if finding.kind == "offset":
                one = own
            if one[1] - one[0] < _SEEN * (span[1] - span[0]):
                # Scattered: the longest of them, with its neighbours.
                half = round((one[1] - one[0]) * _CLOSER / 2)
                middle = (one[0] + one[1]) // 2
                span = (middle - half, middle + half)
        margin = max(round(_MARGIN * (span[1] - span[0])), round(_LEAST_MARGIN * whole))
        low, high = max(span[0] - margin, 0), min(span[1] + margin, whole)
        found.append(None if high - low > _MOST * whole else (low, high))
    return found[0], found[1]


def _caller(evidence: Evidence, finding: Finding, trace: int) -> Range | None:
    """Return from when to when the nearest caller that both traces have runs."""
    best = finding.details.get("most_alike")
    if best and finding.details.get("trace") != "AB"[trace]:
        return best["start_ns"], best["start_ns"] + best["time_ns"]
    if not len(finding.nodes):
        return None
    node = int(evidence.paths.parent[finding.nodes[0]])
    while node >= 0 and not evidence.paths.calls[trace, node]:
        node = int(evidence.paths.parent[node])
    if node < 0:
        return None
    low, high = evidence.hulls[trace, :, node].tolist()
    return low, high
