"""The live memory: blocks side by side as ridges along time, *now* in front, higher the longer they are idle.

After Memcov Viz (Seyster, *Techniques for Visualizing Software Execution*, section 2.4.2): width is bytes,
blocks lie in the order of their creation or by call site, what is too narrow to be seen is taken together.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....live.growing import GrowingTrace
from ....live.stream.live_view import (
    CELLS,
    LiveView,
    Rows,
    Said,
    Section,
    Subject,
    Text,
    boxes,
    colors,
    rows,
)
from ....units import byte_size, duration, percentage
from ....units import count as count_text
from .blocks import MOST_SITES, LiveBlocks, Told
from .findings import SAMPLES, Found, SiteHistory, find_plateaus, in_turn

#: Rows of the feed that are taken in a tick.
_MOST_TAKEN = 100_000
#: Scene units across, and the height of what was idle for the whole window; the height of what is in use.
_WIDTH, _HEIGHT, _LOW = 15.0, 3.4, 0.12
#: Share of the window without a touch from which on a block is idle.
_PAUSE = 0.02
#: Share of what is in sight from which on a block stands alone.
_LEAST = 1 / 360
#: Ribs of the window: what is taken together changes its shade from one to the next.
_RIBS = 40
#: Kinds: in use, shades of idle ones; the same of what is taken together, in two shades for its ribs;
#: districts of call sites in turn; curves.
_IN_USE, _IDLE, _SHADES = 0, 1, 12
_TOGETHER, _TOGETHER_SHADES = _IDLE + _SHADES, 5
_DISTRICTS = _TOGETHER + 2 * (1 + _TOGETHER_SHADES)
_CURVES = _DISTRICTS + 2
#: Keys of rows that are no items: the curves from -1 down, then the districts.
_CURVE_KEY, _DISTRICT_KEY = -1, -4
#: A curve's step as a share of the window, the stripes of the wall, and where the wall stands.
_CURVE_STEP = 1 / 240
#: All blocks are asked whether they are idle so often, as a share of the window.
_IDLE_STEP = 1 / 60
_STRIPES = ((0.0, 0.46), (0.54, 0.73), (0.81, 1.0))
_WALL = (-0.60, -0.48)
#: How much of the way to its place a ridge goes in a tick; how near is there; how much sinks or rises in a
#: tick.
_EASE, _THERE, _SINK = 0.22, 0.01, 0.16
#: Call sites that get a name in front; rows of names; items that are named; findings that are shown.
_MOST_NAMED, _NAME_ROWS, _LARGEST_NAMED, _MOST_FOUND = 14, 4, 7, 5
_GAP = 0.012
_CHARACTER = 0.5
#: What is in sight at the least, as a share.
_LEAST_SIGHT = 1e-6


class Memory(LiveView):
    """Blocks of memory: in use, idle, given back; and on the wall beside them what all of them do."""

    along = "y"
    direction = (0.17, -0.80, 0.50)
    hidden_what = "blocks for which there is no room"
    edge_height = -0.1

    def __init__(self, growing: GrowingTrace, window_ns: int) -> None:
        super().__init__(growing, window_ns)
        self._pause = max(int(_PAUSE * window_ns), 1)
        self.blocks = LiveBlocks(growing, self._pause, max(window_ns // CELLS, 1))
        # All from the beginning: what lives now may have been allocated long ago.
        batches, last = growing.batches("memory", 0)
        self._next = last - len(batches)
        self.by_site, self.logarithmic, self.sight = False, False, (0.0, 1.0)
        #: Begin and end of each item in scene units, where it is on its way to, and how far it has risen.
        self._x, self._goal = np.zeros((0, 2)), np.zeros((0, 2))
        self._rise = np.ones(0)
        self._sinking = 0.0
        self._wants_cut, self._wants_order = True, False
        self._places = np.empty(0, np.int64)
        self._laid = (-1, 0)
        self._per_unit = 1.0
        self._rib = -1
        self._curve: tuple[int, NDArray[np.float64]] = (0, np.zeros(3))
        #: Pieces of the curves in the window: they stay when all else is placed anew.
        self._pieces: list[Rows] = []
        self._most = np.array([1.0, 1.0, 1.0])
        self._rate = (0, 0)
        self._idle_at, self._idle_share = 0, 0.0
        self._history = SiteHistory(MOST_SITES)
        self._sampled = 0
        self.found: list[Found] = []

    # -- what the user asks for ---------------------------------------------------------------------------

    def arrange(self, by_site: bool, logarithmic: bool) -> None:
        """Let blocks lie by call site or in the order of their creation, as wide as bytes or their logarithm.

        Blocks that stand alone slide to their new places; what is taken together sinks, and rises there.
        """
        if (by_site, logarithmic) == (self.by_site, self.logarithmic):
            return
        self._wants_order = True
        self.by_site, self.logarithmic = by_site, logarithmic
        self.moving = True

    def zoom(self, left: float, right: float) -> None:
        """Show the widths from ``left`` to ``right``, as shares of all."""
        left, right = min(max(left, 0.0), 1.0 - _LEAST_SIGHT), min(max(right, _LEAST_SIGHT), 1.0)
        right = max(right, left + _LEAST_SIGHT)
        if (left, right) != self.sight:
            self.sight = (left, right)
            self._wants_cut = self.moving = True

    def zoom_at(self, across: float, factor: float) -> tuple[float, float]:
        """Return what is in sight after zooming by ``factor`` about a place in scene units across."""
        left, right = self.sight
        share = min(max(across / _WIDTH, 0.0), 1.0)
        at = left + share * (right - left)
        wide = min(max((right - left) / factor, 64 * _LEAST_SIGHT), 1.0)
        new = at - share * wide
        new = min(max(new, 0.0), 1.0 - wide)
        return new, new + wide

    # -- what flows ---------------------------------------------------------------------------------------

    def advance(self) -> Rows:
        now = self.growing.now
        edge = now - self.window_ns
        parts = self._take(edge)
        parts += self._ribs(now)
        self.hidden = self.blocks.homeless
        if self._wants_order and self._sink():
            self._wants_order, self._wants_cut = False, True
        if self._wants_cut and len(self.blocks.blocks) and not self._wants_order:
            self._wants_cut = False
            parts = [self._cut(now)]
        self._sample(now)
        self._lay(now)
        self._move()
        came = Rows.joined(parts)
        return Rows.joined([came[came.time[:, 1] > edge], *self._wall(now)])

    def _take(self, edge: int) -> list[Rows]:
        batches, last = self.growing.batches("memory", self._next)
        self._next = last - len(batches)
        parts, taken = [], 0
        for batch in batches:
            # What came before somebody looked is caught up with in several ticks.
            if taken > _MOST_TAKEN:
                break
            self._next += 1
            taken += len(batch["kind"])
            parts.append(self._rows(self.blocks.follow(batch, edge)))
        return parts

    def _step(self) -> int:
        return max(self.window_ns // _RIBS, 1)

    def _ribs(self, now: int) -> list[Rows]:
        """Return the ribs of what is taken together that are over."""
        step = self._step()
        rib, self._rib = self._rib, now // step
        if rib < 0 or rib == self._rib:
            return []
        told = self._together(max(rib, self._rib - _RIBS) * step, self._rib * step)
        return [self._rows(told, rib & 1)]

    def _together(self, begin: int, end: int) -> Told:
        """Return what is taken together from ``begin`` to ``end``."""
        k, items = self.blocks.k, self.blocks.items
        which = np.flatnonzero((items[:, k.ALONE] == 0) & (items[:, k.LIVING] > 0))
        given = items[which]
        used = given[:, k.LAST] + self._pause >= begin
        age = np.stack([begin - given[:, k.LAST], end - given[:, k.LAST]], axis=1)
        age[used] = 0
        start = np.minimum(np.maximum(begin, given[:, k.BUSY]), end - 1)
        return Told(
            np.stack([start, np.full(len(which), end)], axis=1), which, np.maximum(age, 0), given[:, k.LIVE]
        )

    def _cut(self, now: int) -> Rows:
        """Make the items anew; blocks and places go on from where they are drawn."""
        k, step = self.blocks.k, self._step()
        items = self.blocks.items
        order_changes = (self.blocks.by_site, self.blocks.logarithmic) != (self.by_site, self.logarithmic)
        alone = np.flatnonzero(items[:, k.ALONE] == 1)
        first = np.minimum(items[alone, k.FIRST], max(len(self.blocks.blocks) - 1, 0))
        known = dict(zip(self.blocks.blocks[first, k.ADDRESS].tolist(), alone.tolist(), strict=True))
        before, origin, per_unit = self._x, self.blocks.low, self._per_unit
        self._rib = now // step
        window = ((now - self.window_ns) // step * step, self._rib * step)
        told = self.blocks.cut(window, step, self.sight, _LEAST, self.by_site, self.logarithmic)
        items = self.blocks.items
        self._x = self._goal = np.zeros((len(items), 2))
        self._rise = np.ones(len(items))
        self._laid = (-1, 0)
        self._lay(now)
        # Where each item was before: its place along all widths as they were drawn.
        begin = self.blocks.low + np.concatenate([[0.0], np.cumsum(self.blocks.wide)])
        if order_changes or not len(before):
            self._x = self._goal.copy()
            self._rise = np.where(items[:, k.ALONE] == 1, 1.0, 0.0) if len(before) else self._rise
        else:
            self._x = (np.stack([begin[:-1], begin[1:]], axis=1) - origin) * per_unit
        for i in np.flatnonzero(items[:, k.ALONE] == 1).tolist() if len(before) else ():
            was = known.get(int(self.blocks.blocks[items[i, k.FIRST], k.ADDRESS]), -1)
            if 0 <= was < len(before):
                self._x[i] = before[was]
            elif order_changes:
                self._rise[i] = 0.0
        self._sinking = 0.0
        self.renewed = self.relaid = self.moving = True
        sites = {f.site for f in self.found if f.kind == "plateau"}
        self.found = [f for f in self.found if f.item < 0] + [
            f for f in self._plateaus(now) if f.site in sites
        ]
        return Rows.joined([self._rows(told, cells=step), *self._pieces])

    def _lay(self, now: int) -> None:
        """Decide where items belong: one beside the other in their order, without those that are past."""
        k, items = self.blocks.k, self.blocks.items
        past = (items[:, k.LIVING] == 0) & (items[:, k.ENDED] < now - self.window_ns)
        state = (len(items), int(past.sum()))
        if state == self._laid:
            return
        fresh, self._laid = self._laid[0] < 0, state
        owner = items[:, k.OWNER]
        if self.by_site and len(items):
            rank = np.append(self.blocks.rank(), 1 << 20)
            if int(owner.max(initial=-1)) >= len(rank) - 1:
                rank = np.append(np.arange(int(owner.max()) + 1), 1 << 20)
            place = np.lexsort((items[:, k.FIRST], rank[owner]))
        else:
            place = np.argsort(items[:, k.FIRST], kind="stable")
        wide = np.where(past, 0.0, self.blocks.wide)
        total = float(wide.sum())
        # Room for what comes, so that not all moves with each new block.
        capacity = _WIDTH / self._per_unit
        whole = self.sight == (0.0, 1.0)
        if total > capacity or total < 0.6 * capacity or fresh or not whole:
            self._per_unit = _WIDTH / max(total * (1.12 if whole else 1.0), 1e-9)
        end = np.cumsum(wide[place]) * self._per_unit
        goal = np.zeros((len(items), 2))
        goal[place, 0], goal[place, 1] = end - wide[place] * self._per_unit, end
        new = len(items) - len(self._x)
        if new > 0:
            self._x = np.concatenate([self._x, goal[-new:]])
            self._rise = np.concatenate([self._rise, np.ones(new)])
        self._goal, self._places = goal, place[wide[place] > 0]
        self.relaid = self.moving = True

    def _move(self) -> None:
        """Go some of the way to where items belong."""
        way = self._goal - self._x[: len(self._goal)]
        far = float(np.abs(way).max(initial=0.0))
        risen = float(self._rise.min(initial=1.0))
        self.moving = far > _THERE or risen < 1.0 or self._wants_order or self._wants_cut
        if far > _THERE:
            self._x = self._x + _EASE * way
            self.relaid = True
        elif far > 0:
            self._x = self._goal.copy()
            self.relaid = True
        if risen < 1.0 and not self._wants_order and far < 0.5:
            self._rise = np.minimum(self._rise + _SINK, 1.0)
            self.relaid = True

    def _sink(self) -> bool:
        """Let what is taken together sink a little more; return whether it is gone."""
        self._sinking += _SINK
        items = self.blocks.items[: len(self._rise)]
        together = items[:, self.blocks.k.ALONE] == 0
        self._rise = np.where(together, max(1.0 - self._sinking, 0.0), self._rise)
        self.relaid = True
        return self._sinking >= 1.0 or not together.any()

    def _rows(self, told: Told, parity: int = 0, cells: int = 0) -> Rows:
        """Return rows of stretches: of idle ones the part in which they rise, and the plateau after it."""
        if not len(told):
            return Rows.empty()
        k, items = self.blocks.k, self.blocks.items
        one = items[told.item, k.ALONE] == 1
        size = np.maximum(self._bytes_of(told.item, one), 1.0)
        width = np.clip(told.live / size, 0.04, 1.0)
        height = told.age / self.window_ns
        rises = (height[:, 1] > 1.0) & (height[:, 0] < 1.0)
        second = (told.time[:, 0] // cells) & 1 if cells else np.full(len(told), parity)
        time, top = told.time.copy(), np.clip(height, 0.0, 1.0)
        full = (told.time[:, 0] + (1.0 - height[:, 0]) * self.window_ns).astype(np.int64)
        time[rises, 1] = np.minimum(full[rises], told.time[rises, 1])
        ends = (_kind(top[:, end], told.age[:, 1], one, second) for end in (0, 1))
        kind = np.stack(list(ends), axis=1)
        first = rows(time, told.item, kind, top[:, 0], top[:, 1], width)
        if not rises.any():
            return first
        level = np.ones(int(rises.sum()))
        kind = _kind(level, told.age[rises, 1], one[rises], second[rises])
        time = np.stack([time[rises, 1], told.time[rises, 1]], axis=1)
        plateau = rows(time, told.item[rises], kind, level, level, width[rises])
        return Rows.joined([first, plateau])

    def _bytes_of(self, item: NDArray[np.int64], one: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the bytes that the whole width of items stands for."""
        k = self.blocks.k
        if not self.blocks.logarithmic:
            return np.asarray(self.blocks.wide[item])
        # Of logarithms only whether anything lives tells of the width.
        return np.asarray(np.maximum(self.blocks.items[item, k.LIVE], 1), np.float64)

    def front(self, now: int) -> Rows:
        k, items = self.blocks.k, self.blocks.items
        which = np.flatnonzero((items[:, k.ALONE] == 1) & (items[:, k.LIVING] > 0))
        given = items[which]
        idle = now - given[:, k.LAST] > self._pause
        until = np.where(idle, given[:, k.LAST], now)
        seen = until >= now - self.window_ns
        none = np.zeros((len(which), 2), np.int64)
        use = Told(
            np.stack([given[:, k.BUSY], until], axis=1)[seen], which[seen], none[seen], given[seen, k.LIVE]
        )
        age = np.stack([np.zeros(len(which), np.int64), now - given[:, k.LAST]], axis=1)
        rest = Told(np.stack([given[:, k.LAST], np.full(len(which), now)], axis=1)[idle], which[idle],
            age[idle],
                    given[idle, k.LIVE])  # fmt: skip
        parts = [self._rows(rest), self._rows(use)]
        if self._rib >= 0 and now > self._rib * self._step():
            parts.append(self._rows(self._together(self._rib * self._step(), now), self._rib & 1))
        return Rows.joined([*parts, self._districts(now)])

    def _districts(self, now: int) -> Rows:
        """Return the strip in front that shows where each call site begins and ends."""
        if not self.by_site:
            return Rows.empty()
        site, _ = self._spans()
        n = len(site)
        time = np.tile([now - self.window_ns // 160, now], (n, 1))
        return rows(time, _DISTRICT_KEY - np.arange(n), _DISTRICTS + np.arange(n) % 2)

    def _spans(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the call sites from left to right, and from where to where each reaches."""
        k, place = self.blocks.k, self._places
        owner = self.blocks.items[place, k.OWNER]
        if not len(place):
            return np.empty(0, np.int64), np.empty((0, 2))
        change = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
        last = np.append(change[1:], len(place)) - 1
        return owner[change], np.stack([self._x[place[change], 0], self._x[place[last], 1]], axis=1)

    # -- the wall -----------------------------------------------------------------------------------------

    def _sample(self, now: int) -> None:
        """Note what each call site has, and look for what it does."""
        step = max(self.window_ns // SAMPLES, 1)
        if now - self._sampled < step or not len(self.blocks.blocks):
            return
        k = self.blocks.k
        self._sampled = now
        live = int(self.blocks.totals[k.BYTES_NOW])
        self._history.add(self.blocks.site_facts[:, k.SITE_LIVE])
        found = self._history.find(live)
        leaks = {f.site for f in found if f.kind == "leak"}
        plateaus = [f for f in self._plateaus(now) if f.site not in leaks]
        self.found = in_turn(found + plateaus, _MOST_FOUND)

    def _plateaus(self, now: int) -> list[Found]:
        k, items = self.blocks.k, self.blocks.items
        alone = np.where(items[:, k.ALONE] == 1, items[:, k.LIVE], 0)
        live = int(self.blocks.totals[k.BYTES_NOW])
        return find_plateaus(alone, now - items[:, k.LAST], items[:, k.OWNER], self.window_ns, live)

    def _wall(self, now: int) -> list[Rows]:
        """Return new pieces of the curves: live bytes, allocations a second, the idle share."""
        k = self.blocks.k
        when, before = self._curve
        spent = now - when
        if spent < _CURVE_STEP * self.window_ns:
            return []
        totals = self.blocks.totals
        live, allocated = int(totals[k.BYTES_NOW]), int(totals[k.ALLOCATED])
        since, earlier = self._rate
        rate = before[1]
        if now - since > 0.02 * self.window_ns:
            rate = (allocated - earlier) / ((now - since) / 1e9)
            self._rate = (now, allocated)
        if now - self._idle_at > _IDLE_STEP * self.window_ns and len(self.blocks.blocks):
            self._idle_at = now
            self._idle_share = self.blocks.idle(now - self._pause) / max(live, 1)
        value = np.array([live, rate, self._idle_share])
        self._curve = (now, value)
        if not when:
            return []
        if (value[:2] > self._most[:2]).any():
            self._most[:2] = np.where(value[:2] > self._most[:2], 1.3 * value[:2], self._most[:2])
            self.relaid = True
        piece = rows(
            np.tile([when, now], (3, 1)), _CURVE_KEY - np.arange(3), _CURVES + np.arange(3), before, value
        )
        self._pieces.append(piece)
        del self._pieces[: -int(1 / _CURVE_STEP)]
        return [piece]

    # -- where it lies ------------------------------------------------------------------------------------

    def sections(self, given: Rows) -> Section:
        out: Section = np.empty((len(given), 2, 4, 2), np.float32)
        own: Any = given.key >= 0
        if own.all():
            own = slice(None)
        item = given.key[own]
        low, high = self._x[item, 0], self._x[item, 1]
        apart = np.minimum(_GAP, 0.1 * (high - low))
        wide = np.maximum((high - low - apart) * given.value[own, 2], 0.008)
        inside = (high > -0.02) & (low < _WIDTH + 0.02) & (high > low)
        low = np.clip(low, 0.0, _WIDTH)
        across = np.stack([low, np.where(inside, np.clip(low + wide, 0.0, _WIDTH), low)], axis=1)
        rise = np.where(inside, self._rise[item], 0.0)
        ground = np.zeros(len(item))
        for end in (0, 1):
            top = (_LOW + _HEIGHT * given.value[own, end]) * rise
            out[own, end] = boxes(across, np.stack([ground, top], axis=1))[:, 0]
        for number, (bottom, top) in enumerate(_STRIPES):
            curve = given.key == _CURVE_KEY - number
            n = int(np.count_nonzero(curve))
            if not n:
                continue
            share = np.minimum(given.value[curve, :2] / self._most[number], 1.0)
            up = _HEIGHT * (bottom + (top - bottom) * share) + 0.01
            base = np.full(n, _HEIGHT * bottom)
            for end in (0, 1):
                out[curve, end] = boxes(np.tile(_WALL, (n, 1)), np.stack([base, up[:, end]], axis=1))[:, 0]
        district = given.key <= _DISTRICT_KEY
        if district.any():
            _, span = self._spans()
            which = np.minimum(_DISTRICT_KEY - given.key[district], len(span) - 1)
            across = np.clip(span[which], 0.0, _WIDTH)
            out[district] = boxes(across, np.tile([-0.16, -0.04], (len(which), 1)))
        return out

    def colors(self) -> NDArray[np.float32]:
        use, young, old = colors("ffd966 6fa8dc 3d4f8f")
        together, resting, rested = colors("d8d9dc 9fa3aa 5f646d")
        shade = np.linspace(0, 1, _SHADES)[:, None]
        grey = np.concatenate([together[None], resting + (rested - resting) *
                               np.linspace(0, 1, _TOGETHER_SHADES)[:, None]])  # fmt: skip
        ribs = np.stack([grey, 0.72 * grey], axis=1).reshape(-1, 3)
        return np.asarray(
            np.concatenate(
                [use[None], young + (old - young) * shade, ribs, colors("8a8f98 c9ccd2 55c7a5 e8863a c77dd6")]
            ),
            np.float32,
        )

    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (-3.0, _WIDTH), (-1.9 if self.by_site else -0.6, _HEIGHT)

    def legend(self) -> list[tuple[str, NDArray[np.float32]]]:
        found = self.colors()
        window = duration(self.window_ns)
        entries = [
            ("in use", found[_IN_USE]),
            (f"idle: the longer the higher, up to {window}", found[_IDLE + 6]),
        ]
        items = self.blocks.items
        if (items[:, self.blocks.k.ALONE] == 0).any():
            entries.append(("ribs: several blocks, too narrow to be seen alone", found[_TOGETHER + 4]))
        if self.logarithmic:
            entries.append(("widths are logarithms of bytes, not bytes", found[_DISTRICTS]))
        names = ("live bytes", "allocations a second", "idle share")
        return entries + [(name, found[_CURVES + i]) for i, name in enumerate(names)]

    # -- texts --------------------------------------------------------------------------------------------

    def texts(self, now: int) -> list[Text]:
        return [*self._wall_texts(), *(self._district_texts() if self.by_site else self._ruler_texts()),
                *self._item_texts(now)]  # fmt: skip

    def _wall_texts(self) -> list[Text]:
        value = self._curve[1]
        words = (
            byte_size(value[0]),
            f"{count_text(round(value[1]))} allocations/s",
            f"{percentage(value[2])} idle",
        )
        return [
            Text(text, _WALL[0] - 0.15, _HEIGHT * (low + 0.35 * (high - low)), 0.3, align=1)
            for text, (low, high) in zip(words, _STRIPES, strict=True)
        ]

    def _ruler_texts(self) -> list[Text]:
        """Return the ruler in front; it tells bytes side by side, where widths are bytes."""
        if self.logarithmic or not len(self._places):
            return []
        first = self.blocks.low
        span = _WIDTH / self._per_unit
        step = 2.0 ** math.ceil(math.log2(max(span / 7, 1)))
        at = np.arange(math.ceil(first / step) * step, first + span, step)
        # Offsets from a far beginning need more digits than a size has: then from the left edge.
        start = first if first > 50 * step else 0.0
        if start:
            at = np.arange(first, first + span, step)
        sign = "+" if start else ""
        return [
            Text(sign + byte_size(a - start), float(a - first) * self._per_unit, -0.5, 0.3, align=0)
            for a in at.tolist()
        ]

    def _district_texts(self) -> list[Text]:
        """Return the names of call sites in front of their districts; those that are widest win."""
        site, span = self._spans()
        span = np.clip(span, 0.0, _WIDTH)
        wide = span[:, 1] - span[:, 0]
        chosen = [i for i in np.argsort(-wide, kind="stable")[:_MOST_NAMED].tolist() if wide[i] > 0.08]
        out: list[Text] = []
        free = [-1.0] * _NAME_ROWS
        for i in sorted(chosen, key=lambda i: float(span[i, 0])):
            left = float(span[i, 0])
            name = self.site_name(int(site[i]))
            row = next((r for r in range(_NAME_ROWS) if free[r] <= left), -1)
            if row < 0:
                continue
            room = max(_WIDTH + 2.0 - left, 1.0)
            free[row] = left + _CHARACTER * 0.27 * len(name) + 0.3
            out.append(Text(name, left, -0.5 - 0.37 * row, 0.27, room=room))
        return out

    def _item_texts(self, now: int) -> list[Text]:
        """Return the names of the largest blocks, and what was found."""
        k, items = self.blocks.k, self.blocks.items
        alone = (items[:, k.ALONE] == 1) & (items[:, k.LIVING] > 0)
        out, taken = [], list[tuple[float, float, float]]()

        def put(words: str, item: int, size: float, warns: bool) -> None:
            left, right = (float(x) for x in np.clip(self._x[item], 0.0, _WIDTH))
            age = min(max(now - int(items[item, k.LAST]), 0) / self.window_ns, 1.0)
            height = _LOW + _HEIGHT * age * float(self._rise[item]) + 0.12
            room = max(right - left, _CHARACTER * size * len(words) if warns else 2.2)
            begin = left if not warns else min(max(left, 0.0), _WIDTH - room)
            if warns:
                # Above what is said already.
                while any(
                    begin < b and a < begin + room and abs(h - height) < 1.2 * size for a, b, h in taken
                ):
                    height += 1.25 * size
            elif right <= left or any(
                begin < b and a < begin + room and abs(h - height) < 1.2 * size for a, b, h in taken
            ):
                return
            taken.append((begin, begin + room, height))
            out.append(Text(words, begin, height, size, room=room, warns=warns))

        for found in self.found:
            item = found.item if found.item >= 0 else self._largest_of(found.site)
            if 0 <= item < len(items):
                put(self.words_of(found), item, 0.29, True)
        largest = np.argsort(-np.where(alone, items[:, k.LIVE], 0), kind="stable")[:_LARGEST_NAMED]
        for item in largest.tolist():
            if alone[item]:
                name = f"{self.site_name(int(items[item, k.OWNER]))} {byte_size(float(items[item, k.LIVE]))}"
                put(name, item, 0.24, False)
        return out

    def _largest_of(self, site: int) -> int:
        """Return the widest item of a call site that is there; -1: none."""
        k, items = self.blocks.k, self.blocks.items
        mine = np.flatnonzero((items[:, k.OWNER] == site) & (items[:, k.LIVING] > 0))
        return int(mine[np.argmax(items[mine, k.LIVE])]) if len(mine) else -1

    def findings(self) -> list[str]:
        return [self.words_of(found) for found in self.found]

    def words_of(self, found: Found) -> str:
        """Return what was found in a few words."""
        site, size = self.site_name(found.site), byte_size(found.bytes)
        window = duration(self.window_ns)
        return {
            "leak": f"leak? {site}: +{size} in {window}",
            "saw-tooth": f"saw-tooth, {found.times} × {size}: {site}",
            "plateau": f"plateau: {site}, {size}"
            + (f" in {found.times} blocks" if found.times > 1 else "")
            + f" untouched for {window}",
        }[found.kind]

    def site_name(self, site: int) -> str:
        """Return the name of a call site."""
        return self.blocks.sites.names[site] if 0 <= site < len(self.blocks.sites) else "several call sites"

    def facts(self) -> str:
        k, totals = self.blocks.k, self.blocks.totals
        if not len(self.blocks.blocks):
            return "The program publishes no memory"
        live, blocks = int(totals[k.BYTES_NOW]), int(totals[k.BLOCKS_NOW])
        words = f"{byte_size(live)} in {blocks:,} blocks live"
        words += f"  ·  x: {'by call site' if self.by_site else 'in the order of creation'}"
        if self.sight != (0.0, 1.0):
            words += f", {percentage(self.sight[0])} to {percentage(self.sight[1])} of it"
        lost = [f for f in self.found if f.item < 0 and self._largest_of(f.site) < 0]
        words += "".join(f"  ·  {self.words_of(f)}" for f in lost)
        unknown = int(totals[k.UNKNOWN])
        return words + (f"  ·  {unknown:,} frees and accesses of blocks that came before" if unknown else "")

    # -- pointing -----------------------------------------------------------------------------------------

    def tell(self, row: Rows, at: int, now: int) -> Said | None:
        key = int(row.key[0])
        if key <= _DISTRICT_KEY:
            site, _ = self._spans()
            return self._said_of_site(int(site[min(_DISTRICT_KEY - key, len(site) - 1)]))
        if key < 0:
            return self._said_of_curve(_CURVE_KEY - key, row, at)
        k, items = self.blocks.k, self.blocks.items
        if key >= len(items):
            return None
        item = items[key]
        b = int(item[k.FIRST])
        idle = row.value[0, 1] > 0
        if item[k.ALONE] == 1 and b < len(self.blocks.blocks):
            return self._said_of_block(self.blocks.blocks[b], bool(idle), at, now)
        living, live = int(item[k.LIVING]), int(item[k.LIVE])
        owner = int(item[k.OWNER])
        said = Said(f"{int(item[k.COUNT]):,} blocks, too narrow to be seen alone", self.site_name(owner))
        said.rows = [
            ("live now", f"{byte_size(live)} in {living:,} blocks"),
            ("last access", f"{duration(max(now - int(item[k.LAST]), 0))} ago, of any of them"),
            ("here", ("idle" if idle else "in use") + f", {duration(max(now - at, 0))} ago"),
            ("closer", "Ctrl and the wheel take them apart"),
        ]
        said.subject = Subject(site=self.site_name(owner)) if owner >= 0 else None
        return said

    def _said_of_block(self, block: NDArray[np.int64], idle: bool, at: int, now: int) -> Said:
        k = self.blocks.k
        born, died, touched = int(block[k.BORN]), int(block[k.DIED]), int(block[k.TOUCHED])
        size, address = int(block[k.SIZE]), int(block[k.ADDRESS])
        lives = died == k.ALIVE
        until = now if lives else died
        site = self.site_name(int(block[k.SITE]))
        said = Said(f"Block of {byte_size(size)}", f"{site} · 0x{address:x}")
        said.rows = [
            ("allocated", f"{duration(max(now - born, 0))} ago"),
            ("lives" if lives else "lived", duration(max(until - born, 0))),
            (
                "last access",
                f"{duration(max(until - touched, 0))} {'ago' if lives else 'before it was freed'}",
            ),
            ("here", ("idle" if idle else "in use") + f", {duration(max(now - at, 0))} ago"),
        ]
        if not lives:
            said.rows.insert(2, ("freed", f"{duration(max(now - died, 0))} ago"))
        thread = int(block[k.THREAD])
        threads = self.growing.threads()
        if 0 <= thread < len(threads):
            said.rows.append(("thread", threads[thread][2] or f"thread {threads[thread][1]}"))
        said.subject = Subject(address=address, size=size, site=site)
        return said

    def _said_of_site(self, site: int) -> Said:
        said = Said(self.site_name(site), "call site")
        if 0 <= site < len(self.blocks.sites):
            live, living, allocated, _ = self.blocks.site_facts[site].tolist()
            said.rows = [
                ("live", f"{byte_size(live)} in {living:,} blocks"),
                ("allocations", f"{allocated:,} so far"),
            ]
            said.rows += [("found", self.words_of(f)) for f in self.found if f.site == site]
            said.subject = Subject(site=self.site_name(site))
        return said

    def _said_of_curve(self, number: int, row: Rows, at: int) -> Said:
        begin, end = row.time[0].tolist()
        share = min(max((at - begin) / max(end - begin, 1), 0.0), 1.0)
        value = float(row.value[0, 0] + share * (row.value[0, 1] - row.value[0, 0]))
        name = ("Live bytes", "Allocations a second", "Idle share of the live bytes")[number]
        text = (byte_size(value), count_text(round(value)), percentage(value))[number]
        return Said(name, rows=[("here", text), ("time", duration(at, 3))])

    def settle(self) -> None:
        """Take together anew what has become too narrow or too wide: every few seconds, if it matters."""
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
        # While it begins all blocks are wide: later ones may be taken together, or come apart.
        stale |= not 0.5 * self.blocks.least < least < 2.0 * self.blocks.least
        full = len(items) > 3 * len(self.blocks._items) // 4
        if stale or full or int(past.sum()) > max(len(items) // 2, 64):
            self._wants_cut = True


def _kind(
    height: NDArray[np.floating[Any]],
    age: NDArray[np.int64],
    one: NDArray[np.bool_],
    second: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the kinds of rows by their heights; ``age`` is 0 where they are in use."""
    idle = age > 0
    alone = np.where(idle, _IDLE + np.minimum((height * _SHADES).astype(np.int64), _SHADES - 1), _IN_USE)
    shade = np.minimum((height * _TOGETHER_SHADES).astype(np.int64), _TOGETHER_SHADES - 1)
    together = _TOGETHER + 2 * np.where(idle, 1 + shade, 0) + second
    return np.where(one, alone, together)
