"""The call tree of every thread as an extruded icicle.

Time runs along x and stack depth rises along z, as in the icicle plots of TraceDiff (section IV-C) and
SyncTrace (section IV-A), whose third axis is free: here a box is as thick as a measure of its call says, and
threads stand on terraces, so that thick boxes of one lane don't hide another. With ``opening`` 0 all this
folds back into the plain icicle plot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.frame import Frame
from ....drawing.palettes import BASE, GRID, OTHER, PALETTES
from ....drawing.primitives import Boxes, Drawing, Legend, LegendEntry
from ....drawing.selector import Selector
from ....layout.cut import Cut, call_span
from ....layout.scales import Scale
from ....progress import Progress
from ....trace import profile
from ....trace.model import Trace
from ....views.calls.actions import with_actions
from ....views.calls.clusters import note_of_rows
from ....views.calls.colors import Coloring, coloring
from ....views.calls.measures import Measure, measure
from ....views.calls.pull_apart import pull_apart
from ....views.view import LiveForm, View
from ..commands import COMMANDS
from ..headline import about, headline
from .actions import FOLD, HEIGHTEN, in_window
from .boxes import call_boxes, cluster_boxes, measured
from .detail import LevelOfDetail
from .layout import Layout, compose
from .names import names_on_fronts, names_on_tops
from .parameters import Parameters
from .surroundings import depth_axis, grid, lane_names, measure_ruler, terraces, time_axis
from .winding import Spiral, Wound, spiral_of, wound

if TYPE_CHECKING:
    from ....live.growing import GrowingTrace
    from ....live.stream.live_view import LiveView

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


#: Where it is pulled apart.
_APART = {
    "thread": {"recede": 3.0},
    "level": {"gap": 0.6, "taper": 0.0},
    "module": {"apart": 6.0},
}


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the icicle of one trace.

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
        If the window is empty or a thread doesn't exist.
    """
    (trace,) = traces
    progress(0.0, "indexing the calls")
    picture, cut, note = compose(trace, parameters, frame)
    parameters = picture.parameters
    progress(0.6, "placing boxes")
    colors = coloring(
        trace, parameters.color, PALETTES[parameters.palette], parameters.entries, picture.threads
    )
    # The neutrals come after the data's colours.
    palette = np.vstack([colors.palette, OTHER[None], GRID[None], BASE[None]])
    other, thin, surface = range(len(colors.palette), len(palette))
    shown = measure(trace, parameters.measure)
    scale, call_value, cluster_value = measured(shown, parameters, cut)
    calls = call_boxes(picture, cut, colors, scale.place(call_value))
    clusters = cluster_boxes(picture, cut, colors, scale.place(cluster_value))
    progress(0.8, "writing labels")
    if spiral := spiral_of(picture):
        grid_lines, times = spiral.clock(frame, thin)
        parts = [spiral.ground(surface), *wound(spiral, (calls, clusters)), grid_lines]
        names = spiral.names(calls, frame, parameters.labels)
        progress(1.0, "drawn")
        return Drawing(
            palette=palette,
            elements=tuple(part for part in parts if part is not None),
            camera=spiral.camera(),
            labels=tuple(label for label in (names, times) if len(label)),
            legends=_legends(colors, clusters, other, profile.calls_word(picture.trace)),
            title=_title(picture),
            notes=(*_notes(picture, cut, shown, scale, note), spiral.note()),
            counts=_counts(picture, cut),
        )
    ruler = time_axis(picture)
    elements: list[Any] = [calls, clusters, *terraces(picture, surface), grid(picture, ruler, thin)]
    names = names_on_fronts(picture, calls, clusters, parameters.labels)
    labels = [names, lane_names(picture)]
    if shown is not None and shown.grows_downward:
        labels.append(names_on_tops(picture, calls, clusters, parameters.labels - len(names)))
    # Of what is read straight from the front a ruler towards the reader is a dot.
    if shown is not None and picture.reach > 0.05 and not picture.can_fold:
        lines, texts = measure_ruler(picture, shown, scale, thin)
        elements.append(lines)
        labels.append(texts)
    progress(1.0, "drawn")
    return Drawing(
        palette=palette,
        elements=tuple(element for element in elements if len(element)),
        camera=picture.camera,
        labels=tuple(label for label in labels if len(label)),
        axes=(ruler, *depth_axis(picture)),
        legends=_legends(colors, clusters, other, profile.calls_word(picture.trace)),
        title=_title(picture),
        notes=_notes(picture, cut, shown, scale, note),
        counts=_counts(picture, cut),
    )


def _counts(picture: Layout, cut: Cut) -> dict[str, Any]:
    return {
        "calls": cut.total,
        "calls_in_clusters": int(cut.clusters.calls.sum()),
        "threads": len(picture.threads),
        "resolution_ns": cut.resolution,
    }


def _legends(colors: Coloring, clusters: Boxes, other: int, word: str) -> tuple[Legend, ...]:
    legends = [colors.legend] if colors.legend else []
    if len(clusters):
        entry = LegendEntry(
            f"several {word}, coloured by the longest", other, "cluster", Selector(kinds=("cluster",))
        )
        if legends and legends[0].entries:
            legends[0] = replace(legends[0], entries=(*legends[0].entries, entry))
        else:
            legends.append(Legend("Merged", (entry,)))
    return tuple(legends)


def _title(picture: Layout) -> str:
    """Return where the time of the trace goes; of a part of it, which trace it is of."""
    (low, high), (first, last) = picture.window, call_span(picture.trace)
    return headline(picture.trace) if low <= first and high >= last else about(picture.trace)


def _notes(picture: Layout, cut: Cut, shown: Measure | None, scale: Scale, left_out: str) -> tuple[str, ...]:
    p, trace = picture.parameters, picture.trace
    low, high = picture.window
    first, last = call_span(trace)
    notes = [about(trace)] if low <= first and high >= last else []
    if not cut.total:
        notes.append("no call lies in this window")
    if low > first or high < last:
        notes.append(f"from {units.exact_duration(low)} to {units.exact_duration(high)}")
    elif last < 0.9 * trace.span_ns and high < trace.span_ns:
        notes.append(f"there are no calls after {units.duration(last)}, but the recording continues")
    if p.first_depth > 1 or (p.last_depth and p.last_depth < int(trace.calls.depth.max(initial=0))):
        notes.append(f"depth {p.first_depth} to {p.last_depth or 'the deepest'}")
    merged = int(cut.clusters.calls.sum())
    if merged:
        many, kind = profile.counted_calls(trace, cut.total), profile.length_kind(trace)
        least = profile.length_text(trace, cut.resolution)
        least += "" if not kind or kind.endswith(")") else f" {profile.bare_kind(kind)}"
        notes.append(
            f"{merged:,} of {many}, shorter than {least} "
            f"({p.resolution:g} px), are merged into {units.counted(len(cut.clusters), 'cluster')}"
        )
    folded = int(picture.folded.sum())
    if folded:
        notes.append(f"{folded:,} of {units.counted(len(picture.threads), 'thread')} are folded")
    if not folded and (rows := note_of_rows(trace, [cut])):
        notes.append(rows)
    if left_out:
        notes.append(left_out)
    if shown is not None and picture.reach > 0:
        kind = units.SCALES[scale.kind]
        notes.append(f"thickness: {shown.title}, {kind} scale (of a cluster: {shown.of_cluster})")
    elif p.measure == "memory" and shown is None:
        notes.append("the trace records no allocations: all boxes are equally thick")
    if p.taper * p.opening > 0:
        notes.append(f"levels with less {profile.length_word(trace)} are drawn lower")
    notes += filter(None, (profile.note(trace), trace.problems.note()))
    return tuple(notes)


def _level_of_detail(traces: Sequence[Trace], parameters: Any, frame: Frame) -> LevelOfDetail | Wound:
    if not parameters.winding:
        return LevelOfDetail(traces, parameters, frame)
    return Wound(Spiral(compose(traces[0], parameters, frame)[0], max(parameters.winding, 1.0)))


def _live(growing: GrowingTrace, window_ns: int) -> LiveView:
    from .live_view import Icicle

    return Icicle(growing, window_ns)


VIEW = View(
    name="icicle",
    title="Icicle",
    sentence="The call tree of each thread: width is time, height is stack depth, thickness a chosen measure",
    runs_right=True,
    docs="icicle.md",
    traces=(1, 1),
    parameters=Parameters,
    draw=draw,
    level_of_detail=_level_of_detail,
    actions=with_actions(pull_apart(_APART), FOLD, HEIGHTEN),
    in_window=in_window,
    suits=lambda trace: float(len(trace.calls) > 0),
    live=LiveForm(
        "Calls of each thread, stacked by depth; colours are modules (or functions) with most time now",
        _live,
    ),
    commands=COMMANDS,
)
