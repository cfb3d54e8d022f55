"""The window of time that a view shows, from what a user writes."""

from __future__ import annotations

import re

from ..errors import UsageError
from ..layout.ticks import TIME_UNITS, duration
from ..trace.model import Trace
from .derived import derived

_NS_PER = {**dict(TIME_UNITS), "us": 1_000, "μs": 1_000, "": 1_000_000}
_TIME = re.compile(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*([a-zµμ]*)\s*")


def read_time(name: str, text: str) -> int:
    """Return the nanoseconds that ``text`` stands for: ``1.5s``, ``300 ns``; a bare number is in ms.

    Raises
    ------
    UsageError
        If it is no such time; ``name`` is the parameter that it was given for.
    """
    match = _TIME.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        value = float(match[1]) * _NS_PER[match[2]]
        if not abs(value) < 2**62:
            raise ValueError
        return round(value)
    except (ValueError, KeyError):
        raise UsageError(
            f"{name}={text}: a time is wanted, such as 1.5s, 20ms or 300ns (a bare number is in ms)"
        ) from None


def time_window(trace: Trace, start: str, end: str) -> tuple[int, int]:
    """Return the window of ``trace`` from ``start`` to ``end`` in nanoseconds.

    An empty text means the start of the first call, or the end of the last.

    Raises
    ------
    UsageError
        If a text is no time, or the window is empty or outside the trace.
    """
    last = max(trace.span_ns, 1)
    first_call, last_call = derived(trace).call_span
    low = max(read_time("start", start), 0) if start.strip() else first_call
    high = min(read_time("end", end), last) if end.strip() else max(last_call, low + 1)
    if low >= last and start.strip():
        raise UsageError(f"start={start}: the trace ends at {duration(trace.span_ns)}")
    if high <= low:
        raise UsageError(f"end={end}: the end must be after the start, {duration(low)}")
    return low, high
