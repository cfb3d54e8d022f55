"""The texts of the live memory: the ruler of bytes, call sites, the largest blocks, and findings."""

from __future__ import annotations

import math

import numpy as np

from ....drawing.primitives import Labels
from ....drawing.stream import LabelList
from ....units import byte_size
from .arrangement import WIDTH, Arrangement
from .blocks import LiveBlocks
from .item_bars import HEIGHT, LOW
from .site_watch import SiteWatch

#: Maximum number of named call sites in front, of rows of names, and of named items.
_MOST_NAMED, _NAME_ROWS, _LARGEST_NAMED = 14, 4, 7
#: How wide a character is about, in line heights; how high half a line's capitals are.
_CHARACTER, _HALF = 0.5, 0.3


def ruler(blocks: LiveBlocks, arrangement: Arrangement, beside: float) -> Labels:
    """Return the ruler in front, for bytes side by side.

    Parameters
    ----------
    blocks : LiveBlocks
    arrangement : Arrangement
        Where items lie.
    beside : float
        Where they begin along time, in scene units.

    Returns
    -------
    Labels
    """
    found = LabelList("tick", 0)
    if blocks.logarithmic or not len(arrangement.order):
        return found.labels()
    first, per_unit = blocks.low, arrangement.per_unit
    span = WIDTH / per_unit
    step = 2.0 ** math.ceil(math.log2(max(span / 7, 1)))
    at = np.arange(math.ceil(first / step) * step, first + span, step)
    # Offsets from a far beginning need more digits than a size has: then from the left edge.
    start = first if first > 50 * step else 0.0
    if start:
        at = np.arange(first, first + span, step)
    sign = "+" if start else ""
    for value in at.tolist():
        place = (beside, (value - first) * per_unit, -0.5 + _HALF * 0.3)
        found.add(sign + byte_size(value - start), place, 0.3)
    return found.labels()


def districts(blocks: LiveBlocks, arrangement: Arrangement, beside: float) -> Labels:
    """Return the names of call sites in front of where they reach; those that are widest win.

    Parameters
    ----------
    blocks : LiveBlocks
    arrangement : Arrangement
        Where items lie.
    beside : float
        Where they begin along time, in scene units.

    Returns
    -------
    Labels
    """
    site, span = arrangement.districts()
    span = np.clip(span, 0.0, WIDTH)
    wide = span[:, 1] - span[:, 0]
    chosen = [i for i in np.argsort(-wide, kind="stable")[:_MOST_NAMED].tolist() if wide[i] > 0.08]
    found, free = LabelList("site"), [-1.0] * _NAME_ROWS
    for i in sorted(chosen, key=lambda i: float(span[i, 0])):
        left, name = float(span[i, 0]), blocks.sites.name(int(site[i]))
        row = next((r for r in range(_NAME_ROWS) if free[r] <= left), -1)
        if row < 0:
            continue
        free[row] = left + _CHARACTER * 0.27 * len(name) + 0.3
        place = (beside, left, -0.5 - 0.37 * row + _HALF * 0.27)
        found.add(name, place, 0.27, max(WIDTH + 2.0 - left, 1.0))
    return found.labels()


class _Taken:
    """Rectangles that names on items have taken."""

    def __init__(self) -> None:
        self._taken: list[tuple[float, float, float]] = []

    def meets(self, left: float, right: float, height: float, size: float) -> bool:
        return any(left < b and a < right and abs(h - height) < 1.2 * size for a, b, h in self._taken)

    def take(self, left: float, right: float, height: float) -> None:
        self._taken.append((left, right, height))


def on_items(
    blocks: LiveBlocks, arrangement: Arrangement, watch: SiteWatch, now: int, window_ns: int, beside: float
) -> tuple[Labels, Labels]:
    """Return the findings, above their items, and the names of the largest blocks.

    Parameters
    ----------
    blocks : LiveBlocks
    arrangement : Arrangement
        Where items lie.
    watch : SiteWatch
        The findings about call sites.
    now : int
        Nanoseconds.
    window_ns : int
        The length of time that is shown.
    beside : float
        Where they begin along time, in scene units.

    Returns
    -------
    (Labels, Labels)
    """
    k, items = blocks.k, blocks.items
    warnings, names, taken = LabelList("warning"), LabelList("name"), _Taken()

    def spot(item: int) -> tuple[float, float, float]:
        left, right = (float(x) for x in np.clip(arrangement.x[item], 0.0, WIDTH))
        age = min(max(now - int(items[item, k.LAST]), 0) / window_ns, 1.0)
        return left, right, LOW + HEIGHT * age * float(arrangement.rise[item]) + 0.12

    size = 0.29
    for one in watch.found:
        item = watch.item_of(one)
        if not 0 <= item < len(items):
            continue
        text = watch.text_of(one)
        left, right, height = spot(item)
        room = max(right - left, _CHARACTER * size * len(text))
        left = min(max(left, 0.0), WIDTH - room)
        # Above what is there already.
        while taken.meets(left, left + room, height, size):
            height += 1.25 * size
        taken.take(left, left + room, height)
        warnings.add(text, (beside, left, height + _HALF * size), size, room)
    size = 0.24
    alone = (items[:, k.ALONE] == 1) & (items[:, k.LIVING] > 0)
    largest = np.argsort(-np.where(alone, items[:, k.LIVE], 0), kind="stable")[:_LARGEST_NAMED]
    for item in largest[alone[largest]].tolist():
        left, right, height = spot(item)
        room = max(right - left, 2.2)
        if right <= left or taken.meets(left, left + room, height, size):
            continue
        taken.take(left, left + room, height)
        text = f"{blocks.sites.name(int(items[item, k.OWNER]))} {byte_size(float(items[item, k.LIVE]))}"
        names.add(text, (beside, left, height + _HALF * size), size, room)
    return warnings.labels(), names.labels()
