"""The wall: a strip along time for each track, on terraces one behind the other.

Flat, the bands of a strip stand upon each other, so that only the lowest has a straight base. Opened, each
band steps back to a row of its own, and all stand on the floor: that is what the third axis is for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import BASE, GRID
from ....drawing.primitives import (
    Axis,
    Camera,
    Legend,
    LegendEntry,
    Look,
    Marks,
    Meaning,
)
from ....drawing.shorthand import boxes, lines, texts
from ....layout import ticks
from ....views.time_window import WIDTH
from ..findings import Finding, highest
from ..series import Cells, Floats, Ints
from ..tracks import Track
from .axes import time_axis
from .colors import band_colors
from .layout import SHARE, Layout, direction

#: Depth of a band's row, of a strip, and thickness of a flat one, in scene units.
_ROW, _DEEPEST, _PLATE = 0.42, 1.8, 0.05
_HAIR = 0.012
#: Maximum height of a strip, and of a folded one.
_HIGHEST, _HIGHEST_FOLDED = 3.2, 0.8
#: Smaller differences in height are invisible: neighbouring cells become one box.
_SAME = 2e-3
#: Distance between the layers of a horizon strip.
_STAIR = 0.12


@dataclass(frozen=True, eq=False)
class Strip:
    """The strip of one track.

    Attributes
    ----------
    track : Track
    cells : list of Cells
        Of each band.
    floor, height : float
        Scene units.
    front, back : float
        Its y, from the reader on.
    low, high : float
        Values at the floor and at its height.
    row : list of int
        Which row from the front each band stands in when opened.
    """

    track: Track
    cells: list[Cells]
    floor: float
    height: float
    front: float
    back: float
    low: float
    high: float
    row: list[int]

    def up(self, value: Floats | float) -> Floats:
        """Return how high above the floor values lie."""
        return np.asarray(self.height * (np.asarray(value, np.float64) - self.low) / (self.high - self.low))


def strips_of(picture: Layout) -> list[Strip]:
    """Return where each track's strip lies: the first one highest, and farthest back.

    Parameters
    ----------
    picture : Layout

    Returns
    -------
    list of Strip
        In the order of the tracks.
    """
    p, u = picture.parameters, picture.open
    folded = p.strips == "horizon"
    made: list[Strip] = []
    for track in picture.tracks:
        cells = [band.series.cells(picture.edges) for band in track.bands]
        # Finer cells, after zooming in, do not exceed what is exact.
        whole = highest(track, picture.window, picture.edges)[1]
        alone = max(float(one.most.max(initial=0.0)) for one in cells)
        high = whole if len(cells) == 1 or folded else whole + u * (alone - whole)
        low = min(float(cells[0].least.min(initial=0.0)), 0.0) if len(cells) == 1 else 0.0
        if high <= low:
            high = low + 1.0
        # The tallest band is behind the others.
        order = np.argsort(
            np.argsort([one.most.max(initial=0.0) for one in cells], kind="stable"), kind="stable"
        )
        made.append(Strip(track, cells, 0.0, 1.0, 0.0, 0.0, low, high, [int(i) for i in order]))
    return _placed(picture, made)


def _row(bands: int) -> float:
    """Return how deep the row of a band is where a strip has this many."""
    return min(_ROW, _DEEPEST / bands)


def _placed(picture: Layout, strips: list[Strip]) -> list[Strip]:
    p, u = picture.parameters, picture.open
    folded = p.strips == "horizon"
    rows = [1 if folded else len(one.cells) for one in strips]
    deep = [u * p.recede * _row(k) * k + _PLATE for k in rows]
    room = 1.75 * picture.text
    n = len(strips)
    turn, tilt = math.radians(abs(u * p.turn)), math.radians(u * p.tilt)
    wide = (WIDTH + 2.4) * math.cos(turn) + sum(deep) * math.sin(turn)
    tall = wide * picture.frame.height * SHARE[1] / (picture.frame.width * SHARE[0])
    rise = (WIDTH * math.sin(turn) + sum(deep) * math.cos(turn)) * abs(math.sin(tilt)) + 3 * picture.text
    height = (tall - rise) / max(math.cos(tilt), 0.2) / n - room
    height = min(max(height, 2.5 * picture.text), _HIGHEST_FOLDED if folded else _HIGHEST)
    placed, front = [], 0.0
    for i in range(n - 1, -1, -1):
        floor = (n - 1 - i) * (height + room)
        placed.append(replace(strips[i], floor=floor, height=height, front=front, back=front + deep[i]))
        front += deep[i]
    return placed[::-1]


def draw(drawing: DrawingBuilder, picture: Layout, found: tuple[Finding, ...], mark: int) -> Camera:
    """Draw the wall.

    Parameters
    ----------
    drawing : DrawingBuilder
        What it is added to.
    picture : Layout
    found : tuple of Finding
        What is marked.
    mark : int
        Palette index of marks.

    Returns
    -------
    Camera
    """
    strips = strips_of(picture)
    hair, base = drawing.color(GRID), drawing.color(BASE)
    colors = [band_colors(drawing, one.track, picture.parameters.palette) for one in strips]
    draw_strips(drawing, [(picture, one) for one in strips], colors)
    _terraces(drawing, strips, base)
    axis = time_axis(picture, -_PLATE)
    drawing.measure(axis, *(ruler(picture, one) for one in strips))
    _grid(drawing, strips, axis, hair)
    _headings(drawing, picture, strips)
    for one, color in zip(strips, colors, strict=True):
        if len(one.track.bands) > 1 and picture.parameters.strips == "bands":
            entries = zip(one.track.bands, color, strict=True)
            drawing.explain(
                Legend(one.track.title, tuple(LegendEntry(band.name or "unnamed", c) for band, c in entries))
            )
    _marks(drawing, picture, strips, found, mark)
    p = picture.parameters
    top = max(one.floor + one.height for one in strips) + 1.75 * picture.text
    return Camera(
        direction=direction(p, p.turn, p.tilt),
        low=(-4.5 * picture.text, -_PLATE, -3.0 * picture.text),
        high=(WIDTH + 0.3, max(one.back for one in strips), top),
        projection="orthographic" if p.opening == 0 else "perspective",
        lens=100.0,
    )


def draw_strips(drawing: DrawingBuilder, strips: list[tuple[Layout, Strip]], colors: list[list[int]]) -> None:
    """Add the boxes of strips to a drawing, with what they mean.

    Parameters
    ----------
    drawing : DrawingBuilder
    strips : list of (Layout, Strip)
        Each with the cells that it is cut into.
    colors : list of list of int
        Palette indices by strip and band.
    """
    made, ghosts = _Boxes(), _Boxes()
    for (picture, one), color in zip(strips, colors, strict=True):
        if picture.parameters.strips == "horizon":
            _fold(drawing, made, picture, one, color)
        else:
            _stand(made, ghosts, picture, one, color)
    if strips:
        made.add_to(drawing, "band", "solid", strips[0][0].window)
        ghosts.add_to(drawing, "peak", "ghost", strips[0][0].window)


def _stand(made: _Boxes, ghosts: _Boxes, picture: Layout, strip: Strip, color: list[int]) -> None:
    """Add the boxes of a strip's bands: upon each other, or each on the floor behind the other."""
    u = picture.open
    below = np.zeros(len(picture.edges) - 1)
    ground = strip.up(0.0)
    row = u * picture.parameters.recede * _row(len(strip.cells))
    for b, (cells, c) in enumerate(zip(strip.cells, color, strict=True)):
        base = strip.floor + ground + (1 - u) * (strip.up(below) - strip.up(0.0))
        rise = strip.up(cells.mean) - ground
        front = strip.front + row * strip.row[b]
        thick = max(0.86 * row, _PLATE)
        made.take(picture, strip.track, b, cells, base, rise, (front, thick), c)
        if len(strip.cells) == 1 and picture.parameters.peaks:
            over = strip.up(cells.most) - ground
            seen = over - np.maximum(rise, 0.0) > 0.01 * strip.height
            ghosts.take(
                picture, strip.track, b, cells, base + np.maximum(rise, 0.0),
                np.where(seen, over - np.maximum(rise, 0.0), 0.0), (front, thick), c,
            )  # fmt: skip
        below = below + cells.mean


def _fold(drawing: DrawingBuilder, made: _Boxes, picture: Layout, strip: Strip, color: list[int]) -> None:
    """Add the layers of a horizon strip: what exceeds one layer starts again from the floor, further out."""
    p, u = picture.parameters, picture.open
    value = np.sum([cells.mean for cells in strip.cells], axis=0)
    whole = Cells(value, value, value)
    paint = drawing.paint.palette[color[0]]
    first = drawing.color(
        np.stack([np.append(0.25 + (paint[:3] - 0.25) * (1.25 - 0.75 * k / (p.layers - 1)), 1.0).clip(0, 1)
                  for k in range(p.layers)])
    )  # fmt: skip
    step = (strip.high - strip.low) / p.layers
    thick = strip.back - strip.front
    for k in range(p.layers):
        share = np.clip((value - strip.low) / step - k, 0.0, 1.0)
        out = (0.012 + u * _STAIR) * k
        base = np.full(len(value), strip.floor)
        made.take(
            picture,
            strip.track,
            -1,
            whole,
            base,
            share * strip.height,
            (strip.front - out, thick + out),
            first + k,
        )


class _Boxes:
    """Boxes in the making, with the texts that describe them."""

    def __init__(self) -> None:
        self.low: list[Floats] = []
        self.size: list[Floats] = []
        self.color: list[Ints] = []
        self.time: list[Floats] = []
        self.call: list[Ints] = []
        self.texts: dict[str, list[str]] = {"track": [], "band": [], "mean": [], "highest": []}

    def take(
        self,
        picture: Layout,
        track: Track,
        band: int,
        cells: Cells,
        base: Floats,
        rise: Floats,
        deep: tuple[float, float],
        color: int,
    ) -> None:
        """Add a box for each run of cells of one height; those without height are left out."""
        edges = picture.edges
        base, rise = np.broadcast_arrays(np.asarray(base, np.float64), rise)
        level = np.rint(np.stack([base, rise]) / _SAME)
        new = np.ones(len(rise), np.bool_)
        new[1:] = (level[:, 1:] != level[:, :-1]).any(axis=0)
        first = np.flatnonzero(new)
        stop = np.append(first[1:], len(rise))
        seen = np.abs(level[1, first]) > 0
        first, stop = first[seen], stop[seen]
        if not len(first):
            return
        x = picture.x(edges)
        left, right = x[first], x[stop]
        down = np.minimum(base[first], base[first] + rise[first])
        n = len(first)
        self.low.append(np.stack([left, np.full(n, deep[0]), down], axis=1))
        self.size.append(np.stack([right - left, np.full(n, deep[1]), np.abs(rise[first])], axis=1))
        self.color.append(np.full(n, color))
        self.time.append(np.stack([left, right], axis=1) / WIDTH)
        one = track.bands[max(band, 0)]
        # Runs need not follow each other: each is a cell of its own.
        pairs = np.stack([edges[first], edges[stop]], axis=1).ravel()
        found = (
            one.occurrences.within(pairs)[::2] if one.occurrences is not None else np.full(n, -1, np.int64)
        )
        self.call.append(found)
        most = np.maximum.reduceat(cells.most, first)
        self.texts["track"] += [track.title] * n
        self.texts["band"] += [one.name if band >= 0 else ""] * n
        self.texts["mean"] += [track.write(v) for v in cells.mean[first].tolist()]
        self.texts["highest"] += [track.write(v) for v in most.tolist()]

    def add_to(self, drawing: DrawingBuilder, kind: str, look: Look, window: tuple[int, int]) -> None:
        """Add the boxes to a drawing as elements of one kind."""
        if not self.low:
            return
        low, size, color = (np.concatenate(parts) for parts in (self.low, self.size, self.color))
        time, ids = np.concatenate(self.time).astype(np.float32), np.arange(len(low), dtype=np.int64)
        drawing.add(boxes(kind, low, size, color, time=time, look=look, window=window))
        calls = np.concatenate(self.call)
        drawing.meaning[kind] = Meaning(
            calls=((0, calls),) if (calls >= 0).any() else (),
            texts=tuple((title, tuple(texts), ids) for title, texts in self.texts.items()),
        )


def _terraces(drawing: DrawingBuilder, strips: list[Strip], base: int) -> None:
    thin = 0.03
    low = [(0.0, one.front - _PLATE, one.floor - thin) for one in strips]
    size = [(WIDTH, one.back - one.front + _PLATE, thin) for one in strips]
    drawing.add(boxes("terrace", low, size, base))


def _grid(drawing: DrawingBuilder, strips: list[Strip], axis: Axis, hair: int) -> None:
    """Add a line up the back of each strip for each tick of time."""
    points = [
        ((x, one.back, one.floor), (x, one.back, one.floor + one.height)) for one in strips for x in axis.tick
    ]
    if points:
        drawing.add(lines("grid", points, _HAIR, hair))


def ruler(picture: Layout, strip: Strip) -> Axis:
    """Return the ruler of a strip's values, at its left end.

    Parameters
    ----------
    picture : Layout
    strip : Strip

    Returns
    -------
    Axis
    """
    write = strip.track.tick or strip.track.write
    whole = strip.track.tick is not None and strip.high >= 2
    at = [v for v in ticks.rounds(strip.low, strip.high, 4) if not whole or v == round(v)]
    if strip.track.write(1024.0).endswith("iB"):
        at = [strip.low, strip.high]
    places = [float(strip.up(v)) for v in at]
    kept = ticks.thin(at, places, 1.2 * picture.text)
    return Axis(
        (-0.05, strip.front, strip.floor), (0.0, 0.0, 1.0), strip.height, tuple(places[i] for i in kept),
        tuple(write(at[i]) for i in kept), outward=(-1.0, 0.0, 0.0), height=0.85 * picture.text,
    )  # fmt: skip


def _headings(drawing: DrawingBuilder, picture: Layout, strips: list[Strip]) -> None:
    anchor = [(0.0, one.back, one.floor + one.height + 0.75 * picture.text) for one in strips]
    titles = [one.track.title for one in strips]
    drawing.write(texts("track", titles, anchor, picture.text, room=WIDTH, rank=1e8, align=-1))


def _marks(
    drawing: DrawingBuilder, picture: Layout, strips: list[Strip], found: tuple[Finding, ...], mark: int
) -> None:
    """Mark findings where they are, with their few words."""
    places = [(one, at) for one in found if (at := place_of(picture, strips, one)) is not None]
    if not places:
        return
    point = np.array([at for _, at in places])
    n, height = len(point), 0.9 * picture.text
    drawing.add(
        Marks(
            "finding", "cone", point.astype(np.float32), np.full(n, 0.8 * height, np.float32),
            np.full(n, mark, np.int32), np.arange(n),
        )
    )  # fmt: skip
    above = point + np.array([0.0, -0.02, 1.35 * height])
    for side, chosen in ((-1, point[:, 0] < 0.85 * WIDTH), (1, point[:, 0] >= 0.85 * WIDTH)):
        words = [one.short for (one, _), here in zip(places, chosen, strict=True) if here]
        drawing.write(texts("finding", words, above[chosen], height, rank=1e9, align=side))  # type: ignore[arg-type]
    sentences = tuple(one.sentence for one, _ in places)
    drawing.meaning["finding"] = Meaning(texts=(("finding", sentences, np.arange(n)),))


def place_of(picture: Layout, strips: list[Strip], finding: Finding) -> tuple[float, float, float] | None:
    """Return the top of the series where a finding is.

    Parameters
    ----------
    picture : Layout
    strips : list of Strip
        In the order of the tracks.
    finding : Finding

    Returns
    -------
    (float, float, float) or None
        None outside the window.
    """
    low, high = picture.window
    if not low <= finding.time <= high:
        return None
    strip = strips[finding.track]
    cell = min(int(np.searchsorted(picture.edges, finding.time, "right")) - 1, len(picture.edges) - 2)
    u, p = picture.open, picture.parameters
    each = [float(cells.mean[cell]) for cells in strip.cells]
    tallest = int(np.argmax(each))
    if len(each) == 1 and p.peaks:
        each = [float(strip.cells[0].most[cell])]
    if p.strips == "horizon":
        z = strip.height
    else:
        # Flat, above all bands; opened, above the tallest.
        z = float((1 - u) * strip.up(sum(each)) + u * strip.up(each[tallest]))
    y = strip.front + u * p.recede * _row(len(each)) * (strip.row[tallest] + 0.4)
    return float(picture.x(finding.time)), y, strip.floor + z
