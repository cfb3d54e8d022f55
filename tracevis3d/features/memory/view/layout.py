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

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Scene units: bytes, time, and the highest terrain.
WIDTH, DEPTH, HEIGHT = 16.0, 8.0, 3.4
#: The wall with the curves stands so far beside, and is so high.
WALL_GAP, WALL = 0.35, 2.9
#: Share of the picture that the drawing can have.
_SHARE = (0.93, 0.68)
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

    def x(self, at: Floats | float) -> Floats:
        """Return where places along the arrangement's axis lie."""
        low, high = self.span
        return np.asarray(np.clip(WIDTH * (np.asarray(at, np.float64) - low) / (high - low), 0.0, WIDTH))

    def y(self, time: Ints | int) -> Floats:
        """Return where times lie: the window's end at the front edge."""
        low, high = self.window
        return np.asarray(np.clip(DEPTH * (high - np.asarray(time, np.float64)) / (high - low), 0.0, DEPTH))

    @property
    def reach(self) -> float:
        """How high the highest is, in scene units."""
        return HEIGHT * self.parameters.relief * self.parameters.opening

    @property
    def fold(self) -> tuple[float, float]:
        """Cosine and sine of how far walls lean outward: flat on the ground for the flat picture."""
        angle = (1 - self.parameters.opening) * math.pi / 2
        return math.cos(angle), math.sin(angle)


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
    # Texts need pixels, the camera has to hold the texts.
    for _ in range(2):
        pixels = _pixels_per_unit(picture, frame)
        text = max(_SMALL_TEXT, _READABLE * frame.least_text / pixels)
        picture = replace(picture, text=text, camera=_camera(p, text), pixels_per_unit=pixels)
    least = p.resolution * (span[1] - span[0]) / (WIDTH * picture.pixels_per_unit)
    return replace(picture, items=made.pyramid.cut(*span, least, breaks(picture, least)))


def breaks(picture: Layout, least: float) -> Ints:
    """Return the positions across which nothing is merged: bounds of sites and regions.

    Parameters
    ----------
    picture : Layout
    least : float
        Narrower districts are no bound.

    Returns
    -------
    int64 (k,)
    """
    made = picture.arrangement
    if len(made.regions):
        return made.regions
    if not len(made.site_first):
        return np.empty(0, np.int64)
    low = np.append(made.pyramid.low, made.total)[made.site_first]
    wide = np.diff(low) >= least
    bounds: Ints = np.unique(np.concatenate([made.site_first[:-1][wide], made.site_first[1:][wide]]))
    return bounds


def _camera(p: Parameters, text: float) -> Camera:
    turn = math.radians(p.opening * p.turn)
    tilt = math.radians(90.0 - p.opening * (90.0 - p.tilt))
    direction = (math.sin(turn) * math.cos(tilt), -math.cos(turn) * math.cos(tilt), math.sin(tilt))
    flat = 1 - p.opening
    side = WALL_GAP + flat * WALL if p.curves else 0.3
    top = max(HEIGHT * p.relief * p.opening, WALL * p.opening if p.curves else 0.0)
    return Camera(
        direction=direction,
        up=(0.0, 1.0, 0.0) if p.opening == 0 else (0.0, 0.0, 1.0),
        low=(-side - (4 * text if p.curves else 0), -3.2 * text, 0.0),
        high=(WIDTH + 4 * text, DEPTH, max(top, 0.1)),
        projection="orthographic" if p.opening == 0 else "perspective",
        lens=90.0,
    )


def _pixels_per_unit(picture: Layout, frame: Frame) -> float:
    projection = fit(picture.camera, frame, _SHARE)
    ends = [(x, 0.0, 0.0) for x in (0.0, WIDTH / 2, WIDTH)]
    here = projection.pixels(ends)
    there = projection.pixels([(x + 0.01, y, z) for x, y, z in ends])
    return float(np.hypot(*(there - here).T).max() / 0.01)
