"""Where calls are drawn: on their own box, or on the deepest cluster that stands for them."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("bpy", reason="no bpy")
pytestmark = pytest.mark.blender

from tests.filters.test_filters import JAVA  # noqa: E402
from tracevis3d.scene.window.call_places import CallReference, places_on  # noqa: E402


class Boxes(SimpleNamespace):
    """What the objects of a view show, as far as places are read from it."""

    def __len__(self):
        return len(self.low)

    def fact(self, name):
        return self.facts.get(name, np.empty(0, np.int32))


def boxes(kind, calls, time=(), **facts):
    n = len(calls)
    low = np.array([[10.0 * i, 0.0, 1.0] for i in range(n)], np.float32)
    size = np.full((n, 3), [8.0, 2.0, 1.0], np.float32)
    return Boxes(
        kind=kind,
        low=low,
        size=size,
        calls={0: np.array(calls, np.int64)},
        window=(0, 1024) if len(time) else None,
        time=np.array(time, np.float32).reshape(-1, 2),
        facts={name: np.array(values, np.int32) for name, values in facts.items()},
    )


def test_a_call_has_its_own_place_at_its_start():
    single = boxes("call", [4, 7], time=[(0.0, 0.25), (0.25, 0.75)])
    front, above = (places_on([single], [CallReference(0, 7, 512)], up)[0] for up in (False, True))
    assert front.tolist() == pytest.approx([10.0 + 8.0 * 0.5, 0.0, 1.6])
    assert above.tolist() == pytest.approx([14.0, 1.0, 2.0])
    plain = places_on([boxes("call", [4, 7])], [CallReference(0, 4, 600)], False)[0]
    assert plain.tolist() == pytest.approx([4.0, 0.0, 1.6])


def test_a_call_of_another_trace_or_of_none_is_nowhere():
    single = boxes("call", [4, 7], time=[(0.0, 0.25), (0.25, 0.75)])
    found = places_on([single], [CallReference(1, 7, 600), CallReference(0, 5, 600)], False)
    assert np.isnan(found).all()
    assert places_on([], [], False).shape == (0, 3)


@given(st.integers(0, 1024), st.integers(1, 6), st.integers(0, 1))
def test_the_deepest_cluster_that_reaches_there_stands_for_a_call(start, depth, thread):
    time = [(0.0, 1.0), (0.25, 0.625), (0.25, 0.625), (0.5, 0.875)]
    depths, threads = [1, 2, 3, 2], [0, 0, 0, 1]
    cluster = boxes("cluster", [90, 91, 92, 93], time=time, depth=depths, thread=threads)
    fits = [
        (depths[i], -i)
        for i in range(4)
        if threads[i] == thread and depths[i] <= depth and time[i][0] <= start / 1024 <= time[i][1]
    ]
    (found,) = places_on([cluster], [CallReference(0, 5, start, thread, depth)], False)
    if not fits:
        assert np.isnan(found).all()
    else:
        element = -max(fits)[1]
        assert 10.0 * element - 1e-3 <= found[0] <= 10.0 * element + 8.0 + 1e-3
    # Without thread and depth no cluster is known to stand for it.
    assert np.isnan(places_on([cluster], [CallReference(0, 5, start)], False)).all()


def test_what_is_needed_is_read_from_the_trace():
    sought = CallReference.of(JAVA, 1, 3)
    calls = JAVA.calls
    assert (sought.source, sought.call) == (1, 3)
    assert (sought.start, sought.thread, sought.depth) == (calls.start[3], calls.thread[3], calls.depth[3])
