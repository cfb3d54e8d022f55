"""Flying as fast as what is ahead is far, with a level horizon."""

import time
from typing import Any

import bpy
from bpy.props import BoolProperty
from mathutils import Matrix, Vector

from ....tracevis3d.layout.sight.affine import Box, diagonal
from ....tracevis3d.layout.sight.picking import Ray
from ....tracevis3d.layout.sight.pilot import MOVES, Pilot
from ...task import free_status_bar
from ...views import viewport
from .. import pointer
from . import navigate, trails, zoom

_STEP = 1 / 60  # seconds between two pictures
_LONGEST = 0.1  # maximum seconds flown per picture, however long it took
_NEAR = 0.002  # of the extent of all views: the minimum distance
_EDGE = 40  # pixels from the edge of the region where the mouse is brought back to the middle
_HINT = (
    "W A S D: fly    Q E: down, up    Shift: faster    Mouse: look    Wheel: fly by itself, faster    "
    "C: stop at obstacles ({})    Click: stay    Right-click, Esc: back"
)


def distance_ahead(scene: bpy.types.Scene, space: Any, pilot: Pilot, whole: Box) -> float:
    """Return how far away is what is ahead, in scene units: an element, or else the views' nearest side."""
    ahead = pilot.axes()[1]
    ray = Ray.of(pilot.eye, ahead)
    hit = pointer.met(scene, ray, space)
    if hit is not None:
        return float(sum((a - b) ** 2 for a, b in zip(hit.point, pilot.eye, strict=True)) ** 0.5)
    beyond = [max(low - x, x - high, 0.0) for x, low, high in zip(pilot.eye, *whole, strict=True)]
    outside = sum(d * d for d in beyond) ** 0.5
    return float(max(outside, 0.1 * diagonal(whole)))


class TRACEVIS3D_OT_flying(bpy.types.Operator):
    """Fly until a click"""

    bl_idname = "tracevis3d.flying"
    bl_label = "Flying"
    bl_options = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._area, self._region = context.area, context.region
        view = self._area.spaces.active.region_3d
        self._stood = zoom.pose_of(view)
        back = view.view_matrix.inverted()
        ahead = back.to_quaternion() @ Vector((0.0, 0.0, -1.0))
        self._pilot = Pilot.looking(back.translation, ahead)
        self._whole = navigate.extent(context.scene)
        self._held: set[str] = set()
        self._mouse: tuple[int, int] | None = None
        self._last = time.perf_counter()
        manager = context.window_manager
        self._timer = manager.event_timer_add(_STEP, window=context.window)
        context.window.cursor_modal_set("NONE")
        manager.modal_handler_add(self)
        self._hint(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not viewport.is_open(self._area):
            return self._end(context, {"CANCELLED"})
        kind, pressed = event.type, event.value == "PRESS"
        if kind == "TIMER":
            self._fly(context)
        elif kind in ("MOUSEMOVE", "INBETWEEN_MOUSEMOVE"):
            self._look(context, event)
        elif kind in MOVES or kind in ("LEFT_SHIFT", "RIGHT_SHIFT"):
            word = "SHIFT" if kind.endswith("SHIFT") else kind
            (self._held.add if pressed else self._held.discard)(word)
        elif kind in ("WHEELUPMOUSE", "WHEELDOWNMOUSE"):
            self._pilot = self._pilot.notched(1 if kind == "WHEELUPMOUSE" else -1)
        elif kind == "C" and pressed:
            manager = context.window_manager
            manager.tracevis3d_collide = not manager.tracevis3d_collide
            self._hint(context)
        elif kind in ("LEFTMOUSE", "RET", "SPACE") and pressed:
            trails.visit(self._area)
            return self._end(context, {"FINISHED"})
        elif kind in ("RIGHTMOUSE", "ESC") and pressed:
            zoom.place(self._area.spaces.active, self._stood)
            return self._end(context, {"CANCELLED"})
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends it: another file is opened, or the window is closed."""
        self._end(context, {"CANCELLED"})

    def _hint(self, context: bpy.types.Context) -> None:
        if context.workspace is not None:
            words = _HINT.format("on" if context.window_manager.tracevis3d_collide else "off")
            context.workspace.status_text_set(words)

    def _look(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        at = event.mouse_x, event.mouse_y
        before, self._mouse = self._mouse, at
        if before is not None:
            self._pilot = self._pilot.turned(at[0] - before[0], at[1] - before[1])
        region = self._region
        across, up = at[0] - region.x, at[1] - region.y
        if min(across, up, region.width - across, region.height - up) < _EDGE:
            middle = region.x + region.width // 2, region.y + region.height // 2
            context.window.cursor_warp(*middle)
            self._mouse = middle

    def _fly(self, context: bpy.types.Context) -> None:
        now = time.perf_counter()
        seconds, self._last = min(now - self._last, _LONGEST), now
        space = self._area.spaces.active
        distance = distance_ahead(context.scene, space, self._pilot, self._whole)
        near = _NEAR * diagonal(self._whole)
        collides = context.window_manager.tracevis3d_collide
        flown = self._pilot.flown(seconds, self._held, distance, near, collides)
        right, ahead, up = flown.axes()
        rotation = Matrix((right, up, -ahead)).transposed().to_quaternion()
        # After flying, the view turns about what was ahead.
        eye = Vector(flown.eye)
        far = max(distance, near)
        zoom.place(space, zoom.Pose(eye + far * Vector(ahead.tolist()), rotation, far))
        self._pilot = flown
        self._area.tag_redraw()

    def _end(self, context: bpy.types.Context, result: set[str]) -> set[str]:
        context.window_manager.event_timer_remove(self._timer)
        if context.window is not None:
            context.window.cursor_modal_restore()
        free_status_bar()
        if viewport.is_open(self._area):
            self._area.tag_redraw()
        return result


def register() -> None:
    """Register the operator, and whether one stops at obstacles."""
    bpy.types.WindowManager.tracevis3d_collide = BoolProperty(
        name="Stop at Obstacles", description="Flying stops in front of what is ahead", default=False
    )
    bpy.utils.register_class(TRACEVIS3D_OT_flying)


def unregister() -> None:
    """Undo :func:`register`."""
    bpy.utils.unregister_class(TRACEVIS3D_OT_flying)
    del bpy.types.WindowManager.tracevis3d_collide
