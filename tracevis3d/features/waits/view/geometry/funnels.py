"""Funnels from waits to releases: the paper's correspondence curves as solids (SyncTrace, section IV-B1).

The paper draws a shape with three anchors, the start and the end of the wait and the moment of the release,
whose sides are pulled to the circle's centre. Here each side is a quadratic curve with the core as its
control point; so the shape's width shrinks with the square of what is left of the way. A higher power makes a
mouth that narrows sooner; the side of the wait's end stays where it is, for that is when the release came.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Points along a funnel.
SAMPLES = 33
#: On paper a shape's sides shrink with this power of the rest of the way.
PAPER_POWER = 2.0


#: Points from and to which the pieces of a dashed funnel reach: its mouth stays whole, and its end.
_DASHES = ((0, 12), (14, 17), (19, 22), (24, 27), (29, SAMPLES - 1))


def pieces(dashed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the pieces in which funnels are drawn, some of which are dashed.

    Parameters
    ----------
    dashed : bool (n,)

    Returns
    -------
    point : int64 (k,)
        Points of the funnels, of which each has :data:`SAMPLES`, one funnel after the other.
    first : int64 (m + 1,)
        Piece i has ``point[first[i]:first[i + 1]]``.
    owner : int64 (m,)
        The funnel of each piece.
    """
    counts = np.where(dashed, len(_DASHES), 1)
    owner = np.repeat(np.arange(len(dashed)), counts)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    low, high = np.array(_DASHES).T
    begin = np.where(dashed[owner], low[nth], 0)
    length = np.where(dashed[owner], high[nth], SAMPLES - 1) - begin + 1
    first = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    point = np.arange(first[-1]) + np.repeat(owner * SAMPLES + begin - first[:-1], length)
    return point, first, owner


def steps() -> Floats:
    """Return the shares of the way at which a funnel has points: closer where it opens."""
    return np.linspace(0.0, 1.0, SAMPLES) ** 1.3


def paths(start: Floats, core: Floats, end: Floats) -> Floats:
    """Return points (n, SAMPLES, 3) of quadratic curves from ``start`` to ``end``, pulled to ``core``.

    Parameters
    ----------
    start, core, end : float64 (n, 3)
        Their control points.

    Returns
    -------
    float64 (n, SAMPLES, 3)
    """
    t = steps()[None, :, None]
    return np.asarray((1 - t) ** 2 * start[:, None] + 2 * t * (1 - t) * core[:, None] + t**2 * end[:, None])


def widths(power: float) -> Floats:
    """Return how wide a funnel is along its way, as shares of its mouth, (SAMPLES,)."""
    return np.asarray((1.0 - steps()) ** power)


def middles(left: Floats, right: Floats, core: Floats, end: Floats, power: float) -> Floats:
    """Return the middles of funnels, (n, SAMPLES, 3); ``left`` and ``right`` (n, 3) are the wait's ends.

    Parameters
    ----------
    left, right : float64 (n, 3)
        The wait's start and end.
    core, end : float64 (n, 3)
        What the curves are pulled to, and the release.
    power : float
        How fast funnels get narrow; :data:`PAPER_POWER` gives the paper's shape.

    Returns
    -------
    float64 (n, SAMPLES, 3)
    """
    return np.asarray(paths(right, core, end) - (right - left)[:, None] / 2 * widths(power)[None, :, None])


def ribbons(
    left: Floats, right: Floats, core: Floats, end: Floats, power: float, thick: float
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return funnels as flat blocks: corners (n * SAMPLES, 4, 3) and where each begins.

    Parameters
    ----------
    left, right : float64 (n, 3)
        The wait's start and end.
    core, end : float64 (n, 3)
    power : float
        :data:`PAPER_POWER` gives the paper's shape.
    thick : float
        Towards the reader (-y).

    Returns
    -------
    (float32 (n * SAMPLES, 4, 3), int64 (n + 1,))
    """
    middle = middles(left, right, core, end, power)
    half = (right - left)[:, None] / 2 * widths(power)[None, :, None]
    corner = np.empty((len(left), SAMPLES, 4, 3), np.float32)
    corner[:, :, 0], corner[:, :, 1] = middle - half, middle + half
    corner[:, :, 2], corner[:, :, 3] = corner[:, :, 1], corner[:, :, 0]
    corner[:, :, 2:, 1] -= thick
    first = np.arange(len(left) + 1, dtype=np.int64) * SAMPLES
    return corner.reshape(-1, 4, 3), first


#: Strips that a band is made of, side by side.
STRIPS = 8


def bands(
    left: Floats, right: Floats, core: Floats, low: Floats, high: Floats, thick: float, hollow: float = 0.25
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the shapes of aggregated correspondences: wide at both ends, concave at the release's.

    Parameters
    ----------
    left, right : float64 (n, 3)
        Start and end of the cluster of waits.
    core : float64 (n, 3)
    low, high : float64 (n, 3)
        The first and the last release.
    thick : float
    hollow : float
        How far the end's middle lies towards the core, as a share of the way there.

    Returns
    -------
    corner : float32 (m, 4, 3)
    first : int64 (n * STRIPS + 1,)
        The strips of band i are blocks ``[i * STRIPS, (i + 1) * STRIPS)``.
    """
    n = len(left)
    u = np.linspace(0.0, 1.0, STRIPS + 1)[None, :, None]
    mouth = left[:, None] + u * (right - left)[:, None]
    # A curve whose middle lies ``hollow`` of the way to the core.
    bend = (low + high) / 2 + 2 * hollow * (core - (low + high) / 2)
    end = (1 - u) ** 2 * low[:, None] + 2 * u * (1 - u) * bend[:, None] + u**2 * high[:, None]
    pull = np.repeat(core, STRIPS + 1, axis=0)
    path = paths(mouth.reshape(-1, 3), pull, end.reshape(-1, 3)).reshape(n, STRIPS + 1, SAMPLES, 3)
    corner = np.empty((n, STRIPS, SAMPLES, 4, 3), np.float32)
    corner[:, :, :, 0], corner[:, :, :, 1] = path[:, :-1], path[:, 1:]
    corner[:, :, :, 2], corner[:, :, :, 3] = path[:, 1:], path[:, :-1]
    corner[:, :, :, 2:, 1] -= thick
    return corner.reshape(-1, 4, 3), np.arange(n * STRIPS + 1, dtype=np.int64) * SAMPLES
