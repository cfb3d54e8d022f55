"""What lights up with a call, by definition: its element, related ones, and its matches."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import walked_traces
from tracevis3d.analysis.subtrees import distinct_subtrees
from tracevis3d.views.linking import lit as related
from tracevis3d.views.linking.lit import (
    Shown,
    best_matches,
    elements_of,
    lit,
    showing_selected,
)


class Mesh(SimpleNamespace):
    """What an object shows, as far as is read here."""

    def __len__(self):
        return len(self.id)

    def fact(self, name):
        return self.facts.get(name, np.empty(0, np.int32))


def boxes(trace, calls, source=0, kind="call", **more):
    calls = np.array(calls, np.int64)
    columns = trace.calls
    facts = {name: getattr(columns, name)[calls].astype(np.int32) for name in ("function", "depth", "thread")}
    size = np.ones((len(calls), 3), np.float32)
    size[:, 0] = columns.end[calls] - columns.start[calls]
    values = {"window": None, "time": np.empty((0, 2)), **more}
    return Mesh(
        kind=kind, source=source, id=calls, calls={source: calls}, facts=facts, size=size,
        is_boxes=True, stands=True, word="Boxes", links=[], **values,
    )  # fmt: skip


def tubes(pairs):
    a, b = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    return Mesh(
        kind="match", source=0, id=np.arange(len(pairs)), calls={0: a, 1: b}, facts={}, is_boxes=False,
        stands=True, word="Tubes", links=[], window=None, time=np.empty((0, 2)),
    )  # fmt: skip


def traced(seed, steps):
    return walked_traces.walked_trace(seed, steps=steps, threads=2, functions=4)


@given(st.integers(0, 2**32), st.integers(2, 80), st.sampled_from(["FUNCTION", "ALIKE", "CLASS"]), st.data())
@settings(deadline=None, max_examples=40)
def test_related_calls_by_definition(seed, steps, what, data):
    trace = traced(seed, steps)
    n, calls = len(trace.calls), trace.calls
    drawn = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
    pointed = data.draw(st.integers(0, n - 1))
    classes = distinct_subtrees(calls).of_call
    shown = Shown("one", ["a"], boxes(trace, drawn))
    found = lit([shown], {"a": np.array([pointed])}, {what}, {"a": trace}.get, lambda _: classes)
    one = found.get("one", related.Lit())
    container = trace.functions.container

    def tree(call):
        stop = call + int(calls.extent[call])
        return calls.function[call:stop].tobytes(), (calls.depth[call:stop] - calls.depth[call]).tobytes()

    def belongs(call):
        f, g = int(calls.function[call]), int(calls.function[pointed])
        if what == "FUNCTION":
            return f == g
        if what == "CLASS":
            return container[f] == container[g] != -1
        return tree(call) == tree(pointed)

    assert [drawn[i] for i in one.same] == [call for call in drawn if call == pointed]
    assert [drawn[i] for i in one.related] == [call for call in drawn if belongs(call) and call != pointed]
    assert not len(one.matched)


def test_matches_light_up_with_their_tubes_from_both_sides():
    first, other = traced(1, 40), traced(2, 40)
    traces = {"a": first, "b": other}
    pairs = [(2, 5), (2, 7), (4, 1)]
    present = [
        Shown("left", ["a", "b"], boxes(first, range(8))),
        Shown("right", ["a", "b"], boxes(other, range(8), source=1)),
        Shown("tubes", ["a", "b"], tubes(pairs)),
    ]
    found = lit(present, {"a": np.array([2])}, {"MATCH"}, traces.get, lambda _: None)
    assert found["left"].same.tolist() == [2]
    assert found["right"].matched.tolist() == [5, 7]
    assert found["tubes"].matched.tolist() == [0, 1]
    back = lit(present, {"b": np.array([1])}, {"MATCH"}, traces.get, lambda _: None)
    assert back["left"].matched.tolist() == [4]
    assert back["tubes"].matched.tolist() == [2]
    assert "tubes" not in lit(present, {"b": np.array([1])}, set(), traces.get, lambda _: None)
    assert best_matches([one.mesh for one in present], {0: 2}) == {1: 5}
    assert best_matches([one.mesh for one in present], {0: 3}) == {}


def test_a_call_lights_up_the_deepest_cluster_that_it_is_in():
    trace = traced(3, 60)
    calls = trace.calls
    deep = int(np.argmax(calls.depth))
    span = int(calls.end.max())
    pointed = {"a": np.array([deep])}
    thread = int(calls.thread[deep])
    members = [call for call in range(len(calls)) if calls.thread[call] == thread and call != deep][:3]
    cluster = boxes(
        trace, members, kind="cluster", window=(0, span), time=np.array([[0.0, 1.0]] * len(members))
    )
    (found,) = lit([Shown("c", ["a"], cluster)], pointed, set(), {"a": trace}.get, None).values()
    depths = [int(calls.depth[call]) for call in members]
    fits = [i for i, depth in enumerate(depths) if depth <= calls.depth[deep]]
    assert found.same.tolist() == [max(fits, key=lambda i: (depths[i], -i))]
    gone = lit([Shown("c", ["a"], cluster)], pointed, set(), {}.get, None)
    assert gone == {}, "without the trace no cluster is known to hold the call"


def test_more_related_elements_than_can_be_told_apart(monkeypatch):
    monkeypatch.setattr(related, "MOST", 3)
    trace = traced(5, 200)
    function = int(np.bincount(trace.calls.function).argmax())
    drawn = np.flatnonzero(trace.calls.function == function).tolist()
    mesh = boxes(trace, drawn)
    one = lit([Shown("o", ["a"], mesh)], {"a": np.array(drawn[:1])}, {"FUNCTION"}, {"a": trace}.get, None)[
        "o"
    ]
    assert len(one.related) == 3
    rest = np.setdiff1d(np.arange(len(drawn)), [*one.related, *one.same])
    assert mesh.size[one.related, 0].min() >= mesh.size[rest, 0].max()


@given(st.lists(st.integers(0, 9), max_size=12), st.lists(st.integers(0, 9), max_size=9))
def test_elements_of_calls(own, calls):
    found = elements_of(np.array(own, np.int64), np.array(calls, np.int64))
    assert found.tolist() == [i for i, call in enumerate(own) if call in calls]


def test_what_is_selected_is_shown_in_all_views_of_its_trace():
    trace = traced(7, 50)
    present = [
        Shown("x", ["a"], boxes(trace, range(5))),
        Shown("y", ["b", "a"], boxes(trace, range(3, 9), source=1)),
        Shown("z", ["b"], boxes(trace, range(9))),
    ]
    found = showing_selected(present, {"a": np.array([0, 4])}, lambda _: trace)
    assert {name: elements.tolist() for name, elements in found.items()} == {"x": [0, 4], "y": [1]}
