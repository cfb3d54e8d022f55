"""Tubes that keep the order never turn back along time; counted on drawings, by a plain rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.comparison.turns import of_pair, turns
from tests.support.walked_traces import walked_trace


@pytest.mark.parametrize(
    ("x", "count"), [([0, 1, 2], 0), ([0, 1, 0.5, 2], 2), ([2, 1, 1, 1, 0], 0), ([0, 1, 0], 1)]
)
def test_a_turn_is_a_change_of_direction(x, count):
    assert turns(np.array([[value, 0.0, 0.0] for value in x])) == count


@given(st.integers(0, 10_000))
@settings(max_examples=4, deadline=None)
def test_what_keeps_the_order_never_turns(seed):
    traces = [walked_trace(seed + k, threads=1, steps=300) for k in (0, 1)]
    count, ours, in_order = of_pair(*traces, "modified")
    assert in_order == 0
    _, plain, _ = of_pair(*traces, "heb")
    assert not count or ours <= plain + 1
