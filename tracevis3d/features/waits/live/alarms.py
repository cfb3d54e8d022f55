"""Alarms about waits: threads in a deadlock, threads that queue for one object, queues that grow."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....live.growing import GrowingTrace, OpenWait
from ....live.stream.alarms import Alarm
from ....trace.model import RELEASE, WAIT
from ....units import count, counted, duration
from ..rules import GIFT, STATES, Rule, default_rules

Ints = NDArray[np.int64]

#: Nanoseconds for which threads must wait for each other.
_RING_NS = 200_000_000
#: A convoy: in this many nanoseconds, threads that waited on average; shorter waits don't count.
_CONVOY_NS, _QUEUE, _LEAST_NS = 500_000_000, 2.0, 1_000_000
#: A queue that grows: so many steps of time in a row, their nanoseconds; least growth, in items and as a
#: share of its items; share of the growth that each half must have. Steps are of the program's time: what
#: comes late and all at once still counts when it was.
_SAMPLES, _STEP_NS = 6, 100_000_000
_GREW, _GREW_BY, _HALF = 16, 0.2, 0.15
_IDLE = STATES.index("idle")


@lru_cache(maxsize=4096)
def _rule_of(operation: str) -> Rule | None:
    """Return the rule of a recorded operation; None: there is none, or the operation got nothing."""
    if operation.endswith((" (timed out)", " (failed)")):
        return None
    known = (rule for rule in default_rules().rules if not rule.within)
    return next((rule for rule in known if rule.pattern.fullmatch(operation)), None)


@lru_cache(maxsize=4096)
def _item_of(operation: str) -> int:
    """Return by how much an operation changes the items in its queue: 1, -1 or 0."""
    get = _rule_of(operation.rpartition(".")[0] + ".get")
    rule = _rule_of(operation)
    if rule is None or get is None or not get.one or get.waits_for != _IDLE:
        return 0
    if rule.kind == "release" and rule.gift == GIFT:
        return 1
    return -(rule is get)


@dataclass
class _Object:
    """What is known of an object: who got it last, who released it last, who waited for it lately.

    Attributes
    ----------
    taken : (int, int)
        Time and thread.
    released : int
        Time.
    waits : deque of (int, int)
        Start and end of waits that are over.
    items, least : int
        Items in a queue, if it was empty when the feed began; the least so far.
    changes : dict of int to int
        Steps of time -> by how much the items changed in them; those before ``begun`` are in ``before``.
    begun, before : int
        The first step that is kept, and the items when it began.
    """

    taken: tuple[int, int] = (-(1 << 62), -1)
    released: int = -(1 << 62)
    waits: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=4096))
    items: int = 0
    least: int = 0
    changes: dict[int, int] = field(default_factory=dict)
    begun: int = 0
    before: int = 0

    def change(self, ends: Ints, each: int) -> None:
        """Take operations at some moments, each of which changes the items by ``each``."""
        steps, counts = np.unique(ends // _STEP_NS, return_counts=True)
        for step, items in zip(steps.tolist(), (each * counts).tolist(), strict=True):
            if step < self.begun:
                self.before += items
            else:
                self.changes[step] = self.changes.get(step, 0) + items

    def samples(self, now: int) -> list[int]:
        """Return the items at the ends of the last steps that are over; older ones are forgotten."""
        last = now // _STEP_NS
        for step in sorted(step for step in self.changes if step < last - _SAMPLES):
            self.before += self.changes.pop(step)
        self.begun = max(self.begun, last - _SAMPLES)
        found = [self.before]
        for step in range(self.begun, last):
            found.append(found[-1] + self.changes.get(step, 0))
        return found


class WaitAlarms:
    """Follows the waits and releases of a feed.

    Parameters
    ----------
    growing : GrowingTrace
    """

    def __init__(self, growing: GrowingTrace) -> None:
        self._growing = growing
        self._next = 0
        self._objects: dict[str, _Object] = {}
        self._stuck: set[int] = set()

    def look(self, now: int) -> list[Alarm]:
        """Return the alarms at ``now``, in the trace's nanoseconds, from what the feed has delivered."""
        batches, self._next = self._growing.batches("sync", self._next)
        for batch in batches:
            self._follow(batch)
        # The latest moment of which the feed speaks: what waits there may be over by now.
        known = min(self._growing.now, now)
        return [*self._deadlocks(known), *self._convoys(known), *self._growing_queues(known)]

    # -- what comes ---------------------------------------------------------------------------------------

    def _follow(self, batch: Mapping[str, Any]) -> None:
        """Process a batch: the last row of each operation and object, and all waits with a duration."""
        operation, thing = batch["operation"].astype(np.int64), batch["object"].astype(np.int64)
        rows = np.flatnonzero(thing >= 0)
        if not len(rows):
            return
        pairs, which = np.unique(operation[rows] << 32 | thing[rows], return_inverse=True)
        which = which.reshape(-1)
        order = np.lexsort((batch["end"][rows], which))
        bounds = np.searchsorted(which[order], np.arange(len(pairs) + 1))
        for i, pair in enumerate(pairs.tolist()):
            mine = rows[order[bounds[i] : bounds[i + 1]]]
            self._take(batch, batch["operation names"].get(pair >> 32, ""), pair & 0xFFFFFFFF, mine)

    def _take(self, batch: Mapping[str, Any], operation: str, thing: int, rows: Ints) -> None:
        """Take the rows of one operation on one object, in the order of their ends."""
        name, rule = batch["object names"].get(thing, ""), _rule_of(operation)
        bare = _rule_of(operation.partition(" (")[0])
        if not name or bare is None:
            return
        last = int(rows[-1])
        kind = int(batch["kind"][last])
        object = self._objects.get(name) or self._objects.setdefault(name, _Object())
        if each := _item_of(operation):
            object.items += len(rows) * each
            object.least = min(object.least, object.items)
            object.change(batch["end"][rows], each)
        if kind == RELEASE:
            object.released = max(object.released, int(batch["start"][last]))
        elif kind == WAIT and bare.holds:
            lasted = batch["end"][rows] - batch["start"][rows] >= _LEAST_NS
            mine = rows[lasted]
            object.waits += zip(batch["start"][mine].tolist(), batch["end"][mine].tolist(), strict=True)
            if rule is not None:
                object.taken = max(object.taken, (int(batch["end"][last]), int(batch["thread"][last])))

    # -- what is found ------------------------------------------------------------------------------------

    def _holder(self, wait: OpenWait) -> int:
        """Return the thread that a wait is for; -1: unknown, or nobody in particular."""
        rule = _rule_of(wait.operation)
        if rule is None or not wait.object:
            return -1
        if rule.thread:
            return self._named(rule.thread, wait)
        if not rule.holds:
            return -1
        object = self._objects.get(wait.object, _Object())
        if object.taken[0] >= wait.start:
            return object.taken[1] if object.released < object.taken[0] else -1
        return wait.holder if object.released < wait.start else -1

    def _named(self, template: str, wait: OpenWait) -> int:
        """Return the thread of the same process that a wait's object names; -1: none, or several."""
        threads = self._growing.threads()
        process = threads[wait.thread][0]
        found = [
            number
            for number, (of, tid, name) in enumerate(threads)
            if of == process and wait.object == template.format(name=name, tid=tid)
        ]
        return found[0] if len(found) == 1 else -1

    def _deadlocks(self, now: int) -> list[Alarm]:
        """Return the rings of threads that have waited for each other for a while."""
        waits = {wait.thread: wait for wait in sorted(self._growing.waiting.values(), key=lambda w: w.start)}
        after = {thread: self._holder(wait) for thread, wait in waits.items()}
        found: list[list[OpenWait]] = []
        for first in waits:
            chain: list[int] = []
            at = first
            while at in waits and at not in chain:
                chain.append(at)
                at = after[at]
            if at == first and chain and first == min(chain):
                found.append([waits[thread] for thread in chain])
        lasting = [ring for ring in found if now - max(wait.start for wait in ring) >= _RING_NS]
        self._stuck = {wait.thread for ring in lasting for wait in ring}
        return [self._deadlock(ring) for ring in lasting]

    def _deadlock(self, ring: list[OpenWait]) -> Alarm:
        objects = sorted({wait.object for wait in ring})
        if len(ring) == 1:
            (alone,) = ring
            words = f"{self._title(alone.thread)} waits for {alone.object}, which it holds itself"
        else:
            of = [
                f"{self._title(wait.thread)} for {wait.object}, which {self._title(by.thread)} holds"
                if not wait.object.startswith("Thread:")
                else f"{self._title(wait.thread)} for the end of {self._title(by.thread)}"
                for wait, by in zip(ring, [*ring[1:], ring[0]], strict=True)
            ]
            words = f"{len(ring)} threads wait for each other: {', '.join(of)}"
        return Alarm("deadlock", ", ".join(objects), words, tuple(wait.thread for wait in ring))

    def _convoys(self, now: int) -> list[Alarm]:
        """Return the objects that several threads have been queueing for without interruption."""
        since, found = now - _CONVOY_NS, []
        open_waits: dict[str, list[OpenWait]] = {}
        for wait in self._growing.waiting.values():
            rule = _rule_of(wait.operation)
            if rule is not None and rule.holds and wait.object:
                open_waits.setdefault(wait.object, []).append(wait)
        for name, object in self._objects.items():
            while object.waits and object.waits[0][1] < since:
                object.waits.popleft()
            queue = open_waits.pop(name, [])
            if object.waits or queue:
                found += self._convoy(name, object, queue, now)
        for name, queue in open_waits.items():
            found += self._convoy(name, _Object(), queue, now)
        return found

    def _convoy(self, name: str, object: _Object, queue: list[OpenWait], now: int) -> list[Alarm]:
        since = now - _CONVOY_NS
        waited = sum(min(end, now) - max(start, since) for start, end in object.waits if end > since)
        waited += sum(now - max(wait.start, since) for wait in queue if wait.start < now)
        if waited < _QUEUE * _CONVOY_NS or not queue:
            return []
        first = min(queue, key=lambda wait: wait.start)
        holder = self._holder(first)
        if holder in self._stuck or self._stuck.issuperset(wait.thread for wait in queue):
            return []  # the deadlock is the reason
        threads, lasts = count(max(round(waited / _CONVOY_NS), len(queue))), duration(now - first.start, 2)
        queuing = f"{threads} threads queue for"
        passed = sum(end > since for _, end in object.waits)
        if passed:
            words = f"{queuing} {name}: it was passed on {counted(passed, 'time')} in "
            words += duration(_CONVOY_NS)
        elif holder >= 0:
            words = f"{self._title(holder)} holds {name} while {queuing} it, for {lasts} now"
        else:
            words = f"{queuing} {name}, the first one for {lasts}"
        concerned = dict.fromkeys((*((holder,) if holder >= 0 else ()), *(wait.thread for wait in queue)))
        return [Alarm("convoy", name, words, tuple(concerned))]

    def _growing_queues(self, now: int) -> list[Alarm]:
        """Return the queues that grow steadily."""
        found = []
        for name, object in self._objects.items():
            samples = object.samples(now) if object.changes or object.before else []
            if len(samples) <= _SAMPLES:
                continue
            grown, middle = samples[-1] - samples[0], samples[_SAMPLES // 2]
            falls = any(after < before for before, after in pairwise(samples))
            steady = min(middle - samples[0], samples[-1] - middle) > _HALF * grown
            if falls or not steady or grown < max(_GREW, _GREW_BY * (samples[-1] - object.least)):
                continue
            words = (
                f"{name} has grown by {count(grown)} items in {duration(_SAMPLES * _STEP_NS)} to at least "
                f"{count(samples[-1] - object.least)}: more is put than taken"
            )
            found.append(Alarm("growing queue", name, words))
        return found

    def _title(self, thread: int) -> str:
        threads = self._growing.threads()
        tid, name = threads[thread][1:] if 0 <= thread < len(threads) else (thread, "")
        return name or f"thread {tid}"
