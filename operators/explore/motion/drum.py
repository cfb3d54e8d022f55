"""Time drums under the mouse: calls on the mantle, and the position along the time axis.

A drum is found again by its rims, which are in the .blend: its section at the beginning and the end of time.
"""

from dataclasses import dataclass
from typing import Any

import bpy
from mathutils import Matrix

from ....tracevis3d.drawing.picked import Description
from ....tracevis3d.errors import TraceVisError
from ....tracevis3d.layout.sight.affine import Floats, inverse_transformed, transformed
from ....tracevis3d.layout.sight.picking import Ray
from ....tracevis3d.layout.sight.time_surfaces import Cylinder, from_lower_end
from ....tracevis3d.parameters import as_key
from ....tracevis3d.scene.window import element_metadata
from ....tracevis3d.views import registry as views
from ....tracevis3d.views.time_window import Clock, TimeAxis, clock_of
from ...state import settings, sources


@dataclass(frozen=True, eq=False)
class Drum:
    """One drum of a view, in the coordinates of the object that shows its rims.

    Attributes
    ----------
    view, shown : str
        Names of the view's collection and of the object.
    source : int
        Which of the view's traces.
    surface : Cylinder
        The mantle, around the hierarchy.
    """

    view: str
    shown: str
    source: int
    surface: Cylinder

    @property
    def matrix(self) -> Matrix:
        """From the drum's coordinates to the scene's."""
        return bpy.data.objects[self.shown].matrix_world

    def share_along(self, ray: Ray, through: Floats) -> float | None:
        """Return the share of time at which a ray of the scene passes the line along time ``through``."""
        own = ray.within(self.matrix)
        return self.surface.share_along(own[0], through) if own is not None else None

    def met(self, ray: Ray) -> tuple[Floats, float, float] | None:
        """Return where a ray of the scene meets the mantle: point, share of time, place around it, 0 to 1.

        That is where the mantle is seen from inside, or where it is met first if it is shown as a whole.
        """
        own = ray.within(self.matrix)
        return self.surface.met(own[0], _is_solid(self)) if own is not None else None


def of_object(shown: Any) -> Drum | None:
    """Return the drum whose rims an object shows; None if it shows none."""
    view = (
        next((v for v in shown.users_collection if settings.is_view(v)), None) if shown is not None else None
    )
    axis = declared(view) if view is not None else None
    if view is None or axis is None or shown.get("tracevis3d_kind") != axis.kind:
        return None
    pickable = element_metadata.pickable_mesh(shown)
    if pickable is None or len(pickable.first) < 3:
        return None
    begin, end = (pickable.middle[pickable.first[i] : pickable.first[i + 1]] for i in (0, 1))
    surface = Cylinder.between(begin, end)
    return Drum(view.name, shown.name, pickable.source, surface) if surface is not None else None


def of_view(view: bpy.types.Collection) -> list[Drum]:
    """Return the drums that a view shows."""
    return [drum for shown in view.objects if shown.visible_get() and (drum := of_object(shown)) is not None]


def all_in(scene: bpy.types.Scene) -> list[Drum]:
    """Return the drums of all views of a scene."""
    return [drum for view in settings.all_in(scene) for drum in of_view(view)]


def declared(view: bpy.types.Collection) -> TimeAxis | None:
    """Return the axis of time that a view declares; None if its times lie along x."""
    try:
        return views.find(settings.of(view).view).time_axis
    except TraceVisError:
        return None


def where(drum: Drum) -> Clock | None:
    """Return the index of positions on a drum; None if its traces are not in memory."""
    view = bpy.data.collections[drum.view]
    traces, axis = sources.in_memory(view), declared(view)
    if traces is None or axis is None:
        return None
    try:
        parameters = views.find(settings.of(view).view).parameters
        return clock_of(traces, axis, parameters, as_key(settings.values(view)))
    except TraceVisError:
        return None


def _is_solid(drum: Drum) -> bool:
    view = bpy.data.collections[drum.view]
    axis = declared(view)
    return axis is not None and axis.is_solid(settings.values(view))


def begin(scene: bpy.types.Scene, ray: Ray, hit: Any) -> tuple[str, Floats, float] | None:
    """Return the object, a point in its coordinates and the share of time where dragging begins.

    ``hit`` is the pressed element; without one it is the mantle.
    """
    drums = all_in(scene)
    if hit is not None:
        for drum in drums:
            if drum.view == hit.view and drum.source == hit.pickable.source:
                through = _inside(drum, hit.point)
                return drum.shown, through, drum.surface.share_of(through)
        return None
    for drum in drums:
        found = drum.met(ray)
        if found is not None:
            return drum.shown, found[0], found[1]
    return None


def beside(scene: bpy.types.Scene, ray: Ray) -> tuple[str, Floats, float] | None:
    """Return where dragging beside all elements begins: on the line in the middle of a drum."""
    for drum in all_in(scene):
        through = drum.surface.middle
        share = drum.share_along(ray, through)
        if share is not None:
            return drum.shown, through, share
    return None


def _inside(drum: Drum, point: Floats) -> Floats:
    """Return a point of the scene in the drum's coordinates."""
    return inverse_transformed(drum.matrix, point)


def quads(drum: Drum, left: float, right: float) -> list[Floats]:
    """Return the corners (4, 3), in the scene, of the pieces of a band around the mantle, from end to end."""
    return from_lower_end(transformed(drum.matrix, drum.surface.band(left, right)))


def describe_at(scene: bpy.types.Scene, ray: Ray) -> list[Description]:
    """Return the description of the place on a mantle that a ray meets; empty if it meets none."""
    for drum in all_in(scene):
        found = drum.met(ray)
        knows = where(drum) if found is not None else None
        if found is None or knows is None:
            continue
        return [knows.describe(drum.source, found[1], found[2])]
    return []


def share_under(view: bpy.types.Collection, hit: Any) -> float | None:
    """Return the share of time at which an element of a drum was met; None if it is on none."""
    drum = _of_hit(view, hit)
    return drum.surface.share_of(_inside(drum, hit.point)) if drum is not None else None


def time_under(view: bpy.types.Collection, hit: Any) -> int | None:
    """Return the time at which an element of a drum was met, in nanoseconds; None if it is on none."""
    drum = _of_hit(view, hit)
    knows = where(drum) if drum is not None else None
    if drum is None or knows is None:
        return None
    return int(knows.time_at(drum.source, drum.surface.share_of(_inside(drum, hit.point))))


def _of_hit(view: bpy.types.Collection, hit: Any) -> Drum | None:
    return next((drum for drum in of_view(view) if drum.source == hit.pickable.source), None)
