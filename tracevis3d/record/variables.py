"""The names that a program gives to what it makes: of each call the variable that it is assigned to."""

from __future__ import annotations

import ast
from typing import NamedTuple


class Made(NamedTuple):
    """A call, and what its result is called.

    Attributes
    ----------
    line, end_line, end_column : int
        Where it begins and ends; columns as ``co_positions`` counts them.
    makes : str
        What is called, without its module.
    name : str
        Empty: none, or none that is certain.
    """

    line: int
    end_line: int
    end_column: int
    makes: str
    name: str


#: Methods whose argument becomes a part of what they are called of.
_KEEPERS = frozenset(("append", "appendleft", "add", "insert", "put", "extend"))


def made_objects(text: str) -> list[Made]:
    """Return the calls of a source file, with the names of what they return.

    Parameters
    ----------
    text : str
        The file; none are found in what is no Python.

    Returns
    -------
    list of Made
    """
    found: list[Made] = []
    try:
        _visit(ast.parse(text), "", found)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return found


def _visit(node: ast.AST, name: str, found: list[Made]) -> None:
    """Note the calls below a node whose value is called ``name``."""
    for child, called in _named(node, name):
        if isinstance(child, ast.Call):
            end = child.end_lineno or child.lineno, child.end_col_offset or 0
            found.append(Made(child.lineno, *end, _last(child.func), called))
        _visit(child, called, found)


def _named(node: ast.AST, name: str) -> list[tuple[ast.AST, str]]:
    """Return the children of a node, with what their values are called."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return [*((t, "") for t in targets), *_assigned(targets[0], value)]
        case (
            ast.AnnAssign(target=target, value=ast.AST() as value) | ast.NamedExpr(target=target, value=value)
        ):
            return [(target, ""), (value, _last(target))]
        case ast.keyword(arg=str(arg), value=value):
            return [(value, arg)]
        case ast.Dict(keys=keys, values=values):
            said = [key.value if isinstance(key, ast.Constant) else "" for key in keys]
            named = [
                (value, key if isinstance(key, str) and key else name) for key, value in zip(said, values)
            ]
            return [*((key, "") for key in keys if key is not None), *named]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [(part, name) for part in parts]
        case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
            return [*((one, "") for one in node.generators), (part, name)]
        case ast.DictComp(key=key, value=value):
            return [*((one, "") for one in node.generators), (key, ""), (value, name)]
        case ast.IfExp(test=test, body=body, orelse=other):
            return [(test, ""), (body, name), (other, name)]
        case ast.BoolOp(values=values):
            return [(value, name) for value in values]
        case ast.Call():
            return _arguments(node, name)
        case ast.arguments():
            ordinary = [*node.posonlyargs, *node.args][-len(node.defaults) or None :]
            defaults = [*zip(ordinary, node.defaults), *zip(node.kwonlyargs, node.kw_defaults)]
            return [(value, arg.arg) for arg, value in defaults if value is not None]
        case ast.Await(value=value) | ast.Starred(value=value):
            return [(value, name)]
        case ast.Lambda(args=args, body=body):
            return [(args, ""), (body, name)]
    return [(child, "") for child in ast.iter_child_nodes(node)]


def _assigned(target: ast.expr, value: ast.expr) -> list[tuple[ast.AST, str]]:
    """Return the parts of what is assigned, with their names."""
    if not isinstance(target, ast.Tuple | ast.List):
        return [(value, _last(target))]
    same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
    if not same or any(isinstance(part, ast.Starred) for part in target.elts):
        return [(value, "")]  # it is unknown which is whose
    assert isinstance(value, ast.Tuple | ast.List)
    return [one for part, of in zip(target.elts, value.elts) for one in _assigned(part, of)]


def _arguments(call: ast.Call, name: str) -> list[tuple[ast.AST, str]]:
    """Return the parts of a call; what a new object is made with, or what one is added to, gives the name."""
    made, rest = _last(call.func), call.args
    parts: list[tuple[ast.AST, str]] = [(call.func, ""), *((one, "") for one in call.keywords)]
    if made == "setattr" and len(rest) == 3 and isinstance(rest[1], ast.Constant):
        return [*parts, (rest[2], str(rest[1].value))]
    if made in _KEEPERS and isinstance(call.func, ast.Attribute):
        name = _last(call.func.value)
    elif not made[:1].isupper() and made not in ("list", "tuple", "set", "deque", "cycle"):
        name = ""
    return [*parts, *((one, name) for one in rest)]


def _last(node: ast.AST) -> str:
    """Return the last word of a name."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value, slice=key):
            return (
                str(key.value)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
                else _last(value)
            )
    return ""
