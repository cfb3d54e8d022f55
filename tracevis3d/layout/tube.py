"""Tube meshes from paths, into buffers that are used again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels.layout.sweep import sweep_faces, sweep_frames, sweep_light, sweep_rings
from .buffers import Buffers
from .parallel import in_parts

#: Minimum number of tubes per thread.
_PART = 512


@dataclass(frozen=True, eq=False)
class TubeMesh:
    """A polygon mesh of tubes; the arrays belong to the buffers they were made in.

    Attributes
    ----------
    position : float32 (v, 3)
    shaded : float32 (v, 4)
        Linear colour with light.
    edge : int32 (e, 2)
    corner, corner_edge : int32 (c,)
    face : int32 (f,)
        First corner of each face.
    owner : int32 (f,)
        The tube of each face.
    vertices : int64 (n,)
        Number of vertices of each tube.
    """

    position: NDArray[np.float32]
    shaded: NDArray[np.float32]
    edge: NDArray[np.int32]
    corner: NDArray[np.int32]
    corner_edge: NDArray[np.int32]
    face: NDArray[np.int32]
    owner: NDArray[np.int32]
    vertices: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TubeShape:
    """Where the vertices of tubes are and how bright; the arrays belong to the buffers they were made in.

    Attributes
    ----------
    position : float32 (v, 3)
    shaded : float32 (v, 4)
        Linear colour with light.
    """

    position: NDArray[np.float32]
    shaded: NDArray[np.float32]


def shape(
    point: NDArray[np.float32],
    radius: NDArray[np.float32],
    first: NDArray[np.int64],
    side: tuple[float, float, float],
    color: NDArray[np.float32],
    light: NDArray[np.float32],
    sides: int,
    buffers: Buffers,
    level: bool = False,
) -> TubeShape:
    """Sweep elliptical sections along polylines: the vertices alone, for a mesh whose faces stay.

    Parameters
    ----------
    point : float32 (m, 3)
    radius : float32 (m, 2)
    first : int64 (n + 1,)
        Tube i has the points ``first[i]`` up to ``first[i + 1]``, at least one.
    side : (float, float, float)
        What the section's width keeps to; zero: frames that only minimise rotation.
    color : float32 (n, 3)
        Linear colour of each tube.
    light : float32 (6,)
        As :func:`tracevis3d.kernels.layout.sweep.sweep_light` takes it.
    sides : int
        Vertices of a ring.
    buffers : Buffers
    level : bool
        The width lies along ``side`` exactly.

    Returns
    -------
    TubeShape

    Examples
    --------
    >>> point = np.array([[0, 0, 0], [1, 0, 0]], np.float32)
    >>> radius, white = np.full((2, 2), 0.1, np.float32), np.ones((1, 3), np.float32)
    >>> light = np.array([0, 0, 1, 0.5, 0.5, 0], np.float32)
    >>> shape(point, radius, np.array([0, 2]), (0, 0, 0), white, light, 4, Buffers()).position.shape
    (16, 3)
    """
    point = np.ascontiguousarray(point, np.float32)
    radius = np.ascontiguousarray(radius, np.float32)
    first = np.ascontiguousarray(first, np.int64)
    n, m = len(first) - 1, len(point)
    direction = np.asarray(side, np.float32)
    length = float(np.linalg.norm(direction))
    direction = np.ascontiguousarray(direction / length if length > 0 else direction, np.float32)
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    circle = np.ascontiguousarray(np.stack([np.cos(angle), np.sin(angle)], axis=1), np.float32)
    take = buffers.take
    frame = take("frame", (m, 6), np.float32)
    # Across the path's course without its part along the side, the width can only lie along the side.
    course = point - (point @ direction)[:, None] * direction if level else point
    course = np.ascontiguousarray(course, np.float32)
    position = take("position", (m + 2 * n, sides, 3), np.float32)
    shaded = take("shaded", (m + 2 * n, sides, 4), np.float32)
    light, color = np.ascontiguousarray(light, np.float32), np.ascontiguousarray(color, np.float32)

    def some(low: int, high: int) -> None:
        sweep_frames(course, first, direction, low, high, frame)
        sweep_rings(point, radius, first, frame, circle, low, high, position)
        sweep_light(radius, first, frame, circle, light, color, low, high, shaded)

    in_parts(some, n, _PART)
    return TubeShape(position.reshape(-1, 3), shaded.reshape(-1, 4))


def sweep(
    point: NDArray[np.float32],
    radius: NDArray[np.float32],
    first: NDArray[np.int64],
    side: tuple[float, float, float],
    color: NDArray[np.float32],
    light: NDArray[np.float32],
    sides: int,
    buffers: Buffers,
    level: bool = False,
) -> TubeMesh:
    """Sweep elliptical sections along polylines; the parameters are those of :func:`shape`.

    Parameters
    ----------
    point : float32 (m, 3)
        Those of all paths, one path after the other.
    radius : float32 (m, 2)
        Half width and half height of the section at each point.
    first : int64 (n + 1,)
        The points of tube ``i`` are the slice ``[first[i], first[i + 1])``.
    side : (float, float, float)
        The direction that the section's width keeps to.
    color : float32 (n, 3)
        One for each tube.
    light : float32 (6,)
        As :func:`shape` takes it.
    sides : int
        Corners of a section.
    buffers : Buffers
        Reused from call to call: the mesh is valid until the next one.
    level : bool
        The width lies along ``side`` exactly.

    Returns
    -------
    TubeMesh

    Examples
    --------
    A straight tube with square sections: two rings, and one ring more at each end, which closes it:

    >>> import numpy as np
    >>> point = np.array([[0, 0, 0], [1, 0, 0]], np.float32)
    >>> radius, white = np.full((2, 2), 0.1, np.float32), np.ones((1, 3), np.float32)
    >>> light = np.array([0, 0, 1, 0.5, 0.5, 0], np.float32)
    >>> mesh = sweep(point, radius, np.array([0, 2]), (0, 0, 0), white, light, 4, Buffers())
    >>> mesh.position.shape, mesh.vertices.tolist(), len(mesh.face)
    ((16, 3), [16], 6)
    """
    first = np.ascontiguousarray(first, np.int64)
    n, m = len(first) - 1, len(point)
    found = shape(point, radius, first, side, color, light, sides, buffers, level)
    take = buffers.take
    corners, faces = 4 * (m - n) * sides + 2 * n * sides, (m - n) * sides + 2 * n
    edge = take("edge", ((2 * m + n) * sides, 2), np.int32)
    corner, corner_edge = take("corner", (corners,), np.int32), take("corner_edge", (corners,), np.int32)
    face, owner = take("face", (faces,), np.int32), take("owner", (faces,), np.int32)

    def some(low: int, high: int) -> None:
        sweep_faces(first, sides, low, high, edge, corner, corner_edge, face, owner)

    in_parts(some, n, _PART)
    return TubeMesh(
        found.position,
        found.shaded,
        edge,
        corner,
        corner_edge,
        face,
        owner,
        (np.diff(first) + 2) * sides,
    )
