"""The selection and exploring, in Blender's module, from the checkout."""

import sys
from pathlib import Path

import pytest

from tests.test_extension_whole_way import Blender

pytest.importorskip("bpy", reason="no bpy")
pytestmark = [pytest.mark.blender, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def blender(tmp_path):
    """A Blender that has the checkout as an extension."""
    made = Blender(sys.executable, tmp_path / "blender")
    folder = made.place / "extensions" / "user_default"
    folder.mkdir(parents=True)
    (folder / "tracevis3d").symlink_to(ROOT)
    return made


def test_one_selection_for_all_views(blender, tmp_path):
    blender.script("try_selection.py", tmp_path)


def test_exploring(blender, tmp_path):
    one, other = (EXAMPLES / f"vt_markdown_repeat{i}.json.gz" for i in (1, 2))
    assert "explored" in blender.script("exploring.py", one, other, tmp_path / "out")


def test_undo_while_detail_is_shown(blender):
    assert "undone" in blender.script("detail_undo.py", EXAMPLES / "vt_markdown_repeat1.json.gz")
