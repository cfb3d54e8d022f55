"""The window of time that a view shows, from what a user writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UsageError
from ..layout.cut import call_span
from ..parameters import Values, read
from ..trace.cached_results import cached_with_traces
from ..trace.model import Trace
from ..trace.names import known_from
from ..units import duration, read_time, typed_time

if TYPE_CHECKING:
    from ..drawing.picked import Description
    from ..layout.sight.flight import Flight

#: Scene units that the time window is wide where time runs along x.
WIDTH = 16.0


def time_window(trace: Trace, start: str, end: str) -> tuple[int, int]:
    """Return the window of ``trace`` from ``start`` to ``end`` in nanoseconds.

    An empty text means the start of the first call, or the end of the last; without calls those of the trace.
    What a viewer of a feed received begins when it is complete: before that little happens in it.

    Parameters
    ----------
    trace : Trace
    start, end : str
        Times as a user writes them, such as ``1.5s`` or ``20`` (milliseconds).

    Returns
    -------
    (int, int)

    Raises
    ------
    UsageError
        If a text is not a time, or the window is empty or outside the trace.
    """
    last = max(trace.span_ns, 1)
    first, final = whole(trace)
    late = known_from(trace)
    first = late if first < late < final else first
    low = max(read_time("start", start), 0) if start.strip() else first
    high = min(read_time("end", end), last) if end.strip() else max(final, low + 1)
    if late and not start.strip() and high <= low:
        # The end that is asked for is before it.
        low, _ = whole(trace)
    if low >= last and start.strip():
        raise UsageError(f"start={start}: the trace ends at {duration(trace.span_ns)}")
    if high <= low:
        raise UsageError(f"end={end}: the end must be after the start, {duration(low)}")
    return low, high


#: Minimum length of a window, in nanoseconds.
LEAST = 20

Window = tuple[int, int]


def window_parameters(parameters: type, source: int) -> tuple[str, str] | None:
    """Return the names of the parameters that hold the window of one of a view's traces, if it has any.

    Parameters
    ----------
    parameters : type
        Those that the view declares.
    source : int
        Which of its traces.

    Returns
    -------
    (str, str) or None
        Those of the start and of the end.
    """
    known = {field.name for field in fields(parameters)}
    suffix = "_" + "abcdefgh"[source] if source < 8 else ""
    for names in (("start", "end"), ("start" + suffix, "end" + suffix)):
        if known.issuperset(names):
            return names
    return None


def window_values(parameters: type, windows: Mapping[int, Window | None]) -> dict[str, str]:
    """Return the parameters' values for windows by trace; None means the whole.

    Parameters
    ----------
    parameters : type
        Those that the view declares.
    windows : mapping of int to (int, int) or None
        Of each of the view's traces, in nanoseconds.

    Returns
    -------
    dict of str to str
    """
    wanted: dict[str, str] = {}
    for source, window in windows.items():
        names = window_parameters(parameters, source)
        if names is not None:
            texts = ("", "") if window is None else (typed_time(window[0]), typed_time(window[1]))
            wanted |= dict(zip(names, texts, strict=True))
    return wanted


def whole(trace: Trace) -> Window:
    """Return the window of all calls of a trace; of one without calls all of its time."""
    low, high = call_span(trace) if len(trace.calls) else (0, trace.span_ns)
    return low, max(high, low + 1)


def bounded(trace: Trace, low: float, high: float) -> Window:
    """Return a window inside a trace's calls, or its time if it has none, and long enough to show.

    Parameters
    ----------
    trace : Trace
    low, high : float
        The window that is wanted, in nanoseconds.

    Returns
    -------
    (int, int)
    """
    first, last = whole(trace)
    length = min(max(high - low, LEAST), max(last - first, LEAST))
    low = min(max(low, first), max(last - length, first))
    return round(low), round(low + length)


def around(trace: Trace, call: int, margin: float = 0.04) -> Window:
    """Return the window of a call with a margin, as a share of its length.

    Parameters
    ----------
    trace : Trace
    call : int
        Its index.
    margin : float
        What is left free at either side, as a share of its length.

    Returns
    -------
    (int, int)
        Nanoseconds.
    """
    low, high = int(trace.calls.start[call]), int(trace.calls.end[call])
    room = max(margin * (high - low), LEAST / 2)
    return bounded(trace, low - room, high + room)


def scaled(window: Window, factor: float, about: float) -> tuple[float, float]:
    """Return a window ``factor`` times as long in which ``about`` stays where it is.

    Parameters
    ----------
    window : Window
        Nanoseconds.
    factor : float
        Above 1 for a longer one.
    about : float
        Nanoseconds.

    Returns
    -------
    (float, float)
        It may reach beyond the trace: see :func:`bounded`.
    """
    low, high = window
    return about - (about - low) * factor, about + (high - about) * factor


def moved(window: Window, share: float) -> tuple[float, float]:
    """Return a window moved by a share of its length.

    Parameters
    ----------
    window : Window
        Nanoseconds.
    share : float
        Negative: towards the beginning.

    Returns
    -------
    (float, float)
        It may reach beyond the trace: see :func:`bounded`.
    """
    step = share * (window[1] - window[0])
    return window[0] + step, window[1] + step


def flight_between(begin: Window, end: Window) -> Flight:
    """Return the flight from one window to another; :func:`window_on` reads it.

    Parameters
    ----------
    begin, end : (int, int)
        Nanoseconds.

    Returns
    -------
    Flight

    Examples
    --------
    >>> window_on(flight_between((0, 100), (4000, 8000)), 1.0)
    (4000, 8000)
    """
    from ..layout.sight.flight import Flight

    sizes = [max(b - a, 1) for a, b in (begin, end)]
    middles = [[(a + b) / 2] for a, b in (begin, end)]
    return Flight.between(middles[0], sizes[0], middles[1], sizes[1])


def window_on(path: Flight, share: float) -> Window:
    """Return the window at a share of the way, 0 to 1.

    Parameters
    ----------
    path : Flight
        As :func:`flight_between` makes it.
    share : float
        Of the way.

    Returns
    -------
    (int, int)
        Nanoseconds.
    """
    middle, width = path.at(share)
    return round(middle[0] - width / 2), round(middle[0] + width / 2)


def span_of(trace: Trace, calls: ArrayLike) -> Window:
    """Return the first start and the last end of some calls, int (n,), of a trace; at least one.

    Parameters
    ----------
    trace : Trace
    calls : int (n,)
        Their indices.

    Returns
    -------
    (int, int)
        Nanoseconds.
    """
    which = np.asarray(calls, np.int64)
    return int(trace.calls.start[which].min()), int(trace.calls.end[which].max())


class Clock(Protocol):
    """Converts between times and places along a :class:`TimeAxis`, as a share of it from 0 to 1."""

    def window(self, source: int) -> tuple[int, int]:
        """Return the window of one of the view's traces, in nanoseconds."""
        ...

    def time_at(self, source: int, share: float) -> int:
        """Return the nanosecond at a share of the axis.

        Parameters
        ----------
        source : int
            Which of the view's traces.
        share : float
            0 where the axis begins, 1 where it ends.

        Returns
        -------
        int
        """
        ...

    def share_at(self, source: int, time: int) -> float:
        """Return where a nanosecond lies.

        Parameters
        ----------
        source : int
            Which of the view's traces.
        time : int
            Nanoseconds.

        Returns
        -------
        float
            0 where the axis begins, 1 where it ends.
        """
        ...

    def describe(self, source: int, share: float, around: float) -> Description:
        """Return the description of a place on the surface around the axis.

        Parameters
        ----------
        source : int
            Which of the view's traces.
        share : float
            Along the axis, 0 to 1.
        around : float
            Around it, 0 to 1 of the section.

        Returns
        -------
        Description
        """
        ...


@dataclass(frozen=True)
class TimeAxis:
    """An axis of time of any direction, with a surface around it on which one can point at moments.

    Attributes
    ----------
    kind : str
        Kind of the lines that show the surface's section: the first where time begins, the second at its end.
    clock : callable
        ``clock(traces, parameters) -> Clock``
    is_solid : callable
        ``is_solid(parameters)``: whether the surface is met from outside, not seen from within.
    """

    kind: str
    clock: Callable[[Sequence[Trace], Any], Clock]
    is_solid: Callable[[Mapping[str, Any]], bool]


@cached_with_traces(most=4)
def clock_of(traces: Sequence[Trace], axis: TimeAxis, parameters: type, values: Values) -> Clock:
    """Return the clock of a view's axis of time; those requested last are kept.

    Parameters
    ----------
    traces : list of Trace
    axis : TimeAxis
        That the view declares.
    parameters : type
        Those that the view declares.
    values : Values
        Of the parameters.

    Returns
    -------
    Clock

    Raises
    ------
    TraceVisError
        If the view can't be drawn with these values.
    """
    return axis.clock(traces, read(parameters, dict(values)))
