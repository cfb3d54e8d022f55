"""Which element a ray meets first, among a million, in well under a millisecond.

Where elements come in an order in which neighbours lie near each other, a tree of bounds over them needs no
sorting; else they are put along a space-filling curve first. The ray is tested against boxes, discs
and swept sections, never against faces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...kernels.layout.pick import (
    WIDTH,
    box_bounds,
    curve_keys,
    merge_bounds,
    pick_box,
    pick_disc,
    pick_tube,
    sort_keys,
    surface,
    tube_bounds,
)

_EMPTY = np.empty(0, np.float32)


@dataclass(frozen=True, eq=False)
class Ray:
    """A ray from the eye through the mouse.

    Attributes
    ----------
    origin, direction : float64 (3,)
        The direction has length 1.
    radius, growth : float
        Thin elements (lines and marks) count as met if they pass within ``radius + growth * distance``.
    near : float
        Elements closer to the origin than this are not met.

    Examples
    --------
    >>> ray = Ray.of([0, -2, 0], [0, 4, 0])
    >>> ray.at(3.0).tolist(), ray.crossing(1, 0.0)
    ([0.0, 1.0, 0.0], 2.0)
    """

    origin: NDArray[np.float64]
    direction: NDArray[np.float64]
    radius: float = 0.0
    growth: float = 0.0
    near: float = 0.0

    @classmethod
    def of(
        cls,
        origin: ArrayLike,
        direction: ArrayLike,
        radius: float = 0.0,
        growth: float = 0.0,
        near: float = 0.0,
    ) -> Ray:
        """Return the ray from ``origin`` along ``direction``, of any length but zero.

        Parameters
        ----------
        origin : float (3,)
            Where it begins.
        direction : float (3,)
            Its length does not matter.
        radius : float
            Half its thickness where it begins, in scene units.
        growth : float
            How much thicker it gets with each scene unit.
        near : float
            What lies nearer than this is not met.

        Returns
        -------
        Ray
        """
        toward = np.asarray(direction, np.float64)
        return cls(np.asarray(origin, np.float64), toward / np.linalg.norm(toward), radius, growth, near)

    def within(self, matrix: ArrayLike) -> tuple[Ray, float] | None:
        """Return the ray in the coordinates of an object, and how long a unit of the scene is there.

        Parameters
        ----------
        matrix : float (4, 4)
            From the object's coordinates to the scene's.

        Returns
        -------
        (Ray, float) or None
            None if the object is flat: nothing of it can be pointed at.
        """
        try:
            back = np.linalg.inv(np.asarray(matrix, np.float64))
        except np.linalg.LinAlgError:
            return None
        toward = back[:3, :3] @ self.direction
        length = float(np.linalg.norm(toward))
        if not 0 < length < np.inf:
            return None
        origin = back[:3, :3] @ self.origin + back[:3, 3]
        return Ray(origin, toward / length, self.radius * length, self.growth, self.near * length), length

    def at(self, distance: float) -> NDArray[np.float64]:
        """Return the point at a distance from the origin, float64 (3,)."""
        return np.asarray(self.origin + distance * self.direction)

    def beginning(self, distance: float) -> Ray:
        """Return what is left of the ray from a distance on, as thick as it is there.

        Parameters
        ----------
        distance : float

        Returns
        -------
        Ray
        """
        radius = self.radius + self.growth * distance
        return Ray(self.at(distance), self.direction, radius, self.growth, max(self.near - distance, 0.0))

    def crossing(self, axis: int, value: float) -> float | None:
        """Return the distance at which the ray crosses the plane on which an axis has a value.

        Parameters
        ----------
        axis : {0, 1, 2}
        value : float

        Returns
        -------
        float or None
            Below 0 behind the origin; None if the ray runs along the plane.
        """
        toward = float(self.direction[axis])
        return (value - float(self.origin[axis])) / toward if abs(toward) > 1e-9 else None

    def packed(self, thick: bool) -> NDArray[np.float64]:
        """Return what the kernels take: with its radius, or as a line."""
        width = (self.radius, self.growth) if thick else (0.0, 0.0)
        return np.array([*self.origin, *self.direction, *width, self.near])


@dataclass(frozen=True)
class Met:
    """The hit of a ray: the element's place in its arrays, and the distance.

    Attributes
    ----------
    element : int
        Index in its arrays.
    distance : float
        From the ray's origin, in scene units.
    """

    element: int
    distance: float


@dataclass(frozen=True, eq=False)
class _Tree:
    order: NDArray[np.int32]
    bounds: NDArray[np.float32]
    level: NDArray[np.int64]
    stack: NDArray[np.int64]


class BoxPicker:
    """Finds the box that a ray meets first.

    Parameters
    ----------
    low, size : float32 (n, 3)
    time : float32 (n, 2) or (0, 2), optional
        As :class:`~..drawing.words.Boxes` has it.

    Examples
    --------
    >>> import numpy as np
    >>> low = np.array([[0, 0, 0], [0, 0, 5]], np.float32)
    >>> boxes = BoxPicker(low, np.ones((2, 3), np.float32))
    >>> boxes.pick(Ray.of([0.5, 0.5, 10.0], [0, 0, -1]))
    Met(element=1, distance=4.0)
    """

    def __init__(
        self,
        low: NDArray[np.float32],
        size: NDArray[np.float32],
        time: NDArray[np.float32] | None = None,
    ) -> None:
        self._low, self._size = np.ascontiguousarray(low, np.float32), np.ascontiguousarray(size, np.float32)
        self._start = self._end = _EMPTY
        if time is not None and len(time):
            self._start = np.ascontiguousarray(time[:, 0], np.float32)
            self._end = np.ascontiguousarray(time[:, 1], np.float32)
        self._tree = _box_tree(self._low, self._size)

    def __len__(self) -> int:
        return len(self._low)

    def pick(self, ray: Ray, now: float = 1.0, farthest: float = np.inf) -> Met | None:
        """Return the first element that a ray meets.

        A box that is hit takes precedence over one that is only passed within the ray's radius.

        Parameters
        ----------
        ray : Ray
        now : float
            The drawing's time, as a share.
        farthest : float
            Elements at this distance and beyond are not met.

        Returns
        -------
        Met or None
        """
        for thick in (False, True) if ray.radius > 0 or ray.growth > 0 else (False,):
            if (met := self.hit(ray, thick, now, farthest)) is not None:
                return met
        return None

    def hit(self, ray: Ray, thick: bool, now: float = 1.0, farthest: float = np.inf) -> Met | None:
        """Return what ``ray`` meets first as a line, or with its radius.

        Parameters
        ----------
        ray : Ray
            In the boxes' coordinates.
        thick : bool
            With its radius; else as a line.
        now : float
            The moment of a film, as a share of the drawn time: what starts later is not there yet.
        farthest : float
            What lies beyond this distance is not met.

        Returns
        -------
        Met or None
            None: it meets nothing.
        """
        met, tree = np.array([farthest]), self._tree
        found = pick_box(
            ray.packed(thick), self._low, self._size, self._start, self._end, float(now),
            tree.order, tree.bounds, tree.level, tree.stack, met,
        )  # fmt: skip
        return Met(int(found), float(met[0])) if found >= 0 else None


class DiscPicker:
    """Finds the disc that a ray meets first.

    Parameters
    ----------
    low, size : float32 (n, 3)
        The boxes around the discs.
    axis : {0, 1, 2}
        Along which they are thin; they are round, or elliptic, across it.

    Examples
    --------
    >>> import numpy as np
    >>> floor = DiscPicker(np.array([[-4, -4, 0]], np.float32), np.array([[8, 8, 0]], np.float32), 2)
    >>> floor.pick(Ray.of([0, 0, 1.0], [3, 0, -1])).distance  # doctest: +ELLIPSIS
    3.16...
    >>> floor.pick(Ray.of([3.9, 3.9, 1.0], [0, 0, -1])) is None
    True
    """

    def __init__(self, low: NDArray[np.float32], size: NDArray[np.float32], axis: int) -> None:
        self._low, self._size = np.ascontiguousarray(low, np.float32), np.ascontiguousarray(size, np.float32)
        self._axis = axis
        self._tree = _box_tree(self._low, self._size)

    def __len__(self) -> int:
        return len(self._low)

    def pick(self, ray: Ray, farthest: float = np.inf) -> Met | None:
        """Return what ``ray`` meets, or passes within its radius, first, before ``farthest``.

        Parameters
        ----------
        ray : Ray
            In the discs' coordinates.
        farthest : float
            What lies beyond this distance is not met.

        Returns
        -------
        Met or None
            None: it meets nothing.
        """
        met, tree = np.array([farthest]), self._tree
        found = pick_disc(
            ray.packed(True), self._low, self._size, self._axis,
            tree.order, tree.bounds, tree.level, tree.stack, met,
        )  # fmt: skip
        return Met(int(found), float(met[0])) if found >= 0 else None


class TubePicker:
    """Finds the tube, line or sign that a ray meets first.

    Parameters
    ----------
    middle : float32 (m, 3)
        Middles of sections.
    across : float32 (m, 6)
        Their two half axes, as vectors.
    first : int64 (n + 1,)
        The sections of element ``i`` are the slice ``[first[i], first[i + 1])``; a single one is a ball.

    Examples
    --------
    >>> import numpy as np
    >>> middle = np.array([[-1, 0, 0], [1, 0, 0]], np.float32)
    >>> across = np.tile(np.array([0, 0.1, 0, 0, 0, 0.1], np.float32), (2, 1))
    >>> tubes = TubePicker(middle, across, np.array([0, 2]))
    >>> tubes.pick(Ray.of([0, 0, 5.0], [0, 0, -1])).element
    0
    """

    def __init__(
        self, middle: NDArray[np.float32], across: NDArray[np.float32], first: NDArray[np.int64]
    ) -> None:
        self._middle = np.ascontiguousarray(middle, np.float32)
        self._across = np.ascontiguousarray(across, np.float32)
        count = np.diff(first)
        pieces = np.maximum(count - 1, np.minimum(count, 1))
        self._owner = np.repeat(np.arange(len(count), dtype=np.int32), pieces)
        begin = np.cumsum(pieces) - pieces
        a = np.arange(len(self._owner)) - begin[self._owner] + np.asarray(first)[self._owner]
        b = np.where(count[self._owner] > 1, a + 1, a)
        self._piece = np.ascontiguousarray(np.stack([a, b], axis=1), np.int32)

        def bounds_of(order: NDArray[np.int32], bounds: NDArray[np.float32]) -> None:
            tube_bounds(self._middle, self._across, self._piece, order, bounds)

        low = np.minimum(self._middle[self._piece[:, 0]], self._middle[self._piece[:, 1]])
        size = np.abs(self._middle[self._piece[:, 0]] - self._middle[self._piece[:, 1]])
        self._tree = _grow(len(self._owner), bounds_of, low, size)

    def __len__(self) -> int:
        return len(self._owner)

    def pick(self, ray: Ray, farthest: float = np.inf) -> Met | None:
        """Return what ``ray`` meets, or passes within its radius, first, before ``farthest``.

        Parameters
        ----------
        ray : Ray
            In the tubes' coordinates.
        farthest : float
            What lies beyond this distance is not met.

        Returns
        -------
        Met or None
            None: it meets nothing.
        """
        met, tree = np.array([farthest]), self._tree
        found = pick_tube(
            ray.packed(True), self._middle, self._across, self._piece,
            tree.order, tree.bounds, tree.level, tree.stack, met,
        )  # fmt: skip
        return Met(int(self._owner[found]), float(met[0])) if found >= 0 else None


def _box_tree(low: NDArray[np.float32], size: NDArray[np.float32]) -> _Tree:
    def bounds_of(order: NDArray[np.int32], bounds: NDArray[np.float32]) -> None:
        box_bounds(low, size, order, bounds)

    return _grow(len(low), bounds_of, low, size)


def _grow(n: int, bounds_of: Any, low: NDArray[np.float32], size: NDArray[np.float32]) -> _Tree:
    """Return the tree over ``n`` elements, in the better of two orders: as they come, and along a curve."""
    order = np.arange(n, dtype=np.int32)
    leaves = np.empty((-(-n // WIDTH), 6), np.float32)
    bounds_of(order, leaves)
    if n > WIDTH:
        along = _along_curve(low, size)
        others = np.empty_like(leaves)
        bounds_of(along, others)
        if surface(others) < surface(leaves):
            order, leaves = along, others
    levels = [leaves]
    while len(levels[-1]) > 1:
        merged = np.empty((-(-len(levels[-1]) // WIDTH), 6), np.float32)
        merge_bounds(levels[-1], merged)
        levels.append(merged)
    levels.reverse()
    level = np.concatenate([[0], np.cumsum([len(part) for part in levels])]).astype(np.int64)
    return _Tree(order, np.concatenate(levels), level, np.empty(2 * WIDTH * len(level) + 2, np.int64))


def _along_curve(low: NDArray[np.float32], size: NDArray[np.float32]) -> NDArray[np.int32]:
    n = len(low)
    origin = low.min(axis=0)
    extent = float((low.max(axis=0) - origin).max())
    key = np.empty(n, np.int64)
    curve_keys(low, size, origin, np.float32(1023.0 / max(extent, 1e-20)), key)
    order, spare = np.empty(n, np.int32), np.empty(n, np.int32)
    sort_keys(key, order, spare, np.empty(1025, np.int64))
    return order


def warm() -> None:
    """Compile what picking needs, if that was never done."""
    low = np.zeros((WARM, 3), np.float32)
    low[:, 0] = np.arange(WARM)
    ray = Ray.of((0.5, -1.0, 0.5), (0.0, 1.0, 0.0), 0.01)
    time = np.zeros((WARM, 2), np.float32)
    BoxPicker(low, np.ones_like(low), time).pick(ray)
    DiscPicker(low, np.ones_like(low), 2).pick(ray)
    TubePicker(low, np.ones((WARM, 6), np.float32), np.array([0, WARM], np.int64)).pick(ray)


#: Number of boxes that uses every kernel.
WARM = 100
