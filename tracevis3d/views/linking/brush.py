"""The elements outside a brushed range of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...drawing.links import Ints
from .lit import Mesh, TraceOf


def left_out(
    mesh: Mesh, keys: Sequence[str], ranges: Mapping[str, tuple[int, int]], trace_of: TraceOf
) -> Ints:
    """Return the elements between traces of which an end is not in the range of its trace.

    Parameters
    ----------
    mesh : Mesh
    keys : sequence of str
        The keys of the view's traces.
    ranges : mapping
        Key of a trace -> the range of its time, in nanoseconds; other traces leave nothing out.
    trace_of : callable
        ``trace_of(key)``: the trace, None if it is not in memory.

    Returns
    -------
    int64 (k,)
        Ascending; none where the elements lead to calls of one trace alone.
    """
    out = np.zeros(len(mesh.id), np.bool_)
    if len(mesh.calls) < 2:
        return np.flatnonzero(out)
    for source, calls in mesh.calls.items():
        key = keys[source] if source < len(keys) else ""
        trace = trace_of(key) if key in ranges else None
        if trace is not None and len(trace.calls):
            known = np.clip(calls, 0, len(trace.calls) - 1)
            low, high = ranges[key]
            within = (trace.calls.start[known] <= high) & (trace.calls.end[known] >= low)
            out |= (calls < 0) | ~within
    return np.flatnonzero(out)
