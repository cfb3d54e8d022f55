"""Views with what all of them can do: rules that rename functions, and tracks behind those along time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, make_dataclass, replace
from typing import Any

from ...drawing.frame import Frame
from ...drawing.primitives import Drawing
from ...errors import UsageError
from ...parameters import parameter
from ...progress import Progress
from ...trace.model import Trace
from ..view import View
from .behind import with_wall
from .renaming import with_names

#: The heading that these parameters stand under.
GROUP = "All views"
#: Views by the id of what they were declared as: the class of their parameters is made once.
_done: dict[int, tuple[View, View]] = {}


def complete(view: View, backdrop: Callable[[], Any]) -> View:
    """Return a view that also takes the parameters of all views.

    Parameters
    ----------
    view : View
        As it is declared.
    backdrop : callable
        Returns what draws tracks behind it: :attr:`.view.View.backdrop` of the view that has one.

    Returns
    -------
    View
        The same, if it declares these parameters itself.
    """
    if id(view) not in _done:
        _done[id(view)] = view, _completed(view, backdrop)
    return _done[id(view)][1]


def _completed(view: View, backdrop: Callable[[], Any]) -> View:
    known = {field.name for field in fields(view.parameters)}
    more: list[Any] = []
    if "rewrite" not in known:
        more.append(("rewrite", str, parameter(
            "", "Rules that rename functions: pairs of a regular expression and what replaces it, such as "
            '[["^_+", ""]]; functions of one file and class that then have one name are one', group=GROUP,
        )))  # fmt: skip
    if view.runs_right and "behind" not in known:
        more.append(("behind", str, parameter(
            "", "What stands behind it, on the same axis of time: mural, or tracks with commas between them, "
            "such as running, waits, memory or the name of a counter; empty: nothing", group=GROUP,
        )))  # fmt: skip
    if not more:
        return view
    parameters = make_dataclass(
        view.parameters.__name__, more, bases=(view.parameters,), frozen=True,
        namespace={"__doc__": view.parameters.__doc__, "__module__": view.parameters.__module__},
    )  # fmt: skip

    def draw(traces: Sequence[Trace], p: Any, frame: Frame, progress: Progress) -> Drawing:
        named = with_names(traces, p)
        drawing = view.draw(named, p, frame, progress)
        what = getattr(p, "behind", "").strip()
        if not what:
            return drawing
        if len(traces) > 1:
            raise UsageError(f"behind={what}: tracks stand behind one trace, not {len(traces)}")
        return with_wall(drawing, named[0], what, frame, backdrop())

    def detail(traces: Sequence[Trace], p: Any, frame: Frame) -> Any:
        assert view.level_of_detail is not None
        return view.level_of_detail(with_names(traces, p), p, frame)

    def describe(element: Any, traces: Sequence[Any], p: Any = None) -> Any:
        return view.describe(element, with_names(traces, p), p)

    return replace(
        view, parameters=parameters, draw=draw, describe=describe,
        level_of_detail=None if view.level_of_detail is None else detail,
    )  # fmt: skip
