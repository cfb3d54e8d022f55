"""Who waits for whom: all threads of a trace as rows of an amphitheatre, funnels through its hollow core.

SyncTrace (section IV-B) bends the threads' icicle plots to a semicircle, so that curves between any two run
through its middle; one thread lies straight above. Here time stays straight: the rows stand on a half
cylinder whose axis is time, one ruler for all. ``paper`` 1 is the paper's picture, ``lanes`` 1 swim lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.builder import DrawingBuilder
from ....drawing.frame import Frame
from ....drawing.palettes import BASE, parse
from ....drawing.primitives import Drawing, LegendEntry, Tubes, Wedges
from ....drawing.selector import Selector
from ....errors import UsageError
from ....progress import Progress
from ....trace import profile
from ....trace.model import Trace
from ....trace.names import named_threads
from ....views.calls.actions import with_actions
from ....views.calls.pull_apart import pull_apart
from ....views.calls.same_clock import shown_above
from ....views.lists import finding_list
from ....views.view import LiveForm, View
from ..commands import COMMANDS
from ..findings.finding import Finding
from ..tables import TABLES
from . import calls as blocks
from . import certainty, dark_bars, group_bands
from . import correspondences as corr
from . import overview as over
from .annotations import captions, legends
from .annotations import notes as noted
from .annotations.tags import tags
from .annotations.wedge_names import wedge_names
from .colors import CallColors, color_calls, object_colors, said_once, state_colors, thread_colors
from .detail import LevelOfDetail
from .found_waits import findings_of, waits_of
from .layout import Layout, compose
from .metadata import metadata
from .parameters import Parameters
from .rows.alike import GROUP_ACTIONS, KIND
from .rows.rearrange import ROW_ACTIONS
from .rows.thread_list import THREADS
from .skyline import LIVE_BYTES, QUEUE, RUNNING, memory_strip, queue_strip, skyline
from .story import callout, in_vain, staged, story, waits_about

if TYPE_CHECKING:
    from ....live.growing import GrowingTrace
    from ....live.stream.alarms import Watcher
    from ....live.stream.live_view import LiveView

Indices = NDArray[np.int32]

_RAIL = parse("e0218a")[0]
_RUNNING = parse("8f8f99")[0]
_LIVE = parse("9db7d4")[0]
_IDLE = parse("a3bfb2")[0]
_HELD = parse("1d1d22")[0]
_LINE = parse("5b5e66")[0]
_QUEUE = parse("d55e00 ee9b5f c3c5cc")
_FRAME = parse("e69f00")[0]
#: Share of the funnels that may be of waits that are no delay, where there are more than can be drawn.
_QUIET = 0.25


@dataclass(frozen=True, eq=False)
class _Waits:
    """The waits that are drawn, and in which colours.

    Attributes
    ----------
    found, chosen, short : Shown
        All correspondences in sight, those with funnels of their own, and those that are merged.
    color : int32 (chosen,)
    bars : Wedges
        Dark bars of threads that keep others waiting.
    vain : Tubes or None
        The funnels of waits that nobody ends.
    several, merged, steps : int
        How many signs of waits for several objects, merged shapes, and steps of the critical path there are.
    held, line, rail : int
        Palette indices.
    """

    found: corr.Shown
    chosen: corr.Shown
    short: corr.Shown
    color: Indices
    bars: Wedges
    vain: Tubes | None
    several: int
    merged: int
    steps: int
    held: int
    line: int
    rail: int


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the threads of one trace.

    Parameters
    ----------
    traces : one Trace
    parameters : Parameters
    frame : Frame
        Of the picture: it determines the size of a pixel.
    progress : Progress

    Returns
    -------
    Drawing

    Raises
    ------
    UsageError
        If a window is empty, or a thread or an object doesn't exist.
    InputError
        If a rule file can't be read.
    """
    profile.check_order(traces, "threads")
    (trace,) = traces
    progress(0.0, "finding waits")
    waits = waits_of(trace, parameters.rules)
    finding = story(waits, parameters)
    p = staged(waits, parameters, finding)
    if p.object and p.object not in waits.ops.objects:
        raise UsageError(f"object={p.object}: no thread waits for an object of this name")
    progress(0.3, "placing rows")
    picture = compose(trace, waits, p, frame)
    progress(0.6, "connecting waits")
    drawing = DrawingBuilder()
    about = waits_about(waits, p, finding)
    colors = color_calls(picture, drawing.paint, about, finding)
    rows = thread_colors(picture, drawing.paint)
    stacks = _draw_rows(drawing, picture, colors)
    drawn = _draw_waits(drawing, picture, rows, colors, about, finding)
    progress(0.8, "writing labels")
    above = _write(drawing, picture, colors, rows, drawn.chosen, drawn.color, frame, finding)
    drawing.measure(captions.time_axis(picture, drawn.bars))
    _explain(drawing, picture, drawn, rows, [*above, *stacks], finding)
    _point_out(drawing, picture, drawn, about, finding)
    drawing.keep_uncovered(QUEUE, RUNNING, LIVE_BYTES)
    drawing.note(*noted.notes(picture, drawn.found, drawn.chosen, drawn.short))
    drawing.meaning |= metadata(waits, drawing.meaning[KIND])
    drawing.meaning |= {corr.MERGED: corr.merged_meaning(picture, drawn.short)}
    progress(1.0, "drawn")
    return drawing.finish(
        picture.camera,
        finding.heading if finding is not None else noted.title(trace, waits),
        **_counts(picture),
        waits=len(waits.own),
        correspondences=len(drawn.chosen),
        correspondences_merged=len(drawn.short),
        steps_of_the_critical_path=drawn.steps,
        resolution_ns=max((cut.resolution for cut in picture.cuts), default=0),
    )


def _counts(picture: Layout) -> dict[str, int]:
    """Return how much of the trace the rows show."""
    return {
        "calls": blocks.whole(picture),
        "calls_in_clusters": sum(int(cut.clusters.calls.sum()) for cut in picture.cuts),
        "threads": sum(len(row.threads) for row in picture.rows),
        "rows": len(picture.rows),
        "threads_left_out": picture.left_out,
    }


def _draw_rows(drawing: DrawingBuilder, picture: Layout, colors: CallColors) -> tuple[LegendEntry, ...]:
    """Draw the threads' rows with their calls, the overviews and what parts them; return legend entries."""
    surface, idle = drawing.color(BASE), drawing.color(_IDLE)
    drawing.add(blocks.plates(picture, surface), *blocks.call_blocks(picture, colors))
    drawing.add(blocks.idle_blocks(picture, idle))
    bands, stacks = group_bands.group_bands(picture, drawing, colors)
    drawing.add(bands)
    drawing.add(*over.bars(picture, colors, surface), *over.frames(picture, drawing.color(_FRAME)))
    split, of_split = over.splitter(picture, idle)
    drawing.add(split)
    drawing.meaning |= {over.SPLITTER: of_split, KIND: group_bands.meaning(picture)}
    return stacks


def _draw_waits(
    drawing: DrawingBuilder, picture: Layout, rows: Indices, calls: CallColors, about: NDArray[np.bool_],
    finding: Finding | None,
) -> _Waits:  # fmt: skip
    """Draw what goes from waits to their releases, and who keeps others waiting; return what that is."""
    p = picture.parameters
    found = corr.shown(picture)
    chosen = found.only(_longest(picture, found))
    color = _draw_funnels(drawing, picture, chosen, rows, calls, about)
    line, held = drawing.color(_LINE), drawing.color(_HELD)
    drawing.add(*certainty.lines(picture, chosen, line))
    bars = dark_bars.bars(picture, finding, held)
    vain = corr.open_funnels(picture, in_vain(picture, finding), held)
    drawing.add(bars, vain)
    several = corr.several(picture, chosen, color)
    drawing.add(*several)
    marked = _rows_named(picture, p.markers, "markers")[chosen.release_row]
    drawing.add(*corr.markers(picture, chosen.only(marked), color[marked]))
    merging = _rows_named(picture, p.aggregates, "aggregates")[found.row] & ~corr.no_delay(picture, found)
    short = found.only(~found.alone & merging)
    merged = corr.aggregated(picture, short, rows)
    drawing.add(merged)
    rail, steps = drawing.color(_RAIL), 0
    if p.path:
        way, steps = corr.rail(picture, rail)
        drawing.add(way)
    return _Waits(found, chosen, short, color, bars, vain, len(several), len(merged), steps, held, line, rail)


def _draw_funnels(
    drawing: DrawingBuilder, picture: Layout, chosen: corr.Shown, rows: Indices, calls: CallColors,
    about: NDArray[np.bool_],
) -> Indices:  # fmt: skip
    """Draw the funnels, through their objects' lanes where colour says objects; return their colours."""
    p = picture.parameters
    color, through = rows[chosen.row], None
    if p.waits == "state":
        color, legend = state_colors(picture, drawing.paint, chosen.wait, about)
        drawing.explain(*said_once(calls.legends, legend))
    else:
        drawing.explain(*calls.legends)
    if p.waits == "object":
        color, objects, more = object_colors(picture, drawing.paint, chosen.wait, p.object)
        drawing.explain(*more)
        lanes, anchor = corr.object_lanes(
            picture, objects, int(_first_color(color, chosen, picture, objects))
        )
        drawing.add(*lanes)
        through = _through(picture, chosen, objects, anchor)
        drawing.write(captions.object_names(picture, objects, anchor))
    drawing.add(*corr.tubes(picture, chosen, color, through), corr.stems(picture, chosen, color))
    return color


def _write(
    drawing: DrawingBuilder, picture: Layout, colors: CallColors, rows: Indices, chosen: corr.Shown,
    color: Indices, frame: Frame, finding: Finding | None,
) -> list[LegendEntry]:  # fmt: skip
    """Write the names of threads, waits and functions, draw what carries them; return legend entries."""
    p, entries = picture.parameters, list[LegendEntry]()
    names, marks = captions.thread_names(picture, rows)
    drawing.add(marks)
    drawing.write(*names, *captions.summaries(picture), over.names(picture))
    if p.tags:
        plates, tagged = tags(picture, chosen, color, frame)
        drawing.write(tagged)
        drawing.add(plates)
    else:
        drawing.write(*captions.wait_names(picture, chosen, colors))
    drawing.write(*captions.quiet_names(picture, colors))
    shades = drawing.color(np.stack([_HELD, *_QUEUE]))
    built, names, of_queue = queue_strip(picture, finding, shades)
    if built is not None:
        unknown = (built.color == shades + len(_QUEUE)).any()
        text = "above: its queue, and who holds it" + ("; grey: nobody, or unknown" if unknown else "")
        entries.append(LegendEntry(text, shades + 1, stands_for=Selector(kinds=(QUEUE,))))
    else:
        built, beside = skyline(picture, drawing.color(_RUNNING))
        drawing.write(beside)
    drawing.meaning[QUEUE] = of_queue
    drawing.write(*names)
    drawing.add(built)
    live, beside, meaning = memory_strip(picture, drawing.color(_LIVE))
    drawing.write(beside)
    drawing.add(live)
    drawing.meaning[LIVE_BYTES] = meaning
    if picture.cuts:
        call_color = colors.of(np.concatenate([cut.calls for cut in picture.cuts]))
        named = wedge_names if p.paper == 1.0 else captions.function_names
        drawing.write(*named(picture, call_color, p.labels))
    return entries


def _explain(
    drawing: DrawingBuilder, picture: Layout, drawn: _Waits, rows: Indices, more: list[LegendEntry],
    finding: Finding | None,
) -> None:  # fmt: skip
    """Write the legends of signs, and of who waits for whom longest."""
    holding = None
    if finding is not None and len(drawn.bars):
        text = dark_bars.MEANS.get(finding.kind, dark_bars.HOLDS)
        holding = LegendEntry(text, drawn.held, stands_for=Selector(kinds=("hold",)))
    lines = certainty.entries(picture, drawn.chosen, drawn.line)
    first, rail = int(rows[0]) if len(rows) else 0, drawn.rail if drawn.steps else -1
    drawing.explain(
        legends.signs(
            picture, drawn.chosen, drawn.several, drawn.merged, first, rail, holding,
            [*more, *legends.in_vain(drawn.vain), *lines],
        ),
        legends.longest_pairs(picture, drawn.chosen, drawn.color) if finding is None else None,
    )  # fmt: skip


def _point_out(
    drawing: DrawingBuilder, picture: Layout, drawn: _Waits, about: NDArray[np.bool_], finding: Finding | None
) -> None:
    """Point out what is to be seen first, and the longest waits that it is about."""
    first_of_all = callout(picture, finding, drawn.held)
    # A picture of one finding tells nothing of others.
    mine = about[drawn.chosen.wait]
    others = legends.callouts(picture, drawn.chosen.only(mine), drawn.color[mine])
    # Beside what is to be seen first one more is enough; a picture of that alone needs none.
    most = 1 - bool(picture.parameters.finding) if first_of_all else None
    drawing.point_out(*first_of_all, *others[:most])


def _longest(picture: Layout, found: corr.Shown) -> NDArray[Any]:
    """Return which correspondences are drawn by themselves: the longest waits of those wide enough."""
    which, most = np.flatnonzero(found.alone), picture.parameters.tubes
    if len(which) > most:
        lasted = picture.waits.ops.lasted[found.wait[which]]
        # Threads that are delayed come first.
        lasted = lasted * np.where(picture.waits.ops.asks[found.wait[which]], 1 << 20, 1.0)
        which = which[np.argsort(-lasted, kind="stable")]
        quiet = corr.no_delay(picture, found.only(which))
        which = which[~quiet | (np.cumsum(quiet) <= most * _QUIET)][:most]
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


def _live(growing: GrowingTrace, window_ns: int) -> LiveView:
    from ..live.live_view import Threads

    return Threads(growing, window_ns)


def _findings(trace: Trace, parameters: Mapping[str, Any]) -> list[tuple[str, str]]:
    waits = waits_of(trace, parameters["rules"])
    found = findings_of(waits, parameters["rules"])
    return [(finding.kind, finding.sentence) for finding in found]


def _alarms(growing: GrowingTrace) -> Watcher:
    from ..live.alarms import WaitAlarms

    return WaitAlarms(growing)


THREADS_ABOVE = shown_above(
    "threads_above",
    "Threads on This Clock",
    "threads",
    "Show the threads of the same time above this view, and all views at once",
    lambda trace: "" if len(trace.calls) else "This recording has no calls: there are no threads to show",
)
VIEW = View(
    name="threads",
    title="Threads",
    sentence="Who waits for whom: threads' calls on a half cylinder, funnels from waits to their releases",
    traces=(1, 1),
    parameters=Parameters,
    draw=draw,
    level_of_detail=LevelOfDetail,
    actions=with_actions(*GROUP_ACTIONS, *ROW_ACTIONS, pull_apart({"thread": {"spacing": 1.6, "pull": 2.0}})),
    offers=(THREADS_ABOVE,),
    live=LiveForm(
        "Threads: calls, waits, reading or writing; grey bars go from a release to its wait",
        _live,
        alarms=_alarms,
    ),
    lists=(THREADS, finding_list(_findings)),
    commands=COMMANDS,
    tables=TABLES,
    runs_right=True,
    docs="threads.md",
)
