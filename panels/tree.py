"""The panels *Call Tree* and *Filters* of the active view."""

from typing import Any

import bpy

from ..operators import areas
from ..operators.lists import call_tree
from ..operators.state import filter_stacks, settings
from ..tracevis3d.errors import TraceVisError
from ..tracevis3d.features.call_tree.navigation import HINT
from ..tracevis3d.filters.stack import parse
from . import parts
from .roles import ICONS, draw_legend

_INDENT = 3  # spaces of a level
_SIGN = 4  # width of the signs, in characters
_ICON = 6  # of an icon with what is around it
_SIGNS = {"+": "ADD", "-": "REMOVE", "~": "IPO_SINE"}
_MOST_LEVELS = 10  # that rows are indented by, from the highest row of the window on
_NUMBERS = 9  # characters that the numbers of calls may take
_LEAST = 6  # characters that a name is shortened to at most


class _CallTree:
    bl_label = "Call Tree"
    editor = areas.CALLS
    layout: Any

    def draw(self, context: bpy.types.Context) -> None:
        layout, collection = self.layout, settings.active(context)
        if collection is None:
            parts.paragraph(layout, context, "Import a trace to list its calls here.", "INFO")
            return
        state, rows = call_tree.of(collection), collection.tracevis3d_tree_rows
        if state.message:
            parts.paragraph(layout, context, state.message, "ERROR")
        if not len(rows):
            layout.operator("tracevis3d.tree_show", icon="OUTLINER")
            return
        if len(settings.of(collection).sources) > 1:
            layout.prop(state, "source")
        row = layout.row(align=True)
        row.prop(state, "levels")
        row.prop(state, "page")
        row = layout.row()
        row.prop(state, "show_filtered")
        row.prop(state, "follow")
        layout.prop(state, "folded")
        if state.callers:
            way = layout.row()
            way.active = False
            way.label(text=state.callers, icon="TRIA_UP")
        _draw_rows(layout.box(), rows, parts.characters(context))
        draw_legend(layout, {stored.role for stored in rows})
        row = layout.row(align=True)
        for key, icon in (
            ("HOME", "REW"),
            ("PAGE_UP", "TRIA_UP"),
            ("PAGE_DOWN", "TRIA_DOWN"),
            ("END", "FF"),
        ):
            row.operator("tracevis3d.tree_key", text="", icon=icon).key = key
        row.prop(state, "row", text="Row")
        where = row.row()
        where.label(text=f"of {state.size}")
        row = layout.row(align=True)
        walking = bpy.types.TRACEVIS3D_OT_tree_keys.walking
        row.operator(
            "tracevis3d.tree_keys",
            text="Leave Keys (Esc)" if walking else "Use Arrow Keys",
            icon="EVENT_DOWN_ARROW",
            depress=walking,
        )
        row.operator("tracevis3d.tree_go", text="", icon="VIEWZOOM")
        row.operator("tracevis3d.tree_open", text="", icon="FULLSCREEN_ENTER")
        row.operator("tracevis3d.tree_hide", text="", icon="HIDE_ON").show = False
        row.operator("tracevis3d.tree_hide", text="", icon="HIDE_OFF").show = True
        hint = layout.column()
        hint.active = False
        parts.paragraph(hint, context, HINT)


class TRACEVIS3D_PT_tree(_CallTree, parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_tree"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012


class TRACEVIS3D_PT_tree_editor(_CallTree, parts.EditorPanel, bpy.types.Panel):
    needs_view = False
    bl_idname = "TRACEVIS3D_PT_tree_editor"


def _draw_rows(box: Any, rows: Any, characters: int) -> None:
    # Signs and numbers have columns of their own: Blender would squeeze them away beside a long name.
    split = box.split(factor=_SIGN / characters, align=True)
    signs, rest = split.column(align=True), split
    below_of = [row.below for row in rows]
    if max(map(len, below_of)) > _NUMBERS:
        # In a narrow panel the names matter more: a row's tooltip says how many there are in all.
        below_of = [text.partition(" of ")[0] for text in below_of]
    numbers = max(map(len, below_of))
    room = characters - _SIGN - _ICON - numbers
    if numbers:
        rest = split.split(factor=1.0 - (numbers + 1) / (characters - _SIGN), align=True)
    names = rest.column(align=True)
    below = rest.column(align=True) if numbers else None
    top = min(row.depth for row in rows)
    for stored, count in zip(rows, below_of, strict=True):
        sign = signs.row(align=True)
        if stored.sign:
            click = sign.operator("tracevis3d.tree_click", text="", icon=_SIGNS[stored.sign], emboss=False)
            click.path, click.part = stored.path, "sign"
        else:
            sign.label(text="", icon="BLANK1")
        line = names.row(align=True)
        line.alignment = "LEFT"
        line.active = sign.active = not stored.filtered
        indent = _INDENT * min(stored.depth - top, _MOST_LEVELS)
        # Two spaces are about as wide as another character.
        text, most = stored.name, max(room - indent // 2, _LEAST)
        if len(text) > most:
            text = text[: most - 1] + "\u2026"
        name = line.operator(
            "tracevis3d.tree_click",
            text=" " * indent + text,
            icon="HIDE_ON" if stored.filtered else ICONS.get(stored.role, "DOT"),
            emboss=stored.chosen,
            depress=stored.chosen,
        )
        name.path, name.part = stored.path, "label"
        name.about = f"{stored.about or stored.name}: {stored.below or 'no'} calls below"
        if below is not None:
            number = below.row(align=True)
            number.alignment = "RIGHT"
            number.active = False
            number.label(text=count)


class TRACEVIS3D_PT_filters(parts.ViewPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_filters"
    bl_label = "Filters"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        layout, collection = self.layout, settings.active(context)
        text = filter_stacks.stack_of(collection)
        try:
            stack = parse(text)
        except TraceVisError as error:
            parts.paragraph(layout, context, str(error), "ERROR")
            stack = []
        place = 0
        for index, applied in enumerate(stack):
            did = filter_stacks.effect_of(collection, applied.as_text(), place) if applied.on else "off"
            place += applied.on
            _draw_filter(layout.box(), context, index, applied, did or "Rebuild to see what it does")
        row = layout.row(align=True)
        row.operator_menu_enum("tracevis3d.filter_edit", "name", text="Add Filter", icon="ADD")
        if stack:
            row.operator("tracevis3d.filter_change", text="", icon="TRASH").do = "CLEAR"
        layout.prop(settings.of(collection), "filters", text="")


def _draw_filter(box: Any, context: Any, index: int, applied: Any, did: str) -> None:
    row = box.row(align=True)
    icon = "CHECKBOX_HLT" if applied.on else "CHECKBOX_DEHLT"
    change = row.operator("tracevis3d.filter_change", text="", icon=icon, emboss=False)
    change.index, change.do = index, "SWITCH"
    name = row.row()
    name.active = applied.on
    values = ", ".join(f"{name}={value}" for name, value in applied.values.items())
    name.label(text=f"{applied.name}   {values}" if values else applied.name)
    row.operator("tracevis3d.filter_edit", text="", icon="PREFERENCES", emboss=False).index = index
    for do, icon in (("UP", "TRIA_UP"), ("DOWN", "TRIA_DOWN"), ("REMOVE", "X")):
        change = row.operator("tracevis3d.filter_change", text="", icon=icon, emboss=False)
        change.index, change.do = index, do
    scope = "In the whole trace" if applied.within < 0 else f"Within call {applied.within:,}"
    what = "with all below" if applied.what == "subtree" else "alone"
    column = box.column()
    column.active = False
    parts.paragraph(column, context, f"{scope}, {what}: {did}" if applied.on else f"{scope}: off")


CLASSES = (TRACEVIS3D_PT_filters, TRACEVIS3D_PT_tree, TRACEVIS3D_PT_tree_editor)
