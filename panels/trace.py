"""The panel *Trace*: import, and what is in the trace."""

import bpy

from ..operators import environment, settings, sources
from ..operators.task import Task
from . import parts


class TRACEVIS3D_PT_trace(parts.SidebarPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_trace"
    bl_label = "Trace"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        if sentence := environment.missing_library():
            box = layout.box()
            box.alert = True
            parts.paragraph(box, context, sentence + ".", "ERROR")
            return
        if (task := Task.current) is not None:
            column = layout.column(align=True)
            column.progress(factor=min(max(task.done, 0.0), 1.0), text=task.what)
            hint = column.row()
            hint.active = False
            hint.label(text="Stopping …" if task.stopping else "ESC stops it")
        collection = settings.active(context)
        if collection is None:
            column = layout.column()
            column.scale_y = 1.4
            column.operator("tracevis3d.import_trace", text="Import Trace …", icon="IMPORT")
            if Task.current is None:
                parts.paragraph(layout, context, "Or drop a trace file on the 3D view.")
            return
        row = layout.row(align=True)
        if len(settings.all_in(context.scene)) > 1:
            row.prop(context.scene, "tracevis3d_view", text="")
        else:
            row.prop(collection, "name", text="", icon="OUTLINER_COLLECTION")
        row.operator("tracevis3d.import_trace", text="", icon="IMPORT")
        row.operator("tracevis3d.remove_view", text="", icon="TRASH")
        for source in settings.of(collection).sources:
            self._draw_source(context, source)

    def _draw_source(self, context: bpy.types.Context, source: bpy.types.PropertyGroup) -> None:
        layout = self.layout
        layout.label(text=sources.name_of(source), icon="FILE")
        parts.fact_rows(layout, source.facts)
        if not source.problems:
            return
        header, body = layout.panel(f"tracevis3d_problems_{source.hash[:8]}", default_closed=True)
        kinds = len(source.problems)
        header.label(text=f"{kinds} kind{'s' if kinds > 1 else ''} of problem", icon="ERROR")
        if body is not None:
            for problem in source.problems:
                body.label(text=f"{problem.text} × {problem.label}")
                detail = body.column()
                detail.active = False
                parts.paragraph(detail, context, problem.detail)


CLASSES = (TRACEVIS3D_PT_trace,)
