"""Shots in which time runs: its ramps of speed, and threads that play at paces of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Boxes, Drawing, Element, Image, Tubes
from ...errors import UsageError
from ...trace.model import Trace
from ...trace.names import named_threads

Floats = NDArray[np.float64]
Range = tuple[int, int]

#: How much longer slow times take, in what share of the time the speed changes, and in how many steps.
SLOWER, _RAMP, _STEPS = 4.0, 0.04, 400


def played(window: Range, part: Range | None, slow: Range | None, shares: Floats | float) -> Floats:
    """Return when it is in a trace at shares of a shot.

    Parameters
    ----------
    window : (int, int)
        From when to when the trace lasts, in nanoseconds.
    part : (int, int) or None
        From when to when it plays; None: all of it.
    slow : (int, int) or None
        From when to when it plays at a quarter of the speed, with ramps before and behind.
    shares : float64 (n,) or float
        0 to 1.

    Returns
    -------
    float64 (n,)
        Shares of ``window``; never less than those before.

    Examples
    --------
    >>> played((0, 1000), None, None, 0.25)
    array(0.25)
    >>> [round(float(at), 2) for at in played((0, 1000), None, (500, 1000), np.array([0.2, 0.6, 1.0]))]
    [0.49, 0.75, 1.0]
    """
    low, high = part or window
    grid = np.linspace(low, high, _STEPS + 1)
    if slow is not None:
        # Both ends of a range that is shorter than a step are seen, too.
        grid = np.union1d(grid, np.clip(np.linspace(*slow, _STEPS // 4), low, high))
        away = np.maximum(np.maximum(slow[0] - grid, grid - slow[1]), 0.0)
        taken = SLOWER - (SLOWER - 1.0) * np.minimum(away / (_RAMP * max(high - low, 1)), 1.0)
    else:
        taken = np.ones(len(grid))
    reached = np.append(0.0, np.cumsum((taken[1:] + taken[:-1]) / 2 * np.diff(grid)))
    time = np.interp(np.asarray(shares, np.float64) * reached[-1], reached, grid)
    return np.clip((time - window[0]) / max(window[1] - window[0], 1), 0.0, 1.0)


def paced(drawing: Drawing, traces: Sequence[Trace], paces: Sequence[tuple[str, float]]) -> Drawing:
    """Let the calls of each thread appear at a pace of its own.

    Parameters
    ----------
    drawing : Drawing
    traces : sequence of Trace
        Those that are drawn.
    paces : sequence of (str, float)
        Names or ids of threads, ``*`` represents anything, and how many times as fast as others they are.

    Returns
    -------
    Drawing
        The slowest threads take all of the time, others wait at its end. What belongs to no thread comes with
        the slowest.

    Raises
    ------
    UsageError
        If no thread is called so.
    """
    if not paces:
        return drawing
    pace = [np.ones(len(trace.threads)) for trace in traces]
    for name, factor in paces:
        found, missing = 0, ""
        for trace, its in zip(traces, pace):
            try:
                threads = named_threads(trace, name, "paces")
            except UsageError as error:
                missing = str(error)
                continue
            its[threads] = factor
            found += len(threads)
        if not found:
            raise UsageError(missing)
    slowest = min(float(its.min()) for its in pace if len(its))
    late = [slowest / its[trace.calls.thread] for trace, its in zip(traces, pace)]
    return replace(drawing, elements=tuple(_paced(drawing, element, late) for element in drawing.elements))


def _paced(drawing: Drawing, element: Element, late: Sequence[Floats]) -> Element:
    """Return an element whose items come at shares ``late`` (calls,) of the times that they have."""
    if not isinstance(element, (Boxes, Tubes)) or not len(element.time):
        return element
    calls = drawing.calls_of(element)
    of = late[min(element.source, len(late) - 1)]
    if calls is None or not len(of):
        return element
    inside = (calls >= 0) & (calls < len(of))
    factor = np.where(inside, of[np.where(inside, calls, 0)], 1.0)
    time = (element.time * (factor[:, None] if element.time.ndim == 2 else factor)).astype(np.float32)
    if isinstance(element, Tubes):
        return replace(element, time=time)
    # Its times are no nanoseconds of the trace any more.
    return replace(element, time=time, window=None)


def is_timed(drawing: Drawing) -> bool:
    """Return whether anything in a drawing appears as its time runs."""
    return any(isinstance(e, (Boxes, Tubes, Image)) and len(e.time) for e in drawing.elements)
