"""Programs at the bounds of each finding about waits: what is just remarkable, and what just is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.waits.findings.test_twin_findings import Plain, row
from tests.waits.sync_traces import lines, trace_of
from tests.waits.test_twin_blame import unfinished
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.findings.finding import USUAL
from tracevis3d.features.waits.waits import find_waits


def given_work(workers):
    """The first thread of all gives work to others."""
    rows = [("main", 0, 100, "run")]
    for i in range(workers):
        rows.append((f"w{i}", 0, 50, "Queue.get", "wait", f"Q{i}", 1))
        rows.append(("main", 50, 50, "Queue.put", "release", f"Q{i}"))
    return rows


def looks(away, name="Event.wait", object="E"):
    """A thread looks five times after something, at times by which neighbours are not equally far apart."""
    rows, at = [("main", 0, 700, "run")], 0
    for every in (100, 100 + away, 100 - away, 100 + away, 100 - away, 100):
        rows.append(("s", at, at + 55, name, "wait", object, 1))
        at += every
    return rows


def every(pause, length, times, name="Event.wait", object="E", last=None):
    """A thread waits regularly, each time so long, but for the last time."""
    rows = [("main", 0, pause * times, "run")]
    for i in range(times):
        end = pause * i + (length if last is None or i < times - 1 else last)
        rows.append(("s", pause * i, end, name, "wait", object, 1))
    return rows


def sleeps_in(function):
    """A thread sleeps irregularly, in a function that is the first of all or in none."""
    rows = [("s", 0, 2000, "work")] if function else [("main", 0, 2000, "run")]
    for at, until in ((0, 200), (201, 390), (400, 900), (901, 1000), (1001, 1400), (1410, 2000)):
        rows.append(("s", at, until, "time.sleep", "wait", "-", 1))
    return rows


def waits_in_two(name, object):
    """A thread waits eight times regularly, in two functions in turn."""
    rows = [("main", 0, 800, "run")]
    for i in range(8):
        rows.append(("s", 100 * i, 100 * i + 99, "fg"[i % 2]))
        rows.append(("s", 100 * i + 1, 100 * i + 96, name, "wait", object, 1))
    return rows


def takes_between(times, putter="main"):
    """A thread sleeps eight times, and takes something after some of them, that another one put."""
    rows = [("main", 0, 900, "run"), (putter, 50, 50, "Queue.put", "release", "Q")]
    rows += [("s", 100 * i, 100 * i + 90, "time.sleep", "wait", "-", 1) for i in range(8)]
    for i in range(times):
        rows.append(("s", 100 * i + 92, 100 * i + 96, "Queue.get", "wait", "Q", 0))
    return rows


def reads_between(times, how=""):
    """A thread sleeps eight times, and reads after some of them."""
    rows = takes_between(0)
    return rows + [("s", 100 * i + 92, 100 * i + 96, f"read{how}", "io", "file") for i in range(times)]


def visits(lengths, name="visit", thread="a", at=0):
    rows = []
    for length in lengths:
        rows.append((thread, at, at + length, name))
        at += length + 1
    return rows


def within(parts):
    """Of 21 calls of several functions the last is long, and each lies in that before it."""
    rows, at = [], 0
    for name, _ in parts:
        rows += visits([1] * 20, name, at=at)
        at += 50
    return rows + [("a", at + i, at + i + length, name) for i, (name, length) in enumerate(parts)]


def in_vain(threads, how, signal=None):
    rows = [("main", 0, 200, "run")]
    if signal is not None:
        rows.append(("s", signal, signal, "Condition.notify", "release", "C"))
    return rows + [(f"w{i}", 50, 90 + i, f"Condition.wait{how}", "wait", "C", 1) for i in range(threads)]


def in_vain_at(start, end, signal):
    """A thread waits to the end for what was signalled before."""
    return [
        ("main", 0, end, "run"), ("s", signal, signal, "Condition.notify", "release", "C"),
        ("w", start, end, "Condition.wait", "wait", "C", 1),
    ]  # fmt: skip


def passed_on(releaser):
    """What is read while a lock is held delays others, unless another thread gave the lock back."""
    return [
        ("h", 0, 0, "Lock.acquire", "wait", "L", 0), ("h", 2, 98, "read", "io", "file"),
        (releaser, 100, 100, "Lock.release", "release", "L"), ("w", 1, 100, "Lock.acquire", "wait", "L", 1),
    ]  # fmt: skip


def leads(idle):
    """Four threads hold a lock for 10 each, of which they wait so long for work."""
    rows = [("main", 0, 100, "run")]
    for i in range(4):
        who, at = f"t{i}", 20 * i + 5
        rows += [
            (who, at - 5, at, "Lock.acquire", "wait", "T", 1),
            (who, at, at + idle, "Queue.get", "wait", "Q", 1),
            (who, at + 10, at + 10, "Lock.release", "release", "T"),
        ]  # fmt: skip
    return rows


def both(thread, at, first, second):
    """A thread acquires two locks, one after the other."""
    rows = [
        (thread, at + i, at + i, "Lock.acquire", "wait", lock, 0) for i, lock in enumerate((first, second))
    ]
    return rows + [(thread, at + 4, at + 4, "Lock.release", "release", lock) for lock in (first, second)]


def gets_without_waiting(contended):
    """A holder takes its time over getting something, which it waits for or not."""
    return [
        ("h", 0, 0, "Lock.acquire", "wait", "L", 0), ("h", 2, 98, "Queue.get", "wait", "Q", contended),
        ("h", 100, 100, "Lock.release", "release", "L"), ("w", 1, 100, "Lock.acquire", "wait", "L", 1),
    ]  # fmt: skip


def sleeps_without_waiting(contended):
    return [(*row[:3], "time.sleep", "wait", "-", contended) if row[3] == "Queue.get" else row
            for row in gets_without_waiting(contended)]  # fmt: skip


def turns(takers, waiting, times=8, every=10, at=0, what="Lock.acquire"):
    """Threads get a lock in turn, again and again, while others wait for it all the time."""
    rows, begin = [], at
    for i in range(times):
        who = takers[i % len(takers)]
        rows.append((who, at + 2, at + 2, "Lock.acquire", "wait", "L", 0))
        rows.append((who, at + every, at + every, "Lock.release", "release", "L"))
        at += every
    return rows + [(who, begin + 1, at, what, "wait", "L", 1) for who in waiting]


def held_at_last(since):
    """A lock is released once, and then held from some moment to the end."""
    rows = [("a", 0, 0, "Lock.acquire", "wait", "L", 0), ("a", 1, 1, "Lock.release", "release", "L")]
    return [*rows, ("a", since, since, "Lock.acquire", "wait", "L", 0), ("main", 0, 1000, "run")]


def reads_while_held(until, span=101):
    """Another thread waits for a lock for 100, while its holder reads for a part of that."""
    return [
        ("h", 0, 0, "Lock.acquire", "wait", "L", 0), ("h", 2, until, "read", "io", "file"),
        ("h", 101, 101, "Lock.release", "release", "L"), ("w", 1, 101, "Lock.acquire", "wait", "L", 1),
        ("w", 102, 102, "Lock.release", "release", "L"), ("main", 0, span, "run"),
    ]  # fmt: skip


def two_read_while_they_hold(first):
    """Of 100 that others wait while two threads read in turn, the first one causes so much."""
    rows, at = [("main", 0, 200, "run")], 0
    for holder, waiter, length in (("h", "v", first), ("g", "w", 100 - first)):
        end = at + 1 + length
        rows += [
            (holder, at, at, "Lock.acquire", "wait", "L", 0), (holder, at + 1, end, "read", "io", "file"),
            (holder, end, end, "Lock.release", "release", "L"),
            (waiter, at + 1, end, "Lock.acquire", "wait", "L", 1),
            (waiter, end + 1, end + 1, "Lock.release", "release", "L"),
        ]  # fmt: skip
        at = end + 2
    return rows


def sleeps_while(holding):
    """Two threads sleep regularly; those named hold a lock then."""
    rows = [("main", 0, 900, "run")]
    for thread, lock in (("s", "L"), ("t", "M")):
        rows += [(thread, 100 * i, 100 * i + 90, "time.sleep", "wait", "-", 1) for i in range(1, 8)]
        if thread in holding:
            rows.append((thread, 50, 50, "Lock.acquire", "wait", lock, 0))
            rows.append((thread, 899, 899, "Lock.release", "release", lock))
    return rows


#: Name, program, and the kinds of findings, in their order, without queues and threads that mostly wait.
PROGRAMS = {
    "two workers": (given_work(2), []),
    "three workers": (given_work(3), ["farmer and workers"]),
    "regular looks": (looks(15), ["polling"]),
    "irregular looks": (looks(16), ["never released"]),
    "given up irregularly": (looks(40, "Event.wait (timed out)"), ["polling"]),
    "irregular sleeps in one place": (sleeps_in(True), ["polling"]),
    "irregular sleeps anywhere": (sleeps_in(False), []),
    "looks in two functions": (waits_in_two("Event.wait", "E"), ["polling"]),
    "sleeps in two functions": (waits_in_two("time.sleep", "-"), []),
    "takes little": (takes_between(3), ["polling"]),
    "took something before": (
        [(who, a + 100, b + 100, *rest) for who, a, b, *rest in takes_between(3)]
        + [("s", at, at + 2, "Queue.get", "wait", "Q", 0) for at in (2, 6)],
        ["polling"],
    ),
    "polls for one thing, and for nothing that has a name": (
        [
            ("main", 0, 1000, "run"),
            ("main", 1, 1, "Event.set", "release", "A"),
            *[("s", 100 * i, 100 * i + 95, "Event.poll", "wait", "B-"[i // 4], 1) for i in range(8)],
            *[("t", 100 * i, 100 * i + 95, "Event.poll", "wait", "A-"[i // 4], 1) for i in range(8)],
        ],
        [],
    ),
    "takes something half of the time": (takes_between(4), []),
    "is woken each time": (
        [
            *looks(15),
            *[("main", at, at, "Event.set", "release", "E") for at in (50, 150, 265, 350, 465, 550)],
        ],
        [],
    ),
    "looks four times": (looks(15)[:5], ["never released"]),
    "looks five times": (looks(15)[:6], ["polling"]),
    "looks for a twentieth of the run": ([*every(100, 50, 6), ("main", 0, 12_000, "run")], ["polling"]),
    "looks for less": ([*every(100, 50, 6), ("main", 0, 12_001, "run")], []),
    "waits half of the time": (every(100, 45, 5, last=40), ["polling"]),
    "waits less": (every(100, 45, 5, last=39), ["never released"]),
    "sleeps for four fifths": (every(100, 78, 6, "time.sleep", "-", last=50), ["polling"]),
    "looks for nothing in particular": (every(100, 50, 6, object="-"), []),
    "looks at one moment": (every(0, 0, 5)[1:], []),
    "waits again as it has got something": (
        [
            ("main", 0, 100, "run"),
            ("w", 10, 20, "Queue.get", "wait", "Q", 1),
            ("main", 20, 20, "Queue.put", "release", "Q"),
            ("w", 20, 100, "Queue.get", "wait", "Q", 2),
        ],
        [],
    ),
    "signalled twice its time before": (in_vain_at(110, 160, 10), ["never released"]),
    "signalled earlier": (in_vain_at(110, 160, 9), ["never released"]),
    "gives up nothing in particular": (
        [("main", 0, 200, "run"), ("w", 50, 90, "Condition.wait (timed out)", "wait", "-", 1)],
        [],
    ),
    "waits for half of a long call": (
        [*visits([1] * 20, "a"), ("a", 100, 900, "a"), ("a", 101, 501, "Event.wait", "wait", "E", 1)],
        ["outlier"],
    ),
    "waits for more of it": (
        [*visits([1] * 20, "a"), ("a", 100, 900, "a"), ("a", 101, 502, "Event.wait", "wait", "E", 1)],
        [],
    ),
    "polls for half of a long call": (
        [*visits([1] * 20, "a"), ("a", 100, 900, "a"), ("a", 101, 501, "poll_once")],
        ["outlier"],
    ),
    "polls for more of it": (
        [*visits([1] * 20, "a"), ("a", 100, 900, "a"), ("a", 101, 502, "poll_once")],
        [],
    ),
    "given up after a twentieth of the run": (
        [("w", 50, 60, "Condition.wait (timed out)", "wait", "C", 1), ("main", 0, 200, "run")],
        ["given up"],
    ),
    "given up before": (
        [("w", 50, 59, "Condition.wait (timed out)", "wait", "C", 1), ("main", 0, 200, "run")],
        [],
    ),
    "given up though it was signalled first of all": (
        [*in_vain(1, " (timed out)", 50)[1:], ("main", 0, 200, "run")],
        ["given up"],
    ),
    "sleeps for nine tenths": (
        [("s", 0, 100, "Event.wait", "wait", "E", 1), ("s", 100, 1000, "time.sleep", "wait", "-", 1)],
        [],
    ),
    "a hundredth of the run": ([*visits([*[1] * 20, 128]), ("main", 0, 12_800, "run")], ["outlier"]),
    "a hundredth, after another that is less": (
        [*visits([*[1] * 20, 100]), *visits([*[1] * 20, 500], "z", "z"), ("main", 0, 12_000, "run")],
        ["outlier"],
    ),
    "less than a hundredth": ([*visits([*[1] * 20, 128]), ("main", 0, 12_801, "run")], []),
    "never ends for a twentieth of the run": (
        [("w", 950, 1000, "Event.wait", "wait", "E", 2), ("main", 0, 1000, "run")],
        ["never released"],
    ),
    "never ends for less": (
        [("w", 951, 1000, "Event.wait", "wait", "E", 2), ("main", 0, 1000, "run")],
        [],
    ),
    "the first thread never releases it": (
        [
            ("main", 0, 1000, "run"),
            ("main", 1, 1, "Lock.acquire", "wait", "L", 0),
            ("main", 2, 2, "Lock.release", "release", "L"),
            ("main", 3, 3, "Lock.acquire", "wait", "L", 0),
            ("w", 100, 1000, "Lock.acquire", "wait", "L", 2),
        ],
        ["never released", "held to the end"],
    ),
    "signalled first of all": (in_vain_at(110, 160, 10)[1:], ["never released"]),
    "another waits until it is signalled": (
        [*in_vain_at(110, 160, 10), ("v", 5, 10, "Condition.wait", "wait", "C", 1)],
        ["never released"],
    ),
    "another polls": (
        [*takes_between(4), *[("t", 100 * i, 100 * i + 90, "time.sleep", "wait", "-", 1) for i in range(8)]],
        ["polling"],
    ),
    "reads half of the time": (reads_between(4), []),
    "reads in vain": (reads_between(4, " (failed)"), ["polling"]),
    "takes what it has put itself": (takes_between(4, "s"), ["polling"]),
    "three quarters are short": (visits([*[1] * 15, *[64] * 4, 100]), ["outlier"]),
    "fewer are short": (visits([*[1] * 14, *[64] * 5, 100]), []),
    "usually eight": (visits([*[1] * 10, *[8] * 20, 511]), []),
    "within, nearly all": (within([("visit", 1000), ("inner", 800)]), ["outlier"]),
    "within, less": (within([("visit", 1000), ("inner", 799)]), ["outlier", "outlier"]),
    "polls within": (within([("visit", 1000), ("poll_once", 900), ("deep", 800)]), ["outlier"]),
    "fails": (in_vain(1, " (failed)"), ["given up"]),
    "two fail": (in_vain(2, " (failed)"), ["given up"]),
    "signalled just then": (in_vain(1, " (timed out)", 50), ["given up"]),
    "signalled before and just then": (
        [*in_vain(1, " (timed out)", 50), ("s", 20, 20, "Condition.notify", "release", "C")],
        ["given up"],
    ),
    "signalled later": (in_vain(1, " (timed out)", 51), ["given up"]),
    "passed on": (passed_on("other"), []),
    "passed on, and given back at another time": (
        [
            *passed_on("other"),
            ("other", 110, 110, "Lock.acquire", "wait", "L", 0),
            ("other", 112, 112, "Lock.release", "release", "L"),
        ],
        [],
    ),
    "given back": (passed_on("h"), ["held over I/O"]),
    "given back by no function, as another one runs": (
        [*passed_on("h"), ("z", 0, 100, "late (/src/late.py:77)")],
        ["held over I/O"],
    ),
    "take turns at waiting for seven tenths": (leads(7), ["leader and followers"]),
    "take turns at waiting for less": (leads(6), []),
    "reads in the first nanosecond": (
        [
            ("h", 0, 0, "Lock.acquire", "wait", "K", 0),
            ("h", 0, 1, "read", "io", "file"),
            ("h", 1, 1, "Lock.release", "release", "K"),
            ("v", 0, 1, "Lock.acquire", "wait", "K", 1),
            ("v", 2, 2, "Lock.release", "release", "K"),
        ],
        ["held over I/O"],
    ),
    "hardly one, and another": (
        [
            ("h", 0, 0, "Lock.acquire", "wait", "K", 0),
            ("h", 0, 1, "read", "io", "file"),
            ("h", 1, 1, "Lock.release", "release", "K"),
            ("v", 0, 1, "Lock.acquire", "wait", "K", 1),
            ("v", 2, 2, "Lock.release", "release", "K"),
            *[(thread, start + 2, end + 2, *rest) for thread, start, end, *rest in passed_on("h")],
        ],
        ["held over I/O"],
    ),
    "a third lock in one order": (
        [
            *both("a", 0, "X", "Y"),
            *both("b", 20, "Y", "X"),
            *both("c", 40, "X", "Z"),
            *both("c", 60, "W", "Y"),
        ],
        ["lock order"],
    ),
    "gets at once": (gets_without_waiting(0), []),
    "waits for work": (gets_without_waiting(1), ["held over a wait"]),
    "sleeps": (sleeps_without_waiting(1), ["held over sleep"]),
    "no sleep": (sleeps_without_waiting(0), []),
    "both sleep": (sleeps_while(""), ["polling", "polling"]),
    "one sleeps with a lock": (sleeps_while("s"), ["polling"]),
    "the other sleeps with a lock": (sleeps_while("t"), ["polling"]),
    "both sleep with locks": (sleeps_while("st"), []),
    "one of many": (turns("x", "vw"), ["one goes first"]),
    "one of many, and once alone": (
        [
            ("x", 0, 0, "Lock.acquire", "wait", "L", 0),
            ("x", 5, 5, "Lock.release", "release", "L"),
            *turns("x", "vw", at=20),
        ],
        ["one goes first"],
    ),
    "two of many": (turns("xy", "vw"), ["starvation"]),
    "four of five": (turns("xxxxy", "vw", times=10), ["one goes first"]),
    "three of four": (turns("xxxy", "vw", times=12), ["starvation"]),
    "a fiftieth of the run": (
        [*turns("xy", "vw"), ("main", 0, 3950, "run")],
        ["held to the end", "starvation"],
    ),
    "less than a fiftieth": ([*turns("xy", "vw"), ("main", 0, 3951, "run")], ["held to the end"]),
    "held for a hundredth": (held_at_last(990), ["held to the end"]),
    "held for less": (held_at_last(991), []),
    "reads half of the time that others wait": (reads_while_held(52), ["held over I/O"]),
    "reads less than half of it": (reads_while_held(51), []),
    "reads for a fiftieth of the run": (reads_while_held(98, 4800), ["held over I/O"]),
    "reads for less than a fiftieth": (reads_while_held(98, 4801), []),
    "waits for a signal": (turns("x", "v", what="Condition.wait"), []),
    "outlier among those that wait": (
        [
            *visits([*[1] * 20], "a"),
            ("a", 100, 900, "a"),
            ("a", 101, 899, "Event.wait", "wait", "E", 1),
            *visits([*[1] * 20, 800], "z", "z"),
        ],
        ["never released", "outlier"],
    ),
    "waits for nothing in particular": (
        [("w", 50, 1000, "Event.wait", "wait", "-", 2), ("main", 0, 1000, "run")],
        [],
    ),
    "sleeps for a tenth": (
        [("s", 0, 900, "Event.wait", "wait", "E", 1), ("s", 900, 1000, "time.sleep", "wait", "-", 1)],
        [],
    ),
    "sleeps for more": (
        [("s", 0, 899, "Event.wait", "wait", "E", 1), ("s", 899, 1000, "time.sleep", "wait", "-", 1)],
        [],
    ),
    "both acquire after one has begun the other at first": (
        [
            ("main", 0, 100, "run"),
            ("main", 0, 0, "Thread.start", "release", "Thread:a"),
            *both("main", 20, "X", "Y"),
            *both("a", 40, "Y", "X"),
        ],
        ["lock order"],
    ),
    "costly before dear": (
        [*passed_on("h"), *visits([*[1] * 20, 900], "z", "z")],
        ["held to the end", "held over I/O", "outlier"],
    ),
    "short at first": (
        [*turns("x", "v", every=3), *turns("x", "v", at=2000, every=200)],
        ["held to the end", "starvation"],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_remarkable(name):
    rows, kinds = PROGRAMS[name]
    waits = find_waits(trace_of(lines(rows)))
    found = findings(waits)
    assert sorted(map(row, found)) == sorted(Plain(waits).findings())
    assert [finding.kind for finding in found if finding.kind not in ("convoy", *USUAL)] == kinds


@pytest.mark.parametrize(("holder", "how"), [(0, "recorded"), (-1, "follows")])
def test_a_ring_is_recorded_if_all_of_its_holders_are(holder, how):
    waits = unfinished(holder)
    found = findings(waits)
    assert sorted(map(row, found)) == sorted(Plain(waits).findings())
    assert [finding.how for finding in found if finding.kind == "deadlock"] == [how]


def test_a_ring_may_be_broken_by_the_first_operation_of_all():
    trace = trace_of("a 0 60 Lock.acquire~(timed~out) wait X 1\nb 0 100 Lock.acquire wait Y 1\nb 100 110 run")
    waits = find_waits(replace(trace, sync=replace(trace.sync, holder=np.array([1, 0], np.int32))))
    found = findings(waits)
    assert sorted(map(row, found)) == sorted(Plain(waits).findings())
    assert "broken deadlock" in [finding.kind for finding in found]


@pytest.mark.parametrize(("first", "who"), [(90, "h"), (89, "One of 2 threads"), (10, "g")])
def test_who_causes_nine_tenths_of_a_delay_is_named_alone(first, who):
    waits = find_waits(trace_of(lines(two_read_while_they_hold(first))))
    found = findings(waits)
    assert sorted(map(row, found)) == sorted(Plain(waits).findings())
    (over_io,) = [finding for finding in found if finding.kind == "held over I/O"]
    assert f"{who} reads or writes" in over_io.sentence


def takes_the_count_alone(times, goes_on=True):
    """While one holds Y, the other takes X alone so many times, and then may go on to Y, as once before."""
    rows = both("r", 0, "X", "Y")
    for i in range(times + goes_on):
        at, last = 20 * (i + 1), i == times
        taken, back = ("Lock.acquire", "wait"), ("Lock.release", "release")
        rows += [
            ("w", at, at, *taken, "Y", 0), ("w", at + 1, at + 1, *taken, "X", 0),
            ("w", at + 2, at + 2, *back, "X"), ("r", at + 3, at + 3, *taken, "X", 0),
            *([("r", at + 4, at + 7, *taken, "Y", 1)] if last else []), ("w", at + 7, at + 7, *back, "Y"),
            *([("r", at + 8, at + 8, *back, "Y")] if last else []), ("r", at + 9, at + 9, *back, "X"),
        ]  # fmt: skip
    return rows


@pytest.mark.parametrize(
    ("times", "goes_on", "told"),
    [(199, True, True), (200, True, False), (2, False, True), (3, False, False)],
)
def test_what_is_wanted_at_none_of_three_or_200_times_is_taken_for_the_rule(times, goes_on, told):
    found = findings(find_waits(trace_of(lines(takes_the_count_alone(times, goes_on)))))
    assert ("lock order" in [finding.kind for finding in found]) == told
