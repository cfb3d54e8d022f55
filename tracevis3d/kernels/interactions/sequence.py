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
    cover: NDArray[np.float64],
    slope: NDArray[np.float64],
    ramp: NDArray[np.uint8],
    image: NDArray[np.uint8],
) -> None:
    """Draw calls as rows of coloured bars, each from its caller to its callee.

    A row's colour is the mean of its calls' weighed by their share of the row and by their contribution
    (equations 2 and 3); where a call isn't, it counts as nothing. First the weights of a row are summed by
    pair, then each pair adds to the differences along the row: calls plus rows times columns in all.

    Parameters
    ----------
    pair, count : int32 (n,)
        ``count`` is from :func:`neighbour_counts`.
    weight : float64 (window + 1,)
        Contribution for each count.
    edge : float64 (rows + 1,)
        Where rows begin and end, in calls; never decreases. A call may lie in several rows.
    span : float64 (pairs, 2)
        Columns of the caller's end and of the callee's: a bar's two ends, from 0 to columns, in any order.
    tone : float64 (pairs,)
        Place on the ramp, 0 to 1, of bars of one colour; negative for those that go along the ramp.
    total : float64 (pairs,)
        Working space, zero; left so.
    touched : int32 (pairs,)
    cover, slope : float64 (columns + 2,)
        Working space.
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
        for x in range(columns + 2):
            cover[x] = 0.0
            slope[x] = 0.0
        scale = 1.0 / sum_ if sum_ > 0.0 else 0.0
        for k in range(known):
            p = touched[k]
            w = total[p] * scale
            total[p] = 0.0
            a, b = span[p, 0], span[p, 1]
            low, high = int(min(a, b)), int(np.ceil(max(a, b)))
            high = min(max(high, low + 1), columns)
            # Along the bar the place on the ramp is t = t0 + dt x; sums of w and of w t by differences:
            # cover is a step, and slope holds the changes of the ramp's line as value and gradient.
            cover[low] += w
            cover[high] -= w
            if tone[p] >= 0.0:
                t0, dt = tone[p], 0.0
            elif b == a:
                t0, dt = 0.5, 0.0
            else:
                dt = 1.0 / (b - a)
                t0 = (low + 0.5 - a) * dt
            slope[low] += w * t0
            # From the second column on each step adds dt; both end at the bar's end.
            slope[low + 1] += w * (dt - t0)
            t1 = t0 + dt * (high - low - 1)
            slope[high] -= w * (t1 + dt)
            slope[high + 1] += w * t1
        covered, value, gradient = 0.0, 0.0, 0.0
        for x in range(columns):
            covered += cover[x]
            gradient += slope[x]
            value += gradient
            if covered > 1e-9:
                at = min(max(value / covered, 0.0), 1.0) * steps
                k = int(at)
                u = at - k
                k1 = min(k + 1, steps)
                for c in range(3):
                    image[r, x, c] = np.uint8(ramp[k, c] * (1.0 - u) + ramp[k1, c] * u + 0.5)
                image[r, x, 3] = np.uint8(min(covered, 1.0) * 255.0 + 0.5)
            else:
                image[r, x, 0] = image[r, x, 1] = image[r, x, 2] = image[r, x, 3] = np.uint8(0)
