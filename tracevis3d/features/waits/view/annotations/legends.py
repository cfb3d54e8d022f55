"""The legends of the view, and who waits longest for whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..... import units
from .....drawing.primitives import Callout, Legend, LegendEntry, Tubes
from .....drawing.selector import Selector
from .. import correspondences as corr
from ..calls import THICK
from ..layout import Layout
from .tags import called, short

#: Maximum number of pairs of threads in the legend with their waiting time.
_PAIRS = 3
#: What caused less than this share of the largest cause is not named.
_LITTLE = 0.01
#: Kinds of elements between a wait and its release, and on the row that is waited for.
_FUNNELS, _BANDS = ("correspondence", "correspondence out of sight"), ("wait marker", "wait start")
#: Maximum number of characters of a line of the legend.
_LETTERS = 165


def signs(
    picture: Layout,
    chosen: corr.Shown,
    several: int,
    merged: int,
    color: int,
    rail: int,
    held: LegendEntry | None,
    lines: Sequence[LegendEntry],
) -> Legend:
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
        That of the critical path; -1: there is none.
    held : LegendEntry or None
        Of dark bars; None: there are none.
    lines : sequence of LegendEntry
        Of the lines under waits.

    Returns
    -------
    Legend
    """
    entries = []
    if len(chosen):
        lines_alone = corr.no_delay(picture, chosen)
        for text, which in (
            ("funnel: wait to release", ~lines_alone),
            ("thin line: idle, asleep or timed out", lines_alone),
        ):
            if which.any():
                these = Selector(kinds=(*_FUNNELS, "release"), ids=tuple(chosen.wait[which].tolist()))
                entries.append(LegendEntry(text, color, stands_for=these))
        text = "band: others wait for it"
        entries.append(LegendEntry(text, color, "ghost", Selector(kinds=_BANDS)))
    if several:
        text = "cone: waits for any of several objects, diamond: for all of them"
        entries.append(LegendEntry(text, color, stands_for=Selector(kinds=("wait for several",))))
    if merged:
        pale = Selector(kinds=("aggregated",))
        entries.append(LegendEntry("pale shape: short waits, merged", color, "ghost", pale))
    if rail >= 0:
        entries.append(LegendEntry("critical path", rail, "glow"))
    if held is not None:
        entries.append(held)
    entries += lines
    title = (
        "Waits, in the colour of the thread that waits" if picture.parameters.waits == "thread" else "Shapes"
    )
    return Legend(title, tuple(entries))


def in_vain(funnels: Tubes | None) -> list[LegendEntry]:
    """Return the legend's entry for the funnels of waits that nobody ends.

    Parameters
    ----------
    funnels : Tubes or None

    Returns
    -------
    list of LegendEntry
    """
    if funnels is None:
        return []
    text = "funnel that leads nowhere: nobody ends the wait"
    return [LegendEntry(text, int(funnels.color[0]), stands_for=Selector(kinds=(corr.OPEN,)))]


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
    threads = picture.trace.threads
    pairs = longest(picture, chosen)
    entries: list[LegendEntry] = []
    letters = 0
    for pair in pairs:
        text, name = pair.words(picture), pair.object
        # Objects named like one of the threads add no information.
        if (
            name
            and pair.by >= 0
            and not any(threads.name[x] and threads.name[x] in name for x in (pair.mine, pair.by))
        ):
            text += f" ({short(name)})"
        letters += len(text) + 5
        if entries and letters > _LETTERS:
            break
        waits = tuple(chosen.wait[pair.which].tolist())
        both = Selector(kinds=(*_FUNNELS, *_BANDS, "release"), ids=waits)
        entries.append(LegendEntry(text, int(color[pair.which[0]]), stands_for=both))
    return Legend("Longest waits", tuple(entries))


def callouts(picture: Layout, chosen: corr.Shown, color: NDArray[Any]) -> tuple[Callout, ...]:
    """Point out who waits for whom longest, each at its longest wait.

    Parameters
    ----------
    picture : Layout
    chosen : Shown
        The correspondences that are drawn.
    color : int32 (k,)
        Of each of them.

    Returns
    -------
    tuple of Callout
        The longest first.
    """
    ops, found = picture.waits.ops, []
    for pair in longest(picture, chosen):
        times = ops.lasted[chosen.wait[pair.which]]
        i = pair.which[np.argmax(times)][None]
        middle = (chosen.low[i] + chosen.high[i]) / 2
        at = picture.theatre.place(chosen.row[i], middle, picture.reach(chosen.row[i]), THICK)[0]
        detail = f"in {units.counted(len(pair.which), 'wait')}"
        if pair.by < 0:
            detail = _holders(picture, chosen.wait[pair.which])
        elif pair.object:
            detail = f"{short(pair.object)}, {detail}"
        call = int(ops.call[chosen.wait[i[0]]])
        found.append(
            Callout(
                pair.words(picture), detail, (float(at[0]), float(at[1]), float(at[2])), pair.time,
                int(color[i[0]]), ((0, call),) if call >= 0 else (),
                ((0, int(ops.start[chosen.wait[i[0]]]), int(ops.end[chosen.wait[i[0]]])),),
                bool(corr.inferred(picture, chosen.only(pair.which)).all()),
            )
        )  # fmt: skip
    return tuple(found)


def _holders(picture: Layout, waits: NDArray[np.int64]) -> str:
    """Return who delayed waits (rows of the operations), and for how long, the longest first."""
    causes = picture.waits.causes
    mine = np.isin(causes.wait, waits)
    sums = np.bincount(causes.thread[mine], causes.ns[mine], len(picture.trace.threads))
    least = max(_LITTLE * float(sums.max(initial=0)), 1)
    most = [t for t in np.argsort(-sums, kind="stable")[:_PAIRS].tolist() if sums[t] >= least]
    return "held by " + ", ".join(f"{called(picture, t, t)} {units.duration(round(sums[t]))}" for t in most)


@dataclass(frozen=True, eq=False)
class _Pair:
    """A thread that waits for another.

    Attributes
    ----------
    mine, by : int
        The thread that waits, and the one that ends it; -1: it is delayed by those that hold the object.
    object : str
        What it waits for; empty: unknown.
    time : float
        Nanoseconds of its waits that lie in the picture.
    which : int64 (n,)
        The correspondences.
    """

    mine: int
    by: int
    object: str
    time: float
    which: NDArray[np.int64]

    def words(self, picture: Layout) -> str:
        """Return who waits for whom, and how long."""
        if self.by < 0:
            who = called(picture, self.mine, self.mine)
            return f"{who} waits {units.duration(round(self.time))} for {self.object}"
        who, whom = called(picture, self.mine, self.by), called(picture, self.by, self.mine)
        return f"{who} waits {units.duration(round(self.time))} for {whom}"


def longest(picture: Layout, chosen: corr.Shown) -> list[_Pair]:
    """Return the pairs of threads of which one waits longest for the other; idle threads have none.

    Parameters
    ----------
    picture : Layout
    chosen : Shown
        The correspondences that are drawn.

    Returns
    -------
    list of _Pair
        The longest first.
    """
    ops, kept = picture.waits.ops, np.flatnonzero(~corr.no_delay(picture, chosen))
    chosen = chosen.only(kept)
    mine = ops.thread[chosen.wait]
    # A delayed thread waits for all holders one after the other, not only for the last one.
    by = np.where(ops.asks[chosen.wait], -1, ops.thread[chosen.release])
    # As much of them as lies in their rows' windows.
    low, high = picture.low[chosen.row], picture.high[chosen.row]
    time = np.minimum(ops.end[chosen.wait], high) - np.maximum(ops.start[chosen.wait], low)
    some = np.diff(ops.first)[chosen.wait] > 0
    object = np.where(some, np.append(ops.object, -1)[ops.first[chosen.wait]], -1)
    key = np.stack([mine.astype(np.int64), by.astype(np.int64), object])
    pairs, back = np.unique(key, axis=1, return_inverse=True)
    total = np.bincount(back.reshape(-1), np.maximum(time, 0), pairs.shape[1])
    # Threads delayed by a holder come first.
    asks = np.bincount(back.reshape(-1), ops.asks[chosen.wait], pairs.shape[1]) > 0
    found = []
    for k in np.lexsort((-total, ~asks))[:_PAIRS].tolist():
        t, b, o = pairs[:, k].tolist()
        name = ops.objects[o] if o >= 0 else ""
        found.append(_Pair(t, b, name, float(total[k]), kept[back.reshape(-1) == k]))
    return found
