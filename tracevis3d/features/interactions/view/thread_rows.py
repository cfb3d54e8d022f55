"""A row of bars for each thread: when it makes calls, between the phases and the ruler."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.links import Link
from ....drawing.primitives import Boxes, Labels
from ....trace.names import lane_title
from .layout import Drum, Floats, Layout
from .metadata import Meanings, numbered

#: Rows at most: those of the threads that make most calls.
MOST = 8
#: Slices of the axis in which calls are counted, and steps of darkness.
_SLICES, STEPS = 180, 4
#: Height of a row, of its bars, and of the space below all, in line heights.
_ROW, _BAR, _SPACE = 1.1, 0.9, 0.25
#: Characters of a name.
_LONGEST = 22


def shown(drum: Drum) -> NDArray[np.int64]:
    """Return the threads that have rows, in order of their numbers; none if one makes all calls.

    Parameters
    ----------
    drum : Drum

    Returns
    -------
    int64 (rows,)
    """
    thread = drum.trace.calls.thread[drum.found.call[drum.low : drum.high]]
    calls = np.bincount(thread, minlength=1)
    if np.count_nonzero(calls) < 2 or drum.bend.length <= 0 or drum.bend.time[2]:
        return np.empty(0, np.int64)
    busiest = np.argsort(-calls, kind="stable")[:MOST]
    return np.sort(busiest[calls[busiest] > 0])


def depth(picture: Layout, text: float) -> float:
    """Return the height of all rows, in scene units; drums of a pair have room for the same number.

    Parameters
    ----------
    picture : Layout
    text : float
        Line height in scene units.

    Returns
    -------
    float
    """
    rows = max(len(shown(drum)) for drum in picture.drums)
    return (_ROW * rows + _SPACE) * text if rows else 0.0


def shares(drum: Drum, threads: NDArray[np.int64], slices: int = _SLICES) -> Floats:
    """Return which share of the calls in each slice of the axis each thread makes, float64 (threads, slices).

    Parameters
    ----------
    drum : Drum
    threads : int64 (threads,)
    slices : int

    Returns
    -------
    float64 (threads, slices)
        0 where there are no calls.
    """
    at = np.minimum((drum.place * slices).astype(np.int64), slices - 1)
    thread = drum.trace.calls.thread[drum.found.call[drum.low : drum.high]].astype(np.int64)
    row = np.full(int(thread.max(initial=0)) + 1, -1, np.int64)
    row[threads] = np.arange(len(threads))
    mine = row[thread] >= 0
    count = np.bincount(row[thread[mine]] * slices + at[mine], minlength=len(threads) * slices)
    every = np.bincount(at, minlength=slices)
    return np.asarray(count.reshape(-1, slices) / np.maximum(every, 1))


def rows(
    picture: Layout, drum: Drum, top: float, front: float, color: int, text: float, meaning: Meanings
) -> tuple[list[Boxes], list[Labels]]:
    """Return the rows and, of a drum alone, their names.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    top, front : float
        Where the first row begins, and how far from the reader, in scene units.
    color : int
        Palette index of the palest of :data:`STEPS` colours.
    text : float
        Line height in scene units.
    meaning : Meanings
        The bars are described in it.

    Returns
    -------
    (list of Boxes, list of Labels)
    """
    threads = shown(drum)
    if not len(threads):
        return [], []
    share = shares(drum, threads)
    step = np.ceil(share * STEPS).astype(np.int64)
    # Neighbours of one darkness are one bar.
    padded = np.pad(step, ((0, 0), (1, 0)), constant_values=-1)
    row, begin = np.nonzero(step != padded[:, :-1])
    stop = np.where(np.append(row[1:] == row[:-1], False), np.append(begin[1:], 0), _SLICES)
    some = step[row, begin] > 0
    row, begin, stop = row[some], begin[some], stop[some]
    bend, n = drum.bend, len(row)
    x = bend.origin[0] + bend.time[0] * bend.length * np.stack([begin, stop]) / _SLICES
    low = np.stack([x.min(axis=0), np.full(n, front), top - text * (_ROW * row + _BAR)], axis=1)
    size = np.stack([np.ptp(x, axis=0), np.full(n, 0.08), np.full(n, _BAR * text)], axis=1)
    titles = [lane_title(drum.trace, int(t), _LONGEST) for t in threads]
    calls = np.bincount(drum.trace.calls.thread[drum.found.call[drum.low : drum.high]], minlength=1)
    first = meaning.add(
        "thread", drum.source, np.full(n, -1), {"calls": calls[threads[row]]},
        {"thread": [titles[r] for r in row.tolist()]}, (Link("thread", threads[row], asks=False),),
    )  # fmt: skip
    boxes = numbered(
        Boxes(
            "thread", low.astype(np.float32), size.astype(np.float32),
            (color + step[row, begin] - 1).astype(np.int32), np.arange(n, dtype=np.int64),
            np.stack([begin, stop], axis=1).astype(np.float32) / _SLICES, source=drum.source,
        ),
        first,
    )  # fmt: skip
    if len(picture.drums) > 1:
        return [boxes], []
    k = len(threads)
    middle = top - text * (_ROW * np.arange(k) + _BAR / 2)
    anchor = np.stack([np.full(k, bend.origin[0] - 0.15), np.full(k, front), middle], axis=1)
    names = Labels(
        "thread", tuple(titles), anchor.astype(np.float32), np.full(k, 0.8 * text, np.float32),
        np.full(k, np.inf, np.float32), np.full(k, 5.0, np.float32), 1,
    )  # fmt: skip
    return [boxes], [names]
