"""In which order shapes have to be painted so that those in front come last, where only the last is seen."""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...kernels.layout.visible import draw_triangles

#: Pixels across of what is drawn off screen.
_ACROSS = 1400
#: How often the order is checked and corrected.
_ROUNDS = 24
#: Share of the covered pixels that may be wrong: shapes that cross each other have no order.
_ENOUGH = 2e-4


def painting_order(
    point: ArrayLike,
    triangle: ArrayLike,
    owner: ArrayLike,
    count: int,
    size: tuple[int, int],
) -> tuple[NDArray[np.int64], float]:
    """Return an order of shapes in which painting them shows in each pixel the one that is in front there.

    The order by depth is painted, compared pixel by pixel with what is in front, and changed for the pairs
    that are the wrong way round, until none is left, or only pairs that hide each other.

    Parameters
    ----------
    point : float (v, 3)
        x and y in pixels from the lower left corner, and depth: what is larger is farther.
    triangle : int (t, 3)
        Corners of the shapes' triangles.
    owner : int (t,)
        Whose triangle each is, 0 to ``count - 1``.
    count : int
        Shapes.
    size : (int, int)
        Width and height of the picture in pixels.

    Returns
    -------
    order : int64 (count,)
        Shapes, the first to be painted first.
    wrong : float
        Share of the covered pixels in which another shape is seen than the one in front.

    Examples
    --------
    >>> corner = np.array([[0.0, 0, 1], [9, 0, 1], [0, 9, 1], [0, 0, 0], [4, 0, 0], [0, 4, 0]])
    >>> order, wrong = painting_order(corner, np.array([[3, 4, 5], [0, 1, 2]]), np.array([0, 1]), 2, (10, 10))
    >>> order.tolist(), wrong
    ([1, 0], 0.0)
    """
    point = np.asarray(point, np.float64).reshape(-1, 3)
    scale = min(1.0, _ACROSS / max(size[0], 1))
    width, height = (max(int(np.ceil(side * scale)), 1) for side in size)
    depth = point[:, 2]
    spread = float(np.ptp(depth)) if len(depth) else 0.0
    # The kernel compares depths as shares of their range.
    away = (depth - (depth.min() if len(depth) else 0.0)) / (spread or 1.0)
    solid = np.column_stack([point[:, :2] * scale, away]).astype(np.float32)
    level = solid.copy()
    level[:, 2] = 0.0
    corner, whose = np.asarray(triangle, np.int32), np.asarray(owner, np.int32)

    weight = np.bincount(whose, minlength=count)
    mean = np.bincount(whose, away[corner].mean(axis=1), minlength=count) / np.maximum(weight, 1)
    base = np.empty(count, np.int64)
    base[np.argsort(-mean, kind="stable")] = np.arange(count)
    order = np.argsort(base)

    def drawn(at: NDArray[np.float32], by: NDArray[np.int64]) -> NDArray[np.int32]:
        depths, front = np.full(width * height, np.inf, np.float32), np.full(width * height, -1, np.int32)
        flat = np.ascontiguousarray(corner[by].reshape(-1))
        draw_triangles(at.reshape(-1), flat, whose[by], np.int64(width), np.int64(height), depths, front)
        return front

    later: dict[tuple[int, int], int] = defaultdict(int)
    best, least, true = order, 1.0, None
    for _ in range(_ROUNDS):
        rank = np.empty(count, np.int64)
        rank[order] = np.arange(count)
        by = np.argsort(rank[whose], kind="stable")
        true = drawn(solid, by)  # of shapes in one plane the last painted one is in front
        seen = drawn(level, by)
        off = np.flatnonzero(seen != true)
        wrong = len(off) / max(int(np.count_nonzero(true >= 0)), 1)
        if wrong < least:
            best, least = order, wrong
        if wrong <= _ENOUGH:
            break
        pairs, pixels = np.unique(np.stack([seen[off], true[off]]), axis=1, return_counts=True)
        for (under, over), many in zip(pairs.T.tolist(), pixels.tolist()):
            later[under, over] += many
        order = _sorted(count, base, later)
    return best, float(least)


def _sorted(count: int, base: NDArray[np.int64], later: dict[tuple[int, int], int]) -> NDArray[np.int64]:
    """Return the shapes by ``base``, but for each pair of ``later`` the second after the first.

    Of pairs that contradict each other those with more pixels hold.
    """
    after: dict[int, list[int]] = defaultdict(list)
    before = [0] * count
    for (under, over), many in later.items():
        if many > later.get((over, under), 0) or (many == later.get((over, under), 0) and under < over):
            after[under].append(over)
            before[over] += 1
    rank = base.tolist()
    ready = [(rank[i], i) for i in range(count) if not before[i]]
    heapq.heapify(ready)
    waiting = sorted((rank[i], i) for i in range(count) if before[i])
    out: list[int] = []
    done = [False] * count
    at = 0
    while len(out) < count:
        if ready:
            _, i = heapq.heappop(ready)
        else:
            # A circle: the farthest of those left begins.
            while done[waiting[at][1]]:
                at += 1
            i = waiting[at][1]
        if done[i]:
            continue
        done[i] = True
        out.append(i)
        for over in after[i]:
            before[over] -= 1
            if before[over] == 0 and not done[over]:
                heapq.heappush(ready, (rank[over], over))
    return np.array(out, np.int64)
