"""Dashed lines: what is inferred is led to by one, in the window and in print."""

from __future__ import annotations

import numpy as np

Point = tuple[float, float]

#: Length of the dashes of a leader line, and of the gaps between them, in sizes of the type.
_DASH, _GAP = 0.55, 0.4


def dashes(start: Point, end: Point, size: float) -> list[tuple[Point, Point]]:
    """Return the pieces of a dashed line, the first of which begins where it does.

    Parameters
    ----------
    start, end : (float, float)
        In pixels.
    size : float
        Of the type, to which dashes and gaps are proportional.

    Returns
    -------
    list of ((float, float), (float, float))

    Examples
    --------
    >>> dashes((0.0, 0.0), (15.0, 0.0), 10.0)
    [((0.0, 0.0), (5.5, 0.0)), ((9.5, 0.0), (15.0, 0.0))]
    """
    along = np.subtract(end, start)
    length = float(np.hypot(*along))
    if length < 1e-9:
        return []
    begin = np.arange(0.0, length, (_DASH + _GAP) * size)
    stop = np.minimum(begin + _DASH * size, length)
    points = np.array(start) + np.stack([begin, stop], axis=1)[..., None] / length * along
    return [((a, b), (c, d)) for (a, b), (c, d) in points.tolist()]
