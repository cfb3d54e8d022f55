"""Findings about two traces: the common call paths against a slow twin, and planted differences."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d.features.comparison.findings.paths as findings_paths
from tests.support.plain_match import traces
from tests.support.synthetic import from_depths, program, thread_slices
from tracevis3d.features.comparison.findings.evidence import Evidence, weighted_median
from tracevis3d.features.comparison.findings.find import KINDS, find
from tracevis3d.features.comparison.findings.order import find_pairs
from tracevis3d.features.comparison.findings.paths import common_paths
from tracevis3d.features.comparison.findings.ranking import rank
from tracevis3d.features.comparison.findings.stretches import unmatched_runs
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.kernels.comparison.findings import ALIKE, ALONE, BELOW, RECOUNTED
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings


def trace_of(calls, names) -> Trace:
    first, count = thread_slices(calls)
    k, n = len(first), len(names)
    none = np.full(n, -1, np.int32)
    return Trace(
        calls=calls,
        functions=Functions(Strings.of(names), Strings.of(names), none, none, np.zeros(n, np.int32)),
        threads=Threads((1,) * k, tuple(range(k)), ("",) * k, ("",) * k, first, count),
        span_ns=int(calls.end.max(initial=0)),
    )


def traced(tree, wait=0) -> Trace:
    """Return the trace of nested calls (function, own time, children); ``wait`` comes before the first.

    A child may be a number: time that its caller spends before the next one. A list of such calls, and
    numbers, are several root calls.
    """
    return threaded([wait, *([tree] if isinstance(tree[0], str) else tree)])


def threaded(*threads) -> Trace:
    """Return the trace of threads, each a list of such root calls and numbers."""
    depths, functions, before, after, roots, names = [], [], [], [], [], {}

    def walk(calls, depth):
        late = 0
        for call in calls:
            if isinstance(call, int):
                late += call
                continue
            name, own, children = call
            depths.append(depth)
            functions.append(names.setdefault(name, len(names)))
            before.append(late)
            after.append(own)
            late = 0
            walk(children, depth + 1)

    for thread, calls in enumerate(threads):
        walk(calls, 1)
        roots += [thread] * sum(not isinstance(call, int) for call in calls)
    calls = from_depths(
        np.array(depths, np.int32), np.array(functions, np.int32), np.array(before, np.int64),
        np.array(after, np.int64), np.array(roots, np.int32),
    )  # fmt: skip
    return trace_of(calls, list(names))


def found(a, b, **settings):
    return find(compare(a, b, identity="exact", cache=False, **settings)).found


# -- a program whose runs are told apart ---------------------------------------------------------------


def leaf(name, own=1000):
    return (name, own, [])


def stage(name, works, own=500):
    return (name, own, [leaf(f"{name}.{work}") for work in works])


def usual():
    """The parts of a program's main function."""
    return [
        stage("read", ["open", "parse", "check", "close"]),
        stage("build", ["plan", "make", "join"]),
        stage("sort", ["split", "compare", "merge"]),
        stage("write", ["format", "encode", "store", "flush"]),
        stage("tidy", ["collect", "free"]),
    ]


def run(parts, wait=0, own=300):
    return traced(("main", own, parts), wait)


# -- the twin ------------------------------------------------------------------------------------------


def plain_paths(trace, ids):
    """Sum up calls by their path, word for word: a function that calls itself directly taken once."""
    calls = trace.calls
    table = defaultdict(lambda: [0, 0, 0, 0])
    paths = []
    for i in range(len(calls)):
        parent = int(calls.parent[i])
        above = paths[parent] if parent >= 0 else ()
        function = int(ids[calls.function[i]])
        again = bool(above) and above[-1] == function
        path = above if again else (*above, function)
        paths.append(path)
        own = int(calls.end[i] - calls.start[i])
        own -= sum(int(calls.end[c] - calls.start[c]) for c in range(len(calls)) if calls.parent[c] == i)
        table[path][0] += not again
        table[path][1] += own
    for path, row in table.items():
        for other, values in table.items():
            if other[: len(path)] == path:
                row[2] += values[1]
    for path in paths:
        for k in range(1, len(path) + 1):
            table[path[:k]][3] += 1
    return {path: tuple(row) for path, row in table.items()}


@given(traces(), traces())
@settings(max_examples=60, deadline=None)
def test_common_paths_are_those_of_the_plain_twin(a, b):
    comparison = compare(a, b, identity="exact", cache=False)
    worth, findings_paths._WORTH = findings_paths._WORTH, 2.0  # nothing is worth a detour
    try:
        paths = common_paths(comparison)
    finally:
        findings_paths._WORTH = worth
    assert not paths.detours
    for s, (trace, ids) in enumerate(zip((a, b), (comparison.identity.a, comparison.identity.b))):
        mine = {
            tuple(int(paths.function[s, n]) for n in paths.way(node)): (
                int(paths.calls[s, node]), int(paths.self_time[s, node]), int(paths.time[s, node]),
                int(paths.below[s, node]),
            )
            for node in range(len(paths))
            if paths.calls[s, node]
        }  # fmt: skip
        assert mine == plain_paths(trace, ids)
        for call in range(len(trace.calls)):
            node = int(paths.of_call[s][call])
            assert paths.function[s, node] == ids[trace.calls.function[call]]
        held = paths.longest[s] >= 0
        assert (held == (paths.calls[s] > 0)).all()


@given(traces(), traces())
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost_on_the_way_around(a, b):
    paths = common_paths(compare(a, b, identity="exact", cache=False))
    for s, trace in enumerate((a, b)):
        whole = int((trace.calls.end - trace.calls.start)[trace.calls.depth == 1].sum())
        assert paths.self_time[s].sum() == whole
        assert paths.below[s][paths.parent < 0].sum() == len(trace.calls)
        assert (paths.of_call[s] >= 0).all()
    assert (paths.parent < np.arange(len(paths))).all()


@given(traces(), traces())
@settings(max_examples=60, deadline=None)
def test_paths_are_judged_by_what_their_callers_let_expect(a, b):
    evidence = Evidence(compare(a, b, identity="exact", cache=False))
    paths = evidence.paths
    for node in range(len(paths)):
        up = int(paths.parent[node])
        n, m = paths.calls[:, node].tolist()
        if up >= 0 and evidence.state[up] in (ALONE, BELOW):
            assert evidence.state[node] == BELOW
            continue
        expected = 1.0 if up < 0 else evidence.factor[up]
        if abs(m - n) <= abs(m - expected * n):
            expected = 1.0
        assert evidence.before[node] == expected
        if not n or not m:
            assert evidence.state[node] == ALONE
        elif abs(m - expected * n) > max(0.5, 0.1 * max(m, expected * n)):
            assert evidence.state[node] == RECOUNTED
            assert evidence.factor[node] == m / n
        else:
            assert evidence.state[node] == ALIKE
            assert evidence.factor[node] == expected


@given(traces(), traces(), st.sampled_from(["0.3", "0.6", "0.9"]))
@settings(max_examples=60, deadline=None)
def test_stretches_are_those_of_the_plain_twin(a, b, tau):
    evidence = Evidence(compare(a, b, tau=tau, identity="exact", cache=False))
    for s, trace in enumerate((a, b)):
        calls, matched = trace.calls, evidence.comparison.matched(s)
        bare = [not any(matched[c] for c in range(i, i + int(calls.extent[i]))) for i in range(len(calls))]
        outermost = [
            i for i in range(len(calls)) if bare[i] and not (calls.parent[i] >= 0 and bare[calls.parent[i]])
        ]
        runs: list[list[int]] = []
        for i in outermost:
            last = runs[-1][-1] if runs else -1
            if (
                last >= 0
                and calls.parent[last] == calls.parent[i]
                and calls.thread[last] == calls.thread[i]
                and last + calls.extent[last] == i
            ):
                runs[-1].append(i)
            else:
                runs.append([i])
        first, last_ = unmatched_runs(evidence, s)
        assert first.tolist() == [r[0] for r in runs]
        assert last_.tolist() == [r[-1] for r in runs]


@given(traces(), traces())
@settings(max_examples=40, deadline=None)
def test_pairs_are_one_to_one_and_those_in_order_rise(a, b):
    evidence = Evidence(compare(a, b, identity="exact", cache=False))
    pairs = find_pairs(evidence)
    assert len(np.unique(pairs.a)) == len(pairs.a) == len(np.unique(pairs.b))
    for x, y in zip(pairs.a, pairs.b):
        assert evidence.paths.of_call[0][x] == evidence.paths.of_call[1][y]
    kept = pairs.in_order
    assert (np.diff(a.calls.start[pairs.a[kept]]) >= 0).all()
    assert (np.diff(b.calls.start[pairs.b[kept]]) >= 0).all()


@given(traces(), traces())
@settings(max_examples=80, deadline=None)
def test_any_two_traces_have_a_report(a, b):
    result = find(compare(a, b, identity="exact", cache=False))
    ranks = [rank(f) for f in result.found]
    assert ranks == sorted(ranks)
    for finding in result.found:
        assert finding.kind in KINDS
        assert 0 <= finding.score <= 1
        for call, trace in zip(finding.examples, (a, b)):
            assert -1 <= call < len(trace.calls)


def test_the_weighted_median_is_where_half_of_the_weight_lies():
    assert weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 5.0])) == 2.0
    assert weighted_median(np.array([1.0, 9.0]), np.array([1.0, 3.0])) == 9.0


# -- repeats -------------------------------------------------------------------------------------------


def test_a_repeat_of_a_run_is_alike():
    a = run(usual())
    (only,) = found(a, a)
    assert only.kind == "alike"
    assert only.score == 0
    assert only.details["same_calls"]
    assert only.details["most"] == 0


def test_a_repeat_with_noise_and_pauses_on_either_side_is_alike():
    calls, _, _ = program(4000, seed=3)
    names = [f"f{i}" for i in range(int(calls.function.max()) + 1)]
    random = np.random.default_rng(5)

    def again(pauses):
        own = 1000 + random.integers(0, 150, len(calls))
        own[pauses] += 60_000  # the machine did something else
        return trace_of(from_depths(calls.depth, calls.function, np.zeros(len(calls), np.int64), own), names)

    (only,) = found(again([100, 2000]), again([900, 3100]))
    assert only.kind == "alike"
    assert only.details["same_calls"]
    assert 0 < only.details["most"] < 0.02


def test_the_recorded_repeats_are_alike(recorded):
    import tracevis3d as tv

    a, b = (tv.load(recorded / f"vt_markdown_repeat{i}.json.gz") for i in (1, 2))
    *noise, alike = found(a, b)
    assert alike.kind == "alike"
    assert alike.details["same_calls"]
    assert [f.kind for f in noise] == ["stall", "stall"]  # the machine paused in both
    assert {f.details["trace"] for f in noise} == {"A", "B"}


# -- planted differences: found, and ranked first ------------------------------------------------------


def first(a, b, **settings):
    return found(a, b, **settings)[0]


def test_a_stretch_that_nothing_is_like_is_found_whole():
    parts = usual()
    parts[2:2] = [stage("index", ["scan", "hash"], 4000), stage("rank", ["weigh", "cut"], 3000)]
    finding = first(run(usual()), run(parts))
    assert finding.kind == "unmatched"
    assert finding.details["trace"] == "B"
    assert (finding.details["first"], finding.details["last"]) == ("index", "rank")
    assert not finding.details["new"]
    assert finding.calls == (0, 1)
    assert finding.below == (0, 6)
    assert finding.time_ns == (0, 11_000)
    assert finding.path == ("main", "index")
    # Nested and equal ones are not reported again.
    assert [f.kind for f in found(run(usual()), run(parts))].count("only") == 0


def test_a_function_that_is_called_more_often_is_found():
    parts = usual()
    parts[1] = ("build", 500, [leaf("build.plan"), *[leaf("build.make")] * 30, leaf("build.join")])
    finding = first(run(usual()), run(parts))
    assert finding.kind == "repetitions"
    assert finding.functions == ("build.make", "build.make")
    assert finding.calls == (1, 30)
    assert finding.details["calls_of_function"] == [1, 30]


def test_what_comes_more_often_because_its_caller_does_is_not_told_again():
    parts = usual()
    parts[1:2] = [parts[1]] * 6
    kinds = found(run(usual()), run(parts))
    assert kinds[0].kind == "repetitions"
    assert kinds[0].functions[0] == "build"
    assert not [f for f in kinds[1:] if f.kind == "repetitions"]


def test_a_function_of_one_trace_alone_among_its_like_is_found():
    parts = usual()
    parts[3] = (
        "write",
        500,
        [leaf(n) for n in ("write.format", "write.encode", "write.sign", "write.store")],
    )
    assert {"write.sign"} <= {name for f in found(run(usual()), run(parts)) for name in f.functions}


def test_a_slower_group_is_reported_with_the_function_that_takes_the_time():
    parts = usual()
    slow = ("sort", 500, [leaf("sort.split"), leaf("sort.compare", 9000), leaf("sort.merge")])
    finding = first(run(usual()), run([*parts[:2], slow, *parts[3:]]))
    assert finding.kind == "slower"
    assert finding.details["cause"] == "sort.compare"
    assert finding.details["change_ns"] == pytest.approx(8000, rel=0.05)
    assert finding.path[:2] == ("main", "sort")
    back = first(run([*parts[:2], slow, *parts[3:]]), run(usual()))
    assert back.kind == "faster"
    assert back.details["cause"] == "sort.compare"


def test_a_function_that_is_slower_wherever_it_is_called_is_one_finding():
    def parts(own):
        return [(f"step{i}", 400, [leaf("lock", own), leaf(f"work{i}")]) for i in range(40)]

    slower = [f for f in found(run(parts(100)), run(parts(300))) if f.kind == "slower"]
    assert [f.functions[0] for f in slower] == ["lock"]
    assert slower[0].calls == (40, 40)


def test_all_that_starts_later_is_one_finding():
    parts = usual()
    finding = found(run(parts), run([*parts[:3], 7000, *parts[3:]]))
    assert [f.kind for f in finding] == ["offset"]
    assert finding[0].functions == ("write", "write")
    assert finding[0].details["change_ns"] == 7000
    assert finding[0].details["after"] == "sort"
    assert finding[0].details["within"] == "main"
    late = found(run(parts), run(parts, wait=9000))
    assert [f.kind for f in late] == ["offset"]
    assert late[0].functions == ("main", "main")
    assert late[0].details["change_ns"] == 9000


def test_an_offset_that_grows_is_one_finding():
    a = run(usual())
    c = a.calls
    b = replace(a, calls=replace(c, start=c.start * 3 // 2, end=c.end * 3 // 2), span_ns=a.span_ns * 3 // 2)
    (pace, *others) = found(a, b)
    assert pace.kind == "pace"
    assert pace.details["factor"] == pytest.approx(1.5, rel=0.01)
    assert {f.kind for f in others} <= {"alike"}


def test_what_comes_in_another_order_is_found_once():
    parts = usual()
    swapped = [parts[1], parts[2], parts[3], parts[0], parts[4]]
    (finding,) = [f for f in found(run(parts), run(swapped)) if f.kind == "order"]
    assert finding.functions == ("read", "read")
    assert finding.details["after"] == ["", "write"]
    assert found(run(parts), run(swapped))[0] == finding


def test_what_has_another_caller_is_one_finding():
    parts = usual()
    into = ("sort", 500, [*parts[2][2], *parts[3][2]])
    moved = [parts[0], parts[1], into, ("write", 500, []), parts[4]]
    finding = first(run(parts), run(moved))
    assert finding.kind == "moved"
    names = [{part["function"] for part in side} for side in finding.details["parts"]]
    assert names[0] == names[1] == {"write.format", "write.encode", "write.store", "write.flush"}


def test_a_function_that_does_the_same_under_another_name_is_reported():
    parts = usual()
    renamed = [parts[0], ("construct", *parts[1][1:]), *parts[2:]]
    (finding,) = [f for f in found(run(parts), run(renamed)) if f.kind == "renamed"]
    assert finding.functions == ("build", "construct")
    assert not [f for f in found(run(parts), run(renamed)) if f.kind in ("alone", "only", "unmatched")]


def test_a_pair_of_names_that_was_given_is_reported():
    from tracevis3d.features.comparison.matching.identity import Renamed

    parts = usual()
    renamed = [parts[0], ("construct", *parts[1][1:]), *parts[2:]]
    # Another pair is never called.
    a, b = (
        replace(trace, functions=trace_of(trace.calls, [*trace.functions.name, name]).functions)
        for trace, name in ((run(parts), "idle"), (run(renamed), "lazy"))
    )
    kinds = found(a, b, renamed=[Renamed("idle", "lazy"), Renamed("build", "construct")])
    assert [f.functions for f in kinds if f.kind == "renamed"] == [("build", "construct")]


def test_calls_that_are_wrapped_are_followed():
    a = run(usual())
    b = traced(("main", 300, [("start", 10, [("safely", 10, usual())])]))
    a = traced(("main", 300, [("go", 10, usual())]))
    b = traced(("main", 300, [("start", 10, [("safely", 10, [("go", 10, usual())])])]))
    kinds = found(a, b)
    (wrapped,) = [f for f in kinds if f.kind == "wrapped"]
    assert wrapped.details["through"] == [[], ["start", "safely"]]
    assert not [f for f in kinds if f.kind in ("alone", "repetitions", "moved")]


def test_the_versions_of_docutils_show_where_they_differ(recorded):
    import tracevis3d as tv

    a, b = (tv.load(recorded / f"vt_rst2html_docutils{v}.json.gz") for v in ("0.20", "0.22"))
    result = find(compare(a, b, cache=False)).found
    assert result[0].kind == "moved"
    assert result[0].functions[0] == "RSTState.nested_parse"
    (parent,) = [f for f in result if f.functions == ("", "RSTState.parent")]
    assert parent.kind == "only"
    assert parent.calls == (0, 1209)
    # What wraps what both do is one finding, and not the first of its kind.
    assert sum("NestedStateMachine.__init__" in f.functions for f in result) == 1
    assert result.index(parent) == 2


def test_deep_recursion_and_many_calls_end_soon():
    n = 20_000
    depth = np.arange(1, n + 1, dtype=np.int32)
    chain = from_depths(
        depth, (np.arange(n) % 3).astype(np.int32), np.ones(n, np.int64), np.ones(n, np.int64)
    )
    a = trace_of(chain, ["a", "b", "c"])
    (only,) = found(a, a)
    assert only.kind == "alike"


@given(traces(), traces())
@settings(max_examples=40, deadline=None)
def test_what_is_most_alike_is_found_from_either_side(a, b):
    from tests.support.plain_match import gamma, jaccard
    from tracevis3d.features.comparison.findings.likeness import most_alike

    comparison = compare(a, b, identity="exact", cache=False)
    evidence = Evidence(comparison)
    ids = (comparison.identity.a, comparison.identity.b)
    pair = (a, b)
    for s in range(2):
        own, other = pair[s], pair[1 - s]
        result = most_alike(evidence, s, list(range(len(own.calls))))
        for call, best in enumerate(result):
            mine = gamma(own, call, ids[s])
            alike = [float(jaccard(mine, gamma(other, c, ids[1 - s]))) for c in range(len(other.calls))]
            if max(alike, default=0.0) <= 0.3:
                assert best is None
            else:
                assert best is not None
                assert best["similarity"] == pytest.approx(alike[best["call"]])
                assert best["similarity"] >= max(alike) - 0.1 - 1e-9
