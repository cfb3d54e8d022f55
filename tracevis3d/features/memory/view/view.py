"""Memory as a terrain, after Memcov Viz (Seyster, *Techniques for Visualizing Software Execution*, 2.4.2).

Each block is a ridge: as wide as its bytes, along time from its allocation at the back to its end, now being
the front edge. Its height is the time since its last access, so that forgotten memory grows into plateaus.
From above it is Memcov Viz's picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.frame import Frame
from ....drawing.palettes import BASE, GRID, PALETTES
from ....drawing.primitives import Drawing, Legend, LegendEntry
from ....errors import not_recorded
from ....progress import Progress
from ....trace.model import Trace
from ....views.calls.actions import with_actions
from ....views.lists import finding_list
from ....views.view import LiveForm, View
from ..actions import MEMORY_ABOVE, SHOW_ALL_BYTES, ZOOM
from ..commands import COMMANDS
from ..live.settings import Settings, apply, wheel
from ..summary import heading, sentence
from ..tables import TABLES
from . import captions, names, wall
from .arrangement import PACKED, memory_use
from .colors import BlockColors, block_colors
from .detail import LevelOfDetail
from .layout import Layout, compose
from .metadata import meaning
from .parameters import Parameters
from .regroup import on_the_way
from .story import headline_finding
from .terrain import Heights, Pieces, Places, floor, footprints, heights, pieces, terrain

if TYPE_CHECKING:
    from ....live.growing import GrowingTrace
    from ....live.stream.alarms import Watcher
    from ....live.stream.live_view import LiveView

#: The shadow of large blocks on the ground.
_FOOTPRINT = np.array([0.45, 0.47, 0.51, 0.32], np.float32)
#: By how much the area below the live bytes is paler than their curve.
_PALE = 0.72
_FINDING = np.array([0.93, 0.38, 0.09, 1.0], np.float32)


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the memory of one trace.

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
    InputError
        If the recording has no allocations.
    UsageError
        If the window is empty, no call site fits, or there are no addresses to order by.
    """
    (trace,) = traces
    p = parameters
    progress(0.0, "pairing allocations with frees")
    if not len(trace.memory):
        remedy = "'tracevis3d record --memory', memray and heaptrack record them"
        raise not_recorded(trace.source.path, "allocations", remedy)
    arrived = compose(trace, p, frame)
    progress(0.6, "building the terrain")
    drawing = DrawingBuilder()
    shown = _draw_blocks(drawing, arrived, frame)
    picture = shown.picture
    kinds = PALETTES[p.palette].kinds
    curves = drawing.color(kinds[[0, 3 % len(kinds), 2 % len(kinds)]])
    hair, ground, mark = drawing.color(GRID), drawing.color(BASE), drawing.color(_FINDING)
    # The camera holds the names of the order that is arrived at all the way.
    sites = names.site_names(arrived, shown.cut, hair)
    if sites is not None and p.regroup >= 1.0:
        drawing.add(sites[0])
        drawing.write(sites[1])
    beyond = names.beyond(arrived, sites[1] if sites else None)
    drawing.add(floor(picture, ground, 0.0))
    drawing.explain(*shown.colors.legends, _widths(drawing, shown, ground))
    if p.curves:
        pale = drawing.color(np.append(kinds[0, :3] + _PALE * (1 - kinds[0, :3]), 1.0))
        lines, texts = wall.draw_curves(
            picture, wall.series_of(picture), (curves, curves + 1, curves + 2), pale, hair
        )
        drawing.add(*lines)
        drawing.write(*texts)
    if p.findings and shown.cut is not None:
        marks, texts, found, callouts = captions.findings(picture, shown.cut, mark)
        drawing.add(*marks)
        drawing.write(*texts)
        drawing.explain(found)
        drawing.point_out(*callouts)
    drawing.measure(
        captions.byte_axis(picture),
        captions.time_axis(picture),
        captions.height_axis(picture, shown.scale),
    )
    items = picture.items
    merged = int((items.stop - items.first)[~items.alone].sum())
    drawing.note(*_notes(picture, merged, shown.scale.kind))
    progress(1.0, "drawn")
    low, high = picture.camera.low, picture.camera.high
    if picture.across:
        low = (low[0], min(low[1], -beyond), low[2])
    else:
        high = (high[0], max(high[1], picture.deep + beyond), high[2])
    return drawing.finish(
        replace(picture.camera, low=low, high=high),
        _title(picture),
        blocks=len(picture.arrangement.pyramid),
        blocks_alone=int(items.alone.sum()),
        blocks_taken_together=merged,
        pieces=shown.pieces,
    )


@dataclass(frozen=True, eq=False)
class _Shown:
    """The blocks that are drawn, and what everything else is drawn around.

    Attributes
    ----------
    picture : Layout
        Of the order that is shown; on the way between two, of the closer one.
    scale : Heights
    colors : BlockColors
    cut : Pieces or None
        The pieces that are drawn; None where blocks are on their way between two orders.
    pieces : int
        How many pieces of blocks there are.
    """

    picture: Layout
    scale: Heights
    colors: BlockColors
    cut: Pieces | None
    pieces: int


def _draw_blocks(drawing: DrawingBuilder, arrived: Layout, frame: Frame) -> _Shown:
    """Draw the blocks of one order, or on their way from another order to it."""
    p = arrived.parameters
    picture, scale = arrived, heights(arrived)
    cut = None
    if p.regroup < 1.0 and p.before != p.order:
        before = compose(arrived.trace, replace(p, order=p.before), frame)
        picture = before if p.regroup < 0.5 else arrived
        blocks, colors, drawing.meaning = on_the_way(before, arrived, p.regroup, scale, drawing.paint)
    else:
        colors = block_colors(picture, drawing.paint)
        drawing.meaning = meaning(picture)
        cut = pieces(picture, scale)
        blocks = [*terrain(picture, cut, colors)]
    drawing.add(*blocks)
    return _Shown(picture, scale, colors, cut, sum(map(len, blocks)))


def _widths(drawing: DrawingBuilder, shown: _Shown, ground: int) -> Legend:
    """Draw the room that blocks take on the ground; return the legend of it and of the widths."""
    picture, entries = shown.picture, []
    p = picture.parameters
    # The flat twin is Memcov Viz's picture, which has none.
    if shown.cut is not None and p.footprint and p.opening > 0 and p.order not in PACKED:
        shade = drawing.color(_FOOTPRINT)
        shadow, least = footprints(picture, shade, Places.of(picture))
        drawing.add(shadow)
        if len(shadow):
            room = f"room of each block of {units.byte_size(least)} or more, also while it is not allocated"
            entries.append(LegendEntry(room, shade))
    if p.width != "bytes" and p.order != "address":
        scale = "square roots" if p.width == "sqrt" else "logarithms"
        entries.append(LegendEntry(f"{scale} of bytes, not bytes", ground))
    return Legend("Widths", tuple(entries))


def _title(picture: Layout) -> str:
    """Return the first finding, or else how much memory there is."""
    found = headline_finding(picture.use, picture.parameters)
    if not found:
        return _amounts(picture)
    return heading(found, picture.use)


def _amounts(picture: Layout) -> str:
    use = picture.use
    allocated, peak = (units.byte_size(int(column[-1])) for column in (use.table.allocated, use.table.peak))
    return f"{len(use.blocks):,} blocks, {allocated} allocated, peak {peak}"


def _notes(picture: Layout, merged: int, kind: str) -> tuple[str, ...]:
    p, use, items = picture.parameters, picture.use, picture.items
    notes = [f"{picture.trace.source.title}: {_amounts(picture)}"]
    if not len(items):
        notes.append("no block is live in this window")
    if merged:
        notes.append(
            f"{merged:,} of {int((items.stop - items.first).sum()):,} blocks are narrower than "
            f"{p.resolution:g} px and merged with their neighbours"
        )
    if picture.arrangement.brief:
        notes.append(f"{picture.arrangement.brief:,} blocks lived too briefly to be seen")
    kept, kept_bytes = int(use.table.kept_blocks[-1]), int(use.table.kept[-1])
    notes.append(f"{units.counted(kept, 'block')} ({units.byte_size(kept_bytes)}) not freed")
    if p.height == "age" and not len(use.blocks.access):
        notes.append("no accesses are recorded: height and shade show the time since the allocation")
    elif kind != "linear":
        notes.append(f"heights are on a {'square-root' if kind == 'sqrt' else 'logarithmic'} scale")
    if p.width != "bytes" and p.order != "address":
        notes.append(
            f"widths are not bytes, but their {'square roots' if p.width == 'sqrt' else 'logarithms'}"
        )
    odd = [
        (use.blocks.double_frees.count, "double frees"),
        (use.blocks.unknown_frees.count, "frees without an allocation in the recording"),
        (use.blocks.overwritten.count, "addresses allocated twice"),
    ]
    notes += [f"{count:,} {what}" for count, what in odd if count]
    if not use.has_times:
        notes.append("no times are recorded: records are counted")
    problems = picture.trace.problems
    if "no addresses" in problems:
        notes.append("no addresses are recorded: a free ends the youngest block of its size and call site")
    if "coarse times" in problems:
        notes.append("times are recorded only at intervals, and spread evenly between")
    return tuple(notes)


def _live(growing: GrowingTrace, window_ns: int) -> LiveView:
    from ..live.live_view import Memory

    return Memory(growing, window_ns)


def _findings(trace: Trace, _parameters: Mapping[str, Any]) -> list[tuple[str, str]]:
    use = memory_use(trace)
    return [(finding.kind, sentence(finding, use)) for finding in use.findings]


def _alarms(growing: GrowingTrace) -> Watcher:
    from ..live.alarms import MemoryAlarms

    return MemoryAlarms(growing)


VIEW = View(
    name="memory",
    title="Memory",
    sentence="Blocks of memory as a terrain: width is bytes, depth is time, height how long they lie idle",
    traces=(1, 1),
    parameters=Parameters,
    draw=draw,
    level_of_detail=LevelOfDetail,
    suits=lambda trace: 0.75 if len(trace.memory) else 0.0,
    live=LiveForm(
        "Blocks side by side, higher the longer idle; curves of live bytes, allocations and the idle share",
        _live,
        Settings,
        apply,
        wheel,
        remade=True,
        alarms=_alarms,
    ),
    actions=with_actions(ZOOM, SHOW_ALL_BYTES),
    offers=(MEMORY_ABOVE,),
    lists=(finding_list(_findings),),
    commands=COMMANDS,
    tables=TABLES,
    runs_right=True,
    docs="memory.md",
)
