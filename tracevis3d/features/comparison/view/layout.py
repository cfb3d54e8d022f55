"""The layout of the two walls of a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.primitives import Camera
from ....drawing.projection import fit
from ....layout.cut import Cut, busy_time, call_span, cut_index, levels_of_row
from ....layout.icicle import Lanes, level_heights, place_boxes, stack_lanes
from ....trace.model import Trace
from ....units import percentage
from ....views.thread_selection import choose_threads
from ....views.time_window import WIDTH, time_window
from .geometry.modules import module_steps
from .geometry.walls import Fold

if TYPE_CHECKING:
    from .parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

# How high the camera stands at each opening, as a share of what is requested. Down to the second steepest the
# outer faces of both walls are seen, from ever more above; below that the camera looks from the front, where
# the nearer wall is seen from outside and the farther one from inside.
_OPENING, _HIGH = (0.0, 60.0, 72.0, 90.0, 120.0), (0.52, 0.42, 1.27, 1.25, 1.0)
_HIGHEST = math.radians(84.0)
#: Faces seen at a lower sine than this are taken as seen at it.
_GRAZING = 0.25
#: From the front, this share of the farther wall is visible above the nearer one.
_FREE = 0.75
#: Rows of names above a wall whose outer face is turned away; and height of a row, in line heights.
BAND_ROWS, _BAND_ROW = 3, 1.25
# Share of the picture for the drawing, next to title, legends and notes.
_SHARE = (0.95, 0.65)
#: Both windows get the same scale unless one is this many times longer than the other.
_MOST_RATIO = 6.0
_HIGHEST_LEVEL = 0.34
#: Thickness of a box, in scene units, at most.
_PLATE = 0.11
#: Space between a wall's roots and its overview, and the overview's greatest height.
OVERVIEW_GAP, OVERVIEW = 0.18, 0.5
#: Thickness of its bars, at most.
BAR_DEEP = 0.28
#: Line heights of text that a ruler takes.
_RULER = 2.2
_LEAST_LEVEL_PX = 3.0
# Line height of texts, in scene units, and its minimum relative to the smallest readable one.
_TEXT, _READABLE = 0.2, 2.2


@dataclass(frozen=True, eq=False)
class Wall:
    """One trace's icicle.

    Attributes
    ----------
    trace : Trace
    source : int
        0 for A, 1 for B.
    window : (int, int)
        Nanoseconds.
    cut : Cut
    lanes : Lanes
    lane_of : int64 (threads,)
    first_depth : int
    offset : float
        x of the window's start.
    per_ns : float
        Scene units per nanosecond.
    fold : Fold
    plate : float
        Thickness of a box.
    note : str
        On threads that are left out.
    steps : float64 (functions,) or (0,)
        How far calls of each function stand out besides; empty: none does.
    """

    trace: Trace
    source: int
    window: tuple[int, int]
    cut: Cut
    lanes: Lanes
    lane_of: Ints
    first_depth: int
    offset: float
    per_ns: float
    fold: Fold
    plate: float
    note: str
    steps: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def width(self) -> float:
        """Of the window in scene units."""
        return (self.window[1] - self.window[0]) * self.per_ns

    @property
    def drawn(self) -> Ints:
        """Calls that are drawn, then the longest calls of the clusters."""
        return np.concatenate([self.cut.calls, self.cut.clusters.longest])

    def spots(self, ids: Ints) -> tuple[Floats, Floats, Floats]:
        """Return the middle along x of calls, their widths, and the middles' distances from the roots' edge.

        What lies outside the window is cut off.

        Parameters
        ----------
        ids : int64 (n,)
            Calls.

        Returns
        -------
        (float64 (n,), float64 (n,), float64 (n,))
            Scene units.
        """
        calls = self.trace.calls
        start = np.clip(calls.start[ids], *self.window)
        end = np.clip(calls.end[ids], *self.window)
        x = self.offset + ((start - self.window[0]) + (end - self.window[0])) * (self.per_ns / 2)
        return x, (end - start) * self.per_ns, self.level_middle(ids)

    def level_middle(self, ids: Ints) -> Floats:
        """Return the distance of calls' middles from the roots' edge."""
        low, high = self.levels(ids)
        return np.asarray((low + high) / 2)

    def levels(self, ids: Ints) -> tuple[Floats, Floats]:
        """Return where the levels of calls begin and end, from the roots' edge."""
        calls, edge = self.trace.calls, self.lanes.edge
        level = np.clip(calls.depth[ids].astype(np.int64) - self.first_depth, 0, len(edge) - 2)
        floor = self.lanes.floor[np.maximum(self.lane_of[calls.thread[ids]], 0)]
        return floor + edge[level], floor + edge[level + 1]

    def extent(self, ids: Ints) -> Floats:
        """Return how far the drawn levels below calls reach from their own: 0 for a leaf."""
        index, calls, edge = cut_index(self.trace), self.trace.calls, self.lanes.edge
        bottom = np.empty(len(calls), np.int32)
        bottom[index.order] = index.bottom
        last = np.clip(np.minimum(bottom[ids], self.cut.depth1) - self.first_depth, 0, len(edge) - 2)
        level = np.clip(calls.depth[ids].astype(np.int64) - self.first_depth, 0, len(edge) - 2)
        return np.asarray(edge[np.maximum(last, level) + 1] - edge[level])

    def place(
        self, start: Ints, end: Ints, low_level: Ints, high_level: Ints, thread: NDArray[np.int32],
        thick: Floats, gap: float,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:  # fmt: skip
        """Return ``low`` and ``size`` of boxes, as :func:`..layout.icicle.place_boxes` does, on this wall.

        Parameters
        ----------
        start, end : int64 (n,)
            Nanoseconds.
        low_level, high_level : int64 (n,)
            Levels from the first that is shown.
        thread : int32 (n,)
            That of each box.
        thick : float64 (n,)
            How far each stands out.
        gap : float
            Share of a level's height that is left free.

        Returns
        -------
        (float32 (n, 3), float32 (n, 3))
        """
        upright, size = place_boxes(
            start, end, low_level, high_level, self.lane_of[thread], thick, self.lanes,
            window=self.window, width=self.width, gap=gap,
        )  # fmt: skip
        h0 = upright[:, 2].astype(np.float64)
        y0, y1, z0, z1 = self.fold.boxes(h0, h0 + size[:, 2], thick)
        low = np.stack([upright[:, 0] + self.offset, y0, z0], axis=1).astype(np.float32)
        extent = np.stack([size[:, 0].astype(np.float64), y1 - y0, z1 - z0], axis=1).astype(np.float32)
        extent[:, 0] = size[:, 0]
        return low, extent


@dataclass(frozen=True, eq=False)
class Layout:
    """Both walls, the gap between them, and the camera.

    Attributes
    ----------
    walls : (Wall, Wall)
    gap, band : float
        Scene units.
    camera : Camera
    pixels_per_unit : float
        Along x, in the middle.
    least_text : float
        Pixels that a line of text needs to be read.
    text : float
        Line height of texts, scene units.
    shift : int
        Nanoseconds by which B is moved to the right against A, from the starts of both windows.
    same_scale : bool
    behind : float
        How far behind a wall's roots its overview begins.
    space : float
        Free space before the overview.
    beyond : float
        How far behind a wall's roots the outer ruler of time lies.
    lean : float
        How much farther back the tops of A's bars are seen than their feet.
    band_row : float
        Height of a row of names above a wall whose outer face is turned away.
    """

    walls: tuple[Wall, Wall]
    gap: float
    band: float
    camera: Camera
    pixels_per_unit: float
    least_text: float
    text: float
    shift: int
    same_scale: bool
    behind: float = 0.0
    space: float = 0.0
    beyond: float = 0.0
    lean: float = 0.0
    band_row: float = 0.0

    def seen_along(self, direction: tuple[float, float, float]) -> float:
        """Return the visible length of a unit along ``direction``, as a share of one across the view."""
        towards = np.array(self.camera.direction)
        along = float(np.array(direction) @ towards / np.linalg.norm(towards))
        return math.sqrt(max(1.0 - along**2, 0.0))

    def before(
        self, wall: Wall, h: Floats, step: Floats, thick: float, around: Floats | None = None
    ) -> Floats:
        """Return points before the steps of a wall, where they are seen on the middle of their step's face.

        They are moved towards the camera until no step hides them.

        Parameters
        ----------
        wall : Wall
        h : float64 (n,)
            Distance from the roots' edge.
        step : float64 (n,)
            Height of the step, along the wall.
        thick : float
            Of the boxes.
        around : float64 (n,), optional
            Height of the highest step near by.

        Returns
        -------
        float64 (n, 3)
            With x as what has to be added to it.
        """
        fold = wall.fold
        normal, view = np.array(fold.normal), np.array(self.camera.direction)
        view = view / np.linalg.norm(view)
        y, z = fold.inside(h)
        line = np.stack([np.zeros(len(h)), y, z], axis=1)
        half = fold.ridge(step) / 2
        off = half + (0.0 if fold.inner else thick)
        more = np.maximum(fold.ridge(step if around is None else around) - half, 0.0)
        towards = view / max(float(normal @ view), _GRAZING)
        return np.asarray(line + off[:, None] * normal + more[:, None] * towards)


@dataclass(frozen=True, eq=False)
class Content:
    """The contents of one wall: window, threads and calls.

    Attributes
    ----------
    trace : Trace
        What the wall shows.
    window : (int, int)
        Nanoseconds.
    threads : int64 (lanes,)
        Those that are shown, in order.
    lane_of : int64 (threads,)
        Lane of each thread of the trace; -1: not drawn.
    cut : Cut
        The calls and clusters.
    note : str
        What is left out of the threads; empty: nothing.
    """

    trace: Trace
    window: tuple[int, int]
    threads: Ints
    lane_of: Ints
    cut: Cut
    note: str


def content(
    trace: Trace, p: Parameters, s: int, frame: Frame, share: float, scale: float | None = None
) -> Content:
    """Choose what of a trace is shown.

    Parameters
    ----------
    trace : Trace
    p : Parameters
    s : int
        0 for A, 1 for B.
    frame : Frame
    share : float
        How much of the walls' width is the window's.
    scale : float, optional
        Pixels that a unit along the wall covers; without it, what it covers if the walls fill the picture.

    Returns
    -------
    Content
    """
    window = time_window(trace, *((p.start_a, p.end_a), (p.start_b, p.end_b))[s])
    deepest = np.maximum(np.diff(cut_index(trace).thread_level) - p.first_depth, 1).astype(np.float64)
    if p.last_depth:
        deepest = np.minimum(deepest, max(p.last_depth - p.first_depth + 1, 1))
    pixels = frame.width * _SHARE[0] / WIDTH
    cost = (deepest + 1.0) * _LEAST_LEVEL_PX / pixels
    budget = 0.2 * frame.height / pixels
    busy = busy_time(trace, window)
    threads = choose_threads(trace, p.threads, "recorded", busy, cost, budget)
    lane_of = np.full(len(trace.threads), -1, np.int64)
    lane_of[threads] = np.arange(len(threads))
    resolution = p.resolution * (window[1] - window[0]) / (WIDTH * (scale or pixels) * max(share, 1e-3))
    stop = window[1] + (window[1] >= call_span(trace)[1])
    # A wall is at most as high as the picture.
    level = frame.height / max(float(deepest[threads].sum()), 1.0)
    cut = cut_index(trace).cut(
        window[0],
        stop,
        p.first_depth,
        p.last_depth or None,
        max(resolution, 1.0),
        threads,
        step=levels_of_row(level, 1.0),
    )
    live = int(np.count_nonzero(busy))
    share_ = float(busy[threads].sum()) / max(float(busy.sum()), 1.0)
    note = ""
    if live > len(threads):
        note = (
            f"{'AB'[s]}: {len(threads):,} of {live:,} threads, with {percentage(share_)} of the time in calls"
        )
    return Content(trace, window, threads, lane_of, cut, note)


def seen_contents(
    traces: Sequence[Trace], p: Parameters, frame: Frame, context: bool
) -> tuple[tuple[Content, Content], bool]:
    """Choose what both walls show, merge what is narrow, and decide whether both have one scale.

    A wall that stands farther from the camera is seen smaller, so that more of it is merged.

    Parameters
    ----------
    traces : sequence of Trace
        Two.
    p : Parameters
    frame : Frame
        Of the picture.
    context : bool
        Whether there is room for overviews of the whole traces.

    Returns
    -------
    ((Content, Content), bool)
    """
    widths, same = shares((traces[0], traces[1]), p)
    first = [content(t, p, s, frame, widths[s]) for s, t in enumerate(traces)]
    guess = compose((first[0], first[1]), p, frame, same, 0, context)
    scale = wall_scales(guess, frame)
    a, b = (content(t, p, s, frame, widths[s], scale[s]) for s, t in enumerate(traces))
    return (a, b), same


def wall_scales(picture: Layout, frame: Frame) -> tuple[float, float]:
    """Return how many pixels a unit along x covers in the middle of each wall.

    Parameters
    ----------
    picture : Layout
    frame : Frame
        Of the picture.

    Returns
    -------
    (float, float)
        Of A and of B.
    """
    if frame.pixels_per_unit:
        return frame.pixels_per_unit, frame.pixels_per_unit
    projection = fit(picture.camera, frame, _SHARE)
    found = []
    for wall in picture.walls:
        y, z = wall.fold.inside(np.array([wall.fold.height / 2]))
        middle = np.array([wall.offset + wall.width / 2, float(y[0]), float(z[0])])
        at = projection.pixels(middle + np.array([(0.0, 0.0, 0.0), (0.01, 0.0, 0.0)]))
        found.append(float(np.hypot(*(at[1] - at[0]))) / 0.01)
    return found[0], found[1]


def shares(traces: tuple[Trace, Trace], p: Parameters) -> tuple[tuple[float, float], bool]:
    """Return the share of the width that each window takes, and whether both have one scale.

    Parameters
    ----------
    traces : (Trace, Trace)
        Two.
    p : Parameters
        The windows, and ``scale``.

    Returns
    -------
    ((float, float), bool)
    """
    spans = [
        float(high - low)
        for low, high in (
            time_window(traces[0], p.start_a, p.end_a),
            time_window(traces[1], p.start_b, p.end_b),
        )
    ]
    longest = max(spans)
    same = p.scale == "same" or (p.scale == "auto" and longest <= _MOST_RATIO * max(min(spans), 1.0))
    return ((spans[0] / longest, spans[1] / longest) if same else (1.0, 1.0)), same


def compose(
    contents: tuple[Content, Content], p: Parameters, frame: Frame, same: bool, shift: int,
    context: bool = False,
) -> Layout:  # fmt: skip
    """Lay out both walls, B moved by ``shift`` nanoseconds against A.

    ``context`` makes room for overviews of the whole traces, with rulers of their own.

    Parameters
    ----------
    contents : (Content, Content)
        Those of A and B.
    p : Parameters
    frame : Frame
        Of the picture.
    same : bool
        Whether both have one time scale.
    shift : int
        Nanoseconds.
    context : bool
        See above.

    Returns
    -------
    Layout
    """
    spans = [c.window[1] - c.window[0] for c in contents]
    if same:
        low, high = min(0, shift), max(spans[0], spans[1] + shift)
        per_ns = [WIDTH / max(high - low, 1)] * 2
        offset = [-low * per_ns[0], (shift - low) * per_ns[0]]
    else:
        # Each window has its own scale; B moves by its own.
        by = shift / max(spans[1], 1)
        width = WIDTH / (1.0 + abs(by))
        per_ns = [width / max(span, 1) for span in spans]
        offset = [-min(by, 0.0) * width, max(by, 0.0) * width]
    gap = p.gap
    text = max(_TEXT, _READABLE * frame.least_text * (WIDTH + 2.0) / (frame.width * _SHARE[0]))
    # Where the bars are about more than the wall, the wall has a ruler of its own before them.
    space = OVERVIEW_GAP if p.overview else 0.0
    behind = space + (_RULER * text if context else 0.0)
    beyond = behind + (OVERVIEW if p.overview else 0.0) + (1.3 * text if p.overview and p.annotate else 0.0)
    tilt, front, fold = _tilt(p), _is_front(p), Fold.of(1, p.opening, gap, 0.0)
    rise, stand = fold.rise, fold.stand
    top = OVERVIEW * math.sin(stand) + BAR_DEEP * math.cos(stand)
    # From a distance the back is seen at a lower angle than the middle.
    lean = 1.3 * top / math.tan(tilt) if p.overview and not front else 0.0
    row = _BAND_ROW * text
    total = p.height or _height(p, frame, gap, beyond + lean / 2 + 1.5 * _RULER * text, BAND_ROWS * row)
    lanes = level_lanes(contents, p, total)
    gap = max(gap, _free(p) * max(wall.top for wall in lanes))
    usual = float(np.median(np.diff(lanes[0].edge))) if len(lanes[0].edge) > 1 else 0.1
    plate = min(_PLATE, 0.8 * usual)
    walls: list[Wall] = []
    steps = module_steps([c.trace for c in contents], p.apart)
    for s, (c, wall) in enumerate(zip(contents, lanes)):
        fold = replace(Fold.of(1 - 2 * s, p.opening, gap, wall.top), front=front, inner=front and s == 0)
        if front:
            fold = replace(fold, shelf=wall.top * math.sin(rise) + (BAND_ROWS + 0.4) * row)
        elif s == 0 and p.overview:
            # What stands behind the farther wall begins where that no longer hides the ground.
            shadow = wall.top * (math.sin(rise) / math.tan(tilt) - math.cos(rise))
            fold = replace(fold, back=max(shadow, 0.0))
        walls.append(
            Wall(
                c.trace,
                s,
                c.window,
                c.cut,
                wall,
                c.lane_of,
                p.first_depth,
                offset[s],
                per_ns[s],
                fold,
                plate,
                c.note,
                steps[s],
            )
        )
    camera = _camera(p, walls, gap, beyond)
    pair = (walls[0], walls[1])
    return Layout(
        pair, gap, max(gap, 1e-3) * p.band, camera, pixel_scale(camera, frame), frame.least_text, text, shift,
        same, behind, space, beyond, lean, row,
    )  # fmt: skip


def _height(p: Parameters, frame: Frame, gap: float, beyond: float, bands: float) -> float:
    """Return the height of the higher wall with which the picture is filled in width and height."""
    room = (WIDTH + 2.0) * frame.height / frame.width * _SHARE[1] / _SHARE[0]
    tilt, rise = _tilt(p), Fold.of(1, p.opening, gap, 0.0).rise
    if _is_front(p):
        # B is seen by its height, A above it as the gap allows, and what stands behind both by its height.
        left = room - (2.0 * beyond + bands) * math.cos(tilt)
        seen = math.sin(rise + tilt) + max(_free(p), gap / 6.0) * math.sin(tilt)
    else:
        left = room / math.sin(tilt) - gap - 2.0 * beyond
        # A wall that stands is seen by its height, and each takes its share of the room.
        seen = 2.0 * math.cos(rise) + math.sin(rise) / math.tan(tilt)
    return float(min(max(left / max(seen, 0.3), 0.22 * room), 6.0))


def level_lanes(contents: Sequence[Content], p: Parameters, total: float) -> list[Lanes]:
    """Lay out the levels of all walls to one scale: the same depth is equally high on each.

    Parameters
    ----------
    contents : sequence of Content
        Those of all walls.
    p : Parameters
        ``taper``, and the levels that are shown.
    total : float
        Height of the wall, in scene units.

    Returns
    -------
    list of Lanes
        One for each wall.
    """
    levels, cover = [], np.zeros(1)
    for c in contents:
        calls, clusters, cut = c.trace.calls, c.cut.clusters, c.cut
        n = max(len(c.threads), 1)
        own = np.ones(n, np.int64)
        depth = calls.depth[cut.calls].astype(np.int64) - cut.depth0
        last = cut.deepest(calls) - cut.depth0
        np.maximum.at(own, c.lane_of[calls.thread[cut.calls]], last + 1)
        np.maximum.at(own, c.lane_of[clusters.thread], clusters.bottom.astype(np.int64) - cut.depth0 + 1)
        levels.append(own)
        most = max(int(own.max()), len(cover))
        cover = np.pad(cover, (0, most - len(cover)))
        span = float(max(c.window[1] - c.window[0], 1))
        inside = np.minimum(calls.end[cut.calls], c.window[1]) - np.maximum(
            calls.start[cut.calls], c.window[0]
        )
        spent = np.zeros(most)
        spent += np.bincount(depth, inside / span, most)
        spent += np.bincount(clusters.depth - cut.depth0, (clusters.end - clusters.start) / span, most)
        cover += np.repeat(spent[:: cut.step], cut.step)[:most]
    heights = level_heights(cover, p.taper)
    made = []
    level = 0.0
    for _ in range(2):
        made = [
            stack_lanes(
                own, heights, total=total, highest=_HIGHEST_LEVEL, least=0.0, spacing=p.spacing, level=level
            )
            for own in levels
        ]
        units = [float(lanes.edge[-1] / max(float(heights.sum()), 1e-9)) for lanes in made]
        level = min(units)
    return made


def _tilt(p: Parameters) -> float:
    """Return how far the camera stands above straight ahead, radians: straight above where walls lie flat."""
    usual = math.radians(p.tilt) * float(np.interp(p.opening, _OPENING, _HIGH))
    usual = min(usual, max(_HIGHEST, math.radians(p.tilt)))
    return math.pi / 2 - (math.pi / 2 - usual) * min(1.0, (180.0 - p.opening) / 30.0)


def _direction(p: Parameters) -> tuple[float, float, float]:
    """Return where the camera stands, seen from the walls."""
    tilt = _tilt(p)
    turn = math.radians(p.turn * min(1.0, 6.0 * (180.0 - p.opening) / 180.0))
    return math.sin(turn) * math.cos(tilt), -math.cos(turn) * math.cos(tilt), math.sin(tilt)


def _is_front(p: Parameters) -> bool:
    """Return whether the camera sees the inner face of A's wall."""
    rise = Fold.of(1, p.opening, p.gap, 0.0).rise
    _, y, z = _direction(p)
    return y * math.sin(rise) + z * math.cos(rise) < 0


def _free(p: Parameters) -> float:
    """Return how wide the gap is, in heights of the walls, so that most of A's inner face is seen above B."""
    rise, tilt = Fold.of(1, p.opening, p.gap, 0.0).rise, _tilt(p)
    return _FREE * max(math.sin(rise - tilt), 0.0) / math.sin(tilt)


def _camera(p: Parameters, walls: list[Wall], gap: float, beyond: float) -> Camera:
    direction, tilt = _direction(p), _tilt(p)
    reach = [gap / 2 + w.fold.height * math.cos(w.fold.rise) + w.fold.back + beyond for w in walls]
    if walls[0].fold.front:
        low = (-0.2, -reach[1] + beyond - walls[1].plate, -beyond)
        high = (WIDTH + 0.2, gap / 2, walls[0].fold.shelf + beyond)
    else:
        top = max(w.fold.height * math.sin(w.fold.rise) for w in walls)
        # The far edge of the box appears as high as the wall in front of it.
        top = max(top - (reach[0] - gap / 2) * math.tan(min(tilt, 1.5)), 0.1)
        low, high = (-0.2, -reach[1], 0.0), (WIDTH + 0.2, reach[0], top)
    up = (0.0, 1.0, 0.0) if tilt > 1.5 else (0.0, 0.0, 1.0)
    return Camera(direction=direction, up=up, low=low, high=high, lens=100.0)


def pixel_scale(camera: Camera, frame: Frame) -> float:
    """Return how many pixels a unit covers along x in the middle.

    Parameters
    ----------
    camera : Camera
    frame : Frame
        Of the picture.

    Returns
    -------
    float
    """
    projection = fit(camera, frame, _SHARE)
    middle = (np.array(camera.low) + np.array(camera.high)) / 2
    at = projection.pixels(middle + np.array([(0.0, 0.0, 0.0), (0.01, 0.0, 0.0)]))
    return float(np.hypot(*(at[1] - at[0]))) / 0.01
