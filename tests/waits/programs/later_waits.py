"""Programs of kinds that :mod:`known_waits` lacks, written after its rules.

Truth is given as there: what is to be found, what is true too, and who delays others most. At first sight 22
of the 39 were told right; what was missing or false led to further rules.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import multiprocessing
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from functools import partial
from typing import Any

from .known_waits import USUAL, Known, together


def reentrant(depth: int) -> None:
    """The holder takes its lock again and again, and releases it for others only at the end."""
    shared, taken = threading.RLock(), threading.Event()

    def deeper(n: int) -> None:
        with shared:
            taken.set()
            time.sleep(0.02)
            if n:
                deeper(n - 1)

    def take() -> None:
        taken.wait()
        with shared:
            pass

    together(("holder", partial(deeper, depth)), ("taker", take))


def predicate(times: int) -> None:
    """A thread is woken many times before what it waits for is true."""
    ready, count = threading.Condition(), [0]

    def wait() -> None:
        with ready:
            ready.wait_for(lambda: count[0] >= times)

    def step() -> None:
        for _ in range(times):
            time.sleep(0.01)
            with ready:
                count[0] += 1
                ready.notify()

    together(("waiter", wait), ("stepper", step))


def full_pool(timeout: float | None) -> None:
    """The only worker of a pool waits for a job of the same pool, and gives up."""
    with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="worker") as pool:

        def outer() -> None:
            inner = pool.submit(time.sleep, 0.001)
            with contextlib.suppress(concurrent.futures.TimeoutError):
                inner.result(timeout)

        pool.submit(outer).result()


def task_queue(size: int) -> None:
    """asyncio: one task makes items slowly, another one takes them."""

    async def main() -> None:
        items: asyncio.Queue[int] = asyncio.Queue(size)

        async def make() -> None:
            for i in range(8):
                await asyncio.sleep(0.015)
                await items.put(i)

        async def take() -> None:
            for _ in range(8):
                await items.get()

        await asyncio.gather(
            asyncio.create_task(make(), name="maker"), asyncio.create_task(take(), name="taker")
        )

    asyncio.run(main())


def task_slow_consumer() -> None:
    """asyncio: a bounded queue whose consumer is slow; the maker waits for room."""

    async def main() -> None:
        items: asyncio.Queue[int] = asyncio.Queue(1)

        async def make() -> None:
            for i in range(8):
                await items.put(i)

        async def take() -> None:
            for _ in range(8):
                await items.get()
                await asyncio.sleep(0.015)

        await asyncio.gather(
            asyncio.create_task(make(), name="maker"), asyncio.create_task(take(), name="taker")
        )

    asyncio.run(main())


def task_inversion() -> None:
    """asyncio: two tasks want each other's lock; one gives up."""

    async def main() -> None:
        first, second = asyncio.Lock(), asyncio.Lock()

        async def one() -> None:
            async with first:
                await asyncio.sleep(0.01)
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(second.acquire(), 0.08)
                    second.release()

        async def other() -> None:
            async with second:
                await asyncio.sleep(0.01)
                async with first:
                    pass

        await asyncio.gather(
            asyncio.create_task(one(), name="one"), asyncio.create_task(other(), name="other")
        )

    asyncio.run(main())


def task_blocked() -> None:
    """asyncio: a task sleeps without await, so that nobody else runs."""

    async def main() -> None:
        async def tick() -> None:
            for _ in range(5):
                await asyncio.sleep(0.01)

        async def block() -> None:
            await asyncio.sleep(0.005)
            time.sleep(0.12)

        await asyncio.gather(
            asyncio.create_task(tick(), name="ticker"), asyncio.create_task(block(), name="blocker")
        )

    asyncio.run(main())


def task_event_in_vain() -> None:
    """asyncio: a task waits for an event that nobody sets, and is cancelled."""

    async def main() -> None:
        never = asyncio.Event()

        async def wait() -> None:
            await never.wait()

        task = asyncio.create_task(wait(), name="vain")
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())


def process_queue() -> None:
    """A process makes items, this one takes them."""
    context = multiprocessing.get_context("fork")
    items: Any = context.Queue()

    def make() -> None:
        for i in range(5):
            time.sleep(0.03)
            items.put(i)

    maker = context.Process(target=make, name="maker")
    maker.start()
    for _ in range(5):
        items.get()
    maker.join()


def _square(x: int) -> int:
    time.sleep(0.02)
    return x * x


def process_pool(workers: int) -> None:
    """A pool of processes computes."""
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        pool.map(_square, range(3 * workers), chunksize=1)


def bounded(places: int, threads: int) -> None:
    """Few places, many threads."""
    seats = threading.BoundedSemaphore(places)

    def sit() -> None:
        with seats:
            time.sleep(0.03)

    together(*((f"guest-{i}", sit) for i in range(threads)))


def broken_barrier(parties: int) -> None:
    """One never comes: the first to lose patience breaks the barrier for all."""
    meet = threading.Barrier(parties + 1)

    def work(i: int) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            meet.wait(0.08 if i == 0 else None)

    together(*((f"party-{i}", partial(work, i)) for i in range(parties)))


def lost_wakeup(timeout: float | None) -> None:
    """The signal comes before anybody waits for it."""
    ready, signalled, waits = threading.Condition(), threading.Event(), threading.Event()

    def signal() -> None:
        with ready:
            ready.notify()
        signalled.set()

    def wait() -> None:
        signalled.wait()
        time.sleep(0.03)
        with ready:
            waits.set()
            ready.wait(timeout)

    for_ever = timeout is None
    together(("waiter", wait), ("signaller", signal), daemon=for_ever, patience=0.2 if for_ever else 30.0,
        begun=waits)  # fmt: skip


def inversion(times: int) -> None:
    """Two threads want each other's lock, give up, and try again."""
    first, second = threading.Lock(), threading.Lock()
    both = threading.Barrier(2)

    def work(mine: Any, others: Any) -> None:
        for _ in range(times):
            with mine:
                both.wait()
                if others.acquire(timeout=0.04):
                    others.release()
                both.wait()

    together(("left", partial(work, first, second)), ("right", partial(work, second, first)))


def daemon(every: float) -> None:
    """A daemon looks after the program and never ends."""
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(every):
            pass

    threading.Thread(target=watch, name="watchdog", daemon=True).start()
    time.sleep(0.15)


def slow_consumer(makers: int) -> None:
    """A bounded queue whose consumer is slow: makers wait for room."""
    items: queue.Queue[int | None] = queue.Queue(1)

    def make() -> None:
        for i in range(4):
            items.put(i)

    def take() -> None:
        for _ in range(4 * makers):
            items.get()
            time.sleep(0.02)

    together(("consumer", take), *((f"maker-{i}", make) for i in range(makers)))


def queue_join() -> None:
    """One waits until all jobs are done."""
    jobs: queue.Queue[int] = queue.Queue()
    for i in range(5):
        jobs.put(i)

    def work() -> None:
        for _ in range(5):
            jobs.get()
            time.sleep(0.02)
            jobs.task_done()

    together(("worker", work), ("waiter", jobs.join))


def join_chain(n: int) -> None:
    """Each waits for the end of the next, the last one sleeps."""
    threads: list[threading.Thread] = []

    def work(i: int) -> None:
        if i == n - 1:
            time.sleep(0.1)
        else:
            threads[i + 1].join()

    threads += [threading.Thread(target=work, args=(i,), name=f"link-{i}") for i in range(n)]
    for thread in reversed(threads):
        thread.start()
    threads[0].join()


def timer() -> None:
    """A timer sets an event."""
    done = threading.Event()
    threading.Timer(0.1, done.set).start()
    done.wait()


def child() -> None:
    """The main thread waits for another program while it holds a lock that a thread wants."""
    shared, taken = threading.Lock(), threading.Event()

    def run() -> None:
        with shared:
            taken.set()
            subprocess.run([sys.executable, "-S", "-c", "import time; time.sleep(0.1)"], check=True)

    def want() -> None:
        taken.wait()
        with shared:
            pass

    together(("runner", run), ("wanter", want))


def talk() -> None:
    """A server answers slowly, a client waits for it."""
    a, b = socket.socketpair()

    def serve() -> None:
        for _ in range(3):
            b.recv(10)
            time.sleep(0.03)
            b.sendall(b"yes")

    def ask() -> None:
        for _ in range(3):
            a.sendall(b"well?")
            a.recv(10)

    together(("server", serve), ("client", ask))
    a.close()
    b.close()


def first_result(workers: int) -> None:
    """Results are taken as they come."""
    with concurrent.futures.ThreadPoolExecutor(workers, thread_name_prefix="worker") as pool:
        jobs = [pool.submit(time.sleep, 0.02 * (i + 1)) for i in range(2 * workers)]
        for job in concurrent.futures.as_completed(jobs):
            job.result()


def lock_as_signal() -> None:
    """A lock that one thread acquires and another one releases: a signal."""
    gate = threading.Lock()
    gate.acquire()

    def wait() -> None:
        gate.acquire()

    def open_() -> None:
        time.sleep(0.1)
        gate.release()

    together(("waiter", wait), ("opener", open_))


def computing_holder(waiting: int) -> None:
    """A lock is held while its holder computes."""
    shared, taken = threading.Lock(), threading.Event()

    def crunch() -> None:
        with shared:
            taken.set()
            # Processor time: on a busy machine the others come late.
            until = time.thread_time() + 0.12
            while time.thread_time() < until:
                sum(range(2000))

    def want() -> None:
        taken.wait()
        with shared:
            pass

    together(("cruncher", crunch), *((f"wanter-{i}", want) for i in range(waiting)))


def spin_try(every: float) -> None:
    """A thread tries a lock again and again, and sleeps between."""
    shared, taken = threading.Lock(), threading.Event()

    def hold() -> None:
        with shared:
            taken.set()
            time.sleep(0.15)

    def attempt() -> None:
        taken.wait()
        while not shared.acquire(blocking=False):
            time.sleep(every)
        shared.release()

    together(("holder", hold), ("trier", attempt))


def retries() -> None:
    """A thread waits for a lock with a timeout again and again."""
    shared, taken = threading.Lock(), threading.Event()

    def hold() -> None:
        with shared:
            taken.set()
            time.sleep(0.15)

    def attempt() -> None:
        taken.wait()
        while not shared.acquire(timeout=0.02):
            pass
        shared.release()

    together(("holder", hold), ("trier", attempt))


def herd(threads: int) -> None:
    """All are woken for each single item."""
    ready, items = threading.Condition(), list[int]()

    def take() -> None:
        with ready:
            while not items:
                ready.wait()
            items.pop()

    def give() -> None:
        for i in range(threads):
            time.sleep(0.015)
            with ready:
                items.append(i)
                ready.notify_all()

    together(*((f"taker-{i}", take) for i in range(threads)), ("giver", give))


def pipeline() -> None:
    """Three stages, the middle one is slow."""
    first: queue.Queue[int | None] = queue.Queue(1)
    second: queue.Queue[int | None] = queue.Queue(1)

    def make() -> None:
        for i in range(8):
            first.put(i)
        first.put(None)

    def change() -> None:
        while (item := first.get()) is not None:
            time.sleep(0.02)
            second.put(item)
        second.put(None)

    def write() -> None:
        while second.get() is not None:
            pass

    together(("maker", make), ("changer", change), ("writer", write))


def chain() -> None:
    """One waits for a lock whose holder waits for another lock, whose holder sleeps."""
    first, second = threading.Lock(), threading.Lock()
    has_second, has_first = threading.Event(), threading.Event()

    def root() -> None:
        with second:
            has_second.set()
            time.sleep(0.12)

    def middle() -> None:
        has_second.wait()
        with first:
            has_first.set()
            with second:
                pass

    def end() -> None:
        has_first.wait()
        with first:
            pass

    together(("root", root), ("middle", middle), ("end", end))


def holding_get() -> None:
    """A lock is held while its holder waits for an item that comes late."""
    shared, items, taken = threading.Lock(), queue.Queue[int](), threading.Event()

    def hold() -> None:
        with shared:
            taken.set()
            items.get()

    def want() -> None:
        taken.wait()
        with shared:
            pass

    def give() -> None:
        time.sleep(0.1)
        items.put(1)

    together(("holder", hold), ("wanter", want), ("giver", give))


def join_deadlock() -> None:
    """A thread holds a lock and waits for the end of one that wants it."""
    shared, taken = threading.Lock(), threading.Event()

    def want() -> None:
        taken.wait()
        with shared:
            pass

    wanter = threading.Thread(target=want, name="wanter", daemon=True)
    wanter.start()

    def hold() -> None:
        with shared:
            taken.set()
            wanter.join()

    together(("joiner", hold), daemon=True, patience=0.2, begun=taken)


def crashed() -> None:
    """A thread ends without releasing its lock; others wait for ever."""
    shared, taken = threading.Lock(), threading.Event()

    def crash() -> None:
        shared.acquire()
        taken.set()

    def want() -> None:
        taken.wait()
        with shared:
            pass

    # So that it is known to be released at times.
    with shared:
        pass
    together(("crasher", crash), ("wanter", want), daemon=True, patience=0.2, begun=taken)


def philosophers(ordered: bool) -> None:
    """Five philosophers, five forks; with the same order for all nobody is ever stuck."""
    forks = [threading.Lock() for _ in range(5)]
    ready = threading.Barrier(5)

    def dine(i: int) -> None:
        left, right = i, (i + 1) % 5
        if ordered and left > right:
            left, right = right, left
        ready.wait()
        with forks[left]:
            if not ordered:
                ready.wait()
            if forks[right].acquire(timeout=-1 if ordered else 0.06 + 0.02 * i):
                time.sleep(0.01)
                forks[right].release()

    together(*((f"philosopher-{i}", partial(dine, i)) for i in range(5)))


def upgrade() -> None:
    """Two threads read and want to write: each waits for the other one to stop reading, and one gives up."""

    class Shared:
        def __init__(self) -> None:
            self.changed, self.readers = threading.Condition(), 0

    shared, both = Shared(), threading.Barrier(2)

    def work() -> None:
        with shared.changed:
            shared.readers += 1
        both.wait()
        with shared.changed:
            shared.changed.wait_for(lambda: shared.readers == 1, 0.08)
            shared.readers -= 1
            shared.changed.notify_all()

    together(("one", work), ("two", work))


def write_to_pipe() -> None:
    """A writer waits because nobody reads a full pipe."""
    source, sink = os.pipe()

    def write() -> None:
        for _ in range(3):
            os.write(sink, b"x" * 65536)

    def read() -> None:
        got = 0
        while got < 3 * 65536:
            time.sleep(0.03)
            got += len(os.read(source, 65536))

    together(("writer", write), ("reader", read))
    os.close(source)
    os.close(sink)


def two_locks_apart() -> None:
    """Two locks, each with its own queue; one is far worse than the other."""
    bad, good = threading.Lock(), threading.Lock()

    def use(lock: Any, seconds: float) -> None:
        for _ in range(4):
            with lock:
                time.sleep(seconds)

    together(*((f"bad-{i}", partial(use, bad, 0.015)) for i in range(3)),
             *((f"good-{i}", partial(use, good, 0.001)) for i in range(3)))  # fmt: skip


def _known() -> list[Known]:
    found: list[Known] = []

    def add(name: str, about: str, work: Any, *expected: str, also: Any = (), blame: str = "") -> None:
        found.append(Known(name, about, work, frozenset(expected), frozenset(also) | USUAL, blame))

    slept = "held over sleep"
    add("a reentrant lock, taken again by its holder", "RLock", partial(reentrant, 4), slept, blame="holder")
    add("a condition notified ten times before it is true", "Condition", partial(predicate, 10))
    add("a pool whose only worker waits for itself", "Future", partial(full_pool, 0.1), "given up")
    add("tasks with a queue", "asyncio", partial(task_queue, 0))
    add("tasks with a full queue", "asyncio", task_slow_consumer)
    add("tasks that want each other's lock", "asyncio", task_inversion, "broken deadlock",
        also=["lock order", slept])  # fmt: skip
    add("a task that blocks all others", "asyncio", task_blocked, also=["polling"])
    add("a task that waits in vain until it is cancelled", "asyncio", task_event_in_vain, "given up")
    add("a queue between processes", "processes", process_queue)
    add("a pool of 2 processes", "processes", partial(process_pool, 2),
        also=["farmer and workers", "held over I/O", "held to the end", "never released"])  # fmt: skip
    add("2 places, 5 guests", "BoundedSemaphore", partial(bounded, 2, 5), slept, also=["convoy"])
    add("a barrier that one never reaches", "Barrier", partial(broken_barrier, 3), "given up")
    add("a signal before its wait, with a timeout", "Condition", partial(lost_wakeup, 0.1), "given up")
    add("a signal before its wait, for ever", "Condition", partial(lost_wakeup, None), "never released")
    add("two that want each other's lock, and try again", "Lock", partial(inversion, 3), "broken deadlock",
        also=["lock order", "polling"])  # fmt: skip
    add("a watchdog", "Event", partial(daemon, 0.01), "polling")
    add("a slow consumer, 2 makers", "Queue", partial(slow_consumer, 2))
    add("waiting for all jobs", "Queue", queue_join)
    add("a chain of joins", "Thread", partial(join_chain, 4))
    add("a timer", "Timer", timer)
    add("a lock held while a program runs", "Lock", child, "held over a wait", blame="runner")
    add("a slow server", "sockets", talk)
    add("results as they come", "Future", partial(first_result, 3))
    add("a lock as a signal", "Lock", lock_as_signal)
    for n in (1, 3):
        kinds = ["held over work", *(["convoy"] if n >= 3 else [])]
        add(f"a lock held while its holder computes, {n} wait", "Lock", partial(computing_holder, n), *kinds,
            also=["convoy"], blame="cruncher")  # fmt: skip
    add("trying a lock", "Lock", partial(spin_try, 0.005), "polling")
    add("a lock with a timeout again and again", "Lock", retries, slept, also=["polling"], blame="holder")
    add("all are woken for one item", "Condition", partial(herd, 5), also=["farmer and workers"])
    add("a pipeline with a slow stage", "Queue", pipeline)
    add("a chain of locks", "Lock", chain, slept)
    add("a lock held while its holder waits for an item", "Lock", holding_get, "held over a wait",
        blame="holder")  # fmt: skip
    add("a lock and a join", "Lock", join_deadlock, "deadlock", also=["never released"])
    add("a thread that ends with its lock", "Lock", crashed, "never released", "held to the end")
    add("philosophers with an order", "Lock", partial(philosophers, True), also=[slept, "convoy"])
    add("philosophers without", "Lock", partial(philosophers, False), "broken deadlock",
        also=["lock order", slept])  # fmt: skip
    add("two that read and want to write", "Condition", upgrade, "given up")
    add("a full pipe", "pipe", write_to_pipe)
    add("two locks, one of them bad", "Lock", two_locks_apart, "convoy", slept,
        also=["starvation", "one goes first"])  # fmt: skip
    return found


#: All programs.
PROGRAMS: list[Known] = _known()
