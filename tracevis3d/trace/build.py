"""Calls from events, in linear time.

The rules, for each thread by itself:

BEGIN and END
    are taken in the order of their times, those of equal time in the order of the file. An END with a
    name closes the innermost open call of that name, and with it the calls inside ("mismatched end",
    unless these get an END of their own at the same time: then only the order of equal times was off).
    An END whose name is not open is left out ("unmatched end"), but where a BEGIN of the same name and
    time follows that nothing else closes, the two are a call of no duration. An END without a name
    closes the innermost open BEGIN. A BEGIN that is never closed ends with the last time of its thread
    ("unmatched begin"). An END closes no COMPLETE call.
COMPLETE
    calls are nested by their intervals: of those that start together the longer is the outer one. Of
    equal intervals the earlier in the file is the outer one; in a thread that is written in the order of
    the ends (children before parents) it is the later. A call that outlasts the one it started in is cut
    at that one's end ("overlap"). One that ends before it starts has no duration ("negative duration").
No duration
    A call of no duration holds no COMPLETE call. At the moment where another call starts it is inside if
    it comes later in the file, else before it; at the moment where another ends it is behind it. In a
    thread that is written in the order of the ends it is inside what starts with it, and inside what ends
    with it and is written later, unless calls overlap there.
Both kinds on one thread
    BEGINs and ENDs are matched first; the calls are then nested by their intervals.

Threads in the order of begins (logs of BEGIN and END, Chromium's COMPLETE) are built in one pass over the
stream, those of COMPLETE events in the order of their ends (VizTracer) in two, without sorting. What
remains is split into an ascending part and the rest; only the rest is sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..kernels.trace import build_calls as kernels
from ..kernels.trace.build_calls import find_innermost
from .events import COMPLETE, END, Events
from .model import Calls
from .problems import Problems

#: Events that are looked at together where all at once would need as much memory again.
_PIECE = 1 << 20
#: Threads that are sorted together have no more events than this, or than one of so many parts of all.
_SORTED, _PARTS = 1 << 22, 8
Ints = NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Built:
    """What :func:`build_calls` returns.

    Attributes
    ----------
    calls : Calls
    first, count : int64 (threads,)
        The calls of thread ``t`` are the slice ``[first[t], first[t] + count[t])``.
    call_of_event : int64 (events,) or None
        The call that the event opened or, for an END, closed; -1 where the event was left out. None: each
        event is a call.
    """

    calls: Calls
    first: Ints
    count: Ints
    call_of_event: Ints | None


def build_calls(
    events: Events, threads: int, problems: Problems, place: Callable[[int], str], origin_ns: int
) -> Built:
    """Build the calls of all threads; the module's text has the rules.

    Parameters
    ----------
    events : Events
        In the order of the file. Times lie within 2**62 of 0; events of a thread outside
        ``[0, threads)`` are left out.
    threads : int
    problems : Problems
        Repairs are counted here.
    place : callable
        Names the place of an event in the file from its index.
    origin_ns : int
        Recorded time of time 0; taken off all times.

    Returns
    -------
    Built

    Raises
    ------
    ValueError
        If the columns differ in length, or an opening event has a negative function.
    """
    _check(events)
    return _Builder(events, threads, problems, place, origin_ns).build()


def innermost(calls: Calls, first: Ints, count: Ints, thread: NDArray[np.int32], time: Ints) -> Ints:
    """Return for each (thread, time) the innermost call that is open then, -1 if there is none.

    A call is open from its start to its end, both included; where one ends and the next starts, the next
    is returned. Takes O(queries log calls), after sorting the queries if they are not in order.

    Parameters
    ----------
    calls : Calls
    first, count : int64 (threads,)
        The slices of the threads, as in :class:`Built`.
    thread : int32 (n,)
    time : int64 (n,)
        From the trace's start, like the times of the calls.

    Returns
    -------
    int64 (n,)
    """
    thread = np.ascontiguousarray(thread, np.int64)
    time = _plain(time, np.int64)
    out = np.empty(len(time), np.int64)
    order = np.arange(len(time))
    if len(time) > 1:
        same = thread[1:] == thread[:-1]
        if not ((thread[1:] > thread[:-1]) | (same & (time[1:] >= time[:-1]))).all():
            order = np.lexsort((time, thread))
    find_innermost(
        _plain(calls.start, np.int64),
        _plain(calls.end, np.int64),
        _plain(calls.parent, np.int64),
        _plain(first, np.int64),
        _plain(count, np.int64),
        _plain(thread, np.int64),
        time,
        order,
        out,
    )
    return out


def _plain(column: NDArray[Any], dtype: type[Scalar]) -> NDArray[Scalar]:
    """Return a column as kernels want it: contiguous, aligned and not read-only (Numba types that apart)."""
    return np.require(column, dtype, ["C", "A", "W"])


def _check(events: Events) -> None:
    lengths = {len(c) for c in (events.thread, events.kind, events.function, events.time, events.end)}
    if len(events.record):
        lengths.add(len(events.record))
    if len(lengths) > 1:
        raise ValueError(f"the columns of the events differ in length: {sorted(lengths)}")
    if events.kind.max(initial=0) > COMPLETE:
        raise ValueError("there is an event of no known kind")
    if events.function.min(initial=0) < 0 and ((events.function < 0) & (events.kind != END)).any():
        raise ValueError("an opening event has no function")


class _Builder:
    """One run of :func:`build_calls`."""

    def __init__(
        self, events: Events, threads: int, problems: Problems, place: Callable[[int], str], origin: int
    ) -> None:
        self.kernels = kernels
        self.events = Events(
            thread=_plain(events.thread, np.int32),
            kind=_plain(events.kind, np.uint8),
            function=_plain(events.function, np.int32),
            time=_plain(events.time, np.int64),
            end=_plain(events.end, np.int64),
            record=_plain(events.record, np.int64),
        )
        self.threads = threads
        self.problems = problems
        self.place = place
        self.origin = origin
        #: Of threads whose events come in the order of their ends, the events in pre-order, from the first.
        self.pre_order: dict[int, Ints] = {}

    def build(self) -> Built:
        k = self.kernels
        events, threads = self.events, self.threads
        self._survey()
        n = int(self.count.sum())
        self.out = Calls(
            function=np.empty(n, np.int32),
            parent=np.empty(n, np.int64),
            depth=np.empty(n, np.int32),
            start=np.empty(n, np.int64),
            end=np.empty(n, np.int64),
            extent=np.empty(n, np.int64),
            thread=np.repeat(np.arange(threads, dtype=np.int32), self.count),
            record=np.empty(n if len(events.record) else 0, np.int64),
        )
        self.call_of = np.empty(len(events), np.int64)
        if (self.events_of.sum()) < len(events):
            self.call_of.fill(-1)
        self.found = self._no_counts()

        if (self.mode < k.ENDS).any():
            self._nest_in_order()
        for part in self._parts((self.mode == k.ENDS) | (self.ends_first & (self.mode == k.GENERAL))):
            self._nest_ends(part)
        for part in self._parts(self.mode == k.GENERAL):
            self._nest_general(part)
        self._report()
        return Built(self.out, self.first, self.count, self.call_of)

    def _survey(self) -> None:
        """Count, and choose how each thread is built."""
        k = self.kernels
        table = np.zeros((self.threads, k.SURVEY_WIDTH), np.int64)
        table[:, k.LAST_START] = table[:, k.LAST_END] = np.iinfo(np.int64).min
        e = self.events
        k.survey(e.thread, e.kind, e.time, e.end, self.threads, table)
        self.count = table[:, k.EVENTS] - table[:, k.CLOSERS]
        self.first = np.cumsum(self.count) - self.count
        self.events_of = table[:, k.EVENTS].copy()
        self.any_negative = bool(table[:, k.NEGATIVES].any())
        complete = table[:, k.COMPLETES] > 0
        only_complete = complete & (table[:, k.COMPLETES] == self.events_of)
        by_start = (table[:, k.LATE_STARTS] == 0) & (table[:, k.TIES] == 0)
        by_end = table[:, k.LATE_ENDS] == 0
        #: Threads whose complete events come in the order of their ends, more or less.
        self.ends_first = only_complete & ~by_start & (table[:, k.LATE_ENDS] < table[:, k.LATE_STARTS])
        self.mode = np.full(self.threads, k.GENERAL, np.int64)
        self.mode[~complete] = k.PAIRS
        self.mode[only_complete & by_end] = k.ENDS
        self.mode[only_complete & by_start] = k.BEGINS

    def _columns(self) -> tuple[Any, Any, Any, Any, Any, Any, Any]:
        out = self.out
        return out.function, out.parent, out.depth, out.start, out.end, out.extent, out.record

    def _nest_in_order(self) -> None:
        e = self.events
        top = self.first.copy()
        last = np.full(self.threads, np.iinfo(np.int64).min)
        counted = self._no_counts()
        stack = np.empty(len(self.out), np.int64)
        self.kernels.nest_in_order(
            e.thread, e.kind, e.function, e.time, e.end, e.record, self.origin, self.threads,
            self.mode, self.first, self.first.copy(), top, last, stack,
            *self._columns(), self.call_of, counted,
        )  # fmt: skip
        if counted[self.kernels.UNMATCHED_BEGIN, 0]:
            left_open = (self.mode == self.kernels.PAIRS) & (top > self.first)
            bottom = np.zeros(len(self.out), np.bool_)
            bottom[stack[self.first[left_open]]] = True
            counted[self.kernels.UNMATCHED_BEGIN, 1] = self._first_of(bottom, left_open)
        self._note(counted)

    def _first_of(self, calls: NDArray[np.bool_], threads: NDArray[np.bool_]) -> int:
        """Return the first event that begins one of ``calls``, of some threads; calls that have no end."""
        for low in range(0, len(self.events), _PIECE):
            thread = self.events.thread[low : low + _PIECE]
            within = np.flatnonzero((thread >= 0) & (thread < self.threads))
            within = within[threads[thread[within]]]
            found = np.flatnonzero(calls[self.call_of[low + within]])
            if len(found):
                return low + int(within[found[0]])
        return -1

    def _gather(self, wanted: NDArray[np.bool_]) -> tuple[Ints | None, Events, Ints, NDArray[np.intp]]:
        """Return the events of the wanted threads, thread by thread.

        Returns the events' indices (None: all of them), the events, the bounds of each thread's slice and
        the threads' numbers.
        """
        chosen = np.flatnonzero(wanted)
        counts = self.events_of[chosen]
        bounds = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        if len(chosen) == 1 and bounds[-1] == len(self.events):
            return None, self.events, bounds, chosen
        cursor = np.zeros(self.threads, np.int64)
        cursor[chosen] = bounds[:-1]
        index = np.empty(bounds[-1], np.int64)
        self.kernels.gather(self.events.thread, self.threads, wanted, cursor, index)
        e = self.events
        part = Events(
            thread=e.thread[index],
            kind=e.kind[index],
            function=e.function[index],
            time=e.time[index],
            end=e.end[index],
            record=e.record[index] if len(e.record) else e.record,
        )
        return index, part, bounds, chosen

    def _parts(self, wanted: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
        """Yield the wanted threads in few parts: sorting takes several times the memory of the events."""
        chosen = np.flatnonzero(wanted)
        before = np.cumsum(self.events_of[chosen]) - self.events_of[chosen]
        most = max(_SORTED, -(-int(self.events_of[chosen].sum()) // _PARTS))
        for part in np.unique(before // most).tolist():
            mine = np.zeros(self.threads, np.bool_)
            mine[chosen[before // most == part]] = True
            yield mine

    def _nest_ends(self, wanted: NDArray[np.bool_]) -> None:
        k = self.kernels
        index, e, bounds, chosen = self._gather(wanted)
        clean = (self.mode[chosen] == k.ENDS).astype(np.int64)
        call_of = self.call_of if index is None else np.empty(len(e), np.int64)
        counted = self._no_counts()
        order = np.empty(len(e), np.int64)
        # Only requested if a duration is negative.
        event = self._event(index, e) if self.any_negative else np.empty(0, np.int64)
        k.nest_ends(
            bounds, self.first[chosen], e.function, e.time, e.end, e.record, event, self.origin,
            np.empty(len(e), np.int64), np.empty(len(e), np.int64), clean,
            *self._columns(), call_of, order, counted,
        )  # fmt: skip
        if index is not None:
            self.call_of[index] = call_of
        self._note(counted, index)
        self.mode[chosen[clean == 0]] = k.GENERAL
        self.pre_order |= {
            int(t): order[bounds[g] : bounds[g + 1]] - bounds[g]
            for g, t in enumerate(chosen.tolist())
            if not clean[g] and self.ends_first[t]
        }

    def _nest_general(self, wanted: NDArray[np.bool_]) -> None:
        k = self.kernels
        index, e, bounds, chosen = self._gather(wanted)
        n = len(e)
        counted = self._no_counts()
        order = np.arange(n)
        for g, t in enumerate(chosen.tolist()):
            if t in self.pre_order:
                order[bounds[g] : bounds[g + 1]] = self.pre_order.pop(t) + bounds[g]
        event = self._event(index, e)
        order = self._sort(e, bounds, order, event, counted)

        stop = e.end.copy()
        owner = np.full(n, -1, np.int64)
        forced_by = np.full(n, -1, np.int64)
        healed = np.full(n, -1, np.int64)
        functions = int(e.function.max(initial=-1)) + 1
        if (e.kind != k.COMPLETE).any():
            k.match_pairs(
                bounds, order, e.kind, e.function, e.time, e.end, event,
                np.zeros(functions, np.int64), *(np.full(functions, -1, np.int64) for _ in range(2)),
                *(np.empty(n, np.int64) for _ in range(4)),
                stop, owner, forced_by, healed, counted,
            )  # fmt: skip
        self._sort_ties(e, bounds, self.ends_first[chosen].astype(np.int64), order, stop)
        call_of = self.call_of if index is None else np.empty(n, np.int64)
        k.nest_general(
            bounds, self.first[chosen], order, e.kind, e.function, e.time, stop, e.record, event,
            owner, forced_by, healed, self.origin, np.empty(n, np.int64), np.empty(n, np.uint8),
            *self._columns(), call_of, counted,
        )  # fmt: skip
        if index is not None:
            self.call_of[index] = call_of
        self._note(counted, index)

    def _sort(self, e: Events, bounds: Ints, order: Ints, event: Ints, counted: Ints) -> Ints:
        """Sort ``order`` by time within each thread, by sorting only what is out of order."""
        k = self.kernels
        kept, out = np.empty(len(order), np.int64), np.empty(len(order) + 1, np.int64)
        lengths = np.zeros(2, np.int64)
        k.split_late(bounds, order, e.time, e.end, e.kind, event, kept, out, lengths, counted)
        if lengths[1] == 0:
            return order
        out = out[: lengths[1]]
        which = order[out]
        out = out[np.lexsort((out, e.time[which], e.thread[which]))]
        merged = np.empty(len(order), np.int64)
        k.merge_late(e.thread, e.time, order, kept[: lengths[0]], out, merged)
        return merged

    def _sort_ties(self, e: Events, bounds: Ints, ends_first: Ints, order: Ints, stop: Ints) -> None:
        """Sort events that open at the same time, the longest first, in place."""
        n = len(order)
        place, run, rank = (np.empty(n, np.int64) for _ in range(3))
        group = np.empty(n, np.uint8)
        found = self.kernels.find_ties(
            bounds, ends_first, order, e.kind, e.time, stop, place, run, group, rank
        )
        if found == 0:
            return
        place, run, group, rank = place[:found], run[:found], group[:found], rank[:found]
        which = order[place]
        length = np.where(group == 1, stop[which] - e.time[which], 0)
        order[place] = which[np.lexsort((rank, -length, group, run))]

    def _note(self, counted: Ints, index: Ints | None = None) -> None:
        """Add a kernel's counts; ``index`` maps its events to those of the file."""
        for row, (count, event) in enumerate(counted.tolist()):
            if count:
                first = int(event if index is None else index[event])
                self.found[row, 1] = first if not self.found[row, 0] else min(first, self.found[row, 1])
                self.found[row, 0] += count

    def _report(self) -> None:
        """Add the counts to the problems."""
        k = self.kernels
        names = {
            k.LATE: "out of order",
            k.UNMATCHED_BEGIN: "unmatched begin",
            k.UNMATCHED_END: "unmatched end",
            k.MISMATCHED_END: "mismatched end",
            k.OVERLAP: "overlap",
            k.NEGATIVE: "negative duration",
        }
        for row, name in names.items():
            count, first = self.found[row].tolist()
            if count:
                self.problems.add(name, self.place(first), count)

    def _event(self, index: Ints | None, part: Events) -> Ints:
        """Return which events the rows of a part are; only their order in the file counts."""
        return np.arange(len(part)) if index is None else index

    def _no_counts(self) -> Ints:
        return np.full((self.kernels.N_PROBLEMS, 2), (0, -1), np.int64)
