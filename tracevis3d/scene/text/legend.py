"""The frame around the data: title, legends and notes, laid out in pixels. They never lie over the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...drawing.frame import Frame
from ...drawing.primitives import Drawing, Legend, LegendEntry
from ...layout.lettering import Typeface, clean, shorten, whole_phrase
from ..camera import Rectangle
from ..color import mixed
from ..styles import Style

_MOST_ROWS, _FEW_ROWS = 5, 3
#: Most legends where they have few rows.
_MOST_LEGENDS = 2
#: Space between two legends in a row, line heights.
_APART = 2.2
_SEPARATOR = "   ·   "
#: Line heights of the title and of notes if the type has a given size: 8 and 6 points for a type of 7.
_TITLE, _NOTES = 8 / 7, 6 / 7
#: The title of what is looked at from far away, and the rows of its first legend, which is the only one.
_FAR_TITLE, _FAR_ROWS = 3 / 2, 1


@dataclass(frozen=True)
class Swatch:
    """A rectangle of one colour.

    Attributes
    ----------
    rectangle : (float, float, float, float)
        Left, bottom, right and top, in pixels.
    srgb : (float, float, float)
    color : int
        Index into the palette; -1 for what is not data.
    """

    rectangle: Rectangle
    srgb: tuple[float, float, float]
    color: int = -1


@dataclass(frozen=True)
class Line:
    """A line of text.

    Attributes
    ----------
    text : str
    left, baseline : float
        Pixels.
    size : float
        Of the type, in pixels.
    srgb : (float, float, float)
    """

    text: str
    left: float
    baseline: float
    size: float
    srgb: tuple[float, float, float]


@dataclass
class SurroundingTexts:
    """Texts around the data.

    Attributes
    ----------
    lines, swatches
    region : Rectangle
        What is left for the data.
    left_out : int
        Legend entries for which there was no room.
    text : float
        Height of a line of the legend, pixels.
    """

    lines: list[Line] = field(default_factory=list)
    swatches: list[Swatch] = field(default_factory=list)
    region: Rectangle = (0.0, 0.0, 0.0, 0.0)
    left_out: int = 0
    text: float = 0.0


@dataclass(frozen=True)
class _Cell:
    """An entry or a ramp on its way into a row: how wide it is, and how it is drawn from its left end."""

    width: float
    legend: Legend | None
    entry: LegendEntry | None
    text: str


class _Layout:
    def __init__(
        self, drawing: Drawing, style: Style, frame: Frame, typeface: Typeface, rows: int | None
    ) -> None:
        self.rows = rows
        self.drawing, self.style, self.frame, self.typeface = drawing, style, frame, typeface
        if frame.points:
            line = typeface.line_of(frame.type_size)
            self.text, self.small, self.margin = line, _NOTES * line, line
            self.heading = (_FAR_TITLE if style.far else _TITLE) * line
        else:
            scale = min(frame.height / 1080, frame.width / 1440)
            self.text = max(22.0 * scale, 9.0)
            self.heading = max(34.0 * scale, 11.0)
            self.small = max(17.0 * scale, 8.0)
            self.margin = max(44.0 * scale, 5.0)
        self.out = SurroundingTexts(text=self.text)
        #: Where the last row of a legend ends, from the margin, and its top.
        self.row: tuple[float, float] | None = None

    def size(self, line: float) -> float:
        return line * self.typeface.size_per_line

    def line(
        self, text: str, left: float, middle: float, height: float, color: tuple[float, float, float]
    ) -> None:
        size = self.size(height)
        self.out.lines.append(Line(text, left, middle - 0.5 * self.typeface.cap_height * size, size, color))

    def run(self) -> SurroundingTexts:
        frame, margin = self.frame, self.margin
        wide = frame.width - 2 * margin
        top, bottom = frame.height - margin, margin
        if self.drawing.elements and (frame.height < 90 or frame.width < 120):
            # A thumbnail: texts would leave nothing for the data.
            self.out.region = (2.0, 2.0, frame.width - 2.0, frame.height - 2.0)
            return self.out
        said, room = clean(self.drawing.title), wide / self.size(self.heading)
        if title := whole_phrase(said, room, self.typeface.width) or shorten(said, room, self.typeface):
            self.line(title, margin, top - self.heading / 2, self.heading, self.style.ink)
            top -= 1.35 * self.heading
        # Legends take at most a third of the height where there is data below.
        floor = top - (frame.height - 2 * margin) / (3 if self.drawing.elements else 1)
        shown = list(self.drawing.legends[:1] if self.style.far else self.drawing.legends)
        while self.rows and len(shown) > _MOST_LEGENDS:
            # Later ones go first.
            shown.remove(min(reversed(shown), key=lambda legend: len(legend.entries)))
        for legend in shown:
            top = self.legend(legend, top, floor)
        left_out = (legend for legend in self.drawing.legends if legend not in shown)
        self.out.left_out += sum(len(legend.entries) for legend in left_out)
        if self.drawing.legends:
            top -= 0.3 * self.text
        bottom = self.notes(bottom)
        pad = 0.3 * margin
        self.out.region = (margin, bottom + pad, frame.width - margin, top - pad)
        return self.out

    def notes(self, bottom: float) -> float:
        wide = (self.frame.width - 2 * self.margin) / self.size(self.small)
        rows: list[str] = []
        for note in filter(None, map(clean, () if self.style.far else self.drawing.notes)):
            joined = f"{rows[-1]}{_SEPARATOR}{note}" if rows else note
            if rows and self.typeface.width(joined) <= wide:
                rows[-1] = joined
            elif len(rows) < 3:
                rows.append(shorten(note, wide, self.typeface))
        for i, row in enumerate(reversed(rows)):
            middle = bottom + (0.5 + 1.2 * i) * self.small
            if row:
                self.line(row, self.margin, middle, self.small, self.style.muted)
        return bottom + (1.2 * len(rows) + 0.4) * self.small if rows else bottom

    def legend(self, legend: Legend, top: float, floor: float) -> float:
        """Set one legend from ``top`` downwards in rows that wrap; return where the next thing may begin.

        One that fits beside the last row of the legend before it stands there.
        """
        h = self.text
        size = self.size(h)
        wide = self.frame.width - 2 * self.margin
        title = shorten(clean(legend.title), 0.4 * wide / size, self.typeface)
        indent = self.typeface.width(title) * size + 0.9 * h if title else 0.0
        cells = [
            _Cell(1.25 * h + self.typeface.width(text) * size, None, entry, text)
            for entry in legend.entries
            # A pattern that is not seen from far away needs no explanation.
            if not (self.style.far and entry.look == "cluster")
            if (text := shorten(clean(entry.text), 0.5 * wide / size, self.typeface))
        ]
        if legend.ramp:
            cells.insert(0, _Cell(min(14 * h, wide - indent), legend, None, ""))
        below, begin = top, 0.0
        if self.row is not None:
            whole = indent + sum(cell.width for cell in cells) + 1.1 * h * max(len(cells) - 1, 0)
            if self.row[0] + _APART * h + whole <= wide:
                begin, top = self.row[0] + _APART * h, self.row[1]
        indent += begin
        rows: list[list[_Cell]] = [[]]
        left = indent
        for cell in cells:
            if rows[-1] and left + cell.width > wide:
                rows.append([])
                left = indent
            rows[-1].append(cell)
            left += cell.width + 1.1 * h
        # If the type has a given size, a small figure needs the room for its data.
        most = _FEW_ROWS if self.frame.points and self.drawing.elements else _MOST_ROWS
        most = _FAR_ROWS if self.style.far else most
        most = min(most, self.rows or most)
        fit = max(1, min(most, int((top - floor) / (1.35 * h))))
        dropped = sum(map(len, rows[fit:]))
        rows = rows[:fit]
        if dropped:
            # How many are left out has its place in the row, too.
            room = wide - indent - self.typeface.width(f"+ {len(cells)} more") * size
            while len(rows[-1]) > 1 and sum(cell.width + 1.1 * h for cell in rows[-1]) > room:
                rows[-1].pop()
                dropped += 1
            self.out.left_out += dropped
            more = f"+ {dropped} more"
            rows[-1].append(_Cell(self.typeface.width(more) * size, None, None, more))
        for n, row in enumerate(rows):
            middle = top - 0.65 * h
            if n == 0 and title:
                self.line(title, self.margin + begin, middle, h, self.style.muted)
            left = self.margin + indent
            for cell in row:
                if cell.legend is not None:
                    self.ramp(cell.legend, left, middle, cell.width)
                elif cell.entry is not None:
                    self.entry(cell.entry, left, middle)
                    self.line(cell.text, left + 1.25 * h, middle, h, self.style.ink)
                else:
                    self.line(cell.text, left, middle, h, self.style.muted)
                left += cell.width + 1.1 * h
            self.row = (left - self.margin - 1.1 * h, top)
            top -= 1.35 * h + (
                1.1 * h if any(c.legend is not None and c.legend.ramp_text for c in row) else 0.0
            )
        return min(top, below)

    def rgb(self, index: int) -> tuple[float, float, float]:
        palette = self.drawing.palette
        r, g, b = palette[min(max(index, 0), len(palette) - 1), :3].tolist()
        return r, g, b

    def entry(self, entry: LegendEntry, left: float, middle: float) -> None:
        side = 0.82 * self.text
        low, color = middle - side / 2, self.rgb(entry.color)
        self.out.swatches.append(Swatch((left, low, left + side, low + side), color, entry.color))
        pale = mixed(np.array([color], np.float32), self.style.background, 0.55)[0].tolist()
        if entry.look == "cluster":
            for i in (0, 2, 4):
                bar = (left, low + side * i / 5, left + side, low + side * (i + 1) / 5)
                self.out.swatches.append(Swatch(bar, (pale[0], pale[1], pale[2])))
        elif entry.look == "ghost":
            inset = 0.14 * side
            inner = (left + inset, low + inset, left + side - inset, low + side - inset)
            self.out.swatches.append(Swatch(inner, (pale[0], pale[1], pale[2])))
        elif entry.look == "gloss":
            light = mixed(np.array([color], np.float32), (1.0, 1.0, 1.0), 0.7)[0].tolist()
            shine = (left, low + 0.55 * side, left + side, low + 0.8 * side)
            self.out.swatches.append(Swatch(shine, (light[0], light[1], light[2])))

    def ramp(self, legend: Legend, left: float, middle: float, width: float) -> None:
        assert legend.ramp is not None
        first, last = legend.ramp
        step = 1 if last >= first else -1
        indices = list(range(first, last + step, step))
        side = 0.82 * self.text
        edges = left + width * np.arange(len(indices) + 1) / len(indices)
        for i, index in enumerate(indices):
            bar = (float(edges[i]), middle - side / 2, float(edges[i + 1]), middle + side / 2)
            self.out.swatches.append(Swatch(bar, self.rgb(index), index))
        size = self.size(self.small)
        end = -np.inf
        below = middle - side / 2 - 0.75 * self.small
        for at, text in zip(legend.ramp_tick, map(clean, legend.ramp_text)):
            x, w = left + width * at, self.typeface.width(text) * size
            begin = min(max(x - w / 2, left - 0.2 * self.text), self.frame.width - self.margin - w)
            if begin < end + 0.4 * self.small:
                continue
            end = begin + w
            tick = (x - 0.5, middle - side / 2 - 0.2 * self.small, x + 0.5, middle - side / 2)
            self.out.swatches.append(Swatch(tick, self.style.muted))
            self.line(text, begin, below, self.small, self.style.ink)


def lay_out(
    drawing: Drawing, style: Style, frame: Frame, typeface: Typeface, rows: int | None = None
) -> SurroundingTexts:
    """Lay out title, legends and notes of a drawing.

    Parameters
    ----------
    drawing : Drawing
    style : Style
    frame : Frame
    typeface : Typeface
    rows : int, optional
        At most so many of each legend, and no more than two legends: those that tell most.

    Returns
    -------
    SurroundingTexts
    """
    return _Layout(drawing, style, frame, typeface, rows).run()


def quads(swatches: Sequence[Swatch]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Return the corners in pixels, (4 n, 2), and the sRGB colours, (n, 4), of swatches."""
    r = np.array([s.rectangle for s in swatches], np.float64).reshape(-1, 4)
    corner = np.stack([r[:, [0, 1]], r[:, [2, 1]], r[:, [2, 3]], r[:, [0, 3]]], axis=1)
    colors = np.ones((len(swatches), 4), np.float32)
    if swatches:
        colors[:, :3] = [s.srgb for s in swatches]
    return corner.reshape(-1, 2), colors
