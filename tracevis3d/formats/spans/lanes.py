"""Spans as calls: each service is a process, and spans that overlap lie on lanes of their own.

A span is a call inside its parent where both are of one service, it ends within the parent, and nothing else
continues there; else it begins a stack on a free lane of its service, and an arrow leads from its parent to
it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.lay import spans as kernels
from ...trace.events import BEGIN, END
from ...trace.recording import Recording
from ..distinct import by_index, distinct

Ints = NDArray[np.int64]

_LATEST = 1 << 62


@dataclass(slots=True)
class Span:
    """A span as a reader of documents found it.

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


@dataclass(frozen=True)
class Spans:
    """Spans as columns.

    Attributes
    ----------
    start, end : int64 (n,)
        Nanoseconds; -1: unknown.
    key : int64 (n,)
        Its id, as a number from 0 on.
    parent : int64 (n,)
        The id of the span that began it; -1: none.
    service, name : int64 (n,)
        Indices into ``services`` and ``names``.
    link, target : int64 (links,)
        The span that a link is of, and the id that it follows from.
    noted, moment, text : int64 (moments,)
        The span that a moment is noted on, in order; nanoseconds, and the index into ``texts``.
    services, names, texts : list of str
    ids : int
        How many ids there are.
    named : callable
        From a span to its id as text.
    """

    start: Ints
    end: Ints
    key: Ints
    parent: Ints
    service: Ints
    name: Ints
    link: Ints
    target: Ints
    noted: Ints
    moment: Ints
    text: Ints
    services: list[str]
    names: list[str]
    texts: list[str]
    ids: int
    named: Callable[[int], str]


class _Numbers(dict[Hashable, int]):
    """What is asked for gets the next number."""

    def __missing__(self, key: Hashable) -> int:
        self[key] = len(self)
        return len(self) - 1


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
    ids, services, names, texts = _Numbers(), _Numbers(), _Numbers(), _Numbers()
    rows = [
        (
            # What is too large for a time is none.
            span.start if 0 <= span.start < _LATEST else -1,
            span.end if 0 <= span.end < _LATEST else -1,
            ids[span.trace, span.key],
            ids[span.trace, span.parent] if span.parent else -1,
            services[span.service],
            names[span.name],
        )
        for span in spans
    ]
    links = [(row, ids[link]) for row, span in enumerate(spans) for link in span.links]
    moments = [
        (row, time if 0 <= time < _LATEST else -1, texts[text])
        for row, span in enumerate(spans)
        for time, text in span.moments
    ]
    span, links_of, noted = (
        np.array(of, np.int64).reshape(-1, width).T.copy()
        for of, width in ((rows, 6), (links, 2), (moments, 3))
    )
    add_columns(
        Spans(
            start=span[0],
            end=span[1],
            key=span[2],
            parent=span[3],
            service=span[4],
            name=span[5],
            link=links_of[0],
            target=links_of[1],
            noted=noted[0],
            moment=noted[1],
            text=noted[2],
            services=[*map(str, services)],
            names=[*map(str, names)],
            texts=[*map(str, texts)],
            ids=len(ids),
            named=lambda row: spans[row].key,
        ),
        recording,
    )


def add_columns(spans: Spans, recording: Recording) -> None:
    """Add spans as calls, with arrows to those that other stacks began.

    Parameters
    ----------
    spans : Spans
    recording : Recording

    Raises
    ------
    ValueError
        If there is none with a time.
    """
    spans = _with_times(spans, recording)
    n = len(spans.start)
    # Of those with one id the first counts.
    row_of = np.full(spans.ids + 1, -1, np.int64)
    row_of[spans.key[::-1]] = np.arange(n)[::-1]
    again = np.flatnonzero(row_of[spans.key] != np.arange(n))
    if len(again):
        recording.problems.add("listed twice", f"span {spans.named(int(again[0]))}", len(again))
    row_of[-1] = -1
    parent = row_of[spans.parent]
    order = _order(spans, parent)
    laid = _laid(spans, parent, order)
    thread = _threads(spans, laid, order, recording)
    function = _functions(spans, order, recording)
    is_end = laid.events < 0
    row = np.where(is_end, ~laid.events, laid.events)
    recording.add_events(
        thread=thread[row],
        kind=np.where(is_end, END, BEGIN),
        function=function[row],
        time=np.where(is_end, spans.end[row], spans.start[row]),
    )
    free = order[laid.is_free[order]]
    has_parent = (parent[free] >= 0) & (parent[free] != free)
    unknown = free[~has_parent & (spans.parent[free] >= 0)]
    if len(unknown):
        first = f"the parent of span {spans.named(int(unknown[0]))}"
        recording.problems.add("unknown", first, len(unknown))
    target = row_of[spans.target]
    lost = spans.link[target < 0]
    if len(lost):
        recording.problems.add("unmatched flow", f"a link of span {spans.named(int(lost[0]))}", len(lost))
    begun = free[has_parent]
    for kind, source, to in (
        ("begins", parent[begun], begun),
        ("link", target[target >= 0], spans.link[target >= 0]),
    ):
        if len(to):
            # An arrow leaves where the span was when the other one began.
            recording.add_flows(
                name=np.full(len(to), recording.text("flows", kind)),
                source_thread=thread[source],
                start=np.minimum(np.maximum(spans.start[to], spans.start[source]), spans.end[source]),
                target_thread=thread[to],
                end=spans.start[to],
            )
    _add_moments(spans, thread, recording)


def _with_times(spans: Spans, recording: Recording) -> Spans:
    """Return the spans that have times, none of which ends before it begins."""
    has_times = (spans.start >= 0) & (spans.start < _LATEST) & (spans.end >= 0) & (spans.end < _LATEST)
    if not has_times.any():
        raise ValueError("it has no spans with times")
    if not has_times.all():
        bad = np.flatnonzero(~has_times)
        recording.problems.add("bad time", f"span {int(bad[0]) + 1:,}", len(bad))
    is_negative = has_times & (spans.end < spans.start)
    if is_negative.any():
        first = f"span {int(np.argmax(is_negative)) + 1:,}"
        recording.problems.add("negative duration", first, int(is_negative.sum()))
    end = np.where(is_negative, spans.start, spans.end)
    if has_times.all():
        return replace(spans, end=end)
    kept = np.flatnonzero(has_times)
    row = np.cumsum(has_times) - 1
    is_linked, is_noted = has_times[spans.link], has_times[spans.noted]
    named = spans.named
    return replace(
        spans,
        **{name: getattr(spans, name)[kept] for name in ("start", "key", "parent", "service", "name")},
        end=end[kept],
        link=row[spans.link[is_linked]],
        target=spans.target[is_linked],
        noted=row[spans.noted[is_noted]],
        moment=spans.moment[is_noted],
        text=spans.text[is_noted],
        named=lambda row: named(int(kept[row])),
    )


def _order(spans: Spans, parent: Ints) -> Ints:
    """Return the spans in the order of their begins, parents before children where both begin at once."""
    n = len(parent)
    order = np.argsort(spans.start, kind="stable")
    begins = spans.start[order]
    same = begins[1:] == begins[:-1]
    if same.any():
        depth = np.full(n, -1, np.int64)
        kernels.count_ancestors(parent, np.empty(n, np.int64), depth)
        places = np.flatnonzero(np.append(same, False) | np.append(False, same))
        rows = order[places]
        order[places] = rows[np.lexsort((-spans.end[rows], depth[rows], spans.start[rows]))]
    return order


@dataclass(frozen=True)
class _Laid:
    """Where spans lie: lane in its service, whether it is not inside another one (n,), and all events."""

    lane: Ints
    is_free: NDArray[np.bool_]
    events: Ints


def _laid(spans: Spans, parent: Ints, order: Ints) -> _Laid:
    n = len(order)
    by_service = order[by_index(spans.service[order], len(spans.services))]
    bounds = np.searchsorted(spans.service[by_service], np.arange(len(spans.services) + 1))
    lane, is_free = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    events = np.empty(2 * n, np.int64)
    is_short = (spans.start == spans.end).astype(np.int64)
    space: tuple[Any, ...] = (*np.empty((5, n), np.int64), events)
    columns = spans.start, spans.end, parent, spans.service
    kernels.lay_spans(by_service, bounds, *columns, lane, is_free, is_short, np.arange(n), *space)
    return _Laid(lane, is_free, events)


def _threads(spans: Spans, laid: _Laid, order: Ints, recording: Recording) -> NDArray[np.int32]:
    """Return the thread of each span."""
    lanes = int(laid.lane.max()) + 1
    keys, which = distinct(spans.service * lanes + laid.lane)
    number = np.empty(len(keys), np.int32)
    for one in _by_appearance(which[order], len(keys)).tolist():
        service, lane = spans.services[int(keys[one]) // lanes], int(keys[one]) % lanes
        recording.name_process(service, service)
        recording.name_thread(service, lane + 1, f"{service} {lane + 1}" if lane else service)
        number[one] = recording.thread(service, lane + 1)
    return number[which]


def _functions(spans: Spans, order: Ints, recording: Recording) -> NDArray[np.int32]:
    """Return the function of each span."""
    keys, which = distinct(spans.service * len(spans.names) + spans.name)
    number = np.empty(len(keys), np.int32)
    for one in _by_appearance(which[order], len(keys)).tolist():
        service = spans.services[int(keys[one]) // len(spans.names)]
        name = spans.names[int(keys[one]) % len(spans.names)]
        number[one] = recording.function(
            f"{service}: {name}", label=name, containers=(("category", service),)
        )
    return number[which]


def _by_appearance(which: Ints, count: int) -> Ints:
    """Return the indices in the order in which they appear."""
    first = np.empty(count, np.int64)
    first[which[::-1]] = np.arange(len(which))[::-1]
    return np.argsort(first)


def _add_moments(spans: Spans, thread: NDArray[np.int32], recording: Recording) -> None:
    is_good = (spans.moment >= 0) & (spans.moment < _LATEST)
    bad = np.flatnonzero(~is_good)
    if len(bad):
        recording.problems.add("bad time", f"the moment {spans.texts[int(spans.text[bad[0]])]}", len(bad))
    text = spans.text[is_good]
    if not len(text):
        return
    number = np.empty(len(spans.texts), np.int64)
    used, which = distinct(text)
    for one in _by_appearance(which, len(used)).tolist():
        number[used[one]] = recording.text("instants", spans.texts[int(used[one])])
    recording.add_instants(name=number[text], thread=thread[spans.noted[is_good]], time=spans.moment[is_good])
