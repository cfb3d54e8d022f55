"""Two icicles that face each other: where their boxes and the ends of tubes are, at any opening.

At 180 degrees both lie in one plane, as in TraceDiff (section IV-B): A's roots at the far edge, B's at the
near one, the deepest calls towards the gap. Each wall then rises by half of what is missing, level by level
as a flight of steps, until both stand upright and face each other across the gap at 0 degrees.

What stands behind a wall (its overview, ruler and name) lies on the ground, its *stage*. Where the camera
looks from the front, because the walls are steep, the stages stand upright: A's on top of its wall, B's hangs
below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


#: Maximum distance of plates from steep walls.
_STEEPEST = math.radians(70.0)
#: Walls up to this slope are gentle.
_GENTLE = math.radians(30.0)


@dataclass(frozen=True)
class Fold:
    """How one wall stands.

    Attributes
    ----------
    side : {1, -1}
        1 for A, behind the gap; -1 for B, before it.
    rise : float
        Angle of the wall above the ground, radians: 0 flat, a quarter turn upright.
    gap : float
        Free space between the deepest possible calls of both walls.
    height : float
        From the roots' outer edge to the end of the deepest level.
    back : float
        How much farther back than usual stands what is behind the wall.
    front : bool
        Whether the camera looks from the front: what stands behind the walls is upright then.
    inner : bool
        Whether the camera sees the wall's inner face, that towards the gap, instead of its outer one.
    shelf : float
        Height of the foot of A's stage, where that is upright.
    """

    side: int
    rise: float
    gap: float
    height: float
    back: float = field(default=0.0, kw_only=True)
    front: bool = field(default=False, kw_only=True)
    inner: bool = field(default=False, kw_only=True)
    shelf: float = field(default=0.0, kw_only=True)

    @classmethod
    def of(cls, side: int, opening: float, gap: float, height: float) -> Fold:
        """Return how a wall stands at ``opening``, 0 to 180 degrees between the two walls.

        Parameters
        ----------
        side : {1, -1}
            1 for A, behind the gap; -1 for B, before it.
        opening : float
            Degrees; 180: both lie flat.
        gap : float
            Between the walls' inner edges, in scene units.
        height : float
            Of the wall, in scene units.

        Returns
        -------
        Fold
        """
        return cls(side, math.radians(90.0 * (1.0 - opening / 180.0)), gap, height)

    def across(self, h: Floats) -> Floats:
        """Return v, the place in the plane (at 180 degrees), of what is ``h`` away from the roots' edge."""
        return self.side * (self.gap / 2 + self.height - h)

    def inside(self, h: Floats) -> tuple[Floats, Floats]:
        """Return y and z of the wall's inner surface at ``h`` from the roots' edge."""
        y = self.side * (self.gap / 2 + (self.height - h) * math.cos(self.rise))
        return y, h * math.sin(self.rise)

    @property
    def upwards(self) -> tuple[float, float, float]:
        """The direction along the wall's slope that points up for a reader in front of the visible face."""
        sign = -1.0 if self.inner else 1.0
        return (0.0, sign * math.cos(self.rise), -sign * self.side * math.sin(self.rise))

    @property
    def normal(self) -> tuple[float, float, float]:
        """The normal of the visible face."""
        sign = -1.0 if self.inner else 1.0
        return (0.0, sign * self.side * math.sin(self.rise), sign * math.cos(self.rise))

    def ridge(self, step: Floats) -> Floats:
        """Return how far the edges of steps that are ``step`` high along the wall protrude from its slope."""
        return np.asarray(step) * (math.sin(self.rise) * math.cos(self.rise))

    def clear(self, half: float, least: float) -> Floats:
        """Return how far from the wall a plate stands that reaches ``half`` to either side of its middle.

        A plate is level, so that the steeper the wall the more of the plate's inner half it would hide; where
        the camera looks from the front it stands upright before the wall.

        Parameters
        ----------
        half : float
            Half of the plate's width across, in scene units.
        least : float
            The least distance, in scene units.

        Returns
        -------
        float64 (3,)
        """
        if self.front:
            return np.array([0.0, -least, 0.0])
        return np.array([0.0, 0.0, max(half * math.tan(min(self.rise, _STEEPEST)), least)])

    def boxes(self, low: Floats, high: Floats, thick: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the y and z, from low to high, of boxes that reach from ``low`` to ``high`` along the wall.

        Parameters
        ----------
        low, high : float64 (n,)
            Distances from the roots' edge, in scene units.
        thick : float64 (n,)
            How far each stands out.

        Returns
        -------
        y0, y1, z0, z1 : float64 (n,)
        """
        cosine, sine = math.cos(self.rise), math.sin(self.rise)
        inner = self.gap / 2 + (self.height - high) * cosine
        outer = self.gap / 2 + (self.height - low) * cosine + thick * sine
        y0, y1 = (inner, outer) if self.side > 0 else (-outer, -inner)
        return y0, y1, low * sine, high * sine + thick * cosine

    @property
    def stand(self) -> float:
        """The angle above the ground at which bars stand behind the wall, radians.

        As the wall where that is gentle; steep walls are seen from above, and so would bars be that stand.
        """
        return self.rise if self.rise <= _GENTLE else max(2.0 * _GENTLE - self.rise, 0.0)

    @property
    def bars(self) -> tuple[float, float, float]:
        """The direction in which bars behind the wall are long."""
        if self.front:
            return (0.0, 0.0, float(self.side))
        return (0.0, self.side * math.cos(self.stand), math.sin(self.stand))

    @property
    def off(self) -> tuple[float, float, float]:
        """The direction on the stage that points away from the wall."""
        return (0.0, 0.0, float(self.side)) if self.front else (0.0, float(self.side), 0.0)

    @property
    def stage_up(self) -> tuple[float, float, float]:
        """The direction in which texts on the stage stand."""
        return (0.0, 0.0, 1.0) if self.front else (0.0, 1.0, 0.0)

    @property
    def edge(self) -> tuple[float, float]:
        """The y and z of the wall's edge that is nearest to its stage."""
        y, z = self.inside(np.zeros(1))
        return self.stage(0.0) if self.front else (float(y[0]), float(z[0]))

    def stage(self, beyond: float) -> tuple[float, float]:
        """Return y and z of the stage at ``beyond`` from its edge at the wall."""
        foot = self.gap / 2 + self.height * math.cos(self.rise)
        if not self.front:
            return self.side * (foot + beyond + self.back), 0.0
        return (self.gap / 2, self.shelf + beyond) if self.side > 0 else (-foot, -beyond)

    def outward(self, low: float, length: Floats, thick: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the y and z, from low to high, of bars that stand behind the wall, ``low`` beyond its roots.

        Their length points away from the wall where it lies flat, and up where it stands.

        Parameters
        ----------
        low : float
            Where the bars begin: distance beyond the roots' edge, in scene units.
        length : float64 (n,)
            Scene units.
        thick : float64 (n,)
            Scene units.

        Returns
        -------
        (float64 (n,), float64 (n,), float64 (n,), float64 (n,))
            y from and to, z from and to.
        """
        y, z = self.stage(low)
        near = np.full(len(length), y)
        if self.front:
            thick = thick * np.ones(len(length))
            ends = np.stack([np.full(len(length), z), z + self.side * length])
            reach = near + self.side * thick
            return (*_sorted(near, reach), ends.min(axis=0), ends.max(axis=0))
        cosine, sine = math.cos(self.stand), math.sin(self.stand)
        reach = near + self.side * (length * cosine + thick * sine)
        return (*_sorted(near, reach), np.full(len(length), z), z + length * sine + thick * cosine)

    def plate(
        self, low: float, length: float, thick: float, sunk: float
    ) -> tuple[float, float, float, float]:
        """Return the y and z, from low to high, of a plate that lies ``sunk`` under the stage's surface.

        Parameters
        ----------
        low : float
            Where it begins: distance beyond the roots' edge.
        length, thick : float
            Scene units.
        sunk : float
            Scene units under the surface.

        Returns
        -------
        (float, float, float, float)
            y from and to, z from and to.
        """
        ends = np.array([self.stage(low), self.stage(low + length)])
        (y0, z0), (y1, z1) = ends.min(axis=0).tolist(), ends.max(axis=0).tolist()
        if self.front:
            return y0 + sunk, y1 + sunk + thick, z0, z1
        return y0, y1, z0 - sunk - thick, z1 - sunk


def _sorted(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    return np.minimum(one, other), np.maximum(one, other)
