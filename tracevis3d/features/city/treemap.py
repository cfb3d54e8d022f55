"""Treemaps: nested rectangles with areas in proportion (squarified: Bruls, Huizing and van Wijk, 2000)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

#: Left, near, width and depth.
Rectangle = tuple[float, float, float, float]
#: A district with this share of the one around it is not drawn.
_NEARLY_ALL = 0.85
#: Buildings beside districts have at least this share, else they would be slivers.
_FEW = 0.06


@dataclass
class District:
    """A part of the tree: districts within it, and buildings that stand in it.

    Attributes
    ----------
    name : str
        In full.
    districts : dict of str to District
    buildings : list of int
        Numbers of the parts that stand directly in it.
    size : float
        The sum of the areas in it.
    place : Rectangle
    depth : int
        0 for the whole city.
    """

    name: str
    districts: dict[str, District] = field(default_factory=dict)
    buildings: list[int] = field(default_factory=list)
    size: float = 0.0
    place: Rectangle = (0.0, 0.0, 0.0, 0.0)
    depth: int = 0


def city_of(paths: Sequence[tuple[str, ...]], areas: Sequence[float]) -> District:
    """Return the districts that paths of parts make; without those that hold nearly all of another.

    Parameters
    ----------
    paths : sequence of tuple of str
        Of each part: the districts that it lies in, outermost first, and its own name.
    areas : sequence of float
        Above 0.

    Returns
    -------
    District
        The whole city, without places.

    Examples
    --------
    >>> city = city_of([("a", "b", "x"), ("a", "b", "y"), ("a", "c", "z")], [1.0, 2.0, 3.0])
    >>> city.name, [one.name for one in city.districts.values()], city.size
    ('a', ['a.b', 'a.c'], 6.0)
    """
    city = District("")
    for part, (path, area) in enumerate(zip(paths, areas, strict=True)):
        here = city
        here.size += area
        for i, name in enumerate(path[:-1]):
            here = here.districts.setdefault(name, District(".".join(path[: i + 1])))
            here.size += area
        here.buildings.append(part)
    city = _without_chains(city)
    _number(city, 0)
    return city


def _without_chains(district: District) -> District:
    """Return a district in which nothing has to stand as a sliver beside another that holds nearly all.

    What has to is joined by the buildings of a district beside it, whose plinth is not drawn.
    """
    while district.districts:
        inner = max(district.districts.values(), key=lambda one: one.size)
        if not district.buildings and len(district.districts) == 1:
            district = inner
            continue
        beside = district.size - sum(one.size for one in district.districts.values())
        if inner.size < _NEARLY_ALL * district.size:
            if not district.buildings or beside >= _FEW * district.size:
                break
            inner = min(district.districts.values(), key=lambda one: one.size)
        others = {name: one for name, one in district.districts.items() if one is not inner}
        # Names contain no line breaks, so keys are unique.
        dissolved = {f"{inner.name}\n{name}": one for name, one in inner.districts.items()}
        district.districts = {**others, **dissolved}
        district.buildings = [*district.buildings, *inner.buildings]
    district.districts = {name: _without_chains(inner) for name, inner in district.districts.items()}
    return district


def _number(district: District, depth: int) -> None:
    district.depth = depth
    for inner in district.districts.values():
        _number(inner, depth + 1)


def lay_out(city: District, areas: Sequence[float], place: Rectangle) -> list[Rectangle]:
    """Give each district and each building its place.

    Parameters
    ----------
    city : District
        Its districts' places are set.
    areas : sequence of float
        Of the buildings.
    place : Rectangle
        Of the whole city.

    Returns
    -------
    list of Rectangle
        Of each building: areas are in proportion to ``areas`` across the whole city.
    """
    placed = [place] * len(areas)
    waiting = [(city, place)]
    while waiting:
        district, here = waiting.pop()
        district.place = here
        inner = list(district.districts.values())
        sizes = [one.size for one in inner] + [areas[i] for i in district.buildings]
        for i, found in enumerate(squarified(sizes, here)):
            if i < len(inner):
                waiting.append((inner[i], found))
            else:
                placed[district.buildings[i - len(inner)]] = found
    return placed


def squarified(sizes: Sequence[float], place: Rectangle) -> list[Rectangle]:
    """Divide a rectangle into others in proportion to sizes, as close to squares as rows allow.

    Parameters
    ----------
    sizes : sequence of float
        At least one, above 0, in any order.
    place : Rectangle

    Returns
    -------
    list of Rectangle
        In the order of the sizes.

    Examples
    --------
    >>> squarified([1.0, 3.0], (0.0, 0.0, 4.0, 1.0))
    [(3.0, 0.0, 1.0, 1.0), (0.0, 0.0, 3.0, 1.0)]
    """
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    found = [place] * len(sizes)
    x, y, wide, deep = place
    scale = wide * deep / sum(sizes)
    at = 0
    while at < len(order):
        short = min(wide, deep)
        row, total = [order[at]], sizes[order[at]] * scale
        worst = _worst(total, total, total, short)
        for i in order[at + 1 :]:
            more = total + sizes[i] * scale
            flatter = _worst(sizes[row[0]] * scale, sizes[i] * scale, more, short)
            if flatter > worst:
                break
            row.append(i)
            total, worst = more, flatter
        at += len(row)
        thick = total / short if short > 0 else 0.0
        along = 0.0
        for i in row:
            length = sizes[i] * scale / thick if thick > 0 else 0.0
            found[i] = (x, y + along, thick, length) if wide >= deep else (x + along, y, length, thick)
            along += length
        if wide >= deep:
            x, wide = x + thick, wide - thick
        else:
            y, deep = y + thick, deep - thick
    return found


def _worst(most: float, least: float, total: float, side: float) -> float:
    """Return the worst ratio of sides in a row, of its largest and its smallest rectangle."""
    square = side * side
    return max(square * most / (total * total), total * total / (square * least)) if square > 0 else 1.0
