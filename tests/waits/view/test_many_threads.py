"""Pictures of many threads: few rows that say what all of them do, and bounded funnels."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
import pytest

from tests.waits.view.sight import crossing, hidden, paths
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.waits.view.found_waits import waits_of
from tracevis3d.features.waits.view.layout import compose
from tracevis3d.features.waits.view.parameters import Parameters
from tracevis3d.features.waits.view.view import VIEW
from tracevis3d.formats.names import split
from tracevis3d.progress import silent
from tracevis3d.trace.events import COMPLETE
from tracevis3d.trace.model import RELEASE, WAIT, Source, Trace
from tracevis3d.trace.recording import Recording

POOLS = ("web", "store", "mail")
SPAN = 1_000_000


def server(threads: int, rounds: int) -> Trace:
    """Return a server's trace: one thread gives work to three pools, in whose first all queue for a lock."""
    draw, recording = np.random.default_rng(0), Recording()
    for i in range(threads):
        recording.thread(1, i)
    pool = np.append(-1, draw.choice(3, threads - 1, p=(0.6, 0.3, 0.1)))
    recording.name_thread(1, 0, "giver")
    for i in range(1, threads):
        recording.name_thread(1, i, f"{POOLS[pool[i]]}-{i}")
    held = max(int(0.6 * SPAN / (rounds * np.count_nonzero(pool == 0))), 2)
    idle = draw.exponential(0.6 * SPAN / rounds, (threads, rounds)).astype(np.int64) + 10
    # In the order of time: each waits for work, those of the first pool for the lock, and works.
    ready, free, rows = [(int(idle[i, 0]), i, 0) for i in range(1, threads)], 0, []
    heapify(ready)
    while ready:
        at, i, n = heappop(ready)
        got = max(at, free) if pool[i] == 0 else at
        end = got + (held if pool[i] == 0 else 3 * held)
        free = end if pool[i] == 0 else free
        rows.append((i, at - int(idle[i, n]), at, got, end))
        if n + 1 < rounds:
            heappush(ready, (end + int(idle[i, n + 1]), i, n + 1))
    who, begin, at, got, end = np.array(rows, np.int64).T
    locks = pool[who] == 0
    functions = [recording.function(name) for name in ("give", "take", "work")]
    recording.add_events(
        thread=[0, *who, *who], kind=[COMPLETE] * (1 + 2 * len(who)),
        function=[functions[0]] + [functions[1]] * len(who) + [functions[2]] * len(who),
        time=[0, *begin, *got], end=[int(end.max()), *at, *end],
    )  # fmt: skip
    queues = np.array([recording.text("objects", f"Queue of {text}") for text in POOLS])[pool[who]]
    lock = np.full(int(locks.sum()), recording.text("objects", "Lock of web"))
    for name, thread, kind, start, stop, of, waited in (
        ("Queue.get", who, WAIT, begin, at, queues, at > begin),
        ("Queue.put", 0 * who, RELEASE, at - 1, at - 1, queues, None),
        ("Lock.acquire", who[locks], WAIT, at[locks], got[locks], lock, (got > at)[locks]),
        ("Lock.release", who[locks], RELEASE, end[locks], end[locks], lock, None),
    ):
        n = len(thread)
        recording.add_sync(
            thread=thread, kind=[kind] * n, name=[recording.text("sync", name)] * n, start=start, end=stop,
            contended=[-1] * n if waited is None else waited.astype(int), event=[-1] * n,
            objects=[[one] for one in of.tolist()],
        )  # fmt: skip
    return recording.finish(Source(path="server.json"), split)


@pytest.mark.parametrize(("threads", "rounds", "most"), [(44, 12, 0.05), (8058, 1, 0.2)])
def test_many_threads_share_rows_and_few_funnels_cross(threads, rounds, most):
    trace, frame = server(threads, rounds), Frame(1280, 720)
    drawing = VIEW.draw((trace,), Parameters(), frame, silent)
    picture = compose(trace, waits_of(trace, ""), Parameters(), frame)
    # No thread is missing, and none is drawn twice.
    assert sorted(np.concatenate([row.threads for row in picture.rows]).tolist()) == list(range(threads))
    assert len(picture.rows) <= 12
    shown = sum(len(element) for element in drawing.elements)
    assert shown <= 4_000
    assert 4 < len(paths(drawing, frame)) <= 160
    assert crossing(drawing, frame) <= most
    assert hidden(drawing, picture, frame) <= 0.1
    # The giver, and the one that holds the lock longest, stand alone.
    assert any(f"{threads - 2:,} threads share" in note for note in drawing.notes), drawing.notes


def test_threads_that_are_concerned_little_together_are_not_left_out():
    """One thread that gives work to thousands outweighs each of them."""
    trace = server(2000, 1)
    few = compose(trace, waits_of(trace, ""), Parameters(groups="never"), Frame(1280, 720))
    all_ = compose(trace, waits_of(trace, ""), Parameters(), Frame(1280, 720))
    assert sum(len(row.threads) for row in all_.rows) == 2000
    assert sum(len(row.threads) for row in few.rows) < 40
