"""Presets: the parameters of a view under a name, in Blender's folder of the user's presets."""

from functools import cache
from pathlib import Path

import bpy
from bpy.props import StringProperty

from ...tracevis3d import presets
from ...tracevis3d.errors import UsageError
from ...tracevis3d.views import registry as views
from .. import preconditions
from ..state import settings
from .rebuild import Rebuilding


@cache
def names(view: str) -> list[str]:
    """Return the names of the presets of a view; the folder is read once, for panels ask repeatedly."""
    return presets.names(folder(view))


def folder(view: str) -> Path:
    """Return where the presets of a view are; it need not be there."""
    return Path(bpy.utils.user_resource("SCRIPTS", path="presets")) / "tracevis3d" / view


def _path(view: str, name: str) -> Path:
    return folder(view) / f"{bpy.path.clean_name(name)}{presets.SUFFIX}"


class _OnView:
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(cls, context, preconditions.VIEW, preconditions.INSTALLED)


class TRACEVIS3D_OT_preset_save(_OnView, bpy.types.Operator):
    """Save the parameters of the view under a name, to use them in other views and files"""

    bl_idname = "tracevis3d.preset_save"
    bl_label = "Save Preset"

    name: StringProperty(name="Name", default="My Preset")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.require_active(context)
        view = settings.of(collection).view
        if not self.name.strip():
            self.report({"ERROR"}, "Give the preset a name")
            return {"CANCELLED"}
        path = _path(view, self.name.strip())
        try:
            presets.write(path, settings.values(collection))
        except UsageError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        names.cache_clear()
        self.report({"INFO"}, f"Saved the preset {path.stem!r}")
        return {"FINISHED"}


class TRACEVIS3D_OT_preset_use(Rebuilding, bpy.types.Operator):
    """Give the view the parameters of this preset, and draw it again"""

    bl_idname = "tracevis3d.preset_use"
    bl_label = "Use Preset"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Name")

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.require_active(context)
        try:
            view = settings.of(collection).view
            values = presets.read(_path(view, self.name), views.find(view).parameters)
        except UsageError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return self.rebuild(context, collection, values, assign=True)


class TRACEVIS3D_OT_preset_remove(_OnView, bpy.types.Operator):
    """Remove this preset from the user's presets"""

    bl_idname = "tracevis3d.preset_remove"
    bl_label = "Remove Preset"

    name: StringProperty(name="Name")

    def execute(self, context: bpy.types.Context) -> set[str]:
        view = settings.of(settings.active(context)).view
        _path(view, self.name).unlink(missing_ok=True)
        names.cache_clear()
        return {"FINISHED"}


class TRACEVIS3D_MT_presets(bpy.types.Menu):
    """Presets of this view's parameters"""

    bl_idname = "TRACEVIS3D_MT_presets"
    bl_label = "Presets"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        view = settings.of(settings.active(context)).view
        for name in names(view):
            layout.operator("tracevis3d.preset_use", text=name, icon="PRESET").name = name
        if not names(view):
            layout.label(text="No preset was saved yet")
        layout.separator()
        layout.operator("tracevis3d.reset_parameters", text="Defaults", icon="LOOP_BACK")
        layout.separator()
        layout.operator("tracevis3d.preset_save", text="Save as Preset …", icon="ADD")
        if names(view):
            layout.menu("TRACEVIS3D_MT_presets_remove", icon="REMOVE")


class TRACEVIS3D_MT_presets_remove(bpy.types.Menu):
    """Remove a preset"""

    bl_idname = "TRACEVIS3D_MT_presets_remove"
    bl_label = "Remove Preset"

    def draw(self, context: bpy.types.Context) -> None:
        for name in names(settings.of(settings.active(context)).view):
            self.layout.operator("tracevis3d.preset_remove", text=name).name = name


_CLASSES = (
    TRACEVIS3D_OT_preset_save,
    TRACEVIS3D_OT_preset_use,
    TRACEVIS3D_OT_preset_remove,
    TRACEVIS3D_MT_presets,
    TRACEVIS3D_MT_presets_remove,
)
_register, _unregister = bpy.utils.register_classes_factory(_CLASSES)


def register() -> None:
    """Register the operators, and read which presets there are."""
    _register()
    for view in views.names():
        names(view)


def unregister() -> None:
    """Undo :func:`register`."""
    _unregister()
    names.cache_clear()
