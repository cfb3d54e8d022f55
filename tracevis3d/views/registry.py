"""Which views there are: those of this package, and those that others add by entry points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..plugins import Registry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..drawing.frame import Frame
    from ..drawing.words import Boxes, Camera, Drawing, Labels
    from ..progress import Progress
    from ..trace.model import Trace


class Closer(Protocol):
    """What a view shows to those who come nearer.

    Attributes
    ----------
    palette : float32 (k, 4)
    window : (int, int)
        Nanoseconds that the view shows.
    pixels_per_unit : float
        For which its drawing was made.
    camera : Camera
        That of its drawing.
    """

    palette: NDArray[np.float32]
    window: tuple[int, int]
    pixels_per_unit: float
    camera: Camera

    def look(self, seen: tuple[int, int], pixels_per_unit: float) -> tuple[tuple[Boxes, ...], Labels]:
        """Return the boxes of the whole window, with more detail within ``seen``, and names on those."""
        ...


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
    closer : callable or None
        ``closer(traces, parameters, frame) -> Closer``: the same boxes in more detail, in the same places.
    """

    name: str
    title: str
    sentence: str
    traces: tuple[int, int]
    parameters: type
    draw: Callable[[Sequence[Trace], Any, Frame, Progress], Drawing]
    closer: Callable[[Sequence[Trace], Any, Frame], Closer] | None = None


#: Name of a view -> module of this package that defines ``VIEW``.
_OWN = {
    "icicle": ".icicle",
    "threads": ".threads",
    "compare": ".compare",
    "cone": ".cone",
    "interactions": ".interactions",
    "memory": ".memory",
}

_views = Registry("view", View, __package__, _OWN, "VIEW", "tracevis3d.views")
names, find, loadable = _views.names, _views.find, _views.loadable
