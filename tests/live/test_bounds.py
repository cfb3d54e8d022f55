"""What viewers can do to a publisher: none fills its memory, keeps it busy, or holds up the others."""

import contextlib
import functools
import os
import socket
import subprocess
import sys
import time
from unittest.mock import patch

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.live.test_feed import LOCAL, raw, rows, until
from tracevis3d.live import protocol as p
from tracevis3d.live import publisher as publishing
from tracevis3d.live import subscriber as subscribing
from tracevis3d.live import viewer as viewers
from tracevis3d.live.publisher import Publisher
from tracevis3d.live.subscriber import Subscriber

zmq = pytest.importorskip("zmq")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and Linux' sockets")

#: Publishes ``argv[2]`` names, and rows 50 times a second, ``argv[3]`` at a time; ``argv[4]`` descriptors.
_PROGRAM = """
import resource, sys, time
import numpy as np
from tracevis3d.live.publisher import Publisher
names, n, most = map(int, sys.argv[2:5])
if most:
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
publisher = Publisher(sys.argv[1])
for i in range(names):
    publisher.number("functions", f"{i:_>50}")
publisher.number("threads", (1, 1, "main"))
print(publisher.endpoint, flush=True)
kind, zeros = np.tile(np.array([0, 1], np.uint8), n // 2), np.zeros(n, np.uint32)
while True:
    # New arrays: what is kept for one viewer is no other's.
    time_ns = publisher.now() + np.arange(n)
    publisher.put("calls", kind=kind.copy(), thread=zeros.copy(), function=zeros.copy(), time=time_ns)
    time.sleep(0.02)
"""


class Program:
    """A publisher in a process of its own."""

    def __init__(self, names: int = 10, rows: int = 10, most_files: int = 0) -> None:
        words = [sys.executable, "-c", _PROGRAM, LOCAL, str(names), str(rows), str(most_files)]
        self.process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.endpoint = self.process.stdout.readline().strip()

    @property
    def memory(self) -> float:
        """MiB that it has in memory."""
        with open(f"/proc/{self.process.pid}/status") as status:
            (line,) = (line for line in status if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    @property
    def seconds(self) -> float:
        """Processor time."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def dealer(endpoint: str, *messages):
    """A viewer that says something and never listens: it holds back what it is sent."""
    context, found = raw("", zmq.DEALER)
    found.setsockopt(zmq.RCVHWM, 1)
    found.setsockopt(zmq.RCVBUF, 4096)
    found.connect(endpoint)
    for message in messages:
        found.send_multipart(p.encode(message))
    try:
        yield found
    finally:
        found.close()
        context.term()


def connected(endpoint: str) -> socket.socket:
    host, port = endpoint.removeprefix("tcp://").rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=5)


def speaks(endpoint: str) -> socket.socket:
    """Return a connection that has shaken hands as a DEALER (ZMTP 3.0, NULL)."""
    found = connected(endpoint)
    found.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32))
    ready = b"\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"
    found.sendall(bytes([4, len(ready)]) + ready)
    # Its greeting, and the same from it.
    heard = b""
    while len(heard) < 66 or len(heard) < 66 + heard[65]:
        heard += found.recv(1000)
    return found


def is_cut_off(connection: socket.socket, part: bytes, most: int = 1 << 28) -> bool:
    """Whether a connection is closed before it has sent ``part`` so often that it is ``most`` bytes."""
    sent = 0
    try:
        while sent < most:
            sent += connection.send(part)
    except ConnectionError:
        return True
    return False


def feed_goes_on(endpoint: str, seconds: float = 60.0) -> bool:
    """Whether another viewer receives rows, and loses none."""
    with Subscriber(endpoint) as good:
        take = functools.partial(good.drain, 0.01, wait=0.02)
        joined = until(lambda: good.rows, seconds, take)
        # Where the machine is busy, a viewer must not take its own rest for the publisher's, and join anew.
        with patch.object(subscribing, "SILENT_S", seconds):
            return joined and until(lambda: good.rows > 50, seconds, take) and not good.lost


@linux
def test_asking_again_and_again_fills_no_memory() -> None:
    """100 asks for 100,000 names of 50 letters would be 550 MB."""
    with Program(names=100_000) as program, dealer(program.endpoint, p.Hello(1, 0)) as asking:
        assert feed_goes_on(program.endpoint)
        before = program.memory
        for _ in range(100):
            asking.send_multipart(p.encode(p.Ask()))
            asking.send_multipart(p.encode(p.Hello(1, 0)))
        assert feed_goes_on(program.endpoint)
        assert program.memory - before < 64


@linux
def test_a_message_that_never_ends_is_cut_off() -> None:
    with Program() as program, speaks(program.endpoint) as endless:
        assert feed_goes_on(program.endpoint)
        before = program.memory
        large = (b"\x03" + (60_000).to_bytes(8, "big") + bytes(60_000)) * 16
        assert is_cut_off(endless, large)
        assert program.memory - before < 128
        assert feed_goes_on(program.endpoint)
        with speaks(program.endpoint) as small:
            assert is_cut_off(small, b"\x01\x01a" * 100_000)
        assert program.memory - before < 128


@linux
def test_credit_that_is_made_up_fills_no_memory() -> None:
    """It takes nothing, and says that it could take a million batches: 100 MB would be on the way to it."""
    with Program(rows=60_000) as program:
        assert feed_goes_on(program.endpoint)
        before = program.memory
        with dealer(program.endpoint, p.Hello(1, 1_000_000)), Subscriber(program.endpoint) as good:
            enough = 6_000_000
            assert until(lambda: good.rows >= enough, 20, lambda: good.drain(0.05, wait=0.05))
            assert good.lost == 0
            # 8 MiB are on the way to it, and a million rows wait for it: 17 MiB.
            assert program.memory - before < 80


@linux
def test_running_out_of_descriptors_takes_no_core_and_locks_nobody_out() -> None:
    with Program(most_files=48) as program, contextlib.ExitStack() as stack:
        assert feed_goes_on(program.endpoint)
        for _ in range(100):
            with contextlib.suppress(OSError):
                stack.enter_context(connected(program.endpoint))
        before, begun = program.seconds, time.monotonic()
        time.sleep(1.0)
        assert program.seconds - before < 0.5 * (time.monotonic() - begun)
        assert feed_goes_on(program.endpoint)


def test_idle_viewers_give_way(monkeypatch) -> None:
    monkeypatch.setattr(publishing, "IDLE_S", 0.3)
    monkeypatch.setattr(publishing, "MOST_VIEWERS", 8)
    with Publisher(LOCAL) as publisher, contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(dealer(publisher.endpoint, p.Hello(1, 100)))
        assert until(lambda: publisher.viewers == 8)
        with Subscriber(publisher.endpoint) as good:
            monkeypatch.setattr("tracevis3d.live.subscriber.SILENT_S", 0.2)
            assert until(lambda: good.state == "connected", doing=lambda: good.drain(0.01, wait=0.02))
            publisher.put("calls", **rows(10))
            assert until(lambda: good.rows == 10, doing=lambda: good.drain(0.01, wait=0.02))
        assert publisher.sent_away == 1
        assert publisher.why_sent_away == "others wait to be one of the 8 viewers, and this one takes nothing"


def test_who_takes_part_keeps_its_place(monkeypatch) -> None:
    monkeypatch.setattr(publishing, "MOST_VIEWERS", 2)
    monkeypatch.setattr("tracevis3d.live.subscriber._SIGN_S", 0.01)
    with (
        Publisher(LOCAL) as publisher,
        Subscriber(publisher.endpoint) as one,
        Subscriber(publisher.endpoint) as two,
    ):

        def both() -> None:
            one.drain(0.01, wait=0.01)
            two.drain(0.01, wait=0.01)

        assert until(lambda: [v.has_spoken for v in publisher._viewers.values()] == [True] * 2, doing=both)
        with Subscriber(publisher.endpoint) as third:
            assert until(lambda: third.over, doing=lambda: (both(), third.drain(0.01, wait=0.01)))
            assert third.why == "2 viewers are already connected"
        assert publisher.viewers == 2


def test_a_viewer_without_credit_holds_nobody_up(monkeypatch) -> None:
    """A file is in no hurry, and waits for viewers; not for one that never takes anything."""
    monkeypatch.setattr(publishing, "PATIENCE_S", 200.0)
    monkeypatch.setattr(publishing, "_FIRST_PATIENCE_S", 200.0)
    with (
        Publisher(LOCAL, patient=True) as publisher,
        Subscriber(publisher.endpoint) as good,
        dealer(publisher.endpoint, p.Hello(1, 0)),
    ):
        assert until(lambda: publisher.viewers == 2, doing=lambda: good.drain(0.01))
        begun = time.monotonic()
        for i in range(50):
            publisher.put("calls", **rows(10, at=10 * i))
        assert until(lambda: good.rows == 500, doing=lambda: good.drain(0.01, wait=0.01))
        publisher.close(200)
        assert time.monotonic() - begun < 100  # not a second time of patience was spent on it
        assert until(lambda: good.state == "ended", doing=lambda: good.drain(0.01))
        assert good.lost == 0


def test_patience_is_earned_and_spent() -> None:
    """What a viewer has taken it may be waited for, and no more."""
    with (
        Publisher(LOCAL, patient=True) as publisher,
        dealer(publisher.endpoint, p.Hello(1, 20)) as stops,
    ):
        assert until(lambda: publisher.viewers == 1)
        for i in range(40):
            publisher.put("calls", **rows(10, at=10 * i))
        (viewer,) = publisher._viewers.values()
        assert until(lambda: viewer.credit == 0)
        assert publisher._waiting
        # Two seconds for twenty batches.
        assert viewer.patience <= publishing._FIRST_PATIENCE_S + 20 * viewers._EARNED_S

        def spent() -> bool:
            # Set each time: the publisher's thread may just be taking from what it had read before.
            viewer.patience = min(viewer.patience, 0.2)
            return not publisher._waiting

        assert until(spent, 20.0)
        assert viewer.behind_rows == 200
        stops.send_multipart(p.encode(p.Credit(20)))
        assert until(lambda: not viewer.behind)


def test_a_repeated_hello_resets_no_limit() -> None:
    with Publisher(LOCAL, suggestions=lambda _: None) as publisher:
        context, again = raw("", zmq.DEALER)
        again.connect(publisher.endpoint)
        answers = []
        for number in range(2 * viewers.MOST_SUGGESTIONS):
            again.send_multipart(p.encode(p.Hello(1, 5)))
            again.send_multipart(p.encode(p.Suggest(number, "look", site="here")))
            while len(answers) <= number:
                said = p.decode(again.recv_multipart())
                if isinstance(said, p.Answer):
                    answers.append(said.taken)
        assert sum(answers) == viewers.MOST_SUGGESTIONS
        assert publisher.viewers == 1
        again.close()
        context.term()


def test_who_needs_what_is_open_can_not_keep_the_program_busy() -> None:
    """A program is asked for it twice a second at most, however often viewers say hello."""
    with Publisher(LOCAL, retells=True) as publisher:
        context, again = raw("", zmq.DEALER)
        again.connect(publisher.endpoint)
        seen = set()
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            again.send_multipart(p.encode(p.Hello(1, 5)))
            seen.add(publisher.joined)
            time.sleep(0.001)
        assert len(seen) <= 3
        again.close()
        context.term()


def test_floods_of_messages_and_of_nonsense_are_cut_off(monkeypatch) -> None:
    # A busy machine sends no flood by the usual measure.
    monkeypatch.setattr(viewers, "MESSAGES_A_SECOND", 50)
    with Publisher(LOCAL) as publisher, dealer(publisher.endpoint, p.Hello(1, 0)) as flood:
        assert until(lambda: publisher.viewers == 1)

        def send():
            for _ in range(1000):
                with contextlib.suppress(zmq.Again):
                    flood.send_multipart(p.encode(p.Credit(0)), zmq.NOBLOCK)

        assert until(lambda: publisher.sent_away == 1, seconds=60, doing=send)
        assert "messages a second" in publisher.why_sent_away
    with Publisher(LOCAL) as publisher, speaks(publisher.endpoint) as nonsense:
        nonsense.settimeout(5)
        nonsense.sendall(b"\x00\x01x" * 100)
        with contextlib.suppress(ConnectionError):
            while nonsense.recv(1 << 16):
                pass
        assert publisher._connections.closed == 1


def test_older_protocols_of_zeromq_end_no_feed(monkeypatch) -> None:
    """ZeroMQ does not say by which connection their messages came; garbage may pass as such."""
    heard, take = [], Publisher._take
    monkeypatch.setattr(Publisher, "_take", lambda self, *what: (heard.append(what[2]), take(self, *what)))
    with Publisher(LOCAL) as publisher, connected(publisher.endpoint) as old:
        old.sendall(b"\xff" + bytes(8) + b"\x7f\x01\x05\x00\x00" + b"\x00\x04aaaa" * 100)
        assert until(lambda: len(heard) == 100)
        assert set(heard) == {-1}
        with Subscriber(publisher.endpoint) as good:
            assert until(lambda: publisher.viewers == 1, doing=lambda: good.drain(0.01))
            publisher.put("calls", **rows(10))
            assert until(lambda: good.rows == 10, doing=lambda: good.drain(0.01, wait=0.02))


def test_large_batches_are_sent_in_parts() -> None:
    n = 3 * publishing._LARGEST + 10
    with Publisher(LOCAL) as publisher, Subscriber(publisher.endpoint) as subscriber:
        assert until(lambda: publisher.viewers, doing=lambda: subscriber.drain(0.01))
        publisher.put("calls", **rows(n))
        assert until(lambda: subscriber.rows == n, doing=lambda: subscriber.drain(0.05, wait=0.05))
        assert publisher._sequence == 4
        assert np.array_equal(subscriber.finish().calls.start, 2 * np.arange(n // 2))
