"""The way of a camera from one view to another that is felt to be shortest: smooth and efficient zooming.

After van Wijk and Nuij, "Smooth and efficient zooming and panning" (InfoVis 2003), sections 3 and 4: first
back until both ends are in view, then across, then towards the goal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Weight of zooming against panning: the paper's users preferred the square root of 2.
RHO = math.sqrt(2.0)
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Flight:
    """A way from a view of width ``start_width`` about ``start`` to one about ``goal``.

    Attributes
    ----------
    start, goal : float64 (k,)
        Points in a space of any dimension.
    start_width, goal_width : float
        How much of the space is seen there, in its units; above 0.
    length : float
        The way's length as it is felt: 1 is a zoom by the factor ``e ** RHO``.

    Examples
    --------
    Between two distant views of the same width the path zooms out first:

    >>> flight = Flight.between([0.0], 1.0, [100.0], 1.0)
    >>> place, width = flight.at(0.5)
    >>> round(float(place[0]), 6), width > 10
    (50.0, True)
    """

    start: NDArray[np.float64]
    goal: NDArray[np.float64]
    start_width: float
    goal_width: float
    length: float
    _distance: float
    _bend: float

    @classmethod
    def between(cls, start: ArrayLike, start_width: float, goal: ArrayLike, goal_width: float) -> Flight:
        """Return the path between two views.

        Parameters
        ----------
        start, goal : float (k,)
            Centres of the views, in a space of any dimension.
        start_width, goal_width : float
            Widths of the views, in the units of the space.

        Returns
        -------
        Flight

        Raises
        ------
        ValueError
            If a width is not above 0 and finite.
        """
        a, b = np.atleast_1d(np.asarray(start, np.float64)), np.atleast_1d(np.asarray(goal, np.float64))
        if not (0 < start_width < math.inf and 0 < goal_width < math.inf):
            raise ValueError(f"widths {start_width} and {goal_width}: they must be above 0")
        distance = float(np.linalg.norm(b - a))
        w0, w1, rho2 = start_width, goal_width, RHO * RHO
        straight = math.log(w1 / w0)
        if distance <= 1e-9 * min(w0, w1):
            # No panning, only a zoom.
            return cls(a, b, w0, w1, abs(straight) / RHO, 0.0, 0.0)
        b0 = (w1 * w1 - w0 * w0 + rho2 * rho2 * distance * distance) / (2 * w0 * rho2 * distance)
        b1 = (w1 * w1 - w0 * w0 - rho2 * rho2 * distance * distance) / (2 * w1 * rho2 * distance)
        # ln(sqrt(b * b + 1) - b), without the difference of large numbers.
        r0, r1 = -math.asinh(b0), -math.asinh(b1)
        return cls(a, b, w0, w1, (r1 - r0) / RHO, distance, r0)

    def at(self, share: float) -> tuple[NDArray[np.float64], float]:
        """Return the view at a share of the path.

        Parameters
        ----------
        share : float
            0 to 1; other values are clipped.

        Returns
        -------
        centre : float64 (k,)
        width : float
        """
        share = min(max(share, 0.0), 1.0)
        if share == 1.0:
            return self.goal.copy(), self.goal_width
        if self._distance == 0.0:
            width = self.start_width * (self.goal_width / self.start_width) ** share
            return self.start + share * (self.goal - self.start), width
        s, r0 = share * self.length, self._bend
        u = self.start_width / (RHO * RHO) * (math.cosh(r0) * math.tanh(RHO * s + r0) - math.sinh(r0))
        width = self.start_width * math.cosh(r0) / max(math.cosh(RHO * s + r0), _LEAST)
        along = min(max(u / self._distance, 0.0), 1.0)
        return self.start + along * (self.goal - self.start), width


@dataclass(frozen=True)
class Pace:
    """How long a flight takes.

    Attributes
    ----------
    unit : float
        Seconds for a length of 1.
    shortest, longest : float
        Seconds that a flight takes at least and at most.

    Examples
    --------
    >>> Pace(0.5, 0.2, 2.0).seconds(3.0), Pace(0.5, 0.2, 2.0).seconds(1e9)
    (1.5, 2.0)
    """

    unit: float
    shortest: float
    longest: float

    def seconds(self, *lengths: float) -> float:
        """Return the seconds of flights that take place together, by their lengths."""
        return min(max(self.unit * max(lengths), self.shortest), self.longest)


def eased(share: float) -> float:
    """Return a share of the path with a smooth start and end (the cubic smoothstep).

    Parameters
    ----------
    share : float
        0 to 1; other values are clipped.

    Returns
    -------
    float
        0 to 1.

    Examples
    --------
    >>> eased(0.0), eased(0.25), eased(0.5), eased(1.0)
    (0.0, 0.15625, 0.5, 1.0)
    """
    share = min(max(share, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)
