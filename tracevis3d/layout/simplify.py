"""Polylines with as few points as their course needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.layout.simplify import simplify
from .parallel import in_parts

#: Maximum number of steps replaced by a straight piece: all are examined again for each added step.
_MOST = 32
#: Minimum number of polylines per thread.
_PART = 512


def points_to_keep(
    point: NDArray[np.float32], radius: NDArray[np.float32], first: NDArray[np.int64], tolerance: float
) -> NDArray[np.int64]:
    """Return the points between which straight pieces stay within ``tolerance`` of polylines.

    Parameters
    ----------
    point : float32 (m, 3)
    radius : float32 (m, 2)
        Half axes of the section at each point, which must stay within the tolerance, too.
    first : int64 (n + 1,)
        Polyline i has the points ``first[i]`` up to ``first[i + 1]``.
    tolerance : float
        Scene units.

    Returns
    -------
    int64 (k,)
        Indices of points, rising. The first and last of each polyline are among them.

    Examples
    --------
    >>> import numpy as np
    >>> point = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0]], np.float32)
    >>> points_to_keep(point, np.ones((4, 2), np.float32), np.array([0, 4]), 0.01).tolist()
    [0, 2, 3]
    """
    point, radius = np.ascontiguousarray(point, np.float32), np.ascontiguousarray(radius, np.float32)
    first = np.ascontiguousarray(first, np.int64)
    kept = np.zeros(len(point), np.uint8)

    def some(low: int, high: int) -> None:
        simplify(point, radius, first, np.float32(tolerance), _MOST, low, high, kept)

    in_parts(some, len(first) - 1, _PART)
    return np.flatnonzero(kept)
