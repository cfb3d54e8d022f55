"""The panel *Explore*: its mode, walking and flying, and what is highlighted."""

import bpy

from ..operators.explore import keys
from ..operators.explore.overlay import state
from . import parts


class TRACEVIS3D_PT_explore(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_explore"
    bl_label = "Explore"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        column = layout.column()
        column.scale_y = 1.3
        words = keys.words()
        by_tool = keys.is_chosen(context)
        # With its tool there is nothing to begin: the mouse is all it takes.
        if not by_tool:
            text = "Leave Explore (Esc)" if state.exploring else f"Explore ({words})" if words else "Explore"
            icon = "RESTRICT_SELECT_OFF"
            column.operator("tracevis3d.explore", text=text, icon=icon, depress=state.exploring)
        row = layout.row(align=True)
        row.operator("tracevis3d.walk", icon="VIEW_PERSPECTIVE")
        row.operator("tracevis3d.fly", icon="TRACKING_FORWARDS")
        row.operator("tracevis3d.page", icon="CAMERA_DATA")
        row.operator("tracevis3d.copy_view", text="", icon="COPYDOWN")
        row.operator("tracevis3d.keys", text="", icon="QUESTION")
        layout.prop(context.window_manager, "tracevis3d_collide")
        layout.prop(context.scene, "tracevis3d_minimap")
        layout.label(text="Highlight with it")
        layout.row(align=True).prop(context.window_manager, "tracevis3d_related")
        layout.prop(context.scene, "tracevis3d_detail")
        row = layout.row()
        row.active = context.scene.tracevis3d_detail
        row.prop(context.scene, "tracevis3d_detail_rendered")


CLASSES = (TRACEVIS3D_PT_explore,)
