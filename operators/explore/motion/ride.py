"""Riding along time: the wheel with Alt is the clock, and one looks as before."""

from typing import Any

import bpy
from mathutils import Vector

from ....tracevis3d import units
from ....tracevis3d.layout.sight.affine import Box, middle
from ...state import settings
from ...views import viewport
from .. import marks
from ..sight import slabs
from . import drum, zoom
from .motion import Motion
from .zoom import Pose

_STEP = 1 / 60  # seconds between two pictures
_NOTCH = 0.07  # of what is seen across, for each notch of the wheel
_SHARE = 0.22  # of what is left is ridden with each picture
_THERE = 0.002  # of what is seen across: nearer is there


class _Ride:
    """A 3D view on its way along the axis of time of a view."""

    def __init__(self, area: Any, goal: Vector) -> None:
        self.area, self.goal = area, goal

    def arrive(self) -> None:
        """Be there at once."""
        _to(self.area, self.goal)

    def step(self) -> float | None:
        if not viewport.is_open(self.area):
            return None
        view = self.area.spaces.active.region_3d
        left = self.goal - view.view_location
        there = left.length < _THERE * view.view_distance
        _to(self.area, self.goal if there else view.view_location + _SHARE * left)
        return None if there else _STEP


def _to(area: Any, location: Vector) -> None:
    space = area.spaces.active
    pose = zoom.pose_of(space.region_3d)
    zoom.place(space, Pose(location.copy(), pose.rotation, pose.distance))
    area.tag_redraw()


motion: Motion[_Ride] = Motion()


def turned(context: bpy.types.Context, place: Any, view: bpy.types.Collection | None, onwards: bool) -> str:
    """Ride on, or back, by a notch of the wheel; return where one is then, in words.

    Parameters
    ----------
    context : bpy.types.Context
    place : Place
        Of the mouse.
    view : bpy.types.Collection or None
        The view whose time it is.
    onwards : bool
    """
    box = slabs.box_of(view) if settings.is_view(view) else None
    if view is None or box is None:
        return "Point at a view"
    zoom.stop()
    space = place.space
    zoom.leave_camera(space, place.region, middle(box))
    axis = slabs.axis_of_time(view)
    now = motion.current.goal if motion.current is not None else space.region_3d.view_location
    goal = Vector(now)
    seen = zoom.width_seen(space.region_3d)
    goal[axis] = min(max(goal[axis] + (seen if onwards else -seen) * _NOTCH, box[0][axis]), box[1][axis])
    motion.start(_Ride(place.area, goal), bpy.context.preferences.view.smooth_view == 0)
    return _clock(view, box, axis, goal)


def _clock(view: bpy.types.Collection, box: Box, axis: int, location: Vector) -> str:
    """Return the time of a view at a place of the scene, in words."""
    for shown in view.objects:
        if drum.of_object(shown) is not None:
            place = (location[axis] - box[0][axis]) / max(box[1][axis] - box[0][axis], 1e-9)
        elif marks.holding_of(shown) is not None and not drum.of_view(view):
            place = (shown.matrix_world.inverted() @ location)[0]
        else:
            continue
        time = marks.time_at(shown, place)
        if time is not None:
            return f"at {units.duration(max(time, 0), 5)}"
    return "riding along time"
