"""Points that polylines need to keep their course: where they bend, and where their radius changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel
from ..vectors import dot, step

_F0, _F1 = np.float32(0.0), np.float32(1.0)
_TINY = np.float32(1e-20)


@kernel
def simplify(
    point: NDArray[np.float32],
    radius: NDArray[np.float32],
    first: NDArray[np.int64],
    tolerance: np.float32,
    most: int,
    begin: int,
    end: int,
    kept: NDArray[np.uint8],
) -> None:
    """Mark the points of polylines that straight pieces between them need to stay within a tolerance.

    From each marked point the next piece reaches as far as all points between stay close to it (the opening
    window of Kolesnikov 2003, "Efficient algorithms for vectorization and polygonal approximation", section
    2.3), so that the time is linear in the number of points.

    Parameters
    ----------
    point : float32 (m, 3)
    radius : float32 (m, 2)
    first : int64 (n + 1,)
    tolerance : float32
        Largest distance of a point from its piece, and of a radius from what lies between those of its ends.
    most : int
        Steps that a piece may replace.
    begin, end : int
        The polylines that are done.
    kept : uint8 (m,)
        Written: 1 for points to keep, the first and last of each polyline among them.
    """
    bound = tolerance * tolerance
    for i in range(begin, end):
        low, high = first[i], first[i + 1]
        for j in range(low, high):
            kept[j] = 0
        if high > low:
            kept[low] = 1
            kept[high - 1] = 1
        start = low
        stop = low + 2
        while stop < high:
            fits = stop - start <= most
            if fits:
                x, y, z = step(point, start, stop)
                length = dot(x, y, z, x, y, z)
                for j in range(start + 1, stop):
                    u, v, w = step(point, start, j)
                    share = _F0
                    if length > _TINY:
                        share = min(max(dot(x, y, z, u, v, w) / length, _F0), _F1)
                    u, v, w = u - share * x, v - share * y, w - share * z
                    far = dot(u, v, w, u, v, w) > bound
                    for k in range(2):
                        between = radius[start, k] + share * (radius[stop, k] - radius[start, k])
                        far = far or abs(radius[j, k] - between) > tolerance
                    if far:
                        fits = False
                        break
            if fits:
                stop += 1
            else:
                start = stop - 1
                kept[start] = 1
                stop = start + 2
