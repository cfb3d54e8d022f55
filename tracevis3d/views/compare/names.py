"""Texts of a comparison: functions' names on the walls, the traces' names beside them, rulers of time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...analysis.many import letter_of
from ...drawing.words import Axis, Boxes, Labels
from ...layout import ticks
from ...trace.model import Trace
from ..icicle.composition import WIDTH
from .composition import Composition, Wall
from .overview import Skyline

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Beyond this angle a wall's names stand on its front instead of along its slope.
_STEEP = math.radians(45.0)
#: A call that takes this share of its caller continues the caller's chain.
_CHAIN = 0.75
#: Lines of text are this share of the room they have, and this many times what can just be read.
_FILL, _LEGIBLE = 0.84, 1.4
#: A name's box is at least so many line heights wide.
_LEAST_WIDTH = 2.5
_ARROW = " › "


def names(picture: Composition, wall: Wall, boxes: Boxes, most: int) -> Labels:
    """Return functions' names on the widest boxes.

    Where levels are too low for a line of text, calls that take up most of their callers share one: their
    names follow each other.

    Parameters
    ----------
    picture : Composition
    wall : Wall
    boxes : Boxes
        The wall's calls.
    most : int
    """
    steep = wall.fold.rise > _STEEP
    up = (0.0, 0.0, 1.0) if steep else wall.fold.upwards
    pixels = picture.pixels_per_unit * picture.seen_along(up)
    enough = _LEGIBLE * picture.least_text / max(pixels, 1e-9) / _FILL
    low, high = wall.levels(boxes.id)
    chains = _chains(wall, boxes, high - low, enough, most)
    head = np.array([c[0] for c in chains], np.int64)
    tail = np.array([c[-1] for c in chains], np.int64)
    width = boxes.size[tail, 0].astype(np.float64)
    height = np.minimum(_FILL * (high[tail] - low[head]), picture.text)
    inset = np.minimum(0.35 * height, 0.06)
    anchor = np.empty((len(chains), 3), np.float32)
    anchor[:, 0] = boxes.low[tail, 0] + inset
    middle = (low[head] + high[tail]) / 2
    if steep:
        anchor[:, 1] = np.minimum(boxes.low[head, 1], boxes.low[tail, 1]) - 0.004
        anchor[:, 2] = middle * math.sin(wall.fold.rise) + wall.plate * math.cos(wall.fold.rise)
    else:
        step = np.array([float((high[c] - low[c]).max()) for c in chains])
        anchor[:, 1], anchor[:, 2] = wall.fold.above(middle, step, wall.plate)
        anchor[:, 2] += 0.004
    label = wall.trace.functions.label
    function = wall.trace.calls.function[boxes.id]
    return Labels(
        "function",
        tuple(_ARROW.join(label[f] for f in function[c].tolist()) for c in chains),
        anchor,
        height.astype(np.float32),
        (width - 2 * inset).astype(np.float32),
        boxes.size[head, 0].copy(),
        align=-1,
        up=up,
        background=boxes.color[head],
        source=wall.source,
    )


def _chains(wall: Wall, boxes: Boxes, room: Floats, enough: float, most: int) -> list[Ints]:
    """Return boxes, the widest first, each with as many below it as a line of text needs.

    Parameters
    ----------
    wall : Wall
    boxes : Boxes
    room : float64 (n,)
        Height of each box along the wall.
    enough : float
        Height that a line of text needs.
    most : int
    """
    n, width = len(boxes), boxes.size[:, 0].astype(np.float64)
    order = np.argsort(boxes.id)
    caller = wall.trace.calls.parent[boxes.id]
    place = np.minimum(np.searchsorted(boxes.id[order], caller), max(n - 1, 0))
    above = order[place] if n else place
    is_below = (caller >= 0) & (boxes.id[above] == caller) & (width >= _CHAIN * width[above])
    below = np.full(n, -1, np.int64)
    below[above[is_below]] = np.flatnonzero(is_below)
    line = np.minimum(np.maximum(room * _FILL, 0.0), enough * _FILL)
    wide = np.flatnonzero(width >= _LEAST_WIDTH * np.maximum(line, 1e-9))
    depth = wall.trace.calls.depth[boxes.id]
    taken = np.zeros(n, np.bool_)
    found: list[Ints] = []
    for i in wide[np.lexsort((depth[wide], -width[wide]))].tolist():
        if len(found) >= most:
            break
        if taken[i]:
            continue
        chain, height = [i], float(room[i])
        while height < enough and (i := int(below[i])) >= 0 and not taken[i]:
            chain.append(i)
            height += float(room[i])
        if height >= enough and width[chain[-1]] >= _LEAST_WIDTH * _FILL * enough:
            taken[chain] = True
            found.append(np.array(chain, np.int64))
    return found


def title(wall: Wall) -> str:
    """Return the file's name without suffixes."""
    return file_name(wall.trace) or f"trace {letter_of(wall.source)}"


def file_name(trace: Trace) -> str:
    """Return the name of a trace's file without folder and suffixes."""
    name = trace.source.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    for suffix in (".gz", ".zst", ".json", ".tv3", ".tsv"):
        name = name.removesuffix(suffix)
    return name


def _ruler_y(wall: Wall, beyond: float, lean: float = 0.0) -> float:
    """Return where a ruler of time lies that is ``beyond`` the roots; on A's side by ``lean`` farther."""
    beyond += lean if wall.fold.side > 0 else 0.0
    y0, y1, _, _ = wall.fold.outward(beyond, np.zeros(1), np.array([0.06]))
    return float(y1[0]) + 0.05 if wall.fold.side > 0 else float(y0[0]) - 0.05


def trace_names(picture: Composition, lines: tuple[Skyline, Skyline] | None) -> Labels:
    """Return which trace each wall shows and what its ruler tells, at the left end of the ruler."""
    anchor, text = np.zeros((2, 3), np.float32), []
    for s, wall in enumerate(picture.walls):
        y = _ruler_y(wall, picture.beyond, picture.lean) + wall.fold.side * 2.75 * picture.text
        anchor[s] = (wall.offset, y, 0.0)
        found = _ticks(lines[s].window if lines else wall.window, wall)
        unit = f"time in {found.unit}" + (f" from {found.offset}" if found.offset else "")
        calls, span = len(wall.trace.calls), ticks.duration(wall.trace.span_ns)
        text.append(f"{'AB'[s]}   {title(wall)}   {calls:,} calls, {span}   ({unit})")
    return Labels(
        "trace",
        tuple(text),
        anchor,
        np.full(2, 1.15 * picture.text, np.float32),
        np.full(2, np.inf, np.float32),
        np.full(2, 1e9, np.float32),
        align=-1,
        up=(0.0, 1.0, 0.0),
    )


def _ticks(window: tuple[int, int], wall: Wall) -> ticks.Ticks:
    return ticks.time_ticks(*window, max(2, round(11 * wall.width / WIDTH)))


def rulers(picture: Composition, lines: tuple[Skyline, Skyline] | None) -> tuple[Axis, ...]:
    """Return the rulers of time along the outer edges of both walls, and of overviews of more than that."""
    made = []
    for s, wall in enumerate(picture.walls):
        line = lines[s] if lines else None
        if line is not None and line.is_context:
            made.append(_ruler(picture, wall, line.window, picture.beyond))
            made.append(_ruler(picture, wall, wall.window, 0.0))
        else:
            made.append(_ruler(picture, wall, wall.window, picture.beyond))
    return tuple(made)


def _ruler(picture: Composition, wall: Wall, window: tuple[int, int], beyond: float) -> Axis:
    found = _ticks(window, wall)
    per_ns = wall.width / max(window[1] - window[0], 1)
    return Axis(
        origin=(wall.offset, _ruler_y(wall, beyond, picture.lean if beyond else 0.0), 0.0),
        direction=(1.0, 0.0, 0.0),
        length=wall.width,
        tick=tuple((t - window[0]) * per_ns for t in found.at),
        text=found.text,
        minor=tuple((t - window[0]) * per_ns for t in found.minor),
        outward=(0.0, float(wall.fold.side), 0.0),
        height=picture.text,
    )
