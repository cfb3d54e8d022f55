"""Findings in a few words: the title of a picture, and the texts of callouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .....trace.profile import amount_of, bare_kind, weighed
from .....units import counted, duration, percentage
from ...findings.evidence import Finding
from ...findings.sampling import COMPLETE
from ...report.sentences import without

#: Maximum number of characters of a function's name.
_LONGEST = 44


def headline(finding: Finding) -> str:
    """Return a finding as a title: one plain sentence without a final period.

    Parameters
    ----------
    finding : Finding

    Returns
    -------
    str
    """
    f, d = finding, finding.details
    a, b = (_short(name) for name in f.functions)
    kind = f.kind
    if kind in ("only", "alone", "unmatched"):
        s, name, other = _side(f)
        what, time = (a, b)[s], duration(f.time_ns[s], 2)
        if kind == "unmatched" and not d["new"]:
            return f"{name} spends {time} in {what}, which nothing in {other} matches"
        if kind in ("only", "unmatched") or not d.get("elsewhere"):
            return f"{name} spends {time} in {what}, which {other} never calls"
        return f"Only {name} calls {what}{_below(f)}: {time}"
    if kind == "repetitions":
        many = [f"{counted(n, 'time') if n else 'never'} in {name}" for n, name in zip(f.calls, "AB")]
        return f"{a}: called {many[0]}, {many[1]}"
    if kind in ("slower", "faster"):
        change = duration(abs(d["change_ns"]), 2)
        word = "longer" if kind == "slower" else "less"
        itself = " itself" if d["cause"] == f.functions[0] else ""
        return f"{a}{itself} takes {change} {word} in B"
    if kind in ("heavier", "lighter"):
        itself = " itself" if d["itself"] else ""
        itself += f"{clause}," if (clause := without(f)) else ""
        shares, weights = _weights(finding)
        if d["pace"] != 1:
            return f"{a or b}{itself} has {shares[0]} of A's {bare_kind(d['kind'])}, {shares[1]} of B's"
        if not all(d["weight"]):
            s = int(not d["weight"][0])
            return (
                f"{a or b}{itself} has {amount_of(d['kind'], d['weight'][s])} in {'AB'[s]}, none in {'BA'[s]}"
            )
        return f"{a or b}{itself} has {amount_of(d['kind'], d['weight'][0])} in A, {weights[1]} in B"
    if kind == "offset":
        later = "later" if d["change_ns"] > 0 else "earlier"
        return f"Everything from {a} on starts {duration(abs(d['change_ns']), 2)} {later} in B"
    if kind == "moved":
        if a == b:
            callers = _callers(f)
            if callers is None:
                return f"A and B call {a} in different places"
            return f"A calls {a} in {callers[0]}, B in {callers[1]}"
        return f"Work moved from {a} in A to {b} in B"
    if kind == "order":
        return f"{a} comes {_after(d, 0)} in A, {_after(d, 1)} in B"
    if kind == "renamed":
        return f"{a} of A is {b} of B" if "name_score" in d else f"B calls {b} where A calls {a}"
    if kind == "wrapped":
        over = [" > ".join(names) for names in d["through"]]
        if not all(over):
            return f"{'AB'[bool(over[1])]} calls {a} through {_short(over[0] or over[1])}"
        return f"A and B reach {a} through different functions"
    if kind == "pace":
        factor = d["factor"]
        if "kind" in d:
            return f"Everything weighs {factor:.2f} times as much in B as in A"
        return f"Everything takes {factor:.2f} times as long in B as in A"
    if kind == "drift":
        word = "longer" if d["change_ns"] > 0 else "shorter"
        if d["start"]:
            return f"B takes {duration(abs(d['change_ns']), 2)} {word} to import its modules"
        return f"Everything in {a} takes {word} in B, {d['factor']:.2f} times"
    if kind == "stall":
        name, long = d["trace"], duration(d["longest_ns"], 2)
        where = _short(d["stalls"][0]["function"])
        where = "the code of a module" if where == "<module>" else where
        if d["count"] == 1:
            return f"{name} stalls once, for {long} in {where}"
        return f"{name} stalls {d['count']} times, the longest {long} in {where}"
    if "kind" in d:
        return "A and B are alike" if d["kind"] in COMPLETE else "A and B are alike, but for chance"
    return "A and B make the same calls" if d.get("same_calls") else "A and B are alike"


def title(found: Sequence[Finding]) -> str:
    """Return the most important finding as a title, after the fact that the calls are the same.

    Parameters
    ----------
    found : sequence of Finding
        The most important first.

    Returns
    -------
    str
        Empty if nothing was found.
    """
    if not found:
        return ""
    same = next((f for f in found if f.kind == "alike" and f.details.get("same_calls")), None)
    first = headline(found[0])
    return first if same is None or same is found[0] else f"{headline(same)}; {first}"


def short(finding: Finding, trace: int | None = None) -> tuple[str, str]:
    """Return a finding as a callout: what, in eight words at most, and how much.

    Parameters
    ----------
    finding : Finding
    trace : int, optional
        Where it stands: 0 in A, 1 in B. A different order is reported for each.

    Returns
    -------
    (str, str)
    """
    f, d = finding, finding.details
    a, b = (_short(name) for name in f.functions)
    times = [duration(ns, 2) for ns in f.time_ns]
    both = f"{times[0]} in A, {times[1]} in B"
    if f.kind in ("only", "alone", "unmatched"):
        s, name, other = _side(f)
        many = f"{f.calls[s]:,} calls, " if f.calls[s] > 1 else ""
        unmatched = f.kind == "unmatched" and not d["new"]
        words = f"without a match in {other}" if unmatched else f"only in {name}"
        if d.get("elsewhere"):
            return f"{(a, b)[s]}: called here only in {name}", f"{many}{times[s]}; {other} calls it elsewhere"
        return f"{(a, b)[s]}: {words}", f"{many}{times[s]}"
    if f.kind == "repetitions":
        return f"{a}: {f.calls[0]:,} → {f.calls[1]:,} calls", both
    if f.kind in ("slower", "faster"):
        change = duration(abs(d["change_ns"]), 2)
        own = [duration(ns, 2) for ns in d["cause_self_ns"]]
        where = both if d["cause"] != f.functions[0] else f"itself {own[0]} in A, {own[1]} in B"
        before, after = d["cause_self_ns"]
        if abs(after - d["pace"] * before - d["change_ns"]) > abs(d["change_ns"]):
            where = f"without stalls; {own[0]} in A, {own[1]} in B with them"
        return f"{a}: {change} {'more' if f.kind == 'slower' else 'less'} in B", where
    if f.kind in ("heavier", "lighter"):
        shares, weights = _weights(finding)
        return (
            f"{a or b}{' itself' * d['itself']}: {weights[0]} → {amount_of(d['kind'], d['weight'][1])}",
            f"{shares[0]} of A, {shares[1]} of B{without(f)}",
        )
    if f.kind == "offset":
        later = "later" if d["change_ns"] > 0 else "earlier"
        return f"{a} on: {duration(abs(d['change_ns']), 2)} {later} in B", ""
    if f.kind == "moved":
        if a != b:
            return f"{a} → {b}", both
        callers = _callers(f)
        return f"{a}: called " + (f"in {callers[0]} → {callers[1]}" if callers else "elsewhere"), both
    if f.kind == "order":
        if trace is None:
            return f"{a}: in another order", both
        return f"{(a, b)[trace]}: {_after(d, trace)} in {'AB'[trace]}", times[trace]
    if f.kind == "renamed":
        return f"{a} → {b}: {'renamed' if 'name_score' in d else 'in its place'}", both
    if f.kind == "wrapped":
        return f"{a}: called through other functions", both
    if f.kind == "drift":
        word = "longer" if d["change_ns"] > 0 else "shorter"
        return f"{'imports' if d['start'] else a}: all {word} in B", both
    if f.kind == "stall":
        longest = d["stalls"][0]
        text = f"{_short(longest['function'])}: {d['trace']} stalls {duration(d['longest_ns'], 2)}"
        return text, f"{d['count']} stalls" if d["count"] > 1 else ""
    return headline(f), ""


def _weights(finding: Finding) -> tuple[list[str], list[str]]:
    """Return the shares that a finding has of two profiles, and their weights."""
    d = finding.details
    shares = [percentage(weight / max(total, 1), 2) for weight, total in zip(d["weight"], d["total"])]
    return shares, [weighed(d["kind"], weight) for weight in d["weight"]]


def _side(finding: Finding) -> tuple[int, str, str]:
    name = finding.details["trace"]
    s = "AB".index(name)
    return s, name, "BA"[s]


def _callers(f: Finding) -> tuple[str, str] | None:
    """Return what calls a moved function in A and in B, if these have different names."""
    paths = [f.path, f.details["path_b"]]
    if min(map(len, paths)) < 2 or paths[0][-2] == paths[1][-2]:
        return None
    return _short(paths[0][-2]), _short(paths[1][-2])


def _below(f: Finding) -> str:
    return f" below {_short(f.path[-2])}" if len(f.path) > 1 and f.details.get("paths", 1) == 1 else ""


def _after(details: dict[str, Any], trace: int) -> str:
    name = details["after"][trace]
    if "after_calls" in details:
        return f"after {counted(details['after_calls'][trace], 'call')} of {_short(name)}"
    return f"after {_short(name)}" if name else "first"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"…{name[-_LONGEST + 1 :]}"
