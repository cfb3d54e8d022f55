"""Above the main thread: how many threads run at once, and how many bytes live, on the rows' clock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....analysis.measures import bytes_alive
from ....drawing.primitives import Labels, Meaning, Wedges
from ....trace.cached_results import cached_with_trace
from ....trace.model import Trace
from ....units import byte_size
from ..running import running
from .layout import Layout

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Kind of the elements that show live bytes; the id of each is its step along time.
LIVE_BYTES = "live bytes"
#: Pixels that one step of it is wide.
_STEP_PX = 3.0
_THICK = 0.03


def skyline(picture: Layout, color: int) -> tuple[Wedges | None, Labels | None]:
    """Return blocks as high as the number of running threads, and the text beside them.

    Parameters
    ----------
    picture : Layout
    color : int
        Index into the palette.

    Returns
    -------
    Wedges or None, Labels or None
    """
    if picture.skyline is None:
        return None, None
    edges = _edges(picture)
    many = running(picture.waits, edges)
    waits = "that run" if len(picture.waits.own) else "within a call"
    text = f"threads {waits}, up to {max(float(many.max(initial=0.0)), 1.0):.0f}"
    ids = np.rint(many).astype(np.int64)
    return _strip(picture, picture.skyline, "threads that run", edges, many, ids, text, color)


def memory_strip(picture: Layout, color: int) -> tuple[Wedges | None, Labels | None, Meaning]:
    """Return blocks as high as the bytes that live at most in each step of time, and the text beside them.

    Parameters
    ----------
    picture : Layout
    color : int
        Index into the palette.

    Returns
    -------
    Wedges or None, Labels or None, Meaning
    """
    if picture.memory is None:
        return None, None, Meaning()
    edges = _edges(picture)
    live = most_alive(picture.trace, edges)
    text = f"live bytes, up to {byte_size(int(live.max(initial=0.0)))}"
    made, beside = _strip(
        picture, picture.memory, LIVE_BYTES, edges, live, np.arange(len(live), dtype=np.int64), text, color
    )
    return made, beside, Meaning(values=(("live, at most (bytes)", live),))


_alive = cached_with_trace()(lambda trace: bytes_alive(trace.memory))


def most_alive(trace: Trace, edges: Ints) -> Floats:
    """Return how many bytes live at most between each two of ``edges``.

    Parameters
    ----------
    trace : Trace
        With memory.
    edges : int64 (n + 1,)
        Nanoseconds, ascending.

    Returns
    -------
    float64 (n,)
    """
    time, live = _alive(trace)
    # Of several rows at one moment the last holds.
    last = np.append(time[1:] != time[:-1], True)
    time, live = time[last], live[last]
    before = np.searchsorted(time, edges, "right") - 1
    found = np.where(before >= 0, live[np.maximum(before, 0)], 0.0)[:-1]
    step = np.searchsorted(edges, time, "right") - 1
    inside = (step >= 0) & (step < len(found))
    np.maximum.at(found, step[inside], live[inside])
    return np.maximum(found, 0.0)


def _edges(picture: Layout) -> Ints:
    steps = max(int(picture.theatre.width * picture.pixels_per_unit / _STEP_PX), 1)
    edges = np.linspace(picture.low[0], picture.high[0], steps + 1)
    return np.asarray(np.unique(edges.astype(np.int64)))


def _strip(
    picture: Layout, between: tuple[float, float], kind: str, edges: Ints, value: Floats, ids: Ints,
    text: str, color: int,
) -> tuple[Wedges, Labels]:  # fmt: skip
    """Return blocks above the main thread as high as ``value`` in each step, and the text beside them."""
    low, high = between
    start, end = int(picture.low[0]), int(picture.high[0])
    most = max(float(value.max(initial=0.0)), 1.0)
    seen = np.flatnonzero(value > 0)
    share = (edges - start) / max(end - start, 1)
    n, zero = len(seen), np.zeros(len(seen))
    corner, first = picture.theatre.blocks(
        np.zeros(n, np.int64), share[seen], share[seen + 1], zero + low,
        low + (high - low) * value[seen] / most, zero, zero + _THICK,
    )  # fmt: skip
    made = Wedges(kind, corner, first, np.full(n, color, np.int32), ids[seen])
    beside = picture.theatre.place(
        np.zeros(1, np.int64), np.zeros(1), np.array([(low + high) / 2]), 0.0
    ) - np.array([0.2, 0.0, 0.0])
    one = np.ones(1, np.float32)
    names = Labels(kind, (text,), beside.astype(np.float32), picture.text * one, np.inf * one, 6e8 * one, 1)
    return made, names
