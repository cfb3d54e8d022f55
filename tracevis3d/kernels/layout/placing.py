"""Rectangles that may not overlap: the first come wins."""

from __future__ import annotations

from typing import Any

from ..jit import kernel


@kernel
def place(box: Any, fixed: int, margin: float, most: int, head: Any, after: Any, out: Any) -> int:
    """Choose rectangles in order, each if it overlaps none of those chosen before it.

    Those chosen are kept in lists by the height of their middles, so that each is compared with few.

    Parameters
    ----------
    box : float32 (n, 4)
        Left, bottom, right, top. The first ``fixed`` are obstacles: they are chosen whatever they overlap.
    fixed : int
    margin : float
        Least distance between two.
    most : int
        How many are chosen at most, obstacles not counted.
    head : int32 (cells,)
        Working space: the last one chosen of each list; at least one.
    after : int32 (n,)
        Working space: the next one in its list.
    out : bool (n,)
        Becomes which are chosen.

    Returns
    -------
    int
        How many are chosen, without the obstacles.
    """
    cells = len(head)
    low, high, tallest = 0.0, 0.0, 0.0
    for i in range(fixed, len(box)):
        middle, tall = 0.5 * (box[i, 1] + box[i, 3]), box[i, 3] - box[i, 1]
        if i == fixed or middle < low:
            low = middle
        if i == fixed or middle > high:
            high = middle
        tallest = max(tallest, tall)
    # Two that overlap lie in one cell, or in neighbours.
    cell = max(tallest + margin, (high - low) / cells, 1e-6) * 1.0001
    for k in range(cells):
        head[k] = -1
    chosen = 0
    for i in range(len(box)):
        out[i] = i < fixed
        if i < fixed or chosen >= most:
            continue
        free = True
        for j in range(fixed):
            if (
                box[i, 0] < box[j, 2] + margin
                and box[j, 0] < box[i, 2] + margin
                and box[i, 1] < box[j, 3] + margin
                and box[j, 1] < box[i, 3] + margin
            ):
                free = False
                break
        at = min(int((0.5 * (box[i, 1] + box[i, 3]) - low) / cell), cells - 1)
        for k in range(max(at - 1, 0), min(at + 2, cells)):
            j = head[k] if free else -1
            while j >= 0:
                if (
                    box[i, 0] < box[j, 2] + margin
                    and box[j, 0] < box[i, 2] + margin
                    and box[i, 1] < box[j, 3] + margin
                    and box[j, 1] < box[i, 3] + margin
                ):
                    free = False
                    break
                j = after[j]
        if free:
            out[i] = True
            after[i] = head[at]
            head[at] = i
            chosen += 1
    return chosen
