"""Events to calls against a stack machine in plain Python, and against copying as many bytes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import best
from tests.support import synthetic
from tracevis3d.trace.build import build_calls
from tracevis3d.trace.events import BEGIN, COMPLETE, END, Events
from tracevis3d.trace.model import Calls
from tracevis3d.trace.problems import Problems

#: Bytes that an enter/exit pair, or a complete event, brings in, and that its call takes.
_IN_PAIR, _IN_COMPLETE, _OUT = 2 * 25, 25, 44


def rows() -> list[dict[str, Any]]:
    """Measure; rates in million events a second (a complete event is one event)."""
    calls, _, _ = synthetic.program(2_400_000)
    four, first, count = synthetic.program(2_400_000, threads=4)
    by_begins = complete_events(calls)
    by_ends = take(by_begins, np.lexsort((-calls.depth, calls.end)))
    pairs = pair_events(calls)
    streams = {
        "enter/exit in order, 1 thread": (pairs, 1, calls),
        "enter/exit in order, 4 threads interleaved": (interleave(four, first, count), 4, four),
        "complete events in the order of begins": (by_begins, 1, calls),
        "complete events in the order of ends": (by_ends, 1, calls),
        "enter/exit, one in a thousand out of order": (displace(pairs), 1, calls),
    }
    result = []
    for name, (events, threads, wanted) in streams.items():
        build = partial(build_calls, events, threads, Problems(), str, 0)
        build()
        built, ours = best(5, build)
        for column in ("function", "parent", "depth", "extent"):
            assert np.array_equal(getattr(built.calls, column), getattr(wanted, column)), (name, column)
        n = len(events)
        moved = n * _IN_COMPLETE if (events.kind == COMPLETE).all() else n * _IN_PAIR // 2
        bytes_ = np.ones((moved + len(calls) * _OUT) // 16, np.uint64)
        _, copy = best(5, partial(np.copyto, np.empty_like(bytes_), bytes_))
        result.append(rate(f"calls from events: {name}", n, ours, copy, "copying the bytes in and out"))
        if name == "enter/exit in order, 1 thread":
            (parent, _), plain = best(1, partial(plain_python, events))
            assert parent == wanted.parent.tolist()
            result.append(rate(f"calls from events: {name}", n, ours, plain, "Python lists"))
    return result


def rate(name: str, events: int, ours: float, peer: float, peer_name: str) -> dict[str, Any]:
    """Return a row from times in milliseconds."""
    return {
        "name": name,
        "ours": events / ours / 1e3,
        "peer": events / peer / 1e3,
        "peer_name": peer_name,
        "unit": "Mevents/s",
        "ratio": peer / ours,
    }


def complete_events(calls: Calls) -> Events:
    """Return the calls as complete events, in pre-order."""
    n = len(calls)
    kind = np.full(n, COMPLETE, np.uint8)
    return Events(np.zeros(n, np.int32), kind, calls.function, calls.start, calls.end)


def pair_events(calls: Calls) -> Events:
    """Return the calls of one thread as enter and exit events in the order in which they happen."""
    n = len(calls)
    at = np.arange(n)
    # Before call i is entered, i were entered and all but its depth - 1 callers left.
    enter = 2 * at - (calls.depth - 1)
    leave = enter + 2 * calls.extent - 1
    kind, function, time = np.empty(2 * n, np.uint8), np.empty(2 * n, np.int32), np.empty(2 * n, np.int64)
    for place, what, when in ((enter, BEGIN, calls.start), (leave, END, calls.end)):
        kind[place], function[place], time[place] = what, calls.function, when
    return Events(np.zeros(2 * n, np.int32), kind, function, time, time)


def interleave(calls: Calls, first: NDArray[np.int64], count: NDArray[np.int64]) -> Events:
    """Return enter and exit events of several threads in the order of time."""
    parts = []
    for t, (low, n) in enumerate(zip(first.tolist(), count.tolist())):
        names = ("function", "depth", "start", "end", "extent")
        own = pair_events(Calls(**{name: getattr(calls, name)[low : low + n] for name in names}))
        parts.append(Events(np.full(2 * n, t, np.int32), own.kind, own.function, own.time, own.end))
    together = Events(*(np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS))
    return take(together, np.argsort(together.time, kind="stable"))


_COLUMNS = ("thread", "kind", "function", "time", "end")


def take(events: Events, order: NDArray[np.intp]) -> Events:
    """Return the events in another order."""
    return Events(*(getattr(events, name)[order] for name in _COLUMNS))


def displace(events: Events) -> Events:
    """Write one event in a thousand 40 places later, as a tracer with buffers does."""
    n = len(events)
    # Times of their own, so that the order of equal times is not lost.
    time = np.arange(n)
    key = np.arange(n)
    key[::1000] += 40
    return take(
        Events(events.thread, events.kind, events.function, time, time), np.argsort(key, kind="stable")
    )


def plain_python(events: Events) -> tuple[list[int], list[int]]:
    """Return parent and extent of each call, by a stack machine on lists."""
    parent: list[int] = []
    extent: list[int] = []
    depth: list[int] = []
    start: list[int] = []
    end: list[int] = []
    called: list[int] = []
    stack = [-1]
    for kind, function, time in zip(events.kind.tolist(), events.function.tolist(), events.time.tolist()):
        if kind == BEGIN:
            parent.append(stack[-1])
            depth.append(len(stack))
            stack.append(len(called))
            called.append(function)
            start.append(time)
            end.append(0)
            extent.append(0)
        else:
            call = stack.pop()
            end[call] = time
            extent[call] = len(called) - call
    return parent, extent
