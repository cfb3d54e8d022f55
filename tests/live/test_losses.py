"""What a viewer has not received is counted, with its time, and never told as nothing."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tests.live.test_feed import LOCAL, rows, until
from tracevis3d.live import publisher as publishing
from tracevis3d.live.publisher import Publisher

pytest.importorskip("zmq")

#: ``watch`` with little credit, that soon notices when nothing comes.
_WATCH = """
import sys
from tracevis3d.live import subscriber
subscriber.CREDIT, subscriber.SILENT_S = 16, 0.3
from tracevis3d.cli import main
sys.exit(main(["watch", sys.argv[1], "-o", sys.argv[2], "--json", "--quiet"]))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGSTOP")
def test_a_viewer_that_was_stopped_says_what_it_missed(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(publishing, "_SILENT_S", 0.3)
    monkeypatch.setattr(publishing, "ALIVE_S", 0.02)
    out = tmp_path / "out.tv3"
    sent = 0
    with Publisher(LOCAL) as publisher:
        words = [sys.executable, "-c", _WATCH, publisher.endpoint, str(out)]
        with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE) as viewer:
            assert publisher.wait_for_viewer(20)
            before = publisher.joined

            def put() -> None:
                nonlocal sent
                assert publisher.put("calls", **rows(1000, at=1_000_000 * sent))
                sent += 1000
                time.sleep(0.002)

            for _ in range(20):
                put()
            os.kill(viewer.pid, signal.SIGSTOP)
            # It is forgotten, with all that waits for it.
            assert until(lambda: not publisher.viewers, doing=put)
            for _ in range(20):
                put()
            os.kill(viewer.pid, signal.SIGCONT)
            assert until(lambda: publisher.joined > before, doing=put)
            for _ in range(20):
                put()
            publisher.close(5.0)
            told = json.loads(viewer.communicate(timeout=20)[0])
        assert viewer.returncode == 0
    assert told["rows"] < sent
    assert told["rows"] + told["lost"] == told["published"] == sent
    assert sum(gap["rows"] for gap in told["gaps"]) == told["lost"]
    assert all(0 <= gap["since_ns"] < gap["until_ns"] for gap in told["gaps"])
    trace = tv.load(out, cache=False)
    assert trace.problems["lost"].count == told["lost"]
    # The calls that came leave out the gaps.
    for gap in told["gaps"]:
        inside = (trace.calls.start > gap["since_ns"]) & (trace.calls.start < gap["until_ns"])
        assert not inside.any()
    assert " at " in trace.problems["lost"].first
    assert np.diff(trace.calls.start).min() > 0
