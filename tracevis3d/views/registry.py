"""The registry of views: those of this package, and those of others by entry points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..plugins import Registry
from .actions import Action
from .checks import check
from .everywhere.complete import complete
from .own import OWN
from .view import LiveForm, PhaseTimes, View

if TYPE_CHECKING:
    from ..live.growing import GrowingTrace
    from ..live.stream.alarms import Watcher
    from ..trace.model import Trace

#: Name of a view -> module of this package that defines ``VIEW``.
_OWN = {name: own.module for name, own in OWN.items()}


def _backdrop() -> Any:
    """Return what draws tracks behind views: that of the first view that has it."""
    return next(view.backdrop for view in _views.each() if view.backdrop is not None)


_views = Registry(
    "view", View, __package__, _OWN, "VIEW", "tracevis3d.views", check, lambda view: complete(view, _backdrop)
)
names, find, loadable, has = _views.names, _views.find, _views.loadable, _views.__contains__


def others() -> list[str]:
    """Return the names of the views that plug-ins add."""
    return sorted(name for name in _views.others if name not in _OWN)


def suited(trace: Trace) -> str:
    """Return the name of the view that suits a trace best."""
    return max((view for view in loadable() if view.traces[0] == 1), key=lambda view: view.suits(trace)).name


def phases(trace: Trace) -> PhaseTimes:
    """Return the phases of a trace's run, as the first view that finds phases does.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    PhaseTimes
    """
    return next(view.phases for view in _views.each() if view.phases is not None)(trace)


def actions_of(view: View) -> tuple[Action, ...]:
    """Return the actions of a view: its own, and those that other views offer for calls of any view."""
    found = {action.name: action for other in loadable() for action in other.offers}
    found |= {action.name: action for action in view.actions}
    return tuple(sorted(found.values(), key=lambda action: action.group))


def comparing(traces: int) -> View:
    """Return the view that has findings about this many traces together.

    Parameters
    ----------
    traces : int
        How many.

    Returns
    -------
    View

    Raises
    ------
    UsageError
        If there is none.
    """
    for view in _views.each():
        if view.findings is not None and view.findings.traces == traces:
            return view
    raise UsageError(f"no view can show {traces} traces together")


def live_forms() -> Mapping[str, LiveForm]:
    """Return the live forms that there are, by name of the view."""
    return {view.name: view.live for view in loadable() if view.live is not None}


def watchers(growing: GrowingTrace) -> list[Watcher]:
    """Return the watchers of all views, which raise alarms about a growing trace.

    Parameters
    ----------
    growing : GrowingTrace

    Returns
    -------
    list of Watcher
    """
    names = [*(name for name, own in OWN.items() if own.alarms), *others()]
    forms = [find(name).live for name in names]
    return [form.alarms(growing) for form in forms if form is not None and form.alarms is not None]


def live_form(name: str) -> LiveForm:
    """Return the live form of the view called ``name``.

    Parameters
    ----------
    name : str
        That of the view.

    Returns
    -------
    LiveForm

    Raises
    ------
    UsageError
        If there is no such view, or it has none.
    """
    forms = live_forms()
    if name not in forms:
        raise UsageError(f"{name}: no live view: choose one of {', '.join(forms)}")
    return forms[name]
