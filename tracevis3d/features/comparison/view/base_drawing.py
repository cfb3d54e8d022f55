"""Two walls with everything on and behind them: the drawing of a comparison without its tubes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.frame import Frame
from ....drawing.palettes import OTHER, parse
from ....drawing.primitives import Callout, Drawing, Image, Legend, LegendEntry, Meaning
from ....errors import UsageError
from ....layout.cut import call_span
from ....progress import Progress, part, silent
from ....trace.cached_results import cached_with_traces
from ....trace.model import Trace
from ....trace.profile import calls_word
from ....views.time_window import time_window
from .. import links
from ..findings.find import find
from ..matching import match
from ..matching.sums import match_sums
from . import colors
from . import matches as matching
from . import notes as noted
from .annotations.bands import bands
from .annotations.callouts import COLOR, callouts
from .annotations.marks import MARK, OUTLIER, find_outliers, multiplicities
from .annotations.reading_rules import Kind, annotate, signs
from .boxes import Runs, boxes_of, explained, repetitions
from .difference.callouts import callouts as callouts_of
from .difference.callouts import seen
from .difference.headlines import title as headline_of
from .difference.kinds import SAME, STALLED, Differences, differences
from .difference.offsets import offsets
from .difference.paint import HUES, OF_TRACE, DifferencePaint
from .focus import highlight, named, stacks, within
from .layout import Layout, compose, content, seen_contents, shares, wall_scales
from .match_settings import asked, comparing
from .matches import Chosen, Grouping
from .names import names, rulers, trace_names
from .overview import CallMatches, Skyline, overview, skylines
from .parameters import MOVING, Parameters
from .sweep import Sweep
from .tubes import control
from .windows import alignment, followed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

#: Tubes narrower than this, in pixels, fade with lower similarity.
THIN_PX = 16.0
#: Width in pixels of a bar of an overview of the whole trace, which is cut for it.
_CONTEXT_PX = 5.0
#: Calls that last this share of a wall's window count as around the others.
_AROUND = 0.6
#: Findings that are examined: what they say has moved has the colour of that.
_FINDINGS = 20
#: Tooltip of the slab in an overview.
_SLAB = ("drag it, or its ends, to show another time",)
_FOCUS, _REPEATED = parse("1f78d1") * np.array([1, 1, 1, 0.65], np.float32), parse("d7191c")
#: Repetitions beside differences, which come first.
_REPEATED_QUIET = parse("b7bdc6")
_PALE, _INK = OTHER * np.array([1, 1, 1, 0.45], np.float32), parse("6b7280")

#: Values for the parameters that a drawing without tubes doesn't depend on.
_STILL: dict[str, Any] = {f.name: f.default for f in fields(Parameters) if f.name in MOVING}


def base_drawing(
    traces: Sequence[Trace], p: Parameters, frame: Frame, progress: Progress
) -> tuple[Drawing, Sweep]:
    """Return the drawing of two traces without tubes, and what these are swept from; the last is cached.

    Parameters
    ----------
    traces : sequence of Trace
        Two.
    p : Parameters
        Those that only move tubes don't matter.
    frame : Frame
        Of the picture.
    progress : Progress

    Returns
    -------
    (Drawing, Sweep)
    """
    return _base_drawing(traces, replace(p, **_STILL), frame, progress=progress)


@cached_with_traces(most=1)
def _base_drawing(
    traces: Sequence[Trace], p: Parameters, frame: Frame, *, progress: Progress
) -> tuple[Drawing, Sweep]:
    shown = _choose(traces, p, frame, progress)
    progress(0.8, "bundling")
    tree = control(shown.picture, shown.drawn, shown.groups, shown.p)
    drawing = DrawingBuilder()
    painted = _paint_matches(drawing, shown)
    walls = _draw_walls(drawing, shown, painted)
    bars, lines = _draw_overview(drawing, shown, painted)
    marked, mark = _mark_outliers(drawing, shown, painted)
    sweep = Sweep(
        shown.picture, shown.drawn, tree, painted.color, painted.ghost, painted.gloss, shown.moved,
        marked, mark, ~painted.ghost if shown.p.focus else shown.groups.of == 0, shown.like, painted.own,
        shown.differing,
    )  # fmt: skip
    seen_colors = [e.color for e in drawing.elements if not isinstance(e, Image)]
    drawing.legends = list(_legends(shown.p, painted, walls, seen_colors))
    drawing.explain(*bars)
    first = drawing.paint.add(OF_TRACE)
    tags, named = trace_names(shown.picture, lines, (first, first + 1))
    drawing.add(*tags)
    drawing.labels[:0] = named
    drawing.axes[:0] = rulers(shown.picture, lines)
    drawing.notes = list(
        noted.notes(
            shown.comparison, shown.picture, shown.chosen, shown.drawn, shown.aligned, shown.p, drawing.notes
        )
    )
    drawing.counts = _counts(shown, walls)
    drawing.meaning = _meaning(shown, lines)
    drawing.relations += links.of_units(shown.like)
    progress(1.0, "drawn")
    title = _first(shown)
    said = _callouts(drawing, shown)
    made = drawing.finish(
        shown.picture.camera, shown.p.caption or title or noted.title(shown.comparison, shown.picture)
    )
    # Seen from straight ahead both walls are equally far away, so a pixel is as wide on both.
    scale = wall_scales(shown.picture, frame)[0] if frame.straight else 0.0
    facts = noted.facts(shown.comparison)
    return replace(made, facts=facts, callouts=said, pixels_per_unit=scale), sweep


def _first(shown: _Shown) -> str:
    """Return the subject in words: the focus, or the most important visible finding; empty: none."""
    if shown.p.focus:
        return f"Matches within {named(shown.comparison, shown.p.focus)}"
    found = shown.differing().findings.found
    if shown.is_part:
        found = [finding for finding in found if seen(finding, shown.picture)]
    return headline_of(found)


def _callouts(drawing: DrawingBuilder, shown: _Shown) -> tuple[Callout, ...]:
    """Return callouts of the largest findings, unless something else was chosen as the subject."""
    p = shown.p
    if p.mark or p.focus or p.caption or not p.callouts:
        return ()
    first = drawing.paint.add(HUES)
    hues = [first + k for k in range(len(HUES))]
    return callouts_of(shown.differing().findings.found, shown.picture, hues, p.callouts)


@dataclass(frozen=True, eq=False)
class _Shown:
    """The compared traces, and the matches drawn.

    Attributes
    ----------
    p : Parameters
        With the windows that are shown.
    chosen, drawn : Chosen
        All matches between the calls that are drawn, and those that become tubes or lines.
    groups : Grouping
        Of ``drawn``; ``grouping`` is that of ``chosen``.
    like : Likeness
    picture : Layout
    spans : tuple of (int, int)
        Nanoseconds from the first call of each trace to the end of the last.
    context : bool
        Whether the overview shows the whole traces.
    is_part : bool
        Whether a wall shows a part of its trace.
    shift : int
        Nanoseconds that B is moved by; ``aligned`` is a note on it.
    moved : float64 (drawn,)
    """

    traces: Sequence[Trace]
    p: Parameters
    frame: Frame
    comparison: match.Comparison
    picture: Layout
    chosen: Chosen
    drawn: Chosen
    grouping: Grouping
    groups: Grouping
    like: matching.Likeness
    spans: tuple[tuple[int, int], ...]
    context: bool
    is_part: bool
    shift: int
    aligned: str
    moved: Floats

    def differing(self) -> Differences:
        """Return how the calls of both traces differ, which is kept."""
        return _differing(self.traces, asked(self.p))

    def call_matches(self) -> CallMatches:
        """Return how much matches each call, and when."""
        total, later, pace = _summed(self.traces, asked(self.p))
        if total is not None:
            return CallMatches(total, later, pace, True)
        drawn = [
            np.bincount(ids, self.chosen.similarity, len(t.calls)).astype(np.float64)
            for t, ids in zip(self.traces, (self.chosen.a, self.chosen.b))
        ]
        return CallMatches((drawn[0], drawn[1]), later, pace, False)


def _choose(traces: Sequence[Trace], p: Parameters, frame: Frame, progress: Progress) -> _Shown:
    """Compare two traces, cut what is shown of them, and choose the matches to draw."""
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
    shift, aligned = alignment(comparison, chosen, grouping, contents, p)
    picture = compose(contents, p, frame, same, shift, context)
    which = np.arange(len(chosen))
    if p.color == "difference":
        which = which[~_around(traces, p, picture, chosen)]
    which = which[: p.tubes + p.lines]
    some = chosen.only(which)
    return _Shown(
        traces, p, frame, comparison, picture, chosen, some, grouping, _only(grouping, which), like,
        spans, context, is_part, shift, aligned, matching.displacement(comparison, some),
    )  # fmt: skip


def _around(traces: Sequence[Trace], p: Parameters, picture: Layout, chosen: Chosen) -> NDArray[np.bool_]:
    """Return the matches between the whole of A and the whole of B, which would hide the others."""
    found = _differing(traces, asked(p))
    out = np.ones(len(chosen), np.bool_)
    for s, (wall, ids) in enumerate(zip(picture.walls, (chosen.a, chosen.b))):
        _, width, _ = wall.spots(ids)
        kind, _ = found.of_tubes(s, ids)
        # A stall of what lies around all others has a callout: a tube would be the largest shape.
        out &= (width >= _AROUND * wall.width) & ((kind == SAME) | (kind == STALLED))
    return out


@dataclass(frozen=True, eq=False)
class _Painted:
    """The colours of the matches that are drawn.

    Attributes
    ----------
    own : int32 (drawn,)
        Of each match's group or quantity.
    unfaded, color : int32 (drawn,)
        The same, with what is out of focus in grey; and with what is thin faded by its similarity.
    ghost : bool (drawn,)
        What is out of focus.
    gloss : float32 (drawn,)
        How bright the crests of wide tubes are.
    legends : tuple of Legend
    entries : list of LegendEntry
        What else the legend says of tubes.
    differing : DifferencePaint or None
        The colours of differences, where tubes or calls have them.
    """

    own: Indices
    unfaded: Indices
    color: Indices
    ghost: NDArray[np.bool_]
    gloss: NDArray[np.float32]
    legends: tuple[Legend, ...]
    entries: list[LegendEntry]
    differing: DifferencePaint | None


def _paint_matches(drawing: DrawingBuilder, shown: _Shown) -> _Painted:
    """Choose the colours of the matches that are drawn."""
    p, picture, drawn, comparison = shown.p, shown.picture, shown.drawn, shown.comparison
    differing: DifferencePaint | None = None
    if "difference" in (p.color, p.walls):
        differing = DifferencePaint(shown.differing(), drawing.paint)
    legends: tuple[Legend, ...] = ()
    if p.color == "difference" and differing is not None:
        own = differing.of_matches(drawn)
    else:
        own, legends = colors.of_matches(comparison, picture, drawn, shown.groups, drawing.paint, p)
    tau = float(comparison.settings.tau)
    ghost, gloss = np.zeros(len(drawn), np.bool_), np.zeros(len(drawn), np.float32)
    entries: list[LegendEntry] = []
    unfaded = own
    if p.focus:
        ghost = ~within(comparison, drawn, p.focus, "focus")
        grey = drawing.color(_PALE)
        unfaded = np.where(ghost, grey, own).astype(np.int32)
        if ghost.any():
            entries.append(LegendEntry("out of focus", grey, "ghost"))
    color = unfaded
    if p.fade and len(drawn):
        width = np.maximum(*(w.spots(ids)[1] for w, ids in zip(picture.walls, (drawn.a, drawn.b))))
        thick = width * picture.pixels_per_unit >= THIN_PX
        if p.color != "difference":  # there paleness shows the importance
            color = colors.fade(unfaded, drawn.similarity, ~thick, tau, drawing.paint)
            wide = thick & ~ghost & (np.arange(len(drawn)) < p.tubes)
            gloss = np.where(wide, colors.gloss(drawn.similarity, tau), gloss)
        drawing.note(*colors.of_similarity((color != unfaded)[~ghost], gloss[~ghost] == 1, tau))
    return _Painted(own, unfaded, color, ghost, gloss, legends, entries, differing)


def _legends(p: Parameters, painted: _Painted, walls: _Walls, drawn: list[Indices]) -> tuple[Legend, ...]:
    """Return the legends of tubes and walls: one where both show differences."""
    seen = [painted.unfaded, *(walls.used if p.walls == "group" else [])]
    made: tuple[Legend, ...] = ()
    if painted.differing is not None:
        made = (painted.differing.legend([painted.unfaded, *drawn]),)
    groups = colors.all_seen(painted.legends, seen)
    if p.focus and p.color == "group" and [len(legend.entries) for legend in groups] == [1]:
        # The title names it: then both legends fit into one row.
        entry = groups[0].entries[0]
        lasted = entry.text.rpartition("  ")[2]
        groups = (Legend("", (replace(entry, text=f"these, {lasted}"),)),)
    made += groups
    made = colors.with_entries(made, painted.entries)
    if not (walls.legend.entries or walls.legend.ramp):
        return made
    untitled = bool(made) and not made[-1].title and not walls.legend.title and not walls.legend.ramp
    if p.color == p.walls == "difference" or untitled:
        return colors.with_entries(made, walls.legend.entries)
    return (*made, walls.legend)


@dataclass(frozen=True, eq=False)
class _Walls:
    """The drawing of the walls: the colours used, their legend, and counts for the report."""

    used: list[Indices]
    legend: Legend
    unmatched: int
    repeated: int


def _draw_walls(drawing: DrawingBuilder, shown: _Shown, painted: _Painted) -> _Walls:
    """Draw the calls of both walls, their names, repetitions, multiplicities and frames."""
    p, picture, drawn, comparison = shown.p, shown.picture, shown.drawn, shown.comparison
    differing = painted.differing if p.walls == "difference" else None
    paint = colors.of_walls(float(comparison.settings.tau), drawing.paint, p) if differing is None else None
    red = drawing.color(_REPEATED if differing is None else _REPEATED_QUIET) if p.repeats else -1
    runs: Any = tuple(Runs.of(comparison, wall) for wall in picture.walls) if p.repeats else ()
    used: list[Indices] = []
    entries: list[LegendEntry] = []
    unmatched = repeated = 0
    for wall, ids, similarity in zip(picture.walls, (drawn.a, drawn.b), shown.like.best):
        if paint is not None:
            color = paint.of(similarity, colors.color_of_match(wall.drawn, ids, painted.own))
        else:
            assert differing is not None
            color = differing.of_drawn(wall, similarity)
        used.append(color)
        coverage = explained(comparison, wall) if p.plates == "coverage" else None
        boxes = boxes_of(wall, color, similarity, coverage, drawing.paint)
        drawing.add(*boxes)
        if wall.fold.inner:
            above, texts = bands(picture, wall, boxes[0], p.labels)
            drawing.add(above)
            drawing.write(texts)
        else:
            drawing.write(names(picture, wall, boxes[0], p.labels, drawing.paint.palette))
        unmatched += int(np.count_nonzero(similarity <= 0))
        if p.repeats:
            around, repeats = repetitions(picture, runs, wall.source, p.repeats, red)
            if repeats is not None:
                drawing.add(*around)
                drawing.write(repeats)
                repeated += len(repeats)
    if p.multiples:
        drawing.write(*multiplicities(picture, drawn, p.multiples))
    if p.mark:
        framed = drawing.color(COLOR)
        frames, words = callouts(picture, p.mark, framed)
        drawing.add(*frames)
        drawing.write(*words)
    if repeated and differing is None:
        entries.append(LegendEntry("repeats, ×n in a row", red))
    merged = calls_word(picture.walls[0].trace) if any(len(w.cut.clusters) for w in picture.walls) else ""
    if paint is not None:
        legend = paint.shown_legend(used, merged)
    else:
        plain = drawing.paint.add(HUES[:1]) if merged else -1
        legend = Legend("", (LegendEntry(f"several {merged}", plain, "cluster"),) if merged else ())
    return _Walls(used, replace(legend, entries=(*legend.entries, *entries)), unmatched, repeated)


def _draw_overview(
    drawing: DrawingBuilder, shown: _Shown, painted: _Painted
) -> tuple[tuple[Legend, ...], tuple[Skyline, Skyline] | None]:
    """Draw how much is matched when, behind the walls; return the bars' legends, and the bars."""
    p, picture, comparison = shown.p, shown.picture, shown.comparison
    if not p.overview:
        return (), None
    windows = shown.spans if shown.context else tuple(w.window for w in picture.walls)
    matches = shown.call_matches()
    differing = painted.differing if p.walls == "difference" else None
    lines = skylines(comparison, picture, matches, windows, differing.found if differing else None)
    bars, legends, notes, scales = overview(lines, picture, drawing.paint, p, matches, differing)
    drawing.add(*bars)
    drawing.keep_uncovered("interval", "unmatched")
    drawing.note(*notes)
    drawing.measure(*scales)
    if p.annotate:
        ink = drawing.color(_INK)
        kinds: tuple[Kind, ...] | None = (
            None if differing is None else ("no match", "moved")
        )  # grey means that everything is in place
        texts, leads = signs(annotate(lines, p.annotate, kinds), lines, picture, ink)
        drawing.write(*texts)
        drawing.add(*leads)
    if p.focus:
        light = drawing.color(_FOCUS)
        spread = shown.chosen
        if shown.context:
            spread = _whole(comparison, shown.traces, p, shown.frame)
        drawing.add(*highlight(picture, lines, spread, stacks(comparison, p.focus), light))
        painted.entries.append(LegendEntry("where they match", light))
    return legends, lines


def _mark_outliers(drawing: DrawingBuilder, shown: _Shown, painted: _Painted) -> tuple[Ints, int]:
    """Return the matches whose positions stand out, and the colour of their marks; -1 if there are none."""
    if shown.p.color != "position" or not len(shown.drawn):
        return np.empty(0, np.int64), -1
    marked, every = find_outliers(shown.comparison, shown.drawn, shown.groups)
    if not len(marked):
        return marked, -1
    mark = drawing.color(MARK)
    text = f"positions differ by more than {units.percentage(OUTLIER)}"
    if every > len(marked):
        text += f": {len(marked)} of {every:,}"
    painted.entries.append(LegendEntry(text, mark))
    return marked, mark


def _counts(shown: _Shown, walls: _Walls) -> dict[str, int]:
    """Return what the report says of a comparison."""
    clusters = [w.cut.clusters for w in shown.picture.walls]
    return {
        "calls": sum(w.cut.total for w in shown.picture.walls),
        "clusters": sum(map(len, clusters)),
        "calls_in_clusters": sum(int(c.calls.sum()) for c in clusters),
        "matches": len(shown.chosen),
        "matches_left_out": shown.chosen.left_out + len(shown.chosen) - len(shown.drawn),
        "groups": len(shown.grouping),
        "unmatched": walls.unmatched,
        "moved": int(np.count_nonzero(shown.moved > 0)),
        "repetitions": walls.repeated,
        "shift_ns": shown.shift,
    }


def _meaning(shown: _Shown, lines: tuple[Skyline, Skyline] | None) -> dict[str, Meaning]:
    """Return what tubes, lines, calls, and the bars and the slab in the overview represent."""
    drawn = shown.drawn
    matches = Meaning(
        ((0, drawn.a), (1, drawn.b)),
        (("similarity", drawn.similarity),),
        links=links.of_matches(shown.like, drawn),
    )
    slab = Meaning(texts=(("what the wall shows", _SLAB, np.zeros(1, np.int64)),))
    bars = links.of_bars(lines) if lines is not None else {}
    of_tubes = dict.fromkeys(("tube", "line", "outlier"), matches)
    return {**of_tubes, "window": slab, **links.of_calls(shown.like), **bars}


def _whole(comparison: match.Comparison, traces: Sequence[Trace], p: Parameters, frame: Frame) -> Chosen:
    """Return the matches between those calls of both traces that are wide enough for an overview."""
    whole = replace(p, start_a="", end_a="", start_b="", end_b="", resolution=max(p.resolution, _CONTEXT_PX))
    widths, _ = shares((traces[0], traces[1]), whole)
    contents = [content(t, whole, s, frame, widths[s]) for s, t in enumerate(traces)]
    drawn = [np.concatenate([c.cut.calls, c.cut.clusters.longest]) for c in contents]
    like = matching.likeness(comparison, (drawn[0], drawn[1]), anywhere=False)
    return matching.choose(like, tuple(c.window for c in contents), "best")


@cached_with_traces(most=1)
def _differing(traces: Sequence[Trace], values: tuple[tuple[str, Any], ...]) -> Differences:
    return differences(find(_compared(traces, values, progress=silent), _FINDINGS))


@cached_with_traces(most=1)
def _summed(
    traces: Sequence[Trace], values: tuple[tuple[str, Any], ...]
) -> tuple[tuple[Floats, Floats] | None, tuple[Floats, Floats], float]:
    """Return the sum of each call's matches, and how much later the other trace does the same."""
    a, b = traces
    paths = _differing(traces, values).findings.evidence.paths
    later_in_b, later_in_a, pace = offsets(paths, a.calls.start, b.calls.start)
    return match_sums(_compared(traces, values, progress=silent)), (later_in_b, later_in_a), pace


@cached_with_traces(most=1)
def _compared(
    traces: Sequence[Trace], values: tuple[tuple[str, Any], ...], *, progress: Progress
) -> match.Comparison:
    a, b = traces
    return match.compare(a, b, **comparing(dict(values)), progress=progress)


def _only(grouping: Grouping, which: Ints) -> Grouping:
    return Grouping(grouping.of[which], grouping.a, grouping.b, grouping.weight, grouping.trunk)
