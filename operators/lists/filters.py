"""The filter stack of a view as a list: add, change, switch, move and remove, each over the stack's text."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.filters import registry
from ...tracevis3d.filters.editing import changed, from_texts, one_of, put, texts_of
from ...tracevis3d.filters.stack import WHOLE, Applied, as_text, parse
from ...tracevis3d.parameters import declared
from .. import enum_items, preconditions, signals
from ..mixin import OperatorMixin
from ..state import filter_stacks, selection, settings, sources, trace_state
from . import call_tree

_EFFECTS = (
    ("hide", "Hide", "Leave these calls out"),
    ("fade", "Fade", "Draw them as ghosts"),
    ("sink", "Sink", "Move them away in views that support it; draw ghosts in the others"),
)
_WHAT = (
    ("subtree", "With All Below", "The calls and all below them"),
    ("call", "Alone", "Only the calls; their callees move up to their callers"),
)


@enum_items.cached
def _name_items(_self: Any, _context: Any) -> list[enum_items.Item]:
    return enum_items.numbered(map(registry.find, registry.names()))


class TRACEVIS3D_PG_filter_value(bpy.types.PropertyGroup):
    """A parameter of a filter, as text."""

    text: StringProperty(name="Value", description="The value, as on the command line")


def store(collection: bpy.types.Collection, text: str) -> None:
    """Let a view have another filter stack; list, strip and lists follow.

    Raises
    ------
    TraceVisError
        If it can't be read, or names what the view's traces haven't; then nothing is changed.
    """
    parse(text)
    traces = sources.in_memory(collection) or []
    query = replace(call_tree.query_of(collection), filters=text)
    for trace in traces:
        call_tree.prepare(trace, query)
    # The view follows at once where that is quick, else it waits for Rebuild, as with parameters.
    settings.of(collection).filters = text
    if traces:
        filter_stacks.store_effects(collection, traces)
        call_tree.renew_strip(collection, traces)
    call_tree.renew(collection)
    signals.on_filter.send(collection)


class _OnStack(OperatorMixin):
    """An operator that changes the filter stack of the active view."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(cls, context, *preconditions.TRACE)

    def change(self, context: bpy.types.Context, do: Callable[[list[Any]], list[Any]]) -> set[str]:
        """Let ``do`` make a new stack from the view's, and store it; what can't be read is refused."""
        collection = settings.active(context)
        try:
            store(collection, as_text(do(parse(filter_stacks.stack_of(collection)))))
        except TraceVisError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class TRACEVIS3D_OT_filter_edit(_OnStack, bpy.types.Operator):
    """Add a filter, or change one that is in the stack"""

    bl_idname = "tracevis3d.filter_edit"
    bl_label = "Filter"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(default=-1, options={"SKIP_SAVE", "HIDDEN"})
    name: EnumProperty(items=_name_items, name="Filter")
    effect: EnumProperty(items=_EFFECTS, name="Effect", default="hide")
    what: EnumProperty(items=_WHAT, name="Calls", default="subtree")
    within: BoolProperty(
        name="Only Within the Selected Call",
        description="Filter the subtree of the call that is selected; otherwise the whole trace",
        options={"SKIP_SAVE"},
    )
    scope: IntProperty(default=-1, options={"SKIP_SAVE", "HIDDEN"})
    values: CollectionProperty(type=TRACEVIS3D_PG_filter_value, options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        if properties.index >= 0:
            return "Change the filter's parameters, effect and scope"
        return next((words for name, _, words, *_ in _name_items(None, None) if name == properties.name), "")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        collection = settings.active(context)
        try:
            stack = parse(filter_stacks.stack_of(collection))
            found = one_of(stack, self.index) if self.index >= 0 else Applied(self.name)
        except TraceVisError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.name, self.effect, self.what = found.name, found.effect, found.what
        active = selection.selected(trace_state.keys_of(collection)[0]).active
        self.within, self.scope = found.within != WHOLE, found.within if found.within != WHOLE else active
        self.values.clear()
        for name, text in texts_of(found).items():
            value = self.values.add()
            value.name, value.text = name, text
        return context.window_manager.invoke_props_dialog(self, width=420)

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        sentences = {p.name: p.sentence for p in declared(registry.find(self.name).parameters)}
        for value in self.values:
            layout.prop(value, "text", text=value.name.replace("_", " ").capitalize())
            row = layout.row()
            row.active = False
            row.label(text=sentences.get(value.name, ""))
        layout.prop(self, "effect")
        layout.prop(self, "what")
        row = layout.row()
        row.enabled = self.scope >= 0
        row.prop(self, "within", text=f"Only Within Call {self.scope:,}" if self.scope >= 0 else None)

    def execute(self, context: bpy.types.Context) -> set[str]:
        texts = {value.name: value.text for value in self.values}
        scope = self.scope if self.within else WHOLE
        return self.change(
            context,
            lambda stack: put(stack, self.index, from_texts(self.name, texts, self.effect, self.what, scope)),
        )


class TRACEVIS3D_OT_filter_change(_OnStack, bpy.types.Operator):
    """Switch, move or remove a filter of the stack"""

    bl_idname = "tracevis3d.filter_change"
    bl_label = "Change Filters"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(options={"SKIP_SAVE"})
    do: EnumProperty(
        items=(
            ("SWITCH", "On or Off", "Switch the filter off, or on again"),
            ("UP", "Earlier", "Move it up: if several filters mark a call, the last one applies"),
            ("DOWN", "Later", "Move it down: if several filters mark a call, the last one applies"),
            ("REMOVE", "Remove", "Remove the filter from the stack"),
            ("CLEAR", "Remove All", "Remove all filters from the stack"),
        ),
        name="What",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        items = properties.rna_type.properties["do"].enum_items
        return str(items[properties.do].description)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.change(context, lambda stack: changed(stack, self.index, self.do))


_CLASSES = (TRACEVIS3D_PG_filter_value, TRACEVIS3D_OT_filter_edit, TRACEVIS3D_OT_filter_change)

register, unregister = bpy.utils.register_classes_factory(_CLASSES)
