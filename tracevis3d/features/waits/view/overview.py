"""Overviews: the whole trace of a row's thread as a low bar, in which the row's window is framed.

SyncTrace (section IV-B) keeps one above the main view; a focused thread has one too (section IV-C).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.primitives import Element, Labels, Lines, Meaning, Wedges
from ....layout.cut import call_span
from .colors import CallColors
from .layout import APART, PAPER_HEIGHT, Layout

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_THICK, _FRAME = 0.03, 0.045
#: The kind of the splitter, and the title of the share of the height that the main thread's part has.
SPLITTER, SHARE_OF_HEIGHT = "splitter", "share of the height"
#: Width of the splitter's line and of its handle, and the handle's ends as shares of the picture's width.
_SPLIT, _HANDLE, _ENDS = 0.04, 0.16, (0.46, 0.54)
#: Points of a line along a bent row.
_POINTS = 25


def bars(picture: Layout, colors: CallColors, surface: int) -> list[Element]:
    """Return the calls of the overviews, on plates.

    Parameters
    ----------
    picture : Layout
    colors : CallColors
        Of calls.
    surface : int
        The plates' colour, as index into the palette.

    Returns
    -------
    list of Element
    """
    made: list[Element] = []
    for one in picture.overviews:
        ids, clusters = one.cut.calls, one.cut.clusters
        calls = picture.trace.calls
        row, zero = np.array([one.row]), np.zeros(1)
        corner, first = picture.theatre.blocks(
            row, zero, zero + 1, zero + one.low, zero + one.high, zero - 0.02, zero - 0.008
        )
        thread = np.array([picture.rows[one.row].thread], np.int64)
        made.append(Wedges("overview row", corner, first, np.full(1, surface, np.int32), thread))
        start = np.concatenate([calls.start[ids], clusters.start])
        end = np.concatenate([calls.end[ids], clusters.end])
        top = np.concatenate([calls.depth[ids], clusters.depth]).astype(np.int64) - 1
        bottom = np.concatenate([one.cut.deepest(calls), clusters.bottom]).astype(np.int64)
        color = np.concatenate([colors.of(ids), colors.clusters(clusters.longest, 0 * clusters.longest)])
        low, high = _shares(picture, start, end)
        level = (one.high - one.low) / one.levels
        row, ahead = np.full(len(start), one.row), np.full(len(start), _THICK)
        corner, first = picture.theatre.blocks(
            row, low, high, one.low + level * top, one.low + level * bottom, np.zeros(len(start)), ahead
        )
        which = np.concatenate([ids, clusters.longest.astype(np.int64)])
        made.append(Wedges("overview", corner, first, color.astype(np.int32), which))
    return made


def frames(picture: Layout, color: int) -> list[Element]:
    """Return a frame around each row's window in its overview, and lines from there to the row's ends.

    Parameters
    ----------
    picture : Layout
    color : int
        Index into the palette.

    Returns
    -------
    list of Element
    """
    lines: list[Floats] = []
    ids: list[int] = []
    theatre, front = picture.theatre, _THICK + 0.012
    for one in picture.overviews:
        window = np.array(picture.rows[one.row].window, np.int64)
        low, high = (float(share[0]) for share in _shares(picture, window[:1], window[1:]))
        pad = 0.06 * (one.high - one.low)
        along, back = np.linspace(low, high, _POINTS), np.linspace(high, low, _POINTS)
        share = np.concatenate([along, back, [low]])
        out = np.repeat([one.low - pad, one.high + pad, one.low - pad], [_POINTS, _POINTS, 1])
        lines.append(theatre.place(np.full(len(share), one.row), share, out, front))
        reach = float(picture.reach(np.array([one.row]))[0])
        for inside, end in ((low, 0.0), (high, 1.0)):
            share, out = np.linspace(inside, end, _POINTS), np.linspace(one.low - pad, reach, _POINTS)
            lines.append(theatre.place(np.full(_POINTS, one.row), share, out, front))
        ids += [picture.rows[one.row].thread] * 3
    if not lines:
        return []
    first = np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int64)
    width = np.tile([_FRAME, 0.5 * _FRAME, 0.5 * _FRAME], len(lines) // 3).astype(np.float32)
    return [
        Lines(
            "overview window", np.concatenate(lines).astype(np.float32), first, width,
            np.full(len(lines), color, np.int32), np.array(ids, np.int64),
        )
    ]  # fmt: skip


def names(picture: Layout) -> Labels | None:
    """Return the text left of each overview: the length of the whole trace."""
    if not picture.overviews or picture.parameters.paper > 0.0:
        return None
    span = call_span(picture.trace)
    row = np.array([one.row for one in picture.overviews])
    middle = np.array([(one.low + one.high) / 2 for one in picture.overviews])
    anchor = picture.theatre.place(row, np.zeros(len(row)), middle, 0.0) - np.array([0.2, 0.0, 0.0])
    n = len(row)
    return Labels(
        "overview", (f"all {units.duration(span[1] - span[0])}",) * n, anchor.astype(np.float32),
        np.full(n, picture.text, np.float32), np.full(n, np.inf, np.float32), np.full(n, 6e8, np.float32), 1,
    )  # fmt: skip


def splitter(picture: Layout, color: int) -> tuple[Wedges | None, Meaning]:
    """Return, on paper, the line between the main thread and the others, by which one gets more room.

    Parameters
    ----------
    picture : Layout
    color : int
        Index into the palette.

    Returns
    -------
    (Wedges or None, Meaning)
        None if there is nothing to divide, or rows are not those of the paper.
    """
    theatre = picture.theatre
    if theatre.paper < 1.0 or not picture.main or len(picture.rows) < 2:
        return None, Meaning()
    high = theatre.main_level * float(picture.extent(np.zeros(1, np.int64))[0])
    low, end = np.array([0.0, _ENDS[0]]), np.array([1.0, _ENDS[1]])
    half = np.array([_SPLIT, _HANDLE]) / 2 / theatre.main_level
    middle, row = -APART / 2 / theatre.main_level, np.zeros(2, np.int64)
    corner, first = theatre.blocks(
        row, low, end, middle - half, middle + half, np.zeros(2), np.full(2, _THICK)
    )
    share = np.array([(high + APART) / PAPER_HEIGHT])
    return (
        Wedges(SPLITTER, corner, first, np.full(2, color, np.int32), np.zeros(2, np.int64)),
        Meaning(
            values=((SHARE_OF_HEIGHT, share), ("height", np.array([PAPER_HEIGHT]))),
            texts=(("drag it", ("the main thread gets more room, the others less",), np.zeros(1, np.int64)),),
        ),
    )


def _shares(picture: Layout, start: Ints, end: Ints) -> tuple[Floats, Floats]:
    """Return where times lie in the whole trace, from 0 to 1."""
    first, last = call_span(picture.trace)
    span = max(last - first, 1)
    low = np.clip((start - first) / span, 0.0, 1.0)
    return low, np.maximum(np.clip((end - first) / span, 0.0, 1.0), low)
