"""The panel *Selection*: facts of the selected call."""

import bpy

from . import parts


class TRACEVIS3D_PT_selection(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_selection"
    bl_label = "Selection"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        details = context.window_manager.tracevis3d_details
        if not details.summary:
            parts.paragraph(
                layout,
                context,
                "Nothing is selected. Click a call in Explore mode, or a search result.",
                "INFO",
            )
            return
        layout.label(text=details.summary, icon="RESTRICT_SELECT_OFF")
        if details.title:
            parts.paragraph(layout, context, details.title)
        parts.fact_rows(layout, details.rows)


CLASSES = (TRACEVIS3D_PT_selection,)
