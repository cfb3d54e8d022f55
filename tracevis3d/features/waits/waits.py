"""Who waits for whom: all that is found out about the synchronization of a trace's threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...kernels.waits.sync import add_up
from ...trace.model import IO, RELEASE, WAIT, Trace
from .blame import Blame, Causes, blame, causes
from .critical_path import CriticalPath, critical_path
from .holds import (
    LockOrder,
    Queues,
    area_at,
    holders_at,
    lock_order,
    next_holds,
    queues,
    repeated,
    shared_queues,
)
from .operations import THREAD_ENDS
from .outcomes import KINDS_OF_WAITING, Outcomes
from .rules import read_rules
from .synchronization import Synchronization

Ints = NDArray[np.int64]

#: How the holder of an object is known: not at all; the recording says so; it follows from who acquired the
#: object before and has not released it; it is inferred from who acquired it next.
SOURCES = ("unknown", "recorded", "follows", "inferred")
UNKNOWN, RECORDED, FOLLOWS, INFERRED = range(4)


class Waits(Synchronization):
    """The waits, releases and I/O of a trace, and what follows from them; each is computed when asked for.

    Parameters
    ----------
    trace : Trace
    rules : Rules, optional
        The library's own if left out.
    """

    @cached_property
    def held_by(self) -> NDArray[np.int32]:
        """The thread that held a wait's first object when the wait began; -1: none, or unknown.

        What the recording says itself goes before what follows from acquisitions and releases.
        """
        return self._holders[0]

    @cached_property
    def held_by_source(self) -> NDArray[np.uint8]:
        """How :attr:`held_by` is known of each operation: an index into :data:`SOURCES`. Uint8 (n,)."""
        return self._holders[1]

    @cached_property
    def _holders(self) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        ops = self.ops
        found = np.full(len(ops), -1, np.int32)
        source = np.zeros(len(ops), np.uint8)
        rows = np.flatnonzero((ops.kind == WAIT) & ops.blocked & ops.asks & (np.diff(ops.first) > 0))
        if len(rows) and len(self.held):
            object = ops.object[ops.first[rows]]
            which = holders_at(self.held, object, ops.start[rows])
            # No thread held it, and yet this one had to wait: it had been handed to the one that ran next.
            following = next_holds(self.held, object, ops.start[rows])
            handed = (which == -1) & (following >= 0)
            handed[handed] = self.held.start[following[handed]] < ops.end[rows[handed]]
            which = np.where(handed, following, which)
            holder = np.where(which >= 0, self.held.thread[which], -1)
            # A thread doesn't wait for itself: it holds the object again (a re-entrant lock).
            found[rows] = np.where(holder == ops.thread[rows], -1, holder)
            source[rows] = np.where(handed, INFERRED, FOLLOWS)
        recorded = ops.blocked & (ops.holder >= 0)
        found = np.where(recorded, ops.holder, found).astype(np.int32)
        source = np.where(recorded, RECORDED, source).astype(np.uint8)
        return found, np.where(found >= 0, source, UNKNOWN).astype(np.uint8)

    @cached_property
    def outcomes(self) -> Outcomes:
        """How each wait ended."""
        return Outcomes(self)

    @cached_property
    def causes(self) -> Causes:
        """What kept each blocked wait waiting."""
        return causes(self)

    @cached_property
    def blame(self) -> Blame:
        """Who made others wait by holding what they wanted, the longest delay first."""
        return blame(self, self.causes)

    @cached_property
    def queues(self) -> Queues:
        """How many wait for each object at once."""
        return queues(self.ops, self.ops.blocked & ~repeated(self.ops))

    @cached_property
    def passed_on(self) -> NDArray[np.bool_]:
        """Which holds another thread ended than the one that had them. Bool (holds,)."""
        held = self.held
        ended: NDArray[np.bool_] = self.ops.thread[held.release] != held.thread
        return (held.release >= 0) & ended

    @cached_property
    def hold_delay(self) -> Ints:
        """Nanoseconds that threads waited for an object during each hold, added up. Int64 (holds,).

        Where several held it at once (a semaphore) each has its share of the time.
        """
        return self.delay_between(np.arange(len(self.held)), self.held.start, self.held.end)

    def delay_between(self, hold: Ints, start: Ints, end: Ints) -> Ints:
        """Return the nanoseconds that threads waited for an object because of a hold, between two times.

        Parameters
        ----------
        hold : int64 (n,)
            Rows of :attr:`held`.
        start, end : int64 (n,)
            Nanoseconds, within the hold.

        Returns
        -------
        int64 (n,)
        """
        object = self.held.object[hold]
        lost = area_at(self._shared_queues, object, end) - area_at(self._shared_queues, object, start)
        # Halves that are sums of thirds are halves.
        return np.asarray(np.rint(np.round(lost, 6)), np.int64)

    @cached_property
    def _shared_queues(self) -> Queues:
        return shared_queues(self.queues, self.held)

    @cached_property
    def order(self) -> LockOrder:
        """The objects that are acquired while others are held, by threads that release them themselves.

        What one thread acquires and another releases, such as readers do, is no thread's own.
        """
        held = self.held
        shared = np.zeros(len(self.ops.objects), np.bool_)
        shared[held.object[self.passed_on]] = True
        return lock_order(held, np.flatnonzero(~shared[held.object]))

    @cached_property
    def matrix(self) -> Matrix:
        """Who waits for whom."""
        rows, threads = self.own, len(self.trace.threads)
        by = self.woken_by[rows].astype(np.int64)
        key = self.ops.thread[rows] * (threads + 1) + (by + 1)
        pairs, back, count = np.unique(key, return_inverse=True, return_counts=True)
        waited = np.bincount(back.reshape(-1), self.ops.lasted[rows], len(pairs))
        return Matrix(
            (pairs // (threads + 1)).astype(np.int32), (pairs % (threads + 1) - 1).astype(np.int32), count,
            np.rint(waited).astype(np.int64),
        )  # fmt: skip

    @cached_property
    def io_time(self) -> Ints:
        """Nanoseconds of I/O of each thread that lie in no other I/O of it. Int64 (threads,)."""
        ops = self.ops
        rows = np.flatnonzero(ops.kind == IO)
        total = np.zeros(len(self.trace.threads), np.int64)
        bounds = np.searchsorted(ops.thread[rows], np.arange(len(total) + 1))
        for t in range(len(total)):
            mine = rows[bounds[t] : bounds[t + 1]]
            if len(mine):
                reach = np.maximum.accumulate(ops.end[mine])
                from_ = np.maximum(ops.start[mine], np.concatenate([[0], reach[:-1]]))
                total[t] = int(np.maximum(ops.end[mine] - from_, 0).sum())
        return total

    @cached_property
    def ended(self) -> NDArray[np.bool_]:
        """Whether the recording says that a thread ended. Bool (threads,)."""
        ops = self.ops
        ends = [i for i, name in enumerate(ops.names) if name in THREAD_ENDS]
        found = np.zeros(len(self.trace.threads), np.bool_)
        found[ops.thread[(ops.kind == RELEASE) & np.isin(ops.name, ends)]] = True
        return found

    @cached_property
    def waited(self) -> Ints:
        """Nanoseconds that each thread waited. Int64 (threads,)."""
        sums = np.bincount(self.ops.thread[self.own], self.ops.lasted[self.own], len(self.trace.threads))
        return np.rint(sums).astype(np.int64)

    @cached_property
    def time_by_state(self) -> Ints:
        """Nanoseconds that each thread waited, int64 (threads, :data:`.outcomes.KINDS_OF_WAITING`)."""
        own, threads, kinds = self.own, len(self.trace.threads), len(KINDS_OF_WAITING)
        key = self.ops.thread[own].astype(np.int64) * kinds + self.outcomes.state[own]
        sums = np.bincount(key, self.ops.lasted[own], threads * kinds)
        return np.rint(sums).astype(np.int64).reshape(threads, kinds)

    def path(self, thread: int | None = None, time: int | None = None) -> CriticalPath:
        """Return the critical path to an end; see :func:`.critical_path.critical_path`.

        Parameters
        ----------
        thread : int, optional
            The thread whose end is looked at; None: that which ends last.
        time : int, optional
            The moment, in nanoseconds; None: the end of the thread's last call.

        Returns
        -------
        CriticalPath
        """
        return critical_path(self.trace, self.ops, self.woke, thread, time)

    def kind_of_call(self, kind: int, which: NDArray[np.bool_] | None = None) -> NDArray[np.uint8]:
        """Return 1 for the calls of S_w, S_r or S_o (``kind`` is WAIT, RELEASE or IO), uint8 (calls,).

        What a blocked wait calls waits, too: a queue's get calls a condition's wait.

        Parameters
        ----------
        kind : int
        which : bool (operations,), optional
            Those that count; all if left out.

        Returns
        -------
        uint8 (calls,)
        """
        calls, ops = self.trace.calls, self.ops
        member = np.zeros(len(calls), np.uint8)
        rows = np.flatnonzero((ops.kind == kind) & (ops.call >= 0))
        if which is not None:
            rows = rows[which[rows]]
        member[ops.call[rows]] = 1
        if kind == WAIT:
            call = ops.call[rows[ops.blocked[rows]]]
            # A call comes before all that lie in it.
            inside = np.zeros(len(calls) + 1, np.int32)
            np.add.at(inside, call, 1)
            np.add.at(inside, call + calls.extent[call], -1)
            member[np.cumsum(inside[:-1], dtype=np.int32) > 0] = 1
        return member

    def time_in(self, kind: int, which: NDArray[np.bool_] | None = None) -> Ints:
        """Return dur^w, dur^r or dur^o of each call (SyncTrace, Eq. 4), in one pass.

        Parameters
        ----------
        kind : int
            WAIT, RELEASE or IO.
        which : bool (operations,), optional
            Those that count; all if left out.

        Returns
        -------
        int64 (calls,)
            Nanoseconds.
        """
        calls = self.trace.calls
        total = np.empty(len(calls), np.int64)
        add_up(self.kind_of_call(kind, which), calls.parent, calls.start, calls.end, total)
        return total

    def hubs(self) -> tuple[Ints, Ints]:
        """Return the nanoseconds of waiting that each thread ended, and of how many, int64 (threads,)."""
        n, m = len(self.trace.threads), self.matrix
        known = (m.by >= 0) & (m.by != m.thread)
        ended = np.bincount(m.by[known], m.waited[known], n)
        return np.rint(ended).astype(np.int64), np.bincount(m.by[known], minlength=n).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Who waits for whom: one row for each pair.

    Attributes
    ----------
    thread : int32 (k,)
        Who waits.
    by : int32 (k,)
        Who ended it; -1: unknown.
    count, waited : int64 (k,)
        How many waits, and their nanoseconds.
    """

    thread: NDArray[np.int32]
    by: NDArray[np.int32]
    count: Ints
    waited: Ints


def find_waits(trace: Trace, rule_files: Sequence[str] = ()) -> Waits:
    """Return what synchronizes the threads of ``trace``, by the rules of files and the library's own.

    Parameters
    ----------
    trace : Trace
    rule_files : sequence of str
        Paths of TOML or JSON files; their rules go first.

    Returns
    -------
    Waits

    Raises
    ------
    InputError
        If a rule file can't be read.
    """
    return Waits(trace, read_rules(rule_files))


__all__ = ["IO", "RELEASE", "WAIT", "Matrix", "Waits", "find_waits"]
