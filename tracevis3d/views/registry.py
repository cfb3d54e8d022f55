"""Which views there are: those of this package, and those that others add by entry points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from ..drawing.frame import Frame
    from ..drawing.words import Drawing
    from ..progress import Progress
    from ..trace.model import Trace

#: Name of a view -> module of this package that defines ``VIEW``.
_OWN = {"icicle": ".icicle"}
_ENTRY_POINTS = "tracevis3d.views"


@dataclass(frozen=True)
class View:
    """A way to look at one or more traces.

    Attributes
    ----------
    name : str
        The word on the command line.
    title : str
        For menus.
    sentence : str
        What it shows.
    traces : (least, most)
        How many traces it takes.
    parameters : type
        A dataclass whose fields are declared with :func:`tracevis3d.views.parameters.parameter`.
    draw : callable
        ``draw(traces, parameters, frame, progress) -> Drawing``.
    """

    name: str
    title: str
    sentence: str
    traces: tuple[int, int]
    parameters: type
    draw: Callable[[Sequence[Trace], Any, Frame, Progress], Drawing]


def names() -> list[str]:
    """Return the names of all views, ours first; nothing is imported for it but the list of entry points."""
    return [*_OWN, *sorted(name for name in _others() if name not in _OWN)]


@cache
def find(name: str) -> View:
    """Return the view called ``name``.

    Raises
    ------
    UsageError
        If there is none, or if another package's view can't be loaded.
    """
    if name in _OWN:
        return import_module(_OWN[name], __package__).VIEW  # type: ignore[no-any-return]
    others = _others()
    if name not in others:
        raise UsageError(f"there is no view {name!r}: there are {', '.join(names())}")
    try:
        view = others[name].load()
    except Exception as error:
        raise UsageError(f"the view {name!r} of {others[name].value} can't be loaded: {error}") from error
    if not isinstance(view, View):
        raise UsageError(f"the view {name!r} of {others[name].value} is no View but a {type(view).__name__}")
    return view


@cache
def _others() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=_ENTRY_POINTS)}
