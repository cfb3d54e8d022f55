"""Two icicles that face each other: where their boxes and the ends of tubes are, at any opening.

At 180 degrees both lie in one plane, as in TraceDiff (section IV-B): A's roots at the far edge, B's at the
near one, the deepest calls towards the gap. Each wall then rises by half of what is missing, level by level
as a flight of steps, until both stand upright and face each other across the gap at 0 degrees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


#: Of steeper walls plates stand off no farther.
_STEEPEST = math.radians(70.0)


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
    """

    side: int
    rise: float
    gap: float
    height: float
    back: float = field(default=0.0, kw_only=True)

    @classmethod
    def of(cls, side: int, opening: float, gap: float, height: float) -> Fold:
        """Return how a wall stands at ``opening``, 0 to 180 degrees between the two walls."""
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
        """The direction along the wall's slope that points up for a reader before it."""
        return (0.0, math.cos(self.rise), -self.side * math.sin(self.rise))

    def above(self, h: Floats, step: Floats, thick: float) -> tuple[Floats, Floats]:
        """Return y and z of the plane over a flight of steps, at ``h`` from the roots' edge.

        What lies on it is hidden by no step: it goes through the steps' farther upper edges.

        Parameters
        ----------
        h : float64 (n,)
        step : float64 (n,)
            Height of the highest step below, along the wall.
        thick : float
            Of the boxes.
        """
        cosine, sine = math.cos(self.rise), math.sin(self.rise)
        y = self.side * (self.gap / 2 + (self.height - h) * cosine + thick * sine)
        return y, (h + step) * sine + thick * cosine

    def lift(self, half: float) -> float:
        """Return how much higher than the wall a plate lies that reaches ``half`` to either side of it.

        The plate is level, so that the steeper the wall the more of the plate's inner half it would hide.
        """
        return half * math.tan(min(self.rise, _STEEPEST))

    def boxes(self, low: Floats, high: Floats, thick: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the y and z, from low to high, of boxes that reach from ``low`` to ``high`` along the wall.

        Returns
        -------
        y0, y1, z0, z1 : float64 (n,)
        """
        cosine, sine = math.cos(self.rise), math.sin(self.rise)
        inner = self.gap / 2 + (self.height - high) * cosine
        outer = self.gap / 2 + (self.height - low) * cosine + thick * sine
        y0, y1 = (inner, outer) if self.side > 0 else (-outer, -inner)
        return y0, y1, low * sine, high * sine + thick * cosine

    def outward(self, low: float, length: Floats, thick: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the y and z of bars that stand behind the wall, ``low`` beyond its roots.

        Their length points away from the wall where it lies flat, and up where it stands.
        """
        cosine, sine = math.cos(self.rise), math.sin(self.rise)
        foot = self.gap / 2 + self.height * cosine + low + self.back
        reach = foot + length * cosine + thick * sine
        bottom = np.zeros(len(length))
        top = length * sine + thick * cosine
        near = np.full(len(length), foot)
        return (near, reach, bottom, top) if self.side > 0 else (-reach, -near, bottom, top)
