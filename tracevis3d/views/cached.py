"""What views compute of a trace once and keep as long as the trace is kept."""

from __future__ import annotations

import weakref
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.compact import CompactTrace, compact
from ..analysis.measures import allocated_below, self_times
from ..analysis.subtrees import Subtrees, distinct_subtrees
from ..layout.cut import CutIndex
from ..trace.model import Trace

#: Pixels of the picture that areas are estimated for.
_OVERVIEW = 2000


class Derived:
    """Measures and indices of a trace; each is computed when it is first asked for, in linear time."""

    def __init__(self, trace: Trace) -> None:
        # The parts, not the trace: it is the key of the table of these, and must be free to go.
        self._calls = trace.calls
        self._threads = trace.threads
        self._functions = len(trace.functions)
        #: What others compute of the trace and want to find again.
        self.kept: dict[tuple[str, int], Any] = {}
        self._memory = trace.memory

    @cached_property
    def index(self) -> CutIndex:
        """The level-of-detail index."""
        return CutIndex.of(self._calls, self._threads.first, self._threads.count)

    @cached_property
    def subtrees(self) -> Subtrees:
        """The distinct subtrees."""
        return distinct_subtrees(self._calls)

    @cached_property
    def graph(self) -> CompactTrace:
        """The compact trace."""
        return compact(self._calls, self._threads, self.subtrees)

    @cached_property
    def self_time(self) -> NDArray[np.int64]:
        """Nanoseconds in each call itself, int64 (n,)."""
        return self_times(self._calls)

    @cached_property
    def allocated(self) -> NDArray[np.int64]:
        """Bytes allocated in the subtree of each call, int64 (n,)."""
        return allocated_below(self._calls, self._memory)

    @cached_property
    def self_by_function(self) -> NDArray[np.float64]:
        """Nanoseconds of self time of each function, float64 (functions,)."""
        return np.bincount(self._calls.function, self.self_time, self._functions).astype(np.float64)

    @cached_property
    def area_by_function(self) -> NDArray[np.float64]:
        """How much of an icicle of the whole trace each function's boxes fill, float64 (functions,).

        It doesn't depend on the window that a view shows, so that colours chosen by it stay when one zooms.
        """
        calls, span = self._calls, int(self._calls.end.max(initial=0))
        cut = self.index.cut(0, span + 1, resolution_ns=span / _OVERVIEW)
        ids, clusters = cut.calls, cut.clusters
        area = np.zeros(self._functions)
        area += np.bincount(calls.function[ids], calls.end[ids] - calls.start[ids], self._functions)
        levels = clusters.bottom - clusters.depth + 1
        area += np.bincount(
            calls.function[clusters.longest], (clusters.end - clusters.start) * levels, self._functions
        )
        return area

    @cached_property
    def allocated_by_position(self) -> NDArray[np.float32]:
        """Bytes allocated in the subtree of the call at each position of the index, rounded."""
        return self.allocated[self.index.order].astype(np.float32)

    @cached_property
    def call_span(self) -> tuple[int, int]:
        """Start of the first call and end of the last, in nanoseconds; (0, 0) without calls."""
        index = self.index
        starts, ends = [], []
        for t in range(len(self._threads)):
            base = int(index.thread_level[t])
            if base + 1 < int(index.thread_level[t + 1]):
                low, high = (int(p) for p in index.level_first[base : base + 2])
                starts.append(int(index.begin[low]))
                ends.append(int(self._calls.end[index.order[high - 1]]))
        return (min(starts), max(ends)) if starts else (0, 0)

    def busy(self, window: tuple[int, int]) -> NDArray[np.int64]:
        """Return the nanoseconds that each thread spends in calls within ``window``, int64 (threads,).

        A thread whose calls there all have no duration gets 1, so that it counts as busy.
        """
        index = self.index
        busy = np.zeros(len(self._threads), np.int64)
        for t in range(len(busy)):
            base = int(index.thread_level[t])
            if base + 1 == int(index.thread_level[t + 1]):
                continue
            low, high = (int(p) for p in index.level_first[base : base + 2])
            # Root calls don't overlap, so only those at the window's two ends reach out of it.
            first = low + max(int(np.searchsorted(index.begin[low:high], window[0], "right")) - 1, 0)
            stop = low + int(np.searchsorted(index.begin[low:high], window[1], "left"))
            if first < stop and self._calls.end[index.order[first]] < window[0]:
                first += 1
            if first >= stop:
                continue
            inside = float(np.sum(index.length[first:stop], dtype=np.float64))
            inside -= max(window[0] - int(index.begin[first]), 0)
            inside -= max(int(self._calls.end[index.order[stop - 1]]) - window[1], 0)
            busy[t] = max(round(inside), 1)
        return busy


_derived: weakref.WeakKeyDictionary[Trace, Derived] = weakref.WeakKeyDictionary()


def derived(trace: Trace) -> Derived:
    """Return what is known of ``trace`` beyond its columns."""
    if trace not in _derived:
        _derived[trace] = Derived(trace)
    return _derived[trace]
