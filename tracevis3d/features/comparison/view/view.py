"""Two traces face to face: two icicles with tubes between what matches (TraceDiff, sections III and IV)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....analysis.measures import self_time_of
from ....drawing.frame import Frame
from ....drawing.palettes import OTHER, Paint, parse
from ....drawing.primitives import Drawing, Legend, LegendEntry, Lines, Meaning, Tubes
from ....errors import UsageError
from ....layout.cut import call_span, cut_index
from ....progress import Progress, part
from ....trace.memo import memoised_together
from ....trace.model import Trace
from ....views.call_actions import with_actions
from ....views.time_window import time_window
from ....views.view import View
from ..actions import COMPARE_FROM_HERE, FIND_SIMILAR, FOCUS
from ..matching import match
from ..matching.similarity import QUICK
from ..matching.summary import histogram_rows
from . import colors
from . import matches as matching
from .annotations.bands import bands
from .annotations.callouts import COLOR, callouts
from .annotations.marks import MARK, OUTLIER, multiplicities, outliers, outlying
from .annotations.reading_rules import annotate, signs
from .boxes import Runs, boxes_of, explained, repetitions
from .control_tree import ControlTree
from .detail import LevelOfDetail
from .focus import closer, highlight, named, stacks, within
from .layout import Layout, compose, content, seen_contents, shares
from .match_settings import asked, comparing
from .matches import Chosen, Grouping
from .names import names, rulers, title, trace_names
from .overview import overview, skylines
from .parameters import MOVING, Parameters
from .tubes import control, tubes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Tubes of less than so many pixels fade with their similarity.
THIN_PX = 16.0
#: Width in pixels of a bar of an overview of the whole trace, which is cut for it.
_CONTEXT_PX = 5.0
#: Characters of the longest bar that fit a panel beside its number.
_PANEL_BAR = 7
#: Pairs of sets that are counted by their similarity, too, at most: less than a second's work.
_MOST_COUNTED = 1_000_000_000
#: What is told of the slab in an overview.
_SLAB = ("drag it to look at another time, or its ends",)
_FOCUS, _REPEATED = parse("1f78d1") * np.array([1, 1, 1, 0.65], np.float32), parse("d7191c")


#: Values for the parameters that a drawing without tubes doesn't depend on.
_STILL: dict[str, Any] = {f.name: f.default for f in fields(Parameters) if f.name in MOVING}


@dataclass(frozen=True, eq=False)
class _Bundles:
    """All that tubes are swept from, but for the parameters of :data:`.parameters.MOVING`."""

    picture: Layout
    shown: Chosen
    tree: ControlTree
    color: NDArray[np.int32]
    ghost: NDArray[np.bool_]
    shining: NDArray[np.bool_]
    moved: Floats

    #: Matches that are marked, and the marks' colour.
    marked: Ints
    mark: int
    #: Matches that the camera "focus" looks at.
    near: NDArray[np.bool_]
    #: How similar calls are, and the colour of each match that is shown to calls.
    like: matching.Likeness
    own: NDArray[np.int32]

    def finish(self, drawing: Drawing, p: Parameters) -> Drawing:
        """Return ``drawing``, which has no tubes yet, with all that follows their course."""
        swept = tubes(
            self.picture, self.shown, self.tree, self.color, self.ghost, self.shining, self.moved, p
        )
        more: list[Any] = [*swept]
        if len(self.marked):
            more.append(outliers(self.marked, swept, len(self.shown), self.mark))
        whole = self.picture.camera
        low = min(floor_of(swept), whole.low[2])
        cameras = {"overview": replace(whole, low=(*whole.low[:2], low))}
        near = closer(self.picture, swept, self.near)
        if near is not None:
            cameras["focus"] = near
        rising = p.lift > 0 and bool((self.moved > 0).any())
        return replace(
            drawing,
            notes=(*drawing.notes, *(["tubes rise whose calls moved in the order of calls"] * rising)),
            elements=(*drawing.elements, *(e for e in more if len(e))),
            camera=cameras.get(p.camera, cameras["overview"]),
            cameras=cameras,
        )


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the comparison of two traces, or of more in a fan.

    Parameters
    ----------
    traces : two Traces, or more
    parameters : Parameters
    frame : Frame
    progress : Progress

    Raises
    ------
    UsageError
        If a window is empty, or no call is called as ``focus`` or ``align`` says.
    """
    p = parameters
    if len(traces) > 2:
        from ..fan.view import draw_fan

        return draw_fan(traces, p, frame, progress)
    drawing, bundles = still(traces, p, frame, progress)
    return bundles.finish(drawing, p)


def still(
    traces: Sequence[Trace], p: Parameters, frame: Frame, progress: Progress
) -> tuple[Drawing, _Bundles]:
    """Return the drawing of two traces without tubes, and what they are swept from; the last is kept."""
    return _still(traces, replace(p, **_STILL), frame, progress=progress)


@memoised_together(most=1)
def _still(
    traces: Sequence[Trace], p: Parameters, frame: Frame, *, progress: Progress
) -> tuple[Drawing, _Bundles]:
    """Return the drawing without tubes, and what they are swept from."""
    a, b = traces
    if p.last_depth and p.last_depth < p.first_depth:
        raise UsageError(f"last_depth={p.last_depth}: it must not be less than first_depth={p.first_depth}")
    comparison = _compared(traces, asked(p), progress=part(progress, 0.0, 0.6))
    p = followed(comparison, p)
    spans = tuple(call_span(t) for t in traces)
    windows = (time_window(a, p.start_a, p.end_a), time_window(b, p.start_b, p.end_b))
    is_part = any(w[0] > s[0] or w[1] < s[1] for w, s in zip(windows, spans))
    context = p.overview and p.context and is_part
    contents, same = seen_contents((a, b), p, frame, context)
    progress(0.6, "choosing matches")
    drawn = tuple(np.concatenate([c.cut.calls, c.cut.clusters.longest]) for c in contents)
    like = matching.likeness(comparison, (drawn[0], drawn[1]))
    chosen = matching.choose(like, tuple(c.window for c in contents), p.matches)
    grouping = matching.group(comparison, chosen, p.divide)
    shift, note = _shift(comparison, chosen, grouping, contents, p)
    picture = compose(contents, p, frame, same, shift, context)
    progress(0.8, "bundling")
    shown = chosen.only(slice(0, p.tubes + p.lines))  # type: ignore[arg-type]
    shown_groups = _only(grouping, len(shown))
    tree = control(picture, shown, shown_groups, p)
    paint = Paint()
    color, legends = colors.of_matches(comparison, picture, shown, shown_groups, paint, p)
    own = color
    tau = float(comparison.settings.tau)
    ghost = np.zeros(len(shown), np.bool_)
    of_tubes, of_calls = [], []
    if p.focus:
        inside = within(comparison, shown, p.focus, "focus")
        ghost = ~inside
        grey = paint.add(OTHER * np.array([1, 1, 1, 0.45], np.float32))
        color = np.where(inside, color, grey).astype(np.int32)
        if ghost.any():
            of_tubes.append(LegendEntry(f"not within {named(comparison, p.focus)}", grey, "ghost"))
    unfaded = color
    moved = matching.displacement(comparison, shown)
    shining = np.zeros(len(shown), np.bool_)
    if p.fade and len(shown):
        wide = np.maximum(*(w.spots(ids)[1] for w, ids in zip(picture.walls, (shown.a, shown.b))))
        thick = wide * picture.pixels_per_unit >= THIN_PX
        faded = colors.fade(color, shown.similarity, ~thick, tau, paint)
        shining = thick & (shown.similarity >= colors.STRONG) & (np.arange(len(shown)) < p.tubes)
        of_tubes += colors.of_similarity((faded != color)[~ghost], shining[~ghost], tau, paint)
        color = faded
    walls = colors.of_walls(tau, paint, p)
    elements: list[Any] = []
    labels: list[Any] = []
    used: list[NDArray[np.int32]] = []
    unmatched = repeated = 0
    red = paint.add(_REPEATED) if p.repeats else -1
    runs: Any = tuple(Runs.of(comparison, wall) for wall in picture.walls) if p.repeats else ()
    for wall, ids, similarity in zip(picture.walls, (shown.a, shown.b), like.best):
        wall_color = walls.of(similarity, colors.own_of(wall.drawn, ids, own))
        used.append(wall_color)
        coverage = explained(comparison, wall) if p.plates == "coverage" else None
        boxes = boxes_of(wall, wall_color, similarity, coverage, paint)
        elements += boxes
        if wall.fold.inner:
            above, of_above = bands(picture, wall, boxes[0], p.labels)
            elements.append(above)
            labels.append(of_above)
        else:
            labels.append(names(picture, wall, boxes[0], p.labels))
        unmatched += int(np.count_nonzero(similarity <= 0))
        if p.repeats:
            around, repeats = repetitions(picture, runs, wall.source, p.repeats, red)
            if repeats is not None:
                elements += around
                labels.append(repeats)
                repeated += len(repeats)
    if p.multiples:
        labels += multiplicities(picture, shown, p.multiples)
    if p.mark:
        framed = paint.add(COLOR)
        frames, words = callouts(picture, p.mark, framed)
        elements += frames
        labels += words
        of_calls.append(LegendEntry("what this picture is about", framed))
    if repeated:
        of_calls.append(LegendEntry("repeats, ×n in a row", red))
    legends = colors.all_seen(legends, [unfaded, *(used if p.walls == "group" else [])])
    of_walls = walls.told(used, any(len(w.cut.clusters) for w in picture.walls))
    of_walls = replace(of_walls, entries=(*of_walls.entries, *of_calls))
    notes: list[str] = []
    scales: tuple[Any, ...] = ()
    of_bars: tuple[Legend, ...] = ()
    lines = None
    if p.overview:
        spread, told = chosen, tuple(w.window for w in picture.walls)
        if context:
            spread, told = _whole(comparison, traces, p, frame), spans
        lines = skylines(comparison, picture, spread, told)
        bars, more, notes, scales = overview(lines, picture, paint, p)
        elements += bars
        of_bars = more
        if p.annotate:
            ink = paint.add(parse("6b7280"))
            texts, leads = signs(annotate(lines, p.annotate), lines, picture, ink)
            labels += texts
            elements += leads
        if p.focus:
            light = paint.add(_FOCUS)
            elements += highlight(picture, lines, spread, stacks(comparison, p.focus), light)
            of_tubes.append(LegendEntry("where the focus has matches", light))
    marked, mark = np.empty(0, np.int64), -1
    if p.color == "position" and len(shown):
        marked = outlying(comparison, shown, shown_groups)
    if len(marked):
        mark = paint.add(MARK)
        of_tubes.append(LegendEntry(f"positions differ by more than {units.percentage(OUTLIER)}", mark))
    near = ~ghost if p.focus else shown_groups.of == 0
    bundles = _Bundles(
        picture, shown, tree, color, ghost, shining, moved, marked, mark, near, like, own
    )  # fmt: skip
    progress(1.0, "drawn")
    clusters = [w.cut.clusters for w in picture.walls]
    drawing = Drawing(
        palette=paint.palette,
        elements=tuple(e for e in elements if len(e)),
        camera=picture.camera,
        labels=(trace_names(picture, lines), *(x for x in labels if len(x))),
        axes=(*rulers(picture, lines), *scales),
        legends=(
            *colors.with_entries(legends, of_tubes),
            *([of_walls] if of_walls.entries or of_walls.ramp else []),
            *of_bars,
        ),
        title=p.caption or _title(comparison, picture),
        notes=_notes(comparison, picture, chosen, shown, note, p, [*notes, *_of_shapes(picture, p)]),
        counts={
            "calls": sum(w.cut.total for w in picture.walls),
            "clusters": sum(map(len, clusters)),
            "calls_in_clusters": sum(int(c.calls.sum()) for c in clusters),
            "matches": len(chosen),
            "matches_left_out": chosen.left_out + len(chosen) - len(shown),
            "groups": len(grouping),
            "unmatched": unmatched,
            "moved": int(np.count_nonzero(moved > 0)),
            "repetitions": repeated,
            "shift_ns": shift,
        },
        facts=_facts(comparison),
        meaning={
            kind: Meaning(((0, shown.a), (1, shown.b)), (("similarity", shown.similarity),))
            for kind in ("tube", "line", "outlier")
        }
        | {"window": Meaning(texts=(("what the wall shows", _SLAB, np.zeros(1, np.int64)),))},
    )
    return drawing, bundles


def followed(comparison: match.Comparison, p: Parameters) -> Parameters:
    """Return the parameters with B's window as ``moment`` says, where none is given."""
    if p.moment == "own" or p.start_b.strip() or p.end_b.strip():
        return p
    a, b = comparison.traces
    low, high = time_window(a, p.start_a, p.end_a)
    spans = [call_span(t) for t in (a, b)]
    if p.moment == "matches":
        start, end = _where_matched(comparison, (low, high))
    elif p.moment == "share":
        per = (spans[1][1] - spans[1][0]) / max(spans[0][1] - spans[0][0], 1)
        start, end = (round(spans[1][0] + (t - spans[0][0]) * per) for t in (low, high))
    else:
        start, end = (t - spans[0][0] + spans[1][0] for t in (low, high))
    start = min(max(start, spans[1][0]), spans[1][1] - 1)
    end = max(min(end, spans[1][1]), start + 1)
    return replace(p, start_b=f"{start}ns", end_b=f"{end}ns")


def _where_matched(comparison: match.Comparison, window: tuple[int, int]) -> tuple[int, int]:
    """Return the window of B that holds the best matches of A's calls in ``window``."""
    a, b = comparison.traces
    spans = tuple(call_span(t) for t in (a, b))
    cuts = []
    for trace, (low, high) in zip((a, b), (window, spans[1])):
        cuts.append(cut_index(trace).cut(low, high, 2, None, max((high - low) // 400, 1)).calls)
    inside = (a.calls.start[cuts[0]] >= window[0]) & (a.calls.end[cuts[0]] <= window[1])
    like = matching.likeness(comparison, (cuts[0][inside], cuts[1]), anywhere=False)
    found = matching.choose(like, spans, "best", both=False)
    if not len(found):
        return spans[1]
    weight = np.cumsum(found.importance[np.argsort(b.calls.start[found.b], kind="stable")])
    start = np.sort(b.calls.start[found.b])
    order = np.argsort(b.calls.end[found.b], kind="stable")
    late = np.cumsum(found.importance[order])
    # Stray matches don't widen the window.
    first = start[np.searchsorted(weight, 0.02 * weight[-1])]
    last = b.calls.end[found.b][order][np.searchsorted(late, 0.98 * late[-1])]
    return int(first), int(last)


def _whole(comparison: match.Comparison, traces: Sequence[Trace], p: Parameters, frame: Frame) -> Chosen:
    """Return the matches between the calls of both whole traces that are wide enough for an overview."""
    whole = replace(p, start_a="", end_a="", start_b="", end_b="", resolution=max(p.resolution, _CONTEXT_PX))
    widths, _ = shares((traces[0], traces[1]), whole)
    contents = [content(t, whole, s, frame, widths[s]) for s, t in enumerate(traces)]
    drawn = [np.concatenate([c.cut.calls, c.cut.clusters.longest]) for c in contents]
    like = matching.likeness(comparison, (drawn[0], drawn[1]), anywhere=False)
    return matching.choose(like, tuple(c.window for c in contents), "best")


@memoised_together(most=1)
def _compared(
    traces: Sequence[Trace], values: tuple[tuple[str, Any], ...], *, progress: Progress
) -> match.Comparison:
    a, b = traces
    return match.compare(a, b, **comparing(dict(values)), progress=progress)


def _only(grouping: Grouping, n: int) -> Grouping:
    return Grouping(grouping.of[:n], grouping.a, grouping.b, grouping.weight, grouping.trunk)


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
        inside = within(comparison, chosen, text, "align")
    if not inside.any():
        raise UsageError(f"align={text}: no match that is drawn lies within it")
    start = [
        t.calls.start[ids[inside]] - c.window[0]
        for t, ids, c in zip(comparison.traces, (chosen.a, chosen.b), contents)
    ]
    weight = chosen.importance[inside] + 1.0
    shift = round(float(np.average((start[0] - start[1]).astype(np.float64), weights=weight)))
    return shift, f"B is moved by {units.duration(shift)} to align {text}"


def floor_of(swept: Sequence[Tubes | Lines]) -> float:
    """Return the height of the ground, below all tubes."""
    low = 0.0
    for element in swept:
        half = element.radius[:, 1] if isinstance(element, Tubes) else 0.0
        low = min(low, float((element.point[:, 2] - half).min(initial=0.0)))
    return low - 0.02


def _facts(comparison: match.Comparison) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return how many pairs of sets are how similar, so that τ is chosen with sight."""
    known = comparison.similarity
    if comparison.settings.measure not in QUICK or len(known.calls_a) * len(known.calls_b) > _MOST_COUNTED:
        return ()
    rows = histogram_rows(comparison.histogram.tolist(), float(comparison.settings.tau), _PANEL_BAR)
    found = (
        ("Pairs of sets", f"{comparison.set_pairs:,}"), ("Pairs of calls", f"{comparison.call_pairs:,}")
    )  # fmt: skip
    return (("Similarities", (*rows, *found)),)


def _title(comparison: match.Comparison, picture: Layout) -> str:
    names_ = [title(w) for w in picture.walls]
    shares_ = []
    for s, trace in enumerate(comparison.traces):
        own = self_time_of(trace)
        found = float(own[comparison.matched(s)].sum() / max(float(own.sum()), 1.0))
        shares_.append("100%" if found >= 1.0 else f"{min(found, 0.9999):.{2 if found > 0.99 else 1}%}")
    text = shares_[0] if shares_[0] == shares_[1] else f"{shares_[0]} | {shares_[1]}"
    return f"{names_[0]}  against  {names_[1]}:  {text} of the time is in calls that match"


def _of_shapes(picture: Layout, p: Parameters) -> list[str]:
    """Return what is told by shapes, not by colours."""
    notes = ["tubes are as wide as their calls last"]
    if p.plates == "coverage":
        notes.append("boxes are the thicker, the more of their time matches explain")
    if picture.walls[0].fold.inner:
        notes.append("names of A stand above its wall")
    return notes


def _notes(
    comparison: match.Comparison, picture: Layout, chosen: Chosen, shown: Chosen, aligned: str,
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
    sentence="Two traces face to face, or more in a fan: tubes join what matches, colours say what moved "
    "and what has no match",
    traces=(2, 12),
    parameters=Parameters,
    draw=draw,
    level_of_detail=LevelOfDetail,
    actions=with_actions(FOCUS),
    offers=(COMPARE_FROM_HERE, FIND_SIMILAR),
    docs="compare.md",
)
