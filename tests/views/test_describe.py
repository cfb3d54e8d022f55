"""What elements say of themselves: from the trace, or from what is kept beside them when it is away."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.conftest import ROOT
from tracevis3d import api, units
from tracevis3d.drawing.picked import PickedElement
from tracevis3d.trace.names import FunctionWords, words_of
from tracevis3d.views.calls.clusters import call_under, calls_inside
from tracevis3d.views.describe import describe, describe_call, place_of, self_time


class Names:
    """What a .blend keeps of a trace."""

    def function(self, function):
        return (
            FunctionWords("parse", "markdown.core", "/home/me/markdown/core.py", 12)
            if function == 7
            else None
        )

    def thread(self, thread):
        return f"worker {thread}"


@pytest.fixture(scope="module")
def trace():
    return api.load(ROOT / "examples" / "vt_markdown_repeat1.json.gz")


def test_a_call_is_described_by_the_trace(trace):
    calls = trace.calls
    for call in np.random.default_rng(3).choice(len(calls), 40, replace=False).tolist():
        said = describe_call(trace, call)
        rows = dict(said.rows)
        assert list(rows) == [
            "start", "duration", "self time", "depth", "calls below", "count", "thread",
        ]  # fmt: skip
        children = np.flatnonzero(calls.parent == call)
        lasted = int(calls.end[call] - calls.start[call])
        own = lasted - int((calls.end[children] - calls.start[children]).sum())
        assert self_time(trace, call) == own
        assert rows["self time"].startswith(units.exact_duration(own))
        assert rows["start"] == units.exact_duration(int(calls.start[call]))
        assert rows["duration"].startswith(units.exact_duration(lasted))
        depth, above = 1, int(calls.parent[call])
        while above >= 0:
            depth, above = depth + 1, int(calls.parent[above])
        assert rows["depth"] == f"{depth}"
        below = sum(1 for c in range(call + 1, len(calls)) if c < call + calls.extent[call])
        assert rows["calls below"] == f"{below:,}"
        many = int(np.count_nonzero(calls.function == calls.function[call]))
        assert rows["count"] == f"{many:,} call{'s' if many != 1 else ''} of this function"
        words = words_of(trace, int(calls.function[call]))
        assert said.title == words.label
        assert words.module in said.where
        assert place_of(words) in said.where


def test_an_element_that_stands_for_calls_of_two_traces_says_so_of_both(trace):
    match = PickedElement(
        "tube",
        calls={0: 5, 1: 9},
        values=(
            ("similarity", 0.5),
            ("calls", 3.0),
            ("gap (ns)", 1500.0),
            ("x", math.nan),
        ),
    )
    first, second = describe(match, [trace, trace])
    assert first.title.startswith("A  ")
    assert second.title.startswith("B  ")
    assert first.rows[0] == ("one of", "3 calls")
    assert second.rows[-3:] == [("shown as", "match"), ("similarity", "0.5"), ("gap", "1.5 µs")]


def test_an_element_of_no_call_says_its_texts_and_values():
    (said,) = describe(
        PickedElement("block", texts=(("site", "f"), ("none", "")), values=(("size (bytes)", 2048.0),)), []
    )
    assert (said.title, said.rows) == ("Block", [("site", "f"), ("size", "2 KiB")])


def test_without_its_trace_an_element_says_what_is_kept():
    facts = {"function": 7, "depth": 4, "thread": 2, "duration": 1500.0, "own": 500.0, "same": 3}
    call = PickedElement("call", calls={0: 11}, time=(0.5, 0.75), window=(1000, 5000), facts=facts)
    (said,) = describe(call, [Names()])
    assert said.lines() == [
        "parse", "markdown.core · …/markdown/core.py:12", "start  3 µs", "duration  1.5 µs",
        "self time  500 ns", "depth  4", "thread  worker 2", "count  3 drawn of this function",
    ]  # fmt: skip
    (said,) = describe(
        PickedElement(
            "cluster", calls={0: 11}, time=(0.5, 0.75), window=(1000, 5000), facts={**facts, "count": 9}
        ),
        [Names()],
    )
    assert said.title == "9 calls"
    assert dict(said.rows)["longest"] == "parse"
    assert dict(said.rows)["duration"] == "1 µs"
    # Of a function whose name was not kept, and of a trace that nothing is known of.
    (said,) = describe(PickedElement("call", calls={0: 11}, facts={"function": 8}), [Names()])
    assert said.title == "Call"
    (said,) = describe(PickedElement("call", calls={1: 11}, facts={"depth": 8}), [Names()])
    assert (said.title, said.rows) == ("Call", [])


def test_a_cluster_says_how_many_calls_it_holds_and_which_lies_where_one_points(trace):
    calls = trace.calls
    drawing = api.icicle(trace).drawing()
    (clusters,) = [part for part in drawing.elements if part.kind == "cluster"]
    assert len(clusters)
    widest = np.argsort(-(clusters.time[:, 1] - clusters.time[:, 0]))[:20]
    met = 0
    for i in widest.tolist():
        longest = int(clusters.id[i])
        element = PickedElement(
            "cluster", calls={0: longest}, time=tuple(clusters.time[i].tolist()), window=clusters.window,
            facts={"thread": int(calls.thread[longest]), "depth": int(calls.depth[longest])}, met=(0.5, 0.0),
        )  # fmt: skip
        assert calls_inside(trace, element) == clusters.count[i]
        here = call_under(trace, element)
        moment = element.moment
        if here < 0:
            continue
        met += 1
        assert calls.thread[here] == calls.thread[longest]
        assert calls.start[here] <= moment
        # No other call of that level begins between it and the place.
        level = np.flatnonzero((calls.depth == calls.depth[here]) & (calls.thread == calls.thread[here]))
        assert not np.any((calls.start[level] > calls.start[here]) & (calls.start[level] <= moment))
        (said,) = describe(element, [trace])
        assert said.title == f"{int(clusters.count[i]):,} call{'s' if clusters.count[i] != 1 else ''}"
    assert met
