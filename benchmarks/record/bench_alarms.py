"""How soon ``watch`` tells what goes wrong: from its cause in the program to the line on the terminal.

Each program does nothing wrong for two seconds, says when it begins to, and goes on until the line has come.
Alone, beside three computing threads of its own, and beside six other processes that compute. The goal is a
second. ``python -m benchmarks.record.bench_alarms RUNS NAME …`` prints all runs.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT

#: Runs of each; seconds that are waited for a line; the goal.
RUNS, MOST, GOAL = 3, 15.0, 1.0

_BEGIN = """
import os, sys, threading, time
def cause():
    os.write(1, f"cause {time.monotonic()}\\n".encode())
def compute():
    while True: sum(range(1000))
if "threads" in sys.argv:
    for _ in range(3): threading.Thread(target=compute, daemon=True).start()
"""
#: Name -> how its line goes on after "alarm at …: ", and the program.
PROGRAMS = {
    "deadlock": (
        ("deadlock: ",),
        """
left, right = threading.Lock(), threading.Lock()
def first():
    with left:
        time.sleep(2)
        with right: pass
def second():
    with right:
        time.sleep(2.1)
        cause()
        with left: pass
threads = [threading.Thread(target=work) for work in (first, second)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""",
    ),
    "convoy": (
        ("convoy: ",),
        """
lock = threading.Lock()
def hold():
    with lock: time.sleep(30)
def wait():
    with lock: pass
time.sleep(2)
threads = [threading.Thread(target=work) for work in (hold, wait, wait, wait)]
for thread in threads[:3]: thread.start()
cause()
threads[3].start()
for thread in threads: thread.join()
""",
    ),
    "growing queue": (
        ("growing queue: ",),
        """
import queue
jobs = queue.Queue()
def take():
    while True:
        jobs.get()
        time.sleep(0.02)
threading.Thread(target=take, daemon=True).start()
for i in range(100):
    jobs.put(i)
    time.sleep(0.02)
cause()
while True:
    for _ in range(8): jobs.put(0)
    time.sleep(0.04)
""",
    ),
    "large blocks leak": (
        ("growing memory: gather", "leak: gather"),
        """
kept = []
def gather(): kept.append(bytearray(20_000))
time.sleep(2)
cause()
while True:
    gather()
    time.sleep(0.02)
""",
    ),
    "small blocks leak beside 60,000": (
        ("growing memory: gather", "leak: gather"),
        """
living = [f"a string of some length, the one with number {i}" for i in range(60_000)]
kept = []
def gather(): kept.append(bytearray(243))
time.sleep(2)
cause()
while True:
    for _ in range(10): gather()
    time.sleep(0.005)
""",
    ),
    "small blocks leak beside 500,000": (
        ("growing memory: gather", "leak: gather"),
        """
living = [f"a string of some length, the one with number {i}" for i in range(500_000)]
kept = []
def gather(): kept.append(bytearray(243))
time.sleep(2)
cause()
while True:
    for _ in range(100): gather()
    time.sleep(0.005)
""",
    ),
}
CIRCUMSTANCES = ("alone", "beside three threads", "beside six processes")


def rows() -> list[dict[str, Any]]:
    """Measure: seconds from the cause to the line, the median and the longest of some runs."""
    found = []
    for name in PROGRAMS:
        for beside in CIRCUMSTANCES:
            took = sorted(measure(name, beside) for _ in range(RUNS))
            for what, seconds in (("median", statistics.median(took)), ("longest", took[-1])):
                found.append(
                    {"name": f"{name}, {beside}: {what}", "ours": seconds, "peer": GOAL, "unit": "s",
                     "peer_name": "the goal", "ratio": GOAL / seconds}
                )  # fmt: skip
    return found


def measure(name: str, beside: str) -> float:
    """Run a program and watch it; return the seconds from its cause to the alarm, infinity if none came."""
    starts, body = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as folder, _load(6 * (beside == CIRCUMSTANCES[2])):
        script = Path(folder, "program.py")
        script.write_text(_BEGIN + body)
        endpoint = f"ipc://{folder}/feed"
        ours = [sys.executable, "-m", "tracevis3d"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        more = ["threads"] if beside == CIRCUMSTANCES[1] else []
        program = subprocess.Popen(
            [*ours, "record", "--live", endpoint, "--wait", "--threads", "--memory", "--", script, *more],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
        )  # fmt: skip
        viewer = subprocess.Popen(
            [*ours, "watch", endpoint, "-o", f"{folder}/out.tv3", "--quiet"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        assert program.stdout is not None
        assert viewer.stderr is not None
        ends = threading.Timer(60.0, viewer.kill)
        ends.start()
        began = next((float(line.split()[1]) for line in program.stdout if line.startswith("cause")), 0.0)
        late = threading.Timer(MOST, viewer.kill)
        late.start()
        took = float("inf")
        for line in viewer.stderr:
            if line.startswith("alarm at") and any(f": {start}" in line for start in starts):
                took = time.monotonic() - began
                break
        for timer in (ends, late):
            timer.cancel()
        for process in (program, viewer):
            process.kill()
            process.communicate()
    return took


@contextmanager
def _load(processes: int) -> Iterator[None]:
    """Let so many processes compute meanwhile; they end with this one, however it ends."""
    alone = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(100_000))"
    computing = [subprocess.Popen([sys.executable, "-c", alone]) for _ in range(processes)]
    try:
        yield
    finally:
        for one in computing:
            one.kill()
            one.wait()


if __name__ == "__main__":
    runs, names = int(sys.argv[1]), sys.argv[2:] or list(PROGRAMS)
    for name in names:
        for beside in CIRCUMSTANCES:
            took = sorted(measure(name, beside) for _ in range(runs))
            print(f"{name}, {beside}: {' '.join(f'{seconds:.2f}' for seconds in took)}", flush=True)
