"""The layout of a city: one map for one or two runs, and the camera."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....drawing.frame import Frame
from ....drawing.primitives import Camera
from ....drawing.projection import camera_over, fit
from ....layout.scales import Scale
from ....trace.model import Trace
from ..maps import Pairs, placed
from ..metrics import ADDITIVE, Floats, Ints, Parts, floors, links, longest_calls, measured, parts_of
from ..rule_file import Rules, read_rules
from ..treemap import District, Rectangle
from .parameters import Parameters

#: Scene units.
WIDE, DEEP, HIGH = 15.0, 9.0, 4.2
#: Height of a district's plinth, and maximum height of nested plinths.
STEP, _PILE = 0.1, 0.6
PLATE = 0.02
_SMALL_TEXT, _READABLE = 0.2, 1.8
_SHARE = (0.94, 0.76)
#: How much of the height of curves must be in the picture, seen from the side.
_CURVES = 0.92
#: Share of the room of a small map that it takes, and how deep all of them are at most.
_APART, _DEEPEST = 0.93, 1.2


@dataclass(frozen=True, eq=False)
class Run:
    """One run of the program: parts of the city that it calls.

    Attributes
    ----------
    trace : Trace
    parts : Parts
    place : int64 (parts,)
        The building of each.
    """

    trace: Trace
    parts: Parts
    place: Ints

    def of(self, metric: str, buildings: int) -> Floats:
        """Return a measure of each building.

        Parameters
        ----------
        metric : str
        buildings : int
            How many there are.

        Returns
        -------
        float64 (buildings,)
            0 where it is not called.
        """
        found = np.zeros(buildings)
        found[self.place] = measured(self.trace, self.parts, metric)
        return found


@dataclass(frozen=True)
class Tile:
    """A copy of the map, for one slice of time or for all.

    Attributes
    ----------
    left, near : float
        Its corner.
    scale : float
        Its size; 1: the whole map.
    slice : int
        Which slice of time it shows; -1: all.
    """

    left: float = 0.0
    near: float = 0.0
    scale: float = 1.0
    slice: int = -1

    def at(self, point: Floats) -> Floats:
        """Return points of the map on this copy of it.

        Parameters
        ----------
        point : float64 (..., 3)

        Returns
        -------
        float64 (..., 3)
        """
        return np.asarray(np.array([self.left, self.near, 0.0]) + self.scale * point)


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout, from which all parts of the drawing are made.

    Attributes
    ----------
    parameters : Parameters
    runs : tuple of Run
        One, or two to be compared; the last one stands.
    path : tuple of tuple of str
        Of each building.
    city : District
    ground : list of Rectangle
        Of each building.
    area, value : float64 (buildings,)
        Of the last run: what area and height show.
    before : float64 (buildings,) or None
        What the height shows of the first of two runs.
    slices : float64 (buildings, floors)
    call : int64 (buildings,)
        The longest call of each in the last run; -1: none.
    scale : Scale
        From values to shares of the highest building.
    rules : Rules
        Of the file of rules.
    tiles : tuple of Tile
        Copies of the map: one, or one for each slice of time.
    text : float
    """

    parameters: Parameters
    runs: tuple[Run, ...]
    path: tuple[tuple[str, ...], ...]
    city: District
    ground: list[Rectangle]
    area: Floats
    value: Floats
    before: Floats | None
    slices: Floats
    call: Ints
    scale: Scale
    rules: Rules = Rules()
    tiles: tuple[Tile, ...] = (Tile(),)
    text: float = _SMALL_TEXT

    @property
    def window(self) -> tuple[int, int]:
        """The time of the run that stands, in nanoseconds."""
        return 0, max(self.runs[-1].trace.span_ns, 1)

    def edges(self) -> list[int]:
        """Return where slices of time begin and end, one more than there are slices."""
        many, (low, high) = self.slices.shape[1], self.window
        return [low + (high - low) * k // many for k in range(many + 1)]

    def value_on(self, tile: Tile) -> Floats:
        """Return what heights on a copy of the map show."""
        return self.value if tile.slice < 0 else np.ascontiguousarray(self.slices[:, tile.slice])

    @property
    def open(self) -> float:
        """How far the picture is opened, 0 to 1."""
        return self.parameters.opening

    @property
    def high(self) -> float:
        """How high the highest building is."""
        return HIGH * self.parameters.relief * self.open

    def rise(self, value: Floats) -> Floats:
        """Return how high buildings of some values are."""
        return np.asarray(np.maximum(self.high * self.scale.place(value), PLATE))

    def plinth(self, depth: int | Ints) -> Floats:
        """Return how high the ground of districts is."""
        deepest = max(_deepest(self.city), 1)
        return np.asarray(
            min(STEP, _PILE / deepest) * np.asarray(depth, np.float64) * (0.2 + 0.8 * self.open)
        )

    def names(self) -> list[str]:
        """Return the full names of buildings."""
        return [".".join(path) for path in self.path]


def _deepest(district: District) -> int:
    return max((_deepest(inner) for inner in district.districts.values()), default=district.depth)


def compose(traces: Sequence[Trace], p: Parameters, frame: Frame) -> Layout:
    """Measure the parts and lay the city out.

    Parameters
    ----------
    traces : one or two of Trace
    p : Parameters
    frame : Frame
        Of the picture.

    Returns
    -------
    Layout

    Raises
    ------
    InputError
        If there are no calls.
    """
    rules = read_rules(p.rules) if p.rules else Rules()
    bound: dict[str, Any] = dict(rules.parameters())
    p = replace(p, **bound)
    kind = p.parts
    each = [parts_of(trace, kind) for trace in traces]
    if len({parts.what for parts in each}) > 1:
        each = [parts_of(trace, "function") for trace in traces]
    number: dict[tuple[str, ...], int] = {}
    places = [
        np.array([number.setdefault(path, len(number)) for path in parts.path], np.int64) for parts in each
    ]
    runs = tuple(Run(*one) for one in zip(traces, each, places, strict=True))
    last, n = runs[-1], len(number)
    area = np.max([run.of(p.area, n) for run in runs], axis=0)
    # Parts without a value get a place as small as the smallest.
    least = float(area[area > 0].min()) if (area > 0).any() else 1.0
    area = np.maximum(area, least)
    value = last.of(p.height, n)
    before = runs[0].of(p.height, n) if len(runs) > 1 else None
    rank = value if before is None else np.maximum(value, before)
    city, ground = placed(
        p.layout, tuple(number), area, rank, lambda: _pairs(runs, n), (0.0, 0.0, WIDE, DEEP)
    )
    slices = value[:, None]
    if p.floors > 1 and p.height in ADDITIVE:
        window = (0, max(last.trace.span_ns, 1))
        slices = np.zeros((n, p.floors))
        slices[last.place] = floors(last.trace, last.parts, p.height, window, p.floors)
    call = np.full(n, -1, np.int64)
    call[last.place] = longest_calls(last.trace, last.parts)
    small = p.multiples and slices.shape[1] > 1
    if small:
        before, every = None, slices.ravel()
    else:
        every = value if before is None else np.concatenate([value, before])
    scale = Scale.over(p.scale, every)  # type: ignore[arg-type]
    picture = Layout(p, runs, tuple(number), city, ground, area, value, before, slices, call, scale, rules)
    for _ in range(2):
        projection = fit(camera(picture), frame, _SHARE)
        here = projection.pixels([(0.0, 0.0, 0.0), (WIDE, 0.0, 0.0)])
        pixels = float(np.hypot(*(here[1] - here[0]))) / WIDE
        text = max(_SMALL_TEXT, _READABLE * frame.least_text / pixels)
        tiles = tiles_of(slices.shape[1], 2.0 * text) if small else (Tile(),)
        picture = replace(picture, text=text, tiles=tiles)
    return picture


def tiles_of(many: int, title: float) -> tuple[Tile, ...]:
    """Return as many small maps of one size as there are slices of time, as large as possible.

    Parameters
    ----------
    many : int
    title : float
        The depth in front of each for its title.

    Returns
    -------
    tuple of Tile
        Row by row, the last row in front.
    """
    for columns in range(1, many + 1):
        rows, scale = -(-many // columns), _APART / columns
        pitch = scale * DEEP + title
        if rows * pitch <= _DEEPEST * DEEP:
            break
    return tuple(
        Tile((i % columns) * WIDE / columns, title + (rows - 1 - i // columns) * pitch, scale, i)
        for i in range(many)
    )


def _pairs(runs: Sequence[Run], buildings: int) -> Pairs:
    """Return which buildings call each other in any run, and how often in all."""
    keys, many = [], []
    for run in runs:
        source, target, times = links(run.trace, run.parts)
        keys.append(run.place[source] * buildings + run.place[target])
        many.append(times)
    key, which = np.unique(np.concatenate(keys), return_inverse=True)
    every = np.bincount(which, np.concatenate(many), len(key))
    return np.asarray(key // buildings), np.asarray(key % buildings), every.astype(np.float64)


def _reach(picture: Layout) -> float:
    """Return how high the farthest corner of the map must be for no roof to be seen above it."""
    p, u = picture.parameters, picture.open
    if not u or len(picture.tiles) > 1 or not picture.ground:
        return 0.0
    across, above = math.radians(u * p.turn), math.radians(90.0 - u * (90.0 - p.tilt))
    away = np.array([-math.sin(across), math.cos(across)])
    ground = np.array(picture.ground, np.float64).reshape(-1, 4)
    far = ground[:, :2] @ away + np.maximum(ground[:, 2:] * away, 0.0).sum(axis=1)
    farthest = np.maximum(away * (WIDE, DEEP), 0.0).sum()
    value = picture.value if picture.before is None else np.maximum(picture.value, picture.before)
    return float((picture.rise(value) - (farthest - far) * math.tan(above)).max())


def camera(picture: Layout, curves: float = 0.0) -> Camera:
    """Return the camera: straight above the flat map, in front of the opened city.

    Parameters
    ----------
    picture : Layout
    curves : float, optional
        How high curves rise over the roofs.

    Returns
    -------
    Camera
    """
    p, u = picture.parameters, picture.open
    back = max(tile.near + tile.scale * DEEP for tile in picture.tiles)
    high = picture.high * max(tile.scale for tile in picture.tiles)
    # The highest curve stands at no edge, a high building rarely; from above both are lower.
    curves *= _CURVES * math.cos(math.radians(p.tilt)) ** 2
    return camera_over(
        (0.0, 0.0, 0.0),
        (WIDE, back, max(0.75 * high, curves, _reach(picture), 0.1)),
        u, p.turn, p.tilt, 70.0,
    )  # fmt: skip
