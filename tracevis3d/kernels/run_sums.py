"""Sums over runs of positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel


@kernel
def sum_runs(
    first: NDArray[np.int64], stop: NDArray[np.int64], value: NDArray[np.float32], out: NDArray[np.float64]
) -> None:
    """Set ``out[i]`` to the sum of ``value[first[i]:stop[i]]``, in double precision."""
    for i in range(len(first)):
        total = 0.0
        for p in range(first[i], stop[i]):
            total += value[p]
        out[i] = total
