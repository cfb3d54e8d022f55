"""Measures of parts, and maps of them, against slow twins."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.analysis.measures import self_time_of
from tracevis3d.features.city.metrics import floors, links, longest_calls, measured, parts_of
from tracevis3d.features.city.treemap import city_of, lay_out, squarified

SIZES = st.lists(st.floats(0.01, 100.0), min_size=1, max_size=25)


def overlap(one, other):
    """Return the area that two rectangles share."""
    sides = [min(one[i] + one[i + 2], other[i] + other[i + 2]) - max(one[i], other[i]) for i in (0, 1)]
    return max(sides[0], 0.0) * max(sides[1], 0.0)


@given(SIZES, st.floats(0.5, 9.0), st.floats(0.5, 9.0))
def test_a_treemap_fills_its_rectangle_in_proportion(sizes, wide, deep):
    found = squarified(sizes, (1.0, 2.0, wide, deep))
    whole = wide * deep
    for size, (x, y, w, d) in zip(sizes, found):
        assert w * d == pytest.approx(whole * size / sum(sizes), rel=1e-6)
        assert x >= 1.0 - 1e-9
        assert y >= 2.0 - 1e-9
        assert x + w <= 1.0 + wide + 1e-6
        assert y + d <= 2.0 + deep + 1e-6
    for i, one in enumerate(found):
        assert all(overlap(one, other) < 1e-6 * whole for other in found[:i])


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("cd"), st.integers(0, 9)), min_size=1, unique=True
    )
)
def test_buildings_stand_in_their_districts_in_proportion(names):
    paths = [(a, c, str(n)) for a, c, n in names]
    areas = [1.0 + i for i in range(len(paths))]
    city = city_of(paths, areas)
    placed = lay_out(city, areas, (0.0, 0.0, 10.0, 6.0))
    for area, (_, _, wide, deep) in zip(areas, placed):
        assert wide * deep == pytest.approx(60.0 * area / sum(areas))
    waiting, seen = [city], []
    while waiting:
        one = waiting.pop()
        waiting += one.districts.values()
        seen += one.buildings
        inside = [*(placed[i] for i in one.buildings), *(d.place for d in one.districts.values())]
        for place in inside:
            assert overlap(place, one.place) == pytest.approx(place[2] * place[3], rel=1e-6)
        assert all(".".join(paths[i]).startswith(one.name) for i in one.buildings)
    assert sorted(seen) == list(range(len(paths)))


def test_squares_are_preferred_to_strips():
    found = squarified([1.0] * 16, (0.0, 0.0, 4.0, 4.0))
    assert all((w, d) == (pytest.approx(1.0), pytest.approx(1.0)) for _, _, w, d in found)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 200))
def test_measures_are_those_of_the_calls(seed):
    trace = walked_trace(seed, steps=40, longest=20, allocations=30)
    calls, parts = trace.calls, parts_of(trace, "module")
    own, name = self_time_of(trace), [parts.name(int(p)) for p in parts.of_function[calls.function]]
    time, many, called, heaviest = Counter(), Counter(), defaultdict(set), {}
    pairs, first = Counter(), {}
    for call in range(len(calls)):
        time[name[call]] += int(own[call])
        many[name[call]] += 1
        called[name[call]].add(int(calls.function[call]))
        heaviest[name[call]] = max(heaviest.get(name[call], -1), int(own[call]))
        first[name[call]] = min(first.get(name[call], 10**18), int(calls.start[call]))
        parent = int(calls.parent[call])
        if parent >= 0 and name[parent] != name[call]:
            pairs[name[parent], name[call]] += 1
    for part in range(len(parts.path)):
        one = parts.name(part)
        assert measured(trace, parts, "self")[part] == time[one]
        assert measured(trace, parts, "calls")[part] == many[one]
        assert measured(trace, parts, "functions")[part] == len(called[one])
        assert measured(trace, parts, "callers")[part] == sum(b == one for _, b in pairs)
        assert measured(trace, parts, "callees")[part] == sum(a == one for a, _ in pairs)
        assert measured(trace, parts, "age")[part] == first[one]
        assert own[longest_calls(trace, parts)[part]] == heaviest[one]
    found = {
        (parts.name(int(a)), parts.name(int(b))): int(n) for a, b, n in zip(*links(trace, parts), strict=True)
    }
    assert found == pairs


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 200), st.integers(1, 7), st.sampled_from(["self", "calls", "bytes"]))
def test_floors_add_up_to_the_measure(seed, many, metric):
    trace = walked_trace(seed, steps=40, longest=20, allocations=30)
    parts = parts_of(trace, "function")
    found = floors(trace, parts, metric, (0, trace.span_ns + 1), many)
    assert found.shape == (len(parts.path), many)
    np.testing.assert_allclose(found.sum(axis=1), measured(trace, parts, metric))
