"""The panels *Views* and *Parameters*: the views of the scene, and what the active one is drawn with."""

from typing import Any

import bpy

from ..operators import preconditions
from ..operators.state import settings
from ..tracevis3d.parameters import declared
from ..tracevis3d.views import registry as views
from . import parts

#: Groups of parameters that are open at first.
_OPEN = ("", "Data")


class TRACEVIS3D_UL_views(bpy.types.UIList):
    """The views of the scene."""

    bl_idname = "TRACEVIS3D_UL_views"

    def draw_item(
        self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active: Any, _name: Any, *_: Any
    ) -> None:
        row = layout.row(align=True)
        row.prop(item, "name", text="", emboss=False, icon="OUTLINER_COLLECTION")
        if settings.of(item).stale:
            row.label(text="", icon="FILE_REFRESH")

    def filter_items(self, context: Any, data: Any, name: str) -> tuple[list[int], list[int]]:
        present = set(settings.all_in(context.scene))
        shown = [self.bitflag_filter_item if item in present else 0 for item in getattr(data, name)]
        return shown, []


class TRACEVIS3D_PT_views(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_views"
    bl_label = "Views"

    def draw(self, context: bpy.types.Context) -> None:
        layout, scene = self.layout, context.scene
        several = len(settings.all_in(scene)) > 1
        row = layout.row()
        row.template_list(
            TRACEVIS3D_UL_views.bl_idname,
            "",
            bpy.data,
            "collections",
            scene,
            "tracevis3d_view_number",
            rows=3 if several else 2,
        )
        column = row.column(align=True)
        column.operator("tracevis3d.add_view", text="", icon="ADD")
        column.operator("tracevis3d.remove_view", text="", icon="REMOVE")
        if several:
            row = layout.row(align=True)
            row.operator(
                "tracevis3d.overview", text="See All", icon="VIEW_CAMERA", depress=scene.tracevis3d_overview
            )
            row.operator_menu_enum("tracevis3d.arrange", "direction", text="Arrange", icon="SNAP_GRID")
        stored = settings.of(settings.active(context))
        row = layout.row(align=True)
        row.scale_y = 1.2
        row.operator(
            "tracevis3d.rebuild",
            text="Rebuild to Show Changes" if stored.stale else "Rebuild",
            icon="FILE_REFRESH",
            depress=stored.stale,
        )
        row.prop(
            context.window_manager, "tracevis3d_parameters", text="Parameters", icon="OPTIONS", toggle=True
        )


class TRACEVIS3D_PT_view(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_view"
    bl_label = "Parameters"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and context.window_manager.tracevis3d_parameters

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        self.layout.menu("TRACEVIS3D_MT_presets", text="", icon="PRESET")

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        collection = settings.active(context)
        stored = settings.of(collection)
        group = settings.parameters(collection)
        if group is None:
            parts.paragraph(layout, context, f"The view {stored.view!r} is not installed here.", "ERROR")
            return
        parts.fact_rows(layout, stored.facts)
        for table in stored.tables:
            header, body = layout.panel(f"tracevis3d_table_{table.name}", default_closed=True)
            header.label(text=table.name)
            if body is not None:
                parts.fact_rows(body, table.rows)
        reason = preconditions.obstacle(context, preconditions.OBJECT_MODE, preconditions.OWN)
        if reason:
            parts.paragraph(layout, context, reason + ".", "INFO")
        body = layout.column()
        body.enabled = not reason
        heading = ""
        for parameter in declared(views.find(stored.view).parameters):
            if parameter.group != heading:
                heading = parameter.group
                closed = heading not in _OPEN
                header, body = layout.panel(f"tracevis3d_{stored.view}_{heading}", default_closed=closed)
                header.label(text=heading.capitalize())
                if body is not None:
                    body.enabled = not reason
            if body is not None:
                body.prop(group, parameter.name)
        header, body = layout.panel("tracevis3d_place", default_closed=True)
        header.label(text="Place in the Scene")
        if body is not None:
            body.prop(stored, "place", text="")


CLASSES = (TRACEVIS3D_UL_views, TRACEVIS3D_PT_views, TRACEVIS3D_PT_view)
