"""Ten million allocations: pairing, the segment tree, cuts of it, the view and its detail nearer by.

Against plain Python and NumPy.
"""

from __future__ import annotations

import resource
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import best, row
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.memory.blocks import Blocks, find_blocks
from tracevis3d.features.memory.call_sites import Sites
from tracevis3d.features.memory.curves import site_table
from tracevis3d.features.memory.live.live_view import Memory as Live
from tracevis3d.features.memory.moments import Moments, find_moments
from tracevis3d.features.memory.pyramid import Items, Pyramid
from tracevis3d.features.memory.view.detail import LevelOfDetail
from tracevis3d.features.memory.view.parameters import Parameters
from tracevis3d.features.memory.view.view import VIEW
from tracevis3d.formats.names import split
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.protocol import Batch, Names, Welcome
from tracevis3d.live.stream.pages import Ring
from tracevis3d.progress import silent
from tracevis3d.trace.model import ALLOC, FREE, Memory, Source, Trace
from tracevis3d.trace.recording import Recording

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
    _, peer = best(1, partial(sorted_sites, blocks, of))
    result.append(
        row(f"{what}: live bytes and peaks of 500 call sites", table, peer, "NumPy, sorted by site")
    )
    order = np.arange(BLOCKS, dtype=np.int32)
    low = np.cumsum(blocks.size) - blocks.size
    moments, followed = best(3, partial(find_moments, blocks, (0, end)))
    _, peer = best(1, partial(numpy_moments, blocks, moments))
    result.append(row(f"{what}: the moments of most bytes in 256 cells", followed, peer, "NumPy, sorted"))
    pyramid, built = best(3, partial(Pyramid, blocks, order, low, blocks.size, moments))
    total = float(blocks.size.sum())
    for share in (1.0, 0.01, 0.0001):
        high = 0.5 * total + 0.5 * share * total
        cut = partial(pyramid.cut, high - share * total, high, share * total / 600)
        items, spent = best(7, cut)
        live, peer = best(1, partial(numpy_profiles, blocks, pyramid, items))
        assert np.array_equal(live, items.live)
        inside = int((items.stop - items.first).sum())
        if share == 1.0:
            name = f"{what}: segment tree with profiles of 256 cells, once"
            result.append(row(name, built, peer, "NumPy, live bytes alone, each time"))
        name = f"{what}: {100 * share:g} % of the bytes, {inside:,} blocks as {len(items)} items"
        result.append(row(name, spent, peer, "NumPy, live bytes alone"))
    del blocks, pyramid, items
    return [*result, *view_rows(memory), *live_rows()]


def live_rows(rate: int = 100_000, window_s: int = 10) -> list[dict[str, Any]]:
    """Measure the live view: what comes is taken tick by tick, and all is arranged anew now and then."""
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(Names("functions", 0, tuple(f"module.site{i}" for i in range(500))))
    growing.name(Names("threads", 0, ((1, 1, "main"),)))
    growing.name(Names("frames", 0, tuple((i, -1, i) for i in range(500))))
    flow = Live(growing, window_s * 1_000_000_000)
    ring, given = Ring(flow), program(rate * window_s)
    # A row each ``1 / rate`` seconds; two ticks of the window more than it is long.
    step, ticks = max(rate // 30, 1), []
    for tick in range(33 * window_s):
        part = slice(tick * step, (tick + 1) * step)
        n = len(given.kind[part])
        time_ = (np.arange(n) + tick * step) * (1_000_000_000 // rate)
        growing.add(
            Batch("memory", 0, 0, 0, {
                "kind": given.kind[part], "thread": np.zeros(n, np.uint32), "time": time_,
                "address": given.address[part], "size": given.size[part],
                "stack": (np.arange(n) % 500).astype(np.int32),
            })
        )  # fmt: skip
        started = time.perf_counter()
        ring.advance(growing.now)
        ticks.append(1e3 * (time.perf_counter() - started))
        if tick % 60 == 59:
            ring.settle()
    settled = sorted(ticks[3 * window_s :])
    usual, long = settled[len(settled) // 2], settled[int(0.99 * len(settled))]
    orders = []
    for by_site in (True, False, True):
        flow.by_site = by_site
        started = time.perf_counter()
        flow._cut(growing.now)
        orders.append(1e3 * (time.perf_counter() - started))
    what = f"live memory: {rate:,} rows a second, {len(flow.blocks.blocks):,} blocks in the window"
    anew = min(orders)
    return [
        row(f"{what}: a tick", usual, anew, "all arranged anew"),
        row(f"{what}: the longest of 100 ticks", long, anew, "all arranged anew"),
    ]


def view_rows(memory: Memory) -> list[dict[str, Any]]:
    """Measure the view memory of all blocks: drawn, built, saved, opened, and looked at from nearer by."""
    what = f"memory: {BLOCKS:,} allocations of 500 call sites"
    trace = recorded(memory)
    drawing, drawn = best(1, partial(VIEW.draw, (trace,), Parameters(), Frame(), silent))
    _, again = best(2, partial(VIEW.draw, (trace,), Parameters(opening=0.9), Frame(), silent))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    pieces = drawing.counts["pieces"]
    result = [
        row(f"{what}: drawn, {pieces:,} pieces; {peak:.1f} GiB at most with all of this run", drawn, again,
            "drawn again with another opening")
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.blend"
        started = time.perf_counter()
        render(trace, path)
        saved = 1e3 * (time.perf_counter() - started)
        _, opened = best(3, partial(open_blend, path))
        size = path.stat().st_size / 1e6
        result.append(
            row(f"{what}: its .blend of {size:.1f} MB opened", opened, saved, "drawn, built and saved")
        )
    closer = LevelOfDetail((trace,), Parameters(), Frame())
    (pane,) = closer.panes
    low, high = pane.window
    for nearer in (2, 10, 100, 1000, 100_000):
        middle, half = low + 0.37 * (high - low), 0.5 * (high - low) / nearer
        look = partial(closer.look, 0, (middle - half, middle + half), nearer * pane.pixels_per_unit)
        near, spent = best(7, look)
        blocks = sum(len(element) for element in near.parts)
        result.append(row(f"{what}: {nearer:,} times nearer, {blocks:,} pieces", spent, again, "drawn again"))
    return result


def recorded(memory: Memory) -> Trace:
    """Return a trace with these rows, allocated at 500 call sites in turn."""
    recording = Recording()
    recording.thread(1, 1)
    functions = [recording.function(f"module.site{i}") for i in range(500)]
    recording.add_stacks(function=functions, parent=[-1] * 500, line=list(range(500)))
    stack = (np.arange(len(memory)) % 500).astype(np.int64)
    recording.add_memory(
        time=memory.time, address=memory.address, size=memory.size, kind=memory.kind,
        thread=np.zeros(len(memory), np.int32), stack=stack,
    )  # fmt: skip
    return recording.finish(Source(path="benchmark"), split)


def render(trace: Trace, path: Path) -> None:
    """Write the view as a .blend."""
    from tracevis3d import api

    api.Figure("memory", (trace,)).render(path)


def open_blend(path: Path) -> None:
    """Open a .blend, and let Blender evaluate all of it."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))
    bpy.context.evaluated_depsgraph_get().update()


def numpy_profiles(blocks: Blocks, pyramid: Pyramid, items: Items) -> NDArray[np.int64]:
    """Return the live bytes of each item in each cell by looking at each of its blocks."""
    which = pyramid.order[items.first[0] : items.stop[-1]]
    item = np.repeat(np.arange(len(items)), items.stop - items.first)
    born = np.searchsorted(pyramid.moments.row, blocks.row[which])
    ended = np.where(blocks.free_row < 0, 1 << 60, blocks.free_row)
    died = np.searchsorted(pyramid.moments.row, ended[which])
    change = np.zeros((len(items), pyramid.cells + 1), np.int64)
    np.add.at(change, (item, born), blocks.size[which])
    np.subtract.at(change, (item, died), blocks.size[which])
    return np.asarray(np.cumsum(change, axis=1)[:, : pyramid.cells])


def numpy_moments(blocks: Blocks, moments: Moments) -> NDArray[np.int64]:
    """Return the most bytes within each cell from births and deaths sorted by row."""
    row = np.concatenate([blocks.row, blocks.free_row[blocks.free_row >= 0]])
    change = np.concatenate([blocks.size, -blocks.size[blocks.free_row >= 0]])
    order = np.argsort(row, kind="stable")
    live, first = np.cumsum(change[order]), np.searchsorted(blocks.time[row[order]], moments.edge[:-1])
    return np.asarray(np.maximum.reduceat(live, np.minimum(first, len(live) - 1)))


def sorted_sites(blocks: Blocks, of: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the peak of each site from births and deaths sorted by site."""
    site = np.concatenate([of, of])
    change = np.concatenate([blocks.size, -blocks.size])
    when = np.concatenate([blocks.row, blocks.free_row])
    order = np.lexsort((when, site))
    running = np.cumsum(change[order])
    first = np.searchsorted(site[order], np.arange(of.max() + 1))
    return np.asarray(np.maximum.reduceat(running, first))


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
