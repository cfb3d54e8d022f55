"""Positions in an icicle plot: what they mean, and the closed forms against plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.layout.icicle import (
    level_heights,
    place_boxes,
    run_sums,
    stack_lanes,
    time_to_x,
    widest_gaps,
)

COVER = st.lists(st.floats(0, 1e9), min_size=1, max_size=30).map(np.array)
LEVELS = st.lists(st.integers(1, 40), min_size=1, max_size=12).map(np.array)


@given(COVER, st.floats(0, 1))
def test_levels_are_highest_where_most_time_is_spent(cover, taper):
    heights = level_heights(cover, taper)
    assert (heights > 0).all()
    assert heights.max() == 1
    order = np.argsort(cover, kind="stable")
    assert (np.diff(heights[order]) >= 0).all()


@given(COVER)
def test_without_taper_all_levels_are_alike(cover):
    assert (level_heights(cover, 0.0) == 1).all()


@given(LEVELS, st.floats(1, 20), st.floats(0, 3), st.floats(0, 0.5))
def test_lanes_never_overlap_and_fit_where_they_can(levels, total, spacing, least):
    heights = np.ones(levels.max())
    lanes = stack_lanes(levels, heights, total=total, highest=0.5, least=least, spacing=spacing)
    unit = lanes.edge[1]
    assert unit <= 0.5 + 1e-12
    ends = lanes.floor + lanes.height
    assert (lanes.floor[1:] >= ends[:-1] - 1e-9).all()
    np.testing.assert_allclose(lanes.floor[1:] - ends[:-1], spacing * unit, atol=1e-9)
    assert (lanes.height >= levels * unit - 1e-9).all()
    assert (lanes.height >= least).all()
    if len(levels) * least < total:
        assert lanes.top <= total + 1e-6
        if unit < 0.5:
            assert lanes.top == pytest.approx(total, rel=1e-6)


@given(
    st.integers(0, 10**15), st.integers(1, 10**14), st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=20)
)
def test_time_to_x_is_linear_and_clipped(start, span, shares):
    time = np.array([start + int(share * span) for share in shares], np.int64)
    x = time_to_x(time, start, start + span, 16.0)
    exact = np.clip((time - start) / span, 0, 1) * 16
    assert np.abs(x - exact).max() <= np.spacing(np.float32(16))


@st.composite
def boxes(draw):
    n = draw(st.integers(1, 20))
    ints = lambda high: np.array(draw(st.lists(st.integers(0, high), min_size=n, max_size=n)), np.int64)  # noqa: E731
    start, length, low, more = ints(1000), ints(1000), ints(6), ints(3)
    lane, thick = ints(2), ints(9) / 10.0
    return start, start + length, low, np.minimum(low + more, 9), lane, thick


@given(boxes(), st.floats(0, 0.9), st.integers(0, 900), st.integers(1, 1100))
def test_boxes_say_time_depth_and_measure(given_boxes, gap, window_start, window_span):
    start, end, low_level, high_level, lane, thick = given_boxes
    window = (window_start, window_start + window_span)
    heights = level_heights(np.arange(10.0, 0, -1), 0.5)
    lanes = stack_lanes(np.array([10, 10, 10]), heights, total=6, highest=1, least=0, spacing=1)
    low, size = place_boxes(
        start, end, low_level, high_level, lane, thick, lanes, window=window, width=16.0, gap=gap
    )
    for i in range(len(start)):
        inside = max(min(int(end[i]), window[1]) - max(int(start[i]), window[0]), 0)
        assert size[i, 0] == np.float32(inside * (16.0 / window_span))
        floor = lanes.floor[lane[i]]
        assert low[i, 2] == pytest.approx(floor + lanes.edge[low_level[i]], rel=1e-6)
        own = lanes.edge[high_level[i] + 1] - lanes.edge[high_level[i]]
        top = floor + lanes.edge[high_level[i] + 1] - gap * own
        assert low[i, 2] + size[i, 2] == pytest.approx(top, rel=1e-5)
        assert low[i, 1] + size[i, 1] == pytest.approx(lanes.back[lane[i]], abs=1e-6)
        assert size[i, 1] == np.float32(thick[i])
    assert (size >= 0).all()


@given(st.data())
def test_the_widest_gap_is_the_widest(data):
    owners = data.draw(st.integers(1, 5))
    start, end, owner, child_start, child_end, expected = [], [], [], [], [], []
    for o in range(owners):
        cuts = sorted(data.draw(st.lists(st.integers(0, 100), min_size=2, max_size=12)))
        start.append(cuts[0])
        end.append(cuts[-1])
        inner = cuts[1:-1]
        children = list(zip(inner[::2], inner[1::2]))
        owner += [o] * len(children)
        child_start += [a for a, _ in children]
        child_end += [b for _, b in children]
        edges = [cuts[0], *[v for pair in children for v in pair], cuts[-1]]
        expected.append(max(b - a for a, b in zip(edges[::2], edges[1::2])))
    order = data.draw(st.permutations(range(len(owner))))
    low, high = widest_gaps(
        np.array(start, float), np.array(end, float), np.array(owner, np.int64)[order],
        np.array(child_start, float)[order], np.array(child_end, float)[order],
    )  # fmt: skip
    np.testing.assert_array_equal(high - low, expected)
    for o in range(owners):
        assert start[o] <= low[o] <= high[o] <= end[o]
        for k, whose in enumerate(owner):
            if whose == o:
                assert child_end[k] <= low[o] or child_start[k] >= high[o]


@given(st.lists(st.floats(0, 1e6, width=32), max_size=50), st.data())
@settings(deadline=None)
def test_sums_of_runs(values, data):
    value = np.array(values, np.float32)
    ends = st.integers(0, len(value))
    runs = data.draw(st.lists(st.tuples(ends, ends).map(sorted), max_size=10))
    first, stop = (np.array([run[k] for run in runs], np.int64) for k in (0, 1))
    expected = [sum(float(v) for v in value[a:b]) for a, b in runs]
    np.testing.assert_allclose(run_sums(first, stop, value), expected, rtol=1e-12)
