"""The van Wijk path: its ends, its speed, its symmetry, and that no other path of the family is shorter."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout.sight.flight import RHO, Flight, Pace, eased

widths = st.floats(1e-6, 1e6)
points = st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3)


@given(points, widths, points, widths)
def test_a_flight_starts_and_ends_where_it_should(start, w0, goal, w1):
    flight = Flight.between(start, w0, goal, w1)
    scale = max(w0, w1, float(np.abs([start, goal]).max()), 1e-6)
    for share, at, width in ((0.0, start, w0), (1.0, goal, w1)):
        where, wide = flight.at(share)
        assert np.allclose(where, at, atol=1e-6 * scale)
        assert wide == pytest.approx(width, rel=1e-6)


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.floats(0.01, 100))
def test_speed_is_even_in_the_papers_metric(w0, w1, distance):
    """Equation 5: the square root of (rho^2 du^2 + dw^2 / rho^2) / w^2 is the same all along the way."""
    flight = Flight.between([0.0], w0, [distance], w1)
    shares = np.linspace(0, 1, 4001)
    u, w = np.array([(flight.at(s)[0][0], flight.at(s)[1]) for s in shares]).T
    step = np.hypot(RHO * np.diff(u), np.diff(w) / RHO) / ((w[1:] + w[:-1]) / 2)
    assert step.sum() == pytest.approx(flight.length, rel=1e-3)
    assert step.min() > 0.97 * step.mean()
    assert step.max() < 1.03 * step.mean()


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 50), st.floats(0, 1))
def test_the_way_back_is_the_way_there(w0, w1, distance, share):
    there = Flight.between([0.0], w0, [distance], w1)
    back = Flight.between([distance], w1, [0.0], w0)
    assert there.length == pytest.approx(back.length, rel=1e-9)
    (a,), w = there.at(share)
    (b,), v = back.at(1 - share)
    assert a == pytest.approx(b, abs=1e-6 * distance)
    assert w == pytest.approx(v, rel=1e-6)


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 50), st.floats(0.3, 3))
def test_no_other_height_of_the_arc_is_shorter(w0, w1, distance, bend):
    """Of the paths that pan at another highest width none is shorter in the paper's metric."""
    flight = Flight.between([0.0], w0, [distance], w1)
    shares = np.linspace(0, 1, 2001)
    u, w = np.array([(flight.at(s)[0][0], flight.at(s)[1]) for s in shares]).T
    other = w * bend ** (4 * shares * (1 - shares))

    def length(w):
        return (np.hypot(RHO * np.diff(u), np.diff(w) / RHO) / ((w[1:] + w[:-1]) / 2)).sum()

    assert length(w) <= length(other) * (1 + 1e-3)


def test_without_a_distance_it_only_zooms():
    flight = Flight.between([1.0, 2.0], 1.0, [1.0, 2.0], math.e**RHO)
    assert flight.length == pytest.approx(1.0)
    where, width = flight.at(0.5)
    assert where.tolist() == [1.0, 2.0]
    assert width == pytest.approx(math.exp(RHO / 2))


def test_far_goals_are_seen_from_afar():
    flight = Flight.between([0.0], 1.0, [1000.0], 1.0)
    highest = max(flight.at(s)[1] for s in np.linspace(0, 1, 200))
    assert 500 < highest < 3000
    with pytest.raises(ValueError, match="above 0"):
        Flight.between([0.0], 0.0, [1.0], 1.0)
    assert [eased(x) for x in (-1, 0, 0.5, 1, 2)] == [0, 0, 0.5, 1, 1]


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=4))
def test_flights_together_take_as_long_as_the_longest(lengths):
    pace = Pace(0.4, 0.25, 2.0)
    assert pace.seconds(*lengths) == max(pace.seconds(length) for length in lengths)
    assert 0.25 <= pace.seconds(*lengths) <= 2.0
