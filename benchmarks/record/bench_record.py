"""What recording costs a program: against VizTracer alone, and against no tracing.

Three programs: one calls, one locks, one reads and writes. Each reports how long its work took; the process
as
a whole is timed too, because VizTracer alone writes its file at the end and ours while the program runs.
"""

from __future__ import annotations

import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.record.recorded_programs import row, run, write

RUNS = 3

PROGRAMS = {
    "1,000,000 calls": """
def leaf(x): return x + 1
def step(x): return leaf(x) + leaf(x)
def work():
    for i in range(333_333): step(i)
""",
    "4 threads, 200,000 with lock": """
import threading
lock = threading.Lock()
total = 0
def add(n):
    global total
    for i in range(n):
        with lock: total += i
def work():
    threads = [threading.Thread(target=add, args=(50_000,)) for _ in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
""",
    "1,000 files written, read by line": """
import os, tempfile
def write(path):
    with open(path, "w") as file:
        for i in range(200): file.write(f"line {i}\\n")
def read(path):
    with open(path) as file: return sum(len(line) for line in file)
def work():
    with tempfile.TemporaryDirectory() as folder:
        for i in range(1_000):
            path = os.path.join(folder, str(i % 50))
            write(path)
            read(path)
""",
}


def rows() -> list[dict[str, Any]]:
    """Measure; the program's own seconds, and those of the whole process."""
    result = []
    with tempfile.TemporaryDirectory() as folder:
        for name, body in PROGRAMS.items():
            program = write(Path(folder, "program.py"), body, "perf_counter")
            times = _measure(program, Path(folder))
            plain = times["plain"]
            for ours in (
                "fast",
                "fast, no waits",
                "viztracer",
                "profile",
                "monitoring",
                "viztracer, no waits",
            ):
                if ours not in times:
                    continue
                result.append(row(f"{name}: record, {ours}", times[ours][0], plain[0], "no tracing"))
                if "VizTracer" in times:
                    peer = times["VizTracer"]
                    result.append(row(f"{name}: record, {ours}", times[ours][0], peer[0], "VizTracer"))
                    whole = f"{name}: record, {ours}, process"
                    result.append(row(whole, times[ours][1], peer[1], "VizTracer"))
        if find_spec("memray"):
            result += _by_memray(Path(folder))
    return result


_ALLOCATING = """
def take(i): return bytearray(1000 + i % 500)
def work():
    kept = [None] * 1000
    for i in range(100_000): kept[i % 1000] = take(i)
"""


def _by_memray(folder: Path) -> list[dict[str, Any]]:
    """Compare memray with calls and waits beside it to memray alone."""
    program = write(folder / "program.py", _ALLOCATING, "perf_counter")
    record = [sys.executable, "-m", "tracevis3d", "record", "-q", "-o", str(folder / "ours.json.gz")]
    memray = [sys.executable, "-m", "memray", "run", "-q", "-f", "-o", str(folder / "peer.bin"), str(program)]
    commands = {
        "no tracing": [sys.executable, str(program)],
        "memray": memray,
        "memray and calls": [*record, "--memory-engine", "memray", "--threads", "--", str(program)],
        "tracemalloc and calls": [*record, "--memory-engine", "tracemalloc", "--threads", "--", str(program)],
    }
    best = {name: min(run(command) for _ in range(RUNS)) for name, command in commands.items()}
    return [
        row(f"100,000 blocks: record, {ours}", best[ours][0], best[peer][0], peer)
        for ours in ("memray and calls", "tracemalloc and calls")
        for peer in ("no tracing", "memray")
    ]


def _measure(program: Path, folder: Path) -> dict[str, tuple[float, float]]:
    """Return the program's own and the process's seconds, the fastest of some runs in turn."""
    record = [sys.executable, "-m", "tracevis3d", "record", "-q", "-o", str(folder / "ours.json.gz")]
    commands = {"plain": [sys.executable, str(program)]}
    try:
        import viztracer  # noqa: F401
    except ImportError:
        pass
    else:
        commands["VizTracer"] = [
            *(sys.executable, "-m", "viztracer", "--quiet", "--ignore_c_function"),
            *("--tracer_entries", "2000000", "-o", str(folder / "peer.json"), "--", str(program)),
        ]
        commands["viztracer"] = [*record, "--threads", "--io", "--engine", "viztracer", "--", str(program)]
        commands["viztracer, no waits"] = [*record, "--engine", "viztracer", "--", str(program)]
    from tracevis3d.record.fast import MODULE

    if MODULE is not None:
        commands["fast"] = [*record, "--threads", "--io", "--engine", "fast", "--", str(program)]
        commands["fast, no waits"] = [*record, "--engine", "fast", "--", str(program)]
    commands["profile"] = [*record, "--threads", "--io", "--engine", "profile", "--", str(program)]
    if hasattr(sys, "monitoring"):
        commands["monitoring"] = [*record, "--threads", "--io", "--engine", "monitoring", "--", str(program)]
    best = {name: (float("inf"), float("inf")) for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            own, whole = run(command)
            best[name] = min(best[name][0], own), min(best[name][1], whole)
    return best


if __name__ == "__main__":
    print(json.dumps(rows(), indent=2))
