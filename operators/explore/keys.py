"""How exploring begins: by its tool, or by a shortcut in the add-ons' own key map."""

from collections.abc import Callable, Iterator
from typing import Any

import bpy

from .. import handlers, signals

_items: list[tuple[Any, Any]] = []
#: The tool in the 3D view's toolbar, and Blender's own that takes its place.
TOOL, OTHER_TOOL = "tracevis3d.explore_tool", "builtin.select_box"
#: The custom property of a workspace that our tool was chosen in when the file was saved.
_CHOSEN = "tracevis3d_tool"


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


def _tools() -> Iterator[tuple[bpy.types.WorkSpace, bpy.types.WorkSpaceTool]]:
    """Yield the tool for 3D views of each workspace that has one."""
    for workspace in bpy.data.workspaces:
        tool = workspace.tools.from_space_view3d_mode("OBJECT", create=False)
        if tool is not None:
            yield workspace, tool


def _set_up(tool: bpy.types.WorkSpaceTool, name: str, keymap: str = "") -> None:
    """Choose a tool in a workspace that no window may show. Blender ends where a text is left out."""
    rest = dict.fromkeys(("gizmo_group", "data_block", "operator", "idname_fallback", "keymap_fallback"), "")
    tool.setup(idname=name, keymap=keymap, index=-1, **rest)


def _before_saving(_file: str = "") -> None:
    """Put Blender's own tool into the file: without the extension Blender would warn of ours."""
    for workspace, tool in _tools():
        if tool.idname == TOOL:
            workspace[_CHOSEN] = True
            _set_up(tool, OTHER_TOOL)
        elif _CHOSEN in workspace:
            del workspace[_CHOSEN]


def _choose_again(_file: str = "") -> None:
    """Choose our tool where the file has it."""
    for workspace, tool in _tools():
        if workspace.get(_CHOSEN) and tool.idname == OTHER_TOOL:
            _set_up(tool, TOOL, _keymap())


def _keymap() -> str:
    """Return the name that Blender gave to the key map of our tool."""
    config = bpy.context.window_manager.keyconfigs.default if bpy.context.window_manager else None
    names = (keymap.name for keymap in config.keymaps) if config is not None else ()
    return next((name for name in names if name.endswith(f", {TRACEVIS3D_WT_explore.bl_label}")), "")


_CONNECTIONS: tuple[tuple[signals.Signal[Any], Callable[..., object]], ...] = (
    (handlers.before_saving, _before_saving),
    (handlers.after_saving, _choose_again),
    (handlers.after_loading, _choose_again),
)


def register() -> None:
    """Add the tool and the shortcut; without a window there are no key maps."""
    bpy.utils.register_tool(TRACEVIS3D_WT_explore, separator=True)
    signals.connect(_CONNECTIONS)
    keyconfig = bpy.context.window_manager.keyconfigs.addon if bpy.context.window_manager else None
    if keyconfig is None:
        return
    keymap = keyconfig.keymaps.new(name="3D View", space_type="VIEW_3D")
    item = keymap.keymap_items.new("tracevis3d.explore", "E", "PRESS", ctrl=True, alt=True)
    _items.append((keymap, item))


def unregister() -> None:
    """Take both away."""
    signals.disconnect(_CONNECTIONS)
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
