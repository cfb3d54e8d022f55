"""Closed cones opened in the room that they have: nothing else moves, and nothing overlaps.

The room of a closed cone is the upright cylinder that it stands in. Its callees stand on a ring in it, by
the chord condition of :mod:`.cone`, each with a room of its own that holds all below it. So a place depends
on the way to it alone, and only what is opened depends on the camera.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from .....analysis.subtrees import Edges
from . import cone

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Radius of a cone, relative to its disc, so that neighbours don't touch.
SHARE = 0.92
#: Maximum height of a closed cone, in radii of its disc.
STEEP = 1.3
#: Maximum room of a callee, relative to its caller's: a single one would get all of it.
_LARGEST = 0.85
#: Minimum and maximum share of the callees' level in the height below the caller's ball.
_LEVEL = (0.22, 0.68)
#: Maximum radius of a ball, relative to the level above, to its room's radius, and to its cone's height.
_OF_LEVEL, _OF_ROOM, _OF_HEIGHT = 0.3, 0.5, 0.3
#: Minimum radius of a ball, relative to its room's.
_OF_DISC = 0.14
#: Maximum share of a caller's ball in its cone's height, so that there is room for callees.
_BALL = 0.7
#: Smaller rooms are not opened: coordinates have seven digits.
_SMALLEST = 2e-5


@dataclass(frozen=True, eq=False)
class Rooms:
    """Nodes with the rooms that they stand at the top of.

    Attributes
    ----------
    node : int32 (n,)
        Class of each.
    parent : int64 (n,)
        The room that it stands in; -1: none of these.
    edge : int64 (n,)
        The edge that leads to it; -1: it is none of a room's callees.
    depth, distance : int32 (n,)
        1 for a root; steps from the focus.
    call : int64 (n,)
        The first call that it represents.
    x, y, down : float64 (n,)
        Of the node: across, and how far down.
    disc : float64 (n,)
        Radius of the disc that is its own.
    height : float64 (n,)
        Of the closed cone below it; 0 where nothing is below it, and in a plan.
    ball : float64 (n,)
        Radius of the node.
    """

    node: NDArray[np.int32]
    parent: Ints
    edge: Ints
    depth: NDArray[np.int32]
    distance: NDArray[np.int32]
    call: Ints
    x: Floats
    y: Floats
    down: Floats
    disc: Floats
    height: Floats
    ball: Floats

    def __len__(self) -> int:
        return len(self.node)

    def taken(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> Rooms:
        """Return some of them; their parents stay numbered as they were."""
        return Rooms(*(getattr(self, f.name)[which] for f in fields(self)))

    def __add__(self, other: Rooms) -> Rooms:
        return Rooms(*(np.concatenate([getattr(r, f.name) for r in (self, other)]) for f in fields(self)))


@dataclass(frozen=True, eq=False)
class Ground:
    """The input of the layout of rooms.

    Attributes
    ----------
    edges : Edges
    before : int64 (e,)
        Calls below each edge's source that come before it.
    own : float64 (m,)
        Radius of each class's node.
    closed : float64 (m,)
        Radius of its disc while it is closed.
    most : int
        If there are more callees than this, they stand on several rings.
    flat : bool
        A plan: nothing has a height.
    """

    edges: Edges
    before: Ints
    own: Floats
    closed: Floats
    most: int
    flat: bool

    def degree(self, node: NDArray[np.int32]) -> Ints:
        """Return how many callees some classes have, int64 (k,)."""
        return np.asarray(self.edges.first[node + 1] - self.edges.first[node])


@dataclass(frozen=True, eq=False)
class Opened:
    """The opened subtrees, and the nodes that appeared in them.

    Attributes
    ----------
    rooms : Rooms
        The closed ones that were given, then their callees and so on, callers before callees.
    open : bool (n,)
    level : float64 (n,)
        How far below an open one's node its callees stand.
    """

    rooms: Rooms
    open: NDArray[np.bool_]
    level: Floats


def inside(ground: Ground, rooms: Rooms, which: Ints) -> tuple[Rooms, Floats]:
    """Return the callees of some rooms in their places, and how far below their nodes they stand (k,).

    Callees stand clockwise from +x in the order of the calls, all on one level. Each has a disc within its
    caller's cone that no other's overlaps, and a height that ends where the caller's does, or before.

    Parameters
    ----------
    ground : Ground
    rooms : Rooms
    which : int64 (k,)
        Those that have callees.

    Returns
    -------
    (Rooms, float64 (k,))
    """
    edges = ground.edges
    classes, of = np.unique(rooms.node[which], return_inverse=True)
    low, count = edges.first[classes], ground.degree(classes)
    begin = np.concatenate([[0], np.cumsum(count)])
    edge = np.arange(begin[-1]) + np.repeat(low - begin[:-1], count)
    n, child = len(edge), edges.child[edge]
    # Each class is laid out once: its callees as nodes without more, itself without a size of its own.
    first = np.concatenate([np.zeros(n, np.int64), begin])
    size = np.append(ground.closed[child], np.full(len(classes), 1e-9))
    laid = cone.lay(Edges(first, np.arange(n, dtype=np.int32), np.ones(n, np.int64)), size, most=ground.most)
    around = np.repeat(laid.radius[n:], count)
    share = np.minimum(ground.closed[child] / around, _LARGEST)
    ball = ground.own[child] / around
    leads = ground.degree(child) > 0
    fullest = np.maximum.reduceat(np.where(leads, SHARE * share, 0.0), begin[:-1])
    level = np.clip(1.0 - fullest, *_LEVEL)

    owner = np.repeat(which, count[of])
    start = np.concatenate([[0], np.cumsum(count[of])])[:-1]
    at = np.arange(len(owner)) - np.repeat(start, count[of]) + np.repeat(begin[of], count[of])
    wide = SHARE * rooms.disc[owner]
    left = rooms.height[which] - rooms.ball[which]
    drop = np.zeros(len(which)) if ground.flat else rooms.ball[which] + level[of] * left
    step, rest = (np.repeat(part * left, count[of]) for part in (level[of], 1.0 - level[of]))
    disc = share[at] * wide
    radius = np.minimum(np.maximum(ball[at] * wide, _OF_DISC * disc), _OF_ROOM * disc)
    height = np.zeros(len(at))
    if not ground.flat:
        height = np.where(leads[at], np.minimum(STEEP * disc, rest), 0.0)
        radius = np.minimum(radius, _OF_LEVEL * step)
        radius = np.where(leads[at], np.minimum(radius, _OF_HEIGHT * height), radius)
    callees = Rooms(
        child[at], owner, edge[at], rooms.depth[owner] + np.int32(1), rooms.distance[owner] + np.int32(1),
        rooms.call[owner] + 1 + ground.before[edge[at]],
        rooms.x[owner] + laid.x[at] / around[at] * wide, rooms.y[owner] + laid.y[at] / around[at] * wide,
        rooms.down[owner] + np.repeat(drop, count[of]), disc, height, radius,
    )  # fmt: skip
    return callees, drop


def openable(ground: Ground, rooms: Rooms) -> NDArray[np.bool_]:
    """Return which rooms have callees, and room for them, bool (n,).

    Parameters
    ----------
    ground : Ground
    rooms : Rooms
        Closed cones.

    Returns
    -------
    bool (n,)
    """
    leads = ground.degree(rooms.node) > 0
    roomy = ground.flat | (rooms.ball <= _BALL * rooms.height)
    return np.asarray(leads & roomy & (rooms.disc > _SMALLEST))


def open_near(
    ground: Ground,
    closed: Rooms,
    size: Callable[[Rooms], Floats],
    interest: Floats,
    *,
    least: float,
    budget: int,
    kept: Ints,
    step: float,
    most: int,
    hold: float = 0.6,
) -> Opened:
    """Open the rooms that look large, the largest first, as far as the budget of callees allows.

    None comes before the one that it is in; one with more callees than are left stays closed. Time follows
    what is opened.

    Parameters
    ----------
    ground : Ground
    closed : Rooms
        The closed cones there are.
    size : callable
        ``size(rooms)``: in pixels; 0 for what is out of view.
    interest : float64 (m + threads,)
        Added to the binary logarithm of the size, for the order: of each class.
    least : float
        Pixels from which on a room is opened.
    budget : int
        The most nodes that appear.
    kept : int64 (k,)
        Ascending: calls of rooms that are open by now. They stay open down to ``hold`` of ``least``.
    step : float
        Taken off for each step from the focus.
    most : int
        Of more callees than these the most worth appear alone; the others keep their places.
    hold : float

    Returns
    -------
    Opened
    """
    rooms, level = closed, np.zeros(len(closed))

    def needs(some: Rooms) -> Ints:
        return np.minimum(ground.degree(some.node), most)

    def judged(some: Rooms, callers: Floats) -> Floats:
        """Return by what each is opened: the more, the sooner; -inf: not at all."""
        pixels = size(some)
        if len(kept):
            at = np.minimum(np.searchsorted(kept, some.call), len(kept) - 1)
            pixels = np.where(kept[at] == some.call, pixels / hold, pixels)
        fits = (pixels >= least) & openable(ground, some) & (needs(some) <= budget)
        key = np.log2(np.maximum(pixels, 1e-9)) + interest[some.node] - step * some.distance
        return np.asarray(np.where(fits, np.minimum(key, callers), -np.inf))

    key = judged(rooms, np.full(len(rooms), np.inf))
    there = np.zeros(len(rooms), np.bool_)
    while True:
        chosen = _chosen(key, rooms.parent, needs(rooms), budget)
        new = chosen[~there[chosen]]
        if not len(new):
            break
        callees, drop = inside(ground, rooms, np.sort(new))
        level[np.sort(new)], there[new] = drop, True
        callees = callees.taken(_most_interesting(callees, interest, most))
        key = np.append(key, judged(callees, key[callees.parent]))
        rooms, n = rooms + callees, len(callees)
        level, there = np.append(level, np.zeros(n)), np.append(there, np.zeros(n, np.bool_))
    opened = np.zeros(len(rooms), np.bool_)
    opened[chosen] = True
    # Nodes that were examined before the budget was used up.
    stays = (rooms.parent < 0) | opened[np.maximum(rooms.parent, 0)]
    number = np.cumsum(stays) - 1
    found = rooms.taken(stays)
    parent = np.where(found.parent < 0, -1, number[np.maximum(found.parent, 0)])
    found = Rooms(*(parent if f.name == "parent" else getattr(found, f.name) for f in fields(found)))
    return Opened(found, opened[stays], level[stays])


def _most_interesting(callees: Rooms, interest: Floats, most: int) -> Ints:
    """Return the callees that appear: this many of each caller, those that come first among equals."""
    order = np.lexsort((-interest[callees.node], callees.parent))
    first = np.flatnonzero(np.diff(callees.parent[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    return np.sort(order[rank < most])


def _chosen(key: Floats, parent: Ints, degree: Ints, budget: int) -> Ints:
    """Return the rooms that fit into the budget, in the order of their keys; none without its caller's."""
    order = np.argsort(-key, kind="stable")[: np.count_nonzero(key > -np.inf)]
    taken, left = np.zeros(len(key), np.bool_), budget
    # These are few: each is wide in the picture.
    for i, above, need in zip(order.tolist(), parent[order].tolist(), degree[order].tolist()):
        if need <= left and (above < 0 or taken[above]):
            taken[i] = True
            left -= need
    return np.asarray(order[taken[order]])


def way(ground: Ground, closed: Rooms, start: int, ordinals: tuple[int, ...]) -> Rooms:
    """Return the room ``start``, and those on a way down from it, as far as they can be opened.

    Parameters
    ----------
    ground : Ground
    closed : Rooms
    start : int
    ordinals : tuple of int
        Which edge of each class leads on.

    Returns
    -------
    Rooms
        ``start`` first.
    """
    found = last = closed.taken(np.array([start]))
    for ordinal in ordinals:
        if not openable(ground, last)[0]:
            break
        callees, _ = inside(ground, last, np.zeros(1, np.int64))
        last = callees.taken(np.array([ordinal]))
        found = found + last
    return found
