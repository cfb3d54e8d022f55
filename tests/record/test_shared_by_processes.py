"""What processes share to wait by, recorded as a whole: events, conditions, barriers and queues."""

import os
import sys

import pytest

from tests.record.test_processes import record, waits_called
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.waits import find_waits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are recorded where files can be locked")

PROGRAM = """
import multiprocessing as mp, sys, time

def child(begun, ready, changed, meet, jobs):
    begun.set()
    ready.wait()
    with changed:
        begun.set()
        changed.wait()
    meet.wait()
    for _ in range(4):
        jobs.get()
        time.sleep(0.03)
        jobs.task_done()

def main(method):
    context = mp.get_context(method)
    begun, ready = context.Event(), context.Event()
    changed, meet, jobs = context.Condition(), context.Barrier(2), context.JoinableQueue(1)
    shared = begun, ready, changed, meet, jobs
    process = context.Process(target=child, args=shared, name="child")
    process.start()
    begun.wait()
    begun.clear()
    time.sleep(0.06)
    ready.set()
    begun.wait()
    time.sleep(0.06)
    with changed:
        changed.notify()
    time.sleep(0.06)
    meet.wait()
    time.sleep(0.06)
    for i in range(4):
        jobs.put(i)
    jobs.join()
    process.join()

if __name__ == "__main__":
    main(sys.argv[1])
"""
FUTURES = """
import time
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(4) as pool:
    def job(i):
        if i == 3:
            time.sleep(0.1)
        else:
            pool.submit(job, i + 1).result()
    for _ in range(10):
        pool.submit(job, 0).result()
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_who_ends_waits_is_known_and_parts_are_not_recorded(tmp_path, method) -> None:
    done, trace = record(tmp_path, PROGRAM, method)
    assert done.returncode == 0, done.stderr
    assert not trace.problems
    waits = find_waits(trace)
    kinds = "Event.wait", "Condition.wait", "Queue.get"
    for kind in kinds:
        rows = [row for row in waits_called(waits, f"multiprocessing.{kind}") if row[0] == "child"]
        assert rows, kind
        ended = {row[2] for row in rows}
        assert "MainThread" in ended, kind
        # An item that was put before the wait may still be on its way to the other process: nobody ends that.
        assert ended <= ({"MainThread", None} if kind == "Queue.get" else {"MainThread"}), kind
    for kind in ("Queue.put-full", "Queue.join"):
        rows = [row for row in waits_called(waits, f"multiprocessing.{kind}") if row[0] == "MainThread"]
        # Room may be there a moment before it is recorded who made it.
        assert "child" in {row[2] for row in rows} <= {"child", None}, kind
    # The first at the barrier waits for the last.
    assert ("child", "MainThread") in {(row[0], row[2]) for row in waits_called(waits, "Barrier.wait")}
    parts = {name.partition("-")[0].partition(" ")[0] for name in waits.ops.objects}
    assert not parts & {
        "multiprocessing.Semaphore",
        "multiprocessing.Lock",
        "multiprocessing.BoundedSemaphore",
    }
    # Python's own tracker of resources has a lock, for which its threads may queue.
    own = {f.kind for f in findings(waits) if not all(name.startswith("RLock-") for name in f.objects)}
    assert not own & {
        "held to the end",
        "convoy",
        "lock order",
        "held over I/O",
    }


def test_a_lock_within_something_is_not_held_for_ever_by_who_had_to_wait_for_it(tmp_path) -> None:
    # Which of them has to wait for the pool's own lock is left to chance; it has to in a few of ten.
    done, trace = record(tmp_path, FUTURES, engine="auto" if sys.version_info >= (3, 12) else "profile")
    assert done.returncode == 0, done.stderr
    waits = find_waits(trace)
    assert not {f.kind for f in findings(waits)} & {"held to the end", "never released"}
    locks = [i for i, name in enumerate(waits.ops.objects) if name.startswith(("Lock-", "RLock-"))]
    held = waits.held
    assert not [i for i in range(len(held)) if held.object[i] in locks and held.release[i] < 0]
