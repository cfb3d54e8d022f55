"""Threads that come last at a barrier, against a plain twin."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waits.sync_traces import lines, trace_of
from tracevis3d.features.waits.findings import barriers
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.waits import find_waits


def meeting(name, at, late, runs=None):
    """Threads that meet: each arrives ``late`` after ``at``, waits for the last, and ``runs`` after it."""
    end = at + max(late.values())
    rows = []
    for thread, after in late.items():
        rows.append((thread, at + after, at + after, "Barrier.arrive", "release", name))
        waits = at + after < end
        until = end + (runs or {}).get(thread, 0) if waits else at + after
        rows.append((thread, at + after, until, "Barrier.wait", "wait", name, int(waits)))
    return rows


@st.composite
def programs(draw):
    """Return rows of threads that meet, and which meetings these are."""
    threads, met = "abcd"[: draw(st.integers(2, 4))], []
    for _ in range(draw(st.integers(1, 5))):
        late = draw(st.permutations([0, 5, draw(st.integers(6, 60)), draw(st.integers(61, 200))]))
        if len(threads) == 2:
            late = draw(st.permutations([0, draw(st.integers(1, 200))]))
        met.append((draw(st.sampled_from("BBC")), dict(zip(threads, late, strict=False))))
    rows = [(thread, 0, 2000, "run") for thread in threads]
    for i, (name, late) in enumerate(met):
        # A thread may run again only as others have come to the next meeting.
        after = met[i + 1][1] if i + 1 < len(met) else dict.fromkeys(threads, 0)
        most = {thread: 201 - max(late.values()) + after[thread] for thread in threads}
        runs = {thread: draw(st.sampled_from([0, 0, ns])) for thread, ns in most.items()}
        rows += meeting(name, 10 + 202 * i, late, runs)
    return rows, met


def plain(met):
    """Return by barrier who comes last, the time lost to it, how often, and who waits for it."""
    lost = defaultdict(lambda: defaultdict(list))
    for name, late in met:
        last = max(late, key=lambda thread: late[thread])
        lost[name][last].append({thread: late[last] - late[thread] for thread in late if thread != last})
    found = {}
    for name, of in lost.items():
        total = {last: sum(sum(one.values()) for one in waited) for last, waited in of.items()}
        last = max(total, key=lambda thread: (total[thread], -ord(thread)))
        each = defaultdict(int)
        for one in of[last]:
            for thread, ns in one.items():
                each[thread] += ns
        if total[last] >= 0.75 * sum(total.values()) and max(each.values()) >= 0.1 * 2000:
            often = len(of[last]), sum(map(len, of.values()))
            found[name] = last, total[last], often, {thread for one in of[last] for thread in one}
    return found


@given(programs())
def test_who_comes_last_is_who_the_plain_twin_says(program) -> None:
    rows, met = program
    found = barriers.findings(find_waits(trace_of(lines(rows))))
    threads = find_waits(trace_of(lines(rows))).trace.threads
    said = {
        one.objects[0]: (
            threads.name[one.threads[0]], one.score_ns, {threads.name[t] for t in one.threads[1:]}
        )
        for one in found
    }  # fmt: skip
    expected = plain(met)
    assert said == {name: (last, ns, others) for name, (last, ns, _, others) in expected.items()}
    for one in found:
        times, of = expected[one.objects[0]][2]
        assert (f" {times} of {of} times:" in one.sentence) == (of > 1)
        assert " of 1 time" not in one.sentence
        assert one.causes == ((one.threads[0], -1, 0, one.score_ns),)


def test_it_is_told_first_with_how_often_and_for_how_long() -> None:
    rows = [(thread, 0, 2_000_000, "run") for thread in "abc"]
    for i in range(4):
        rows += meeting("B", 400_000 * i, {"a": 300_000, "b": 10_000 * i, "c": 5_000})
    first = findings(find_waits(trace_of(lines(rows))))[0]
    assert first.kind == "comes last"
    assert first.sentence.startswith("a comes last at B 4 of 4 times: c and b wait 2.32 ms for it")
    calls = find_waits(trace_of(lines(rows))).trace.calls
    assert int(calls.start[first.call]) in (0, 5000)
    assert first.title == "a comes last at B 4 of 4 times: 2.32 ms of waiting"
    once = [*rows[:3], *meeting("B", 0, {"a": 300_000, "b": 0, "c": 5_000})]
    assert findings(find_waits(trace_of(lines(once))))[0].title == "a comes last at B: 595 µs of waiting"


def test_who_is_first_at_the_next_round_ended_no_wait() -> None:
    """On a busy machine threads come to the next round before another one has left this one."""
    rows = [(thread, 0, 2000, "run") for thread in "abcd"]
    for i in range(3):
        # As c runs again after 235, b and d have come again, at 229 and 230.
        rows += meeting("B", 220 * i, {"a": 200, "b": 10, "c": 20, "d": 9}, {"c": 35})
    (found,) = barriers.findings(find_waits(trace_of(lines(rows))))
    assert found.sentence.startswith("a comes last at B 3 of 3 times")
    # Those who come again in vain are of no round.
    rows += [("d", at, at, "Barrier.arrive", "release", "B") for at in (900, 950)]
    (found,) = barriers.findings(find_waits(trace_of(lines(rows))))
    assert found.sentence.startswith("a comes last at B 3 of 3 times")


@st.composite
def rounds(draw):
    """Return rows of more threads than a round takes, some of which come often, and who ended each wait."""
    parties, threads = draw(st.integers(2, 3)), "abcde"
    rows, ended_by, waiting, at = [], [], [], 0
    free = dict.fromkeys(threads, 0)
    for _ in range(draw(st.integers(1, 24))):
        at += 10
        here = sorted(thread for thread in threads if free[thread] < at)
        if not here:
            continue
        thread = draw(st.sampled_from(here))
        rows.append((thread, at, at, "Barrier.arrive", "release", "B"))
        waiting.append((thread, at))
        free[thread] = 1 << 40
        if len(waiting) == parties:
            for who, since in waiting:
                # It runs again later than others have come to the next round, at times.
                until = at + draw(st.integers(1, 35)) if who != thread else at
                rows.append((who, since, until, "Barrier.wait", "wait", "B", int(who != thread)))
                free[who] = until
                if who != thread:
                    ended_by.append((who, since, thread))
            waiting = []
    return [(thread, 0, 1000, "run") for thread in threads] + rows, sorted(ended_by)


@given(rounds())
def test_a_wait_at_a_barrier_is_ended_by_the_last_one_of_its_round(program) -> None:
    rows, ended_by = program
    waits = find_waits(trace_of(lines(rows)))
    name, ops = waits.trace.threads.name, waits.ops
    own = [i for i in waits.own.tolist() if waits.woken_by[i] >= 0]
    assert sorted((name[ops.thread[i]], ops.start[i], name[waits.woken_by[i]]) for i in own) == ended_by


def test_that_threads_leave_a_barrier_one_by_one_is_no_convoy() -> None:
    """They pass the barrier's own lock on, some of them before the wait's recorded end; one comes by."""
    rows = [(thread, 0, 2000, "run") for thread in "abcd"]
    for i in range(3):
        at = 400 * i
        rows += meeting("B", at, {"a": 300, "b": 9, "c": 5, "d": 0}, {"b": 10, "c": 20, "d": 30})
        for k, thread in enumerate("bcd", 1):
            rows.append((thread, at + 301, at + 300 + 8 * k, "Lock.acquire", "wait", "L", 1))
            rows.append((thread, at + 303 + 8 * k, at + 303 + 8 * k, "Lock.release", "release", "L"))
        rows.append(("e", at + 302, at + 340, "Lock.acquire", "wait", "L", 1))
        rows.append(("e", at + 341, at + 341, "Lock.release", "release", "L"))
    waits = find_waits(trace_of(lines(rows)))
    assert waits.queues.longest.max() == 4
    kinds = [one.kind for one in findings(waits)]
    assert "comes last" in kinds
    assert "convoy" not in kinds


def test_one_other_waits_and_two_wait() -> None:
    for late, said in (({"a": 300, "b": 0}, "b waits 300 ns"), ({"a": 300, "b": 0, "c": 9}, "c wait 591 ns")):
        rows = [(thread, 0, 2000, "run") for thread in late] + meeting("B", 10, late)
        (found,) = barriers.findings(find_waits(trace_of(lines(rows))))
        assert f"{said} for it" in found.sentence


def test_of_several_waits_the_sum_is_told() -> None:
    rows = [(thread, 0, 2000, "run") for thread in "abc"]
    for late, words in (
        ({"a": 300, "b": 0}, "300 ns for it"),
        ({"a": 300, "b": 0, "c": 0}, "600 ns for it in all"),
    ):
        (one,) = barriers.findings(find_waits(trace_of(lines([*rows, *meeting("B", 0, late)]))))
        assert one.sentence.endswith(words)


@pytest.mark.parametrize(("other", "told"), [(100, True), (101, False)])
def test_three_quarters_of_the_waiting_are_for_who_comes_last(other, told) -> None:
    rows = [(thread, 0, 2000, "run") for thread in "ab"]
    rows += [*meeting("B", 0, {"a": 300, "b": 0}), *meeting("B", 1000, {"a": 0, "b": other})]
    assert len(barriers.findings(find_waits(trace_of(lines(rows))))) == told


@pytest.mark.parametrize(("late", "told"), [(200, True), (199, False)])
def test_one_waits_for_a_tenth_of_the_run_whatever_they_do_at_other_barriers(late, told) -> None:
    rows = [(thread, 0, 2000, "run") for thread in "ab"]
    rows += [*meeting("A", 0, {"a": 100, "b": 0}), *meeting("B", 1000, {"a": late, "b": 0})]
    found = barriers.findings(find_waits(trace_of(lines(rows))))
    assert [one.objects for one in found] == [("B",)] * told


def test_a_wait_for_nothing_is_at_no_barrier() -> None:
    rows = [(thread, 0, 2000, "run") for thread in "ab"] + meeting("B", 10, {"a": 300, "b": 0})
    # It ends by what woke a wait within it.
    rows += [
        ("b", 400, 900, "Barrier.wait", "wait", "-", 1),
        ("a", 880, 880, "Condition.notify", "release", "C"),
    ]
    rows += [("b", 410, 890, "Condition.wait", "wait", "C", 1)]
    (found,) = barriers.findings(find_waits(trace_of(lines(rows))))
    assert (found.score_ns, found.objects) == (300, ("B",))


def test_before_a_thread_begins_nobody_waits_for_it() -> None:
    """A pool whose threads meet as they begin: the last one is begun late, and comes at once."""
    late = {"a": 0, "b": 5, "c": 300}
    rows = [("a", 0, 1000, "run"), ("b", 0, 1000, "run"), *meeting("B", 10, late)]
    assert barriers.findings(find_waits(trace_of(lines([*rows, ("c", 290, 1000, "run")])))) == []
    (found,) = barriers.findings(find_waits(trace_of(lines([*rows, ("c", 100, 1000, "run")]))))
    assert found.score_ns == 2 * (310 - 100)


def test_a_wait_at_a_barrier_to_which_nobody_comes_is_for_nobody() -> None:
    rows = [(thread, 0, 2000, "run") for thread in "ab"] + meeting("B", 10, {"a": 300, "b": 0})
    rows.append(("b", 400, 900, "Barrier.wait", "wait", "B", 1))
    for comes in ([], [("b", 400, 400, "Barrier.arrive", "release", "B")]):
        (found,) = barriers.findings(find_waits(trace_of(lines(rows + comes))))
        assert (found.score_ns, found.count) == (300, 1)


def test_a_round_that_ends_after_a_wait_has_not_ended_it() -> None:
    rows = [(who, at, at, "Barrier.arrive", "release", "B") for who, at in (("b", 0), ("c", 30), ("a", 60))]
    rows += [("b", 0, 50, "Barrier.wait", "wait", "B", 1), ("a", 60, 60, "Barrier.wait", "wait", "B", 0)]
    waits = find_waits(trace_of(lines(rows)))
    (wait,) = waits.own.tolist()
    assert (waits.trace.threads.name[waits.woken_by[wait]], waits.woken_at[wait]) == ("c", 30)


def test_who_comes_unrecorded_is_woken_by_the_last_that_comes_as_it_waits() -> None:
    """Of which round it is nobody knows, whoever else comes to some."""
    rows = [("a", at, at, "Barrier.arrive", "release", "B") for at in (40, 50)]
    rows += [("a", 50, 50, "Barrier.wait", "wait", "B", 0), ("b", 0, 90, "Barrier.wait", "wait", "B", 1)]
    rows.append(("c", 80, 80, "Barrier.arrive", "release", "B"))
    waits = find_waits(trace_of(lines(rows)))
    (wait,) = waits.own.tolist()
    assert (waits.trace.threads.name[waits.woken_by[wait]], waits.woken_at[wait]) == ("c", 80)


def test_at_a_barrier_where_nothing_lasts_nobody_comes_last():
    rows = [("b", 0, 0, "Barrier.arrive", "release", "B"), ("a", 0, 0, "Barrier.wait", "wait", "B", 1)]
    waits = find_waits(trace_of(lines(rows)))
    assert (waits.trace.span_ns, waits.woken_by.max()) == (0, 0)
    assert barriers.findings(waits) == []
