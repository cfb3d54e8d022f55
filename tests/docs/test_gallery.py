"""The gallery: its page says how each of its pictures is made, and all views and styles are there."""

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from tracevis3d import cli
from tracevis3d.drawing.output import STYLES
from tracevis3d.formats import registry as formats
from tracevis3d.parameters import read
from tracevis3d.views import own, registry

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import gallery  # noqa: E402

sys.path.remove(str(ROOT / "tools"))


def test_the_page_is_that_of_the_pictures():
    assert gallery.PAGE.read_text("utf-8") == gallery.page()


def test_each_view_is_there_in_each_style():
    assert gallery.PICTURES.keys() == own.OWN.keys()
    for view, (traces, settings) in gallery.PICTURES.items():
        declared = registry.find(view)
        read(declared.parameters, settings)
        least, most = declared.traces
        assert least <= len(traces) <= most
        for style in STYLES:
            assert (gallery.OUT / f"{view}-{style}.jpg").is_file()


def test_commands_make_the_pictures_above_them():
    text = gallery.PAGE.read_text("utf-8")
    for picture in re.findall(r"gallery/(\w+-\w+[.]jpg)", text):
        line = next(line for line in text.splitlines() if f"-o {picture}" in line)
        words = shlex.split(line)
        assert words[:2] == ["tracevis3d", "render"]
        assert picture == f"{words[2]}-{words[words.index('--style') + 1]}.jpg"


@pytest.mark.parametrize("name", gallery.FILMS)
def test_films_are_there_with_their_commands(name):
    assert (gallery.OUT / name).is_file()
    assert (gallery.OUT / name).with_suffix(".jpg").is_file()
    text = gallery.PAGE.read_text("utf-8")
    assert f"](gallery/{name})" in text
    line = next(line for line in text.splitlines() if f"--film {name}" in line)
    program, *words = shlex.split(line)
    assert program == "tracevis3d"
    assert cli._parser("tracevis3d", words).parse_args(words).film == name


@pytest.mark.parametrize("name", gallery.OF_PAGES)
def test_pictures_of_other_pages_are_there_and_their_commands_can_be_read(name):
    assert (gallery.PAGES / name).is_file()
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert any(f"pictures/{name})" in page.read_text("utf-8") for page in pages)
    words = ["render", *shlex.split(gallery.OF_PAGES[name]), "-o", name]
    args = cli._parser("tracevis3d", words).parse_args(words)
    declared = registry.find(args.view)
    read(declared.parameters, dict(setting.split("=", 1) for setting in args.settings))
    least, most = declared.traces
    assert least <= len(args.traces) <= most


def test_the_picture_that_moves_is_small():
    assert 50_000 < gallery.FILM.stat().st_size < 3_000_000
    assert "docs/gallery/difference.webp" in (ROOT / "README.md").read_text("utf-8")


def test_unknown_names_are_said(capsys):
    assert gallery.main(["icicl"]) == 2
    assert "icicl: one of icicle, " in capsys.readouterr().err


@pytest.mark.skipif(not gallery.RECORDED.is_dir(), reason="needs the recorded traces beside the repository")
def test_the_traces_are_there():
    for traces, _ in gallery.PICTURES.values():
        assert all((gallery.RECORDED / trace).is_file() for trace in traces)


@pytest.mark.parametrize("name", gallery.OF_FORMATS)
def test_formats_have_pictures_and_their_commands_can_be_read(name):
    assert 5_000 < (gallery.FORMATS / f"{name}.jpg").stat().st_size < 150_000
    view, file, *words = shlex.split(gallery.OF_FORMATS[name])
    cli._parser("tracevis3d", ["render"]).parse_args(["render", view, file, *words, "-o", "a.jpg"])
    assert f"pictures/formats/{name}.jpg)" in (ROOT / "examples" / "recipes.md").read_text("utf-8")
    path = gallery.recording(file)
    if path.exists():
        assert formats.recognise(path).name == name


def test_each_format_of_others_has_a_picture():
    ours = {"memray", "perf_data", "otf2", "parquet", "tv3"}  # drawn as others are, made here, or our own
    named = {name for name in formats._OWN if formats.find(name).recipe}
    assert named - ours <= gallery.OF_FORMATS.keys()


WINDOWS = tomllib.loads((gallery.PAGES / "windows.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", WINDOWS)
def test_pictures_of_windows_are_there_and_taken_by_a_step(name):
    assert (gallery.PAGES / name).is_file()
    assert any(f"pictures/{name})" in page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md"))
    step, _ = WINDOWS[name]
    assert f'"{step}"' in (ROOT / "tools" / "test_blender.py").read_text("utf-8")
