"""Calls that stalled, stretches that were slow, and slow starts, against plain twins."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracevis3d.features.comparison.findings.counterparts import Groups
from tracevis3d.features.comparison.findings.disturbances import drifts, slow_start, stalls

#: Nanoseconds: of so long a run a stall takes two, a slow start five.
RUN = 100


class Paths(SimpleNamespace):
    """Call paths, each with a lower number than what is below it."""

    def __len__(self):
        return len(self.parent)

    def way(self, node):
        return [node] + (self.way(int(self.parent[node])) if self.parent[node] >= 0 else [])

    def within(self, nodes):
        return np.array([bool({*nodes.tolist()} & {*self.way(p)}) for p in range(len(self))])


def about(nodes):
    return {
        "calls": (1, 1), "time_ns": (1, 1), "below": (0, 0), "ranges": (None, None), "examples": (0, 0),
        "nodes": nodes,
    }  # fmt: skip


def evidence_of(case):
    """Return what is asked of two traces: call ``i`` of each is on the path of pair ``i``."""
    pairs = [pair for _, _, of in case["groups"] for pair in of]
    node, _, own = np.array(pairs, np.int64).reshape(-1, 3).T
    calls = SimpleNamespace(start=np.arange(len(node)) * 10, end=np.arange(len(node)) * 10 + 5)
    paths = Paths(parent=np.array(case["parent"], np.int32), of_call=(node, node))
    spread = np.array(case["spread"], float).reshape(-1, 3).T
    return SimpleNamespace(
        exact=case["exact"], pace=case["pace"], most_time=RUN, least_time=1.0, self_times=(own, own),
        comparison=SimpleNamespace(traces=[SimpleNamespace(calls=calls)] * 2), paths=paths,
        spread=(spread[0].astype(np.int64), spread[1], spread[2]), within=paths.within, about=about,
        share=lambda time, calls: (abs(time), calls), label=lambda node, side: f"{node} of {'AB'[side]}",
        way=lambda node: (str(node),),
    )  # fmt: skip


def judged_of(case):
    """Return the groups; where A has one call for several of B, that is the first of the group."""
    sizes = [len(of) for _, _, of in case["groups"]]
    first = np.concatenate(([0], np.cumsum(sizes)))
    b = np.arange(first[-1])
    a = np.repeat(first[:-1], sizes) if case["same"] else b
    low, high = (np.array([group[k] for group in case["groups"]], float) for k in (0, 1))
    extra = np.array([pair[1] for _, _, of in case["groups"] for pair in of], float)
    nothing = np.zeros(len(sizes))
    return Groups(a, b, extra, first, np.zeros(len(sizes), np.int64), low, high, nothing, nothing)


def above(case, node):
    return [node, *above(case, case["parent"][node])] if node >= 0 else []


def plain_drifts(case, known, loading):
    """Return path, time beyond the pace, and factor of each part in which all takes longer, or less long."""
    if case["exact"]:
        return []
    n = len(case["parent"])
    total, usual = [0.0] * n, [0.0] * n
    for g, (low, high, pairs) in enumerate(case["groups"]):
        for node, extra, own in pairs:
            beyond = min(max(extra, low), high) if len(pairs) >= 3 else extra if abs(extra) < 2 else 0
            for up in above(case, node):
                total[up] += 0 if g in known else beyond
                usual[up] += case["pace"] * (pairs[0][2] if case["same"] else own)
    found, reported = [], set()
    for p in sorted(range(n), key=lambda p: -abs(total[p])):
        factor = (usual[p] + total[p]) / max(usual[p], 1)
        if abs(total[p]) < 1 or p in loading or 1 / 1.15 < factor < 1.15:
            continue
        inside = {q for q in range(n) if p in above(case, q)}
        here = sorted((ratio, weight) for q, ratio, weight in case["spread"] if q in inside)
        if len(found) == 2 or reported & inside or reported & {*above(case, p)} or len(here) < 5:
            continue
        half, so_far = sum(weight for _, weight in here) / 2, 0
        for ratio, weight in here:
            if so_far < half:
                middle = ratio
            so_far += weight
        drift = middle - math.log(case["pace"])
        if drift * total[p] <= 0 or abs(drift) < math.log(1.15):
            continue
        reported |= inside
        found.append((p, total[p], math.exp(drift)))
    return found


def plain_stalls(case, loading):
    """Return the trace, the calls, how much longer each took, and whether what is usual is unknown."""
    found = []
    for s in () if case["exact"] else (0, 1):
        rows, at = {}, 0
        for low, high, pairs in case["groups"]:
            for k, (node, extra, _) in enumerate(pairs):
                call = at if case["same"] and not s else at + k
                over = extra - max(high, 0) if s else min(low, 0) - extra
                if over >= 2 and node not in loading and over > rows.get(call, (0,))[0]:
                    rows[call] = over, len(pairs) <= 2
            at += len(pairs)
        order = sorted(rows, key=lambda call: (-rows[call][0], call))
        if order:
            found.append(("AB"[s], order, [rows[call][0] for call in order], rows[order[0]][1]))
    return found


_parents = st.lists(st.integers(-1, 5), min_size=6, max_size=6).map(
    lambda up: [min(p, i - 1) for i, p in enumerate(up)]
)
_pair = st.tuples(
    st.integers(0, 5), st.sampled_from([-9, -4, -3, -2, -1, 0, 1, 2, 3, 4, 9]), st.integers(0, 4)
)
_ratio = st.sampled_from([-0.7, -0.2, 0.0, 0.1, math.log(1.15), 0.2, 0.7])


@st.composite
def cases(draw):
    group = st.tuples(st.integers(-5, 1), st.integers(1, 5), st.lists(_pair, min_size=1, max_size=4))
    return {
        "parent": draw(_parents),
        "groups": draw(st.lists(group, min_size=1, max_size=5)),
        "spread": draw(st.lists(st.tuples(st.integers(0, 5), _ratio, st.integers(1, 3)), max_size=14)),
        "pace": draw(st.sampled_from([1.0, 1.0, 1.25, 0.5])),
        "exact": draw(st.sampled_from([False, False, False, True])),
        "same": draw(st.booleans()),
    }


def case(parent, groups, spread, **words):
    return {
        "parent": parent,
        "groups": groups,
        "spread": spread,
        "pace": 1.0,
        "exact": False,
        "same": False,
    } | (words)


_SLOW = [(0, 0.7, 1)] * 5
_FOUR = [-1] * 4


@given(cases(), st.sets(st.integers(0, 4), max_size=2), st.sets(st.integers(0, 5), max_size=2))
@example(case([-1], [(-5, 5, [(0, 1, 0)] * 3)], _SLOW), set(), set())
@example(case([-1], [(-5, 5, [(0, 1, 1), (0, 1, 0), (0, 1, 0)])], _SLOW), set(), set())
@example(case([-1], [(-5, 5, [(0, -2, 1)] * 3)], [(0, -0.7, 1)] * 5), set(), set())
@example(case([-1], [(-5, 5, [(0, -1, 9)] * 3)], [(0, -0.7, 1)] * 5), set(), set())
@example(case([-1], [(-5, 5, [(0, 2, 1)])] * 3, _SLOW), set(), set())
@example(case([-1], [(-5, 5, [(0, 1, 1)])] * 3, _SLOW), set(), set())
@example(case([-1], [(-5, 5, [(0, 2, 1)] * 3)], [(0, math.log(1.15), 1)] * 5), set(), set())
@example(case([-1], [(-5, 5, [(0, 2, 1)] * 3)], [(0, 0.0, 1)] * 5), set(), set())
@example(
    case(_FOUR, [(-5, 5, [(p, 5 - p, 1)] * 3) for p in range(4)], [(p, 0.7, 1) for p in range(4)] * 5),
    set(),
    set(),
)
@example(
    # Of the second one too little is known, and the third is below the first.
    case([-1, -1, 0, -1], [(-5, 5, [(p, 5 - p, 1)] * 3) for p in range(4)], [(0, 0.7, 1), (3, 0.7, 1)] * 5),
    set(),
    set(),
)
@example(
    # The first one runs at the pace.
    case([-1, -1], [(-5, 5, [(p, 5 - p, 1)] * 3) for p in range(2)], [(0, 0.0, 1), (1, 0.7, 1)] * 5),
    set(),
    set(),
)
@example(case([-1], [(-5, 5, [(0, 1, 1), (0, 0, 0), (0, 0, 0)])], _SLOW), set(), set())
@example(case([-1], [(-5, 5, [(0, 1, 0), (0, 0, 0), (0, 0, 0)])], _SLOW), set(), set())
@example(case([-1], [(-5, 5, [(0, 1, 1), (0, 0, 0), (0, 0, 0)])], [(0, -0.7, 1)] * 5), set(), set())
@example(case([-1], [(-9, 5, [(0, -7, 50), (0, 0, 0), (0, 0, 0)])], [(0, -0.7, 1)] * 5), set(), set())
@example(
    # What is below is reported.
    case([-1, 0, 0], [(-9, 9, [(1, 3, 1)] * 3), (-9, 9, [(2, -1, 1)] * 3)], [(1, 0.7, 1)] * 5),
    set(),
    set(),
)
def test_slow_stretches_are_those_of_the_plain_twin(one, known, loading):
    known = np.array(sorted(known), np.int64)
    loading = np.array(sorted(p for p in loading if p < len(one["parent"])), np.int64)
    found = drifts(evidence_of(one), judged_of(one), known, loading)
    wanted = plain_drifts(one, known.tolist(), loading.tolist())
    assert [f.nodes.tolist() for f in found] == [[p] for p, _, _ in wanted]
    assert [f.functions for f in found] == [(f"{p} of A", f"{p} of B") for p, _, _ in wanted]
    for f, (_, total, factor) in zip(found, wanted, strict=True):
        assert f.score == pytest.approx((abs(total), 0))
        assert f.details == {
            "change_ns": round(total), "factor": pytest.approx(factor), "start": False
        }  # fmt: skip


@given(cases(), st.sets(st.integers(0, 5), max_size=1))
@example(case([-1], [(-5, 5, [(0, 9, 1)] * 3)], []), set())
@example(case([-1], [(0, 0, [(0, 3, 1)]), (0, 0, [(0, 9, 1)] * 3)], []), set())
@example(case([-1], [(0, 0, [(0, 9, 1)]), (0, 0, [(0, 3, 1)] * 3)], []), set())
@example(case([-1], [(0, 0, [(0, -9, 1)] * 2), (0, 0, [(0, -3, 1)] * 3)], [], same=True), set())
def test_stalls_are_those_of_the_plain_twin(one, loading):
    start = [SimpleNamespace(nodes=np.array(sorted(p for p in loading if p < len(one["parent"])), np.int64))]
    evidence = evidence_of(one)
    found = stalls(evidence, judged_of(one), start)
    wanted = plain_stalls(one, loading)
    assert [f.details["trace"] for f in found] == [trace for trace, *_ in wanted]
    for f, (_, calls, over, single) in zip(found, wanted, strict=True):
        s = "AB".index(f.details["trace"])
        assert [row["call"] for row in f.details["stalls"]] == calls
        assert [row["beyond_ns"] for row in f.details["stalls"]] == over
        assert f.details["change_ns"] == (sum(over) if s else -sum(over))
        assert (f.details["single"], f.certainty) == (single, "unsure" if single else "likely")
        node = int(evidence.paths.of_call[s][calls[0]])
        assert f.functions == (f"{node} of A", f"{node} of B")


#: A's and B's own time, and how often each compiles a module.
STARTS = [
    (20, 25, (0, 0), True),
    (20, 24, (0, 0), False),
    (25, 20, (0, 0), True),
    (100, 115, (0, 0), True),
    (100, 114, (0, 0), False),
    (40, 46, (0, 0), True),
    (20, 20, (0, 1), True),
    (20, 20, (1, 0), True),
    (20, 20, (1, 1), False),
    (0, 5, (0, 0), True),
    (1, 6, (0, 0), True),
]


@pytest.mark.parametrize(("before", "now", "compiled", "is_told"), STARTS)
def test_a_start_is_slow_by_a_twentieth_of_the_run_or_where_one_compiles(before, now, compiled, is_told):
    names = ["<frozen importlib._bootstrap>.exec_module", "<frozen importlib._bootstrap>.source_to_code"]
    trace = SimpleNamespace(functions=SimpleNamespace(name=names))

    class Identity(SimpleNamespace):
        def __len__(self):
            return 2

    evidence = SimpleNamespace(
        pace=1.0, most_time=RUN, about=about, calls_of_function=np.array([[7, n] for n in compiled]),
        comparison=SimpleNamespace(identity=Identity(a=np.arange(2), b=np.arange(2)), traces=(trace, trace)),
        paths=SimpleNamespace(self_time=np.array([[before, 0], [now, 0]])),
        share=lambda time, calls: (abs(time), calls), label=str, way=lambda node: (str(node),),
    )  # fmt: skip
    found = slow_start(evidence, np.arange(2))
    assert len(found) == is_told
    for f in found:
        assert f.score == (abs(now - before), 0)
        assert f.details == {
            "change_ns": now - before, "factor": now / max(before, 1), "start": True, "modules": 7,
            "compiled": [*compiled],
        }  # fmt: skip
