"""The time drum: which element calls which, and when (ExtraVis)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.frame import Frame
from ....drawing.palettes import GRID, PALETTES, Paint, Palette, parse
from ....drawing.primitives import Axis, Drawing, Labels, Legend, LegendEntry
from ....drawing.selector import Selector
from ....errors import UsageError
from ....progress import Progress
from ....trace import profile
from ....trace.model import Trace
from ....units import read_time
from ....views.calls.actions import with_actions
from ....views.time_window import TimeAxis
from ....views.view import LiveForm, View
from ..actions import SHOW_TIME, ZOOM_AROUND
from ..commands import COMMANDS
from ..headline import Headline, of_pair, of_run
from ..phase_names import phase_times
from ..phases import describe, find_repeats
from . import chords, mantle, metadata, ring, thread_rows, timeline, tones
from .layout import Drum, Floats, Layout, compose
from .lone_calls import LoneCalls, legend, lone_calls
from .metadata import Meanings
from .parameters import Parameters
from .pointing import DrumPlaces
from .tones import resolved

if TYPE_CHECKING:
    from ....live.growing import GrowingTrace
    from ....live.stream.live_view import LiveView

__all__ = ["VIEW", "Parameters", "draw"]

#: Colours from caller to callee. The middle is darker than both ends, so that no step is lost on white.
_DIRECTIONS = {
    "safe": parse("1f5fbf 5a6fae 7a7d8c b0813f e8871e"),
    "paper": parse("00a000 00a000 608000 c02000 e00000"),
}
#: Of calls along the layers, and against them.
_LAYERS = parse("8b95a3 d2491c")
_STEPS = 64
#: Tubes show this share of the calls, or the notes say why not.
_MOST_CALLS = 0.8
#: Lines and tubes are so many pixels wide at least.
_HAIR = 1.2
#: Opacities, from 1 to 0.
_SHADES = 16
_RING = parse("8d97a6 b3bac5 cfd4db")
_OUTLIER = parse("c2185b")
_MARKED = parse("111827 0e7490")
_ONLY = tones.COLORS[1:4]
_LEADER = parse("9aa1ab")
_BRACE = parse("7b838f")
_THREADS = parse("d5dae1 aeb7c4 7f8a9b 4b5768")
_PULLED = parse("0f8a5f")
_ABSENT = parse("eceef1")
_KINDS = parse("4477aa cc6677 117733 ddcc77 88ccee aa4499 999933 332288 44aa99 882255")
#: Greys for the same, neighbours in the list far apart.
_QUIET_KINDS = parse("d5d9de a3aab4 c2c8d0 8d95a1 e3e6ea b3bac3 9aa2ad cbd0d6 7f8894 dcdfe4")


@dataclass
class _Paint(Paint):
    """The palette, and the places of its colours."""

    ramp: tuple[int, int] = (0, 0)
    paler: int = 0
    named: dict[str, int] = field(default_factory=dict)


@dataclass
class _Parts:
    """What a drawing is made of, as it is collected drum by drum."""

    elements: list[Any] = field(default_factory=list)
    labels: list[Labels] = field(default_factory=list)
    axes: list[Axis] = field(default_factory=list)
    lone: list[LoneCalls] = field(default_factory=list)
    meaning: Meanings = field(default_factory=Meanings)
    notes: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def write(self, *labels: Labels | None) -> None:
        """Add the labels that there are."""
        self.labels += [each for each in labels if each is not None]


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw one trace as a drum, or two as drums face to face.

    Parameters
    ----------
    traces : one or two Traces
    parameters : Parameters
    frame : Frame
    progress : Progress

    Returns
    -------
    Drawing

    Raises
    ------
    UsageError
        If the window is empty, or the marked stretch is not a stretch.
    """
    profile.check_order(traces, "interactions")
    p = replace(parameters, color=resolved(parameters.color, len(traces)))
    progress(0.0, "finding elements and their calls")
    marked = _stretch(p.mark)
    picture = compose(traces, p, frame.width / frame.height)
    if p.relation == "calls":
        # From here on it is a word of texts.
        p = replace(p, relation=profile.calls_word(traces[0]))
    paint = _paint(p)
    pixel = _pixel_size(picture, frame)
    text = max(2.1 * frame.least_text * pixel, 0.16)
    progress(0.4, "bundling")
    activity = [drum.found.activity(drum.counts) for drum in picture.drums]
    most = max((float(a.max(initial=0.0)) for a in activity), default=0.0)
    sector_color = _sector_colors(picture, activity, paint, p)
    # Of two runs, what differs alone has a colour.
    kinds, hues = ("quiet kinds", _QUIET_KINDS) if p.color == "difference" else ("kinds", _KINDS)
    kind_color = timeline.kind_colors(picture, paint.named[kinds], len(hues))
    parts = _Parts()
    for drum, active in zip(picture.drums, activity, strict=True):
        parts.elements += (data := _drum(picture, drum, paint, p, frame, pixel, parts))
        parts.lone.append(lone_calls(picture, drum, paint.named["outlier"], p, parts.meaning, data))
        parts.elements += parts.lone[-1].elements
        sectors = ring.ring(picture, drum, active, most, sector_color[drum.source], p)
        parts.elements.append(metadata.numbered(sectors, metadata.of_sectors(parts.meaning, picture, drum)))
        _around(picture, drum, paint, p, kind_color, text, parts)
        parts.write(parts.lone[-1].numbers)
        if marked is not None:
            parts.elements += _marks(picture, drum, marked, paint, p, parts)
    progress(0.8, "writing labels")
    status = tones.presence(picture, activity) if len(activity) > 1 else None
    groups, leaders = ring.names(
        picture, np.sum(activity, axis=0), text, paint.named["leader"], p, status, paint.named["only"]
    )
    parts.write(*groups)
    if len(traces) > 1:
        parts.write(ring.trace_names(picture, _who(traces, picture, p), text))
    parts.elements += [leaders] if leaders is not None else []
    headline = _headline(picture, p)
    progress(1.0, "drawn")
    return Drawing(
        palette=paint.palette,
        elements=tuple(e for e in parts.elements if len(e)),
        camera=picture.camera,
        labels=tuple(label for label in parts.labels if len(label)),
        axes=tuple(parts.axes),
        legends=_legends(picture, paint, p, parts.lone, kind_color),
        title=headline.text,
        callouts=(
            *(tones.callouts(picture, paint.ramp) if p.color == "difference" else ()),
            *(callout for each in parts.lone for callout in each.callouts),
        ),
        stretches=tuple(
            stretch for drum in picture.drums for stretch in timeline.stretches(drum, kind_color)
        ),
        notes=(
            *_subject(traces, picture, p),
            *filter(None, [headline.same, headline.certainty]),
            *_notes(picture, p),
            *parts.notes,
        ),
        counts={
            "elements_of_hierarchy": picture.hierarchy.elements,
            "pairs": sum(d.found.pairs for d in picture.drums),
            "calls": sum(d.high - d.low for d in picture.drums),
            "phases": sum(len(d.phases) for d in picture.drums),
            **parts.counts,
        },
        meaning=parts.meaning.done(),
        relations=tuple(metadata.functions_of_elements(picture)),
    )


def _around(
    picture: Layout, drum: Drum, paint: _Paint, p: Parameters, kind_color: NDArray[np.int32], text: float,
    parts: _Parts,
) -> None:  # fmt: skip
    """Add what lies along a drum: its phases and rounds, what recurs, its threads and the ruler."""
    boxes, words = timeline.strips(picture, drum, kind_color, text)
    for box in boxes:
        phases = drum.phases if box.kind == "phase" else drum.steps
        first = metadata.of_phases(parts.meaning, picture, drum, box.kind, phases)
        parts.elements.append(metadata.numbered(box, first))
    lines, braces = timeline.recurring(picture, drum, paint.named["brace"], text)
    parts.elements += [lines] if lines is not None else []
    top, front = timeline.below_phases(picture, drum, text), timeline.front(drum)
    bars, titles = thread_rows.rows(picture, drum, top, front, paint.named["threads"], text, parts.meaning)
    parts.elements += bars
    parts.write(*words, braces, *titles)
    if (ruler := timeline.axis(picture, drum, p, text)) is not None:
        parts.axes.append(ruler)


def _paint(p: Parameters) -> _Paint:
    paint = _Paint()
    if p.color == "time":
        given = PALETTES["muted"].ramp(_STEPS)
    elif p.color == "difference":
        given = tones.steps(tones.COLORS, _STEPS)
    else:
        ends = _LAYERS if p.color == "layers" else _DIRECTIONS[p.palette]
        given = Palette("", ends, ends).ramp(_STEPS)
    first = paint.add(given)
    paint.ramp = (first, first + _STEPS - 1)
    # The same once more for each opacity, the fullest first.
    shades = np.tile(given, (_SHADES if p.fade > 0 else 1, 1)).astype(np.float32)
    shades[:, 3] *= np.repeat(1 - np.arange(len(shades) // _STEPS) / (_SHADES - 1), _STEPS)
    paint.paler = paint.add(shades)
    for name, colors in (
        ("ring", _RING), ("outlier", _OUTLIER), ("marked", _MARKED), ("only", _ONLY), ("leader", _LEADER),
        ("brace", _BRACE), ("threads", _THREADS),
        ("absent", _ABSENT), ("pulled", _PULLED), ("kinds", _KINDS),
        ("quiet kinds", _QUIET_KINDS), ("grid", GRID[None]),
    ):  # fmt: skip
        paint.named[name] = paint.add(colors)
    return paint


def _pixel_size(picture: Layout, frame: Frame) -> float:
    """Return about how many scene units a pixel of the picture is."""
    low, high = np.array(picture.camera.low), np.array(picture.camera.high)
    corners = np.array(
        [
            [(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]]
            for i in (0, 1)
            for j in (0, 1)
            for k in (0, 1)
        ]
    )
    wide = float(np.ptp(corners @ picture.right)) + 4.0
    tall = float(np.ptp(corners @ picture.up)) + 2.0
    return max(wide / (0.95 * frame.width), tall / (0.74 * frame.height))


def _drum(
    picture: Layout, drum: Drum, paint: _Paint, p: Parameters, frame: Frame, pixel: float, parts: _Parts
) -> list[Any]:
    """Return the calls of one drum: as tubes and as the sequence on the mantle, or as flat bundles."""
    tone = tones.of_pairs(picture, drum, p)
    if picture.flat and drum.bend.unroll == 0 and p.blend == "darkest":
        return _flat(picture, drum, paint, p, frame, tone, parts.meaning)
    first, last = paint.ramp
    hair = max(mantle.HAIR, _HAIR * pixel)
    ramp = np.rint(paint.palette[first : last + 1] * 255).astype(np.uint8)
    image = mantle.sequence(picture, drum, ramp, p, frame, pixel, tone)
    elements: list[Any] = [image] if image is not None else []
    if not (picture.flat and drum.bend.unroll == 1):
        elements += _tubes(picture, drum, paint, p, pixel, tone, parts)
    elements.append(mantle.phase_lines(drum, paint.named["grid"], hair))
    elements.append(mantle.rims(drum, paint.named["leader"], hair))
    return elements


def _flat(
    picture: Layout,
    drum: Drum,
    paint: _Paint,
    p: Parameters,
    frame: Frame,
    tone: Floats | None,
    meaning: Meanings,
) -> list[Any]:
    """Return the calls of a flat drum as bundles painted into an image, with lines below them to be hit."""
    found, colors = drum.found, paint.palette
    first, last = paint.ramp
    ends = np.full((2, found.pairs), first, np.int32)
    if p.color == "time":
        at = np.bincount(found.pair[drum.low : drum.high], drum.place, found.pairs)
        ends += np.rint(at / np.maximum(drum.counts, 1) * (last - first)).astype(np.int32)
    elif tone is not None:
        ends += np.rint(tone * (last - first)).astype(np.int32)
    else:
        ends[1] = last
    bundles = chords.flat_bundles(picture, drum, (colors[ends[0], :3], colors[ends[1], :3]), p, frame)
    every, below = chords.below_bundles(picture, drum, ends, p)
    return [bundles, metadata.numbered(below, _mean(meaning, picture, drum, "interaction", every))]


def _tubes(
    picture: Layout,
    drum: Drum,
    paint: _Paint,
    p: Parameters,
    pixel: float,
    tone: Floats | None,
    parts: _Parts,
) -> list[Any]:
    """Return the calls of a drum as tubes, those that are pulled out in a colour of their own."""
    elements: list[Any] = []
    out = chords.pulled(picture, drum, p)
    every = chords.choose(drum, p, out)
    # Two drums have the same scale.
    others = [chords.choose(d, p) for d in picture.drums if d is not drum]
    most = max(int(each.count.max(initial=0)) for each in (every, *others))
    radii = chords.radii(every.count, most, p, 0.5 * _HAIR * pixel)
    if drum.source == 0:
        parts.notes.append(
            f"tubes: {p.proportion} is the number of {p.relation}, {most:,} in the thickest; "
            "thin end at the callee"
        )
    apart = out[every.pair]
    chosen, radius = every.only(~apart), radii[~apart]
    if apart.any():
        alone = every.only(apart)
        accent = np.full(len(alone), paint.named["pulled"], np.int32)
        thick = np.maximum(radii[apart], chords.OUTLIER)
        tubes = chords.tubes(picture, drum, alone, thick, (accent, accent), "pulled interaction", p, True)
        first_id = _mean(parts.meaning, picture, drum, "pulled interaction", alone)
        elements.append(metadata.numbered(tubes, first_id))
    if len(chosen):
        curve, _ = chords.routes(picture, drum, p)
        opacity = chords.opacities(curve, p)[chosen.pair]
        tubes = chords.tubes(
            picture, drum, chosen, radius, _ends(paint, p, chosen, opacity, tone), "interaction", p
        )
        first_id = _mean(parts.meaning, picture, drum, "interaction", chosen)
        elements.append(metadata.numbered(tubes, first_id))
    left_out = parts.counts.get("interactions_left_out", 0) + every.rows - len(every)
    parts.counts["interactions_left_out"] = left_out
    if len(every) < every.rows:
        share = every.calls / max(every.of, 1)
        tubes_ = "tubes" if share >= _MOST_CALLS else f"tubes (calls={p.calls} at most)"
        parts.notes.append(
            f"{len(every):,} of {every.rows:,} interactions in {p.slices} slices are drawn as {tubes_}, "
            f"{units.percentage(share, 3)} of the {p.relation}; all are on the mantle"
        )
        parts.notes += chords.less_of_threads(drum, every, _MOST_CALLS, p)
    return elements


def _ends(
    paint: _Paint, p: Parameters, chosen: chords.Chosen, opacity: Floats, tone: Floats | None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the colours of tubes at the caller and at the callee."""
    along = paint.ramp[1] - paint.ramp[0]
    base = paint.paler + _STEPS * np.rint((1 - opacity) * (_SHADES - 1)).astype(np.int32)
    if p.color == "time":
        place = np.clip(chosen.place, 0, 1)
    elif tone is not None:
        place = tone[chosen.pair]
    else:
        return base, base + along
    color = base + np.rint(place * along).astype(np.int32)
    return color, color


def _mean(meaning: Meanings, picture: Layout, drum: Drum, kind: str, chosen: chords.Chosen) -> int:
    """Describe the tubes; return the id of the first."""
    who = [describe(picture.hierarchy, drum.found, pair) for pair in chosen.pair.tolist()]
    links = metadata.of_pairs(drum, chosen.pair)
    return meaning.add(kind, drum.source, chosen.call, {"calls": chosen.count}, {"from and to": who}, links)


def _sector_colors(
    picture: Layout, activity: list[NDArray[np.float64]], paint: _Paint, p: Parameters
) -> list[NDArray[np.int32]]:
    """Return the colour of each node for each drum; of two, what differs stands out."""
    h = picture.hierarchy
    level = picture.sectors.level
    # Keep neighbours apart.
    second = np.zeros(len(h), np.bool_)
    seen: dict[int, int] = {}
    for i in range(1, len(h)):
        parent = int(h.parent[i])
        seen[parent] = seen.get(parent, 0) + 1
        second[i] = seen[parent] % 2 == 0
    color = (paint.named["ring"] + np.minimum(level, 2) + (second & (level < 2))).astype(np.int32)
    if len(activity) < 2:
        return [color]
    differs = tones.of_sectors(picture, activity)
    if p.color != "difference":
        differs[differs > len(_ONLY)] = 0
    place = tones.place_of(differs, len(tones.DIFFERENCES))
    of_ramp = paint.ramp[0] + np.rint(place * (paint.ramp[1] - paint.ramp[0]))
    hue = np.where(differs > len(_ONLY), of_ramp, paint.named["only"] + differs - 1).astype(np.int32)
    first, stop = h.first_element()
    result = []
    for active in activity:
        total = np.concatenate([[0], np.cumsum(active > 0)])
        here = total[stop] > total[first]
        absent = np.int32(paint.named["absent"])
        result.append(np.where(here, np.where(differs > 0, hue, color), absent).astype(np.int32))
    return result


def _stretch(text: str) -> tuple[int, int] | None:
    if not text.strip():
        return None
    low, dots, high = text.partition("..")
    if not dots:
        raise UsageError(f"mark={text}: a stretch is expected, such as 12ms..15ms")
    start, end = read_time("mark", low), read_time("mark", high)
    if end <= start:
        raise UsageError(f"mark={text}: the end must be after the start")
    return start, end


def _marks(
    picture: Layout, drum: Drum, marked: tuple[int, int], paint: _Paint, p: Parameters, parts: _Parts
) -> list[Any]:
    """Return the marked stretch and its repeats: framed on the mantle, and as bars above the phases."""
    found = drum.found
    low, high = found.range(*marked)
    again = find_repeats(found, low, high, p.similarity)
    length = high - low
    exact = int(again.exact.sum())
    parts.notes.append(
        f"the marked stretch of {length:,} {p.relation} recurs {exact:,} times exactly, and "
        f"{len(again) - exact:,} times with at least {units.percentage(p.similarity)} of them"
    )
    begin = np.append(low, again.first)[: None if length else 0]
    similar, same = np.append(1.0, again.similar), np.append(True, again.exact)
    shown = np.flatnonzero((begin < drum.high) & (begin + length > drum.low))
    begin, similar, same = begin[shown], similar[shown], same[shown]
    edge = np.stack([drum.at(begin), drum.at(begin + length)], axis=1)
    color = (paint.named["marked"] + ~same).astype(np.int32)
    first = parts.meaning.add(
        "repeat", drum.source, np.full(len(begin), -1), {"calls": np.full(len(begin), length)},
        {
            "from": [units.exact_duration(int(found.time[i])) for i in begin.tolist()],
            "similarity": [units.percentage(s, 3) for s in similar.tolist()],
        },
    )  # fmt: skip
    bars = timeline.bars(picture, drum, edge, color)
    return [
        mantle.brackets(drum, edge, color),
        *([metadata.numbered(bars, first)] if bars is not None else []),
    ]


def _legends(
    picture: Layout, paint: _Paint, p: Parameters, lone: list[LoneCalls], kind_color: NDArray[np.int32]
) -> tuple[Legend, ...]:
    if p.color == "time":
        drum = picture.drums[0]
        span = [units.duration(t) for t in drum.window] if p.axis == "time" else ["first", "last"]
        calls = Legend(
            f"{p.relation.capitalize()} by time",
            ramp=paint.ramp,
            ramp_tick=(0.0, 1.0),
            ramp_text=(span[0], span[1]),
        )
    elif p.color == "difference":
        calls = Legend(p.relation.capitalize(), _difference_entries(picture, paint, p))
    elif p.color == "layers":
        calls = Legend(p.relation.capitalize(), _layer_entries(picture, paint, p))
    else:
        calls = Legend(
            f"Colour along each {p.relation.removesuffix('s')}",
            ramp=paint.ramp,
            ramp_tick=(0.0, 1.0),
            ramp_text=("caller", "callee"),
        )
    found = [calls]
    entries = []
    if p.mark:
        entries.append(LegendEntry("marked stretch and exact repeats", paint.named["marked"]))
        entries.append(LegendEntry("near repeats", paint.named["marked"] + 1))
    if p.pull.strip() and not picture.flat:
        entries.append(LegendEntry(f"pulled out: {p.pull.strip()}", paint.named["pulled"]))
    if len(picture.drums) > 1 and p.color != "difference":
        only = paint.named["only"]
        entries += [LegendEntry(text, only + i) for i, text in enumerate(("only in A", "only in B", "moved"))]
    if entries:
        found.append(Legend("Signs", tuple(entries)))
    found += filter(None, [timeline.legend(picture, kind_color), legend(lone, p)])
    return tuple(found)


def _difference_entries(picture: Layout, paint: _Paint, p: Parameters) -> tuple[LegendEntry, ...]:
    """Return the kinds of differences there are, and which share of both runs' calls each has."""
    count = np.zeros(len(tones.DIFFERENCES))
    for drum in picture.drums:
        count += np.bincount(tones.differences(picture, drum), drum.counts, len(count))
    first, last = paint.ramp
    at = np.rint(tones.place_of(np.arange(len(count)), len(count)) * (last - first)).astype(int).tolist()
    entries = []
    for i, text in enumerate(tones.DIFFERENCES):
        # Tubes in each opacity, and sectors that only one run has.
        same = [paint.paler + _STEPS * shade + at[i] for shade in range(_SHADES if p.fade > 0 else 1)]
        same += [paint.named["only"] + i - 1] if 1 <= i <= len(_ONLY) else []
        if count[i]:
            stands_for = Selector(tuple((c, c) for c in same))
            words = f"{text} {units.percentage(count[i] / count.sum())}"
            entries.append(LegendEntry(words, first + at[i], stands_for=stands_for))
    return tuple(entries)


def _layer_entries(picture: Layout, paint: _Paint, p: Parameters) -> tuple[LegendEntry, ...]:
    counts = [int(d.counts[tones.against_layers(picture, d)].sum()) for d in picture.drums]
    words = " and ".join(f"{n:,}" for n in counts)
    return (
        LegendEntry("down the layers, or within one", paint.ramp[0]),
        LegendEntry(f"against the layers: {words} {p.relation}", paint.ramp[1]),
    )


def _headline(picture: Layout, p: Parameters) -> Headline:
    drums = picture.drums
    if len(drums) > 1:
        return of_pair(picture.hierarchy, [d.found for d in drums], [d.counts for d in drums], p.relation)
    (d,) = drums
    stretch = (d.low, d.high)
    return of_run(d.trace, picture.hierarchy, d.found, stretch, d.phases, d.rounds, p.relation)


def _who(traces: Sequence[Trace], picture: Layout, p: Parameters) -> list[str]:
    """Return which trace each of two drums is."""
    calls = [f"{drum.high - drum.low:,} {p.relation}" for drum in picture.drums]
    which = zip("AB", traces, calls, strict=True)
    return [f"{letter}   {trace.source.title}   {many}" for letter, trace, many in which]


def _subject(traces: Sequence[Trace], picture: Layout, p: Parameters) -> list[str]:
    """Return what is drawn."""
    h = picture.hierarchy
    letters = [f"{letter} is " for letter in "AB"] if len(traces) > 1 else [""]
    which = ", ".join(letter + trace.source.title for letter, trace in zip(letters, traces, strict=True))
    calls = " and ".join(f"{d.high - d.low:,}" for d in picture.drums)
    return [f"{which}: {calls} {p.relation} between {int(h.merged.sum()):,} {h.kind}"]


def _notes(picture: Layout, p: Parameters) -> list[str]:
    notes = []
    for drum in picture.drums:
        whole = len(drum.found) == drum.high - drum.low
        if not whole:
            low, high = (units.exact_duration(t) for t in drum.window)
            notes.append(
                f"{drum.high - drum.low:,} of {len(drum.found):,} {p.relation}, from {low} to {high}"
            )
        if drum.found.roots:
            roots = drum.found.roots
            which = f"{'AB'[drum.source]}: " if len(picture.drums) > 1 else ""
            if p.relation == "flows":
                notes.append(f"{which}{roots:,} flows have an end outside every call")
                continue
            notes.append(f"{which}{roots:,} root call{'s have' if roots > 1 else ' has'} no caller")
    if picture.hierarchy.elements < int(picture.hierarchy.merged.sum()):
        notes.append(f"the least called elements are merged: {picture.hierarchy.elements:,} sectors")
    for drum in picture.drums:
        if len(rows := thread_rows.shown(drum)):
            every = len(np.unique(drum.trace.calls.thread[drum.found.call[drum.low : drum.high]]))
            which = f"{len(rows)} of {every} threads" if every > len(rows) else "threads"
            notes.append(f"rows below: {which}; darker: a larger share of the {p.relation}")
            break
    if picture.flat and picture.drums[0].bend.unroll == 0:
        most = max(int(d.counts.max(initial=0)) for d in picture.drums)
        root = "square root of the " if p.proportion == "area" else ""
        notes.append(
            f"width is the {root}number of {p.relation}, {most:,} in the widest; thin end at the callee"
        )
    if p.fade > 0:
        notes.append("long connections are paler")
    if p.opening > 0 and p.relief > 0:
        notes.append(f"height of the ring: {p.relation} made and received, square-root scale")
    if picture.drums[0].bend.length > 0 and p.mantle != "none":
        notes.append(f"mantle: p = {p.power:g}, window of {p.window} {p.relation}")
    order = picture.order
    if order is not None and order.before > 0:
        notes.append(
            f"sectors in an order that shortens connections by "
            f"{units.percentage(1 - order.after / order.before)}"
        )
    return notes


def _live(growing: GrowingTrace, window_ns: int) -> LiveView:
    from ..live_view import Interactions

    return Interactions(growing, window_ns)


VIEW = View(
    name="interactions",
    title="Interactions (time drum)",
    sentence="Which part calls which, and when: a radial hierarchy along time, calls as bundled chords",
    traces=(1, 2),
    parameters=Parameters,
    draw=draw,
    live=LiveForm(
        "A drum of modules; a chord for each pair of caller and callee, as thick as there were calls",
        _live,
        remade=True,
    ),
    actions=with_actions(ZOOM_AROUND, SHOW_TIME),
    time_axis=TimeAxis("rim", DrumPlaces, lambda parameters: parameters["mantle"] == "whole"),
    commands=COMMANDS,
    phases=phase_times,
    docs="interactions.md",
)
