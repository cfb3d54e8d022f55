"""The layout of memory: the shown part, its size, and the camera."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.primitives import Camera
from ....drawing.projection import fit
from ....errors import UsageError
from ....trace.model import Trace
from ....units import duration, read_time
from ..pyramid import Items
from ..summary import MemoryUse
from .arrangement import Arrangement, arrange, memory_use
from .parameters import Parameters
from .story import staged

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Scene units of bytes, and of time: in the flat picture, across which bytes lie, and in the terrain, across
#: which time runs.
_FLAT, _RAISED = (16.0, 8.0), (7.0, 16.0)
#: How high the terrain is at most.
HEIGHT = 1.7
#: The wall with the curves stands so far beside, and is so high.
WALL_GAP, WALL = 0.25, 4.2
#: From this opening on time runs across the picture, and texts stand for that.
ACROSS = 0.5
#: Share of the picture that the drawing can have.
_SHARE = (0.95, 0.8)
#: Thickness of blocks without height.
PLATE = 0.02
_SMALL_TEXT, _READABLE = 0.25, 2.2


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout, from which all parts of the drawing are made.

    Attributes
    ----------
    trace : Trace
        What is drawn.
    use : MemoryUse
        Its memory.
    parameters : Parameters
        Those of the view.
    window : (int, int)
        Nanoseconds.
    arrangement : Arrangement
        Where blocks lie side by side.
    span : (float, float)
        The part of the arrangement's axis that is shown.
    items : Items
    recent : int
        Nanoseconds.
    camera : Camera
        From where it is seen.
    pixels_per_unit : float
        Of a scene unit along the bytes.
    text : float
        Line height of the smaller texts.
    """

    trace: Trace
    use: MemoryUse
    parameters: Parameters
    window: tuple[int, int]
    arrangement: Arrangement
    span: tuple[float, float]
    items: Items
    recent: int
    camera: Camera
    pixels_per_unit: float
    text: float

    @property
    def wide(self) -> float:
        """How many scene units bytes take."""
        return sizes(self.parameters.opening)[0]

    @property
    def deep(self) -> float:
        """How many scene units time takes."""
        return sizes(self.parameters.opening)[1]

    @property
    def across(self) -> bool:
        """Whether time runs across the picture."""
        return self.parameters.opening >= ACROSS

    @property
    def level(self) -> tuple[float, float, float]:
        """The direction in which texts on the ground and the wall run."""
        turn = _turn(self.parameters)
        return (math.cos(turn), math.sin(turn), 0.0)

    @property
    def upward(self) -> tuple[float, float, float]:
        """The direction in which texts stand: on the wall, or on the ground of the flat picture."""
        stand, lie = self.fold
        return (0.0, lie, stand)

    def x(self, at: Floats | Ints | float) -> Floats:
        """Return where places along the arrangement's axis lie."""
        low, high = self.span
        share = (np.asarray(at, np.float64) - low) / (high - low)
        return np.asarray(np.clip(self.wide * share, 0.0, self.wide))

    def y(self, time: Ints | int) -> Floats:
        """Return where times lie: the window's end at 0."""
        low, high = self.window
        share = (high - np.asarray(time, np.float64)) / (high - low)
        return np.asarray(np.clip(self.deep * share, 0.0, self.deep))

    @property
    def reach(self) -> float:
        """The height of the highest item, in scene units."""
        return HEIGHT * self.parameters.relief * self.parameters.opening

    @property
    def fold(self) -> tuple[float, float]:
        """Cosine and sine of how far walls lean outward: flat on the ground for the flat picture."""
        angle = (1 - self.parameters.opening) * math.pi / 2
        return math.cos(angle), math.sin(angle)


def sizes(opening: float) -> tuple[float, float]:
    """Return how many scene units bytes and time take.

    Parameters
    ----------
    opening : float
        0 to 1.

    Returns
    -------
    (float, float)
    """
    (a, b), (c, d) = _FLAT, _RAISED
    return a + opening * (c - a), b + opening * (d - b)


def _turn(p: Parameters) -> float:
    """Return by how much the camera is turned: from the flat picture's view to one across time."""
    return math.radians(p.opening * (p.turn - 90.0))


def compose(trace: Trace, p: Parameters, frame: Frame) -> Layout:
    """Choose the window and merge blocks that are too narrow to be seen.

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
    UsageError
        If a window is empty, no call site fits, or there are no addresses to order by.
    """
    use = memory_use(trace)
    p = staged(trace, use, p)
    last = max(trace.span_ns, 1)
    window = (
        max(read_time("start", p.start), 0) if p.start.strip() else 0,
        min(read_time("end", p.end), last) if p.end.strip() else last,
    )
    if window[1] <= window[0]:
        raise UsageError(
            f"start={p.start}, end={p.end}: the window is empty; the trace lasts {duration(last)}"
        )
    if p.right <= p.left:
        raise UsageError(f"right={p.right:g}: it must be more than left={p.left:g}")
    made = arrange(trace, p, window)
    span = (p.left * made.total, p.right * made.total)
    picture = Layout(
        trace, use, p, window, made, span, made.pyramid.cut(0.0, 0.0, 1.0),
        max(int(p.recent * last), 1), _camera(p, _SMALL_TEXT), 1.0, _SMALL_TEXT,
    )  # fmt: skip
    # Text sizes depend on the camera, and the camera on the texts.
    for _ in range(2):
        pixels, level = _pixels_per_unit(picture, frame)
        text = max(_SMALL_TEXT, _READABLE * frame.least_text / level)
        picture = replace(picture, text=text, camera=_camera(p, text), pixels_per_unit=pixels)
    least = p.resolution * (span[1] - span[0]) / (picture.wide * picture.pixels_per_unit)
    return replace(picture, items=made.pyramid.cut(*span, least, made.regions))


def _camera(p: Parameters, text: float) -> Camera:
    turn = _turn(p)
    tilt = math.radians(90.0 - p.opening * (90.0 - p.tilt))
    direction = (math.sin(turn) * math.cos(tilt), -math.cos(turn) * math.cos(tilt), math.sin(tilt))
    flat, (wide, deep) = 1 - p.opening, sizes(p.opening)
    side = WALL_GAP + flat * WALL if p.curves else 0.3
    top = max(HEIGHT * p.relief * p.opening, WALL * p.opening if p.curves else 0.0)
    return Camera(
        direction=direction,
        up=(0.0, 1.0, 0.0) if p.opening == 0 else (0.0, 0.0, 1.0),
        low=(-3.2 * text, -3.2 * text, 0.0),
        high=(wide + side, deep + 3.2 * text, max(top, 0.1)),
        projection="orthographic" if p.opening == 0 else "perspective",
        lens=90.0,
    )


def _pixels_per_unit(picture: Layout, frame: Frame) -> tuple[float, float]:
    """Return how many pixels a scene unit takes at most, along bytes and along texts."""
    projection = fit(picture.camera, frame, _SHARE)
    ends = np.array([(x, 0.0, 0.0) for x in (0.0, picture.wide / 2, picture.wide)])
    here = projection.pixels(ends)
    along, level = (
        float(np.hypot(*(projection.pixels(ends + 0.01 * np.array(way)) - here).T).max() / 0.01)
        for way in ((1.0, 0.0, 0.0), picture.level)
    )
    return along, level
