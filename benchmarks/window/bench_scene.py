"""Boxes in Blender: ours as instances, one mesh of all boxes, and an object per box."""

from __future__ import annotations

import gc
import time
from typing import Any

import numpy as np


def boxes(n: int) -> Any:
    """Return n boxes in 12 colours."""
    from tracevis3d.drawing.primitives import Boxes

    rng = np.random.default_rng(0)
    low = (rng.random((n, 3), np.float32) * np.array([1000, 1, 40], np.float32)).astype(np.float32)
    size = (rng.random((n, 3), np.float32) * np.array([3, 0.5, 0.9], np.float32)).astype(np.float32)
    size[:, 2] = 0.9
    time_ = np.stack([low[:, 0], low[:, 0] + size[:, 0]], axis=1) / 1003
    return Boxes("call", low, size, rng.integers(0, 12, n, np.int32), np.arange(n), time_.astype(np.float32))


def resident() -> float:
    """Return the resident memory of this process in MB; 0 where it is unknown."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096 / 1e6
    except OSError:
        return 0.0


def evaluate() -> float:
    import bpy

    started = time.perf_counter()
    bpy.context.evaluated_depsgraph_get().update()
    return time.perf_counter() - started


def instances(data: Any) -> tuple[float, float, float]:
    """Return seconds of building and of evaluating, and MB, of our instances."""
    import bpy

    from tracevis3d.drawing.primitives import Camera
    from tracevis3d.scene.build import discard
    from tracevis3d.scene.geometry import boxes as room
    from tracevis3d.scene.styles import Light, named

    palette = np.linspace(0.2, 0.9, 48, dtype=np.float32).reshape(12, 4)
    light = Light.of(Camera((0, -1, 0), (0, 0, 0), (1, 1, 1)))
    evaluate()
    gc.collect()
    before = resident()
    started = time.perf_counter()
    shown = room.show(data, palette, named("paper"), light, "bench")
    bpy.context.scene.collection.objects.link(shown)
    built = time.perf_counter() - started
    evaluated = evaluate()
    used = resident() - before
    discard([shown])
    evaluate()
    return built, evaluated, used


_CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)
_FACES = np.array([0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3], np.int32)


def one_mesh(data: Any) -> tuple[float, float]:
    """Return seconds of building and of evaluating one mesh of all boxes, written with foreach_set."""
    import bpy

    from tracevis3d.scene.geometry import meshes

    n = len(data)
    started = time.perf_counter()
    position = (data.low[:, None] + data.size[:, None] * _CUBE).reshape(-1, 3)
    corner = (_FACES + 8 * np.arange(n, dtype=np.int32)[:, None]).reshape(-1)
    mesh = meshes.polygons("mesh", position, corner, np.arange(0, 24 * n, 4, dtype=np.int32))
    meshes.set_attribute(mesh, "part", "INT", "FACE", np.repeat(data.color, 6))
    shown = bpy.data.objects.new("mesh", mesh)
    bpy.context.scene.collection.objects.link(shown)
    built = time.perf_counter() - started
    evaluated = evaluate()
    bpy.data.objects.remove(shown)
    bpy.data.meshes.remove(mesh)
    return built, evaluated


def objects(data: Any) -> tuple[float, float]:
    """Return seconds of building and of evaluating an object per box."""
    import bpy

    cube = bpy.data.meshes.new("cube")
    cube.from_pydata(_CUBE.tolist(), [], _FACES.reshape(-1, 4).tolist())
    started = time.perf_counter()
    made = []
    collection = bpy.context.scene.collection
    for low, size in zip(data.low.tolist(), data.size.tolist()):
        shown = bpy.data.objects.new("box", cube)
        shown.location, shown.scale = low, size
        collection.objects.link(shown)
        made.append(shown)
    built = time.perf_counter() - started
    evaluated = evaluate()
    bpy.data.batch_remove(made)
    return built, evaluated


def rows() -> list[dict[str, Any]]:
    """Measure; ratio is peer / ours, except for the rows that compare with a limit."""
    million, ten_thousand = boxes(1_000_000), boxes(10_000)
    instances(ten_thousand)  # kernels, node group, material
    runs = [instances(million) for _ in range(5)]
    build, evaluation = min(r[0] for r in runs), min(r[1] for r in runs)
    memory = max(r[2] for r in runs)
    whole = min(r[0] + r[1] for r in runs)
    mesh = min(sum(one_mesh(million)) for _ in range(2))
    single = min(sum(objects(ten_thousand)) for _ in range(2)) * 100

    def row(name: str, ours: float, peer: float, peer_name: str, unit: str) -> dict[str, Any]:
        return {
            "name": name,
            "ours": ours,
            "peer": peer,
            "peer_name": peer_name,
            "unit": unit,
            "ratio": peer / max(ours, 1e-9),
        }

    return [
        row("1,000,000 boxes: build and evaluate", whole * 1e3, mesh * 1e3, "one mesh, foreach_set", "ms"),
        row(
            "1,000,000 boxes: build and evaluate",
            whole * 1e3,
            single * 1e3,
            "an object per box (measured at 10,000, times 100)",
            "ms",
        ),
        row("1,000,000 boxes: build", build * 1e3, 100.0, "limit", "ms"),
        row("1,000,000 boxes: evaluate", evaluation * 1e3, 150.0, "limit", "ms"),
        row("1,000,000 boxes: memory", memory, 250.0, "limit", "MB"),
    ]


if __name__ == "__main__":
    for line in rows():
        print(line)
