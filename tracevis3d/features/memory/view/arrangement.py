"""Where blocks lie side by side: their order, and their places along the axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....errors import UsageError
from ....trace.cached_results import cached_with_trace
from ....trace.model import Trace
from ..pyramid import Pyramid
from ..summary import MemoryUse
from .parameters import Parameters

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Unused addresses are left out where they are more than this share of what is used.
_UNUSED = 1 / 200
#: Shorter blocks, as a share of the window, never stand alone where blocks lie on top of each other in time.
_SHORTEST = 1 / 400


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Blocks along the axis.

    Attributes
    ----------
    pyramid : Pyramid
    total : float
        The length of the axis, in bytes (or their roots or logarithms).
    site_first : int64 (sites + 1,) or (0,)
        Positions at which each call site begins, where they are the order.
    regions : int64 (k,)
        Positions at which a run of used addresses begins, where they are the order.
    """

    pyramid: Pyramid
    total: float
    site_first: Ints
    regions: Ints


@cached_with_trace()
def memory_use(trace: Trace) -> MemoryUse:
    """Return the memory use of ``trace``, cached as long as the trace."""
    return MemoryUse(trace)


#: What an arrangement follows from: order, width and sites of the parameters, and the window.
Order = tuple[str, str, str, tuple[int, int]]


def order_of(p: Parameters, window: tuple[int, int]) -> Order:
    """Return what the arrangement of a window follows from.

    Parameters
    ----------
    p : Parameters
        ``order``, ``width`` and ``sites`` are read.
    window : (int, int)
        Nanoseconds.

    Returns
    -------
    Order
    """
    return p.order, p.width, p.sites, window


def arrange(trace: Trace, p: Parameters, window: tuple[int, int]) -> Arrangement:
    """Order the blocks of a window; the arrangement of the last parameters is cached.

    Parameters
    ----------
    trace : Trace
    p : Parameters
        ``order``, ``width`` and ``sites`` are read.
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


@cached_with_trace(most=1)
def arranged(trace: Trace, by: str, measure: str, names: str, window: tuple[int, int]) -> Arrangement:
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
    use = memory_use(trace)
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
    order = np.flatnonzero(shown).astype(np.int32)
    nothing = np.empty(0, np.int64)
    if by == "address":
        return _by_address(use, order[np.argsort(blocks.address[order], kind="stable")], window)
    site_first = nothing
    if by == "site":
        of = sites.of_block[order]
        order = order[np.argsort(of, kind="stable")]
        site_first = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(sites)))]).astype(np.int64)
    elif by == "lifetime":
        order = order[np.lexsort((blocks.born[order], -blocks.died[order]))]
    size = blocks.size[order].astype(np.float64)
    width = {"bytes": size, "sqrt": np.sqrt(size), "log": np.log2(1 + size)}[measure]
    low = np.cumsum(width) - width
    total = float(width.sum())
    return Arrangement(Pyramid(blocks, order, low, width, window), max(total, 1.0), site_first, nothing)


def _by_address(use: MemoryUse, order: NDArray[np.int32], window: tuple[int, int]) -> Arrangement:
    """Lay blocks where their addresses are; long unused stretches are cut short."""
    blocks = use.blocks
    nothing = np.empty(0, np.int64)
    if not len(order):
        return Arrangement(Pyramid(blocks, order, np.empty(0), np.empty(0), window), 1.0, nothing, nothing)
    base = blocks.address[order[0]]
    low = (blocks.address[order] - base).astype(np.float64)
    size = blocks.size[order].astype(np.float64)
    reach = np.maximum.accumulate(low + size)
    gap = np.maximum(low[1:] - reach[:-1], 0.0)
    # What is used with the gaps that stay: the limit follows from what is left, smallest gaps first.
    used = float(reach[-1] - gap.sum())
    limit = max(used * _UNUSED, 1.0)
    long = gap > limit
    removed = np.concatenate([[0.0], np.cumsum(np.where(long, gap - limit, 0.0))])
    low = low - removed
    total = float(reach[-1] - removed[-1])
    regions = np.concatenate([[0], np.flatnonzero(long) + 1]).astype(np.int64)
    lasted = np.minimum(blocks.until, window[1])[order] - np.maximum(blocks.born[order], window[0])
    lone = lasted >= _SHORTEST * (window[1] - window[0])
    return Arrangement(
        Pyramid(blocks, order, low, size, window, lone=lone), max(total, 1.0), nothing, regions
    )
