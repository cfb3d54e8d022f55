"""Blocks side by side along an axis, and what many of them look like together.

Neighbours that are too narrow to be seen are merged until they are wide enough (Seyster, section
2.4.2). A segment tree over the order holds, for each of its nodes, a profile over time, so that what is taken
together is known without looking at each block: the cost of a cut follows what is visible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.memory import allocations as k
from .blocks import NEVER, Blocks

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Leaves hold so many blocks at least, and there are so many leaves at most.
_LEAF, _LEAVES = 64, 1 << 12
#: Cells of time of a profile at most.
CELLS = 256
#: Room for so many items at first.
_ROOM = 1 << 14


@dataclass(frozen=True, eq=False)
class Items:
    """What is shown: blocks, and merged blocks.

    Attributes
    ----------
    first, stop : int64 (n,)
        Positions.
    alone : bool (n,)
        It is one block that is wide enough to be seen.
    low, high : float64 (n,)
        Along the axis.
    live : int64 (n, cells)
        Bytes that live at any time in each cell.
    since : int64 (n, cells)
        When the block that is idle longest was last accessed or allocated; :data:`.blocks.NEVER` where
        nothing lives.
    touches : int32 (n, cells)
        Allocations and accesses in each cell.
    """

    first: Ints
    stop: Ints
    alone: NDArray[np.bool_]
    low: Floats
    high: Floats
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
        Blocks from left to right.
    low, width : float64 (n,)
        Where each position lies; ``low`` never decreases.
    window : (int, int)
        Nanoseconds.
    cells : int
        Cells of time at most.
    lone : bool (n,), optional
        Which positions may be an item of their own; left out: all.

    Attributes
    ----------
    start, step, cells : int
        Cell ``c`` begins at ``start + c * step`` nanoseconds.
    """

    def __init__(
        self,
        blocks: Blocks,
        order: NDArray[np.int32],
        low: Floats,
        width: Floats,
        window: tuple[int, int],
        cells: int = CELLS,
        lone: NDArray[np.bool_] | None = None,
    ) -> None:
        self.blocks, self.order = blocks, np.ascontiguousarray(order, np.int32)
        self.low, self.width = np.ascontiguousarray(low, np.float64), np.ascontiguousarray(width, np.float64)
        span = max(window[1] - window[0], 1)
        self.start, self.step = int(window[0]), -(-span // min(cells, span))
        self.cells = -(-span // self.step)
        n = len(order)
        self._reach = np.maximum.accumulate(self.low + self.width)
        # What may not stand alone counts as narrow.
        self._seen = self.width if lone is None else np.where(lone, self.width, 0.0)
        self._leaf = max(_LEAF, 1 << max(-(-n // _LEAVES) - 1, 0).bit_length())
        count = [max(-(-n // self._leaf), 1)]
        while count[-1] > 1:
            count.append(-(-count[-1] // 2))
        self._count = np.array(count, np.int64)
        self._first = np.cumsum(self._count) - self._count
        nodes = int(self._count.sum())
        self._change = np.zeros((nodes, self.cells + 1), np.int64)
        self._oldest = np.full((nodes, self.cells), NEVER, np.int64)
        self._touched = np.zeros((nodes, self.cells), np.int32)
        self._widest = np.zeros(nodes)
        b = blocks
        self._columns = (b.born, b.until, b.size, b.first_access, b.access, self.start, self.step)
        k.fill_leaves(
            self.order, self._leaf, *self._columns, self._change, self._oldest, self._touched, self._seen,
            self._widest,
        )  # fmt: skip
        k.fill_inner(self._first, self._count, self._change, self._oldest, self._touched, self._widest)

    def __len__(self) -> int:
        return len(self.order)

    def cut(self, left: float, right: float, least: float, breaks: Ints | None = None) -> Items:
        """Return the items visible between ``left`` and ``right`` of the axis.

        Parameters
        ----------
        left, right : float
        least : float
            Narrower blocks are merged until they have this width.
        breaks : int64 (k,), optional
            Positions across which nothing is merged.

        Returns
        -------
        Items
        """
        begin = int(np.searchsorted(self._reach, left, "right"))
        stop = max(int(np.searchsorted(self.low, right, "left")), begin)
        limits = np.unique(np.append(np.asarray([] if breaks is None else breaks, np.int64), len(self) + 1))
        parts = []
        while begin < stop:
            room = min(stop - begin, _ROOM)
            first, last = np.empty(room, np.int64), np.empty(room, np.int64)
            n = k.cut_blocks(
                begin, stop, self.low, self._seen, float(least), limits, self._leaf, self._first,
                self._count, self._widest, first, last,
            )  # fmt: skip
            parts.append((first[:n], last[:n]))
            begin = int(last[n - 1])
        nothing = np.empty(0, np.int64)
        first = np.concatenate([nothing, *(part[0] for part in parts)])
        last = np.concatenate([nothing, *(part[1] for part in parts)])
        n = len(first)
        live = np.zeros((n, self.cells + 1), np.int64)
        since = np.full((n, self.cells), NEVER, np.int64)
        touches = np.zeros((n, self.cells), np.int32)
        k.profile_items(
            first, last, self.order, self._leaf, self._first, *self._columns, self._change, self._oldest,
            self._touched, live, since, touches,
        )  # fmt: skip
        edge = self.start + self.step * np.arange(1, self.cells + 1, dtype=np.int64)
        since[since >= edge] = NEVER
        ends = self.low[last - 1] + self.width[last - 1]
        return Items(
            first,
            last,
            (last - first == 1) & (self._seen[first] >= least),
            self.low[first],
            ends,
            live[:, : self.cells],
            since,
            touches,
        )
