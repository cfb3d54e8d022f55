"""Tubes and lines: one mesh each, swept by a kernel; the economical form has fewer rings and sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Lines, Tubes, Vector
from ...layout.buffers import Buffers
from ...layout.simplify import points_to_keep
from ...layout.tube import shape, sweep
from .. import clock, materials
from ..color import linear
from ..styles import Light, Style
from . import forms, meshes

_buffers = Buffers()
#: Vertices of a ring, for at most this many tubes; and for more than those.
_SIDES = ((500, 16), (5_000, 12), (20_000, 8))
_LEAST_SIDES = 6
#: Those of the economical form: of tubes, of tubes with a small budget, and of lines.
_FEW_SIDES, _FEWER_SIDES, _SIDES_OF_LINES = 8, 6, 3
#: Factor on the tolerance for lines: there are many, and no shading shows their bends.
_LOOSER = 2.0
#: Darkening of a tube's sides, also in engines without light.
CUSHION = 0.42
#: How white the crest of the glossiest tubes is, and how narrow the light on it.
CREST, NARROW = 0.6, 10
#: The budget is small above this many tubes, or from this coarseness on.
_MANY, _COARSE = 500, 2


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
    share : float32 (m,)
        How far along its tube each point is in the count of its points, 0 to 1.
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
    share: NDArray[np.float32]

    @classmethod
    def of(cls, element: Tubes | Lines, palette: NDArray[np.float32], style: Style, light: Light) -> _Course:
        kept = np.flatnonzero(np.diff(element.first) > 0)
        first = np.append(element.first[kept], element.first[-1] if len(element.first) else 0)
        begin = int(first[0]) if len(first) else 0
        inside = slice(begin, int(first[-1]))
        color = linear(palette[np.clip(element.color[kept], 0, len(palette) - 1)])
        count = np.diff(first)
        place = np.arange(first[-1] - begin if len(first) else 0) - np.repeat(first[:-1] - begin, count)
        share = (place / np.repeat(np.maximum(count - 1, 1), count)).astype(np.float32)
        shining = 1.0 if not style.shaded else style.emission
        key = light.key / max(float(light.facing @ light.key), 1e-6)
        lights = np.array([*key, style.ambient, 1.0 - style.ambient, shining], np.float32)
        if isinstance(element, Lines):
            half = np.asarray(element.width, np.float32)[kept] / 2
            radius = np.repeat(np.stack([half, half], axis=1), count, axis=0)
            return cls(
                kept, element.point[inside], radius, first - begin, (0.0, 0.0, 0.0), False, _LEAST_SIDES,
                color, False, lights, share,
            )  # fmt: skip
        sides = next((sides for most, sides in _SIDES if len(kept) <= most), _LEAST_SIDES)
        return cls(
            kept, element.point[inside], element.radius[inside], first - begin, element.side, element.level,
            sides, color, len(element.end_color) > 0, lights, share,
        )  # fmt: skip

    def economical(self, sides: int, within: float) -> _Course:
        """Return the course with no more points than it takes to stay ``within`` this much of it."""
        kept = points_to_keep(self.point, self.radius, self.first, within)
        first = np.searchsorted(kept, self.first)
        return replace(
            self, point=self.point[kept], radius=self.radius[kept], first=first, sides=sides,
            share=self.share[kept],
        )  # fmt: skip

    def arguments(self) -> tuple[Any, ...]:
        """Return what :func:`...layout.tube.sweep` and ``shape`` take."""
        # If the colour changes along a tube, the sweep only computes the light.
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
            return self.cushioned(np.repeat(self.color, vertices, axis=0), element)
        start, end = (
            palette[np.clip(c[self.kept], 0, len(palette) - 1)] for c in (element.color, element.end_color)
        )
        return self.cushioned(np.repeat(linear(self._turning(start, end)), self.sides, axis=0), element)

    def cushioned(self, color: NDArray[np.float32], element: Tubes | Lines) -> NDArray[np.float32]:
        """Return the colours of vertices, darker towards the sides of wide tubes: cushions."""
        if isinstance(element, Lines) or not element.level:
            return color
        angle = np.linspace(0, 2 * np.pi, self.sides, endpoint=False)
        factor = (1.0 - CUSHION * np.cos(angle) ** 2).astype(np.float32)
        out = color.reshape(-1, self.sides, 4).copy()
        out[..., :3] *= factor[None, :, None]
        if len(element.gloss):
            # Each ring, the caps' included, has the gloss of its tube.
            gloss = np.repeat(element.gloss[self.kept], np.diff(self.first) + 2).astype(np.float32)
            white = CREST * gloss[:, None] * np.abs(np.sin(angle)).astype(np.float32) ** NARROW
            out[..., :3] += (1.0 - out[..., :3]) * white[..., None]
        return out.reshape(-1, 4)

    def _turning(self, start: NDArray[np.float32], end: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sRGB colour of each ring, the caps' included."""
        count = np.diff(self.first)
        which = np.repeat(np.arange(len(count)), count + 2)
        # A cap's ring has the place of the one beside it.
        place = np.arange(len(which)) - 2 * which - 1
        share = self.share[np.clip(place, self.first[:-1][which], self.first[1:][which] - 1)][:, None]
        return np.asarray(start[which] * (1 - share) + end[which] * share, np.float32)


def _sides(element: Tubes | Lines, coarse: int) -> int:
    if isinstance(element, Lines):
        return _SIDES_OF_LINES
    return _FEW_SIDES if len(element) <= _MANY and coarse < _COARSE else _FEWER_SIDES


def _slack(element: Tubes | Lines, coarse: int, within: float) -> float:
    return _LOOSER * within if isinstance(element, Lines) and coarse > 0 else within


def triangles(element: Tubes | Lines, coarse: int, within: float) -> int:
    """Return how many triangles the economical form has.

    Parameters
    ----------
    element : Tubes or Lines
    coarse : int
        Its coarseness.
    within : float
        How far it may be from the course, in scene units.

    Returns
    -------
    int
    """
    count = np.diff(element.first)
    tubes = int(np.count_nonzero(count))
    if not tubes:
        return 0
    sides = _sides(element, coarse)
    radius = np.zeros((len(element.point), 2), np.float32) if isinstance(element, Lines) else element.radius
    rings = len(points_to_keep(element.point, radius, element.first, _slack(element, coarse, within)))
    return 2 * sides * (rings - tubes) + 2 * (sides - 2) * tubes


def show(
    element: Tubes | Lines,
    palette: NDArray[np.float32],
    style: Style,
    light: Light,
    name: str,
    coarse: int = 0,
    within: float = 0.0,
    alone: bool = False,
) -> Any:
    """Return the object that shows tubes or lines.

    Parameters
    ----------
    element : Tubes or Lines
    palette : float32 (k, 4)
        sRGB.
    style : Style
    light : Light
    name : str
    coarse : int
        Of the economical form.
    within : float
        So far may that be from the course, in scene units, and lines farther where the drawing is coarse;
        0: there is none.
    alone : bool
        Make no other form.

    Returns
    -------
    bpy.types.Object
    """
    course = _Course.of(element, palette, style, light)
    fewer = (
        course.economical(_sides(element, coarse), _slack(element, coarse, within)) if within > 0 else course
    )
    shown = bpy.data.objects.new(name, _mesh(fewer if alone else course, element, palette, style, name))
    if fewer is not course and len(course.point) and not alone:
        forms.set_economical(shown, _mesh(fewer, element, palette, style, f"{name} economical"))
    if isinstance(element, Tubes) and len(element.time) and len(course.point):
        clock.add_visibility(shown)
    return shown


def _mesh(
    course: _Course, element: Tubes | Lines, palette: NDArray[np.float32], style: Style, name: str
) -> Any:
    swept = sweep(*course.arguments())
    mesh = meshes.polygons(
        name, swept.position, swept.corner, swept.face, swept.edge, swept.corner_edge, smooth=True
    )
    if len(swept.face):
        tint = course.tint(element, palette, swept.vertices)
        meshes.set_color(mesh, materials.TINT, "POINT", tint)
        shaded = swept.shaded * tint if course.turning else course.cushioned(swept.shaded, element)
        meshes.set_color(mesh, materials.SHADED, "POINT", shaded, active=True)
        ids = element.id[course.kept]
        # Blender keeps the name "id" for points.
        meshes.set_attribute(mesh, "element_id", "INT", "FACE", ids.astype(np.int32)[swept.owner])
        if isinstance(element, Tubes) and len(element.time):
            start = element.time[course.kept].astype(np.float32)
            clock.set_start(mesh, np.repeat(start, swept.vertices))
    mesh.materials.append(materials.surface(element.look, style))
    return mesh


def move(
    shown: Any,
    element: Tubes | Lines,
    palette: NDArray[np.float32],
    style: Style,
    light: Light,
    coarse: int = 0,
    within: float = 0.0,
) -> None:
    """Write the places of an element's points, and the light on them, into the mesh that shows it.

    Nothing else may have changed since it was made: see :func:`still`.

    Parameters
    ----------
    shown : bpy.types.Object
        Made by :func:`show`.
    element, palette, style, light, coarse, within
        As for :func:`show`.
    """
    course = _Course.of(element, palette, style, light)
    if not len(course.point):
        return
    found = shape(*course.arguments())
    if not course.turning:
        shaded = course.cushioned(found.shaded, element)
    else:
        shaded = found.shaded * course.tint(element, palette, (np.diff(course.first) + 2) * course.sides)
    mesh = shown.data
    meshes.set_attribute(mesh, "position", "FLOAT_VECTOR", "POINT", found.position)
    meshes.set_color(mesh, materials.SHADED, "POINT", shaded, active=True)
    mesh.update()
    if within > 0:
        fewer = course.economical(_sides(element, coarse), _slack(element, coarse, within))
        forms.set_economical(shown, _mesh(fewer, element, palette, style, f"{shown.name} economical"))
        shown.update_tag()


def still(element: Tubes | Lines) -> Tubes | Lines:
    """Return the element without the places of its points, and without their radii."""
    none = np.empty((0, 2), np.float32)
    if isinstance(element, Lines):
        return replace(element, point=none)
    return replace(element, point=none, radius=none)
