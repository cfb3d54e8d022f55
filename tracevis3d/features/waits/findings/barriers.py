"""Findings about barriers: the thread that comes last, for which all others wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....units import counted, duration
from ..operations import ARRIVAL
from .finding import Finding, several, titles

if TYPE_CHECKING:
    from ..waits import Waits

#: Minimum share of the trace that one thread waits for the one that comes last, and minimum share of all
#: waiting at the barrier that is for that one.
_LOST, _LAST = 0.1, 0.75


def findings(waits: Waits) -> list[Finding]:
    """Return one finding for each barrier at which threads wait mostly for one and the same.

    Parameters
    ----------
    waits : Waits

    Returns
    -------
    list of Finding
    """
    ops, trace = waits.ops, waits.trace
    if ARRIVAL not in ops.gifts:
        return []
    rows = waits.own
    rows = rows[(ops.wants[rows] == ops.gifts.index(ARRIVAL)) & (np.diff(ops.first)[rows] > 0)]
    rows = rows[waits.woken_by[rows] >= 0]
    # Before a thread began, nobody waited for what it does, nor once it has come.
    since = np.maximum(ops.start[rows], _begins(waits)[waits.woken_by[rows]])
    lasted = np.zeros(len(ops), np.int64)
    lasted[rows] = np.maximum(waits.woken_at[rows] - since, 0)
    object, found = ops.object[ops.first[rows]], []
    for o in np.unique(object).tolist():
        mine = rows[object == o]
        by = waits.woken_by[mine]
        lost = np.bincount(by, lasted[mine], len(trace.threads))
        last = int(lost.argmax())
        if lost[last] < max(_LAST * lost.sum(), 1):
            continue
        # Each round is ended by one arrival.
        rounds = len(np.unique(waits.waker[mine]))
        mine = mine[by == last]
        times = len(np.unique(waits.waker[mine]))
        waited = np.bincount(ops.thread[mine], lasted[mine], len(trace.threads))
        if waited.max() < _LOST * trace.span_ns:
            continue
        others = np.argsort(-waited, kind="stable")[: np.count_nonzero(waited)].tolist()
        who, name, ns = trace.threads.title(last), ops.objects[o], int(lost[last])
        often = f" {times:,} of {counted(rounds, 'time')}" if rounds > 1 else ""
        wait = "waits" if len(others) == 1 else "wait"
        found.append(
            Finding(
                "comes last",
                f"{who} comes last at {name}{often}: {several(titles(waits, others))} {wait} {duration(ns)} "
                f"for it{' in all' if len(mine) > 1 else ''}",
                ns, (last, *others), (name,), int(ops.start[mine].min()), int(ops.end[mine].max()), len(mine),
                int(ops.call[mine[0]]), causes=((last, -1, 0, ns),),
                headline=f"{who} comes last at {name}{often}: {duration(ns)} of waiting",
            )
        )  # fmt: skip
    return found


def _begins(waits: Waits) -> NDArray[np.int64]:
    """Return when each thread began: its first call or operation."""
    ops, calls = waits.ops, waits.trace.calls
    begin = np.full(len(waits.trace.threads), np.iinfo(np.int64).max)
    np.minimum.at(begin, calls.thread, calls.start)
    np.minimum.at(begin, ops.thread, ops.start)
    return begin
