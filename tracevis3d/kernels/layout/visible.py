"""Which of many triangles is in front, pixel by pixel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..jit import inline, kernel

_F0, _F1, _HALF = np.float32(0.0), np.float32(1.0), np.float32(0.5)
#: Of the depth's range: surfaces that lie so close count as one, and the later triangle is in front.
_SAME = np.float32(2e-6)


@inline
def _put(
    x: np.int64,
    y: np.int64,
    z: np.float32,
    owner: np.int32,
    depth: NDArray[np.float32],
    front: NDArray[np.int32],
    width: np.int64,
) -> None:
    at = y * width + x
    if z <= depth[at] + _SAME:
        if z < depth[at]:
            depth[at] = z
        front[at] = owner


@kernel
def draw_triangles(
    point: NDArray[np.float32],
    triangle: NDArray[np.int32],
    owner: NDArray[np.int32],
    width: np.int64,
    height: np.int64,
    depth: NDArray[np.float32],
    front: NDArray[np.int32],
) -> None:
    """Draw triangles into a buffer of depths: of each pixel, who is in front.

    Parameters
    ----------
    point : float32 (3 v,)
        x and y in pixels, and depth, of each corner; NaN behind the eye: its triangles are left out.
    triangle : int32 (3 t,)
        Corners.
    owner : int32 (t,)
        Whose triangle it is.
    width, height : int64
        Pixels.
    depth : float32 (height * width,)
        Changed: must be infinite at first.
    front : int32 (height * width,)
        Changed: the owner that is in front.
    """
    for t in range(len(owner)):
        a, b, c = np.int64(triangle[3 * t]), np.int64(triangle[3 * t + 1]), np.int64(triangle[3 * t + 2])
        ax, ay, az = point[3 * a], point[3 * a + 1], point[3 * a + 2]
        bx, by, bz = point[3 * b], point[3 * b + 1], point[3 * b + 2]
        cx, cy, cz = point[3 * c], point[3 * c + 1], point[3 * c + 2]
        if not (ax == ax and bx == bx and cx == cx):
            continue
        left, right = min(ax, bx, cx), max(ax, bx, cx)
        low, high = min(ay, by, cy), max(ay, by, cy)
        if right < _F0 or high < _F0 or left >= np.float32(width) or low >= np.float32(height):
            continue
        x0 = np.int64(max(np.floor(left - _HALF), _F0))
        x1 = np.int64(min(np.ceil(right - _HALF), np.float32(width - 1)))
        y0 = np.int64(max(np.floor(low - _HALF), _F0))
        y1 = np.int64(min(np.ceil(high - _HALF), np.float32(height - 1)))
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        met = False
        if area != _F0:
            for y in range(y0, y1 + 1):
                py = np.float32(y) + _HALF
                for x in range(x0, x1 + 1):
                    px = np.float32(x) + _HALF
                    u = ((bx - px) * (cy - py) - (by - py) * (cx - px)) / area
                    v = ((cx - px) * (ay - py) - (cy - py) * (ax - px)) / area
                    w = _F1 - u - v
                    if u >= _F0 and v >= _F0 and w >= _F0:
                        met = True
                        z = u * az + v * bz + w * cz
                        _put(np.int64(x), np.int64(y), z, owner[t], depth, front, width)
        if not met:
            # Triangles thinner than a pixel are still drawn.
            mx, my = (ax + bx + cx) / np.float32(3.0), (ay + by + cy) / np.float32(3.0)
            if mx >= _F0 and mx < np.float32(width) and my >= _F0 and my < np.float32(height):
                z = (az + bz + cz) / np.float32(3.0)
                _put(np.int64(mx), np.int64(my), z, owner[t], depth, front, width)
