"""Threads and memory of one program on one clock, by one action."""

from __future__ import annotations

import pytest

from tests.support.blender_module import Blender
from tests.waits.sync_traces import trace_of
from tests.waits.view.test_live_bytes import with_blocks
from tracevis3d import api
from tracevis3d.errors import UsageError
from tracevis3d.views import registry
from tracevis3d.views.actions import State

MS = 1_000_000
PROGRAM = "\n".join(
    f"{thread} {i * MS} {(i + 9) * MS} work{thread}" for thread in "ab" for i in range(0, 100, 10)
)


def both():
    """Return a trace of two threads that allocate in turn, as they call."""
    blocks = [(i * MS, 30 * MS, 5000) for i in range(0, 60, 4)]
    return with_blocks(trace_of(PROGRAM), blocks)


def run(name, view, trace, **parameters):
    found = registry.find(view)
    action = next(one for one in registry.actions_of(found) if one.name == name)
    return action.run(State(found, (trace,), {**vars(found.parameters()), **parameters}))


def test_memory_is_shown_above_threads_in_their_window_and_threads_above_memory():
    trace = both()
    figure = run("memory_above", "threads", trace, start="20ms", end="80ms").figure
    assert (figure.view, figure.traces, figure.above) == ("memory", (trace,), True)
    assert figure.parameters == {"start": "20ms", "end": "80ms"}
    figure = run("threads_above", "memory", trace, end="1s").figure
    assert (figure.view, figure.parameters) == ("threads", {"start": "", "end": "1s"})
    # Any view of one trace has them, those without a window of time for all of it.
    assert run("memory_above", "icicle", trace, start="5ms").figure.parameters["start"] == "5ms"
    assert run("memory_above", "matrix", trace).figure.view == "memory"


def test_what_was_not_recorded_is_said():
    with pytest.raises(UsageError, match="record --memory"):
        run("memory_above", "threads", trace_of(PROGRAM))
    with pytest.raises(UsageError, match="this is it"):
        run("threads_above", "threads", both())


@pytest.mark.blender
@pytest.mark.slow
def test_both_stand_on_one_clock_and_what_is_selected_lights_up_in_both(tmp_path):
    pytest.importorskip("bpy", reason="no bpy")
    api.save(both(), tmp_path / "both.tv3")
    assert "on one clock" in Blender.with_checkout().script("lists/same_clock.py", str(tmp_path / "both.tv3"))


def test_menus_offer_what_the_trace_has():
    offered = {one.name: one.offered for one in registry.actions_of(registry.find("icicle"))}
    assert offered["memory_above"]("threads", both())
    assert not offered["memory_above"]("memory", both())
    assert not offered["memory_above"]("threads", trace_of(PROGRAM))
    assert offered["threads_above"]("memory", trace_of(PROGRAM))
