"""Title, legends and notes stand on a pane before the camera: a 3D view that looks from elsewhere hides them.

They are hidden as a person hides objects (H), which pictures don't know, and is no step of undo.
"""

from typing import Any

import bpy

from ... import handlers, signals
from ...state import settings


def saw(context: bpy.types.Context) -> None:
    """Take note that a 3D view is being drawn; from its handler, so it costs next to nothing."""
    hide = not _someone_looks_through_the_camera(context.scene)
    wrong = any(shown.hide_get() != hide for shown in _panes(context.scene, context.view_layer))
    if wrong and not bpy.app.timers.is_registered(_settle):
        bpy.app.timers.register(_settle)


def _someone_looks_through_the_camera(scene: bpy.types.Scene) -> bool:
    return any(
        area.type == "VIEW_3D" and area.spaces.active.region_3d.view_perspective == "CAMERA"
        for window in bpy.context.window_manager.windows
        if window.scene == scene
        for area in window.screen.areas
    )


def _panes(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> list[Any]:
    """Return the objects on panes in front of the cameras of a scene's views."""
    return [
        shown
        for view in settings.all_in(scene)
        for shown in view.objects
        if shown.parent is not None and shown.parent.type == "CAMERA" and shown.name in layer.objects
    ]


def _settle() -> None:
    """Hide and show the objects on panes; a timer of Blender's, since drawing must not change anything."""
    for window in bpy.context.window_manager.windows:
        hide = not _someone_looks_through_the_camera(window.scene)
        for shown in _panes(window.scene, window.view_layer):
            if shown.hide_get(view_layer=window.view_layer) != hide:
                shown.hide_set(hide, view_layer=window.view_layer)


def _before_saving(_file: str = "") -> None:
    """Without the extension the file opens with a camera that shows the whole picture."""
    for scene in bpy.data.scenes:
        for layer in scene.view_layers:
            for shown in _panes(scene, layer):
                shown.hide_set(False, view_layer=layer)


_CONNECTIONS = ((signals.on_draw, saw), (handlers.before_saving, _before_saving))


def register() -> None:
    """Follow what 3D views look through, and show everything in each file that is saved."""
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`, end the timer, and show everything."""
    signals.disconnect(_CONNECTIONS)
    if bpy.app.timers.is_registered(_settle):
        bpy.app.timers.unregister(_settle)
    if hasattr(bpy.data, "scenes"):
        _before_saving()
