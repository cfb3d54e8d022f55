"""Another view of traces of this file, beside the existing views."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ...tracevis3d.progress import Progress, part
from ...tracevis3d.views import registry as views
from .. import enum_items, preconditions
from ..overlay import framing
from ..state import settings, sources, trace_state
from ..task import LongOperator
from . import make_view

_NONE = ("NONE", "None", "Only one trace")
#: Blender keeps flags in 32 bits.
_MOST_FLAGS = 31


def known_traces() -> dict[str, Any]:
    """Return key -> stored source of the traces of all views of the file."""
    found: dict[str, Any] = {}
    for collection in bpy.data.collections:
        if settings.is_view(collection):
            for source in settings.of(collection).sources:
                found.setdefault(trace_state.key_of(source), source)
    return found


def _known_items() -> list[tuple[str, str, str]]:
    return [(key, sources.name_of(source), source.path) for key, source in known_traces().items()]


@enum_items.cached
def _trace_items(_self: Any, _context: Any) -> list[tuple[str, str, str]]:
    return _known_items() or [_NONE]


@enum_items.cached
def _other_items(_self: Any, _context: Any) -> list[tuple[str, str, str]]:
    return [_NONE, *_known_items()]


@enum_items.cached
def _more_items(_self: Any, _context: Any) -> list[tuple[str, str, str, int]]:
    return [(*item, 1 << i) for i, item in enumerate(_known_items()[:_MOST_FLAGS])]


@enum_items.cached
def _view_items(_self: Any, _context: Any) -> list[enum_items.Item]:
    return enum_items.numbered(settings.loadable_views())


class TRACEVIS3D_OT_add_view(LongOperator, bpy.types.Operator):
    """Draw another view, of one trace or of several, beside those that are in the scene"""

    bl_idname = "tracevis3d.add_view"
    bl_label = "Add View"
    bl_options = {"REGISTER", "UNDO"}
    preparations = make_view.PREPARATIONS

    view: EnumProperty(items=_view_items, name="View", description="What to draw")
    trace: EnumProperty(items=_trace_items, name="Trace", description="The trace to draw")
    other: EnumProperty(
        items=_other_items,
        name="Second Trace",
        description="What to compare it with, for views of two traces",
    )
    more: EnumProperty(
        items=_more_items,
        name="More Traces",
        description="More traces to compare, for views of more than two",
        options={"ENUM_FLAG"},
    )
    style: EnumProperty(items=settings.STYLES, name="Style", default="paper")
    place: EnumProperty(items=make_view.PLACES, name="Where", default="AUTO")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(cls, context, *preconditions.DRAW)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        collection = settings.active(context)
        keys = trace_state.keys_of(collection)
        self.trace, self.style = keys[0], settings.of(collection).style
        others = [key for key in known_traces() if key != keys[0]]
        if others:
            self.other = others[0]
        return context.window_manager.invoke_props_dialog(self, width=360)

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "view")
        layout.prop(self, "trace")
        most = views.find(self.view).traces[1]
        row = layout.row()
        row.active = most > 1
        row.prop(self, "other", text="Second Trace" if most > 1 else "Second (Not Needed)")
        if most > 2 and len(known_traces()) > 2:
            layout.column(heading="More Traces").prop(self, "more")
        layout.prop(self, "style")
        layout.prop(self, "place")

    def execute(self, context: bpy.types.Context) -> set[str]:
        view = views.find(self.view)
        more = [key for key in known_traces() if key in self.more and key not in (self.trace, self.other)]
        chosen = [key for key in (self.trace, self.other, *more) if key != "NONE"][: view.traces[1]]
        if len(chosen) < view.traces[0]:
            self.report({"ERROR"}, f"{view.title} needs {view.traces[0]} traces: import another first")
            return {"CANCELLED"}
        look = [sources.finder_of(known_traces()[key]) for key in chosen]
        name, frame = view.name, settings.frame_of(context.scene)
        asked = self.options.is_invoke and context.window is not None
        line = make_view.line_in(context) if asked else None

        def work(progress: Progress) -> Any:
            share = 0.6 / len(look)
            traces = [find(part(progress, i * share, (i + 1) * share)) for i, find in enumerate(look)]
            figure = make_view.figure_in(line, name, traces)
            return traces, figure, make_view.drawing_of(figure, frame, part(progress, 0.6, 1.0))

        return self.carry_out(context, work, self._show)

    def _show(self, context: bpy.types.Context, made: Any) -> set[str]:
        traces, figure, drawing = made
        make_view.new_view(context, traces, figure, drawing, self.style, self.place)
        framing.look(context)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TRACEVIS3D_OT_add_view,))
