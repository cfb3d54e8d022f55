"""V8's profiles: recordings of two versions of Node.js, damaged ones, and the form of old versions."""

import gzip
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.profiles import v8
from tracevis3d.trace import profile
from tracevis3d.trace.recording import Recording

DATA = ROOT / "tests" / "data" / "profiles"
SPECIAL = {"(root)", "(idle)"}


def recorded(name):
    return json.loads(gzip.decompress((DATA / name).read_bytes()))


def own_samples(trace, kind=0):
    """Weight of the innermost functions, by name without place."""
    samples, names = trace.samples, list(trace.functions.label)
    found = Counter()
    for stack, weight, which in zip(
        samples.stack.tolist(), samples.weight.tolist(), samples.kind.tolist(), strict=True
    ):
        if which == kind and stack >= 0:
            found[names[trace.stacks.function[stack]]] += weight
    return +found


@pytest.mark.parametrize("name", ["node12.cpuprofile.gz", "node20.cpuprofile.gz"])
def test_samples_are_those_that_v8_counted(name):
    trace, said = registry.open_trace(DATA / name), recorded(name)
    assert trace.source.format == "v8"
    # V8's own hitCount leaves out the first sample, and may count (program) more often.
    names = {node["id"]: node["callFrame"]["functionName"] or "(anonymous)" for node in said["nodes"]}
    hits = Counter(names[node] for node in said["samples"])
    for name in SPECIAL:
        hits.pop(name, None)
    assert own_samples(trace) == +hits
    assert profile.totals(trace) == {"samples": len(said["samples"])}
    first = said["startTime"] + said["timeDeltas"][0]
    assert trace.origin_ns == 1000 * first
    assert trace.span_ns == 1000 * (said["endTime"] - first)
    assert not trace.problems


@pytest.mark.parametrize("name", ["node12.cpuprofile.gz", "node20.cpuprofile.gz"])
def test_calls_last_as_long_as_their_samples(name):
    trace, said = registry.open_trace(DATA / name), recorded(name)
    at = said["startTime"] + np.cumsum(said["timeDeltas"])
    lasts = np.append(at[1:], max(said["endTime"], at[-1])) - at
    idle = {n["id"] for n in said["nodes"] if n["callFrame"]["functionName"] in SPECIAL}
    busy = sum(last for last, node in zip(lasts, said["samples"], strict=True) if node not in idle)
    calls = trace.calls
    assert (calls.end - calls.start)[calls.parent < 0].sum() == 1000 * busy
    functions = {n["callFrame"]["functionName"]: n["callFrame"] for n in said["nodes"]}
    row = list(trace.functions.label).index("fib")
    assert trace.functions.line[row] == functions["fib"]["lineNumber"] + 1
    assert trace.files[trace.functions.file[row]] == functions["fib"]["url"]


@pytest.mark.parametrize("name", ["node12.cpuprofile.gz", "node20.cpuprofile.gz"])
def test_lines_are_weighed_as_v8_counted_them(name):
    trace, said = registry.open_trace(DATA / name), recorded(name)
    ticks = Counter()
    for node in said["nodes"]:
        if node["callFrame"]["functionName"] in ("fib", "number"):
            for tick in node.get("positionTicks", ()):
                ticks[node["callFrame"]["functionName"], tick["line"]] += tick["ticks"]
    found = Counter()
    for stack in trace.samples.stack[trace.samples.stack >= 0].tolist():
        label, line = trace.functions.label[trace.stacks.function[stack]], int(trace.stacks.line[stack])
        if label in ("fib", "number") and line:
            found[label, line] += 1
    assert found == ticks
    assert ticks


def test_a_sampled_heap_is_laid_out_by_bytes():
    trace, said = registry.open_trace(DATA / "node20.heapprofile.gz"), recorded("node20.heapprofile.gz")
    sizes, waiting = Counter(), [said["head"]]
    while waiting:
        node = waiting.pop()
        sizes[node["callFrame"]["functionName"] or "(anonymous)"] += node["selfSize"]
        waiting += node["children"]
    sizes.pop("(root)")
    assert own_samples(trace) == +sizes
    assert profile.totals(trace) == {"held (bytes)": sizes.total()}
    assert not trace.samples.are_timed
    assert "no time unit" in trace.problems


def save(path, nodes, samples, **more):
    path.write_text(json.dumps({"nodes": nodes, "samples": samples, "startTime": 10, "endTime": 50, **more}))
    return path


def node(number, name, children=(), **more):
    frame = {"functionName": name, "scriptId": "1", "url": "a.js", "lineNumber": 4, "columnNumber": 2}
    return {"id": number, "callFrame": frame, "children": list(children), **more}


def spans(trace):
    calls, names = trace.calls, list(trace.functions.label)
    return [
        (names[f], (s + trace.origin_ns) // 1000, (e + trace.origin_ns) // 1000, d)
        for f, s, e, d in zip(calls.function, calls.start, calls.end, calls.depth, strict=True)
    ]


def test_idle_time_is_a_gap_and_the_collector_runs_inside(tmp_path):
    nodes = [node(1, "(root)", [2, 3, 5]), node(2, "(idle)"), node(3, "f", [4]), node(4, "g")]
    nodes.append(node(5, "(garbage collector)"))
    path = save(tmp_path / "a.cpuprofile", nodes, [3, 4, 5, 2, 3], timeDeltas=[0, 10, 10, 10, 5])
    assert spans(registry.open_trace(path)) == [
        ("f", 10, 40, 1), ("g", 20, 40, 2), ("(garbage collector)", 30, 40, 3), ("f", 45, 50, 1)
    ]  # fmt: skip


def test_samples_out_of_order_and_the_oldest_form_are_read(tmp_path):
    head = node(1, "(root)")
    head["children"] = [{"id": 2, "functionName": "f", "url": "a.js", "lineNumber": 4, "children": []}]
    path = tmp_path / "a.cpuprofile"
    path.write_text(json.dumps({"head": head, "samples": [2, 1, 2], "timestamps": [30, 20, 10]}))
    assert spans(registry.open_trace(path)) == [("f", 10, 20, 1), ("f", 30, 40, 1)]


def test_what_is_damaged_is_counted(tmp_path):
    nodes = [
        node(1, "(root)", [2]),
        node(2, "f"),
        node(2, "g"),
        {"callFrame": 7},
        node(9, "h", parent=8),
        None,
    ]
    path = save(tmp_path / "a.cpuprofile", nodes, [2, 7, "x", 2], timeDeltas=[5, "a", 5, 5])
    trace = registry.open_trace(path)
    assert spans(trace) == [("f", 15, 50, 1)]
    counts = {kind: p.count for kind, p in trace.problems.items()}
    assert counts == {"listed twice": 1, "malformed": 2, "unknown": 3}


def test_a_cut_file_is_read_as_far_as_it_goes(tmp_path):
    text = gzip.decompress((DATA / "node20.cpuprofile.gz").read_bytes())
    whole = registry.open_trace(DATA / "node20.cpuprofile.gz")
    path = tmp_path / "a.cpuprofile"
    path.write_bytes(text[: len(text) - 500])
    trace = registry.open_trace(path)
    assert "truncated" in trace.problems
    assert 0 < len(trace.calls) < len(whole.calls)
    path.write_bytes(text[:3000])
    with pytest.raises(InputError, match="no samples"):
        registry.open_trace(path)


def stacks_one_by_one(nodes, ids):
    """Return function and line of the innermost frame of each sample, and of its caller."""
    used, before, found = Counter(), None, []
    for number in ids:
        name, lines = nodes[number]
        if name == "(garbage collector)":
            found.append((name, 0, before))
            continue
        before = name
        line = lines[min(used[number], len(lines) - 1)] if lines else 0
        used[number] += bool(lines)
        found.append((name, line, None))
    return found


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(2, 5), max_size=40), st.lists(st.lists(st.integers(1, 4), max_size=3), min_size=3)
)
def test_samples_have_the_lines_that_were_counted_one_by_one(ids, counted):
    said = {number: (f"f{number}", lines) for number, lines in zip((2, 3, 4), counted)}
    said[5] = "(garbage collector)", []
    recording = Recording()
    nodes = v8.ProfileNodes(recording)
    nodes.add({"id": 1, "callFrame": {"functionName": "(root)"}}, None)
    for number, (name, lines) in said.items():
        ticks = [{"line": line, "ticks": 1} for line in lines]
        node = {"id": number, "callFrame": {"functionName": name, "url": "a.js"}, "positionTicks": ticks}
        nodes.add(node, 1)
    found = nodes._stacks(np.array(ids, np.int64)).tolist()
    function, parent, line = (column.tolist() for column in nodes.columns())
    names = {recording.function(name): name for name in list(recording._functions)}

    def name_of(frame):
        return names[function[frame]].partition(" (a.js")[0] if frame >= 0 else None

    wanted = stacks_one_by_one(said, ids)
    for frame, (name, at, caller) in zip(found, wanted, strict=True):
        assert name_of(frame) == name
        if caller is not None:
            assert name_of(parent[frame]) == caller
        elif name != "(garbage collector)" and at:
            assert line[frame] == at
