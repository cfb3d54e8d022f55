"""Bundling: routes, control trees and tubes agree with plain slow twins of the papers' definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.features.comparison.view.geometry.control_tree import control_tree
from tracevis3d.features.comparison.view.geometry.walls import Fold
from tracevis3d.kernels.layout.bundle import attach_leaves, clamp_upwards, fold_tubes, longest_rise
from tracevis3d.layout import bundle as bundles
from tracevis3d.layout.bundle import SAMPLES, bundle, levels

SEEDS = st.integers(0, 100_000)


def random_tree(rng, n, roots=1):
    parent = np.full(n, -1, np.int32)
    for i in range(roots, n):
        parent[i] = rng.integers(max(0, i - 12), i)
    return parent


def plain_path(parent, a, b):
    """From a over the lowest common ancestor to b."""
    up = [a]
    while parent[up[-1]] >= 0:
        up.append(int(parent[up[-1]]))
    down = [b]
    while down[-1] not in up:
        down.append(int(parent[down[-1]]))
    return up[: up.index(down[-1]) + 1] + down[-2::-1], down[-1]


def plain_spline(control, u):
    """The uniform cubic B-spline through tripled ends at ``u`` of 0 to n + 1, by de Boor's recursion."""
    points = np.concatenate([[control[0]] * 2, control, [control[-1]] * 2])

    def basis(i, k):
        if k == 0:
            return float(i <= u < i + 1)
        return (u - i) / k * basis(i, k - 1) + (i + k + 1 - u) / k * basis(i + 1, k - 1)

    # Knots at the whole numbers; segment s uses points s to s + 3 at u + 3.
    u = u + 3
    return sum(basis(i, 3) * points[i] for i in range(len(points)))


@given(SEEDS, st.floats(0, 1), st.booleans(), st.sampled_from([0, 16, 64, 256]))
@settings(max_examples=50, deadline=None)
def test_routes_are_holtens(seed, beta, drop, samples):
    rng = np.random.default_rng(seed)
    parent = random_tree(rng, int(rng.integers(1, 40)))
    point = rng.normal(size=(len(parent), 3)).astype(np.float32)
    a, b = rng.integers(0, len(parent), (2, 5)).astype(np.int32)
    routes = bundle(parent, point, a, b, beta=beta, drop_common=drop, samples=samples)
    for e in range(5):
        nodes, common = plain_path(parent, int(a[e]), int(b[e]))
        if drop and len(nodes) > 3 and common not in (a[e], b[e]):
            nodes.remove(common)
        control = point[nodes].astype(np.float64)
        share = np.linspace(0, 1, len(nodes))[:, None] if len(nodes) > 1 else np.zeros((1, 1))
        control = beta * control + (1 - beta) * (control[0] + share * (control[-1] - control[0]))
        ours = routes.point[routes.first[e] : routes.first[e + 1]]
        assert len(ours) == samples or (samples == 0 and len(ours) in SAMPLES)
        place = np.linspace(0, len(nodes) + 1, len(ours))
        place[-1] -= 1e-9
        theirs = np.array([plain_spline(control, u) for u in place])
        np.testing.assert_allclose(ours, theirs, atol=3e-5)


def test_beta_0_is_straight_and_1_follows_the_tree():
    parent = np.array([-1, 0, 0, 1, 2], np.int32)
    point = np.array([[0, 4, 0], [-3, 2, 0], [3, 2, 1], [-4, 0, 0], [4, 0, 2]], np.float32)
    ends = np.array([3], np.int32), np.array([4], np.int32)
    straight = bundle(parent, point, *ends, beta=0.0).point
    along = straight[-1] - straight[0]
    off = np.cross(straight - straight[0], along)
    assert np.abs(off).max() < 1e-4
    bent = bundle(parent, point, *ends, beta=1.0).point
    np.testing.assert_allclose(bent[[0, -1]], point[[3, 4]], atol=1e-5)
    assert bent[:, 1].max() > 2.0


def test_more_samples_where_a_route_turns_more():
    n = 30
    parent = np.arange(-1, 2 * n).astype(np.int32)
    parent[n + 1] = 0
    zigzag = np.stack([np.arange(2 * n + 1), np.arange(2 * n + 1) % 2, np.zeros(2 * n + 1)], axis=1)
    straight = zigzag * [1, 0, 0]
    count = []
    for point in (zigzag, straight):
        count.append(len(bundle(parent, point.astype(np.float32), [n], [2 * n], beta=0.9).point))
    assert count[0] == SAMPLES[-1]
    assert count[1] < count[0]
    assert bundle(parent, (straight * 0).astype(np.float32), [n], [2 * n]).first[-1] == SAMPLES[0]


@pytest.mark.parametrize("wrong", [{"beta": 1.5}, {"samples": 17}, {"samples": 272}])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=r"not between|is expected"):
        bundle(np.array([-1], np.int32), np.zeros((1, 3), np.float32), [0], [0], **wrong)


@pytest.mark.parametrize("samples", [0, 32])
def test_many_edges_are_those_of_few(samples):
    rng = np.random.default_rng(3)
    parent = random_tree(rng, 300)
    point = rng.normal(size=(300, 3)).astype(np.float32)
    a, b = rng.integers(0, 300, (2, 10_007)).astype(np.int32)
    whole = bundle(parent, point, a, b, samples=samples)
    parts = [
        bundle(parent, point, a[i : i + 3000], b[i : i + 3000], samples=samples)
        for i in range(0, 10_007, 3000)
    ]
    np.testing.assert_array_equal(whole.point, np.concatenate([part.point for part in parts]))
    count = np.concatenate([np.diff(part.first) for part in parts])
    np.testing.assert_array_equal(np.diff(whole.first), count)


def test_levels_count_from_the_root():
    parent = np.array([-1, 0, 1, -1, 3, 1], np.int32)
    np.testing.assert_array_equal(levels(parent), [0, 1, 2, 0, 1, 2])


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_in_deep_trees_routes_follow_evenly_spaced_levels(seed):
    rng = np.random.default_rng(seed)
    parent = random_tree(rng, 120)
    point = rng.normal(size=(120, 3)).astype(np.float32)
    level = levels(parent)
    apart = -(-int(level.max()) // 4)
    thin = np.full(120, -1, np.int32)
    for i in range(1, 120):
        above = int(parent[i])
        while level[above] % apart:
            above = int(parent[above])
        thin[i] = above
    a, b = rng.integers(0, 120, (2, 30)).astype(np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundles, "DEEPEST", 4)
        ours = bundle(parent, point, a, b)
    np.testing.assert_array_equal(ours.point, bundle(thin, point, a, b).point)


def test_routes_in_a_tree_of_many_levels_take_no_longer_than_others():
    """A million levels were followed one by one by each of some thousand routes."""
    n = 1_000_000
    tree = np.arange(-1, n - 1, dtype=np.int32)
    point = np.zeros((n, 3), np.float32)
    point[:, 0] = np.arange(n)
    ends = np.arange(n - 1, n - 2001, -1, dtype=np.int32)
    routes = bundle(tree, point, np.zeros(2000, np.int32), ends, beta=1.0, samples=32)
    assert (np.diff(routes.point[:32, 0]) > 0).all()
    np.testing.assert_array_equal(routes.point[31::32, 0], point[ends, 0])


def preordered(rng, n):
    """A tree in pre-order: parents and subtree sizes."""
    depth = [0]
    while len(depth) < n:
        depth.append(int(rng.integers(1, depth[-1] + 2)))
    parent = np.full(n, -1, np.int32)
    for i in range(1, n):
        parent[i] = max(j for j in range(i) if depth[j] == depth[i] - 1)
    return parent, np.array(depth)


def below(parent, i):
    """All nodes below i."""
    found = []
    for j in range(len(parent)):
        k = j
        while k >= 0 and k != i:
            k = parent[k]
        if k == i and j != i:
            found.append(j)
    return found


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_clamping_is_into_the_range_of_matched_nodes_below(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    parent, _ = preordered(rng, n)
    matched, key = rng.random(n) < 0.4, rng.random(n) < 0.7
    x = rng.normal(size=n)
    slow = x.copy()
    for i in range(n - 1, -1, -1):
        ends = [slow[j] for j in below(parent, i) if matched[j]]
        if key[i] and ends:
            slow[i] = min(max(slow[i], min(ends)), max(ends))
    clamp_upwards(
        parent, matched.view(np.uint8), key.view(np.uint8), x, np.full(n, np.inf), np.full(n, -np.inf)
    )
    np.testing.assert_array_equal(x, slow)


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_other_nodes_hang_on_the_nearest_key_node_below_their_first_key_ancestor(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    parent, depth = preordered(rng, n)
    key = (depth < 3) & (rng.random(n) < 0.7)
    key[0] = True
    for i in range(1, n):
        key[i] &= key[parent[i]]
    x, v = rng.integers(-3, 4, (2, n)).astype(np.float64)
    home = np.empty(n, np.int32)
    attach_leaves(parent, key.view(np.uint8), x, v, np.ones(n, np.int32), home)
    for i in range(n):
        p = i
        while not key[p]:
            p = parent[p]
        if p == i:
            assert home[i] == i
            continue
        near = [q for q in [p, *below(parent, p)] if key[q]]
        assert home[i] == min(near, key=lambda q: ((x[q] - x[i]) ** 2 + (v[q] - v[i]) ** 2, q))


def two_icicles(seed):
    """Two random call trees laid out as icicles, the roots outermost, with random matches in one group."""
    rng = np.random.default_rng(seed)
    sides, places, ends = [], [], []
    for s in (0, 1):
        n = int(rng.integers(20, 60))
        parent, depth = preordered(rng, n)
        left, right = np.zeros(n), np.ones(n)
        for i in range(1, n):
            p = parent[i]
            cut = np.sort(rng.uniform(left[p], right[p], 2))
            left[i], right[i] = cut
        x, width = (left + right) / 2, right - left
        v = (1 - 2 * s) * (3.0 - 0.2 * depth)
        sides.append(parent.astype(np.int64))
        places.append(lambda ids, x=x, v=v, w=width: (x[ids], v[ids], w[ids] > 0.03))
        ends.append(rng.integers(0, n, 25))
    pairs = np.unique(np.stack(ends, axis=1), axis=0)
    return sides, places, (pairs[:, 0], pairs[:, 1])


def built(seed, **options):
    sides, places, ends = two_icicles(seed)
    root = np.zeros(1, np.int64)
    group = np.zeros(len(ends[0]), np.int64)
    options = {"band": 3.2, **options}
    return control_tree(tuple(sides), tuple(places), group, ends, (root, root), **options), ends, places


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_non_key_nodes_are_leaves_and_the_tree_is_no_higher(seed):
    tree, _, _ = built(seed)
    inner = np.unique(tree.parent[tree.parent >= 0])
    leaves = np.concatenate([tree.source, tree.target])
    assert not np.isin(leaves, inner).any()
    keys = sum(int(side.key.sum()) for side in tree.sides)
    # The middle, the key nodes, and nothing but leaves.
    assert len(tree.parent) == 1 + keys + len(np.unique(leaves))
    height = levels(tree.parent)
    of_keys = int(height[1 : 1 + keys].max())
    assert height[leaves].max() <= of_keys + 1
    for side in tree.sides:
        # Coarse structure: the callers of key nodes are key nodes.
        assert side.key[side.parent[side.key & (side.parent >= 0)]].all()


@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_a_side_has_all_calls_on_the_ways_up_to_the_roots_of_its_groups(seed):
    sides, places, (left, right) = two_icicles(seed)
    rng = np.random.default_rng(seed)
    roots = np.zeros(3, np.int64), rng.integers(0, 5, 3)
    group = rng.integers(0, 3, len(left))
    tree = control_tree(tuple(sides), tuple(places), group, (left, right), roots, 3.2)
    for side, caller, ends, root in zip(tree.sides, sides, (left, right), roots, strict=True):
        wanted = {(g, int(root[g])) for g in range(3)}
        for g, call in zip(group.tolist(), ends.tolist(), strict=True):
            while call >= 0:
                wanted.add((g, call))
                call = int(caller[call]) if call != root[g] else -1
        assert list(zip(side.group.tolist(), side.call.tolist(), strict=True)) == sorted(wanted)


@given(SEEDS, st.floats(0.5, 5.0))
@settings(max_examples=50, deadline=None)
def test_key_nodes_are_wide_and_outside_the_band(seed, band):
    tree, _, places = built(seed, band=band)
    for side, place in zip(tree.sides, places):
        _, v, wide = place(side.call)
        lower = side.parent >= 0
        np.testing.assert_array_equal(
            side.key[lower], (wide & (np.abs(v) > band / 2))[lower] & side.key[side.parent[lower]]
        )
    # Their control points lie within the band, on their own side of the middle.
    keys = [int(side.key.sum()) for side in tree.sides]
    for s, low in enumerate((1, 1 + keys[0])):
        v = tree.point[low : low + keys[s], 1] * (1 - 2 * s)
        assert (v > 0).all()
        assert (v <= band / 2 + 1e-6).all()


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_routes_begin_and_end_in_the_middle_of_their_calls(seed):
    tree, ends, places = built(seed)
    for leaf, ids, place in zip((tree.source, tree.target), ends, places):
        x, v, _ = place(ids)
        np.testing.assert_allclose(tree.point[leaf, :2], np.stack([x, v], axis=1), atol=1e-6)


def undulation(tree):
    """How far routes go back and forth along x, beyond the way that they have to go."""
    routes = bundle(tree.parent, tree.point, tree.source, tree.target)
    total = 0.0
    for e in range(len(routes)):
        x = routes.point[routes.first[e] : routes.first[e + 1], 0].astype(np.float64)
        total += np.abs(np.diff(x)).sum() - abs(x[-1] - x[0])
    return total


def mirrored(x, v, wide, sign):
    return lambda ids: (x[ids], sign * v[ids], wide[ids])


def test_undulation_drops_against_the_original():
    """One program twice, with matches in a part of it: callers' middles lie off the way (the paper's R1)."""
    total = {"modified": 0.0, "heb": 0.0}
    for seed in range(60):
        sides, places, _ = two_icicles(seed)
        x, v, wide = places[0](np.arange(len(sides[0])))
        twin = mirrored(x, v, wide, 1), mirrored(x, v, wide, -1)
        parts = [below(sides[0], i) for i in np.flatnonzero(sides[0] > 0)]
        ends = np.array(max(parts, key=len), np.int64)
        root, group = np.zeros(1, np.int64), np.zeros(len(ends), np.int64)
        for bundling in total:
            tree = control_tree((sides[0], sides[0]), twin, group, (ends, ends), (root, root), 3.2, bundling)
            total[bundling] += undulation(tree)
    assert total["modified"] < 0.5 * total["heb"], total


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), max_size=30))
def test_longest_rise(values):
    value = np.array(values, np.int64)
    n = len(value)
    on = np.empty(n, np.uint8)
    length = longest_rise(value, np.empty(n, np.int64), np.empty(n, np.int64), on)
    best = [1] * n
    for i in range(n):
        best[i] = 1 + max((best[j] for j in range(i) if value[j] <= value[i]), default=0)
    assert length == max(best, default=0) == int(on.sum())
    assert (np.diff(value[on == 1]) >= 0).all()


@given(SEEDS, st.floats(0, 1))
@settings(max_examples=50, deadline=None)
def test_tubes_are_the_papers_with_a_plus(seed, thin):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 40))
    route = np.zeros((count, 3), np.float32)
    route[:, 0] = rng.normal(size=count)
    route[:, 1] = np.linspace(3, -2, count)
    first = np.array([0, count], np.int64)
    ends = rng.normal(size=(1, 4)).astype(np.float32)
    width, height = (rng.uniform(0.1, 4, (1, 2)).astype(np.float32) for _ in range(2))
    lift = rng.uniform(0, 1, 1).astype(np.float32)
    point, radius = np.empty((count, 3), np.float32), np.empty((count, 2), np.float32)
    fold_tubes(first, route, ends, width, height, lift, np.float32(thin), np.float32(0), point, radius)
    step = np.hypot(*np.diff(route[:, :2].astype(np.float64), axis=0).T)
    t = np.concatenate([[0], np.cumsum(step)]) / step.sum()
    phi = thin + (1 - thin) / 2 * (1 + np.cos(2 * math.pi * t))
    for c, size in enumerate((width[0], height[0])):
        np.testing.assert_allclose(
            radius[:, c], phi * ((1 - t) * size[0] / 2 + t * size[1] / 2), rtol=2e-4, atol=2e-5
        )
    # With the printed minus the tube would end with a negative width.
    np.testing.assert_allclose(radius[[0, -1], 0], width[0] / 2, rtol=1e-4)
    come = (3 - route[:, 1]) / 5
    np.testing.assert_array_equal(point[:, 0], route[:, 0])
    np.testing.assert_allclose(point[:, 1], ends[0, 0] + come * (ends[0, 2] - ends[0, 0]), atol=2e-5)
    z = ends[0, 1] + come * (ends[0, 3] - ends[0, 1]) + 4 * lift[0] * come * (1 - come)
    np.testing.assert_allclose(point[:, 2], z, atol=2e-5)


@pytest.mark.parametrize("side", [1, -1])
def test_walls_are_flat_at_180_and_upright_at_0(side):
    h = np.linspace(0, 2, 9)
    flat, upright = Fold.of(side, 180, 1.5, 2.0), Fold.of(side, 0, 1.5, 2.0)
    y, z = flat.inside(h)
    np.testing.assert_allclose(y, flat.across(h))
    np.testing.assert_allclose(z, 0, atol=1e-12)
    np.testing.assert_allclose(flat.across(h), side * (0.75 + 2.0 - h))
    y, z = upright.inside(h)
    np.testing.assert_allclose(y, side * 0.75)
    np.testing.assert_allclose(z, h, atol=1e-12)
    y0, y1, z0, z1 = upright.boxes(h[:-1], h[1:], np.full(8, 0.1))
    np.testing.assert_allclose(np.stack([z0, z1]), np.stack([h[:-1], h[1:]]), atol=1e-12)
    np.testing.assert_allclose(y1 - y0, 0.1)
    # Boxes lie on the outer side: nothing stands in the gap.
    assert (np.minimum(side * y0, side * y1) >= 0.75 - 1e-12).all()
    y0, y1, z0, z1 = flat.boxes(h[:-1], h[1:], np.full(8, 0.1))
    np.testing.assert_allclose(y1 - y0, np.diff(h))
    np.testing.assert_allclose(z1 - z0, 0.1)


def test_opening_moves_walls_continuously():
    h = np.linspace(0, 2, 9)
    before = None
    for opening in np.linspace(0, 180, 61):
        now = np.stack(Fold.of(-1, float(opening), 1.5, 2.0).boxes(h[:-1], h[1:], np.full(8, 0.1)))
        if before is not None:
            assert np.abs(now - before).max() < 0.08
        before = now


@given(st.integers(0, 10_000), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_steady_routes_are_the_plain_ones_and_never_turn(seed, beta):
    """Control points are put between the greatest x before and the least x after them, along the way."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    parent, point = random_tree(rng, n), rng.normal(size=(n, 3)).astype(np.float32)
    a, b = rng.integers(0, n, (2, 6)).astype(np.int32)
    steady = rng.random(6) < 0.7
    routes = bundle(parent, point, a, b, beta=beta, samples=32, steady=steady)
    free = bundle(parent, point, a, b, beta=beta, samples=32)
    for e in range(6):
        mine = routes.point[routes.first[e] : routes.first[e + 1]]
        other = free.point[free.first[e] : free.first[e + 1]]
        np.testing.assert_array_equal(mine[:, 1:], other[:, 1:])
        if not steady[e]:
            np.testing.assert_array_equal(mine, other)
            continue
        control = point[plain_path(parent, int(a[e]), int(b[e]))[0]].astype(np.float64)
        t = np.linspace(0, 1, len(control))[:, None]
        control = beta * control + (1 - beta) * (control[0] + t * (control[-1] - control[0]))
        sign = 1.0 if control[-1, 0] >= control[0, 0] else -1.0
        x = np.clip(sign * control[:, 0], sign * control[0, 0], sign * control[-1, 0])
        middle = [(x[: j + 1].max() + x[j:].min()) / 2 for j in range(len(x))]
        control[:, 0] = sign * np.array(middle)
        place = np.linspace(0, len(control) + 1, 32)
        place[-1] -= 1e-9
        wanted = np.array([plain_spline(control, u) for u in place])
        np.testing.assert_allclose(mine, wanted, atol=2e-4)
        assert (sign * np.diff(mine[:, 0]) >= -1e-5).all()
