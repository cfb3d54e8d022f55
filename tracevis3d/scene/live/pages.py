"""The pages of a live view as objects: each is one mesh that is written if it has changed, and moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.stream import Page
from ...live.stream.pages import Ring
from .. import materials
from ..geometry import meshes
from .bar_mesh import Faces, color_corners, shaded, topology
from .faces import ALL
from .texts import Srgb

#: Maximum number of pages whose faces change in a tick.
_REFACED = 2
#: How much nearer to the ground the colours of muted bars are.
_MUTED = 0.82


class PageObjects:
    """The objects of a ring of pages.

    Parameters
    ----------
    ring : Ring
    add : callable
        ``add(part)`` returns a new object of the live view, with an empty mesh.
    ground : Srgb
        What the colours of muted bars are near to.

    Attributes
    ----------
    faces : tuple of bool
        Faces that bars are to have.
    highlighted : frozenset of int
        Palette indices of the bars that are not muted; none: nothing is muted.
    written, made : int
        Pages written in the last tick, and meshes made for pages.
    """

    def __init__(self, ring: Ring, add: Callable[[str], Any], ground: Srgb = (1.0, 1.0, 1.0)) -> None:
        self._ring, self._add, self._ground = ring, add, ground
        self.highlighted: frozenset[int] = frozenset()
        self.faces: Faces = ALL
        self.written = self.made = 0
        self._objects: dict[int, Any] = {}
        self._colors: dict[int, NDArray[np.float32]] = {}
        self._palette: Any = None
        self._shown_highlighted = self.highlighted
        self._inks = np.ones((1, 2, 4, 4), np.float32)

    @property
    def _pages(self) -> tuple[Page, ...]:
        return self._ring.open, *self._ring.pages

    def find(self, objects: dict[str, Any]) -> None:
        """Take the existing objects, by their parts; all are rewritten."""
        found = {page.number: objects.get(part_of(page)) for page in self._pages}
        self._objects = {number: shown for number, shown in found.items() if shown is not None}
        for page in self._pages:
            page.touch()

    def forget(self) -> None:
        """The objects no longer exist."""
        self._objects = {}

    def show(self, place: Callable[[int], tuple[float, float, float]]) -> None:
        """Write what has changed, and move each page to where ``place`` says that its origin is."""
        self.written = self.made = 0
        if self._palette is not self._ring.palette or self._shown_highlighted != self.highlighted:
            if self._shown_highlighted != self.highlighted:
                for page in self._pages:
                    page.touch()
            self._palette, self._shown_highlighted = self._ring.palette, self.highlighted
            self._inks = shaded(muted(self._palette, self.highlighted, self._ground))
        along_x = self._ring.view.along == "x"
        for page in self._pages:
            if page.number not in self._objects:
                self._objects[page.number] = self._add(part_of(page))
                self._give_faces(page, self._objects[page.number].data)
            shown = self._objects[page.number]
            mesh = shown.data
            if mesh.get("tracevis3d_faces") != _number(self.faces) and self.made < _REFACED:
                self._give_faces(page, mesh)
            first, last = page.changed
            if first < last:
                self.written += 1
                color = self._colors[page.number]
                color_corners(page.bars[first:last], self._inks, color[first:last])
                corner = page.corner if along_x else turned(page.corner)
                mesh.attributes["position"].data.foreach_set("vector", corner.reshape(-1))
                mesh.attributes[materials.TINT].data.foreach_set("color", color.reshape(-1))
                mesh.update()
                page.shown()
            shown.location = place(page.origin)

    def _give_faces(self, page: Page, mesh: Any) -> None:
        """Let a page have those faces that can be seen."""
        self.made += 1
        page.touch()
        self._colors.setdefault(page.number, np.ones((page.room, 8, 4), np.float32))
        mesh.clear_geometry()
        meshes.fill(mesh, np.zeros((8 * page.room, 3), np.float32), *topology(self.faces, page.room))
        meshes.set_color(mesh, materials.TINT, "POINT", np.ones((8 * page.room, 4), np.float32), active=True)
        mesh["tracevis3d_faces"] = _number(self.faces)


def muted(palette: NDArray[np.float32], highlighted: frozenset[int], ground: Srgb) -> NDArray[np.float32]:
    """Return a palette in which only some colours are as they are; all where none is to stand out.

    Parameters
    ----------
    palette : float32 (k, 4)
        sRGB and alpha.
    highlighted : frozenset of int
    ground : Srgb

    Returns
    -------
    float32 (k, 4)
    """
    if not highlighted:
        return palette
    out = palette.copy()
    rest = np.setdiff1d(np.arange(len(palette)), list(highlighted))
    out[rest, :3] += np.float32(_MUTED) * (np.array(ground, np.float32) - out[rest, :3])
    return out


def part_of(page: Page) -> str:
    """Return what a page's object is called within the live view."""
    return f"page {page.number}"


def turned(corner: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return corners along y, towards the reader, of corners along x."""
    out = np.empty_like(corner)
    out[..., 0] = corner[..., 1]
    out[..., 1] = -corner[..., 0]
    out[..., 2] = corner[..., 2]
    return out


def _number(faces: Faces) -> int:
    return sum(1 << i for i, kept in enumerate(faces) if kept)
