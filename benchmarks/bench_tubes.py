"""Tubes: the sweep kernel and the Blender mesh, against Blender's own curve bevel and VTK's tube filter."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

SAMPLES, SIDES = 64, 12


def paths(n: int) -> np.ndarray:
    """Return n smooth paths of 64 points, float32 (n, 64, 3)."""
    rng = np.random.default_rng(1)
    u = np.linspace(0, 1, SAMPLES)[None]
    a, b, c = (rng.random((n, 1)) for _ in range(3))
    return np.stack([100 * a + 10 * u, np.sin(6 * u + 9 * b), np.cos(5 * u * c)], axis=2).astype(np.float32)


def best(run: Any, times: int = 3) -> float:
    """Return the seconds of the fastest of several runs."""
    found = []
    for _ in range(times):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return min(found)


def rows() -> list[dict[str, Any]]:
    """Measure; ratio is peer / ours."""
    import bpy

    from tracevis3d.kernels.sweep import sweep_frames, sweep_rings
    from tracevis3d.layout.tube import Buffers, sweep
    from tracevis3d.scene import meshes

    n = 10_000
    point = paths(n).reshape(-1, 3)
    first = np.arange(0, n * SAMPLES + 1, SAMPLES, dtype=np.int64)
    radius = np.full((len(point), 2), 0.02, np.float32)
    color, light = np.ones((n, 3), np.float32), np.array([0, -1, 0, 0.4, 0.6, 0.5], np.float32)
    buffers = Buffers()
    frame, position = (
        np.empty((len(point), 6), np.float32),
        np.empty((len(point) + 2 * n, SIDES, 3), np.float32),
    )
    circle = np.stack([np.cos(np.arange(SIDES)), np.sin(np.arange(SIDES))], axis=1).astype(np.float32)
    side = np.zeros(3, np.float32)

    def kernel() -> None:
        sweep_frames(point, first, side, frame)
        sweep_rings(point, radius, first, frame, circle, position)

    kernel()
    ours_kernel = best(kernel, 5)

    def mesh(count: int) -> None:
        part = first[: count + 1]
        made = sweep(
            point[: part[-1]], radius[: part[-1]], part, (1, 0, 0), color[:count], light, SIDES, buffers
        )
        built = meshes.polygons(
            "tubes", made.position, made.corner, made.face, made.edge, made.corner_edge, smooth=True
        )
        shown = bpy.data.objects.new("tubes", built)
        bpy.context.scene.collection.objects.link(shown)
        bpy.context.evaluated_depsgraph_get().update()
        bpy.data.objects.remove(shown)
        bpy.data.meshes.remove(built)

    def bevel(count: int) -> None:
        curve: Any = bpy.data.curves.new("bevel", "CURVE")
        curve.dimensions, curve.bevel_depth, curve.bevel_resolution = "3D", 0.02, 4
        for i in range(count):
            spline = curve.splines.new("POLY")
            spline.points.add(SAMPLES - 1)
            four = np.ones((SAMPLES, 4), np.float32)
            four[:, :3] = point[i * SAMPLES : (i + 1) * SAMPLES]
            spline.points.foreach_set("co", four.reshape(-1))
        shown = bpy.data.objects.new("bevel", curve)
        bpy.context.scene.collection.objects.link(shown)
        bpy.context.evaluated_depsgraph_get().update()
        shown.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        bpy.data.objects.remove(shown)
        bpy.data.curves.remove(curve)

    mesh(10)
    count = 1000
    ours, theirs = best(lambda: mesh(count)), best(lambda: bevel(count))
    out = [
        {
            "name": f"tubes in Blender, {count:,} of {SAMPLES} points and {SIDES} sides",
            "ours": ours * 1e3,
            "peer": theirs * 1e3,
            "peer_name": "Blender curve with bevel",
            "unit": "ms",
            "ratio": theirs / ours,
        }
    ]
    try:
        import pyvista
    except ImportError:
        return out
    lines = np.hstack([np.full((n, 1), SAMPLES), np.arange(n * SAMPLES).reshape(n, SAMPLES)]).reshape(-1)
    data = pyvista.PolyData(point, lines=lines)
    theirs = best(lambda: data.tube(radius=0.02, n_sides=SIDES), 3)
    out.append(
        {
            "name": f"tube vertices, {n:,} of {SAMPLES} points and {SIDES} sides",
            "ours": ours_kernel * 1e3,
            "peer": theirs * 1e3,
            "peer_name": "VTK's tube filter through pyvista",
            "unit": "ms",
            "ratio": theirs / ours_kernel,
        }
    )
    return out


if __name__ == "__main__":
    for row in rows():
        print(row)
