"""The operators of a film: add shots, order them, go to them, play them."""

from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ...tracevis3d.drawing.projection import SENSOR_MM
from ...tracevis3d.scene.window import viewpoints
from .. import preconditions
from ..mixin import OperatorMixin
from ..state import settings
from ..views import arrange, bookmarks, viewport
from . import laying, stored

#: A picture without perspective is made with so long a lens: no pixel of it moves by two.
_PARALLEL = 2e-3
_LEAST = 1e-6
#: Copied from a bookmark.
_OF_A_PLACE = ("view", "perspective", "focus", "rotation", "distance", "lens", "selections")


class _OnShot(OperatorMixin):
    """Base of the operators that need a shot."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if stored.active(context.scene) is None:
            cls.poll_message_set("The film has no shot yet: add one first")
            return False
        return preconditions.poll(cls, context, preconditions.LIBRARY, preconditions.IDLE)


class TRACEVIS3D_OT_film_add(bpy.types.Operator):
    """Add a shot after the chosen one, from where the 3D view looks now"""

    bl_idname = "tracevis3d.film_add"
    bl_label = "Add Shot"
    bl_options = {"REGISTER", "UNDO"}

    way: EnumProperty(
        items=(
            ("FLY", "Fly There", "The camera flies there from the shot before"),
            ("CUT", "Cut", "The shot begins at once, and the camera stands still"),
        ),
        name="Way",
        default="FLY",
    )
    name: StringProperty(name="Name", description="Empty: a number", options={"SKIP_SAVE"})
    caption: StringProperty(
        name="Caption", description="What is written at the foot of the picture", options={"SKIP_SAVE"}
    )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        how = "that flies there from the shot before" if properties.way == "FLY" else "that stands still"
        return f"Add a shot after the chosen one, from where the 3D view looks now, {how}"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(cls, context, *preconditions.DRAW)

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        stored.read(scene)
        with settings.quietly():
            shot = _new(scene, self.name.strip())
            shot.caption, shot.flies = self.caption.strip(), self.way == "FLY"
            _take(context, shot)
        stored.lay(scene)
        # Who looks through the camera sees the new shot.
        _show(scene)
        return {"FINISHED"}


class TRACEVIS3D_OT_film_update(_OnShot, bpy.types.Operator):
    """Let the chosen shot be taken from where the 3D view looks now"""

    bl_idname = "tracevis3d.film_update"
    bl_label = "Update Shot"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and preconditions.poll(cls, context, preconditions.VIEW)

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        stored.read(scene)
        with settings.quietly():
            _take(context, stored.active(scene))
        stored.lay(scene)
        _show(scene)
        return {"FINISHED"}


class TRACEVIS3D_OT_film_remove(_OnShot, bpy.types.Operator):
    """Remove the chosen shot with its marker and keyframes"""

    bl_idname = "tracevis3d.film_remove"
    bl_label = "Remove Shot"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        film = stored.of(scene)
        stored.read(scene)
        film.shots.remove(film.index)
        film.index = max(min(film.index, len(film.shots) - 1), 0)
        stored.lay(scene)
        return {"FINISHED"}


class TRACEVIS3D_OT_film_move(_OnShot, bpy.types.Operator):
    """Move the chosen shot, with its marker and keyframes, before or behind its neighbour"""

    bl_idname = "tracevis3d.film_move"
    bl_label = "Move Shot"
    bl_options = {"REGISTER", "UNDO"}

    direction: EnumProperty(
        items=(("UP", "Up", "Before the shot before"), ("DOWN", "Down", "Behind the next shot")),
        name="Direction",
    )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        where = "before the shot before it" if properties.direction == "UP" else "behind the next shot"
        return f"Move the chosen shot {where}, with its marker and keyframes"

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        film = stored.of(scene)
        stored.read(scene)
        goal = film.index + (-1 if self.direction == "UP" else 1)
        if not 0 <= goal < len(film.shots):
            return {"CANCELLED"}
        film.shots.move(film.index, goal)
        film.index = goal
        stored.lay(scene)
        return {"FINISHED"}


class TRACEVIS3D_OT_film_go(_OnShot, bpy.types.Operator):
    """Go to where the chosen shot is taken from, and to its frame"""

    bl_idname = "tracevis3d.film_go"
    bl_label = "Go to Shot"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        stored.read(scene)
        stored.lay(scene)
        shot = stored.active(scene)
        _show(scene)
        bookmarks.return_to(context, shot.place)
        return {"FINISHED"}


class TRACEVIS3D_OT_film_collect(bpy.types.Operator):
    """Add a shot for each viewpoint of Explain Differences and each bookmark that has none of its name"""

    bl_idname = "tracevis3d.film_collect"
    bl_label = "Shots from Findings and Bookmarks"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not preconditions.poll(cls, context, *preconditions.DRAW):
            return False
        scene = context.scene
        if not len(scene.tracevis3d_bookmarks) and not viewpoints.cameras_of(scene):
            cls.poll_message_set("There is no bookmark, and no viewpoint: add one, or Explain Differences")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        stored.read(scene)
        film, view = stored.of(scene), settings.require_active(context)
        known = {shot.name for shot in film.shots}
        with settings.quietly():
            film.index = len(film.shots) - 1
            for name, camera in viewpoints.cameras_of(scene):
                if name not in known:
                    shot = _new(scene, name)
                    shot.caption = name
                    _through(scene, shot, camera, view)
            for mark in scene.tracevis3d_bookmarks:
                if mark.name not in known and settings.is_view(mark.view):
                    _copy(scene, _new(scene, mark.name), mark)
        added = len(film.shots) - len(known)
        stored.lay(scene)
        self.report({"INFO"}, f"{added} shots were added" if added != 1 else "1 shot was added")
        return {"FINISHED"} if added else {"CANCELLED"}


class TRACEVIS3D_OT_film_play(_OnShot, bpy.types.Operator):
    """Play the film from its first shot; Esc stops it"""

    bl_idname = "tracevis3d.film_play"
    bl_label = "Play"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if viewport.area_of(context) is None:
            cls.poll_message_set("There is no 3D view in this window")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene, screen = context.scene, context.screen
        if screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        stored.read(scene)
        stored.lay(scene)
        scene.frame_set(scene.frame_start)
        area = viewport.area_of(context)
        assert area is not None
        area.spaces.active.region_3d.view_perspective = "CAMERA"
        # In time: frames for which this machine is too slow are left out.
        bpy.ops.screen.animation_play(sync=True)
        return {"FINISHED"}


def _new(scene: bpy.types.Scene, name: str) -> Any:
    """Return a new shot, which is chosen, after the one that was."""
    film = stored.of(scene)
    at = min(film.index + 1, len(film.shots))
    shot = film.shots.add()
    shot.name = name or f"Shot {len(film.shots)}"
    film.shots.move(len(film.shots) - 1, at)
    film.index = at
    return film.shots[at]


def _show(scene: bpy.types.Scene) -> None:
    scene.frame_set(stored.active(scene).laid[1])


def _take(context: bpy.types.Context, shot: Any) -> None:
    """Let a shot be taken from where the 3D view looks."""
    bookmarks.take(context, shot.place)
    scene = context.scene
    if shot.place.perspective == "CAMERA":
        view = shot.place.view
        _through(scene, shot, scene.camera, view)
        return
    area = viewport.area_of(context)
    assert area is not None
    region = next(region for region in area.regions if region.type == "WINDOW")
    _without(scene, shot, _free(area, region))


def _through(scene: bpy.types.Scene, shot: Any, camera: Any, view: bpy.types.Collection) -> None:
    """Let a shot show what a camera shows."""
    shot.place.view, shot.place.perspective = view, "CAMERA"
    bookmarks.take_pose(shot.place, camera.matrix_world, view)
    shot.place.distance = max(shot.place.distance, _LEAST)
    tangent, shot.shift = laying.lens_of(camera.data, scene)
    shot.tangent = tangent or _PARALLEL
    shot.width = 2 * tangent * shot.place.distance if tangent else laying.width_of(camera.data, scene)


def _free(area: bpy.types.Area, region: bpy.types.Region) -> tuple[float, float, float, float]:
    """Return the left, bottom, right and top of what no panel covers; of a perspective at distance 1."""
    matrix = area.spaces.active.region_3d.window_matrix
    left, right, top = viewport.covered(area, region)
    across, along = 2 / matrix[0][0] / region.width, 2 / matrix[1][1] / region.height
    return (
        (left - region.width / 2) * across,
        -region.height / 2 * along,
        (region.width / 2 - right) * across,
        (region.height / 2 - top) * along,
    )


def _without(scene: bpy.types.Scene, shot: Any, seen: tuple[float, float, float, float]) -> None:
    """Let a shot show what a 3D view shows that looks through no camera."""
    left, bottom, right, top = seen
    frame = settings.frame_of(scene)
    # All of it is in the picture, whatever the shape of both.
    wide = max(right - left, (top - bottom) * frame.width / frame.height, _LEAST)
    shot.shift = (left + right) / 2 / wide, (bottom + top) / 2 / wide
    if shot.place.perspective == "ORTHO":
        shot.width, shot.tangent = wide, _PARALLEL
    else:
        shot.width, shot.tangent = wide * max(shot.place.distance, _LEAST), wide / 2


def _copy(scene: bpy.types.Scene, shot: Any, mark: Any) -> None:
    """Let a shot show what a bookmark does."""
    own = arrange.camera_of(mark.view)
    if mark.perspective == "CAMERA" and own is not None:
        _through(scene, shot, own, mark.view)
    for name in _OF_A_PLACE:
        setattr(shot.place, name, getattr(mark, name))
    if mark.perspective != "CAMERA":
        # Of a 3D view's lens twice the sensor is seen; how much of the view was free is not known any more.
        half = SENSOR_MM / mark.lens
        if mark.perspective == "ORTHO":
            half *= max(mark.distance, _LEAST)
        high = half * scene.render.resolution_y / scene.render.resolution_x
        _without(scene, shot, (-half, -high, half, high))


_CLASSES = (
    TRACEVIS3D_OT_film_add,
    TRACEVIS3D_OT_film_update,
    TRACEVIS3D_OT_film_remove,
    TRACEVIS3D_OT_film_move,
    TRACEVIS3D_OT_film_go,
    TRACEVIS3D_OT_film_collect,
    TRACEVIS3D_OT_film_play,
)
register, unregister = bpy.utils.register_classes_factory(_CLASSES)
