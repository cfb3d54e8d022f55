"""Who waits for whom: kinds by rules, correspondences, holders, the critical path, findings."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.waits.sync_traces import lines, trace_of
from tracevis3d import load, save
from tracevis3d.errors import InputError
from tracevis3d.features.waits.correspondences import every_release, waking_releases
from tracevis3d.features.waits.critical_path import RUNS, STARTS, WAITS
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.operations import operations
from tracevis3d.features.waits.outcomes import HOW, KINDS_OF_WAITING
from tracevis3d.features.waits.rules import default_rules, read_rules
from tracevis3d.features.waits.summary import _site, summary, waits_facts
from tracevis3d.features.waits.waits import IO, RELEASE, SOURCES, WAIT, Waits, find_waits
from tracevis3d.formats.names import split
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording

MS = 1_000_000


def pairs_of(waits: Waits, found) -> list[tuple[str, int, str, int]]:
    """Return (waiting thread, its start, releasing thread, release) of correspondences."""
    ops, tid = waits.ops, waits.trace.threads.tid
    return sorted(
        (str(tid[ops.thread[w]]), int(ops.start[w]), str(tid[ops.thread[r]]), int(t))
        for w, r, t in zip(found.wait.tolist(), found.release.tolist(), found.time.tolist())
    )


@st.composite
def programs(draw):
    """Return rows for :func:`lines`: sequential waits and releases of three threads on three objects."""
    rows = []
    for thread in "abc":
        time = draw(st.integers(0, 4))
        for _ in range(draw(st.integers(0, 6))):
            kind = draw(st.sampled_from(["wait", "release", "io"]))
            objects = draw(st.lists(st.sampled_from("XYZ"), min_size=1, max_size=2, unique=True))
            end = time + draw(st.integers(1, 8))
            name = {"wait": "Lock.acquire", "release": "Lock.release", "io": "read"}[kind]
            rows.append((thread, time, end, name, kind, ",".join(objects), 1))
            time = end + draw(st.integers(0, 3))
    return rows


@given(programs())
@settings(max_examples=80, deadline=None)
def test_correspondences_are_those_of_the_equations(rows):
    if not rows:
        return
    waits = find_waits(trace_of(lines(rows)))
    origin = waits.trace.origin_ns
    waiting = [r for r in rows if r[4] == "wait"]
    releasing = [r for r in rows if r[4] == "release"]

    def share(a, b):
        return set(a[5].split(",")) & set(b[5].split(","))

    every = sorted(
        (w[0], w[1] - origin, r[0], r[1] - origin)
        for w in waiting
        for r in releasing
        if share(w, r) and w[1] <= r[1] <= w[2]
    )
    assert pairs_of(waits, every_release(waits.ops)) == every
    woke = []
    for w in waiting:
        inside = [r for r in releasing if share(w, r) and w[1] <= r[1] <= w[2] and r[0] != w[0]]
        if inside:
            woke.append((w[0], w[1] - origin, max(r[1] for r in inside) - origin))
    found = pairs_of(waits, waking_releases(waits.ops))
    assert [(a, b, t) for a, b, _, t in found] == sorted(woke)
    for a, start, by, time in found:
        assert any(r[0] == by and r[1] - origin == time and by != a for r in releasing), start


def test_a_wait_for_all_needs_the_last_release_of_each_object(tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nnames = ["wait_all"]\nkind = "wait"\nall = true\n')
    text = """
    a 0 100 {} wait X,Y 1
    b 10 11 give release X
    b 20 21 give release X
    c 50 51 give release Y
    """
    waits = find_waits(trace_of(text.format("wait_all")), [str(rules)])
    assert pairs_of(waits, waits.woke) == [("a", 0, "b", 20), ("a", 0, "c", 50)]
    assert waits.woken_at[0] == 50
    waits = find_waits(trace_of(text.format("wait_any")))
    assert pairs_of(waits, waits.woke) == [("a", 0, "c", 50)]


def test_durations_of_waits_io_and_releases_in_the_tree():
    waits = find_waits(
        trace_of("""
    a 0 100 main
    a 10 40 work
    a 12 20 Lock.acquire wait L 1
    a 25 35 read io file
    a 50 60 Lock.release release L
    """)
    )
    names = [waits.trace.functions.name[f] for f in waits.trace.calls.function]
    result = {kind: dict(zip(names, waits.time_in(kind).tolist())) for kind in (WAIT, IO, RELEASE)}
    assert result[WAIT]["main"] == result[WAIT]["work"] == result[WAIT]["Lock.acquire"] == 8
    assert result[IO]["main"] == result[IO]["work"] == 10
    assert result[RELEASE] == {"main": 10, "work": 0, "Lock.acquire": 0, "read": 0, "Lock.release": 10}


def test_an_outer_wait_takes_the_release_of_the_wait_within_it():
    waits = find_waits(
        trace_of("""
    a 0 50 Queue.put-full wait Q 1
    a 5 45 Condition.wait wait C 1
    b 40 41 Condition.notify release C
    """)
    )
    assert waits.ops.nested.tolist() == [False, True, False]
    assert waits.woken_by.tolist() == [1, 1, -1]
    assert waits.waited.tolist() == [50, 0]


def test_a_queue_with_room_again_wakes_who_puts():
    waits = find_waits(
        trace_of("""
    a 0 50 Queue.put-full wait Q 1
    b 10 11 Queue.put release Q
    c 30 40 Queue.get wait Q 0
    """)
    )
    assert pairs_of(waits, waits.woke) == [("a", 0, "c", 40)]


def test_two_that_get_a_semaphore_by_one_release_were_both_woken_by_it():
    waits = find_waits(
        trace_of("""
    a 0 90 run
    a 10 10 Semaphore.release release S
    b 0 10 Semaphore.acquire wait S 1
    c 0 20 Semaphore.acquire wait S 1
    c 80 80 Semaphore.release release S
    """)
    )
    assert waits.woken_by[waits.own].tolist() == [0, 0]
    assert waits.woken_at[waits.own].tolist() == [10, 10]


@pytest.mark.parametrize(("holder", "how"), [(0, "recorded"), (-1, "follows")])
def test_who_ended_a_wait_is_recorded_where_it_is_the_recorded_holder(holder, how):
    trace = trace_of("""
    a 0 60 run
    a 1 1 Lock.acquire wait L 0
    a 50 50 Lock.release release L
    b 10 50 Lock.acquire wait L 1
    """)
    waits = find_waits(
        replace(trace, sync=replace(trace.sync, holder=np.full(len(trace.sync), holder, np.int32)))
    )
    assert [HOW[waits.outcomes.how[row]] for row in waits.own] == [how]


def test_of_two_releases_of_a_semaphore_each_of_two_that_wait_gets_its_own():
    waits = find_waits(
        trace_of("""
    a 0 90 run
    a 10 10 Semaphore.release release S
    a 20 20 Semaphore.release release S
    b 0 21 Semaphore.acquire wait S 1
    c 0 22 Semaphore.acquire wait S 1
    """)
    )
    assert waits.woken_at[waits.own].tolist() == [10, 20]


def test_who_held_it_is_told_with_file_and_line():
    waits = find_waits(
        trace_of("""
    a 0 60 work~(/src/one.py:3)
    a 1 1 Lock.acquire wait L 0
    a 50 50 Lock.release release L
    b 10 50 Lock.acquire wait L 1
    """)
    )
    (blamed,) = summary(waits)["blame"]
    assert (blamed["function"], blamed["file"]) == ("work", "/src/one.py")


def test_a_thread_has_ended_where_the_recording_says_so():
    waits = find_waits(
        trace_of("""
    a 0 90 run
    a 5 5 Event.set release E
    b 1 80 run
    b 80 80 Thread.end release Thread:b
    c 1 70 run
    c 2 9 end~of~thread wait Thread:b 1
    """)
    )
    assert waits.ended.tolist() == [False, True, False]


def test_joining_a_thread_ends_with_it():
    waits = find_waits(
        trace_of("""
    main 0 1 Thread.start release Thread:w
    main 2 60 Thread.join wait Thread:w 1
    main 60 70 rest
    w 5 58 work
    """)
    )
    assert waits.woken_by[waits.own].tolist() == [1]
    assert waits.woken_at[waits.own].tolist() == [58]
    path = waits.path()
    steps = [(waits.trace.threads.tid[t], w, s, e) for t, w, s, e in
             zip(path.thread, path.what.tolist(), path.start.tolist(), path.end.tolist())]  # fmt: skip
    assert steps == [
        ("w", STARTS, 0, 5),
        ("w", RUNS, 5, 58),
        ("main", WAITS, 58, 60),
        ("main", RUNS, 60, 70),
    ]


def test_the_critical_path_goes_through_who_woke_whom():
    waits = find_waits(
        trace_of("""
    a 0 100 run_a
    a 10 40 Lock.acquire wait L 1
    b 0 60 run_b
    b 2 3 Lock.acquire wait L 0
    b 38 39 Lock.release release L
    """)
    )
    path = waits.path()
    labels = waits.trace.functions.label
    result = [
        (str(waits.trace.threads.tid[t]), int(w), s, e)
        for t, w, s, e in zip(path.thread, path.what, path.start.tolist(), path.end.tolist())
    ]
    assert result == [("b", RUNS, 0, 38), ("a", WAITS, 38, 40), ("a", RUNS, 40, 100)]
    assert [labels[waits.trace.calls.function[c]] for c in path.call] == ["run_b", "Lock.acquire", "run_a"]
    early = waits.path(thread=1, time=30)
    assert [(s, e) for s, e in zip(early.start.tolist(), early.end.tolist())] == [(0, 30)]


def test_holders_queues_and_contention():
    waits = find_waits(
        trace_of("""
    a 0 1 Lock.acquire wait L 0
    b 10 50 Lock.acquire wait L 1
    c 20 80 Lock.acquire wait L 1
    a 49 49 Lock.release release L
    b 79 79 Lock.release release L
    c 90 90 Lock.release release L
    """)
    )
    facts = summary(waits)
    (lock,) = facts["objects"]
    assert lock["acquisitions"] == 3
    assert lock["waits"] == 2
    assert lock["contention"] == pytest.approx(2 / 3, abs=1e-4)
    assert lock["longest_queue"] == 2
    assert lock["longest_queue_at_ns"] == 20
    assert lock["held_ns"] == (49 - 1) + (79 - 50) + (90 - 80)
    assert lock["never_released"] == 0
    held = {w["thread"]: (w["held_by"], w["woken_by"]) for w in facts["waits"]}
    assert held == {"b": ("a", "a"), "c": ("a", "b")}
    every = summary(waits, every=True)["waits"]
    assert len(every) == 3


def test_a_semaphore_with_two_holders_has_no_single_one():
    waits = find_waits(
        trace_of("""
    a 0 1 Semaphore.acquire wait S 0
    b 2 3 Semaphore.acquire wait S 0
    c 10 50 Semaphore.acquire wait S 1
    a 48 48 Semaphore.release release S
    """)
    )
    row = int(np.flatnonzero(waits.ops.blocked)[0])
    assert waits.held_by[row] == -1
    assert waits.trace.threads.tid[waits.woken_by[row]] == "a"


def kinds_of(text: str) -> dict[str, list]:
    result: dict[str, list] = {}
    for finding in findings(find_waits(trace_of(text))):
        result.setdefault(finding.kind, []).append(finding)
    return result


def both(thread, at, one, other, gate=""):
    """Return a thread that acquires two locks, one within the other, perhaps both within a third."""
    rows = [
        (thread, at + 1, at + 1, "Lock.acquire", "wait", one, 0),
        (thread, at + 2, at + 3, "Lock.acquire", "wait", other, 0),
        (thread, at + 4, at + 4, "Lock.release", "release", other),
        (thread, at + 5, at + 5, "Lock.release", "release", one),
    ]
    if gate:
        rows.insert(0, (thread, at, at, "Lock.acquire", "wait", gate, 0))
        rows.append((thread, at + 6, at + 6, "Lock.release", "release", gate))
    return rows


def test_locks_taken_in_different_orders_are_found():
    (found,) = kinds_of(lines([*both("a", 0, "X", "Y"), *both("b", 20, "Y", "X")]))["lock order"]
    assert set(found.objects) == {"X", "Y"}
    assert len(found.threads) == 2
    assert found.sentence.endswith("a deadlock is possible")
    assert "lock order" not in kinds_of(lines([*both("a", 0, "X", "Y"), *both("b", 20, "X", "Y")]))
    assert "lock order" not in kinds_of(lines([*both("a", 0, "X", "Y"), *both("a", 20, "Y", "X")]))


def test_a_wait_that_nobody_ends_is_ended_as_the_last_one_within_it_is():
    rows = [("a", 0, 100, "Event.wait", "wait", "E", 1)]
    for i in range(3):
        rows += [
            ("b", 0, 0, "Lock.acquire", "wait", f"L{i}", 0),
            ("a", 10 + 20 * i, 20 + 20 * i, "Lock.acquire", "wait", f"L{i}", 1),
            ("b", 15 + 20 * i, 15 + 20 * i, "Lock.release", "release", f"L{i}"),
        ]
    waits = find_waits(trace_of(lines(rows)))
    (outer,) = np.flatnonzero(waits.ops.lasted == 100)
    assert waits.woken_at[outer] == 55
    assert waits.trace.threads.tid[waits.woken_by[outer]] == "b"


def test_what_is_released_at_the_very_beginning_is_known_to_be():
    found = summary(find_waits(trace_of("a 0 10 Event.wait wait E 1\nb 0 0 Event.set release E")))
    assert [wait["released_ns"] for wait in found["waits"]] == [0]


def test_what_ends_a_wait_within_that_of_another_thread_ends_no_other():
    rows = [
        ("a", 0, 100, "Event.wait", "wait", "E", 1), ("b", 0, 100, "Event.wait", "wait", "F", 0),
        ("b", 10, 20, "Lock.acquire", "wait", "L", 1), ("c", 0, 0, "Lock.acquire", "wait", "L", 0),
        ("c", 15, 15, "Lock.release", "release", "L"),
    ]  # fmt: skip
    waits = find_waits(trace_of(lines(rows)))
    woken = {
        (int(waits.ops.start[i]), ",".join(waits.ops.of(i))): int(waits.woken_at[i])
        for i in range(len(waits.ops))
    }
    assert woken[0, "E"] == woken[0, "F"] == -1
    assert woken[10, "L"] == 15


def test_what_threads_give_back_for_each_other_is_in_no_order():
    rows = [*both("a", 0, "X", "Y"), *both("b", 20, "Y", "X")]
    rows.append(("c", 40, 40, "Lock.acquire", "wait", "X", 0))
    for who, found in (("c", True), ("d", False)):
        given = (who, 45, 45, "Lock.release", "release", "X")
        assert ("lock order" in kinds_of(lines([*rows, given]))) == found


def test_a_lock_around_both_keeps_their_orders_from_a_deadlock():
    rows = [*both("a", 0, "X", "Y", "G"), *both("b", 20, "Y", "X", "G")]
    assert "lock order" not in kinds_of(lines(rows))
    # Unless somebody does without.
    assert "lock order" in kinds_of(lines([*rows, *both("c", 40, "Y", "X")]))
    # Three locks, of which two threads can't make a ring.
    three = [*both("a", 0, "X", "Y"), *both("b", 20, "Y", "Z"), *both("a", 40, "Z", "X")]
    assert "lock order" not in kinds_of(lines(three))
    assert "lock order" in kinds_of(lines([*three[:8], *both("c", 40, "Z", "X")]))


def test_orders_of_threads_that_follow_each_other_are_no_deadlock_in_this_run():
    rows = [
        ("main", 0, 60, "run"),
        ("main", 1, 1, "Thread.start", "release", "Thread:a"),
        *both("a", 5, "X", "Y"),
        ("a", 14, 14, "Thread.end", "release", "Thread:a"),
        ("main", 5, 15, "Thread.join", "wait", "Thread:a", 1),
        ("main", 20, 20, "Thread.start", "release", "Thread:b"),
        *both("b", 25, "Y", "X"),
    ]
    (found,) = kinds_of(lines(rows))["lock order"]
    assert found.sentence.endswith("if they run at the same time; here one ends before another begins")
    # The same with the thread that is joined as the first of all.
    (found,) = kinds_of(lines([("a", 0, 3, "run"), *rows]))["lock order"]
    assert found.sentence.endswith("here one ends before another begins")
    # The same with the one that begins later as the first of all.
    (found,) = kinds_of(lines([("b", 21, 22, "run"), *rows]))["lock order"]
    assert found.sentence.endswith("here one ends before another begins")
    # Who joins another comes after it, not before.
    joins = [*both("main", 0, "X", "Y"), ("main", 6, 20, "Thread.join", "wait", "Thread:a", 1)]
    ends = [*both("a", 8, "Y", "X"), ("a", 19, 19, "Thread.end", "release", "Thread:a")]
    (found,) = kinds_of(lines([*joins, *ends]))["lock order"]
    assert found.sentence.endswith("a deadlock is possible")
    # Nobody waits for the first one before the second begins.
    (found,) = kinds_of(lines([row for row in rows if row[3] != "Thread.join"]))["lock order"]
    assert found.sentence.endswith("a deadlock is possible")


def test_readers_that_know_that_they_need_not_wait_are_in_no_ring():
    """The first reader takes the writers' lock within the count's, and holds it until the last one goes."""
    acquire = ("Lock.acquire", "wait", "count", 0)
    rows = [
        ("r", 0, 0, *acquire),
        ("r", 1, 1, "Lock.acquire", "wait", "room", 0),
        ("r", 2, 2, "Lock.release", "release", "count"),
    ]
    for i in range(3):
        rows += [("q", 10 + 5 * i, 10 + 5 * i, *acquire)]
        rows += [("q", 12 + 5 * i, 12 + 5 * i, "Lock.release", "release", "count")]
    rows += [("r", 40, 40, *acquire), ("r", 41, 41, "Lock.release", "release", "room")]
    rows += [("r", 42, 42, "Lock.release", "release", "count")]
    # Another day the other one is the first.
    other = [("q" if row[0] == "r" else "r", row[1] + 50, row[2] + 50, *row[3:]) for row in rows]
    assert "lock order" not in kinds_of(lines([*rows, *other]))
    few = [row for row in [*rows, *other] if not 15 <= row[1] % 50 < 40]
    assert "lock order" in kinds_of(lines(few))
    # Who wants the other one after all, if only as it goes, is no exception.
    wants = [
        ("q", 22, 22, "Lock.acquire", "wait", "room", 0),
        ("r", 72, 72, "Lock.acquire", "wait", "room", 0),
    ]
    assert "lock order" in kinds_of(lines([*rows, *other, *wants]))
    # Nor says what is done in another function anything of this one.
    elsewhere = [("q", 9, 30, "elsewhere"), ("r", 59, 80, "elsewhere")]
    assert "lock order" in kinds_of(lines([*rows, *other, *elsewhere]))
    # All the days count.
    for days in (2, 3):
        later = [
            (who, start + 100 * day, end + 100 * day, *rest)
            for day in range(days)
            for who, start, end, *rest in few
        ]
        assert ("lock order" in kinds_of(lines(later))) == (days == 2)


def test_waits_that_nobody_ends_polling_farmers_and_convoys_are_found():
    hang = kinds_of("a 0 1000 run\na 5 995 Event.wait wait E 1\nb 0 1000 run")
    assert hang["never released"][0].objects == ("E",)
    assert hang["does nothing"][0].threads == (0,)
    twice = kinds_of("a 0 1000 run\na 5 495 Event.wait wait E 1\na 500 995 Event.wait wait E 1\nb 0 1000 run")
    assert twice["mostly idle"][0].threads == (0,)
    polls = [("p", 100 * i, 100 * i + 90, "Event.wait", "wait", "E", 1) for i in range(8)]
    assert kinds_of(lines([*polls, ("q", 0, 800, "run")]))["polling"][0].count == 8
    farmed = [("f", 100 * i + 50, 100 * i + 50, "Queue.put", "release", f"Q{i}") for i in range(4)]
    farmed += [(f"w{i}", 0, 100 * i + 52, "Queue.get", "wait", f"Q{i}", 1) for i in range(4)]
    (farmer,) = kinds_of(lines(farmed))["farmer and workers"]
    assert farmer.threads[0] == 0
    assert len(farmer.threads) == 5
    convoy = []
    for i, thread in enumerate("abcd"):
        for turn in range(3):
            begin = 40 * turn + 10 * i
            convoy += [
                (thread, max(begin - 30, 0) + i, begin + 2, "Lock.acquire", "wait", "L", 1),
                (thread, begin + 9, begin + 9, "Lock.release", "release", "L"),
            ]
    assert kinds_of(lines(convoy))["convoy"][0].objects == ("L",)
    leak = kinds_of(
        "a 0 1 Lock.acquire wait L 0\na 5 5 Lock.release release L\nb 6 7 Lock.acquire wait L 0\nb 8 900 run"
    )
    assert leak["held to the end"][0].threads == (1,)


def test_a_call_that_takes_far_longer_than_its_likes_is_found():
    rows = [("a", 1000 * i, 1000 * i + 8, "visit") for i in range(30)] + [("a", 40_000, 90_000, "visit")]
    (found,) = kinds_of(lines(rows))["outlier"]
    assert found.score_ns == 50_000
    assert found.count == 31


@pytest.mark.parametrize(("innermost", "found"), [("compute", True), ("run_timer", False)])
def test_a_call_that_sleeps_by_way_of_others_is_none_that_takes_long(innermost, found):
    rows = [("a", 1000 * i, 1000 * i + 8, "visit") for i in range(30)]
    deep = ("visit", "retry", "pause", innermost)
    rows += [("a", 40_000 + 10 * i, 90_000 - 10 * i, name) for i, name in enumerate(deep)]
    assert ("outlier" in kinds_of(lines(rows))) == found


def test_rules_of_the_users_go_before_the_built_in_ones(tmp_path):
    rules = tmp_path / "mine.json"
    rules.write_text(
        json.dumps(
            {
                "rule": [
                    {
                        "names": ["grab"],
                        "kind": "wait",
                        "object": "{caller}'s thing",
                        "holds": True,
                        "blocks": "0ns",
                    },
                    {"names": ["drop"], "kind": "release", "object": "{caller}'s thing"},
                    {"names": ["peek"], "kind": "wait", "within": ["loop"], "blocks": "0ns"},
                ]
            }
        )
    )
    text = """
    a 0 100 work
    a 10 40 grab
    a 60 70 peek
    b 0 100 work
    b 30 31 drop
    b 50 60 loop
    b 52 58 peek
    """
    assert not len(find_waits(trace_of(text)).ops)
    waits = find_waits(trace_of(text), [str(rules)])
    assert sorted(waits.ops.names) == ["drop", "grab", "peek"]
    assert pairs_of(waits, waits.woke) == [("a", 10, "b", 30)]
    assert waits.ops.objects == ("work's thing",)
    assert np.count_nonzero(waits.ops.kind == WAIT) == 2  # peek below loop alone


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[rule]]\nkind = 'wait'\n", "names are missing"),
        ("[[rule]]\nnames = ['x']\nkind = 'sleep'\n", "kind is not one of"),
        ("[[rule]]\nnames = ['x']\nkind = 'wait'\nblock = '1s'\n", "no field 'block'"),
        ("[[rule]]\nnames = ['x']\nkind = 'wait'\nblocks = 'soon'\n", "a time is expected"),
        ("[[rule]]\nnames = 'x'\nkind = 'wait'\n", "not a list of texts"),
        ("[[rules]]\n", "may only contain"),
        ("rule = [", "can't be understood"),
    ],
)
def test_wrong_rules_are_reported_in_a_sentence(tmp_path, text, words):
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as result:
        read_rules([str(path)])
    assert str(path) in str(result.value)
    with pytest.raises(InputError, match="can't be read"):
        read_rules([str(tmp_path / "absent.toml")])


def test_the_built_in_rules_name_every_kind():
    assert {rule.kind for rule in default_rules().rules} == {"wait", "release", "io"}
    assert default_rules().flows


def test_a_trace_without_anything_has_no_waits():
    waits = find_waits(trace_of("a 0 10 run"))
    facts = summary(waits)
    assert facts["waits"] == facts["objects"] == []
    assert [step["what"] for step in facts["critical_path"]] == ["runs"]


@pytest.mark.parametrize("name", ["sync_downloader_8w", "sync_pillow_8w"])
def test_every_blocked_wait_is_found_and_its_holder_where_known(recorded, name):
    trace = load(recorded / f"{name}.json.gz")
    facts = summary(find_waits(trace))
    result = {}
    for wait in facts["waits"]:
        result.setdefault((str(wait["thread"]), wait["object"]), []).append(wait)
    checked = known = 0
    for line in (recorded / f"{name}.blocked.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        thread, object, start, end, _, holder = line.split("\t")
        begin, stop = float(start) * 1e3 - trace.origin_ns, float(end) * 1e3 - trace.origin_ns
        # The recorder notes the end of the blocking a little before the end of the acquiring.
        (wait,) = [
            w
            for w in result[thread, object]
            if abs(w["start_ns"] - begin) < 2 and 0 <= w["end_ns"] - stop < 20_000
        ]
        assert wait["blocked"]
        assert wait["woken_by"] is not None
        checked += 1
        if holder != "None":
            assert str(wait["held_by"]) == holder
            known += 1
    assert checked >= 21
    assert known >= 15


def test_what_woke_the_threads_of_a_compressor(recorded):
    """uftrace records no objects: rules know what zstd's threads wait for when they are off their core."""
    waits = find_waits(load(recorded / "uftrace_zstd_7t.json.gz"))
    title = waits.trace.threads.title
    longest = int(waits.own[waits.ops.lasted[waits.own].argmax()])
    assert title(waits.woken_by[longest]) == "[19768] zstd"
    assert waits.ops.of(longest) == ["jobs of the pool"]
    farmer = next(f for f in findings(waits) if f.kind == "farmer and workers")
    assert title(farmer.threads[0]) == "[19768] zstd"
    assert len(farmer.threads) == 7


def test_arrows_wake_idle_threads(recorded):
    trace = load(recorded / "chromium_docs_page.json.gz")
    waits = find_waits(trace)
    idle = np.flatnonzero((waits.ops.kind == WAIT) & (waits.ops.call < 0))
    assert len(idle) > 1000
    assert (waits.woken_by[idle] >= 0).all()
    # No call of the thread lies within the time in which it was idle.
    calls = trace.calls
    roots = np.flatnonzero(calls.depth == 1)
    for row in idle[:: max(len(idle) // 50, 1)].tolist():
        mine = roots[calls.thread[roots] == waits.ops.thread[row]]
        inside = (calls.start[mine] < waits.ops.end[row]) & (calls.end[mine] > waits.ops.start[row])
        assert not inside.any()


def test_operations_keep_recorded_objects_and_order(recorded):
    trace = load(recorded / "sync_pillow_8w.json.gz")
    ops = operations(trace, default_rules())
    key = np.stack([ops.thread, ops.start])
    later = (key[0, 1:] > key[0, :-1]) | ((key[0, 1:] == key[0, :-1]) & (key[1, 1:] >= key[1, :-1]))
    assert later.all()
    kinds = np.bincount(ops.kind, minlength=3)
    recorded_kinds = np.bincount(trace.sync.kind, minlength=3)
    ends = sum(name == "thread end" for name in (ops.names[n] for n in ops.name))
    assert kinds[WAIT] == recorded_kinds[WAIT]
    assert kinds[RELEASE] == recorded_kinds[RELEASE] + ends
    assert kinds[IO] == recorded_kinds[IO]


def test_a_deadlock_is_reported_as_a_ring():
    trace = trace_of("""
    a 0 1000 run
    a 10 11 Lock.acquire wait A 0
    a 100 1000 Lock.acquire wait B 1
    b 0 1000 run
    b 20 21 Lock.acquire wait B 0
    b 110 1000 Lock.acquire wait A 1
    c 0 1000 run
    c 200 1000 Lock.acquire wait A 1
    """)
    found = findings(find_waits(trace))
    tid = trace.threads.tid
    (ring,) = [f for f in found if f.kind == "deadlock"]
    assert sorted(tid[t] for t in ring.threads) == ["a", "b"]
    assert sorted(ring.objects) == ["A", "B"]
    assert [tid[f.threads[0]] for f in found if f.kind == "never released"] == ["c"]


RING = """
a 0 1000 run
a 10 11 Lock.acquire wait {first} 0
a 100 {end} Lock.acquire{how} wait {second} 1
b 0 1000 run
b 20 21 Lock.acquire wait {second} 0
b 110 {end} Lock.acquire{how} wait {first} 1
c 1 2 Lock.acquire wait {other} 0
c 3 3 Lock.release release {other}
c 5 6 Lock.acquire wait {other} 0
"""


@pytest.mark.parametrize(("end", "how", "rings"), [
    (1000, "", 1), (500, "~(timed~out)", 1), (500, "~(failed)", 1), (500, "", 0),
])  # fmt: skip
@pytest.mark.parametrize("names", ["ABC", "CBA", "BCA"])
def test_a_ring_needs_a_wait_that_did_not_end_or_was_given_up(end, how, rings, names):
    first, other, second = names
    text = RING.format(end=end, how=how, first=first, second=second, other=other)
    found = find_waits(trace_of(text)).outcomes.rings
    assert [len(ring.waits) for ring in found] == [2] * rings


def test_the_holder_that_a_recording_tells_goes_before_what_follows(tmp_path):
    said = '"args":{"kind":"wait","objects":["L"],"contended":true'
    path = tmp_path / "held.json"
    path.write_text(
        f"""[{{"ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"name":"run"}},
        {{"ph":"X","pid":1,"tid":2,"ts":10,"dur":50,"name":"Lock.acquire",{said},"holder":1}}}},
        {{"ph":"X","pid":1,"tid":3,"ts":20,"dur":60,"name":"Lock.acquire",{said},"holder":99}}}},
        {{"ph":"X","pid":1,"tid":4,"ts":30,"dur":60,"name":"Lock.acquire",{said}}}}},
        {{"ph":"X","pid":1,"tid":5,"ts":85,"dur":60,"name":"Lock.acquire",{said},"holder":true}}}}]"""
    )
    trace = load(path, cache=False)
    waits = find_waits(trace)
    tid = [*trace.threads.tid, None]
    held = {tid[t]: tid[h] for t, h in zip(waits.ops.thread.tolist(), waits.held_by.tolist())}
    # thread 1 has no acquisition on record; thread 99 is not there: the next that got it was going to
    assert held[2] == 1
    assert held[3] == 2
    known = {tid[t]: SOURCES[s] for t, s in zip(waits.ops.thread.tolist(), waits.held_by_source.tolist())}
    assert (known[2], known[3]) == ("recorded", "inferred")
    save(trace, tmp_path / "held.tv3")
    again = load(tmp_path / "held.tv3", cache=False)
    assert again.sync.holder.tolist() == trace.sync.holder.tolist()
    save(trace, tmp_path / "again.json")
    assert load(tmp_path / "again.json", cache=False).sync.holder.tolist() == trace.sync.holder.tolist()


def test_findings_come_by_the_time_lost_and_one_call_within_another_is_reported_once():
    text = lines(
        [("a", 0, 10**9, "run")]
        + [("a", 1000 * i, 1000 * i + 900, "outer") for i in range(1, 30)]
        + [("a", 1000 * i + 100, 1000 * i + 200, "inner") for i in range(1, 30)]
        + [("a", 10**8, 3 * 10**8, "outer"), ("a", 10**8 + 10, 3 * 10**8 - 10, "inner")]
        + [("a", 4 * 10**8 + 1000 * i, 4 * 10**8 + 1000 * i + 900, "poll") for i in range(30)]
        + [("a", 5 * 10**8, 9 * 10**8, "poll")]
    )
    found = findings(find_waits(trace_of(text)))
    assert [f.kind for f in found] == ["outlier"]
    assert "inner within outer" in found[0].sentence
    # That a thread is idle comes last, however long that is.
    text += (
        "\nb 0 950000000 run\nb 1000 940000000 Event.wait wait E 1\na 939000000 939000000 Event.set release E"
    )
    found = findings(find_waits(trace_of(text)))
    assert [f.kind for f in found] == ["outlier", "mostly idle"]
    assert found[0].score_ns < found[1].score_ns


def test_places_that_one_thread_hands_out_are_not_held():
    """A rate limiter: workers take places of a semaphore, and never give them back."""
    rows = [("refill", at, at, "Semaphore.release", "release", "S") for at in range(10, 130, 10)]
    for i in range(3):
        for k in range(4):
            begin, end = (30 * k + 10 * i - 20 if k else 0), 30 * k + 10 * i + 10
            rows.append((f"w{i}", begin, end, "Semaphore.acquire", "wait", "S", 1))
    waits = find_waits(trace_of(lines(rows)))
    assert {KINDS_OF_WAITING[s] for s in waits.outcomes.state[waits.own]} == {"signal"}
    assert len(waits.held) == len(waits.blame) == 0
    assert {waits.trace.threads.name[t] for t in waits.woken_by[waits.own]} == {"refill"}
    # Somebody gives one back: it is his meanwhile.
    rows.append(("w0", 125, 125, "Semaphore.release", "release", "S"))
    assert len(find_waits(trace_of(lines(rows))).blame)


def test_what_another_thread_releases_is_kept_by_nobody():
    """A lock as a signal, and one that is passed on: neither is its last owner's to release."""
    main = ("main", 0, 100, "run")
    takes = [(who, at, at + 1, "Lock.acquire", "wait", "L", 0) for who, at in (("a", 5), ("b", 30))]
    gives = [(who, 20, 20, "Lock.release", "release", "L") for who in "cba"]
    assert len(find_waits(trace_of(lines([main, *takes, gives[0]]))).held) == 0
    passed_on, own = ([main, *takes, one] for one in gives[1:])
    assert find_waits(trace_of(lines(passed_on))).held.release.tolist().count(-1) == 1
    assert "held to the end" not in kinds_of(lines(passed_on))
    assert "held to the end" in kinds_of(lines(own))


def test_a_worker_that_has_had_work_is_merely_idle_at_the_end():
    idle = ("w", 20, 100, "Queue.get", "wait", "Q", 2)
    had = [("w", 5, 10, "Queue.get", "wait", "Q", 1), ("main", 10, 10, "Queue.put", "release", "Q")]
    main = ("main", 0, 100, "run")
    assert "never released" in kinds_of(lines([main, idle]))
    assert "never released" not in kinds_of(lines([main, *had, idle]))


def test_the_facts_of_a_trace_and_of_the_path_to_a_moment() -> None:
    text = """
    a 0 9000000 Lock.acquire wait L 1
    a 9000000 9000000 Lock.acquire wait M 0
    b 0 5000000 run
    c 0 8000000 run
    """
    trace = trace_of(text)
    trace = replace(trace, threads=replace(trace.threads, name=("main", "worker", "worker")))
    waits = find_waits(trace)
    assert waits_facts(trace) == summary(waits)
    assert waits_facts(trace, every=True) == summary(waits, every=True) != summary(waits)
    # Of threads of one name the first is taken.
    assert waits_facts(trace, end="worker") == summary(waits, waits.path(1)) != summary(waits, waits.path(2))
    assert (
        waits_facts(trace, end="main", at="4 ms") == summary(waits, waits.path(0, 4 * MS)) != summary(waits)
    )


def test_where_something_was_done_is_said_as_far_as_it_is_known() -> None:
    trace = trace_of("a 0 5 f~(/one.py:3)\na 6 9 g~(/two.py:7)")
    assert _site(trace, 0, 0, 4) == {"thread": "a", "function": "f", "file": "/one.py", "line": 4}
    assert _site(trace, 0, 1, 0) == {"thread": "a", "function": "g", "file": "/two.py", "line": None}
    assert _site(trace, 0, -1, 0) == {"thread": "a", "function": None, "file": None, "line": None}


def test_without_calls_nothing_is_on_a_stack() -> None:
    recording = Recording()
    thread = recording.thread(1, "a")
    recording.add_sync(
        thread=[thread], kind=[WAIT], name=[recording.text("sync", "Lock.acquire")], start=[0], end=[9],
        objects=[[recording.text("objects", "L")]],
    )  # fmt: skip
    waits = find_waits(recording.finish(Source(), split))
    assert (len(waits.trace.calls), waits.function.tolist()) == (0, [-1])
