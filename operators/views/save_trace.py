"""File > Export > Execution Trace: the active view's trace in another format."""

from typing import Any

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper

from ...tracevis3d import api
from ...tracevis3d.formats import registry as formats
from ...tracevis3d.progress import Progress, part
from .. import preconditions
from ..state import settings, sources
from ..task import LongOperator


class TRACEVIS3D_OT_save_trace(LongOperator, bpy.types.Operator, ExportHelper):
    """Write the trace of the active view to a file; the suffix says in which format"""

    bl_idname = "tracevis3d.save_trace"
    bl_label = "Export Execution Trace"
    bl_options = {"REGISTER"}

    filename_ext = ".tv3"
    filter_glob: StringProperty(default="", options={"SKIP_SAVE", "HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(cls, context, preconditions.LIBRARY, preconditions.IDLE, preconditions.VIEW)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        suffixes = [suffix for form in formats.writable() for suffix in form.suffixes]
        self.filter_glob = ";".join(f"*{suffix}" for suffix in suffixes)
        if not self.filepath:  # type: ignore[has-type]  # ExportHelper has it
            name = sources.name_of(settings.of(settings.active(context)).sources[0])
            self.filepath = name.partition(".")[0] + self.filename_ext
        return ExportHelper.invoke(self, context, event)

    def check(self, context: bpy.types.Context) -> bool:
        """Leave the suffix as it was typed: it chooses the format."""
        return False

    def execute(self, context: bpy.types.Context) -> set[str]:
        find, path = sources.finder(settings.active(context)), bpy.path.abspath(self.filepath)

        def work(progress: Progress) -> list[str]:
            api.check_writable(path)
            traces = find(part(progress, 0.0, 0.5))
            return api.save(traces[0], path, progress=part(progress, 0.5, 1.0))

        def finish(_context: bpy.types.Context, lost: list[Any]) -> set[str]:
            for sentence in lost:
                self.report({"WARNING"}, sentence)
            self.report({"INFO"}, f"Wrote {path}")
            return {"FINISHED"}

        return self.carry_out(context, work, finish)


def _menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(TRACEVIS3D_OT_save_trace.bl_idname, text="Execution Trace (.tv3, …)")


def register() -> None:
    """Register the operator and the menu's line."""
    bpy.utils.register_class(TRACEVIS3D_OT_save_trace)
    bpy.types.TOPBAR_MT_file_export.append(_menu)


def unregister() -> None:
    """Undo :func:`register`."""
    bpy.types.TOPBAR_MT_file_export.remove(_menu)
    bpy.utils.unregister_class(TRACEVIS3D_OT_save_trace)
