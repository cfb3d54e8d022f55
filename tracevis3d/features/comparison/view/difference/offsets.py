"""When the same work is done in the other trace, compared with what the pace of both runs predicts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...findings.paths import CommonPaths

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def partners(paths: CommonPaths) -> tuple[Ints, Ints]:
    """Return for each call of A the call of B that does the same work, and for each of B that of A.

    Calls of one call path correspond in turn: the first to the first, the middle one to the middle one, where
    one trace makes more of them.

    Parameters
    ----------
    paths : CommonPaths

    Returns
    -------
    (int64 (calls of A,), int64 (calls of B,))
        -1 where the other trace has no call of the path.
    """
    order = [np.argsort(of, kind="stable") for of in paths.of_call]
    count = [np.bincount(of, minlength=len(paths)) for of in paths.of_call]
    first = [np.cumsum(c) - c for c in count]
    found = []
    for s in (0, 1):
        node = paths.of_call[s][order[s]]
        rank = np.arange(len(node)) - first[s][node]
        there = count[1 - s][node]
        # (2 rank + 1) / 2 of the share of the calls before, in whole numbers.
        place = (2 * rank + 1) * there // (2 * np.maximum(count[s][node], 1))
        has = there > 0
        out = np.full(len(node), -1, np.int64)
        out[order[s][has]] = order[1 - s][(first[1 - s][node] + place)[has]]
        found.append(out)
    return found[0], found[1]


def trend(a: Floats, b: Floats) -> tuple[float, float]:
    """Return pace and lead of the line ``b = pace * a + lead`` through moments that correspond.

    The pace is the median of the slopes between moments half of the list apart: no single wait sets it.

    Parameters
    ----------
    a, b : float64 (n,)
        Nanoseconds.

    Returns
    -------
    (float, float)
    """
    if len(a) < 2:
        return 1.0, float(b[0] - a[0]) if len(a) else 0.0
    order = np.argsort(a, kind="stable")
    x, y, half = a[order], b[order], len(a) // 2
    run = x[half:] - x[: len(x) - half]
    rise = (y[half:] - y[: len(y) - half])[run > 0]
    pace = float(np.median(rise / run[run > 0])) if len(rise) else 1.0
    pace = pace if pace > 0 else 1.0
    return pace, float(np.median(b - pace * a))


def offsets(paths: CommonPaths, start_a: Ints, start_b: Ints) -> tuple[Floats, Floats, float]:
    """Return how much later the same work is done in the other trace, beyond the trend of all of it.

    Parameters
    ----------
    paths : CommonPaths
    start_a, start_b : int64 (calls of A,), (calls of B,)
        Nanoseconds.

    Returns
    -------
    later_in_b : float64 (calls of A,)
        Nanoseconds; NaN for calls whose path the other trace doesn't have.
    later_in_a : float64 (calls of B,)
    pace : float
        How many times as long B takes along the trend.
    """
    to_b, to_a = partners(paths)
    known_a, known_b = to_b >= 0, to_a >= 0
    x, y = start_a.astype(np.float64), start_b.astype(np.float64)
    pace, lead = trend(x[known_a], y[to_b[known_a]])
    later_in_b, later_in_a = np.full(len(x), np.nan), np.full(len(y), np.nan)
    later_in_b[known_a] = y[to_b[known_a]] - (pace * x[known_a] + lead)
    later_in_a[known_b] = pace * x[to_a[known_b]] + lead - y[known_b]
    return later_in_b, later_in_a, pace
