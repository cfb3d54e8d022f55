"""Rounds, their stages and what is found in them, against slow twins."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from statistics import median

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.walked_traces import walked_trace
from tracevis3d import api, units
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


def plain_findings(spans, stages):
    """Return (weight, sentence, round) of each finding, the most important first."""
    found, lasts = [], [end - start for start, end in spans]
    many, usual = len(spans), median(lasts)
    if many >= 3 and usual > 0 and max(lasts) >= 2 * usual:
        top = lasts.index(max(lasts))
        times = units.count(float(f"{lasts[top] / usual:.2g}"))
        said = f"Round {top + 1} of request takes {units.duration(lasts[top])}, {times} times the median"
        within = Counter()
        for of, start, end, kind in stages:
            within[kind] += (end - start) * (of == top)
        kind = max(range(4), key=lambda kind: (within[kind], -kind))
        if 2 * within[kind] > lasts[top]:
            said += f", mostly in stage {kind}"
        found.append((lasts[top] / usual, said, top))
    gaps = [spans[i + 1][0] - max(end for _, end in spans[: i + 1]) for i in range(many - 1)]
    period = median([b[0] - a[0] for a, b in pairwise(spans)]) if many > 1 else 0
    if many >= 3 and period > 0 and max(gaps) >= 4 * period:
        top = gaps.index(max(gaps))
        times = units.count(float(f"{gaps[top] / period:.2g}"))
        said = f"After round {top + 1} of request nothing begins for {units.duration(gaps[top])}, "
        found.append((gaps[top] / period, said + f"{times} times the usual gap", top + 1))
    third = many // 3
    if third >= 4:
        first, last = median(lasts[:third]), median(lasts[-third:])
        if min(first, last) > 0 and 10 * max(first, last) >= 13 * min(first, last):
            verb = "slow down" if last > first else "get faster"
            said = (
                f"Rounds of request {verb}: {units.duration(first)} at first, {units.duration(last)} at the"
            )
            found.append((max(first, last) / min(first, last), f"{said} end", many - 1))
    if not found:
        said = f"{units.counted(many, 'round')} of request, about {units.duration(usual)} each"
        found.append((1.0, said, -1))
    return sorted(found, key=lambda one: -one[0])


@given(
    st.lists(
        st.tuples(st.sampled_from([10, 10, 11, 50]), st.sampled_from([0, 10, 10, 13, 20, 21])), min_size=1,
        max_size=16,
    ),
    st.lists(st.tuples(st.integers(0, 15), st.integers(0, 3), st.integers(0, 21)), max_size=6),
)  # fmt: skip
@example([(10, 10)] * 6 + [(10, 13)] * 6, [])
@example([(10, 10)] * 4 + [(10, 7)] * 8, [])
@example([(10, 10)] * 4 + [(10, 20)], [(4, 1, 10)])
@example([(10, 10)] * 4 + [(10, 20)], [(4, 1, 11)])
@example([(10, 4)] * 4 + [(44, 4)], [])
@example([(10, 4)] * 4 + [(43, 4)], [])
@example([(10, 10), (10, 20)], [])
@example([(10, 10), (10, 10), (10, 20)], [])
@settings(deadline=None)
def test_what_is_found_in_rounds_is_that_of_the_plain_twin(steps, stages):
    spans, at = [], 0
    for every, lasts in steps:
        at += every
        spans.append((at, at + lasts))
    stages = sorted((of, spans[of][0], spans[of][0] + lasts, kind) for of, kind, lasts in stages
                    if of < len(spans))  # fmt: skip
    found = [(float(np.exp(one.weight)), one.sentence, one.round) for one in findings(made(spans, stages))]
    expected = plain_findings(spans, stages)
    assert [one[1:] for one in found] == [one[1:] for one in expected]
    assert [one[0] for one in found] == pytest.approx([one[0] for one in expected])
