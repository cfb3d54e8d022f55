"""Where buildings stand: in a treemap, in a grid by rank, or close to those that they call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...layout.forces import arrange, without_overlap
from .metrics import Floats, Ints
from .treemap import District, Rectangle, city_of, lay_out

#: Kinds of maps.
LAYOUTS = {
    "treemap": "packages are nested districts",
    "grid": "in rows, the highest in the far left corner: their order is the rank",
    "network": "parts that call each other stand close together (force-directed)",
}
#: Share of the map that buildings of a network take before they are moved apart.
_FILLED = 0.4
#: Percentage of things within the unit of a network, and how much farther ones are drawn in.
_NEAR, _DRAWN_IN = 90, 0.5

#: Callers, callees and numbers of calls, each pair once.
Pairs = tuple[Ints, Ints, Floats]


def placed(
    layout: str,
    paths: Sequence[tuple[str, ...]],
    area: Floats,
    rank: Floats,
    pairs: Callable[[], Pairs],
    place: Rectangle,
) -> tuple[District, list[Rectangle]]:
    """Return the districts and the ground of each building.

    Parameters
    ----------
    layout : str
        A key of :data:`LAYOUTS`.
    paths : sequence of tuple of str (buildings,)
    area : float64 (buildings,)
        Above 0; areas of the ground are in proportion.
    rank : float64 (buildings,)
        The highest comes first in a grid.
    pairs : callable
        Returns which buildings call each other, and how often.
    place : Rectangle
        Of the whole city.

    Returns
    -------
    (District, list of Rectangle)
    """
    if layout == "treemap":
        city = city_of(paths, area.tolist())
        return city, lay_out(city, area.tolist(), place)
    city = District("", {}, list(range(len(paths))), float(area.sum()), place)
    if layout == "grid":
        return city, in_grid(area, rank, place)
    source, target, many = pairs()
    start = city_of(paths, area.tolist())
    ground = np.array(lay_out(start, area.tolist(), place)).reshape(-1, 4)
    weight = np.log1p(many) / np.log1p(many.max(initial=1.0))
    middle = arrange(ground[:, :2] + ground[:, 2:] / 2, source, target, weight)
    return city, as_squares(middle, area, place)


def in_grid(area: Floats, rank: Floats, place: Rectangle) -> list[Rectangle]:
    """Return squares in the cells of a grid, row by row from the far left corner.

    Parameters
    ----------
    area, rank : float64 (n,)
    place : Rectangle

    Returns
    -------
    list of Rectangle

    Examples
    --------
    >>> in_grid(np.array([1.0, 4.0]), np.array([5.0, 9.0]), (0.0, 0.0, 4.0, 2.0))
    [(2.5, 0.5, 1.0, 1.0), (0.0, 0.0, 2.0, 2.0)]
    """
    left, near, wide, deep = place
    n = len(area)
    columns = int(np.ceil(np.sqrt(n * wide / deep) - 1e-9))
    rows = -(-n // columns)
    pitch = min(wide / columns, deep / rows)
    at = np.empty(n, np.int64)
    at[np.lexsort((-area, -rank))] = np.arange(n)
    side = pitch * np.sqrt(area / area.max())
    x = left + (wide - columns * pitch) / 2 + pitch * (at % columns + 0.5) - side / 2
    y = near + (deep + rows * pitch) / 2 - pitch * (at // columns + 0.5) - side / 2
    return _rectangles(x, y, side, side)


def as_squares(middle: Floats, area: Floats, place: Rectangle) -> list[Rectangle]:
    """Return squares around points, moved apart and fitted into a rectangle.

    Parameters
    ----------
    middle : float64 (n, 2)
        In any unit.
    area : float64 (n,)
    place : Rectangle

    Returns
    -------
    list of Rectangle
        Areas are in proportion to ``area``; no two overlap.
    """
    left, near, wide, deep = place
    room = np.array([wide, deep])
    at = middle - np.median(middle, axis=0)
    # The few that are far away must not leave the others little room.
    at = at / np.maximum(np.percentile(np.abs(at), _NEAR, axis=0), 1e-12)
    at = at / (1.0 + _DRAWN_IN * np.abs(at))
    # A cloud is round and a map is not: both axes are stretched to it before squares are drawn.
    at = at / np.maximum(np.ptp(at, axis=0), 1e-12) * room
    side = np.sqrt(area * (_FILLED * wide * deep / area.sum()))
    at = without_overlap(at, side)
    low, high = (at - side[:, None] / 2).min(axis=0), (at + side[:, None] / 2).max(axis=0)
    scale = float((room / (high - low)).min())
    at = (at - (low + high) / 2) * scale + np.array([left, near]) + room / 2
    side = side * scale
    return _rectangles(at[:, 0] - side / 2, at[:, 1] - side / 2, side, side)


def _rectangles(x: Floats, y: Floats, wide: Floats, deep: Floats) -> list[Rectangle]:
    made = np.column_stack([x, y, wide, deep]).tolist()
    return [(one[0], one[1], one[2], one[3]) for one in made]
