"""The extension's page in the preferences: the folder of plug-ins, and the keys."""

from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..tracevis3d import plugins
from . import environment, keys, signals


def _folder_changed(_preferences: Any, _context: bpy.types.Context) -> None:
    """Load the plug-ins of another folder: once this event has ended, because classes are replaced."""
    if not bpy.app.timers.is_registered(_reload):
        bpy.app.timers.register(_reload, first_interval=0.0)


class TRACEVIS3D_AP_preferences(bpy.types.AddonPreferences):
    """The extension's page in the preferences."""

    bl_idname = environment.EXTENSION

    plugins: StringProperty(
        name="Plug-ins",
        description="Folder with plug-ins: further views, formats and filters. The code in it runs with "
        "all rights "
        "that Blender has",
        subtype="DIR_PATH",
        update=_folder_changed,
    )

    workspace: BoolProperty(
        name="Open the TraceVis Workspace",
        description="Add the workspace TraceVis, and show it, when a trace is imported into a file "
        "that has none yet",
        default=True,
    )

    welcome: BoolProperty(
        name="Show Hints",
        description="Show three hints for beginners in the tab TraceVis",
        default=True,
    )

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.prop(self, "workspace")
        layout.prop(self, "welcome")
        row = layout.row(align=True)
        row.prop(self, "plugins")
        row.operator("tracevis3d.reload_plugins", text="", icon="FILE_REFRESH")
        for sentence in plugins.broken():
            layout.label(text=sentence, icon="ERROR")
        keys.draw(layout, context)


def stored() -> Any:
    """Return the extension's preferences; None where Blender has none for it yet."""
    addon = bpy.context.preferences.addons.get(environment.EXTENSION)
    return addon.preferences if addon is not None else None


def use_folder() -> None:
    """Take plug-ins from the folder that the preferences name."""
    preferences = stored()
    folder = bpy.path.abspath(preferences.plugins) if preferences is not None else ""
    plugins.use_folders([folder] if folder else [])


def _reload() -> None:
    """A timer of Blender's: let everything be registered again."""
    signals.on_plugins.send()


class TRACEVIS3D_OT_reload_plugins(bpy.types.Operator):
    """Load views, formats and filters of plug-ins again"""

    bl_idname = "tracevis3d.reload_plugins"
    bl_label = "Reload Plug-ins"

    def execute(self, _context: bpy.types.Context) -> set[str]:
        # Not now, because this operator itself is unregistered meanwhile.
        bpy.app.timers.register(_reload, first_interval=0.0)
        return {"FINISHED"}


_CLASSES = (TRACEVIS3D_AP_preferences, TRACEVIS3D_OT_reload_plugins)


def register() -> None:
    """Add the page, and find the plug-ins."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    use_folder()
    for sentence in plugins.broken():
        print(f"TraceVis3D: {sentence}")


def unregister() -> None:
    """Undo :func:`register`."""
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
