"""The element under the mouse: found from the meshes of all views of the scene at once."""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...tracevis3d.drawing.picked import PickedElement
from ...tracevis3d.layout.picking import Ray
from ..state import settings, trace_state

#: Thin elements are met within this many pixels of the mouse.
REACH = 4.0


@dataclass(frozen=True, eq=False)
class Hit:
    """An element under the mouse.

    Attributes
    ----------
    view, shown : str
        Names of the view's collection and of the object.
    held : tracevis3d.scene.window.element_metadata.Held
    element : int
        Its place among those that the object shows.
    local, point : float64 (3,)
        Where it was met, in the object's coordinates and in the scene's.
    """

    view: str
    shown: str
    held: Any
    element: int
    local: NDArray[np.float64]
    point: NDArray[np.float64]

    @property
    def kind(self) -> str:
        """The kind of the element."""
        return str(self.held.kind)

    @property
    def calls(self) -> dict[int, int]:
        """One of the view's traces -> the call of it that the element represents."""
        found = {source: int(calls[self.element]) for source, calls in self.held.calls.items()}
        return {source: call for source, call in found.items() if call >= 0}

    @property
    def picked(self) -> PickedElement:
        """The element as its view takes it."""
        picked: PickedElement = self.held.picked(self.element, self.local)
        return picked

    @property
    def traces(self) -> dict[str, int]:
        """Key of a trace -> the call of it that the element represents."""
        keys = trace_state.keys_of(bpy.data.collections[self.view])
        return {keys[source]: call for source, call in self.calls.items() if source < len(keys)}

    def is_same(self, other: "Hit | None") -> bool:
        """Whether both are the same element."""
        return other is not None and (self.shown, self.element) == (other.shown, other.element)


def _unprojector(region: bpy.types.Region, view: bpy.types.RegionView3D) -> Any:
    back = np.linalg.inv(np.array(view.perspective_matrix, np.float64))
    width, height = max(region.width, 1), max(region.height, 1)

    def at(x: float, y: float, depth: float) -> NDArray[np.float64]:
        corner = back @ np.array([2 * x / width - 1, 2 * y / height - 1, depth, 1.0])
        return np.asarray(corner[:3] / corner[3])

    return at


def ray_through(
    region: bpy.types.Region, view: bpy.types.RegionView3D, x: float, y: float, reach: float = REACH
) -> Ray:
    """Return the ray through a pixel of a 3D view's region, ``reach`` pixels thick."""
    at = _unprojector(region, view)
    near, far = at(x, y, -1.0), at(x, y, 0.5)
    wide = np.linalg.norm(at(x + 1, y, -1.0) - near), np.linalg.norm(at(x + 1, y, 0.5) - far)
    length = float(np.linalg.norm(far - near))
    growth = reach * float(wide[1] - wide[0]) / max(length, 1e-30)
    return Ray.of(near, far - near, reach * float(wide[0]), max(growth, 0.0))


def project(region: bpy.types.Region, view: bpy.types.RegionView3D, points: Any) -> NDArray[np.float64]:
    """Return where points (n, 3) of the scene fall, in pixels of the region (n, 2); NaN behind the eye."""
    matrix = np.array(view.perspective_matrix, np.float64)
    at = np.asarray(points, np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    depth = np.asarray(points, np.float64) @ matrix[3, :3] + matrix[3, 3]
    depth = np.where(depth > 0, depth, np.nan)
    half = np.array([region.width, region.height]) / 2
    return np.asarray(half + half * at[:, :2] / depth[:, None])


def shown_in(scene: bpy.types.Scene, space: Any = None) -> list[tuple[Any, Any, Any]]:
    """Return view, object and what it holds, of all visible parts of the scene's views."""
    from ...tracevis3d.scene.window import element_metadata as held

    found = []
    for view in settings.all_in(scene):
        for shown in view.objects:
            if "tracevis3d_kind" in shown and (
                shown.visible_get(viewport=space) if space is not None else shown.visible_get()
            ):
                holds = held.held(shown)
                if holds is not None and len(holds):
                    found.append((view, shown, holds))
    return found


def under(
    context: bpy.types.Context, region: bpy.types.Region, space: bpy.types.SpaceView3D, x: float, y: float
) -> Hit | None:
    """Return the element under a pixel of a 3D view's region; None if there is none that can be described."""
    return met(context.scene, ray_through(region, space.region_3d, x, y), space)


def met(scene: bpy.types.Scene, ray: Ray, space: Any = None) -> Hit | None:
    """Return the element that ``ray`` meets first; None if it meets none that can be described.

    All other objects cover what is behind them, except thin lines. Boxes that are hit count before
    those that are only passed closely.
    """
    from ...tracevis3d.scene.window import element_metadata as held

    present = shown_in(scene, space)
    for thick in (False, True):
        best: Hit | None = None
        nearest = np.inf
        covered = False
        for view, shown, holds in present:
            if not holds.tells and (thick or holds.word in ("Lines", "Tubes")):
                continue
            own = held.local_ray(ray, shown.matrix_world)
            if own is None:
                continue
            inside, scale = own
            now = held.now_of(shown, scene.frame_current_final) if len(holds.time) else 1.0
            found = holds.pick(inside, thick, now, nearest * scale)
            if found is None:
                continue
            nearest, covered = found.distance / scale, not holds.tells
            if not covered:
                local = inside.origin + found.distance * inside.direction
                point = ray.origin + nearest * ray.direction
                best = Hit(view.name, shown.name, holds, found.element, local, point)
        if nearest < np.inf:
            return None if covered else best
    return None


def plane_point(ray: Ray, matrix: Matrix, through: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return where ``ray`` crosses the plane of an object's x and z axes through a point of the object.

    Seen from above it is the plane of x and y. The result is in the object's coordinates; None if the ray
    runs along the plane.
    """
    from ...tracevis3d.scene.window import element_metadata as held

    own = held.local_ray(ray, matrix)
    if own is None:
        return None
    inside = own[0]
    axis = 1 if abs(inside.direction[1]) >= 0.3 else 2
    if abs(inside.direction[axis]) < 1e-9:
        return None
    t = (through[axis] - inside.origin[axis]) / inside.direction[axis]
    return np.asarray(inside.origin + t * inside.direction) if t > 0 else None


def ground_point(view: bpy.types.Collection, ray: Ray) -> tuple[float, float, float]:
    """Return where a ray meets the ground of a view (z = 0), in its drawing's coordinates."""
    shown = next((o for o in view.objects if "tracevis3d_kind" in o and o.parent is None), None)
    if shown is None:
        return 0.0, 0.0, 0.0
    back = np.array(shown.matrix_world.inverted(), np.float64)
    origin = back[:3, :3] @ ray.origin + back[:3, 3]
    toward = back[:3, :3] @ ray.direction
    far = -origin[2] / toward[2] if abs(toward[2]) > 1e-9 else 0.0
    met = origin + far * toward
    return float(met[0]), float(met[1]), 0.0
