"""Findings in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....trace.profile import amount_of, bare_kind, below_word, paths_word, weighed
from ....units import counted, duration, percentage
from ..findings.durations import LEAST_FACTOR
from ..findings.evidence import LEAST, Finding
from ..findings.sampling import COMPLETE, FEW_SAMPLES

#: Maximum number of functions written of a call path, the last ones.
_STEPS = 3
#: Maximum number of moved parts that are named.
_PARTS = 3
#: Minimum number of calls for which a median is reported.
_MEDIAN = 3


def sentence(finding: Finding) -> str:
    """Return one plain sentence (or two) with figures; code stands between backquotes."""
    return _SENTENCES[finding.kind](finding)


def caption(finding: Finding) -> str:
    """Return the caption above a picture, in one line."""
    f, (a, b) = finding, finding.functions
    times = [duration(ns) for ns in f.time_ns]
    if f.kind == "moved":
        return f"{a} in A, {b} in B: the same work below other callers ({times[0]} and {times[1]})"
    if f.kind in ("only", "alone", "unmatched"):
        s, name, other = _side(f)
        what = {"only": f"never in {other}", "alone": f"not in {other}", "unmatched": "without a match"}[
            f.kind
        ]
        where = _below(f) if f.kind == "alone" else ""
        return f"{f.functions[s]}{where}: {_times(f.calls[s])} in {name}, {what} ({times[s]})"
    if f.kind == "repetitions":
        return f"{a}{_below(f)}: {_times(f.calls[0])} in A, {_times(f.calls[1])} in B"
    if f.kind in ("slower", "faster"):
        own = [duration(ns) for ns in f.details["cause_self_ns"]]
        return f"{a} itself: {own[0]} in A, {own[1]} in B"
    if f.kind in ("heavier", "lighter"):
        itself = " itself" if f.details["itself"] else ""
        return f"{a or b}{itself}{without(f)}: {share_of(f.details, 0)} in A, {share_of(f.details, 1)} in B"
    return sentence(f).replace("`", "").split(": ")[0].split(". ")[0].rstrip(".")


def _below(f: Finding) -> str:
    return f" below {f.path[-2]}" if len(f.path) > 1 and f.details["paths"] == 1 else ""


def way(path: Sequence[str], steps: int = _STEPS) -> str:
    """Write the end of a call path.

    Parameters
    ----------
    path : sequence of str
        Labels, the root first.
    steps : int
        How many of the last are written.

    Returns
    -------
    str
    """
    shown = " > ".join(path[-steps:])
    return f"`… > {shown}`" if len(path) > steps else f"`{shown}`"


def _times(n: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(n, f"{n:,} times")


def _side(finding: Finding) -> tuple[int, str, str]:
    name = finding.details["trace"]
    s = "AB".index(name)
    return s, name, "BA"[s]


def _caller(path: Sequence[str]) -> str:
    return f" below {way(path[:-1], 2)}" if len(path) > 1 else ""


def _where(f: Finding) -> str:
    """Write below what a function is called, or on how many call paths it is."""
    many = f.details["paths"]
    if many == 1:
        return _caller(f.path)
    return f" on {many:,} call paths" + (
        f", most of its time below {way(f.path[:-1], 2)}" if f.path[1:] else ""
    )


def _most_alike(finding: Finding, other: str) -> str:
    best: dict[str, Any] | None = finding.details.get("most_alike")
    if best is None:
        return f" Nothing in {other} matches it."
    return (
        f" The most similar call in {other} is `{best['function']}` below {way(best['path'][:-1], 2)} "
        f"(similarity {best['similarity']:.2f})."
    )


def _unmatched(f: Finding) -> str:
    s, name, other = _side(f)
    d = f.details
    what = f"`{d['first']}`" if d["first"] == d["last"] else f"`{d['first']}` to `{d['last']}`"
    many = f"{f.calls[s]:,} stretches of {name}" if f.calls[s] > 1 else f"A stretch of {name}"
    longest = f", the longest {duration(d['longest_ns'])}" if f.calls[s] > 1 else ""
    return (
        f"{many} without a match in {other}: {what}{_caller(f.path)}, {duration(f.time_ns[s])} with "
        f"{counted(f.below[s], 'call')}{longest}, from {duration(d['longest_start_ns'])} on."
    ) + (f" {other} never calls `{d['first']}`." if d["new"] else "")


def _moved(f: Finding) -> str:
    parts = f.details["parts"]
    below_a, below_b = (_place(side[0]["path"]) for side in parts)
    if f.functions[0] == f.functions[1] and all(len(side) == 1 for side in parts):
        much = [
            f"{duration(time)}, {counted(below, 'call')}" + (" with all below" if below > calls else "")
            for time, below, calls in zip(f.time_ns, f.below, f.calls)
        ]
        return f"A calls `{f.functions[0]}` {below_a} ({much[0]}), B {below_b} ({much[1]})."
    texts = []
    for side, time, below in zip(parts, f.time_ns, f.below):
        named = ", ".join(f"`{part['function']}`" for part in side[:_PARTS])
        more = f" and {len(side) - _PARTS} more" if len(side) > _PARTS else ""
        texts.append(f"{named}{more} ({duration(time)}, {counted(below, 'call')})")
    if below_a == below_b:
        return f"What A does in {texts[0]} {below_a}, B does there in {texts[1]}."
    return f"What A does {below_a} in {texts[0]}, B does {below_b} in {texts[1]}."


def _place(path: Sequence[str]) -> str:
    """Write below what the last function of a call path is called."""
    return f"below {way(path[:-1], 2)}" if len(path) > 1 else "as a root call"


def _only(f: Finding) -> str:
    s, name, other = _side(f)
    d = f.details
    by = ", ".join(f"`{caller}`" for caller in d["callers"])
    more = d["caller_count"] - len(d["callers"])
    if more:
        by += f" and {counted(more, 'other')}"
    by = f", by {by}" if by else ""
    held = f" with {counted(f.below[s] - f.calls[s], 'call')} below" if f.below[s] > f.calls[s] else ""
    return (
        f"`{f.functions[s]}` is called {_times(f.calls[s])} in {name} and never in {other}: "
        f"{duration(f.time_ns[s])}{held}{by}." + _most_alike(f, other)
    )


def _alone(f: Finding) -> str:
    s, name, other = _side(f)
    held = f" with {counted(f.below[s] - f.calls[s], 'call')} below" if f.below[s] > f.calls[s] else ""
    elsewhere = f.details["elsewhere"]
    else_ = (
        f" ({other} calls it {_times(elsewhere)}, elsewhere)" if elsewhere else f" ({other} never calls it)"
    )
    return (
        f"Only {name} calls `{f.functions[s]}`{_where(f)}: {_times(f.calls[s])}, "
        f"{duration(f.time_ns[s])}{held}{else_}.{_as_often(f)}" + _most_alike(f, other)
    )


def _repetitions(f: Finding) -> str:
    a, b = f.calls
    whole = f.details["calls_of_function"]
    text = (
        f"`{f.functions[0]}` is called {_times(a)} in A and {_times(b)} in B{_where(f)}: "
        f"{duration(f.time_ns[0])} and {duration(f.time_ns[1])}, with all below {f.below[0]:,} and "
        f"{counted(f.below[1], 'call')}."
    )
    if itself := f.details.get("itself"):
        text += f" It calls itself {counted(itself[0], 'time')} in A and {counted(itself[1], 'time')} in B."
    if whole != [a, b]:
        text += f" In all, A calls it {_times(whole[0])} and B {_times(whole[1])}."
    if alike := f.details["with"]:
        text += f" So are, by nearly the same factor, {_some(alike)}."
    return text


def _as_often(f: Finding) -> str:
    others = f.details.get("with", [])
    return f" So often it calls {_some(others)} there, too." if others else ""


def _some(names: list[str]) -> str:
    named = ", ".join(f"`{name}`" for name in names[:_PARTS])
    return named + (f" and {len(names) - _PARTS} more" if len(names) > _PARTS else "")


def _offset(f: Finding) -> str:
    d = f.details
    later = "later" if d["change_ns"] > 0 else "earlier"
    where = f"after `{d['after']}`" if d["after"] else "at first"
    within = f"`{d['within']}` waits" if d["within"] else "nothing runs"
    return (
        f"Everything from `{f.functions[0]}` on starts {duration(abs(d['change_ns']))} {later} in B: "
        f"{where}, {within} {duration(f.time_ns[0])} in A and {duration(f.time_ns[1])} in B."
    )


def _time(f: Finding) -> str:
    d = f.details
    change = f"{duration(abs(d['change_ns']))} {'more' if f.kind == 'slower' else 'less'}"
    own_a, own_b = (duration(ns) for ns in d["cause_self_ns"])
    count = (
        counted(f.calls[0], "call")
        if f.calls[0] == f.calls[1]
        else f"{f.calls[0]:,} and {counted(f.calls[1], 'call')}"
    )
    pace = ""
    if abs(d["pace"] - 1) > 0.02 or abs(d["factor"] - 1) > 0.02:
        pace = " than expected from the pace of both runs"
    one, other = f.functions
    takes = f"`{one}` itself takes {own_a} in A and {own_b} in B"
    if one != other:
        takes = f"`{one}` itself takes {own_a} in A, and `{other}` in its place {own_b} in B"
    text = f"{takes} ({count}): {change}{pace}."
    if min(f.calls) < _MEDIAN:
        return text
    usual = [duration(ns) for ns in d["median_ns"]]
    return f"{text} The median call takes {usual[0]} and {usual[1]}; stalls are left out of the change."


def _stall(f: Finding) -> str:
    d = f.details
    name = d["trace"]
    longest = d["stalls"][0]
    where = f"`{longest['function']}`, from {duration(longest['start_ns'])} on"
    if d["count"] == 1:
        text = f"{name} stalls once, for {duration(d['longest_ns'])}, in {where}"
    else:
        text = (
            f"{name} stalls {_times(d['count'])}, for {duration(abs(d['change_ns']))} in all: the longest "
            f"takes {duration(d['longest_ns'])}, in {where}"
        )
    if d["single"]:
        return f"{text}. It is the only such call, so it may also have had more to do."
    return f"{text}. Other calls like it take no longer than in the other run."


def _drift(f: Finding) -> str:
    d = f.details
    a, b = (duration(ns) for ns in f.time_ns)
    if d["start"]:
        text = f"Importing the same {counted(d['modules'], 'module')} takes {a} in A and {b} in B"
        for name, n in zip("AB", d["compiled"]):
            if n > min(d["compiled"]):
                text += f": {name} compiles {n:,} of them anew"
        return text + "."
    return (
        f"Everything in `{f.functions[0]}`{_caller(f.path)} takes {d['factor']:.2f} times as long in B, "
        f"stalls left out ({a} and {b} with them). The rest of the run does not."
    )


def _pace(f: Finding) -> str:
    factor = f.details["factor"]
    a, b = (duration(ns) for ns in f.time_ns)
    if "kind" in f.details:
        return f"Everything in both profiles has {factor:.2f} times as much in B."
    return (
        f"Everything that both do takes {factor:.2f} times as long in B, in all call paths alike: {a} and "
        f"{b}. "
        f"Half of the paths are within {percentage(f.details['varies'])} of that."
    )


def _order(f: Finding) -> str:
    calls = f.details.get("after_calls")
    after = [
        f"after {counted(calls[s], 'call')} of `{name}`" if calls else f"after `{name}`" if name else "first"
        for s, name in enumerate(f.details["after"])
    ]
    names = f.details["functions"]
    what = f"`{f.functions[0]}`" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
    where = f" within {way(f.path[:-1], 2)}" if len(f.path) > 1 else ""
    comes = "come" if len(names) > 1 else "comes"
    return (
        f"{what} {comes} {after[0]} in A and {after[1]} in B{where}: {duration(f.time_ns[0])} and "
        f"{duration(f.time_ns[1])}."
    )


def _renamed(f: Finding) -> str:
    a, b = f.functions
    much = (
        f"{counted(f.calls[0], 'call')} and {counted(f.calls[1], 'call')}, "
        f"{duration(f.time_ns[0])} and {duration(f.time_ns[1])}."
    )
    if (score := f.details.get("name_score")) is not None:
        return f"`{a}` of A is `{b}` of B (names alike by {score:.0f} of 100): {much}"
    return f"Where A calls `{a}`, B calls `{b}`, which does similar work: {much}"


def _wrapped(f: Finding) -> str:
    through = []
    for name, functions in zip("AB", f.details["through"]):
        over = " > ".join(functions)
        through.append(f"{name} through `{over}`" if over else f"{name} directly")
    return f"`{f.functions[0]}` is called by {through[0]}, by {through[1]}."


def _alike(f: Finding) -> str:
    d = f.details
    if "kind" in d:
        a, b = (amount_of(d["kind"], total) for total in d["total"])
        much = "by more than chance explains"
        if bare_kind(d["kind"]) != "samples" and min(d["samples"]) < FEW_SAMPLES:
            much += " in {:,} and {:,} samples".format(*d["samples"])
        one = "function" if below_word(d["kind"]) == "calls" else "class"
        if d["kind"] in COMPLETE:
            much = f"by {percentage(LEAST_FACTOR - 1)}, and by {percentage(LEAST)} of the whole"
        return f"The profiles are alike: {a} and {b}, and no {one} differs {much}."
    if d["same_calls"]:
        text = f"Both runs make the same {counted(f.below[0], 'call')} in the same order."
    else:
        a, b = (counted(n, "call") for n in f.below)
        text = f"The runs are alike: {a} and {b}, no difference worth reporting."
    if d["most_ns"]:
        text += (
            f" No call path's own time differs by more than {percentage(d['most'])} of the run "
            f"({duration(d['most_ns'])}, `{d['most_function']}`), which is within the variation between runs."
        )
    return text


def _weight(f: Finding) -> str:
    d = f.details
    whole = " itself" if d["itself"] else f" with all that it {below_word(d['kind'])}"
    what = f"`{f.functions[0] or f.functions[1]}`{whole}"
    what += f"{clause}," if (clause := without(f, "`")) else ""
    shares = [share_of(d, s) for s in (0, 1)]
    if d["weight"][0] and d["weight"][1]:
        text = f"{what} has {shares[0]} in A and {shares[1]} in B"
    else:
        s = int(not d["weight"][0])
        text = f"{what} has {shares[s]} in {'AB'[s]} and nothing in {'BA'[s]}"
    if d["pace"] != 1:
        text += f"; the rest has {d['pace']:.2f} times as much in B"
    many = f", on {d['paths']:,} {paths_word(d['kind'])}" if d["paths"] > 1 else ""
    mostly = (", mostly" if d["mostly"] else ", the heaviest") if many and len(f.path) > 1 else ""
    return f"{text}{many}{mostly}{_caller(f.path)}."


def without(finding: Finding, quote: str = "") -> str:
    """Return what the weight of a finding does not count, as it is said of other findings.

    Parameters
    ----------
    finding : Finding
        Of the kinds ``heavier`` and ``lighter``.
    quote : str
        What stands around names.

    Returns
    -------
    str
        ``, not counting f``; empty where it counts all.
    """
    names = [
        "itself" if name in finding.functions else f"{quote}{name}{quote}"
        for name in finding.details.get("without", ())
    ]
    first, *more = names or [""]
    first = f"below {first}" if first and finding.details["itself"] else first
    others = f" and {more[0] if len(more) == 1 else f'{len(more):,} others'}" if more else ""
    return f", not counting {first}{others}" if first else ""


def share_of(details: dict[str, Any], s: int) -> str:
    """Return the weight of a finding in one of two profiles, with its share: ``19 % of the samples (114)``.

    Parameters
    ----------
    details : dict
        Of the finding.
    s : int
        0 for A, 1 for B.

    Returns
    -------
    str
    """
    kind, weight, total = details["kind"], details["weight"][s], details["total"][s]
    return f"{percentage(weight / max(total, 1), 2)} of {_whole(kind)} ({weighed(kind, weight)})"


def _whole(kind: str) -> str:
    return "the samples" if bare_kind(kind) == "samples" else f"the {bare_kind(kind)}"


_SENTENCES: dict[str, Callable[[Finding], str]] = {
    "unmatched": _unmatched,
    "moved": _moved,
    "only": _only,
    "alone": _alone,
    "repetitions": _repetitions,
    "offset": _offset,
    "slower": _time,
    "faster": _time,
    "pace": _pace,
    "drift": _drift,
    "stall": _stall,
    "order": _order,
    "renamed": _renamed,
    "wrapped": _wrapped,
    "heavier": _weight,
    "lighter": _weight,
    "alike": _alike,
}
