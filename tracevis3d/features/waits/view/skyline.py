"""Above the main thread, on the rows' clock: a queue and who holds what it is for, or how many run; bytes.

A picture about an object that threads queue for shows its queue, as a table of time does whose depth it is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ....analysis.measures import bytes_alive
from ....drawing.links import Link
from ....drawing.primitives import Labels, Meaning, Wedges
from ....trace.cached_results import cached_with_trace
from ....trace.model import Trace
from ....trace.names import known_from
from ....units import byte_size
from ..findings.finding import COSTLY, Finding
from ..holds import holders_at
from ..running import running
from ..waits import Waits
from .annotations.tags import called, short
from .dark_bars import holds, holds_as_one
from .layout import Layout

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Kind of the elements that show how many threads run.
RUNNING = "threads that run"
#: Kind of the elements that show live bytes; the id of each is its step along time.
LIVE_BYTES = "live bytes"
#: Pixels that one step of it is wide.
_STEP_PX = 3.0
_THICK = 0.03
#: Kind of the elements that show a queue; the id of each is the hold that it waits for, -1: it is unknown.
QUEUE = "queue for it"
#: Pieces that a queue is drawn in, at most.
_MOST_PIECES = 1500
#: A holder's name stands where the queue is at least this share of its longest during the hold.
_NEARLY = 0.6
#: It is left out of a picture of a finding where it would be smaller than this share of other texts.
_LEAST_OF_TEXT = 0.7


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
    return _strip(picture, picture.skyline, RUNNING, edges, many, ids, text, color)


def queue_at(waits: Waits, object: int, low: int, high: int, most: int) -> tuple[Ints, Ints, Ints]:
    """Return how many threads queue for an object over a window, and which hold it was in meanwhile.

    Parameters
    ----------
    waits : Waits
    object : int
    low, high : int
        The window, in nanoseconds.
    most : int
        Pieces of it; where the queue changes more often, it is the longest of each piece that is returned.

    Returns
    -------
    edges : int64 (n + 1,)
        Nanoseconds, ascending.
    length : int64 (n,)
        Threads that wait at most between each two of them.
    hold : int64 (n,)
        Rows of the holds; -1: nobody holds it, or several do.
    """
    queue, held = waits.queues, waits.held
    a, b = np.searchsorted(queue.object, [object, object + 1])
    time, many = queue.time[a:b], queue.length[a:b]
    # Of several changes at one moment the last holds.
    last = np.diff(time, append=-1) != 0
    time, many = time[last], many[last]
    mine = np.flatnonzero(held.object == object)
    moments = np.concatenate([[low, high], time, held.start[mine], held.end[mine]])
    edges = np.unique(np.clip(moments, low, high)).astype(np.int64)
    if len(edges) > most + 1:
        edges = np.unique(np.linspace(low, high, most + 1).astype(np.int64))
    at = np.searchsorted(time, edges, "right") - 1
    length = np.where(at >= 0, np.append(many, 0)[at], 0)[:-1].astype(np.int64)
    step = np.searchsorted(edges, time, "right") - 1
    inside = (step >= 0) & (step < len(length))
    np.maximum.at(length, step[inside], many[inside])
    middle = edges[:-1] + np.diff(edges) // 2
    hold = holders_at(held, np.full(len(middle), object, np.int32), middle)
    return edges, length, np.where(hold >= 0, hold, -1)


def queue_strip(
    picture: Layout, finding: Finding | None, color: int
) -> tuple[Wedges | None, list[Labels], Meaning]:
    """Return blocks as high as the queue for what a finding is about, and the names of those that hold it.

    Parameters
    ----------
    picture : Layout
    finding : Finding or None
    color : int
        Of the holds that delay others most, as index into the palette; those of others, in turn, and of
        unknown holders follow.

    Returns
    -------
    Wedges or None, list of Labels, Meaning
        None where a finding is not about a queue.
    """
    waits, which = picture.waits, holds(picture.waits, finding)
    if picture.skyline is None or finding is None or finding.kind not in COSTLY or not len(which):
        return None, [], Meaning()
    held, delay = waits.held, waits.hold_delay
    worst = int(which[int(delay[which].argmax())])
    window = _known_from(picture), int(picture.high[0])
    edges, many, hold = queue_at(waits, int(held.object[worst]), *window, _MOST_PIECES)
    kind = np.where(
        hold < 0, 3, np.where(np.isin(hold, holds_as_one(waits, finding, worst)), 0, 1 + hold % 2)
    )
    text = f"queue for {short(waits.ops.objects[held.object[worst]])}, up to {int(many.max(initial=0))}"
    shade = (color + kind).astype(np.int32)
    made, beside = _strip(picture, picture.skyline, QUEUE, edges, many.astype(np.float64), hold, text, shade)
    titles = [waits.trace.threads.title(t) for t in range(len(waits.trace.threads))]
    meaning = Meaning(
        values=(
            ("held (ns)", (held.end - held.start).astype(np.float64)),
            ("delays others by (ns)", delay.astype(np.float64)),
        ),
        texts=(
            ("held by", titles, held.thread.astype(np.int64)),
            ("object", list(waits.ops.objects), held.object.astype(np.int64)),
        ),
        links=(Link("thread", held.thread.astype(np.int64)),),
    )
    return made, [beside, *_holders(picture, edges, many, hold, shade)], meaning


def _holders(picture: Layout, edges: Ints, many: Ints, hold: Ints, color: NDArray[np.int32]) -> list[Labels]:
    """Return the names of holders on those parts of the queue that have room for them."""
    assert picture.skyline is not None
    low, high = picture.skyline
    # A name stands where the queue is nearly as long as it becomes during this hold.
    begins = np.flatnonzero(np.diff(hold, prepend=-2) != 0)
    if not len(begins):
        return []
    most = np.repeat(np.maximum.reduceat(many, begins), np.diff(np.append(begins, len(many))))
    long = many >= _NEARLY * most
    changes = np.diff(long.astype(np.int8), prepend=-1) != 0
    new = np.flatnonzero((np.diff(hold, prepend=-2) != 0) | changes)
    stop = np.append(new[1:], len(hold))
    start, end = (np.asarray(picture.share(np.zeros(len(new), np.int64), edges[i])) for i in (new, stop))
    least = np.minimum.reduceat(many, new) * long[new] / max(int(many.max(initial=0)), 1)
    unit = float(picture.theatre.stretch[0]) * (high - low)
    tall, width = np.minimum(0.8 * least * unit, picture.text), (end - start) * picture.theatre.width
    names = [
        called(picture, int(picture.waits.held.thread[h]), int(picture.waits.held.thread[h]))
        if h >= 0
        else ""
        for h in hold[new].tolist()
    ]
    letters = np.array([len(name) for name in names])
    # Beside the texts of a finding smaller ones are not read.
    least_text = _LEAST_OF_TEXT * picture.text if picture.parameters.finding else 0.0
    fits = (letters > 0) & (tall >= least_text) & (tall * picture.pixels_per_unit >= picture.least_text)
    fits = np.flatnonzero(fits & (width > 0.56 * letters * tall))
    if not len(fits):
        return []
    middle = low + (high - low) * least[fits] / 2
    row = np.zeros(len(fits), np.int64)
    anchor = picture.theatre.place(row, (start + end)[fits] / 2, middle, np.full(len(fits), _THICK + 0.01))
    angle = float(picture.theatre.angle[0])
    return [
        Labels(
            QUEUE, tuple(names[i] for i in fits.tolist()), anchor.astype(np.float32),
            tall[fits].astype(np.float32), (0.96 * width[fits]).astype(np.float32),
            (1e6 * width[fits]).astype(np.float32), 0, up=(0.0, math.cos(angle), math.sin(angle)),
            background=color[new[fits]],
        )
    ]  # fmt: skip


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
    edges = np.linspace(picture.low[0], picture.high[0], steps + 1).astype(np.int64)
    return np.asarray(np.unique(np.maximum(edges, _known_from(picture))))


def _known_from(picture: Layout) -> int:
    """Return the time from which the trace is complete, within the window: before it nothing is drawn."""
    return int(np.clip(known_from(picture.trace), picture.low[0], picture.high[0]))


def _strip(
    picture: Layout, between: tuple[float, float], kind: str, edges: Ints, value: Floats, ids: Ints,
    text: str, color: int | NDArray[np.int32],
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
    made = Wedges(kind, corner, first, np.broadcast_to(np.int32(color), len(value))[seen], ids[seen])
    beside = picture.theatre.place(
        np.zeros(1, np.int64), np.zeros(1), np.array([(low + high) / 2]), 0.0
    ) - np.array([0.2, 0.0, 0.0])
    one = np.ones(1, np.float32)
    names = Labels(kind, (text,), beside.astype(np.float32), picture.text * one, np.inf * one, 6e8 * one, 1)
    return made, names
