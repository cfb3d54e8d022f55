"""The panel *Threads*: which thread is the main one, which are shown, hidden, and in which order."""

from typing import Any

import bpy

from ..operators.lists import threads
from ..operators.state import settings
from . import parts


class TRACEVIS3D_PT_threads(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_threads"
    bl_label = "Threads"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and settings.of(settings.active(context)).view == "threads"

    def draw(self, context: bpy.types.Context) -> None:
        collection = settings.require_active(context)
        rows = collection.tracevis3d_thread_rows
        if not len(rows):
            parts.paragraph(self.layout, context, "Rebuild tells which threads there are.", "INFO")
            return
        hidden, focused = threads.listed(collection, "hide"), threads.listed(collection, "focus")
        main = settings.require_parameters(collection).main
        column = self.layout.box().column(align=True)
        for row in rows:
            is_main = row.key == main or (main == "auto" and row.place == 0)
            _draw_row(column.row(align=True), row, is_main, row.key in hidden, row.key in focused)


def _draw_row(line: Any, row: Any, is_main: bool, hidden: bool, focused: bool) -> None:
    shown = row.place >= 0 and not hidden

    def button(icon: str, do: str) -> None:
        change = line.operator("tracevis3d.thread_change", text="", icon=icon, emboss=False)
        change.key, change.do = row.key, do

    button("SOLO_ON" if is_main else "SOLO_OFF", "MAIN")
    name = line.row()
    name.active = shown
    name.label(text=row.title)
    if shown:
        button("ZOOM_OUT" if focused else "ZOOM_IN", "FOCUS")
        button("TRIA_UP", "UP")
        button("TRIA_DOWN", "DOWN")
    button("HIDE_OFF" if shown else "HIDE_ON", "HIDE" if shown else "SHOW")


CLASSES = (TRACEVIS3D_PT_threads,)
