"""Which bar with eight corners a ray meets first: live views move, so there is no tree over them."""

from __future__ import annotations

import math
from typing import Any

from ..jit import inline, kernel


@kernel
def pick_bar(corner: Any, count: int, triangle: Any, ray: Any, best: Any) -> Any:
    """Return the bar that a ray meets first.

    Parameters
    ----------
    corner : float32 (n, 8, 3)
    count : int
        Bars that there are.
    triangle : int32 (t, 3)
        Corners of a bar's faces.
    ray : float64 (7,)
        Origin, direction, and the least distance of a hit.
    best : float64 (1,)
        How far away something was met already; becomes how far away the bar was.

    Returns
    -------
    int
        -1: it meets none before ``best``.
    """
    found = -1
    for i in range(count):
        if not _near(corner, i, ray, best[0]):
            continue
        for t in range(len(triangle)):
            away = _meets(corner, i, triangle[t, 0], triangle[t, 1], triangle[t, 2], ray)
            if ray[6] <= away < best[0]:
                best[0] = away
                found = i
    return found


@inline
def _near(corner: Any, i: Any, ray: Any, far: Any) -> Any:
    """Return whether the ray meets the box around a bar."""
    enter, leave = ray[6], far
    for axis in range(3):
        low = high = float(corner[i, 0, axis])
        for c in range(1, 8):
            low = min(low, float(corner[i, c, axis]))
            high = max(high, float(corner[i, c, axis]))
        low, high = low - 1e-5 - ray[axis], high + 1e-5 - ray[axis]
        d = ray[3 + axis]
        if abs(d) < 1e-12:
            if low > 0.0 or high < 0.0:
                return False
        else:
            a, b = low / d, high / d
            enter = max(enter, min(a, b))
            leave = min(leave, max(a, b))
    return enter <= leave


@inline
def _meets(corner: Any, i: Any, a: Any, b: Any, c: Any, ray: Any) -> Any:
    """Return how far away the ray meets a triangle; infinity if it doesn't."""
    ux, uy, uz = (corner[i, b, 0] - corner[i, a, 0], corner[i, b, 1] - corner[i, a, 1],
                  corner[i, b, 2] - corner[i, a, 2])  # fmt: skip
    vx, vy, vz = (corner[i, c, 0] - corner[i, a, 0], corner[i, c, 1] - corner[i, a, 1],
                  corner[i, c, 2] - corner[i, a, 2])  # fmt: skip
    px, py, pz = ray[4] * vz - ray[5] * vy, ray[5] * vx - ray[3] * vz, ray[3] * vy - ray[4] * vx
    across = ux * px + uy * py + uz * pz
    if abs(across) < 1e-14:
        return math.inf
    sx, sy, sz = ray[0] - corner[i, a, 0], ray[1] - corner[i, a, 1], ray[2] - corner[i, a, 2]
    s = (sx * px + sy * py + sz * pz) / across
    if s < -1e-9 or s > 1.0 + 1e-9:
        return math.inf
    qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
    t = (ray[3] * qx + ray[4] * qy + ray[5] * qz) / across
    if t < -1e-9 or s + t > 1.0 + 1e-9:
        return math.inf
    return (vx * qx + vy * qy + vz * qz) / across
