"""Riding along time: the wheel with Alt is the clock, and one looks as before."""

import math
import time
from typing import Any

import bpy
from mathutils import Vector

from ....tracevis3d import units
from ....tracevis3d.layout.sight.affine import middle
from ...state import settings
from ...views import viewport
from .. import marks
from ..sight import slabs
from . import zoom
from .motion import Motion
from .zoom import Pose

_STEP = 1 / 60  # seconds between two pictures
_NOTCH = 0.07  # of what is seen across, for each notch of the wheel
_SECONDS = 0.07  # in which all but a third of what is left is ridden, however long a picture takes
_THERE = 0.002  # of what is seen across: nearer is there


class _Ride:
    """A 3D view on its way along the axis of time of a view."""

    def __init__(self, area: Any, goal: Vector) -> None:
        self.area, self.goal, self._last = area, goal, time.perf_counter()

    def arrive(self) -> None:
        """Let the next step be the last one."""
        self._last = -math.inf

    def step(self) -> float | None:
        if not viewport.is_open(self.area):
            return None
        view = self.area.spaces.active.region_3d
        now = time.perf_counter()
        left = (self.goal - view.view_location) * math.exp((self._last - now) / _SECONDS)
        self._last = now
        there = left.length < _THERE * view.view_distance
        _to(self.area, self.goal if there else self.goal - left)
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
    time_there = marks.time_in(view, box, axis, goal[axis])
    return f"at {units.duration(max(time_there, 0), 5)}" if time_there is not None else "riding along time"
