"""Memory as a terrain, after Memcov Viz (Seyster, *Techniques for Visualizing Software Execution*, 2.4.2).

Each block is a ridge: as wide as its bytes, along time from its allocation at the back to its end, now being
the front edge. Its height is how long nobody has touched it, so that forgotten memory grows into plateaus.
From above it is Memcov Viz's picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .... import units
from ....drawing.frame import Frame
from ....drawing.palettes import BASE, GRID, PALETTES, Paint
from ....drawing.primitives import Drawing, Element, Labels, Legend, LegendEntry
from ....errors import InputError
from ....progress import Progress
from ....trace.model import Trace
from ....views.view import LiveForm, View
from ..live.live_view import Memory
from ..live.settings import Settings, apply, wheel
from . import captions, wall
from .colors import block_colors
from .detail import LevelOfDetail
from .layout import DEPTH, Layout, compose
from .metadata import meaning
from .parameters import Parameters
from .regroup import on_the_way
from .terrain import Places, floor, footprints, heights, pieces, terrain

#: The shadow of large blocks on the ground.
_FOOTPRINT = np.array([0.45, 0.47, 0.51, 0.32], np.float32)
_FINDING = np.array([0.93, 0.38, 0.09, 1.0], np.float32)


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the memory of one trace.

    Parameters
    ----------
    traces : one Trace
    parameters : Parameters
    frame : Frame
        Of the picture: it decides what is too narrow to be seen.
    progress : Progress

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
        raise InputError(
            f"{trace.source.path or 'this trace'}: no allocations are recorded in it: memray and heaptrack "
            "record them"
        )
    after = picture = compose(trace, p, frame)
    progress(0.6, "raising the terrain")
    scale = heights(picture)
    paint = Paint()
    moves = p.regroup < 1.0 and p.before != p.order
    if moves:
        # What stands around the blocks is that of the order which is nearer.
        before = compose(trace, replace(p, order=p.before), frame)
        picture = before if p.regroup < 0.5 else after
        blocks, colors, told = on_the_way(before, after, p.regroup, scale, paint)
    else:
        colors, told = block_colors(picture, paint), meaning(picture)
        blocks = [*terrain(picture, pieces(picture, scale), colors)]
    kinds = PALETTES[p.palette].kinds
    lines = paint.add(kinds[[0, 3 % len(kinds), 2 % len(kinds)]])
    hair, ground, mark = paint.add(GRID[None]), paint.add(BASE[None]), paint.add(_FINDING[None])
    elements: list[Element] = [*blocks]
    labels: list[Labels] = []
    # The camera holds the names of the order that is arrived at all the way.
    names = captions.site_names(after, hair)
    if names is not None and p.regroup >= 1.0:
        elements.append(names[0])
        labels.append(names[1])
    behind = captions.longest(names[1]) * math.sin(math.radians(abs(p.opening * p.turn))) if names else 0.0
    elements.append(floor(ground, behind))
    legends: list[Legend | None] = list(colors.legends)
    signs = []
    # The flat twin is Memcov Viz's picture, which has none.
    if not moves and p.footprint and p.opening > 0:
        shade = paint.add(_FOOTPRINT[None])
        shadow, least = footprints(picture, shade, Places.of(picture))
        elements.append(shadow)
        if len(shadow):
            words_of = f"room of each block of {units.byte_size(least)} or more, also when it is not there"
            signs.append(LegendEntry(words_of, shade))
    if p.width != "bytes" and p.order != "address":
        scale_words = "square roots" if p.width == "sqrt" else "logarithms"
        signs.append(LegendEntry(f"{scale_words} of bytes, not bytes", ground))
    legends.append(Legend("Widths", tuple(signs)))
    if p.curves:
        curves, texts, legend = wall.draw_curves(
            picture, wall.series_of(picture), (lines, lines + 1, lines + 2), hair
        )
        elements += curves
        labels += texts
        legends.append(legend)
    if p.findings and not moves:
        marks, texts, found = captions.findings(picture, pieces(picture, scale), mark)
        elements += marks
        labels += texts
        legends.append(found)
    beside = captions.overhang(names[1]) if names is not None else 0.0
    axes = (
        captions.byte_axis(picture),
        captions.time_axis(picture),
        captions.height_axis(picture, scale, beside),
    )
    items = picture.items
    together = int((items.stop - items.first)[~items.alone].sum())
    progress(1.0, "drawn")
    return Drawing(
        palette=paint.palette,
        elements=tuple(element for element in elements if len(element)),
        camera=replace(
            picture.camera,
            high=(picture.camera.high[0] + beside, DEPTH + behind, picture.camera.high[2]),
        ),
        labels=tuple(label for label in labels if len(label)),
        axes=tuple(axis for axis in axes if axis is not None),
        legends=tuple(legend for legend in legends if legend is not None and legend.entries),
        title=_title(picture),
        notes=_notes(picture, together, scale.kind),
        counts={
            "blocks": len(picture.arrangement.pyramid),
            "blocks_alone": int(items.alone.sum()),
            "blocks_taken_together": together,
            "pieces": sum(map(len, blocks)),
        },
        meaning=told,
    )


def _title(picture: Layout) -> str:
    use = picture.use
    name = picture.trace.source.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "trace"
    blocks = len(use.blocks)
    allocated, peak = units.byte_size(int(use.table.allocated[-1])), units.byte_size(int(use.table.peak[-1]))
    return f"{name}: {blocks:,} blocks, {allocated} allocated, at most {peak} at once"


def _notes(picture: Layout, together: int, kind: str) -> tuple[str, ...]:
    p, use, items = picture.parameters, picture.use, picture.items
    notes = []
    if not len(items):
        notes.append("no block lives in this window")
    if together:
        notes.append(
            f"{together:,} of {int((items.stop - items.first).sum()):,} blocks are narrower than "
            f"{p.resolution:g} px and taken together with their neighbours"
        )
    kept, kept_bytes = int(use.table.kept_blocks[-1]), int(use.table.kept[-1])
    notes.append(f"{units.counted(kept, 'block')} ({units.byte_size(kept_bytes)}) never freed")
    if p.height == "age" and not len(use.blocks.access):
        notes.append("no accesses are recorded: height and shade tell the time since the allocation")
    elif kind != "linear":
        notes.append(f"heights are on a {'square-root' if kind == 'sqrt' else 'logarithmic'} scale")
    if p.width != "bytes" and p.order != "address":
        notes.append(
            f"widths are no bytes, but their {'square roots' if p.width == 'sqrt' else 'logarithms'}"
        )
    odd = [
        (use.blocks.double_frees.count, "double frees"),
        (use.blocks.unknown_frees.count, "frees of what was not allocated in the recording"),
        (use.blocks.overwritten.count, "addresses given out twice"),
    ]
    notes += [f"{count:,} {what}" for count, what in odd if count]
    problems = picture.trace.problems
    if "no addresses" in problems:
        notes.append("no addresses are recorded: a free ends the youngest block of its size and call site")
    if "coarse times" in problems:
        notes.append("times are told only now and then, and spread evenly between")
    return tuple(notes)


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
        "Places of memory, higher the longer nobody has touched them",
        Memory,
        Settings,
        apply,
        wheel,
        remade=True,
    ),
    docs="memory.md",
)
