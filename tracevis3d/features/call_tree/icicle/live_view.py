"""The live icicle: lanes of threads, the calls of each stacked by depth, *now* at the right."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from ....drawing.picked import Description
from ....drawing.primitives import Legend, LegendEntry
from ....drawing.selector import Selector
from ....drawing.stream import (
    BESIDE,
    LENGTH,
    Bars,
    LabelList,
    Sections,
    StreamLabels,
    bars,
    box_sections,
)
from ....formats.names import module_of_function
from ....live.growing import GrowingTrace
from ....live.stream.calls import CallStream, Ended
from ....live.stream.description import describe_call, short
from ....live.stream.kinds import Kinds
from ....live.stream.lanes import LEVELS, Lanes
from ....live.stream.live_view import LiveView
from ....units import counted

_MOST_LANES = 16
#: Scene units: the height of all lanes, of one level, between lanes, and the depth of a box.
_TOTAL, _HIGHEST, _GAP, _DEPTH = 6.4, 0.5, 0.3, 0.9
#: Maximum number of names on boxes; minimum width of a named box, as a share of the window.
_MOST_NAMES, _LEAST_SHARE = 90, 0.035
#: Share of the pale colour in bars that represent several calls, and that colour.
_PALE, _GREY = 0.45, np.array([[0.72, 0.73, 0.75, 1.0]], np.float32)


class Icicle(LiveView):
    """The calls of each thread, stacked by depth."""

    hidden_what = "calls deeper than 64, or of threads beyond 16"

    def __init__(self, growing: GrowingTrace, window_ns: int) -> None:
        super().__init__(growing, window_ns)
        self.kinds = Kinds()
        self._by_function = False
        self.calls = CallStream(growing, self._kind, LEVELS)
        self.lanes = Lanes(growing, _MOST_LANES)
        self._table = self.lanes.levels(_TOTAL, _HIGHEST, _GAP)
        #: Duration, number, start, end, key and function of calls whose names may be shown.
        self._long: list[tuple[int, int, int, int, int, int]] = []
        self._numbered = 0
        self._labels: dict[int, str] = {}

    def _kind(self, name: str) -> int:
        if self._by_function:
            return self.kinds.number(short(name))
        return self.kinds.number(module_of_function(name))

    def advance(self) -> Bars:
        self.calls.learn()
        parts = []
        for thread in range(len(self.growing.calls_of_threads())):
            if not self.calls.has_news(thread):
                continue
            lane = self.lanes.lane(thread)
            if lane < 0:
                continue
            ended = self.calls.advance(thread, self.cell_ns, self.growing.now - self.window_ns)
            if len(ended):
                self.lanes.see(lane, int(ended.time[:, 1].max()))
                parts.append(self._bars(lane, ended))
                self._note(lane, ended)
                self.kinds.weigh(ended.kind, (ended.time[:, 1] - ended.time[:, 0]).astype(np.float64))
        self.hidden = self.calls.deeper + self.calls.lost
        self._note_lanes()
        return Bars.joined(parts)

    def _note_lanes(self) -> None:
        self.relaid |= self.lanes.changed
        self.lanes.changed = False

    def ongoing(self, now: int) -> Bars:
        parts = []
        for lane, thread in self.lanes.used():
            going = self.calls.open(thread, now)
            if len(going):
                parts.append(self._bars(lane, going))
        return Bars.joined(parts)

    def _bars(self, lane: int, ended: Ended) -> Bars:
        if self.lanes.reach(lane, int(ended.level.max())):
            self.relaid = True
        return bars(ended.time, lane * LEVELS + ended.level, 1 + 2 * ended.kind + (ended.count > 0),
                    ended.function, ended.count)  # fmt: skip

    def _note(self, lane: int, ended: Ended) -> None:
        """Store the calls that are long enough for a name."""
        length = ended.time[:, 1] - ended.time[:, 0]
        for i in np.flatnonzero((length > _LEAST_SHARE * self.window_ns) & (ended.count == 0)).tolist():
            self._numbered += 1
            start, end = ended.time[i].tolist()
            entry = (end - start, self._numbered, start, end, lane * LEVELS + int(ended.level[i]),
                     int(ended.function[i]))  # fmt: skip
            heapq.heappush(self._long, entry)
            if len(self._long) > 4 * _MOST_NAMES:
                heapq.heappop(self._long)

    def lay_out(self) -> None:
        self._table = self.lanes.levels(_TOTAL, _HIGHEST, _GAP)

    def sections(self, given: Bars) -> Sections:
        base, high = self._table[given.key, 0], self._table[given.key, 1]
        across = np.tile(np.array([0.0, _DEPTH], np.float32), (len(given), 1))
        return box_sections(across, np.stack([base, base + 0.94 * high], axis=1))

    def settle(self) -> None:
        if not self._by_function and len(self.kinds.names) < 2 and self._one_module():
            # With a single module, functions have the colours.
            self._by_function = True
            self.kinds = Kinds()
            self.calls.relearn()
            self.recolored = True
        now = self.growing.now
        self.lanes.release(now - self.window_ns)
        self._note_lanes()
        for lane, thread in self.lanes.used():
            going = self.calls.open(thread, now)
            self.lanes.reach(lane, int(going.level.max(initial=0)))
            begun = np.maximum(going.time[:, 0], now - self.window_ns)
            self.kinds.weigh(going.kind, (now - begun).astype(np.float64))
        if self.kinds.settle():
            self.recolored = True
        if self.lanes.shrink(now, self.window_ns):
            self.relaid = True

    def _one_module(self) -> bool:
        names = self.growing.functions()
        return len(names) > 1 and len({module_of_function(name) for name in names}) < 2

    def palette(self) -> NDArray[np.float32]:
        full = self.kinds.colors()
        pale = full + (_GREY - full) * np.float32(_PALE)
        both = np.stack([full, pale], axis=1).reshape(-1, 4)
        return np.concatenate([_GREY, both])

    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        top = float((self._table[:, 0] + self._table[:, 1]).max())
        return (0.0, _DEPTH), (0.0, max(top, 1.0))

    def legend(self) -> Legend:
        number = {name: 1 + 2 * i for i, name in enumerate(self.kinds.names)}
        # Behind each colour comes its paler one.
        found = [
            LegendEntry(name, number[name], stands_for=Selector(((number[name], number[name] + 1),)))
            for name in self.kinds.colored
        ]
        if found:
            pale = Selector(tuple((i + 1, i + 1) for i in number.values()))
            found.append(LegendEntry("paler: several calls", 0, stands_for=pale))
        return Legend("", tuple(found))

    def labels(self, now: int) -> StreamLabels:
        since = now - self.window_ns
        self._long = [entry for entry in self._long if entry[3] > since]
        heapq.heapify(self._long)
        unit = LENGTH / self.window_ns
        lanes, names = LabelList("thread"), LabelList("name")
        chosen = [(start, end, key, function) for _, _, start, end, key, function in
                  heapq.nlargest(_MOST_NAMES, self._long)]  # fmt: skip
        for lane, thread in self.lanes.used():
            going = self.calls.open(thread, now)
            for i in np.flatnonzero(going.count == 0).tolist():
                start, key = int(going.time[i, 0]), lane * LEVELS + int(going.level[i])
                if now - start > _LEAST_SHARE * self.window_ns:
                    chosen.append((start, now, key, int(going.function[i])))
            base, high = (float(x) for x in self._table[lane * LEVELS])
            size = min(0.34, max(0.2, 1.2 * high))
            place = (self.beside, 0.0, base + 0.3 * high + 0.1 * size)
            lanes.add(self.lanes.name(lane), place, size, BESIDE)
        for start, end, key, function in chosen:
            base, high = (float(x) for x in self._table[key])
            size = min(0.8 * high, 0.3)
            if size < 0.09:
                continue
            begin = max(start, since)
            place = (self.time_of(begin, now) + 0.08, -0.01, base + 0.47 * high)
            names.add(self._label(function), place, size, max((end - begin) * unit - 0.16, 0.0))
        return StreamLabels((names.labels(),), (lanes.labels(),))

    def _label(self, function: int) -> str:
        if function not in self._labels:
            self._labels[function] = short(self.growing.functions(function)[0])
        return self._labels[function]

    def describe(self, bar: Bars, at: int, now: int) -> Description | None:
        function, count = int(bar.value[0, 0]), int(bar.value[0, 1])
        lane, level = divmod(int(bar.key[0]), LEVELS)
        said = describe_call(self.growing, bar, function, count, now)
        said.rows += [("thread", self.lanes.name(lane)), ("depth", str(level + 1))]
        return said

    def facts(self) -> str:
        more = self.lanes.without
        return f"{counted(more, 'more thread')} not shown" if more else ""
