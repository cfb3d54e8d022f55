"""Names of functions in the paper's picture: along the bars of the main thread, and along bent ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .....drawing.primitives import Labels
from ..calls import THICK
from ..layout import Layout

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

#: A name is this many times as long as high, at least.
_LONG = 3.0
#: Share of a level's height that a line of text takes, and that a bent bar may bulge beside a straight text.
_TALL, _BULGE = 0.7, 0.3
#: Levels at which a bar's direction is looked up, in shares of its window.
_STEP = 1e-4


def wedge_names(picture: Layout, color: Indices, most: int) -> list[Labels]:
    """Return functions' names on the calls that have room for them (SyncTrace, figure 4).

    A text is straight: on a bent bar it is written along the middle of the bar, as long as the bar bulges
    little beside it. No text stands on its head.

    Parameters
    ----------
    picture : Layout
        With ``paper=1``.
    color : int32 (calls,)
        Of the calls of all rows, in order.
    most : int
        How many names on a row, the longest first.

    Returns
    -------
    list of Labels
        One for each direction.
    """
    calls, labels, theatre = picture.trace.calls, picture.trace.functions.label, picture.theatre
    made: list[Labels] = []
    start = 0
    for r, cut in enumerate(picture.cuts):
        ids = cut.calls
        mine = color[start : start + len(ids)]
        start += len(ids)
        inner, outer, begin, end = picture.bars(r)
        row = np.full(len(ids), r)
        low, high = np.clip(begin, 0.0, 1.0), np.clip(end, 0.0, 1.0)
        turn = float(theatre.sector[r, 1] - theatre.sector[r, 0])
        unit = theatre.level if turn > 0 else theatre.main_level
        height = np.minimum(_TALL * (outer - inner) * unit, picture.text)
        room = (high - low) * theatre.width
        if turn > 0:
            radius = theatre.zero + theatre.level * (inner + outer) / 2
            # The chord below which the arc bulges no more than there is free beside the text.
            chord = np.sqrt(8.0 * radius * _BULGE * (outer - inner) * unit)
            room = np.minimum((high - low) * turn * radius, chord)
        fits = np.flatnonzero(
            (height * picture.pixels_per_unit >= picture.least_text) & (room > _LONG * height)
        )
        fits = fits[np.argsort(-room[fits], kind="stable")[:most]]
        if not len(fits):
            continue
        out, middle = (inner + outer)[fits] / 2, (low + high)[fits] / 2
        at = theatre.place(row[fits], middle, out, THICK + 0.008)
        right = theatre.place(row[fits], middle + _STEP, out, 0.0) - theatre.place(
            row[fits], middle - _STEP, out, 0.0
        )
        right /= np.linalg.norm(right, axis=1)[:, None]
        right *= np.where(right[:, :1] < 0, -1.0, 1.0)
        directions, of = np.unique(np.round(right, 3), axis=0, return_inverse=True)
        of = of.reshape(-1)
        for k, (x, _, z) in enumerate(directions.tolist()):
            which = np.flatnonzero(of == k)
            some = fits[which]
            made.append(
                Labels(
                    "function", tuple(labels[f] for f in calls.function[ids[some]].tolist()),
                    at[which].astype(np.float32), height[some].astype(np.float32),
                    (0.94 * room[some]).astype(np.float32), room[some].astype(np.float32), 0,
                    (x, 0.0, z), (-z, 0.0, x), background=mine[some].astype(np.int32),
                )
            )  # fmt: skip
    return made
