"""Texts of a comparison: functions' names on the walls, the traces' names beside them, rulers of time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.palettes import Colors
from ....drawing.primitives import Axis, Boxes, Labels
from ....layout import ticks
from ....trace import profile
from ....views.calls.ruler_ticks import ruler_ticks
from ....views.time_window import WIDTH
from ..matching.many_traces import letter_of
from .annotations.frames import FrameBuilder, plates
from .boxes import MOST_PLATES
from .layout import Layout, Wall
from .overview import Skyline

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A call that takes this share of its caller continues the caller's chain.
_CHAIN = 0.75
#: Line height, as a share of the available room, and relative to the smallest readable one (12 of 1080 px).
_FILL, _LEGIBLE = 0.84, 12 / 7
#: Largest share of the room that a line takes; by how much the farther wall is seen smaller, at most.
_FULLEST, _FARTHER = 0.92, 1.06
#: Minimum width of a named box, in line heights.
_LEAST_WIDTH = 2.5
_ARROW = " › "
#: The grounds of the styles, and the luminance below which light ink reads better than dark (WCAG 2).
_GROUNDS, _LUMINANCE, _DARK = (1.0, 0.05), np.array([0.2126, 0.7152, 0.0722]), 0.181


def names(picture: Layout, wall: Wall, boxes: Boxes, most: int, palette: Colors) -> Labels:
    """Return functions' names on the widest boxes.

    Where levels are too low for a line of text, calls that take up most of their callers share one: their
    names follow each other.

    Parameters
    ----------
    picture : Layout
    wall : Wall
    boxes : Boxes
        The wall's calls.
    most : int
    palette : float32 (k, 4)
        That the boxes' colours are of.

    Returns
    -------
    Labels
    """
    up = wall.fold.upwards
    pixels = picture.pixels_per_unit * picture.seen_along(up)
    enough = _LEGIBLE * picture.least_text / max(pixels, 1e-9) / _FILL
    low, high = wall.levels(boxes.id)
    chains = _chains(wall, boxes, high - low, enough, most, inks(palette)[boxes.color])
    head = np.array([c[0] for c in chains], np.int64)
    tail = np.array([c[-1] for c in chains], np.int64)
    width = boxes.size[tail, 0].astype(np.float64)
    room = high[tail] - low[head]
    # What is just high enough in the middle of the picture is a little lower on the farther wall.
    least = np.minimum(_FULLEST * room, enough * _FILL * _FARTHER)
    height = np.minimum(np.maximum(_FILL * room, least), picture.text)
    inset = np.minimum(0.35 * height, 0.06)
    anchor = np.zeros((len(chains), 3))
    anchor[:, 0] = boxes.low[tail, 0] + inset
    middle = (low[head] + high[tail]) / 2
    # Also clear of the next level, which is nearer to the reader of the farther wall.
    step = np.array([float((high[c] - low[c]).max()) for c in chains])
    heights = np.diff(wall.lanes.edge)
    after = wall.trace.calls.depth[boxes.id[tail]].astype(np.int64) - wall.first_depth + 1
    around = np.maximum(step, heights[np.minimum(after, len(heights) - 1)])
    anchor += picture.before(wall, middle, step, MOST_PLATES * wall.plate + 0.004, around)
    label = wall.trace.functions.label
    function = wall.trace.calls.function[boxes.id]
    if len(wall.steps) and not wall.fold.inner:
        out = np.array([wall.steps[function[c]].max(initial=0.0) for c in chains])
        anchor += out[:, None] * np.array(wall.fold.normal)
    return Labels(
        "function",
        tuple(_ARROW.join(label[f] for f in function[c].tolist()) for c in chains),
        anchor.astype(np.float32),
        height.astype(np.float32),
        (width - 2 * inset).astype(np.float32),
        boxes.size[head, 0].copy(),
        align=-1,
        up=up,
        background=boxes.color[head],
        source=wall.source,
    )


def inks(palette: Colors) -> Ints:
    """Return the same number for colours on which the same ink can be read, on light and on dark ground.

    Parameters
    ----------
    palette : float32 (k, 4)
        sRGB; an alpha below 1 is how much of a colour covers the ground.

    Returns
    -------
    int64 (k,)
    """
    rgb, alpha = palette[:, :3].astype(np.float64), palette[:, 3:]
    found = np.zeros(len(palette), np.int64)
    for ground in _GROUNDS:
        color = rgb * alpha + ground * (1 - alpha)
        light = np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
        found = 2 * found + (light @ _LUMINANCE < _DARK)
    return found


def _chains(wall: Wall, boxes: Boxes, room: Floats, enough: float, most: int, ink: Ints) -> list[Ints]:
    """Return boxes, the widest first, each with as many boxes below it as a line of text needs.

    Parameters
    ----------
    wall : Wall
    boxes : Boxes
    room : float64 (n,)
        Height of each box along the wall.
    enough : float
        Height that a line of text needs.
    most : int
    ink : int64 (n,)
        Of each box: a line of text has one ink.
    """
    n, width = len(boxes), boxes.size[:, 0].astype(np.float64)
    order = np.argsort(boxes.id)
    caller = wall.trace.calls.parent[boxes.id]
    place = np.minimum(np.searchsorted(boxes.id[order], caller), max(n - 1, 0))
    above = order[place] if n else place
    is_below = (caller >= 0) & (boxes.id[above] == caller) & (width >= _CHAIN * width[above])
    is_below &= ink == ink[above]
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
    source = wall.trace.source
    return source.title if source.path else f"trace {letter_of(wall.source)}"


#: Free space between what stands behind a wall and its ruler.
_SPACE = 0.05


def _ruler_at(picture: Layout, wall: Wall, beyond: float) -> tuple[float, float]:
    """Return the y and z of a ruler of time that lies ``beyond`` the roots; A's lies by its lean farther."""
    lean = picture.lean if beyond and wall.fold.side > 0 else 0.0
    return wall.fold.stage(beyond + lean + _SPACE)


def trace_names(
    picture: Layout, lines: tuple[Skyline, Skyline] | None, colors: tuple[int, int]
) -> tuple[list[Boxes], list[Labels]]:
    """Return which trace each wall shows and what its ruler shows, at the left end of the ruler.

    Parameters
    ----------
    picture : Layout
    lines : (Skyline, Skyline) or None
        The overviews of A and B, where there are any.
    colors : (int, int)
        Palette indices of A and of B: their letters stand on plates of these.

    Returns
    -------
    (list of Boxes, list of Labels)
    """
    anchor, text = np.zeros((2, 3), np.float32), []
    high = 1.15 * picture.text
    tags: list[Boxes] = []
    letters: list[Labels] = []
    for s, wall in enumerate(picture.walls):
        y, z = _ruler_at(picture, wall, picture.beyond + 2.75 * picture.text)
        anchor[s] = (wall.offset + 1.5 * high, y, z)
        found, what = _ticks(lines[s].window if lines else wall.window, wall, largest(picture, lines))
        unit = f"{what} in {found.unit}" + (f" from {found.offset}" if found.offset else "")
        trace = wall.trace
        lasts = "" if profile.length_kind(trace) else f", {units.duration(trace.span_ns)}"
        unit = unit if found.unit else "by weight" if profile.untimed_kind(trace) else what
        text.append(f"{title(wall)}   {profile.amount(trace)}{lasts}   ({unit})")
        one, place = np.ones(1), np.array([[wall.offset + 0.6 * high, y, z + 0.5 * _SPACE]])
        pen = FrameBuilder("trace letter", colors[s], 0.0, 0.0, 1e9)
        tag, letter = plates(wall, ("AB"[s],), place, 1.2 * high * one, high, np.zeros(1, np.int64), one, pen)
        tags.append(replace(tag, kind="trace"))
        letters.append(letter)
    names = Labels(
        "trace",
        tuple(text),
        anchor,
        np.full(2, high, np.float32),
        np.full(2, np.inf, np.float32),
        np.full(2, 1e9, np.float32),
        align=-1,
        up=picture.walls[0].fold.stage_up,
    )
    return tags, [names, *letters]


def largest(picture: Layout, lines: tuple[Skyline, Skyline] | None) -> int:
    """Return the largest time on any ruler: all of them are in its unit.

    Parameters
    ----------
    picture : Layout
    lines : (Skyline, Skyline) or None
        The overviews of A and B, where there are any.

    Returns
    -------
    int
        Nanoseconds.
    """
    windows = [*(w.window for w in picture.walls), *(line.window for line in lines or ())]
    return max(abs(t) for window in windows for t in window)


def _ticks(window: tuple[int, int], wall: Wall, most: int) -> tuple[ticks.Ticks, str]:
    return ruler_ticks(wall.trace, window, max(4, round(11 * wall.width / WIDTH)), most)


def rulers(picture: Layout, lines: tuple[Skyline, Skyline] | None) -> tuple[Axis, ...]:
    """Return the rulers of time along the outer edges of both walls, and of overviews of more than that.

    Parameters
    ----------
    picture : Layout
    lines : (Skyline, Skyline) or None
        The overviews of A and B, where there are any.

    Returns
    -------
    tuple of Axis
    """
    made, most = [], largest(picture, lines)
    for s, wall in enumerate(picture.walls):
        line = lines[s] if lines else None
        if line is not None and line.is_context:
            made.append(_ruler(picture, wall, line.window, picture.beyond, most))
            made.append(_ruler(picture, wall, wall.window, 0.0, most))
        else:
            made.append(_ruler(picture, wall, wall.window, picture.beyond, most))
    return tuple(made)


def _ruler(picture: Layout, wall: Wall, window: tuple[int, int], beyond: float, most: int) -> Axis:
    found, _ = _ticks(window, wall, most)
    per_ns = wall.width / max(window[1] - window[0], 1)
    return Axis(
        origin=(wall.offset, *_ruler_at(picture, wall, beyond)),
        direction=(1.0, 0.0, 0.0),
        length=wall.width,
        tick=tuple((t - window[0]) * per_ns for t in found.at),
        text=found.text,
        minor=tuple((t - window[0]) * per_ns for t in found.minor),
        outward=wall.fold.off,
        height=picture.text,
        window=window if found.unit else None,
    )
