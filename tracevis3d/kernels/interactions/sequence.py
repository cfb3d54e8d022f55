"""The Massive Sequence View as an image: many calls to a row, none of them lost (ExtraVis, section 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel


@kernel
def neighbour_counts(
    pair: NDArray[np.int32], window: int, histogram: NDArray[np.int32], count: NDArray[np.int32]
) -> None:
    """Count how often each call's pair is in the window of calls around it.

    The window is moved inwards at the ends, so that it always holds ``window`` calls, or all.

    Parameters
    ----------
    pair : int32 (n,)
    window : int64
    histogram : int32 (pairs,)
        Working space, zero.
    count : int32 (n,)
        Written: from 1 to ``window``.
    """
    n = len(pair)
    size = min(window, n)
    for i in range(size):
        histogram[pair[i]] += 1
    low = 0
    for i in range(n):
        wanted = min(max(i - size // 2, 0), n - size)
        if wanted > low:
            histogram[pair[low]] -= 1
            histogram[pair[low + size]] += 1
            low = wanted
        count[i] = histogram[pair[i]]


@kernel
def rasterise_calls(
    pair: NDArray[np.int32],
    count: NDArray[np.int32],
    weight: NDArray[np.float64],
    edge: NDArray[np.float64],
    span: NDArray[np.float64],
    tone: NDArray[np.float64],
    total: NDArray[np.float64],
    touched: NDArray[np.int32],
    mixed: NDArray[np.float64],
    ramp: NDArray[np.uint8],
    image: NDArray[np.uint8],
) -> None:
    """Draw calls as rows of coloured bars, each from its caller to its callee.

    A row's colour is the mean of its calls' colours, weighed by their share of the row and by their
    contribution (equations 2 and 3); where a call isn't, it counts as nothing. First the weights of a row are
    summed by pair, then each pair adds its colours along its bar: calls plus the length of all bars in all.

    Parameters
    ----------
    pair, count : int32 (n,)
        ``count`` is from :func:`neighbour_counts`.
    weight : float64 (window + 1,)
        Contribution for each count.
    edge : float64 (rows + 1,)
        Where rows begin and end, in calls; never decreases. A call may lie in several rows.
    span : float64 (pairs, 2)
        Columns of the caller's end and of the callee's: a bar's two ends, from 0 to columns, in any order. A
        column that a bar covers in part gets that part of it; a bar has a column at least.
    tone : float64 (pairs,)
        Place on the ramp, 0 to 1, of bars of one colour; negative for those that go along the ramp.
    total : float64 (pairs,)
        Working space, zero; left so.
    touched : int32 (pairs,)
    mixed : float64 (columns, 4)
        Working space: sums of red, green, blue and of the weights.
    ramp : uint8 (k, 4)
        Colours from caller to callee.
    image : uint8 (rows, columns, 4)
        Written: alpha is the share of the row's calls that cover the place.
    """
    rows, columns = image.shape[0], image.shape[1]
    steps = len(ramp) - 1
    for r in range(rows):
        first, last = edge[r], edge[r + 1]
        begin, stop = int(first), min(int(np.ceil(last)), len(pair))
        known, sum_ = 0, 0.0
        for i in range(begin, stop):
            share = min(last, i + 1.0) - max(first, float(i))
            if share > 0.0:
                p = pair[i]
                if total[p] == 0.0:
                    touched[known] = p
                    known += 1
                w = share * weight[count[i]]
                total[p] += w
                sum_ += w
        for x in range(columns):
            for c in range(4):
                mixed[x, c] = 0.0
        scale = 1.0 / sum_ if sum_ > 0.0 else 0.0
        for k in range(known):
            p = touched[k]
            w = total[p] * scale
            total[p] = 0.0
            a, b = span[p, 0], span[p, 1]
            left, right = min(a, b), max(a, b)
            low = min(int(left), columns - 1)
            high = min(max(int(np.ceil(right)), low + 1), columns)
            thin = right - left < 1.0
            for x in range(low, high):
                part = 1.0 if thin else min(right, x + 1.0) - max(left, float(x))
                if tone[p] >= 0.0:
                    t = tone[p]
                elif b == a:
                    t = 0.5
                else:
                    t = (x + 0.5 - a) / (b - a)
                at = min(max(t, 0.0), 1.0) * steps
                k0 = int(at)
                u, k1 = at - k0, min(k0 + 1, steps)
                for c in range(3):
                    mixed[x, c] += w * part * (ramp[k0, c] * (1.0 - u) + ramp[k1, c] * u)
                mixed[x, 3] += w * part
        for x in range(columns):
            covered = mixed[x, 3]
            if covered > 1e-9:
                for c in range(3):
                    image[r, x, c] = np.uint8(min(mixed[x, c] / covered, 255.0) + 0.5)
                image[r, x, 3] = np.uint8(min(covered, 1.0) * 255.0 + 0.5)
            else:
                image[r, x, 0] = image[r, x, 1] = image[r, x, 2] = image[r, x, 3] = np.uint8(0)
