"""The call tree of a view's trace as a list: the rows of one window, whatever the size of the trace.

What is open, which row is the first and which are selected lies on the view's collection, as text: it is
saved and undone with the view, and two views of one trace are two explorations. The trees themselves are kept
in memory and made again from that.
"""

from contextlib import suppress
from dataclasses import asdict, dataclass
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

from ...tracevis3d.errors import TraceVisError, UsageError
from ...tracevis3d.features.call_tree import tree_rows
from ...tracevis3d.features.call_tree.navigation import KEYS, TreeNavigation, path_of
from ...tracevis3d.features.call_tree.partial_tree import ALL
from ...tracevis3d.features.call_tree.tree_rows import TreeQuery
from .. import areas, handlers, signals
from ..state import filter_stacks, selection, settings
from ..views import overview
from . import navigate, on_trace
from .on_trace import OnTrace, in_memory

#: Texts that a navigation is stored as.
_WORDS = ("opened", "first", "current", "anchor", "chosen")


@dataclass(frozen=True)
class _Tree:
    """A tree in memory, and its inputs."""

    trace: Any
    query: TreeQuery
    opened: str
    navigation: TreeNavigation

    def is_of(self, trace: Any, query: TreeQuery, opened: str) -> bool:
        return self.trace is trace and (self.query, self.opened) == (query, opened)


#: A view's session id -> its tree; it can be made again from the stored text at any time.
_trees: dict[int, _Tree] = {}


class TRACEVIS3D_PG_tree_row(bpy.types.PropertyGroup):
    """A row of the window, as the panel draws it."""

    path: StringProperty()
    name: StringProperty()
    about: StringProperty(description="The full name, if it is longer")
    sign: StringProperty()
    below: StringProperty(description="Calls below it that filters do not hide, and all calls below it")
    role: StringProperty(description="What kind of function it is")
    depth: IntProperty()
    filtered: BoolProperty()
    chosen: BoolProperty()
    current: BoolProperty()


def _renew(state: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """A setting of the tree was changed."""
    if not settings.is_quiet():
        renew(state.id_data)


def _start_anew(state: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """The whole tree is opened to another level: rows opened manually are forgotten."""
    if not settings.is_quiet():
        state.opened = ""
        renew(state.id_data)


def _scroll_to(state: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """The scrollbar was moved."""
    if not settings.is_quiet() and (found := in_memory(state.id_data)) is not None:
        key, trace = found
        navigation = _navigation(state.id_data, trace)
        navigation.jump(state.row - 1)
        _store(state.id_data, key, trace, navigation)


class TRACEVIS3D_PG_tree(bpy.types.PropertyGroup):
    """The state of a view's call tree."""

    opened: StringProperty(description="Rows expanded, collapsed or hidden by hand")
    listed: StringProperty(description="The filters under which the paths were stored")
    first: StringProperty(description="Path of the first row")
    current: StringProperty(description="Path of the row that keys start from")
    anchor: StringProperty(description="Path of the row that a range starts from")
    chosen: StringProperty(description="Paths of the selected rows")
    page: IntProperty(name="Rows", description="Rows of the list", default=16, min=3, max=100, update=_renew)
    levels: IntProperty(
        name="Levels",
        description="Levels that are expanded at first; a change collapses rows expanded by hand",
        default=2,
        min=0,
        max=tree_rows.ALL_LEVELS,
        update=_start_anew,
    )
    show_filtered: BoolProperty(
        name="Filtered Too",
        description="List calls hidden by the view's filters in grey; the sign ~ marks rows with "
        "hidden callees",
        update=_renew,
    )
    folded: BoolProperty(
        name="Fold Sequences",
        description="List a repeated sequence of callees as one row that can be expanded",
        update=_renew,
    )
    follow: BoolProperty(
        name="Follow",
        description="Open the tree at the call that is selected in the scene, by a search or by a bookmark",
        default=True,
    )
    source: IntProperty(
        name="Trace", description="Which of the view's traces", default=1, min=1, update=_start_anew
    )
    row: IntProperty(name="Row", description="Number of the first row", default=1, min=1, update=_scroll_to)
    size: StringProperty(description="Rows of the whole tree")
    callers: StringProperty(description="The path from the root to the first row")
    message: StringProperty(description="Why there are no rows")
    revision: IntProperty(description="The selection that the rows show")


def of(collection: bpy.types.Collection) -> Any:
    """Return the tree's state kept on a view's collection."""
    return collection.tracevis3d_tree


def forget() -> None:
    """Let go of all trees."""
    _trees.clear()


def prepare(trace: Any, query: TreeQuery) -> None:
    """Work out what a tree and the strip need; touches nothing of Blender's."""
    tree_rows.prepare(trace, query)
    overview.prepare(trace, query.filters)


def query_of(collection: bpy.types.Collection) -> TreeQuery:
    """Return how a view's tree is listed."""
    state = of(collection)
    return TreeQuery(filter_stacks.stack_of(collection), state.show_filtered, state.folded, state.levels)


def _navigation(collection: bpy.types.Collection, trace: Any) -> Any:
    """Return the navigation whose state is stored on the view.

    Raises
    ------
    UsageError
        If the filters can't be read, or name what the trace hasn't.
    """
    state, query = of(collection), query_of(collection)
    words = {name: getattr(state, name) for name in _WORDS}
    before = _trees.get(collection.session_uid)
    # After undo, or when settings were changed, the tree in memory differs from the stored one.
    if before is not None and before.is_of(trace, query, state.opened):
        before.navigation.page = state.page
        before.navigation.place(words)
        return before.navigation
    prepare(trace, query)
    tree = tree_rows.tree_of(trace, query)
    navigation = TreeNavigation(tree, state.page)
    if state.listed and state.listed != query.key:
        words = tree_rows.carried_over(trace, words, state.listed, tree)
    navigation.read(words)
    _trees[collection.session_uid] = _Tree(trace, query, state.opened, navigation)
    return navigation


def _store(collection: bpy.types.Collection, key: str, trace: Any, navigation: TreeNavigation) -> None:
    """Store a navigation and the rows of its window on the view."""
    state, rows, query = of(collection), collection.tracevis3d_tree_rows, query_of(collection)
    words, texts = navigation.written(), tree_rows.TreeTexts(trace, query, navigation.tree)
    with settings.quietly():
        for name in _WORDS:
            setattr(state, name, words[name])
        state.listed = query.key
        state.size, state.message = f"{navigation.size:,}", ""
        state.row = navigation.position + 1
        state.revision = selection.revision(key)
        state.callers = texts.callers(navigation.first)
    rows.clear()
    for row in texts.rows(navigation):
        stored = rows.add()
        for name, value in asdict(row).items():
            setattr(stored, name, value)
    overview.store(collection, trace, query.filters, texts.part(navigation.rows()))
    _trees[collection.session_uid] = _Tree(trace, query, state.opened, navigation)


def renew(collection: bpy.types.Collection) -> None:
    """List the rows of the view's tree again, if it is shown: its filters or settings were changed."""
    if not (collection.tracevis3d_tree_rows or of(collection).message):
        return
    if (found := in_memory(collection)) is None:
        return
    try:
        _store(collection, *found, _navigation(collection, found[1]))
    except TraceVisError as error:
        collection.tracevis3d_tree_rows.clear()
        of(collection).message = str(error)


def renew_strip(collection: bpy.types.Collection, traces: list[Any]) -> None:
    """Store again what the strip says, of the trace that the tree is about."""
    if traces:
        number = min(of(collection).source, len(traces)) - 1
        overview.store(collection, traces[number], filter_stacks.stack_of(collection))


def _after_show(_scene: Any, collection: bpy.types.Collection, traces: list[Any], _drawing: Any) -> None:
    renew_strip(collection, traces)
    renew(collection)


def scroll_to(collection: bpy.types.Collection, call: int) -> None:
    """Let the list begin at the row of a call, or of its nearest caller that has one."""
    if not collection.tracevis3d_tree_rows or (found := in_memory(collection)) is None:
        return
    with suppress(TraceVisError):
        navigation = _navigation(collection, found[1])
        path = navigation.tree.nearest_shown(navigation.tree.path_of(call)[0])
        if path is not None:
            navigation.jump(navigation.tree.offset(path))
            _store(collection, *found, navigation)


class OnTree(OnTrace):
    """An operator that does something to the tree of the active view."""

    def on_tree(
        self, context: bpy.types.Context, act: Any, selects: bool = False, flies: bool = False
    ) -> set[str]:
        """Do ``act(navigation)`` and list the rows; find the trace first, beside the window, if need be.

        With ``selects`` the calls of the rows that are selected then are selected everywhere; with ``flies``
        the 3D view goes to the current one.
        """
        collection = settings.require_active(context)
        query = query_of(collection)

        def then(context: bpy.types.Context, target: bpy.types.Collection, key: str, trace: Any) -> set[str]:
            try:
                navigation = _navigation(target, trace)
            except UsageError as error:
                target.tracevis3d_tree_rows.clear()
                of(target).message = str(error)
                raise
            try:
                act(navigation)
            except UsageError:
                # It may have been changed before: it is made again from what is stored.
                _trees.pop(target.session_uid, None)
                raise
            calls, active = tree_rows.selected_calls(navigation, selection.MOST)
            if selects:
                with signals.on_select.without(_follow):
                    selection.select(key, calls, active=active)
            _store(target, key, trace, navigation)
            if flies and active >= 0:
                navigate.call(context, key, active)
            return {"FINISHED"}

        return self.with_trace(context, lambda trace: prepare(trace, query), then)


def _follow(changed: str) -> None:
    """Show the call that was selected elsewhere, in the trees that are open."""
    if not changed:
        return
    chosen = selection.selected(changed)
    for collection in bpy.data.collections:
        if not settings.is_view(collection) or collection.library is not None:
            continue
        state = of(collection)
        if not collection.tracevis3d_tree_rows or not state.follow or chosen.active < 0:
            continue
        found = in_memory(collection)
        if found is None or found[0] != changed or state.revision == selection.revision(changed):
            continue
        try:
            navigation = _navigation(collection, found[1])
            if chosen.active < len(found[1].calls):
                navigation.expand_to(navigation.tree.path_of(chosen.active)[0])
            _store(collection, *found, navigation)
        except TraceVisError as error:
            state.message = str(error)


class TRACEVIS3D_OT_tree_show(OnTree, bpy.types.Operator):
    """List the call tree of the view's trace, a window of rows at a time"""

    bl_idname = "tracevis3d.tree_show"
    bl_label = "Show Call Tree"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.on_tree(context, lambda navigation: None)


class TRACEVIS3D_OT_tree_click(OnTree, bpy.types.Operator):
    """Expand, collapse or select a row"""

    bl_idname = "tracevis3d.tree_click"
    bl_label = "Click in Call Tree"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    path: StringProperty(options={"SKIP_SAVE"})
    part: EnumProperty(
        items=(("label", "Name", "Select"), ("sign", "Sign", "Expand or collapse")), options={"SKIP_SAVE"}
    )
    about: StringProperty(options={"SKIP_SAVE", "HIDDEN"}, description="What the row is, for its tooltip")
    ctrl: BoolProperty(options={"SKIP_SAVE"})
    shift: BoolProperty(options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        if properties.part == "sign":
            return (
                "+ expands, - and ~ collapse.\nWith Ctrl: show the callees that filters hide (~ becomes "
                "-), or hide them again"
            )
        about = f"{properties.about}.\n" if properties.about else ""
        return f"{about}Select these calls.\nWith Ctrl: one row more or less; with Shift: all rows between"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.ctrl, self.shift = event.ctrl or event.oskey, event.shift
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        def click(navigation: Any) -> None:
            if (path := path_of(self.path)) is None:
                raise UsageError(
                    f"{self.path!r} is not a path of the tree: numbers separated by . are expected"
                )
            navigation.click(path, self.part, ctrl=self.ctrl, shift=self.shift)

        return self.on_tree(context, click, selects=self.part == "label")


class TRACEVIS3D_OT_tree_key(OnTree, bpy.types.Operator):
    """Move in the call tree"""

    bl_idname = "tracevis3d.tree_key"
    bl_label = "Key in Call Tree"
    bl_options = {"REGISTER", "UNDO"}

    key: EnumProperty(
        items=[(key, key.replace("_", " ").title(), "") for key in KEYS], name="Key", default="DOWN_ARROW"
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.on_tree(context, lambda navigation: navigation.press(self.key), selects=True)


class TRACEVIS3D_OT_tree_keys(bpy.types.Operator):
    """Move through the call tree with Home, End, Page Up and Down, the arrows and Backspace, until Esc"""

    bl_idname = "tracevis3d.tree_keys"
    bl_label = "Use Arrow Keys"
    bl_options = {"INTERNAL"}

    #: Whether keys go to the tree just now.
    walking = False

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return on_trace.poll(cls, context)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        cls = type(self)
        if cls.walking:
            cls.walking = False
            return {"FINISHED"}
        if context.window is None or bpy.app.background:
            return {"CANCELLED"}
        cls.walking = True
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(
            "Call tree: Home, End, Page Up, Page Down, arrows, Backspace    Esc: leave"
        )
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not type(self).walking or (event.type == "ESC" and event.value == "PRESS"):
            self.cancel(context)
            areas.redraw()
            return {"FINISHED"}
        if event.type not in KEYS or event.ctrl or event.alt or event.oskey:
            return {"PASS_THROUGH"}
        if event.value == "PRESS" and TRACEVIS3D_OT_tree_key.poll(context):
            bpy.ops.tracevis3d.tree_key(key=event.type)
            bpy.ops.ed.undo_push(message="Key in Call Tree")
            areas.redraw()
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Leave the keys to Blender again."""
        type(self).walking = False
        if context.workspace is not None:
            context.workspace.status_text_set(None)


class TRACEVIS3D_OT_tree_open(OnTree, bpy.types.Operator):
    """Expand all rows below the current one, or collapse it"""

    bl_idname = "tracevis3d.tree_open"
    bl_label = "Expand All Below"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        def unfold(navigation: Any) -> None:
            if navigation.current is None:
                raise UsageError("No row is selected: click a name in the tree first")
            navigation.tree.expand(navigation.current, ALL)
            navigation.settle()

        return self.on_tree(context, unfold)


class TRACEVIS3D_OT_tree_hide(OnTree, bpy.types.Operator):
    """Hide the selected rows with all below them in this tree, or show them again"""

    bl_idname = "tracevis3d.tree_hide"
    bl_label = "Hide Rows"
    bl_options = {"REGISTER", "UNDO"}

    show: BoolProperty(name="Show Again", description="Show all rows hidden by hand")

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        if properties.show:
            return "Show the rows hidden by hand"
        return "Hide the selected rows with all below them, only in this tree"

    def execute(self, context: bpy.types.Context) -> set[str]:
        def hide(navigation: Any) -> None:
            tree = navigation.tree
            if self.show:
                for path in [path for path, _, _, hidden in tree.exceptions() if hidden]:
                    tree.unhide(path)
            elif not navigation.selected:
                raise UsageError("No row is selected: click a name in the tree first")
            else:
                for path in navigation.selected:
                    tree.hide(path)
            navigation.settle()

        return self.on_tree(context, hide)


_GROUPS = (TRACEVIS3D_PG_tree_row, TRACEVIS3D_PG_tree)
_OPERATORS = (
    TRACEVIS3D_OT_tree_show,
    TRACEVIS3D_OT_tree_click,
    TRACEVIS3D_OT_tree_key,
    TRACEVIS3D_OT_tree_keys,
    TRACEVIS3D_OT_tree_open,
    TRACEVIS3D_OT_tree_hide,
)
_register, _unregister = bpy.utils.register_classes_factory((*_GROUPS, *_OPERATORS))
_CONNECTIONS = (
    (handlers.after_loading, forget),
    (signals.on_select, _follow),
    (signals.on_show, _after_show),
    (signals.on_point, scroll_to),
)


def register() -> None:
    """Register operators and state, and follow the selection."""
    _register()
    bpy.types.Collection.tracevis3d_tree = PointerProperty(type=TRACEVIS3D_PG_tree)
    bpy.types.Collection.tracevis3d_tree_rows = CollectionProperty(type=TRACEVIS3D_PG_tree_row)
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
    del bpy.types.Collection.tracevis3d_tree_rows
    del bpy.types.Collection.tracevis3d_tree
    _unregister()
    forget()
