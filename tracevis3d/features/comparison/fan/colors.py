"""The colours of bridges between many pairs of traces, with the same meaning for all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.palettes import OTHER, PALETTES, Paint
from ....drawing.primitives import Legend, LegendEntry
from ....trace.model import Trace
from ....trace.names import label_of_call
from ..view import colors
from .pairs import Pair
from .stage import Stage

if TYPE_CHECKING:
    from ..view.parameters import Parameters

Indices = NDArray[np.int32]

_STEPS = 96
#: Characters of a name in the legend, at most.
_LONGEST = 24
#: Characters that names in the legend have on average, at most: then it shares a row with that of the walls.
_AVERAGE = 18.5


def of_bridges(
    stage: Stage, pairs: Sequence[Pair], paint: Paint, p: Parameters
) -> tuple[list[Indices], tuple[Legend, ...]]:
    """Return the colour of each match of each pair, and the legends.

    Groups of different pairs within calls of one function have one colour, so that it can be followed from
    wall to wall.

    Parameters
    ----------
    stage : Stage
    pairs : sequence of Pair
        Those that bridges join.
    paint : Paint
        It gets the colours.
    p : Parameters
        ``color`` says what they show.

    Returns
    -------
    (list of int32 (m,), tuple of Legend)
        Indices into the palette, one array for each pair.
    """
    if p.color == "permutation":
        return _apart(stage, pairs, paint)
    if p.color == "position":
        first = paint.add(PALETTES[p.palette].ramp(_STEPS))
        side = 1 if p.viewpoint == "A" else 0
        share = [colors.positions(x.comparison, x.chosen, x.grouping)[side] for x in pairs]
        where = "the wall in front" if side else "the wall behind"
        return [_on_ramp(first, s) for s in share], (
            _ramp(f"Start in {where} within the group", first, ("first", "middle", "last")),
        )
    return _groups(pairs, paint, p)


def _apart(stage: Stage, pairs: Sequence[Pair], paint: Paint) -> tuple[list[Indices], tuple[Legend, ...]]:
    """Return colours by how far apart the two calls of a match start, from the starts of both windows."""
    apart = []
    for pair in pairs:
        walls = (stage.walls[pair.back], stage.walls[pair.front])
        start = [
            w.trace.calls.start[ids] - w.window[0] for w, ids in zip(walls, (pair.chosen.a, pair.chosen.b))
        ]
        apart.append(np.abs(start[0] - start[1]).astype(np.float64))
    most = max((float(x.max(initial=0.0)) for x in apart), default=0.0)
    first = paint.add(colors.ramp(colors.MOVED, _STEPS))
    legend = _ramp("Starts apart", first, ("0", units.duration(most / 2), units.duration(most)))
    return [_on_ramp(first, x / most if most > 0 else x) for x in apart], (legend,)


def _on_ramp(first: int, share: NDArray[np.float64]) -> Indices:
    return np.asarray(first + np.rint(np.clip(share, 0.0, 1.0) * (_STEPS - 1)), np.int32)


def _ramp(title: str, first: int, text: tuple[str, str, str]) -> Legend:
    return Legend(title, ramp=(first, first + _STEPS - 1), ramp_tick=(0.0, 0.5, 1.0), ramp_text=text)


def _groups(pairs: Sequence[Pair], paint: Paint, p: Parameters) -> tuple[list[Indices], tuple[Legend, ...]]:
    """Return colours by the function of each match's group: those with most time have one of their own."""
    named = _names(pairs)
    weight: dict[str, float] = {}
    for pair, label in zip(pairs, named):
        for g, name in label.items():
            if name and g < pair.grouping.trunk:
                weight[name] = weight.get(name, 0.0) + float(pair.grouping.weight[g])
    palette = PALETTES[p.palette]
    # The other half of the row is the legend's of the walls.
    entries = largest(weight, min((p.entries + 1) // 2, len(palette.kinds)))
    first = paint.add(np.vstack([palette.kinds[: len(entries)], OTHER[None], colors.TRUNK]))
    index = {name: first + k for k, name in enumerate(entries)}
    other, trunk = first + len(entries), first + len(entries) + 1
    found = []
    for pair, label in zip(pairs, named):
        table = np.full(len(pair.grouping), trunk, np.int32)
        for g, name in label.items():
            table[g] = index.get(name, other) if name else trunk
        found.append(table[pair.grouping.of])
    legend = [LegendEntry(_short(name), index[name]) for name in entries]
    if len(weight) > len(entries):
        legend.append(LegendEntry(f"{len(weight) - len(entries):,} more", other))
    if any((color == trunk).any() for color in found):
        legend.append(LegendEntry("around these", trunk))
    return found, (Legend("Tubes within", tuple(legend)),) if legend else ()


def largest(weight: Mapping[str, float], most: int) -> list[str]:
    """Return the names with most weight, fewer than ``most`` where long ones take the room of a row.

    Parameters
    ----------
    weight : mapping of str to float
    most : int

    Returns
    -------
    list of str
        The one with most weight first; at least one, unless ``most`` is 0 or there are none.
    """
    names = sorted(weight, key=lambda name: (-weight[name], name))[:most]
    fit = np.cumsum([len(_short(name)) for name in names]) <= _AVERAGE * most
    return names[: max(int(fit.sum()), min(most, 1))]


def _names(pairs: Sequence[Pair]) -> list[dict[int, str]]:
    """Return for each pair the function that each group is named after; nothing for what encloses them.

    Pairs are divided into groups at different depths. So that a function means the same everywhere, a group
    is named after the outermost caller of its root (or the root) that is the root of a group anywhere and
    takes less than half of its trace's time.
    """
    roots = {
        _label(pair.comparison.traces[0], int(pair.grouping.a[g]))
        for pair in pairs
        for g in np.unique(pair.grouping.of).tolist()
        if g < pair.grouping.trunk
    }
    out = []
    for pair in pairs:
        trace, grouping = pair.comparison.traces[0], pair.grouping
        calls, half = trace.calls, 0.5 * trace.span_ns
        label: dict[int, str] = {}
        for g in np.unique(grouping.of).tolist():
            call = int(grouping.a[g])
            name = _label(trace, call) if g < grouping.trunk else ""
            while call >= 0:
                here = _label(trace, call)
                if here in roots and calls.end[call] - calls.start[call] < half:
                    name = here
                call = int(calls.parent[call])
            label[g] = name
        out.append(label)
    return out


def _label(trace: Trace, call: int) -> str:
    return label_of_call(trace, call)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
