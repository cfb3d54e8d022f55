"""Cone trees against VTK's cone layout and Tulip's, on the same trees, with the overlaps counted.

Tulip's own algorithm needs the ``tulip-python`` package; its rows are left out where it is absent. Both peers
crash on a chain 100,000 deep, so that row is against reading the chain's columns once.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from benchmarks.measure import recorded
from tests.support import synthetic
from tracevis3d.analysis.compact import CompactTrace, Edges, compact
from tracevis3d.analysis.subtrees import distinct_subtrees
from tracevis3d.features.call_tree.cone.layouts import cone
from tracevis3d.trace.model import Calls, Threads

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds, overlaps in per cent of the nodes."""
    result: list[dict[str, Any]] = []
    cone.lay(*tree_edges(random_parents(100, 1)))
    for n, copied in ((10_000, 0.0), (1_000_000, 0.0), (100_000, 0.8), (1_000_000, 0.8)):
        parent = random_parents(n, 7, copied)
        fan = int(np.bincount(parent[1:]).max())
        edges, own = tree_edges(parent)
        cones, ours = best(3, lambda e=edges, o=own: cone.lay(e, o, gap=0.0))
        place = places(parent, edges, cones)
        assert overlapping(*place, np.ones(n), parent) == 0.0
        xy, peer = best(1, lambda p=parent: vtk_cone(p))
        share = overlapping(*xy, np.ones(n), parent)
        result.append(
            row(f"{n:,} nodes, up to {fan:,} children (VTK overlaps {share:.0%}, ours 0%)", ours, peer, "VTK")
        )
        if importlib.util.find_spec("tulip"):
            _, peer = best(1, lambda p=parent: tulip_cone(p))
            result.append(row(f"{n:,} nodes, up to {fan:,} children, none overlapping", ours, peer, "Tulip"))
    for name in ("vt_pylint_0.9M.json.gz", "weka_OneR_iris_0.4M.tsv.gz"):
        for title, calls in recorded(name):
            graph = graph_of(calls)
            _, ours = best(5, lambda g=graph: cone.lay(g.edges, np.ones(len(g)), gap=0.0))
            _, subtrees = best(3, lambda c=calls: distinct_subtrees(c))
            _, peer = best(1, lambda c=calls: vtk_cone(np.asarray(c.parent)))
            result.append(
                row(f"{title}: {len(calls):,} calls, subtrees and layout", ours + subtrees, peer, "VTK")
            )
    calls = synthetic.chain(1_000_000)
    graph = graph_of(calls)
    _, ours = best(3, lambda: cone.lay(graph.edges, np.ones(len(graph))))
    _, peer = best(3, lambda: (calls.function.sum(), calls.extent.sum()))
    result.append(row("chain 1,000,000 deep (VTK and Tulip crash)", ours, peer, "summing two columns"))
    return result


def random_parents(n: int, seed: int, copied: float = 0.0) -> Ints:
    """Return a tree whose nodes hang on any earlier one, in pre-order: the parent of each node, -1 first.

    With the probability ``copied`` a node hangs on the parent of that one instead, so a few get very many.
    """
    rng = np.random.default_rng(seed)
    parent = np.append(-1, (rng.random(n - 1) * np.arange(1, n)).astype(np.int64))
    copies = rng.random(n) < copied
    for i in np.flatnonzero(copies[2:]).tolist():
        parent[i + 2] = max(parent[parent[i + 2]], 0)
    order = np.argsort(parent, kind="stable")
    first = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(parent[1:], minlength=n), out=first[1:])
    children = order[1:]
    out, new, stack = np.empty(n, np.int64), np.empty(n, np.int64), [0]
    count = 0
    while stack:
        v = stack.pop()
        new[v] = count
        out[count] = new[parent[v]] if v else -1
        count += 1
        stack += children[first[v] : first[v + 1]][::-1].tolist()
    return out


def tree_edges(parent: Ints) -> tuple[Edges, Floats]:
    """Return a tree as edges, children numbered before their parents, each node of radius 1."""
    n = len(parent)
    up = n - 1 - parent[1:]
    order = np.argsort(up, kind="stable")
    first = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(up, minlength=n), out=first[1:])
    child = (n - 1 - np.arange(1, n))[order].astype(np.int32)
    return Edges(first, child, np.ones(n - 1, np.int64)), np.ones(n)


def places(parent: Ints, edges: Edges, cones: cone.Cones) -> tuple[Floats, Floats]:
    """Return where each node of a tree stands."""
    n = len(parent)
    dx, dy = np.zeros(n), np.zeros(n)
    at = n - 1 - edges.child
    dx[at], dy[at] = cones.x, cones.y
    depth = np.zeros(n, np.int64)
    for v in range(1, n):
        depth[v] = depth[parent[v]] + 1
    for level in range(1, int(depth.max()) + 1):
        on = np.flatnonzero(depth == level)
        dx[on] += dx[parent[on]]
        dy[on] += dy[parent[on]]
    return dx, dy


def overlapping(x: Floats, y: Floats, radius: Floats, parent: Ints) -> float:
    """Return the share of leaves whose disc of ``radius`` overlaps another leaf's."""
    leaf = np.ones(len(parent), np.bool_)
    leaf[parent[1:]] = False
    points = np.column_stack([x, y])[leaf]
    nearest = cKDTree(points).query(points, 2)[0][:, 1]
    return float(np.mean(nearest < 2 * radius[leaf] * (1 - 1e-6)))


def graph_of(calls: Calls) -> CompactTrace:
    """Return the compact trace; the threads are identified by where they begin."""
    thread = np.asarray(calls.thread)
    count = np.bincount(thread)
    return compact(calls, Threads(tid=tuple(range(len(count))), first=np.cumsum(count) - count, count=count))


def vtk_cone(parent: Ints) -> tuple[Floats, Floats]:
    """Lay out a tree with vtkConeLayoutStrategy; several roots hang on one more node."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import vtkMutableDirectedGraph, vtkTree
    from vtkmodules.vtkInfovisLayout import vtkConeLayoutStrategy, vtkGraphLayout

    graph = vtkMutableDirectedGraph()
    several = int(np.count_nonzero(parent < 0)) > 1
    if several:
        graph.AddVertex()
    for above in parent.tolist():
        if above < 0:
            graph.AddChild(0) if several else graph.AddVertex()
        else:
            graph.AddChild(above + several)
    tree = vtkTree()
    assert tree.CheckedShallowCopy(graph)
    layout, strategy = vtkGraphLayout(), vtkConeLayoutStrategy()
    strategy.SetSpacing(1.0)
    layout.SetInputData(tree)
    layout.SetLayoutStrategy(strategy)
    started = time.perf_counter()
    layout.Update()
    vtk_cone.seconds = time.perf_counter() - started  # type: ignore[attr-defined]
    points = vtk_to_numpy(layout.GetOutput().GetPoints().GetData())[int(several) :]
    # Its leaves have radius spacing / 2, ours 1.
    return points[:, 0].astype(float) * 2, points[:, 1].astype(float) * 2


def tulip_cone(parent: Ints) -> None:
    """Lay out a tree with Tulip's cone tree, each node of diameter 2."""
    from tulip import tlp

    graph = tlp.newGraph()
    nodes = graph.addNodes(len(parent))
    graph.addEdges([(nodes[p], nodes[i]) for i, p in enumerate(parent.tolist()) if p >= 0])
    sizes = graph.getSizeProperty("viewSize")
    sizes.setAllNodeValue(tlp.Size(2, 2, 2))
    layout = graph.getLayoutProperty("viewLayout")
    options = tlp.getDefaultPluginParameters("Cone Tree", graph)
    started = time.perf_counter()
    done, why = graph.applyLayoutAlgorithm("Cone Tree", layout, options)[:2], ""
    tulip_cone.seconds = time.perf_counter() - started  # type: ignore[attr-defined]
    assert done, why


def best(runs: int, work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what ``work`` returns, and its shortest time in milliseconds; a peer reports its own."""
    least, result = float("inf"), None
    for _ in range(runs):
        for peer in (vtk_cone, tulip_cone):
            peer.seconds = 0.0  # type: ignore[attr-defined]
        started = time.perf_counter()
        result = work()
        taken = vtk_cone.seconds or tulip_cone.seconds or time.perf_counter() - started  # type: ignore[attr-defined]
        least = min(least, taken)
    return result, least * 1000


def row(name: str, ours: float, peer: float, peer_name: str) -> dict[str, Any]:
    """Return a row of the results."""
    return {
        "name": f"cone tree, {name}",
        "ours": ours,
        "peer": peer,
        "peer_name": peer_name,
        "unit": "ms",
        "ratio": peer / ours,
    }
