"""Moves the 3D view to a target, along van Wijk's path; the move can be interrupted."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import bpy
import numpy as np
from mathutils import Quaternion, Vector
from numpy.typing import NDArray

from ....tracevis3d.layout.flight import Flight, eased
from ...views import viewport
from .motion import Motion

_STEP = 1 / 60  # seconds between two pictures
_PACE = 0.45  # seconds for a unit of the path
_SHORTEST, _LONGEST = 0.25, 2.0  # seconds
_SHARE = 0.8  # of the free part of the region that the goal fills
_SENSOR = 36.0  # half of what Blender's 3D view takes for its sensor's width, in mm
_CLIP = 0.02  # of the distance: anything closer is clipped

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pose:
    """The viewpoint of a 3D view: its target, rotation and distance."""

    location: Vector
    rotation: Quaternion
    distance: float


def _tangents(region: Any, view: Any) -> tuple[float, float]:
    """Return half of what the region is wide and high at distance 1; without perspective, per distance."""
    matrix = view.window_matrix
    tangents = (1 / max(matrix[0][0], 1e-12), 1 / max(matrix[1][1], 1e-12))
    if view.is_perspective:
        return tangents
    distance = max(view.view_distance, 1e-12)
    return tangents[0] / distance, tangents[1] / distance


def leave_camera(
    space: bpy.types.SpaceView3D, region: bpy.types.Region, focus: Sequence[float] | Floats
) -> None:
    """Let a 3D view that looks through the camera show the same without it, about the depth of ``focus``."""
    view = space.region_3d
    if view.view_perspective != "CAMERA":
        return
    window, back = np.array(view.window_matrix), view.view_matrix.inverted()
    eye, rotation = back.translation.copy(), back.to_quaternion()
    right, up, forward = (rotation @ Vector(v) for v in ((1, 0, 0), (0, 1, 0), (0, 0, -1)))
    depth = max(float(Vector(focus) @ forward - eye @ forward), 1e-3)
    perspective = view.is_perspective
    across, along = 1 / window[0, 0], 1 / window[1, 1]
    if perspective:
        # A shifted lens, and a frame beside the middle: moved so that what lies at that depth stays in place.
        eye += right * (depth * window[0, 2] * across) + up * (depth * window[1, 2] * along)
        space.lens = min(max(_SENSOR / max(across, along), 1.0), 250.0)
    else:
        eye += right * (-window[0, 3] * across) + up * (-window[1, 3] * along)
    view.view_perspective = "PERSP" if perspective else "ORTHO"
    view.view_rotation, view.view_distance = rotation, depth
    view.view_location = eye + forward * depth
    view.update()
    if not perspective:
        view.view_distance *= across * view.window_matrix[0][0]
        view.view_location = eye + forward * depth
        view.update()


def pose_of(view: bpy.types.RegionView3D) -> Pose:
    """Return how a 3D view looks."""
    return Pose(view.view_location.copy(), view.view_rotation.copy(), view.view_distance)


def pose_for(
    region: bpy.types.Region,
    area: bpy.types.Area,
    view: bpy.types.RegionView3D,
    low: Floats,
    high: Floats,
    rotation: Quaternion | None = None,
    above: int = 0,
) -> Pose:
    """Return the pose, turned so or as now, in which a box fills the free part of a region.

    ``above`` pixels at the top are kept free.
    """
    rotation = view.view_rotation.copy() if rotation is None else rotation
    axes = np.array([rotation @ Vector(v) for v in ((1, 0, 0), (0, 1, 0), (0, 0, -1))])
    corners = np.array(list(product(*zip(low, high)))) @ axes.T
    middle = (corners.max(axis=0) + corners.min(axis=0)) / 2
    half = (corners.max(axis=0) - corners.min(axis=0)) / 2
    left, right, top = viewport.covered(area, region)
    top += above
    free_x = max(region.width - left - right, 64) / region.width
    free_y = max(region.height - top, 64) / region.height
    tan_x, tan_y = _tangents(region, view)
    distance = max(half[0] / (tan_x * free_x * _SHARE), half[1] / (tan_y * free_y * _SHARE), 1e-6)
    if view.is_perspective:
        distance += half[2]
    # Sidebars lie on the region: its free part has another middle.
    middle[0] += distance * tan_x * (right - left) / region.width
    middle[1] += distance * tan_y * top / region.height
    return Pose(Vector((axes.T @ middle).tolist()), rotation, distance)


@dataclass
class _Way:
    """One way of one 3D view."""

    area: Any
    path: Flight
    start: Pose
    goal: Pose
    width: float  # seen at distance 1
    begun: float
    lasts: float

    def step(self) -> float | None:
        share = min((time.perf_counter() - self.begun) / self.lasts, 1.0)
        if not viewport.is_open(self.area):
            return None
        place(self.area.spaces.active, self._at(eased(share)))
        self.area.tag_redraw()
        return _STEP if share < 1.0 else None

    def arrive(self) -> None:
        self.begun = -math.inf

    def _at(self, share: float) -> Pose:
        middle, width = self.path.at(share)
        rotation = self.start.rotation.slerp(self.goal.rotation, share)
        return Pose(Vector(middle.tolist()), rotation, width / self.width)


def place(space: bpy.types.SpaceView3D, pose: Pose) -> None:
    """Let a 3D view look so."""
    view = space.region_3d
    view.view_location, view.view_rotation, view.view_distance = pose.location, pose.rotation, pose.distance
    # Near things need a near cut; what is far needs none, which keeps the depths apart.
    if pose.distance * _CLIP < space.clip_start:
        space.clip_start = max(pose.distance * _CLIP, 1e-6)
    view.update()


motion: Motion[_Way] = Motion()


def stop() -> bool:
    """Break the way off where it is; returns whether there was one."""
    return motion.stop()


def is_on_the_way() -> bool:
    """Return whether a 3D view is on its way."""
    return motion.current is not None


def fly(area: bpy.types.Area, goal: Pose, at_once: bool = False) -> None:
    """Send the 3D view of ``area`` to ``goal``; a way that it is on is broken off."""
    stop()
    space = area.spaces.active
    region = next(region for region in area.regions if region.type == "WINDOW")
    start = pose_of(space.region_3d)
    width = 2 * _tangents(region, space.region_3d)[0]
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
    lasts = min(max(_PACE * path.length, _SHORTEST), _LONGEST)
    if math.isnan(lasts):
        return
    motion.start(_Way(area, path, start, goal, width, time.perf_counter(), lasts))


def fly_to_box(
    area: bpy.types.Area,
    low: Floats,
    high: Floats,
    at_once: bool = False,
    rotation: Quaternion | None = None,
    above: int = 0,
) -> None:
    """Send the 3D view of ``area`` to where a box from ``low`` to ``high`` fills it, turned so or as now."""
    space = area.spaces.active
    region = next(region for region in area.regions if region.type == "WINDOW")
    stop()
    leave_camera(space, region, (low + high) / 2)
    fly(area, pose_for(region, area, space.region_3d, low, high, rotation, above), at_once)


def world_box(shown: Any, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the box in the scene around boxes (n, 3) in an object's coordinates."""
    matrix = np.array(shown.matrix_world, np.float64)
    corners = np.array(list(product(*zip(low.min(axis=0), high.max(axis=0)))))
    moved = corners @ matrix[:3, :3].T + matrix[:3, 3]
    return moved.min(axis=0), moved.max(axis=0)
