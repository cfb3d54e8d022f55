"""Parts of Chrome traces beside the calls, dialects, damage with its places, and writing."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import synthetic
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.chrome import read as chrome_read
from tracevis3d.formats.chrome.format import FORMAT, sniff
from tracevis3d.machine import memory as memory_limit
from tracevis3d.progress import silent


def read(tmp_path, events, **options):
    path = tmp_path / "t.json"
    path.write_bytes(events if isinstance(events, bytes) else json.dumps(events).encode())
    slow = chrome_read.read(path, silent, scanner=False)
    trace = chrome_read.read(path, silent, **options)
    assert trace.problems.as_dict() == slow.problems.as_dict()
    return trace


def call(name, ts, dur, tid=1, **more):
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": tid, **more}


def mark(ph, ts, tid=1, **more):
    return {"ph": ph, "name": "n", "ts": ts, "pid": 1, "tid": tid, **more}


def counted(trace):
    return {kind: problem.count for kind, problem in trace.problems.items()}


def arrows(trace):
    names = [trace.functions.name[int(f)] for f in trace.calls.function]
    return sorted(
        (names[s] if s >= 0 else None, names[t] if t >= 0 else None)
        for s, t in zip(trace.flows.source.tolist(), trace.flows.target.tolist())
    )


def test_flows_go_from_step_to_step(tmp_path):
    events = [
        call("a", 0, 10),
        call("b", 20, 10, 2),
        call("c", 40, 10, 3),
        mark("s", 5, 1, cat="x", id=7),
        mark("t", 25, 2, cat="x", id=7),
        mark("f", 45, 3, cat="x", id=7, bp="e"),
        mark("s", 5, 1, cat="other", id=7),
        mark("f", 6, 1, cat="lone", id=7),
    ]
    trace = read(tmp_path, events)
    assert arrows(trace) == [("a", "b"), ("b", "c")]
    assert counted(trace) == {"unmatched flow": 2}


def test_a_flow_that_does_not_enclose_goes_to_the_next_call(tmp_path):
    events = [
        call("a", 0, 10),
        call("b", 20, 10, 2),
        call("c", 40, 10, 2),
        mark("s", 5, id=1),
        mark("f", 22, 2, id=1),
    ]
    assert arrows(read(tmp_path, events)) == [("a", "c")]
    events[-1]["bp"] = "e"
    assert arrows(read(tmp_path, events)) == [("a", "b")]
    events[-1] = mark("f", 99, 2, id=1)
    assert arrows(read(tmp_path, events)) == [("a", None)]


def test_flows_bound_to_calls(tmp_path):
    events = [
        call("a", 0, 10, bind_id="0x5", flow_out=True),
        call("b", 20, 10, 2, bind_id="0x5", flow_in=True, flow_out=True),
        call("c", 40, 10, 3, bind_id="0x5", flow_in=True),
        call("d", 60, 10, 3, bind_id="0x6", flow_in=True),
    ]
    trace = read(tmp_path, events)
    assert arrows(trace) == [("a", "b"), ("b", "c")]
    assert counted(trace) == {"unmatched flow": 1}


def test_local_ids_are_those_of_their_process(tmp_path):
    events = [
        {**mark("b", 0, cat="c", id2={"local": "0x1"}), "pid": 1},
        {**mark("b", 1, cat="c", id2={"local": "0x1"}), "pid": 2},
        {**mark("e", 5, cat="c", id2={"local": "0x1"}), "pid": 1},
        {**mark("e", 9, cat="c", id2={"local": "0x1"}), "pid": 2},
        {**mark("b", 3, cat="c", id2={"global": "0x1"}), "pid": 1},
        {**mark("e", 4, cat="c", id2={"global": "0x1"}), "pid": 2},
    ]
    spans = read(tmp_path, events).spans
    assert sorted(zip(spans.start.tolist(), spans.end.tolist())) == [(0, 5000), (1000, 9000), (3000, 4000)]


def test_spans_nest_and_close(tmp_path):
    events = [
        mark("b", 0, cat="c", id=1) | {"name": "outer"},
        mark("b", 2, cat="c", id=1) | {"name": "inner"},
        mark("n", 3, cat="c", id=1) | {"name": "moment"},
        mark("e", 4, cat="c", id=1) | {"name": "inner"},
        mark("e", 6, cat="c", id=1) | {"name": "outer"},
        mark("e", 7, cat="c", id=1) | {"name": "never begun"},
        mark("S", 1, id=1) | {"name": "old"},
        mark("T", 2, id=1) | {"name": "old"},
        mark("F", 5, id=1) | {"name": "old"},
        mark("b", 8, cat="c", id=2) | {"name": "open"},
        mark("i", 10),
    ]
    trace = read(tmp_path, events)
    spans = trace.spans
    rows = {
        spans.names[int(n)]: (s, e, spans.names[int(spans.name[p])] if p >= 0 else None)
        for n, s, e, p in zip(spans.name, spans.start.tolist(), spans.end.tolist(), spans.parent.tolist())
    }
    assert rows == {
        "outer": (0, 6000, None),
        "inner": (2000, 4000, "outer"),
        "old": (1000, 5000, None),
        "open": (8000, 8000, None),
    }
    assert [trace.instants.names[int(n)] for n in trace.instants.name] == ["old", "moment", "n"]
    assert counted(trace) == {"unmatched span": 2}


def test_counters_need_no_thread(tmp_path):
    counter = {"ph": "C", "name": "queue", "pid": 1, "ts": 1, "args": {"length": 5000}}
    # The second is read by the checked reader: a name with an escape.
    trace = read(tmp_path, [counter, counter | {"name": 'a "queue"', "ts": "2"}, mark("X", 1, dur=3)])
    assert not trace.problems
    assert not len(trace.memory)
    assert len(trace.counters.time) == 2
    assert (
        read(tmp_path, [{"ph": "C", "name": "q", "ts": 1, "args": {"n": 1}}]).problems["no thread"].count == 1
    )


def test_counters_are_series(tmp_path):
    events = [
        mark("C", 1, args={"value": 5}) | {"name": "heap"},
        mark("C", 2, args={"value": 2.5}) | {"name": "heap"},
        mark("C", 1, args={"used": 1, "free": "7"}) | {"name": "disk"},
        mark("C", 1, args={"x": "no", "y": 1e300}),
        mark("C", 3, id=9, args={"value": -1}) | {"name": "heap"},
        mark("C", 4, args={}),
    ]
    trace = read(tmp_path, events)
    counters = trace.counters
    series = {
        name: counters.value[counters.first[k] : counters.first[k + 1]].tolist()
        for k, name in enumerate(counters.name)
    }
    assert series == {
        "heap": [5.0, 2.5],
        "disk used": [1.0],
        "disk free": [7.0],
        "n y": [1e300],
        "heap[9]": [-1.0],
    }
    assert counted(trace) == {"bad value": 2}


def test_threads_are_named_and_ordered_as_the_file_says(tmp_path):
    def meta(what, pid, tid=None, **args):
        return {"ph": "M", "name": what, "pid": pid, "args": args} | ({} if tid is None else {"tid": tid})

    events = [
        {**call("f", 0, 1, 5), "pid": 1},
        {**call("f", 0, 1, 6), "pid": 1},
        {**call("f", 0, 1, "stream 7"), "pid": "gpu"},
        {**call("f", 3, 1, "5"), "pid": "1"},
        meta("process_name", 1, name="cpu"),
        meta("thread_name", 1, 6, name="main"),
        meta("process_sort_index", "gpu", sort_index=-1),
        meta("thread_sort_index", 1, 6, sort_index=-2),
    ]
    threads = read(tmp_path, events).threads
    assert threads.process == ("gpu", 1, 1)
    assert threads.tid == ("stream 7", 6, 5)
    assert threads.name == ("", "main", "")
    assert threads.process_name == ("", "cpu", "cpu")
    assert threads.count.tolist() == [1, 1, 2]


def test_categories_hold_functions_that_have_no_module(tmp_path):
    events = [
        call("Task::Run", 0, 1, cat="toplevel,x"),
        call("f (a.py:1)", 1, 1, cat="toplevel"),
        call("g", 2, 1, cat="fee"),
    ]
    trace = read(tmp_path, events)

    def path(container):
        out = []
        while container >= 0:
            out.insert(0, trace.containers.name[container])
            container = int(trace.containers.parent[container])
        return out

    assert [path(int(c)) for c in trace.functions.container] == [["toplevel", "Task"], ["a"], []]


@pytest.mark.parametrize(
    ("text", "calls", "problems"),
    [
        (b'[{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1}', 1, {"truncated": "byte 53"}),
        (b'[{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1},]', 1, {}),
        (b'[{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1},null]', 1, {}),
        (b'[null, null,{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1}]', 1, {"malformed": "byte 1"}),
        (b'[{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1},{}]', 1, {}),
        (b'[{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1},7,"x",[1]]', 1, {"malformed": "byte 54"}),
        (b'[garbage {"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1}]', 1, {"malformed": "byte 1"}),
        (
            b'[{"ph":"X","ts":1,"na{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1}]',
            1,
            {"malformed": "byte 1"},
        ),
        (
            b'[{"ph":"X","ts":NaN,"name":"f","pid":1,"tid":1},{"ph":"X","ts":1,"dur":2,"name":"f","pid":1,"tid":1,"args":{"a":NaN}}]',
            1,
            {"bad time": "byte 1"},
        ),
        (
            b'{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1}\n{"ph":"X","ts":2,"dur":1,"name":"f","pid":1,"tid":1}\n',
            2,
            {},
        ),
        (
            b'{"traceEvents":[{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1}], "x',
            1,
            {"truncated": "byte 71"},
        ),
        (
            b'{"traceEvents":[{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1}]} trailing',
            1,
            {"malformed": "byte 71"},
        ),
        (
            b'{"samples":[1,2],"traceEvents":[{"ph":"X","ts":1,"dur":1,"name":"f","pid":1,"tid":1}]}',
            1,
            {"unsupported": "byte 11"},
        ),
        (
            b'[{"ph":"X","ts":1,"dur":1,"name":"\xff\xfe","pid":1,"tid":1}]',
            1,
            {"bad value": "name '\ufffd\ufffd'"},
        ),
        (b'[{"ph":"X","ts":1,"dur":1,"name":"f\x00\n","pid":1,"tid":1}]', 1, {}),
    ],
    ids=range(15),
)
def test_damage_is_counted_with_its_place(tmp_path, text, calls, problems):
    trace = read(tmp_path, text)
    assert len(trace) == calls
    assert {kind: problem.first for kind, problem in trace.problems.items()} == problems


def test_records_larger_than_a_piece(tmp_path):
    events = [call("f", 0, 9, args={"long": "x" * 5000}), call("g" * 3000, 1, 2), call("f", 4, 1)]
    trace = read(tmp_path, events, piece=256)
    assert [len(name) for name in trace.functions.name] == [1, 3000]


def test_a_file_that_is_one_open_bracket_after_another_ends_soon(tmp_path):
    for text in (
        b'[{"args":{"a":' * 20_000,
        b'[{"a":[' * 40_000,
        b"[" + b'{"' * 50_000,
        b'["' + b"\\" * 99_999,
    ):
        assert len(read(tmp_path, text)) == 0


def test_a_record_that_does_not_fit_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(memory_limit, "limit", lambda: 40_000)
    with pytest.raises(InputError, match="one record is larger"):
        read(tmp_path, [call("f", 0, 1, args={"long": "x" * 100_000})], piece=1024)


def test_sniffing():
    assert sniff(b'{"traceEvents":[', "x.json") == registry.SURE
    assert sniff(b'\xef\xbb\xbf [ {"name":"f","ph" : "X"', "x") == registry.SURE
    assert sniff(b'{"$schema":"https://www.speedscope.app/file-format-schema.json"}', "x.json") == registry.NO
    assert sniff(b"[1, 2, 3]", "x.json") == registry.NO
    assert sniff(b"#!/bin/sh", "trace.json") == registry.NO


def same_calls(left, right):
    for name in ("parent", "depth", "start", "end", "extent", "thread"):
        np.testing.assert_array_equal(getattr(left.calls, name), getattr(right.calls, name), err_msg=name)
    for trace_function, other in zip(left.calls.function.tolist(), right.calls.function.tolist()):
        assert left.functions.name[trace_function] == right.functions.name[other]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 4), st.integers(-(10**12), 10**12))
def test_what_is_written_reads_back(tmp_path, seed, n, longest, origin):
    from dataclasses import replace

    from tracevis3d.trace.model import Functions, Threads, Trace
    from tracevis3d.trace.strings import Strings

    calls = synthetic.random_calls(seed, n, threads=2, longest=longest)
    first, count = synthetic.thread_slices(calls)
    names = Strings.of(['f "quoted" \\', "g (a.py:1)", "h\n"])
    no = np.full(3, -1, np.int32)
    trace = Trace(
        calls=calls,
        functions=Functions(names, names, no, no, np.zeros(3, np.int32)),
        threads=Threads(
            (1, "p")[: len(first)],
            (7, "t")[: len(first)],
            ("main", "")[: len(first)],
            ("", "other")[: len(first)],
            first,
            count,
        ),
        origin_ns=origin,
    )
    path = tmp_path / "t.json"
    FORMAT.write(trace, path, silent)
    json.loads(path.read_bytes())
    back = FORMAT.read(path, silent)
    shift = int(calls.start.min()) if len(calls) else 0
    moved = replace(trace, calls=replace(calls, start=calls.start - shift, end=calls.end - shift))
    if (count > 0).all():
        same_calls(moved, back)
        for column in ("process", "tid", "name", "process_name"):
            assert getattr(back.threads, column) == getattr(trace.threads, column)
        assert back.origin_ns == origin + shift
    assert not back.problems


def test_recordings_read_back(recorded, tmp_path):
    for name in ("sync_pillow_8w.json.gz", "chromium_docs_page.json.gz", "uftrace_zstd_7t.json.gz"):
        trace = registry.open_trace(recorded / name)
        path = tmp_path / "t.json.gz"
        FORMAT.write(trace, path, silent)
        back = registry.open_trace(path)
        same_calls(trace, back)
        assert (trace.origin_ns, trace.span_ns) == (back.origin_ns, back.span_ns)
        for table in ("sync", "counters", "flows", "spans", "instants"):
            assert len(getattr(trace, table)) == len(getattr(back, table)), (name, table)
        left, right = (sorted(zip(t.flows.start.tolist(), t.flows.target.tolist())) for t in (trace, back))
        assert left == right
        assert sorted(trace.sync.start.tolist()) == sorted(back.sync.start.tolist())
        assert not back.problems


def test_records_that_are_nested_too_deeply_are_left_out_and_nothing_is_called_truncated(tmp_path):
    deep = call("deep", 2, 1)
    text = json.dumps([call("f", 0, 1), deep])[:-2] + ',"args":' + "[" * 5_000 + "]" * 5_000 + "}]"
    (path := tmp_path / "a.json").write_text(text)
    trace = registry.open_trace(path)
    assert list(trace.functions.name) == ["f"]
    assert [(kind, problem.count) for kind, problem in trace.problems.items()] == [("malformed", 1)]


@pytest.mark.parametrize(
    ("first", "problems"),
    [
        ("a", {"renamed": {"count": 1, "first": "thread 1: 'a', then 'b'"}}),
        ("MainThread", {}),  # until they have a name of their own
        ("greenlet-12", {}),
    ],
)
def test_second_names_of_threads_are_counted(tmp_path, first, problems):
    def named(name):
        return {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": name}}

    (path := tmp_path / "a.json").write_text(
        json.dumps([named(first), named(first), named("b"), {**call("f", 0, 1), "pid": 1, "tid": 1}])
    )
    trace = registry.open_trace(path)
    assert trace.threads.name == ("b",)
    assert trace.problems.as_dict() == problems
