"""Closed cones opened in their rooms: all stays in its room, nothing overlaps, the largest come first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.test_compact import graph_of
from tests.support import synthetic
from tracevis3d.features.call_tree.cone.layouts import rooms as cone_rooms
from tracevis3d.features.call_tree.cone.layouts.rooms import SHARE, Ground, Rooms

NONE = np.empty(0, np.int64)


def ground_of(
    seed: int, n: int, functions: int, *, flat: bool = False, most: int = 40
) -> tuple[Ground, Rooms]:
    """The graph of a program, and its roots side by side as closed cones."""
    graph = graph_of(synthetic.random_calls(seed, n, functions=functions))
    forest = graph.forest
    m, count = len(graph), len(forest.first) - 1
    extent = np.append(graph.subtrees.extent, np.zeros(count - m, np.int64))
    own = 1.0 + np.random.default_rng(seed).random(count)
    closed = own + 0.55 * np.log10(np.maximum(extent, 1))
    roots = graph.roots
    k = len(roots)
    rooms = Rooms(
        roots, np.full(k, -1), np.full(k, -1), np.full(k, 2, np.int32), np.ones(k, np.int32),
        np.concatenate([[0], np.cumsum(graph.subtrees.extent[roots])])[:-1].astype(np.int64),
        3.0 * np.arange(k), np.zeros(k), np.zeros(k), np.ones(k),
        np.zeros(k) if flat else np.where(extent[roots] > 1, 1.1, 0.0), np.full(k, 0.3),
    )  # fmt: skip
    return Ground(forest, graph.calls_before, own, closed, most, flat), rooms


def opened(
    ground: Ground, rooms: Rooms, size, *, least=10.0, budget=400, kept=NONE, most=10**9
) -> cone_rooms.Opened:
    interest = np.zeros(len(ground.own))
    return cone_rooms.open_near(
        ground, rooms, size, interest, least=least, budget=budget, kept=kept, step=0.0, most=most
    )  # fmt: skip


def wide(rooms: Rooms) -> np.ndarray:
    """A size for each place: by its disc, and a little by where it is, so that no two are alike."""
    return 200.0 * rooms.disc * (1.0 + 0.1 * np.sin(7 * rooms.x + 3 * rooms.y))


@given(
    st.integers(0, 2**32), st.integers(2, 400), st.integers(1, 12), st.booleans(), st.sampled_from([3, 8, 40])
)
@settings(deadline=None, max_examples=150)
def test_all_is_in_its_room_and_nothing_overlaps(seed, n, functions, flat, most) -> None:
    ground, closed = ground_of(seed, n, functions, flat=flat, most=most)
    found = opened(ground, closed, wide, budget=300)
    rooms, given = found.rooms, len(closed)
    top = np.arange(len(rooms))
    for i in range(given, len(rooms)):
        top[i] = top[rooms.parent[i]]
    outer, tiny = rooms.taken(top), 1e-9
    # In the room of the closed cone that it is in: across, above and below.
    inner = top != np.arange(len(rooms))
    away = np.hypot(rooms.x - outer.x, rooms.y - outer.y)
    reach = np.maximum(SHARE * rooms.disc, rooms.ball)
    assert (away + reach <= SHARE * outer.disc + tiny)[inner].all()
    if not flat:
        bottom = outer.down + outer.height
        assert (rooms.down + rooms.height <= bottom + tiny)[inner].all()
        assert (rooms.down + rooms.ball <= bottom + tiny)[inner].all()
        assert (rooms.down - rooms.ball >= outer.down + outer.ball - tiny)[inner].all()
    # Solids: balls, and the cones of those that are closed. Cylinders around them don't meet.
    leads = rooms.height > 0 if not flat else (np.diff(ground.edges.first)[rooms.node] > 0)
    cones = np.flatnonzero(leads & ~found.open)
    low = np.concatenate([rooms.down - rooms.ball, rooms.down[cones]])
    high = np.concatenate([rooms.down + rooms.ball, (rooms.down + rooms.height)[cones]])
    radius = np.concatenate([rooms.ball, SHARE * rooms.disc[cones]])
    whose = np.concatenate([np.arange(len(rooms)), cones])
    apart = np.hypot(rooms.x[whose][:, None] - rooms.x[whose], rooms.y[whose][:, None] - rooms.y[whose])
    beside = apart >= radius[:, None] + radius - tiny
    if flat:
        # In a plan what is below a call lies on it.
        level = rooms.depth[whose]
        above = level[:, None] != level
    else:
        above = (low[:, None] >= high - tiny) | (high[:, None] <= low + tiny)
    same = whose[:, None] == whose
    assert (beside | above | same).all()


@given(st.integers(0, 2**32), st.integers(2, 500), st.integers(1, 12), st.integers(1, 120))
@settings(deadline=None, max_examples=80)
def test_the_largest_come_first(seed, n, functions, budget) -> None:
    ground, closed = ground_of(seed, n, functions)
    found = opened(ground, closed, wide, least=4.0, budget=budget)
    # The twin opens all there is, one room after the other, and then chooses.
    places, keys = [(i, ()) for i in range(len(closed))], []
    rooms = [closed.taken(np.array([i])) for i in range(len(closed))]
    above = [-1] * len(closed)
    degree = np.diff(ground.edges.first)
    at = 0
    while at < len(rooms):
        room = rooms[at]
        pixels = float(wide(room)[0])
        key = np.log2(pixels) if above[at] < 0 else min(np.log2(pixels), keys[above[at]])
        can = bool(cone_rooms.openable(ground, room)[0]) and pixels >= 4.0 and degree[room.node[0]] <= budget
        keys.append(key if can and (above[at] < 0 or keys[above[at]] > -np.inf) else -np.inf)
        if keys[-1] > -np.inf:
            callees, _ = cone_rooms.inside(ground, room, np.zeros(1, np.int64))
            for k in range(len(callees)):
                rooms.append(callees.taken(np.array([k])))
                above.append(at)
                places.append((places[at][0], (*places[at][1], k)))
        at += 1
    left, taken = budget, set()
    for i in sorted(range(len(rooms)), key=lambda i: (-keys[i], i)):
        need = int(degree[rooms[i].node[0]])
        if keys[i] > -np.inf and need <= left and (above[i] < 0 or above[i] in taken):
            taken.add(i)
            left -= need
    assert sorted(int(rooms[i].call[0]) for i in taken) == sorted(found.rooms.call[found.open].tolist())
    appeared = len(found.rooms) - len(closed)
    assert appeared == budget - left
    # What is given stays what it is.
    assert np.array_equal(found.rooms.x[: len(closed)], closed.x)
    assert np.array_equal(found.rooms.disc[: len(closed)], closed.disc)


def test_what_is_open_stays_open_for_a_while() -> None:
    ground, closed = ground_of(3, 300, 6)

    def nearness(by: float):
        return lambda rooms: by * 100.0 * rooms.disc

    far, near = opened(ground, closed, nearness(0.05)), opened(ground, closed, nearness(0.2))
    assert not far.open.any()
    assert near.open.any()
    kept = np.sort(near.rooms.call[near.open])
    for by, stays in ((0.13, True), (0.11, False)):
        again = opened(ground, closed, nearness(by), least=20.0, kept=kept)
        assert bool(again.open.any()) == stays
        assert not opened(ground, closed, nearness(by), least=20.0).open.any()


def test_a_place_depends_on_the_way_alone() -> None:
    ground, closed = ground_of(5, 400, 7)
    found = opened(ground, closed, wide, budget=10_000)
    rooms = found.rooms
    for i in np.flatnonzero(rooms.parent >= 0)[::7].tolist():
        ordinals, at = [], i
        while rooms.parent[at] >= 0:
            above = int(rooms.parent[at])
            ordinals.append(int(rooms.edge[at] - ground.edges.first[rooms.node[above]]))
            at = above
        way = cone_rooms.way(ground, closed, at, tuple(reversed(ordinals)))
        assert len(way) == len(ordinals) + 1
        for name in ("x", "y", "down", "disc", "height", "ball"):
            assert getattr(way, name)[-1] == pytest.approx(getattr(rooms, name)[i], rel=1e-12, abs=1e-15)
        assert way.call[-1] == rooms.call[i]
    # Whatever else is opened.
    few = opened(ground, closed, lambda rooms: wide(rooms) * (rooms.depth < 4), budget=40).rooms
    place = {int(c): k for k, c in enumerate(rooms.call)}
    for k, c in enumerate(few.call.tolist()):
        assert rooms.x[place[c]] == few.x[k]


def test_a_chain_ends_where_digits_do() -> None:
    n = 100_000
    ground, closed = chain(n)
    way = cone_rooms.way(ground, closed, 0, (0,) * (n - 1))
    assert 30 < len(way) < 200
    assert way.disc[-2] > 2e-5
    assert (np.diff(way.down) > 0).all()


def chain(n: int) -> tuple[Ground, Rooms]:
    """Calls that each call one other."""
    graph = graph_of(synthetic.chain(n))
    count = len(graph.forest.first) - 1
    own = np.ones(count)
    closed = own + 0.55 * np.log10(np.append(graph.subtrees.extent, np.ones(count - len(graph))))
    one = np.ones(1)
    rooms = Rooms(graph.roots, np.full(1, -1), np.full(1, -1), np.full(1, 2, np.int32), np.ones(1, np.int32),
                  np.zeros(1, np.int64), 0 * one, 0 * one, 0 * one, one, one, 0.2 * one)  # fmt: skip
    return Ground(graph.forest, graph.calls_before, own, closed, 40, False), rooms


def test_of_very_many_callees_the_most_worth_appear_in_their_places() -> None:
    ground, closed = ground_of(1, 500, 5)
    interest = np.random.default_rng(2).random(len(ground.own))
    values = {"least": 10.0, "budget": 10_000, "kept": NONE, "step": 0.0}
    every = cone_rooms.open_near(ground, closed, wide, interest, most=10**6, **values)
    some = cone_rooms.open_near(ground, closed, wide, interest, most=2, **values)
    place = {int(c): k for k, c in enumerate(every.rooms.call)}
    count = 0
    for i in np.flatnonzero(some.open).tolist():
        shown = np.flatnonzero(some.rooms.parent == i)
        (there,) = np.flatnonzero(every.rooms.parent == place[int(some.rooms.call[i])])[None]
        assert len(shown) == min(len(there), 2)
        best = np.sort(interest[every.rooms.node[there]])[::-1][: len(shown)]
        assert np.sort(interest[some.rooms.node[shown]])[::-1].tolist() == best.tolist()
        for k in shown.tolist():
            assert some.rooms.x[k] == every.rooms.x[place[int(some.rooms.call[k])]]
        count += len(there) > 2
    assert count > 2
