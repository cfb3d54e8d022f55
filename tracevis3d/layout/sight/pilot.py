"""Flying: as fast as what is ahead is far, level, and never through what is there if one doesn't want it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from .affine import Floats

#: Share of the distance ahead that is flown per second.
PACE = 0.7
#: Factor of a turn of the wheel on the pace, and the bounds of the pace.
_NOTCH, _SLOWEST, _FASTEST = 1.35, 1 / 16, 16.0
#: Radians that a pixel of the mouse turns by.
_TURN = 0.0028
#: Maximum angle up or down, in radians.
_STEEPEST = math.radians(88.0)
#: With collision, minimum distance from what is ahead, relative to the near bound.
_APART = 1.5
#: Directions: right, ahead, up.
MOVES = {"D": (1, 0, 0), "A": (-1, 0, 0), "W": (0, 1, 0), "S": (0, -1, 0), "E": (0, 0, 1), "Q": (0, 0, -1)}


@dataclass(frozen=True)
class Pilot:
    """Where one flies, and how one looks.

    Attributes
    ----------
    eye : (float, float, float)
        Scene units.
    heading, pitch : float
        Radians: of the direction over the ground, from the y axis to the left, and above the horizon. There
        is no third angle: the horizon stays level.
    pace : float
        Share of the distance of what is ahead that is flown in a second.
    cruise : float
        How fast one flies ahead with no key held, in shares of ``pace``.
    """

    eye: tuple[float, float, float]
    heading: float = 0.0
    pitch: float = 0.0
    pace: float = PACE
    cruise: float = 0.0

    @classmethod
    def looking(cls, eye: Iterable[float], ahead: Iterable[float]) -> Pilot:
        """Return the pilot at a place who looks in a direction.

        Parameters
        ----------
        eye, ahead : float (3,)

        Returns
        -------
        Pilot

        Examples
        --------
        >>> pilot = Pilot.looking((0, 0, 1), (0, 2, 0))
        >>> pilot.pitch, [round(float(v)) for v in pilot.axes()[1]]
        (0.0, [0, 1, 0])
        """
        x, y, z = (float(v) for v in ahead)
        flat = math.hypot(x, y)
        heading = math.atan2(-x, y) if flat > 1e-9 else 0.0
        pitch = min(max(math.atan2(z, flat), -_STEEPEST), _STEEPEST)
        a, b, c = (float(v) for v in eye)
        return cls((a, b, c), heading, pitch)

    def axes(self) -> tuple[Floats, Floats, Floats]:
        """Return the unit vectors to the right, ahead, and up as one sees it, float64 (3,) each."""
        sin, cos = math.sin(self.heading), math.cos(self.heading)
        right = np.array([cos, sin, 0.0])
        ahead = np.array([-sin * math.cos(self.pitch), cos * math.cos(self.pitch), math.sin(self.pitch)])
        return right, ahead, np.cross(right, ahead)

    def turned(self, x: float, y: float) -> Pilot:
        """Return the pilot after the mouse has moved.

        Parameters
        ----------
        x, y : float
            Pixels to the right, and up.

        Returns
        -------
        Pilot
        """
        pitch = min(max(self.pitch + _TURN * y, -_STEEPEST), _STEEPEST)
        return replace(self, heading=(self.heading - _TURN * x) % (2 * math.pi), pitch=pitch)

    def notched(self, notches: float) -> Pilot:
        """Return the pilot after turns of the wheel: faster or slower, ahead or back if no key is held."""
        if self.cruise * notches < 0:
            # The first turn in the opposite direction stops.
            return replace(self, cruise=0.0)
        if self.cruise == 0:
            return replace(self, cruise=math.copysign(1.0, notches) if notches else 0.0)
        pace = min(max(self.pace * _NOTCH ** abs(notches), _SLOWEST), _FASTEST)
        return replace(self, pace=pace)

    def flown(
        self, seconds: float, held: Iterable[str], distance: float, near: float, collides: bool = False
    ) -> Pilot:
        """Return the pilot after some time.

        Parameters
        ----------
        seconds : float
        held : iterable of str
            The keys of :data:`MOVES` that are held; ``SHIFT`` is three times as fast.
        distance : float
            Of what is ahead, scene units.
        near : float
            No speed is less than that of this distance; with ``collides`` one stays away so far.
        collides : bool
            One doesn't fly through what is ahead.

        Returns
        -------
        Pilot
        """
        keys = set(held)
        way = np.sum([MOVES[key] for key in keys if key in MOVES], axis=0, dtype=np.float64) + np.zeros(3)
        long = float(np.linalg.norm(way))
        if long > 0:
            way /= long
        else:
            way = np.array([0.0, self.cruise, 0.0])
        if not way.any():
            return self
        rate = self.pace * (3.0 if "SHIFT" in keys else 1.0)
        ahead = float(way[1])
        if ahead > 0:
            # Speed decreases with the distance; the result does not depend on the frame rate.
            share = 1.0 - math.exp(-rate * ahead * seconds)
            bound = _APART * near if collides else near
            left = max(distance - bound, 0.0)
            step = left * share if collides else max(left * share, near * rate * ahead * seconds)
        else:
            step = max(distance, near) * rate * ahead * seconds
        side = max(distance, near) * rate * seconds
        right, forward, _ = self.axes()
        moved = right * way[0] * side + forward * step + np.array([0.0, 0.0, way[2] * side])
        x, y, z = (np.array(self.eye) + moved).tolist()
        return replace(self, eye=(x, y, z))
