"""The live feed over real sockets: whole way, late join, overload, kill, restart, nonsense, keys."""

import json
import os
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tracevis3d as tv
from tests import walked_traces
from tests.conftest import ROOT
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


def until(test, seconds: float = 10.0, doing=lambda: time.sleep(0.005)) -> bool:
    end = time.monotonic() + seconds
    while not test() and time.monotonic() < end:
        doing()
    return bool(test())


def test_a_replayed_trace_arrives_whole() -> None:
    trace = walked_traces.walked_trace(3, steps=3000, threads=3, allocations=40)
    with Publisher(LOCAL, "walk", patient=True) as publisher, Subscriber(publisher.endpoint) as subscriber:
        assert until(lambda: publisher.viewers, doing=lambda: subscriber.drain(0.01))
        sender = threading.Thread(target=lambda: (replay(trace, publisher, np.inf), publisher.close()))
        sender.start()
        watch(subscriber, seconds=20)
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
        # Beyond that it is dropped, and told.
        for i in range(60, 160):
            assert publisher.put("calls", **rows(1000, at=1000 * i))
        assert until(lambda: slow.rows + slow.lost == 160_000, doing=lambda: slow.drain(0.01))
        assert 66_000 <= slow.rows <= 160_000


def test_overload_is_dropped_at_once_and_told(monkeypatch) -> None:
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
    monkeypatch.setattr(subscribing, "SILENT_S", 0.7)
    with Publisher(LOCAL) as publisher:
        endpoint = publisher.endpoint
    with Subscriber(endpoint) as subscriber:

        def take() -> None:
            subscriber.drain(0.01, wait=0.02)

        for run in (1, 2):
            words = [sys.executable, "-c", _KILLED, endpoint, str(run)]
            with subprocess.Popen(words, cwd=ROOT) as process:
                before = subscriber.rows
                assert until(lambda: subscriber.rows > before + 20, 20.0, doing=take)  # noqa: B023
                assert subscriber.state == "connected"
                process.kill()
                process.wait()
            assert until(lambda: subscriber.state == "silent", doing=take)
        assert subscriber.trace.sessions == 2
        assert (subscriber.lost, subscriber.bad) == (0, 0)
        trace = subscriber.finish()
    assert len(trace.threads) == 2
    assert set(trace.functions.name) == {"work"}
    assert len(trace.calls) >= 20


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
        with pytest.raises(UsageError, match="no endpoint"):
            check(endpoint)
    with Publisher(LOCAL) as publisher, pytest.raises(UsageError, match="can't be bound"):
        Publisher(publisher.endpoint)


def test_only_listed_viewers_are_let_in(tmp_path) -> None:
    if not zmq.has("curve"):
        pytest.skip("this ZeroMQ knows no CURVE")
    make_keys(tmp_path / "publisher", "publisher")
    make_keys(tmp_path / "viewers", "friend")
    make_keys(tmp_path / "strangers", "stranger")
    with pytest.raises(UsageError, match="is there already"):
        make_keys(tmp_path / "viewers", "friend")
    assert (tmp_path / "viewers" / "friend.key_secret").stat().st_mode & 0o077 == 0
    mine = Keys(str(tmp_path / "publisher/publisher.key_secret"), str(tmp_path / "viewers"))
    public = str(tmp_path / "publisher/publisher.key")
    with Publisher(LOCAL, keys=mine) as publisher:
        friend = Keys(str(tmp_path / "viewers/friend.key_secret"), public)
        stranger = Keys(str(tmp_path / "strangers/stranger.key_secret"), public)
        with Subscriber(publisher.endpoint, keys=stranger) as other:
            for _ in range(20):
                other.drain(0.01, wait=0.02)
            assert publisher.viewers == 0
            assert other.state == "waiting"
            with Subscriber(publisher.endpoint, keys=friend) as known:
                assert until(lambda: publisher.viewers == 1, doing=lambda: known.drain(0.01, wait=0.02))
                publisher.put("calls", **rows(10))
                assert until(lambda: known.rows == 10, doing=lambda: known.drain(0.01))
            assert other.rows == 0
        with Subscriber(publisher.endpoint) as without:
            for _ in range(20):
                without.drain(0.01, wait=0.02)
            assert without.state == "waiting"
    with pytest.raises(InputError, match="holds no secret key"):
        Subscriber(publisher.endpoint, keys=Keys(public, public))
    with pytest.raises(InputError, match=r"holds no \*\.key file"):
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
        assert replaying.wait(20) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["state"], told["calls"], told["lost"]) == ("ended", len(trace.calls), 0)
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
