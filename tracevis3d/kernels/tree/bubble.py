"""Bubble trees: circles in circles, each around a node and all below it (Grivet and others, 2006)."""

from __future__ import annotations

import math
from typing import Any

from ..jit import kernel
from .discs import enclose

_TURN = 2.0 * math.pi
#: Steps by which sectors are shared out: in each those that are wide enough leave the others more.
_SHARINGS = 12


@kernel
def lay_bubbles(
    first: Any,
    child: Any,
    own: Any,
    gap: float,
    radius: Any,
    middle_x: Any,
    middle_y: Any,
    x: Any,
    y: Any,
    r: Any,
    disc_x: Any,
    disc_y: Any,
    place: Any,
) -> None:
    """Lay the bubbles of each node's children around it, children before parents.

    Each child has a sector of its own, as wide as its bubble asks for; another is kept free for the edge to
    the parent, in the direction of +x.

    Parameters
    ----------
    first : int64 (n + 1,)
    child : int32 (e,)
        The children of node ``c`` are ``child[first[c]:first[c + 1]]``, each below ``c``.
    own : float64 (n,)
        Radius of the node itself, above 0.
    gap : float
        Room around each bubble, as a share of its node's radius.
    radius : float64 (n,)
        Filled: of the node's bubble.
    middle_x, middle_y : float64 (n,)
        Filled: the bubble's centre, from its node.
    x, y : float64 (e,)
        Filled: the centre of each child's bubble, from the parent's node; clockwise in their order.
    r, disc_x, disc_y : float64 (degree + 1,)
    place : float64 (3,)
        Working space, for the largest degree.
    """
    for c in range(len(first) - 1):
        at = first[c]
        k = first[c + 1] - at
        middle_x[c], middle_y[c] = 0.0, 0.0
        radius[c] = own[c]
        if k == 0:
            continue
        # The sector that a bubble next to the node fills is the widest that it can use; the others share
        # what is left by their radii.
        room = _TURN - 2.0 * math.asin(0.5 / 1.5)
        total = 0.0
        for i in range(k):
            # In nodes, not in bubbles: what grows by a share at each level has no bounds in deep trees.
            r[i] = radius[child[at + i]] + gap * own[child[at + i]]
            total += r[i]
        share = room / total
        taken = 0.0
        for _ in range(_SHARINGS):
            fixed, others, taken = 0.0, 0.0, 0.0
            for i in range(k):
                widest = 2.0 * math.asin(r[i] / (r[i] + own[c]))
                if share * r[i] >= widest:
                    fixed += widest
                else:
                    others += r[i]
                taken += min(share * r[i], widest)
            if others == 0.0 or share * others >= room - fixed - 1e-9:
                break
            share = (room - fixed) / others
        spare = max(room - taken, 0.0) / (k + 1)
        angle = 0.5 * (room - _TURN) - spare
        for i in range(k):
            half = 0.5 * min(share * r[i], 2.0 * math.asin(r[i] / (r[i] + own[c])))
            away = r[i] / math.sin(half)
            angle -= half
            x[at + i] = disc_x[i] = away * math.cos(angle)
            y[at + i] = disc_y[i] = away * math.sin(angle)
            angle -= half + spare
        r[k], disc_x[k], disc_y[k] = own[c], 0.0, 0.0
        enclose(r, k + 1, disc_x, disc_y, place)
        middle_x[c], middle_y[c], radius[c] = place[0], place[1], place[2]


@kernel
def place_bubbles(
    parent: Any,
    offset_x: Any,
    offset_y: Any,
    radius: Any,
    middle_x: Any,
    middle_y: Any,
    x: Any,
    y: Any,
    turned: Any,
    center_x: Any,
    center_y: Any,
    bend_x: Any,
    bend_y: Any,
) -> None:
    """Turn each bubble so that the sector it keeps free faces its parent, parents before children.

    Parameters
    ----------
    parent : int64 (n,)
        -1 for a root, whose ``x`` and ``y`` are given.
    offset_x, offset_y : float64 (n,)
        Centre of the node's bubble from its parent's node, as :func:`lay_bubbles` found it.
    radius, middle_x, middle_y : float64 (n,)
        Of the node's bubble, likewise.
    x, y : float64 (n,)
        Filled: the nodes.
    turned : float64 (n,)
        Filled: by which angle each was turned.
    center_x, center_y : float64 (n,)
        Filled: the centres of their bubbles.
    bend_x, bend_y : float64 (n,)
        Filled: where the edge from the parent enters the bubble; it is straight before and after.
    """
    for i in range(len(parent)):
        p = parent[i]
        if p < 0:
            turned[i] = 0.0
            center_x[i], center_y[i] = x[i] + middle_x[i], y[i] + middle_y[i]
            bend_x[i], bend_y[i] = x[i], y[i]
            continue
        c, s = math.cos(turned[p]), math.sin(turned[p])
        dx, dy = c * offset_x[i] - s * offset_y[i], s * offset_x[i] + c * offset_y[i]
        center_x[i], center_y[i] = x[p] + dx, y[p] + dy
        away = math.hypot(dx, dy)
        # Where the middle of the free sector leaves the bubble: this point must face the parent.
        over = math.sqrt(max(radius[i] * radius[i] - middle_y[i] * middle_y[i], 0.0))
        turned[i] = math.atan2(-dy, -dx) - math.atan2(-middle_y[i], over)
        bend_x[i] = center_x[i] - dx / away * radius[i]
        bend_y[i] = center_y[i] - dy / away * radius[i]
        c, s = math.cos(turned[i]), math.sin(turned[i])
        x[i] = center_x[i] - (c * middle_x[i] - s * middle_y[i])
        y[i] = center_y[i] - (s * middle_x[i] + c * middle_y[i])
