"""The same work below different callers: calls that only A makes in one place and only B in another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....kernels.comparison.findings import ALONE, inherit
from .evidence import TOLERANCE, Evidence, Finding
from .likeness import most_alike
from .paths import FEW_ELSEWHERE

#: Maximum number of findings for which the most similar call is searched, the most important ones.
_MOST_ASKED = 60
#: Work has moved if the other trace makes at least this share of its calls.
_AS_MUCH = 1 / 3
#: Calls are made in place of others if they are at least this share of what is missing there.
_IN_PLACE = 0.5
#: Minimum number of calls for which equal numbers are evidence.
_ENOUGH = 5


def add_most_similar(evidence: Evidence, found: list[Finding]) -> list[Finding]:
    """Add the most similar call of the other trace to findings about calls of one trace: ``most_alike``.

    Parameters
    ----------
    evidence : Evidence
    found : list of Finding
        They stay as they are.

    Returns
    -------
    list of Finding
    """
    completed = list(found)
    for s in range(2):
        wanted = [
            i
            for i, f in enumerate(found)
            if f.kind in ("alone", "only") and f.details["trace"] == "AB"[s] and f.examples[s] >= 0
        ][:_MOST_ASKED]
        for i, best in zip(wanted, most_alike(evidence, s, [found[i].examples[s] for i in wanted])):
            f = replace(completed[i], details={**completed[i].details, "most_alike": best})
            if best and f.kind == "only":  # the other trace does the work below it, too
                own = float(evidence.calm_self[s, f.nodes].sum())
                f = replace(f, score=evidence.share(own, f.calls[s]))
            completed[i] = f
    return completed


def together(evidence: Evidence, found: list[Finding]) -> list[Finding]:
    """Take calls that the same callers make alone, equally often each, as one finding.

    It is reported by the function that the other trace never calls, if there is one, else by the one that
    takes longest; ``with`` holds the others' names.

    Parameters
    ----------
    evidence : Evidence
    found : list of Finding

    Returns
    -------
    list of Finding
    """
    made: dict[tuple[Any, ...], list[Finding]] = {}
    for f in found:
        if f.kind == "alone":
            s = "AB".index(f.details["trace"])
            calls = sorted(
                zip(evidence.paths.parent[f.nodes].tolist(), evidence.paths.calls[s, f.nodes].tolist())
            )
            made.setdefault((s, *calls), []).append(f)
    instead: dict[int, Finding | None] = {}
    for (s, *_), findings in made.items():
        if len(findings) > 1:
            first, *others = sorted(findings, key=lambda f: (f.details["elsewhere"] > 0, -f.time_ns[s]))
            nodes = np.concatenate([first.nodes, *(f.nodes for f in others)])
            time, below = int(evidence.calm_time[s, nodes].sum()), sum(f.below[s] for f in findings)
            instead.update(dict.fromkeys(map(id, others)))
            instead[id(first)] = replace(
                first,
                score=evidence.share(time, below),
                nodes=nodes,
                details={**first.details, "with": [f.functions[s] for f in others]},
            )
    return [kept for f in found if (kept := instead.get(id(f), f)) is not None]


def merge_alone_into_only(found: list[Finding]) -> list[Finding]:
    """Take calls of a function that the other trace never calls, in one place and in all, as one finding.

    It is about all its calls, and has the higher score of both.

    Parameters
    ----------
    found : list of Finding

    Returns
    -------
    list of Finding
    """
    never = {
        (f.details["trace"], f.functions): f
        for f in found
        if f.kind == "alone" and not f.details["elsewhere"] and not f.details.get("with")
    }
    kept, merged = [], set()
    for f in found:
        part = never.get((f.details["trace"], f.functions)) if f.kind == "only" else None
        if part is not None and len(f.nodes) > len(part.nodes):
            f = replace(f, score=max(f.score, part.score))
            merged.add(id(part))
        kept.append(f)
    return [f for f in kept if id(f) not in merged]


def joined(evidence: Evidence, found: list[Finding]) -> list[Finding]:
    """Join findings of the kind ``alone`` that are the same work: one finding of the kind ``moved``.

    They may be the same work if they are calls of the same function, or if what the one is most like lies
    within the calls of the other; they are if they have a function in common that is hardly called elsewhere,
    or are calls of the same function, as many, with as many below: what many functions call is not evidence.
    So are those of the same callers of which one calls the other's function. The old place has stopped doing
    it, since these are paths of one trace alone. What went from one caller to another goes together. Calls
    that are missing because of it, or because they are made ``alone`` elsewhere, are no findings of their
    own.

    Parameters
    ----------
    evidence : Evidence
    found : list of Finding
        With ``most_alike``, the most important first.

    Returns
    -------
    list of Finding
    """
    paths = evidence.paths
    top = np.where(evidence.state == ALONE, np.arange(len(paths)), -1).astype(np.int32)
    inherit(paths.parent, top)
    which = [i for i, f in enumerate(found) if f.kind == "alone"]
    of_node = {node: i for i in which for node in found[i].nodes.tolist()}
    leader = {i: i for i in which}

    def lead(i: int) -> int:
        while leader[i] != i:
            i = leader[i]
        return i

    def join(i: int, j: int) -> None:
        i, j = sorted((lead(i), lead(j)))
        leader[j] = i

    inside = {i: _functions(evidence, found[i]) for i in which}
    every = _total(evidence)

    def same_work(i: int, j: int) -> bool:
        both = (inside[i] > 0) & (inside[j] > 0)
        rare = bool((every - inside[i] - inside[j] <= FEW_ELSEWHERE)[both].any())
        return rare or _as_many(found[i], found[j])

    by_name: dict[int, int] = {}
    by_callers: dict[frozenset[int], list[int]] = {}
    beyond: dict[int, float] = {}
    for i in which:
        f = found[i]
        s = "AB".index(f.details["trace"])
        function = int(paths.function[s, f.nodes[0]])
        if function in by_name and same_work(i, by_name[function]):
            join(i, by_name[function])
        by_name.setdefault(function, i)
        beside = by_callers.setdefault(frozenset(paths.parent[f.nodes].tolist()), [])
        for j in beside:
            for inner, outer in ((i, j), (j, i)):
                if (itself := _beyond(evidence, found[inner], found[outer])) is not None:
                    join(i, j)
                    beyond[outer] = min(beyond.get(outer, itself), itself)
        beside.append(i)
        if best := f.details.get("most_alike"):
            node = int(top[paths.of_call[1 - s][best["call"]]])
            if node in of_node and same_work(i, of_node[node]):
                join(i, of_node[node])
    # Calls that moved from one caller to the same other one moved together.
    between: dict[tuple[int, int], int] = {}
    for group in _by(which, lead).values():
        callers = [
            {int(paths.parent[found[i].nodes[0]]) for i in group if found[i].details["trace"] == name}
            for name in "AB"
        ]
        if all(len(side) == 1 for side in callers):
            key = (callers[0].pop(), callers[1].pop())
            join(group[0], between.setdefault(key, group[0]))
    parts = {i: [found[k] for k in group] for i, group in _by(which, lead).items()}
    left = []
    for i, f in enumerate(found):
        if f.kind != "alone" or not _is_move(parts[lead(i)]):
            left.append(replace(f, score=beyond[i]) if i in beyond else f)
        elif i in parts:
            left.append(_moved(evidence, parts[i]))
    causes = [f for f in left if f.kind in ("moved", "alone")]
    return [f for f in left if not any(_is_caused_by(evidence, f, cause) for cause in causes)]


def _is_move(parts: list[Finding]) -> bool:
    """Return whether both traces do about the same amount of work in these findings."""
    below = [sum(f.below[s] for f in parts if f.details["trace"] == name) for s, name in enumerate("AB")]
    return min(below) >= _AS_MUCH * max(below)


def _as_many(one: Finding, other: Finding) -> bool:
    """Return whether two findings are about equally many calls of one function, with equally many below."""
    s, t = ("AB".index(f.details["trace"]) for f in (one, other))
    return one.functions[s] == other.functions[t] and all(
        min(a, b) >= _ENOUGH and abs(a - b) <= TOLERANCE * max(a, b)
        for a, b in ((one.calls[s], other.calls[t]), (one.below[s], other.below[t]))
    )


def _beyond(evidence: Evidence, inner: Finding, outer: Finding) -> float | None:
    """Return the share of calls without those of a function that the other trace calls directly.

    None if they are calls of one trace, or don't call that function.
    """
    paths = evidence.paths
    s, t = ("AB".index(f.details["trace"]) for f in (inner, outer))
    called = np.isin(paths.parent, outer.nodes) & (paths.function[t] == paths.function[s, inner.nodes[0]])
    if s == t or not called.any():
        return None
    time = evidence.calm_time[t, outer.nodes].sum() - evidence.calm_time[t, called].sum()
    return evidence.share(float(time), float(outer.below[t] - paths.below[t, called].sum()))


def _functions(evidence: Evidence, finding: Finding) -> NDArray[np.int64]:
    """Return how many paths of a finding about one trace, and below, end in each function."""
    function = evidence.paths.function["AB".index(finding.details["trace"]), evidence.within(finding.nodes)]
    return np.bincount(function, minlength=len(evidence.comparison.identity)).astype(np.int64)


def _total(evidence: Evidence) -> NDArray[np.int64]:
    """Return how many paths of both traces end in each function."""
    paths, n = evidence.paths, len(evidence.comparison.identity)
    other = paths.function[1] != paths.function[0]
    found = np.bincount(paths.function[0], minlength=n) + np.bincount(paths.function[1, other], minlength=n)
    return found.astype(np.int64)


def _by(which: list[int], lead: Callable[[int], int]) -> dict[int, list[int]]:
    """Return the members of each group, by its leader."""
    groups: dict[int, list[int]] = {}
    for i in which:
        groups.setdefault(lead(i), []).append(i)
    return groups


def _moved(evidence: Evidence, parts: list[Finding]) -> Finding:
    sides = [[f for f in parts if f.details["trace"] == name] for name in "AB"]
    largest = [max(side, key=lambda f: f.score) for side in sides]

    def both(name: str) -> tuple[int, int]:
        a, b = (sum(getattr(f, name)[s] for f in side) for s, side in enumerate(sides))
        return a, b

    ranges = []
    for s, side in enumerate(sides):
        spans = [span for f in side if (span := f.ranges[s]) is not None]
        ranges.append((min(low for low, _ in spans), max(high for _, high in spans)))
    time, below = both("time_ns"), both("below")
    calm = [sum(int(evidence.calm_time[s, f.nodes].sum()) for f in side) for s, side in enumerate(sides)]
    details: dict[str, Any] = {
        "parts": [
            [
                {
                    "function": f.functions[s],
                    "calls": f.calls[s],
                    "time_ns": f.time_ns[s],
                    "below": f.below[s],
                    "path": list(f.path),
                }
                for f in side
            ]
            for s, side in enumerate(sides)
        ],
        "path_b": list(largest[1].path),
    }
    return Finding(
        "moved",
        # Both traces do it: the smaller side is the moved part.
        evidence.share(min(calm), min(below)),
        (largest[0].functions[0], largest[1].functions[1]),
        largest[0].path,
        both("calls"),
        time,
        below,
        (ranges[0], ranges[1]),
        (largest[0].examples[0], largest[1].examples[1]),
        certainty="likely",
        details=details,
        nodes=np.concatenate([f.nodes for f in parts]),
    )


def _is_caused_by(evidence: Evidence, finding: Finding, cause: Finding) -> bool:
    """Return whether calls are only missing because work was moved, or because they are made elsewhere.

    Repetitions: at least half of what is below them in one trace alone was moved there. Else both traces call
    the function as often. Repetitions: what is missing is beside or below what was moved; or
    at least half of it is among what the trace that lacks it calls elsewhere alone, or below that. Calls of
    one trace alone: half of them are below what the other calls alone.
    """
    if finding.kind not in ("repetitions", "alone"):
        return False
    paths, s = evidence.paths, "AB".index(finding.details.get("trace", "A"))
    if finding.kind == "repetitions" and cause.kind == "moved" and _took_in(evidence, finding, cause):
        return True
    function = paths.function[s, finding.nodes[0]]
    a, b = evidence.calls_of_function[:, function].tolist()
    if abs(a - b) > TOLERANCE * max(a, b):
        return False
    within = evidence.within(cause.nodes)
    if cause.kind == "alone":
        other = "AB".index(cause.details["trace"])
        if finding.kind == "alone":
            within[cause.nodes] = False
        missing = finding.calls[1 - other] - finding.calls[other]
        there = paths.calls[other, within & (paths.function[other] == function)].sum()
        return bool(missing > 0 and there >= _IN_PLACE * missing)
    if finding.kind == "alone":
        return False
    callers = set(paths.parent[cause.nodes].tolist())
    near = set(finding.nodes.tolist()) | set(paths.parent[finding.nodes].tolist())
    return bool(callers & near or (paths.function[:, within] == function).any())


def _took_in(evidence: Evidence, finding: Finding, move: Finding) -> bool:
    """Return whether half of what calls have below them in one trace alone is what was moved there."""
    paths, nodes = evidence.paths, finding.nodes
    more = float((paths.below[1, nodes] - evidence.before[nodes] * paths.below[0, nodes]).sum())
    side = int(more > 0)
    inside = move.nodes[evidence.within(nodes)[move.nodes]]
    return bool(abs(more) > 0 and paths.below[side, inside].sum() >= _IN_PLACE * abs(more))
