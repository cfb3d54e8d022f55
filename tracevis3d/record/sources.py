"""Which function of a source file a line lies in; Python's own tracing of memory knows lines alone."""

from __future__ import annotations

import ast
import linecache
import os
from bisect import bisect_right


class Sources:
    """Looks into source files, each once."""

    def __init__(self) -> None:
        # Of each file the lines at which another function goes on, and which: name and first line.
        self._files: dict[str, tuple[list[int], list[tuple[str, int]]]] = {}

    def function(self, file: str, line: int) -> tuple[str, int]:
        """Return name and first line of the function around a line, as its code object has them."""
        if file not in self._files:
            self._files[file] = _stretches("".join(linecache.getlines(_path(file))))
        starts, functions = self._files[file]
        return functions[max(bisect_right(starts, line) - 1, 0)]


def _path(file: str) -> str:
    """Return where the source of a module lies that is part of the interpreter itself."""
    module = file.removeprefix("<frozen ").removesuffix(">")
    if module == file:
        return file
    return os.path.join(os.path.dirname(os.__file__), *module.split(".")) + ".py"


def _stretches(text: str) -> tuple[list[int], list[tuple[str, int]]]:
    starts, functions = [0], [("<module>", 1)]
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return starts, functions

    def walk(node: ast.AST, around: tuple[str, int]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                inside = child.name, first
                starts.append(first)
                functions.append(inside)
                walk(child, inside)
                starts.append((child.end_lineno or first) + 1)
                functions.append(around)
            else:
                walk(child, around)

    try:
        walk(tree, functions[0])
    except RecursionError:
        return [0], functions[:1]
    return starts, functions
