"""What a 3D view's pixels show: rays and pixels against each other, and what is in sight against samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.layout.sight import view_projection
from tracevis3d.layout.sight.view_projection import ViewProjection, share_in_sight, whole_in_sight

WIDTH, HEIGHT = 1200, 800


def perspective(eye, target, lens=2.0):
    """Return the projection of a view from an eye to a target, as Blender's 3D view has it."""
    eye, target = np.asarray(eye, float), np.asarray(target, float)
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross([0, 0, 1.0], back)
    right /= np.linalg.norm(right)
    pose = np.eye(4)
    pose[:3, 0], pose[:3, 1], pose[:3, 2], pose[:3, 3] = right, np.cross(back, right), back, eye
    near, far = 0.1, 1000.0
    depth = -(far + near) / (far - near), -2 * far * near / (far - near)
    window = [[lens, 0, 0, 0], [0, lens * WIDTH / HEIGHT, 0, 0], [0, 0, *depth], [0, 0, -1, 0]]
    return ViewProjection.of(np.array(window) @ np.linalg.inv(pose), WIDTH, HEIGHT)


def flat_on(scale=10.0):
    """Return an orthographic view along y that shows ``scale`` units to either side."""
    aspect = WIDTH / HEIGHT
    matrix = [[1 / scale, 0, 0, 0], [0, 0, aspect / scale, 0], [0, 0.01, 0, 0], [0, 0, 0, 1]]
    return ViewProjection.of(matrix, WIDTH, HEIGHT)


pixels = st.tuples(st.floats(0, WIDTH), st.floats(0, HEIGHT))
views = st.sampled_from([perspective((0, -9, 4), (1, 0, 0)), perspective((5, 3, 1), (0, 0, 2)), flat_on()])


@given(views, pixels, st.floats(0.5, 50))
def test_a_ray_passes_all_points_that_fall_on_its_pixel(view, pixel, distance):
    ray = view.ray(*pixel, 4.0)
    assert np.allclose(view.pixels([ray.at(distance)])[0], pixel, atol=1e-3)


@given(views, pixels, st.floats(1, 50))
def test_a_ray_is_as_thick_as_pixels_everywhere(view, pixel, distance):
    ray = view.ray(*pixel, 4.0)
    thick = ray.radius + ray.growth * distance
    beside = view.ray(pixel[0] + 4, pixel[1], 4.0)
    apart = beside.origin - ray.at(distance)
    # Where the ray four pixels on crosses the plane through the point.
    along = -(apart @ ray.direction) / (beside.direction @ ray.direction)
    wide = np.linalg.norm(beside.at(along) - ray.at(distance))
    assert thick == pytest.approx(wide, rel=0.25)


def test_what_is_behind_the_eye_falls_nowhere():
    view = perspective((0, -9, 0), (0, 0, 0))
    assert np.isnan(view.pixels([(0, -12, 0)])).all()
    assert view.pixels_in_front([(0, 0, 0), (0, -12, 0)]) is None
    assert np.allclose(view.pixels_in_front([(0, 0, 0)]), [[WIDTH / 2, HEIGHT / 2]])


corners = st.tuples(*[st.floats(-3, 3)] * 4)


@given(st.lists(st.tuples(corners, corners), min_size=1, max_size=5))
def test_the_share_in_sight_is_that_of_samples(lines):
    start, end = (np.array([line[i] for line in lines]) for i in (0, 1))
    found = share_in_sight(start, end)
    for k in range(len(lines)):
        for share in np.linspace(0, 1, 41):
            x, y, _, w = start[k] + share * (end[k] - start[k])
            slack = w - max(abs(x), abs(y), 1e-9)
            inside = found[k, 0] <= share <= found[k, 1] and found[k, 0] < found[k, 1]
            if abs(slack) > 1e-6:
                assert inside == (slack > 0), (lines[k], share)


def test_lines_in_sight():
    start = np.array([[-2.0, 0, 0, 1], [5, 5, 0, 1], [0, 0, 0, -1]])
    end = np.array([[2.0, 0, 0, 1], [9, 5, 0, 1], [0, 0, 0, 1]])
    share = share_in_sight(start, end)
    assert np.allclose(share[0], (0.25, 0.75))
    assert share[1, 0] >= share[1, 1]
    assert 0.49 < share[2, 0] < 0.51


@given(st.floats(-30, 25), st.floats(0.5, 40))
def test_what_is_seen_of_a_wall(left, wide):
    view, scale = flat_on(), 10.0
    found = view.x_in_sight([[left, 0, -1]], [[wide, 1, 2]])
    first, last = max(left, -scale), min(left + wide, scale)
    if last - first < 1e-9:
        assert found is None or found[1] - found[0] < 1e-6
        return
    assert found[:2] == pytest.approx((first, last), abs=1e-6)
    assert found[2] == pytest.approx(WIDTH / 2 / scale) or (last - first) * WIDTH / 2 / scale <= 1.001


def test_boxes_out_of_sight_and_boxes_of_less_than_a_pixel():
    view = flat_on()
    assert view.x_in_sight([[50, 0, 0]], [[1, 1, 1]]) is None
    narrow = view.x_in_sight([[0, 0, 0]], [[0.001, 1, 1]])
    assert narrow == pytest.approx((0, 0.001, 0))
    assert whole_in_sight([narrow, None]) is None
    wide = view.x_in_sight([[2, 0, 0]], [[1, 1, 1]])
    assert whole_in_sight([narrow, wide, None]) == pytest.approx((0, 3, 60))
    assert whole_in_sight([]) is None


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_of_many_boxes_the_widest_are_looked_at(seed):
    rng = np.random.default_rng(seed)
    low, size = rng.uniform(-5, 5, (40, 3)), rng.uniform(0.1, 1, (40, 3))
    size[7:12, 0] = 3 + rng.random(5)
    view, most = flat_on(), view_projection.MOST_LOOKED_AT
    try:
        view_projection.MOST_LOOKED_AT = 5
        found = view.x_in_sight(low, size)
    finally:
        view_projection.MOST_LOOKED_AT = most
    assert found == view.x_in_sight(low[7:12], size[7:12])
