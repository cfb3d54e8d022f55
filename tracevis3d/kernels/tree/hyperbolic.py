"""Trees in hyperbolic space, of curvature -1 (Munzner 1997): hemispheres of children, Lorentz matrices."""

from __future__ import annotations

import math
from typing import Any

from ..jit import inline, kernel

_TURN = 2.0 * math.pi
_QUARTER = 0.5 * math.pi
#: Bisection steps for a hemisphere's radius.
_NARROWINGS = 10


@inline
def _pack(r: Any, k: Any, at: Any, distance: Any, phi: Any, theta: Any) -> Any:
    """Put discs of radius ``r`` on a hemisphere in bands from the pole outwards; return where they end.

    ``phi`` is the angle from the pole, ``theta`` that around it. More than a quarter turn doesn't fit.
    """
    room = math.sinh(distance)
    edge = 0.0
    i = 0
    if k > 0:
        # The first, largest one lies on the pole.
        phi[at], theta[at] = 0.0, 0.0
        edge = math.atan(math.tanh(r[0]) / room)
        i = 1
    while i < k:
        wide = math.tanh(r[i])
        n = 1
        while True:
            half = math.atan(wide / room)
            middle = edge + half
            if middle >= _QUARTER:
                return middle + half
            turn = 2.0 * math.atan(wide / (room * math.sin(middle)))
            most = min(max(int(_TURN / turn), 1), k - i)
            widest = wide
            for j in range(i, i + most):
                widest = max(widest, math.tanh(r[j]))
            n = most
            if widest <= wide:
                break
            wide = widest
        for j in range(n):
            phi[at + i + j] = middle
            theta[at + i + j] = _TURN * j / n
        edge = middle + half
        i += n
    return edge


@kernel
def lay_hemispheres(first: Any, child: Any, own: Any, radius: Any, phi: Any, theta: Any, r: Any) -> None:
    """Lay the children of each node on a hemisphere around it, children before parents.

    The hemisphere's area is that of the children's discs, and then as much more as their bands ask for.

    Parameters
    ----------
    first : int64 (n + 1,)
    child : int32 (e,)
        The children of node ``c`` are ``child[first[c]:first[c + 1]]``, each below ``c``, large ones first.
    own : float64 (n,)
        Radius of the node itself, above 0.
    radius : float64 (n,)
        Filled: of the hemisphere that the children stand on; a leaf's own.
    phi, theta : float64 (e,)
        Filled: direction of each child: angle from the axis, and around it.
    r : float64 (degree,)
        Working space, for the largest degree.
    """
    for c in range(len(first) - 1):
        at = first[c]
        k = first[c + 1] - at
        radius[c] = own[c]
        if k == 0:
            continue
        area = 0.0
        widest = 0.0
        for i in range(k):
            r[i] = radius[child[at + i]]
            area += math.cosh(r[i]) - 1.0
            widest = max(widest, own[child[at + i]])
        # Area of a hemisphere: 2 pi sinh^2; of a disc: 2 pi (cosh - 1). A child doesn't touch its parent.
        low = max(math.asinh(math.sqrt(area)), 1.5 * (own[c] + widest))
        distance = low
        if _pack(r, k, at, low, phi, theta) > _QUARTER:
            high = low * 1.3
            while _pack(r, k, at, high, phi, theta) > _QUARTER:
                low = high
                high *= 1.3
            for _ in range(_NARROWINGS):
                middle = 0.5 * (low + high)
                if _pack(r, k, at, middle, phi, theta) > _QUARTER:
                    low = middle
                else:
                    high = middle
            distance = high
            _pack(r, k, at, distance, phi, theta)
        radius[c] = distance


@inline
def _step(theta: Any, phi: Any, distance: Any, m: Any) -> None:
    """Fill ``m`` with the way from a node to its child: turn about z, about y, go ``distance`` along z."""
    ct, st, cp, sp = math.cos(theta), math.sin(theta), math.cos(phi), math.sin(phi)
    ch, sh = math.cosh(distance), math.sinh(distance)
    m[0], m[1], m[2], m[3] = ct * cp, -st, ct * sp * ch, ct * sp * sh
    m[4], m[5], m[6], m[7] = st * cp, ct, st * sp * ch, st * sp * sh
    m[8], m[9], m[10], m[11] = -sp, 0.0, cp * ch, cp * sh
    m[12], m[13], m[14], m[15] = 0.0, 0.0, sh, ch


@inline
def _back(m: Any, t: Any) -> None:
    """Fill ``t`` with the inverse of a Lorentz matrix: transposed, with the signs of time and space apart."""
    for i in range(4):
        for j in range(4):
            sign = -1.0 if (i == 3) != (j == 3) else 1.0
            t[4 * i + j] = sign * m[4 * j + i]


@inline
def _times(a: Any, row: Any, b: Any, out: Any, to: Any) -> None:
    """``out[to] = a[row] b`` for 4 x 4 matrices."""
    for i in range(4):
        for j in range(4):
            total = 0.0
            for k in range(4):
                total += a[row, 4 * i + k] * b[4 * k + j]
            out[to, 4 * i + j] = total


@kernel
def place_nodes(
    parent: Any, theta: Any, phi: Any, distance: Any, focus: int, far: float, matrix: Any, known: Any,
    m: Any, t: Any,
) -> None:  # fmt: skip
    """Fill the matrix that takes each node's surroundings to where they are seen from the focus.

    It begins at the focus and goes up to the root, then down everywhere: what is near the focus is exact
    however deep that lies. What is farther than ``far`` stays with its neighbour on the way there.

    Parameters
    ----------
    parent : int64 (n,)
        Smaller than the node's own number; -1 for a root.
    theta, phi, distance : float64 (n,)
        The way to each node from its parent.
    focus : int
    far : float
        Maximum hyperbolic cosine of a distance.
    matrix : float64 (n, 16)
        Filled.
    known : uint8 (n,)
        0 at first.
    m, t : float64 (16,)
        Working space.
    """
    for i in range(4):
        for j in range(4):
            matrix[focus, 4 * i + j] = 1.0 if i == j else 0.0
    known[focus] = 1
    node = focus
    while parent[node] >= 0:
        p = parent[node]
        if matrix[node, 15] > far:
            for i in range(16):
                matrix[p, i] = matrix[node, i]
        else:
            _step(theta[node], phi[node], distance[node], m)
            _back(m, t)
            _times(matrix, node, t, matrix, p)
        known[p] = 1
        node = p
    for i in range(len(parent)):
        p = parent[i]
        if known[i] == 1 or p < 0 or known[p] == 0:
            continue
        if matrix[p, 15] > far:
            for j in range(16):
                matrix[i, j] = matrix[p, j]
        else:
            _step(theta[i], phi[i], distance[i], m)
            _times(matrix, p, m, matrix, i)
        known[i] = 1


@kernel
def count_below(parent: Any, size: Any) -> None:
    """Add the size of each node to its parent's.

    Parameters
    ----------
    parent : int64 (n,)
        Parents stand before their children; -1: none.
    size : int64 (n,)
        Changed in place.
    """
    for i in range(len(parent) - 1, -1, -1):
        if parent[i] >= 0:
            size[parent[i]] += size[i]
