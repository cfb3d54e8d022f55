"""Pulling a view apart by threads, levels or modules, and undoing that."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import UsageError
from ...parameters import declared
from ..actions import Action, Change, Choice, State

_SECONDS, _PATIENCE = 0.8, 0.5
_TOGETHER = "together"
#: What there is to pull apart: its line in the submenu, and its tooltip.
_WAYS = {
    "thread": ("Threads", "Move the threads away from each other"),
    "level": ("Levels", "Move the levels of the call stack away from each other"),
    "module": ("Modules", "Move each colour forward, one step further than the one before"),
    _TOGETHER: ("Together Again", "Put everything back in its place"),
}


def pull_apart(ways: Mapping[str, Mapping[str, float]]) -> Action:
    """Return the action that pulls a view apart.

    Parameters
    ----------
    ways : dict
        ``"thread"``, ``"level"`` or ``"module"`` -> values of the view's parameters, which are numbers, where
        it is pulled apart in that way.

    Returns
    -------
    Action
        Its choices are all ways, of which a view may not have each, and one that undoes them.
    """
    names = sorted({name for values in ways.values() for name in values})

    def run(state: State) -> Change:
        if state.choice not in (*ways, _TOGETHER):
            those = " or ".join(_WAYS[way][0].lower() for way in ways)
            raise UsageError(f"{_WAYS[state.choice][0]} of this view can't be pulled apart: try {those}")
        if state.choice == "thread" and len(state.trace.threads) < 2:
            raise UsageError("The trace has one thread: there is nothing to pull apart")
        if state.choice == "thread" and state.parameters.get("threads") == "busiest 1":
            raise UsageError(
                "The view shows one thread: set its parameter threads to 'all', or to 'busiest 4'"
            )
        usual = {p.name: float(p.default) for p in declared(state.view.parameters) if p.name in names}
        goal = usual if state.choice == _TOGETHER else {**ways[state.choice]}
        begin = {name: float(state.parameters[name]) for name in goal}
        return Change(
            goal,
            between=lambda share: {name: begin[name] + (goal[name] - begin[name]) * share for name in goal},
            seconds=_SECONDS,
            patience=_PATIENCE,
            message="Pull Apart" if state.choice != _TOGETHER else "Put Together",
        )

    return Action(
        "pull_apart",
        "Pull Apart",
        "Make room between parts of the picture",
        run,
        icon="FULLSCREEN_ENTER",
        about="view",
        # One operator serves all views: each has all choices.
        choices=tuple(Choice(way, *words) for way, words in _WAYS.items()),
    )
