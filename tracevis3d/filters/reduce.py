"""The trace without the calls that a filter stack hides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..kernels.tree.filters import keep_calls
from ..trace.model import Calls, Trace
from .stack import HIDDEN, FilterResult


def reduced(trace: Trace, filtered: FilterResult) -> Trace:
    """Return the trace without its hidden calls, in linear time.

    Callees of a hidden call that aren't hidden themselves move up to the nearest caller that is left. Times
    stay as they are. Waits, memory and arrows of hidden calls go to that caller too. Functions and threads
    keep their numbers.

    Parameters
    ----------
    trace : Trace
        It stays as it is.
    filtered : FilterResult
        What a filter stack makes of it.

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If no call is left.
    """
    calls = trace.calls
    keep = filtered.state != HIDDEN
    n = int(np.count_nonzero(keep))
    if len(calls) and not n:
        raise InputError("the filters hide every call: remove one, or let it hide less")
    new = np.empty(len(calls), np.int64)  # the call itself if it is kept, else its nearest kept caller
    parent, extent = np.empty(n, np.int64), np.zeros(n, np.int64)
    depth = np.empty(n, np.int32)
    keep_calls(np.ascontiguousarray(calls.parent), keep.view(np.uint8), new, parent, depth, extent)
    kept = Calls(
        function=calls.function[keep],
        parent=parent,
        depth=depth,
        start=calls.start[keep],
        end=calls.end[keep],
        extent=extent,
        thread=calls.thread[keep],
        record=calls.record[keep] if len(calls.record) else calls.record,
    )
    count = np.bincount(kept.thread, minlength=len(trace.threads)).astype(np.int64)
    threads = replace(trace.threads, first=np.cumsum(count) - count, count=count)

    def moved(call: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(call >= 0, new[call], -1) if len(new) else call

    return replace(
        trace,
        calls=kept,
        threads=threads,
        sync=replace(trace.sync, call=moved(trace.sync.call)),
        memory=replace(trace.memory, call=moved(trace.memory.call)),
        flows=replace(
            trace.flows,
            source=moved(trace.flows.source),
            target=moved(trace.flows.target),
        ),
    )
