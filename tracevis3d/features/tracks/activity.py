"""What threads do at each moment: which call runs, who is within a call, who waits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...analysis.measures import bytes_alive
from ...trace.cached_results import cached_with_trace
from ...trace.model import WAIT, Memory, Trace
from .series import Ints, Steps, held


@dataclass(frozen=True, eq=False)
class Segments:
    """Times between two events of a thread, in which one call is the innermost.

    Attributes
    ----------
    start, end : int64 (n,)
        Nanoseconds.
    call : int64 (n,)
    """

    start: Ints
    end: Ints
    call: Ints

    def only(self, which: NDArray[np.bool_]) -> Segments:
        """Return some of them, bool (n,)."""
        return Segments(self.start[which], self.end[which], self.call[which])


@cached_with_trace()
def innermost_calls(trace: Trace) -> Segments:
    """Return when which call is the innermost of its thread, in linear time and without sorting.

    Calls are in pre-order: before call ``i`` of a thread begins, ``i`` calls have begun, and all of them but
    its callers have ended. So the number of events before its begin and before its end follow from its depth.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    Segments
        Thread by thread, in the order of time; those without duration and those within no call are left out.
    """
    calls, n = trace.calls, len(trace.calls)
    number, depth = np.arange(n, dtype=np.int64), calls.depth.astype(np.int64)
    begin, end = 2 * number - depth + 1, 2 * (number + calls.extent) - depth
    time, inside = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    time[begin], inside[begin] = calls.start, number
    time[end], inside[end] = calls.end, calls.parent
    kept = np.flatnonzero((inside[:-1] >= 0) & (time[1:] > time[:-1])) if n else np.empty(0, np.int64)
    return Segments(time[kept], time[kept + 1], inside[kept])


@dataclass(frozen=True, eq=False)
class Waiting:
    """Stretches of time in which a thread waits, or transfers; those of one thread don't overlap.

    Attributes
    ----------
    start, end : int64 (n,)
        Nanoseconds.
    thread : int64 (n,)
    row : int64 (n,)
        The row of ``Trace.sync`` that begins it: the outermost.
    """

    start: Ints
    end: Ints
    thread: Ints
    row: Ints


@cached_with_trace()
def waiting(trace: Trace, kind: int = WAIT) -> Waiting:
    """Return when which thread waits, or transfers: overlapping rows of a thread as one stretch.

    Parameters
    ----------
    trace : Trace
    kind : int
        WAIT or IO; waits that did not block are left out.

    Returns
    -------
    Waiting
    """
    sync = trace.sync
    rows = np.flatnonzero((sync.kind == kind) & (sync.end > sync.start) & (sync.contended != 0))
    start, end, thread = sync.start[rows], sync.end[rows], sync.thread[rows].astype(np.int64)
    order = np.lexsort((-end, start, thread))
    rows, start, end, thread = rows[order], start[order], end[order], thread[order]
    if not len(rows):
        return Waiting(start, end, thread, rows)
    # The latest end so far in the same thread: later threads get an offset of their own.
    span = int(end.max()) + 1
    latest = np.maximum.accumulate(end + thread * span)
    opens = np.ones(len(rows), np.bool_)
    opens[1:] = start[1:] + thread[1:] * span > latest[:-1]
    first = np.flatnonzero(opens)
    until = np.maximum.reduceat(end, first)
    return Waiting(start[first], until, thread[first], rows[first])


@cached_with_trace()
def waiting_calls(trace: Trace) -> NDArray[np.bool_]:
    """Return which calls wait or lie below one that does, bool (calls,).

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    bool (calls,)
    """
    calls, waits = trace.calls, waiting(trace)
    roots = trace.sync.call[waits.row]
    roots = roots[roots >= 0]
    change = np.zeros(len(calls) + 1, np.int64)
    np.add.at(change, roots, 1)
    np.subtract.at(change, roots + calls.extent[roots], 1)
    inside: NDArray[np.bool_] = np.cumsum(change[:-1]) > 0
    return inside


def within_calls(trace: Trace, thread: int | None = None) -> tuple[Ints, Ints]:
    """Return when threads come to be within a call and when they leave it: times, and +1 or -1, int64 (n,).

    Waits within a call count as absence: a thread that waits does not run.

    Parameters
    ----------
    trace : Trace
    thread : int or None
        One thread alone; None: all.

    Returns
    -------
    (int64 (n,), int64 (n,))
    """
    calls, waits = trace.calls, waiting(trace)
    roots = np.flatnonzero(calls.depth == 1)
    stretches = np.flatnonzero(trace.sync.call[waits.row] >= 0)
    if thread is not None:
        roots = roots[calls.thread[roots] == thread]
        stretches = stretches[waits.thread[stretches] == thread]
    plus = np.concatenate([calls.start[roots], waits.end[stretches]])
    minus = np.concatenate([calls.end[roots], waits.start[stretches]])
    time = np.concatenate([plus, minus])
    return time, np.concatenate([np.ones(len(plus), np.int64), np.full(len(minus), -1, np.int64)])


def live_bytes(memory: Memory) -> Steps:
    """Return the bytes that are allocated at each moment.

    Parameters
    ----------
    memory : Memory
        ``address`` is to be known.

    Returns
    -------
    Steps
    """
    return held(*bytes_alive(memory))
