"""Shots on Blender's timeline: their frames, the camera's stops, and what moved markers say."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.stories.timeline import CameraPose, Marked, Span, Take, read_back, spans, stops

HERE = CameraPose((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), 2.0, 0.5)
# Turned by 90 degrees about x: from above to the front.
THERE = CameraPose((50.0, 0.0, 0.0), (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0), 4.0, 0.25, (0.1, 0.0))
takes = st.lists(
    st.builds(Take, st.floats(0.05, 30), st.sampled_from([HERE, THERE]), st.booleans()), max_size=8
)


def test_where_a_camera_stands():
    assert HERE.distance == 2.0
    assert HERE.eye == (0.0, 0.0, 2.0)
    assert np.allclose(THERE.eye, (50.0, -8.0, 0.0))


@given(takes, st.sampled_from([5, 24, 29.97]), st.integers(-3, 900))
def test_shots_follow_each_other_without_a_gap(shots, fps, first):
    laid = spans(shots, fps, first)
    assert [span.begin for span in laid] == [first, *(span.end + 1 for span in laid)][: len(shots)]
    for shot, span in zip(shots, laid):
        assert span.begin <= span.arrive <= span.end
        assert abs(span.end - span.begin + 1 - max(2, shot.seconds * fps)) <= 0.5


@given(takes)
def test_stops(shots):
    laid = spans(shots, 24)
    made = stops(shots, laid)
    at = {stop.frame: stop for stop in made}
    assert [stop.frame for stop in made] == sorted(at)
    for i, (shot, span) in enumerate(zip(shots, laid)):
        flies = shot.flies and i > 0
        assert at[span.arrive].pose == at[span.end].pose == shot.pose
        if span.arrive > span.begin:
            assert at[span.begin].pose == shots[i - 1].pose
        assert flies or span.arrive == span.begin
        assert at[span.end].cut == (i + 1 < len(shots) and not shots[i + 1].flies)
        for stop in made:
            if span.begin <= stop.frame <= span.end:
                assert stop.passing == (span.begin < stop.frame < span.arrive)


def test_a_flight_goes_back_first_and_begins_and_ends_gently():
    far = CameraPose((200.0, 0.0, 0.0), HERE.rotation, 2.0, 0.5)
    shots = [Take(1, HERE), Take(4, far, True)]
    made = stops(shots, spans(shots, 24))
    way = [stop.pose for stop in made if stop.passing]
    assert len(way) == 7
    assert max(pose.width for pose in way) > 20
    x = [0.0, *(pose.focus[0] for pose in way), 200.0]
    assert x == sorted(x)
    assert HERE.towards(far, 0.0).focus == HERE.focus
    assert HERE.towards(far, 1.0).focus == far.focus


def test_a_turn_takes_the_shorter_way_and_keeps_its_length():
    other = CameraPose(THERE.focus, tuple(-x for x in THERE.rotation), 4.0, 0.25, (0.1, 0.0))
    for goal in (THERE, other):
        middle = HERE.towards(goal, 0.5)
        assert np.linalg.norm(middle.rotation) == pytest.approx(1)
        assert np.allclose(middle.rotation, (math.cos(math.pi / 8), math.sin(math.pi / 8), 0, 0))
        # The lens, which is one over the tangent, changes evenly.
        assert 1 / middle.tangent == pytest.approx((2 + 4) / 2)


LAID = [Span(1, 1, 24), Span(25, 25, 48), Span(49, 60, 96)]
NAMES = ["a", "b", "c"]


def test_markers_that_nobody_moved():
    assert read_back(NAMES, LAID, [("c", 49), ("a", 1), ("b", 25)]) is None
    assert read_back(NAMES, LAID, [("a", 1), ("b", 25)]) is None, "one was removed"
    assert read_back([], [], []) is None


def test_a_marker_that_was_moved():
    assert read_back(NAMES, LAID, [("a", 1), ("b", 31), ("c", 49)]) == [
        Marked(0, "a", 30), Marked(1, "b", 18), Marked(2, "c", 0)
    ]  # fmt: skip


def test_all_markers_moved_together():
    assert read_back(NAMES, LAID, [("a", 11), ("b", 35), ("c", 59)]) == [
        Marked(0, "a", 0), Marked(1, "b", 0), Marked(2, "c", 0)
    ]  # fmt: skip


def test_a_marker_past_another():
    assert [(one.shot, one.name) for one in read_back(NAMES, LAID, [("a", 1), ("b", 70), ("c", 49)])] == [
        (0, "a"), (2, "c"), (1, "b")
    ]  # fmt: skip


def test_a_marker_that_was_renamed():
    assert read_back(NAMES, LAID, [("a", 1), ("B", 25), ("c", 49)]) == [
        Marked(0, "a", 0), Marked(1, "B", 0), Marked(2, "c", 0)
    ]  # fmt: skip


def test_shots_of_one_name():
    assert [one.shot for one in read_back(["a", "a", "c"], LAID, [("a", 1), ("a", 30), ("c", 49)])] == [
        0,
        1,
        2,
    ]
