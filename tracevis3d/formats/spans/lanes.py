"""Spans as calls: each service is a process, and spans that overlap lie on lanes of their own.

A span is a call inside its parent where both are of one service, it ends within the parent, and nothing else
continues there; else it begins a stack on a free lane of its service, and an arrow leads from its parent to
it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...trace.events import BEGIN, END
from ...trace.recording import Recording

_LATEST = 1 << 62


@dataclass(slots=True)
class Span:
    """A span as a reader found it.

    Attributes
    ----------
    trace, key, parent : str
        Ids of the trace, the span and the span that began it; the last may be empty.
    service, name : str
    start, end : int
        Nanoseconds.
    links : list of (str, str)
        Ids of trace and span that it follows from.
    moments : list of (int, str)
        Nanoseconds and name of what is noted on it.
    """

    trace: str
    key: str
    parent: str
    service: str
    name: str
    start: int
    end: int
    links: list[tuple[str, str]] = field(default_factory=list)
    moments: list[tuple[int, str]] = field(default_factory=list)


def add_spans(spans: list[Span], recording: Recording) -> None:
    """Add spans as calls, with arrows to those that other stacks began.

    Parameters
    ----------
    spans : list of Span
    recording : Recording

    Raises
    ------
    ValueError
        If there is none with a time.
    """
    good: list[Span] = []
    for number, span in enumerate(spans, 1):
        if not (0 <= span.start < _LATEST and 0 <= span.end < _LATEST):
            recording.problems.add("bad time", f"span {number:,}")
        elif span.end < span.start:
            recording.problems.add("negative duration", f"span {number:,}")
            good.append(span)
            span.end = span.start
        else:
            good.append(span)
    if not good:
        raise ValueError("it has no spans with times")
    known: dict[tuple[str, str], int] = {}
    for row, span in enumerate(good):
        if known.setdefault((span.trace, span.key), row) != row:
            recording.problems.add("listed twice", f"span {span.key}")
    above = [known.get((span.trace, span.parent), -1) if span.parent else -1 for span in good]
    start, end = (np.array([getattr(span, name) for span in good], np.int64) for name in ("start", "end"))
    # Parents before children where both begin at once.
    order = np.lexsort((-end, np.array(_depths(above)), start)).tolist()
    lanes = _Lanes(good, recording)
    arrows: list[tuple[str, int, int]] = []
    for row in order:
        parent = above[row]
        if parent >= 0 and lanes.put_inside(row, parent):
            continue
        lanes.put_free(row)
        if parent >= 0 and parent != row:
            arrows.append(("begins", parent, row))
        elif good[row].parent:
            recording.problems.add("unknown", f"the parent of span {good[row].key}")
    threads = lanes.finish(start, end)
    for row, span in enumerate(good):
        for link in span.links:
            target = known.get(link, -1)
            if target < 0:
                recording.problems.add("unmatched flow", f"a link of span {span.key}")
            else:
                arrows.append(("link", target, row))
    _add_arrows(arrows, good, threads, recording)
    moments = [(threads[row], time, text) for row, span in enumerate(good) for time, text in span.moments]
    late = [text for _, time, text in moments if not 0 <= time < _LATEST]
    recording.problems.add("bad time", f"the moment {late[0]}" if late else "", len(late))
    moments = [moment for moment in moments if 0 <= moment[1] < _LATEST]
    if moments:
        recording.add_instants(
            name=[recording.text("instants", text) for *_, text in moments],
            thread=[thread for thread, *_ in moments],
            time=[time for _, time, _ in moments],
        )


def _depths(parent: list[int]) -> list[int]:
    """Return how many ancestors each span has; those in a circle end there."""
    depth = [-1] * len(parent)
    for row in range(len(parent)):
        path = []
        at = row
        while at >= 0 and depth[at] < 0:
            depth[at] = 0
            path.append(at)
            at = parent[at]
        above = depth[at] if at >= 0 and at not in path[-1:] else -1
        for one in reversed(path):
            above += 1
            depth[one] = above
    return depth


class _Lanes:
    """The lanes of all services, and the events on them."""

    def __init__(self, spans: list[Span], recording: Recording) -> None:
        self._spans = spans
        self._recording = recording
        self._lanes: dict[str, list[list[int]]] = {}
        #: Lanes on which something continues: until when, whether it takes no time, the number; and others.
        self._busy: dict[str, list[tuple[int, bool, int]]] = {}
        self._free: dict[str, list[int]] = {}
        self._lane = [-1] * len(spans)
        self._thread = [0] * len(spans)
        #: Rows that begin, and ``~row`` of those that end.
        self._events: list[int] = []
        self._threads: dict[tuple[str, int], int] = {}
        #: By service and name, and of each span that was put.
        self._functions: dict[tuple[str, str], int] = {}
        self._function = [0] * len(spans)

    def put_inside(self, row: int, parent: int) -> bool:
        """Put a span inside its parent; False if it has to go elsewhere."""
        if self._lane[parent] < 0:
            return False
        span, outer = self._spans[row], self._spans[parent]
        if outer.service != span.service or span.end > outer.end:
            return False
        stack = self._lanes[span.service][self._lane[parent]]
        self._end(stack, span.start)
        if not stack or stack[-1] != parent:
            return False
        self._put(row, self._lane[parent], stack)
        return True

    def put_free(self, row: int) -> None:
        """Put a span on a lane on which nothing continues."""
        span = self._spans[row]
        lanes = self._lanes.setdefault(span.service, [])
        busy = self._busy.setdefault(span.service, [])
        free = self._free.setdefault(span.service, [])
        # Those that have ended before, but not at once, with when they began.
        while busy and (busy[0][0] < span.start or (busy[0][0] == span.start and not busy[0][1])):
            heapq.heappush(free, heapq.heappop(busy)[2])
        taken = []
        number = len(lanes)
        while free:
            lane = heapq.heappop(free)
            self._end(lanes[lane], span.start)
            if not lanes[lane]:
                number = lane
                break
            taken.append(lane)
        for lane in taken:
            heapq.heappush(free, lane)
        if number == len(lanes):
            lanes.append([])
        heapq.heappush(busy, (span.end, span.start == span.end, number))
        self._put(row, number, lanes[number])

    def _put(self, row: int, lane: int, stack: list[int]) -> None:
        span = self._spans[row]
        thread = self._threads.get((span.service, lane), -1)
        if thread < 0:
            thread = self._threads[span.service, lane] = self._thread_of(span.service, lane)
        function = self._functions.get((span.service, span.name), -1)
        if function < 0:
            function = self._functions[span.service, span.name] = self._recording.function(
                f"{span.service}: {span.name}", label=span.name, containers=(("category", span.service),)
            )
        self._lane[row], self._thread[row], self._function[row] = lane, thread, function
        stack.append(row)
        self._events.append(row)

    def _thread_of(self, service: str, lane: int) -> int:
        self._recording.name_process(service, service)
        self._recording.name_thread(service, lane + 1, f"{service} {lane + 1}" if lane else service)
        return self._recording.thread(service, lane + 1)

    def _end(self, stack: list[int], now: int) -> None:
        while stack:
            span = self._spans[stack[-1]]
            if span.end > now or span.start == span.end == now:
                return
            self._events.append(~stack.pop())

    def finish(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> list[int]:
        """End what is open and add all events; return the thread of each span."""
        for lanes in self._lanes.values():
            for stack in lanes:
                self._events += [~row for row in reversed(stack)]
        events = np.array(self._events, np.int64)
        is_end = events < 0
        row = np.where(is_end, ~events, events)
        self._recording.add_events(
            thread=np.array(self._thread, np.int32)[row],
            kind=np.where(is_end, END, BEGIN),
            function=np.array(self._function, np.int32)[row],
            time=np.where(is_end, end[row], start[row]),
        )
        return self._thread


def _add_arrows(
    arrows: list[tuple[str, int, int]], spans: list[Span], threads: list[int], recording: Recording
) -> None:
    """Add arrows from where a span was when another began to that one's begin."""
    if not arrows:
        return
    recording.add_flows(
        name=[recording.text("flows", kind) for kind, _, _ in arrows],
        source_thread=[threads[source] for _, source, _ in arrows],
        start=[
            min(max(spans[target].start, spans[source].start), spans[source].end)
            for _, source, target in arrows
        ],
        target_thread=[threads[target] for _, _, target in arrows],
        end=[spans[target].start for _, _, target in arrows],
    )
