"""How waits ended, how that is known, and the rings of threads that waited for each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...trace.model import WAIT
from .operations import DONE, FAILED, TIMED_OUT, UNFINISHED
from .rules import STATES
from .synchronization import Synchronization

Ints = NDArray[np.int64]

#: How a wait ended.
OUTCOMES = ("unknown", "woken", "timed out", "deadlocked")
UNKNOWN, WOKEN, GAVE_UP, DEADLOCKED = range(4)
#: How something is known: the recording says it; it follows from the objects and times that it says; it is
#: what is most likely.
HOW = ("recorded", "follows", "inferred")
RECORDED, FOLLOWS, INFERRED = range(3)
#: What a thread that waits does, in numbers and colours: a rule's states, and waits that were given up for
#: work or a signal that didn't come.
KINDS_OF_WAITING = (*STATES, "timeout")
#: A thread that is asleep for this share of its waiting sleeps, in words.
SLEEPS = 0.9
_CONTENTION, _IDLE = STATES.index("contention"), STATES.index("idle")
_TIMEOUT = len(STATES)
#: Maximum number of waits examined for rings, the longest first.
_MOST = 2_000


@dataclass(frozen=True)
class Ring:
    """Threads each of which waited for the next one, and the last one for the first.

    Attributes
    ----------
    waits : tuple of int
        A wait of each, rows of the operations; a single one is for what its own thread holds.
    broken_by : int
        The wait that was given up, so that the others went on; -1: none was.
    """

    waits: tuple[int, ...]
    broken_by: int


class Outcomes:
    """How each wait ended.

    Parameters
    ----------
    waits : Synchronization
    """

    def __init__(self, waits: Synchronization) -> None:
        self._waits = waits

    @cached_property
    def never_ended(self) -> NDArray[np.bool_]:
        """Whether a blocked wait never ended, as far as the recording goes. (n,).

        The recording says so, or nobody ended it and its thread did nothing after it, and had no time to.
        A profile of samples tells of waits that have ended.
        """
        waits, ops = self._waits, self._waits.ops
        found: NDArray[np.bool_] = ops.blocked & (ops.ending == UNFINISHED)
        if len(waits.trace.samples):
            return found
        rows, calls, threads = waits.own, waits.trace.calls, waits.trace.threads
        last = np.zeros(len(threads), np.int64)
        np.maximum.at(last, calls.thread, calls.end)
        span = waits.trace.span_ns
        rows = rows[(waits.woken_by[rows] < 0) & (np.diff(ops.first)[rows] > 0) & (ops.ending[rows] == DONE)]
        rows = rows[ops.end[rows] >= last[ops.thread[rows]] - 0.01 * span]
        rows = rows[ops.lasted[rows] >= 0.05 * span]
        # A thread that does something after it was not waiting any more.
        latest = np.zeros(len(threads), np.int64)
        np.maximum.at(latest, calls.thread, calls.start)
        np.maximum.at(latest, ops.thread, ops.start)
        found[rows[latest[ops.thread[rows]] < ops.end[rows]]] = True
        return found

    @cached_property
    def rings(self) -> tuple[Ring, ...]:
        """The rings of threads that waited for each other, those that lasted longest first."""
        ops = self._waits.ops
        given_up = ops.blocked & ops.asks & np.isin(ops.ending, (TIMED_OUT, FAILED))
        rows = np.flatnonzero((self.never_ended | given_up) & ~ops.nested)
        found: dict[frozenset[int], Ring] = {}
        for row in rows[np.argsort(-ops.lasted[rows], kind="stable")][:_MOST].tolist():
            chain = self._chain(row)
            if chain and chain[0] == row and frozenset(chain) not in found:
                ended = not self.never_ended[row]
                found[frozenset(chain)] = Ring(tuple(chain), row if ended else -1)
        return tuple(found.values())

    def _chain(self, row: int) -> list[int]:
        """Return the ring that a wait leads into when it ends, by who holds what it is for; [] if none."""
        waits, ops = self._waits, self._waits.ops
        time = max(int(ops.end[row]) - 1, int(ops.start[row]))
        chain: list[int] = []
        while row >= 0 and row not in chain:
            chain.append(row)
            blocker = self._blocker(row, time)
            row = -1
            if blocker >= 0:
                low, high = np.searchsorted(ops.thread[waits.own], [blocker, blocker + 1])
                mine = waits.own[low:high]
                at = int(np.searchsorted(ops.start[mine], time, "right")) - 1
                if at >= 0 and ops.end[mine[at]] > time:
                    row = int(mine[at])
        return chain[chain.index(row) :] if row >= 0 else []

    def _blocker(self, row: int, time: int) -> int:
        """Return the thread that a wait is for at a time; -1: unknown, or nobody in particular."""
        ops, held = self._waits.ops, self._waits.held
        if ops.about[row] >= 0:
            return int(ops.about[row])
        if not ops.asks[row] or ops.first[row] == ops.first[row + 1]:
            return -1
        object = int(ops.object[ops.first[row]])
        low, high = np.searchsorted(held.object, [object, object + 1])
        holding = np.flatnonzero((held.start[low:high] <= time) & (held.end[low:high] > time))
        if len(holding) == 1:
            return int(held.thread[low + holding[0]])
        return int(ops.holder[row]) if not len(holding) else -1

    @cached_property
    def _found(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        waits, ops = self._waits, self._waits.ops
        outcome, how = np.full(len(ops), UNKNOWN, np.uint8), np.full(len(ops), RECORDED, np.uint8)
        woke = waits.woke
        outcome[woke.wait] = WOKEN
        how[woke.wait] = np.where(woke.inferred, INFERRED, FOLLOWS)
        # If the recording names the holder, and that thread released it.
        how[(outcome == WOKEN) & (ops.holder == waits.woken_by)] = RECORDED
        wait = (ops.kind == WAIT) & ops.blocked
        outcome[wait & (ops.ending == TIMED_OUT)] = GAVE_UP
        # Taking from a queue raises an error when nothing has come for long enough.
        empty = wait & (ops.ending == FAILED) & (ops.state == _IDLE) & ops.one
        outcome[empty], how[empty] = GAVE_UP, FOLLOWS
        for row in np.flatnonzero(self.never_ended & wait & ~ops.nested)[:_MOST].tolist():
            if chain := self._chain(row):
                outcome[row] = DEADLOCKED
                said = all(ops.ending[r] == UNFINISHED and ops.holder[r] >= 0 for r in (row, *chain))
                how[row] = RECORDED if said else FOLLOWS
        return outcome, how

    @property
    def outcome(self) -> NDArray[np.uint8]:
        """How each wait ended, an index into :data:`OUTCOMES`. Uint8 (n,)."""
        return self._found[0]

    @property
    def how(self) -> NDArray[np.uint8]:
        """How that, and who ended it, is known: an index into :data:`HOW`. Uint8 (n,)."""
        return self._found[1]

    @cached_property
    def state(self) -> NDArray[np.uint8]:
        """What each wait is, an index into :data:`KINDS_OF_WAITING`. Uint8 (n,)."""
        ops = self._waits.ops
        in_vain = (self.outcome == GAVE_UP) & (ops.state != _CONTENTION)
        return np.where(in_vain, _TIMEOUT, ops.state).astype(np.uint8)
