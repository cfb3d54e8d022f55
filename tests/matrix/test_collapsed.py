"""Categories that collapse onto walls, surfaces with ridges, and further subjects, against plain sums."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.walked_traces import walked_trace
from tracevis3d import api
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Wedges
from tracevis3d.errors import InputError
from tracevis3d.features.matrix import actions
from tracevis3d.features.matrix.findings import Finding, findings
from tracevis3d.features.matrix.table import Category, Table
from tracevis3d.features.matrix.view.cells import _stacked
from tracevis3d.features.matrix.view.layout import compose
from tracevis3d.features.matrix.view.parameters import Parameters
from tracevis3d.features.matrix.view.surface import crests, heights
from tracevis3d.features.matrix.view.view import VIEW
from tracevis3d.layout.scales import Scale
from tracevis3d.progress import silent
from tracevis3d.trace.model import ALLOC, WAIT, Sync
from tracevis3d.views.actions import State

FRAME = Frame(640, 360)
TRACE = walked_trace(0, steps=60, functions=12, modules=4, allocations=40)


def cells(**chosen):
    drawing = VIEW.draw([TRACE], Parameters(parts="module", within=True, **chosen), FRAME, silent)
    made = next(one for one in drawing.elements if one.kind == "cell")
    return made, [np.asarray(at) for _, _, at in drawing.meaning["cell"].texts[:3]], drawing


tables = st.tuples(*[st.integers(1, 4)] * 3).flatmap(
    lambda shape: st.lists(st.integers(0, 9), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))).map(
        lambda values: np.array(values, np.float64).reshape(shape)
    )
)


@given(tables, st.booleans(), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=50)
def test_a_stack_holds_what_its_categories_add_up_to(value, rows, columns, levels):
    below, whole = _stacked(value, rows, columns, levels)
    for i, j, k in np.ndindex(*value.shape):
        mine = value[
            slice(None) if rows else slice(i, i + 1),
            slice(None) if columns else slice(j, j + 1),
            slice(None) if levels else slice(k, k + 1),
        ]
        assert whole[i, j, k] == mine.sum()
        before = [
            value[a, b, c]
            for a, b, c in np.ndindex(*value.shape)
            if (rows or a == i) and (columns or b == j) and (levels or c == k) and (a, b, c) < (i, j, k)
        ]
        assert below[i, j, k] == sum(before)


@pytest.mark.parametrize(("axis", "name"), [(0, "rows_open"), (1, "columns_open")])
def test_a_collapsed_category_is_the_sum_on_its_wall(axis, name):
    made, at, _ = cells(scale="linear", **{name: 0.0})
    table = compose(TRACE, Parameters(parts="module", within=True), FRAME).table
    sums = table.flat.sum(axis=axis)
    top = made.low[:, 2] + made.size[:, 2]
    highest = 3.0
    for other in np.unique(at[1 - axis]).tolist():
        mine = at[1 - axis] == other
        assert top[mine].max() == pytest.approx(highest * sums[other] / sums.max(), abs=1e-3)
        assert made.size[mine, 2].sum() == pytest.approx(top[mine].max(), abs=0.05)
        assert np.ptp(made.low[mine, 1 - axis]) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("name", ["rows_open", "columns_open"])
def test_the_way_between_is_continuous(name):
    places = [cells(**{name: share})[0].low for share in (1.0, 0.999, 0.5, 0.001, 0.0)]
    np.testing.assert_allclose(places[0], places[1], atol=0.05)
    np.testing.assert_allclose(places[3], places[4], atol=0.05)
    assert all(np.isfinite(place).all() for place in places)


def test_levels_that_are_lifted_leave_their_sums_on_the_floor():
    _, _, drawing = cells(spread=1.0)
    table = compose(TRACE, Parameters(parts="module", within=True), FRAME).table
    floor = next(one for one in drawing.elements if one.kind == "sum of levels")
    assert len(floor) == np.count_nonzero(table.flat)
    said = drawing.meaning["sum of levels"].texts[2][1]
    row, column = np.nonzero(table.flat)
    assert list(said) == [table.write(v) for v in table.flat[row, column].tolist()]


@given(tables, st.booleans(), st.booleans(), st.data())
@settings(deadline=None, max_examples=40)
def test_slopes_join_neighbours_along_an_order_alone(value, rows, columns, data):
    height = value[:, :, 0]
    there = np.array(data.draw(st.lists(st.booleans(), min_size=height.size, max_size=height.size))).reshape(
        height.shape
    )
    found = heights(height, there, rows, columns)
    assert found.shape == (*height.shape, 3, 3)
    for i, j in np.argwhere(there).tolist():
        for down in range(3):
            for right in range(3):
                around = {
                    (i + a, j + b)
                    for a in ({0, down - 1} if rows else {0})
                    for b in ({0, right - 1} if columns else {0})
                }
                known = [
                    height[a, b]
                    for a, b in around
                    if 0 <= a < height.shape[0] and 0 <= b < height.shape[1] and there[a, b]
                ]
                assert found[i, j, down, right] == pytest.approx(np.mean(known))


def rounds(value):
    """Return a table of rounds by threads."""
    value = np.asarray(value, np.float64)[:, :, None]
    category = (
        Category("round", tuple(str(i + 1) for i in range(value.shape[0])), True, "f"),
        Category("thread", tuple("abcdefgh"[: value.shape[1]])),
        Category("", ("",), True),
    )
    return Table(*category, value, (value > 0).astype(np.int64), np.full(value.shape, -1), "on", "time")


def test_a_ridge_is_told_from_a_peak():
    slow = findings(rounds([[10, 11, 10, 9], [40, 45, 50, 42], [10, 10, 11, 0]]))[0]
    assert (slow.row, slow.ridge) == (1, "row")
    assert slow.sentence.endswith("; it is slow on all 4 threads")
    some = findings(rounds([[10, 11, 10, 9], [40, 45, 50, 10], [10, 10, 11, 0]]))[0]
    assert some.sentence.endswith("; it is slow on 3 of 4 threads")
    peak = findings(rounds([[10, 11, 10, 9], [11, 10, 50, 9], [10, 10, 11, 10]]))[0]
    assert peak.ridge == ""
    assert peak.sentence.endswith(" the median on c")
    column = findings(rounds([[10, 18, 10, 9], [11, 17, 10, 9], [10, 16, 11, 10]]))[0]
    assert (column.column, column.ridge) == (1, "column")


def test_rounds_are_a_surface_with_lines_along_its_ridges():
    trace = api.load(ROOT / "examples" / "weka_parallel_9t.tsv.gz")
    picture = compose(trace, Parameters(about="rounds"), FRAME)
    drawing = VIEW.draw([trace], Parameters(about="rounds"), FRAME, silent)
    made = next(one for one in drawing.elements if one.kind == "cell")
    assert isinstance(made, Wedges)
    row, column = np.nonzero(picture.table.count.sum(axis=2))
    assert len(made) == len(row)
    assert made.corner.shape == (3 * len(row), 4, 3)
    # Each reaches from the far edge of its row over the middle to the near one.
    far, near = picture.y(row) + picture.pitch[1], picture.y(row)
    edges = np.column_stack([far, (far + near) / 2, near])
    found = made.corner.reshape(-1, 3, 4, 3)[..., 1]
    np.testing.assert_allclose(found, np.broadcast_to(edges[..., None], found.shape), atol=1e-5)
    # From the floor at the left, over the right, up and back.
    sides = made.corner.reshape(-1, 3, 4, 3)
    assert not sides[:, :, :2, 2].any()
    assert (sides[:, :, 2:, 2] > 0).all()
    np.testing.assert_allclose(sides[:, :, 0, 0], sides[:, :, 3, 0])
    np.testing.assert_allclose(sides[:, :, 1, 0], sides[:, :, 2, 0])
    assert (sides[:, :, 0, 0] < sides[:, :, 1, 0]).all()
    slopes = heights(
        picture.high * picture.table.flat / picture.table.flat.max(),
        picture.table.count.sum(axis=2) > 0, True, False,
    )[row, column]  # fmt: skip
    np.testing.assert_allclose(sides[:, :, 3, 2], 0.03 + slopes[:, :, 0], atol=1e-4)
    np.testing.assert_allclose(sides[:, :, 2, 2], 0.03 + slopes[:, :, 2], atol=1e-4)
    # The middle of each block is as high as its value.
    middle = made.corner.reshape(-1, 3, 4, 3)[:, 1, 2:, 2]
    wanted = picture.high * picture.table.flat[row, column] / picture.table.flat.max() + 0.03
    np.testing.assert_allclose(middle, np.column_stack([wanted, wanted]), atol=1e-4)
    # Blocks of threads, which have no order, stand apart, in the middle of their columns.
    left, right = (corners(made)[:, :, 0].min(axis=1), corners(made)[:, :, 0].max(axis=1))
    np.testing.assert_allclose((left + right) / 2, picture.x(column + 0.5), atol=1e-5)
    assert (right - left < 0.97 * picture.pitch[0]).all()
    assert (right - left > 0.85 * picture.pitch[0]).all()
    assert sum(one.kind == "ridge" for one in drawing.elements) == 2
    whole = crests(picture, Finding("", "", 0, 0, "column"))
    rows = np.arange(len(picture.table.rows.names))
    at = np.column_stack([
        np.full(len(rows), picture.x(np.array(0.5))), picture.y(rows - 0.5),
        picture.high * picture.table.flat[:, 0] / picture.table.flat.max() + 0.06,
    ])  # fmt: skip
    np.testing.assert_allclose(whole, [at], atol=1e-5)
    bars = VIEW.draw([trace], Parameters(about="rounds", form="bars"), FRAME, silent)
    assert not any(isinstance(one, Wedges) for one in bars.elements)


def corners(made):
    """Return the corners of each block, (n, 12, 3)."""
    return made.corner.reshape(-1, 12, 3)


def test_blocks_of_ordered_columns_fill_them_in_two_halves():
    picture = compose(TRACE, Parameters(about="sizes", parts="function", form="surface"), FRAME)
    drawing = VIEW.draw([TRACE], Parameters(about="sizes", parts="function", form="surface"), FRAME, silent)
    made = next(one for one in drawing.elements if one.kind == "cell")
    row, column = np.nonzero(picture.table.count.sum(axis=2))
    assert len(made) == 2 * len(row)
    at = corners(made)[:, :, 0]
    ends = np.column_stack([at.min(axis=1), at.max(axis=1)])
    half = picture.pitch[0] / 2
    first, second = ends[: len(row)], ends[len(row) :]
    np.testing.assert_allclose(
        first, np.column_stack([picture.x(column), picture.x(column) + half]), atol=1e-5
    )
    np.testing.assert_allclose(second, first + half, atol=1e-5)


def test_a_row_whose_columns_have_an_order_has_one_crest():
    picture = compose(TRACE, Parameters(about="sizes", parts="function", form="surface"), FRAME)
    there = picture.table.count.sum(axis=2) > 0
    many = int(there.sum(axis=1).max())
    assert many > 1
    (crest,) = crests(picture, Finding("", "", int(there.sum(axis=1).argmax()), 0, "row"))
    assert crest.shape == (many, 3)


def test_crests_lead_over_the_middles_of_cells_with_data():
    count = np.array([[[1], [0], [2]], [[0], [1], [0]]])
    flat = count.sum(axis=2) * 4.0
    picture = SimpleNamespace(
        table=SimpleNamespace(count=count, flat=flat, columns=SimpleNamespace(is_ordered=True, names="abc")),
        high=2.0, scale=Scale.over("linear", np.array([0.0, 8.0])), x=lambda k: 10 * k, y=lambda k: -k,
    )  # fmt: skip

    def found(row, column, ridge):
        return [one.round(3).tolist() for one in crests(picture, Finding("", "", row, column, ridge))]

    # Two cells in an order are joined, one alone is crossed.
    assert found(0, 0, "row") == [[[5.0, 0.5, 1.06], [25.0, 0.5, 2.06]]]
    assert found(1, 0, "row") == [[[10.3, -0.5, 1.06], [19.7, -0.5, 1.06]]]
    picture.table.columns.is_ordered = False
    assert found(0, 0, "row") == [
        [[0.3, 0.5, 1.06], [9.7, 0.5, 1.06]], [[20.3, 0.5, 2.06], [29.7, 0.5, 2.06]]
    ]  # fmt: skip
    assert found(0, 0, "column") == []
    count[1, 0] = 1
    assert found(0, 0, "column") == [[[5.0, 0.5, 1.06], [5.0, -0.5, 0.06]]]
    assert found(0, 0, "") == []


def test_sizes_are_powers_of_two():
    table = compose(TRACE, Parameters(about="sizes", parts="function", form="surface"), FRAME).table
    memory = TRACE.memory
    # The window begins with the first call.
    rows = (memory.kind == ALLOC) & (memory.time >= TRACE.calls.start.min())
    assert table.flat.sum() == memory.size[rows].sum()
    for j, name in enumerate(table.columns.names):
        low = 2 ** (int(np.log2(max(memory.size[rows].min(), 1))) + j)
        fits = rows & (memory.size >= low) & (memory.size < 2 * low)
        assert table.flat[:, j].sum() == memory.size[fits].sum(), name
    drawing = VIEW.draw([TRACE], Parameters(about="sizes", form="surface"), FRAME, silent)
    assert any(isinstance(one, Wedges) for one in drawing.elements)
    assert " allocates most: " in drawing.title


def test_constructors_are_counted_by_caller_and_class():
    trace = api.load(ROOT / "examples" / "vt_markdown_repeat1.json.gz")
    table = compose(trace, Parameters(about="creates", parts="class", most=200), FRAME).table
    names, calls = trace.functions.label, trace.calls
    makes = {f for f in range(len(trace.functions)) if names[f].split(".")[-1] in ("__init__", "__new__")}
    counted = sum(
        int(calls.function[c]) in makes and int(calls.function[calls.parent[c]]) not in makes
        for c in range(len(calls))
        if calls.parent[c] >= 0
    )
    assert table.flat.sum() == counted
    assert findings(table)[0].sentence.startswith(
        "re._parser calls constructors of re._parser.SubPattern most"
    )


def test_holders_are_threads_that_others_wait_for():
    n = len(TRACE.threads)
    sync = Sync(
        call=np.array([-1, -1]), thread=np.array([0, 0], np.int32), start=np.array([1010, 1050]),
        end=np.array([1030, 1055]), kind=np.full(2, WAIT, np.uint8), contended=np.ones(2, np.int8),
        name=np.zeros(2, np.int32), holder=np.array([n - 1, -1], np.int32), first=np.zeros(3, np.int64),
        names=("acquire",),
    )  # fmt: skip
    table = compose(replace(TRACE, sync=sync), Parameters(about="holders"), FRAME).table
    assert table.flat.tolist() == [[20.0]]
    assert "waits longest for what" in findings(table)[0].sentence
    with pytest.raises(InputError, match="no holders"):
        compose(TRACE, Parameters(about="holders"), FRAME)


def test_categories_collapse_and_open_again():
    state = State(VIEW, (TRACE,), vars(Parameters()))
    for close, reopen, name in (
        (actions.COLLAPSE_ROWS, actions.OPEN_ROWS, "rows_open"),
        (actions.COLLAPSE_COLUMNS, actions.OPEN_COLUMNS, "columns_open"),
    ):
        assert close.applies(state)
        assert not reopen.applies(state)
        change = close.run(state)
        assert change.parameters[name] == 0.0
        assert change.between(0.5)[name] == 0.5
        closed = State(VIEW, (TRACE,), {**vars(Parameters()), **change.parameters})
        assert not close.applies(closed)
        back = reopen.run(closed).parameters
        assert {key: vars(Parameters())[key] for key in back} == back
