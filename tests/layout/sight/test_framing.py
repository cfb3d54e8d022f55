"""Views that show a box, and that show what a camera showed: held to the projection of points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout.sight.affine import corners
from tracevis3d.layout.sight.framing import Lens, Region, framed, part_within, without_camera

coordinates = st.tuples(*[st.floats(-50, 50)] * 3)
sizes = st.tuples(*[st.floats(0.1, 30)] * 3)
angles = st.tuples(*[st.floats(-3, 3)] * 3)


def turned(angles):
    """Return unit vectors to the right, up and forward, as rows."""
    result = np.eye(3)
    for axis, angle in enumerate(angles):
        one, other = [i for i in (0, 1, 2) if i != axis]
        turn = np.eye(3)
        turn[one, one] = turn[other, other] = np.cos(angle)
        turn[one, other], turn[other, one] = -np.sin(angle), np.sin(angle)
        result = result @ turn
    return result * [[1], [1], [-1]]


def window_of(tan_x, tan_y, shift=(0.0, 0.0), perspective=True):
    """Return the matrix to clip space of a lens that may be shifted; depth is left out."""
    if perspective:
        return np.array(
            [[1 / tan_x, 0, shift[0], 0], [0, 1 / tan_y, shift[1], 0], [0, 0, -1, -0.02], [0, 0, -1, 0]]
        )
    return np.array([[1 / tan_x, 0, 0, shift[0]], [0, 1 / tan_y, 0, shift[1]], [0, 0, -1, 0], [0, 0, 0, 1]])


def seen(points, eye, axes, window):
    """Return where points fall, -1 to 1, and their depth in front of the eye."""
    own = (np.asarray(points) - eye) @ np.asarray(axes).T * [1, 1, -1]
    clip = np.column_stack([own, np.ones(len(own))]) @ window.T
    return clip[:, :2] / clip[:, 3:], -own[:, 2]


covers = st.tuples(st.integers(0, 200), st.integers(0, 300), st.integers(0, 100))


@given(coordinates, sizes, angles, covers, st.booleans())
def test_a_framed_box_fills_the_free_part(low, size, turn, covered, perspective):
    region, axes = Region(1200, 800, *covered), turned(turn)
    left, right, top = covered
    box = np.array(low), np.array(low) + size
    lens = Lens.of(window_of(0.5, 0.5 * 800 / 1200), perspective, 1.0)
    location, distance = framed(box, axes, lens, region)
    # Without perspective Blender shows the more, the farther away it is.
    tangents = np.multiply(lens.tangents, distance)
    window = lens.window if perspective else window_of(*tangents, perspective=False)
    at, depth = seen(corners(*box), location - distance * axes[2], axes, window)
    if perspective:
        assert (depth > 0).all()
    pixels = (at + 1) / 2 * [1200, 800]
    low_x, low_y = pixels.min(axis=0)
    high_x, high_y = pixels.max(axis=0)
    assert low_x >= left - 1e-6
    assert high_x <= 1200 - right + 1e-6
    assert low_y >= -1e-6
    assert high_y <= 800 - top + 1e-6
    if not perspective:
        filled = (high_x - low_x) / (1200 - left - right), (high_y - low_y) / (800 - top)
        assert max(filled) == pytest.approx(0.8)
        assert (low_x + high_x) / 2 == pytest.approx((left + 1200 - right) / 2, abs=1e-6)


shifts = st.tuples(*[st.floats(-0.5, 0.5)] * 2)


@given(coordinates, angles, shifts, st.floats(0.2, 40), st.tuples(*[st.floats(-3, 3)] * 2), st.booleans())
def test_what_lies_at_the_depth_of_the_focus_stays_in_place(eye, turn, shift, depth, beside, perspective):
    axes = turned(turn)
    lens = Lens.of(window_of(0.4, 0.3, shift, perspective), perspective, 1.0)
    focus = np.array(eye) + depth * axes[2]
    point = focus + beside[0] * axes[0] + beside[1] * axes[1]
    location, distance, _ = without_camera(eye, axes, lens, focus)
    plain = window_of(0.4, 0.3, perspective=perspective)
    before, _ = seen([point], np.array(eye), axes, lens.window)
    after, _ = seen([point], location - distance * axes[2], axes, plain)
    assert distance == pytest.approx(depth)
    assert np.allclose(after, before, atol=1e-6)


def test_the_lens_is_one_that_blender_has():
    def millimetres(tangent):
        lens = Lens.of(window_of(tangent, tangent), True, 1.0)
        return without_camera((0, 0, 0), np.eye(3), lens, (0, 0, 5))[2]

    assert millimetres(0.5) == pytest.approx(72)
    assert (millimetres(1e-3), millimetres(1e3)) == (250, 1)


spans = st.none() | st.tuples(st.floats(-60, 60), st.floats(-60, 60))


@given(st.lists(st.tuples(coordinates, sizes), min_size=1, max_size=6), spans)
def test_the_part_within_a_span(boxes, span):
    low, size = (np.array([box[i] for box in boxes]) for i in (0, 1))
    high = low + size
    before = low.copy()
    own, other = part_within(low, high, span, 0.15)
    assert (low == before).all()
    if span is None:
        assert (own == low).all()
        assert (other == high).all()
        return
    left, right = min(span), max(span)
    wanted = [i for i in range(len(low)) if high[i, 0] >= left and low[i, 0] <= right]
    assert (own[:, 1:] == low[wanted, 1:]).all()
    assert (other[:, 1:] == high[wanted, 1:]).all()
    widest = 0.15 * (high[:, 0].max() - low[:, 0].min())
    assert np.allclose(own[:, 0] + other[:, 0], left + right)
    assert np.allclose(other[:, 0] - own[:, 0], max(right - left, widest))


def test_nothing_is_part_of_nothing():
    none = np.empty((0, 3))
    assert [len(part) for part in part_within(none, none, (0, 1), 0.15)] == [0, 0]
