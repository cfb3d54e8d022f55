"""The places of the walls of three and more traces, and the floor with the matrix.

All walls stand on one floor, one behind the other, x being time on all of them. They stand as the blades of
a fan: the wall at the back rises most, those before it less and less, so that none hides the foot of the
next. Where the fan is flat all lie in one plane, as small multiples of one icicle plot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.primitives import Camera
from ....layout.icicle import Lanes
from ....trace.model import Trace
from ....views.time_window import WIDTH, time_window
from ..matching.many_traces import letter_of
from ..view.geometry.walls import Fold
from ..view.layout import Content, Layout, Wall, content, level_lanes, pixel_scale

if TYPE_CHECKING:
    from ..view.parameters import Parameters

Floats = NDArray[np.float64]

# Share of the picture for the drawing, next to title, legends and notes.
_SHARE = (0.95, 0.66)
#: All windows have the same scale unless one is this many times longer than another.
_MOST_RATIO = 6.0
#: Free floor between two walls, as a share of the highest wall, per unit of the parameter ``gap``.
_GAP = 0.26
#: Thickness of a box, in scene units, at most.
_PLATE = 0.09
# Line height of texts, in scene units, and its minimum relative to the smallest readable one.
_TEXT, _READABLE = 0.25, 2.2
#: Maximum width of the matrix, and the space around it.
_MATRIX, MARGIN = 6.2, 0.35
#: From row to row of the words above the matrix, in heights of the text, and room for all.
HEAD_ROW, _HEAD = 1.3, 4.2
#: Width of a character as a share of the line height.
_CHARACTER = 0.44
#: Names are shortened, from their start, to this many characters.
_NAME = 24


@dataclass(frozen=True)
class FanFold(Fold):
    """How one wall of a fan stands: its roots in front, on the floor at ``foot``.

    Attributes
    ----------
    foot : float
        y of the roots' edge.
    """

    foot: float = 0.0

    def inside(self, h: Floats) -> tuple[Floats, Floats]:
        """Return y and z of the wall's back, where bridges end, at ``h`` from the roots' edge."""
        return self.foot + h * math.cos(self.rise), h * math.sin(self.rise)

    @property
    def normal(self) -> tuple[float, float, float]:
        """The direction that the wall's front looks in."""
        return (0.0, -math.sin(self.rise), math.cos(self.rise))

    @property
    def upwards(self) -> tuple[float, float, float]:
        """The direction along the wall's slope that points up for a reader before it."""
        return (0.0, math.cos(self.rise), math.sin(self.rise))

    def boxes(self, low: Floats, high: Floats, thick: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the y and z, from low to high, of boxes from ``low`` to ``high`` along the wall.

        Parameters
        ----------
        low, high : float64 (n,)
            From the wall's foot, in scene units.
        thick : float64 (n,)
            How far each stands out.

        Returns
        -------
        (float64 (n,), float64 (n,), float64 (n,), float64 (n,))
            y from and to, z from and to.
        """
        cosine, sine = math.cos(self.rise), math.sin(self.rise)
        return (
            self.foot + low * cosine - thick * sine,
            self.foot + high * cosine,
            low * sine,
            high * sine + thick * cosine,
        )


def foot_of(wall: Wall) -> float:
    """Return the y at which a wall of a fan stands."""
    return float(wall.fold.inside(np.zeros(1))[0][0])


@dataclass(frozen=True, eq=False)
class Floor:
    """The cells of the matrix on the floor beside the walls.

    Attributes
    ----------
    left : float
        x of the first column.
    wide, deep : float
        Of a cell.
    pitch : float
        From row to row; columns touch each other but for a seam.
    row : float64 (n,)
        y of the middle of each row, that at the back first.
    """

    left: float
    wide: float
    deep: float
    pitch: float
    row: Floats

    @property
    def right(self) -> float:
        """The x of the last column's end."""
        return self.left + self.wide * len(self.row)


@dataclass(frozen=True, eq=False)
class Stage:
    """All walls, the floor and the camera.

    Attributes
    ----------
    walls : tuple of Wall
        In the order in which they stand, from the back; ``Wall.source`` is the trace.
    letters, names : tuple of str
        Of the walls; names are shortened from their start.
    floor : Floor
        Its rows belong to the walls, also where no matrix is drawn.
    gap : float
        Free floor between two walls.
    camera : Camera
    pixels_per_unit : float
    least_text, text : float
        As in :class:`.Layout`.
    same_scale : bool
    """

    walls: tuple[Wall, ...]
    letters: tuple[str, ...]
    names: tuple[str, ...]
    floor: Floor
    gap: float
    camera: Camera
    pixels_per_unit: float
    least_text: float
    text: float
    same_scale: bool

    def pair(self, back: int, front: int, band: float) -> Layout:
        """Return two walls, by their places, as a comparison of two; ``band`` is a share of the gap.

        Parameters
        ----------
        back, front : int
            Places, from the back.
        band : float
            A share of the gap between them.

        Returns
        -------
        Layout
        """
        behind, before = self.walls[back], self.walls[front]
        # In the plane of the bundling, the roots of both are outermost.
        walls = (replace(behind, fold=replace(behind.fold, side=1)), before)
        return Layout(
            walls, self.gap, max(self.gap, 1e-3) * band, self.camera, self.pixels_per_unit,
            self.least_text, self.text, 0, self.same_scale,
        )  # fmt: skip

    def view_of_names(self) -> Layout:
        """Return what :func:`..view.names.names` looks at to place names on the walls."""
        return self.pair(0, len(self.walls) - 1, 1.0)


def fan_contents(
    traces: Sequence[Trace], p: Parameters, frame: Frame
) -> tuple[tuple[Content, ...], tuple[float, ...], bool]:
    """Choose what each wall shows.

    Parameters
    ----------
    traces : sequence of Trace
        Three or more.
    p : Parameters
    frame : Frame
        Of the picture.

    Returns
    -------
    contents : tuple of Content
    shares : tuple of float
        How much of the walls' width each window takes.
    same : bool
        Whether all have one time scale.
    """
    given = [(p.start_a, p.end_a), (p.start_b, p.end_b), *[("", "")] * (len(traces) - 2)]
    spans = [float(np.diff(time_window(t, *w))[0]) for t, w in zip(traces, given)]
    longest = max(spans)
    same = p.scale == "same" or (p.scale == "auto" and longest <= _MOST_RATIO * max(min(spans), 1.0))
    shares = tuple(span / longest if same else 1.0 for span in spans)
    part_of_picture = WIDTH / _scene_width(len(traces), p)
    contents = []
    for k, (trace, window, share) in enumerate(zip(traces, given, shares)):
        own = replace(p, start_a=window[0], end_a=window[1])
        found = content(trace, own, 0, frame, share * part_of_picture)
        note = found.note and letter_of(k) + found.note[1:]
        contents.append(replace(found, note=note))
    return tuple(contents), shares, same


def _scene_width(n: int, p: Parameters) -> float:
    """Return about how wide the scene is: walls, names and matrix."""
    return WIDTH + 3.0 + (_MATRIX if p.matrix != "none" else 0.0)


def compose_fan(
    contents: Sequence[Content],
    shares: Sequence[float],
    order: Sequence[int],
    p: Parameters,
    frame: Frame,
    same: bool,
) -> Stage:
    """Lay out walls and floor.

    Parameters
    ----------
    contents : sequence of Content
        One for each trace.
    shares : sequence of float
    order : sequence of int
        Traces from the back to the front.
    p : Parameters
    frame : Frame
    same : bool
        Whether all windows have one scale.

    Returns
    -------
    Stage
    """
    n = len(order)
    rise = [math.radians(p.fan) * (n - k) / n for k in range(n)]
    tilt = _tilt(p)
    names = _names([contents[i].trace for i in order])
    text = max(_TEXT, _READABLE * frame.least_text * _scene_width(n, p) / (frame.width * _SHARE[0]))
    label = MARGIN + 1.2 * text * _CHARACTER * (max(map(len, names)) + 3)
    # Apparent size of a wall of height 1, and of the floor from foot to foot.
    taken = [math.sin(r + tilt) / math.sin(tilt) for r in rise]
    pitch_of = max([max(math.cos(r), t) for r, t in zip(rise[1:], taken[1:])]) + _GAP * p.gap
    matrix = _MATRIX if p.matrix != "none" else 0.0
    width = WIDTH + label + matrix + 2 * MARGIN
    if p.height:
        height = p.height
    else:
        # As high as the picture allows: rows, the last wall, ruler and column heads.
        room = width * _SHARE[1] * frame.height / (_SHARE[0] * frame.width)
        room -= 5.5 * text * math.sin(tilt)
        height = max(room, 0.2 * width) / (((n - 1) * pitch_of + taken[0]) * math.sin(tilt))
    lanes = level_lanes([contents[i] for i in order], p, height)
    height = max(wall.top for wall in lanes)
    pitch = pitch_of * height
    gap = _GAP * p.gap * height
    walls = [
        _wall(
            contents[i],
            i,
            lanes[k],
            shares[i],
            p,
            FanFold(-1, rise[k], gap, lanes[k].top, (n - 1 - k) * pitch),
        )
        for k, i in enumerate(order)
    ]
    row = np.array([foot_of(w) for w in walls]) + 0.5 * float(np.mean(taken)) * height
    wide = min(_MATRIX / n, 0.95 * pitch)
    deep = min(0.92 * pitch, 1.25 * wide / math.sin(tilt))
    floor = Floor(WIDTH + label + MARGIN, wide, deep, pitch, row)
    right = floor.right if matrix else WIDTH + label
    low = min(-4.2 * text, row[-1] - deep / 2 - 1.8 * text if matrix else 0.0)
    tops = [w.fold.inside(np.array([w.fold.height])) for w in walls]
    far = max(max(float(y[0]) for y, _ in tops), float(row[0]) + deep / 2 + (_HEAD * text if matrix else 0.0))
    camera = _camera(p, tilt, (-0.2, low, 0.0), (right + 0.2, far, max(float(z[0]) for _, z in tops)))
    return Stage(
        tuple(walls), tuple(letter_of(i) for i in order), names, floor, gap, camera,
        pixel_scale(camera, frame), frame.least_text, text, same,
    )  # fmt: skip


def _wall(c: Content, source: int, lanes: Lanes, share: float, p: Parameters, stand: FanFold) -> Wall:
    usual = float(np.median(np.diff(lanes.edge))) if len(lanes.edge) > 1 else 0.1
    per_ns = WIDTH * share / max(c.window[1] - c.window[0], 1)
    return Wall(
        c.trace, source, c.window, c.cut, lanes, c.lane_of, p.first_depth, 0.0, per_ns, stand,
        min(_PLATE, 0.8 * usual), c.note,
    )  # fmt: skip


def _tilt(p: Parameters) -> float:
    """Return how far the camera stands above straight ahead: straight above where the fan is flat."""
    return math.radians(90.0 - (90.0 - p.tilt) * min(1.0, 6.0 * p.fan / 90.0))


def _camera(
    p: Parameters, tilt: float, low: tuple[float, float, float], high: tuple[float, float, float]
) -> Camera:
    turn = math.radians(p.turn * min(1.0, 6.0 * p.fan / 90.0))
    direction = (math.sin(turn) * math.cos(tilt), -math.cos(turn) * math.cos(tilt), math.sin(tilt))
    # The far edge of the box appears as high as the wall in front of it.
    return Camera(
        direction=direction,
        up=(0.0, 1.0, 0.0) if tilt > 1.5 else (0.0, 0.0, 1.0),
        low=low,
        high=(high[0], high[1], max(high[2], 0.1)),
        lens=100.0,
    )


def _names(traces: Sequence[Trace]) -> tuple[str, ...]:
    """Return names that fit the space beside the walls: what distinguishes them is at their end."""
    names = [t.source.title for t in traces]
    return tuple(name if len(name) <= _NAME else "…" + name[1 - _NAME :] for name in names)
