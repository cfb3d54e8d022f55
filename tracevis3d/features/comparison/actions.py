"""Actions of the comparison on a call of any view: find similar calls, and compare it with another trace."""

from __future__ import annotations

import numpy as np

from ...errors import UsageError
from ...trace.model import Trace
from ...trace.names import label_of_call
from ...units import counted, typed_time
from ...views.actions import Action, Change, NewFigure, Range, State
from ...views.time_window import around, bounded, window_values
from .matching.match import compare
from .view.match_settings import comparing

#: Minimum share of common functions of similar call trees.
SIMILAR = 0.8
#: Share of a call's duration shown on either side of it.
_BESIDE = 0.25
#: Share of an overview's slab that counts as its end, and minimum length of a slab as a share of the
#: overview.
_END, _LEAST = 0.15, 0.002


def find_similar(state: State) -> Change:
    """Return the calls of a trace whose sets of functions are nearly that of a call."""
    trace = state.trace
    tau = round(SIMILAR - 0.001, 3)
    comparison = compare(trace, trace, tau=tau, identity="exact", progress=state.progress)
    every = np.arange(len(trace.calls))
    row = comparison.similarity.row(int(comparison.unit_of_a(np.array([state.call]))[0]))
    alike = row.above(comparison.settings.tau)
    found = every[alike[comparison.unit_of_b(every)]]
    return Change(selected=found, message=counted(len(found), "similar call"))


def compare_with(state: State) -> Change:
    """Return a comparison with another trace that has a call in focus.

    Parameters
    ----------
    state : State
        With the call, and the other trace.

    Returns
    -------
    Change

    Raises
    ------
    UsageError
        If there is no other trace.
    """
    if state.other is None:
        raise UsageError("Import the trace to compare with first: File > Import > Execution Trace")
    low, high = around(state.trace, state.call, _BESIDE)
    wanted = {
        "focus": focus_word(state.trace, state.call, 0, 2),
        "moment": "matches",
        "start_a": typed_time(low),
        "end_a": typed_time(high),
    }
    return Change(figure=NewFigure("compare", (state.trace, state.other), wanted))


def focus(state: State) -> Change:
    """Return the parameters that bring a call and its matches into the focus of a comparison."""
    if state.other is not None:
        return compare_with(state)
    window = around(state.trace, state.call, _BESIDE)
    wanted = {"focus": focus_word(state.trace, state.call, state.source, len(state.traces))}
    wanted |= window_values(state.view.parameters, {state.source: window})
    if state.source == 0 and len(state.traces) == 2:
        # The other side shows the best matches of the visible part.
        wanted |= {"start_b": "", "end_b": "", "moment": "matches"}
    return Change(wanted)


def focus_word(trace: Trace, call: int, source: int, traces: int) -> str:
    """Return how the parameter ``focus`` names a call; in a fan of traces, its function.

    Parameters
    ----------
    trace : Trace
    call : int
        Its index.
    source : int
        Which of the view's traces it is in.
    traces : int
        How many the view has.

    Returns
    -------
    str
    """
    if traces == 2:
        return f"{'AB'[source]}:{call}"
    return label_of_call(trace, call).replace(">", "*")


def is_slab(state: State) -> bool:
    """Return whether the slab is dragged that marks, in the overview, the part that a wall shows."""
    return state.element is not None and state.element.kind == "window"


def move_window(state: State) -> Change:
    """Return the window that the slab was dragged to."""
    assert state.span is not None
    return Change(windows={state.source: bounded(state.trace, *state.span)}, message="Time Window")


def dragged(slab: Range, whole: Range, begin: float, now: float) -> Range:
    """Return the place of a slab on ``whole`` that is dragged from ``begin`` to ``now``.

    Parameters
    ----------
    slab : Range
        The part of the overview that the wall shows.
    whole : Range
        All of the overview.
    begin, now : float
        Places along it.

    Returns
    -------
    Range
        At least a small part of ``whole``, and within it.
    """
    low, high = slab
    least = _LEAST * (whole[1] - whole[0])
    if begin < low + _END * (high - low):
        return min(max(now, whole[0]), high - least), high
    if begin > high - _END * (high - low):
        return low, max(min(now, whole[1]), low + least)
    by = min(max(now - begin, whole[0] - low), whole[1] - high)
    return low + by, high + by


def align_here(state: State) -> Change:
    """Return the parameter that makes a call and its match start together, or, if they do, that ends this.

    Parameters
    ----------
    state : State
        With the call. Without a drawn match of it, the most similar call of the other trace is taken, of
        several that which lies nearest to it.

    Returns
    -------
    Change

    Raises
    ------
    UsageError
        If the view is not a comparison of two traces, or the call has no match.
    """
    if len(state.traces) != 2:
        raise UsageError("Only two traces can be aligned")
    own = state.element.calls if state.element is not None else {}
    both = {**state.matched, **own, state.source: state.call}
    if len(both) < 2:
        both[1 - state.source] = _nearest_match(state)
    word = f"A:{both[0]}=B:{both[1]}"
    label = label_of_call(state.trace, state.call)
    if state.parameters.get("align") == word:
        return Change({"align": ""}, message=f"{label} is no longer aligned")
    return Change({"align": word}, message=f"{label} is aligned in both traces")


def _nearest_match(state: State) -> int:
    """Return the most similar call of the other trace; of equals the one at the nearest share of the run."""
    comparison = compare(*state.traces, **comparing(dict(state.parameters)), progress=state.progress)
    calls = [np.array([state.call]), np.array([state.call])]
    calls[1 - state.source] = np.arange(len(state.traces[1 - state.source].calls))
    # Calls of one unit are equally similar: one of each is requested.
    other = (comparison.unit_of_a, comparison.unit_of_b)[1 - state.source](calls[1 - state.source])
    first = np.unique(other, return_index=True)[1]
    asked = [calls[0][first], calls[1]] if state.source == 1 else [calls[0], calls[1][first]]
    found = comparison.between(asked[0], asked[1])
    if not len(found.similarity):
        raise UsageError(f"{label_of_call(state.trace, state.call)}: this call has no match")
    best = (found.b if state.source == 0 else found.a)[np.argmax(found.similarity)]
    alike = np.flatnonzero(other == other[best])
    share = [t.calls.start / max(t.span_ns, 1) for t in state.traces]
    apart = np.abs(share[1 - state.source][alike] - share[state.source][state.call])
    return int(alike[np.argmin(apart)])


def has_match(state: State) -> bool:
    """Return whether an element is a call of one of two traces, so that it may have a match."""
    element = state.element
    return element is not None and len(state.traces) == 2 and element.kind != "cluster" and state.call >= 0


MOVE_WINDOW = Action("move_window", "Move the Window", "Move what the wall shows, or its ends", move_window,
                     triggers=("drag",), applies=is_slab, drag=dragged, about="view")  # fmt: skip
ALIGN_HERE = Action(
    "align_here",
    "Align Here",
    "Move B so that this call and its match start together; again: undo it",
    align_here,
    icon="ALIGN_LEFT",
    triggers=("menu", "ctrl click"),
    applies=has_match,
    group=2,
)
FIND_SIMILAR = Action(
    "find_similar",
    "Find Similar",
    "Select all calls of the trace with the same functions in their subtrees, or nearly the same",
    find_similar,
    icon="DUPLICATE",
    takes_time=True,
    group=2,
)
COMPARE_FROM_HERE = Action(
    "compare_from_here",
    "Compare from Here",
    "Compare this call with another trace; in a comparison its matches come into focus",
    compare_with,
    icon="ARROW_LEFTRIGHT",
    asks_for_trace=True,
    takes_time=True,
    group=2,
)
FOCUS = Action(
    "compare_from_here",
    "Compare from Here",
    "Bring this call and its matches into focus",
    focus,
    icon="ARROW_LEFTRIGHT",
    group=2,
)
