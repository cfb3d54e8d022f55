"""What a recording tells of waits and releases, against what the program knows of itself."""

import asyncio
import concurrent.futures
import contextlib
import gc
import json
import os
import queue
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d.features.memory.blocks import find_blocks
from tracevis3d.features.memory.call_sites import find_sites
from tracevis3d.features.waits.operations import DONE
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.record.fast import MODULE
from tracevis3d.trace.model import IO, RELEASE, WAIT

#: The engines to try within this program, and the one for what none of them has a part in.
ENGINES = [*(["fast"] if MODULE else []), "monitoring" if hasattr(sys, "monitoring") else "profile"]
ENGINE = ENGINES[0]


def recorded(tmp_path, work, **options):
    """Run ``work`` under a recording and return the trace, its rows and what ``work`` returned."""
    path = tmp_path / "out.json"
    with tv.record(str(path), engine=options.pop("engine", ENGINE), **options) as recording:
        result = work()
    assert str(path) in recording.summary
    trace = tv.load(str(path), cache=False)
    assert set(trace.problems) <= ({"coarse times", "no addresses"} if options.get("memory") else set())
    return trace, rows(trace), result


def rows(trace):
    """Return all rows as dictionaries, in the order of their starts."""
    sync = trace.sync
    found = []
    for i in range(len(sync)):
        objects = [sync.objects[o] for o in sync.object[sync.first[i] : sync.first[i + 1]].tolist()]
        call = int(sync.call[i])
        found.append(
            {
                "name": sync.names[int(sync.name[i])],
                "kind": int(sync.kind[i]),
                "objects": objects,
                "object": objects[0].partition(" ")[2] or objects[0],
                "thread": trace.threads.name[int(sync.thread[i])],
                "start": int(sync.start[i]) + trace.origin_ns,
                "end": int(sync.end[i]) + trace.origin_ns,
                "contended": int(sync.contended[i]),
                "said": trace.arguments(call) if call >= 0 else {},
            }
        )
    return sorted(found, key=lambda row: row["start"])


def having(found, **wanted):
    return [row for row in found if all(row[key] == value for key, value in wanted.items())]


def in_threads(*works):
    """Start each of ``(name, work)`` a moment after the one before; wait for all."""
    threads = [threading.Thread(target=work, name=name) for name, work in works]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_a_with_block_shows_who_waits_for_whom_and_how_long(tmp_path, kind):
    asked, got, gave = [], [], []

    def work():
        shared = getattr(threading, kind)()

        def hold():
            asked.append(time.perf_counter_ns())
            with shared:
                got.append(time.perf_counter_ns())
                # The first has it until the second asks, and a while.
                while len(asked) < 2:
                    time.sleep(0.001)
                time.sleep(0.15)
                gave.append(time.perf_counter_ns())

        in_threads(("first", hold), ("second", hold))

    trace, found, _ = recorded(tmp_path, work)
    first, second = having(found, object="shared", kind=WAIT)
    assert (first["thread"], first["contended"]) == ("first", 0)
    assert (second["thread"], second["contended"]) == ("second", 1)
    assert second["said"]["holder"] == trace.threads.tid[trace.threads.name.index("first")]
    assert asked[1] <= second["start"] < gave[0] < second["end"] <= got[1]
    releases = having(found, object="shared", kind=RELEASE)
    assert [row["thread"] for row in releases] == ["first", "second"]
    assert second["start"] <= releases[0]["start"] <= second["end"]


def test_a_lock_that_is_acquired_again_is_one_acquisition(tmp_path):
    def work():
        shared = threading.RLock()
        with shared, shared:
            shared.acquire()
            shared.release()

    _, found, _ = recorded(tmp_path, work)
    assert [row["name"] for row in having(found, object="shared")] == ["RLock.acquire", "RLock.release"]


def test_what_was_not_got_is_named_so(tmp_path):
    def work():
        shared = threading.Lock()
        shared.acquire()
        shared.acquire(False)
        shared.acquire(timeout=0.05)
        shared.release()
        threading.Event().wait(0.01)

    _, found, _ = recorded(tmp_path, work)
    assert [row["name"] for row in having(found, object="shared")] == [
        "Lock.acquire",
        "Lock.acquire (failed)",
        "Lock.acquire (timed out)",
        "Lock.release",
    ]
    assert [row["name"] for row in found if "Event" in row["name"]] == ["Event.wait (timed out)"]


def test_a_condition_lets_go_of_its_lock_while_it_waits(tmp_path):
    def work():
        mutex = threading.Lock()
        ready = threading.Condition(mutex)
        state = []

        def wait():
            with ready:
                while not state:
                    ready.wait()

        def tell():
            with mutex:
                state.append(1)
                ready.notify_all()

        in_threads(("waiter", wait), ("teller", tell))

    _, found, _ = recorded(tmp_path, work)
    (wait,) = having(found, object="ready", kind=WAIT)
    (result,) = having(found, object="ready", kind=RELEASE)
    assert (wait["thread"], wait["contended"], result["thread"]) == ("waiter", 1, "teller")
    assert wait["start"] <= result["start"] <= wait["end"]
    steps = [(row["thread"], row["kind"]) for row in having(found, object="mutex")]
    assert Counter(steps) == {
        ("waiter", WAIT): 2,
        ("waiter", RELEASE): 2,
        ("teller", WAIT): 1,
        ("teller", RELEASE): 1,
    }
    # Nobody holds it while both claim to: acquisitions and releases take turns.
    order = sorted((row["end"], row["kind"]) for row in having(found, object="mutex"))
    assert [kind for _, kind in order] == [WAIT, RELEASE] * 3


def test_events_semaphores_barriers_queues_and_threads(tmp_path):
    def work():
        gate = threading.Event()
        places = threading.Semaphore(1)
        meeting = threading.Barrier(2)
        jobs = queue.Queue(1)
        simple = queue.SimpleQueue()

        held, tried = [], []  # they make sure that one waits for the other, however busy the machine is

        def one():
            gate.wait()
            with places:
                held.append(True)
                while not tried:
                    time.sleep(0.001)
                time.sleep(0.12)
            meeting.wait()
            jobs.get()
            jobs.task_done()
            simple.get()

        def two():
            gate.set()
            while not held:
                time.sleep(0.001)
            tried.append(True)
            with places:
                pass
            meeting.wait()
            time.sleep(0.05)
            jobs.put(1)
            jobs.join()
            simple.put(2)

        in_threads(("waits", one), ("wakes", two))

    _, found, _ = recorded(tmp_path, work)
    for thing, waiter, releaser, release in (
        ("gate", "waits", "wakes", "Event.set"),
        ("places", "wakes", "waits", "Semaphore.release"),
        ("meeting", "waits", "wakes", "Barrier.arrive"),
        ("jobs", "waits", "wakes", "Queue.put"),
        ("simple", "waits", "wakes", "SimpleQueue.put"),
    ):
        waits = having(found, object=thing, kind=WAIT, contended=1, thread=waiter)
        released = having(found, object=thing, name=release, thread=releaser)
        assert waits, thing
        assert any(waits[0]["start"] <= row["start"] <= waits[0]["end"] for row in released), thing
    assert {row["name"] for row in found} >= {"Queue.join", "Queue.task_done", "Thread.start", "Thread.end"}
    join = having(found, name="Thread.join", object="Thread:waits")
    end = having(found, name="Thread.end", object="Thread:waits")
    assert (len(join), len(end)) == (1, 1)
    # What these are made of inside does not show unless somebody had to wait for it.
    assert not [row for row in found if row["objects"][0].startswith(("Lock", "RLock", "Condition"))
                and row["contended"] == 0]  # fmt: skip


def test_a_full_queue_and_futures(tmp_path):
    def work():
        jobs = queue.Queue(1)
        with concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="pool") as pool:
            slow = pool.submit(time.sleep, 0.1)
            other = pool.submit(lambda: 3)
            concurrent.futures.wait([slow, other])
            jobs.put(1)
            late = pool.submit(lambda: (time.sleep(0.05), jobs.get()))
            jobs.put(2)
            return late.result()[1]

    _, found, result = recorded(tmp_path, work)
    assert result == 1
    (full,) = having(found, name="Queue.put-full")
    assert full["contended"] == 1
    assert [row["name"] for row in having(found, object="jobs") if row["kind"] == RELEASE] == [
        "Queue.put"
    ] * 2
    (together,) = having(found, name="futures.wait-all")
    assert len(together["objects"]) == 2
    given = [row for row in found if row["name"] == "Future.set_result" and row["object"] == "slow"]
    assert len(given) == 1
    assert given[0]["thread"].startswith("pool")
    assert together["start"] <= given[0]["start"] <= together["end"]


def test_tasks_of_asyncio_have_tracks_of_their_own(tmp_path):
    async def holder(shared, started):
        async with shared:
            started.set()
            await asyncio.sleep(0.05)

    async def waiter(shared, started):
        await started.wait()
        async with shared:
            pass

    async def main():
        shared = asyncio.Lock()
        started = asyncio.Event()
        await asyncio.gather(
            asyncio.create_task(waiter(shared, started), name="waiting"),
            asyncio.create_task(holder(shared, started), name="holding"),
        )

    trace, found, _ = recorded(tmp_path, lambda: asyncio.run(main()), io=False)
    (wait,) = [row for row in having(found, object="shared", kind=WAIT) if row["contended"] == 1]
    assert wait["thread"] == "waiting (asyncio)"
    assert wait["end"] - wait["start"] > 30_000_000
    releases = having(found, object="shared", kind=RELEASE)
    assert releases[0]["thread"] == "holding (asyncio)"
    assert "asyncio.sleep" in list(trace.functions.name)


def test_a_task_waits_for_the_thread_that_works_for_it(tmp_path):
    async def main():
        loop = asyncio.get_running_loop()
        with concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="helper") as pool:
            first = loop.run_in_executor(pool, time.sleep, 0.04)
            await asyncio.sleep(0.02)
            await first
            await asyncio.gather(*(loop.run_in_executor(pool, time.sleep, 0.01) for _ in range(2)))

    async def named():
        await asyncio.create_task(main(), name="asking")

    trace, found, _ = recorded(tmp_path, lambda: asyncio.run(named()), io=False)
    # Of several at once the task waits for none in particular.
    (wait,) = having(found, name="Future.result", thread="asking (asyncio)")
    # It slept before.
    (slept,) = np.flatnonzero(trace.calls.function == list(trace.functions.name).index("asyncio.sleep"))
    assert wait["start"] >= trace.calls.end[slept] + trace.origin_ns
    (given,) = having(found, kind=RELEASE, objects=wait["objects"])
    assert given["thread"].startswith("helper")
    assert wait["start"] <= given["start"] <= wait["end"]
    assert wait["object"] == "first"


def test_selectors_that_see_nothing_in_time_have_looked_in_vain(tmp_path):
    def work():
        one, other = socket.socketpair()
        with one, other, selectors.DefaultSelector() as selector:
            selector.register(one, selectors.EVENT_READ)
            selector.select(0.01)
            selector.select(timeout=0)
            other.sendall(b"x")
            selector.select(timeout=1)

    _, found, _ = recorded(tmp_path, work)
    assert [row["name"] for row in found if row["name"].startswith("select")] == [
        "select (timed out)", "select", "select",
    ]  # fmt: skip
    # An event loop keeps time by its own.
    _, found, _ = recorded(tmp_path, lambda: asyncio.run(asyncio.sleep(0.02)))
    assert {row["name"] for row in found if row["name"].startswith("select")} == {"select"}


def test_files_and_sockets_tell_how_much_they_move(tmp_path):
    path = tmp_path / "file.txt"

    def work():
        with open(path, "w") as file:
            file.write("x" * 100_000)
        with open(path, "rb") as file:
            file.read()
        one, other = socket.socketpair()
        with one, other:
            one.sendall(b"12345")
            other.recv(10)
        os.listdir(tmp_path)

    _, found, _ = recorded(tmp_path, work)
    mine = [row for row in having(found, kind=IO) if row["objects"] == [f"file:{path}"]]
    assert [row["name"] for row in mine].count("open") == 2
    moved = Counter()
    for row in mine:
        moved[row["name"]] += row["said"].get("bytes", 0)
    assert moved == {"open": 0, "FileIO.write": 100_000, "FileIO.read": 100_000}
    sockets = [(row["name"], row["said"].get("bytes")) for row in found if row["name"].startswith("socket.")]
    assert ("socket.sendall", 5) in sockets
    assert ("socket.recv", 5) in sockets
    assert having(found, name="os.listdir")


def test_without_the_options_there_are_calls_alone(tmp_path):
    def work():
        with threading.Lock(), open(tmp_path / "x", "w"):
            pass

    trace, found, _ = recorded(tmp_path, work, threads=False, io=False)
    assert not found
    assert not len(trace.counters)
    assert "work" in " ".join(trace.functions.label)


def test_memory_is_sampled(tmp_path):
    def work():
        held = [bytes(1000) for _ in range(60_000)]
        time.sleep(0.2)
        # Kept until the last look at what lives.
        return held

    # What the tests before have left behind must not be freed meanwhile.
    gc.collect()
    gc.disable()
    try:
        trace, _, _ = recorded(tmp_path, work, memory=True)
    finally:
        gc.enable()
    names = list(trace.counters.name)
    at = (
        names.index("Python memory blocks value")
        if "Python memory blocks value" in names
        else names.index("Python memory blocks")
    )
    values = trace.counters.value[trace.counters.first[at] : trace.counters.first[at + 1]]
    assert values.max() - values.min() > 50_000
    # Each block, too: where it was made, and how many.
    sites = find_sites(trace, find_blocks(trace.memory, trace.span_ns))
    named = "test_memory_is_sampled.work ("
    held = [sites.name[s] for s in sites.of_block.tolist() if sites.name[s].startswith(named)]
    assert 59_900 <= len(held) < 60_100
    assert f"{named}{os.path.basename(__file__)}:{work.__code__.co_firstlineno + 1})" in held


def test_a_second_recording_knows_the_objects_of_the_first(tmp_path):
    kept = []

    def make():
        kept.append(threading.Lock())
        with kept[0]:
            pass

    def use():
        with kept[0]:
            pass

    before = threading.Lock, threading.Thread.join, open
    _, first, _ = recorded(tmp_path, make)
    _, second, _ = recorded(tmp_path, use)
    assert (threading.Lock, threading.Thread.join, open) == before
    # Threads that tests before this one left behind may wait for something of their own.
    first, second = (having(rows, thread=threading.current_thread().name) for rows in (first, second))
    assert [row["name"] for row in second] == ["Lock.acquire", "Lock.release"]
    assert {row["objects"][0] for row in second} == {row["objects"][0] for row in first}


#: Each thread's steps: which lock, and how many milliseconds it is held.
PLANS = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=8), min_size=1, max_size=4
)


def test_who_ends_each_round_of_a_barrier_where_more_come_than_it_takes(tmp_path):
    def work():
        last = []
        meet = threading.Barrier(2, lambda: last.append(threading.current_thread().name))

        def come(times):
            for _ in range(times):
                with contextlib.suppress(threading.BrokenBarrierError):
                    meet.wait(timeout=0.2)

        threads = [threading.Thread(target=come, args=(4 + i,), name=f"t{i}") for i in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return last

    trace, _, last = recorded(tmp_path, work)
    waits = find_waits(trace)
    own = [i for i in waits.own.tolist() if waits.woken_by[i] >= 0 and waits.ops.ending[i] == DONE]
    own = [i for i in own if waits.ops.names[waits.ops.name[i]] == "Barrier.wait"]
    ended = {
        int(waits.waker[i]): (int(waits.woken_at[i]), trace.threads.name[waits.woken_by[i]]) for i in own
    }
    assert [name for _, name in sorted(ended.values())] == last


@pytest.mark.parametrize("engine", ENGINES)
@given(plans=PLANS)
@settings(max_examples=5, deadline=None)
def test_random_programs_of_locks_against_their_own_diaries(tmp_path_factory, engine, plans):
    diary = []

    def work():
        locks = [threading.Lock() for _ in range(3)]
        begin = threading.Barrier(len(plans))

        def follow(name, plan):
            begin.wait()
            for which, milliseconds in plan:
                asked = time.perf_counter_ns()
                with locks[which]:
                    got = time.perf_counter_ns()
                    time.sleep(milliseconds / 1000)
                    gave = time.perf_counter_ns()
                diary.append((name, which, asked, got, gave, time.perf_counter_ns()))

        threads = [
            threading.Thread(target=follow, args=(f"t{i}", plan), name=f"t{i}")
            for i, plan in enumerate(plans)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    trace, found, _ = recorded(tmp_path_factory.mktemp("plans"), work, engine=engine)
    tids = dict(zip(trace.threads.name, trace.threads.tid))
    # Not those within threads, which are recorded where one waits for them.
    locks = having(found, object="locks")
    numbers = {}
    for name in {entry[0] for entry in diary}:
        entries = [entry for entry in diary if entry[0] == name]
        waits, releases = having(locks, thread=name, kind=WAIT), having(locks, thread=name, kind=RELEASE)
        assert len(waits) == len(releases) == len(entries)
        for (_, which, asked, got, gave, gone), wait, release in zip(entries, waits, releases, strict=True):
            assert asked <= wait["start"] <= wait["end"] <= got
            assert gave <= release["start"] <= gone
            assert wait["objects"] == release["objects"]
            assert numbers.setdefault(which, wait["objects"][0]) == wait["objects"][0]
            if wait["contended"] == 1:
                # The lock itself knows who: it is named each time, and had it at some moment of the wait.
                assert wait["said"]["holder"] in tids.values()
                holders = [
                    entry for entry in diary
                    if entry[1] == which and tids[entry[0]] == wait["said"].get("holder")
                    and entry[2] <= wait["end"] and entry[5] >= wait["start"]
                ]  # fmt: skip
                assert holders or not wait["said"].get("holder")
            if wait["end"] - wait["start"] > 1_000_000:
                assert wait["contended"] == 1
    assert len(set(numbers.values())) == len(numbers)


def test_calls_nest_as_the_program_called(tmp_path):
    def leaf(n):
        return n

    def work():
        lock = threading.Lock()

        def walk(depth):
            with lock:
                leaf(depth)
            if depth:
                walk(depth - 1)
                walk(depth - 1)
            return depth

        return [walk(4) for _ in range(3)]

    for engine in dict.fromkeys((ENGINE, "profile")):
        trace, _, _ = recorded(tmp_path, work, engine=engine)
        calls = trace.calls
        labels = [trace.functions.label[f] for f in calls.function.tolist()]
        walks = [i for i, label in enumerate(labels) if label.endswith("walk")]
        leaves = [i for i, label in enumerate(labels) if label.endswith("leaf")]
        assert len(walks) == len(leaves) == 3 * 31
        assert all(labels[calls.parent[i]].endswith("walk") for i in leaves)
        # Each acquisition is a call of the function that asked, before its own calls.
        acquired = [int(c) for c in trace.sync.call if c >= 0 and labels[int(c)] == "Lock.acquire"]
        assert sum(labels[calls.parent[i]].endswith("walk") for i in acquired) == 3 * 31
        assert not any("tracevis3d/record/" in name for name in trace.functions.name)


@pytest.mark.skipif(os.name != "posix", reason="needs a shell's words")
def test_the_example_shows_its_lock(tmp_path):
    output = tmp_path / "out.json.gz"
    program = ROOT / "examples" / "journal.py"
    words = [
        sys.executable,
        "-m",
        "tracevis3d",
        "record",
        "--threads",
        "--io",
        "-o",
        output,
        program,
        "--quick",
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "waits" in done.stderr
    found = rows(tv.load(str(output), cache=False))
    waits = [row for row in having(found, object="journal_lock", kind=WAIT) if row["contended"] == 1]
    assert sum(row["end"] - row["start"] for row in waits) > 20_000_000
    shown = subprocess.run(
        [sys.executable, "-m", "tracevis3d", "waits", output, "--json"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    # Pauses are waits without an object.
    objects = {row["object"] for row in json.loads(shown.stdout)["waits"]} - {None}
    assert any("journal_lock" in name for name in objects)
