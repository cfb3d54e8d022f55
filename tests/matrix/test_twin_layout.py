"""Where the parts of a matrix lie, how large its names are and what the camera holds, against plain rules."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Boxes, Camera, Marks
from tracevis3d.drawing.projection import fit
from tracevis3d.errors import UsageError
from tracevis3d.features.matrix.view import layout
from tracevis3d.features.matrix.view.layout import Layout, camera, compose, shortened, value_ticks
from tracevis3d.features.matrix.view.parameters import Parameters
from tracevis3d.features.matrix.view.view import VIEW
from tracevis3d.layout.scales import Scale
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace
from tracevis3d.views.time_window import time_window

FRAME = Frame(640, 360)
STEP = np.array([0.01, 0.0, 0.0])
TRACES = [walked_trace(seed, steps=60, functions=4 * (seed + 2)) for seed in range(3)]

drawings = st.builds(
    dict,
    about=st.sampled_from(["calls", "threads"]),
    opening=st.sampled_from([0.0, 0.3, 1.0]),
    relief=st.sampled_from([0.0, 0.4, 1.0, 3.0]),
    spread=st.sampled_from([0.0, 0.5, 1.0]),
    walls=st.booleans(),
    third=st.sampled_from(["time", "thread", "none"]),
    slices=st.sampled_from([1, 2, 12]),
    parts=st.sampled_from(["module", "function"]),
)


def boxes(drawing, *kinds):
    found = [one for one in drawing.elements if isinstance(one, Boxes) and one.kind in kinds]
    low = np.concatenate([one.low for one in found] or [np.empty((0, 3))])
    return low, low + np.concatenate([one.size for one in found] or [np.empty((0, 3))])


@given(st.integers(0, len(TRACES) - 1), drawings)
@settings(deadline=None, max_examples=40)
def test_parts_lie_apart_in_their_places_and_the_camera_holds_them(number, chosen):
    trace = TRACES[number]
    p = Parameters(**chosen)
    drawing, picture = VIEW.draw([trace], p, FRAME, silent), compose(trace, p, FRAME)
    assert all((one.size >= 0).all() for one in drawing.elements if isinstance(one, Boxes))
    # Each cell lies in its column, the first one at the left, and its row, the first one at the far end.
    low, high = boxes(drawing, "cell")
    row, column, _ = (np.asarray(at) for _, _, at in drawing.meaning["cell"].texts[:3])
    rows, columns = picture.table.flat.shape
    wide, deep = picture.wide / columns, picture.deep / rows
    assert picture.wide == min(max(columns * layout._CELL[0], layout._LEAST[0]), layout._WIDE)
    assert picture.deep == min(max(rows * layout._CELL[1], layout._LEAST[1]), layout._DEEP)
    eps = 1e-4
    assert (low[:, 0] >= column * wide - eps).all()
    assert (high[:, 0] <= (column + 1) * wide + eps).all()
    assert (low[:, 1] >= picture.deep - (row + 1) * deep - eps).all()
    assert (high[:, 1] <= picture.deep - row * deep + eps).all()
    # Floor and walls do not meet.
    for (a, b), (c, d) in combinations(list(zip(*boxes(drawing, "plate"))), 2):
        assert ((b <= c) | (d <= a)).any()
    # The camera's box is what is drawn, and little more.
    view = camera(picture)
    low, high = boxes(drawing, "plate", "cell", "sum of a column", "sum of a row")
    marks = [one.point for one in drawing.elements if isinstance(one, Marks)]
    low, high = low.min(axis=0), np.max([*high, *np.concatenate(marks)], axis=0)
    assert (low >= np.array(view.low) - 0.05).all()
    assert (high <= np.array(view.high) + 0.05).all()
    assert (low <= np.array(view.low) + 0.2 + eps).all()
    assert (high[:2] >= np.array(view.high[:2]) - 0.2 - eps).all()
    if not p.spread:
        assert high[2] >= view.high[2] - 0.1


@given(st.integers(0, len(TRACES) - 1), drawings, st.sampled_from([(64, 36), (640, 360), (360, 640)]))
@settings(deadline=None, max_examples=40)
def test_names_are_twice_as_large_as_can_be_read(number, chosen, size):
    trace = TRACES[number]
    p, frame = Parameters(**chosen), Frame(*size)
    picture = compose(trace, p, frame)
    text, made = layout._SMALL_TEXT, camera(picture)
    for _ in range(2):
        # A letter is about half as wide as high; names stand in front of the floor and at its right.
        across, along = (
            0.3 + 0.52 * text * max(len(shortened(name)) for name in category.names)
            for category in (picture.table.rows, picture.table.columns)
        )
        box = (made.low[0], -along, 0.0), (made.high[0] + across, *made.high[1:])
        # Title, legend and notes take their share of the picture.
        with_names = Camera(made.direction, *box, made.up, made.projection, made.lens)
        shown = fit(with_names, frame, (0.94, 0.76))
        ends = np.array([(0.0, 0.0, 0.0), (picture.wide, 0.0, 0.0)])
        unit = np.linalg.norm(shown.pixels(ends + STEP) - shown.pixels(ends), axis=1).min() / 0.01
        text = max(layout._SMALL_TEXT, 2 * frame.least_text / unit)
    assert picture.text == pytest.approx(text)


def test_long_names_keep_their_ends():
    for length in range(20, 30):
        name = "".join(chr(ord("a") + i % 26) for i in range(length))
        short = shortened(name)
        assert len(short) == min(length, 24)
        assert short == name if length <= 24 else short == "…" + name[-23:]


@given(st.integers(0, len(TRACES) - 1), drawings)
@example(0, {"slices": 2})
@example(0, {"slices": 1})
@settings(deadline=None, max_examples=20)
def test_heights_are_square_roots_but_of_rounds_and_colours_know_the_walls(number, chosen):
    trace = TRACES[number]
    p = Parameters(**chosen)
    picture = compose(trace, p, FRAME)
    assert (picture.scale.kind, picture.scale.high) == ("sqrt", picture.table.flat.max())
    rounds = compose(trace, Parameters(about="rounds", repeated="f1"), FRAME)
    assert rounds.scale.kind == "linear"
    assert compose(trace, Parameters(scale="log"), FRAME).scale.kind == "log"
    value = picture.table.value
    has_walls = p.walls and value.shape[2] > 1
    assert picture.has_walls == has_walls
    sums = [value.sum(axis=0).max(), value.sum(axis=1).max()] if has_walls else []
    assert picture.ramp.high == max([picture.table.flat.max(), *sums])
    ticks = value_ticks(picture.scale)
    assert 0 < min(ticks) <= max(ticks) <= picture.scale.high


@pytest.mark.parametrize(
    ("high", "ticks"),
    [(0.0, [0.0]), (0.4, [0.2, 0.4]), (1.0, [0.5, 1.0]), (3.0, [1.0, 2.0, 3.0]), (1000.0, [500.0, 1000.0])],
)
def test_the_ruler_of_heights_has_round_values_above_the_ground(high, ticks):
    assert value_ticks(Scale.over("linear", np.array([0.0, high]))) == ticks


@pytest.mark.parametrize(
    ("chosen", "rows", "columns", "expected"),
    [
        ({}, True, False, True), ({}, False, True, False), ({"form": "surface"}, False, True, True),
        ({"form": "surface"}, False, False, False), ({"form": "bars"}, True, True, False),
        ({"spread": 0.5}, True, True, False), ({"rows_open": 0.5}, True, True, False),
        ({"columns_open": 0.0}, True, True, False), ({"rows_open": 0.0, "spread": 1.0}, True, True, False),
    ],
)  # fmt: skip
def test_slopes_join_what_has_an_order_and_is_open(chosen, rows, columns, expected):
    p = Parameters(**{"spread": 0.0, **chosen})
    categories = (SimpleNamespace(names="ab", is_ordered=ordered) for ordered in (rows, columns))
    table = SimpleNamespace(**dict(zip(("rows", "columns"), categories)))
    assert Layout.is_surface.fget(SimpleNamespace(parameters=p, table=table)) == expected
    table.rows.names = table.columns.names = "a"
    assert not Layout.is_surface.fget(SimpleNamespace(parameters=p, table=table))


def test_the_window_of_a_trace_without_calls():
    trace = Trace(span_ns=5_000_000)
    for start, end, wanted in (
        ("", "", (0, 5_000_000)), ("1ms", "", (1_000_000, 5_000_000)), ("-1ms", "2ms", (0, 2_000_000)),
    ):  # fmt: skip
        assert time_window(trace, start, end) == wanted
    assert time_window(Trace(), "", "") == (0, 1)
    for chosen, said in (({"start": "3ms", "end": "2ms"}, "after the start"), ({"start": "9s"}, "ends at")):
        with pytest.raises(UsageError, match=said):
            compose(trace, Parameters(**chosen), FRAME)
