"""The level-of-detail cut against a scan of all calls, and against d3-hierarchy's partition under node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import HUGE, best, row
from tests.support import synthetic
from tracevis3d.layout.cut import CutBuffers, CutIndex
from tracevis3d.places import cache_root
from tracevis3d.trace.model import Calls

PIXELS = 1920
D3 = "d3-hierarchy@3.1.2"

#: Lays the tree out for a width in pixels and keeps what is at least one wide, as icicle views in d3 do.
D3_SCRIPT = """
import fs from "node:fs";
const { hierarchy, partition } = await import(process.argv[2]);
const [n, pixels] = [Number(process.argv[4]), Number(process.argv[5])];
const raw = fs.readFileSync(process.argv[3]);
const parent = new Int32Array(raw.buffer, raw.byteOffset, n);
const own = new Float64Array(raw.buffer, raw.byteOffset + 8 * Math.ceil(n / 2), n);
const nodes = new Array(n);
for (let i = 0; i < n; i++) {
  nodes[i] = { own: own[i] };
  if (parent[i] >= 0) (nodes[parent[i]].children ??= []).push(nodes[i]);
}
let fastest = Infinity, boxes = 0;
for (let run = 0; run < 2; run++) {
  const started = performance.now();
  const root = hierarchy(nodes[0]).sum(d => d.own);
  partition().size([pixels, root.height + 1])(root);
  boxes = 0;
  root.each(d => { if (d.x1 - d.x0 >= 1) boxes++; });
  fastest = Math.min(fastest, performance.now() - started);
}
console.log(JSON.stringify({ ms: fastest, boxes }));
"""


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    CutIndex.of(*synthetic.program(1000)).cut(0, 100, resolution_ns=50)  # compile
    result = []
    for n in (2_400_000, 14_000_000, *((100_000_000,) if HUGE else ())):
        calls, first, count = synthetic.program(n)
        index, built = best(3, partial(CutIndex.of, calls, first, count))
        _, peer = best(1, partial(np.lexsort, (calls.start, calls.depth)))
        result.append(row(f"cut: index of {n:,} calls", built, peer, "NumPy lexsort alone"))
        result += views(f"{n:,} calls", calls, index)
        if n == 2_400_000:
            result += against_d3(calls, index)
        del calls, index
    flat = synthetic.flat(14_000_001)
    result += views("one parent of 14,000,000", flat, CutIndex.of(flat, [0], [len(flat)]), zooms=(1, 100))
    return result


def views(
    name: str, calls: Calls, index: CutIndex, zooms: tuple[int, ...] = (1, 10, 100, 1000)
) -> list[dict[str, Any]]:
    """Measure windows by chance, a share of 1 / zoom of the trace each: the mean of the fastest of three."""
    random = np.random.default_rng(1)
    span = int(calls.end.max()) + 1
    buffers = CutBuffers()
    result = []
    for zoom in zooms:
        width = span // zoom
        windows = 1 if zoom == 1 else 20
        ours = peer = 0.0
        for t0 in random.integers(0, span - width + 1, windows).tolist():
            resolution = width / PIXELS
            cut, time = best(3, partial(index.cut, t0, t0 + width, 1, None, resolution, buffers=buffers))
            ours += time / windows
            if t0 and peer:
                continue
            seen, peer = best(2, partial(scan, calls, t0, t0 + width, resolution))
            assert np.array_equal(np.sort(cut.calls), seen)
        result.append(
            row(f"cut: {name}, {PIXELS} px, 1/{zoom} of the time", ours, peer, "NumPy scan without clusters")
        )
    return result


def scan(calls: Calls, t0: int, t1: int, resolution: float) -> NDArray[np.int64]:
    """Return the calls to show by themselves, by looking at all."""
    return np.flatnonzero((calls.end - calls.start >= resolution) & (calls.start < t1) & (calls.end >= t0))


def against_d3(calls: Calls, index: CutIndex) -> list[dict[str, Any]]:
    """Measure d3-hierarchy's layout of the whole tree; no row where node or the package can't be had."""
    module = d3_hierarchy()
    if module is None:
        return []
    from tracevis3d.analysis.measures import self_times

    span = int(calls.end.max()) + 1
    cut, ours = best(5, partial(index.cut, 0, span, resolution_ns=span / PIXELS))
    padding = np.zeros(len(calls) % 2, np.int32)
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "tree.bin", Path(folder) / "layout.mjs"
        script.write_text(D3_SCRIPT)
        data.write_bytes(
            calls.parent.astype(np.int32).tobytes()
            + padding.tobytes()
            + self_times(calls).astype(np.float64).tobytes()
        )
        done = subprocess.run(
            ["node", "--max-old-space-size=4096", script, module, data, str(len(calls)), str(PIXELS)],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    peer = json.loads(done.stdout)
    # d3 packs siblings without gaps, so a few boxes differ; the trees must be the same all the same.
    assert abs(peer["boxes"] - len(cut.calls)) <= 0.05 * len(cut.calls), (peer, len(cut.calls))
    return [
        row(
            f"cut: {len(calls):,} calls, {PIXELS} px, all of the time, laid out anew",
            ours,
            peer["ms"],
            "d3-hierarchy partition",
        )
    ]


def d3_hierarchy() -> str | None:
    """Return the path of d3-hierarchy, installed on demand; None where that fails."""
    folder = cache_root() / "benchmarks" / "d3"
    module = folder / "node_modules" / "d3-hierarchy" / "src" / "index.js"
    if not shutil.which("node"):
        return None
    if not module.exists():
        folder.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm")
        if npm is None:
            return None
        subprocess.run(
            [npm, "install", "--silent", "--no-save", "--prefix", str(folder), D3],
            capture_output=True,
            check=False,
            env=os.environ,
        )
    return str(module) if module.exists() else None
