"""The critical path: what the end of a thread waited for, backwards through calls and waits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.waits.sync import walk_back
from ...trace.build import innermost
from ...trace.model import RELEASE, WAIT, Trace
from .correspondences import Correspondences
from .operations import Operations

Ints = NDArray[np.int64]
#: Kinds of steps of the path.
RUNS, WAITS, STARTS = 0, 1, 2
STEPS = ("runs", "waits", "starts")


@dataclass(frozen=True, eq=False)
class CriticalPath:
    """Steps in the order of time, each of which ends where the next begins.

    Attributes
    ----------
    thread : int32 (n,)
    start, end : int64 (n,)
    what : uint8 (n,)
        RUNS: the thread computes, or does what no rule knows. WAITS: the thread waits, from the release that
        woke it on, or all of a wait whose release isn't known; of no length where it went on at once. STARTS:
        the thread is being started.
    wait : int64 (n,)
        The row of the operations of a WAITS step; else -1.
    call : int64 (n,)
        The innermost call that lasts all of the step; -1: none.
    """

    thread: NDArray[np.int32]
    start: Ints
    end: Ints
    what: NDArray[np.uint8]
    wait: Ints
    call: Ints

    def __len__(self) -> int:
        return len(self.thread)


def critical_path(
    trace: Trace, ops: Operations, woke: Correspondences, thread: int | None = None, time: int | None = None
) -> CriticalPath:
    """Return the chain of runs and waits that decided when something was done.

    Waits of no length delay nothing: the path passes them over. Of waits that woke each other at one instant
    one, to which the walk comes back, is taken from its start.

    Parameters
    ----------
    trace : Trace
    ops : Operations
    woke : Correspondences
        As :func:`.correspondences.waking_releases` finds them.
    thread : int, optional
        The thread whose end is looked at; by default that which ends last. Where several end together, the
        first of them that ends without having been woken just then: the others follow from who woke them.
    time : int, optional
        The moment, in nanoseconds; by default the end of the thread's last call.

    Returns
    -------
    CriticalPath
    """
    calls, threads = trace.calls, trace.threads
    n = len(threads)
    began, ended = np.zeros((2, n), np.int64)
    for t in range(n):
        low, count = int(threads.first[t]), int(threads.count[t])
        if count:
            began[t], ended[t] = calls.start[low], calls.end[low : low + count].max()
    if not len(calls):
        none = np.empty(0, np.int64)
        return CriticalPath(none.astype(np.int32), none, none, none.astype(np.uint8), none, none)
    rows = np.flatnonzero((ops.kind == WAIT) & ops.blocked & ~ops.nested & (ops.lasted > 0))
    waker, woken_at = np.full(len(ops), -1, np.int32), np.zeros(len(ops), np.int64)
    # Pairs are ordered by wait and time: the last one written is the one that woke it.
    waker[woke.wait], woken_at[woke.wait] = ops.thread[woke.release], woke.time
    if thread is None:
        last = ended == ended.max()
        own_end = last.copy()
        own_end[ops.thread[rows[(waker[rows] >= 0) & (ops.end[rows] == ended.max())]]] = False
        thread = int((own_end if own_end.any() else last).argmax())
    if time is None:
        time = int(ended[thread])
    born, parent = np.zeros(n, np.int64), np.full(n, -1, np.int32)
    starts = np.flatnonzero((ops.kind == RELEASE) & (ops.about >= 0))
    starts = starts[ops.start[starts] <= began[ops.about[starts]]]
    starts = starts[np.argsort(ops.start[starts], kind="stable")]
    parent[ops.about[starts]], born[ops.about[starts]] = ops.thread[starts], ops.start[starts]
    first = np.searchsorted(ops.thread[rows], np.arange(n + 1)).astype(np.int64)
    # Two steps for each wait, two more for one of those that woke each other, and two for each thread.
    out = np.empty((3 * len(rows) + 2 * n, 4), np.int64)
    steps = walk_back(
        int(thread), int(time), first, ops.start[rows], ops.end[rows], waker[rows], woken_at[rows], began,
        parent, born, np.zeros(len(rows), np.uint8), out,
    )  # fmt: skip
    out = out[:steps][::-1]
    out = out[(out[:, 2] > out[:, 1]) | (out[:, 3] >= 0)]
    what = np.where(out[:, 3] >= 0, WAITS, np.where(out[:, 3] == -2, STARTS, RUNS)).astype(np.uint8)
    wait = np.append(rows, -1)[np.maximum(out[:, 3], -1)]
    step_thread, start, end = out[:, 0].astype(np.int32), out[:, 1].copy(), out[:, 2].copy()
    call = innermost(calls, threads.first, threads.count, step_thread, start)
    # Up to a call that lasts as long as the step does.
    while (short := (call >= 0) & (calls.end[call] < end)).any():
        call = np.where(short, calls.parent[call], call)
    call = np.where(what == RUNS, call, np.append(ops.call, -1)[wait])
    return CriticalPath(step_thread, start, end, what, wait, call)
