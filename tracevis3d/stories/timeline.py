"""Shots on the timeline of Blender: from when to when each lasts, and where the camera stops."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..layout.sight.flight import Flight, eased

#: A shot has a beginning and an end.
_LEAST_FRAMES = 2
#: The share of a shot that a flight takes, and its seconds at most.
_TRAVEL, _LONGEST_TRAVEL = 0.6, 3.0
#: Places on the way of a flight that get keyframes, too.
_PLACES = 8

Point = tuple[float, float, float]
Turn = tuple[float, float, float, float]


@dataclass(frozen=True)
class CameraPose:
    """Position, direction and lens of a camera.

    Attributes
    ----------
    focus : (float, float, float)
        What its axis meets, where ``width`` is seen.
    rotation : (float, float, float, float)
        From a camera that looks down, as a unit quaternion, w first.
    width : float
        How much of the scene the picture's width shows at the focus, in scene units; above 0.
    tangent : float
        Half the picture's width at distance 1; above 0.
    shift : (float, float)
        How far the picture's middle is from the axis, as a share of the picture's width.
    """

    focus: Point
    rotation: Turn
    width: float
    tangent: float
    shift: tuple[float, float] = (0.0, 0.0)

    @property
    def distance(self) -> float:
        """From the eye to the focus, in scene units."""
        return self.width / 2 / self.tangent

    @property
    def eye(self) -> Point:
        """Where the camera is."""
        w, x, y, z = self.rotation
        backward = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        return _point(np.asarray(self.focus) + self.distance * backward)

    def towards(self, goal: CameraPose, share: float) -> CameraPose:
        """Return how a camera stands at a share of the way that is felt to be shortest.

        Parameters
        ----------
        goal : CameraPose
        share : float
            0 to 1.

        Returns
        -------
        CameraPose
        """
        focus, width = Flight.between(self.focus, self.width, goal.focus, goal.width).at(share)
        one, other = np.asarray(self.rotation), np.asarray(goal.rotation)
        turn = (1 - share) * one + share * (other if one @ other >= 0 else -other)
        turn = turn / max(float(np.linalg.norm(turn)), 1e-12)
        # The lens is what is even in Blender's own keyframes.
        tangent = 1 / ((1 - share) / self.tangent + share / goal.tangent)
        shift = (1 - share) * np.asarray(self.shift) + share * np.asarray(goal.shift)
        w, x, y, z = map(float, turn)
        return CameraPose(
            _point(focus), (w, x, y, z), float(width), tangent, (float(shift[0]), float(shift[1]))
        )


@dataclass(frozen=True)
class Take:
    """A shot, as far as it is on the timeline.

    Attributes
    ----------
    seconds : float
    pose : CameraPose
    flies : bool
        The camera comes from the shot before; the first shot has none.
    """

    seconds: float
    pose: CameraPose
    flies: bool = False


@dataclass(frozen=True)
class Span:
    """The frames of a shot.

    Attributes
    ----------
    begin, arrive, end : int
        Its first frame, the first in which the camera stands still, and its last.
    """

    begin: int
    arrive: int
    end: int


@dataclass(frozen=True)
class Stop:
    """A keyframe of the camera.

    Attributes
    ----------
    frame : int
    pose : CameraPose
    passing : bool
        It is only on a way.
    cut : bool
        What follows begins at once.
    """

    frame: int
    pose: CameraPose
    passing: bool = False
    cut: bool = False


def spans(takes: Sequence[Take], fps: float, first: int = 1) -> list[Span]:
    """Return the frames of shots, one after the other.

    Parameters
    ----------
    takes : sequence of Take
    fps : float
        Frames a second.
    first : int
        The first shot's first frame.

    Returns
    -------
    list of Span

    Examples
    --------
    >>> there = CameraPose((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), 1.0, 0.5)
    >>> spans([Take(1.0, there), Take(2.0, there, flies=True)], 10)
    [Span(begin=1, arrive=1, end=10), Span(begin=11, arrive=23, end=30)]
    """
    found: list[Span] = []
    begin = first
    for take in takes:
        count = max(_LEAST_FRAMES, round(take.seconds * fps))
        way = round(min(_TRAVEL * take.seconds, _LONGEST_TRAVEL) * fps) if take.flies and found else 0
        found.append(Span(begin, begin + min(way, count - 1), begin + count - 1))
        begin += count
    return found


def stops(takes: Sequence[Take], laid: Sequence[Span]) -> list[Stop]:
    """Return the keyframes of the camera.

    Parameters
    ----------
    takes : sequence of Take
    laid : sequence of Span
        Their frames.

    Returns
    -------
    list of Stop
        By frame, each frame once.
    """
    found: dict[int, Stop] = {}
    for i, (take, span) in enumerate(zip(takes, laid)):
        if span.arrive > span.begin:
            found.update((stop.frame, stop) for stop in _flight(takes[i - 1].pose, take.pose, span))
        found[span.arrive] = Stop(span.arrive, take.pose)
        follows = i + 1 < len(takes) and not takes[i + 1].flies
        found[span.end] = Stop(span.end, take.pose, cut=follows)
    return [found[frame] for frame in sorted(found)]


def _flight(start: CameraPose, goal: CameraPose, span: Span) -> Iterator[Stop]:
    yield Stop(span.begin, start)
    for i in range(1, _PLACES):
        frame = span.begin + round((span.arrive - span.begin) * i / _PLACES)
        if span.begin < frame < span.arrive:
            share = (frame - span.begin) / (span.arrive - span.begin)
            yield Stop(frame, start.towards(goal, eased(share)), passing=True)


@dataclass(frozen=True)
class Marked:
    """What a marker of a shot says.

    Attributes
    ----------
    shot : int
        Which shot it was.
    name : str
    frames : int
        How long it lasts now; 0: as long as before.
    """

    shot: int
    name: str
    frames: int


def read_back(
    names: Sequence[str], laid: Sequence[Span], markers: Sequence[tuple[str, int]]
) -> list[Marked] | None:
    """Return what a person has made of shots by moving or renaming their markers on the timeline.

    Parameters
    ----------
    names : sequence of str
        The shots' names.
    laid : sequence of Span
        The frames that they were given.
    markers : sequence of (str, int)
        Names and frames of their markers as they are now, in any order.

    Returns
    -------
    list of Marked, or None
        The shots in their new order; None if nothing was changed, or markers were removed or copied.
    """
    known = sorted(zip(names, (span.begin for span in laid)), key=lambda row: row[1])
    now = sorted(markers, key=lambda row: row[1])
    if len(now) != len(known) or now == known:
        return None
    order = _by_name(names, now) if Counter(names) == Counter(name for name, _ in now) else None
    order = order or list(range(len(now)))
    lengths = [after - frame for (_, frame), (_, after) in itertools.pairwise(now)] + [0]
    return [
        Marked(shot, name, 0 if length == laid[shot].end - laid[shot].begin + 1 else length)
        for shot, (name, _), length in zip(order, now, lengths)
    ]


def _by_name(names: Sequence[str], now: Sequence[tuple[str, int]]) -> list[int]:
    """Return which shot each marker is; of several of one name the first is the first."""
    places = {name: iter([i for i, other in enumerate(names) if other == name]) for name in names}
    return [next(places[name]) for name, _ in now]


def _point(values: NDArray[np.float64]) -> Point:
    return float(values[0]), float(values[1]), float(values[2])
