"""The actions that views declare, as operators: each runs one action, with undo."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ...tracevis3d.errors import TraceVisError, UsageError
from ...tracevis3d.progress import Progress, part
from ...tracevis3d.views import registry as views
from ...tracevis3d.views.actions import NOT_IN_MEMORY, Action, Change, State
from ..mixin import OperatorMixin
from ..state import filter_stacks, selection, settings, sources, trace_state
from ..task import LongOperator, idle
from ..views import make_view
from .motion import transition, undoing, window_time


def declared_of(view: bpy.types.Collection) -> tuple[Action, ...]:
    """Return what can be done with a view; nothing where it is not installed."""
    try:
        return views.actions_of(views.find(settings.of(view).view))
    except TraceVisError:
        return ()


def view_with(scene: bpy.types.Scene, trigger: str) -> bpy.types.Collection | None:
    """Return the scene's active view if it declares something for a trigger, or else the first that does."""
    having = [
        view
        for view in settings.all_in(scene)
        if any(trigger in action.triggers for action in declared_of(view))
    ]
    active = settings.active_in(scene)
    return active if active in having else next(iter(having), None)


def state_of(view: bpy.types.Collection, traces_too: bool = True, **about: Any) -> State:
    """Return the state that actions on a view start from; ``about`` are fields of it.

    Raises
    ------
    UsageError
        If its traces are not in memory; without ``traces_too`` the state has none then.
    """
    traces = sources.in_memory(view)
    if traces is None and traces_too:
        raise UsageError(NOT_IN_MEMORY)
    stored = settings.values(view)
    chosen = {source: selection.selected(key).calls for source, key in enumerate(trace_state.keys_of(view))}
    return State(
        views.find(settings.of(view).view),
        tuple(traces or ()),
        {**stored, **transition.shown(view)},
        filter_stacks.stack_of(view),
        selection=chosen,
        goal={**stored, **transition.goal(view)},
        **about,
    )


def select(view: bpy.types.Collection, state: State, change: Change) -> str:
    """Select what a change selects; return its message."""
    message = change.message
    if change.selected is not None:
        key = trace_state.keys_of(view)[state.source]
        if selection.select(key, change.selected, active=state.call):
            message += f"; the first {selection.MOST:,} of them are selected"
    return message


class OnCall(OperatorMixin):
    """An operator about one call of one trace, in one view."""

    # Values of the last run don't apply to this one: Blender must not store them.
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

    def resolve_view(self, context: bpy.types.Context) -> bpy.types.Collection:
        """Return the view.

        Raises
        ------
        UsageError
            If there is no such view.
        """
        view = bpy.data.collections.get(self.view) if self.view else settings.active(context)
        if view is None or not settings.is_view(view):
            raise UsageError(f"There is no view {self.view!r} any more")
        return view

    def resolve(self, context: bpy.types.Context) -> tuple[Any, int, Any, int]:
        """Return the view, which of its traces is meant, that trace, and the call.

        Raises
        ------
        UsageError
            If there is no such view or call, or the trace is not in memory.
        """
        view = self.resolve_view(context)
        keys = trace_state.keys_of(view)
        if self.trace and self.trace not in keys:
            raise UsageError(f"{view.name} doesn't show that trace")
        source = keys.index(self.trace) if self.trace else 0
        trace = sources.loaded(keys[source])
        if trace is None:
            raise UsageError(NOT_IN_MEMORY)
        call = int(self.call) if self.call.isdecimal() else selection.selected(keys[source]).active
        if not 0 <= call < len(trace.calls):
            raise UsageError("No call is selected" if not self.call else f"There is no call {self.call}")
        return view, source, trace, call

    def refuse(self, error: TraceVisError) -> set[str]:
        """Say why not."""
        self.report({"ERROR"}, str(error))
        return {"CANCELLED"}

    def rebuilt(self, view: Any, wanted: Mapping[str, Any], filters: str | None = None) -> set[str]:
        """Give the view other parameters, or filters, and draw it anew; nothing changes if it can't be."""
        before = settings.values(view)
        stack = filter_stacks.stack_of(view)
        with settings.quietly():
            if filters is not None:
                settings.of(view).filters = filters
        settings.assign(view, dict(wanted))
        traces = sources.in_memory(view)
        try:
            if traces is None:
                raise UsageError(NOT_IN_MEMORY)
            scene = window_time.scene_of(view)
            figure = make_view.figure_of(view, traces)
            make_view.show(scene, view, traces, figure, figure.drawing(settings.frame_of(scene)))
        except TraceVisError as error:
            settings.assign(view, before)
            with settings.quietly():
                settings.of(view).filters = stack
            return self.refuse(error)
        return {"FINISHED"}


#: Each returns a context around a change of a view, such as one that keeps all of it in sight.
around: list[Callable[[bpy.types.Collection], AbstractContextManager[None]]] = []


class OnAction(LongOperator, OnCall):
    """An operator that runs an action which views declare."""

    #: Its name and its properties.
    action: Action
    what: str
    other: str

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            view, state, action = self._start(context)
        except TraceVisError as error:
            return self.refuse(error)
        name, style, frame = view.name, settings.of(view).style, settings.frame_of(context.scene)

        def work(progress: Progress) -> Any:
            change = action.run(replace(state, progress=part(progress, 0.0, 0.5)))
            made = change.figure
            if made is None:
                return change, None
            figure = make_view.figure_with(made.view, list(made.traces), dict(made.parameters), "")
            return change, (figure, make_view.drawing_of(figure, frame, part(progress, 0.5, 1.0)))

        def finish(context: bpy.types.Context, result: Any) -> set[str]:
            # Looked up again: undo may have replaced it since the work began.
            view = bpy.data.collections.get(name)
            if view is None or not settings.is_view(view):
                return self.refuse(UsageError("The view was removed meanwhile"))
            change, made = result
            if message := select(view, state, change):
                self.report({"INFO"}, message)
            if made is not None:
                figure, drawing = made
                if change.figure.above:
                    context.scene.tracevis3d_direction = "STACK"
                make_view.new_view(context, list(change.figure.traces), figure, drawing, style, "THIS")
                if change.figure.above:
                    context.scene.tracevis3d_overview = True
            shows_way = change.between is not None and not action.takes_time and change.filters is None
            if shows_way and self._may_wait(context):
                # It ends later, in a step of its own that can be undone: this one changes nothing yet.
                transition.start(view, change, lambda: undoing.push(bpy.context, change.message))
                return {"INTERFACE"}
            if change.parameters or change.filters is not None:
                with ExitStack() as contexts:
                    for context_of in around:
                        contexts.enter_context(context_of(view))
                    return self.rebuilt(view, change.parameters, change.filters)
            return {"FINISHED"}

        if action.takes_time:
            return self.carry_out(context, work, finish)
        try:
            return finish(context, work(state.progress))
        except TraceVisError as error:
            return self.refuse(error)

    def _start(self, context: bpy.types.Context) -> tuple[bpy.types.Collection, State, Action]:
        """Return the view, the state, and the action as the view declares it.

        Raises
        ------
        UsageError
            If the view can't do that, or there is nothing that it could be done with.
        """
        if self.action.about == "call":
            view, source, _, call = self.resolve(context)
        else:
            view, source, call = self.resolve_view(context), 0, -1
        action = next((one for one in declared_of(view) if one.name == self.action.name), None)
        if action is None:
            raise UsageError(f"{self.action.label}: this view can't do that")
        about: dict[str, Any] = {"choice": self.what} if self.action.choices else {}
        if self.action.asks_for_trace:
            about["other"] = sources.loaded(self.other)
        return view, state_of(view, source=source, call=call, **about), action


def _described(cls: type, _context: bpy.types.Context, properties: Any) -> str:
    action: Action = cls.action  # type: ignore[attr-defined]
    return next((choice.sentence for choice in action.choices if choice.name == properties.what), "")


def _operator(action: Action) -> type:
    """Return the operator of an action."""
    properties: dict[str, Any] = {}
    members = {
        "bl_idname": f"tracevis3d.{action.name}",
        "bl_label": action.label,
        "bl_options": {"REGISTER", "UNDO"},
        "__doc__": action.sentence,
        "__annotations__": properties,
        "action": action,
    }
    if action.choices:
        items = [(choice.name, choice.title, choice.sentence) for choice in action.choices]
        properties["what"] = EnumProperty(items=items, name="What", default=items[0][0])
        members["description"] = classmethod(_described)
    if action.asks_for_trace:
        properties["other"] = StringProperty(
            name="Other Trace", description="Hash of the other trace", options={"SKIP_SAVE"}
        )
    return type(f"TRACEVIS3D_OT_{action.name}", (OnAction, bpy.types.Operator), members)


_registered: list[type] = []


def register() -> None:
    """Register an operator for each action that an entry of a menu leads to."""
    found: dict[str, Action] = {}
    for view in views.loadable():
        for action in views.actions_of(view):
            known = found.get(action.name)
            # Of those of one name the operator has all properties that any of them needs.
            if "menu" in action.triggers and (known is None or action.asks_for_trace):
                found[action.name] = action
    for action in found.values():
        _registered.append(_operator(action))
        bpy.utils.register_class(_registered[-1])


def unregister() -> None:
    """Remove the operators."""
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
