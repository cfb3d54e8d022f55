"""Rebuilding a view after a change: only the parts that changed, against building all of it anew."""

from __future__ import annotations

from functools import partial
from typing import Any

import tracevis3d as tv
from benchmarks.measure import best, row
from tests.support import synthetic
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings

#: What a person changes, from what touches nothing of the boxes to what touches all.
CHANGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nothing", {}),
    ("names", {"labels": 20}),
    ("colour", {"color": "function"}),
    ("thickness", {"relief": 0.8}),
    ("a tenth of the time", {"start": "10", "end": "20"}),
)


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds. Without Blender there is nothing to measure."""
    try:
        import bpy
    except ImportError:
        return []
    import numpy as np

    from tracevis3d.scene.build import build, clear

    calls, first, count = synthetic.program(900_000)
    names = Strings.of(f"package.module_{f % 40}.function_{f}" for f in range(1500))
    none = np.full(1500, -1, np.int32)
    functions = Functions(names, names, none, none, np.zeros(1500, np.int32))
    threads = Threads((1,), (1,), ("",), ("",), first, count)
    trace = Trace(calls=calls, functions=functions, threads=threads, span_ns=int(calls.end.max()))
    before = tv.icicle(trace).drawing()
    collection = build(before).collection
    result = []
    for what, settings in CHANGES:
        after = tv.icicle(trace, **settings).drawing()

        def ours(after: Any = after) -> None:
            build(after, collection=collection)
            bpy.context.view_layer.update()

        def anew(after: Any = after) -> None:
            clear(collection)
            build(after, collection=collection)
            bpy.context.view_layer.update()

        times = []
        for change in (ours, anew):
            fastest = float("inf")
            for _ in range(5):
                build(before, collection=collection)
                bpy.context.view_layer.update()
                fastest = min(fastest, best(1, partial(change))[1])
            times.append(fastest)
        result.append(row(f"rebuild: {what} changed, 900,000 calls", *times, "building anew"))
    return result
