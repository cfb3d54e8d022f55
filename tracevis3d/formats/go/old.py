"""Execution traces of Go 1.11 to 1.21: their tables, and what goroutines do.

The events of one stream, a processor of Go's, are about the goroutine that runs there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.go import scan_old as kernels
from ...kernels.formats.go.follow import CREATED, GONE, RUNNABLE, RUNNING, SYSCALL, WAITING
from ...kernels.formats.go.scan import FRAME_COLUMNS, LATEST, STACK_COLUMNS, TEXT_COLUMNS
from ...trace.problems import Problems
from ..distinct import chosen, distinct, packed
from .changes import UNKNOWN, Changes
from .tables import Names, Tables

Ints = NDArray[np.int64]

#: Kinds until Go 1.21.
_CREATE, _START, _END, _UNBLOCK = 13, 14, 15, 21
_ENTER, _LEAVE, _SYSTEM_BLOCK, _IS_WAITING, _IS_INSIDE = 28, 29, 30, 31, 32
_START_LOCAL, _UNBLOCK_LOCAL, _LEAVE_LOCAL, _START_LABEL = 38, 39, 40, 41
#: Kinds that end running, until Go 1.21: the state, and the reason in the words of later versions.
_STOPS = {
    16: (WAITING, "forever"),
    17: (RUNNABLE, "runtime.Gosched"),
    18: (RUNNABLE, "preempted"),
    19: (WAITING, "sleep"),
    20: (WAITING, "blocked"),
    22: (WAITING, "chan send"),
    23: (WAITING, "chan receive"),
    24: (WAITING, "select"),
    25: (WAITING, "sync"),
    26: (WAITING, "sync.(*Cond).Wait"),
    27: (WAITING, "network"),
    42: (WAITING, "GC mark assist wait for work"),
}
#: The kind of the event that says how long a tick is.
_FREQUENCY = 2
#: Kinds with a time of their own, and the column that has it.
_LATE = {29: kernels.C, 40: kernels.B}


def read_old(data: memoryview, begin: int, problems: Problems) -> tuple[Tables, Changes]:
    """Return what a trace of Go 1.21 or before contains, and what all goroutines do.

    Parameters
    ----------
    data : memoryview
        All of it.
    begin : int
        Behind its header.
    problems : Problems
        Gets what is damaged.

    Returns
    -------
    Tables, Changes
    """
    # Always read-only, like a mapped file: kernels are compiled for one type.
    column = np.frombuffer(data.toreadonly(), np.uint8)
    state, (events, strings, stacks, frames) = scanned(column, begin)
    problems.add("unsupported", f"byte {state[kernels.STRANGE_BYTE]:,}", int(state[kernels.STRANGE]))
    if state[kernels.CUT]:
        problems.add("truncated", f"byte {int(state[kernels.CUT]) - 1:,}")
    is_timed = _in_nanoseconds(events, problems)
    order = _by_batches(events)
    events = chosen(events, order if is_timed.all() else order[is_timed[order]])
    names = Names.of(data, strings, stacks, frames)
    found = _Changes(events, names)
    running = found.find()
    changes = found.ordered(int(events[kernels.TIME].max(initial=np.iinfo(np.int64).min)))
    place = np.searchsorted(changes.numbers, running)
    known = np.append(changes.numbers, -1)[place] == running
    tables = Tables(
        is_old=True,
        at=events[kernels.AT],
        generation=np.zeros(len(running), np.int64),
        time=events[kernels.TIME],
        kind=events[kernels.KIND],
        said=events[kernels.A :],
        running=np.where(known & (running > 0), place, -1),
        names=names,
    )
    return tables, changes


def scanned(data: NDArray[np.uint8], begin: int) -> tuple[Ints, list[Ints]]:
    """Return what :func:`.scan_old.scan_old_go` fills: its state, and its tables.

    Parameters
    ----------
    data : uint8 (bytes,)
    begin : int
        Behind the header.

    Returns
    -------
    state : int64 (STATE_SIZE,)
    tables : list of int64
        The first has columns of events one after the other, all others rows.
    """
    counts = [0] * 4
    for _ in range(2):  # the first time rows are only counted
        state = np.zeros(kernels.STATE_SIZE, np.int64)
        tables = [np.empty((kernels.EVENT_COLUMNS, counts[0]), np.int64)]
        columns = TEXT_COLUMNS, STACK_COLUMNS, FRAME_COLUMNS
        tables += [np.empty(shape, np.int64) for shape in zip(counts[1:], columns, strict=True)]
        kernels.scan_old_go(data, begin, state, *tables)
        counts = state[[kernels.EVENTS, kernels.STRINGS, kernels.STACKS, kernels.FRAMES]].tolist()
    return state, tables


class _Changes:
    """Collects changes of states.

    Parameters
    ----------
    events : int64 (EVENT_COLUMNS, n)
    names : Names
    """

    def __init__(self, events: Ints, names: Names) -> None:
        self._events, self._names = events, names
        self._parts: list[list[Ints]] = []
        self._reasons: dict[str, int] = {}

    def _reason(self, text: str) -> int:
        return self._reasons.setdefault(text, len(self._reasons))

    def _stack(self, events: Ints, column: int) -> Ints:
        said = self._events[kernels.A + column, events]
        return self._names.stack_of.find(np.zeros(len(events), np.int64), said)

    def _add(
        self, goroutine: Ints, event: Ints, state: int, *, reason: int = -1,
        stack: Ints | int = -1, by: Ints | int = -1,
    ) -> None:  # fmt: skip
        columns = goroutine, event, state, reason, stack, by
        part = [np.broadcast_to(np.asarray(column, np.int64), len(goroutine)) for column in columns]
        known = goroutine > 0
        self._parts.append(part if known.all() else [column[known] for column in part])

    def ordered(self, last: int) -> Changes:
        """Return all changes; ``last`` is the latest time of any event."""
        columns = [np.concatenate(of) for of in zip([np.empty(0, np.int64)] * 6, *self._parts)]
        numbers, who = distinct(columns[0])
        order = np.lexsort(packed(columns[1], self._events[kernels.TIME].take(columns[1]), who))
        event, state, reason, stack, by = (column.take(order) for column in columns[1:])
        place = np.searchsorted(numbers, by)
        return Changes(
            numbers=numbers,
            first=np.append(0, np.cumsum(np.bincount(who, minlength=len(numbers)))),
            time=self._events[kernels.TIME].take(event),
            byte=self._events[kernels.AT].take(event),
            becomes=state.astype(np.uint8),
            reason=reason.astype(np.int32),
            stack=stack.astype(np.int32),
            by=np.where(np.append(numbers, -1)[place] == by, place, -1).astype(np.int32),
            place=np.arange(len(numbers)),
            reasons=[*self._reasons],
            reason_of=np.arange(len(self._reasons)),
            last=last,
        )

    def find(self) -> Ints:
        """Add what events say; return who runs where each is written."""
        kind, stream, a = (self._events[one] for one in (kernels.KIND, kernels.STREAM, kernels.A))
        starts = _among(kind, _START, _START_LOCAL, _START_LABEL)
        stops = _among(kind, *_STOPS, _END, _SYSTEM_BLOCK)
        begins = np.append(True, stream[1:] != stream[:-1])[: len(kind)]
        before = _last_before(starts | stops, begins)
        running = np.where((before >= 0) & starts[before], a[before], -1)
        rows = np.flatnonzero

        mine = rows(kind == _CREATE)
        self._add(a[mine], mine, RUNNABLE | CREATED, by=running[mine], stack=self._stack(mine, 1))
        mine = rows(starts)
        self._add(a[mine], mine, RUNNING)
        mine = rows(kind == _END)
        self._add(running[mine], mine, GONE)
        for which, (state, reason) in _STOPS.items():
            mine = rows(kind == which)
            self._add(running[mine], mine, state, reason=self._reason(reason), stack=self._stack(mine, 0))
        mine = rows((kind == _UNBLOCK) | (kind == _UNBLOCK_LOCAL))
        self._add(a[mine], mine, RUNNABLE, by=running[mine])
        # A call that is over soon has no end: only those in which the processor is taken away last.
        inside = _last_before(kind == _ENTER, begins)
        mine = rows(kind == _SYSTEM_BLOCK)
        mine = mine[(inside[mine] >= 0) & (inside[mine] > before[mine])]
        called = inside[mine]
        self._add(running[called], called, SYSCALL, stack=self._stack(called, 0))
        mine = rows((kind == _LEAVE) | (kind == _LEAVE_LOCAL))
        self._add(a[mine], mine, RUNNABLE)
        for which, state in ((_IS_WAITING, WAITING), (_IS_INSIDE, SYSCALL)):
            mine = rows(kind == which)
            unknown = self._reason(UNKNOWN) if state == WAITING else -1
            self._add(a[mine], mine, state, reason=unknown)
        return running


def _among(kind: Ints, *kinds: int) -> NDArray[np.bool_]:
    """Return which events are of some kinds; one is a byte."""
    table: NDArray[np.bool_] = np.zeros(256, np.bool_)
    table[list(kinds)] = True
    return table[kind]


def _last_before(changes: NDArray[np.bool_], begins: NDArray[np.bool_]) -> Ints:
    """Return, for each row, the last row before it that changes something in its stream; -1 if none does."""
    n = len(changes)
    at = np.maximum.accumulate(np.where(changes, np.arange(n), -1)) if n else np.empty(0, np.int64)
    before = np.append(-1, at[:-1])[:n]
    start = np.maximum.accumulate(np.where(begins, np.arange(n), 0)) if n else before
    return np.where(before >= start, before, -1)


def _in_nanoseconds(events: Ints, problems: Problems) -> NDArray[np.bool_]:
    """Make ticks nanoseconds, and return which events have a time."""
    kind, time = events[kernels.KIND], events[kernels.TIME]
    timed = kind != _FREQUENCY
    says = events[kernels.A, ~timed]
    says = says[says > 0]
    if timed.any() and not len(says):
        problems.add("malformed", "no event says how long a tick is: one is read as 1 ns", 1)
    factor = 1e9 / float(says[0]) if len(says) else 1.0
    # The end of a system call is written when a processor is there again, with the time when it was over.
    for which, column in _LATE.items():
        late = (kind == which) & (events[column] != 0)
        time[late] = events[column, late]
    # In two parts: a product of 2**53 and more would lose nanoseconds.
    base = int(time.min(initial=LATEST, where=timed & (time >= 0)))
    span, start = (time - base).astype(np.float64) * factor, base * factor
    good = (time >= 0) & (span + start < LATEST)
    bad = timed & ~good
    kept: NDArray[np.bool_] = good & timed
    time[kept] = np.rint(span[kept]).astype(np.int64) + round(start if kept.any() else 0)
    problems.add(
        "bad time",
        f"byte {events[kernels.AT, int(np.argmax(bad))]:,}" if len(bad) else "",
        int(bad.sum()),
    )
    return kept


def _by_batches(events: Ints) -> Ints:
    """Return the order of events by stream and time of their batches."""
    batch = [events[column] for column in (kernels.BATCH_TIME, kernels.STREAM)]
    new = np.zeros(events.shape[1], np.bool_)
    new[:1] = True
    for column in batch:
        new[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(new)
    # There are few batches: events stay together.
    runs = np.lexsort([column[first] for column in batch])
    many = np.diff(np.append(first, len(new)))[runs]
    order: Ints = np.repeat(first[runs] - np.cumsum(many) + many, many) + np.arange(len(new))
    return order
