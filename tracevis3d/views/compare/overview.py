"""The overview of TraceDiff (section IV-A) as a row of bars behind each wall."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...drawing.palettes import parse
from ...drawing.words import Boxes, Legend
from ...layout import ticks
from .composition import OVERVIEW, OVERVIEW_GAP, Composition
from .matches import Chosen

if TYPE_CHECKING:
    from .parameters import Parameters

Colors = NDArray[np.float32]
Floats = NDArray[np.float64]

#: Colours of the ramp, an odd number: the middle is exactly 0.
STEPS = 65
#: Width of an interval in pixels of the picture.
_BAR_PX = 10.0
_THIN, _DEEP = 0.03, 0.42
# Blue, grey, orange: told apart with any colour vision. The paper's is red, grey, green.
_DIVERGING = parse("2166ac 7fa8d1 c9ccd0 e8a75c c4560a")
_PAPER = parse("d7191c c88080 c0c0c0 80b080 1a9641")


def ramp(palette: str) -> Colors:
    """Return the colours from "earlier in the other trace" over "at the same time" to "later"."""
    anchors = _PAPER if palette == "paper" else _DIVERGING
    at, given = np.linspace(0, 1, STEPS), np.linspace(0, 1, len(anchors))
    return np.stack([np.interp(at, given, anchors[:, c]) for c in range(4)], axis=1).astype(np.float32)


def intervals(
    start: NDArray[np.int64], offset: Floats, similarity: Floats, window: tuple[int, int], bars: int
) -> tuple[Floats, Floats, Floats]:
    """Return for equal intervals: the sum of similarities, the mean signed offset and its spread.

    The paper's δ (Eq. 4) is a sum of absolute values, which can't tell the past from the future; its colours
    need the sign.

    Parameters
    ----------
    start : int64 (m,)
        Start of the calls that are matched, nanoseconds.
    offset : float64 (m,)
        How much later the matched call of the other trace starts.
    similarity : float64 (m,)
    window : (int, int)
    bars : int

    Returns
    -------
    total, mean, spread : float64 (bars,)
        The spread is the standard deviation; means are weighted by similarity; 0 where nothing starts.
    """
    share = (start - window[0]) / max(window[1] - window[0], 1)
    inside = (share >= 0) & (share <= 1)
    bar = np.minimum((share[inside] * bars).astype(np.int64), bars - 1)
    weight, d = similarity[inside], offset[inside]
    total = np.bincount(bar, weight, bars)
    safe = np.maximum(total, 1e-300)
    mean = np.bincount(bar, weight * d, bars) / safe
    spread = np.sqrt(np.maximum(np.bincount(bar, weight * (d - mean[bar]) ** 2, bars) / safe, 0.0))
    return np.asarray(total, np.float64), np.asarray(mean), np.asarray(spread)


def overview(
    picture: Composition, chosen: Chosen, first: int, p: Parameters
) -> tuple[list[Boxes], tuple[Legend, ...], list[str]]:
    """Return the bars behind both walls, what their colours say, and notes.

    Parameters
    ----------
    picture : Composition
    chosen : Chosen
    first : int
        Palette index of the ramp.
    p : Parameters
    """
    walls = picture.walls
    starts = [w.trace.calls.start[ids] for w, ids in zip(walls, (chosen.a, chosen.b))]
    placed = [s - w.window[0] for s, w in zip(starts, walls)]
    later = (placed[1] + picture.shift - placed[0]).astype(np.float64)
    found = []
    for w, s, sign in zip(walls, starts, (1.0, -1.0)):
        bars = max(int(w.width * picture.pixels_per_unit / _BAR_PX), 1)
        found.append(intervals(s, sign * later, chosen.similarity, w.window, bars))
    highest = max(float(total.max(initial=0)) for total, _, _ in found)
    used = np.concatenate([np.abs(mean[total > 0]) for total, mean, _ in found])
    farthest = float(np.quantile(used, 0.98)) if len(used) else 0.0
    widest = max(float(spread.max(initial=0)) for _, _, spread in found)
    if not highest > 0:
        return [], (), []
    made = []
    for w, (total, mean, spread) in zip(walls, found):
        which = np.flatnonzero(total > 0)
        bar = w.width / len(total)
        length = OVERVIEW * total[which] / highest
        thick = _THIN + _DEEP * (spread[which] / widest if widest > 0 else np.zeros(len(which)))
        y0, y1, z0, z1 = w.fold.outward(OVERVIEW_GAP, length, thick)
        low = np.stack([w.offset + which * bar + 0.08 * bar, y0, z0], axis=1)
        size = np.stack([np.full(len(which), 0.84 * bar), y1 - y0, z1 - z0], axis=1)
        place = 0.5 + 0.5 * np.clip(mean[which] / farthest if farthest > 0 else 0 * mean[which], -1, 1)
        color = first + np.rint(place * (STEPS - 1)).astype(np.int32)
        made.append(
            Boxes(
                "interval",
                low.astype(np.float32),
                size.astype(np.float32),
                color.astype(np.int32),
                which.astype(np.int64),
                source=w.source,
            )
        )
    text = ticks.duration(farthest)
    legend = Legend(
        "Bars: matched calls of the other trace start",
        ramp=(first, first + STEPS - 1),
        ramp_tick=(0.0, 0.5, 1.0),
        ramp_text=(f"{text} earlier", "together", f"{text} later") if farthest > 0 else ("", "together", ""),
    )
    notes = [
        f"bars: length is the sum of similarities (the longest: {highest:,.1f}), "
        f"thickness the spread of the offsets (the thickest: {ticks.duration(widest)})"
    ]
    return made, (legend,), notes
