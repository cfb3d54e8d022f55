"""Holders over time: acquisitions with their releases, queues of waiting threads, and the order of locks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.waits.sync import MOST_HELD, MOST_OPEN, pair_holds
from ...kernels.waits.sync import lock_order as list_pairs
from ...trace.model import RELEASE, WAIT
from .operations import Operations

Ints = NDArray[np.int64]
#: Maximum number of nested pairs of holds for the lock order.
MOST_NESTED = 4_000_000


@dataclass(frozen=True, eq=False)
class Holds:
    """Times for which a thread holds an object, ordered by object, then start.

    Attributes
    ----------
    acquire : int64 (n,)
        The wait that got it, a row of the operations.
    release : int64 (n,)
        The operation that released it; -1: none did.
    object, thread : int32 (n,)
    start, end : int64 (n,)
        The end of a hold that is never released is that of the trace.
    """

    acquire: Ints
    release: Ints
    object: NDArray[np.int32]
    thread: NDArray[np.int32]
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.acquire)


def holds(ops: Operations, span_ns: int) -> Holds:
    """Return who held what when, of the objects that can be held.

    Parameters
    ----------
    ops : Operations
        All operations of the trace.
    span_ns : int
        Length of the trace: what is never released is held until then.

    Returns
    -------
    Holds
    """
    acquiring = np.flatnonzero(ops.holds & (ops.kind == WAIT))
    releasing = np.flatnonzero(ops.kind == RELEASE)
    a, a_object = ops.per_object(acquiring)
    r, r_object = ops.per_object(releasing)
    can_be_held = np.zeros(len(ops.objects), np.bool_)
    can_be_held[a_object] = True
    r, r_object = r[can_be_held[r_object]], r_object[can_be_held[r_object]]
    row = np.concatenate([a, r])
    object = np.concatenate([a_object, r_object])
    release = np.concatenate([np.zeros(len(a), np.uint8), np.ones(len(r), np.uint8)])
    time = np.where(release == 1, ops.start[row], ops.end[row])
    order = np.lexsort((-release.astype(np.int8), time, object))
    row, object, release, time = row[order], object[order], release[order], time[order]
    first = np.searchsorted(object, np.arange(len(ops.objects) + 1)).astype(np.int64)
    ends = np.empty(len(row), np.int64)
    thread = np.ascontiguousarray(ops.thread[row], np.int32)
    pair_holds(first, thread, release, np.empty(MOST_OPEN, np.int64), ends)
    got = np.flatnonzero(release == 0)
    by = ends[got]
    return Holds(
        acquire=row[got],
        release=np.where(by >= 0, row[by], -1),
        object=object[got].astype(np.int32),
        thread=thread[got],
        start=time[got],
        end=np.where(by >= 0, np.maximum(time[by], time[got]), max(span_ns, 0)),
    )


def holders_at(held: Holds, object: NDArray[np.int32], time: Ints) -> Ints:
    """Return the hold that an object was in at a time, int64 (n,); -1: none, -2: more than one.

    Parameters
    ----------
    held : Holds
    object : int32 (n,)
        Objects.
    time : int64 (n,)
        Nanoseconds.

    Returns
    -------
    int64 (n,)
    """
    n, m = len(held), len(object)
    objects = np.concatenate([held.object, object]).astype(np.int64)
    question = np.concatenate([np.zeros(n, np.int8), np.ones(m, np.int8)])
    # Begun holds, then those that are over: how many there are, and the sum of their numbers.
    counts, sums = np.zeros((2, m), np.int64), np.zeros((2, m), np.int64)
    for i, moment in enumerate((held.start, held.end)):
        order = np.lexsort((question, np.concatenate([moment, time]), objects))
        asked = order >= n
        counts[i, order[asked] - n] = np.cumsum(~asked)[asked]
        sums[i, order[asked] - n] = np.cumsum(np.where(asked, 0, order))[asked]
    still = counts[0] - counts[1]
    return np.where(still == 1, sums[0] - sums[1], np.where(still > 1, -2, -1))


def next_holds(held: Holds, object: NDArray[np.int32], time: Ints) -> Ints:
    """Return the first hold of an object that begins after a time, int64 (n,); -1: none does.

    Parameters
    ----------
    held : Holds
    object : int32 (n,)
        Objects.
    time : int64 (n,)
        Nanoseconds.

    Returns
    -------
    int64 (n,)
    """
    n, m = len(held), len(object)
    objects = np.concatenate([held.object, object]).astype(np.int64)
    question = np.concatenate([np.zeros(n, np.int8), np.ones(m, np.int8)])
    order = np.lexsort((question, np.concatenate([held.start, time]), objects))
    place = np.where(question[order] == 0, np.arange(n + m), n + m)
    after = np.minimum.accumulate(place[::-1])[::-1]
    asked = np.flatnonzero(question[order] == 1)
    found = np.append(order, -1)[after[asked]]
    out = np.empty(m, np.int64)
    same = (found >= 0) & (np.append(objects, -1)[found] == objects[order[asked]])
    out[order[asked] - n] = np.where(same, found, -1)
    return out


def within(held: Holds, ops: Operations, which: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return pairs of a hold and an operation of its thread that begins in it.

    Parameters
    ----------
    held : Holds
    ops : Operations
    which : int64 (n,)
        Holds: rows.
    rows : int64 (m,)
        Operations, in their order, none of which of a thread begins before another one of it.

    Returns
    -------
    hold, row : int64 (k,)
    """
    low, high = np.empty((2, len(which)), np.int64)
    for thread in np.unique(held.thread[which]).tolist():
        mine = np.flatnonzero(held.thread[which] == thread)
        begin, end = np.searchsorted(ops.thread[rows], [thread, thread + 1])
        starts = ops.start[rows[begin:end]]
        low[mine] = begin + np.searchsorted(starts, held.start[which[mine]], "left")
        high[mine] = begin + np.searchsorted(starts, held.end[which[mine]], "left")
    hold, at = ranges(low, high)
    return which[hold], rows[at]


def ranges(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Return all whole numbers of some ranges, and of which range each is.

    Parameters
    ----------
    low, high : int64 (n,)
        First, and after the last one.

    Returns
    -------
    range, number : int64 (k,)
    """
    count = np.maximum(high - low, 0)
    which = np.repeat(np.arange(len(low)), count)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(low, count)


def repeated(ops: Operations) -> NDArray[np.bool_]:
    """Return which waits lie within another of their thread for the same object: they are that wait. (n,)."""
    n = len(ops)
    outer = np.maximum.accumulate(np.where((ops.kind == WAIT) & ~ops.nested, np.arange(n), -1))
    above = np.maximum(outer, 0)
    some = np.diff(ops.first) > 0
    object = np.where(some, np.append(ops.object, -1)[ops.first[:-1]], -1)
    same = some & (object == object[above]) if n else some
    found: NDArray[np.bool_] = ops.nested & same & (ops.thread == ops.thread[above])
    return found


@dataclass(frozen=True, eq=False)
class Queues:
    """The number of threads that wait for each object, over time.

    Attributes
    ----------
    longest : int64 (objects,)
    at : int64 (objects,)
        When it is longest first.
    object, time, length : arrays (k,)
        Every change, ordered by object, then time: the length from then on.
    """

    longest: Ints
    at: Ints
    object: NDArray[np.int32]
    time: Ints
    length: NDArray[Any]


def queues(ops: Operations, which: NDArray[np.bool_]) -> Queues:
    """Return the queues of some waits at each object.

    Parameters
    ----------
    ops : Operations
    which : bool (n,)
        The waits that count.

    Returns
    -------
    Queues
    """
    rows, object = ops.per_object(np.flatnonzero(which))
    n = len(rows)
    time = np.concatenate([ops.start[rows], ops.end[rows]])
    step = np.concatenate([np.ones(n, np.int64), -np.ones(n, np.int64)])
    objects = np.concatenate([object, object])
    order = np.lexsort((step, time, objects))
    objects, time, step = objects[order], time[order], step[order]
    length = np.cumsum(step)  # each object's steps add up to 0
    longest, at = np.zeros(len(ops.objects), np.int64), np.zeros(len(ops.objects), np.int64)
    if n:
        begin = np.flatnonzero(np.diff(objects, prepend=-1))
        most = np.maximum.reduceat(length, begin)
        longest[objects[begin]] = most
        first = np.lexsort((time, -length, objects))[begin]
        at[objects[begin]] = time[first]
    return Queues(longest, at, objects.astype(np.int32), time, length)


def shared_queues(queue: Queues, held: Holds) -> Queues:
    """Return the queues of which each holder has its share: their lengths over the number of holders.

    Only a semaphore has several holders at once.

    Parameters
    ----------
    queue : Queues
    held : Holds

    Returns
    -------
    Queues
        Its lengths are float64, and change where holds begin and end, too.
    """
    n = len(held)
    object = np.concatenate([queue.object, held.object, held.object])
    time = np.concatenate([queue.time, held.start, held.end])
    # The steps of each object add up to 0.
    waiting = np.concatenate([np.diff(queue.length, prepend=0), np.zeros(2 * n, np.int64)])
    holding = np.zeros(len(object), np.int64)
    holding[len(queue.object) : len(object) - n], holding[len(object) - n :] = 1, -1
    order = np.lexsort((time, object))
    length = np.cumsum(waiting[order]) / np.maximum(np.cumsum(holding[order]), 1)
    return Queues(queue.longest, queue.at, object[order], time[order], length)


def area_at(queue: Queues, object: NDArray[np.int32], time: Ints) -> NDArray[Any]:
    """Return the nanoseconds that threads have waited for objects until some times.

    Parameters
    ----------
    queue : Queues
    object : int32 (n,)
    time : int64 (n,)
        Nanoseconds.

    Returns
    -------
    int64 or float64 (n,)
        As the queue's lengths.
    """
    lasts = np.diff(queue.time, append=0)
    # After the last change of an object nobody waits for it.
    area = np.concatenate([[0], np.cumsum(queue.length * lasts)])
    out = np.zeros(len(object), queue.length.dtype)
    for o in np.unique(object).tolist():
        low, high = np.searchsorted(queue.object, [o, o + 1])
        mine = np.flatnonzero(object == o)
        at = low + np.searchsorted(queue.time[low:high], time[mine], "right") - 1
        known = at >= low
        at, mine = at[known], mine[known]
        out[mine] = area[at] - area[low] + queue.length[at] * (time[mine] - queue.time[at])
    return out


@dataclass(frozen=True, eq=False)
class LockOrder:
    """The objects that threads acquire while they hold others.

    Attributes
    ----------
    outer, inner : int32 (k,)
        Pairs of objects, ordered; for each one row by thread and by what else that thread holds.
    thread : int32 (k,)
    gates : tuple of frozenset of int, k of them
        All objects that the thread holds when it acquires the inner one, the outer one among them.
    count : int64 (k,)
    first, last : int64 (k,)
        When the inner one was acquired first and last, in nanoseconds.
    hold_outer, hold_inner : int64 (k,)
        The first example of each: rows of :class:`Holds`.
    held_outer : tuple of int64 arrays, k of them
        All holds of the outer one: rows of :class:`Holds`.
    """

    outer: NDArray[np.int32]
    inner: NDArray[np.int32]
    thread: NDArray[np.int32]
    gates: tuple[frozenset[int], ...]
    count: Ints
    first: Ints
    last: Ints
    hold_outer: Ints
    hold_inner: Ints
    held_outer: tuple[Ints, ...]

    def __len__(self) -> int:
        return len(self.outer)


def lock_order(held: Holds, which: Ints) -> LockOrder:
    """Return which objects are acquired while the same thread holds others.

    Parameters
    ----------
    held : Holds
    which : int64 (n,)
        The holds that count: rows.

    Returns
    -------
    LockOrder
    """
    order = which[np.lexsort((held.start[which], held.thread[which]))]
    columns = (held.thread[order], held.object[order], held.start[order], held.end[order])
    space = np.empty(MOST_HELD, np.int64)
    capacity = 0
    while True:
        outer, inner = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        pairs = list_pairs(*columns, space, outer, inner)
        if pairs <= capacity or capacity == MOST_NESTED:
            break
        capacity = min(pairs, MOST_NESTED)
    outer, inner = order[outer[:pairs]], order[inner[:pairs]]
    # Pairs come by the inner hold; sets of what is held with it are told apart by random numbers of objects.
    begin = np.flatnonzero(np.diff(inner, prepend=-1))
    lots = np.random.default_rng(1).integers(0, 2**63, int(held.object.max(initial=0)) + 1)
    # What is held twice is in the set once.
    once = np.zeros(pairs, np.int64)
    once[np.unique(inner * len(lots) + held.object[outer], return_index=True)[1]] = -1
    sums = np.bitwise_xor.reduceat(lots[held.object[outer]] & once, begin) if pairs else np.empty(0, np.int64)
    each = np.diff(begin, append=len(inner))
    keys = np.stack(
        [held.object[outer], held.object[inner], held.thread[inner], np.repeat(sums, each)], axis=1
    )
    by_time = np.argsort(held.start[inner], kind="stable")
    keys, first, back, count = np.unique(
        keys[by_time], axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    members = np.split(by_time[np.argsort(back.reshape(-1), kind="stable")], np.cumsum(count)[:-1])
    some = by_time[first]
    # Which pairs an example's inner hold has: all that is held with it.
    low = begin[np.searchsorted(begin, some, "right") - 1].tolist()
    high = [at + int(n) for at, n in zip(low, each[np.searchsorted(begin, some, "right") - 1])]
    members = members[: len(keys)]
    return LockOrder(
        keys[:, 0].astype(np.int32), keys[:, 1].astype(np.int32), keys[:, 2].astype(np.int32),
        tuple(frozenset(held.object[outer[a:b]].tolist()) for a, b in zip(low, high)), count,
        held.start[inner[some]], np.array([held.start[inner[mine[-1]]] for mine in members], np.int64),
        outer[some], inner[some], tuple(np.unique(outer[mine]) for mine in members),
    )  # fmt: skip
