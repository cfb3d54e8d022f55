"""How exploring begins: by its tool, or by a shortcut in the add-ons' own key map."""

from typing import Any

import bpy

_items: list[tuple[Any, Any]] = []
#: The tool in the 3D view's toolbar, and Blender's own that takes its place.
TOOL, OTHER_TOOL = "tracevis3d.explore_tool", "builtin.select_box"


class TRACEVIS3D_WT_explore(bpy.types.WorkSpaceTool):
    """Point at a trace, select, zoom in time: it is at work wherever the mouse is in a 3D view."""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "OBJECT"
    bl_idname = TOOL
    bl_label = "Explore Trace"
    bl_description = "Point at anything in a trace to see what it is, click to select, double-click to zoom"
    bl_icon = "ops.generic.cursor"
    bl_widget = None
    bl_keymap = (
        ("tracevis3d.explore", {"type": "MOUSEMOVE", "value": "ANY"}, {"properties": [("by_tool", True)]}),
    )


def is_chosen(context: bpy.types.Context) -> bool:
    """Return whether the workspace's tool in 3D views is ours."""
    if context.workspace is None:
        return False
    tool = context.workspace.tools.from_space_view3d_mode("OBJECT", create=False)
    return tool is not None and tool.idname == TOOL


def choose(context: bpy.types.Context, tool: str) -> None:
    """Choose a tool for the 3D views of the workspace."""
    areas = context.screen.areas if context.screen is not None else ()
    area = next((one for one in areas if one.type == "VIEW_3D"), None)
    if area is not None:
        region = next(one for one in area.regions if one.type == "WINDOW")
        with context.temp_override(area=area, region=region):
            bpy.ops.wm.tool_set_by_id(name=tool, space_type="VIEW_3D")


def register() -> None:
    """Add the tool and the shortcut; without a window there are no key maps."""
    bpy.utils.register_tool(TRACEVIS3D_WT_explore, separator=True)
    keyconfig = bpy.context.window_manager.keyconfigs.addon if bpy.context.window_manager else None
    if keyconfig is None:
        return
    keymap = keyconfig.keymaps.new(name="3D View", space_type="VIEW_3D")
    item = keymap.keymap_items.new("tracevis3d.explore", "E", "PRESS", ctrl=True, alt=True)
    _items.append((keymap, item))


def unregister() -> None:
    """Take both away."""
    while _items:
        keymap, item = _items.pop()
        keymap.keymap_items.remove(item)
    bpy.utils.unregister_tool(TRACEVIS3D_WT_explore)


def words() -> str:
    """Return the shortcut's keys, as they are set."""
    for _, item in _items:
        if item.active:
            return str(item.to_string())
    return ""
