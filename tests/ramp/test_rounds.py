"""Rounds, their stages and what is found in them, against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.walked_traces import walked_trace
from tracevis3d import api
from tracevis3d.errors import UsageError
from tracevis3d.features.ramp.findings import compare, findings
from tracevis3d.features.ramp.rounds import Rounds, find_rounds, joined
from tracevis3d.views.calls.rounds import repeated_function, rounds_of


def made(spans, stages=()):
    """Return rounds of (start, end), with stages of (round, start, end, kind)."""
    start, end = (np.array([one[i] for one in spans], np.int64) for i in (0, 1))
    of, first, last, kind = (np.array([one[i] for one in stages], np.int64) for i in range(4))
    none = np.full(len(spans), -1, np.int64)
    names = tuple(f"stage {k}" for k in range(4))
    return Rounds("request", start, end, none, none, of, first, last, kind, np.full(len(of), -1), names)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 200))
def test_rounds_are_the_outermost_calls_with_what_they_call(seed):
    trace = walked_trace(seed, steps=60, functions=4, longest=20)
    calls = trace.calls
    for function in np.unique(calls.function).tolist():
        outer = []
        for call in np.flatnonzero(calls.function == function).tolist():
            above = int(calls.parent[call])
            while above >= 0 and calls.function[above] != function:
                above = int(calls.parent[above])
            outer += [call] if above < 0 else []
        assert sorted(rounds_of(trace, function).tolist()) == outer
        found = find_rounds(trace, "calls", trace.functions.name[function])
        assert (np.diff(found.start) >= 0).all()
        for i, call in enumerate(found.call.tolist()):
            below = np.flatnonzero(calls.parent == call)
            assert found.stage_call[found.of == i].tolist() == below.tolist()
            said = [found.names[k] for k in found.stage[found.of == i]]
            assert said == [trace.functions.label[int(f)] for f in calls.function[below]]


STAGES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 5), st.integers(0, 2)), max_size=14
)


@given(STAGES, st.integers(1, 6))
def test_stages_of_one_kind_are_joined_over_small_gaps(given_stages, least):
    clock, rows = {}, []
    for of, gap, lasts, kind in sorted(given_stages, key=lambda one: one[0]):
        begin = clock.get(of, 0) + gap
        clock[of] = begin + lasts
        rows.append((of, begin, begin + lasts, kind))
    rounds = made([(0, 100)] * 4, rows)
    first, stop = joined(rounds, rounds.stage, np.full(len(rows), float(least)))
    twin = []
    for i, (of, begin, _, kind) in enumerate(rows):
        before = rows[i - 1] if i else None
        if before is not None and before[0] == of and before[3] == kind and begin - before[2] < least:
            twin[-1][1] = i + 1
        else:
            twin.append([i, i + 1])
    assert [list(pair) for pair in zip(first.tolist(), stop.tolist())] == twin


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=12), st.integers(0, 60)
)
def test_a_window_holds_the_rounds_in_it_with_their_stages(spans, low):
    spans = sorted((s, s + d) for s, d in spans)
    rounds = made(spans, [(i, s, e, 0) for i, (s, e) in enumerate(spans)])
    found = rounds.between(low, low + 10)
    inside = [one for one in spans if one[0] < low + 10 and one[1] >= low]
    assert list(zip(found.start.tolist(), found.end.tolist())) == inside
    assert found.of.tolist() == list(range(len(inside)))
    assert found.stage_start.tolist() == [s for s, _ in inside]


def test_a_straggler_is_found_with_its_stage():
    spans = [(i * 10, i * 10 + 5) for i in range(9)]
    spans[4] = (40, 70)
    said = findings(made(spans, [(4, 41, 68, 2)]))[0]
    assert said.sentence == "Round 5 of request takes 30 ns, 6 times the median, mostly in stage 2"
    assert said.round == 4


def test_a_stall_is_found_where_nothing_runs():
    spans = [(i * 10 + (200 if i > 5 else 0), i * 10 + 5 + (200 if i > 5 else 0)) for i in range(12)]
    said = findings(made(spans))[0]
    assert said.sentence == "After round 6 of request nothing begins for 205 ns, 20 times the usual gap"
    # While a long round runs, nothing stalls.
    spans[5] = (50, 259)
    assert not any(one.short.startswith("stall") for one in findings(made(spans)))


def test_a_pace_that_changes_is_found():
    spans = [(i * 100, i * 100 + (20 if i < 6 else 35)) for i in range(12)]
    sentence = findings(made(spans))[0].sentence
    assert sentence == "Rounds of request slow down: 20 ns at first, 35 ns at the end"
    even = [(i * 100, i * 100 + 20) for i in range(12)]
    assert findings(made(even))[0].sentence == "12 rounds of request, about 20 ns each"
    assert compare(made(even), made(spans)).startswith("Rounds of request take 38 % longer")
    assert "the same time" in compare(made(even), made(even))


def test_what_is_not_repeated_is_said():
    trace = walked_trace(1, steps=4, threads=1, functions=50)
    with pytest.raises(UsageError, match="no function is called 6 to 2,000 times"):
        repeated_function(trace, "")
    with pytest.raises(UsageError, match="repeated=other: no function has this name"):
        repeated_function(trace, "other")


def test_phases_are_rounds_with_the_outermost_calls_within_them() -> None:
    trace = api.load(ROOT / "examples" / "vt_sphinxtext_E.json.gz")
    found, rounds = api.phases(trace)["phases"], find_rounds(trace, "phases", "")
    assert rounds.start.tolist() == [each["start_ns"] for each in found]
    assert (rounds.end[:-1] == rounds.start[1:]).all()
    assert (rounds.end >= [each["end_ns"] for each in found]).all()
    # The plain twin, for the phases one by one.
    calls = trace.calls
    for i in range(0, len(rounds), 3):
        low, high = int(rounds.start[i]), int(rounds.end[i])
        following = int(rounds.start[i + 1]) if i + 1 < len(rounds) else high + 1
        within = (calls.start >= low) & (calls.start < following) & (calls.end <= high)
        inside = np.flatnonzero(within).tolist()
        outer = [c for c in inside if calls.parent[c] < 0 or not within[calls.parent[c]]]
        assert sorted(rounds.stage_call[rounds.of == i].tolist()) == outer
    does = [each["does"] for each in found]
    name = next(each for each in does if each)
    assert len(find_rounds(trace, "phases", name)) == does.count(name)
    with pytest.raises(UsageError, match="no phase does this"):
        find_rounds(trace, "phases", "nothing")
