"""The comparison that the viewpoints show, and the target of each viewpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.primitives import Drawing
from ....layout.cut import call_span
from ....parameters import read
from ....progress import Progress, silent
from ....views import registry
from ..findings.evidence import Range
from .explained import Explained

Span = tuple[float, float] | None
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Stage:
    """The comparison of two whole traces, and the matches that it shows.

    Attributes
    ----------
    drawing : Drawing
    a, b : int64 (m,)
        Calls of the matches, by the ids of tubes and lines.
    similarity : float64 (m,)
    """

    drawing: Drawing
    a: Ints
    b: Ints
    similarity: NDArray[np.float64]

    @classmethod
    def of(
        cls, story: Explained, frame: Frame, settings: dict[str, Any], progress: Progress = silent
    ) -> Stage:
        """Draw the comparison with the parameters ``settings``.

        Parameters
        ----------
        story : Explained
        frame : Frame
            Of the picture.
        settings : dict of str to object
            The parameters of the view ``compare``.
        progress : Progress

        Returns
        -------
        Stage
        """
        view = registry.find("compare")
        drawing = view.draw(story.traces, read(view.parameters, settings), frame, progress)
        nothing = np.empty(0, np.int64)
        meaning = drawing.meaning.get("tube")
        if meaning is None:
            return cls(drawing, nothing, nothing, np.empty(0))
        calls = dict(meaning.calls)
        return cls(drawing, calls[0], calls[1], np.asarray(meaning.values[0][1], np.float64))


@dataclass(frozen=True, eq=False)
class Target:
    """The target of a viewpoint.

    Attributes
    ----------
    name, caption : str
    matches : bool (m,)
        Which matches keep their colours.
    calls : (int64 (k,), int64 (l,))
        Calls of A and of B that are framed; the camera looks at the walls of traces that have some.
    spans : ((float, float) or None, (float, float) or None)
        Time windows to look at, as shares of what is drawn of A and of B; None: all.
    inside : bool (m,) or None
        Which matches lie within the one that a walk begins with.
    """

    name: str
    caption: str
    matches: Flags
    calls: tuple[Ints, Ints]
    spans: tuple[Span, Span] = (None, None)
    inside: Flags | None = None


def shares(story: Explained, spans: tuple[Range | None, Range | None]) -> tuple[Span, Span]:
    """Return time windows as shares of the traces from their first call to the end of the last.

    Parameters
    ----------
    story : Explained
    spans : (Range or None, Range or None)
        Windows of A and B, in nanoseconds; None for all of a trace.

    Returns
    -------
    (Span, Span)
        0 to 1 each.
    """
    found: list[Span] = []
    for trace, span in zip(story.traces, spans):
        if span is None:
            found.append(None)
            continue
        low, high = call_span(trace)
        whole = max(high - low, 1)
        found.append(((span[0] - low) / whole, (span[1] - low) / whole))
    return found[0], found[1]


def below(story: Explained, trace: int, call: int, ids: Ints) -> Flags:
    """Return which of the calls ``ids`` are ``call`` or lie below it.

    Parameters
    ----------
    story : Explained
    trace : int
        0 for A, 1 for B.
    call : int
        Its index.
    ids : int64 (k,)
        Calls of the same trace.

    Returns
    -------
    bool (k,)
    """
    extent = int(story.traces[trace].calls.extent[call])
    return (ids >= call) & (ids < call + extent)
