"""Tubes and lines: one mesh each, swept by a kernel."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..drawing.words import Lines, Tubes
from ..layout.buffers import Buffers
from ..layout.tube import sweep
from . import materials, meshes
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
    swept = sweep(point, radius, first - begin, side, color[:, :3], lights, sides, _buffers, level)
    mesh = meshes.polygons(
        name, swept.position, swept.corner, swept.face, swept.edge, swept.corner_edge, smooth=True
    )
    if len(swept.face):
        meshes.set_color(mesh, materials.TINT, "POINT", np.repeat(color, swept.vertices, axis=0))
        meshes.set_color(mesh, materials.SHADED, "POINT", swept.shaded, active=True)
        ids = element.id[kept]
        # Blender keeps the name "id" for points.
        meshes.set_attribute(mesh, "element_id", "INT", "FACE", ids.astype(np.int32)[swept.owner])
    mesh.materials.append(materials.surface(element.look, style))
    return bpy.data.objects.new(name, mesh)
