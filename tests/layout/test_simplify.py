"""Polylines with fewer points: held to a plain twin, and to the tolerance itself."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.layout.simplify import points_to_keep


def apart(point, radius, a, b):
    """Return how far the points between a and b are from the straight piece, and their radii from its."""
    along = point[b] - point[a]
    length = float(along @ along)
    worst = 0.0
    for j in range(a + 1, b):
        share = min(max(float(along @ (point[j] - point[a])) / length, 0.0), 1.0) if length > 1e-20 else 0.0
        worst = max(worst, float(np.linalg.norm(point[j] - point[a] - share * along)))
        worst = max(worst, float(np.abs(radius[j] - radius[a] - share * (radius[b] - radius[a])).max()))
    return worst


def twin(point, radius, first, tolerance, most=32):
    """Extend each piece as far as all points between stay close, polyline by polyline."""
    kept = []
    for low, high in pairwise(first):
        if high == low:
            continue
        at = low
        kept.append(at)
        while at < high - 1:
            reach = at + 1
            while (
                reach + 1 < high
                and reach + 1 - at <= most
                and apart(point, radius, at, reach + 1) <= tolerance
            ):
                reach += 1
            at = reach
            kept.append(at)
    return kept


@st.composite
def polylines(draw):
    """Draw polylines of points and radii on a grid, so that nothing depends on rounding."""
    count = draw(st.lists(st.integers(0, 40), min_size=1, max_size=5))
    n = sum(count)
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    step = rng.choice([0, 0, 1], (n, 3)) if draw(st.booleans()) else rng.integers(-2, 3, (n, 3))
    point = np.cumsum(step, axis=0).astype(np.float32)
    radius = (
        rng.integers(1, 3, (n, 2)).astype(np.float32) if draw(st.booleans()) else np.ones((n, 2), np.float32)
    )
    return point.reshape(-1, 3), radius, np.concatenate([[0], np.cumsum(count)]).astype(np.int64)


@settings(max_examples=150, deadline=None)
@given(polylines(), st.sampled_from([0.013, 0.41, 1.07, 3.3]))
def test_as_the_twin_and_within_the_tolerance(given, tolerance):
    point, radius, first = given
    kept = points_to_keep(point, radius, first, tolerance)
    assert kept.tolist() == twin(point, radius, first, tolerance)
    for a, b in pairwise(kept):
        if not (first == b).any():
            assert apart(point, radius, a, b) <= tolerance * (1 + 1e-5)


def test_straight_lines_need_their_ends_alone_but_for_the_length_of_a_piece():
    point = np.zeros((100, 3), np.float32)
    point[:, 0] = np.arange(100)
    radius = np.ones((100, 2), np.float32)
    assert points_to_keep(point, radius, np.array([0, 100]), 0.1).tolist() == [0, 32, 64, 96, 99]
    assert points_to_keep(point, radius, np.array([0, 30, 30, 31]), 0.1).tolist() == [0, 29, 30]
