"""Flat shapes and texts over a region, in its pixels; colours are four numbers, red to alpha, from 0 to 1.

NumPy, because batches for the GPU take arrays of 32-bit numbers.
"""

from typing import Any

import blf
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray


def write(words: str, x: float, y: float, size: float, color: tuple[float, ...]) -> None:
    """Write ``words`` from ``(x, y)`` on, in type of ``size`` pixels."""
    blf.size(0, size)
    blf.position(0, round(x), round(y), 0)
    blf.color(0, *color)
    blf.draw(0, words)


def rectangle(left: float, low: float, right: float, high: float, color: tuple[float, ...]) -> None:
    """Fill a rectangle."""
    polygon(np.array([[left, low], [right, low], [right, high], [left, high]]), color)


def polygon(corners: NDArray[np.float64], color: tuple[float, ...]) -> None:
    """Fill a quadrilateral of four corners, float (4, 2), in order."""
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    flat = corners.astype(np.float32)
    batch = batch_for_shader(shader, "TRIS", {"pos": flat}, indices=((0, 1, 2), (0, 2, 3)))
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("color", color)
    batch.draw(shader)
    gpu.state.blend_set("NONE")


def triangle(
    a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], color: tuple[float, ...]
) -> None:
    """Fill a triangle."""
    polygon(np.array([a, b, c, c]), color)


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


def stroke(ends: NDArray[np.float64], color: tuple[float, ...], width: float) -> None:
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
