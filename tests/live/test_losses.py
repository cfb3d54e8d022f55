"""What a viewer has not received is counted, with its time, and never reported as nothing."""

import ctypes
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
from tests.live.test_feed import LOCAL, rows, until
from tracevis3d.live import protocol as p
from tracevis3d.live import publisher as publishing
from tracevis3d.live import subscriber as subscribing
from tracevis3d.live.losses import Gap, Losses, place
from tracevis3d.live.publisher import Publisher
from tracevis3d.live.subscriber import Subscriber
from tracevis3d.trace.problems import Problem

pytest.importorskip("zmq")

#: ``watch`` with little credit, that soon notices when nothing comes.
_WATCH = """
import sys
from tracevis3d.live import subscriber
subscriber.CREDIT, subscriber.SILENT_S = 16, 0.3
from tracevis3d.cli import main
sys.exit(main(["watch", sys.argv[1], "-o", sys.argv[2], "--json", "--quiet"]))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs usleep")
def test_a_program_and_its_viewer_that_both_stood_still_lose_nothing(monkeypatch) -> None:
    def stand_still() -> None:
        # The interpreter's lock is held: no other thread of this process runs.
        ctypes.PyDLL(None).usleep(400_000)

    monkeypatch.setattr(subscribing, "SILENT_S", 0.3)
    monkeypatch.setattr(publishing, "ALIVE_S", 0.02)
    with Publisher(LOCAL) as publisher, Subscriber(publisher.endpoint) as subscriber:
        assert until(lambda: subscriber.state == "connected", doing=lambda: subscriber.drain(0.01))
        add = subscriber.trace.add
        for i in range(20):
            assert publisher.put("calls", **rows(10, at=10 * i))
            # Between two looks at the feed, and while rows are taken.
            if i % 2:
                stand_still()
                subscriber.drain(0.01)
                assert subscriber.state == "connected"
            else:
                monkeypatch.setattr(subscriber.trace, "add", lambda batch: (stand_still(), add(batch)))
            assert until(lambda: subscriber.published == 10 * (i + 1), doing=lambda: subscriber.drain(0.01))  # noqa: B023
            assert subscriber.state == "connected"
            monkeypatch.setattr(subscriber.trace, "add", add)
        assert (subscriber.rows, subscriber.lost) == (200, 0)
        assert publisher.joined == 1
        # Nor does it wait for ever for one that says nothing more.
        monkeypatch.setattr(publisher, "_send", lambda *_: False)
        assert until(
            lambda: subscriber.state == "silent", doing=lambda: (time.sleep(0.15), subscriber.drain())
        )


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
            facts = json.loads(viewer.communicate(timeout=60)[0])
        assert viewer.returncode == 0
    assert facts["rows"] < sent
    assert facts["rows"] + facts["lost"] == facts["published"] == sent
    assert sum(gap["rows"] for gap in facts["gaps"]) == facts["lost"]
    assert all(0 <= gap["since_ns"] < gap["until_ns"] for gap in facts["gaps"])
    trace = tv.load(out, cache=False)
    assert trace.problems["lost"].count == facts["lost"]
    # The calls that came leave out the gaps.
    for gap in facts["gaps"]:
        inside = (trace.calls.start > gap["since_ns"]) & (trace.calls.start < gap["until_ns"])
        assert not inside.any()
    assert " at " in trace.problems["lost"].first
    assert np.diff(trace.calls.start).min() > 0


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(1, 900)),
        st.tuples(st.sampled_from(("lose", "bad")), st.integers(1, 90)),
        st.tuples(st.sampled_from(("drain", "wait", "forget", "connect", "hello", "pause")), st.just(0)),
    ),
    max_size=30,
)


@given(STEPS, st.booleans())
@settings(deadline=None, max_examples=25)
def test_what_came_and_what_was_lost_is_what_was_published(steps, retells) -> None:
    """The plain twin adds up what the program says."""
    with (
        pytest.MonkeyPatch.context() as patched,
        Publisher(LOCAL, retells=retells) as publisher,
        Subscriber(publisher.endpoint) as viewer,
    ):
        for where, name, value in (
            (publishing, "MOST_WAITING", 2000), (publishing, "MOST_BEHIND", 1500),
            (publishing, "ALIVE_S", 0.005), (publishing, "RETELL_S", 0.0), (subscribing, "CREDIT", 3),
            (subscribing, "SILENT_S", 0.05),
        ):  # fmt: skip
            patched.setattr(where, name, value)
        joined, published = 0, 0

        def take() -> None:
            nonlocal joined
            if retells and publisher.joined != joined:
                joined = publisher.joined
                publisher.retell([("calls", rows(2)), ("calls", rows(4))])
            viewer.drain(0.01, wait=0.005)

        assert until(lambda: viewer.trace.losses.is_counting, doing=take)
        for step, n in steps:
            if step == "put":
                # Returns False where it is dropped for everybody.
                publisher.put("calls", **rows(2 * n))
                published += 2 * n
            elif step == "bad":
                publisher.put("calls", **{**rows(2 * n), "kind": np.full(2 * n, 7)})
                published += 2 * n
            elif step == "lose":
                publisher.lose(n)
                published += n
            elif step == "drain":
                take()
            elif step == "wait":
                time.sleep(0.01)
            elif step == "forget":
                publisher._viewers.clear()
            elif step == "connect":
                viewer._connect()
            elif step == "hello":
                viewer._say(p.Hello(p.VERSION, subscribing.CREDIT))
            else:
                viewer.paused = not viewer.paused
        assert until(lambda: viewer.published == published, doing=take)
        assert until(lambda: not publisher._waiting, doing=take)
        assert sum(gap.rows for gap in viewer.gaps) == viewer.lost
        assert viewer.published == published
        publisher.close(0.2)
        assert viewer.finish().problems.get("lost", Problem(0, "")).count == viewer.lost


def test_a_publisher_that_does_not_count_its_rows() -> None:
    """Each missing number of a batch is a row at least; what it tells as dropped may be more."""
    losses = Losses()
    losses.meet(True, -1)
    losses.hear(5, 0, -1, 10)
    losses.take(5, 100)
    assert (losses.rows, losses.gaps) == (0, [])
    losses.hear(8, 0, -1, 20)
    losses.take(8, 100)
    losses.close(30)
    assert (losses.rows, losses.batches) == (2, 2)
    losses.hear(10, 70, -1, 40)
    losses.hear(11, 75, -1, 40)
    losses.close(60)
    assert (losses.rows, losses.batches) == (77, 4)
    assert [gap.as_dict(5) for gap in losses.gaps] == [
        {"since_ns": 15, "until_ns": 25, "rows": 2, "batches": 2},
        {"since_ns": 35, "until_ns": 55, "rows": 75, "batches": 2},
    ]
    # It greets again, and counts anew what it drops.
    losses.meet(False, -1)
    losses.hear(11, 4, -1, 70)
    assert (losses.rows, losses.batches) == (81, 4)


def test_many_gaps_are_reported_by_the_largest() -> None:
    gaps = [Gap(1000 * i, 1000 * i + 500, rows, 1) for i, rows in enumerate((5, 70, 6, 9000, 8, 7))]
    assert (
        place(gaps)
        == "70 at 1 µs to 1.5 µs, 9,000 at 3 µs to 3.5 µs, 8 at 4 µs to 4.5 µs, and 3 smaller gaps"
    )
    assert place(gaps[:1]) == "5 at 0 ns to 500 ns"
