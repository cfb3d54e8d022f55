"""What a city says in its title, against plain counting."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d import units
from tracevis3d.features.city.findings import change, summary

TRACE = walked_trace(1, steps=20)
PLURAL = {"class": "classes", "module": "modules"}
NAMES = {"self": "self time", "calls": "calls", "bytes": "bytes allocated"}


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=12),
    st.sampled_from(["callers", "callees", "age", "none", "self", "calls", "bytes"]),
    st.sampled_from(["class", "module"]),
)
@example([1, 0, 0], "calls", "class")
@example([0, 0], "calls", "class")
@example([9, 1], "self", "module")
@example([63, 7], "self", "module")
@example([4, 4, 1, 1], "bytes", "module")
def test_the_part_with_most_is_named_and_how_few_have_nearly_all(values, metric, what):
    parts = SimpleNamespace(what=what, name=lambda i: f"part {i}")
    sentence, top = summary(parts, np.array(values, np.float64), metric, TRACE)
    assert top == values.index(max(values))
    n, whole = len(values), sum(values)
    if metric in ("callers", "callees"):
        verb = {"callers": "is called by", "callees": "calls"}[metric]
        expected = f"part {top} {verb} {units.counted(values[top], 'other part')} of {n - 1}"
    elif metric in ("age", "none") or whole == 0:
        expected = f"{n} {PLURAL[what]} are called"
    else:
        most = sorted(values, reverse=True)
        few = next(k for k in range(1, n + 1) if sum(most[:k]) >= Fraction(9, 10) * whole)
        expected = f"part {top} has {units.percentage(values[top] / whole)} of the {NAMES[metric]}"
        if few > 1:
            expected += f"; {few} of {n} {PLURAL[what]} have 90 %"
    assert sentence == expected


#: Exact in binary.
QUARTERS = st.integers(0, 160).map(lambda k: k / 4)


@given(st.lists(st.tuples(QUARTERS, QUARTERS), min_size=1, max_size=8))
@example([(0, 0)])
@example([(10, 9), (3, 3)])
@example([(20, 18), (3, 3)])
@example([(20, 17), (3, 3)])
@example([(1, 0)])
@example([(1, 0.5)])
@example([(0, 1)])
@example([(0.5, 1)])
@example([(0.25, 0.25)])
def test_the_part_that_changed_most_is_named(pairs):
    before, after = (np.array(column, np.float64) for column in zip(*pairs, strict=True))
    names = [f"part {i}" for i in range(len(pairs))]
    sentence, top = change(names, before, after, "calls", TRACE)
    differ = [abs(b - a) for a, b in pairs]
    assert top == differ.index(max(differ))
    a, b = pairs[top]
    if 10 * abs(b - a) <= max(a, b):
        assert sentence == "No part changes by more than 10 % in calls"
    else:
        verb = "grows" if b > a else "shrinks"
        assert sentence == f"part {top} {verb} most in calls: {units.count(a)} to {units.count(b)}"
