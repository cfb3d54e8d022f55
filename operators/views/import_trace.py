"""File > Import > Execution Trace, and files dropped on the 3D view."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ImportHelper, poll_file_object_drop

from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.formats import registry as formats
from ...tracevis3d.formats import unpack
from ...tracevis3d.progress import Progress, part
from .. import enum_items, preconditions, signals
from ..lists import differences
from ..state import settings
from ..task import LongOperator
from . import make_view

#: Folders that may be traces: choosing a file inside one chooses the folder.
_FOLDER_SUFFIXES = (".data",)


def last_suffixes() -> list[str]:
    """Return the last suffixes of all files that may be traces, as file dialogs tell files apart."""
    names = {suffix.rpartition(".")[2] for form in formats.readable() for suffix in form.suffixes}
    return sorted({f".{name}" for name in names} | set(unpack.SUFFIXES))


@enum_items.cached
def _view_items(_self: Any, _context: Any) -> list[enum_items.Item]:
    suited = (make_view.SUITED, "Automatic", "The view that suits the trace best", "NONE", 0)
    ours = (view for view in settings.loadable_views() if view.traces[0] == 1)
    return [suited, *enum_items.numbered(ours, 1)]


class TRACEVIS3D_OT_import_trace(LongOperator, bpy.types.Operator, ImportHelper):
    """Read recorded execution traces, and draw each of them"""

    bl_idname = "tracevis3d.import_trace"
    bl_label = "Import Trace"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    preparations = make_view.PREPARATIONS

    directory: StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE", "HIDDEN"})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"SKIP_SAVE", "HIDDEN"})
    filter_glob: StringProperty(default="", options={"SKIP_SAVE", "HIDDEN"})

    view: EnumProperty(items=_view_items, name="View", description="What to draw of the trace")
    style: EnumProperty(items=settings.STYLES, name="Style", default="paper")
    place: EnumProperty(items=make_view.PLACES, name="Where", default="AUTO")
    compare: BoolProperty(
        name="Compare Two",
        description="Draw one view that compares two traces chosen together, and list their differences, "
        "instead of one view of each",
        default=True,
    )
    look: BoolProperty(
        name="Look at It",
        description="Turn the 3D view to the new view's camera, and show its colours",
        default=True,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(
            cls, context, preconditions.LIBRARY, preconditions.IDLE, preconditions.OBJECT_MODE
        )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self.directory and self.files:  # dropped
            return self.execute(context)
        self.filter_glob = ";".join(f"*{suffix}" for suffix in last_suffixes())
        return ImportHelper.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        paths = self._paths()
        if not paths:
            self.report({"ERROR"}, "No file was chosen")
            return {"CANCELLED"}
        view, frame = self.view, settings.frame_of(context.scene)
        compare = self.compare and len(paths) == 2
        # Scripts get what is usual, whatever window they run in.
        asked = self.options.is_invoke and context.window is not None
        line = make_view.line_in(context) if asked else None

        def work(progress: Progress) -> Any:
            if compare and (compared := differences.read(paths, frame, progress)) is not None:
                return compared
            share = 1 / len(paths)
            return [
                make_view.read_and_draw(path, view, frame, part(progress, i * share, (i + 1) * share), line)
                for i, path in enumerate(paths)
            ]

        return self.carry_out(context, work, self._show)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in ("view", "style", "place", "compare", "look"):
            layout.prop(self, name)
        hint = layout.column(align=True)
        hint.active = False
        # Blender's file dialog doesn't show how to choose several files.
        for line in ("Ctrl-click chooses another file:", "two are compared."):
            hint.label(text=line)

    def _paths(self) -> list[str]:
        """Return the chosen paths; a file inside a folder that is a trace means the folder."""
        if self.directory and any(file.name for file in self.files):
            chosen = [Path(self.directory, file.name) for file in self.files if file.name]
        else:
            chosen = [Path(self.filepath or self.directory)] if self.filepath or self.directory else []
        return [str(path) for path in dict.fromkeys(map(_folder_or_file, chosen))]

    def _show(self, context: bpy.types.Context, made: Any) -> set[str]:
        if isinstance(made, tuple):
            traces, figure, drawing, found = made
            view = make_view.new_view(context, traces, figure, drawing, self.style, self.place)
            differences.store(view, found)
            for trace in traces:
                self._report(trace)
        else:
            for trace, figure, drawing in made:
                make_view.new_view(context, [trace], figure, drawing, self.style, self.place)
                self._report(trace)
        if self.look:
            signals.on_import.send(context, self.options.is_invoke)
        return {"FINISHED"}

    def _report(self, trace: Any) -> None:
        name = Path(trace.source.path).name
        self.report({"INFO"}, f"{name}: {len(trace.calls):,} calls")
        if trace.problems:
            count = sum(problem.count for problem in trace.problems.values())
            self.report(
                {"WARNING"}, f"{name}: {count:,} problems were repaired or left out, see the TraceVis tab"
            )


def _folder_or_file(path: Path) -> Path:
    if path.is_file() and (path.parent.suffix in _FOLDER_SUFFIXES):
        try:
            if formats.recognise(path.parent).is_folder:
                return path.parent
        except TraceVisError:
            pass
    return path


class TRACEVIS3D_FH_trace(bpy.types.FileHandler):
    """Traces dropped on the 3D view; their format is detected by content."""

    bl_idname = "TRACEVIS3D_FH_trace"
    bl_label = "Execution Trace"
    bl_import_operator = TRACEVIS3D_OT_import_trace.bl_idname

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:
        return poll_file_object_drop(context)


def _menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(
        TRACEVIS3D_OT_import_trace.bl_idname, text="Execution Trace (.json, .json.gz, .tv3, …)"
    )


def register() -> None:
    """Register the operator, the menu's line and the handler of dropped files."""
    TRACEVIS3D_FH_trace.bl_file_extensions = ";".join(last_suffixes())
    bpy.utils.register_class(TRACEVIS3D_OT_import_trace)
    bpy.utils.register_class(TRACEVIS3D_FH_trace)
    bpy.types.TOPBAR_MT_file_import.append(_menu)


def unregister() -> None:
    """Undo :func:`register`."""
    bpy.types.TOPBAR_MT_file_import.remove(_menu)
    bpy.utils.unregister_class(TRACEVIS3D_FH_trace)
    bpy.utils.unregister_class(TRACEVIS3D_OT_import_trace)
