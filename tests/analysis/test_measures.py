"""Measures of calls against sums written out in Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import synthetic
from tests.support.walked_traces import walked_trace
from tracevis3d.analysis.measures import (
    allocated_below,
    repetitions,
    self_time_of,
    self_times,
    sums_of,
    total_time_by_function,
)
from tracevis3d.analysis.subtrees import distinct_subtrees
from tracevis3d.trace.model import ACCESS, ALLOC, FREE, Calls, Memory

WALKED = walked_trace(5, steps=100)


def some_memory(random: np.random.Generator, calls: int, rows: int) -> Memory:
    """Return ``rows`` rows of all kinds, some of them in no known call."""
    return Memory(
        time=np.arange(rows),
        address=np.arange(rows, dtype=np.uint64),
        size=random.integers(0, 1000, rows),
        kind=random.choice(np.array([ALLOC, FREE, ACCESS], np.uint8), rows),
        thread=np.zeros(rows, np.int32),
        call=random.integers(-1, calls, rows),
    )


@given(st.integers(0, 2**32), st.integers(1, 80))
@settings(deadline=None, max_examples=80)
def test_same_as_twin(seed: int, n: int) -> None:
    calls = synthetic.random_calls(seed, n, functions=2, threads=2)
    memory = some_memory(np.random.default_rng(seed), n, 2 * n)
    own, allocated = self_times(calls), allocated_below(calls, memory)
    subtrees = distinct_subtrees(calls)
    times = repetitions(subtrees)
    assert own.dtype == allocated.dtype == times.dtype == np.int64
    duration = (calls.end - calls.start).tolist()
    same = subtrees.of_call.tolist()
    for i in range(n):
        below = range(i, i + int(calls.extent[i]))
        children = [j for j in below if calls.parent[j] == i]
        assert own[i] == duration[i] - sum(duration[j] for j in children) >= 0
        assert times[i] == same.count(same[i])
        assert allocated[i] == sum(
            int(memory.size[r]) for r in range(2 * n) if memory.kind[r] == ALLOC and memory.call[r] in below
        )


def test_repetitions_of_some_calls() -> None:
    subtrees = distinct_subtrees(synthetic.program(2000)[0])
    which = np.array([5, 0, 1999, 5])
    assert repetitions(subtrees, which).tolist() == repetitions(subtrees)[which].tolist()


def test_self_times_add_up_to_the_time_of_the_root_calls() -> None:
    calls = synthetic.program(50_000, threads=3)[0]
    roots = calls.parent < 0
    assert self_times(calls).sum() == (calls.end - calls.start)[roots].sum()


def test_without_memory_nothing_is_allocated() -> None:
    assert not allocated_below(synthetic.program(100)[0], Memory()).any()


def test_no_calls() -> None:
    assert len(self_times(Calls())) == len(allocated_below(Calls(), Memory())) == 0


@given(st.lists(st.sampled_from([-1, len(WALKED.calls)]) | st.integers(-2, 150), max_size=9))
def test_sums_are_of_those_calls_that_there_are(calls):
    trace = WALKED
    inside = [call for call in calls if 0 <= call < len(trace.calls)]
    lasted = sum(int(trace.calls.end[call]) - int(trace.calls.start[call]) for call in inside)
    own = sum(int(self_time_of(trace)[call]) for call in inside)
    assert sums_of(trace, np.array(calls, np.int64)) == (lasted, own)


@given(st.integers(0, 2**32), st.integers(2, 60))
@settings(deadline=None, max_examples=40)
def test_total_times_count_recursion_once(seed: int, steps: int) -> None:
    trace = walked_trace(seed, functions=3, steps=steps)
    calls = trace.calls
    wanted = [0] * len(trace.functions)
    for i in range(len(calls)):
        above, again = int(calls.parent[i]), False
        while above >= 0:
            again |= bool(calls.function[above] == calls.function[i])
            above = int(calls.parent[above])
        wanted[calls.function[i]] += 0 if again else int(calls.end[i] - calls.start[i])
    assert total_time_by_function(trace).tolist() == wanted
