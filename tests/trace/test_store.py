"""Traces on disk."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import synthetic
from tracevis3d.errors import InputError
from tracevis3d.trace.model import (
    TABLES,
    Calls,
    Containers,
    Counters,
    Flows,
    Functions,
    Instants,
    Memory,
    Source,
    Spans,
    Stacks,
    Sync,
    Threads,
    Trace,
)
from tracevis3d.trace.problems import Problems
from tracevis3d.trace.storage import container, known_files, store
from tracevis3d.trace.strings import Strings


def names_of(n, prefix="f"):
    return Strings.of(f"{prefix}{i}" for i in range(n))


def make_trace(calls: Calls, first, count, functions: int, **tables) -> Trace:
    threads = len(first)
    return Trace(
        calls=calls,
        functions=Functions(
            names_of(functions), names_of(functions, "label "),
            *(np.zeros(functions, np.int32) for _ in range(3)),
        ),
        containers=Containers(Strings.of(["a"]), np.array([-1], np.int32), np.array([1], np.uint8)),
        files=Strings.of(["a.py"]),
        threads=Threads(
            tuple(range(threads)), tuple(f"t{i}" for i in range(threads)), ("main",) * threads,
            ("",) * threads, np.asarray(first, np.int64), np.asarray(count, np.int64),
        ),
        **tables,
    )  # fmt: skip


@given(
    st.lists(st.text(st.characters(codec="utf-8") | st.sampled_from("a\ud800\udc00"), max_size=4), max_size=5)
)
def test_strings_are_those_that_were_given_but_for_lone_surrogates(texts):
    stored = Strings.of(texts)
    said = [text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for text in texts]
    assert list(stored) == said
    assert [stored[k] for k in range(len(texts))] == said


def full_trace() -> Trace:
    """A small trace with something in every table."""
    calls, first, count = synthetic.program(500, threads=3, functions=40)
    calls = replace(calls, record=np.where(np.arange(500) % 3 == 0, np.arange(500) * 1000, -1))
    problems = Problems()
    problems.add("overlap", "line 3", 7)
    i32, i64 = np.int32, np.int64
    return make_trace(
        calls, first, count, 40,
        sync=Sync(
            call=np.array([3, -1], i64), thread=np.array([0, 1], i32), start=np.array([1, 2], i64),
            end=np.array([4, 2], i64), kind=np.array([0, 1], np.uint8), contended=np.array([1, -1], np.int8),
            name=np.array([0, 0], i32), first=np.array([0, 2, 2], i64), object=np.array([0, 1], i32),
            names=Strings.of(["acquire"]), objects=Strings.of(["Lock é", "\N{SNOWMAN}"]),
        ),
        memory=Memory(
            np.array([5], i64), np.array([2**64 - 1], np.uint64), np.array([16], i64),
            np.array([0], np.uint8), np.array([0], i32), np.array([-1], i64), np.array([1], i32),
        ),
        stacks=Stacks(np.array([3, 5], i32), np.array([-1, 0], i32), np.array([12, 0], i32)),
        counters=Counters(
            Strings.of(["load"]), ("pid",), np.array([0, 2], i64), np.array([1, 9], i64),
            np.array([0.5, np.inf]),
        ),
        flows=Flows(
            np.array([0], i64), np.array([-1], i64), np.array([0], i32), np.array([2], i32),
            np.array([1], i64), np.array([5], i64), np.array([0], i32), Strings.of(["flow"]),
        ),
        spans=Spans(
            np.array([0, 0], i32), np.array([0, 0], i32), np.array([1, 2], i64), np.array([9, 3], i64),
            np.array([-1, 0], i64), Strings.of(["request"]),
        ),
        instants=Instants(np.array([0], i32), np.array([1], i32), np.array([3], i64), Strings.of(["mark"])),
        problems=problems,
        source=Source("run.json.gz", "chrome", "ab" * 32, 1234),
        origin_ns=10**18, span_ns=10**9,
    )  # fmt: skip


def assert_same(found: Trace, wanted: Trace):
    for table in TABLES:
        for f in fields(getattr(wanted, table)):
            a, b = getattr(getattr(found, table), f.name), getattr(getattr(wanted, table), f.name)
            if isinstance(b, tuple | Strings):
                assert a == b, (table, f.name)
            else:
                assert a.dtype == b.dtype
                assert np.array_equal(a, b), (table, f.name)
    assert found.files == wanted.files
    assert found.problems.as_dict() == wanted.problems.as_dict()
    assert (found.origin_ns, found.span_ns) == (wanted.origin_ns, wanted.span_ns)


def load_or_sentence(path):
    """Return the trace at ``path``, or None if an error said in one line why there is none."""
    try:
        return store.load(path)
    except InputError as error:
        if "\n" in str(error):
            raise
        return None


def forget(path):
    """Make the store take a file for one that it never saw."""
    state = os.stat(path)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1_000_000))
    assert not known_files.recall(Path(path))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_round_trip(tmp_path, packed, known):
    trace = full_trace()
    path = tmp_path / "a.tv3"
    store.save(trace, path, packed)
    if not known:
        forget(path)
    loaded = store.load(path)
    assert_same(loaded, trace)
    assert loaded.source == replace(trace.source, path=str(path), recording="run.json.gz")
    assert [p.name for p in tmp_path.iterdir()] == ["a.tv3"]


def test_columns_that_came_later_are_empty_in_older_files(tmp_path, monkeypatch):
    wanted = replace(full_trace(), memory=Memory(), stacks=Stacks())
    columns = store._columns
    later = set(store._LATER)
    monkeypatch.setattr(store, "_columns", lambda t: ((n, c) for n, c in columns(t) if n not in later))
    store.save(wanted, tmp_path / "old.tv3")
    assert_same(store.load(tmp_path / "old.tv3"), wanted)


@pytest.mark.parametrize("packed", [False, True])
def test_round_trip_of_nothing(tmp_path, packed):
    store.save(Trace(), tmp_path / "a.tv3", packed)
    assert_same(store.load(tmp_path / "a.tv3"), Trace())


def test_same_trace_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        store.save(full_trace(), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_saving_what_was_loaded_keeps_where_it_came_from(tmp_path):
    store.save(full_trace(), tmp_path / "a.tv3")
    store.save(store.load(tmp_path / "a.tv3"), tmp_path / "b.tv3", packed=True)
    again = store.load(tmp_path / "b.tv3")
    assert_same(again, full_trace())
    assert again.source.recording == "run.json.gz"
    assert again.source.hash == "ab" * 32


def test_file_may_be_written_over_while_it_is_open(tmp_path):
    path = tmp_path / "a.tv3"
    store.save(full_trace(), path)
    loaded = store.load(path)
    store.save(loaded, path)
    store.save(Trace(), path)
    assert_same(loaded, full_trace())


def test_loaded_columns_never_change_the_file(tmp_path):
    path = tmp_path / "a.tv3"
    store.save(full_trace(), path)
    before = path.read_bytes()
    store.load(path).calls.start[:] = 0
    assert path.read_bytes() == before


def test_packed_form_takes_at_most_12_bytes_a_call(tmp_path):
    """Even where every duration and gap needs four bytes."""
    n = 20_000
    gap = np.full(n, (1 << 31) - 7, np.int64)
    depths = np.minimum(np.arange(n) % 5 + 1, np.arange(n) + 1).astype(np.int32)
    calls = synthetic.from_depths(depths, np.arange(n, dtype=np.int32) % 900, gap // 4, gap // 4)
    trace = make_trace(calls, [0], [n], 900)
    store.save(trace, tmp_path / "a.tv3", packed=True)
    assert_same(store.load(tmp_path / "a.tv3"), trace)
    columns = container.read(tmp_path / "a.tv3", "trace").columns
    assert sum(columns[name].nbytes for name in columns if name.startswith("packed.")) <= 12 * n + 32


some_time = st.one_of(
    st.integers(0, 3),
    st.sampled_from([255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**40, 2**53]),
)


@st.composite
def some_trace(draw):
    n = draw(st.integers(0, 12))
    depths: list[int] = []
    for _ in range(n):
        depths.append(draw(st.integers(1, (depths[-1] if depths else 0) + 1)))
    roots = depths.count(1)
    thread_of_root = np.sort(np.array([draw(st.integers(0, 2)) for _ in range(roots)], np.int32))
    times = st.lists(some_time, min_size=n, max_size=n)
    functions = draw(st.sampled_from([1, 300, 70_000]))
    calls = synthetic.from_depths(
        np.array(depths, np.int32),
        np.array([draw(st.integers(0, functions - 1)) for _ in range(n)], np.int32),
        np.array(draw(times), np.int64), np.array(draw(times), np.int64), thread_of_root,
    )  # fmt: skip
    shift = draw(st.sampled_from([0, -5, 2**60, -(2**60)]))
    record = draw(st.lists(st.one_of(st.just(-1), st.integers(0, 2**61)), min_size=n, max_size=n))
    calls = replace(
        calls, start=calls.start + shift, end=calls.end + shift,
        record=np.array(record if draw(st.booleans()) else [], np.int64),
    )  # fmt: skip
    count = np.bincount(calls.thread, minlength=3)[:3]
    return make_trace(calls, np.cumsum(count) - count, count, functions)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some_trace())
def test_packed_form_is_lossless(tmp_path, trace):
    path = tmp_path / "a.tv3"
    store.save(trace, path, packed=True)
    assert_same(store.load(path), trace)
    if len(trace.functions) < 1000:
        store.save(trace, path)
        forget(path)
        assert_same(store.load(path), trace)


# -- what can't be written -----------------------------------------------------------------------


def test_saving_into_no_folder_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match=r"can't be written: No such file or directory: choose"):
        store.save(full_trace(), tmp_path / "none" / "a.tv3")


def test_invalid_trace_is_not_saved(tmp_path):
    trace = full_trace()
    bad = replace(trace, calls=replace(trace.calls, parent=trace.calls.parent + 1))
    with pytest.raises(ValueError, match="tree of calls"):
        store.save(bad, tmp_path / "a.tv3")
    assert not list(tmp_path.iterdir())


def test_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "a.tv3"
    store.save(full_trace(), path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        store.save(Trace(), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.tv3"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_being_killed_while_writing_leaves_the_old_file(tmp_path):
    """A process that saves over and over is killed at some moment: the file is whole every time."""
    program = """
import sys
import numpy as np
from tracevis3d.trace.storage import container
path = __import__("pathlib").Path(sys.argv[1])
turn = 0
while True:
    turn += 1
    container.write(path, "test", {"turn": turn}, {"a": np.full(400_000, turn)})
    if turn == 2:
        print("go", flush=True)
"""
    path = tmp_path / "a.tv3"
    for moment in (0.0, 0.013, 0.031, 0.05):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"go\n"
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        found = container.read(path, "test")
        found.check_sums()
        assert (found.columns["a"] == found.facts["turn"]).all()


# -- what can't be read --------------------------------------------------------------------------


def rewrite(path, change):
    """Apply ``change`` to a file's header and columns, and make the checksums right again."""
    found = container.read(path, "trace")
    facts = json.loads(json.dumps(found.facts))
    columns = {name: column.copy() for name, column in found.columns.items()}
    change(facts, columns)
    container.write(path, "trace", facts, columns)
    forget(path)


def hostile(name, index, value):
    def change(facts, columns):
        columns[name][index] = value

    return change


HOSTILE = [
    hostile("calls.parent", 7, 10**12),
    hostile("calls.parent", 7, -2),
    hostile("calls.parent", 7, 7),
    hostile("calls.parent", 0, 499),
    hostile("calls.extent", 0, 10**15),
    hostile("calls.extent", 3, 0),
    hostile("calls.extent", 3, -(2**63)),
    hostile("calls.function", 3, 40),
    hostile("calls.function", 3, -1),
    hostile("calls.depth", 3, 2**31 - 1),
    hostile("calls.thread", 3, 5),
    hostile("calls.start", 9, 2**62),
    hostile("calls.end", 9, -(2**62)),
    hostile("calls.record", 9, -2),
    hostile("threads.first", 1, -1),
    hostile("threads.count", 1, 2**62),
    hostile("functions.name.offsets", 3, 2**50),
    hostile("functions.name.offsets", 0, -1),
    hostile("functions.container", 3, 1),
    hostile("functions.file", 3, -2),
    hostile("containers.parent", 0, 0),
    hostile("containers.kind", 0, 99),
    hostile("sync.first", 1, 99),
    hostile("sync.object", 0, 2),
    hostile("sync.call", 0, 500),
    hostile("sync.kind", 0, 3),
    hostile("sync.end", 0, 0),
    hostile("memory.call", 0, 500),
    hostile("counters.first", 1, 3),
    hostile("flows.target", 0, 500),
    hostile("flows.source_thread", 0, 3),
    hostile("spans.parent", 0, 1),
    hostile("instants.name", 0, 1),
    lambda facts, columns: columns.pop("calls.start"),
    lambda facts, columns: columns.update({"calls.start": columns["calls.start"][:-1]}),
    lambda facts, columns: columns.update({"calls.start": columns["calls.start"].astype(np.int32)}),
    lambda facts, columns: columns.update({"files.offsets": columns["files.offsets"][:0]}),
    lambda facts, columns: facts.pop("threads"),
    lambda facts, columns: facts["threads"]["name"].pop(),
    lambda facts, columns: facts["threads"].update(name=[None] * 3),
    lambda facts, columns: facts.update(origin_ns="now"),
    lambda facts, columns: facts.update(packed=1),
    lambda facts, columns: facts.update(packed=True),
    lambda facts, columns: facts.update(problems=[["nonsense", 1, ""]]),
    lambda facts, columns: facts.update(source={"path": 3}),
    lambda facts, columns: facts.update(source={"colour": "red"}),
]


@pytest.mark.parametrize("change", HOSTILE)
def test_lies_with_right_checksums_are_one_sentence(tmp_path, change):
    path = tmp_path / "a.tv3"
    store.save(full_trace(), path)
    rewrite(path, change)
    with pytest.raises(InputError, match=r"a\.tv3: the file is damaged \(.+\): write it again"):
        store.load(path)


@pytest.mark.parametrize(
    "change",
    [
        hostile("packed.function", 3, 40),
        hostile("packed.control", 3, 255),
        hostile("packed.control", 499, 3),
        hostile("packed.data", 11, 255),
        hostile("threads.count", 1, 2**62),
        lambda facts, columns: columns.update({"packed.data": columns["packed.data"][:20]}),
        lambda facts, columns: columns.update({"packed.data": columns["packed.data"][:-40]}),
        lambda facts, columns: columns.update({"packed.control": columns["packed.control"][:-1]}),
        lambda facts, columns: facts.update(record=False),
    ],
)
def test_packed_lies_are_one_sentence(tmp_path, change):
    path = tmp_path / "a.tv3"
    store.save(full_trace(), path, packed=True)
    rewrite(path, change)
    with pytest.raises(InputError, match="damaged"):
        store.load(path)


def test_other_files_are_one_sentence(tmp_path):
    path = tmp_path / "a.tv3"
    with pytest.raises(InputError, match="No such file"):
        store.load(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="is truncated"):
        store.load(path)
    path.write_bytes(b'{"traceEvents": []}' * 10)
    with pytest.raises(InputError, match=r"not a \.tv3 file"):
        store.load(path)
    container.write(path, "arrays", {}, {})
    with pytest.raises(InputError, match="'arrays'"):
        store.load(path)
    with pytest.raises(InputError):
        store.load(tmp_path)


def test_newer_version_says_so(tmp_path):
    path = tmp_path / "a.tv3"
    store.save(full_trace(), path)
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 8, container.VERSION + 1)
    path.write_bytes(data)
    with pytest.raises(InputError, match="newer TraceVis3D"):
        store.load(path)


@pytest.mark.parametrize("packed", [False, True])
def test_cut_off_anywhere_is_one_sentence(tmp_path, packed):
    path = tmp_path / "a.tv3"
    store.save(full_trace(), path, packed)
    whole = path.read_bytes()
    for length in [*range(0, 200, 7), *range(200, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(InputError):
            store.load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(InputError):
        store.load(path)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    files = {}
    for packed in (False, True):
        store.save(full_trace(), folder / "a.tv3", packed)
        files[packed] = (folder / "a.tv3").read_bytes()
    return folder / "a.tv3", files


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_changed_bytes_are_found(stored, data):
    """Any damage to the bytes of a column is found by its checksum; padding does not matter."""
    path, files = stored
    whole = bytearray(files[data.draw(st.booleans())])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(whole)
    forget(path)
    loaded = load_or_sentence(path)
    if loaded is not None:
        assert_same(loaded, full_trace())


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_changed_numbers_with_right_checksums_never_break_a_rule(stored, data):
    """Hostile columns: an error, or a trace whose every index is good."""
    path, files = stored
    packed = data.draw(st.booleans())
    path.write_bytes(files[packed])

    def change(facts, columns):
        names = sorted(name for name in columns if len(columns[name]))
        for _ in range(data.draw(st.integers(1, 3))):
            name = data.draw(st.sampled_from(names))
            column = columns[name]
            at = data.draw(st.integers(0, len(column) - 1))
            if column.dtype.kind == "f":
                continue
            low, high = int(np.iinfo(column.dtype).min), int(np.iinfo(column.dtype).max)
            near = st.integers(max(low, int(column[at]) - 3), min(high, int(column[at]) + 3))
            column[at] = data.draw(st.one_of(near, st.integers(low, high)))

    rewrite(path, change)
    loaded = load_or_sentence(path)
    if loaded is not None:
        assert store.find_wrong(loaded) == ""
        for name in loaded.functions.name:
            assert isinstance(name, str)
