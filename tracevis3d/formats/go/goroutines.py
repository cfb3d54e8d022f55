"""What goroutines do from one moment to the next: run, wait, or are ready to run; and who lets them go on.

The events of one stream (a thread, or a processor of Go's) are about the goroutine that runs there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.lay.goroutines import follow_streams
from ..distinct import distinct, packed
from .tables import Tables

Ints = NDArray[np.int64]

#: States of a goroutine. KNOWN: the event says what is known if it is the first of a goroutine.
RUNNABLE, RUNNING, WAITING, SYSCALL, GONE = 0, 1, 2, 3, 4
#: Kinds of events from Go 1.22 on.
_CREATE, _CREATE_SYSCALL, _START, _DESTROY, _DESTROY_SYSCALL, _STOP, _BLOCK, _UNBLOCK = range(14, 22)
_ENTER, _LEAVE, _LEAVE_LATE, _STATUS = 22, 23, 24, 25
_SWITCH, _SWITCH_DESTROY, _CREATE_WAITING, _STATUS_STACK = 45, 46, 47, 48
#: The number of a status -> a state.
_STATES = np.array([-1, RUNNABLE, RUNNING, SYSCALL, WAITING], np.int64)
#: Kinds until Go 1.21.
_OLD_CREATE, _OLD_START, _OLD_END, _OLD_UNBLOCK = 13, 14, 15, 21
_OLD_ENTER, _OLD_LEAVE, _OLD_SYSTEM_BLOCK, _OLD_IS_WAITING, _OLD_IS_INSIDE = 28, 29, 30, 31, 32
_OLD_START_LOCAL, _OLD_UNBLOCK_LOCAL, _OLD_LEAVE_LOCAL, _OLD_START_LABEL = 38, 39, 40, 41
#: Kinds that end running, until Go 1.21: the state, and the reason in the words of later versions.
_OLD_STOPS = {
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
SWITCHED, CREATED_WAITING, UNKNOWN = "coroutine switch", "not started", "waiting since before the recording"


@dataclass(frozen=True, eq=False)
class Moves:
    """Changes of goroutines' states, ordered by goroutine, then as they happened.

    Attributes
    ----------
    goroutine : int64 (n,)
        Its number.
    time : int64 (n,)
        Nanoseconds, ascending within a goroutine.
    state : int64 (n,)
        From then on.
    reason : int64 (n,)
        Index of ``reasons``; -1: none.
    stack : int64 (n,)
        Where its code was; -1: not recorded.
    by : int64 (n,)
        The goroutine that did it to this one; -1: itself, or none.
    event : int64 (n,)
        The event that says so.
    reasons : list of str
    running : int64 (events,)
        The goroutine that runs where an event is written, just before it; -1: none.
    """

    goroutine: Ints
    time: Ints
    state: Ints
    reason: Ints
    stack: Ints
    by: Ints
    event: Ints
    reasons: list[str]
    running: Ints


class _Moves:
    """Collects changes of states."""

    def __init__(self) -> None:
        self._parts: list[list[Ints]] = []
        self.reasons: dict[str, int] = {}

    def reason(self, text: str) -> int:
        return self.reasons.setdefault(text, len(self.reasons))

    def add(
        self, goroutine: Ints, event: Ints, state: Ints | int, *, reason: Ints | int = -1,
        stack: Ints | int = -1, by: Ints | int = -1, after: Ints | int = 0, rank: int = 1, time: Ints,
    ) -> None:  # fmt: skip
        """Add changes; ``after`` and ``rank`` say which come first, of those of one goroutine."""
        columns = goroutine, after, rank, event, time, state, reason, stack, by
        part = [np.broadcast_to(np.asarray(column, np.int64), len(goroutine)) for column in columns]
        known = goroutine > 0
        self._parts.append(part if known.all() else [column[known] for column in part])

    def ordered(self, generation: Ints | None) -> list[Ints]:
        """Return goroutine, event, time, state, reason, stack and by of the changes that are any.

        They are ordered by goroutine, then as they happened: by their times if no generations are given.
        """
        columns = [np.concatenate(of) for of in zip([np.empty(0, np.int64)] * 9, *self._parts)]
        goroutine, after, rank, event, time = columns[:5]
        keys = (event, rank, after if generation is not None else time)
        by_part = () if generation is None else (generation.take(event),)
        order = np.lexsort(packed(*keys, *by_part, goroutine))
        # A status says nothing new of a goroutine that is known.
        goroutine, rank = goroutine.take(order), rank.take(order)
        kept = (rank > 0) | _firsts(goroutine)
        order = order if kept.all() else order[kept]
        return [column.take(order) for column in (columns[0], *columns[3:])]


def moves_of(tables: Tables) -> Moves:
    """Return what all goroutines do.

    Parameters
    ----------
    tables : Tables

    Returns
    -------
    Moves
    """
    found = _Moves()
    running = _old_moves(tables, found) if tables.is_old else _moves(tables, found)
    columns = found.ordered(None if tables.is_old else tables.generation)
    goroutine, event, time, state, reason, stack, by = columns
    first = _firsts(goroutine)
    return Moves(
        goroutine, _ascending(time, first), state, reason, stack, by, event, list(found.reasons), running
    )


def _firsts(goroutine: Ints) -> NDArray[np.bool_]:
    """Return which changes are the first of a goroutine."""
    return np.append(True, goroutine[1:] != goroutine[:-1])[: len(goroutine)]


def _ascending(time: Ints, first: NDArray[np.bool_]) -> Ints:
    """Return times that don't go back within a group; ``first`` begins one."""
    if not len(time):
        return time
    group = np.cumsum(first) - 1
    low = int(time.min())
    # Groups one behind the other, so that the latest time so far is that of one's own group.
    room = int(time.max()) - low + 1
    if room * (int(group[-1]) + 1) < 1 << 62:
        return np.asarray(np.maximum.accumulate(time - low + group * room) - group * room + low)
    starts = np.append(np.flatnonzero(first), len(time)).tolist()
    return np.concatenate([np.maximum.accumulate(time[a:b]) for a, b in pairwise(starts)])


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


def _moves(tables: Tables, found: _Moves) -> Ints:
    """Add what events of Go 1.22 and later say; return who runs where each is written."""
    kind, stream, time = tables.kind, tables.stream, tables.time
    a, b, c = (tables.said[column] for column in range(3))
    is_status = (kind == _STATUS) | (kind == _STATUS_STACK)
    status = np.where(is_status, _STATES[np.clip(c, 0, 4)], -1)
    # A status says who runs on a thread; of another thread's it is known before that one's events.
    runs = is_status & ((status == RUNNING) | (status == SYSCALL))
    here = runs & (b == stream)
    starts = _among(kind, _START, _CREATE_SYSCALL, _SWITCH, _SWITCH_DESTROY)
    ends = _among(kind, _DESTROY, _DESTROY_SYSCALL, _STOP, _BLOCK, _LEAVE_LATE)
    running, seq = _who_runs(tables, starts | here, ends, np.flatnonzero(runs & ~here))
    rows = np.flatnonzero

    def at(which: NDArray[np.bool_]) -> tuple[Ints, dict[str, Any]]:
        mine = rows(which)
        return mine, {"event": mine, "time": time[mine]}

    mine, said = at(is_status & (status >= 0))
    stacks = np.where(kind[mine] == _STATUS_STACK, tables.stack(mine, 3), -1)
    waits = np.where(status[mine] == WAITING, found.reason(UNKNOWN), -1)
    found.add(a[mine], state=status[mine], stack=stacks, reason=waits, rank=0, **said)
    for which, state in ((_CREATE, RUNNABLE), (_CREATE_WAITING, WAITING)):
        mine, said = at(kind == which)
        reason = found.reason(CREATED_WAITING) if state == WAITING else -1
        found.add(a[mine], state=state, reason=reason, by=running[mine], stack=tables.stack(mine, 1), **said)
    mine, said = at(kind == _CREATE_SYSCALL)
    found.add(a[mine], state=SYSCALL, **said)
    mine, said = at(kind == _START)
    found.add(a[mine], state=RUNNING, after=b[mine], **said)
    for which, state, reason in (
        (_DESTROY, GONE, -1), (_DESTROY_SYSCALL, GONE, -1), (_LEAVE, RUNNING, -1),
        (_LEAVE_LATE, RUNNABLE, -1),
        (_SWITCH, WAITING, found.reason(SWITCHED)), (_SWITCH_DESTROY, GONE, -1),
    ):  # fmt: skip
        mine, said = at(kind == which)
        found.add(running[mine], state=state, reason=reason, after=seq[mine], **said)
    for which, state in ((_STOP, RUNNABLE), (_BLOCK, WAITING)):
        mine, said = at(kind == which)
        texts, text = distinct(tables.text(mine, 0))
        known = [found.reason(tables.texts[k] if k >= 0 else "") for k in texts.tolist()] if len(mine) else []
        reasons = np.array(known, np.int64)[text]
        found.add(
            running[mine], state=state, reason=reasons, stack=tables.stack(mine, 1), after=seq[mine], **said
        )
    mine, said = at(kind == _ENTER)
    found.add(running[mine], state=SYSCALL, stack=tables.stack(mine, 1), after=seq[mine], **said)
    mine, said = at(kind == _UNBLOCK)
    found.add(a[mine], state=RUNNABLE, by=running[mine], after=b[mine], **said)
    mine, said = at((kind == _SWITCH) | (kind == _SWITCH_DESTROY))
    found.add(a[mine], state=RUNNING, by=running[mine], after=b[mine], **said)
    return running


def _who_runs(
    tables: Tables, starts: NDArray[np.bool_], ends: NDArray[np.bool_], elsewhere: Ints
) -> tuple[Ints, Ints]:
    """Return who runs just before each event on its stream, and what the event comes after.

    ``elsewhere`` are events of other streams that say who runs on one, from the beginning of its generation.
    """
    kind, a, b = tables.kind, tables.said[0], tables.said[1]
    where = b[elsewhere]
    order = np.lexsort((elsewhere, tables.generation[elsewhere], where))
    goes_on = starts & (kind != _STATUS) & (kind != _STATUS_STACK) & (kind != _CREATE_SYSCALL)
    running, after = np.empty((2, len(kind)), np.int64)
    follow_streams(
        tables.stream, tables.generation, starts, ends, goes_on, a, b, elsewhere[order], where[order],
        running, after,
    )  # fmt: skip
    return running, after


def _old_moves(tables: Tables, found: _Moves) -> Ints:
    """Add what events of Go 1.21 and before say; return who runs where each is written."""
    kind, stream, time = tables.kind, tables.stream, tables.time
    a = tables.said[0]
    starts = _among(kind, _OLD_START, _OLD_START_LOCAL, _OLD_START_LABEL)
    stops = _among(kind, *_OLD_STOPS, _OLD_END, _OLD_SYSTEM_BLOCK)
    begins = np.append(True, stream[1:] != stream[:-1])[: len(kind)]
    before = _last_before(starts | stops, begins)
    running = np.where((before >= 0) & starts[before], a[before], -1)
    rows = np.flatnonzero

    mine = rows(kind == _OLD_CREATE)
    found.add(a[mine], mine, RUNNABLE, by=running[mine], stack=tables.stack(mine, 1), time=time[mine])
    mine = rows(starts)
    found.add(a[mine], mine, RUNNING, time=time[mine])
    mine = rows(kind == _OLD_END)
    found.add(running[mine], mine, GONE, time=time[mine])
    for which, (state, reason) in _OLD_STOPS.items():
        mine = rows(kind == which)
        found.add(running[mine], mine, state, reason=found.reason(reason), stack=tables.stack(mine, 0),
                  time=time[mine])  # fmt: skip
    mine = rows((kind == _OLD_UNBLOCK) | (kind == _OLD_UNBLOCK_LOCAL))
    found.add(a[mine], mine, RUNNABLE, by=running[mine], time=time[mine])
    # A call that is over soon has no end: only those in which the processor is taken away last.
    inside = _last_before(kind == _OLD_ENTER, begins)
    mine = rows(kind == _OLD_SYSTEM_BLOCK)
    mine = mine[(inside[mine] >= 0) & (inside[mine] > before[mine])]
    called = inside[mine]
    found.add(running[called], called, SYSCALL, stack=tables.stack(called, 0), time=time[called])
    mine = rows((kind == _OLD_LEAVE) | (kind == _OLD_LEAVE_LOCAL))
    found.add(a[mine], mine, RUNNABLE, time=time[mine])
    for which, state in ((_OLD_IS_WAITING, WAITING), (_OLD_IS_INSIDE, SYSCALL)):
        mine = rows(kind == which)
        unknown = found.reason(UNKNOWN) if state == WAITING else -1
        found.add(a[mine], mine, state, reason=unknown, time=time[mine])
    return running
