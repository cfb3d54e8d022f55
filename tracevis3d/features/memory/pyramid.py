"""Blocks side by side along an axis, and the profiles of many of them together.

Neighbours that are too narrow to be seen are merged until they are wide enough (Seyster, section
2.4.2). A segment tree over the order holds, for each of its nodes, a profile over time, so that what is taken
together is known without looking at each block: the cost of a cut follows what is visible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.memory import allocations as k
from .blocks import NEVER, Blocks
from .moments import Moments

Ints = NDArray[np.int64]

#: Minimum number of blocks per leaf, and maximum number of leaves.
_LEAF, _LEAVES = 64, 1 << 12
#: Initial capacity, in items.
_ROOM = 1 << 14
#: Blocks of more than this share of the axis are looked for wherever they begin.
_LARGE = 1 / 2048


@dataclass(frozen=True, eq=False)
class Items:
    """What is shown: blocks, and merged blocks.

    Attributes
    ----------
    first, stop : int64 (n,)
        Positions.
    alone : bool (n,)
        It is one block that is wide enough to be seen.
    low, high : int64 (n,)
        Along the axis.
    room : int64 (n, cells)
        How much of the axis is taken at each moment.
    lowest : int64 (n, cells)
        Where what lives at each moment begins along the axis; meaningless where nothing does.
    live : int64 (n, cells)
        Bytes that live at each moment.
    since : int64 (n, cells)
        When the block that is idle longest was last accessed or allocated; :data:`.blocks.NEVER` where
        nothing lives at any time in the cell.
    touches : int32 (n, cells)
        Allocations and accesses in each cell.
    """

    first: Ints
    stop: Ints
    alone: NDArray[np.bool_]
    low: Ints
    high: Ints
    room: Ints
    lowest: Ints
    live: Ints
    since: Ints
    touches: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.first)


class Pyramid:
    """Blocks in an order along an axis, with the segment tree over them.

    Parameters
    ----------
    blocks : Blocks
    order : int32 (n,)
        Blocks by position.
    low : int64 (n,)
        Where each position begins along the axis; within a group it never decreases.
    taken : int64 (blocks,)
        How wide each block is.
    moments : Moments
        Cells of time, and one moment of each.
    lone : bool (n,), optional
        Which positions may be an item of their own; left out: all.
    bounds : int64 (groups + 1,), optional
        Where groups of positions begin; nothing is merged across. Left out: there is one group.
    lives : (int32 (blocks,), int32 (blocks,)), optional
        What ``moments.of(blocks)`` returns, if it is known.

    Attributes
    ----------
    start, step, cells : int
        Cell ``c`` begins at ``start + c * step`` nanoseconds.
    """

    def __init__(
        self,
        blocks: Blocks,
        order: NDArray[np.int32],
        low: Ints,
        taken: Ints,
        moments: Moments,
        lone: NDArray[np.bool_] | None = None,
        bounds: Ints | None = None,
        lives: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None,
    ) -> None:
        n = len(order)
        self.blocks, self.order = blocks, np.ascontiguousarray(order, np.int32)
        self.low, self.taken = np.ascontiguousarray(low, np.int64), np.ascontiguousarray(taken, np.int64)
        self.moments, self.start, self.step, self.cells = moments, moments.start, moments.step, len(moments)
        self.bounds = np.array([0, n], np.int64) if bounds is None else np.asarray(bounds, np.int64)
        self._lone = np.ones(n, np.bool_) if lone is None else np.ascontiguousarray(lone, np.bool_)
        wide = self.taken[self.order]
        # A run of narrow blocks never reaches so far.
        self._reach = max(int(_LARGE * wide.sum()), 1)
        self._large = np.flatnonzero(wide > self._reach)
        self._leaf = max(_LEAF, 1 << max(-(-n // _LEAVES) - 1, 0).bit_length())
        count = [max(-(-n // self._leaf), 1)]
        while count[-1] > 1:
            count.append(-(-count[-1] // 2))
        self._count = np.array(count, np.int64)
        self._first = np.cumsum(self._count) - self._count
        nodes = int(self._count.sum())
        self._profiles = (
            np.zeros((nodes, self.cells + 1), np.int64),
            np.full((nodes, self.cells), k.NOWHERE, np.int64),
            np.full((nodes, self.cells), NEVER, np.int64),
            np.zeros((nodes, self.cells), np.int32),
        )
        self._widest = np.zeros(nodes, np.int64)
        begin, stop = lives or moments.of(blocks)
        self._jump = np.zeros(self.cells + 1, np.int32)
        self._columns = (
            begin, stop, blocks.born, blocks.died, blocks.first_access, blocks.access, self.start, self.step,
            self._jump,
        )  # fmt: skip
        k.fill_leaves(
            self.order, self._leaf, self.low, self.taken, *self._columns, *self._profiles, self._lone,
            self._widest,
        )  # fmt: skip
        k.fill_inner(self._first, self._count, *self._profiles, self._widest)
        # If widths are not bytes, bytes are summed in a separate tree.
        self._of_bytes = (
            None if self.taken is blocks.size
            else Pyramid(blocks, order, low, blocks.size, moments, lone, bounds, lives)
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.order)

    def high(self, position: Ints) -> Ints:
        """Return where positions end along the axis, int64 (k,)."""
        return np.asarray(self.low[position] + self.taken[self.order[position]])

    def cut(self, left: float, right: float, least: float, breaks: Ints | None = None) -> Items:
        """Return the items visible between ``left`` and ``right`` of the axis.

        Parameters
        ----------
        left, right : float
        least : float
            Narrower blocks are merged until they have this width.
        breaks : int64 (k,), optional
            Positions across which nothing is merged, beside the bounds of groups.

        Returns
        -------
        Items
        """
        low, high, wide = math.ceil(left), math.ceil(right), max(math.ceil(least), 1)
        groups = len(self.bounds) - 1
        begin, stop = np.empty(groups, np.int64), np.empty(groups, np.int64)
        k.find_ranges(self.low, self.bounds, low, high, begin, stop)
        limits = np.unique(np.append(self.bounds, [] if breaks is None else breaks).astype(np.int64))
        # What begins further left and reaches into it is taken one by one.
        near = np.empty(groups, np.int64)
        k.find_ranges(self.low, self.bounds, low - self._reach, low, near, np.empty(groups, np.int64))
        before = [np.arange(a, b) for a, b in zip(near.tolist(), begin.tolist(), strict=True)]
        beside = np.unique(
            np.concatenate([self._large[self.low[self._large] < low], *before]).astype(np.int64)
        )
        beside = beside[self.high(beside) > left]
        first, last = [beside], [beside + 1]
        for at, end in zip(begin.tolist(), stop.tolist(), strict=True):
            while at < end:
                room = min(end - at, _ROOM)
                a, b = np.empty(room, np.int64), np.empty(room, np.int64)
                n = k.cut_blocks(
                    at, end, self.low, self.order, self.taken, self._lone, wide, limits, self._leaf,
                    self._first, self._count, self._widest, a, b,
                )  # fmt: skip
                first.append(a[:n])
                last.append(b[:n])
                at = int(b[n - 1])
        return self.items(np.concatenate(first), np.concatenate(last), wide)

    def items(self, first: Ints, stop: Ints, least: int) -> Items:
        """Return the items that begin and end at some positions.

        Parameters
        ----------
        first, stop : int64 (n,)
            Positions, in any order.
        least : int
            Narrower blocks do not stand alone.

        Returns
        -------
        Items
        """
        order = np.argsort(first, kind="stable")
        first, stop = first[order], stop[order]
        room, lowest, since, touches = self._profile(first, stop)
        live = room if self._of_bytes is None else self._of_bytes._profile(first, stop)[0]
        edge = self.start + self.step * np.arange(1, self.cells + 1, dtype=np.int64)
        since[since >= edge] = NEVER
        alone = (stop - first == 1) & (self.taken[self.order[first]] >= least) & self._lone[first]
        return Items(
            first, stop, alone, self.low[first], self.high(stop - 1), room, lowest, live, since, touches
        )

    def _profile(self, first: Ints, stop: Ints) -> tuple[Ints, Ints, Ints, NDArray[np.int32]]:
        """Return the profiles of items at each moment and in each cell: room, lowest, since and touches."""
        n = len(first)
        room = np.zeros((n, self.cells + 1), np.int64)
        lowest = np.full((n, self.cells), k.NOWHERE, np.int64)
        since = np.full((n, self.cells), NEVER, np.int64)
        touches = np.zeros((n, self.cells), np.int32)
        k.profile_items(
            first, stop, self.order, self._leaf, self._first, self.low, self.taken, *self._columns,
            *self._profiles, room, lowest, since, touches,
        )  # fmt: skip
        return room[:, : self.cells], lowest, since, touches
