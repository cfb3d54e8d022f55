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
from tracevis3d.errors import TraceVisError
from tracevis3d.features.matrix.subjects import SubjectRequest, table
from tracevis3d.features.matrix.table import slices
from tracevis3d.trace.model import ALLOC, WAIT
from tracevis3d.trace.names import lane_title
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
