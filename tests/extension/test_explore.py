"""The selection and exploring, in Blender's module, from the checkout."""

import ast
import re
from pathlib import Path

import pytest

from tests.memory.test_view import trace_of
from tests.support.blender_module import Blender
from tracevis3d import api

pytest.importorskip("bpy", reason="no bpy")
pytestmark = [pytest.mark.blender, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def blender():
    """A Blender that has the checkout as an extension."""
    return Blender.with_checkout()


@pytest.fixture(scope="module")
def in_turn(tmp_path_factory):
    """What scripts print that run in one Blender, by their names: starting one takes longer than most."""
    one, other = (EXAMPLES / f"vt_markdown_repeat{i}.json.gz" for i in (1, 2))
    return Blender.with_checkout().scripts(
        ("explore/related.py", one, other, EXAMPLES / "sync_pillow_8w.json.gz"),
        ("explore/reasons.py", one, other),
        ("explore/detail_undo.py", one),
        ("explore/menu_undo.py", one, other),
        ("explore/film.py", one, tmp_path_factory.mktemp("film")),
        ("install/templates.py", one, other, tmp_path_factory.mktemp("templates") / "out"),
    )


def test_one_selection_for_all_views(blender, tmp_path):
    blender.script("explore/selection.py", tmp_path)


def test_what_of_lit_elements_can_be_seen(blender):
    assert "surfaces" in blender.script("sight/surfaces.py", EXAMPLES / "vt_markdown_repeat1.json.gz")


def test_exploring(blender, tmp_path):
    one, other = (EXAMPLES / f"vt_markdown_repeat{i}.json.gz" for i in (1, 2))
    assert "explored" in blender.script("explore/exploring.py", one, other, tmp_path / "out")


def test_clicks_drags_and_the_wheel(blender, tmp_path):
    one, other = (EXAMPLES / f"vt_markdown_repeat{i}.json.gz" for i in (1, 2))
    api.save(trace_of(), tmp_path / "heap.tv3")
    assert "triggered" in blender.script("explore/triggers.py", one, other, tmp_path / "heap.tv3")


def test_what_lights_up_together(in_turn):
    assert "lit" in in_turn["explore/related.py"]


def test_whatever_is_greyed_out_says_why(in_turn):
    assert "SAID This scene has no view: import a trace first" in in_turn["explore/reasons.py"]


def test_undo_while_detail_is_shown(in_turn):
    assert "undone" in in_turn["explore/detail_undo.py"]


def test_undo_after_each_entry_of_an_elements_menu(in_turn, blender, tmp_path):
    said = in_turn["explore/menu_undo.py"]
    assert "undone" in said
    # What was copied as Python draws and renders in a Python without Blender's window.
    (line,) = [line for line in said.splitlines() if line.startswith("SCRIPT ")]
    script = ast.literal_eval(line.removeprefix("SCRIPT "))
    last = script.rstrip().splitlines()[-1]
    assert last.startswith("figure.render(")
    (tmp_path / "copied.py").write_text(
        re.sub(r"size='\d+x\d+'", "size='320x180', engine='workbench'", script)
    )
    blender.environment |= {"PYTHONPATH": str(ROOT)}
    done = blender.python_says(tmp_path / "copied.py")
    assert done.returncode == 0, done.stdout + done.stderr
    (picture,) = blender.place.glob("*.png")
    assert picture.stat().st_size > 5000


def test_a_film_on_the_timeline(in_turn):
    assert "filmed" in in_turn["explore/film.py"]


def test_the_text_editors_templates(in_turn):
    assert "templates" in in_turn["install/templates.py"]


def test_a_cone_tree_opens_from_near(blender):
    assert "came near" in blender.script("explore/cone_near.py", EXAMPLES / "vt_markdown_repeat1.json.gz")
