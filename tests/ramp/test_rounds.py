"""Rounds, their stages and what is found in them, against slow twins."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from statistics import median

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d import api, units
from tracevis3d.errors import UsageError
from tracevis3d.features.ramp.findings import compare, findings
from tracevis3d.features.ramp.rounds import PHASES, Rounds, find_rounds, joined
from tracevis3d.trace.model import Spans, Trace
from tracevis3d.trace.strings import Strings
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


@given(st.integers(0, 200), st.sampled_from([20, 150, 300]), st.integers(1, 2))
@example(2, 60, 1)
@example(0, 300, 1)
@settings(deadline=None, max_examples=30)
def test_phases_are_rounds_with_the_outermost_calls_within_them(seed, steps, threads) -> None:
    trace = walked_trace(seed, steps=steps, threads=threads, functions=6, longest=20)
    found, calls = api.phases(trace)["phases"], trace.calls
    does = [each["does"] for each in found]
    for name in ("", PHASES, *filter(None, does)):
        which = [i for i, one in enumerate(does) if name in ("", PHASES, one)]
        rounds = find_rounds(trace, "phases", name)
        assert rounds.name == (name or PHASES)
        assert rounds.start.tolist() == [found[i]["start_ns"] for i in which]
        assert (rounds.end >= [found[i]["end_ns"] for i in which]).all()
        if len(which) == len(found):
            assert (rounds.end[:-1] == rounds.start[1:]).all()
        time = Counter()
        for call in np.flatnonzero(calls.depth == 1).tolist():
            time[int(calls.thread[call])] += int(calls.end[call] - calls.start[call])
        busiest = max(range(threads), key=lambda thread: (time[thread], -thread))
        assert rounds.thread.tolist() == [busiest] * len(rounds)
        assert rounds.call.tolist() == [-1] * len(rounds)
        for i, (low, high) in enumerate(zip(rounds.start.tolist(), rounds.end.tolist())):
            following = int(rounds.start[i + 1]) if i + 1 < len(rounds) else high + 1
            within = (calls.start >= low) & (calls.start < following) & (calls.end <= high)
            within &= calls.thread == busiest
            inside = np.flatnonzero(within).tolist()
            outer = [c for c in inside if calls.parent[c] < 0 or not within[calls.parent[c]]]
            mine = rounds.of == i
            assert rounds.stage_call[mine].tolist() == sorted(outer, key=lambda c: calls.start[c])
            labels = [trace.functions.label[int(calls.function[c])] for c in rounds.stage_call[mine]]
            assert [rounds.names[kind] for kind in rounds.stage[mine].tolist()] == labels
    with pytest.raises(UsageError, match="no phase does this"):
        find_rounds(trace, "phases", "nothing")


def plain_findings(spans, stages):
    """Return (weight, sentence, round, short) of each finding, the most important first."""
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
        found.append((lasts[top] / usual, said, top, f"round {top + 1}: {times} ×"))
    gaps = [spans[i + 1][0] - max(end for _, end in spans[: i + 1]) for i in range(many - 1)]
    period = median([b[0] - a[0] for a, b in pairwise(spans)]) if many > 1 else 0
    if many >= 3 and period > 0 and max(gaps) >= 4 * period:
        top = gaps.index(max(gaps))
        times = units.count(float(f"{gaps[top] / period:.2g}"))
        said = f"After round {top + 1} of request nothing begins for {units.duration(gaps[top])}, "
        said += f"{times} times the usual gap"
        found.append((gaps[top] / period, said, top + 1, f"stall of {units.duration(gaps[top])}"))
    third = many // 3
    if third >= 4:
        first, last = median(lasts[:third]), median(lasts[-third:])
        if min(first, last) > 0 and 10 * max(first, last) >= 13 * min(first, last):
            verb = "slow down" if last > first else "get faster"
            said = f"Rounds of request {verb}: {units.duration(first)} at first, "
            said += f"{units.duration(last)} at the end"
            short = f"last rounds: {units.duration(last)}"
            found.append((max(first, last) / min(first, last), said, many - 1, short))
    if not found:
        said = f"{units.counted(many, 'round')} of request, about {units.duration(usual)} each"
        found.append((1.0, said, -1, ""))
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
@example([(10, 0)] * 4 + [(10, 20)], [])
@example([(10, 1)] * 4 + [(10, 2)], [])
@example([(0, 10)] * 4 + [(50, 10)], [])
@example([(1, 0)] * 4 + [(4, 0)], [])
@example([(10, 0)] * 5 + [(10, 10)] * 7, [])
@example([(10, 10)] * 7 + [(10, 0)] * 5, [])
@example([(10, 1)] * 8 + [(10, 2)] * 4, [])
@example([(10, 10)] * 7 + [(10, 20)] * 4, [])
@example([(10, 0), (10, 20)], [])
@example([(10, 10), (10, 20)], [])
@example([(10, 10), (10, 0), (4, 0), (60, 0)], [])
@example([(10, 10), (10, 10), (10, 20)], [])
@settings(deadline=None)
def test_what_is_found_in_rounds_is_that_of_the_plain_twin(steps, stages):
    spans, at = [], 0
    for every, lasts in steps:
        at += every
        spans.append((at, at + lasts))
    stages = sorted((of, spans[of][0], spans[of][0] + lasts, kind) for of, kind, lasts in stages
                    if of < len(spans))  # fmt: skip
    found = [
        (float(np.exp(one.weight)), one.sentence, one.round, one.short)
        for one in findings(made(spans, stages))
    ]
    expected = plain_findings(spans, stages)
    assert [one[1:] for one in found] == [one[1:] for one in expected]
    assert [one[0] for one in found] == pytest.approx([one[0] for one in expected])


@given(st.integers(0, 400), st.integers(0, 400))
@example(100, 102)
@example(100, 101)
@example(102, 100)
@example(1, 0)
@example(1, 2)
@example(2, 1)
@example(0, 0)
def test_two_runs_are_compared_by_their_medians(first, second):
    one, other = (made([(0, 0), (5, 5 + lasts), (9, 9 + 900)]) for lasts in (first, second))
    said = f"median {units.duration(first)} and {units.duration(second)}"
    expected = f"Rounds of request take the same time in both runs: {said}"
    if min(first, second) > 0 and 100 * max(first, second) >= 102 * min(first, second):
        word = "longer" if second > first else "shorter"
        share = units.percentage(abs(second / first - 1))
        expected = f"Rounds of request take {share} {word} in the second run: {said}"
    assert compare(one, other) == expected


def test_what_most_of_a_stragglers_time_is_stays_out_of_a_long_title():
    rounds = made([(i * 10, i * 10 + (30 if i == 4 else 5)) for i in range(9)], [(4, 41, 68, 0)])
    alone = len("Round 5 of request takes 30 ns, 6 times the median, mostly in ")
    for letters, told in ((85 - alone, True), (86 - alone, False)):
        named = replace(rounds, names=("s" * letters, *rounds.names[1:]))
        assert ("mostly in" in findings(named)[0].sentence) == told


def operations(rows):
    """Return a trace of operations: (start, end, name, the row that it is part of, or -1)."""
    names = sorted({name for _, _, name, _ in rows})
    start, end, name, parent = zip(*rows, strict=True)
    spans = Spans(
        start=np.array(start, np.int64), end=np.array(end, np.int64),
        thread=np.arange(len(rows), dtype=np.int32) % 3,
        name=np.array([names.index(one) for one in name], np.int32),
        parent=np.array(parent, np.int64), names=Strings.of(names),
    )  # fmt: skip
    return Trace(spans=spans)


OPERATIONS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 20), st.sampled_from("abcd"), st.integers(-9, 8)),
    min_size=1, max_size=12,
).map(
    lambda rows: [(s, s + d, name, max(min(p, i - 1), -1)) for i, (s, d, name, p) in enumerate(rows)]
)  # fmt: skip


@given(OPERATIONS, st.sampled_from(["", "a", "b"]))
@settings(deadline=None)
def test_operations_are_rounds_with_their_parts(rows, repeated):
    trace, names = operations(rows), sorted({name for _, _, name, _ in rows})
    if repeated and repeated not in names:
        with pytest.raises(UsageError, match=f"repeated={repeated}: no operation has this name"):
            find_rounds(trace, "spans", repeated)
        return
    found = find_rounds(trace, "auto", repeated)
    outer = [i for i, row in enumerate(rows) if row[3] < 0]
    taken = repeated
    if not repeated:
        # Of what happens at least twice, that with the most time; the first of equals.
        many, time = Counter(rows[i][2] for i in outer), Counter()
        for i in outer:
            time[rows[i][2]] += rows[i][1] - rows[i][0]
        often = [name for name in names if many[name] >= 2]
        taken = max(often or names[:1], key=lambda name: (time[name], -names.index(name)))
    which = [i for i in (range(len(rows)) if repeated else outer) if rows[i][2] == taken]
    which.sort(key=lambda i: rows[i][0])
    assert found.name == taken
    assert list(zip(found.start.tolist(), found.end.tolist())) == [rows[i][:2] for i in which]
    assert found.thread.tolist() == [i % 3 for i in which]
    stages = [
        (place, *rows[i][:3])
        for place, whole in enumerate(which)
        for i in sorted((i for i, row in enumerate(rows) if row[3] == whole), key=lambda i: rows[i][0])
    ]
    said = [found.names[kind] for kind in found.stage.tolist()]
    assert stages == list(
        zip(found.of.tolist(), found.stage_start.tolist(), found.stage_end.tolist(), said, strict=True)
    )
    assert found.call.tolist() == [-1] * len(which)
    assert found.stage_call.tolist() == [-1] * len(stages)


@pytest.mark.parametrize(
    ("kinds", "longest", "name"),
    [(19, 1, "k00"), (20, 1, "all operations"), (21, 4, "all operations"), (21, 5, "k00"), (21, 6, "k00")],
)
def test_of_many_names_all_operations_are_rounds_unless_one_has_a_fifth_of_the_time(kinds, longest, name):
    rows = [(100 * i, 100 * i + 10 * longest, "k00", -1) for i in range(2)]
    # The others have together what is left of 500 ns.
    left = (500 - 20 * longest) / (kinds - 1)
    rows += [(3000 + 100 * i, 3000 + 100 * i + round(left), f"k{i:02}", -1) for i in range(1, kinds)]
    found = find_rounds(operations(rows), "spans", "")
    assert found.name == name
    assert len(found) == (2 if name == "k00" else len(rows))
