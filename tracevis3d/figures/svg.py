"""A page as SVG: texts are texts, with the fonts that they are set in."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable
from pathlib import Path

from . import recipe
from .fonts import Fonts
from .page import RGB, Page, Patch, Shape, Text

#: Texts are set in this size and scaled, because browsers refuse very small ones.
_SIZE = 16
#: Characters that XML does not allow.
# Also what a terminal that shows the file would obey, or what turns text around.
_FORBIDDEN = re.compile(
    "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def write(page: Page, path: Path, fonts: Fonts) -> None:
    """Write a page.

    Parameters
    ----------
    page : Page
    path : Path
    fonts : Fonts
    """
    width, height = (f"{25.4 * side / page.dpi:.6g}mm" for side in (page.width, page.height))
    content = _content(page, fonts, "")
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {page.width} {page.height}" role="img">',
        f"<title>{_plain(page.title)}</title>",
        f"<desc>{_plain(page.description)}</desc>",
        recipe.as_element(page.recipe),
        f"<style>{_faces(fonts)}</style>",
    ]
    path.write_text("\n".join([*parts, *content, "</svg>\n"]), "utf-8", newline="\n")


def _content(page: Page, fonts: Fonts, before: str) -> list[str]:
    """Return what is on a page; ``before`` stands before the names of its groups."""
    parts = []
    if page.background is not None:
        parts.append(f'<rect width="100%" height="100%" fill="{_hex(page.background)}"/>')
    parts.append(_group(f"{before}below", (_patch(patch, page.height) for patch in page.below)))
    if page.picture:
        picture = base64.b64encode(page.picture).decode()
        parts.append(
            f'<image width="{page.width}" height="{page.height}" href="data:image/png;base64,{picture}"/>'
        )
    if page.data:
        parts.append(_group(f"{before}data", (_shape(shape, page.height) for shape in page.data)))
    parts.append(_group(f"{before}above", (_patch(patch, page.height) for patch in page.above)))
    parts.append(_group(f"{before}texts", (_text(text, page.height, fonts) for text in page.texts)))
    for panel in page.panels:
        inner = panel.page
        top = page.height - panel.bottom - inner.height
        parts.append(
            f'<svg id="{panel.name}" x="{panel.left}" y="{top}" width="{inner.width}" '
            f'height="{inner.height}" viewBox="0 0 {inner.width} {inner.height}">'
        )
        parts += [*_content(inner, fonts, f"{panel.name}-"), "</svg>"]
    return parts


def _group(name: str, parts: Iterable[str]) -> str:
    inside = "\n".join(parts)
    return f'<g id="{name}">\n{inside}\n</g>'


def _faces(fonts: Fonts) -> str:
    family = f"font-family:{fonts.usual.name},'Noto Sans',sans-serif"
    faces = [f"text{{{family};font-size:{_SIZE}px;white-space:pre}}"]
    for font in fonts.used:
        data = base64.b64encode(font.subset("woff2")).decode()
        faces.append(f"@font-face{{font-family:{font.name};src:url(data:font/woff2;base64,{data})}}")
    return "".join(faces)


def _patch(patch: Patch, height: int) -> str:
    points = " ".join(f"{x:.6g},{height - y:.6g}" for x, y in patch.points.tolist())
    return f'<polygon points="{points}" fill="{_hex(patch.srgb)}"/>'


def _shape(shape: Shape, height: int) -> str:
    fill = "none" if shape.srgb is None else _hex(shape.srgb)
    words = f'fill="{fill}"'
    if shape.edge is not None:
        words += f' stroke="{_hex(shape.edge[0])}" stroke-width="{shape.edge[1]:.4g}"'
        if not shape.closed:
            words += ' stroke-linejoin="round"'
    title = f"<title>{_plain(shape.name)}</title>" if shape.name else ""
    if (box := shape.as_rectangle()) is not None:
        left, bottom, right, top = box
        place = (
            f'x="{left:.6g}" y="{height - top:.6g}" width="{right - left:.5g}" height="{top - bottom:.5g}"'
        )
        return f"<rect {place} {words}>{title}</rect>"
    end = "z" if shape.closed else ""
    course = "".join(
        "M" + " ".join(f"{x:.6g},{height - y:.6g}" for x, y in outline.tolist()) + end
        for outline in shape.outlines
    )
    return f'<path d="{course}" {words}>{title}</path>'


def _text(text: Text, height: int, fonts: Fonts) -> str:
    a, b, c, d, e, f = text.matrix
    numbers = (a / _SIZE, -b / _SIZE, -c / _SIZE, d / _SIZE, e, height - f)
    matrix = " ".join(f"{number + 0.0:.6g}" for number in numbers)
    inside = "".join(
        _plain(run) if font is fonts.usual else f'<tspan font-family="{font.name}">{_plain(run)}</tspan>'
        for font, run in fonts.runs(text.text)
    )
    return f'<text transform="matrix({matrix})" fill="{_hex(text.srgb)}">{inside}</text>'


def _plain(text: str) -> str:
    return html.escape(_FORBIDDEN.sub("\ufffd", text), quote=False)


def _hex(srgb: RGB) -> str:
    return "#" + "".join(f"{round(255 * min(max(value, 0.0), 1.0)):02x}" for value in srgb)
