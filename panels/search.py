"""The panel *Search*: pattern, results as a list, next and previous."""

from typing import Any

import bpy

from ..operators.state import settings
from . import parts


class TRACEVIS3D_UL_results(bpy.types.UIList):
    """Calls that were found, in order of time."""

    bl_idname = "TRACEVIS3D_UL_results"

    def draw_item(
        self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active: Any, _name: Any, *_: Any
    ) -> None:
        parts.worded_row(layout, 0.33, item.when, item.title)

    def draw_filter(self, _context: Any, _layout: Any) -> None:
        """The list has no filter of its own: the pattern above is one."""


class TRACEVIS3D_PT_search(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_search"
    bl_label = "Search"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        state = context.scene.tracevis3d_search
        row = layout.row(align=True)
        row.prop(state, "pattern", text="", icon="VIEWZOOM")
        row.menu("TRACEVIS3D_MT_search_history", text="", icon="RECOVER_LAST")
        row.operator("tracevis3d.search_clear", text="", icon="X")
        layout.prop(state, "kind", text="")
        row = layout.row()
        row.prop(state, "full")
        row.prop(state, "case")
        if len(settings.of(settings.active(context)).sources) > 1:
            layout.prop(state, "source")
        row = layout.row(align=True)
        row.prop(state, "start", text="", placeholder="from") if _PLACEHOLDERS else row.prop(state, "start")
        row.prop(state, "end", text="", placeholder="to") if _PLACEHOLDERS else row.prop(state, "end")
        if state.summary:
            parts.paragraph(layout, context, state.summary)
        if not state.total:
            return
        layout.template_list(
            TRACEVIS3D_UL_results.bl_idname, "", state, "hits", state, "index", rows=5, sort_lock=True
        )
        last = state.rank + len(state.hits)
        at = f"{state.rank + state.index + 1:,}" if state.index >= 0 else f"{state.rank + 1:,} – {last:,}"
        row = parts.steps(layout, "tracevis3d.search_step", f"{at} of {state.total:,}")
        row.prop(state, "show_pins", text="", icon="PINNED")


#: Placeholders in empty fields exist from Blender 4.1 on; tested by their name, not by the version.
_PLACEHOLDERS = "placeholder" in bpy.types.UILayout.bl_rna.functions["prop"].parameters

CLASSES = (TRACEVIS3D_UL_results, TRACEVIS3D_PT_search)
