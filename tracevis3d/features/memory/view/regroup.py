"""The transition from one order of blocks to another: each that is drawn alone slides to its new place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.palettes import Paint
from ....drawing.primitives import Meaning, Wedges
from .colors import BlockColors, block_colors
from .layout import Layout
from .metadata import meaning
from .terrain import Heights, Places, pieces, terrain

Floats = NDArray[np.float64]

#: Shares of the way at which merged blocks have sunk, and begin to rise in the new order.
_SUNK, _RISING = 0.35, 0.65
#: Shares of the way between which blocks slide.
_LEAVE, _ARRIVE = 0.2, 0.8


def on_the_way(
    before: Layout, after: Layout, share: float, scale: Heights, paint: Paint
) -> tuple[list[Wedges], BlockColors, dict[str, Meaning]]:
    """Return the blocks at a share of the way between two compositions, their colours and their meaning.

    Blocks keep their identity: who stands alone in either order is one block all the way. What is taken
    together holds other blocks in each order, so it sinks into the ground in the one, and rises in the other.

    Parameters
    ----------
    before, after : Layout
        The layouts in the two orders.
    share : float
        0 to 1.
    scale : Heights
        Of heights, the same all the way.
    paint : Paint
        It gets the colours.

    Returns
    -------
    (list of Wedges, BlockColors, dict of str to Meaning)
    """
    made: list[Wedges] = []
    alone_before = np.zeros(len(before.use.blocks), np.bool_)
    alone_before[_block_of(before)[before.items.alone]] = True
    slid = _smooth((share - _LEAVE) / (_ARRIVE - _LEAVE))
    for picture, other, went in ((before, after, slid), (after, before, 1.0 - slid)):
        items, block = picture.items, _block_of(picture)
        left, right = picture.x(items.low), picture.x(items.high)
        there = _places_of_blocks(other, block)
        moving = items.alone
        left = np.where(moving, left + went * (there[0] - left), left)
        right = np.where(moving, right + went * (there[1] - right), right)
        if picture is before:
            rise = np.where(moving, 1.0, _smooth(1.0 - share / _SUNK))
        else:
            rising = _smooth((share - _RISING) / (1.0 - _RISING))
            rise = np.where(moving & alone_before[block], 0.0, rising)
        colors = block_colors(picture, paint)
        number = 0 if picture is before else len(before.items)
        made += terrain(picture, pieces(picture, scale), colors, Places(left, right, rise), number)
    meanings = [meaning(picture)["block cluster"] for picture in (before, after)]
    values = tuple(
        (title, np.concatenate([one, other]))
        for (title, one), (_, other) in zip(meanings[0].values, meanings[1].values, strict=True)
    )
    return made, colors, {**meaning(after), "block cluster": Meaning(values=values)}


def _block_of(picture: Layout) -> NDArray[np.int64]:
    """Return the first block of each item."""
    order = picture.arrangement.pyramid.order.astype(np.int64)
    return order[picture.items.first] if len(picture.items) else np.empty(0, np.int64)


def _places_of_blocks(picture: Layout, block: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the x at which blocks begin and end in the order of ``picture``."""
    pyramid = picture.arrangement.pyramid
    place = np.zeros(len(picture.use.blocks), np.int64)
    place[pyramid.order] = np.arange(len(pyramid))
    # What is left out there comes and goes at the edge.
    low, high = np.zeros(len(block), np.int64), np.zeros(len(block), np.int64)
    if len(pyramid):
        known = np.isin(block, pyramid.order)
        low[known], high[known] = pyramid.low[place[block[known]]], pyramid.high(place[block[known]])
    return picture.x(low), picture.x(high)


def _smooth(share: float) -> float:
    s = min(max(share, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)
