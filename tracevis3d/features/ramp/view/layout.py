"""The layout of a ramp: its runs along one axis of time, its steps, and the camera."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....drawing.frame import Frame
from ....drawing.primitives import Camera, Vector
from ....drawing.projection import fit
from ....errors import UsageError
from ....trace.model import Trace
from ....units import read_time
from ....views.time_window import WIDTH
from ..rounds import Floats, Ints, Rounds, find_rounds
from .parameters import Parameters

#: Extent of the longest round, and distance of the second run behind the first.
_OUT, BEHIND, PLATE = 2.2, 1.2, 0.06
#: Width of the histogram, its distance, and the highest steps.
HISTOGRAM, GAP, _HIGHEST_STEP = 2.4, 0.9, 0.8
_SMALL_TEXT, _READABLE = 0.2, 2.0
_SHARE = (0.94, 0.76)
#: Least height of all steps together, in pictures that are far wider than high.
_LOWEST = 1.0


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout, from which all parts of the drawing are made.

    Attributes
    ----------
    traces : tuple of Trace
    parameters : Parameters
    runs : tuple of Rounds
        One or two.
    windows : tuple of (int, int)
        Of each run, in nanoseconds; all are equally long.
    step : float
        Height of a step.
    longest : float
        Nanoseconds.
    text, pixels_per_unit : float
    """

    traces: tuple[Trace, ...]
    parameters: Parameters
    runs: tuple[Rounds, ...]
    windows: tuple[tuple[int, int], ...]
    step: float
    longest: float
    text: float = _SMALL_TEXT
    pixels_per_unit: float = 1.0

    @property
    def open(self) -> float:
        """How far the picture is opened, 0 to 1."""
        return self.parameters.opening

    @property
    def high(self) -> float:
        """The height of all steps."""
        return self.step * max(len(one) for one in self.runs)

    @property
    def reach(self) -> float:
        """How far the longest round sticks out."""
        return _OUT * self.parameters.relief * self.open

    def x(self, run: int, time: Ints | Floats) -> Floats:
        """Return where times of a run lie.

        Parameters
        ----------
        run : int
        time : int64 or float64 (n,)
            Nanoseconds.

        Returns
        -------
        float64 (n,)
        """
        low, high = self.windows[run]
        return np.asarray(np.clip(WIDTH * (np.asarray(time, np.float64) - low) / (high - low), 0.0, WIDTH))

    def z(self, run: int, number: Ints) -> Floats:
        """Return the lower edges of bars: flat, two runs share each step.

        Parameters
        ----------
        run : int
        number : int64 (n,)
            Of rounds, from 0.

        Returns
        -------
        float64 (n,)
        """
        return np.asarray((number + 0.5 * (1 - self.open) * run) * self.step)

    @property
    def bar(self) -> float:
        """The height of a bar."""
        return self.step * 0.84 * (1 - 0.5 * (1 - self.open) if len(self.runs) > 1 else 1.0)

    def out(self, duration: Floats) -> Floats:
        """Return how far rounds of some durations stick out."""
        return np.asarray(PLATE + self.reach * duration / max(self.longest, 1.0))

    def back(self, run: int) -> float:
        """Return the y of the back of a run's bars."""
        return self.open * (BEHIND + self.reach) * run


def compose(traces: Sequence[Trace], p: Parameters, frame: Frame) -> Layout:
    """Find the rounds and lay them out.

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
        If a trace has neither calls nor operations.
    UsageError
        If nothing is repeated, or no round is in the window.
    """
    runs, windows = [], []
    repeated = p.repeated
    for trace in traces:
        found = find_rounds(trace, p.by, repeated)
        if not len(found):
            raise UsageError(f"{found.name}: there is no round of it")
        # The second run shows the same as the first.
        repeated = repeated or found.name
        window = (
            max(read_time("start", p.start), 0) if p.start.strip() else int(found.start.min()),
            read_time("end", p.end) if p.end.strip() else int(found.end.max()),
        )
        if window[1] == window[0] and not p.start.strip() and not p.end.strip():
            window = window[0], window[0] + 1
        if window[1] <= window[0]:
            raise UsageError(f"start={p.start}, end={p.end}: the window is empty")
        # A round without duration may be the last moment of all.
        found = found.between(window[0], window[1] if p.end.strip() else window[1] + 1)
        if not len(found):
            raise UsageError(f"{found.name}: no round of it is in this window")
        runs.append(found)
        windows.append(window)
    longest = max(high - low for low, high in windows)
    windows = [(low, low + longest) for low, _ in windows]
    tall = (WIDTH + HISTOGRAM + 3) * frame.height * _SHARE[1] / (frame.width * _SHARE[0]) - 2.5
    tall = max(tall, _LOWEST)
    many = max(map(len, runs))
    step = min(0.85 * tall / many, _HIGHEST_STEP)
    picture = Layout(
        tuple(traces), p, tuple(runs), tuple(windows), step, max(float(one.duration.max()) for one in runs)
    )
    projection = fit(camera(picture), frame, _SHARE)
    ends = [(x, 0.0, 0.0) for x in (0.0, WIDTH)]
    here, there = projection.pixels(ends), projection.pixels([(x + 0.01, y, z) for x, y, z in ends])
    pixels = float(np.hypot(*(there - here).T).min() / 0.01)
    return replace(
        picture, text=max(_SMALL_TEXT, _READABLE * frame.least_text / pixels), pixels_per_unit=pixels
    )


def camera(picture: Layout) -> Camera:
    """Return the camera: straight ahead of the flat staircase, aside and above the opened one.

    Parameters
    ----------
    picture : Layout

    Returns
    -------
    Camera
    """
    p, u = picture.parameters, picture.open
    turn, tilt = math.radians(u * p.turn), math.radians(u * p.tilt)
    direction: Vector = (
        math.sin(turn) * math.cos(tilt), -math.cos(turn) * math.cos(tilt), math.sin(tilt)
    )  # fmt: skip
    right = WIDTH + (GAP + HISTOGRAM if p.histogram else 0.2)
    return Camera(
        direction=direction,
        low=(-0.3, -picture.reach - PLATE, -0.2),
        high=(right, picture.back(len(picture.runs) - 1) + 0.1, picture.high),
        projection="orthographic" if u == 0 else "perspective",
        lens=90.0,
    )
