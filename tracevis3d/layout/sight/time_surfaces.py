"""Surfaces along which time runs: the front of a box, and a cylinder around an axis of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .affine import Box, Floats
from .picking import Ray

#: Pieces of a band around a cylinder.
_PIECES = 16


def front_band(box: Box, left: float, right: float) -> Floats:
    """Return the corners, float64 (4, 3), of a band over the front of a box from one x to another.

    Of a box that lies flat it is the upper side. The corners run around the band from its lower left one.

    Parameters
    ----------
    box : (float64 (3,), float64 (3,))
        Its corners with the smallest and the largest coordinates.
    left, right : float
        The two places along x, in any order.

    Returns
    -------
    float64 (4, 3)

    Examples
    --------
    >>> front_band((np.zeros(3), np.array([9.0, 1.0, 4.0])), 3.0, 5.0)[:, [0, 2]].tolist()
    [[3.0, 0.0], [5.0, 0.0], [5.0, 4.0], [3.0, 4.0]]
    """
    low, high = box
    left, right = min(left, right), max(left, right)
    if high[2] - low[2] >= high[1] - low[1]:
        at = [(x, low[1], z) for x, z in ((left, low[2]), (right, low[2]), (right, high[2]), (left, high[2]))]
    else:
        at = [
            (x, y, high[2]) for x, y in ((left, low[1]), (right, low[1]), (right, high[1]), (left, high[1]))
        ]
    return np.array(at, np.float64)


@dataclass(frozen=True, eq=False)
class Cylinder:
    """A surface around an axis of time: a section of any form that is moved along the axis.

    Attributes
    ----------
    section : float64 (k, 3)
        Where time begins, around the axis.
    axis : float64 (3,)
        From the beginning of time to its end.

    Examples
    --------
    >>> surface = Cylinder.between([[0, 0, 1], [0, 1, 0]], [[4, 0, 1], [4, 1, 0]])
    >>> surface.share_of([1, 0, 0])
    0.25
    >>> point, share, around = surface.met(Ray.of([2, 0, 0], [0, 1, 1]))
    >>> point.tolist(), share, around
    ([2.0, 0.5, 0.5], 0.5, 0.5)
    """

    section: Floats
    axis: Floats

    @classmethod
    def between(cls, begin: ArrayLike, end: ArrayLike) -> Cylinder | None:
        """Return the surface between two sections, float (k, 3) and (m, 3); None if it has no extent.

        Parameters
        ----------
        begin, end : float (k, 3)
            The sections where time begins and where it ends; of ``end`` the first point is read.

        Returns
        -------
        Cylinder or None
        """
        section = np.asarray(begin, np.float64)
        if len(section) < 2 or not len(np.asarray(end)):
            return None
        axis = np.asarray(end, np.float64)[0] - section[0]
        return cls(section, axis) if np.linalg.norm(axis) >= 1e-6 else None

    @property
    def middle(self) -> Floats:
        """A point of the line in the middle, float64 (3,)."""
        return np.asarray(self.section.mean(axis=0))

    @property
    def box(self) -> Box:
        """The box around the surface."""
        ends = np.concatenate([self.section, self.section + self.axis])
        return ends.min(axis=0), ends.max(axis=0)

    @property
    def straight(self) -> int | None:
        """Which of x, y and z the axis runs along; None if along none."""
        along = int(np.argmax(np.abs(self.axis)))
        return along if abs(self.axis[along]) >= 0.999 * np.linalg.norm(self.axis) else None

    def share_of(self, point: ArrayLike) -> float:
        """Return the share of time of a point, float (3,): 0 to 1."""
        share = float((np.asarray(point) - self.section[0]) @ self.axis) / float(self.axis @ self.axis)
        return min(max(share, 0.0), 1.0)

    def share_along(self, ray: Ray, through: ArrayLike) -> float | None:
        """Return the share of time at which a ray passes nearest to a line along time.

        Parameters
        ----------
        ray : Ray
        through : float (3,)
            A point of the line.

        Returns
        -------
        float or None
            0 to 1; None if the ray runs along time.
        """
        start = np.asarray(through, np.float64)
        u, d = self.axis / np.linalg.norm(self.axis), np.asarray(ray.direction, np.float64)
        d = d / np.linalg.norm(d)
        apart, across = start - ray.origin, float(u @ d)
        if 1 - across**2 < 1e-6:
            return None
        at = (across * float(d @ apart) - float(u @ apart)) / (1 - across**2)
        return self.share_of(start + at * u)

    def met(self, ray: Ray, outside: bool = False) -> tuple[Floats, float, float] | None:
        """Return where a ray meets the surface: where it is seen from inside, or first, from ``outside``.

        Parameters
        ----------
        ray : Ray
            In the surface's coordinates.
        outside : bool
            The first place along the ray counts, not the last.

        Returns
        -------
        (float64 (3,), float, float) or None
            The point, its share of time, and its place around the section, 0 to 1; None: it is not met.
        """
        u = self.axis / np.linalg.norm(self.axis)
        first = np.eye(3)[int(np.argmin(np.abs(u)))]
        first -= (first @ u) * u
        first /= np.linalg.norm(first)
        plane = np.stack([first, np.cross(u, first)])
        o, d, p = plane @ ray.origin, plane @ ray.direction, self.section @ plane.T
        edge = np.diff(p, axis=0)
        turn = d[0] * edge[:, 1] - d[1] * edge[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = p[:-1] - o
            t = (gap[:, 0] * edge[:, 1] - gap[:, 1] * edge[:, 0]) / turn
            w = (gap[:, 0] * d[1] - gap[:, 1] * d[0]) / turn
            point = ray.origin + t[:, None] * ray.direction
            share = (point - self.section[0]) @ self.axis / float(self.axis @ self.axis)
        hits = np.flatnonzero((t > 0) & (w >= 0) & (w <= 1) & (share >= 0) & (share <= 1))
        if not len(hits):
            return None
        i = hits[np.argmin(t[hits])] if outside else hits[np.argmax(t[hits])]
        return point[i], float(share[i]), float(i + w[i]) / len(edge)

    def band(self, left: float, right: float) -> Floats:
        """Return the corners of the pieces of a band from one share of time to another, float64 (n, 4, 3).

        Parameters
        ----------
        left, right : float
            Shares of time, 0 to 1, in any order.

        Returns
        -------
        float64 (n, 4, 3)
        """
        at = np.unique(np.linspace(0, len(self.section) - 1, _PIECES + 1).astype(np.int64))
        low, high = (self.section[at] + share * self.axis for share in sorted((left, right)))
        return np.stack([low[:-1], high[:-1], high[1:], low[1:]], axis=1)

    def around(self, points: ArrayLike) -> Floats:
        """Return where around the section points lie nearest to it, in pieces of it.

        Parameters
        ----------
        points : float (n, 3)

        Returns
        -------
        float64 (n,)
            0 at the section's first point, 1 at the next one, and so on.
        """
        u = self.axis / np.linalg.norm(self.axis)
        at = np.asarray(points, np.float64)
        at = at - ((at - self.section[0]) @ u)[:, None] * u
        edge = np.diff(self.section, axis=0)
        apart = at[:, None] - self.section[None, :-1]
        long = np.maximum((edge**2).sum(axis=1), 1e-30)
        share = np.clip((apart * edge).sum(axis=2) / long, 0.0, 1.0)
        away = ((apart - share[..., None] * edge) ** 2).sum(axis=2)
        nearest = away.argmin(axis=1)
        return np.asarray(nearest + share[np.arange(len(at)), nearest])

    def column(self, first: float, last: float) -> Floats:
        """Return the corners of the pieces of a stretch of the section through all of time.

        Parameters
        ----------
        first, last : float
            Where it begins and ends around the section, as :meth:`around` returns it.

        Returns
        -------
        float64 (n, 4, 3)
        """
        inner = np.arange(np.floor(first) + 1, np.ceil(last))
        places = np.concatenate([[first], inner, [last]])
        known = np.arange(len(self.section))
        low = np.stack([np.interp(places, known, self.section[:, axis]) for axis in (0, 1, 2)], axis=1)
        high = low + self.axis
        return np.stack([low[:-1], high[:-1], high[1:], low[1:]], axis=1)


def from_lower_end(pieces: Floats) -> list[Floats]:
    """Return the pieces of a band, (n, 4, 3), in the order that ends with the upper one.

    Parameters
    ----------
    pieces : float64 (n, 4, 3)
        As :meth:`Cylinder.band` returns them.

    Returns
    -------
    list of float64 (4, 3)

    Examples
    --------
    >>> surface = Cylinder.between([[0, 0, 1], [0, 1, 0]], [[4, 0, 1], [4, 1, 0]])
    >>> [corner.tolist() for corner in from_lower_end(surface.band(0, 1))[0][:2]]
    [[0.0, 1.0, 0.0], [4.0, 1.0, 0.0]]
    """
    return list(pieces if pieces[0, 0, 2] < pieces[-1, 2, 2] else pieces[::-1, [3, 2, 1, 0]])
