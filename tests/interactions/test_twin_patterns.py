"""What recurs in a run, as it is reported: each figure against a plain twin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import split, walked_trace
from tracevis3d.analysis.repetitions import find_alike, find_repeated, find_runs
from tracevis3d.analysis.sets import distinct_sets
from tracevis3d.analysis.subtrees import distinct_subtrees
from tracevis3d.features.interactions.hierarchy import element_hierarchy
from tracevis3d.features.interactions.interactions import interactions, rarest
from tracevis3d.features.interactions.layers import layers
from tracevis3d.features.interactions.patterns import pattern_facts, phase_facts
from tracevis3d.features.interactions.phase_names import names_of_kinds
from tracevis3d.features.interactions.phases import (
    characteristic,
    describe,
    enclosing_call,
    find_phases,
    find_repeats,
    phase_runs,
)
from tracevis3d.features.interactions.rounds import find_rounds
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.sequence_list import sequences
from tracevis3d.trace.events import BEGIN, END
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording


@st.composite
def programs(draw):
    """Draw a run in phases, some of which recur: within each one part of the program calls another."""
    recording, rng = Recording(), np.random.default_rng(draw(st.integers(0, 2**32)))
    thread = recording.thread(1, 1)
    kinds, called, times, now = [], [], [], 0

    def event(kind, name):
        nonlocal now
        now += int(rng.integers(1, 5))
        kinds.append(kind)
        called.append(recording.function(name))
        times.append(now)

    around = draw(st.booleans())
    if around:
        event(BEGIN, "main.run")
    for stage in draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=6)) * draw(st.integers(1, 3)):
        event(BEGIN, f"{stage}.stage")
        for _ in range(draw(st.integers(20, 60))):
            name = f"{stage}.f{rng.integers(3)}" if rng.random() < 0.98 else f"z.f{rng.integers(3)}"
            event(BEGIN, name)
            if rng.random() < 0.1:
                event(BEGIN, "main.log")
                event(END, "main.log")
            event(END, name)
        event(END, f"{stage}.stage")
    if around:
        event(END, "main.run")
    recording.add_events(thread=[thread] * len(kinds), kind=kinds, function=called, time=times)
    return recording.finish(Source(path="some/run.json"), split)


def letters(kind):
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[kind]


@given(programs(), st.sampled_from(["function", "module"]), st.sampled_from([0.002, 0.05]), st.integers(0, 6))
@settings(max_examples=30, deadline=None)
def test_phases_are_reported_as_they_are_found(trace, level, least, outliers):
    answer = phase_facts(trace, level, "packages", least, outliers)
    elements = element_hierarchy(trace, level, "packages")
    h, found = elements.hierarchy, interactions(trace, elements)
    phases = find_phases(found, least=least)
    label, time = trace.functions.label, found.time.tolist()

    def title(element):
        return h.title(int(h.node[element]))

    assert (answer["file"], answer["level"], answer["elements"]) == ("some/run.json", level, h.elements)
    assert (answer["pairs"], answer["calls"], answer["kinds"]) == (found.pairs, len(found), phases.kinds)
    assert answer["explained"] == round(phases.explained, 4)
    whole = np.bincount(found.pair, minlength=found.pairs)
    does = names_of_kinds(trace, found, phases)
    for phase, kind, (low, high) in zip(
        answer["phases"], phases.kind, pairwise(phases.edge.tolist()), strict=True
    ):
        inside = enclosing_call(trace, found, low, high)
        here = np.bincount(found.pair[low:high], minlength=found.pairs)
        assert phase == {
            "kind": letters(kind), "start_ns": time[low], "end_ns": time[high - 1], "calls": high - low,
            "within": label[trace.calls.function[inside]] if inside >= 0 else None,
            "main": [describe(h, found, pair) for pair in characteristic(found, here, whole)],
            "does": does[kind],
        }  # fmt: skip
    assert answer["runs"] == [
        {
            "first": run.first,
            "times": run.times,
            "kinds": [letters(phases.kind[run.first + i]) for i in range(run.period)],
        }
        for run in phase_runs(phases.kind)
    ]
    for facts, rounds in zip(answer["rounds"], find_rounds(found), strict=True):
        edges = rounds.edge.tolist()
        assert facts == {
            "times": len(edges) - 1, "start_ns": [time[edge] for edge in edges[:-1]],
            "end_ns": time[edges[-1] - 1], "calls": [b - a for a, b in pairwise(edges)],
            "similarity": round(rounds.likeness, 3),
        }  # fmt: skip
    assert answer["outliers"] == [
        {
            "caller": title(found.caller[rare.pair]), "callee": title(found.callee[rare.pair]),
            "calls": rare.count, "time_ns": time[rare.first], "call": int(found.call[rare.first]),
        }
        for rare in rarest(found, 0, len(found), outliers)
    ]  # fmt: skip
    _, against = layers(h, found.caller, found.callee, whole)
    most = sorted((p for p in range(found.pairs) if against[p]), key=lambda p: (-whole[p], p))
    assert answer["against_layers"] == [
        {"caller": title(found.caller[p]), "callee": title(found.callee[p]), "calls": int(whole[p])}
        for p in most[:outliers]
    ]


def test_ten_outliers_are_reported_by_default():
    trace = walked_trace(1, steps=400, functions=40)
    assert len(phase_facts(trace, "function")["outliers"]) == 10
    assert phase_facts(trace)["level"] == element_hierarchy(trace).hierarchy.level


def plain_loops(trace, subtrees, runs, most):
    """Return the loops that take in most calls: how often they happen, their rounds, the calls of a round."""
    label, rows = trace.functions.label, []
    for of, first, period, times in zip(runs.of_class, runs.first, runs.period, runs.times, strict=True):
        children = subtrees.child[subtrees.first[of] : subtrees.first[of + 1]].tolist()
        body = children[first : first + period]
        happens = sum(1 for c in subtrees.of_call.tolist() if c == of)
        weight = happens * int(times) * sum(int(subtrees.extent[c]) for c in body)
        rows.append((weight, {
            "within": label[subtrees.function[of]], "calls": [label[subtrees.function[c]] for c in body],
            "times": int(times), "happens": happens,
        }))  # fmt: skip
    return [row for _, row in sorted(rows, key=lambda row: -row[0])[:most]]


@given(st.integers(0, 2**32), st.integers(1, 120), st.integers(1, 6), st.integers(0, 5), st.data())
@settings(max_examples=40, deadline=None)
def test_patterns_are_reported_as_they_are_found(seed, steps, functions, most, data):
    trace = walked_trace(seed, steps=steps, threads=2, functions=functions)
    label, calls = trace.functions.label, trace.calls
    low, high = sorted(data.draw(st.tuples(*[st.integers(0, trace.span_ns)] * 2)))
    least = data.draw(st.sampled_from([0.5, 0.8]))
    facts = pattern_facts(trace, low, high, "function", "packages", least, most)
    subtrees = distinct_subtrees(calls)
    repeated = find_repeated(calls, subtrees)
    assert (facts["file"], facts["distinct_subtrees"]) == ("some/walk.json", len(subtrees))
    rows = list(zip(repeated.calls.tolist(), repeated.time.tolist(), repeated.longest.tolist(), strict=True))
    assert facts["repeated"] == [
        {
            "function": label[calls.function[call]], "occurrences": count,
            "calls_each": int(calls.extent[call]), "time_ns": time,
            "longest_start_ns": int(calls.start[call]),
        }
        for count, time, call in rows[:most]
    ]  # fmt: skip
    assert facts["loops"] == plain_loops(trace, subtrees, find_runs(subtrees), most)
    alike = find_alike(subtrees, distinct_sets(subtrees))
    assert facts["alike"] == plain_loops(trace, subtrees, alike, most)
    for row, every in zip(facts["sequences"], sequences(Facts(trace)).rows(0, most), strict=True):
        assert row == {name: every[name] for name in row}
        assert len(row) == 7
    elements = element_hierarchy(trace, "function", "packages")
    found = interactions(trace, elements)
    first, last = found.range(low, high)
    repeats = find_repeats(found, first, last, least)
    stretch = facts["stretch"]
    assert (stretch["start_ns"], stretch["end_ns"], stretch["calls"]) == (low, high, last - first)
    assert stretch["level"] == "function"
    assert stretch["repeats"] == [
        {
            "start_ns": int(found.time[at]), "end_ns": int(found.time[at + last - first - 1]),
            "similarity": round(float(similar), 4), "exact": bool(exact),
        }
        for at, similar, exact in zip(repeats.first, repeats.similar, repeats.exact, strict=True)
    ]  # fmt: skip
    usual = pattern_facts(trace, low, high, "function", "packages", 0.8)
    assert pattern_facts(trace, low, high, "function", "packages") == usual
    for words in ({}, {"start_ns": low}, {"end_ns": high}):
        assert pattern_facts(trace, **words)["stretch"] is None


def test_how_similar_a_repeat_is_has_four_digits():
    trace = recorded("a b c a b d a b c")
    calls = trace.calls.start.tolist()
    facts = pattern_facts(trace, calls[1], calls[3] + 1, "function", least=0.6)["stretch"]
    assert [repeat["similarity"] for repeat in facts["repeats"]] == [0.6667, 1.0]


def recorded(words):
    """Return a trace of a main function that calls functions of these names."""
    recording = Recording()
    thread = recording.thread(1, 1)
    kinds, called = [BEGIN], [recording.function("m.main")]
    for name in words.split():
        kinds += [BEGIN, END]
        called += [recording.function(f"m.{name}")] * 2
    kinds.append(END)
    called.append(called[0])
    recording.add_events(thread=[thread] * len(kinds), kind=kinds, function=called, time=range(len(kinds)))
    return recording.finish(Source(), split)


def test_a_loop_of_unlike_calls_takes_in_all_of_its_calls():
    """A round of one call with nine below it and one alone has more calls than one of two with three each."""
    recording = Recording()
    kinds, called = [], []

    def walk(name, *below):
        kinds.append(BEGIN)
        called.append(recording.function(name))
        for each in below:
            walk(*each)
        kinds.append(END)
        called.append(recording.function(name))

    large = ("m.large", *[("m.leaf",)] * 9)
    small = ("m.small", ("m.leaf",), ("m.leaf",), ("m.leaf",))
    walk("m.main", ("m.one", *[("m.alone",), large] * 4), ("m.two", *[small, ("m.other", ("m.leaf",))] * 4))
    thread = recording.thread(1, 1)
    recording.add_events(thread=[thread] * len(kinds), kind=kinds, function=called, time=range(len(kinds)))
    facts = pattern_facts(recording.finish(Source(), split))
    within = [loop["within"] for loop in facts["loops"]]
    assert within.index("one") < within.index("large") < within.index("two")


@pytest.mark.parametrize("entries", [19, 20, 21])
def test_twenty_entries_of_each_list_are_reported_by_default(entries):
    recording = Recording()
    kinds, called = [], []
    for i in range(entries):
        for _ in range(2):
            for kind, name in ((BEGIN, f"m.f{i}"), (BEGIN, "m.leaf"), (END, "m.leaf"), (END, f"m.f{i}")):
                kinds.append(kind)
                called.append(recording.function(name))
    thread = recording.thread(1, 1)
    recording.add_events(thread=[thread] * len(kinds), kind=kinds, function=called, time=range(len(kinds)))
    facts = pattern_facts(recording.finish(Source(), split))
    assert len(facts["repeated"]) == min(entries, 20)
