"""Figures: texts are texts, shapes are shapes, the picture is the same as the PNG."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import tracevis3d as tv
from tests.support.walked_traces import walked_trace
from tracevis3d.cli import main
from tracevis3d.errors import UsageError
from tracevis3d.figures import pdf, svg
from tracevis3d.figures.caption import sentences
from tracevis3d.figures.fonts import Fonts
from tracevis3d.figures.page import Page, Patch, line, straight

pytest.importorskip("bpy")
pytest.importorskip("fontTools")
pytest.importorskip("reportlab")
pypdf = pytest.importorskip("pypdf")

from tracevis3d.scene.text.glyphs import font_files  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def fonts_of_blender() -> list[Path]:
    return [path for path in font_files() if path is not None]


@pytest.fixture
def fonts(fonts_of_blender) -> Fonts:
    return Fonts(fonts_of_blender)


def white(width: int, height: int) -> bytes:
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xff\xff\xff\0" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def page(texts=(), **others) -> Page:
    words = {"recipe": "", "background": (1.0, 1.0, 1.0), "picture": white(300, 150)} | others
    return Page(300, 150, 150.0, "A <title> & more", "what is seen", texts=list(texts), **words)


def test_an_svg_holds_texts_shapes_and_fonts(tmp_path, fonts) -> None:
    texts = [
        straight("f <T> & g", 10, 20, 12, (1.0, 0.0, 0.0)),
        straight("\u00b5s 2 μ …", 30, 60, 9, (0, 0, 0)),
    ]
    shape = Patch(np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 5.0]]), (0.0, 0.5, 1.0))
    svg.write(page(texts, below=[shape], above=[shape, shape]), tmp_path / "x.svg", fonts)
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    assert (root.get("width"), root.get("height")) == ("50.8mm", "25.4mm")
    assert root.findtext(f"{SVG}title") == "A <title> & more"
    found = {group.get("id"): group for group in root.findall(f"{SVG}g")}
    assert [len(found[name].findall(f"{SVG}polygon")) for name in ("below", "above")] == [1, 2]
    assert found["below"][0].get("points") == "0,150 10,150 10,145"
    written = found["texts"].findall(f"{SVG}text")
    assert ["".join(text.itertext()) for text in written] == ["f <T> & g", "\u00b5s 2 μ …"]
    assert written[0].get("fill") == "#ff0000"
    assert written[0].get("transform") == "matrix(0.75 0 0 0.75 10 130)"
    style = root.findtext(f"{SVG}style") or ""
    assert style.count("@font-face") == len(fonts.used) >= 2  # Greek is in another font
    assert len((tmp_path / "x.svg").read_bytes()) < 100_000  # only the letters that are used


def test_a_pdf_holds_texts_and_embedded_fonts(tmp_path, fonts) -> None:
    texts = [straight("Builder.build", 10, 20, 12, (0, 0, 0)), straight("12 μs", 10, 60, 9, (0, 0, 0))]
    pdf.write(page(texts), tmp_path / "x.pdf", fonts)
    read = pypdf.PdfReader(tmp_path / "x.pdf")
    (sheet,) = read.pages
    assert [float(v) for v in sheet.mediabox[2:]] == [144.0, 72.0]
    said = sheet.extract_text()
    assert "Builder.build" in said
    assert "12 μs" in said
    assert read.metadata.title == "A <title> & more"
    fonts_in = [font.get_object() for font in sheet["/Resources"]["/Font"].values()]
    assert fonts_in
    assert all("/FontFile2" in font["/FontDescriptor"] for font in fonts_in)


def test_letters_that_no_font_has(tmp_path, fonts) -> None:
    runs = fonts.runs("a\U0010fffeb")
    assert "".join(run for _, run in runs) == "a\U0010fffeb"
    svg.write(page([straight("a\x00b\ud800c\x9b31m\u202e", 1, 1, 9, (0, 0, 0))]), tmp_path / "x.svg", fonts)
    assert ElementTree.parse(tmp_path / "x.svg")
    # Nothing that a terminal would obey.
    assert not set("\x00\x9b\u202e") & set((tmp_path / "x.svg").read_text("utf-8"))


def test_a_line_is_as_wide_as_it_is_said() -> None:
    found = line(np.array([0.0, 0.0]), np.array([3.0, 4.0]), 2.0, (0, 0, 0)).points
    assert np.allclose(np.linalg.norm(found[0] - found[3]), 2.0)
    assert np.allclose((found[0] + found[3]) / 2, 0.0)
    assert np.allclose((found[1] + found[2]) / 2, (3.0, 4.0))


def test_what_is_missing_is_said(monkeypatch, fonts_of_blender) -> None:
    import builtins

    plain = builtins.__import__

    def without(name, *rest, **others):
        if name.startswith("fontTools"):
            raise ImportError(name)
        return plain(name, *rest, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=r"fontTools is needed for .svg, .pdf and --font: pip install"):
        Fonts(fonts_of_blender)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory) -> dict[str, Path]:
    """One small figure in each form."""
    folder = tmp_path_factory.mktemp("figures")
    trace = walked_trace(5, steps=300, threads=2)
    tv.save(trace, folder / "run.json")
    found = {}
    for suffix in ("png", "svg", "pdf"):
        found[suffix] = folder / f"run.{suffix}"
        words = ["render", "icicle", str(folder / "run.json"), "-o", str(found[suffix]), "--draft"]
        caption = ["--caption", str(folder / "run.tex")]
        assert main([*words, "--size", "80mmx50mm", "--quiet", *caption]) == 0
    return found


def test_all_texts_of_the_picture_are_in_the_figure(rendered) -> None:
    root = ElementTree.parse(rendered["svg"]).getroot()
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert root.findtext(f"{SVG}title") in texts
    said = pypdf.PdfReader(rendered["pdf"]).pages[0].extract_text()
    for text in texts:
        assert text in said
    assert any(re.fullmatch(r"[\d.]+", text) for text in texts)  # ticks


def test_the_page_looks_like_the_picture(rendered) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    from PIL import Image

    picture = np.asarray(Image.open(rendered["png"]).convert("RGB"), np.float64)
    height, width = picture.shape[:2]
    sheet = pdfium.PdfDocument(rendered["pdf"])[0]
    drawn = sheet.render(scale=width / sheet.get_width()).to_pil().convert("RGB").resize((width, height))
    off = np.abs(np.asarray(drawn, np.float64) - picture).max(axis=2)
    assert (off > 48).mean() < 0.03  # edges of letters
    assert off.mean() < 4.0


def test_a_picture_is_made_again(rendered, tmp_path, capsys) -> None:
    folder = rendered["png"].parent
    for suffix, path in rendered.items():
        out = folder / f"again.{suffix}"
        assert main(["again", str(path), "-o", str(out), "--quiet"]) == 0
        assert out.read_bytes() == path.read_bytes()
    assert not capsys.readouterr().err
    assert main(["again", str(rendered["pdf"]), "--show"]) == 0
    assert '"file": "run.json"' in capsys.readouterr().out
    # Another trace under its name is told, and so is none.
    kept = (folder / "run.json").read_bytes()
    try:
        tv.save(walked_trace(6, steps=50), folder / "run.json")
        assert main(["again", str(rendered["png"]), "-o", str(tmp_path / "x.png"), "--quiet"]) == 0
        assert "has changed since the picture was made" in capsys.readouterr().err
        (folder / "run.json").unlink()
        assert main(["again", str(rendered["png"]), "-o", str(tmp_path / "x.png"), "--quiet"]) == 1
        assert (
            "the trace run.json was not found: put it into the folder of the picture"
            in capsys.readouterr().err
        )
    finally:
        (folder / "run.json").write_bytes(kept)


def test_a_caption_does_nothing_to_a_terminal() -> None:
    assert sentences("a\x1b[2J\nb", "how", []) == "A\ufffd[2J b. How."


def test_the_caption(rendered) -> None:
    text = (rendered["png"].parent / "run.tex").read_text()
    assert text.startswith("\\caption{")
    assert text.endswith("}\n")
    assert "calls" in text
