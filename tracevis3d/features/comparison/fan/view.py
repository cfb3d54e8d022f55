"""Three and more traces: walls in a fan, their similarities as the floor, bridges between pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.palettes import OTHER, Paint
from ....drawing.primitives import Drawing, Labels, Legend, LegendEntry, Lines, Meaning, Tubes
from ....errors import UsageError
from ....progress import Progress, part
from ....trace.cached_results import cached_with_traces
from ....trace.model import Trace
from ....trace.profile import calls_word, counted_calls
from ....views.calls.clusters import note_of_rows
from ..matching import match
from ..matching.many_traces import Similarities, best_order, similarities
from ..view import colors
from ..view.base_drawing import THIN_PX
from ..view.boxes import boxes_of, explained
from ..view.colors import gloss as gloss_of
from ..view.focus import focused
from ..view.match_settings import asked, comparing
from ..view.names import names
from ..view.sweep import floor_of
from .colors import of_bridges
from .matrix import matrix
from .names import fan_names, fan_ruler
from .pairs import Pair, bridges, chosen_pairs, compared
from .stage import Stage, compose_fan, fan_contents

if TYPE_CHECKING:
    from ..view.parameters import Parameters

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Flags = NDArray[np.bool_]

#: Maximum number of traces named in the title; all are named beside their walls.
_NAMED = 4


def draw_fan(traces: Sequence[Trace], p: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw three and more traces.

    Parameters
    ----------
    traces : sequence of Trace
    p : Parameters
    frame : Frame
    progress : Progress

    Returns
    -------
    Drawing

    Raises
    ------
    UsageError
        If a window is empty, a pair or a call isn't there, or a setting is for two traces only.
    """
    if p.align:
        raise UsageError(f"align={p.align}: this moves the second of two traces, {len(traces)} were given")
    n = len(traces)
    chosen_pairs(p.pairs, range(n))  # invalid values are reported before work that takes minutes
    contents, shares, same = fan_contents(traces, p, frame)
    known: Similarities | None = None
    if p.matrix != "none" or p.order == "similarity":
        known = _similar(traces, asked(p), progress=part(progress, 0.0, 0.5))
    cells = "best" if p.matrix == "none" else p.matrix
    order = list(range(n))
    if p.order == "similarity" and known is not None:
        order = best_order(known.mutual(cells)).tolist()
    stage = compose_fan(contents, shares, order, p, frame, same)
    places = chosen_pairs(p.pairs, order)
    tubes_each, lines_each = (m // max(len(places), 1) for m in (p.tubes, p.lines))
    pairs: list[Pair] = []
    for done, place in enumerate(places):
        step = part(progress, 0.5 + 0.4 * done / len(places), 0.5 + 0.4 * (done + 1) / len(places))
        comparison = _compared([stage.walls[k].trace for k in place], asked(p), progress=step)
        pairs.append(compared(stage, place, comparison, tubes_each + lines_each, p))
    progress(0.9, "bundling")
    paint = Paint()
    bridge_color, legends = of_bridges(stage, pairs, paint, p)
    tau = float(match.threshold(p.tau))
    best = _best(stage, pairs)
    walls = _wall_colors(stage, pairs, bridge_color, best, tau, paint, p)
    elements: list[Any] = []
    labels: list[Labels] = fan_names(stage)
    coverage = _explained(stage, pairs) if p.plates == "coverage" else [None] * n
    for wall, color, similar, covered in zip(stage.walls, walls[0], best, coverage):
        boxes = boxes_of(wall, color, np.nan_to_num(similar, nan=1.0), covered, paint)
        elements += boxes
        labels.append(names(stage.view_of_names(), wall, boxes[0], p.labels, paint.palette))
    swept, moved, more, paleness, used = _swept(
        stage, pairs, bridge_color, tau, paint, replace(p, tubes=tubes_each)
    )
    elements += swept
    legends = colors.all_seen(legends, [used, *(walls[0] if p.walls == "group" else [])])
    legends = (*colors.with_entries(legends, more), walls[1])
    if p.matrix != "none" and known is not None:
        grid, texts, more_legends = matrix(
            stage, known.cells(p.matrix)[np.ix_(order, order)], places, paint, p
        )
        elements += grid
        labels += texts
        legends = (*legends, *more_legends)
    progress(1.0, "drawn")
    alike = None if known is None else known.mutual(cells)[np.ix_(order, order)]
    camera = replace(stage.camera, low=(*stage.camera.low[:2], floor_of(swept)))
    return Drawing(
        palette=paint.palette,
        elements=tuple(e for e in elements if len(e)),
        camera=camera,
        labels=tuple(x for x in labels if len(x)),
        axes=(fan_ruler(stage),),
        legends=legends,
        title=p.caption or _title(stage, alike),
        notes=(*_notes(stage, pairs, tubes_each, p), *paleness),
        counts={
            "traces": n,
            "pairs": len(pairs),
            "calls": sum(w.cut.total for w in stage.walls),
            "clusters": sum(len(w.cut.clusters) for w in stage.walls),
            "calls_in_clusters": sum(int(w.cut.clusters.calls.sum()) for w in stage.walls),
            "matches": sum(x.found for x in pairs),
            "matches_left_out": sum(x.left_out for x in pairs),
            "groups": sum(len(x.grouping) for x in pairs),
            "unmatched": sum(int(np.count_nonzero(b <= 0)) for b in best),
            "moved": moved,
        },
        meaning=_meaning(stage, pairs, known, order, p),
    )


@cached_with_traces(most=1)
def _similar(
    traces: Sequence[Trace], values: tuple[tuple[str, Any], ...], *, progress: Progress
) -> Similarities:
    settings = comparing(dict(values))
    if settings.pop("renamed"):
        raise UsageError("renamed: names are paired in two traces, rewrite takes patterns for more")
    return similarities(traces, **settings, progress=progress)


# As many as twelve neighbours make.
@cached_with_traces(most=12)
def _compared(
    traces: Sequence[Trace], values: tuple[tuple[str, Any], ...], *, progress: Progress
) -> match.Comparison:
    a, b = traces
    return match.compare(a, b, **comparing(dict(values)), progress=progress)


def _best(stage: Stage, pairs: Sequence[Pair]) -> list[Floats]:
    """Return, for each drawn element, the highest similarity with a call on the walls joined with its own.

    0 without a match; NaN on walls that are joined with none.
    """
    best: list[Floats] = [np.full(len(w.drawn), np.nan) for w in stage.walls]
    for pair in pairs:
        ends = (pair.back, pair.front)
        for k, similar in zip(ends, pair.best):
            best[k] = np.fmax(best[k], similar)
    return best


def _explained(stage: Stage, pairs: Sequence[Pair]) -> list[Floats]:
    """Return the share of the time of what is drawn on each wall that matches explain: of any pair, the most.

    A wall that is joined with none has 1.
    """
    most = [np.full(len(w.drawn), np.nan) for w in stage.walls]
    for pair in pairs:
        for side, k in enumerate((pair.back, pair.front)):
            found = explained(pair.comparison, replace(stage.walls[k], source=side))
            most[k] = np.fmax(most[k], found)
    return [np.nan_to_num(m, nan=1.0) for m in most]


def _wall_colors(
    stage: Stage, pairs: Sequence[Pair], bridge_color: Sequence[Indices], best: Sequence[Floats], tau: float,
    paint: Paint, p: Parameters,
) -> tuple[list[Indices], Legend]:  # fmt: skip
    """Return the colours of the elements on each wall, and the legend."""
    own: list[Indices] = [np.full(len(w.drawn), -1, np.int32) for w in stage.walls]
    for pair, color in zip(pairs, bridge_color):
        for k, ids in ((pair.back, pair.chosen.a), (pair.front, pair.chosen.b)):
            own[k] = np.where(own[k] < 0, colors.color_of_match(stage.walls[k].drawn, ids, color), own[k])
    walls = colors.of_walls(tau, paint, p)
    of = [walls.of(np.nan_to_num(b, nan=1.0), o) for b, o in zip(best, own)]
    merged = any(len(w.cut.clusters) for w in stage.walls)
    legend = walls.shown_legend(of, calls_word(stage.walls[0].trace) if merged else "")
    if any(np.isnan(b).all() for b in best if len(b)):
        plain = paint.add(colors.PLAIN)
        of = [np.where(np.isnan(b), plain, c).astype(np.int32) for b, c in zip(best, of)]
        legend = replace(legend, entries=(*legend.entries, LegendEntry("not joined", plain)))
    return of, legend


def _swept(
    stage: Stage, pairs: Sequence[Pair], color: Sequence[Indices], tau: float, paint: Paint, p: Parameters
) -> tuple[list[Tubes | Lines], int, tuple[LegendEntry, ...], tuple[str, ...], Indices]:
    """Return the bridges of all pairs, how many matches have moved, entries, notes, and colours."""
    made: list[Tubes | Lines] = []
    used: list[Indices] = []
    faded: list[Flags] = []
    bright: list[Flags] = []
    moved = base = 0
    ghosts = _out_of_focus(stage, pairs, p.focus)
    grey = paint.add(OTHER * np.array([1, 1, 1, 0.45], np.float32)) if p.focus else -1
    for pair, own, ghost in zip(pairs, color, ghosts):
        chosen, m = pair.chosen, len(pair.chosen)
        gloss = np.zeros(m, np.float32)
        own = np.where(ghost, grey, own).astype(np.int32)
        used.append(np.unique(own))
        if p.fade and m:
            picture = stage.pair(pair.back, pair.front, p.band)
            wide = np.maximum(*(w.spots(ids)[1] for w, ids in zip(picture.walls, (chosen.a, chosen.b))))
            thick = wide * stage.pixels_per_unit >= THIN_PX
            before, own = own, colors.fade(own, chosen.similarity, ~thick, tau, paint)
            gloss = np.where(
                thick & ~ghost & (np.arange(m) < p.tubes), gloss_of(chosen.similarity, tau), gloss
            )
            faded.append((before != own)[~ghost])
            bright.append(gloss[~ghost] == 1)
        elements, far = bridges(stage, pair, own, ghost, gloss, base, p)
        made += elements
        moved += int(np.count_nonzero(far > 0))
        base += m
    entries = [LegendEntry("out of focus", grey, "ghost")] if any(g.any() for g in ghosts) else []
    notes = colors.of_similarity(np.concatenate(faded), np.concatenate(bright), tau) if faded else []
    return made, moved, tuple(entries), tuple(notes), np.concatenate([np.empty(0, np.int32), *used])


def _out_of_focus(stage: Stage, pairs: Sequence[Pair], text: str) -> list[Flags]:
    """Return which matches of each pair don't lie within the call stacks that ``text`` names: bool (m,).

    A trace in which nothing is called so doesn't restrict its matches, unless the other one is such too.
    """
    if not text:
        return [np.zeros(len(pair.chosen), np.bool_) for pair in pairs]
    stack = {
        k: focused(stage.walls[k].trace, text, stage.letters[k]) for x in pairs for k in (x.back, x.front)
    }
    if not any(flags.any() for flags in stack.values()):
        raise UsageError(f"focus={text}: no function in the joined traces has this name")
    out = []
    for pair in pairs:
        a, b = stack[pair.back], stack[pair.front]
        inside = np.full(len(pair.chosen), a.any() or b.any())
        if a.any():
            inside &= a[pair.chosen.a]
        if b.any():
            inside &= b[pair.chosen.b]
        out.append(~inside)
    return out


def _meaning(
    stage: Stage, pairs: Sequence[Pair], known: Similarities | None, order: Sequence[int], p: Parameters
) -> dict[str, Meaning]:
    """Return what bridges and the cells of the matrix represent."""
    m = sum(len(pair.chosen) for pair in pairs)
    calls = {wall.source: np.full(m, -1, np.int64) for wall in stage.walls}
    base = 0
    for pair in pairs:
        for k, ids in ((pair.back, pair.chosen.a), (pair.front, pair.chosen.b)):
            calls[stage.walls[k].source][base : base + len(ids)] = ids
        base += len(pair.chosen)
    alike = np.concatenate([np.empty(0), *(pair.chosen.similarity for pair in pairs)])
    bridge = Meaning(tuple(sorted(calls.items(), key=lambda x: x[0])), (("similarity", alike),))
    meaning = {"tube": bridge, "line": bridge}
    if p.matrix != "none" and known is not None:
        cells = known.cells(p.matrix)[np.ix_(order, order)].reshape(-1)
        meaning |= {kind: Meaning(values=((p.matrix, cells),)) for kind in ("similarity", "joined")}
    return meaning


def _title(stage: Stage, alike: Floats | None) -> str:
    """Return which traces are most alike and least, where that is known: float64 (n, n), symmetric."""
    n = len(stage.walls)
    if alike is not None and n > 2:
        a, b = np.triu_indices(n, 1)
        share = alike[a, b]
        most, least = int(share.argmax()), int(share.argmin())
        if share[most] > share[least]:
            pairs = [" and ".join(sorted(stage.letters[k] for k in (a[i], b[i]))) for i in (most, least)]
            return (
                f"{pairs[0]} are most alike ({share[most]:.2f}), {pairs[1]} least ({share[least]:.2f}), "
                f"of {n} traces"
            )
    if n > _NAMED:
        calls = sum(len(w.trace.calls) for w in stage.walls)
        return f"{n} traces compared ({calls:,} calls)"
    return f"{n} traces: " + ", ".join(f"{a} {name}" for a, name in zip(stage.letters, stage.names))


def _notes(stage: Stage, pairs: Sequence[Pair], tubes_each: int, p: Parameters) -> tuple[str, ...]:
    shown = [len(x.chosen) for x in pairs]
    swept = sum(min(m, tubes_each) for m in shown)
    notes = [
        f"{swept:,} matches are tubes, {sum(shown) - swept:,} lines; "
        f"{sum(x.left_out for x in pairs):,} others between these calls are left out"
    ]
    for pair in pairs:
        if not len(pair.chosen):
            letters = " and ".join(stage.letters[k] for k in (pair.back, pair.front))
            notes.append(f"no two calls that are drawn of {letters} are more similar than {p.tau:g}")
    if not stage.same_scale:
        notes.append("each trace has a time scale of its own")
    merged = sum(int(w.cut.clusters.calls.sum()) for w in stage.walls)
    if merged:
        total = sum(w.cut.total for w in stage.walls)
        many = counted_calls(stage.walls[0].trace, total)
        notes.append(f"{merged:,} of {many}, narrower than {p.resolution:g} px, are merged")
    notes += filter(None, [note_of_rows(stage.walls[0].trace, [w.cut for w in stage.walls])])
    notes.append(_identities(stage, pairs))
    notes += [w.note for w in stage.walls if w.note]
    return tuple(n for n in notes if n)


def _identities(stage: Stage, pairs: Sequence[Pair]) -> str:
    """Return a note on how functions were identified, and if pairs differ, which by plain names."""
    words = {"exact": "their full names", "name": "their names without path and line"}
    kinds = [pair.comparison.identity.kind for pair in pairs]
    used = sorted(set(kinds))
    if not used:
        return ""
    if len(used) == 1:
        return f"functions are the same if {words[used[0]]} are"
    by_name = [
        "-".join(stage.letters[k] for k in (pair.back, pair.front))
        for pair, kind in zip(pairs, kinds)
        if kind == "name"
    ]
    return f"functions are the same if {words['exact']} are; between {', '.join(by_name)} {words['name']}"
