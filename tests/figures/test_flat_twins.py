"""Flat twins are shapes throughout, and look like the picture; type has the size and the font asked for."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import tracevis3d as tv
from tests.support.drawings import everything, rows
from tests.support.walked_traces import walked_trace
from tracevis3d.cli import main
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.output import Output
from tracevis3d.errors import UsageError
from tracevis3d.figures import font_files

pytest.importorskip("bpy")
pytest.importorskip("fontTools")
pytest.importorskip("reportlab")
pypdf = pytest.importorskip("pypdf")

from tracevis3d.scene.output.produce import produce  # noqa: E402
from tracevis3d.scene.text import glyphs  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
#: It comes with Blender.
MONO = "DejaVu Sans Mono"


@pytest.fixture(scope="module")
def trace():
    return walked_trace(5, steps=300, threads=2)


def pages(drawing_or_figure, folder: Path, **words) -> tuple[np.ndarray, np.ndarray]:
    """Return the picture and the rasterised PDF, float (rows, columns, 3)."""
    pdfium = pytest.importorskip("pypdfium2")
    from PIL import Image

    for suffix in ("png", "pdf"):
        if isinstance(drawing_or_figure, tv.Figure):
            drawing_or_figure.render(folder / f"x.{suffix}", style="flat", **words)
        else:
            produce(drawing_or_figure, folder / f"x.{suffix}", Output(style="flat", **words))
    picture = np.asarray(Image.open(folder / "x.png").convert("RGB"), np.float64)
    sheet = pdfium.PdfDocument(folder / "x.pdf")[0]
    drawn = sheet.render(scale=picture.shape[1] / sheet.get_width()).to_pil().convert("RGB")
    return picture, np.asarray(drawn.resize(picture.shape[1::-1]), np.float64)


@pytest.mark.parametrize("view", ["icicle", "threads", "cone"])
def test_a_flat_twin_is_shapes_that_look_like_the_picture(tmp_path, trace, view) -> None:
    figure = tv.view(view, trace)
    picture, drawn = pages(figure, tmp_path, size="90mmx60mm", dpi=150)
    off = np.abs(picture - drawn).max(axis=2)
    assert off.mean() < 8
    # Without what letters and hairlines do: areas of 8 x 8 pixels.
    rows, columns = (side // 8 * 8 for side in off.shape)
    blocks = (picture - drawn)[:rows, :columns].reshape(rows // 8, 8, columns // 8, 8, 3).mean(axis=(1, 3))
    assert (np.abs(blocks).max(axis=2) > 40).mean() < 0.02


def test_all_kinds_of_elements_become_shapes(tmp_path) -> None:
    drawing = everything(60)
    made = produce(drawing, tmp_path / "x.svg", Output(style="flat", frame=Frame(480, 270)))
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    data = next(group for group in root if group.get("id") == "data")
    names = {(shape.findtext(f"{SVG}title") or "").rpartition(" ")[0] for shape in data}
    shown = {element.kind for element in drawing.elements if element.kind != "sequence"}
    assert shown <= names
    assert made.counts["shapes"] == len(data)
    # A picture on a surface stays a picture, and is the only one.
    assert len(root.findall(f"{SVG}image")) == 1
    assert {shape.tag for shape in data} == {f"{SVG}rect", f"{SVG}path"}


def test_boxes_are_rectangles_where_they_are(tmp_path) -> None:
    drawing = rows()
    produce(drawing, tmp_path / "x.svg", Output(style="flat", frame=Frame(480, 270)))
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    assert not root.findall(f"{SVG}image")
    data = next(group for group in root if group.get("id") == "data")
    boxes = {shape.findtext(f"{SVG}title"): shape for shape in data}
    left = [float(boxes[f"call {i}"].get("x")) for i in range(6)]
    step = np.diff(left)
    assert np.allclose(step, step[0], atol=0.01)
    wide = float(boxes["call 0"].get("width")) + float(boxes["call 0"].get("stroke-width"))
    assert wide / step[0] == pytest.approx(1.9 / 2.0, abs=0.01)
    wanted = (drawing.palette[:, :3] * 255).round().astype(int)
    filled = [[int(boxes[f"call {i}"].get("fill")[k : k + 2], 16) for k in (1, 3, 5)] for i in range(6)]
    assert np.abs(np.array(filled) - wanted).max() <= 1


def texts_of(path: Path) -> list[tuple[str, str, float]]:
    """Return the texts of a PDF with their fonts and sizes in points."""
    found = []

    def visit(text, matrix, text_matrix, font, size) -> None:
        if text.strip():
            scale = np.hypot(matrix[0], matrix[1]) * np.hypot(text_matrix[0], text_matrix[1])
            found.append((text.strip(), font["/BaseFont"], float(size * scale)))

    pypdf.PdfReader(path).pages[0].extract_text(visitor_text=visit)
    return found


@pytest.mark.parametrize("style", ["flat", "paper"])
def test_type_has_the_size_in_points_and_the_font(tmp_path, trace, style) -> None:
    tv.save(trace, tmp_path / "run.json")
    words = ["render", "icicle", str(tmp_path / "run.json"), "-o", str(tmp_path / "x.pdf"), "--quiet"]
    words += ["--style", style, "--columns", "1x70mm", "--dpi", "200", "--draft", "--font", MONO]
    assert main([*words, "--font-size", "6pt"]) == 0
    sheet = pypdf.PdfReader(tmp_path / "x.pdf").pages[0]
    assert [float(side) / 72 * 25.4 for side in sheet.mediabox[2:]] == pytest.approx([88, 70], abs=0.1)
    found = texts_of(tmp_path / "x.pdf")
    assert all("Mono" in font for _, font, _ in found)
    title = tv.load(tmp_path / "run.json")
    size = {text: size for text, _, size in found}
    assert size[tv.icicle(title).drawing().title] == pytest.approx(6 * 8 / 7, abs=0.05)
    if style == "flat":
        ticks = [high for text, high in size.items() if text.replace(".", "").isdigit()]
        assert len(ticks) > 3
        assert ticks == pytest.approx([6.0] * len(ticks), abs=0.1)
        assert min(size.values()) >= 6 * 5 / 7 - 0.1
        assert max(size.values()) <= 6 * 8 / 7 + 0.1
    # The same figure is made again, in the same type.
    assert main(["again", str(tmp_path / "x.pdf"), "-o", str(tmp_path / "y.pdf"), "--quiet"]) == 0
    assert (tmp_path / "y.pdf").read_bytes() == (tmp_path / "x.pdf").read_bytes()


def test_fonts_are_found_by_family_and_by_file(tmp_path) -> None:
    file = glyphs.font_files(MONO)[0]
    assert file is not None
    assert file.stem == "DejaVuSansMono"
    assert font_files.find(str(file)) == file
    assert font_files.find("dejavu sans mono", (file.parent,)) == file
    (tmp_path / "x.ttf").write_bytes(b"no font")
    for font, why in (("No Such Font", "no font of this family"), ("none.ttf", "no such file")):
        with pytest.raises(UsageError, match=why):
            font_files.find(font)
    with pytest.raises(UsageError, match="is not a font"):
        font_files.find(str(tmp_path / "x.ttf"))
