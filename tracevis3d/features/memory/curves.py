"""Memory over time, as series: live bytes, allocations, and the idle share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.memory.allocations import follow_sites
from .blocks import AT_ONCE, Blocks
from .call_sites import Sites
from .moments import find_moments

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Curves:
    """Series over cells of time; cell ``c`` begins at ``start + c * step`` nanoseconds.

    Attributes
    ----------
    start, step : int
    live : int64 (cells,)
        Bytes, the most within each cell.
    allocations : int64 (cells,)
    allocated : int64 (cells,)
        Bytes.
    idle : float64 (cells,)
        Share of the bytes live at the cell's end that were not accessed for ``recent`` nanoseconds.
    recent : int
    """

    start: int
    step: int
    live: Ints
    allocations: Ints
    allocated: Ints
    idle: NDArray[np.float64]
    recent: int

    def __len__(self) -> int:
        return len(self.live)


@dataclass(frozen=True, eq=False)
class SiteTable:
    """The facts of each call site; one more row for the total.

    Attributes
    ----------
    blocks, allocated, kept, kept_blocks, peak, peak_row : int64 (sites + 1,)
        Blocks and bytes allocated; bytes and blocks never freed; the most bytes alive at once, and the row of
        the memory table after which they were.
    lifetime : float64 (sites + 1,)
        Mean, in nanoseconds; blocks that are never freed live until the end.
    """

    blocks: Ints
    allocated: Ints
    kept: Ints
    kept_blocks: Ints
    peak: Ints
    peak_row: Ints
    lifetime: NDArray[np.float64]


def curves(blocks: Blocks, window: tuple[int, int], cells: int, recent: int) -> Curves:
    """Return the series of a window, in linear time.

    Parameters
    ----------
    blocks : Blocks
    window : (int, int)
        Nanoseconds.
    cells : int
        At most.
    recent : int
        Nanoseconds after which untouched memory counts as idle.

    Returns
    -------
    Curves
    """
    moments = find_moments(blocks, window, cells)
    start, step, edge = moments.start, moments.step, moments.edge
    cells = len(moments)
    begun, taken = np.zeros(cells, np.int64), np.zeros(cells)
    for first in range(0, len(blocks), AT_ONCE):
        born, size = blocks.born[first : first + AT_ONCE], blocks.size[first : first + AT_ONCE]
        inside = (born >= start) & (born < edge[-1])
        cell = (born[inside] - start) // step
        begun += np.bincount(cell, minlength=cells)
        taken += np.bincount(cell, size[inside], cells)
    return Curves(
        start,
        step,
        moments.live,
        begun,
        taken.astype(np.int64),
        _idle(blocks, edge, recent) / np.maximum(moments.after, 1),
        recent,
    )


def idle_intervals(blocks: Blocks) -> tuple[Ints, Ints, Ints]:
    """Return block, begin and end of each stretch of time without an access, int64 (blocks + accesses,)."""
    count = np.diff(blocks.first_access)
    n, m = len(blocks), len(blocks.access)
    first = blocks.first_access[:-1] + np.arange(n)
    block = np.repeat(np.arange(n), count + 1)
    begin = np.empty(n + m, np.int64)
    begin[first] = blocks.born
    rest = np.ones(n + m, np.bool_)
    rest[first] = False
    begin[rest] = blocks.access
    end = np.empty(n + m, np.int64)
    end[:-1] = begin[1:]
    end[first + count] = blocks.until
    return block, begin, end


def _idle(blocks: Blocks, edge: Ints, recent: int) -> NDArray[np.float64]:
    """Return the bytes that are idle at the end of each cell."""
    if len(blocks.access):
        block, begin, end = idle_intervals(blocks)
    else:
        # Most blocks of a large program live too short to be idle at all.
        block = np.concatenate(
            [
                first + np.flatnonzero(_lived(blocks, slice(first, first + AT_ONCE)) > recent)
                for first in range(0, len(blocks), AT_ONCE)
            ]
            or [np.empty(0, np.int64)]
        )
        begin = blocks.born[block]
        end = np.minimum(blocks.died[block], blocks.end)
    begin = begin + recent
    long = end > begin
    size = blocks.size[block[long]].astype(np.float64)
    cells = len(edge) - 1
    # Idle at the edges from ``begin`` on and before ``end``; what lives at the last edge is idle there, too.
    low = np.searchsorted(edge[1:], begin[long], "left")
    until = np.minimum(blocks.died[block[long]], end[long])
    ends_late = (blocks.free_row[block[long]] < 0) & (end[long] == blocks.end)
    high = np.where(ends_late, cells, np.searchsorted(edge[1:], until, "left"))
    change = np.bincount(low, size, cells + 1) - np.bincount(high, size, cells + 1)
    return np.asarray(np.cumsum(change)[:cells])


def _lived(blocks: Blocks, part: slice) -> Ints:
    """Return how long blocks lived within the recording."""
    return np.asarray(np.minimum(blocks.died[part], blocks.end) - blocks.born[part])


def site_table(blocks: Blocks, sites: Sites) -> SiteTable:
    """Return the facts of each call site, in linear time.

    Parameters
    ----------
    blocks : Blocks
    sites : Sites
        Of the same blocks.

    Returns
    -------
    SiteTable
    """
    n = len(sites)
    live, peak = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    peak_row = np.full(n + 1, -1, np.int64)
    follow_sites(blocks.row, blocks.size, sites.of_block, blocks.ended, live, peak, peak_row)

    def each(weight: Callable[[slice], NDArray[Any] | None]) -> NDArray[np.float64]:
        found = blocks.sums(sites.of_block, n, weight)
        return np.append(found, found.sum())

    blocks_of = each(lambda part: None)
    lived = each(lambda part: _lived(blocks, part))
    return SiteTable(
        blocks=blocks_of.astype(np.int64),
        allocated=each(lambda part: blocks.size[part]).astype(np.int64),
        kept=live,
        kept_blocks=each(lambda part: blocks.free_row[part] < 0).astype(np.int64),
        peak=peak,
        peak_row=peak_row,
        lifetime=lived / np.maximum(blocks_of, 1),
    )
