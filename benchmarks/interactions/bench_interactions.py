"""Bundled chords of a radial hierarchy against d3 and datashader; a million calls as an image.

Bundling is measured on one core, as d3 is. datashader's ``hammer_bundle`` is another algorithm (it knows no
hierarchy), named because it is what Python users have.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.comparison.bench_bundle import BETA, SAMPLES, against_d3
from benchmarks.measure import best, row
from tracevis3d.features.interactions.hierarchy import build
from tracevis3d.features.interactions.view.radial import control_points, place_sectors
from tracevis3d.features.interactions.view.sequence import (
    contributions,
    even_rows,
    frequencies,
    sequence_image,
)
from tracevis3d.layout import parallel as sharing
from tracevis3d.layout.buffers import Buffers
from tracevis3d.layout.bundle import bundle
from tracevis3d.places import cache_root

ELEMENTS, CALLS, PAIRS = 1500, 1_000_000, 3000

HAMMER_SCRIPT = """
import json, sys, time
import numpy as np, pandas as pd
from datashader.bundling import hammer_bundle
data = np.load(sys.argv[1])
nodes = pd.DataFrame(data["nodes"], columns=["x", "y"])
edges = pd.DataFrame(data["edges"], columns=["source", "target"])
hammer_bundle(nodes, edges[:50])  # compiles
started = time.perf_counter()
hammer_bundle(nodes, edges)
print(json.dumps({"ms": 1e3 * (time.perf_counter() - started)}))
"""


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    parent, point, leaves = drum()
    rng = np.random.default_rng(1)
    buffers, result = Buffers(), []
    threads, sharing.THREADS = sharing.THREADS, 1
    try:
        for edges in (10_000, 100_000):
            ends = leaves[rng.integers(0, len(leaves), (edges, 2))].astype(np.int32)
            ends = ends[ends[:, 0] != ends[:, 1]]
            ours = partial(
                bundle, parent, point, ends[:, 0], ends[:, 1],
                beta=BETA, samples=SAMPLES, buffers=buffers,
            )  # fmt: skip
            ours()
            routes, time = best(15, ours)
            what = f"chords: {len(ends):,} between {len(leaves):,} elements, {SAMPLES} samples, one core"
            if (found := against_d3(parent, point, ends)) is not None:
                peer, theirs = found
                middle = slice(SAMPLES // 2 - 1, SAMPLES // 2 + 1)
                paths = routes.point.reshape(-1, SAMPLES, 3)[: len(theirs), :, :2]
                assert np.abs(paths[:, middle] - theirs[:, middle]).max() < 1e-4
                result.append(row(what, time, peer, "d3 path + curveBundle"))
            if (slow := hammer(point[leaves, :2], ends, leaves)) is not None:
                result.append(row(what, time, slow, "datashader hammer_bundle"))
    finally:
        sharing.THREADS = threads
    return [*result, *images()]


def drum() -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32]]:
    """Return the inner hierarchy of a drum: parents, control points, and which nodes are elements."""
    rng = np.random.default_rng(0)
    paths = [(*(f"{level}{rng.integers(0, 4)}" for level in range(5)), f"c{i}") for i in range(ELEMENTS)]
    hierarchy, _ = build(paths, np.ones(ELEMENTS), most=ELEMENTS)
    sectors = place_sectors(hierarchy.parent, hierarchy.extent, hierarchy.element, np.ones(ELEMENTS))
    point = control_points(hierarchy.parent, hierarchy.element, sectors.middle, 3.0)
    return hierarchy.parent, point, hierarchy.node


def images() -> list[dict[str, Any]]:
    """Measure a million calls as 1920 x 1080 pixels against the same with NumPy, row by row."""
    rng = np.random.default_rng(2)
    pair = (rng.zipf(1.3, CALLS) % PAIRS).astype(np.int32)
    ends = rng.integers(0, 1920, (PAIRS, 2))
    ends[:, 1] += ends[:, 0] == ends[:, 1]
    span = ends.astype(np.float64)
    ramp = np.stack([np.arange(256), np.arange(256)[::-1], np.full(256, 90), np.full(256, 255)], 1)
    colors = ramp.astype(np.uint8)
    edge, weight, buffers = even_rows(0, CALLS, 1080), contributions(-1.0), Buffers()
    count, counting = best(7, partial(frequencies, pair, PAIRS))
    ours = partial(sequence_image, pair, count, weight, edge, span, 1920, colors, buffers)
    ours()
    image, time = best(9, ours)
    some = 60
    plain, peer = best(1, partial(numpy_rows, pair, weight[count], edge, span, 1920, colors, some))
    assert np.abs(image[:some].astype(int) - plain).max() <= 2
    return [
        row(f"sequence: {CALLS:,} calls to 1920 x 1080, antialiased by importance", time, peer * 1080 / some,
            "NumPy, bar by bar, extrapolated"),
        row(f"sequence: contributions of {CALLS:,} calls", counting,
            best(1, partial(numpy_counts, pair[: CALLS // 10]))[1] * 10, "NumPy, extrapolated"),
    ]  # fmt: skip


def numpy_rows(
    pair: NDArray[np.int32], weight: NDArray[np.float64], edge: NDArray[np.float64],
    span: NDArray[np.float64], columns: int, ramp: NDArray[np.uint8], rows: int,
) -> NDArray[np.int64]:  # fmt: skip
    """Draw the first rows bar by bar: each distinct pair of a row adds to the columns that it covers."""
    out = np.zeros((rows, columns, 4), np.int64)
    x = np.arange(columns) + 0.5
    for r in range(rows):
        low, high = int(edge[r]), int(np.ceil(edge[r + 1]))
        i = np.arange(low, high)
        share = np.minimum(edge[r + 1], i + 1) - np.maximum(edge[r], i)
        sums = np.bincount(pair[low:high], share * weight[low:high], len(span))
        cover, place = np.zeros(columns), np.zeros(columns)
        for p in np.flatnonzero(sums).tolist():
            a, b = span[p]
            part = slice(int(min(a, b)), int(max(a, b)))
            cover[part] += sums[p]
            place[part] += sums[p] * (x[part] - a) / (b - a)
        total = sums.sum()
        t = np.clip(np.divide(place, cover, out=np.zeros(columns), where=cover > 0), 0, 1) * (len(ramp) - 1)
        k = np.minimum(t.astype(np.int64), len(ramp) - 2)
        u = (t - k)[:, None]
        color = ramp[k, :3] * (1 - u) + ramp[k + 1, :3] * u
        out[r, :, :3] = np.where(cover[:, None] / total > 1e-9, np.rint(color), 0)
        out[r, :, 3] = np.rint(cover / total * 255)
    return out


def numpy_counts(pair: NDArray[np.int32], window: int = 25) -> NDArray[np.int64]:
    """Count each call's pair among its neighbours, for all calls at once."""
    n = len(pair)
    low = np.clip(np.arange(n) - window // 2, 0, n - window)
    return (pair[low[:, None] + np.arange(window)] == pair[:, None]).sum(axis=1)


def hammer(place: NDArray[np.float32], ends: NDArray[np.int32], leaves: NDArray[np.int32]) -> float | None:
    """Return datashader's milliseconds in an environment of its own; None where that can't be had."""
    python = _with_datashader()
    if python is None:
        return None
    number = np.zeros(int(leaves.max()) + 1, np.int64)
    number[leaves] = np.arange(len(leaves))
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "graph.npz", Path(folder) / "hammer.py"
        np.savez(data, nodes=place, edges=number[ends])
        script.write_text(HAMMER_SCRIPT)
        done = subprocess.run([python, script, data], capture_output=True, text=True, check=False)
    return float(json.loads(done.stdout)["ms"]) if done.returncode == 0 else None


def _with_datashader() -> Path | None:
    folder = cache_root() / "benchmarks" / "datashader"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        commands = (
            [sys.executable, "-m", "venv", str(folder)],
            [str(python), "-m", "pip", "install", "-q", "datashader", "dask", "scikit-image", "pandas"],
        )
        for command in commands:
            if subprocess.run(command, capture_output=True, check=False).returncode:
                return None
        (folder / "ready").touch()
    return python
