"""What the view of matrices shows, on recorded traces: heights and colours are values, walls are sums."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.conftest import ROOT
from tracevis3d import api
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.picked import PickedElement
from tracevis3d.drawing.primitives import Boxes
from tracevis3d.errors import InputError, UsageError
from tracevis3d.features.matrix.actions import COLLAPSE, LIFT
from tracevis3d.features.matrix.findings import findings
from tracevis3d.features.matrix.view.layout import compose
from tracevis3d.features.matrix.view.parameters import Parameters
from tracevis3d.features.matrix.view.view import VIEW
from tracevis3d.formats import registry as formats
from tracevis3d.progress import silent
from tracevis3d.views.actions import State

FRAME = Frame(640, 360)


@pytest.fixture(scope="module")
def single():
    return api.load(ROOT / "examples" / "vt_markdown_repeat1.json.gz")


@pytest.fixture(scope="module")
def threads():
    return api.load(ROOT / "examples" / "sync_pillow_8w.json.gz")


def drawn(trace, **settings):
    return VIEW.draw([trace], Parameters(**settings), FRAME, silent)


def part_of(drawing, kind):
    return next(one for one in drawing.elements if one.kind == kind)


def part(drawing, kind):
    return next(one for one in drawing.elements if isinstance(one, Boxes) and one.kind == kind)


def cells_of(drawing):
    """Return row, column and level of each box."""
    texts = drawing.meaning["cell"].texts
    return [np.asarray(column) for _, _, column in texts[:3]]


def test_stacked_boxes_are_as_high_as_their_sum(single):
    drawing, picture = drawn(single, scale="linear"), compose(single, Parameters(scale="linear"), FRAME)
    made, (row, column, _) = part(drawing, "cell"), cells_of(drawing)
    flat, high = picture.table.flat, picture.high
    for r, c in np.argwhere(flat)[::7]:
        mine = (row == r) & (column == c)
        top = (made.low[mine, 2] + made.size[mine, 2]).max()
        assert top == pytest.approx(high * flat[r, c] / flat.max(), abs=0.04)


def test_flat_boxes_of_a_cell_fill_it_side_by_side(single):
    drawing, picture = drawn(single, opening=0.0), compose(single, Parameters(opening=0.0), FRAME)
    made, (row, column, _) = part(drawing, "cell"), cells_of(drawing)
    for r, c in np.argwhere(picture.table.flat)[::5]:
        mine = (row == r) & (column == c)
        assert made.size[mine, 0].sum() == pytest.approx(0.84 * picture.pitch[0], rel=1e-3)
        order = np.argsort(made.low[mine, 0])
        ends = (made.low[mine, 0] + made.size[mine, 0])[order]
        np.testing.assert_allclose(ends[:-1], made.low[mine, 0][order][1:], atol=1e-4)
    assert drawing.camera.projection == "orthographic"
    assert drawing.camera.direction[2] == pytest.approx(1.0)


def test_colours_are_those_of_the_legend(single):
    drawing, picture = drawn(single), compose(single, Parameters(), FRAME)
    made, (row, column, _) = part(drawing, "cell"), cells_of(drawing)
    first, last = drawing.legends[0].ramp
    share = picture.ramp.place(picture.table.flat[row, column])
    np.testing.assert_array_equal(made.color, first + np.rint(share * (last - first)))


def test_walls_hold_the_sums(single):
    drawing, table = drawn(single), compose(single, Parameters(), FRAME).table
    for kind, axis in (("sum of a column", 0), ("sum of a row", 1)):
        sums = table.value.sum(axis=axis)
        said = drawing.meaning[kind].texts
        assert len(part(drawing, kind)) == np.count_nonzero(sums)
        place, level = (np.asarray(column) for _, _, column in said[:2])
        assert list(said[2][1]) == [table.write(v) for v in sums[place, level].tolist()]


def test_spread_levels_stand_on_floors_of_their_own(single):
    drawing = drawn(single, spread=1.0)
    made, (_, _, level) = part(drawing, "cell"), cells_of(drawing)
    floors = [np.unique(made.low[level == one, 2].round(4)) for one in np.unique(level)]
    assert all(len(one) == 1 for one in floors)
    tops = [(made.low[level == one, 2] + made.size[level == one, 2]).max() for one in np.unique(level)]
    assert all(top <= floor[0] + 1e-3 for top, floor in zip(tops, floors[1:]))


def test_titles_are_true(single, threads):
    table = compose(single, Parameters(), FRAME).table
    flat = table.flat.copy()
    for i, a in enumerate(table.rows.names):
        for j, b in enumerate(table.columns.names):
            flat[i, j] *= a != b
    row, column = np.unravel_index(flat.argmax(), flat.shape)
    said = findings(table)[0].sentence
    assert said.startswith(
        f"{table.rows.names[row]} calls {table.columns.names[column]} most: {flat.max():,.0f} calls"
    )
    drawing = drawn(single)
    assert drawing.title.endswith(said)
    # The same is called out at its bar, with both names.
    callout = drawing.callouts[0]
    assert callout.text.startswith(f"{flat.max():,.0f}, ")
    assert callout.detail == f"{table.rows.names[row]}, {table.columns.names[column]}"
    np.testing.assert_allclose(callout.point[:2], part_of(drawing, "finding").point[0, :2], atol=1e-5)
    # The highest bar is the one that the title is about, because calls within one part are left out.
    assert table.flat.max() == flat.max()
    assert said.endswith("of all between different parts")
    whole = compose(single, Parameters(within=True), FRAME).table
    assert table.count.sum() + table.within == whole.count.sum() == np.count_nonzero(single.calls.parent >= 0)
    assert whole.within == 0
    waits = findings(compose(threads, Parameters(about="waits"), FRAME).table)
    assert waits[0].sentence.startswith("MainThread (13546) waits longest for Event-")


def test_each_round_of_each_thread_is_a_bar():
    trace = api.load(ROOT / "examples" / "weka_parallel_9t.tsv.gz")
    picture = compose(trace, Parameters(about="rounds"), FRAME)
    table = picture.table
    assert table.columns.what == "thread"
    assert table.rows.names[0] == "1"
    assert not picture.has_walls
    function = trace.functions.label[:].index(table.rows.of)
    calls = trace.calls
    assert table.flat.sum() == (calls.end - calls.start)[calls.function == function].sum()
    assert findings(table)[0].sentence.startswith(f"Round 1 of {table.rows.of} takes ")


def test_arrows_lead_from_thread_to_thread(tmp_path):
    events = [{"ph": "X", "name": f"f{t}", "pid": 1, "tid": t, "ts": 0, "dur": 100} for t in (1, 2)]
    for i in range(3):
        events += [
            {"ph": "s", "id": i, "name": "job", "cat": "c", "pid": 1, "tid": 1, "ts": 10 + i},
            {"ph": "f", "bp": "e", "id": i, "name": "job", "cat": "c", "pid": 1, "tid": 2, "ts": 20 + i},
        ]
    path = tmp_path / "flows.json"
    path.write_text(json.dumps(events))
    trace = formats.open_trace(path)
    table = compose(trace, Parameters(about="arrows"), FRAME).table
    assert table.flat.sum() == 3
    assert drawn(trace, about="arrows").title == "thread 1 sends most to thread 2: 3 arrows, 100 % of all"


def test_lifting_and_collapsing_are_each_others_way_back(single):
    state = State(VIEW, (single,), vars(Parameters()))
    assert LIFT.applies(state)
    assert not COLLAPSE.applies(state)
    change = LIFT.run(state)
    assert change.parameters == {"spread": 1.0}
    assert change.between(0.5) == {"spread": 0.5}
    lifted = State(VIEW, (single,), {**vars(Parameters()), **change.parameters})
    assert COLLAPSE.applies(lifted)
    assert not LIFT.applies(lifted)
    assert COLLAPSE.run(lifted).parameters == {"spread": 0.0}


def test_a_cell_says_who_with_whom(single):
    drawing = drawn(single)
    meaning = drawing.meaning["cell"]
    call = int(meaning.calls[0][1][0])
    element = PickedElement(
        "cell", id=0, calls={0: call},
        texts=tuple((t, words[column[0]]) for t, words, column in meaning.texts),
        values=tuple((t, float(column[0])) for t, column in meaning.values),
    )  # fmt: skip
    said, of_call = VIEW.describe(element, [single], Parameters())
    assert " → " in said.title
    assert dict(said.rows)["calls"]
    assert of_call.title == single.functions.label[int(single.calls.function[call])]


@pytest.mark.parametrize("opening", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("settings", [{}, {"about": "threads"}, {"third": "thread", "color": "third"}])
def test_all_is_finite_at_any_opening(threads, opening, settings):
    for element in drawn(threads, opening=opening, **settings).elements:
        for name in ("low", "size", "point"):
            assert np.isfinite(getattr(element, name, np.zeros(1))).all()


def test_what_a_trace_lacks_is_said(single):
    for about, what in (("waits", "no waits"), ("arrows", "no arrows")):
        with pytest.raises(InputError, match=what):
            drawn(single, about=about)
    with pytest.raises(UsageError, match="no function has this name"):
        drawn(single, about="rounds", repeated="nothing")
