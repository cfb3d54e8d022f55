"""The window of tracks, its cells, and the camera, against plain rules."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Camera
from tracevis3d.drawing.projection import fit
from tracevis3d.errors import UsageError
from tracevis3d.features.tracks.view import layout
from tracevis3d.features.tracks.view.layout import cell_edges, compose, direction, pixels_per_unit, window_of
from tracevis3d.features.tracks.view.parameters import Parameters
from tracevis3d.trace.model import Trace
from tracevis3d.views.time_window import WIDTH


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.floats(0.0, 9000.0))
@settings(deadline=None, max_examples=60)
def test_cells_are_equally_wide_nanoseconds(low, lasts, cells):
    edges = cell_edges((low, low + lasts), cells).tolist()
    assert (edges[0], edges[-1]) == (low, low + lasts)
    many = min(max(int(cells), 2), 4000, lasts)
    assert len(edges) == many + 1
    for i, (one, other) in enumerate(pairwise(edges)):
        assert other > one
        assert abs(one - low - Fraction(i * lasts, many)) <= Fraction(1, 2)


@given(
    st.integers(0, 3),
    st.sampled_from(["wall", "tube", "path", "mural"]),
    st.sampled_from([0.5, 4.0, 200.0]),
    st.sampled_from([(640, 360), (64, 36), (1920, 1080)]),
    st.sampled_from(["", "2us"]),
)
@settings(deadline=None, max_examples=60)
def test_cells_are_as_wide_as_is_wanted_and_texts_can_be_read(seed, form, resolution, size, start):
    trace, frame = TRACES[seed], Frame(*size)
    picture = compose(trace, Parameters(form=form, resolution=resolution, start=start), frame)
    # A form of many corners needs wider cells, a painted one can have narrower ones.
    coarser = {"wall": 1.0, "tube": 3.0, "path": 2.5, "mural": 0.5}[form]
    wanted = 0.94 * frame.width / (resolution * coarser)
    np.testing.assert_array_equal(picture.edges, cell_edges(picture.window, wanted))
    wide = 0.94 * frame.width / (WIDTH + 4)
    assert picture.text == pytest.approx(max(layout._SMALL_TEXT, 2 * frame.least_text / wide))
    low, high = picture.window
    np.testing.assert_allclose(
        picture.x(np.array([low - 5, low, (low + high) / 2, high, high + 5])), [0, 0, WIDTH / 2, WIDTH, WIDTH]
    )


TRACES = [walked_trace(seed, steps=40, threads=2) for seed in range(4)]


def test_the_window_is_that_of_the_calls_or_else_of_the_tracks():
    calls = TRACES[0].calls
    assert window_of(TRACES[0], (), Parameters()) == (calls.start.min(), calls.end.max())
    trace = Trace(span_ns=5_000_000)
    for start, end, wanted in (
        ("", "", (0, 5_000_000)), ("1ms", "", (1_000_000, 5_000_000)), ("-1ms", "2ms", (0, 2_000_000)),
        ("7ms", "", (7_000_000, 7_000_001)),
    ):  # fmt: skip
        assert window_of(trace, (), Parameters(start=start, end=end)) == wanted
    for start, end in (("2ms", "2ms"), ("3ms", "2ms")):
        with pytest.raises(UsageError, match="the window is empty"):
            window_of(trace, (), Parameters(start=start, end=end))
    assert window_of(Trace(), (), Parameters()) == (0, 1)


@given(st.sampled_from([0.0, 0.4, 1.0]), st.floats(-60, 60), st.floats(-20, 85))
@settings(deadline=None, max_examples=60)
def test_the_camera_turns_as_the_picture_opens(opening, turn, tilt):
    x, y, z = direction(Parameters(opening=opening), turn, tilt)
    assert math.hypot(x, y, z) == pytest.approx(1.0)
    assert math.degrees(math.asin(z)) == pytest.approx(opening * tilt, abs=1e-6)
    assert math.degrees(math.atan2(x, -y)) == pytest.approx(opening * turn, abs=1e-6)


@given(st.floats(-60, 60), st.floats(-20, 80), st.sampled_from([(640, 360), (360, 640)]))
@settings(deadline=None, max_examples=60)
def test_pixels_are_counted_where_the_drawing_is_nearest(turn, tilt, size):
    frame = Frame(*size)
    camera = Camera(direction(Parameters(), turn, tilt), (0.0, -3.0, -1.0), (WIDTH, 2.0, 5.0))
    shown = fit(camera, frame, (0.94, 0.76))
    front = np.array([(x, -3.0, z) for x in np.linspace(0, WIDTH, 9) for z in np.linspace(-1, 5, 5)])
    unit = np.linalg.norm(shown.pixels(front + np.array([0.01, 0, 0])) - shown.pixels(front), axis=1) / 0.01
    assert pixels_per_unit(camera, frame) == pytest.approx(unit.max(), rel=0.01)
