"""Any view's current state as a script that draws and renders it again, without Blender's window."""

from typing import Any

import bpy

from ...tracevis3d.parameters import declared
from ...tracevis3d.views import registry
from ..state import filter_stacks, selection, settings, sources, trace_state
from .actions import OnCall


def script_of(view: bpy.types.Collection, scene: bpy.types.Scene) -> str:
    """Return the script that draws ``view`` as it is, in the size of the scene's pictures."""
    stored, render = settings.of(view), scene.render
    keys = trace_state.keys_of(view)
    names = (
        ["trace"] if len(keys) == 1 else [f"trace_{'abcdefgh'[i] if i < 8 else i}" for i in range(len(keys))]
    )
    lines = ['"""Draws a view that was copied from Blender."""', "", "import tracevis3d as tv", ""]
    for name, source in zip(names, stored.sources, strict=True):
        lines.append(f"{name} = tv.load({sources.absolute(source.path, view)!r})")
    if stack := filter_stacks.stack_of(view):
        lines += [f"{name} = tv.filtered({name}, {stack!r})" for name in names]
    values = settings.values(view)
    given = {
        p.name: values[p.name]
        for p in declared(registry.find(stored.view).parameters)
        if values[p.name] != p.default
    }
    head = f"figure = tv.view({stored.view!r}, {', '.join(names)}"
    lines.append("")
    if given:
        lines += [f"{head},", *(f"    {name}={value!r}," for name, value in given.items()), ")"]
    else:
        lines.append(f"{head})")
    for name, key in zip(names, keys, strict=True):
        lines += _selected(name, key)
    size = f"{render.resolution_x}x{render.resolution_y}"
    engine = "" if stored.engine == "auto" else f", engine={stored.engine!r}"
    picture = view.name.replace("/", "_") + ".png"
    lines += ["", f"figure.render({picture!r}, style={stored.style!r}, size={size!r}{engine})", ""]
    return "\n".join(lines)


def _selected(name: str, key: str) -> list[str]:
    chosen: Any = selection.selected(key)
    lines = []
    if len(chosen):
        shown = chosen.calls[:1000].tolist()
        more = f"  # the first of {len(chosen):,}" if len(chosen) > len(shown) else ""
        lines.append(f"selected_in_{name} = {shown}{more}")
    if chosen.time_range is not None:
        lines.append(f"time_range_in_{name} = {chosen.time_range}  # ns")
    return lines


class TRACEVIS3D_OT_copy_as_python(OnCall, bpy.types.Operator):
    """Copy a script that draws this view as it is now, with what is selected, and renders it"""

    bl_idname = "tracevis3d.copy_as_python"
    bl_label = "Copy as Python"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        view = bpy.data.collections.get(self.view) if self.view else settings.require_active(context)
        context.window_manager.clipboard = script_of(view, context.scene)
        self.report({"INFO"}, f"A script that draws {view.name} is on the clipboard")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TRACEVIS3D_OT_copy_as_python,))
