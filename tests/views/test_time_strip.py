"""Where things lie on a time strip."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.views.time_strip import Lane, columns, dragged, drawn_out, grip, lanes, spread

LANE = Lane(10.0, 110.0, 0.0, 20.0, (1000, 2000))


def test_times_and_pixels_lead_to_each_other() -> None:
    assert LANE.x_of(1000) == 10.0
    assert LANE.x_of(1500) == 60.0
    assert LANE.x_of(99_999) == 110.0
    assert LANE.time_at(60.0) == 1500
    assert LANE.time_at(-5.0) == 1000
    assert LANE.length_of(10.0) == 100.0


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 10**9)), min_size=1, max_size=5))
def test_a_pixel_is_as_much_time_in_all_lanes(spans) -> None:
    wholes = [(a, a + length) for a, length in spans]
    found = lanes(5.0, 10.0, 805.0, 100.0, wholes, 4.0)
    longest = max(length for _, length in spans)
    for lane, (_, length) in zip(found, spans, strict=True):
        assert lane.left == 5.0
        assert abs((lane.right - lane.left) / 800.0 - length / longest) < 1e-9
        assert lane.high > lane.low
    assert found[0].high == 100.0
    assert abs(found[-1].low - 10.0) < 1e-6
    for upper, lower in itertools.pairwise(found):
        assert abs(upper.low - lower.high - 4.0) < 1e-6


def test_ends_are_met_before_the_inside() -> None:
    assert grip((50.0, 90.0), 47.0, 5.0) == "low"
    assert grip((50.0, 90.0), 54.0, 5.0) == "low"
    assert grip((50.0, 90.0), 70.0, 5.0) == "inside"
    assert grip((50.0, 90.0), 94.0, 5.0) == "high"
    assert grip((50.0, 90.0), 96.0, 5.0) == ""
    # A frame that is narrower than the reach can still be moved.
    assert grip((50.0, 53.0), 51.5, 5.0) == "inside"


WINDOWS = st.tuples(st.integers(0, 900), st.integers(20, 100)).map(lambda ab: (ab[0], ab[0] + ab[1]))


@given(WINDOWS, st.sampled_from(["low", "high", "inside"]), st.floats(-3000, 3000))
def test_a_dragged_window_stays_inside_and_long_enough(window, part, by) -> None:
    low, high = dragged(window, (0, 1000), part, by, 20)
    assert low >= 0
    assert high <= 1000
    assert high - low >= 20
    if part == "inside":
        assert high - low == window[1] - window[0]
    elif part == "low":
        assert high == window[1]
    else:
        assert low == window[0]


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_window_is_drawn_out_in_both_directions(a, b) -> None:
    found = drawn_out(a, b, (0, 1000), 20)
    assert found == drawn_out(b, a, (0, 1000), 20)
    assert 0 <= found[0] < found[1] <= 1000
    assert found[1] - found[0] >= 20
    if abs(a - b) >= 20:
        assert found == (min(a, b), max(a, b))


@given(st.lists(st.tuples(st.integers(900, 2100), st.integers(0, 400)), max_size=40))
def test_columns_are_the_pixels_that_any_range_touches(spans) -> None:
    start = np.array([a for a, _ in spans], np.int64)
    end = np.array([a + length for a, length in spans], np.int64)
    found = columns(LANE, start, end)
    wanted = set()
    for a, b in zip(start, end, strict=True):
        left, right = (np.clip([a, b], 1000, 2000) - 1000) / 10
        first = int(np.floor(left))
        wanted |= set(range(first, max(int(np.ceil(right)), first + 1)))
    got = [set(range(int(left - 10), int(right - 10))) for left, right in found]
    assert set().union(*got) == wanted
    assert sum(map(len, got)) == len(wanted)
    assert (found[1:, 0] > found[:-1, 1]).all()


@given(st.lists(st.floats(0, 100), max_size=12).map(sorted), st.floats(1, 30))
def test_signs_are_spread_in_order_within_the_room(xs, apart) -> None:
    found = spread(xs, apart, 0.0, 100.0)
    assert len(found) == len(xs)
    gap = min(apart, 100.0 / max(len(xs) - 1, 1))
    for a, b in itertools.pairwise(found):
        assert b - a >= gap - 1e-6
    assert all(-1e-6 <= x <= 100.0 + 1e-6 for x in found)
    if all(b - a >= apart for a, b in itertools.pairwise(xs)):
        assert np.allclose(found, xs)
