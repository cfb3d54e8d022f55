"""Ticks of a ruler along calls: of time, of what a profile without times weighs, or of events."""

from __future__ import annotations

from ...layout import ticks
from ...trace import profile
from ...trace.model import Trace


def ruler_ticks(
    trace: Trace, window: tuple[int, int], most: int, largest: int = 0
) -> tuple[ticks.Ticks, str]:
    """Return round ticks for a window of a trace, and what they measure.

    Parameters
    ----------
    trace : Trace
    window : (int, int)
        Nanoseconds; where the trace has no times they stand for weights or events.
    most : int
        The largest number of labelled ticks, about.
    largest : int
        The largest time of rulers beside this one: all are in one unit.

    Returns
    -------
    Ticks
        ``at`` in nanoseconds; without ``unit`` where they are no times.
    str
        Such as ``time``.
    """
    kind = profile.length_kind(trace)
    if not kind or kind.endswith("(ns)"):
        return ticks.time_ticks(*window, most, largest), profile.length_word(trace)
    per_ns = profile.length_per_ns(trace)
    steps = ticks.byte_steps if kind.endswith("(bytes)") else ticks.rounds
    at = steps(window[0] * per_ns, window[1] * per_ns, most)
    text = tuple(profile.weighed(kind, weight) for weight in at)
    return ticks.Ticks(tuple(weight / per_ns for weight in at), text), profile.length_word(trace)
