"""Which points of the scene are in sight, by the depths of a picture of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..layout.sight.affine import Floats
from ..layout.sight.framing import Lens
from ..layout.sight.view_projection import ViewProjection
from .items import Rectangle

#: A point is hidden if something is nearer by more than this share of the distance that the view is about.
_NEARER = 0.004
#: Size of a cell for counting visible pixels.
_CELL = 8


@dataclass(frozen=True, eq=False)
class Depths:
    """The depths of a region, as they were drawn.

    Attributes
    ----------
    depth : float32 (height, width)
        0 at the near plane, 1 at the far plane.
    matrix : float64 (4, 4)
        How the region saw the scene then: to clip space.
    lens : Lens
    """

    depth: NDArray[np.float32]
    matrix: Floats
    lens: Lens

    @classmethod
    def of(cls, buffer: Any, width: int, height: int, matrix: ArrayLike, lens: Lens) -> Depths:
        """Return the depths in a buffer of ``width * height`` float32, row by row from below.

        Parameters
        ----------
        buffer : buffer
        width, height : int
        matrix : float (4, 4)
        lens : Lens

        Returns
        -------
        Depths

        Raises
        ------
        ValueError
            If the buffer has another size.
        """
        depth = np.frombuffer(buffer, np.float32).reshape(height, width)
        return cls(depth, np.array(matrix, np.float64), lens)

    def fits(self, width: int, height: int) -> bool:
        """Return whether they are of a region of this size.

        Parameters
        ----------
        width, height : int
            Pixels.

        Returns
        -------
        bool
        """
        return self.depth.shape == (height, width)

    def is_same(self, other: Depths) -> bool:
        """Return whether the same was seen in the same way."""
        return self.is_of(other.matrix) and np.array_equal(self.depth, other.depth)

    def is_of(self, matrix: ArrayLike) -> bool:
        """Return whether the region saw the scene through ``matrix``, float (4, 4)."""
        return np.array_equal(self.matrix, np.array(matrix, np.float64))

    @cached_property
    def _filled(self) -> Floats:
        """How many cells anything is seen in, below and left of each corner of a cell."""
        cells = self.depth[_CELL // 2 :: _CELL, _CELL // 2 :: _CELL] < 1.0
        return np.pad(np.cumsum(np.cumsum(cells, axis=0), axis=1), ((1, 0), (1, 0))).astype(np.float64)

    def covered(self, box: Rectangle) -> float:
        """Return in which share of a rectangle, in pixels, anything is seen."""
        filled = self._filled
        rows, columns = filled.shape
        x0, x1 = (min(max(round(x / _CELL), 0), columns - 1) for x in (box[0], box[2]))
        y0, y1 = (min(max(round(y / _CELL), 0), rows - 1) for y in (box[1], box[3]))
        cells = (x1 - x0) * (y1 - y0)
        inside = filled[y1, x1] - filled[y0, x1] - filled[y1, x0] + filled[y0, x0]
        return float(inside) / cells if cells else 0.0

    def seen(self, pixel: Floats, depth: Floats) -> NDArray[np.bool_]:
        """Return which points nothing stands before.

        Parameters
        ----------
        pixel : float64 (n, 2)
        depth : float64 (n,)
            As :meth:`.ViewProjection.project` returns them.

        Returns
        -------
        bool (n,)
        """
        height, width = self.depth.shape
        x = np.clip(pixel[:, 0].astype(np.int64), 0, width - 1)
        y = np.clip(pixel[:, 1].astype(np.int64), 0, height - 1)
        slack = _NEARER * self.lens.distance
        return np.asarray(self._distance(self.depth[y, x]) >= self._distance(depth) - slack)

    def seen_before(self, eye: ViewProjection) -> Callable[[Floats, Floats], NDArray[np.bool_]]:
        """Return what finds the points that nothing stood before when the depths were read.

        Parameters
        ----------
        eye : ViewProjection
            How the region sees the scene now: the points are given by their pixels and depths in it.

        Returns
        -------
        callable
            As :meth:`seen`. Of points that were out of sight nothing is known: they count as hidden.
        """
        if self.is_of(eye.matrix):
            return self.seen
        height, width = self.depth.shape
        there = self.matrix @ np.linalg.inv(eye.matrix)

        def seen(pixel: Floats, depth: Floats) -> NDArray[np.bool_]:
            across, up = 2 * pixel[:, 0] / eye.width - 1, 2 * pixel[:, 1] / eye.height - 1
            clip = np.column_stack([across, up, 2 * depth - 1, np.ones(len(depth))]) @ there.T
            # What is before the eye now may have been behind it.
            ahead = clip[:, 3] > 0
            at = clip[:, :3] / np.where(ahead, clip[:, 3], 1.0)[:, None]
            inside = ahead & (np.abs(at) <= 1).all(axis=1)
            then = np.column_stack([(at[:, 0] + 1) * width / 2, (at[:, 1] + 1) * height / 2])
            return np.asarray(inside & self.seen(np.where(inside[:, None], then, 0.0), (at[:, 2] + 1) / 2))

        return seen

    def _distance(self, depth: ArrayLike) -> Floats:
        """Return how far in front of the eye depths of the buffer (n,) are, in scene units."""
        window = self.lens.window
        z = 2 * np.asarray(depth, np.float64) - 1
        if self.lens.perspective:
            return np.asarray(window[2, 3] / np.minimum(z + window[2, 2], -1e-12))
        return np.asarray((window[2, 3] - z) / window[2, 2])
