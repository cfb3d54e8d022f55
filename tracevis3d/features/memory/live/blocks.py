"""The blocks of memory that a feed reports: those that live, and those that did in the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....kernels.memory import live_blocks as k
from ....live.growing import GrowingTrace
from .sites import MOST_SITES, Sites

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Blocks at most: those that live, and those that did in the window. Initial capacity.
MOST_BLOCKS, _FIRST_BLOCKS = 1 << 21, 1 << 14
#: Times of idleness that are over and are remembered; items; rows in one look.
_SPELLS, MOST_ITEMS, _MOST_ROWS = 1 << 17, 4096, 1 << 16


@dataclass(frozen=True, eq=False)
class Intervals:
    """The changes of items from one moment to another, as :mod:`~....kernels.memory.live_blocks` writes it.

    Attributes
    ----------
    time : int64 (n, 2)
    item : int64 (n,)
    age : int64 (n, 2)
        Nanoseconds without a touch at both ends; both 0: in use.
    live : int64 (n,)
        Live bytes.
    """

    time: Ints
    item: Ints
    age: Ints
    live: Ints

    def __len__(self) -> int:
        return len(self.item)

    @classmethod
    def joined(cls, parts: Sequence[Intervals]) -> Intervals:
        """Return all rows of ``parts``."""
        columns = zip(*((p.time, p.item, p.age, p.live) for p in parts), strict=True)
        return cls(*(np.concatenate(c) for c in columns))


class LiveBlocks:
    """All blocks in the window, and the items that they are shown as.

    Parameters
    ----------
    growing : GrowingTrace
    pause_ns : int
        Nanoseconds without a touch from which on a block counts as idle.
    brief_ns : int
        Nanoseconds: blocks that lived shorter are forgotten when they end.

    Attributes
    ----------
    by_site, logarithmic : bool
        How blocks lie side by side, and whether their widths are logarithms; changed by :meth:`cut`.
    low, total : float
        Where along all widths the first item begins, and how long they are.
    homeless : int
        Allocations for which there was no room.
    """

    def __init__(self, growing: GrowingTrace, pause_ns: int, brief_ns: int) -> None:
        self.k = k
        self.sites = Sites(growing)
        self.pause_ns, self.brief_ns = pause_ns, brief_ns
        self.by_site, self.logarithmic = False, False
        self.least = 1.0
        self.low, self.total = 0.0, 0.0
        self.homeless = 0
        self._blocks = np.zeros((_FIRST_BLOCKS, k.BLOCK_SIZE), np.int64)
        self._known = _table(4 * _FIRST_BLOCKS)
        self._spells = np.zeros((_SPELLS, 3), np.int64)
        self._items = np.zeros((MOST_ITEMS, k.ITEM_SIZE), np.int64)
        self._wide = np.zeros(MOST_ITEMS)
        self._site_table = np.zeros((MOST_SITES, k.SITE_SIZE), np.int64)
        self._site_table[:, k.OPEN_ITEM] = k.NEW
        self._site_wide = np.zeros(MOST_SITES)
        self.totals = np.zeros(k.TOTALS_SIZE, np.int64)
        self._times = np.empty((_MOST_ROWS, 2), np.int64)
        self._rows = np.empty((_MOST_ROWS, k.ROW_SIZE), np.int64)
        self._edge = np.int64(-(1 << 62))
        #: Before this moment not all times of idleness are remembered.
        self._forgotten = -(1 << 62)

    # -- what comes ---------------------------------------------------------------------------------------

    def follow(self, batch: Mapping[str, Any], edge: int) -> Intervals:
        """Take a batch of memory; what ended before ``edge`` may be forgotten.

        Parameters
        ----------
        batch : mapping of str to object
            Columns of rows of memory by name, as the protocol has them.
        edge : int
            Nanoseconds.

        Returns
        -------
        Intervals
            The ended parts of items that are one block.
        """
        k, self._edge = self.k, np.int64(edge)
        kind, time = np.ascontiguousarray(batch["kind"]), np.ascontiguousarray(batch["time"])
        columns = [
            kind, time, batch["address"].view(np.int64) & ((1 << 62) - 1),
            np.ascontiguousarray(batch["size"]),
            self.sites.of(batch), np.ascontiguousarray(batch["thread"], np.int64),
        ]  # fmt: skip
        counts, at = np.zeros(1, np.int64), 0
        take: Any = k.follow_blocks
        while True:
            at = take(
                *columns, at, np.int64(self.pause_ns), np.int64(self.brief_ns), float(self.least),
                int(self.logarithmic), int(self.by_site), self._known, self._blocks, self._spells,
                self._items,
                self._wide, self._site_table, self.totals, self._times, self._rows, counts,
            )  # fmt: skip
            if at >= len(columns[0]):
                break
            if not self._make_room():
                # More blocks are live than can be tracked: their frees and accesses are ignored, too.
                rest = columns[0][at:] != 0
                self.homeless += int(np.count_nonzero(~rest))
                columns = [np.ascontiguousarray(c[at:][rest]) for c in columns]
                at = 0
        return self._intervals(int(counts[0]))

    def _intervals(self, n: int) -> Intervals:
        rows = self._rows[:n]
        k = self.k
        return Intervals(
            self._times[:n].copy(), rows[:, k.ROW_ITEM].copy(), rows[:, [k.AGE_FROM, k.AGE_TO]].copy(),
            rows[:, k.ROW_LIVE].copy(),
        )  # fmt: skip

    def _make_room(self) -> bool:
        """Drop ended blocks, enlarge the tables if that is not enough; return whether there is room."""
        k, totals = self.k, self.totals
        if totals[k.SPELLS] >= len(self._spells):
            # The oldest half is removed, whether past or not.
            edge = np.partition(self._spells[:, 2], len(self._spells) // 2)[len(self._spells) // 2]
            same = np.arange(int(totals[k.BLOCKS]), dtype=np.int64)
            self._forgotten = max(int(edge) + 1, int(self._edge))
            totals[k.SPELLS] = k.keep_spells(
                self._spells, int(totals[k.SPELLS]), np.int64(self._forgotten), same
            )
            return True
        if int(totals[k.BLOCKS]) >= len(self._blocks):
            self._compact(int(self._edge))
            if int(totals[k.BLOCKS]) > 3 * len(self._blocks) // 4:
                if len(self._blocks) < MOST_BLOCKS:
                    larger = np.zeros((2 * len(self._blocks), k.BLOCK_SIZE), np.int64)
                    larger[: len(self._blocks)] = self._blocks
                    self._blocks = larger
                else:
                    # Ended blocks are removed, although they could still be seen.
                    self._compact(k.ALIVE)
        else:
            self._find_addresses()
        return int(totals[k.BLOCKS]) < len(self._blocks)

    def _compact(self, edge: int) -> None:
        k, totals = self.k, self.totals
        count = int(totals[k.BLOCKS])
        new = np.empty(count, np.int64)
        kept = int(k.keep_blocks(self._blocks, count, np.int64(edge), np.int64(self.brief_ns), new))
        totals[k.SPELLS] = k.keep_spells(self._spells, int(totals[k.SPELLS]), np.int64(self._edge), new)
        items = self._items[: int(totals[k.ITEMS])]
        # An item whose first block no longer exists takes the place of the one that followed it.
        following = np.minimum.accumulate(np.where(new >= 0, new, kept)[::-1])[::-1]
        items[:, k.FIRST] = following[items[:, k.FIRST]] if len(items) else items[:, k.FIRST]
        totals[k.BLOCKS] = kept
        self._find_addresses()

    def _find_addresses(self) -> None:
        k, totals = self.k, self.totals
        slots = len(self._known)
        while int(totals[k.BLOCKS_NOW]) * 2 > slots:
            slots *= 2
        self._known = _table(slots)
        totals[k.TAKEN] = k.find_addresses(self._blocks, int(totals[k.BLOCKS]), self._known)

    # -- what is shown ------------------------------------------------------------------------------------

    @property
    def items(self) -> Ints:
        """The items (n, ITEM_SIZE): a view, not a copy."""
        return self._items[: int(self.totals[self.k.ITEMS])]

    @property
    def nearly_full(self) -> bool:
        """Whether there is little room left for more items."""
        return len(self.items) > 3 * len(self._items) // 4

    @property
    def wide(self) -> Floats:
        """Width of each item (n,)."""
        return self._wide[: int(self.totals[self.k.ITEMS])]

    @property
    def blocks(self) -> Ints:
        """The blocks (n, BLOCK_SIZE): a view, not a copy."""
        return self._blocks[: int(self.totals[self.k.BLOCKS])]

    @property
    def site_facts(self) -> Ints:
        """The call sites (n, SITE_SIZE)."""
        return self._site_table[: len(self.sites)]

    def rank(self) -> Ints:
        """Return the place of each call site among all: those with most width first; int64 (sites,)."""
        order = np.argsort(-self._site_wide[: len(self.sites)], kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank

    def width(self, edge: int) -> float:
        """Return how wide all blocks are that reach beyond ``edge``, whether in sight or not."""
        take: Any = self.k.present_width
        count = int(self.totals[self.k.BLOCKS])
        return float(take(self._blocks, count, np.int64(edge), int(self.logarithmic), self._site_wide))

    def idle(self, since: int) -> int:
        """Return the bytes of live blocks that were last touched before ``since``."""
        take: Any = self.k.idle_bytes
        return int(take(self._blocks, int(self.totals[self.k.BLOCKS]), np.int64(since)))

    def cut(
        self,
        window: tuple[int, int],
        step: int,
        share: tuple[float, float],
        least: float,
        by_site: bool,
        logarithmic: bool,
    ) -> Intervals:
        """Make the items anew, and return all that is known of their past in the window.

        Parameters
        ----------
        window : (int, int)
            Nanoseconds; both are multiples of ``step``.
        step : int
            Nanoseconds of a cell in which what is merged is looked at.
        share : (float, float)
            The part of all widths that is in sight.
        least : float
            Narrower blocks are merged until they have this width, as a share of the visible part.
        by_site, logarithmic : bool

        Returns
        -------
        Intervals
        """
        k, totals = self.k, self.totals
        self.by_site, self.logarithmic = by_site, logarithmic
        self._edge = np.int64(window[0])
        self._compact(window[0])
        count = int(totals[k.BLOCKS])
        total = self.width(window[0])
        self.least = max(least * (share[1] - share[0]) * total, 1e-9)
        order = np.arange(count, dtype=np.int64)
        if by_site:
            # Few sites: sixteen bits are sorted by counting.
            of = self.rank()[self._blocks[:count, k.SITE]]
            order = np.argsort(of.astype(np.uint16), kind="stable").astype(np.int64)
        out = np.zeros(2)
        n = k.cut_live(
            order, self._blocks, np.int64(window[0]), float(self.least), int(logarithmic), share[0] * total,
            share[1] * total, self._site_wide, int(by_site), self._items, self._wide, self._site_table, out,
        )  # fmt: skip
        totals[k.ITEMS] = n
        self.low, self.total = float(out[0]), float(out[1])
        whole = share[1] >= 1.0
        if not by_site:
            # Only the end of the order gets new blocks.
            if not whole:
                self._site_table[:, k.OPEN_ITEM] = k.NOWHERE
            elif self._site_table[0, k.OPEN_ITEM] == k.NOWHERE:
                self._site_table[0, k.OPEN_ITEM] = k.NEW
        elif whole and share[0] <= 0.0:
            unseen = self._site_table[:, k.OPEN_ITEM] == k.NOWHERE
            self._site_table[unseen, k.OPEN_ITEM] = k.NEW
        return self._past(n, window, step)

    def _past(self, items: int, window: tuple[int, int], step: int) -> Intervals:
        k, totals = self.k, self.totals
        count = int(totals[k.BLOCKS])
        cells = (window[1] - window[0]) // step
        live = np.zeros((items, cells + 1), np.int64)
        used = np.zeros((items, cells + 1), np.int32)
        last = np.full(items, window[0] - (1 << 62), np.int64)
        n = k.past_of_blocks(
            self._blocks, count, self._spells, int(totals[k.SPELLS]), np.int64(self.pause_ns),
            np.int64(window[0]),
            np.int64(step), np.empty(count, np.int64), self._items, live, used, last, totals, self._times,
            self._rows,
        )  # fmt: skip
        last = np.maximum(last, window[0] - 4 * (window[1] - window[0]))
        n = k.write_cells(
            live, used, self._items, last, np.int64(window[0]), np.int64(step), totals, self._times,
            self._rows, np.int64(n),
        )  # fmt: skip
        found = self._intervals(int(n))
        if self._forgotten <= window[0]:
            return found
        # Whether a block was in use before is not known any more: nothing is said rather than something
        # wrong.
        alone = self._items[found.item, k.ALONE] == 1
        start = np.where(
            alone & (found.age[:, 1] == 0), np.maximum(found.time[:, 0], self._forgotten), found.time[:, 0]
        )
        keep = start < found.time[:, 1]
        time = np.stack([start, found.time[:, 1]], axis=1)
        return Intervals(time[keep], found.item[keep], found.age[keep], found.live[keep])


def _table(slots: int) -> Ints:
    return np.full((slots, 2), -1, np.int64)
