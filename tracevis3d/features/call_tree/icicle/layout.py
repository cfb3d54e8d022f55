"""The layout of an icicle: the shown part of a trace, the lanes, and the camera."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.primitives import Camera
from ....drawing.projection import fit
from ....errors import UsageError
from ....layout.cut import Cut, CutBuffers, busy_time, call_span, cut_index, joined, levels_of_row
from ....layout.icicle import Lanes, level_heights, stack_lanes
from ....trace.model import Trace
from ....trace.names import lane_title
from ....trace.profile import counted_calls
from ....units import percentage
from ....views.thread_selection import choose_threads
from ....views.time_window import WIDTH, time_window

if TYPE_CHECKING:
    from .parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Average width of a character, as a share of the line height.
CHARACTER = 0.52
#: Share of the picture for the drawing, next to title, legend and notes.
SHARE = (0.95, 0.75)
_HIGHEST_LEVEL = 0.5
_LEAST_LANE = 0.24
# Line height of the smaller texts, in scene units, and its minimum relative to the smallest readable one.
_SMALL_TEXT, _READABLE = 0.16, 1.9
# Minimum height of a level in pixels when threads are chosen automatically. If fewer threads than these have
# room for such levels, so many are drawn, and the lanes of others are folded; of so few in all none is.
_LEAST_LEVEL_PX, _FEW, _ALL_OPEN = 10.0, 6, 3
# How much more height than there is the lane of the busiest thread may need to be unfolded.
_FOR_BUSIEST = 1.3
#: By how much a level is lower in the opened picture, which has depth and is seen from above.
_FURTHER = 0.25
#: How much finer than straight ones times are drawn on a spiral, for each turn.
FINER = 0.8
#: Levels that threads which unfold by themselves have together.
UNFOLDED = 32
#: Height of a folded lane, in scene units and in levels; maximum number of lanes of which some are folded.
_FOLDED, _FOLDED_LEVELS, _MOST_LANES = 0.28, 1.3, 120
#: A box reaches out no further than so many levels of a given height.
_REACH = 1.5
#: From where a window first looks at a wall that is to be read: straight, and a little from above.
_READING = math.radians(5.0)


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout, from which all parts of the drawing are made.

    Attributes
    ----------
    trace : Trace
        What is drawn.
    parameters : Parameters
        Those of the view.
    window : (int, int)
        Nanoseconds.
    threads : int64 (lanes,)
    lane_of : int64 (threads,)
        Lane of each thread of the trace; -1: not drawn.
    first_depth : int
    lanes : Lanes
    plate : float
        Thickness in scene units of a box whose measure is 0.
    reach : float
        How much thicker a box at the high end of the measure's scale is.
    camera : Camera
    pixels_per_unit : float
        At the nearest part of the wall.
    least_text : float
        Pixels that a line of text needs to be read.
    small_text : float
        Line height in scene units of names and of the smaller rulers.
    folded : bool (lanes,)
        Which lanes are folded.
    """

    trace: Trace
    parameters: Parameters
    window: tuple[int, int]
    threads: Ints
    lane_of: Ints
    first_depth: int
    lanes: Lanes
    plate: float
    reach: float
    camera: Camera
    pixels_per_unit: float
    least_text: float
    small_text: float
    folded: NDArray[np.bool_]

    @property
    def text(self) -> float:
        """Line height in scene units of the larger texts."""
        return 1.25 * self.small_text

    @property
    def can_fold(self) -> bool:
        """Whether lanes show if they are folded, and stay where they are."""
        return bool(self.parameters.unfolded.strip())

    @property
    def line(self) -> float:
        """Height of a line for which the levels of what is read in a window have room; else 0."""
        return 0.74 * self.parameters.level if self.can_fold else 0.0

    @property
    def apart(self) -> float:
        """How far the last colour stands in front of the first."""
        return self.parameters.opening * self.parameters.apart

    @property
    def front(self) -> float:
        """The y of the front edge of the lowest terrace."""
        return -(self.plate + 1.08 * self.reach + self.apart)


def compose(trace: Trace, p: Parameters, frame: Frame) -> tuple[Layout, Cut, str]:
    """Choose what to show and lay out the lanes; also return the cut, and a note on threads left out.

    Parameters
    ----------
    trace : Trace
    p : Parameters
    frame : Frame
        Of the picture.

    Returns
    -------
    (Layout, Cut, str)

    Raises
    ------
    UsageError
        If the window or the range of depths is empty, or a thread doesn't exist.
    """
    if p.last_depth and p.last_depth < p.first_depth:
        raise UsageError(f"last_depth={p.last_depth}: it must not be less than first_depth={p.first_depth}")
    if frame.straight:
        # From the front a wall has the picture's whole height, no thickness is seen, and a spiral is flat.
        p = replace(p, turn=0.0, tilt=0.0, relief=0.0, opening=0.0 if p.winding else p.opening)
    window = time_window(trace, p.start, p.end)
    deepest = np.maximum(np.diff(cut_index(trace).thread_level) - p.first_depth, 1).astype(np.float64)
    if p.last_depth:
        deepest = np.minimum(deepest, max(p.last_depth - p.first_depth + 1, 1))
    unit = WIDTH / (frame.width * SHARE[0])
    pixels = _LEAST_LEVEL_PX * (1.0 + _FURTHER * p.opening) * unit
    cost = np.maximum(deepest * pixels, _LEAST_LANE) + p.spacing * pixels
    height = _wall_height(p, frame, 0.0, 1.0)
    steady = bool(p.unfolded.strip())
    # Lanes that can be folded stay where they are whatever part of the time is shown.
    busy = busy_time(trace, time_window(trace, "", "") if steady else window)
    threads, folded = _chosen(trace, p, busy, deepest, cost, _FOLDED + p.spacing * pixels, height)
    lane_of = np.full(len(trace.threads), -1, np.int64)
    lane_of[threads] = np.arange(len(threads))
    levels = deepest[threads].astype(np.int64) if steady else None

    buffers = CutBuffers()

    def cut_at(pixels_per_unit: float, lanes: Lanes | None) -> Cut:
        usual = p.level or height / max(float(deepest[threads[~folded]].sum()), 1.0)
        longer = max(FINER * p.winding, 1.0)
        resolution = p.resolution * (window[1] - window[0]) / (WIDTH * pixels_per_unit * longer)
        # Calls without duration at the very end are included.
        stop = window[1] + (window[1] >= call_span(trace)[1])
        return joined(
            [
                cut_index(trace).cut(
                    window[0], stop, p.first_depth, p.last_depth or None, max(resolution, 1.0), some, buffers,
                    step,
                )
                for some, step in rows_of(threads, folded, lanes, usual, pixels_per_unit)
            ],
            trace.calls,
        )  # fmt: skip

    small_text = max(_SMALL_TEXT, _READABLE * frame.least_text * (WIDTH + 2.5) / (frame.width * SHARE[0]))
    left = 0.25 + small_text * _name_length(trace, threads) if len(threads) > 1 else 5.6 * small_text
    # The camera depends on the lanes' heights, these on the cut, and the cut on the camera's resolution.
    pixels, lanes = frame.width * SHARE[0] / WIDTH, None
    for _ in range(4):
        cut = cut_at(pixels, lanes)
        lanes = _lanes(trace, p, cut, lane_of, folded, window, height, levels)
        usual = float(np.median(lanes.height[~folded])) if (~folded).any() else 0.0
        if p.level:
            usual = min(usual, _REACH * p.level)
        plate, reach = min(0.12, 0.15 * usual), p.opening * p.relief * min(4.8, 1.3 * usual)
        deep = plate + 1.08 * reach + p.opening * p.apart
        lanes = replace(lanes, back=p.opening * p.recede * deep * np.arange(len(threads)))
        picture = Layout(
            trace,
            p,
            window,
            threads,
            lane_of,
            p.first_depth,
            lanes,
            plate,
            reach,
            _camera(p, lanes, deep, left, height if steady else math.inf),
            0.0,
            frame.least_text,
            small_text,
            folded,
        )
        now = _pixels_per_unit(picture, frame)
        height = _wall_height(p, frame, float(np.ptp([picture.front, *lanes.back])), left)
        if abs(now / pixels - 1) < 0.01:
            break
        pixels = now
    return replace(picture, pixels_per_unit=now), cut, _left_out(trace, picture, cut, busy)


def _chosen(
    trace: Trace, p: Parameters, busy: Ints, deepest: Floats, cost: Floats, low: float, height: float
) -> tuple[Ints, NDArray[np.bool_]]:
    """Choose the threads that have lanes, and those of them whose lanes are folded.

    Parameters
    ----------
    trace : Trace
    p : Parameters
    busy : int64 (threads,)
        Nanoseconds.
    deepest : float64 (threads,)
        Levels of each.
    cost : float64 (threads,)
        Height of each one's lane with all of its levels.
    low : float
        Height of a folded lane.
    height : float
        The height that there is.

    Returns
    -------
    (int64 (k,), bool (k,))
    """
    steady, automatic = bool(p.unfolded.strip()), p.threads.strip() in ("", "auto")
    wanted = f"busiest {_MOST_LANES}" if steady and automatic else p.threads
    threads = choose_threads(trace, wanted, p.order, busy, cost, height)
    folded = ~_unfolded(trace, p, threads, busy, deepest)
    if not steady and automatic and len(threads) < _FEW:
        many, opened = _grouped(busy, cost, low, height)
        threads = choose_threads(trace, f"busiest {many}", p.order, busy, cost, height)
        folded = ~np.isin(threads, opened)
    return threads, folded


def _grouped(busy: Ints, cost: Floats, low: float, height: float) -> tuple[int, Ints]:
    """Return how many of the busiest threads are drawn, and those of them that are not folded.

    As many aren't as have room for levels that can be seen, the busiest one with somewhat lower ones, too; at
    least one, and all of a few.

    Parameters
    ----------
    busy : int64 (threads,)
        Nanoseconds.
    cost : float64 (threads,)
        Height of each one's lane with all of its levels.
    low : float
        Height of a folded lane.
    height : float
        The height that there is.

    Returns
    -------
    (int, int64 (k,))
    """
    live = np.flatnonzero(busy > 0)
    by_time = live[np.argsort(-busy[live], kind="stable")]
    if len(by_time) <= _ALL_OPEN:
        return len(by_time), by_time
    many = min(len(by_time), _FEW)
    left, opened = height - many * low, []
    for thread in by_time[:many].tolist():
        if cost[thread] - low <= left * (_FOR_BUSIEST if thread == by_time[0] else 1.0):
            opened.append(thread)
            left -= max(float(cost[thread]) - low, 0.0)
    return many, np.array(opened or by_time[:1], np.int64)


def _unfolded(trace: Trace, p: Parameters, threads: Ints, busy: Ints, deepest: Floats) -> NDArray[np.bool_]:
    """Return which of ``threads`` show all of their levels."""
    wanted = p.unfolded.strip()
    if wanted in ("", "all") or len(threads) == 1:
        return np.ones(len(threads), np.bool_)
    if wanted == "none":
        return np.zeros(len(threads), np.bool_)
    if wanted == "auto":
        by_time = threads[np.argsort(-busy[threads], kind="stable")].tolist()
        left, chosen = float(UNFOLDED), []
        for thread in by_time:
            if deepest[thread] <= left:
                chosen.append(thread)
                left -= float(deepest[thread])
        return np.isin(threads, chosen or by_time[:1])
    return np.isin(threads, choose_threads(trace, wanted, p.order, busy, deepest, 0.0))


def rows_of(
    threads: Ints, folded: NDArray[np.bool_], lanes: Lanes | None, level: float, pixels_per_unit: float
) -> list[tuple[Ints, int]]:
    """Return the threads that are drawn with as many levels of a row, and how many these are.

    Parameters
    ----------
    threads : int64 (lanes,)
    folded : bool (lanes,)
    lanes : Lanes or None
        None: not known yet; folded ones count like others.
    level : float
        Height of a level in scene units.
    pixels_per_unit : float

    Returns
    -------
    list of (int64 (k,), int)
    """
    step = np.full(len(threads), levels_of_row(level, pixels_per_unit), np.int64)
    if lanes is not None and len(lanes.share):
        heights = level * lanes.share
        step = np.array([levels_of_row(high, pixels_per_unit) for high in heights.tolist()], np.int64)
        # A few cuts, not one for each thread.
        step = 2 ** np.ceil(np.log2(step)).astype(np.int64)
    return [(threads[step == one], int(one)) for one in np.unique(step)] or [(threads, 1)]


def _left_out(trace: Trace, picture: Layout, cut: Cut, busy: Ints) -> str:
    """Return a note on the threads that have calls in the window and are not drawn; empty if none is."""
    others = np.setdiff1d(np.flatnonzero(busy > 0), picture.threads)
    if not len(others):
        return ""
    index = cut_index(trace)
    calls = index.cut(cut.t0, cut.t1, cut.depth0, cut.depth1, math.inf, others).total
    share = float(busy[others].sum()) / float(busy.sum())
    live = int(np.count_nonzero(busy))
    return (
        f"{live - len(others):,} of {live:,} threads with calls are drawn; the others (threads=all) have "
        f"{counted_calls(trace, calls)} and {percentage(share)} of the time"
    )


def _wall_height(p: Parameters, frame: Frame, depth: float, left: float) -> float:
    """Return the height with which the drawing fills the picture's width and height alike.

    ``depth`` is its extent along y, ``left`` the room beside the wall. Seen from the side and from above,
    a wide wall rises in the picture.
    """
    turn, tilt = math.radians(abs(p.opening * p.turn)), math.radians(p.opening * p.tilt)
    wide = WIDTH * math.cos(turn) + depth * math.sin(turn) + left
    rise = (WIDTH * math.sin(turn) + depth * math.cos(turn)) * abs(math.sin(tilt)) + 0.9
    tall = wide * frame.height * SHARE[1] / (frame.width * SHARE[0])
    return max((tall - rise) / max(math.cos(tilt), 0.2), 0.2 * WIDTH)


def _lanes(
    trace: Trace,
    p: Parameters,
    cut: Cut,
    lane_of: Ints,
    folded: NDArray[np.bool_],
    window: tuple[int, int],
    height: float,
    levels: Ints | None,
) -> Lanes:
    """Return the lanes; ``levels`` (n,) is how many each has, None: as many as are drawn."""
    calls, clusters, lanes = trace.calls, cut.clusters, len(folded)
    depth = calls.depth[cut.calls]
    top = cut.deepest(calls)
    if levels is None:
        levels = np.ones(lanes, np.int64)
        np.maximum.at(levels, lane_of[calls.thread[cut.calls]], top - cut.depth0 + 1)
        np.maximum.at(levels, lane_of[clusters.thread], clusters.bottom.astype(np.int64) - cut.depth0 + 1)
    most = int(levels.max(initial=1))
    inside = np.minimum(calls.end[cut.calls], window[1]) - np.maximum(calls.start[cut.calls], window[0])
    cover = np.zeros(most)
    cover += np.bincount(depth - cut.depth0, inside, most)
    cover += np.bincount(clusters.depth - cut.depth0, clusters.end - clusters.start, most)
    cover = np.repeat(cover[:: cut.step], cut.step)[:most]
    return stack_lanes(
        levels,
        level_heights(cover, p.opening * p.taper),
        total=height,
        highest=_HIGHEST_LEVEL,
        least=min(_LEAST_LANE, 0.8 * height / lanes) if lanes > 1 else 0.0,
        spacing=p.spacing,
        level=p.level,
        folded=folded,
        low=max(_FOLDED_LEVELS * p.level, _FOLDED),
    )


def _camera(p: Parameters, lanes: Lanes, front: float, left: float, most: float) -> Camera:
    """Return the camera: of a wall higher than ``most`` that is to be read, on its lower part."""
    turn, tilt = math.radians(p.opening * p.turn), math.radians(p.opening * p.tilt)
    direction = (math.sin(turn) * math.cos(tilt), -math.cos(turn) * math.cos(tilt), math.sin(tilt))
    # Horizontal texts reach back, or forward, beside the wall.
    beside = left * abs(math.sin(turn))
    low = (-left, -front, -0.75)
    high = (WIDTH + 0.2, beside + (float(lanes.back[-1]) if len(lanes) else 0.0), max(lanes.top, 0.5))
    camera = Camera(direction=direction, low=low, high=high, lens=100.0)
    if math.isinf(most):
        return camera
    reading = (0.0, -math.cos(_READING), math.sin(_READING))
    if high[2] > most:
        camera = replace(camera, high=(*high[:2], most), all_of_it=(low, high))
    return replace(camera, reading=reading)


def _pixels_per_unit(picture: Layout, frame: Frame) -> float:
    """Return how many pixels a unit along x covers where the wall is nearest to the camera."""
    projection = fit(picture.camera, frame, SHARE)
    step = 0.01
    ends = [(x, picture.front, z) for x in (0.0, WIDTH) for z in (0.0, picture.lanes.top)]
    here = projection.pixels(ends)
    there = projection.pixels([(x + step, y, z) for x, y, z in ends])
    return float(np.hypot(*(there - here).T).max() / step)


def _name_length(trace: Trace, threads: Ints) -> float:
    """Return the width of the longest name of ``threads`` in line heights, about."""
    return CHARACTER * max((len(lane_title(trace, int(t))) for t in threads), default=0)
