"""A recorded trace as a live feed, at the speed that it ran or faster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..trace.model import STILL, WAIT, Trace
from . import protocol as p
from .publisher import Publisher

#: Seconds between two batches.
STEP_S = 0.02
#: Nanoseconds after which a wait that has not ended is reported, as a program that runs does.
_OPEN_NS = 50_000_000
#: Maximum number of reports that a wait lasts.
_MOST_REPORTS = 600


@dataclass(frozen=True, eq=False)
class Stream:
    """Rows of a table in the order of their times.

    Attributes
    ----------
    table : str
        A key of :data:`.protocol.TABLES`.
    time : int64 (n,)
        When each row is published, in nanoseconds from the trace's origin; not falling.
    columns : dict of str to array (n,)
        As :meth:`.Publisher.put` takes them.
    """

    table: str
    time: NDArray[np.int64]
    columns: dict[str, NDArray[Any]]


def replay(
    trace: Trace,
    publisher: Publisher,
    speed: float = 1.0,
    *,
    stop: Callable[[], bool] = lambda: False,
    report: Callable[[float], None] = lambda share: None,
) -> int:
    """Publish a trace.

    Parameters
    ----------
    trace : Trace
    publisher : Publisher
    speed : float
        How much faster than it ran; ``inf``: as fast as it is taken.
    stop : callable
        Called between batches; returns whether to stop.
    report : callable
        Called with the share that is done, 0 to 1.

    Returns
    -------
    int
        Rows that were published.
    """
    streams = list(_streams(trace, publisher))
    begun, at, sent = time.monotonic(), 0, 0
    span = max(trace.span_ns, 1)
    place = [0] * len(streams)
    while at <= span and not stop():
        if np.isinf(speed):
            until = at + max(span // 200, 1)
        else:
            until = int((time.monotonic() - begun) * 1e9 * speed)
        for k, stream in enumerate(streams):
            high = int(np.searchsorted(stream.time, until, "right"))
            if high > place[k]:
                part = slice(place[k], high)
                rows = {name: column[part] for name, column in stream.columns.items()}
                while not publisher.put(stream.table, **rows):
                    # A file can wait: rows that a program would drop wait here.
                    if stop():
                        return sent
                    time.sleep(0.002)
                sent += high - place[k]
                place[k] = high
        at = until + 1
        report(min(at / span, 1.0))
        if not np.isinf(speed):
            time.sleep(STEP_S)
    return sent


def _streams(trace: Trace, publisher: Publisher) -> Iterator[Stream]:
    calls, threads = trace.calls, trace.threads
    function = np.array(
        [publisher.number("functions", name) for name in trace.functions.name] or [0], np.uint32
    )
    thread = np.array(
        [
            publisher.number("threads", (threads.process[t], threads.tid[t], threads.name[t]))
            for t in range(len(threads))
        ]
        or [0],
        np.uint32,
    )
    for t in range(len(threads)):
        low, n = int(threads.first[t]), int(threads.count[t])
        if not n:
            continue
        part = slice(low, low + n)
        begin = 2 * np.arange(n) - (np.asarray(calls.depth[part]) - 1)
        end = begin + 2 * np.asarray(calls.extent[part]) - 1
        kind, when = np.empty(2 * n, np.uint8), np.empty(2 * n, np.int64)
        which = np.empty(2 * n, np.uint32)
        kind[begin], kind[end] = p.BEGIN, p.END
        when[begin], when[end] = calls.start[part], calls.end[part]
        which[begin] = which[end] = function[calls.function[part]]
        rows: dict[str, Any] = {
            "kind": kind, "thread": np.full(2 * n, thread[t]), "function": which, "time": when,
        }  # fmt: skip
        yield Stream("calls", when, rows)
    yield from streams_beside_calls(trace, publisher, thread)


def streams_beside_calls(trace: Trace, publisher: Publisher, thread: NDArray[np.uint32]) -> Iterator[Stream]:
    """Yield the rows of all tables but calls.

    Parameters
    ----------
    trace : Trace
    publisher : Publisher
        Numbers the names.
    thread : uint32 (threads,)
        The publisher's number of each thread.

    Yields
    ------
    Stream
        With times in nanoseconds from the trace's origin.
    """
    if len(trace.sync):
        yield from _sync(trace, publisher, thread)
    if len(trace.memory):
        memory = trace.memory
        function = np.array(
            [publisher.number("functions", name) for name in trace.functions.name] or [0], np.uint32
        )
        columns: dict[str, Any] = {
            "kind": memory.kind, "thread": thread[memory.thread], "time": memory.time,
            "address": memory.address, "size": memory.size, "stack": _stacks(trace, publisher, function),
        }  # fmt: skip
        yield Stream("memory", np.asarray(memory.time), columns)
    if len(trace.counters):
        yield from _counters(trace, publisher)


def _stacks(trace: Trace, publisher: Publisher, function: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Announce the frames; return that of each row of memory, -1 where it has none."""
    stacks = trace.stacks
    known: list[int] = []
    columns = function[stacks.function].tolist(), stacks.parent.tolist(), stacks.line.tolist()
    for which, parent, line in zip(*columns, strict=True):
        known.append(publisher.number("frames", (which, known[parent] if parent >= 0 else -1, line)))
    if not len(trace.memory.stack):
        return np.full(len(trace.memory), -1, np.int32)
    return np.array([*known, -1], np.int32)[trace.memory.stack]


def _sync(trace: Trace, publisher: Publisher, thread: NDArray[np.uint32]) -> Iterator[Stream]:
    sync = trace.sync
    order = np.argsort(sync.end, kind="stable")
    operation = np.array([publisher.number("operations", name) for name in sync.names] or [0], np.uint32)
    known = np.array([publisher.number("objects", name) for name in sync.objects] or [0], np.int32)
    # The protocol has one object for each row: the first.
    has = sync.first[1:] > sync.first[:-1]
    at = np.minimum(sync.first[:-1], max(len(sync.object) - 1, 0))
    first = known[sync.object[at]] if len(sync.object) else np.zeros(len(sync), np.int32)
    columns: dict[str, Any] = {
        "kind": sync.kind, "thread": thread[sync.thread], "operation": operation[sync.name],
        "object": np.where(has, first, -1), "start": sync.start, "end": sync.end,
    }  # fmt: skip
    never = sync.contended == STILL
    lasts = np.flatnonzero((sync.kind == WAIT) & (never | (sync.end - sync.start > _OPEN_NS)))
    reported = np.asarray(sync.start)[lasts] + _OPEN_NS
    if never.any():
        # One is reported again and again: this says that all others last, too.
        longest = int(np.argmax(np.where(never, sync.end - sync.start, -1)))
        step = max(2 * _OPEN_NS, int(sync.end[longest] - sync.start[longest]) // _MOST_REPORTS)
        again = np.arange(int(sync.start[longest]) + _OPEN_NS + step, int(sync.end[longest]), step)
        lasts, reported = np.append(lasts, np.full(len(again), longest)), np.append(reported, again)
    in_order = np.argsort(reported, kind="stable")
    lasts, reported = lasts[in_order], np.minimum(reported[in_order], trace.span_ns)
    open_waits = {name: columns[name][lasts] for name in ("thread", "operation", "object", "start")}
    holder = np.asarray(sync.holder)[lasts] if len(sync.holder) else np.full(len(lasts), -1)
    open_waits["holder"] = np.where(holder >= 0, thread[holder].astype(np.int64), -1)
    open_waits["until"] = np.maximum(reported, open_waits["start"])
    yield Stream("waiting", reported, open_waits)
    order = order[~never[order]]
    yield Stream("sync", np.asarray(sync.end)[order], {n: np.asarray(c)[order] for n, c in columns.items()})


def _counters(trace: Trace, publisher: Publisher) -> Iterator[Stream]:
    counters = trace.counters
    numbers = np.array([publisher.number("counters", name) for name in counters.name], np.uint32)
    series = np.repeat(numbers, np.diff(counters.first))
    order = np.argsort(counters.time, kind="stable")
    time, value = np.asarray(counters.time)[order], np.asarray(counters.value)[order]
    yield Stream("counters", time, {"series": series[order], "time": time, "value": value})
