"""Results of a search as they are listed and gone through, against a list of all of them."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.filters.test_filters import trace_of
from tests.support import walked_traces
from tracevis3d.analysis.search import Query
from tracevis3d.analysis.search_results import (
    PAGE,
    TypedQuery,
    find,
    page,
    pinned,
    rank_of,
    step_to,
    summary,
)
from tracevis3d.errors import UsageError

LOGS = trace_of("main( log() work( log() log() ) end() )")


def results(trace, text):
    """Return the calls whose function's name holds ``text``, in order of time."""
    calls, labels = trace.calls, trace.functions.label
    found = [i for i in range(len(calls)) if text in labels[calls.function[i]]]
    return sorted(found, key=lambda call: (int(calls.start[call]), call))


@given(st.integers(0, 2**32), st.integers(1, 150), st.data())
@settings(deadline=None, max_examples=30)
def test_steps_and_pages_are_those_of_a_sorted_list(seed, steps, data):
    trace = walked_traces.walked_trace(seed, steps=steps, threads=2, functions=4)
    wanted = results(trace, "f1")
    found = find(trace, TypedQuery("f1"))
    assert found.count == len(wanted)
    assert step_to(trace, found, -1, "NEXT") == (wanted[0] if wanted else None)
    assert step_to(trace, found, 3, "FIRST") == (wanted[0] if wanted else None)
    assert step_to(trace, found, 3, "LAST") == (wanted[-1] if wanted else None)
    # Of another trace, which has more calls.
    assert step_to(trace, found, len(trace.calls), "NEXT") == (wanted[0] if wanted else None)
    for place, call in enumerate(wanted):
        assert rank_of(trace, found, call) == place
        after, before = wanted[place + 1 :], wanted[:place]
        assert step_to(trace, found, call, "NEXT") == (after[0] if after else None)
        assert step_to(trace, found, call, "PREVIOUS") == (before[-1] if before else None)
    rank = data.draw(st.integers(0, len(wanted)))
    assert [texts.call for texts in page(trace, found, rank)] == wanted[rank : rank + PAGE]
    most = data.draw(st.integers(0, 20))
    pins = pinned(found, most, wanted[0] if wanted else -1)
    assert pins == sorted(pins)
    assert set(pins) <= set(wanted)
    assert len(pins) <= most + 1
    assert set(wanted[:1]) <= set(pins)


def test_a_result_in_words():
    found = find(LOGS, TypedQuery("log"))
    first = page(LOGS, found, 0)[0]
    assert (first.call, first.title, first.start, first.depth) == (1, "log", "10", 2)
    assert first.detail == f"log\nstarts at 10 ns, takes 10 ns, depth 2, {LOGS.threads.title(0)}"
    assert summary(found) == "3 calls of 1 function"
    assert summary(find(LOGS, TypedQuery("log", start="1s"))).startswith("1 function found, but no call")
    assert summary(find(LOGS, TypedQuery("nothing"))) == "No function name matches"


def test_results_have_their_start_exactly_and_shorter():
    late = replace(LOGS.calls, start=LOGS.calls.start + 1_234_567, end=LOGS.calls.end + 1_234_567)
    trace = replace(LOGS, calls=late)
    first = page(trace, find(trace, TypedQuery("main")), 0)[0]
    assert (first.start, first.when) == ("1234567", "1.2346 ms")
    assert "starts at 1.234567 ms" in first.detail


def test_the_current_result_is_pinned_though_it_is_the_first_call_of_all():
    found = find(LOGS, TypedQuery("main"))
    assert (pinned(found, 0, 0), pinned(found, 0, -1)) == ([0], [])


def test_times_bound_what_is_found():
    starts = [int(LOGS.calls.start[call]) for call in results(LOGS, "log")]
    assert find(LOGS, TypedQuery("log", start=f"{starts[1]}ns")).count == 2
    assert find(LOGS, TypedQuery("log", end=f"{starts[1]}ns")).count == 1


@pytest.mark.parametrize("typed", [TypedQuery(""), TypedQuery("(", "regex"), TypedQuery("a", start="soon")])
def test_what_can_not_be_read_is_refused(typed):
    with pytest.raises(UsageError):
        find(LOGS, typed)


def test_where_nothing_is_said_a_typed_query_is_as_any():
    typed = TypedQuery("log")
    assert Query("log") == Query(typed.pattern, typed.kind, typed.full, typed.case)
    assert not Query("log").full
    assert not Query("log").case
    assert typed.start == typed.end == ""
