"""The places of the items of live memory, side by side, each moving to its target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .blocks import LiveBlocks

#: Scene units across.
WIDTH = 15.0
#: Share of the distance that an item moves per tick; distance that counts as arrived; rate of sinking or
#: rising.
_EASE, _THERE, _SINK = 0.22, 0.01, 0.16

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Placed:
    """The places of items before they were made anew.

    Attributes
    ----------
    x : float64 (n, 2)
    item_of : dict
        Address of a block that stands alone -> its item.
    low, per_unit : float
        Where along all widths the first item began, and scene units of a unit of width.
    """

    x: Floats
    item_of: dict[int, int]
    low: float
    per_unit: float


class Arrangement:
    """The places of items, from left to right.

    Parameters
    ----------
    blocks : LiveBlocks

    Attributes
    ----------
    x : float64 (n, 2)
        Where each item begins and ends, in scene units.
    rise : float64 (n,)
        How far each has risen, 0 to 1.
    order : int64 (k,)
        The items that are in the window, from left to right.
    per_unit : float
        Scene units of a unit of width.
    changed : bool
        Set when items lie elsewhere; who has placed them clears it.
    """

    def __init__(self, blocks: LiveBlocks) -> None:
        self._blocks = blocks
        self.x, self._goal = np.zeros((0, 2)), np.zeros((0, 2))
        self.rise = np.ones(0)
        self.order = np.empty(0, np.int64)
        self.per_unit = 1.0
        self.changed = False
        self._sunk = 0.0
        #: Items, and those of them that are past, when they were laid last.
        self._laid = (-1, 0)

    def placed(self) -> Placed:
        """Return where items are now."""
        k, items, blocks = self._blocks.k, self._blocks.items, self._blocks.blocks
        alone = np.flatnonzero(items[:, k.ALONE] == 1)
        first = np.minimum(items[alone, k.FIRST], max(len(blocks) - 1, 0))
        item_of = dict(zip(blocks[first, k.ADDRESS].tolist(), alone.tolist(), strict=True))
        return Placed(self.x, item_of, self._blocks.low, self.per_unit)

    def start_from(self, before: Placed, reordered: bool, edge: int, by_site: bool, whole: bool) -> None:
        """Place new items, which start from where they were drawn before.

        Parameters
        ----------
        before : Placed
        reordered : bool
            They lie in another order, or have other widths: merged ones rise at their new places.
        edge, by_site, whole
            As for :meth:`lay`.
        """
        k, items, blocks = self._blocks.k, self._blocks.items, self._blocks.blocks
        alone = items[:, k.ALONE] == 1
        self.x = self._goal = np.zeros((len(items), 2))
        self.rise = np.ones(len(items))
        self._laid = (-1, 0)
        self._sunk = 0.0
        self.lay(edge, by_site, whole)
        if not len(before.x):
            self.x = self._goal.copy()
            return
        if reordered:
            self.x = self._goal.copy()
            self.rise = np.where(alone, 1.0, 0.0)
        else:
            # Each item's place along all widths, as they were drawn.
            begin = self._blocks.low + np.concatenate([[0.0], np.cumsum(self._blocks.wide)])
            self.x = (np.stack([begin[:-1], begin[1:]], axis=1) - before.low) * before.per_unit
        for i in np.flatnonzero(alone).tolist():
            was = before.item_of.get(int(blocks[items[i, k.FIRST], k.ADDRESS]), -1)
            if 0 <= was < len(before.x):
                self.x[i] = before.x[was]
            elif reordered:
                self.rise[i] = 0.0

    def lay(self, edge: int, by_site: bool, whole: bool) -> None:
        """Compute the targets of items: side by side in their order, without those that have ended.

        Parameters
        ----------
        edge : int
            Nanoseconds: what ended before is past.
        by_site : bool
            In the order of call sites; else of creation.
        whole : bool
            All widths are in sight: there is room for what comes, so that not all moves with each block.
        """
        k, items = self._blocks.k, self._blocks.items
        past = (items[:, k.LIVING] == 0) & (items[:, k.ENDED] < edge)
        state = (len(items), int(past.sum()))
        if state == self._laid:
            return
        fresh, self._laid = self._laid[0] < 0, state
        place = self._by_site() if by_site and len(items) else np.argsort(items[:, k.FIRST], kind="stable")
        wide = np.where(past, 0.0, self._blocks.wide)
        total = float(wide.sum())
        capacity = WIDTH / self.per_unit
        if total > capacity or total < 0.6 * capacity or fresh or not whole:
            self.per_unit = WIDTH / max(total * (1.12 if whole else 1.0), 1e-9)
        end = np.cumsum(wide[place]) * self.per_unit
        goal = np.zeros((len(items), 2))
        goal[place, 0], goal[place, 1] = end - wide[place] * self.per_unit, end
        new = len(items) - len(self.x)
        if new > 0:
            self.x = np.concatenate([self.x, goal[-new:]])
            self.rise = np.concatenate([self.rise, np.ones(new)])
        self._goal, self.order = goal, place[wide[place] > 0]
        self.changed = True

    def _by_site(self) -> NDArray[np.int64]:
        """Return the items in the order of their call sites, and of creation within one."""
        k, items = self._blocks.k, self._blocks.items
        owner = items[:, k.OWNER]
        rank = np.append(self._blocks.rank(), 1 << 20)
        if int(owner.max(initial=-1)) >= len(rank) - 1:
            rank = np.append(np.arange(int(owner.max()) + 1), 1 << 20)
        return np.asarray(np.lexsort((items[:, k.FIRST], rank[owner])))

    def move(self, rising: bool) -> bool:
        """Move items a step towards their targets; return whether they have not arrived yet.

        ``rising``: what has sunk may rise again.

        Parameters
        ----------
        rising : bool
            Whether what has sunk may rise again.

        Returns
        -------
        bool
        """
        way = self._goal - self.x[: len(self._goal)]
        far = float(np.abs(way).max(initial=0.0))
        risen = float(self.rise.min(initial=1.0))
        if far > _THERE:
            self.x = self.x + _EASE * way
            self.changed = True
        elif far > 0:
            self.x = self._goal.copy()
            self.changed = True
        if risen < 1.0 and rising and far < 0.5:
            self.rise = np.minimum(self.rise + _SINK, 1.0)
            self.changed = True
        return far > _THERE or risen < 1.0

    def sink(self) -> bool:
        """Let merged items sink a little more; return whether they no longer exist."""
        self._sunk += _SINK
        merged = self._blocks.items[: len(self.rise), self._blocks.k.ALONE] == 0
        self.rise = np.where(merged, max(1.0 - self._sunk, 0.0), self.rise)
        self.changed = True
        return self._sunk >= 1.0 or not merged.any()

    def districts(self) -> tuple[NDArray[np.int64], Floats]:
        """Return the call sites from left to right (k,), and from where to where each reaches (k, 2)."""
        owner = self._blocks.items[self.order, self._blocks.k.OWNER]
        if not len(owner):
            return np.empty(0, np.int64), np.empty((0, 2))
        first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
        last = np.append(first[1:], len(owner)) - 1
        return owner[first], np.stack([self.x[self.order[first], 0], self.x[self.order[last], 1]], axis=1)
