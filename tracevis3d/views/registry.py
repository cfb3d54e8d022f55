"""Which views there are: those of this package, and those that others add by entry points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..plugins import Registry

if TYPE_CHECKING:
    from ..drawing.frame import Frame
    from ..drawing.primitives import Drawing
    from ..progress import Progress
    from ..trace.model import Trace
    from .detail import LevelOfDetail, SpatialLevelOfDetail


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
        A dataclass whose fields are declared with :func:`tracevis3d.parameters.parameter`.
    draw : callable
        ``draw(traces, parameters, frame, progress) -> Drawing``.
    level_of_detail : callable or None
        ``level_of_detail(traces, parameters, frame)``: a :class:`.detail.LevelOfDetail` or a
        ``SpatialLevelOfDetail``.
    """

    name: str
    title: str
    sentence: str
    traces: tuple[int, int]
    parameters: type
    draw: Callable[[Sequence[Trace], Any, Frame, Progress], Drawing]
    level_of_detail: Callable[[Sequence[Trace], Any, Frame], LevelOfDetail | SpatialLevelOfDetail] | None = (
        None
    )


#: Name of a view -> module of this package that defines ``VIEW``.
_OWN = {
    "icicle": "..features.call_tree.icicle",
    "threads": "..features.waits.view",
    "compare": "..features.comparison.view",
    "cone": "..features.call_tree.cone",
    "interactions": "..features.interactions.view",
    "memory": "..features.memory.view",
}

_views = Registry("view", View, __package__, _OWN, "VIEW", "tracevis3d.views")
names, find, loadable = _views.names, _views.find, _views.loadable
