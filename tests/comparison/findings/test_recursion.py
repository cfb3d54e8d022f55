"""A function that calls itself more or less often, though others call it as often as before."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.comparison.difference.test_kinds import told
from tests.comparison.test_findings import leaf, traced
from tests.support.walked_traces import walked_trace
from tracevis3d.features.comparison.findings.counts import own_calls, recursions
from tracevis3d.features.comparison.findings.evidence import Evidence
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.comparison.report.sentences import sentence
from tracevis3d.features.comparison.view.difference.kinds import OFTEN


def nested(depth: int) -> tuple:
    return ("down", 1, [nested(depth - 1)] if depth > 1 else [leaf("end", 2)])


def program(depth: int, times: int = 6):
    return traced(("main", 5, [step for _ in range(times) for step in (nested(depth), leaf("rest", 40))]))


def test_a_recursion_in_place_of_a_loop_is_told_and_coloured():
    found = told(program(1), program(5))
    finding = found.findings.found[0]
    assert (finding.kind, finding.functions[0], finding.calls) == ("repetitions", "down", (6, 30))
    assert finding.details["itself"] == [0, 24]
    assert "It calls itself 0 times in A and 24 times in B." in sentence(finding)
    trace = found.findings.evidence.comparison.traces[1]
    down = list(trace.functions.label).index("down")
    assert (found.kind[1][trace.calls.function == down] == OFTEN).all()


@pytest.mark.parametrize(("a", "b"), [((5, 6), (5, 6)), ((5, 6), (5, 12)), ((20, 6), (21, 6))])
def test_as_deep_as_before_is_no_finding(a, b):
    evidence = Evidence(compare(program(*a), program(*b), tau=0.2, cache=False))
    assert recursions(evidence) == []


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_calls_by_itself_are_those_of_the_plain_twin(seed):
    traces = [walked_trace(seed + k, threads=1, steps=120) for k in (0, 1)]
    evidence = Evidence(compare(*traces, tau=0.2, cache=False))
    inner = own_calls(evidence)
    for s, trace in enumerate(traces):
        plain: Counter[int] = Counter()
        parent, function = trace.calls.parent.tolist(), trace.calls.function.tolist()
        of = evidence.paths.of_call[s].tolist()
        for call, above in enumerate(parent):
            if above >= 0 and of[above] == of[call] and function[above] == function[call]:
                plain[of[call]] += 1
        assert inner[s].tolist() == [plain[node] for node in range(len(evidence.paths))]
        # Each call of a path is one of those that others make, or one of these.
        assert np.all(inner[s] <= np.bincount(evidence.paths.of_call[s], minlength=len(evidence.paths)))
