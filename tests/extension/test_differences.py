"""From two traces to what differs, in Blender's module; what panels may do."""

import ast
from pathlib import Path

import pytest

from tests.extension.test_explain import write
from tests.support.blender_module import Blender

ROOT = Path(__file__).resolve().parents[2]
#: What panels may ask the library for: declarations, words, and a line of filters taken apart.
LIGHT = ("errors", "parameters", "units", "views", "filters.stack")


@pytest.fixture
def blender():
    """A Blender that has the checkout as an extension."""
    pytest.importorskip("bpy", reason="no bpy")
    return Blender.with_checkout()


@pytest.mark.blender
@pytest.mark.slow
def test_the_list_of_differences(blender, tmp_path):
    a, b = write(tmp_path / "a.json", []), write(tmp_path / "b.json", ["index", "rank", "sort"])
    assert "listed" in blender.script("lists/differences.py", a, b)


@pytest.mark.parametrize("path", sorted((ROOT / "panels").glob("*.py")), ids=lambda path: path.stem)
def test_panels_compute_nothing(path):
    """They import neither NumPy nor what reads, analyses or draws, and open no file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= {"bpy", "textwrap"}, path.name
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tracevis3d"):
            room = node.module.partition(".")[2]
            constants = all(alias.name.isupper() for alias in node.names)
            assert room in LIGHT or constants, f"{path.name} imports {node.module}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "open", path.name
