"""What the tables of waits, holders and sizes add up, against rows taken one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tests.waits.sync_traces import trace_of
from tests.waits.test_twin_waits import programs
from tracevis3d.errors import InputError, TraceVisError, UsageError
from tracevis3d.features.matrix.subjects import SubjectRequest, table
from tracevis3d.features.matrix.table import slices
from tracevis3d.trace.model import ALLOC, WAIT, Flows, Memory, Sync, Trace
from tracevis3d.trace.names import lane_title
from tracevis3d.trace.strings import Strings
from tracevis3d.units import byte_size


def cells_of(found):
    """Return the values of a table's cells that are not empty, by names and level."""
    return {
        (found.rows.names[i], found.columns.names[j], k): found.value[i, j, k]
        for i, j, k in np.argwhere(found.count).tolist()
    }


@given(
    programs(), st.sampled_from(["waits", "holders"]), st.sampled_from(["none", "time", "thread"]),
    st.integers(0, 30), st.integers(1, 60), st.integers(1, 5),
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_who_waits_for_what_or_whom_is_added_up(waits, about, third, low, lasts, many):
    trace, window = waits.trace, (low, low + lasts)
    sync, by_level = trace.sync, Counter()
    edges = slices(window, many, lambda a, b: "")[1]
    for i in range(len(sync)):
        if sync.kind[i] != WAIT or not sync.contended[i] or not low <= sync.start[i] < low + lasts:
            continue
        objects = [sync.objects[o] for o in sync.object[sync.first[i] : sync.first[i + 1]]]
        if about == "waits":
            what = objects[0] if objects else sync.names[sync.name[i]]
        elif not len(sync.holder) or sync.holder[i] < 0:
            continue
        else:
            what = lane_title(trace, int(sync.holder[i]))
        level = max(k for k in range(len(edges) - 1) if edges[k] <= sync.start[i]) if third != "none" else 0
        at = lane_title(trace, int(sync.thread[i])), what, level
        by_level[at] = by_level.get(at, 0) + int(sync.end[i] - sync.start[i])
    wanted = SubjectRequest(about, "auto", "auto", third, "", many, 50, False, window)
    if not by_level:
        with pytest.raises(TraceVisError):
            table(trace, wanted)
        return
    assert cells_of(table(trace, wanted)) == by_level


@given(st.integers(0, 100), st.booleans(), st.integers(0, 400))
@settings(max_examples=30, deadline=None)
def test_what_is_allocated_is_added_up_by_the_stack_else_the_call(seed, stacks, low):
    trace = walked_trace(seed, steps=40, longest=20, allocations=30)
    memory, functions = trace.memory, len(trace.functions)
    function = [int(trace.calls.function[c]) if c >= 0 else -1 for c in memory.call.tolist()]
    if stacks:
        # Stacks of one frame each, of every function; some blocks have none.
        stack = np.arange(len(memory), dtype=np.int32) % (functions + 1) - 1
        every = np.arange(functions, dtype=np.int32)
        kept = replace(trace.stacks, function=every, parent=np.full(functions, -1, np.int32))
        trace = replace(trace, memory=replace(memory, stack=stack), stacks=kept)
        function = [s if s >= 0 else f for s, f in zip(stack.tolist(), function, strict=True)]
    twin = Counter()
    for i in range(len(memory)):
        if memory.kind[i] == ALLOC and low <= memory.time[i]:
            size = int(memory.size[i])
            name = trace.functions.label[function[i]] if function[i] >= 0 else "unknown"
            twin[name, f"{byte_size(2 ** (max(size, 1).bit_length() - 1))} up", 0] += size
    wanted = SubjectRequest("sizes", "function", "auto", "none", "", 4, 200, False, (low, trace.span_ns + 1))
    if not twin:
        with pytest.raises(TraceVisError):
            table(trace, wanted)
        return
    found = cells_of(table(trace, wanted))
    assert {at: value for at, value in found.items() if value} == {at: v for at, v in twin.items() if v}


@pytest.mark.parametrize("many", [3, 120, 121, 250])
def test_many_rounds_are_joined_and_say_which_they_are(many):
    text = [f"a {10 * i} {10 * i + 5} m.step\na {10 * i + 1} {10 * i + 3} m.inner" for i in range(many)]
    trace = trace_of("\n".join(text))
    wanted = SubjectRequest("rounds", "auto", "auto", "none", "m.step", 4, 500, False, (0, 10 * many))
    found, together = table(trace, wanted), -(-many // 120)
    rounds = [list(range(many))[k : k + together] for k in range(0, many, together)]
    names = [f"{r[0] + 1} to {r[-1] + 1}" if len(r) > 1 else f"{r[0] + 1}" for r in rounds]
    assert list(found.rows.names) == names
    # Of each round three in itself and two in what it calls.
    assert sorted(found.flat[0].tolist()) == [2 * len(rounds[0]), 3 * len(rounds[0])]
    assert found.flat.sum() == 5 * many


#: Each operation, and each call below it, begins at a moment of its own; thread 0 holds what thread 1 wants.
TEXT = """
a 0 90 m.run
a 10 12 Lock.acquire wait L 0
a 20 40 Lock.acquire wait M 1
b 5 80 m.run
b 30 45 Lock.acquire wait L 1
b 50 52 Cart.__init__
b 60 63 work
b 61 62 Cart.__init__
"""


def small():
    """Return a small trace with waits, holders, arrows, constructors and allocations."""
    trace = trace_of(TEXT)
    calls, n = trace.calls, len(trace.calls)
    place = {int(t): i for i, t in enumerate(calls.start.tolist())}
    flows = Flows(
        source=np.array([place[20], -1, place[60]]), target=np.array([place[30], -1, place[20]]),
        source_thread=np.array([0, 1, 1], np.int32), target_thread=np.array([1, 1, 0], np.int32),
        start=np.array([21, 33, 62]), end=np.array([31, 34, 63]), name=np.array([1, 0, 0], np.int32),
        names=Strings.of(["", "sends"]),
    )  # fmt: skip
    memory = Memory(
        call=np.array([place[20], -1, place[60], place[60]]), thread=np.array([0, 0, 1, 1], np.int32),
        time=np.array([22, 33, 61, 62]), address=np.arange(4, dtype=np.uint64),
        size=np.array([0, 1, 2, 3]), kind=np.full(4, ALLOC, np.uint8),
    )  # fmt: skip
    holder = np.where(trace.sync.start == 30, 0, -1).astype(np.int32)
    sync = replace(trace.sync, holder=holder)
    assert n == 8
    return replace(trace, sync=sync, flows=flows, memory=memory)


#: What begins when, by subject.
MOMENTS = {
    "calls": (10, 20, 30, 50, 60, 61), "threads": (0, 5, 10, 20, 30, 50, 60, 61), "waits": (20, 30),
    "holders": (30,), "creates": (50, 61), "sizes": (22, 33, 61, 62), "arrows": (21, 33, 62),
    "rounds": (0, 5),
}  # fmt: skip


@pytest.mark.parametrize("about", MOMENTS)
def test_what_begins_in_the_window_counts_at_its_begin_and_no_later(about):
    trace, repeated = small(), "m.run" if about == "rounds" else ""
    for moment in range(64):
        wanted = SubjectRequest(
            about, "function", "calls", "none", repeated, 1, 50, True, (moment, moment + 1)
        )
        if moment not in MOMENTS[about]:
            with pytest.raises(TraceVisError):
                table(trace, wanted)
        else:
            # With a round of one thread counts what it calls.
            many = {0: 3, 5: 4}[moment] if about == "rounds" else 1
            assert table(trace, wanted).count.sum() == many, moment
    window = SubjectRequest(about, "function", "calls", "none", repeated, 1, 50, True, (0, 64))
    found = table(trace, window)
    assert found.count.sum() == len(MOMENTS[about])
    assert found.within == 0


@pytest.mark.parametrize("about", MOMENTS)
def test_levels_are_slices_of_time_or_threads_or_kinds_of_arrows(about):
    trace, repeated = small(), "m.run" if about == "rounds" else ""
    for third in ("time", "thread"):
        found = table(
            trace, SubjectRequest(about, "function", "calls", third, repeated, 4, 50, True, (0, 64))
        )
        assert found.levels.is_ordered
        levels, many = found.levels, found.count.sum(axis=(0, 1)).tolist()
        if about == "rounds":
            assert (levels.what, levels.names) == ("", ("",))
        elif third == "thread" and about in ("calls", "creates", "sizes"):
            assert (levels.what, len(levels.names)) == ("thread", len(many))
            on_a = {"calls": [2, 4], "creates": [2], "sizes": [2, 2]}[about]
            assert many == on_a
        elif third == "thread" and about == "arrows":
            assert (levels.what, levels.names, many) == ("kind of arrow", ("unnamed", "sends"), [2, 1])
        else:
            assert levels.what == "time"
            assert many == [sum(k <= t / 16 < k + 1 for t in MOMENTS[about]) for k in range(4)]


def test_sizes_of_a_thread_that_is_unknown_are_told_by_time():
    trace = small()
    memory = replace(trace.memory, thread=np.array([0, 0, -1, 1], np.int32))
    wanted = SubjectRequest("sizes", "function", "auto", "thread", "", 4, 50, True, (0, 64))
    assert table(replace(trace, memory=memory), wanted).levels.what == "time"
    # Empty blocks count as those of a byte.
    found = table(trace, wanted)
    assert found.columns.names == ("1 B up", "2 B up")
    assert found.count.sum(axis=(0, 2)).tolist() == [2, 2]


def test_callers_make_what_constructors_do_not_make():
    text = "a 0 90 m.run\na 1 9 Cart.__init__\na 2 8 Base.__init__\nb 5 9 Cart.__init__\na 20 30 m.work\n"
    trace = trace_of(text + "a 21 22 Base.__init__\na 25 26 Base.__init__")
    found = table(trace, SubjectRequest("creates", "function", "auto", "none", "", 4, 50, True, (0, 99)))
    assert cells_of(found) == {("run", "Cart", 0): 1.0, ("work", "Base", 0): 2.0}


def test_rounds_of_several_threads_stand_side_by_side():
    text = [
        f"{t} {100 * i + k} {100 * i + k + 10 * (k + 1)} m.step"
        for k, t in enumerate("ab")
        for i in range(4 - k)
    ]
    trace = trace_of("\n".join(text))
    found = table(trace, SubjectRequest("rounds", "auto", "auto", "none", "m.step", 4, 50, True, (0, 999)))
    a, b = (lane_title(trace, t) for t in range(2))
    expected = {(str(i + 1), a, 0): 10.0 for i in range(4)} | {(str(i + 1), b, 0): 20.0 for i in range(3)}
    assert cells_of(found) == expected
    with pytest.raises(UsageError, match=r"step is not called in this window"):
        table(trace, SubjectRequest("rounds", "auto", "auto", "none", "m.step", 4, 50, True, (901, 999)))


def test_what_a_trace_without_calls_shows_by_itself():
    trace = small()

    def verb(trace):
        return table(trace, SubjectRequest("auto", "auto", "auto", "none", "", 4, 50, True, (0, 64))).verb

    assert verb(trace) == "calls"
    without = replace(trace, calls=type(trace.calls)(), memory=Memory())
    assert verb(without) == "waits for"
    assert verb(replace(without, sync=Sync())) == "sends to"
    with pytest.raises(InputError, match="calls"):
        verb(replace(without, sync=Sync(), flows=Flows()))
    unknown = replace(trace.sync, holder=np.full(len(trace.sync), -1, np.int32))
    with pytest.raises(InputError, match="holders"):
        table(
            replace(trace, sync=unknown),
            SubjectRequest("holders", "auto", "auto", "none", "", 4, 50, True, (0, 64)),
        )
    for about in ("waits", "holders", "arrows", "sizes", "calls", "creates"):
        with pytest.raises(InputError):
            table(Trace(), SubjectRequest(about, "auto", "auto", "none", "", 4, 50, True, (0, 64)))
