"""What of two runs is the import of modules, and when its time is a finding, against a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.comparison.test_findings import traced
from tests.comparison.test_twin_findings import all_same, evidence_of
from tests.support.plain_findings import Plain
from tracevis3d.features.comparison.findings.disturbances import importing, imports, slow_start

EXTERNAL = "(<frozen importlib._bootstrap_external>:9)"
NAMES = [
    "main", "work", "exec_module", "<module>", "<module> (a.py:1)", f"exec_module {EXTERNAL}",
    f"exec_modules {EXTERNAL}", f"source_to_code {EXTERNAL}", f"get_data {EXTERNAL}",
    "load_module (<frozen zipimport>:3)", "import_module (/lib/importlib/__init__.py:3)",
    "_load (C:\\lib\\importlib\\_bootstrap.py:3)",
]  # fmt: skip
MODULES = st.sampled_from([0, 0, 1, 2])


def test_a_module_that_the_first_of_all_imports_is_imported():
    """The first module on a path is the program, also where it is the first call."""
    run = traced(["<module> (a.py:1)", 10, [["<module> (b.py:1)", 10, [["work", 5, []]]], ["work", 5, []]]])
    evidence = evidence_of((run, run))
    ways = [evidence.way(node) for node in np.flatnonzero(imports(evidence)).tolist()]
    assert sorted(map(len, ways)) == [2, 3]
    assert all(way[1].startswith("<module>") for way in ways)


@st.composite
def runs(draw):
    """Draw two runs of a program that imports modules, some of them compiled in one run alone."""
    times = st.sampled_from([0, 5, 100, 5000])

    def call(levels):
        below = [call(levels - 1) for _ in range(draw(st.integers(0, 3)))] if levels else []
        return [draw(st.sampled_from(NAMES)), draw(times), below]

    def again(call):
        below = [again(child) for child in call[2] if draw(st.integers(0, 9))]
        return [call[0], call[1] * draw(st.sampled_from([1, 1, 1, 4])), below]

    root = ["main", draw(times), [call(2) for _ in range(draw(st.integers(0, 4)))]]
    other = again(root)
    for run in (root, other):
        for _ in range(draw(MODULES)):
            compiled = [[NAMES[7], draw(times), []]] * draw(MODULES)
            run[2].append([NAMES[5], draw(times), [[NAMES[8], draw(times), []], *compiled]])
    return traced(root), traced(other)


class Imports(Plain):
    def names(self, function):
        """Return all recorded names of a common function."""
        return [
            name
            for trace in self.traces
            for name, common in zip(trace.trace.functions.name, trace.ids.tolist(), strict=True)
            if common == function
        ]

    def loads(self, function):
        parts = ("<frozen importlib", "/importlib/_bootstrap", "\\importlib\\_bootstrap", "<frozen zipimport")
        return any(part in name for name in self.names(function) for part in parts)

    def belongs(self, function):
        parts = ("/importlib/", "\\importlib\\")
        return self.loads(function) or any(part in n for n in self.names(function) for part in parts)

    def count(self, word):
        """Return how often each run calls Python's functions for imports whose name is a word."""
        found = [f for f in range(len(self.labels)) if self.loads(f)]
        found = [f for f in found if any(name.split()[0] == word for name in self.names(f))]
        return [sum(of[f] for f in found) for of in self.of_function]

    def both(self, node):
        return {self.function[0][node], self.function[1][node]}

    def importing(self):
        loaded = self.count("exec_module")
        nodes = [n for n in range(self.n) if all(self.loads(f) for f in self.both(n))]
        return nodes if loaded[0] == loaded[1] else []

    def above(self, node):
        return [node, *self.above(self.parent[node])] if node >= 0 else []

    def is_module(self, node):
        return any(name.startswith("<module>") for f in self.both(node) for name in self.names(f))

    def imports(self):
        return [
            any(self.belongs(f) for one in self.above(n) for f in self.both(one))
            or sum(self.is_module(one) for one in self.above(n)) > 1
            for n in range(self.n)
        ]

    def slow_start(self):
        nodes = self.importing()
        if not nodes:
            return []
        own = [sum(side[n] for n in nodes) for side in self.self_time]
        expected, compiled = self.pace * own[0], self.count("source_to_code")
        change = own[1] - expected
        slow = abs(change) >= 0.05 * self.most_time and max(own[1], expected) >= 1.15 * min(own[1], expected)
        if not slow and compiled[0] == compiled[1]:
            return []
        nodes.sort(key=lambda n: (-max(side[n] for side in self.self_time), n))
        first = nodes[0]
        details = {
            "change_ns": round(change), "factor": own[1] / max(expected, 1), "start": True,
            "modules": self.count("exec_module")[0], "compiled": compiled,
        }  # fmt: skip
        about = {**self.about(nodes), "time_ns": tuple(own), "certainty": "likely"}
        names = (self.label(first),) * 2
        return [self.finding("drift", self.share(change, 0), names, self.way(first), details, **about)]


@given(runs())
@settings(max_examples=50, deadline=None)
def test_imports_are_those_of_pythons_own_functions_and_of_modules_within_modules(pair):
    evidence = evidence_of(pair)
    plain = Imports(evidence)
    assert importing(evidence).tolist() == plain.importing()
    assert imports(evidence).tolist() == plain.imports()
    all_same(slow_start(evidence, importing(evidence)), plain.slow_start())


@pytest.mark.parametrize(("own", "told"), [(1000, False), (1500, True), (100, True)])
def test_a_start_is_slow_from_a_twentieth_of_the_run_on(own, told):
    def run(own):
        rest = [["work", 1000, []] for _ in range(8)]
        return traced(["main", 100, [[NAMES[5], own, []], *rest]])

    evidence = evidence_of((run(1000), run(own)))
    assert bool(slow_start(evidence, importing(evidence))) == told
    assert slow_start(evidence, np.empty(0, np.int64)) == []
