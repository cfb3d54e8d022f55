"""The map of a scene: where points fall on it and back, and what of an outline lies on it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout.sight.minimap import Minimap, footprint
from tracevis3d.layout.sight.view_projection import ViewProjection

number = st.floats(-50, 50)
sizes = st.tuples(*[st.floats(0.1, 40)] * 3)
points = st.tuples(number, number, number)


def made(low, size):
    box = np.array(low), np.array(low) + size
    return Minimap.of(box, (1000.0, 20.0), (240.0, 140.0)), box


@given(points, sizes, st.tuples(*[st.floats(0, 1)] * 3))
def test_a_place_on_the_map_is_a_place_in_the_scene(low, size, share):
    found, box = made(low, size)
    left, bottom, right, top = found.box
    assert right == 1000.0
    assert bottom == 20.0
    assert 0 < right - left <= 240.0 + 1e-9
    assert 0 < top - bottom <= 140.0 + 1e-9
    assert found.up == (2 if np.subtract(*box[::-1])[2] >= np.subtract(*box[::-1])[1] else 1)
    point = box[0] + np.array(share) * size
    x, y = found.pixels(point)
    assert left - 1e-6 <= x <= right + 1e-6
    assert bottom - 1e-6 <= y <= top + 1e-6
    np.testing.assert_allclose(found.point(x, y, point), point, atol=1e-6)


@given(points, sizes, st.lists(st.tuples(points, sizes), min_size=1, max_size=9))
def test_boxes_lie_on_the_map(low, size, boxes):
    found, _ = made(low, size)
    first = np.array([begin for begin, _ in boxes])
    last = first + np.array([long for _, long in boxes])
    corners = found.rectangles(first, last)
    assert (corners >= found.box[:2]).all()
    assert (corners <= found.box[2:]).all()
    for i, (a, b) in enumerate(zip(found.pixels(first), found.pixels(last))):
        wanted = np.clip([a, np.maximum(b, a + 1.0)], found.box[:2], found.box[2:])
        np.testing.assert_allclose(corners[i].min(axis=0), wanted[0])
        np.testing.assert_allclose(corners[i].max(axis=0), wanted[1])


@given(points, st.floats(1, 30), st.floats(1, 30), st.floats(0, 7), st.floats(0, 1), st.floats(0, 1))
def test_of_an_outline_the_part_on_the_map(middle, wide, high, turn, u, v):
    found, _ = made((-20.0, 0.0, -10.0), (40.0, 1.0, 20.0))
    angle = turn + np.arange(4) * np.pi / 2
    outline = np.stack(
        [middle[0] + wide * np.cos(angle), 0 * angle, middle[2] + high * np.sin(angle)], axis=1
    )
    clipped = found.outline(outline)
    left, bottom, right, top = found.box
    at = np.array([left + u * (right - left), bottom + v * (top - bottom)])

    def inside(corners):
        after = np.roll(corners, -1, axis=0)
        side = np.cross(after - corners, at - corners)
        return abs(side).min() > 1e-3, bool((side > 0).all())

    sure, wanted = inside(found.pixels(outline))
    if not sure:
        return
    if len(clipped) < 3:
        assert not wanted
        return
    sure, got = inside(clipped)
    if sure:
        assert got == wanted


def test_the_footprint_of_a_view_from_the_front():
    # 60 degrees across, 8 units before the plane that it is about.
    near, far, slope = 0.1, 100.0, np.sqrt(3.0)
    lens = np.zeros((4, 4))
    lens[0, 0], lens[1, 1], lens[3, 2] = slope, slope, -1.0
    lens[2, 2], lens[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
    look = np.array([[1, 0, 0, -3], [0, 0, 1, -4], [0, -1, 0, -8], [0, 0, 0, 1]], float)
    view = ViewProjection.of(lens @ look, 400, 400)
    corners = footprint(view, (3.0, 0.0, 4.0), (0.0, 1.0, 0.0))
    np.testing.assert_allclose(corners[:, 1], 0.0, atol=1e-6)
    np.testing.assert_allclose(corners[:, 0], 3 + 8 / slope * np.array([-1, 1, 1, -1]), atol=1e-5)
    np.testing.assert_allclose(corners[:, 2], 4 + 8 / slope * np.array([-1, -1, 1, 1]), atol=1e-5)
