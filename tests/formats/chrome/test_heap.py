"""Counters of memory as blocks: what they add up to is what the counter said."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tracevis3d.features.memory.blocks import NEVER, find_blocks
from tracevis3d.formats.chrome.heap import _rows
from tracevis3d.trace.model import ALLOC


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60))
@settings(deadline=None, max_examples=200)
def test_what_lives_is_what_the_counter_says(levels):
    times = np.arange(1, len(levels) + 1)
    rows = _rows(np.array(levels), times, 0, 0, 1 << 12)
    born = {}
    lives = []
    for _, kind, when, address, size, _ in rows:
        if kind == ALLOC:
            born[address] = (when, size)
            lives.append([when, NEVER, size, address])
        else:
            next(row for row in reversed(lives) if row[3] == address)[1] = when
    for now, level in zip(times.tolist(), levels):
        alive = [(address, size) for start, stop, size, address in lives if start <= now < stop]
        assert sum(size for _, size in alive) == level
        # Side by side from the bottom, without a gap.
        at = 1 << 12
        for address, size in sorted(alive):
            assert address == at
            at += size


def test_a_heap_counter_is_a_terrain_of_its_own(tmp_path):
    path = tmp_path / "heap.json"
    values = [100_000, 250_000, 250_000, 120_000, 300_000]
    events = [
        {
            "ph": "C",
            "pid": 1,
            "tid": 2,
            "ts": 1000 * i,
            "name": "JS Heap",
            "args": {"usedJSHeapSize": value, "n": 3},
        }
        for i, value in enumerate(values)
    ]
    events += [
        {"ph": "C", "pid": 1, "tid": 2, "ts": i, "name": "frames", "args": {"value": 10**6}} for i in range(3)
    ]
    path.write_text(json.dumps(events))
    trace = tv.load(path, cache=False)
    blocks = find_blocks(trace.memory, trace.span_ns)
    assert sorted(blocks.size.tolist()) == [20_000, 100_000, 130_000, 180_000]
    assert {trace.functions.name[f] for f in trace.stacks.function.tolist()} == {"JS Heap usedJSHeapSize"}
    assert len(trace.counters) == 3
    assert set(trace.problems) == {"no addresses"}
