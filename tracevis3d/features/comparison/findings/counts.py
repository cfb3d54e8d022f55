"""Findings about calls: paths and functions of only one trace, and repetitions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ....kernels.comparison.findings import ALIKE, ALONE, RECOUNTED, find_outermost_nodes
from .evidence import TOLERANCE, Evidence, Finding

#: A wrapper is a finding of its own from this share of the time on.
_WORTH_TELLING = 0.01
#: Calls that take this share of a run, and are made more or less often, are units of its work.
_UNIT = 0.1
#: What a sum is beyond rounding.
_NOTHING = 1e-6
#: Python's names of code that has none, and the share of the calls below it by which it is reported.
_NAMELESS, _NEARLY_ALL = re.compile(r"<(genexpr|listcomp|setcomp|dictcomp|lambda)>$"), 0.9

Ints = NDArray[np.int64]


def by_function(evidence: Evidence, nodes: Ints, trace: int) -> Iterator[Ints]:
    """Yield the paths of ``nodes`` that end in the same function, the longest path first.

    Parameters
    ----------
    evidence : Evidence
    nodes : int64 (k,)
        Paths.
    trace : int
        0 for A, 1 for B.

    Returns
    -------
    iterator of int64 (k,)
    """
    if not len(nodes):
        return
    function = evidence.paths.function[trace, nodes]
    order = np.lexsort((nodes, -evidence.paths.time[trace, nodes], function))
    nodes, function = nodes[order], function[order]
    yield from np.split(nodes, np.flatnonzero(function[1:] != function[:-1]) + 1)


def repetitions(evidence: Evidence) -> list[Finding]:
    """Return functions that are called more or less often where both traces call them."""
    paths, found = evidence.paths, []
    for nodes in by_function(evidence, np.flatnonzero(evidence.state == RECOUNTED), 0):
        expected = evidence.before[nodes]
        more = float((paths.calls[1, nodes] - expected * paths.calls[0, nodes]).sum())
        calm = evidence.calm_time[:, nodes]
        time = float((calm[1] - evidence.pace * expected * calm[0]).sum())
        calls = float((paths.below[1, nodes] - expected * paths.below[0, nodes]).sum())
        # Where more calls are less work, their number is not what changed the work.
        is_work = more * calls > -_NOTHING
        change = evidence.share(time, calls) if is_work else evidence.share(0.0, more)
        nodes = _reported_by(evidence, nodes)
        first = int(nodes[0])
        # It may have another name in B.
        in_all = [int(evidence.calls_of_function[s, paths.function[s, first]]) for s in range(2)]
        about = evidence.about(nodes)
        shares = [
            part / max(whole, 1)
            for parts, wholes in ((about["time_ns"], evidence.time), (about["below"], evidence.calls))
            for part, whole in zip(parts, wholes)
        ]
        found.append(
            Finding(
                "repetitions",
                change,
                (evidence.label(first, 0), evidence.label(first, 1)),
                evidence.way(first),
                **about,
                details={
                    "paths": len(nodes),
                    "unit": is_work and max(shares) >= _UNIT,
                    "with": [],
                    "calls_of_function": in_all,
                },
            )
        )
    return found


def _reported_by(evidence: Evidence, nodes: Ints, sides: tuple[int, ...] = (0, 1)) -> Ints:
    """Return the paths by which calls of some are reported: of code without a name, what it calls.

    A generator expression is resumed once more than it has values, and its name says nothing. What it calls
    tells more, if that is one function, which makes nearly all calls below it; of two traces as much more
    often. ``sides`` are the traces that make the calls.
    """
    paths, both = evidence.paths, len(sides) > 1
    side = np.array(sides)[:, None]
    while _NAMELESS.search(evidence.label(int(nodes[0]), sides[0])):
        below = np.flatnonzero(np.isin(paths.parent, nodes))
        below = below[evidence.state[below] == ALIKE] if both else below
        most = max(
            by_function(evidence, below, sides[0]),
            key=lambda of: int(paths.below[side, of].sum()),
            default=below,
        )
        held = (paths.below[side, nodes] - paths.calls[side, nodes]).sum(axis=1)
        if not len(most) or (paths.below[side, most].sum(axis=1) < _NEARLY_ALL * held).any():
            break
        nodes = most
    return nodes


def recursions(evidence: Evidence) -> list[Finding]:
    """Return functions that call themselves more or less often, though others call them as often as before.

    Parameters
    ----------
    evidence : Evidence
        Its paths take calls of a function by itself as one.

    Returns
    -------
    list of Finding
    """
    paths, found = evidence.paths, []
    inner = own_calls(evidence)
    expected = evidence.factor * inner[0]
    most, least = np.maximum(inner[1], expected), np.minimum(inner[1], expected)
    differs = (evidence.state == ALIKE) & (most > (1.0 + TOLERANCE) * least)
    for nodes in by_function(evidence, np.flatnonzero(differs), 0):
        first = int(nodes[0])
        change = max(
            abs(float((inner[1, nodes] - expected[nodes]).sum())),
            abs(float((paths.below[1, nodes] - evidence.factor[nodes] * paths.below[0, nodes]).sum())),
        )
        about = evidence.about(nodes)
        itself = [int(row[nodes].sum()) for row in inner]
        in_all = [int(evidence.calls_of_function[s, paths.function[s, first]]) for s in range(2)]
        about["calls"] = tuple(outer + more for outer, more in zip(about["calls"], itself))
        found.append(
            Finding(
                "repetitions",
                evidence.share(0.0, change),
                (evidence.label(first, 0), evidence.label(first, 1)),
                evidence.way(first),
                **about,
                details={
                    "paths": len(nodes), "unit": False, "with": [], "calls_of_function": in_all,
                    "itself": itself,
                },
            )
        )  # fmt: skip
    return found


def own_calls(evidence: Evidence) -> Ints:
    """Return how many calls of each path are made by a call of the same path: int64 (2, n).

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    int64 (2, n)
    """
    rows = []
    for trace, of in zip(evidence.comparison.traces, evidence.paths.of_call):
        calls = trace.calls
        above = calls.parent
        again = (above >= 0) & (of[above] == of) & (calls.function[above] == calls.function)
        rows.append(np.bincount(of[again], minlength=len(evidence.paths)))
    return np.stack(rows).astype(np.int64)


def alone(evidence: Evidence) -> list[Finding]:
    """Return functions that a caller of both traces calls in one of them alone."""
    paths = evidence.paths
    chosen = np.flatnonzero(evidence.state == ALONE)
    chosen = chosen[~np.isin(chosen, _mere_wrappers(evidence))]
    found = []
    for s in range(2):
        for nodes in by_function(evidence, chosen[paths.calls[s, chosen] > 0], s):
            nodes = _reported_by(evidence, nodes, (s,))
            first = int(nodes[0])
            about = evidence.about(nodes)
            elsewhere = int(evidence.calls_of_function[1 - s, paths.function[1 - s, first]])
            found.append(
                Finding(
                    "alone",
                    evidence.share(int(evidence.calm_time[s, nodes].sum()), about["below"][s]),
                    _one_sided(evidence.label(first, s), s),
                    evidence.way(first),
                    **about,
                    details={"trace": "AB"[s], "paths": len(nodes), "elsewhere": elsewhere},
                )
            )
    return found


def _mere_wrappers(evidence: Evidence) -> list[int]:
    """Return the paths that are reported as stepped over and are too short to be reported themselves."""
    time = evidence.paths.time.max(axis=0)
    every = [node for detour in evidence.paths.detours for node in detour.wrappers]
    return [node for node in every if time[node] < _WORTH_TELLING * evidence.most_time]


def _one_sided(label: str, trace: int) -> tuple[str, str]:
    return (label, "") if trace == 0 else ("", label)


def new_functions(evidence: Evidence) -> list[Finding]:
    """Return functions that one trace never calls; not those below others of that kind."""
    paths, found = evidence.paths, []
    missing = evidence.calls_of_function == 0
    for s in range(2):
        # A function that stands in for another has the other's number in the other trace.
        chosen = missing[1 - s, paths.function[1 - s]] & (paths.calls[s] > 0)
        chosen[_mere_wrappers(evidence)] = False
        for nodes in by_function(evidence, np.flatnonzero(chosen), s):
            # Code without a name is reported by what it calls, which the other trace may call elsewhere.
            chosen[nodes] = _reported_by(evidence, nodes, (s,)) is nodes
        within = np.empty(len(paths), np.uint8)
        find_outermost_nodes(paths.parent, chosen.astype(np.uint8), within)
        for nodes in by_function(evidence, np.flatnonzero(chosen & (within == 0)), s):
            about = evidence.about(nodes)
            first = int(nodes[0])
            label = evidence.label(first, s)
            callers: dict[str, int] = {}
            for node in nodes.tolist():
                up = int(paths.parent[node])
                if up >= 0:
                    name = evidence.label(up, s)
                    callers[name] = callers.get(name, 0) + int(paths.calls[s, node])
            most = sorted(callers, key=lambda name: (-callers[name], name))
            share = evidence.share(int(evidence.calm_time[s, nodes].sum()), about["below"][s])
            details = {"trace": "AB"[s], "paths": len(nodes), "callers": most[:3], "caller_count": len(most)}
            way = evidence.way(first)
            found.append(Finding("only", share, _one_sided(label, s), way, **about, details=details))
    return found


def detours(evidence: Evidence) -> list[Finding]:
    """Return functions that stand in for others, and calls that are wrapped in one trace alone."""
    found = []
    labels = evidence.labels
    for detour in evidence.paths.detours:
        nodes = np.array([detour.node])
        about = evidence.about(nodes)
        names = (evidence.label(detour.node, 0), evidence.label(detour.node, 1))
        own = evidence.paths.self_time[:, detour.node]
        if not detour.a and not detour.b:
            share = evidence.share(float(own.max()), float(max(about["calls"])))
            found.append(
                Finding("renamed", share, names, evidence.way(detour.node), certainty="likely", **about)
            )
            continue
        over = [[labels[f] for f in side] for side in (detour.a, detour.b)]
        share = evidence.share(0.0, float(max(about["calls"]) * max(map(len, over))))
        found.append(
            Finding("wrapped", share, names, evidence.way(detour.node), **about, details={"through": over})
        )
    found += _renamed_everywhere(evidence)
    found += _renamed_by_name(evidence)
    return found


def _renamed_everywhere(evidence: Evidence) -> list[Finding]:
    """Return the functions of A for which others do the same work in B, wherever they are called."""
    found, paths = [], evidence.paths
    for one, other in paths.renamed:
        chosen = (paths.function[0] == one) & (paths.function[1] == other) & (paths.calls > 0).all(axis=0)
        for nodes in by_function(evidence, np.flatnonzero(chosen), 0):
            about = evidence.about(nodes)
            own = paths.self_time[:, nodes].sum(axis=1)
            share = evidence.share(float(own.max()), float(max(about["calls"])))
            names = (evidence.labels[one], evidence.labels[other])
            way = evidence.way(int(nodes[0]))
            found.append(Finding("renamed", share, names, way, certainty="likely", **about))
    return found


def _renamed_by_name(evidence: Evidence) -> list[Finding]:
    """Return the functions that the identity has paired as renamed."""
    found = []
    identity, paths = evidence.comparison.identity, evidence.paths
    place = {name: i for i, name in enumerate(identity.names)}
    for pair in identity.renamed:
        function = place.get(pair.b, -1)
        nodes = np.flatnonzero(paths.function[0] == function)
        if not len(nodes):
            continue
        nodes = nodes[np.argsort(-paths.time[:, nodes].sum(axis=0), kind="stable")]
        about = evidence.about(nodes)
        own = paths.self_time[:, nodes].sum(axis=1)
        share = evidence.share(float(own.max()), float(max(about["calls"])))
        found.append(
            Finding(
                "renamed",
                share,
                (pair.a, pair.b),
                evidence.way(int(nodes[0])),
                **about,
                details={"name_score": pair.score},
            )
        )
    return found
