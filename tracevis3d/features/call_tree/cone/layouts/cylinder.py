"""Long lists of callees on cylinders: rows of a ring, below each other.

The cylinder is about as high as it is wide, so a list of ``n`` callees takes a ring of about the square root
of them, where several rings in a plane are wider than all else (Dachselt and Ebert, Collapsible cylindrical
trees, InfoVis 2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import bubble, cone

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


#: What is so many times larger than the median of a list stands beside its cylinder.
_LARGE = 3.0


@dataclass(frozen=True, eq=False)
class Columns:
    """Where nodes stand on the cylinders of their callers.

    Attributes
    ----------
    on : bool (n,)
        Nodes that stand on one.
    row : int64 (n,)
        0 for the uppermost row, and for nodes on none.
    head : int64 (n,)
        The uppermost node of its column; nodes on none are their own.
    drop : float64 (n,)
        How far below the uppermost row it stands.
    room : float64 (n,)
        The height of its row; 0 for nodes on none.
    high : float64 (n,)
        The height of all rows of the cylinder that it stands on; 0 for nodes on none.
    """

    on: NDArray[np.bool_]
    row: Ints
    head: Ints
    drop: Floats
    room: Floats
    high: Floats


def columns(
    parent: Ints, low: NDArray[np.bool_], size: Floats, ball: Floats, reach: Floats, most: int
) -> Columns:
    """Return the cylinders of a tree: of callers with more callees below which nothing is than ``most``.

    They stand on it clockwise in the order of the calls, row by row; those that are far larger than the
    others don't.

    Parameters
    ----------
    parent : int64 (n,)
        -1 for a root. Nodes of one caller are in the order of its calls.
    low : bool (n,)
        Nodes below which none is shown.
    size : float64 (n,)
        Radius of each, with the room of what it closes.
    ball, reach : float64 (n,)
        Radius of each alone, which is how far up it reaches, and how far down.
    most : int
        As many stand on a ring.

    Returns
    -------
    Columns
    """
    n = len(parent)
    found = Columns(
        np.zeros(n, np.bool_), np.zeros(n, np.int64), np.arange(n), np.zeros(n), np.zeros(n), np.zeros(n)
    )
    here = np.flatnonzero(low & (parent >= 0))
    many = np.bincount(parent[here], minlength=n)
    here = here[many[parent[here]] > most]
    here = here[size[here] <= _LARGE * _medians(parent[here], size[here])]
    if not len(here):
        return found
    here = here[np.argsort(parent[here], kind="stable")]
    of = parent[here]
    first, count = np.searchsorted(of, of), np.bincount(of, minlength=n)[of]
    # As high as wide: rows times their height are the columns' widths over pi.
    high = _medians(of, (ball + reach)[here])
    rows = np.sqrt(count * 2 * _medians(of, size[here]) / (np.pi * high))
    rows = np.clip(np.rint(rows), 1, count).astype(np.int64)
    wide = -(-count // rows)
    rank = np.arange(len(here)) - first
    row = rank // wide
    found.on[here], found.row[here], found.head[here] = True, row, here[first + rank % wide]
    begin = np.flatnonzero((rank % wide) == 0)
    tallest = np.maximum.reduceat(ball[here], begin)
    follows = np.append(of[begin[1:]] == of[begin[:-1]], False)
    room = np.maximum.reduceat(reach[here], begin) + np.where(follows, np.roll(tallest, -1), tallest)
    top = np.cumsum(room) - room
    which = np.searchsorted(begin, np.arange(len(here)), "right") - 1
    found.drop[here] = top[which] - top[which[first]]
    found.room[here] = room[which]
    last = first + count - 1
    found.high[here] = (top + room)[which[last]] - top[which[first]]
    return found


def _medians(group: Ints, value: Floats) -> Floats:
    """Return the median of each one's group, the upper of two, float64 (k,)."""
    order = np.lexsort((value, group))
    low = np.searchsorted(group[order], group)
    high = np.searchsorted(group[order], group, "right")
    return np.asarray(value[order][(low + high) // 2])


def lay(
    parent: Ints, size: Floats, low: NDArray[np.bool_], stand: Columns, most: int
) -> tuple[Floats, Floats, Floats]:
    """Lay out a tree whose long lists stand on cylinders; a column has the room of its largest node.

    Parameters
    ----------
    parent : int64 (n,)
        Smaller than the node's own number; -1 for a root.
    size : float64 (n,)
        Radius of each node, with the room of what it closes.
    low : bool (n,)
        Nodes that take room at their own level alone; a column keeps it at all below.
    stand : Columns
    most : int
        More callees than this, columns among them, are laid on several rings.

    Returns
    -------
    (float64 (n,), float64 (n,), float64 (n,))
        Offset of each from its caller along x and y, and the radius of its disc.
    """
    n = len(parent)
    kept = np.flatnonzero(stand.head == np.arange(n))
    number = np.empty(n, np.int64)
    number[kept] = np.arange(len(kept))
    widest = size.copy()
    np.maximum.at(widest, stand.head, size)
    above = np.where(parent[kept] >= 0, number[parent[kept]], -1)
    edges, order = bubble.children(above)
    flat = (low & ~stand.on)[kept]
    laid = cone.lay(edges, widest[kept][::-1].copy(), flat[::-1].copy(), most=most)
    x, y, disc = np.zeros(n), np.zeros(n), size.copy()
    x[kept[order]], y[kept[order]] = laid.x, laid.y
    inner = ~stand.on[kept]
    disc[kept[inner]] = laid.radius[::-1][inner]
    return x[stand.head], y[stand.head], disc
