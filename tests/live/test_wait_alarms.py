"""Alarms about waits: what a simulated program does is known, and so is what must be reported."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.support.recorder import watched_until
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.live.alarms import WaitAlarms, _item_of, _Object
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.protocol import Batch, Names, Welcome
from tracevis3d.live.stream.alarms import Alarm, AlarmWatch
from tracevis3d.views.own import OWN
from tracevis3d.views.registry import live_forms, watchers

MS = 1_000_000
OPERATIONS = ("Lock.acquire", "Lock.release", "Queue.get", "Queue.put", "Thread.join",
              "Lock.acquire (timed out)", "Queue.get (failed)", "Semaphore.release", "Gate.pass")  # fmt: skip
OBJECTS = ("Lock-1 a", "Lock-2 b", "Lock-3 c", "Queue-1 jobs", "Thread:t1", "Thread:t0", "Thread:t9")
WAIT, RELEASE = 0, 1


class Feed:
    """A growing trace that is told what threads do; times are milliseconds."""

    def __init__(self, threads: int = 6) -> None:
        self.growing = GrowingTrace()
        self.growing.begin(Welcome("s", "p", 1, 0))
        self.growing.name(Names("threads", 0, tuple((1, 100 + i, f"t{i}") for i in range(threads))))
        self.growing.name(Names("operations", 0, OPERATIONS))
        self.growing.name(Names("objects", 0, OBJECTS))
        self.alarms = WaitAlarms(self.growing)

    def _put(self, table: str, rows: list[tuple], names: tuple[str, ...], dtypes: tuple[str, ...]) -> None:
        if rows:
            columns = (
                np.array(c, d) for c, d in zip(map(list, zip(*rows, strict=True)), dtypes, strict=True)
            )
            self.growing.add(Batch(table, 0, 0, 0, dict(zip(names, columns, strict=True))))

    def did(self, *rows: tuple[int, str, str, float, float]) -> None:
        """Report waits and releases that are over: thread, operation, object, start and end."""
        self._put(
            "sync",
            [(OPERATIONS.index(o) in (1, 3, 7), t, OPERATIONS.index(o), OBJECTS.index(x), int(a * MS),
              int(b * MS)) for t, o, x, a, b in rows],
            ("kind", "thread", "operation", "object", "start", "end"), ("u1", "u4", "u4", "i4", "i8", "i8"),
        )  # fmt: skip

    def waits(self, *rows: tuple[int, str, str, float, int]) -> None:
        """Report waits that last: thread, operation, object, start and holder."""
        self._put(
            "waiting",
            [(t, OPERATIONS.index(o), OBJECTS.index(x), int(a * MS), h, int(a * MS))
             for t, o, x, a, h in rows],
            ("thread", "operation", "object", "start", "holder", "until"),
            ("u4", "u4", "i4", "i8", "i4", "i8"),
        )  # fmt: skip

    def look(self, *at: float) -> dict[str, tuple[int, ...]]:
        """Look at these moments, told until then; return what goes wrong at the last: kind -> threads."""
        found = []
        for moment in at:
            self.growing.now = int(moment * MS)
            found = self.alarms.look(self.growing.now)
        return {alarm.kind: alarm.threads for alarm in found}


def test_a_ring_is_reported_once_it_has_lasted() -> None:
    feed = Feed()
    feed.did((0, "Lock.acquire", "Lock-1 a", 0, 0), (1, "Lock.acquire", "Lock-2 b", 1, 1))
    feed.waits((0, "Lock.acquire", "Lock-2 b", 10, 1))
    assert feed.look(50, 400) == {}
    feed.waits((1, "Lock.acquire", "Lock-1 a", 410, 0))
    assert feed.look(420, 500, 609.999_999) == {}
    assert feed.look(610) == {"deadlock": (0, 1)}
    (alarm,) = feed.alarms.look(feed.growing.now)
    assert alarm.sentence == (
        "2 threads wait for each other: t0 for Lock-2 b, which t1 holds, t1 for Lock-1 a, which t0 holds"
    )
    # One of them gives up.
    feed.did((1, "Lock.acquire (timed out)", "Lock-1 a", 410, 800))
    assert feed.look(810) == {}


def test_a_ring_through_a_join_and_a_lock_of_ones_own() -> None:
    feed = Feed()
    feed.did((0, "Lock.acquire", "Lock-1 a", 0, 0))
    feed.waits((0, "Thread.join", "Thread:t1", 10, -1), (1, "Lock.acquire", "Lock-1 a", 11, 0))
    assert feed.look(20, 240) == {"deadlock": (0, 1)}
    (alarm,) = feed.alarms.look(feed.growing.now)
    assert "t0 for the end of t1" in alarm.sentence
    own = Feed()
    own.waits((2, "Lock.acquire", "Lock-3 c", 11, 2))
    assert own.look(20, 240) == {"deadlock": (2,)}
    (alarm,) = own.alarms.look(own.growing.now)
    assert alarm.sentence == "t2 waits for Lock-3 c, which it holds itself"


def test_a_lock_that_was_passed_on_is_held_by_who_got_it() -> None:
    """The thread that held the lock when the wait began is not in the ring any more."""
    feed = Feed()
    feed.did((0, "Lock.acquire", "Lock-1 a", 0, 0))
    feed.waits((0, "Lock.acquire", "Lock-2 b", 10, 2), (1, "Lock.acquire", "Lock-1 a", 30, 0))
    assert feed.look(40, 300) == {}
    feed.did((2, "Lock.release", "Lock-2 b", 310, 310), (1, "Lock.acquire", "Lock-2 b", 5, 311))
    assert feed.look(320, 560) == {"deadlock": (0, 1)}


@pytest.mark.parametrize("at", [311, 400])
def test_a_lock_that_was_passed_on_and_released_is_held_by_nobody_known(at) -> None:
    feed = Feed()
    feed.did((1, "Lock.acquire", "Lock-2 b", 5, 311), (1, "Lock.release", "Lock-2 b", at, at))
    feed.waits((0, "Lock.acquire", "Lock-2 b", 300, 2), (1, "Lock.acquire", "Lock-1 a", 410, 0))
    assert feed.look(420, 700) == {}


def test_who_gets_a_lock_when_another_begins_to_wait_holds_it() -> None:
    feed = Feed()
    feed.did((1, "Lock.acquire", "Lock-2 b", 5, 300))
    feed.waits((0, "Lock.acquire", "Lock-2 b", 300, 2), (1, "Lock.acquire", "Lock-1 a", 310, 0))
    assert feed.look(600) == {"deadlock": (0, 1)}


def test_who_waits_for_the_end_of_no_known_thread_is_in_no_ring() -> None:
    feed = Feed()
    feed.waits((0, "Thread.join", "Thread:t9", 10, -1), (1, "Lock.acquire", "Lock-1 a", 10, 0))
    assert feed.look(300) == {}


def test_operations_that_no_rule_knows_say_nothing() -> None:
    feed = Feed()
    feed.did((0, "Gate.pass", "Lock-1 a", 0, 100))
    assert feed.look(300) == {}


def test_who_queues_for_what_a_deadlock_holds_is_in_no_convoy() -> None:
    feed = Feed()
    feed.waits(
        (0, "Lock.acquire", "Lock-2 b", 0, 1), *((t, "Lock.acquire", "Lock-1 a", 0, 0) for t in (1, 2, 3))
    )
    assert feed.look(1000) == {"deadlock": (0, 1)}


def test_waits_may_begin_with_the_feed() -> None:
    feed = Feed()
    feed.waits((0, "Lock.acquire", "Lock-2 b", 0, 1), (1, "Lock.acquire", "Lock-1 a", 0, 0))
    assert feed.look(300) == {"deadlock": (0, 1)}


def test_who_waits_for_what_has_no_holder_is_in_no_ring() -> None:
    for operation in ("Queue.get (failed)", "Queue.get"):
        feed = Feed()
        feed.waits((0, operation, "Queue-1 jobs", 10, 1), (1, "Lock.acquire", "Lock-1 a", 10, 0))
        assert feed.look(300) == {}


@pytest.mark.parametrize(
    ("operation", "items"),
    [("Queue.put", 1), ("Queue.get", -1), ("Queue.get (failed)", 0), ("Queue.join", 0), ("Lock.acquire", 0),
     ("Semaphore.release", 0), ("Queue.task_done", 0), ("_queue.SimpleQueue.get", 0)],
)  # fmt: skip
def test_what_changes_the_items_of_a_queue(operation, items) -> None:
    assert _item_of.__wrapped__(operation) == items


def test_what_is_heard_of_no_more_is_not_reported_as_lasting() -> None:
    feed = Feed()
    feed.waits((0, "Lock.acquire", "Lock-2 b", 10, 1), (1, "Lock.acquire", "Lock-1 a", 10, 0))
    assert feed.look(20) == {}
    assert [feed.alarms.look(t * MS) for t in (300, 600, 5000)] == [[], [], []]


def test_threads_that_queue_for_an_object_and_the_one_that_holds_it() -> None:
    feed = Feed()
    waiting = [(t, "Lock.acquire", "Lock-1 a", 10, 0) for t in (1, 2, 3)]
    feed.waits(*waiting)
    assert feed.look(100, 300) == {}
    assert feed.look(400, 520) == {"convoy": (0, 1, 2, 3)}
    (alarm,) = feed.alarms.look(feed.growing.now)
    assert alarm.sentence.startswith("t0 holds Lock-1 a while 3 threads queue for it, for 51")
    # One thread that waits is no queue, however long it takes.
    alone = Feed()
    alone.waits(waiting[0])
    assert alone.look(100, 5000) == {}
    # Nor is a second one that has waited a moment.
    alone.did((2, "Lock.acquire", "Lock-1 a", 4900, 4950))
    assert alone.look(5010) == {}


@pytest.mark.parametrize(
    ("holder", "words"),
    [(-1, "3 threads queue for Lock-1 a, the first one for 51"),
     (4, "t4 holds Lock-1 a while 3 threads queue for it")],
)  # fmt: skip
def test_who_holds_what_threads_queue_for_is_said_where_it_is_known(holder, words) -> None:
    feed = Feed()
    feed.waits(*((t, "Lock.acquire", "Lock-1 a", 10, holder) for t in (1, 2, 3)))
    assert feed.look(100, 300, 400, 520) == {"convoy": (*((holder,) if holder >= 0 else ()), 1, 2, 3)}
    (alarm,) = feed.alarms.look(feed.growing.now)
    assert alarm.sentence.startswith(words)


@pytest.mark.parametrize("at", [10, 15])
def test_who_released_what_threads_queue_for_holds_it_no_more(at) -> None:
    feed = Feed()
    feed.did((0, "Lock.release", "Lock-1 a", at, at))
    feed.waits(*((t, "Lock.acquire", "Lock-1 a", 10, 0) for t in (1, 2, 3)))
    assert feed.look(100, 300, 600, 900, 1246) == {"convoy": (1, 2, 3)}
    (alarm,) = feed.alarms.look(feed.growing.now)
    assert alarm.sentence == "3 threads queue for Lock-1 a, the first one for 1.2 s"


def test_a_wait_that_began_long_ago_counts_for_the_last_half_second() -> None:
    for got, end, found in (
        ("Lock.acquire", 1010, {"convoy": (4, 1)}),
        ("Lock.acquire", 1009, {}),
        ("Queue.get", 1010, {}),
    ):
        feed = Feed()
        feed.waits((1, "Lock.acquire", "Lock-1 a", 10, 0))
        feed.did((4, got, "Lock-1 a", 100, end))
        assert feed.look(1010) == found


def test_half_a_second_of_two_that_wait_is_a_convoy() -> None:
    feed = Feed()
    feed.waits(*((t, "Lock.acquire", "Lock-1 a", 10, 0) for t in (1, 2)))
    assert feed.look(100, 300, 509.999_999) == {}
    assert feed.look(510) == {"convoy": (0, 1, 2)}
    # Who waits less than a millisecond has not queued.
    feed.did((4, "Lock.acquire", "Lock-1 a", 500, 501), (5, "Lock.acquire", "Lock-1 a", 500, 500.999_999))
    assert feed.look(511) == {"convoy": (4, 1, 2)}
    (alarm,) = feed.alarms.look(feed.growing.now)
    assert alarm.sentence == "2 threads queue for Lock-1 a: it was passed on 1 time in 500 ms"


def test_what_was_passed_on_half_a_second_ago_is_not_counted() -> None:
    feed = Feed()
    feed.did((6, "Lock.acquire", "Lock-1 a", 5, 10))
    feed.waits(*((t, "Lock.acquire", "Lock-1 a", 10, 0) for t in (1, 2)))
    assert feed.look(510) == {"convoy": (6, 1, 2)}
    (alarm,) = feed.alarms.look(feed.growing.now)
    assert alarm.sentence == "thread 6 holds Lock-1 a while 2 threads queue for it, for 500 ms now"


def grows(before, *steps) -> bool:
    """Return whether a queue counts as growing that gets so many items in each tenth of a second."""
    feed = Feed()
    put = [10] * before + [100 * k + i for k, many in enumerate(steps, 1) for i in range(many)]
    feed.did(*((0, "Queue.put", "Queue-1 jobs", at, at) for at in put))
    return "growing queue" in feed.look(100 * len(steps) + 105)


def test_by_how_much_a_queue_has_to_grow() -> None:
    assert grows(0, 3, 3, 2, 3, 3, 2)
    assert not grows(0, 3, 3, 2, 3, 2, 2)
    # A fifth of what it holds, ...
    assert grows(80, 4, 3, 3, 4, 3, 3)
    assert not grows(81, 4, 3, 3, 4, 3, 3)
    # ... and more than three twentieths of it in either half of the time.
    assert grows(0, 0, 0, 4, 8, 4, 4)
    assert not grows(0, 0, 0, 3, 9, 4, 4)
    assert grows(0, 8, 4, 4, 0, 0, 4)
    assert not grows(0, 9, 4, 4, 0, 0, 3)
    assert grows(0, 4, 0, 0, 8, 4, 8)
    assert not grows(10, 0, 0, 3, 9, 4, 4)


@pytest.mark.parametrize(("before", "growing"), [(80, True), (81, False)])
def test_what_a_queue_holds_counts_from_the_least_on(before, growing) -> None:
    feed = Feed()
    feed.did(*((1, "Queue.get", "Queue-1 jobs", 10, 10) for _ in range(41)))
    feed.look(50)
    feed.did(*((0, "Queue.put", "Queue-1 jobs", 60, 60) for _ in range(before)))
    feed.did(*((0, "Queue.put", "Queue-1 jobs", at, at) for at in range(100, 700, 30)))
    assert ("growing queue" in feed.look(705)) == growing


def test_what_a_queue_held_before_the_feed_counts() -> None:
    """What is taken before anything is put has been in the queue."""
    feed = Feed()
    feed.did(*((1, "Queue.get", "Queue-1 jobs", i, i) for i in range(10, 15)))
    feed.look(50)
    feed.did(*((0, "Queue.put", "Queue-1 jobs", i, i) for i in range(100, 700, 5)))
    feed.look(705)
    (alarm,) = feed.alarms.look(feed.growing.now)
    assert alarm.sentence.startswith("Queue-1 jobs has grown by 120 items in 600 ms to at least 120:")


def test_a_queue_grows_beside_one_of_which_little_is_known() -> None:
    feed = Feed()
    feed.did((0, "Lock.acquire", "Lock-2 b", 0, 0))
    feed.look(10)
    feed.did((0, "Queue.put", "Lock-1 a", 1100, 1100))
    for step in range(0, 1200, 50):
        feed.did(*((0, "Queue.put", "Queue-1 jobs", step + i, step + i) for i in range(8)))
    assert set(feed.look(1200)) == {"growing queue"}


def test_a_convoy_says_how_often_the_object_is_passed_on() -> None:
    feed, queue = Feed(), deque((t, 0) for t in range(4))
    for at in range(0, 1000, 20):
        thread, since = queue.popleft()
        feed.did(
            (thread, "Lock.acquire", "Lock-1 a", since, at),
            (thread, "Lock.release", "Lock-1 a", at + 19, at + 19),
        )
        queue.append((thread, at + 19))
        feed.waits(*((t, "Lock.acquire", "Lock-1 a", s, thread) for t, s in queue if s < at))
    assert set(feed.look(1000)) == {"convoy"}
    (alarm,) = feed.alarms.look(feed.growing.now)
    assert "queue for Lock-1 a: it was passed on 2" in alarm.sentence


@pytest.mark.parametrize("gets", [0, 1, 2])
def test_a_queue_to_which_more_is_put_than_is_taken(gets) -> None:
    feed = Feed()
    kinds: dict = {}
    for step in range(0, 1200, 50):
        feed.did(*((0, "Queue.put", "Queue-1 jobs", step + i, step + i) for i in range(8)))
        feed.did(*((1, "Queue.get", "Queue-1 jobs", step + i, step + i + 1) for i in range(4 * gets)))
        feed.did((1, "Queue.get (failed)", "Queue-1 jobs", step + 40, step + 41))
        kinds = feed.look(step + 49)
    assert set(kinds) == ({"growing queue"} if gets < 2 else set())


def test_a_queue_that_grew_is_reported_though_all_comes_late_and_at_once() -> None:
    feed = Feed()
    feed.did(*((0, "Queue.put", "Queue-1 jobs", i, i) for i in range(0, 700, 5)))
    feed.did(*((1, "Queue.get", "Queue-1 jobs", i, i + 1) for i in range(0, 700, 50)))
    assert set(feed.look(590)) == set(), "the last step is not over"
    assert set(feed.look(605)) == {"growing queue"}
    (alarm,) = feed.alarms.look(feed.growing.now)
    assert alarm.sentence.startswith("Queue-1 jobs has grown by 108 items in 600 ms to at least 108:")


#: Nanoseconds, also just before a step and at its beginning.
MOMENTS = st.integers(0, 2_000).map(lambda at: at * MS) | st.builds(
    lambda step, more: step * 100 * MS + more, st.integers(1, 20), st.sampled_from([-1, 0])
)


@given(st.lists(st.tuples(MOMENTS, st.sampled_from([1, -1])), max_size=30), st.data())
@settings(deadline=None)
def test_items_at_the_ends_of_steps(operations, data) -> None:
    """Whatever comes in which order, and whenever it is looked at."""
    known, done = _Object(), []
    for at in sorted(data.draw(st.lists(MOMENTS, min_size=1, max_size=4))):
        taken = data.draw(st.integers(0, len(operations)))
        done, operations = [*done, *operations[:taken]], operations[taken:]
        for moment, each in done[len(done) - taken :]:
            known.change(np.array([moment]), each)
        last = at // (100 * MS)
        assert known.samples(at) == [
            sum(each for moment, each in done if moment // (100 * MS) < step)
            for step in range(max(last - 6, 0), last + 1)
        ]


def test_a_queue_that_is_filled_at_once_and_a_semaphore_are_no_growing_queues() -> None:
    feed = Feed()
    feed.did(*((0, "Queue.put", "Queue-1 jobs", i / 10, i / 10) for i in range(500)))
    for step in range(100, 2000, 50):
        feed.did(*((1, "Queue.get", "Queue-1 jobs", step + i, step + i + 1) for i in range(5)))
        feed.did(*((0, "Semaphore.release", "Lock-3 c", step + i, step + i) for i in range(5)))
        assert feed.look(step + 10) == {}


def test_an_alarm_is_raised_once_and_current_as_long_as_it_lasts() -> None:
    feed = Feed()
    feed.waits((2, "Lock.acquire", "Lock-3 c", 11, 2))
    watch, raised = AlarmWatch(lambda: [feed.alarms]), []
    for i in range(12):
        feed.growing.now = 20 * MS + 50 * MS * i
        raised += watch.look(20 * MS + 50 * MS * i, clock=0.05 * i)
    assert [(a.kind, a.about) for a in raised] == [("deadlock", "Lock-3 c")]
    assert 220 * MS <= raised[0].at <= 320 * MS
    assert len(watch.current) == 1
    assert watch.raised == raised
    # Within a tenth of a second it doesn't look again.
    feed.did((2, "Lock.acquire", "Lock-3 c", 11, 700))
    assert watch.look(701 * MS, clock=0.59) == []
    assert len(watch.current) == 1
    watch.look(701 * MS, clock=0.7)
    assert watch.current == ()


@st.composite
def programs(draw) -> list[list[int]]:
    """What each thread locks, in this order, before it releases all."""
    return draw(st.lists(st.permutations(range(3)).flatmap(
        lambda order: st.integers(1, 3).map(lambda n: list(order)[:n])), min_size=2, max_size=5))  # fmt: skip


@given(programs(), st.lists(st.integers(0, 4), min_size=20, max_size=80))
@settings(deadline=None, max_examples=80)
def test_simulated_threads_are_in_a_deadlock_exactly_when_it_is_reported(wanted, schedule) -> None:
    feed, holder = Feed(), [-1, -1, -1]
    has: list[list[int]] = [[] for _ in wanted]
    waits: dict[int, tuple[int, float]] = {}
    at = 0.0
    for turn in schedule:
        at += 1
        thread = turn % len(wanted)
        if thread in waits:
            continue
        if len(has[thread]) == len(wanted[thread]):
            for lock in has[thread]:
                at += 1
                holder[lock] = -1
                feed.did((thread, "Lock.release", OBJECTS[lock], at, at))
                for other, (what, since) in list(waits.items()):
                    if what == lock and holder[lock] < 0:
                        at += 1
                        del waits[other]
                        holder[lock] = other
                        has[other].append(lock)
                        feed.did((other, "Lock.acquire", OBJECTS[lock], since, at))
            has[thread] = []
            continue
        lock = wanted[thread][len(has[thread])]
        if holder[lock] < 0:
            holder[lock] = thread
            has[thread].append(lock)
            feed.did((thread, "Lock.acquire", OBJECTS[lock], at, at))
        else:
            waits[thread] = lock, at
            feed.waits((thread, "Lock.acquire", OBJECTS[lock], at, holder[lock]))
    stuck = set()
    for first in waits:
        seen, thread = [], first
        while thread in waits and thread not in seen:
            seen.append(thread)
            thread = holder[waits[thread][0]]
        if thread == first:
            stuck.add(first)
    feed.look(at + 1, at + 300)
    found = feed.alarms.look(feed.growing.now)
    assert {t for a in found if a.kind == "deadlock" for t in a.threads} == stuck


PROGRAM = """
import threading, time
left, right = threading.Lock(), threading.Lock()
def work(first, second):
    with first:
        time.sleep(0.1)
        with second:
            pass
threads = [threading.Thread(target=work, args=pair, name=name, daemon=True)
           for pair, name in (((left, right), "writer"), ((right, left), "reader"))]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_watch_says_in_a_line_that_a_program_is_stuck(tmp_path) -> None:
    """The program would wait for ever: it is only ended when the alarm has come."""
    line, facts = watched_until("alarm", PROGRAM, "--threads", tmp_path)
    names = "writer for Lock-2 right, which reader holds", "reader for Lock-1 left, which writer holds"
    assert ": deadlock: 2 threads wait for each other: " in line
    assert all(name in line for name in names)
    assert [alarm["kind"] for alarm in facts["alarms"]] == ["deadlock"]
    # What was received says the same afterwards.
    found = findings(find_waits(tv.load(tmp_path / "received.tv3", cache=False)))
    assert found[0].kind == "deadlock"


def test_what_is_imported_to_watch_a_feed_is_what_has_alarms() -> None:
    assert {name for name, own in OWN.items() if own.alarms} == {
        name for name, form in live_forms().items() if form.alarms is not None
    }
    assert len(watchers(GrowingTrace())) == 2


def test_who_waits_for_work_queues_for_nothing_that_is_held() -> None:
    feed = Feed()
    feed.waits(*((t, "Queue.get", "Queue-1 jobs", 0, -1) for t in range(4)))
    assert feed.look(1000) == {}
    feed.waits(*((t, "Lock.acquire", "Lock-1 a", 0, -1) for t in range(4)))
    assert set(feed.look(1001)) == {"convoy"}


class Scripted:
    """A watcher that says at each look what it was told to."""

    def __init__(self, *looks: tuple[tuple[str, str], ...]) -> None:
        self._looks = deque(looks)

    def look(self, now: int) -> list[Alarm]:
        return [Alarm(kind, about, "a sentence") for kind, about in self._looks.popleft()]


class Telling(Scripted):
    def why_over(self, alarm: Alarm) -> str:
        return f"no more {alarm.about}"


def test_that_an_alarm_is_over_is_told_once_when_it_has_not_come_again() -> None:
    a, b = ("convoy", "a"), ("growing memory", "b")
    looks = [(a, b), (a,), (b,), (), *[()] * 30, (a,), *[()] * 30]
    for kind, words in ((Scripted, ("", "")), (Telling, ("no more a", "no more b"))):
        watch, told = AlarmWatch(lambda kind=kind: [kind(*looks)]), []
        for i in range(len(looks)):
            watch.look(i, clock=0.125 * i)
            told += [(i, alarm.about, alarm.over_at, alarm.why_over) for alarm in watch.ended]
        # Both are missed for a look before they are gone; two seconds are sixteen looks.
        assert told == [(18, "a", 2, words[0]), (19, "b", 3, words[1])]
        assert [(alarm.about, alarm.at, alarm.over_at) for alarm in watch.raised] == [
            ("a", 0, 35),
            ("b", 0, 3),
        ]


def test_an_alarm_that_becomes_another_one_is_not_over() -> None:
    looks = [(("growing memory", "a"),), *[(("leak", "a"),)] * 30, *[()] * 30]
    watch, told = AlarmWatch(lambda: [Scripted(*looks)]), []
    for i in range(len(looks)):
        watch.look(i, clock=0.125 * i)
        told += [(alarm.kind, alarm.over_at) for alarm in watch.ended]
    assert told == [("growing memory", 31), ("leak", 31)]
