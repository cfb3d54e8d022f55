"""Where selections are: compared with a search through all that is drawn, item by item."""

from fnmatch import fnmatchcase

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d import api
from tracevis3d.drawing.primitives import Boxes
from tracevis3d.errors import UsageError
from tracevis3d.stories.drawings.targets import box_of
from tracevis3d.stories.story import Selection

TRACE = walked_trace(3, threads=2)
DRAWING = api.icicle(TRACE).drawing()


def slow(selection):
    """The box around what is selected, found one box at a time."""
    found = []
    for element in DRAWING.elements:
        if not isinstance(element, Boxes) or element.kind not in ("call", "cluster"):
            continue
        for i, call in enumerate(element.id.tolist()):
            name = TRACE.functions.label[TRACE.calls.function[call]]
            thread = TRACE.threads.name[TRACE.calls.thread[call]]
            first = int(selection.call or 0)
            inside = not selection.call or first <= call < first + TRACE.calls.extent[first]
            if selection.function and not fnmatchcase(name, selection.function):
                continue
            if not inside or (selection.thread and thread != selection.thread):
                continue
            low = element.low[i].astype(float)
            high = low + element.size[i]
            if selection.time:
                begin, end = (element.window[0] + t * (element.window[1] - element.window[0])
                              for t in element.time[i].astype(float))  # fmt: skip
                begin, end = int(begin), int(end)
                if end <= selection.time[0] or begin >= selection.time[1]:
                    continue
                shares = [min(max((t - begin) / max(end - begin, 1), 0), 1) for t in selection.time]
                low[0], high[0] = (low[0] + share * element.size[i][0] for share in shares)
            found.append((low, high))
    return found and (np.min([low for low, _ in found], axis=0), np.max([high for _, high in found], axis=0))


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine draws slowly
@given(
    st.sampled_from(["", "f3", "f*", "f1?"]),
    st.sampled_from(["", "worker-1"]),
    st.sampled_from(["", "0", "7", "40"]),
    st.none() | st.tuples(st.integers(0, 90_000), st.integers(1, 30_000)),
)
def test_the_box_is_that_of_a_slow_search(function, thread, call, time):
    span = time and (time[0], time[0] + time[1])
    selection = Selection("", span, function, call, thread)
    expected = slow(selection) if not selection.is_empty else None
    if expected is None:
        return
    if not len(expected):
        with pytest.raises(UsageError, match="nothing that is drawn is selected"):
            box_of(DRAWING, (TRACE,), selection)
        return
    low, high = box_of(DRAWING, (TRACE,), selection)
    if not (function or thread or call):
        # All that is drawn counts, not calls alone.
        assert (low <= expected[0] + 1e-4).all()
        assert (high >= expected[1] - 1e-4).all()
        return
    assert np.allclose(low, expected[0], atol=1e-4)
    assert np.allclose(high, expected[1], atol=1e-4)


def test_a_thread_bent_around_is_cut_by_its_time():
    drawing = api.threads(TRACE).drawing()
    whole = box_of(drawing, (TRACE,), Selection(thread="worker-0"))
    part = box_of(drawing, (TRACE,), Selection(thread="worker-0", time=(0, TRACE.span_ns // 4)))
    assert np.prod(part[1] - part[0] + 1e-9) < 0.6 * np.prod(whole[1] - whole[0] + 1e-9)


def test_what_is_not_there_is_said():
    for selection, sentence in (
        (Selection(trace="B"), "there are only 1 traces"),
        (Selection(function="nobody"), "function: nobody: nothing that is drawn"),
        (Selection(thread="nobody"), "no thread is called 'nobody'"),
        (Selection(call="99999999"), "call: 99999999: nothing"),
        (Selection(time=(10**12, 10**13)), "nothing that is drawn"),
    ):
        with pytest.raises(UsageError, match=sentence):
            box_of(DRAWING, (TRACE,), selection)
