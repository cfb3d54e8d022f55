"""How many threads run at once, and where they call nothing."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tests.waits.sync_traces import lines, trace_of
from tracevis3d.features.waits.running import DOES, longest_quiet, running, shares, states, time_running
from tracevis3d.features.waits.waits import Waits, find_waits
from tracevis3d.trace.model import Instants, Strings
from tracevis3d.trace.names import JOINED_LATE

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


#: What a thread does meanwhile, and what that is called.
MEANWHILE = {
    "Lock.acquire": ("wait", "contended"), "Event.wait": ("wait", "waits for a signal"),
    "Queue.get": ("wait", "idle"), "time.sleep": ("wait", "idle"), "read": ("io", "transfers"),
}  # fmt: skip


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.integers(1, 9), st.integers(1, 20), st.sampled_from(["", *MEANWHILE]), st.integers(0, 20),
                st.booleans(),
            ),
            max_size=4,
        ),
        min_size=1, max_size=4,
    ),
    st.lists(st.integers(-1, 2), min_size=4, max_size=4),
    st.lists(st.integers(0, 130), min_size=2, max_size=6, unique=True).map(sorted),
)  # fmt: skip
@example([[(1, 9, "read", 9, False)], [(1, 9, "Lock.acquire", 3, True)]], [0, 0, 0, 0], [0, 3, 9])
@settings(max_examples=100, deadline=None)
def test_what_threads_do_is_that_of_the_plain_twin(threads, row, edges):
    rows = []
    for t, plan in enumerate(threads):
        now = 0
        for before, lasts, name, part, alone in plan:
            start, end = now + before, now + before + lasts
            # A wait lies in a call of its thread, or is one.
            if not (alone and name):
                rows.append((f"t{t}", start, end, "work"))
            if name and part:
                object = "-" if name == "time.sleep" else "E"
                until = min(start + part, end)
                rows.append((f"t{t}", start, until, name, MEANWHILE[name][0], object, 1))
            now = end
    waits = find_waits(trace_of(lines(rows)))
    trace, ops = waits.trace, waits.ops
    row = np.array(row[: len(trace.threads)], np.int64)
    doing = {}
    for i in range(len(trace)):
        for time in range(int(trace.calls.start[i]), int(trace.calls.end[i])):
            doing.setdefault((int(trace.calls.thread[i]), time), set()).add("computes")
    for i in range(len(ops)):
        does = MEANWHILE[ops.names[ops.name[i]]][1]
        for time in range(int(ops.start[i]), int(ops.end[i])):
            doing.setdefault((int(ops.thread[i]), time), set()).add(does)
    plain = np.zeros((max([*row.tolist(), -1]) + 1, len(edges) - 1, len(DOES)))
    for (thread, time), several in doing.items():
        part = np.searchsorted(edges, time, "right") - 1
        if row[thread] >= 0 and 0 <= part < len(edges) - 1:
            first = next(i for i, does in enumerate(DOES) if does in several)
            plain[row[thread], part, first] += 1 / (edges[part + 1] - edges[part])
    found = states(waits, row, np.array(edges, np.int64))
    assert found.shape == plain.shape
    assert np.allclose(found, plain)
    waiting = set(DOES[:3])
    in_calls = {
        (int(trace.calls.thread[i]), time) for i in range(len(trace))
        for time in range(int(trace.calls.start[i]), int(trace.calls.end[i]))
    }  # fmt: skip
    runs = [sum(one == t and not doing[one, time] & waiting for one, time in in_calls)
            for t in range(len(trace.threads))]  # fmt: skip
    assert time_running(waits).tolist() == runs


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


def test_a_thread_without_calls_is_never_silent():
    trace = trace_of("a 0 5 f\nb 0 100 run")
    first, count = np.array([0, 1, 1]), np.array([1, 0, 1])
    calls = replace(trace.calls, thread=trace.calls.thread * 2)
    threads = replace(
        trace.threads, tid=("a", "", "b"), name=("a", "", "b"), process=("",) * 3, first=first,
        count=count,
    )  # fmt: skip
    quiet = longest_quiet(Waits(replace(trace, calls=calls, threads=threads)))
    assert (quiet.start.tolist(), quiet.end.tolist()) == ([0, 0, 0], [5, 0, 100])
    assert quiet.call.tolist() == [0, -1, 1]


@given(st.integers(0, 2**32), st.integers(0, 12), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_the_longest_time_without_an_event_is_that_of_the_plain_twin(seed, steps, longest):
    trace = walked_trace(seed, steps=steps, threads=3, longest=longest)
    calls, quiet = trace.calls, longest_quiet(Waits(trace))
    for t in range(len(trace.threads)):
        mine = [i for i in range(len(calls)) if calls.thread[i] == t]
        times = sorted(int(time) for i in mine for time in (calls.start[i], calls.end[i]))
        found = (times[0], 0) if times else (0, 0)
        for a, b in itertools.pairwise(times):
            if b - a > found[1] and any(calls.start[i] <= a and b <= calls.end[i] for i in mine):
                found = a, b - a
        assert (quiet.start[t], quiet.end[t] - quiet.start[t]) == found
        middle = found[0] + found[1] // 2
        around = [i for i in mine if calls.start[i] <= middle <= calls.end[i]]
        assert quiet.call[t] == (max(around, key=lambda i: (calls.start[i], i)) if found[1] else -1)


def test_a_wait_that_is_the_whole_call_does_not_run():
    waits = find_waits(trace_of("a 0 100 Event.wait wait E 1\nb 0 60 run"))
    assert running(waits, np.array([0, 50, 100])).tolist() == [1.0, 0.2]
    assert shares(waits, 0, 100, 10).tolist() == pytest.approx([0.4, 0.6])
    assert shares(waits, 0, 100, 1).tolist() == [0.0, 1.0]
    assert shares(waits, 50, 50).tolist() == shares(waits, 50, 40).tolist() == [0.0, 1.0]


def test_a_wait_longer_than_its_call_leaves_no_fewer_than_none_running():
    waits = find_waits(trace_of("a 0 10 Event.wait wait E 1"))
    waits.ops.end[0] = 20
    assert running(waits, np.array([0, 10, 20])).tolist() == [0.0, 0.0]
    assert time_running(waits).tolist() == [0]


def test_what_runs_within_no_time_is_nothing():
    waits = find_waits(trace_of("a 0 20 run"))
    edges = np.array([0, 10, 10, 20])
    assert running(waits, edges).tolist() == [1, 0, 1]
    assert states(waits, np.array([0]), edges)[0, :, DOES.index("computes")].tolist() == [1, 0, 1]


def test_a_wait_that_is_no_call_does_not_run_within_calls():
    trace = trace_of("a 0 50 run\na 10 40 Event.wait wait E 1")
    trace.sync.call[:] = -1
    waits = find_waits(trace)
    assert time_running(waits).tolist() == [20]
    assert running(waits, np.array([0, 50])).tolist() == [0.4]


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 20), st.integers(1, 40)), min_size=1, max_size=4),
        min_size=1,
        max_size=3,
    ),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 199), st.integers(1, 60)), max_size=8),
)
@settings(max_examples=60, deadline=None)
def test_waits_that_are_no_calls_are_cut_at_calls_like_in_the_plain_twin(threads, lasts):
    rows = [("t0", 0, 10, "work")]
    within, taken = np.zeros((2, len(threads), 300), bool)
    within[0, :10] = True
    for t, plan in enumerate(threads):
        now = 10
        for before, long in plan:
            rows.append((f"t{t}", now + before, now + before + long, "work"))
            within[t, now + before : now + before + long] = True
            now += before + long
    trace, waits = trace_of(lines(rows)), []
    for t, start, long in lasts:
        # On a thread no two waits at once.
        if t < len(threads) and not taken[t, start : start + long].any():
            taken[t, start : start + long] = True
            waits.append((t, start, start + long))
    thread, start, end = np.array(sorted(waits), np.int64).reshape(-1, 3).T
    n = len(thread)
    sync = replace(
        trace.sync, thread=thread.astype(np.int32), start=start, end=end, call=np.full(n, -1),
        kind=np.zeros(n, np.uint8), contended=np.ones(n, np.int8), name=np.zeros(n, np.int32),
        first=np.zeros(n + 1, np.int64), object=np.empty(0, np.int32), names=Strings.of(["Event.wait"]),
    )  # fmt: skip
    found = find_waits(replace(trace, sync=sync))
    assert len(found.own) == n
    runs = within & ~taken
    assert time_running(found).tolist() == runs.sum(axis=1).tolist()
    edges = np.array([0, 7, 50, 51, 299])
    plain = [runs[:, a:b].sum() / (b - a) for a, b in itertools.pairwise(edges)]
    assert np.allclose(running(found, edges), plain)


def test_a_window_without_duration_is_a_nanosecond_long():
    waits = find_waits(trace_of("a 0 51 run\nb 0 90 Event.wait wait E 1"))
    assert shares(waits, 50, 50).tolist() == shares(waits, 50, 40).tolist() == [0.0, 1.0]


def test_nothing_runs_in_a_trace_of_nothing():
    waits = find_waits(trace_of(""))
    assert running(waits, np.array([0, 10])).tolist() == [0.0]
    assert len(longest_quiet(waits).call) == 0


def test_what_a_late_viewer_did_not_see_counts_as_nothing():
    trace = trace_of("a 0 1000 run\na 300 500 Event.wait wait E 1\nb 100 350 run\nb 700 900 run")
    late = Instants(np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([400]), Strings.of([JOINED_LATE]))
    waits = find_waits(replace(trace, instants=late))
    assert time_running(find_waits(trace)).tolist() == [800, 450]
    assert time_running(waits).tolist() == [600 - 100, 200]
