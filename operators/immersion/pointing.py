"""Pointing with a controller: a sign says what it points at. The add-on VR Scene Inspection tracks it."""

from typing import Any

import bpy
from mathutils import Quaternion, Vector

from ...tracevis3d.layout.sight.picking import Ray
from ...tracevis3d.scene import styles
from ...tracevis3d.scene.window import immersion
from ..explore import pointer, tooltip
from ..state import settings

_EVERY, _RARELY = 0.1, 1.0  # seconds between two looks, while a session runs and while none does
#: How close a thin element must pass, as a share of its distance.
_REACH = 0.01
#: The right hand, then the left.
_HANDS = (1, 0)
_ROWS = 4
#: How far before what it is about the sign stands, as a share of the way to the eye.
_BEFORE = 0.15
_GROUP = "pointed"
#: What the sign is of.
_last: list[pointer.Hit] = []


def start() -> None:
    """Look at what controllers point at, from now on."""
    if not bpy.app.timers.is_registered(_look):
        bpy.app.timers.register(_look, first_interval=_RARELY)


def stop() -> None:
    """Look no more."""
    _last.clear()
    if bpy.app.timers.is_registered(_look):
        bpy.app.timers.unregister(_look)


def _look() -> float | None:
    context = bpy.context
    if not bpy.types.XrSessionState.is_running(context):
        return _RARELY
    place = immersion.home(context.scene)
    if place is None:
        return None
    state = context.window_manager.xr_session_state
    ray = aimed(state, context)
    point_at(context.scene, place, ray, state.viewer_pose_location)
    return _EVERY


def aimed(state: Any, context: bpy.types.Context) -> Ray | None:
    """Return the ray of the right controller, or of the left; None where neither is tracked."""
    for hand in _HANDS:
        at = Vector(state.controller_aim_location_get(context, hand))
        turned = Quaternion(state.controller_aim_rotation_get(context, hand))
        if at.length > 0 and turned.magnitude > 0.5:
            ahead = turned @ Vector((0.0, 0.0, -1.0))
            return Ray.of(at, ahead, growth=_REACH)
    return None


def point_at(scene: bpy.types.Scene, place: bpy.types.Collection, ray: Ray | None, eye: Any) -> None:
    """Show a sign at the element that a ray meets, unless it is there; without one, none is shown."""
    hit = pointer.met(scene, ray) if ray is not None else None
    if hit is None:
        if _last:
            _last.clear()
            immersion.remove(place, _GROUP)
        return
    if _last and hit.is_same(_last[0]):
        return
    _last[:] = [hit]
    immersion.remove(place, _GROUP)
    said = tooltip.describe_hit(hit)
    if not said:
        return
    rows = [f"{name}: {text}" for name, text in said[0].rows[:_ROWS]]
    style = styles.named(settings.of(bpy.data.collections[hit.view]).style)
    # Before what it is about.
    foot = Vector(hit.point).lerp(Vector(eye), _BEFORE)
    made = immersion.sign("\n".join([said[0].title, *rows]), foot, eye, style, "TraceVis3D pointed")
    immersion.show(place, made, _GROUP)
