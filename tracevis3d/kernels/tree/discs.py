"""The disc around discs: what layouts from below need at each node."""

from __future__ import annotations

import math
from typing import Any

from ..jit import inline

#: Steps towards the centre of a disc around discs.
_CENTRINGS = 16
#: How far a disc may lie outside the disc around two, as a share of the radius.
_ROUNDING = 1e-12


@inline
def enclose(r: Any, k: Any, x: Any, y: Any, place: Any) -> None:
    """Find a disc around discs.

    It is never too small. First the one around the largest disc and the disc that reaches farthest from it is
    tried: in deep trees, where one callee is as large as everything else, it is right, and no error grows
    with the depth. Else the best of a few centres is taken (Badoiu and Clarkson 2003), with the radius that
    it needs.

    Parameters
    ----------
    r, x, y : float64 (n,)
        Radius and middle of each disc.
    k : int
        How many of them count.
    place : float64 (3,)
        Filled: x, y and the radius.
    """
    big = 0
    for i in range(k):
        if r[i] > r[big]:
            big = i
    cx, cy, radius = x[big], y[big], r[big]
    away, which = 0.0, big
    far, around = -math.inf, 0.0
    for i in range(k):
        around = max(around, math.sqrt(x[i] * x[i] + y[i] * y[i]) + r[i])
        dx, dy = x[i] - cx, y[i] - cy
        d = math.sqrt(dx * dx + dy * dy)
        if d + r[i] > far:
            far, away, which = d + r[i], d, i
    if far > radius * (1.0 + _ROUNDING) and away > 0.0:
        share = 0.5 * (far - radius) / away
        radius = 0.5 * (far + radius)
        cx += share * (x[which] - cx)
        cy += share * (y[which] - cy)
    # For discs in a ring, the middle is often best.
    place[0], place[1], place[2] = 0.0, 0.0, around
    for step in range(_CENTRINGS):
        far, which = -math.inf, 0
        for i in range(k):
            dx, dy = x[i] - cx, y[i] - cy
            d = math.sqrt(dx * dx + dy * dy) + r[i]
            if d > far:
                far, which = d, i
        if far < place[2]:
            place[0], place[1], place[2] = cx, cy, far
        if far <= radius * (1.0 + _ROUNDING):
            return
        # Towards the farthest disc, by less each time.
        cx += (x[which] - cx) / (step + 3.0)
        cy += (y[which] - cy) / (step + 3.0)
