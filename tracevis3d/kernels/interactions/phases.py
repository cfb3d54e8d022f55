"""Stretches of calls compared with a marked one, in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel


@kernel
def slide_similarity(
    pair: NDArray[np.int32],
    wanted: NDArray[np.int32],
    current: NDArray[np.int32],
    length: int,
    similar: NDArray[np.float32],
) -> None:
    """Compare the calls of every stretch of ``length`` with wanted ones, whatever their order.

    Parameters
    ----------
    pair : int32 (n,)
    wanted : int32 (pairs,)
        How often each pair is in the stretch that is searched for.
    current : int32 (pairs,)
        Working space, zero.
    length : int64
        Calls of a stretch, 1 to n.
    similar : float32 (n - length + 1,)
        Written: share of the calls that both have, 0 to 1 (the intersection of the histograms).
    """
    common = 0
    for i in range(len(pair)):
        p = pair[i]
        if current[p] < wanted[p]:
            common += 1
        current[p] += 1
        if i >= length:
            q = pair[i - length]
            current[q] -= 1
            if current[q] < wanted[q]:
                common -= 1
        if i >= length - 1:
            similar[i - length + 1] = np.float32(common / length)


@kernel
def pick_stretches(
    pair: NDArray[np.int32],
    low: int,
    similar: NDArray[np.float32],
    least: np.float32,
    length: int,
    reach: int,
    place: NDArray[np.int64],
) -> int:
    """Choose stretches that don't overlap, each where it fits best nearby.

    In a loop every shift has the same calls: what fits best is also most often the same call at the same
    place, which is tried at up to 127 places of the stretch.

    Parameters
    ----------
    pair : int32 (n,)
    low : int64
        Where the stretch that is searched for begins.
    similar : float32 (m,)
    least : float32
        Of what is chosen.
    length : int64
    reach : int64
        From the first place that is similar enough on, this many places are examined for the best.
    place : int64 (m // length + 1,)
        Written: where each begins.

    Returns
    -------
    int
        How many there are.
    """
    found, i = 0, 0
    step = max(length // 64, 1)
    while i < len(similar):
        if similar[i] < least:
            i += 1
            continue
        best, fit = i, -1.0
        for j in range(i, min(i + reach, len(similar))):
            if similar[j] < least:
                continue
            same, tried = 0, 0
            for k in range(0, length, step):
                tried += 1
                if pair[low + k] == pair[j + k]:
                    same += 1
            now = similar[j] + same / tried
            if now > fit:
                best, fit = j, now
        place[found] = best
        found += 1
        i = best + length
    return found
