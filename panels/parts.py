"""Code shared by the panels. A panel only lays out stored texts: it computes and reads nothing."""

import textwrap
from typing import Any

import bpy

from ..operators import areas, environment
from ..operators.state import settings

_CHARACTER = 6.2  # mean width of a character of Blender's font, in pixels at scale 1
_MARGIN = 60.0  # of a panel, with its icon and borders


class SidebarPanel:
    """The place of the panels."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "TraceVis"


class EditorPanel:
    """The place of the panels of an editor of our own: they fill it.

    Attributes
    ----------
    needs_view : bool
        Whether it is there only while there is a view. Without any panel of ours an editor would open its
        sidebar at Blender's own tab, and stay there.
    """

    bl_space_type = "NODE_EDITOR"
    bl_region_type = "UI"
    bl_category = "TraceVis"
    editor: str
    needs_view = True

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return (
            areas.kind_of(context.area) == cls.editor
            and not environment.missing_library()
            and (not cls.needs_view or settings.active(context) is not None)
        )


class ViewPanel(SidebarPanel):
    """A panel about the active view; it is not there as long as there is none.

    Attributes
    ----------
    editor : str
        The editor that has the same panel: where the screen shows it, the sidebar doesn't.
    """

    editor = ""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if cls.editor and areas.shows(context.screen, cls.editor):
            return False
        return not environment.missing_library() and settings.active(context) is not None


def characters(context: bpy.types.Context) -> int:
    """Return how many characters fit a line of the panel, about."""
    scale = context.preferences.system.ui_scale
    return max(16, int((context.region.width / scale - _MARGIN) / _CHARACTER))


def paragraph(
    layout: Any, context: bpy.types.Context, text: str, icon: str = "NONE", room: float = 0.0
) -> None:
    """Write ``text`` in as many lines as the panel's width asks for, with ``room`` for this many buttons."""
    width = max(16, characters(context) - round(4 * room))
    column = layout.column(align=True)
    column.scale_y = 0.8
    for i, line in enumerate(textwrap.wrap(text, width)):
        column.label(text=line, icon=icon if i == 0 else ("BLANK1" if icon != "NONE" else "NONE"))


def fact_grid(layout: Any, facts: Any) -> None:
    """Write short labels and texts, two to a line."""
    column = layout.column(align=True)
    column.scale_y = 0.85
    for i in range(0, len(facts), 2):
        row = column.split(factor=0.5)
        for fact in facts[i : i + 2]:
            worded_row(row, 0.56, fact.label, fact.text)
        if i + 1 == len(facts):
            row.label(text="")


def fact_rows(layout: Any, facts: Any, share: float = 0.45) -> None:
    """Write labels, within ``share`` of the width, and texts in two columns."""
    column = layout.column(align=True)
    column.scale_y = 0.85
    for fact in facts:
        worded_row(column, share, fact.label, fact.text)


def worded_row(layout: Any, share: float, quiet: str, text: str) -> None:
    """Write a list's row: a quiet word, to the right within ``share`` of the width, and a text."""
    row = layout.split(factor=share)
    word = row.row()
    word.alignment = "RIGHT"
    word.active = False
    word.label(text=quiet)
    row.label(text=text)


def steps(layout: Any, operator: str, where: str) -> Any:
    """Draw the four buttons for stepping through a list, and ``where`` one is; return their row."""
    row = layout.row(align=True)
    for step, icon in (("FIRST", "REW"), ("PREVIOUS", "TRIA_LEFT"), ("NEXT", "TRIA_RIGHT"), ("LAST", "FF")):
        row.operator(operator, text="", icon=icon).step = step
    place = row.row()
    place.alignment = "CENTER"
    place.label(text=where)
    return row
