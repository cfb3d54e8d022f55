"""Bubble trees: a planar tree of circles in circles (Grivet, Auber, Domenger, Melançon 2006).

Each node stands in a bubble that holds all below it; children have sectors around their parent, as wide as
their bubbles ask for, and one sector is kept free for the edge to the parent. So nothing overlaps, no edges
cross, and an edge bends at most once, where it enters a bubble. Linear in the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....analysis.subtrees import Edges
from .....kernels.tree.bubble import lay_bubbles, place_bubbles

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bubbles:
    """Where the nodes of a tree and their bubbles are.

    Attributes
    ----------
    node : float64 (n, 2)
    center : float64 (n, 2)
        Of the bubble around the node and all below it.
    radius : float64 (n,)
        Of the bubble.
    bend : float64 (n, 2)
        Where the edge from the parent enters the bubble; at the node for a root.
    """

    node: Floats
    center: Floats
    radius: Floats
    bend: Floats


def children(parent: NDArray[np.int64]) -> tuple[Edges, NDArray[np.int64]]:
    """Return a tree's edges with children before their parents, as layouts from below want them.

    Node ``i`` of the tree is ``n - 1 - i`` there; the second value is, for each edge, the tree's node that
    it leads to. Children keep their order.

    Parameters
    ----------
    parent : int64 (n,)
        Smaller than the node's own number; -1 for a root.

    Returns
    -------
    (Edges, int64 (edges,))
    """
    n = len(parent)
    up = n - 1 - parent
    inner = np.flatnonzero(parent >= 0)
    order = inner[np.lexsort((inner, up[inner]))]
    first = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(up[inner], minlength=n), out=first[1:])
    return Edges(first, (n - 1 - order).astype(np.int32), np.ones(len(order), np.int64)), order


def lay(parent: NDArray[np.int64], own: Floats, *, gap: float = 0.08) -> Bubbles:
    """Lay out a forest; its trees stand side by side.

    Parameters
    ----------
    parent : int64 (n,)
        Smaller than the node's own number; -1 for a root.
    own : float64 (n,)
        Radius of each node; above 0.
    gap : float
        Room around each bubble, as a share of its node's radius.

    Returns
    -------
    Bubbles
    """
    n = len(parent)
    edges, order = children(parent)
    degree = int(np.diff(edges.first).max(initial=1)) + 1
    radius, middle_x, middle_y = np.empty(n), np.empty(n), np.empty(n)
    edge_x, edge_y = np.empty(len(edges)), np.empty(len(edges))
    lay_bubbles(
        edges.first, edges.child, np.ascontiguousarray(own[::-1], np.float64), float(gap),
        radius, middle_x, middle_y, edge_x, edge_y,
        np.empty(degree), np.empty(degree), np.empty(degree), np.empty(3),
    )  # fmt: skip
    radius, middle_x, middle_y = radius[::-1].copy(), middle_x[::-1].copy(), middle_y[::-1].copy()
    offset_x, offset_y = np.zeros(n), np.zeros(n)
    offset_x[order], offset_y[order] = edge_x, edge_y
    x, y = np.zeros(n), np.zeros(n)
    roots = np.flatnonzero(parent < 0)
    along = (1 + gap) * (2 * np.cumsum(radius[roots]) - radius[roots])
    x[roots], y[roots] = along - middle_x[roots], -middle_y[roots]
    turned, center, bend = np.empty(n), np.empty((2, n)), np.empty((2, n))
    place_bubbles(
        np.ascontiguousarray(parent, np.int64), offset_x, offset_y, radius, middle_x, middle_y,
        x, y, turned, center[0], center[1], bend[0], bend[1],
    )  # fmt: skip
    return Bubbles(np.column_stack([x, y]), center.T.copy(), radius, bend.T.copy())
