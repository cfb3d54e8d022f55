"""Open a source file where a function begins, or at an element's line, in Blender's editor or another."""

from pathlib import Path
from typing import Any, NamedTuple

import bpy
from bpy.props import IntProperty, StringProperty

from ...tracevis3d.drawing.picked import PickedElement
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.trace.names import words_of
from ...tracevis3d.views.calls.source_file import find_file
from ...tracevis3d.views.element_metadata import FILE, LINE
from ..state import sources, trace_state
from .actions import OnCall

trace_state.PROPERTIES["sources_folder"] = StringProperty(
    name="Folder of Sources",
    description="Folder of the program's files on this machine, if they are not at the paths in the trace",
    subtype="DIR_PATH",
)


class Wanted(NamedTuple):
    """A place in the source."""

    #: What people call it.
    label: str
    #: The file as the trace has it; empty: unknown.
    recorded: str
    line: int
    #: The file on this machine; None: it is not here.
    file: Path | None
    #: The key of the trace.
    key: str


def line_of(picked: PickedElement) -> tuple[str, int] | None:
    """Return the file and the line that an element shows; None if it shows none, 0 if no line."""
    file = dict(picked.texts).get(FILE, "")
    line = dict(picked.values).get(LINE, 0.0)
    return (file, int(line)) if file else None


class TRACEVIS3D_OT_open_source(OnCall, bpy.types.Operator):
    """Open the source file at the line, in the text editor of the preferences (File Paths) or in Blender's"""

    bl_idname = "tracevis3d.open_source"
    bl_label = "Open Source"
    bl_options = {"REGISTER", "UNDO"}

    directory: StringProperty(
        name="Folder of Sources", subtype="DIR_PATH", options={"SKIP_SAVE"},
        description="Folder of the program's files on this machine",
    )  # fmt: skip
    file: StringProperty(
        name="File", description="As the trace has it; empty: that of the call's function",
        options={"SKIP_SAVE"},
    )  # fmt: skip
    line: IntProperty(
        name="Line", description="Line of the file; 0: where the function begins", min=0,
        options={"SKIP_SAVE"},
    )  # fmt: skip
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        try:
            wanted = self._wanted(context)
        except TraceVisError as error:
            return self.refuse(error)
        if wanted.recorded and wanted.file is None:
            # Somewhere else on this machine: ask for the folder.
            context.window_manager.fileselect_add(self)
            return {"RUNNING_MODAL"}
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            wanted = self._wanted(context)
        except TraceVisError as error:
            return self.refuse(error)
        if not wanted.recorded:
            self.report({"ERROR"}, f"The trace doesn't say in which file {wanted.label} is")
            return {"CANCELLED"}
        file = wanted.file
        if file is None:
            self.report(
                {"ERROR"}, f"{wanted.recorded} is not on this machine: choose the folder that contains it"
            )
            return {"CANCELLED"}
        if self.directory:
            trace_state.ensure(wanted.key).sources_folder = self.directory
        line = max(wanted.line, 1)
        if editor := context.preferences.filepaths.text_editor:
            try:
                # Blender counts lines from 0 here, and passes on what the preferences ask for.
                bpy.ops.text.jump_to_file_at_point(filepath=str(file), line=line - 1, column=0)
            except RuntimeError as error:
                self.report({"ERROR"}, f"{editor}: the editor of the preferences: {str(error).strip()}")
                return {"CANCELLED"}
            self.report({"INFO"}, f"{file.name}, line {line}, in {Path(editor).name}")
            return {"FINISHED"}
        try:
            text = loaded(file)
        except (OSError, RuntimeError) as error:
            self.report({"ERROR"}, f"{file}: it can't be read: {str(error).strip()}")
            return {"CANCELLED"}
        line = min(line, len(text.lines))
        text.current_line_index = line - 1
        text.select_set(line - 1, 0, line - 1, len(text.lines[line - 1].body))
        show(context, text, line)
        self.report({"INFO"}, f"{file.name}, line {line}")
        return {"FINISHED"}

    def _wanted(self, context: bpy.types.Context) -> Wanted:
        """Return which file and line are wanted: those that are given, else of the call's function."""
        if self.file:
            keys = trace_state.keys_of(self.resolve_view(context))
            key = self.trace if self.trace in keys else keys[0]
            trace, recorded, line, label = sources.loaded(key), self.file, self.line, self.file
        else:
            view, source, trace, call = self.resolve(context)
            key = trace_state.keys_of(view)[source]
            words = words_of(trace, int(trace.calls.function[call]))
            recorded, line, label = words.file, words.line, words.label
        record = trace_state.find(key)
        folder = self.directory or (record.sources_folder if record is not None else "")
        beside = str(Path(trace.source.path).parent) if trace is not None else ""
        file = find_file(recorded, bpy.path.abspath(folder), beside)
        return Wanted(label, recorded, line, file, key)


def loaded(file: Path) -> Any:
    """Return Blender's text of a file, read unless it is there already."""
    for text in bpy.data.texts:
        if text.filepath and Path(bpy.path.abspath(text.filepath)) == file and not text.is_dirty:
            return text
    return bpy.data.texts.load(str(file))


def show(context: bpy.types.Context, text: Any, line: int) -> None:
    """Show ``text`` at ``line`` in a text editor of the window: one that is there, or part of the 3D view."""
    if context.window is None:
        return
    screen = context.window.screen
    area = next((a for a in screen.areas if a.type == "TEXT_EDITOR"), None)
    if area is None:
        views = [a for a in screen.areas if a.type == "VIEW_3D"]
        if not views:
            return
        largest = max(views, key=lambda a: a.width * a.height)
        before = set(screen.areas)
        region = next(region for region in largest.regions if region.type == "WINDOW")
        with context.temp_override(area=largest, region=region):
            bpy.ops.screen.area_split(direction="VERTICAL", factor=0.6)
        new = [a for a in screen.areas if a not in before]
        if not new:
            return
        area = max(new, key=lambda a: a.x)
        area.type = "TEXT_EDITOR"
    space = area.spaces.active
    space.text = text
    space.show_line_numbers = space.show_syntax_highlight = True
    space.top = max(line - 8, 0)
    area.tag_redraw()


register, unregister = bpy.utils.register_classes_factory((TRACEVIS3D_OT_open_source,))
