"""Some elements drawn again, over a veil that mutes all others; the scene itself does not change.

Drawn over the scene, as :mod:`.highlight` does, so that it costs what is chosen and takes no part in undo.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from mathutils import Matrix
from numpy.typing import ArrayLike, NDArray

from .. import compat
from ..color import srgb
from ..materials import SHADED
from .element_metadata import PickableMesh
from .highlight import toward_eye

Floats = NDArray[np.float32]
#: Maximum number of instances of an object that are cut out, the widest first: more can't be distinguished.
_MOST = 20_000


@dataclass(frozen=True, eq=False)
class Surface:
    """Surfaces of some elements as the 3D view shows them, in their object's coordinates.

    Attributes
    ----------
    point : float32 (v, 3)
    color : float32 (v, 4)
        sRGB.
    triangle : int32 (t, 3)
    """

    point: Floats
    color: Floats
    triangle: NDArray[np.int32]


def surface(shown: Any, pickable: PickableMesh, elements: ArrayLike) -> Surface:
    """Return the surfaces of some of the elements that an object shows.

    Parameters
    ----------
    shown : bpy.types.Object
    pickable : PickableMesh
        What it holds.
    elements : int (k,)
        Their places among all.

    Returns
    -------
    Surface
    """
    which = np.asarray(elements, np.int64)
    mesh = _economical(shown)
    if pickable.word in ("Boxes", "Marks"):
        return _of_instances(shown.data, mesh, pickable, which)
    found = _Triangles(mesh if mesh is not None else shown.data)
    face_ids = found.of_faces("element_id")
    kept = np.isin(face_ids, pickable.id[which])[found.face]
    return Surface(found.point, found.colors_of_points(), found.vertex[kept])


def _economical(shown: Any) -> Any:
    """Return the mesh that the 3D view shows of an object, or of which it shows instances; None: its own."""
    for modifier in shown.modifiers:
        if compat.has_input(modifier, "Economical"):
            held = compat.get_input(modifier, "Economical")
            return held.data if held is not None else None
    return None


def _of_instances(points: Any, template: Any, pickable: PickableMesh, which: NDArray[np.int64]) -> Surface:
    if template is None or not len(which):
        return _nothing()
    if len(which) > _MOST:
        wide = pickable.size[which].max(axis=1)
        which = which[np.argpartition(-wide, _MOST)[:_MOST]]
    part = np.empty(len(points.vertices), np.int32)
    points.attributes["part"].data.foreach_get("value", part)
    part = part[which]
    found = _Triangles(template)
    of = found.of_faces("part")[found.face]
    # The triangles of each part lie together.
    order = np.argsort(of, kind="stable")
    begin = np.searchsorted(of[order], part)
    count = np.searchsorted(of[order], part, side="right") - begin
    first = np.cumsum(count) - count
    triangle = order[np.repeat(begin - first, count) + np.arange(int(count.sum()))]
    size, low = (np.repeat(values[which], count, axis=0)[:, None] for values in (pickable.size, pickable.low))
    point = found.point[found.vertex[triangle]] * size + low
    color = found.colors_of_corners()[found.corner[triangle]]
    n = len(triangle)
    return Surface(
        np.ascontiguousarray(point.reshape(-1, 3), np.float32),
        np.ascontiguousarray(color.reshape(-1, 4), np.float32),
        np.arange(3 * n, dtype=np.int32).reshape(n, 3),
    )


def _nothing() -> Surface:
    return Surface(np.empty((0, 3), np.float32), np.empty((0, 4), np.float32), np.empty((0, 3), np.int32))


class _Triangles:
    """The triangles of a mesh: the vertices, the corners and the face of each."""

    def __init__(self, mesh: Any) -> None:
        self._mesh = mesh
        mesh.calc_loop_triangles()
        n = len(mesh.loop_triangles)
        self.vertex, self.corner = np.empty((n, 3), np.int32), np.empty((n, 3), np.int32)
        self.face = np.empty(n, np.int32)
        mesh.loop_triangles.foreach_get("vertices", self.vertex.reshape(-1))
        mesh.loop_triangles.foreach_get("loops", self.corner.reshape(-1))
        mesh.loop_triangles.foreach_get("polygon_index", self.face)
        self.point = np.empty((len(mesh.vertices), 3), np.float32)
        mesh.attributes["position"].data.foreach_get("vector", self.point.reshape(-1))

    def of_faces(self, name: str) -> NDArray[np.int32]:
        found = np.empty(len(self._mesh.polygons), np.int32)
        self._mesh.attributes[name].data.foreach_get("value", found)
        return found

    def colors_of_points(self) -> Floats:
        return self._colors(len(self._mesh.vertices))

    def colors_of_corners(self) -> Floats:
        return self._colors(len(self._mesh.loops))

    def _colors(self, n: int) -> Floats:
        found = np.empty((n, 4), np.float32)
        self._mesh.attributes[SHADED].data.foreach_get("color", found.reshape(-1))
        return srgb(found)


class CutOut:
    """A surface for the GPU: made while a window draws, because it needs the window's GPU context.

    Parameters
    ----------
    cut : Surface
    opacity : float
    """

    def __init__(self, cut: Surface, opacity: float = 1.0) -> None:
        import gpu
        from gpu_extras.batch import batch_for_shader

        self._shader = gpu.shader.from_builtin("SMOOTH_COLOR")
        color = np.clip(cut.color, 0.0, 1.0)
        color[:, 3] = opacity
        corners = {"pos": cut.point, "color": color}
        self._batch = batch_for_shader(self._shader, "TRIS", corners, indices=cut.triangle)

    def draw(self, matrix: Matrix, view: Any) -> None:
        """Draw it in a ``POST_VIEW`` handler.

        Parameters
        ----------
        matrix : Matrix
            The object's.
        view : bpy.types.RegionView3D
        """
        import gpu

        with gpu.matrix.push_pop():
            gpu.matrix.load_matrix(toward_eye(view) @ gpu.matrix.get_model_view_matrix() @ matrix)
            gpu.state.depth_test_set("LESS_EQUAL")
            gpu.state.depth_mask_set(True)
            gpu.state.blend_set("ALPHA")
            self._batch.draw(self._shader)
            gpu.state.blend_set("NONE")
            gpu.state.depth_mask_set(False)
            gpu.state.depth_test_set("NONE")


def veil(color: tuple[float, float, float], strength: float, alone: bool) -> None:
    """Draw a veil over all of the region, in a ``POST_VIEW`` handler.

    Parameters
    ----------
    color : (r, g, b)
        sRGB.
    strength : float
        0: nothing is seen of it, 1: nothing is seen of what lies behind.
    alone : bool
        What is drawn next is hidden by nothing of the scene.
    """
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    corners = np.array([(-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)], np.float32)
    batch = batch_for_shader(shader, "TRIS", {"pos": corners}, indices=((0, 1, 2), (0, 2, 3)))
    with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
        gpu.matrix.load_identity()
        gpu.matrix.load_projection_matrix(Matrix.Identity(4))
        gpu.state.depth_test_set("ALWAYS")
        gpu.state.depth_mask_set(alone)
        gpu.state.blend_set("ALPHA")
        shader.bind()
        shader.uniform_float("color", (*color, strength))
        batch.draw(shader)
        gpu.state.blend_set("NONE")
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE")
