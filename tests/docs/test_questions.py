"""The tables of questions in the docs: each answer is the title that the view draws of that recording."""

from __future__ import annotations

import re
import shlex

import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d.commands.render import setting
from tracevis3d.drawing.frame import Frame

PAGES = {
    "city": "city",
    "matrix": "matrix",
    "tracks": "tracks",
    "ramp": "ramp",
    "source": "source",
    "tree": "cone",
}
_ROW = re.compile(r"^\| [^|]+\? \| `([^`|]+)` \| \*([^|]+)\*: [^|]+ \|$", re.MULTILINE)
QUESTIONS = [
    (view, words, title)
    for page, view in PAGES.items()
    for words, title in _ROW.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8"))
]


def test_each_view_answers_a_question_of_three_recordings():
    asked = [view for view, _, _ in QUESTIONS]
    assert [asked.count(view) for view in PAGES.values()] == [3] * len(PAGES)


@pytest.mark.parametrize(("view", "words", "title"), QUESTIONS)
def test_the_answer_is_the_title(view, words, title, recorded):
    name, *options = shlex.split(words)
    settings = dict(setting(text) for text in options if text != "--set")
    path = ROOT / "examples" / name
    trace = tv.load(path if path.exists() else recorded / name)
    assert tv.Figure(view, (trace,), settings).drawing(Frame(1920, 1080)).title == title
