"""The mural along time, against its definition."""

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support import synthetic
from tests.waits.sync_traces import trace_of
from tracevis3d.analysis.mural import packed_cells
from tracevis3d.analysis.time_mural import (
    HEIGHT,
    WIDTH,
    longest_calls,
    memory_mural,
    occupancy,
    time_mural,
    unpacked,
)
from tracevis3d.trace.model import ALLOC, FREE, Calls, Memory


@given(st.integers(0, 2**32), st.integers(1, 60), st.booleans(), st.integers(1, 9), st.integers(1, 7))
@example(174, 2, False, 1, 1)
@settings(deadline=None, max_examples=60)
def test_each_call_adds_the_time_that_it_has_in_a_cell(seed, n, chain, width, height) -> None:
    calls = synthetic.chain(n) if chain else synthetic.random_calls(seed, n, functions=3, threads=2)
    low, high = int(calls.start.min()) + 3, int(calls.end.max()) + 5
    found = occupancy(calls, low, high, width, height)
    deepest = max(int(calls.depth.max()), height)
    wanted = np.zeros((height, width))
    edges = [low + (high - low) * k / width for k in range(width + 1)]
    for i in range(n):
        row = (int(calls.depth[i]) - 1) * height // deepest
        for k in range(width):
            inside = min(int(calls.end[i]), edges[k + 1]) - max(int(calls.start[i]), edges[k])
            wanted[row, k] += max(inside, 0) / (edges[1] - edges[0])
    assert np.allclose(found, wanted, atol=1e-6)
    assert (found >= 0).all()
    cells = time_mural(calls, low, high)
    started = np.zeros((HEIGHT, WIDTH), np.bool_)
    for start, depth in zip(calls.start.tolist(), calls.depth.tolist(), strict=True):
        if low <= start < high:
            row = (depth - 1) * HEIGHT // max(int(calls.depth.max()), HEIGHT)
            started[row, int((start - low) * WIDTH / (high - low))] = True
    assert (cells[started] > 0).all()
    assert cells.max() == (255 if wanted.any() else int(started.any()))  # one may start without lasting
    again = unpacked(packed_cells(cells))
    assert np.array_equal(again, cells)


def test_short_calls_are_seen_and_nothing_is_dark() -> None:
    calls = synthetic.flat(3, duration=1, gap=10**9)
    cells = time_mural(calls, int(calls.start[0]), int(calls.end[-1]))
    assert (cells[0] == 255).all()
    assert np.count_nonzero(cells[1]) == 2
    assert not cells[2:].any()
    assert not time_mural(Calls(), 0, 1).any()


def test_a_window_of_a_nanosecond_and_of_none() -> None:
    calls = trace_of("a 0 1 one").calls
    for high in (0, 1):
        assert occupancy(calls, 0, high, 2, 1).tolist() == [[1.0, 1.0]]
        assert longest_calls(calls, 0, high, 2, 1).tolist() == [[0, 0]]


def test_a_cell_is_as_light_as_the_root_of_its_share_of_the_busiest() -> None:
    calls = trace_of("a 0 40 one\na 100 110 two\na 200 202 three").calls
    cells = time_mural(calls, 0, 100 * WIDTH)
    assert cells[0, :4].tolist() == [
        255,
        math.ceil(255 * math.sqrt(0.25)),
        math.ceil(255 * math.sqrt(0.05)),
        0,
    ]
    assert not cells[1:].any()


def test_half_a_cell_is_the_busiest_and_what_began_just_before_is_not_in_the_first() -> None:
    calls = trace_of("a 0 1 early\na 105 110 late").calls
    cells = time_mural(calls, 5, 5 + 10 * WIDTH)
    assert np.argwhere(cells).tolist() == [[0, 10]]
    assert cells[0, 10] == 255


@given(
    st.lists(
        st.tuples(st.integers(0, 5000), st.integers(0, 6), st.integers(1, 100), st.booleans()), max_size=60
    ),
    st.integers(1, 5000),
)
@settings(deadline=None, max_examples=60)
def test_the_skyline_is_the_most_bytes_of_each_moment(rows, span) -> None:
    rows = sorted(rows)
    memory = Memory(
        time=np.array([time for time, *_ in rows], np.int64),
        address=np.array([address for _, address, *_ in rows], np.uint64),
        size=np.array([0 if ends else size for *_, size, ends in rows], np.int64),
        kind=np.array([FREE if ends else ALLOC for *_, ends in rows], np.uint8),
        thread=np.zeros(len(rows), np.int32),
        call=np.full(len(rows), -1, np.int64),
    )
    cells, blocks, most, at = memory_mural(memory, 0, span), {}, np.zeros(WIDTH), 0
    for column in range(WIDTH):
        most[column] = sum(blocks.values())
        while at < len(rows) and rows[at][0] < span * (column + 1) / WIDTH:
            _, address, size, ends = rows[at]
            blocks.pop(address, None)
            blocks |= {} if ends else {address: size}
            most[column] = max(most[column], sum(blocks.values()))
            at += 1
    rows_filled = (cells / 255).sum(axis=0)
    assert np.allclose(rows_filled, most / max(most.max(), 1) * HEIGHT, atol=1 / 255 + 1e-9)
    assert (np.diff(cells.astype(int), axis=0) <= 0).all()


def test_damaged_texts_are_no_mural() -> None:
    text = packed_cells(np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH), np.uint8))
    for damaged in ("", "no mural", text[: len(text) // 2], text[5:], "é"):
        assert unpacked(damaged) is None


def test_what_earlier_versions_have_stored_is_read():
    cells = unpacked("c%1FQF#!Mo0K%a4Pi+e?pa1{>0000000000000000002sXG;J80R")
    assert cells is not None
    assert cells.shape == (20, 960)
    assert not cells.any()
