"""The legends of the view, and who waits longest for whom."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..... import units
from .....drawing.primitives import Legend, LegendEntry
from .....drawing.selector import Selector
from .. import correspondences as corr
from ..layout import Layout
from .tags import called, short

#: Pairs of threads of which the legend says how long one waits for the other.
_PAIRS = 3
#: Kinds of elements between a wait and its release, and on the row that is waited for.
_FUNNELS, _BANDS = ("correspondence", "correspondence out of sight"), ("wait marker", "wait start")
#: Letters that a line of the legend has room for.
_LETTERS = 165


def signs(picture: Layout, chosen: corr.Shown, several: int, merged: int, color: int, rail: int) -> Legend:
    """Return the legend of elements that are not calls.

    Parameters
    ----------
    picture : Layout
    chosen : Shown
        The correspondences that are drawn.
    several : int
        Signs over waits for several objects.
    merged : int
        Clusters of short waits.
    color : int
        That of funnels, as index into the palette.
    rail : int
        That of the critical path.

    Returns
    -------
    Legend
    """
    entries = []
    if len(chosen):
        text = "funnel: from a wait to the release (ball) that ended it"
        entries.append(LegendEntry(text, color, stands_for=Selector(kinds=(*_FUNNELS, "release"))))
        text = "band behind a row: another thread waits for this one"
        entries.append(LegendEntry(text, color, "ghost", Selector(kinds=_BANDS)))
    if several:
        text = "cone: waits for any of several objects, diamond: for all of them"
        entries.append(LegendEntry(text, color, stands_for=Selector(kinds=("wait for several",))))
    if merged:
        pale = Selector(kinds=("aggregated",))
        entries.append(LegendEntry("pale shape: short waits, merged", color, "ghost", pale))
    if rail >= 0:
        entries.append(LegendEntry("critical path", rail, "glow"))
    title = "Waits, in the colour of the thread that waits"
    if picture.parameters.waits == "object":
        title = "Waits"
    return Legend(title, tuple(entries))


def longest_pairs(picture: Layout, chosen: corr.Shown, color: NDArray[Any]) -> Legend:
    """Say who waits for whom longest, and for what, in the colours of the drawing.

    Parameters
    ----------
    picture : Layout
    chosen : Shown
        The correspondences that are drawn.
    color : int32 (k,)
        Of each of them.

    Returns
    -------
    Legend
    """
    ops, threads = picture.waits.ops, picture.trace.threads
    mine, by = ops.thread[chosen.wait], ops.thread[chosen.release]
    # As much of them as lies in their rows' windows.
    low, high = picture.low[chosen.row], picture.high[chosen.row]
    time = np.minimum(ops.end[chosen.wait], high) - np.maximum(ops.start[chosen.wait], low)
    some = np.diff(ops.first)[chosen.wait] > 0
    object = np.where(some, np.append(ops.object, -1)[ops.first[chosen.wait]], -1)
    key = np.stack([mine.astype(np.int64), by.astype(np.int64), object])
    pairs, first, back = np.unique(key, axis=1, return_index=True, return_inverse=True)
    total = np.bincount(back.reshape(-1), np.maximum(time, 0), pairs.shape[1])
    entries: list[LegendEntry] = []
    letters = 0
    for k in np.argsort(-total, kind="stable")[:_PAIRS].tolist():
        t, b, o = pairs[:, k].tolist()
        who, whom = called(picture, t, b), called(picture, b, t)
        text = f"{who} waits {units.duration(round(float(total[k])))} for {whom}"
        name = ops.objects[o] if o >= 0 else ""
        # What is called like one of the threads says nothing new.
        if name and not any(threads.name[x] and threads.name[x] in name for x in (t, b)):
            text += f" ({short(name)})"
        letters += len(text) + 5
        if entries and letters > _LETTERS:
            break
        waits = tuple(chosen.wait[back.reshape(-1) == k].tolist())
        both = Selector(kinds=(*_FUNNELS, *_BANDS, "release"), ids=waits)
        entries.append(LegendEntry(text, int(color[first[k]]), stands_for=both))
    return Legend("Longest waits", tuple(entries))
