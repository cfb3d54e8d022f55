"""What the drum's title says: against plain counting, and on recordings."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import tracevis3d as tv
from tests.interactions.test_twin_patterns import programs
from tests.support.walked_traces import split, walked_trace
from tracevis3d.features.interactions import headline
from tracevis3d.features.interactions.hierarchy import element_hierarchy, shared_hierarchy
from tracevis3d.features.interactions.interactions import interactions
from tracevis3d.features.interactions.phases import Phases, enclosing_call, find_phases
from tracevis3d.features.interactions.rounds import Rounds, find_rounds
from tracevis3d.trace.events import BEGIN, END
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording
from tracevis3d.units import percentage

NAMES = ("Test.evaluate", "Model.train", "Data.get", "Rule.apply", "Row.get")
EXAMPLES = Path(__file__).parents[3] / "examples"


def said(trace, level="auto"):
    elements = element_hierarchy(trace, level)
    found = interactions(trace, elements)
    stretch = (0, len(found))
    return headline.of_run(trace, elements.hierarchy, found, stretch, find_phases(found), find_rounds(found))


def owner(elements, trace, call):
    return elements.hierarchy.distinct[elements.hierarchy.node[int(elements.of_call([call])[0])]]


@given(programs())
@settings(max_examples=40, deadline=None)
def test_who_receives_most_calls_is_counted(trace):
    elements = element_hierarchy(trace, "class")
    names = [owner(elements, trace, call) for call in range(len(trace)) if trace.calls.parent[call] >= 0]
    text = said(trace, "class").text
    if not names:
        assert "go to" not in text
        return
    two = Counter(names).most_common(2)
    share = two[0][1] / len(names)
    if share < 0.5 and len(two) > 1:
        share += two[1][1] / len(names)
        if share < 0.4:
            assert "go to" not in text
            return
    assert f"{percentage(share)} of the calls go to " in text


def test_rounds_come_first_and_say_how_sure_they_are():
    recording = Recording()
    thread = recording.thread(1, 1)
    number = {name: recording.function(name) for name in NAMES}
    events = [(BEGIN, "Test.evaluate")]
    for fold in range(6):
        for stage, inner, times in (("Model.train", "Data.get", 300 + fold), ("Rule.apply", "Row.get", 250)):
            events += [(BEGIN, stage), *[(BEGIN, inner), (END, inner)] * times, (END, stage)]
    events.append((END, "Test.evaluate"))
    recording.add_events(
        thread=[thread] * len(events), kind=[kind for kind, _ in events],
        function=[number[name] for _, name in events], time=list(range(len(events))),
    )  # fmt: skip
    found = said(recording.finish(Source(path="some/folds.json"), split), "module")
    assert found.text == "evaluate does nearly the same 6 times; 55 % of the calls go to Data"
    assert found.certainty.startswith("the 6 rounds are ")


def called(*pairs):
    """Return a trace in which one function calls others, each of which calls one more; and its parts."""
    recording = Recording()
    thread = recording.thread(1, 1)
    events = [(BEGIN, "Test.evaluate")]
    for outer, inner in pairs:
        events += [(BEGIN, outer), (BEGIN, inner), (END, inner), (END, outer)]
    events.append((END, "Test.evaluate"))
    recording.add_events(
        thread=[thread] * len(events), kind=[kind for kind, _ in events],
        function=[recording.function(name) for _, name in events], time=list(range(len(events))),
    )  # fmt: skip
    trace = recording.finish(Source(), split)
    elements = element_hierarchy(trace, "class")
    return trace, elements.hierarchy, interactions(trace, elements)


@pytest.mark.parametrize(
    ("second", "said"), [(4, "40 % of the calls go to Log and Data"), (3, "20 calls between")]
)
def test_two_that_receive_two_fifths_of_the_calls_are_named(second, said):
    inner = ["Log.add"] * 4 + ["Data.get"] * second + [f"Part{i}.do" for i in range(6 - second)]
    trace, hierarchy, found = called(*((f"Outer{i}.do", name) for i, name in enumerate(inner)))
    title = headline.of_run(trace, hierarchy, found, (0, len(found)), NONE, [])
    assert title.text.startswith(said)


NONE = Phases(np.zeros(0, np.int64), np.zeros(0, np.int32), 0.0)


@pytest.mark.parametrize(
    ("likeness", "edges", "expected"),
    [
        (0.9, [[0, 20, 40]], "evaluate does nearly the same 2 times"),
        (0.89, [[0, 20, 40]], "evaluate does much the same 2 times"),
        (0.5, [[0, 20, 39]], "100 calls between 13 modules"),
        (0.5, [[1, 10, 20, 45], [50, 55, 99]], "evaluate does much the same 2 times"),
        (0.5, [[40, 41, 99], [0, 20, 39]], "evaluate does much the same 2 times"),
        (0.5, [[0, 10, 20, 50], [55, 56, 99]], "evaluate does much the same 3 times"),
        (0.5, [[0, 2, 4, 100]], "evaluate does much the same 3 times"),
    ],
)
def test_rounds_are_said_if_they_have_two_fifths_of_the_calls(likeness, edges, expected):
    trace, hierarchy, found = called(*((f"Outer{i % 6}.do", f"Inner{i % 6}.get") for i in range(50)))
    assert len(found) == 100
    rounds = [Rounds(np.array(edge, np.int64), likeness) for edge in edges]
    title = headline.of_run(trace, hierarchy, found, (0, 100), NONE, rounds)
    assert title.text.partition(";")[0] == expected
    if "does" in expected:
        longest = max(edges, key=lambda edge: edge[-1] - edge[0])
        sizes = np.diff(longest)
        sure = f"rounds are {percentage(likeness)} alike, {min(sizes)} to {max(sizes)} calls each"
        assert title.certainty == f"the {len(sizes)} {sure}"
    half = headline.of_run(trace, hierarchy, found, (50, 100), NONE, [])
    assert half.text.startswith("50 calls between 13 modules")
    inside = [Rounds(np.array([60, 70, 80]), 0.5)]
    half = headline.of_run(trace, hierarchy, found, (50, 100), NONE, inside)
    assert half.text.startswith("evaluate does much the same 2 times")


@pytest.mark.parametrize(
    ("edge", "expected"),
    [
        ([1, 51, 101], "train does much the same 2 times"),  # within the second call of main
        ([0, 50, 100], "main does much the same 2 times"),
        ([0, 101, 202], "The run does much the same 2 times"),  # in both runs of main
    ],
)
def test_rounds_are_said_of_the_call_around_them(edge, expected):
    recording = Recording()
    thread = recording.thread(1, 1)
    events = []
    for _ in range(2):
        events += [(BEGIN, "Test.main"), (BEGIN, "Model.train")]
        events += [(BEGIN, "Data.get"), (END, "Data.get")] * 100 + [(END, "Model.train"), (END, "Test.main")]
    recording.add_events(
        thread=[thread] * len(events), kind=[kind for kind, _ in events],
        function=[recording.function(name) for _, name in events], time=list(range(len(events))),
    )  # fmt: skip
    trace = recording.finish(Source(), split)
    elements = element_hierarchy(trace, "class")
    found = interactions(trace, elements)
    assert len(found) == 202
    rounds = [Rounds(np.array(edge, np.int64), 0.5)]
    title = headline.of_run(trace, elements.hierarchy, found, (edge[0], edge[-1]), NONE, rounds)
    assert title.text.partition(";")[0] == expected


def test_a_call_holds_those_that_begin_before_its_last_one_ends():
    recording = Recording()
    thread = recording.thread(1, 1)
    # main( train( get ) evaluate( get ) )
    events = [(BEGIN, "Test.main")]
    for name in ("Model.train", "Test.evaluate"):
        events += [(BEGIN, name), (BEGIN, "Data.get"), (END, "Data.get"), (END, name)]
    events.append((END, "Test.main"))
    recording.add_events(
        thread=[thread] * len(events), kind=[kind for kind, _ in events],
        function=[recording.function(name) for _, name in events], time=list(range(len(events))),
    )  # fmt: skip
    trace = recording.finish(Source(), split)
    found = interactions(trace, element_hierarchy(trace, "class"))
    label = {1: "train", 2: "get", 3: "evaluate", 4: "get"}
    assert [trace.functions.label[trace.calls.function[c]] for c in found.call] == [*label.values()]
    assert enclosing_call(trace, found, 1, 2) == 1  # the first get: in train
    assert enclosing_call(trace, found, 1, 3) == 0  # and evaluate, which begins right after train
    assert enclosing_call(trace, found, 3, 4) == 3
    assert enclosing_call(trace, found, 0, 4) == 0


def test_of_one_call_it_is_said_where_it_goes():
    trace, hierarchy, found = called()
    assert headline.of_run(trace, hierarchy, found, (0, 0), NONE, []).text.startswith("0 calls between ")
    trace, hierarchy, found = called(("Model.train", "Data.get"))
    assert headline.of_run(trace, hierarchy, found, (1, 2), NONE, []).text == "100 % of the calls go to Data"
    trace, hierarchy, found = called(("Test.run", "Test.look"))
    assert found.elements == 1
    assert headline.of_run(trace, hierarchy, found, (0, 2), NONE, []).text == "100 % of the calls go to Test"


@given(programs())
@settings(max_examples=40, deadline=None)
def test_what_is_the_same_all_the_time_is_in_each_tenth(trace):
    elements = element_hierarchy(trace, "class")
    found = interactions(trace, elements)
    calls = [c for c in range(len(trace)) if trace.calls.parent[c] >= 0]
    ends = [(owner(elements, trace, int(trace.calls.parent[c])), owner(elements, trace, c)) for c in calls]
    text = headline.throughout(elements.hierarchy, found, (0, len(found)))
    n = len(ends)
    if n < 10:
        assert not text
        return
    parts = [{ends[i] for i in range(n) if i * 10 // n == part} for part in range(10)]
    always = Counter(pair for pair in ends if all(pair in part for part in parts))
    if not always:
        assert text == f"no two {elements.hierarchy.kind} call each other all the time"
        return
    share = percentage(sum(always.values()) / n)
    most = [f"{a} → {b}" for (a, b), count in always.items() if count == max(always.values())]
    assert text in [f"the same all the time: {share} of the calls, most of them {words}" for words in most]


def pair(a, b):
    shared = shared_hierarchy([a, b], "class")
    found = [interactions(trace, e) for trace, e in zip((a, b), shared, strict=True)]
    return headline.of_pair(shared[0].hierarchy, found, [f.counts(0, len(f)) for f in found])


@given(programs(), programs())
@settings(max_examples=40, deadline=None)
def test_of_two_runs_what_differs_most_is_counted(a, b):
    text, sure = pair(a, b).text, pair(a, b).certainty
    counts = []
    for trace in (a, b):
        elements = shared_hierarchy([a, b], "class")[len(counts)]
        calls = [c for c in range(len(trace)) if trace.calls.parent[c] >= 0]
        ends = [
            (owner(elements, trace, int(trace.calls.parent[c])), owner(elements, trace, c)) for c in calls
        ]
        counts.append(Counter(ends))
    change = {ends: abs(counts[0][ends] - counts[1][ends]) for ends in counts[0] | counts[1]}
    if not sum(change.values()):
        assert text.startswith("A and B make the same calls between ")
        return
    share = percentage(sum(change.values()) / sum((counts[0] + counts[1]).values()))
    assert sure == f"{share} of the calls of both have no counterpart in the other"
    used = [{name for ends in count for name in ends} for count in counts]
    alone = {
        name: sum(n for count in counts for ends, n in count.items() if name in ends)
        for name in used[0] ^ used[1]
    }
    said_alone = max(alone.values(), default=0) >= 0.5 * max(change.values())
    assert text.startswith("Only ") == said_alone
    if text.startswith("Only"):
        s = "AB".index(text[5])
        name, many = text[len("Only A uses ") : -len(" calls")].rsplit(": ", 1)
        assert not any(name in ends for ends in counts[1 - s])
        assert alone[name] == max(alone.values()) == int(many.replace(",", ""))
    else:
        most = [ends for ends in change if change[ends] == max(change.values())]
        assert any(
            text.startswith(f"{x} calls {'itself' if x == y else y} ")
            and all(f"{c[x, y]:,} times" in text or not c[x, y] for c in counts)
            for x, y in most
        )


def test_a_run_is_like_itself():
    trace = tv.load(EXAMPLES / "weka_parallel_9t.tsv.gz")
    assert pair(trace, trace).text.startswith("A and B make the same calls")
    nobody_calls = walked_trace(0, steps=1, threads=1)
    assert pair(nobody_calls, nobody_calls).text.startswith("A and B make the same calls")
    assert said(trace).text == "9 threads make 132,489 calls; 51 % of the calls go to Instance and Instances"
