"""Walk and fly through the views by Blender's own navigation, at a speed that fits the scene."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ...mixin import OperatorMixin
from ...state import settings
from .. import overlay, pointer
from . import zoom

_SECONDS = 8.0  # that crossing the views takes


class _Moving(OperatorMixin):
    """Shared by both operators: leave the camera, set a suitable speed, and start Blender's navigation."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not settings.all_in(context.scene):
            cls.poll_message_set("This scene has no view: import a trace first")
            return False
        if context.area is None or context.area.type != "VIEW_3D":
            cls.poll_message_set("Point at a 3D view")
            return False
        return True

    def start(self, context: bpy.types.Context, how: str) -> set[str]:
        """Start Blender's operator ``how`` in the area's main region."""
        area = context.area
        region = next(region for region in area.regions if region.type == "WINDOW")
        space = area.spaces.active
        low, high = extent(context.scene)
        zoom.stop()
        zoom.leave_camera(space, region, (low + high) / 2)
        if not space.region_3d.is_perspective:
            space.region_3d.view_perspective = "PERSP"
        # Explore mode and flying would both want the mouse.
        overlay.state.exploring = False
        with (
            context.temp_override(area=area, region=region),
            speed(context, float(np.linalg.norm(high - low))),
        ):
            operator = getattr(bpy.ops.view3d, how)
            operator("INVOKE_DEFAULT")
        return {"FINISHED"}


@contextmanager
def speed(context: bpy.types.Context, length: float) -> Iterator[None]:
    """Let a walk that is started inside cross ``length`` scene units in some seconds.

    Blender reads its preferences when a walk starts: they are as they were afterwards.
    """
    preferences = context.preferences
    walk, dirty = preferences.inputs.walk_navigation, preferences.is_dirty
    before = walk.walk_speed, walk.use_gravity
    walk.walk_speed, walk.use_gravity = min(max(length / _SECONDS, 0.1), 100.0), False
    try:
        yield
    finally:
        walk.walk_speed, walk.use_gravity = before
        preferences.is_dirty = dirty


def extent(scene: bpy.types.Scene) -> tuple[Any, Any]:
    """Return lowest and highest coordinates of everything that the scene's views show."""
    boxes = [
        zoom.world_box(shown, *holds.bounds(np.arange(len(holds))))
        for _, shown, holds in pointer.shown_in(scene)
        if holds.is_boxes or holds.tells
    ]
    if not boxes:
        return np.zeros(3), np.ones(3)
    return np.min([low for low, _ in boxes], axis=0), np.max([high for _, high in boxes], axis=0)


class TRACEVIS3D_OT_walk(_Moving, bpy.types.Operator):
    """Walk through the views with W A S D, Q and E; click to stay, right-click to go back"""

    bl_idname = "tracevis3d.walk"
    bl_label = "Walk"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return self.start(context, "walk")


class TRACEVIS3D_OT_fly(_Moving, bpy.types.Operator):
    """Fly through the views, the mouse steers; click to stay, right-click to go back"""

    bl_idname = "tracevis3d.fly"
    bl_label = "Fly"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return self.start(context, "fly")


register, unregister = bpy.utils.register_classes_factory((TRACEVIS3D_OT_walk, TRACEVIS3D_OT_fly))
