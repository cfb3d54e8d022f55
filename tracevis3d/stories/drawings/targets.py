"""Where a selection is in a drawing: the box around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Boxes, Drawing, Element, Image, Lines, Marks, Tubes, Wedges
from ...errors import UsageError
from ...trace.model import Trace
from ...trace.names import named_threads
from ..story import Selection

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Box = tuple[Floats, Floats]


def box_of(drawing: Drawing, traces: Sequence[Trace], selection: Selection) -> Box:
    """Return the box around what a selection selects.

    Parameters
    ----------
    drawing : Drawing
    traces : sequence of Trace
        Those that are drawn.
    selection : Selection
        Of a time window only that part of each element counts which lies in it.

    Returns
    -------
    low, high : float64 (3,)

    Raises
    ------
    UsageError
        If nothing that is drawn is selected.
    """
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    wanted = [_calls(trace, selection) for trace in traces]
    source = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(selection.trace) if selection.trace else -1
    if source >= len(traces):
        raise UsageError(f"trace: {selection.trace}: there are only {len(traces)} traces")
    for element in drawing.elements:
        if source >= 0 and getattr(element, "source", 0) != source:
            continue
        for near, far in _parts(drawing, element, traces, selection, wanted):
            low, high = np.minimum(low, near), np.maximum(high, far)
    if not (high >= low).all():
        raise UsageError(f"{_words(selection)}: nothing that is drawn is selected by this")
    return low, high


def _words(selection: Selection) -> str:
    said = {name: getattr(selection, name) for name in ("trace", "function", "call", "thread")}
    if selection.time:
        said["time"] = "{}ns..{}ns".format(*selection.time)
    return ", ".join(f"{name}: {value}" for name, value in said.items() if value)


def _calls(trace: Trace, selection: Selection) -> NDArray[np.bool_] | None:
    """Return which calls are selected by name, thread or number; None: no call is asked for."""
    if not (selection.function or selection.call or selection.thread):
        return None
    calls = trace.calls
    chosen = np.ones(len(calls), np.bool_)
    if selection.function:
        named = [fnmatchcase(label, selection.function) for label in trace.functions.label]
        chosen &= np.array(named, np.bool_)[calls.function] if named else False
    if selection.call:
        call = int(selection.call)
        chosen[:call] = False
        if call < len(calls):
            chosen[call + int(calls.extent[call]) :] = False
    if selection.thread:
        chosen &= np.isin(calls.thread, named_threads(trace, selection.thread, "thread"))
    return chosen


def _parts(
    drawing: Drawing,
    element: Element,
    traces: Sequence[Trace],
    selection: Selection,
    wanted: Sequence[NDArray[np.bool_] | None],
) -> Iterator[Box]:
    """Yield boxes around what is selected of an element."""
    if isinstance(element, Image):
        return
    source = min(element.source, len(traces) - 1)
    named = wanted[source]
    chosen = np.ones(len(element), np.bool_)
    calls = drawing.calls_of(element)
    if named is not None:
        if calls is None or not len(named):
            return
        chosen &= (calls >= 0) & (calls < len(named))
        chosen[chosen] &= named[calls[chosen]]
    if selection.time is None:
        yield from _whole(element, chosen)
        return
    spans = _spans(element, traces[source], calls)
    if spans is None or not isinstance(element, (Boxes, Wedges)):
        return
    start, end = spans
    begin, until = selection.time
    chosen &= (end > begin) & (start < until)
    length = np.maximum(end - start, 1).astype(np.float64)
    first = np.clip((begin - start) / length, 0.0, 1.0)
    last = np.clip((until - start) / length, 0.0, 1.0)
    yield from _cut(element, chosen, first, last)


def _spans(element: Element, trace: Trace, calls: Ints | None) -> tuple[Ints, Ints] | None:
    """Return from when to when each item of an element lasts, in nanoseconds."""
    if isinstance(element, (Boxes, Wedges)) and len(element.time) and element.window is not None:
        low, high = element.window
        time = low + element.time.astype(np.float64) * (high - low)
        return time[:, 0].astype(np.int64), time[:, 1].astype(np.int64)
    if calls is None or not len(trace.calls):
        return None
    known = np.clip(calls, 0, len(trace.calls) - 1)
    start, end = trace.calls.start[known], trace.calls.end[known]
    return np.where(calls < 0, 0, start), np.where(calls < 0, 0, end)


def _whole(element: Element, chosen: NDArray[np.bool_]) -> Iterator[Box]:
    if not chosen.any():
        return
    if isinstance(element, Boxes):
        low = element.low[chosen].astype(np.float64)
        yield low.min(axis=0), (low + element.size[chosen]).max(axis=0)
    elif isinstance(element, Marks):
        size = element.size[chosen].astype(np.float64)
        half = (size if size.ndim == 2 else size[:, None]) / 2
        yield (element.point[chosen] - half).min(axis=0), (element.point[chosen] + half).max(axis=0)
    elif isinstance(element, (Tubes, Lines, Wedges)):
        rows = np.repeat(chosen, np.diff(element.first))
        point = element.corner if isinstance(element, Wedges) else element.point
        inside = point[rows].reshape(-1, 3).astype(np.float64)
        if len(inside):
            yield inside.min(axis=0), inside.max(axis=0)


def _cut(element: Boxes | Wedges, chosen: NDArray[np.bool_], first: Floats, last: Floats) -> Iterator[Box]:
    """Yield boxes around what lies between two shares of the time of each item."""
    if not chosen.any():
        return
    if isinstance(element, Boxes):
        low, size = element.low[chosen].astype(np.float64), element.size[chosen].astype(np.float64)
        far = low + size
        # Time runs along x.
        far[:, 0] = low[:, 0] + last[chosen] * size[:, 0]
        low[:, 0] += first[chosen] * size[:, 0]
        yield low.min(axis=0), far.max(axis=0)
        return
    count = np.diff(element.first)
    item = np.repeat(np.arange(len(element)), count)
    share = (np.arange(len(item)) - element.first[item]) / np.maximum(count[item] - 1, 1)
    # Sections lie evenly along the time of their block; half a section beyond both ends counts too.
    step = 0.5 / np.maximum(count[item] - 1, 1)
    rows = chosen[item] & (share >= first[item] - step) & (share <= last[item] + step)
    if rows.any():
        inside = element.corner[rows].reshape(-1, 3).astype(np.float64)
        yield inside.min(axis=0), inside.max(axis=0)
