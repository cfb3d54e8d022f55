"""Ten million allocations: pairing, the segment tree, cuts of it, curves; against pandas and plain NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tracevis3d.analysis.allocation_curves import curves, site_table
from tracevis3d.analysis.allocation_sites import Sites
from tracevis3d.analysis.allocations import find_blocks
from tracevis3d.analysis.allocations_pyramid import Pyramid
from tracevis3d.trace.model import ALLOC, FREE, Memory

from .bench_subtrees import best, row

BLOCKS = 10_000_000


def program(n: int) -> Memory:
    """Return ``n`` allocations, nearly all of them freed soon, at addresses that are given out again."""
    rng = np.random.default_rng(0)
    born = 3 * np.arange(n, dtype=np.int64)
    died = born + 1 + 3 * rng.geometric(1 / 2000, n)
    time = np.concatenate([born, died])
    # A block takes the place of one that died long before it: 2 ** 17 places.
    address = np.tile((np.arange(n, dtype=np.uint64) % (1 << 17)) * np.uint64(4096), 2)
    size = np.concatenate([(rng.pareto(1.2, n) * 64).astype(np.int64) + 8, np.zeros(n, np.int64)])
    kind = np.repeat(np.array([ALLOC, FREE], np.uint8), n)
    order = np.argsort(time, kind="stable")
    nobody = np.zeros(2 * n, np.int32)
    return Memory(time[order], address[order], size[order], kind[order], nobody, np.full(2 * n, -1, np.int64))


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    memory = program(BLOCKS)
    end = int(memory.time[-1]) + 1
    small = program(BLOCKS // 50)
    find_blocks(small, end)
    blocks, pairing = best(3, partial(find_blocks, memory, end))
    _, peer = best(2, partial(dictionary, small))
    what = f"memory: {BLOCKS:,} allocations"
    result = [row(f"{what} paired with frees", pairing, 50 * peer, "a Python dict, extrapolated")]
    of = (np.arange(BLOCKS) % 500).astype(np.int32)
    sites = Sites(of, np.full(500, -1, np.int32), np.zeros(500, np.int32), tuple(map(str, range(500))))
    _, table = best(3, partial(site_table, blocks, sites))
    _, series = best(3, partial(curves, blocks, (0, end), 256, end // 20))
    result.append(row(f"{what}: live bytes and peaks of 500 call sites", table))
    result.append(row(f"{what}: curves", series))
    order = np.arange(BLOCKS, dtype=np.int32)
    width = blocks.size.astype(np.float64)
    low = np.cumsum(width) - width
    pyramid, built = best(3, partial(Pyramid, blocks, order, low, width, (0, end)))
    result.append(row(f"{what}: segment tree of 256 cells of time", built))
    total = float(width.sum())
    for share in (1.0, 0.01, 0.0001):
        high = 0.5 * total + 0.5 * share * total
        left = high - share * total
        items, time = best(7, partial(pyramid.cut, left, high, share * total / 600))
        inside = int((items.stop - items.first).sum())
        result.append(
            row(f"{what}: {100 * share:g} % of the bytes, {inside:,} blocks as {len(items)} items", time)
        )
    return result


def dictionary(memory: Memory) -> dict[int, int]:
    """Pair allocations with frees as one would in Python."""
    live: dict[int, int] = {}
    died = [-1] * len(memory)
    for i, (kind, address) in enumerate(zip(memory.kind.tolist(), memory.address.tolist(), strict=True)):
        if kind == ALLOC:
            live[address] = i
        elif address in live:
            died[live.pop(address)] = i
    return live
