"""The layout of a time strip: a lane for each trace, and a frame around the shown window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..layout import ticks
from ..units import count, duration

Window = tuple[int, int]
#: Left and right ends of ranges in pixels, float64 (n, 2).
Columns = NDArray[np.float64]


@dataclass(frozen=True)
class Lane:
    """The lane of one trace, in pixels.

    Attributes
    ----------
    left, right : float
        Where the trace begins and ends.
    low, high : float
        The lower and the upper edge.
    whole : (int, int)
        The trace's time in nanoseconds.

    Examples
    --------
    >>> lane = Lane(10.0, 110.0, 0.0, 20.0, (1000, 2000))
    >>> lane.x_of(1500), lane.time_at(60.0), lane.length_of(10.0)
    (60.0, 1500, 100.0)
    """

    left: float
    right: float
    low: float
    high: float
    whole: Window

    def x_of(self, time: float) -> float:
        """Return where a time lies; times outside the trace lie at its ends.

        Parameters
        ----------
        time : float
            Nanoseconds.

        Returns
        -------
        float
            Pixels.
        """
        first, last = self.whole
        share = (time - first) / max(last - first, 1)
        return self.left + min(max(share, 0.0), 1.0) * (self.right - self.left)

    def time_at(self, x: float) -> int:
        """Return the time at a pixel, inside the trace.

        Parameters
        ----------
        x : float
            Pixels.

        Returns
        -------
        int
            Nanoseconds.
        """
        first, last = self.whole
        share = (x - self.left) / max(self.right - self.left, 1e-9)
        return round(first + min(max(share, 0.0), 1.0) * (last - first))

    def length_of(self, pixels: float) -> float:
        """Return how much time this many pixels are.

        Parameters
        ----------
        pixels : float

        Returns
        -------
        float
            Nanoseconds.
        """
        return pixels * (self.whole[1] - self.whole[0]) / max(self.right - self.left, 1e-9)


def lanes(
    left: float, low: float, right: float, high: float, wholes: Sequence[Window], apart: float
) -> list[Lane]:
    """Return the lanes of traces within a rectangle, the first one uppermost.

    A pixel is as much time in all of them, and all begin at the left: so runs of unlike length are seen to be
    so.

    Parameters
    ----------
    left, low, right, high : float
        The rectangle.
    wholes : sequence of (int, int)
        The time of each trace, in nanoseconds.
    apart : float
        Pixels between two lanes.

    Returns
    -------
    list of Lane
        From top to bottom.

    Examples
    --------
    >>> [(lane.right, lane.low) for lane in lanes(0.0, 0.0, 100.0, 42.0, [(0, 50), (7, 32)], 2.0)]
    [(100.0, 22.0), (50.0, 0.0)]
    """
    n = len(wholes)
    longest = max((b - a for a, b in wholes), default=1)
    tall = max((high - low - apart * (n - 1)) / max(n, 1), 1.0)
    found = []
    for i, whole in enumerate(wholes):
        upper = high - i * (tall + apart)
        share = (whole[1] - whole[0]) / max(longest, 1)
        found.append(Lane(left, left + share * (right - left), upper - tall, upper, whole))
    return found


def grip(ends: tuple[float, float], x: float, reach: float) -> str:
    """Return the part of a frame under the mouse.

    Parameters
    ----------
    ends : (float, float)
        Where the frame begins and ends.
    x : float
        The mouse.
    reach : float
        How far from an end it is still meant, outwards; inwards a third of the frame at most.

    Returns
    -------
    str
        ``"low"``, ``"high"``, ``"inside"``, or empty beside the frame.

    Examples
    --------
    >>> [grip((50.0, 90.0), x, 5.0) for x in (47.0, 70.0, 94.0, 99.0)]
    ['low', 'inside', 'high', '']
    """
    a, b = ends
    inwards = min(reach, (b - a) / 3)
    if a - reach <= x <= a + inwards:
        return "low"
    if b - inwards <= x <= b + reach:
        return "high"
    return "inside" if a < x < b else ""


def dragged(window: Window, whole: Window, part: str, by: float, least: int) -> Window:
    """Return a window after one of its ends, or all of it, was dragged.

    Parameters
    ----------
    window, whole : (int, int)
        The window before, and the time that it stays in, in nanoseconds.
    part : str
        ``"low"``, ``"high"`` or ``"inside"``, as :func:`grip` says.
    by : float
        Nanoseconds.
    least : int
        The shortest window.

    Returns
    -------
    (int, int)

    Examples
    --------
    >>> dragged((10, 30), (0, 100), "inside", 500.0, 5), dragged((10, 30), (0, 100), "low", 500.0, 5)
    ((80, 100), (25, 30))
    """
    low, high = window
    first, last = whole
    if part == "low":
        return round(min(max(low + by, first), high - least)), high
    if part == "high":
        return low, round(max(min(high + by, last), low + least))
    step = min(max(round(by), first - low), last - high)
    return low + step, high + step


def drawn_out(a: int, b: int, whole: Window, least: int) -> Window:
    """Return the window between two times.

    Parameters
    ----------
    a, b : int
        Nanoseconds, in any order.
    whole : (int, int)
        What the window stays in.
    least : int
        The shortest window.

    Returns
    -------
    (int, int)

    Examples
    --------
    >>> drawn_out(70, 20, (0, 100), 5), drawn_out(99, 98, (0, 100), 5)
    ((20, 70), (95, 100))
    """
    low, high = min(a, b), max(a, b)
    if high - low < least:
        low = max(min(low, whole[1] - least), whole[0])
        high = low + least
    return max(low, whole[0]), min(high, max(whole[1], low + 1))


def columns(lane: Lane, start: ArrayLike, end: ArrayLike, least: float = 1.0) -> Columns:
    """Return the pixels that ranges of time take on a lane: merged, so never more than it has pixels.

    Parameters
    ----------
    lane : Lane
    start, end : int (n,)
        Nanoseconds.
    least : float
        How wide a range is at least.

    Returns
    -------
    float64 (m, 2)
        Left and right ends, in order; none touch.

    Examples
    --------
    >>> columns(Lane(10.0, 110.0, 0.0, 20.0, (1000, 2000)), [1500, 1004, 1500], [1500, 1016, 1530]).tolist()
    [[10.0, 12.0], [60.0, 63.0]]
    """
    a, b = np.atleast_1d(np.asarray(start, np.float64)), np.atleast_1d(np.asarray(end, np.float64))
    if not len(a):
        return np.zeros((0, 2))
    first, last = lane.whole
    wide = lane.right - lane.left
    pixels = (np.clip(np.stack([a, b]), first, last) - first) * wide / max(last - first, 1)
    left = np.floor(pixels[0])
    right = np.maximum(np.ceil(pixels[1]), left + least)
    order = np.argsort(left, kind="stable")
    left, right = left[order], np.maximum.accumulate(right[order])
    new = np.concatenate([[True], left[1:] > right[:-1]])
    ends = np.concatenate([np.flatnonzero(new)[1:] - 1, [len(left) - 1]])
    return np.asarray(lane.left + np.stack([left[new], right[ends]], axis=1))


def spread(xs: Sequence[float], apart: float, left: float, right: float) -> list[float]:
    """Return places for signs that would overlap: in order, ``apart`` from each other, close to their own.

    Parameters
    ----------
    xs : sequence of float
        Where they belong, increasing.
    apart : float
        Pixels between two.
    left, right : float
        The room; where it is too small they lie closer.

    Returns
    -------
    list of float

    Examples
    --------
    >>> spread([5.0, 6.0, 100.0], 10.0, 0.0, 100.0)
    [5.0, 15.0, 100.0]
    """
    if not xs:
        return []
    if len(xs) > 1:
        apart = min(apart, (right - left) / (len(xs) - 1))
    places: list[float] = []
    for x in xs:
        places.append(max(min(max(x, left), right), places[-1] + apart if places else left))
    over = right
    for i in range(len(places) - 1, -1, -1):
        places[i] = min(places[i], over)
        over = places[i] - apart
    return places


def written(ns: float, digits: int, timed: bool) -> str:
    """Write a time of a trace, or the number of its records up to there where it has no times.

    Parameters
    ----------
    ns : float
    digits : int
        Of a time.
    timed : bool
        Whether the trace has times.

    Returns
    -------
    str

    Examples
    --------
    >>> written(13_310, 4, True), written(13_310, 4, False)
    ('13.31 µs', '13,310 records')
    """
    return duration(round(ns), digits) if timed else f"{round(ns):,} records"


def ruler(begin: int, end: int, most: int, timed: bool) -> ticks.Ticks:
    """Return the ticks below the lanes.

    Parameters
    ----------
    begin, end : int
        Nanoseconds, or records.
    most : int
        Ticks with a text, at least 2.
    timed : bool
        Whether the traces have times.

    Returns
    -------
    Ticks
    """
    if timed:
        return ticks.time_ticks(begin, end, most)
    at = ticks.rounds(begin, end, most)
    return ticks.Ticks(tuple(at), tuple(count(value) for value in at), (), "records")
