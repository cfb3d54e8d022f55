"""Back and forth through where each 3D view has looked from."""

from dataclasses import dataclass

import bpy

from ....tracevis3d.layout.sight.trail import Trail
from . import zoom
from .zoom import Pose

#: Poses that differ by less than this share of their distance, and by less than this many radians, count as
#: the same.
_MOVED, _TURNED = 0.04, 0.04


@dataclass(frozen=True)
class _Place:
    """How a 3D view looks, and whether it does so through the camera."""

    pose: Pose
    by_camera: bool


def _is_near(one: _Place, other: _Place) -> bool:
    if one.by_camera or other.by_camera:
        return one.by_camera == other.by_camera
    a, b = one.pose, other.pose
    far = max(a.distance, b.distance)
    return (
        (a.location - b.location).length <= _MOVED * far
        and abs(a.distance - b.distance) <= _MOVED * far
        and a.rotation.rotation_difference(b.rotation).angle <= _TURNED
    )


#: By 3D view: its area's pointer as a number.
_trails: dict[int, Trail[_Place]] = {}


def _here(area: bpy.types.Area) -> _Place:
    view = area.spaces.active.region_3d
    return _Place(zoom.pose_of(view), view.view_perspective == "CAMERA")


def visit(area: bpy.types.Area) -> None:
    """Remember how a 3D view looks now."""
    _trails.setdefault(area.as_pointer(), Trail(_is_near)).visit(_here(area))


def go(area: bpy.types.Area, back: bool) -> bool:
    """Send a 3D view back to where it looked from before, or forth; return whether there is such a place."""
    visit(area)
    trail = _trails[area.as_pointer()]
    place = trail.back() if back else trail.forth()
    if place is None:
        return False
    space = area.spaces.active
    if place.by_camera:
        zoom.stop()
        space.region_3d.view_perspective = "CAMERA"
        area.tag_redraw()
        return True
    if space.region_3d.view_perspective == "CAMERA":
        region = next(region for region in area.regions if region.type == "WINDOW")
        zoom.leave_camera(space, region, place.pose.location)
    with zoom.on_fly.without(visit):
        zoom.fly(area, place.pose)
    return True


def register() -> None:
    """Remember where each way begins."""
    zoom.on_fly.connect(visit)


def unregister() -> None:
    """Undo :func:`register`."""
    zoom.on_fly.disconnect(visit)
    forget()


def forget() -> None:
    """Let go of all places: another file is opened."""
    _trails.clear()
