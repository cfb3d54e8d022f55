"""What can be done with an element: the entries of its menu, each an operator with undo."""

from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty, StringProperty

from ...tracevis3d.errors import TraceVisError, UsageError
from ...tracevis3d.progress import Progress
from ...tracevis3d.units import typed_time
from ..mixin import OperatorMixin
from ..state import filter_stacks, selection, settings, sources, trace_state
from ..task import LongOperator, idle
from ..views import make_view
from . import script
from .motion import window_time

#: Share of equal functions from which on two call trees count as similar.
SIMILAR = 0.8


class OnCall(OperatorMixin):
    """An operator about one call of one trace, in one view."""

    # What they were about the last time says nothing about this one: Blender is not to keep it.
    view: StringProperty(
        name="View",
        description="Name of the view's collection; empty: the active one",
        options={"SKIP_SAVE"},
    )
    trace: StringProperty(
        name="Trace", description="Hash of the trace; empty: the view's first", options={"SKIP_SAVE"}
    )
    # Numbers of calls can be greater than Blender's whole numbers.
    call: StringProperty(
        name="Call", description="Number of the call; empty: the selected one", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not idle():
            cls.poll_message_set("A trace is being read")
        elif settings.active(context) is None:
            cls.poll_message_set("This scene has no view: import a trace first")
        else:
            return True
        return False

    def resolve(self, context: bpy.types.Context) -> tuple[Any, int, Any, int]:
        """Return the view, which of its traces is meant, that trace, and the call.

        Raises
        ------
        UsageError
            If there is no such view or call, or the trace is not in memory.
        """
        view = bpy.data.collections.get(self.view) if self.view else settings.active(context)
        if view is None or not settings.is_view(view):
            raise UsageError(f"There is no view {self.view!r} any more")
        keys = trace_state.keys_of(view)
        if self.trace and self.trace not in keys:
            raise UsageError(f"{view.name} doesn't show that trace")
        source = keys.index(self.trace) if self.trace else 0
        trace = sources.loaded(keys[source])
        if trace is None:
            raise UsageError("The trace is not in memory: Rebuild finds it, then try again")
        call = int(self.call) if self.call.isdecimal() else selection.selected(keys[source]).active
        if not 0 <= call < len(trace.calls):
            raise UsageError("No call is selected" if not self.call else f"There is no call {self.call}")
        return view, source, trace, call

    def refuse(self, error: TraceVisError) -> set[str]:
        """Say why not."""
        self.report({"ERROR"}, str(error))
        return {"CANCELLED"}

    def rebuilt(self, view: Any, wanted: dict[str, Any], filters: str | None = None) -> set[str]:
        """Give the view other parameters, or filters, and draw it anew; nothing changes if it can't be."""
        before = settings.values(view)
        stack = filter_stacks.stack_of(view)
        with settings.quietly():
            if filters is not None:
                settings.of(view).filters = filters
        settings.assign(view, wanted)
        traces = sources.in_memory(view)
        try:
            if traces is None:
                raise UsageError("The trace is not in memory: Rebuild finds it, then try again")
            scene = window_time.scene_of(view)
            figure = make_view.figure_of(view, traces)
            make_view.show(scene, view, traces, figure, figure.drawing(settings.frame_of(scene)))
        except TraceVisError as error:
            settings.assign(view, before)
            with settings.quietly():
                settings.of(view).filters = stack
            return self.refuse(error)
        return {"FINISHED"}


def thread_word(trace: Any, thread: int) -> str:
    """Return by what the parameter ``threads`` and the filter of that name know one thread alone."""
    threads = trace.threads
    words = [
        str(threads.tid[thread]),
        threads.title(thread),
        f"{threads.process[thread]}:{threads.tid[thread]}",
    ]
    for word in words:
        same = [
            t
            for t in range(len(threads))
            if word
            in (
                threads.name[t],
                str(threads.tid[t]),
                threads.title(t),
                f"{threads.process[t]}:{threads.tid[t]}",
            )
        ]
        if same == [thread] and not set(word) & set(",*?[;"):
            return word
    return words[-1]


class TRACEVIS3D_OT_zoom_to_subtree(OnCall, bpy.types.Operator):
    """Show only the time of this call, from its depth downwards, and its thread"""

    bl_idname = "tracevis3d.zoom_to_subtree"
    bl_label = "Zoom to Subtree"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            view, source, trace, call = self.resolve(context)
        except TraceVisError as error:
            return self.refuse(error)
        calls, group = trace.calls, settings.require_parameters(view)
        low = int(calls.start[call])
        window = window_time.bounded(trace, low, max(int(calls.end[call]), low + 1))
        wanted: dict[str, Any] = window_time.values_for(view, {source: window})
        if not wanted:
            self.report({"ERROR"}, "This view has no window of time")
            return {"CANCELLED"}
        properties = group.bl_rna.properties
        if len(trace_state.keys_of(view)) == 1:
            if "first_depth" in properties:
                wanted["first_depth"] = int(calls.depth[call])
            if "threads" in properties:
                wanted["threads"] = thread_word(trace, int(calls.thread[call]))
        return self.rebuilt(view, wanted)


class TRACEVIS3D_OT_show_all(OnCall, bpy.types.Operator):
    """Show the whole trace again: all of its time, depths and threads, without filters"""

    bl_idname = "tracevis3d.show_all"
    bl_label = "Show Everything"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ...tracevis3d.parameters import declared
        from ...tracevis3d.views import registry

        view = bpy.data.collections.get(self.view) if self.view else settings.active(context)
        defaults = {p.name: p.default for p in declared(registry.find(settings.of(view).view).parameters)}
        names = {"first_depth", "last_depth", "threads"}
        for source in range(len(trace_state.keys_of(view))):
            names |= set(window_time.names_of(view, source) or ())
        return self.rebuilt(view, {name: defaults[name] for name in names if name in defaults}, "")


#: What of a call is shown alone, or hidden.
WHAT = (
    ("FUNCTION", "This Function", "All calls of this function"),
    ("SUBTREE", "This Call", "This call and all below it"),
    ("MODULE", "This Module", "All functions of the same module or class"),
    ("THREAD", "This Thread", "The calls of this thread"),
)


def filter_for(trace: Any, call: int, what: str, others: bool) -> tuple[str, dict[str, str]]:
    """Return name and values of the filter that marks what is meant, or all else.

    Raises
    ------
    UsageError
        If it is in no module.
    """
    from ...tracevis3d.views.element_metadata import words_of

    calls = trace.calls
    function = int(calls.function[call])
    turned = {"others": "yes"} if others else {}
    if what == "SUBTREE":
        return "calls", {"calls": str(call), **turned}
    if what == "THREAD":
        return "thread", {"threads": thread_word(trace, int(calls.thread[call])), **turned}
    if what == "MODULE":
        words = words_of(trace, function)
        name = words.module or words.file
        if not name:
            raise UsageError("The trace doesn't say in which module this function is")
        container = int(trace.functions.container[function])
        pattern = trace.containers.name[container] if container >= 0 else words.file
        return "module", {"pattern": pattern, "kind": "wildcard", **turned}
    name = trace.functions.name[function]
    # Stars and brackets in a name stand for themselves.
    escaped = "".join(f"[{c}]" if c in "*?[" else c for c in name)
    return "name", {"pattern": escaped, "kind": "wildcard", "full": "yes", "case": "yes", **turned}


class _Filtering(OnCall):
    """What *Show Only* and *Hide* have in common: a filter more in the view's stack."""

    what: EnumProperty(items=WHAT, name="What", default="FUNCTION")
    #: Whether all else is left out.
    others: bool

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ...tracevis3d.filters.stack import added

        try:
            view, _, trace, call = self.resolve(context)
            name, values = filter_for(trace, call, self.what, self.others)
            # Callers of what is shown alone are left out too, not all below them.
            what = "subtree" if self.what == "SUBTREE" and not self.others else "call"
            stack = added(filter_stacks.stack_of(view), name, what=what, **values)
        except TraceVisError as error:
            return self.refuse(error)
        return self.rebuilt(view, {}, stack)


class TRACEVIS3D_OT_show_only(_Filtering, bpy.types.Operator):
    """Leave out everything else"""

    bl_idname = "tracevis3d.show_only"
    bl_label = "Show Only"
    bl_options = {"REGISTER", "UNDO"}
    others = True

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        return f"Show only {_words_for(properties.what)}; everything else is left out"


class TRACEVIS3D_OT_hide(_Filtering, bpy.types.Operator):
    """Leave this out"""

    bl_idname = "tracevis3d.hide"
    bl_label = "Hide"
    bl_options = {"REGISTER", "UNDO"}
    others = False

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        return f"Leave out {_words_for(properties.what)}"


def _words_for(what: str) -> str:
    words = next(words for name, _, words in WHAT if name == what)
    return words[0].lower() + words[1:]


class TRACEVIS3D_OT_mark_utility(OnCall, bpy.types.Operator):
    """Count this function among the utilities of the trace, and leave the utilities out"""

    bl_idname = "tracevis3d.mark_utility"
    bl_label = "Mark as Utility"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            view, _, trace, call = self.resolve(context)
            stack = with_utility(
                filter_stacks.stack_of(view), trace.functions.label[int(trace.calls.function[call])]
            )
        except TraceVisError as error:
            return self.refuse(error)
        return self.rebuilt(view, {}, stack)


def with_utility(text: str, label: str) -> str:
    """Return the stack ``text`` in which a function is among the utilities.

    Raises
    ------
    UsageError
        If its name can't stand in a list.
    """
    from dataclasses import replace

    from ...tracevis3d.filters.stack import Applied, as_text, parse

    if "," in label:
        raise UsageError(f"{label}: a name with a comma can't be listed; hide the function instead")
    stack = parse(text) if text else []
    for i, one in enumerate(stack):
        if one.name == "utilities" and one.on:
            names = [name.strip() for name in str(one.values.get("also", "")).split(",") if name.strip()]
            if label not in names:
                stack[i] = replace(one, values={**one.values, "also": ",".join([*names, label])})
            return as_text(stack)
    # Only what was marked: what the measure would find is the filter's own panel's matter.
    return as_text(
        [*stack, Applied("utilities", {"least": "1", "callers": "1000000", "also": label}, what="call")]
    )


class TRACEVIS3D_OT_find_similar(LongOperator, OnCall, bpy.types.Operator):
    """Select all calls of the trace whose call trees hold the same functions, or nearly so"""

    bl_idname = "tracevis3d.find_similar"
    bl_label = "Find Similar"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            view, source, trace, call = self.resolve(context)
        except TraceVisError as error:
            return self.refuse(error)
        key = trace_state.keys_of(view)[source]

        def work(progress: Progress) -> Any:
            return similar(trace, call, progress)

        def finish(context: bpy.types.Context, found: Any) -> set[str]:
            left_out = selection.select(key, found, active=call)
            more = f", of which the first {selection.MOST:,} are selected" if left_out else ""
            self.report({"INFO"}, f"{len(found):,} similar calls{more}")
            return {"FINISHED"}

        return self.carry_out(context, work, finish)


def similar(trace: Any, call: int, progress: Progress) -> Any:
    """Return the calls, int64 (n,), whose sets of functions are nearly that of ``call``."""
    from ...tracevis3d.features.comparison.matching.match import compare

    comparison = compare(trace, trace, tau=round(SIMILAR - 0.001, 3), identity="exact", progress=progress)
    every = np.arange(len(trace.calls))
    row = comparison.similarity.row(int(comparison.unit_of_a(np.array([call]))[0]))
    alike = row.above(comparison.settings.tau)
    return every[alike[comparison.unit_of_b(every)]]


class TRACEVIS3D_OT_compare_from_here(LongOperator, OnCall, bpy.types.Operator):
    """Compare this call with another trace; in a comparison its matches come into focus"""

    bl_idname = "tracevis3d.compare_from_here"
    bl_label = "Compare from Here"
    bl_options = {"REGISTER", "UNDO"}

    other: StringProperty(
        name="Other Trace",
        description="Hash of the trace to compare with; empty: this view's",
        options={"SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            view, source, trace, call = self.resolve(context)
            keys = trace_state.keys_of(view)
            group = settings.require_parameters(view)
            if "focus" in group.bl_rna.properties and len(keys) > 1 and not self.other:
                window = window_time.around(trace, call, 0.25)
                wanted: dict[str, Any] = {"focus": focus_word(trace, call, source, len(keys))}
                wanted |= window_time.values_for(view, {source: window})
                if source == 0 and len(keys) == 2:
                    # The other side shows where the best matches of what is seen here are.
                    wanted |= {"start_b": "", "end_b": "", "moment": "matches"}
                return self.rebuilt(view, wanted)
            other = sources.loaded(self.other)
            if other is None:
                raise UsageError("Read the trace to compare with first: File > Import > Execution Trace")
        except TraceVisError as error:
            return self.refuse(error)
        frame, style = settings.frame_of(context.scene), settings.of(view).style
        low, high = window_time.around(trace, call, 0.25)
        times = {"start_a": typed_time(low), "end_a": typed_time(high)}
        label = focus_word(trace, call, 0, 2)

        def work(progress: Progress) -> Any:
            from ...tracevis3d import api

            figure = api.view("compare", trace, other, focus=label, moment="matches", **times)
            return figure, make_view.drawing_of(figure, frame, progress)

        def finish(context: bpy.types.Context, made: Any) -> set[str]:
            figure, drawing = made
            make_view.new_view(context, [trace, other], figure, drawing, style, "THIS")
            return {"FINISHED"}

        return self.carry_out(context, work, finish)


def focus_word(trace: Any, call: int, source: int, traces: int) -> str:
    """Return how the parameter ``focus`` names a call; in a fan of traces, its function."""
    if traces == 2:
        return f"{'AB'[source]}:{call}"
    functions, calls = trace.functions, trace.calls
    label = functions.label[int(calls.function[call])]
    if ">" in label:
        label = label.replace(">", "*")
    return label


class TRACEVIS3D_OT_copy_as_python(OnCall, bpy.types.Operator):
    """Copy a script that draws this view as it is now, with what is selected, and renders it"""

    bl_idname = "tracevis3d.copy_as_python"
    bl_label = "Copy as Python"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        view = bpy.data.collections.get(self.view) if self.view else settings.require_active(context)
        context.window_manager.clipboard = script.script_of(view, context.scene)
        self.report({"INFO"}, f"A script that draws {view.name} is on the clipboard")
        return {"FINISHED"}


class TRACEVIS3D_OT_select_function(OnCall, bpy.types.Operator):
    """Select all calls of this function"""

    bl_idname = "tracevis3d.select_function"
    bl_label = "Select All of This Function"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            view, source, trace, call = self.resolve(context)
        except TraceVisError as error:
            return self.refuse(error)
        found = np.flatnonzero(trace.calls.function == trace.calls.function[call])
        left_out = selection.select(trace_state.keys_of(view)[source], found, active=call)
        more = f"; the first {selection.MOST:,} of them are selected" if left_out else ""
        self.report(
            {"INFO"},
            f"{len(found):,} calls of {trace.functions.label[int(trace.calls.function[call])]}{more}",
        )
        return {"FINISHED"}


_CLASSES = (
    TRACEVIS3D_OT_zoom_to_subtree,
    TRACEVIS3D_OT_show_all,
    TRACEVIS3D_OT_show_only,
    TRACEVIS3D_OT_hide,
    TRACEVIS3D_OT_mark_utility,
    TRACEVIS3D_OT_find_similar,
    TRACEVIS3D_OT_compare_from_here,
    TRACEVIS3D_OT_copy_as_python,
    TRACEVIS3D_OT_select_function,
)

register, unregister = bpy.utils.register_classes_factory(_CLASSES)
