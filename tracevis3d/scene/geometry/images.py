"""Pictures on surfaces: a grid of points that carry the pixels' colours.

Colours on points are what Workbench, EEVEE and Cycles all show, and what survives in an exported file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Image
from .. import clock, materials
from ..color import linear
from ..styles import Style
from . import forms, meshes

#: Pixels of the economical form.
_PIXELS = 160_000


def grid_faces(alpha: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return the corners of the grid's faces that anything covers, int32 (f, 4)."""
    rows, columns = alpha.shape
    at = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    seen = (alpha[:-1, :-1] > 0) | (alpha[:-1, 1:] > 0) | (alpha[1:, 1:] > 0) | (alpha[1:, :-1] > 0)
    corners = (at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1])
    return np.stack([corner[seen] for corner in corners], axis=1)


def _blocks(element: Image, coarse: int) -> tuple[int, int]:
    """Return how many rows and columns of pixels are one in the economical form."""
    high, wide = element.pixel.shape[:2]
    # Pixels are merged along the axis in which they are closer, so both stay about equally fine.
    apart = [float(np.linalg.norm(np.diff(element.point, axis=axis), axis=2).mean()) for axis in (0, 1)]
    rows = columns = 1
    while (high // rows) * (wide // columns) > _PIXELS / 2 ** (coarse / 2) and max(rows, columns) < 64:
        if (rows * apart[0] <= columns * apart[1] and high // rows > 2) or wide // columns <= 2:
            rows += 1
        else:
            columns += 1
    return rows, columns


def _economical(element: Image, coarse: int) -> Image:
    """Return an image of fewer pixels, each the mean of those that it takes the place of."""
    blocks = _blocks(element, coarse)
    if blocks == (1, 1):
        return element
    pixel = element.pixel.astype(np.float32)
    pixel[..., :3] *= pixel[..., 3:]
    at = []
    for axis, block in enumerate(blocks):
        size = pixel.shape[axis]
        # The first and the last pixel stay where they are: a surface that closes stays closed.
        places = np.round(np.linspace(0, size - 1, max(2, size // block))).astype(np.int64)
        begin = np.append(0, (places[:-1] + places[1:] + 1) // 2)
        count = np.diff(np.append(begin, size)).astype(np.float32)
        pixel = np.add.reduceat(pixel, begin, axis=axis)
        pixel /= np.expand_dims(count, (1 - axis, 2))
        at.append(places)
    pixel[..., :3] /= np.maximum(pixel[..., 3:], 1e-6)
    pixel[..., 3] = np.where(pixel[..., 3] > 0, np.maximum(pixel[..., 3], 1.0), 0.0)
    return replace(
        element,
        point=element.point[np.ix_(*at)],
        pixel=np.round(np.clip(pixel, 0, 255)).astype(np.uint8),
        time=element.time[at[0]] if len(element.time) else element.time,
    )


def triangles(element: Image, coarse: int) -> int:
    """Return how many triangles the economical form has.

    Parameters
    ----------
    element : Image
    coarse : int
        Its coarseness.

    Returns
    -------
    int
    """
    return 2 * len(grid_faces(_economical(element, coarse).pixel[..., 3]))


def show(element: Image, style: Style, name: str, coarse: int = 0, alone: bool = False) -> Any:
    """Return the object that shows an image.

    Parameters
    ----------
    element : Image
    style : Style
    name : str
    coarse : int
        Of the economical form.
    alone : bool
        Make no other form.

    Returns
    -------
    bpy.types.Object
    """
    fewer = _economical(element, coarse)
    shown = bpy.data.objects.new(name, _mesh(fewer if alone else element, style, name))
    if fewer is not element and not alone:
        forms.set_economical(shown, _mesh(fewer, style, f"{name} economical"))
    if len(element.time) and len(shown.data.vertices):
        clock.add_visibility(shown)
    shown.visible_shadow = False
    return shown


def _mesh(element: Image, style: Style, name: str) -> Any:
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
    if len(used):
        pixel = element.pixel.reshape(-1, 4)[used].astype(np.float32) / np.float32(255)
        cover = pixel[:, 3:4]
        color = np.ones((len(used), 4), np.float32)
        color[:, :3] = pixel[:, :3] * cover + np.array(style.background, np.float32) * (1 - cover)
        light = linear(color)
        meshes.set_color(mesh, materials.TINT, "POINT", light)
        meshes.set_color(mesh, materials.SHADED, "POINT", light, active=True)
        if len(element.time):
            clock.set_start(mesh, np.repeat(element.time.astype(np.float32), columns)[used])
    mesh.materials.append(materials.surface("ink", style))
    return mesh
