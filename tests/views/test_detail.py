"""Views from near: the same boxes in the same places, and more of them where one looks."""

import numpy as np
import pytest

from tests.support import synthetic, walked_traces
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.comparison.view.colors import UNMATCHED
from tracevis3d.parameters import as_key
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings
from tracevis3d.views import registry
from tracevis3d.views.view import level_of_detail_of


@pytest.fixture(scope="module")
def trace() -> Trace:
    calls, first, count = synthetic.program(60_000)
    n = int(calls.function.max()) + 1
    names = Strings.of([f"function {i}" for i in range(n)])
    unknown = np.full(n, -1, np.int32)
    ids = tuple(range(len(first)))
    return Trace(
        calls=calls,
        functions=Functions(names, names, unknown, unknown, np.zeros(n, np.int32)),
        threads=Threads(ids, ids, ("",) * len(ids), ("",) * len(ids), np.asarray(first), np.asarray(count)),
        span_ns=int(calls.end.max()),
    )


FRAME = Frame(800, 450)


def test_nothing_moves_and_each_call_in_sight_is_shown_once(trace):
    view = registry.find("icicle")
    parameters = view.parameters()
    drawn = view.draw((trace,), parameters, FRAME, lambda *_: None)
    closer = view.level_of_detail((trace,), parameters, FRAME)
    (pane,) = closer.panes
    low, high = pane.window
    seen = (low + (high - low) // 3, low + (high - low) // 2)
    near = closer.look(0, seen, 20 * pane.pixels_per_unit)
    (calls, clusters), names = near.parts, near.names
    before = drawn.elements[0]
    assert before.kind == calls.kind == "call"
    assert len(np.unique(calls.id)) == len(calls)
    # What was shown before still is, in its place, or was beside what is seen and merged there, too.
    place = {int(i): k for k, i in enumerate(calls.id)}
    for k, i in enumerate(before.id.tolist()):
        assert i in place
        assert np.allclose(calls.low[place[i]], before.low[k], atol=1e-5)
        assert np.allclose(calls.size[place[i]], before.size[k], rtol=1e-5, atol=1e-6)
        assert calls.color[place[i]] == before.color[k]
    c = trace.calls
    drawn_threads = np.unique(c.thread[calls.id])
    inside = (c.start < seen[1]) & (c.end >= seen[0]) & np.isin(c.thread, drawn_threads)
    shown = (c.start[calls.id] < seen[1]) & (c.end[calls.id] >= seen[0])
    span = (high - low) * clusters.time.astype(np.float64)
    touching = (span[:, 0] + low < seen[1]) & (span[:, 1] + low >= seen[0])
    # Rounded ends may count a cluster that ends where the detail begins.
    assert shown.sum() + clusters.count[touching].sum() >= inside.sum()
    assert len(calls) > 2 * len(before)
    (names,) = names
    assert names.anchor[:, 0].min() >= 0


def test_the_whole_window_at_the_pictures_own_resolution_is_the_picture(trace):
    view = registry.find("icicle")
    parameters = view.parameters()
    drawn = view.draw((trace,), parameters, FRAME, lambda *_: None)
    closer = view.level_of_detail((trace,), parameters, FRAME)
    (pane,) = closer.panes
    near = closer.look(0, pane.window, pane.pixels_per_unit)
    calls, clusters = near.parts
    assert np.array_equal(np.sort(calls.id), np.sort(drawn.elements[0].id))
    assert int(clusters.count.sum()) == drawn.counts["calls_in_clusters"]
    assert np.allclose(near.palette, drawn.palette)


@pytest.mark.parametrize("walls", ["similarity", "group"])
def test_walls_that_face_each_other_come_nearer_one_by_one(walls):
    a, b = (walked_traces.walked_trace(seed, steps=20_000, threads=2) for seed in (3, 4))
    view = registry.find("compare")
    parameters = view.parameters(walls=walls, tau=0.3)
    drawn = view.draw((a, b), parameters, FRAME, lambda *_: None)
    closer = view.level_of_detail((a, b), parameters, FRAME)
    assert [pane.source for pane in closer.panes] == [0, 1]
    for pane, trace in zip(closer.panes, (a, b), strict=True):
        before = next(e for e in drawn.elements if (e.kind, e.source) == ("call", pane.source))
        low, high = pane.window
        seen = (low + (high - low) // 3, low + (high - low) // 2)
        near = closer.look(pane.source, seen, 20 * pane.pixels_per_unit)
        calls = near.parts[0]
        assert {part.source for part in near.parts} == {near.names[0].source} == {pane.source}
        assert len(np.unique(calls.id)) == len(calls) > len(before)
        order = np.argsort(calls.id)
        place = order[np.searchsorted(calls.id[order], before.id)]
        assert np.array_equal(calls.id[place], before.id)
        assert np.allclose(calls.low[place], before.low, atol=1e-5)
        assert np.allclose(calls.size[place], before.size, rtol=1e-5, atol=1e-6)
        # Nobody's colour changes on the way.
        assert np.allclose(near.palette[calls.color[place]], drawn.palette[before.color], atol=1e-6)
        inside = (trace.calls.start[calls.id] < seen[1]) & (trace.calls.end[calls.id] >= seen[0])
        assert inside.sum() > 2 * np.isin(calls.id[inside], before.id).sum()
        alone = np.isclose(near.palette[calls.color], UNMATCHED)
        matched = closer.comparison.matched(pane.source)[calls.id]
        assert np.array_equal(~alone.all(axis=1), matched)


def test_a_fan_has_no_more_to_show():
    traces = tuple(walked_traces.walked_trace(seed, steps=2000) for seed in (1, 2, 3))
    view = registry.find("compare")
    assert view.level_of_detail(traces, view.parameters(), FRAME).panes == ()


def test_rows_of_threads_come_nearer_where_time_is_straight():
    trace = walked_traces.walked_trace(5, steps=20_000, threads=3)
    view = registry.find("threads")
    parameters = view.parameters()
    drawn = view.draw((trace,), parameters, FRAME, lambda *_: None)
    closer = view.level_of_detail((trace,), parameters, FRAME)
    (pane,) = closer.panes
    low, high = pane.window
    seen = (low + (high - low) // 3, low + (high - low) // 2)
    near = closer.look(0, seen, 20 * pane.pixels_per_unit)
    calls, before = near.parts[0], next(e for e in drawn.elements if e.kind == "call")
    assert calls.window == before.window == pane.window
    place = {int(i): k for k, i in enumerate(calls.id)}
    for k, i in enumerate(before.id.tolist()):
        new, old = (e.corner[e.first[j] : e.first[j + 1]] for e, j in ((calls, place[i]), (before, k)))
        assert np.allclose(new, old, atol=1e-5)
        assert np.allclose(calls.time[place[i]], before.time[k])
        assert np.allclose(near.palette[calls.color[place[i]]], drawn.palette[before.color[k]])
    assert len(calls) > len(before)
    reach = [(seen[0] - low) / (high - low) * 16, (seen[1] - low) / (high - low) * 16]
    for group in near.names:
        assert group.kind == "function"
        assert reach[0] - 1e-5 <= group.anchor[:, 0].min()
        assert group.anchor[:, 0].max() <= reach[1] + 1e-5
    # On the paper's semicircle time is bent, and windows of their own have no time in common.
    assert view.level_of_detail((trace,), view.parameters(paper=1.0), FRAME).panes == ()


def test_blocks_of_memory_come_apart_from_near():
    trace = walked_traces.walked_trace(6, allocations=9000)
    view = registry.find("memory")
    parameters = view.parameters(order="creation", color="none")
    drawn = view.draw((trace,), parameters, FRAME, lambda *_: None)
    closer = view.level_of_detail((trace,), parameters, FRAME)
    (pane,) = closer.panes
    low, high = pane.window
    seen = (low + 0.3 * (high - low), low + 0.35 * (high - low))
    # Bytes run away from the reader, so that a unit of them has few pixels.
    near = closer.look(0, seen, 250 * pane.pixels_per_unit)
    before, after = (
        {e.kind: e for e in elements if e.kind in pane.kinds} for elements in (drawn.elements, near.parts)
    )
    assert len(np.unique(after["block"].id)) > drawn.counts["blocks_alone"] + 100
    # Who stood alone still does, in the same place; ids of several are explained anew.
    x = {int(i): after["block"].corner[2 * k, 0, 0] for k, i in enumerate(after["block"].id)}
    for k, i in enumerate(before["block"].id.tolist() if "block" in before else []):
        assert np.isclose(x[i], before["block"].corner[2 * k, 0, 0], atol=1e-5)
    # Each block is shown once: alone, or with others.
    counted = dict(near.meaning["block cluster"].values)["blocks"]
    several = np.unique(after["block cluster"].id)
    assert len(np.unique(after["block"].id)) + int(counted[several].sum()) == drawn.counts["blocks"]


def test_detail_is_made_once_for_each_drawing(trace):
    view = registry.find("icicle")
    values = vars(view.parameters())

    def of(frame=FRAME, **other):
        return level_of_detail_of([trace], view, as_key({**values, **other}), frame)

    first = of()
    assert of() is first
    assert of(Frame(400, 300)) is not first
    assert of(relief=0.25) is not first
    assert first.panes == view.level_of_detail((trace,), view.parameters(), FRAME).panes
    assert level_of_detail_of([trace], registry.find("interactions"), as_key({}), FRAME) is None
