"""Flight recordings of a JVM, and what the JDK's program prints of them, held against a plain reading."""

import gzip
import json
import struct
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.profile_facts import spans, weights_of
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.profiles.jfr.chunks import Texts, chunks
from tracevis3d.formats.profiles.jfr.taken import method
from tracevis3d.trace.problems import Problems

PROFILES = ROOT / "tests" / "data" / "profiles"
RECORDED = ROOT / "tests" / "data" / "profiles" / "words.jfr.json.gz"


def events():
    return json.loads(gzip.decompress(RECORDED.read_bytes()))["recording"]["events"]


def innermost(event):
    frames = event["values"]["stackTrace"]["frames"]
    method = frames[0]["method"]
    return f"{method['type']['name'].replace('/', '.')}.{method['name']}"


def test_events_are_those_that_were_printed():
    trace = registry.open_trace(RECORDED)
    assert trace.source.format == "jfr"
    kinds = Counter(event["type"] for event in events())
    assert list(trace.samples.kinds) == ["samples", "waiting (ns)", "allocated (bytes)"]
    by_kind = Counter(trace.samples.kind.tolist())
    assert by_kind[0] == kinds["jdk.ExecutionSample"]
    waits = "jdk.ThreadSleep", "jdk.JavaMonitorEnter", "jdk.JavaMonitorWait"
    assert by_kind[1] == len(trace.sync) == sum(kinds[name] for name in waits)
    assert by_kind[2] == kinds["jdk.ObjectAllocationSample"]
    assert len(trace.instants) == kinds["jdk.GarbageCollection"] + kinds["jdk.GCPhasePause"]
    own = Counter()
    for event in events():
        if event["type"] == "jdk.ObjectAllocationSample":
            own[innermost(event)] += event["values"]["weight"]
    found = {name: weight for name, (weight, _) in weights_of(trace, 2, named=str).items() if weight}
    assert found == own
    assert {"worker-0", "worker-1", "worker-2", "main"} <= set(trace.threads.name)
    assert trace.stacks.line.max() > 0
    assert not trace.problems


def test_waits_know_the_monitor_and_who_held_it():
    trace = registry.open_trace(RECORDED)
    entered = [k for k, name in enumerate(trace.sync.name) if trace.sync.names[name] == "monitor enter"]
    assert len(entered) == sum(event["type"] == "jdk.JavaMonitorEnter" for event in events())
    objects = {trace.sync.objects[trace.sync.object[trace.sync.first[k]]] for k in entered}
    assert any(name.startswith("java.lang.Object @") for name in objects)
    holders = {trace.threads.name[trace.sync.holder[k]] for k in entered if trace.sync.holder[k] >= 0}
    assert holders <= {"worker-0", "worker-1", "worker-2", "main"}
    assert holders
    monitors = [event["values"] for event in events() if event["type"] == "jdk.JavaMonitorEnter"]
    lasts = sum(float(values["duration"][2:-1]) for values in monitors)
    assert abs(sum(int(trace.sync.end[k] - trace.sync.start[k]) for k in entered) - 1e9 * lasts) < 1000


@pytest.mark.parametrize("name", ["words17.jfr.gz", "words25.jfr.gz"])
def test_a_wait_is_a_call_within_the_function_that_waits(name):
    trace = registry.open_trace(PROFILES / name)
    sync, calls = trace.sync, trace.calls
    known = sync.call >= 0
    assert known.mean() > 0.8
    of = sync.call[known]
    assert calls.thread[of].tolist() == sync.thread[known].tolist()
    assert calls.start[of].tolist() == sync.start[known].tolist()
    assert calls.end[of].tolist() == sync.end[known].tolist()
    names = [trace.functions.name[k] for k in calls.function[of].tolist()]
    assert "monitor enter" in names
    assert names == [sync.names[k] for k in sync.name[known].tolist()]


@pytest.mark.parametrize(
    ("inside", "name"),
    [
        ("Words$$Lambda$88+0x00007fb024007a08/360062456", "Words$$Lambda.run"),
        ("a/Words$$Lambda+0x00007fb024007a08", "a.Words$$Lambda.run"),
        ("a/Words$$Lambda/0x0000000033045210", "a.Words$$Lambda.run"),
        ("java/lang/invoke/LambdaForm$MH/0x80000002d", "java.lang.invoke.LambdaForm$MH.run"),
        ("a/Words$1", "a.Words$1.run"),
        ("a/Lambda$2", "a.Lambda$2.run"),
        ("", "run"),
    ],
)
def test_a_hidden_class_has_no_address(inside, name):
    """It differs from run to run: two runs of a program had nothing in common below a lambda."""
    assert method(inside, "run") == name


def test_times_and_damage(tmp_path):
    path = tmp_path / "a.jfr.json"
    method = {"method": {"type": {"name": "a/B"}, "name": "f"}, "lineNumber": 3}
    rows = [
        {"type": "jdk.FileRead", "values": {"startTime": "2026-01-01T00:00:01.5Z", "duration": "PT1M0.25S",
         "path": "/x", "eventThread": {"osThreadId": 5, "osName": "io"}, "stackTrace": {"frames": [method]}}},
        {"type": "jdk.FileRead", "values": {"startTime": "soon"}}, {"type": "jdk.CPULoad", "values": {}},
    ]  # fmt: skip
    path.write_text(json.dumps({"recording": {"events": rows}}))
    trace = registry.open_trace(path)
    begin = 1_767_225_601_500_000_000
    end = begin + 60_250_000_000
    assert sorted(spans(trace)) == [("B.f", begin, end, 1), ("file read", begin, end, 2)]
    assert [trace.sync.objects[k] for k in trace.sync.object] == ["/x"]
    assert {kind: p.count for kind, p in trace.problems.items()} == {"bad time": 1, "unsupported": 1}
    path.write_text('{"recording": {"events": []}}')
    with pytest.raises(InputError, match="it has no samples"):
        registry.open_trace(path)


# -- its own files ----------------------------------------------------------------------------------


def facts(trace):
    """All that is read, by names."""
    calls, samples, sync, instants = trace.calls, trace.samples, trace.sync, trace.instants

    def thread(of):
        return [trace.threads.name[k] if k >= 0 else "" for k in of.tolist()]

    def rows(*columns):
        return sorted(zip(*columns, strict=True))

    def innermost(stack):
        return trace.functions.name[trace.stacks.function[stack]] if stack >= 0 else ""

    return {
        "calls": rows(thread(calls.thread), calls.start.tolist(), calls.end.tolist(), calls.depth.tolist(),
                      [trace.functions.name[k] for k in calls.function.tolist()]),
        "samples": rows(thread(samples.thread), [samples.kinds[k] for k in samples.kind.tolist()],
                        samples.time.tolist(), samples.weight.tolist(),
                        [innermost(k) for k in samples.stack.tolist()]),
        "waits": rows(thread(sync.thread), [sync.names[k] for k in sync.name.tolist()], sync.start.tolist(),
                      sync.end.tolist(), thread(sync.holder), sync.kind.tolist(), sync.contended.tolist(),
                      [[sync.objects[o] for o in sync.object[low:high].tolist()]
                       for low, high in zip(sync.first[:-1].tolist(), sync.first[1:].tolist(), strict=True)]),
        "moments": rows(thread(instants.thread), [instants.names[k] for k in instants.name.tolist()],
                        instants.time.tolist()),
        "threads": sorted(trace.threads.name),
    }  # fmt: skip


@pytest.mark.parametrize("version", [17, 25])
def test_a_recording_says_what_the_jdk_prints_of_it(version):
    trace = registry.open_trace(PROFILES / f"words{version}.jfr.gz")
    printed = registry.open_trace(PROFILES / f"words{version}.jfr.json.gz")
    assert trace.source.format == printed.source.format == "jfr"
    assert facts(trace) == facts(printed)
    assert {kind: (p.count, p.first) for kind, p in trace.problems.items() if kind == "unsupported"} == {
        "unsupported": (1 if version == 17 else 2, "jdk.CPULoad")
    }


def test_samples_of_processor_time_make_no_calls_where_there_are_others():
    trace = registry.open_trace(PROFILES / "words25.jfr.gz")
    by_kind = Counter(trace.samples.kinds[kind] for kind in trace.samples.kind.tolist())
    assert by_kind["samples of CPU time"] == 10
    assert by_kind["samples"] == 13 + 5


def test_chunks_follow_each_other_and_damage_is_counted(tmp_path):
    whole = gzip.decompress((PROFILES / "words17.jfr.gz").read_bytes())
    once = registry.open_trace(PROFILES / "words17.jfr.gz")
    path = tmp_path / "a.jfr"

    def read(data):
        path.write_bytes(data)
        trace = registry.open_trace(path)
        return len(trace.samples), {k: p.count for k, p in trace.problems.items() if k != "unsupported"}

    assert read(whole * 2) == (2 * len(once.samples), {})
    assert read(whole + b"junk" * 9 + whole) == (2 * len(once.samples), {"malformed": 1})
    # The last event, and constants, may be lost with the end.
    samples, problems = read(whole[:-1])
    assert samples <= len(once.samples)
    assert "truncated" in problems
    assert set(problems) <= {"truncated", "unknown", "malformed"}
    # Without a place of its metadata, or with one outside of it, a chunk can't be read; others can.
    broken = whole[:24] + struct.pack(">q", 1 << 40) + whole[32:]
    assert read(broken + whole) == (len(once.samples), {"malformed": 1})
    path.write_bytes(broken)
    with pytest.raises(InputError, match="it has no samples"):
        registry.open_trace(path)
    path.write_bytes(whole[:4] + struct.pack(">H", 9) + whole[6:])
    with pytest.raises(InputError, match="its version 9 is not read: record with Java 11"):
        registry.open_trace(path)


def number(value):
    """A number as the JDK writes it: seven bits a byte, but the ninth."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F and len(out) < 8:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def text(value, way):
    """A text in one of its ways."""
    if way <= 1:
        return bytes([way])
    if way == 2:
        return b"\2" + number(value)
    if way == 4:
        units = np.frombuffer(value.encode("utf-16-le"), "<u2").tolist()
        return b"\4" + number(len(units)) + b"".join(map(number, units))
    coded = value.encode("utf-8" if way == 3 else "latin-1")
    return bytes([way]) + number(len(coded)) + coded


#: Fields of the class of items, and of the events, with the ids of their classes.
IDS = {"int": 3, "boolean": 4, "double": 5, "java.lang.String": 6, "Item": 7, "Event": 8, "Other": 9}
CLASSES = {
    "int": [], "boolean": [], "double": [], "java.lang.String": [],
    "Item": [("flag", "boolean", 0, 0), ("size", "int", 0, 0), ("marks", "int", 0, 1)],
    "Event": [("real", "double", 0, 0), ("count", "int", 0, 0), ("items", "Item", 0, 1),
              ("name", "java.lang.String", 0, 0), ("one", "Item", 0, 0), ("key", "Item", 1, 0)],
    "Other": [("name", "java.lang.String", 0, 0)],
}  # fmt: skip
TEXTS = st.one_of(
    st.tuples(st.just(""), st.sampled_from([0, 1])),
    st.tuples(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), st.sampled_from([3, 4])),
    st.tuples(st.text(st.characters(max_codepoint=255), max_size=4), st.just(5)),
)
INTS = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-3, 300)
ITEMS = st.tuples(st.booleans(), INTS, st.lists(INTS, max_size=3))
EVENTS = st.tuples(st.just("Event"), INTS, st.lists(ITEMS, max_size=3), TEXTS, ITEMS, INTS)
OTHERS = st.tuples(st.just("Other"), TEXTS)
CONSTANTS = st.tuples(st.just("constants"), st.dictionaries(INTS, ITEMS, max_size=3), st.booleans())


def item(value):
    flag, size, marks = value
    return bytes([flag]) + number(size) + number(len(marks)) + b"".join(map(number, marks))


def event(kind, body):
    """An event; its size counts itself."""
    body = number(kind) + body
    return next(number(n) + body for n in range(len(body), len(body) + 9) if len(number(n) + body) == n)


def written(events):
    """A chunk as a JVM writes it."""
    words, out = [], []

    def word(said):
        if said not in words:
            words.append(said)
        return number(words.index(said))

    def element(name, said, inner=()):
        pairs = b"".join(word(key) + word(value) for key, value in said.items())
        return word(name) + number(len(said)) + pairs + number(len(inner)) + b"".join(inner)

    classes = []
    for name, fields in CLASSES.items():
        inner = []
        for field, kind, is_constant, is_list in fields:
            said = {"name": field, "class": str(IDS[kind])}
            said |= {"constantPool": "true"} if is_constant else {}
            inner.append(element("field", said | ({"dimension": "1"} if is_list else {})))
        classes.append(element("class", {"name": name, "id": str(IDS[name])}, inner))
    tree = element("root", {}, [element("metadata", {}, classes), element("region", {"locale": "en"})])
    table = number(len(words)) + b"".join(text(one, 4 if len(one) % 2 else 3) for one in words)
    out.append(event(0, number(1) + number(0) + number(1) + table + tree))
    for kind, *said in events:
        if kind == "Event":
            count, items, (name, way), one, key = said
            body = struct.pack(">d", 0.5) + number(count) + number(len(items)) + b"".join(map(item, items))
            out.append(event(IDS[kind], body + text(name, way) + item(one) + number(key)))
        elif kind == "Other":
            out.append(event(IDS[kind], text(*said[0])))
        else:
            # A second pool, which nobody wants, is passed over.
            pool = [number(key) + item(value) for key, value in said[0].items()]
            more = number(9) + number(1) + number(5) + text("x", 5) if said[1] else b""
            head = number(7) + number(0) + number(-90) + b"\1" + number(1 + said[1]) + more
            out.append(event(1, head + number(7) + number(len(pool)) + b"".join(pool)))
    size = 68 + sum(map(len, out))
    return struct.pack(">4sHHqqqqqqqi", b"FLR\0", 2, 1, size, 0, 68, 5, 6, 7, 10**9, 1) + b"".join(out)


@given(st.lists(st.lists(EVENTS | OTHERS | CONSTANTS, max_size=5), min_size=1, max_size=2))
def test_columns_are_what_was_written(many):
    wanted = {"Event": ("count", "items.size", "items.marks", "name", "one.size", "one.marks", "key"),
              "Item": ("size", "marks")}  # fmt: skip
    data, problems = np.frombuffer(b"".join(map(written, many)), np.uint8), Problems()
    texts = Texts(data)
    found = list(chunks(data, wanted, texts, problems))
    assert len(found) == len(many)
    for chunk, events in zip(found, many, strict=True):
        said = [one[1:] for one in events if one[0] == "Event"]
        rows = chunk.rows["Event"]
        assert rows.column("count").tolist() == [one[0] for one in said]
        items = [(k, size, marks) for k, one in enumerate(said) for _, size, marks in one[1]]
        assert rows.columns["items.size"].tolist() == [size for _, size, _ in items]
        assert rows.owner["items.size"].tolist() == [k for k, _, _ in items]
        assert rows.columns["items.marks"].tolist() == [mark for _, _, marks in items for mark in marks]
        names = chunk.numbers(rows.column("name"))
        assert [texts.text(number) for number in names.tolist()] == [one[2][0] for one in said]
        assert rows.column("one.size").tolist() == [one[3][1] for one in said]
        marks = [(k, mark) for k, one in enumerate(said) for mark in one[3][2]]
        assert (
            list(zip(rows.owner["one.marks"].tolist(), rows.columns["one.marks"].tolist(), strict=True))
            == marks
        )
        assert rows.column("key").tolist() == [one[4] for one in said]
        constants = [pair for one in events if one[0] == "constants" for pair in one[1].items()]
        assert chunk.rows["Item"].key.tolist() == [key for key, _ in constants]
        assert chunk.rows["Item"].column("size").tolist() == [value[1] for _, value in constants]
    others = sum(one[0] == "Other" for events in many for one in events)
    assert {kind: p.count for kind, p in problems.items()} == ({"unsupported": others} if others else {})
