"""Programs whose waits are known: what is to be found in each, and who is to blame.

Each is made of a few threads that do one thing; numbers of threads and times make several of one.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

#: True of nearly every program whose main thread waits for others: it is not judged unless it is expected.
USUAL = frozenset(("mostly idle", "does nothing", "outlier"))


@dataclass(frozen=True)
class Known:
    """A program with its truth.

    Attributes
    ----------
    name : str
    about : str
        What it waits by.
    work : callable
        Returns who woke whom: pairs of thread names, in the order of the wakings; None: not known.
    expected : frozenset of str
        Kinds of findings that it has.
    also : frozenset of str
        Kinds that are true of it too, and not what it is about.
    blame : str
        The thread that delays others most; empty: not judged.
    nobody : bool
        Nobody delays others by holding something: nobody may be blamed.
    """

    name: str
    about: str
    work: Callable[[], Any]
    expected: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    blame: str = ""
    nobody: bool = False


def together(
    *works: tuple[str, Callable[[], Any]],
    daemon: bool = False,
    patience: float = 30.0,
    begun: threading.Event | None = None,
) -> None:
    """Run functions in threads of these names; daemons are left to themselves a while after ``begun``."""
    threads = [threading.Thread(target=work, name=name, daemon=daemon) for name, work in works]
    for thread in threads:
        thread.start()
    if begun is not None:
        begun.wait(30)
    for thread in threads:
        thread.join(patience)


def long_hold(make: Callable[[], Any], waiting: int) -> None:
    """One holds for long while the others queue, each of which then holds for a moment."""
    shared, taken = make(), threading.Event()

    def hold() -> None:
        with shared:
            taken.set()
            time.sleep(0.12)

    def take() -> None:
        taken.wait()
        with shared:
            time.sleep(0.01)

    together(("holder", hold), *((f"worker-{i}", take) for i in range(waiting)))


def convoy(threads: int, rounds: int) -> None:
    """All take turns with a lock, and do little else."""
    shared = threading.Lock()

    def work() -> None:
        for _ in range(rounds):
            with shared:
                time.sleep(0.006)
            time.sleep(0.001)

    together(*((f"worker-{i}", work) for i in range(threads)))


def different_orders(locks: int) -> None:
    """Locks are acquired in different orders, one thread after the other: nothing happens, this time."""
    made = [threading.Lock() for _ in range(locks)]

    def through(first: int) -> None:
        with made[first], made[(first + 1) % locks]:
            time.sleep(0.005)

    for i in range(locks):
        together((f"thread-{i}", partial(through, i)))


def ring(threads: int, timeout: float) -> None:
    """Each holds a lock and wants the next one's; with a timeout the first gives up, else nobody does."""
    locks = [threading.Lock() for _ in range(threads)]
    ready = threading.Barrier(threads)

    def work(i: int) -> None:
        with locks[i]:
            ready.wait()
            wanted = locks[(i + 1) % threads]
            if wanted.acquire(timeout=timeout if timeout and i == 0 else -1):
                wanted.release()

    works = [(f"ring-{i}", partial(work, i)) for i in range(threads)]
    together(*works, daemon=not timeout, patience=0.15 if not timeout else 30.0)


def itself() -> None:
    """A thread wants a lock that it holds."""
    lock = threading.Lock()

    def work() -> None:
        with lock, lock:
            pass

    together(("alone", work), daemon=True, patience=0.15)


def in_vain(make: Callable[[], Any]) -> None:
    """A thread waits for what never comes."""
    wait = make()
    threading.Thread(target=wait, name="vain", daemon=True).start()
    time.sleep(0.15)


def poll(every: float, times: int, by_sleep: bool) -> None:
    """A thread looks again and again whether it may go on."""
    done = threading.Event()

    def look() -> None:
        for i in range(2 * times):
            if i == times:
                done.set()
            if by_sleep:
                time.sleep(every)
            elif done.wait(every):
                return
            if done.is_set():
                return

    together(("poller", look))


def farm(workers: int, items: int) -> list[tuple[str, str]]:
    """One thread gives work to all others."""
    jobs: queue.Queue[Any] = queue.Queue()
    done: list[tuple[str, str]] = []

    def work() -> None:
        while jobs.get() is not None:
            done.append((threading.current_thread().name, "farmer"))

    def give() -> None:
        for _ in range(items):
            time.sleep(0.008)
            jobs.put(1)
        for _ in range(workers):
            jobs.put(None)
            done.append(("", "farmer"))

    together(*((f"worker-{i}", work) for i in range(workers)), ("farmer", give))
    return [("", by) for _, by in done]


def producers(makers: int, timeout: float | None) -> list[tuple[str, str]]:
    """Several put in turn, one takes, perhaps with a timeout; return who took what from whom, in order."""
    items: queue.Queue[tuple[int, str]] = queue.PriorityQueue() if timeout else queue.Queue()
    got: list[tuple[str, str]] = []

    def make(i: int) -> None:
        for k in range(3):
            time.sleep(0.012 + 0.011 * ((i + k) % makers))
            items.put((time.perf_counter_ns(), f"maker-{i}"))

    def take() -> None:
        while len(got) < 3 * makers:
            try:
                got.append(("taker", items.get(timeout=timeout)[1]))
            except queue.Empty:
                continue

    together(("taker", take), *((f"maker-{i}", partial(make, i)) for i in range(makers)))
    return got


def greedy(waiting: int, times: int) -> None:
    """One thread takes a semaphore again and again, so that the others hardly get it."""
    shared, begun = threading.Semaphore(1), threading.Event()

    def take() -> None:
        for _ in range(times):
            with shared:
                begun.set()
                time.sleep(0.003)

    def wait() -> None:
        begun.wait()
        with shared:
            pass

    together(("greedy", take), *((f"waiting-{i}", wait) for i in range(waiting)))


class ReadWriteLock:
    """Many read at a time, one writes; ``fair``: who wants to write goes before those that come later."""

    def __init__(self, make: Callable[[], Any], fair: bool = False) -> None:
        self.count_lock, self.free, self.door = threading.Lock(), make(), threading.Lock()
        self.readers, self.fair = 0, fair

    def begin_read(self) -> None:
        if self.fair:
            with self.door:
                pass
        with self.count_lock:
            self.readers += 1
            if self.readers == 1:
                self.free.acquire()

    def end_read(self) -> None:
        with self.count_lock:
            self.readers -= 1
            if not self.readers:
                self.free.release()

    def begin_write(self) -> None:
        if self.fair:
            self.door.acquire()
        self.free.acquire()

    def end_write(self) -> None:
        self.free.release()
        if self.fair:
            self.door.release()


class ReadWriteCondition:
    """The same by a condition: readers go first."""

    def __init__(self) -> None:
        self.changed, self.readers = threading.Condition(), 0

    def begin_read(self) -> None:
        with self.changed:
            self.readers += 1

    def end_read(self) -> None:
        with self.changed:
            self.readers -= 1
            if not self.readers:
                self.changed.notify_all()

    def begin_write(self) -> None:
        self.changed.acquire()
        while self.readers:
            self.changed.wait()

    def end_write(self) -> None:
        self.changed.release()


def read_and_write(make: Callable[[], Any], readers: int, writers: int, times: int) -> None:
    """Readers come again and again, so that one of them always reads; writers want to write once."""
    shared, begun = make(), threading.Event()

    def read(i: int) -> None:
        time.sleep(0.002 * i)
        for _ in range(times):
            shared.begin_read()
            begun.set()
            time.sleep(0.006)
            shared.end_read()

    def write() -> None:
        begun.wait()
        shared.begin_write()
        time.sleep(0.002)
        shared.end_write()

    works = [(f"viewer-{i}", partial(read, i)) for i in range(readers)]
    together(*works, *((f"editor-{i}", write) for i in range(writers)))


def over_io(waiting: int) -> None:
    """A lock is held while its holder reads from a slow pipe."""
    shared, (source, sink), taken = threading.Lock(), os.pipe(), threading.Event()

    def hold() -> None:
        with shared:
            taken.set()
            os.read(source, 1)

    def wait() -> None:
        taken.wait()
        with shared:
            pass

    def feed() -> None:
        until = time.perf_counter() + 0.1
        while time.perf_counter() < until:
            time.sleep(0.01)
        os.write(sink, b"x")

    together(("reader", hold), ("feeder", feed), *((f"waiting-{i}", wait) for i in range(waiting)))
    os.close(source)
    os.close(sink)


def lead(threads: int) -> None:
    """Who holds the lock waits for the next job; the others wait to be that one."""
    turn, jobs = threading.Lock(), queue.Queue[Any]()

    def work() -> None:
        while True:
            with turn:
                job = jobs.get()
            if job is None:
                return
            time.sleep(0.003)

    def give() -> None:
        for _ in range(4 * threads):
            time.sleep(0.01)
            jobs.put(1)
        for _ in range(threads):
            jobs.put(None)

    together(*((f"worker-{i}", work) for i in range(threads)), ("giver", give))


def kept() -> None:
    """A lock is never released, though others were."""
    first = threading.Lock()
    with first:
        pass
    first.acquire()
    time.sleep(0.06)


def monitor(items: int) -> None:
    """A healthy monitor: one puts, one takes, by a condition."""
    ready, held = threading.Condition(), list[int]()

    def take() -> None:
        for _ in range(items):
            with ready:
                ready.wait_for(lambda: bool(held))
                held.pop()

    def put() -> None:
        for i in range(items):
            time.sleep(0.008)
            with ready:
                held.append(i)
                ready.notify()

    together(("taker", take), ("putter", put))


def barrier(threads: int) -> None:
    """All meet; one comes late."""
    meet = threading.Barrier(threads)

    def work(i: int) -> None:
        time.sleep(0.06 if i == 0 else 0.002)
        meet.wait()

    together(*((f"party-{i}", partial(work, i)) for i in range(threads)))


def futures(workers: int) -> None:
    """A pool computes, the main thread waits for the results."""
    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(time.sleep, 0.01) for _ in range(3 * workers)]
        for job in jobs:
            job.result()


def tasks(waiting: int) -> None:
    """asyncio: a task holds a lock for long, the others queue."""

    async def main() -> None:
        shared = asyncio.Lock()

        async def hold(seconds: float) -> None:
            async with shared:
                await asyncio.sleep(seconds)

        await asyncio.gather(
            asyncio.create_task(hold(0.12), name="holder"),
            *(asyncio.create_task(hold(0.01), name=f"task-{i}") for i in range(waiting)),
        )

    asyncio.run(main())


def apart(threads: int) -> None:
    """Nobody waits for anybody: each has its own lock."""

    def work() -> None:
        own = threading.Lock()
        until = time.perf_counter() + 0.04
        while time.perf_counter() < until:
            with own:
                sum(range(500))

    together(*((f"apart-{i}", work) for i in range(threads)))


def processes(waiting: int) -> None:
    """A process holds a lock that others of the program want."""
    import multiprocessing

    context = multiprocessing.get_context("fork")
    shared, taken = context.Lock(), context.Event()

    def hold() -> None:
        with shared:
            taken.set()
            time.sleep(0.25)

    def take() -> None:
        taken.wait()
        with shared:
            time.sleep(0.01)

    made = [context.Process(target=hold, name="holder")]
    made += [context.Process(target=take, name=f"taker-{i}") for i in range(waiting)]
    for one in made:
        one.start()
    for one in made:
        one.join()


def _known() -> list[Known]:
    found: list[Known] = []

    def add(name: str, about: str, work: Any, *expected: str, also: Any = (), blame: str = "") -> None:
        found.append(Known(name, about, work, frozenset(expected), frozenset(also) | USUAL, blame))

    def hold(what: str, about: str, make: Any, waiting: int) -> None:
        kinds = ["held over sleep", *(["convoy"] if waiting >= 3 else [])]
        name = f"{what}, one long hold, {waiting} wait"
        add(name, about, partial(long_hold, make, waiting), *kinds, also=["convoy"], blame="holder")

    # Called within the recording: what threading.Lock is by then is recorded.
    for waiting in (1, 2, 3, 4, 6):
        hold("a lock", "Lock", lambda: threading.Lock(), waiting)
    for waiting in (1, 4):
        hold("a reentrant lock", "RLock", lambda: threading.RLock(), waiting)
        hold("a semaphore", "Semaphore", lambda: threading.Semaphore(1), waiting)
    for n, k in ((3, 6), (4, 6), (6, 4)):
        also = "starvation", "one goes first"
        add(f"{n} threads take turns, {k} times", "Lock", partial(convoy, n, k), "convoy", "held over sleep",
            also=also)  # fmt: skip
    for n in (2, 3, 4):
        add(f"{n} locks in different orders", "Lock", partial(different_orders, n), "lock order")
        # On a busy machine a thread comes late to the barrier before the ring.
        add(f"a ring of {n}, broken by a timeout", "Lock", partial(ring, n, 0.08), "broken deadlock",
            also=["lock order", "polling", "comes last"])  # fmt: skip
    stuck = "lock order", "never released", "held to the end"
    for n in (2, 3, 5):
        add(f"a ring of {n}, for ever", "Lock", partial(ring, n, 0.0), "deadlock",
            also=[*stuck, "comes last"])  # fmt: skip
    add("a lock that its holder wants again", "Lock", itself, "deadlock", also=stuck)
    vain = "never released"
    add("an event that nobody sets", "Event", partial(in_vain, lambda: threading.Event().wait), vain)
    add("a queue that nobody fills", "Queue", partial(in_vain, lambda: queue.Queue().get), vain)
    add("a condition that nobody notifies", "Condition", partial(in_vain, _waits_for_condition), vain)
    add("a lock that is kept", "Lock", kept, "held to the end")
    for ms, sleeps in ((10, False), (20, False), (30, False), (10, True), (20, True)):
        how = "sleep" if sleeps else "timeouts"
        add(f"polling every {ms} ms by {how}", "Event", partial(poll, ms / 1000, 10, sleeps), "polling")
    for n in (3, 4, 6):
        add(f"a farmer and {n} workers", "Queue", partial(farm, n, 4 * n), "farmer and workers")
    for n, seconds in ((2, None), (3, None), (2, 0.005), (3, 0.005)):
        name = f"{n} producers, one consumer{' with timeouts' if seconds else ''}"
        add(name, "Queue", partial(producers, n, seconds), also=["polling"])
    add("a greedy thread, one starves", "Semaphore", partial(greedy, 1, 30), "starvation", "held over sleep",
        also=["one goes first"], blame="greedy")  # fmt: skip
    for n in (2, 4):
        add(f"a greedy thread, {n} starve", "Semaphore", partial(greedy, n, 30), "one goes first",
            "held over sleep", also=["starvation", "convoy"], blame="greedy")  # fmt: skip
    rw = "reads and writes"
    for about, make in (
        ("Lock", lambda: ReadWriteLock(lambda: threading.Lock())),
        ("Semaphore", lambda: ReadWriteLock(lambda: threading.Semaphore(1))),
        ("Condition", ReadWriteCondition),
    ):
        for readers, writers in ((3, 1), (3, 3)):
            add(f"{readers} read while {writers} would write, {about}", rw,
                partial(read_and_write, make, readers, writers, 14), "readers first",
                also=["held over sleep", "convoy", "farmer and workers", "polling"])  # fmt: skip
    for readers, writers in ((1, 2), (3, 2)):
        add(f"{readers} read, {writers} write in turn", rw,
            partial(read_and_write, lambda: ReadWriteLock(lambda: threading.Lock(), fair=True), readers,
                    writers, 14),
            also=["held over sleep", "convoy", "farmer and workers", "polling"])  # fmt: skip
    for n in (1, 4):
        add(f"a lock held while a pipe is read, {n} wait", "Lock", partial(over_io, n), "held over I/O",
            also=["convoy", "farmer and workers", "polling"], blame="reader")  # fmt: skip
    for n in (3, 5):
        add(f"{n} threads lead in turn", "Lock", partial(lead, n), "leader and followers",
            also=["farmer and workers"])  # fmt: skip
    add("a healthy monitor", "Condition", partial(monitor, 10))
    add("a barrier of 4, one late", "Barrier", partial(barrier, 4), "comes last", also=["farmer and workers"])
    add("a pool of 3", "Future", partial(futures, 3), also=["polling"])
    for n in (2, 4):
        add(f"{n} threads apart", "Lock", partial(apart, n))
    for n in (1, 4):
        kinds = ["held over sleep", *(["convoy"] if n >= 3 else [])]
        add(f"asyncio: one long hold, {n} wait", "asyncio", partial(tasks, n), *kinds,
            also=["convoy", "farmer and workers"], blame="holder (asyncio)")  # fmt: skip
    for n in (1, 3):
        kinds = ["held over sleep", *(["convoy"] if n >= 3 else [])]
        add(f"processes: one long hold, {n} wait", "processes", partial(processes, n), *kinds,
            also=["convoy", "farmer and workers"], blame="holder")  # fmt: skip
    return found


def _waits_for_condition() -> Callable[[], Any]:
    ready = threading.Condition()

    def wait() -> None:
        with ready:
            ready.wait()

    return wait


#: All programs.
PROGRAMS = _known()
