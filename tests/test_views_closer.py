"""The icicle from near: the same boxes in the same places, and more of them where one looks."""

import numpy as np
import pytest

from tests import synthetic
from tracevis3d.drawing.frame import Frame
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings
from tracevis3d.views import registry


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
    closer = view.closer((trace,), parameters, FRAME)
    low, high = closer.window
    seen = (low + (high - low) // 3, low + (high - low) // 2)
    (calls, clusters), names = closer.look(seen, 20 * closer.pixels_per_unit)
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
    near = (c.start[calls.id] < seen[1]) & (c.end[calls.id] >= seen[0])
    span = (high - low) * clusters.time.astype(np.float64)
    touching = (span[:, 0] + low < seen[1]) & (span[:, 1] + low >= seen[0])
    # Rounded ends may count a cluster that ends where the detail begins.
    assert near.sum() + clusters.count[touching].sum() >= inside.sum()
    assert len(calls) > 2 * len(before)
    assert all(x >= 0 for x in names.anchor[:, 0])


def test_the_whole_window_at_the_pictures_own_resolution_is_the_picture(trace):
    view = registry.find("icicle")
    parameters = view.parameters()
    drawn = view.draw((trace,), parameters, FRAME, lambda *_: None)
    closer = view.closer((trace,), parameters, FRAME)
    (calls, clusters), _ = closer.look(closer.window, closer.pixels_per_unit)
    assert np.array_equal(np.sort(calls.id), np.sort(drawn.elements[0].id))
    assert int(clusters.count.sum()) == drawn.counts["calls_in_clusters"]
    assert np.allclose(closer.palette, drawn.palette)
