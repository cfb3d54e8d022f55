"""The items of the live memory as bars: ridges of blocks, and ribs of merged ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.stream import Bars, Sections, bars, box_sections
from .arrangement import WIDTH, Arrangement
from .blocks import Intervals, LiveBlocks
from .colors import color_of

#: Scene units: the height of what was idle for the whole window, of what is in use, and between items.
HEIGHT, LOW, _GAP = 3.4, 0.12, 0.012
#: Minimum width of an item, in scene units.
_NARROWEST = 0.008


def item_bars(blocks: LiveBlocks, found: Intervals, window_ns: int, parity: int = 0, cells: int = 0) -> Bars:
    """Return the bars of intervals: of idle ones the part in which they rise, and the plateau after it.

    Values of the bars: height at the start and at the end, and width as a share of the item's.

    Parameters
    ----------
    blocks : LiveBlocks
    found : Intervals
    window_ns : int
    parity, cells : int
        Which of the two shades merged items have: ``parity``, or by turns from one cell to the next, of so
        many nanoseconds.

    Returns
    -------
    Bars
    """
    if not len(found):
        return Bars.empty()
    alone = blocks.items[found.item, blocks.k.ALONE] == 1
    width = np.clip(found.live / np.maximum(_bytes_of(blocks, found.item), 1.0), 0.04, 1.0)
    height = found.age / window_ns
    rises = (height[:, 1] > 1.0) & (height[:, 0] < 1.0)
    second = (found.time[:, 0] // cells) & 1 if cells else np.full(len(found), parity)
    time, top = found.time.copy(), np.clip(height, 0.0, 1.0)
    full = (found.time[:, 0] + (1.0 - height[:, 0]) * window_ns).astype(np.int64)
    time[rises, 1] = np.minimum(full[rises], found.time[rises, 1])
    color = np.stack([color_of(top[:, end], found.age[:, 1], alone, second) for end in (0, 1)], axis=1)
    first = bars(time, found.item, color, top[:, 0], top[:, 1], width)
    if not rises.any():
        return first
    level = np.ones(int(rises.sum()))
    high = color_of(level, found.age[rises, 1], alone[rises], second[rises])
    time = np.stack([time[rises, 1], found.time[rises, 1]], axis=1)
    return Bars.joined([first, bars(time, found.item[rises], high, level, level, width[rises])])


def _bytes_of(blocks: LiveBlocks, item: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the bytes that the whole width of items represents."""
    if not blocks.logarithmic:
        return blocks.wide[item]
    # Of logarithms only whether anything lives says something about the width.
    return np.asarray(np.maximum(blocks.items[item, blocks.k.LIVE], 1), np.float64)


def merged(blocks: LiveBlocks, begin: int, end: int) -> Intervals:
    """Return what merged items did from ``begin`` to ``end``.

    Parameters
    ----------
    blocks : LiveBlocks
    begin, end : int
        Nanoseconds.

    Returns
    -------
    Intervals
    """
    k = blocks.k
    which = np.flatnonzero((blocks.items[:, k.ALONE] == 0) & (blocks.items[:, k.LIVING] > 0))
    given = blocks.items[which]
    used = given[:, k.LAST] + blocks.pause_ns >= begin
    age = np.stack([begin - given[:, k.LAST], end - given[:, k.LAST]], axis=1)
    age[used] = 0
    start = np.minimum(np.maximum(begin, given[:, k.BUSY]), end - 1)
    time = np.stack([start, np.full(len(which), end)], axis=1)
    return Intervals(time, which, np.maximum(age, 0), given[:, k.LIVE])


def ongoing(blocks: LiveBlocks, now: int, window_ns: int) -> list[Intervals]:
    """Return the state of single blocks: the idle ones, and their earlier use.

    Parameters
    ----------
    blocks : LiveBlocks
    now : int
        Nanoseconds.
    window_ns : int
        The length of time that is shown.

    Returns
    -------
    list of Intervals
    """
    k = blocks.k
    which = np.flatnonzero((blocks.items[:, k.ALONE] == 1) & (blocks.items[:, k.LIVING] > 0))
    given = blocks.items[which]
    idle = now - given[:, k.LAST] > blocks.pause_ns
    until = np.where(idle, given[:, k.LAST], now)
    seen = until >= now - window_ns
    none = np.zeros((len(which), 2), np.int64)
    used = Intervals(
        np.stack([given[:, k.BUSY], until], axis=1)[seen], which[seen], none[seen], given[seen, k.LIVE]
    )
    age = np.stack([none[:, 0], now - given[:, k.LAST]], axis=1)
    time = np.stack([given[:, k.LAST], np.full(len(which), now)], axis=1)
    return [Intervals(time[idle], which[idle], age[idle], given[idle, k.LIVE]), used]


def item_sections(arrangement: Arrangement, given: Bars, own: Any, out: Sections) -> None:
    """Write the cross-sections of the bars ``own`` of ``given``, which are items, into ``out``.

    Parameters
    ----------
    arrangement : Arrangement
        Where items lie.
    given : Bars
        Bars of a page.
    own : bool (n,) or int64 (k,)
        Which of them are items.
    out : float32 (n, 2, 4, 2)
        As :func:`~tracevis3d.drawing.stream.box_sections` returns them.
    """
    item = given.key[own]
    low, high = arrangement.x[item, 0], arrangement.x[item, 1]
    apart = np.minimum(_GAP, 0.1 * (high - low))
    wide = np.maximum((high - low - apart) * given.value[own, 2], _NARROWEST)
    inside = (high > -0.02) & (low < WIDTH + 0.02) & (high > low)
    low = np.clip(low, 0.0, WIDTH)
    across = np.stack([low, np.where(inside, np.clip(low + wide, 0.0, WIDTH), low)], axis=1)
    rise = np.where(inside, arrangement.rise[item], 0.0)
    ground = np.zeros(len(item))
    for end in (0, 1):
        top = (LOW + HEIGHT * given.value[own, end]) * rise
        out[own, end] = box_sections(across, np.stack([ground, top], axis=1))[:, 0]
