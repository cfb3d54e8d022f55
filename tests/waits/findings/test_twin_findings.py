"""What is remarkable about waits, against a plain twin of each kind of finding."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import cycle, islice, pairwise
from pathlib import Path
from statistics import median
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.waits.sync_traces import lines, trace_of, with_lines
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.findings.finding import COSTLY, GRAVE, KINDS, USUAL
from tracevis3d.features.waits.findings.order import strongly_connected
from tracevis3d.features.waits.operations import DONE, FAILED, TIMED_OUT, UNFINISHED
from tracevis3d.features.waits.outcomes import FOLLOWS, HOW, INFERRED, RECORDED
from tracevis3d.features.waits.rules import STATES
from tracevis3d.features.waits.waits import IO, RELEASE, WAIT, Waits, find_waits
from tracevis3d.units import duration, percentage

# -- programs in which much is remarkable, or nearly so ----------------------------------------------------


def polls(draw, thread, at):
    """A wait that ends by itself, every so often."""
    name, object = draw(st.sampled_from([("Event.wait", "E"), ("time.sleep", "-"), ("Event.wait", "-")]))
    every, jitter = draw(st.sampled_from([10, 100])), draw(st.sampled_from([0, 0, 4, 20]))
    rows = []
    for _ in range(draw(st.integers(4, 7))):
        length = draw(st.integers(every // 2, every))
        rows.append((thread, at, at + length, name, "wait", object, 1))
        at += max(every + draw(st.integers(-jitter, jitter)), length)
    return rows


def farm(draw, thread, at):
    """Workers that wait for what a farmer gives them, some of it given by a helper."""
    rows = []
    for i in range(draw(st.integers(2, 6))):
        end = at + draw(st.integers(10, 60))
        giver = draw(st.sampled_from(["farmer", "farmer", "farmer", "helper"]))
        rows.append((f"{thread}{i}", at, end, "Queue.get", "wait", f"Q{thread}{i}", 1))
        rows.append((giver, end, end, "Queue.put", "release", f"Q{thread}{i}"))
    return rows


def convoy(draw, thread, at):
    """Threads that take turns with a lock, and queue for it."""
    rows, free = [], at
    for i in range(draw(st.integers(2, 7))):
        who, held = f"{thread}{i % draw(st.integers(2, 4))}", draw(st.integers(2, 20))
        begin = max(at, free - draw(st.integers(0, 30)))
        rows.append((who, begin, free + 1, "Lock.acquire", "wait", "L", int(free + 1 > begin)))
        free += 1 + held
        rows.append((who, free - 1, free - 1, "Lock.release", "release", "L"))
        if draw(st.booleans()):
            free += draw(st.integers(0, 40))
    return rows


def nested(draw, thread, at):
    """Locks that are acquired while others are held, not always in one order."""
    rows = []
    for i in range(draw(st.integers(1, 4))):
        who = f"{thread}{draw(st.integers(0, 1))}"
        locks = draw(st.permutations("XYZ"))[: draw(st.integers(1, 3))]
        for lock in locks:
            rows.append((who, at, at + 1, "Lock.acquire", "wait", lock, 0))
            at += 2
        for lock in reversed(locks):
            if draw(st.integers(0, 7)):
                rows.append((who, at, at, "Lock.release", "release", lock))
            at += 1
        at += 50 * i
    return rows


def hang(draw, thread, at):
    """Threads that wait to the end, or nearly, for what others hold, or nobody."""
    rows, threads = [], [f"{thread}{i}" for i in range(draw(st.integers(1, 4)))]
    until = at + draw(st.sampled_from([40, 400, 4000]))
    for i, who in enumerate(threads):
        rows.append((who, at, until, "run"))
        if draw(st.integers(0, 3)):
            rows.append((who, at + 1, at + 2, "Lock.acquire", "wait", f"H{thread}{i}", 0))
        wanted = draw(st.sampled_from([f"H{thread}{k}" for k in range(len(threads) + 1)]))
        name, still = draw(st.sampled_from(["Lock.acquire"] * 3 + ["Lock.acquire (timed out)"])), 1
        if name == "Lock.acquire":
            still = draw(st.sampled_from([1, 1, 2]))
        rows.append((who, at + 5, until - draw(st.integers(0, 9)), name, "wait", wanted, still))
    return rows


def hog(draw, thread, at):
    """A thread that gets a lock again and again while others wait for it, and reads or sleeps with it."""
    rows, begin = [], at
    for _ in range(draw(st.integers(6, 20))):
        held, doing = draw(st.integers(3, 9)), draw(st.sampled_from(["read", "sleep", "run", "get"]))
        rows.append((thread, at, at, "Lock.acquire", "wait", f"H{thread}", 0))
        if doing == "read":
            rows.append((thread, at + 1, at + held - 1, "read", "io", "file"))
        elif doing == "sleep":
            rows.append((thread, at + 1, at + held - 1, "Sleep", "wait", "-", 1))
        elif doing == "get":
            rows.append((thread, at + 1, at + held - 1, "Queue.get", "wait", "Q", 1))
            rows.append(("giver", at + held - 2, at + held - 2, "Queue.put", "release", "Q"))
        at += held
        rows.append((thread, at, at, "Lock.release", "release", f"H{thread}"))
        at += draw(st.integers(1, 2))
    for i in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(["Lock.acquire", "Lock.acquire", "Lock.acquire (timed out)"]))
        rows.append((f"{thread}w{i}", begin + i, at + i, name, "wait", f"H{thread}", 1))
    return rows


def in_vain(draw, thread, at):
    """Threads that wait for a signal, and give up or never go on; it came before, perhaps to somebody."""
    rows, object = [], f"C{thread}"
    for i in range(draw(st.integers(0, 3))):
        rows.append((f"{thread}s", at, at, "Condition.notify", "release", object))
        if draw(st.booleans()):
            rows.append((f"{thread}w{i}", max(at - 5, 0), at + 5, "Condition.wait", "wait", object, 1))
        at += draw(st.integers(5, 40))
    for i in range(draw(st.integers(1, 3))):
        how = draw(st.sampled_from([" (timed out)", " (failed)", " (timed out)", ""]))
        name = draw(st.sampled_from(["Condition.wait", "Condition.wait", "Barrier.wait", "Thread.join"]))
        until = at + draw(st.sampled_from([20, 200, 2000]))
        rows.append((f"{thread}w{i}", at, until, f"{name}{how}", "wait", object, 1 if how else 2))
    return rows


def seats(draw, thread, at):
    """Several hold one semaphore at a time, while others wait for it."""
    rows = []
    for i in range(draw(st.integers(2, 3))):
        until = at + draw(st.integers(20, 60))
        rows.append((f"{thread}h{i}", at + i, at + i, "Semaphore.acquire", "wait", f"S{thread}", 0))
        if draw(st.booleans()):
            rows.append((f"{thread}h{i}", at + 5, until - 5, "Sleep", "wait", "-", 1))
        rows.append((f"{thread}h{i}", until, until, "Semaphore.release", "release", f"S{thread}"))
        rows.append((f"{thread}w{i}", at + 4, until + 1, "Semaphore.acquire", "wait", f"S{thread}", 1))
    return rows


def relay(draw, thread, at):
    """Threads that wait for work while they hold a lock, in turn."""
    rows = []
    for i in range(draw(st.integers(3, 7))):
        who, works = f"{thread}{i % draw(st.integers(2, 4))}", draw(st.integers(3, 20))
        rows.append((who, at - 2, at, "Lock.acquire", "wait", f"T{thread}", 1))
        rows.append((who, at + 1, at + works, "Queue.get", "wait", f"W{thread}", 1))
        at += works + draw(st.integers(0, 4))
        rows.append((who, at, at, "Lock.release", "release", f"T{thread}"))
        at += 1
    return rows


def outlier(draw, thread, at):
    """Many short calls, and one that is far longer, perhaps within another, or because it waits."""
    usual, name = draw(st.sampled_from([1, 8, 100])), draw(st.sampled_from(["visit", "visit", "poll_once"]))
    rows = []
    for i in range(draw(st.integers(18, 23))):
        rows.append((thread, at, at + (usual if i % 4 else 3 * usual), name))
        rows.append((thread, at, at + usual // 2, f"inner{draw(st.integers(0, 3) if i < 2 else st.just(0))}"))
        at += 4 * usual
    for _ in range(draw(st.integers(1, 2))):
        length = usual * draw(st.sampled_from([15, 17, 33, 63, 64, 65, 127, 128, 300]))
        rows.append((thread, at, at + length, name))
        kind = draw(st.sampled_from(["alone", "inner", "inner", "wait", "around"]))
        part = int(length * draw(st.sampled_from([0.3, 0.51, 0.79, 0.8, 0.95])))
        if kind == "inner":
            rows.append((thread, at, at + part, "inner0"))
        elif kind == "wait":
            rows.append((thread, at, at + part, "Event.wait", "wait", "E", 1))
        elif kind == "around":
            rows[-1] = (thread, at, at + length, "Event.wait", "wait", "E", 1)
            rows.append((thread, at, at + part, name))
        at += length + 1
    return rows


@st.composite
def programs(draw):
    rows = []
    for number in range(draw(st.integers(1, 3))):
        kinds = [polls, farm, convoy, nested, hang, hog, in_vain, seats, relay, outlier]
        kind = draw(st.sampled_from(kinds))
        rows += kind(draw, f"t{number}", draw(st.integers(2, 200)))
    last = max(row[2] for row in rows)
    if draw(st.booleans()):
        # What is acquired is acquired by some function, of a file or not.
        for i, who in enumerate(sorted({row[0] for row in rows})):
            times = [time for row in rows if row[0] == who for time in row[1:3]]
            name = f"work of {who} (/src/work.py:{10 + i})" if draw(st.booleans()) else "work"
            rows.append((who, max(min(times) - 1, 0), max(times) + 1, name))
    rows.append(("main", 0, draw(st.sampled_from([last, 2 * last, 10 * last, 50 * last])), "run"))
    return rows


# -- the twin ----------------------------------------------------------------------------------------------


class Plain:
    """The operations as rows, for loops."""

    def __init__(self, waits: Waits) -> None:
        ops, trace = waits.ops, waits.trace
        self.waits, self.span, self.title = waits, trace.span_ns, trace.threads.title
        self.delays = {}
        self.calls = [
            SimpleNamespace(
                id=i, thread=int(trace.calls.thread[i]), start=int(trace.calls.start[i]),
                end=int(trace.calls.end[i]), function=trace.functions.label[trace.calls.function[i]],
                below=range(i + 1, i + int(trace.calls.extent[i])),
            )
            for i in range(len(trace))
        ]  # fmt: skip
        self.ops = [
            SimpleNamespace(
                row=i, thread=int(ops.thread[i]), start=int(ops.start[i]), end=int(ops.end[i]), of=ops.of(i),
                name=ops.names[ops.name[i]], call=int(ops.call[i]), wait=ops.kind[i] == WAIT,
                waker=int(waits.woken_by[i]), holder=int(waits.held_by[i]), about=int(ops.about[i]),
                asks=bool(ops.asks[i]), told=int(ops.holder[i]), blocked=bool(ops.blocked[i]),
                nested=bool(ops.nested[i]), ending=int(ops.ending[i]), state=STATES[ops.state[i]],
                transfers=ops.kind[i] == IO, gives=ops.kind[i] == RELEASE,
                lasted=int(ops.end[i] - ops.start[i]), function=int(waits.function[i]),
                wants=ops.gifts[ops.wants[i]] if ops.wants[i] >= 0 else "", gift=int(ops.gives[i]),
                gave=ops.gifts[ops.gives[i]] if ops.gives[i] >= 0 else "",
            )
            for i in range(len(ops))
        ]  # fmt: skip
        self.own = [self.ops[i] for i in waits.own.tolist()]
        self.queue, outer = [], None
        for op in self.ops:
            if op.wait and not op.nested:
                outer = op
            again = op.nested and op.of[:1] == outer.of[:1] != [] and op.thread == outer.thread
            if op.blocked and not again:
                self.queue.append(op)
        held = waits.held
        self.holds = [
            SimpleNamespace(
                thread=int(held.thread[i]), object=ops.objects[held.object[i]], start=int(held.start[i]),
                end=int(held.end[i]), released=held.release[i] >= 0, by=self.ops[held.acquire[i]],
                lasted=int(held.end[i] - held.start[i]),
                releaser=int(ops.thread[held.release[i]]) if held.release[i] >= 0 else -1,
            )
            for i in range(len(held))
        ]  # fmt: skip

    def last(self, thread):
        return max((call.end for call in self.calls if call.thread == thread), default=0)

    def findings(self):
        never, dead = self.never_released()
        leaders, polling = self.leaders(), self.polling()
        polled = [(row[3], row[4]) for row in polling]
        stuck = [
            row for row in [*never, *self.given_up()]
            if not any(([thread], row[4]) in polled for thread in row[3])
        ]  # fmt: skip
        led = {row[4][0] for row in leaders}
        others = [*self.convoys(), *self.held_over(), *self.starvation()]
        every = [
            *self.lock_order(), *dead, *stuck, *self.held(), *leaders, *self.farmers(),
            *(row for row in others if row[4][0] not in led), *polling, *self.idle(), *self.outliers(),
        ]  # fmt: skip
        # How it is known, its title if that is not the sentence's beginning, and who caused it.
        return [row if len(row) > 9 else (*row, HOW[FOLLOWS], "", ()) for row in every]

    def lock_order(self):
        order, objects = self.waits.order, self.waits.ops.objects
        keys = zip(order.outer.tolist(), order.inner.tolist(), order.thread.tolist(), order.gates)
        every = [(*key, i) for i, key in enumerate(keys)]
        found = []
        for group in plain_groups({(a, b) for a, b, *_ in every}):
            inside = [one for one in every if one[0] in group and one[1] in group]
            if any(self.ring([one], inside) for one in inside):
                threads, rows = sorted({one[2] for one in inside}), [one[4] for one in inside]
                names, count = [objects[o] for o in group], sum(int(order.count[i]) for i in rows)
                times = (
                    min(self.holds[order.hold_outer[i]].start for i in rows),
                    max(max(int(order.last[i]), self.holds[order.hold_inner[i]].end) for i in rows),
                )
                who = some([self.title(t) for t in threads])
                said = f"{some(names)} are acquired in different orders by {who}: a deadlock is possible"
                found.append(("lock order", said, count, threads, names, *times, count, -1))
        return found

    def ring(self, path, every):
        """Whether acquisitions go on to a ring, of threads that nothing keeps apart."""
        if len(path) > 1 and path[-1][1] == path[0][0]:
            return True
        return any(
            self.ring([*path, one], every) for one in every
            if one[0] == path[-1][1] and not any(self.apart(one, other) for other in path)
        )  # fmt: skip

    def apart(self, one, other):
        if one[2] == other[2] or one[3] & other[3]:
            return True
        crossed = (one[0], one[1]) == (other[1], other[0])
        return crossed and (self.never_wanted(one, other) or self.never_wanted(other, one))

    def never_wanted(self, one, other):
        """Whether those that do what ``one`` begins with during ``other`` never go on as it does."""
        order, objects, ops = self.waits.order, self.waits.ops.objects, self.waits.ops
        example, times = self.holds[order.hold_outer[one[4]]], 0

        def site(hold):
            return int(self.waits.function[hold.by.row]), int(ops.line[hold.by.row])

        for held in order.held_outer[other[4]].tolist():
            around = self.holds[held]
            for hold in self.holds:
                if hold.object != objects[one[0]] or not around.start <= hold.start < around.end:
                    continue
                if hold.thread == around.thread or site(hold) != site(example):
                    continue
                times += 1
                for op in self.ops:
                    mine = op.thread == hold.thread and hold.start <= op.start <= hold.end
                    if mine and ops.asks[op.row] and objects[one[1]] in op.of:
                        return False
        return times >= 3

    def never_ended(self, op):
        if op.blocked and op.ending == UNFINISHED:
            return True
        if any(o.thread == op.thread and o.start >= op.end for o in [*self.calls, *self.ops]):
            return False
        return (
            op in self.own and op.waker < 0 and bool(op.of) and op.ending == DONE
            and op.lasted >= 0.05 * self.span and op.end >= self.last(op.thread) - 0.01 * self.span
        )  # fmt: skip

    def chain(self, op):
        """Return the ring that a wait leads into when it ends."""
        time, way = max(op.end - 1, op.start), []
        while op is not None and op not in way:
            way.append(op)
            thread = op.about
            if thread < 0 and op.asks and op.of:
                holding = [h for h in self.holds if h.object == op.of[0] and h.start <= time < h.end]
                thread = holding[0].thread if len(holding) == 1 else op.told if not holding else -1
            begun = [o for o in self.own if o.thread == thread and o.start <= time]
            op = begun[-1] if begun and begun[-1].end > time else None
        return way[way.index(op) :] if op is not None else []

    def never_released(self):
        outer = [op for op in self.ops if op.wait and op.blocked and not op.nested]
        stuck = [op for op in outer if self.never_ended(op)]
        given_up = [op for op in outer if op.asks and op.ending in (TIMED_OUT, FAILED)]
        rings = {}
        for op in sorted([*stuck, *given_up], key=lambda op: (-op.lasted, op.row)):
            chain = self.chain(op)
            if chain and chain[0] is op:
                rings.setdefault(frozenset(o.row for o in chain), (chain, op in given_up and op not in stuck))
        found = []
        for chain, ended in rings.values():
            names = [", ".join(op.of) for op in chain]
            who = [self.title(op.thread) for op in chain]
            for_ever = len(chain) > 1 and not ended
            start = max(op.start for op in chain)
            lost, kind = sum(op.lasted for op in chain), "deadlock"
            if ended:
                each, kind = [f"{w} for {n}" for w, n in zip(who, names)], "broken deadlock"
                time = max(chain[0].end - start, 0)
                said = f"{and_(who)} wait for each other for {duration(time)} ({and_(each)}), until "
                said += f"{who[0]} gives up"
                lost = len(chain) * time
            elif len(chain) == 1:
                said = f"{who[0]} waits for {names[0]}, which it holds itself: it blocks forever"
            else:
                parts = [
                    f"{w} waits for {n}, which {h} holds" for w, n, h in zip(who, names, [*who[1:], who[0]])
                ]
                said = "; ".join(parts) + ": none of them continues"
            found.append((
                kind, said, lost, [op.thread for op in chain],
                list(dict.fromkeys(o for op in chain for o in op.of)), min(op.start for op in chain),
                max(op.end for op in chain), len(chain), chain[0].call,
                HOW[RECORDED if all(self.how(op) == RECORDED for op in chain) else FOLLOWS],
                f"Deadlock: {and_(who)} wait for each other forever"
                if for_ever
                else f"{and_(who)} wait for each other until {who[0]} gives up"
                if ended
                else "",
                (),
            ))  # fmt: skip
        never = []
        for op in stuck:
            in_rings = {row for ring in rings for row in ring}
            worked = op.state == "idle" and any(
                o.wait and o.ending == DONE and o.end <= op.start and set(o.of) & set(op.of) for o in self.ops
            )
            if op.row not in in_rings and op.of and op.lasted >= 0.05 * self.span and not worked:
                said = f"{self.title(op.thread)} waits for {', '.join(op.of)} for {duration(op.lasted)}"
                said += ", until it ends: "
                said += "nothing comes" if op.state == "idle" else "no thread releases it"
                holders, still = [op.holder] if op.holder >= 0 else [], ""
                for holder in holders:
                    still = f"{self.title(holder)}{' ended and still' * self.ended(holder)} holds it"
                    said += f", {still}"
                early, words = self.too_early(op)
                said += f"; {words}" * bool(words)
                words = words or still
                headline = f"{said.partition(', until')[0]}: {words}" * bool(words)
                never.append((
                    "never released", said, op.lasted, [op.thread, *holders, *early], op.of,
                    self.since(op, op.start, op.end), op.end, 1, op.call,
                    HOW[RECORDED if op.ending == UNFINISHED else INFERRED], headline, (),
                ))  # fmt: skip
        return never, found

    def ended(self, thread):
        return any(op.thread == thread and op.gives and op.name.lower().endswith("end") for op in self.ops)

    def since(self, op, start, end):
        """Return the time of the signal before a wait in vain, if it is at most twice as long before."""
        last = self.signal(op)
        return last.start if last and start - last.start <= 2 * (end - start) else start

    def signal(self, op):
        """Return the last signal before a wait, if nobody waited then."""
        if op.asks or op.state == "idle" or op.wants != "object" or not op.of:
            return None
        gave = [
            o for o in self.ops if o.gives and o.gave == op.wants and op.of[0] in o.of and o.start <= op.start
        ]  # fmt: skip
        if not gave:
            return None
        last = max(gave, key=lambda o: (o.start, -o.row))
        if any(o.blocked and op.of[0] in o.of and o.start <= last.start <= o.end for o in self.ops):
            return None
        return last

    def too_early(self, op):
        """Say who signalled last before a wait, if nobody waited then."""
        last = self.signal(op)
        if not last:
            return [], ""
        before = duration(op.start - last.start)
        words = f"{self.title(last.thread)} had signalled it {before} before, when nobody waited"
        return [last.thread], words

    def given_up(self):
        groups, found = {}, []
        for op in self.own:
            signal = op.state == "signal" and op.of and op.wants != "end"
            if signal and op.ending in (TIMED_OUT, FAILED) and op.lasted >= 0.05 * self.span:
                groups.setdefault(op.of[0], []).append(op)
        for object, ops in groups.items():
            ops.sort(key=lambda op: (-op.lasted, op.row))
            threads = list(dict.fromkeys(op.thread for op in ops))
            failed = all(op.ending == FAILED for op in ops)
            said = f"{and_([self.title(t) for t in threads])} wait{'s' * (len(threads) == 1)} "
            said += f"{'up to ' * (len(ops) > 1)}{duration(ops[0].lasted)} for {object} in vain, and "
            end = "fails" if failed else "gives up"
            said += end if len(threads) == 1 else "fail" if failed else "give up"
            early, words = self.too_early(ops[0])
            headline = f"{said.partition(', and')[0]}: {words}" * bool(words)
            found.append((
                "given up", said + f"; {words}" * bool(words), sum(op.lasted for op in ops),
                list(dict.fromkeys([*threads, *early])), [object],
                self.since(ops[0], min(op.start for op in ops), max(op.end for op in ops)),
                max(op.end for op in ops), len(ops), ops[0].call,
                HOW[RECORDED], headline, (),
            ))  # fmt: skip
        return found

    def held(self):
        found = []
        for object in sorted({hold.object for hold in self.holds if hold.released}):
            mine = [
                hold for hold in self.holds
                if hold.object == object and not hold.released and hold.lasted >= 0.01 * self.span
            ]  # fmt: skip
            if mine and not any(self.passed_on(hold) for hold in self.holds if hold.object == object):
                one = max(mine, key=lambda hold: hold.lasted)
                how = "ends without releasing" if self.ended(one.thread) else "never releases"
                said = f"{self.title(one.thread)} {how} {object}, which it has held for "
                said += duration(one.lasted)
                found.append((
                    "held to the end", said, one.lasted, [one.thread], [object], one.start, one.end,
                    len(mine), one.by.call,
                ))  # fmt: skip
        return found

    def convoys(self):
        queue, found = self.waits.queues, []
        for number, object in enumerate(self.waits.ops.objects):
            events = [
                (int(time), int(length))
                for of, time, length in zip(queue.object, queue.time, queue.length, strict=True)
                if of == number
            ]
            stretches, open_ = [], None
            for i, (time, length) in enumerate(events):
                if length >= 1 and open_ is None:
                    open_ = i
                if open_ is not None and (length < 1 or i == len(events) - 1):
                    got = [
                        h for h in self.holds if h.object == object and events[open_][0] <= h.start <= time
                    ]
                    if len(got) >= 3 and max(length for _, length in events[open_ : i + 1]) >= 2:
                        stretches.append((events[open_ : i + 1], got))
                    open_ = None
            if not stretches or self.most_of_their_own(object) < 2:
                continue
            waited = sum(
                length * (later - time)
                for part, _ in stretches
                for (time, length), (later, _) in pairwise(part)
            )
            most = max(length for part, _ in stretches for _, length in part)
            lasted = [part[-1][0] - part[0][0] for part, _ in stretches]
            got = [hold for _, holds in stretches for hold in holds]
            when = f"for {duration(lasted[0])}"
            if len(stretches) > 1:
                when = f"{len(stretches)} times, for {duration(sum(lasted))} in all"
            mine = [hold for hold in self.holds if hold.object == object]
            said = (
                f"up to {most} threads queue for {object} {when}: it is passed on {len(got)} "
                f"times, {duration(waited)} of waiting in all{self.why(mine)}"
            )
            rest = waited - sum(map(self.delay, mine))
            if 4 * rest >= waited:
                said += f"; {duration(rest)} of it while nobody is known to hold it"
            worst = max(mine, key=self.delay)
            headline = f"{most} threads queue for {object}: {duration(waited)} of waiting"
            if self.delay(worst) >= 0.25 * sum(map(self.delay, mine)):
                headline = (
                    f"{self.title(worst.thread)} holds {object} for {duration(worst.lasted)} while up to "
                )
                headline += f"{most} threads queue for it"
            elif (who := self.mostly(mine)) is not None:
                headline = (
                    f"{self.title(who)} holds {object} {self.times(mine, who)} times while up to {most} "
                )
                headline += "threads queue for it"
            found.append((
                "convoy", said, waited, sorted({hold.thread for hold in got}), [object],
                stretches[0][0][0][0], stretches[-1][0][-1][0], len(got), -1, HOW[FOLLOWS], headline,
                self.causes([(hold, self.delay(hold)) for hold in mine]),
            ))  # fmt: skip
        return found

    def most_of_their_own(self, object):
        """Return how many wait for an object at once by waits that are no part of others."""
        mine = [op for op in self.ops if op.blocked and not op.nested and object in op.of]
        return max((sum(op.start <= one.start < op.end for op in mine) for one in mine), default=0)

    def waiting(self, hold, low, high):
        """Return the nanoseconds that threads wait for what is held between two times, by its share."""
        object = hold.object
        times = sorted({low, high}.union(
            time for one in [*self.queue, *(h for h in self.holds if h.object == object)]
            for time in (one.start, one.end) if low < time < high
        ))  # fmt: skip
        total = Fraction()
        for begin, end in pairwise(times):
            waiting = sum(op.of.count(object) for op in self.queue if op.start <= begin < op.end)
            holding = sum(h.object == object and h.start <= begin < h.end for h in self.holds)
            total += Fraction((end - begin) * waiting, max(holding, 1))
        return round(total)

    def delay(self, hold):
        if id(hold) not in self.delays:
            self.delays[id(hold)] = self.waiting(hold, hold.start, hold.end)
        return self.delays[id(hold)]

    def line(self, hold):
        """Return the line that was recorded, else where the function begins."""
        f = int(self.waits.function[hold.by.row])
        return int(self.waits.ops.line[hold.by.row]) or (
            int(self.waits.trace.functions.line[f]) if f >= 0 else 0
        )

    def site(self, hold):
        return hold.thread, int(self.waits.function[hold.by.row]), self.line(hold)

    def causes(self, delays):
        """Return the sites of holds with the delays that they caused, the largest first."""
        sites = {}
        for hold, ns in delays:
            if ns:
                sites[self.site(hold)] = sites.get(self.site(hold), 0) + ns
        return tuple((*site, sites[site]) for site in sorted(sites, key=lambda site: (-sites[site], site)))

    def how(self, op):
        return int(self.waits.outcomes.how[op.row])

    def place(self, hold):
        f, functions, trace = (
            int(self.waits.function[hold.by.row]),
            self.waits.trace.functions,
            self.waits.trace,
        )
        if f < 0:
            return ""
        line = self.line(hold)
        file = int(functions.file[f])
        return functions.label[f] + (
            f" ({Path(trace.files[file]).name}:{line})" if file >= 0 and line > 0 else ""
        )

    def mostly(self, holds):
        """Return the thread whose holds delayed others for nine tenths of the time; None: there is none."""
        sums = {}
        for hold in holds:
            sums[hold.thread] = sums.get(hold.thread, 0) + self.delay(hold)
        who = min(sums, key=lambda thread: (-sums[thread], thread))
        return who if sums[who] and sums[who] >= 0.9 * sum(sums.values()) else None

    def times(self, holds, thread):
        return sum(hold.thread == thread and self.delay(hold) > 0 for hold in holds)

    def why(self, holds):
        """Say who caused the most of a convoy."""
        total = sum(map(self.delay, holds))
        worst = max(holds, key=self.delay)
        place = self.place(worst)
        if self.delay(worst) >= 0.25 * total:
            who = self.title(worst.thread)
            said = f"; {who} caused {duration(self.delay(worst))} of it by holding it for "
            return said + duration(worst.lasted) + (f" in {place}" if place else "")
        sites = {}
        for hold in holds:
            if self.delay(hold):
                sites.setdefault(self.site(hold), [self.place(hold), 0])[1] += self.delay(hold)
        places = {}
        for place, ns in (sites[key] for key in sorted(sites, key=lambda key: (-sites[key][1], key))):
            if place:
                places[place] = places.get(place, 0) + ns
        if not places:
            return ""
        most = max(places, key=lambda place: places[place])
        return f"; {duration(places[most])} of it while it is held in {most}"

    def held_over(self):
        def waits(op):
            return op.wait and op.blocked

        found, in_rings = [], {row for ring in self.waits.outcomes.rings for row in ring.waits}
        holds = [hold for hold in self.holds if self.delay(hold) > 0 and not self.passed_on(hold)]
        for kind, doing, which in (
            ("held over I/O", "reads or writes", lambda op: op.transfers),
            ("held over sleep", "sleeps", lambda op: waits(op) and op.state == "sleep"),
            ("held over a wait", "waits for", lambda op: waits(op) and op.state in ("signal", "idle")
                and op.row not in in_rings),
        ):  # fmt: skip
            found += self.meanwhile(kind, doing, self.within(holds, which), holds)
        rest = []
        for hold in holds:
            if hold.released and self.waits.function[hold.by.row] >= 0:
                busy = [*self.within([hold], waits), *self.within([hold], lambda op: op.transfers)]
                ns = self.delay(hold) - sum(ns for *_, ns in busy)
                rest.append(
                    (hold, SimpleNamespace(**vars(hold.by) | {"start": hold.start, "end": hold.end}), ns)
                )
        return found + self.meanwhile("held over work", "works, or waits to run,", rest, holds)

    def passed_on(self, hold):
        return hold.released and hold.releaser != hold.thread

    def within(self, holds, which):
        """Return holds with the operations within them, and the delay of others meanwhile."""
        rows = [op for op in self.ops if which(op)]
        outer = [
            op for i, op in enumerate(rows)
            if not any(o.thread == op.thread and o.end >= op.end for o in rows[:i])
        ]  # fmt: skip
        return [
            (hold, op, self.waiting(hold, op.start, min(op.end, hold.end))) for hold in holds for op in outer
            if op.thread == hold.thread and hold.start <= op.start < hold.end
        ]  # fmt: skip

    def meanwhile(self, kind, doing, pairs, holds):
        found = []
        for object in self.waits.ops.objects:
            total = sum(self.delay(hold) for hold in holds if hold.object == object)
            lost = [pair for pair in pairs if pair[0].object == object and pair[2] > 0]
            sum_ = sum(ns for *_, ns in lost)
            if not lost or sum_ < 0.02 * self.span or sum_ < 0.5 * total:
                continue
            sites, names = {}, {}
            for hold, op, ns in lost:
                sites.setdefault(self.site(hold), [hold, 0])[1] += ns
                names[op.name] = names.get(op.name, 0) + ns
            order = sorted(sites, key=lambda key: (-sites[key][1], key))
            threads = list(dict.fromkeys(thread for thread, *_ in order))
            alone = len(threads) == 1 or sites[order[0]][1] >= 0.9 * sum_
            who = self.title(threads[0]) if alone else f"One of {len(threads):,} threads"
            numbers = {op.name: self.waits.ops.names.index(op.name) for _, op, _ in lost}
            name = max(names, key=lambda name: (names[name], -numbers[name]))
            place, longest = self.place(sites[order[0]][0]), max(lost, key=lambda one: one[2])[1]
            words, ended = f" ({name})" if kind == "held over I/O" else "", ""
            if kind == "held over a wait":
                words = f" {some(longest.of) or longest.name}"
                if alone and longest.waker >= 0:
                    ended = f"; {self.title(longest.waker)} ends that wait"
            said = f"{who} {doing}{words} while it holds {object}" + (f" in {place}" if place else "")
            said += f": {duration(sum_)} of the {duration(total)} that others wait while it is held{ended}"
            found.append((
                kind, said, sum_, threads, [object], min(op.start for _, op, _ in lost),
                max(min(op.end, hold.end) for hold, op, _ in lost), len(lost), lost[0][1].call,
                HOW[FOLLOWS], "", self.causes([(hold, ns) for hold, _, ns in lost]),
            ))  # fmt: skip
        return found

    def starvation(self):
        found = []
        for object in self.waits.ops.objects:
            starved = []
            for op in self.own:
                if op.asks and object in op.of:
                    got = [h for h in self.holds if h.object == object and op.start < h.start < op.end]
                    takers = [h.thread for h in got]
                    long = op.lasted >= 0.02 * self.span
                    if long and len(got) >= 8 and len(got) >= 4 * len(set(takers)):
                        starved.append((op, takers))
            if not starved:
                continue
            takers = [thread for _, some_ in starved for thread in some_]
            who = sorted(set(takers), key=lambda t: (-takers.count(t), t))
            of = {op.thread for op, _ in starved}
            waiting = sorted(of, key=lambda t: (-max(o.lasted for o, _ in starved if o.thread == t), t))
            longest, most = max(op.lasted for op, _ in starved), max(len(some_) for _, some_ in starved)
            w, g = and_([self.title(t) for t in waiting]), and_([self.title(t) for t in who])
            kind, often = "starvation", takers.count(who[0])
            if often >= 0.8 * len(takers) and len(of - {who[0]}) > 1:
                kind, waiting = "one goes first", [t for t in waiting if t != who[0]]
                w, g, who = and_([self.title(t) for t in waiting]), self.title(who[0]), who[:1]
            if kind == "starvation":
                said = f"{w} {'waits' if len(of) == 1 else 'wait'} up to {duration(longest)} for {object}, "
                gets = "gets" if len(who) == 1 else "get"
                said += f"which {g} {gets} up to {most} times meanwhile"
                headline = f"{g} {gets} {object} up to {most} times while {w} "
                headline += f"{'waits' if len(waiting) == 1 else 'wait'} for it"
                threads = [*waiting, *sorted(who)]
            else:
                headline = f"{g} gets {object} up to {most} times while {w} wait for it"
                said = f"{headline}, for up to {duration(longest)}"
                threads = [*sorted(who), *waiting]
            found.append((
                kind, said, sum(op.lasted for op, _ in starved), list(dict.fromkeys(threads)), [object],
                min(op.start for op, _ in starved), max(op.end for op, _ in starved), len(starved),
                starved[0][0].call, HOW[FOLLOWS], headline, (),
            ))  # fmt: skip
        return found

    def leaders(self):
        found, rows = [], [op for op in self.ops if op.wait and op.blocked and op.state == "idle"]
        outer = [
            op for i, op in enumerate(rows)
            if not any(o.thread == op.thread and o.end >= op.end for o in rows[:i])
        ]  # fmt: skip
        for object in sorted({o for op in self.queue for o in op.of}):
            mine = [hold for hold in self.holds if hold.object == object]
            pairs = [
                (hold, op) for hold in mine for op in outer
                if op.thread == hold.thread and hold.start <= op.start < hold.end
            ]  # fmt: skip
            waited = sum(min(op.end, hold.end) - op.start for hold, op in pairs)
            threads = sorted({hold.thread for hold, _ in pairs})
            if len(threads) < 3 or waited < 0.7 * sum(hold.lasted for hold in mine):
                continue
            what = some(sorted({name for _, op in pairs for name in op.of}))
            who = and_([self.title(t) for t in threads])
            said = f"{who} take turns at waiting for {what}: one does so and holds {object}, "
            said += f"the others wait for {object}"
            leading = [hold for hold, _ in pairs]
            found.append((
                "leader and followers", said, waited, threads, [object],
                min(hold.start for hold in leading), max(hold.end for hold in leading),
                len({id(hold) for hold in leading}), -1,
            ))  # fmt: skip
        return found

    def farmers(self):
        ended = {}
        for op in self.own:
            if op.waker not in (-1, op.thread) and op.state != "contention" and op.wants == "object":
                ended.setdefault(op.waker, {}).setdefault(op.thread, []).append(op.lasted)
        total, found = sum(sum(times) for of in ended.values() for times in of.values()), []
        for thread, of in sorted(ended.items()):
            mine = sum(map(sum, of.values()))
            if len(of) >= 3 and mine >= max(total / 2, 0.05 * self.span, 0.5):
                workers = sorted(of, key=lambda t: (-sum(of[t]), t))
                said = f"{self.title(thread)} ends waits of {len(of)} threads, "
                said += f"{percentage(mine / total)} of all waiting for work or a signal: "
                said += some([self.title(w) for w in workers])
                count = sum(map(len, of.values()))
                found.append(
                    ("farmer and workers", said, mine, [thread, *workers], [], 0, self.span, count, -1)
                )
        return found

    def polling(self):
        groups = {}
        in_vain = [op for op in self.ops if op.transfers and op.ending == TIMED_OUT]
        for op in sorted([*self.own, *in_vain], key=lambda op: op.row):
            holding = any(h.thread == op.thread and h.start <= op.start < h.end for h in self.holds)
            if (op.state == "sleep" and holding) or op.ending == UNFINISHED:
                continue
            if op.waker < 0 and (op.of or sleeps(op.name)):
                place = op.function if op.state == "sleep" else -1
                groups.setdefault((op.thread, op.name, op.of[0] if op.of else "", place), []).append(op)
        found = []
        for ops in groups.values():
            every = [b.start - a.start for a, b in pairwise(ops)]
            if len(ops) < 5:
                continue
            asleep = sum(op.lasted for op in ops) / max(ops[-1].end - ops[0].start, 1)
            others = {name for op in self.ops if op.thread != ops[0].thread for name in op.of
                      if (op.gives and op.gift >= 0)
                      or (op.wait and op.ending == DONE and op.state != "sleep")}  # fmt: skip
            given = []
            for op in self.ops:
                if op.thread != ops[0].thread:
                    continue
                gives = op.gives and op.gift >= 0 and others.intersection(op.of)
                takes = op.wait and op.ending == DONE and op.state != "sleep" and others.intersection(op.of)
                at = op.end if takes else op.start
                moves = op.transfers and op.ending == DONE
                if (gives or takes or moves) and ops[0].start <= at < ops[-1].end:
                    given.append(op)
            sleeping = ops[0].state == "sleep"
            if asleep < (0.8 if sleeping else 0.5) or (sleeping and 2 * len(given) >= len(ops)):
                continue
            middle = median(every)
            spread = median(abs(e - middle) for e in every)
            regular = spread <= 0.15 * middle or all(op.ending == TIMED_OUT for op in ops)
            regular = regular or (sleeping and ops[0].function >= 0)
            if middle > 0 and regular and middle * len(ops) >= 0.05 * self.span:
                said = f"{self.title(ops[0].thread)} polls with {ops[0].name} every {duration(middle)}, "
                said += f"{len(ops)} times"
                if sleeping:
                    said = f"{self.title(ops[0].thread)} sleeps {len(ops)} times, about every "
                    said += f"{duration(middle)}, and gives or takes nothing between: it polls, or keeps time"
                found.append((
                    "polling", said, sum(op.lasted for op in ops), [ops[0].thread], ops[0].of, ops[0].start,
                    ops[-1].end, len(ops), ops[0].call, HOW[INFERRED if sleeping else FOLLOWS], "", (),
                ))  # fmt: skip
        return found

    def idle(self):
        found = []
        for thread in sorted({op.thread for op in self.own}):
            mine = [op for op in self.own if op.thread == thread]
            begin = min([c.start for c in self.calls if c.thread == thread] + [op.start for op in mine])
            end = max([c.end for c in self.calls if c.thread == thread] + [op.end for op in mine])
            waited = sum(op.lasted for op in mine)
            if end - begin > 0.2 * self.span and waited > 0.9 * (end - begin):
                asleep = sum(op.lasted for op in mine if op.state == "sleep") / waited
                does = "waits" if asleep <= 0.1 else "waits or sleeps" if asleep < 0.9 else "sleeps"
                said = f"{self.title(thread)} {does} {percentage(waited / (end - begin))} of its "
                kind = "mostly idle"
                gives = [
                    op for op in self.ops if op.gives and op.thread == thread and not op.name.endswith("end")
                ]
                if len(mine) == 1 and mine[0].waker < 0 and all(op.name.endswith("end") for op in gives):
                    what, kind = ", ".join(mine[0].of) or mine[0].name, "does nothing"
                    said = (
                        f"{self.title(thread)} does nothing but wait for {what}, {duration(waited)} of its "
                    )
                said += duration(end - begin)
                found.append((kind, said, waited, [thread], [], begin, end, len(mine), -1))
        return found

    def waited_in(self, call):
        """Return dur^w of a call (SyncTrace, Eq. 4)."""
        if any(op.call == call.id and op.wait for op in self.ops):
            return call.end - call.start
        below, at, total = call.below, call.id + 1, 0
        while at in below:
            total += self.waited_in(self.calls[at])
            at += len(self.calls[at].below) + 1
        return total

    def sleeps_mostly(self, call):
        """Return whether a call, or one within it that takes most of its time, sleeps by its name."""
        of = [call, *(self.calls[i] for i in call.below)]
        long = [one for one in of if 2 * (one.end - one.start) > call.end - call.start]
        return any(sleeps(one.function) for one in long)

    def outliers(self):
        def power(ns):
            return max(ns, 1).bit_length() - 1

        least, longest = max(0.01 * self.span, 1), []
        for function in sorted({call.function for call in self.calls}):
            mine = [call for call in self.calls if call.function == function]
            lasted = sorted(call.end - call.start for call in mine)
            # The first of which three quarters last as long at most, both to the power of two below.
            usual = power(lasted[-(-3 * len(lasted) // 4) - 1])
            call = max(mine, key=lambda call: call.end - call.start)
            time = call.end - call.start
            in_wait = any(
                op.thread == call.thread and op.start <= call.start and op.end >= call.end for op in self.own
            )
            if (
                len(mine) >= 20 and power(time) - usual >= 6 and time >= least and not in_wait
                and self.waited_in(call) <= 0.5 * time and not self.sleeps_mostly(call)
            ):  # fmt: skip
                longest.append((call, time, len(mine), usual))
        kept = []
        for call, time, count, usual in sorted(longest, key=lambda one: one[0].id):
            for one in kept:
                if call.id in one[1].below and time >= 0.8 * one[2]:
                    one[1:] = [call, time, count, usual]
                    break
            else:
                kept.append([call.function, call, time, count, usual])
        found = []
        for outer, call, time, count, usual in kept:
            within = f" within {outer}" if outer != call.function else ""
            said = (
                f"{call.function}{within} once takes {duration(time)}, three quarters of its {count} calls "
            )
            said += f"take less than {duration(2.0 ** (usual + 1))}"
            found.append(("outlier", said, time, [call.thread], [], call.start, call.end, count, call.id))
        return sorted(found, key=lambda one: -one[2])[:20]


def sleeps(name):
    return re.search("sleep|poll|select|timer", name.lower()) is not None


def and_(names):
    return some(names) if len(names) > 4 or len(names) < 2 else ", ".join(names[:-1]) + " and " + names[-1]


def some(names):
    return ", ".join(names[:4]) + (
        f" and {len(names) - 4} other{'s' * (len(names) > 5)}" if len(names) > 4 else ""
    )


def plain_groups(pairs):
    """Return the groups of nodes that reach each other."""
    reach = set(pairs)
    while more := {(a, d) for a, b in reach for c, d in reach if b == c} - reach:
        reach |= more
    groups = {tuple(sorted({b for x, b in reach if x == a and (b, a) in reach})) for a, _ in reach}
    return [group for group in groups if len(group) > 1]


# -- held together -----------------------------------------------------------------------------------------


def row(finding):
    return (
        finding.kind, finding.sentence, finding.score_ns, list(finding.threads), list(finding.objects),
        finding.start, finding.end, finding.count, finding.call, finding.how, finding.headline,
        finding.causes,
    )  # fmt: skip


def even_convoy():
    """Three threads pass a lock on for equal times, two of them from the same place."""
    rows = [("t2", 0, 130, "other (/src/other.py:5)"), ("main", 0, 130, "run")]
    rows += [(f"t{i}", 0, 130, "work (/src/work.py:10)") for i in range(2)]
    for i in range(12):
        begin = 10 * i - 19 if i > 2 else 0
        rows.append((f"t{i % 3}", begin, 10 * i + 1, "Lock.acquire", "wait", "L", 1))
        rows.append((f"t{i % 3}", 10 * i + 10, 10 * i + 10, "Lock.release", "release", "L"))
    return rows


def reading(read_from, read_to, objects="LM"):
    """One thread reads while it holds several objects, for each of which another one waits."""
    rows = [("h", 0, 0, "Lock.acquire", "wait", object, 0) for object in objects]
    rows.append(("h", read_from, read_to, "read", "io", "file"))
    for i, object in enumerate(objects):
        rows.append(("h", 100 + 3 * i, 100 + 3 * i, "Lock.release", "release", object))
        rows.append((f"w{object}", 0, 100 + 3 * i, "Lock.acquire", "wait", object, 1))
    return rows


def sleeping(gives, length=95):
    """A thread sleeps eight times, and gives something after some of them."""
    rows = [("s", 100 * i, 100 * i + length, "time.sleep", "wait", "-", 1) for i in range(8)]
    rows += [("s", 100 * i + 98, 100 * i + 98, "Event.set", "release", "E") for i in range(gives)]
    return [*rows, ("main", 0, 900, "run")]


def visits(until):
    """Of many visits the last is far longer than the others, and begins within a wait."""
    rows = [("a", 10 * i, 10 * i + 1, "visit") for i in range(30)]
    rows.append(("a", 300, until, "Event.wait", "wait", "E", 1))
    return [*rows, ("a", 310, min(until, 990), "visit"), ("main", 0, 1000, "run")]


@given(programs(), st.sampled_from([[0], [0, 7, 8]]))
@example(even_convoy(), [0])
@example(reading(2, 98), [0])
@example(reading(20, 70, "L"), [0])
@example(reading(20, 69, "L"), [0])
@example(sleeping(0), [0])
@example(sleeping(3), [0])
@example(sleeping(4), [0])
@example(sleeping(0, 70), [0])
@example(visits(1000), [0])
@example([*visits(1000), ("a", 5, 6, "Event.wait", "wait", "E", 1)], [0])
@example([row for row in visits(1000) if len(row) == 4], [0])
@settings(max_examples=80, deadline=None)
def test_findings_are_those_of_the_plain_twin(rows, recorded):
    trace = trace_of(lines(rows))
    waits = find_waits(with_lines(trace, islice(cycle(recorded), len(trace.sync))))
    found = [row(finding) for finding in findings(waits)]
    assert sorted(found) == sorted(Plain(waits).findings())
    tiers = [*([kind] for kind in GRAVE), COSTLY, set(KINDS) - {*GRAVE, *COSTLY, *USUAL}, USUAL]
    order = [
        (next(i for i, tier in enumerate(tiers) if kind in tier), -score) for kind, _, score, *_ in found
    ]
    assert order == sorted(order)
    assert {kind for kind, *_ in found} <= set(KINDS)


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=24))
@settings(max_examples=300, deadline=None)
def test_groups_are_those_that_reach_each_other(pairs):
    after = {}
    for a, b in sorted(pairs):
        after.setdefault(a, []).append(b)
    groups = strongly_connected(after)
    assert sorted(map(tuple, groups)) == sorted(plain_groups(pairs))
    assert [len(group) for group in groups] == sorted(map(len, groups), reverse=True)


def test_a_long_chain_of_locks_is_no_recursion():
    n = 50_000
    assert strongly_connected({i: [i + 1] for i in range(n)}) == []
    assert strongly_connected({i: [(i + 1) % n] for i in range(n)}) == [list(range(n))]


@pytest.mark.parametrize("groups", [19, 20, 21])
def test_of_very_many_lock_orders_twenty_are_reported(groups):
    rows = []
    for i in range(groups):
        for thread, one, other in (("a", "X", "Y"), ("b", "Y", "X")):
            at = 20 * i
            for k, lock in enumerate((one, other)):
                rows.append((thread, at + 2 * k, at + 2 * k + 1, "Lock.acquire", "wait", f"{lock}{i}", 0))
            for k, lock in enumerate((other, one)):
                rows.append((thread, at + 5 + k, at + 5 + k, "Lock.release", "release", f"{lock}{i}"))
    found = findings(find_waits(trace_of(lines(rows))))
    assert [finding.kind for finding in found].count("lock order") == min(groups, 20)


@pytest.mark.parametrize("functions", [19, 20, 21])
def test_of_very_many_outliers_the_twenty_longest_are_reported(functions):
    rows, at = [], 0
    for f in range(functions):
        for i in range(20):
            length = 100 + f if i == 19 else 1
            rows.append(("a", at, at + length, f"f{f}"))
            at += length + 1
    found = findings(find_waits(trace_of(lines(rows))))
    assert [finding.score_ns for finding in found] == list(range(99 + functions, 99, -1))[:20]


@pytest.mark.parametrize(("longest", "kinds"), [(63, []), (64, ["outlier"]), (127, ["outlier"])])
def test_an_outlier_lasts_64_times_as_long_in_powers_of_two(longest, kinds):
    rows = [("a", 10 * i, 10 * i + 1, "visit") for i in range(30)] + [("a", 300, 300 + longest, "visit")]
    assert [finding.kind for finding in findings(find_waits(trace_of(lines(rows))))] == kinds


@pytest.mark.parametrize(("calls", "kinds"), [(19, []), (20, ["outlier"])])
def test_of_fewer_than_twenty_calls_none_is_an_outlier(calls, kinds):
    rows = [("a", 10 * i, 10 * i + (1000 if i == calls - 1 else 1), "visit") for i in range(calls)]
    assert [finding.kind for finding in findings(find_waits(trace_of(lines(rows))))] == kinds


def test_what_is_called_during_a_wait_that_is_no_call_is_no_outlier():
    trace = trace_of(lines(visits(1000)))
    apart = replace(trace, sync=replace(trace.sync, call=np.full(len(trace.sync), -1)))
    waits = find_waits(apart)
    assert (waits.ops.call[waits.own] == -1).all()
    found = [row(finding) for finding in findings(waits)]
    assert "outlier" not in {kind for kind, *_ in found}
    assert sorted(found) == sorted(Plain(waits).findings())
