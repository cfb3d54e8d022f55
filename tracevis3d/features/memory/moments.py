"""Moments: time in cells, and of each cell the moment at which most bytes live.

What is drawn of many blocks at once is exact at these moments, so that no peak is missed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.memory import allocations as k
from .blocks import Blocks

Ints = NDArray[np.int64]

#: Cells of time at most.
CELLS = 256


@dataclass(frozen=True, eq=False)
class Moments:
    """Cells of time; cell ``c`` begins at ``start + c * step`` nanoseconds.

    Attributes
    ----------
    start, step : int
    row : int64 (cells,)
        The row of the recording after which most bytes live within a cell; -1: before all rows.
    live : int64 (cells,)
        How many bytes live then.
    after : int64 (cells,)
        How many live at the end of the cell.
    """

    start: int
    step: int
    row: Ints
    live: Ints
    after: Ints

    def __len__(self) -> int:
        return len(self.row)

    @property
    def edge(self) -> Ints:
        """When cells begin, and when the last one ends: int64 (cells + 1,)."""
        return self.start + self.step * np.arange(len(self) + 1, dtype=np.int64)

    def of(self, blocks: Blocks) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the first moment at which each block lives, and the first one after its end.

        Parameters
        ----------
        blocks : Blocks

        Returns
        -------
        (int32 (blocks,), int32 (blocks,))
            Equal where a block lives at no moment.
        """
        # Blocks are in order of creation: the other way round is faster.
        first = np.searchsorted(blocks.row, self.row, "right")
        begin = np.repeat(
            np.arange(len(self) + 1, dtype=np.int32), np.diff(first, prepend=0, append=len(blocks))
        )
        stop = np.searchsorted(self.row, blocks.free_row, "left").astype(np.int32)
        stop[blocks.free_row < 0] = len(self)
        return begin, stop

    def cell(self, time: Ints) -> Ints:
        """Return the cell that each time lies in; the first or last one beyond them."""
        return np.clip((time - self.start) // self.step, 0, len(self) - 1)


def find_moments(blocks: Blocks, window: tuple[int, int], cells: int = CELLS) -> Moments:
    """Return the cells of a window, and the moment of each, in linear time.

    Parameters
    ----------
    blocks : Blocks
    window : (int, int)
        Nanoseconds.
    cells : int
        At most.

    Returns
    -------
    Moments
    """
    start, span = int(window[0]), max(int(window[1]) - int(window[0]), 1)
    step = -(-span // min(cells, span))
    cells = -(-span // step)
    live, row, after = (np.zeros(cells, np.int64) for _ in range(3))
    k.follow_live(
        blocks.row,
        blocks.size,
        blocks.ended,
        blocks.time,
        start,
        step,
        start + cells * step,
        live,
        row,
        after,
    )
    return Moments(start, step, row, live, after)
