"""The order around the circle: children are sorted as by hand, and no swap or turn makes ways shorter."""

from __future__ import annotations

import cmath
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interactions.test_interactions import check_tree
from tracevis3d.features.interactions import sector_order
from tracevis3d.features.interactions.hierarchy import build
from tracevis3d.features.interactions.sector_order import shortest_ways

PATH = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map(tuple)


@st.composite
def circles(draw):
    """Draw a hierarchy, and pairs of its elements with how often each happens."""
    paths = draw(st.lists(PATH, min_size=3, max_size=16, unique=True))
    hierarchy, _ = build(paths, np.ones(len(paths)))
    element = st.integers(0, hierarchy.elements - 1)
    pairs = draw(st.lists(st.tuples(element, element, st.integers(1, 90)), max_size=20))
    columns = [np.array([pair[i] for pair in pairs], np.int32) for i in range(3)]
    return hierarchy, columns


def weights(columns):
    """Return pairs of different elements, each with its share of the roots of counts."""
    pairs = [(a, b, math.sqrt(n)) for a, b, n in zip(*(c.tolist() for c in columns)) if a != b]
    whole = sum(w for *_, w in pairs) or 1.0
    return [(a, b, w / whole) for a, b, w in pairs]


def around(pairs, place, n):
    return sum(w * min(abs(place[a] - place[b]), n - abs(place[a] - place[b])) for a, b, w in pairs) * 2 / n


def along(pairs, place):
    return sum(w * abs(place[a] - place[b]) for a, b, w in pairs)


def ranges(hierarchy):
    first, stop = hierarchy.first_element()
    return list(zip(first.tolist(), stop.tolist()))


def children_of(hierarchy, node):
    return [i for i in range(len(hierarchy)) if hierarchy.parent[i] == node]


@given(circles())
@settings(max_examples=150, deadline=None)
def test_no_swap_of_neighbours_and_no_turn_makes_ways_shorter(drawn):
    given_, columns = drawn
    found = shortest_ways(given_, *columns)
    h, n, pairs = found.hierarchy, given_.elements, weights(columns)
    check_tree(h)
    place = found.new_of_old.tolist()
    assert sorted(place) == list(range(n))
    for old, new in enumerate(place):
        assert h.path[h.node[new]] == given_.path[given_.node[old]]
    assert found.before == pytest.approx(around(pairs, list(range(n)), n))
    assert found.after == pytest.approx(around(pairs, place, n))
    assert found.after <= found.before + 1e-9
    if not pairs or n < 3:
        assert h is given_
        return
    span, better = ranges(h), [0, 0]
    for node in range(len(h)):
        children = children_of(h, node)
        for left, right in pairwise(children):
            (low, middle), (_, high) = span[left], span[right]
            swapped = [
                p + high - middle if low <= p < middle else p - (middle - low) if middle <= p < high else p
                for p in place
            ]
            better[node > 0] += around(pairs, swapped, n) < found.after - 1e-9
    # The first and the last child of the root become neighbours by the turn, after all swaps were tried.
    assert better[0] <= 1
    assert better[1] == 0
    turns = [[(p - span[top][0]) % n for p in place] for top in children_of(h, 0)]
    assert along(pairs, place) <= min(along(pairs, turned) for turned in turns) + 1e-9


@given(circles(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_children_are_sorted_by_where_they_are_drawn_to(drawn, random):
    h, columns = drawn
    n, pairs, span = h.elements, weights(columns), ranges(h)
    ways = sector_order._Ways(
        *(np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1)),
        np.array([w for *_, w in pairs], np.float64), n,
    )  # fmt: skip
    number = list(range(n))
    random.shuffle(number)
    new, mapping = sector_order._sorted_by_barycentre(h, np.array(number, np.int32), ways)
    check_tree(new)
    pull = [0j] * n
    for a, b, w in pairs:
        pull[number[a]] += w * cmath.exp(2j * math.pi * number[b] / n)
        pull[number[b]] += w * cmath.exp(2j * math.pi * number[a] / n)
    middle = [math.pi * (low + high) / n for low, high in span]
    rank = {}
    for node, (low, high) in enumerate(span):
        above = middle[h.parent[node]] if h.parent[node] > 0 else math.pi
        drawn_to = sum(pull[low:high])
        if abs(drawn_to) > 1e-9:
            rank[h.path[node]] = cmath.phase(drawn_to * cmath.exp(-1j * above))
        else:
            rank[h.path[node]] = None if pairs else cmath.phase(cmath.exp(1j * (middle[node] - above)))
    for node in range(len(new)):
        order = [rank[new.path[child]] for child in children_of(new, node)]
        if None not in order:
            for one, next_ in pairwise(order):
                # Of what lies straight behind, rounding decides whether it is pi or -pi away.
                behind = (math.isclose(abs(angle), math.pi, abs_tol=1e-9) for angle in (one, next_))
                assert one <= next_ + 1e-9 or any(behind)
    for old, place in enumerate(mapping.tolist()):
        assert new.path[new.node[place]] == h.path[h.node[old]]


def test_swaps_end_where_there_are_too_many_pairs(monkeypatch):
    h, _ = build([(name,) for name in "abcdefgh"], np.ones(8))
    columns = [np.array(c, np.int32) for c in ([0, 1, 2, 3], [4, 5, 6, 7], [1, 1, 1, 1])]
    tried = []
    whole = sector_order._Ways.around
    monkeypatch.setattr(sector_order._Ways, "around", lambda ways, n: tried.append(1) or whole(ways, n))
    counts = []
    for work in (0, 3 * 4, 1 << 30):
        tried.clear()
        monkeypatch.setattr(sector_order, "_WORK", work)
        shortest_ways(h, *columns)
        counts.append(len(tried) - 1 - sector_order._ROUNDS)
    assert counts[:2] == [0, 3]
    assert counts[2] >= 7
