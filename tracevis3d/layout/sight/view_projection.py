"""The projection of a 3D view: rays through its pixels, pixels of points, and what is in view."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .affine import Floats
from .picking import Ray

#: Maximum number of boxes tested for visibility, the widest first.
MOST_LOOKED_AT = 10_000
_LEAST_W = 1e-9


@dataclass(frozen=True, eq=False)
class ViewProjection:
    """The projection of a 3D view onto its region.

    Attributes
    ----------
    matrix : float64 (4, 4)
        From coordinates of the scene, or of an object, to clip space: in view is what lies between ``-w``
        and ``w``, as in OpenGL.
    width, height : int
        Of the region, in pixels.

    Examples
    --------
    >>> view = ViewProjection.of(np.diag([0.5, 0.5, -0.1, 1.0]), 800, 600)
    >>> view.pixels([[1.0, -1.0, 0.0]]).tolist()
    [[600.0, 150.0]]
    """

    matrix: Floats
    width: int
    height: int

    @classmethod
    def of(cls, matrix: ArrayLike, width: int, height: int) -> ViewProjection:
        """Return the projection with a matrix, float (4, 4), onto a region of this many pixels.

        Parameters
        ----------
        matrix : float (4, 4)
            From scene coordinates to the region, as Blender's ``perspective_matrix``.
        width, height : int
            Pixels.

        Returns
        -------
        ViewProjection
        """
        return cls(np.array(matrix, np.float64), width, height)

    def ray(self, x: float, y: float, reach: float) -> Ray:
        """Return the ray through a pixel.

        Parameters
        ----------
        x, y : float
            Pixels from the region's lower left corner.
        reach : float
            Pixels: half the thickness of the ray.

        Returns
        -------
        Ray
            It gets thicker with distance in perspective, so that it covers ``reach`` pixels everywhere.
        """
        near, far = self._unprojected(x, y, -1.0), self._unprojected(x, y, 0.5)
        wide = (
            float(np.linalg.norm(self._unprojected(x + 1, y, -1.0) - near)),
            float(np.linalg.norm(self._unprojected(x + 1, y, 0.5) - far)),
        )
        length = float(np.linalg.norm(far - near))
        growth = reach * (wide[1] - wide[0]) / max(length, 1e-30)
        return Ray.of(near, far - near, reach * wide[0], max(growth, 0.0))

    def _unprojected(self, x: float, y: float, depth: float) -> Floats:
        width, height = max(self.width, 1), max(self.height, 1)
        clip = np.array([2 * x / width - 1, 2 * y / height - 1, depth, 1.0])
        corner = self._back @ clip
        return np.asarray(corner[:3] / corner[3])

    def pixels(self, points: ArrayLike) -> Floats:
        """Return where points fall.

        Parameters
        ----------
        points : float (n, 3)

        Returns
        -------
        float64 (n, 2)
            Pixels from the region's lower left corner; NaN behind the eye.
        """
        at = self._clip(points)
        depth = np.where(at[:, 3] > 0, at[:, 3], np.nan)
        half = np.array([self.width, self.height]) / 2
        return np.asarray(half + half * at[:, :2] / depth[:, None])

    def project(self, points: ArrayLike) -> tuple[Floats, Floats]:
        """Return where points fall, and how deep they lie.

        Parameters
        ----------
        points : float (n, 3)

        Returns
        -------
        pixel : float64 (n, 2)
            As :meth:`pixels` returns them.
        depth : float64 (n,)
            As the depth buffer has it: 0 at the near plane, 1 at the far plane; NaN behind the eye.
        """
        at = self._clip(points)
        w = np.where(at[:, 3] > 0, at[:, 3], np.nan)
        half = np.array([self.width, self.height]) / 2
        return np.asarray(half + half * at[:, :2] / w[:, None]), (at[:, 2] / w + 1) / 2

    def pixels_in_front(self, points: ArrayLike) -> Floats | None:
        """Return where points (n, 3) fall, as :meth:`pixels` does; None if one lies behind the eye."""
        at = self.pixels(points)
        return None if np.isnan(at).any() else at

    def x_in_sight(self, low: ArrayLike, size: ArrayLike) -> tuple[float, float, float] | None:
        """Return from which x to which boxes can be seen, and the most pixels that a unit of x takes there.

        Parameters
        ----------
        low, size : float (n, 3)
            Of more than :data:`MOST_LOOKED_AT` boxes the widest are examined.

        Returns
        -------
        (float, float, float) or None
            None if no box can be seen. The pixels are 0 if no box that can be seen is wider than one.
        """
        least, wide = np.asarray(low), np.asarray(size)
        if len(least) > MOST_LOOKED_AT:
            widest = np.argpartition(-wide[:, 0], MOST_LOOKED_AT)[:MOST_LOOKED_AT]
            least, wide = least[widest], wide[widest]
        # Along the fronts of the boxes: at their lower edges, middles, and upper edges.
        begin = np.concatenate([least + wide * (0.0, 0.0, z) for z in (0.02, 0.5, 0.98)])
        end = begin + np.tile(wide * (1.0, 0.0, 0.0), (3, 1))
        at, until = self._clip(begin), self._clip(end)
        share = share_in_sight(at, until)
        visible = (share[:, 1] > share[:, 0]) & (end[:, 0] > begin[:, 0])
        if not visible.any():
            return None
        share, left, right = share[visible], begin[visible, 0], end[visible, 0]
        along = until[visible] - at[visible]
        half = np.array([self.width, self.height]) / 2
        ends = [at[visible] + along * share[:, i : i + 1] for i in (0, 1)]
        place = [corner[:, :2] / corner[:, 3:] * half for corner in ends]
        units = (right - left) * (share[:, 1] - share[:, 0])
        long = np.linalg.norm(place[1] - place[0], axis=1)
        # Boxes of a pixel or less don't show their distance.
        clear = long > 1
        most = float((long[clear] / units[clear]).max()) if clear.any() else 0.0
        first = float((left + (right - left) * share[:, 0]).min())
        last = float((left + (right - left) * share[:, 1]).max())
        return first, last, most

    @cached_property
    def _back(self) -> Floats:
        return np.linalg.inv(self.matrix)

    def _clip(self, points: ArrayLike) -> Floats:
        return np.asarray(np.asarray(points, np.float64) @ self.matrix[:, :3].T + self.matrix[:, 3])


def whole_in_sight(
    parts: Iterable[tuple[float, float, float] | None],
) -> tuple[float, float, float] | None:
    """Return what :meth:`ViewProjection.x_in_sight` returns for several groups of boxes together.

    Parameters
    ----------
    parts : iterable of (float, float, float) or None
        First and last x in view, and pixels of a scene unit; None: nothing of that group is in view.

    Returns
    -------
    (float, float, float) or None
        None if nothing wider than a pixel can be seen.

    Examples
    --------
    >>> whole_in_sight([(0.0, 2.0, 10.0), None, (1.0, 5.0, 30.0)])
    (0.0, 5.0, 30.0)
    """
    seen = [part for part in parts if part is not None]
    if not seen:
        return None
    first, last, most = (pick(column) for pick, column in zip((min, max, max), zip(*seen)))
    return (first, last, most) if first < last and most > 0 else None


def share_in_sight(start: ArrayLike, end: ArrayLike) -> NDArray[np.float64]:
    """Return from which to which share lines are in view.

    After Liang and Barsky, "A new concept and method for line clipping" (ACM Transactions on Graphics,
    1984). The planes in front and behind are left out: only what lies behind the eye is cut off.

    Parameters
    ----------
    start, end : float (n, 4)
        In clip space.

    Returns
    -------
    float64 (n, 2)
        What is out of view has a first share that is not below the second.

    Examples
    --------
    >>> share_in_sight([[-2, 0, 0, 1]], [[2, 0, 0, 1]]).tolist()
    [[0.25, 0.75]]
    """
    begin, stop = np.asarray(start, np.float64), np.asarray(end, np.float64)
    found = np.tile([0.0, 1.0], (len(begin), 1))
    for axis, sign in ((0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0), (3, 0.0)):
        a, b = (p[:, 3] + sign * p[:, axis] - (_LEAST_W if sign == 0 else 0.0) for p in (begin, stop))
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = a / (a - b)
        found[:, 0] = np.where((a < 0) & (b >= 0), np.maximum(found[:, 0], crossing), found[:, 0])
        found[:, 1] = np.where((a >= 0) & (b < 0), np.minimum(found[:, 1], crossing), found[:, 1])
        found[(a < 0) & (b < 0)] = (1.0, 0.0)
    return found
