"""The rooms: which may import which, no circles, and none with too many files."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

grimp = pytest.importorskip("grimp")

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES = 15


def test_rooms_import_only_what_lies_below_them():
    command = [sys.executable, str(ROOT / "tools" / "check_imports.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]


def test_no_modules_import_each_other_in_a_circle(tmp_path, monkeypatch):
    # The repository's root is the extension's package: a link gives it a name, whatever its folder is called.
    (tmp_path / "extension").symlink_to(ROOT, target_is_directory=True)
    monkeypatch.syspath_prepend(tmp_path)
    graph = grimp.build_graph("extension", cache_dir=None)
    imports = {one: set(graph.find_modules_directly_imported_by(one)) for one in graph.modules}
    for room in ("tracevis3d", "operators", "panels"):
        assert imports[f"extension.{room}"] | graph.find_children(f"extension.{room}"), room
    assert sorted(_in_circles(imports)) == []


def test_a_circle_is_found():
    assert _in_circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b", "c"}


def _in_circles(imports: dict[str, set[str]]) -> set[str]:
    """Return what is left when whatever imports nothing, or is imported by nothing, is taken away."""
    left = set(imports)
    while True:
        importers = defaultdict(set)
        for one in left:
            for other in imports[one] & left:
                importers[other].add(one)
        gone = {one for one in left if not imports[one] & left or not importers[one]}
        if not gone:
            return left
        left -= gone


#: Files of the extension that use NumPy, and the buffer of Blender's that makes them: the library computes.
_BUFFERS = {"operators/explore/shapes.py": "batches for the GPU"}


def test_operators_and_panels_compute_nothing():
    found = {
        path.relative_to(ROOT).as_posix()
        for top in ("operators", "panels")
        for path in (ROOT / top).rglob("*.py")
        if any(name.split(".")[0] == "numpy" for name in _imported(path))
    }
    assert found == set(_BUFFERS)


def _imported(path: Path) -> set[str]:
    """Return the modules that a file imports absolutely, also inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module or "")
    return names


def test_no_room_has_too_many_files():
    for top in ("tracevis3d", "operators", "panels", "tests"):
        for room in [ROOT / top, *(path for path in (ROOT / top).rglob("*") if path.is_dir())]:
            files = [path.name for path in room.glob("*.py") if path.name != "__init__.py"]
            assert len(files) <= MOST_FILES, f"{room.relative_to(ROOT)} has {len(files)} files"
