"""How similar many traces are: against plain twins written from the definitions."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.plain_match import gamma, similarities, stack, traces, union_share
from tests.support.walked_traces import walked_trace
from tracevis3d.errors import UsageError
from tracevis3d.features.comparison.matching import many_traces
from tracevis3d.features.comparison.matching.identity import identify
from tracevis3d.trace.model import Trace


def plain_self_time(trace: Trace, call: int) -> int:
    calls = trace.calls
    below = [c for c in range(len(trace)) if calls.parent[c] == call]
    return int(calls.end[call] - calls.start[call]) - sum(int(calls.end[c] - calls.start[c]) for c in below)


def plain_pair(a: Trace, b: Trace, tau: float, measure: str = "jaccard"):
    """Return best, time and functions of a in b, call by call."""
    identity = identify(a, b, "exact")
    s = similarities(a, b, identity, measure)
    best = [
        float(max((s[u, v] for v in range(len(b)) if float(s[u, v]) > tau), default=0)) for u in range(len(a))
    ]
    weight = [plain_self_time(a, u) for u in range(len(a))]
    if not sum(weight):
        weight = [1] * len(a)
    mean = float(np.average(best, weights=weight)) if len(a) else 0.0
    time = union_share(a, [c for u in range(len(a)) if best[u] > 0 for c in stack(a, u)])
    called = [
        frozenset().union(*(gamma(t, c, ids) for c in range(len(t))))
        for t, ids in ((a, identity.a), (b, identity.b))
    ]
    either = called[0] | called[1]
    return mean, time, len(called[0] & called[1]) / len(either) if either else 0.0


@given(traces(), traces(), traces(), st.sampled_from([0.0, 0.25, 0.5, 0.75]))
@example(Trace(), Trace(), Trace(), 0.5)
@settings(max_examples=60, deadline=None)
def test_each_cell_is_the_plain_definitions(a, b, c, tau):
    three = (a, b, c)
    found = many_traces.similarities(three, tau=tau, identity="exact", cache=False)
    for i in range(3):
        assert found.best[i, i] == found.time[i, i] == found.functions[i, i] == 1
        for j in range(3):
            if i != j:
                best, time, functions = plain_pair(three[i], three[j], tau)
                assert found.best[i, j] == pytest.approx(best)
                assert found.time[i, j] == pytest.approx(time)
                assert found.functions[i, j] == pytest.approx(functions)
    np.testing.assert_array_equal(found.functions, found.functions.T)


@given(traces(most=8), traces(most=8), st.sampled_from(["multiset", "order"]))
@settings(max_examples=30, deadline=None)
def test_other_measures_go_by_their_similarity(a, b, measure):
    found = many_traces.similarities((a, b), measure=measure, identity="exact", cache=False)
    assert found.best[0, 1] == pytest.approx(plain_pair(a, b, 0.3, measure)[0])


@given(st.integers(2, 6), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_no_order_has_more_similar_neighbours(n, seed):
    rng = np.random.default_rng(seed)
    similar = np.round(rng.random((n, n)), 2)
    similar = (similar + similar.T) / 2

    def total(order):
        return sum(similar[i, j] for i, j in pairwise(order))

    order = many_traces.best_order(similar)
    assert sorted(order.tolist()) == list(range(n))
    assert order[0] < order[-1]
    assert total(order) == pytest.approx(max(map(total, permutations(range(n)))))


def test_the_order_of_up_to_twelve_is_the_best():
    def least(n):
        """Return similarities for which an order that turned stretches lead to is not the best."""
        for seed in range(100):
            similar = np.random.default_rng(seed).random((n, n))
            similar = (similar + similar.T) / 2
            totals = [
                sum(similar[i, j] for i, j in pairwise(order(similar).tolist()))
                for order in (many_traces._best_path, many_traces._turned)
            ]
            if totals[1] < totals[0] - 1e-9:
                return similar, totals
        raise AssertionError

    for n, which in ((12, 0), (13, 1)):
        similar, totals = least(n)
        order = many_traces.best_order(similar).tolist()
        assert sum(similar[i, j] for i, j in pairwise(order)) == pytest.approx(totals[which], abs=1e-12)


def test_many_traces_are_ordered_by_turning_stretches_around():
    rng = np.random.default_rng(3)
    place = rng.permutation(20)
    similar = 1.0 - np.abs(place[:, None] - place[None]) / 20
    order = many_traces.best_order(similar)
    # Traces along a line come back as that line.
    along = place[order]
    assert (np.abs(np.diff(along)) == 1).all()


@given(st.integers(13, 17), st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_no_stretch_that_is_turned_around_makes_neighbours_more_similar(n, seed):
    rng = np.random.default_rng(seed)
    similar = rng.random((n, n))
    similar = (similar + similar.T) / 2

    def total(order):
        return sum(similar[i, j] for i, j in pairwise(order))

    order = many_traces.best_order(similar).tolist()
    assert sorted(order) == list(range(n))
    assert order[0] < order[-1]
    for i in range(n):
        for j in range(i + 2, n + 1):
            turned = order[:i] + order[i:j][::-1] + order[j:]
            assert total(turned) <= total(order) + 1e-9


def test_traces_have_letters_then_numbers():
    assert [many_traces.letter_of(k) for k in (0, 1, 24, 25, 26, 27)] == ["A", "B", "Y", "Z", "27", "28"]


def test_of_many_that_are_equally_similar_the_first_is_the_next():
    assert many_traces.best_order(np.ones((13, 13))).tolist() == list(range(13))


def test_clusters_are_at_least_so_similar():
    for similarity, expected in ((0.5, [(0, 1)]), (0.49, [(0,), (1,)])):
        similar = np.array([[1, similarity], [similarity, 1]])
        assert many_traces.clusters(similar) == expected
        assert many_traces.clusters(similar, similarity) == [(0, 1)]


@given(st.integers(2, 7), st.integers(0, 10_000), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_clusters_are_joined_by_their_mean_similarity(n, seed, cut):
    rng = np.random.default_rng(seed)
    similar = rng.random((n, n))
    similar = (similar + similar.T) / 2
    groups = [[i] for i in range(n)]
    while len(groups) > 1:
        mean, x, y = max(
            (np.mean([similar[i, j] for i in x for j in y]), x, y)
            for x in groups
            for y in groups
            if x is not y
        )
        if mean < cut:
            break
        groups = [g for g in groups if g not in (x, y)] + [sorted(x + y)]
    assert [list(c) for c in many_traces.clusters(similar, cut)] == sorted(groups)
    merges = many_traces.merges(similar)
    assert len(merges) == n - 1
    assert sorted(merges[-1].left + merges[-1].right) == list(range(n))


def test_a_pair_is_computed_once_in_whichever_order(monkeypatch):
    given_traces = [walked_trace(seed, threads=1, steps=60) for seed in (1, 2, 3)]
    named = [replace(t, source=replace(t.source, hash=f"{i}" * 64)) for i, t in enumerate(given_traces)]
    first = many_traces.similarities(named)

    def fail(_comparison, _progress):
        raise AssertionError("computed again")

    monkeypatch.setattr(many_traces, "mean_best", fail)
    again = many_traces.similarities(named[::-1])
    for one, other in (
        (first.best, again.best),
        (first.time, again.time),
        (first.functions, again.functions),
    ):
        np.testing.assert_array_equal(one, other[::-1, ::-1])
    with pytest.raises(AssertionError, match="computed again"):
        many_traces.similarities(named, tau=0.5)
    # Of what has no hash nothing is kept.
    unknown = replace(named[0], source=replace(named[0].source, hash=""))
    monkeypatch.undo()
    many_traces.similarities([unknown, named[1]])
    monkeypatch.setattr(many_traces, "mean_best", fail)
    with pytest.raises(AssertionError, match="computed again"):
        many_traces.similarities([unknown, named[1]])


def test_the_facts_are_those_of_the_similarities():
    three = [walked_trace(seed, threads=1, steps=60) for seed in (1, 2, 1)]
    found = many_traces.similarities(three, identity="exact", cache=False)
    assert len(found) == 3
    facts = many_traces.facts(three, found, "time")
    assert [trace["calls"] for trace in facts["traces"]] == [len(t) for t in three]
    assert facts["time"] == found.time.tolist()
    assert (facts["cells"], facts["cut"]) == ("time", 0.5)
    similar = found.mutual("time")
    assert facts["order"] == many_traces.best_order(similar).tolist()
    assert facts["clusters"] == [list(c) for c in many_traces.clusters(similar, 0.5)]
    assert [m["similarity"] for m in facts["merges"]] == [m.similarity for m in many_traces.merges(similar)]
    assert facts["identity"] == [{"a": a, "b": b, "kind": "exact"} for a, b in ((0, 1), (0, 2), (1, 2))]


def test_what_is_off_is_reported_in_a_sentence():
    trace = walked_trace(1, threads=1, steps=20)
    with pytest.raises(UsageError, match="give two or more"):
        many_traces.similarities([trace])
    with pytest.raises(UsageError, match="no similarity 'x' of traces: choose one of best, time, functions"):
        many_traces.similarities([trace, trace], cache=False).cells("x")


def test_a_trace_is_like_itself_and_unlike_another_program():
    trace = walked_trace(4, threads=1, steps=100)
    other = walked_trace(4, threads=1, steps=100, modules=0, functions=3)
    found = many_traces.similarities([trace, trace, other], identity="exact", cache=False)
    assert found.best[0, 1] == found.best[1, 0] == found.functions[0, 1] == 1.0
    assert found.best[0, 2] == found.time[0, 2] == found.functions[0, 2] == 0.0
    assert found.mutual("best")[0].tolist() == [1, 1, 0]
    assert many_traces.clusters(found.mutual("best")) == [(0, 1), (2,)]
