"""The live interactions: a drum of modules, open to the reader; each call from one to another is a chord."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.palettes import PALETTES, cycle, parse
from ...drawing.picked import Description
from ...drawing.primitives import Legend, LegendEntry
from ...drawing.selector import Selector
from ...drawing.stream import Bars, LabelList, Sections, StreamLabels, bars
from ...formats.names import module_of_function
from ...kernels.live import live_bars as f
from ...live.growing import GrowingTrace
from ...live.stream.live_view import LiveView
from ...units import duration

#: Maximum number of distinguished modules, and of places on the ring; the last one is for all others.
_MODULES, _PLACES = 256, 30
#: Slices of the window; chords of a slice; pieces of a chord.
_SLICES, _MOST_CHORDS, _PIECES = 120, 48, 7
#: Maximum number of calls of one thread processed in a tick.
_MOST_CALLS = 1 << 17
_RADIUS = 4.2
#: How far chords stay from the middle: 0 through it.
_OUTWARD = 0.22
_RAIL = 1 << 24  # added to the key of a rail
#: Kinds: the pieces of a chord from caller to callee, then the rails of places.
_RAILS = _PIECES


class Interactions(LiveView):
    """Modules on a ring; chords from caller to callee, as thick as there are calls."""

    along = "y"
    straight = False
    direction = (0.17, -0.96, 0.15)

    def __init__(self, growing: GrowingTrace, window_ns: int) -> None:
        super().__init__(growing, window_ns)
        self._functions = 0
        #: Module of each function, its name, its place on the ring.
        self._module_of = np.zeros(256, np.int32)
        self._modules: dict[str, int] = {}
        self._place = np.full(_MODULES, _PLACES - 1)
        #: Modules on the ring, in their order there.
        self._ring: list[int] = []
        self._weight = np.zeros(_MODULES)
        self._begun: set[int] = set()
        self._slice = -1
        self._counts = np.zeros((_MODULES, _MODULES), np.int64)
        self._most = 1.0
        self.calls = 0

    @property
    def hidden_what(self) -> str:  # type: ignore[override]
        return f"pairs of modules with few calls in their slice, beyond {_MOST_CHORDS} a slice,"

    def _learn(self) -> None:
        for name in self.growing.functions(self._functions):
            if self._functions >= len(self._module_of):
                self._module_of = np.concatenate([self._module_of, np.zeros_like(self._module_of)])
            found = self._modules.setdefault(module_of_function(name), len(self._modules))
            self._module_of[self._functions] = min(found, _MODULES - 1)
            self._functions += 1

    def settle(self) -> None:
        """Give the places on the ring to the modules with most calls from and to others."""
        weight = self._weight.copy()
        # A module only takes a place from one with clearly fewer calls.
        weight[self._ring] *= 2.0
        best = [int(m) for m in np.argsort(-weight, kind="stable")[: _PLACES - 1] if weight[m] > 0]
        self._weight *= 0.8
        if set(best) != set(self._ring):
            # Those that stay keep their order, new ones come where their numbers put them.
            self._ring = sorted(best)
            self._place[:] = len(self._ring)
            self._place[self._ring] = np.arange(len(self._ring))
            self.relaid = self.recolored = True

    @property
    def _names(self) -> list[str]:
        by_number = list(self._modules)
        others = 0 < len(self._ring) < len(self._modules)
        return [by_number[m] for m in self._ring] + (["others"] if others else [])

    def advance(self) -> Bars:
        self._learn()
        now = self.growing.now
        length = max(self.window_ns // _SLICES, 1)
        current = now // length
        parts = []
        if not self._ring and self._weight.any():
            self.settle()
        if current != self._slice:
            if self._slice >= 0:
                parts.append(self._chords(self._slice * length, length))
            self._slice = current
            self._counts[:] = 0
        pairs: list[NDArray[np.int64]] = []
        for thread, calls in enumerate(self.growing.calls_of_threads()):
            if thread not in self._begun:
                self._begun.add(thread)
                calls.begin_view(now - length, 0)
            for segment, first, last in calls.unseen(_MOST_CALLS):
                calls.view_state[f.SEEN] = last
                if last == first:
                    continue
                function, parent = segment.function, segment.parent[first:last]
                has = parent >= 0
                callee = self._module_of[function[first:last][has]]
                caller = self._module_of[function[parent[has]]]
                other = callee != caller
                self.calls += int(other.sum())
                pairs.append(caller[other].astype(np.int64) * _MODULES + callee[other])
        if pairs:
            found = np.bincount(np.concatenate(pairs), minlength=_MODULES**2).reshape(_MODULES, _MODULES)
            self._counts += found
            self._weight += found.sum(axis=0) + found.sum(axis=1)
        return Bars.joined(parts)

    def _chords(self, start: int, length: int) -> Bars:
        """Return the chords of a slice: those of the pairs with the most calls."""
        pair = np.flatnonzero(self._counts.reshape(-1))
        count = self._counts.reshape(-1)[pair]
        order = np.argsort(-count, kind="stable")
        self.hidden += max(len(order) - _MOST_CHORDS, 0)
        pair, count = pair[order[:_MOST_CHORDS]], count[order[:_MOST_CHORDS]]
        if not len(pair):
            return Bars.empty()
        self._most = max(0.98 * self._most, float(count.max()))
        # Of a slice a third is a chord's, so that one sees through between slices.
        time = np.tile([start, start + length // 3], (len(pair) * _PIECES, 1))
        piece = np.tile(np.arange(_PIECES), len(pair))
        half = 0.010 + 0.06 * np.sqrt(count / self._most)
        return bars(time, np.repeat(pair, _PIECES) * _PIECES + piece, piece, np.repeat(half, _PIECES),
                    np.repeat(count, _PIECES))  # fmt: skip

    def ongoing(self, now: int) -> Bars:
        length = max(self.window_ns // _SLICES, 1)
        n = len(self._names)
        time = np.tile([now - self.window_ns, now], (n, 1))
        rails = bars(time, _RAIL + np.arange(n), _RAILS + np.arange(n))
        hidden = self.hidden
        going = self._chords(now - length // 3, length)
        self.hidden = hidden
        return Bars.joined([rails, going])

    def _angle(self, place: NDArray[Any]) -> NDArray[np.float64]:
        n = max(len(self._names), 3)
        return np.asarray(math.pi / 2 - 2 * math.pi * (place + 0.5) / n)

    def sections(self, given: Bars) -> Sections:
        out: Sections = np.empty((len(given), 2, 4, 2), np.float32)
        rail = given.key >= _RAIL
        angle = self._angle(given.key[rail] - _RAIL)
        half = 0.13 * 2 * math.pi / max(len(self._names), 3)
        for corner, (turn, radius) in enumerate(((-half, 1.03), (half, 1.03), (half, 1.07), (-half, 1.07))):
            out[rail, :, corner] = _on_ring(angle + turn, radius)[:, None]
        own = ~rail
        pair, piece = given.key[own] // _PIECES, given.key[own] % _PIECES
        a = _on_ring(self._angle(self._place[pair // _MODULES]), 1.0)
        b = _on_ring(self._angle(self._place[pair % _MODULES]), 1.0)
        points, tangent = [], b - a
        # The two directions are side by side.
        aside = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
        aside /= np.maximum(np.linalg.norm(aside, axis=1, keepdims=True), 1e-9)
        middle = np.array([0.0, _RADIUS]) + _OUTWARD * ((a + b) / 2 - [0.0, _RADIUS]) + 0.12 * aside
        for u in (piece / _PIECES, (piece + 1) / _PIECES):
            u = u[:, None]
            points.append((1 - u) ** 2 * a + 2 * u * (1 - u) * middle + u**2 * b)
        along = points[1] - points[0]
        side = np.stack([-along[:, 1], along[:, 0]], axis=1)
        side *= given.value[own, :1] / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-9)
        corners = (points[0] - side, points[0] + side, points[1] + side, points[1] - side)
        for corner, at in enumerate(corners):
            out[own, :, corner] = at[:, None]
        return out

    def palette(self) -> NDArray[np.float32]:
        caller, callee = parse("5aa0ff ff9a4d")
        share = np.linspace(0, 1, _PIECES)[:, None]
        kinds = PALETTES["muted"].kinds
        places = kinds[cycle(max(len(self._names), 1), len(kinds))]
        return np.asarray(np.concatenate([caller + (callee - caller) * share, places]), np.float32)

    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (-1.45 * _RADIUS, 1.45 * _RADIUS), (-0.15 * _RADIUS, 2.15 * _RADIUS)

    def legend(self) -> Legend:
        half = _PIECES // 2
        caller, callee = Selector(((0, half - 1),)), Selector(((half + 1, _PIECES - 1),))
        entries = (
            LegendEntry("at the caller", 0, stands_for=caller),
            LegendEntry("at the callee", _PIECES - 1, stands_for=callee),
        )
        return Legend("", entries)

    def labels(self, now: int) -> StreamLabels:
        sides = {-1: LabelList("module", -1), 0: LabelList("module", 0), 1: LabelList("module", 1)}
        n = len(self._names)
        size = float(np.clip(7.0 / max(n, 1), 0.22, 0.42))
        for place, name in enumerate(self._names):
            angle = float(self._angle(np.array(place)))
            x, z = _on_ring(np.array([angle]), 1.11)[0].tolist()
            side = math.cos(angle)
            align = 0 if abs(side) < 0.15 else (-1 if side > 0 else 1)
            sides[align].add(name, (self.beside, x, z), size)
        return StreamLabels(still=tuple(names.labels() for names in sides.values()))

    def describe(self, bar: Bars, at: int, now: int) -> Description | None:
        key = int(bar.key[0])
        if key >= _RAIL:
            names = self._names
            return Description(names[key - _RAIL], "module") if key - _RAIL < len(names) else None
        names = list(self._modules)
        caller, callee = divmod(key // _PIECES, _MODULES)
        length = max(self.window_ns // _SLICES, 1)
        begin = int(bar.time[0, 0])
        said = Description(f"{names[caller]} calls {names[callee]}")
        said.rows = [
            ("calls", f"{int(bar.value[0, 1]):,} in {duration(length)}"),
            ("from", f"{duration(max(now - begin, 0))} ago, at {duration(max(begin, 0), 4)}"),
        ]
        return said

    def facts(self) -> str:
        return f"{self.calls:,} calls between modules; chords are thicker where there are more calls"


def _on_ring(angle: NDArray[Any], radius: float) -> NDArray[np.float64]:
    """Return points (n, 2) of the ring that stands on the ground."""
    return np.asarray(np.stack([radius * np.cos(angle), 1.0 + radius * np.sin(angle)], axis=-1) * _RADIUS)
