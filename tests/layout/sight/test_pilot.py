"""Flying: as fast as what is ahead is far, with a level horizon."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout.sight.pilot import MOVES, PACE, Pilot

numbers = st.floats(-50, 50)
vectors = st.tuples(numbers, numbers, numbers)
keys = st.sets(st.sampled_from(sorted(MOVES)), max_size=3)


@given(vectors, st.lists(st.tuples(st.floats(-500, 500), st.floats(-500, 500)), max_size=8))
def test_there_is_no_roll(ahead, moves):
    pilot = Pilot.looking((0, 0, 0), ahead)
    for x, y in moves:
        pilot = pilot.turned(x, y)
    right, forward, up = pilot.axes()
    assert right[2] == 0
    assert up[2] >= math.cos(math.radians(88.01))
    assert np.allclose(
        np.stack([right, forward, up]) @ np.stack([right, forward, up]).T, np.eye(3), atol=1e-9
    )


@given(vectors.filter(lambda v: math.hypot(v[0], v[1]) > 1e-3 and abs(v[2]) < 10 * math.hypot(v[0], v[1])))
def test_one_looks_where_one_looked(ahead):
    forward = Pilot.looking((0, 0, 0), ahead).axes()[1]
    assert np.allclose(forward, np.array(ahead) / np.linalg.norm(ahead), atol=1e-6)


@given(st.floats(0.5, 500), st.integers(1, 60))
def test_ahead_the_speed_is_in_proportion_to_the_distance(distance, pictures):
    """In a second, in however many pictures, the same share of the way is left."""
    pilot, left = Pilot((0.0, 0.0, 0.0)), distance
    for _ in range(pictures):
        before = pilot
        pilot = pilot.flown(1 / pictures, "W", left, 1e-6)
        left -= math.dist(before.eye, pilot.eye)
    assert left == pytest.approx(distance * math.exp(-PACE), rel=1e-3)


@given(st.floats(0.001, 20), st.floats(0.01, 3), st.lists(st.floats(0.001, 2), max_size=30))
def test_with_collision_one_never_comes_too_near(distance, near, seconds):
    pilot, wall = Pilot((0.0, 0.0, 0.0)), distance
    for some in seconds:
        pilot = pilot.flown(some, "W", wall - pilot.eye[1], near, collides=True)
    assert pilot.eye[1] <= max(wall - 1.5 * near, 0.0) + 1e-9


@given(keys, st.floats(0.01, 1), st.floats(0.1, 100))
def test_keys_lead_where_they_say(held, seconds, distance):
    pilot = Pilot((0.0, 0.0, 0.0)).flown(seconds, held, distance, 0.01)
    way = np.sum([MOVES[key] for key in held], axis=0) if held else np.zeros(3)
    assert np.array_equal(np.sign(np.round(pilot.eye, 12)), np.sign(way))
    faster = Pilot((0.0, 0.0, 0.0)).flown(seconds, {*held, "SHIFT"}, distance, 0.01)
    assert math.dist(faster.eye, (0, 0, 0)) >= math.dist(pilot.eye, (0, 0, 0)) - 1e-12


def test_the_wheel_flies_without_hands():
    pilot = Pilot((0.0, 0.0, 0.0))
    assert pilot.flown(1, (), 10, 0.1).eye == (0, 0, 0)
    ahead = pilot.notched(1)
    assert ahead.flown(1, (), 10, 0.1).eye[1] > 1
    assert ahead.notched(1).pace > ahead.pace == pilot.pace
    assert ahead.notched(-1).flown(1, (), 10, 0.1).eye == (0, 0, 0)
    assert ahead.notched(-1).notched(-1).flown(1, (), 10, 0.1).eye[1] < -1
    for _ in range(50):
        ahead = ahead.notched(1)
    assert ahead.pace == 16.0
