"""The element under the mouse: found from the meshes of all views of the scene at once."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import bpy
from mathutils import Matrix

from ...tracevis3d.drawing.picked import PickedElement
from ...tracevis3d.layout.sight.affine import Box, Floats, transformed_box
from ...tracevis3d.layout.sight.picking import Ray
from ...tracevis3d.layout.sight.view_projection import ViewProjection
from ...tracevis3d.scene.window import element_metadata
from ...tracevis3d.views.element_metadata import CALLS
from ..state import settings, trace_state

#: Thin elements are met within this many pixels of the mouse.
REACH = 4.0


#: Called with an object, each returns which of its elements are to be seen, bool (n,); None: all.
seen_of: list[Callable[[Any], Any]] = []
#: Maximum number of hidden elements examined before a visible one.
_MOST_HIDDEN = 32


@dataclass(frozen=True, eq=False)
class Hit:
    """An element under the mouse.

    Attributes
    ----------
    view, shown : str
        Names of the view's collection and of the object.
    pickable : tracevis3d.scene.window.element_metadata.PickableMesh
    element : int
        Its place among those that the object shows.
    local, point : float64 (3,)
        Where it was met, in the object's coordinates and in the scene's.
    """

    view: str
    shown: str
    pickable: Any
    element: int
    local: Floats
    point: Floats

    @property
    def kind(self) -> str:
        """The kind of the element."""
        return str(self.pickable.kind)

    @property
    def is_call(self) -> bool:
        """Whether it is a call, or several merged, and not something that happens in one."""
        return self.pickable.kind in CALLS

    @property
    def calls(self) -> dict[int, int]:
        """One of the view's traces -> the call of it that the element represents."""
        found = {source: int(calls[self.element]) for source, calls in self.pickable.calls.items()}
        return {source: call for source, call in found.items() if call >= 0}

    @property
    def picked(self) -> PickedElement:
        """The element as its view takes it."""
        picked: PickedElement = self.pickable.picked(self.element, self.local)
        return picked

    @property
    def traces(self) -> dict[str, int]:
        """Key of a trace -> the call of it that the element represents."""
        keys = trace_state.keys_of(bpy.data.collections[self.view])
        return {keys[source]: call for source, call in self.calls.items() if source < len(keys)}

    def is_same(self, other: "Hit | None") -> bool:
        """Whether both are the same element."""
        return other is not None and (self.shown, self.element) == (other.shown, other.element)


def projection_of(region: bpy.types.Region, view: bpy.types.RegionView3D) -> ViewProjection:
    """Return the projection of a 3D view."""
    return ViewProjection.of(view.perspective_matrix, region.width, region.height)


def ray_through(region: bpy.types.Region, view: bpy.types.RegionView3D, x: float, y: float) -> Ray:
    """Return the ray through a pixel of a 3D view's region, :data:`REACH` pixels thick."""
    return projection_of(region, view).ray(x, y, REACH)


def shown_in(scene: bpy.types.Scene, space: Any = None) -> list[tuple[Any, Any, Any]]:
    """Return view, object and what it holds, of all visible parts of the scene's views."""
    found = []
    for view in settings.all_in(scene):
        for shown in view.objects:
            if "tracevis3d_kind" in shown and (
                shown.visible_get(viewport=space) if space is not None else shown.visible_get()
            ):
                pickable = element_metadata.pickable_mesh(shown)
                if pickable is not None and len(pickable):
                    found.append((view, shown, pickable))
    return found


def under(
    context: bpy.types.Context, region: bpy.types.Region, space: bpy.types.SpaceView3D, x: float, y: float
) -> Hit | None:
    """Return the element under a pixel of a 3D view's region; None if there is none that can be described."""
    return met(context.scene, ray_through(region, space.region_3d, x, y), space)


#: What says between which distances along a ray of a scene something is shown; None: nowhere.
cuts: list[Callable[[bpy.types.Scene, Ray], tuple[float, float] | None]] = []


def met(scene: bpy.types.Scene, ray: Ray, space: Any = None) -> Hit | None:
    """Return the element that ``ray`` meets first; None if it meets none that can be described.

    All other objects cover what is behind them, except thin lines. Boxes that are hit count before
    those that are only passed closely. What is hidden is neither met nor covers anything.
    """
    farthest = math.inf
    for cut in cuts:
        # Parts that are cut away are not hit: the ray begins where it enters the shown part.
        begin, end = cut(scene, ray) or (0.0, 0.0)
        ray, farthest = ray.beginning(begin), min(farthest, end) - begin
    present, seen = [], {}
    for entry in shown_in(scene, space):
        masks = [mask for of in seen_of if (mask := of(entry[1])) is not None]
        if all(mask.any() for mask in masks):
            present.append(entry)
            seen[entry[1].name] = masks
    for _ in range(_MOST_HIDDEN):
        hit = _met(scene, ray, present, farthest)
        if hit is None or all(mask[hit.element] for mask in seen[hit.shown]):
            return hit
        ray = replace(ray, near=math.dist(hit.point, ray.origin) * (1 + 1e-6))
    return None


def _met(
    scene: bpy.types.Scene, ray: Ray, present: list[tuple[Any, Any, Any]], farthest: float
) -> Hit | None:
    for thick in (False, True):
        best: Hit | None = None
        nearest = farthest
        covered = False
        for view, shown, pickable in present:
            if not pickable.has_description and (thick or pickable.word in ("Lines", "Tubes")):
                continue
            own = ray.within(shown.matrix_world)
            if own is None:
                continue
            inside, scale = own
            now = element_metadata.now_of(shown, scene.frame_current_final) if len(pickable.time) else 1.0
            found = pickable.pick(inside, thick, now, nearest * scale)
            if found is None:
                continue
            nearest, covered = found.distance / scale, not pickable.has_description
            if not covered:
                places = inside.at(found.distance), ray.at(nearest)
                best = Hit(view.name, shown.name, pickable, found.element, *places)
        if nearest < farthest:
            return None if covered else best
    return None


def box_of(shown: Any, pickable: Any, elements: Any = None) -> Box:
    """Return the box in the scene around some of an object's elements, or around all."""
    return transformed_box(shown.matrix_world, *pickable.bounds(elements))


def plane_point(ray: Ray, matrix: Matrix, through: Floats) -> Floats | None:
    """Return where ``ray`` crosses the plane of an object's x and z axes through a point of the object.

    Seen from above it is the plane of x and y. The result is in the object's coordinates; None if the ray
    runs along the plane.
    """
    own = ray.within(matrix)
    if own is None:
        return None
    inside = own[0]
    axis = 1 if abs(inside.direction[1]) >= 0.3 else 2
    distance = inside.crossing(axis, float(through[axis]))
    return inside.at(distance) if distance is not None and distance > 0 else None


def ground_point(view: bpy.types.Collection, ray: Ray) -> tuple[float, float, float]:
    """Return where a ray meets the ground of a view (z = 0), in its drawing's coordinates."""
    shown = next((o for o in view.objects if "tracevis3d_kind" in o and o.parent is None), None)
    own = ray.within(shown.matrix_world) if shown is not None else None
    if own is None:
        return 0.0, 0.0, 0.0
    x, y, _ = own[0].at(own[0].crossing(2, 0.0) or 0.0)
    return float(x), float(y), 0.0
