"""Layers: the order in which parts call each other, and the calls against it.

Neighbours in the hierarchy are put in an order such that few calls go upwards: the greedy heuristic of Eades,
Lin and Smyth (1993) for the feedback arc set, weighted by the number of calls. A call between two elements
goes the way of the two neighbours in which they lie.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .hierarchy import Hierarchy

Int32s = NDArray[np.int32]
Ints = NDArray[np.int64]


def layers(
    hierarchy: Hierarchy, caller: Int32s, callee: Int32s, counts: Ints
) -> tuple[Int32s, NDArray[np.bool_]]:
    """Return the layer of each node among its neighbours, and which pairs call against the layers.

    Parameters
    ----------
    hierarchy : Hierarchy
    caller, callee : int32 (pairs,)
        Elements.
    counts : int64 (pairs,)
        How often each pair calls.

    Returns
    -------
    int32 (nodes,)
        0 for the uppermost one of its neighbours, which calls the others.
    bool (pairs,)
        Pairs whose callee is in a layer above the caller's; not where two call each other equally often.
    """
    parent, depth = hierarchy.parent, hierarchy.depth()
    a = hierarchy.node[caller].astype(np.int64)
    b = hierarchy.node[callee].astype(np.int64)
    # The two neighbours on the ways from both elements to the root.
    while True:
        deeper_a = depth[a] > depth[b]
        deeper_b = depth[b] > depth[a]
        apart = (depth[a] == depth[b]) & (a != b) & (parent[a] != parent[b])
        if not (deeper_a | deeper_b | apart).any():
            break
        a, b = np.where(deeper_a | apart, parent[a], a), np.where(deeper_b | apart, parent[b], b)
    layer = np.zeros(len(hierarchy), np.int32)
    even = np.zeros(len(caller), np.bool_)
    between = a != b
    above = parent[a]
    for node in np.unique(above[between]).tolist():
        mine = between & (above == node)
        group = np.unique(np.concatenate([a[mine], b[mine]]))
        weight = np.zeros((len(group), len(group)))
        i, j = np.searchsorted(group, a[mine]), np.searchsorted(group, b[mine])
        np.add.at(weight, (i, j), counts[mine])
        order = _order(weight)
        layer[group[order]] = np.arange(len(group), dtype=np.int32)
        even[mine] = weight[i, j] == weight[j, i]
    return layer, np.asarray(between & ~even & (layer[a] > layer[b]) & (counts > 0))


def _order(weight: NDArray[np.float64]) -> Ints:
    """Return an order of the n things of ``weight`` (n, n) in which little of it goes backwards."""
    n = len(weight)
    net = weight - weight.T
    balance = net.sum(axis=1)
    free = np.ones(n, np.bool_)
    gives, takes = (np.maximum(side, 0).sum(axis=1) for side in (net, -net))
    begin: list[int] = []
    end: list[int] = []
    for _ in range(n):
        left = np.flatnonzero(free)
        sinks, sources = left[gives[left] == 0], left[takes[left] == 0]
        if len(sinks):
            pick = int(sinks[-1])
            end.append(pick)
        else:
            pick = int(sources[0]) if len(sources) else int(left[np.argmax(balance[left])])
            begin.append(pick)
        free[pick] = False
        balance = balance + net[pick]  # what it calls loses a caller
        gives = gives - np.maximum(net[:, pick], 0)
        takes = takes - np.maximum(net[pick], 0)
    return np.array([*begin, *end[::-1]], np.int64)
