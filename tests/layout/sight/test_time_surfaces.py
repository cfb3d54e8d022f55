"""Surfaces along which time runs: rays against points that lie on them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout.sight.picking import Ray
from tracevis3d.layout.sight.time_surfaces import Cylinder, from_lower_end, front_band

shares = st.floats(0.02, 0.98)


def ring(sides=48, open_part=0.0, radius=2.0):
    """Return a cylinder along x, closed or with an opening, as a drum's mantle."""
    turn = np.linspace(0, 2 * np.pi * (1 - open_part), sides + 1)
    section = np.stack([np.full(sides + 1, 3.0), radius * np.cos(turn), radius * np.sin(turn)], axis=1)
    return Cylinder.between(section, section + np.array([10.0, 0, 0]))


def test_there_is_none_between_sections_without_extent():
    section = ring().section
    assert Cylinder.between(section, section) is None
    assert Cylinder.between(section[:1], section + 1) is None
    assert Cylinder.between(section, section[:0]) is None


@given(shares, shares)
def test_a_ray_from_the_middle_meets_what_it_was_sent_to(share, around):
    surface = ring(open_part=0.25)
    k = int(around * (len(surface.section) - 1))
    target = surface.section[k : k + 2].mean(axis=0) + share * surface.axis
    eye = surface.middle + 0.5 * surface.axis
    point, at, place = surface.met(Ray.of(eye, target - eye))
    assert np.allclose(point, target, atol=1e-6)
    assert at == pytest.approx(share, abs=1e-6)
    assert place == pytest.approx((k + 0.5) / (len(surface.section) - 1))


@given(shares, st.floats(0, 6.28))
def test_from_outside_the_near_wall_is_met_first_and_from_within_the_far_one(share, turn):
    surface = ring()
    eye = surface.middle + share * surface.axis + 9 * np.array([0, np.cos(turn), np.sin(turn)])
    ray = Ray.of(eye, surface.middle + share * surface.axis - eye)
    near, _, _ = surface.met(ray, outside=True)
    far, _, _ = surface.met(ray)
    apart = np.linalg.norm(near - eye), np.linalg.norm(far - eye)
    assert apart == pytest.approx((7, 11), abs=0.05)


def test_what_misses_the_surface_meets_nothing():
    surface = ring()
    assert surface.met(Ray.of((0, 9, 0), (0, 1, 0))) is None
    assert surface.met(Ray.of((0, 0, 9), (0, 0, -1))) is None  # before time begins
    assert ring(open_part=0.5).met(Ray.of((8, 0, 0), (0, 0, -1))) is None


@given(shares, st.tuples(*[st.floats(-5, 5)] * 3))
def test_the_share_along_a_line_is_where_the_ray_comes_nearest(share, eye):
    surface = ring()
    through = surface.section[5]
    target = through + share * surface.axis
    eye = np.add(eye, (3 + 10 * share, 0, 14))
    assert surface.share_along(Ray.of(eye, target - eye), through) == pytest.approx(share, abs=1e-6)


def test_no_share_where_the_ray_runs_along_time():
    surface = ring()
    assert surface.share_along(Ray.of((0, 5, 0), (1, 0, 0)), surface.middle) is None
    assert surface.share_of((-9, 0, 0)) == 0
    assert surface.share_of((99, 0, 0)) == 1


@given(shares, shares)
def test_a_band_lies_on_the_surface_from_share_to_share(left, right):
    surface = ring(open_part=0.1)
    pieces = surface.band(left, right)
    assert len(pieces) == 16
    low, high = sorted((left, right))
    assert np.allclose(pieces[:, [0, 3], 0], 3 + 10 * low)
    assert np.allclose(pieces[:, [1, 2], 0], 3 + 10 * high)
    assert np.allclose(pieces[1:, 0], pieces[:-1, 3])
    assert np.allclose(np.linalg.norm(pieces[:, :, 1:], axis=2), 2)


def test_the_last_piece_is_the_upper_one():
    surface = Cylinder.between([[0, 0, 0], [0, 1, 1], [0, 0, 5.0]], [[4, 0, 0]])
    pieces = surface.band(0, 1)
    assert [piece[0, 2] for piece in from_lower_end(pieces)] == [0, 1]
    fallen = pieces * (1, 1, -1)
    again = from_lower_end(fallen)
    assert again[0][0, 2] < again[-1][2, 2]
    assert {tuple(corner) for piece in again for corner in piece.tolist()} == {
        tuple(corner) for piece in fallen for corner in piece.tolist()
    }


def test_a_band_over_a_front():
    wall = np.array([0.0, 1, 2]), np.array([9.0, 2, 7])
    assert front_band(wall, 5, 3).tolist() == [[3, 1, 2], [5, 1, 2], [5, 1, 7], [3, 1, 7]]
    lying = np.array([0.0, 1, 2]), np.array([9.0, 8, 3])
    assert front_band(lying, 3, 5).tolist() == [[3, 1, 3], [5, 1, 3], [5, 8, 3], [3, 8, 3]]


@given(st.floats(0, 47.9), st.floats(0.05, 20), shares, st.sampled_from([0.0, 0.25]))
def test_a_column_is_the_stretch_around_points(first, more, share, open_part):
    surface = ring(open_part=open_part)
    last = min(first + more, 48.0)
    known = np.arange(len(surface.section))
    at = np.array([first, last])
    places = np.stack([np.interp(at, known, surface.section[:, axis]) for axis in range(3)], axis=1)
    # Where they are along time makes no difference, nor whether they lie a little inside.
    centre = surface.section.mean(axis=0) * [1, 0, 0]
    inside = centre + (places - centre) * [1, 0.98, 0.98] + share * surface.axis
    found = surface.around(inside)
    back = np.stack([np.interp(found, known, surface.section[:, axis]) for axis in range(3)], axis=1)
    np.testing.assert_allclose(back, places, atol=0.05)
    pieces = surface.column(first, last)
    np.testing.assert_allclose(pieces[0, 0], places[0], atol=1e-9)
    np.testing.assert_allclose(pieces[-1, 3], places[1], atol=1e-9)
    np.testing.assert_allclose(pieces[:-1, 3], pieces[1:, 0])
    np.testing.assert_allclose(pieces[:, 1] - pieces[:, 0], np.tile(surface.axis, (len(pieces), 1)))
    # It has each corner of the section that lies between.
    inner = surface.section[(known > first) & (known < last)]
    np.testing.assert_allclose(pieces[1:, 0], inner, atol=1e-9)
