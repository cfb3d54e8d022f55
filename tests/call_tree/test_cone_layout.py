"""Cone trees: nothing overlaps, everything is inside, the order is that of the calls."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.test_compact import graph_of
from tests.support import synthetic
from tracevis3d.analysis.subtrees import Edges
from tracevis3d.features.call_tree.cone.layouts import cone
from tracevis3d.features.call_tree.cone.layouts.bubble import children


def check(edges: Edges, own, cones: cone.Cones, gap: float, *, order: bool = True) -> None:
    for c in range(len(own)):
        part = slice(int(edges.first[c]), int(edges.first[c + 1]))
        x, y, r = cones.x[part], cones.y[part], cones.radius[edges.child[part]]
        k, room = len(r), r + gap * own[edges.child[part]]
        apart = np.hypot(x[:, None] - x, y[:, None] - y) - (room[:, None] + room)
        apart[np.arange(k), np.arange(k)] = 0
        assert apart.min(initial=0) > -1e-6 * cones.radius[c]
        assert (np.hypot(x, y) + r <= cones.radius[c] * (1 + 1e-9)).all()
        assert cones.radius[c] >= own[c]
        assert cones.ring[c] == pytest.approx(np.hypot(x, y).max(initial=0))
        if not order or not 2 < k <= cone.MOST_ON_A_RING:
            continue
        # Clockwise, once around: about the ring's centre, or about a callee much larger than the others.
        largest, centre = int(r.argmax()), _ring_centre(x, y)
        others = np.arange(k) != largest
        around = np.hypot(x - x[largest], y - y[largest])[others]
        scale = 1e-6 * around.max()
        if r[largest] > 2 * r[others].max() and np.ptp(np.hypot(x - centre[0], y - centre[1])) > scale:
            if np.ptp(around) > scale:
                continue  # several rings around it
            centre, x, y = (x[largest], y[largest]), x[others], y[others]
        angle = np.arctan2(y - centre[1], x - centre[0])
        if len(x) > 2:
            turned = np.mod(angle - np.roll(angle, -1), 2 * math.pi).sum()
            assert turned == pytest.approx(2 * math.pi)


def _ring_centre(x, y) -> tuple[float, float]:
    """The centre of the circle through the points."""
    a = np.column_stack([2 * x, 2 * y, np.ones(len(x))])
    solved = np.linalg.lstsq(a, x * x + y * y, rcond=None)[0]
    return float(solved[0]), float(solved[1])


def fan(radii) -> tuple[Edges, np.ndarray]:
    """One root with leaves of these radii."""
    k = len(radii)
    edges = Edges(np.append(np.zeros(k + 1, np.int64), k), np.arange(k, dtype=np.int32), np.ones(k, np.int64))
    return edges, np.append(np.asarray(radii, float), 1e-3)


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=90), st.floats(0, 0.5))
@settings(deadline=None, max_examples=200)
def test_a_ring_of_any_discs(radii, gap) -> None:
    edges, own = fan(radii)
    check(edges, own, cone.lay(edges, own, gap=gap), gap)


@pytest.mark.parametrize("k", [2, 3, 4, 7, 64])
def test_equal_discs_stand_by_the_chord(k) -> None:
    edges, own = fan([1.0] * k)
    cones = cone.lay(edges, own, gap=0)
    assert cones.ring[-1] == pytest.approx(1 / math.sin(math.pi / k))
    assert cones.radius[-1] == pytest.approx(1 / math.sin(math.pi / k) + 1)
    # fsviz and VTK take the arc instead, which is a third too short for two.
    assert k * 2 / (2 * math.pi) < cones.ring[-1]


def at_its_level(edges: Edges, own, cones: cone.Cones, c: int) -> float:
    """What a class with callees may have at its own level, at most."""
    return float(own[c] + cone.SLOPE * cones.ring[c])


def check_levels(edges: Edges, own, flat, cones: cone.Cones, gap: float) -> None:
    """Flat classes stay clear of all at their level, others of all that is below their siblings, too."""
    for c in range(len(own)):
        part = range(int(edges.first[c]), int(edges.first[c + 1]))
        some = any(not flat[edges.child[j]] for j in part)
        for i in part:
            one, reach = int(edges.child[i]), float(cones.radius[edges.child[i]])
            assert math.hypot(cones.x[i], cones.y[i]) + reach <= cones.radius[c] * (1 + 1e-9)
            for j in range(part.start, i):
                other = int(edges.child[j])
                needed = [float(cones.radius[k] + gap * own[k]) for k in (one, other)]
                if some and flat[one] != flat[other]:
                    solid = one if flat[other] else other
                    needed[0 if solid == one else 1] = at_its_level(edges, own, cones, solid)
                apart = math.hypot(cones.x[i] - cones.x[j], cones.y[i] - cones.y[j])
                assert apart >= sum(needed) * (1 - 1e-6)
        assert cones.radius[c] >= own[c]
        far = max((math.hypot(cones.x[i], cones.y[i]) for i in part), default=0.0)
        assert cones.ring[c] == pytest.approx(far)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 30)), min_size=2, max_size=120),
    st.floats(0, 0.5), st.integers(3, 40),
)  # fmt: skip
@settings(deadline=None, max_examples=200)
def test_what_has_nothing_below_stands_close_to_its_caller(drawn, gap, most) -> None:
    n = len(drawn)
    parent = np.array([-1] + [min(int(share * i), i - 1) for i, (share, _) in enumerate(drawn[1:], 1)])
    edges, _ = children(parent)
    own = np.array([size for _, size in drawn])[::-1].copy()
    flat = np.diff(edges.first) == 0
    cones = cone.lay(edges, own, flat, gap=gap, most=most)
    check_levels(edges, own, flat, cones, gap)
    # Where nobody has callees beside others it is the plan.
    plan = cone.lay(edges, own, np.zeros(n, np.bool_), gap=gap, most=most)
    same = cone.lay(edges, own, gap=gap, most=most)
    assert np.array_equal(plan.x, same.x)
    check_levels(edges, own, np.zeros(n, np.bool_), plan, gap)


def test_a_lone_callee_costs_a_large_one_no_room() -> None:
    # A root with two callees, of which one has forty.
    parent = np.array([-1, 0, 0] + [1] * 40)
    edges, _ = children(parent)
    own, flat = np.ones(43), np.diff(edges.first) == 0
    wide, close = cone.lay(edges, own), cone.lay(edges, own, flat)
    alone, _ = children(np.array([-1, 0] + [1] * 40))
    assert wide.radius[-1] == pytest.approx(wide.radius[-2] + 1 + 0.3)
    assert close.radius[-1] == pytest.approx(cone.lay(alone, np.ones(42)).radius[-1])


def test_what_has_nothing_below_stands_between_what_has() -> None:
    # A root with eight callees with forty each, and thirty without.
    parent = np.array([-1] + [0] * 38 + [k for k in range(1, 9) for _ in range(40)])
    edges, _ = children(parent)
    own = np.full(len(parent), 0.5)
    cones = cone.lay(edges, own, np.diff(edges.first) == 0)
    alone, _ = children(np.array([-1] + [0] * 8 + [k for k in range(1, 9) for _ in range(40)]))
    assert cones.ring[-1] == cone.lay(alone, own[:329]).ring[-1]


def plain_ring(radii) -> float:
    """The smallest ring for neighbours, by halving: half the angles between them must fit half a turn."""
    sides = [a + b for a, b in pairwise([*radii, radii[0]])]
    low, high = max(sides) / 2, sum(sides)
    if sum(math.asin(side / 2 / low) for side in sides) <= math.pi:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        fits = sum(math.asin(side / 2 / middle) for side in sides) <= math.pi
        low, high = (low, middle) if fits else (middle, high)
    return high


@given(st.integers(0, 2**32), st.integers(3, 40), st.floats(0, 0.6))
@settings(deadline=None, max_examples=120)
def test_rings_are_as_small_as_they_can_be(seed, k, spread) -> None:
    radii = np.random.default_rng(seed).lognormal(0, spread, k)
    if np.sort(radii)[-1] > 2 * np.sort(radii)[-2]:
        return
    edges, own = fan(radii)
    cones = cone.lay(edges, own, gap=0)
    middle = _ring_centre(cones.x, cones.y)
    radius = np.hypot(cones.x - middle[0], cones.y - middle[1])
    # Where those that are no neighbours would meet it is wider.
    least = plain_ring(radii.tolist())
    assert least * (1 - 1e-6) <= radius.max() <= 1.15 * least
    if spread < 0.1:
        assert radius.max() <= 1.002 * least
    # The disc around them, too: by each pair, and by the ring itself.
    apart = np.hypot(cones.x[:, None] - cones.x, cones.y[:, None] - cones.y)
    assert cones.radius[-1] >= (apart + radii[:, None] + radii).max() / 2 * (1 - 1e-9)
    assert cones.radius[-1] <= (radius.max() + radii.max()) * (1 + 1e-9)


def test_small_discs_between_large_ones() -> None:
    """Neighbours alone would let the large ones overlap across a small one."""
    edges, own = fan([10, 0.1, 10, 0.1, 10, 0.1])
    check(edges, own, cone.lay(edges, own, gap=0), 0)
    edges, own = fan([10 * 0.9**i for i in range(60)])
    check(edges, own, cone.lay(edges, own, gap=0), 0)


@given(st.integers(0, 2**32), st.integers(65, 600))
@settings(deadline=None, max_examples=30)
def test_a_huge_fan_stands_in_rings(seed, k) -> None:
    rng = np.random.default_rng(seed)
    edges, own = fan(rng.lognormal(0, 1.5, k))
    cones = cone.lay(edges, own, gap=0.05)
    check(edges, own, cones, 0.05, order=False)
    # One ring would need the sum of the diameters around; rings stay near the root of the area.
    assert cones.radius[-1] < math.sqrt(k) * own.max() * 3


def test_fifty_thousand_children() -> None:
    edges, own = fan(np.full(53_000, 1.0))
    cones = cone.lay(edges, own, gap=0)
    assert cones.radius[-1] < 1.35 * math.sqrt(53_000)
    order = np.lexsort((cones.y, cones.x))
    x, y = cones.x[order], cones.y[order]
    for shift in range(1, 40):  # a sample of pairs that could meet
        assert (np.hypot(x[shift:] - x[:-shift], y[shift:] - y[:-shift]) > 2 - 1e-6).all()


@given(st.integers(0, 2**32), st.integers(1, 200), st.integers(1, 4))
@settings(deadline=None, max_examples=80)
def test_whole_trees_do_not_overlap(seed, n, functions) -> None:
    calls = synthetic.random_calls(seed, n, functions=functions, threads=1)
    graph = graph_of(calls)
    own = np.random.default_rng(seed).uniform(0.2, 2, len(graph))
    cones = cone.lay(graph.edges, own, gap=0.1)
    check(graph.edges, own, cones, 0.1)
    roots = graph.roots
    at = np.cumsum(2 * cones.radius[roots]) - cones.radius[roots]
    shown = cone.choose(
        graph.edges, cones, roots, at, np.zeros(len(roots)), np.log2(graph.subtrees.extent), budget=10_000
    )
    # Everything is shown: of all leaves, and of nodes on one level, none overlaps another.
    leaf = graph.edges.first[shown.node + 1] == graph.edges.first[shown.node]
    assert (shown.opened == ~leaf).all()
    for group in [leaf, *(shown.depth == d for d in range(1, int(shown.depth.max()) + 1))]:
        x, y, r = shown.x[group], shown.y[group], own[shown.node[group]]
        apart = np.hypot(x[:, None] - x, y[:, None] - y) - (r[:, None] + r)
        apart[np.arange(len(r)), np.arange(len(r))] = 0
        assert apart.min(initial=0) > -1e-6


def test_the_budget_goes_to_what_matters() -> None:
    calls, _, _ = synthetic.program(20_000, threads=1, fresh=0.2)
    graph = graph_of(calls)
    own = np.ones(len(graph))
    cones = cone.lay(graph.edges, own)
    interest = np.log2(graph.subtrees.extent.astype(float))
    zero = np.zeros(len(graph.roots))
    far = cone.choose(graph.edges, cones, graph.roots, zero, zero, interest, budget=300)
    assert 200 < len(far) <= 300
    # What is open is worth at least what stayed closed though it would have fitted.
    edges = graph.edges
    degree = np.diff(edges.first)[far.node]
    closed = (far.opened == 0) & (degree > 0) & (degree <= 300 - len(far))
    assert not closed.any()
    assert (far.parent[1:] >= -1).all()
    assert (far.opened[far.parent[far.parent >= 0]] == 1).all()
    # A focus deep down is reached, with the whole path to it.
    path, node = [0], int(graph.roots[0])
    while edges.first[node] < edges.first[node + 1] and len(path) < 12:
        path.append(int(edges.first[node + 1] - edges.first[node]) - 1)
        node = int(edges.child[edges.first[node] + path[-1]])
    near = cone.choose(
        graph.edges, cones, graph.roots, zero, zero, interest, budget=300, focus=tuple(path), weight=0.1
    )
    assert near.depth[near.way].tolist() == list(range(1, len(path) + 1))
    assert near.node[near.way[-1]] == node
    assert near.distance[near.way].tolist() == list(range(len(path)))[::-1]
    check_way(edges, near)
    # Where no more fits, the way is there alone.
    alone = cone.choose(
        graph.edges, cones, graph.roots, zero, zero, interest, budget=len(graph.roots), focus=tuple(path)
    )
    check_way(edges, alone)
    assert len(alone) == len(graph.roots) + len(path) - 1
    several = np.diff(edges.first)[alone.node[alone.way]] > 1
    assert alone.opened[alone.way][:-1].tolist() == np.where(several, 2, 1)[:-1].tolist()
    assert alone.opened[alone.way[-1]] == 0


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 40), st.integers(0, 6))
@settings(deadline=None, max_examples=60)
def test_ways_are_there_beside_what_the_budget_holds(seed, n, budget, ways) -> None:
    rng = np.random.default_rng(seed)
    graph = graph_of(synthetic.random_calls(seed, n, functions=4, threads=1))
    edges, zero = graph.edges, np.zeros(len(graph.roots))
    cones = cone.lay(edges, np.ones(len(graph)))
    also = []
    for _ in range(ways):
        way = [int(rng.integers(len(graph.roots)))]
        node = int(graph.roots[way[0]])
        while (degree := int(np.diff(edges.first)[node])) and rng.random() < 0.8:
            way.append(int(rng.integers(degree)))
            node = int(edges.child[edges.first[node] + way[-1]])
        also.append(tuple(way))
    interest = rng.random(len(graph))
    found = cone.choose(edges, cones, graph.roots, zero, zero, interest, budget=budget, also=also)
    count = min(len(graph.roots), budget)
    wanted = {way[:k] for way in also if way[0] < count for k in range(2, len(way) + 1)}
    assert len(found) <= budget + len(wanted)
    # The plain twin: each shown node by its ordinals from the root.
    path: list[tuple[int, ...]] = []
    for i in range(len(found)):
        above = int(found.parent[i])
        ordinal = int(found.edge[i] - edges.first[found.node[above]]) if above >= 0 else i
        path.append((*path[above], ordinal) if above >= 0 else (i,))
    assert len(set(path)) == len(path)
    assert wanted <= set(path)
    for i in range(len(found)):
        below = [p[-1] for p in path if p[:-1] == path[i]]
        if found.opened[i] == 2:
            assert below == sorted(p[-1] for p in wanted if p[:-1] == path[i])
        else:
            degree = int(np.diff(edges.first)[found.node[i]])
            assert below == (list(range(degree)) if found.opened[i] else [])


def check_way(edges: Edges, shown: cone.Shown) -> None:
    """Linking parents show the next node alone; all others all of their callees, in order, or none."""
    for i in range(len(shown)):
        at = np.flatnonzero(shown.parent == i)
        every = np.arange(edges.first[shown.node[i]], edges.first[shown.node[i] + 1])
        if shown.opened[i] == 2:
            assert len(at) == 1
            assert i in shown.way
            assert at[0] in shown.way
        else:
            assert shown.edge[at].tolist() == (every.tolist() if shown.opened[i] else [])


def test_a_chain_a_million_deep() -> None:
    graph = graph_of(synthetic.chain(1_000_000))
    cones = cone.lay(graph.edges, np.ones(len(graph)))
    assert cones.radius.tolist() == [1.0] * len(graph)


def test_discs_of_deep_trees_do_not_blow_up() -> None:
    """With leaves beside each call of a deep stack each level adds about a leaf, and no share of its disc."""
    depth = 3000
    first = np.append(0, np.cumsum(np.append(0, np.repeat([0, 0, 3], depth))))
    below = 3 * np.arange(depth)
    child = np.column_stack([below + 1, below, below + 2]).ravel().astype(np.int32)
    edges = Edges(first, child, np.ones(len(child), np.int64))
    cones = cone.lay(edges, np.ones(3 * depth + 1))
    assert 1.0 < cones.radius[-1] < 3 * depth
