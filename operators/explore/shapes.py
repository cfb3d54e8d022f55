"""Flat shapes and texts over a region, in its pixels; colours are four numbers, red to alpha, from 0 to 1.

NumPy, because batches for the GPU take arrays of 32-bit numbers.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import blf
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

#: Colours of texts, of those that matter less, and of what they lie on.
INK, QUIET, GROUND = (1.0, 1.0, 1.0, 1.0), (0.75, 0.78, 0.82, 1.0), (0.08, 0.09, 0.11, 0.97)
#: Size of the type in pixels at scale 1, and of a line in sizes of it.
TEXT, LINE = 12.0, 1.45


def write(words: str, x: float, y: float, size: float, color: tuple[float, ...]) -> None:
    """Write ``words`` from ``(x, y)`` on, in type of ``size`` pixels."""
    blf.size(0, size)
    blf.position(0, round(x), round(y), 0)
    blf.color(0, *color)
    blf.draw(0, words)


def rectangle(left: float, low: float, right: float, high: float, color: tuple[float, ...]) -> None:
    """Fill a rectangle."""
    polygon([(left, low), (right, low), (right, high), (left, high)], color)


def polygon(corners: Iterable[Any], color: tuple[float, ...]) -> None:
    """Fill a convex polygon of corners, each a pair of numbers, in order."""
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    flat = np.array([tuple(corner) for corner in corners], np.float32)
    fan = [(0, i, i + 1) for i in range(1, len(flat) - 1)]
    batch = batch_for_shader(shader, "TRIS", {"pos": flat}, indices=fan)
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("color", color)
    batch.draw(shader)
    gpu.state.blend_set("NONE")


def triangle(
    a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], color: tuple[float, ...]
) -> None:
    """Fill a triangle."""
    polygon((a, b, c), color)


def columns(spans: Any, low: float, high: float, color: tuple[float, ...], least: float) -> None:
    """Fill rectangles of one height at once: left and right end of each, (n, 2), at least ``least`` wide."""
    if not len(spans):
        return
    ends = np.asarray(spans, np.float32)
    corners = np.zeros((len(ends), 4, 2), np.float32)
    corners[:, (0, 3), 0] = ends[:, :1]
    corners[:, (1, 2), 0] = np.maximum(ends[:, 1:], ends[:, :1] + least)
    corners[:, :2, 1], corners[:, 2:, 1] = low, high
    triangles = 4 * np.arange(len(ends))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    batch = batch_for_shader(
        shader, "TRIS", {"pos": corners.reshape(-1, 2)}, indices=triangles.reshape(-1, 3).tolist()
    )
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("color", color)
    batch.draw(shader)
    gpu.state.blend_set("NONE")


def quads(parts: Sequence[tuple[NDArray[np.float64], NDArray[np.float32]]]) -> Any:
    """Return a batch of quadrilaterals, the first behind: their corners (n, 4, 2) and colours (n, 4)."""
    corners = np.concatenate([np.empty((0, 4, 2)), *(at for at, _ in parts)]).astype(np.float32)
    colors = np.concatenate([np.empty((0, 4)), *(color for _, color in parts)]).astype(np.float32)
    if not len(corners):
        return None
    fan = 4 * np.arange(len(corners), dtype=np.int32)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])
    content = {"pos": corners.reshape(-1, 2), "color": np.repeat(colors, 4, axis=0)}
    shader = gpu.shader.from_builtin("FLAT_COLOR")
    return batch_for_shader(shader, "TRIS", content, indices=fan.reshape(-1, 3).astype(np.int32))


def show(batch: Any) -> None:
    """Draw a batch of :func:`quads`."""
    if batch is not None:
        gpu.state.blend_set("ALPHA")
        batch.draw(gpu.shader.from_builtin("FLAT_COLOR"))
        gpu.state.blend_set("NONE")


def stroke(ends: Sequence[Any] | NDArray[np.float64], color: tuple[float, ...], width: float) -> None:
    """Draw a line through points, float (n, 2), ``width`` pixels wide."""
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    points = np.column_stack([ends, np.zeros(len(ends))]).astype(np.float32)
    batch = batch_for_shader(shader, "LINE_STRIP", {"pos": points})
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", width)
    shader.uniform_float("color", color)
    batch.draw(shader)
    gpu.state.blend_set("NONE")
