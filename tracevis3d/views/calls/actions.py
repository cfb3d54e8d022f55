"""Actions on a call in any view: zoom to it, show it alone, hide it, select similar calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ...errors import UsageError
from ...parameters import declared
from ...trace.model import Trace
from ...trace.names import label_of_call, word_of_thread, words_of
from ...units import counted
from ..actions import Action, Change, Choice, State
from ..time_window import Window, around, bounded, window_parameters, window_values

#: What can be shown alone or hidden: name, title, and description.
WHAT = (
    ("FUNCTION", "This Function", "all calls of this function"),
    ("SUBTREE", "This Call", "this call and all below it"),
    ("MODULE", "This Module", "all functions of the same module or class"),
    ("THREAD", "This Thread", "the calls of this thread"),
)


def zoom_to_subtree(state: State) -> Change:
    """Return the parameters that show only the time of a call, from its depth downwards, and its thread.

    Parameters
    ----------
    state : State
        With the call that is meant.

    Returns
    -------
    Change

    Raises
    ------
    UsageError
        If the view has no window of time.
    """
    trace, calls = state.trace, state.trace.calls
    low = int(calls.start[state.call])
    window = bounded(trace, low, max(int(calls.end[state.call]), low + 1))
    wanted: dict[str, Any] = dict(window_values(state.view.parameters, {state.source: window}))
    if not wanted:
        raise UsageError("This view has no time window")
    if len(state.traces) == 1:
        known = {field.name for field in fields(state.view.parameters)}
        if "first_depth" in known:
            wanted["first_depth"] = int(calls.depth[state.call])
        if "threads" in known:
            wanted["threads"] = word_of_thread(trace, int(calls.thread[state.call]))
    return Change(wanted)


def show_all(state: State) -> Change:
    """Return the parameters that show all of the time, depths and threads, and no filters."""
    names = {"first_depth", "last_depth", "threads"}
    for source in range(len(state.traces)):
        names |= set(window_parameters(state.view.parameters, source) or ())
    usual = {p.name: p.default for p in declared(state.view.parameters) if p.name in names}
    return Change(usual, filters="")


def filter_for(trace: Trace, call: int, what: str, others: bool) -> tuple[str, dict[str, str]]:
    """Return name and values of the filter that marks what is meant, or everything else.

    Parameters
    ----------
    trace : Trace
    call : int
    what : str
        One of :data:`WHAT`.
    others : bool
        It marks everything else.

    Returns
    -------
    (str, dict of str to str)
        The filter's name, and its parameters as texts.

    Raises
    ------
    UsageError
        If the call is in no module.
    """
    calls, functions = trace.calls, trace.functions
    function = int(calls.function[call])
    turned = {"others": "yes"} if others else {}
    if what == "SUBTREE":
        return "calls", {"calls": str(call), **turned}
    if what == "THREAD":
        return "thread", {"threads": word_of_thread(trace, int(calls.thread[call])), **turned}
    if what == "MODULE":
        words = words_of(trace, function)
        if not (words.module or words.file):
            raise UsageError("The trace doesn't say in which module this function is")
        container = int(functions.container[function])
        pattern = trace.containers.name[container] if container >= 0 else words.file
        return "module", {"pattern": pattern, "kind": "wildcard", **turned}
    # Stars and brackets in a name match themselves.
    escaped = "".join(f"[{c}]" if c in "*?[" else c for c in functions.name[function])
    return "name", {"pattern": escaped, "kind": "wildcard", "full": "yes", "case": "yes", **turned}


def _filtering(others: bool) -> Callable[[State], Change]:
    def run(state: State) -> Change:
        from ...filters.stack import added

        what = state.choice or WHAT[0][0]
        name, values = filter_for(state.trace, state.call, what, others)
        # Callers of calls that are shown alone are left out too, but not everything below them.
        marked = "subtree" if what == "SUBTREE" and not others else "call"
        return Change(filters=added(state.filters, name, what=marked, **values))

    return run


def mark_utility(state: State) -> Change:
    """Return the filter stack in which a call's function is among the utilities.

    Parameters
    ----------
    state : State
        With the call that is meant.

    Returns
    -------
    Change

    Raises
    ------
    UsageError
        If its name can't stand in a list.
    """
    from ...filters.stack import Applied, as_text, parse

    label = label_of_call(state.trace, state.call)
    if "," in label:
        raise UsageError(f"{label}: a name with a comma can't be listed; hide the function instead")
    stack = parse(state.filters) if state.filters else []
    for i, one in enumerate(stack):
        if one.name == "utilities" and one.on:
            names = [name.strip() for name in str(one.values.get("also", "")).split(",") if name.strip()]
            if label not in names:
                stack[i] = replace(one, values={**one.values, "also": ",".join([*names, label])})
            return Change(filters=as_text(stack))
    # Only what was marked; what the measure finds is set in the panel of filters.
    marked = Applied("utilities", {"least": "1", "callers": "1000000", "also": label}, what="call")
    return Change(filters=as_text([*stack, marked]))


def select_function(state: State) -> Change:
    """Return the calls of a call's function."""
    calls = state.trace.calls
    function = int(calls.function[state.call])
    found = np.flatnonzero(calls.function == function)
    said = f"{counted(len(found), 'call')} of {state.trace.functions.label[function]}"
    return Change(selected=found, message=said)


def has_times(state: State) -> bool:
    """Return whether a view has windows of time, and an element calls or times of its own."""
    element = state.element
    if element is None or window_parameters(state.view.parameters, element.source) is None:
        return False
    return bool(element.calls) or (element.kind == "cluster" and element.span is not None)


def zoom_in_time(state: State) -> Change:
    """Return the windows that show what was met, and what it is matched with."""
    element = state.element
    assert element is not None
    windows: dict[int, Window | None] = {}
    if element.kind == "cluster" and element.span is not None:
        low, high = element.span
        room = 0.04 * (high - low)
        windows[element.source] = bounded(state.traces[element.source], low - room, high + room)
    else:
        for source, call in {**state.matched, **element.calls}.items():
            windows[source] = around(state.traces[source], call)
    known = {s: w for s, w in windows.items() if window_parameters(state.view.parameters, s) is not None}
    return Change(windows=known, message="Zoom in Time")


def select_time(state: State) -> Change:
    """Return the range of time that was dragged along, selected."""
    return Change(span=state.span, message="Select Time Range")


CALL_ACTIONS = (
    Action(
        "zoom_to_subtree",
        "Zoom to Subtree",
        "Show only the time of this call, from its depth downwards, and its thread",
        zoom_to_subtree,
        icon="VIEWZOOM",
    ),
    Action(
        "show_all",
        "Show Everything",
        "Show the whole trace again: all of its time, depths and threads, without filters",
        show_all,
        icon="FULLSCREEN_EXIT",
        about="view",
    ),
    Action(
        "show_only",
        "Show Only",
        "Leave out everything else",
        _filtering(others=True),
        icon="HIDE_OFF",
        choices=tuple(
            Choice(name, title, f"Show only {words}; everything else is left out")
            for name, title, words in WHAT
        ),
        group=1,
    ),
    Action(
        "hide",
        "Hide",
        "Leave this out",
        _filtering(others=False),
        icon="HIDE_ON",
        choices=tuple(Choice(name, title, f"Leave out {words}") for name, title, words in WHAT),
        group=1,
    ),
    Action(
        "mark_utility",
        "Mark as Utility",
        "Count this function among the utilities of the trace, and leave the utilities out",
        mark_utility,
        icon="TOOL_SETTINGS",
        group=1,
    ),
    Action(
        "select_function",
        "Select All of This Function",
        "Select all calls of this function",
        select_function,
        icon="RESTRICT_SELECT_OFF",
        group=2,
    ),
    Action(
        "zoom_in_time",
        "Zoom in Time",
        "Show the time of this call, and of what it is matched with",
        zoom_in_time,
        triggers=("double click",),
        applies=has_times,
    ),
    Action(
        "select_time",
        "Select Time Range",
        "Select the range of time that the mouse was dragged along",
        select_time,
        triggers=("drag",),
        about="view",
    ),
)


def with_actions(*own: Action, shared: Iterable[Action] = CALL_ACTIONS) -> tuple[Action, ...]:
    """Return a view's own actions, and of the shared ones those whose names they don't take.

    Parameters
    ----------
    *own : Action
        They go first.
    shared : iterable of Action
        Those of all views with calls, by default.

    Returns
    -------
    tuple of Action
    """
    names = {action.name for action in own}
    return (*own, *(action for action in shared if action.name not in names))
