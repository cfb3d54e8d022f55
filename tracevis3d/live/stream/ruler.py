"""The ruler of a live view: axes whose ticks move with time."""

from __future__ import annotations

from ...drawing.primitives import Axis
from ...drawing.stream import LENGTH
from ...layout.ticks import time_ticks
from ...units import duration
from .live_view import LiveView

#: Maximum number of marked gaps, the latest ones.
_MOST_GAP_ENDS = 64
#: Scene units: line height of the texts, and how far below the bars the grid lies.
_HEIGHT, _BELOW = 0.34, 0.06


def ticks(view: LiveView, now: int) -> tuple[int, ...]:
    """Return the times in the window that have a tick.

    Parameters
    ----------
    view : LiveView
    now : int
        The end of the window, in nanoseconds.

    Returns
    -------
    tuple of int
        Nanoseconds, increasing.
    """
    window = view.window_ns
    step = time_ticks(0, window, 6)
    gap = int(step.at[1] - step.at[0]) if len(step.at) > 1 else window
    return tuple(n * gap for n in range(-(-(now - window) // gap), now // gap + 1) if n >= 0)


def gap_ends(view: LiveView, now: int) -> tuple[int, ...]:
    """Return the times in the window where a gap of lost rows begins or ends.

    Parameters
    ----------
    view : LiveView
    now : int
        The end of the window, in nanoseconds.

    Returns
    -------
    tuple of int
        Nanoseconds, increasing.
    """
    since = now - view.window_ns
    ends: set[int] = set()
    for gap in reversed(view.growing.losses.gaps):
        if gap.until < since or len(ends) >= _MOST_GAP_ENDS:
            break
        ends |= {when for when in (gap.since, gap.until) if since <= when <= now}
    return tuple(sorted(ends))


def ruler(view: LiveView, moments: tuple[int, ...], now: int) -> tuple[Axis, ...]:
    """Return the ruler in the scene's coordinates: texts in front, and lines across the ground.

    Where time runs along x the lines continue upward behind the bars.

    Parameters
    ----------
    view : LiveView
    moments : tuple of int
        Of :func:`ticks`, in nanoseconds.
    now : int
        The time that lies at 0, in nanoseconds.

    Returns
    -------
    tuple of Axis
        One with texts; the others are grids.
    """
    (low, high), (_, top) = view.extent()
    at = tuple(LENGTH + view.time_of(when, now) for when in moments)
    text = tuple(duration(when, 4) if when else "0" for when in moments)
    none = ("",) * len(at)
    if view.along == "y":
        front = (0, -1, 0)
        return (
            Axis((high, LENGTH, 0.3 * _HEIGHT), front, LENGTH, at, text, outward=(1, 0, 0), height=_HEIGHT),
            Axis((high, LENGTH, -0.02), front, LENGTH, at, none, outward=(1, 0, 0), grid=high - low),
        )
    x, front = -LENGTH, (1, 0, 0)
    return (
        Axis((x, low - 0.05, -_BELOW), front, LENGTH, at, text, height=_HEIGHT),
        Axis((x, low, -_BELOW), front, LENGTH, at, none, outward=(0, -1, 0), grid=high - low),
        Axis((x, high, -_BELOW), front, LENGTH, at, none, outward=(0, 0, -1), grid=top + _BELOW),
    )
