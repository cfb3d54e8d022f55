"""Programs that are killed, or close all that they have open, leave what was recorded until then."""

import contextlib
import errno
import os
import signal
import sys
import threading
import time
from types import SimpleNamespace

import pytest

import tracevis3d as tv
from tests.support.recorder import engines, recording, wait_for_end
from tracevis3d.record.engines import viztracer
from tracevis3d.record.flusher import Flusher
from tracevis3d.record.memory import sampled
from tracevis3d.record.output import descriptor
from tracevis3d.record.output.descriptor import Descriptor
from tracevis3d.record.output.spool import BEGIN, Spool, sections

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and forks are POSIX's")

KILLED = """
import os, signal, time
def leaf(i): return i
def step(): leaf(0); time.sleep(0.001)
for i in range(250): step()
os.kill(os.getpid(), signal.{name})
time.sleep(5)
"""
DAEMON = """
import os, sys, time
def work(i): return i
def busy():
    for i in range(200): work(i)
def become():
    if os.fork(): os._exit(0)
    os.setsid()
    if os.fork(): os._exit(0)
    {closing}
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2): os.dup2(null, fd)
busy()
become()
busy()
time.sleep(0.2)
busy()
os.rename(sys.argv[0] + '.tmp', sys.argv[0] + '.done')
"""
CLOSING = """
import os, time
def work(i): return i
def busy():
    for i in range(200): work(i)
busy()
{closing}
busy()
time.sleep(0.2)
busy()
print('done', os.open(os.devnull, os.O_RDWR))
"""
WAYS = {
    "closerange": "os.closerange(3, 4096)",
    "one by one": """
for fd in range(3, 4096):
    try: os.close(fd)
    except OSError: pass""",
}


def calls(trace, name):
    names = [text.rpartition("(")[0].strip() or text for text in trace.functions.name]
    return sum(names[function] == name for function in trace.calls.function.tolist())


@pytest.mark.parametrize(("python", "engine"), engines())
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL", "SIGTERM"])
def test_what_a_killed_program_did_is_there_but_for_its_last_moments(tmp_path, python, engine, name):
    (program := tmp_path / "program.py").write_text(KILLED.format(name=name))
    done = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert done.returncode == -getattr(signal, name)
    wait_for_end(output)
    trace = tv.load(str(output), cache=False)
    assert list(trace.problems) == ["broke off"]
    # 250 steps take a quarter of a second and more; what is lost is a flush, or a busy machine's delay.
    assert 100 <= calls(trace, "step") <= 250


#: The second flush that takes calls or rows meets an error, as any later one does.
FAILING = """
import time
from tracevis3d.record import operations
table, turns = operations.table, []
def fail():
    turns.append(0)
    if len(turns) == 2: raise RuntimeError('changed size')
    return table()
operations.table = fail
def step(): time.sleep(0.001)
for i in range(1500): step()
print(len(turns) > 2)
"""


@pytest.mark.parametrize(("python", "engine"), engines())
def test_a_flush_that_fails_costs_no_more_than_it_had_taken(tmp_path, python, engine):
    (program := tmp_path / "program.py").write_text(FAILING)
    done = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
    trace = tv.load(str(output), cache=False)
    assert trace.problems["lost"].count == 1
    assert trace.problems["lost"].first == "what a flush had taken: RuntimeError: changed size"
    assert 500 <= calls(trace, "step") <= 1500


#: For half a second, another thread is in the middle of importing the module.
HALF_IMPORTED = """
import sys, time, types
half = types.ModuleType('multiprocessing.process')
exec('def current_process(): return _current_process', vars(half))
sys.modules[half.__name__] = half
def step(): time.sleep(0.001)
for i in range(500): step()
del sys.modules[half.__name__]
"""


@pytest.mark.parametrize(("python", "engine"), engines())
def test_a_module_that_is_being_imported_costs_no_flush(tmp_path, python, engine):
    (program := tmp_path / "program.py").write_text(HALF_IMPORTED)
    done = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert (done.returncode, done.stderr) == (0, "")
    trace = tv.load(str(output), cache=False)
    assert (calls(trace, "step"), list(trace.problems)) == (500, [])


@pytest.mark.parametrize(("python", "engine"), engines())
@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_closes_all_descriptors(plainly, tmp_path, python, engine, way):
    program, plain = plainly(python, CLOSING.format(closing=WAYS[way]))
    done = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "")
    wait_for_end(output)
    trace = tv.load(str(output), cache=False)
    assert not trace.problems
    assert (calls(trace, "busy"), calls(trace, "work")) == (3, 600)


def test_closerange_waits_for_a_flush_and_leaves_the_recorders_open(tmp_path, monkeypatch):
    done = []

    @contextlib.contextmanager
    def idle():
        done.append("waits")
        yield
        done.append("goes on")

    ours = Descriptor(os.open(tmp_path / "ours", os.O_WRONLY | os.O_CREAT))
    monkeypatch.setattr(descriptor, "ours", [ours])
    closerange = descriptor.around_ours(lambda low, high: done.append((low, high)), idle)
    try:
        closerange(3, 4096)
        n = ours.number
        assert done == ["waits", (3, n), (n + 1, 4096), "goes on"]
    finally:
        ours.close()


def test_what_is_closed_in_the_middle_of_a_flush_is_not_lost(tmp_path, monkeypatch):
    to = Spool(str(tmp_path))
    to.add(BEGIN, 0, b"first")
    looked = to._fd.is_ours

    def closed_just_after_a_look():
        monkeypatch.setattr(to._fd, "is_ours", looked)
        assert looked()
        os.close(to._fd.number)
        return True

    monkeypatch.setattr(to._fd, "is_ours", closed_just_after_a_look)
    to.add(BEGIN, 0, b"second")
    to.end()
    data = (tmp_path / "spool-1").read_bytes()
    assert [said for _, _, said, _ in sections(data)] == [b"first", b"second", b""]

    def bad(*_):
        raise OSError(errno.EBADF, "closed")

    monkeypatch.setattr(sampled, "_read", bad)
    assert list(sampled.samples()) == ["Python memory blocks"]


def test_the_end_of_viztracers_file_is_looked_at_twice(tmp_path, monkeypatch):
    engine = viztracer.VizTracer.__new__(viztracer.VizTracer)
    engine._tracer = SimpleNamespace(dump=lambda path: None)
    asked = []

    def is_whole(path):
        asked.append(path)
        if len(asked) == 1:
            raise OSError(errno.EBADF, "closed")
        return True

    monkeypatch.setattr(viztracer, "_is_whole", is_whole)
    assert engine.dump(str(tmp_path / "part"))
    assert len(asked) == 2


@pytest.mark.parametrize(("python", "engine"), engines())
@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_becomes_a_daemon(tmp_path, python, engine, way):
    program, done = tmp_path / "program.py", tmp_path / "program.py.done"
    program.write_text(DAEMON.format(closing=WAYS[way].replace("\n", "\n    ")))
    (tmp_path / "program.py.tmp").touch()
    recorded = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert recorded.returncode == 0
    wait_for_end(output)
    # It went on to its end, and the file waited for that.
    assert done.exists()
    trace = tv.load(str(output), cache=False)
    assert not trace.problems
    assert (calls(trace, "busy"), calls(trace, "work")) == (3, 600)


def test_whether_a_process_lives():
    from tracevis3d.record.output.process import Process

    assert Process(os.getpid()).lives()
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.read(read, 1)
        os._exit(0)
    by_descriptor, by_number = Process(pid), Process(pid)
    by_number.close()
    assert by_descriptor.lives()
    assert by_number.lives()
    os.write(write, b"x")
    for _ in range(500):
        if not by_descriptor.lives():
            break
        time.sleep(0.01)
    # It was not waited for yet.
    assert not by_number.lives()
    assert not by_descriptor.lives()
    os.waitpid(pid, 0)
    assert not by_number.lives()
    assert not Process(pid).lives()
    by_descriptor.close()
    os.close(read)
    os.close(write)


def test_a_thread_that_fails_before_it_begins_does_not_stop_the_program(monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: said.append(unraisable.exc_value))

    def fail():
        raise RuntimeError("no memray here")

    flusher = Flusher(SimpleNamespace(tracking=SimpleNamespace(start=fail)), (0.01, 0.01), lambda: None)
    program = threading.Thread(target=lambda: (flusher.start(), flusher.stop()), daemon=True)
    program.start()
    program.join(30)
    assert not program.is_alive()
    assert [str(error) for error in said] == ["no memray here"]
