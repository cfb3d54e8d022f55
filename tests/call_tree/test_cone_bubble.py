"""Bubble trees: nothing overlaps, nothing crosses, edges bend where they enter a bubble."""

import math
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.features.call_tree.cone.layouts import bubble


def tree(seed: int, n: int, roots: int = 1):
    """A random forest, parents before children, with radii."""
    rng = np.random.default_rng(seed)
    parent = np.array([-1 if i < roots else rng.integers(max(0, i - 1 - rng.integers(0, 12)), i)
                       for i in range(n)], np.int64)  # fmt: skip
    return parent, rng.uniform(0.2, 3, n)


def crosses(a, b, c, d) -> bool:
    """Whether the open segments ab and cd cross in a point within both."""

    def side(p, q, r) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    scale = 1e-9 * max(math.dist(a, b), math.dist(c, d)) ** 2
    one, two, three, four = side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)
    return min(abs(one), abs(two), abs(three), abs(four)) > scale and one * two < 0 and three * four < 0


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 3), st.floats(0, 0.4))
@settings(deadline=None, max_examples=120)
def test_a_planar_drawing(seed, n, roots, gap) -> None:
    parent, own = tree(seed, n, min(roots, n))
    laid = bubble.lay(parent, own, gap=gap)
    scale = float(laid.radius.max())

    def apart(i, j) -> float:
        return math.dist(laid.center[i], laid.center[j])

    for i in range(n):
        # A bubble holds its node, and the bubbles of its callees; those of siblings don't overlap.
        assert math.dist(laid.node[i], laid.center[i]) + own[i] <= laid.radius[i] + 1e-6 * scale
        below = np.flatnonzero(parent == i).tolist()
        for k, j in enumerate(below):
            assert apart(i, j) + laid.radius[j] <= laid.radius[i] + 1e-6 * scale
            assert math.dist(laid.node[i], laid.center[j]) >= own[i] + laid.radius[j] - 1e-6 * scale
            for other in below[:k]:
                assert apart(j, other) >= laid.radius[j] + laid.radius[other] - 1e-6 * scale
            # The edge enters at the point of the bubble that is nearest to the caller.
            assert math.dist(laid.bend[j], laid.center[j]) <= laid.radius[j] * (1 + 1e-9)
            straight = math.dist(laid.node[i], laid.bend[j]) + laid.radius[j]
            assert abs(straight - math.dist(laid.node[i], laid.center[j])) < 1e-6 * scale
        # Callees stand clockwise in their order.
        if len(below) > 2:
            angle = [math.atan2(*(laid.center[j] - laid.node[i])[::-1]) for j in below]
            turned = sum((a - b) % (2 * math.pi) for a, b in pairwise(angle))
            assert turned < 2 * math.pi + 1e-6
    top = np.flatnonzero(parent < 0).tolist()
    for k, i in enumerate(top):
        for j in top[:k]:
            assert apart(i, j) >= laid.radius[i] + laid.radius[j] - 1e-6 * scale
    segments = []
    for j in np.flatnonzero(parent >= 0).tolist():
        segments += [(laid.node[parent[j]], laid.bend[j]), (laid.bend[j], laid.node[j])]
    for k, one in enumerate(segments):
        for two in segments[:k]:
            assert not crosses(*one, *two)


def test_deep_and_wide() -> None:
    chain = bubble.lay(np.arange(-1, 49_999), np.ones(50_000))
    assert np.isfinite(chain.node).all()
    # Deep, with a leaf beside each call.
    deep = bubble.lay(np.append(-1, np.repeat(np.arange(0, 4000, 2), 2)), np.ones(4001))
    assert deep.radius[0] < 1e5
    # Each level adds a node's diameter and the gaps: with none it is a string of beads.
    beads = bubble.lay(np.arange(-1, 9), np.ones(10), gap=0)
    assert 10 - 1e-6 <= beads.radius[0] < 11
    fan = bubble.lay(np.append(-1, np.zeros(20_000, np.int64)), np.ones(20_001), gap=0)
    assert fan.radius[0] > 20_000 / math.pi
