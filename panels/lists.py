"""The panels *Lists* (functions, patterns, utilities and the library) and *Numbers*, those of the trace."""

from typing import Any

import bpy

from ..operators import areas
from ..operators.lists import lists
from ..operators.state import settings
from ..operators.views import overview
from ..tracevis3d.features.call_tree.list_rows import PAGE
from . import parts
from .roles import ICONS, draw_legend

_NAMES = 0.7  # share of a row that the name has


class TRACEVIS3D_PT_overview(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_overview"
    bl_label = "Numbers"
    # Below what one does with the trace, and folded: the strip says the same.
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012
    bl_order = 100

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if areas.shows(context.screen, areas.STRIP):
            return False
        return super().poll(context) and bool(overview.of(settings.active(context)).headline)

    def draw(self, context: bpy.types.Context) -> None:
        stored = overview.of(settings.active(context))
        row = self.layout.box().row()
        parts.paragraph(row.column(), context, stored.headline)
        row.prop(stored, "shown", text="", icon="SEQ_HISTOGRAM")


class TRACEVIS3D_UL_list(bpy.types.UIList):
    """Rows of one page of a list."""

    bl_idname = "TRACEVIS3D_UL_list"

    def draw_item(
        self, _context: Any, layout: Any, data: Any, item: Any, _icon: Any, _active: Any, _name: Any, *_: Any
    ) -> None:
        row = layout.split(factor=_NAMES, align=True)
        row.active = not item.hidden
        # Where all are of one kind an icon says nothing, and takes room.
        alike = data.kind in ("patterns", "sequences")
        icon = {} if alike else {"icon": ICONS[item.role]}
        row.label(text=item.title, **icon)
        count = row.row()
        count.alignment = "RIGHT"
        count.label(text=item.count)

    def draw_filter(self, _context: Any, _layout: Any) -> None:
        """The list has no filter of its own: the field above is one, over all rows of all pages."""


class _Lists:
    bl_label = "Lists"
    editor = areas.CALLS
    layout: Any

    def draw(self, context: bpy.types.Context) -> None:
        layout, scene = self.layout, context.scene
        state = lists.of(settings.active(context))
        grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
        for kind, *_ in lists.KINDS:
            grid.prop_enum(state, "kind", kind)
        if state.kind == "library":
            layout.prop(scene, "tracevis3d_library", text="")
        if not state.summary:
            layout.operator("tracevis3d.list_show", icon="PRESET")
            return
        row = layout.row(align=True)
        row.prop(state, "contains", text="", icon="VIEWZOOM")
        if state.kind in ("patterns", "sequences"):
            row.prop(state, "pattern_sort", text="")
            if state.kind == "patterns":
                layout.prop(state, "criterion")
        elif state.kind == "model":
            row.prop(state, "sort", text="")
        row.operator("tracevis3d.list_show", text="", icon="FILE_REFRESH")
        parts.paragraph(layout, context, state.summary)
        if not state.total:
            return
        row = layout.row()
        row.template_list(
            TRACEVIS3D_UL_list.bl_idname, "", state, "rows", state, "index", rows=8, sort_lock=True
        )
        self._draw_acts(row.column(align=True), state)
        if state.total > PAGE:
            last = state.first + len(state.rows)
            where = f"{state.first + 1:,} – {last:,} of {state.total:,}"
            parts.steps(layout, "tracevis3d.list_page", where)
        if 0 <= state.index < len(state.rows):
            box = layout.box().column()
            box.active = False
            parts.paragraph(box, context, state.rows[state.index].detail)
        draw_legend(layout, {row.role for row in state.rows})

    def _draw_acts(self, column: Any, state: Any) -> None:
        for step, icon in (("PREVIOUS", "TRIA_UP"), ("ALL", "RESTRICT_SELECT_OFF"), ("NEXT", "TRIA_DOWN")):
            column.operator("tracevis3d.list_step", text="", icon=icon).step = step
        column.separator()
        for effect, icon in (("hide", "HIDE_ON"), ("fade", "GHOST_ENABLED"), ("show", "HIDE_OFF")):
            column.operator("tracevis3d.list_hide", text="", icon=icon).effect = effect
        column.separator()
        if state.kind == "library":
            column.operator("tracevis3d.library_use", text="", icon="FILTER")
            column.operator("tracevis3d.library_remove", text="", icon="REMOVE")
        else:
            column.operator("tracevis3d.list_promote", text="", icon="ASSET_MANAGER")


class TRACEVIS3D_PT_lists(_Lists, parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_lists"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012


class TRACEVIS3D_PT_lists_editor(_Lists, parts.EditorPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_lists_editor"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012


CLASSES = (
    TRACEVIS3D_PT_overview,
    TRACEVIS3D_UL_list,
    TRACEVIS3D_PT_lists,
    TRACEVIS3D_PT_lists_editor,
)
