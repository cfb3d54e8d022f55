"""OpenTelemetry's traces (OTLP): JSON, lines of JSON as the collector writes them, and protobuf.

Source: https://github.com/open-telemetry/opentelemetry-proto, opentelemetry/proto/trace/v1/trace.proto
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Unreadable
from ...kernels.intern import InternedNames
from ...progress import Progress, part
from ...trace.problems import Problems
from ...trace.recording import Recording
from .. import registry
from ..distinct import numbered
from ..profiles.documents import fields_of, finish, items_of, read_json, text_of
from ..text import utf8
from ..unpack import problem_of, unpack_file
from ..wire import Messages, Taken
from .lanes import Span, Spans, add_columns, add_spans

if TYPE_CHECKING:
    from ...trace.model import Trace

_ERROR = (2, "STATUS_CODE_ERROR")
_UNKNOWN = "unknown service"
_TITLE = "OpenTelemetry trace"
#: Room for ids at first; a power of two.
_MOST_ROOM = 1 << 20

Ints = NDArray[np.int64]


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are OpenTelemetry's.

    Parameters
    ----------
    head : bytes
        The first bytes, unpacked.
    name : str
        The file's, in lower case.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    if head[:1] == b"\n":
        return registry.SURE if _is_wire(head) else registry.NO
    text = bytes(utf8(head)).lstrip()
    return registry.SURE if text.startswith(b"{") and b'"resourceSpans"' in text[:4096] else registry.NO


def _is_wire(head: bytes) -> bool:
    """Return whether the first span inside has ids of 16 and 8 bytes."""
    rows = Messages.of(head, Problems())
    if not len(rows.number) or (rows.number[:-1] != 1).any():
        # A message that is cut at the head's end is not among its rows: look inside all the same.
        return False
    inner = rows
    for number in (1, 2, 2):
        inner, _ = inner.inner(number)
        if not len(inner) or not set(inner.number.tolist()) <= set(range(1, 17)):
            return False
    first = [inner.size[row] for number in (1, 2) for row in inner.rows(number, is_varint=False)[:1]]
    return first == [16, 8]


def read(path: Path, progress: Progress) -> Trace:
    """Read spans as calls: services are processes, links are arrows, events are moments.

    Parameters
    ----------
    path : Path
        The file.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If it holds no span.
    """
    recording = Recording()
    unpacked = unpack_file(path, part(progress, 0, 0.2))
    if bytes(unpacked.data[:1]) == b"\n" and _is_wire(bytes(unpacked.data[: registry.HEAD])):
        if unpacked.damage:
            recording.problems.add(problem_of(unpacked.damage), unpacked.damage)
        columns = _wire_spans(unpacked.data, recording.problems)
        return finish(path, lambda: add_columns(columns, recording), recording, _TITLE, progress)
    spans: list[Span] = []
    for value in _documents(path, bytes(utf8(unpacked.data)), recording.problems, progress):
        spans += _json_spans(value, recording.problems)
    return finish(path, lambda: add_spans(spans, recording), recording, _TITLE, progress)


def _documents(path: Path, text: bytes, problems: Problems, progress: Progress) -> Iterator[Any]:
    """Yield the objects of a file: one, or one a line."""
    import msgspec

    rows = [row for row in text.split(b"\n") if row.strip()]
    if len(rows) < 2 or not rows[1].lstrip().startswith(b'{"resource'):
        yield read_json(path, problems, _TITLE, progress)
        return
    good = 0
    for number, row in enumerate(rows, 1):
        try:
            yield msgspec.json.decode(row)
            good += 1
        except (msgspec.DecodeError, UnicodeDecodeError):
            problems.add("malformed", f"line {number:,}")
    if not good:
        raise Unreadable(f"{path}: it has no line of JSON")


def _json_spans(value: Any, problems: Problems) -> list[Span]:
    found: list[Span] = []
    for group in items_of(fields_of(value).get("resourceSpans")):
        group = fields_of(group)
        service = _service(items_of(fields_of(group.get("resource")).get("attributes")))
        scopes = group.get("scopeSpans", group.get("instrumentationLibrarySpans", group.get("librarySpans")))
        for scope in items_of(scopes):
            for said in items_of(fields_of(scope).get("spans")):
                said = fields_of(said)
                if not said:
                    problems.add("malformed", "a span that is not an object")
                    continue
                found.append(_json_span(said, service))
    return found


def _json_span(said: dict[str, Any], service: str) -> Span:
    start = _time(said.get("startTimeUnixNano"))
    span = Span(
        trace=text_of(said.get("traceId")),
        key=text_of(said.get("spanId")),
        parent=text_of(said.get("parentSpanId")),
        service=service,
        name=text_of(said.get("name"), "(unnamed)"),
        start=start,
        end=_time(said.get("endTimeUnixNano")),
    )
    for link in map(fields_of, items_of(said.get("links"))):
        span.links.append((text_of(link.get("traceId")), text_of(link.get("spanId"))))
    for event in map(fields_of, items_of(said.get("events"))):
        time = _time(event.get("timeUnixNano"))
        span.moments.append((time if time >= 0 else start, text_of(event.get("name"), "(unnamed)")))
    status = fields_of(said.get("status"))
    if status.get("code") in _ERROR:
        message = text_of(status.get("message"))
        span.moments.append((max(span.end, span.start, 0), f"error: {message}" if message else "error"))
    return span


def _service(attributes: list[Any]) -> str:
    for attribute in map(fields_of, attributes):
        if attribute.get("key") == "service.name":
            return text_of(fields_of(attribute.get("value")).get("stringValue"), _UNKNOWN)
    return _UNKNOWN


def _time(value: Any) -> int:
    """Return nanoseconds that are written as a number or a text; -1 for everything else."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _wire_spans(data: memoryview, problems: Problems) -> Spans:
    # Always read-only, like a mapped file: kernels are compiled for one type.
    column = np.frombuffer(data.toreadonly(), np.uint8)
    whole = Taken(column, np.zeros(1, np.int64), np.array([len(column)]), problems, lists=(1,))
    first, stop, _ = whole.items(1)
    groups = Taken(column, first, stop, problems, lists=(1, 2))
    service, services = _services(column, groups, len(first), problems)
    first, stop, group = groups.items(2)
    first, stop, scope = Taken(column, first, stop, problems, lists=(2,)).items(2)
    spans = Taken(column, first, stop, problems, eights=(7, 8), places=(1, 2, 4, 5), lists=(11, 13, 15))
    name, names = _texts(column, *spans.place(5), "(unnamed)")
    noted, moment, text, texts = _moments(column, spans, problems)
    first, stop, link = spans.items(13)
    links = Taken(column, first, stop, problems, places=(1, 2))
    trace, key, parent, of_link, to = _numbered(
        column, *(spans.place(number) for number in (1, 2, 4)), *(links.place(number) for number in (1, 2))
    )
    n, begin = len(trace), spans.place(2)
    # An id is one within its trace.
    pairs = np.concatenate((trace, trace, of_link)) << 32 | np.concatenate((key, parent, to))
    known, index = numbered(pairs)
    number = index.astype(np.int64)
    low, high = spans.place(4)
    return Spans(
        start=spans.number(7, -1),
        end=spans.number(8, -1),
        key=number[:n],
        parent=np.where(high > low, number[n : 2 * n], -1),
        service=service[group[scope]],
        name=name,
        link=link,
        target=number[2 * n :],
        noted=noted,
        moment=moment,
        text=text,
        services=services,
        names=names,
        texts=texts,
        ids=len(known),
        named=lambda row: column[begin[0][row] : begin[1][row]].tobytes().hex(),
    )


def _services(
    data: NDArray[np.uint8], groups: Taken, count: int, problems: Problems
) -> tuple[Ints, list[str]]:
    """Return the index of the service of each group, and what they are called."""
    first, stop, group = groups.items(1)
    first, stop, resource = Taken(data, first, stop, problems, lists=(1,)).items(1)
    attributes = Taken(data, first, stop, problems, places=(1, 2))
    key, keys = _texts(data, *attributes.place(1), "")
    # Of several the last one counts.
    said = np.flatnonzero(np.array([name == "service.name" for name in keys] or [False])[key])
    low, high = (column[said] for column in attributes.place(2))
    values = Taken(data, low, high, problems, places=(1,))
    text, texts = _texts(data, *values.place(1), _UNKNOWN)
    services = list(dict.fromkeys([*texts, _UNKNOWN]))
    service = np.full(count, services.index(_UNKNOWN), np.int64)
    service[group[resource[said]]] = text
    return service, services


def _moments(data: NDArray[np.uint8], spans: Taken, problems: Problems) -> tuple[Ints, Ints, Ints, list[str]]:
    """Return the span, the time and the text of each event and failure, and the texts."""
    first, stop, of_event = spans.items(11)
    events = Taken(data, first, stop, problems, eights=(1,), places=(2,))
    text, texts = _texts(data, *events.place(2), "(unnamed)")
    start, end = spans.number(7, -1), spans.number(8, -1)
    time = events.number(1, -1)
    first, stop, of_status = spans.items(15)
    status = Taken(data, first, stop, problems, numbers=(3,), places=(2,))
    failed = np.flatnonzero(status.number(3) == _ERROR[0])
    low, high = status.place(2)
    said, messages = _texts(data, low[failed], high[failed], "")
    of_status = of_status[failed]
    noted = np.concatenate((of_event, of_status))
    moment = np.concatenate(
        (
            np.where(time >= 0, time, start[of_event]),
            np.maximum(np.maximum(end, start), 0)[of_status],
        )
    )
    order = np.argsort(noted, kind="stable")
    errors = [f"error: {message}" if message else "error" for message in messages]
    return noted[order], moment[order], np.append(text, said + len(texts))[order], [*texts, *errors]


def _numbered(data: NDArray[np.uint8], *places: tuple[Ints, Ints]) -> list[Ints]:
    """Return columns in which equal bytes have one number."""
    low, high = (np.concatenate([of[k] for of in places]) for k in range(2))
    room = 1 << max(len(low) - 1, 1).bit_length()
    number, _ = InternedNames(min(room, _MOST_ROOM)).all_of(data, low, high)
    return np.split(number, np.cumsum([len(of[0]) for of in places])[:-1])


def _texts(data: NDArray[np.uint8], low: Ints, high: Ints, other: str) -> tuple[Ints, list[str]]:
    """Return the index of each text, and the texts, each once; ``other`` instead of empty ones."""
    names = InternedNames()
    number, count = names.all_of(data, low, high)
    known: dict[str, int] = {}
    same = [known.setdefault(text or other, len(known)) for text in names.texts(data, count)]
    return (number if len(known) == count else np.array(same)[number]), [*known]


FORMAT = registry.Format(
    name="otlp",
    title=_TITLE,
    suffixes=(".otlp.json", ".otlp", ".otlp.pb", ".jsonl"),
    sniff=sniff,
    read=read,
    programs="OpenTelemetry's collector and SDKs (OTLP as JSON or protobuf)",
    recipe=("# OpenTelemetry Collector: exporters: {file: {path: run.otlp.json}}",),
    left_out="attributes of spans and events, metrics and logs",
)
