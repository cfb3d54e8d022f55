"""Where the rounds of a ramp lie, how large its texts are and what the camera holds, against plain rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import split, walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Boxes
from tracevis3d.drawing.projection import fit
from tracevis3d.errors import UsageError
from tracevis3d.features.ramp.rounds import find_rounds
from tracevis3d.features.ramp.view import layout
from tracevis3d.features.ramp.view.layout import camera, compose
from tracevis3d.features.ramp.view.parameters import Parameters
from tracevis3d.features.ramp.view.view import VIEW
from tracevis3d.progress import silent
from tracevis3d.trace.events import COMPLETE
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording
from tracevis3d.views.time_window import WIDTH

TRACES = [walked_trace(seed, steps=200, functions=12, threads=1) for seed in range(3)]

runs = st.lists(st.integers(0, len(TRACES) - 1), min_size=1, max_size=2)
frames = st.sampled_from([Frame(640, 360), Frame(360, 640), Frame(1280, 120), Frame(64, 36)])
settings_of = st.builds(
    dict,
    opening=st.sampled_from([0.0, 0.3, 1.0]),
    relief=st.sampled_from([0.0, 1.0, 3.0]),
    histogram=st.booleans(),
    turn=st.sampled_from([-18.0, 0.0, 30.0]),
    tilt=st.sampled_from([-10.0, 24.0]),
)


@given(runs, frames, settings_of)
@settings(deadline=None, max_examples=40)
def test_rounds_lie_in_their_times_on_their_steps_and_the_camera_holds_them(runs, frame, chosen):
    traces = [TRACES[i] for i in runs]
    p = Parameters(**chosen)
    picture, drawing = compose(traces, p, frame), VIEW.draw(traces, p, frame, silent)
    rounds = [find_rounds(trace, "calls", picture.runs[0].name) for trace in traces]
    longest = max(int(one.end.max() - one.start.min()) for one in rounds)
    u, many = p.opening, max(map(len, rounds))
    assert picture.longest == max(one.duration.max() for one in rounds)
    assert 0 < picture.step <= layout._HIGHEST_STEP
    # All steps fit into a picture that is as wide as time and histogram, but for what stands around them.
    free = (WIDTH + layout.HISTOGRAM + 3) * 0.76 * frame.height / (0.94 * frame.width) - 2.5
    assert picture.step == pytest.approx(min(0.85 * max(free, layout._LOWEST) / many, layout._HIGHEST_STEP))
    assert picture.high == pytest.approx(picture.step * many)
    for run, one in enumerate(rounds):
        made = drawing.elements[[part.kind for part in drawing.elements].index(KINDS[run])]
        low, high = made.low.astype(float), (made.low + made.size).astype(float)
        begin = one.start.min()
        near = {"atol": 2e-3}
        np.testing.assert_allclose(low[:, 0], WIDTH * (one.start - begin) / longest, **near)
        np.testing.assert_allclose(high[:, 0], WIDTH * (one.end - begin) / longest, **near)
        # Opened, each run has the steps for itself; flat, two share each of them.
        step, share = picture.step, (1 - u) / 2 if len(traces) > 1 else 0.0
        np.testing.assert_allclose(low[:, 2], step * (np.arange(len(one)) + run * share), atol=1e-4)
        np.testing.assert_allclose(made.size[:, 2], 0.84 * step * (1 - share), rtol=1e-3)
        out = layout.PLATE + u * p.relief * layout._OUT * one.duration / picture.longest
        np.testing.assert_allclose(made.size[:, 1], out, rtol=1e-3)
        back = run * u * (layout.BEHIND + u * p.relief * layout._OUT)
        np.testing.assert_allclose(high[:, 1], back, atol=1e-4)
    view = camera(picture)
    every = [one for one in drawing.elements if isinstance(one, Boxes)]
    low = np.min([one.low.min(axis=0) for one in every if len(one)], axis=0)
    high = np.max([(one.low + one.size).max(axis=0) for one in every if len(one)], axis=0)
    assert (low >= np.array(view.low) - 0.05).all()
    assert (high <= np.array(view.high) + 0.05).all()
    assert (low[:2] <= np.array(view.low)[:2] + 0.31).all()
    assert (high[:2] >= np.array(view.high)[:2] - 0.21).all()
    assert high[2] >= view.high[2] - max(picture.step, 0.5)


KINDS = ("round", "round of the second run")


@given(runs, frames, settings_of)
@settings(deadline=None, max_examples=40)
def test_texts_are_twice_as_large_as_can_be_read_and_the_camera_stands_where_it_is_turned(
    runs, frame, chosen
):
    traces = [TRACES[i] for i in runs]
    picture = compose(traces, Parameters(**chosen), frame)
    view = camera(picture)
    shown = fit(view, frame, (0.94, 0.76))
    ends = np.array([(0.0, 0.0, 0.0), (WIDTH, 0.0, 0.0)])
    moved = shown.pixels(ends + np.array([0.01, 0.0, 0.0])) - shown.pixels(ends)
    unit = np.linalg.norm(moved, axis=1).min() / 0.01
    assert picture.pixels_per_unit == pytest.approx(unit)
    assert picture.text == pytest.approx(max(layout._SMALL_TEXT, 2 * frame.least_text / unit))
    x, y, z = view.direction
    u = chosen["opening"]
    assert math.hypot(x, y, z) == pytest.approx(1.0)
    assert math.degrees(math.asin(z)) == pytest.approx(u * chosen["tilt"])
    assert math.degrees(math.atan2(x, -y)) == pytest.approx(u * chosen["turn"])
    assert view.projection == ("perspective" if u else "orthographic")


def test_a_window_without_duration_is_a_nanosecond_long():
    recording = Recording()
    moments = {"kind": [COMPLETE] * 8, "time": [5] * 8, "end": [5] * 8}
    thread, function = recording.thread(1, 1), recording.function("visit")
    recording.add_events(thread=[thread] * 8, function=[function] * 8, **moments)
    picture = compose([recording.finish(Source(), split)], Parameters(repeated="visit"), Frame(640, 360))
    (low, high), (rounds,) = *picture.windows, picture.runs
    assert high == low + 1
    assert low in rounds.start
    assert rounds.duration.max() == 0
    assert (picture.out(rounds.duration) == layout.PLATE).all()


@given(st.integers(0, len(TRACES) - 1), st.integers(-5, 60), st.integers(0, 60))
@settings(deadline=None, max_examples=40)
def test_a_window_shows_the_rounds_in_it(number, low, high):
    trace = TRACES[number]
    every = find_rounds(trace, "auto", "")
    p = Parameters(start=f"{low}us", end=f"{high}us")
    low, high = max(1000 * low, 0), 1000 * high
    inside = np.flatnonzero((every.start < high) & (every.end >= low))
    if high <= low:
        with pytest.raises(UsageError, match="the window is empty"):
            compose([trace], p, Frame())
        return
    if not len(inside):
        with pytest.raises(UsageError, match="no round of it is in this window"):
            compose([trace], p, Frame())
        return
    picture = compose([trace], p, Frame(640, 360))
    assert picture.windows == ((low, high),)
    assert picture.runs[0].start.tolist() == every.start[inside].tolist()
    place = picture.x(0, np.array([low - 1000, low, (low + high) / 2, high, high + 1000]))
    np.testing.assert_allclose(place, [0.0, 0.0, WIDTH / 2, WIDTH, WIDTH])
    assert compose([trace], Parameters(), Frame()).windows == ((every.start.min(), every.end.max()),)
