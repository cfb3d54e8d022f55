"""Pictures on surfaces: a grid of points that carry the pixels' colours.

Colours on points are what Workbench, EEVEE and Cycles all show, and what survives in an exported file.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Image
from .. import clock, materials
from ..color import linear
from ..styles import Style
from . import meshes


def grid_faces(alpha: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return the corners of the grid's faces that anything covers, int32 (f, 4)."""
    rows, columns = alpha.shape
    at = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    seen = (alpha[:-1, :-1] > 0) | (alpha[:-1, 1:] > 0) | (alpha[1:, 1:] > 0) | (alpha[1:, :-1] > 0)
    corners = (at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1])
    return np.stack([corner[seen] for corner in corners], axis=1)


def show(element: Image, style: Style, name: str) -> Any:
    """Return the object that shows an image."""
    columns = element.pixel.shape[1]
    face = grid_faces(element.pixel[..., 3])
    used, corner = np.unique(face, return_inverse=True)
    corner = corner.reshape(-1).astype(np.int32)
    mesh = meshes.polygons(
        name,
        np.ascontiguousarray(element.point.reshape(-1, 3)[used], np.float32),
        corner,
        np.arange(0, len(corner), 4, dtype=np.int32),
    )
    shown = bpy.data.objects.new(name, mesh)
    if len(used):
        pixel = element.pixel.reshape(-1, 4)[used].astype(np.float32) / np.float32(255)
        cover = pixel[:, 3:4]
        color = np.ones((len(used), 4), np.float32)
        color[:, :3] = pixel[:, :3] * cover + np.array(style.background, np.float32) * (1 - cover)
        light = linear(color)
        meshes.set_color(mesh, materials.TINT, "POINT", light)
        meshes.set_color(mesh, materials.SHADED, "POINT", light, active=True)
        if len(element.time):
            clock.reveal(shown, np.repeat(element.time.astype(np.float32), columns)[used])
    mesh.materials.append(materials.surface("ink", style))
    shown.visible_shadow = False
    return shown
