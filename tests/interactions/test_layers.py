"""Layers: the order in which neighbours call each other, and the calls that go against it."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.interactions.test_view import EXAMPLES, drawn, of
from tracevis3d.features.interactions.hierarchy import build, element_hierarchy
from tracevis3d.features.interactions.interactions import interactions
from tracevis3d.features.interactions.layers import layers

PATHS = [("ui", "window"), ("ui", "button"), ("core", "model"), ("core", "store"), ("log",)]


def found(calls):
    h, _ = build(PATHS, np.ones(len(PATHS)))
    caller, callee, counts = (np.array(column) for column in zip(*calls, strict=True))
    return h, *layers(h, caller.astype(np.int32), callee.astype(np.int32), counts.astype(np.int64))


def test_calls_between_containers_go_the_way_of_the_containers():
    calls = [(0, 2, 50), (1, 3, 10), (3, 0, 4), (0, 1, 9), (1, 0, 2), (2, 4, 7), (0, 0, 99), (3, 2, 5)]
    h, layer, against = found(calls)
    names = dict(zip(h.name, layer.tolist(), strict=True))
    assert names["ui"] < names["core"] < names["log"]
    assert names["window"] < names["button"]
    assert names["store"] < names["model"]
    # store -> window goes up from core to ui, button -> window up within ui; window itself is no layer apart.
    assert against.tolist() == [False, False, True, False, True, False, False, False]


def test_two_that_call_each_other_equally_often_are_neither_above():
    _, _, against = found([(0, 1, 3), (1, 0, 3)])
    assert not against.any()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9)), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_less_than_half_of_the_calls_go_against_the_layers(calls):
    h, _ = build([(f"e{i}",) for i in range(5)], np.ones(5))
    pairs = {}
    for a, b, n in calls:
        pairs[a, b] = pairs.get((a, b), 0) + n
    ends = np.array(list(pairs), np.int32)
    counts = np.array(list(pairs.values()), np.int64)
    _, against = layers(h, ends[:, 0], ends[:, 1], counts)
    apart = ends[:, 0] != ends[:, 1]
    assert counts[against].sum() <= counts[apart].sum() / 2
    # Where some order has no call against it, that is found.
    if any(
        all(order.index(a) < order.index(b) for a, b in pairs if a != b) for order in permutations(range(5))
    ):
        assert not against.any()


def test_the_picture_shows_calls_against_the_layers():
    trace = tv.load(EXAMPLES / "weka_parallel_9t.tsv.gz")
    for order in ("short", "layers"):
        drawing = drawn(trace, color="layers", order=order, calls=100_000, own=False)
        tubes = of(drawing, "interaction")
        up, down = drawing.legends[0].entries[1], drawing.legends[0].entries[0]
        rgb = drawing.palette[:, :3]
        is_up = (rgb[tubes.color] == rgb[up.color]).all(axis=1)
        assert ((rgb[tubes.color] == rgb[down.color]).all(axis=1) | is_up).all()
        count = drawing.meaning["interaction"].values[0][1]
        assert up.text == f"against the layers: {int(count[is_up].sum()):,} calls"
        assert 0 < is_up.sum() < 0.5 * len(is_up)


def test_flows_go_from_thread_to_thread():
    trace = tv.load(EXAMPLES / "chromium_docs_page.json.gz")
    elements = element_hierarchy(trace, "auto", "threads")
    flows = interactions(trace, elements, "flows")
    whole = (trace.flows.source >= 0) & (trace.flows.target >= 0)
    assert len(flows) == int(whole.sum()) > 1000
    assert flows.roots == len(trace.flows) - len(flows)
    assert (np.diff(flows.time) >= 0).all()
    order = np.flatnonzero(whole)[np.argsort(trace.flows.start[whole], kind="stable")]
    assert (flows.call == trace.flows.target[order]).all()
    assert (flows.caller[flows.pair] == elements.of_call(trace.flows.source[order])).all()
    h = elements.hierarchy
    container = h.parent[h.node]
    between = container[flows.caller[flows.pair]] != container[flows.callee[flows.pair]]
    assert between.mean() > 0.2
    drawing = tv.interactions(trace, relation="flows", hierarchy="threads").drawing()
    assert "flows between" in drawing.notes[0]
    assert drawing.counts["calls"] == len(flows)
    assert drawing.legends[0].title == "Colour along each flow"
    # A trace without flows has a drum without chords, and says so.
    none = drawn(tv.load(EXAMPLES / "weka_parallel_9t.tsv.gz"), relation="flows")
    assert none.counts["calls"] == 0
    assert none.title.startswith("0 flows between")
