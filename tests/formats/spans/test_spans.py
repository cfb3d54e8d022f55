"""Distributed traces: OpenTelemetry's own output as JSON and protobuf, the same in Jaeger's form, lanes."""

import gzip
import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.profile_facts import spans as calls_of
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.names import split
from tracevis3d.formats.spans.lanes import Span, add_spans
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording

DATA = ROOT / "tests" / "data" / "spans"


def recorded():
    """Service and span of all that OpenTelemetry wrote."""
    document = json.loads(gzip.decompress((DATA / "shop.otlp.json.gz").read_bytes()))
    for group in document["resourceSpans"]:
        names = {a["key"]: a["value"].get("stringValue") for a in group["resource"]["attributes"]}
        for scope in group["scopeSpans"]:
            for span in scope["spans"]:
                yield names["service.name"], span


def jaeger():
    """The same in Jaeger's form, from its definition."""
    traces = {}
    for service, span in recorded():
        trace = traces.setdefault(span["traceId"], {"traceID": span["traceId"], "spans": [], "processes": {}})
        trace["processes"][service] = {"serviceName": service}
        references = [{"refType": "FOLLOWS_FROM", "traceID": link["traceId"], "spanID": link["spanId"]}
                      for link in span.get("links", ())]  # fmt: skip
        if "parentSpanId" in span:
            parent = {"refType": "CHILD_OF", "traceID": span["traceId"], "spanID": span["parentSpanId"]}
            references.insert(0, parent)
        start, end = (int(span[key]) // 1000 for key in ("startTimeUnixNano", "endTimeUnixNano"))
        logs = []
        for event in span.get("events", ()):
            fields = [{"key": "event", "value": event["name"]}]
            logs.append({"timestamp": int(event["timeUnixNano"]) // 1000, "fields": fields})
        trace["spans"].append({
            "traceID": span["traceId"], "spanID": span["spanId"], "operationName": span["name"], "logs": logs,
            "references": references, "startTime": start, "duration": end - start, "processID": service,
            "tags": [{"key": "error", "value": True}] if span["status"].get("code") else [],
        })  # fmt: skip
    return {"data": list(traces.values())}


def check(trace, unit):
    said = list(recorded())
    expected = Counter(
        (span["name"], int(span["startTimeUnixNano"]) // unit, int(span["endTimeUnixNano"]) // unit)
        for _, span in said
    )
    found = Counter((name, s // unit, e // unit) for name, s, e, _ in calls_of(trace))
    assert found == expected
    assert Counter(trace.threads.process) == {"web": 4, "stock": 4, "payments": 4}
    assert set(trace.threads.process_name) == {"web", "stock", "payments"}
    links = sum(len(span.get("links", ())) for _, span in said)
    kinds = Counter(trace.flows.names[n] for n in trace.flows.name)
    assert kinds["link"] == links == 4
    # Each order begins a reservation in another service, and a payment has no parent there.
    assert kinds["begins"] == 4
    names = list(trace.functions.label)
    below = {(names[trace.calls.function[p]], names[trace.calls.function[c]])
             for c, p in enumerate(trace.calls.parent.tolist()) if p >= 0}  # fmt: skip
    assert below == {("POST /order", "render"), ("reserve", "SELECT"), ("reserve", "UPDATE")}
    moments = Counter(trace.instants.names[n] for n in trace.instants.name)
    assert moments["card accepted"] == 4
    assert moments["exception"] == 1
    assert sum(n for text, n in moments.items() if text.startswith("error")) == 1
    assert not trace.problems


@pytest.mark.parametrize("name", ["shop.otlp.json.gz", "shop.otlp.pb"])
def test_opentelemetrys_spans_are_calls(name):
    trace = registry.open_trace(DATA / name)
    assert trace.source.format == "otlp"
    check(trace, 1)


def test_lines_of_the_collector(tmp_path):
    document = json.loads(gzip.decompress((DATA / "shop.otlp.json.gz").read_bytes()))
    path = tmp_path / "a.jsonl"
    rows = [json.dumps({"resourceSpans": [group]}) for group in document["resourceSpans"]]
    path.write_text("\n".join(rows) + "\n")
    check(registry.open_trace(path), 1)
    path.write_text("\n".join([*rows, '{"resourceSpans": [']) + "\n")
    assert registry.open_trace(path).problems["malformed"].count == 1


def test_jaegers_form_says_the_same():
    kept = DATA / "shop.jaeger.json.gz"  # fuzzing starts from it
    assert json.loads(gzip.decompress(kept.read_bytes())) == jaeger()
    trace = registry.open_trace(kept)
    assert trace.source.format == "jaeger"
    check(trace, 1000)


def test_jaegers_form_of_one_trace_by_itself_or_behind_other_words(tmp_path):
    one = jaeger()["data"][0]
    found = []
    for said in ({"data": [one]}, {"data": one}, one, {"comment": "recorded at noon", **one}):
        path = tmp_path / "a.json"
        path.write_text(json.dumps(said))
        trace = registry.open_trace(path)
        assert trace.source.format == "jaeger"
        found.append(calls_of(trace))
    assert found[0]
    assert found[1:] == found[:1] * 3


row = st.tuples(st.integers(0, 20), st.integers(0, 9), st.integers(-1, 9), st.sampled_from("ab"))


@settings(max_examples=80, deadline=None)
@given(st.lists(row, min_size=1, max_size=12))
def test_any_spans_keep_their_times(rows):
    made = [
        Span("t", str(k), str(parent) if parent >= 0 else "", service, f"s{k}", start, start + length)
        for k, (start, length, parent, service) in enumerate(rows)
    ]
    recording = Recording()
    add_spans(made, recording)
    trace = recording.finish(Source(), split)
    found = {name: (start, end) for name, start, end, _ in calls_of(trace)}
    assert found == {span.name: (span.start, span.end) for span in made}
    assert set(trace.problems) <= {"unknown"}
    names = list(trace.functions.label)
    for call, above in enumerate(trace.calls.parent.tolist()):
        child = rows[int(names[trace.calls.function[call]][1:])]
        if above >= 0 and child[1] > 0 and rows[int(names[trace.calls.function[above]][1:])][1] > 0:
            assert str(child[2]) == names[trace.calls.function[above]][1:]


def test_what_is_damaged_is_counted(tmp_path):
    path = tmp_path / "a.json"
    good = {"traceId": "t", "spanId": "1", "name": "f", "startTimeUnixNano": "5", "endTimeUnixNano": 9}
    odd = [
        {**good, "spanId": "2", "startTimeUnixNano": "x"}, {**good, "spanId": "3", "endTimeUnixNano": "2"},
        {**good, "parentSpanId": "9", "links": [{"traceId": "t", "spanId": "8"}]}, 7,
    ]  # fmt: skip
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [good, *odd]}]}]}))
    trace = registry.open_trace(path)
    assert {kind: p.count for kind, p in trace.problems.items()} == {
        "malformed": 1, "bad time": 1, "negative duration": 1, "listed twice": 1, "unknown": 1,
        "unmatched flow": 1,
    }  # fmt: skip
    path.write_text('{"resourceSpans": []}')
    with pytest.raises(InputError, match="no spans"):
        registry.open_trace(path)
    data = (DATA / "shop.otlp.pb").read_bytes()
    path.write_bytes(data[:-50])
    assert registry.open_trace(path).problems
