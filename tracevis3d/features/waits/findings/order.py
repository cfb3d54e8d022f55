"""Findings about the order of locks: objects that threads acquire in different orders.

As in Goodlock (Havelund, *Using Runtime Analysis to Guide Model Checking of Java Programs*, SPIN 2000;
Bensalem and Havelund, *Dynamic Deadlock Analysis of Multi-threaded Programs*, 2005), orders count as
different only where no further object keeps threads from being between their two acquisitions at the same
time; where one of them begins only after the other one has ended, the finding says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....trace.model import RELEASE, WAIT
from ..holds import LockOrder
from ..operations import DONE
from .finding import Finding, some, titles

if TYPE_CHECKING:
    from ..waits import Waits

Ints = NDArray[np.int64]

#: Maximum number of findings, and of steps in search of a ring.
_CYCLES, _STEPS = 20, 20_000
#: How often two objects are held by two threads at once, none of which wants the other's, before it is taken
#: for the program's rule.
_AT_ONCE, _ENOUGH = 3, 200


def findings(waits: Waits) -> list[Finding]:
    """Return one finding for each group of objects for which threads can wait in a ring.

    Parameters
    ----------
    waits : Waits

    Returns
    -------
    list of Finding
    """
    order, held, objects = waits.order, waits.held, waits.ops.objects
    after: dict[int, list[int]] = {}
    for outer, inner in zip(order.outer.tolist(), order.inner.tolist()):
        if inner not in (of := after.setdefault(outer, [])):
            of.append(inner)
    found: list[Finding] = []
    apart = _Apart(waits)
    for group in strongly_connected(after):
        inside = np.flatnonzero(np.isin(order.outer, group) & np.isin(order.inner, group))
        threads = sorted(set(order.thread[inside].tolist()))
        if len(found) == _CYCLES or not _has_ring(order, inside.tolist(), apart.ever):
            continue
        possible = "a deadlock is possible"
        if not _has_ring(order, inside.tolist(), apart.here):
            possible += " if they run at the same time; here one ends before another begins"
        names, count = [objects[o] for o in group], int(order.count[inside].sum())
        found.append(
            Finding(
                "lock order",
                f"{some(names)} are acquired in different orders by {some(titles(waits, threads))}: "
                f"{possible}",
                count, tuple(threads), tuple(names), int(held.start[order.hold_outer[inside]].min()),
                max(int(order.last[inside].max()), int(held.end[order.hold_inner[inside]].max())), count,
            )
        )  # fmt: skip
    return found


def _has_ring(order: LockOrder, rows: list[int], apart: Callable[[int, int], bool]) -> bool:
    """Return whether threads can wait for each other in a ring; also if a long search finds none."""
    of: dict[int, list[int]] = {}
    for row in rows:
        of.setdefault(int(order.outer[row]), []).append(row)
    steps = 0
    for root in rows:
        paths = [[root]]
        while paths:
            steps += 1
            if steps > _STEPS:
                return True
            path = paths.pop()
            for row in of.get(int(order.inner[path[-1]]), ()):
                # The least object of a ring begins it.
                if order.outer[row] < order.outer[root] or any(apart(one, row) for one in path):
                    continue
                if order.inner[row] == order.outer[root]:
                    return True
                paths.append([*path, row])
    return False


class _Apart:
    """Whether two acquisitions, rows of the order, can't be under way at the same time."""

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._known: dict[tuple[int, int], bool] = {}
        self._reached: dict[int, dict[int, int]] = {}
        ops = waits.ops
        begun = np.flatnonzero((ops.kind == RELEASE) & (ops.about >= 0))
        joined = np.flatnonzero((ops.kind == WAIT) & (ops.about >= 0) & (ops.ending == DONE))
        # After which moment of a thread all of another one comes, or the rest of it.
        self._then: dict[int, list[tuple[int, int, int]]] = {}
        for row in begun.tolist():
            time = int(ops.start[row])
            self._then.setdefault(int(ops.thread[row]), []).append((time, int(ops.about[row]), time))
        for row in joined.tolist():
            then = int(ops.thread[row]), int(ops.end[row])
            self._then.setdefault(int(ops.about[row]), []).append((-1, *then))

    def ever(self, one: int, other: int) -> bool:
        """Return whether they can't in any run, as far as this one tells."""
        key = min(one, other), max(one, other)
        if key not in self._known:
            self._known[key] = self._are(*key)
        return self._known[key]

    def here(self, one: int, other: int) -> bool:
        """Return whether they can't in this run: one thread begins after another has ended."""
        return self.ever(one, other) or self._comes_after(one, other) or self._comes_after(other, one)

    def _are(self, one: int, other: int) -> bool:
        order = self._waits.order
        if order.thread[one] == order.thread[other] or order.gates[one] & order.gates[other]:
            return True
        crossed = order.outer[one] == order.inner[other] and order.inner[one] == order.outer[other]
        return bool(crossed) and (self._never_wanted(one, other) or self._never_wanted(other, one))

    def _comes_after(self, one: int, other: int) -> bool:
        """Return whether ``other`` is acquired only after the last of ``one``, by starts and joins."""
        order = self._waits.order
        if one not in self._reached:
            self._reached[one] = self._after(int(order.thread[one]), int(order.last[one]))
        since = self._reached[one].get(int(order.thread[other]))
        return since is not None and since <= order.first[other]

    def _after(self, thread: int, time: int) -> dict[int, int]:
        """Return since when what threads do comes after a moment of one of them."""
        since = {thread: time}
        new = [thread]
        while new:
            one = new.pop()
            for begin, another, then in self._then.get(one, ()):
                # A thread's end comes after all of it.
                if (begin < 0 or begin >= since[one]) and then < since.get(another, then + 1):
                    since[another] = then
                    new.append(another)
        return since

    def _never_wanted(self, one: int, other: int) -> bool:
        """Return whether others hold what ``one`` begins with while ``other``'s is held, and never want that.

        The first reader of a lock for readers and writers takes the writers' lock while it holds the count's;
        while readers hold it, others take the count's again and again, and know that they needn't.
        """
        waits, order, held, ops = self._waits, self._waits.order, self._waits.held, self._waits.ops
        first, second = int(order.outer[one]), int(order.inner[one])
        low, high = np.searchsorted(held.object, [first, first + 1])
        start, end, thread = held.start[low:high], held.end[low:high], held.thread[low:high]
        # Only what is acquired in the same place could want the other one, too.
        function, line = waits.function[held.acquire[low:high]], ops.line[held.acquire[low:high]]
        at = int(order.hold_outer[one]) - int(low)
        alike = (function == function[at]) & (line == line[at])
        rows, object = ops.per_object(np.flatnonzero(ops.asks))
        wanted = rows[object == second]
        times = 0
        for hold in order.held_outer[other].tolist():
            a, b = np.searchsorted(start, [held.start[hold], held.end[hold]])
            mine = a + np.flatnonzero(alike[a:b] & (thread[a:b] != held.thread[hold]))
            for i in mine.tolist():
                same = wanted[ops.thread[wanted] == thread[i]]
                if ((ops.start[same] >= start[i]) & (ops.start[same] <= end[i])).any():
                    return False
            times += len(mine)
            if times >= _ENOUGH:
                break
        return times >= _AT_ONCE


def strongly_connected(after: dict[int, list[int]]) -> list[list[int]]:
    """Return groups of more than one node that reach each other (Tarjan's algorithm, no recursion).

    Parameters
    ----------
    after : dict of int to list of int
        What follows each node.

    Returns
    -------
    list of list of int
        The largest first.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on: set[int] = set()
    groups = []
    for root in after:
        if root in index:
            continue
        work = [(root, iter(after.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, children = work[-1]
            for child in children:
                if child not in index:
                    index[child] = low[child] = len(index)
                    stack.append(child)
                    on.add(child)
                    work.append((child, iter(after.get(child, ()))))
                    break
                if child in on:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        group.append(stack.pop())
                        on.discard(group[-1])
                        if group[-1] == node:
                            break
                    if len(group) > 1:
                        groups.append(sorted(group))
    return sorted(groups, key=len, reverse=True)
