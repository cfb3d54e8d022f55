"""Template meshes for instances: a small mesh per colour (and per proportion of a box), in one mesh.

An instance shows its template's vertex colours in every engine, which a colour per instance does not do in
Workbench. So the node group splits this mesh by its face attribute ``part`` and picks a part per point.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..color import linear, mixed, srgb
from ..materials import SHADED, TINT
from ..styles import Light, Style
from . import meshes

#: Buckets per axis of how wide a box is, in powers of two of its chamfer.
BUCKETS = 10
#: Share of the background in the colour of a light rib.
PALE = 0.55
#: Sides and rings of round marks, the finer first: those of pictures, and those of the economical form.
_ROUNDED = ((24, 12), (16, 8), (12, 6), (8, 4), (6, 3))


@dataclass(frozen=True, eq=False)
class Shape:
    """A small polygon mesh: unit size.

    Attributes
    ----------
    position : float32 (v, 3)
    corner : int32 (c,)
    first : int32 (f,)
    normal : float32 (c, 3)
        Per corner.
    rim : bool (f,)
        Faces of a chamfered edge.
    pale : float (f,)
        How pale faces are: 1 on a cluster's light ribs.
    smooth : bool
    """

    position: NDArray[np.float32]
    corner: NDArray[np.int32]
    first: NDArray[np.int32]
    normal: NDArray[np.float32]
    rim: NDArray[np.bool_]
    pale: NDArray[np.float64]
    smooth: bool = False

    @cached_property
    def faces(self) -> tuple[bytes | bool, ...]:
        """What is the same for all shapes that differ in the places of their vertices alone."""
        columns = (self.corner, self.first, self.normal, self.rim, self.pale)
        return *(column.tobytes() for column in columns), self.smooth

    def triangles(self) -> int:
        """Return how many triangles it is drawn with."""
        return len(self.corner) - 2 * len(self.first)


def _shape(
    position: Any,
    faces: list[list[int]],
    rim: list[bool] | None = None,
    pale: list[float] | None = None,
    normal: NDArray[np.float32] | None = None,
) -> Shape:
    points = np.asarray(position, np.float32)
    corner = np.concatenate([np.asarray(f, np.int32) for f in faces])
    sizes = np.array([len(f) for f in faces])
    first = (np.cumsum(sizes) - sizes).astype(np.int32)
    if normal is None:
        a, b, c = points[corner[first]], points[corner[first + 1]], points[corner[first + 2]]
        flat = np.cross(b - a, c - a)
        flat /= np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-12)
        corners = np.repeat(flat, sizes, axis=0).astype(np.float32)
    else:
        corners = normal[corner]
    none = [False] * len(faces)
    return Shape(
        points,
        corner,
        first,
        corners,
        np.array(rim or none),
        np.array(pale or none, np.float64),
        smooth=normal is not None,
    )


def _outward(points: NDArray[np.float32], faces: list[list[int]]) -> list[list[int]]:
    """Turn faces so that they look away from the middle of the unit cube."""
    a, b, c = (points[[face[i] for face in faces]] for i in range(3))
    away = (np.cross(b - a, c - a) * (a + b + c - 1.5)).sum(axis=1) > 0
    return [face if out else face[::-1] for face, out in zip(faces, away.tolist())]


@functools.lru_cache(maxsize=4096)
def box(edge: tuple[float, float, float] | None, facing: int = 1, ribs: int = 0) -> Shape:
    """Return the unit box from 0 to 1.

    Parameters
    ----------
    edge : (float, float, float) or None
        Widths of its chamfers along x, y and z; None: sharp edges, a quarter of the vertices.
    facing : int
        Axis across the visible side.
    ribs : int
        Divide the two sides across ``facing`` into that many ribs, one above the other, every second
        one pale; the other sides are pale.

    Returns
    -------
    Shape
    """
    cut = edge or (0.0, 0.0, 0.0)
    grid: dict[tuple[float, float, float], int] = {}
    points: list[tuple[float, float, float]] = []

    def vertex(point: tuple[float, float, float]) -> int:
        if point not in grid:
            grid[point] = len(points)
            points.append(point)
        return grid[point]

    def at(axis: int, side: int, u: float, v: float) -> int:
        point = [0.0, 0.0, 0.0]
        others = [a for a in range(3) if a != axis]
        point[axis] = float(side)
        point[others[0]], point[others[1]] = u, v
        return vertex((point[0], point[1], point[2]))

    faces: list[list[int]] = []
    rim: list[bool] = []
    pale: list[float] = []
    inner: dict[tuple[int, int], dict[tuple[int, int], list[int]]] = {}
    for axis, side in product(range(3), (0, 1)):
        a, b = (i for i in range(3) if i != axis)
        count = ribs if ribs and axis == facing else 1
        low, high = cut[a], 1 - cut[a]
        levels = [cut[b] + (1 - 2 * cut[b]) * i / count for i in range(count + 1)]
        columns = [[at(axis, side, u, v) for v in levels] for u in (low, high)]
        for i in range(count):
            faces.append([columns[0][i], columns[1][i], columns[1][i + 1], columns[0][i + 1]])
            rim.append(False)
            pale.append(float(bool(ribs) and (i % 2 == 0 or axis != facing)))
        # The vertices along each of the side's four borders, for the chamfers: key (axis, end) of the border.
        inner[axis, side] = {
            (a, 0): columns[0],
            (a, 1): columns[1],
            (b, 0): [columns[0][0], columns[1][0]],
            (b, 1): [columns[0][-1], columns[1][-1]],
        }
    if edge is not None:
        for (a, b), i, j in product(((0, 1), (0, 2), (1, 2)), (0, 1), (0, 1)):
            faces.append([*inner[a, i][b, j], *inner[b, j][a, i][::-1]])
        for i, j, k in product((0, 1), repeat=3):
            x, y, z = (e if end == 0 else 1 - e for e, end in zip(edge, (i, j, k)))
            faces.append([at(0, i, y, z), at(1, j, x, z), at(2, k, x, y)])
        rim += [True] * 20
        pale += [0.0] * 20
    position = np.array(points, np.float32)
    return _shape(position, _outward(position, faces), rim, pale)


@functools.lru_cache(maxsize=4096)
def plain_box(gap: tuple[float, float, float], facing: int, ribs: int) -> Shape:
    """Return the unit box from 0 to 1 without chamfers: twelve triangles, more only where it has ribs.

    Parameters
    ----------
    gap : (float, float, float)
        What it leaves free at both ends of x, y and z, so that neighbours stay apart as by their chamfers.
    facing, ribs : int
        As for :func:`box`. 1 rib: the two sides across ``facing`` are as pale as ribs are from afar.

    Returns
    -------
    Shape
    """
    whole = box(None, facing, ribs)
    free = np.array(gap, np.float32)
    shape = replace(whole, position=free + whole.position * (1 - 2 * free))
    if ribs == 1:
        axis = np.repeat(np.arange(3), 2)  # of each face, as box() counts them
        shape = replace(shape, pale=np.where(axis == facing, 0.5, 1.0))
    return shape


def _revolved(profile: list[tuple[float, float]], sides: int) -> Shape:
    """Return the solid of a profile of (radius, height), its first and last radius 0, around the z axis."""
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    rings, normals, starts = [], [], []
    outline = np.array(profile)
    along = np.gradient(outline, axis=0)
    across = np.stack([along[:, 1], -along[:, 0]], axis=1)
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
    count = 0
    for (radius, height), (nr, nz) in zip(profile, across):
        n = 1 if radius == 0 else sides
        c, s = np.cos(angle[:n]), np.sin(angle[:n])
        rings.append(np.stack([radius * c, radius * s, np.full(n, height)], axis=1))
        if n == 1:
            normals.append(np.array([[0.0, 0.0, np.sign(height) or 1.0]]))
        else:
            normals.append(np.stack([nr * c, nr * s, np.full(n, nz)], axis=1))
        starts.append((count, n))
        count += n
    faces = []
    for (low, n), (high, m) in pairwise(starts):
        for i in range(sides):
            j = (i + 1) % sides
            if n == 1:
                faces.append([low, high + j, high + i][:: 1 if m > 1 else -1])
            elif m == 1:
                faces.append([low + i, low + j, high])
            else:
                faces.append([low + i, low + j, high + j, high + i])
    position = np.concatenate(rings).astype(np.float32)
    smooth = np.concatenate(normals).astype(np.float32)
    return _shape(position, faces, normal=smooth)


@functools.lru_cache(maxsize=64)
def mark_shape(name: str, along: str = "z", coarse: int = 0) -> Shape:
    """Return the unit shape of a mark; see :class:`tracevis3d.drawing.primitives.Marks`.

    Parameters
    ----------
    name, along : str
        Of the marks.
    coarse : int
        0 for pictures; the higher, the fewer faces.

    Returns
    -------
    Shape
    """
    sides, rings = _ROUNDED[min(coarse, len(_ROUNDED) - 1)]
    if name in ("disc", "shell"):
        shape = _upright(name, 2 * sides)
        return shape if along == "z" else _lain(shape)
    if name == "sphere":
        t = np.linspace(-np.pi / 2, np.pi / 2, rings + 1)
        return _revolved(
            [(0.0 if i in (0, rings) else 0.5 * np.cos(a), 0.5 * np.sin(a)) for i, a in enumerate(t)], sides
        )
    if name == "diamond":
        solid = _revolved([(0.0, -0.5), (0.5, 0.0), (0.0, 0.5)], 4)
        faces = [solid.corner[f : f + 3].tolist() for f in solid.first]
        return _shape(solid.position, faces)
    if name == "cone":
        solid = _revolved([(0.0, 0.0), (0.5, 1.0), (0.0, 1.0)], sides)
        faces = [solid.corner[f : f + 3].tolist() for f in solid.first]
        return _shape(solid.position, faces)
    # A pin: the tip is the point, a ball on top of a cone.
    t = np.linspace(-0.35, np.pi / 2, rings - 2 if rings > 4 else 4)
    ball = [(0.5 * np.cos(a), 1.3 + 0.5 * np.sin(a)) for a in t[:-1]]
    return _revolved([(0.0, 0.0), *ball, (0.0, 1.8)], sides)


def _upright(name: str, sides: int) -> Shape:
    if name == "shell":
        # Seen from both sides; its faces look outward.
        return _open([(0.0, 0.0), (0.5, -1.0)], sides)
    solid = _revolved([(0.0, -0.5), (0.5, -0.5), (0.5, 0.5), (0.0, 0.5)], sides)
    faces = [face.tolist() for face in np.split(solid.corner, solid.first[1:])]
    return _shape(solid.position, faces)


def _open(profile: list[tuple[float, float]], sides: int) -> Shape:
    """Return the surface of a profile of (radius, height) from a tip outward, around the z axis."""
    (_, top), (radius, bottom) = profile
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    around = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(sides, bottom)], axis=1)
    # Each face has a tip of its own, so that the shading stays smooth up to the tip.
    slope = np.array([top - bottom, radius]) / np.hypot(radius, top - bottom)
    normal = np.stack([slope[0] * np.cos(angle), slope[0] * np.sin(angle), np.full(sides, slope[1])], axis=1)
    tips = np.tile([0.0, 0.0, top], (sides, 1))
    faces = [[i, sides + i, sides + (i + 1) % sides] for i in range(sides)]
    return _shape(
        np.concatenate([tips, around]), faces, normal=np.concatenate([normal, normal]).astype(np.float32)
    )


def _lain(shape: Shape) -> Shape:
    """Return ``shape`` turned so that down becomes +x."""

    def turned(rows: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.stack([-rows[:, 2], rows[:, 1], rows[:, 0]], axis=1)

    return replace(shape, position=turned(shape.position), normal=turned(shape.normal))


def template(
    name: str, parts: list[tuple[Shape, NDArray[np.float32]]], style: Style, light: Light, veil: float = 0.0
) -> Any:
    """Return one mesh with a part for each shape and colour, in order: face attribute ``part`` counts them.

    Parameters
    ----------
    name : str
    parts : list of (Shape, float32 (k, 4))
        Each shape with the sRGB colours that it is needed in: k parts.
    style : Style
    light : Light
        For the colours that Workbench shows.
    veil : float
        How much of the background these show: Workbench has no translucent vertex colours.

    Returns
    -------
    bpy.types.Mesh
    """
    position, corner, first, tint, shaded, part, sharp = [], [], [], [], [], [], []
    vertices = corners = count = 0
    # Shapes that differ in nothing but the places of their vertices are laid out together.
    for _, alike in groupby(parts, key=lambda each: each[0].faces):
        shapes, palettes = zip(*alike, strict=True)
        shape, colors = shapes[0], np.concatenate(palettes)
        which = np.repeat(np.arange(len(shapes)), [len(palette) for palette in palettes])
        k, v, c = len(colors), len(shape.position), len(shape.corner)
        position.append(np.stack([each.position for each in shapes])[which].reshape(-1, 3))
        corner.append((shape.corner[None] + (vertices + v * np.arange(k))[:, None]).reshape(-1))
        first.append((shape.first[None] + (corners + c * np.arange(k))[:, None]).reshape(-1))
        part.append(np.repeat(np.arange(count, count + k), len(shape.first)))
        sharp.append(np.full(k * len(shape.first), not shape.smooth))
        sizes = np.diff(np.append(shape.first, c))
        # (kinds of face, k colours): the rim, then each degree of paleness
        kinds = [linear(mixed(colors, style.rim[0], style.rim[1]))]
        shares, pale = np.unique(shape.pale, return_inverse=True)
        kinds += [linear(mixed(colors, style.background, PALE * float(share))) for share in shares]
        kind = np.repeat(np.where(shape.rim, 0, 1 + pale.reshape(-1)), sizes)
        own = np.stack(kinds)[kind]  # (c, k, 4)
        own = np.swapaxes(own, 0, 1)
        bright = light.brightness(style, shape.normal).astype(np.float32)
        with_light = linear(mixed(srgb(own), style.background, veil)) if veil else own.copy()
        with_light[..., :3] *= bright[None, :, None]
        tint.append(own.reshape(-1, 4))
        shaded.append(with_light.reshape(-1, 4))
        vertices, corners, count = vertices + k * v, corners + k * c, count + k
    if not parts:
        return meshes.points(name, np.empty((0, 3), np.float32))
    mesh = meshes.polygons(
        name,
        np.concatenate(position),
        np.concatenate(corner).astype(np.int32),
        np.concatenate(first).astype(np.int32),
    )
    meshes.set_attribute(mesh, "sharp_face", "BOOLEAN", "FACE", np.concatenate(sharp))
    meshes.set_attribute(mesh, "part", "INT", "FACE", np.concatenate(part))
    meshes.set_color(mesh, TINT, "CORNER", np.concatenate(tint))
    meshes.set_color(mesh, SHADED, "CORNER", np.concatenate(shaded), active=True)
    return mesh
