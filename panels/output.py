"""The panel *Output*: pictures and films of the active view, in the scene's size."""

import bpy

from ..operators import settings
from . import parts


class TRACEVIS3D_PT_output(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_output"
    bl_label = "Output"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        scene = context.scene
        render = scene.render
        stored = settings.of(settings.active(context))
        layout.prop(stored, "engine")
        column = layout.column(align=True)
        column.prop(render, "resolution_x", text="Width")
        column.prop(render, "resolution_y", text="Height")
        column.prop(render, "resolution_percentage", text="Scale")
        layout.prop(render, "film_transparent", text="Transparent")
        column = layout.column(align=True)
        column.prop(render, "fps", text="Frame Rate")
        column.prop(stored, "seconds")
        column = layout.column(align=True)
        column.scale_y = 1.2
        column.operator("tracevis3d.render_image", text="Render Image …", icon="RENDER_STILL")
        column.operator("tracevis3d.render_film", text="Render Film …", icon="RENDER_ANIMATION")


CLASSES = (TRACEVIS3D_PT_output,)
