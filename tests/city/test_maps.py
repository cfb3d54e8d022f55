"""Maps other than the treemap: grids by rank, networks by force, small cities; against plain rules."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Boxes
from tracevis3d.features.city.maps import as_squares, in_grid, placed
from tracevis3d.features.city.metrics import floors, links
from tracevis3d.features.city.treemap import city_of, lay_out
from tracevis3d.features.city.view.layout import DEEP, WIDE, compose, tiles_of
from tracevis3d.features.city.view.parameters import Parameters
from tracevis3d.features.city.view.view import VIEW
from tracevis3d.layout import forces
from tracevis3d.progress import silent

PLACE = (1.0, 2.0, 15.0, 9.0)
TRACE = walked_trace(1, steps=80, functions=30, modules=5)
points = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.tuples(*[st.floats(-5, 5).map(lambda v: round(v, 2))] * 2), min_size=n, max_size=n)
)


def over(one, other):
    """Return how far two squares (left, near, width, depth) overlap, along the axis where it is least."""
    return min(min(one[i] + one[i + 2], other[i] + other[i + 2]) - max(one[i], other[i]) for i in (0, 1))


def plain_force(place, pairs, spring=1.0):
    """Return the force on each thing, all pairs one by one."""
    force = np.zeros(place.shape)
    for i, one in enumerate(place):
        for j, other in enumerate(place):
            away = one - other
            far = np.hypot(*away)
            if i != j and 0 < far < 2 * spring:
                force[i] += away / far * spring**2 / far
    for i, j, weight in pairs:
        away = place[i] - place[j]
        pull = weight * np.hypot(*away) / spring * away
        force[i] -= pull
        force[j] += pull
    return force


@given(points, st.data())
@settings(deadline=None, max_examples=40)
def test_forces_are_those_of_all_pairs(place, data):
    place = np.array(place)
    index = st.integers(0, len(place) - 1)
    pairs = data.draw(st.lists(st.tuples(index, index, st.floats(0, 1)), max_size=6))
    source, target = (np.array([pair[k] for pair in pairs], np.int64) for k in (0, 1))
    found = np.zeros(place.shape)
    x, y = place.T.copy()
    forces.repel(x, y, *forces._squares(place, 2.0), 1.0, found)
    forces.attract(x, y, source, target, np.array([pair[2] for pair in pairs], np.float64), 1.0, found)
    np.testing.assert_allclose(found, plain_force(place, pairs), atol=1e-6, rtol=1e-6)


@given(points, st.data())
@settings(deadline=None, max_examples=40)
def test_squares_of_a_network_do_not_overlap_and_keep_their_proportions(middle, data):
    area = np.array(data.draw(st.lists(st.floats(0.5, 60.0), min_size=len(middle), max_size=len(middle))))
    found = np.array(as_squares(np.array(middle), area, PLACE))
    np.testing.assert_allclose(found[:, 2], found[:, 3])
    sizes = found[:, 2] ** 2
    np.testing.assert_allclose(sizes / sizes.sum(), area / area.sum(), rtol=1e-6)
    # Points may be in any unit, as long as they are apart.
    if np.ptp(middle, axis=0).min() > 1e-3:
        np.testing.assert_allclose(as_squares(np.array(middle) / 256, area, PLACE), found, atol=1e-6)
    for i, one in enumerate(found):
        assert all(over(one, other) < 1e-5 for other in found[:i])
    assert (found[:, :2] >= np.array(PLACE[:2]) - 1e-6).all()
    assert (found[:, :2] + found[:, 2:] <= np.array([16.0, 11.0]) + 1e-6).all()
    # They reach both ends of one side, and lie in the middle of the other.
    before = found[:, :2].min(axis=0) - PLACE[:2]
    behind = np.array([16.0, 11.0]) - (found[:, :2] + found[:, 2:]).max(axis=0)
    np.testing.assert_allclose(before, behind, atol=1e-6)
    assert before.min() < 1e-6


def test_squares_have_so_much_room_that_the_middle_ones_stay_where_they_are():
    """A cloud of small squares keeps its order along both axes, and fills two fifths before it is spread."""
    middle = np.array([(x, y) for x in range(4) for y in range(4)], np.float64)
    for area in (np.ones(16), np.full(16, 100.0)):
        found = np.array(as_squares(middle, area, PLACE))
        at = found[:, :2] + found[:, 2:] / 2
        assert (np.diff(at[:, 1].reshape(4, 4), axis=1) > 0).all()
        assert (np.diff(at[:, 0].reshape(4, 4), axis=0) > 0).all()
        assert 0.2 < found[:, 2:].prod(axis=1).sum() / (15 * 9) < 0.6
        # Where the cloud lies makes no difference.
        np.testing.assert_allclose(
            as_squares(middle + np.array([64.0, -32.0]), area, PLACE), found, atol=1e-6
        )


def test_a_stretch_parts_what_pushing_has_not():
    found = np.ones(1)
    forces.stretch_needed(np.array([0.0, 0.5, 9.0]), np.array([0.0, 0.1, 0.0]), np.ones(3), found)
    assert found[0] == pytest.approx(2.0)


def test_what_calls_each_other_stands_close():
    source = np.array([0, 1, 2, 4, 5, 6])
    target = np.array([1, 2, 0, 5, 6, 4])
    start = np.array([(i % 4, i // 4) for i in range(8)], np.float64)
    place = forces.arrange(start, source, target, np.ones(6))
    far = np.hypot(*(place[:, None] - place[None]).transpose(2, 0, 1))
    together, apart = far[source, target], far[np.ix_([0, 1, 2], [4, 5, 6])]
    assert together.max() < apart.min()
    np.testing.assert_array_equal(place, forces.arrange(start, source, target, np.ones(6)))


@pytest.mark.parametrize("many", [[1, 1, 1], [1, 50, 3], []])
def test_a_network_begins_with_the_treemap_and_pulls_by_how_often(many):
    paths, area = [("a", "x"), ("a", "y"), ("b", "z"), ("w",)], np.array([1.0, 2.0, 3.0, 9.0])
    source, target = np.array([0, 1, 3])[: len(many)], np.array([2, 3, 0])[: len(many)]
    pairs = source, target, np.array(many, np.float64)
    city, found = placed("network", paths, area, area, lambda: pairs, PLACE)
    treemap = lay_out(city_of(paths, area.tolist()), area.tolist(), PLACE)
    middle = np.array([(x + wide / 2, y + deep / 2) for x, y, wide, deep in treemap])
    weight = [math.log(1 + one) / math.log(1 + max(many)) for one in many]
    expected = as_squares(forces.arrange(middle, source, target, np.array(weight)), area, PLACE)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert (city.name, city.districts, city.size, city.place) == ("", {}, 15.0, PLACE)
    assert city.buildings == [0, 1, 2, 3]


@given(st.lists(st.tuples(st.floats(0.1, 50.0), st.integers(0, 99)), min_size=1, max_size=40))
@settings(deadline=None, max_examples=40)
def test_a_grid_is_read_by_rank(parts):
    area, rank = (np.array(column, np.float64) for column in zip(*parts))
    found = np.array(in_grid(area, rank, PLACE))
    middle = found[:, :2] + found[:, 2:] / 2
    order = sorted(range(len(parts)), key=lambda i: (-round(middle[i, 1], 6), middle[i, 0]))
    assert [rank[i] for i in order] == sorted(rank, reverse=True)
    np.testing.assert_allclose(found[:, 2] ** 2 / area, (found[:, 2] ** 2 / area)[0])
    # Cells are squares, as large as fit; the largest part fills its own, and the rows lie in the middle.
    across, down = (np.unique(middle[:, axis].round(6)) for axis in (0, 1))
    columns = max(math.ceil(math.sqrt(len(parts) * 15 / 9) - 1e-9), 1)
    assert len(across) == min(columns, len(parts))
    assert len(down) == math.ceil(len(parts) / columns)
    cell = min(15 / columns, 9 / len(down))
    assert found[:, 2].max() == pytest.approx(cell)
    np.testing.assert_allclose(np.diff(across), cell, atol=1e-5)
    np.testing.assert_allclose(np.diff(down), cell, atol=1e-5)
    assert down.mean() == pytest.approx(2.0 + 9 / 2, abs=1e-5)
    assert across[0] == pytest.approx(1.0 + 15 / 2 - cell * (columns - 1) / 2, abs=1e-5)
    for i, one in enumerate(found):
        assert all(over(one, other) < 1e-9 for other in found[:i])


@pytest.mark.parametrize("many", [1, 2, 5, 8, 24, 60])
def test_small_cities_are_alike_and_apart(many):
    found = tiles_of(many, 0.6)
    assert [tile.slice for tile in found] == list(range(many))
    # As few columns as fit: maps are as large as possible.
    fits = [c for c in range(1, many + 1) if -(-many // c) * (0.93 / c * DEEP + 0.6) <= 1.2 * DEEP]
    assert {tile.scale for tile in found} == {0.93 / min([*fits, many])}
    places = [(tile.left, tile.near, tile.scale * WIDE, tile.scale * DEEP) for tile in found]
    for i, one in enumerate(places):
        assert all(over(one, other) <= 0 for other in places[:i])
        assert one[0] + one[2] <= WIDE
        assert one[1] >= 0.6 - 1e-9
    rows = [tile.near for tile in found]
    assert rows[-1] == pytest.approx(0.6)
    assert rows == sorted(rows, reverse=True)


@pytest.mark.parametrize("layout", ["treemap", "grid", "network"])
def test_each_small_city_has_the_heights_of_its_slice(layout):
    p = Parameters(parts="module", floors=6, multiples=True, scale="linear", layout=layout, height="calls")
    picture, drawing = compose([TRACE], p, Frame(640, 360)), VIEW.draw([TRACE], p, Frame(640, 360), silent)
    run, made = picture.runs[0], next(one for one in drawing.elements if one.kind == "building")
    assert isinstance(made, Boxes)
    value = floors(TRACE, run.parts, "calls", (0, TRACE.span_ns), 6)
    scale = picture.tiles[0].scale
    for k, (part, high) in enumerate(zip(made.id.tolist(), made.size[:, 2].tolist())):
        wanted = picture.high * value[part, k // len(picture.path)] / value.max()
        assert high == pytest.approx(scale * max(wanted, 0.02), rel=1e-4)
    edges = picture.edges()
    pairs = [len(links(TRACE, run.parts, (low, high))[2]) for low, high in pairwise(edges)]
    assert drawing.counts["pairs"] == sum(pairs)
    assert edges[0] == 0
    assert edges[-1] == TRACE.span_ns
