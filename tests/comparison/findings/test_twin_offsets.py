"""Waits before calls, paired callers, and bounds of what is slower, by their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.comparison.test_findings import found, leaf, run, usual
from tests.comparison.test_twin_findings import evidence_of
from tests.support.plain_match import small_trace
from tests.support.walked_traces import walked_trace
from tracevis3d.features.comparison.findings.counterparts import groups
from tracevis3d.features.comparison.findings.disturbances import drifts
from tracevis3d.features.comparison.findings.order import _paired_caller, _waits
from tracevis3d.features.comparison.matching import sums
from tracevis3d.features.comparison.matching.many_traces import letter_of
from tracevis3d.features.comparison.matching.match import compare


@given(st.integers(0, 2**32), st.integers(1, 40), st.data())
@settings(max_examples=80, deadline=None)
def test_waits_before_calls_are_those_of_the_plain_twin(seed, steps, data):
    calls = walked_trace(seed, steps=steps, threads=2, functions=4, longest=9).calls
    ids = data.draw(st.lists(st.integers(0, len(calls) - 1), unique=True))
    ids = np.array(sorted(ids, key=lambda i: (calls.start[i], i)), np.int64)
    wait, before, clear = _waits(calls, ids)
    for place, call in enumerate(ids.tolist()):
        up = int(calls.parent[call])
        beside = [
            i for i in ids.tolist()
            if calls.parent[i] == up and calls.thread[i] == calls.thread[call]
            and (calls.start[i], i) < (calls.start[call], call)
        ]  # fmt: skip
        last = max(beside, key=lambda i: (calls.start[i], i)) if beside else -1
        begin = calls.end[last] if beside else calls.start[up] if up >= 0 else 0
        assert wait[place] == calls.start[call] - begin
        assert (before[place] < 0) if last < 0 else (ids[before[place]] == last)
        after = last + int(calls.extent[last]) if beside else up + 1 if up >= 0 else call
        assert clear[place] == (after == call)


@given(st.integers(0, 2**32), st.integers(1, 40), st.data())
@settings(max_examples=80, deadline=None)
def test_the_paired_caller_is_the_nearest_above(seed, steps, data):
    calls = walked_trace(seed, steps=steps, threads=2, functions=4, longest=9).calls
    paired = data.draw(st.lists(st.integers(0, len(calls) - 1), unique=True))
    for call, caller in zip(paired, _paired_caller(calls, np.array(paired, np.int64)).tolist(), strict=True):
        up = int(calls.parent[call])
        while up >= 0 and up not in paired:
            up = int(calls.parent[up])
        assert caller == up


def test_the_longest_wait_comes_first_whether_earlier_or_later():
    parts = usual()
    a = run([parts[0], 9000, *parts[1:]])
    b = run([*parts[:2], 5000, parts[2], 3000, *parts[3:]])
    offsets = [f for f in found(a, b) if f.kind == "offset"]
    assert [(f.functions[0], f.details["change_ns"]) for f in offsets] == [
        ("build", -9000), ("sort", 5000), ("write", 3000),
    ]  # fmt: skip


@pytest.mark.parametrize("wait", [999, 1000])
def test_a_later_start_by_a_hundredth_of_the_longer_run_is_reported(wait):
    a = run([leaf("x"), leaf("y", 98_700 - wait)], own=300)
    b = run([leaf("x"), wait, leaf("y", 98_700 - wait)], own=300)
    assert b.span_ns == 100_000
    assert [f.functions[0] for f in found(a, b) if f.kind == "offset"] == ["y"] * (wait == 1000)


def test_a_wait_after_something_else_is_no_later_start():
    parts = usual()
    quick = ("quick", 10, [])
    a = run([*parts[:2], *parts[3:], parts[2]])
    b = run([*parts[:2], parts[2], 7000, *parts[3:], quick])
    # In A write comes after build, in B after sort, which has moved.
    assert "write" not in {f.functions[0] for f in found(a, b) if f.kind == "offset"}


def test_exact_runs_do_not_drag():
    steps, slow = ([(f"step{i}", 100, [leaf(f"work{i}", own)]) for i in range(12)] for own in (9000, 19000))
    evidence = evidence_of((run([("stage", 10, steps), *usual()]), run([("stage", 10, slow), *usual()])))
    none = np.empty(0, np.int64)
    judged = groups(evidence)
    assert evidence.exact
    assert len(judged)
    assert drifts(evidence, judged, none, none) == []


@pytest.mark.parametrize(("times", "certainty"), [(4, "likely"), (5, "certain"), (6, "certain")])
def test_what_is_seen_in_five_calls_is_certain(times, certainty):
    def parts(own):
        return [("stage", 400, [leaf("lock", own)] * times), *usual()]

    (slower,) = [f for f in found(run(parts(1000)), run(parts(3000))) if f.kind == "slower"]
    assert (slower.functions, slower.certainty) == (("lock", "lock"), certainty)


def test_what_is_slower_under_another_name_has_both():
    from tracevis3d.features.comparison.matching.identity import Renamed

    a = run([("stage", 400, [leaf("lock", 1000)] * 8), *usual()])
    b = run([("stage", 400, [leaf("guard", 9000)] * 8), *usual()])
    slower = [f for f in found(a, b, renamed=[Renamed("lock", "guard")]) if f.kind == "slower"]
    assert [f.functions for f in slower] == [("lock", "guard")]


def test_letters_of_traces():
    assert [letter_of(k) for k in (0, 1, 25, 26, 27)] == ["A", "B", "Z", "27", "28"]


def test_shares_are_summed_up_for_so_many_pairs_of_units(monkeypatch):
    trace = small_trace([0, 1, 1, 2], [0, 1, 2, 3], [9, 2, 3, 1], ["a", "b", "c", "d"])
    comparison = compare(trace, trace, tau="0.3", cache=False)
    pairs = len(comparison.similarity.calls_a) * len(comparison.similarity.calls_b)
    assert pairs > 2
    monkeypatch.setattr(sums, "MOST_PAIRS", pairs)
    assert sums.match_sums(comparison) is not None
    monkeypatch.setattr(sums, "MOST_PAIRS", pairs - 1)
    assert sums.match_sums(comparison) is None
