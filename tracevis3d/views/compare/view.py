"""Two traces face to face: two icicles with tubes between what matches (TraceDiff, sections III and IV)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis import match
from ...drawing.frame import Frame
from ...drawing.palettes import OTHER, parse
from ...drawing.words import Boxes, Drawing, Legend, LegendEntry, Lines, Marks, Tubes
from ...errors import UsageError
from ...layout import ticks
from ...progress import Progress, part
from ...trace.model import Trace
from ..registry import View
from . import colors
from . import matches as matching
from .composition import Composition, Wall, compose, content, shares
from .matches import Chosen, Grouping
from .names import names, rulers, title, trace_names
from .overview import overview, ramp
from .parameters import Parameters
from .tubes import control, middles, tubes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Share of a level that stays free before the next.
_GAP = 0.06
#: A match is an outlier if its calls' relative positions differ by more than this share of their groups.
_OUTLIER = 0.25
_MOST_OUTLIERS = 60
_MARK = parse("e0218a")
#: Tubes of less than so many pixels fade with their similarity.
_THIN_PX = 16.0
#: Wider tubes shine from this similarity on.
_STRONG = 0.9


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the comparison of two traces.

    Parameters
    ----------
    traces : two Traces
    parameters : Parameters
    frame : Frame
    progress : Progress

    Raises
    ------
    UsageError
        If a window is empty, or no call is called as ``focus`` or ``align`` says.
    """
    a, b = traces
    p = parameters
    if p.last_depth and p.last_depth < p.first_depth:
        raise UsageError(f"last_depth={p.last_depth}: it must not be less than first_depth={p.first_depth}")
    widths, same = shares((a, b), p)
    contents = (content(a, p, 0, frame, widths[0]), content(b, p, 1, frame, widths[1]))
    comparison = _compared(a, b, p, part(progress, 0.0, 0.6))
    progress(0.6, "choosing matches")
    drawn = tuple(np.concatenate([c.cut.calls, c.cut.clusters.longest]) for c in contents)
    chosen = matching.choose(comparison, (drawn[0], drawn[1]), tuple(c.window for c in contents), p.matches)
    grouping = matching.group(comparison, chosen, p.divide)
    shift, note = _shift(comparison, chosen, grouping, contents, p)
    picture = compose(contents, p, frame, same, shift)
    progress(0.8, "bundling")
    shown = chosen.only(slice(0, p.tubes + p.lines))  # type: ignore[arg-type]
    shown_groups = _only(grouping, len(shown))
    tree = control(picture, shown, shown_groups, p)
    paint = colors.Paint()
    color, legends = colors.of_matches(comparison, picture, shown, shown_groups, paint, p)
    tau = float(comparison.settings.tau)
    own = _own_colors(picture, shown, color)
    ghost = np.zeros(len(shown), np.bool_)
    if p.focus:
        inside = _within(comparison, shown, p.focus, "focus")
        ghost = ~inside
        grey = paint.add(OTHER * np.array([1, 1, 1, 0.45], np.float32))
        color = np.where(inside, color, grey).astype(np.int32)
        legends = (*legends, Legend("", (LegendEntry(f"not within {p.focus}", grey, "ghost"),)))
    moved = matching.displacement(comparison, shown)
    shining = np.zeros(len(shown), np.bool_)
    if p.fade and len(shown):
        wide = np.maximum(*(w.spots(ids)[1] for w, ids in zip(picture.walls, (shown.a, shown.b))))
        thick = wide * picture.pixels_per_unit >= _THIN_PX
        color = colors.fade(color, shown.similarity, ~thick, tau, paint)
        shining = thick & (shown.similarity >= _STRONG)
    swept = tubes(picture, shown, tree, color, ghost, shining, moved, p)
    camera = replace(picture.camera, low=(*picture.camera.low[:2], _floor(swept)))
    best = matching.best_similarity(comparison, (drawn[0], drawn[1]))
    walls = colors.of_walls(picture, best, own, tau, paint, p)
    elements: list[Any] = []
    labels: list[Any] = [trace_names(picture, p.overview)]
    unmatched = 0
    for wall, wall_color, similarity in zip(picture.walls, walls.of, best):
        boxes = _boxes(wall, wall_color, similarity)
        elements += boxes
        labels.append(names(picture, wall, boxes[0], p.labels))
        unmatched += int(np.count_nonzero(similarity <= 0))
    legends = (*legends, walls.legend)
    notes: list[str] = []
    if p.overview:
        bars, more, notes = overview(picture, chosen, paint.add(ramp(p.palette)), p)
        elements += bars
        legends = (*legends, *more)
    elements += swept
    marks = _outliers(comparison, shown, shown_groups, swept, paint, p)
    if marks is not None:
        elements.append(marks)
        legends = (
            *legends,
            Legend("", (LegendEntry(f"positions differ by more than {_OUTLIER:.0%}", int(marks.color[0])),)),
        )
    progress(1.0, "drawn")
    clusters = [w.cut.clusters for w in picture.walls]
    return Drawing(
        palette=paint.palette,
        elements=tuple(e for e in elements if len(e)),
        camera=camera,
        labels=tuple(x for x in labels if len(x)),
        axes=rulers(picture, p.overview),
        legends=legends,
        title=_title(comparison, picture),
        notes=_notes(comparison, picture, chosen, shown, note, p, notes),
        counts={
            "calls": sum(w.cut.total for w in picture.walls),
            "calls_in_clusters": sum(int(c.calls.sum()) for c in clusters),
            "matches": len(chosen),
            "matches_left_out": chosen.left_out + len(chosen) - len(shown),
            "groups": len(grouping),
            "unmatched": unmatched,
            "moved": int(np.count_nonzero(moved > 0)),
            "shift_ns": shift,
        },
    )


#: The last comparison, so that a change of the picture alone doesn't compare again.
_last: list[tuple[Trace, Trace, tuple[object, ...], match.Comparison]] = []


def _compared(a: Trace, b: Trace, p: Parameters, progress: Progress) -> match.Comparison:
    key = (p.tau, p.measure, p.identity)
    for kept in _last:
        if kept[0] is a and kept[1] is b and kept[2] == key:
            return kept[3]
    found = match.compare(a, b, tau=p.tau, identity=p.identity, measure=p.measure, progress=progress)
    _last[:] = [(a, b, key, found)]
    return found


def _only(grouping: Grouping, n: int) -> Grouping:
    return Grouping(grouping.of[:n], grouping.a, grouping.b, grouping.weight, grouping.trunk)


def _within(comparison: match.Comparison, chosen: Chosen, text: str, name: str) -> NDArray[np.bool_]:
    """Return which matches lie within the named call stacks of A, or of B."""
    a, b = (matching.focused(t, text) for t in comparison.traces)
    if not a.any() and not b.any():
        raise UsageError(f"{name}={text}: no call is called so in either trace")
    return np.asarray((a[chosen.a] if a.any() else True) & (b[chosen.b] if b.any() else True))


def _shift(
    comparison: match.Comparison, chosen: Chosen, grouping: Grouping, contents: Sequence[Any], p: Parameters
) -> tuple[int, str]:
    """Return by how much B moves, in nanoseconds, and a note."""
    text = p.align.strip()
    if not text or not len(chosen):
        return 0, ""
    if text.isdigit():
        if not 1 <= int(text) <= grouping.trunk:
            raise UsageError(f"align={text}: there are groups 1 to {grouping.trunk:,}")
        inside = grouping.of == int(text) - 1
    else:
        inside = _within(comparison, chosen, text, "align")
    if not inside.any():
        raise UsageError(f"align={text}: no match that is drawn lies within it")
    start = [
        t.calls.start[ids[inside]] - c.window[0]
        for t, ids, c in zip(comparison.traces, (chosen.a, chosen.b), contents)
    ]
    weight = chosen.importance[inside] + 1.0
    shift = round(float(np.average((start[0] - start[1]).astype(np.float64), weights=weight)))
    return shift, f"B is moved by {ticks.duration(shift)} to align {text}"


def _floor(swept: Sequence[Tubes | Lines]) -> float:
    """Return the height of the ground, below all tubes."""
    low = 0.0
    for element in swept:
        half = element.radius[:, 1] if isinstance(element, Tubes) else 0.0
        low = min(low, float((element.point[:, 2] - half).min(initial=0.0)))
    return low - 0.02


def _own_colors(
    picture: Composition, chosen: Chosen, color: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return for what is drawn on each wall the colour of its most important match; -1 if it has none."""
    found = []
    for wall, ids in zip(picture.walls, (chosen.a, chosen.b)):
        own = np.full(len(wall.drawn), -1, np.int32)
        if len(ids):
            call, first = np.unique(ids, return_index=True)
            place = np.minimum(np.searchsorted(call, wall.drawn), len(call) - 1)
            hit = call[place] == wall.drawn
            own[hit] = color[first[place[hit]]]
        found.append(own)
    return found[0], found[1]


def _boxes(wall: Wall, color: NDArray[np.int32], similarity: Floats) -> list[Boxes]:
    """Return the boxes of calls, then of clusters; those without a match stand out of the wall."""
    calls, cut = wall.trace.calls, wall.cut
    n, c = len(cut.calls), cut.clusters
    thick = np.where(similarity > 0, wall.plate, 2.0 * wall.plate)
    level = calls.depth[cut.calls].astype(np.int64) - wall.first_depth
    # In the flat figure nothing shows between two levels.
    gap = _GAP * min(1.0, wall.fold.rise / math.radians(15.0))
    made = []
    for kind, start, end, low, high, thread, which, ids in (
        ("call", calls.start[cut.calls], calls.end[cut.calls], level, level, calls.thread[cut.calls],
         slice(0, n), cut.calls),
        ("cluster", c.start, c.end, c.depth.astype(np.int64) - wall.first_depth,
         c.bottom.astype(np.int64) - wall.first_depth, c.thread, slice(n, None), c.longest),
    ):  # fmt: skip
        corner, size = wall.place(start, end, low, high, thread, thick[which], gap)
        span = float(max(wall.window[1] - wall.window[0], 1))
        time = np.stack([start - wall.window[0], end - wall.window[0]], axis=1) / span
        look: Any = "solid" if kind == "call" else "cluster"
        made.append(
            Boxes(
                kind,
                corner,
                size,
                color[which],
                ids,
                np.clip(time, 0, 1).astype(np.float32),
                look,
                wall.source,
            )
        )
    return made


def _outliers(
    comparison: match.Comparison,
    chosen: Chosen,
    grouping: Grouping,
    swept: Any,
    paint: colors.Paint,
    p: Parameters,
) -> Marks | None:
    """Return marks on the matches whose calls' relative positions differ most."""
    if p.color != "position" or not len(chosen):
        return None
    a, b = colors.positions(comparison, chosen, grouping)
    apart = np.abs(a - b)
    which = np.flatnonzero(apart > _OUTLIER)
    which = which[np.argsort(-(apart * chosen.importance)[which], kind="stable")][:_MOST_OUTLIERS]
    if not len(which):
        return None
    point = middles(swept, len(chosen))[which]
    color = paint.add(_MARK)
    n = len(which)
    return Marks(
        "outlier", "diamond", point + np.array([0.0, 0.0, 0.12], np.float32), np.full(n, 0.13, np.float32),
        np.full(n, color, np.int32), which,
    )  # fmt: skip


def _title(comparison: match.Comparison, picture: Composition) -> str:
    text = [
        f"{title(w)} ({len(w.trace.calls):,} calls, {ticks.duration(w.trace.span_ns)})" for w in picture.walls
    ]
    return f"{text[0]}  against  {text[1]}"


def _notes(
    comparison: match.Comparison, picture: Composition, chosen: Chosen, shown: Chosen, aligned: str,
    p: Parameters, more: list[str],
) -> tuple[str, ...]:  # fmt: skip
    tubes_ = min(p.tubes, len(shown))
    notes = [
        f"{tubes_:,} matches are tubes, {len(shown) - tubes_:,} lines; "
        f"{chosen.left_out + len(chosen) - len(shown):,} others between these calls are left out"
    ]
    if not len(chosen):
        notes = [f"no two calls that are drawn are more similar than {p.tau:g}"]
    if not picture.same_scale:
        notes.append("each trace has a time scale of its own")
    merged = sum(int(w.cut.clusters.calls.sum()) for w in picture.walls)
    if merged:
        total = sum(w.cut.total for w in picture.walls)
        notes.append(f"{merged:,} of {total:,} calls, narrower than {p.resolution:g} px, are merged")
    notes += [aligned] if aligned else []
    notes += more
    kind = {"exact": "their full names", "name": "their names without path and line"}[
        comparison.identity.kind
    ]
    notes.append(f"functions are the same if {kind} are")
    notes += [w.note for w in picture.walls if w.note]
    return tuple(notes)


VIEW = View(
    name="compare",
    title="Compare",
    sentence="Two traces face to face: tubes join what matches, colours say what moved and what has no match",
    traces=(2, 2),
    parameters=Parameters,
    draw=draw,
)
