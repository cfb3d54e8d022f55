"""What a reader hands over becomes a trace; arguments come from the recording."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.errors import InputError
from tracevis3d.kernels.trace import measures
from tracevis3d.trace.events import BEGIN, COMPLETE, END
from tracevis3d.trace.model import ACCESS, ALLOC, IO, WAIT, Calls, Source, Trace
from tracevis3d.trace.recording import TIME_LIMIT, Recording
from tracevis3d.trace.storage import known_files, store


class Name(NamedTuple):
    label: str
    containers: tuple[tuple[str, str], ...] = ()
    file: str = ""
    line: int = 0


def split(name):
    """Split "module.label (file:line)"."""
    path, _, place = name.partition(" ")
    module, _, label = path.rpartition(".")
    file, _, line = place.strip("()").partition(":")
    return Name(label, (("module", module),) if module else (), file, int(line or 0))


def finish(recording):
    trace = recording.finish(Source("run.json"), split, lambda event: f"line {event + 1}")
    assert store.find_wrong(trace) == ""
    return trace


def test_only_what_is_used_is_kept():
    recording = Recording()
    for name in ("unused", "m.f (m.py:3)", "ended", "g"):
        recording.function(name)
    recording.thread(1, "idle")
    recording.name_thread(1, "idle", "never seen")
    worker, main = recording.thread(2, 7), recording.thread(2, "7")
    recording.name_thread(2, 7, "worker")
    recording.name_process(2, "program")
    recording.add_events(
        thread=[main, worker, worker, main, worker],
        kind=[BEGIN, COMPLETE, COMPLETE, END, END],
        function=[1, 3, 1, 1, 2],
        time=[1000, 1001, 1002, 1010, 1011],
        end=[0, 1009, 1003, 0, 0],
    )
    trace = finish(recording)
    assert list(trace.functions.name) == ["m.f (m.py:3)", "g"]
    assert list(trace.functions.label) == ["f", "g"]
    assert trace.functions.line.tolist() == [3, 0]
    assert [trace.files[i] if i >= 0 else None for i in trace.functions.file] == ["m.py", None]
    assert trace.functions.container.tolist() == [0, -1]
    assert list(trace.containers.name) == ["m"]
    assert trace.threads.tid == (7, "7")
    assert trace.threads.process == (2, 2)
    assert trace.threads.name == ("worker", "")
    assert trace.threads.process_name == ("program", "program")
    assert trace.threads.count.tolist() == [2, 1]
    assert trace.calls.thread.tolist() == [0, 0, 1]
    assert trace.calls.function.tolist() == [1, 0, 0]
    assert (trace.origin_ns, trace.span_ns) == (1000, 11)
    assert trace.calls.start.tolist() == [1, 2, 0]
    assert trace.problems.as_dict() == {"unmatched end": {"count": 1, "first": "line 5"}}


def test_what_the_format_says_goes_before_the_name():
    recording = Recording()
    index = recording.function(
        "m.f (m.py:3)", label="F", containers=(("package", "p"), ("class", "C")), line=9
    )
    assert recording.functions(["m.f (m.py:3)", "new"]).tolist() == [index, 1]
    recording.function("m.f (m.py:3)", label="late")
    recording.add_events(thread=[recording.thread(0, 0)], kind=[COMPLETE], function=[0], time=[0], end=[1])
    functions = (trace := finish(recording)).functions
    assert list(functions.label) == ["F"]
    assert (functions.line[0], trace.files[functions.file[0]]) == (9, "m.py")
    assert list(trace.containers.name) == ["p", "C"]
    assert trace.containers.parent.tolist() == [-1, 0]
    assert functions.container.tolist() == [1]


def test_tables_are_ordered_and_find_their_calls():
    recording = Recording()
    a, b = recording.thread(1, "a"), recording.thread(1, "b")
    f = recording.function("f")
    first = recording.add_events(
        thread=[a, a, b], kind=[COMPLETE] * 3, function=[f] * 3, time=[100, 110, 105], end=[200, 120, 150]
    )
    assert first == 0
    second = recording.add_events(thread=[b, b], kind=[BEGIN, END], function=[f, f], time=[160, 170])
    assert second == 3
    acquire, lock = recording.text("sync", "acquire"), recording.text("objects", "Lock 1")
    queue = recording.text("objects", "Queue")
    recording.add_sync(
        thread=[b, a, a], kind=[WAIT, IO, WAIT], name=[acquire] * 3, start=[160, 115, 112],
        end=[170, 116, 113], contended=[1, -1, 0], event=[second, 1, -1],
        objects=[[lock, queue], [], [queue]],
    )  # fmt: skip
    recording.add_memory(
        thread=[a, b, a], kind=[ALLOC, ACCESS, ALLOC], time=[118, 104, 130], address=[1, 2, 3], size=[8, 0, 9]
    )
    load, other = recording.series(1, "load"), recording.series(1, "other")
    recording.add_counters(series=[other, load, load], time=[120, 140, 130], value=[1, 2, 3])
    flow = recording.text("flows", "task")
    recording.add_flows(
        name=[flow, flow], source_thread=[a, b], start=[115, 101], target_thread=[b, a], end=[162, 199]
    )
    recording.add_spans(
        name=[recording.text("spans", "request")] * 2, thread=[a, b], start=[100, 110], end=[190, 105],
        parent=[-1, 0],
    )  # fmt: skip
    recording.add_instants(name=[recording.text("instants", "mark")] * 2, thread=[b, a], time=[180, 90])
    trace = finish(recording)
    assert (trace.origin_ns, trace.span_ns) == (90, 110)
    assert trace.calls.start.tolist() == [10, 20, 15, 70]
    sync = trace.sync
    assert sync.thread.tolist() == [0, 0, 1]
    assert sync.start.tolist() == [22, 25, 70]
    assert sync.call.tolist() == [-1, 1, 3]
    assert sync.contended.tolist() == [0, -1, 1]
    assert sync.first.tolist() == [0, 1, 1, 3]
    assert [sync.objects[i] for i in sync.object] == ["Queue", "Lock 1", "Queue"]
    assert trace.memory.time.tolist() == [14, 28, 40]
    assert trace.memory.call.tolist() == [-1, 1, 0]
    assert list(trace.counters.name) == ["load", "other"]
    assert trace.counters.first.tolist() == [0, 2, 3]
    assert trace.counters.value.tolist() == [3, 2, 1]
    assert trace.flows.source.tolist() == [-1, 1]
    assert trace.flows.target.tolist() == [0, 3]
    assert trace.spans.end.tolist() == [100, 20]
    assert trace.spans.parent.tolist() == [-1, 0]
    assert trace.instants.thread.tolist() == [0, 1]
    assert trace.instants.time.tolist() == [0, 90]


def test_thread_with_instants_alone_stays():
    recording = Recording()
    recording.add_instants(name=[recording.text("instants", "x")], thread=[recording.thread(1, 1)], time=[5])
    trace = finish(recording)
    assert len(trace.threads) == 1
    assert len(trace.calls) == 0


def test_nothing_recorded_is_an_empty_trace():
    trace = finish(Recording())
    assert len(trace.calls) == len(trace.threads) == 0
    assert (trace.origin_ns, trace.span_ns) == (0, 0)


def test_times_beyond_all_reason_are_left_out_and_counted():
    recording = Recording()
    thread, f = recording.thread(1, 1), recording.function("f")
    recording.add_events(
        thread=[thread] * 4, kind=[COMPLETE, BEGIN, COMPLETE, END], function=[f] * 4,
        time=[5, -(2**63), 6, 2**63 - 1], end=[2**63 - 1, 0, 9, 0],
    )  # fmt: skip
    recording.add_sync(
        thread=[thread] * 2, kind=[WAIT] * 2, name=[recording.text("sync", "w")] * 2,
        start=[TIME_LIMIT, 7], event=[2, 2],
        objects=[[recording.text("objects", "a")], [recording.text("objects", "b")]],
    )  # fmt: skip
    recording.add_spans(
        name=[recording.text("spans", "s")] * 2, thread=[thread] * 2, start=[-TIME_LIMIT, 6], end=[6, 7],
        parent=[-1, 0],
    )  # fmt: skip
    trace = finish(recording)
    assert len(trace.calls) == 1
    assert trace.sync.call.tolist() == [0]
    assert [trace.sync.objects[i] for i in trace.sync.object] == ["b"]
    assert trace.spans.parent.tolist() == [-1]
    assert trace.problems["bad time"].count == 5
    assert trace.problems["bad time"].first == "line 1"


def test_chunks_are_joined():
    recording = Recording()
    thread, f = recording.thread(1, 1), recording.function("f")
    recording.add_events(thread=[thread], kind=[BEGIN], function=[f], time=[0])
    recording.add_events(thread=[thread], kind=[COMPLETE], function=[f], time=[1], end=[2], record=[77])
    recording.add_events(thread=[thread], kind=[END], function=[f], time=[3])
    trace = finish(recording)
    assert trace.calls.record.tolist() == [-1, 77]
    assert trace.calls.end.tolist() == [3, 2]


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="instants"):
        Recording().add_instants(name=[0], thread=[0, 1], time=[0])


# -- arguments -----------------------------------------------------------------------------------

RECORDS = [
    b'{"name": "f", "args": {"x": 1, "text": "}{\\"\xc3\xa9"}}',
    b'{"name": "g"}',
    b'{"name": "h", "args": "alone"}',
    b'{"name": "long", "args": {"data": "' + b"\xc3\xa9" * 100_000 + b'"}}',
    b'{"name": "bad", "args": {',
]


@pytest.fixture(params=["plain", "gzip", "zstd"])
def with_arguments(request, tmp_path):
    """A trace of RECORDS, and its recording in one of the ways to pack it."""
    data = b"[\n" + b",\n".join(RECORDS)
    offsets = [data.index(record) for record in RECORDS]
    path = tmp_path / "run.json"
    if request.param == "gzip":
        path.write_bytes(gzip.compress(data))
    elif request.param == "zstd":
        path.write_bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(data))
    else:
        path.write_bytes(data)
    calls = Calls(record=np.array([*offsets, -1, 1, len(data) + 5]))
    return Trace(calls=calls, source=Source(str(path), hash=known_files.content_hash(path)))


def test_arguments_are_decoded_when_asked_for(with_arguments):
    trace = with_arguments
    assert trace.arguments(0) == json.loads(RECORDS[0])["args"]
    assert trace.arguments(1) == {}
    assert trace.arguments(2) == {"args": "alone"}
    assert trace.arguments(3) == {"data": "é" * 100_000}
    assert trace.arguments(5) == {}
    assert Trace().arguments(0) == {}


@pytest.mark.parametrize("call", [4, 6, 7])
def test_arguments_that_can_not_be_decoded_are_one_sentence(with_arguments, call):
    with pytest.raises(InputError, match=r"run\.json: the (record|arguments) at byte"):
        with_arguments.arguments(call)


def test_changed_or_missing_recording_is_one_sentence(with_arguments, tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(b"something else")
    with pytest.raises(InputError, match="has changed since"):
        with_arguments.arguments(0)
    path.unlink()
    with pytest.raises(InputError, match="no longer exists"):
        with_arguments.arguments(0)


def test_arguments_of_a_stored_trace_come_from_the_recording_beside_it(with_arguments, tmp_path):
    stored = tmp_path / "kept.tv3"
    source = replace(with_arguments.source, path=str(stored), recording="elsewhere/run.json")
    trace = replace(with_arguments, source=source)
    assert trace.arguments(0) == json.loads(RECORDS[0])["args"]


def test_stacks_keep_their_functions_and_rows_find_them() -> None:
    recording = Recording()
    thread = recording.thread(1, 1)
    unused, main, read = (recording.function(name) for name in ("unused", "main", "read"))
    assert unused == 0
    assert recording.add_stacks(function=[main], parent=[-1], line=[7]) == 0
    assert recording.add_stacks(function=[read], parent=[0]) == 1
    recording.add_memory(
        thread=[thread] * 2, kind=[ALLOC] * 2, time=[20, 10], address=[1, 2], size=[8, 9], stack=[1, -1]
    )
    trace = finish(recording)
    assert list(trace.functions.name) == ["main", "read"]
    assert trace.stacks.function.tolist() == [0, 1]
    assert trace.stacks.parent.tolist() == [-1, 0]
    assert trace.stacks.line.tolist() == [7, 0]
    assert trace.memory.stack.tolist() == [-1, 1]
    assert len(trace.calls) == 0


@pytest.mark.parametrize("origin", [0, 4, 10])
@pytest.mark.parametrize("with_events", [False, True])
def test_waits_name_calls_that_are_nested_already(with_events, origin):
    recording = Recording()
    recording.thread(0, "idle")
    thread, outer, inner = (
        recording.thread(0, "busy"),
        recording.function("outer"),
        recording.function("inner"),
    )
    calls = Calls(
        function=np.array([outer, inner, inner], np.int32),
        parent=np.array([-1, 0, 0]),
        depth=np.array([1, 2, 2], np.int32),
        start=np.array([10, 12, 15]),
        end=np.array([20, 14, 19]),
        extent=np.array([3, 1, 1]),
        thread=np.full(3, thread, np.int32),
        record=np.empty(0, np.int64),
    )
    columns = {"thread": calls.thread, "function": calls.function, "time": calls.start, "end": calls.end}
    given = replace(calls, start=calls.start - origin, end=calls.end - origin)
    recording.add_calls(given, lambda: {**columns, "kind": np.full(3, COMPLETE)}, origin=origin)
    if with_events:
        # Then all are events, those of calls behind what was added before.
        recording.add_sync(
            thread=[thread], kind=[WAIT], name=[recording.text("sync", "lock")], start=[15], event=[3]
        )
        recording.add_events(thread=[thread], kind=[COMPLETE], function=[outer], time=[30], end=[31])
    else:
        recording.add_sync(
            thread=[thread], kind=[WAIT], name=[recording.text("sync", "lock")], start=[15], event=[2]
        )
    trace = finish(recording)
    assert trace.threads.tid == ("busy",)
    assert trace.calls.thread.tolist() == [0] * (3 + with_events)
    assert (trace.sync.call.tolist(), trace.sync.start.tolist(), trace.sync.end.tolist()) == ([2], [5], [9])


def test_calls_of_several_readers_count_from_one_time():
    recording = Recording()
    for tid, origin, start in ((1, 100, 0), (2, 90, 30)):
        thread, function = recording.thread(0, tid), recording.function(f"f{tid}")
        calls = Calls(
            function=np.array([function], np.int32),
            parent=np.array([-1]),
            depth=np.array([1], np.int32),
            start=np.array([start]),
            end=np.array([start + 5]),
            extent=np.array([1]),
            thread=np.array([thread], np.int32),
            record=np.empty(0, np.int64),
        )
        recording.add_calls(calls, dict, origin=origin)
    trace = finish(recording)
    assert (trace.origin_ns, trace.span_ns) == (100, 25)
    assert (trace.calls.start.tolist(), trace.calls.end.tolist()) == ([0, 20], [5, 25])


@given(st.recursive(st.just([]), lambda inner: st.lists(inner, max_size=4), max_leaves=20), st.data())
def test_nested_calls_last_as_long_as_the_outermost_ones(roots, data):
    start, end, extent = [], [], []

    def add(calls, at):
        for inner in calls:
            row = len(start)
            start.append(at)
            end.append(at)
            extent.append(1)
            at = add(inner, at + data.draw(st.integers(0, 2))) + data.draw(st.integers(0, 2))
            end[row], extent[row] = at, len(start) - row
        return at

    # Threads follow each other, each with times of its own.
    add([[], *roots], data.draw(st.integers(-9, 9)))
    add(roots, data.draw(st.integers(-9, 9)))
    columns = (np.array(column, np.int64) for column in (start, end, extent))
    assert measures.find_range(*columns) == (min(start), max(end))


@given(st.lists(st.integers(0, 5), max_size=12), st.sets(st.integers(0, 5)))
def test_what_a_column_names_is_marked(column, already):
    used = np.zeros(6, np.bool_)
    used[list(already)] = True
    measures.mark_used(np.array(column, np.int32), used)
    assert set(np.flatnonzero(used).tolist()) == {*column, *already}
