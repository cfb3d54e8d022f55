"""The wheel: with Ctrl it zooms and with Shift it scrolls, as keys do; levels that keys make higher."""

from collections.abc import Callable
from typing import Any

import bpy
from mathutils import Vector

from ....tracevis3d.layout.sight.affine import box_around, corners
from .. import actions, acts, pointer
from . import live_bars, zoom

#: The wheel's events: zoom in, and zoom out.
NOTCHES = ("WHEELUPMOUSE", "WHEELDOWNMOUSE")
_FACTOR = 1.5  # zoom factor of a notch
#: Keys -> how much of the region's height they move, upwards.
KEYS = {"UP_ARROW": 0.08, "DOWN_ARROW": -0.08, "PAGE_UP": 0.8, "PAGE_DOWN": -0.8}
_SCROLLED = 0.08  # of the region's height
_ENDS = 0.15, 0.2  # of the region's height, below and above the data, at the ends of the way
_HIGHER = 1.3  # by which levels become higher


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


def by_key(place: Any, key: str) -> None:
    """Scroll as one of :data:`KEYS` does."""
    _scroll(place, KEYS[key])


def by_notch(place: Any, upwards: bool) -> None:
    """Scroll by a notch of the wheel."""
    _scroll(place, _SCROLLED if upwards else -_SCROLLED)


def _scroll(place: Any, share: float) -> None:
    """Move a 3D view along its own upward axis by a share of what it shows, not past the end of the data."""
    zoom.stop()
    space = place.space
    view = space.region_3d
    boxes = [pointer.box_of(shown, held) for _, shown, held in pointer.shown_in(bpy.context.scene, space)]
    box = box_around(boxes)
    if box is None:
        return
    zoom.leave_camera(space, place.region, (box[0] + box[1]) / 2)
    _, up, _ = zoom.axes_of(view.view_rotation)
    high = 2 * zoom.lens_of(view).tangents[1] * view.view_distance
    at = corners(*box) @ up
    now = view.view_location @ up
    least, most = float(at.min()) + (0.5 - _ENDS[0]) * high, float(at.max()) - (0.5 - _ENDS[1]) * high
    goal = min(max(now + share * high, min(least, now)), max(most, now))
    pose = zoom.pose_of(view)
    zoom.place(space, zoom.Pose(pose.location + up * (goal - now), pose.rotation, pose.distance))
    place.area.tag_redraw()


def heighten(view: Any, higher: bool, hit: Any, area: Any, say: Callable[[str], None]) -> bool:
    """Make the levels of a view higher, or lower; return whether it can do that.

    What the mouse is over stays where it is, in the 3D view of ``area``.
    """
    name = view.name
    before = _height_of(view, hit)
    if not acts.trigger(view, "heighten", say=say, amount=_HIGHER if higher else 1 / _HIGHER):
        return False
    view = bpy.data.collections.get(name)
    after = _height_of(view, hit) if view is not None else None
    if before is not None and after is not None and area is not None:
        pose = zoom.pose_of(area.spaces.active.region_3d)
        moved = pose.location + Vector((0.0, 0.0, after - before))
        zoom.place(area.spaces.active, zoom.Pose(moved, pose.rotation, pose.distance))
        area.tag_redraw()
    return True


def _height_of(view: Any, hit: Any) -> float | None:
    """Return how high in the scene the element that was hit is drawn; None if it is not drawn."""
    if hit is None or hit.view != view.name:
        return None
    wanted = int(hit.pickable.id[hit.element])
    for _, shown, held in pointer.shown_in(bpy.context.scene):
        if held.kind == hit.kind and shown.name in view.objects:
            for element in (held.id == wanted).nonzero()[0][:1]:
                low, high = pointer.box_of(shown, held, [int(element)])
                return float(low[2] + high[2]) / 2
    return None
