"""The terrain: each block, or several merged ones, as a ridge along time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Wedges
from ..blocks import NEVER
from .colors import BlockColors
from .layout import PLATE, Layout

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Scene units of time after which the ribs of merged blocks change their colour.
_RIB = 0.11


@dataclass(frozen=True, eq=False)
class Heights:
    """What the height shows.

    Attributes
    ----------
    most : float
        The value that is as high as the terrain can be.
    kind : {"linear", "sqrt", "log"}
    """

    most: float
    kind: str

    def of(self, value: NDArray[np.generic]) -> Floats:
        """Return heights from 0 to 1."""
        share = np.asarray(value, np.float64) / self.most
        if self.kind == "sqrt":
            return np.asarray(np.sqrt(share))
        if self.kind == "log":
            return np.asarray(np.log1p(np.asarray(value, np.float64)) / np.log1p(self.most))
        return share


def heights(picture: Layout) -> Heights:
    """Return the scale of heights for the shown blocks."""
    p, items = picture.parameters, picture.items
    if p.height == "size":
        return Heights(float(max(items.live.max(initial=1), 1)), "sqrt")
    if p.height == "access":
        return Heights(float(max(items.touches.max(initial=1), 1)), "log")
    ends = picture.arrangement.pyramid
    edge = np.minimum(ends.start + ends.step * np.arange(1, ends.cells + 1), picture.window[1])
    age = np.where(items.since < NEVER, edge - np.minimum(items.since, edge), 0)
    return Heights(float(max(age.max(initial=1), 1)), "linear")


@dataclass(frozen=True, eq=False)
class Pieces:
    """Stretches of time over which an item's height is a straight line and its colour one.

    Attributes
    ----------
    item : int64 (n,)
    start, end : int64 (n,)
        Nanoseconds.
    low, high : float64 (n,)
        Height from 0 to 1, at the start and the end.
    left, right : int64 (n,)
        Along the axis: where a block lies, or what lives of several at the moment of each cell.
    idle, second : bool (n,)
        Not accessed recently; every second rib, or neighbour.
    """

    item: Ints
    start: Ints
    end: Ints
    low: Floats
    high: Floats
    left: Ints
    right: Ints
    idle: NDArray[np.bool_]
    second: NDArray[np.bool_]

    def only(self, which: NDArray[np.bool_]) -> Pieces:
        """Return some of them."""
        return Pieces(*(column[which] for column in vars(self).values()))


@dataclass(frozen=True, eq=False)
class Places:
    """Where items lie, and how high they have risen.

    Attributes
    ----------
    left, right : float64 (items,)
        x in scene units, of those that are one block.
    rise : float64 (items,)
        Share of its height; what has 0 is not drawn.
    """

    left: Floats
    right: Floats
    rise: Floats

    @classmethod
    def of(cls, picture: Layout) -> Places:
        """Return the places of items in their order."""
        items = picture.items
        return cls(picture.x(items.low), picture.x(items.high), np.ones(len(items)))


def pieces(picture: Layout, scale: Heights) -> Pieces:
    """Cut the items' profiles into pieces.

    Parameters
    ----------
    picture : Layout
    scale : Heights
        Of heights.

    Returns
    -------
    Pieces
    """
    items, pyramid, p = picture.items, picture.arrangement.pyramid, picture.parameters
    n, cells = items.since.shape
    edge = pyramid.start + pyramid.step * np.arange(cells + 1, dtype=np.int64)
    edge[-1] = min(int(edge[-1]), picture.window[1])
    alive = np.where(items.alone[:, None], items.since < NEVER, items.room > 0)
    # Touched within ``recent`` before the cell ends, or in the cell itself.
    back = -(-picture.recent // pyramid.step)
    total = np.concatenate([np.zeros((n, 1), np.int64), np.cumsum(items.touches, axis=1)], axis=1)
    idle = total[:, 1:] - total[:, np.maximum(np.arange(1, cells + 1) - back, 0)] == 0
    rib = max(round(_RIB / picture.deep * cells), 1)
    second = np.broadcast_to((np.arange(cells) // rib) % 2 == 1, (n, cells))
    second = np.where(items.alone[:, None], (np.arange(n) % 2 == 1)[:, None], second)
    value = {"age": items.since, "size": items.live, "access": items.touches.astype(np.int64)}[p.height]
    # A block alone is as wide all the time, several are as wide as what lives of them.
    lowest = np.where(items.alone[:, None], items.low[:, None], items.lowest)
    room = np.where(items.alone[:, None], (items.high - items.low)[:, None], items.room)
    breaks = np.ones((n, cells), np.bool_)
    for state in (value, idle, second, alive, lowest, room):
        if state is value:
            breaks[:, 1:] = state[:, 1:] != state[:, :-1]
        else:
            breaks[:, 1:] |= state[:, 1:] != state[:, :-1]
    flat = np.flatnonzero(breaks)
    stop = np.append(flat[1:], n * cells)
    there = alive.reshape(-1)[flat]
    flat, stop = flat[there], stop[there]
    item, cell = np.divmod(flat, cells)
    last = stop - item * cells
    start, end = edge[cell], edge[last]
    since = items.since.reshape(-1)[flat]
    start = np.where((since > start) & (since < end), since, start)
    # A single block ends at its own end; several end with the cell.
    one = items.alone[item]
    if len(items):
        died = picture.use.blocks.until[pyramid.order[items.first]][item]
        end = np.where(one, np.minimum(end, np.maximum(died, start)), end)
    if p.height == "age":
        low, high = scale.of(start - np.minimum(since, start)), scale.of(end - np.minimum(since, end))
    else:
        low = high = scale.of(value.reshape(-1)[flat])
    left = lowest.reshape(-1)[flat]
    return Pieces(
        item, start, end, low, high, left, left + room.reshape(-1)[flat], idle.reshape(-1)[flat],
        second.reshape(-1)[flat]
    )  # fmt: skip


def terrain(
    picture: Layout, cut: Pieces, colors: BlockColors, places: Places | None = None, number: int = 0
) -> tuple[Wedges, Wedges]:
    """Return blocks, and merged blocks.

    Ids of blocks are their indices in the order of creation; those of several are the items' numbers, from
    ``number`` on. Items lie where they are in their order, unless ``places`` says otherwise.

    Parameters
    ----------
    picture : Layout
    cut : Pieces
        The pieces that are drawn.
    colors : BlockColors
        Of blocks.
    places : Places, optional
        Where items lie; None: where their order has them.
    number : int
        The id of the first merged item.

    Returns
    -------
    (Wedges, Wedges)
    """
    items, pyramid = picture.items, picture.arrangement.pyramid
    if places is None:
        places = Places.of(picture)
    cut = cut.only(places.rise[cut.item] > 0)
    one = items.alone[cut.item]
    left = np.where(one, places.left[cut.item], picture.x(cut.left))
    right = np.where(one, places.right[cut.item], picture.x(cut.right))
    corner = np.empty((len(cut.item), 2, 4, 3), np.float32)
    for k, (time, height) in enumerate(((cut.start, cut.low), (cut.end, cut.high))):
        y, z = picture.y(time), (PLATE + picture.reach * height) * places.rise[cut.item]
        for c, (x, top) in enumerate(((left, False), (right, False), (right, True), (left, True))):
            corner[:, k, c, 0] = x
            corner[:, k, c, 1] = y
            corner[:, k, c, 2] = z if top else 0.0
    # A block that lives shorter than a hair is drawn as one.
    hair = 0.25 / picture.pixels_per_unit
    block = pyramid.order[items.first[cut.item]].astype(np.int64) if len(items) else cut.item
    blocks = picture.use.blocks
    short = one & (cut.start <= blocks.born[block]) & (cut.end >= blocks.until[block])
    short &= corner[:, 0, 0, 1] - corner[:, 1, 0, 1] < hair
    corner[short, 0, :, 1] = np.minimum(corner[short, 1, :, 1] + np.float32(hair), picture.deep)
    corner[short, 1, :, 1] = corner[short, 0, :, 1] - np.float32(hair)
    color = colors.shade(cut.item, items.alone[cut.item], cut.idle, cut.second)
    made = []
    for kind, which, ids in (("block", one, block), ("block cluster", ~one, cut.item + number)):
        made.append(
            Wedges(kind, corner[which].reshape(-1, 4, 3), 2 * np.arange(int(which.sum()) + 1), color[which],
                   ids[which])
        )  # fmt: skip
    return made[0], made[1]


def footprints(picture: Layout, color: int, places: Places) -> tuple[Wedges, float]:
    """Return the ground that large blocks take, all along the time, and the bytes of the smallest of them.

    Freed memory leaves no ridge where it was: its width still shows what it took.

    Parameters
    ----------
    picture : Layout
    color : int
        Index into the palette.
    places : Places
        Where items lie.

    Returns
    -------
    (Wedges, float)
    """
    items, pyramid, p = picture.items, picture.arrangement.pyramid, picture.parameters
    size = picture.use.blocks.size[pyramid.order[items.first]] if len(items) else np.empty(0, np.int64)
    shown = float(picture.use.blocks.size[pyramid.order].sum()) * (p.right - p.left)
    large = np.flatnonzero(items.alone & (size >= p.footprint * shown))
    corner = np.empty((len(large), 2, 4, 3), np.float32)
    for k, y in enumerate((0.0, picture.deep)):
        corner[:, k, :, 1] = y
    for c, (x, z) in enumerate(
        ((places.left, -0.01), (places.right, -0.01), (places.right, -0.004), (places.left, -0.004))
    ):
        corner[:, :, c, 0], corner[:, :, c, 2] = x[large, None], z
    made = Wedges("footprint", corner.reshape(-1, 4, 3), 2 * np.arange(len(large) + 1),
                  np.full(len(large), color, np.int32), pyramid.order[items.first[large]].astype(np.int64)
                  if len(large) else np.empty(0, np.int64))  # fmt: skip
    return made, float(size[large].min()) if len(large) else 0.0


def floor(picture: Layout, color: int, behind: float) -> Wedges:
    """Return the ground that the blocks lie on, and so much behind it as names need.

    Parameters
    ----------
    picture : Layout
    color : int
        Index into the palette.
    behind : float
        Scene units.

    Returns
    -------
    Wedges
    """
    wide, deep = picture.wide, picture.deep
    corner = np.array(
        [
            [(0, y, -0.03), (wide, y, -0.03), (wide, y, -0.01), (0, y, -0.01)]
            for y in ((-behind, deep) if picture.across else (0.0, deep + behind))
        ],
        np.float32,
    )
    return Wedges("ground", corner, np.array([0, 2]), np.array([color], np.int32), np.zeros(1, np.int64))
