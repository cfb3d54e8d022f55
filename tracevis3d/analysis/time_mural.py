"""A mural of a trace along time: the share of each moment's time that calls of each depth take.

After Jerding and Stasko, "The information mural" (InfoVis 1995): however long the trace is, each call adds to
its cells, so that nothing is left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.trace.mural import longest_in_cells
from ..trace.model import Calls, Memory
from .measures import bytes_alive
from .mural import unpacked_cells

#: Cells of a stored mural.
WIDTH, HEIGHT = 960, 20
#: Smaller shares are rounding errors of sums over millions of calls.
_NOISE = 1e-7


def occupancy(calls: Calls, low: int, high: int, width: int, height: int) -> NDArray[np.float64]:
    """Return the share of each column's time that calls of each row's depths take, in linear time.

    Parameters
    ----------
    calls : Calls
        ``start``, ``end`` and ``depth`` are read.
    low, high : int
        The time that all columns span, in nanoseconds; calls are clipped to it.
    width, height : int
        Columns and rows.

    Returns
    -------
    float64 (height, width)
        Above 1 where several threads, or depths that share a row, are busy at once. The first row is the
        root calls'.
    """
    n, step, row = len(calls), max(high - low, 1) / width, _rows(calls, height)
    found = np.zeros((height, width + 1))
    # The time that calls take before a moment is a sum of ramps: up at each start, down at each end.
    for times, sign in ((calls.start, 1.0), (calls.end, -1.0)):
        at = np.clip((np.asarray(times, np.float64) - low) / step, 0.0, width)
        column = np.minimum(at.astype(np.int64), width)
        cell = row * (width + 1) + column
        size = height * (width + 1)
        began = np.bincount(cell, minlength=size).reshape(height, width + 1)
        part = np.bincount(cell, column + 1 - at, minlength=size).reshape(height, width + 1)
        before = np.cumsum(began, axis=1) - began
        found += sign * (before + part)
    return np.maximum(found[:, :width], 0.0) if n else np.zeros((height, width))


def longest_calls(calls: Calls, low: int, high: int, width: int, height: int) -> NDArray[np.int64]:
    """Return the call that takes the most of each cell's time, in linear time; of equal ones the first.

    Parameters
    ----------
    calls : Calls
    low, high, width, height
        As of :func:`occupancy`.

    Returns
    -------
    int64 (height, width)
        -1: none. A call that takes no time is there where no other is.
    """
    longest = np.full((height, width), -1)
    after = np.repeat(np.arange(width + 1)[None], height, axis=0)
    longest_in_cells(
        np.asarray(calls.start, np.int64), np.asarray(calls.end, np.int64), _rows(calls, height), float(low),
        max(high - low, 1) / width, np.zeros((height, width)), longest, after,
    )  # fmt: skip
    return longest


def _rows(calls: Calls, height: int) -> NDArray[np.int64]:
    deepest = max(int(calls.depth.max(initial=0)), height)
    return (np.asarray(calls.depth, np.int64) - 1) * height // deepest


def time_mural(calls: Calls, low: int, high: int) -> NDArray[np.uint8]:
    """Return the mural of a trace.

    Parameters
    ----------
    calls : Calls
    low, high : int
        The time that it spans, in nanoseconds.

    Returns
    -------
    uint8 (HEIGHT, WIDTH)
        0 for no call, at least 1 where one starts, 255 for the busiest cell; by the square root, so that
        short calls are seen.
    """
    busy = occupancy(calls, low, high, WIDTH, HEIGHT)
    most = float(busy.max(initial=0.0))
    share = busy / most if most > 0.0 else busy
    cells = np.ceil(255 * np.sqrt(np.where(share > _NOISE, share, 0.0))).astype(np.uint8)
    column = (np.asarray(calls.start, np.float64) - low) * WIDTH / max(high - low, 1)
    inside = (column >= 0) & (column < WIDTH)
    at = _rows(calls, HEIGHT)[inside], column[inside].astype(np.int64)
    cells[at] = np.maximum(cells[at], 1)
    return np.asarray(cells)


def memory_mural(memory: Memory, low: int, high: int) -> NDArray[np.uint8]:
    """Return the mural of a trace without calls: the most bytes of each moment as a skyline.

    Parameters
    ----------
    memory : Memory
    low, high : int
        The time that it spans, in nanoseconds.

    Returns
    -------
    uint8 (HEIGHT, WIDTH)
        0 above the skyline, 255 below it, between them in its uppermost cell; all of the height is the most
        bytes of the whole.
    """
    time, alive = bytes_alive(memory)
    edges = low + (high - low) * np.arange(WIDTH + 1) / WIDTH
    first = np.searchsorted(time, edges)
    # What a column begins with, and what comes in it.
    before = np.concatenate([[0.0], alive])[first[:-1]]
    highest = np.maximum.reduceat(np.append(alive, 0.0), np.minimum(first[:-1], len(alive)))
    most_in = np.maximum(before, np.where(first[1:] > first[:-1], highest, 0.0))
    rows = most_in / max(float(most_in.max()), 1.0) * HEIGHT
    share = np.clip(rows[None] - np.arange(HEIGHT)[:, None], 0.0, 1.0)
    return np.asarray(np.ceil(255 * share), np.uint8)


def unpacked(text: str) -> NDArray[np.uint8] | None:
    """Return the mural that was stored with :func:`.mural.packed_cells`.

    Parameters
    ----------
    text : str

    Returns
    -------
    uint8 (HEIGHT, WIDTH) or None
        None if the text is not a mural.
    """
    return unpacked_cells(text, (HEIGHT, WIDTH))
