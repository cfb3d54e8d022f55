"""Rows of threads below the drum: who makes the calls, and when, against plain counting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tracevis3d as tv
from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.interactions.view import thread_rows
from tracevis3d.features.interactions.view.layout import compose
from tracevis3d.features.interactions.view.parameters import Parameters

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("axis", ["calls", "time"])
@pytest.mark.parametrize("threads", [2, 11])
def test_shares_are_counted(threads, axis):
    trace = walked_trace(threads, threads=threads, steps=300)
    (drum,) = compose([trace], Parameters(axis=axis)).drums
    rows = thread_rows.shown(drum)
    assert len(rows) == min(threads, thread_rows.MOST)
    share = thread_rows.shares(drum, rows, slices=20)
    for place in range(20):
        inside = [
            int(trace.calls.thread[call])
            for call, at in zip(drum.found.call[drum.low : drum.high], drum.place, strict=True)
            if min(int(at * 20), 19) == place
        ]
        for row, thread in enumerate(rows.tolist()):
            assert share[row, place] == pytest.approx(inside.count(thread) / max(len(inside), 1))


def test_rows_lie_between_phases_and_ruler_and_have_names():
    trace = tv.load(EXAMPLES / "weka_parallel_9t.tsv.gz")
    drawing = tv.interactions(trace).drawing(Frame(1920, 1080))
    bars = next(e for e in drawing.elements if e.kind == "thread")
    steps = next(e for e in drawing.elements if e.kind == "step")
    assert (bars.low + bars.size)[:, 2].max() < steps.low[:, 2].min()
    assert bars.low[:, 2].min() > drawing.axes[0].origin[2]
    names = next(group for group in drawing.labels if group.kind == "thread")
    assert len(names) == thread_rows.MOST == len(np.unique(bars.low[:, 2]))
    said = drawing.meaning["thread"].texts[0]
    assert set(said[1]) == set(names.text)
    assert any("8 of 9 threads" in note for note in drawing.notes)


def test_one_thread_has_no_rows():
    drawing = tv.interactions(walked_trace(1, threads=1)).drawing(Frame(960, 540))
    assert not any(e.kind == "thread" for e in drawing.elements)
    assert not any(group.kind == "thread" for group in drawing.labels)
