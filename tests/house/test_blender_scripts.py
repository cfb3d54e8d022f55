"""What the scripts that run in Blender ask of the extension: they run as root on Debian only."""

import ast
import functools
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "tests/blender").rglob("*.py"))


def module_file(dotted):
    """Return the file of a module of the extension: ".operators.task"."""
    path = ROOT.joinpath(*dotted.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@functools.cache
def defined(path):
    """Return all names that a module assigns, imports or defines, at any depth, and the files beside it."""
    tree = ast.parse(path.read_text("utf-8"))
    names = {node.stem for node in path.parent.iterdir()} if path.name == "__init__.py" else set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def asked(node, known):
    """Return the module that an expression stands for, as its dotted name; None if it is none."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    if is_call and node.func.attr == "extension" and len(node.args) == 1:
        text = ast.unparse(node.args[0]).replace("explore + '", "'.operators.explore.")
        value = ast.literal_eval(text) if text.startswith(("'", '"')) else None
        return value if isinstance(value, str) else None
    return None


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_what_a_script_asks_of_a_module_is_there(script):
    tree = ast.parse(script.read_text("utf-8"))
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                pairs = zip(target.elts, node.value.elts) if several else [(target, node.value)]
                for name, value in pairs:
                    if isinstance(name, ast.Name) and (module := asked(value, {})):
                        known[name.id] = module
    missing = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (module := asked(node.value, known)):
            path = module_file(module)
            if not path.is_file() or node.attr not in defined(path):
                missing.append(f"line {node.lineno}: {module}.{node.attr}")
    assert not missing
