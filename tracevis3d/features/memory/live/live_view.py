"""The live memory: blocks side by side as ridges along time, *now* in front, higher the longer they are idle.

After Memcov Viz (Seyster, *Techniques for Visualizing Software Execution*, section 2.4.2): width is bytes,
blocks lie in the order of their creation or by call site, what is too narrow to be seen is merged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.picked import Description
from ....drawing.primitives import Legend, LegendEntry
from ....drawing.selector import Selector
from ....drawing.stream import Bars, Sections, StreamLabels, bars, box_sections
from ....live.growing import GrowingTrace
from ....live.stream.live_view import CELLS, LiveView
from ....units import byte_size, duration, percentage
from . import captions, wall
from .arrangement import WIDTH, Arrangement
from .blocks import LiveBlocks
from .colors import CURVES, DISTRICTS, IDLE, IN_USE, MERGED, palette
from .description import describe_item, describe_site
from .item_bars import HEIGHT, item_bars, item_sections, merged, ongoing
from .site_watch import SiteWatch

#: Maximum number of rows of the feed processed in a tick.
_MOST_TAKEN = 100_000
#: Share of the window without access from which on a block is idle.
_PAUSE = 0.02
#: Share of the visible bytes from which on a block is drawn alone.
_LEAST = 1 / 360
#: Ribs of the window: what is merged changes its shade from one to the next.
_RIBS = 40
#: Keys of bars that are no items: curves from -1 down, then districts.
_DISTRICT_KEY = wall.KEY - 3
#: Minimum visible share.
_LEAST_SIGHT = 1e-6


class Memory(LiveView):
    """Blocks of memory: in use, idle, given back; and on the wall beside them what all of them do."""

    along = "y"
    direction = (0.17, -0.80, 0.50)
    hidden_what = "blocks for which there is no room"
    edge_height = -0.1

    def __init__(self, growing: GrowingTrace, window_ns: int) -> None:
        super().__init__(growing, window_ns)
        self.blocks = LiveBlocks(growing, max(int(_PAUSE * window_ns), 1), max(window_ns // CELLS, 1))
        self.arrangement = Arrangement(self.blocks)
        self.wall = wall.Wall(self.blocks, window_ns, self.blocks.pause_ns, HEIGHT)
        self.watch = SiteWatch(self.blocks, window_ns)
        # From the beginning, because live blocks may have been allocated long ago.
        batches, last = growing.batches("memory", 0)
        self._next = last - len(batches)
        self.by_site, self.logarithmic, self.sight = False, False, (0.0, 1.0)
        self._wants_cut, self._wants_order = True, False
        self._rib = -1

    # -- what the user asks for ---------------------------------------------------------------------------

    def arrange(self, by_site: bool, logarithmic: bool) -> None:
        """Let blocks lie by call site or in the order of their creation, as wide as bytes or their logarithm.

        Blocks that stand alone slide to their new places; what is merged sinks, and rises there.

        Parameters
        ----------
        by_site : bool
            By call site; else in the order of their creation.
        logarithmic : bool
            As wide as the logarithm of their bytes.
        """
        if (by_site, logarithmic) == (self.by_site, self.logarithmic):
            return
        self._wants_order = True
        self.by_site, self.logarithmic = by_site, logarithmic
        self.moving = True

    def zoom(self, left: float, right: float) -> None:
        """Show the widths from ``left`` to ``right``, as shares of all.

        Parameters
        ----------
        left, right : float
            0 to 1.
        """
        left, right = min(max(left, 0.0), 1.0 - _LEAST_SIGHT), min(max(right, _LEAST_SIGHT), 1.0)
        right = max(right, left + _LEAST_SIGHT)
        if (left, right) != self.sight:
            self.sight = (left, right)
            self._wants_cut = self.moving = True

    def zoom_at(self, across: float, factor: float) -> tuple[float, float]:
        """Return what is in sight after zooming by ``factor`` about a place in scene units across.

        Parameters
        ----------
        across : float
            Scene units.
        factor : float
            Above 1: nearer.

        Returns
        -------
        (float, float)
            Shares of all widths, 0 to 1.
        """
        left, right = self.sight
        share = min(max(across / WIDTH, 0.0), 1.0)
        at = left + share * (right - left)
        wide = min(max((right - left) / factor, 64 * _LEAST_SIGHT), 1.0)
        new = at - share * wide
        new = min(max(new, 0.0), 1.0 - wide)
        return new, new + wide

    # -- what flows ---------------------------------------------------------------------------------------

    def advance(self) -> Bars:
        now = self.growing.now
        edge = now - self.window_ns
        parts = self._take(edge) + self._ribs(now)
        self.hidden = self.blocks.homeless
        if self._wants_order and self.arrangement.sink():
            self._wants_order, self._wants_cut = False, True
        if self._wants_cut and len(self.blocks.blocks) and not self._wants_order:
            self._wants_cut = False
            parts = [self._cut(now)]
        self.watch.sample(now)
        self.arrangement.lay(edge, self.by_site, self._whole)
        more = self.arrangement.move(rising=not self._wants_order)
        self.moving = more or self._wants_order or self._wants_cut
        came = Bars.joined(parts)
        came = Bars.joined([came[came.time[:, 1] > edge], *self.wall.advance(now)])
        self.relaid |= self.arrangement.changed or self.wall.changed
        self.arrangement.changed = self.wall.changed = False
        return came

    @property
    def _whole(self) -> bool:
        return self.sight == (0.0, 1.0)

    def _take(self, edge: int) -> list[Bars]:
        batches, last = self.growing.batches("memory", self._next)
        self._next = last - len(batches)
        parts, taken = [], 0
        for batch in batches:
            # Rows from before the view was opened are processed in several ticks.
            if taken > _MOST_TAKEN:
                break
            self._next += 1
            taken += len(batch["kind"])
            parts.append(item_bars(self.blocks, self.blocks.follow(batch, edge), self.window_ns))
        return parts

    def _step(self) -> int:
        return max(self.window_ns // _RIBS, 1)

    def _ribs(self, now: int) -> list[Bars]:
        """Return the ribs of what is merged that are over."""
        step = self._step()
        rib, self._rib = self._rib, now // step
        if rib < 0 or rib == self._rib:
            return []
        found = merged(self.blocks, max(rib, self._rib - _RIBS) * step, self._rib * step)
        return [item_bars(self.blocks, found, self.window_ns, rib & 1)]

    def _cut(self, now: int) -> Bars:
        """Make the items anew; blocks continue from where they are drawn."""
        step = self._step()
        reordered = (self.blocks.by_site, self.blocks.logarithmic) != (self.by_site, self.logarithmic)
        before = self.arrangement.placed()
        self._rib = now // step
        window = ((now - self.window_ns) // step * step, self._rib * step)
        found = self.blocks.cut(window, step, self.sight, _LEAST, self.by_site, self.logarithmic)
        self.arrangement.start_from(before, reordered, now - self.window_ns, self.by_site, self._whole)
        self.renewed = True
        self.watch.find_again(now)
        return Bars.joined([item_bars(self.blocks, found, self.window_ns, cells=step), *self.wall.pieces])

    def ongoing(self, now: int) -> Bars:
        parts = [item_bars(self.blocks, f, self.window_ns) for f in ongoing(self.blocks, now, self.window_ns)]
        begin = self._rib * self._step()
        if self._rib >= 0 and now > begin:
            found = merged(self.blocks, begin, now)
            parts.append(item_bars(self.blocks, found, self.window_ns, self._rib & 1))
        return Bars.joined([*parts, self._districts(now)])

    def _districts(self, now: int) -> Bars:
        """Return the strip in front that shows where each call site begins and ends."""
        if not self.by_site:
            return Bars.empty()
        site, _ = self.arrangement.districts()
        number = np.arange(len(site))
        time = np.tile([now - self.window_ns // 160, now], (len(site), 1))
        return bars(time, _DISTRICT_KEY - number, DISTRICTS + number % 2)

    def settle(self) -> None:
        """Merge anew what has become too narrow or too wide: every few seconds, if it matters."""
        items, now = self.blocks.items, self.growing.now
        if self._wants_order or not len(self.blocks.blocks):
            return
        k = self.blocks.k
        present = self.blocks.width(now - self.window_ns)
        past = (items[:, k.LIVING] == 0) & (items[:, k.ENDED] < now - self.window_ns)
        shown = float(self.blocks.wide[~past].sum())
        in_sight = present * (self.sight[1] - self.sight[0])
        least = _LEAST * in_sight
        stale = abs(shown - in_sight) > 0.2 * max(in_sight, 1.0)
        # While it begins all blocks are wide: later ones may be merged, or come apart.
        stale |= not 0.5 * self.blocks.least < least < 2.0 * self.blocks.least
        if stale or self.blocks.nearly_full or int(past.sum()) > max(len(items) // 2, 64):
            self._wants_cut = True

    # -- what it looks like -------------------------------------------------------------------------------

    def sections(self, given: Bars) -> Sections:
        out: Sections = np.empty((len(given), 2, 4, 2), np.float32)
        own: Any = given.key >= 0
        if own.all():
            item_sections(self.arrangement, given, slice(None), out)
            return out
        item_sections(self.arrangement, given, own, out)
        self.wall.sections(given, out)
        district = given.key <= _DISTRICT_KEY
        if district.any():
            _, span = self.arrangement.districts()
            which = np.minimum(_DISTRICT_KEY - given.key[district], len(span) - 1)
            across = np.clip(span[which], 0.0, WIDTH)
            out[district] = box_sections(across, np.tile([-0.16, -0.04], (len(which), 1)))
        return out

    def palette(self) -> NDArray[np.float32]:
        return palette()

    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (-3.0, WIDTH), (-1.9 if self.by_site else -0.6, HEIGHT)

    def legend(self) -> Legend:
        # Merged blocks in use have the first two of their shades.
        used = Selector(((IN_USE, IN_USE), (MERGED, MERGED + 1)))
        idle = Selector(((IDLE, MERGED - 1), (MERGED + 2, DISTRICTS - 1)))
        merged = Selector(((MERGED, DISTRICTS - 1),))
        higher = f"idle: higher the longer, up to {duration(self.window_ns)}"
        entries = [
            LegendEntry("in use", IN_USE, stands_for=used),
            LegendEntry(higher, IDLE + 6, stands_for=idle),
        ]
        if (self.blocks.items[:, self.blocks.k.ALONE] == 0).any():
            ribs = "ribs: merged blocks, each too narrow to be seen"
            entries.append(LegendEntry(ribs, MERGED + 4, stands_for=merged))
        if self.logarithmic:
            entries.append(LegendEntry("widths are logarithms of bytes, not bytes", DISTRICTS))
        curves = [LegendEntry(name, CURVES + i) for i, name in enumerate(wall.NAMES)]
        return Legend("", (*entries, *curves))

    def labels(self, now: int) -> StreamLabels:
        in_front = captions.districts if self.by_site else captions.ruler
        front = in_front(self.blocks, self.arrangement, self.beside)
        args = self.blocks, self.arrangement, self.watch, now, self.window_ns, self.beside
        return StreamLabels(still=(self.wall.labels(self.beside), front, *captions.on_items(*args)))

    def findings(self) -> list[str]:
        return [self.watch.text_of(found) for found in self.watch.found]

    def facts(self) -> str:
        k, totals = self.blocks.k, self.blocks.totals
        if not len(self.blocks.blocks):
            return "The program publishes no memory"
        live, blocks = int(totals[k.BYTES_NOW]), int(totals[k.BLOCKS_NOW])
        text = f"{byte_size(live)} in {blocks:,} blocks live"
        text += f"  ·  x: {'by call site' if self.by_site else 'in the order of creation'}"
        if not self._whole:
            text += f", {percentage(self.sight[0])} to {percentage(self.sight[1])} of it"
        gone = [found for found in self.watch.found if self.watch.item_of(found) < 0]
        text += "".join(f"  ·  {self.watch.text_of(found)}" for found in gone)
        unknown = int(totals[k.UNKNOWN])
        return text + (
            f"  ·  {unknown:,} frees and accesses of blocks from before the feed" if unknown else ""
        )

    def describe(self, bar: Bars, at: int, now: int) -> Description | None:
        key = int(bar.key[0])
        if key <= _DISTRICT_KEY:
            site, _ = self.arrangement.districts()
            return describe_site(self.blocks, self.watch, int(site[min(_DISTRICT_KEY - key, len(site) - 1)]))
        if key < 0:
            return self.wall.describe(bar, at)
        if key >= len(self.blocks.items):
            return None
        return describe_item(self.growing, self.blocks, key, bool(bar.value[0, 1] > 0), at, now)
