"""Tubes and lines: one mesh each, swept by a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Lines, Tubes, Vector
from ...layout.buffers import Buffers
from ...layout.tube import shape, sweep
from .. import clock, materials
from ..color import linear
from ..styles import Light, Style
from . import meshes

_buffers = Buffers()
#: Vertices of a ring: of so many tubes at most, and of more.
_SIDES = ((500, 16), (5_000, 12), (20_000, 8))
_LEAST_SIDES = 6


@dataclass(frozen=True, eq=False)
class _Course:
    """What tubes or lines are swept from.

    Attributes
    ----------
    kept : int64 (n,)
        Those that have points.
    color : float32 (n, 4)
        Linear.
    turning : bool
        The colour changes along a tube.
    """

    kept: NDArray[np.int64]
    point: NDArray[np.float32]
    radius: NDArray[np.float32]
    first: NDArray[np.int64]
    side: Vector
    level: bool
    sides: int
    color: NDArray[np.float32]
    turning: bool
    light: NDArray[np.float32]

    @classmethod
    def of(cls, element: Tubes | Lines, palette: NDArray[np.float32], style: Style, light: Light) -> _Course:
        kept = np.flatnonzero(np.diff(element.first) > 0)
        first = np.append(element.first[kept], element.first[-1] if len(element.first) else 0)
        begin = int(first[0]) if len(first) else 0
        inside = slice(begin, int(first[-1]))
        color = linear(palette[np.clip(element.color[kept], 0, len(palette) - 1)])
        shining = 1.0 if not style.shaded else style.emission
        key = light.key / max(float(light.facing @ light.key), 1e-6)
        lights = np.array([*key, style.ambient, 1.0 - style.ambient, shining], np.float32)
        if isinstance(element, Lines):
            half = np.asarray(element.width, np.float32)[kept] / 2
            radius = np.repeat(np.stack([half, half], axis=1), np.diff(first), axis=0)
            return cls(
                kept, element.point[inside], radius, first - begin, (0.0, 0.0, 0.0), False, _LEAST_SIDES,
                color, False, lights,
            )  # fmt: skip
        sides = next((sides for most, sides in _SIDES if len(kept) <= most), _LEAST_SIDES)
        return cls(
            kept, element.point[inside], element.radius[inside], first - begin, element.side, element.level,
            sides, color, len(element.end_color) > 0, lights,
        )  # fmt: skip

    def arguments(self) -> tuple[Any, ...]:
        """Return what :func:`...layout.tube.sweep` and ``shape`` take."""
        # Where the colour changes along a tube, the sweep brings the light alone.
        given = np.ones((len(self.color), 3), np.float32) if self.turning else self.color[:, :3]
        return (
            self.point, self.radius, self.first, self.side, given, self.light, self.sides, _buffers,
            self.level,
        )  # fmt: skip

    def tint(
        self, element: Tubes | Lines, palette: NDArray[np.float32], vertices: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the colour of each vertex without light, linear."""
        if not self.turning or isinstance(element, Lines):
            return np.repeat(self.color, vertices, axis=0)
        start, end = (
            palette[np.clip(c[self.kept], 0, len(palette) - 1)] for c in (element.color, element.end_color)
        )
        return np.repeat(linear(_turning(start, end, np.diff(self.first))), self.sides, axis=0)


def show(element: Tubes | Lines, palette: NDArray[np.float32], style: Style, light: Light, name: str) -> Any:
    """Return the object that shows tubes or lines; ``palette`` is sRGB (k, 4)."""
    course = _Course.of(element, palette, style, light)
    swept = sweep(*course.arguments())
    mesh = meshes.polygons(
        name, swept.position, swept.corner, swept.face, swept.edge, swept.corner_edge, smooth=True
    )
    if len(swept.face):
        tint = course.tint(element, palette, swept.vertices)
        meshes.set_color(mesh, materials.TINT, "POINT", tint)
        shaded = swept.shaded * tint if course.turning else swept.shaded
        meshes.set_color(mesh, materials.SHADED, "POINT", shaded, active=True)
        ids = element.id[course.kept]
        # Blender keeps the name "id" for points.
        meshes.set_attribute(mesh, "element_id", "INT", "FACE", ids.astype(np.int32)[swept.owner])
    mesh.materials.append(materials.surface(element.look, style))
    shown = bpy.data.objects.new(name, mesh)
    if isinstance(element, Tubes) and len(element.time) and len(swept.face):
        clock.reveal(shown, np.repeat(element.time[course.kept].astype(np.float32), swept.vertices))
    return shown


def move(
    shown: Any, element: Tubes | Lines, palette: NDArray[np.float32], style: Style, light: Light
) -> None:
    """Write the places of the points of ``element``, and the light on them, into the mesh that shows it.

    Nothing else may have changed since it was made: see :func:`still`.
    """
    course = _Course.of(element, palette, style, light)
    if not len(course.point):
        return
    found = shape(*course.arguments())
    shaded = found.shaded
    if course.turning:
        shaded = shaded * course.tint(element, palette, (np.diff(course.first) + 2) * course.sides)
    mesh = shown.data
    meshes.set_attribute(mesh, "position", "FLOAT_VECTOR", "POINT", found.position)
    meshes.set_color(mesh, materials.SHADED, "POINT", shaded, active=True)
    mesh.update()


def still(element: Tubes | Lines) -> Tubes | Lines:
    """Return the element without the places of its points, and without their radii."""
    none = np.empty((0, 2), np.float32)
    if isinstance(element, Lines):
        return replace(element, point=none)
    return replace(element, point=none, radius=none)


def _turning(
    start: NDArray[np.float32], end: NDArray[np.float32], count: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the sRGB colour of each ring of tubes of ``count`` points, their caps' rings included."""
    rings = count + 2
    which = np.repeat(np.arange(len(count)), rings)
    place = np.arange(len(which)) - np.repeat(np.cumsum(rings) - rings, rings) - 1
    share = np.clip(place / np.maximum(count - 1, 1)[which], 0.0, 1.0).astype(np.float32)[:, None]
    return np.asarray(start[which] * (1 - share) + end[which] * share, np.float32)
