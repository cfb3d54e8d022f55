"""Picking against a plain twin that tries every element."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.layout.sight.picking import BoxPicker, DiscPicker, Ray, TubePicker


def twin_box(low, size, ray, now=1.0, time=None):
    """Return element and distance of the first box that the line meets, by the slabs of each."""
    best = (-1, np.inf)
    for i in range(len(low)):
        a, b = low[i].astype(float), low[i].astype(float) + size[i]
        if time is not None and now < 1:
            if time[i, 0] > now:
                continue
            lasts = time[i, 1] - time[i, 0]
            if lasts > 0:
                b[0] = a[0] + size[i, 0] * min((now - time[i, 0]) / lasts, 1)
        enter, leave = ray.near, np.inf
        for axis in range(3):
            o, d = ray.origin[axis], ray.direction[axis]
            if abs(d) < 1e-12:
                if not a[axis] <= o <= b[axis]:
                    leave = -np.inf
                continue
            s, t = sorted(((a[axis] - o) / d, (b[axis] - o) / d))
            enter, leave = max(enter, s), min(leave, t)
        if enter <= leave and enter < best[1]:
            best = (i, enter)
    return best


def rays(rng, n):
    """Return rays from outside towards points of the unit cube, some along an axis."""
    for i in range(n):
        origin = rng.normal(size=3) * 4
        target = rng.random(3)
        if i % 5 == 0:
            axis = i % 3
            origin = target.copy()
            origin[axis] = -3.0
        yield Ray.of(origin, target - origin)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 300), st.integers(0, 10_000), st.booleans())
def test_boxes_are_met_as_by_the_twin(n, seed, timed):
    rng = np.random.default_rng(seed)
    low = rng.random((n, 3)).astype(np.float32)
    size = (rng.random((n, 3)) * rng.choice([0.0, 0.02, 0.2], (n, 1))).astype(np.float32)
    time = np.sort(rng.random((n, 2)), axis=1).astype(np.float32) if timed else None
    now = float(rng.random()) if timed else 1.0
    picker = BoxPicker(low, size, time)
    for ray in rays(rng, 20):
        wanted, distance = twin_box(low, size, ray, now, time)
        met = picker.pick(ray, now)
        if wanted < 0:
            assert met is None
        else:
            assert met is not None
            assert met.distance == pytest.approx(distance, rel=1e-6, abs=1e-6)
            assert met.element == wanted or twin_box(
                low[met.element : met.element + 1], size[met.element : met.element + 1], ray,
                now, None if time is None else time[met.element : met.element + 1],
            )[1] == pytest.approx(distance, abs=1e-6)  # fmt: skip


def twin_disc(low, size, axis, ray, step=0.002):
    """Return about where the line is first in a disc: by trying points along it."""
    t = np.arange(0, 12, step)
    points = ray.origin + t[:, None] * ray.direction
    middle = low + size / 2
    share = 2 * (points - middle) / size
    flat = np.delete(share, axis, axis=1)
    inside = (np.abs(share[:, axis]) <= 1) & ((flat**2).sum(axis=1) <= 1)
    return float(t[np.argmax(inside)]) if inside.any() else np.inf


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(0, 10_000), st.sampled_from((0, 1, 2)))
def test_discs_are_met_where_their_surface_is(n, seed, axis):
    rng = np.random.default_rng(seed)
    low = rng.random((n, 3)).astype(np.float32)
    size = (rng.random((n, 3)) * 0.6 + 0.05).astype(np.float32)
    picker = DiscPicker(low, size, axis)
    for ray in rays(rng, 5):
        wanted = [twin_disc(a, b, axis, ray) for a, b in zip(low.astype(float), size, strict=True)]
        met = picker.pick(ray)
        if met is None:
            assert min(wanted) == np.inf
        else:
            assert met.distance <= min(wanted) + 1e-6
            # The twin's steps may pass over the edge of a disc.
            exact = twin_disc(low[met.element].astype(float), size[met.element], axis, ray, 0.0002)
            assert exact == np.inf or met.distance == pytest.approx(exact, abs=0.0005)
            if exact == np.inf:
                at = ray.at(met.distance + 1e-9)
                share = 2 * (at - low[met.element] - size[met.element] / 2) / size[met.element]
                assert (np.delete(share, axis) ** 2).sum() <= 1 + 1e-3


def test_a_wide_floor_covers_nothing_that_stands_on_it():
    floor = DiscPicker(np.array([[-7, -7, -0.003]], np.float32), np.array([[14, 14, 0.003]], np.float32), 2)
    met = floor.pick(Ray.of((0, -3, 0.9), (0, 1, -0.26), growth=0.002))
    assert met.distance == pytest.approx(0.9 / 0.26 * np.hypot(1, 0.26), rel=0.02)
    assert floor.pick(Ray.of((0, -8, 0.9), (0, -1, -0.26))) is None


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(0, 10_000))
def test_tubes_are_met_where_the_line_passes_within_their_silhouette(n, seed):
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 6, n)
    first = np.concatenate([[0], np.cumsum(count)])
    middle = rng.random((int(first[-1]), 3)).astype(np.float32)
    across = (rng.normal(size=(len(middle), 6)) * 0.04).astype(np.float32)
    picker = TubePicker(middle, across, first)
    for ray in rays(rng, 10):
        over = [beyond(middle[a:b], across[a:b], ray) for a, b in pairwise(first.tolist())]
        met = picker.pick(ray)
        if met is None:
            near = [meets_bounds(middle[a:b], across[a:b], ray) for a, b in pairwise(first.tolist())]
            assert min((o for o, is_near in zip(over, near, strict=True) if is_near), default=1.0) > -1e-3
        else:
            assert over[met.element] < 1e-3


def meets_bounds(middle, across, ray):
    """Return whether a line meets the box around a tube: beside its ends a silhouette reaches beyond that."""
    reach = np.abs(across[:, :3]) + np.abs(across[:, 3:])
    low, high = (middle - reach).min(axis=0), (middle + reach).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.sort([(low - ray.origin) / ray.direction, (high - ray.origin) / ray.direction], axis=0)
    return bool(np.nanmax(t[0]) <= np.nanmin(t[1]))


def beyond(middle, across, ray):
    """Return by how much a line misses a tube's silhouette where it is nearest to its axis."""
    least = np.inf
    pieces = [(0, 0)] if len(middle) == 1 else list(pairwise(range(len(middle))))
    for a, b in pieces:
        # Across the line the axis is a stretch of a straight line, too.
        start, step = (
            v - (v @ ray.direction) * ray.direction
            for v in (middle[a] - ray.origin, middle[b].astype(float) - middle[a])
        )
        length = float(step @ step)
        t = min(max(-float(start @ step) / length, 0.0), 1.0) if length > 0 else 0.0
        offset = start + t * step
        axes = (across[a] + t * (across[b].astype(float) - across[a])).reshape(2, 3)
        far = float(np.linalg.norm(offset))
        toward = offset / max(far, 1e-12)
        least = min(least, far - float(np.linalg.norm(axes @ toward)))
    return least


def test_a_flat_tube_is_as_wide_as_it_looks():
    middle = np.array([[-1, 0, 0], [1, 0, 0]], np.float32)
    across = np.zeros((2, 6), np.float32)
    across[:, 1], across[:, 5] = 0.5, 0.01  # half a unit along y, a hundredth along z
    picker = TubePicker(middle, across, np.array([0, 2]))
    above = lambda y: picker.pick(Ray.of((0, y, 5), (0, 0, -1)))  # noqa: E731
    beside = lambda z: picker.pick(Ray.of((0, 5, z), (0, -1, 0)))  # noqa: E731
    assert above(0.49) is not None
    assert above(0.51) is None
    assert beside(0.009) is not None
    assert beside(0.02) is None


def test_what_is_thin_is_met_within_the_rays_radius_and_what_is_hit_counts_first():
    low = np.array([[0, 0, 0], [2, 0, 0]], np.float32)
    size = np.array([[1, 1, 1], [0, 1, 1]], np.float32)
    picker = BoxPicker(low, size)
    assert picker.pick(Ray.of((2.01, -5, 0.5), (0, 1, 0))) is None
    met = picker.pick(Ray.of((2.01, -5, 0.5), (0, 1, 0), growth=0.01))
    assert met is not None
    assert met.element == 1
    # Beside the first and on it: hit counts.
    near = np.array([[0, 0, 0], [0.5, -0.5, 0]], np.float32)
    picker = BoxPicker(near, np.array([[1, 1, 1], [0, 0.1, 1]], np.float32))
    met = picker.pick(Ray.of((0.52, -5, 0.5), (0, 1, 0), radius=0.1))
    assert met is not None
    assert met.element == 0


def test_nothing_is_met_in_nothing_nor_behind():
    none = np.empty((0, 3), np.float32)
    assert BoxPicker(none, none).pick(Ray.of((0, 0, 0), (1, 0, 0))) is None
    assert TubePicker(none, np.empty((0, 6), np.float32), np.zeros(1, np.int64)).pick(
        Ray.of((0, 0, 0), (1, 0, 0))
    ) is None  # fmt: skip
    box = BoxPicker(np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32))
    assert box.pick(Ray.of((5, 0.5, 0.5), (1, 0, 0))) is None
    assert box.pick(Ray.of((-5, 0.5, 0.5), (1, 0, 0)), farthest=4.9) is None


def test_any_order_gives_the_same():
    rng = np.random.default_rng(3)
    n = 200_000
    low = (rng.random((n, 3)) * [16, 0.1, 6]).astype(np.float32)
    size = np.full((n, 3), 0.01, np.float32)
    order = rng.permutation(n)
    one, other = BoxPicker(low, size), BoxPicker(low[order], size[order])
    hits = 0
    for _ in range(200):
        ray = Ray.of(rng.random(3) * [16, 0, 6] - [0, 9, 0], (0.02, 1, 0.01))
        a, b = one.pick(ray), other.pick(ray)
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            hits += 1
            assert a.distance == b.distance
            assert a.element == order[b.element] or a.distance == b.distance
    assert hits > 20


@given(st.integers(0, 10_000))
def test_a_ray_in_an_objects_coordinates_passes_the_same_points(seed):
    rng = np.random.default_rng(seed)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rng.normal(size=(3, 3)) + 4 * np.eye(3), rng.normal(size=3)
    ray = Ray.of(rng.normal(size=3), rng.normal(size=3), 0.1, 0.01, 2.0)
    own, scale = ray.within(matrix)
    point = (matrix @ [*own.at(3.0 * scale), 1.0])[:3]
    assert np.allclose(point, ray.at(3.0))
    assert np.linalg.norm(own.direction) == pytest.approx(1)
    assert (own.radius, own.near, own.growth) == pytest.approx((0.1 * scale, 2.0 * scale, 0.01))


def test_nothing_is_pointed_at_in_a_flat_object():
    assert Ray.of((0, 0, 5), (0, 0, -1)).within(np.diag([1, 1, 0, 1])) is None


@given(st.integers(0, 10_000), st.sampled_from((0, 1, 2)), st.floats(-5, 5))
def test_a_ray_crosses_a_plane_where_it_has_its_value(seed, axis, value):
    (ray,) = rays(np.random.default_rng(seed), 1)
    distance = ray.crossing(axis, value)
    if distance is None:
        assert abs(ray.direction[axis]) <= 1e-9
    else:
        assert ray.at(distance)[axis] == pytest.approx(value, abs=1e-6)
