"""How many threads run or wait at once, and where a thread calls nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.waits.sync import states_of_threads
from ...trace.build import innermost
from ...trace.names import known_from
from .outcomes import KINDS_OF_WAITING
from .waits import IO, Waits

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


#: What threads do, as :func:`states` counts them; one that does several at once does the first.
DOES = ("contended", "waits for a signal", "idle", "transfers", "computes")
_KINDS = np.array([{"contention": 0, "signal": 1}.get(kind, 2) for kind in KINDS_OF_WAITING], np.uint8)
_TRANSFERS, _COMPUTES = 3, 4


def states(waits: Waits, row: Ints, edges: Ints) -> Floats:
    """Return how many threads of each row do what, on average between each two of ``edges``.

    Parameters
    ----------
    waits : Waits
    row : int64 (threads,)
        Row of each thread, from 0; -1: of none.
    edges : int64 (n + 1,)
        Nanoseconds, ascending.

    Returns
    -------
    float64 (rows, n, :data:`DOES`)
        *Idle* are sleep and waits that were given up, too. Threads outside all calls that don't wait do
        nothing.
    """
    calls, ops, own = waits.trace.calls, waits.ops, waits.own
    roots, io = np.flatnonzero(calls.depth == 1), np.flatnonzero(ops.kind == IO)
    found = [
        (ops.thread[own], ops.start[own], ops.end[own], _KINDS[waits.outcomes.state[own]]),
        (ops.thread[io], ops.start[io], ops.end[io], np.full(len(io), _TRANSFERS)),
        (calls.thread[roots], calls.start[roots], calls.end[roots], np.full(len(roots), _COMPUTES)),
    ]
    thread, start, end, kind = (
        np.concatenate([part[i] for part in found]).astype(np.int64) for i in range(4)
    )
    shown = row[thread] >= 0
    thread, start, end, kind = thread[shown], start[shown], end[shown], kind[shown]
    thread, kind = np.tile(thread, 2), np.tile(kind, 2).astype(np.uint8)
    time = np.concatenate([start, end])
    step = np.repeat(np.array([1, -1], np.int8), len(start))
    order = np.lexsort((time, thread))
    first = np.searchsorted(thread[order], np.arange(len(row) + 1)).astype(np.int64)
    total = np.zeros((int(row.max(initial=-1)) + 1, len(edges) - 1, len(DOES)))
    states_of_threads(
        first, row, time[order], kind[order], step[order], edges, np.zeros(len(DOES), np.int64), total
    )
    return np.asarray(total / np.maximum(np.diff(edges), 1)[:, None])


def running(waits: Waits, edges: Ints) -> Floats:
    """Return how many threads run on average between each two of ``edges`` (n + 1,): float64 (n,).

    A thread runs while it is within a call and does not wait; transfers count as running.

    Parameters
    ----------
    waits : Waits
    edges : int64 (n + 1,)
        Nanoseconds, ascending.

    Returns
    -------
    float64 (n,)
    """
    calls = waits.trace.calls
    roots = np.flatnonzero(calls.depth == 1)
    _, start, end = _waits_within_calls(waits, roots)
    plus = _passed(calls.start[roots], edges) - _passed(calls.end[roots], edges)
    minus = _passed(start, edges) - _passed(end, edges)
    mean: Floats = np.diff(plus - minus) / np.maximum(np.diff(edges), 1)
    return np.maximum(mean, 0.0)


def time_running(waits: Waits) -> Ints:
    """Return how long each thread runs: the time within calls in which it does not wait.

    What a viewer that joined late did not see does not count.

    Parameters
    ----------
    waits : Waits

    Returns
    -------
    int64 (threads,)
        Nanoseconds.
    """
    calls, n = waits.trace.calls, len(waits.trace.threads)
    since = known_from(waits.trace)
    roots = np.flatnonzero(calls.depth == 1)
    thread = np.repeat(np.arange(n), waits.trace.threads.count)[roots]
    start, end = (times[roots].clip(since) for times in (calls.start, calls.end))
    time = np.bincount(thread, (end - start).astype(np.float64), n)
    thread, *span = _waits_within_calls(waits, roots)
    start, end = (times.clip(since) for times in span)
    time -= np.bincount(thread, (end - start).astype(np.float64), n)
    return np.maximum(np.rint(time), 0).astype(np.int64)


def _waits_within_calls(waits: Waits, roots: Ints) -> tuple[Ints, Ints, Ints]:
    """Return thread, start and end of waits; of those that are no call the parts within root calls."""
    calls, ops, own, threads = waits.trace.calls, waits.ops, waits.own, waits.trace.threads
    is_call = ops.call[own] >= 0
    within, loose = own[is_call], own[~is_call]
    found = [(ops.thread[within], ops.start[within], ops.end[within])]
    for t in np.unique(ops.thread[loose]).tolist():
        mine = loose[ops.thread[loose] == t]
        low, high = np.searchsorted(roots, (threads.first[t], threads.first[t] + threads.count[t]))
        start, end = calls.start[roots[low:high]], calls.end[roots[low:high]]
        first = np.searchsorted(end, ops.start[mine], "right")
        many = np.maximum(np.searchsorted(start, ops.end[mine]) - first, 0)
        wait = np.repeat(mine, many)
        root = np.arange(len(wait)) - np.repeat(np.cumsum(many) - many - first, many)
        start, end = np.maximum(ops.start[wait], start[root]), np.minimum(ops.end[wait], end[root])
        found.append((np.full(len(wait), t), start, end))
    thread, start, end = (np.concatenate(parts).astype(np.int64) for parts in zip(*found))
    return thread, start, end


def _passed(times: Ints, edges: Ints) -> Floats:
    """Return the sum of the time since each of ``times`` at each of ``edges``."""
    times = np.sort(times)
    before = np.searchsorted(times, edges)
    sums = np.concatenate([[0.0], np.cumsum(times, dtype=np.float64)])
    return np.asarray(before * edges.astype(np.float64) - sums[before])


@dataclass(frozen=True, eq=False)
class Quiet:
    """For each thread the longest time in which it begins and ends no call; it may wait there, or compute.

    Attributes
    ----------
    start, end : int64 (threads,)
        Equal where the thread has no call.
    call : int64 (threads,)
        The innermost call then; -1: none.
    """

    start: Ints
    end: Ints
    call: Ints


def longest_quiet(waits: Waits) -> Quiet:
    """Return the longest time without an event of each thread, among those within a call that are known."""
    calls, threads = waits.trace.calls, waits.trace.threads
    n, known_since = len(threads), known_from(waits.trace)
    start, end, call = np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, -1, np.int64)
    for t, (first, count) in enumerate(zip(threads.first.tolist(), threads.count.tolist())):
        if not count:
            continue
        mine = slice(first, first + count)
        # What a late viewer did not receive is not silence.
        times = np.sort(np.concatenate([calls.start[mine], calls.end[mine]])).clip(known_since)
        lasts = np.diff(times)
        roots = np.flatnonzero(calls.depth[mine] == 1) + first
        # Between two root calls the thread is in none.
        root = roots[np.searchsorted(calls.start[roots], times[:-1], "right") - 1]
        lasts = np.where(calls.end[root] > times[:-1], lasts, 0)
        at = int(lasts.argmax())
        start[t], end[t] = times[at], times[at] + lasts[at]
    known = end > start
    which = np.flatnonzero(known).astype(np.int32)
    call[known] = innermost(calls, threads.first, threads.count, which, (start[known] + end[known]) // 2)
    return Quiet(start, end, call)


def shares(waits: Waits, low: int, high: int, parts: int = 2000) -> Floats:
    """Return for each number of threads, from 0, the share of the time in which about so many run.

    Parameters
    ----------
    waits : Waits
    low, high : int
        Nanoseconds.
    parts : int
        Into how many pieces that time is cut.

    Returns
    -------
    float64 (k,)
        They add up to 1.
    """
    edges = np.unique(np.linspace(low, max(high, low + 1), parts + 1).astype(np.int64))
    many = np.rint(running(waits, edges)).astype(np.int64)
    found: Floats = np.bincount(many, np.diff(edges).astype(np.float64)) / int(edges[-1] - edges[0])
    return found
