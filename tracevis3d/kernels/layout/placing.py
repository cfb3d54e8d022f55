"""Rectangles that may not overlap: the first come wins."""

from __future__ import annotations

from typing import Any

from ..jit import kernel


@kernel
def place(box: Any, fixed: int, margin: float, most: int, out: Any) -> int:
    """Choose rectangles in order, each if it overlaps none of those chosen before it.

    Parameters
    ----------
    box : float32 (n, 4)
        Left, bottom, right, top. The first ``fixed`` are obstacles: they are chosen whatever they overlap.
    fixed : int
    margin : float
        Least distance between two.
    most : int
        How many are chosen at most, obstacles not counted.
    out : bool (n,)
        Becomes which are chosen.

    Returns
    -------
    int
        How many are chosen, without the obstacles.
    """
    chosen = 0
    for i in range(len(box)):
        out[i] = False
        if i < fixed:
            out[i] = True
            continue
        if chosen >= most:
            continue
        free = True
        for j in range(i):
            if (
                out[j]
                and box[i, 0] < box[j, 2] + margin
                and box[j, 0] < box[i, 2] + margin
                and box[i, 1] < box[j, 3] + margin
                and box[j, 1] < box[i, 3] + margin
            ):
                free = False
                break
        if free:
            out[i] = True
            chosen += 1
    return chosen
