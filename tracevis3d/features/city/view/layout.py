"""The layout of a city: one map for one or two runs, and the camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....drawing.frame import Frame
from ....drawing.primitives import Camera
from ....drawing.projection import camera_over, fit
from ....layout.scales import Scale
from ....trace.model import Trace
from ..metrics import ADDITIVE, Floats, Ints, Parts, floors, longest_calls, measured, parts_of
from ..treemap import District, Rectangle, city_of, lay_out
from .parameters import Parameters

#: Scene units.
WIDE, DEEP, HIGH = 15.0, 9.0, 4.2
#: Height of a district's plinth, and maximum height of nested plinths.
STEP, _PILE = 0.1, 0.6
PLATE = 0.02
_SMALL_TEXT, _READABLE = 0.2, 1.8
_SHARE = (0.94, 0.76)


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
    text: float = _SMALL_TEXT

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
    city = city_of(tuple(number), area.tolist())
    ground = lay_out(city, area.tolist(), (0.0, 0.0, WIDE, DEEP))
    value = last.of(p.height, n)
    before = runs[0].of(p.height, n) if len(runs) > 1 else None
    slices = value[:, None]
    if p.floors > 1 and p.height in ADDITIVE:
        window = (0, max(last.trace.span_ns, 1))
        slices = np.zeros((n, p.floors))
        slices[last.place] = floors(last.trace, last.parts, p.height, window, p.floors)
    call = np.full(n, -1, np.int64)
    call[last.place] = longest_calls(last.trace, last.parts)
    every = value if before is None else np.concatenate([value, before])
    scale = Scale.over(p.scale, every)  # type: ignore[arg-type]
    picture = Layout(p, runs, tuple(number), city, ground, area, value, before, slices, call, scale)
    for _ in range(2):
        projection = fit(camera(picture), frame, _SHARE)
        here = projection.pixels([(0.0, 0.0, 0.0), (WIDE, 0.0, 0.0)])
        pixels = float(np.hypot(*(here[1] - here[0]))) / WIDE
        picture = replace(picture, text=max(_SMALL_TEXT, _READABLE * frame.least_text / pixels))
    return picture


def camera(picture: Layout) -> Camera:
    """Return the camera: straight above the flat map, in front of the opened city.

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
        (WIDE, DEEP, max(0.75 * picture.high, 0.1)),
        u, p.turn, p.tilt, 70.0,
    )  # fmt: skip
