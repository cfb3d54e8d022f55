"""What is remarkable about a program is found in its recording."""

import queue
import sys
import threading
import time

import pytest

import tracevis3d as tv
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.waits import find_waits

ENGINE = "monitoring" if hasattr(sys, "monitoring") else "profile"


def run_all(*works):
    threads = [threading.Thread(target=work, name=name) for name, work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_different_orders():
    first, second = threading.Lock(), threading.Lock()

    def one():
        with first, second:
            time.sleep(0.01)

    def other():
        with second, first:
            time.sleep(0.01)

    # One after the other: nothing happens, this time.
    run_all(("one", one))
    run_all(("other", other))


def a_convoy():
    shared = threading.Lock()

    def work():
        for _ in range(6):
            with shared:
                time.sleep(0.01)
            time.sleep(0.001)

    run_all(*((f"worker-{i}", work) for i in range(4)))


def a_farmer():
    jobs = queue.Queue()

    def work():
        while jobs.get() is not None:
            pass

    def farm():
        for _ in range(12):
            time.sleep(0.02)
            jobs.put(1)
        for _ in range(3):
            jobs.put(None)

    run_all(("farmer", farm), *((f"worker-{i}", work) for i in range(3)))


def polling():
    done = threading.Event()

    def poll():
        while not done.wait(0.03):
            pass

    def work():
        time.sleep(0.4)
        done.set()

    run_all(("poller", poll), ("work", work))


def a_lock_held_to_the_end():
    kept = threading.Lock()
    with kept:
        pass
    kept.acquire()
    time.sleep(0.1)


@pytest.mark.parametrize(
    ("work", "kind", "threads"),
    [
        (in_different_orders, "lock order", {"one", "other"}),
        (a_convoy, "convoy", {"worker-0", "worker-3"}),
        (a_farmer, "farmer and workers", {"farmer", "worker-0", "worker-1", "worker-2"}),
        (polling, "polling", {"poller"}),
        (a_lock_held_to_the_end, "held to the end", {"MainThread"}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_it_is_found_in_a_recording(tmp_path, work, kind, threads):
    path = str(tmp_path / "out.json")
    with tv.record(path, engine=ENGINE):
        work()
    trace = tv.load(path, cache=False)
    found = [f for f in findings(find_waits(trace)) if f.kind == kind]
    named = [{trace.threads.name[t] for t in finding.threads} for finding in found]
    assert any(threads <= names for names in named), [f.sentence for f in findings(find_waits(trace))]
