"""Readers that go before writers, against a plain twin."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waits.sync_traces import lines, trace_of
from tracevis3d.features.waits.findings import readers
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.waits import find_waits


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ReadWriteLock.acquire_read", 1),
        ("ReadWriteLock.acquire_write", -1),
        ("ReadWriteLock.acquire", 0),
        ("WriteLock.acquire", -1),
        ("pthread_rwlock_rdlock", 1),
        ("pthread_rwlock_wrlock", -1),
        ("gen.Shared.__enter__", 1),
        ("beginRead", 1),
        ("HTTPReader.next (http.py:12)", 1),
        ("spread", 0),
        ("RLock.acquire", 0),
        ("threading.py", 0),
        ("", 0),
    ],
)
def test_what_a_function_does_is_told_by_its_words(name, expected):
    assert readers.role(name) == expected


NAMES = ("begin_read", "begin_write", "other")


@st.composite
def programs(draw):
    """Return rows of threads that read, write, or neither, each by a call in which it waits for an object."""
    rows = []
    for thread in draw(st.sets(st.sampled_from("abcd"), min_size=2)):
        rows.append((thread, 0, 2000, "run"))
        at = draw(st.integers(0, 40))
        for _ in range(draw(st.integers(0, 14))):
            lasts = draw(st.sampled_from((4, 30, 90, 500)))
            if at + lasts > 1900:
                break
            name, thing = draw(st.sampled_from(NAMES)), draw(st.sampled_from("LLM"))
            rows.append((thread, at, at + lasts, name))
            rows.append((thread, at + 1, at + lasts - 1, "Lock.acquire", "wait", thing, int(lasts > 4)))
            at += lasts + draw(st.sampled_from((1, 3, 40)))
    return rows


def plain(trace, waits):
    """Return, for each object, the writers that waited and the readers that got in meanwhile."""
    calls, ops, label = trace.calls, waits.ops, trace.functions.label
    does = {"begin_read": 1, "begin_write": -1}

    def entry(row):
        call = int(ops.call[row])
        while call >= 0 and label[calls.function[call]] not in does:
            call = int(calls.parent[call])
        return call

    found = {}
    for thing in {name for row in range(len(ops)) for name in ops.of(row)}:
        mine = [row for row in range(len(ops)) if thing in ops.of(row) and entry(row) >= 0]
        entered = {
            int(calls.function[entry(row)]) for row in mine if does[label[calls.function[entry(row)]]] == 1
        }
        writers, passing = set(), set()
        for row in mine:
            writes = does[label[calls.function[entry(row)]]] == -1
            if not writes or not ops.blocked[row] or ops.lasted[row] < 0.02 * trace.span_ns:
                continue
            inside = [
                int(calls.thread[c])
                for c in range(len(calls))
                if int(calls.function[c]) in entered and calls.thread[c] != ops.thread[row]
                and ops.start[row] <= calls.start[c] and calls.end[c] <= ops.end[row]
            ]  # fmt: skip
            if len(inside) >= 8 and len(inside) >= 4 * len(set(inside)):
                writers.add(int(ops.thread[row]))
                passing |= set(inside)
        if writers:
            found[thing] = (writers, passing)
    return found


@given(programs())
def test_writers_that_wait_for_readers_are_those_of_the_plain_twin(rows):
    trace = trace_of(lines(rows))
    waits = find_waits(trace)
    found = readers.findings(waits)
    expected = plain(trace, waits)
    assert {one.objects[0] for one in found} == set(expected)
    for one in found:
        writers, passing = expected[one.objects[0]]
        assert set(one.threads) == writers | passing
        # Who reads comes first.
        assert set(one.threads[: len(passing)]) == passing
        assert one.how == "inferred"


def _reads(times=9):
    rows = [("r", 0, 2000, "run"), ("w", 0, 2000, "run"), ("w", 100, 900, "begin_write")]
    rows.append(("w", 101, 899, "Lock.acquire", "wait", "L", 1))
    for i in range(times):
        rows.append(("r", 110 + 40 * i, 114 + 40 * i, "begin_read"))
        rows.append(("r", 111 + 40 * i, 113 + 40 * i, "Lock.acquire", "wait", "L", 0))
        rows.append(("r", 140 + 40 * i, 142 + 40 * i, "Lock.release", "release", "L"))
    return rows


def test_the_sentence_says_who_reads_how_often_and_who_waits_how_long():
    waits = find_waits(trace_of(lines(_reads())))
    (one,) = readers.findings(waits)
    assert re.fullmatch(
        r"r.* reads 9 times \(begin_read\) while w.* waits up to 798 ns for L to write: readers go first",
        one.sentence,
    )
    assert re.fullmatch(r"w.* waits up to 798 ns to write while r.* reads 9 times", one.title)
    assert (one.kind, one.count, one.score_ns, one.start, one.end) == ("readers first", 1, 798, 101, 899)
    assert not readers.findings(find_waits(trace_of(lines(_reads(7)))))


def test_that_one_gets_it_again_and_again_is_said_once():
    waits = find_waits(trace_of(lines(_reads(20))))
    kinds = [one.kind for one in findings(waits)]
    assert kinds.count("readers first") == 1
    assert not {"starvation", "one goes first"} & set(kinds)
    assert np.array_equal(waits.ops.blocked[waits.own], [True])


def test_a_writer_that_does_not_wait_or_that_waits_within_a_wait_is_none_for_whom_readers_go_first():
    for lock in (("wait", "L", 0), ("wait", "L", 1)):
        rows = [row for row in _reads() if row[1] != 101] + [("w", 101, 899, "Lock.acquire", *lock)]
        if lock[2]:
            # The outer wait is the one for another object.
            rows.append(("w", 100, 899, "Condition.wait", "wait", "C", 1))
        found = readers.findings(find_waits(trace_of(lines(rows))))
        assert "L" not in {name for one in found for name in one.objects}


def test_what_two_readers_delay_is_told_of_each_the_most_first():
    rows = [("q" if row[0] == "r" and row[1] // 40 % 2 else row[0], *row[1:]) for row in _reads()]
    waits = find_waits(trace_of(lines([*rows, ("q", 0, 2000, "run")])))
    (one,) = readers.findings(waits)
    causes, sums = waits.causes, {}
    for wait, *site, ns in zip(causes.wait, causes.thread, causes.function, causes.line, causes.ns):
        if waits.ops.lasted[wait] == 798:
            sums[*map(int, site)] = sums.get(tuple(map(int, site)), 0) + int(ns)
    assert len(sums) == 2
    assert one.causes == tuple((*site, ns) for site, ns in sorted(sums.items(), key=lambda of: -of[1]))


def test_an_operation_of_no_length_may_itself_be_that_which_reads():
    rows = [("r", 0, 2000, "run"), ("w", 0, 2000, "run"), ("w", 100, 900, "wrlock", "wait", "L", 1)]
    for i in range(9):
        rows.append(("r", 110 + 40 * i, 110 + 40 * i, "rdlock", "wait", "L", 0))
        # Something else begins at the same moment.
        rows.append(("r", 110 + 40 * i, 110 + 40 * i, "write"))
        rows.append(("r", 140 + 40 * i, 142 + 40 * i, "unlock", "release", "L"))
    assert len(readers.findings(find_waits(trace_of(lines(rows))))) == 1


@pytest.mark.parametrize(
    ("times", "many", "span", "told"),
    [
        (8, 1, 2000, True), (8, 2, 2000, True), (11, 3, 2000, False), (12, 3, 2000, True),
        (9, 1, 39_900, True), (9, 1, 39_901, False),
    ],
)  # fmt: skip
def test_readers_get_in_eight_times_and_each_four_times_while_a_writer_waits_a_fiftieth(
    times, many, span, told
):
    rows = [
        (f"r{(row[1] - 110) // 40 % many}" if row[0] == "r" and row[2] < 2000 else row[0], *row[1:])
        for row in _reads(times)
    ]
    rows += [("main", 0, span, "run")]
    assert bool(readers.findings(find_waits(trace_of(lines(rows))))) == told


def test_readers_may_get_in_at_the_moment_from_which_a_writer_waits():
    rows = [row if row[:2] != ("w", 101) else ("w", 110, *row[2:]) for row in _reads(8)]
    assert len(readers.findings(find_waits(trace_of(lines(rows))))) == 1


def test_a_condition_gives_back_the_lock_by_which_readers_get_in():
    """Another writer waits, too, for what no reader touches."""
    rows = [row for row in _reads() if row[1] != 101]
    rows.append(("w", 101, 899, "Condition.wait", "wait", "C", 1))
    assert not readers.findings(find_waits(trace_of(lines(rows))))
    # What it gives back as it ends, and what it acquires then, is not given back to wait.
    rows += [("w", 910, 912, "Lock.acquire", "wait", "M", 0), ("r", 50, 54, "peek_read")]
    rows += [("r", 51, 53, "Lock.acquire", "wait", "M", 0)]
    late = [*rows, ("w", 899, 899, "Lock.release", "release", "L")]
    assert not readers.findings(find_waits(trace_of(lines(late))))
    rows.append(("w", 102, 102, "Lock.release", "release", "L"))
    rows += [
        ("v", 0, 2000, "run"),
        ("v", 100, 900, "begin_write"),
        ("v", 101, 899, "Lock.acquire", "wait", "D", 1),
    ]
    (one,) = readers.findings(find_waits(trace_of(lines(rows))))
    assert one.objects == ("C",)
    assert [find_waits(trace_of(lines(rows))).trace.threads.name[t] for t in one.threads] == ["r", "w"]


def test_who_writes_may_do_so_in_the_first_call_of_all():
    """Something else that it calls begins at the same moment."""
    rows = [("w", 0, 900, "wrlock", "wait", "L", 1), ("w", 0, 2, "read_settings"), ("r", 0, 2000, "run")]
    rows += [row for row in _reads() if row[0] == "r"]
    assert len(readers.findings(find_waits(trace_of(lines(rows))))) == 1


def test_operations_that_are_no_calls_themselves_are_those_of_the_calls_around_them():
    trace = trace_of(lines(_reads()))
    apart = replace(trace, sync=replace(trace.sync, call=np.full_like(trace.sync.call, -1)))
    told = [[one.sentence for one in readers.findings(find_waits(of))] for of in (trace, apart)]
    assert told[0] == told[1] != []


def test_who_waits_longest_to_write_is_named_first():
    rows = [*_reads(), ("v", 0, 2000, "run"), ("v", 90, 950, "begin_write")]
    rows.append(("v", 91, 949, "Lock.acquire", "wait", "L", 1))
    waits = find_waits(trace_of(lines(rows)))
    (one,) = readers.findings(waits)
    assert [waits.trace.threads.name[t] for t in one.threads] == ["r", "v", "w"]
