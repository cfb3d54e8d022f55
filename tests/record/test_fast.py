"""The part in C records what the engines in Python record, and what the program knows of itself."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from array import array
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.conftest import ROOT
from tests.support.recorder import wait_for_end
from tracevis3d.record.fast import MODULE
from tracevis3d.record.output import arena as arenas
from tracevis3d.record.output import spool

needs_c = pytest.mark.skipif(MODULE is None, reason="the part in C was not built")
ENGINES = ["fast", "monitoring" if hasattr(sys, "monitoring") else "profile"]

#: A call: its function (0 to 2), whether it raises (its caller goes on), and the calls in it.
CALLS = st.recursive(
    st.tuples(st.integers(0, 2), st.booleans(), st.just(())),
    lambda inner: st.tuples(st.integers(0, 2), st.booleans(), st.lists(inner, max_size=4).map(tuple)),
    max_leaves=25,
)
#: Of each thread its calls, and how often a generator is resumed between them.
PROGRAMS = st.lists(st.tuples(st.lists(CALLS, max_size=4), st.integers(0, 5)), min_size=1, max_size=3)


class Stop(Exception):
    pass


def plain():
    """Return the functions of a program, and what each thread has called, in order, with the depth."""
    diary = {}

    def note(name, depth):
        diary.setdefault(threading.current_thread().name, []).append((name, depth))

    def inside(call, depth):
        note("inside", depth)
        _, raises, inner = call
        for one_more in inner:
            run(one_more, depth + 1)
        if raises:
            raise Stop

    def zero(call, depth):
        note("zero", depth)
        inside(call, depth + 1)

    def one(call, depth):
        note("one", depth)
        inside(call, depth + 1)

    def two(call, depth):
        note("two", depth)
        inside(call, depth + 1)

    def run(call, depth):
        note("run", depth)
        with contextlib.suppress(Stop):
            (zero, one, two)[call[0]](call, depth + 1)

    def steps(n):
        yield from range(n)

    def thread(program):
        calls, resumed = program
        going = steps(resumed)
        for call in calls:
            run(call, 0)
        for _ in going:
            pass

    return thread, diary


@needs_c
@pytest.mark.parametrize("engine", ENGINES)
@given(programs=PROGRAMS)
@settings(max_examples=8, deadline=None)
def test_random_programs_against_their_own_diaries(tmp_path_factory, engine, programs):
    path = str(tmp_path_factory.mktemp("calls") / "out.json")
    thread, diary = plain()
    with tv.record(path, threads=False, io=False, engine=engine):
        threads = [
            threading.Thread(target=thread, args=(program,), name=f"t{i}")
            for i, program in enumerate(programs)
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    trace = tv.load(path, cache=False)
    assert not trace.problems
    short = [label.removeprefix("plain.") for label in trace.functions.label]
    for one in threads:
        # Not by its name: one that ends at once may have none on record.
        number, name = trace.threads.tid.index(one.native_id), one.name
        calls = [call for call, of in enumerate(trace.calls.thread.tolist()) if of == number]
        called = [short[function] for function in trace.calls.function[calls].tolist()]
        depths = trace.calls.depth[calls].tolist()
        base = depths[called.index("thread")] + 1
        names = ("run", "inside", "zero", "one", "two")
        # threading's own run is outside of the thread's function.
        inside = [(what, depth - base) for what, depth in zip(called, depths) if depth >= base]
        said = [(what, depth) for what, depth in inside if what in names]
        assert said == diary.get(name, [])
        assert called.count("steps") == programs[int(name[1:])][1] + 1


@needs_c
def test_the_writer_reads_what_a_program_of_many_threads_has_written(tmp_path):
    """Files and blocks follow each other while the program runs; nothing is read twice or lost."""
    path = str(tmp_path / "out.json")
    with tv.record(path, threads=True, io=False, engine="fast"):
        lock = threading.Lock()

        def leaf():
            pass

        def work(n):
            for _ in range(n):
                leaf()
                with lock:
                    pass

        threads = [threading.Thread(target=work, args=(n,)) for n in (20_000, 9_000, 1, 300, 0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    trace = tv.load(path, cache=False)
    assert not trace.problems
    called = [trace.functions.label[function] for function in trace.calls.function.tolist()]
    test = "test_the_writer_reads_what_a_program_of_many_threads_has_written"
    assert (called.count(f"{test}.leaf"), called.count(f"{test}.work")) == (29_301, 5)
    assert sum(trace.sync.names[name] == "Lock.release" for name in trace.sync.name.tolist()) == 29_301


def header(kind, size, thread=0, tid=0, used=0, closed=0):
    return arenas._HEADER.pack(ord(kind) if kind else 0, size, thread, tid, used, closed)


def test_rows_wait_for_what_they_refer_to_and_threads_for_their_names(tmp_path):
    size = arenas._HEADER.size

    def row(end):
        return array("q", [0, 1, end - 1, end, 0, 0]).tobytes()

    name = arenas._NAME.pack(9, 3, 1, 4) + b"ff.py\0\0\0"
    blocks = [
        header("C", size + 32, 1, 71, 32) + array("q", [9, 5, 0, 6]).tobytes(),
        header("R", size + 96, 1, 71, 96) + row(10) + row(20),
        header("F", size + 32, 0, 0, 32) + name,
        header("C", size + 16, 2, 72, 16) + array("q", [9, 7]).tobytes(),
    ]
    file = tmp_path / "arena-1"
    file.write_bytes(header("", 0, closed=1) + b"".join(blocks) + header("", 0))
    reader = arenas.Arenas(str(tmp_path))
    known = {1}
    first = list(reader.read(known, 15))
    assert first == [
        (spool.FUNCTIONS, 0, json.dumps({9: ["f", "f.py", 3]}).encode()),
        (spool.CALLS, 1, array("q", [9, 0, 5, 6]).tobytes()),
        (spool.ROWS, 1, row(10)),
    ]
    # It is closed, but not read to its end.
    assert file.exists()
    assert list(reader.read(known, 15)) == []
    rest = list(reader.read(known, None))
    assert rest == [
        (spool.ROWS, 1, row(20)),
        (spool.THREAD, 2, b'{"tid": 72, "name": ""}'),
        (spool.CALLS, 2, array("q", [9, 7]).tobytes()),
    ]
    assert not file.exists()
    reader.close()


@needs_c
def test_what_a_killed_program_did_is_all_there(tmp_path):
    program, output = tmp_path / "program.py", tmp_path / "out.json"
    program.write_text(
        "import os, signal\ndef leaf(): pass\ndef last():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "for _ in range(1234): leaf()\nlast()\n"
    )
    words = [sys.executable, "-m", "tracevis3d", "record", "--engine", "fast", "-o", output, program]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run(words, env=environment, capture_output=True).returncode == -9
    wait_for_end(output)
    trace = tv.load(str(output), cache=False)
    short = [name.rpartition(" (")[0] or name for name in trace.functions.name]
    called = [short[function] for function in trace.calls.function.tolist()]
    assert (called.count("leaf"), called.count("last")) == (1234, 1)
    assert list(trace.problems) == ["broke off"]


def test_without_a_compiler_python_does_it(tmp_path):
    """The part in C is missing: programs are recorded as before it was there."""
    program, output = tmp_path / "program.py", tmp_path / "out.json"
    program.write_text(
        "import threading\nlock = threading.Lock()\nfor _ in range(20):\n    with lock: pass\n"
    )
    hidden = tmp_path / "sitecustomize.py"
    hidden.write_text("import sys\nsys.modules['tracevis3d.record.fast._fast'] = None\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    words = [sys.executable, "-m", "tracevis3d", "record", "--threads", "-o", output]
    done = subprocess.run([*words, program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "20 waits, 20 releases" in done.stderr
    asked = [*words, "--engine", "fast", program]
    refused = subprocess.run(asked, env=environment, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "C compiler" in refused.stderr


@pytest.mark.parametrize(
    ("at", "value", "calls"),
    [
        (64 + 4, 0, 0),  # a block of no size
        (64 + 4, 1 << 30, 0),  # one that is larger than the file
        (64, 0x7878, 0),  # one of no kind
        (64 + 24, 1 << 20, 2),  # more in it than there is room for: all that there is room for is read
        (64 + 24, 16 + 5, 1),  # half of what is written at a time
    ],
)
def test_a_block_that_a_crashing_program_wrote_over_is_told(tmp_path, at, value, calls):
    header = arenas._HEADER
    block = header.pack(ord("C"), 64 + 32, 1, 901, 16, 0) + array("q", [5, 100, 6, 200]).tobytes()
    data = bytearray(header.pack(0, 4096, 0, 0, 0, 0) + block)
    data[at : at + 4] = value.to_bytes(4, "little")
    Path(arenas.file_name(str(tmp_path), 1)).write_bytes(bytes(data).ljust(4096, b"\0"))
    found = arenas.Arenas(str(tmp_path))
    said = [*found.read(set(), None), *found.read(set(), None)]
    found.close()
    assert [kind for kind, _, _ in said].count(spool.PROBLEM) == 1
    assert sum(len(data) // 16 for kind, _, data in said if kind == spool.CALLS) == calls
