"""Tubes: sweeping against VTK's tube filter, meshes against Blender's curve bevel, moving against making."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import numpy as np

SAMPLES, SIDES = 64, 12
#: Tubes, points and sides of the large case: the most that a comparison draws as one mesh.
MANY, FEW_SAMPLES, FEW_SIDES = 100_000, 32, 8


def paths(n: int, samples: int = SAMPLES) -> np.ndarray:
    """Return n smooth paths, float32 (n, samples, 3)."""
    rng = np.random.default_rng(1)
    u = np.linspace(0, 1, samples)[None]
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


def filtered(n: int, samples: int, sides: int) -> Any:
    """Return a function that runs VTK's tube filter on all paths at once; None without VTK."""
    try:
        from vtkmodules.util.numpy_support import numpy_to_vtk
        from vtkmodules.vtkCommonCore import vtkPoints
        from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
        from vtkmodules.vtkFiltersCore import vtkTubeFilter
    except ImportError:
        return None
    points, lines, data = vtkPoints(), vtkCellArray(), vtkPolyData()
    points.SetData(numpy_to_vtk(paths(n, samples).reshape(-1, 3), deep=True))
    first = np.arange(0, n * samples + 1, samples, dtype=np.int64)
    lines.SetData(numpy_to_vtk(first, deep=True), numpy_to_vtk(np.arange(n * samples), deep=True))
    data.SetPoints(points)
    data.SetLines(lines)

    def run() -> None:
        tube = vtkTubeFilter()
        tube.SetInputData(data)
        tube.SetRadius(0.02)
        tube.SetNumberOfSides(sides)
        tube.CappingOn()
        tube.Update()
        assert tube.GetOutput().GetNumberOfPoints() >= n * samples * sides

    return run


def swept(n: int, samples: int, sides: int, what: str) -> Any:
    """Return a function that makes our arrays: ``places`` of vertices, their ``light`` too, or a ``mesh``."""
    from tracevis3d.kernels.layout.sweep import sweep_frames, sweep_rings
    from tracevis3d.layout.parallel import in_parts
    from tracevis3d.layout.tube import Buffers, shape, sweep

    point = paths(n, samples).reshape(-1, 3)
    first = np.arange(0, n * samples + 1, samples, dtype=np.int64)
    radius = np.full((len(point), 2), 0.02, np.float32)
    if what == "places":
        side = np.array([1, 0, 0], np.float32)
        angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
        frame = np.empty((len(point), 6), np.float32)
        position = np.empty((len(point) + 2 * n, sides, 3), np.float32)

        def some(low: int, high: int) -> None:
            sweep_frames(point, first, side, low, high, frame)
            sweep_rings(point, radius, first, frame, circle, low, high, position)

        return lambda: in_parts(some, n, 512)
    color, light = np.ones((n, 3), np.float32), np.array([0, -1, 0, 0.4, 0.6, 0.5], np.float32)
    buffers = Buffers()
    make = sweep if what == "mesh" else shape
    return lambda: make(point, radius, first, (1.0, 0.0, 0.0), color, light, sides, buffers)


#: Run in a process of its own: kernels are loaded, but no memory has been used yet.
FIRST = """
import time
from benchmarks.comparison.bench_tubes import swept, FEW_SIDES, FEW_SAMPLES, MANY
swept(10, FEW_SAMPLES, FEW_SIDES, "mesh")()
run = swept(MANY, FEW_SAMPLES, FEW_SIDES, "mesh")
started = time.perf_counter()
run()
print(time.perf_counter() - started)
"""


def against_vtk() -> list[dict[str, Any]]:
    """Measure whole meshes, each from all paths in one batch."""
    out = []
    for n, samples, sides, times in ((10_000, SAMPLES, SIDES, 5), (MANY, FEW_SAMPLES, FEW_SIDES, 3)):
        theirs = filtered(n, samples, sides)
        if theirs is None:
            return out
        makes = [(what, swept(n, samples, sides, what)) for what in ("places", "light", "mesh")]
        for _, make in makes:
            make()
        peer = best(theirs, times)
        words = {
            "places": "places of vertices", "light": "vertices with light", "mesh": "all arrays of a mesh"
        }  # fmt: skip
        of = f"{n:,} tubes of {samples} points and {sides} sides"
        measured = [(f"{words[what]}, {of}", best(make, 2 * times)) for what, make in makes]
        if n == MANY:
            done = [
                subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
                for _ in range(3)
            ]
            measured.append((f"{words['mesh']}, first time, {of}", min(float(d.stdout) for d in done)))
        out += [
            {
                "name": name, "ours": taken * 1e3, "peer": peer * 1e3,
                "peer_name": "vtkTubeFilter, one batch", "unit": "ms", "ratio": peer / taken,
            }
            for name, taken in measured
        ]  # fmt: skip
    return out


def moving() -> list[dict[str, Any]]:
    """Measure what changing β does to a scene that is there, against building the same anew."""
    import bpy

    from tracevis3d.drawing.frame import Frame
    from tracevis3d.drawing.primitives import Camera, Drawing, Tubes
    from tracevis3d.scene.build import build

    out = []
    for n in (1_000, 10_000):
        point = paths(n)
        first = np.arange(0, n * SAMPLES + 1, SAMPLES, dtype=np.int64)
        radius = np.full((n * SAMPLES, 2), 0.02, np.float32)
        ids = np.arange(n)

        def drawn(beta: float) -> Drawing:
            t = np.linspace(0, 1, SAMPLES, dtype=np.float32)[None, :, None]
            straight = point[:, :1] * (1 - t) + point[:, -1:] * t  # noqa: B023
            at = (beta * point + (1 - beta) * straight).reshape(-1, 3).astype(np.float32)  # noqa: B023
            tubes = Tubes("tube", at, radius, first, np.zeros(n, np.int32), ids)  # noqa: B023
            camera = Camera((0.0, -1.0, 0.5), (0.0, -2.0, -2.0), (110.0, 2.0, 2.0))
            return Drawing(np.ones((1, 4), np.float32), (tubes,), camera)

        drawings = [drawn(beta) for beta in (0.9, 0.6, 0.3)]
        built = build(drawings[0], frame=Frame())
        turn = [0]

        def again() -> None:
            turn[0] += 1  # noqa: B023
            build(drawings[turn[0] % 3], frame=Frame(), collection=built.collection)  # noqa: B023
            bpy.context.evaluated_depsgraph_get().update()

        def anew() -> None:
            made = build(drawings[1], frame=Frame())  # noqa: B023
            bpy.context.evaluated_depsgraph_get().update()
            for shown in list(made.collection.objects):
                bpy.data.objects.remove(shown)
            bpy.data.collections.remove(made.collection)

        theirs, ours = best(anew), best(again, 6)
        out.append(
            {
                "name": f"another beta in the scene, {n:,} tubes of {SAMPLES} points", "ours": ours * 1e3,
                "peer": theirs * 1e3, "peer_name": "building anew", "unit": "ms", "ratio": theirs / ours,
            }
        )  # fmt: skip
        bpy.ops.wm.read_factory_settings(use_empty=True)
    return out


def rows() -> list[dict[str, Any]]:
    """Measure; ratio is peer / ours."""
    import bpy

    from tracevis3d.layout.tube import Buffers, sweep
    from tracevis3d.scene.geometry import meshes

    n = 1_000
    point = paths(n).reshape(-1, 3)
    first = np.arange(0, n * SAMPLES + 1, SAMPLES, dtype=np.int64)
    radius = np.full((len(point), 2), 0.02, np.float32)
    color, light = np.ones((n, 3), np.float32), np.array([0, -1, 0, 0.4, 0.6, 0.5], np.float32)
    buffers = Buffers()

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
    count = n
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
    return out + against_vtk() + moving()


if __name__ == "__main__":
    for row in rows():
        print(row)
