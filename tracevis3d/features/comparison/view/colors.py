"""The colours of a comparison, and their legends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.palettes import OTHER, PALETTES, Paint, parse
from ....drawing.primitives import Legend, LegendEntry
from ..matching.match import Comparison
from .layout import Layout
from .matches import Chosen, Grouping

if TYPE_CHECKING:
    from .parameters import Parameters

Colors = NDArray[np.float32]
Indices = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_RAMP = 96
#: Characters of the name of a group, and of that of the call that tells it from others.
_NAMES, _NAME = 34, 22
#: Number of steps in which thin tubes fade with lower similarity.
FADES = 4
#: Opacity of the least similar matches.
_FAINTEST = 0.4
#: Similarity from which on wide tubes reflect light, in engines that can.
STRONG = 0.9
#: Number of steps in which the crest of wide tubes gets brighter with higher similarity, in every engine.
GLOSSES = 4
# Quiet colours are translucent: pale on white and dim on black.
_CALM = parse("8c99ad b9ad7e e6b455 dd7d1e b84a0c") * np.array(
    [[1, 1, 1, 0.38], [1, 1, 1, 0.6], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], np.float32
)
#: Calls without a match in the other trace.
UNMATCHED = parse("c2185b")
PLAIN = parse("8c99ad") * np.array([1, 1, 1, 0.42], np.float32)
TRUNK = parse("8f98a8") * np.array([1, 1, 1, 0.3], np.float32)
MOVED = parse("b9bcc1 d98880 d0342c b0000f")


def ramp(anchors: Colors, n: int) -> Colors:
    """Return ``n`` colours through ``anchors``, which are evenly spaced.

    Parameters
    ----------
    anchors : float32 (k, 4)
        Red, green, blue and alpha.
    n : int
        How many colours.

    Returns
    -------
    float32 (n, 4)
    """
    at, given = np.linspace(0, 1, n), np.linspace(0, 1, len(anchors))
    return np.stack([np.interp(at, given, anchors[:, c]) for c in range(4)], axis=1).astype(np.float32)


def _index(first: int, n: int, share: Floats) -> Indices:
    return np.asarray(first + np.rint(np.clip(share, 0.0, 1.0) * (n - 1)), np.int32)


def positions(comparison: Comparison, chosen: Chosen, grouping: Grouping) -> tuple[Floats, Floats]:
    """Return where each match's call of A, and of B, starts within its group's root: float64 (m,), 0 to 1.

    Parameters
    ----------
    comparison : Comparison
    chosen : Chosen
        The matches that are drawn.
    grouping : Grouping
        Their groups.

    Returns
    -------
    (float64 (m,), float64 (m,))
    """
    found = []
    for trace, ids, roots in zip(comparison.traces, (chosen.a, chosen.b), (grouping.a, grouping.b)):
        calls, root = trace.calls, roots[grouping.of]
        length = np.maximum(calls.end[root] - calls.start[root], 1)
        found.append(np.clip((calls.start[ids] - calls.start[root]) / length, 0.0, 1.0))
    return found[0], found[1]


def of_matches(
    comparison: Comparison,
    picture: Layout,
    chosen: Chosen,
    grouping: Grouping,
    paint: Paint,
    p: Parameters,
) -> tuple[Indices, tuple[Legend, ...]]:
    """Return the colour of each match, and the legend.

    Parameters
    ----------
    comparison : Comparison
    picture : Layout
    chosen : Chosen
        The matches that are drawn.
    grouping : Grouping
        Their groups.
    paint : Paint
        It gets the colours.
    p : Parameters
        ``color`` says what they show.

    Returns
    -------
    (int32 (m,), tuple of Legend)
    """
    palette = PALETTES[p.palette]
    if p.color == "permutation":
        a, b = picture.walls
        apart = np.abs(
            (a.trace.calls.start[chosen.a] - a.window[0])
            - (b.trace.calls.start[chosen.b] - b.window[0] + picture.shift)
        ).astype(np.float64)
        most = float(apart.max(initial=0.0))
        first = paint.add(ramp(MOVED, _RAMP))
        legend = Legend(
            "Starts apart",
            ramp=(first, first + _RAMP - 1),
            ramp_tick=(0.0, 0.5, 1.0),
            ramp_text=("0", units.duration(most / 2), units.duration(most)),
        )
        return _index(first, _RAMP, apart / most if most > 0 else apart), (legend,)
    if p.color == "position":
        c_a, c_b = positions(comparison, chosen, grouping)
        seen, other = (c_b, "B") if p.viewpoint == "A" else (c_a, "A")
        first = paint.add(palette.ramp(_RAMP))
        # Roots are first in their groups by definition: their colour would add no information.
        root = (chosen.a == grouping.a[grouping.of]) & (chosen.b == grouping.b[grouping.of])
        around = root | (grouping.of >= grouping.trunk)
        legend = Legend(
            f"Start in {other} within the group (seen from {p.viewpoint})",
            (LegendEntry("the groups themselves", paint.add(TRUNK)),),
            ramp=(first, first + _RAMP - 1),
            ramp_tick=(0.0, 0.5, 1.0),
            ramp_text=("first", "middle", "last"),
        )
        color = np.where(around, legend.entries[0].color, _index(first, _RAMP, seen))
        return color.astype(np.int32), (legend,)
    entries = min(p.entries, len(palette.kinds), grouping.trunk)
    first = paint.add(np.vstack([palette.kinds[:entries], OTHER[None], TRUNK]))
    table = np.full(len(grouping), first + entries, np.int32)
    table[:entries] = first + np.arange(entries)
    table[grouping.trunk :] = first + entries + 1
    roots = [(int(grouping.a[g]), int(grouping.b[g])) for g in range(entries)]
    names = [LegendEntry(name, first + g) for g, name in enumerate(group_names(comparison, roots))]
    if grouping.trunk > entries:
        rest = grouping.trunk - entries
        names.append(LegendEntry(f"{units.counted(rest, 'other group')}", first + entries))
    if len(grouping) > grouping.trunk:
        names.append(LegendEntry("around these groups", first + entries + 1))
    return table[grouping.of], (Legend("Groups", tuple(names)),)


def group_names(comparison: Comparison, roots: Sequence[tuple[int, int]]) -> list[str]:
    """Return the names of groups of matches: their root calls, with the durations of these.

    Groups of one name have the name of the first call of A below the root, too, whose name is that of none in
    the others; where there is none, the time at which the root starts.

    Parameters
    ----------
    comparison : Comparison
    roots : sequence of (int, int)
        The root calls of each group, of A and of B.

    Returns
    -------
    list of str
    """
    names = []
    for pair in roots:
        a, b = (
            t.functions.label[int(t.calls.function[i])] for t, i in zip(comparison.traces, pair, strict=True)
        )
        names.append(a if a == b else f"{a} ~ {b}")
    trace = comparison.traces[0]
    calls, label = trace.calls, trace.functions.label
    _, named = np.unique(np.array(list(label), object).astype(str), return_inverse=True)
    below = [named.reshape(-1)[calls.function[a : a + int(calls.extent[a])]] for a, _ in roots]
    found = []
    for g, (name, pair) in enumerate(zip(names, roots, strict=True)):
        lasted = [
            units.duration(float(t.calls.end[i] - t.calls.start[i]), 2)
            for t, i in zip(comparison.traces, pair, strict=True)
        ]
        others = [below[i] for i in range(len(roots)) if i != g and names[i] == name]
        own = ""
        if others:
            alone = np.flatnonzero(~np.isin(below[g], np.concatenate(others)))
            since = int(calls.start[pair[0]]) - int(calls.start.min(initial=0))
            own = (
                label[int(calls.function[pair[0] + alone[0]])]
                if len(alone)
                else f"at {units.duration(since, 2)}"
            )
            own = f" › {_cut(own, _NAME)}"
        found.append(f"{_cut(name, _NAMES - len(own))}{own}  {lasted[0]} | {lasted[1]}")
    return found


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def fade(color: Indices, similarity: Floats, thin: NDArray[np.bool_], tau: float, paint: Paint) -> Indices:
    """Return colours in which thin tubes are paler if their calls are less similar.

    Parameters
    ----------
    color : int32 (m,)
        Of the matches.
    similarity : float64 (m,)
        Of their calls.
    thin : bool (m,)
        Those that are lines.
    tau : float
        The threshold of matches.
    paint : Paint
        It gets the paler colours.

    Returns
    -------
    int32 (m,)
    """
    out = color.copy()
    step = _steps(similarity, tau, FADES)
    known = paint.palette
    for s in range(FADES - 1):
        which = thin & (step == s)
        used, inverse = np.unique(color[which], return_inverse=True)
        if len(used):
            paler = known[used].copy()
            paler[:, 3] *= _FAINTEST + (1.0 - _FAINTEST) * s / (FADES - 1)
            out[which] = paint.add(paler) + inverse.reshape(-1).astype(np.int32)
    return out


def gloss(similarity: Floats, tau: float) -> Colors:
    """Return how bright the crest of each tube is: brighter if its calls are more similar.

    Parameters
    ----------
    similarity : float64 (m,)
        Of the calls of each match.
    tau : float
        The threshold of matches.

    Returns
    -------
    float32 (m,)
        0 to 1: in equal steps up to :data:`STRONG`, and 1 from there on.
    """
    step = _steps(similarity, tau, GLOSSES - 1, STRONG)
    return np.asarray(np.where(similarity >= STRONG, 1.0, step / (GLOSSES - 1)), np.float32)


def _steps(similarity: Floats, tau: float, steps: int, most: float = 1.0) -> Ints:
    """Return the step of each similarity, of equal steps from ``tau`` to ``most``."""
    share = (similarity - tau) / max(most - tau, 1e-9)
    return np.clip((share * steps).astype(np.int64), 0, steps - 1)


def of_similarity(faded: NDArray[np.bool_], shining: NDArray[np.bool_], tau: float) -> list[str]:
    """Return notes on :func:`fade`, and on wide tubes with a bright crest, if there are any.

    Parameters
    ----------
    faded : bool (m,)
        Matches whose colour is paler.
    shining : bool (m,)
        Tubes with a highlight.
    tau : float
        The threshold of matches.

    Returns
    -------
    list of str
    """
    notes = [f"palest lines: similar by {tau:g} alone"] if faded.any() else []
    if shining.any():
        notes.append(f"brightest tubes: similar by {STRONG:g} and more")
    return notes


def color_of_match(drawn: Ints, matched: Ints, color: Indices) -> Indices:
    """Return for calls that are drawn the colour of their most important match; -1 if they have none.

    Parameters
    ----------
    drawn : int64 (drawn,)
    matched : int64 (m,)
        The calls that matches belong to, the most important first.
    color : int32 (m,)
        Of the matches.

    Returns
    -------
    int32 (drawn,)
    """
    own = np.full(len(drawn), -1, np.int32)
    if len(matched):
        call, first = np.unique(matched, return_index=True)
        place = np.minimum(np.searchsorted(call, drawn), len(call) - 1)
        hit = call[place] == drawn
        own[hit] = color[first[place[hit]]]
    return own


def without_unused(legend: Legend, used: Indices) -> Legend:
    """Return the legend without the entries, and the ramp, in whose colours nothing is drawn.

    Parameters
    ----------
    legend : Legend
    used : int32 (n,)
        The colours that something is drawn in.

    Returns
    -------
    Legend
    """
    seen = np.unique(used)
    entries = tuple(entry for entry in legend.entries if (seen == entry.color).any())
    if legend.ramp and not ((seen >= legend.ramp[0]) & (seen <= legend.ramp[1])).any():
        return Legend(legend.title, entries)
    return replace(legend, entries=entries)


def all_seen(legends: Iterable[Legend], used: Sequence[Indices]) -> tuple[Legend, ...]:
    """Return the legends without entries whose colours are not ``used``.

    Parameters
    ----------
    legends : iterable of Legend
    used : sequence of int32 (n,)
        The colours that something is drawn in.

    Returns
    -------
    tuple of Legend
    """
    every = np.concatenate([np.empty(0, np.int32), *used])
    kept = (without_unused(legend, every) for legend in legends)
    return tuple(legend for legend in kept if legend.entries or legend.ramp)


def with_entries(legends: tuple[Legend, ...], more: Sequence[LegendEntry]) -> tuple[Legend, ...]:
    """Return legends, the last one with ``more`` entries.

    Parameters
    ----------
    legends : tuple of Legend
    more : sequence of LegendEntry
        Put at the end of the last legend, or of a new one.

    Returns
    -------
    tuple of Legend
    """
    if not more:
        return legends
    last = legends[-1] if legends else Legend("")
    return (*legends[:-1], replace(last, entries=(*last.entries, *more)))


@dataclass(frozen=True, eq=False)
class WallPaint:
    """Colours of the boxes of walls.

    Attributes
    ----------
    legend : Legend
    none : int
        Palette index of what has no match.
    first : int
        Of the ramp of similarities, where there is one; else of what has a match.
    tau : float
        Where the ramp begins; above 1 there is none.
    grouped : bool
        What has a match that is drawn has that one's colour.
    """

    legend: Legend
    none: int
    first: int
    tau: float
    grouped: bool

    def of(self, best: Floats, own: Indices) -> Indices:
        """Return colours.

        Parameters
        ----------
        best : float64 (drawn,)
            Similarity of the best match, 0 if none.
        own : int32 (drawn,)
            Colour of the match that the call is drawn with; -1 if none.

        Returns
        -------
        int32 (drawn,)
        """
        if self.tau <= 1.0:
            calm = _index(self.first, _RAMP, (best - self.tau) / max(1 - self.tau, 1e-9))
        else:
            calm = np.where(own >= 0, own, self.first) if self.grouped else np.full_like(own, self.first)
        return np.where(best > 0, calm, self.none).astype(np.int32)

    def shown_legend(self, used: Iterable[Indices], merged: str) -> Legend:
        """Return the legend of what is drawn in the colours ``used``, clusters among it if ``merged``.

        Parameters
        ----------
        used : iterable of int32 (n,)
            Those of both walls.
        merged : str
            What clusters stand for, in the plural; empty if there are none.

        Returns
        -------
        Legend
        """
        kept = without_unused(self.legend, np.concatenate([np.empty(0, np.int32), *used]))
        if not merged:
            return kept
        plain = self.legend.ramp[1] if self.legend.ramp else self.first
        return replace(kept, entries=(*kept.entries, LegendEntry(f"several {merged}", plain, "cluster")))


def of_walls(tau: float, paint: Paint, p: Parameters) -> WallPaint:
    """Return what the boxes of both walls are coloured by, and the legend.

    Parameters
    ----------
    tau : float
        The threshold of matches.
    paint : Paint
        It gets the colours.
    p : Parameters
        ``walls`` says what they show.

    Returns
    -------
    WallPaint
    """
    none = paint.add(UNMATCHED)
    alone = LegendEntry("no match", none)
    if p.walls == "similarity":
        first = paint.add(ramp(_CALM, _RAMP)[::-1])
        legend = Legend(
            "Best match",
            (alone,),
            ramp=(first, first + _RAMP - 1),
            ramp_tick=(0.0, 0.5, 1.0),
            ramp_text=(f"s = {tau:g}", f"{(1 + tau) / 2:.2g}", "1: same functions"),
        )
        return WallPaint(legend, none, first, tau, False)
    plain = paint.add(PLAIN)
    entries = (LegendEntry("has a match", plain), alone)
    return WallPaint(Legend("Calls", entries), none, plain, 2.0, p.walls == "group")
