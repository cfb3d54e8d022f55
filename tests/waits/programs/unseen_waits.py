"""Programs written, with their truth, before the rules had ever met one of them.

Truth is given as in :mod:`known_waits`. It was fixed before the first run, and what was told then is in
``docs/threads.md``; what was missing or false led to further rules.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import multiprocessing
import queue
import socket
import threading
import time
from functools import partial
from typing import Any

from .known_waits import USUAL, Known, together


def _crunch(seconds: float) -> None:
    """Compute for so many seconds of processor time."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(1000))


def priority_inversion() -> None:
    """What the urgent thread wants is held by one that comes to nothing because others compute."""
    shared, taken = threading.Lock(), threading.Event()

    def low() -> None:
        with shared:
            taken.set()
            _crunch(0.05)

    def medium() -> None:
        taken.wait()
        _crunch(0.08)

    def urgent() -> None:
        taken.wait()
        with shared:
            pass

    together(("low", low), ("medium-0", medium), ("medium-1", medium), ("urgent", urgent))


class _SlowStream:
    """A terminal or disk that takes its time for each line."""

    def write(self, text: str) -> int:
        time.sleep(0.004)
        return len(text)

    def flush(self) -> None:
        """There is nothing to flush."""


def logging_to_slow_stream(threads: int) -> None:
    """All threads log to one slow stream; logging itself holds its handler's lock."""
    logger = logging.Logger("busy")
    logger.addHandler(logging.StreamHandler(_SlowStream()))  # type: ignore[arg-type]

    def work() -> None:
        for i in range(8):
            logger.warning("line %d", i)

    together(*((f"logger-{i}", work) for i in range(threads)))


def pulse() -> None:
    """An event is set and cleared at once, before anybody waits for it."""
    ready, done = threading.Event(), threading.Event()

    def beat() -> None:
        ready.set()
        ready.clear()
        done.set()

    def wait() -> None:
        done.wait()
        time.sleep(0.02)
        ready.wait(0.15)

    together(("beater", beat), ("late", wait))


def idle_pool(workers: int) -> None:
    """Of a pool that is far too large one worker does a slow job, for which the main thread waits."""
    meet = threading.Barrier(workers)
    with concurrent.futures.ThreadPoolExecutor(workers, thread_name_prefix="pool") as pool:
        for job in [pool.submit(meet.wait) for _ in range(workers)]:
            job.result()
        pool.submit(time.sleep, 0.2).result()


def get_under_lock() -> None:
    """A thread waits for an item while it holds the lock that the giver needs; it gives up at last."""
    shared, items, taken = threading.Lock(), queue.Queue[int](), threading.Event()

    def take() -> None:
        with shared:
            taken.set()
            with contextlib.suppress(queue.Empty):
                items.get(timeout=0.15)

    def give() -> None:
        taken.wait()
        with shared:
            items.put(1)

    together(("taker", take), ("giver", give))


def poll_without_waiting() -> None:
    """A thread looks into a queue without waiting, and sleeps if it is empty."""
    items: queue.Queue[int] = queue.Queue()

    def take() -> None:
        while True:
            try:
                items.get_nowait()
                return
            except queue.Empty:
                time.sleep(0.008)

    def give() -> None:
        _crunch(0.02)
        time.sleep(0.15)
        items.put(1)

    together(("looker", take), ("giver", give))


def bank(tellers: int) -> None:
    """Transfers take the locks of two accounts in one order, and hold them for a moment."""
    accounts = [threading.Lock() for _ in range(6)]

    def transfer(i: int) -> None:
        for k in range(12):
            first, second = sorted(((i + k) % 6, (3 * i + 2 * k + 1) % 6))
            if first != second:
                with accounts[first], accounts[second]:
                    sum(range(200))
            _crunch(0.003)

    together(*((f"teller-{i}", partial(transfer, i)) for i in range(tellers)))


def shared_connection(clients: int) -> None:
    """Several threads share one connection: a lock is held from each question to its answer."""
    here, there = socket.socketpair()
    shared = threading.Lock()

    def answer() -> None:
        while there.recv(1):
            _crunch(0.002)
            time.sleep(0.008)
            there.sendall(b"a")

    def ask() -> None:
        for _ in range(4):
            with shared:
                here.sendall(b"q")
                here.recv(1)

    server = threading.Thread(target=answer, name="server")
    server.start()
    together(*((f"client-{i}", ask) for i in range(clients)))
    here.close()
    server.join()
    there.close()


def task_places(places: int, guests: int) -> None:
    """asyncio: few places, many tasks."""

    async def main() -> None:
        seats = asyncio.Semaphore(places)

        async def sit() -> None:
            async with seats:
                await asyncio.sleep(0.03)

        await asyncio.gather(*(asyncio.create_task(sit(), name=f"guest-{i}") for i in range(guests)))

    asyncio.run(main())


def task_polls() -> None:
    """asyncio: a task waits for an event with a timeout, again and again."""

    async def main() -> None:
        done = asyncio.Event()

        async def look() -> None:
            while True:
                try:
                    await asyncio.wait_for(done.wait(), 0.012)
                    return
                except TimeoutError:
                    continue

        async def finish() -> None:
            await asyncio.sleep(0.2)
            done.set()

        await asyncio.gather(
            asyncio.create_task(look(), name="looker"), asyncio.create_task(finish(), name="finisher")
        )

    asyncio.run(main())


def task_workers() -> None:
    """asyncio: three tasks work off a queue, the main task waits until all is done."""

    async def main() -> None:
        jobs: asyncio.Queue[int] = asyncio.Queue()

        async def work() -> None:
            while True:
                await jobs.get()
                await asyncio.sleep(0.012)
                jobs.task_done()

        workers = [asyncio.create_task(work(), name=f"worker-{i}") for i in range(3)]
        for i in range(15):
            jobs.put_nowait(i)
        await jobs.join()
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    asyncio.run(main())


def processes_wait_for_event(waiting: int) -> None:
    """Processes wait for an event that the first one sets when it is ready."""
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    made = [context.Process(target=ready.wait, name=f"child-{i}") for i in range(waiting)]
    for one in made:
        one.start()
    time.sleep(0.15)
    ready.set()
    for one in made:
        one.join()


def processes_share_queue(workers: int) -> None:
    """Processes wait for work: the queue's own lock is held by the one that waits for the next item."""
    context = multiprocessing.get_context("fork")
    jobs: Any = context.Queue()

    def work() -> None:
        while jobs.get() is not None:
            time.sleep(0.002)

    made = [context.Process(target=work, name=f"worker-{i}") for i in range(workers)]
    for one in made:
        one.start()
    for i in range(3 * workers):
        time.sleep(0.02)
        jobs.put(i)
    for _ in made:
        jobs.put(None)
    for one in made:
        one.join()


def processes_in_a_ring() -> None:
    """Two processes want each other's lock; one gives up."""
    context = multiprocessing.get_context("fork")
    locks, ready = [context.Lock(), context.Lock()], context.Barrier(2)

    def work(i: int) -> None:
        with locks[i]:
            ready.wait()
            if locks[1 - i].acquire(timeout=0.15 if i == 0 else 10):
                locks[1 - i].release()

    made = [context.Process(target=work, args=(i,), name=f"side-{i}") for i in range(2)]
    for one in made:
        one.start()
    for one in made:
        one.join()


def futures_in_a_chain(links: int) -> None:
    """Each job waits for the result of the next; the pool is large enough."""
    with concurrent.futures.ThreadPoolExecutor(links, thread_name_prefix="link") as pool:

        def job(i: int) -> int:
            if i == links - 1:
                time.sleep(0.12)
                return 0
            return pool.submit(job, i + 1).result() + 1

        pool.submit(job, 0).result()


def future_polled() -> None:
    """The main thread asks for a result again and again, with a short timeout."""
    with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="slow") as pool:
        job = pool.submit(time.sleep, 0.2)
        while True:
            try:
                job.result(timeout=0.015)
                return
            except concurrent.futures.TimeoutError:
                continue


def straggler(threads: int, phases: int) -> None:
    """All meet after each phase; the same one is always late."""
    meet = threading.Barrier(threads)

    def work(i: int) -> None:
        for _ in range(phases):
            time.sleep(0.025 if i == 0 else 0.002)
            meet.wait()

    together(*((f"phase-{i}", partial(work, i)) for i in range(threads)))


def nested_monitor() -> None:
    """A thread waits for a condition while it holds another lock, which the notifier needs."""
    outer, taken, ready = threading.Lock(), threading.Event(), threading.Condition()

    def wait() -> None:
        with outer, ready:
            taken.set()
            ready.wait(0.15)

    def notify() -> None:
        taken.wait()
        with outer, ready:
            ready.notify()

    together(("inside", wait), ("outside", notify))


def lost_place() -> None:
    """A place of a semaphore is taken and never given back; another thread gives up at last."""
    seats, taken = threading.Semaphore(1), threading.Event()
    with seats:
        pass

    def lose() -> None:
        seats.acquire()
        taken.set()

    def want() -> None:
        taken.wait()
        seats.acquire(timeout=0.15)

    together(("loser", lose), ("wanter", want))


def heartbeat(beats: int) -> None:
    """A timer starts the next one when it is over: nothing is wrong."""
    done = threading.Event()

    def beat(left: int) -> None:
        if not left:
            done.set()
            return
        timer = threading.Timer(0.02, beat, (left - 1,))
        timer.start()

    beat(beats)
    done.wait()


def idle_beside_convoy(idle: int, busy: int) -> None:
    """Many workers are idle all the time, and three others queue for a lock."""
    jobs: queue.Queue[int | None] = queue.Queue()
    shared = threading.Lock()

    def rest() -> None:
        while jobs.get() is not None:
            pass

    def work() -> None:
        for _ in range(6):
            with shared:
                time.sleep(0.008)

    resting = [threading.Thread(target=rest, name=f"idle-{i}") for i in range(idle)]
    for one in resting:
        one.start()
    together(*((f"busy-{i}", work) for i in range(busy)))
    for _ in resting:
        jobs.put(None)
    for one in resting:
        one.join()


def full_queue() -> None:
    """A queue is full, its consumer slow: the maker gives up each item after a while."""
    items: queue.Queue[int] = queue.Queue(1)

    def make() -> None:
        for i in range(3):
            with contextlib.suppress(queue.Full):
                items.put(i, timeout=0.07)

    def take() -> None:
        time.sleep(0.2)
        items.get()

    together(("maker", make), ("late taker", take))


def supervisor() -> None:
    """A thread looks every few milliseconds whether another one has ended."""
    worker = threading.Thread(target=time.sleep, args=(0.2,), name="worker")

    def watch() -> None:
        while worker.is_alive():
            worker.join(0.014)

    worker.start()
    together(("supervisor", watch))
    worker.join()


def mixed_ring() -> None:
    """One waits for a thread's end, that one for a place, whose owner for a lock of the first."""
    shared, seat, ready = threading.Lock(), threading.Semaphore(1), threading.Barrier(3)

    def wants_place() -> None:
        ready.wait()
        with seat:
            pass

    second = threading.Thread(target=wants_place, name="wants-place", daemon=True)

    def joins() -> None:
        with shared:
            ready.wait()
            second.join()

    def wants_lock() -> None:
        with seat:
            ready.wait()
            with shared:
                pass

    second.start()
    together(("joins", joins), ("wants-lock", wants_lock), daemon=True, patience=0.1)


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

    slept = "held over sleep"
    add("a lock whose holder hardly gets to run", "Lock", priority_inversion, "held over work", blame="low")
    add("logging to a slow stream", "RLock", partial(logging_to_slow_stream, 4), "convoy", slept,
        also=["starvation", "one goes first"])  # fmt: skip
    add("an event that is set and cleared too early", "Event", pulse, "given up", nobody=True)
    add("a pool that is too large", "Future", partial(idle_pool, 8), nobody=True)
    add("waiting for an item with the giver's lock", "Queue", get_under_lock, "held over a wait",
        also=["given up", "broken deadlock"], blame="taker")  # fmt: skip
    add("looking into a queue and sleeping", "Queue", poll_without_waiting, "polling", nobody=True)
    add("transfers in one order", "Lock", partial(bank, 3), also=["held over work"])
    add("one connection for four", "sockets", partial(shared_connection, 4), "convoy", "held over I/O",
        also=["starvation", "one goes first"])  # fmt: skip
    add("tasks: 2 places, 6 guests", "asyncio", partial(task_places, 2, 6), slept, also=["convoy"])
    add("a task that polls", "asyncio", task_polls, "polling", nobody=True)
    add("tasks that work off a queue", "asyncio", task_workers, nobody=True)
    add("processes that wait for an event", "processes", partial(processes_wait_for_event, 3),
        also=["farmer and workers"], nobody=True)  # fmt: skip
    add("processes that share a queue", "processes", partial(processes_share_queue, 3),
        also=["leader and followers", "farmer and workers"], nobody=True)  # fmt: skip
    add("two processes that want each other's lock", "processes", processes_in_a_ring, "broken deadlock",
        also=["lock order"])  # fmt: skip
    add("a chain of futures", "Future", partial(futures_in_a_chain, 4), nobody=True)
    add("a result that is polled", "Future", future_polled, "polling", nobody=True)
    # One that is late each time is to blame, although it holds nothing.
    add("a barrier at which the same one is late", "Barrier", partial(straggler, 4, 8), "comes last",
        nobody=True)  # fmt: skip
    add("a condition within another lock", "Condition", nested_monitor, "held over a wait",
        also=["given up", "broken deadlock"], blame="inside")  # fmt: skip
    add("a place that is never given back", "Semaphore", lost_place, "held to the end", blame="loser")
    add("a timer that starts the next one", "Timer", partial(heartbeat, 8), nobody=True)
    add("idle workers beside a convoy", "Lock", partial(idle_beside_convoy, 6, 4), "convoy", slept,
        also=["starvation", "one goes first", "farmer and workers"])  # fmt: skip
    add("a full queue, given up", "Queue", full_queue, "given up", also=["polling"], nobody=True)
    add("a supervisor that looks again and again", "Thread", supervisor, "polling", nobody=True)
    add("a ring of a lock, a place and a join", "mixed", mixed_ring, "deadlock",
        also=["never released", "held to the end", "lock order"])  # fmt: skip
    return found


#: All programs.
PROGRAMS = _known()
