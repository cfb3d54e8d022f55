"""Glyphs taken once per character from Blender's own font, or one that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...figures import font_files as fonts_here
from ...figures.fonts import Font
from ...layout.lettering import Glyph, Typeface

#: Lines of one text object: each character stands on its own line, found again by its height.
_BATCH = 64
_LINE = 4.0
_BAR = "|"
#: Noto Sans, for Latin letters and for Greek ones. (Inter, the interface's font, is variable, and its
#: overlapping outlines Blender's text objects fill with holes.)
_FIRST = ("NotoSansHebrew-Regular.woff2", "NotoSansMath-Regular.woff2")
#: Unsuitable fonts: the first draws a box for every character, the others fill badly for the reason above.
_NEVER = ("lastresort.woff2", "Inter.woff2", "NotoEmoji-VariableFont_wght.woff2")
#: Characters that nearly every picture needs.
_USUAL = "".join(map(chr, range(33, 127))) + "…·×µ–"
#: Characters that Noto Sans lacks, and look-alikes in it: the micro sign. Loading another font takes a
#: quarter second.
_SAME = {"\u00b5": "\u03bc"}
#: A code point that no font has: its shape is that of every missing character.
_NONCHARACTER = "\U0010fffe"


class BlenderTypeface(Typeface):
    """Noto Sans, which ships with Blender, and Blender's fonts of other scripts for what it lacks.

    The advance of a character is where a bar behind it moves to.

    Parameters
    ----------
    font : str
        A font that comes before all others: its file, or its family.
    """

    def __init__(self, font: str = "") -> None:
        super().__init__()
        self._files = font_files(font)
        if font and self._files[0] is not None:
            self.cap_share = Font(self._files[0], 0).cap_height
        # Each load takes milliseconds however few characters it is for.
        self.need([_USUAL])
        # Capitals are three fifths of the line height, as usual for text set with a leading of 120 %.
        self.cap_height = float(self.glyph("H").outline[:, 1].max())
        self.size_per_line = 0.6 / self.cap_height

    def load(self, characters: Sequence[str]) -> dict[str, Glyph]:
        """Return the glyphs of ``characters``."""
        found: dict[str, _Found] = {}
        twins = {c: _SAME.get(c, c) for c in characters}
        missing = sorted(set(twins.values()))
        before = set(bpy.data.fonts.keys())
        try:
            for path in self._files:
                font = bpy.data.fonts.load(str(path), check_existing=True) if path else None
                for at in range(0, len(missing), _BATCH):
                    found.update(_measured(missing[at : at + _BATCH], font))
                missing = [c for c in missing if found[c].lacking]
                if not missing:
                    break
        finally:
            for name in set(bpy.data.fonts.keys()) - before:
                bpy.data.fonts.remove(bpy.data.fonts[name])
        return {c: found[twin].glyph for c, twin in twins.items()}


@cache
def typeface(font: str = "") -> BlenderTypeface:
    """Return the one typeface of this process, or that whose first font was chosen."""
    return BlenderTypeface(font)


def _folder() -> Path:
    utils: Any = bpy.utils
    return Path(utils.system_resource("DATAFILES") or ".") / "fonts"


def font_files(font: str = "") -> list[Path | None]:
    """Return the fonts to try in turn.

    Parameters
    ----------
    font : str
        A file or a family that comes first; empty: none.

    Returns
    -------
    list of Path or None
        None is the font that is built into Blender.

    Raises
    ------
    UsageError
        If ``font``, a file or a family, was not found.
    """
    folder = _folder()
    first = [folder / name for name in _FIRST if (folder / name).is_file()]
    rest = sorted(p for p in folder.glob("*.woff2") if p.name not in (*_NEVER, *_FIRST))
    # Fonts with one weight before the variable ones.
    rest.sort(key=lambda p: "VariableFont" in p.name)
    chosen = [fonts_here.find(font, (folder,))] if font else []
    return [*chosen, *first, None, *rest]


def _lines(texts: Sequence[str], font: Any | None) -> list[tuple[NDArray[np.float32], NDArray[np.int32]]]:
    """Return outline (v, 2) and triangles (t, 3) of each text, drawn as lines of one text object."""
    curve: Any = bpy.data.curves.new("TraceVis3D glyphs", "FONT")
    shown = bpy.data.objects.new("TraceVis3D glyphs", curve)
    try:
        if font is not None:
            curve.font = font
        curve.dimensions = "2D"
        curve.fill_mode = "FRONT"
        curve.resolution_u = 4
        curve.space_line = _LINE
        curve.body = "\n".join(texts)
        mesh = shown.to_mesh()
        position = np.empty((len(mesh.vertices), 3), np.float32)
        mesh.vertices.foreach_get("co", position.reshape(-1))
        mesh.calc_loop_triangles()
        triangle = np.empty((len(mesh.loop_triangles), 3), np.int32)
        mesh.loop_triangles.foreach_get("vertices", triangle.reshape(-1))
        normal_z = np.cross(
            position[triangle[:, 1]] - position[triangle[:, 0]],
            position[triangle[:, 2]] - position[triangle[:, 0]],
        )[:, 2]
        triangle[normal_z < 0] = triangle[normal_z < 0][:, ::-1]
        shown.to_mesh_clear()
    finally:
        bpy.data.objects.remove(shown)
        bpy.data.curves.remove(curve)
    # A glyph lies between -1.5 and 2.5 of its baseline, whatever its ascenders and descenders.
    line = np.clip(np.round(-(position[:, 1] - 0.3) / _LINE), 0, len(texts) - 1).astype(np.int64)
    order = np.argsort(line, kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    bound = np.searchsorted(line[order], np.arange(len(texts) + 1))
    position, line_sorted = position[order, :2], line[order]
    position[:, 1] += line_sorted * _LINE
    triangle = place[triangle]
    face_line = line_sorted[triangle[:, 0]]
    face_order = np.argsort(face_line, kind="stable")
    triangle = triangle[face_order]
    face_bound = np.searchsorted(face_line[face_order], np.arange(len(texts) + 1))
    return [
        (position[bound[i] : bound[i + 1]], triangle[face_bound[i] : face_bound[i + 1]] - bound[i])
        for i in range(len(texts))
    ]


@dataclass(frozen=True, eq=False)
class _Found:
    glyph: Glyph
    lacking: bool


def _measured(characters: list[str], font: Any | None) -> dict[str, _Found]:
    *shapes, (nothing, _) = _lines([*characters, _NONCHARACTER], font)
    bars = _lines([_BAR, *(c + _BAR for c in characters)], font)
    bar = float(bars[0][0][:, 0].max())
    found = {}
    for character, (outline, triangle), (with_bar, _) in zip(characters, shapes, bars[1:]):
        advance = float(with_bar[:, 0].max()) - bar if len(with_bar) else 0.5
        lacking = len(outline) == len(nothing) > 0 and bool(np.allclose(outline, nothing, atol=1e-3))
        glyph = Glyph(outline.astype(np.float32), triangle.astype(np.int32), max(advance, 0.0))
        found[character] = _Found(glyph, lacking)
    return found
