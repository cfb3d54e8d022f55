"""From shots to frames: what each frame of a film shows, and from where."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ..errors import UsageError
from ..layout.sight.flight import eased
from ..layout.sight.pose import Pose, along, between
from .drawings import playing
from .story import Picture, Selection, Shot, Story

#: How a film begins: further away, and turned.
_FARTHER, _ASIDE = 1.16, -4.0
#: How many places a ride is led through.
_PLACES = 24
#: Seconds in which a caption comes and goes.
_FADE = 0.3
#: Shares of a travel in which what only the first picture shows goes, and what only the other shows comes.
_LEAVING, _ARRIVING = 0.22, 0.22


class Sight(Protocol):
    """Where the camera of a picture can look from."""

    @property
    def whole(self) -> Pose:
        """From where all is in the picture."""

    @property
    def front(self) -> Pose:
        """From where all is in the picture without perspective."""

    @property
    def straight(self) -> bool:
        """Whether it is seen straight from the front, and can't be turned."""

    @property
    def window(self) -> tuple[int, int]:
        """From when to when its time lasts, in nanoseconds."""

    @property
    def timed(self) -> bool:
        """Whether anything in it appears as its time runs."""

    def pose_of(self, selection: Selection) -> Pose:
        """Return the pose from which a selection fills the picture."""


#: Returns the sight of a picture; with True that of one half of a divided frame.
SightOf = Callable[[Picture, bool], Sight]


@dataclass(frozen=True)
class Look:
    """A picture as a camera sees it.

    Attributes
    ----------
    picture : Picture
    half : bool
        It takes half of the frame's width.
    pose : Pose
    callout : int or None
        The number of the callout that is shown; 0: none is; None: all are, as the camera stands where they
        were laid out for.
    now : float
        What appears later than this share of the picture's time is not seen.
    """

    picture: Picture
    half: bool
    pose: Pose
    callout: int | None = 0
    now: float = 1.0


@dataclass(frozen=True)
class Travel:
    """What two pictures both show, on its way from one to the other.

    Attributes
    ----------
    start, goal : Look
    share : float
        Of the way, 0 to 1.
    """

    start: Look
    goal: Look
    share: float


#: One, or the left and the right half.
Looks = tuple[Look | Travel, ...]


@dataclass(frozen=True)
class Moment:
    """A frame of a film.

    Attributes
    ----------
    looks : tuple of Look
    before : tuple of Look
        What is seen through it; empty: nothing.
    share : float
        How much of ``looks`` is seen, 0 to 1.
    caption : str
    ink : float
        How much of the caption is seen, 0 to 1.
    """

    looks: Looks
    before: Looks = ()
    share: float = 1.0
    caption: str = ""
    ink: float = 0.0


def moments(story: Story, fps: float, sight_of: SightOf) -> list[Moment]:
    """Return the frames of a story.

    Parameters
    ----------
    story : Story
    fps : float
        Frames a second.
    sight_of : callable
        Returns where a picture can be looked at from.

    Returns
    -------
    list of Moment

    Raises
    ------
    UsageError
        If a selection selects nothing, or a flat picture is to be turned.
    """
    made: list[Moment] = []
    last: Looks = ()
    # A caption stays where the next shot has it, too.
    said = ["", *(shot.caption for shot in story.shots), ""]
    for i, shot in enumerate(story.shots):
        try:
            path = _path(shot, last, sight_of)
        except UsageError as error:
            raise UsageError(f"shot {i + 1} ({shot.kind}): {error}") from None
        count = max(1, round(shot.seconds * fps))
        before = last
        come_in = min(round(shot.morph * fps), count - 1) if before else 0
        for k in range(count):
            if k < come_in:
                last, behind, seen = _travelled(before, path(0.0), (k + 1) / (come_in + 1))
            else:
                share = (k - come_in) / max(count - come_in - 1, 1)
                last, behind = path(share), before
                seen = (k + 1) / (shot.dissolve * fps) if shot.dissolve and before else 1.0
            time = k / fps
            come = 1.0 if said[i] == shot.caption else time / _FADE
            go = 1.0 if said[i + 2] == shot.caption else (shot.seconds - time) / _FADE
            ink = min(come, go, 1.0) if shot.caption else 0.0
            made.append(
                Moment(
                    last,
                    behind if seen < 1.0 else (),
                    round(min(seen, 1.0), 3),
                    shot.caption,
                    round(min(max(ink, 0.0), 1.0), 2),
                )
            )
        last = path(1.0)
    return made


def _travelled(before: Looks, goal: Looks, share: float) -> tuple[Looks, Looks, float]:
    """Return what is seen at a share of a travel, what is seen through it, and how much of it is seen."""
    start, end = before[0], goal[0]
    assert isinstance(start, Look)
    assert isinstance(end, Look)
    if share < _LEAVING:
        return (Travel(start, end, 0.0),), before, share / _LEAVING
    if share > 1 - _ARRIVING:
        return goal, (Travel(start, end, 1.0),), (share - 1 + _ARRIVING) / _ARRIVING
    return (Travel(start, end, (share - _LEAVING) / (1 - _LEAVING - _ARRIVING)),), (), 1.0


def _path(shot: Shot, last: Looks, sight_of: SightOf) -> Callable[[float], Looks]:
    """Return what a shot shows at each share of it."""
    if shot.sides:
        halves = tuple(
            Look(side.picture, True, _goal(sight_of(side.picture, True), side.selection))
            for side in shot.sides
        )
        return lambda share: halves
    sight = sight_of(shot.picture, False)
    looks = (look for look in last if isinstance(look, Look) and not look.half)
    start = next((look.pose for look in looks if replace(look.picture, paces=()) == shot.picture), None)
    if shot.kind == "play":
        return _play(shot, sight, start or sight.whole)
    way, still = _ways[shot.kind](shot, sight, start or sight.whole), shot.kind == "hold"

    def at(share: float) -> Looks:
        pose = way(share)
        return (Look(shot.picture, False, pose, shot.callout if still and pose == sight.whole else 0),)

    return at


def _play(shot: Shot, sight: Sight, pose: Pose) -> Callable[[float], Looks]:
    if not sight.timed:
        raise UsageError("nothing in this picture appears with the time: choose another view")
    picture = replace(shot.picture, paces=shot.paces)
    part = shot.selection.time

    def at(share: float) -> Looks:
        now = float(playing.played(sight.window, part, shot.slow, share))
        return (Look(picture, False, pose, now=round(now, 6)),)

    return at


def _goal(sight: Sight, selection: Selection) -> Pose:
    return sight.whole if selection.is_empty else sight.pose_of(selection)


_Way = Callable[[float], Pose]


def _establish(shot: Shot, sight: Sight, start: Pose) -> _Way:
    whole = sight.whole
    far = replace(whole, width=whole.width * _FARTHER, turn=0.0 if sight.straight else _ASIDE)
    return lambda share: along(far, whole, eased(share))


def _hold(shot: Shot, sight: Sight, start: Pose) -> _Way:
    return lambda share: start


def _overview(shot: Shot, sight: Sight, start: Pose) -> _Way:
    return lambda share: between(start, sight.whole, eased(share / 0.7))


def _fly_to(shot: Shot, sight: Sight, start: Pose) -> _Way:
    # Who sees it from the front stays there.
    goal = replace(_goal(sight, shot.selection), front=start.front)
    way = shot.travel / shot.seconds
    return lambda share: between(start, goal, eased(share / way) if way else 1.0)


def _flatten(shot: Shot, sight: Sight, start: Pose) -> _Way:
    if sight.straight:
        raise UsageError("the picture is flat already: leave the shot out, or choose another style")
    return lambda share: along(start, sight.front, eased(share / 0.7))


def _orbit(shot: Shot, sight: Sight, start: Pose) -> _Way:
    if sight.straight:
        raise UsageError("a flat picture can't be turned: leave the shot out, or choose another style")
    # There and back, so that what follows begins where the shot before has ended.
    return lambda share: replace(start, turn=start.turn + shot.degrees * math.sin(math.pi * eased(share)))


def _ride(shot: Shot, sight: Sight, start: Pose) -> _Way:
    low, high = shot.selection.time or sight.window
    span = max(round((high - low) * shot.span), 1)
    poses: list[Pose] = []
    slow: list[bool] = []
    for i in range(_PLACES + 1):
        begin = low + round((high - low - span) * i / _PLACES)
        middle = begin + span // 2
        slow.append(shot.slow is not None and shot.slow[0] <= middle <= shot.slow[1])
        try:
            poses.append(sight.pose_of(replace(shot.selection, time=(begin, begin + span))))
        except UsageError:
            if not poses:  # nothing happens yet
                slow.pop()
                continue
            poses.append(poses[-1])
    if not poses:
        sight.pose_of(shot.selection)
        raise UsageError("nothing that is drawn lies along the time of the ride")
    # One distance all the way; only what is looked at changes.
    width = sorted(pose.width for pose in poses)[len(poses) // 2]
    poses = [replace(pose, width=width, front=start.front) for pose in poses]
    smooth, reached = list(_smoothed(poses)), _reached(slow)

    def at(share: float) -> Pose:
        # The first seconds bring the camera to the beginning.
        if share < _ENTRY:
            return between(start, smooth[0], eased(share / _ENTRY))
        place = _place_at(reached, eased((share - _ENTRY) / (1 - _ENTRY)))
        i = min(int(place), len(smooth) - 2) if len(smooth) > 1 else 0
        return along(smooth[i], smooth[min(i + 1, len(smooth) - 1)], place - i)

    return at


def _reached(slow: Sequence[bool]) -> list[float]:
    """Return at which share of a ride each of its places is reached: slow ones take longer, with ramps."""
    taken = [playing.SLOWER if one else 1.0 for one in slow]
    ramped = [sum(near) / len(near) for i in range(len(taken)) for near in [taken[max(i - 1, 0) : i + 2]]]
    ends = [0.0]
    for one, other in itertools.pairwise(ramped):
        ends.append(ends[-1] + (one + other) / 2)
    return [end / (ends[-1] or 1.0) for end in ends]


def _place_at(reached: Sequence[float], share: float) -> float:
    """Return which place is reached at a share of a ride, with a fraction between two."""
    i = min(max(bisect.bisect_right(reached, share) - 1, 0), max(len(reached) - 2, 0))
    if len(reached) < 2:
        return 0.0
    return i + min(max((share - reached[i]) / max(reached[i + 1] - reached[i], 1e-12), 0.0), 1.0)


#: Share of a ride in which the camera goes to its beginning.
_ENTRY = 0.2


def _smoothed(poses: list[Pose]) -> Iterator[Pose]:
    """Yield poses as the means of their neighbours, so that no step is felt."""
    for i, pose in enumerate(poses):
        near = poses[max(i - 2, 0) : i + 3]
        focus = [sum(one.focus[k] for one in near) / len(near) for k in range(3)]
        yield replace(pose, focus=(focus[0], focus[1], focus[2]))


_ways: dict[str, Callable[[Shot, Sight, Pose], _Way]] = {
    "establish": _establish,
    "hold": _hold,
    "overview": _overview,
    "fly_to": _fly_to,
    "orbit": _orbit,
    "flatten": _flatten,
    "ride": _ride,
    "follow_thread": _ride,
}
