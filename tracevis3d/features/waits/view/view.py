"""Who waits for whom: all threads of a trace as rows of an amphitheatre, funnels through its hollow core.

SyncTrace (section IV-B) bends the threads' icicle plots to a semicircle, so that curves between any two run
through its middle; one thread lies straight above. Here time stays straight: the rows stand on a half
cylinder whose axis is time, one ruler for all. ``paper`` 1 is the paper's picture, ``lanes`` 1 swim lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.frame import Frame
from ....drawing.palettes import BASE, Paint, parse
from ....drawing.primitives import Drawing, Element, Labels, Legend, LegendEntry, Meaning
from ....errors import UsageError
from ....parameters import parameter
from ....progress import Progress
from ....trace.model import Trace
from ....views import common_parameters
from ....views.thread_selection import named_threads
from ....views.view import LiveForm, View
from ..live_view import Threads
from ..waits import INFERRED, IO, WAIT, Waits
from . import calls as blocks
from . import captions
from . import correspondences as corr
from . import overview as over
from .colors import CALLS, CORRESPONDENCES, color_calls, object_colors, thread_colors
from .detail import LevelOfDetail
from .found_waits import waits_of
from .layout import Layout, compose
from .skyline import skyline
from .tags import called, short, tags

_RAIL = parse("e0218a")[0]
_RUNNING = parse("8f8f99")[0]
_IDLE = parse("009e73")[0]
_FRAME = parse("e69f00")[0]
#: Pairs of threads of which the legend says how long one waits for the other.
_PAIRS = 3
#: Letters that a line of the legend has room for.
_LETTERS = 165


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``threads``."""

    threads: str = parameter(
        "auto",
        "Threads to draw: 'auto' (those that have most to do with waits, and the busiest, that fit), 'all', "
        "'busiest 8', or names and ids with commas between them, * for anything",
        group="Threads",
    )
    hide: str = parameter("", "Threads to hide, names and ids with commas between them", group="Threads")
    order: str = parameter(
        "strength",
        "Order of the threads from the top: 'strength' (those that wait for each other are neighbours), "
        "'recorded', 'busiest', 'name', or names and ids with commas between them; the others follow",
        group="Threads",
    )
    main: str = parameter(
        "auto", "The thread that is pulled out: 'auto' (that has most to do with waits), 'none', or its name",
        group="Threads",
    )  # fmt: skip
    focus: str = parameter("", "Threads to widen, names and ids with commas between them", group="Threads")
    widen: float = parameter(
        3.0, "How many times as wide as the others these are", low=1.0, high=20.0, group="Threads"
    )
    overview: str = parameter(
        "auto", "Where the whole trace of a thread is drawn as a bar in which its window is framed",
        choices=over.SHOWN, group="Threads",
    )  # fmt: skip
    rules: str = parameter(
        "", "Files of rules that say which functions wait, release and transfer, with commas between them",
        group="Data",
    )  # fmt: skip
    releases: str = parameter(
        "woke", "Which releases a wait is connected with", group="Data",
        choices={"woke": "the one that ended it", "every": "each within it, as the paper does"},
    )  # fmt: skip
    color: str = parameter("auto", "What the colour of a call says", choices=CALLS, group="Data")
    waits: str = parameter("thread", "How waits are coloured", choices=CORRESPONDENCES, group="Data")
    object: str = parameter(
        "", "With waits=object: colour waits for just this object red, for it and others brown", group="Data"
    )
    start: str = parameter(
        "", "Start of the time window, such as 1.5s or 20 (in ms); empty: the first call's", group="Window"
    )
    end: str = parameter("", "End of the time window, like the start; empty: the last call's", group="Window")
    windows: str = parameter(
        "", "Windows of single threads, with semicolons between them, such as worker-1=20ms..80ms",
        group="Window",
    )  # fmt: skip
    last_depth: int = parameter(
        0, "Last stack depth to draw; 0: the deepest", low=0, high=1e9, group="Window"
    )
    fold: float = parameter(
        0.0, "How many levels are folded, from the first", low=0.0, high=1e6, unit="levels", group="Window"
    )
    resolution: float = common_parameters.resolution(
        1.5, "Calls narrower than this are merged into clusters", 0.05, 1000.0
    )
    tubes: int = parameter(
        160,
        "The most waits that are drawn as funnels, the longest first",
        low=0,
        high=100_000,
        group="Detail",
    )
    aggregates: str = parameter(
        "main", "Threads whose short waits are drawn, merged: 'main', 'all', 'none', or names and ids",
        group="Detail",
    )  # fmt: skip
    markers: str = parameter(
        "all", "Threads on whose rows the time is marked in which others wait for them: 'main', 'all', "
        "'none', or names and ids", group="Detail",
    )  # fmt: skip
    running: bool = parameter(
        True, "Show above the main thread how many threads run at each time", group="Detail"
    )
    tags: bool = parameter(
        True, "Names of waits stand before everything, on plates; off: on the rows, funnels may hide them",
        group="Detail",
    )  # fmt: skip
    starts: bool = parameter(True, "Shade the start of each call", group="Detail")
    path: bool = parameter(False, "Draw the critical path as a rail", group="Detail")
    path_end: str = parameter(
        "", "The thread whose end the critical path leads to; empty: that which ends last", group="Detail"
    )
    path_at: str = parameter(
        "", "The moment that the critical path leads to; empty: the end of the thread's last call",
        group="Detail",
    )  # fmt: skip
    labels: int = parameter(
        60, "The most names of functions on a row, the widest calls first", low=0, high=5000, group="Detail"
    )
    paper: float = parameter(
        0.0, "From the amphitheatre (0) to the paper's semicircle (1)", low=0.0, high=1.0, group="Shape"
    )
    lanes: float = parameter(
        0.0, "From the amphitheatre (0) to swim lanes (1)", low=0.0, high=1.0, group="Shape"
    )
    facing: float = parameter(
        0.55, "How far rows lean towards the reader: 0 along the radius, 1 facing them", low=0.0, high=1.0,
        group="Shape",
    )  # fmt: skip
    pull: float = parameter(
        0.6, "How far the main thread is pulled out, in scene units (the window is 16 wide)", low=0.0,
        high=8.0, group="Shape",
    )  # fmt: skip
    zero: float = parameter(
        0.6, "Radius of the first level on the semicircle, as a share of the outermost one's", low=0.1,
        high=0.95, group="Shape",
    )  # fmt: skip
    taper: float = parameter(
        0.8, "How much lower levels are in which less time is spent: 0 not at all, 1 in proportion",
        low=0.0, high=1.0, group="Shape",
    )  # fmt: skip
    spacing: float = parameter(
        0.45, "Free height between rows, as a share of theirs", low=0.0, high=5.0, group="Shape"
    )
    turn: float = common_parameters.angle(
        -14.0, "How far the camera stands to the right of straight ahead", -80.0, 80.0
    )
    tilt: float = common_parameters.angle(14.0, "How far the camera stands above straight ahead", 0.0, 60.0)
    palette: str = common_parameters.palette("The colours of threads and objects")


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the threads of one trace.

    Parameters
    ----------
    traces : one Trace
    parameters : Parameters
    frame : Frame
        Of the picture: it decides what is narrower than a pixel.
    progress : Progress

    Raises
    ------
    UsageError
        If a window is empty, or a thread or an object doesn't exist.
    InputError
        If a rule file can't be read.
    """
    (trace,) = traces
    p = parameters
    progress(0.0, "finding waits")
    waits = waits_of(trace, p.rules)
    if p.object and p.object not in waits.ops.objects:
        raise UsageError(f"object={p.object}: nobody waits for an object of this name")
    progress(0.3, "placing rows")
    picture = compose(trace, waits, p, frame)
    progress(0.6, "connecting waits")
    paint = Paint()
    colors = color_calls(picture, paint)
    rows = thread_colors(picture, paint)
    surface, idle, rail_color = paint.add(BASE[None]), paint.add(_IDLE[None]), paint.add(_RAIL[None])
    elements: list[Element] = [blocks.plates(picture, surface), *blocks.call_blocks(picture, colors)]
    elements.append(blocks.idle_blocks(picture, idle))
    elements += [*over.bars(picture, colors, surface), *over.frames(picture, paint.add(_FRAME[None]))]
    found = corr.shown(picture)
    legends = list(colors.legends)
    labels: list[Labels | None] = []
    chosen = found.only(_longest(picture, found))
    through = None
    if p.waits == "object":
        color, objects, more = object_colors(picture, paint, chosen.wait, p.object)
        legends += more
        lanes, anchor = corr.object_lanes(
            picture, objects, int(_first_color(color, chosen, picture, objects))
        )
        elements += lanes
        through = _through(picture, chosen, objects, anchor)
        labels.append(captions.object_names(picture, objects, anchor))
    else:
        color = rows[chosen.row]
    elements += corr.tubes(picture, chosen, color, through)
    several = corr.several(picture, chosen, color)
    elements += several
    marked = _rows_named(picture, p.markers, "markers")
    elements += corr.markers(
        picture, chosen.only(marked[chosen.release_row]), color[marked[chosen.release_row]]
    )
    merged = _rows_named(picture, p.aggregates, "aggregates")
    brief = found.only(~found.alone & merged[found.row])
    merged_shapes = corr.aggregated(picture, brief, rows)
    elements.append(merged_shapes)
    steps = 0
    if p.path:
        line, steps = corr.rail(picture, rail_color)
        elements.append(line)
    progress(0.8, "writing labels")
    names, marks = captions.thread_names(picture, rows)
    elements.append(marks)
    call_color = colors.of(np.concatenate([cut.calls for cut in picture.cuts])) if picture.cuts else None
    labels += [*names, *captions.summaries(picture), over.names(picture)]
    if p.tags:
        plates, tagged = tags(picture, chosen, color, frame)
        labels.append(tagged)
        elements += [plates] if plates is not None else []
    else:
        labels += captions.wait_names(picture, chosen, colors)
    labels += captions.quiet_names(picture, colors)
    built, beside = skyline(picture, paint.add(_RUNNING[None]))
    labels.append(beside)
    elements += [built] if built is not None else []
    if call_color is not None:
        labels += captions.function_names(picture, call_color, p.labels)
    axis = captions.time_axis(picture)
    longest = _longest_pairs(picture, chosen, color)
    first_color = int(rows[0]) if len(rows) else 0
    rail = rail_color if steps else -1
    legends.append(_signs(picture, chosen, len(several), len(merged_shapes), first_color, rail))
    legends.append(longest)
    progress(1.0, "drawn")
    return Drawing(
        palette=paint.palette,
        elements=tuple(element for element in elements if len(element)),
        camera=picture.camera,
        labels=tuple(label for label in labels if label is not None and len(label)),
        axes=(axis,) if axis is not None else (),
        legends=tuple(legend for legend in legends if legend.entries or legend.ramp),
        title=_title(trace, waits),
        notes=_notes(picture, found, chosen, brief),
        counts={
            "calls": blocks.whole(picture),
            "calls_in_clusters": sum(int(cut.clusters.calls.sum()) for cut in picture.cuts),
            "threads": len(picture.rows),
            "threads_left_out": picture.left_out,
            "waits": len(waits.own),
            "correspondences": len(chosen),
            "correspondences_merged": len(brief),
            "steps_of_the_critical_path": steps,
            "resolution_ns": max((cut.resolution for cut in picture.cuts), default=0),
        },
        meaning=_meaning(waits),
    )


def _longest(picture: Layout, found: corr.Shown) -> NDArray[Any]:
    """Return which correspondences are drawn by themselves: the longest waits of those wide enough."""
    which = np.flatnonzero(found.alone)
    if len(which) > picture.parameters.tubes:
        lasted = picture.waits.ops.lasted[found.wait[which]]
        which = which[np.argsort(-lasted, kind="stable")[: picture.parameters.tubes]]
    return np.sort(which)


def _rows_named(picture: Layout, text: str, name: str) -> NDArray[Any]:
    """Return which rows a parameter names: ``all``, ``none``, ``main`` or threads."""
    rows = np.zeros(len(picture.rows), np.bool_)
    if text == "all":
        rows[:] = True
    elif text == "main":
        rows[:1] = picture.main
    elif text != "none":
        of = picture.row_of[named_threads(picture.trace, text, name)]
        rows[of[of >= 0]] = True
    return rows


def _first_color(color: NDArray[Any], chosen: corr.Shown, picture: Layout, objects: list[int]) -> int:
    """Return the palette index of the first of ``objects``."""
    ops = picture.waits.ops
    for i in range(len(chosen)):
        first, stop = ops.first[chosen.wait[i] : chosen.wait[i] + 2]
        if stop > first and int(ops.object[first]) in objects:
            return int(color[i]) - objects.index(int(ops.object[first]))
    return int(color.min(initial=0))


def _through(picture: Layout, chosen: corr.Shown, objects: list[int], anchor: NDArray[Any]) -> NDArray[Any]:
    """Return the points that funnels pass: their object's lane halfway, else the core's axis."""
    ops = picture.waits.ops
    through = picture.theatre.core((chosen.high + chosen.at) / 2)
    place = {o: i for i, o in enumerate(objects)}
    lane = np.array(
        [place.get(int(ops.object[ops.first[w]]), -1) if ops.first[w + 1] > ops.first[w] else -1
         for w in chosen.wait.tolist()], np.int64,
    )  # fmt: skip
    known = lane >= 0
    if picture.parameters.paper == 0.0:
        through[known, 1:] = anchor[lane[known]]
    return through


def _signs(picture: Layout, chosen: corr.Shown, several: int, merged: int, color: int, rail: int) -> Legend:
    """Return the legend of what is not a call."""
    entries = []
    if len(chosen):
        entries.append(LegendEntry("funnel: from a wait to the release (ball) that ended it", color))
        entries.append(LegendEntry("band behind a row: somebody waits for this thread", color, "ghost"))
    if several:
        entries.append(LegendEntry("cone: waits for any of several objects, diamond: for all of them", color))
    if merged:
        entries.append(LegendEntry("pale shape: short waits, merged", color, "ghost"))
    if rail >= 0:
        entries.append(LegendEntry("critical path", rail, "glow"))
    title = "Waits, in the colour of the thread that waits"
    if picture.parameters.waits == "object":
        title = "Waits"
    return Legend(title, tuple(entries))


def _longest_pairs(picture: Layout, chosen: corr.Shown, color: NDArray[Any]) -> Legend:
    """Say who waits for whom longest, and for what, in the colours of the drawing."""
    ops, threads = picture.waits.ops, picture.trace.threads
    mine, by = ops.thread[chosen.wait], ops.thread[chosen.release]
    # As much of them as lies in their rows' windows.
    low, high = picture.low[chosen.row], picture.high[chosen.row]
    time = np.minimum(ops.end[chosen.wait], high) - np.maximum(ops.start[chosen.wait], low)
    some = np.diff(ops.first)[chosen.wait] > 0
    object = np.where(some, np.append(ops.object, -1)[ops.first[chosen.wait]], -1)
    key = np.stack([mine.astype(np.int64), by.astype(np.int64), object])
    pairs, first, back = np.unique(key, axis=1, return_index=True, return_inverse=True)
    total = np.bincount(back.reshape(-1), np.maximum(time, 0), pairs.shape[1])
    entries: list[LegendEntry] = []
    letters = 0
    for k in np.argsort(-total, kind="stable")[:_PAIRS].tolist():
        t, b, o = pairs[:, k].tolist()
        who, whom = called(picture, t, b), called(picture, b, t)
        text = f"{who} waits {units.duration(round(float(total[k])))} for {whom}"
        name = ops.objects[o] if o >= 0 else ""
        # What is called like one of the threads says nothing new.
        if name and not any(threads.name[x] and threads.name[x] in name for x in (t, b)):
            text += f" ({short(name)})"
        letters += len(text) + 5
        if entries and letters > _LETTERS:
            break
        entries.append(LegendEntry(text, int(color[first[k]])))
    return Legend("Longest waits", tuple(entries))


def _title(trace: Trace, waits: Waits) -> str:
    name = trace.source.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "trace"
    threads = int(np.count_nonzero(trace.threads.count))
    waited = int(waits.waited.sum())
    text = f"{name}: {units.counted(threads, 'thread')}, {units.duration(trace.span_ns)}"
    if not len(waits.own):
        return f"{text}, no waits recorded (a thread that calls nothing may wait, or compute)"
    return f"{text}, {len(waits.own):,} waits of {units.duration(waited)} together"


def _notes(picture: Layout, found: corr.Shown, chosen: corr.Shown, short: corr.Shown) -> tuple[str, ...]:
    p, trace, waits = picture.parameters, picture.trace, picture.waits
    notes = []
    if not sum(cut.total for cut in picture.cuts):
        notes.append("no call lies in this window")
    if not len(waits.ops.wants) or not len(waits.own):
        notes.append(
            "this recording tells of no waits: rules (--set rules=FILE) can name functions that wait"
        )
    else:
        unknown = int(np.count_nonzero(waits.woken_by[waits.own] < 0))
        if unknown:
            notes.append(f"of {unknown:,} of {len(waits.own):,} waits it isn't known who ended them")
        hidden = len(found) - len(chosen) - len(short)
        if hidden > 0:
            notes.append(f"{hidden:,} waits are shorter than {p.resolution:g} px or beyond tubes={p.tubes:,}")
    if picture.left_out:
        notes.append(f"{picture.left_out:,} more threads have calls or waits here (threads=all)")
    merged = sum(int(cut.clusters.calls.sum()) for cut in picture.cuts)
    if merged:
        total = sum(cut.total for cut in picture.cuts)
        notes.append(
            f"{merged:,} of {total:,} calls, narrower than {p.resolution:g} px, are merged: paler bars"
        )
    if p.windows.strip():
        notes.append(f"windows of their own: {p.windows}")
    if p.fold > 0:
        notes.append(f"{p.fold:g} levels are folded")
    if p.taper > 0:
        notes.append("levels in which less time is spent are drawn lower")
    if trace.problems:
        mended = sum(problem.count for problem in trace.problems.values())
        notes.append(f"{mended:,} records were mended or left out: {', '.join(trace.problems)}")
    return tuple(notes)


def _meaning(waits: Waits) -> dict[str, Meaning]:
    """Return what the ids of waits stand for: who waits, how long, for what, and who ended and held it."""
    ops, trace = waits.ops, waits.trace
    titles = [trace.threads.title(t) for t in range(len(trace.threads))]
    values = (
        ("waited (ns)", ops.lasted.astype(np.float64)),
        ("released (ns)", np.where(waits.woken_at >= 0, waits.woken_at, np.nan)),
    )
    count = np.diff(ops.first)
    inferred = waits.held_by_source == INFERRED
    held = np.where(waits.held_by >= 0, waits.held_by + len(titles) * inferred, -1)
    texts = (
        ("waits by", list(ops.names), ops.name.astype(np.int64)),
        ("for", list(ops.objects), np.where(count > 0, np.append(ops.object, -1)[ops.first[:-1]], -1)),
        # SyncTrace tells waits for any and for all of several objects apart.
        ("of several objects", ["any", "all"], np.where(count > 1, ops.all.astype(np.int64), -1)),
        ("waiting thread", titles, ops.thread.astype(np.int64)),
        ("released by", titles, waits.woken_by.astype(np.int64)),
        ("held by", [*titles, *(f"{title} (inferred)" for title in titles)], held.astype(np.int64)),
        ("in", list(trace.functions.label), waits.function.astype(np.int64)),
    )
    rows = Meaning(calls=((0, ops.call),), values=values, texts=texts)
    kinds = ("correspondence", "correspondence out of sight", "release", "wait marker", "wait start",
             "wait plate", "wait for several", "aggregated", "idle")  # fmt: skip
    shares = {}
    if len(ops):
        # What the paper's tooltip says of a call: how much of it waits, and reads or writes.
        spent = tuple(
            (title, np.where(time > 0, time, np.nan))
            for title, time in (
                ("waits (ns)", waits.time_in(WAIT)),
                ("reads or writes (ns)", waits.time_in(IO)),
            )
        )
        shares = dict.fromkeys(("call", "cluster"), Meaning(calls=(), values=spent))
    objects = Meaning(
        calls=(), texts=(("object", list(ops.objects), np.arange(len(ops.objects), dtype=np.int64)),)
    )
    each = np.arange(len(titles) + 1)
    threads = Meaning(
        calls=(),
        values=(
            ("waits (ns)", waits.waited.astype(np.float64)),
            ("ends waits of (ns)", waits.hubs()[0] * 1.0),
        ),
        texts=(("thread", titles, each[:-1]),),
    )
    return {
        **dict.fromkeys(kinds, rows),
        **dict.fromkeys(("row", "thread"), threads),
        "threads that run": Meaning(calls=(), values=(("threads that run", each * 1.0),)),
        **dict.fromkeys(("start", "overview"), blocks.meaning(trace)),
        **dict.fromkeys(("object", "queue"), objects),
        **shares,
    }


VIEW = View(
    name="threads",
    title="Threads",
    sentence="Who waits for whom: threads' calls on a half cylinder, funnels from waits to their releases",
    traces=(1, 1),
    parameters=Parameters,
    draw=draw,
    level_of_detail=LevelOfDetail,
    live=LiveForm("Who computes, waits, reads or writes, and who lets whom go on", Threads),
    docs="threads.md",
)
