"""Findings about when the same work is done: in another order, or at another time than its neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....analysis.subtrees import distinct_subtrees
from ....kernels.comparison.findings import inherit
from ....kernels.layout.bundle import longest_rise
from ....trace.model import Calls
from .evidence import Evidence, Finding, outermost, rounded

#: Calls are examined one by one if one of their path lasts at least this share of the trace, ...
_WORTH = 0.002
#: ... or all of the path together take such a share of its time or calls, and are no more than this many.
_MOST_CALLS = 5_000
#: A wait is reported if it is at least this many times as long as in the other trace.
_LEAST_FACTOR = 1.5

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Calls of both traces that correspond one to one, in the order of A.

    Attributes
    ----------
    a, b : int64 (m,)
    node : int64 (m,)
        Their path.
    in_order : bool (m,)
        Whether they are on a longest sequence that rises in both traces.
    """

    a: Ints
    b: Ints
    node: Ints
    in_order: Flags

    def __len__(self) -> int:
        return len(self.a)


def find_pairs(evidence: Evidence) -> Pairs:
    """Pair the calls of the paths that both traces call equally often, where they are worth a look.

    Calls of a path whose subtrees are the same are paired in turn if there are equally many; then those that
    remain, in turn. Calls whose callers are paired with others are alike by chance, with all below them:
    they are no evidence of another order.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    Pairs
    """
    paths, traces = evidence.paths, evidence.comparison.traces
    both = np.flatnonzero((evidence.state < 2) & (paths.calls[0] == paths.calls[1]))
    worth = np.zeros(len(both), np.bool_)
    for s, trace in enumerate(traces):
        longest = paths.longest[s, both]
        lasted = trace.calls.end[longest] - trace.calls.start[longest]
        worth |= lasted >= max(_WORTH * evidence.time[s], 1)
        share = np.maximum(paths.time[s, both] / max(evidence.time[s], 1), paths.below[s, both] / len(trace))
        worth |= (share >= _WORTH) & (paths.calls[s, both] <= _MOST_CALLS)
    chosen = np.zeros(len(paths), np.bool_)
    chosen[both[worth]] = True
    heads = [outermost(trace.calls, paths.of_call[s], chosen) for s, trace in enumerate(traces)]
    classes = _classes(evidence, heads)
    node = [paths.of_call[s][heads[s]].astype(np.int64) for s in range(2)]
    width = max(int(c.max(initial=0)) for c in classes) + 1
    a, b = _in_turn(heads, [n * width + c for n, c in zip(node, classes)])
    rest = [np.setdiff1d(heads[s], done, assume_unique=True) for s, done in enumerate((a, b))]
    more = _in_turn(rest, [paths.of_call[s][rest[s]].astype(np.int64) for s in range(2)])
    a, b = np.concatenate([a, more[0]]), np.concatenate([b, more[1]])
    same = _of_one_caller(traces[0].calls, traces[1].calls, a, b)
    a, b = a[same], b[same]
    order = np.lexsort((a, traces[0].calls.start[a]))
    a, b = a[order], b[order]
    rank = np.empty(len(b), np.int64)
    rank[np.lexsort((b, traces[1].calls.start[b]))] = np.arange(len(b))
    on = np.empty(len(b), np.uint8)
    longest_rise(rank, np.empty(len(b), np.int64), np.empty(len(b), np.int64), on)
    return Pairs(a, b, paths.of_call[0][a].astype(np.int64), on.astype(np.bool_))


def _classes(evidence: Evidence, heads: list[Ints]) -> list[Ints]:
    """Return the class of each head's subtree, the same numbers in both traces."""
    traces = evidence.comparison.traces
    ids = (evidence.comparison.identity.a, evidence.comparison.identity.b)
    both = replace(
        traces[0].calls,
        function=np.concatenate([common[t.calls.function] for t, common in zip(traces, ids)]),
        extent=np.concatenate([t.calls.extent for t in traces]),
    )
    of_call = distinct_subtrees(both).of_call
    first = len(traces[0])
    return [of_call[heads[0]].astype(np.int64), of_call[heads[1] + first].astype(np.int64)]


def _in_turn(calls: list[Ints], keys: list[Ints]) -> tuple[Ints, Ints]:
    """Pair calls of equal keys in turn, where both traces have equally many."""
    found, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    inverse = inverse.reshape(-1)
    of = [inverse[: len(keys[0])], inverse[len(keys[0]) :]]
    count = [np.bincount(index, minlength=len(found)) for index in of]
    same = count[0] == count[1]
    kept = []
    for side, index in zip(calls, of):
        here = np.flatnonzero(same[index])
        kept.append(side[here[np.lexsort((side[here], index[here]))]])
    return kept[0], kept[1]


def _of_one_caller(one: Calls, other: Calls, a: Ints, b: Ints) -> Flags:
    """Return which pairs of calls have callers that are a pair, if any that are paired."""
    partner = np.empty(len(one), np.int64)  # of those that are paired
    partner[a] = b
    above = [_paired_caller(calls, ids) for calls, ids in ((one, a), (other, b))]
    apart = (above[0] >= 0) & (partner[above[0]] != above[1])
    return np.asarray(~apart & ~_below(one, a[apart])[a])


def _paired_caller(calls: Calls, paired: Ints) -> Ints:
    """Return the nearest of the ``paired`` calls above each of them; -1: none."""
    nearest = np.full(len(calls), -1, np.int32)
    nearest[paired] = paired
    inherit(calls.parent.astype(np.int32), nearest)
    parent = calls.parent[paired]
    return np.where(parent >= 0, nearest[parent], -1).astype(np.int64)


def out_of_order(evidence: Evidence, pairs: Pairs) -> list[Finding]:
    """Return calls in a different order: neighbours that move together are one finding, callers only.

    Parameters
    ----------
    evidence : Evidence
    pairs : Pairs
        Of the calls that both traces have.

    Returns
    -------
    list of Finding
    """
    traces, found = evidence.comparison.traces, []
    before = [_last_before(traces[s].calls, pairs, s) for s in range(2)]
    # What follows the same call in both is only moved against others that are.
    moved = np.flatnonzero(~pairs.in_order & (before[0] != before[1]))
    if not len(moved):
        return []
    moved = moved[~_below(traces[0].calls, pairs.a[moved])[pairs.a[moved]]]
    parents = traces[0].calls.parent[pairs.a[moved]]
    # Those of one caller with nothing that keeps its place between them move together.
    between = np.cumsum(pairs.in_order)[moved]
    cut = np.flatnonzero((np.diff(parents) != 0) | (np.diff(between) != 0)) + 1
    runs = np.split(moved, cut)
    # What a caller does in another order each time is one finding.
    again: dict[tuple[int, ...], list[Ints]] = {}
    for run in runs:
        above = int(evidence.paths.parent[pairs.node[run[0]]])
        again.setdefault((above, *sorted(set(pairs.node[run].tolist()))), []).append(run)
    for same in again.values():
        run = np.concatenate(same)
        a, b = pairs.a[run], pairs.b[run]
        lasted = [t.calls.end[c] - t.calls.start[c] for t, c in zip(traces, (a, b))]
        held = [int(t.calls.extent[c].sum()) for t, c in zip(traces, (a, b))]
        first = int(run[np.argmax(lasted[0])])
        node = int(pairs.node[first])
        ranges = [(int(t.calls.start[c].min()), int(t.calls.end[c].max())) for t, c in zip(traces, (a, b))]
        share = evidence.share(float(min(lasted[0].sum(), lasted[1].sum())), float(min(held)))
        one = int(same[0][0])
        after = ["" if (k := int(of[one])) < 0 else evidence.label(int(pairs.node[k])) for of in before]
        details = {
            "after": after,
            "functions": sorted({evidence.label(int(n)) for n in pairs.node[run]}),
            "times": len(same),
        }
        if after[0] == after[1]:
            details["after_calls"] = [
                _siblings_before(evidence, s, int(call), int(pairs.node[before[s][one]]))
                for s, call in enumerate((pairs.a[one], pairs.b[one]))
            ]
        found.append(
            Finding(
                "order",
                share,
                (evidence.label(node, 0), evidence.label(node, 1)),
                evidence.way(node),
                (len(run), len(run)),
                (int(lasted[0].sum()), int(lasted[1].sum())),
                (held[0], held[1]),
                (ranges[0], ranges[1]),
                (int(pairs.a[first]), int(pairs.b[first])),
                details=details,
            )
        )
    return found


def _below(calls: Calls, roots: Ints) -> Flags:
    """Return which calls lie below one of ``roots``."""
    step = np.zeros(len(calls) + 1, np.int64)
    np.add.at(step, roots + 1, 1)
    np.add.at(step, roots + calls.extent[roots], -1)
    return np.asarray(np.cumsum(step[:-1]) > 0)


def _last_before(calls: Calls, pairs: Pairs, trace: int) -> Ints:
    """Return for each pair the last one before it of the same caller that keeps its place; -1: none."""
    own = (pairs.a, pairs.b)[trace]
    order = np.lexsort((own, calls.parent[own], calls.thread[own]))
    caller, thread = calls.parent[own[order]], calls.thread[own[order]]
    begins = np.ones(len(own), np.bool_)
    begins[1:] = (np.diff(caller) != 0) | (np.diff(thread) != 0)
    here = np.arange(len(own))
    first = np.maximum.accumulate(np.where(begins, here, 0))
    last = np.maximum.accumulate(np.where(pairs.in_order[order], here, -1))
    before = np.full(len(own), -1, np.int64)
    known = last >= first
    before[order[known]] = order[last[known]]
    return before


def _siblings_before(evidence: Evidence, trace: int, call: int, node: int) -> int:
    """Return how many calls of a path the caller of ``call`` makes before it."""
    calls = evidence.comparison.traces[trace].calls
    siblings = evidence.paths.of_call[trace][:call] == node
    siblings &= (calls.parent[:call] == calls.parent[call]) & (calls.thread[:call] == calls.thread[call])
    return int(np.count_nonzero(siblings))


def offsets(evidence: Evidence, pairs: Pairs) -> list[Finding]:
    """Return where everything that follows starts later or earlier, because of a wait between two calls.

    Two calls that follow each other in both traces with nothing worth a look between them are a wait
    apart. A wait that is longer or shorter than the pace lets expect moves all that follows, which is one
    finding. Everything before the first root call counts as a wait. Where the machine takes part in the
    times, a single longer wait may be a stall, and is reported as one.

    Parameters
    ----------
    evidence : Evidence
    pairs : Pairs
        Of the calls that both traces have.

    Returns
    -------
    list of Finding
    """
    if not evidence.exact:
        return []
    calls = [t.calls for t in evidence.comparison.traces]
    kept = np.flatnonzero(pairs.in_order)
    if not len(kept):
        return []
    own = [pairs.a[kept], pairs.b[kept]]
    wait, before, certain = [], [], np.ones(len(kept), np.bool_)
    for c, ids in zip(calls, own):
        gap, earlier, clear = _waits(c, ids)
        wait.append(gap)
        before.append(earlier)
        certain &= clear
    # -1: it is the first of its caller.
    node = np.full((2, len(kept)), -1, np.int64)
    for s in range(2):
        has = before[s] >= 0
        node[s, has] = pairs.node[kept[before[s][has]]]
    certain &= node[0] == node[1]
    change = wait[1] - evidence.pace * wait[0]
    longer = np.maximum(wait[0], wait[1]) >= _LEAST_FACTOR * np.minimum(wait[0], wait[1])
    reported = np.flatnonzero(certain & longer & (np.abs(change) >= evidence.least_time))
    found = []
    for i in reported[np.argsort(-rounded(change[reported]), kind="stable")].tolist():
        first = int(kept[i])
        path = int(pairs.node[first])
        examples = (int(pairs.a[first]), int(pairs.b[first]))
        starts = [int(c.start[call]) for c, call in zip(calls, examples)]
        ends = [int(c.end[call]) for c, call in zip(calls, examples)]
        ranges = [(start - int(w[i]), end) for start, w, end in zip(starts, wait, ends)]
        previous = int(before[0][i])
        up = int(evidence.paths.parent[path])
        found.append(
            Finding(
                "offset",
                evidence.share(float(change[i]), 0.0),
                (evidence.label(path, 0), evidence.label(path, 1)),
                evidence.way(path),
                (1, 1),
                (int(wait[0][i]), int(wait[1][i])),
                (0, 0),
                (ranges[0], ranges[1]),
                examples,
                details={
                    "change_ns": round(float(change[i])),
                    "after": evidence.label(int(pairs.node[kept[previous]])) if previous >= 0 else "",
                    "within": evidence.label(up) if up >= 0 else "",
                    "starts_ns": starts,
                },
            )
        )
    return found


def _waits(calls: Calls, ids: Ints) -> tuple[Ints, Ints, Flags]:
    """Return the time before each call in which nothing runs but its caller, and what came before.

    Parameters
    ----------
    ids : int64 (m,)
        Calls in the order of their start.

    Returns
    -------
    wait : int64 (m,)
        Since the end of the call before it of the same caller, or the caller's start; nanoseconds.
    before : int64 (m,)
        Place in ``ids`` of that call; -1 if there is none.
    clear : bool (m,)
        Whether the call really is the next one: no other call of the caller lies between.
    """
    order = np.lexsort((ids, calls.start[ids], calls.parent[ids], calls.thread[ids]))
    place = np.full(len(ids), -1, np.int64)
    follows = (np.diff(calls.parent[ids[order]]) == 0) & (np.diff(calls.thread[ids[order]]) == 0)
    place[order[1:][follows]] = order[:-1][follows]
    caller = calls.parent[ids]
    begin = np.where(caller >= 0, calls.start[caller], 0)
    has = place >= 0
    begin[has] = calls.end[ids[place[has]]]
    next_call = np.where(caller >= 0, caller + 1, ids)
    next_call[has] = ids[place[has]] + calls.extent[ids[place[has]]]
    return calls.start[ids] - begin, place, np.asarray(next_call == ids)
