"""Small traces made by random walks up and down a call stack, for tests of views."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracevis3d.trace.events import BEGIN, END
from tracevis3d.trace.model import ALLOC, Source, Trace
from tracevis3d.trace.recording import Recording


@dataclass(frozen=True)
class Split:
    """What a name such as ``m1.f3`` says."""

    label: str
    containers: tuple[tuple[str, str], ...]
    file: str = ""
    line: int = 0


def split(name: str) -> Split:
    module, _, label = name.rpartition(".")
    return Split(label, (("module", module),) if module else ())


def walked_trace(
    seed: int,
    *,
    steps: int = 200,
    threads: int = 3,
    functions: int = 12,
    modules: int = 4,
    longest: int = 1000,
    allocations: int = 0,
) -> Trace:
    """Return a trace in which each thread goes ``steps`` times one call down or up, at random.

    Some steps take no time, some calls none; threads start at different times.
    """
    rng = np.random.default_rng(seed)
    recording = Recording()
    names = [f"m{i % modules}.f{i}" if modules else f"f{i}" for i in range(functions)]
    number = [recording.function(name) for name in names]
    last = 1
    for t in range(threads):
        thread = recording.thread(1 + t // 2, 100 + t)
        recording.name_thread(1 + t // 2, 100 + t, f"worker-{t}")
        time, open_calls = int(rng.integers(0, longest)), []
        kinds, called, times = [], [], []
        for _ in range(steps):
            time += int(rng.integers(0, longest)) * int(rng.random() < 0.8)
            up = open_calls and rng.random() < 0.5
            kinds.append(END if up else BEGIN)
            called.append(open_calls.pop() if up else number[int(rng.integers(functions))])
            if not up:
                open_calls.append(called[-1])
            times.append(time)
        while open_calls:
            time += int(rng.integers(0, longest))
            kinds.append(END)
            called.append(open_calls.pop())
            times.append(time)
        last = max(last, time)
        recording.add_events(thread=[thread] * len(kinds), kind=kinds, function=called, time=times)
    if allocations:
        recording.add_memory(
            thread=rng.integers(0, threads, allocations),
            kind=[ALLOC] * allocations,
            time=np.sort(rng.integers(0, last, allocations)),
            address=np.arange(allocations) * 64,
            size=rng.integers(1, 4096, allocations),
        )
    return recording.finish(Source(path="some/walk.json"), split, lambda event: f"event {event}")
