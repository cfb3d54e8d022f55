"""What threads do at each moment, against slow twins that look at every call and every row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.features.tracks.activity import (
    innermost_calls,
    live_bytes,
    waiting,
    waiting_calls,
    within_calls,
)
from tracevis3d.features.tracks.series import steps_of
from tracevis3d.trace.model import ALLOC, FREE, WAIT, Memory, Sync
from tracevis3d.trace.strings import Strings

SEEDS = st.integers(0, 200)


def waits_of(trace, seed, rows=12):
    """Return the trace with waits that begin with random calls."""
    rng = np.random.default_rng(seed)
    call = np.sort(rng.choice(len(trace.calls), min(rows, len(trace.calls)), replace=False))
    n = len(call)
    thread = trace.calls.thread[call]
    order = np.lexsort((trace.calls.start[call], thread))
    call, thread = call[order], thread[order]
    sync = Sync(
        call=call.astype(np.int64), thread=thread, start=trace.calls.start[call], end=trace.calls.end[call],
        kind=np.full(n, WAIT, np.uint8), contended=rng.choice([-1, 0, 1], n).astype(np.int8),
        name=rng.integers(0, 2, n).astype(np.int32), first=np.zeros(n + 1, np.int64),
        names=Strings.of(["Lock.acquire", "Event.wait"]),
    )  # fmt: skip
    return replace(trace, sync=sync)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_the_innermost_call_is_the_deepest_one_that_lasts(seed):
    trace = walked_trace(seed, steps=25, longest=9)
    found, calls = innermost_calls(trace), trace.calls
    for thread in range(len(trace.threads)):
        own = np.flatnonzero(calls.thread == thread)
        mine = found.only(calls.thread[found.call] == thread)
        for time in range(int(calls.start[own].min()), int(calls.end[own].max()) + 1):
            lasting = own[(calls.start[own] <= time) & (calls.end[own] > time)]
            here = mine.call[(mine.start <= time) & (mine.end > time)].tolist()
            # Of calls that end together at one moment the deepest one is on top.
            assert here == ([int(lasting[np.argmax(calls.depth[lasting])])] if len(lasting) else [])


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_waits_of_a_thread_are_joined_where_they_overlap(seed):
    trace = waits_of(walked_trace(seed, steps=25, longest=9), seed)
    found, sync = waiting(trace), trace.sync
    blocked = (sync.contended != 0) & (sync.end > sync.start)
    for thread in range(len(trace.threads)):
        mine = found.thread == thread
        for time in range(int(trace.span_ns) + 1):
            said = np.count_nonzero(mine & (found.start <= time) & (found.end > time))
            rows = blocked & (sync.thread == thread) & (sync.start <= time) & (sync.end > time)
            assert said == int(rows.any())
        # What touches is one stretch, told by its outermost row.
        assert (found.start[mine][1:] > found.end[mine][:-1]).all()
        for start, row in zip(found.start[mine].tolist(), found.row[mine].tolist()):
            begun = np.flatnonzero(blocked & (sync.thread == thread) & (sync.start == start))
            assert row in begun
            assert sync.end[row] == sync.end[begun].max()


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_a_thread_runs_within_a_call_while_it_does_not_wait(seed):
    trace = waits_of(walked_trace(seed, steps=25, longest=9), seed)
    calls, found = trace.calls, waiting(trace)
    steps = steps_of(*within_calls(trace))
    for time in range(int(trace.span_ns) + 1):
        inside = np.unique(calls.thread[(calls.start <= time) & (calls.end > time)])
        waits = np.unique(found.thread[(found.start <= time) & (found.end > time)])
        at = np.searchsorted(steps.time, time, "right") - 1
        assert (steps.value[at] if at >= 0 else 0) == len(np.setdiff1d(inside, waits))


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_calls_below_a_wait_wait(seed):
    trace = waits_of(walked_trace(seed, steps=25, longest=9), seed)
    # Some wait in no call.
    trace.sync.call[1::3] = -1
    calls, roots = trace.calls, set(trace.sync.call[waiting(trace).row].tolist())
    for call in range(len(calls)):
        chain, at = [], call
        while at >= 0:
            chain.append(at)
            at = int(calls.parent[at])
        assert waiting_calls(trace)[call] == bool(roots & set(chain))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(1, 9)), max_size=20))
def test_live_bytes_are_those_of_the_blocks_that_live(rows):
    n = len(rows)
    memory = Memory(
        time=np.arange(n, dtype=np.int64), address=np.array([a for _, a, _ in rows], np.uint64),
        size=np.array([s if alloc else 0 for alloc, _, s in rows], np.int64),
        kind=np.array([ALLOC if alloc else FREE for alloc, _, _ in rows], np.uint8),
    )  # fmt: skip
    steps, blocks = live_bytes(memory), {}
    for time, (alloc, address, size) in enumerate(rows):
        blocks[address] = size if alloc else 0
        at = np.searchsorted(steps.time, time, "right") - 1
        assert (steps.value[at] if at >= 0 else 0) == sum(blocks.values())
