"""Bookmarks and findings as landmarks of Blender's add-on VR Scene Inspection, each with a sign."""

import itertools
from collections.abc import Iterator
from typing import Any

import bpy
from bpy.props import IntProperty
from mathutils import Vector

from ...tracevis3d.scene import page, styles
from ...tracevis3d.scene.window import immersion, viewpoints
from .. import preconditions
from ..mixin import OperatorMixin
from ..state import settings
from ..views.bookmarks import bookmark_forward
from . import pointing

#: Blender's add-on.
ADD_ON = "viewport_vr_preview"
#: A finding is seen with this share of the whole around it.
_NEAR = 0.3
#: How near and how far a viewer sees, in metres.
_CLIP = (0.05, 200.0)


def _has_add_on() -> bool:
    return hasattr(bpy.types.Scene, "vr_landmarks")


class _Prepared(OperatorMixin):
    """Base of the operators that need landmarks."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _has_add_on() or immersion.home(context.scene) is None:
            cls.poll_message_set("There are no landmarks yet: press Prepare first")
            return False
        return True


class TRACEVIS3D_OT_vr_prepare(bpy.types.Operator):
    """Make VR landmarks of the overview, the findings and the bookmarks, with signs to be read there"""

    bl_idname = "tracevis3d.vr_prepare"
    bl_label = "Prepare for VR"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not hasattr(bpy.types, "XrSessionState"):
            cls.poll_message_set("This Blender is built without virtual reality (OpenXR)")
            return False
        return preconditions.poll(cls, context, preconditions.VIEW)

    def execute(self, context: bpy.types.Context) -> set[str]:
        import addon_utils

        if not _has_add_on():
            addon_utils.enable(ADD_ON)
        if not _has_add_on():
            self.report({"ERROR"}, "Blender's add-on VR Scene Inspection is not here")
            return {"CANCELLED"}
        scene, view = context.scene, settings.require_active(context)
        _leave(scene)
        place = bpy.data.collections.new(immersion.HOME)
        scene.collection.children.link(place)
        corners = _corners(view)
        immersion.show(place, immersion.print_before(view, _camera(view), corners), "print")
        style = styles.named(settings.of(view).style)
        top = max(corner[2] for corner in corners)
        found = list(_landmarks(scene, view))
        landmarks = scene.vr_landmarks
        landmarks.clear()
        for i, where in enumerate(found):
            added = landmarks.add()
            added.name, added.type = where.name, "CUSTOM"
            added.base_pose_location, added.base_pose_angle = where.eye, where.angle
            added.base_scale = where.scale
            immersion.show(
                place, immersion.caption_sign(where, top, style, f"{immersion.HOME} {i}"), f"sign {i}"
            )
        go(context, 0)
        pointing.start()
        self.report({"INFO"}, f"{len(found)} landmarks: start a VR session in the tab VR")
        return {"FINISHED"}


class TRACEVIS3D_OT_vr_go(_Prepared, bpy.types.Operator):
    """Go to the next landmark, or to the one before"""

    bl_idname = "tracevis3d.vr_go"
    bl_label = "Next Landmark"
    bl_options = {"REGISTER", "UNDO"}

    step: IntProperty(name="Step", description="1: the next; -1: the one before", default=1)

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        go(context, (scene.vr_landmarks_active + self.step) % max(len(scene.vr_landmarks), 1))
        return {"FINISHED"}


class TRACEVIS3D_OT_vr_tour(_Prepared, bpy.types.Operator):
    """Go from landmark to landmark; Esc or another press ends the tour"""

    bl_idname = "tracevis3d.vr_tour"
    bl_label = "Tour"
    bl_options = {"REGISTER"}

    seconds: bpy.props.FloatProperty(
        name="Seconds",
        description="How long the tour stays at each landmark",
        default=10.0,
        min=1.0,
        max=600.0,
    )
    #: The tour that runs; another press ends it.
    _running: "TRACEVIS3D_OT_vr_tour | None" = None

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        kind = type(self)
        if kind._running is not None:
            kind._running = None
            return {"FINISHED"}
        kind._running = self
        self._timer = context.window_manager.event_timer_add(self.seconds, window=context.window)
        go(context, 0)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        scene, kind = context.scene, type(self)
        ended = kind._running is not self or event.type == "ESC" or immersion.home(scene) is None
        if not ended and event.type == "TIMER" and event.timer == self._timer:
            following = scene.vr_landmarks_active + 1
            ended = following >= len(scene.vr_landmarks)
            if not ended:
                go(context, following)
        if ended:
            context.window_manager.event_timer_remove(self._timer)
            if kind._running is self:
                kind._running = None
            return {"FINISHED"}
        return {"PASS_THROUGH"}


class TRACEVIS3D_OT_vr_leave(_Prepared, bpy.types.Operator):
    """Remove the landmarks and signs"""

    bl_idname = "tracevis3d.vr_leave"
    bl_label = "Remove Landmarks"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        _leave(context.scene)
        context.scene.vr_landmarks.clear()
        return {"FINISHED"}


def _leave(scene: bpy.types.Scene) -> None:
    pointing.stop()
    place = immersion.home(scene)
    if place is not None:
        immersion.remove(place)
        bpy.data.collections.remove(place)


def go(context: bpy.types.Context, index: int) -> None:
    """Stand at a landmark: its sign alone is seen, and a running session begins there."""
    scene = context.scene
    place = immersion.home(scene)
    for shown in place.objects if place is not None else ():
        group = str(shown.get(immersion.GROUP, ""))
        if group.startswith("sign "):
            shown.hide_viewport = group != f"sign {index}"
    # The add-on takes the viewer there.
    scene.vr_landmarks_selected = index
    scene.vr_landmarks_active = index
    scale = scene.vr_landmarks[index].base_scale
    session = context.window_manager.xr_session_settings
    session.clip_start, session.clip_end = (scale * metres for metres in _CLIP)


def _camera(view: bpy.types.Collection) -> Any:
    """Return the camera of a view's picture."""
    return next(shown for shown in view.objects if shown.type == "CAMERA")


def _corners(view: bpy.types.Collection) -> list[tuple[float, float, float]]:
    stored = settings.of(view)
    low, high = (Vector(ends) + Vector(stored.place) for ends in (stored.low, stored.high))
    return [tuple(corner) for corner in itertools.product(*zip(low, high))]


def _landmarks(scene: bpy.types.Scene, view: bpy.types.Collection) -> Iterator[immersion.Landmark]:
    """Yield where to stand: before all of it, at each finding, at each viewpoint, at each bookmark."""
    corners = [Vector(corner) for corner in _corners(view)]
    middle = sum(corners, Vector()) / len(corners)
    eye = _camera(view)
    forward = eye.matrix_world.to_quaternion() @ Vector((0.0, 0.0, -1.0))
    right = eye.matrix_world.to_quaternion() @ Vector((1.0, 0.0, 0.0))
    across = [corner.dot(right) for corner in corners]
    width = max(max(across) - min(across), 1e-6)
    explained = page.stored(view)
    # All of the page fits, with the title, so no sign needs to say it.
    near = min((corner - eye.matrix_world.translation).dot(forward) for corner in corners)
    page_width = max(near, 0.0) * eye.data.sensor_width / eye.data.lens
    yield immersion.landmark("Overview", "", middle, forward, max(width, page_width))
    for callout in explained.callouts if explained else ():
        point = Vector(callout.point) + Vector(settings.of(view).place)
        words = f"{callout.text}\n{callout.detail}" if callout.detail else callout.text
        yield immersion.landmark(callout.text, words, point, forward, _NEAR * width)
    for name, stop in viewpoints.cameras_of(scene):
        if stop != eye:
            pose = stop.matrix_world
            ahead = pose.to_quaternion() @ Vector((0.0, 0.0, -1.0))
            depth = max((middle - pose.translation).dot(ahead), 1e-6)
            seen = depth * stop.data.sensor_width / stop.data.lens
            yield immersion.landmark(name, name, pose.translation + ahead * depth, ahead, seen)
    for bookmark in scene.tracevis3d_bookmarks:
        if bookmark.view == view:
            through = bookmark.perspective == "CAMERA"
            seen = bookmark.distance * 36.0 / max(eye.data.lens if through else bookmark.lens, 1.0)
            ahead = bookmark_forward(bookmark)
            yield immersion.landmark(bookmark.name, bookmark.name, bookmark.focus, ahead, seen)


_CLASSES = (
    TRACEVIS3D_OT_vr_prepare,
    TRACEVIS3D_OT_vr_go,
    TRACEVIS3D_OT_vr_tour,
    TRACEVIS3D_OT_vr_leave,
)
register, unregister = bpy.utils.register_classes_factory(_CLASSES)
