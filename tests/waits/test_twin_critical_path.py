"""The critical path against a plain twin, and its rules for ties: who ends last, what takes no time."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.waits.sync_traces import lines, trace_of
from tracevis3d.features.waits.critical_path import RUNS, STARTS, STEPS, WAITS
from tracevis3d.features.waits.waits import RELEASE, Waits, find_waits
from tracevis3d.trace.model import Calls


@st.composite
def programs(draw):
    """Return rows for :func:`lines`: threads that start, join and wake each other, with many ties."""
    rows = []
    threads = "abcd"[: draw(st.integers(1, 4))]
    started = [thread for thread in threads if draw(st.booleans())]
    for thread in threads:
        time = draw(st.integers(0, 3))
        if started and draw(st.booleans()):
            other = draw(st.sampled_from(started))
            rows.append((thread, time, time, "Thread.start", "release", f"Thread:{other}"))
        if thread in started:
            time += draw(st.integers(0, 6))
        if draw(st.booleans()):
            rows.append((thread, time, time + draw(st.integers(0, 30)), "run"))
        for _ in range(draw(st.integers(0, 5))):
            end = time + draw(st.integers(0, 4))
            kind = draw(st.sampled_from(["wait", "wait", "release", "start", "join", "call"]))
            other = draw(st.sampled_from(threads))
            rows.append(
                {
                    "wait": (thread, time, end, "Event.wait", "wait", draw(st.sampled_from("XY")), 1),
                    "release": (thread, time, end, "Event.set", "release", draw(st.sampled_from("XY"))),
                    "start": (thread, time, end, "Thread.start", "release", f"Thread:{other}"),
                    "join": (thread, time, end, "Thread.join", "wait", f"Thread:{other}", 1),
                    "call": (thread, time, end, "work"),
                }[kind]
            )
            time = end + draw(st.integers(0, 2))
    return rows


def plain_end(waits: Waits) -> int:
    """Return the thread that ends last; of several the first that no other has just woken, else the first."""
    calls = waits.trace.calls
    last = max(calls.end.tolist())
    ending = sorted({int(t) for t, end in zip(calls.thread, calls.end, strict=True) if end == last})
    woken = {
        int(waits.ops.thread[row])
        for row in waits.own.tolist()
        if waits.ops.start[row] < waits.ops.end[row] == last and waits.woken_by[row] >= 0
    }
    return next((t for t in ending if t not in woken), ending[0])


def plain_call(waits: Waits, thread: int, start: int, end: int) -> int:
    """Return the deepest call of a thread that lasts all of a step."""
    calls = waits.trace.calls
    lasting = [
        i
        for i in range(len(calls))
        if calls.thread[i] == thread and calls.start[i] <= start and calls.end[i] >= end
    ]
    return max(lasting, key=lambda i: int(calls.depth[i]), default=-1)


def plain_path(waits: Waits, thread: int, time: int) -> list[tuple[int, int, int, int, int, int]]:
    """Walk back from an end, step by step: (thread, start, end, what, wait, call)."""
    ops, calls = waits.ops, waits.trace.calls
    steps: list[tuple[int, int, int, int, int]] = []
    taken, begun = set(), set()
    while True:
        # A wait of no length delays nothing; nor does one that is still on.
        before = [
            row
            for row in waits.own.tolist()
            if ops.thread[row] == thread and ops.start[row] < min(time, ops.end[row]) and ops.end[row] <= time
        ]
        if before:
            row = max(before, key=lambda row: int(ops.start[row]))
            start, end = int(ops.start[row]), int(ops.end[row])
            steps.append((thread, end, time, RUNS, -1))
            if waits.woken_by[row] >= 0 and row not in taken:
                taken.add(row)
                thread, time, was = int(waits.woken_by[row]), int(waits.woken_at[row]), thread
                steps.append((was, time, end, WAITS, row))
            else:
                steps.append((thread, start, end, WAITS, row))
                time = start
            continue
        own = [int(s) for s, t in zip(calls.start, calls.thread, strict=True) if t == thread]
        began = min([*own, time])
        steps.append((thread, began, time, RUNS, -1))
        starting = [
            (int(ops.start[row]), row)
            for row in range(len(ops))
            if ops.kind[row] == RELEASE and ops.about[row] == thread and ops.start[row] <= min(own, default=0)
        ]
        if not starting or max(starting)[0] > began:
            break
        time, row = max(starting)
        steps.append((thread, time, began, STARTS, -1))
        if (thread, time) in begun:
            break  # threads that start each other at one instant
        begun.add((thread, time))
        thread = int(ops.thread[row])
    return [
        (t, start, end, what, wait, ops.call[wait] if what == WAITS else
         plain_call(waits, t, start, end) if what == RUNS else -1)
        for t, start, end, what, wait in reversed(steps)
        if what == WAITS or start < end
    ]  # fmt: skip


def test_steps_are_called_what_they_are():
    assert [STEPS[what] for what in (RUNS, WAITS, STARTS)] == ["runs", "waits", "starts"]


def steps_of(path) -> list[tuple[int, ...]]:
    columns = (path.thread, path.start, path.end, path.what, path.wait, path.call)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(programs(), st.data())
@settings(max_examples=120, deadline=None)
def test_the_path_is_that_of_the_plain_twin(rows, data):
    if not rows:
        return
    waits = find_waits(trace_of(lines(rows)))
    last = plain_end(waits)
    ends = [int(waits.trace.calls.end[waits.trace.calls.thread == last].max())]
    assert steps_of(waits.path()) == plain_path(waits, last, *ends)
    thread = data.draw(st.integers(0, len(waits.trace.threads) - 1))
    time = data.draw(st.integers(0, waits.trace.span_ns))
    assert steps_of(waits.path(thread, time)) == plain_path(waits, thread, time)
    path = waits.path()
    assert (path.start[1:] == path.end[:-1]).all()
    assert not len(path) or path.end[-1] == ends[0]


def path_of(waits: Waits) -> list[tuple[str, int, int, int]]:
    path = waits.path()
    tid = waits.trace.threads.tid
    return [
        (str(tid[t]), what, start, end)
        for t, what, start, end in zip(path.thread, path.what, path.start.tolist(), path.end.tolist())
    ]


def test_of_threads_that_end_together_the_path_is_of_one_that_was_not_woken_just_then():
    text = """
    a 0 100 run
    a 10 100 Event.wait wait E 1
    b 0 100 run
    b 100 100 Event.set release E
    c 0 100 run
    """
    assert path_of(find_waits(trace_of(text))) == [("b", RUNS, 0, 100)]
    # Which ends are woken does not matter where the wait was over before.
    early = text.replace("a 10 100", "a 10 99").replace("b 100 100", "b 99 99")
    assert path_of(find_waits(trace_of(early)))[-1] == ("a", RUNS, 99, 100)
    # Who waits for nobody knows what was not woken.
    alone = text.replace("b 100 100 Event.set release E", "")
    assert path_of(find_waits(trace_of(alone)))[-1] == ("a", WAITS, 10, 100)
    # The first of all threads wakes another one.
    first = "a 0 99 run\na 99 99 Event.set release E\nb 0 100 run\nb 10 100 Event.wait wait E 1\nc 0 100 run"
    assert path_of(find_waits(trace_of(first))) == [("c", RUNS, 0, 100)]
    both = "a 0 50 Barrier.wait wait X 1\na 50 50 Event.set release Y\n"
    both += "b 5 50 Event.wait wait Y 1\nb 50 50 Event.set release X"
    assert path_of(find_waits(trace_of(both)))[-1][0] == "a"


def test_waits_of_no_length_are_passed_over_and_those_that_end_at_once_are_not():
    waits = find_waits(
        trace_of("""
    a 0 100 run
    a 40 40 Event.wait wait E 1
    b 0 90 run
    b 40 40 Event.set release E
    """)
    )
    assert path_of(waits) == [("a", RUNS, 0, 100)]
    waits = find_waits(
        trace_of("""
    a 0 100 run
    a 39 40 Event.wait wait E 1
    b 0 90 run
    b 40 40 Event.set release E
    """)
    )
    assert path_of(waits) == [("b", RUNS, 0, 40), ("a", WAITS, 40, 40), ("a", RUNS, 40, 100)]


def test_the_path_reaches_the_beginning_through_many_waits_that_woke_each_other():
    rows = []
    for turn in range(50):
        end = 10 * turn + 10
        for thread, mine, other in (("a", "X", "Y"), ("b", "Y", "X")):
            rows.append((thread, 10 * turn + 3, end, "Event.wait", "wait", mine, 1))
            rows.append((thread, end, end, "Event.set", "release", other))
    path = find_waits(trace_of(lines(rows))).path()
    assert path.start[0] == 0
    assert (path.start[1:] == path.end[:-1]).all()


def test_the_path_reaches_the_beginning_through_many_starts():
    rows = []
    for i in range(20):
        rows.append((f"t{i:02}", 10 * i, 10 * i + 9, "run"))
        if i < 19:
            rows.append(
                (f"t{i:02}", 10 * i + 8, 10 * i + 8, "Thread.start", "release", f"Thread:t{i + 1:02}")
            )
    waits = find_waits(trace_of(lines(rows)))
    assert [what for _, what, _, _ in path_of(waits)] == [RUNS, *[STARTS, RUNS] * 19]
    assert steps_of(waits.path()) == plain_path(waits, 19, 199)


def test_a_trace_without_calls_has_no_path():
    trace = trace_of("a 0 10 run")
    kept = np.zeros(1, np.bool_)
    calls = Calls(
        *(getattr(trace.calls, f.name)[kept[: len(getattr(trace.calls, f.name))]] for f in fields(Calls))
    )
    threads = replace(trace.threads, count=np.zeros(1, np.int64))
    assert steps_of(find_waits(replace(trace, calls=calls, threads=threads)).path()) == []
