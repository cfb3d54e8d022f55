"""Meshes of what is not data: texts, rulers and the frame's colour patches. All shine by themselves."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...layout.lettering import Setting
from .. import materials
from ..color import linear
from ..geometry import meshes
from ..styles import Style

#: Attributes of texts that stay as large as a camera comes nearer: what each is written at, and how far its
#: vertices are from that.
_POINT, _OFF = "tracevis3d_point", "tracevis3d_off"


def _inked(name: str, mesh: Any, colors: NDArray[np.float32], style: Style) -> Any:
    """Return an object of ``mesh`` whose points have the sRGB ``colors``; it casts no shadow."""
    light = linear(colors)
    if len(light):
        meshes.set_color(mesh, materials.TINT, "POINT", light)
        meshes.set_color(mesh, materials.SHADED, "POINT", light, active=True)
    mesh.materials.append(materials.surface("ink", style))
    shown = bpy.data.objects.new(name, mesh)
    for ray in ("visible_shadow", "visible_diffuse", "visible_glossy", "visible_transmission"):
        setattr(shown, ray, False)
    return shown


def texts(name: str, setting: Setting, colors: NDArray[np.float32], style: Style) -> Any:
    """Return one object of many texts.

    Parameters
    ----------
    name : str
    setting : Setting
    colors : float32 (n, 4)
        sRGB, one per text.
    style : Style

    Returns
    -------
    bpy.types.Object
    """
    first = np.arange(0, len(setting.corner), 3, dtype=np.int32)
    mesh = meshes.polygons(name, setting.position, setting.corner, first)
    return _inked(name, mesh, np.repeat(colors, setting.vertices, axis=0), style)


def keep_size(shown: Any, point: NDArray[np.floating[Any]]) -> None:
    """Let an object of texts or bars be resized later.

    Parameters
    ----------
    shown : bpy.types.Object
    point : float (v, 3)
        Of each vertex, what its text is written at, or the place beside it on the bar's line.
    """
    place = np.empty(3 * len(point), np.float32)
    shown.data.vertices.foreach_get("co", place)
    meshes.set_attribute(shown.data, _POINT, "FLOAT_VECTOR", "POINT", point.astype(np.float32))
    meshes.set_attribute(shown.data, _OFF, "FLOAT_VECTOR", "POINT", place.reshape(-1, 3) - point)


def resize(shown: Any, share: float) -> None:
    """Resize texts about what they are written at, bars about their lines; other objects stay as they are.

    Parameters
    ----------
    shown : bpy.types.Object
    share : float
        Of the size, or the width, that they were made with.
    """
    mesh = shown.data if shown.type == "MESH" else None
    if mesh is None or _POINT not in mesh.attributes:
        return
    point, off = (np.empty(3 * len(mesh.vertices), np.float32) for _ in range(2))
    mesh.attributes[_POINT].data.foreach_get("vector", point)
    mesh.attributes[_OFF].data.foreach_get("vector", off)
    mesh.vertices.foreach_set("co", point + np.float32(share) * off)
    mesh.update()


def patches(name: str, corner: NDArray[np.floating[Any]], colors: NDArray[np.float32], style: Style) -> Any:
    """Return one object of rectangles.

    Parameters
    ----------
    name : str
    corner : float (4 n, 3)
        Four in a row.
    colors : float32 (n, 4)
        sRGB.
    style : Style

    Returns
    -------
    bpy.types.Object
    """
    n = len(colors)
    mesh = meshes.polygons(
        name,
        corner.astype(np.float32),
        np.arange(4 * n, dtype=np.int32),
        np.arange(0, 4 * n, 4, dtype=np.int32),
    )
    return _inked(name, mesh, np.repeat(colors, 4, axis=0), style)


# The unit square prism around the x axis: corners as (end, side, side), and its faces.
_PRISM = np.array([[x, y, z] for x in (0, 1) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_FACES = np.array(
    [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]], np.int32
)


def bars(
    name: str,
    start: NDArray[np.floating[Any]],
    end: NDArray[np.floating[Any]],
    width: NDArray[np.floating[Any]],
    colors: NDArray[np.float32],
    style: Style,
    film: bool = False,
) -> Any:
    """Return one object of straight bars of square section.

    Parameters
    ----------
    name : str
    start, end : float (n, 3)
    width : float (n,)
    colors : float32 (n, 4)
        sRGB.
    style : Style
    film : bool
        They may be resized: :func:`resize` makes them thinner, as long as they are.

    Returns
    -------
    bpy.types.Object
    """
    n = len(start)
    along = np.asarray(end, np.float64) - start
    length = np.linalg.norm(along, axis=1, keepdims=True)
    axis = along / np.maximum(length, 1e-12)
    helper = np.where(np.abs(axis[:, 2:3]) < 0.9, [[0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0]])
    side = np.cross(axis, helper)
    side /= np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-12)
    other = np.cross(axis, side)
    w = np.asarray(width, np.float64)[:, None, None]
    middle = np.asarray(start)[:, None] + along[:, None] * _PRISM[None, :, :1]
    position = middle + side[:, None] * _PRISM[None, :, 1:2] * w + other[:, None] * _PRISM[None, :, 2:] * w
    corner = (_FACES[None] + 8 * np.arange(n, dtype=np.int32)[:, None, None]).reshape(-1)
    mesh = meshes.polygons(
        name,
        position.reshape(-1, 3).astype(np.float32),
        corner.astype(np.int32),
        np.arange(0, 24 * n, 4, dtype=np.int32),
    )
    shown = _inked(name, mesh, np.repeat(colors, 8, axis=0), style)
    if film:
        keep_size(shown, middle.reshape(-1, 3))
    return shown
