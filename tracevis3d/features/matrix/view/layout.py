"""The layout of a matrix: its floor, its walls, and the camera."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....drawing.frame import Frame
from ....drawing.primitives import Camera
from ....drawing.projection import camera_over, fit
from ....layout.scales import Scale
from ....layout.ticks import rounds
from ....trace.model import Trace
from ....views.time_window import time_window
from ..subjects import SubjectRequest, table
from ..table import Floats, Ints, Table
from .parameters import Parameters

#: Scene units: the widest and deepest floor, the highest bar, and the walls.
_WIDE, _DEEP, HIGH, WALL = 14.0, 7.0, 3.0, 2.4
#: Maximum width and depth of a cell.
_CELL = (1.1, 0.8)
#: Minimum size of a floor.
_LEAST = (7.0, 3.0)
#: Width or depth of what a category is collapsed to.
_STRIP = 1.2
GAP = 0.35
#: Thickness of tiles.
PLATE = 0.03
_SMALL_TEXT, _READABLE = 0.2, 2.0
#: Share of the picture for the drawing, next to title, legend and notes.
_SHARE = (0.94, 0.76)
_CHARACTER = 0.52
_LONGEST = 24


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout, from which all parts of the drawing are made.

    Attributes
    ----------
    trace : Trace
    parameters : Parameters
    table : Table
    window : (int, int)
        Nanoseconds.
    wide, deep : float
        Of the floor, in scene units.
    scale : Scale
        From values to shares of the highest bar.
    ramp : Scale
        From values to shares of the ramp of colours.
    text : float
        Line height in scene units.
    """

    trace: Trace
    parameters: Parameters
    table: Table
    window: tuple[int, int]
    wide: float
    deep: float
    scale: Scale
    ramp: Scale
    text: float

    @property
    def open(self) -> float:
        """How far the picture is opened, 0 to 1."""
        return self.parameters.opening

    @property
    def is_surface(self) -> bool:
        """Whether slopes join neighbours: where there is an order, and nothing is collapsed or lifted."""
        p, table = self.parameters, self.table
        rows, columns = (len(one.names) > 1 and one.is_ordered for one in (table.rows, table.columns))
        if min(p.rows_open, p.columns_open) < 1 or p.spread > 0 or p.form == "bars":
            return False
        return (rows or columns) if p.form == "surface" else rows

    def collapsed(self, rows: bool, columns: bool) -> Scale:
        """Return the scale of heights where rows, columns or both are summed up.

        Parameters
        ----------
        rows, columns : bool
            Whether they are.

        Returns
        -------
        Scale
        """
        axes = tuple(axis for axis, summed in enumerate((rows, columns)) if summed)
        return Scale.over(self.scale.kind, self.table.flat.sum(axis=axes, keepdims=True).ravel())

    @property
    def pitch(self) -> tuple[float, float]:
        """Width and depth of a cell."""
        return self.wide / len(self.table.columns.names), self.deep / len(self.table.rows.names)

    @property
    def high(self) -> float:
        """How high the highest bar is."""
        return HIGH * self.parameters.relief * self.open

    @property
    def has_walls(self) -> bool:
        """Whether there is a third category to be shown on walls."""
        return self.parameters.walls and len(self.table.levels.names) > 1

    def x(self, column: Floats | Ints) -> Floats:
        """Return the left edges of columns."""
        return np.asarray(column * self.pitch[0])

    def y(self, row: Floats | Ints) -> Floats:
        """Return the near edges of rows: the first one is the farthest."""
        return np.asarray(self.deep - (row + 1) * self.pitch[1])


def compose(trace: Trace, p: Parameters, frame: Frame) -> Layout:
    """Sum up what is to be shown, and lay it out.

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
        If the trace has nothing of it.
    UsageError
        If the window is empty, or there is no such function.
    """
    window = time_window(trace, p.start, p.end)
    wanted = SubjectRequest(
        p.about, p.parts, p.value, p.third, p.repeated, p.slices, p.most, p.within, window
    )  # fmt: skip
    made = table(trace, wanted)
    kind = p.scale if p.scale != "auto" else "linear" if made.rows.what == "round" else "sqrt"
    flat = made.flat
    walls = [made.value.sum(axis=0), made.value.sum(axis=1)] if p.walls and made.value.shape[2] > 1 else []
    every = np.concatenate([flat.ravel(), *(one.ravel() for one in walls)])
    wide = min(_WIDE, max(_CELL[0] * flat.shape[1], _LEAST[0]))
    deep = min(_DEEP, max(_CELL[1] * flat.shape[0], _LEAST[1]))
    # A collapsed category needs the room of one.
    wide = p.columns_open * wide + (1 - p.columns_open) * min(wide, _STRIP)
    deep = p.rows_open * deep + (1 - p.rows_open) * min(deep, _STRIP)
    scale = Scale.over(kind, flat.ravel())  # type: ignore[arg-type]
    picture = Layout(trace, p, made, window, wide, deep, scale, Scale.over("log", every), _SMALL_TEXT)
    # Text sizes depend on the camera, and the camera on the texts.
    for _ in range(2):
        text = max(_SMALL_TEXT, _READABLE * frame.least_text / _pixels_per_unit(picture, frame))
        picture = replace(picture, text=text)
    return picture


def _pixels_per_unit(picture: Layout, frame: Frame) -> float:
    projection = fit(_with_names(picture), frame, _SHARE)
    ends = [(x, 0.0, 0.0) for x in (0.0, picture.wide)]
    here, there = projection.pixels(ends), projection.pixels([(x + 0.01, y, z) for x, y, z in ends])
    return float(np.hypot(*(there - here).T).min() / 0.01)


def shortened(name: str) -> str:
    """Return a name with as many letters as there is room for; its end tells it from others."""
    return name if len(name) <= _LONGEST else "…" + name[1 - _LONGEST :]


def camera(picture: Layout) -> Camera:
    """Return the camera: straight above the flat matrix, in front of the opened one.

    Parameters
    ----------
    picture : Layout

    Returns
    -------
    Camera
    """
    p, u = picture.parameters, picture.open
    # The picture must also contain the names around.
    beside = GAP + (1 - u) * WALL if picture.has_walls else 0.2
    high = max((1 + p.spread) * picture.high, u * WALL * picture.has_walls, 0.1)
    return camera_over(
        (-beside, 0.0, 0.0),
        (picture.wide, picture.deep + beside, high),
        u, p.turn, p.tilt, 80.0,
    )  # fmt: skip


def _with_names(picture: Layout) -> Camera:
    """Return the camera that holds the names, too."""
    made = camera(picture)
    rows, columns = (
        _CHARACTER * max((len(shortened(name)) for name in names), default=0) * picture.text
        for names in (picture.table.rows.names, picture.table.columns.names)
    )
    low, high = made.low, made.high
    return replace(made, low=(low[0], -0.3 - columns, 0.0), high=(high[0] + 0.3 + rows, *high[1:]))


def value_ticks(scale: Scale) -> list[float]:
    """Return round values for the ruler of heights.

    Parameters
    ----------
    scale : Scale
        Of the heights.

    Returns
    -------
    list of float
    """
    return [v for v in rounds(0.0, scale.high, 4) if v > 0] or [scale.high]
