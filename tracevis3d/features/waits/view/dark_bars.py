"""Dark bars under rows, while a thread keeps others waiting: it holds something, or comes last."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Wedges
from ..findings.finding import Finding
from ..waits import Waits
from .calls import THICK
from .layout import Layout

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Height of a bar, as a share of the first level.
_BAR = 0.4
#: What bars mean, by the kind of the finding. Styles colour them, so no text does.
MEANS = {
    "lock order": "bars below: one for each object, while it is held",
    "comes last": "bar below: others wait for it to come",
    "held to the end": "bar below: holds it to the end",
}
HOLDS = "bar below: holds what others wait for"
#: Findings about somebody who gets an object again and again: all of these holds are shown as one cause.
_AGAIN = ("starvation", "one goes first")


class _Spans(NamedTuple):
    """Who keeps others waiting, from when to when, by which operation, and in which lane below the row."""

    thread: NDArray[np.int32]
    start: Ints
    end: Ints
    row: Ints
    lane: Ints

    def taken(self, which: NDArray[np.bool_]) -> _Spans:
        """Return some of them."""
        return _Spans(
            self.thread[which], self.start[which], self.end[which], self.row[which], self.lane[which]
        )


def holds(waits: Waits, finding: Finding | None) -> Ints:
    """Return the holds by which threads are delayed in a finding, or that it says are never released.

    Parameters
    ----------
    waits : Waits
    finding : Finding or None

    Returns
    -------
    int64 (n,)
    """
    if finding is None or not finding.objects:
        return np.empty(0, np.int64)
    held, objects = waits.held, [i for i, name in enumerate(waits.ops.objects) if name in finding.objects]
    delay = waits.hold_delay > 0
    if finding.kind == "held to the end":
        delay |= (held.release < 0) & np.isin(held.thread, finding.threads)
    mine = np.isin(held.object, objects) & delay
    return np.flatnonzero(mine & (held.start < finding.end) & (held.end > finding.start))


def holds_as_one(waits: Waits, finding: Finding | None, hold: int) -> Ints:
    """Return the holds that are shown as the cause of a finding together with one of them.

    These are all by the same thread of the same object where that is the point, or where none of them
    causes half of the delay; else the one alone.

    Parameters
    ----------
    waits : Waits
    finding : Finding or None
    hold : int
        Row of the one that delays others most.

    Returns
    -------
    int64 (n,)
    """
    held, alone = waits.held, np.array([hold], np.int64)
    if finding is None or not (finding.kind in _AGAIN or finding.kind.startswith("held over")):
        return alone
    which = holds(waits, finding)
    same = (held.thread[which] == held.thread[hold]) & (held.object[which] == held.object[hold])
    mine: Ints = which[same]
    if finding.kind in _AGAIN or 2 * int(waits.hold_delay[hold]) < int(waits.hold_delay[mine].sum()):
        return mine
    return alone


def acquired_first(waits: Waits, finding: Finding) -> list[tuple[int, int]]:
    """Return an example of each thread that acquires an object while it holds another of a finding.

    Parameters
    ----------
    waits : Waits
    finding : Finding
        About the order of objects.

    Returns
    -------
    list of (int, int)
        The first two holds of each thread, one within the other, by when the second begins.
    """
    order, held = waits.order, waits.held
    mine = [i for i, name in enumerate(waits.ops.objects) if name in finding.objects]
    inside = np.flatnonzero(np.isin(order.outer, mine) & np.isin(order.inner, mine))
    inside = inside[np.argsort(held.start[order.hold_inner[inside]], kind="stable")]
    first = np.sort(np.unique(order.thread[inside], return_index=True)[1])
    return [(int(order.hold_outer[i]), int(order.hold_inner[i])) for i in inside[first].tolist()]


def bars(picture: Layout, finding: Finding | None, color: int) -> Wedges:
    """Return a bar at the foot of a thread's row while it keeps others waiting.

    Of a finding about the order of objects each object has a lane of bars: which begins first is seen.

    Parameters
    ----------
    picture : Layout
    finding : Finding or None
    color : int
        Index into the palette.

    Returns
    -------
    Wedges
    """
    spans = _spans(picture, finding)
    row = picture.row_of[spans.thread]
    seen = row >= 0
    seen[seen] &= spans.end[seen] > picture.low[row[seen]]
    seen[seen] &= spans.start[seen] < picture.high[row[seen]]
    spans, row = spans.taken(seen), row[seen]
    low = np.clip(picture.share(row, spans.start), 0.0, 1.0)
    high = np.clip(picture.share(row, spans.end), 0.0, 1.0)
    which, low, high = _merged(picture, row, spans.lane, low, high)
    tall = _BAR * float(picture.edge[1])
    down = spans.lane[which] * 1.3 * tall
    # Below the row, so that it covers no name.
    zero = np.zeros(len(which))
    corner, first = picture.theatre.blocks(
        row[which], low, high, -down - 1.15 * tall, -down - 0.15 * tall, zero, zero + THICK + 0.02
    )
    return Wedges("hold", corner, first, np.full(len(which), color, np.int32), spans.row[which])


def _spans(picture: Layout, finding: Finding | None) -> _Spans:
    waits, held = picture.waits, picture.waits.held
    if finding is not None and finding.kind == "comes last":
        return _lateness(waits, finding)
    which, lane = holds(waits, finding), np.zeros(0, np.int64)
    if finding is not None and finding.kind == "lock order":
        lanes = {waits.ops.objects.index(name): i for i, name in enumerate(finding.objects)}
        which = np.flatnonzero(np.isin(held.object, [*lanes]) & np.isin(held.thread, finding.threads))
        lane = np.array([lanes[o] for o in held.object[which].tolist()], np.int64)
    if not len(lane):
        lane = np.zeros(len(which), np.int64)
    return _Spans(held.thread[which], held.start[which], held.end[which], held.acquire[which], lane)


def _lateness(waits: Waits, finding: Finding) -> _Spans:
    """Return for each round that a thread ends as the last one the time in which others wait for it."""
    ops, rows = waits.ops, waits.own
    object = np.append(ops.object, -1)[ops.first[rows]]
    rows = rows[(object == ops.objects.index(finding.objects[0])) & (np.diff(ops.first)[rows] > 0)]
    rows = rows[waits.woken_by[rows] == finding.threads[0]]
    waker, round_ = np.unique(waits.waker[rows], return_inverse=True)
    start = np.full(len(waker), np.iinfo(np.int64).max)
    np.minimum.at(start, round_.reshape(-1), ops.start[rows])
    return _Spans(ops.thread[waker], start, ops.start[waker], waker, np.zeros(len(waker), np.int64))


def _merged(picture: Layout, row: Ints, lane: Ints, low: Floats, high: Floats) -> tuple[Ints, Floats, Floats]:
    """Return bars of which those of a lane that overlap or nearly touch are one, the longest of them."""
    if not len(row):
        return np.empty(0, np.int64), low, high
    # A lane is one long, and takes two: what reaches far on one does not touch the next.
    place = row * (int(lane.max()) + 1) + lane
    order = np.lexsort((low, place))
    begin, end = low[order] + 2 * place[order], high[order] + 2 * place[order]
    near = picture.parameters.resolution / (picture.pixels_per_unit * picture.theatre.width)
    new = np.append(True, begin[1:] > np.maximum.accumulate(end)[:-1] + near)
    first, run = np.flatnonzero(new), np.cumsum(new) - 1
    longest = np.lexsort((begin - end, run))[first]
    return order[longest], low[order[first]], np.maximum.reduceat(high[order], first)
