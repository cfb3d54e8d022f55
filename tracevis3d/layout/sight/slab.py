"""A stretch of a box along one axis: what lies beside it, and the planes that cut it out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .affine import Box, Floats

#: The thinnest slab, as a share of the box.
LEAST = 0.005


def beside(box: Box, low: float, high: float, axis: int = 0, pad: float = 0.0) -> list[Box]:
    """Return the parts of a box before and after a stretch along an axis, where there are any.

    Parameters
    ----------
    box : (float64 (3,), float64 (3,))
        Its corners with the smallest and the largest coordinates.
    low, high : float
        The stretch, in any order.
    axis : {0, 1, 2}
        Along x, y or z.
    pad : float
        By how much the parts stand out of the box on all sides but those of the stretch.

    Returns
    -------
    list of (float64 (3,), float64 (3,))

    Examples
    --------
    >>> box = np.zeros(3), np.array([9.0, 1.0, 4.0])
    >>> [(a.tolist(), b.tolist()) for a, b in beside(box, 3.0, 9.0)]
    [([0.0, 0.0, 0.0], [3.0, 1.0, 4.0])]
    """
    low, high = min(low, high), max(low, high)
    first, last = np.asarray(box[0], np.float64) - pad, np.asarray(box[1], np.float64) + pad
    parts = []
    if low > box[0][axis]:
        end = last.copy()
        end[axis] = min(low, last[axis])
        parts.append((first, end))
    if high < box[1][axis]:
        begin = first.copy()
        begin[axis] = max(high, first[axis])
        parts.append((begin, last))
    return parts


@dataclass(frozen=True)
class Slab:
    """A box of which only a part along some of its axes is shown.

    Attributes
    ----------
    low, high : (float, float, float)
        The box's corners with the smallest and the largest coordinates.
    shares : tuple of (int, float, float)
        An axis, and where the part along it begins and ends, as shares of the box.

    Examples
    --------
    >>> slab = Slab((0, 0, 0), (4, 1, 2), ((0, 0.25, 0.5),))
    >>> slab.ends(0), slab.ends(2)
    ((1.0, 2.0), (-inf, inf))
    """

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    shares: tuple[tuple[int, float, float], ...]

    def ends(self, axis: int) -> tuple[float, float]:
        """Return where the part that is shown begins and ends along an axis; infinite where all of it is."""
        for own, first, last in self.shares:
            if own == axis:
                long = self.high[axis] - self.low[axis]
                return self.low[axis] + first * long, self.low[axis] + last * long
        return -np.inf, np.inf

    def bounds(self) -> Box:
        """Return the corners of the part that is shown, float64 (3,); infinite along axes of which all is."""
        ends = np.array([self.ends(axis) for axis in (0, 1, 2)])
        return ends[:, 0], ends[:, 1]

    def section(self, axis: int, end: int) -> Floats:
        """Return the corners of one of the planes within the box, around it, float64 (4, 3).

        Parameters
        ----------
        axis : int
        end : {0, 1}
            Where the part begins, or where it ends.

        Returns
        -------
        float64 (4, 3)
        """
        one, other = (i for i in (0, 1, 2) if i != axis)
        found = np.empty((4, 3))
        found[:, axis] = self.ends(axis)[end]
        found[:, one] = [self.low[one], self.high[one], self.high[one], self.low[one]]
        found[:, other] = [self.low[other], self.low[other], self.high[other], self.high[other]]
        return found

    def along(self, origin: ArrayLike, direction: ArrayLike) -> tuple[float, float] | None:
        """Return between which distances a ray runs through what is shown.

        Parameters
        ----------
        origin, direction : float (3,)
            Distances are in lengths of the direction.

        Returns
        -------
        (float, float) or None
            None if it misses what is shown.
        """
        begin, end = 0.0, np.inf
        for axis, o, d in zip((0, 1, 2), np.asarray(origin, float), np.asarray(direction, float)):
            first, last = self.ends(axis)
            if abs(d) < 1e-12:
                if not first <= o <= last:
                    return None
                continue
            near, far = sorted(((first - o) / d, (last - o) / d))
            begin, end = max(begin, near), min(end, far)
        return (float(begin), float(end)) if begin <= end else None

    def share_along(
        self, axis: int, through: ArrayLike, origin: ArrayLike, toward: ArrayLike
    ) -> float | None:
        """Return the share of the box at which a ray passes nearest to a line along an axis.

        Parameters
        ----------
        axis : int
        through : float (3,)
            A point of the line.
        origin, toward : float (3,)
            Of the ray.

        Returns
        -------
        float or None
            None if the ray runs along the line.
        """
        apart, d = np.asarray(through, float) - np.asarray(origin, float), np.asarray(toward, float)
        d = d / np.linalg.norm(d)
        across = float(d[axis])
        if 1 - across**2 < 1e-4:
            return None
        at = np.asarray(through, float)[axis] + (across * float(d @ apart) - apart[axis]) / (1 - across**2)
        return float((at - self.low[axis]) / max(self.high[axis] - self.low[axis], 1e-9))

    def dragged(self, axis: int, end: int, share: float, both: bool = False) -> Slab:
        """Return the slab after one of its planes was dragged.

        Parameters
        ----------
        axis : int
        end : {0, 1}
            Which of the two planes.
        share : float
            Where it is dragged to; it stays within the box, and before or behind the other one.
        both : bool
            The other plane moves with it.

        Returns
        -------
        Slab
        """
        made = []
        for own, first, last in self.shares:
            if own != axis:
                made.append((own, first, last))
                continue
            thick = last - first
            if both:
                first = min(max(share - (thick if end else 0.0), 0.0), 1.0 - thick)
                last = first + thick
            elif end:
                last = min(max(share, first + LEAST), 1.0)
            else:
                first = max(min(share, last - LEAST), 0.0)
            made.append((own, first, last))
        return Slab(self.low, self.high, tuple(made))
