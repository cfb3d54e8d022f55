"""A viewer and a publisher written after docs/live-protocol.md with zmq, json and struct alone."""

import json
import re
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.support import walked_traces
from tracevis3d.live.publisher import Publisher
from tracevis3d.live.replay import replay
from tracevis3d.live.subscriber import Subscriber

zmq = pytest.importorskip("zmq")
DOCUMENT = (ROOT / "docs" / "live-protocol.md").read_text("utf-8")


def documented_columns() -> dict[str, list[tuple[str, str]]]:
    """Return the columns of each table as the document's table has them."""
    found = {}
    for table in ("calls", "sync", "waiting", "memory", "counters"):
        (row,) = re.findall(rf"^\| `{table}` \|(.*)\|$", DOCUMENT, re.MULTILINE)
        found[table] = re.findall(r"`(\w+)` ([uif]\d+)", row)
    return found


class Viewer:
    """What somebody would write in an afternoon, in any language."""

    FORMATS = {"u8": "B", "u32": "I", "i32": "i", "i64": "q", "u64": "Q", "f64": "d"}  # noqa: RUF012

    def __init__(self, endpoint: str) -> None:
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.connect(endpoint)
        self.names: dict[str, list] = {}
        self.rows: dict[str, list[tuple]] = {}
        self.welcome: dict = {}
        self.expected, self.lost_batches, self.dropped, self.taken, self.over = None, 0, 0, 0, False
        self.say(t="hello", version=1, credit=64)

    def say(self, **message) -> None:
        self.socket.send(json.dumps(message).encode())

    def listen(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self.over and time.monotonic() < end:
            if self.socket.poll(50):
                head, *columns = self.socket.recv_multipart()
                self.hear(json.loads(head), columns)

    def hear(self, head: dict, columns: list[bytes]) -> None:
        if head["t"] == "welcome":
            assert head["version"] == 1
            self.welcome = head
        elif head["t"] == "names":
            known = self.names.setdefault(head["table"], [])
            known[head["first"] :] = head["names"]
        elif head["t"] == "batch":
            if self.expected is not None:
                self.lost_batches += head["sequence"] - self.expected
            self.expected, self.dropped = head["sequence"] + 1, head["dropped"]
            wanted = documented_columns()[head["table"]]
            assert len(columns) == len(wanted)
            values = [
                struct.unpack(f"<{head['rows']}{self.FORMATS[kind]}", data)
                for (_, kind), data in zip(wanted, columns, strict=True)
            ]
            self.rows.setdefault(head["table"], []).extend(zip(*values, strict=True))
            self.taken += 1
            if self.taken == 16:
                self.say(t="credit", count=self.taken)
                self.taken = 0
        elif head["t"] == "end":
            self.over = True

    def close(self) -> None:
        self.say(t="bye")
        self.socket.close()
        self.context.term()


def test_a_viewer_after_the_document_understands_our_publisher() -> None:
    trace = walked_traces.walked_trace(11, steps=600, threads=2, allocations=30)
    with Publisher("tcp://127.0.0.1:*", "walk", patient=True) as publisher:
        viewer = Viewer(publisher.endpoint)
        assert publisher.wait_for_viewer(10)
        sender = threading.Thread(target=lambda: (replay(trace, publisher, np.inf), publisher.close(5)))
        sender.start()
        viewer.listen(20)
        sender.join()
        viewer.close()
    assert viewer.over
    assert (viewer.lost_batches, viewer.dropped) == (0, 0)
    assert viewer.welcome["program"] == "walk"
    # Calls from begins and ends, with a stack for each thread.
    calls, stacks = [], {}
    for kind, thread, function, when in viewer.rows["calls"]:
        stack = stacks.setdefault(thread, [])
        if kind == 0:
            stack.append((viewer.names["functions"][function], when))
        else:
            name, start = stack.pop()
            assert name == viewer.names["functions"][function]
            calls.append((viewer.names["threads"][thread][1], name, start, when, len(stack) + 1))
    wanted = [
        (trace.threads.tid[t], trace.functions.name[f], int(s), int(e), int(d))
        for t, f, s, e, d in zip(
            trace.calls.thread, trace.calls.function, trace.calls.start, trace.calls.end, trace.calls.depth,
            strict=True,
        )
    ]  # fmt: skip
    assert sorted(calls) == sorted(wanted)
    assert sorted(row[2] for row in viewer.rows["memory"]) == sorted(trace.memory.time.tolist())


def test_the_documents_publisher_is_understood_by_our_viewer() -> None:
    program = DOCUMENT.rpartition("```python\n")[2].partition("```")[0]
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router:
        port = router.bind_to_random_port("tcp://127.0.0.1")
    program = program.replace("tcp://127.0.0.1:5570", f"tcp://127.0.0.1:{port}")
    with (
        subprocess.Popen([sys.executable, "-c", program]) as running,
        Subscriber(f"tcp://127.0.0.1:{port}") as subscriber,
    ):
        end = time.monotonic() + 60
        while subscriber.rows < 8 and time.monotonic() < end:
            subscriber.drain(0.01, wait=0.05)
        running.kill()
        trace = subscriber.finish()
    assert (subscriber.bad, subscriber.program) == (0, "demo")
    assert set(trace.functions.name) == {"work"}
    assert len(trace.calls) >= 4
    assert np.all(trace.calls.end - trace.calls.start == 50_000_000)
