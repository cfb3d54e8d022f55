"""A page as PDF: texts can be selected and searched, their fonts are embedded."""

from __future__ import annotations

import io
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..version import __version__
from . import recipe
from .fonts import Fonts
from .page import Page, Patch, Text

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
        from reportlab.lib.utils import ImageReader
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.ttfonts import TTFont
        from reportlab.pdfgen.canvas import Canvas
    except ImportError:
        raise UsageError("reportlab is needed for .pdf: pip install 'tracevis3d[figures]'") from None
    scale = _INCH / page.dpi
    runs = [fonts.runs(text.text) for text in page.texts]
    canvas = Canvas(
        str(path), pagesize=(page.width * scale, page.height * scale), invariant=1, pageCompression=1
    )
    names = {}
    for font in fonts.used:
        data = font.subset(None)
        # Fonts are known by their names in the whole process, and so are the faces in their files.
        made = TTFont(f"{font.name}-{sha256(data).hexdigest()[:16]}", io.BytesIO(data))
        names[font], face = made.fontName, made.face.name
        made.face.name = face + (made.fontName if isinstance(face, str) else made.fontName.encode())
        pdfmetrics.registerFont(made)
    canvas.setTitle(page.title)
    canvas.setSubject(page.description)
    canvas.setKeywords(recipe.as_word(page.recipe))
    canvas.setCreator(f"TraceVis3D {__version__}")
    canvas.scale(scale, scale)
    if page.background is not None:
        canvas.setFillColorRGB(*page.background)
        canvas.rect(0, 0, page.width, page.height, stroke=0, fill=1)
    for patch in page.below:
        _patch(canvas, patch)
    canvas.drawImage(ImageReader(io.BytesIO(page.picture)), 0, 0, page.width, page.height, mask="auto")
    for patch in page.above:
        _patch(canvas, patch)
    for text, pieces in zip(page.texts, runs):
        _text(canvas, text, [(names[font], run) for font, run in pieces])
    canvas.showPage()
    canvas.save()


def _patch(canvas: Any, patch: Patch) -> None:
    canvas.setFillColorRGB(*patch.srgb)
    shape = canvas.beginPath()
    first, *rest = patch.points.tolist()
    shape.moveTo(*first)
    for point in rest:
        shape.lineTo(*point)
    shape.close()
    canvas.drawPath(shape, stroke=0, fill=1)


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
