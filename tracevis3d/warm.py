"""Compiles the kernels that the first drawing needs (``python -m tracevis3d.warm``)."""

from __future__ import annotations

import numpy as np

from . import api
from .drawing.primitives import Labels
from .kernels.layout.box_parts import box_parts, recode
from .layout.buffers import Buffers
from .layout.sight.view_projection import ViewProjection
from .layout.tube import sweep
from .overlay.items import Overlay, Theme
from .overlay.names import lay_names, prepare
from .trace.model import Calls, Functions, Threads, Trace
from .trace.strings import Strings


def compile_what_drawing_needs() -> None:
    """Measure and draw a trace of three calls."""
    calls = Calls(
        function=np.array([0, 1, 1], np.int32),
        parent=np.array([-1, 0, 0], np.int64),
        depth=np.array([1, 2, 2], np.int32),
        start=np.array([0, 1, 5], np.int64),
        end=np.array([10, 3, 8], np.int64),
        extent=np.array([3, 1, 1], np.int64),
        thread=np.zeros(3, np.int32),
    )
    names = Strings.of(["outer", "inner"])
    unknown = np.full(2, -1, np.int32)
    functions = Functions(names, names, container=unknown, file=unknown, line=np.zeros(2, np.int32))
    threads = Threads((1,), (1,), ("",), ("",), np.zeros(1, np.int64), np.full(1, 3, np.int64))
    trace = Trace(calls=calls, functions=functions, threads=threads, span_ns=10)
    api.view("icicle", trace).drawing()
    compile_what_building_needs()
    api.info(trace)


def compile_what_building_needs() -> None:
    """Sort one box by its shape, sweep one tube, and place one name, as the scene and the window do."""
    part = np.empty(1, np.int32)
    one = np.ones((1, 3), np.float32)
    box_parts(one, np.zeros(1, np.int32), np.float32(0.1), 1, 1, part, np.zeros(1, np.uint8))
    recode(part, np.zeros(1, np.int32))
    line = np.array([[0, 0, 0], [1, 0, 0]], np.float32)
    first, light = np.array([0, 2], np.int64), np.ones(6, np.float32)
    sweep(line, line[:, :2] + 1, first, (0.0, 0.0, 1.0), one, light, 3, Buffers())
    label = Labels("function", ("name",), one - 1, one[:, 0], one[:, 0], one[:, 0])
    eye = ViewProjection.of(np.diag([1.0, 1.0, 0.1, 1.0]), 100, 100)
    names = prepare((label,), np.ones((1, 4), np.float32), lambda text: 0.5 * len(text))
    lay_names(names, eye, (0.0, 0.0, 100.0, 100.0), Theme(), lambda text: 0.5 * len(text), Overlay(), {})


if __name__ == "__main__":
    compile_what_drawing_needs()
