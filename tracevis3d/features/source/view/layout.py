"""The layout of the source: files in columns, lines from top to bottom, and the camera."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ....drawing.frame import Frame
from ....drawing.primitives import Camera
from ....drawing.projection import camera_over, fit
from ....errors import UsageError, not_recorded
from ....layout.scales import Scale
from ....trace.model import Trace
from ..metrics import Floats, Ints, Lines, chosen, lines_of
from ..names import file_titles
from .parameters import Parameters

#: Scene units.
WIDE, DEEP, HIGH = 15.0, 8.0, 3.0
LOW = 0.05
SLAB, _WIDEST = 0.08, 4.5
#: Share of a column's width that its slabs take, and the distance of files in it.
_SHARE_OF_COLUMN, APART = 0.86, 0.16
_SMALL_TEXT, _READABLE = 0.2, 1.8
_SHARE = (0.94, 0.78)
#: A file with less room than this goes on in the next column.
_LEAST = 0.5
#: Maximum number of columns, and of lines in a column before there is another one.
_COLUMNS, _TALL = 7, 1500
_SEARCHES = 40


@dataclass(frozen=True, eq=False)
class Slabs:
    """Pieces of files: a file that does not fit into its column goes on in the next one.

    Attributes
    ----------
    file : int64 (pieces,)
        Index into ``Lines.files``.
    first, stop : int64 (pieces,)
        Its lines: from ``first`` up to, but without, ``stop``.
    low : float64 (pieces, 2)
        x of the left edge and y of the far edge.
    """

    file: Ints
    first: Ints
    stop: Ints
    low: Floats

    def __len__(self) -> int:
        return len(self.file)


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout, from which all parts of the drawing are made.

    Attributes
    ----------
    trace : Trace
    parameters : Parameters
    lines : Lines
    shown : int64 (files,)
        The files that have a place, the first in the far left corner.
    slabs : Slabs
    piece : int64 (lines,)
        The slab that each line is on; -1: its file is left out.
    unit : float
        Depth of a line.
    pitch, wide : float
        Distance of columns, and the width of all.
    scale : Scale
        From values to shares of the highest bar.
    text, pixels_per_unit : float
    """

    trace: Trace
    parameters: Parameters
    lines: Lines
    shown: Ints
    slabs: Slabs
    piece: Ints
    unit: float
    pitch: float
    wide: float
    scale: Scale
    text: float = _SMALL_TEXT
    pixels_per_unit: float = 1.0

    @property
    def open(self) -> float:
        """How far the picture is opened, 0 to 1."""
        return self.parameters.opening

    @property
    def across(self) -> float:
        """The width of a slab."""
        return _SHARE_OF_COLUMN * self.pitch

    @property
    def high(self) -> float:
        """How high the highest bar is; where all are alike they need no room."""
        high = HIGH if self.lines.differ else LOW
        return high * self.parameters.relief * self.open

    @property
    def heading(self) -> float:
        """The depth of a file's name above its lines."""
        return 1.5 * self.text

    def far(self, line: Ints) -> Floats:
        """Return the y of the far edge of lines that have a place.

        Parameters
        ----------
        line : int64 (n,)
            Indices into ``lines``.

        Returns
        -------
        float64 (n,)
        """
        piece = self.piece[line]
        below = self.lines.line[line] - self.slabs.first[piece]
        return np.asarray(self.slabs.low[piece, 1] - below * self.unit)


def compose(trace: Trace, p: Parameters, frame: Frame) -> Layout:
    """Sum up what is known of lines, and lay the files out.

    Parameters
    ----------
    trace : Trace
    p : Parameters
    frame : Frame
        Of the picture.

    Returns
    -------
    Layout

    Raises
    ------
    InputError
        If no line of source is known.
    UsageError
        If nothing of what is wanted is known of any line.
    """
    height, color = chosen(trace, p.height, p.color, p.weighs)
    lines = lines_of(trace, height, color)
    if not lines.value.any():
        if p.height == "auto":
            raise not_recorded(
                trace.source.path, "lines of source", "'tracevis3d record' records those of Python programs"
            )
        raise UsageError(f"height={p.height}: this trace has no {height.title} at a known line of source")
    sums = np.bincount(lines.file, lines.value, len(lines.files))
    shown = np.argsort(-sums, kind="stable")[: p.files]
    shown = shown[sums[shown] > 0]
    last = np.zeros(len(lines.files), np.int64)
    np.maximum.at(last, lines.file, lines.line)
    picture = _placed(Layout(
        trace, p, lines, shown, Slabs(*(np.empty(0, np.int64),) * 3, np.empty((0, 2))),
        np.empty(0, np.int64), 1.0, 1.0, 1.0, Scale.over(p.scale, lines.value),  # type: ignore[arg-type]
    ), last[shown])  # fmt: skip
    # The size of texts depends on the camera, and places on the texts.
    for _ in range(2):
        projection = fit(camera(picture), frame, _SHARE)
        here = projection.pixels([(0.0, 0.0, 0.0), (picture.wide, 0.0, 0.0)])
        pixels = float(np.hypot(*(here[1] - here[0]))) / picture.wide
        text = max(_SMALL_TEXT, _READABLE * frame.least_text / pixels)
        picture = _placed(replace(picture, text=text, pixels_per_unit=pixels), last[shown])
    return picture


def _placed(picture: Layout, length: Ints) -> Layout:
    """Return the layout with files in columns: lines as deep as fit, and all equally."""
    wanted = max(round(math.sqrt(1.5 * len(length))), -(-int(length.sum()) // _TALL))
    columns = min(wanted, _COLUMNS)
    low, high = 0.0, DEEP
    for _ in range(_SEARCHES):
        middle = (low + high) / 2
        low, high = (middle, high) if _fill(length, middle, picture.heading, columns) else (low, middle)
    slabs = _fill(length, low, picture.heading, columns)
    pitch = min(WIDE / columns, _WIDEST)
    if slabs is None:
        # Too many files for names: they stand without any room between lines.
        slabs = _fill(length, 0.0, 0.0, len(length)) or []
    used = max((column for *_, column, _ in slabs), default=0) + 1
    file, first, stop, column, far = (np.array(part) for part in zip(*slabs, strict=True))
    made = Slabs(
        picture.shown[file], first.astype(np.int64), stop.astype(np.int64),
        np.column_stack([column * pitch, far]).astype(np.float64),
    )  # fmt: skip
    lines = picture.lines
    piece = np.full(len(lines), -1, np.int64)
    for i in range(len(made)):
        begin, end = np.searchsorted(
            lines.file << 32 | lines.line, [int(made.file[i]) << 32 | int(made.first[i]),
                                            int(made.file[i]) << 32 | int(made.stop[i])],
        )  # fmt: skip
        piece[begin:end] = i
    return replace(picture, slabs=made, piece=piece, unit=low, pitch=pitch, wide=used * pitch)


def _fill(
    length: Ints, unit: float, heading: float, columns: int
) -> list[tuple[int, int, int, int, float]] | None:
    """Return pieces of files one below another: file, lines, column and far edge; None if they don't fit."""
    found: list[tuple[int, int, int, int, float]] = []
    column, y = 0, DEEP
    for file, lines in enumerate(length.tolist()):
        first = 1
        while first <= lines:
            room = y - heading
            needed = (lines + 1 - first) * unit
            least = min(needed, max(unit, _LEAST))
            if room < least:
                column, y = column + 1, DEEP
                if column >= columns or DEEP - heading < least:
                    return None
                continue
            fit_in = lines + 1 - first if needed <= room else int(room / unit)
            found.append((file, first, first + fit_in, column, room))
            first += fit_in
            y = room - fit_in * unit - APART
    return found


def camera(picture: Layout) -> Camera:
    """Return the camera: straight above the flat files, in front of the opened slabs.

    Parameters
    ----------
    picture : Layout

    Returns
    -------
    Camera
    """
    p, u = picture.parameters, picture.open
    return camera_over(
        (0.0, 0.0, 0.0),
        (picture.wide, DEEP, max(picture.high + 1.4 * u * picture.text, SLAB)),
        u, p.turn, p.tilt, 75.0,
    )  # fmt: skip


def titles(picture: Layout) -> list[str]:
    """Return short names of all files."""
    return file_titles(picture.lines.files)
