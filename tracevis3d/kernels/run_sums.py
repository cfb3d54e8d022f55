"""Sums over runs of positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel


@kernel
def sum_runs(
    first: NDArray[np.int64], stop: NDArray[np.int64], value: NDArray[np.float32], out: NDArray[np.float64]
) -> None:
    """Sum up runs of values, in double precision.

    Parameters
    ----------
    first, stop : int64 (r,)
        Run ``i`` is ``value[first[i]:stop[i]]``.
    value : float32 (n,)
    out : float64 (r,)
        Filled.
    """
    for i in range(len(first)):
        total = 0.0
        for p in range(first[i], stop[i]):
            total += value[p]
        out[i] = total
