"""What is fuzzed of the live feed: a talk of publisher and viewer with damaged messages, to either side."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path

import zmq

from tests.fuzz.damage import damaged
from tests.fuzz.readers import FINDS, ROOT, check
from tracevis3d.live import protocol as p
from tracevis3d.live.publisher import Publisher
from tracevis3d.live.subscriber import Subscriber


class Feed:
    """Publisher and viewer: each has to go on, or to end in order, whatever the other one sends."""

    name = "feed"

    def __init__(self) -> None:
        self._context: zmq.Context | None = None

    def seeds(self) -> list[tuple[str, bytes]]:
        """Return a talk with one message of each kind, and earlier finds."""
        kept = [ROOT / "tests" / "data" / "kept" / "feed.json", *sorted(FINDS.glob("feed_*"))]
        return [(".json", path.read_bytes()) for path in kept]

    def changed(self, data: bytes, others: list[tuple[str, bytes]], pick: random.Random) -> bytes:
        """Return a talk in which some frames are damaged, doubled or gone."""
        talk = json.loads(data)
        for _ in range(pick.choice((1, 1, 2, 4))):
            message = pick.choice(talk)
            frames = message["frames"]
            at = pick.randrange(len(frames)) if frames else 0
            what = pick.randrange(8)
            if what == 0 and frames:
                del frames[at]
            elif what == 1 and frames:
                frames.insert(at, frames[pick.randrange(len(frames))])
            elif what == 2:
                talk.insert(pick.randrange(len(talk)), json.loads(json.dumps(message)))
            elif frames:
                pieces = [("", base64.b64decode(frame)) for one in talk for frame in one["frames"]]
                spoilt = damaged(base64.b64decode(frames[at]), pieces, pick)
                frames[at] = base64.b64encode(spoilt).decode()
        return json.dumps(talk).encode()

    def try_one(self, path: Path) -> None:
        """Send what each side said to the other one."""
        self._context = self._context or zmq.Context()
        said: dict[str, list[list[bytes]]] = {"publisher": [], "viewer": []}
        for message in json.loads(path.read_bytes()):
            said[message["from"]].append([base64.b64decode(frame) for frame in message["frames"]])
        self._to_a_viewer(said["publisher"])
        self._to_a_publisher(said["viewer"])

    def _to_a_viewer(self, said: list[list[bytes]]) -> None:
        router = self._context.socket(zmq.ROUTER)
        port = router.bind_to_random_port("tcp://127.0.0.1")
        try:
            with Subscriber(f"tcp://127.0.0.1:{port}") as viewer:
                assert router.poll(5000), "no hello came"
                identity = router.recv_multipart()[0]
                for frames in said:
                    router.send_multipart([identity, *(frames or [b""])])
                for _ in range(4):
                    viewer.drain(0.02, wait=0.01)
                check(viewer.finish())
        finally:
            router.close(linger=0)

    def _to_a_publisher(self, said: list[list[bytes]]) -> None:
        with Publisher("tcp://127.0.0.1:*", suggestions=lambda _: None) as publisher:
            bad = self._viewer(publisher.endpoint)
            for frames in said:
                bad.send_multipart(frames or [b""])
            good = self._viewer(publisher.endpoint)
            good.send_multipart(p.encode(p.Hello(p.VERSION, 4)))
            assert good.poll(5000), "another viewer gets no answer"
            assert isinstance(p.decode(good.recv_multipart()), p.Welcome)
            for viewer in (bad, good):
                viewer.close(linger=0)

    def _viewer(self, endpoint: str) -> zmq.Socket:
        viewer = self._context.socket(zmq.DEALER)
        viewer.connect(endpoint)
        return viewer
