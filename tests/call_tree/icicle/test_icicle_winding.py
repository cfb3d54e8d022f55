"""An icicle along a spiral: angle is time, the distance from the middle is depth, height is the measure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Wedges
from tracevis3d.features.call_tree.icicle.layout import compose
from tracevis3d.features.call_tree.icicle.parameters import Parameters
from tracevis3d.features.call_tree.icicle.view import VIEW
from tracevis3d.features.call_tree.icicle.winding import Spiral
from tracevis3d.progress import silent

FRAME = Frame(1920, 1080)
TRACES = [walked_trace(seed, threads=threads, steps=60) for seed, threads in ((1, 1), (2, 3))]


def drawn(trace, **values):
    return VIEW.draw([trace], Parameters(**values), FRAME, silent)


def part(drawing, kind) -> Wedges:
    return next(one for one in drawing.elements if one.kind == kind)


def turns_of(points: np.ndarray) -> np.ndarray:
    """How far clockwise from the top points are, in turns, 0 to 1."""
    return (0.25 - np.arctan2(points[:, 1], points[:, 0]) / math.tau) % 1.0


@given(st.sampled_from(TRACES), st.floats(1, 12), st.sampled_from([0.0, 0.4, 1.0]))
@settings(max_examples=12, deadline=None)
def test_angle_is_time_and_callees_lie_outside_of_their_callers(trace, turns, opening):
    drawing = drawn(trace, winding=turns, opening=opening)
    calls, made = trace.calls, part(drawing, "call")
    low, high = int(calls.start.min()), int(calls.end.max())
    begin, end = made.corner[made.first[:-1]], made.corner[made.first[1:] - 1]
    for corner, time in ((begin, calls.start[made.id]), (end, calls.end[made.id])):
        wanted = turns * (time - low) / (high - low)
        away = (turns_of(corner[:, 0].astype(np.float64)) - wanted + 0.5) % 1.0 - 0.5
        assert np.abs(away).max() < 1e-4
    inner, outer = (np.hypot(*begin[:, k, :2].T.astype(np.float64)) for k in (0, 1))
    assert (outer > inner).all()
    place = dict(zip(made.id.tolist(), range(len(made.id)), strict=True))
    pitch = Spiral(compose(trace, Parameters(winding=turns), FRAME)[0], turns).pitch
    for call, i in place.items():
        above = place.get(int(calls.parent[call]))
        if above is not None:
            # At the same angle the caller has moved outwards since it began, by its share of a turn.
            later = turns * (calls.start[call] - calls.start[made.id[above]]) / (high - low) * pitch
            assert inner[i] >= outer[above] + later - 1e-3
    top, bottom = begin[:, 2, 2] - begin[:, 1, 2], begin[:, 1, 2]
    if opening == 0:
        assert np.ptp(top) < 1e-5
        assert np.abs(bottom).max() < 1e-5
        assert drawing.camera.projection == "orthographic"
        assert drawing.camera.direction[2] == pytest.approx(1.0)
    else:
        # A caller is never lower than what it calls.
        lower = [top[i] <= top[place[int(calls.parent[c])]] + 1e-5 for c, i in place.items()
                 if int(calls.parent[c]) in place]  # fmt: skip
        assert all(lower)


def test_sections_are_short_enough_to_be_round():
    made = part(drawn(TRACES[0], winding=5.0), "call")
    for low, high in zip(made.first[:-1].tolist(), made.first[1:].tolist(), strict=True):
        step = np.diff(turns_of(made.corner[low:high, 0].astype(np.float64))) % 1.0
        assert step.max(initial=0.0) <= 1 / 120 + 1e-4


def test_a_turn_is_told_and_more_turns_show_more():
    trace = TRACES[0]
    calls = trace.calls
    few, many = drawn(trace, winding=2.0), drawn(trace, winding=40.0)
    assert any(note.startswith("angle is time: a turn is ") for note in few.notes)
    assert not any("angle is time" in note for note in drawn(trace).notes)
    assert few.counts["calls"] == many.counts["calls"] == len(calls)
    assert many.counts["calls_in_clusters"] <= few.counts["calls_in_clusters"]
    times = next(group for group in few.labels if group.kind == "clock")
    assert times.text[0].startswith("0 ")
    levels = VIEW.level_of_detail([trace], Parameters(winding=2.0), FRAME)
    assert levels.camera == few.camera
    assert levels.look_from(None, np.empty(0, np.int64)) is None
    flat = VIEW.draw([trace], Parameters(winding=2.0), Frame(640, 360, straight=True), silent)
    assert flat.camera.projection == "orthographic"
    # Less than a turn is a turn, so that no part of an icicle is bent alone.
    assert np.array_equal(
        part(drawn(trace, winding=0.3), "call").corner[0], part(drawn(trace, winding=1.0), "call").corner[0]
    )
