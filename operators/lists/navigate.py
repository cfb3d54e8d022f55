"""Let the 3D view show a call that was gone to."""

import bpy
from mathutils import Vector

from ...tracevis3d.scene.window.call_places import CallReference, places
from ..explore.motion import zoom
from ..state import settings, sources, trace_state
from ..views import arrange, viewport


def call(context: bpy.types.Context, trace: str, number: int) -> bool:
    """Let the 3D view fly to where the call is drawn in the active view, else in another of the scene.

    A view through a camera shows the whole already: it stays as it is. Returns whether it is drawn.
    """
    scene = context.scene
    active = settings.active_in(scene)
    present = sorted(settings.all_in(scene), key=lambda view: view != active)
    for collection in present:
        keys = trace_state.keys_of(collection)
        if trace not in keys:
            continue
        sought = _sought(context, trace, keys.index(trace), number)
        (at,) = places(collection.objects, [sought], arrange.facing(collection) == 2).tolist()
        if at[0] == at[0]:  # no NaN
            _move(context, Vector(at) + Vector(settings.of(collection).place))
            return True
    return False


def _sought(context: bpy.types.Context, trace: str, source: int, number: int) -> CallReference:
    """Return the data needed to find a call: from the trace, or from the list of results."""
    if (loaded := sources.loaded(trace)) is not None and number < len(loaded.calls):
        return CallReference.of(loaded, source, number)
    for hit in context.scene.tracevis3d_search.hits:
        if hit.call == number and context.scene.tracevis3d_search.trace == trace:
            return CallReference(source, number, int(hit.start), hit.thread, hit.depth)
    return CallReference(source, number)


def _move(context: bpy.types.Context, at: Vector) -> None:
    area = viewport.area_of(context)
    if area is None:
        return
    view = area.spaces.active.region_3d
    if view.view_perspective != "CAMERA":
        now = zoom.pose_of(view)
        zoom.fly(area, zoom.Pose(at, now.rotation, now.distance))
    area.tag_redraw()
