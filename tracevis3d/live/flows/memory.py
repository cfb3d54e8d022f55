"""The live memory: places of memory as ridges along time, *now* in front, higher the longer they are idle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...layout.ticks import duration
from ...layout.ticks import size as bytes_text
from ..growing import GrowingTrace
from .flow import Flow, Rows, Section, Text, boxes, colors, rows, short

#: Places at most, live blocks at most (powers of two), rows in a tick.
_PLACES, _BLOCKS, _MOST_ROWS = 4096, 1 << 20, 1 << 15
#: Rows of the feed that are taken in a tick.
_MOST_TAKEN = 100_000
#: Scene units across, and the height of what was idle for the whole window; the height of what is in use.
_WIDTH, _HEIGHT, _LOW = 15.0, 3.4, 0.12
#: Share of the window without a touch from which on a place is idle.
_PAUSE = 0.02
#: Kinds: in use, then shades of idle ones, then the curve of live bytes.
_IN_USE, _IDLE, _SHADES = 0, 1, 12
_CURVE = _IDLE + _SHADES
#: The key of the curve; its step as a share of the window.
_CURVE_KEY, _CURVE_STEP = -1, 1 / 240
_LARGEST_NAMED = 7


class Memory(Flow):
    """Places of memory: in use, idle, given back; and the live bytes on the wall beside them."""

    along = "y"
    direction = (0.17, -0.80, 0.50)
    hidden_what = "blocks for which there is no room"

    def __init__(self, growing: GrowingTrace, window_ns: int) -> None:
        from ...kernels import flowing as f

        super().__init__(growing, window_ns)
        self._f = f
        self._pages = np.full((2 * _PLACES, 2), -1)
        self._known = np.full((_BLOCKS, 3), -1)
        self._items = np.zeros((_PLACES, f.ITEM_SIZE), np.int64)
        self._totals = np.zeros(f.TOTALS_SIZE, np.int64)
        self._time = np.empty((_MOST_ROWS, 2), np.int64)
        self._item = np.empty((_MOST_ROWS, 3), np.int64)
        # All from the beginning: what lives now may have been allocated long ago.
        self._next = growing.batches("memory", 0)[1] - len(growing.batches("memory", 0)[0])
        self._session: Any = None
        self._bytes = 1.0  # that the width stands for
        self._most = 1.0  # live bytes that the curve is as high as the wall for
        self._curve = (0, 0.0)
        self._rate = (0, 0)
        self._per_second = 0.0

    def advance(self) -> Rows:
        batches, last = self.growing.batches("memory", self._next)
        self._next = last - len(batches)
        parts, taken = [], 0
        take: Any = self._f.flow_memory
        for batch in batches:
            # What came before somebody looked is caught up with in several ticks.
            if taken > _MOST_TAKEN:
                break
            self._next += 1
            taken += len(batch["kind"])
            self._session = batch["session"]
            address = batch["address"].view(np.int64) & ((1 << 62) - 1)
            n = take(
                np.ascontiguousarray(batch["kind"]), batch["time"], address, batch["size"],
                batch["stack"].astype(np.int64), np.int64(_PAUSE * self.window_ns), self._pages, self._known,
                self._items, self._totals, self._time, self._item,
            )  # fmt: skip
            parts.append(self._rows(self._time[:n], self._item[:n]))
        self._grow()
        self.hidden = int(self._totals[self._f.HOMELESS])
        since = self.growing.now - self.window_ns
        came = Rows.joined(parts)
        return Rows.joined([came[came.time[:, 1] > since], self._wall()])

    def _grow(self) -> None:
        f = self._f
        places = int(self._totals[f.PLACES])
        last = self._items[places - 1] if places else self._items[0]
        used = float(last[f.PLACE] + last[f.BYTES])
        if used > self._bytes:
            self._bytes, self.relaid = 1.25 * used, True
        live = float(self._totals[f.BYTES_NOW])
        if live > self._most:
            self._most, self.relaid = 1.3 * live, True

    def _wall(self) -> Rows:
        """Return new pieces of the curve of live bytes."""
        now, live = self.growing.now, float(self._totals[self._f.BYTES_NOW])
        when, before = self._curve
        if now - when < _CURVE_STEP * self.window_ns:
            return Rows.empty()
        self._curve = (now, live)
        since, allocated = self._rate
        if now - since > 1_000_000_000:
            total = int(self._totals[self._f.ALLOCATED])
            self._per_second = (total - allocated) / ((now - since) / 1e9)
            self._rate = (now, total)
        if not when:
            return Rows.empty()
        return rows(np.array([[when, now]]), np.array([_CURVE_KEY]), np.array([_CURVE]),
                    np.array([before]), np.array([live]))  # fmt: skip

    def _rows(self, time: NDArray[np.int64], item: NDArray[np.int64]) -> Rows:
        """Return rows of stretches: of idle ones the part in which they rise, and the plateau after it."""
        width = np.clip(item[:, 2] / np.maximum(self._items[item[:, 0], self._f.BYTES], 1), 0.04, 1.0)
        idle = item[:, 1] == 1
        length = (time[:, 1] - time[:, 0]) / self.window_ns
        top = np.where(idle, np.minimum(length, 1.0), 0.0)
        end = np.where(idle, time[:, 0] + np.minimum(length, 1.0) * self.window_ns, time[:, 1]).astype(
            np.int64
        )
        kind = _shade(top)
        first = rows(
            np.stack([time[:, 0], end], axis=1), item[:, 0],
            np.stack([np.where(idle, _IDLE, _IN_USE), np.where(idle, kind, _IN_USE)], axis=1),
            np.zeros(len(item)), top, width,
        )  # fmt: skip
        long = idle & (length > 1.0)
        if not long.any():
            return first
        n = int(long.sum())
        plateau = rows(np.stack([end[long], time[long, 1]], axis=1), item[long, 0],
                       np.full(n, _IDLE + _SHADES - 1), np.ones(n), np.ones(n), width[long])  # fmt: skip
        return Rows.joined([first, plateau])

    def front(self, now: int) -> Rows:
        f, places = self._f, int(self._totals[self._f.PLACES])
        items = self._items[:places]
        here = np.flatnonzero(items[:, f.BLOCKS] > 0)
        if not len(here):
            return Rows.empty()
        given = items[here]
        idle = now - given[:, f.TOUCHED] > _PAUSE * self.window_ns
        use = np.stack([given[:, f.BUSY], np.where(idle, given[:, f.TOUCHED], now)], axis=1)
        gone = use[:, 1] < now - self.window_ns
        in_use = np.stack([here, np.zeros(len(here), np.int64), given[:, f.LIVE]], axis=1)[~gone]
        rest = np.stack([given[:, f.TOUCHED], np.full(len(here), now)], axis=1)[idle]
        at_rest = np.stack([here, np.ones(len(here), np.int64), given[:, f.LIVE]], axis=1)[idle]
        return Rows.joined([self._rows(rest, at_rest), self._rows(use[~gone], in_use)])

    def sections(self, given: Rows) -> Section:
        f = self._f
        out: Section = np.empty((len(given), 2, 4, 2), np.float32)
        curve = given.key == _CURVE_KEY
        own = ~curve
        item = self._items[given.key[own]]
        scale = _WIDTH / self._bytes
        low = item[:, f.PLACE] * scale
        wide = np.maximum(item[:, f.BYTES] * scale * given.value[own, 2], 0.012)
        across = np.stack([low, low + wide], axis=1)
        for end in (0, 1):
            top = _LOW + _HEIGHT * given.value[own, end]
            out[own, end] = boxes(across, np.stack([np.zeros(len(top)), top], axis=1))[:, 0]
            top = _HEIGHT * given.value[curve, end] / self._most
            out[curve, end] = boxes(
                np.tile([-0.55, -0.45], (len(top), 1)), np.stack([np.zeros(len(top)), top], axis=1)
            )[:, 0]
        return out

    def colors(self) -> NDArray[np.float32]:
        use, young, old, curve = colors("ffd966 6fa8dc 3d4f8f 55c7a5")
        shade = np.linspace(0, 1, _SHADES)[:, None]
        return np.asarray(np.concatenate([use[None], young + (old - young) * shade, curve[None]]), np.float32)

    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (-0.6, _WIDTH), (0.0, _HEIGHT)

    def legend(self) -> list[tuple[str, NDArray[np.float32]]]:
        found = self.colors()
        window = duration(self.window_ns)
        return [("in use", found[_IN_USE]), ("just left idle", found[_IDLE]),
                (f"idle for {window} or longer (highest)", found[_CURVE - 1]),
                (f"live bytes, the wall is {bytes_text(self._most)} high", found[_CURVE])]  # fmt: skip

    def texts(self, now: int) -> list[Text]:
        out = []
        scale = _WIDTH / self._bytes
        step = 2.0 ** np.ceil(np.log2(max(self._bytes / 7, 1)))
        for at in np.arange(0, self._bytes, step).tolist():
            out.append(Text(bytes_text(at), at * scale, -0.42, 0.3, align=0))
        f, places = self._f, int(self._totals[self._f.PLACES])
        items = self._items[:places]
        largest = np.argsort(-items[:, f.LIVE] * (items[:, f.BLOCKS] > 0), kind="stable")[:_LARGEST_NAMED]
        taken: list[tuple[float, float]] = []
        for item in largest.tolist():
            name = self._site(int(items[item, f.SITE]))
            if not name or items[item, f.BLOCKS] <= 0:
                continue
            left = float(items[item, f.PLACE]) * scale
            room = max(float(items[item, f.BYTES]) * scale, 2.2)
            if any(left < b and a < left + room for a, b in taken):
                continue
            taken.append((left, left + room))
            age = min(max(now - int(items[item, f.TOUCHED]), 0) / self.window_ns, 1.0)
            words = f"{name} {bytes_text(float(items[item, f.LIVE]))}"
            out.append(Text(words, left, _LOW + _HEIGHT * age + 0.1, 0.24, room=room))
        return out

    def _site(self, stack: int) -> str:
        """Return the function that allocated; the innermost that is known."""
        frame = getattr(self._session, "frames", {}).get(stack)
        names = self.growing.functions(frame[0]) if frame else ()
        return short(names[0]) if names else ""

    def facts(self) -> str:
        f = self._f
        live, blocks = int(self._totals[f.BYTES_NOW]), int(self._totals[f.BLOCKS_NOW])
        places = int(self._totals[f.PLACES])
        if not places:
            return "The program publishes no memory"
        items = self._items[:places]
        idle = (self.growing.now - items[:, f.TOUCHED] > _PAUSE * self.window_ns) & (items[:, f.BLOCKS] > 0)
        share = float(items[idle, f.LIVE].sum()) / max(live, 1)
        words = f"{bytes_text(live)} in {blocks:,} blocks live, {self._per_second:,.0f} allocations a second"
        words += (
            f", {share:.0%} of it idle  ·  x: addresses in the order of their first use, unused ones left out"
        )
        unknown = int(self._totals[f.UNKNOWN])
        return words + (f"  ·  {unknown:,} blocks freed that were allocated before" if unknown else "")


def _shade(height: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    return _IDLE + np.minimum((height * _SHADES).astype(np.int64), _SHADES - 1)
