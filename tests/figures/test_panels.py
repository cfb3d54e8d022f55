"""Figures of several panels: where they stand, one scale, one legend, from words or from a file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import tracevis3d as tv
from tests.support.walked_traces import walked_trace
from tracevis3d.cli import main
from tracevis3d.commands.pictures.panels import _frame
from tracevis3d.drawing.primitives import Camera, Drawing, Legend, LegendEntry
from tracevis3d.errors import InputError, UsageError
from tracevis3d.figures import settings_file
from tracevis3d.figures.panels import cells

SVG = "{http://www.w3.org/2000/svg}"


def test_cells_fill_the_figure_without_overlap() -> None:
    found = cells([1, 2, 3, 1, 1, 1], 3, 1001, 700)
    covered = np.zeros((700, 1001), int)
    for cell in found:
        covered[cell.bottom : cell.bottom + cell.height, cell.left : cell.left + cell.width] += 1
    assert covered.max() == 1
    assert covered.mean() > 0.9
    assert len({cell.height for cell in found}) == 1
    assert found[0].bottom > found[2].bottom > found[3].bottom
    assert found[2].width == 1001
    for spans, across in (([], 2), ([3], 2), ([1] * 27, 2), ([1], 0)):
        with pytest.raises(UsageError):
            cells(spans, across, 100, 100)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.yaml", "style: flat\npanels:\n  - {view: icicle, traces: [a.json]}\n"),
        ("x.toml", 'style = "flat"\n[[panels]]\nview = "icicle"\ntraces = ["a.json"]\n'),
        ("x.json", '{"style": "flat", "panels": [{"view": "icicle", "traces": ["a.json"]}]}'),
    ],
)
def test_settings_are_read_from_a_file(tmp_path, name, text) -> None:
    (tmp_path / name).write_text(text)
    assert settings_file.read(tmp_path / name) == {
        "style": "flat",
        "panels": [{"view": "icicle", "traces": ["a.json"]}],
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: &x [1]\nb: *x\n", "anchors are not read"),
        ("a: !!python/object/apply:os.system ['true']\n", "could not determine a constructor"),
        ("- 1\n", "settings are expected"),
        ("a: [\n", "expected"),
        ("", "settings are expected"),
        ("1: 2\n", "settings are expected"),
    ],
)
def test_what_is_not_plain_is_refused(tmp_path, text, why) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(InputError, match=why) as error:
        settings_file.read(tmp_path / "x.yaml")
    assert "\n" not in str(error.value)


def drawing(*entries: tuple[str, tuple[float, float, float]]) -> Drawing:
    palette = np.array([[*color, 1.0] for _, color in entries], np.float32)
    legend = Legend("module", tuple(LegendEntry(text, i) for i, (text, _) in enumerate(entries)))
    return Drawing(palette, (), Camera((0, -1, 0), (0, 0, 0), (1, 1, 1)), legends=(legend,))


def test_one_name_has_one_colour() -> None:
    pytest.importorskip("bpy")
    from tracevis3d.scene.text.shared_legend import share

    red, green, blue, grey = (0.8, 0.1, 0.1), (0.1, 0.7, 0.1), (0.1, 0.2, 0.9), (0.7, 0.7, 0.7)
    first = drawing(("parse 60 %", red), ("emit 30 %", green), ("3 other 10 %", grey))
    second = drawing(("emit 50 %", red), ("parse 30 %", green), ("link 15 %", blue), ("other 5 %", grey))
    (a, b), header = share([first, second])
    assert np.allclose(a.palette, first.palette)
    assert np.allclose(b.palette[:, :3], [green, red, blue, grey])
    assert not a.legends
    assert not b.legends
    assert header is not None
    shown = {e.text: header.palette[e.color, :3].tolist() for e in header.legends[0].entries}
    assert {name: pytest.approx(color) for name, color in shown.items()} == {
        "parse": red, "emit": green, "other": grey, "link": blue,
    }  # fmt: skip
    # A name for which no colour is left is one of the others.
    third = drawing(("link 90 %", red), ("load 5 %", green), ("other 5 %", grey))
    (_, c), header = share([first, third])
    assert header is not None
    assert [e.text for e in header.legends[0].entries] == ["parse", "emit", "other"]
    assert np.allclose(c.palette[:, :3], [grey, grey, grey])
    # Legends that one drawing alone has stay with it.
    assert share([first])[1] is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("panels")
    tv.save(walked_trace(5, steps=60), place / "short.json")
    tv.save(walked_trace(6, steps=240), place / "long.json")
    (place / "figure.yaml").write_text(
        "style: flat\nsize: 160mmx60mm\ndpi: 100\nfont-size: 6pt\ntitle: Two runs\n"
        "panels:\n  - view: icicle\n    traces: [short.json]\n  - view: icicle\n    traces: [long.json]\n"
    )
    return place


def panels_of(path: Path) -> dict[str, ElementTree.Element]:
    root = ElementTree.parse(path).getroot()
    return {str(inner.get("id")): inner for inner in root.findall(f"{SVG}svg")}


def scale_of(panel: ElementTree.Element, trace) -> float:
    """Return how many pixels the longest call takes for a nanosecond."""
    wide = {}
    for box in panel.iter(f"{SVG}rect"):
        kind, _, number = (box.findtext(f"{SVG}title") or "").rpartition(" ")
        if kind == "call":
            wide[int(number)] = float(box.get("width", 0)) + float(box.get("stroke-width", 0))
    call = max(wide, key=lambda i: wide[i])
    return wide[call] / float(trace.calls.end[call] - trace.calls.start[call])


def test_panels_from_a_file_have_letters_one_legend_and_one_scale(folder) -> None:
    pytest.importorskip("bpy")
    pytest.importorskip("fontTools")
    words = ["panels", str(folder / "figure.yaml"), "--quiet"]
    caption = folder / "x.txt"
    assert main([*words, "-o", str(folder / "x.svg"), "--caption", str(caption)]) == 0
    found = panels_of(folder / "x.svg")
    assert list(found) == ["panel-a", "panel-b", "header"]
    texts = {name: ["".join(t.itertext()) for t in panel.iter(f"{SVG}text")] for name, panel in found.items()}
    assert any(t.startswith("(a) ") for t in texts["panel-a"])
    assert any(t.startswith("(b) ") for t in texts["panel-b"])
    assert "Two runs" in texts["header"]
    traces = [tv.load(folder / name) for name in ("short.json", "long.json")]
    scales = [scale_of(found[name], trace) for name, trace in zip(("panel-a", "panel-b"), traces)]
    assert scales[0] == pytest.approx(scales[1], rel=0.01)
    said = caption.read_text()
    assert said.startswith("Two runs. (a) ")
    assert " (b) " in said
    # In scales of their own both are as wide as their panels.
    assert main([*words, "-o", str(folder / "own.svg"), "--own-scale"]) == 0
    assert scale_of(panels_of(folder / "own.svg")["panel-a"], traces[0]) > 1.5 * scales[0]
    assert main(["again", str(folder / "x.svg"), "-o", str(folder / "y.svg"), "--quiet"]) == 0
    assert (folder / "y.svg").read_bytes() == (folder / "x.svg").read_bytes()


def test_a_picture_of_panels_has_the_size_to_the_pixel(folder) -> None:
    pytest.importorskip("bpy")
    from PIL import Image

    words = [f"icicle {folder / 'short.json'} opening=0", f"cone {folder / 'long.json'}"]
    out = folder / "x.png"
    assert main(["panels", *words, "-o", str(out), "--quiet", "--draft", "--size", "401x203"]) == 0
    picture = Image.open(out)
    assert picture.size == (401, 203)
    values = np.asarray(picture.convert("RGB"), int)
    for half in (values[:, :195], values[:, 206:]):
        assert (half.min(axis=2) < 200).mean() > 0.01


def test_rows_make_a_figure_higher_whose_width_alone_is_said() -> None:
    one, two, many = (_frame({"columns": 2, "dpi": 100}, rows) for rows in (1, 2, 9))
    assert one.width == two.width == many.width == 709
    assert [one.height, two.height, many.height] == [399, 638, 906]
    assert _frame({"columns": "2x50mm", "dpi": 100}, 3).height == 197
    assert _frame({"size": "300x200"}, 3).height == 200


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["icicle"], "no trace is named"),
        (["nosuch x.json"], "nosuch"),
        (["compare x.json"], "takes 2"),
        (["icicle 'x.json"], "No closing quotation"),
        (["icicle x.json nosuch=1"], "nosuch"),
        (["icicle x.json", "--size", "10cmx5cm", "--columns", "1"], "both set the width"),
    ],
)
def test_words_that_are_off_are_told(tmp_path, capsys, words, why) -> None:
    assert main(["panels", *words, "-o", str(tmp_path / "x.svg"), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("panels: 3\n", "a list 'panels' is expected"),
        ("panels: [{traces: [x.json]}]\n", "panel 1: 'view' is expected"),
        ("panels: [{view: icicle, trace: x.json}]\n", "'trace' is not one of view, traces"),
        ("panels: [{view: icicle, traces: x.json, span: wide}]\n", "wide is not a whole number"),
        ("colour: red\npanels: [{view: icicle, traces: x.json}]\n", "'colour' is not one of panels"),
    ],
)
def test_files_that_are_off_are_told(tmp_path, capsys, text, why) -> None:
    (tmp_path / "x.yaml").write_text(text)
    assert main(["panels", str(tmp_path / "x.yaml"), "-o", str(tmp_path / "x.svg"), "--quiet"]) == 2
    assert why in capsys.readouterr().err
