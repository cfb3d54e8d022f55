"""Calls between elements that hardly ever call each other: their ways, beads on them, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .... import units
from ....drawing.primitives import Callout, Labels, Legend, LegendEntry, Marks, Tubes
from ....drawing.selector import Selector
from ....trace.names import label_of_call
from ..interactions import Rare, rarest
from ..phases import describe
from . import chords, mantle, metadata, tones
from .layout import Drum, Layout, vector
from .metadata import Meanings
from .parameters import Parameters

#: This many stand in the picture as callouts, in all drums together; the legend names the others.
CALLOUTS = 3


@dataclass(frozen=True, eq=False)
class LoneCalls:
    """The lone calls of one drum, in order of time.

    Attributes
    ----------
    elements : tuple of Tubes or Marks
        Their ways and beads.
    numbers : Labels or None
        On the beads.
    callouts : tuple of Callout
    entries : tuple of LegendEntry
    """

    elements: tuple[Tubes | Marks, ...] = ()
    numbers: Labels | None = None
    callouts: tuple[Callout, ...] = ()
    entries: tuple[LegendEntry, ...] = ()


def lone_calls(
    picture: Layout, drum: Drum, color: int, p: Parameters, meaning: Meanings, data: Sequence[Any]
) -> LoneCalls:
    """Mark the rarest calls of a drum.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    color : int
        Index into the palette.
    p : Parameters
        ``outliers`` says how many, in all drums together.
    meaning : Meanings
        They are described in it.
    data : sequence of elements
        Those of the drum: beads stand before them.

    Returns
    -------
    LoneCalls
    """
    # Without depth, calls have no place in time to be marked.
    most = max(p.outliers // len(picture.drums), min(p.outliers, 1)) if drum.bend.length > 0 else 0
    if p.color == "difference" and most:
        # What both runs do as rarely says nothing of their difference.
        differs = tones.differences(picture, drum) > 0
        every = rarest(drum.found, drum.low, drum.high, drum.found.pairs)
        ranked = [r for r in every if differs[r.pair]][:most]
    else:
        ranked = rarest(drum.found, drum.low, drum.high, most)
    if not ranked:
        return LoneCalls()
    rare = sorted(ranked, key=lambda each: each.first)
    tubes, beads = _ways(picture, drum, rare, color, p, data)
    calls = drum.found.call[np.array([r.first for r in rare], np.int64)]
    spelled = [_spelled(picture, drum, r) for r in rare]
    values = {"calls": np.array([r.count for r in rare])}
    links = metadata.of_pairs(drum, np.array([r.pair for r in rare], np.int64))
    flat = picture.flat and drum.bend.unroll == 1
    elements = tuple(
        metadata.numbered(
            each, meaning.add(each.kind, drum.source, calls, values, {"from and to": spelled}, links)
        )
        for each in ((beads,) if flat else (tubes, beads))
    )
    # Callouts of two runs tell the largest differences.
    shown = {id(r) for r in ranked[: CALLOUTS if p.color != "difference" else 0]}
    callouts, entries = [], []
    for i, r in enumerate(rare):
        name = f"{_number(picture, drum, i)}  {spelled[i]}"
        when = units.duration(int(drum.found.time[r.first]))
        if id(r) in shown:
            only = f"their only {p.relation.removesuffix('s')}, at"
            times = f"{r.count} {p.relation}, the first at" if r.count > 1 else only
            call = int(calls[i])
            point = vector(beads.point[i].astype(np.float64))
            callouts.append(
                Callout(name, f"{times} {when}", point, 1.0 / r.count, color, ((drum.source, call),))
            )
            continue
        stands_for = Selector(
            kinds=tuple(each.kind for each in elements), ids=tuple(int(each.id[i]) for each in elements)
        )
        entries.append(
            LegendEntry(
                name + (f" ({r.count} x)" if r.count > 1 else "") + f"  {when}", color, stands_for=stands_for
            )
        )
    return LoneCalls(elements, _numbers(picture, drum, beads, color), tuple(callouts), tuple(entries))


def legend(every: Sequence[LoneCalls], p: Parameters) -> Legend | None:
    """Return the legend of those that are no callouts; None if there are none.

    Parameters
    ----------
    every : sequence of LoneCalls
        Of all drums.
    p : Parameters

    Returns
    -------
    Legend or None
    """
    entries = tuple(entry for each in every for entry in each.entries)
    others = "Other lone" if any(each.callouts for each in every) else "Lone"
    return Legend(f"{others} {p.relation}", entries) if entries else None


def _ways(
    picture: Layout, drum: Drum, rare: list[Rare], color: int, p: Parameters, data: Sequence[Any]
) -> tuple[Tubes, Marks]:
    """Return the ways of lone calls, and a bead on each."""
    pair, row = (np.array([getattr(r, name) for r in rare], np.int64) for name in ("pair", "first"))
    lone = chords.Chosen(
        pair.astype(np.int32), np.array([r.count for r in rare], np.int64), drum.at(row),
        drum.found.call[row], 0, 0, len(rare),
    )  # fmt: skip
    accent = np.full(len(rare), color, np.int32)
    radius = np.full(len(rare), chords.OUTLIER)
    tubes = chords.tubes(picture, drum, lone, radius, (accent, accent), "lone call path", p)
    path = tubes.point.reshape(len(rare), -1, 3)
    return tubes, mantle.pins(picture, drum, rare, path, color, data)


def _spelled(picture: Layout, drum: Drum, rare: Rare) -> str:
    """Return who calls whom; of elements that represent several it is the function."""
    h, found, trace = picture.hierarchy, drum.found, drum.trace
    ends = [int(found.caller[rare.pair]), int(found.callee[rare.pair])]
    if all(h.merged[e] == 1 for e in ends):
        return describe(h, found, rare.pair)
    callee = int(found.call[rare.first])
    calls = (int(trace.calls.parent[callee]), callee)
    return " → ".join(
        h.distinct[int(h.node[e])] if h.merged[e] == 1 else label_of_call(trace, c)
        for e, c in zip(ends, calls, strict=True)
    )


def _numbers(picture: Layout, drum: Drum, beads: Marks, color: int) -> Labels:
    """Return the numbers on the beads, which callouts and legend name."""
    towards = np.array(picture.camera.direction)
    n = len(beads)
    return Labels(
        "lone call", tuple(_number(picture, drum, i) for i in range(n)),
        (beads.point + towards / np.linalg.norm(towards) * (0.56 * mantle.BEAD)).astype(np.float32),
        np.full(n, 0.72 * mantle.BEAD, np.float32), np.full(n, np.inf, np.float32),
        np.linspace(3.0, 2.0, n).astype(np.float32), 0,
        right=vector(picture.right), up=vector(picture.up),
        background=np.full(n, color, np.int32),
    )  # fmt: skip


def _number(picture: Layout, drum: Drum, i: int) -> str:
    """Return what a lone call is called: 1, 2, ...; of two traces A1, B1, ..."""
    return f"{'AB'[drum.source] if len(picture.drums) > 1 else ''}{i + 1}"
