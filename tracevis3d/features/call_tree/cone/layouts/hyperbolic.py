"""Trees in hyperbolic space, seen as a ball (H3: Munzner 1997), with its navigation.

Room grows with the distance as fast as trees do. Children stand on a hemisphere around their parent, whose
area is that of their discs; lengths are in units of the curvature's radius. A point is (x, y, z, w) with
``w² - x² - y² - z² = 1``; in the ball of Klein it is drawn at (x, y, z) / w, where straight lines stay
straight. Moving the focus is one Lorentz matrix, which changes no distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....kernels.tree.hyperbolic import count_below, lay_hemispheres, place_nodes
from .bubble import children

Floats = NDArray[np.float64]

#: Maximum hyperbolic cosine of a distance: farther places lie on the ball's rim.
FAR = 1e6


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree in hyperbolic space: the way to each node from its parent.

    Attributes
    ----------
    parent : int64 (n,)
        -1 for the root, which is node 0.
    theta, phi : float64 (n,)
        Direction in the parent's surroundings: around its axis (+z), and away from it; radians.
    distance : float64 (n,)
        From the parent.
    """

    parent: NDArray[np.int64]
    theta: Floats
    phi: Floats
    distance: Floats


def lay(parent: NDArray[np.int64], own: Floats) -> Tree:
    """Lay a tree out, in linear time but for sorting children by size.

    Parameters
    ----------
    parent : int64 (n,)
        Smaller than the node's own number; -1 for the root.
    own : float64 (n,)
        Radius of each node; above 0.

    Returns
    -------
    Tree
    """
    n = len(parent)
    edges, order = children(parent)
    # Large subtrees first: by the nodes in them.
    size = sizes(parent)
    by_size = np.lexsort((order, -size[order], n - 1 - parent[order]))
    order = order[by_size]
    child = (n - 1 - order).astype(np.int32)
    radius, phi, theta = np.empty(n), np.empty(len(order)), np.empty(len(order))
    degree = int(np.diff(edges.first).max(initial=1))
    lay_hemispheres(
        edges.first, child, np.ascontiguousarray(own[::-1], np.float64), radius, phi, theta, np.empty(degree)
    )
    tree = Tree(np.ascontiguousarray(parent, np.int64), np.zeros(n), np.zeros(n), np.zeros(n))
    tree.theta[order], tree.phi[order] = theta, phi
    inner = parent >= 0
    tree.distance[inner] = radius[::-1][parent[inner]]
    return tree


def sizes(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the nodes in each subtree, int64 (n,)."""
    size = np.ones(len(parent), np.int64)
    count_below(np.ascontiguousarray(parent, np.int64), size)
    return size


def frames(tree: Tree, focus: int = 0) -> Floats:
    """Return the matrices from each node's surroundings to those of one of them: float64 (n, 4, 4).

    The focus's own callees lie towards +z. Those of other trees than the focus's are NaN.

    Parameters
    ----------
    tree : Tree
    focus : int
        The node at the centre.

    Returns
    -------
    float64 (n, 4, 4)
    """
    n = len(tree.parent)
    matrix = np.full((n, 16), np.nan)
    place_nodes(
        tree.parent, tree.theta, tree.phi, tree.distance, int(focus), FAR, matrix, np.zeros(n, np.uint8),
        np.empty(16), np.empty(16),
    )  # fmt: skip
    return matrix.reshape(n, 4, 4)


def place(tree: Tree, focus: int = 0) -> Floats:
    """Return where the nodes are, seen from one of them: float64 (n, 4), the focus at (0, 0, 0, 1).

    Parameters
    ----------
    tree : Tree
    focus : int
        The node at the centre.

    Returns
    -------
    float64 (n, 4)
        In the hyperboloid model; NaN in other trees than the focus's.
    """
    return frames(tree, focus)[:, :, 3].copy()


def boost(point: Floats) -> Floats:
    """Return the Lorentz matrix float64 (4, 4) that moves ``point`` (4,) to the centre, straight along.

    Points ``p`` (n, 4) become ``p @ matrix.T``; the distances between them stay.

    Parameters
    ----------
    point : float64 (4,)
        In the hyperboloid model.

    Returns
    -------
    float64 (4, 4)
    """
    x, w = np.asarray(point[:3], np.float64), float(point[3])
    matrix = np.empty((4, 4))
    matrix[:3, :3] = np.eye(3) + np.outer(x, x) / (1.0 + w)
    matrix[:3, 3] = matrix[3, :3] = -x
    matrix[3, 3] = w
    return matrix


def between(start: Floats, end: Floats, share: float) -> Floats:
    """Return the point (4,) at a share (0 to 1) of the straight way from ``start`` (4,) to ``end`` (4,).

    Parameters
    ----------
    start, end : float64 (4,)
        In the hyperboloid model.
    share : float
        0 to 1.

    Returns
    -------
    float64 (4,)
    """
    length = float(distances(start[None], end[None])[0])
    if share >= 1.0 or length < 1e-9:
        return np.asarray(end, np.float64)
    far, near = np.sinh((1.0 - share) * length), np.sinh(share * length)
    return np.asarray((far * start + near * end) / np.sinh(length))


def moved(view: Floats, frame: Floats, share: float) -> Floats:
    """Move what is in the middle straight to another node, and turn as that one sees its surroundings.

    Parameters
    ----------
    view : float64 (4, 4)
        From the surroundings of the node that was in the middle to the picture.
    frame : float64 (4, 4)
        From these to the other node's surroundings, from :func:`frames` with that one for the focus.
    share : float
        0: nothing has moved yet; 1: it is in the middle, and its callees lie towards +z.

    Returns
    -------
    float64 (4, 4)
        From the other node's surroundings to the picture.
    """
    if share >= 1.0:
        return np.eye(4)
    flat = np.diag([1.0, 1.0, 1.0, -1.0])
    now = view @ flat @ frame.T @ flat
    middle = flat @ now.T @ flat @ np.array([0.0, 0.0, 0.0, 1.0])
    back = middle * [-1.0, -1.0, -1.0, 1.0]
    turned = np.eye(4)
    turned[:3, :3] = _part_of_turn((now @ boost(back))[:3, :3], 1.0 - share)
    return np.asarray(turned @ boost(between(middle, np.array([0.0, 0.0, 0.0, 1.0]), share)))


def _part_of_turn(rotation: Floats, share: float) -> Floats:
    """Return the rotation (3, 3) about the same axis by a share of the angle."""
    skew = (rotation - rotation.T) / 2
    axis = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    angle = float(np.arctan2(np.linalg.norm(axis), (np.trace(rotation) - 1) / 2))
    if angle < 1e-12:
        return np.eye(3)
    if np.pi - angle < 1e-6:
        # Half a turn: R + 1 is twice the axis times itself.
        twice = rotation + np.eye(3)
        axis = twice[:, int(np.argmax(np.diag(twice)))]
    axis = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    angle *= share
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def distances(a: Floats, b: Floats) -> Floats:
    """Return the hyperbolic distances between points (n, 4) each, float64 (n,).

    Parameters
    ----------
    a, b : float64 (n, 4)
        In the hyperboloid model.

    Returns
    -------
    float64 (n,)
    """
    product = a[:, 3] * b[:, 3] - (a[:, :3] * b[:, :3]).sum(axis=1)
    return np.asarray(np.arccosh(np.maximum(product, 1.0)))


def ball(points: Floats) -> Floats:
    """Return the points in Klein's ball of radius 1, float64 (n, 3)."""
    return np.asarray(points[:, :3] / points[:, 3:])
