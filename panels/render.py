"""The panels *Film* and *Render*: shots on the timeline; pictures and films, in the scene's size."""

from typing import Any

import bpy

from ..operators.film import stored as films
from ..operators.state import settings
from . import parts


class TRACEVIS3D_UL_shots(bpy.types.UIList):
    """Shots of the film, in order."""

    bl_idname = "TRACEVIS3D_UL_shots"

    def draw_item(
        self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active: Any, _name: Any, *_: Any
    ) -> None:
        row = layout.split(factor=0.68)
        row.prop(item, "name", text="", emboss=False, icon="VIEW_CAMERA")
        row.prop(item, "seconds", text="", emboss=False)

    def draw_filter(self, _context: Any, _layout: Any) -> None:
        """A film has its order."""


class TRACEVIS3D_PT_film(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_film"
    bl_label = "Film"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        layout, film = self.layout, films.of(context.scene)
        row = layout.row(align=True)
        row.operator("tracevis3d.film_add", text="Add Shot", icon="ADD").way = "FLY"
        row.operator("tracevis3d.film_add", text="Add with Cut", icon="MARKER").way = "CUT"
        layout.operator("tracevis3d.film_collect", icon="BOOKMARKS")
        if not film.shots:
            parts.paragraph(layout, context, "Each shot shows what the 3D view shows when it is added.")
            return
        row = layout.row()
        row.template_list(
            TRACEVIS3D_UL_shots.bl_idname, "", film, "shots", film, "index", rows=4, sort_lock=True
        )
        column = row.column(align=True)
        column.operator("tracevis3d.film_remove", text="", icon="REMOVE")
        column.separator()
        column.operator("tracevis3d.film_move", text="", icon="TRIA_UP").direction = "UP"
        column.operator("tracevis3d.film_move", text="", icon="TRIA_DOWN").direction = "DOWN"
        shot = films.active(context.scene)
        if shot is not None:
            layout.prop(shot, "caption")
            row = layout.row()
            row.enabled = film.index > 0
            row.prop(shot, "flies", text="Fly There from the Shot Before")
            row = layout.row(align=True)
            row.operator("tracevis3d.film_go", text="Go There", icon="HIDE_OFF")
            row.operator("tracevis3d.film_update", text="Update", icon="FILE_REFRESH")
        layout.operator("tracevis3d.film_play", icon="PLAY")


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


CLASSES = (TRACEVIS3D_UL_shots, TRACEVIS3D_PT_film, TRACEVIS3D_PT_render)
