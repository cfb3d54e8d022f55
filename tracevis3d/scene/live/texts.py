"""Texts, rectangles, lines and axes of a live view, written into a mesh that is there already."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Axis, Labels
from ...layout.lettering import Typeface, clean, set_texts, shorten
from .. import materials
from ..color import linear
from ..geometry import meshes
from ..text.glyphs import typeface

#: A mesh without anything keeps this one triangle, of no size.
_NOTHING = np.zeros((3, 3), np.float32)


#: How far texts of an axis stand off, in line heights.
_STAND = 0.75
Srgb = Sequence[float]


class TextMesh:
    """The content of one mesh: texts in the plane of x and z, rectangles, lines.

    Attributes
    ----------
    flat : bool
        Texts lie in the plane of x and y instead.
    """

    def __init__(self) -> None:
        self._texts: list[tuple[str, NDArray[np.float64], float, Any, float, int]] = []
        self._quads: list[NDArray[np.float64]] = []
        self._quad_colors: list[Any] = []
        self.flat = False

    def add(
        self, text: str, at: NDArray[np.float64], size: float, srgb: Any, room: float = 0.0, align: int = -1
    ) -> None:
        """Write a text.

        Parameters
        ----------
        text : str
        at : float64 (3,)
            Its place on the baseline.
        size : float
            Line height.
        srgb : sequence of float
        room : float
            It is shortened to this; 0: it isn't.
        align : {-1, 0, 1}
            It begins, is centred, or ends at its place.
        """
        self._texts.append((clean(text), at, size, srgb, room, align))

    def ground(self, text: str, at: NDArray[np.float64], size: float, room: float, srgb: Any) -> None:
        """Fill the background of a text.

        Parameters
        ----------
        text : str
        at : float64 (3,)
            Where its baseline begins.
        size : float
            Line height.
        room : float
            As for :meth:`add`.
        srgb : sequence of float
        """
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
        """Fill a rectangle.

        Parameters
        ----------
        corner : float (4, 3)
        srgb : sequence of float
        """
        self._quads.append(np.asarray(corner, np.float64))
        self._quad_colors.append(srgb)

    def line(self, point: NDArray[np.floating[Any]], width: float, srgb: Any, along: str) -> None:
        """Draw a polyline.

        Parameters
        ----------
        point : float (n, 3)
        width : float
        srgb : sequence of float
        along : {"x", "y"}
            The axis along which it is wide; a piece along that axis is wide along z.
        """
        side = np.array([width / 2, 0.0, 0.0] if along == "x" else [0.0, width / 2, 0.0])
        for a, b in pairwise(point):
            across = side
            if abs(np.dot(side, b - a)) > 0.5 * np.linalg.norm(side) * np.linalg.norm(b - a):
                across = np.array([0.0, 0.0, width / 2])
            self.patch(np.array([a - across, a + across, b + across, b - across]), srgb)

    def labels(self, labels: Labels, anchor: NDArray[np.floating[Any]], srgb: Srgb, ground: Srgb) -> None:
        """Write labels.

        Parameters
        ----------
        labels : Labels
            Those without room are left out.
        anchor : float (n, 3)
            Where they are in the scene.
        srgb : sequence of float
        ground : sequence of float
            sRGB of the background of labels of the kind ``warning``.
        """
        face = typeface()
        numbers = np.stack([labels.height, labels.room], axis=1).tolist()
        for text, at, (size, room) in zip(labels.text, np.asarray(anchor, np.float64), numbers, strict=True):
            if room <= 0.0:
                continue
            base = at - [0.0, 0.0, 0.5 * face.cap_height * size * face.size_per_line]
            bound = room if np.isfinite(room) else 0.0
            if labels.kind == "warning":
                self.ground(text, base, size, bound, ground)
            self.add(text, base, size, srgb, bound, labels.align)

    def axis(self, axis: Axis, ink: Srgb, faint: Srgb, width: float) -> None:
        """Draw the texts of an axis, and its grid lines.

        Parameters
        ----------
        axis : Axis
        ink, faint : sequence of float
            sRGB of texts and of lines.
        width : float
            Of the lines.
        """
        face = typeface()
        along, out = np.array(axis.direction, np.float64), np.array(axis.outward, np.float64)
        side = "x" if abs(along[0]) else "y"
        for distance, text in zip(axis.tick, axis.text, strict=True):
            at = np.array(axis.origin) + along * distance
            if axis.grid:
                self.line(np.array([at, at - out * axis.grid]), width, faint, side)
            if text:
                place = at + out * (_STAND * axis.height)
                half = 0.5 * face.cap_height * axis.height * face.size_per_line
                lower = half if not out[2] else half * (1.0 - np.sign(out[2]))
                self.add(text, place - [0.0, 0.0, lower], axis.height, ink, 0.0, -1 if out[0] > 0 else 0)

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


def write(mesh: Any, text: TextMesh) -> None:
    """Replace the content of a mesh.

    Parameters
    ----------
    mesh : bpy.types.Mesh
    text : TextMesh
    """
    position, corner, first, color = text.shape(typeface())
    mesh.clear_geometry()
    meshes.fill(mesh, position, corner, first)
    meshes.set_color(mesh, materials.TINT, "POINT", color, active=True)
    mesh.update()


def _rgba(srgb: list[Any]) -> NDArray[np.float32]:
    colors = np.ones((len(srgb), 4), np.float32)
    colors[:, :3] = np.array([tuple(c)[:3] for c in srgb], np.float32)
    return linear(colors)
