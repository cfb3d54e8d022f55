"""Rows of several threads: stacked bands, as high as the number of threads that wait, read and compute."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.builder import DrawingBuilder
from ....drawing.links import Link, lists
from ....drawing.palettes import parse
from ....drawing.primitives import LegendEntry, Meaning, Wedges
from ....drawing.selector import Selector
from ..running import DOES, states
from .calls import THICK, one_window
from .colors import DOING, CallColors
from .layout import Layout
from .rows.alike import KIND, MANY

Ints = NDArray[np.int64]

#: Pixels that a step along time is wide.
_STEP_PX = 3.0
#: From the row's foot: what they do, what is loud first, and what the legend calls it.
_STACK = {
    "contended": "contention",
    "computes": "compute",
    "transfers": "read or write",
    "waits for a signal": "wait otherwise",
    "idle": "idle or asleep",
}
# Quiet before a light ground and a dark one.
_IDLE = np.append(parse("a3bfb2")[0][:3], 0.26).astype(np.float32)
#: Steps that differ by less than this share of the row's height are drawn as one.
_SAME = 1e-3


def group_bands(
    picture: Layout, drawing: DrawingBuilder, calls: CallColors
) -> tuple[Wedges | None, tuple[LegendEntry, ...]]:
    """Return the bands of all rows of several threads, and the legend of colours that calls don't have.

    At each time a band is as high as the share of the row's threads that do what its colour says, on average
    over a step of a few pixels.

    Parameters
    ----------
    picture : Layout
    drawing : DrawingBuilder
        It gets the colours.
    calls : CallColors
        Where these say what calls do, bands have them too.

    Returns
    -------
    Wedges or None, tuple of LegendEntry
    """
    which = np.flatnonzero(picture.several).tolist()
    if not which:
        return None, ()
    found = np.concatenate([_blocks(picture, i) for i in which])
    row, kind = found[:, 0].astype(np.int64), found[:, 1].astype(np.int64)
    n = len(found)
    corner, first = picture.theatre.blocks(
        row, found[:, 2], found[:, 3], found[:, 4], found[:, 5], np.zeros(n), np.full(n, THICK)
    )
    doing = calls.doing if calls.doing is not None else drawing.color(DOING) + np.arange(len(DOING))
    color = np.append(doing, drawing.color(_IDLE)).astype(np.int32)
    thread = np.array([one.thread for one in picture.rows], np.int64)[row]
    window = one_window(picture)
    time = found[:, 2:4].astype(np.float32) if window is not None else np.empty((0, 2), np.float32)
    made = Wedges(KIND, corner, first, color[kind], thread, time=time, window=window)
    new = range(len(DOING) if calls.doing is not None else 0, len(_STACK))
    texts = list(_STACK.values())
    entries = tuple(
        LegendEntry(
            f"of a row's threads: {texts[k]}", int(color[k]),
            stands_for=Selector(((int(color[k]), int(color[k])),), kinds=(KIND,)),
        )
        for k in new
        if (kind == k).any()
    )  # fmt: skip
    return made, entries


def _blocks(picture: Layout, i: int) -> NDArray[np.float64]:
    """Return the blocks of a row: row, place in the stack, shares of the window, distances outward."""
    row = picture.rows[i]
    low, high = row.window
    steps = max(int(picture.theatre.width * picture.pixels_per_unit / _STEP_PX), 1)
    edges = np.unique(np.linspace(low, high, steps + 1).astype(np.int64))
    of = np.full(len(picture.trace.threads), -1, np.int64)
    of[row.threads] = 0
    many = states(picture.waits, of, edges)[0][:, [DOES.index(name) for name in _STACK]]
    top = np.cumsum(many, axis=1) / len(row.threads)
    new = np.ones(len(top), np.bool_)
    new[1:] = np.abs(np.diff(top, axis=0)).max(axis=1) > _SAME
    begin = np.flatnonzero(new)
    end = np.append(begin[1:], len(top))
    share = (edges - low) / max(high - low, 1)
    top = np.add.reduceat(top * np.diff(edges)[:, None], begin) / (edges[end] - edges[begin])[:, None]
    bottom = np.column_stack([np.zeros(len(top)), top[:, :-1]])
    at, kind = np.nonzero(top - bottom > _SAME)
    reach = float(picture.reach(np.array([i]))[0])
    return np.column_stack([
        np.full(len(at), i), kind, share[begin[at]], share[end[at]],
        reach * bottom[at, kind], reach * top[at, kind],
    ])  # fmt: skip


def meaning(picture: Layout) -> Meaning:
    """Return what rows represent: which threads, and of several how many, and how long they wait together."""
    waits, n, rows = picture.waits, len(picture.trace.threads), picture.rows
    many, waited = np.full(n, np.nan), np.full(n, np.nan)
    for row in rows:
        if len(row.threads) > 1:
            many[row.thread], waited[row.thread] = len(row.threads), waits.waited[row.threads].sum()
    owner = np.repeat([row.thread for row in rows], [len(row.threads) for row in rows])
    first, thing = lists(owner, np.concatenate([row.threads for row in rows]) if rows else owner, n)
    return Meaning(
        values=((MANY, many), ("together they wait (ns)", waited)), links=(Link("thread", thing, first),)
    )
