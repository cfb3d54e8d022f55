"""Walk through the views by Blender's own navigation, at a speed that fits the scene, or fly."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ....tracevis3d.layout.sight.affine import UNIT_BOX, Box, box_around, diagonal, middle
from ...mixin import OperatorMixin
from ...state import settings
from .. import overlay, pointer
from . import trails, zoom

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
        """Start an operator, ``walk`` of Blender's own or ``flying``, in the area's main region."""
        area = context.area
        region = next(region for region in area.regions if region.type == "WINDOW")
        space = area.spaces.active
        box = extent(context.scene)
        zoom.stop()
        trails.visit(area)
        zoom.leave_camera(space, region, middle(box))
        if not space.region_3d.is_perspective:
            space.region_3d.view_perspective = "PERSP"
        # Explore mode and flying would both use the mouse.
        overlay.state.exploring = False
        with (
            context.temp_override(area=area, region=region),
            speed(context, diagonal(box)),
        ):
            operator = bpy.ops.view3d.walk if how == "walk" else bpy.ops.tracevis3d.flying
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


def extent(scene: bpy.types.Scene) -> Box:
    """Return the box around everything that the scene's views show."""
    shown_in = pointer.shown_in(scene)
    boxes = [
        pointer.box_of(shown, pickable)
        for _, shown, pickable in shown_in
        if pickable.is_boxes or pickable.has_description
    ]
    return box_around(boxes) or UNIT_BOX


class TRACEVIS3D_OT_walk(_Moving, bpy.types.Operator):
    """Walk through the views with W A S D, Q and E; click to stay, right-click to go back"""

    bl_idname = "tracevis3d.walk"
    bl_label = "Walk"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return self.start(context, "walk")


class TRACEVIS3D_OT_fly(_Moving, bpy.types.Operator):
    """Fly through the views, faster where there is more space ahead; click to stay, right-click to go back"""

    bl_idname = "tracevis3d.fly"
    bl_label = "Fly"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return self.start(context, "flying")


register, unregister = bpy.utils.register_classes_factory((TRACEVIS3D_OT_walk, TRACEVIS3D_OT_fly))
