"""The curve of live bytes beside threads, against a dictionary of what lives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.kernels.live import live_bytes as k
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.protocol import Batch, Names, Welcome
from tracevis3d.live.stream import live_bytes
from tracevis3d.live.stream.live_bytes import LiveBytes
from tracevis3d.views.registry import live_form

ROW = st.tuples(st.integers(0, 2), st.sampled_from([0, 1, 7, 8, 1 << 40, (1 << 64) - 1]), st.integers(0, 50))


def growing() -> GrowingTrace:
    found = GrowingTrace()
    found.begin(Welcome("s", "p", 1, 0))
    found.name(Names("functions", 0, ("f",)))
    found.name(Names("threads", 0, ((1, 0, "main"),)))
    return found


def batch(rows, now):
    n, (kind, address, size) = len(rows), zip(*rows, strict=True)
    return Batch("memory", 0, 0, 0, {
        "kind": np.array(kind, np.uint8), "thread": np.zeros(n, np.uint32), "time": np.full(n, now),
        "address": np.array(address, np.uint64), "size": np.array(size, np.int64),
        "stack": np.full(n, -1, np.int32),
    })  # fmt: skip


@given(st.lists(st.lists(ROW, min_size=1, max_size=12), max_size=6), st.sampled_from([2, 4, 4096]))
def test_live_bytes_are_those_of_a_dictionary(batches, slots):
    trace, living = growing(), {}
    first, live_bytes._FIRST_SLOTS = live_bytes._FIRST_SLOTS, slots
    try:
        curve = LiveBytes(trace, 240, -1, 0)
    finally:
        live_bytes._FIRST_SLOTS = first
    for number, rows in enumerate(batches, 1):
        trace.add(batch(rows, 10 * number))
        most = sum(living.values())
        for kind, address, size in rows:
            if kind == 0:
                living[address] = size
            elif kind == 1:
                living.pop(address, None)
            most = max(most, sum(living.values()))
        piece = curve.advance(10 * number)
        assert curve.now == sum(living.values())
        assert curve._state[k.BLOCKS] == len(living)
        if number > 1:
            assert piece.time.tolist() == [[10 * (number - 1), 10 * number]]
            assert piece.value[0, 1] == most
            said = dict(curve.describe(piece).rows)
            assert said["within"] == "10 ns"


def test_threads_show_live_bytes_above_their_rows_on_one_clock():
    trace = growing()
    flow = live_form("threads").make(trace, 1000)
    assert not any("live" in text for text in flow.labels(0).texts())
    (_, before) = flow.extent()
    for now in (100, 200, 300):
        trace.add(batch([(0, now, 1 << 20)], now))
        given_ = flow.advance()
    flow.lay_out()
    mine = given_[given_.key == -1]
    assert mine.time.tolist() == [[200, 300]]
    assert "3 MiB live" in list(flow.labels(300).texts())
    assert any("live bytes" in entry.text for entry in flow.legend().entries)
    (_, (low, high)) = flow.extent()
    assert high > before[1]
    corner = flow.sections(mine)
    assert np.isfinite(corner).all()
    assert flow.describe(mine, 250, 300).title == "Live bytes"
    assert high >= corner[..., 1].max() > corner[..., 1].min() >= low
