"""The areas of Blender's windows that show something of ours."""

from typing import Any

import bpy

#: Our own editors (workspace/editors.py): to Blender, node editors with another kind of tree.
STRIP, CALLS, SELECTION = EDITORS = (
    "TRACEVIS3D_NT_strip",
    "TRACEVIS3D_NT_calls",
    "TRACEVIS3D_NT_selection",
)


def kind_of(area: Any) -> str:
    """Return which of our editors an area is; empty if none."""
    if area is None or area.type != "NODE_EDITOR":
        return ""
    kind: str = area.spaces.active.tree_type
    return kind if kind in EDITORS else ""


def shows(screen: Any, kind: str) -> bool:
    """Return whether a screen has one of our editors, so that sidebars needn't repeat it."""
    return any(kind_of(area) == kind for area in screen.areas)


def is_ours(area: bpy.types.Area) -> bool:
    """Return whether an area is a 3D view, which may show views and panels, or an editor of our own."""
    return area.type == "VIEW_3D" or bool(kind_of(area))


def redraw() -> None:
    """Let the 3D views and our own editors be drawn again, with their panels."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if is_ours(area):
                area.tag_redraw()
