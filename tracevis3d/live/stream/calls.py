"""The calls of each thread as they end, short ones merged, and those that are open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.live import live_bars as f
from ..growing import GrowingTrace

#: Maximum number of open calls of a thread tracked until they end, from the outside in.
_MOST_WATCHED = 4096
#: Rows of one thread in one tick; calls of one thread that are looked at in one.
_MOST_ROWS, _MOST_CALLS = 1 << 15, 1 << 18


@dataclass(frozen=True, eq=False)
class Ended:
    """Calls of a thread that have ended; short ones are merged.

    Attributes
    ----------
    time : int64 (n, 2)
        Start and end, in the trace's nanoseconds.
    level, kind, count, function : int32 (n,)
        Depth from 0; colour kind; number of merged calls, 0 for a row that is one call; the function, of the
        longest call if several are merged.
    """

    time: NDArray[np.int64]
    level: NDArray[np.int32]
    kind: NDArray[np.int32]
    count: NDArray[np.int32]
    function: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.level)


class CallStream:
    """The calls of all threads, as they end.

    Parameters
    ----------
    growing : GrowingTrace
    kind_of : callable
        Returns the colour kind of a function, given its name.
    levels : int
        Number of levels; deeper calls are only counted.
    """

    def __init__(self, growing: GrowingTrace, kind_of: Callable[[str], int], levels: int) -> None:
        self._growing, self._kind_of, self.levels = growing, kind_of, levels
        self._kinds = np.zeros(256, np.int32)
        self._functions = 0
        self._runs: dict[int, NDArray[np.int64]] = {}
        self._asked: dict[int, int] = {}
        self._time = np.empty((_MOST_ROWS, 2), np.int64)
        self._what = np.empty((_MOST_ROWS, 4), np.int32)

    @property
    def deeper(self) -> int:
        """Number of calls deeper than ``levels``."""
        return self._sum(f.DEEPER)

    @property
    def lost(self) -> int:
        """Number of rows that are not shown because too many came at once."""
        return self._sum(f.FULL)

    def _sum(self, place: int) -> int:
        return sum(int(self._growing.calls_of_threads()[t].view_state[place]) for t in self._runs)

    def learn(self) -> None:
        """Look up the kinds of new functions."""
        for name in self._growing.functions(self._functions):
            if self._functions >= len(self._kinds):
                self._kinds = np.concatenate([self._kinds, np.zeros_like(self._kinds)])
            self._kinds[self._functions] = self._kind_of(name)
            self._functions += 1

    @property
    def kinds(self) -> NDArray[np.int32]:
        """The kind of each function, int32 (m,); m is at least the number of functions."""
        return self._kinds

    def relearn(self) -> None:
        """Look up the kinds of all functions again."""
        self._functions = 0
        self.learn()

    def has_news(self, thread: int) -> bool:
        """Return whether a thread has new or open calls since the last time."""
        calls = self._growing.calls_of_threads()[thread]
        if self._asked.get(thread, 0) != calls.begun:
            self._asked[thread] = calls.begun
            return True
        if thread in self._runs and calls.is_behind:
            return True
        return calls.top >= 0 or int(calls.view_state[f.WATCHED]) > 0

    def advance(self, thread: int, cell_ns: int, since: int) -> Ended:
        """Return the calls of a thread that have ended since the last time.

        Parameters
        ----------
        thread : int
        cell_ns : int
            Nanoseconds: shorter calls are merged.
        since : int
            The first time: only what ended after this, in the trace's nanoseconds.

        Returns
        -------
        Ended
        """
        calls = self._growing.calls_of_threads()[thread]
        if thread not in self._runs:
            self._runs[thread] = np.zeros((self.levels, 5), np.int64)
            calls.begin_view(since, _MOST_WATCHED)
        merge: Any = f.merge_calls
        parts = []
        # Rows from before the view was opened are processed in several ticks.
        for segment, _, last in calls.unseen(_MOST_CALLS):
            top = segment.top if last == segment.count else int(segment.parent[last])
            n = merge(
                calls.watch, calls.view_state, last, top, np.int64(cell_ns), self.levels, *segment.columns,
                self._kinds, self._runs[thread], self._time, self._what,
            )  # fmt: skip
            parts.append((self._time[:n].copy(), self._what[:n].copy()))
        time, what = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Ended(time, *(np.ascontiguousarray(what[:, i]) for i in range(4)))

    def open(self, thread: int, now: int) -> Ended:
        """Return the open calls of a thread, and the short calls that are still being merged.

        Parameters
        ----------
        thread : int
        now : int
            The end given to open calls, in the trace's nanoseconds.

        Returns
        -------
        Ended
        """
        calls = self._growing.calls_of_threads()[thread]
        run = self._runs.get(thread)
        segment = calls.at_view()
        function, start = segment.function, segment.start
        chain = calls.watch[: int(calls.view_state[f.WATCHED])]
        chain = chain[: self.levels]
        level = np.arange(len(chain), dtype=np.int32)
        level, chain = level[chain >= 0], chain[chain >= 0]
        which = function[chain]
        time = np.stack([start[chain], np.full(len(chain), now)], axis=1).astype(np.int64)
        if run is None:
            return Ended(time, level, self._kinds[which], np.zeros(len(chain), np.int32), which)
        building = np.flatnonzero(run[:, 2] > 0)
        others = run[building]
        return Ended(
            np.concatenate([time, others[:, :2]]),
            np.concatenate([level, building.astype(np.int32)]),
            np.concatenate([self._kinds[which], self._kinds[others[:, 3]]]),
            np.concatenate([np.zeros(len(chain)), others[:, 2]]).astype(np.int32),
            np.concatenate([which, others[:, 3]]).astype(np.int32),
        )
