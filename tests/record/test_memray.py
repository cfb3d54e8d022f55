"""Blocks by memray, with calls and waits of the same run: one trace, one clock, the same threads."""

import itertools
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d.errors import UsageError
from tracevis3d.features.memory.blocks import find_blocks
from tracevis3d.features.memory.call_sites import find_sites, passes_on
from tracevis3d.record.engines.choice import NAMES, choose
from tracevis3d.record.memory import choice
from tracevis3d.record.memory.blocks import spread
from tracevis3d.record.memory.choice import about, choose_memory
from tracevis3d.record.memory.with_memray import ARENA, is_interpreters, without_interpreter
from tracevis3d.record.state import Chunks

PROGRAM = """
import threading, time, zlib
lock = threading.Lock()
kept = []
def leaf(i):
    with lock:
        kept.append(bytearray(5000 + i))
def work(n):
    for i in range(n):
        leaf(i)
        time.sleep(0.002)
def churn():
    for i in range(300): bytearray(70_000)
def pack(): return zlib.compress(bytes(300_000))
workers = [threading.Thread(target=work, args=(40,), name=f"worker {k}") for k in range(2)]
for worker in workers: worker.start()
for worker in workers: worker.join()
churn()
pack()
{end}
"""


def record(tmp_path, *options, end="", environment=None):
    path, script = tmp_path / "out.json", tmp_path / "program.py"
    script.write_text(PROGRAM.replace("{end}", end))
    done = subprocess.run(
        [sys.executable, "-m", "tracevis3d", "record", *options, "-o", str(path), "--", str(script)],
        capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
    )  # fmt: skip
    return done, path


def sites_of(trace):
    """Return the name of each block's call site, and the blocks."""
    blocks = find_blocks(trace.memory, trace.span_ns)
    sites = find_sites(trace, blocks)
    return [sites.name[s] for s in sites.of_block.tolist()], blocks


def chain(trace, frame):
    """Return the functions of a call site, the innermost first."""
    names = []
    while frame >= 0:
        names.append(trace.functions.label[trace.stacks.function[frame]])
        frame = int(trace.stacks.parent[frame])
    return names


def test_every_block_with_its_thread_time_and_stack(tmp_path):
    pytest.importorskip("memray")
    done, path = record(
        tmp_path, "--threads", "--memory-engine", "memray", end="sys = __import__('sys'); sys.exit(4)"
    )
    assert done.returncode == 4, done.stderr
    trace = tv.load(path, cache=False)
    assert set(trace.problems) == {"coarse times"}
    memory = trace.memory
    kept = np.flatnonzero((memory.size >= 5001) & (memory.size < 5041))
    assert len(kept) == 80
    assert len(set(memory.address[kept].tolist())) == 80  # they are real ones
    worker = [trace.threads.name[t] for t in memory.thread[kept].tolist()]
    assert sorted(worker) == ["worker 0"] * 40 + ["worker 1"] * 40
    assert all(chain(trace, f)[:3] == ["leaf", "work", "Thread.run"] for f in memory.stack[kept].tolist())
    # Each lies within its thread's call of leaf, give or take the distance of two marks.
    calls = trace.calls
    leaf = [trace.functions.label[f] == "leaf" for f in calls.function.tolist()]
    for thread in set(memory.thread[kept].tolist()):
        mine = np.sort(memory.time[kept][memory.thread[kept] == thread])
        started = np.sort(calls.start[leaf & (calls.thread == thread)])
        assert len(mine) == len(started) == 40
        assert np.abs(mine - started).max() < 500_000_000
    # What came and went between two looks is there, too: tracemalloc would not see it.
    assert np.count_nonzero(memory.size == 70_001) == 300
    main = memory.stack[np.flatnonzero(memory.size == 70_001)[0]]
    assert chain(trace, main) == ["churn", "<module>"]
    assert [op for op in trace.sync.names if op == "Lock.acquire"]


def test_nothing_that_the_recorder_does_stands_in_the_programs_memory(tmp_path):
    pytest.importorskip("memray")
    end = """
def call(x): return x
def many():
    for i in range(60_000): call(i)
many()
"""
    done, path = record(tmp_path, "--memory-engine", "memray", "--threads", "--io", end=end)
    assert done.returncode == 0, done.stderr
    trace = tv.load(path, cache=False)
    names, blocks = sites_of(trace)
    # What keeps the calls grows all the time, and must not look like the program's own.
    # (Pages of Python's own stack, and of its map of arenas, may fall to any function: powers of two.)
    sizes = dict.fromkeys(zip(names, blocks.size.tolist()))
    ours = [(name, n) for name, n in sizes if n < 1 << 14 or n & (n - 1)]
    assert [key for key in ours if key[0].startswith(("call (", "many ("))] == []
    folder = os.path.join("tracevis3d", "record")
    assert not [name for name in trace.functions.name if folder in name]
    assert all(size in (1 << 18, 1 << 20) for name, size in zip(names, blocks.size.tolist()) if name == ARENA)


def test_compiled_functions_in_the_call_sites(tmp_path):
    pytest.importorskip("memray")
    done, path = record(tmp_path, "--memory", "--native")
    assert done.returncode == 0, done.stderr
    trace = tv.load(path, cache=False)
    stacks = {tuple(chain(trace, f)) for f in trace.memory.stack.tolist()}
    inside = [stack for stack in stacks if "pack" in stack]
    # zlib's own buffers stand in zlib, below Python's function; what Python makes stands in Python's.
    assert any("deflateInit2_" in stack[: stack.index("pack")] for stack in inside)
    assert any(stack[:1] == ("leaf",) for stack in stacks)
    assert not any(name.startswith("_PyEval") for stack in stacks for name in stack)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_program_that_is_killed(tmp_path):
    pytest.importorskip("memray")
    done, path = record(
        tmp_path, "--memory-engine", "memray", end="time.sleep(0.2); import os; os.kill(os.getpid(), 9)"
    )
    assert done.returncode == -signal.SIGKILL
    import time

    for _ in range(200):
        if path.read_bytes().rstrip().endswith(b"]}"):
            break
        time.sleep(0.05)
    trace = tv.load(path, cache=False)
    assert np.count_nonzero((trace.memory.size >= 5001) & (trace.memory.size < 5041)) == 80


def test_forks_go_on(tmp_path):
    pytest.importorskip("memray")
    end = "import os\npid = os.fork()\nif not pid: os._exit(5)\nprint(os.waitpid(pid, 0)[1] >> 8)"
    done, path = record(tmp_path, "--memory-engine", "memray", "--threads", end=end)
    assert (done.returncode, done.stdout) == (0, "5\n"), done.stderr
    assert "2 processes" in done.stderr
    assert np.count_nonzero(tv.load(path, cache=False).memory.size == 70_001) == 300


def test_from_within_a_program(tmp_path):
    pytest.importorskip("memray")
    path, script = tmp_path / "out.json", tmp_path / "within.py"
    script.write_text(f"""
import memray, tracevis3d
def f(): return bytearray(80_000)
with tracevis3d.record({str(path)!r}, memory="memray"):
    kept = f()
with memray.Tracker({str(tmp_path / "other.bin")!r}):
    try:
        with tracevis3d.record({str(path) + "2"!r}, memory="memray"): pass
    except tracevis3d.errors.UsageError as error: print(error)
with tracevis3d.record({str(path) + "3"!r}, memory="memray"):
    kept = f()
""")
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("memray can't be used: No more than one Tracker")
    for name in (path, f"{path}3"):
        trace = tv.load(str(name), cache=False)
        (row,) = np.flatnonzero(trace.memory.size == 80_001)
        assert chain(trace, int(trace.memory.stack[row]))[:2] == ["f", "<module>"]


def test_without_memray_one_sentence(tmp_path):
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "memray.py").write_text("raise ImportError('hidden')")
    path = f"{tmp_path / 'hidden'}{os.pathsep}{ROOT}"
    for options in (["--memory-engine", "memray"], ["--memory", "--native"]):
        done, _ = record(tmp_path, *options, environment={"PYTHONPATH": path})
        assert done.returncode == 1
        assert "memray is not installed: 'pip install memray'" in done.stderr
        assert done.stderr.count("\n") == 1
        assert not list(tmp_path.glob("**/spool-*"))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--memory-engine", "memray", "--live", "tcp://127.0.0.1:*"], "can't be published"),
        (["--memory-engine", "memray", "--engine", "profile"], "memray takes the hook"),
        (["--memory-engine", "tracemalloc", "--native"], "tracemalloc does not see compiled code"),
        (["--memory-frames", "2", "--native"], "tracemalloc does not see compiled code"),
        (["--memory-frames", "2", "--memory-engine", "memray"], "--memory-frames is for tracemalloc"),
        (["--memory-frames", "65"], "1 to 64 are possible"),
        (["--native", "--memory", "--accesses"], "--accesses needs --native without --memory"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(tmp_path, words, why):
    done, _ = record(tmp_path, *words)
    assert done.returncode != 0
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_functions_options():
    with pytest.raises(UsageError, match="one of tracemalloc, memray"):
        tv.record("x.json", memory="valgrind")
    with pytest.raises(UsageError, match="needs memory='memray'"):
        tv.record("x.json", memory=True, native=True)
    with pytest.raises(UsageError, match="needs memory='tracemalloc'"):
        tv.record("x.json", memory="memray", memory_frames=2)
    by = {
        memory: tv.record("x.json", memory=memory, memory_frames=n)._options.memory
        for memory, n in ((True, 0), ("auto", 2), (False, 0))
    }
    assert by == {True: "tracemalloc", "auto": "tracemalloc", False: ""}


@pytest.mark.parametrize("there", [True, False])
def test_the_engine_is_chosen_by_what_is_installed(monkeypatch, there):
    monkeypatch.setattr(choice.importlib.util, "find_spec", lambda name: there or None)
    best = "memray" if there else "tracemalloc"
    chosen = {
        words: choose_memory(*words)
        for words in itertools.product(NAMES, (False, True), (False, True), (0, 2))
    }
    assert {words[0] for words, by in chosen.items() if by == "memray"} == (
        {"auto", "monitoring", "trace"} if there else set()
    )
    assert all(words[1:] == (False, False, 0) for words, by in chosen.items() if by == "memray")
    assert chosen["auto", False, False, 0] == best
    # What is chosen, the engine of the calls goes with.
    for (engine, c_functions, live, _), by in chosen.items():
        if by == "memray" and engine != "monitoring":
            choose(engine, c_functions, live, True)
    remedy = "--memory-engine memray" if there else "'pip install memray'"
    assert remedy in about("tracemalloc", False)
    assert "with 1 frame a block" in about("tracemalloc", False, 1)
    assert "memray" not in about("tracemalloc", True)  # it can't publish


def test_memory_says_who_records_it_and_what_is_not_seen(tmp_path):
    pytest.importorskip("memray")
    first, path = record(tmp_path, "--memory")
    assert first.returncode == 0, first.stderr
    said = first.stderr.splitlines()
    assert said[0].startswith("tracevis3d: memray records each block of this process")
    assert "--memory-engine tracemalloc records those" in said[0]
    sizes = tv.load(path, cache=False).memory.size
    # zlib and the interpreter may have blocks of the same size.
    assert np.count_nonzero(sizes == 70_001) == 300
    second, path = record(tmp_path, "--memory-frames", "2")
    said = second.stderr.splitlines()
    assert said[0].startswith(
        "tracevis3d: tracemalloc records what lives at snapshots, with 2 frames a block"
    )
    assert "--memory-engine memray records them" in said[0]
    assert "(without blocks freed between two snapshots)" in said[-1]
    trace = tv.load(path, cache=False)
    kept = np.flatnonzero((trace.memory.size >= 5001) & (trace.memory.size < 5100))
    assert {tuple(chain(trace, f)) for f in trace.memory.stack[kept].tolist()} == {("leaf", "work")}
    assert len(kept) == 80


def test_what_the_interpreter_does_for_itself_stands_where_the_program_does():
    python = [("f", "/p.py", 3), ("<module>", "/p.py", 9)]
    stack = [
        ("_PyObject_Malloc", "Objects/obmalloc.c", 2003),
        ("default_malloc", "<unknown>", 0),
        ("PyArray_New", "<unknown>", 0),
        ("_PyObject_VectorcallTstate", "./Include/internal/pycore_call.h", 92),
        python[0],
        ("builtin_exec", "/usr/src/Python/clinic/bltinmodule.c.h", 465),
        python[1],
        ("main", "", 0),
    ]
    assert without_interpreter(stack, python) == [
        ("default_malloc", "", 0), ("PyArray_New", "", 0), *python
    ]  # fmt: skip
    assert without_interpreter(stack[:1] + stack[4:], python) == python
    assert without_interpreter([("start", "t.c", 3)], []) == [("start", "t.c", 3)]
    # NumPy's own allocators are nobody's call site.
    assert all(map(passes_on, ("default_malloc", "PyDataMem_UserNEW", "PyArray_NewFromDescr_int")))
    assert not passes_on("array_copy")
    assert is_interpreters(("PyEval_EvalCode", "<unknown>", 0))
    assert not is_interpreters(("PyArray_Zeros", "<unknown>", 0))
    assert not is_interpreters(("x", "Modules/zlibmodule.c", 1))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 100)), min_size=1, max_size=8),
    st.integers(0, 9),
    st.integers(0, 900),
)
@settings(deadline=None, max_examples=200)
def test_rows_between_two_moments_are_spread_evenly(steps, rest, later):
    marks, moments, wanted = [], [], []
    for rows, after in steps:
        before = moments[-1] if moments else 0
        now = before + after if moments else after
        begin = before if moments else now
        wanted += [begin + (now - begin) * (i + 1) // rows for i in range(rows)]
        marks.append(len(wanted))
        moments.append(now)
    end = max(later, moments[-1])
    wanted += [moments[-1] + (end - moments[-1]) * (i + 1) // rest for i in range(rest)]
    times = spread(marks, moments, len(wanted), later).tolist()
    assert times == wanted
    assert times == sorted(times)


@given(st.lists(st.integers(0, 200), max_size=12))
@settings(deadline=None, max_examples=100)
def test_chunks_keep_what_a_list_would(counts):
    chunks, plain, taken, number = Chunks(), [], [], 0
    for count in counts:
        for _ in range(count):
            chunks.extend((number, number + 1))
            plain += [number, number + 1]
            number += 2
        assert len(chunks) == len(plain) - len(taken)
        if count % 3:
            taken += chunks.take()
            assert taken == plain
            assert not chunks
    assert taken + chunks.take() == plain


def test_chunks_lose_nothing_between_threads():
    import threading

    chunks, taken = Chunks(), []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:

        def fill():
            for i in range(30_000):
                chunks.extend((i, -i))

        thread = threading.Thread(target=fill)
        thread.start()
        while thread.is_alive():
            taken += chunks.take()
        thread.join()
    finally:
        sys.setswitchinterval(before)
    taken += chunks.take()
    assert taken == [x for i in range(30_000) for x in (i, -i)]
