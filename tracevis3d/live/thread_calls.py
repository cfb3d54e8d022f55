"""The calls of one thread of a program that still runs: segments that are filled, and never moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.live import growing_calls as g
from ..kernels.live import live_bars as f
from ..kernels.live.growing_calls import close_calls, find_calls, grow_calls

#: Calls of a thread's first segment, of the largest, and how much larger the next one is. A column of the
#: largest has 2 MiB: what is larger comes from the system in huge pages, milliseconds at a time.
_FIRST, LARGEST, _LARGER = 1 << 12, 1 << 18, 8
#: Freed segments kept for reuse: memory that was already touched is fast.
_SPARE = 4
#: Places of a thread's first index of open calls.
_OPEN = 64

_DTYPES = np.int32, np.int64, np.int32, np.int64, np.int64
Columns = tuple[NDArray[Any], ...]


class Segment:
    """Some calls of a thread in the order of their begins.

    Calls that were open when it began stand in front, as copies of those in the segment before: their ends
    are written here alone.

    Attributes
    ----------
    columns : tuple of array
        Function, parent, depth, start and end, as :func:`.growing_calls.grow_calls` fills them; parents are
        numbers in this segment.
    state : int64
        See :func:`.growing_calls.grow_calls`.
    carried : int
        How many of its calls were open when it began; they are in front.
    began : int
        The thread's latest time when it began, in nanoseconds.
    """

    def __init__(self, columns: Columns, state: NDArray[np.int64], carried: int) -> None:
        self.columns, self.state, self.carried = columns, state, carried
        self.began = int(state[3])
        self.function, self.parent, self.depth, self.start, self.end = columns

    @property
    def count(self) -> int:
        """How many calls it holds, carried ones and others."""
        return int(self.state[1])

    @property
    def top(self) -> int:
        """The innermost open call; -1: none."""
        return int(self.state[0])

    @property
    def room(self) -> int:
        """The number of calls that fit."""
        return len(self.start)


class CallsOfThread:
    """The calls of one thread.

    Parameters
    ----------
    most_of_segment : int
        Calls of a segment, if that is fewer than it would get.

    Attributes
    ----------
    segments : list of Segment
        Oldest first; the last one grows.
    gone : int
        Segments that were forgotten.
    kept : int
        Calls that are there.
    begun : int
        Calls that there ever were.
    watch : int64 (w,)
        Calls of the segment :meth:`at_view` that a live view watches until they end.
    view_state : int64
        State of that view: see :func:`~..kernels.live.live_bars.merge_calls`.
    """

    def __init__(self, most_of_segment: int = LARGEST) -> None:
        self._most = most_of_segment
        state = np.zeros(g.STATE_SIZE, np.int64)
        state[g.TOP] = -1
        state[g.LATEST] = np.iinfo(np.int64).min
        state[g.INDEXED] = -1
        self.segments = [Segment(_columns(min(_FIRST, self._most)), state, 0)]
        self.gone = self.kept = self.begun = 0
        # The index of open calls: see grow_calls.
        self._open_key, self._open_count = np.zeros((2, _OPEN), np.int32)
        self.watch = np.empty(0, np.int64)
        self.view_state = np.zeros(f.STATE_SIZE, np.int64)
        self._viewed = 0
        self._spare: list[Columns] = []

    @property
    def last(self) -> Segment:
        """The segment that grows."""
        return self.segments[-1]

    @property
    def top(self) -> int:
        """The innermost open call, as a number in the last segment; -1: none."""
        return self.last.top

    @property
    def open(self) -> int:
        """The number of open calls."""
        return int(self.last.depth[self.top]) if self.top >= 0 else 0

    @property
    def unmatched(self) -> int:
        """Ends without a begin."""
        return int(self.last.state[2])

    @property
    def mismatched(self) -> int:
        """Calls that the end of an outer one has ended."""
        return int(self.last.state[4])

    @property
    def back(self) -> tuple[int, int]:
        """How often the thread's time went back, and by how many nanoseconds at most."""
        return int(self.last.state[g.BACK]), int(self.last.state[g.FARTHEST_BACK])

    def add(
        self,
        kind: NDArray[np.uint8],
        function: NDArray[np.uint32],
        time: NDArray[np.int64],
        again: bool = False,
    ) -> None:
        """Append begins and ends of calls.

        Parameters
        ----------
        kind : uint8 (n,)
            ``BEGIN`` or ``END`` of :mod:`.protocol`.
        function : uint32 (n,)
            The trace's numbers.
        time : int64 (n,)
            Nanoseconds from the first session's start, in the order in which the events happened.
        again : bool
            Whether they report calls that are open already.
        """
        grow: Any = grow_calls
        at = 0
        while True:
            last = self.last
            before = last.count
            at += grow(
                kind[at:], function[at:], time[at:], again, last.state, self._open_key, self._open_count,
                *last.columns,
            )  # fmt: skip
            self.kept += last.count - before
            self.begun += last.count - before
            if at == len(kind):
                return
            if last.state[g.FULL]:
                self._widen_index()
            else:
                self.begin_segment()

    def _widen_index(self) -> None:
        """Make room for more functions in the index."""
        before, state = (self._open_key, self._open_count), self.last.state
        # Functions without open calls are removed; if there are none, the index doubles its size.
        is_stale = np.count_nonzero(before[1]) < state[g.KNOWN]
        room = len(before[0]) if is_stale else 2 * len(before[0])
        self._open_key, self._open_count = np.zeros((2, room), np.int32)
        rehash: Any = g.rehash_open
        state[g.KNOWN], state[g.FULL] = rehash(*before, self._open_key, self._open_count), 0

    def begin_segment(self) -> None:
        """Add a new segment; open calls continue in it."""
        before = self.last
        room = max(min(_LARGER * before.room, self._most), 4 * self.open, 16)
        columns = self._spare.pop() if self._spare and len(self._spare[-1][0]) == room else _columns(room)
        carry: Any = g.carry_calls
        carried = carry(np.int64(before.top), before.function, before.start, before.parent, *columns)
        state = before.state.copy()
        state[g.TOP], state[g.COUNT] = carried - 1, carried
        if (indexed := int(state[g.INDEXED])) >= 0:
            # What is carried stands in the order of its depth.
            state[g.INDEXED] = before.depth[indexed] - 1
        self.segments.append(Segment(columns, state, carried))

    def close_all(self) -> int:
        """End all open calls at the thread's latest time; return how many there were."""
        last = self.last
        self._open_key, self._open_count = np.zeros((2, _OPEN), np.int32)
        last.state[g.KNOWN], last.state[g.INDEXED] = 0, -1
        return int(close_calls(last.state, last.parent, last.end))

    def forget(self) -> int:
        """Drop the oldest of several segments except for open calls; return how many calls were dropped."""
        first = self.segments.pop(0)
        went = first.count - self.segments[0].carried
        self.gone += 1
        self.kept -= went
        if first.room == self.last.room and len(self._spare) < _SPARE:
            self._spare.append(first.columns)
        return went

    def reaching(self, since: int) -> list[Segment]:
        """Return the segments with all calls that end after a time, and the calls around them."""
        first = len(self.segments) - 1
        while first > 0 and self.segments[first].began >= since:
            first -= 1
        return self.segments[first:]

    def around(self, time: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the function of the innermost call at each time, int64 (n,); -1 where there was none."""
        found = np.full(len(time), -1)
        find: Any = find_calls
        began = [segment.began for segment in self.segments]
        began[0] = np.iinfo(np.int64).min
        which = np.searchsorted(began, time, "right") - 1
        left = set(np.unique(which).tolist())
        while left:
            number = max(left)
            left.remove(number)
            mine = np.flatnonzero(which == number)
            segment = self.segments[number]
            at = np.searchsorted(segment.start[: segment.count], time[mine], "right") - 1
            if number:
                # The innermost one may have ended at the very moment at which the segment began.
                before = (time[mine] == segment.began) & (at < segment.carried)
                which[mine[before]] -= 1
                left.update(which[mine[before]].tolist())
                mine, at = mine[~before], at[~before]
            out = np.empty(len(at), np.int64)
            find(at, time[mine], segment.function, segment.parent, segment.end, out)
            found[mine] = out
        return found

    # -- what a live view has seen ------------------------------------------------------------------------

    def begin_view(self, since: int, watched: int) -> None:
        """Begin a view with what ended, or is open, after a time.

        Parameters
        ----------
        since : int
            Nanoseconds from the first session's start.
        watched : int
            Maximum number of open calls watched until they end, from the outside in.
        """
        segment = self.reaching(since)[0]
        self._viewed = self.gone + self.segments.index(segment)
        self.watch = np.full(watched, -1)
        self.view_state[:] = 0
        first = int(np.searchsorted(segment.start[: segment.count], since))
        chain, at = [], first - 1
        while at >= 0:
            chain.append(at)
            at = int(segment.parent[at])
        chain = chain[::-1][:watched]
        self.watch[: len(chain)] = chain
        self.view_state[f.SEEN], self.view_state[f.WATCHED] = first, len(chain)

    def at_view(self) -> Segment:
        """Return the segment that the view is at."""
        if self._viewed < self.gone:
            # Calls that it had not seen yet are skipped.
            self._viewed = self.gone
            self.view_state[f.SEEN] = self.view_state[f.WATCHED] = 0
        return self.segments[self._viewed - self.gone]

    @property
    def is_behind(self) -> bool:
        """Whether there are calls that the view has not seen."""
        segment = self.at_view()
        return segment is not self.last or int(self.view_state[f.SEEN]) < segment.count

    def unseen(self, most: int) -> Iterator[tuple[Segment, int, int]]:
        """Yield segments with the calls that the view has not seen.

        The caller sets ``view_state[live_bars.SEEN]``; at the end of a segment the next one follows.

        Parameters
        ----------
        most : int
            Maximum number of calls in all.

        Yields
        ------
        segment : Segment
        first, last : int
            The numbers of the calls in it, without ``last``.
        """
        while True:
            segment = self.at_view()
            first = int(self.view_state[f.SEEN])
            last = min(segment.count, first + most)
            yield segment, first, last
            most -= last - first
            if last < segment.count or segment is self.last:
                return
            self._viewed += 1
            following = self.at_view()
            watched = min(following.carried, len(self.watch))
            self.watch[:watched] = np.arange(watched)
            self.view_state[f.WATCHED], self.view_state[f.SEEN] = watched, following.carried


def _columns(room: int) -> Columns:
    return tuple(np.empty(room, dtype) for dtype in _DTYPES)
