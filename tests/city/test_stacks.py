"""The stacks at a moment against a walk through all calls, and how they are drawn and played."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tests.waits.sync_traces import trace_of
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.city.actions import HIDE_STACK, PLAY_STACK
from tracevis3d.features.city.metrics import parts_of
from tracevis3d.features.city.stacks import stacks_at
from tracevis3d.features.city.view.parameters import Parameters
from tracevis3d.features.city.view.view import VIEW
from tracevis3d.progress import silent
from tracevis3d.views.actions import State

TRACES = [walked_trace(seed, steps=90, functions=12, modules=4) for seed in range(3)]


def without_repetitions(items):
    return [item for i, item in enumerate(items) if i == 0 or items[i - 1] != item]


@given(st.integers(0, 2), st.floats(0.0, 1.0), st.integers(1, 9))
@settings(deadline=None, max_examples=60)
def test_stacks_are_those_of_the_calls_that_run(number, share, most):
    trace = TRACES[number]
    calls, of = trace.calls, parts_of(trace, "module").of_function
    moment = int(share * trace.span_ns)
    found = {stack.thread: stack for stack in stacks_at(trace, of, moment, most)}
    for thread in range(len(trace.threads)):
        mine = [c for c in range(len(calls)) if calls.thread[c] == thread]
        running = [c for c in mine if calls.start[c] <= moment < calls.end[c]]
        running.sort(key=lambda c: calls.depth[c])
        assert (thread in found) == bool(running)
        if running:
            stack = found[thread]
            assert stack.part.tolist() == without_repetitions([int(of[calls.function[c]]) for c in running])
            assert stack.call[0] == running[0]
            assert set(stack.call.tolist()) <= set(running)
            assert of[calls.function[stack.call]].tolist() == stack.part.tolist()
            begun = [int(of[calls.function[c]]) for c in mine if calls.start[c] <= moment]
            assert stack.trail.tolist() == without_repetitions(begun[::-1])[: most + 1]


def test_the_stacks_of_the_eight_threads_with_the_most_calls_are_looked_up():
    text = [f"t{t} 0 1000 m0.run" for t in range(12)]
    text += [f"t{t} {2 * i} {2 * i + 1} m1.f" for t in range(12) for i in range((5 * t) % 12)]
    trace = trace_of("\n".join(text))
    found = stacks_at(trace, parts_of(trace, "function").of_function, 999, 1)
    busiest = sorted(range(12), key=lambda t: -((5 * t) % 12))[:8]
    assert [trace.threads.name[stack.thread] for stack in found] == [f"t{t}" for t in busiest]


@pytest.mark.parametrize(
    ("moment", "running"), [(0, "run"), (9, "first"), (10, "run"), (20, "last"), (30, "")]
)
def test_a_call_runs_from_its_begin_to_before_its_end(moment, running):
    trace = trace_of("a 0 30 m.run\na 5 10 m.first\na 15 30 m.last")
    parts = parts_of(trace, "function")
    found = stacks_at(trace, parts.of_function, moment, 1)
    assert [parts.path[stack.part[-1]][-1].rpartition(".")[2] for stack in found] == [running] * bool(running)


@pytest.mark.parametrize("repeated", [5, 30, 31, 32, 126, 127, 128, 1000])
def test_a_trail_leads_back_over_many_calls_of_one_part(repeated):
    text = ["a 0 9999 m.run", "a 1 2 m.first", "a 3 4 m.second"]
    text += [f"a {2 * i} {2 * i + 1} m.again" for i in range(5, 5 + repeated)]
    trace = trace_of("\n".join(text))
    parts = parts_of(trace, "function")
    for most, before in ((2, []), (40, ["run"])):
        (stack,) = stacks_at(trace, parts.of_function, 9998, most)
        names = [parts.path[part][-1].rpartition(".")[2] for part in stack.trail.tolist()]
        assert names == ["again", "second", "first", *before]


def test_a_stack_arches_from_roof_to_roof_and_says_where_it_is():
    trace = TRACES[0]
    of = parts_of(trace, "module").of_function
    deepest = int(np.argmax(trace.calls.depth))
    moment = int(trace.calls.start[deepest])
    drawing = VIEW.draw([trace], Parameters(parts="module", stack=f"{moment}ns"), Frame(640, 360), silent)
    stack = stacks_at(trace, of, moment, 24)[0]
    label = trace.functions.label[int(trace.calls.function[stack.call[-1]])]
    assert f" is in {label}, through {len(stack.part)} part" in drawing.title
    kinds = {one.kind: one for one in drawing.elements}
    assert "arc" not in kinds
    hops = sum(len(one.part) - 1 for one in stacks_at(trace, of, moment, 24))
    assert len(kinds["stack"]) == hops == len(drawing.meaning["stack"].calls[0][1])
    assert stack.call[1] in drawing.meaning["stack"].calls[0][1]


def test_a_stack_plays_to_the_end_and_is_hidden_again():
    trace = TRACES[0]
    state = State(VIEW, (trace,), vars(Parameters()))
    assert PLAY_STACK in VIEW.actions
    assert PLAY_STACK.applies(state)
    assert not HIDE_STACK.applies(state)
    change = PLAY_STACK.run(state)
    assert change.between(0.0) == {"stack": "0ns"}
    assert change.between(1.0) == change.parameters == {"stack": f"{trace.span_ns - 1}ns"}
    half = State(VIEW, (trace,), {**vars(Parameters()), "stack": f"{trace.span_ns // 2}ns"})
    again = PLAY_STACK.run(half)
    assert again.between(0.0) == {"stack": f"{trace.span_ns // 2}ns"}
    assert again.seconds == pytest.approx(change.seconds / 2, rel=0.01)
    assert HIDE_STACK.run(half).parameters == {"stack": ""}
    assert not PLAY_STACK.applies(State(VIEW, (trace,), {**vars(Parameters()), "multiples": True}))
