"""The order of elements around a circle in which the calls between them are short.

Children of a node are sorted by the barycentre of what their elements call and are called by, as in layered
graph drawing (Sugiyama et al. 1981), on a circle; then neighbours are swapped as long as that helps. The
hierarchy stays together: only the order of a node's children changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .hierarchy import Hierarchy, reordered

Floats = NDArray[np.float64]
Int32s = NDArray[np.int32]

_ROUNDS = 12
#: Swaps tried times pairs of elements, at most: it bounds the time to a fraction of a second.
_WORK = 30_000_000


@dataclass(frozen=True, eq=False)
class SectorOrder:
    """An order of the elements.

    Attributes
    ----------
    hierarchy : Hierarchy
    new_of_old : int32 (elements,)
    before, after : float
        Mean way of a call, weighed by the square root of how often its pair happens, as a share of half the
        circle: in the given order, and in the one found.
    """

    hierarchy: Hierarchy
    new_of_old: Int32s
    before: float
    after: float


def shortest_ways(
    hierarchy: Hierarchy, caller: Int32s, callee: Int32s, count: NDArray[np.integer[Any]]
) -> SectorOrder:
    """Order the children of each node so that ways around the circle are short.

    Parameters
    ----------
    hierarchy : Hierarchy
    caller, callee : int32 (pairs,)
        Elements.
    count : int (pairs,)

    Returns
    -------
    SectorOrder
    """
    apart = caller != callee
    ways = _Ways(caller[apart], callee[apart], np.sqrt(count[apart].astype(np.float64)), hierarchy.elements)
    start, mapping = hierarchy, np.arange(hierarchy.elements, dtype=np.int32)
    before = best_cost = ways.around(mapping)
    best = (start, mapping)
    if not len(ways.weight) or hierarchy.elements < 3:
        return SectorOrder(hierarchy, mapping, before, before)
    here = best
    for _ in range(_ROUNDS):
        here = _compose(here, _sorted_by_barycentre(here[0], here[1], ways))
        cost = ways.around(here[1])
        if cost < best_cost - 1e-12:
            best, best_cost = here, cost
    best, best_cost = _swap_neighbours(best, best_cost, ways)
    best = _seam(best, ways)
    return SectorOrder(best[0], best[1], before, best_cost)


class _Ways:
    """The pairs of elements, for a given numbering of the elements."""

    def __init__(self, a: Int32s, b: Int32s, weight: Floats, elements: int) -> None:
        self.a, self.b, self.elements = a, b, elements
        self.weight = weight / max(float(weight.sum()), 1e-300)

    def around(self, number: Int32s) -> float:
        """Return the mean way around the circle, as a share of half of it."""
        d = np.abs(number[self.a] - number[self.b])
        return float((np.minimum(d, self.elements - d) * self.weight).sum() * 2 / max(self.elements, 1))

    def along(self, number: Int32s) -> float:
        """Return the mean way along the line that the circle becomes when it is cut before element 0."""
        return float((np.abs(number[self.a] - number[self.b]) * self.weight).sum())

    def barycentres(self, number: Int32s) -> NDArray[np.complex128]:
        """Return where each element (as given) is drawn to: the sum of its partners' places on the circle."""
        place = np.exp(2j * np.pi * number / self.elements)
        pull = np.zeros(self.elements, np.complex128)
        np.add.at(pull, self.a, self.weight * place[self.b])
        np.add.at(pull, self.b, self.weight * place[self.a])
        return pull


Ordered = tuple[Hierarchy, Int32s]


def _compose(old: Ordered, new: Ordered) -> Ordered:
    return new[0], new[1][old[1]]


def _sorted_by_barycentre(hierarchy: Hierarchy, number: Int32s, ways: _Ways) -> Ordered:
    """Sort each node's children by where they are drawn to, seen from the middle of the node's own range."""
    pull = np.empty(ways.elements, np.complex128)
    pull[number] = ways.barycentres(number)
    total = np.concatenate([[0], np.cumsum(pull)])
    first, stop = hierarchy.first_element()
    drawn = total[stop] - total[first]
    middle = 2 * np.pi * (first + stop) / 2 / ways.elements
    above = np.where(hierarchy.parent > 0, middle[hierarchy.parent], np.pi)
    turned = np.angle(drawn * np.exp(-1j * above))
    # Elements without interactions keep their place.
    rank = np.where(np.abs(drawn) > 1e-15, turned, np.angle(np.exp(1j * (middle - above))))
    return reordered(hierarchy, rank)


def _swap_neighbours(best: Ordered, cost: float, ways: _Ways) -> tuple[Ordered, float]:
    """Swap neighbouring children while that makes ways shorter."""
    hierarchy, number = best
    budget = _WORK // len(ways.weight)
    first, stop = hierarchy.first_element()
    children: list[list[int]] = [[] for _ in range(len(hierarchy))]
    for i in range(1, len(hierarchy)):
        children[int(hierarchy.parent[i])].append(i)
    old_of_new = np.argsort(number)
    lists = [c for c in children if len(c) > 1]
    improved = True
    while improved and budget > 0:
        improved = False
        for siblings in lists:
            for i in range(len(siblings) - 1):
                left, right = siblings[i], siblings[i + 1]
                low, middle, high = int(first[left]), int(first[right]), int(stop[right])
                trial = np.concatenate(
                    [old_of_new[:low], old_of_new[middle:high], old_of_new[low:middle], old_of_new[high:]]
                )
                place = np.empty_like(number)
                place[trial] = np.arange(ways.elements, dtype=np.int32)
                budget -= 1
                now = ways.around(place)
                if now < cost - 1e-12:
                    cost, number, old_of_new, improved = now, place, trial, True
                    siblings[i], siblings[i + 1] = right, left
                    _shift(hierarchy, left, high - middle, first, stop)
                    _shift(hierarchy, right, low - middle, first, stop)
                if budget <= 0:
                    break
    again, moved = reordered(hierarchy, first)
    return (again, moved[best[1]]), cost


def _shift(hierarchy: Hierarchy, node: int, by: int, first: Int32s, stop: Int32s) -> None:
    below = slice(node, node + int(hierarchy.extent[node]))
    first[below] += by
    stop[below] += by


def _seam(best: Ordered, ways: _Ways) -> Ordered:
    """Turn the root's children until few ways cross the seam: the line has them short, too."""
    hierarchy, number = best
    tops = np.flatnonzero(hierarchy.parent == 0)
    first, _ = hierarchy.first_element()
    found = []
    for top in tops.tolist()[:64]:
        found.append((ways.along((number - first[top]) % np.int32(ways.elements)), top))
    if not found:
        return best
    cut = min(found)[1]
    rank = np.where(np.arange(len(hierarchy)) >= cut, 0.0, 1.0)
    rank = rank * 1e6 + np.arange(len(hierarchy))
    return _compose(best, reordered(hierarchy, rank))
