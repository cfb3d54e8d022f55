"""Hierarchical edge bundling: control trees, routes along them, and the tubes around the routes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..jit import inline, kernel
from ..lanes import sample_piece
from ..raw_bytes import address
from ..vectors import dot, step

_F0, _F1 = np.float32(0.0), np.float32(1.0)
_TINY = np.float32(1e-12)


@kernel
def clamp_upwards(
    parent: NDArray[np.int32],
    matched: NDArray[np.uint8],
    key: NDArray[np.uint8],
    x: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> None:
    """Move each key node's x into the range of the x of the matched nodes below it, from the leaves up.

    Parameters
    ----------
    parent : int32 (n,)
        -1 for a root; parents come before their children.
    matched, key : uint8 (n,)
    x : float64 (n,)
        Changed.
    low, high : float64 (n,)
        Must be +inf and -inf; written: the range of matched nodes below or at each node.
    """
    for i in range(len(parent) - 1, -1, -1):
        if key[i] and low[i] <= high[i]:
            x[i] = min(max(x[i], low[i]), high[i])
        if matched[i]:
            low[i] = min(low[i], x[i])
            high[i] = max(high[i], x[i])
        p = parent[i]
        if p >= 0:
            low[p] = min(low[p], low[i])
            high[p] = max(high[p], high[i])


@kernel
def attach_leaves(
    parent: NDArray[np.int32],
    key: NDArray[np.uint8],
    x: NDArray[np.float64],
    v: NDArray[np.float64],
    size: NDArray[np.int32],
    home: NDArray[np.int32],
) -> None:
    """Find the key node that each node hangs on: itself for a key node.

    Any other node ascends to its first key ancestor p and takes the key node nearest to it among those in the
    subtree of p, p included; of equally near ones the first.

    Parameters
    ----------
    parent : int32 (n,)
        -1 for a root, which must be a key node; in pre-order.
    key : uint8 (n,)
    x, v : float64 (n,)
    size : int32 (n,)
        Must be 1; written: nodes in the subtree.
    home : int32 (n,)
        Written.
    """
    n = len(parent)
    for i in range(n - 1, 0, -1):
        if parent[i] >= 0:
            size[parent[i]] += size[i]
    for i in range(n):
        p = i
        while not key[p]:
            p = parent[p]
        best, nearest = p, np.inf
        if p != i:
            for q in range(p, p + size[p]):
                if key[q]:
                    d = (x[q] - x[i]) * (x[q] - x[i]) + (v[q] - v[i]) * (v[q] - v[i])
                    if d < nearest:
                        best, nearest = q, d
        home[i] = best


@kernel
def ways_up(
    caller: NDArray[np.int64],
    group: NDArray[np.int64],
    call: NDArray[np.int64],
    root: NDArray[np.int64],
    seen: NDArray[np.int64],
    found: NDArray[np.int64],
) -> np.int64:
    """Return how many calls lie between those given and their groups' roots, each counted once for a group.

    Parameters
    ----------
    caller : int64 (calls,)
        -1 for a root of the trace.
    group : int64 (n,)
        Group of each call, ascending.
    call : int64 (n,)
    root : int64 (groups,)
        A call of each; a way that does not meet it ends at a root of the trace.
    seen : int64 (calls,)
        Must be -1; written: the last group that each call was counted for.
    found : int64 (m,)
        Written: group times ``calls``, plus the call, in no order, as many as there is room for.

    Returns
    -------
    int64
    """
    n = np.int64(0)
    for i in range(len(call)):
        c, g = call[i], group[i]
        while c >= 0 and seen[c] != g:
            seen[c] = g
            if n < len(found):
                found[n] = g * len(caller) + c
            n += 1
            c = caller[c] if c != root[g] else -1
    return n


@kernel
def climb(
    parent: NDArray[np.int32], apart: np.int32, level: NDArray[np.int32], above: NDArray[np.int32]
) -> None:
    """Find each node's level, and its nearest ancestor on every ``apart``-th level.

    Parameters
    ----------
    parent : int32 (n,)
        -1 for a root; parents come before their children.
    apart : int32
    level : int32 (n,)
        Written: 0 for a root, 1 for its children, and so on.
    above : int32 (n,)
        Written: its nearest proper ancestor whose level is a multiple of ``apart``; -1 for a root.
    """
    for i in range(len(parent)):
        p = parent[i]
        if p < 0:
            level[i], above[i] = 0, -1
        else:
            level[i] = level[p] + 1
            above[i] = p if level[p] % apart == 0 else above[p]


@inline
def _route(  # type: ignore[no-untyped-def]
    parent, level, point, a, b, beta, drop, path
):
    """Write the control points from ``a`` over their common ancestor to ``b`` from row 2 on; return how many.

    Straightened by ``beta``, with two copies of both ends around them.
    """
    up, n, common = a, 2, -1
    down, m = b, len(path) - 3
    while up != down:
        if level[up] >= level[down]:
            path[n, 0], path[n, 1], path[n, 2] = point[up, 0], point[up, 1], point[up, 2]
            n += 1
            up = parent[up]
        else:
            path[m, 0], path[m, 1], path[m, 2] = point[down, 0], point[down, 1], point[down, 2]
            m -= 1
            down = parent[down]
    common = n
    path[n, 0], path[n, 1], path[n, 2] = point[up, 0], point[up, 1], point[up, 2]
    n += 1
    for j in range(m + 1, len(path) - 2):
        path[n, 0], path[n, 1], path[n, 2] = path[j, 0], path[j, 1], path[j, 2]
        n += 1
    if drop and n - 2 > 3 and 2 < common < n - 1:
        for j in range(common, n - 1):
            path[j, 0], path[j, 1], path[j, 2] = path[j + 1, 0], path[j + 1, 1], path[j + 1, 2]
        n -= 1
    count = n - 2
    x, y, z = path[2, 0], path[2, 1], path[2, 2]
    dx, dy, dz = path[n - 1, 0] - x, path[n - 1, 1] - y, path[n - 1, 2] - z
    share = _F1 / np.float32(max(count - 1, 1))
    rest = _F1 - beta
    for j in range(1, count - 1):
        t = np.float32(j) * share
        path[j + 2, 0] = beta * path[j + 2, 0] + rest * (x + t * dx)
        path[j + 2, 1] = beta * path[j + 2, 1] + rest * (y + t * dy)
        path[j + 2, 2] = beta * path[j + 2, 2] + rest * (z + t * dz)
    for c in range(3):
        path[0, c] = path[1, c] = path[2, c]
        path[n, c] = path[n + 1, c] = path[n - 1, c]
    return count


@inline
def _steady(path, count, spare):  # type: ignore[no-untyped-def]
    """Let x rise or fall from the first to the last of ``count`` control points in row 2 on, and never turn.

    Each x lies in the middle between the greatest before and the least after it, within both ends; along a
    way back with signs changed. A spline turns no more often than its control points.
    """
    start, end = path[2, 0], path[count + 1, 0]
    sign = _F1 if end >= start else -_F1
    low, high = sign * start, sign * end
    most = low
    for j in range(2, count + 2):
        most = max(most, min(max(sign * path[j, 0], low), high))
        spare[j] = most
    least = high
    for j in range(count + 1, 1, -1):
        least = min(least, min(max(sign * path[j, 0], low), high))
        path[j, 0] = sign * np.float32(0.5) * (spare[j] + least)
    path[2, 0], path[count + 1, 0] = start, end


@kernel
def measure_routes(
    parent: NDArray[np.int32],
    level: NDArray[np.int32],
    point: NDArray[np.float32],
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    beta: np.float32,
    drop: np.bool_,
    path: NDArray[np.float32],
    count: NDArray[np.int32],
    turning: NDArray[np.float32],
) -> None:
    """Count the control points of each route, and sum up the angles by which its control polygon turns.

    Parameters
    ----------
    parent, level : int32 (n,)
        A forest; the root of a tree has the least level, and each child's is greater than its parent's.
    point : float32 (n, 3)
    source, target : int32 (e,)
        Two nodes of one tree.
    beta : float32
        1 follows the tree, 0 is straight.
    drop : bool
        Leave the common ancestor out where more than three points are on the route.
    path : float32 (longest + 8, 3)
        Working space.
    count : int32 (e,)
        Written.
    turning : float32 (e,)
        Written: radians.
    """
    for e in range(len(source)):
        n = _route(parent, level, point, source[e], target[e], beta, drop, path)
        count[e] = n
        sum_ = _F0
        for j in range(3, n + 1):
            ax, ay, az = step(path, j - 1, j)
            bx, by, bz = step(path, j, j + 1)
            length = dot(ax, ay, az, ax, ay, az) * dot(bx, by, bz, bx, by, bz)
            if length > _TINY:
                cosine = dot(ax, ay, az, bx, by, bz) / np.float32(math.sqrt(length))
                sum_ += np.float32(math.acos(min(max(cosine, -_F1), _F1)))
        turning[e] = sum_


@kernel
def sample_routes(
    parent: NDArray[np.int32],
    level: NDArray[np.int32],
    point: NDArray[np.float32],
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    beta: np.float32,
    drop: np.bool_,
    path: NDArray[np.float32],
    steady: NDArray[np.uint8],
    spare: NDArray[np.float32],
    table: NDArray[np.int64],
    stops: NDArray[np.int32],
    place: NDArray[np.float32],
    first: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:
    """Sample the cubic B-spline with clamped ends of each route.

    Parameters
    ----------
    parent, level, point, source, target, beta, drop, path
        As in :func:`measure_routes`.
    steady : uint8 (e,)
        Routes whose x never turns.
    spare : float32 (longest + 8,)
        Working space.
    table : int64 (longest + 1, 17)
        For this many control points: where their pieces start in ``stops``, and in column k where the samples
        start in ``place`` if there are 16 k.
    stops : int32 (pieces, 17)
        By the same columns: samples up to the end of each piece.
    place : float32 (p,)
        Where each sample lies in its piece, 0 to 1.
    first : int64 (e + 1,)
    out : float32 (first[e], 3)
        Written.
    """
    controls, places, points = address(path), address(place), address(out)
    for e in range(len(source)):
        n = _route(parent, level, point, source[e], target[e], beta, drop, path)
        if steady[e]:
            _steady(path, n, spare)
        low, last = first[e], first[e + 1] - 1
        column = (last + 1 - low) // 16
        q, j = table[n, column], low
        for k in range(n + 1):
            # The last sample is written by itself: four numbers would reach into the next route.
            stop = min(low + stops[table[n, 0] + k, column], last)
            if stop > j:
                sample_piece(controls + 12 * k, places + 4 * q, points + 12 * j, stop - j)
                q += stop - j
                j = stop
        for c in range(3):
            out[last, c] = path[n + 1, c]


@kernel
def fold_tubes(
    first: NDArray[np.int64],
    route: NDArray[np.float32],
    ends: NDArray[np.float32],
    width: NDArray[np.float32],
    height: NDArray[np.float32],
    lift: NDArray[np.float32],
    thin: np.float32,
    least: np.float32,
    point: NDArray[np.float32],
    radius: NDArray[np.float32],
) -> None:
    """Carry routes from the plane of the two icicles into space, and give them the tubes' radii.

    At t, the share of the arc in the plane, the half width is φ(t)((1-t) w_f/2 + t w_g/2), where
    φ(t) = λ + (1-λ)/2 (1 + cos 2πt): TraceDiff, section IV-C and Eq. 5, with a plus where a minus is printed.
    How far the route has come across the plane, from one end to the other, is how far it has come between the
    two ends' places in space.

    Parameters
    ----------
    first : int64 (n + 1,)
    route : float32 (m, 3)
        x along time, then the place across the plane; the third is not looked at.
    ends : float32 (n, 4)
        y and z of both ends in space.
    width, height : float32 (n, 2)
        Of the section at both ends.
    lift : float32 (n,)
        How far the middle rises above the straight way.
    thin : float32
        λ, 0 to 1.
    least : float32
        No radius is smaller.
    point : float32 (m, 3)
        Written.
    radius : float32 (m, 2)
        Written; used as working space on the way.
    """
    half, full = np.float32(0.5), np.float32(2.0 * math.pi)
    four = np.float32(4.0)
    swing = (_F1 - thin) * half
    for i in range(len(first) - 1):
        low, high = first[i], first[i + 1]
        arc = _F0
        radius[low, 0] = _F0
        for j in range(low + 1, high):
            dx, dv = route[j, 0] - route[j - 1, 0], route[j, 1] - route[j - 1, 1]
            arc += np.float32(math.sqrt(dx * dx + dv * dv))
            radius[j, 0] = arc
        per_arc = _F1 / arc if arc > _F0 else _F0
        start = route[low, 1]
        across = route[high - 1, 1] - start
        per_across = _F1 / across if across != _F0 else _F0
        ya, za, yb, zb = ends[i, 0], ends[i, 1], ends[i, 2], ends[i, 3]
        wa, wb, ha, hb = width[i, 0], width[i, 1], height[i, 0], height[i, 1]
        for j in range(low, high):
            t = radius[j, 0] * per_arc
            come = min(max((route[j, 1] - start) * per_across, _F0), _F1)
            phi = thin + swing * (_F1 + np.float32(math.cos(full * t)))
            point[j, 0] = route[j, 0]
            point[j, 1] = ya + come * (yb - ya)
            point[j, 2] = za + come * (zb - za) + lift[i] * four * come * (_F1 - come)
            radius[j, 0] = max(phi * half * ((_F1 - t) * wa + t * wb), least)
            radius[j, 1] = max(phi * half * ((_F1 - t) * ha + t * hb), least)


@kernel
def longest_rise(
    value: NDArray[np.int64], tail: NDArray[np.int64], before: NDArray[np.int64], on: NDArray[np.uint8]
) -> int:
    """Mark a longest subsequence that never falls. O(n log n).

    Parameters
    ----------
    value : int64 (n,)
    tail, before : int64 (n,)
        Working space.
    on : uint8 (n,)
        Written: 1 for those of the subsequence.

    Returns
    -------
    int
        Its length.
    """
    length = 0
    for i in range(len(value)):
        low, high = 0, length
        while low < high:
            middle = (low + high) // 2
            if value[tail[middle]] <= value[i]:
                low = middle + 1
            else:
                high = middle
        before[i] = tail[low - 1] if low > 0 else -1
        tail[low] = i
        length = max(length, low + 1)
        on[i] = 0
    i = tail[length - 1] if length > 0 else -1
    while i >= 0:
        on[i] = 1
        i = before[i]
    return length
