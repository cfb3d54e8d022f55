"""Disable and enable the extension again and again: nothing of it may stay behind."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support


def state():
    """Return everything that the extension can have left in Blender."""
    handlers = {
        name: [f.__module__ for f in getattr(bpy.app.handlers, name)]
        for name in dir(bpy.app.handlers)
        if isinstance(getattr(bpy.app.handlers, name), list)
    }
    types = sorted(name for name in dir(bpy.types) if "tracevis3d" in name.lower())
    operators = sorted(dir(bpy.ops.tracevis3d)) if "tracevis3d" in dir(bpy.ops) else []
    menu = getattr(bpy.types.TOPBAR_MT_file_import.draw, "_draw_funcs", [])
    export = getattr(bpy.types.TOPBAR_MT_file_export.draw, "_draw_funcs", [])
    draws = [f.__module__ for f in (*menu, *export)]
    properties = [hasattr(bpy.types.Collection, "tracevis3d"), hasattr(bpy.types.Scene, "tracevis3d_view")]
    properties += [
        hasattr(bpy.types.Scene, f"tracevis3d_{name}") for name in ("search", "bookmarks", "overview")
    ]
    properties.append(hasattr(bpy.types.WindowManager, "tracevis3d_details"))
    return handlers, types, operators, draws, properties


if support.NAME in bpy.context.preferences.addons:  # the program starts with what it was left with
    bpy.ops.preferences.addon_disable(module=support.NAME)
clean = state()
assert not clean[1]
assert not any(clean[4])
for _ in range(2):
    support.enable()
    enabled = state()
    assert "TRACEVIS3D_FH_trace" in enabled[1]
    assert "TRACEVIS3D_PT_view" in enabled[1]
    assert "import_trace" in enabled[2]
    assert all(enabled[4])
    assert bpy.ops.preferences.addon_disable(module=support.NAME) == {"FINISHED"}
    assert state() == clean, (clean, state())
