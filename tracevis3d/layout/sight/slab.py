"""A stretch of a box along one axis: what lies beside it, and the planes that cut it out."""

from __future__ import annotations

import numpy as np

from .affine import Box


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
