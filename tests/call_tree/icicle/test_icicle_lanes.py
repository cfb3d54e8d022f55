"""Folded lanes of an icicle, and how it is set up for reading in a window."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.explanations import explanations_of, packed, unpacked
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.picked import PickedElement
from tracevis3d.drawing.primitives import Boxes, Drawing
from tracevis3d.features.call_tree.icicle.actions import in_window
from tracevis3d.parameters import read
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace
from tracevis3d.views import registry
from tracevis3d.views.actions import State
from tracevis3d.views.time_window import WIDTH

#: As it is registered: with the parameters that all views have.
VIEW = registry.find("icicle")
FRAME = Frame(960, 540)
ACTION = {action.name: action for action in VIEW.actions}


def draw(trace: Trace, **values) -> Drawing:
    return VIEW.draw([trace], read(VIEW.parameters, values), FRAME, silent)


def boxes_of(drawing: Drawing, *kinds: str) -> list[Boxes]:
    return [element for element in drawing.elements if element.kind in kinds]


def heights(drawing: Drawing) -> dict[int, float]:
    """Return the height of each thread's lane."""
    (risers,) = boxes_of(drawing, "riser")
    return dict(zip(risers.id.tolist(), risers.size[:, 2].tolist()))


@given(st.integers(0, 10_000), st.sampled_from(["auto", "none", "all", "busiest 1", "busiest 2"]))
@settings(max_examples=40, deadline=None)
def test_each_call_is_shown_and_in_the_lane_of_its_thread(seed, unfolded):
    trace = walked_trace(seed)
    drawing = draw(trace, **{**in_window(0.012), "unfolded": unfolded, "resolution": 0.5})
    assert drawing.counts["calls"] == len(trace.calls)
    (steps,) = boxes_of(drawing, "terrace")
    floor = dict(zip(steps.id.tolist(), (steps.low + steps.size)[:, 2].tolist()))
    tops = sorted(floor.values())
    for boxes in boxes_of(drawing, "call", "cluster"):
        for thread, low, size in zip(trace.calls.thread[boxes.id].tolist(), boxes.low, boxes.size):
            assert low[2] >= floor[thread] - 1e-4
            above = [z for z in tops if z > floor[thread] + 1e-4]
            assert low[2] + size[2] <= (above[0] if above else np.inf) + 1e-4


def test_lanes_stay_where_they_are_whatever_time_is_shown():
    trace = walked_trace(3)
    whole = draw(trace, **in_window(0.012))
    low, high = int(trace.calls.start.min()), int(trace.calls.end.max())
    part = draw(trace, **in_window(0.012), start=f"{(low + high) // 2}ns", end=f"{(low + 3 * high) // 4}ns")
    assert heights(part) == heights(whole)
    # A view that is not read in a window shows the threads of its window alone.
    assert len(heights(draw(trace))) <= len(heights(whole))


def test_a_click_on_a_thread_folds_and_unfolds_it():
    trace = walked_trace(5)
    values = {**vars(read(VIEW.parameters, in_window(0.012))), "unfolded": "none"}
    before = heights(draw(trace, **values))
    for thread in sorted(before):
        state = State(VIEW, (trace,), values, element=PickedElement("thread", id=thread))
        assert ACTION["fold_thread"].applies(state)
        opened = {**values, **ACTION["fold_thread"].run(state).parameters}
        after = heights(draw(trace, **opened))
        assert {t for t in before if not np.isclose(after[t], before[t])} <= {thread}
        assert after[thread] >= before[thread] - 1e-5
        again = ACTION["fold_thread"].run(
            State(VIEW, (trace,), opened, element=PickedElement("thread", id=thread))
        )
        assert heights(draw(trace, **{**opened, **again.parameters})) == pytest.approx(before)


@pytest.mark.parametrize("level", [0.0, 0.2])
def test_levels_become_higher_by_a_factor(level):
    trace = walked_trace(4)
    values = {**vars(read(VIEW.parameters, {})), "level": level, "taper": 0.0, "threads": "busiest 1"}
    tall = {**values, **ACTION["heighten_levels"].run(State(VIEW, (trace,), values, amount=1.5)).parameters}
    if not level:
        values["level"] = tall["level"] / 1.5
    one, other = (boxes_of(draw(trace, **v), "call")[0].size[:, 2].max() for v in (values, tall))
    assert other == pytest.approx(1.5 * one, rel=2e-3)


def test_names_of_threads_are_clicked_in_a_saved_file_too():
    trace = walked_trace(3)
    explained = explanations_of(draw(trace, **in_window(0.012)))
    again = unpacked(packed(explained))
    assert again is not None
    assert again.reading == explained.reading
    (threads,) = [group for group in again.names if group.kind == "thread"]
    assert sorted(threads.id.tolist()) == sorted(heights(draw(trace, **in_window(0.012))))
    assert explained.reading[0] == 0.0
    # Scripts get what is usual.
    usual = explanations_of(draw(trace))
    assert usual.reading is None
    assert all(not len(group.id) for group in usual.names)


def test_names_fit_on_levels_of_a_window():
    for line in (0.004, 0.011, 0.03):
        assert in_window(line)["level"] / WIDTH > 1.2 * line
