"""Layers against a plain twin: the greedy heuristic of Eades, Lin and Smyth (1993) among neighbours."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.features.interactions.hierarchy import build
from tracevis3d.features.interactions.layers import layers


def plain_order(nodes, calls):
    """Return ``nodes`` in an order; ``calls`` (a, b) -> how often.

    Again and again what calls none of the others (the last such) goes to the end, else what none of them
    calls (the first such) to the beginning, else that which calls most more often than it is called.
    """
    net = {(a, b): max(calls[a, b] - calls[b, a], 0) for a in nodes for b in nodes}
    left, begin, end = sorted(nodes), [], []
    while left:
        gives = {a: sum(net[a, b] for b in left) for a in left}
        takes = {a: sum(net[b, a] for b in left) for a in left}
        sinks, sources = [a for a in left if not gives[a]], [a for a in left if not takes[a]]
        if sinks:
            end.insert(0, sinks[-1])
            left.remove(sinks[-1])
            continue
        pick = sources[0] if sources else max(left, key=lambda a: (gives[a] - takes[a], -a))
        begin.append(pick)
        left.remove(pick)
    return begin + end


def plain_layers(hierarchy, caller, callee, counts):
    """Return the layer of each node, and the pairs that call against the layers."""

    def way(element):
        node, found = int(hierarchy.node[element]), []
        while node >= 0:
            found.append(node)
            node = int(hierarchy.parent[node])
        return found[::-1]

    ends = []
    for a, b in zip(caller, callee, strict=True):
        apart = [(x, y) for x, y in zip(way(a), way(b), strict=False) if x != y]
        ends.append(apart[0] if apart else None)
    below = defaultdict(lambda: defaultdict(int))
    for pair, count in zip(ends, counts, strict=True):
        if pair:
            below[int(hierarchy.parent[pair[0]])][pair] += int(count)
    layer = [0] * len(hierarchy)
    for calls in below.values():
        for place, node in enumerate(plain_order({n for pair in calls for n in pair}, calls.copy())):
            layer[node] = place
    against = []
    for pair, count in zip(ends, counts, strict=True):
        among = below[int(hierarchy.parent[pair[0]])] if pair else {}
        even = bool(pair) and among.get(pair, 0) == among.get(pair[::-1], 0)
        against.append(bool(pair) and not even and layer[pair[0]] > layer[pair[1]] and count > 0)
    return layer, against


def held_together(h, pairs):
    """Compare the layers of calls between the elements of a hierarchy."""
    ends = np.array(list(pairs), np.int32).reshape(-1, 2)
    counts = np.array(list(pairs.values()), np.int64)
    layer, against = layers(h, ends[:, 0], ends[:, 1], counts)
    expected = plain_layers(h, ends[:, 0].tolist(), ends[:, 1].tolist(), counts.tolist())
    assert layer.tolist() == expected[0]
    assert against.tolist() == expected[1]


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(tuple), min_size=1, max_size=16),
    st.data(),
)
@settings(max_examples=100, deadline=None)
def test_layers_of_containers_are_those_of_the_plain_twin(paths, data):
    h, _ = build(paths, np.ones(len(paths)))
    element = st.integers(0, h.elements - 1)
    held_together(h, data.draw(st.dictionaries(st.tuples(element, element), st.integers(0, 4), max_size=30)))


@given(st.integers(1, 5), st.permutations(range(8)), st.data())
@settings(max_examples=150, deadline=None)
def test_what_leads_to_a_cycle_and_away_from_it_is_as_in_the_plain_twin(before, name, data):
    """Of eight neighbours some call each other in a round; nobody after it calls what is before it."""
    h, _ = build([(f"e{i}",) for i in range(8)], np.ones(8))
    count, place = st.integers(1, 4), st.integers(0, 7)
    some = data.draw(st.dictionaries(st.tuples(place, place), count, max_size=14))
    calls = {(a, b): n for (a, b), n in some.items() if a < b or before <= b <= a < before + 3}
    for k in range(3):
        calls[before + k, before + (k + 1) % 3] = data.draw(count)
    held_together(h, {(name[a], name[b]): n for (a, b), n in calls.items()})


@pytest.mark.parametrize(
    "weight",
    [
        ["020010", "000330", "000001", "012000", "200000", "010000"],
        ["000320", "200002", "030111", "000002", "103000", "003120"],
    ],
)
def test_who_is_no_longer_called_back_is_as_in_the_plain_twin(weight):
    """Rounds within each other, of which one comes apart before the other."""
    h, _ = build([(f"e{i}",) for i in range(6)], np.ones(6))
    held_together(h, {(a, b): int(n) for a, row in enumerate(weight) for b, n in enumerate(row) if a != b})
