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
#: What mouse and keys do while exploring, for the preferences' page, the sheet and, shorter, the status bar,
#: which has room for the first ones to know.
EXPLORE = (
    ("Click", "Select; with Shift: add to the selection, or remove from it", "select"),
    ("Drag", "Select a range of time", "time range"),
    ("Ctrl-click", "In a comparison: align a call with its match; again: undo it", ""),
    ("Double-click", "Zoom to an element in time", "zoom"),
    ("Right-click", "Show the menu of an element", "menu"),
    ("W  S", "Zoom in and out in time around the mouse; also Ctrl and the wheel", "zoom in time"),
    ("A  D", "Move in time", "move in time"),
    ("↑  ↓", "Scroll up and down, also Page ↑ and ↓, and Shift and the wheel", "scroll"),
    ("Shift W  Shift S", "Make the levels of an icicle higher, or lower", ""),
    ("F", "Frame the selection, else what the mouse is over, else the view", "frame"),
    ("M", "Mark the selected time, or unmark it", "mark"),
    ("/", "Search", "search"),
    (".  ,", "Next and previous result, or difference", "next, previous"),
    ("Alt ←  Alt →", "Go back to the previous viewpoint, and forward again", ""),
    ("Alt and the wheel", "Ride along time without turning the view", ""),
    ("Middle button", "Turn around what is under the mouse", ""),
    ("V", "Turn to where most of what is highlighted can be seen", ""),
    ("X", "X-ray: what is not selected fades, what is selected shows through", ""),
    ("L", "Lens: what is around the mouse, magnified and in full detail", "lens"),
    ("B  Shift B", "Show only a range of time, or of depth: drag its planes; with Shift: both", "slab"),
    ("1 … 9", "The first, second, … view of the scene", "views"),
    ("Home", "The whole trace", "whole trace"),
    ("?", "All of these keys", "all keys"),
)
#: Mouse and keys on the time strip, for the sheet.
STRIP = (
    ("Drag", "Move or resize the frame, or draw a new one"),
    ("Wheel", "Zoom in time, around the mouse; with Shift: move in time"),
    ("Shift-drag", "Select a range of time"),
    ("Double-click", "The whole trace"),
)
#: The mouse on a legend in a 3D view, for the sheet.
LEGEND = (
    ("Click", "Mute all but an entry; again: show all; on a heading: fold or open it"),
    ("Shift-click", "Add an entry, or remove it"),
    ("Double-click", "Show an entry alone"),
    ("Esc", "Show all"),
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
    draw_sheet(layout)


def draw_sheet(layout: bpy.types.UILayout) -> None:
    """List what mouse and keys do while exploring, on a legend, and on the time strip."""
    for title, icon, lines in (
        ("Exploring", "VIEWZOOM", [(key, what) for key, what, _ in EXPLORE]),
        ("On a Legend", "COLOR", LEGEND),
        ("On the Time Strip", "TIME", STRIP),
    ):
        layout.label(text=title, icon=icon)
        box = layout.box().column(align=True)
        for key, what in lines:
            row = box.split(factor=0.2)
            row.label(text=key)
            row.label(text=what)


class TRACEVIS3D_OT_keys(bpy.types.Operator):
    """Show what mouse and keys do while exploring"""

    bl_idname = "tracevis3d.keys"
    bl_label = "Keys of TraceVis"

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_popup(self, width=480)

    def draw(self, _context: bpy.types.Context) -> None:
        draw_sheet(self.layout)

    def execute(self, _context: bpy.types.Context) -> set[str]:
        return {"FINISHED"}


def register() -> None:
    """Add the keys, and the sheet of them."""
    bpy.utils.register_class(TRACEVIS3D_OT_keys)
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
    bpy.utils.unregister_class(TRACEVIS3D_OT_keys)
