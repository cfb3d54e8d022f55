"""What source files say: which function a line lies in, and which variable an expression is assigned to."""

from __future__ import annotations

import ast
import linecache
import os
from bisect import bisect_right

from .variables import Made, made_objects


class Sources:
    """Reads source files, each once."""

    def __init__(self) -> None:
        # Of each file the lines at which another function continues, and which: name and first line.
        self._files: dict[str, tuple[list[int], list[tuple[str, int]]]] = {}
        self._variables: dict[str, list[Made]] = {}

    def function(self, file: str, line: int) -> tuple[str, int]:
        """Return the function around a line, as its code object has it.

        Parameters
        ----------
        file : str
        line : int

        Returns
        -------
        name : str
            Qualified; ``<module>`` outside of functions, or if the file can't be read.
        line : int
            The first line, with decorators.
        """
        if file not in self._files:
            self._files[file] = _stretches("".join(linecache.getlines(_path(file))))
        starts, functions = self._files[file]
        return functions[max(bisect_right(starts, line) - 1, 0)]

    def variable(self, file: str, line: int, end_line: int, end_column: int, kind: str) -> str:
        """Return the variable to which the result of a call is assigned.

        Parameters
        ----------
        file : str
        line : int
            A line of the call.
        end_line, end_column : int
            Where the call ends, as ``co_positions`` has it; 0: unknown, then every call of ``kind`` on that
            line counts.
        kind : str
            The name of what is made, without its module.

        Returns
        -------
        str
            Empty if it is not certain.
        """
        if file not in self._variables:
            self._variables[file] = made_objects("".join(linecache.getlines(_path(file))))
        found = self._variables[file]
        if end_line and end_column:
            names = {one.name for one in found if (one.end_line, one.end_column) == (end_line, end_column)}
        else:
            names = {one.name for one in found if one.line <= line <= one.end_line and kind in one.makes}
        return names.pop() if len(names) == 1 else ""


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

    def walk(node: ast.AST, around: tuple[str, int], scope: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                inside = scope + child.name, first
                starts.append(first)
                functions.append(inside)
                walk(child, inside, f"{inside[0]}.<locals>.")
                starts.append((child.end_lineno or first) + 1)
                functions.append(around)
            elif isinstance(child, ast.ClassDef):
                walk(child, around, f"{scope}{child.name}.")
            else:
                walk(child, around, scope)

    try:
        walk(tree, functions[0], "")
    except RecursionError:
        return [0], functions[:1]
    return starts, functions
