"""How much of what a picture highlights can be seen in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Boxes, Drawing, Element, Lines, Marks, Tubes, Wedges
from ...layout.sight.view_projection import ViewProjection
from ...layout.sight.visible import Surfaces, visible_share
from ..build import Built
from ..camera import View
from ..window.highlight import box_outline

_SHAPES = (Boxes, Marks, Tubes, Lines, Wedges)


def highlighted(drawing: Drawing) -> list[int]:
    """Return which elements are highlighted: those of kinds of which others are ghosts."""
    ghosts = {element.kind for element in drawing.elements if is_ghost(element)}
    return [
        i for i, element in enumerate(drawing.elements) if element.kind in ghosts and not is_ghost(element)
    ]


def is_ghost(element: Element) -> bool:
    """Return whether an element is drawn translucently."""
    return getattr(element, "look", "") == "ghost"


def share_in(built: Built) -> float | None:
    """Return the share of what is highlighted that can be seen: of its pixels, those in which it is in front.

    Parameters
    ----------
    built : Built

    Returns
    -------
    float or None
        None if nothing is highlighted, or nothing of it is in the picture.
    """
    lit = set(highlighted(built.drawing))
    if not lit:
        return None
    parts: list[tuple[Any, Any, bool]] = []
    for shown in built.collection.objects:
        at = shown.get("tracevis3d_element", -1)
        element = built.drawing.elements[at] if 0 <= at < len(built.drawing.elements) else None
        # Ghosts are translucent.
        if isinstance(element, _SHAPES) and not is_ghost(element):
            parts.append((*triangles_of(shown, element), at in lit))
    return visible_share(Surfaces.joined(parts), projection_of(built.view))


def triangles_of(shown: Any, element: Element | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return points and triangles of an object.

    Parameters
    ----------
    shown : bpy.types.Object
    element : Element, optional
        The one that it shows, if it does.

    Returns
    -------
    (float (v, 3), int (t, 3))
    """
    if isinstance(element, Boxes):
        made = box_outline(element.low, element.low + element.size)
        return made.point, made.triangle
    if isinstance(element, Marks):
        half = (element.size if element.size.ndim == 2 else element.size[:, None]) / 2
        made = box_outline(element.point - half, element.point + half)
        return made.point, made.triangle
    mesh = shown.data
    mesh.calc_loop_triangles()
    point = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", point)
    triangle = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangle)
    return point.reshape(-1, 3), triangle.reshape(-1, 3)


def projection_of(view: View) -> ViewProjection:
    """Return the projection of a camera, as a matrix."""
    width, height = view.frame.width, view.frame.height
    across, along = 2 * view.centre[0] / width - 1, 2 * view.centre[1] / height - 1
    right, up = view.right / view.tangent, view.up / view.tangent * width / height
    near, far = max(view.nearest, 1e-3), max(view.farthest, view.nearest + 1e-3)
    matrix = np.zeros((4, 4))
    if view.perspective:
        depth = (far + near) / (far - near)
        matrix[0, :3] = right + across * view.forward
        matrix[1, :3] = up + along * view.forward
        matrix[2, :3] = depth * view.forward
        matrix[3, :3] = view.forward
        last = np.array([0.0, 0.0, -2 * far * near / (far - near), 0.0])
    else:
        matrix[0, :3], matrix[1, :3] = right, up
        matrix[2, :3] = 2 * view.forward / (far - near)
        last = np.array([across, along, -(far + near) / (far - near), 1.0])
    matrix[:, 3] = last - matrix[:, :3] @ view.eye
    return ViewProjection.of(matrix, width, height)
