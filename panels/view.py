"""The panel *View*: the parameters of the active view, made from its declaration."""

import bpy

from ..operators import settings
from ..tracevis3d.views import registry as views
from ..tracevis3d.views.parameters import declared
from . import parts

#: Groups of parameters that are open at first.
_OPEN = ("", "Data", "Window")


class TRACEVIS3D_PT_view(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_view"
    bl_label = "View"

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        self.layout.operator("tracevis3d.reset_parameters", text="", icon="LOOP_BACK", emboss=False)

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
        row = layout.row()
        row.scale_y = 1.2
        row.operator(
            "tracevis3d.rebuild",
            text="Rebuild to Show Changes" if stored.stale else "Rebuild",
            icon="FILE_REFRESH",
            depress=stored.stale,
        )
        parts.fact_rows(layout, stored.facts)
        layout.prop(stored, "style")
        body = layout.column()
        heading = ""
        for parameter in declared(views.find(stored.view).parameters):
            if parameter.group != heading:
                heading = parameter.group
                closed = heading not in _OPEN
                header, body = layout.panel(f"tracevis3d_{stored.view}_{heading}", default_closed=closed)
                header.label(text=heading.capitalize())
            if body is not None:
                body.prop(group, parameter.name)


CLASSES = (TRACEVIS3D_PT_view,)
