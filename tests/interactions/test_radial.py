"""The drum and its sheet: bent without stretching, chords that become the sequence's bars, sectors, names."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.features.interactions.hierarchy import build
from tracevis3d.features.interactions.view.radial import (
    MantleShape,
    control_points,
    petals,
    place_sectors,
    spread,
)
from tracevis3d.layout.bundle import bundle

STAGES = [0.0, 0.3, 0.7, 1.0]


@pytest.mark.parametrize("unroll", STAGES)
def test_the_mantle_is_bent_but_not_stretched(unroll):
    bend = MantleShape(3.0, 10.0, unroll, roll=0.5)
    s = np.linspace(0, 1, 20_001)
    place, tangent, normal = bend.section(s)
    steps = np.linalg.norm(np.diff(place, axis=0), axis=1)
    assert steps.sum() == pytest.approx(bend.circumference, rel=1e-6)
    assert steps.max() / steps.min() == pytest.approx(1, abs=1e-6)
    assert np.abs(np.linalg.norm(tangent, axis=1) - 1).max() < 1e-9
    assert np.abs((tangent * normal).sum(axis=1)).max() < 1e-12
    # The tangent is where the mantle goes.
    assert np.abs(np.diff(place, axis=0)[::500] / steps[::500, None] - tangent[:-1:500]).max() < 1e-3


def test_closed_it_is_a_circle_and_flat_it_is_a_line():
    s = np.linspace(0, 1, 101)
    place, _, normal = MantleShape(2.0, 1.0).section(s)
    assert np.abs(np.linalg.norm(place, axis=1) - 2).max() < 1e-12
    assert np.abs(place + 2 * normal).max() < 1e-12  # the inner side looks at the middle
    place, _, _ = MantleShape(2.0, 1.0, 1.0).section(s)
    assert np.abs(place[:, 1]).max() < 1e-12
    assert place[[0, -1], 0] == pytest.approx([-2 * np.pi, 2 * np.pi])


def test_the_brim_folds_into_the_sheet():
    s, zero, one = np.array([0.2]), np.zeros(1), np.ones(1)
    closed, flat = MantleShape(3.0, 10.0), MantleShape(3.0, 10.0, 1.0)
    # Outwards is away from the axis on the drum, and before the start of time on the sheet.
    assert np.linalg.norm(closed.brim(s, one, zero)[0, 1:]) == pytest.approx(4)
    assert closed.brim(s, zero, one)[0, 0] == pytest.approx(-1)
    assert flat.brim(s, one, zero)[0, 0] == pytest.approx(-1)
    assert flat.brim(s, zero, one)[0] - flat.mantle(s, zero)[0] == pytest.approx([0, -1, 0])


def holten(parent, point, a, b, beta, drop, samples):
    """Sample a clamped cubic B-spline on the straightened tree path, from Holten's formula."""

    def up(n):
        return [n] if parent[n] < 0 else [n, *up(parent[n])]

    left, right = up(a), up(b)
    common = next(n for n in left if n in right)
    path = [*left[: left.index(common)], common, *right[: right.index(common)][::-1]]
    if drop and len(path) > 3 and common not in (a, b):
        path.remove(common)
    p = point[path].astype(float)
    n = len(p)
    straight = np.array([beta * p[i] + (1 - beta) * (p[0] + i / (n - 1) * (p[-1] - p[0])) for i in range(n)])
    knots = np.concatenate([[straight[0]] * 2, straight, [straight[-1]] * 2])
    out = []
    for t in np.linspace(0, n + 1, samples):
        i = min(int(t), n)
        u = t - i
        w = [(1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3]
        out.append(np.array(w) / 6 @ knots[i : i + 4])
    return np.array(out)


def drum_of(elements=12):
    rng = np.random.default_rng(elements)
    h, _ = build([(f"p{i % 3}", f"q{i % 2}", f"c{i}") for i in range(elements)], np.ones(elements))
    sectors = place_sectors(h.parent, h.extent, h.element, rng.uniform(0.5, 2, h.elements))
    return h, sectors


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("beta", [0.0, 0.8, 1.0])
def test_chords_of_the_closed_drum_are_holtens_splines(beta, drop):
    h, sectors = drum_of()
    point = control_points(h.parent, h.element, sectors.middle, 3.0)
    a, b = h.node[[0, 3, 5, 7]], h.node[[9, 4, 0, 6]]
    routes = bundle(h.parent, point, a, b, beta=beta, drop_common=drop, samples=48)
    curve = routes.point.reshape(4, 48, 3)[..., :2].astype(np.float64)
    for i in range(4):
        expected = holten(h.parent, point, int(a[i]), int(b[i]), beta, drop, 48)[:, :2]
        assert np.abs(curve[i] - expected).max() < 2e-5
    # Ends lie on the mantle, at the middle of their sectors.
    ends = np.stack([sectors.middle[a], sectors.middle[b]], axis=1)
    place, _, _ = MantleShape(3.0, 1.0).section(ends)
    assert np.abs(curve[:, [0, -1]] - place).max() < 1e-5
    # Closed and unturned the bend leaves them as they are; flat they are the sequence's straight bars.
    assert np.abs(MantleShape(3.0, 1.0).chords(curve, ends) - curve).max() < 1e-9
    flat = MantleShape(3.0, 1.0, 1.0).chords(curve, ends)
    assert np.abs(flat[..., 1]).max() < 1e-9
    x = (ends - 0.5) * 6 * np.pi
    assert flat[..., 0] == pytest.approx(x[:, :1] + (x[:, 1:] - x[:, :1]) * np.linspace(0, 1, 48), abs=1e-9)
    # In between they move steadily: no jump from one stage to the next.
    stages = [MantleShape(3.0, 1.0, u).chords(curve, ends) for u in np.linspace(0, 1, 201)]
    assert max(np.abs(m - n).max() for m, n in pairwise(stages)) < 0.25


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_sectors_follow_each_other_and_containers_span_theirs(elements, random):
    paths = [tuple(random.choice("abc") for _ in range(random.randint(1, 3))) for _ in range(elements)]
    h, _ = build(paths, np.ones(elements))
    weight = np.array([random.uniform(0.2, 3) for _ in range(h.elements)])
    sectors = place_sectors(h.parent, h.extent, h.element, weight)
    leaves = h.node
    low, high = sectors.low[leaves], sectors.high[leaves]
    assert (low >= -1e-12).all()
    assert (high <= 1 + 1e-12).all()
    assert (high > low).all()
    assert (low[1:] >= high[:-1] - 1e-12).all()
    assert (high - low) / weight == pytest.approx((high - low)[0] / weight[0])
    for i in range(1, len(h)):
        inside = [j for j in leaves.tolist() if i <= j < i + h.extent[i]]
        assert sectors.low[i] == pytest.approx(min(sectors.low[inside]))
        assert sectors.high[i] == pytest.approx(max(sectors.high[inside]))
        if h.parent[i] > 0 and h.element[i] < 0:
            assert sectors.level[i] <= sectors.level[h.parent[i]]


def test_calls_within_an_element_are_loops_inside_it():
    loops = petals(np.array([0.2, 0.8]), np.array([0.05, 0.01]), 3.0, 16)
    assert (np.linalg.norm(loops, axis=2) <= 3 + 1e-9).all()
    assert np.linalg.norm(loops[:, [0, -1]], axis=2) == pytest.approx(3.0)
    assert (np.linalg.norm(loops[:, 8], axis=1) < 2.95).all()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-10, 10), max_size=20), st.floats(0.01, 2))
def test_names_are_spread_apart_with_least_movement(wanted, least):
    wanted = np.sort(np.array(wanted, np.float64))
    got = spread(wanted, least)
    assert (np.diff(got) >= least - 1e-9).all()
    if len(wanted) and (np.diff(wanted) >= least).all():
        assert got == pytest.approx(wanted)
    # Moved as a whole, no other place is better.
    if len(wanted):
        moved = [((got + d - wanted) ** 2).sum() for d in (-0.01, 0.0, 0.01)]
        assert moved[1] <= min(moved) + 1e-9
