"""Public docstrings say what goes in, what comes out, and what is raised."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "tracevis3d"

_SECTION = re.compile(r"^(Parameters|Attributes|Returns|Yields|Raises)\n-{3,}\n", re.MULTILINE)
_ANY_SECTION = re.compile(r"^[A-Z][A-Za-z ]+\n-{3,}\n", re.MULTILINE)
_PROPERTIES = {"property", "cached_property", "setter"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def missing(source: str) -> list[str]:
    """Return a sentence for each thing that a public docstring of a module does not say."""
    tree = ast.parse(source)
    found: list[str] = []
    for name, node, owner in _public(tree):
        text = ast.get_docstring(node) or ""
        if not text and owner is not None and owner.bases:
            continue  # it has that of the base's method
        if not text:
            found.append(f"{name} has no docstring")
        elif isinstance(node, ast.ClassDef):
            found += [f"{name} does not say what {word!r} is" for word in _unnamed(_fields(node), text)]
        else:
            found += _missing_of(name, node, text, owner is not None)
    return found


def _missing_of(name: str, node: Function, text: str, is_method: bool) -> Iterator[str]:
    # Who calls an intrinsic does not pass the first argument, the builder.
    words = _arguments(node, is_method or "intrinsic" in _decorated(node))
    sections = _sections(text)
    is_short = len(words) <= 1 and not _ANY_SECTION.search(text) and len(text.split("\n\n")) == 1
    if not is_short and not _decorated(node) & _PROPERTIES:
        yield from (f"{name} does not say what {word!r} is" for word in _unnamed(words, text))
        if _returns(node) and not sections.keys() & {"Returns", "Yields"}:
            yield f"{name} does not say what it returns"
    for error in sorted(_raised(node)):
        if not re.search(rf"^(?:\S+, )*{error}\b", sections.get("Raises", ""), re.MULTILINE):
            yield f"{name} does not say when it raises {error}"


def _public(
    tree: ast.Module | ast.ClassDef, prefix: str = "", owner: ast.ClassDef | None = None
) -> Iterator[tuple[str, Function | ast.ClassDef, ast.ClassDef | None]]:
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            if "overload" in _decorated(node):
                continue
            yield f"{prefix}{node.name}", node, owner
            if isinstance(node, ast.ClassDef):
                yield from _public(node, f"{prefix}{node.name}.", node)


def _decorated(node: Function | ast.ClassDef) -> set[str]:
    names = set()
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        names.add(called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", ""))
    return names


def _arguments(node: Function, is_method: bool) -> list[str]:
    given = node.args
    words = [word.arg for word in (*given.posonlyargs, *given.args)]
    if is_method and "staticmethod" not in _decorated(node):
        words = words[1:]
    words += [word.arg for word in given.kwonlyargs]
    words += [word.arg for word in (given.vararg, given.kwarg) if word]
    return [word for word in words if not word.startswith("_")]


def _fields(node: ast.ClassDef) -> list[str]:
    """Return what an object is made of: the public fields of a dataclass, or what ``__init__`` takes."""
    if _decorated(node) & {"dataclass"}:
        fields = [one.target.id for one in node.body if isinstance(one, ast.AnnAssign)
                  and isinstance(one.target, ast.Name) and not _is_declared(one)]  # fmt: skip
        return [name for name in fields if not name.startswith("_")]
    if node.bases:
        return []  # what its base's docstring says
    made = (one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
    return [word for one in made for word in _arguments(one, True)]


def _is_declared(field: ast.AnnAssign) -> bool:
    """Whether a field says itself what it is: parameters of views and filters do, by a sentence."""
    value = field.value
    if not isinstance(value, ast.Call):
        return "ClassVar" in ast.unparse(field.annotation)
    called = ast.unparse(value.func)
    return called.endswith("parameter") or "parameters." in called


def _sections(text: str) -> dict[str, str]:
    heads = list(_ANY_SECTION.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {head.group().split("\n")[0]: text[head.end() : end] for head, end in zip(heads, ends)}


def _unnamed(words: list[str], text: str) -> list[str]:
    sections = _sections(text)
    named = sections.get("Parameters", "") + "\n" + sections.get("Attributes", "")
    heads = " ".join(line.partition(" : ")[0] for line in named.split("\n") if line[:1] not in ("", " "))
    said = set(re.findall(r"\w+", heads))
    return [word for word in words if word not in said]


def _returns(node: Function) -> bool:
    return node.returns is not None and ast.unparse(node.returns) not in ("None", "NoReturn")


def _raised(node: Function) -> set[str]:
    """Return the names of the errors that the function's own body raises, and that leave it."""
    found: set[str] = set()

    def look(parent: ast.AST, caught: frozenset[str]) -> None:
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, Function | ast.Lambda | ast.ClassDef):
                continue
            if isinstance(child, ast.Raise) and child.exc is not None:
                error = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
                name = error.attr if isinstance(error, ast.Attribute) else getattr(error, "id", "")
                if name[:1].isupper() and name not in caught:
                    found.add(name)
            if isinstance(child, ast.Try):
                here = {name for handler in child.handlers if handler.type is not None
                        for name in re.findall(r"\w+", ast.unparse(handler.type))}  # fmt: skip
                for inner in child.body:
                    look(ast.Module([inner], []), caught | here)
                for inner in (*child.handlers, *child.orelse, *child.finalbody):
                    look(ast.Module([inner], []), caught)
            else:
                look(child, caught)

    look(node, frozenset())
    return found - {"NotImplementedError"}


def _modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_public_docstrings_are_complete(path):
    assert missing(path.read_text("utf-8")) == []


SOURCE = '''
class Row:
    """A row.

    Parameters
    ----------
    key : int
    """

    def __init__(self, key: int, text: str) -> None: ...

    def short(self, most: int) -> str:
        """Return the text, of ``most`` characters."""

    def tall(self, most: int) -> str:
        """Return the text.

        It has so many characters.
        """

    @property
    def size(self) -> int:
        """Its size."""

    def bare(self): ...


def both(a: int, *rest: int) -> None:
    """Do it.

    Parameters
    ----------
    a : int
    """
    if a:
        raise ValueError
    try:
        raise KeyError
    except KeyError:
        raise errors.InputError("no") from None


def complete(a: int, b: int) -> int:
    """Return it.

    Parameters
    ----------
    a, b : int

    Returns
    -------
    int

    Raises
    ------
    UsageError
        If it can't be.
    """
    raise UsageError


def _private(a, b): ...
'''


def test_what_is_missing_is_found():
    assert missing(SOURCE) == [
        "Row does not say what 'text' is",
        "Row.tall does not say what 'most' is",
        "Row.tall does not say what it returns",
        "Row.bare has no docstring",
        "both does not say what 'rest' is",
        "both does not say when it raises InputError",
        "both does not say when it raises ValueError",
    ]
