"""The control trees that matches between two icicles are bundled along (TraceDiff, section IV-B).

Both icicles lie in one plane, the roots outermost: x is time, and v the place across, from B's roots
(negative) to A's. The hierarchy is mirrored into the band around the middle, so that the control point of a
caller lies nearer to the middle than those of what it calls, and routes join on their way there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .....kernels.layout.bundle import attach_leaves, clamp_upwards, ways_up

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Place of calls: x and v of the middle of their boxes, and whether they are wide enough for a key node.
Place = Callable[[Ints], tuple[Floats, Floats, NDArray[np.bool_]]]
Bundling = Literal["modified", "heb"]

#: Where the control point of a group's root lies: this share of the way from the middle to the band's edge.
_WAIST = 0.3


@dataclass(frozen=True, eq=False)
class Side:
    """The calls of one trace that a group's matches need.

    Attributes
    ----------
    group : int64 (n,)
    call : int64 (n,)
        Sorted by group, then call: in pre-order.
    parent : int32 (n,)
        -1 for the root of a group.
    matched, key : bool (n,)
    x, v : float64 (n,)
        x of a key node is clamped.
    home : int32 (n,)
        The key node that the node hangs on; itself for a key node.
    """

    group: Ints
    call: Ints
    parent: NDArray[np.int32]
    matched: NDArray[np.bool_]
    key: NDArray[np.bool_]
    x: Floats
    v: Floats
    home: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.call)

    def find(self, group: Ints, call: Ints) -> Ints:
        """Return the node of each call in its group.

        Parameters
        ----------
        group : int64 (n,)
            Groups.
        call : int64 (n,)
            A call in each of them.

        Returns
        -------
        int64 (n,)
        """
        most = int(self.call.max(initial=0)) + 1
        return np.searchsorted(self.group * most + self.call, group * most + call)


@dataclass(frozen=True, eq=False)
class ControlTree:
    """One tree for each group: its middle, the key nodes of both sides, and a leaf at each matched call.

    Attributes
    ----------
    parent : int32 (n,)
    point : float32 (n, 3)
        x, v, and 0.
    source, target : int32 (matches,)
        The leaves of each match.
    sides : (Side, Side)
    """

    parent: NDArray[np.int32]
    point: NDArray[np.float32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    sides: tuple[Side, Side]


def control_tree(
    callers: tuple[Ints, Ints],
    places: tuple[Place, Place],
    group: Ints,
    ends: tuple[Ints, Ints],
    roots: tuple[Ints, Ints],
    band: float,
    bundling: Bundling = "modified",
) -> ControlTree:
    """Build the control trees of groups of matches.

    Parameters
    ----------
    callers : int64 (calls of A,), (calls of B,)
        ``Calls.parent`` of both traces.
    places : callable
        One for each trace. v is positive for A, negative for B.
    group : int64 (m,)
        Group of each match.
    ends : int64 (m,)
        Calls of A and of B.
    roots : int64 (groups,)
        Each group's root calls; the ends lie in their call stacks.
    band : float
        Thickness of the band B around v = 0.
    bundling : {"modified", "heb"}
        ``heb`` is Holten's original: every node is a control point, at its own x.

    Returns
    -------
    ControlTree
    """
    half = band / 2
    sides = tuple(_side(callers[s], places[s], group, ends[s], roots[s], half, bundling) for s in (0, 1))
    groups = len(roots[0])
    keys = [np.flatnonzero(side.key) for side in sides]
    leaves = [np.flatnonzero(side.matched) for side in sides]
    parents: list[NDArray[np.int64]] = [np.full(groups, -1, np.int64)]
    points = [np.zeros((groups, 3))]
    number: list[NDArray[np.int64]] = []
    base = groups
    middle: list[Floats] = []
    for s, side in enumerate(sides):
        chosen = keys[s]
        place = np.full(len(side), -1, np.int64)
        place[chosen] = base + np.arange(len(chosen))
        # All callers of a key node are key nodes.
        above = side.parent[chosen]
        parents.append(np.where(above >= 0, place[above], side.group[chosen]))
        root = side.find(np.arange(groups, dtype=np.int64), roots[s])
        reach = np.maximum(np.abs(side.v[root]) - half, 1e-9)
        rise = (np.abs(side.v[chosen]) - half) / reach[side.group[chosen]]
        rise[above < 0] = 1.0
        point = np.zeros((len(chosen), 3))
        point[:, 0] = side.x[chosen]
        point[:, 1] = (1 - 2 * s) * half * (1.0 - (1.0 - _WAIST) * rise)
        points.append(point)
        middle.append(side.x[root])
        number.append(place)
        base += len(chosen)
    points[0][:, 0] = (middle[0] + middle[1]) / 2
    nodes: list[NDArray[np.int64]] = []
    for s, side in enumerate(sides):
        leaf = np.full(len(side), -1, np.int64)
        leaf[leaves[s]] = base + np.arange(len(leaves[s]))
        parents.append(number[s][side.home[leaves[s]]])
        x, v, _ = places[s](side.call[leaves[s]])
        points.append(np.stack([x, v, np.zeros(len(x))], axis=1))
        nodes.append(leaf[side.find(group, ends[s])])
        base += len(leaves[s])
    return ControlTree(
        np.concatenate(parents).astype(np.int32),
        np.concatenate(points).astype(np.float32),
        nodes[0].astype(np.int32),
        nodes[1].astype(np.int32),
        (sides[0], sides[1]),
    )


def _side(
    caller: Ints, place: Place, group: Ints, end: Ints, root: Ints, half: float, bundling: Bundling
) -> Side:
    most = len(caller) or 1
    ends = np.unique(group * most + end)
    code = _with_callers(caller, ends, root, most)
    groups, calls = code // most, code % most
    above = caller[calls]
    is_root = calls == root[groups]
    parent = np.where(is_root, -1, np.searchsorted(code, groups * most + above)).astype(np.int32)
    matched = np.isin(code, ends, assume_unique=True)
    x, v, wide = place(calls)
    x = np.array(x, np.float64)
    key = np.ones(len(code), np.bool_)
    home = np.arange(len(code), dtype=np.int32)
    if bundling == "modified":
        # Callers are at least as wide, and farther out; a root is one in any case, so that there is a tree.
        key = (wide & (np.abs(v) > half)) | is_root
        _close(key, parent)
        flags = key.view(np.uint8), matched.view(np.uint8)
        clamp_upwards(parent, flags[1], flags[0], x, np.full(len(code), np.inf), np.full(len(code), -np.inf))
        attach_leaves(
            parent, flags[0], x, np.ascontiguousarray(v, np.float64), np.ones(len(code), np.int32), home
        )
    return Side(groups, calls, parent, matched, key, x, np.asarray(v, np.float64), home)


def _with_callers(caller: Ints, ends: Ints, root: Ints, most: int) -> Ints:
    """Return the sorted codes (group and call) of ``ends`` and of their callers up to the groups' roots."""
    tops = np.arange(len(root), dtype=np.int64) * most + root
    from_ = np.union1d(ends, tops)
    found = np.empty(0, np.int64)
    for _ in range(2):
        seen = np.full(len(caller), -1, np.int64)
        many = ways_up(caller.astype(np.int64), from_ // most, from_ % most, root, seen, found)
        found = found if len(found) else np.empty(many, np.int64)
    return np.sort(found)


def _close(key: NDArray[np.bool_], parent: NDArray[np.int32]) -> None:
    """Make no node a key node whose caller is not one: rounding may have led to this."""
    while True:
        wrong = key & (parent >= 0) & ~key[np.maximum(parent, 0)]
        if not wrong.any():
            return
        key[wrong] = False
