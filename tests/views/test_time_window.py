"""Windows of time: on their way to others, around calls, and what is kept of an axis of time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.errors import TraceVisError
from tracevis3d.formats.names import split
from tracevis3d.parameters import as_key
from tracevis3d.trace.events import COMPLETE
from tracevis3d.trace.model import Source
from tracevis3d.trace.names import JOINED_LATE, known_from
from tracevis3d.trace.recording import Recording
from tracevis3d.views import registry
from tracevis3d.views.time_window import clock_of, flight_between, span_of, time_window, window_on

TRACE = walked_trace(3)

windows = st.tuples(st.integers(0, 10**12), st.integers(1, 10**12)).map(lambda w: (w[0], w[0] + w[1]))


def test_what_a_late_viewer_received_begins_when_it_is_complete():
    recording = Recording()
    thread, f = recording.thread(1, 1), recording.function("f")
    recording.add_events(
        thread=[thread] * 2, kind=[COMPLETE] * 2, function=[f] * 2, time=[100, 900], end=[2000, 1000]
    )
    recording.add_instants(name=[recording.text("instants", JOINED_LATE)], thread=[thread], time=[800])
    trace = recording.finish(Source(), split)
    # Times count from the first call on.
    assert (trace.calls.start.min(), known_from(trace)) == (0, 700)
    assert time_window(trace, "", "") == (700, 1900)
    assert time_window(trace, "0", "") == (0, 1900)
    assert time_window(trace, "", "300ns") == (0, 300)


@given(windows, windows)
def test_a_window_on_its_way_starts_and_ends_where_it_should(begin, end):
    path = flight_between(begin, end)
    slack = 1e-6 * max(*begin, *end)
    assert window_on(path, 0.0) == pytest.approx(begin, abs=slack + 1)
    assert window_on(path, 1.0) == pytest.approx(end, abs=1)


@given(windows, windows, st.floats(0, 1))
def test_on_the_way_the_window_is_never_empty(begin, end, share):
    low, high = window_on(flight_between(begin, end), share)
    assert high >= low


@given(st.lists(st.integers(0, len(TRACE.calls) - 1), min_size=1, max_size=9))
def test_the_span_of_calls(calls):
    found = span_of(TRACE, calls)
    each = [(int(TRACE.calls.start[call]), int(TRACE.calls.end[call])) for call in calls]
    assert found == (min(low for low, _ in each), max(high for _, high in each))


def test_the_clock_of_an_axis_is_kept_as_long_as_it_is_the_same():
    view = registry.find("interactions")
    values = vars(view.parameters())

    def clock(**other):
        return clock_of([TRACE], view.time_axis, view.parameters, as_key({**values, **other}))

    first = clock()
    low, high = first.window(0)
    assert (first.time_at(0, 0.0), first.time_at(0, 1.0)) == (low, high)
    assert clock() is first
    later = clock(start=f"{(low + high) // 2}ns")
    assert later.window(0)[0] == (low + high) // 2
    assert clock() is first
    for _ in range(2):
        with pytest.raises(TraceVisError):
            clock(start="never")
