"""The changes of a source that may matter, one by one: Cosmic Ray's, less those that mean the same."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from dataclasses import dataclass

from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

#: Changes: to the next number, to the other side of a bound, to the opposite operator.
OPERATORS = (
    "AddNot", "ExceptionReplacer", "NumberReplacer", "ReplaceAndWithOr", "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak", "ReplaceFalseWithTrue", "ReplaceOrWithAnd", "ReplaceTrueWithFalse",
    "ZeroIterationForLoop",
    *(f"ReplaceUnaryOperator_Delete_{name}" for name in ("Invert", "Not", "USub")),
    *(f"ReplaceComparisonOperator_{name}" for name in (
        "Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_Gt",
        "LtE_GtE", "Gt_Lt", "GtE_LtE")),
    *(f"ReplaceBinaryOperator_{name}" for name in (
        "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_FloorDiv", "Pow_Mul",
        "LShift_RShift", "RShift_LShift", "BitOr_BitAnd", "BitAnd_BitOr", "BitXor_BitAnd")),
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A change of a module's source."""

    line: int
    old: str
    new: str
    source: str


class _Meaning(ast.NodeTransformer):
    """Leaves out of a module what nothing depends on.

    These are annotations, imports for them, how a dataclass is made, a strict zip, which arguments are given
    by name, how far the work is said to be, the number of a cache's version, and which negative size of an
    array stands for what is left.
    """

    def visit_If(self, node: ast.If) -> ast.AST | None:
        said = ast.unparse(node.body[0])
        dropped = "TYPE_CHECKING" in ast.unparse(node.test) or (
            len(node.body) == 1 and said.startswith("progress(")
        )
        return None if dropped and not node.orelse else self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
        node.defaults = [*node.defaults, *filter(None, node.kw_defaults)]
        node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "zip":
            node.keywords = []
        if isinstance(node.func, ast.Name) and node.func.id in ("part", "progress"):
            node.args = []
        if isinstance(node.func, ast.Name) and node.func.id == "in_steps":
            for step in node.args[1:]:
                if isinstance(step, ast.Tuple):
                    step.elts[1] = ast.Constant(None)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            node.args = [_any_size(size) for size in node.args]
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if ast.unparse(node.targets[0]) == "VERSION" else self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = []
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


def _any_size(size: ast.expr) -> ast.expr:
    """Return a size of an array that NumPy finds out, such as -2, as it is usually written."""
    negative = isinstance(size, ast.UnaryOp) and isinstance(size.op, ast.USub)
    return ast.Constant(-1) if negative else size


def meaning(source: str) -> str | None:
    """Return what distinguishes two sources when they run; None where it is no Python."""
    try:
        return ast.dump(_Meaning().visit(ast.parse(source)))
    except SyntaxError:
        return None


def places_of(source: str, lines: Container[int] | None = None) -> list[tuple[str, int]]:
    """Return each place of a source, or of these lines, that can be changed: operator, how-manieth place."""
    nodes = list(ast_nodes(get_ast(source)))
    found = []
    for name in OPERATORS:
        operator = plugins.get_operator(f"core/{name}")()
        positions = [position for node in nodes for position in operator.mutation_positions(node)]
        for occurrence, ((first, _), (last, _)) in enumerate(positions):
            if lines is None or any(line in lines for line in range(first, last + 1)):
                found.append((name, occurrence))
    return found


def mutants_at(source: str, places: list[tuple[str, int]]) -> Iterator[Mutant]:
    """Yield the changes at these places that may matter, in their order, each when it is asked for."""
    known = {meaning(source), None}
    for name, occurrence in places:
        try:
            changed = mutate_code(source, plugins.get_operator(f"core/{name}")(), occurrence)
        except AttributeError:  # Cosmic Ray replaces no exception of another module, such as zlib.error
            continue
        if changed is None or (means := meaning(changed)) in known:
            continue
        known.add(means)
        before, after = source.splitlines(), changed.splitlines()
        number = next(i for i, (a, b) in enumerate(zip(before, after)) if a != b)
        yield Mutant(number + 1, before[number].strip(), after[number].strip(), changed)
