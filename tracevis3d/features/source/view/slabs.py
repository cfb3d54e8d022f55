"""Slabs, the bars of their lines, and names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.links import Link
from ....drawing.palettes import BASE, QUIET
from ....drawing.primitives import Boxes, Callout, Legend, Marks, Meaning
from ....drawing.shorthand import boxes, texts
from ....layout.scales import Scale
from ....views.element_metadata import FILE, LINE
from ..findings import label, place
from ..metrics import Floats, Ints
from .layout import APART, SLAB, Layout, titles

_RAMP = 64
#: Share of a bar's depth that it fills, and least share of a slab's width.
_FILLED, _LEAST_LENGTH = 0.86, 0.015
#: Flat, a bar takes this share of a slab at most: names stand beside it.
_FLAT = 0.62
_CHARACTER = 0.52


def ground(drawing: DrawingBuilder, picture: Layout) -> None:
    """Add a slab for each piece of a file, with the name of the file above it.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    """
    slabs, color = picture.slabs, drawing.color(BASE)
    depth = np.maximum((slabs.stop - slabs.first) * picture.unit, 0.02)
    n = len(slabs)
    low = np.column_stack([slabs.low[:, 0], slabs.low[:, 1] - depth, np.full(n, -SLAB)])
    size = np.column_stack([np.full(n, picture.across), depth, np.full(n, SLAB)])
    drawing.add(boxes("file", low, size, color))
    names, write = titles(picture), picture.lines.height.write
    ranges = tuple(f"{a:,} to {b - 1:,}" for a, b in zip(slabs.first, slabs.stop, strict=True))
    sums = np.bincount(picture.lines.file, picture.lines.value, len(names))
    whole = float(sums.sum())
    said = [f"{write(float(one))} ({units.percentage(float(one / whole), 3)})" for one in sums]
    known = np.bincount(picture.lines.file, minlength=len(names))
    drawing.meaning["file"] = Meaning(
        values=(("lines known", known[slabs.file].astype(np.float64)),),
        texts=(
            (FILE, picture.lines.files, slabs.file),
            ("lines", ranges, np.arange(n)),
            (picture.lines.height.title, tuple(said), slabs.file),
        ),
    )  # fmt: skip
    begins = slabs.first == 1
    anchor = np.column_stack([slabs.low[:, 0], slabs.low[:, 1] + 0.6 * picture.text, np.zeros(n)])
    words = [
        names[file] if is_first else f"{names[file]} from {line:,}"
        for file, is_first, line in zip(
            slabs.file.tolist(), begins.tolist(), slabs.first.tolist(), strict=True
        )
    ]
    rank = 1e6 * (1 + sums[slabs.file] / whole) * np.where(begins, 1.0, 0.5)
    drawing.write(
        texts(
            "file", words, anchor, picture.text, rank=rank, room=picture.across, align=-1, up=(0.0, 1.0, 0.0)
        )
    )  # fmt: skip


class Coloring:
    """The colours of lines, and what they mean.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    """

    def __init__(self, drawing: DrawingBuilder, picture: Layout) -> None:
        self._first = drawing.color(QUIET.ramp(_RAMP))
        self._scale = Scale.over("log", picture.lines.other)
        at, said = self._scale.ticks(picture.lines.color.write, 5)
        title = picture.lines.color.title
        self.legend = Legend(
            title[:1].upper() + title[1:],
            ramp=(self._first, self._first + _RAMP - 1),
            ramp_tick=at,
            ramp_text=said,
        )

    def of(self, value: Floats) -> NDArray[np.int32]:
        """Return palette indices of values, int32 (n,)."""
        share = np.rint(self._scale.place(value) * (_RAMP - 1))
        return np.asarray(self._first + share, np.int32)


def joined(picture: Layout, pixels_per_unit: float | Floats) -> tuple[Ints, Floats, Floats]:
    """Join lines that are closer than the resolution: each bar is as high as its highest line.

    Parameters
    ----------
    picture : Layout
    pixels_per_unit : float or float64 (pieces,)
        How large the slabs are looked at.

    Returns
    -------
    line : int64 (bars,)
        The highest line of each bar.
    far, deep : float64 (bars,)
        The y of its far edge, and its depth.
    """
    wanted = picture.parameters.resolution / np.maximum(np.asarray(pixels_per_unit, np.float64), 1e-9)
    each = np.broadcast_to(wanted, (len(picture.slabs),))
    step = np.maximum(np.ceil(each / max(picture.unit, 1e-12)), 1.0)
    there = np.flatnonzero(picture.piece >= 0)
    piece = picture.piece[there]
    slot = ((picture.lines.line[there] - picture.slabs.first[piece]) // step[piece]).astype(np.int64)
    # Of lines in one bar the highest comes last.
    order = np.lexsort((picture.lines.other[there], picture.lines.value[there], slot, piece))
    is_last = np.ones(len(order), np.bool_)
    is_last[:-1] = (np.diff(piece[order]) != 0) | (np.diff(slot[order]) != 0)
    kept = order[is_last]
    deep = step[piece[kept]] * picture.unit
    above = slot[kept] * deep
    # The last bar of a file may reach a little beyond it: that of a short one could not be seen.
    left = (picture.slabs.stop - picture.slabs.first)[piece[kept]] * picture.unit - above
    return there[kept], picture.slabs.low[piece[kept], 1] - above, np.minimum(deep, left + APART / 2)


def bars(drawing: DrawingBuilder, picture: Layout, colors: Coloring, pixels_per_unit: float | Floats) -> None:
    """Add the bars of lines: as high as the metric says, flat as long.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    colors : Coloring
    pixels_per_unit : float or float64 (pieces,)
        As for :func:`joined`.
    """
    line, far, deep = joined(picture, pixels_per_unit)
    share = picture.scale.place(picture.lines.value[line])
    long = picture.across * _length(picture, share)
    filled = np.maximum(_FILLED * deep, 1e-4)
    low = np.column_stack([picture.slabs.low[picture.piece[line], 0], far - filled, np.zeros(len(line))])
    size = np.column_stack([long, filled, np.maximum(picture.high * share, 0.01)])
    drawing.add(boxes("line", low, size, colors.of(picture.lines.other[line]), id=line))
    drawing.meaning["line"] = _meaning(picture)


def _length(picture: Layout, share: Floats) -> Floats:
    """Return which share of its slab's width a bar takes."""
    flat = _FLAT * np.maximum(share, _LEAST_LENGTH)
    return np.asarray(flat + picture.open * (1.0 - flat))


def _meaning(picture: Layout) -> Meaning:
    lines, trace, every = picture.lines, picture.trace, np.arange(len(picture.lines))
    rows = [
        (FILE, lines.files, lines.file),
        ("function", tuple(label(trace, lines, i) for i in every.tolist()), every),
        (lines.height.title, tuple(map(lines.height.write, lines.value.tolist())), every),
    ]
    if lines.color is not lines.height:
        rows.append((lines.color.title, tuple(map(lines.color.write, lines.other.tolist())), every))
    return Meaning(
        calls=((0, lines.call),),
        values=((LINE, lines.line.astype(np.float64)),),
        texts=tuple(rows),
        links=(Link("function", lines.function),),
    )


def tops(picture: Layout, drawn: Boxes, line: Ints) -> Floats:
    """Return the middle of the upper edge of the bars of some lines, float64 (n, 3).

    Parameters
    ----------
    picture : Layout
    drawn : Boxes
        The bars.
    line : int64 (n,)
        Lines that have a bar.

    Returns
    -------
    float64 (n, 3)
    """
    at = {int(one): i for i, one in enumerate(drawn.id)}
    which = [at[int(one)] for one in line]
    low, size = drawn.low[which].astype(np.float64), drawn.size[which].astype(np.float64)
    return np.asarray(low + size * np.array([0.5, 0.5, 1.0]))


def names(drawing: DrawingBuilder, picture: Layout, mark: int) -> None:
    """Name the functions of the highest bars, and call the first ones out.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    mark : int
        Palette index.
    """
    drawn = next(one for one in drawing.elements if one.kind == "line")
    assert isinstance(drawn, Boxes)
    lines, p, u, text = picture.lines, picture.parameters, picture.open, picture.text
    value = lines.value[drawn.id]
    order = drawn.id[np.argsort(-value, kind="stable")]
    order = order[lines.value[order] > 0]
    total = float(lines.value.sum())
    # Of lines that are all alike none is to be noticed first.
    first = order[: p.findings if lines.differ else 0]
    at = tops(picture, drawn, first)
    for i, (line, point) in enumerate(zip(first.tolist(), at, strict=True)):
        call = int(lines.call[line])
        drawing.point_out(
            Callout(
                f"{label(picture.trace, lines, line)}: {units.percentage(float(lines.value[line] / total))}",
                f"{place(lines, line)}, {lines.height.write(float(lines.value[line]))}",
                (float(point[0]), float(point[1]), float(point[2])), float(len(first) - i), mark,
                ((0, call),) if call >= 0 else (),
            )
        )  # fmt: skip
    if len(first):
        drawing.add(
            Marks(
                "finding", "cone", (at[:1] + np.array([0.0, 0.0, 0.01])).astype(np.float32),
                np.full(1, 0.9 * text, np.float32), np.full(1, mark, np.int32), np.zeros(1, np.int64),
            )
        )  # fmt: skip
        drawing.meaning["finding"] = _finding(drawing.meaning["line"], int(first[0]))
    named = order[: p.labels]
    words = [f"{int(lines.line[i]):,} {label(picture.trace, lines, i)}" for i in named.tolist()]
    rank = 1.0 + lines.value[named] / total * 1e5
    point = tops(picture, drawn, named)
    place_of = {int(one): i for i, one in enumerate(drawn.id)}
    which = [place_of[int(one)] for one in named]
    if u > 0.5:
        # Opened, names stand on the faces of bars that are high enough.
        point -= np.array([0.0, 0.5, 0.0]) * drawn.size[which] + np.array([0.0, 0.01, 0.65 * text])
        fits = np.flatnonzero(drawn.size[which, 2] > 1.2 * text)
        group = texts(
            "line",
            [words[i] for i in fits],
            point[fits],
            0.9 * text,
            rank=rank[fits],
            room=0.94 * picture.across,
        )
        drawing.write(replace(group, background=drawn.color[which][fits]))
        return
    # Flat, names stand beside their bars.
    end = drawn.low[which, 0] + drawn.size[which, 0] + 0.3 * text
    point[:, 0] = end
    point[:, 2] = picture.high + 0.01
    room = np.maximum(picture.slabs.low[picture.piece[named], 0] + picture.across - end, 0.0)
    drawing.write(
        texts("line", words, point, 0.85 * text, rank=rank, room=room, align=-1, up=(0.0, 1.0, 0.0))
    )


def _finding(meaning: Meaning, line: int) -> Meaning:
    """Return the meaning of the mark of one line."""
    return replace(
        meaning,
        calls=tuple((source, calls[line : line + 1]) for source, calls in meaning.calls),
        values=tuple((title, values[line : line + 1]) for title, values in meaning.values),
        texts=tuple((title, said, column[line : line + 1]) for title, said, column in meaning.texts),
        links=tuple(link.taken(np.array([line])) for link in meaning.links),
    )
