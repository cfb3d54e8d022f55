"""The shortcut that starts Explore mode, in the add-ons' own key map: Blender's keys stay as they are."""

from typing import Any

import bpy

_items: list[tuple[Any, Any]] = []


def register() -> None:
    """Add the shortcut; without a window there are no key maps."""
    keyconfig = bpy.context.window_manager.keyconfigs.addon if bpy.context.window_manager else None
    if keyconfig is None:
        return
    keymap = keyconfig.keymaps.new(name="3D View", space_type="VIEW_3D")
    item = keymap.keymap_items.new("tracevis3d.explore", "E", "PRESS", ctrl=True, alt=True)
    _items.append((keymap, item))


def unregister() -> None:
    """Take the shortcut away."""
    while _items:
        keymap, item = _items.pop()
        keymap.keymap_items.remove(item)


def words() -> str:
    """Return the shortcut's keys, as they are set."""
    for _, item in _items:
        if item.active:
            return str(item.to_string())
    return ""
