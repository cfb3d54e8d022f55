"""The template part of a box, by its colour and its width in each axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel

_1, _2, _4, _16, _256 = (np.float32(v) for v in (1, 2, 4, 16, 256))
_PER_4, _PER_16, _PER_256 = _1 / _4, _1 / _16, _1 / _256


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
    buckets : int
        At most 16. Bucket b of an axis holds sizes from ``edge * 2 ** b`` up to twice that; the ends also
        hold what is beyond.
    colors : int
    part : int32 (n,)
        Written.
    used : uint8 (colors * buckets ** 3,)
        Set to 1 where a code occurs.
    """
    scale = _1 / edge
    for i in range(len(color)):
        code = min(max(int(color[i]), 0), colors - 1)
        for axis in range(3):
            # The logarithm of 2 by halving the range: without branches, unlike a loop of doublings.
            x = size[i, axis] * scale
            b = 0
            if x >= _256:
                b += 8
                x *= _PER_256
            if x >= _16:
                b += 4
                x *= _PER_16
            if x >= _4:
                b += 2
                x *= _PER_4
            if x >= _2:
                b += 1
            code = code * buckets + min(b, buckets - 1)
        part[i] = code
        used[code] = 1


@kernel
def recode(part: NDArray[np.int32], rank: NDArray[np.int32]) -> None:
    """Replace each code by its rank, in place.

    Parameters
    ----------
    part : int32 (n,)
    rank : int32 (codes,)
    """
    for i in range(len(part)):
        part[i] = rank[part[i]]
