"""Elements, their hierarchy, who calls whom in a window, and the order that keeps ways short."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tracevis3d.features.interactions.hierarchy import build, element_hierarchy, reordered
from tracevis3d.features.interactions.interactions import interactions, rarest
from tracevis3d.features.interactions.sector_order import shortest_ways

PATHS = [("a", "x"), ("a", "y"), ("b", "c", "z"), ("b", "c", "w"), ("a", "x"), ("d",), ("b", "c")]


def check_tree(h):
    """A parent comes before its children, subtrees are slices, and leaves are numbered in order."""
    n = len(h)
    assert h.parent[0] == -1
    assert all(h.parent[i] < i for i in range(1, n))
    for i in range(n):
        inside = range(i, i + int(h.extent[i]))
        assert all(h.parent[j] in inside for j in inside if j != i)
    leaves = [i for i in range(n) if not (h.parent == i).any() and i]
    assert h.node.tolist() == leaves
    assert h.element[h.node].tolist() == list(range(len(leaves)))
    first, stop = h.first_element()
    for i in range(n):
        below = [e for e in h.element[i : i + int(h.extent[i])].tolist() if e >= 0]
        assert below == list(range(int(first[i]), int(stop[i])))


def test_things_at_one_path_are_one_element_and_lone_containers_join():
    h, of = build(PATHS, np.ones(len(PATHS)))
    check_tree(h)
    assert of[0] == of[4]
    assert h.elements == 6
    # b holds nothing but c, which holds z, w and is an element itself.
    assert "b.c" in h.name
    assert [h.path[h.node[of[i]]] for i in (2, 6)] == [("b", "c", "z"), ("b", "c", "")]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(tuple), min_size=1, max_size=30),
    st.integers(1, 12),
)
def test_any_paths_make_a_tree(paths, most):
    h, of = build(paths, np.arange(len(paths)), most=most)
    check_tree(h)
    assert (of >= 0).all()
    assert int(h.merged.sum()) == len(set(paths))
    if len(set(paths)) > most:
        inner = len({p[:k] for p in paths for k in range(len(p))})
        assert h.elements <= max(most * 3 // 4, 1) + inner


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_reordering_keeps_every_path(random):
    h, _ = build(PATHS, np.ones(len(PATHS)))
    again, new = reordered(h, [random.random() for _ in range(len(h))])
    check_tree(again)
    for e in range(h.elements):
        assert again.path[again.node[new[e]]] == h.path[h.node[e]]


def plain_counts(trace, elements, low_ns, high_ns):
    """Count calls between elements one by one."""
    found = {}
    calls = trace.calls
    of = elements.of_call(np.arange(len(calls)))
    for i in range(len(calls)):
        if calls.parent[i] >= 0 and low_ns <= calls.start[i] <= high_ns:
            key = (int(of[calls.parent[i]]), int(of[i]))
            found[key] = found.get(key, 0) + 1
    return found


@pytest.mark.parametrize("by", ["packages", "threads", "folders"])
@pytest.mark.parametrize("level", ["function", "class", "module"])
def test_counts_of_any_window_are_those_of_the_plain_twin(by, level):
    trace = tv.load("examples/sync_pillow_8w.json.gz")
    elements = element_hierarchy(trace, level, by)
    check_tree(elements.hierarchy)
    found = interactions(trace, elements)
    assert len(found) + found.roots == len(trace)
    assert np.all(np.diff(found.time) >= 0)
    for low_share, high_share in ((0, 1), (0.31, 0.33), (0.2, 0.9)):
        window = int(trace.span_ns * low_share), int(trace.span_ns * high_share)
        counts = found.counts(*found.range(*window))
        mine = {
            (int(found.caller[p]), int(found.callee[p])): int(counts[p])
            for p in np.flatnonzero(counts).tolist()
        }
        assert mine == plain_counts(trace, elements, *window)


def test_an_automatic_level_gives_a_readable_number():
    trace = tv.load("examples/weka_parallel_9t.tsv.gz")
    h = element_hierarchy(trace).hierarchy
    assert (h.level, h.elements) == ("class", 36)
    assert element_hierarchy(trace, "function").hierarchy.elements > 200
    assert element_hierarchy(trace, "function", most=50).hierarchy.elements <= 60


def test_the_order_makes_ways_shorter_and_says_by_how_much():
    rng = np.random.default_rng(3)
    h, _ = build([(f"p{i % 7}", f"c{i}") for i in range(60)], np.ones(60))
    # Chains between packages that lie apart in the given order.
    caller = rng.integers(0, 60, 300).astype(np.int32)
    callee = ((caller + 29) % 60).astype(np.int32)
    count = rng.integers(1, 50, 300)
    order = shortest_ways(h, caller, callee, count)
    check_tree(order.hierarchy)
    assert order.after < 0.75 * order.before

    def mean_way(a, b):
        d = np.abs(a.astype(int) - b)
        return float((np.minimum(d, 60 - d) * np.sqrt(count)).sum() / np.sqrt(count).sum() / 30)

    assert mean_way(caller, callee) == pytest.approx(order.before)
    assert mean_way(order.new_of_old[caller], order.new_of_old[callee]) == pytest.approx(order.after)
    for e in range(60):
        assert order.hierarchy.path[order.hierarchy.node[order.new_of_old[e]]] == h.path[h.node[e]]


def test_nothing_to_order():
    h, _ = build([("a",), ("b",)], np.ones(2))
    none = np.empty(0, np.int32)
    assert shortest_ways(h, none, none, none).after == 0


def test_a_lone_interaction_is_found_and_placed():
    trace = tv.load("examples/weka_parallel_9t.tsv.gz")
    elements = element_hierarchy(trace)
    found = interactions(trace, elements)
    rare = rarest(found, 0, len(found), 5)
    assert rare
    counts = np.bincount(found.pair)
    for one in rare:
        assert counts[one.pair] == one.count <= 3
        assert found.pair[one.first] == one.pair
        assert not (found.pair[: one.first] == one.pair).any()
    assert [r.count for r in rare] == sorted(r.count for r in rare)


def test_a_trace_without_callers_has_no_interactions():
    trace = tv.load("examples/weka_parallel_9t.tsv.gz")
    calls = trace.calls
    roots = np.flatnonzero(calls.parent < 0)
    bare = replace(
        trace,
        calls=type(calls)(
            calls.function[roots], np.full(len(roots), -1), np.ones(len(roots), np.int32), calls.start[roots],
            calls.end[roots], np.ones(len(roots), np.int64), calls.thread[roots],
        ),
    )  # fmt: skip
    found = interactions(bare, element_hierarchy(bare))
    assert len(found) == found.pairs == 0
    assert found.counts(0, 0).tolist() == []
