"""How each wait is known, as the line under it: solid, dashed or dotted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import LegendEntry, Wedges
from ....drawing.selector import Selector
from ..outcomes import GAVE_UP, INFERRED
from .calls import THICK
from .correspondences import Shown, out_units
from .layout import Layout

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: What lines look like and what they say: length of a piece, and of the gap behind it, in scene units.
STYLES = (
    ("line: who ended it is recorded", 0.0, 0.0),
    ("dashed, as its funnel: inferred", 0.16, 0.10),
    ("dotted: timed out", 0.05, 0.07),
)
SOLID, DASHED, DOTTED = range(3)
#: Maximum number of pieces of a line; those of long waits are longer.
_MOST = 40
#: Maximum number of waits that timed out whose lines are drawn, the longest.
_MOST_TIMED_OUT = 200
#: Where lines lie below the first level, and how wide they are, in scene units.
_BELOW, _WIDE = 0.035, 0.05
_KIND = "wait line"


def lines(picture: Layout, chosen: Shown, color: int) -> tuple[Wedges, ...]:
    """Return a line under each wait by how it is known; none where all are recorded.

    What follows from what is recorded counts as recorded.

    Parameters
    ----------
    picture : Layout
    chosen : Shown
        The correspondences that are drawn.
    color : int
        Index into the palette.

    Returns
    -------
    tuple of Wedges
        At most one.
    """
    wait, style = styles(picture, chosen)
    if not (style != SOLID).any():
        return ()
    ops = picture.waits.ops
    row = picture.row_of[ops.thread[wait]]
    low = np.clip(picture.share(row, ops.start[wait]), 0.0, 1.0)
    high = np.clip(picture.share(row, ops.end[wait]), 0.0, 1.0)
    owner, begin, end = pieces(low, high, style, picture.theatre.width)
    n, per_unit = len(owner), out_units(picture, row[owner])
    corner, first = picture.theatre.blocks(
        row[owner], begin, end, -(_BELOW + _WIDE) / per_unit, -_BELOW / per_unit,
        np.full(n, THICK), np.full(n, THICK + 0.02),
    )  # fmt: skip
    return (Wedges(_KIND, corner, first, np.full(n, color, np.int32), wait[owner]),)


def styles(picture: Layout, chosen: Shown) -> tuple[Ints, Ints]:
    """Return waits of the rows that are shown, and the style of each one's line.

    Parameters
    ----------
    picture : Layout
    chosen : Shown
        The correspondences that are drawn.

    Returns
    -------
    (int64 (n,), int64 (n,))
        Rows of the operations, in which none is twice; indices into :data:`STYLES`.
    """
    ops, outcomes = picture.waits.ops, picture.waits.outcomes
    lost = np.flatnonzero((outcomes.outcome == GAVE_UP) & ~ops.nested)
    row = picture.row_of[ops.thread[lost]]
    here = row >= 0
    here[here] &= ops.end[lost[here]] > picture.low[row[here]]
    here[here] &= ops.start[lost[here]] < picture.high[row[here]]
    lost = lost[here]
    lost = lost[np.argsort(-ops.lasted[lost], kind="stable")[:_MOST_TIMED_OUT]]
    wait = np.unique(np.concatenate([chosen.wait, lost]))
    # On a row of several threads lines would cover each other.
    wait = wait[~picture.several[picture.row_of[ops.thread[wait]]]]
    style = np.where(outcomes.how[wait] == INFERRED, DASHED, SOLID)
    return wait, np.where(outcomes.outcome[wait] == GAVE_UP, DOTTED, style)


def pieces(low: Floats, high: Floats, style: Ints, width: float) -> tuple[Ints, Floats, Floats]:
    """Return the pieces of lines: the line of each, and where it begins and ends.

    Parameters
    ----------
    low, high : float64 (n,)
        Lines, as shares of the window.
    style : int64 (n,)
        Indices into :data:`STYLES`.
    width : float
        That of the window, in scene units.

    Returns
    -------
    (int64 (m,), float64 (m,), float64 (m,))
    """
    filled, gap = (np.array([of[i] for of in STYLES])[style] / width for i in (1, 2))
    long = np.maximum(high - low, 0.0)
    step = np.where(style == SOLID, np.maximum(long, 1e-12), np.maximum(filled + gap, long / _MOST))
    filled = np.where(style == SOLID, step, step * filled / np.maximum(filled + gap, 1e-12))
    count = np.maximum(np.ceil(long / step - 1e-9), long > 0).astype(np.int64)
    owner = np.repeat(np.arange(len(low)), count)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    begin = low[owner] + place * step[owner]
    return owner, begin, np.minimum(begin + filled[owner], high[owner])


def entries(picture: Layout, chosen: Shown, color: int) -> list[LegendEntry]:
    """Return the legend's entries for the lines that are drawn.

    Parameters
    ----------
    picture : Layout
    chosen : Shown
        The correspondences that are drawn.
    color : int
        That of the lines.

    Returns
    -------
    list of LegendEntry
    """
    wait, style = styles(picture, chosen)
    if not (style != SOLID).any():
        return []
    return [
        LegendEntry(text, color, stands_for=Selector(kinds=(_KIND,), ids=tuple(wait[style == i].tolist())))
        for i, (text, _, _) in enumerate(STYLES)
        if (style == i).any()
    ]
