"""Let the 3D view show a call that was gone to."""

from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ..explore.motion import zoom
from ..state import settings, trace_state
from ..views import viewport
from . import pins


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
        hit = _facts(context, trace, number)
        if hit is None:
            continue
        (at,) = pins.places(collection, [(keys.index(trace), hit)])
        if np.isfinite(at[0]):
            _move(context, Vector(at.tolist()) + Vector(settings.of(collection).place))
            return True
    return False


def _facts(context: bpy.types.Context, trace: str, number: int) -> SimpleNamespace | None:
    """Return number, start, thread and depth of a call: of the trace, or of the list of results."""
    from ..state import sources

    if (loaded := sources.loaded(trace)) is not None and number < len(loaded.calls):
        return facts_of(loaded, number)
    for hit in context.scene.tracevis3d_search.hits:
        if hit.call == number and context.scene.tracevis3d_search.trace == trace:
            return SimpleNamespace(call=number, start=int(hit.start), thread=hit.thread, depth=hit.depth)
    return SimpleNamespace(call=number, start=0, thread=-1, depth=-1)


def facts_of(trace: Any, call: int) -> SimpleNamespace:
    """Return number, start, thread and depth of a call of ``trace``."""
    calls = trace.calls
    return SimpleNamespace(
        call=call, start=int(calls.start[call]), thread=int(calls.thread[call]), depth=int(calls.depth[call])
    )


def _move(context: bpy.types.Context, at: Vector) -> None:
    area = viewport.area_of(context)
    if area is None:
        return
    view = area.spaces.active.region_3d
    if view.view_perspective != "CAMERA":
        now = zoom.pose_of(view)
        zoom.fly(area, zoom.Pose(at, now.rotation, now.distance))
    area.tag_redraw()
