"""The panel *Traces*: load, what is in each trace of the scene, and which problems it had."""

import bpy

from ..operators import environment
from ..operators.lists import differences
from ..operators.state import settings, sources, trace_state
from ..operators.task import Task
from ..operators.workspace import opening, welcome
from ..tracevis3d.units import counted
from . import parts


class TRACEVIS3D_PT_trace(parts.SidebarPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_trace"
    bl_label = "Traces"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        if sentence := environment.missing_library():
            box = layout.box()
            box.alert = True
            parts.paragraph(box, context, sentence + ".", "ERROR")
            return
        if welcome.is_wanted() and (sentences := welcome.sentences(context.scene)):
            self._draw_welcome(context, sentences)
        if (task := Task.current) is not None:
            column = layout.column(align=True)
            column.progress(factor=min(max(task.done, 0.0), 1.0), text=task.state)
            hint = column.row()
            hint.active = False
            hint.label(text="ESC stops it")
        present = settings.all_in(context.scene)
        column = layout.column()
        column.scale_y = 1.0 if present else 1.4
        column.operator("tracevis3d.import_trace", text="Import Trace …", icon="IMPORT")
        if not opening.is_open(context):
            layout.operator("tracevis3d.workspace", icon="WORKSPACE")
        if not present:
            if Task.current is None and not welcome.is_wanted():
                hint = "Or drop a trace file on the 3D view; two at once are compared."
                parts.paragraph(layout, context, hint)
            return
        drawn: set[str] = set()
        for collection in present:
            for number, source in enumerate(settings.of(collection).sources):
                if (key := trace_state.key_of(source)) not in drawn:
                    drawn.add(key)
                    self._draw_source(context, collection, number, source)
        if Task.current is None and not differences.is_compared(context.scene):
            self._draw_next(context, len(drawn))

    def _draw_welcome(self, context: bpy.types.Context, sentences: tuple[str, ...]) -> None:
        """Say what to do, until it was done or closed."""
        box = self.layout.box()
        for number, sentence in enumerate(sentences):
            row = box.row()
            parts.paragraph(row, context, sentence, "RIGHTARROW_THIN", room=2.0 if not number else 1.0)
            if not number:
                row.operator("tracevis3d.close_welcome", text="", icon="X", emboss=False)
        if not settings.all_in(context.scene):
            box.operator("tracevis3d.open_example", icon="PLAY")

    def _draw_next(self, context: bpy.types.Context, traces: int) -> None:
        """Say what can be done with the traces of the scene."""
        if traces == 1:
            parts.paragraph(
                self.layout,
                context,
                "Explore it with the mouse, below, or import another trace to compare it with.",
                "INFO",
            )
            return
        column = self.layout.column()
        column.scale_y = 1.4
        text = "Compare Them" if traces == 2 else "Compare the First Two"
        column.operator("tracevis3d.compare_traces", text=text, icon="ARROW_LEFTRIGHT")

    def _draw_source(
        self,
        context: bpy.types.Context,
        collection: bpy.types.Collection,
        number: int,
        source: bpy.types.PropertyGroup,
    ) -> None:
        column = self.layout.column(align=True)
        column.label(text=sources.name_of(source), icon="FILE")
        parts.fact_grid(column, source.facts)
        if source.state in ("MISSING", "CACHE"):
            box = self.layout.box()
            missing = source.state == "MISSING"
            box.alert = missing
            parts.paragraph(
                box,
                context,
                "The file is not at its path. The drawing can still be viewed, explored and rendered."
                if missing
                else "The file is not at its path, but the trace is in the cache.",
                "ERROR" if missing else "INFO",
            )
            row = box.row()
            row.alert = False
            if collection == settings.active(context):
                row.operator("tracevis3d.find_source", text="Find Trace …", icon="VIEWZOOM").number = number
            else:
                row.label(text="Choose a view of this trace to find it")
        if not source.problems:
            return
        header, body = self.layout.panel(f"tracevis3d_problems_{source.hash[:8]}", default_closed=True)
        kinds = len(source.problems)
        header.label(text=f"{counted(kinds, 'kind')} of problem", icon="ERROR")
        if body is not None:
            for problem in source.problems:
                body.label(text=f"{problem.text} × {problem.label}")
                detail = body.column()
                detail.active = False
                parts.paragraph(detail, context, problem.detail)


CLASSES = (TRACEVIS3D_PT_trace,)
