"""A page as PDF: texts can be selected and searched, their fonts are embedded."""

from __future__ import annotations

import io
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..version import __version__
from . import recipe
from .fonts import Font, Fonts
from .page import Page, Patch, Shape, Text

_INCH = 72.0


def write(page: Page, path: Path, fonts: Fonts) -> None:
    """Write a page.

    Parameters
    ----------
    page : Page
    path : Path
    fonts : Fonts

    Raises
    ------
    UsageError
        If reportlab is not installed.
    """
    try:
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.ttfonts import TTFont
        from reportlab.pdfgen.canvas import Canvas
    except ImportError:
        raise UsageError("reportlab is needed for .pdf: pip install 'tracevis3d[figures]'") from None
    scale = _INCH / page.dpi
    for text in page.all_texts():
        fonts.runs(text.text)
    names: dict[Font, str] = {}
    for font in fonts.used:
        data = font.subset(None)
        # Fonts are known by their names in the whole process, and so are the faces in their files.
        made = TTFont(f"{font.name}-{sha256(data).hexdigest()[:16]}", io.BytesIO(data))
        names[font], face = made.fontName, made.face.name
        made.face.name = face + (made.fontName if isinstance(face, str) else made.fontName.encode())
        pdfmetrics.registerFont(made)
    # Pages name the font that they begin with: the usual one would not be embedded.
    canvas = Canvas(
        str(path), pagesize=(page.width * scale, page.height * scale), invariant=1, pageCompression=1,
        initialFontName=next(iter(names.values()), None),
    )  # fmt: skip
    canvas.setTitle(page.title)
    canvas.setSubject(page.description)
    canvas.setKeywords(recipe.as_word(page.recipe))
    canvas.setCreator(f"TraceVis3D {__version__}")
    canvas.scale(scale, scale)
    _draw(canvas, page, fonts, names)
    canvas.showPage()
    canvas.save()


def _draw(canvas: Any, page: Page, fonts: Fonts, names: dict[Font, str]) -> None:
    from reportlab.lib.utils import ImageReader

    if page.background is not None:
        canvas.setFillColorRGB(*page.background)
        canvas.rect(0, 0, page.width, page.height, stroke=0, fill=1)
    for patch in page.below:
        _patch(canvas, patch)
    if page.picture:
        canvas.drawImage(ImageReader(io.BytesIO(page.picture)), 0, 0, page.width, page.height, mask="auto")
    for shape in page.data:
        _shape(canvas, shape)
    for patch in page.above:
        _patch(canvas, patch)
    for text in page.texts:
        _text(canvas, text, [(names[font], run) for font, run in fonts.runs(text.text)])
    for panel in page.panels:
        canvas.saveState()
        canvas.translate(panel.left, panel.bottom)
        _draw(canvas, panel.page, fonts, names)
        canvas.restoreState()


def _patch(canvas: Any, patch: Patch) -> None:
    canvas.setFillColorRGB(*patch.srgb)
    shape = canvas.beginPath()
    first, *rest = patch.points.tolist()
    shape.moveTo(*first)
    for point in rest:
        shape.lineTo(*point)
    shape.close()
    canvas.drawPath(shape, stroke=0, fill=1)


def _shape(canvas: Any, shape: Shape) -> None:
    if shape.srgb is not None:
        canvas.setFillColorRGB(*shape.srgb)
    if shape.edge is not None:
        canvas.setStrokeColorRGB(*shape.edge[0])
        canvas.setLineWidth(shape.edge[1])
        canvas.setLineJoin(0 if shape.closed else 1)
    fill, stroke = int(shape.srgb is not None), int(shape.edge is not None)
    if (box := shape.as_rectangle()) is not None:
        left, bottom, right, top = box
        canvas.rect(left, bottom, right - left, top - bottom, stroke=stroke, fill=fill)
        return
    course = canvas.beginPath()
    for outline in shape.outlines:
        first, *rest = outline.tolist()
        course.moveTo(*first)
        for point in rest:
            course.lineTo(*point)
        if shape.closed:
            course.close()
    canvas.drawPath(course, stroke=stroke, fill=fill, fillMode=1)


def _text(canvas: Any, text: Text, pieces: list[tuple[str, str]]) -> None:
    canvas.saveState()
    canvas.transform(*text.matrix)
    canvas.setFillColorRGB(*text.srgb)
    written = canvas.beginText(0, 0)
    for name, run in pieces:
        written.setFont(name, 1)
        written.textOut(run)
    canvas.drawText(written)
    canvas.restoreState()
