"""Bookmarks: the target, the viewpoint and the selection, under a name."""

import json
from typing import Any

import bpy
from bpy.props import (
    CollectionProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from mathutils import Matrix, Quaternion, Vector

from .. import preconditions
from ..explore.motion import zoom
from ..mixin import OperatorMixin
from ..state import selection, settings, trace_state
from . import viewport

_HOME = "TraceVis3D bookmarks"
#: Size of a label's cross, as a share of the viewing distance.
_SIZE = 0.02


class TRACEVIS3D_PG_bookmark(bpy.types.PropertyGroup):
    """A place to come back to."""

    view: PointerProperty(type=bpy.types.Collection, name="View")
    label: PointerProperty(type=bpy.types.Object, name="Label")
    perspective: StringProperty(description="CAMERA, PERSP or ORTHO")
    focus: FloatVectorProperty(size=3)
    rotation: FloatVectorProperty(size=4, default=(1.0, 0.0, 0.0, 0.0))
    distance: FloatProperty()
    lens: FloatProperty(default=50.0)
    frame: IntProperty()
    selections: StringProperty(description="The selection in each trace of the view, as JSON")


class _OnBookmark(OperatorMixin):
    """Base of the operators that need a bookmark."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if _active(context.scene) is None:
            cls.poll_message_set("There is no bookmark yet: add one first")
            return False
        return True


class TRACEVIS3D_OT_bookmark_add(bpy.types.Operator):
    """Store the viewpoint of the 3D view, and what is selected"""

    bl_idname = "tracevis3d.bookmark_add"
    bl_label = "Add Bookmark"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(
        name="Name", description="Empty: the name of what is selected", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(cls, context, preconditions.VIEW)

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        bookmark = scene.tracevis3d_bookmarks.add()
        bookmark.name = _free_name(scene, self.name.strip() or f"Bookmark {len(scene.tracevis3d_bookmarks)}")
        take(context, bookmark)
        _stick_label(scene, bookmark)
        with settings.quietly():
            scene.tracevis3d_bookmark = len(scene.tracevis3d_bookmarks) - 1
        return {"FINISHED"}


class TRACEVIS3D_OT_bookmark_update(_OnBookmark, bpy.types.Operator):
    """Store the current viewpoint and selection in this bookmark"""

    bl_idname = "tracevis3d.bookmark_update"
    bl_label = "Update Bookmark"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        bookmark = _active(context.scene)
        take(context, bookmark)
        _stick_label(context.scene, bookmark)
        return {"FINISHED"}


class TRACEVIS3D_OT_bookmark_go(_OnBookmark, bpy.types.Operator):
    """Go to the viewpoint of the bookmark, and restore its selection"""

    bl_idname = "tracevis3d.bookmark_go"
    bl_label = "Go to Bookmark"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        bookmark = _active(context.scene)
        if not settings.is_view(bookmark.view):
            self.report({"WARNING"}, "The view of this bookmark was removed")
            return {"CANCELLED"}
        return_to(context, bookmark)
        return {"FINISHED"}


class TRACEVIS3D_OT_bookmark_remove(_OnBookmark, bpy.types.Operator):
    """Remove the bookmark and its label"""

    bl_idname = "tracevis3d.bookmark_remove"
    bl_label = "Remove Bookmark"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        label = _active(scene).label
        scene.tracevis3d_bookmarks.remove(scene.tracevis3d_bookmark)
        if label is not None:
            bpy.data.objects.remove(label)
        with settings.quietly():
            scene.tracevis3d_bookmark = max(
                min(scene.tracevis3d_bookmark, len(scene.tracevis3d_bookmarks) - 1), 0
            )
        return {"FINISHED"}


def _active(scene: bpy.types.Scene) -> Any:
    """Return the bookmark that is chosen in the list; None if there is none."""
    marks = scene.tracevis3d_bookmarks
    return marks[scene.tracevis3d_bookmark] if 0 <= scene.tracevis3d_bookmark < len(marks) else None


def _free_name(scene: bpy.types.Scene, wanted: str) -> str:
    taken = {bookmark.name for bookmark in scene.tracevis3d_bookmarks}
    name, n = wanted, 2
    while name in taken:
        name, n = f"{wanted} {n}", n + 1
    return name


def take(context: bpy.types.Context, bookmark: Any) -> None:
    """Let ``bookmark`` remember how things are."""
    scene = context.scene
    collection = settings.active_in(scene)
    bookmark.view, bookmark.frame = collection, scene.frame_current
    bookmark.selections = json.dumps(
        {key: selection.selected(key).as_json() for key in trace_state.keys_of(collection)}
    )
    area = viewport.area_of(context)
    if area is not None:
        space = area.spaces.active
        view = space.region_3d
        bookmark.perspective, bookmark.lens = view.view_perspective, space.lens
        bookmark.focus, bookmark.rotation = view.view_location, view.view_rotation
        bookmark.distance = view.view_distance
    if (area is None or bookmark.perspective == "CAMERA") and scene.camera is not None:
        bookmark.perspective = "CAMERA"
        take_pose(bookmark, scene.camera.matrix_world, collection)


def take_pose(bookmark: Any, pose: Matrix, collection: bpy.types.Collection) -> None:
    """Look where the camera looks, at the distance of the view's middle."""
    stored = settings.of(collection)
    middle = (Vector(stored.low) + Vector(stored.high)) / 2 + Vector(stored.place)
    bookmark.distance = (pose.translation - middle).length
    bookmark.rotation = pose.to_quaternion()
    forward = bookmark_forward(bookmark)
    bookmark.focus = pose.translation + forward * bookmark.distance


def bookmark_forward(bookmark: Any) -> Vector:
    """Return the direction that a bookmark looks in."""
    return Quaternion(bookmark.rotation) @ Vector((0.0, 0.0, -1.0))


def return_to(context: bpy.types.Context, bookmark: Any) -> None:
    """Go to the viewpoint of ``bookmark``, and select what was selected."""
    scene = context.scene
    if settings.active_in(scene) != bookmark.view and bookmark.view in settings.all_in(scene):
        scene.tracevis3d_view = bookmark.view
    try:
        selections = json.loads(bookmark.selections or "{}")
    except ValueError:
        selections = {}
    for key, words in (selections if isinstance(selections, dict) else {}).items():
        selection.write(str(key), selection.Selection.of_json(words))
    if scene.frame_current != bookmark.frame:
        scene.frame_set(bookmark.frame)
    area = viewport.area_of(context)
    if area is None:
        return
    space = area.spaces.active
    view = space.region_3d
    zoom.stop()
    if bookmark.perspective == "CAMERA":
        view.view_perspective = "CAMERA"
    else:
        region = next(region for region in area.regions if region.type == "WINDOW")
        zoom.leave_camera(space, region, bookmark.focus)
        view.view_perspective = bookmark.perspective
        # With the other lens, what is seen at the start stays as wide as it was.
        view.view_distance *= bookmark.lens / space.lens
        space.lens = bookmark.lens
        pose = zoom.Pose(Vector(bookmark.focus), Quaternion(bookmark.rotation), bookmark.distance)
        zoom.fly(area, pose)
    area.tag_redraw()


def _stick_label(scene: bpy.types.Scene, bookmark: Any) -> None:
    """Put a cross with the bookmark's name where it looks."""
    home = next((c for c in scene.collection.children if c.name.startswith(_HOME)), None)
    if home is None:
        home = bpy.data.collections.new(_HOME)
        scene.collection.children.link(home)
    label = bookmark.label
    if label is None:
        label = bookmark.label = bpy.data.objects.new(bookmark.name, None)
        label.empty_display_type = "PLAIN_AXES"
        label.show_name = True
        home.objects.link(label)
    label.name = bookmark.name
    label.location = bookmark.focus
    label.empty_display_size = max(_SIZE * bookmark.distance, 1e-3)


def _named(bookmark: Any, _context: bpy.types.Context) -> None:
    """A bookmark was renamed in the list."""
    if bookmark.label is not None:
        bookmark.label.name = bookmark.name


_CLASSES = (
    TRACEVIS3D_PG_bookmark,
    TRACEVIS3D_OT_bookmark_add,
    TRACEVIS3D_OT_bookmark_update,
    TRACEVIS3D_OT_bookmark_go,
    TRACEVIS3D_OT_bookmark_remove,
)
TRACEVIS3D_PG_bookmark.__annotations__["name"] = StringProperty(name="Name", update=_named)
_register, _unregister = bpy.utils.register_classes_factory(_CLASSES)


def register() -> None:
    """Register the operators, and the list of bookmarks of scenes."""
    _register()
    bpy.types.Scene.tracevis3d_bookmarks = CollectionProperty(type=TRACEVIS3D_PG_bookmark)
    bpy.types.Scene.tracevis3d_bookmark = IntProperty(name="Bookmark")


def unregister() -> None:
    """Undo :func:`register`."""
    del bpy.types.Scene.tracevis3d_bookmark
    del bpy.types.Scene.tracevis3d_bookmarks
    _unregister()
