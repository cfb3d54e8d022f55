"""Which template part shows a box: its colour, and how wide it is in each axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel


@kernel
def box_parts(
    size: NDArray[np.float32],
    color: NDArray[np.int32],
    edge: np.float32,
    buckets: int,
    colors: int,
    part: NDArray[np.int32],
    used: NDArray[np.uint8],
) -> None:
    """Write to ``part`` the code ``((color * buckets + bx) * buckets + by) * buckets + bz`` of each box.

    Parameters
    ----------
    size : float32 (n, 3)
    color : int32 (n,)
        Clamped to 0..colors-1.
    edge : float32
        Wanted chamfer, in scene units.
    buckets : int64
        Bucket b of an axis holds sizes from ``edge * 2 ** b`` up to twice that; the last and the first
        hold what is beyond.
    colors : int64
    part : int32 (n,)
        Written.
    used : uint8 (colors * buckets ** 3,)
        Set to 1 where a code occurs.
    """
    for i in range(len(color)):
        code = min(max(int(color[i]), 0), colors - 1)
        for axis in range(3):
            limit = edge + edge
            b = 0
            while b < buckets - 1 and size[i, axis] >= limit:
                limit += limit
                b += 1
            code = code * buckets + b
        part[i] = code
        used[code] = 1


@kernel
def recode(part: NDArray[np.int32], rank: NDArray[np.int32]) -> None:
    """Replace each code in ``part`` by ``rank[code]``, in place."""
    for i in range(len(part)):
        part[i] = rank[part[i]]
