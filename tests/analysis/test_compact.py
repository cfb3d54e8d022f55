"""The compact trace against plain twins: edges, criteria, and the way back."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.support import synthetic
from tracevis3d.analysis.compact import CompactTrace, compact
from tracevis3d.analysis.criteria import CRITERIA, alike
from tracevis3d.errors import UsageError
from tracevis3d.trace.model import Calls, Threads

SHAPES = (st.integers(0, 2**32), st.integers(0, 150), st.integers(1, 3))


def graph_of(calls: Calls) -> CompactTrace:
    threads = int(calls.thread.max(initial=-1)) + 1
    count = np.bincount(calls.thread, minlength=threads)
    return compact(calls, Threads(tid=tuple(range(threads)), first=np.cumsum(count) - count, count=count))


def children(calls: Calls, i: int) -> list[int]:
    return [j for j in range(i + 1, i + int(calls.extent[i])) if calls.parent[j] == i]


def plain_key(calls: Calls, i: int, criterion: str, depth: int):
    """What a subtree is by a criterion, straight from its sentence."""
    function = int(calls.function[i])
    below = children(calls, i)
    if criterion == "functions":
        return function, frozenset(calls.function[i : i + int(calls.extent[i])].tolist())
    if criterion == "depth":
        return function, tuple(plain_key(calls, j, "depth", depth - 1) for j in below) if depth > 1 else ()
    keys = [plain_key(calls, j, criterion, 0) for j in below]
    if criterion == "collapsed":
        return function, tuple(key for key, _ in groupby(keys))
    if criterion == "unordered":
        return function, tuple(sorted(keys))
    if criterion == "set-of-children":
        return function, frozenset(keys)
    return function, tuple(keys)


@given(*SHAPES)
@settings(deadline=None, max_examples=100)
def test_edges_are_runs_of_equal_children(seed: int, n: int, functions: int) -> None:
    calls = synthetic.random_calls(seed, n, functions=functions, threads=2)
    graph = graph_of(calls)
    of_call = graph.subtrees.of_call
    for i in range(n):
        c = of_call[i]
        runs = [(k, len(list(g))) for k, g in groupby(of_call[j] for j in children(calls, i))]
        part = slice(graph.edges.first[c], graph.edges.first[c + 1])
        pairs = zip(graph.edges.child[part], graph.edges.count[part], strict=True)
        assert list(pairs) == runs
    for c in range(len(graph)):
        up = graph.parents.child[graph.parents.first[c] : graph.parents.first[c + 1]]
        assert up.tolist() == graph.edges.source[graph.edges.child == c].tolist()


@given(*SHAPES)
@settings(deadline=None, max_examples=100)
def test_the_trace_comes_back(seed: int, n: int, functions: int) -> None:
    calls = synthetic.random_calls(seed, n, functions=functions, threads=3)
    graph = graph_of(calls)
    base = 0
    for t in range(len(graph.root_first) - 1):
        back = graph.expand(t)
        part = slice(base, base + len(back))
        for name in ("function", "depth", "extent"):
            assert np.array_equal(getattr(back, name), getattr(calls, name)[part]), name
        parent = np.asarray(calls.parent[part])
        assert np.array_equal(back.parent, np.where(parent < 0, -1, parent - base))
        # Its made-up times nest, and count enter and exit events.
        events = np.concatenate([back.start, back.end])
        assert sorted(events.tolist()) == list(range(2 * len(back)))
        inner = back.parent >= 0
        assert (back.start[back.parent[inner]] < back.start[inner]).all()
        assert (back.end[back.parent[inner]] > back.end[inner]).all()
        base += len(back)
    assert base == n


@given(*SHAPES, st.sampled_from(sorted(CRITERIA)), st.integers(1, 4), st.sampled_from((None, 0, 0x3)))
@settings(deadline=None, max_examples=300)
def test_kinds_are_those_of_the_definition(seed, n, functions, criterion, depth, mask) -> None:
    calls = synthetic.random_calls(seed, n, functions=functions, threads=2)
    graph = graph_of(calls)
    options = {} if mask is None else {"hash_mask": mask}
    kinds = alike(graph, criterion, depth, **options)
    of_call = kinds.of_class[graph.subtrees.of_call].tolist()
    by_key: dict = {}
    for i in range(n):
        by_key.setdefault(plain_key(calls, i, criterion, depth), set()).add(of_call[i])
    assert all(len(found) == 1 for found in by_key.values())
    assert len(by_key) == len(kinds)
    assert kinds.of_class[kinds.representative].tolist() == list(range(len(kinds)))


def test_a_chain_and_a_fan_of_a_million_calls() -> None:
    for calls in (synthetic.chain(1_000_000), synthetic.flat(1_000_000)):
        graph = graph_of(calls)
        assert np.array_equal(graph.expand(0).function, calls.function)
        for criterion in CRITERIA:
            assert len(alike(graph, criterion)) <= len(graph)


def test_what_is_no_criterion_is_refused() -> None:
    graph = graph_of(synthetic.chain(3))
    with pytest.raises(UsageError, match="no criterion 'similar'"):
        alike(graph, "similar")
    with pytest.raises(UsageError, match="compares nothing"):
        alike(graph, "depth", 0)


def test_a_recorded_run_comes_back_bit_by_bit(recorded) -> None:
    """The graph and, beside it, the times: with both every column is as it was. Threads share the graph."""
    trace = tv.load(recorded / "weka_parallel_9t.tsv.gz")
    calls, threads = trace.calls, trace.threads
    graph = compact(calls, threads)
    parts = []
    for t in range(len(threads)):
        base = int(threads.first[t])
        back = graph.expand(t)
        part = slice(base, base + len(back))
        parts.append(
            {
                "function": back.function,
                "parent": np.where(back.parent < 0, -1, back.parent + base),
                "depth": back.depth,
                "extent": back.extent,
                "start": calls.start[part],
                "end": calls.end[part],
                "thread": np.full(len(back), t, np.int32),
            }
        )
    for name in parts[0]:
        column = np.concatenate([part[name] for part in parts])
        assert column.dtype == getattr(calls, name).dtype
        assert column.tobytes() == np.ascontiguousarray(getattr(calls, name)).tobytes(), name
    of_thread = [set(graph.subtrees.of_call[calls.thread == t].tolist()) for t in range(len(threads))]
    assert sum(map(len, of_thread)) > 2 * len(graph), "most subtrees occur in several threads"
