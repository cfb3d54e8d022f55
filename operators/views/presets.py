"""Presets: the parameters of a view under a name, in Blender's folder of the user's presets."""

import json
from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ...tracevis3d.errors import UsageError
from ...tracevis3d.parameters import declared
from ...tracevis3d.views import registry as views
from .. import preconditions
from ..state import settings
from .rebuild import Rebuilding

_SUFFIX = ".json"
#: View -> names of its presets, read when Blender starts and when one is saved or removed: panels read none.
_names: dict[str, list[str]] = {}


def names(view: str) -> list[str]:
    """Return the names of the presets of a view."""
    if view not in _names:
        _names[view] = sorted(path.stem for path in folder(view).glob(f"*{_SUFFIX}"))
    return _names[view]


def folder(view: str) -> Path:
    """Return where the presets of a view are; it need not be there."""
    return Path(bpy.utils.user_resource("SCRIPTS", path="presets")) / "tracevis3d" / view


def _path(view: str, name: str) -> Path:
    return folder(view) / f"{bpy.path.clean_name(name)}{_SUFFIX}"


def read(view: str, name: str) -> dict[str, Any]:
    """Return the values of a preset that fit the view as it is; parameters that it lacks have their defaults.

    Raises
    ------
    UsageError
        If it can't be read, or a value doesn't fit.
    """
    path = _path(view, name)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: the preset can't be read: {error}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path}: the preset can't be read: names and values are wanted")
    values: dict[str, Any] = {}
    for parameter in declared(views.find(view).parameters):
        given = found.get(parameter.name, parameter.default)
        values[parameter.name] = parameter.read(given)
    return values


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
        collection = settings.active(context)
        view = settings.of(collection).view
        if not self.name.strip():
            self.report({"ERROR"}, "Give the preset a name")
            return {"CANCELLED"}
        path = _path(view, self.name.strip())
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(settings.values(collection), indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            self.report({"ERROR"}, f"{path}: the preset can't be written: {error.strerror}")
            return {"CANCELLED"}
        _names.pop(view, None)
        self.report({"INFO"}, f"Saved the preset {path.stem!r}")
        return {"FINISHED"}


class TRACEVIS3D_OT_preset_use(Rebuilding, bpy.types.Operator):
    """Give the view the parameters of this preset, and draw it anew"""

    bl_idname = "tracevis3d.preset_use"
    bl_label = "Use Preset"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Name")

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.active(context)
        try:
            values = read(settings.of(collection).view, self.name)
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
        _names.pop(view, None)
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
    _names.clear()
