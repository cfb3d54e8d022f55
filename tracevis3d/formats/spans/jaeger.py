"""Jaeger's traces: the JSON of its query service and of its page (*Download results*).

Source: https://github.com/jaegertracing/jaeger, model/json/model.go
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...progress import Progress
from .. import registry
from ..profiles.documents import fields_of, items_of, read_profile, text_of, whole_of
from ..text import utf8
from .lanes import Span, add_spans

if TYPE_CHECKING:
    from ...trace.model import Trace
    from ...trace.recording import Recording

_US = 1000
_KEYS = (b'"operationName"', b'"processID"', b'"traceID"')


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that JSON is Jaeger's.

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
    text = bytes(utf8(head)).lstrip()
    known = sum(key in text for key in _KEYS)
    if re.match(rb'\{\s*"(?:data|traceID|spans|processes|total|limit|offset|errors)"\s*:', text):
        return registry.SURE if known >= 2 else registry.NO
    return registry.SURE if text.startswith(b"{") and known == len(_KEYS) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read spans as calls: services are processes, references to other spans are arrows, logs are moments.

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
    return read_profile(path, _take, "Jaeger trace", progress)


def _take(value: Any, recording: Recording) -> None:
    outer = fields_of(value)
    data = outer.get("data", outer)
    traces = [data] if isinstance(data, dict) else items_of(data)
    spans: list[Span] = []
    for trace in map(fields_of, traces):
        processes = fields_of(trace.get("processes"))
        for said in map(fields_of, items_of(trace.get("spans"))):
            if not said:
                recording.problems.add("malformed", "a span that is not an object")
                continue
            named = fields_of(processes.get(text_of(said.get("processID"))))
            process = named or fields_of(said.get("process"))
            spans.append(_span(said, text_of(process.get("serviceName"), "unknown service")))
    add_spans(spans, recording)


def _span(said: dict[str, Any], service: str) -> Span:
    start = _US * whole_of(said.get("startTime"), -1)
    trace = text_of(said.get("traceID"))
    span = Span(
        trace=trace,
        key=text_of(said.get("spanID")),
        parent=text_of(said.get("parentSpanID")),
        service=service,
        name=text_of(said.get("operationName"), "(unnamed)"),
        start=start,
        end=start + _US * whole_of(said.get("duration"), 0),
    )
    for reference in map(fields_of, items_of(said.get("references"))):
        key = text_of(reference.get("spanID"))
        of_trace = text_of(reference.get("traceID"), trace)
        if reference.get("refType") == "CHILD_OF" and not span.parent and of_trace == trace:
            span.parent = key
        else:
            span.links.append((of_trace, key))
    for log in map(fields_of, items_of(said.get("logs"))):
        rows = [fields_of(row) for row in items_of(log.get("fields"))]
        texts = {text_of(row.get("key")): text_of(row.get("value")) for row in rows}
        text = next((texts[key] for key in ("event", "message", "error") if texts.get(key)), "log")
        span.moments.append((_US * whole_of(log.get("timestamp"), start // _US), text))
    for tag in map(fields_of, items_of(said.get("tags"))):
        if tag.get("key") == "error" and tag.get("value") in (True, "true"):
            span.moments.append((max(span.end, 0), "error"))
    return span


FORMAT = registry.Format(
    name="jaeger",
    title="Jaeger trace",
    suffixes=(".jaeger.json", ".json"),
    sniff=sniff,
    read=read,
    programs="Jaeger's page and query service",
    recipe=(
        "curl -o run.jaeger.json 'http://localhost:16686/api/traces?service=NAME'",
        "# the page of a trace: Download Results",
    ),
    left_out="tags, other than that a span failed",
)
