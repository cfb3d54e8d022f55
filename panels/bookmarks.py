"""The panel *Bookmarks*: places to come back to."""

from typing import Any

import bpy

from . import parts


class TRACEVIS3D_UL_bookmarks(bpy.types.UIList):
    """Bookmarks of the scene."""

    bl_idname = "TRACEVIS3D_UL_bookmarks"

    def draw_item(
        self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active: Any, _name: Any, *_: Any
    ) -> None:
        layout.prop(item, "name", text="", emboss=False, icon="BOOKMARKS")


class TRACEVIS3D_PT_bookmarks(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_bookmarks"
    bl_label = "Bookmarks"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        layout, scene = self.layout, context.scene
        row = layout.row()
        row.template_list(
            TRACEVIS3D_UL_bookmarks.bl_idname,
            "",
            scene,
            "tracevis3d_bookmarks",
            scene,
            "tracevis3d_bookmark",
            rows=3 if scene.tracevis3d_bookmarks else 2,
        )
        column = row.column(align=True)
        column.operator("tracevis3d.bookmark_add", text="", icon="ADD")
        column.operator("tracevis3d.bookmark_remove", text="", icon="REMOVE")
        row = layout.row(align=True)
        row.operator("tracevis3d.bookmark_go", text="Go There", icon="HIDE_OFF")
        row.operator("tracevis3d.bookmark_update", text="Update", icon="FILE_REFRESH")
        if not scene.tracevis3d_bookmarks:
            parts.paragraph(layout, context, "A bookmark stores the viewpoint and the selection.")


CLASSES = (TRACEVIS3D_UL_bookmarks, TRACEVIS3D_PT_bookmarks)
