"""The lists of functions, patterns, utilities and of a library: rows, calls and places, by definition."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.test_compact import plain_key
from tests.filters.test_filters import JAVA, trace_of
from tests.support import walked_traces
from tracevis3d.analysis import pattern_library
from tracevis3d.errors import UsageError
from tracevis3d.features.call_tree import lists
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.patterns import Parameters
from tracevis3d.filters.stack import HIDDEN, apply, parse

CRITERIA = ("exact", "collapsed", "unordered", "set-of-children", "depth", "functions")


@given(st.integers(0, 2**32), st.integers(1, 120), st.sampled_from(CRITERIA), st.sampled_from(("", "f1")))
@settings(deadline=None, max_examples=60)
def test_patterns_are_the_kinds_that_occur_again(seed, steps, criterion, contains) -> None:
    trace = walked_traces.walked_trace(seed, steps=steps, threads=2, functions=4)
    calls, n = trace.calls, len(trace.calls)
    facts = Facts(trace)
    hidden = apply(parse("depth(below=2)"), facts)
    found = lists.repeated(facts, Parameters(criterion, size=1), contains=contains, filtered=hidden)
    keys = [plain_key(calls, i, criterion, 3) for i in range(n)]
    count = Counter(keys)
    wanted = {
        key for i, key in enumerate(keys) if count[key] > 1 and contains in trace.functions.label[
            calls.function[i]]
    }  # fmt: skip
    assert len(found) == len(wanted)
    rows = found.rows(0, len(found))
    assert [row["calls"] for row in rows] == sorted((row["calls"] for row in rows), reverse=True)
    for place, (key, row) in enumerate(zip(found.keys.tolist(), rows, strict=True)):
        of = found.calls(key).tolist()
        (kind,) = {keys[i] for i in of}
        assert kind in wanted
        assert len(of) == row["occurrences"] == count[kind]
        assert row["first_call"] == of[0]
        assert row["calls"] == sum(int(calls.extent[i]) for i in of)
        assert row["hidden"] == sum(int(hidden.state[i]) == HIDDEN for i in of)
        assert {found.place(call) for call in of} == {place}
    for call in range(n):
        if keys[call] not in wanted:
            assert found.place(call) == -1


def test_functions_in_every_order() -> None:
    facts = Facts(JAVA)
    hidden = apply(parse("constructors"), facts)
    for sort in ("occurrences", "calls", "duration", "subtrees", "name"):
        found = lists.model(facts, hidden, sort)
        column = "function" if sort == "name" else "duration_ns" if sort == "duration" else sort
        values = [row[column] for row in found.rows(0, 100)]
        assert values == sorted(values, reverse=sort != "name")
    found = lists.model(facts, hidden, "name", "point")
    rows = found.rows(0, 100)
    assert [row["function"] for row in rows] == [
        "Point.<init>", "Point.finalize", "Point.getX", "Point.setX",
    ]  # fmt: skip
    assert [row["role"] for row in rows] == ["constructor"] * 2 + ["accessor"] * 2
    assert rows[0]["hidden"] == rows[0]["occurrences"]
    assert rows[2]["hidden"] == 0
    for key, row in zip(found.keys.tolist(), rows, strict=True):
        calls = found.calls(key)
        assert len(calls) == row["occurrences"]
        assert found.place(int(calls[-1])) == found.keys.tolist().index(key)
    with pytest.raises(UsageError, match="there is no order"):
        lists.model(facts, None, "colour")
    with pytest.raises(UsageError, match="there is no order"):
        lists.repeated(facts, sort="colour")


def test_utilities_by_their_measure() -> None:
    trace = trace_of("main( a( log() ) b( log() ) c( log() d( log() ) ) )")
    found = lists.utilities(Facts(trace))
    rows = found.rows(0, 10)
    assert rows[0]["function"] == "log"
    scores = [row["utilityhood"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert found.calls(int(found.keys[0])).tolist() == [2, 4, 6, 8]


def test_a_library_on_another_trace() -> None:
    first = trace_of("main( f( g() h() ) f( g() h() ) )")
    other = trace_of("run( x( f( g() h() ) ) log() f( g() ) )")
    graph = Facts(first).graph
    known = pattern_library.Library(
        (pattern_library.promote(first, graph, 1, "the pattern"),), ("log", "absent")
    )
    facts = Facts(other)
    found = lists.from_library(facts, known)
    rows = found.rows(0, 10)
    assert [(row["name"], row["kind"], row["calls"]) for row in rows] == [
        ("the pattern", "pattern", 1), ("log", "utility", 1), ("absent", "utility", 0),
    ]  # fmt: skip
    (call,) = found.calls(0).tolist()
    assert other.functions.name[other.calls.function[call]] == "f"
    assert found.place(call) == 0
    assert found.place(0) == -1
    assert len(lists.from_library(facts, known, "LOG")) == 1


def test_the_filter_that_hides_one_pattern() -> None:
    trace = trace_of("main( f( g() ) h() f( g() ) f( g() g() ) )")
    facts = Facts(trace)
    for criterion, hidden in (("exact", 4), ("collapsed", 7)):
        left = apply(parse(f"alike(call=1, criterion={criterion})"), facts)
        assert left.count(HIDDEN) == hidden
    assert np.flatnonzero(left.state == HIDDEN).tolist() == [1, 2, 4, 5, 6, 7, 8]
    with pytest.raises(UsageError, match="there is no such call"):
        apply(parse("alike(call=99)"), facts)
