"""Where rows, funnels and bands are, in all forms; and the order of rows."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.features.waits.view.geometry import funnels
from tracevis3d.features.waits.view.geometry.amphitheatre import (
    FOLDED,
    Theatre,
    folded,
    half_cylinder,
    semicircle,
    share_height,
)
from tracevis3d.layout.seriation import seriate


def theatre(paper=0.0, lanes=0.0, rows=5, main=True, facing=0.5) -> Theatre:
    levels = np.full(rows - main, 4.0)
    shared = share_height(levels, np.ones(rows - main), spacing=0.4, least=0.02, most=0.2)
    base, angle, upright, stretch = half_cylinder(shared, 3.0, facing=facing, turned=0.2, lanes=lanes)
    sector = semicircle(np.ones(rows - main))
    if main:
        base, sector = np.vstack([[-0.5, 3.4], base]), np.vstack([[0.0, 0.0], sector])
        angle, upright = np.append(np.pi / 2, angle), np.append(1.0, upright)
        stretch = np.append(0.3, stretch * shared.unit)
    return Theatre(
        width=16.0, base=base, angle=angle, upright=upright, stretch=stretch, sector=sector,
        centre=(8.0, 0.0), zero=4.8, level=0.8, main_foot=0.4, main_level=0.3, paper=paper, axis=(-0.5, 0.0),
    )  # fmt: skip


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20),
    st.floats(0.0, 1.0),
    st.floats(0.0, 5.0),
)
@settings(max_examples=100, deadline=None)
def test_on_paper_bars_are_the_bent_bars_of_the_paper(shares, out, front):
    """Level 0 at radius Z around the centre, deeper levels outward, time along the section's angle."""
    made = theatre(paper=1.0)
    n = len(shares)
    for row in range(1, 5):
        first = math.pi + math.pi * (row - 1) / 4
        point = made.place(np.full(n, row), np.array(shares), np.full(n, out), front)
        for share, (x, y, z) in zip(shares, point.tolist()):
            angle, radius = first + share * math.pi / 4, 4.8 + 0.8 * out
            assert x == pytest.approx(8 + radius * math.cos(angle), abs=1e-9)
            assert z == pytest.approx(radius * math.sin(angle), abs=1e-9)
            assert y == -front
    straight = made.place(np.zeros(n, np.int64), np.array(shares), np.full(n, out), 0.0)
    assert np.allclose(straight[:, 0], 16 * np.array(shares))
    assert np.allclose(straight[:, 2], 0.4 + 0.3 * out)


def test_an_arc_is_longer_the_deeper_the_level():
    made = theatre(paper=1.0)
    a, b = np.zeros(1), np.ones(1)

    def length(out):
        one, other = (made.place(np.ones(1, np.int64), x, np.array([out]), 0.0) for x in (a, b))
        return float(np.linalg.norm(other - one))

    assert length(2.0) / length(0.0) == pytest.approx((4.8 + 1.6) / 4.8)


@pytest.mark.parametrize("lanes", [0.0, 0.3, 1.0])
def test_time_is_straight_off_the_paper(lanes):
    made = theatre(lanes=lanes)
    for row in range(5):
        points = made.place(np.full(3, row), np.array([0.0, 0.25, 1.0]), np.full(3, 0.7), 0.0)
        assert points[:, 0].tolist() == [0.0, 4.0, 16.0]
        assert np.ptp(points[:, 1:], axis=0).max() < 1e-12


def test_rows_of_the_half_cylinder_lie_on_it_and_stand_upright():
    made = theatre()
    for row in range(1, 5):
        edge = made.place(np.array([row]), np.zeros(1), np.zeros(1), 0.0)[0, 1:]
        assert np.hypot(*edge) == pytest.approx(3.0)
        beyond = made.place(np.array([row]), np.zeros(1), np.ones(1), 0.0)[0, 1:]
        assert beyond[1] > edge[1]


@given(st.lists(st.floats(1.0, 30.0), min_size=1, max_size=60), st.floats(0.0, 1.0), st.floats(0.0, 0.6))
@settings(max_examples=60, deadline=None)
def test_no_row_hides_another_from_the_reader(levels, facing, turned):
    """Seen from straight ahead of the opening, rows lie above each other, whatever their slant."""
    levels = np.array(levels)
    rows = share_height(levels, np.ones(len(levels)), spacing=0.3, least=0.01, most=0.2)
    base, angle, _, stretch = half_cylinder(rows, 3.0, facing=facing, turned=turned, lanes=0.0)
    up = np.array([math.sin(turned), math.cos(turned)])
    foot = base @ up
    tip = foot + stretch * (rows.high - rows.low) * (np.stack([np.cos(angle), np.sin(angle)], 1) @ up)
    low, high = np.minimum(foot, tip), np.maximum(foot, tip)
    assert (high[1:] <= low[:-1] + 0.05).all()
    assert rows.high[0] <= 1 + 1e-9
    assert rows.low[-1] >= -1 - 1e-9


def test_focused_rows_are_wider():
    weight = np.array([1.0, 3.0, 1.0])
    rows = share_height(np.full(3, 5.0), weight, spacing=0.2, least=0.01, most=0.2)
    height = rows.high - rows.low
    assert height[1] == pytest.approx(3 * height[0])
    sector = semicircle(weight)
    assert np.diff(sector, axis=1)[1, 0] == pytest.approx(3 * np.diff(sector, axis=1)[0, 0])
    assert sector[0, 0] == pytest.approx(math.pi)
    assert sector[-1, 1] == pytest.approx(2 * math.pi)


def test_levels_fold_one_after_another():
    heights = np.array([1.0, 1.0, 0.5])
    assert folded(heights, 0.0).tolist() == [1.0, 1.0, 0.5]
    assert folded(heights, 1.0).tolist() == [FOLDED, 1.0, 0.5]
    assert folded(heights, 1.5) == pytest.approx([FOLDED, 1 - 0.5 * (1 - FOLDED), 0.5])
    assert folded(heights, 9.0) == pytest.approx(heights * FOLDED)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
@settings(max_examples=30, deadline=None)
def test_forms_turn_into_each_other_without_a_jump(paper, lanes):
    step = 1e-4
    row, share, out = np.arange(5), np.linspace(0, 1, 5), np.full(5, 0.5)
    here = theatre(paper=paper, lanes=lanes).place(row, share, out, 0.0)
    there = theatre(paper=min(paper + step, 1), lanes=min(lanes + step, 1)).place(row, share, out, 0.0)
    assert np.abs(there - here).max() < 0.02


def test_blocks_are_bent_where_the_paper_bends_them():
    made = theatre(paper=1.0)
    one = np.array([1])
    zero = np.zeros(1)
    corner, first = made.blocks(one, zero, zero + 1, zero, zero + 1, zero, zero + 0.1)
    assert first.tolist() == [0, len(corner)]
    assert len(corner) > 20
    radius = np.hypot(corner[:, :, 0] - 8, corner[:, :, 2])
    assert np.allclose(radius[:, [0, 3]], 4.8, atol=1e-5)
    assert np.allclose(radius[:, [1, 2]], 5.6, atol=1e-5)
    straight, first = theatre().blocks(one, zero, zero + 1, zero, zero + 1, zero, zero + 0.1)
    assert first.tolist() == [0, 2]
    assert straight[1, :, 0].tolist() == [16.0] * 4


def test_with_the_papers_power_a_funnel_has_the_papers_sides():
    """The sides are the quadratic curves from the wait's start and end to the release, pulled to the core."""
    rng = np.random.default_rng(1)
    left, right, core, end = (rng.random((1, 3)) * 5 for _ in range(4))
    corner, first = funnels.ribbons(left, right, core, end, funnels.PAPER_POWER, 0.0)
    assert first.tolist() == [0, funnels.SAMPLES]
    for t, section in zip(funnels.steps(), corner):
        for k, start in ((0, left), (1, right)):
            curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * core + t**2 * end
            assert np.allclose(section[k], curve[0], atol=1e-5)


@given(st.floats(2.0, 40.0))
@settings(max_examples=20, deadline=None)
def test_a_funnel_opens_over_the_wait_and_ends_at_the_release(power):
    left, right, core, end = (np.array([[x, y, z]]) for x, y, z in
                              ((0, 0, 0), (4, 0, 0), (5, -2, -3), (6, 0, -6)))  # fmt: skip
    corner, _ = funnels.ribbons(left, right, core, end, power, 0.0)
    assert np.allclose(corner[0, :2], [left[0], right[0]])
    assert np.allclose(corner[-1], end[0])
    width = np.linalg.norm(corner[:, 1] - corner[:, 0], axis=1)
    assert (np.diff(width) <= 1e-6).all()


def test_a_band_is_concave_at_its_releases():
    left, right = np.array([[0.0, 0, 0]]), np.array([[2.0, 0, 0]])
    low, high, core = np.array([[0.0, 0, -8]]), np.array([[4.0, 0, -8]]), np.array([[2.0, 0, -4]])
    corner, first = funnels.bands(left, right, core, low, high, 0.0)
    strips = corner.reshape(funnels.STRIPS, funnels.SAMPLES, 4, 3)
    assert len(first) == funnels.STRIPS + 1
    assert np.allclose(strips[0, 0, 0], left[0])
    assert np.allclose(strips[-1, 0, 1], right[0])
    assert np.allclose(strips[0, -1, 0], low[0])
    assert np.allclose(strips[-1, -1, 1], high[0])
    rim = strips[:, -1, 1, 2]
    assert rim[:-1].min() > -8  # bent towards the core between the first and the last release
    assert rim.max() == pytest.approx(-8 + 0.25 * 4)
    assert np.allclose(strips[:-1, :, 1], strips[1:, :, 0])


@given(st.integers(2, 12), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_seriation_finds_a_chain_again(n, seed):
    order = np.random.default_rng(seed).permutation(n)
    strength = np.zeros((n, n))
    for a, b in pairwise(order):
        strength[a, b] = 1.0
    found = seriate(strength).tolist()
    assert found in (order.tolist(), order[::-1].tolist())


def test_seriation_keeps_parts_together():
    strength = np.zeros((5, 5))
    strength[0, 3] = 9.0
    strength[1, 4] = 1.0
    assert seriate(strength).tolist() == [0, 3, 1, 4, 2]
    assert seriate(np.zeros((0, 0))).tolist() == []
