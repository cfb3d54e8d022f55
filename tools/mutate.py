"""Change the analysis in one small place after another, and report which changes no test notices.

    python tools/mutate.py [--module features/interactions/phases.py] [--share 0.2] [--most 40] [--seed 0]

The changes are Cosmic Ray's. They are made in a copy of the project, and each is tried with those tests of
its subject that run the changed line. What survives is printed with its difference; ``mutants.toml`` beside
this file says of which changes it is known that they change nothing that matters: these are not tried.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType
from typing import Any

# Imported once: what each change is tried in is a fork of this process.
import hypothesis  # noqa: F401
import numba
import numpy  # noqa: F401
import orjson  # noqa: F401
import pytest
from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

ROOT = Path(__file__).resolve().parents[1]
# A kernel that leaves its buffers is noticed; kernels with such checks are kept apart from those without.
numba.config.BOUNDSCHECK, numba.config.CACHE_DIR = 1, str(ROOT / "build" / "mutate")
ACCEPTED = ROOT / "tools" / "mutants.toml"
#: Modules, and the tests that they are tried with, those that take least time first.
SUBJECTS = {
    "analysis/compact.py": ("analysis/test_compact",),
    "analysis/criteria.py": ("analysis/test_compact",),
    "analysis/grammar.py": ("analysis/test_grammar",),
    "analysis/join.py": ("comparison/test_match", "comparison/test_groups"),
    "analysis/listing.py": ("analysis/test_grammar", "call_tree/test_partial_tree"),
    "analysis/measures.py": ("analysis/test_measures",),
    "analysis/mural.py": ("analysis/test_mural",),
    "analysis/pattern_library.py": ("analysis/test_library",),
    "analysis/repetitions.py": ("analysis/test_repetitions",),
    "analysis/search.py": ("analysis/test_search",),
    "analysis/search_results.py": ("analysis/test_search_results",),
    "analysis/sequences.py": ("analysis/test_grammar",),
    "analysis/sets.py": ("analysis/test_sets",),
    "analysis/subtrees.py": ("analysis/test_subtrees",),
    "features/waits/critical_path.py": ("waits/test_twin_critical_path",),
    **{
        f"features/waits/findings/{name}.py": (
            "waits/findings/test_words",
            "waits/findings/test_twin_findings",
        )
        for name in ("find", "finding", "locks", "threads")
    },
    "features/waits/blame.py": ("waits/test_twin_blame",),
    "features/waits/outcomes.py": ("waits/test_twin_blame",),
    "features/waits/running.py": ("waits/test_running",),
    **{
        f"features/waits/{name}.py": ("waits/test_twin_waits",)
        for name in ("waits", "correspondences", "holds", "summary")
    },
    "features/waits/operations.py": ("waits/test_twin_operations",),
    "features/waits/rules.py": ("waits/test_rules", "waits/test_waits"),
    "features/interactions/hierarchy.py": (
        "interactions/test_interactions",
        "interactions/elements/test_twin_hierarchy",
        "interactions/test_layers",
    ),
    "features/interactions/interactions.py": ("interactions/test_twin_interactions",),
    "features/interactions/layers.py": ("interactions/test_twin_layers",),
    "features/interactions/phases.py": ("interactions/test_twin_phases",),
    "features/interactions/patterns.py": ("interactions/test_twin_patterns",),
    "features/interactions/rounds.py": ("interactions/test_twin_rounds", "interactions/test_rounds"),
    "features/interactions/sector_order.py": (
        "interactions/test_interactions",
        "interactions/elements/test_twin_sector_order",
    ),
    **{
        f"filters/{name}.py": ("filters/test_twin_filters", "filters/test_twin_stack")
        for name in (
            "facts",
            "names",
            "roles",
            "utilities",
            "occurrences",
            "patterns",
            "alike",
            "sequence",
            "promoted",
        )
    },
    **{f"filters/{name}.py": ("filters/test_twin_stack",) for name in ("stack", "reduce", "listed")},
    "features/comparison/findings/counterparts.py": (
        "comparison/findings/test_noise",
        "comparison/test_twin_findings",
    ),
    "features/comparison/findings/disturbances.py": (
        "comparison/findings/test_twin_imports",
        "comparison/findings/test_noise",
        "comparison/test_twin_findings",
    ),
    "features/comparison/findings/paths.py": ("comparison/test_twin_findings_paths",),
    **{
        f"features/comparison/findings/{name}.py": ("comparison/test_twin_findings",)
        for name in (
            "evidence",
            "counts",
            "durations",
            "order",
            "ranking",
            "stretches",
            "likeness",
            "moves",
            "find",
        )
    },
    **{
        f"features/comparison/matching/{name}.py": ("comparison/test_match", "comparison/test_groups")
        for name in ("groups", "match", "similarity")
    },
    **{
        f"features/comparison/matching/{name}.py": ("comparison/test_identity",)
        for name in ("identity", "rewrite")
    },
    "features/comparison/matching/many_traces.py": ("comparison/test_many_traces",),
    "features/comparison/matching/summary.py": ("comparison/test_twin_summary",),
    "features/tracks/activity.py": ("tracks/test_activity",),
    "features/tracks/series.py": ("tracks/test_series",),
    **{f"features/tracks/{name}.py": ("tracks/test_view",) for name in ("findings", "loads", "tracks")},
    **{f"features/matrix/{name}.py": ("matrix/test_table",) for name in ("findings", "subjects", "table")},
    "features/city/metrics.py": ("city/test_metrics",),
    **{
        f"features/city/{name}.py": ("city/test_metrics", "city/test_view")
        for name in ("findings", "treemap")
    },
    **{f"features/source/{name}.py": ("source/test_metrics",) for name in ("findings", "metrics", "names")},
    **{f"features/ramp/{name}.py": ("ramp/test_rounds",) for name in ("findings", "rounds")},
    **{
        f"features/{name}/view/layout.py": (f"{name}/test_twin_layout", f"{name}/test_view")
        for name in ("city", "matrix", "ramp", "source", "tracks")
    },
    "views/calls/rounds.py": ("ramp/test_rounds",),
    **{f"tables/{name}.py": ("tables/test_tables",) for name in ("arrow", "column", "table", "tabular")},
    **{
        f"queries/{name}.py": ("queries/test_queries",)
        for name in ("database", "ready", "results", "sources")
    },
    "features/memory/findings.py": ("memory/test_twin_findings",),
    "features/memory/call_sites.py": ("memory/test_twin_call_sites",),
    "features/memory/packing.py": ("memory/test_packing",),
    **{
        f"features/memory/{name}.py": ("memory/test_allocations",)
        for name in ("blocks", "curves", "moments", "pyramid", "summary")
    },
}
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
#: Fewer than this share of the changes may survive.
MOST = 0.05
_MEMORY = 12 << 30
#: Where the tests write which lines each of them runs.
COVERAGE = "coverage.json"


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
    by name, how far the work is said to be, and the number of a cache's version.
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
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if ast.unparse(node.targets[0]) == "VERSION" else self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = []
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


def meaning(source: str) -> str | None:
    """Return what distinguishes two sources when they run; None where it is no Python."""
    try:
        return ast.dump(_Meaning().visit(ast.parse(source)))
    except SyntaxError:
        return None


def places_of(source: str) -> list[tuple[str, int]]:
    """Return each place of a source that can be changed: the operator, and its how-manieth place."""
    nodes = list(ast_nodes(get_ast(source)))
    found = []
    for name in OPERATORS:
        operator = plugins.get_operator(f"core/{name}")()
        count = sum(len(list(operator.mutation_positions(node))) for node in nodes)
        found += [(name, occurrence) for occurrence in range(count)]
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


def copied(to: Path) -> None:
    """Copy what git knows, or could, of the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


class Coverage:
    """A plugin of pytest that notes which lines of a module each test runs, and how long each takes."""

    def __init__(self, module: Path) -> None:
        self.module, self.of_test = str(module), {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Run a test, with what it needs, under a trace."""
        lines: set[int] = set()

        def within(frame: FrameType, event: str, value: object) -> Callable[..., Any]:
            lines.add(frame.f_lineno)
            return within

        def called(frame: FrameType, event: str, value: object) -> Callable[..., Any] | None:
            return within(frame, event, value) if frame.f_code.co_filename == self.module else None

        began = time.process_time()
        sys.settrace(called)
        yield
        sys.settrace(None)
        self.of_test[item.nodeid] = (time.process_time() - began, sorted(lines))


def selected(source: str, line: int, coverage: dict[str, tuple[float, list[int]]]) -> list[str]:
    """Return the tests that run a line of a source, the quickest first; all for what runs at the import."""
    here = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    here = [node for node in here if node.lineno <= line <= node.end_lineno]
    made = [node for node in here if isinstance(node, ast.FunctionDef) and line >= node.body[0].lineno]
    run: set[int] = set()
    # A decorator belongs to no statement: it runs at the import.
    if inner := max(here, key=lambda node: node.lineno, default=None):
        last = inner.body[0].lineno - 1 if hasattr(inner, "body") else inner.end_lineno
        run = set(range(inner.lineno, max(last, inner.lineno) + 1))
    return sorted(
        (name for name, (_, lines) in coverage.items() if not made or run & set(lines)),
        key=lambda name: coverage[name][0],
    )


def passes(tree: Path, tests: list[str], limit: float, cover: Path | None = None) -> bool:
    """Return whether the tests pass in a copy of the project within so many seconds of CPU time.

    With ``cover`` they also write what they run of that module beside the copy. What waits for ever uses no
    CPU time: ten times as long by the clock is the end too, which a busy machine doesn't reach.
    """
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
        _try(tree, tests, cover)
    until = time.monotonic() + 10 * limit
    try:
        while time.monotonic() < until:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                child = 0
                return os.waitstatus_to_exitcode(status) == 0
            time.sleep(0.02)
        return False
    finally:
        if child:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _try(tree: Path, tests: list[str], cover: Path | None) -> None:
    """Run the tests and end the process with their result."""
    code = 3
    try:
        os.setsid()
        os.environ.setdefault("TRACEVIS3D_SHARED", str(ROOT.parent / "shared"))
        os.chdir(tree)
        sys.path[0] = str(tree)
        # What is compiled of a change must not be taken for the module.
        sys.dont_write_bytecode = cover is None
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        words = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--hypothesis-profile=mutate"]
        plugin = Coverage(cover) if cover else None
        code = int(pytest.main([*words, *tests], plugins=[plugin] if plugin else []))
        if plugin:
            (tree / COVERAGE).write_text(json.dumps(plugin.of_test))
    finally:
        os._exit(code)


def modules_of(word: str) -> dict[Path, list[str]]:
    """Return the modules that a pattern stands for, all where it is empty, each with its test files."""
    found = {}
    for name, stems in SUBJECTS.items():
        if fnmatch(name, word or "*"):
            tests = [path for stem in stems for path in [ROOT / "tests" / f"{stem}.py"]]
            found[ROOT / "tracevis3d" / name] = [str(path.relative_to(ROOT)) for path in tests]
    if not found:
        sys.exit(f"{word}: tools/mutate.py knows no such module; it knows {', '.join(SUBJECTS)}")
    return found


def accepted_of(module: Path) -> set[tuple[str, str]]:
    """Return the changes of a module that are known to change nothing that matters: line, and its change.

    No change stands for any.
    """
    known = tomllib.loads(ACCEPTED.read_text()) if ACCEPTED.exists() else {}
    name = str(module.relative_to(ROOT / "tracevis3d"))
    return {(one["line"], new) for one in known.get(name, []) for new in one.get("becomes", [""])}


def tried(
    module: Path, tests: list[str], tree: Path, share: float, most: int | None, seed: int
) -> tuple[int, int]:
    """Try changes of one module, print what survives; return how many were tried and survived.

    A share of its places is drawn by chance, and at most so many changes are made there.
    """
    name = module.relative_to(ROOT)
    source, copy = module.read_text(), tree / name
    began = time.monotonic()
    if not passes(tree, tests, 1800, copy):
        sys.exit(f"{name}: its tests fail as it is: {' '.join(tests)}")
    coverage = json.loads((tree / COVERAGE).read_text())
    copy.write_text("raise ImportError\n")
    if passes(tree, tests, 60):
        sys.exit(f"{name}: its tests don't import it: {' '.join(tests)}")
    known = accepted_of(module)
    places = places_of(source)
    places = random.Random(seed).sample(places, max(round(share * len(places)), 1))
    every, accepted = [], 0
    for mutant in mutants_at(source, places):
        if known & {(mutant.old, mutant.new), (mutant.old, "")}:
            accepted += 1
        else:
            every.append(mutant)
        if len(every) == most:
            break
    every.sort(key=lambda mutant: mutant.line)
    survived = 0
    for number, mutant in enumerate(every):
        if sys.stderr.isatty():
            print(f"\r{name}: {number} of {len(every)}", end="", file=sys.stderr, flush=True)
        copy.write_text(mutant.source)
        running = selected(source, mutant.line, coverage)
        limit = 20 + 4 * sum(coverage[test][0] for test in running)
        if not running or passes(tree, running, limit):
            survived += 1
            if not running:
                print(f"\rno test runs line {mutant.line}:")
            lines = difflib.unified_diff(
                source.splitlines(), mutant.source.splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=1
            )
            print("\r" + "\n".join(lines), flush=True)
    copy.write_text(source)
    counts = f"\r{name}: {survived} of {len(every)} changes survive"
    print(f"{counts} ({accepted} accepted, {time.monotonic() - began:.0f} s)", flush=True)
    return len(every), survived


def main() -> None:
    """Try what the command line says; the exit status is 1 where too many changes survive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default="", help="of tracevis3d, such as filters/stack.py, or a pattern")
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the places that are changed, drawn by chance"
    )
    parser.add_argument("--most", type=int, help="changes of each module that are tried, drawn by chance")
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by a signal"))
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copied(tree)
        counts = [
            tried(module, tests, tree, words.share, words.most, words.seed)
            for module, tests in modules_of(words.module).items()
        ]
    tried_, survived = (sum(column) for column in zip(*counts))
    share = survived / max(tried_, 1)
    print(f"{survived} of {tried_} changes survive: {100 * share:.1f} %")
    sys.exit(share >= MOST)


if __name__ == "__main__":
    main()
