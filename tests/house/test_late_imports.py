"""Imports stand at the top of files; these tables say which stand inside functions, and why."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_INDENTED = re.compile(r"^[ \t]+(import|from) ", re.MULTILINE)

_OPTIONAL = "not installed everywhere"
_SLOW = "slow to load, and seldom needed"
#: Modules of others that are loaded when they are needed.
OTHERS = {
    "addon_utils": "Blender's",
    "argcomplete": _OPTIONAL,
    "ast": _SLOW,
    "bpy": _OPTIONAL,
    "compression": "of Python 3.14",
    "difflib": _SLOW,
    "distributed": _OPTIONAL,
    "fcntl": "only on Unix",
    "fontTools": _OPTIONAL,
    "gpu": "only with a window",
    "gpu_extras": "only with a window",
    "gzip": _SLOW,
    "html": _SLOW,
    "importlib": _SLOW,
    "IPython": _OPTIONAL,
    "isal": _OPTIONAL,
    "memray": _OPTIONAL,
    "msgspec": _OPTIONAL,
    "otf2": _OPTIONAL,
    "perfetto": _OPTIONAL,
    "rapidfuzz": _OPTIONAL,
    "reportlab": _OPTIONAL,
    "resource": "only on Unix",
    "shutil": _SLOW,
    "tempfile": _SLOW,
    "tqdm": _OPTIONAL,
    "zmq": _OPTIONAL,
    "yaml": _OPTIONAL,
    "zstandard": _OPTIONAL,
}
_HELP = "the help of the command line loads no NumPy"
_SCENE = "the scene needs Blender"
#: Files that load what they need of the project, or anything, late.
PLACES = {
    "tracevis3d/__main__.py": "signals are handled before anything else is loaded",
    "tracevis3d/__init__.py": "importing the package loads nothing heavy",
    "tracevis3d/api.py": "reading a trace needs no feature",
    "tracevis3d/command_line/arguments.py": _HELP,
    "tracevis3d/commands/*": _HELP,
    "tracevis3d/doctor.py": _HELP,
    "tracevis3d/features/*/commands/*": _HELP,
    "tracevis3d/features/comparison/report/*": _SCENE,
    "tracevis3d/features/waits/report.py": _SCENE,
    "tracevis3d/features/memory/report.py": _SCENE,
    "tracevis3d/features/*/view.py": "live views are loaded when a program is watched",
    "tracevis3d/formats/*/format.py": "a file's format is found without what reads it",
    "tracevis3d/kernels/jit.py": "Numba is loaded with the first kernel",
    "tracevis3d/stories/*": f"{_SCENE}, and {_HELP}",
    "tracevis3d/views/calls/actions.py": "drawing a view needs no filters",
    "tracevis3d/views/time_window.py": "only what changes in the window needs a path through time",
    "tracevis3d/views/view.py": "drawing a view describes nothing",
    "tracevis3d/tables/table.py": "most tables are never handed to Arrow",
    "tracevis3d/record/*": "a recorded program loads nothing for the recorder that it doesn't need",
}


def _late(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and module of each import inside a function: ``.`` before those of the project."""
    text = path.read_text("utf-8")
    if not _INDENTED.search(text):
        return  # nothing to parse for
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, _FUNCTIONS))
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.lineno, "." if node.level else str(node.module).split(".")[0]


def test_imports_inside_functions_have_a_reason():
    wrong, used = [], set()
    for top in ("tracevis3d", "operators", "panels"):
        for path in sorted((ROOT / top).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            places = {place for place in PLACES if fnmatch(name, place)}
            for line, module in _late(path):
                if module in OTHERS:
                    used.add(module)
                elif places:
                    used |= places
                else:
                    wrong.append(f"{name}:{line} imports {module} inside a function")
    assert not wrong, "\n".join(wrong)
    assert {*OTHERS, *PLACES} == used


def test_an_import_inside_a_function_is_found(tmp_path):
    file = tmp_path / "late.py"
    file.write_text(
        "import os\nclass A:\n    def f(self):\n        from .b import c\n        import zmq.auth\n"
    )
    assert list(_late(file)) == [(4, "."), (5, "zmq")]
