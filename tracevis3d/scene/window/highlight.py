"""Highlights in the 3D view: drawn over the scene with its depth, so that the scene does not change.

Highlighting by an attribute of the points would make Blender evaluate the instances of the whole object, and
make an undo step, each time the mouse moves; the cost here depends on what is highlighted alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mathutils import Matrix
from numpy.typing import ArrayLike, NDArray

from ...layout.sight.affine import Box
from .element_metadata import PickableMesh

Color = tuple[float, float, float, float]

#: Corners of a box are numbered x * 4 + y * 2 + z.
_TRIANGLES = np.array(
    [
        t
        for a, b, c, d in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
        for t in ((a, b, c), (a, c, d))
    ],
    np.int32,
)
_EDGES = np.array(
    [(0, 1), (0, 2), (0, 4), (3, 1), (3, 2), (3, 7), (5, 1), (5, 4), (5, 7), (6, 2), (6, 4), (6, 7)], np.int32
)
_CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)
#: Offset towards the eye from the surface.
_NEARER = 5e-4
#: Sections of a tube, and corners of a section, at most, of a coarse outline.
_COARSE = (10, 6)


@dataclass(frozen=True, eq=False)
class Outline:
    """Surfaces and edges of some elements.

    Attributes
    ----------
    point : float32 (v, 3)
    triangle : int32 (t, 3)
    edge : int32 (e, 2)
    """

    point: NDArray[np.float32]
    triangle: NDArray[np.int32]
    edge: NDArray[np.int32]


def outline(
    pickable: PickableMesh, elements: ArrayLike, within: Box | None = None, coarse: bool = False
) -> Outline:
    """Return the outline of some elements, in the object's coordinates.

    Parameters
    ----------
    pickable : PickableMesh
    elements : int (k,)
    within : (float (3,), float (3,)), optional
        Between which corners they are shown: boxes end there, and what lies beside is left out.
    coarse : bool
        Whether tubes have few sections with few corners, which is enough for pictures of some hundred pixels.

    Returns
    -------
    Outline
    """
    if within is not None:
        low, high = pickable.bounds(elements)
        kept = ((high > within[0]) & (low < within[1])).all(axis=1)
        if pickable.is_boxes:
            return box_outline(np.maximum(low[kept], within[0]), np.minimum(high[kept], within[1]))
        elements = np.asarray(elements)[kept]
    if pickable.word in ("Boxes", "Marks"):
        return box_outline(*pickable.bounds(elements))
    return _tube_outline(pickable, elements, *(_COARSE if coarse else ()))


def box_outline(low: NDArray[Any], high: NDArray[Any]) -> Outline:
    """Return the outline of boxes.

    Parameters
    ----------
    low, high : float (n, 3)
        Lowest and highest coordinates of each.

    Returns
    -------
    Outline
    """
    n = len(low)
    point = low[:, None] + (high - low)[:, None] * _CORNERS[None]
    base = 8 * np.arange(n, dtype=np.int32)[:, None, None]
    return Outline(
        np.ascontiguousarray(point.reshape(-1, 3), np.float32),
        np.ascontiguousarray((base + _TRIANGLES[None]).reshape(-1, 3), np.int32),
        np.ascontiguousarray((base + _EDGES[None]).reshape(-1, 2), np.int32),
    )


def blocks_outline(blocks: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> Outline:
    """Return the outline of blocks, each given by its lowest and its highest coordinates (3,)."""
    low, high = (np.array([block[i] for block in blocks]).reshape(-1, 3) for i in (0, 1))
    return box_outline(low, high)


def quads_outline(corners: ArrayLike) -> Outline:
    """Return the outline of a strip of quadrilaterals, float (n, 4, 3), each beside the next one."""
    at = np.asarray(corners, np.float32)
    base = 4 * np.arange(len(at), dtype=np.int32)[:, None, None]
    end = 4 * len(at) - 4
    rails = (base[:, :, 0] + np.array([[0, 3, 1, 2]], np.int32)).reshape(-1, 2)
    ends = np.array([(0, 1), (end + 3, end + 2)], np.int32)
    return Outline(
        np.ascontiguousarray(at.reshape(-1, 3)),
        np.ascontiguousarray((base + np.array([[0, 1, 2], [0, 2, 3]], np.int32)).reshape(-1, 3), np.int32),
        np.ascontiguousarray(np.concatenate([rails, ends])),
    )


def _tube_outline(
    pickable: PickableMesh, elements: ArrayLike, most: int = 1 << 30, around: int = 1 << 30
) -> Outline:
    which = np.asarray(elements, np.int64)
    every = pickable.first[which + 1] - pickable.first[which]
    # Of more than ``most`` sections those at equal distances, the first and the last among them.
    count = np.minimum(every, most)
    start = np.cumsum(count) - count
    i = np.arange(int(count.sum())) - np.repeat(start, count)
    spread = i * np.repeat(every - 1, count) // np.maximum(np.repeat(count - 1, count), 1)
    section = np.repeat(pickable.first[which], count) + spread
    ring = pickable.ring[section][:, :: max(pickable.sides // around, 1)]
    sides = ring.shape[1]
    point = ring.reshape(-1, 3)
    # Pieces between a section and the next one of the same tube.
    inner = np.ones(len(section), np.bool_)
    inner[(start + count - 1)[count > 0]] = False
    a = np.flatnonzero(inner)[:, None] * sides + np.arange(sides)[None]
    b = np.flatnonzero(inner)[:, None] * sides + (np.arange(sides)[None] + 1) % sides
    triangle = np.stack(
        [np.stack([a, b, b + sides], axis=-1), np.stack([a, b + sides, a + sides], axis=-1)], axis=2
    )
    return Outline(
        np.ascontiguousarray(point, np.float32),
        np.ascontiguousarray(triangle.reshape(-1, 3), np.int32),
        np.empty((0, 2), np.int32),
    )


def toward_eye(view: Any) -> Matrix:
    """Return what brings things a hair closer to the eye of a 3D view, in the eye's coordinates."""
    if view.is_perspective:
        return Matrix.Scale(1.0 - _NEARER, 4)
    return Matrix.Translation((0.0, 0.0, _NEARER * max(view.view_distance, 1.0)))


class Highlight:
    """An outline for the GPU: made while a window draws, because it needs the window's GPU context.

    Parameters
    ----------
    shape : Outline
    fill, line : (r, g, b, a)
        sRGB.
    width : float
        Of the edges, in pixels; 0: none are drawn.
    """

    def __init__(self, shape: Outline, fill: Color, line: Color, width: float) -> None:
        import gpu
        from gpu_extras.batch import batch_for_shader

        self._fill, self._line, self._width = fill, line, width
        self._surface = self._edges = None
        self._fill_shader = gpu.shader.from_builtin("UNIFORM_COLOR")
        self._line_shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
        if len(shape.triangle):
            self._surface = batch_for_shader(
                self._fill_shader, "TRIS", {"pos": shape.point}, indices=shape.triangle
            )
        if len(shape.edge) and width > 0:
            self._edges = batch_for_shader(
                self._line_shader, "LINES", {"pos": shape.point}, indices=shape.edge
            )

    def draw(
        self, matrix: Matrix, view: Any, scale: float = 1.0, from_outside: bool = False, through: bool = False
    ) -> None:
        """Draw it in a ``POST_VIEW`` handler.

        Parameters
        ----------
        matrix : Matrix
            The object's.
        view : bpy.types.RegionView3D
        scale : float
            Pixels of the screen per pixel of ``width``.
        from_outside : bool
            Only what faces the eye is drawn.
        through : bool
            What lies before it doesn't hide it.
        """
        import gpu

        gpu.state.depth_test_set("NONE" if through else "LESS_EQUAL")
        gpu.state.blend_set("ALPHA")
        gpu.state.face_culling_set("BACK" if from_outside else "NONE")
        with gpu.matrix.push_pop():
            gpu.matrix.load_matrix(toward_eye(view) @ gpu.matrix.get_model_view_matrix() @ matrix)
            if self._surface is not None:
                self._fill_shader.bind()
                self._fill_shader.uniform_float("color", self._fill)
                self._surface.draw(self._fill_shader)
            if self._edges is not None:
                self._line_shader.bind()
                self._line_shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
                self._line_shader.uniform_float("lineWidth", self._width * scale)
                self._line_shader.uniform_float("color", self._line)
                self._edges.draw(self._line_shader)
        gpu.state.face_culling_set("NONE")
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")
