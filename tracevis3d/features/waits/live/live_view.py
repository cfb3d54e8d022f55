"""The live view of threads: rows that show what each does, what it waits for, and what releases it."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.palettes import parse
from ....drawing.picked import Description
from ....drawing.primitives import Legend, LegendEntry
from ....drawing.selector import Selector
from ....drawing.stream import BESIDE, Bars, LabelList, Sections, StreamLabels, bars, box_sections
from ....live.growing import GrowingTrace
from ....live.stream.calls import CallStream, Ended
from ....live.stream.description import describe_call, short
from ....live.stream.lanes import Lanes
from ....live.stream.live_bytes import LiveBytes
from ....live.stream.live_view import LiveView
from ....units import counted, duration
from ..operations import state_of_call, state_of_wait
from ..rules import STATES, Rule, default_rules

_MOST_ROWS = 24
#: Number of levels of calls in a row; deeper ones are merged with the last.
_LEVELS = 12
_WAIT, _RELEASE, _IO = 0, 1, 2
#: Kinds: calls by level, sleep, contention, other waits, I/O, what releases another thread, live bytes.
_CALLS, _SLEEPS, _CONTENTION = 0, _LEVELS, _LEVELS + 1
_WAITS, _READS, _LINK, _LIVE = range(_CONTENTION + 1, _CONTENTION + 5)
_LINKS = 1 << 20  # added to the key of a link
_BYTES = -1  # key of the curve of live bytes
#: Scene units: how high the rows lie above each other and how far behind; height of a row's calls.
_RADIUS, _BARS = 4.6, 0.52
#: Above them: the gap below the curve of live bytes, and its height.
_GAP, _CURVE = 0.35, 0.9
#: Maximum number of waits and transfers whose texts are stored.
_MOST_WORDS = 1 << 16
#: Maximum number of stored releases of an object, to find the thread that a wait was for.
_REMEMBERED = 512


class Threads(LiveView):
    """Rows of threads on a half cylinder: calls, waits, reading; links from releases to waits."""

    direction = (0.36, -0.80, 0.48)
    hidden_what = "rows of calls"

    def __init__(self, growing: GrowingTrace, window_ns: int) -> None:
        super().__init__(growing, window_ns)
        self.calls = CallStream(growing, lambda name: int(_sleeps(name)), 64)
        self.lanes = Lanes(growing, _MOST_ROWS)
        self._next = growing.batches("sync", 0)[1]
        batches, _ = growing.batches("sync", 0)
        # Of earlier releases only the last one matters.
        self._next -= min(len(batches), 64)
        #: Number -> operation and object of waits and transfers, of the last ones.
        self._words: dict[int, tuple[str, str]] = {}
        self._numbered = 0
        #: Of waits that have not ended: their numbers.
        self._said: dict[tuple[int, int], int] = {}
        #: Object -> (time, lane) of its last releases.
        self._released: dict[str, list[tuple[int, int]]] = {}
        self._place = np.zeros((_MOST_ROWS, 2), np.float32)
        #: Thread -> nanoseconds that it has waited for what others may hold, of all threads.
        self._waited: defaultdict[int, int] = defaultdict(int)
        self.waits = self._asleep = 0
        self._bytes = LiveBytes(growing, window_ns, _BYTES, _LIVE)

    def advance(self) -> Bars:
        self.calls.learn()
        parts = []
        since = self.growing.now - self.window_ns
        for thread in range(len(self.growing.calls_of_threads())):
            if self.calls.has_news(thread) and (lane := self._lane(thread)) >= 0:
                ended = self.calls.advance(thread, 2 * self.cell_ns, since)
                if len(ended):
                    self.lanes.see(lane, int(ended.time[:, 1].max()))
                    parts.append(self._calls(lane, ended))
        batches, self._next = self.growing.batches("sync", self._next)
        for batch in batches:
            parts += self._sync(batch, since)
        self.hidden = self.calls.lost
        before = bool(self._bytes)
        parts.append(self._bytes.advance(self.growing.now))
        self.relaid |= self._bytes.changed or bool(self._bytes) != before
        self._bytes.changed = False
        return Bars.joined(parts)

    def _lane(self, thread: int) -> int:
        lane = self.lanes.lane(thread)
        if self.lanes.changed:
            self.relaid = True
        self.lanes.changed = False
        return lane

    def settle(self) -> None:
        self.lanes.release(self.growing.now - self.window_ns)
        self.relaid |= self.lanes.changed
        self.lanes.changed = False

    def ongoing(self, now: int) -> Bars:
        parts, self._asleep = [], 0
        for lane, thread in self.lanes.used():
            going = self.calls.open(thread, now)
            if len(going):
                parts.append(self._calls(lane, going))
                # Short calls that are still being merged have ended.
                deepest = int(np.where(going.count == 0, going.level, -1).argmax())
                self._asleep += bool(going.count[deepest] == 0 and going.kind[deepest])
        return Bars.joined([*parts, self._lasting(now)])

    def _lasting(self, now: int) -> Bars:
        """Return the waits that have not ended."""
        lane_of = {thread: lane for lane, thread in self.lanes.used()}
        waits = {key: wait for key, wait in self.growing.waiting.items() if wait.thread in lane_of}
        self._said = {
            key: self._said[key] if key in self._said else self._number(wait.operation, wait.object)
            for key, wait in waits.items()
        }
        time = [(wait.start, max(now, wait.start + self.cell_ns)) for wait in waits.values()]
        lanes = np.array([lane_of[wait.thread] for wait in waits.values()], np.int64)
        said = np.array(list(self._said.values()), np.float32)
        kinds = np.array([_kind(wait.operation) for wait in waits.values()], np.int64)
        return bars(np.array(time, np.int64).reshape(-1, 2), lanes, kinds, said)

    def _calls(self, lane: int, ended: Ended) -> Bars:
        level = np.minimum(ended.level, _LEVELS - 1)
        shown = ended.level < _LEVELS
        kind = np.where(ended.kind, _SLEEPS, _CALLS + level)
        made = bars(ended.time, np.full(len(ended), lane), kind, level, ended.function, ended.count)
        return made[shown]

    def _sync(self, batch: Any, since: int) -> list[Bars]:
        """Return the rows of waits and I/O, and links to the waits from what ended them."""
        recent = batch["end"] >= since
        thread, kind = batch["thread"][recent], batch["kind"][recent]
        start, end, thing = batch["start"][recent], batch["end"][recent], batch["object"][recent]
        lane_of = {int(t): self._lane(int(t)) for t in np.unique(thread)}
        lane = np.array([lane_of[int(t)] for t in thread], np.int64)
        for t, last in zip(thread.tolist(), end.tolist(), strict=True):
            if lane_of[t] >= 0:
                self.lanes.see(lane_of[t], last)
        names = batch["object names"]
        links = []
        # Every object's releases in order: a loop over operations, of which there are few beside calls.
        for i in np.argsort(end, kind="stable")[-20_000:].tolist():
            if lane[i] < 0 or thing[i] < 0:
                continue
            name = names.get(int(thing[i]), str(thing[i]))
            if kind[i] == _RELEASE:
                known = self._released.setdefault(name, [])
                known.append((int(end[i]), int(lane[i])))
                del known[:-_REMEMBERED]
            elif kind[i] == _WAIT:
                if end[i] - start[i] < self.cell_ns:
                    continue
                for when, who in reversed(self._released.get(name, ())):
                    if when <= start[i]:
                        break
                    if when <= end[i] and who != lane[i]:
                        links.append((when, int(end[i]), who, int(lane[i])))
                        break
        waits = kind == _WAIT
        self.waits += int(waits.sum())
        called = batch["operation names"]
        operations, which = np.unique(batch["operation"][recent], return_inverse=True)
        kinds = np.array([_kind(called.get(o, "")) for o in operations.tolist()], np.int64)
        of_wait = kinds[which.reshape(-1)]
        # Who gets it at once was not held up.
        held_up = waits & (of_wait == _CONTENTION) & (end - start >= Rule.blocks)
        threads, mine = np.unique(thread[held_up], return_inverse=True)
        lasted = np.zeros(len(threads), np.int64)
        np.add.at(lasted, mine.reshape(-1), (end - start)[held_up])
        for t, ns in zip(threads.tolist(), lasted.tolist()):
            self._waited[t] += ns
        keep = (lane >= 0) & (kind != _RELEASE)
        lane, kind = lane[keep], kind[keep]
        time = np.stack([start[keep], np.maximum(end[keep], start[keep] + self.cell_ns)], axis=1)
        said = self._say(called, batch["operation"][recent][keep], names, thing[keep])
        parts = [bars(time, lane, np.where(kind == _WAIT, of_wait[keep], _READS), said)]
        if links:
            given = np.array(links, np.int64)
            least = np.maximum(given[:, 1], given[:, 0] + self.cell_ns)
            parts.append(
                bars(np.stack([given[:, 0], least], axis=1), _LINKS + given[:, 2] * _MOST_ROWS + given[:, 3],
                     np.full(len(given), _LINK))
            )  # fmt: skip
        return parts

    def _say(
        self, operations: Any, operation: NDArray[Any], names: Any, things: NDArray[Any]
    ) -> NDArray[np.float32]:
        """Store operation and object of some waits or transfers; return the numbers to look them up."""
        both = np.stack([operation.astype(np.int64), things.astype(np.int64)], axis=1)
        pairs, which = np.unique(both, axis=0, return_inverse=True)
        number = np.empty(len(pairs), np.float32)
        for i, (o, t) in enumerate(pairs.tolist()):
            number[i] = self._number(operations.get(o, ""), names.get(t, "") if t >= 0 else "")
        while len(self._words) > _MOST_WORDS:
            del self._words[next(iter(self._words))]
        return np.asarray(number[which.reshape(-1)])

    def _number(self, operation: str, thing: str) -> int:
        # Numbers have to be exact as float32; no window has so many.
        self._numbered = (self._numbered + 1) % (1 << 24)
        self._words[self._numbered] = (operation, thing)
        return self._numbered

    def describe(self, bar: Bars, at: int, now: int) -> Description | None:
        key, kind = int(bar.key[0]), int(bar.color[0, 0])
        begin, end = (int(t) for t in bar.time[0])
        if key == _BYTES:
            return self._bytes.describe(bar)
        if key >= _LINKS:
            giver, taker = divmod(key - _LINKS, _MOST_ROWS)
            said = Description(f"{self.lanes.name(giver)} releases {self.lanes.name(taker)}")
            ago = f"{duration(max(now - begin, 0))} ago"
            said.rows = [("released", ago), ("wait ended", f"{duration(end - begin)} later")]
            return said
        if kind <= _SLEEPS:
            said = describe_call(self.growing, bar, int(bar.value[0, 1]), int(bar.value[0, 2]), now)
            said.rows += [("thread", self.lanes.name(key)), ("depth", str(int(bar.value[0, 0]) + 1))]
            return said
        operation, thing = self._words.get(int(bar.value[0, 0]), ("", ""))
        said = Description("Input or output" if kind == _READS else "Wait", operation)
        said.rows = [("object", thing)] if thing else []
        said.rows += [
            ("begun", f"{duration(max(now - begin, 0))} ago, at {duration(begin, 4)}"),
            ("so far" if end >= now else "duration", duration(end - begin, 4)),
            ("thread", self.lanes.name(key)),
        ]
        return said

    def lay_out(self) -> None:
        """Spread the rows on a quarter of a cylinder that opens towards the reader."""
        used = [lane for lane, _ in self.lanes.used()]
        n = max(len(used), 1)
        share = np.arange(n) / max(n - 1, 1) if n > 1 else np.zeros(1)
        # A few threads don't need all of it.
        opening = min(1.0, 0.25 + n / 12)
        angle = share * np.pi / 2 * opening
        radius = max(_RADIUS, 0.42 * n)
        self._place = np.zeros((_MOST_ROWS, 2), np.float32)
        if used:
            self._place[used, 0] = radius * np.sin(angle)
            self._place[used, 1] = radius * (1 - np.cos(angle)) + 0.12 * np.arange(n)

    def sections(self, given: Bars) -> Sections:
        out: Sections = np.empty((len(given), 2, 4, 2), np.float32)
        link = given.key >= _LINKS
        curve = given.key == _BYTES
        own = ~(link | curve)
        across, base = self._place[given.key[own], 0], self._place[given.key[own], 1]
        kind = given.color[own, 0]
        # Waits stand before the calls, so that both are seen.
        apart = kind > _SLEEPS
        before = np.where(apart, -0.2, 0.0).astype(np.float32)
        deep = np.where(apart, 0.14, 0.42).astype(np.float32)
        level = given.value[own, 0]
        heights = _BARS / _LEVELS * np.stack([level, level + 1], axis=1)
        heights[apart] = [0.0, 0.34]
        sides = np.stack([across + before, across + before + deep], axis=1)
        out[own] = box_sections(sides, base[:, None] + heights)
        if curve.any():
            side, bottom = self._above()
            out[curve] = self._bytes.sections(given[curve], (side, side + 0.1), (bottom, bottom + _CURVE))
        pair = given.key[link] - _LINKS
        for end, lane in ((0, pair // _MOST_ROWS), (1, pair % _MOST_ROWS)):
            a, h = self._place[lane, 0] - 0.16, self._place[lane, 1] + 0.2
            out[link, end] = box_sections(
                np.stack([a - 0.03, a + 0.03], axis=1), np.stack([h - 0.03, h + 0.03], axis=1)
            )[:, 0]
        return out

    def _above(self) -> tuple[float, float]:
        """Return where across the curve of live bytes stands, and its height: above the highest row."""
        highest = self._place[int(self._place[:, 1].argmax())]
        return float(highest[0]), float(highest[1]) + _BARS + _GAP

    def palette(self) -> NDArray[np.float32]:
        low, high = parse("8f7d57 e3cf9e")
        shade = np.linspace(0, 1, _LEVELS)[:, None]
        found = np.concatenate(
            [low + (high - low) * shade, parse("a3bfb2 d55e00 a3bfb2 0072b2 8b93a0 8a7cc2")]
        )
        return np.asarray(found, np.float32)

    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        used = self._place
        high = float(used[:, 1].max()) + _BARS + (_GAP + _CURVE if self._bytes else 0.0) + 0.1
        return (-0.25, float(used[:, 0].max()) + 0.45), (0.0, high)

    def legend(self) -> Legend:
        return Legend(
            "",
            (
                LegendEntry(
                    "calls; higher: deeper ones", _LEVELS - 3, stands_for=Selector(((_CALLS, _LEVELS - 1),))
                ),
                LegendEntry("waits for what another may hold", _CONTENTION),
                LegendEntry(
                    "other waits, or sleep",
                    _WAITS,
                    stands_for=Selector(((_SLEEPS, _SLEEPS), (_WAITS, _WAITS))),
                ),
                LegendEntry("reads or writes", _READS),
                LegendEntry("from a release to the wait that it ended", _LINK),
                *([LegendEntry("live bytes, the most at each time", _LIVE)] if self._bytes else []),
            ),
        )

    def labels(self, now: int) -> StreamLabels:
        names, warnings = LabelList("thread"), LabelList("warning")
        wrong = {thread: alarm.kind for alarm in reversed(self.alarms) for thread in alarm.threads}
        used = self.lanes.used()
        n = len(used)
        size = 0.34 if n <= 8 else max(0.2, 0.34 - 0.012 * (n - 8))
        for lane, thread in used:
            across, height = (float(x) for x in self._place[lane])
            place = (self.beside, across, height + 0.06 + 0.3 * size)
            if thread in wrong:
                warnings.add(f"{self.lanes.name(lane)}: {wrong[thread]}", place, size, BESIDE)
            else:
                names.add(self.lanes.name(lane), place, size, BESIDE)
        values = LabelList("value")
        if self._bytes:
            side, bottom = self._above()
            values.add(self._bytes.words(), (self.beside, side, bottom + 0.3 * _CURVE), size, BESIDE)
        return StreamLabels(still=(names.labels(), warnings.labels(), values.labels()))

    def facts(self) -> str:
        now, lasting = self.growing.now, list(self.growing.waiting.values())
        held_up = [wait for wait in lasting if _kind(wait.operation) == _CONTENTION]
        waited = self._waited.copy()
        for wait in held_up:
            waited[wait.thread] += max(now - wait.start, 0)
        words = counted(self.waits + len(lasting), "wait")
        if waited:
            worst = max(waited, key=waited.__getitem__)
            held = f"{duration(waited[worst])} for what others may hold"
            words += f", the longest of {self.lanes.name_of(worst)}: {held}"
        many = {
            "held up": len(held_up),
            "waiting otherwise": len(lasting) - len(held_up),
            "asleep": self._asleep,
        }
        at_present = ", ".join(f"{n:,} {what}" for what, n in many.items() if n)
        words += f"; now {at_present}" if at_present else ""
        more = self.lanes.without
        return words + (f"; {more} more threads not shown" if more else "")


@lru_cache(maxsize=4096)
def _kind(operation: str) -> int:
    """Return the kind of a wait, by the name of its operation."""
    contention = STATES[state_of_wait(operation, default_rules())] == "contention"
    return _CONTENTION if contention else _WAITS


def _sleeps(function: str) -> bool:
    """Return whether calls of a function wait for nothing but time, by its name."""
    state = state_of_call(function, short(function), default_rules())
    return state >= 0 and STATES[state] == "sleep"
