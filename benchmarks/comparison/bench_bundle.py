"""Bundling against d3-hierarchy's paths with d3-shape's curveBundle under node, at as many samples."""

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

from benchmarks.measure import best, row
from tracevis3d.kernels.layout.bundle import fold_tubes
from tracevis3d.layout.buffers import Buffers
from tracevis3d.layout.bundle import Routes, bundle
from tracevis3d.places import cache_root

LEAVES, BETA, SAMPLES = 1500, 0.85, 64
PACKAGES = ("d3-hierarchy@3.1.2", "d3-shape@3.2.0")

#: Bundles as d3's examples do, but into an array of points instead of the text of an SVG path.
D3_SCRIPT = """
import fs from "node:fs";
const [hierarchyModule, shapeModule, data, out, n, edges, beta, samples] = process.argv.slice(2);
const { hierarchy } = await import(hierarchyModule);
const { line, curveBundle } = await import(shapeModule);
const raw = fs.readFileSync(data);
const N = Number(n), E = Number(edges), S = Number(samples);
const parent = new Int32Array(raw.buffer, raw.byteOffset, N);
const x = new Float32Array(raw.buffer, raw.byteOffset + 4 * N, N);
const y = new Float32Array(raw.buffer, raw.byteOffset + 8 * N, N);
const ends = new Int32Array(raw.buffer, raw.byteOffset + 12 * N, 2 * E);
const rows = Array.from({ length: N }, (_, i) => ({ id: i }));
for (let i = 0; i < N; i++) if (parent[i] >= 0) (rows[parent[i]].children ??= []).push(rows[i]);
const root = hierarchy(rows[0]);
const node = new Array(N);
root.each(d => { node[d.data.id] = d; d.x = x[d.data.id]; d.y = y[d.data.id]; });
const piece = new Float64Array(8 * 4096);
let pieces = 0, px = 0, py = 0;
const context = {
  moveTo(a, b) { px = a; py = b; },
  lineTo(a, b) { this.bezierCurveTo(px + (a - px) / 3, py + (b - py) / 3,
    px + 2 * (a - px) / 3, py + 2 * (b - py) / 3, a, b); },
  bezierCurveTo(a, b, c, d, e, f) {
    const k = 8 * pieces++;
    piece[k] = px; piece[k + 1] = py; piece[k + 2] = a; piece[k + 3] = b;
    piece[k + 4] = c; piece[k + 5] = d; piece[k + 6] = px = e; piece[k + 7] = py = f;
  },
};
const draw = line().curve(curveBundle.beta(Number(beta))).x(d => d.x).y(d => d.y).context(context);
const result = new Float32Array(2 * S * E);
let fastest = Infinity;
for (let run = 0; run < 5; run++) {
  const started = performance.now();
  for (let e = 0; e < E; e++) {
    pieces = 0;
    draw(node[ends[2 * e]].path(node[ends[2 * e + 1]]));
    for (let s = 0; s < S; s++) {
      const place = s / (S - 1) * pieces, k = Math.min(Math.floor(place), pieces - 1);
      const u = place - k, v = 1 - u, j = 8 * k, o = 2 * (S * e + s);
      const a = v * v * v, b = 3 * v * v * u, c = 3 * v * u * u, d = u * u * u;
      result[o] = a * piece[j] + b * piece[j + 2] + c * piece[j + 4] + d * piece[j + 6];
      result[o + 1] = a * piece[j + 1] + b * piece[j + 3] + c * piece[j + 5] + d * piece[j + 7];
    }
  }
  fastest = Math.min(fastest, performance.now() - started);
}
fs.writeFileSync(out, result.subarray(0, 2 * S * Math.min(E, 1000)));
console.log(JSON.stringify({ ms: fastest }));
"""


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    parent, point, leaves = tree()
    rng = np.random.default_rng(1)
    result = []
    buffers = Buffers()
    for edges in (10_000, 100_000):
        ends = leaves[rng.integers(0, len(leaves), (edges, 2))].astype(np.int32)
        ends = ends[ends[:, 0] != ends[:, 1]]
        ours = partial(
            bundle, parent, point, ends[:, 0], ends[:, 1], beta=BETA, samples=SAMPLES, buffers=buffers
        )
        ours()
        routes, time = best(15, ours)
        found = against_d3(parent, point, ends)
        if found is not None:
            peer, theirs = found
            # The first and the last piece of d3 are lines, sampled evenly: the middle is the same curve.
            paths = routes.point.reshape(-1, SAMPLES, 3)[: len(theirs), :, :2]
            middle = slice(SAMPLES // 2 - 1, SAMPLES // 2 + 1)
            assert np.abs(paths[:, middle] - theirs[:, middle]).max() < 1e-5
            result.append(
                row(f"bundle: {len(ends):,} edges, {SAMPLES} samples", time, peer, "d3 path + curveBundle")
            )
        if edges == 100_000:
            result.append(tubes(routes))
    return result


def tree() -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]:
    """Return a tree with 1,500 leaves, radially laid out, and which nodes are leaves."""
    parent, layer = [-1], [0]
    rng = np.random.default_rng(0)
    while len(layer) < LEAVES:
        children = []
        for node in layer:
            for _ in range(int(rng.integers(2, 5))):
                children.append(len(parent))
                parent.append(node)
        layer = children
    parents = np.array(parent, np.int32)
    depth = np.zeros(len(parents))
    for i in range(1, len(parents)):
        depth[i] = depth[parents[i]] + 1
    angle = rng.uniform(0, 2 * np.pi, len(parents))
    point = np.stack([depth * np.cos(angle), depth * np.sin(angle), depth], axis=1).astype(np.float32)
    return parents, point, np.setdiff1d(np.arange(len(parents)), parents)


def tubes(routes: Routes) -> dict[str, Any]:
    """Measure the arrays of tubes in space, against NumPy's operations on all points."""
    n, m = len(routes), len(routes.point)
    ends, pair = np.ones((n, 4), np.float32), np.ones((n, 2), np.float32)
    point, radius = np.empty((m, 3), np.float32), np.empty((m, 2), np.float32)
    lift = np.zeros(n, np.float32)
    ours = partial(
        fold_tubes,
        routes.first,
        routes.point,
        ends,
        pair,
        pair,
        lift,
        np.float32(0.2),
        np.float32(0),
        point,
        radius,
    )
    ours()
    _, time = best(5, ours)
    _, peer = best(3, partial(numpy_tubes, routes, ends, pair))
    return row(f"bundle: paths and radii of {n:,} tubes", time, peer, "the same in NumPy")


def numpy_tubes(routes: Routes, ends: Any, pair: Any) -> tuple[Any, Any]:
    """Return the points and radii of tubes of equally many samples."""
    path = routes.point.reshape(len(routes), -1, 3)
    step = np.hypot(np.diff(path[..., 0], axis=1), np.diff(path[..., 1], axis=1))
    arc = np.concatenate([np.zeros((len(path), 1), np.float32), np.cumsum(step, axis=1)], axis=1)
    t = arc / np.maximum(arc[:, -1:], 1e-12)
    phi = 0.2 + 0.4 * (1 + np.cos(2 * np.pi * t))
    across = path[:, -1, 1] - path[:, 0, 1]
    come = np.clip((path[..., 1] - path[:, :1, 1]) / np.where(across == 0, 1, across)[:, None], 0, 1)
    y = ends[:, :1] + come * (ends[:, 2:3] - ends[:, :1])
    z = ends[:, 1:2] + come * (ends[:, 3:4] - ends[:, 1:2])
    radius = phi * ((1 - t) * pair[:, :1] + t * pair[:, 1:]) / 2
    return np.stack([path[..., 0], y, z], axis=2), radius


def against_d3(
    parent: NDArray[np.int32], point: NDArray[np.float32], ends: NDArray[np.int32]
) -> tuple[float, NDArray[np.float32]] | None:
    """Return d3's milliseconds and its first thousand paths; None where node or the packages can't be had."""
    modules = d3_modules()
    if modules is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        data, out, script = (Path(folder) / name for name in ("tree.bin", "out.bin", "bundle.mjs"))
        script.write_text(D3_SCRIPT)
        columns = (parent, point[:, 0].copy(), point[:, 1].copy(), ends)
        data.write_bytes(b"".join(column.tobytes() for column in columns))
        sizes = [str(x) for x in (len(parent), len(ends), BETA, SAMPLES)]
        done = subprocess.run(
            ["node", script, *modules, data, out, *sizes], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        paths = np.fromfile(out, np.float32).reshape(-1, SAMPLES, 2)
    return float(json.loads(done.stdout)["ms"]), paths


def d3_modules() -> list[str] | None:
    """Return the paths of d3-hierarchy and d3-shape, installed on demand; None where that fails."""
    folder = cache_root() / "benchmarks" / "d3-bundle"
    found = [folder / "node_modules" / name.split("@")[0] / "src" / "index.js" for name in PACKAGES]
    npm = shutil.which("npm")
    if shutil.which("node") is None:
        return None
    if not all(path.exists() for path in found):
        if npm is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [npm, "install", "--silent", "--no-save", "--prefix", str(folder), *PACKAGES],
            capture_output=True, check=False, env=os.environ,
        )  # fmt: skip
    return [str(path) for path in found] if all(path.exists() for path in found) else None
