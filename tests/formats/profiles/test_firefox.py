"""Firefox's profiles: a recording of the browser's, and the same in the processed form by its definition."""

import gzip
import json
import re
from collections import Counter

import pytest

from tests.conftest import ROOT
from tests.support.profile_facts import spans, weights_of
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.trace import profile

RAW = ROOT / "tests" / "data" / "profiles" / "firefox.raw.json.gz"


def recorded():
    return json.loads(gzip.decompress(RAW.read_bytes()))


def plain_stacks(thread):
    """Locations of each sample's stack, the root first."""
    stacks, frames, texts = (thread[key] for key in ("stackTable", "frameTable", "stringTable"))
    for at, time, *_ in thread["samples"]["data"]:
        path = []
        while at is not None:
            at, frame = stacks["data"][at]
            path.append(texts[frames["data"][frame][0]])
        yield time, path[::-1]


def test_samples_are_those_of_the_browser():
    trace, said = registry.open_trace(RAW), recorded()
    assert trace.source.format == "firefox"
    (thread,) = said["threads"]
    rows = list(plain_stacks(thread))
    assert profile.totals(trace) == {"samples": len(rows)}
    own = Counter(re.sub(r"\[\d+\]$", "", path[-1]) for _, path in rows if path)
    assert {name: weight for name, (weight, _) in weights_of(trace, named=str).items() if weight} == own
    assert trace.threads.tid == (thread["tid"],)
    assert trace.threads.name == ("GeckoMain",)
    begin = said["meta"]["startTime"]
    for time, (expected, _) in zip(trace.samples.time.tolist(), rows, strict=True):
        assert abs(time + trace.origin_ns - 1e6 * (begin + expected)) < 1000
    assert trace.stacks.line.max() > 0
    assert not trace.problems


def test_markers_are_spans_and_moments():
    trace, said = registry.open_trace(RAW), recorded()
    (thread,) = said["threads"]
    kinds = Counter((row[3], row[0]) for row in thread["markers"]["data"])
    assert len(trace.instants) == sum(n for (phase, _), n in kinds.items() if phase == 0) + sum(
        max(n - kinds[3, name], 0) for (phase, name), n in kinds.items() if phase == 2
    )
    assert len(trace.spans) >= sum(n for (phase, _), n in kinds.items() if phase == 1)
    names = {thread["stringTable"][row[0]] for row in thread["markers"]["data"]}
    assert set(trace.spans.names) | set(trace.instants.names) == names


def processed(raw, shared):
    """The processed form, from its definition: columns, functions beside frames, one profile for all."""
    threads = []
    for thread in raw["threads"]:
        texts = [*thread["stringTable"]]
        frames = thread["frameTable"]["data"]
        stacks = thread["stackTable"]["data"]
        functions = sorted({row[0] for row in frames})
        samples, markers = thread["samples"]["data"], thread["markers"]["data"]
        times = [row[1] for row in samples]
        tables = {
            "stringArray": texts,
            "stackTable": {"prefix": [row[0] for row in stacks], "frame": [row[1] for row in stacks]},
            "frameTable": {"func": [functions.index(row[0]) for row in frames],
                           "line": [row[4] if len(row) > 4 else None for row in frames]},
            "funcTable": {"name": functions, "fileName": [None] * len(functions),
                          "lineNumber": [None] * len(functions), "columnNumber": [None] * len(functions)},
        }  # fmt: skip
        threads.append({
            "name": thread["name"], "processType": "tab", "pid": str(thread["pid"]), "tid": thread["tid"],
            "samples": {"stack": [row[0] for row in samples], "length": len(samples),
                        "timeDeltas": [b - a for a, b in zip([0, *times], times, strict=False)],
                        "weight": None, "weightType": "samples"},
            "markers": {"name": [row[0] for row in markers], "startTime": [row[1] for row in markers],
                        "endTime": [row[2] for row in markers], "phase": [row[3] for row in markers]},
            **({} if shared else tables),
        })  # fmt: skip
    meta = {**raw["meta"], "preprocessedProfileVersion": 55}
    counts = {"time": [1, 2], "count": [5, -2]}
    counter = {"name": "malloc", "category": "Memory", "pid": "7", "samples": counts}
    return {"meta": meta, "threads": threads, "counters": [counter], **({"shared": tables} if shared else {})}


@pytest.mark.parametrize("shared", [False, True])
def test_the_processed_form_says_the_same(tmp_path, shared):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(processed(recorded(), shared)))
    trace, raw = registry.open_trace(path), registry.open_trace(RAW)
    assert trace.source.format == "firefox"
    assert profile.totals(trace) == profile.totals(raw)
    assert len(trace.spans) == len(raw.spans)
    assert len(trace.instants) == len(raw.instants)
    own, other = (weights_of(one, named=lambda name: name.partition(" (")[0]) for one in (trace, raw))
    assert sum(w for w, _ in own.values()) == sum(w for w, _ in other.values())
    assert len(trace.calls) == len(raw.calls)
    assert trace.counters.value.tolist() == [5, 3]
    assert list(trace.counters.name) == ["Memory malloc"]


def test_what_is_damaged_is_counted(tmp_path):
    path = tmp_path / "a.json"
    thread = {
        "name": "main", "pid": 1, "tid": 2, "stringArray": ["f", "m"],
        "funcTable": {"name": [0], "lineNumber": ["x"]},
        "frameTable": {"func": [0, 7], "line": [3]},
        "stackTable": {"frame": [0, 1, 9], "prefix": [None, 0, 2]},
        "samples": {"stack": [0, 1, 2, 99, None], "time": [1, 2, "x", 4, 5]},
        "markers": {"name": [1, 8], "time": [1, 2]},
        "jsAllocations": {"time": [1, 2]},
    }  # fmt: skip
    meta = {"preprocessedProfileVersion": 5, "interval": 1}
    path.write_text(json.dumps({"meta": meta, "threads": [thread, 3]}))
    trace = registry.open_trace(path)
    assert set(trace.functions.name) == {"f", "(unnamed)"}
    assert {kind: p.count for kind, p in trace.problems.items()} == {
        "unknown": 2, "bad time": 1, "no name": 1, "unsupported": 2
    }  # fmt: skip
    assert spans(trace)[0][0] == "f"
    path.write_text('{"meta": {"preprocessedProfileVersion": 5}, "threads": []}')
    with pytest.raises(InputError, match="no threads"):
        registry.open_trace(path)


def processed_stacks(said, thread, name_of):
    """Names of each sample's stack, the root first; of the processed form."""
    stacks, frames, functions = (thread[key] for key in ("stackTable", "frameTable", "funcTable"))
    texts = thread["stringArray"]
    for at in thread["samples"]["stack"]:
        path = []
        while at is not None:
            function = frames["func"][stacks["frame"][at]]
            library = thread["resourceTable"]["lib"][functions["resource"][function]]
            path.append(name_of(texts[functions["name"][function]], said["libs"][library]))
            at = stacks["prefix"][at]
        yield path[::-1]


SAMPLY = ROOT / "tests" / "data" / "profiles" / "words.samply.json.gz"


@pytest.mark.parametrize("has_symbols", [True, False])
def test_samples_of_samply_have_the_names_of_its_symbols(tmp_path, has_symbols):
    said = json.loads(gzip.decompress(SAMPLY.read_bytes()))
    path = SAMPLY
    if not has_symbols:
        path = tmp_path / "words.samply.json"
        path.write_text(json.dumps(said))
    symbols = json.loads(SAMPLY.with_suffix(".syms.json").read_text())
    known = {one["debug_name"]: one for one in symbols["data"]}

    def name_of(text, library):
        # samply lists each address with the row of its function.
        rows = known[library["name"]]
        row = dict(rows["known_addresses"]).get(int(text, 16)) if has_symbols else None
        name = symbols["string_table"][rows["symbol_table"][row]["symbol"]] if row is not None else text
        return f"{name} ({library['path']})"

    trace = registry.open_trace(path)
    own, by_thread = Counter(), Counter()
    for thread in said["threads"]:
        for stack in processed_stacks(said, thread, name_of):
            own[stack[-1]] += 1
            by_thread[thread["tid"]] += 1
    assert {name: weight for name, (weight, _) in weights_of(trace, named=str).items() if weight} == own
    ran = Counter(str(trace.threads.tid[thread]) for thread in trace.samples.thread.tolist())
    assert ran == by_thread
    assert {trace.containers.name[k] for k in trace.functions.container.tolist()} == {"words", "libc.so.6"}
    assert not trace.problems
    if has_symbols:
        assert {"mix", "sort_some"} <= set(trace.functions.label)


def test_damaged_symbols_are_counted(tmp_path):
    path = tmp_path / "words.samply.json"
    path.write_bytes(gzip.decompress(SAMPLY.read_bytes()))
    plain = registry.open_trace(path)
    for text in (
        "no JSON",
        '{"string_table": [1], "data": [{"symbol_table": [{"rva": 4608, "size": 5}, 7]}]}',
    ):
        (tmp_path / "words.samply.syms.json").write_text(text)
        trace = registry.open_trace(path)
        assert list(trace.functions.name) == list(plain.functions.name)
        assert ("malformed" in trace.problems) == (text == "no JSON")


def test_samples_of_python_3_15_are_those_of_its_stacks():
    """The same recording as collapsed stacks."""
    trace = registry.open_trace(RAW.with_name("words_315.gecko.json.gz"))
    other = registry.open_trace(RAW.with_name("words_315.collapsed"))
    assert profile.totals(trace) == profile.totals(other)
    own, expected = (
        Counter({name.partition(" (")[0]: 0 for name in one.functions.name}) for one in (trace, other)
    )
    for counted, one in ((own, trace), (expected, other)):
        for name, (weight, _) in weights_of(one, named=lambda name: name.partition(" (")[0]).items():
            counted[name] += weight
    assert +own == +expected
    assert sorted(trace.threads.tid) == sorted(other.threads.tid)
    assert not trace.problems
