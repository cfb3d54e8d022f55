"""Texts, patches and lines of a live view, written into a mesh that is there already."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...layout.lettering import Typeface, clean, set_texts, shorten
from .. import materials
from ..color import linear
from ..geometry import meshes
from ..text.glyphs import typeface

#: A mesh without anything keeps this one triangle, of no size.
_NOTHING = np.zeros((3, 3), np.float32)


class Inked:
    """What is written on one mesh: texts in the plane of x and z, rectangles, lines."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, NDArray[np.float64], float, Any, float, int]] = []
        self._quads: list[NDArray[np.float64]] = []
        self._quad_colors: list[Any] = []
        self.flat = False

    def add(
        self, text: str, at: NDArray[np.float64], size: float, srgb: Any, room: float = 0.0, align: int = -1
    ) -> None:
        """Write a text of line height ``size``, no longer than ``room`` (0: as long as it is)."""
        self._texts.append((clean(text), at, size, srgb, room, align))

    def ground(self, text: str, at: NDArray[np.float64], size: float, room: float, srgb: Any) -> None:
        """Fill what lies behind a text that begins at ``at``."""
        wide = typeface().width(clean(text)) * size * typeface().size_per_line
        wide = min(wide, room) if room else wide
        left, right, low, high = -0.3 * size, wide + 0.3 * size, -0.28 * size, 0.92 * size
        corner = np.array([[left, 0.02, low], [right, 0.02, low], [right, 0.02, high], [left, 0.02, high]])
        self.patch(at + corner, srgb)

    def width(self, face: Typeface) -> float:
        """Return how long the last text is."""
        text, _, size, *_ = self._texts[-1]
        return face.width(text) * size * face.size_per_line

    def patch(self, corner: NDArray[np.floating[Any]], srgb: Any) -> None:
        """Fill a rectangle of corners (4, 3)."""
        self._quads.append(np.asarray(corner, np.float64))
        self._quad_colors.append(srgb)

    def line(self, point: NDArray[np.floating[Any]], width: float, srgb: Any, along: str) -> None:
        """Draw a polyline of points (n, 3), as wide as ``width`` along an axis."""
        side = np.array([width / 2, 0.0, 0.0] if along == "x" else [0.0, width / 2, 0.0])
        for a, b in pairwise(point):
            across = side
            if abs(np.dot(side, b - a)) > 0.5 * np.linalg.norm(side) * np.linalg.norm(b - a):
                across = np.array([0.0, 0.0, width / 2])
            self.patch(np.array([a - across, a + across, b + across, b - across]), srgb)

    def shape(self, face: Typeface) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return points, corners, first corners of the faces, and linear colours of the points."""
        position = [_NOTHING]
        corner = [np.arange(3, dtype=np.int32)]
        first = [np.zeros(1, np.int32)]
        color = [np.ones((3, 4), np.float32)]
        if self._quads:
            n = len(self._quads)
            position.append(np.concatenate(self._quads).astype(np.float32))
            corner.append(3 + np.arange(4 * n, dtype=np.int32))
            first.append(3 + np.arange(0, 4 * n, 4, dtype=np.int32))
            color.append(np.repeat(_rgba(self._quad_colors), 4, axis=0))
        kept, start, size, inks = [], [], [], []
        for text, at, line, srgb, room, align in self._texts:
            em = line * face.size_per_line
            shown = shorten(text, room / em, face) if room else text
            if not shown:
                continue
            shift = 0.0 if align < 0 else face.width(shown) * em * (0.5 if align == 0 else 1.0)
            kept.append(shown)
            start.append(np.asarray(at) - np.array([shift, 0.0, 0.0]))
            size.append(em)
            inks.append(srgb)
        if kept:
            n = len(kept)
            right, up = np.tile([1.0, 0.0, 0.0], (n, 1)), np.tile([0.0, 0.0, 1.0], (n, 1))
            if self.flat:
                up = np.tile([0.0, 1.0, 0.0], (n, 1))
            made = set_texts(kept, np.array(start), right, up, np.array(size), face)
            points = sum(map(len, position))
            corners = sum(map(len, corner))
            position.append(made.position)
            corner.append((made.corner + points).astype(np.int32))
            first.append((corners + np.arange(0, len(made.corner), 3)).astype(np.int32))
            color.append(np.repeat(_rgba(inks), made.vertices, axis=0))
        return (
            np.concatenate(position),
            np.concatenate(corner),
            np.concatenate(first),
            np.concatenate(color),
        )


def write_texts(mesh: Any, ink: Inked, face: Typeface) -> None:
    """Put what ``ink`` holds into ``mesh`` in place of what was there."""
    position, corner, first, color = ink.shape(face)
    mesh.clear_geometry()
    meshes.fill(mesh, position, corner, first)
    meshes.set_color(mesh, materials.TINT, "POINT", color, active=True)
    mesh.update()


def _rgba(srgb: list[Any]) -> NDArray[np.float32]:
    colors = np.ones((len(srgb), 4), np.float32)
    colors[:, :3] = np.array([tuple(c)[:3] for c in srgb], np.float32)
    return linear(colors)
