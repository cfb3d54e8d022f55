"""The queue above the main thread, against a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waits.sync_traces import lines, trace_of
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.waits.view.parameters import Parameters
from tracevis3d.features.waits.view.skyline import QUEUE, queue_at
from tracevis3d.features.waits.view.view import VIEW
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.progress import silent


@st.composite
def programs(draw):
    """Return rows of threads that wait for a lock, or get it at once, and release it."""
    rows = []
    for thread in draw(st.sets(st.sampled_from("abcd"), min_size=2)):
        rows.append((thread, 0, 500, "run"))
        at = draw(st.integers(0, 30))
        for _ in range(draw(st.integers(0, 6))):
            waits, holds = draw(st.integers(0, 40)), draw(st.integers(1, 30))
            rows.append(
                (thread, at, at + waits, "Lock.acquire", "wait", draw(st.sampled_from("LLM")), int(waits > 0))
            )
            at += waits + holds
            rows.append((thread, at, at, "Lock.release", "release", rows[-1][5]))
            at += draw(st.integers(1, 20))
    return rows


@given(programs(), st.integers(0, 200), st.integers(1, 300), st.sampled_from((3, 1000)))
def test_a_queue_is_as_long_as_threads_wait(rows, low, lasts, most):
    waits = find_waits(trace_of(lines(rows)))
    ops, held = waits.ops, waits.held
    if "L" not in ops.objects:
        return
    thing = ops.objects.index("L")
    edges, length, hold = queue_at(waits, thing, low, low + lasts, most)
    assert len(edges) <= most + 1
    assert (edges[0], edges[-1]) == (low, low + lasts)
    mine = [r for r in range(len(ops)) if ops.blocked[r] and ops.of(r) == ["L"]]
    for a, b, many, which in zip(edges[:-1].tolist(), edges[1:].tolist(), length.tolist(), hold.tolist()):
        # As many as wait at the busiest of its nanoseconds.
        plain = max(sum(ops.start[r] <= t < ops.end[r] for r in mine) for t in range(a, b))
        assert many == plain
        middle = a + (b - a) // 2
        holding = [
            h for h in range(len(held)) if held.object[h] == thing and held.start[h] <= middle < held.end[h]
        ]
        assert which == (holding[0] if len(holding) == 1 else -1)


def long_hold():
    """One holds for 300, while three wait, each of which holds for 50."""
    rows = [("holder", 0, 1000, "run"), ("holder", 10, 10, "Lock.acquire", "wait", "L", 0)]
    rows.append(("holder", 310, 310, "Lock.release", "release", "L"))
    for i in range(3):
        name, got = f"worker{i}", 310 + 50 * i
        rows += [(name, 0, 1000, "run"), (name, 20 + i, got, "Lock.acquire", "wait", "L", 1)]
        rows.append((name, got + 50, got + 50, "Lock.release", "release", "L"))
    return trace_of(lines(rows))


def test_who_holds_what_others_queue_for_stands_on_the_queue():
    trace = long_hold()
    drawing = VIEW.draw([trace], Parameters(), Frame(), silent)
    strip = next(e for e in drawing.elements if e.kind == QUEUE)
    names = [name for group in drawing.labels if group.kind == QUEUE for name in group.text]
    assert names[0] == "queue for L, up to 3"
    assert names[1] == "holder"
    assert {"worker0", "worker1"} >= set(names[2:])
    assert not any(e.kind == "threads that run" for e in drawing.elements)
    # As high as the queue is long, and the longest hold is dark, as the bar on its thread's row is.
    tall = np.array([np.ptp(strip.corner[a:b, :, 2]) for a, b in zip(strip.first[:-1], strip.first[1:])])
    bar = next(e for e in drawing.elements if e.kind == "hold")
    dark = (drawing.palette[strip.color] == drawing.palette[bar.color[0]]).all(axis=1)
    held = find_waits(trace).held
    assert {trace.threads.name[held.thread[h]] for h in strip.id[dark].tolist()} == {"holder"}
    assert tall[dark].max() == pytest.approx(tall.max())
    assert any("above: its queue" in entry.text for legend in drawing.legends for entry in legend.entries)


def test_a_picture_without_a_queue_shows_how_many_run():
    trace = trace_of(
        "a 0 1000 run\nb 0 1000 run\nb 200 400 Queue.get wait Q 1\na 390 395 Queue.put release Q"
    )
    kinds = {e.kind for e in VIEW.draw([trace], Parameters(), Frame(), silent).elements}
    assert "threads that run" in kinds
    assert QUEUE not in kinds
