"""Who woke whom, who held what and who queued, each against a plain twin written from its sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.waits.sync_traces import lines, trace_of
from tracevis3d.features.waits.correspondences import every_release
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.holds import holders_at, next_holds
from tracevis3d.features.waits.operations import DONE, operations
from tracevis3d.features.waits.outcomes import HOW, KINDS_OF_WAITING, OUTCOMES
from tracevis3d.features.waits.rules import read_rules
from tracevis3d.features.waits.summary import summary
from tracevis3d.features.waits.waits import IO, RELEASE, SOURCES, WAIT, Waits
from tracevis3d.formats import registry

#: What is drawn, as it is recorded.
KINDS = {
    "acquire": ("Lock.acquire", "wait"), "release": ("Lock.release", "release"),
    "wait": ("Event.wait", "wait"), "set": ("Event.set", "release"), "nested": ("Queue.get", "wait"),
    "join": ("Thread.join", "wait"), "give up": ("Lock.acquire (timed out)", "wait"),
    "empty": ("Queue.get (failed)", "wait"), "semaphore": ("Semaphore.acquire", "wait"),
}  # fmt: skip


@st.composite
def programs(draw):
    """Return what four threads wait for, release, hold and transfer on three objects, with many ties."""
    rows = []
    for thread in "abcd"[: draw(st.integers(1, 4))]:
        time = draw(st.integers(0, 3))
        if draw(st.booleans()):
            rows.append((thread, time, 60, f"run of {thread}"))
        for _ in range(draw(st.integers(0, 7))):
            end = time + draw(st.integers(0, 8))
            object = draw(st.sampled_from(["X", "X", "Y", "X,Y", "Z", "-"]))
            kind = draw(
                st.sampled_from(
                    [
                        "acquire",
                        "acquire",
                        "release",
                        "wait",
                        "set",
                        "set",
                        "nested",
                        "nested",
                        "read",
                        "join",
                        "give up",
                        "empty",
                        "semaphore",
                    ]
                )
            )
            had_to = draw(st.sampled_from([0, 1, 1]))
            if kind == "read":
                rows.append((thread, time, end, "read", "io", "file"))
                if draw(st.booleans()):
                    rows.append((thread, time, draw(st.integers(time, end)), "read", "io", "file"))
            elif kind == "nested":
                rows.append((thread, time, end + 4, *KINDS[kind], object, had_to))
                inner = draw(st.sampled_from([object, "C", "X"]))
                first = draw(st.integers(time, time + 2))
                rows.append((thread, first, first + 1, "Condition.wait", "wait", inner, 1))
                rows.append((thread, first + 1, end + 4, "Condition.wait", "wait", "C", 1))
                end += 4
            else:
                object = {"join": "Thread:a", "set": draw(st.sampled_from([object, "C"]))}.get(kind, object)
                rows.append((thread, time, end, *KINDS[kind], object, had_to))
            time = end + draw(st.integers(0, 2))
    trace = trace_of(lines(rows))
    if draw(st.booleans()) and len(trace.sync):
        holder = st.sampled_from([-1, -1, *range(len(trace.threads))])
        result = draw(st.lists(holder, min_size=len(trace.sync), max_size=len(trace.sync)))
        trace = replace(trace, sync=replace(trace.sync, holder=np.array(result, np.int32)))
    return Waits(trace)


class Row:
    """An operation by itself."""

    def __init__(self, ops, i) -> None:
        self.row, self.thread, self.start, self.end = (
            i,
            int(ops.thread[i]),
            int(ops.start[i]),
            int(ops.end[i]),
        )
        self.kind, self.blocked, self.nested = int(ops.kind[i]), bool(ops.blocked[i]), bool(ops.nested[i])
        self.wants, self.gives, self.holds = int(ops.wants[i]), int(ops.gives[i]), bool(ops.holds[i])
        self.all, self.holder, self.call = bool(ops.all[i]), int(ops.holder[i]), int(ops.call[i])
        self.one, self.asks, self.ending = bool(ops.one[i]), bool(ops.asks[i]), int(ops.ending[i])
        self.name = ops.names[ops.name[i]]
        self.objects = ops.object[ops.first[i] : ops.first[i + 1]].tolist()
        #: When it gives something: a wait by ending.
        self.moment = self.end if self.kind == WAIT else self.start


def rows_of(waits):
    return [Row(waits.ops, i) for i in range(len(waits.ops))]


def releases_within(wait, rows, object):
    """Return the operations that give what a wait wants of an object, and within it."""
    return [
        r for r in rows
        if r.kind in (WAIT, RELEASE) and r.gives >= 0 and r.gives == wait.wants and object in r.objects
        and wait.start <= r.moment <= wait.end
    ]  # fmt: skip


def plain_served(rows):
    """Return (moment, row) of the release that each wait has for itself, by wait and object."""
    found = {}
    takers = [r for r in rows if r.kind == WAIT and r.one and r.ending == DONE]
    for object, gift in {(o, r.wants) for r in takers for o in r.objects}:
        left = sorted(
            (r.moment, r.row) for r in rows
            if r.kind in (WAIT, RELEASE) and r.gives == gift and gift >= 0 and object in r.objects
        )  # fmt: skip
        mine = [r for r in takers if r.wants == gift and object in r.objects]
        for wait in sorted(mine, key=lambda r: (r.end, r.row)):
            low = wait.start if wait.blocked else 0
            within = [one for one in left if low <= one[0] <= wait.end]
            before = [one for one in left if wait.start - 1_000_000 <= one[0] < wait.start and wait.blocked]
            taken = within[:1] or before[-1:]
            if taken:
                left.remove(taken[0])
                if wait.blocked:
                    found[wait.row, object] = taken[0]
    return found


def plain_woke(rows):
    """Return (moment, row) of the releases that ended each blocked wait, by its row."""
    found, served = {}, plain_served(rows)
    waits = [r for r in rows if r.kind == WAIT and r.blocked and r.ending == DONE]
    for wait in waits:
        lasts = []
        for object in wait.objects:
            others = [
                (r.moment, r.row) for r in releases_within(wait, rows, object) if r.thread != wait.thread
            ]
            if wait.one and ((wait.row, object) in served or not wait.asks):
                mine = served.get((wait.row, object))
                others = [mine] if mine and rows[mine[1]].thread != wait.thread else []
            lasts += [max(others)] if others else []
        if lasts:
            found[wait.row] = sorted(lasts) if wait.all else [max(lasts)]
    inherited = {}
    for inner in waits:
        outer = [w for w in waits if not w.nested and w.row < inner.row]
        if not inner.nested or inner.row not in found or not outer:
            continue
        last = outer[-1]
        if last.thread == inner.thread and last.end >= inner.end and last.row not in found:
            inherited.setdefault(last.row, []).append((found[inner.row][-1][0], inner.row))
    return found | {row: [found[max(inner)[1]][-1]] for row, inner in inherited.items()}


#: The first of two waits has one wait within it, the other one has two; a wait that another thread's follows,
#: or one of its own; and one for all of its objects after one for any.
WAITS_WITHIN = """
a 0 40 Queue.get wait Q 1
a 5 30 Condition.wait wait C 1
a 50 90 Queue.get wait Q 1
a 55 60 Condition.wait wait C 1
a 65 80 Condition.wait wait C 1
b 30 30 Condition.notify release C
b 60 60 Condition.notify release C
b 80 80 Condition.notify release C
"""
NEXT_THREAD_WITHIN = """
a 0 50 Event.wait wait E 1
b 0 40 Queue.get wait Q 0
b 5 30 Condition.wait wait C 1
c 30 30 Condition.notify release C
"""
WITHIN_BEFORE = """
a 0 40 Queue.get wait Q 0
a 5 30 Condition.wait wait C 1
a 50 90 Event.wait wait E 1
c 30 30 Condition.notify release C
"""
#: Who gets a lock without waiting ends no round of those that wait for it.
BESIDE_A_BARRIER = """
z 0 0 Barrier.arrive release B
w 0 0 Lock.acquire wait L 0
w 1 1 Lock.release release L
w 2 30 Lock.acquire wait L 1
a 3 3 Lock.acquire wait L 0
a 10 10 Lock.release release L
a 12 12 Lock.acquire wait L 0
b 20 20 Lock.release release L
"""
ANY_AND_ALL = """
a 0 20 WaitForMultipleObjects wait X,Y 1
a 30 50 WaitForMultipleObjects~(all) wait X,Y 1
b 10 10 SetEvent release X
b 15 15 SetEvent release Y
b 35 35 SetEvent release X
b 45 45 SetEvent release Y
"""


@given(programs())
@example(Waits(trace_of("a 5 5 Event.set release E\nb 0 5 Event.wait wait E 1")))
@example(Waits(trace_of(WAITS_WITHIN)))
@example(Waits(trace_of(NEXT_THREAD_WITHIN)))
@example(Waits(trace_of(WITHIN_BEFORE)))
@example(Waits(trace_of(ANY_AND_ALL)))
@example(Waits(trace_of(BESIDE_A_BARRIER)))
@settings(max_examples=80, deadline=None)
def test_who_woke_whom(waits) -> None:
    rows = rows_of(waits)
    woke = plain_woke(rows)
    pairs = zip(waits.woke.wait.tolist(), waits.woke.time.tolist(), waits.woke.release.tolist())
    assert list(pairs) == [(row, *release) for row in sorted(woke) for release in woke[row]]
    waker = [woke[row][-1][1] if row in woke else -1 for row in range(len(rows))]
    assert waits.waker.tolist() == waker
    assert waits.woken_at.tolist() == [woke[row][-1][0] if row in woke else -1 for row in range(len(rows))]
    by = [rows[i].thread if i >= 0 else -1 for i in waker]
    assert waits.woken_by.tolist() == by
    every = every_release(waits.ops)
    assert list(zip(every.wait.tolist(), every.time.tolist(), every.release.tolist())) == sorted(
        {(w.row, r.moment, r.row) for w in rows if w.kind == WAIT for o in w.objects
         for r in releases_within(w, rows, o)}
    )  # fmt: skip
    # Who waits for whom.
    threads = len(waits.trace.threads)
    own = [r for r in rows if r.kind == WAIT and r.blocked and not r.nested]
    assert waits.own.tolist() == [r.row for r in own]
    count, lasted = Counter(), Counter()
    for r in own:
        count[r.thread, by[r.row]] += 1
        lasted[r.thread, by[r.row]] += r.end - r.start
    m = waits.matrix
    assert list(zip(m.thread.tolist(), m.by.tolist(), m.count.tolist(), m.waited.tolist())) == [
        (*pair, count[pair], lasted[pair]) for pair in sorted(count)
    ]
    ended, of = waits.hubs()
    others = [[a for a in range(threads) if (a, b) in count and a != b] for b in range(threads)]
    assert ended.tolist() == [sum(lasted[a, b] for a in others[b]) for b in range(threads)]
    assert of.tolist() == [len(some) for some in others]
    assert waits.waited.tolist() == [
        sum(r.end - r.start for r in own if r.thread == t) for t in range(threads)
    ]
    transfers = [
        {time for r in rows if r.kind == IO and r.thread == t for time in range(r.start, r.end)}
        for t in range(threads)
    ]
    assert waits.io_time.tolist() == [len(times) for times in transfers]
    calls = waits.trace.calls
    for r in rows:
        call = calls.parent[r.call] if r.call >= 0 else max(
            ((calls.start[i], i) for i in range(len(calls))
             if calls.thread[i] == r.thread and calls.start[i] <= r.start <= calls.end[i]), default=(0, -1),
        )[1]  # fmt: skip
        assert waits.function[r.row] == (calls.function[call] if call >= 0 else -1)
    for kind in (WAIT, RELEASE, IO):
        members = {r.call for r in rows if r.kind == kind and r.call >= 0}
        if kind == WAIT:
            blocked = {r.call for r in rows if r.kind == WAIT and r.call >= 0 and r.blocked}
            members |= {i for call in blocked for i in range(call, call + calls.extent[call])}
        assert np.flatnonzero(waits.kind_of_call(kind)).tolist() == sorted(members)


def plain_holds(rows, span):
    """Return (object, start, thread, acquiring row, end, releasing row), of what can be held."""
    held = {o for r in rows if r.kind == WAIT and r.holds for o in r.objects}
    out = []
    for object in sorted(held):
        mine = [r for r in rows if object in r.objects]
        events = [(r.end, 1, r) for r in mine if r.kind == WAIT and r.holds]
        events += [(r.start, 0, r) for r in mine if r.kind == RELEASE and r.gives >= 0]
        still, of = [], []
        for time, got, r in sorted(events, key=lambda e: e[:2]):
            if got:
                still.append([object, time, r.thread, r.row, span, -1])
                of.append(still[-1])
            elif still:
                # What the thread itself acquired last, else what anyone acquired first.
                done = next((h for h in reversed(still) if h[2] == r.thread), still[0])
                still.remove(done)
                done[4:] = time, r.row
        out += of
    return [tuple(hold) for hold in out]


#: One waits for what nobody holds, or gets then, while something else is held.
NOBODY_HOLDS = """
a 0 0 Lock.acquire wait X 0
a 2 2 Lock.release release X
b 5 20 Lock.acquire~(timed~out) wait X 1
c 3 3 Lock.acquire wait Y 0
"""


def held_by_the_first():
    """The recording names the first thread as the holder of what another one waits for."""
    trace = trace_of("a 0 20 run\nb 2 9 Lock.acquire wait L 1")
    return Waits(replace(trace, sync=replace(trace.sync, holder=np.zeros(1, np.int32))))


#: A lock's release is not the first that is given.
AFTER_ANOTHER_GIFT = """
a 0 0 Barrier.arrive release B
a 1 1 Lock.acquire wait X 0
a 5 5 Lock.release release X
a 9 9 Lock.acquire wait X 0
"""


@given(programs(), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60)), max_size=8))
@example(Waits(trace_of("a 0 1 Lock.acquire wait X 0")), [(0, 50)])
@example(Waits(trace_of(AFTER_ANOTHER_GIFT)), [])
@example(Waits(trace_of(NOBODY_HOLDS)), [])
@example(held_by_the_first(), [])
@settings(max_examples=80, deadline=None)
def test_who_held_what(waits, questions) -> None:
    rows, held, ops = rows_of(waits), waits.held, waits.ops
    wanted = plain_holds(rows, waits.trace.span_ns)
    columns = held.object, held.start, held.thread, held.acquire, held.end, held.release
    assert list(zip(*(column.tolist() for column in columns))) == wanted

    def holding(object, time):
        return [i for i, h in enumerate(wanted) if h[0] == object and h[1] <= time < h[4]]

    def following(object, time):
        later = [(h[1], i) for i, h in enumerate(wanted) if h[0] == object and h[1] > time]
        return min(later)[1] if later else -1

    asked = [(o, t) for o, t in questions if o < len(ops.objects)]
    object, time = np.array([q[0] for q in asked], np.int32), np.array([q[1] for q in asked], np.int64)
    now = [holding(*q) for q in asked]
    assert holders_at(held, object, time).tolist() == [i[0] if len(i) == 1 else -2 if i else -1 for i in now]
    assert next_holds(held, object, time).tolist() == [following(*q) for q in asked]
    for r in rows:
        holder, source = -1, "unknown"
        if r.kind == WAIT and r.blocked and r.asks and r.objects:
            now, after = holding(r.objects[0], r.start), following(r.objects[0], r.start)
            if len(now) == 1:
                holder, source = wanted[now[0]][2], "follows"
            elif not now and after >= 0 and wanted[after][1] < r.end:
                holder, source = wanted[after][2], "inferred"
            if holder == r.thread:
                holder, source = -1, "unknown"
        if r.blocked and r.holder >= 0:
            holder, source = r.holder, "recorded"
        assert (int(waits.held_by[r.row]), SOURCES[waits.held_by_source[r.row]]) == (holder, source)


#: The first operation of all releases what another thread holds.
PASSED_ON_BY_THE_FIRST = """
a 5 5 Lock.release release L
b 0 0 Lock.acquire wait L 0
b 1 1 Lock.acquire wait M 0
b 6 6 Lock.release release M
b 10 10 Lock.acquire wait L 0
b 12 12 Lock.release release L
"""
#: One lock is acquired within another three times.
AGAIN_WITHIN = """
a 0 0 Lock.acquire wait X 0
a 5 5 Lock.acquire wait Y 0
a 6 6 Lock.release release Y
a 7 7 Lock.acquire wait Y 0
a 8 8 Lock.release release Y
a 9 9 Lock.acquire wait Y 0
"""


@given(programs())
@example(Waits(trace_of(AGAIN_WITHIN)))
@example(Waits(trace_of(PASSED_ON_BY_THE_FIRST)))
@settings(max_examples=60, deadline=None)
def test_the_order_of_locks(waits) -> None:
    wanted = plain_holds(rows_of(waits), waits.trace.span_ns)
    thread_of = {row.row: row.thread for row in rows_of(waits)}
    # What another thread releases is passed on, and no thread's own.
    passed_on = {hold[0] for hold in wanted if hold[5] >= 0 and thread_of[hold[5]] != hold[2]}
    pairs = {}
    for inner, (object, start, thread, *_) in enumerate(wanted):
        within = [
            (other, outer) for outer, (other, begun, by, _, end, _) in enumerate(wanted)
            if not {object, other} & passed_on and by == thread and other != object
            and (begun, outer) < (start, inner) and end > start
        ]  # fmt: skip
        gates = frozenset(other for other, _ in within)
        for other, outer in within:
            pairs.setdefault((other, object, thread, gates), []).append((start, inner, outer))
    order = waits.order
    found = list(zip(order.outer.tolist(), order.inner.tolist(), order.thread.tolist(), order.gates))
    assert len(found) == len(pairs)
    assert set(found) == set(pairs)
    assert [key[:3] for key in found] == sorted(key[:3] for key in pairs)
    for i, key in enumerate(found):
        starts = [start for start, _, _ in pairs[key]]
        assert (order.count[i], order.first[i], order.last[i]) == (len(starts), min(starts), max(starts))
        assert (min(starts), order.hold_inner[i], order.hold_outer[i]) in pairs[key]
        assert order.held_outer[i].tolist() == sorted({outer for _, _, outer in pairs[key]})


#: The second object is that of a wait within one for nothing that has a name.
WITHIN_NOTHING = """
a 0 5 Lock.acquire wait X 1
a 10 40 Queue.get wait - 1
a 12 30 Condition.wait wait C 1
"""


@given(programs())
@example(Waits(trace_of(WITHIN_NOTHING)))
@settings(max_examples=60, deadline=None)
def test_queues(waits) -> None:
    rows, queues = rows_of(waits), waits.queues
    outer, waiting = None, []
    for r in rows:
        if r.kind == WAIT and not r.nested:
            outer = r
        again = r.nested and r.objects[:1] == outer.objects[:1] != [] and r.thread == outer.thread
        if r.blocked and not again:
            waiting.append(r)
    changes = list(zip(queues.object.tolist(), queues.time.tolist(), queues.length.tolist()))
    for object in range(len(waits.ops.objects)):
        mine = [r for r in waiting if object in r.objects]
        times = sorted({time for r in mine for time in (r.start, r.end)})
        lengths = [sum(r.start <= time < r.end for r in mine) for time in times]
        longest = max(lengths, default=0)
        assert queues.longest[object] == longest
        assert queues.at[object] == (times[lengths.index(longest)] if times else 0)
        after = {time: length for o, time, length in changes if o == object}
        assert after == dict(zip(times, lengths))


#: Three hold a semaphore for which two wait, after another one has been held.
THREE_HOLD = """
z 0 0 Semaphore.acquire wait T 0
z 2 2 Semaphore.release release T
a 0 0 Semaphore.acquire wait S 0
b 0 0 Semaphore.acquire wait S 0
c 0 0 Semaphore.acquire wait S 0
v 4 28 Semaphore.acquire wait S 1
w 4 30 Semaphore.acquire wait S 1
a 16 16 Semaphore.release release S
b 28 28 Semaphore.release release S
c 30 30 Semaphore.release release S
"""


@given(programs())
@example(Waits(trace_of(THREE_HOLD)))
@settings(max_examples=60, deadline=None)
def test_holders_share_the_time_that_others_wait(waits) -> None:
    queues, delays = waits.queues, []
    changes = list(zip(queues.object.tolist(), queues.time.tolist(), queues.length.tolist()))
    held = plain_holds(rows_of(waits), waits.trace.span_ns)
    for object, start, _, _, end, _ in held:
        delay = Fraction(0)
        for time in range(start, end):
            waiting = [length for o, at, length in changes if o == object and at <= time][-1:]
            holders = sum(o == object and begin <= time < until for o, begin, _, _, until, _ in held)
            delay += Fraction(sum(waiting), holders)
        delays.append(round(delay))
    assert waits.hold_delay.tolist() == delays


#: Two waits, each with a call within it.
CALLS_WITHIN = """
a 0 10 Lock.acquire wait X 1
a 2 5 inner
a 20 30 Lock.acquire wait X 1
a 22 25 inner
"""


@given(programs(), st.sampled_from([WAIT, RELEASE, IO]), st.booleans())
@example(Waits(trace_of(CALLS_WITHIN)), WAIT, False)
@settings(max_examples=60, deadline=None)
def test_the_time_in_operations_is_that_of_equation_4(waits, kind, contended) -> None:
    calls = waits.trace.calls
    mine = [r for r in rows_of(waits) if r.kind == kind and r.call >= 0 and (r.asks or not contended)]
    # What a blocked wait calls waits, too.
    within = [range(r.call, r.call + int(calls.extent[r.call])) for r in mine if r.blocked and kind == WAIT]

    def belongs(call):
        return any(r.call == call for r in mine) or any(call in of for of in within)

    def plain_time(call):
        if belongs(call):
            return int(calls.end[call] - calls.start[call])
        return sum(plain_time(c) for c in range(len(calls)) if calls.parent[c] == call)

    which = waits.ops.asks if contended else None
    assert waits.kind_of_call(kind, which).tolist() == [belongs(c) for c in range(len(calls))]
    assert waits.time_in(kind, which).tolist() == [plain_time(c) for c in range(len(calls))]


def by_owner(rows, owner, name, count, time):
    """Return the rows that each owner has, counted and added up, the longest first."""
    known = sorted({owner(r) for r in rows} - {-1})
    found = [(o, [r.end - r.start for r in rows if owner(r) == o]) for o in known]
    return [
        {name[0]: name[1][o], count: len(lasted), time: sum(lasted)}
        for o, lasted in sorted(found, key=lambda one: -sum(one[1]))
    ]


@given(programs(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_facts_are_those_of_the_plain_twin(waits, every) -> None:
    rows, facts = rows_of(waits), summary(waits, every=True) if every else summary(waits)
    tids = [*waits.trace.threads.tid, None]
    labels = [*waits.trace.functions.label, None]
    listed = sorted((r for r in rows if r.kind == WAIT and (r.blocked or every)), key=lambda r: r.start)
    ops = waits.ops
    assert facts["waits"] == [
        {
            "thread": tids[r.thread],
            "object": {0: None, 1: (ops.of(r.row) or [None])[0]}.get(len(r.objects), ops.of(r.row)),
            "kind": ops.names[ops.name[r.row]],
            "start_ns": r.start,
            "end_ns": r.end,
            "woken_by": tids[waits.woken_by[r.row]],
            "held_by": tids[waits.held_by[r.row]],
            "held_by_source": None if waits.held_by[r.row] < 0 else SOURCES[waits.held_by_source[r.row]],
            "function": labels[waits.function[r.row]],
            "released_ns": None if waits.woken_at[r.row] < 0 else waits.woken_at[r.row],
            "blocked": r.blocked,
            "nested": r.nested,
            "state": KINDS_OF_WAITING[waits.outcomes.state[r.row]],
            "outcome": OUTCOMES[waits.outcomes.outcome[r.row]] if r.blocked else None,
            "how": HOW[waits.outcomes.how[r.row]] if r.blocked else None,
            "caused_by": [
                {**site_of(waits, *causes[:3]), "ns": causes[3]} for causes in plain_rows(waits.causes, r.row)
            ],
        }
        for r in listed
    ]
    assert facts["origin_ns"] == waits.trace.origin_ns
    blame = waits.blame
    assert facts["blame"] == [
        {
            **site_of(waits, int(blame.thread[i]), int(blame.function[i]), int(blame.line[i])),
            "delay_ns": int(blame.ns[i]),
            "waits": int(blame.waits[i]),
        }
        for i in range(len(blame))
    ]
    outer, again = None, set()
    for r in rows:
        if r.kind == WAIT and not r.nested:
            outer = r
        if r.nested and r.objects[:1] == outer.objects[:1] != [] and r.thread == outer.thread:
            again.add(r.row)
    objects = []
    for o in range(len(ops.objects)):
        asked = [r for r in rows if r.kind == WAIT and r.row not in again and o in r.objects]
        mine = [r for r in asked if r.blocked]
        held = [Hold(waits.held, i) for i in range(len(waits.held)) if waits.held.object[i] == o]
        thread, function = ("thread", tids), ("function", labels)
        longest = int(waits.queues.longest[o])
        if asked or held:
            objects.append({
                "object": ops.objects[o],
                "waits": len(mine),
                "acquisitions": len(asked),
                "contention": round(len(mine) / len(asked), 4) if asked else 0,
                "waited_ns": sum(r.end - r.start for r in mine),
                "longest_ns": max((r.end - r.start for r in mine), default=0),
                "waiters": by_owner(mine, lambda r: r.thread, thread, "waits", "waited_ns"),
                "holders": by_owner(held, lambda h: h.thread, thread, "holds", "held_ns"),
                "held_up_by": by_owner(mine, lambda r: waits.held_by[r.row], thread, "waits", "waited_ns"),
                "waited_in": by_owner(mine, lambda r: waits.function[r.row], function, "waits", "waited_ns"),
                "held_in": by_owner(held, lambda h: waits.function[h.acquire], function, "holds", "held_ns"),
                "part_of_another": bool(mine) and all(r.nested for r in mine),
                "held_ns": sum(h.end - h.start for h in held),
                "longest_hold_ns": max((h.end - h.start for h in held), default=0),
                "never_released": sum(h.release < 0 for h in held),
                "longest_queue": longest,
                "longest_queue_at_ns": int(waits.queues.at[o]) if longest else None,
            })  # fmt: skip
    assert facts["objects"] == sorted(objects, key=lambda one: -one["waited_ns"])
    ended, of = waits.hubs()
    own = [r for r in rows if r.kind == WAIT and r.blocked and not r.nested]
    assert [thread["thread"] for thread in facts["threads"]] == list(waits.trace.threads.tid)
    for t, thread in enumerate(facts["threads"]):
        mine = [r for r in own if r.thread == t]
        by = by_owner(mine, lambda r: waits.woken_by[r.row], ("thread", tids), "waits", "waited_ns")
        alone = [r.end - r.start for r in mine if waits.woken_by[r.row] < 0]
        if alone:
            by = [{"thread": None, "waits": len(alone), "waited_ns": sum(alone)}, *by]
        assert thread == {
            "thread": tids[t],
            "process": waits.trace.threads.process[t],
            "name": waits.trace.threads.name[t],
            "waits": len(mine),
            "waited_ns": sum(r.end - r.start for r in mine),
            "io_ns": waits.io_time[t],
            "waited_by_state": {
                kind: sum(r.end - r.start for r in mine if waits.outcomes.state[r.row] == k)
                for k, kind in enumerate(KINDS_OF_WAITING)
            },
            "waits_for": sorted(by, key=lambda one: -one["waited_ns"]),
            "ended_ns": ended[t],
            "ended_of_threads": of[t],
        }
    path = waits.path()
    assert [list(step.values()) for step in facts["critical_path"]] == [
        [
            tids[path.thread[i]], ["runs", "waits", "starts"][path.what[i]], path.start[i], path.end[i],
            labels[waits.trace.calls.function[path.call[i]]] if path.call[i] >= 0 else None,
            (ops.of(path.wait[i]) or [None])[0] if path.wait[i] >= 0 else None,
        ]
        for i in range(len(path))
    ]  # fmt: skip


def site_of(waits, thread, function, line):
    functions = waits.trace.functions
    file = int(functions.file[function]) if function >= 0 else -1
    return {
        "thread": waits.trace.threads.tid[thread],
        "function": functions.label[function] if function >= 0 else None,
        "file": waits.trace.files[file] if file >= 0 else None,
        "line": line or None,
    }


def plain_rows(causes, row):
    return [
        (int(causes.thread[i]), int(causes.function[i]), int(causes.line[i]), int(causes.ns[i]))
        for i in range(len(causes)) if causes.wait[i] == row
    ]  # fmt: skip


class Hold:
    """A time for which a thread holds an object."""

    def __init__(self, held, i) -> None:
        self.start, self.end, self.thread = int(held.start[i]), int(held.end[i]), int(held.thread[i])
        self.acquire, self.release = int(held.acquire[i]), int(held.release[i])


def test_what_another_thread_releases_first_of_all_is_released() -> None:
    rows = "a 20 20 Lock.release release L\nb 0 1 Lock.acquire wait L 0"
    rows += "\nb 30 31 Lock.acquire wait L 0\nb 40 40 Lock.release release L"
    (lock,) = summary(Waits(trace_of(rows)))["objects"]
    assert (lock["held_ns"], lock["never_released"]) == (19 + 9, 0)


def test_a_semaphore_that_one_of_two_has_released_is_held_by_the_other() -> None:
    text = """
    a 0 1 Semaphore.acquire wait S 0
    b 2 3 Semaphore.acquire wait S 0
    b 5 5 Semaphore.release release S
    c 10 50 Semaphore.acquire wait S 1
    a 48 48 Semaphore.release release S
    """
    waits = Waits(trace_of(text))
    row = int(np.flatnonzero(waits.ops.blocked)[0])
    assert waits.trace.threads.tid[waits.held_by[row]] == "a"
    assert SOURCES[waits.held_by_source[row]] == "follows"


def test_a_wait_for_all_takes_the_last_of_each_object(tmp_path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('[[rule]]\nnames = ["wait_all"]\nkind = "wait"\nall = true\n')
    text = "a 0 100 wait_all wait X,Y 1\nb 10 11 Event.set release X\nc 10 11 Event.set release Y"
    for more in ("", "\nb 30 31 Event.set release X"):
        trace = trace_of(text + more)
        waits = Waits(trace, read_rules([str(path)]))
        rows = rows_of(waits)
        assert plain_woke(rows)[0] == list(zip(waits.woke.time.tolist(), waits.woke.release.tolist()))
        assert len(operations(trace, read_rules([str(path)]))) == len(rows)


def test_an_outer_wait_is_woken_by_what_woke_the_last_wait_within_it() -> None:
    text = """
    a 0 50 Queue.put-full wait Q 1
    a 5 20 Condition.wait wait C 1
    a 25 45 Condition.wait wait C 1
    b 10 11 Condition.notify release C
    b 40 41 Condition.notify release C
    """
    waits = Waits(trace_of(text))
    woke = plain_woke(rows_of(waits))
    assert sorted(woke) == [0, 1, 2]
    assert (
        waits.waker.tolist()
        == [woke[row][-1][1] if row in woke else -1 for row in range(5)]
        == [4, 3, 4, -1, -1]
    )
    assert waits.woken_at.tolist() == [40, 10, 40, -1, -1]


@pytest.mark.parametrize(("before", "by"), [(1_000_000, "a"), (1_000_001, "")])
def test_a_release_may_be_noted_a_millisecond_before_the_wait_that_it_ended(before, by) -> None:
    at = 5_000_000
    text = f"a {at - before} {at - before} Queue.put release Q\nb {at} {at + 400} Queue.get wait Q 1"
    waits = Waits(trace_of(text))
    (row,) = waits.own
    assert int(waits.woken_by[row]) == (waits.trace.threads.name.index(by) if by else -1)


def test_a_wait_and_a_release_are_one_pair_whatever_they_share() -> None:
    text = "a 5 5 Event.set release X,Y\na 7 7 Event.set release Y\n"
    text += "b 0 9 Event.wait wait X,Y 1\nc 0 9 Event.wait wait X,Y 1"
    waits = Waits(trace_of(text))
    pairs = every_release(waits.ops)
    assert list(zip(pairs.wait.tolist(), pairs.release.tolist(), pairs.time.tolist())) == [
        (2, 0, 5), (2, 1, 7), (3, 0, 5), (3, 1, 7)
    ]  # fmt: skip
    alone = every_release(Waits(trace_of(text.replace("a 7 7 Event.set release Y\n", ""))).ops)
    assert list(zip(alone.wait.tolist(), alone.release.tolist())) == [(1, 0), (2, 0)]


def test_the_first_release_of_all_goes_to_one_wait_alone() -> None:
    rows = [
        ("a", 0, 12, "Semaphore.acquire", "wait", "S", 1),
        ("b", 0, 13, "Semaphore.acquire", "wait", "S", 1),
    ]
    rows += [("c", at, at, "Semaphore.release", "release", "S") for at in (10, 11)]
    waits = Waits(trace_of(lines(rows)))
    assert waits.woken_at[waits.own].tolist() == [10, 11]


def test_who_gets_it_next_had_been_handed_it() -> None:
    """Nobody held it as the wait began: of several holds that of who got it next counts."""
    rows = [("b", 0, 1, "Lock.acquire", "wait", "L", 0), ("b", 2, 2, "Lock.release", "release", "L")]
    rows += [("b", 4, 5, "Lock.acquire", "wait", "L", 0), ("b", 8, 8, "Lock.release", "release", "L")]
    rows += [("a", 3, 10, "Lock.acquire", "wait", "L", 1)]
    waits = Waits(trace_of(lines(rows)))
    (wait,) = waits.own.tolist()
    assert waits.trace.threads.name[waits.held_by[wait]] == "b"
    assert SOURCES[waits.held_by_source[wait]] == "inferred"


def test_calls_within_a_blocked_wait_are_part_of_it() -> None:
    waits = Waits(trace_of("a 0 9 run\na 1 8 Lock.acquire wait L 1\na 2 3 inner\nb 0 9 run"))
    labels, calls = waits.trace.functions.label, waits.trace.calls
    part = np.flatnonzero(waits.kind_of_call(WAIT))
    assert [labels[f] for f in calls.function[part]] == ["Lock.acquire", "inner"]


def test_a_recording_may_know_neither_lines_nor_holders() -> None:
    trace = trace_of("a 0 9 Lock.acquire wait L 1\nb 0 5 Lock.release release L")
    none = np.empty(0, np.int32)
    ops = Waits(replace(trace, sync=replace(trace.sync, line=none, holder=none))).ops
    assert (ops.line.tolist(), ops.holder.tolist()) == ([0, 0], [-1, -1])
    known = np.array([7, 8], np.int32)
    assert Waits(replace(trace, sync=replace(trace.sync, line=known))).ops.line.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("start", "end", "never"), [(950, 1000, True), (951, 1000, False), (900, 990, True), (900, 989, False)]
)
def test_what_nobody_ends_is_a_wait_for_ever_if_it_is_long_and_nearly_the_last(start, end, never) -> None:
    waits = Waits(trace_of(f"a 0 1000 run\na {start} {end} Event.wait wait E 1"))
    assert waits.outcomes.never_ended.tolist() == [never]


def test_a_profile_tells_of_waits_that_have_ended() -> None:
    """Flight recordings do, and not who ends them: `main` goes on after the last wait that they have."""
    trace = registry.open_trace(ROOT / "tests" / "data" / "profiles" / "words17.jfr.gz")
    assert len(trace.samples)
    waits = Waits(trace)
    assert not waits.outcomes.never_ended.any()
    assert all(finding.kind != "never released" for finding in findings(waits))
    # Without its samples it might be any recording.
    names = ("thread", "kind", "weight", "time", "stack")
    nothing = replace(trace.samples, **{name: getattr(trace.samples, name)[:0] for name in names})
    assert Waits(replace(trace, samples=nothing)).outcomes.never_ended.any()


def test_who_sleeps_to_the_end_waits_for_nobody_for_ever() -> None:
    waits = Waits(trace_of("a 0 100 run\na 5 100 time.sleep wait - 1"))
    assert not waits.outcomes.never_ended.any()
