"""Which part of the picture is taken by what is drawn: names go where there is room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...drawing.projection import Projection
from .composition import Composition
from .parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Pixels of a cell.
_CELL = 3.0
#: How much of a cell a solid, the path, a line of so many pixels' width, and a ring take.
_SOLID, _PATH, _WIDE, _LINE, _RING = 1.0, 0.9, 5.0, 0.6, 0.2
#: Points by which a ball and a cone are sampled, and a small ball, of so many pixels' radius.
_POINTS, _FEW, _SMALL = 300, 12, 5.0
#: Points of a ring, and rings whose points are held at once.
_AROUND, _AT_ONCE = 120, 2000
#: A column of cells is covered from this part on, and counts as so much of a name's place.
_COVERED, _LETTER = 0.62, 0.1
#: A line is sampled at no more points.
_ALONG = 1500


class Occupied:
    """A grid over the picture that tells how much of each cell is taken.

    Parameters
    ----------
    width, height : float
        Of the picture, in pixels.
    """

    def __init__(self, width: float, height: float) -> None:
        self.grid = np.zeros((int(height / _CELL) + 1, int(width / _CELL) + 1))
        self.depth = np.full(self.grid.shape, np.inf)
        self._names: list[tuple[float, float, float, float]] = []

    def mark(self, pixel: Floats, depth: Floats, weight: Floats | float) -> None:
        """Take the cells of ``pixel`` (n, 2), as much of them as ``weight`` says, by what is so deep (n,)."""
        at = np.floor(pixel / _CELL).astype(np.int64)
        seen = (at >= 0).all(axis=1) & (at[:, 0] < self.grid.shape[1]) & (at[:, 1] < self.grid.shape[0])
        weights = np.broadcast_to(weight, len(at))[seen]
        np.maximum.at(self.grid, (at[seen, 1], at[seen, 0]), weights)
        np.minimum.at(self.depth, (at[seen, 1], at[seen, 0]), depth[seen])

    def share(self, left: float, bottom: float, right: float, top: float) -> float:
        """Return which part of a rectangle is taken; 1 where there is a name already or the picture ends."""
        if any(left < x1 and x0 < right and bottom < y1 and y0 < top for x0, y0, x1, y1 in self._names):
            return 1.0
        rows, columns = self.grid.shape
        i, j = int(bottom / _CELL), int(np.ceil(top / _CELL))
        k, m = int(left / _CELL), int(np.ceil(right / _CELL))
        if i < 0 or k < 0 or j > rows or m > columns:
            return 1.0
        across = self.grid[i:j, k:m].mean(axis=0)
        # A letter that is covered counts more than many that a line touches.
        return float(across.mean() + (_LETTER if across.max() > _COVERED else 0.0))

    def nearest(self, left: float, bottom: float, right: float, top: float) -> float:
        """Return how deep the nearest of what takes part of a rectangle is; infinite if there is nothing."""
        i, j = max(int(bottom / _CELL), 0), int(np.ceil(top / _CELL))
        k, m = max(int(left / _CELL), 0), int(np.ceil(right / _CELL))
        return float(self.depth[i:j, k:m].min(initial=np.inf))

    def take(self, left: float, bottom: float, right: float, top: float) -> None:
        """Keep a rectangle for a name."""
        self._names.append((left, bottom, right, top))


def occupied(picture: Composition, path: Ints, projection: Projection, p: Parameters) -> Occupied:
    """Return what the tree takes of the picture: balls, closed cones, links, rings and the path."""
    there = Occupied(projection.frame.width, projection.frame.height)
    pixel = projection.pixels(picture.center)

    def deep(points: Floats) -> Floats:
        return np.asarray((points - projection.eye) @ projection.forward)

    depth = deep(picture.center) - picture.radius
    step = projection.pixels(picture.center + projection.right * 0.01)
    scale = np.hypot(*(step - pixel).T) / 0.01
    # Sunflowers: points spread evenly over a disc.
    for which, points in (
        (picture.radius * scale >= _SMALL, _POINTS),
        (picture.radius * scale < _SMALL, _FEW),
    ):
        turn, out = np.arange(points) * 2.399963, np.sqrt((np.arange(points) + 0.5) / points)
        disc = np.column_stack([out * np.cos(turn), out * np.sin(turn)])
        radius = 0.9 * (picture.radius * scale)[which]
        at = (pixel[which, None] + radius[:, None, None] * disc).reshape(-1, 2)
        there.mark(at, np.repeat(depth[which], points), _SOLID)
    closed = np.flatnonzero(picture.closed)
    if p.layout != "hyperbolic" and len(closed):
        turn, out = np.arange(_POINTS) * 2.399963, np.sqrt((np.arange(_POINTS) + 0.5) / _POINTS)
        point = np.repeat(picture.around[closed, None], _POINTS, axis=1)
        plan, axis = ([1, 2], 0) if p.recline else ([0, 1], 2)
        across = (0.92 * picture.disc[closed])[:, None] * out
        point[:, :, plan[0]] += across * np.cos(turn)
        point[:, :, plan[1]] += across * np.sin(turn)
        if p.opening > 0:
            point[:, :, axis] += (1 if p.recline else -1) * picture.skirt[closed, None] * out
        point = point.reshape(-1, 3)
        there.mark(projection.pixels(point), deep(point), _SOLID)
    inner = np.flatnonzero(picture.nodes.parent >= 0)
    wide = np.minimum(picture.width[inner] * scale[inner] / _WIDE, 1.0)
    ends = np.column_stack([pixel, deep(picture.center)])
    _lines(there, ends[picture.nodes.parent[inner]], ends[inner], _LINE * wide)
    if len(path) > 1:
        _lines(there, ends[path[:-1]], ends[path[1:]], np.full(len(path) - 1, _PATH))
    rings = np.flatnonzero(picture.ring > 0)
    if p.shells != "none" and len(rings):
        turn = np.linspace(0, 2 * np.pi, _AROUND, endpoint=False)
        for some in np.array_split(rings, len(rings) // _AT_ONCE + 1):
            point = picture.circle(some, turn, p).reshape(-1, 3)
            there.mark(projection.pixels(point), deep(point), _RING)
    return there


def _lines(there: Occupied, begin: Floats, end: Floats, weight: Floats) -> None:
    """Take the cells along lines (n, 3), of pixels and depths; a cell has the weight of the widest there."""
    count = np.clip((np.hypot(*(end - begin)[:, :2].T) / (0.7 * _CELL)).astype(np.int64) + 1, 2, _ALONG)
    which = np.repeat(np.arange(len(count)), count)
    share = (np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)) / (count - 1)[which]
    at = begin[which] + share[:, None] * (end - begin)[which]
    there.mark(at[:, :2], at[:, 2], weight[which])
