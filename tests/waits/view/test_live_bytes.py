"""The live bytes above the threads, on their clock."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waits.sync_traces import trace_of
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.waits.view.layout import WIDTH
from tracevis3d.features.waits.view.parameters import Parameters
from tracevis3d.features.waits.view.skyline import LIVE_BYTES, RUNNING, most_alive
from tracevis3d.features.waits.view.view import VIEW
from tracevis3d.progress import silent
from tracevis3d.trace.model import ALLOC, FREE, Instants, Memory, Strings
from tracevis3d.trace.names import JOINED_LATE

#: Blocks: born, lives for, bytes.
BLOCKS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 40), st.integers(1, 9)), min_size=1, max_size=8
)


def with_blocks(trace, blocks):
    """Return a trace whose memory is these blocks, each with an address of its own."""
    rows = sorted(
        (time, kind, address, size)
        for address, (born, lives, size) in enumerate(blocks)
        for time, kind, size in ((born, ALLOC, size), (born + lives, FREE, 0))
    )
    time, kind, address, size = (np.array(column) for column in zip(*rows))
    none = np.full(len(rows), -1, np.int64)
    memory = Memory(
        time.astype(np.int64), address.astype(np.uint64), size.astype(np.int64), kind.astype(np.uint8),
        np.zeros(len(rows), np.int32), none, np.empty(0, np.int32),
    )  # fmt: skip
    return replace(trace, memory=memory)


@given(BLOCKS, st.lists(st.integers(0, 90), min_size=2, max_size=7, unique=True))
def test_the_most_that_lives_is_that_of_the_plain_twin(blocks, edges) -> None:
    trace, edges = with_blocks(trace_of("a 0 100 run"), blocks), sorted(edges)
    found = most_alive(trace, np.array(edges, np.int64)).tolist()
    lives = [sum(size for born, lasts, size in blocks if born <= t < born + lasts) for t in range(100)]
    assert found == [max(lives[a:b]) for a, b in itertools.pairwise(edges)]


def test_live_bytes_stand_above_the_threads_on_their_clock() -> None:
    plain = trace_of(
        "a 0 1000 run\nb 0 1000 run\nb 100 300 Event.wait wait E 1\na 299 299 Event.set release E"
    )
    trace = with_blocks(plain, [(200, 300, 2_000_000), (400, 200, 1_000_000)])

    def draw(of, **settings):
        drawing = VIEW.draw([of], Parameters(**settings), Frame(), silent)
        return drawing, [element for element in drawing.elements if element.kind == LIVE_BYTES]

    drawing, (strip,) = draw(trace)
    corner = strip.corner.reshape(-1, 2, 4, 3).astype(float)
    assert corner[:, :, :, 0].min() == pytest.approx(WIDTH * 0.2, abs=0.05)
    assert corner[:, :, :, 0].max() == pytest.approx(WIDTH * 0.6, abs=0.05)
    tall = np.linalg.norm(corner[:, 0, 1] - corner[:, 0, 0], axis=1)
    middle = corner[:, :, 0, 0].mean(axis=1) / WIDTH * 1000
    for low, high, share in ((210, 390, 2 / 3), (410, 490, 1.0), (510, 590, 1 / 3)):
        inside = (middle > low) & (middle < high)
        assert tall[inside] == pytest.approx(share * tall.max(), rel=0.01)
    (values,) = drawing.meaning[LIVE_BYTES].values
    assert set(values[1][strip.id].tolist()) == {1e6, 2e6, 3e6}
    assert any("live bytes, up to 2.86 MiB" in text for group in drawing.labels for text in group.text)
    for other in (draw(trace, memory=False), draw(plain), draw(trace, paper=1.0)):
        assert not other[1]


def test_above_the_threads_nothing_stands_before_the_viewer_joined() -> None:
    """What was open then is known from its begin, all else from then on: it would be too few that ran."""
    text = "a 0 1000 run\nb 0 1000 run\nc 0 1000 run\nd 0 400 run\na 100 900 Lock.acquire wait L 1\n"
    text += "c 50 900 Lock.acquire wait L 1\nb 10 10 Lock.acquire wait L 0\nb 899 899 Lock.release release L"
    whole = with_blocks(trace_of(text), [(200, 700, 2_000_000)])
    late = Instants(np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([400]), Strings.of([JOINED_LATE]))
    for trace, at in ((whole, 0.0), (replace(whole, instants=late), 0.4)):
        elements = VIEW.draw([trace], Parameters(start="0"), Frame(), silent).elements
        begins = {e.kind: e.corner[..., 0].min() / WIDTH for e in elements if e.kind in (RUNNING, LIVE_BYTES)}
        assert begins == {
            RUNNING: pytest.approx(at, abs=0.01),
            LIVE_BYTES: pytest.approx(at or 0.2, abs=0.01),
        }
