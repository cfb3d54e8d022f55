"""The calls of every row, as blocks on its surface."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Meaning, Wedges
from ....layout.cut import Cut
from ....trace.model import Trace
from ..waits import WAIT
from .colors import CallColors
from .layout import Layout

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: How far blocks stand out, in scene units: the rows' surface is at 0.
THICK = 0.05
#: Share of a level that stays free before the next.
_GAP = 0.07
#: Levels lower than this, in pixels, are drawn together where calls are merged, and have no start shading.
_LEVEL_PX = 2.5
#: Start shading: its width in pixels and as a share of the call, and the least width of a call that has one.
_START_PX, _START_SHARE, _LEAST_PX = 3.0, 0.3, 4.0


def call_blocks(picture: Layout, colors: CallColors) -> list[Wedges]:
    """Return the calls, their start shading, and the clusters of what is too short (SyncTrace, IV-B2).

    Parameters
    ----------
    picture : Layout
    colors : CallColors
        Of calls.

    Returns
    -------
    list of Wedges
    """
    row, ids = _joined([cut.calls for cut in picture.cuts])
    calls = picture.trace.calls
    level = calls.depth[ids].astype(np.int64) - 1
    low, high = _shares(picture, row, calls.start[ids], calls.end[ids])
    inner, outer = _levels(picture, level, _joined([cut.deepest(calls) for cut in picture.cuts])[1])
    back, front = np.zeros(len(ids)), np.full(len(ids), THICK)
    corner, first = picture.theatre.blocks(row, low, high, inner, outer, back, front)
    window = one_window(picture)
    time = _times(window, low, high)
    shown = [Wedges("call", corner, first, colors.of(ids), ids, time=time, window=window)]
    if picture.parameters.starts:
        pixel = 1.0 / (picture.pixels_per_unit * picture.theatre.width)
        wide = np.flatnonzero(
            (high - low > _LEAST_PX * pixel) & (calls.start[ids] >= picture.low[row])
        )  # what began before the window has no start here
        wide = wide[_pixels(picture)[row[wide]] >= _LEVEL_PX]
        stop = low + np.minimum(_START_PX * pixel, _START_SHARE * (high - low))
        corner, first = picture.theatre.blocks(
            row[wide], low[wide], stop[wide], inner[wide], outer[wide], front[wide], front[wide] + 0.004
        )
        time = _times(window, low[wide], stop[wide])
        shown.append(Wedges("start", corner, first, colors.starts(ids[wide]), ids[wide], time=time))
    shown.append(_clusters(picture, colors))
    return shown


def _clusters(picture: Layout, colors: CallColors) -> Wedges:
    """Return a bar for every level that a cluster surrounds, paler with each (SyncTrace, Fig. 4)."""
    counts = [len(cut.clusters) for cut in picture.cuts]
    row = np.repeat(np.arange(len(counts)), counts)

    def column(name: str) -> Ints:
        parts = [getattr(cut.clusters, name) for cut in picture.cuts]
        return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)

    depth, bottom, longest = column("depth"), column("bottom"), column("longest")
    low, high = _shares(picture, row, column("start"), column("end"))
    # Levels too low to be distinguished are one bar, of the middle one's paleness.
    apart = _pixels(picture)[row] >= _LEVEL_PX
    levels = np.where(apart, bottom - depth + 1, 1)
    owner = np.repeat(np.arange(len(row)), levels)
    below = np.arange(len(owner)) - np.repeat(np.cumsum(levels) - levels, levels)
    inner, outer = _levels(picture, depth[owner] - 1 + below, depth[owner] + below)
    outer = np.where(apart[owner], outer, picture.out(bottom[owner]))
    below = np.where(apart[owner], below, (bottom - depth)[owner] // 2)
    corner, first = picture.theatre.blocks(
        row[owner],
        low[owner],
        high[owner],
        inner,
        outer,
        np.zeros(len(owner)),
        np.full(len(owner), 0.8 * THICK),
    )
    window = one_window(picture)
    return Wedges(
        "cluster", corner, first, colors.clusters(longest[owner], below), longest[owner],
        time=_times(window, low[owner], high[owner]), window=window,
    )  # fmt: skip


def meaning(trace: Trace) -> Meaning:
    """Return what blocks of other kinds than calls represent, whose ids are calls."""
    return Meaning(calls=((0, np.arange(len(trace.calls), dtype=np.int64)),))


def one_window(picture: Layout) -> tuple[int, int] | None:
    """Return the window of all rows, where time runs along x in each; None where they differ."""
    windows = {row.window for row in picture.rows}
    return windows.pop() if len(windows) == 1 and picture.theatre.paper <= 0.0 else None


def _times(window: tuple[int, int] | None, low: Floats, high: Floats) -> NDArray[np.float32]:
    if window is None:
        return np.empty((0, 2), np.float32)
    return np.stack([low, high], axis=1).astype(np.float32)


def _pixels(picture: Layout) -> Floats:
    """Return how many pixels a usual level is high on each row, about."""
    usual = float(np.median(np.diff(picture.edge))) if len(picture.edge) > 1 else 1.0
    flat = np.where(picture.theatre.sector[:, 1] > picture.theatre.sector[:, 0], picture.theatre.level,
                    picture.theatre.main_level)  # fmt: skip
    per_unit = picture.theatre.stretch if picture.parameters.paper < 0.5 else flat
    return np.asarray(per_unit * usual * picture.pixels_per_unit)


def idle_blocks(picture: Layout, color: int) -> Wedges:
    """Return blocks for the times in which a thread without calls waited for work.

    Parameters
    ----------
    picture : Layout
    color : int
        Index into the palette.

    Returns
    -------
    Wedges
    """
    ops = picture.waits.ops
    rows = np.flatnonzero(
        (ops.kind == WAIT) & ops.blocked & (ops.call < 0) & (picture.row_of[ops.thread] >= 0)
    )
    row = picture.row_of[ops.thread[rows]]
    seen = (ops.end[rows] > picture.low[row]) & (ops.start[rows] < picture.high[row]) & ~picture.several[row]
    rows, row = rows[seen], row[seen]
    low, high = _shares(picture, row, ops.start[rows], ops.end[rows])
    outer = np.full(len(rows), 0.55 * float(picture.edge[1]))
    zero = np.zeros(len(rows))
    corner, first = picture.theatre.blocks(row, low, high, zero, outer, zero, zero + 0.4 * THICK)
    return Wedges("idle", corner, first, np.full(len(rows), color, np.int32), rows)


def plates(picture: Layout, color: int) -> Wedges:
    """Return the surfaces that the rows' blocks lie on.

    Parameters
    ----------
    picture : Layout
    color : int
        Index into the palette.

    Returns
    -------
    Wedges
    """
    n = len(picture.rows)
    row = np.arange(n)
    zero, one = np.zeros(n), np.ones(n)
    corner, first = picture.theatre.blocks(
        row, zero, one, zero, picture.reach(row), zero - 0.02, zero - 0.008
    )
    ids = np.array([r.thread for r in picture.rows], np.int64)
    return Wedges("row", corner, first, np.full(n, color, np.int32), ids)


def _joined(parts: list[Ints]) -> tuple[Ints, Ints]:
    row = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return row, np.concatenate(parts) if parts else np.empty(0, np.int64)


def _shares(picture: Layout, row: Ints, start: Ints, end: Ints) -> tuple[Floats, Floats]:
    low = np.clip(picture.share(row, start), 0.0, 1.0)
    return low, np.maximum(np.clip(picture.share(row, end), 0.0, 1.0), low)


def _levels(picture: Layout, first: Ints, stop: Ints) -> tuple[Floats, Floats]:
    inner, outer = picture.out(first), picture.out(stop)
    return inner, outer - _GAP * (outer - inner)


def whole(picture: Layout) -> int:
    """Return how many calls the rows show."""
    return sum(cut.total for cut in picture.cuts)


__all__ = ["THICK", "Cut", "call_blocks", "idle_blocks", "plates", "whole"]
