"""Tubes and lines: one mesh each, swept by a kernel."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..drawing.words import Lines, Tubes
from ..layout.buffers import Buffers
from ..layout.tube import sweep
from . import clock, materials, meshes
from .color import linear
from .styles import Light, Style

_buffers = Buffers()


def show(element: Tubes | Lines, palette: NDArray[np.float32], style: Style, light: Light, name: str) -> Any:
    """Return the object that shows tubes or lines; ``palette`` is sRGB (k, 4)."""
    kept = np.flatnonzero(np.diff(element.first) > 0)
    first = np.append(element.first[kept], element.first[-1] if len(element.first) else 0)
    if isinstance(element, Lines):
        half = np.asarray(element.width, np.float32)[kept] / 2
        radius = np.repeat(np.stack([half, half], axis=1), np.diff(first), axis=0)
        side, sides, level = (0.0, 0.0, 0.0), 6, False
    else:
        radius, side, level = element.radius, element.side, element.level
        sides = 16 if len(kept) <= 500 else 12 if len(kept) <= 5000 else 8
    begin = int(first[0]) if len(first) else 0
    point = element.point[begin : int(first[-1])]
    color = linear(palette[np.clip(element.color[kept], 0, len(palette) - 1)])
    shining = 1.0 if not style.shaded else style.emission
    key = light.key / max(float(light.facing @ light.key), 1e-6)
    lights = np.array([*key, style.ambient, 1.0 - style.ambient, shining], np.float32)
    if isinstance(element, Tubes):
        radius = radius[begin : int(first[-1])]
    turning = isinstance(element, Tubes) and len(element.end_color) > 0
    # Where the colour changes along a tube, the sweep brings the light alone.
    given = np.ones((len(color), 3), np.float32) if turning else color[:, :3]
    swept = sweep(point, radius, first - begin, side, given, lights, sides, _buffers, level)
    mesh = meshes.polygons(
        name, swept.position, swept.corner, swept.face, swept.edge, swept.corner_edge, smooth=True
    )
    if len(swept.face):
        tint, shaded = np.repeat(color, swept.vertices, axis=0), swept.shaded
        if turning:
            ends = (
                palette[np.clip(c[kept], 0, len(palette) - 1)] for c in (element.color, element.end_color)
            )
            tint = np.repeat(linear(_turning(*ends, np.diff(first))), sides, axis=0)
            shaded = shaded * tint
        meshes.set_color(mesh, materials.TINT, "POINT", tint)
        meshes.set_color(mesh, materials.SHADED, "POINT", shaded, active=True)
        ids = element.id[kept]
        # Blender keeps the name "id" for points.
        meshes.set_attribute(mesh, "element_id", "INT", "FACE", ids.astype(np.int32)[swept.owner])
    mesh.materials.append(materials.surface(element.look, style))
    shown = bpy.data.objects.new(name, mesh)
    if isinstance(element, Tubes) and len(element.time) and len(swept.face):
        clock.reveal(shown, np.repeat(element.time[kept].astype(np.float32), swept.vertices))
    return shown


def _turning(
    start: NDArray[np.float32], end: NDArray[np.float32], count: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the sRGB colour of each ring of tubes of ``count`` points, their caps' rings included."""
    rings = count + 2
    which = np.repeat(np.arange(len(count)), rings)
    place = np.arange(len(which)) - np.repeat(np.cumsum(rings) - rings, rings) - 1
    share = np.clip(place / np.maximum(count - 1, 1)[which], 0.0, 1.0).astype(np.float32)[:, None]
    return np.asarray(start[which] * (1 - share) + end[which] * share, np.float32)
