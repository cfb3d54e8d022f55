"""The places of calls in a view: drawn by themselves, or in a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...trace.model import Trace
from .element_metadata import PickableMesh, pickable_mesh

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CallReference:
    """A call, with what is needed to find it without its trace.

    Attributes
    ----------
    source : int
        Which of the view's traces.
    call : int
    start : int
        Nanoseconds.
    thread, depth : int
        -1 if they are not known: then only the call itself is found, no cluster.
    """

    source: int
    call: int
    start: int = 0
    thread: int = -1
    depth: int = -1

    @classmethod
    def of(cls, trace: Trace, source: int, call: int) -> CallReference:
        """Return the data needed to find a call of a trace.

        Parameters
        ----------
        trace : Trace
        source : int
            Which of the view's traces it is.
        call : int

        Returns
        -------
        CallReference
        """
        calls = trace.calls
        return cls(source, call, int(calls.start[call]), int(calls.thread[call]), int(calls.depth[call]))


def places(objects: Iterable[Any], sought: Sequence[CallReference], above: bool) -> Floats:
    """Return where calls are drawn.

    The point is on the box that represents the call, on the visible side, at the call's start.

    Parameters
    ----------
    objects : iterable of bpy.types.Object
        Of the view.
    sought : sequence of CallReference
    above : bool
        The view is seen from above, not from the front.

    Returns
    -------
    float64 (n, 3)
        In the view's own coordinates; NaN: nowhere.
    """
    return places_on(_boxes(objects) if sought else [], sought, above)


def places_on(boxes: Sequence[PickableMesh], sought: Sequence[CallReference], above: bool) -> Floats:
    """Return where calls are on boxes, the first that represent each; see :func:`places`.

    Parameters
    ----------
    boxes : sequence of PickableMesh
    sought : sequence of CallReference
    above : bool

    Returns
    -------
    float64 (n, 3)
    """
    found = np.full((len(sought), 3), np.nan)
    for i, call in enumerate(sought):
        for each in boxes:
            if call.source in each.calls and (element := _element_of(each, call)) is not None:
                found[i] = _point(each, element, call.start, above)
                break
    return found


def _boxes(objects: Iterable[Any]) -> list[PickableMesh]:
    """Return the boxes that objects show, single calls before clusters."""
    known = [pickable_mesh(shown) for shown in objects]
    shown = [each for each in known if each is not None and each.is_boxes and each.shows_calls and len(each)]
    return sorted(shown, key=lambda each: each.kind != "call")


def _element_of(boxes: PickableMesh, call: CallReference) -> int | None:
    """Return the element that represents the call; None if none of these does."""
    same = np.flatnonzero(boxes.calls[call.source] == call.call)
    if len(same):
        return int(same[0])
    if boxes.kind == "call" or boxes.window is None or not len(boxes.time):
        return None
    low, high = boxes.window
    at = (call.start - low) / max(high - low, 1)
    depth, thread = boxes.fact("depth"), boxes.fact("thread")
    if len(depth) != len(boxes) or len(thread) != len(boxes):
        return None
    # A cluster represents its members and all calls below them: take the deepest that reaches the call.
    fits = (boxes.time[:, 0] <= at) & (at <= boxes.time[:, 1])
    which = np.flatnonzero(fits & (thread == call.thread) & (depth <= call.depth))
    return int(which[np.argmax(depth[which])]) if len(which) else None


def _point(boxes: PickableMesh, element: int, start: int, above: bool) -> Floats:
    low, size = boxes.low[element].astype(np.float64), boxes.size[element].astype(np.float64)
    share = 0.5
    if boxes.window is not None and len(boxes.time):
        first, last = boxes.window
        begin, end = boxes.time[element].astype(np.float64)
        if end > begin:
            share = min(max(((start - first) / max(last - first, 1) - begin) / (end - begin), 0.0), 1.0)
    point: Floats = low + size * ((share, 0.5, 1.0) if above else (share, 0.0, 0.6))
    return point
