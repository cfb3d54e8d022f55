"""OpenTelemetry's traces (OTLP): JSON, lines of JSON as the collector writes them, and protobuf.

Source: https://github.com/open-telemetry/opentelemetry-proto, opentelemetry/proto/trace/v1/trace.proto
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Unreadable
from ...progress import Progress, part
from ...trace.problems import Problems
from ...trace.recording import Recording
from .. import registry
from ..profiles.documents import fields_of, finish, items_of, read_json, text_of
from ..text import utf8
from ..unpack import problem_of, unpack_file
from ..wire import Messages
from .lanes import Span, add_spans

if TYPE_CHECKING:
    from ...trace.model import Trace

_ERROR = (2, "STATUS_CODE_ERROR")
_UNKNOWN = "unknown service"


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
        spans = _wire_spans(unpacked.data, recording.problems)
    else:
        spans = []
        for value in _documents(path, bytes(utf8(unpacked.data)), recording.problems, progress):
            spans += _json_spans(value, recording.problems)
    return finish(path, lambda: add_spans(spans, recording), recording, "OpenTelemetry trace", progress)


def _documents(path: Path, text: bytes, problems: Problems, progress: Progress) -> Iterator[Any]:
    """Yield the objects of a file: one, or one a line."""
    import msgspec

    rows = [row for row in text.split(b"\n") if row.strip()]
    if len(rows) < 2 or not rows[1].lstrip().startswith(b'{"resource'):
        yield read_json(path, problems, "OpenTelemetry trace", progress)
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


def _wire_spans(data: memoryview, problems: Problems) -> list[Span]:
    groups, _ = Messages.of(data, problems).inner(1)
    resources, group_of_resource = groups.inner(1)
    services = [_UNKNOWN] * len(groups)
    attributes, owner = resources.inner(1)
    values, of_attribute = attributes.inner(2)
    texts = dict(zip(of_attribute.tolist(), values.text(1), strict=True))
    for row, key in enumerate(attributes.text(1)):
        if key == "service.name":
            services[int(group_of_resource[owner[row]])] = texts.get(row) or _UNKNOWN
    scopes, group_of_scope = groups.inner(2)
    spans, scope_of = scopes.inner(2)
    keys = [_ids(spans, number) for number in (1, 2, 4)]
    start, end = spans.fixed64(7, -1).tolist(), spans.fixed64(8, -1).tolist()
    found = [
        Span(trace, key, parent, services[int(group_of_scope[scope])], name or "(unnamed)", begin, stop)
        for trace, key, parent, scope, name, begin, stop in zip(
            *keys, scope_of.tolist(), spans.text(5), start, end, strict=True
        )
    ]
    events, span_of = spans.inner(11)
    for row, time, name in zip(span_of.tolist(), events.fixed64(1, -1).tolist(), events.text(2), strict=True):
        found[row].moments.append((time if time >= 0 else found[row].start, name or "(unnamed)"))
    links, span_of = spans.inner(13)
    for row, trace, key in zip(span_of.tolist(), _ids(links, 1), _ids(links, 2), strict=True):
        found[row].links.append((trace, key))
    status, span_of = spans.inner(15)
    for row, code, message in zip(span_of.tolist(), status.last(3).tolist(), status.text(2), strict=True):
        if code in _ERROR:
            time = max(found[row].end, found[row].start, 0)
            found[row].moments.append((time, f"error: {message}" if message else "error"))
    return found


def _ids(messages: Messages, number: int) -> list[str]:
    """Return a field of bytes of each message, in hexadecimal."""
    found = [""] * len(messages)
    rows = messages.rows(number, is_varint=False)
    size = messages.size[rows]
    # Nearly all are as long as the first one.
    usual = int(size[0]) if len(rows) else 0
    alike = rows[size == usual]
    block = messages.data[messages.value[alike][:, None] + np.arange(usual)].tobytes().hex()
    texts = [block[at : at + 2 * usual] for at in range(0, len(block), 2 * usual)] if usual else []
    for owner, text in zip(messages.message[alike].tolist(), texts, strict=False):
        found[owner] = text
    for row in rows[size != usual].tolist():
        at, length = int(messages.value[row]), int(messages.size[row])
        found[int(messages.message[row])] = messages.data[at : at + length].tobytes().hex()
    return found


FORMAT = registry.Format(
    name="otlp",
    title="OpenTelemetry trace",
    suffixes=(".otlp.json", ".otlp", ".otlp.pb", ".jsonl"),
    sniff=sniff,
    read=read,
    programs="OpenTelemetry's collector and SDKs (OTLP as JSON or protobuf)",
    recipe=("# OpenTelemetry Collector: exporters: {file: {path: run.otlp.json}}",),
    left_out="attributes of spans and events, metrics and logs",
)
