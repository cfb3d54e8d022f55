"""Blame: each wait split by what others did meanwhile, and who caused the most delay.

A thread that waits for what others hold is split by who held it, one after the other, and from which line of
code; while such a holder waits for what another one holds, that one is the cause. A thread that waits for a
signal or for work is split by what its waker did until then; where the waker waited itself, by what that wait
was for (the cascade of wPerf, Zhou et al., OSDI 2018, section 3.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.waits.blame import follow, split
from ...kernels.waits.sync import MOST_OPEN
from ...trace.build import innermost
from ...trace.model import WAIT
from .holds import holders_at, next_holds, ranges, repeated, within
from .rules import STATES
from .synchronization import Synchronization

Ints = NDArray[np.int64]
CONTENTION = STATES.index("contention")
#: Maximum number of cascade steps followed per wait.
_MOST_STEPS = 64
#: Maximum number of holders that are followed, each of which waits for the next.
_MOST_HOLDERS = 8


@dataclass(frozen=True, eq=False)
class Causes:
    """The causes of waits, ordered by wait, the longest first; causes of one wait never overlap.

    Attributes
    ----------
    wait : int64 (n,)
        Rows of the operations.
    thread : int32 (n,)
        Who held, or ran, meanwhile.
    function : int32 (n,)
        In which function it came to hold, or ran; -1: unknown.
    line : int32 (n,)
        Line of that function's file; 0: unknown.
    ns : int64 (n,)
        Nanoseconds of the wait. Where several held at once (a semaphore) each has its share of the time.
    """

    wait: Ints
    thread: NDArray[np.int32]
    function: NDArray[np.int32]
    line: NDArray[np.int32]
    ns: Ints

    def __len__(self) -> int:
        return len(self.wait)


def causes(waits: Synchronization) -> Causes:
    """Return the causes of each blocked wait, as far as they are known.

    O(n log n + k) for n operations and k pairs of a wait and a hold within it, or a step of a cascade.

    Parameters
    ----------
    waits : Synchronization

    Returns
    -------
    Causes
    """
    parts = [_by_holders(waits), _by_earlier_holders(waits), _by_wakers(waits)]
    wait, thread, function, line, ns = (np.concatenate([part[i] for part in parts]) for i in range(5))
    # A cascade may come back to the same place.
    keys = np.stack([wait, thread, function, line], axis=1)
    keys, back = np.unique(keys, axis=0, return_inverse=True)
    ns = np.rint(np.bincount(back.reshape(-1), ns, len(keys))).astype(np.int64)
    order = np.lexsort((-ns, keys[:, 0]))
    order = order[ns[order] > 0]
    keys, ns = keys[order], ns[order]
    wait, thread, function, line = keys.T
    return Causes(wait, thread.astype(np.int32), function.astype(np.int32), line.astype(np.int32), ns)


_Part = tuple[Ints, Ints, Ints, Ints, Ints]


def _lines(waits: Synchronization, function: Ints, recorded: Ints) -> Ints:
    """Return the lines of sites: recorded ones, else where their functions begin."""
    begins = np.append(waits.trace.functions.line.astype(np.int64), 0)
    return np.where(recorded > 0, recorded, begins[function])


def _contended(waits: Synchronization) -> tuple[Ints, Ints]:
    """Return the blocked waits for what can be held, one row for each object: the wait, and the object."""
    ops = waits.ops
    rows = np.flatnonzero((ops.kind == WAIT) & ops.blocked & ops.asks & ~repeated(ops))
    wait, object = ops.per_object(rows)
    return wait, object.astype(np.int64)


def _by_holders(waits: Synchronization) -> _Part:
    ops, held = waits.ops, waits.held
    wait, object = _contended(waits)
    order = np.lexsort((ops.start[wait], object))
    wait, object = wait[order], object[order]
    objects = np.arange(len(ops.objects) + 1)
    keys = np.stack([held.thread, waits.function[held.acquire], ops.line[held.acquire]], axis=1).astype(
        np.int64
    )
    sites, site = np.unique(keys, axis=0, return_inverse=True)
    hold, cause, begin, end = _parts_of_holds(waits)
    capacity = 4 * len(wait)
    while True:
        out = np.empty((3, capacity), np.int64)
        count = split(
            np.searchsorted(object, objects).astype(np.int64), np.ascontiguousarray(ops.start[wait]),
            np.ascontiguousarray(ops.end[wait]), np.ascontiguousarray(ops.thread[wait], np.int64),
            np.searchsorted(held.object[hold], objects).astype(np.int64), begin, end,
            np.ascontiguousarray(held.thread[hold], np.int64),
            np.ascontiguousarray(site.ravel()[cause], np.int64),
            np.ascontiguousarray(site.ravel()[hold], np.int64), np.ascontiguousarray(sites[:, 0]),
            np.empty(MOST_OPEN, np.int64),
            np.empty(2 * MOST_OPEN, np.int64), np.zeros(len(sites)), np.empty(len(sites), np.int64),
            out[0], out[1], out[2],
        )  # fmt: skip
        if count <= capacity:
            break
        capacity = int(count)
    which, at, ns = out[:, :count]
    thread, function, line = sites[at].T.reshape(3, -1)
    return wait[which], thread, function, _lines(waits, function, line), ns


def _stuck(waits: Synchronization) -> tuple[Ints, Ints, Ints, Ints]:
    """Return when holders wait themselves for what another one holds: two holds, from when to when.

    Ordered by the hold, then time. The other object is one that nobody holds with another.
    """
    ops, held = waits.ops, waits.held
    same = held.object[1:] == held.object[:-1]
    shared = np.zeros(len(ops.objects), np.bool_)
    shared[held.object[1:][same & (held.end[:-1] > held.start[1:])]] = True
    rows = np.flatnonzero((ops.kind == WAIT) & ops.blocked & ops.asks & ~ops.nested)
    rows = rows[np.diff(ops.first)[rows] == 1]
    rows = rows[~shared[ops.object[ops.first[rows]]]]
    hold, row = within(held, ops, np.arange(len(held)), rows)
    object = ops.object[ops.first[row]]
    inside = object != held.object[hold]
    hold, row, object = hold[inside], row[inside], object[inside]
    # Of an object that one holds at a time, holds end in the order in which they begin.
    low, high = np.zeros((2, len(row)), np.int64)
    first = np.searchsorted(held.object, np.arange(len(ops.objects) + 1))
    for o in np.unique(object).tolist():
        mine = np.flatnonzero(object == o)
        begin, end = first[o], first[o + 1]
        low[mine] = begin + np.searchsorted(held.end[begin:end], ops.start[row[mine]], "right")
        high[mine] = begin + np.searchsorted(held.start[begin:end], ops.end[row[mine]], "left")
    which, other = ranges(low, high)
    hold, row = hold[which], row[which]
    start = np.maximum(held.start[other], ops.start[row])
    end = np.minimum(np.minimum(held.end[other], ops.end[row]), held.end[hold])
    some = np.flatnonzero((start < end) & (held.thread[other] != held.thread[hold]))
    some = some[np.lexsort((start[some], hold[some]))]
    return hold[some], other[some], start[some], end[some]


def _parts_of_holds(waits: Synchronization) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the holds, each cut where its thread waits for what another one holds.

    Returns
    -------
    hold, cause, start, end : int64 (n,)
        A hold, the one that kept its thread waiting meanwhile (itself where none did, or where threads waited
        in a ring), from when to when; ordered as the holds, then by time.
    """
    held = waits.held
    stuck, behind, begin, until = _stuck(waits)
    first = np.searchsorted(stuck, np.arange(len(held) + 1))
    hold = cause = np.arange(len(held))
    start, end = np.ascontiguousarray(held.start), np.ascontiguousarray(held.end)
    done: list[tuple[Ints, Ints, Ints, Ints]] = []
    for _ in range(_MOST_HOLDERS):
        # What is left of each part lies before, between and after what its cause waits for.
        part, at = ranges(first[cause], first[cause + 1])
        low, high = np.maximum(begin[at], start[part]), np.minimum(until[at], end[part])
        real = low < high
        part, at, low, high = part[real], at[real], low[real], high[real]
        before = np.concatenate([part, np.arange(len(hold))])
        order = np.lexsort((np.concatenate([low, end]), before))
        from_ = np.concatenate([high, start])
        gap_end = np.concatenate([low, end])[order]
        new = np.diff(before[order], prepend=-1) != 0
        gap_start = np.where(new, start[before[order]], np.roll(from_[order], 1))
        gap = gap_start < gap_end
        which = before[order][gap]
        done.append((hold[which], cause[which], gap_start[gap], gap_end[gap]))
        deeper = behind[at]
        ring = held.thread[deeper] == held.thread[hold[part]]
        done.append((hold[part][ring], hold[part][ring], low[ring], high[ring]))
        hold, cause, start, end = hold[part][~ring], deeper[~ring], low[~ring], high[~ring]
        if not len(hold):
            break
    done.append((hold, hold, start, end))
    hold, cause, start, end = (np.concatenate([one[i] for one in done]) for i in range(4))
    order = np.lexsort((start, held.object[hold]))
    return hold[order], cause[order], start[order], end[order]


def _by_earlier_holders(waits: Synchronization) -> _Part:
    """Use the recorded holders of objects that were acquired before the recording began."""
    ops, held = waits.ops, waits.held
    wait, object = _contended(waits)
    which = holders_at(held, object.astype(np.int32), ops.start[wait])
    recorded = (which == -1) & (ops.holder[wait] >= 0) & (ops.holder[wait] != ops.thread[wait])
    wait, object = wait[recorded], object[recorded]
    following = next_holds(held, object.astype(np.int32), ops.start[wait])
    until = np.where(following >= 0, np.append(held.start, 0)[following], ops.end[wait])
    thread = ops.holder[wait].astype(np.int64)
    function = _running(waits, thread, ops.start[wait], ops.start[wait])
    line = np.zeros(len(wait), np.int64)
    # It may have been passed on to that thread, which gets it when it runs next.
    handed = np.flatnonzero(np.append(held.thread, -1)[following] == thread)
    acquire = held.acquire[following[handed]]
    function[handed], line[handed] = waits.function[acquire], ops.line[acquire]
    ns = np.minimum(until, ops.end[wait]) - ops.start[wait]
    return wait, thread, function, _lines(waits, function, line), ns


def _by_wakers(waits: Synchronization) -> _Part:
    ops, own = waits.ops, waits.own
    rows = np.flatnonzero(waits.waker >= 0)
    rows = rows[~(ops.asks[rows] & (np.diff(ops.first)[rows] > 0))]
    first = np.searchsorted(ops.thread[own], np.arange(len(waits.trace.threads) + 1)).astype(np.int64)
    capacity = 4 * len(rows)
    while True:
        out = np.empty((4, capacity), np.int64)
        count = follow(
            np.ascontiguousarray(waits.woken_by[rows], np.int64),
            np.minimum(waits.woken_at[rows], ops.end[rows]), np.ascontiguousarray(ops.start[rows]), first,
            np.ascontiguousarray(ops.start[own]), np.ascontiguousarray(ops.end[own]),
            np.ascontiguousarray(waits.woken_by[own], np.int64), np.ascontiguousarray(waits.woken_at[own]),
            _MOST_STEPS, out[0], out[1], out[2], out[3],
        )  # fmt: skip
        if count <= capacity:
            break
        capacity = int(count)
    which, thread, start, end = out[:, :count]
    function = _running(waits, thread, start, end)
    return rows[which], thread, function, _lines(waits, function, np.zeros(len(which), np.int64)), end - start


def _running(waits: Synchronization, thread: Ints, start: Ints, end: Ints) -> Ints:
    """Return the function of the innermost call that lasts all of a time; -1: none."""
    calls, threads = waits.trace.calls, waits.trace.threads
    if not len(calls):
        return np.full(len(thread), -1, np.int64)
    call = innermost(calls, threads.first, threads.count, thread.astype(np.int32), start)
    while (short := (call >= 0) & (calls.end[call] < end)).any():
        call = np.where(short, calls.parent[call], call)
    return np.where(call >= 0, calls.function[call], -1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Blame:
    """Who made others wait by holding what they wanted, the longest delay first.

    Attributes
    ----------
    thread, function, line : int32 (n,)
        As in :class:`Causes`.
    ns : int64 (n,)
        The delay that it caused, added up over those that waited.
    waits : int64 (n,)
        Of how many waits.
    """

    thread: NDArray[np.int32]
    function: NDArray[np.int32]
    line: NDArray[np.int32]
    ns: Ints
    waits: Ints

    def __len__(self) -> int:
        return len(self.thread)


def blame(waits: Synchronization, found: Causes) -> Blame:
    """Return who and which line of code delayed others by holding what they wanted.

    Parameters
    ----------
    waits : Synchronization
    found : Causes
        What kept these waits waiting.

    Returns
    -------
    Blame
    """
    ops = waits.ops
    counts = np.flatnonzero(ops.asks[found.wait] & ~ops.nested[found.wait])
    keys = np.stack([found.thread, found.function, found.line], axis=1)[counts]
    sites, back, times = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    ns = np.rint(np.bincount(back.ravel(), found.ns[counts], len(sites))).astype(np.int64)
    order = np.argsort(-ns, kind="stable")
    thread, function, line = sites[order].T.reshape(3, -1)
    return Blame(thread, function, line, ns[order], times[order].astype(np.int64))
