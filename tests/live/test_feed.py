"""The live feed over real sockets: whole way, late join, overload, kill, restart, nonsense, keys."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.conftest import ROOT
from tests.support import walked_traces
from tracevis3d.cli import main
from tracevis3d.errors import InputError, UsageError
from tracevis3d.formats.names import split
from tracevis3d.live import protocol as p
from tracevis3d.live import publisher as publishing
from tracevis3d.live import subscriber as subscribing
from tracevis3d.live.endpoint import Keys, check, make_keys
from tracevis3d.live.publisher import Publisher
from tracevis3d.live.replay import replay
from tracevis3d.live.subscriber import Subscriber
from tracevis3d.live.watch import latest, watch
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording

zmq = pytest.importorskip("zmq")
LOCAL = "tcp://127.0.0.1:*"


def rows(n: int, thread: int = 0, function: int = 0, at: int = 0) -> dict:
    kind = np.tile(np.array([0, 1], np.uint8), n // 2)
    return {
        "kind": kind, "thread": np.full(n, thread, np.uint32), "function": np.full(n, function, np.uint32),
        "time": at + np.arange(n),
    }  # fmt: skip


def until(test, seconds: float = 60.0, doing=lambda: time.sleep(0.005)) -> bool:
    end = time.monotonic() + seconds
    while not test() and time.monotonic() < end:
        doing()
    return bool(test())


@contextmanager
def unconnected() -> Iterator[Subscriber]:
    """Give a subscriber that tests hand messages to; no publisher is there to say goodbye to."""
    subscriber = Subscriber("tcp://127.0.0.1:9")
    try:
        yield subscriber
    finally:
        subscriber._close_socket(linger=0)


def test_a_replayed_trace_arrives_whole() -> None:
    trace = walked_traces.walked_trace(3, steps=3000, threads=3, allocations=40)
    with Publisher(LOCAL, "walk", patient=True) as publisher, Subscriber(publisher.endpoint) as subscriber:
        assert until(lambda: publisher.viewers, doing=lambda: subscriber.drain(0.01))
        sender = threading.Thread(target=lambda: (replay(trace, publisher, np.inf), publisher.close()))
        sender.start()
        watch(subscriber, seconds=60)
        sender.join()
        assert subscriber.state == "ended"
        assert (subscriber.lost, subscriber.lost_batches, subscriber.bad) == (0, 0, 0)
        back = subscriber.finish()
    assert subscriber.program == "walk"
    assert len(back.calls) == len(trace.calls)
    for name in ("depth", "extent", "start", "end"):
        assert np.array_equal(getattr(back.calls, name), getattr(trace.calls, name)), name
    assert [back.functions.name[f] for f in back.calls.function] == [
        trace.functions.name[f] for f in trace.calls.function
    ]
    assert back.threads.tid == trace.threads.tid
    assert back.threads.name == trace.threads.name
    assert np.array_equal(back.memory.size, trace.memory.size)
    assert np.array_equal(back.memory.call, trace.memory.call)


def test_call_sites_arrive() -> None:
    recording = Recording()
    thread = recording.thread(1, 2)
    outer, inner = recording.function("outer"), recording.function("inner")
    recording.add_stacks(function=[outer, inner], parent=[-1, 0], line=[3, 4])
    recording.add_memory(
        thread=[thread] * 2, kind=[0, 1], time=[5, 6], address=[7, 7], size=[8, 0], stack=[1, -1]
    )
    trace = recording.finish(Source(), split)
    with Publisher(LOCAL, patient=True) as publisher, Subscriber(publisher.endpoint) as subscriber:
        assert until(lambda: publisher.viewers, doing=lambda: subscriber.drain(0.01))
        replay(trace, publisher, np.inf)
        assert until(lambda: subscriber.rows == 2, doing=lambda: subscriber.drain(0.01))
        back = subscriber.finish()
    at = back.memory.stack[0]
    assert [back.functions.name[back.stacks.function[f]] for f in (at, back.stacks.parent[at])] == [
        "inner", "outer",
    ]  # fmt: skip
    assert back.memory.stack[1] == -1


def test_who_joins_late_gets_the_names() -> None:
    with Publisher(LOCAL) as publisher:
        function = publisher.number("functions", "early")
        thread = publisher.number("threads", (1, 2, "t"))
        assert publisher.put("calls", **rows(100, thread, function))
        time.sleep(0.1)
        with Subscriber(publisher.endpoint) as late:
            assert until(lambda: late.state == "connected", doing=lambda: late.drain(0.01))
            # An end whose begin was before us is counted, not shown.
            publisher.put(
                "calls", kind=[1, 0, 1], thread=[thread] * 3, function=[function] * 3, time=[200, 210, 220]
            )
            assert until(lambda: late.trace.events == 3, doing=lambda: late.drain(0.01))
            assert late.trace.unmatched == 1
            assert late.lost_batches == 0
            trace = late.finish()
    assert list(trace.functions.name) == ["early"]
    assert trace.problems["unmatched end"].count == 1


def test_names_are_announced_again_on_request() -> None:
    with Publisher(LOCAL) as publisher:
        publisher.number("functions", "f")
        context, dealer = raw("", zmq.DEALER)
        dealer.connect(publisher.endpoint)
        wanted = p.Names("functions", 0, ("f",))
        for message in (p.Hello(1, 10), p.Ask()):
            dealer.send_multipart(p.encode(message))
            heard = []
            while dealer.poll(2000) and wanted not in heard:
                heard.append(p.decode(dealer.recv_multipart()))
            assert wanted in heard
        dealer.close()
        context.term()


def test_several_viewers_and_a_slow_one_costs_only_itself(monkeypatch) -> None:
    monkeypatch.setattr(subscribing, "CREDIT", 16)
    monkeypatch.setattr(publishing, "MOST_BEHIND", 0)
    with (
        Publisher(LOCAL) as publisher,
        Subscriber(publisher.endpoint) as quick,
        Subscriber(publisher.endpoint) as slow,
    ):
        assert until(lambda: publisher.viewers == 2, doing=lambda: (quick.drain(0.01), slow.drain(0.01)))
        for i in range(200):
            assert publisher.put("calls", **rows(1000, at=1000 * i))
            while quick.rows < 1000 * (i + 1) and quick.drain(0.05, wait=0.5) is not None:
                if quick.lost:
                    break
        assert (quick.rows, quick.lost) == (200_000, 0)
        publisher.put("calls", **rows(10, at=10**6))
        assert until(lambda: slow.lost, doing=lambda: slow.drain(0.05))
        slow.drain(0.5, wait=0.5)
        # What came and what was dropped for it add up.
        publisher.put("calls", **rows(10, at=10**6 + 10))
        assert until(lambda: slow.rows + slow.lost == 200_020, doing=lambda: slow.drain(0.05))
        assert slow.rows >= 16_000
        assert slow.lost_batches > 0


def test_credit_counts_that_comes_while_waiting_batches_are_sent(monkeypatch) -> None:
    """The program puts the next batch before the publisher's thread has seen that none is left."""
    monkeypatch.setattr(publishing, "MOST_BEHIND", 0)
    context, dealer = raw("", zmq.DEALER)
    with Publisher(LOCAL) as publisher:
        dealer.connect(publisher.endpoint)
        dealer.send_multipart(p.encode(p.Hello(p.VERSION, 2)))
        assert until(lambda: publisher.viewers)
        send, sent = publisher._send_batch, []

        def send_and_go_on(*words) -> None:
            send(*words)
            sent.append(words[2].sequence)
            if len(sent) < 40:
                dealer.send_multipart(p.encode(p.Credit(1)))
                assert publisher._socket.poll(5000)
                assert publisher.put("calls", **rows(10, at=10 * len(sent)))

        publisher._send_batch = send_and_go_on
        assert publisher.put("calls", **rows(10))
        assert until(lambda: len(sent) == 40 or publisher.skipped)
        assert (publisher.skipped, sent) == (0, list(range(40)))
    dealer.close()
    context.term()


def test_what_a_slow_viewer_can_not_take_yet_waits_for_it(monkeypatch) -> None:
    monkeypatch.setattr(subscribing, "CREDIT", 16)
    monkeypatch.setattr(publishing, "MOST_BEHIND", 50_000)
    monkeypatch.setattr(publishing, "ALIVE_S", 0.01)
    with Publisher(LOCAL) as publisher, Subscriber(publisher.endpoint) as slow:
        assert until(lambda: publisher.viewers, doing=lambda: slow.drain(0.01))
        for i in range(60):
            assert publisher.put("calls", **rows(1000, at=1000 * i))
        assert until(lambda: not publisher._waiting)
        assert until(lambda: slow.rows == 60_000, doing=lambda: slow.drain(0.01))
        assert (slow.lost, slow.lost_batches) == (0, 0)
        assert slow.trace.unmatched == 0
        # Beyond that it is dropped, and reported.
        for i in range(60, 160):
            assert publisher.put("calls", **rows(1000, at=1000 * i))
        assert until(lambda: slow.rows + slow.lost == 160_000, doing=lambda: slow.drain(0.01))
        assert 66_000 <= slow.rows <= 160_000


def test_overload_is_dropped_at_once_and_reported(monkeypatch) -> None:
    monkeypatch.setattr(publishing, "MOST_WAITING", 5_000)
    with Publisher(LOCAL) as publisher, Subscriber(publisher.endpoint) as subscriber:
        assert until(lambda: publisher.viewers, doing=lambda: subscriber.drain(0.01))
        monkeypatch.setattr(publisher, "_send_waiting", lambda *a, **k: None)
        time.sleep(0.05)
        assert publisher.put("calls", **rows(4_000))
        started = time.perf_counter()
        refused = sum(not publisher.put("calls", **rows(4_000)) for _ in range(50))
        assert time.perf_counter() - started < 1.0  # it never blocks: fifty refusals at once
        assert refused == 50
        assert publisher.dropped == 200_000
        monkeypatch.undo()
        assert until(lambda: subscriber.lost == 200_000, doing=lambda: subscriber.drain(0.05))
        assert subscriber.rows == 4_000


def test_a_publisher_that_dies_and_comes_back(monkeypatch) -> None:
    monkeypatch.setattr(subscribing, "SILENT_S", 0.5)
    first = Publisher(LOCAL)
    endpoint = first.endpoint
    with Subscriber(endpoint) as subscriber:
        assert until(lambda: first.viewers, doing=lambda: subscriber.drain(0.01))
        first.put("calls", **rows(10, first.number("threads", (1, 1, "a")), first.number("functions", "one")))
        assert until(lambda: subscriber.rows == 10, doing=lambda: subscriber.drain(0.01))
        # It dies without a word.
        first._viewers.clear()
        first.close(0.1)
        assert until(lambda: subscriber.state == "silent", doing=lambda: subscriber.drain(0.01))
        with Publisher(endpoint) as second:
            assert until(lambda: second.viewers, doing=lambda: subscriber.drain(0.02))
            second.put(
                "calls", **rows(6, second.number("threads", (2, 1, "b")), second.number("functions", "two"))
            )
            assert until(lambda: subscriber.rows == 16, doing=lambda: subscriber.drain(0.01))
            assert subscriber.state == "connected"
            trace = subscriber.finish()
    assert set(trace.functions.name) == {"one", "two"}
    assert subscriber.trace.sessions == 2
    assert len(trace.threads) == 2
    assert trace.calls.start.max() > 1_000_000  # the second session is later, by the clocks


#: Publishes calls until it is killed.
_KILLED = """
import sys, time
import numpy as np
from tracevis3d.live.publisher import Publisher
publisher = Publisher(sys.argv[1], "victim")
function = publisher.number("functions", "work")
thread = publisher.number("threads", (1, int(sys.argv[2]), "main"))
while True:
    now = publisher.now()
    publisher.put("calls", kind=[0, 1], thread=[thread] * 2, function=[function] * 2, time=[now - 1000, now])
    time.sleep(0.01)
"""


def test_a_publisher_that_is_killed_and_started_again(monkeypatch) -> None:
    with Publisher(LOCAL) as publisher:
        endpoint = publisher.endpoint
    with Subscriber(endpoint) as subscriber:

        def take() -> None:
            subscriber.drain(0.01, wait=0.02)

        for run in (1, 2):
            # A starved viewer would take the publisher for silent, begin anew, and lose rows.
            monkeypatch.setattr(subscribing, "SILENT_S", 60.0)
            words = [sys.executable, "-c", _KILLED, endpoint, str(run)]
            with subprocess.Popen(words, cwd=ROOT) as process:
                before = subscriber.rows
                assert until(lambda: subscriber.rows > before + 20, 20.0, doing=take)  # noqa: B023
                assert subscriber.state == "connected"
                process.kill()
                process.wait()
            monkeypatch.setattr(subscribing, "SILENT_S", 0.3)
            assert until(lambda: subscriber.state == "silent", doing=take)
        assert subscriber.trace.sessions == 2
        assert (subscriber.lost, subscriber.bad) == (0, 0)
        trace = subscriber.finish()
    assert len(trace.threads) == 2
    assert set(trace.functions.name) == {"work"}
    assert len(trace.calls) >= 20
    assert trace.problems["broken off"].count == 2


def raw(endpoint: str, kind: int):
    context = zmq.Context()
    socket = context.socket(kind)
    socket.setsockopt(zmq.LINGER, 0)
    return context, socket


def test_a_publisher_that_sends_nonsense_does_no_harm() -> None:
    context, router = raw("", zmq.ROUTER)
    port = router.bind_to_random_port("tcp://127.0.0.1")
    with Subscriber(f"tcp://127.0.0.1:{port}") as subscriber:
        identity, *_ = router.recv_multipart()
        rng = np.random.default_rng(1)
        good = p.encode(p.Welcome("s", "p", 1, 0))
        router.send_multipart([identity, b'{"t":"batch","table":"calls","rows":1}', b"x"])
        router.send_multipart([identity, *good])
        sent = 2
        for _ in range(500):
            frames = p.encode(p.Batch("calls", 0, 0, 0, rows(4)))
            frames = [bytearray(frame) for frame in frames]
            for _ in range(int(rng.integers(1, 4))):
                frame = frames[int(rng.integers(len(frames)))]
                if len(frame):
                    frame[int(rng.integers(len(frame)))] = int(rng.integers(256))
            if rng.random() < 0.3:
                frames.pop()
            router.send_multipart([identity, *(bytes(frame) for frame in frames)])
            sent += 1
        router.send_multipart([identity, *p.encode(p.Ended(0, 0))])
        assert until(lambda: subscriber.over, doing=lambda: subscriber.drain(0.05))
        assert subscriber.bad > 100
        assert subscriber.messages == sent + 1
        trace = subscriber.finish()
        assert len(trace.calls) <= 2 * 500
    router.close()
    context.term()


def test_a_viewer_that_sends_nonsense_is_refused_and_others_are_not() -> None:
    with Publisher(LOCAL) as publisher, Subscriber(publisher.endpoint) as good:
        context, dealer = raw("", zmq.DEALER)
        dealer.connect(publisher.endpoint)
        for nonsense in ([b""], [b"{"], [b"[]"], [b'{"t":"hello"}'], [b'{"t":"credit","count":5}', b"more"],
                         [b'{"t":"hello","version":99,"credit":1}']):  # fmt: skip
            dealer.send_multipart(nonsense)
        answers = []
        while dealer.poll(1000) and len(answers) < 6:
            answers.append(p.decode(dealer.recv_multipart()))
        assert all(isinstance(answer, p.Refused) for answer in answers)
        assert len(answers) == 6
        assert "version 1 is spoken here" in answers[-1].why
        assert until(lambda: publisher.viewers == 1, doing=lambda: good.drain(0.01))
        publisher.put("calls", **rows(10))
        assert until(lambda: good.rows == 10, doing=lambda: good.drain(0.01))
        dealer.close()
        context.term()


def test_other_machines_need_keys() -> None:
    for endpoint in ("tcp://0.0.0.0:5570", "tcp://192.168.1.5:5570", "tcp://*:5570", "tcp://example.org:1"):
        with pytest.raises(UsageError, match="both sides need keys"):
            check(endpoint)
    for endpoint in ("tcp://127.0.0.1:5570", "tcp://localhost:1", "tcp://[::1]:5", "ipc:///tmp/x"):
        assert check(endpoint) == endpoint
    for endpoint in ("5570", "tcp://127.0.0.1", "tcp://127.0.0.1:99999", "udp://127.0.0.1:1", "ipc://"):
        with pytest.raises(UsageError, match="not an endpoint"):
            check(endpoint)
    with Publisher(LOCAL) as publisher, pytest.raises(UsageError, match="can't be bound"):
        Publisher(publisher.endpoint)


def test_only_listed_viewers_are_let_in(tmp_path, capsys) -> None:
    if not zmq.has("curve"):
        pytest.skip("this ZeroMQ knows no CURVE")
    make_keys(tmp_path / "publisher", "publisher")
    make_keys(tmp_path / "viewers", "friend")
    make_keys(tmp_path / "strangers", "stranger")
    with pytest.raises(UsageError, match="already exists"):
        make_keys(tmp_path / "viewers", "friend")
    assert (tmp_path / "viewers" / "friend.key_secret").stat().st_mode & 0o077 == 0
    mine = Keys(str(tmp_path / "publisher/publisher.key_secret"), str(tmp_path / "viewers"))
    public = str(tmp_path / "publisher/publisher.key")
    with Publisher(LOCAL, keys=mine) as publisher:
        friend = Keys(str(tmp_path / "viewers/friend.key_secret"), public)
        stranger = Keys(str(tmp_path / "strangers/stranger.key_secret"), public)
        with Subscriber(publisher.endpoint, keys=stranger) as other:
            assert until(lambda: other.locked_out, doing=lambda: other.drain(0.01, wait=0.02))
            assert publisher.viewers == 0
            assert other.state == "waiting"
            with Subscriber(publisher.endpoint, keys=friend) as known:
                assert until(lambda: publisher.viewers == 1, doing=lambda: known.drain(0.01, wait=0.02))
                publisher.put("calls", **rows(10))
                assert until(lambda: known.rows == 10, doing=lambda: known.drain(0.01))
            assert other.rows == 0
            assert other.locked_out == "the publisher does not know your key: it is not in its folder --peers"
        with Subscriber(publisher.endpoint) as without:
            assert until(lambda: without.locked_out, doing=lambda: without.drain(0.01, wait=0.02))
            assert without.state == "waiting"
            assert without.locked_out.startswith("the feed has keys: give your secret key with --key")
        out = str(tmp_path / "x.tv3")
        assert main(["watch", publisher.endpoint, "-o", out, "--quiet"]) == 1  # at once: it waits for nobody
        assert f"{publisher.endpoint}: the feed has keys: give" in capsys.readouterr().err
        assert main(["watch", publisher.endpoint, "-o", out, "--key", friend.own]) == 2
        assert "--key needs --peers beside it, the publisher's public key file" in capsys.readouterr().err
        assert main(["watch", publisher.endpoint, "-o", out, "--peers", public]) == 2
        assert "--peers needs --key beside it, your secret key file" in capsys.readouterr().err
    with Publisher(LOCAL) as publisher, Subscriber(publisher.endpoint, keys=friend) as keyed:
        assert until(lambda: keyed.locked_out, doing=lambda: keyed.drain(0.01, wait=0.02))
        assert keyed.locked_out == "the feed has no keys: leave out --key and --peers"
    with pytest.raises(InputError, match="contains no secret key"):
        Subscriber(publisher.endpoint, keys=Keys(public, public))
    with pytest.raises(InputError, match=r"contains no \*\.key file"):
        Publisher(LOCAL, keys=Keys(mine.own, str(tmp_path)))


def test_the_window_up_to_now() -> None:
    with Publisher(LOCAL) as publisher, Subscriber(publisher.endpoint) as subscriber:
        assert until(lambda: publisher.viewers, doing=lambda: subscriber.drain(0.01))
        f, t = publisher.number("functions", "f"), publisher.number("threads", (1, 1, ""))
        publisher.put("calls", kind=[0], thread=[t], function=[f], time=[0])
        publisher.put("calls", **rows(1000, t, f, at=10))
        assert until(lambda: subscriber.rows == 1001, doing=lambda: subscriber.drain(0.01))
        whole, part = subscriber.trace.trace(), latest(subscriber, 99)
        assert (len(whole.calls), len(part.calls)) == (501, 51)
        assert part.calls.depth.tolist() == [1] + [2] * 50
        subscriber.paused = True
        publisher.put("calls", **rows(10, t, f, at=2000))
        assert until(lambda: subscriber.left_out == 10, doing=lambda: subscriber.drain(0.01))
        assert subscriber.trace.events == 1001


def test_commands(tmp_path, capsys) -> None:
    trace = walked_traces.walked_trace(9, steps=400, threads=2)
    tv.save(trace, tmp_path / "in.tv3")
    endpoint = f"ipc://{tmp_path}/feed" if os.name == "posix" else "tcp://127.0.0.1:45671"
    words = [sys.executable, "-m", "tracevis3d", "replay", str(tmp_path / "in.tv3"), "--live", endpoint,
             "--speed", "max", "--quiet"]  # fmt: skip
    with subprocess.Popen(words) as replaying:
        assert (
            main(["watch", endpoint, "-o", str(tmp_path / "out.tv3"), "--json", "--quiet", "--seconds", "40"])
            == 0
        )
        assert replaying.wait(60) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["state"], printed["calls"], printed["lost"]) == ("ended", len(trace.calls), 0)
    back = tv.load(tmp_path / "out.tv3", cache=False)
    assert np.array_equal(back.calls.start, trace.calls.start)
    assert main(["watch", "nowhere", "-o", str(tmp_path / "x.tv3")]) == 2
    assert main(["watch", endpoint, "-o", str(tmp_path / "x.tv3"), "--seconds", "0.2", "--quiet"]) == 1
    assert main(["replay", str(tmp_path / "in.tv3"), "--live", endpoint, "--speed", "0"]) == 2
    assert main(["replay", str(tmp_path / "in.tv3"), "--live", endpoint, "--wait", "0.1", "--quiet"]) == 2
    assert main(["live", "keygen", str(tmp_path / "keys"), "me"]) == 0
    assert main(["live", "keygen", str(tmp_path / "keys"), "me"]) == 2


def test_the_publisher_in_the_docs(tmp_path) -> None:
    """The thirty lines of docs/live-protocol.md, as they stand there."""
    text = (ROOT / "docs" / "live-protocol.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    endpoint = f"ipc://{tmp_path}/feed"
    program = code[1].replace("tcp://127.0.0.1:5570", endpoint)
    with subprocess.Popen([sys.executable, "-c", program]) as publisher, Subscriber(endpoint) as subscriber:
        try:
            assert until(lambda: subscriber.rows >= 6, 20, lambda: subscriber.drain(0.05, wait=0.1))
        finally:
            publisher.kill()
        assert (subscriber.bad, subscriber.program) == (0, "demo")
        trace = subscriber.finish()
    assert list(trace.functions.name) == ["work"]
    assert (trace.calls.end - trace.calls.start == 50_000_000).all()


FUNCTIONS = p.Names("functions", 0, tuple(f"f{i}" for i in range(8)))


class Marionette:
    """A publisher that says what a test wants, frame by frame."""

    def __init__(self) -> None:
        self.context, self.router = raw("", zmq.ROUTER)
        self.endpoint = f"tcp://127.0.0.1:{self.router.bind_to_random_port('tcp://127.0.0.1')}"
        self.identity, self.heard = b"", []

    def greet(self, start: int = 0, session: str = "s") -> None:
        self.identity, *hello = self.router.recv_multipart()
        self.heard.append(p.decode_from_viewer(hello))
        self.say(p.Welcome(session, "p", 1, start), FUNCTIONS)

    def say(self, *messages) -> None:
        for message in messages:
            frames = message if isinstance(message, list) else p.encode(message)
            self.router.send_multipart([self.identity, *frames])

    def listen(self) -> list:
        """Return what the viewer said since the last time."""
        said = []
        while self.router.poll(50):
            _, *frames = self.router.recv_multipart()
            said.append(p.decode_from_viewer(frames))
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.router.close()
        self.context.term()


def one(kind: int, function: int, time: int, thread: int = 0) -> dict:
    columns = {"kind": [kind], "thread": [thread], "function": [function], "time": [time]}
    return {name: np.array(columns[name], dtype) for name, dtype, *_ in p.TABLES["calls"]}


def test_what_was_open_at_a_loss_ends_there() -> None:
    with Marionette() as publisher, Subscriber(publisher.endpoint) as subscriber:
        publisher.greet()
        for sequence, row in enumerate((one(0, 0, 10), one(0, 1, 20), one(0, 2, 30), one(1, 2, 40))):
            publisher.say(p.Batch("calls", sequence, 0, 0, row))
        # The end of function 1 is lost with batch 4; it would stay open for ever.
        publisher.say(p.Batch("calls", 5, 1, 0, one(0, 3, 60)), p.Batch("calls", 6, 1, 0, one(1, 3, 70)))
        # Rows may be reported as dropped without a gap, and without a batch.
        publisher.say(p.Batch("calls", 7, 1, 0, one(0, 4, 80)), p.Alive(8, 3, 0))
        publisher.say(p.Batch("calls", 8, 3, 0, one(0, 5, 100)))
        assert until(lambda: subscriber.rows == 8, doing=lambda: subscriber.drain(0.01))
        assert (subscriber.lost, subscriber.lost_batches) == (3, 1)
        trace = subscriber.finish()
    function = [trace.functions.name[f] for f in trace.calls.function.tolist()]
    found = list(
        zip(function, *(getattr(trace.calls, n).tolist() for n in ("depth", "start", "end")), strict=True)
    )
    origin = trace.origin_ns
    assert [(f, d, s + origin, e + origin) for f, d, s, e in found] == [
        ("f0", 1, 10, 40), ("f1", 2, 20, 40), ("f2", 3, 30, 40),
        ("f3", 1, 60, 70), ("f4", 1, 80, 80), ("f5", 1, 100, 100),
    ]  # fmt: skip
    assert (trace.problems["cut"].count, trace.problems["cut"].first) == (3, "40 ns")
    assert trace.problems["lost"].count == 3


def test_what_is_reported_again_takes_the_place_of_what_was_open() -> None:
    with Marionette() as publisher, Subscriber(publisher.endpoint) as subscriber:
        publisher.greet()
        publisher.say(p.Batch("calls", 0, 0, 0, one(0, 0, 10)), p.Batch("calls", 1, 0, 0, one(0, 1, 20)))
        publisher.say(p.Batch("calls", 2, 0, 0, one(0, 0, 10), again=True))
        publisher.say(p.Batch("calls", 2, 0, 0, one(0, 2, 11), again=True))
        publisher.say(p.Batch("calls", 2, 0, 0, one(1, 2, 50)))
        assert until(lambda: subscriber.rows == 5, doing=lambda: subscriber.drain(0.01))
        assert (subscriber.lost, subscriber.lost_batches) == (0, 0)
        calls, _ = subscriber.trace.window(-1)
    assert calls.depth.tolist() == [1, 2, 1, 2]
    assert calls.function.tolist() == [0, 1, 0, 2]
    assert calls.end.tolist() == [20, 20, 50, 50]


@given(
    st.lists(st.sampled_from(("begin", "end", "lose", "drop", "again", "other")), max_size=40),
    st.integers(0, 3),
)
@settings(deadline=None, max_examples=60)
def test_losses_against_a_plain_stack(steps, seed) -> None:
    """Whatever is lost, depth follows what came since: nothing stays open for ever."""
    rng = np.random.default_rng(seed)
    with unconnected() as subscriber:
        subscriber._take(p.Welcome("s", "p", 1, 0))
        subscriber._take(FUNCTIONS)
        stack, calls, dropped, sequence = [], [], 0, 0
        result, expected, reports = 0, -1, False
        for when, step in enumerate(steps):
            if step in ("lose", "drop"):
                sequence += step == "lose"
                dropped += step == "drop"
                continue
            again = step == "again"
            known = sequence, dropped
            if expected not in (-1, sequence) or dropped > result or (again and not reports):
                latest_time = max([c[2] for c in calls] + [c[1] for c in calls], default=0)
                for i in stack:
                    calls[i][2] = latest_time
                stack = []
            function = int(rng.integers(3))
            if step == "other":
                row = {name: np.zeros(1, dtype) for name, dtype, *_ in p.TABLES["counters"]}
                subscriber._take(p.Batch("counters", *known, 0, row))
            elif step in ("begin", "again"):
                stack.append(len(calls))
                calls.append([function, when, -1])
                subscriber._take(p.Batch("calls", *known, 0, one(0, function, when), again))
            else:
                if any(calls[i][0] == function for i in stack):
                    while True:
                        i = stack.pop()
                        calls[i][2] = when
                        if calls[i][0] == function:
                            break
                subscriber._take(p.Batch("calls", *known, 0, one(1, function, when)))
            # Batches that are sent again have the number of the next one.
            result, expected, reports = dropped, sequence if again else sequence + 1, again
            sequence += not again
        subscriber._take_small()
        found, _ = subscriber.trace.window(-1)
        now = subscriber.trace.now
        assert found.function.tolist() == [c[0] for c in calls]
        # A thread's time also goes on with ends that fit nothing: the cut may lie there.
        ends = zip(found.end.tolist(), calls, strict=True)
        assert all(end == c[2] or (c[2] == -1 and end == now) or c[2] <= end <= now for end, c in ends)
        (thread,) = subscriber.trace.calls_of_threads() or [None]
        assert (thread.open if thread else 0) == len(stack)


def test_a_batch_that_makes_no_sense_gives_its_credit_back(monkeypatch) -> None:
    """Each batch costs the publisher a credit, also those that are left out: else the feed would stall."""
    monkeypatch.setattr(subscribing, "CREDIT", 16)
    with Marionette() as publisher, Subscriber(publisher.endpoint) as subscriber:
        publisher.greet()
        bad = p.encode(p.Batch("calls", 0, 0, 0, one(0, 0, 10)))
        bad[1] = b"\7"
        publisher.say(*([bad] * 40))
        assert until(lambda: subscriber.bad == 40, doing=lambda: subscriber.drain(0.01))
        assert sum(said.count for said in publisher.listen() if isinstance(said, p.Credit)) >= 39
        trace = subscriber.finish()
    assert trace.problems["malformed"].count == 40


def test_credit_that_could_not_be_said_is_said_later(monkeypatch) -> None:
    monkeypatch.setattr(subscribing, "CREDIT", 16)
    with Marionette() as publisher, Subscriber(publisher.endpoint) as subscriber:
        publisher.greet()
        real = subscriber._socket.send_multipart

        def full(*_):
            raise zmq.Again

        subscriber._socket.send_multipart = full
        for sequence in range(20):
            publisher.say(p.Batch("calls", sequence, 0, 0, one(sequence % 2, 0, sequence)))
        assert until(lambda: subscriber.rows == 20, doing=lambda: subscriber.drain(0.01))
        assert publisher.listen() == []
        subscriber._socket.send_multipart = real
        subscriber.drain(0.01)
        assert publisher.listen() == [p.Credit(20)]


def test_a_viewer_of_a_quiet_program_is_not_forgotten(monkeypatch) -> None:
    monkeypatch.setattr(publishing, "_SILENT_S", 0.4)
    monkeypatch.setattr(publishing, "ALIVE_S", 0.02)
    monkeypatch.setattr(subscribing, "_SIGN_S", 0.05)
    with Publisher(LOCAL) as publisher, Subscriber(publisher.endpoint) as subscriber:
        assert until(lambda: subscriber.state == "connected", doing=lambda: subscriber.drain(0.01))
        assert not until(lambda: not publisher.viewers, 1.2, doing=lambda: subscriber.drain(0.01, wait=0.02))
        assert publisher.joined == 1


@pytest.mark.parametrize("what", ["viewer reconnects", "publisher forgets", "publisher restarts", "pause"])
def test_a_feed_goes_on_after(what, monkeypatch) -> None:
    """More batches than the credit come through before and after, whatever happens between."""
    monkeypatch.setattr(subscribing, "CREDIT", 16)
    monkeypatch.setattr(subscribing, "SILENT_S", 0.4)
    monkeypatch.setattr(publishing, "ALIVE_S", 0.05)
    publisher = Publisher(LOCAL)
    try:
        with Subscriber(publisher.endpoint) as subscriber:

            def come(rows_wanted: int) -> None:
                before = subscriber.rows
                for i in range(rows_wanted // 10):
                    publisher.put("calls", **rows(10, at=10 * i))
                assert until(lambda: subscriber.rows >= before + rows_wanted,
                             doing=lambda: subscriber.drain(0.01, wait=0.01))  # fmt: skip

            assert until(lambda: publisher.viewers, doing=lambda: subscriber.drain(0.01))
            come(1000)
            joined = publisher.joined
            if what == "viewer reconnects":
                subscriber._connect()
            elif what == "publisher forgets":
                publisher._viewers.clear()
            elif what == "pause":
                subscriber.paused = True
                come(1000)
                assert subscriber.left_out == 1000
                subscriber.paused = False
            else:
                # It dies without a word.
                publisher._viewers.clear()
                publisher.close(0.0)
                publisher = Publisher(publisher.endpoint)
            if what != "publisher restarts":
                assert until(lambda: publisher.joined > joined, doing=lambda: subscriber.drain(0.01))
            assert until(lambda: publisher.viewers, doing=lambda: subscriber.drain(0.01))
            come(1000)
            come(1000)
            assert subscriber.state == "connected"
    finally:
        publisher.close(0.1)


def test_who_has_lost_rows_gets_what_is_open(monkeypatch) -> None:
    monkeypatch.setattr(subscribing, "CREDIT", 4)
    monkeypatch.setattr(publishing, "MOST_BEHIND", 2000)
    monkeypatch.setattr(publishing, "ALIVE_S", 0.05)
    with Publisher(LOCAL, retells=True) as publisher, Subscriber(publisher.endpoint) as slow:
        joined = 0

        def tell() -> None:
            nonlocal joined
            slow.drain(0.01, wait=0.01)
            if publisher.joined != joined:
                joined = publisher.joined
                publisher.retell([("calls", one(0, 7, 5))])

        assert until(lambda: slow.rows == 1, doing=tell)  # it has just come
        put = 0
        for i in range(60):
            put += publisher.put("calls", **rows(1000, at=1000 * i + 10)) * 1000
        assert until(lambda: not publisher._waiting)
        assert until(lambda: joined == 2, doing=tell)
        assert until(lambda: slow.rows - joined + slow.lost == put, doing=tell)
        assert 0 < slow.lost < put
        publisher.put("calls", **rows(2, at=10**6))
        assert until(lambda: slow.trace.now == 10**6 + 1, doing=tell)
        assert slow.trace.cuts == 1
        (thread,) = slow.trace.calls_of_threads()
        assert thread.open == 1
        calls, _ = slow.trace.window(10**6)
    assert [slow.trace.functions()[f] for f in calls.function.tolist()] == ["(function 7)", "(function 0)"]


def test_a_huge_batch_is_taken_over_several_drains(monkeypatch) -> None:
    n = 1 << 20
    with Marionette() as publisher, Subscriber(publisher.endpoint) as subscriber:
        publisher.greet()
        kind = np.tile(np.array([0, 1], np.uint8), n // 2)
        huge = {"kind": kind, "thread": np.zeros(n, np.uint32), "function": np.zeros(n, np.uint32),
                "time": np.arange(n)}  # fmt: skip
        publisher.say(p.Batch("calls", 0, 0, 0, huge), p.Batch("calls", 1, 0, 0, one(0, 1, n)))
        sizes = []

        def take() -> None:
            before = subscriber.trace.events
            subscriber.drain(0.0)
            sizes.append(subscriber.trace.events - before)

        assert until(lambda: subscriber.trace.events == n + 1, doing=take)
        assert max(sizes) <= subscribing._BITE
        assert subscriber.trace.calls == n // 2 + 1
        assert subscriber.trace.now == n
        # Nothing of one that is wrong at its end is taken.
        bad = {name: column.copy() for name, column in huge.items()}
        bad["kind"][-1] = 2
        publisher.say(p.Batch("calls", 2, 0, 0, bad))
        assert until(lambda: subscriber.bad == 1, doing=take)
        assert subscriber.trace.events == n + 1
        assert subscriber.rows == n + 1
        # Who stops in the middle keeps all of it.
        publisher.say(p.Batch("calls", 2, 0, 0, huge))
        assert until(lambda: subscriber.rows == 2 * n + 1, doing=take)
        assert len(subscriber.finish().calls) == n + 1


@given(
    st.lists(st.sampled_from(("alloc", "free", "lose", "again", "pause", "resume")), min_size=4, max_size=60),
    st.integers(0, 9),
)
@example(["alloc", "again", "lose", "again"], 0)
@example(["alloc", "pause", "lose", "again", "resume", "again"], 0)
@settings(deadline=None, max_examples=25)
def test_blocks_that_were_freed_unseen_are_gone_once_it_is_told_what_lives(steps, seed) -> None:
    """After a loss or a pause the viewer holds what the program holds, what it knew is not told anew."""
    rng = np.random.default_rng(seed)

    def rows(kind: int, *blocks: tuple[int, int, int]) -> dict:
        time, address, size = map(list, zip(*blocks, strict=True))
        values = {"kind": [kind] * len(blocks), "time": time, "address": address, "size": size,
                  "thread": [0] * len(blocks), "stack": [-1] * len(blocks)}  # fmt: skip
        return {name: np.array(values[name], dtype) for name, dtype, *_ in p.TABLES["memory"]}

    with unconnected() as subscriber:
        subscriber._take(p.Welcome("s", "p", 1, 0))
        program: dict[int, tuple[int, int]] = {}
        sequence = 0

        def tell_again(when: int) -> None:
            known = [(when, address, size) for address, (_, size) in program.items()]
            for part in (known[: len(known) // 2], known[len(known) // 2 :]):
                if part:
                    subscriber._take(p.Batch("memory", sequence, 0, 0, rows(0, *part), True))

        for when, step in enumerate([*steps, "lose", "resume", "alloc", "again", "alloc"], 10):
            if step in ("alloc", "lose"):
                address = int(rng.integers(0, 12)) if step == "lose" else 100 + when
                if step == "lose" and address in program:
                    del program[address]
                program[address] = when, 64 + int(rng.integers(0, 2))
                row = rows(0, (when, address, program[address][1]))
            elif step == "free" and program:
                address = int(rng.choice(list(program)))
                del program[address]
                row = rows(1, (when, address, 0))
            elif step == "again":
                tell_again(when)
                continue
            else:
                if step in ("pause", "resume"):
                    was, subscriber.paused = subscriber.paused, step == "pause"
                    if was and step == "resume":
                        tell_again(when)
                continue
            if step != "lose":
                subscriber._take(p.Batch("memory", sequence, 0, 0, row))
            sequence += 1
        memory, seen = subscriber.trace.trace().memory, {}
        for kind, address, size in zip(memory.kind.tolist(), memory.address.tolist(), memory.size.tolist()):
            if kind == 0:
                # A block that was known already is not reported as another one.
                assert seen.get(address) != size
                seen[address] = size
            else:
                seen.pop(address, None)  # it may be one that was lost
        assert seen == {address: size for address, (_, size) in program.items()}
