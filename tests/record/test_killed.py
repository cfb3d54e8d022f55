"""Programs that are killed, or close all that they have open, leave what was recorded until then."""

import os
import signal
import time

import pytest

import tracevis3d as tv
from tests.support.recorder import engines, recording, wait_for_end

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
