"""Trees in hyperbolic space, against plain matrices; navigation changes no distance."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.call_tree.test_cone_bubble import tree
from tracevis3d.features.call_tree.cone.layouts import hyperbolic as h


def product(a, b) -> float:
    return float(a[3] * b[3] - a[:3] @ b[:3])


def plain_places(t: h.Tree) -> np.ndarray:
    """Each node's matrix as the product of the textbook's ones, from the root down."""

    def about_z(a):
        m = np.eye(4)
        m[0, :2], m[1, :2] = (math.cos(a), -math.sin(a)), (math.sin(a), math.cos(a))
        return m

    def about_y(a):
        m = np.eye(4)
        m[0, [0, 2]], m[2, [0, 2]] = (math.cos(a), math.sin(a)), (-math.sin(a), math.cos(a))
        return m

    def along_z(d):
        m = np.eye(4)
        m[2, 2:], m[3, 2:] = (math.cosh(d), math.sinh(d)), (math.sinh(d), math.cosh(d))
        return m

    found: list[np.ndarray] = []
    for i, p in enumerate(t.parent.tolist()):
        step = about_z(t.theta[i]) @ about_y(t.phi[i]) @ along_z(t.distance[i])
        found.append(np.eye(4) if p < 0 else found[p] @ step)
    return np.array([m @ [0, 0, 0, 1] for m in found])


@given(st.integers(0, 2**32), st.integers(1, 80))
@settings(deadline=None, max_examples=100)
def test_the_layout(seed, n) -> None:
    parent, own = tree(seed, n)
    own = own * 0.1
    t = h.lay(parent, own)
    size = np.ones(n)
    for i in range(n - 1, 0, -1):
        size[parent[i]] += size[i]
    reach = np.where([(parent == i).any() for i in range(n)], 0.0, own)
    for i in range(n):
        below = np.flatnonzero(parent == i)
        if not len(below):
            continue
        # All at one distance, on the hemisphere away from the caller.
        reach[i] = t.distance[below[0]]
        assert (t.distance[below] == reach[i]).all()
        assert (t.phi[below] <= math.pi / 2).all()
        # A child and its parent don't touch, and the hemisphere has room for the discs.
        assert reach[i] > own[i] + own[below].max()
    for i in range(n):
        below = np.flatnonzero(parent == i)
        if not len(below):
            continue
        # 2 pi sinh^2 >= the sum of 2 pi (cosh - 1).
        assert math.sinh(reach[i]) ** 2 >= sum(math.cosh(reach[j]) - 1 for j in below) * (1 - 1e-9)
        # The discs' cones don't overlap.
        half = np.arctan(np.tanh(reach[below]) / math.sinh(reach[i]))
        phi, theta = t.phi[below], t.theta[below]
        way = np.stack([np.sin(phi) * np.cos(theta), np.sin(phi) * np.sin(theta), np.cos(phi)], axis=1)
        angle = np.arccos(np.clip(way @ way.T, -1, 1))
        room = half[:, None] + half
        for a in range(len(below)):
            for b in range(a):
                # Between neighbours of a band the formula is that of a flat sector: a little is allowed.
                assert angle[a, b] > room[a, b] * 0.9


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(0, 10**6), st.floats(0, 1))
@settings(deadline=None, max_examples=100)
def test_navigation_changes_no_distance(seed, n, focus, share) -> None:
    parent, own = tree(seed, n)
    t = h.lay(parent, own * 0.05)
    start = h.place(t)
    near = start[:, 3] < 1e4  # float64 keeps few digits of differences farther out
    assert start[near] == pytest.approx(plain_places(t)[near], rel=1e-6, abs=1e-6)
    focus %= n
    moved = h.place(t, focus)
    assert moved[focus] == pytest.approx([0, 0, 0, 1])
    by_boost = start @ h.boost(start[focus]).T
    points = [p for p in range(n) if near[p] and moved[p, 3] < 1e4 and start[focus, 3] < 1e2]
    for i in points:
        # All are on the hyperboloid and inside the ball.
        assert moved[i, 3] ** 2 - (moved[i, :3] ** 2).sum() == pytest.approx(1, abs=1e-5 * moved[i, 3] ** 2)
        for j in points[:12]:
            expected, digits = product(start[i], start[j]), 1e-4 * start[i, 3] * start[j, 3]
            for other in (moved, by_boost):
                assert product(other[i], other[j]) == pytest.approx(expected, rel=1e-3, abs=digits)
    assert (np.linalg.norm(h.ball(moved), axis=1) <= 1).all()
    # On the way there everything is a matrix, too.
    way = h.between(np.array([0, 0, 0, 1.0]), start[focus], share)
    assert way[3] ** 2 - (way[:3] ** 2).sum() == pytest.approx(1, rel=1e-6, abs=1e-6 * way[3] ** 2)
    matrix = h.boost(way)
    flat = np.diag([1.0, 1.0, 1.0, -1.0])
    assert matrix.T @ flat @ matrix == pytest.approx(flat, abs=1e-8 * way[3] ** 2)
    assert matrix @ way == pytest.approx([0, 0, 0, 1], abs=1e-8 * way[3] ** 2)
    if start[focus, 3] < 1e4:
        ends = h.distances(np.array([[0, 0, 0, 1.0]]), start[focus][None])
        part = h.distances(np.array([[0, 0, 0, 1.0]]), way[None])
        assert part == pytest.approx(share * ends, abs=1e-4)


def test_a_focus_deep_down_is_exact() -> None:
    """However far the root is, what surrounds the focus is as near as it would be without all above."""
    chain = np.arange(-1, 4_999)
    t = h.lay(chain, np.full(5_000, 0.1))
    seen = h.place(t, 4_000)
    assert np.isfinite(seen).all()
    assert h.distances(seen[[4_000]], seen[[4_001]]) == pytest.approx(t.distance[4_001])
    assert h.distances(seen[[3_999]], seen[[4_001]]) == pytest.approx(t.distance[4_000] + t.distance[4_001])
    assert (np.linalg.norm(h.ball(seen), axis=1) <= 1).all()
    assert h.ball(seen)[4_001, 2] > 0 > h.ball(seen)[3_999, 2]


def test_a_wide_fan() -> None:
    t = h.lay(np.append(-1, np.zeros(30_000, np.int64)), np.full(30_001, 0.1))
    assert (t.phi <= math.pi / 2).all()
    assert len(np.unique(np.round(np.column_stack([t.phi, t.theta])[1:], 9), axis=0)) == 30_000


def test_two_trees_are_seen_one_at_a_time() -> None:
    t = h.lay(np.array([-1, -1, 0, 1]), np.full(4, 0.2))
    seen = h.place(t, 2)
    assert np.isnan(seen[[1, 3]]).all()
    assert np.isfinite(seen[[0, 2]]).all()
