"""What it costs a program to be published while it runs: without a viewer, and with one that takes all.

Python programs that do nothing but call, lock or allocate, and one in C that does nothing but allocate. Each
reports how much processor time its own work took, as other work may share the machine.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.record.recorded_programs import row, run, write

RUNS = 2
ENDPOINT = "ipc://{folder}/feed"

PROGRAMS = {
    "500,000 calls": """
def leaf(x): return x + 1
def step(x): return leaf(x) + leaf(x)
def work():
    for i in range(166_667): step(i)
""",
    "50,000 with lock": """
import threading
lock = threading.Lock()
def work():
    total = 0
    for i in range(50_000):
        with lock: total += i
""",
    "200,000 blocks": """
def work():
    kept = []
    for i in range(200_000):
        kept.append(bytes(100))
        if i % 4: kept.pop()
""",
}
_OPTIONS = {"500,000 calls": (), "50,000 with lock": ("--threads",), "200,000 blocks": ("--memory",)}
_ALLOCATING = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static void *kept[1024];
__attribute__((noinline)) static void take(unsigned at, size_t size)
{
    free(kept[at]);
    kept[at] = malloc(size);
}
int main(void)
{
    struct timespec a, b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (unsigned i = 0; i < 500000; i++) take(i * 2654435761u >> 22, 16 + i % 500);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    printf("%f\n", (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
    return 0;
}
"""


def rows() -> list[dict[str, Any]]:
    """Measure: seconds of processor time of the program's own work."""
    result = []
    with tempfile.TemporaryDirectory() as folder:
        for name, body in PROGRAMS.items():
            program = write(Path(folder, "program.py"), body, "thread_time")
            result += _compare(name, [sys.executable, str(program)], [str(program)], _OPTIONS[name], folder)
        if shutil.which("cc"):
            source, program = Path(folder, "program.c"), Path(folder, "program")
            source.write_text(_ALLOCATING)
            subprocess.run(["cc", "-O1", "-fno-builtin", "-o", program, source], check=True)
            name = "500,000 times malloc and free in C"
            peers = {}
            if shutil.which("heaptrack"):
                peers["heaptrack"] = ["heaptrack", "-o", f"{folder}/heaptrack", str(program)]
            result += _compare(name, [str(program)], [str(program)], ("--native",), folder, peers)
            result += _compare(
                f"{name}, accesses", [str(program)], [str(program)], ("--native", "--accesses"), folder
            )
    return result


def _compare(
    name: str,
    plain: list[str],
    program: list[str],
    options: tuple[str, ...],
    folder: str,
    peers: dict[str, list[str]] | None = None,
) -> list[dict[str, Any]]:
    record = [sys.executable, "-m", "tracevis3d", "record", "-q", *options]
    if "--native" not in options:
        record += ["--engine", "monitoring" if hasattr(sys, "monitoring") else "profile"]
    endpoint = ENDPOINT.format(folder=folder)
    commands = {
        "alone": plain,
        **(peers or {}),
        "to a file": [*record, "-o", f"{folder}/out.json.gz", "--", *program],
        "live, not watched": [*record, "--live", endpoint, "--", *program],
        "live, watched": [*record, "--live", endpoint, "--", *program],
    }
    best: dict[str, float] = dict.fromkeys(commands, float("inf"))
    lost = 0.0
    for _ in range(RUNS):
        for case, command in commands.items():
            with _watching(endpoint if case.endswith("watched") else "") as watcher:
                own, _ = run(command)
            best[case] = min(best[case], own)
            lost = max(lost, watcher[0])
    found = []
    for case in commands:
        if case != "alone":
            found.append(row(f"{name}: {case}", best[case], best["alone"], "alone"))
    for peer in peers or {}:
        found.append(row(f"{name}: live, watched", best["live, watched"], best[peer], peer))
    found.append(row(f"{name}: lost on the way, share", lost, 1.0, "all", ""))
    return found


@contextmanager
def _watching(endpoint: str) -> Iterator[list[float]]:
    """Watch an endpoint meanwhile; gives the share of rows that were lost."""
    result = [0.0]
    if not endpoint:
        yield result
        return
    from tracevis3d.live.subscriber import Subscriber
    from tracevis3d.live.watch import watch

    with Subscriber(endpoint) as subscriber:
        thread = threading.Thread(target=watch, args=(subscriber,), kwargs={"seconds": 60})
        thread.start()
        yield result
        thread.join()
        result[0] = subscriber.lost / max(subscriber.lost + subscriber.rows, 1)


if __name__ == "__main__":
    print(json.dumps(rows(), indent=2))
