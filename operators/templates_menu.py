"""Scripts to begin with, in the Text editor's menu *Templates*."""

from functools import cache
from pathlib import Path

import bpy

FOLDER = Path(__file__).parent / "templates"


class TRACEVIS3D_MT_templates(bpy.types.Menu):
    """Scripts that import, compare and search traces"""

    bl_idname = "TRACEVIS3D_MT_templates"
    bl_label = "TraceVis3D"

    def draw(self, _context: bpy.types.Context) -> None:
        for title, path in templates():
            operator = self.layout.operator("text.open", text=title)
            # A copy in the .blend, so that the extension's own file stays unchanged.
            operator.filepath, operator.internal = str(path), True


@cache
def templates() -> list[tuple[str, Path]]:
    """Return title and path of each template; the extension's folder is read once."""
    return [(path.stem.replace("_", " ").capitalize(), path) for path in sorted(FOLDER.glob("*.py"))]


def _entry(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.menu(TRACEVIS3D_MT_templates.bl_idname)


def register() -> None:
    """Add the menu."""
    bpy.utils.register_class(TRACEVIS3D_MT_templates)
    bpy.types.TEXT_MT_templates.append(_entry)


def unregister() -> None:
    """Take it away."""
    bpy.types.TEXT_MT_templates.remove(_entry)
    bpy.utils.unregister_class(TRACEVIS3D_MT_templates)
