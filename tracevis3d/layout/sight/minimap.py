"""A map of a scene in a corner of the window, from the front or from above, with the visible part framed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .affine import Box, Floats
from .view_projection import ViewProjection

#: Minimum size of each side of a map, as a share of its maximum.
_LEAST = 0.3


@dataclass(frozen=True)
class Minimap:
    """A map and its place in a region.

    Attributes
    ----------
    across, up : int
        The axes of the scene that run to the right and up on it.
    low : (float, float)
        Where the map begins, in the scene.
    scale : (float, float)
        Pixels per unit of the scene.
    box : (float, float, float, float)
        Left, bottom, right, top, in pixels of the region.

    Examples
    --------
    >>> whole = np.zeros(3), np.array([10.0, 1.0, 5.0])
    >>> minimap = Minimap.of(whole, corner=(200.0, 0.0), most=(100.0, 100.0))
    >>> minimap.box, minimap.pixels([10.0, 0.0, 5.0]).tolist()
    ((100.0, 0.0, 200.0, 50.0), [200.0, 50.0])
    """

    across: int
    up: int
    low: tuple[float, float]
    scale: tuple[float, float]
    box: tuple[float, float, float, float]

    @classmethod
    def of(cls, whole: Box, corner: tuple[float, float], most: tuple[float, float]) -> Minimap:
        """Return the map of a whole scene.

        Parameters
        ----------
        whole : (float64 (3,), float64 (3,))
            The box around the scene.
        corner : (float, float)
            The map's lower right corner, in pixels.
        most : (float, float)
            Maximum width and height in pixels; flat scenes are stretched to a share of it.

        Returns
        -------
        Minimap
            From the front, or from above where the scene is deeper than it is high.
        """
        size = np.maximum(np.asarray(whole[1], np.float64) - whole[0], 1e-9)
        up = 2 if size[2] >= size[1] else 1
        fit = min(most[0] / size[0], most[1] / size[up])
        wide = min(max(fit * size[0], _LEAST * most[0]), most[0])
        high = min(max(fit * size[up], _LEAST * most[1]), most[1])
        return cls(
            0,
            up,
            (float(whole[0][0]), float(whole[0][up])),
            (float(wide / size[0]), float(high / size[up])),
            (corner[0] - float(wide), corner[1], corner[0], corner[1] + float(high)),
        )

    def pixels(self, points: ArrayLike) -> Floats:
        """Return the places of points on the map.

        Parameters
        ----------
        points : float (..., 3)
            In the scene.

        Returns
        -------
        float64 (..., 2)
            Pixels of the region.
        """
        at = np.asarray(points, np.float64)[..., [self.across, self.up]]
        return np.asarray(self.box[:2] + (at - self.low) * self.scale)

    def has(self, x: float, y: float) -> bool:
        """Return whether a pixel of the region lies on the map.

        Parameters
        ----------
        x, y : float
            Pixels of the region.

        Returns
        -------
        bool
        """
        left, bottom, right, top = self.box
        return left <= x < right and bottom <= y < top

    def point(self, x: float, y: float, beside: ArrayLike) -> Floats:
        """Return the point of the scene at a pixel.

        Parameters
        ----------
        x, y : float
            Pixels of the region.
        beside : float (3,)
            A point of the scene at the same depth.

        Returns
        -------
        float64 (3,)
        """
        found = np.array(beside, np.float64)
        found[self.across] = self.low[0] + (x - self.box[0]) / self.scale[0]
        found[self.up] = self.low[1] + (y - self.box[1]) / self.scale[1]
        return found

    def rectangles(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """Return the corners of boxes on the map, at least a pixel apart.

        Parameters
        ----------
        low, high : float (n, 3)
            The boxes' corners with the smallest and the largest coordinates.

        Returns
        -------
        float64 (n, 4, 2)
            Pixels of the region.
        """
        a, b = self.pixels(low), self.pixels(high)
        b = np.maximum(b, a + 1.0)
        found = np.stack([a, np.stack([b[:, 0], a[:, 1]], 1), b, np.stack([a[:, 0], b[:, 1]], 1)], axis=1)
        return np.asarray(np.clip(found, self.box[:2], self.box[2:]), np.float64)

    def outline(self, points: ArrayLike) -> Floats:
        """Return the part of a convex outline that lies on the map.

        Parameters
        ----------
        points : float (n, 3)
            In the scene, in order.

        Returns
        -------
        float64 (k, 2)
            Pixels, in order; empty if no part of it is on the map.
        """
        corners = list(self.pixels(points))
        for axis, sign in ((0, 1), (1, 1), (0, -1), (1, -1)):
            end = self.box[axis] if sign > 0 else self.box[2 + axis]
            kept: list[Floats] = []
            for a, b in zip(corners, [*corners[1:], *corners[:1]]):
                ahead, behind = sign * (a[axis] - end), sign * (b[axis] - end)
                if ahead >= 0:
                    kept.append(a)
                if (ahead >= 0) != (behind >= 0):
                    kept.append(a + (b - a) * (ahead / (ahead - behind)))
            corners = kept
        return np.array(corners).reshape(-1, 2)


def footprint(view: ViewProjection, focus: ArrayLike, forward: ArrayLike) -> Floats:
    """Return the corners of what a region shows at the depth of a focus.

    Parameters
    ----------
    view : ViewProjection
    focus : float (3,)
        A point at that depth.
    forward : float (3,)
        The direction of view, a unit vector.

    Returns
    -------
    float64 (4, 3)
        In the scene, in order.

    Examples
    --------
    >>> view = ViewProjection.of(np.diag([0.5, 0.5, -0.1, 1.0]), 800, 600)
    >>> footprint(view, (0.0, 0.0, 0.0), (0.0, 0.0, -1.0))[:, :2].tolist()
    [[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]]
    """
    corners = []
    toward = np.asarray(forward, np.float64)
    for x, y in ((0, 0), (view.width, 0), (view.width, view.height), (0, view.height)):
        ray = view.ray(x, y, 0.0)
        along = float(ray.direction @ toward)
        corners.append(
            ray.at(float((np.asarray(focus, np.float64) - ray.origin) @ toward) / max(along, 1e-9))
        )
    return np.array(corners)
