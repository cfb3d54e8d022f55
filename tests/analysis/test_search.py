"""Search against its definition: all calls looked at one by one."""

import fnmatch
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.support import synthetic
from tracevis3d.analysis.search import (
    CallIndex,
    Found,
    Query,
    call_index,
    matching_functions,
    search,
)
from tracevis3d.cli import main
from tracevis3d.errors import UsageError
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings

NAMES = ["main", "Reader.read", "read_all", "Ünïcode", "a.b(int, char*)", "*weird?[x]"]


def trace_of(seed, n, threads=1):
    functions = len(NAMES)
    calls = synthetic.random_calls(seed, n, functions=functions, threads=threads)
    first, count = synthetic.thread_slices(calls)
    unknown = np.full(functions, -1, np.int32)
    names = Strings.of(f"{name} (/x/{i}.py:{i})" for i, name in enumerate(NAMES[:functions]))
    table = Functions(names, Strings.of(NAMES[:functions]), unknown, unknown, np.zeros(functions, np.int32))
    numbers = tuple(range(len(first)))
    return Trace(
        calls=calls,
        functions=table,
        threads=Threads(numbers, numbers, ("",) * len(first), ("",) * len(first), first, count),
        span_ns=int(calls.end.max(initial=0)),
    )


def plain(trace, functions, start, end):
    """Return the calls of ``functions`` that start in a range, by time, then number."""
    begin = trace.calls.start.tolist()
    chosen = [
        i for i, f in enumerate(trace.calls.function.tolist()) if f in functions and start <= begin[i] < end
    ]
    return sorted(chosen, key=lambda i: (begin[i], i))


@given(data=st.data())
@settings(deadline=None, max_examples=300)
def test_same_as_twin(data):
    trace = trace_of(
        data.draw(st.integers(0, 2**32)), data.draw(st.integers(1, 80)), data.draw(st.integers(1, 3))
    )
    last = trace.span_ns
    functions = np.array(sorted(data.draw(st.sets(st.integers(0, len(NAMES) - 1)))), np.int64)
    start, end = data.draw(st.integers(-1, last + 1)), data.draw(st.integers(-1, last + 2))
    index = CallIndex.of(trace.calls, trace.threads, len(trace.functions))
    found = Found(index, functions, start, end)
    wanted = plain(trace, set(functions.tolist()), start, end)
    assert found.count == len(wanted)
    assert found.counts.tolist() == [sum(trace.calls.function[i] == f for i in wanted) for f in functions]
    most = data.draw(st.integers(0, 2) | st.integers(0, 90))
    assert found.first(most).tolist() == wanted[:most]
    assert found.last(most).tolist() == wanted[::-1][:most]
    spread = found.spread(most).tolist()
    assert len(spread) == len(set(spread)) <= most
    assert set(spread) <= set(wanted)
    assert len(spread) >= min(len(wanted), most) / 2
    rank = data.draw(st.integers(0, 2) | st.integers(0, 90))
    assert found.window(rank, most).tolist() == wanted[rank : rank + most]
    time = data.draw(st.integers(-2, last + 2))
    begin = trace.calls.start
    assert found.after(time, most=most).tolist() == [i for i in wanted if begin[i] >= time][:most]
    assert found.before(time, most=most).tolist() == [i for i in wanted if begin[i] < time][::-1][:most]
    # From any call, matching or not, one steps to the next and the previous.
    call = data.draw(st.integers(0, len(trace.calls) - 1))
    at = int(begin[call])
    key = (at, call)
    assert found.after(at, call).tolist() == [i for i in wanted if (begin[i], i) > key][:1]
    assert found.before(at, call).tolist() == [i for i in wanted if (begin[i], i) < key][::-1][:1]
    assert found.rank(at, call) == sum((begin[i], i) < key for i in wanted)


@given(st.integers(0, 2**32), st.integers(1, 40), st.data())
@settings(deadline=None, max_examples=60)
def test_calls_that_were_found_otherwise_are_in_order_too(seed, n, data):
    trace = trace_of(seed, n, 2)
    calls = data.draw(st.permutations(sorted(data.draw(st.sets(st.integers(0, len(trace.calls) - 1))))))
    found = Found.of_calls(trace, np.array(calls, np.int64))
    wanted = sorted(calls, key=lambda call: (int(trace.calls.start[call]), call))
    assert (found.count, found.counts.tolist()) == (len(calls), [len(calls)])
    assert found.functions.tolist() == sorted({int(trace.calls.function[call]) for call in calls})
    assert found.first(99).tolist() == wanted
    assert found.window(1, 3).tolist() == wanted[1:4]


@pytest.mark.filterwarnings("ignore:Possible nested set")
@given(st.text(alphabet="amredRb.*?[]x(", min_size=1, max_size=4), st.booleans(), st.booleans())
def test_patterns_mean_what_they_say(text, full, case):
    functions = trace_of(1, 5).functions
    names = list(functions.name if full else functions.label)
    fold = (lambda s: s) if case else str.casefold

    def found(kind):
        return matching_functions(functions, Query(text, kind, full, case)).tolist()

    assert found("substring") == [i for i, n in enumerate(names) if fold(text) in fold(n)]
    assert found("wildcard") == [i for i, n in enumerate(names) if fnmatch.fnmatchcase(fold(n), fold(text))]
    try:
        expression = re.compile(text, 0 if case else re.IGNORECASE)
    except re.error:
        with pytest.raises(UsageError, match="not a valid regular expression"):
            found("regex")
    else:
        assert found("regex") == [i for i, n in enumerate(names) if expression.search(n)]


def test_recorded_names_have_arguments_path_and_line():
    functions = trace_of(1, 5).functions
    assert matching_functions(functions, Query("char*", full=True)).tolist() == [4]
    assert matching_functions(functions, Query("/x/2.py", full=True)).tolist() == [2]
    assert not len(matching_functions(functions, Query("/x/2.py")))


@pytest.mark.parametrize("query", [Query(""), Query("(", "regex"), Query("a", "exact")])
def test_what_cant_be_searched_is_said(query):
    with pytest.raises(UsageError):
        query.test()


def test_a_trace_without_calls_has_none():
    trace = Trace()
    found = search(trace, Query("x"))
    assert (found.count, found.first(5).tolist(), found.after(0).tolist(), found.rank(7)) == (0, [], [], 0)


def test_the_index_is_kept_with_the_trace(recorded):
    path = recorded / "sync_pillow_8w.json.gz"
    trace, again = tv.load(path), tv.load(path)
    one, other = call_index(trace, cache=True), call_index(again, cache=True)
    assert call_index(trace, cache=True) is one
    assert np.array_equal(one.order, other.order)
    assert np.array_equal(one.first, other.first)
    fresh = CallIndex.of(trace.calls, trace.threads, len(trace.functions))
    assert np.array_equal(one.order, fresh.order)
    found = tv.search(trace, "wait", kind="substring")
    assert found.first(found.count).tolist() == plain(trace, set(found.functions.tolist()), 0, 1 << 62)


def test_the_command_tells_the_same(recorded, capsys):
    path = str(recorded / "vt_markdown_repeat1.json.gz")
    assert main(["search", path, "parse*", "--wildcard", "--json", "--limit", "3"]) == 0
    printed = json.loads(capsys.readouterr().out)
    trace = tv.load(path)
    found = tv.search(trace, "parse*", kind="wildcard")
    assert printed["calls"] == found.count > 3
    assert printed["function_count"] == len(found.functions)
    assert [c["call"] for c in printed["first_calls"]] == found.first(3).tolist()
    assert all(c["function"].startswith("parse") for c in printed["first_calls"])
    assert main(["search", path, "parse", "--start", "1ms", "--end", "2ms"]) == 0
    text = capsys.readouterr().out
    inside = tv.search(trace, "parse", start=1_000_000, end=2_000_000)
    assert text.startswith(f"{len(inside.functions):,} functions, {inside.count:,} calls")
    assert main(["search", path, "(", "--regex"]) == 2
    assert "not a valid regular expression" in capsys.readouterr().err
    assert main(["search", path, "x", "--start", "soon"]) == 2
