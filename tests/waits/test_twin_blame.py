"""Waits split by what kept them waiting, the ranking, and outcomes, against plain twins."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.waits.findings.test_twin_findings import Plain
from tests.waits.findings.test_twin_findings import programs as remarkable
from tests.waits.sync_traces import lines, trace_of
from tests.waits.test_twin_waits import plain_holds, programs, rows_of
from tracevis3d.features.waits.blame import _running
from tracevis3d.features.waits.operations import FAILED, TIMED_OUT, UNFINISHED
from tracevis3d.features.waits.outcomes import FOLLOWS, HOW, INFERRED, KINDS_OF_WAITING, OUTCOMES, RECORDED
from tracevis3d.features.waits.rules import STATES
from tracevis3d.features.waits.waits import WAIT, Waits, find_waits
from tracevis3d.trace.model import Trace

MS = 1_000_000


@st.composite
def with_lines(draw):
    """Programs some of whose operations have a recorded line and a recorded holder."""
    trace = draw(programs()).trace
    many, functions = len(trace.sync), trace.functions
    line = draw(st.lists(st.sampled_from([0, 7, 8]), min_size=many, max_size=many))
    holder = st.integers(-1, len(trace.threads) - 1)
    holders = draw(st.lists(holder, min_size=many, max_size=many))
    sync = replace(trace.sync, line=np.array(line, np.int32), holder=np.array(holders, np.int32))
    begins = 100 + np.arange(len(functions), dtype=np.int32)
    return Waits(replace(trace, sync=sync, functions=replace(functions, line=begins)))


def plain_causes(waits):
    """Return nanoseconds by wait, thread, function and line, nanosecond by nanosecond."""
    rows = rows_of(waits)
    wanted = plain_holds(rows, waits.trace.span_ns)
    begins = waits.trace.functions.line

    def line_of(f, row=-1):
        """Return the line that an operation recorded, else where its function begins."""
        recorded = int(waits.ops.line[row]) if row >= 0 else 0
        return recorded or (int(begins[f]) if f >= 0 else 0)

    exact, again, outer = {}, set(), None
    for r in rows:
        if r.kind == WAIT and not r.nested:
            outer = r
        if r.nested and r.objects[:1] == outer.objects[:1] != [] and r.thread == outer.thread:
            again.add(r.row)
    for r in rows:
        if not (r.kind == WAIT and r.blocked and r.asks) or r.row in again:
            continue
        for object in r.objects:
            mine = [hold for hold in wanted if hold[0] == object]
            for time in range(r.start, r.end):
                holding = [hold for hold in mine if hold[1] <= time < hold[4]]
                for hold in holding:
                    if hold[2] != r.thread:
                        behind = plain_cause(rows, wanted, hold, time)
                        _, _, thread, acquire, _, _ = hold if behind[2] == r.thread else behind
                        f = int(waits.function[acquire])
                        key = r.row, object, thread, f, line_of(f, acquire)
                        exact[key] = exact.get(key, 0) + Fraction(1, len(holding))
            begin = [hold for hold in mine if hold[1] <= r.start < hold[4]]
            if not begin and r.holder >= 0 and r.holder != r.thread:
                until = min([hold[1] for hold in mine if hold[1] > r.start], default=r.end)
                if min(until, r.end) > r.start:
                    f, acquire = plain_running(waits, r.holder, r.start, r.start), -1
                    after = min(
                        (hold for hold in mine if hold[1] > r.start), key=lambda h: h[1], default=None
                    )
                    if after and after[2] == r.holder:
                        f, acquire = int(waits.function[after[3]]), after[3]
                    key = r.row, object, r.holder, f, line_of(f, acquire)
                    exact[key] = exact.get(key, 0) + min(until, r.end) - r.start
    found = {}
    for (row, _, *site), ns in exact.items():
        key = (row, *site)
        found[key] = found.get(key, 0) + int(ns)
    woken_by, woken_at = waits.woken_by, waits.woken_at
    own = [r for r in rows if r.kind == WAIT and r.blocked and not r.nested]
    for r in rows:
        if r.kind == WAIT and r.blocked and waits.waker[r.row] >= 0 and not (r.asks and r.objects):
            who, now = int(woken_by[r.row]), min(int(woken_at[r.row]), r.end)
            for _ in range(64):
                if now <= r.start:
                    break
                ended = [o for o in own if o.thread == who and o.start < now and o.end <= now
                         and (woken_by[o.row] >= 0 or o.end <= r.start)]  # fmt: skip
                last = max(ended, key=lambda o: (o.start, o.row), default=None)
                since = max(r.start, last.end) if last else r.start
                if since < now:
                    f = plain_running(waits, who, since, now)
                    key = r.row, who, f, line_of(f)
                    found[key] = found.get(key, 0) + now - since
                if last is None or last.end <= r.start:
                    break
                now, who = min(int(woken_at[last.row]), since), int(woken_by[last.row])
    return {key: ns for key, ns in found.items() if ns > 0}


def plain_cause(rows, wanted, hold, time):
    """Return the hold that keeps a holder waiting at a time, and so on; the holder's own in a ring."""
    now = hold
    for _ in range(8):
        behind = None
        for r in rows:
            if not (r.kind == WAIT and r.blocked and r.asks and not r.nested and len(r.objects) == 1):
                continue
            if r.thread == now[2] and now[1] <= r.start < now[4] and r.start <= time < r.end:
                holding = [one for one in wanted if one[0] == r.objects[0] and one[1] <= time < one[4]]
                if r.objects[0] != now[0] and holding and is_one_at_a_time(wanted, r.objects[0]):
                    behind = holding[0] if holding[0][2] != now[2] else None
        if behind is None:
            return now
        if behind[2] == hold[2]:
            return hold
        now = behind
    return hold


def is_one_at_a_time(wanted, object):
    """Whether nobody holds an object while another hold of it lasts."""
    mine = [hold for hold in wanted if hold[0] == object]
    return all(a[4] <= b[1] for a, b in pairwise(mine))


def plain_running(waits, thread, start, end):
    """Return the function of the innermost call that lasts all of a time."""
    calls = waits.trace.calls
    around = [i for i in range(len(calls)) if calls.thread[i] == thread
              and calls.start[i] <= start and calls.end[i] >= end]  # fmt: skip
    latest = max(around, key=lambda i: (calls.start[i], i), default=-1)
    return int(calls.function[latest]) if latest >= 0 else -1


#: An operation that is the first of all wakes another; a wait for nothing that is named is woken from within.
WOKEN_BY_THE_FIRST = "a 5 5 Event.set release E\nb 0 5 Event.wait wait E 1"
WOKEN_WITHIN = """
a 0 50 Lock.acquire wait - 1
a 5 45 Condition.wait wait C 1
b 0 60 notify
b 40 41 Condition.notify release C
"""


def known_holder():
    """The recording names who holds what a thread waits for, until another one gets it, first of all."""
    text = (
        "a 0 9 Lock.acquire wait L 1\nb 0 20 run\nc 3 3 Lock.acquire wait L 0\nc 8 8 Lock.release release L"
    )
    trace = trace_of(text)
    return find_waits(replace(trace, sync=replace(trace.sync, holder=np.array([1, -1, -1], np.int32))))


def holder_of_a_wait_given_up():
    """The first thread is recorded as the holder of what another one gives up to wait for; nobody gets it."""
    text = "a 0 20 run\nb 2 9 Lock.acquire~(timed~out) wait L 1\nc 0 9 other\nc 1 1 Lock.acquire wait K 0"
    trace = trace_of(text)
    return find_waits(replace(trace, sync=replace(trace.sync, holder=np.array([0, -1], np.int32))))


#: A thread waits for who waits for a third one. What that one runs has the number of the first thread.
PASSED_ON = """
q 0 100 write
q 20 90 Lock.acquire wait count 1
r 0 100 read
r 5 5 Lock.acquire wait count 0
r 10 80 Lock.acquire wait room 1
r 90 90 Lock.release release count
w 0 100 write
w 0 0 Lock.acquire wait room 0
w 80 80 Lock.release release room
"""


#: The holder waits for what two hold; it gets what another one holds without waiting; it waits for its own.
FOR_TWO = (
    PASSED_ON.replace("Lock.acquire wait room", "Semaphore.acquire wait room")
    + """
v 0 100 write~too
v 0 0 Semaphore.acquire wait room 0
v 85 85 Lock.release release room
"""
)
#: One has held it before, while yet another holds something else.
HELD_BEFORE = """
z 0 0 Lock.acquire wait desk 0
x 0 0 Lock.acquire wait room 0
x 3 3 Lock.release release room
""" + PASSED_ON.replace("w 0 0 Lock", "w 4 4 Lock")
AT_ONCE = PASSED_ON.replace("wait room 1", "wait room 0")
FOR_ITS_OWN = (
    PASSED_ON
    + """
w 1 90 deeper
w 2 2 Lock.acquire wait own 0
w 5 75 Lock.acquire~(timed~out) wait own 1
"""
)


def crowd():
    """Eighty threads hold a semaphore that one waits for, half of them from within that wait."""
    rows = []
    for i in range(80):
        at = 100 * (i % 2)
        rows.append((f"h{i}", at, at, "Semaphore.acquire", "wait", "S", 0))
        rows.append((f"h{i}", 180, 180, "Semaphore.release", "release", "S"))
    return lines([*rows, ("w", 40, 180, "Semaphore.acquire", "wait", "S", 1)])


@given(st.one_of(programs(), with_lines()))
@example(find_waits(trace_of(WOKEN_BY_THE_FIRST)))
@example(find_waits(trace_of(crowd())))
@example(known_holder())
@example(holder_of_a_wait_given_up())
@example(find_waits(trace_of(PASSED_ON)))
@example(find_waits(trace_of(FOR_TWO)))
@example(find_waits(trace_of(AT_ONCE)))
@example(find_waits(trace_of(HELD_BEFORE)))
@example(find_waits(trace_of(FOR_ITS_OWN)))
@example(find_waits(trace_of(WOKEN_WITHIN)))
@settings(max_examples=100, deadline=None)
def test_what_kept_waits_waiting(waits) -> None:
    causes = waits.causes
    found = {
        (int(causes.wait[i]), int(causes.thread[i]), int(causes.function[i]), int(causes.line[i])): int(
            causes.ns[i]
        )
        for i in range(len(causes))
    }
    assert len(found) == len(causes)
    assert found == plain_causes(waits)
    spent = {}
    for (row, *_), ns in found.items():
        spent[row] = spent.get(row, 0) + ns
    many = {row for row in spent if len(waits.ops.of(row)) > 1}
    assert all(ns <= waits.ops.lasted[row] for row, ns in spent.items() if row not in many)
    order = list(zip(causes.wait.tolist(), (-causes.ns).tolist()))
    assert order == sorted(order)
    # Those that made others wait by holding.
    sums, times = {}, {}
    for (row, *site), ns in found.items():
        if waits.ops.asks[row] and not waits.ops.nested[row]:
            sums[tuple(site)] = sums.get(tuple(site), 0) + ns
            times[tuple(site)] = times.get(tuple(site), 0) + 1
    blame = waits.blame
    listed = [
        ((int(blame.thread[i]), int(blame.function[i]), int(blame.line[i])), int(blame.ns[i]),
         int(blame.waits[i]))
        for i in range(len(blame))
    ]  # fmt: skip
    assert {site: ns for site, ns, _ in listed} == sums
    assert {site: count for site, _, count in listed} == times
    assert [ns for _, ns, _ in listed] == sorted(sums.values(), reverse=True)


def facts_of(text):
    """Return the causes of each thread's waits: thread -> [(thread, function, ms)], and who is to blame."""
    waits = find_waits(trace_of(text))
    names, labels, causes = waits.trace.threads.name, waits.trace.functions.label, waits.causes
    of = {}
    for i in range(len(causes)):
        thread = names[waits.ops.thread[causes.wait[i]]]
        one = names[causes.thread[i]], labels[causes.function[i]], round(int(causes.ns[i]) / MS, 3)
        of.setdefault(thread, []).append(one)
    blame = waits.blame
    ranked = [
        (names[blame.thread[i]], labels[blame.function[i]], blame.ns[i] / MS, int(blame.waits[i]))
        for i in range(len(blame))
    ]
    return of, ranked


def in_ms(text):
    """Return rows whose times are milliseconds as rows of nanoseconds."""
    rows = (line.split() for line in text.splitlines() if line.split())
    return "\n".join(
        " ".join([r[0], str(int(float(r[1]) * MS)), str(int(float(r[2]) * MS)), *r[3:]]) for r in rows
    )


def test_one_holds_for_300_ms_while_four_wait() -> None:
    text = """
    h 0 600 load
    h 5 5 Lock.acquire wait L 0
    h 305 305 Lock.release release L
    """
    for i in range(4):
        at = 305 + 50 * i
        text += f"w{i} 0 600 take\nw{i} 5 {at} Lock.acquire wait L 1\n"
        text += f"w{i} {at + 50} {at + 50} Lock.release release L\n"
    of, blame = facts_of(in_ms(text))
    assert of["w3"] == [("h", "load", 300.0), *(("w" + str(i), "take", 50.0) for i in range(3))]
    assert of["w0"] == [("h", "load", 300.0)]
    assert blame[0] == ("h", "load", 1200.0, 4)
    assert blame[1:] == [("w0", "take", 150.0, 3), ("w1", "take", 100.0, 2), ("w2", "take", 50.0, 1)]


def test_who_is_joined_passes_the_delay_on() -> None:
    """The main thread waits for a worker, which had waited for a lock that another one held."""
    of, _ = facts_of(
        in_ms("""
    h 0 100 hold
    h 1 1 Lock.acquire wait L 0
    h 80 80 Lock.release release L
    w 0 120 work
    w 20 80 Lock.acquire wait L 1
    main 0 130 main
    main 10 120 Future.result wait F 1
    w 120 120 Future.set_result release F
    """)
    )
    assert of["w"] == [("h", "hold", 60.0)]
    assert of["main"] == [("h", "hold", 70.0), ("w", "work", 40.0)]


def test_a_holder_that_waits_for_another_lock_passes_the_delay_on() -> None:
    """The first reader holds the count while a writer keeps it out of the room; others want the count."""
    of, blame = facts_of(
        in_ms("""
    w 0 100 write
    w 0 0 Lock.acquire wait room 0
    w 80 80 Lock.release release room
    r 0 100 read
    r 5 5 Lock.acquire wait count 0
    r 10 80 Lock.acquire wait room 1
    r 90 90 Lock.release release count
    q 20 90 Lock.acquire wait count 1
    """)
    )
    assert of["r"] == [("w", "write", 70.0)]
    assert of["q"] == [("w", "write", 60.0), ("r", "read", 10.0)]
    assert blame == [("w", "write", 130.0, 2), ("r", "read", 10.0, 1)]


def test_in_a_ring_each_is_delayed_by_who_holds_what_it_wants() -> None:
    of, _ = facts_of(
        in_ms("""
    a 0 100 one
    a 1 1 Lock.acquire wait X 0
    b 0 100 other
    b 2 2 Lock.acquire wait Y 0
    b 10 90 Lock.acquire~(timed~out) wait X 1
    a 10 91 Lock.acquire wait Y 1
    b 91 91 Lock.release release Y
    c 20 80 Lock.acquire~(timed~out) wait X 1
    """)
    )
    assert of["a"] == [("b", "other", 81.0)]
    assert of["b"] == [("a", "one", 80.0)]
    assert of["c"] == [("a", "one", 60.0)]


def test_of_a_chain_of_holders_eight_are_followed() -> None:
    rows = []
    for i in range(12):
        rows += [(f"t{i}", 0, 200, f"run {i}"), (f"t{i}", 0, 0, "Lock.acquire", "wait", f"L{i}", 0)]
        if i < 11:
            rows.append((f"t{i}", 10, 100, "Lock.acquire (timed out)", "wait", f"L{i + 1}", 1))
    waits = find_waits(trace_of(lines(rows)))
    names, causes = waits.trace.threads.name, waits.causes
    found = {names[waits.ops.thread[causes.wait[i]]]: names[causes.thread[i]] for i in range(len(causes))}
    assert found["t10"] == found["t4"] == found["t3"] == "t11"
    # Farther on, it is who holds what the thread wants.
    assert found["t2"] == "t3"


def test_holders_of_a_semaphore_share_the_delay() -> None:
    of, blame = facts_of(
        in_ms("""
    a 0 100 first
    a 0 0 Semaphore.acquire wait S 0
    a 60 60 Semaphore.release release S
    b 0 100 second
    b 0 0 Semaphore.acquire wait S 0
    b 90 90 Semaphore.release release S
    c 10 60 Semaphore.acquire wait S 1
    """)
    )
    assert of["c"] == [("a", "first", 25.0), ("b", "second", 25.0)]
    assert sum(ns for _, _, ns, _ in blame) == 50.0


def plain_outcomes(waits):
    """Return how each wait ended, and how that is known."""
    plain, woke, found = Plain(waits), waits.woke, []
    for op in plain.ops:
        outcome, how = "unknown", RECORDED
        if op.row in woke.wait:
            inferred = bool(woke.inferred[np.flatnonzero(woke.wait == op.row)[-1]])
            outcome, how = "woken", INFERRED if inferred else FOLLOWS
            how = RECORDED if op.told == op.waker >= 0 else how
        if op.wait and op.blocked and op.ending == TIMED_OUT:
            outcome = "timed out"
        if op.wait and op.blocked and op.ending == FAILED and op.state == "idle" and waits.ops.one[op.row]:
            outcome, how = "timed out", FOLLOWS
        if op.wait and op.blocked and not op.nested and plain.never_ended(op) and (ring := plain.chain(op)):
            said = all(o.ending == UNFINISHED and o.told >= 0 for o in (op, *ring))
            outcome, how = "deadlocked", RECORDED if said else FOLLOWS
        found.append((outcome, HOW[how]))
    return found


#: A thread that is woken by the first of all, just before it ends.
WOKEN_LAST = "main 0 100 run\nmain 95 95 Event.set release E\nw 0 95 Event.wait wait E 1"
JOINS = "a 0 100 Thread.join wait Thread:b 1\nb 0 100 Thread.join wait Thread:a 1"
#: Nothing comes for long enough; and something comes.
EMPTY = "a 0 50 Queue.get~(failed) wait Q 1\na 60 70 Queue.get wait Q 1\nb 65 65 Queue.put release Q"


def unfinished(holder):
    """Return two threads that hold what the other one waits for to the end, by the recording."""
    text = "a 0 0 Lock.acquire wait X 0\na 10 100 Lock.acquire wait Y 2\n"
    text += "b 0 0 Lock.acquire wait Y 0\nb 10 100 Lock.acquire wait X 2"
    trace = trace_of(text)
    sync = replace(trace.sync, holder=np.array([-1, 1, -1, holder], np.int32))
    return find_waits(replace(trace, sync=sync))


#: One waits for what two hold, and the next thread for its end; what one waits for has no name.
TWO_HOLD = """
a 0 100 Semaphore.acquire wait S 2
b 0 100 Thread.join wait Thread:a 2
c 0 0 Semaphore.acquire wait S 0
d 0 0 Semaphore.acquire wait S 0
"""
#: One gets what another one waits for just before the end, and waits for that one's end.
GOT_LATE = """
a 0 100 Lock.acquire wait X 2
b 99 99 Lock.acquire wait X 0
b 99 100 Thread.join wait Thread:a 2
"""
#: One gives it back just before the end, and waits for that one's end.
GAVE_LATE = """
a 0 100 Lock.acquire wait X 2
c 0 0 Lock.acquire wait X 0
c 99 99 Lock.release release X
c 99 100 Thread.join wait Thread:a 2
"""
NO_NAME = "a 0 100 Lock.acquire wait - 2"


def held_for_each_other(name="Lock.acquire"):
    """The first operations of two threads never end; the recording names the other one as the holder."""
    trace = trace_of(f"a 0 100 {name} wait X 2\nb 0 100 {name} wait Y 2")
    return find_waits(replace(trace, sync=replace(trace.sync, holder=np.array([1, 0], np.int32))))


@given(st.one_of(programs(), with_lines(), remarkable().map(lambda rows: find_waits(trace_of(lines(rows))))))
@example(find_waits(trace_of(WOKEN_LAST)))
@example(find_waits(trace_of(JOINS)))
@example(find_waits(trace_of(EMPTY)))
@example(held_for_each_other())
@example(held_for_each_other("Event.wait"))
@example(find_waits(trace_of(TWO_HOLD)))
@example(find_waits(trace_of(NO_NAME)))
@example(find_waits(trace_of(GOT_LATE)))
@example(find_waits(trace_of(GAVE_LATE)))
@example(unfinished(0))
@example(unfinished(-1))
@settings(max_examples=80, deadline=None)
def test_how_waits_ended_is_that_of_the_plain_twin(waits) -> None:
    outcomes = waits.outcomes
    found = [(OUTCOMES[o], HOW[h]) for o, h in zip(outcomes.outcome.tolist(), outcomes.how.tolist())]
    assert found == plain_outcomes(waits)
    for row, (outcome, _) in enumerate(found):
        state = KINDS_OF_WAITING[outcomes.state[row]]
        recorded = STATES[waits.ops.state[row]]
        in_vain = outcome == "timed out" and recorded != "contention"
        assert state == ("timeout" if in_vain else recorded)


def outcomes_of(waits):
    outcomes, ops = waits.outcomes, waits.ops
    return [
        (waits.trace.threads.name[ops.thread[i]], OUTCOMES[outcomes.outcome[i]], HOW[outcomes.how[i]])
        for i in range(len(ops)) if ops.kind[i] == WAIT and ops.blocked[i]
    ]  # fmt: skip


def test_a_ring_of_threads_that_never_go_on_and_who_waits_for_them() -> None:
    waits = find_waits(
        trace_of(
            in_ms("""
    a 0 100 one
    a 1 1 Lock.acquire wait X 0
    a 10 100 Lock.acquire wait Y 1
    b 0 100 other
    b 2 2 Lock.acquire wait Y 0
    b 11 100 Lock.acquire wait X 1
    c 0 100 third
    c 20 100 Lock.acquire wait X 1
    d 0 100 fourth
    d 20 100 Event.wait wait E 1
    """)
        )
    )
    assert outcomes_of(waits) == [
        ("a", "deadlocked", "follows"), ("b", "deadlocked", "follows"), ("c", "deadlocked", "follows"),
        ("d", "unknown", "recorded"),
    ]  # fmt: skip
    (ring,) = waits.outcomes.rings
    assert {waits.trace.threads.name[waits.ops.thread[row]] for row in ring.waits} == {"a", "b"}
    assert ring.broken_by == -1


def test_the_ring_that_lasts_longest_is_the_first() -> None:
    rows = []
    for one, other, since in (("a", "b", 50), ("c", "d", 20), ("e", "f", 30)):
        rows += [(one, 0, 0, "Lock.acquire", "wait", one, 0), (other, 0, 0, "Lock.acquire", "wait", other, 0)]
        rows += [(one, since, 100, "Lock.acquire", "wait", other, 2)]
        rows += [(other, since, 100, "Lock.acquire", "wait", one, 2)]
    waits = find_waits(trace_of(lines(rows)))
    assert [waits.ops.start[ring.waits[0]] for ring in waits.outcomes.rings] == [20, 30, 50]


def test_a_ring_that_a_timeout_breaks() -> None:
    waits = find_waits(
        trace_of(
            in_ms("""
    a 0 100 one
    a 1 1 Lock.acquire wait X 0
    b 0 100 other
    b 2 2 Lock.acquire wait Y 0
    b 11 62 Lock.acquire wait X 1
    b 70 70 Lock.release release Y
    a 10 60 Lock.acquire~(timed~out) wait Y 1
    a 61 61 Lock.release release X
    """)
        )
    )
    (ring,) = waits.outcomes.rings
    assert waits.trace.threads.name[waits.ops.thread[ring.broken_by]] == "a"
    assert outcomes_of(waits) == [("a", "timed out", "recorded"), ("b", "woken", "follows")]


@given(st.integers(2, 5), st.integers(0, 3), st.booleans())
@settings(max_examples=30, deadline=None)
def test_rings_of_any_length_are_found(length, behind, ends) -> None:
    rows = []
    for i in range(length + behind):
        wants = f"L{(i + 1) % length}" if i < length else f"L{i % length}"
        rows += [(f"t{i}", 0, 1000, "run"), (f"t{i}", 2, 2, "Lock.acquire", "wait", f"L{i}", 0)]
        rows += [(f"t{i}", 10 + i, 1000, "Lock.acquire", "wait", wants, 1)]
    if ends:
        # One of them goes on: there is no ring.
        rows[2] = ("t0", 10, 500, "Lock.acquire", "wait", "L1", 1)
        rows.append(("t1", 499, 499, "Lock.release", "release", "L1"))
        rows.append(("t0", 600, 600, "Lock.release", "release", "L0"))
    waits = find_waits(trace_of(lines(rows)))
    rings = waits.outcomes.rings
    assert [len(ring.waits) for ring in rings] == ([] if ends else [length])
    stuck = [one for one in outcomes_of(waits) if one[1] == "deadlocked"]
    assert len(stuck) == (0 if ends else length + behind)


def test_the_function_that_runs_is_the_innermost_that_lasts() -> None:
    waits = find_waits(trace_of("a 0 100 outer\na 10 50 inner\na 20 30 leaf"))
    at = np.array([12, 22, 5, 60], np.int64), np.array([40, 28, 60, 90], np.int64)
    found = _running(waits, np.zeros(4, np.int64), *at)
    assert [waits.trace.functions.label[f] for f in found] == ["inner", "leaf", "outer", "outer"]


def test_without_calls_no_function_runs() -> None:
    time = np.array([1, 2], np.int64)
    assert _running(find_waits(Trace()), np.zeros(2, np.int64), time, time + 1).tolist() == [-1, -1]


def test_without_calls_operations_are_in_no_function() -> None:
    trace = trace_of("a 0 9 Lock.acquire wait X 1\na 10 10 Lock.release release X")
    threads = replace(trace.threads, count=np.zeros_like(trace.threads.count))
    sync = replace(trace.sync, call=np.full_like(trace.sync.call, -1))
    waits = find_waits(replace(trace, calls=Trace().calls, threads=threads, sync=sync))
    assert waits.function.tolist() == [-1, -1]


def test_a_cascade_is_followed_for_64_steps() -> None:
    """Each thread waits for the next one, whose own wait ends a moment before."""
    rows = []
    for i in range(70):
        rows.append((f"t{i}", 0, 200, f"run {i}"))
        rows.append((f"t{i}", 1, 190 - 2 * i, "Event.wait", "wait", f"E{i}", 1))
        rows.append((f"t{i + 1}", 190 - 2 * i, 190 - 2 * i, "Event.set", "release", f"E{i}"))
    waits = find_waits(trace_of(lines(rows)))
    first = next(i for i in range(len(waits.ops)) if waits.ops.lasted[i] == 189)
    assert np.count_nonzero(waits.causes.wait == first) == 64
