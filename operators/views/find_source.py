"""Ask for a trace that is neither at its path nor in the cache."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from ...tracevis3d import api
from ...tracevis3d.errors import InputError
from ...tracevis3d.progress import Progress
from .. import preconditions
from ..state import settings, sources
from ..task import LongOperator


class TRACEVIS3D_OT_find_source(LongOperator, bpy.types.Operator, ImportHelper):
    """Choose where the trace of the view is now, for all views of that trace"""

    bl_idname = "tracevis3d.find_source"
    bl_label = "Find Trace"
    bl_options = {"REGISTER", "UNDO"}

    filter_glob: StringProperty(default="", options={"SKIP_SAVE", "HIDDEN"})
    number: IntProperty(name="Number", default=-1, options={"SKIP_SAVE", "HIDDEN"})
    accept: BoolProperty(
        name="Accept Another Recording",
        description="Accept the file even if the view was made from another one, such as an earlier run",
        default=False,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(cls, context, *preconditions.TRACE)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        place = self._place(settings.of(settings.active(context)))
        source = settings.of(settings.active(context)).sources[place]
        self.filepath = sources.absolute(source.path, settings.active(context))
        return ImportHelper.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.active(context)
        stored = settings.of(collection)
        source = stored.sources[self._place(stored)]
        wanted, name, path = source.hash, sources.name_of(source), str(Path(self.filepath))
        accept = self.accept

        def work(progress: Progress) -> Any:
            trace = api.load(path, progress=progress)
            if wanted and trace.source.hash != wanted and not accept:
                raise InputError(
                    f"{path}: this is another recording than {name}: choose the right one, import this one, "
                    "or accept another recording"
                )
            return trace

        def finish(context: bpy.types.Context, trace: Any) -> set[str]:
            sources.remember(trace)
            for view in filter(settings.is_view, bpy.data.collections):
                for other in settings.of(view).sources:
                    if view.library is None and other.hash == wanted:
                        other.path = sources.relative(trace.source.path, bpy.data.filepath)
                        if trace.source.hash != wanted:
                            other.hash = trace.source.hash
                            settings.of(view).stale = True
            sources.look()
            self.report({"INFO"}, f"{name} was found")
            return {"FINISHED"}

        return self.carry_out(context, work, finish)

    def draw(self, _context: bpy.types.Context) -> None:
        self.layout.prop(self, "accept")

    def _place(self, stored: Any) -> int:
        """Return which of the view's traces is requested: the given one, or the first that is missing."""
        count = len(stored.sources)
        if 0 <= self.number < count:
            return self.number
        return next((i for i, source in enumerate(stored.sources) if source.state == "MISSING"), 0)


_CLASSES = (TRACEVIS3D_OT_find_source,)
register, unregister = bpy.utils.register_classes_factory(_CLASSES)
