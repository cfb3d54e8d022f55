"""Several drawings as one figure: panels with letters, one legend, one scale of time."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...atomic import replacing
from ...drawing.frame import Frame
from ...drawing.output import Output
from ...drawing.primitives import Drawing
from ...errors import UsageError
from ...figures import picture_files
from ...figures.fonts import Fonts
from ...figures.page import Page, Panel
from ...figures.panels import Cell, letter
from ...figures.recipe import into_png
from ...progress import Progress, part, silent
from .. import styles
from ..build import Built, build, clear, pixels_of_time
from ..geometry.forms import Purpose
from ..text import legend
from ..text.glyphs import typeface
from . import figure, pixels, render
from .covered import legible

#: Suffixes of figures of several panels.
SUFFIXES = (".svg", ".pdf", ".png")
#: Maximum number of times that a camera is moved until scales are equal, and their relative tolerance.
_TRIES, _SAME = 12, 1e-3


@dataclass(frozen=True, eq=False)
class _Placed:
    drawing: Drawing
    cell: Cell
    name: str


def header_height(header: Drawing | None, style: str, frame: Frame) -> int:
    """Return how much room the title and legends above the panels need.

    Parameters
    ----------
    header : Drawing or None
        What holds them.
    style : {"paper", "stage", "flat"}
    frame : Frame
        Of the whole figure.

    Returns
    -------
    int
        Pixels.
    """
    if header is None:
        return 0
    face = typeface(frame.font)
    around = legend.lay_out(header, styles.named(style), frame, face)
    return max(round(frame.height - around.region[3]), 0)


def one_scale(
    drawings: Sequence[Drawing], views: Sequence[str], frames: Sequence[Frame], style: str
) -> list[Drawing]:
    """Return the drawings so that a second is as long in all of one view that have a ruler of time.

    The cameras of those in which it would be longer see more space at the end of the time.

    Parameters
    ----------
    drawings : sequence of Drawing
    views : sequence of str
        The view that each is of.
    frames : sequence of Frame
        The picture of each.
    style : {"paper", "stage", "flat"}

    Returns
    -------
    list of Drawing
    """
    scales = [pixels_of_time(drawing, style, frame) or 0.0 for drawing, frame in zip(drawings, frames)]
    found = list(drawings)
    for view in set(views):
        which = [i for i, name in enumerate(views) if name == view and scales[i] > 0]
        least = min((scales[i] for i in which), default=0.0)
        for i in which:
            found[i] = _widened(drawings[i], frames[i], style, least)
    return found


def _widened(drawing: Drawing, frame: Frame, style: str, wanted: float) -> Drawing:
    """Let the camera see so much more along the ruler of time that a nanosecond takes ``wanted`` pixels."""
    axis = next(axis for axis in drawing.axes if axis.window)
    low, high = (np.array(side, np.float64) for side in (drawing.camera.low, drawing.camera.high))
    along = np.abs(np.asarray(axis.direction, np.float64)) * (high - low)

    def seen(more: float) -> Drawing:
        box = tuple((high + along * more).tolist())
        return replace(drawing, camera=replace(drawing.camera, high=box))

    def inverse(more: float) -> float:
        return 1 / (pixels_of_time(seen(more), style, frame) or wanted)

    # The time per pixel grows with the box, in steps if texts or the height limit the picture.
    more, off = 0.0, inverse(0.0) * wanted - 1
    before, was = -1.0, -1.0
    for _ in range(_TRIES):
        if abs(off) < _SAME:
            break
        slope = (off - was) / (more - before)
        before, was = more, off
        more = max(more - off / slope if slope > 0.05 else 2 * more + 0.1, 0.0)
        if more == before:
            break
        off = inverse(more) * wanted - 1
    return seen(more)


def produce_panels(
    drawings: Sequence[Drawing],
    places: Sequence[Cell],
    header: Drawing | None,
    path: Path,
    output: Output,
    recipe: str = "",
    progress: Progress = silent,
) -> dict[str, int]:
    """Draw each panel in its cell, the header above all of them, and write one file.

    Parameters
    ----------
    drawings : sequence of Drawing
    places : sequence of Cell
    header : Drawing or None
        What holds the title and legends for all panels; it is drawn above the highest cell.
    path : Path
        .svg, .pdf or .png
    output : Output
        Its frame is that of the whole figure.
    recipe : str
    progress : Progress

    Returns
    -------
    dict
        Sums of what the panels count.

    Raises
    ------
    UsageError
        If the suffix is another one.
    InputError
        If the file can't be written.
    """
    suffix, frame = path.suffix.lower(), output.frame
    if suffix not in SUFFIXES:
        raise UsageError(f"{path}: panels are written as {' '.join(SUFFIXES)}")
    placed = [
        _Placed(replace(drawing, title=f"({letter(i)}) {drawing.title}"), cell, f"panel-{letter(i)}")
        for i, (drawing, cell) in enumerate(zip(drawings, places))
    ]
    if header is not None:
        top = max(cell.bottom + cell.height for cell in places)
        placed.append(_Placed(header, Cell(0, top, frame.width, frame.height - top), "header"))
    counts: dict[str, int] = {}
    purpose: Purpose = "draft" if output.draft else "still"
    how = {"engine": output.engine, "samples": output.samples, "transparent": output.transparent}
    made: list[Page | NDArray[np.uint8]] = []
    fonts = figure.fonts_for(frame.font) if suffix != ".png" else None
    for i, one in enumerate(placed):
        mine = part(progress, i / len(placed), (i + 1) / len(placed))
        scene = bpy.data.scenes.new("TraceVis3D panel")
        built = None
        try:
            make = functools.partial(
                build,
                one.drawing,
                style=output.style,
                frame=replace(frame, width=one.cell.width, height=one.cell.height),
                scene=scene,
                purpose=purpose,
                progress=part(mine, 0.0, 0.3),
            )
            built = make()
            if purpose == "still":
                built = legible(make, built)
            for name, count in built.counts.items():
                counts[name] = counts.get(name, 0) + count
            rest = part(mine, 0.3, 1.0)
            if fonts is not None:
                made.append(_page(built, fonts, how, purpose, rest))
            else:
                made.append(_pixels(built, how, purpose, rest))
        finally:
            if built is not None:
                clear(built.collection)
                bpy.data.collections.remove(built.collection)
            bpy.data.scenes.remove(scene)
    if fonts is not None:
        title = header.title if header is not None and header.title else drawings[0].title
        described = "; ".join(f"({letter(i)}) {drawing.title}" for i, drawing in enumerate(drawings))
        ground = None if output.transparent else styles.named(output.style).background
        page = Page(frame.width, frame.height, frame.dpi, title, described, recipe, ground, b"")
        page.panels.extend(
            Panel(one.cell.left, one.cell.bottom, inner, one.name)
            for one, inner in zip(placed, made)
            if isinstance(inner, Page)
        )
        figure.save(page, path, fonts)
        return counts
    ground_rgb = np.round(np.array(styles.named(output.style).background) * 255).astype(np.uint8)
    whole = np.zeros((frame.height, frame.width, 4 if output.transparent else 3), np.uint8)
    if not output.transparent:
        whole[:] = ground_rgb
    for one, inner in zip(placed, made):
        if not isinstance(inner, Page):
            cell = one.cell
            top = frame.height - cell.bottom - cell.height
            whole[top : top + cell.height, cell.left : cell.left + cell.width] = inner[..., : whole.shape[2]]
    with replacing(path) as partial:
        partial.write_bytes(pixels.as_png(whole))
        picture_files.finish_png(partial, frame.dpi)
        if recipe:
            into_png(partial, recipe)
    return counts


def _page(built: Built, fonts: Fonts, how: dict[str, Any], purpose: Purpose, progress: Progress) -> Page:
    return figure.page_of(built, fonts, **how, purpose=purpose, progress=progress)[1]


def _pixels(built: Built, how: dict[str, Any], purpose: Purpose, progress: Progress) -> NDArray[np.uint8]:
    """Return the rendered picture, uint8 (rows, columns, 4), the highest row first."""
    with tempfile.TemporaryDirectory(prefix="tracevis3d-") as folder:
        file = Path(folder) / "panel.png"
        render.still(built, file, **how, purpose=purpose, progress=progress)
        return pixels.read(file)
