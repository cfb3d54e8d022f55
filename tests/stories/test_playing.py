"""Threads that play at paces of their own: compared with each item's time, worked out by itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d import api
from tracevis3d.drawing.primitives import Boxes
from tracevis3d.errors import UsageError
from tracevis3d.stories.drawings.playing import SLOWER, is_timed, paced, played

TRACE = walked_trace(3, threads=3)
DRAWING = api.icicle(TRACE).drawing()
NAMES = [TRACE.threads.title(t) for t in range(len(TRACE.threads))]


@given(st.lists(st.floats(0.01, 100), min_size=3, max_size=3))
def test_each_call_comes_when_its_thread_has_come_to_it(factors):
    found = paced(DRAWING, [TRACE], list(zip(NAMES, factors)))
    seen = 0
    for before, after in zip(DRAWING.elements, found.elements):
        if not isinstance(before, Boxes) or not len(before.time):
            continue
        for i, call in enumerate(before.id.tolist()):
            thread = int(TRACE.calls.thread[call])
            # A thread that is f times as fast as the slowest needs the f-th part of the time.
            share = min(factors) / factors[thread]
            assert after.time[i] == pytest.approx(before.time[i] * share, abs=1e-6)
            seen += 1
    assert seen > 100


def test_threads_that_nobody_names_have_the_usual_pace():
    found = paced(DRAWING, [TRACE], [(NAMES[1], 2.0)])
    thread = np.concatenate(
        [TRACE.calls.thread[e.id] for e in DRAWING.elements if len(getattr(e, "time", ()))]
    )
    before, after = (
        np.concatenate([e.time[:, 1] for e in d.elements if len(getattr(e, "time", ()))])
        for d in (DRAWING, found)
    )
    assert np.allclose(after, np.where(thread == 1, before / 2, before), atol=1e-6)
    assert paced(DRAWING, [TRACE], []) is DRAWING
    with pytest.raises(UsageError, match="nobody"):
        paced(DRAWING, [TRACE, TRACE], [("nobody", 2.0)])


@given(
    st.integers(0, 900), st.integers(1, 1000), st.integers(0, 900), st.integers(1, 1000), st.integers(5, 60)
)
def test_slow_times_take_four_times_as_long(low, wide, first, long, n):
    part, slow = (low, low + wide), (first, first + long)
    shares = np.linspace(0, 1, n)
    at = played((0, 2000), part, slow, shares) * 2000
    assert (np.diff(at) >= 0).all()
    assert at[[0, -1]] == pytest.approx(part)
    # The plain sum: each nanosecond takes as long as its place says.
    fine = np.linspace(*part, 20_001)
    away = np.maximum(np.maximum(slow[0] - fine, fine - slow[1]), 0) / (0.04 * wide)
    taken = SLOWER - (SLOWER - 1) * np.minimum(away, 1)
    gone = np.cumsum(taken) / taken.sum()
    assert np.interp(at, fine, gone) == pytest.approx(shares, abs=0.02)


def test_which_pictures_have_times():
    assert is_timed(DRAWING)
    assert not is_timed(api.cone(TRACE).drawing())
