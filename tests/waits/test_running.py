"""How many threads run at once, and where they call nothing."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.sync_traces import lines, trace_of
from tracevis3d.features.waits.running import longest_quiet, running, shares
from tracevis3d.features.waits.waits import find_waits

#: Of each thread the calls one after another: time before, how long, and how much of that it waits.
THREADS = st.lists(
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 40), st.floats(0, 1)), max_size=4),
    min_size=1,
    max_size=4,
)


@given(THREADS, st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_running_threads_are_those_within_a_call_that_do_not_wait(threads, steps):
    rows, is_running = [], np.zeros((len(threads), 700), bool)
    for t, plan in enumerate(threads):
        now = 0
        for before, lasts, part in plan:
            start, end = now + before, now + before + lasts
            rows.append((f"t{t}", start, end, "work"))
            is_running[t, start:end] = True
            wait = int(part * lasts)
            if wait:
                rows.append((f"t{t}", start, start + wait, "Event.wait", "wait", "E", 1))
                is_running[t, start : start + wait] = False
            now = end
    waits = find_waits(trace_of(lines(rows)))
    edges = np.unique(np.linspace(0, 300, steps + 1).astype(np.int64))
    origin = min((row[1] for row in rows), default=0)
    plain = [is_running[:, a + origin : b + origin].sum() / (b - a) for a, b in itertools.pairwise(edges)]
    assert np.allclose(running(waits, edges), plain)


def test_the_longest_time_without_an_event_lies_within_a_call():
    text = """
    a 0 1000 run
    a 100 200 f
    a 900 950 g
    b 0 10 run
    b 500 510 run
    c 5 6 run
    """
    waits = find_waits(trace_of(text))
    quiet = longest_quiet(waits)
    assert (quiet.start.tolist(), quiet.end.tolist()) == ([200, 0, 5], [900, 10, 6])
    assert [waits.trace.functions.label[waits.trace.calls.function[c]] for c in quiet.call] == ["run"] * 3
    share = shares(waits, 0, 1000, 1000)
    assert np.allclose(share[1:3], [0.98, 0.019], atol=0.003)


def test_nothing_runs_in_a_trace_of_nothing():
    waits = find_waits(trace_of(""))
    assert running(waits, np.array([0, 10])).tolist() == [0.0]
    assert len(longest_quiet(waits).call) == 0
