"""Search in the traces of the active view: results as a list and as pins, next and previous."""

from dataclasses import asdict
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...tracevis3d.analysis import search_results
from ...tracevis3d.analysis.search import Found
from ...tracevis3d.analysis.search_results import TypedQuery
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.progress import Progress, part
from ...tracevis3d.queries import selection as queries
from ...tracevis3d.scene import styles
from ...tracevis3d.scene.window import pins
from ...tracevis3d.scene.window.call_places import CallReference
from .. import enum_items, preconditions, signals
from ..state import selection, settings, sources, trace_state
from ..task import LongOperator
from ..views import arrange
from . import navigate, stepping

KINDS = (
    ("substring", "Part of the Name", "The name contains the text"),
    ("wildcard", "Wildcard", "The whole name, with * for any text and ? for any character"),
    ("regex", "Regular Expression", "A regular expression that matches somewhere in the name"),
)
#: Maximum number of pins in the scene.
_MOST_PINS = 150
_MOST_HISTORY = 20


class TRACEVIS3D_PG_hit(bpy.types.PropertyGroup):
    """A result of a search, with the data needed to show its place without the trace."""

    call: IntProperty()
    title: StringProperty()
    when: StringProperty()
    detail: StringProperty()
    start: StringProperty(description="Nanoseconds")
    thread: IntProperty()
    depth: IntProperty()


class TRACEVIS3D_PG_query(bpy.types.PropertyGroup):
    """A pattern that was searched for before."""

    pattern: StringProperty()
    kind: StringProperty()


def _search_again(state: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """The pattern, or how it is read, was changed."""
    if not settings.is_quiet() and TRACEVIS3D_OT_search.poll(context):
        bpy.ops.tracevis3d.search("INVOKE_DEFAULT")


def _go_to(state: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """A line of the list was clicked."""
    if not settings.is_quiet() and 0 <= state.index < len(state.hits):
        _show(context, state, state.hits[state.index].call)


def _show_pins(_state: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    pin(context.scene)


@enum_items.cached
def _source_items(_state: Any, context: bpy.types.Context) -> list[tuple[str, str, str]]:
    collection = settings.active(context) if context is not None else None
    stored = settings.of(collection).sources if collection is not None else ()
    named = [(str(i), sources.name_of(source), source.path) for i, source in enumerate(stored)]
    return named or [("0", "", "")]


class TRACEVIS3D_PG_search(bpy.types.PropertyGroup):
    """The query and the results of a search in a scene."""

    pattern: StringProperty(
        name="Search",
        description="Name of the functions to find, or a query: SELECT id FROM calls WHERE self_ns > 1e6; "
        "their calls are listed in order of time",
        update=_search_again,
    )
    kind: EnumProperty(items=KINDS, name="Pattern", default="substring", update=_search_again)
    full: BoolProperty(
        name="Full Names",
        description="Search names as they were recorded, with arguments, path and line",
        update=_search_again,
    )
    case: BoolProperty(
        name="Match Case", description="Distinguish capital letters from small ones", update=_search_again
    )
    source: EnumProperty(items=_source_items, name="In", update=_search_again)
    start: StringProperty(
        name="From",
        description="Only calls from this time on, such as 1.5s or 20ms; empty: all",
        update=_search_again,
    )
    end: StringProperty(
        name="To", description="Only calls before this time; empty: all", update=_search_again
    )
    show_pins: BoolProperty(
        name="Pins",
        description="Show the results as pins in the views, the current one as a bigger pin",
        default=True,
        update=_show_pins,
    )
    trace: StringProperty(description="Key of the trace that the results belong to")
    searched: StringProperty(description="The text that was searched for")
    summary: StringProperty()
    total: IntProperty()
    rank: IntProperty(description="Number of the first result in the list")
    current: IntProperty(default=-1, description="The current result")
    hits: CollectionProperty(type=TRACEVIS3D_PG_hit)
    index: IntProperty(name="Result", default=-1, update=_go_to)
    history: CollectionProperty(type=TRACEVIS3D_PG_query)


def _asked(state: Any) -> TypedQuery:
    """Return the query."""
    return TypedQuery(state.pattern, state.kind, state.full, state.case, state.start, state.end)


class _Searching(LongOperator):
    """Base of the operators of search."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not preconditions.poll(
            cls, context, preconditions.LIBRARY, preconditions.IDLE, preconditions.VIEW
        ):
            return False
        if not context.scene.tracevis3d_search.pattern:
            cls.poll_message_set("Type a text to search for")
            return False
        return True

    def find(self, context: bpy.types.Context, then: Any) -> set[str]:
        """Search, then do ``then(context, state, trace, found)``."""
        state = context.scene.tracevis3d_search
        collection = settings.active(context)
        place = int(state.source or 0)
        place = place if place < len(settings.of(collection).sources) else 0
        key = trace_state.keys_of(collection)[place]
        asked = _asked(state)
        look, known = sources.finder(collection), sources.loaded(key)
        if known is not None and queries.find.is_known(known, asked):
            return then(context, state, known, queries.find(known, asked))

        def work(progress: Progress) -> Any:
            traces = look(part(progress, 0.0, 0.9))
            progress(0.9, "searching")
            return traces, queries.find(traces[place], asked)

        def finish(context: bpy.types.Context, result: Any) -> set[str]:
            traces, found = result
            for trace in traces:
                sources.remember(trace)
            return then(context, context.scene.tracevis3d_search, traces[place], found)

        return self.carry_out(context, work, finish)


class TRACEVIS3D_OT_search(_Searching, bpy.types.Operator):
    """Find the calls of all functions whose names match, in the trace of the active view"""

    bl_idname = "tracevis3d.search"
    bl_label = "Search"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.find(context, self._list)

    def _list(self, context: bpy.types.Context, state: Any, trace: Any, found: Any) -> set[str]:
        with settings.quietly():
            state.trace = trace.source.hash or trace.source.path
            state.searched = state.pattern
            state.total = found.count
            state.summary = queries.summary(found, _asked(state))
            state.current, state.index = -1, -1
            _fill(state, trace, found, 0)
            _note(state)
        pin(context.scene)
        if found.count and queries.is_sql(state.searched):
            # A query is a selection: its calls light up.
            selection.select(state.trace, found.first(selection.MOST))
        return {"FINISHED"}

    def _give_up(self, error: TraceVisError) -> set[str]:
        state = bpy.context.scene.tracevis3d_search
        with settings.quietly():
            state.hits.clear()
            state.total, state.summary = 0, str(error)
        pin(bpy.context.scene)
        return super()._give_up(error)


class TRACEVIS3D_OT_search_ask(bpy.types.Operator):
    """Ask what to search for in the trace of the active view"""

    bl_idname = "tracevis3d.search_ask"
    bl_label = "Search in Trace"
    bl_options = {"INTERNAL"}

    pattern: StringProperty(name="Search", options={"SKIP_SAVE"})
    kind: EnumProperty(items=KINDS, name="Pattern", default="substring")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(cls, context, preconditions.LIBRARY, preconditions.IDLE, preconditions.VIEW)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        state = context.scene.tracevis3d_search
        self.pattern, self.kind = state.pattern, state.kind
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, _context: bpy.types.Context) -> None:
        row = self.layout.row()
        row.activate_init = True
        row.prop(self, "pattern", text="", icon="VIEWZOOM")
        self.layout.prop(self, "kind", expand=True)

    def execute(self, context: bpy.types.Context) -> set[str]:
        state = context.scene.tracevis3d_search
        with settings.quietly():
            state.kind = self.kind
        state.pattern = self.pattern
        return {"FINISHED"}


class TRACEVIS3D_OT_search_step(_Searching, bpy.types.Operator):
    """Go to another result"""

    bl_idname = "tracevis3d.search_step"
    bl_label = "Next Result"
    bl_options = {"REGISTER", "UNDO"}

    step: stepping.step("result", ends=True)

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        return f"Go to the {properties.step.lower()} result"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not context.scene.tracevis3d_search.total:
            cls.poll_message_set("There are no results yet: search first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.find(context, self._step)

    def _step(self, context: bpy.types.Context, state: Any, trace: Any, found: Any) -> set[str]:
        call = search_results.step_to(trace, found, state.current, self.step)
        if call is None:
            self.report({"INFO"}, f"That was the {'first' if self.step == 'PREVIOUS' else 'last'} result")
            return {"CANCELLED"}
        rank = search_results.rank_of(trace, found, call)
        with settings.quietly():
            if not state.rank <= rank < state.rank + len(state.hits):
                _fill(state, trace, found, rank - rank % search_results.PAGE)
            state.index = rank - state.rank
        _show(context, state, call)
        return {"FINISHED"}


def _fill(state: Any, trace: Any, found: Found, rank: int) -> None:
    """List the results from ``rank`` on."""
    state.hits.clear()
    state.rank = rank
    for texts in search_results.page(trace, found, rank):
        hit = state.hits.add()
        for name, value in asdict(texts).items():
            setattr(hit, name, value)


def _note(state: Any) -> None:
    """Put the pattern at the top of the history."""
    for i, query in enumerate(state.history):
        if (query.pattern, query.kind) == (state.pattern, state.kind):
            state.history.move(i, 0)
            return
    query = state.history.add()
    query.pattern, query.kind = state.pattern, state.kind
    state.history.move(len(state.history) - 1, 0)
    while len(state.history) > _MOST_HISTORY:
        state.history.remove(len(state.history) - 1)


def _show(context: bpy.types.Context, state: Any, call: int) -> None:
    """Select a call that was found, and let the 3D view show it."""
    with settings.quietly():
        state.current = call
    pin(context.scene)
    selection.select(state.trace, [call], active=call)
    navigate.call(context, state.trace, call)


def pin(scene: bpy.types.Scene, only: bpy.types.Collection | None = None) -> None:
    """Show the results as pins in each view of the trace, or remove the pins.

    Where there are too many, some represent all: evenly spread, and the current one.
    """
    state = scene.tracevis3d_search
    trace, found = known(state)
    for collection in [only] if only is not None else settings.all_in(scene):
        keys, stored = trace_state.keys_of(collection), settings.of(collection)
        if (state.trace not in keys and state.trace) or not (state.show_pins and state.total):
            pins.remove(collection)
        elif found is not None:
            source = keys.index(state.trace)
            calls = search_results.pinned(found, _MOST_PINS, state.current)
            sought = [CallReference.of(trace, source, call) for call in calls]
            above, width = arrange.facing(collection) == 2, stored.high[0] - stored.low[0]
            style = styles.named(stored.style)
            shown = pins.show(collection, sought, state.current, above, width, style)
            if shown is not None:
                shown.delta_location = stored.place


def known(state: Any) -> tuple[Any, Found | None]:
    """Return the trace of the results, and the results; nothing if the trace is not in memory."""
    trace = sources.loaded(state.trace) if state.trace else None
    if trace is None or not state.total:
        return None, None
    try:
        return trace, queries.find(trace, _asked(state))
    except TraceVisError:
        return None, None


class TRACEVIS3D_OT_search_recall(bpy.types.Operator):
    """Search for this again"""

    bl_idname = "tracevis3d.search_recall"
    bl_label = "Search Again"
    bl_options = {"INTERNAL"}

    number: IntProperty()

    def execute(self, context: bpy.types.Context) -> set[str]:
        state = context.scene.tracevis3d_search
        if not 0 <= self.number < len(state.history):
            return {"CANCELLED"}
        query = state.history[self.number]
        pattern = query.pattern
        with settings.quietly():
            state.kind = query.kind
        state.pattern = pattern
        return {"FINISHED"}


class TRACEVIS3D_OT_search_clear(bpy.types.Operator):
    """Clear the results and remove the pins; the history stays"""

    bl_idname = "tracevis3d.search_clear"
    bl_label = "Clear Search"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        state = context.scene.tracevis3d_search
        with settings.quietly():
            state.pattern = state.trace = state.searched = state.summary = ""
            state.total, state.rank, state.current, state.index = 0, 0, -1, -1
            state.hits.clear()
        pin(context.scene)
        return {"FINISHED"}


class TRACEVIS3D_MT_search_history(bpy.types.Menu):
    """Earlier searches"""

    bl_idname = "TRACEVIS3D_MT_search_history"
    bl_label = "Search History"

    def draw(self, context: bpy.types.Context) -> None:
        state = context.scene.tracevis3d_search
        if not len(state.history):
            self.layout.label(text="No searches yet")
        for i, query in enumerate(state.history):
            self.layout.operator("tracevis3d.search_recall", text=query.pattern).number = i


_CLASSES = (
    TRACEVIS3D_PG_hit,
    TRACEVIS3D_PG_query,
    TRACEVIS3D_PG_search,
    TRACEVIS3D_OT_search,
    TRACEVIS3D_OT_search_ask,
    TRACEVIS3D_OT_search_step,
    TRACEVIS3D_OT_search_recall,
    TRACEVIS3D_OT_search_clear,
    TRACEVIS3D_MT_search_history,
)
_register, _unregister = bpy.utils.register_classes_factory(_CLASSES)


def _pin_again(scene: bpy.types.Scene, collection: bpy.types.Collection, *_: Any) -> None:
    pin(scene, collection)


_CONNECTIONS = ((signals.on_show, _pin_again),)


def register() -> None:
    """Register the operators, and what scenes remember of searches."""
    _register()
    bpy.types.Scene.tracevis3d_search = PointerProperty(type=TRACEVIS3D_PG_search)
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
    del bpy.types.Scene.tracevis3d_search
    _unregister()
