"""Blocks packed along an axis: freed places are reused, so the axis is about as long as the live bytes.

Each block keeps its place as long as it lives. Those of a call site lie together, each in the first free
place of the site; sites are stacked one after the other, each as near to the beginning as what lies there
at the same times allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.memory import packing as k
from .blocks import Blocks
from .moments import Moments

Ints = NDArray[np.int64]
Lives = tuple[NDArray[np.int32], NDArray[np.int32]]

#: Call sites that take less than this share of what lives at once are packed together.
_SMALL = 1 / 400


@dataclass(frozen=True, eq=False)
class Districts:
    """Where call sites lie along the axis.

    Attributes
    ----------
    site : int64 (k,)
        -1: small ones, together.
    low, high : int64 (k,)
        Along the axis.
    """

    site: Ints
    low: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.site)


NO_DISTRICTS = Districts(*np.empty((3, 0), np.int64))


@dataclass(frozen=True, eq=False)
class Packed:
    """Blocks in their places.

    Attributes
    ----------
    order : int32 (n,)
        Blocks by position: group by group, within each along the axis.
    low : int64 (n,)
        Where positions begin along the axis. The first groups lie at its end.
    bounds : int64 (groups + 1,)
        Positions at which groups begin.
    districts : Districts
        Of the groups.
    total : int
        Length of the axis.
    """

    order: NDArray[np.int32]
    low: Ints
    bounds: Ints
    districts: Districts
    total: int


def pack_groups(
    blocks: Blocks,
    chosen: NDArray[np.int32],
    of: NDArray[np.int32],
    groups: int,
    taken: Ints,
    moments: Moments,
    lives: Lives | None = None,
) -> Packed:
    """Pack blocks, those of each group together.

    Parameters
    ----------
    blocks : Blocks
    chosen : int32 (n,)
        Those that are packed, ascending.
    of : int32 (blocks,)
        The group of each, such as its call site.
    groups : int
    taken : int64 (blocks,)
        How wide each is.
    moments : Moments
        Whose cells say how close groups may come to each other.
    lives : (int32 (blocks,), int32 (blocks,)), optional
        What ``moments.of(blocks)`` returns, if it is known.

    Returns
    -------
    Packed
    """
    n, cells = len(chosen), len(moments)
    group, names = _large_groups(blocks, chosen, of[chosen], groups, moments, lives or moments.of(blocks))
    wide, free_row = taken[chosen], blocks.free_row[chosen]
    gone = np.flatnonzero(free_row >= 0)
    gone = gone[np.argsort(free_row[gone], kind="stable")]
    begin, stop = moments.cell(blocks.born[chosen]), moments.cell(blocks.until[chosen])
    # At most so many gaps lie between the blocks that live at once.
    ended = np.searchsorted(free_row[gone], blocks.row[chosen], "right")
    room = int((np.arange(1, n + 1) - ended).max(initial=0)) + 3
    nodes = np.zeros((room, k.NODE_SIZE), np.int64)
    nodes[1:-1, k.LEFT] = np.arange(2, room)
    low, extent = np.zeros(n, np.int64), np.zeros((len(names), cells), np.int64)
    roots, tops, reached = (np.full(len(names), value, np.int64) for value in (0, 0, -1))
    k.pack(
        blocks.row[chosen], gone, free_row, group, wide, begin, stop, roots, tops, reached, nodes,
        np.zeros(k.DEEPEST, np.int64), np.array([1, 0], np.int64), low, extent,
    )  # fmt: skip
    base = stack(extent)
    reach = extent.max(axis=1)
    total = int((base + reach).max())
    # The first groups lie at the far end: what lives longest stands behind what comes and goes.
    low = total - (base[group] + low + wide)
    order = np.lexsort((low, group))
    high = total - base
    districts = Districts(names, high - reach, high)
    bounds = np.searchsorted(group[order], np.arange(len(names) + 1))
    return Packed(chosen[order], low[order], bounds.astype(np.int64), districts, total)


def _large_groups(
    blocks: Blocks,
    chosen: NDArray[np.int32],
    of: NDArray[np.int32],
    groups: int,
    moments: Moments,
    lives: Lives,
) -> tuple[NDArray[np.int32], Ints]:
    """Return the groups of blocks, those that live longest first; before them small ones as one group."""
    begin, stop = lives
    least = max(_SMALL * moments.live.max(initial=0), 1)
    # The most that lives of a group is no more than all of it.
    likely = np.flatnonzero(np.bincount(of, blocks.size[chosen], groups) >= least)
    place = np.full(groups, len(likely), np.int64)
    place[likely] = np.arange(len(likely))
    grid = np.zeros((len(likely) + 1, len(moments) + 1), np.int64)
    np.add.at(grid, (place[of], begin[chosen]), blocks.size[chosen])
    np.subtract.at(grid, (place[of], stop[chosen]), blocks.size[chosen])
    grid = np.cumsum(grid[:-1], axis=1)[:, :-1]
    most = grid.max(axis=1, initial=0)
    names = np.flatnonzero(most >= least)
    names = likely[names[np.argsort(-grid[names].mean(axis=1) / most[names], kind="stable")]]
    number = np.full(groups, -1, np.int32)
    number[names] = np.arange(len(names))
    group = number[of]
    if len(names) and (group >= 0).all():
        return group, names
    return (group + 1).astype(np.int32), np.append(-1, names)


def stack(extent: Ints) -> Ints:
    """Return where groups begin: each after all earlier ones that occupy the same cells.

    Parameters
    ----------
    extent : int64 (groups, cells)
        How far each reaches in each cell.

    Returns
    -------
    int64 (groups,)
    """
    base, height = np.zeros(len(extent), np.int64), np.zeros(extent.shape[1], np.int64)
    for group, mine in enumerate(extent):
        there = mine > 0
        base[group] = height[there].max(initial=0)
        height[there] = base[group] + mine[there]
    return base
