"""Moves the 3D view to a target, along van Wijk's path; the move can be interrupted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
from mathutils import Matrix, Quaternion, Vector

from ....tracevis3d.layout.sight.affine import Box, Floats, middle
from ....tracevis3d.layout.sight.flight import Flight, Pace, eased
from ....tracevis3d.layout.sight.framing import Lens, Region, framed, without_camera
from ... import signals
from ...views import viewport
from .motion import Motion, Timed

_STEP = 1 / 60  # seconds between two pictures
_PACE = Pace(0.45, 0.25, 2.0)
_CLIP = 0.02  # of the distance: anything closer is clipped
#: Share of the location's distance from the origin: from nearer, one would see how a matrix is rounded.
_FAR = 0.01
AXES = tuple(Vector(axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, -1)))  # right, up, forward


@dataclass(frozen=True)
class Pose:
    """The viewpoint of a 3D view: its target, rotation and distance."""

    location: Vector
    rotation: Quaternion
    distance: float


def lens_of(view: bpy.types.RegionView3D) -> Lens:
    """Return how a 3D view projects onto its region."""
    return Lens.of(view.window_matrix, view.is_perspective, view.view_distance)


def axes_of(rotation: Quaternion) -> list[Vector]:
    """Return the unit vectors to the right, up and forward of a 3D view that is turned so."""
    return [rotation @ axis for axis in AXES]


def width_seen(view: bpy.types.RegionView3D) -> float:
    """Return how much a 3D view shows across, at the depth that it turns about, in scene units."""
    return 2 * lens_of(view).tangents[0] * float(view.view_distance)


def leave_camera(
    space: bpy.types.SpaceView3D, region: bpy.types.Region, focus: Sequence[float] | Floats
) -> None:
    """Let a 3D view that looks through the camera show the same without it, about the depth of ``focus``."""
    view = space.region_3d
    if view.view_perspective != "CAMERA":
        return
    lens, back = lens_of(view), view.view_matrix.inverted()
    eye, rotation = back.translation.copy(), back.to_quaternion()
    location, distance, millimetres = without_camera(eye, axes_of(rotation), lens, focus)
    if lens.perspective:
        space.lens = millimetres
    view.view_perspective = "PERSP" if lens.perspective else "ORTHO"
    view.view_rotation, view.view_distance, view.view_location = rotation, distance, location
    view.update()
    if not lens.perspective:
        # How much is seen at a distance depends on Blender's settings: it is measured.
        view.view_distance *= view.window_matrix[0][0] / lens.window[0, 0]
        view.view_location = location
        view.update()


def pose_of(view: bpy.types.RegionView3D) -> Pose:
    """Return how a 3D view looks."""
    return Pose(view.view_location.copy(), view.view_rotation.copy(), view.view_distance)


def pose_for(
    region: bpy.types.Region,
    area: bpy.types.Area,
    view: bpy.types.RegionView3D,
    box: Box,
    rotation: Quaternion | None = None,
    above: int = 0,
) -> Pose:
    """Return the pose, turned so or as now, in which a box fills the free part of a region.

    ``above`` pixels at the top are kept free.
    """
    rotation = view.view_rotation.copy() if rotation is None else rotation
    left, right, top = viewport.covered(area, region)
    free = Region(region.width, region.height, left, right, top + above)
    location, distance = framed(box, axes_of(rotation), lens_of(view), free)
    return Pose(Vector(location.tolist()), rotation, distance)


class _Way(Timed):
    """One way of one 3D view.

    Parameters
    ----------
    area : bpy.types.Area
    path : Flight
    start, goal : Pose
    width : float
        Seen at distance 1.
    """

    def __init__(self, area: Any, path: Flight, start: Pose, goal: Pose, width: float) -> None:
        super().__init__(_PACE.seconds(path.length))
        self.area, self.path, self.start, self.goal, self.width = area, path, start, goal, width

    def step(self) -> float | None:
        share = self.share()
        if not viewport.is_open(self.area):
            return None
        place(self.area.spaces.active, self._at(eased(share)))
        self.area.tag_redraw()
        return _STEP if share < 1.0 else None

    def _at(self, share: float) -> Pose:
        middle, width = self.path.at(share)
        rotation = self.start.rotation.slerp(self.goal.rotation, share)
        return Pose(Vector(middle.tolist()), rotation, width / self.width)


def place(space: bpy.types.SpaceView3D, pose: Pose) -> None:
    """Let a 3D view look so."""
    view = space.region_3d
    if pose.distance > _FAR * pose.location.length:
        # Setting location and rotation would have the whole window drawn again, not only this area. Blender
        # takes the location from the matrix as it is where there is no distance.
        view.view_distance = 0.0
        view.view_matrix = (Matrix.Translation(pose.location) @ pose.rotation.to_matrix().to_4x4()).inverted()
    else:
        view.view_location, view.view_rotation = pose.location, pose.rotation
    view.view_distance = pose.distance
    # Near elements need a near clipping plane; far ones don't, which keeps depth precision.
    if pose.distance * _CLIP < space.clip_start:
        space.clip_start = max(pose.distance * _CLIP, 1e-6)
    view.update()


motion: Motion[_Way] = Motion()
#: A 3D view is about to be sent somewhere: its area.
on_fly: signals.Signal[[Any]] = signals.Signal()


def stop() -> bool:
    """Break the way off where it is; returns whether there was one."""
    return motion.stop()


def is_on_the_way() -> bool:
    """Return whether a 3D view is on its way."""
    return motion.current is not None


def fly(area: bpy.types.Area, goal: Pose, at_once: bool = False) -> None:
    """Send the 3D view of ``area`` to ``goal``; a way that it is on is broken off."""
    stop()
    on_fly.send(area)
    space = area.spaces.active
    start = pose_of(space.region_3d)
    width = 2 * lens_of(space.region_3d).tangents[0]
    path = Flight.between(
        list(start.location),
        max(start.distance, 1e-9) * width,
        list(goal.location),
        max(goal.distance, 1e-9) * width,
    )
    if at_once or bpy.app.background or bpy.context.preferences.view.smooth_view == 0:
        place(space, goal)
        area.tag_redraw()
        return
    if math.isnan(path.length):
        return
    motion.start(_Way(area, path, start, goal, width))


def fly_to_box(
    area: bpy.types.Area,
    box: Box,
    at_once: bool = False,
    rotation: Quaternion | None = None,
    above: int = 0,
) -> None:
    """Send the 3D view of ``area`` to where a box fills it, turned so or as now."""
    space = area.spaces.active
    region = next(region for region in area.regions if region.type == "WINDOW")
    stop()
    leave_camera(space, region, middle(box))
    fly(area, pose_for(region, area, space.region_3d, box, rotation, above), at_once)
