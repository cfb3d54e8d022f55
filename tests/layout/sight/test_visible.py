"""What is in front, pixel by pixel, against a plain loop; and how much of what is highlighted can be seen."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.kernels.layout.visible import draw_triangles
from tracevis3d.layout.sight import visible
from tracevis3d.layout.sight.affine import corners
from tracevis3d.layout.sight.framing import Lens, Region
from tracevis3d.layout.sight.view_projection import ViewProjection
from tracevis3d.layout.sight.visible import (
    Surfaces,
    axes_from,
    best_direction,
    beyond,
    directions,
    visible_share,
)

places = st.tuples(st.integers(-4, 20), st.integers(-4, 14), st.integers(0, 6))


@given(st.lists(st.tuples(places, places, places), max_size=8))
@settings(deadline=None)
def test_the_nearest_triangle_is_in_front(triangles):
    width, height = 16, 10
    # Corners beside the pixels' middles, so that no edge runs through one.
    points = np.array([c for t in triangles for c in t], np.float32).reshape(-1, 3) * (1.0, 1.0, 0.1) + (
        0.27,
        0.31,
        0,
    )
    depth = np.full(width * height, np.inf, np.float32)
    front = np.full(width * height, -1, np.int32)
    draw_triangles(
        points.astype(np.float32).reshape(-1), np.arange(3 * len(triangles), dtype=np.int32),
        np.arange(len(triangles), dtype=np.int32), np.int64(width), np.int64(height), depth, front,
    )  # fmt: skip
    got = front.reshape(height, width)
    for y in range(height):
        for x in range(width):
            found = []
            for i in range(len(triangles)):
                a, b, c = points[3 * i : 3 * i + 3]
                area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
                if abs(area) < 1e-9:
                    continue
                px, py = x + 0.5, y + 0.5
                u = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) / area
                v = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) / area
                if min(u, v, 1 - u - v) > 1e-4:
                    found.append((u * a[2] + v * b[2] + (1 - u - v) * c[2], i))
            if found:
                nearest = min(found)[0]
                owner = got[y, x]
                assert owner >= 0
                # Thin triangles are drawn too, where no pixel's middle is met: they may be nearer.
                here = [z for z, i in found if i == owner]
                assert not here or here[0] <= nearest + 1e-4


def block(low, high, lit):
    order = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in order for t in ((a, b, c), (a, c, d))]
    points = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    return points, triangles, lit


def looking_along_y(width=400, height=400):
    """Return an orthographic view of the x-z plane, 10 units each way, from y = -10."""
    matrix = np.array([[0.1, 0, 0, 0], [0, 0, 0.1, 0], [0, 0.05, 0, 0], [0, 0, 0, 1]])
    return ViewProjection.of(matrix, width, height)


flat = st.tuples(*[st.floats(-12, 12, width=16)] * 3)


@given(st.lists(st.tuples(flat, flat, flat, st.booleans()), max_size=12), st.booleans())
@settings(deadline=None)
def test_what_reaches_no_lit_pixel_is_left_out_and_changes_nothing(triangles, perspective):
    points = np.array([c for *t, _ in triangles for c in t], np.float64).reshape(-1, 3)
    order = np.arange(3 * len(triangles), dtype=np.int32).reshape(-1, 3)
    lit = np.array([is_lit for *_, is_lit in triangles], np.bool_)
    matrix = looking_along_y().matrix.copy()
    matrix[3] = [0, 0.1 * perspective, 0, 1]
    view = ViewProjection.of(matrix, 48, 32)
    clip = np.column_stack([points, np.ones(len(points))]) @ matrix.T
    # All of them, those that are lit last.
    both = visible._drawn(clip, order, lit.astype(np.int32), view)
    alone = visible._drawn(clip, order[lit], np.ones(lit.sum(), np.int32), view)
    wanted = int((both == 1).sum()), int((alone == 1).sum())
    assert visible._seen(Surfaces(points, order, lit), view) == wanted


solid = st.tuples(*[st.tuples(st.floats(-12, 12, width=16), st.floats(0.125, 5, width=16))] * 3)


@given(st.lists(solid, max_size=8), solid, st.booleans())
@settings(max_examples=60, deadline=None)
def test_what_lies_beyond_a_plane_hides_nothing(others, shown, in_perspective):
    matrix = looking_along_y().matrix.copy()
    matrix[3] = [0, 0.1 * in_perspective, 0, 1]
    view = ViewProjection.of(matrix, 480, 320)
    lit, *rest = [
        block(*zip(*((low, low + size) for low, size in one)), i == 0)
        for i, one in enumerate([shown, *others])
    ]
    planes = beyond(Surfaces.joined([lit]), view)
    wanted = visible_share(Surfaces.joined([*rest, lit]), view)
    if planes is None:
        assert wanted is None
        return
    corners = [np.column_stack([np.array(points), np.ones(8)]) for points, _, _ in rest]
    kept = [one for one, at in zip(rest, corners) if not (at @ planes.T > 0).all(axis=0).any()]
    assert visible_share(Surfaces.joined([*kept, lit]), view) == wanted


@pytest.mark.parametrize(("left", "wanted"), [(-9.0, 1.0), (-2.0, 0.5), (-4.0, 0.0), (0.0, 1.0)])
def test_the_share_that_is_seen(left, wanted):
    """A lit square from -4 to 0, and one in front of it that begins at ``left``, 4 wide."""
    lit = block((-4, 2, -2), (0, 3, 2), True)
    before = block((left, -3, -2.1), (left + 4.0, -2, 2.1), False)
    share = visible_share(Surfaces.joined([before, lit]), looking_along_y())
    assert share == pytest.approx(wanted, abs=0.02)


def test_out_of_the_picture_nothing_is_measured():
    assert visible_share(Surfaces.joined([block((50, 0, 0), (51, 1, 1), True)]), looking_along_y()) is None
    assert visible_share(Surfaces.joined([]), looking_along_y()) is None


def test_what_is_thinner_than_a_pixel_counts():
    thin = block((-4, 2, 0), (4, 2.0001, 0.0001), True)
    assert visible_share(Surfaces.joined([thin]), looking_along_y()) == 1.0


def test_one_looks_from_behind_what_hides():
    lit = block((-1, 0, 0), (1, 1, 2), True)
    wall = block((-30, -0.6, -1), (30, -0.5, 30), False)
    surfaces = Surfaces.joined([wall, lit])
    lens = Lens.of(perspective(), True, 10.0)
    now = axes_from((0.0, -1.0, 0.1))
    box = np.array([-1.0, 0, 0]), np.array([1.0, 1, 2])
    axes, share = best_direction(surfaces, box, lens, Region(800, 600), now)
    assert share > 0.95
    assert axes[2] @ [0.0, 1.0, 0.0] < 0.5, "it still looks through the wall"
    # Where nothing hides it the view stays, unless another one shows more of it.
    free, all_of_it = best_direction(Surfaces.joined([lit]), box, lens, Region(800, 600), now)
    assert all_of_it == 1.0
    assert np.allclose(free @ free.T, np.eye(3), atol=1e-9)


def perspective(near=0.1, far=1000.0, tangent=0.5):
    matrix = np.zeros((4, 4))
    matrix[0, 0], matrix[1, 1] = 1 / tangent, 4 / 3 / tangent
    matrix[2, 2], matrix[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
    matrix[3, 2] = -1
    return matrix


def test_directions_are_spread_over_the_upper_half():
    found = directions()
    assert np.allclose(np.linalg.norm(found, axis=1), 1)
    assert found[:, 2].min() > -0.1
    nearest = [np.sort(found @ each)[-2] for each in found]
    assert math.degrees(math.acos(min(nearest))) < 40
    for each in found:
        right, up, forward = axes_from(each)
        assert right[2] == 0
        assert np.allclose(forward, -each)
        assert np.allclose(np.cross(right, forward), up)


def test_corners_of_a_box_are_in_the_picture():
    low, high = np.zeros(3), np.array([3.0, 1.0, 2.0])
    assert len(corners(low, high)) == 8
