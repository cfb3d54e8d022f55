"""Panels of the lists that views declare: a row for each part of a view, with buttons."""

from typing import Any

import bpy

from ..operators.lists import rows
from ..operators.state import settings
from ..tracevis3d.views import lists
from . import parts


class RowPanel(parts.ViewPanel):
    """The panel of one list."""

    list: lists.RowList
    layout: Any

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return (
            super().poll(context)
            and rows.list_of(settings.require_active(context), cls.list.name) is not None
        )

    def draw(self, context: bpy.types.Context) -> None:
        collection, name = settings.require_active(context), self.list.name
        stored, shown = rows.read(collection, name), rows.list_of(collection, name)
        if not stored or shown is None:
            parts.paragraph(self.layout, context, f"Rebuild to list the {self.list.title.lower()}.", "INFO")
            return
        values = settings.values(collection)
        column = self.layout.box().column(align=True)
        for row in stored:
            look = shown.look(row, values)
            _draw_row(column.row(align=True), name, row, look)
            if look.text:
                parts.paragraph(column, context, look.text)


def _draw_row(line: Any, name: str, row: lists.ListRow, look: lists.RowLook) -> None:
    def buttons(given: tuple[tuple[str, str], ...]) -> None:
        for do, icon in given:
            change = line.operator(f"tracevis3d.{name}_change", text="", icon=icon, emboss=False)
            change.key, change.do = row.key, do

    buttons(look.before)
    title = line.row()
    title.active = look.active
    title.label(text=row.title)
    buttons(look.after)


def _panel(one: lists.RowList) -> type:
    name = f"TRACEVIS3D_PT_{one.name}s"
    members = {"bl_idname": name, "bl_label": one.title, "bl_options": {"DEFAULT_CLOSED"}, "list": one}
    return type(name, (RowPanel, bpy.types.Panel), members)


CLASSES = tuple(_panel(one) for one in rows.declared().values())
