"""A program that is recorded and published at once: what viewers get, what it costs, how it ends."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d.api import Figure
from tracevis3d.errors import InputError, UsageError
from tracevis3d.features.waits.running import longest_quiet
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.protocol import Batch, Names, Welcome
from tracevis3d.live.publisher import OPENING_S
from tracevis3d.live.recorded import Published, SpoolFeed, name_ends
from tracevis3d.live.subscriber import Subscriber
from tracevis3d.live.watch import watch
from tracevis3d.record.output import spool
from tracevis3d.trace.names import known_from
from tracevis3d.units import duration

pytest.importorskip("zmq")


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Compile what a viewer needs before a program is watched: one that compiles hears nothing meanwhile."""
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(Names("functions", 0, ("f",)))
    growing.name(Names("threads", 0, ((1, 1, "main"),)))
    one = {"kind": np.array([0, 1], np.uint8), "thread": np.zeros(2, np.uint32),
           "function": np.zeros(2, np.uint32), "time": np.arange(2)}  # fmt: skip
    growing.add(Batch("calls", 0, 0, 0, one))
    assert growing.trace().calls.start.tolist() == [0]


POSIX = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")

PROGRAM = """
import sys, threading, time
sys.stdin.readline()
lock = threading.Lock()
kept = []
def leaf(i):
    with lock:
        time.sleep(0.001)
        kept.append(bytearray(5000))
def work(n):
    for i in range(n): leaf(i)
threads = [threading.Thread(target=work, args=(20,), name=f"worker {k}") for k in range(2)]
for t in threads: t.start()
for t in threads: t.join()
{end}
"""


def begun(tmp_path, end="", *options):
    """Start a program that waits for a word; return it and its endpoint."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.replace("{end}", end))
    command = [sys.executable, "-m", "tracevis3d", "record", "--live", "tcp://127.0.0.1:*", *options]
    process = subprocess.Popen(
        [*command, "--", str(script)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    said = process.stderr.readline()
    assert said.startswith("tracevis3d: live at tcp://127.0.0.1:"), said
    return process, said.split()[-1]


def watched(process, endpoint, seconds=60):
    with Subscriber(endpoint) as subscriber:
        while subscriber.state != "connected":
            subscriber.drain(0.01, wait=0.1)
        process.stdin.write("go\n")
        process.stdin.flush()
        watch(subscriber, seconds=seconds)
        assert subscriber.state == "ended"
        assert (subscriber.lost, subscriber.bad) == (0, 0)
        assert subscriber.program.endswith(".py")
        return subscriber.finish()


def test_a_viewer_sees_what_the_file_has(tmp_path):
    path = tmp_path / "both.json"
    process, endpoint = begun(tmp_path, "sys.exit(7)", "--threads", "--io", "--memory", "-o", str(path))
    live = watched(process, endpoint)
    _, said = process.communicate()
    assert process.returncode == 7
    assert "rows published" in said
    assert "allocations" in said
    file = tv.load(path, cache=False)

    def called(trace):
        names = [trace.functions.label[f] for f in trace.calls.function.tolist()]
        tids = [trace.threads.tid[t] for t in trace.calls.thread.tolist()]
        return sorted(zip(tids, names, trace.calls.depth.tolist()))

    # The viewer came while the program was under way: it lacks what was open then.
    inside = [row for row in called(live) if row[1] in ("leaf", "work", "Lock.acquire", "Thread.join")]
    assert len(inside) > 80
    assert {name for _, name, _ in inside} == {"leaf", "work", "Lock.acquire", "Thread.join"}
    wanted = [row for row in called(file) if row[1] in ("leaf", "work")]
    assert [row for row in inside if row[1] in ("leaf", "work")] == wanted
    for table in ("sync", "memory"):
        assert len(getattr(live, table)) > 0
        assert len(getattr(file, table)) >= len(getattr(live, table))
    assert {"worker 0", "worker 1"} <= set(live.threads.name)
    objects = [live.sync.objects[o] for o in set(live.sync.object.tolist())]
    assert any(name.startswith("Lock-1 lock") for name in objects)
    sites = [live.functions.label[f] for f in live.stacks.function.tolist()]
    assert "leaf" in sites
    assert (live.memory.size >= 5000).sum() >= 30


@POSIX
def test_a_program_that_is_killed_is_over_for_viewers(tmp_path):
    path = tmp_path / "killed.json.gz"
    process, endpoint = begun(
        tmp_path, "time.sleep(0.3); import os; os.kill(os.getpid(), 9)", "-o", str(path)
    )
    live = watched(process, endpoint)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert "leaf" in list(live.functions.label)
    for _ in range(100):
        if path.stat().st_size and "the recording breaks off" in str(
            list(tv.load(path, cache=False).instants.names)
        ):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the file was not ended")


def test_who_comes_late_gets_what_is_open_and_lives(tmp_path):
    script, ready, over = tmp_path / "server.py", tmp_path / "ready", tmp_path / "over"
    # Nobody comes before what is kept for those who come soon is gone.
    script.write_text(f"""
import os, time
kept = []
def serve():
    kept.append(bytearray(70_000))
    while not done():
        handle()
def done():
    if not said and time.monotonic() > begun + {OPENING_S + 0.3}: said.append(open({str(ready)!r}, "w"))
    return os.access({str(over)!r}, os.F_OK)
def handle(): time.sleep(0.005)
begun, said = time.monotonic(), []
serve()
""")
    command = [sys.executable, "-m", "tracevis3d", "record", "--live", "tcp://127.0.0.1:*", "--memory"]
    process = subprocess.Popen(
        [*command, str(script)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    endpoint = process.stderr.readline().split()[-1]
    while not ready.exists():
        assert process.poll() is None
        time.sleep(0.01)
    with Subscriber(endpoint) as late:
        while late.rows < 100:
            assert process.poll() is None
            late.drain(0.01, wait=0.05)
        over.touch()
        watch(late, seconds=60)
        assert (late.state, late.lost, late.lost_batches) == ("ended", 0, 0)
        trace = late.finish()
    process.communicate()
    depth = {trace.functions.label[f]: d for f, d in zip(trace.calls.function, trace.calls.depth)}
    assert (depth["<module>"], depth["serve"], depth["handle"]) == (1, 2, 3)
    assert "unmatched end" not in trace.problems
    began = trace.calls.start[[trace.functions.label[f] for f in trace.calls.function].index("serve")]
    # It began long before the viewer came: that is known, too.
    assert trace.span_ns - began > 2_000_000_000
    # From when on all is known is said, and what was not received is no silence.
    assert "joined late" in trace.problems
    assert known_from(trace) > began + 1_000_000_000
    assert longest_quiet(find_waits(trace)).start.min() >= known_from(trace)
    drawing = Figure("icicle", [trace]).drawing()
    assert drawing.notes[0].startswith("the viewer joined ")
    assert drawing.title.startswith(f"Known from {duration(known_from(trace))} on: ")
    (block,) = np.flatnonzero(trace.memory.size >= 70_000)
    assert trace.functions.label[trace.stacks.function[trace.memory.stack[block]]] == "serve"


def test_viewers_that_sleep_or_vanish_cost_nobody_else_anything(tmp_path):
    script = tmp_path / "busy.py"
    script.write_text("""
import sys, tempfile, threading, time
sys.stdin.readline()
lock, until = threading.Lock(), time.monotonic() + 2.5
def leaf(i): return i
def step(i):
    for k in range(30): leaf(k)
    with lock: time.sleep(0.001)
def work():
    i = 0
    with tempfile.TemporaryFile("w") as file:
        while time.monotonic() < until:
            i += 1
            step(i)
            file.write("x" * 9000)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")
    words = ["record", "--threads", "--io", "--live", "tcp://127.0.0.1:*", "--", str(script)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tracevis3d", *words],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    endpoint = process.stderr.readline().split()[-1]
    with Subscriber(endpoint) as awake, Subscriber(endpoint) as asleep, Subscriber(endpoint) as gone:
        for viewer in (awake, asleep, gone):
            while viewer.state != "connected":
                viewer.drain(0.01, wait=0.1)
        process.stdin.write("go\n")
        process.stdin.flush()
        while not gone.rows:
            gone.drain(0.01, wait=0.1)
        # Without a word, and with credit that nobody will ever give back.
        gone._socket.close(0)
        gone.state = "ended"
        watch(awake, seconds=60)
        # All that time the second one has taken nothing.
        watch(asleep, seconds=60)
        assert (awake.state, awake.lost, awake.bad) == ("ended", 0, 0)
        assert (asleep.state, asleep.lost, asleep.bad) == ("ended", 0, 0)
        assert awake.rows == asleep.rows > 10_000
        first, second = awake.finish(), asleep.finish()
    _, said = process.communicate()
    assert process.returncode == 0
    assert "dropped" not in said
    counts = [[len(t.calls), len(t.sync), len(t.problems)] for t in (first, second)]
    assert counts[0] == counts[1]


def test_nobody_has_to_watch(tmp_path):
    process, _ = begun(tmp_path, "print('through')")
    said, errors = process.communicate("go\n")
    assert (process.returncode, said) == (0, "through\n")
    assert "rows published" in errors


def test_from_within_a_program(tmp_path):
    script = tmp_path / "within.py"
    script.write_text("""
import sys, time
import tracevis3d
assert "zmq" not in sys.modules and "numpy" not in sys.modules
print(tracevis3d.live.start(threads=False, io=False), flush=True)
assert "zmq" not in sys.modules and "numpy" not in sys.modules
sys.stdin.readline()
def f(): time.sleep(0.002)
for i in range(30): f()
try: tracevis3d.live.start()
except Exception as error: print(type(error).__name__, error)
print(tracevis3d.live.stop())
print(repr(tracevis3d.live.stop()))
""")
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    endpoint = process.stdout.readline().strip()
    live = watched(process, endpoint)
    said = process.communicate()[0].splitlines()
    assert [live.functions.label[f] for f in live.calls.function.tolist()].count("f") == 30
    assert said[0].startswith("UsageError the program is already published")
    assert "rows published" in said[1]
    assert said[2] == "''"
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("endpoint", "options", "why"),
    [
        ("tcp://0.0.0.0:5570", {}, "both sides need keys"),
        ("http://x", {}, "not an endpoint"),
        ("tcp://127.0.0.1:*", {"engine": "viztracer"}, "VizTracer reports calls when they end"),
    ],
)
def test_what_can_not_be_published_is_said_before_the_program_runs(endpoint, options, why):
    if options:
        pytest.importorskip("viztracer")
    with pytest.raises(UsageError, match=why):
        tv.live.start(endpoint, **options)


def test_a_file_that_can_not_be_written(tmp_path):
    with pytest.raises(InputError, match="can't be recorded"):
        tv.live.start("tcp://127.0.0.1:*", path=str(tmp_path / "no" / "out.json"))


def test_neither_file_nor_feed(capsys):
    from tracevis3d.cli import main

    assert main(["record", "--", "x.py"]) != 0
    assert "name an output" in capsys.readouterr().err


# -- what the process beside the program does with sections -------------------------------------


def plain_ends(events, stack):
    """Return the function of each event, from the definition; ``events`` are functions, None for an end."""
    out = []
    for function in events:
        if function is not None:
            stack.append(function)
            out.append(function)
        else:
            out.append(stack.pop() if stack else -1)
    return out


@given(st.lists(st.lists(st.one_of(st.none(), st.integers(-1, 5)), max_size=12), max_size=5))
@settings(deadline=None, max_examples=300)
def test_ends_get_the_function_that_they_end(pieces):
    stack, plain = [], []
    for piece in pieces:
        begins = np.array([function is not None for function in piece], bool)
        function = np.array([-1 if f is None else f for f in piece], np.int64)
        name_ends(begins, function, stack)
        assert function.tolist() == plain_ends(piece, plain)
        assert stack == plain


class Heard:
    """Stands for a publisher: keeps what it gets."""

    joined = 0

    def __init__(self):
        self.tables, self.names, self.lost = {}, {}, 0

    def number(self, table, name):
        names = self.names.setdefault(table, [])
        if name not in names:
            names.append(name)
        return names.index(name)

    def put(self, table, **columns):
        self.tables.setdefault(table, []).append({k: np.asarray(v) for k, v in columns.items()})

    def lose(self, rows):
        self.lost += rows


def beginning():
    """Yield what each recording begins with."""
    begin = {
        "pid": 7, "microseconds": False, "start": 500, "epoch": 1_000, "ours": "/ours/", "none": 1, "argv": []
    }  # fmt: skip
    yield spool.BEGIN, 0, json.dumps(begin).encode()
    yield spool.THREAD, 1, json.dumps({"tid": 71, "name": "t"}).encode()
    names = {"10": ["f", "f.py", 1], "11": ["g", "f.py", 5], "12": ["hook", "/ours/x.py", 1]}
    yield spool.FUNCTIONS, 0, json.dumps(names).encode()
    table = {"operations": [["Lock.acquire", "wait"], ["sleep", "call"]], "objects": {"3": ["Lock-1", "", 0]}}
    yield spool.OBJECTS, 0, json.dumps(table).encode()


def fed(*sections):
    heard = Heard()
    feed = SpoolFeed(heard, 1_000)
    for kind, number, data in (*beginning(), *sections):
        feed.take(kind, number, data)
    return heard


def calls(heard):
    rows = [
        (heard.names["functions"][f].split(" (")[0], "BE"[k], t)
        for part in heard.tables.get("calls", [])
        for f, k, t in zip(part["function"].tolist(), part["kind"].tolist(), part["time"].tolist())
    ]
    return rows


def called(*events):
    codes, times = zip(*events)
    return spool.CALLS, 1, np.array(codes, np.uint64).tobytes() + np.array(times, np.int64).tobytes()


def flushed(at):
    return spool.FLUSHED, 0, json.dumps({"began": at}).encode()


def waited(*rows):
    return spool.ROWS, 1, np.array(rows, np.int64).tobytes()


def test_waits_come_between_the_calls_around_them():
    heard = fed(
        called((10, 510), (12, 512), (1, 513), (11, 520), (1, 560), (1, 590)),
        waited((0, 3, 530, 550, spool.CONTENDED, 0)),
        flushed(570),
    )
    assert calls(heard) == [
        ("f", "B", 10), ("g", "B", 20), ("Lock.acquire", "B", 30), ("Lock.acquire", "E", 50), ("g", "E", 60),
    ]  # fmt: skip
    (row,) = heard.tables["sync"]
    assert (row["start"].tolist(), row["end"].tolist(), row["kind"].tolist()) == ([30], [50], [0])
    assert heard.names["objects"] == ["Lock-1"]


def test_a_wait_is_reported_before_it_ends_and_ended_once():
    heard = fed(
        called((10, 510)),
        (spool.WAITING, 1, json.dumps([[0, 3, 520, 0]]).encode()),
        flushed(530),
        (spool.WAITING, 1, json.dumps([[0, 3, 520, 0]]).encode()),
        flushed(540),
        waited((0, 3, 520, 550, spool.CONTENDED | spool.TIMED_OUT, 0)),
        (spool.WAITING, 1, b"[]"),
        flushed(560),
    )
    assert calls(heard) == [("f", "B", 10), ("Lock.acquire", "B", 20), ("Lock.acquire", "E", 50)]
    assert heard.names["operations"] == ["Lock.acquire", "Lock.acquire (timed out)"]
    # While it lasts, it is reported again from time to time; that it is over is said by its row.
    said = [{name: column.tolist() for name, column in rows.items()} for rows in heard.tables["waiting"]]
    assert [(row["start"], row["operation"], row["holder"]) for row in said] == [([20], [0], [-1])]


def test_a_sleep_is_reported_before_it_ends_and_is_no_wait():
    heard = fed(
        called((10, 510)),
        (spool.WAITING, 1, json.dumps([[1, 0, 520, 0]]).encode()),
        flushed(530),
        waited((1, 0, 520, 550, 0, 0)),
        (spool.WAITING, 1, b"[]"),
        flushed(560),
    )
    assert calls(heard) == [("f", "B", 10), ("sleep", "B", 20), ("sleep", "E", 50)]
    assert not [row for rows in heard.tables["waiting"] for row in rows["start"].tolist()]


def test_what_takes_no_time_begins_before_it_ends():
    heard = fed(
        called((10, 510), (1, 520)), waited((1, 0, 510, 510, 0, 0), (0, 3, 520, 520, 0, 0)), flushed(600)
    )
    assert calls(heard) == [
        ("f", "B", 10), ("sleep", "B", 10), ("sleep", "E", 10),
        ("f", "E", 20), ("Lock.acquire", "B", 20), ("Lock.acquire", "E", 20),
    ]  # fmt: skip


def test_what_the_program_dropped_is_reported():
    assert fed((spool.DROPPED, 0, b'{"rows": 12}')).lost == 12


def test_a_program_drops_what_the_publisher_can_not_take(tmp_path, monkeypatch):
    """Nobody reads the spool: it ends growing, and what doesn't fit is counted."""
    from tracevis3d.record import buffers, state
    from tracevis3d.record import session as sessions

    monkeypatch.setattr(spool, "FULL", 20_000)
    monkeypatch.setattr(buffers, "MOST_WAITING", 50_000)
    monkeypatch.setattr(sessions, "Helper", lambda *_: Idle(tmp_path))
    session = sessions.Session(sessions.Options("", engine="profile", live="tcp://127.0.0.1:*"))

    def work(i):
        return i

    session.start()
    for _ in range(40):
        for i in range(500):
            work(i)
        session.flush()
    session.stop()
    files = sorted(tmp_path.glob("spool-*"))
    assert 2 <= len(files) < 10
    assert sum(file.stat().st_size for file in files) < 200_000
    found = [
        (kind, data)
        for number in range(1, len(files) + 1)
        for kind, _, data, _ in spool.sections((tmp_path / f"spool-{number}").read_bytes())
    ]
    facts = sum(json.loads(data)["rows"] for kind, data in found if kind == spool.DROPPED)
    kept = sum(len(data) // 16 for kind, data in found if kind == spool.CALLS)
    assert facts > 10_000
    assert facts + kept >= 40_000
    assert not state.recording


class Idle:
    """Stands for the process beside the program, and reads nothing."""

    endpoint = "tcp://127.0.0.1:1"

    def __init__(self, folder):
        self.folder, self.spool = str(folder), spool.Spool(str(folder))

    def part(self, number):
        return ""

    def finish(self):
        return ""

    def abandon(self):
        pass


ENDS_SOON = """
import threading, time
def first(): pass
def later(): time.sleep(0.001)
first()
for i in range(50): later()
"""


def from_the_beginning(process, subscriber) -> None:
    """Hold what a viewer got to all that the program did."""
    watch(subscriber, seconds=60)
    _, said = process.communicate()
    assert (subscriber.state, subscriber.lost, subscriber.bad) == ("ended", 0, 0)
    trace = subscriber.finish()
    names = [trace.functions.label[f] for f in trace.calls.function.tolist()]
    assert (names.count("first"), names.count("later")) == (1, 50)
    assert f"{subscriber.rows:,} rows published" in said
    assert "joined late" not in trace.problems


def test_a_program_that_waits_begins_when_there_is_a_viewer(tmp_path):
    script = tmp_path / "soon.py"
    script.write_text(f"open({str(tmp_path / 'begun')!r}, 'w').close()\n{ENDS_SOON}")
    process = subprocess.Popen(
        [sys.executable, "-m", "tracevis3d", "record", "--live", "tcp://127.0.0.1:*", "--wait", str(script)],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    endpoint = process.stderr.readline().split()[-1]
    assert "waiting for a viewer" in process.stderr.readline()
    assert not (tmp_path / "begun").exists()
    with Subscriber(endpoint) as subscriber:
        from_the_beginning(process, subscriber)
    assert (tmp_path / "begun").exists()
    assert process.returncode == 0


@POSIX
def test_a_program_that_is_killed_while_it_waits_leaves_nothing(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    script = tmp_path / "soon.py"
    script.write_text(ENDS_SOON)
    process = subprocess.Popen(
        [sys.executable, "-m", "tracevis3d", "record", "--live", "tcp://127.0.0.1:*", "--wait", str(script)],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
    )  # fmt: skip
    process.stderr.readline()
    process.stderr.readline()
    process.kill()
    process.communicate()
    until = time.monotonic() + 60
    while any(folder.iterdir()) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(folder.iterdir())


def test_a_viewer_that_waited_for_a_program_gets_its_beginning(tmp_path):
    script = tmp_path / "soon.py"
    # It goes on until the viewer has had time to come.
    script.write_text(f"{ENDS_SOON}\nimport sys\nsys.stdin.readline()\n")
    with Subscriber(free_endpoint()) as subscriber:
        subscriber.drain(0.01, wait=0.01)
        process = subprocess.Popen(
            [sys.executable, "-m", "tracevis3d", "record", "--live", subscriber.endpoint, str(script)],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        until = time.monotonic() + 60
        while subscriber.state != "connected" and time.monotonic() < until:
            subscriber.drain(0.01, wait=0.05)
        process.stdin.write("go\n")
        process.stdin.flush()
        from_the_beginning(process, subscriber)


def free_endpoint() -> str:
    """Return an address of this machine at which nothing listens."""
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{taken.getsockname()[1]}"


def test_waiting_for_a_viewer_goes_with_a_feed():
    from tracevis3d.cli import main

    assert main(["record", "--wait", "-o", "run.json", "script.py"]) == 2


@pytest.mark.parametrize(
    ("damaged", "lost"),
    [
        ((spool.CALLS, 1, b"\0" * 33), 2),
        ((spool.ROWS, 1, np.array([99, 3, 530, 550, 0, 0] * 3, np.int64).tobytes()), 3),
        ((spool.FLUSHED, 0, b"["), 1),
        ((spool.OBJECTS, 0, b"[" * 100_000), 1),
        ((spool.COUNTERS, 0, b'{"time": "x", "values": {"a": 1}}'), 1),
    ],
)
def test_a_damaged_section_is_a_loss_and_not_the_end(damaged, lost):
    heard = Heard()
    feed = Published(heard, 1_000, "folder")
    feed.take("folder", list(beginning()))
    feed.take("folder", [called((10, 510)), damaged, called((11, 520), (1, 560)), flushed(570)])
    assert heard.lost == lost
    assert calls(heard) == [("f", "B", 10), ("g", "B", 20), ("g", "E", 60)]
    feed.take("folder", None)
    assert calls(heard)[-1][:2] == ("f", "E")
