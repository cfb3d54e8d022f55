"""The wheel with Ctrl, and the key that undoes its zoom: actions that views declare."""

from typing import Any

import bpy

from .. import actions, acts, pointer
from . import live_bars

#: The wheel's events: zoom in, and zoom out.
NOTCHES = ("WHEELUPMOUSE", "WHEELDOWNMOUSE")
_FACTOR = 1.5  # zoom factor of a notch


def turned(context: bpy.types.Context, event: bpy.types.Event, place: Any) -> bool:
    """Zoom by a notch of the wheel; return whether there is anything to zoom."""
    factor = _FACTOR if event.type == NOTCHES[0] else 1 / _FACTOR
    ray = pointer.ray_through(place.region, place.space.region_3d, place.x, place.y)
    if live_bars.zoom(context.scene, ray, factor):
        return True
    view = actions.view_with(context.scene, "wheel")
    return view is not None and acts.trigger(
        view, "wheel", point=pointer.ground_point(view, ray), amount=factor
    )


def back(scene: bpy.types.Scene) -> bool:
    """Take back what the wheel did; return whether there was anything."""
    if live_bars.zoom_back(scene):
        return True
    view = actions.view_with(scene, "home")
    return view is not None and acts.trigger(view, "home")
