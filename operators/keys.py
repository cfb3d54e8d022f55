"""Our own keys in the 3D view, listed in the preferences, where they can be changed or turned off.

Each is free in Blender's own keymap; Explore mode has keys of its own as long as it runs.
"""

from typing import Any

import bpy
import rna_keymap_ui

_OURS = "tracevis3d."
_KEYMAP, _SPACE = "3D View", "VIEW_3D"
#: Operator, key, what the operator gets. All with Ctrl and Alt.
_KEYS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("tracevis3d.search_ask", "F", {}),
    ("tracevis3d.search_step", "N", {"step": "NEXT"}),
    ("tracevis3d.search_step", "P", {"step": "PREVIOUS"}),
    ("tracevis3d.bookmark_add", "M", {}),
    ("tracevis3d.rebuild", "R", {}),
    ("tracevis3d.tree_go", "J", {}),
)
#: The keys of Explore mode, for the preferences' page: they can't be changed.
EXPLORE = (
    ("W  S", "Zoom in and out in time"),
    ("A  D", "Move in time"),
    ("F", "Frame the selection"),
    ("M", "Mark the selected time"),
    ("/", "Search"),
    (".  ,", "Next and previous result"),
    ("Home", "The whole trace"),
    ("Esc", "Leave"),
)
#: Our keys in Blender's keymaps, which takes them away by these alone.
_added: list[tuple[Any, Any]] = []


def draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """List the keys on the page of the preferences."""
    layout.label(text="Keys in the 3D View", icon="MOUSE_LMB_DRAG")
    column = layout.column()
    user = context.window_manager.keyconfigs.user
    keymap = user.keymaps.get(_KEYMAP) if user is not None else None
    for item in keymap.keymap_items if keymap is not None else ():
        if item.idname.startswith(_OURS):
            column.context_pointer_set("keymap", keymap)
            rna_keymap_ui.draw_kmi([], user, keymap, item, column, 0)
    layout.label(text="Keys in Explore Mode", icon="VIEWZOOM")
    box = layout.box().column(align=True)
    for key, what in EXPLORE:
        row = box.split(factor=0.2)
        row.label(text=key)
        row.label(text=what)


def register() -> None:
    """Add the keys."""
    config = bpy.context.window_manager.keyconfigs.addon
    if config is None:  # without a window there are no keys
        return
    keymap = config.keymaps.new(name=_KEYMAP, space_type=_SPACE)
    for operator, key, values in _KEYS:
        item = keymap.keymap_items.new(operator, key, "PRESS", ctrl=True, alt=True)
        for name, value in values.items():
            setattr(item.properties, name, value)
        _added.append((keymap, item))


def unregister() -> None:
    """Undo :func:`register`."""
    while _added:
        keymap, item = _added.pop()
        keymap.keymap_items.remove(item)
