"""Samples of JavaScript in Chrome traces: a recording of Chromium's, and samples laid inside of calls."""

import gzip
import json
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.profile_facts import spans
from tracevis3d.formats import registry

RECORDED = ROOT / "tests" / "data" / "profiles" / "chromium.json.gz"


def test_sampled_functions_lie_within_the_calls_of_chromium():
    trace = registry.open_trace(RECORDED)
    assert trace.source.format == "chrome"
    events = json.loads(gzip.decompress(RECORDED.read_bytes()))["traceEvents"]
    names, hits = {}, Counter()
    for event in events:
        if event["name"] == "ProfileChunk":
            part = event["args"]["data"].get("cpuProfile", {})
            for node in part.get("nodes", ()):
                names[event["pid"], node["id"]] = node["callFrame"]["functionName"]
            hits.update(names[event["pid"], node] for node in part.get("samples", ()))
    assert hits["put"] > 20
    outside = hits["(program)"] + hits["(idle)"] + hits["(root)"]
    # What interrupts the program outside of JavaScript is outside, too.
    left_out = hits.total() - outside - trace.problems["sampled"].count
    assert 0 <= left_out < 0.02 * hits["(garbage collector)"]
    labels = list(trace.functions.label)
    called = Counter(labels[f] for f in trace.calls.function.tolist())
    assert {"put", "add", "work", "fib", "words"} <= set(called)
    work = labels.index("work")
    callers = trace.calls.parent[trace.calls.function == work].tolist()
    above = [labels[trace.calls.function[caller]] for caller in callers]
    assert set(above) <= {"step", "(anonymous)"}
    # Chromium records the function that it calls; what V8 sampled lies inside.
    call = trace.calls.parent[trace.calls.function == labels.index("step")]
    callers = {labels[trace.calls.function[c]] for c in call.tolist() if c >= 0}
    assert callers <= {"FunctionCall", "(anonymous)", "EvaluateScript", "v8.run"}
    assert "unsupported" not in trace.problems
    assert "overlap" not in trace.problems


def frame(number, name, parent):
    return {"id": number, "parent": parent, "callFrame": {"functionName": name, "scriptId": 1}}


def made(path, calls, steps):
    """Write calls (name, start, end) and samples (step, node) of the chain a, b, c on one thread."""
    nodes = [frame(1, "(root)", None), frame(2, "a", 1), frame(3, "b", 2), frame(4, "c", 3)]
    nodes.append(frame(5, "(idle)", 1))
    base = {"pid": 1, "tid": 1}
    rows = [{**base, "ph": "X", "name": name, "ts": start, "dur": end - start} for name, start, end in calls]
    one = {**base, "ph": "P", "id": "0x1", "ts": 0}
    rows.append({**one, "name": "Profile", "args": {"data": {"startTime": 0}}})
    samples = {"nodes": nodes, "samples": [node for _, node in steps]}
    chunk = {"cpuProfile": samples, "timeDeltas": [step for step, _ in steps]}
    rows.append({**one, "tid": 2, "name": "ProfileChunk", "args": {"data": chunk}})
    path.write_text(json.dumps({"traceEvents": rows}))
    return registry.open_trace(path)


def test_calls_cut_samples_and_samples_hold_calls(tmp_path):
    trace = made(tmp_path / "a.json", [("task", 10, 50), ("collect", 22, 26), ("task", 60, 70)],
                 [(12, 2), (6, 3), (6, 3), (6, 3), (6, 3), (6, 4), (6, 3), (6, 5), (6, 3)])  # fmt: skip
    found = [(name, start // 1000, end // 1000, depth) for name, start, end, depth in spans(trace)]
    assert found == [
        ("task", 10, 50, 1), ("a", 12, 50, 2), ("b", 18, 50, 3), ("collect", 22, 26, 4), ("c", 42, 48, 4),
        ("task", 60, 70, 1), ("a", 60, 66, 2), ("b", 60, 66, 3),
    ]  # fmt: skip


calls = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), max_size=6)
steps = st.lists(st.tuples(st.integers(1, 6), st.integers(2, 5)), min_size=1, max_size=14)


@settings(max_examples=60, deadline=None)
@given(calls, steps)
def test_recorded_calls_stay_as_they_are(tmp_path_factory, calls, steps):
    rows, now = [], 0
    for gap, length in calls:
        rows += [("task", now + gap, now + gap + 2 * length), ("inner", now + gap + 1, now + gap + length)]
        now += gap + 2 * length
    path = tmp_path_factory.mktemp("made") / "a.json"
    trace = made(path, rows, steps)
    recorded = sorted((n, s // 1000, e // 1000) for n, s, e, _ in spans(trace) if n in ("task", "inner"))
    assert recorded == sorted(rows)
    assert set(trace.problems) <= {"sampled"}
    # A sample of a stack that fits what is open has its innermost function there.
    names, time = "??abc?", 0
    for step, node in steps:
        time += step
        inside = {n for n, s, e, _ in spans(trace) if s <= 1000 * time < e}
        if not any(s <= time < e for _, s, e in rows) and node < 5:
            assert names[node] in inside
    assert np.all(trace.calls.end >= trace.calls.start)


def test_chunks_without_a_profile_are_counted(tmp_path):
    path = tmp_path / "a.json"
    row = {"ph": "P", "name": "ProfileChunk", "id": "0x9", "pid": 1, "tid": 1, "ts": 1, "args": {"data": {}}}
    other = {"ph": "P", "name": "Sample", "pid": 1, "tid": 1, "ts": 1}
    path.write_text(json.dumps([row, other, {"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]))
    problems = registry.open_trace(path).problems
    assert {kind: p.count for kind, p in problems.items()} == {"unknown": 1, "unsupported": 1}
