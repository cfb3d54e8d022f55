"""Texts over a picture by Cycles: Workbench draws them, whose edges are fine without many samples.

Cycles needs many more samples for thin strokes than for the light on the data, and its denoiser tears them.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Image, Wedges
from ..build import Built
from ..parts import PART
from ..text.cover import Cover
from . import engines, pixels

#: Parts that are drawn over the data: nothing lies before them.
_OVER = ("labels", "names", "axis texts", "title", "legend")
#: Lines of rulers, too, where nothing does; in how many pixels across.
_RULERS, _WIDE = "axis lines", 4.0
#: Formats of which this makes the files.
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")


def over(built: Built) -> list[Any]:
    """Return the objects that are drawn over the data; none if Workbench does not work here."""
    if not any(engine.name == "workbench" and engine.ok for engine in engines.examine()):
        return []
    parts = (*_OVER, _RULERS) if _are_free(built) else _OVER
    return [
        shown
        for shown in built.collection.objects
        if str(shown.get(PART, "")).startswith(parts) and not shown.hide_render
    ]


def _are_free(built: Built) -> bool:
    """Return whether nothing lies before rulers."""
    if any(isinstance(element, (Wedges, Image)) and len(element) for element in built.drawing.elements):
        return False
    cover = Cover(built.drawing, built.view)
    for ruler in built.printed.rulers:
        way = ruler.end - ruler.start
        length = np.linalg.norm(way, axis=1)
        longest = int(length.argmax())
        along, start = way[longest] / max(length[longest], 1e-12), ruler.start[longest]
        pixel = 1 / max(float(built.view.pixels_per_unit(start[None])[0]), 1e-9)
        up = np.cross(along, built.view.forward)
        if cover.share(start, along, up, float(length[longest]), _WIDE * pixel):
            return False
    return True


def draw(
    built: Built,
    printed: list[Any],
    path: Path,
    prepare: Callable[[str], object],
    render: Callable[[Path], None],
) -> None:
    """Render the data with Cycles, what is printed with Workbench, and put both together.

    Parameters
    ----------
    built : Built
        Prepared for Cycles.
    printed : list of bpy.types.Object
        As :func:`over` returns them.
    path : Path
        One of :data:`SUFFIXES`, in the format that the scene's settings say.
    prepare : callable
        Sets the scene up for an engine, without a background for Workbench.
    render : callable
        Renders the scene into a file.
    """
    settings = built.scene.render.image_settings
    wanted, colors = settings.file_format, settings.color_mode
    with tempfile.TemporaryDirectory(prefix="tracevis3d-") as folder:
        data, print_ = Path(folder, "data.png"), Path(folder, "print.png")
        settings.file_format, settings.color_depth, settings.compression = "PNG", "8", 10
        try:
            with _hidden(printed):
                render(data)
            settings.color_mode = "RGBA"
            prepare("workbench")
            with _hidden([shown for shown in built.collection.objects if shown not in printed]):
                render(print_)
        finally:
            settings.file_format, settings.color_mode = wanted, colors
            prepare("cycles")
        whole = overlaid(pixels.read(data), pixels.read(print_))
    if path.suffix.lower() == ".png":
        path.write_bytes(pixels.as_png(whole if colors == "RGBA" else whole[..., :3]))
    else:
        _save(whole, path, wanted, settings.quality)


@contextlib.contextmanager
def _hidden(objects: list[Any]) -> Iterator[None]:
    hidden = [shown for shown in objects if not shown.hide_render]
    for shown in hidden:
        shown.hide_render = True
    try:
        yield
    finally:
        for shown in hidden:
            shown.hide_render = False


def overlaid(below: NDArray[np.uint8], above: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a picture over another one.

    Parameters
    ----------
    below, above : uint8 (rows, columns, 4)
        sRGB and alpha, not multiplied.

    Returns
    -------
    uint8 (rows, columns, 4)

    Examples
    --------
    >>> ink, paper = np.uint8([[[0, 0, 0, 51]]]), np.uint8([[[200, 100, 50, 255]]])
    >>> overlaid(paper, ink).tolist()
    [[[160, 80, 40, 255]]]
    """
    low, high = below.astype(np.float32) / 255, above.astype(np.float32) / 255
    seen = low[..., 3:] * (1 - high[..., 3:])
    alpha = high[..., 3:] + seen
    color = (high[..., :3] * high[..., 3:] + low[..., :3] * seen) / np.maximum(alpha, 1e-6)
    whole: NDArray[np.uint8] = np.round(np.concatenate([color, alpha], axis=2) * 255).astype(np.uint8)
    return whole


def _save(whole: NDArray[np.uint8], path: Path, kind: str, quality: int) -> None:
    """Write pixels in a format of Blender's."""
    height, width, _ = whole.shape
    image = bpy.data.images.new("TraceVis3D", width, height, alpha=kind == "WEBP")
    try:
        image.pixels.foreach_set((whole[::-1].astype(np.float32) / 255).ravel())
        image.file_format = kind
        image.save(filepath=str(path), quality=quality)
    finally:
        bpy.data.images.remove(image)
