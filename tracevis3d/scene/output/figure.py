"""A built scene as a figure: the data rendered, what explains it as shapes and texts over the picture.

Flat twins are shapes throughout.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ...atomic import replacing
from ...drawing.primitives import Image
from ...figures import pdf, svg
from ...figures.fonts import Fonts
from ...figures.page import Page, Patch, Shape, Text, line, straight
from ...progress import Progress, silent
from ..build import Built, opaque
from ..camera import View
from ..geometry.forms import Purpose
from ..parts import PART
from ..text.glyphs import font_files, typeface
from ..text.labels import Texts
from . import engines
from .outlines import can_be_outlined, outlines
from .render import still

_WRITERS = {".svg": svg.write, ".pdf": pdf.write}
#: Parts of the scene that are drawn as shapes and texts.
_PRINTED = ("labels", "names", "axis", "title", "legend")
#: Points along a text that must be seen, as shares of its length.
_SEEN_AT = (0.05, 0.35, 0.65, 0.95)
#: Share of the shapes' area that may show another element than the one in front.
_MOST_WRONG = 0.05
#: Elements this close in front of a text, as a share of its distance, are its own surface.
_CLOSE = 2e-3


def write(
    built: Built,
    path: Path,
    *,
    engine: str = "auto",
    samples: int = 0,
    transparent: bool = False,
    recipe: str = "",
    purpose: Purpose = "still",
    progress: Progress = silent,
) -> tuple[str, dict[str, float]]:
    """Write a figure, by its suffix.

    Parameters
    ----------
    built : Built
    path : Path
        .svg or .pdf
    engine, samples, transparent, purpose, progress
        As for :func:`.render.still`.
    recipe : str
        How the figure is made again; it is kept in the file.

    Returns
    -------
    (str, dict)
        The engine; how many texts were written and how many are hidden by the data; how many shapes show the
        data, and in which share of their area one is seen that is not in front.

    Raises
    ------
    UsageError
        If a package that is needed is missing.
    InputError
        If the file can't be written.
    """
    fonts = fonts_for(built.frame.font)
    name, page, counts = page_of(built, fonts, engine, samples, transparent, recipe, purpose, progress)
    save(page, path, fonts)
    return name, counts


def fonts_for(font: str) -> Fonts:
    """Return the fonts of a figure, the chosen one first."""
    return Fonts([path for path in font_files(font) if path is not None])


def save(page: Page, path: Path, fonts: Fonts) -> None:
    """Write a page.

    Parameters
    ----------
    page : Page
    path : Path
        .svg or .pdf
    fonts : Fonts
    """
    with replacing(path) as partial:
        _WRITERS[path.suffix.lower()](page, partial, fonts)


def page_of(
    built: Built,
    fonts: Fonts,
    engine: str = "auto",
    samples: int = 0,
    transparent: bool = False,
    recipe: str = "",
    purpose: Purpose = "still",
    progress: Progress = silent,
) -> tuple[str, Page, dict[str, float]]:
    """Return a built scene as a page: see :func:`write`.

    Parameters
    ----------
    built : Built
    fonts : Fonts
    engine, samples, transparent, recipe, purpose, progress
        As for :func:`write`.

    Returns
    -------
    (str, Page, dict)
        The engine, the page, and what :func:`write` counts.
    """
    elements = built.drawing.elements
    outlined = built.style.straight and can_be_outlined(built.drawing)
    shapes, wrong = outlines(built, opaque(built.drawing.palette, built.style)) if outlined else ([], 0.0)
    if wrong > _MOST_WRONG:
        # Elements cross each other: no order of shapes shows what is in front.
        outlined, shapes = False, []
    unseen, before = [], []
    for shown in built.collection.objects:
        at = shown.get("tracevis3d_element", -1)
        if _is_printed(shown):
            unseen.append(shown)
        elif outlined and 0 <= at < len(elements) and not isinstance(elements[at], Image):
            before.append(shown)
    counts = {"shapes": len(shapes), "shapes_out_of_order": round(wrong, 4)} if outlined else {}
    for shown in unseen:
        shown.hide_render = shown.hide_viewport = True
    for shown in before:
        shown.hide_render = True
    name = engines.suited(built.style.name, purpose != "still") if engine == "auto" else engine
    picture = b""
    if not outlined or any(isinstance(element, Image) for element in elements):
        with tempfile.TemporaryDirectory(prefix="tracevis3d-") as folder:
            file = Path(folder) / "data.png"
            name = still(
                built,
                file,
                engine=engine,
                samples=samples,
                transparent=True,
                purpose=purpose,
                progress=progress,
            )
            picture = file.read_bytes()
    page, hidden = _page(built, picture, shapes, transparent, recipe, fonts)
    return name, page, {"texts": len(page.texts), "texts_hidden": hidden, **counts}


def _is_printed(shown: Any) -> bool:
    return str(shown.get(PART, "")).startswith(_PRINTED)


def _page(
    built: Built, picture: bytes, shapes: list[Shape], transparent: bool, recipe: str, fonts: Fonts
) -> tuple[Page, int]:
    frame, style, view, print_ = built.frame, built.style, built.view, built.printed
    # Ratio of the font's size to Blender's, for letters of equal height.
    em = typeface(frame.font).cap_height / fonts.usual.cap_height
    below, above, texts = [], [], []
    pixel = max(1.0, frame.height / 1080)
    for ruler in print_.rulers:
        starts, ends = view.pixels(ruler.start), view.pixels(ruler.end)
        below += [line(a, b, 1.6 * pixel, style.ink) for a, b in zip(starts, ends) if (a != b).any()]
    hidden = 0
    for group in (print_.axis_texts, print_.labels):
        seen = _seen(built, group)
        hidden += int(np.count_nonzero(~seen))
        texts += [_written(group, i, view, em) for i in np.flatnonzero(seen).tolist()]
    for swatch in built.surround.swatches:
        left, low, right, high = swatch.rectangle
        corners = np.array([[left, low], [right, low], [right, high], [left, high]])
        above.append(Patch(corners, swatch.srgb))
    above += [Patch(corner, srgb) for corner, srgb in zip(print_.panels.corner, print_.panels.srgb)]
    for row in (*built.surround.lines, *print_.panels.lines):
        texts.append(straight(row.text, row.left, row.baseline, row.size * em, row.srgb))
    description = "; ".join(filter(None, (built.drawing.title, *built.drawing.notes)))
    background = None if transparent else style.background
    page = Page(
        frame.width,
        frame.height,
        frame.dpi,
        built.drawing.title,
        description,
        recipe,
        background,
        picture,
        shapes,
        below,
        above,
        texts,
    )
    return page, hidden


def _written(group: Texts, i: int, view: View, em: float) -> Text:
    """Return a text of the scene as it stands in the picture: its middle exactly, its ends nearly."""
    start, size = group.start[i], group.size[i] * em
    width = max(float(np.linalg.norm(group.end[i] - start)) if i < len(group.end) else size, size)
    at = view.pixels(np.array([start, start + group.right[i] * width, start + group.up[i] * size]))
    across, up = (at[1] - at[0]) * (size / width), at[2] - at[0]
    return Text(group.text[i], (*across.tolist(), *up.tolist(), *at[0].tolist()), group.color[i])


def _seen(built: Built, group: Texts) -> NDArray[np.bool_]:
    """Return which texts nothing of the data hides, bool (n,)."""
    seen = np.ones(len(group), np.bool_)
    if not len(group):
        return seen
    view, scene = built.view, built.scene
    layer = scene.view_layers[0]
    layer.update()
    graph = layer.depsgraph
    for i in range(len(group)):
        length = typeface(built.frame.font).width(group.text[i]) * group.size[i]
        middle = group.start[i] + group.up[i] * (0.4 * group.size[i])
        for share in _SEEN_AT:
            point = middle + group.right[i] * (share * length)
            if view.perspective:
                away = point - view.eye
                distance = float(np.linalg.norm(away))
                origin = view.eye
            else:
                distance = float((point - view.eye) @ view.forward)
                away, origin = view.forward * distance, point - view.forward * distance
            reach = distance * (1 - _CLOSE)
            hit = scene.ray_cast(graph, Vector(origin), Vector(away / distance), distance=reach)[0]
            if hit:
                seen[i] = False
                break
    return seen
