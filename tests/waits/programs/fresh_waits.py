"""Programs of further kinds, written with their truth before the rules had ever met one of them.

Truth is given as in :mod:`known_waits`. It was fixed before the first run, and what was told then is in
``docs/threads.md``; what was missing or false led to further rules.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing.pool
import queue
import selectors
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

from .known_waits import USUAL, Known, together
from .unseen_waits import _crunch


def priorities(makers: int) -> None:
    """Several producers put jobs of different priority, one consumer takes the most urgent."""
    jobs: queue.PriorityQueue[tuple[int, int]] = queue.PriorityQueue()

    def make(i: int) -> None:
        for k in range(5):
            time.sleep(0.01 + 0.004 * i)
            jobs.put((k % 3, i))

    def take() -> None:
        for _ in range(5 * makers):
            jobs.get()

    together(("taker", take), *((f"maker-{i}", partial(make, i)) for i in range(makers)))


def lock_over_executor(guests: int) -> None:
    """asyncio: a task keeps its lock while a thread of an executor works for it."""

    async def main() -> None:
        shared, taken = asyncio.Lock(), asyncio.Event()
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, thread_name_prefix="helper") as pool:

            async def hold() -> None:
                async with shared:
                    taken.set()
                    await loop.run_in_executor(pool, time.sleep, 0.15)

            async def want() -> None:
                await taken.wait()
                async with shared:
                    pass

            await asyncio.gather(
                asyncio.create_task(hold(), name="holder"),
                *(asyncio.create_task(want(), name=f"guest-{i}") for i in range(guests)),
            )

    asyncio.run(main())


def hand_over_hand(followers: int) -> None:
    """A list whose nodes have a lock each is walked hand over hand; the first walker is slow."""
    nodes, begun = [threading.Lock() for _ in range(5)], threading.Event()

    def walk(pause: float) -> None:
        nodes[0].acquire()
        begun.set()
        for i in range(1, len(nodes)):
            time.sleep(pause)
            nodes[i].acquire()
            nodes[i - 1].release()
        time.sleep(pause)
        nodes[-1].release()

    def follow() -> None:
        begun.wait()
        walk(0.0005)

    together(("slow", partial(walk, 0.04)), *((f"follower-{i}", follow) for i in range(followers)))


def processes_with_slow_job() -> None:
    """A pool of processes has one slow job among quick ones."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        jobs = [pool.submit(time.sleep, 0.15 if i == 1 else 0.01) for i in range(6)]
        for job in jobs:
            job.result()


def writer_keeps_readers_out(readers: int) -> None:
    """A lock for readers and writers: one writes for long, and then all read."""
    room, count, inside, writing = threading.Semaphore(1), threading.Lock(), [0], threading.Event()

    def acquire_read() -> None:
        with count:
            inside[0] += 1
            if inside[0] == 1:
                room.acquire()

    def release_read() -> None:
        with count:
            inside[0] -= 1
            if inside[0] == 0:
                room.release()

    def write() -> None:
        room.acquire()
        writing.set()
        time.sleep(0.15)
        room.release()

    def read() -> None:
        writing.wait()
        acquire_read()
        time.sleep(0.005)
        release_read()

    together(("writer", write), *((f"reader-{i}", read) for i in range(readers)))


def late_in_turn(threads: int, rounds: int) -> None:
    """All meet after each phase; each time another one is late."""
    meet = threading.Barrier(threads)

    def work(i: int) -> None:
        for k in range(rounds):
            time.sleep(0.03 if k % threads == i else 0.002)
            meet.wait()

    together(*((f"phase-{i}", partial(work, i)) for i in range(threads)))


def timed_in_time() -> None:
    """Each wait for a condition has a long timeout, and is notified long before."""
    changed, state = threading.Condition(), [0]

    def follow() -> None:
        for k in range(1, 9):
            with changed:
                changed.wait_for(lambda k=k: state[0] >= k, timeout=5)  # type: ignore[misc]

    def lead() -> None:
        for _ in range(8):
            time.sleep(0.02)
            with changed:
                state[0] += 1
                changed.notify_all()

    together(("follows", follow), ("leads", lead))


def connections_in_a_queue(connections: int, clients: int) -> None:
    """Connections lie in a queue: who needs one takes it and puts it back."""
    free: queue.Queue[int] = queue.Queue()
    for i in range(connections):
        free.put(i)

    def use() -> None:
        for _ in range(3):
            one = free.get()
            time.sleep(0.02)
            free.put(one)

    together(*((f"client-{i}", use) for i in range(clients)))


def latch(workers: int) -> None:
    """The main thread waits until all have counted down; one of them is slow."""
    zero, left = threading.Condition(), [workers]

    def work(i: int) -> None:
        time.sleep(0.15 if i == 0 else 0.02)
        with zero:
            left[0] -= 1
            if left[0] == 0:
                zero.notify_all()

    def wait() -> None:
        with zero:
            zero.wait_for(lambda: left[0] == 0)

    together(("waiter", wait), *((f"counts-{i}", partial(work, i)) for i in range(workers)))


def ping_pong(rounds: int) -> None:
    """Two threads work in turn, and tell each other by events."""
    ping, pong = threading.Event(), threading.Event()

    def play(mine: threading.Event, other: threading.Event) -> None:
        for _ in range(rounds):
            mine.wait()
            mine.clear()
            time.sleep(0.01)
            other.set()

    ping.set()
    together(("ping", partial(play, ping, pong)), ("pong", partial(play, pong, ping)))


def lock_over_full_queue() -> None:
    """Who logs holds a lock while it puts into a queue that is full, because its reader is slow."""
    shared, lines, taken = threading.Lock(), queue.Queue[int](1), threading.Event()
    lines.put(0)

    def log() -> None:
        with shared:
            taken.set()
            lines.put(1)

    def want() -> None:
        taken.wait()
        with shared:
            pass

    def read() -> None:
        taken.wait()
        time.sleep(0.15)
        lines.get()
        lines.get()

    together(("logger", log), ("wants-0", want), ("wants-1", want), ("slow reader", read))


def lock_over_join() -> None:
    """A thread holds a lock while it waits for the end of another one, which does not need the lock."""
    shared, taken = threading.Lock(), threading.Event()

    def stop() -> None:
        worker = threading.Thread(target=time.sleep, args=(0.15,), name="worker")
        with shared:
            worker.start()
            taken.set()
            worker.join()

    def want() -> None:
        taken.wait()
        with shared:
            pass

    together(("stopper", stop), ("wants-0", want), ("wants-1", want))


def tasks_wait_for_each_other() -> None:
    """asyncio: two tasks wait for the other's event before they set their own; both give up."""

    async def main() -> None:
        first, second = asyncio.Event(), asyncio.Event()

        async def wait(mine: asyncio.Event, other: asyncio.Event) -> None:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(other.wait(), 0.15)
            mine.set()

        await asyncio.gather(
            asyncio.create_task(wait(first, second), name="first"),
            asyncio.create_task(wait(second, first), name="second"),
        )

    asyncio.run(main())


def tasks_meet(tasks: int, rounds: int) -> None:
    """asyncio: tasks meet at a barrier of a condition; the same one is always late."""

    async def main() -> None:
        meet, here, phase = asyncio.Condition(), [0], [0]

        async def arrive() -> None:
            async with meet:
                here[0] += 1
                mine = phase[0]
                if here[0] == tasks:
                    here[0], phase[0] = 0, phase[0] + 1
                    meet.notify_all()
                else:
                    await meet.wait_for(lambda: phase[0] > mine)

        async def work(i: int) -> None:
            for _ in range(rounds):
                await asyncio.sleep(0.03 if i == 0 else 0.002)
                await arrive()

        await asyncio.gather(*(asyncio.create_task(work(i), name=f"phase-{i}") for i in range(tasks)))

    asyncio.run(main())


def patience(waiting: int) -> None:
    """A thread computes for long with a lock; others want it, give up once and do something else."""
    shared, taken = threading.Lock(), threading.Event()

    def hold() -> None:
        with shared:
            taken.set()
            _crunch(0.15)

    def want() -> None:
        taken.wait()
        if shared.acquire(timeout=0.06):
            shared.release()

    together(("cruncher", hold), *((f"wants-{i}", want) for i in range(waiting)))


def questions(clients: int) -> None:
    """Clients ask a server by a queue, and wait for its answer in a queue of their own."""
    asked: queue.Queue[queue.Queue[int] | None] = queue.Queue()

    def serve() -> None:
        while (answer := asked.get()) is not None:
            time.sleep(0.006)
            answer.put(1)

    def ask() -> None:
        answer: queue.Queue[int] = queue.Queue()
        for _ in range(6):
            asked.put(answer)
            answer.get()

    server = threading.Thread(target=serve, name="server")
    server.start()
    together(*((f"client-{i}", ask) for i in range(clients)))
    asked.put(None)
    server.join()


def rate_limiter(workers: int) -> None:
    """A thread gives places of a semaphore at a fixed rate; workers take them and never give them back."""
    places = threading.Semaphore(0)

    def refill() -> None:
        for _ in range(4 * workers):
            time.sleep(0.012)
            places.release()

    def work() -> None:
        for _ in range(4):
            places.acquire()

    together(("refill", refill), *((f"worker-{i}", work) for i in range(workers)))


def thread_pool_with_lock() -> None:
    """A pool of multiprocessing's threads, whose jobs queue for one lock."""
    shared = threading.Lock()

    def job(_: int) -> None:
        with shared:
            time.sleep(0.012)

    with multiprocessing.pool.ThreadPool(4) as pool:
        pool.map(job, range(16), chunksize=1)


def selector_polls() -> None:
    """A loop looks at its sockets again and again, with a short timeout."""
    here, there = socket.socketpair()

    def look() -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(here, selectors.EVENT_READ)
            while not selector.select(0.012):
                pass
        here.recv(1)

    def send() -> None:
        time.sleep(0.2)
        there.sendall(b"x")

    together(("looker", look), ("sender", send))
    here.close()
    there.close()


def program_polled() -> None:
    """A thread asks a program again and again whether it has ended."""

    def watch() -> None:
        program = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(0.3)"])
        while True:
            try:
                program.wait(timeout=0.015)
                return
            except subprocess.TimeoutExpired:
                continue

    together(("watcher", watch))


def wrong_one_is_woken() -> None:
    """Two wait for different things by one condition; one notification wakes the wrong one."""
    changed, order, state = threading.Condition(), threading.Event(), {"red": False, "blue": False}

    def wait(what: str, before: threading.Event | None) -> None:
        if before is not None:
            before.wait()
        with changed:
            order.set()
            changed.wait_for(lambda: state[what], timeout=0.2)

    def paint() -> None:
        order.wait()
        time.sleep(0.04)
        with changed:
            state["blue"] = True
            changed.notify()

    together(("red", partial(wait, "red", None)), ("blue", partial(wait, "blue", order)), ("painter", paint))


def behind_a_gate() -> None:
    """Two locks are taken in different orders, but only by who holds a third one: nothing can happen."""
    gate, left, right = threading.Lock(), threading.Lock(), threading.Lock()

    def work(first: threading.Lock, second: threading.Lock) -> None:
        for _ in range(5):
            with gate, first, second:
                sum(range(100))
            _crunch(0.002)

    together(("left first", partial(work, left, right)), ("right first", partial(work, right, left)))


def one_after_the_other() -> None:
    """Two locks are taken in different orders, by threads of which one ends before the other begins."""
    left, right = threading.Lock(), threading.Lock()

    def work(first: threading.Lock, second: threading.Lock) -> None:
        with first, second:
            _crunch(0.01)

    together(("left first", partial(work, left, right)))
    together(("right first", partial(work, right, left)))


def two_at_once() -> None:
    """A thread sleeps with two locks; others wait for the outer and for the inner one."""
    outer, inner, taken = threading.Lock(), threading.Lock(), threading.Event()

    def hold() -> None:
        with outer, inner:
            taken.set()
            time.sleep(0.15)

    def want(lock: threading.Lock) -> None:
        taken.wait()
        with lock:
            pass

    together(("holder", hold), ("wants-outer", partial(want, outer)),
             ("wants-inner-0", partial(want, inner)), ("wants-inner-1", partial(want, inner)))  # fmt: skip


def busy_lock(threads: int) -> None:
    """All compute with one lock, in short pieces, and do nothing else."""
    shared = threading.Lock()

    def work() -> None:
        for _ in range(12):
            with shared:
                _crunch(0.004)

    together(*((f"busy-{i}", work) for i in range(threads)))


def _known() -> list[Known]:
    found: list[Known] = []

    def add(
        name: str,
        about: str,
        work: Any,
        *expected: str,
        also: Any = (),
        blame: str = "",
        nobody: bool = False,
    ) -> None:
        kinds = frozenset(expected), frozenset(also) | USUAL
        found.append(Known(name, about, work, *kinds, blame, nobody))

    slept, turns = "held over sleep", ["convoy", "starvation", "one goes first"]
    add("jobs of three producers by priority", "Queue", partial(priorities, 3), nobody=True)
    add("a task that holds a lock while an executor works", "asyncio", partial(lock_over_executor, 2),
        "held over a wait", also=["convoy"], blame="holder (asyncio)")  # fmt: skip
    add("a list walked hand over hand", "Lock", partial(hand_over_hand, 3), slept, also=turns, blame="slow")
    # At first sight this counted as false; the pool's own thread does pass all jobs and results on.
    add("a pool of processes with a slow job", "processes", processes_with_slow_job,
        also=["farmer and workers"], nobody=True)  # fmt: skip
    add("a writer keeps readers out", "reads and writes", partial(writer_keeps_readers_out, 3), slept,
        also=["convoy", "held over a wait"], blame="writer")  # fmt: skip
    add("a barrier at which each is late in turn", "Barrier", partial(late_in_turn, 4, 8), nobody=True)
    add("a condition that is notified in time", "Condition", timed_in_time, nobody=True)
    add("connections in a queue", "Queue", partial(connections_in_a_queue, 2, 5),
        also=["farmer and workers"], nobody=True)  # fmt: skip
    add("a latch", "Condition", partial(latch, 4), nobody=True)
    add("two that take turns by events", "Event", partial(ping_pong, 8), nobody=True)
    add("a lock held while a queue is full", "Queue", lock_over_full_queue, "held over a wait",
        also=["convoy"], blame="logger")  # fmt: skip
    add("a lock held while another thread ends", "Thread", lock_over_join, "held over a wait",
        also=["convoy"], blame="stopper")  # fmt: skip
    add("tasks that wait for each other's event", "asyncio", tasks_wait_for_each_other, "given up",
        nobody=True)  # fmt: skip
    # A condition says who notifies, not that it is a barrier: that the same one is late is not to be seen.
    add("tasks that meet by a condition", "asyncio", partial(tasks_meet, 4, 6),
        also=["comes last", "farmer and workers"], nobody=True)  # fmt: skip
    add("a lock wanted with patience", "Lock", partial(patience, 2), "held over work", also=["convoy"],
        blame="cruncher")  # fmt: skip
    add("questions and answers by queues", "Queue", partial(questions, 3), also=["farmer and workers"],
        nobody=True)  # fmt: skip
    add("places at a fixed rate", "Semaphore", partial(rate_limiter, 3), also=["farmer and workers"],
        nobody=True)  # fmt: skip
    add("a pool of threads with one lock", "Lock", thread_pool_with_lock, "convoy", slept,
        also=["starvation", "one goes first"])  # fmt: skip
    add("a loop that polls sockets", "sockets", selector_polls, "polling", nobody=True)
    add("a program whose end is polled", "processes", program_polled, "polling", nobody=True)
    add("the wrong one is woken", "Condition", wrong_one_is_woken, "given up", nobody=True)
    add("different orders behind a gate", "Lock", behind_a_gate, also=[*turns, "held over work"])
    # At first sight this was false: "a deadlock is possible". It says now that here none was.
    add("different orders, one after the other", "Lock", one_after_the_other, also=["lock order"],
        nobody=True)  # fmt: skip
    add("two locks held at once", "Lock", two_at_once, slept, also=["convoy"], blame="holder")
    add("short work with one lock", "Lock", partial(busy_lock, 4), "convoy", "held over work",
        also=["starvation", "one goes first"])  # fmt: skip
    return found


#: All programs.
PROGRAMS = _known()
