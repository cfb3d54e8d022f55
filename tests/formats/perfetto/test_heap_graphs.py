"""Java's heap graphs in Perfetto traces: against Perfetto's own engine, and dominators against a plain twin.

``heap.pftrace.gz`` is made with the messages of the perfetto package 0.16, in three parts; ``heap.json`` is
what Perfetto's engine (v52) says of it: of each class the objects, bytes, and those that roots reach; and of
each outermost class of its tree of dominators the objects and bytes below.
"""

import gzip
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d.features.comparison.findings.paths import common_paths
from tracevis3d.features.comparison.findings.sampling import weights_of
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.formats import registry
from tracevis3d.kernels.trace.dominators import find_dominators, fold_alike

pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")

HEAP = ROOT / "tests" / "data" / "perfetto" / "heap.pftrace.gz"
GARBAGE = "(reached by no root)"


@pytest.fixture(scope="module")
def trace():
    return registry.open_trace(HEAP)


def sums(trace):
    """Return objects and bytes by (outermost class, class)."""
    found, names, stacks = {}, trace.functions.name, trace.stacks
    for kind, weight, frame in zip(
        trace.samples.kind.tolist(), trace.samples.weight.tolist(), trace.samples.stack.tolist(), strict=True
    ):
        outer = frame
        while stacks.parent[outer] >= 0:
            outer = stacks.parent[outer]
        key = names[stacks.function[outer]], names[stacks.function[frame]]
        found.setdefault(key, [0, 0])[trace.samples.kinds[kind] == "heap (bytes)"] += weight
    return found


def test_classes_and_what_keeps_them_are_those_of_perfetto(trace):
    said = json.loads(HEAP.with_name("heap.json").read_text("utf-8"))
    classes, outermost = {}, {}
    for (outer, inner), (objects, size) in sums(trace).items():
        row = classes.setdefault(inner, [0, 0, 0, 0])
        is_kept = outer != GARBAGE
        for column, value in enumerate((objects, size, objects * is_kept, size * is_kept)):
            row[column] += value
        if is_kept:
            total = outermost.setdefault(outer, [0, 0])
            total[0] += objects
            total[1] += size
    assert classes == said["classes"]
    assert outermost == said["outermost"]
    # Some of each kind of weak reference is there, and some of what only those refer to.
    assert sum(row[2] for row in classes.values()) < sum(row[0] for row in classes.values())


def test_a_call_is_as_long_as_what_it_keeps(trace):
    of_root = Counter()
    for row in np.flatnonzero(trace.calls.parent < 0).tolist():
        function = trace.functions.name[trace.calls.function[row]]
        of_root[function] += int(trace.calls.end[row] - trace.calls.start[row])
    assert of_root == Counter(
        {outer: sum(size for (of, _), (_, size) in sums(trace).items() if of == outer) for outer in of_root}
    )
    assert (trace.threads.process_name, trace.threads.name) == (("com.example.notes",), ("Java's heap",))
    assert trace.origin_ns == 5_000_000_000
    assert trace.problems["no time unit"].count


def test_a_city_of_classes_says_who_keeps_what(trace):
    drawing = tv.city(trace).drawing()
    assert drawing.title == "android.graphics.Bitmap has 85 % of the heap; 3 of 14 classes have 90 %"
    arcs = next(legend for legend in drawing.legends if legend.title == "Arcs")
    assert [entry.text for entry in arcs.entries] == ["from what keeps it", "to what is kept"]
    assert "parts that keep it" in [legend.title.lower() for legend in drawing.legends]
    assert drawing.notes[1] == "area: classes"
    assert tv.icicle(trace).drawing().title == "Bitmap alone has 85 % of heap"


def test_beside_calls_it_is_counted(tmp_path):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb2

    more = pb2.Trace()
    more.packet.add().track_descriptor.CopyFrom(pb2.TrackDescriptor(uuid=2, thread={"pid": 1, "tid": 20}))
    for at, kind in ((10, 1), (20, 2)):
        more.packet.add(timestamp=at).track_event.CopyFrom(pb2.TrackEvent(type=kind, track_uuid=2, name="a"))
    path = tmp_path / "both.pftrace"
    path.write_bytes(more.SerializeToString() + gzip.decompress(HEAP.read_bytes()))
    both = registry.open_trace(path)
    assert len(both.calls) == 1
    assert not len(both.samples)
    assert both.problems["unsupported"].first.startswith("a heap graph beside calls")


def test_nothing_of_a_heap_is_chance_in_comparisons(trace):
    total = sum(size for _, size in sums(trace).values())
    paths = common_paths(compare(trace, trace, cache=False))
    weights = weights_of((trace, trace), paths)
    # Each byte was counted; of a profile of samples, each sample was.
    assert (weights.kind, weights.total) == ("heap (bytes)", (total, total))
    assert weights.own.sum(axis=1).tolist() == [total, total]
    assert weights.rate == (1.0, 1.0)


def test_a_graph_that_is_cut_off_is_counted(tmp_path):
    path = tmp_path / "cut.pftrace"
    data = gzip.decompress(HEAP.read_bytes())
    path.write_bytes(data[: len(data) // 2])
    assert registry.open_trace(path).problems["truncated"].count == 2


def reached(edges, roots, without=None):
    """Return what roots reach, without a node."""
    waiting, seen = [root for root in roots if root != without], set()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += [to for of, to in edges if of == node and to != without]
    return seen


@given(st.data())
def test_a_dominator_is_what_makes_a_node_unreachable(data):
    n = data.draw(st.integers(1, 9))
    node = st.integers(0, n - 1)
    edges = sorted(data.draw(st.lists(st.tuples(node, node), max_size=25)))
    roots = data.draw(st.lists(node, max_size=3))
    target = np.array([to for _, to in edges], np.int64)
    first = np.searchsorted(np.array([of for of, _ in edges], np.int64), np.arange(n + 1)).astype(np.int64)
    number, order, dominator = np.empty((3, n), np.int64)
    work = np.empty(len(edges) + len(roots), np.int64), np.empty((10, n + 2), np.int64)
    count = find_dominators(first, target, np.array(roots, np.int64), *work, number, order, dominator)
    alive = reached(edges, roots)
    assert set(order[:count].tolist()) == alive
    assert [number[one] for one in order[:count].tolist()] == list(range(count))
    over = {of: {one for one in alive if of not in reached(edges, roots, one)} - {of} for of in alive}
    for of in alive:
        # The nearest one is dominated by all others.
        near = [one for one in over[of] if over[one] == over[of] - {one}]
        assert [int(dominator[of])] == (near or [-1])
        assert not near or number[near[0]] < number[of]
    assert all(dominator[one] == number[one] == -1 for one in set(range(n)) - alive)


@given(st.lists(st.tuples(st.integers(-1, 20), st.integers(0, 2)), max_size=20))
def test_nodes_of_a_kind_below_each_other_are_one(rows):
    above = np.array([min(of, i - 1) for i, (of, _) in enumerate(rows)], np.int64)
    kind = np.array([one for _, one in rows], np.int32)
    folded = np.empty(len(rows), np.int64)
    fold_alike(above, kind, folded)
    for i in range(len(rows)):
        top = i
        while above[top] >= 0 and kind[above[top]] == kind[top]:
            top = above[top]
        assert folded[i] == top
