"""The panel *Differences* of a comparison: what differs, the largest first, to be gone through."""

from typing import Any

import bpy

from ..operators.lists import differences
from ..operators.state import settings, sources
from . import parts


class TRACEVIS3D_UL_differences(bpy.types.UIList):
    """The differences between two traces, the largest first."""

    bl_idname = "TRACEVIS3D_UL_differences"

    def draw_item(
        self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active: Any, _name: Any, *_: Any
    ) -> None:
        parts.worded_row(layout, 0.2, item.share, item.short)

    def draw_filter(self, _context: Any, _layout: Any) -> None:
        """The list is short: it has no filter."""


class TRACEVIS3D_PT_differences(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_differences"
    bl_label = "Differences"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and differences.findings_of(settings.active(context)) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout, collection = self.layout, settings.require_active(context)
        for name, source in zip("AB", settings.of(collection).sources):
            layout.label(text=f"{name}  {sources.name_of(source)}", icon="FILE")
        if not len(collection.tracevis3d_differences):
            if collection.tracevis3d_differences_sought:
                parts.paragraph(layout, context, "No relevant differences found.", "INFO")
            column = layout.column()
            column.scale_y = 1.3
            column.operator("tracevis3d.find_differences", icon="VIEWZOOM")
            return
        hint = "By their share of the run. Click one to go there and see what differs."
        parts.paragraph(layout, context, hint)
        layout.template_list(
            TRACEVIS3D_UL_differences.bl_idname,
            "",
            collection,
            "tracevis3d_differences",
            collection,
            "tracevis3d_difference",
            rows=6,
            sort_lock=True,
        )
        row = layout.row(align=True)
        row.operator("tracevis3d.difference_step", text="", icon="TRIA_LEFT").step = "PREVIOUS"
        row.operator("tracevis3d.difference_step", text="Go There", icon="HIDE_OFF").step = "THIS"
        row.operator("tracevis3d.difference_step", text="", icon="TRIA_RIGHT").step = "NEXT"
        row = layout.row(align=True)
        row.operator("tracevis3d.difference_draw", text="Draw Alone", icon="ZOOM_SELECTED").whole = False
        row.operator("tracevis3d.difference_draw", text="Draw Whole", icon="FULLSCREEN_EXIT").whole = True
        if (chosen := differences.of(collection)) is not None:
            box = layout.box()
            box.label(text=f"{collection.tracevis3d_difference + 1}. {chosen.title}, {chosen.share}")
            parts.paragraph(box, context, chosen.sentence)
        layout.operator("tracevis3d.explain", icon="VIEW_CAMERA")
        layout.operator("tracevis3d.find_differences", text="Find Again", icon="FILE_REFRESH")


CLASSES = (TRACEVIS3D_UL_differences, TRACEVIS3D_PT_differences)
