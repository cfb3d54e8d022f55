"""What the view of tracks shows, on recorded traces: heights are means, titles are true, forms agree."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support import walked_traces
from tracevis3d import api
from tracevis3d.analysis.time_mural import longest_calls
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.picked import PickedElement
from tracevis3d.drawing.primitives import Boxes, Tubes, Wedges
from tracevis3d.errors import InputError, UsageError
from tracevis3d.features.tracks.findings import findings, together
from tracevis3d.features.tracks.tracks import chosen, tracks_of
from tracevis3d.features.tracks.view.layout import compose
from tracevis3d.features.tracks.view.mural import mural_of
from tracevis3d.features.tracks.view.parameters import Parameters
from tracevis3d.features.tracks.view.view import VIEW
from tracevis3d.features.tracks.view.wall import strips_of
from tracevis3d.formats import registry as formats
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace
from tracevis3d.views.detail import Detail

FRAME = Frame(640, 360)
FLAT = Parameters(opening=0.0, findings=0)


@pytest.fixture(scope="module")
def threads():
    return api.load(ROOT / "examples" / "sync_pillow_8w.json.gz")


@pytest.fixture(scope="module")
def single():
    return api.load(ROOT / "examples" / "vt_markdown_repeat1.json.gz")


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """A recording of a counter and one call."""
    events = [{"ph": "X", "name": "f", "pid": 1, "tid": 1, "ts": 0, "dur": 100}]
    events += [
        {"ph": "C", "name": "cpu", "pid": 1, "ts": t, "args": {"load (%)": v}}
        for t, v in ((0, 20), (40, 98), (50, 30))
    ]
    path = tmp_path_factory.mktemp("counters") / "load.json"
    path.write_text(json.dumps(events))
    return formats.open_trace(path)


def drawn(trace, **settings):
    return VIEW.draw([trace], Parameters(**settings), FRAME, silent)


def boxes(drawing, kind="band"):
    return next(one for one in drawing.elements if isinstance(one, Boxes) and one.kind == kind)


def texts(drawing, kind):
    return {title: [words[i] for i in column] for title, words, column in drawing.meaning[kind].texts}


def test_a_counter_is_as_high_as_its_value_and_the_title_says_its_peak(load):
    drawing = drawn(load, tracks="counters", opening=0.0, peaks=False)
    (strip,) = strips_of(compose(load, replace(FLAT, tracks="counters", peaks=False), FRAME))
    made = boxes(drawing)
    assert [round(float(v), 2) for v in made.size[:, 2] / strip.height * strip.high] == [20.0, 98.0, 30.0]
    assert drawing.title == "cpu load (%) peaks at 98 % at 40 µs"
    assert texts(drawing, "band")["mean"] == ["20 %", "98 %", "30 %"]


def test_bands_of_a_flat_strip_stand_upon_each_other(threads):
    picture = compose(threads, replace(FLAT, tracks="modules"), FRAME)
    (strip,) = strips_of(picture)
    made = boxes(drawn(threads, tracks="modules", opening=0.0, findings=0))
    total = np.sum([cells.mean for cells in strip.cells], axis=0)
    for cell in (3, 20, 60, 100):
        x = float(picture.x(picture.edges[cell] + 1))
        inside = (made.low[:, 0] <= x) & (made.low[:, 0] + made.size[:, 0] > x)
        order = np.argsort(made.low[inside, 2])
        low, size = made.low[inside][order], made.size[inside][order]
        np.testing.assert_allclose(low[1:, 2], low[:-1, 2] + size[:-1, 2], atol=5e-3)
        np.testing.assert_allclose(size[:, 2].sum(), strip.up(total[cell]), atol=5e-3)


def test_opened_every_band_stands_on_the_floor_in_a_row_of_its_own(threads):
    made = boxes(drawn(threads, tracks="modules", findings=0))
    names = np.array(texts(drawn(threads, tracks="modules", findings=0), "band")["band"])
    rows = {name: np.unique(made.low[names == name, 1]) for name in np.unique(names)}
    assert all(len(row) == 1 for row in rows.values())
    assert len({float(row[0]) for row in rows.values()}) == len(rows)
    np.testing.assert_allclose(made.low[:, 2], made.low[0, 2], atol=1e-5)


def test_threads_that_run_and_threads_that_wait_are_not_the_same(threads):
    known = {track.key: track for track in tracks_of(threads)}
    edges = np.linspace(0, threads.span_ns, 50).astype(np.int64)
    run = known["running"].bands[0].series.cells(edges)
    wait = np.sum([band.series.cells(edges).most for band in known["waits"].bands], axis=0)
    assert run.most.max() <= 9
    assert (
        run.mean + np.sum([b.series.cells(edges).mean for b in known["waits"].bands], axis=0) <= 9.001
    ).all()
    assert wait.max() > 0


def test_the_title_says_what_most_threads_do(threads):
    picture = compose(threads, Parameters(), FRAME)
    first = findings(picture.tracks, picture.window, picture.edges)[0]
    waits = next(track for track in picture.tracks if track.key == "waits")
    length = np.diff(picture.edges)
    sums = [float((band.series.cells(picture.edges).mean * length).sum()) for band in waits.bands]
    assert first.sentence == (
        f"On average {sum(sums) / length.sum():.2f} of 9 threads wait, "
        f"{100 * sums[0] / sum(sums):.0f} % of it in Lock.acquire"
    )
    assert drawn(threads).title.endswith(first.sentence)


def test_finer_cells_stay_within_the_strips(threads):
    frame = Frame(320, 180)
    closer = VIEW.level_of_detail([threads], Parameters(), frame)
    base = boxes(VIEW.draw([threads], Parameters(), frame, silent))
    low, high = closer.panes[0].window
    seen = low + 0.4 * (high - low), low + 0.41 * (high - low)
    found = closer.look(0, seen, 100 * closer.panes[0].pixels_per_unit)
    assert isinstance(found, Detail)
    finer = next(part for part in found.parts if part.kind == "band")
    assert len(finer) > len(base)
    inside = (finer.time[:, 0] > 0.4) & (finer.time[:, 1] < 0.41)
    assert finer.size[inside, 0].max() < base.size[:, 0].min()
    strips = strips_of(compose(threads, Parameters(), frame))
    assert (finer.low + finer.size)[:, 2].max() <= max(one.floor + one.height for one in strips) + 1e-4


def test_a_horizon_strip_is_folded_where_it_exceeds_a_layer(load):
    made = boxes(drawn(load, tracks="counters", strips="horizon", layers=2, findings=0))
    (strip,) = strips_of(compose(load, Parameters(tracks="counters", strips="horizon"), FRAME))
    outer = made.low[:, 1] < -0.01
    # 98 of 98 fills both layers; 20 and 30 stay in the first.
    np.testing.assert_allclose(made.size[outer, 2], strip.height, rtol=1e-3)
    np.testing.assert_allclose(
        made.size[~outer, 2], strip.height * np.array([20 / 49, 1.0, 30 / 49]), rtol=2e-2
    )


def test_a_flat_tube_is_strips_as_high_as_each_threads_load(threads):
    drawing = drawn(threads, form="tube", opening=0.0)
    made = next(one for one in drawing.elements if isinstance(one, Wedges))
    corner = made.corner.reshape(-1, 2, 4, 3)
    shares = [float(text.removesuffix(" %").lstrip("<> ")) for text in texts(drawing, "load")["load"]]
    tall = (corner[..., 2].max(axis=(1, 2)) - corner[..., 2].min(axis=(1, 2))).max()
    # A block ends in the middle of the cell whose mean it says.
    height = np.ptp(corner[:, 1, :, 2], axis=1)
    np.testing.assert_allclose(height / tall, np.array(shares)[made.id] / 100, atol=0.006)


def test_a_tube_bends_towards_the_load(threads):
    straight, bent = (
        next(e for e in drawn(threads, form="tube", bend=bend).elements if isinstance(e, Wedges))
        for bend in (0.0, 1.0)
    )
    assert straight.id.tolist() == bent.id.tolist()
    assert not np.allclose(straight.corner, bent.corner)
    np.testing.assert_allclose(straight.corner[..., 0], bent.corner[..., 0])


def test_a_flat_path_is_the_portrait_and_time_opens_it(single):
    flat, deep = (drawn(single, form="path", tracks="calls,depth", opening=u) for u in (0.0, 1.0))
    one, other = (next(e for e in made.elements if isinstance(e, Tubes)) for made in (flat, deep))
    assert not one.point[:, 1].any()
    assert (np.diff(other.point[::2, 1]) > 0).all()
    np.testing.assert_allclose(one.point[:, 0] * 0.8, other.point[:, 0], rtol=1e-4)


@pytest.mark.parametrize("opening", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("form", ["wall", "tube", "path"])
def test_each_form_is_finite_at_any_opening(threads, form, opening):
    drawing = drawn(threads, form=form, opening=opening)
    for element in drawing.elements:
        for name in ("low", "size", "point", "corner"):
            assert np.isfinite(getattr(element, name, np.zeros(1))).all()


def test_correlation_is_what_numpy_says():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=50), rng.normal(size=50)
    assert together(a, b) == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert together(a, np.ones(50)) == 0.0


def test_a_cell_says_what_it_is_and_leads_to_a_call(threads):
    drawing = drawn(threads, tracks="waits")
    at = drawing.meaning["band"].calls[0][1]
    which = int(np.flatnonzero(at >= 0)[0])
    element = PickedElement(
        "band", id=which, calls={0: int(at[which])},
        texts=tuple((title, words[column[which]]) for title, words, column in drawing.meaning["band"].texts),
        time=(0.1, 0.2), window=(0, 1000),
    )  # fmt: skip
    said, call = VIEW.describe(element, [threads], Parameters())
    assert said.title == "Lock.acquire"
    assert said.where == "Threads that wait, of 9"
    assert said.rows[0] == ("from", "100 ns for 100 ns")
    assert call.title == threads.functions.label[int(threads.calls.function[int(at[which])])]


def test_tracks_are_chosen_by_name_or_reported(threads, load):
    assert [track.key for track in chosen(threads, "waits, calls", "muted")] == ["waits", "calls"]
    assert [track.title for track in chosen(load, "*load*", "muted")] == ["cpu load (%)"]
    with pytest.raises(UsageError, match="the trace has no track 'memory'; it has running, waits"):
        chosen(threads, "memory", "muted")
    with pytest.raises(UsageError, match="form=path takes two tracks"):
        drawn(load, form="path", tracks="depth")
    with pytest.raises(InputError, match="no calls, waits, memory or counters"):
        drawn(Trace())


def test_findings_are_marked_where_they_are(threads):
    drawing = drawn(threads, findings=2)
    said = texts(drawing, "finding")["finding"]
    assert len(said) == 2
    assert drawing.title.endswith(said[0])
    written = [text for group in drawing.labels if group.kind == "finding" for text in group.text]
    assert len(written) == 2
    assert all(len(text.split()) <= 8 for text in written)


def test_without_recorded_waits_threads_are_within_calls(tmp_path):
    events = [{"ph": "X", "name": "f", "pid": 1, "tid": t, "ts": 10 * t, "dur": 100} for t in (1, 2, 3)]
    path = tmp_path / "calls.json"
    path.write_text(json.dumps(events))
    drawing = drawn(formats.open_trace(path), tracks="running")
    assert drawing.title == "On average 2.5 of 3 threads are within a call"


def test_a_tube_says_that_it_holds_the_busiest_threads(tmp_path):
    events = [{"ph": "X", "name": "f", "pid": 1, "tid": t, "ts": t, "dur": 100} for t in range(1, 31)]
    path = tmp_path / "many.json"
    path.write_text(json.dumps(events))
    drawing = drawn(formats.open_trace(path), form="tube")
    assert "the 24 busiest threads of 30" in drawing.notes


@given(st.integers(0, 2**32), st.integers(1, 80), st.integers(1, 12))
@settings(deadline=None, max_examples=40)
def test_every_call_is_in_the_mural(seed, steps, columns) -> None:
    trace = walked_traces.walked_trace(seed, steps=steps, threads=2, functions=4)
    if not len(trace.calls):
        return
    low, high = 0, int(trace.calls.end.max()) + 1
    found = mural_of(trace, (low, high), columns)
    # The plain twin: how much of each cell's time each call takes.
    calls, width = trace.calls, (high - low) / columns
    busy = np.zeros(found.share.shape)
    begins = np.zeros(found.share.shape, np.bool_)
    for start, end, depth in zip(calls.start.tolist(), calls.end.tolist(), calls.depth.tolist(), strict=True):
        for k in range(columns):
            busy[depth - 1, k] += max(min(end, (k + 1) * width) - max(start, k * width), 0.0) / width
        begins[depth - 1, min(int(start // width), columns - 1)] = True
    share = np.sqrt(busy / max(busy.max(), 1e-300))
    assert (found.share[begins] > 0).all()
    assert np.allclose(np.where(begins, np.maximum(share, 0.12), share), found.share, atol=2e-3)


@given(st.integers(0, 2**32), st.integers(1, 80), st.integers(1, 12), st.integers(1, 5), st.booleans())
@settings(deadline=None, max_examples=60)
def test_each_cell_of_the_mural_is_of_the_call_that_takes_most_of_it(seed, steps, columns, height, zoomed):
    calls = walked_traces.walked_trace(seed, steps=steps, threads=2, functions=4).calls
    if not len(calls):
        return
    low, high = 0, int(calls.end.max()) + 1
    if zoomed:
        low, high = high // 4, max(high // 2, high // 4 + 1)
    found = longest_calls(calls, low, high, columns, height)
    width, deepest = (high - low) / columns, max(int(calls.depth.max()), height)
    for row in range(height):
        for k in range(columns):
            begins, ends = low + width * k, low + width * (k + 1)
            best, most = -1, 0.0
            for i, (start, end, depth) in enumerate(zip(calls.start, calls.end, calls.depth, strict=True)):
                if (depth - 1) * height // deepest != row:
                    continue
                time = min(end, ends) - max(start, begins)
                inside = int((start - low) / width) == k and start >= low
                if time > most + 1e-9 or (best < 0 and inside):
                    best, most = i, max(time, 0.0)
            here = found[row, k]
            assert (here < 0) == (best < 0)
            if here >= 0:
                taken = min(calls.end[here], ends) - max(calls.start[here], begins)
                assert taken == pytest.approx(most, abs=1e-6)


def test_the_mural_is_a_view_and_flat_it_lies_in_one_plane(threads) -> None:
    flat = drawn_as(threads, form="mural", opening=0)
    (cells,) = [element for element in flat.elements if element.kind == "mural"]
    assert len(set(cells.size[:, 1].tolist())) == 1
    raised = drawn_as(threads, form="mural")
    (cells,) = [element for element in raised.elements if element.kind == "mural"]
    assert np.ptp(cells.low[:, 1]) > 0.1
    assert f"{int(threads.calls.depth.max())} deep" in flat.title
    # The darkest cells stand out furthest: y and brightness have one order.
    light = raised.palette[cells.color][:, :3].sum(axis=1)
    order = np.argsort(cells.size[:, 1], kind="stable")
    assert light[order[-1]] < light[order[0]]
    assert (np.diff(light[order]) <= 1e-5).all()


def test_cells_of_the_mural_can_be_pointed_at(threads) -> None:
    drawing = drawn_as(threads, form="mural")
    (cells,) = [element for element in drawing.elements if element.kind == "mural"]
    meaning = drawing.meaning["mural"]
    ((_, calls),) = meaning.calls
    assert len(calls) == len(cells)
    assert (calls >= 0).all()
    window = cells.window
    assert window is not None
    # Each is of a call of its depth, in its time.
    (_, titles, row), (_, words, which) = meaning.texts
    i = int(np.argmax(cells.size[:, 0]))
    call, at = int(calls[i]), window[0] + cells.time[i].astype(float) * (window[1] - window[0])
    assert titles[row[i]] == f"Depth {threads.calls.depth[call]}"
    assert threads.calls.start[call] < at[1]
    assert threads.calls.end[call] > at[0]
    element = PickedElement(
        "mural", id=i, calls={0: call}, time=tuple(cells.time[i].tolist()), window=window,
        texts=(("track", titles[row[i]]), ("mean", words[which[i]])),
    )  # fmt: skip
    said = VIEW.describe(element, [threads], None)
    assert said[0].title == titles[row[i]]
    assert "at a time" in dict(said[0].rows)["mean"]
    assert said[1].title == threads.functions.label[threads.calls.function[call]]


@pytest.mark.parametrize("name", ["icicle", "threads", "ramp"])
def test_tracks_and_mural_stand_behind_other_views_on_one_axis(threads, name) -> None:
    alone = api.view(name, threads).drawing(FRAME)
    both = api.view(name, threads, behind="running, mural").drawing(FRAME)
    # What is before the wall is as it was, and lower than it.
    for mine, its in zip(alone.elements, both.elements, strict=False):
        assert mine.kind == its.kind
        assert len(mine) == len(its)
    window = next(axis.window for axis in both.axes if axis.window)
    (band,) = [e for e in both.elements if e.kind == "band behind"]
    (picture,) = [e for e in both.elements if e.kind == "mural behind"]
    assert band.low[:, 2].min() >= alone.camera.high[2]
    assert band.low[:, 1].min() >= alone.camera.high[1]
    # Each box is at the time that the ruler before it says.
    series = tracks_of(threads)[[t.key for t in tracks_of(threads)].index("running")].bands[0].series
    edges = window[0] + (band.low[:, 0].astype(float)) * (window[1] - window[0]) / 16.0
    ends = edges + band.size[:, 0].astype(float) * (window[1] - window[0]) / 16.0
    with np.errstate(invalid="ignore"):  # between boxes that touch
        means = series.cells(np.stack([edges, ends], axis=1).ravel().astype(np.int64)).mean[::2]
    assert np.corrcoef(means, band.size[:, 2])[0, 1] > 0.999
    assert picture.low[:, 0].min() >= 0
    assert (picture.low + picture.size)[:, 0].max() <= 16 + 1e-5


def test_what_cannot_stand_behind_is_told(threads) -> None:
    with pytest.raises(UsageError, match="no track 'weather'"):
        api.view("icicle", threads, behind="weather").drawing(FRAME)
    with pytest.raises(UsageError, match="no ruler of time"):
        api.view("icicle", threads, behind="mural", winding=3).drawing(FRAME)
    with pytest.raises(UsageError):
        api.view("cone", threads, behind="mural")


def drawn_as(trace, **values):
    return api.view("tracks", trace, **values).drawing(FRAME)
