"""Poses of a film's camera, which keeps its direction but for turns, and the ways between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .flight import Flight

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Pose:
    """Where a camera looks, and how much it sees.

    Attributes
    ----------
    focus : (float, float, float)
        The point in the middle of the picture.
    width : float
        How much of the scene the picture's width shows there, in scene units.
    turn : float
        Degrees about the upright through the focus, from the drawing's own direction.
    front : float
        How far it has gone to the front, and its perspective has become parallel: 0 (the drawing's own
        camera) to 1 (as a flat figure shows it).
    """

    focus: Point
    width: float
    turn: float = 0.0
    front: float = 0.0


def between(start: Pose, goal: Pose, share: float) -> Pose:
    """Return the pose at a share of the way that is felt to be shortest.

    Parameters
    ----------
    start, goal : Pose
    share : float
        0 to 1.

    Returns
    -------
    Pose

    Examples
    --------
    >>> near, far = Pose((0.0, 0.0, 0.0), 1.0), Pose((100.0, 0.0, 0.0), 1.0, 10.0)
    >>> middle = between(near, far, 0.5)
    >>> round(middle.focus[0]), middle.width > 10, middle.turn
    (50, True, 5.0)
    """
    if share >= 1.0:
        return goal
    if share <= 0.0:
        return start
    flight = Flight.between(start.focus, start.width, goal.focus, goal.width)
    focus, width = flight.at(share)
    return Pose(_point(focus), float(width), *_turned(start, goal, share))


def along(start: Pose, goal: Pose, share: float) -> Pose:
    """Return the pose at a share of a straight way, at an even pace.

    Parameters
    ----------
    start, goal : Pose
    share : float
        0 to 1.

    Returns
    -------
    Pose

    Examples
    --------
    >>> along(Pose((0.0, 0.0, 0.0), 1.0), Pose((4.0, 0.0, 0.0), 3.0), 0.25)
    Pose(focus=(1.0, 0.0, 0.0), width=1.5, turn=0.0, front=0.0)
    """
    focus = np.asarray(start.focus) + share * (np.asarray(goal.focus) - np.asarray(start.focus))
    return Pose(
        _point(focus),
        start.width + share * (goal.width - start.width),
        *_turned(start, goal, share),
    )


def _turned(start: Pose, goal: Pose, share: float) -> tuple[float, float]:
    turn, front = goal.turn - start.turn, goal.front - start.front
    return start.turn + share * turn, start.front + share * front


def _point(focus: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Point:
    return float(focus[0]), float(focus[1]), float(focus[2])
