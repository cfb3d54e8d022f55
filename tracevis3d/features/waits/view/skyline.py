"""How many threads run at once, as a skyline above the main thread."""

from __future__ import annotations

import numpy as np

from ....drawing.primitives import Labels, Wedges
from ..running import running
from .layout import Layout

#: Pixels that one step of it is wide.
_STEP_PX = 3.0
_THICK = 0.03


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
    low, high = picture.skyline
    start, end = int(picture.low[0]), int(picture.high[0])
    steps = max(int(picture.theatre.width * picture.pixels_per_unit / _STEP_PX), 1)
    edges = np.unique(np.linspace(start, end, steps + 1).astype(np.int64))
    many = running(picture.waits, edges)
    most = max(float(many.max(initial=0.0)), 1.0)
    seen = np.flatnonzero(many > 0)
    share = (edges - start) / max(end - start, 1)
    n, zero = len(seen), np.zeros(len(seen))
    corner, first = picture.theatre.blocks(
        np.zeros(n, np.int64), share[seen], share[seen + 1], zero + low,
        low + (high - low) * many[seen] / most, zero, zero + _THICK,
    )  # fmt: skip
    made = Wedges(
        "threads that run", corner, first, np.full(n, color, np.int32), np.rint(many[seen]).astype(np.int64)
    )
    waits = "that run" if len(picture.waits.own) else "within a call"
    text = (f"threads {waits}, up to {most:.0f}",)
    beside = picture.theatre.place(
        np.zeros(1, np.int64), np.zeros(1), np.array([(low + high) / 2]), 0.0
    ) - np.array([0.2, 0.0, 0.0])
    one = np.ones(1, np.float32)
    names = Labels(
        "threads that run", text, beside.astype(np.float32), picture.text * one, np.inf * one, 6e8 * one, 1
    )
    return made, names
