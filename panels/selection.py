"""The panel *Selection*: facts of the selected call."""

from typing import Any

import bpy

from ..operators import areas
from . import parts


class _Selection:
    bl_label = "Selection"
    editor = areas.SELECTION
    layout: Any

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        details = context.window_manager.tracevis3d_details
        if not details.summary:
            parts.paragraph(
                layout,
                context,
                "Nothing is selected. Click a call, a row of the call tree, or a search result.",
                "INFO",
            )
            return
        layout.label(text=details.summary, icon="RESTRICT_SELECT_OFF")
        if details.title:
            parts.paragraph(layout, context, details.title)
        parts.fact_rows(layout, details.rows, 0.33)


class TRACEVIS3D_PT_selection(_Selection, parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_selection"


class TRACEVIS3D_PT_selection_editor(_Selection, parts.EditorPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_selection_editor"
    needs_view = False


CLASSES = (TRACEVIS3D_PT_selection, TRACEVIS3D_PT_selection_editor)
