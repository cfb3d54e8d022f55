"""Bent blocks: one mesh of flat faces, each with the light it gets."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Wedges
from .. import materials
from ..color import linear, mixed
from ..styles import Light, Style
from . import meshes


def faces(
    corner: NDArray[np.float32], first: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.int64]]:
    """Return all faces of bent blocks.

    Parameters
    ----------
    corner : float32 (n, 4, 3)
        Corners of the sections.
    first : int64 (blocks + 1,)
        First section of each block; one with a single section has no faces.

    Returns
    -------
    corner : float32 (f, 4, 3)
    normal : float64 (f, 3)
        Outward, of length 1.
    owner : int64 (f,)
        The block of each.
    """
    count = np.diff(first)
    block = np.repeat(np.arange(len(count)), count)
    middle = corner.mean(axis=1, dtype=np.float64)
    # A section and the next one of its block: a face on each of the four sides.
    here = np.flatnonzero(block[1:] == block[:-1])
    found = [
        np.stack([corner[here, k], corner[here, n], corner[here + 1, n], corner[here + 1, k]], axis=1)
        for k, n in ((0, 1), (1, 2), (2, 3), (3, 0))
    ]
    whole = np.flatnonzero(count > 1)
    head, tail = first[:-1][whole], first[1:][whole] - 1
    face = np.concatenate([*found, corner[head], corner[tail]])
    owner = np.concatenate([*[block[here]] * 4, whole, whole])
    between = (middle[here] + middle[here + 1]) / 2
    inside = np.concatenate([*[between] * 4, middle[head + 1], middle[tail - 1]])
    normal = np.cross(face[:, 2] - face[:, 0], face[:, 3] - face[:, 1]).astype(np.float64)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    inward = ((face.mean(axis=1) - inside) * normal).sum(axis=1) < 0
    normal[inward] *= -1
    face[inward] = face[inward][:, ::-1]
    return face, normal, owner


def show(element: Wedges, palette: NDArray[np.float32], style: Style, light: Light, name: str) -> Any:
    """Return the object that shows wedges.

    Parameters
    ----------
    element : Wedges
    palette : float32 (k, 4)
        sRGB.
    style : Style
    light : Light
    name : str
        Of the object.

    Returns
    -------
    bpy.types.Object
    """
    face, normal, owner = faces(np.asarray(element.corner, np.float32), element.first)
    n = len(face)
    mesh = meshes.polygons(
        name, face.reshape(-1, 3), np.arange(4 * n, dtype=np.int32), np.arange(0, 4 * n, 4, dtype=np.int32)
    )
    if n:
        color = linear(palette[np.clip(element.color, 0, len(palette) - 1)])[owner]
        veil = materials.veil(element.look)  # Workbench has no translucent vertex colours
        seen = linear(mixed(palette, style.background, veil)) if veil else linear(palette)
        shaded = seen[np.clip(element.color, 0, len(palette) - 1)][owner]
        shaded[:, :3] *= light.brightness(style, normal)[:, None].astype(np.float32)
        meshes.set_color(mesh, materials.TINT, "POINT", np.repeat(color, 4, axis=0))
        meshes.set_color(mesh, materials.SHADED, "POINT", np.repeat(shaded, 4, axis=0), active=True)
        meshes.set_attribute(mesh, "element_id", "INT", "FACE", element.id.astype(np.int32)[owner])
    mesh.materials.append(materials.surface(element.look, style))
    return bpy.data.objects.new(name, mesh)
