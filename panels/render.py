"""The panel *Render*: pictures and films of the scene, in the scene's size."""

import bpy

from ..operators.state import settings
from . import parts


class TRACEVIS3D_PT_render(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_render"
    bl_label = "Render"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        scene = context.scene
        render = scene.render
        stored = settings.of(settings.active(context))
        layout.prop(stored, "style")
        layout.prop(stored, "engine")
        column = layout.column(align=True)
        column.prop(render, "resolution_x", text="Width")
        column.prop(render, "resolution_y", text="Height")
        column.prop(render, "resolution_percentage", text="Scale")
        layout.prop(render, "film_transparent", text="Transparent")
        column = layout.column(align=True)
        column.prop(render, "fps", text="Frame Rate")
        column.prop(stored, "seconds")
        layout.prop(stored, "output")
        ask = "" if stored.output else " …"
        column = layout.column(align=True)
        column.scale_y = 1.2
        column.operator("tracevis3d.render_image", text=f"Render Image{ask}", icon="RENDER_STILL")
        column.operator("tracevis3d.render_film", text=f"Render Film{ask}", icon="RENDER_ANIMATION")


CLASSES = (TRACEVIS3D_PT_render,)
