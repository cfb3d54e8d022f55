"""The window of time that a view shows, from what a user writes."""

from __future__ import annotations

from ..errors import UsageError
from ..trace.model import Trace
from ..units import duration, read_time
from .cached import derived


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
