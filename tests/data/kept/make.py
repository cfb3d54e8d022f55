"""Make the files of this folder: ``python -m tests.data.kept.make`` at the repository's root.

They stand for what users and their programs have: make them again only where a format has changed on purpose,
beside the old ones.
"""

import base64
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import zmq

from tests.data.kept.promised import promised
from tests.house.test_kept_files import described, described_trace
from tests.trace.test_store import full_trace
from tracevis3d.live import protocol as p
from tracevis3d.live.publisher import Publisher
from tracevis3d.trace.model import Samples
from tracevis3d.trace.storage import store
from tracevis3d.trace.strings import Strings
from tracevis3d.version import __version__

HERE = Path(__file__).resolve().parent
#: A folder for each version that people have; 0.1 has none.
MADE = HERE / ".".join(__version__.split(".")[:2])


def columns():
    """A trace with something in every table, in both forms."""
    trace = full_trace()
    i32, i64 = np.int32, np.int64
    trace = replace(
        trace,
        sync=replace(trace.sync, line=np.array([17, 0], i32)),
        samples=Samples(
            np.array([0, 2], i32), np.array([0, 1], i32), np.array([3, 64], i64), np.array([1, 2], i64),
            np.array([1, -1], i32), Strings.of(["samples", "memory (bytes)"]),
        ),
    )  # fmt: skip
    store.save(trace, MADE / "plain.tv3")
    store.save(trace, MADE / "packed.tv3", packed=True)
    write("trace.json", described_trace(store.load(MADE / "plain.tv3")))


def session():
    """A viewer's talk with a publisher that has rows of each table, loses some, and takes suggestions."""
    said = []
    context = zmq.Context()
    dealer = context.socket(zmq.DEALER)

    def say(message):
        frames = p.encode(message)
        said.append(("viewer", frames, described(p.decode_from_viewer(frames))))
        dealer.send_multipart(frames)

    def hear(kind):
        while dealer.poll(5000):
            frames = dealer.recv_multipart()
            message = p.decode(frames)
            if not isinstance(message, p.Alive) or kind is p.Alive:
                said.append(("publisher", frames, described(message)))
            if isinstance(message, kind):
                return
        raise AssertionError(f"no {kind.__name__} came")

    publisher = Publisher("tcp://127.0.0.1:*", "program.py", suggestions=lambda _: None, retells=True)
    number = publisher.number
    outer, inner = number("functions", "outer (/p/program.py:3)"), number("functions", "inner é")
    thread, lock = number("threads", (7, 8, "main")), number("objects", "Lock-1")
    acquire, load, frame = (
        number("operations", "acquire"),
        number("counters", "load"),
        number("frames", (outer, -1, 3)),
    )
    dealer.connect(publisher.endpoint)
    say(p.Hello(p.VERSION, 16))
    hear(p.Welcome)
    publisher.retell([("calls", {"kind": [0], "thread": [thread], "function": [outer], "time": [100]})])
    hear(p.Batch)
    tables = {
        "calls": {"kind": [0, 1], "thread": [thread] * 2, "function": [inner] * 2, "time": [200, 300]},
        "sync": {"kind": [0], "thread": [thread], "operation": [acquire], "object": [lock],
                 "start": [210], "end": [250]},
        "memory": {
            "kind": [0, 1], "thread": [thread] * 2, "time": [220, 280], "address": [2**64 - 16] * 2,
            "size": [64, 0], "stack": [frame, -1],
        },
        "counters": {"series": [load], "time": [230], "value": [0.5]},
    }  # fmt: skip
    for table, rows in tables.items():
        assert publisher.put(table, **{name: np.array(column) for name, column in rows.items()})
        hear(p.Batch)
    say(p.Credit(4))
    say(p.Suggest(1, "free", 2**64 - 16, 64, "outer"))
    hear(p.Answer)
    publisher.lose(5)
    hear(p.Alive)
    say(p.Ask())
    for _ in p.NAMES:
        hear(p.Names)
    time.sleep(0.05)
    publisher.close()
    hear(p.Ended)
    say(p.Bye())
    frames = p.encode(p.Refused("version 1 is spoken here, the viewer speaks 2"))
    said.append(("publisher", frames, described(p.decode(frames))))
    dealer.close(linger=0)
    context.term()
    write("feed.json", [
        {"from": who, "frames": [base64.b64encode(bytes(f)).decode() for f in frames], "holds": holds}
        for who, frames, holds in said
    ])  # fmt: skip


def write(name, value):
    text = json.dumps(value, ensure_ascii=False, indent=1)
    (MADE / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    MADE.mkdir(exist_ok=True)
    columns()
    session()
    write("promised.json", promised())
