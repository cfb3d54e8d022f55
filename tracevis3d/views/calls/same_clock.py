"""Another view of the same trace and the same time, above the one that is shown: both on one clock."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import UsageError
from ...trace.model import Trace
from ..actions import Action, Change, NewFigure, State
from ..time_window import window_parameters


def shown_above(name: str, label: str, view: str, sentence: str, missing: Callable[[Trace], str]) -> Action:
    """Return the action that shows a trace in another view, too, above the one in which it is taken.

    Parameters
    ----------
    name : str
        Of the action.
    label, sentence : str
        For menus.
    view : str
        The word of the other view.
    missing : callable
        ``missing(trace)``: why there would be nothing to show, and what to do; empty: there is something.

    Returns
    -------
    Action
        The other view has the same window of time, from ``start`` to ``end``.
    """

    def run(state: State) -> Change:
        if state.view.name == view:
            raise UsageError(f"{label}: this is it")
        if reason := missing(state.trace):
            raise UsageError(reason)
        names = window_parameters(state.view.parameters, state.source)
        shown = [state.parameters[one] for one in names] if names is not None else ["", ""]
        return Change(figure=NewFigure(view, (state.trace,), dict(zip(("start", "end"), shown)), above=True))

    def offered(name: str, trace: Trace) -> bool:
        return name != view and not missing(trace)

    return Action(
        name, label, sentence, run, icon="TIME", offered=offered, about="view", takes_time=True, group=3
    )  # fmt: skip
