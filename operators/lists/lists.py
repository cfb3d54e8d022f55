"""Lists of a view's trace: functions, patterns, utilities, and what a library finds (SEAT, 4.5.5).

A window of rows is stored on the view, worded; the lists themselves are kept in memory and made again from
what is stored. A chosen row selects its calls everywhere, and a selection made elsewhere is chosen
here.
"""

from dataclasses import asdict
from pathlib import Path
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

from ...tracevis3d.analysis import pattern_library
from ...tracevis3d.analysis.compact import graph_of
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.features.call_tree import list_rows
from ...tracevis3d.features.call_tree.list_rows import PAGE, ListQuery
from ...tracevis3d.features.call_tree.lists import from_library
from ...tracevis3d.filters import stack as filter_stack
from ...tracevis3d.filters.facts import facts_of
from ...tracevis3d.filters.roles import roles_of
from ...tracevis3d.views.calls.actions import filter_for
from .. import signals
from ..environment import own_folder
from ..state import filter_stacks, selection, settings
from . import filters, navigate, stepping
from .on_trace import OnTrace, in_memory

KINDS = (
    ("model", "Functions", "All functions with their occurrences", "OUTLINER_OB_FONT", 0),
    ("patterns", "Patterns", "Subtrees that occur more than once", "MOD_ARRAY", 1),
    ("sequences", "Sequences", "Sequences of callees that repeat", "SEQUENCE", 4),
    (
        "utilities",
        "Utilities",
        "Functions that are called from many places and call little",
        "TOOL_SETTINGS",
        2,
    ),
    ("library", "Library", "Patterns and utilities of the library that occur here", "ASSET_MANAGER", 3),
)
_SORTS = (
    ("occurrences", "Occurrences", "How often it is called, most first"),
    ("calls", "Calls Below", "Total number of calls in its subtrees, most first"),
    ("duration", "Time", "Total time in its calls, most first"),
    ("subtrees", "Different Subtrees", "Number of distinct subtrees it is the root of, most first"),
    ("name", "Name", "By name"),
)
_PATTERN_SORTS = (
    ("calls", "Calls in All", "Total number of calls in all occurrences, most first"),
    ("occurrences", "Occurrences", "How often it occurs, most first"),
    ("size", "Calls of One", "Calls of one occurrence, most first"),
    ("name", "Name", "By name"),
)
_CRITERIA = (
    ("exact", "Exact", "Same calls in the same order"),
    (
        "collapsed",
        "Repetitions Collapsed",
        "Same calls in the same order, however often each repeats in a row",
    ),
    ("unordered", "Any Order", "Same calls in the same numbers, in any order"),
    ("set-of-children", "Set of Callees", "Same calls on each level, in any order and number"),
    ("depth", "Down to a Depth", "Same calls in the same order down to three levels"),
    ("functions", "Set of Functions", "Same set of functions in the subtree, whatever calls which"),
)


def _again(state: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """The list or its order was changed."""
    if settings.is_quiet():
        return
    with settings.quietly():
        state.first, state.index = 0, -1
    renew(state.id_data)


def _chosen(state: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """A row was clicked: its calls are selected everywhere."""
    if not settings.is_quiet() and 0 <= state.index < len(state.rows):
        choose(context, state.id_data)


class TRACEVIS3D_PG_list_row(bpy.types.PropertyGroup):
    """A row of a list, worded."""

    key: StringProperty()
    title: StringProperty()
    count: StringProperty()
    detail: StringProperty(description="More about it")
    role: StringProperty()
    hidden: BoolProperty(description="Filters hide all of its calls")


class TRACEVIS3D_PG_lists(bpy.types.PropertyGroup):
    """The state of the lists of a view's trace."""

    kind: EnumProperty(items=KINDS, name="List", default="model", update=_again)
    sort: EnumProperty(items=_SORTS, name="Order", default="occurrences", update=_again)
    pattern_sort: EnumProperty(items=_PATTERN_SORTS, name="Order", default="calls", update=_again)
    criterion: EnumProperty(
        items=_CRITERIA, name="Alike", description="When two subtrees are one pattern", update=_again
    )
    contains: StringProperty(
        name="Contains", description="Only rows with this text in their names", update=_again
    )
    rows: CollectionProperty(type=TRACEVIS3D_PG_list_row)
    index: IntProperty(name="Row", default=-1, update=_chosen)
    first: IntProperty(description="Place of the first row in the list")
    total: IntProperty(description="Rows of the whole list")
    summary: StringProperty()


def of(collection: bpy.types.Collection) -> Any:
    """Return the stored state of a view's lists."""
    return collection.tracevis3d_lists


def library_path(scene: bpy.types.Scene) -> Path:
    """Return the library's file: the scene's own, or one in Blender's folder for this extension."""
    if scene.tracevis3d_library.strip():
        return Path(bpy.path.abspath(scene.tracevis3d_library))
    return own_folder() / "library.json"


def query_of(collection: bpy.types.Collection) -> ListQuery:
    """Return what a view lists."""
    state = of(collection)
    return ListQuery(
        state.kind,
        state.sort,
        state.pattern_sort,
        state.criterion,
        state.contains,
        filter_stacks.stack_of(collection),
    )


def _listing(collection: bpy.types.Collection, trace: Any) -> Any:
    """Return the list that a view shows; it is kept.

    Raises
    ------
    TraceVisError
        If its filters or its library can't be read.
    """
    query = query_of(collection)
    if query.kind == "library":
        known = pattern_library.load(library_path(bpy.context.scene))
        return from_library(facts_of(trace), known, query.contains)
    return list_rows.listing(trace, query)


def renew(collection: bpy.types.Collection) -> None:
    """List the rows again, if the list is shown and its trace is in memory."""
    state = of(collection)
    if not state.summary or (found := in_memory(collection)) is None:
        return
    fill(collection, found[1])


def _after_show(_scene: Any, collection: bpy.types.Collection, *_: Any) -> None:
    renew(collection)


def fill(collection: bpy.types.Collection, trace: Any) -> None:
    """Word the rows of the window and store them."""
    state = of(collection)
    try:
        listing = _listing(collection, trace)
    except TraceVisError as error:
        state.rows.clear()
        with settings.quietly():
            state.summary, state.total, state.index = str(error), 0, -1
        return
    with settings.quietly():
        state.total = len(listing)
        state.first = list_rows.page_of(state.first, len(listing))
        state.summary = list_rows.summary(state.kind, len(listing))
    query, keys = query_of(collection), listing.keys[state.first :].tolist()
    state.rows.clear()
    for key, row in zip(keys, listing.rows(state.first, PAGE), strict=False):
        stored = state.rows.add()
        stored.key = str(key)
        for name, value in asdict(list_rows.row_texts(query, row)).items():
            setattr(stored, name, value)


def choose(context: bpy.types.Context, collection: bpy.types.Collection, step: int = 0) -> str:
    """Select the calls of the chosen row; return its message.

    The first one is the active call, which the call tree then shows; with ``step`` the next or previous
    after the one that is active now.
    """
    state, found = of(collection), in_memory(collection)
    if found is None or not 0 <= state.index < len(state.rows):
        return ""
    key, trace = found
    listing, row = _listing(collection, trace), int(state.rows[state.index].key)
    calls = listing.calls(row)
    if not len(calls):
        return "It does not occur in this trace"
    starts = calls if listing.starts is None else listing.starts(row)
    place = 0
    if step:
        other = list_rows.occurrence(starts, selection.selected(key).active, step)
        if other is None:
            return f"That was the {'last' if step > 0 else 'first'} occurrence"
        place = other
    with signals.on_select.without(_follow):
        left_out = selection.select(key, calls, active=int(starts[place]))
    if step:
        navigate.call(context, key, int(starts[place]))
        return f"Occurrence {place + 1:,} of {len(starts):,}"
    more = f"; the first {selection.MOST:,} calls are selected" if left_out else ""
    return f"{len(starts):,} occurrences{more}"


def _follow(changed: str) -> None:
    """Choose the row of the call that was selected elsewhere."""
    if not changed:
        return
    active = selection.selected(changed).active
    for collection in bpy.data.collections:
        if active < 0 or not settings.is_view(collection) or not of(collection).rows:
            continue
        found = in_memory(collection)
        if found is None or found[0] != changed or active >= len(found[1].calls):
            continue
        try:
            key = str(_listing(collection, found[1]).key_of(active))
        except TraceVisError:
            continue
        state = of(collection)
        keys = [row.key for row in state.rows]
        with settings.quietly():
            state.index = keys.index(key) if key in keys else -1


class OnList(OnTrace):
    """An operator on the list of the active view."""

    def on_list(self, context: bpy.types.Context, then: Any) -> set[str]:
        """Call ``then(collection, trace)`` with the trace; its result is reported."""

        def prepare(trace: Any) -> None:
            _ = graph_of(trace).edges, roles_of(trace)

        def finish(_context: Any, collection: Any, _key: str, trace: Any) -> set[str]:
            if said := then(collection, trace):
                self.report({"INFO"}, said)
            return {"FINISHED"}

        return self.with_trace(context, prepare, finish)


class OnRow(OnList):
    """An operator on the row that is chosen."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        state = of(settings.active(context))
        if not 0 <= state.index < len(state.rows):
            cls.poll_message_set("Choose a row of the list first")
            return False
        return True


class TRACEVIS3D_OT_list_show(OnList, bpy.types.Operator):
    """List functions, patterns, utilities, or what the library finds"""

    bl_idname = "tracevis3d.list_show"
    bl_label = "Show List"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.on_list(context, fill)


class TRACEVIS3D_OT_list_page(OnList, bpy.types.Operator):
    """Go to another page of the list"""

    bl_idname = "tracevis3d.list_page"
    bl_label = "Turn Page"
    bl_options = {"REGISTER", "UNDO"}

    step: stepping.step("rows", ends=True)

    def execute(self, context: bpy.types.Context) -> set[str]:
        def turn(collection: bpy.types.Collection, trace: Any) -> None:
            state = of(collection)
            with settings.quietly():
                state.first, state.index = list_rows.turned(state.first, state.total, self.step), -1
            fill(collection, trace)

        return self.on_list(context, turn)


class TRACEVIS3D_OT_list_step(OnRow, bpy.types.Operator):
    """Select all occurrences of the row and go to another one"""

    bl_idname = "tracevis3d.list_step"
    bl_label = "Go to Occurrence"
    bl_options = {"REGISTER", "UNDO"}

    step: stepping.step("occurrence", ("ALL", "All", "All of them, the first one being active"))

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        if properties.step == "ALL":
            return "Select all occurrences of the row"
        return f"Go to the {properties.step.lower()} occurrence, and fly to it"

    def execute(self, context: bpy.types.Context) -> set[str]:
        step = {"PREVIOUS": -1, "ALL": 0, "NEXT": 1}[self.step]
        return self.on_list(context, lambda collection, _trace: choose(context, collection, step))


class TRACEVIS3D_OT_list_hide(OnRow, bpy.types.Operator):
    """Hide or fade the row's calls in this view, by a filter"""

    bl_idname = "tracevis3d.list_hide"
    bl_label = "Hide from List"
    bl_options = {"REGISTER", "UNDO"}

    effect: EnumProperty(
        items=(
            ("hide", "Hide", "Leave these calls out"),
            ("fade", "Fade", "Draw them as ghosts"),
            ("sink", "Sink", "Move them away in views that support it; draw ghosts in the others"),
            ("show", "Show Again", "Remove the filter"),
        ),
        name="Effect",
        default="hide",
    )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        items = cls.bl_rna.properties["effect"].enum_items
        return f"{items[properties.effect].description}: all occurrences of the row, by a filter of the view"

    def execute(self, context: bpy.types.Context) -> set[str]:
        def change(collection: bpy.types.Collection, trace: Any) -> str:
            state = of(collection)
            name, values = _filter_for(context, trace, state)
            text = filter_stacks.stack_of(collection)
            if self.effect == "show":
                changed = filter_stack.without(text, name, **values)
            else:
                changed = filter_stack.added(
                    filter_stack.without(text, name, **values), name, effect=self.effect, **values
                )
            filters.store(collection, changed)
            return f"Filters: {changed}" if changed else "No filters are left"

        return self.on_list(context, change)


def _filter_for(context: bpy.types.Context, trace: Any, state: Any) -> tuple[str, dict[str, str]]:
    """Return name and values of the filter that marks a row's calls."""
    row = state.rows[state.index]
    if state.kind == "library":
        other = {"pattern": "utilities", "utility": "patterns"}[row.role]
        return "library", {"file": str(library_path(context.scene)), "only": row.title, other: "no"}
    if state.kind == "patterns":
        # By a call, not by the number of a subtree, which means nothing outside this process.
        call = _listing(state.id_data, trace).row(int(row.key))["first_call"]
        criterion = {} if state.criterion == "exact" else {"criterion": state.criterion}
        return "alike", {"call": str(call), **criterion}
    if state.kind == "sequences":
        row_facts = _listing(state.id_data, trace).row(int(row.key))
        return "sequence", {"call": str(row_facts["first_call"]), "entries": str(row_facts["entries"])}
    call = int(_listing(state.id_data, trace).calls(int(row.key))[0])
    return filter_for(trace, call, "FUNCTION", False)


class TRACEVIS3D_OT_list_promote(OnRow, bpy.types.Operator):
    """Store the pattern, or the function as a utility, in the library, to find it in other traces"""

    bl_idname = "tracevis3d.list_promote"
    bl_label = "Promote to Library"
    bl_options = {"REGISTER"}

    name: StringProperty(name="Name", description="Of the pattern", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        kind = of(settings.active(context)).kind
        if kind in ("library", "sequences"):
            already = kind == "library"
            cls.poll_message_set(
                "It is in the library already" if already else "The library stores patterns and functions"
            )
            return False
        return True

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        state = of(settings.active(context))
        if state.kind != "patterns":
            return self.execute(context)
        self.name = state.rows[state.index].title
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = library_path(context.scene)

        def promote(collection: bpy.types.Collection, trace: Any) -> str:
            state = of(collection)
            listing = _listing(collection, trace)
            row = listing.row(int(state.rows[state.index].key))
            known = pattern_library.load(path)
            if state.kind == "patterns":
                graph = graph_of(trace)
                pattern = pattern_library.promote(
                    trace, graph, row["first_call"], self.name.strip(), state.criterion
                )
                pattern_library.save(pattern_library.with_pattern(known, pattern), path)
                return f"{path}: pattern {pattern.name}"
            pattern_library.save(pattern_library.with_utilities(known, [row["function"]]), path)
            return f"{path}: utility {row['function']}"

        return self.on_list(context, promote)


class TRACEVIS3D_OT_library_remove(OnRow, bpy.types.Operator):
    """Remove the pattern or utility from the library"""

    bl_idname = "tracevis3d.library_remove"
    bl_label = "Remove from Library"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if of(settings.active(context)).kind != "library":
            cls.poll_message_set("Show the library first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = library_path(context.scene)

        def remove(collection: bpy.types.Collection, trace: Any) -> None:
            state = of(collection)
            pattern_library.save(
                pattern_library.without(pattern_library.load(path), [state.rows[state.index].title]), path
            )
            fill(collection, trace)

        return self.on_list(context, remove)


class TRACEVIS3D_OT_library_use(OnList, bpy.types.Operator):
    """Filter the view by the library: hide all patterns and utilities that it contains"""

    bl_idname = "tracevis3d.library_use"
    bl_label = "Filter by Library"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        file = str(library_path(context.scene))

        def use(collection: bpy.types.Collection, _trace: Any) -> None:
            filters.store(
                collection, filter_stack.added(filter_stacks.stack_of(collection), "library", file=file)
            )

        return self.on_list(context, use)


_GROUPS = (TRACEVIS3D_PG_list_row, TRACEVIS3D_PG_lists)
_OPERATORS = (
    TRACEVIS3D_OT_list_show,
    TRACEVIS3D_OT_list_page,
    TRACEVIS3D_OT_list_step,
    TRACEVIS3D_OT_list_hide,
    TRACEVIS3D_OT_list_promote,
    TRACEVIS3D_OT_library_remove,
    TRACEVIS3D_OT_library_use,
)
_register, _unregister = bpy.utils.register_classes_factory((*_GROUPS, *_OPERATORS))
_CONNECTIONS = (
    (signals.on_select, _follow),
    (signals.on_filter, renew),
    (signals.on_show, _after_show),
)


def register() -> None:
    """Register operators and state, and follow the selection."""
    _register()
    bpy.types.Collection.tracevis3d_lists = PointerProperty(type=TRACEVIS3D_PG_lists)
    bpy.types.Scene.tracevis3d_library = StringProperty(
        name="Library",
        description="File of patterns and utilities for all traces; empty: a file in the extension's "
        "own folder",
        subtype="FILE_PATH",
    )
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
    del bpy.types.Scene.tracevis3d_library
    del bpy.types.Collection.tracevis3d_lists
    _unregister()
