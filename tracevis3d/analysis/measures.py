"""The measures of a call, for a view's third axis and its colours, and of memory.

The number of calls in a call's subtree is ``Calls.extent``; the others are here, each in linear time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.trace.measures import add_outermost, fill_self_times
from ..trace.cached_results import cached_with_trace
from ..trace.model import ALLOC, FREE, Calls, Memory, Trace
from .subtrees import Subtrees


def self_times(calls: Calls) -> NDArray[np.int64]:
    """Return the duration of each call without its children's: int64 (n,), nanoseconds, never negative."""
    result = np.empty(len(calls), np.int64)
    fill_self_times(calls.parent, calls.start, calls.end, result)
    return result


def repetitions(subtrees: Subtrees, which: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.int64]:
    """Return how many calls of the trace have the same subtree as each of ``which``, itself included.

    So often the program did just the same, wherever. It depends on the distinct subtree alone: equal
    subtrees stand equally high in a picture. Int64 of the shape of ``which``; costs no more than that.

    Parameters
    ----------
    subtrees : Subtrees
        Of the trace.
    which : int64 (k,) or slice
        Calls; all by default.

    Returns
    -------
    int64 (k,)
    """
    return np.asarray(subtrees.occurrences[subtrees.of_call[which]])


def allocated_below(calls: Calls, memory: Memory) -> NDArray[np.int64]:
    """Return the bytes allocated by each call and the calls below it: int64 (n,).

    What was freed again counts too; allocations of no known call don't. 0 for all if ``memory`` is empty.

    Parameters
    ----------
    calls : Calls
        In pre-order.
    memory : Memory
        The trace's allocations and frees; ``kind``, ``call`` and ``size`` are read.

    Returns
    -------
    int64 (n,)
        Bytes.
    """
    allocated = memory.kind == ALLOC
    before = np.zeros(len(calls) + 1, np.int64)
    # Allocations of no known call (-1) lie before the first one, so they are part of no difference.
    np.add.at(before, memory.call[allocated] + 1, memory.size[allocated])
    np.cumsum(before, out=before)
    first = np.arange(len(calls))
    return np.asarray(before[first + calls.extent] - before[first])


@cached_with_trace()
def self_time_of(trace: Trace) -> NDArray[np.int64]:
    """Return the self time of each call, int64 (calls,), nanoseconds; kept with the trace."""
    return self_times(trace.calls)


def sums_of(trace: Trace, calls: NDArray[np.int64]) -> tuple[int, int]:
    """Return the durations and the self times of some calls, summed up, in nanoseconds.

    Parameters
    ----------
    trace : Trace
    calls : int64 (n,)
        Those that the trace doesn't have are left out.

    Returns
    -------
    (int, int)
    """
    own = calls[(calls >= 0) & (calls < len(trace.calls))]
    duration = trace.calls.end[own] - trace.calls.start[own]
    return int(duration.sum()), int(self_time_of(trace)[own].sum())


@cached_with_trace()
def self_time_by_function(trace: Trace) -> NDArray[np.float64]:
    """Return the self time of each function in all its calls, float64 (functions,), nanoseconds; kept."""
    total = np.bincount(trace.calls.function, self_time_of(trace), len(trace.functions))
    return total.astype(np.float64)


@cached_with_trace()
def total_time_by_function(trace: Trace) -> NDArray[np.int64]:
    """Return how long each function runs, with all that it calls, in nanoseconds; kept with the trace.

    A call within another of the same function adds nothing: that time is counted already.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    int64 (functions,)
        All threads together.
    """
    calls, total = trace.calls, np.zeros(len(trace.functions), np.int64)
    until = np.zeros(len(trace.functions), np.int64)
    add_outermost(calls.function, calls.extent, calls.start, calls.end, until, total)
    return total


@cached_with_trace()
def allocated_of(trace: Trace) -> NDArray[np.int64]:
    """Return the bytes allocated in the subtree of each call, int64 (calls,); kept with the trace."""
    return allocated_below(trace.calls, trace.memory)


@cached_with_trace()
def calls_by_function(trace: Trace) -> NDArray[np.int64]:
    """Return how many calls each function has, int64 (functions,); kept with the trace."""
    return np.bincount(trace.calls.function, minlength=len(trace.functions))


def bytes_alive(memory: Memory) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the bytes that are allocated after each allocation and each free.

    A free ends the allocation of its address before it; so does another allocation there. Linear, but for
    sorting by address.

    Parameters
    ----------
    memory : Memory
        ``address`` is to be known.

    Returns
    -------
    time : int64 (n,)
        Nanoseconds, never descending.
    bytes : float64 (n,)
    """
    rows = np.flatnonzero((memory.kind == ALLOC) | (memory.kind == FREE))
    order = np.argsort(memory.address[rows], kind="stable")
    address, kind = memory.address[rows][order], memory.kind[rows][order]
    size = np.where(kind == ALLOC, memory.size[rows][order], 0).astype(np.float64)
    ended = np.zeros(len(rows))
    ended[1:] = np.where(address[1:] == address[:-1], size[:-1], 0.0)
    change = np.empty(len(rows))
    change[order] = size - ended
    return memory.time[rows].astype(np.int64), np.cumsum(change)
