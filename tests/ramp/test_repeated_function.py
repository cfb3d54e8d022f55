"""The function whose calls are taken as rounds, against a plain twin."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d.views.calls.rounds as module
from tests.comparison.test_findings import leaf, traced
from tests.support.walked_traces import walked_trace
from tracevis3d.errors import UsageError
from tracevis3d.views.calls.rounds import repeated_function


def plain(trace, fewest, most):
    """Return the functions that may be chosen; none where nothing is repeated."""
    calls, fitting = trace.calls, {}
    for f in range(len(trace.functions)):
        mine = [c for c in range(len(calls)) if calls.function[c] == f]
        threads = {int(calls.thread[c]) for c in mine}
        nested = any(calls.parent[c] >= 0 and calls.function[calls.parent[c]] == f for c in mine)
        if fewest * max(len(threads), 1) <= len(mine) <= most and not nested:
            fitting[f] = (sum(int(calls.end[c] - calls.start[c]) for c in mine), len(mine))
    if not fitting:
        return []
    longest = max(time for time, _ in fitting.values())
    close = {f: many for f, (time, many) in fitting.items() if time >= 0.8 * longest}
    return [f for f in close if close[f] == max(close.values())]


@given(
    st.integers(0, 2**32), st.integers(1, 80), st.integers(1, 3), st.integers(1, 6), st.integers(1, 4),
    st.integers(1, 20),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_the_function_is_the_plain_twins(seed, steps, threads, functions, fewest, most):
    trace = walked_trace(seed, steps=steps, threads=threads, functions=functions, longest=9)
    with patch.multiple(module, _FEWEST=fewest, _MOST=most):
        if not (expected := plain(trace, fewest, most)):
            with pytest.raises(UsageError, match="no function is called"):
                repeated_function(trace, "")
            return
        assert repeated_function(trace, "") == expected[0]


@pytest.mark.parametrize(("outer", "chosen"), [(25, "inner"), (24, "inner"), (26, "outer")])
def test_of_what_takes_about_as_long_that_with_the_most_calls_is_taken(outer, chosen):
    # Ten calls of 10 each; six calls that take more than those by a quarter, or by less.
    work = [leaf("inner", 12)] * 10 + [leaf("outer", outer)] * 6
    trace = traced(("main", 5, work))
    assert trace.functions.label[repeated_function(trace, "")] == chosen


@pytest.mark.parametrize(("times", "is_one"), [(5, False), (6, True), (2000, True), (2001, False)])
def test_rounds_are_six_to_two_thousand(times, is_one):
    trace = traced(("main", 5, [leaf("step", 1)] * times))
    if is_one:
        assert trace.functions.label[repeated_function(trace, "")] == "step"
    else:
        with pytest.raises(UsageError, match="no function is called 6 to 2,000 times"):
            repeated_function(trace, "")
