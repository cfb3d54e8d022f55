"""The layout of tracks: the window, its cells, and the camera."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ....drawing.frame import Frame
from ....drawing.primitives import Camera, Vector
from ....drawing.projection import fit
from ....errors import UsageError
from ....trace.model import Trace
from ....units import read_time
from ....views.time_window import WIDTH, time_window
from ..series import Floats, Ints
from ..tracks import Track, chosen, extent
from .parameters import Parameters

#: Share of the picture for the drawing, next to title, legend and notes.
SHARE = (0.94, 0.76)
_SMALL_TEXT, _READABLE = 0.2, 2.0
#: How much wider cells are in the forms of which many would make no legible shape.
_COARSER = {"wall": 1.0, "tube": 3.0, "path": 2.5, "mural": 0.5}
#: A window has at most this many cells.
_MOST_CELLS = 4000


@dataclass(frozen=True, eq=False)
class Layout:
    """What all forms have in common.

    Attributes
    ----------
    trace : Trace
    parameters : Parameters
    tracks : tuple of Track
    window : (int, int)
        Nanoseconds.
    edges : int64 (cells + 1,)
        Nanoseconds, each once.
    text : float
        Line height in scene units.
    frame : Frame
    """

    trace: Trace
    parameters: Parameters
    tracks: tuple[Track, ...]
    window: tuple[int, int]
    edges: Ints
    text: float
    frame: Frame

    def x(self, time: Ints | Floats | float) -> Floats:
        """Return where times lie along x."""
        low, high = self.window
        return np.asarray(np.clip(WIDTH * (np.asarray(time, np.float64) - low) / (high - low), 0.0, WIDTH))

    @property
    def open(self) -> float:
        """How far the picture is opened, 0 to 1."""
        return self.parameters.opening


def compose(trace: Trace, p: Parameters, frame: Frame) -> Layout:
    """Choose the tracks, the window and the cells.

    Parameters
    ----------
    trace : Trace
    p : Parameters
    frame : Frame
        Of the picture: it determines how wide a cell is.

    Returns
    -------
    Layout

    Raises
    ------
    InputError
        If nothing changes over time in the trace.
    UsageError
        If the window is empty, or the trace has no such track.
    """
    tracks = chosen(trace, p.tracks, p.palette)
    window = window_of(trace, tracks, p)
    cells = frame.width * SHARE[0] / (p.resolution * _COARSER[p.form])
    text = max(_SMALL_TEXT, _READABLE * frame.least_text * (WIDTH + 4.0) / (frame.width * SHARE[0]))
    return Layout(trace, p, tracks, window, cell_edges(window, cells), text, frame)


def window_of(trace: Trace, tracks: tuple[Track, ...], p: Parameters) -> tuple[int, int]:
    """Return the window: that of the calls, as in views of calls; without any, that of the tracks.

    Parameters
    ----------
    trace : Trace
    tracks : tuple of Track
    p : Parameters

    Returns
    -------
    (int, int)
        Nanoseconds.

    Raises
    ------
    UsageError
        If it is empty.
    """
    if len(trace.calls):
        return time_window(trace, p.start, p.end)
    low, high = extent(trace, tracks)
    low = max(read_time("start", p.start), 0) if p.start.strip() else low
    high = read_time("end", p.end) if p.end.strip() else max(high, low + 1)
    if high <= low:
        raise UsageError(f"start={p.start}, end={p.end}: the window is empty")
    return low, high


def cell_edges(window: tuple[int, int], cells: float) -> Ints:
    """Return the edges of cells of the same width, about this many.

    Parameters
    ----------
    window : (int, int)
        Nanoseconds.
    cells : float

    Returns
    -------
    int64 (n + 1,)
        Each once: a cell has at least a nanosecond.
    """
    many = int(min(max(cells, 2), _MOST_CELLS, window[1] - window[0]))
    steps = np.arange(many + 1, dtype=np.float64) / many
    edges: Ints = np.unique(window[0] + np.rint(steps * (window[1] - window[0])).astype(np.int64))
    return edges


def direction(p: Parameters, turn: float, tilt: float) -> Vector:
    """Return where the camera stands: straight ahead of the flat picture, aside and above the opened one.

    Parameters
    ----------
    p : Parameters
    turn, tilt : float
        Degrees of the opened picture.

    Returns
    -------
    Vector
        From the subject to the camera.
    """
    turn, tilt = math.radians(p.opening * turn), math.radians(p.opening * tilt)
    return math.sin(turn) * math.cos(tilt), -math.cos(turn) * math.cos(tilt), math.sin(tilt)


def pixels_per_unit(camera: Camera, frame: Frame) -> float:
    """Return how many pixels a unit along x covers where the drawing is nearest to the camera.

    Parameters
    ----------
    camera : Camera
    frame : Frame

    Returns
    -------
    float
    """
    projection = fit(camera, frame, SHARE)
    ends = [(x, camera.low[1], z) for x in (0.0, WIDTH) for z in (camera.low[2], camera.high[2])]
    here = projection.pixels(ends)
    there = projection.pixels([(x + 0.01, y, z) for x, y, z in ends])
    return float(np.hypot(*(there - here).T).max() / 0.01)
