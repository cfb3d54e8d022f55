"""Processes that a recorded program starts: their rows lie in the same file."""

import json
import os
import subprocess
import sys
import time

import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d.features.memory.blocks import find_blocks
from tracevis3d.features.memory.call_sites import find_sites
from tracevis3d.features.waits.waits import find_waits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are recorded where files can be locked")
ENGINE = "monitoring" if hasattr(sys, "monitoring") else "profile"

PROGRAM = """
import multiprocessing as mp, os, sys, threading, time
from concurrent.futures import ProcessPoolExecutor

def square(x):
    time.sleep(0.02)
    return x * x

def hold(lock, gate):
    gate.wait()
    for _ in range(3):
        with lock:
            time.sleep(0.03)

def main(method):
    context = mp.get_context(method)
    shared, gate = context.Lock(), context.Barrier(2)
    workers = [context.Process(target=hold, args=(shared, gate), name=f"worker-{i}") for i in range(2)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        # One that has begun waits for more, however long the other takes to begin.
        pool.submit(square, 0).result()
        time.sleep(0.05)
        print([worker.exitcode for worker in workers], list(pool.map(square, range(4))))

if __name__ == "__main__":
    main(sys.argv[1])
"""
FORKS = """
import os, sys, threading, time
own = threading.Lock()
with own:
    pass
pid = os.fork()
if not pid:
    with own:
        time.sleep(0.05)
    if os.fork():
        os.wait()
    else:
        time.sleep(0.02)
        os._exit(0)
    sys.exit(6)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def record(tmp_path, program, *arguments, engine=ENGINE, options=()):
    path, script = tmp_path / "out.json.gz", tmp_path / "program.py"
    script.write_text(program)
    words = [
        "-m",
        "tracevis3d",
        "record",
        "--threads",
        *options,
        "--engine",
        engine,
        "-o",
        str(path),
        "--",
        str(script),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *words, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )
    for _ in range(100):
        # A process that outlives the first is added when it ends.
        trace = tv.load(str(path), cache=False)
        if "truncated" not in trace.problems:
            break
        time.sleep(0.1)
    return done, trace


def waits_called(waits, kind):
    """Return thread, object, and who ended it, of the waits that are called so."""
    ops, threads = waits.ops, waits.trace.threads
    names = [*threads.name, None]
    return [
        (names[ops.thread[i]], ops.of(i), names[waits.woken_by[i]], names[waits.held_by[i]])
        for i in waits.own.tolist()
        if ops.names[ops.name[i]] == kind
    ]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_wait_for_each_other_in_one_file(tmp_path, method):
    done, trace = record(tmp_path, PROGRAM, method)
    assert (done.returncode, done.stdout) == (0, "[0, 0] [0, 1, 4, 9]\n"), done.stderr
    assert not trace.problems, [(kind, p.first) for kind, p in trace.problems.items()]
    assert {"worker-0", "worker-1"} <= set(trace.threads.name)
    assert len(set(trace.threads.process)) == 5 + (method == "forkserver")
    assert sum(name.startswith("square") for name in trace.functions.label) == 1
    waits = find_waits(trace)
    # A worker waits for the other, which holds the lock that both share.
    locks = waits_called(waits, "multiprocessing.Lock.acquire")
    between = [row for row in locks if {row[0], row[2]} == {"worker-0", "worker-1"}]
    assert between
    assert len({row[1][0] for row in between}) == 1
    assert all(row[2] == row[3] for row in between)
    # Whoever joins a process waits for its end.
    joins = waits_called(waits, "Process.join")
    assert ("MainThread", "worker-0") in {(row[0], row[2]) for row in joins}
    # What the pool's processes wait for comes from the first process, and the other way round.
    process = dict(zip(trace.threads.name, trace.threads.process))
    main = trace.threads.process[trace.threads.name.index("MainThread")]
    for kind in ("multiprocessing.Queue.get", "multiprocessing.wait-any"):
        pairs = {
            (process[row[0]] == main, process[row[2]] == main) for row in waits_called(waits, kind) if row[2]
        }
        assert any(here != there for here, there in pairs), (kind, waits_called(waits, kind))


@pytest.mark.parametrize("engine", ["auto", ENGINE])
def test_forks_and_their_forks(tmp_path, engine):
    done, trace = record(tmp_path, FORKS, engine=engine)
    assert (done.returncode, done.stdout) == (0, "6\n"), done.stderr
    assert "3 processes" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not trace.problems
    assert len(set(trace.threads.process)) == 3
    waits = find_waits(trace)
    ops = waits.ops
    process = [waits.trace.threads.process[t] for t in range(len(trace.threads))]
    ended = {
        (process[ops.thread[i]], process[waits.woken_by[i]])
        for i in waits.own.tolist()
        if ops.names[ops.name[i]].startswith("os.wait")
    }
    assert any(here != there for here, there in ended)
    # A lock that was copied by the fork is another lock.
    locks = {name for name in ops.objects if name.startswith("Lock-1 own")}
    assert len(locks) == 2
    # Each process's times lie within those of the first, on one clock.
    first = trace.threads.process.index(process[0])
    assert int(trace.calls.end.max()) <= trace.span_ns
    assert first == 0


def test_a_killed_child_leaves_what_it_waited_for(tmp_path):
    program = """
import os, signal, threading, time
pid = os.fork()
if not pid:
    stuck = threading.Lock(); stuck.acquire(); stuck.acquire()
threading.Timer(0.3, os.kill, (pid, signal.SIGKILL)).start(); print(os.waitpid(pid, 0)[1] == signal.SIGKILL)
"""
    done, trace = record(tmp_path, program)
    assert done.stdout == "True\n", done.stderr
    waits = find_waits(trace)
    (row,) = [i for i in waits.own.tolist() if waits.ops.of(i)[0].startswith("Lock-1 stuck")]
    assert int(waits.ops.lasted[row]) > 100_000_000
    assert waits_called(waits, "os.waitpid")[0][2] == trace.threads.name[waits.ops.thread[row]]


def test_the_first_process_waits_for_no_other(tmp_path):
    path, script, go = tmp_path / "out.json.gz", tmp_path / "program.py", tmp_path / "go"
    script.write_text(f"""
import os, time
if not os.fork():
    os.close(1); os.close(2)
    def late():
        while not os.path.exists({str(go)!r}): time.sleep(0.02)
    late()
    os._exit(0)
print("gone")
""")
    words = [sys.executable, "-m", "tracevis3d", "record", "--engine", ENGINE, "-o", str(path), str(script)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # It would not come back if it waited for the child.
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60)
    assert done.stdout == "gone\n"
    assert "still runs and is added" in done.stderr
    go.write_text("")
    for _ in range(200):
        trace = tv.load(str(path), cache=False)
        if "truncated" not in trace.problems:
            break
        time.sleep(0.1)
    late = [i for i, f in enumerate(trace.calls.function.tolist()) if trace.functions.label[f] == "late"]
    assert len(late) == 1
    assert int(trace.calls.end[late[0]]) > int(trace.calls.start[late[0]])


def test_programs_that_take_a_childs_place_are_left_alone(tmp_path):
    program = """
import os, subprocess, sys
pid = os.fork()
if not pid:
    os.execv(sys.executable, [sys.executable, '-c', 'print(1, flush=True)'])
os.waitpid(pid, 0)
print(subprocess.run(['/bin/echo', '2'], capture_output=True, preexec_fn=lambda: None).stdout)
"""
    done, trace = record(tmp_path, program)
    assert done.stdout == "1\nb'2\\n'\n", done.stderr
    assert done.returncode == 0
    assert len(set(trace.threads.process)) <= 2


def test_the_lines_of_a_process_say_whose_they_are(tmp_path):
    done, _ = record(tmp_path, FORKS)
    assert done.returncode == 0
    import gzip

    events = json.loads(gzip.decompress((tmp_path / "out.json.gz").read_bytes()))["traceEvents"]
    ends = [event for event in events if event.get("name") == "Process.end"]
    assert len(ends) == 2
    assert {event["args"]["objects"][0] for event in ends} == {f"process:{event['pid']}" for event in ends}


GROWING = """
import multiprocessing, os, sys, time
kept = []
def grow(size):
    for i in range(20):
        kept.append(bytearray(size))
        time.sleep(0.01)
def main():
    fork = multiprocessing.get_context("fork").Process(target=grow, args=(50_000,), name="forked")
    fork.start()
    grow(40_000)
    fork.join()
    spawn = multiprocessing.get_context("spawn").Process(target=grow, args=(60_000,), name="spawned")
    spawn.start()
    spawn.join()
if __name__ == "__main__":
    if len(sys.argv) > 1: sys.stdin.readline()
    main()
"""


def grown(trace):
    """Return, by the name of the thread, how many blocks ``grow`` made, and how many of them were freed."""
    blocks = find_blocks(trace.memory, trace.span_ns)
    sites = find_sites(trace, blocks)
    found = {}
    for i, site in enumerate(sites.of_block.tolist()):
        if sites.name[site].startswith("grow") and blocks.size[i] >= 40_000:
            key = trace.threads.name[int(trace.memory.thread[blocks.row[i]])], int(blocks.size[i]) // 10_000
            made, freed = found.get(key, (0, 0))
            found[key] = made + 1, freed + int(blocks.free_row[i] >= 0)
    return found


def test_the_memory_of_all_processes(tmp_path):
    done, trace = record(tmp_path, GROWING, options=("--memory-engine", "tracemalloc"))
    assert done.returncode == 0, done.stderr
    # With a process its memory ends; addresses of processes are told apart.
    assert grown(trace) == {("MainThread", 4): (20, 0), ("forked", 5): (20, 20), ("spawned", 6): (20, 20)}
    assert len([name for name in trace.counters.name if name.startswith("Python memory blocks")]) == 3


def test_all_processes_in_one_feed(tmp_path):
    pytest.importorskip("zmq")
    from tracevis3d.live.subscriber import Subscriber

    path, script = tmp_path / "both.json", tmp_path / "program.py"
    script.write_text(GROWING)
    words = [
        "--threads",
        "--memory",
        "--live",
        "tcp://127.0.0.1:*",
        "-o",
        str(path),
        "--",
        str(script),
        "wait",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "tracevis3d", "record", *words],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    endpoint = process.stderr.readline().split()[-1]
    with Subscriber(endpoint) as early, Subscriber(endpoint) as late:
        while early.state != "connected":
            early.drain(0.01, wait=0.1)
        process.stdin.write("go\n")
        process.stdin.flush()
        while "forked" not in [name for _, _, name in early.trace.threads()]:
            early.drain(0.01, wait=0.1)
        # It comes while the second process runs, and gets what is open in both.
        # Both in turns: a viewer that takes nothing for a while loses what no credit is left for.
        while not (early.over and late.over):
            early.drain(0.05, wait=0.01)
            late.drain(0.05, wait=0.01)
        assert (early.state, early.lost, late.state) == ("ended", 0, "ended")
        live, joined = early.finish(), late.finish()
    _, said = process.communicate()
    assert process.returncode == 0
    assert "3 processes" in said
    assert "rows of 3 processes published" in said
    wanted = {("MainThread", 4): (20, 0), ("forked", 5): (20, 20), ("spawned", 6): (20, 20)}
    assert grown(live) == wanted
    file = tv.load(path, cache=False)
    assert grown(file) == wanted
    assert len(set(live.threads.process)) == len(set(file.threads.process)) == 3
    calls = [joined.functions.label[f] for f in joined.calls.function.tolist()]
    assert calls.count("grow") == 3
    assert "unmatched end" not in joined.problems
    waits = find_waits(live)
    assert ("MainThread", "spawned") in {(row[0], row[2]) for row in waits_called(waits, "Process.join")}


STARTING = """
import os, subprocess, sys
child = '''
import json, os, subprocess, sys
def inside():
    own = [sys.argv, sys.path, dict(os.environ), "sitecustomize" in sys.modules]
    print(json.dumps([*own, getattr(sys, "customized", 0)]))
inside()
if len(sys.argv) == 1: subprocess.run([sys.executable, "-c", "def deeper(): pass\\\\ndeeper()"])
sys.exit(5)
'''
def start(*flags, **named):
    done = subprocess.run([sys.executable, *flags], stdout=subprocess.PIPE, text=True, **named)
    print(flags[:1], done.returncode, done.stdout)
start("-c", child)
start("-c", child, "x", env={**os.environ, "PYTHONPATH": "customs"})
for flag in ("-I", "-E", "-S", "-u"): start(flag, "-c", child, "y")
print(subprocess.run([sys.executable, "-c", "print(3)"], stdout=subprocess.PIPE, env={}).stdout)
"""


def test_interpreters_that_a_program_starts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "customs").mkdir()
    (tmp_path / "customs" / "sitecustomize.py").write_text("import sys; sys.customized = 7")
    done, trace = record(tmp_path, STARTING)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    plain = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, env=environment
    )
    assert done.stdout == plain.stdout
    assert done.stdout.count(" 5 ") == 6
    # Those that don't hear of their environment are left alone; the one within the first is not.
    assert len(set(trace.threads.process)) == 6
    names = [trace.functions.label[f] for f in trace.calls.function.tolist()]
    assert (names.count("inside"), names.count("deeper")) == (3, 1)
    assert not [name for name in trace.functions.name if "sitecustomize" in name and "customs" not in name]
    # Who waits for their end (others read what they say until then) learns of it.
    assert [row for row in waits_called(find_waits(trace), "os.waitpid") if row[2]]
