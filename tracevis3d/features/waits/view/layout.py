"""The layout of threads: which are shown, their windows, and their rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.primitives import Camera
from ....drawing.projection import fit, straight
from ....layout.cut import Cut, call_span, cut_index, levels_of_row
from ....layout.icicle import level_heights
from ....trace.model import ALLOC, Trace
from ....trace.names import named_threads
from ....views.time_window import time_window
from ..waits import Waits
from .geometry.above_rows import Overview, place_overview, place_skyline
from .geometry.amphitheatre import Theatre, folded, half_cylinder, semicircle, share_height
from .rows.choice import ROOM, choose, windows_of

if TYPE_CHECKING:
    from .parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Scene units that the time window is wide.
WIDTH = 16.0
#: Share of the picture for the drawing, next to title, legend, notes and the rows' names.
SHARE = (0.80, ROOM)
#: Radius of the half cylinder, and heights of the main thread's panel, in scene units.
RADIUS, MAIN_HEIGHT = 2.8, 1.7
#: Free height between the main thread's panel and the half cylinder.
APART = 0.42
#: Height of the paper's picture: the main thread's part, and the semicircle below it.
PAPER_HEIGHT = MAIN_HEIGHT + APART + 0.5 * WIDTH
_MANY_ROWS = 16
#: Line height of the texts of a finding's picture, in lines of the least height.
_FINDING_TEXT = 2.7
#: In it the queue is so many times as high, so that the names of those that hold something can be read.
_HIGHER_SKYLINE = 1.5
#: Levels that a row of several threads has at least.
_LEAST_GROUP = 3
_HIGHEST_LEVEL = 0.16  # of the half cylinder's radius


@dataclass(frozen=True, eq=False)
class Row:
    """The place of a thread, or of several that share a row.

    Attributes
    ----------
    thread : int
        The first of ``threads``.
    window : (int, int)
        Nanoseconds.
    levels : int
        Levels that are drawn.
    threads : int64 (k,)
        All threads of the row; of several it shows how many do what, not their calls.
    rest : bool
        Whether these are the threads for which there is no room, which need have nothing in common.
    """

    thread: int
    window: tuple[int, int]
    levels: int
    threads: Ints
    rest: bool


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout, from which all parts of the drawing are made.

    Attributes
    ----------
    trace : Trace
        What is drawn.
    waits : Waits
        Its waits.
    parameters : Parameters
        Those of the view.
    rows : tuple of Row
        From the top; the main thread, if there is one, is the first.
    row_of : int64 (threads,)
        Row of each thread of the trace; -1: not drawn, or one of the rest.
    main : bool
        Whether the first row is the main thread's.
    cuts : tuple of Cut
        What each row shows.
    edge : float64 (levels + 1,)
        Distance outward at which each level begins.
    low, high : int64 (rows,)
        The rows' windows.
    height : float64 (rows,)
        Of each row's levels together, in scene units.
    overviews : tuple of Overview
        Of the main thread and of focused ones, where they are shown.
    memory : (float, float) or None
        The same for live bytes.
    skyline : (float, float) or None
        Distances outward on the main thread's row between which it is shown how many threads run.
    theatre : Theatre
    camera : Camera
    pixels_per_unit : float
    least_text : float
        Pixels that a line of text needs to be read.
    text : float
        Line height of texts, in scene units.
    left_out : int
        Threads that are not shown, for a note.
    """

    trace: Trace
    waits: Waits
    parameters: Parameters
    rows: tuple[Row, ...]
    row_of: Ints
    main: bool
    cuts: tuple[Cut, ...]
    edge: Floats
    low: Ints
    high: Ints
    height: Floats
    overviews: tuple[Overview, ...]
    memory: tuple[float, float] | None
    skyline: tuple[float, float] | None
    theatre: Theatre
    camera: Camera
    pixels_per_unit: float
    least_text: float
    text: float
    left_out: int

    @property
    def several(self) -> NDArray[np.bool_]:
        """Which rows several threads share, bool (rows,)."""
        return np.array([len(row.threads) > 1 for row in self.rows], np.bool_)

    def share(self, row: Ints, time: Ints) -> Floats:
        """Return where times lie in their rows' windows, from 0 to 1; not clipped.

        Parameters
        ----------
        row : int64 (n,)
            Which rows.
        time : int64 (n,)
            Nanoseconds.

        Returns
        -------
        float64 (n,)
        """
        span = np.maximum(self.high[row] - self.low[row], 1)
        return np.asarray((time - self.low[row]) / span, np.float64)

    def out(self, level: Ints) -> Floats:
        """Return the distance outward of a level's inner edge; level 0 is the first."""
        return np.asarray(self.edge[np.clip(level, 0, len(self.edge) - 1)])

    def reach(self, row: Ints) -> Floats:
        """Return the distance outward of each row's outermost edge."""
        return np.asarray(self.edge[np.array([r.levels for r in self.rows], np.int64)[row]])

    def bars(self, r: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Return where the bars of a row's calls are: inner and outer edge, and their shares of the window.

        Parameters
        ----------
        r : int
            Which row.

        Returns
        -------
        inner, outer : float64 (n,)
            Distances outward.
        low, high : float64 (n,)
            Not clipped.
        """
        calls, ids = self.trace.calls, self.cuts[r].calls
        level, row = calls.depth[ids].astype(np.int64) - 1, np.full(len(ids), r)
        inner, outer = self.out(level), self.out(self.cuts[r].deepest(calls))
        return inner, outer, self.share(row, calls.start[ids]), self.share(row, calls.end[ids])

    def extent(self, row: Ints) -> Floats:
        """Return the distance outward at which each row ends, with its overview."""
        whole = self.reach(np.arange(len(self.rows)))
        for one in self.overviews:
            whole[one.row] = one.high
        for strip in (self.skyline, self.memory):
            if strip is not None:
                whole[0] = strip[1]
        return np.asarray(whole[row])


def compose(trace: Trace, waits: Waits, p: Parameters, frame: Frame) -> Layout:
    """Choose what to show and lay out the rows.

    Parameters
    ----------
    trace : Trace
    waits : Waits
        Those of the trace.
    p : Parameters
    frame : Frame
        Of the picture.

    Returns
    -------
    Layout

    Raises
    ------
    UsageError
        If a window is empty, or a thread doesn't exist.
    """
    window = time_window(trace, p.start, p.end)
    chosen = choose(trace, waits, p, frame.height * SHARE[1], window)
    main, several = chosen.main, [len(row) > 1 for row in chosen.rows]
    threads = np.array([row[0] for row in chosen.rows], np.int64)
    windows = windows_of(trace, p, window, threads)
    # Among many rows, which are low, details are merged sooner; not on the main thread's.
    coarser = min(max(len(threads) / _MANY_ROWS, 1.0), 3.0)
    cuts = tuple(
        _cut(trace, p, frame, [] if many else [t], w, len(threads), coarser, bent=not main or i > 0)
        for i, (t, w, many) in enumerate(zip(threads.tolist(), windows, several))
    )
    levels = np.array([_levels(trace, cut) for cut in cuts], np.int64)
    # A row of several threads is as high as one of a single thread is, if not the highest.
    alone = levels[main:][~np.array(several[main:], np.bool_)]
    usual = min(2.0 * float(alone.mean()), float(alone.max())) if len(alone) else 0.0
    levels[several] = max(round(usual), _LEAST_GROUP)
    heights = folded(_heights(trace, cuts, windows, int(levels.max(initial=1)), p), p.fold)
    edge = np.concatenate([[0.0], np.cumsum(heights)])
    row_of = np.full(len(trace.threads), -1, np.int64)
    last = len(chosen.rows) - 1 if chosen.rest else len(chosen.rows)
    for i, row in enumerate(chosen.rows[:last]):
        row_of[row] = i
    rows = tuple(
        Row(int(row[0]), w, int(n), row, i >= last)
        for i, (row, w, n) in enumerate(zip(chosen.rows, windows, levels.tolist()))
    )
    weights = _weights(trace, p, threads)
    over = _overviews(trace, p, frame, rows, weights, main, edge[levels])
    reach = edge[levels]
    reach[[one.row for one in over]] = [one.high for one in over]
    skyline = None
    if main and p.running and p.paper == 0.0:
        higher = _HIGHER_SKYLINE if p.finding else 1.0
        skyline = place_skyline(float(reach[0]), float(edge[levels[0]]), higher)
        reach[0] = skyline[1]
    memory = None
    if main and p.memory and p.paper == 0.0 and (trace.memory.kind == ALLOC).any():
        memory = place_skyline(float(reach[0]), float(edge[levels[0]]))
        reach[0] = memory[1]
    theatre, camera, height = _theatre(p, reach, weights, main, frame)
    if frame.straight:
        camera = straight(camera)
    height = height * edge[levels] / np.maximum(reach, 1e-9)
    picture = Layout(
        trace, waits, p, rows, row_of, main, cuts, edge, np.array([w[0] for w in windows], np.int64),
        np.array([w[1] for w in windows], np.int64), height, over, memory, skyline, theatre, camera, 0.0,
        frame.least_text, 0.0, chosen.left_out,
    )  # fmt: skip
    pixels = _pixels_per_unit(camera, frame)
    # A picture of one finding has room for larger texts: plates are 16 pixels high on a screen.
    text = max(0.19, (_FINDING_TEXT if p.finding else 1.75) * frame.least_text / pixels)
    return replace(picture, pixels_per_unit=pixels, text=text)


def _cut(
    trace: Trace,
    p: Parameters,
    frame: Frame,
    threads: list[int],
    window: tuple[int, int],
    rows: int,
    coarser: float,
    *,
    bent: bool,
) -> Cut:
    """Return what a row shows; a bent one has less room on paper."""
    pixels = frame.width * SHARE[0]
    if not bent:
        coarser = 1.0
    elif p.paper > 0.5:
        pixels = max(pixels * math.pi * 0.4 / rows, 40.0)  # a section of the semicircle
    resolution = max(coarser * p.resolution * (window[1] - window[0]) / pixels, 1.0)
    stop = window[1] + (window[1] >= call_span(trace)[1])
    step = _step(trace, frame, threads, p.last_depth)
    return cut_index(trace).cut(window[0], stop, 1, p.last_depth or None, resolution, threads, step=step)


def _step(trace: Trace, frame: Frame, threads: list[int], last_depth: int) -> int:
    """Return how many levels are shown as one, where even a row as high as the picture is too low."""
    levels = int(np.diff(cut_index(trace).thread_level)[threads].max(initial=1))
    levels = min(levels, last_depth or levels)
    return levels_of_row(frame.height * SHARE[1] / max(levels, 1), 1.0)


def _levels(trace: Trace, cut: Cut) -> int:
    shown = int(cut.deepest(trace.calls).max(initial=0))
    return max(shown, int(cut.clusters.bottom.max(initial=0)), 1)


def _heights(
    trace: Trace, cuts: tuple[Cut, ...], windows: list[tuple[int, int]], levels: int, p: Parameters
) -> Floats:
    """Return the heights of levels: lower where less time is spent, as ``taper`` says."""
    cover = np.zeros(levels)
    for cut, (low, high) in zip(cuts, windows):
        inside = np.minimum(trace.calls.end[cut.calls], high) - np.maximum(trace.calls.start[cut.calls], low)
        c = cut.clusters
        spent = np.zeros(levels)
        spent += np.bincount(trace.calls.depth[cut.calls] - 1, inside, levels)[:levels]
        spent += np.bincount(c.depth - 1, c.end - c.start, levels)[:levels]
        cover += np.repeat(spent[:: cut.step], cut.step)[:levels]
    return level_heights(cover, p.taper)


def _weights(trace: Trace, p: Parameters, threads: Ints) -> Floats:
    weight = np.ones(len(threads))
    if p.focus.strip():
        weight[np.isin(threads, named_threads(trace, p.focus, "focus"))] = p.widen
    return weight


def _overviews(
    trace: Trace,
    p: Parameters,
    frame: Frame,
    rows: tuple[Row, ...],
    weights: Floats,
    main: bool,
    reach: Floats,
) -> tuple[Overview, ...]:
    """Return the overviews: of the main thread and of focused ones."""
    whole = call_span(trace)
    usual = time_window(trace, "", "")
    resolution = p.resolution * (whole[1] - whole[0]) / (frame.width * SHARE[0])

    def wanted(i: int, row: Row) -> bool:
        part = p.overview == "always" or row.window[0] > usual[0] or row.window[1] < usual[1]
        return part and p.overview != "none" and ((main and i == 0) or weights[i] > 1.0)

    return tuple(
        place_overview(
            trace, i, row.thread, float(reach[i]), resolution, _step(trace, frame, [row.thread], 0)
        )
        for i, row in enumerate(rows)
        if wanted(i, row) and trace.threads.count[row.thread]
    )


def _theatre(
    p: Parameters, reach: Floats, weight: Floats, main: bool, frame: Frame
) -> tuple[Theatre, Camera, Floats]:
    """Place the rows; ``reach`` is the height of each row's levels. Also return the rows' heights."""
    n = len(reach)
    lanes, paper = p.lanes, p.paper
    bowl = slice(1 if main else 0, n)
    rest = n - (1 if main else 0)
    straight = (1.0 - lanes) * (1.0 - paper)
    turned = math.radians(p.tilt) * straight
    radius = RADIUS if main else RADIUS + 0.5 * (MAIN_HEIGHT + APART)
    least_px = 2.0 * radius * 105.0 * frame.width / 1920
    rows = share_height(
        reach[bowl], weight[bowl], spacing=p.spacing, least=min(2 * 9.0 / least_px, 1.4 / max(rest, 1)),
        most=_HIGHEST_LEVEL,
    )  # fmt: skip
    base, angle = np.zeros((n, 2)), np.full(n, np.pi / 2)
    upright, stretch = np.ones(n), np.ones(n)
    base[bowl], angle[bowl], upright[bowl], stretch[bowl] = half_cylinder(
        rows, radius, facing=p.facing, turned=turned, lanes=lanes
    )
    # Units of the edges become those of the half cylinder; levels of focused rows are higher too.
    stretch[bowl] *= rows.unit * weight[bowl]
    sector = np.zeros((n, 2))
    sector[bowl] = semicircle(weight[bowl])
    height = np.empty(n)
    height[bowl] = (rows.high - rows.low) * radius
    if main:
        own = min(MAIN_HEIGHT * float(weight[0]) ** 0.5 / max(float(reach[0]), 1e-9), 0.34)
        stretch[0] = own
        height[0] = own * float(reach[0])
        foot = radius * (1.0 if rest else 0.0) + APART
        out = p.pull * (1.0 - lanes)
        base[0] = _tilted((-out + 0.35 * radius * lanes, foot), -turned)
        angle[0] = np.pi / 2 - turned
    # The splitter gives the main thread's part more of the height, and the semicircle less.
    share = min((1.0 - p.split) * PAPER_HEIGHT / (0.5 * WIDTH), 1.0) if main and p.split > 0.0 else 1.0
    zero = p.zero * 0.5 * WIDTH * share
    room = 0.5 * WIDTH * share - zero
    level = room / max(float(reach[bowl].max(initial=1.0)), 1e-9)
    main_level = min(MAIN_HEIGHT / max(float(reach[0]) if n else 1.0, 1e-9), 0.34)
    centre = 0.0
    if main and p.split > 0.0:
        before = main_level * float(reach[0])
        main_level = max(p.split * PAPER_HEIGHT - APART, 0.1) / max(float(reach[0]), 1e-9)
        # The upper edge stays where it is.
        centre = before - main_level * float(reach[0])
    theatre = Theatre(
        width=WIDTH, base=base, angle=angle, upright=upright, stretch=stretch, sector=sector,
        centre=(0.5 * WIDTH, centre), zero=zero, level=level,
        main_foot=centre + APART, main_level=main_level, paper=paper,
        axis=(-0.25 * radius * straight, 0.0),
    )  # fmt: skip
    return theatre, _camera(p, theatre, reach), height


def _tilted(point: tuple[float, float], angle: float) -> tuple[float, float]:
    y, z = point
    return (
        y * math.cos(angle) - z * math.sin(angle),
        y * math.sin(angle) + z * math.cos(angle),
    )


def _camera(p: Parameters, theatre: Theatre, reach: Floats) -> Camera:
    """Return the camera: before the half cylinder, or straight before what is flat."""
    straight = (1.0 - p.paper) * (1.0 - p.lanes)
    turn = math.radians(p.turn) * (0.3 + 0.7 * straight) * (1.0 - p.paper)
    tilt = math.radians(p.tilt) * straight
    direction = (math.sin(turn) * math.cos(tilt), -math.cos(turn) * math.cos(tilt), math.sin(tilt))
    n = len(reach)
    steps = np.linspace(0.0, 1.0, 33)
    row = np.repeat(np.arange(n), 2 * len(steps))
    share = np.tile(steps, 2 * n)
    out = np.repeat(np.stack([np.zeros(n), reach], axis=1).reshape(-1), len(steps))
    points = np.vstack([theatre.place(row, share, out, 0.0), theatre.core(steps)])
    low, high = points.min(axis=0) - 0.08, points.max(axis=0) + 0.08
    high[1] += 0.25 * p.paper
    return Camera(
        direction=direction, low=tuple(low.tolist()), high=tuple(high.tolist()), lens=100.0,
        projection="orthographic" if p.paper == 1.0 else "perspective",
    )  # fmt: skip


def _pixels_per_unit(camera: Camera, frame: Frame) -> float:
    projection = fit(camera, frame, SHARE)
    middle = (np.array(camera.low) + camera.high) / 2
    here, there = projection.pixels([middle, middle + np.array([0.01, 0.0, 0.0])])
    return float(np.hypot(*(there - here)) / 0.01)
