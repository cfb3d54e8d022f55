"""Editors of our own: the time strip, the calls, and what is selected.

To Blender each is a node editor with another kind of tree, because add-ons cannot add editors; so each
stands in the menu of editors, and can be put into any area of any workspace. No tree is ever made. Where
the extension is absent, Blender would warn of an unknown kind at each redraw, so files hold one that it
knows.
"""

from typing import Any

import bpy
import gpu

from .. import areas, handlers, signals
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


#: On a screen: place of each area that was our editor -> which; and what it is meanwhile.
_LENT, _KNOWN = "tracevis3d_editors", "ShaderNodeTree"


def _lend(_file: str = "") -> None:
    """Make our editors what every Blender knows."""
    for screen in bpy.data.screens:
        ours = {str(i): kind for i, area in enumerate(screen.areas) if (kind := areas.kind_of(area))}
        if ours:
            screen[_LENT] = ours
        for place in ours:
            screen.areas[int(place)].spaces.active.tree_type = _KNOWN


def _take_back(_file: str = "") -> None:
    """Make the areas that were our editors ours again, unless they are something else by now."""
    for screen in bpy.data.screens:
        if _LENT not in screen:
            continue
        for place, kind in screen[_LENT].items():
            if int(place) < len(screen.areas):
                space = screen.areas[int(place)].spaces.active
                if space.type == "NODE_EDITOR" and space.tree_type == _KNOWN:
                    space.tree_type = kind
        del screen[_LENT]


_CONNECTIONS = (
    (handlers.before_saving, _lend),
    (handlers.after_saving, _take_back),
    (handlers.after_loading, _take_back),
)
_CLASSES = (TRACEVIS3D_NT_strip, TRACEVIS3D_NT_calls, TRACEVIS3D_NT_selection)
_handles: list[Any] = []


def register() -> None:
    """Register the editors."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    if not bpy.app.background:
        add = bpy.types.SpaceNodeEditor.draw_handler_add
        _handles.append(add(_draw_ground, (), "WINDOW", "POST_PIXEL"))
    signals.connect(_CONNECTIONS)
    # While an extension is being enabled, Blender shows it no file.
    bpy.app.timers.register(_take_back)


def unregister() -> None:
    """Undo :func:`register`; open editors stay, as an editor that Blender knows."""
    signals.disconnect(_CONNECTIONS)
    if bpy.app.timers.is_registered(_take_back):
        bpy.app.timers.unregister(_take_back)
    if hasattr(bpy.data, "screens"):
        _lend()
    while _handles:
        bpy.types.SpaceNodeEditor.draw_handler_remove(_handles.pop(), "WINDOW")
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
