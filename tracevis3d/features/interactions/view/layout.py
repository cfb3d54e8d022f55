"""The layout of drums: the shown part of one or two traces, the places of the drums, and the camera."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Camera, Vector
from ....trace.cached_results import cached_with_traces
from ....trace.model import Trace
from ....views.time_window import time_window
from ..hierarchy import Hierarchy, reordered, shared_hierarchy
from ..interactions import Interactions, interactions
from ..layers import layers
from ..phase_names import names_of_kinds
from ..phases import Phases, find_phases, joined, shared_kinds
from ..rounds import Rounds, find_rounds
from ..sector_order import SectorOrder, shortest_ways
from .radial import MantleShape, Sectors, place_sectors

if TYPE_CHECKING:
    from .parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Scene units.
RADIUS, PAIR_LENGTH, PAIR_GAP = 3.0, 14.5, 9.0
#: Of one drum: so long that it fills a picture of this shape, beside the names; and with the rows of threads.
LENGTH, LONGER, SHAPE = 37.0, 44.0, 16 / 9
#: Other pictures have a drum so many times as long, at least and at most.
_SHORTEST, _LONGEST = 0.6, 1.5
#: Where time goes down: as high as fits beside the width of the sheet.
DOWN = 8.4
RING, RELIEF = 0.45, 1.5
#: How far the hierarchy is turned around the axis.
ROLL = math.radians(28.0)


@dataclass(frozen=True, eq=False)
class Drum:
    """One trace's drum.

    Attributes
    ----------
    trace : Trace
    source : int
    found : Interactions
        Elements numbered in the order of the sectors.
    low, high : int
        The window, among the interactions.
    window : (int, int)
        Nanoseconds.
    place : float64 (high - low,)
        Where each call of the window lies along the axis, 0 to 1.
    counts : int64 (pairs,)
        Calls of each pair in the window.
    phases, steps : Phases
        Coarse, and finer ones in which patterns recur.
    rounds : tuple of Rounds
        Where the run does nearly the same repeatedly.
    bend : Bend
    """

    trace: Trace
    source: int
    found: Interactions
    low: int
    high: int
    window: tuple[int, int]
    place: Floats
    counts: Ints
    phases: Phases
    steps: Phases
    rounds: tuple[Rounds, ...]
    bend: MantleShape

    @cached_property
    def phases_do(self) -> list[str]:
        """What each kind of phase is called."""
        return names_of_kinds(self.trace, self.found, self.phases)

    @cached_property
    def steps_do(self) -> list[str]:
        """What each kind of step is called."""
        return names_of_kinds(self.trace, self.found, self.steps)

    def at(self, i: Ints | int) -> Floats:
        """Return where interactions lie along the axis; past the last one its end."""
        inside = np.asarray(i, np.int64) - self.low
        padded = np.append(self.place, 1.0)
        return np.asarray(padded[np.clip(inside, 0, len(self.place))])


@dataclass(frozen=True, eq=False)
class Layout:
    """All drums, the hierarchy that they share, and the camera.

    Attributes
    ----------
    hierarchy : Hierarchy
    sectors : Sectors
    order : SectorOrder or None
    drums : tuple of Drum
    camera : Camera
    right, up : float64 (3,)
        Of the camera.
    flat : bool
        Nothing stands out of the plane: the exact twins of the paper's figures.
    """

    hierarchy: Hierarchy
    sectors: Sectors
    order: SectorOrder | None
    drums: tuple[Drum, ...]
    camera: Camera
    right: Floats
    up: Floats
    flat: bool

    def phases_do(self) -> dict[int, str]:
        """Return what kinds of phases are called, in all drums the same; some have no name."""
        does: dict[int, str] = {}
        for drum in self.drums:
            for kind, name in enumerate(drum.phases_do):
                # What names another kind says nothing of this one.
                if name and name not in does.values():
                    does.setdefault(kind, name)
        return does

    def name(self, node: int) -> str:
        """Return what a node is called in the picture: a container as all that is in it."""
        h = self.hierarchy
        if h.element[node] >= 0:
            return h.name[node] if h.by == "threads" else h.distinct[node]
        return h.name[node] + {"threads": "", "folders": "/*"}.get(h.by, ".*")

    @property
    def ring(self) -> float:
        """Outer edge of the ring, from the mantle."""
        return 0.1 + self.sectors.rings * RING


@dataclass(frozen=True, eq=False)
class Arrangement:
    """The layout: the shown part of one or two traces, and its place around the drum.

    Attributes
    ----------
    hierarchy : Hierarchy
    sectors : Sectors
    order : SectorOrder or None
    found : tuple of Interactions
        Of each trace.
    windows : tuple of (int, int)
        Nanoseconds.
    ranges : tuple of (int, int)
        The windows, among the interactions.
    counts : tuple of int64 (pairs,)
        Calls of each pair in the window.
    """

    hierarchy: Hierarchy
    sectors: Sectors
    order: SectorOrder | None
    found: tuple[Interactions, ...]
    windows: tuple[tuple[int, int], ...]
    ranges: tuple[tuple[int, int], ...]
    counts: tuple[Ints, ...]


def arrange(traces: Sequence[Trace], p: Parameters) -> Arrangement:
    """Find elements, sectors and the calls of the window.

    Parameters
    ----------
    traces : sequence of Trace
        One or two.
    p : Parameters

    Returns
    -------
    Arrangement

    Raises
    ------
    UsageError
        If a window is empty.
    """
    hierarchy, found, order = _data(traces, p.relation, p.level, p.hierarchy, p.elements, p.order)
    windows = [time_window(trace, p.start, p.end) for trace in traces]
    ranges = [f.range(*w) for f, w in zip(found, windows, strict=True)]
    counts = [f.counts(*r) for f, r in zip(found, ranges, strict=True)]
    # Busy elements get more room, idle ones enough to be pointed at. The whole run counts, so that they stay
    # where they are whatever window is shown.
    activity = np.sum([f.activity(f.counts(0, len(f))) for f in found], axis=0)
    share = np.sqrt(activity / max(float(activity.max(initial=0.0)), 1.0))
    sectors = place_sectors(hierarchy.parent, hierarchy.extent, hierarchy.element, 0.35 + share)
    return Arrangement(hierarchy, sectors, order, tuple(found), tuple(windows), tuple(ranges), tuple(counts))


def place_along(found: Interactions, low: int, high: int, window: tuple[int, int], axis: str) -> Floats:
    """Return where the interactions ``low`` up to ``high`` lie along the axis, 0 to 1, float64.

    Parameters
    ----------
    found : Interactions
    low, high : int
        The slice ``[low, high)`` of the calls.
    window : (int, int)
        Nanoseconds.
    axis : {"calls", "time"}
        What runs along it.

    Returns
    -------
    float64 (high - low,)
    """
    if axis == "time":
        return np.asarray((found.time[low:high] - window[0]) / max(window[1] - window[0], 1), np.float64)
    return np.asarray((np.arange(high - low) + 0.5) / max(high - low, 1), np.float64)


def compose(traces: Sequence[Trace], p: Parameters, shape: float = SHAPE) -> Layout:
    """Compute the layout.

    Parameters
    ----------
    traces : sequence of Trace
        One or two.
    p : Parameters
    shape : float
        Width of the picture, in heights: drums are as long as fits.

    Returns
    -------
    Layout

    Raises
    ------
    UsageError
        If a window is empty.
    """
    given = arrange(traces, p)
    sectors, found = given.sectors, given.found
    stretch = min(max(shape / SHAPE, _SHORTEST), _LONGEST)
    threads = max((len(np.unique(trace.calls.thread)) for trace in traces), default=1)
    bends = _bends(p, len(traces), stretch * (LONGER if threads > 1 else LENGTH), stretch * PAIR_LENGTH)
    drums = tuple(
        _drum(trace, s, found[s], given.windows[s], given.ranges[s], given.counts[s], bends[s], p)
        for s, trace in enumerate(traces)
    )
    drums = _same_kinds(drums)
    flat = p.opening == 0 and p.unroll in (0.0, 1.0)
    camera = _camera(drums, sectors, p)
    right, above = camera_axes(camera.direction, camera.up)
    return Layout(given.hierarchy, sectors, given.order, drums, camera, right, above, flat)


@cached_with_traces(most=8)
def _data(
    traces: Sequence[Trace], relation: str, level: str, kind: str, elements: int, order: str
) -> tuple[Hierarchy, list[Interactions], SectorOrder | None]:
    """Find elements and interactions, and number them in order; kept."""
    shared = shared_hierarchy(traces, level, kind, elements)  # type: ignore[arg-type]
    hierarchy = shared[0].hierarchy
    found = [interactions(trace, e, relation) for trace, e in zip(traces, shared, strict=True)]
    short = None
    ends = [np.concatenate([getattr(f, side) for f in found]) for side in ("caller", "callee")]
    times = np.concatenate([f.counts(0, len(f)) for f in found])
    if order == "short":
        short = shortest_ways(hierarchy, ends[0], ends[1], times)
        hierarchy, new = short.hierarchy, short.new_of_old
    else:
        rank = np.arange(len(hierarchy), dtype=np.float64)
        if order == "layers":
            rank[:] = layers(hierarchy, ends[0], ends[1], times)[0]
        if order == "name":
            names = sorted(range(len(hierarchy)), key=lambda i: hierarchy.name[i].casefold())
            rank[names] = np.arange(len(names))
        hierarchy, new = reordered(hierarchy, rank)
    found = [f.renumbered(new) for f in found]
    return hierarchy, found, short


def _drum(
    trace: Trace, source: int, found: Interactions, window: tuple[int, int], range_: tuple[int, int],
    counts: Ints, bend: MantleShape, p: Parameters,
) -> Drum:  # fmt: skip
    low, high = range_
    place = place_along(found, low, high, window, p.axis)
    least = p.phases / 100
    none = Phases(np.array([low, high], np.int64), np.zeros(int(high > low), np.int32), 0.0)
    phases = find_phases(found, low, high, least) if least > 0 else none
    steps = find_phases(found, low, high, least / 2) if least > 0 else none
    rounds = tuple(find_rounds(found, low, high)) if least > 0 else ()
    return Drum(trace, source, found, low, high, window, place, counts, phases, steps, rounds, bend)


def _same_kinds(drums: tuple[Drum, ...]) -> tuple[Drum, ...]:
    """Number kinds so that phases and steps of all drums that do the same are of one kind."""
    parts = [(drum.found, found) for drum in drums for found in (drum.phases, drum.steps)]
    kinds = shared_kinds(parts)
    return tuple(
        replace(
            drum,
            phases=_named_alike(drum.phases, kinds[2 * i]),
            steps=_named_alike(drum.steps, kinds[2 * i + 1]),
        )
        for i, drum in enumerate(drums)
    )


def _named_alike(phases: Phases, kind: NDArray[np.int32]) -> Phases:
    """Return the phases with these kinds; neighbours that are of one kind now are one phase."""
    kept = np.concatenate([[True], kind[1:] != kind[:-1]])[: len(kind)]
    return replace(joined(replace(phases, kind=kind)), kind=kind[kept])


def downwards(p: Parameters) -> bool:
    """Return whether time goes down in the picture."""
    return p.direction == "down" or (p.direction == "auto" and p.opening == 0 and p.unroll == 1)


def _bends(p: Parameters, traces: int, alone: float, paired: float) -> list[MantleShape]:
    """Return how each drum lies: one ``alone`` that long, or two with their rings towards each other."""
    u, opening = p.unroll, p.opening
    full = DOWN if downwards(p) else alone if traces == 1 else paired
    length = full * (opening * (1 - u) + u)
    if downwards(p):
        first = MantleShape(RADIUS, length, u, (0, 0, -1), (1, 0, 0), (0, -1, 0), -ROLL)
        return [first] if traces == 1 else [replace(first, time=(0, 0, 1), origin=(0, 0, PAIR_GAP)), first]
    one = MantleShape(RADIUS, length, u, (1, 0, 0), (0, 0, -1), (0, -1, 0), ROLL)
    if traces == 1:
        return [one]
    half = PAIR_GAP / 2
    return [replace(one, time=(-1, 0, 0), origin=(-half, 0, 0)), replace(one, origin=(half, 0, 0))]


def _camera(drums: tuple[Drum, ...], sectors: Sectors, p: Parameters) -> Camera:
    u, opening = p.unroll, p.opening
    pair = len(drums) > 1
    turn = 0.0 if pair else (1 - u) * (90 - (90 - p.turn) * opening) + u * opening * p.turn * 0.4
    tilt = opening * p.tilt * (1 - 0.45 * u)
    if downwards(p):
        turn, tilt = 0.0, (1 - u) * (90 - (90 - p.tilt - 14) * opening) + u * opening * p.tilt * 0.5
    a, b = math.radians(turn), math.radians(tilt)
    direction = (-math.sin(a) * math.cos(b), -math.cos(a) * math.cos(b), math.sin(b))
    up: Vector = (0, 0, 1) if abs(direction[2]) < 0.99 else (0, 1, 0)
    s = np.linspace(0, 1, 65)
    out = 0.1 + sectors.rings * RING
    points = []
    for drum in drums:
        for t in (0.0, 1.0):
            points.append(drum.bend.mantle(s, np.full(65, t)))
        points += [
            drum.bend.brim(s, np.full(65, out), np.full(65, h))
            for h in (0.0, 0.5 * RELIEF * p.relief * opening)
        ]
    low, high = _box(np.concatenate(points), direction, up)
    return Camera(direction, low, high, up, "orthographic" if opening == 0 else "perspective", 85.0)


def camera_axes(direction: Vector, up: Vector) -> tuple[Floats, Floats]:
    """Return the unit vectors that point to the right and up in the picture.

    Parameters
    ----------
    direction : (float, float, float)
        From what is seen towards the camera.
    up : (float, float, float)
        Upwards in the picture, about.

    Returns
    -------
    (float64 (3,), float64 (3,))
    """
    forward = -np.array(direction) / np.linalg.norm(direction)
    right = np.cross(forward, np.array(up))
    right /= np.linalg.norm(right)
    return right, np.cross(right, forward)


def _box(points: Floats, direction: Vector, up: Vector) -> tuple[Vector, Vector]:
    """Return a box that looks as large as ``points`` from ``direction``: the one around them looks larger."""
    low, high = points.min(axis=0), points.max(axis=0)
    axes = camera_axes(direction, up)
    middle, half = (low + high) / 2, (high - low) / 2
    share = 0.0
    for axis in axes:
        seen = points @ axis
        middle = middle + axis * ((seen.max() + seen.min()) / 2 - middle @ axis)
        share = max(share, float(np.ptp(seen)) / max(2 * float(np.abs(half * axis).sum()), 1e-9))
    low, high = middle - share * half, middle + share * half
    return vector(low), vector(high)


def vector(v: Floats) -> Vector:
    """Return an array of three as the words take it."""
    return float(v[0]), float(v[1]), float(v[2])
