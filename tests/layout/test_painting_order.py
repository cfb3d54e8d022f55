"""Painting shapes in their order shows what a buffer of depths shows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout.sight.painting_order import painting_order

SIDE = 24


def rectangle(left: int, low: int, wide: int, high: int, depths: tuple[float, float]):
    """Return corners of an upright rectangle whose left and right edge have a depth each."""
    near, far = depths
    return [
        (left, low, near),
        (left + wide, low, far),
        (left + wide, low + high, far),
        (left, low + high, near),
    ]


def surfaces(shapes):
    corner = np.array([point for shape in shapes for point in shape], float).reshape(-1, 3)
    first = 4 * np.arange(len(shapes))[:, None]
    triangle = np.stack([first + np.array(k) for k in ((0, 1, 2), (0, 2, 3))], axis=1).reshape(-1, 3)
    return corner, triangle, np.repeat(np.arange(len(shapes)), 2)


def in_front(shapes, x: float, y: float) -> set[int]:
    """Return which shapes are nearest at a point, as the definition has it."""
    depth = {}
    for i, ((left, low, near), (right, _, far), (_, high, _), _) in enumerate(shapes):
        if left < x < right and low < y < high:
            depth[i] = near + (far - near) * (x - left) / (right - left)
    least = min(depth.values(), default=0.0)
    return {i for i, z in depth.items() if z <= least + 1e-4}


def seen(shapes, order, x: float, y: float) -> int | None:
    shown = None
    for i in order:
        (left, low, _), (right, _, _), (_, high, _), _ = shapes[i]
        if left < x < right and low < y < high:
            shown = i
    return shown


PLACE = st.tuples(st.integers(0, 18), st.integers(0, 18), st.integers(1, 12), st.integers(1, 12))


@given(st.lists(PLACE, max_size=9), st.randoms(use_true_random=False))
def test_what_lies_across_the_view_is_painted_by_depth(places, random) -> None:
    depths = list(range(len(places)))
    random.shuffle(depths)
    shapes = [rectangle(*place, (z, z)) for place, z in zip(places, depths)]
    order, wrong = painting_order(*surfaces(shapes), len(shapes), (SIDE, SIDE))
    assert wrong == 0
    assert sorted(order.tolist()) == list(range(len(shapes)))
    for x in np.arange(SIDE) + 0.5:
        for y in (3.5, 9.5, 15.5, 21.5):
            front = in_front(shapes, x, y)
            shown = seen(shapes, order.tolist(), x, y)
            assert shown in front if front else shown is None


def test_what_leans_is_painted_by_where_it_overlaps() -> None:
    """A plate from near to far, and on its far end something whose mean is farther than the plate's."""
    shapes = [rectangle(0, 0, 20, 10, (0.0, 20.0)), rectangle(15, 2, 5, 5, (14.5, 19.5))]
    order, wrong = painting_order(*surfaces(shapes), 2, (SIDE, SIDE))
    assert (order.tolist(), wrong) == ([0, 1], 0.0)


def test_three_that_hide_each_other_in_turn_are_told() -> None:
    """No order shows a circle of slanted bars; what is wrong is a small part."""
    bars = [(0, 2), (1, 0), (2, 1)]
    shapes = []
    for near, far in bars:
        shapes.append(rectangle(2, 2, 18, 18, (near, far)))
    order, wrong = painting_order(*surfaces(shapes), 3, (SIDE, SIDE))
    assert sorted(order.tolist()) == [0, 1, 2]
    assert 0 < wrong < 0.8


def test_nothing_is_painted_in_no_order() -> None:
    order, wrong = painting_order(np.empty((0, 3)), np.empty((0, 3), int), np.empty(0, int), 0, (SIDE, SIDE))
    assert len(order) == 0
    assert wrong == 0
