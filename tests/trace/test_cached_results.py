"""CachedWithTrace results are the plain function's, are computed once, and go when a trace of theirs goes."""

import gc
import threading
import weakref
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.support.walked_traces import walked_trace
from tracevis3d.trace.cached_results import cached_with_trace, cached_with_traces
from tracevis3d.trace.model import Trace


@dataclass
class Result:
    """A result that refers to the traces that it was computed from."""

    traces: tuple[Trace, ...]
    value: tuple


def made(n: int) -> Trace:
    return Trace(span_ns=n)


def functions(most=None, most_together=3):
    """A cached function of a trace, one of several, and the list of what they have computed."""
    computed = []

    @cached_with_trace(most)
    def single(trace: Trace, n: int, *, progress: object = None) -> Result:
        computed.append((trace.span_ns, n))
        return Result((trace,), (trace.span_ns, n))

    @cached_with_traces(most_together)
    def together(traces: list[Trace], n: int, *, progress: object = None) -> Result:
        computed.append((*(t.span_ns for t in traces), n))
        return Result(tuple(traces), (*(t.span_ns for t in traces), n))

    return single, together, computed


class Kept(RuleBasedStateMachine):
    """The cache against a plain model: lists of what was asked for, the last one at the end."""

    MOST, MOST_TOGETHER = 2, 3

    def __init__(self):
        super().__init__()
        self.single, self.together, self.computed = functions(self.MOST, self.MOST_TOGETHER)
        self.traces, self.made = {}, 0
        self.kept, self.kept_together = {}, []

    @rule()
    def make(self):
        self.made += 1
        self.traces[self.made] = made(self.made)
        self.kept[self.made] = []

    @precondition(lambda self: self.traces)
    @rule(data=st.data(), n=st.integers(0, 3))
    def ask_for_one(self, data, n):
        number = data.draw(st.sampled_from(sorted(self.traces)))
        known = self.kept[number]
        before = len(self.computed)
        assert self.single.is_known(self.traces[number], n) == (n in known)
        assert self.single(self.traces[number], n, progress=object()).value == (number, n)
        assert len(self.computed) - before == (n not in known)
        self.kept[number] = [*(k for k in known if k != n), n][-self.MOST :]

    @precondition(lambda self: self.traces)
    @rule(data=st.data(), n=st.integers(0, 1))
    def ask_for_several(self, data, n):
        numbers = data.draw(st.lists(st.sampled_from(sorted(self.traces)), min_size=1, max_size=3))
        key = (*numbers, n)
        traces = [self.traces[i] for i in numbers]
        before = len(self.computed)
        assert self.together.is_known(traces, n) == (key in self.kept_together)
        assert self.together(traces, n).value == key
        assert len(self.computed) - before == (key not in self.kept_together)
        self.kept_together = [*(k for k in self.kept_together if k != key), key][-self.MOST_TOGETHER :]

    @precondition(lambda self: self.traces)
    @rule(data=st.data())
    def drop(self, data):
        number = data.draw(st.sampled_from(sorted(self.traces)))
        gone = weakref.ref(self.traces.pop(number))
        del self.kept[number]
        self.kept_together = [key for key in self.kept_together if number not in key[:-1]]
        assert gone() is None
        assert len(self.together._results) == len(self.kept_together)


TestKept = Kept.TestCase
TestKept.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)


def test_a_result_goes_at_once_with_its_trace_though_it_refers_to_it():
    single, together, _ = functions()
    a, b = made(1), made(2)
    results = [weakref.ref(single(a, 1)), weakref.ref(single(b, 1)), weakref.ref(together([a, b], 1))]
    columns = weakref.ref(single(a, 1).traces[0])
    gc.disable()
    try:
        del b
        assert [r() is None for r in results] == [False, True, True]
        del a
        assert results[0]() is None
        assert columns() is None
    finally:
        gc.enable()


def test_a_result_that_somebody_holds_outlives_its_trace_and_can_be_asked_on():
    single, _, computed = functions()
    result = single(made(5), 1)
    gc.collect()
    again = single(result.traces[0], 1)
    assert again.value == result.value
    assert single(result.traces[0], 1) is again
    assert computed == [(5, 1), (5, 1)]


def test_within_a_cached_function_others_find_what_is_kept_of_the_trace():
    single, _, computed = functions()

    @cached_with_trace()
    def outer(trace: Trace) -> Result:
        return single(trace, 7)

    trace = made(3)
    assert outer(trace) is single(trace, 7) is outer(trace)
    assert computed == [(3, 7)]


def test_threads_wait_for_the_one_that_computes():
    begun, go_on, computed = threading.Event(), threading.Event(), []

    @cached_with_trace()
    def slow(trace: Trace) -> object:
        computed.append(trace.span_ns)
        begun.set()
        assert go_on.wait(60)
        return object()

    trace, found = made(1), []
    threads = [threading.Thread(target=lambda: found.append(slow(trace))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    assert not slow.is_known(trace)
    go_on.set()
    for thread in threads:
        thread.join()
    assert computed == [1]
    assert len(set(map(id, found))) == 1


def test_what_failed_is_tried_again():
    tries = []

    @cached_with_trace()
    def fails_once(trace: Trace) -> int:
        tries.append(trace)
        if len(tries) == 1:
            raise ValueError
        return 3

    trace = made(1)
    with pytest.raises(ValueError):  # noqa: PT011 (it has no words)
        fails_once(trace)
    assert fails_once(trace) == fails_once(trace) == 3
    assert len(tries) == 2


def test_docstrings_are_the_functions():
    @cached_with_trace()
    def words(trace: Trace) -> int:
        """Say it."""
        return 1

    assert words.__doc__ == "Say it."
    assert words.__name__ == "words"


@pytest.mark.parametrize("view", ["icicle", "cone", "threads", "interactions", "memory", "compare"])
def test_a_dropped_trace_is_freed_after_all_that_views_have_found_in_it(view):
    traces = [walked_trace(i, allocations=20) for i in range(2 if view == "compare" else 1)]
    from tracevis3d.drawing.frame import Frame
    from tracevis3d.progress import silent
    from tracevis3d.views import filtering
    from tracevis3d.views.registry import find

    declared, stack = find(view), "duration(below=2ns, effect=fade); name(pattern=f1, what=call, effect=fade)"
    drawing = filtering.draw(declared, traces, declared.parameters(), stack, Frame(), silent)
    assert drawing.elements
    gone = [weakref.ref(trace) for trace in traces]
    arrays = [weakref.ref(trace.calls) for trace in traces]
    del traces, drawing
    gc.collect()
    assert [ref() for ref in (*gone, *arrays)] == [None] * (2 * len(gone))
