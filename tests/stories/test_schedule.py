"""Which frames a story has, and that nothing jumps in them."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from tracevis3d.errors import UsageError
from tracevis3d.layout.sight.pose import Pose
from tracevis3d.stories.read import from_words
from tracevis3d.stories.schedule import Travel, moments


@dataclass
class Line:
    """A picture in which time runs along x, a nanosecond a unit."""

    straight: bool = False
    whole: Pose = Pose((500.0, 0.0, 0.0), 1000.0)
    front: Pose = Pose((500.0, 0.0, 0.0), 900.0, front=1.0)
    window: tuple[int, int] = (0, 1000)
    timed: bool = True

    def pose_of(self, selection):
        if selection.function == "none":
            raise UsageError("nothing that is drawn is selected by this")
        low, high = selection.time or (100, 200)
        return Pose(((low + high) / 2, 0.0, 0.0), float(high - low))


def film(*shots, fps=24, straight=False, **head):
    story = from_words({"view": "icicle", "traces": "a.tsv", **head, "shots": list(shots)}, "story")
    return moments(story, fps, lambda picture, half: Line(straight))


def poses(frames):
    return [frame.looks[0].pose for frame in frames]


def steps(frames):
    """How far the camera goes from frame to frame, in widths of the picture."""
    far = []
    for a, b in itertools.pairwise(poses(frames)):
        moved = abs(b.focus[0] - a.focus[0]) / min(a.width, b.width)
        turned = max(abs(b.turn - a.turn) / 90, abs(b.front - a.front))
        far.append(max(moved, abs(np.log(b.width / a.width)), turned))
    return far


FLY = {"shot": "fly_to", "time": "0.1us..0.2us"}


def test_a_film_is_as_long_as_its_shots():
    frames = film({"shot": "hold", "seconds": 1.5}, {"shot": "overview", "seconds": 0.5}, fps=10)
    assert len(frames) == 20


def test_the_camera_never_jumps():
    frames = film(
        "establish", FLY, {"shot": "orbit", "degrees": 40}, {"shot": "fly_to", "time": "0.8us..0.81us"},
        {"shot": "ride", "time": "0us..1us"}, "hold", {"shot": "follow_thread", "thread": "x"}, "flatten",
        FLY, "overview",
    )  # fmt: skip
    assert max(steps(frames)) < 0.3
    assert frames[-1].looks[0].pose == Line().whole


def test_a_flight_arrives_and_stays():
    frames = poses(film({**FLY, "seconds": 4, "travel": 1}, fps=10))
    goal = Pose((150.0, 0.0, 0.0), 100.0)
    assert frames[0] == Line().whole
    assert frames[5] not in (goal, Line().whole)
    assert set(frames[11:]) == {goal}


def test_an_orbit_comes_back():
    at = poses(film(FLY, {"shot": "orbit", "degrees": 40, "seconds": 2}, fps=20))
    turned = [pose.turn for pose in at[-40:]]
    assert max(turned) == pytest.approx(40, abs=0.5)
    assert turned[0] == 0
    assert turned[-1] == pytest.approx(0, abs=1e-9)


def test_a_ride_goes_along_the_time_at_one_distance():
    at = poses(film({"shot": "ride", "time": "0us..1us", "span": "10%", "seconds": 10}, fps=10))[25:]
    x = [pose.focus[0] for pose in at]
    assert x == sorted(x)
    assert x[0] < 150
    assert x[-1] > 850
    assert {round(pose.width, 6) for pose in at} == {100}


def test_a_ride_is_slow_where_the_story_says_and_its_speed_never_jumps():
    ride = {"shot": "ride", "time": "0us..1us", "span": "10%", "seconds": 20}
    usual, slow = (
        [p.focus[0] for p in poses(film({**ride, **more}, fps=10))[45:]]
        for more in ({}, {"slow": "0.4us..0.6us"})
    )
    assert slow == sorted(slow)
    assert (slow[0], slow[-1]) == pytest.approx((usual[0], usual[-1]), abs=15)

    def inside(places):
        return sum(400 <= x <= 600 for x in places)

    assert inside(slow) > 1.8 * inside(usual)
    speed = np.diff(slow)
    assert np.abs(np.diff(speed)).max() < 0.5 * speed.max()


def test_a_picture_turns_gently_into_another():
    frames = film({"shot": "hold", "seconds": 1}, {"shot": "hold", "view": "cone", "seconds": 2}, fps=10)
    assert [bool(frame.before) for frame in frames] == [False] * 10 + [True] * 7 + [False] * 3 + [False] * 10
    shares = [frame.share for frame in frames[10:18]]
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-1] == 1
    assert {frame.before for frame in frames[10:17]} == {frames[9].looks}


def test_calls_travel_to_the_next_picture():
    frames = film(
        {"shot": "hold", "seconds": 1}, {"shot": "fly_to", "view": "cone", "time": "0.1us..0.2us", "morph": 2,
        "seconds": 4}, fps=10,
    )  # fmt: skip
    assert len(frames) == 50
    coming, then = frames[10:30], frames[30:]
    assert not any(isinstance(frame.looks[0], Travel) for frame in then)
    shares = [frame.looks[0].share for frame in coming if isinstance(frame.looks[0], Travel)]
    assert shares == sorted(shares)
    assert (shares[0], len(set(shares)) > 8) == (0.0, True)
    # What is on its way comes out of the first picture, and becomes the other, from where its own way begins.
    assert coming[0].before == frames[9].looks
    assert coming[0].share < 0.5
    assert coming[-1].before[0].share == 1.0
    assert coming[-1].looks[0].pose == then[0].looks[0].pose == Line().whole
    assert coming[-1].share > 0.7
    steps_of_way = np.diff([frame.looks[0].share for frame in coming if not frame.before])
    assert steps_of_way.max() < 0.15


def test_who_sees_it_from_the_front_stays_there_until_the_overview():
    at = poses(film("flatten", FLY, {"shot": "ride", "time": "0us..1us"}, "overview", fps=10))
    assert at[39].front == at[85].front == 1.0
    assert at[-1] == Line().whole


def test_callouts_are_shown_where_they_were_laid_out_for():
    frames = film("hold", FLY, {"shot": "hold", "seconds": 1}, fps=4)
    assert frames[0].looks[0].callout is None  # all of them
    assert frames[-1].looks[0].callout == 0  # the hold after a flight stays there
    one = film({"shot": "hold", "seconds": 1, "callout": 2}, FLY, {"shot": "hold", "callout": 2}, fps=4)
    assert [one[0].looks[0].callout, one[-1].looks[0].callout] == [2, 0]
    assert frames[-1].looks[0].pose == frames[-5].looks[0].pose


def test_captions_come_and_go():
    frames = film({"shot": "hold", "seconds": 2, "caption": "Hello"}, {"shot": "overview"}, fps=10)
    ink = [frame.ink for frame in frames[:20]]
    assert ink[0] == 0
    assert ink[10] == 1
    assert ink[-1] < 0.5
    assert {frame.ink for frame in frames[20:]} == {0}


def test_a_caption_stays_where_the_next_shot_has_it_too():
    said = {"seconds": 2, "caption": "Hello"}
    frames = film({"shot": "hold", **said}, {"shot": "overview", **said}, {"shot": "hold"}, fps=10)
    ink = [frame.ink for frame in frames[:40]]
    assert ink[0] == 0
    assert set(ink[5:36]) == {1}
    assert ink[39] < 0.5


def test_halves_stand_beside_each_other():
    frames = film(
        {"shot": "compare", "left": {"time": "0us..0.1us"}, "right": {"time": "0.5us..1us"}}, "overview"
    )
    left, right = frames[0].looks
    assert left.half
    assert right.half
    assert (left.pose.width, right.pose.width) == (100, 500)
    # What comes after the divided picture begins with the whole one.
    assert frames[-1].looks[0].pose == Line().whole
    assert len(frames[-1].looks) == 1


def test_what_can_not_be_is_said_with_the_shot():
    with pytest.raises(UsageError, match=r"shot 2 \(fly_to\): nothing that is drawn"):
        film("hold", {"shot": "fly_to", "function": "none"})
    with pytest.raises(UsageError, match=r"shot 1 \(orbit\): a flat picture can't be turned"):
        film("orbit", straight=True)
    with pytest.raises(UsageError, match=r"shot 1 \(flatten\): the picture is flat already"):
        film("flatten", straight=True)
    assert {pose.turn for pose in poses(film("establish", straight=True))} == {0}


def test_time_plays_before_a_camera_that_stands_still():
    frames = film(
        {**FLY, "seconds": 1}, {"shot": "play", "seconds": 5, "slow": "0.2us..0.3us"}, "overview", fps=10
    )
    shown = [frame.looks[0] for frame in frames[10:60]]
    now = [look.now for look in shown]
    assert now == sorted(now)
    assert (now[0], now[-1]) == (0.0, 1.0)
    assert {look.pose for look in shown} == {frames[9].looks[0].pose}
    steps = np.diff(now)
    inside = [(a > 0.23 and b < 0.27) for a, b in itertools.pairwise(now)]
    assert steps[inside].mean() == pytest.approx(steps[-5:].mean() / 4, rel=0.05)
    # It never jumps from fast to slow.
    assert (np.diff(steps) < 0.75 * steps.max()).all()
    assert {frame.looks[0].now for frame in frames[:10] + frames[60:]} == {1.0}
    assert frames[10].before, "the picture fades as its time begins"


def test_a_part_of_the_time_plays_and_the_rest_comes_gently():
    frames = film({"shot": "play", "seconds": 1, "time": "0.1us..0.5us"}, "hold", fps=10)
    assert [frames[i].looks[0].now for i in (0, 9)] == [0.1, 0.5]
    assert frames[10].before


def test_a_picture_without_times_does_not_play():
    story = from_words({"view": "cone", "traces": "a.tsv", "shots": ["play"]}, "story")
    with pytest.raises(UsageError, match=r"shot 1 \(play\): nothing in this picture appears"):
        moments(story, 24, lambda picture, half: Line(timed=False))


def test_threads_have_paces_in_one_shot_only_and_the_camera_stays():
    paces = {"main": 1, "worker*": 4}
    frames = film(FLY, {"shot": "play", "seconds": 1, "paces": paces}, {**FLY, "seconds": 1}, fps=10)
    played = [frame for frame in frames if frame.looks[0].picture.paces]
    assert len(played) == 10
    assert played[0].looks[0].picture.paces == (("main", 1.0), ("worker*", 4.0))
    assert played[0].caption == "Threads play at their own paces: main × 1, worker* × 4"
    assert max(steps(frames)) == 0 or max(steps(frames)[50:]) < 1e-9
