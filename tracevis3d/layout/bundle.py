"""Hierarchical edge bundling in three dimensions.

Edges are routed along a tree (Holten 2006, "Hierarchical Edge Bundles"): the control points on the way from
one end over the common ancestor to the other are drawn towards the straight line by 1 - β, and make a cubic
B-spline with clamped ends. With β = 1 an edge follows the tree, with β = 0 it is straight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.layout.bundle import climb, measure_routes, sample_routes
from .parallel import in_parts

if TYPE_CHECKING:
    from .buffers import Buffers

#: Possible numbers of samples of a route, by how much it turns.
SAMPLES = (32, 48, 64, 96)
#: Radians of turning up to which each of these suffices.
_TURNS = (1.5, 3.5, 7.0)

#: Levels of a tree that routes follow; of a deeper one evenly spaced ones, and the ends.
DEEPEST = 512
#: Minimum number of edges per thread.
_PART = 4096

Ints32 = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Routes:
    """Polylines; those of edge ``i`` are the slice ``[first[i], first[i + 1])`` of ``point``.

    Attributes
    ----------
    point : float32 (m, 3)
    first : int64 (e + 1,)
    """

    point: NDArray[np.float32]
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first) - 1


def levels(parent: Ints32) -> Ints32:
    """Return the level of each node of a forest.

    Parameters
    ----------
    parent : int32 (n,)
        -1 for a root; parents come before their children.

    Returns
    -------
    int32 (n,)
        0 for a root, 1 for its children, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> levels(np.array([-1, 0, 1, 0], np.int32)).tolist()
    [0, 1, 2, 1]
    """
    return _climbed(np.ascontiguousarray(parent, np.int32), 1)[0]


def _climbed(parent: Ints32, apart: int) -> tuple[Ints32, Ints32]:
    level, above = np.empty_like(parent), np.empty_like(parent)
    climb(parent, np.int32(apart), level, above)
    return level, above


def bundle(
    parent: Ints32,
    point: NDArray[np.float32],
    source: Ints32,
    target: Ints32,
    *,
    beta: float = 0.85,
    drop_common: bool = False,
    samples: int = 0,
    steady: NDArray[np.bool_] | None = None,
    buffers: Buffers | None = None,
) -> Routes:
    """Route edges along a tree; in one of more than :data:`DEEPEST` levels along evenly spaced ones.

    Parameters
    ----------
    parent : int32 (n,)
        A forest: -1 for a root; parents come before their children.
    point : float32 (n, 3)
        The control point of each node.
    source, target : int32 (e,)
        Nodes of one tree each.
    beta : float
        0 to 1.
    drop_common : bool
        Leave the common ancestor out of routes of more than three points (Holten 2006, section 4.2.3: that
        takes ambiguity away).
    samples : int
        A multiple of 16, 16 to 256; 0: 32 to 96, the more the more the tree turns on the way.
    steady : bool (e,), optional
        Edges whose routes never turn in x: control points that lie before one on their way, or beyond its
        ends, are moved between both.
    buffers : Buffers
        Room for the points, to be used again: fresh memory costs more than the kernels that fill it.

    Returns
    -------
    Routes
        Each from its source's control point to its target's.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    Two leaves of one root; with ``beta=0`` the edge is straight:

    >>> import numpy as np
    >>> parent = np.array([-1, 0, 0], np.int32)
    >>> point = np.array([[0, 0, 1], [-1, 0, 0], [1, 0, 0]], np.float32)
    >>> one, other = np.array([1], np.int32), np.array([2], np.int32)
    >>> routes = bundle(parent, point, one, other, beta=0.0, samples=16)
    >>> len(routes), routes.point.shape
    (1, (16, 3))
    >>> float(abs(routes.point[:, 2]).max())
    0.0
    >>> float(bundle(parent, point, one, other, beta=1.0, samples=16).point[:, 2].max()) > 0.3
    True
    """
    if not 0 <= beta <= 1:
        raise ValueError(f"beta {beta} is not between 0 and 1")
    if samples % 16 or not 0 <= samples <= 256:
        raise ValueError(f"{samples} samples: a multiple of 16 from 16 to 256 is expected")
    edges = len(source)
    if not edges:
        return Routes(np.empty((0, 3), np.float32), np.zeros(1, np.int64))
    parent = np.ascontiguousarray(parent, np.int32)
    level = levels(parent)
    deepest = int(level.max(initial=0))
    if deepest > DEEPEST:
        # A route that follows each of a million levels looks like one that follows every thousandth.
        apart = -(-deepest // DEEPEST)
        parent, deepest = _climbed(parent, apart)[1], -(-deepest // apart)
    tree = (parent, level, np.ascontiguousarray(point, np.float32))
    ends = (np.ascontiguousarray(source, np.int32), np.ascontiguousarray(target, np.int32))
    shape = (np.float32(beta), np.bool_(drop_common))
    longest = 2 * deepest + 1
    first = np.zeros(edges + 1, np.int64)
    if samples:
        first[1:] = np.arange(1, edges + 1) * samples
        table, stops, place = _tables(longest, (samples,))
    else:
        count, turning = np.empty(edges, np.int32), np.empty(edges, np.float32)
        # Computed as if it followed the tree, so another β only moves a route's points.
        whole = (np.float32(1.0), np.bool_(drop_common))

        def measure(low: int, high: int) -> None:
            some = (ends[0][low:high], ends[1][low:high])
            measure_routes(*tree, *some, *whole, _path(longest), count[low:high], turning[low:high])

        in_parts(measure, edges, _PART)
        np.cumsum(np.array(SAMPLES)[np.searchsorted(_TURNS, turning)], out=first[1:])
        table, stops, place = _tables(int(count.max()), SAMPLES)
    size = (int(first[-1]), 3)
    out: NDArray[Any] = (
        np.empty(size, np.float32) if buffers is None else buffers.take("route", size, np.float32)
    )

    keeps = np.zeros(edges, np.uint8) if steady is None else np.ascontiguousarray(steady, np.uint8)

    def sample(low: int, high: int) -> None:
        some = (ends[0][low:high], ends[1][low:high])
        mine, spare = first[low : high + 1], np.empty(longest + 8, np.float32)
        sample_routes(
            *tree, *some, *shape, _path(longest), keeps[low:high], spare, table, stops, place, mine, out
        )

    in_parts(sample, edges, _PART)
    return Routes(out, first)


def _path(longest: int) -> NDArray[np.float32]:
    """Return the kernels' working space for routes of up to ``longest`` control points."""
    return np.empty((longest + 8, 3), np.float32)


@lru_cache(maxsize=8)
def _tables(longest: int, sizes: tuple[int, ...]) -> tuple[NDArray[np.int64], Ints32, NDArray[np.float32]]:
    """Return what :func:`..kernels.layout.bundle.sample_routes` multiplies control points with.

    Parameters
    ----------
    longest : int
        Most control points of a route.
    sizes : tuple of int
        Numbers of samples.
    """
    table = np.full((longest + 1, 17), -1, np.int64)
    # With its ends tripled a route of n points has n + 1 pieces.
    table[1:, 0] = np.concatenate([[0], np.cumsum(np.arange(2, longest + 1))])
    stops = np.zeros((int(table[longest, 0]) + longest + 1, 17), np.int32)
    places, base = [], 0
    for size in sizes:
        column = size // 16
        for n in range(1, longest + 1):
            at = np.linspace(0.0, n + 1.0, size)
            piece = np.minimum(at.astype(np.int64), n)
            pieces = slice(int(table[n, 0]), int(table[n, 0]) + n + 1)
            stops[pieces, column] = np.cumsum(np.bincount(piece, minlength=n + 1))
            places.append((at - piece).astype(np.float32))
            table[n, column] = base
            base += size
    return table, stops, np.concatenate(places)
