"""The occupied part of the picture, so that names are placed where there is room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.projection import Projection
from .layout import Layout
from .layouts.rooms import SHARE
from .parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Pixels of a cell.
_CELL = 3.0
#: Share of a cell covered by a solid, the path, a line of this width in pixels, and a ring.
_SOLID, _PATH, _WIDE, _LINE, _RING = 1.0, 0.9, 5.0, 0.6, 0.2
#: Sample points of balls and cones, up to a radius of this many pixels.
_SAMPLED = ((5.0, 12), (30.0, 300), (np.inf, 1500))
#: Points of a ring, and number of rings processed together.
_AROUND, _AT_ONCE = 120, 2000
#: A column of cells counts as covered from this share on, with this share of a name's place.
_COVERED, _LETTER = 0.62, 0.1
#: Of a line with an end behind the camera, the part at least this far away is visible, relative to its depth.
_NEAREST = 0.05
#: Maximum number of sample points of a line.
_ALONG = 1500


class Occupied:
    """A grid over the picture: how much of each cell is occupied.

    Parameters
    ----------
    width, height : float
        Of the picture, in pixels.
    before : float
        What is less deep is behind the camera.
    """

    def __init__(self, width: float, height: float, before: float = 0.0) -> None:
        self.before = before
        self.grid = np.zeros((int(height / _CELL) + 1, int(width / _CELL) + 1))
        self.depth = np.full(self.grid.shape, np.inf)
        self.wall = np.full(self.grid.shape, np.inf)
        self._names: list[tuple[float, float, float, float]] = []

    def mark(self, pixel: Floats, depth: Floats, weight: Floats | float) -> None:
        """Take the cells of ``pixel`` (n, 2), as much of them as ``weight`` says, by what is so deep (n,).

        Parameters
        ----------
        pixel : float64 (n, 2)
            Places in the picture.
        depth : float64 (n,)
            Distances in front of the eye, in scene units.
        weight : float64 (n,) or float
            0 to 1.
        """
        at = np.floor(pixel / _CELL).astype(np.int64)
        seen = (at >= 0).all(axis=1) & (at[:, 0] < self.grid.shape[1]) & (at[:, 1] < self.grid.shape[0])
        seen &= depth > self.before
        weights = np.broadcast_to(weight, len(at))[seen]
        np.maximum.at(self.grid, (at[seen, 1], at[seen, 0]), weights)
        np.minimum.at(self.depth, (at[seen, 1], at[seen, 0]), depth[seen])
        if np.isscalar(weight) and weight == _SOLID:
            np.minimum.at(self.wall, (at[seen, 1], at[seen, 0]), depth[seen])

    def share(self, left: float, bottom: float, right: float, top: float) -> float:
        """Return which part of a rectangle is taken; 1 where there is a name already or the picture ends.

        Parameters
        ----------
        left, bottom, right, top : float
            Pixels.

        Returns
        -------
        float
            0 to 1.
        """
        if any(left < x1 and x0 < right and bottom < y1 and y0 < top for x0, y0, x1, y1 in self._names):
            return 1.0
        rows, columns = self.grid.shape
        i, j = int(bottom / _CELL), int(np.ceil(top / _CELL))
        k, m = int(left / _CELL), int(np.ceil(right / _CELL))
        if i < 0 or k < 0 or j > rows or m > columns:
            return 1.0
        across = self.grid[i:j, k:m].mean(axis=0)
        # One covered letter counts more than many that a line touches.
        return float(across.mean() + (_LETTER if across.max() > _COVERED else 0.0))

    def nearest(self, left: float, bottom: float, right: float, top: float) -> float:
        """Return how deep the nearest of what takes part of a rectangle is; infinite if there is nothing.

        Parameters
        ----------
        left, bottom, right, top : float
            Pixels.

        Returns
        -------
        float
            Distance in front of the eye, in scene units.
        """
        i, j = max(int(bottom / _CELL), 0), int(np.ceil(top / _CELL))
        k, m = max(int(left / _CELL), 0), int(np.ceil(right / _CELL))
        return float(self.depth[i:j, k:m].min(initial=np.inf))

    def hidden(self, pixel: Floats, depth: Floats) -> NDArray[np.bool_]:
        """Return which points (n, 2) of a depth (n,) are behind something solid.

        Parameters
        ----------
        pixel : float64 (n, 2)
            Places in the picture.
        depth : float64 (n,)
            Distances in front of the eye, in scene units.

        Returns
        -------
        bool (n,)
        """
        at = np.floor(pixel / _CELL).astype(np.int64)
        rows, columns = self.grid.shape
        inside = (at >= 0).all(axis=1) & (at[:, 0] < columns) & (at[:, 1] < rows)
        found = np.zeros(len(at), np.bool_)
        found[inside] = self.wall[at[inside, 1], at[inside, 0]] < depth[inside]
        return found

    def crossed(self, begin: Floats, end: Floats) -> bool:
        """Return whether a line to a name crosses another name than one over its beginning.

        Parameters
        ----------
        begin, end : float64 (2,)
            Pixels.

        Returns
        -------
        bool
        """
        along = np.linspace(begin, end, 24)
        inside = [((along > name[:2]) & (along < name[2:])).all(axis=1) for name in self._names]
        return any(each.any() and not each[0] for each in inside)

    def take(self, left: float, bottom: float, right: float, top: float) -> None:
        """Reserve a rectangle for a name.

        Parameters
        ----------
        left, bottom, right, top : float
            Pixels.
        """
        self._names.append((left, bottom, right, top))


def occupied(
    picture: Layout, path: Ints, projection: Projection, p: Parameters, shown: NDArray[np.bool_]
) -> Occupied:
    """Return what the tree takes of the picture: balls, closed cones, links, rings and the path.

    Of nodes that are not ``shown`` (n,) nothing is there.

    Parameters
    ----------
    picture : Layout
    path : int64 (k,)
        The nodes of the path that is drawn as a tube.
    projection : Projection
        From where it is seen.
    p : Parameters
    shown : bool (n,)
        Nodes that are drawn.

    Returns
    -------
    Occupied
    """
    before = 0.0 if projection.perspective else -np.inf
    there = Occupied(projection.frame.width, projection.frame.height, before)
    pixel = projection.pixels(picture.center)

    def deep(points: Floats) -> Floats:
        return np.asarray((points - projection.eye) @ projection.forward)

    depth = deep(picture.center) - picture.radius
    step = projection.pixels(picture.center + projection.right * 0.01)
    scale = np.hypot(*(step - pixel).T) / 0.01
    # Sunflowers: points spread evenly over a disc.
    small, size = 0.0, (projection.frame.width, projection.frame.height)
    # Elements outside the picture cover nothing.
    around = np.maximum(np.maximum(picture.radius, picture.disc), picture.skirt)[:, None] * scale[:, None]
    seen = shown & ((pixel > -around) & (pixel < size + around)).all(axis=1) & (depth > before)
    solid = (p.layout != "hyperbolic") & picture.closed & seen
    for large, points in _SAMPLED:
        turn, out = np.arange(points) * 2.399963, np.sqrt((np.arange(points) + 0.5) / points)
        disc = np.column_stack([out * np.cos(turn), out * np.sin(turn)])
        wide = picture.radius * scale
        which = seen & (wide > small) & (wide <= large)
        radius = 0.9 * wide[which]
        at = (pixel[which, None] + radius[:, None, None] * disc).reshape(-1, 2)
        there.mark(at, np.repeat(depth[which], points), _SOLID)
        wide = SHARE * picture.disc * scale
        closed = np.flatnonzero(solid & (wide > small) & (wide <= large))
        point = np.repeat(picture.around[closed, None], points, axis=1)
        plan, axis = ([1, 2], 0) if p.recline else ([0, 1], 2)
        point[:, :, plan] += (SHARE * picture.disc[closed])[:, None, None] * disc
        if p.opening > 0:
            point[:, :, axis] += (1 if p.recline else -1) * picture.skirt[closed, None] * out
        point = point.reshape(-1, 3)
        there.mark(projection.pixels(point), deep(point), _SOLID)
        small = large
    inner = np.flatnonzero((picture.nodes.parent >= 0) & shown)
    wide = np.minimum(picture.width[inner] * scale[inner] / _WIDE, 1.0)
    ends = picture.center
    _lines(there, ends[picture.nodes.parent[inner]], ends[inner], _LINE * wide, projection)
    if len(path) > 1:
        down = np.flatnonzero(picture.nodes.parent[path[1:]] == path[:-1])
        _lines(there, ends[path[down]], ends[path[down + 1]], np.full(len(down), _PATH), projection)
    rings = np.flatnonzero((picture.ring > 0) & shown)
    if p.shells != "none" and len(rings):
        turn = np.linspace(0, 2 * np.pi, _AROUND, endpoint=False)
        for some in np.array_split(rings, len(rings) // _AT_ONCE + 1):
            point = picture.circle(some, turn, p).reshape(-1, 3)
            there.mark(projection.pixels(point), deep(point), _RING)
    return there


def _lines(there: Occupied, begin: Floats, end: Floats, weight: Floats, projection: Projection) -> None:
    """Take the cells along lines (n, 3); a cell has the weight of the widest there."""
    deep = [(points - projection.eye) @ projection.forward for points in (begin, end)]
    if projection.perspective:
        # As far as they are before the camera.
        least = _NEAREST * np.maximum(np.maximum(*deep), 0.0)
        ahead = least > 0
        begin, end, weight, least = begin[ahead], end[ahead], weight[ahead], least[ahead]
        one, other = deep[0][ahead], deep[1][ahead]
        step = np.where(one == other, 1.0, other - one)
        cut = np.clip((least - one) / step, 0.0, 1.0)
        at = begin + cut[:, None] * (end - begin)
        begin, end = np.where((one < least)[:, None], at, begin), np.where((other < least)[:, None], at, end)
        deep = [(points - projection.eye) @ projection.forward for points in (begin, end)]
        # Along a line in the picture it is this that grows evenly.
        deep = [1.0 / depth for depth in deep]
    begin, end = (np.column_stack([projection.pixels(p), d]) for p, d in zip((begin, end), deep))
    # Lines entirely outside the picture cover nothing.
    size = (projection.frame.width, projection.frame.height)
    low, high = np.minimum(begin, end)[:, :2], np.maximum(begin, end)[:, :2]
    crosses = ((high >= 0) & (low <= size)).all(axis=1)
    begin, end, weight = begin[crosses], end[crosses], weight[crosses]
    count = np.clip((np.hypot(*(end - begin)[:, :2].T) / (0.7 * _CELL)).astype(np.int64) + 1, 2, _ALONG)
    which = np.repeat(np.arange(len(count)), count)
    share = (np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)) / (count - 1)[which]
    at = begin[which] + share[:, None] * (end - begin)[which]
    depth = 1.0 / at[:, 2] if projection.perspective else at[:, 2]
    there.mark(at[:, :2], depth, weight[which])
