"""Meshes from arrays: written through attributes, whose memory is copied at once."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

#: How a Blender attribute type is written: the item's property, the dtype, and values per item.
_KINDS: dict[str, tuple[str, type[np.generic]]] = {
    "FLOAT": ("value", np.float32),
    "INT": ("value", np.int32),
    "FLOAT_VECTOR": ("vector", np.float32),
    "FLOAT_COLOR": ("color", np.float32),
    "BOOLEAN": ("value", np.bool_),
}


def set_attribute(mesh: Any, name: str, kind: str, domain: str, values: NDArray[Any]) -> None:
    """Write ``values`` to the attribute ``name``, made if it is not there.

    Parameters
    ----------
    mesh : bpy.types.Mesh
    name : str
    kind : str
        Blender's ``data_type``.
    domain : {"POINT", "EDGE", "FACE", "CORNER"}
    values : array
        One row per element; converted to the attribute's dtype only where it differs (the exact
        dtype is what makes the write a plain copy).
    """
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.data_type != kind or attribute.domain != domain):
        mesh.attributes.remove(attribute)
        attribute = None
    if attribute is None:
        attribute = mesh.attributes.new(name, kind, domain)
    prop, dtype = _KINDS[kind]
    attribute.data.foreach_set(prop, np.ascontiguousarray(values, dtype).reshape(-1))


def holds(mesh: Any, name: str, kind: str, values: NDArray[Any]) -> bool:
    """Return whether an attribute of a mesh has just these values.

    Parameters
    ----------
    mesh : bpy.types.Mesh
    name : str
    kind : str
        Blender's ``data_type``.
    values : array
        One row per element, of any domain.

    Returns
    -------
    bool
    """
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.data_type != kind or len(attribute.data) != len(values):
        return False
    prop, dtype = _KINDS[kind]
    found = np.empty(values.shape, dtype)
    attribute.data.foreach_get(prop, found.reshape(-1))
    return bool(np.array_equal(found, values))


def points(name: str, position: NDArray[np.float32]) -> Any:
    """Return a mesh of loose vertices.

    Parameters
    ----------
    name : str
    position : float32 (n, 3)

    Returns
    -------
    bpy.types.Mesh
    """
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(position))
    if len(position):
        set_attribute(mesh, "position", "FLOAT_VECTOR", "POINT", position)
    return mesh


def polygons(
    name: str,
    position: NDArray[np.float32],
    corner: NDArray[np.int32],
    first: NDArray[np.int32],
    edge: NDArray[np.int32] | None = None,
    corner_edge: NDArray[np.int32] | None = None,
    *,
    smooth: bool = False,
) -> Any:
    """Return a mesh of polygons.

    Parameters
    ----------
    name : str
    position : float32 (n, 3)
    corner : int32 (c,)
        Vertex of each corner, face by face.
    first : int32 (f,)
        First corner of each face.
    edge : int32 (e, 2), optional
        All edges, each once; where left out Blender finds them (slow beyond 100,000 faces).
    corner_edge : int32 (c,), optional
        With ``edge``: the edge from each corner to the next of its face.
    smooth : bool
        Smooth instead of flat shading.

    Returns
    -------
    bpy.types.Mesh
    """
    mesh: Any = bpy.data.meshes.new(name)
    fill(mesh, position, corner, first, edge, corner_edge, smooth=smooth)
    return mesh


def fill(
    mesh: Any,
    position: NDArray[np.float32],
    corner: NDArray[np.int32],
    first: NDArray[np.int32],
    edge: NDArray[np.int32] | None = None,
    corner_edge: NDArray[np.int32] | None = None,
    *,
    smooth: bool = False,
) -> None:
    """Give an empty mesh polygons.

    Parameters
    ----------
    mesh : bpy.types.Mesh
    position, corner, first, edge, corner_edge, smooth
        As :func:`polygons` takes them.
    """
    mesh.vertices.add(len(position))
    mesh.loops.add(len(corner))
    mesh.polygons.add(len(first))
    if len(first):
        set_attribute(mesh, "position", "FLOAT_VECTOR", "POINT", position)
        set_attribute(mesh, ".corner_vert", "INT", "CORNER", corner)
        mesh.polygons.foreach_set("loop_start", np.ascontiguousarray(first, np.int32))
        if edge is not None and corner_edge is not None:
            mesh.edges.add(len(edge))
            mesh.attributes[".edge_verts"].data.foreach_set("value", edge.reshape(-1))
            set_attribute(mesh, ".corner_edge", "INT", "CORNER", corner_edge)
        mesh.update(calc_edges=edge is None)
        if not smooth:
            set_attribute(mesh, "sharp_face", "BOOLEAN", "FACE", np.ones(len(first), np.bool_))


def set_color(
    mesh: Any, name: str, domain: str, linear: NDArray[np.float32], *, active: bool = False
) -> None:
    """Write colours of points or corners.

    Parameters
    ----------
    mesh : bpy.types.Mesh
    name : str
        Of the attribute.
    domain : {"POINT", "CORNER"}
    linear : float32 (n, 4)
    active : bool
        Make it the active one, which Workbench shows.
    """
    set_attribute(mesh, name, "FLOAT_COLOR", domain, linear)
    if active:
        mesh.color_attributes.active_color = mesh.color_attributes[name]
        mesh.color_attributes.render_color_index = mesh.color_attributes.find(name)
