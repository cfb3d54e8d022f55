"""Which tests a change of a line is tried with: those that run it, or depend on what it made."""

from __future__ import annotations

import ast
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

#: Tests of one change take so many seconds at most, under a trace.
LONGEST = 120


class Coverage:
    """A plugin of pytest that writes which lines of some modules each test runs, and how long each takes.

    What a fixture runs counts for each test that uses it, and no test finds results that another has cached.
    Tests that fail are left out.
    """

    def __init__(self, modules: list[Path], file: Path) -> None:
        self.file = file
        self.lines: dict[str, set[int]] = {str(module): set() for module in modules}
        self.of_fixture: dict[object, dict[str, list[int]]] = {}
        self.of_test: dict[str, tuple[float, dict[str, list[int]]]] = {}
        self.failed: set[str] = set()

    def run(self) -> dict[str, list[int]]:
        """Return the lines that have run since the last test began."""
        return {module: sorted(lines) for module, lines in self.lines.items() if lines}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Note what a fixture runs: it may be set up for many tests at once."""
        before = {module: set(lines) for module, lines in self.lines.items()}
        for lines in self.lines.values():
            lines.clear()
        yield
        self.of_fixture[fixturedef] = self.run()
        for module, lines in before.items():
            self.lines[module] |= lines

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Run a test, with what it needs, under a trace."""
        for lines in self.lines.values():
            lines.clear()
        forget_results()

        def called(frame: FrameType, event: str, value: object) -> Callable[..., Any] | None:
            if (lines := self.lines.get(frame.f_code.co_filename)) is None:
                return None

            def within(frame: FrameType, event: str, value: object) -> Callable[..., Any]:
                lines.add(frame.f_lineno)
                return within

            return within

        began = time.process_time()
        # Threads that the test starts are traced, too.
        threading.settrace(called)
        sys.settrace(called)
        yield
        sys.settrace(None)
        threading.settrace(None)
        for used in item._fixtureinfo.name2fixturedefs.values():  # type: ignore[attr-defined]
            for module, of_fixture in self.of_fixture.get(used[-1], {}).items():
                self.lines[module].update(of_fixture)
        self.of_test[item.nodeid] = (time.process_time() - began, self.run())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails as it is, or is skipped."""
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the file: the process may end before pytest does, where a test has imported bpy."""
        of = {test: found for test, found in self.of_test.items() if test not in self.failed}
        self.file.write_text(json.dumps([of, sorted(self.failed)]))


def forget_results() -> None:
    """Empty the caches of functions of the library: the next test computes for itself what it needs."""
    for name, module in list(sys.modules.items()):
        if name.startswith("tracevis3d.") and not name.startswith("tracevis3d.kernels"):
            for value in list(vars(module).values()):
                for forget in (getattr(type(value), word, None) for word in ("cache_clear", "forget")):
                    if callable(forget):
                        forget(value)
    if results := sys.modules.get("tracevis3d.trace.cached_results"):
        for home in list(results._homes.values()):
            home.results.clear()


def selected(module: str, source: str, line: int, coverage: dict[str, tuple[float, list[int]]]) -> list[str]:
    """Return the tests that a change of a line of a module's source is tried with.

    ``coverage`` says of each test of the room how long it takes and which lines of the module it runs. Tests
    that run the line come the quickest first. What runs at the import, such as constants, and what no test
    is seen to run, which may run while tests are collected, any test may notice: then it is all of them,
    first those of files that are named like the module, then those that run any of it. Those that would take
    very long together are left out, the last first.
    """
    here = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    here = [node for node in here if node.lineno <= line <= (node.end_lineno or node.lineno)]
    made = [node for node in here if isinstance(node, ast.FunctionDef) and line >= node.body[0].lineno]
    run: set[int] = set()
    # A decorator belongs to no statement: it runs at the import.
    if inner := max(here, key=lambda node: node.lineno, default=None):
        last = inner.body[0].lineno - 1 if hasattr(inner, "body") else inner.end_lineno
        run = set(range(inner.lineno, max(last or 0, inner.lineno) + 1))
    running = [test for test, (_, lines) in coverage.items() if made and run & set(lines)]

    def distance(test: str) -> tuple[int, float]:
        seconds, lines = coverage[test]
        stem = Path(module).stem
        nearest = 0 if stem in Path(test.partition("::")[0]).stem else 1 if lines else 2
        return (nearest if not running else 0), seconds

    every = sorted(running or coverage, key=distance)
    spent = list(accumulate(coverage[test][0] for test in every))
    return [test for test, so_far in zip(every, spent) if so_far <= LONGEST or test == every[0]]
