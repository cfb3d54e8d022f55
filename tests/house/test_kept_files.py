"""What an earlier version wrote is read as it was: columns, messages, presets, pattern libraries."""

import base64
import hashlib
import json
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d import presets
from tracevis3d.analysis import pattern_library
from tracevis3d.analysis.compact import graph_of
from tracevis3d.views import registry

KEPT = ROOT / "tests" / "data" / "kept"
#: What each version wrote, by its number.
VERSIONS = {"0.1": KEPT, "1.0": KEPT / "1.0"}


def described_trace(trace) -> dict:
    """Return all that a trace holds but where it came from: a column by its dtype, length and SHA-256."""
    found = {}
    for field in fields(trace):
        value = getattr(trace, field.name)
        if is_dataclass(value) and field.name != "source":
            found |= {f"{field.name}.{f.name}": _told(getattr(value, f.name)) for f in fields(value)}
        elif field.name in ("files", "origin_ns", "span_ns"):
            found[field.name] = _told(value)
    return found | {"problems": json.loads(json.dumps(trace.problems.as_dict()))}


def _told(value):
    if isinstance(value, np.ndarray):
        value = np.ascontiguousarray(value)
        whole = {"dtype": value.dtype.str, "shape": list(value.shape), "sha256": _hash(value)}
        return whole | ({"values": [str(v) for v in value]} if len(value) <= 8 else {})
    return value if isinstance(value, int) else list(value)


def _hash(column) -> str:
    return hashlib.sha256(column.tobytes()).hexdigest()


@pytest.fixture(params=VERSIONS)
def kept(request):
    """The folder of what a version wrote."""
    return VERSIONS[request.param]


@pytest.mark.parametrize("form", ["plain", "packed"])
def test_columns_that_were_written_are_read(kept, form) -> None:
    wanted = json.loads((kept / "trace.json").read_text(encoding="utf-8"))
    found = described_trace(tv.load(kept / f"{form}.tv3", cache=False))
    assert {name: found.get(name) for name in wanted} == wanted


def described(message) -> dict:
    """Return what a message says, as JSON holds it."""
    words = {}
    for field in fields(message):
        value = getattr(message, field.name)
        if field.name == "columns":
            value = {name: column.tolist() for name, column in value.items()}
        words[field.name] = value
    return json.loads(json.dumps(words))


def session(kept) -> list[tuple[str, list[bytes], dict]]:
    talk = json.loads((kept / "feed.json").read_text(encoding="utf-8"))
    return [(m["from"], [base64.b64decode(frame) for frame in m["frames"]], m["holds"]) for m in talk]


def kind(frames: list[bytes]) -> str:
    return json.loads(frames[0])["t"]


def test_messages_that_were_sent_are_understood(kept) -> None:
    from tracevis3d.live import protocol

    said = session(kept)
    assert len({kind(frames) for _, frames, _ in said}) == 12, "one of each message"
    for who, frames, wanted in said:
        message = (protocol.decode if who == "publisher" else protocol.decode_from_viewer)(frames)
        found = described(message)
        assert {name: found.get(name) for name in wanted} == wanted
        # What is sent now is as before: other programs read it.
        again = protocol.encode(message)
        assert [bytes(frame) for frame in again[1:]] == frames[1:]
        assert json.loads(bytes(again[0])) == json.loads(frames[0])


def test_a_viewer_of_an_earlier_publisher_gets_the_trace(kept, monkeypatch) -> None:
    zmq = pytest.importorskip("zmq")
    from tracevis3d.live import subscriber
    from tracevis3d.live.subscriber import Subscriber

    # This publisher answers one hello: on a busy machine it may seem silent, and must not be greeted again.
    monkeypatch.setattr(subscriber, "SILENT_S", 600.0)
    said = [
        frames for who, frames, holds in session(kept) if who == "publisher" and kind(frames) != "refused"
    ]
    # A context that is let go with a socket in it waits for ever: where a test fails, both are closed.
    with zmq.Context() as context, context.socket(zmq.ROUTER) as router:
        router.linger = 0
        port = router.bind_to_random_port("tcp://127.0.0.1")
        with Subscriber(f"tcp://127.0.0.1:{port}") as viewer:
            identity, hello = router.recv_multipart()
            assert json.loads(hello)["t"] == "hello"
            for frames in said:
                router.send_multipart([identity, *frames])
            while not viewer.over:
                viewer.drain(0.05, wait=0.05)
            assert (viewer.state, viewer.program, viewer.bad, viewer.lost) == ("ended", "program.py", 0, 5)
            assert viewer.takes_suggestions
            trace = viewer.finish()
    calls = sorted(
        (trace.functions.name[f], int(d))
        for f, d in zip(trace.calls.function, trace.calls.depth, strict=True)
    )
    assert calls == [("inner é", 2), ("outer (/p/program.py:3)", 1)]
    assert (trace.threads.process, trace.threads.tid, trace.threads.name) == ((7,), (8,), ("main",))
    assert (list(trace.sync.objects), len(trace.memory), len(trace.counters.value)) == (["Lock-1"], 2, 1)
    assert [int(a) for a in trace.memory.address] == [2**64 - 16] * 2


def test_an_earlier_viewer_is_served(kept) -> None:
    zmq = pytest.importorskip("zmq")
    from tracevis3d.live.publisher import Publisher

    said = [frames for who, frames, _ in session(kept) if who == "viewer"]
    asked = []
    with (
        zmq.Context() as context,
        context.socket(zmq.DEALER) as dealer,
        Publisher("tcp://127.0.0.1:*", suggestions=asked.append) as publisher,
    ):
        dealer.linger = 0
        publisher.number("functions", "f")
        dealer.connect(publisher.endpoint)
        heard = []
        for frames in said:
            dealer.send_multipart(frames)
            answers = {"hello": ["welcome", "names"], "ask": ["names"], "suggest": ["answer"]}
            for answer in answers.get(kind(frames), []):
                heard.append(json.loads(dealer.recv_multipart()[0]))
                while heard[-1]["t"] != answer:
                    heard.append(json.loads(dealer.recv_multipart()[0]))
        (suggested,) = asked
        assert (suggested.what, suggested.address, suggested.site) == ("free", 2**64 - 16, "outer")
        assert not any(message["t"] == "refused" for message in heard)


@pytest.mark.parametrize(
    "path", sorted((KEPT / "presets").rglob("*.json")), ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_presets_that_were_written_are_read(path) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    found = presets.read(path, registry.find(path.parent.name).parameters)
    assert {name: found.get(name) for name in kept} == kept


def test_a_pattern_library_that_was_written_finds_what_it_found() -> None:
    trace = tv.load(ROOT / "examples" / "vt_markdown_repeat1.json.gz")
    graph, known = graph_of(trace), pattern_library.load(KEPT / "patterns.json")
    found = pattern_library.find(known.patterns, trace, graph)
    calls = [int(graph.subtrees.occurrences[one.nodes].sum()) for one in found]
    assert [(one.pattern.name, one.pattern.criterion, n) for one, n in zip(found, calls)] == [
        ("gettext", "exact", 2),
        ("pattern 1", "collapsed", 8),
        ("pattern 2", "unordered", 2),
        ("pattern 3", "set-of-children", 1),
        ("pattern 4", "depth", 1),
        ("pattern 5", "functions", 24),
    ]
    assert known.utilities == ("isinstance", "Pattern.match")
