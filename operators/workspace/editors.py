"""Editors of our own: the time strip, the calls, and what is selected.

To Blender each is a node editor with another kind of tree, because add-ons cannot add editors; so each
stands in the menu of editors, and can be put into any area of any workspace. No tree is ever made.
"""

from typing import Any

import bpy
import gpu

from .. import areas
from ..explore.shapes import rectangle


class TRACEVIS3D_NT_strip(bpy.types.NodeTree):
    """The whole trace along time, and the part of it that the views show"""

    bl_idname = areas.STRIP
    bl_label = "Time Strip"
    bl_icon = "TIME"


class TRACEVIS3D_NT_calls(bpy.types.NodeTree):
    """The call tree and the lists of the active view"""

    bl_idname = areas.CALLS
    bl_label = "Calls"
    bl_icon = "OUTLINER"


class TRACEVIS3D_NT_selection(bpy.types.NodeTree):
    """Details of what is selected"""

    bl_idname = areas.SELECTION
    bl_label = "Trace Selection"
    bl_icon = "RESTRICT_SELECT_OFF"


def _draw_ground() -> None:
    """Cover the node editor's grid."""
    context = bpy.context
    if areas.kind_of(context.area) not in (areas.CALLS, areas.SELECTION):
        return
    theme = context.preferences.themes[0].node_editor.space
    gpu.state.blend_set("NONE")
    rectangle(0.0, 0.0, context.region.width, context.region.height, (*theme.back, 1.0))


_CLASSES = (TRACEVIS3D_NT_strip, TRACEVIS3D_NT_calls, TRACEVIS3D_NT_selection)
_handles: list[Any] = []


def register() -> None:
    """Register the editors."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    if not bpy.app.background:
        add = bpy.types.SpaceNodeEditor.draw_handler_add
        _handles.append(add(_draw_ground, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Undo :func:`register`."""
    while _handles:
        bpy.types.SpaceNodeEditor.draw_handler_remove(_handles.pop(), "WINDOW")
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
