"""Flight recordings of a JVM, as the JDK's program prints them, held against a plain reading."""

import gzip
import json
from collections import Counter

import pytest

from tests.conftest import ROOT
from tests.support.profile_facts import spans, weights_of
from tracevis3d.errors import InputError, MissingDependency
from tracevis3d.formats import registry
from tracevis3d.formats.profiles import jfr

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
    assert spans(trace) == [("B.f", begin, begin + 60_250_000_000, 1)]
    assert [trace.sync.objects[k] for k in trace.sync.object] == ["/x"]
    assert {kind: p.count for kind, p in trace.problems.items()} == {"bad time": 1, "unsupported": 1}
    path.write_text('{"recording": {"events": []}}')
    with pytest.raises(InputError, match="it has no samples"):
        registry.open_trace(path)


def test_its_own_file_needs_a_jdk(tmp_path, monkeypatch):
    path = tmp_path / "a.jfr"
    path.write_bytes(b"FLR\0" + bytes(60))
    monkeypatch.setattr(jfr.shutil, "which", lambda name: None)
    with pytest.raises(MissingDependency, match="jfr print"):
        registry.open_trace(path)


def test_the_jdks_program_is_asked(tmp_path, monkeypatch):
    program = tmp_path / "jfr"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/printed.json\n")
    program.chmod(0o755)
    (tmp_path / "printed.json").write_bytes(gzip.decompress(RECORDED.read_bytes()))
    path = tmp_path / "a.jfr"
    path.write_bytes(b"FLR\0" + bytes(60))
    monkeypatch.setattr(jfr.shutil, "which", lambda name: str(program))
    assert len(registry.open_trace(path).calls) == len(registry.open_trace(RECORDED).calls)
    program.write_text("#!/bin/sh\necho 'not a recording' >&2\nexit 1\n")
    with pytest.raises(InputError, match="jfr can't read it: not a recording"):
        registry.open_trace(path)
