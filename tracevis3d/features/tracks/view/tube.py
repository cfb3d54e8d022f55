"""The tube: a Kiviat polygon swept along time, which bends towards what is loaded most.

Flat, each corner's load is a strip of its own; opened, the strips are rolled up around the axis of time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import GRID, OTHER, PALETTES
from ....drawing.primitives import Axis, Camera, Legend, LegendEntry, Meaning, Wedges
from ....drawing.shorthand import lines, texts
from ....views.time_window import WIDTH
from ..loads import FEWEST, Load, describe_balance, shares
from ..series import Floats, Ints
from .axes import time_axis
from .layout import SHARE, Layout, direction

#: Radius of a full load and of none, in scene units.
_RADIUS, _CORE = 3.0, 0.16
_HAIR = 0.03
_DEEP = 0.12
#: Cells over which the bend is smoothed.
_SMOOTH = 9
#: The tube is seen this many times more from the side than the wall.
_ASIDE = 2.2


@dataclass(frozen=True, eq=False)
class _Shape:
    """Where corners and strips lie.

    Attributes
    ----------
    x : float64 (knots,)
    angle : float64 (loads,)
        Radians.
    axis : float64 (knots, 2)
        The middle of the tube, in y and z.
    base : float64 (loads,)
        The floors of the flat strips.
    height : float
        Theirs.
    """

    x: Floats
    angle: Floats
    axis: Floats
    base: Floats
    height: float


def draw(drawing: DrawingBuilder, picture: Layout, about: str, loads: tuple[Load, ...]) -> tuple[Camera, str]:
    """Draw the tube.

    Parameters
    ----------
    drawing : DrawingBuilder
        What it is added to.
    picture : Layout
    about : str
        What each load is the share of.
    loads : tuple of Load

    Returns
    -------
    (Camera, str)
        And what is to be seen, in a sentence.
    """
    p, u = picture.parameters, picture.open
    share = shares(loads, picture.edges)
    k = len(loads)
    # A value for each edge of a cell: surfaces are smooth, and its middle has the mean.
    middle = (picture.edges[:-1] + picture.edges[1:]) / 2
    knots = np.concatenate([picture.edges[:1], middle, picture.edges[-1:]])
    value = np.concatenate([share[:, :1], share, share[:, -1:]], axis=1)
    angle = np.radians(90.0 + p.roll) - 2 * math.pi * np.arange(k) / k
    axis = _axis(value, angle, p.bend)
    height, room = _rows(picture, k)
    base = (k - 1 - np.arange(k)) * (height + room)

    kinds = PALETTES[p.palette].kinds
    first, other, hair = drawing.color(kinds), drawing.color(OTHER), drawing.color(GRID)
    color = np.array([first + one.color % len(kinds) if one.color >= 0 else other for one in loads])
    x = picture.x(knots)
    shape = _Shape(x, angle, axis, base, height)
    corner, block = _sections(value, shape, u)
    cells = len(knots) - 1
    spoke, cell = np.repeat(np.arange(k), 2 * cells), np.tile(np.arange(cells), 2 * k)
    ids = spoke * cells + cell
    at = np.stack([x[:-1], x[1:]], axis=1) / WIDTH
    drawing.add(
        Wedges("load", corner.astype(np.float32), block, color[spoke].astype(np.int32), ids,
               time=at[cell].astype(np.float32), window=picture.window)
    )  # fmt: skip
    drawing.meaning["load"] = _meaning(loads, share, picture.edges, about)
    if k <= len(kinds):
        drawing.explain(Legend(about, tuple(LegendEntry(one.name, int(c)) for one, c in zip(loads, color))))
    else:
        drawing.note(about)
    axis_of_time = time_axis(picture, 0.0, -0.05 - u * (0.05 + _RADIUS * 1.02))
    drawing.measure(axis_of_time)
    _rings(drawing, shape, axis_of_time, u, hair)
    _names(drawing, picture, loads, shape)
    return _camera(picture, k * (height + room), corner), describe_balance(share, [one.name for one in loads])


def _axis(value: Floats, angle: Floats, bend: float) -> Floats:
    """Return where the middle of the tube lies at each knot, (knots, 2) in y and z: towards the load."""
    pull = np.stack([value.T @ np.cos(angle), value.T @ np.sin(angle)], axis=1) / len(angle)
    half = _SMOOTH // 2
    padded = np.concatenate([np.repeat(pull[:1], half, axis=0), pull, np.repeat(pull[-1:], half, axis=0)])
    sums = np.concatenate([np.zeros((1, 2)), np.cumsum(padded, axis=0)])
    smooth = (sums[_SMOOTH:] - sums[:-_SMOOTH]) / _SMOOTH
    pulled: Floats = 2 * bend * _RADIUS * smooth
    return pulled


def _rows(picture: Layout, k: int) -> tuple[float, float]:
    """Return height and distance of the flat strips."""
    tall = (WIDTH + 3) * picture.frame.height * SHARE[1] / (picture.frame.width * SHARE[0]) - 3 * picture.text
    return 0.72 * tall / k, 0.28 * tall / k


def _around(radius: Floats | float, angle: Floats | float, axis: Floats) -> Floats:
    y, z = np.broadcast_arrays(radius * np.cos(angle), radius * np.sin(angle))
    out: Floats = axis + np.stack([y, z], axis=-1)
    return out


def _sections(value: Floats, shape: _Shape, u: float) -> tuple[Floats, Ints]:
    """Return the corners of all blocks: two for each corner of the polygon and each cell of time.

    A block reaches from the axis to the polygon's edge, from a corner halfway to one of its neighbours.
    """
    x, angle, axis, base, height = shape.x, shape.angle, shape.axis, shape.base, shape.height
    k, knots = value.shape
    radius = _CORE + (_RADIUS - _CORE) * value
    tip = np.stack([_around(radius[i], angle[i], axis) for i in range(k)])
    made = []
    for i in range(k):
        for way, side in ((-1, 0), (1, 1)):
            j = (i + way) % k
            between = angle[i] - way * math.pi / k
            if k >= FEWEST:
                half = (tip[i] + tip[j]) / 2
            else:
                half = _around((radius[i] + radius[j]) / 2, between, axis)
            low, high = np.full(knots, base[i]), base[i] + height * value[i]
            y0, y1 = (-_DEEP, 0.0) if side == 0 else (0.0, _DEEP)
            flat = [(y0, low), (y1, low), (y1, high), (y0, high)]
            turned = [_around(_CORE / 2, between, axis), _around(_CORE / 2, angle[i], axis), tip[i], half]
            if side == 1:
                turned = [turned[1], turned[0], turned[3], turned[2]]
            yz = [
                (1 - u) * np.stack([np.full(knots, y), z], axis=1) + u * there
                for (y, z), there in zip(flat, turned, strict=True)
            ]
            section = np.stack([np.column_stack([x, one]) for one in yz], axis=1)
            made.append(np.stack([section[:-1], section[1:]], axis=1).reshape(-1, 4, 3))
    corner = np.concatenate(made)
    return corner, np.arange(0, len(corner) + 1, 2, dtype=np.int64)


def _meaning(loads: tuple[Load, ...], share: Floats, edges: Ints, about: str) -> Meaning:
    """Return what each block says; blocks lie between the middles of cells."""
    k, cells = share.shape
    middle = (edges[:-1] + edges[1:]) // 2
    knots = np.concatenate([edges[:1], middle, edges[-1:]])
    nearest = np.minimum(np.arange(cells + 1), cells - 1)
    value = share[:, nearest].ravel()
    calls = [
        one.occurrences.within(knots) if one.occurrences is not None else np.full(cells + 1, -1, np.int64)
        for one in loads
    ]
    every = np.arange(k * (cells + 1))
    found = np.concatenate(calls)
    return Meaning(
        calls=((0, found),) if (found >= 0).any() else (),
        texts=(
            ("track", (about,), np.zeros(len(every), np.int64)),
            ("band", tuple(one.name for one in loads), np.repeat(np.arange(k), cells + 1)),
            ("load", tuple(units.percentage(v) for v in value.tolist()), every),
        ),
    )


def _rings(drawing: DrawingBuilder, shape: _Shape, ruler: Axis, u: float, hair: int) -> None:
    """Add the outline of a full load at each tick of time: a polygon, flat a line upon each strip."""
    k = len(shape.angle)
    made = []
    for tick in (0.0, *ruler.tick):
        here = np.array([np.interp(tick, shape.x, shape.axis[:, side]) for side in (0, 1)])
        around = np.array([_around(_RADIUS, one, here) for one in shape.angle])
        flat = np.stack([np.zeros(k), shape.base], axis=1)
        flat[0, 1] += shape.height
        ring = (1 - u) * flat + u * around
        made.append(np.column_stack([np.full(k + 1, tick), ring[[*range(k), 0 if u > 0 else k - 1]]]))
    drawing.add(lines("full load", np.array(made), _HAIR, hair))


def _names(drawing: DrawingBuilder, picture: Layout, loads: tuple[Load, ...], shape: _Shape) -> None:
    """Write the names beside the beginning: left of the strips, around the tube's open end."""
    u, n = picture.open, len(loads)
    out = _around(_RADIUS + 0.9 * picture.text, shape.angle, shape.axis[0])
    flat = np.stack([np.zeros(n), shape.base + shape.height / 2], axis=1)
    anchor = np.column_stack([np.full(n, -0.12 - 0.1 * u), (1 - u) * flat + u * out])
    tall = min(picture.text, 0.9 * shape.height) if u < 0.5 else picture.text
    names = [one.name for one in loads]
    drawing.write(texts("load", names, anchor, tall, rank=1e8, align=1, right=_facing(picture)))


def _facing(picture: Layout) -> tuple[float, float, float]:
    x, y, _ = direction(picture.parameters, _ASIDE * picture.parameters.turn, picture.parameters.tilt)
    length = math.hypot(x, y)
    return (-y / length, x / length, 0.0)


def _camera(picture: Layout, tall: float, corner: Floats) -> Camera:
    p, u = picture.parameters, picture.open
    names = picture.text * 0.5 * 14
    # A round shape does not reach the corners of its bounding box.
    low, high = corner.reshape(-1, 3).min(axis=0), corner.reshape(-1, 3).max(axis=0)
    middle, half = (low + high) / 2, (high - low) / 2 * (1 - 0.25 * u)
    y, z = (middle[1] - half[1], middle[1] + half[1]), (middle[2] - half[2], middle[2] + half[2])
    return Camera(
        direction=direction(p, _ASIDE * p.turn, p.tilt),
        low=(-(0.3 + names), float(y[0]), (1 - u) * -3 * picture.text + u * float(z[0])),
        high=(WIDTH + 0.3, float(y[1]), (1 - u) * tall + u * float(z[1])),
        projection="orthographic" if p.opening == 0 else "perspective", lens=60.0,
    )  # fmt: skip
