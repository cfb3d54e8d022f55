"""A lens over a 3D view shows what lies about a pixel, so many times as large, at the same depth."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout.sight.magnification import behind, magnification
from tracevis3d.layout.sight.view_projection import ViewProjection

_WIDE, _HIGH = 800, 600


def _eye(perspective: bool) -> np.ndarray:
    """Return a projection along -z, seen from z = 10."""
    if not perspective:
        return np.diag([0.1, 0.12, -0.05, 1.0])
    matrix = np.array([[1.5, 0, 0, 0], [0, 2, 0, 0], [0, 0, -1.02, 10], [0, 0, -1, 10.0]])
    return matrix


@given(
    st.booleans(),
    st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3)),
    st.floats(0, _WIDE),
    st.floats(0, _HIGH),
    st.sampled_from([120, 340]),
    st.floats(1, 12),
)
def test_the_distance_from_the_pixel_grows_and_the_depth_stays(perspective, point, x, y, side, times):
    eye = _eye(perspective)
    region = ViewProjection.of(eye, _WIDE, _HIGH)
    lens = ViewProjection.of(magnification(x, y, side, times, _WIDE, _HIGH) @ eye, side, side)
    before, after = region.project([point]), lens.project([point])
    wanted = side / 2 + times * (before[0] - (x, y))
    np.testing.assert_allclose(after[0], wanted, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(after[1], before[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(behind(after[0], x, y, side, times), before[0], rtol=1e-6, atol=1e-5)


def test_the_ray_through_its_middle_is_the_one_through_the_pixel():
    eye = _eye(True)
    lens = ViewProjection.of(magnification(310, 95, 200, 6.0, _WIDE, _HIGH) @ eye, 200, 200)
    one, other = lens.ray(100, 100, 1.0), ViewProjection.of(eye, _WIDE, _HIGH).ray(310, 95, 1.0)
    np.testing.assert_allclose(one.direction, other.direction, atol=1e-9)
    np.testing.assert_allclose(one.origin, other.origin, atol=1e-9)
