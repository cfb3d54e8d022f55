"""Where blocks lie side by side: their order, and their places along the axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....errors import UsageError
from ....trace.cached_results import cached_with_trace
from ....trace.model import Trace
from ..moments import Moments, find_moments
from ..packing import NO_DISTRICTS, Districts, pack_groups
from ..pyramid import Pyramid
from ..summary import MemoryUse
from .parameters import Parameters

Ints = NDArray[np.int64]

#: Unused addresses are left out where they are more than this share of what is used.
_UNUSED = 1 / 200
#: Shorter blocks, as a share of the window, never stand alone.
_SHORTEST = 1 / 400
#: Orders in which blocks are packed; their axis begins at its far end.
PACKED = ("site", "fit")
#: Widths that are roots or logarithms are counted in so many parts of 1.
_PARTS = 1024


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Blocks along the axis.

    Attributes
    ----------
    pyramid : Pyramid
    total : float
        The length of the axis, in bytes (or their roots or logarithms).
    districts : Districts
        Where call sites lie, where they are the order.
    regions : int64 (k,)
        Positions at which a run of used addresses begins, where they are the order.
    brief : int
        Blocks that are left out: they live at no moment, and too short to be seen.
    """

    pyramid: Pyramid
    total: float
    districts: Districts
    regions: Ints
    brief: int = 0


@cached_with_trace()
def memory_use(trace: Trace) -> MemoryUse:
    """Return the memory use of ``trace``, cached as long as the trace."""
    return MemoryUse(trace)


#: What an arrangement follows from: order, width and sites of the parameters, whether blocks are left out
#: that are too short to be seen, and the window.
Order = tuple[str, str, str, bool, tuple[int, int]]


def order_of(p: Parameters, window: tuple[int, int]) -> Order:
    """Return what the arrangement of a window follows from.

    Parameters
    ----------
    p : Parameters
        ``order``, ``width``, ``sites`` and ``height`` are read.
    window : (int, int)
        Nanoseconds.

    Returns
    -------
    Order
    """
    return p.order, p.width, p.sites, p.height != "access", window


def arrange(trace: Trace, p: Parameters, window: tuple[int, int]) -> Arrangement:
    """Order the blocks of a window; the arrangement of the last parameters is cached.

    Parameters
    ----------
    trace : Trace
    p : Parameters
        ``order``, ``width``, ``sites`` and ``height`` are read.
    window : (int, int)
        Nanoseconds.

    Returns
    -------
    Arrangement

    Raises
    ------
    UsageError
        If no call site has such a name, or the recording has no addresses.
    """
    return arranged(trace, *order_of(p, window))


@cached_with_trace(most=2)
def moments_of(trace: Trace, window: tuple[int, int]) -> Moments:
    """Return the moments of a window of a trace.

    Parameters
    ----------
    trace : Trace
    window : (int, int)
        Nanoseconds.

    Returns
    -------
    Moments
    """
    return find_moments(memory_use(trace).blocks, window)


@cached_with_trace(most=1)
def arranged(
    trace: Trace, by: str, measure: str, names: str, visible: bool, window: tuple[int, int]
) -> Arrangement:
    """Return the blocks of a window in order; the last arrangement of a trace is kept.

    Parameters
    ----------
    trace : Trace
    by : str
        A value of the parameter ``order``.
    measure : str
        A value of the parameter ``width``.
    names : str
        Call sites with commas between them; empty: all.
    visible : bool
        Whether blocks are left out that are too short to be seen.
    window : (int, int)
        Nanoseconds.

    Returns
    -------
    Arrangement

    Raises
    ------
    UsageError
        If no call site has such a name, or the recording has no addresses to order by.
    """
    use, moments = memory_use(trace), moments_of(trace, window)
    blocks, sites = use.blocks, use.sites
    if by == "address" and not use.has_addresses:
        raise UsageError("order=address: this recording has no addresses; use order=creation")
    shown = (blocks.born < window[1]) & (blocks.died > window[0])
    wanted = [text.strip().lower() for text in names.split(",") if text.strip()]
    if wanted:
        fits = np.array([any(text in name.lower() for text in wanted) for name in sites.name], np.bool_)
        if not fits.any():
            raise UsageError(f"sites={names}: no call site has such a name ('tracevis3d memory' lists them)")
        shown &= fits[sites.of_block]
    lone, brief = np.empty(len(blocks), np.bool_), 0
    for part in blocks.parts():
        until = np.minimum(blocks.died[part], min(blocks.end, window[1]))
        lone[part] = until - np.maximum(blocks.born[part], window[0]) >= _SHORTEST * (window[1] - window[0])
    lives = moments.of(blocks) if by in PACKED or (visible and by != "creation") else None
    # The paper's axis is all that is ever allocated.
    if visible and by != "creation" and lives is not None:
        seen = shown & (lone | (lives[0] < lives[1]))
        brief = int(np.count_nonzero(shown)) - int(np.count_nonzero(seen))
        shown = seen
    order = np.flatnonzero(shown).astype(np.int32)
    taken = blocks.size
    if measure != "bytes" and by != "address":
        size = blocks.size.astype(np.float64)
        taken = np.round(_PARTS * (np.sqrt(size) if measure == "sqrt" else np.log2(1 + size))).astype(
            np.int64
        )
    if by == "address":
        at = blocks.row_address[blocks.row[order]]
        return _by_address(use, order[np.argsort(at, kind="stable")], moments, lone, brief)
    if by in PACKED:
        of = sites.of_block if by == "site" else np.zeros(len(blocks), np.int32)
        packed = pack_groups(blocks, order, of, len(sites) if by == "site" else 1, taken, moments, lives)
        made = Pyramid(
            blocks, packed.order, packed.low, taken, moments, lone[packed.order], bounds=packed.bounds,
            lives=lives,
        )  # fmt: skip
        districts = packed.districts if by == "site" else NO_DISTRICTS
        return Arrangement(made, max(float(packed.total), 1.0), districts, _NOTHING, brief)
    if by == "lifetime":
        order = order[np.lexsort((blocks.born[order], -blocks.died[order]))]
    wide = taken[order]
    low, total = np.cumsum(wide) - wide, float(wide.sum())
    made = Pyramid(blocks, order, low, taken, moments)
    return Arrangement(made, max(total, 1.0), NO_DISTRICTS, _NOTHING, brief)


_NOTHING = np.empty(0, np.int64)


def _by_address(
    use: MemoryUse, order: NDArray[np.int32], moments: Moments, lone: NDArray[np.bool_], brief: int
) -> Arrangement:
    """Lay blocks where their addresses are; long unused stretches are cut short."""
    blocks = use.blocks
    if not len(order):
        made = Pyramid(blocks, order, np.empty(0, np.int64), blocks.size, moments)
        return Arrangement(made, 1.0, NO_DISTRICTS, _NOTHING, brief)
    low = blocks.row_address[blocks.row[order]]
    low = (low - low[0]).astype(np.int64)
    reach = np.maximum.accumulate(low + blocks.size[order])
    gap = np.maximum(low[1:] - reach[:-1], 0)
    # What is used with the gaps that stay: the limit follows from what is left, smallest gaps first.
    used = int(reach[-1] - gap.sum())
    limit = max(int(used * _UNUSED), 1)
    long = gap > limit
    removed = np.concatenate([[0], np.cumsum(np.where(long, gap - limit, 0))])
    low, total = low - removed, float(reach[-1] - removed[-1])
    regions = np.concatenate([[0], np.flatnonzero(long) + 1]).astype(np.int64)
    made = Pyramid(blocks, order, low, blocks.size, moments, lone[order])
    return Arrangement(made, max(total, 1.0), NO_DISTRICTS, regions, brief)
