"""Cone trees: the call hierarchy as rings of callees below their caller (Robertson, Mackinlay, Card 1991).

Radii are exact: a ring is just so large that neither neighbours nor others on it overlap, by the chord
between them, not the arc. What lies below a call depends on its distinct subtree alone, so it is laid out
once per class of the compact trace; only what is shown gets a place in the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....analysis.subtrees import Edges
from .....kernels.tree.cone import choose_nodes, lay_cones

#: If there are more children, they stand on several rings: one ring would be wider than its content.
MOST_ON_A_RING = 64
#: How far around it what stands beside it keeps away from the lines to its callees, by their ring.
SLOPE = 0.1


@dataclass(frozen=True, eq=False)
class Cones:
    """Where the callees of each class stand around it.

    Attributes
    ----------
    radius : float64 (m,)
        Of the disc around the class's node and all below it, with the node's apex at the centre.
    ring : float64 (m,)
        Distance of the farthest callee's centre from the apex: the radius of the cone.
    x, y : float64 (e,)
        Place of each edge's callee, from its caller's.
    """

    radius: NDArray[np.float64]
    ring: NDArray[np.float64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def lay(
    edges: Edges,
    own: NDArray[np.float64],
    flat: NDArray[np.bool_] | None = None,
    *,
    gap: float = 0.15,
    most: int = MOST_ON_A_RING,
) -> Cones:
    """Lay out every class: no disc of a callee overlaps another's, and each holds all below it.

    Callees stand clockwise in the order of the calls; a callee that repeats in a row is one. One that is
    larger than the ring of the others stands in the middle of it. Time is linear in the edges, but for rings
    on which ever smaller callees follow each other.

    Parameters
    ----------
    edges : Edges
        Children before their parents, as :class:`~tracevis3d.analysis.compact.CompactTrace` has them.
    own : float64 (m,)
        Radius of each class's own node; above 0.
    flat : bool (m,), optional
        Classes that take room at their own level alone, such as closed subtrees. Beside siblings with callees
        of their own they stand close to their caller, above or between all that is below those: nothing
        overlaps in space, though seen from above it does. Left out, nothing does from above either.
    gap : float
        Room around each disc, as a share of its node's radius.
    most : int
        More callees than this are laid on several rings, in a spiral from the inside out.

    Returns
    -------
    Cones
    """
    m, degree = len(own), int(np.diff(edges.first).max(initial=1))
    cones = Cones(np.empty(m), np.empty(m), np.empty(len(edges)), np.empty(len(edges)))
    room = degree + 1
    lay_cones(
        edges.first, edges.child, np.ascontiguousarray(own, np.float64),
        np.zeros(m, np.uint8) if flat is None else flat.astype(np.uint8), float(gap), most,
        SLOPE, cones.radius, cones.ring, cones.x, cones.y,
        np.empty(room), np.empty(room), np.empty(room), np.empty(room), np.empty(room), np.empty(room),
        np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(3),
    )  # fmt: skip
    return cones


@dataclass(frozen=True, eq=False)
class Shown:
    """The nodes of a picture, callers before callees.

    Attributes
    ----------
    node : int32 (n,)
        Class of each.
    parent : int64 (n,)
        The shown node that calls it; -1 for a root.
    edge : int64 (n,)
        The edge that leads to it; -1 for a root.
    depth : int32 (n,)
        1 for a root.
    x, y : float64 (n,)
    distance : int32 (n,)
        Steps from the focus, or from the root without one.
    opened : uint8 (n,)
        1 if its callees are shown; 2 if only those on a way to the focus, or to others that have to be
        there, are: a linking parent.
    way : int64 (f,)
        The nodes on the way to the focus, from the root; empty without one.
    """

    node: NDArray[np.int32]
    parent: NDArray[np.int64]
    edge: NDArray[np.int64]
    depth: NDArray[np.int32]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    distance: NDArray[np.int32]
    opened: NDArray[np.uint8]
    way: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.node)


def choose(
    edges: Edges,
    cones: Cones,
    roots: NDArray[np.int32],
    root_x: NDArray[np.float64],
    root_y: NDArray[np.float64],
    interest: NDArray[np.float64],
    *,
    budget: int,
    focus: tuple[int, ...] = (),
    weight: float = 1.0,
    also: Sequence[tuple[int, ...]] = (),
) -> Shown:
    """Choose at most ``budget`` nodes by their degree of interest, with all their callers.

    The ways to the focus and to the calls in ``also`` are there in any case; their nodes are not counted.

    Parameters
    ----------
    edges, cones
        What :func:`lay` was given and returned.
    roots : int32 (r,)
    root_x, root_y : float64 (r,)
        Classes and places of the roots; as many as fit are shown.
    interest : float64 (m,)
        How interesting a class is by itself.
    budget : int
    focus : tuple of int
        Ordinal of the root and of the edges down to the call in focus.
    weight : float
        How much interest a step away from the focus costs.
    also : sequence of tuple of int
        Ways to other calls that are shown, like ``focus``.

    Returns
    -------
    Shown
    """
    count = min(len(roots), budget)
    focus = focus if focus and focus[0] < count else ()
    ways = [way for way in (focus, *also) if way and way[0] < count]
    n = max(budget + sum(map(len, ways)), 1)
    node, parent, edge = np.empty(n, np.int32), np.full(n, -1), np.full(n, -1)
    depth, distance = np.ones(n, np.int32), np.empty(n, np.int32)
    x, y, opened = np.empty(n), np.empty(n), np.zeros(n, np.uint8)
    node[:count], x[:count], y[:count] = roots[:count], root_x[:count], root_y[:count]
    # Another root is as far as if all hung on one node.
    distance[:count] = len(focus) + 1 if focus else 0
    if focus:
        distance[focus[0]] = len(focus) - 1
    given, found = count, {}
    for way in ways:
        above = way[0]
        for ordinal in way[1:]:
            k = int(edges.first[node[above]]) + ordinal
            opened[above] = 2
            if (above, k) not in found:
                found[above, k] = given
                node[given], parent[given], edge[given] = edges.child[k], above, k
                depth[given] = depth[above] + 1
                x[given], y[given] = x[above] + cones.x[k], y[above] + cones.y[k]
                distance[given] = distance[above] + (-1 if way is focus else 1)
                given += 1
            above = found[above, k]
    link, sibling = np.full(n, -1), np.full(n, -1)
    for (above, _), here in sorted(found.items(), reverse=True):
        link[above], sibling[here] = here, link[above]
    shown = choose_nodes(
        edges.first, edges.child, interest, cones.x, cones.y, link, sibling,
        float(weight), np.empty(n), np.empty(n, np.int64),
        node, parent, edge, depth, x, y, distance, opened, given, budget + given - count,
    )  # fmt: skip
    part = slice(0, shown)
    # The nodes of the first way follow each other.
    to_focus = np.append(focus[:1], count + np.arange(len(focus) - 1)) if focus else np.empty(0)
    chosen = Shown(
        node[part], parent[part], edge[part], depth[part], x[part], y[part], distance[part], opened[part],
        to_focus.astype(np.int64),
    )  # fmt: skip
    return _in_order(chosen) if ways else chosen


def levels(depth: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """Return the nodes of each depth, from the roots down."""
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def _in_order(nodes: Shown) -> Shown:
    """Return the same nodes by depth, those of one caller in the order of its calls."""
    n = len(nodes)
    new, order, done = np.empty(n, np.int64), np.empty(n, np.int64), 0
    by_depth = np.argsort(nodes.depth, kind="stable")
    for here in np.split(by_depth, np.flatnonzero(np.diff(nodes.depth[by_depth])) + 1):
        if done:
            here = here[np.lexsort((nodes.edge[here], new[nodes.parent[here]]))]
        order[done : done + len(here)] = here
        new[here] = np.arange(done, done + len(here))
        done += len(here)
    parent = nodes.parent[order]
    parent[parent >= 0] = new[parent[parent >= 0]]
    return Shown(
        nodes.node[order], parent, nodes.edge[order], nodes.depth[order], nodes.x[order], nodes.y[order],
        nodes.distance[order], nodes.opened[order], new[nodes.way],
    )  # fmt: skip
