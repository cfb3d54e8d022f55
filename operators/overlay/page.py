"""The page and the window: 3D views show print only where all of them look through the camera.

Title, legends, names, the wall behind the data and cameras are hidden as a person hides objects (H), which
pictures don't know, and is no step of undo. So View All frames the data.
"""

from typing import Any

import bpy

from ...tracevis3d.scene import page
from ...tracevis3d.scene.live.live_view import LIVE
from .. import handlers, preconditions, signals
from ..state import settings
from ..views import viewport
from .framing import look


def is_page(scene: bpy.types.Scene) -> bool:
    """Whether the 3D views of a scene show the page: all of them look through its camera."""
    views = [
        area.spaces.active
        for window in bpy.context.window_manager.windows
        if window.scene == scene
        for area in window.screen.areas
        if area.type == "VIEW_3D"
    ]
    return bool(views) and all(
        not space.region_quadviews and space.region_3d.view_perspective == "CAMERA" for space in views
    )


def _printed(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> list[Any]:
    """Return the objects of a scene's views that are not data."""
    live = [one for one in scene.collection.children if LIVE in one]
    return [
        shown
        for view in [*filter(page.is_stored, settings.all_in(scene)), *live]
        for shown in view.objects
        if page.is_printed(shown) and shown.name in layer.objects
    ]


def saw(context: bpy.types.Context) -> None:
    """Take note that a 3D view is being drawn; from its handler, so it costs next to nothing."""
    hide = not is_page(context.scene)
    wrong = any(shown.hide_get() != hide for shown in _printed(context.scene, context.view_layer))
    if wrong and not bpy.app.timers.is_registered(settle):
        bpy.app.timers.register(settle)


def settle() -> None:
    """Hide and show what is printed; a timer of Blender's, since drawing must not change anything."""
    for window in bpy.context.window_manager.windows:
        hide = not is_page(window.scene)
        for shown in _printed(window.scene, window.view_layer):
            if shown.hide_get(view_layer=window.view_layer) != hide:
                shown.hide_set(hide, view_layer=window.view_layer)


def _drawn(*_view: Any) -> None:
    """Hide what was just printed, before anybody frames it or sees it."""
    if not bpy.app.background:
        settle()


def _before_saving(_file: str = "") -> None:
    """Without the extension the file opens with a camera that shows the whole picture."""
    for scene in bpy.data.scenes:
        for layer in scene.view_layers:
            for shown in _printed(scene, layer):
                shown.hide_set(False, view_layer=layer)


class TRACEVIS3D_OT_page(bpy.types.Operator):
    """Show the picture as it is printed, with its title and legend; again: back to the data"""

    bl_idname = "tracevis3d.page"
    bl_label = "Page"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not preconditions.poll(cls, context, preconditions.VIEW):
            return False
        if viewport.area_of(context) is None:
            cls.poll_message_set("There is no 3D view in this window")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        area = viewport.area_of(context)
        assert area is not None
        looks_through = area.spaces.active.region_3d.view_perspective == "CAMERA"
        look(context, page=not looks_through)
        return {"FINISHED"}


_CONNECTIONS = (
    (signals.on_show, _drawn), (signals.on_draw, saw), (signals.on_look, look),
    (handlers.before_saving, _before_saving),
)  # fmt: skip


def register() -> None:
    """Follow what 3D views look through, and show everything in each file that is saved."""
    bpy.utils.register_class(TRACEVIS3D_OT_page)
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`, end the timer, and show everything."""
    signals.disconnect(_CONNECTIONS)
    if bpy.app.timers.is_registered(settle):
        bpy.app.timers.unregister(settle)
    if hasattr(bpy.data, "scenes"):
        _before_saving()
    bpy.utils.unregister_class(TRACEVIS3D_OT_page)
