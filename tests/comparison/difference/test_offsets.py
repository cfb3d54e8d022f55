"""When the same work is done in the other trace: correspondence in turn, and the pace of all of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.comparison.difference.test_kinds import program
from tests.support.walked_traces import walked_trace
from tracevis3d.features.comparison.findings.paths import common_paths
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.comparison.view.difference.kinds import KINDS, MOVED, SAME
from tracevis3d.features.comparison.view.difference.offsets import offsets, partners, trend
from tracevis3d.features.comparison.view.difference.paint import HUES
from tracevis3d.features.comparison.view.overview import kinds_of_bars


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_calls_of_a_path_correspond_in_turn(seed):
    traces = [walked_trace(seed + k, threads=1, steps=70) for k in (0, 1)]
    paths = common_paths(compare(*traces, tau=0.2, cache=False))
    for s, found in enumerate(partners(paths)):
        for call, node in enumerate(paths.of_call[s].tolist()):
            own = [c for c, other in enumerate(paths.of_call[s].tolist()) if other == node]
            there = [c for c, other in enumerate(paths.of_call[1 - s].tolist()) if other == node]
            wanted = there[int((own.index(call) + 0.5) / len(own) * len(there))] if there else -1
            assert found[call] == wanted


@given(st.floats(0.3, 3), st.floats(-1e9, 1e9), st.integers(2, 80), st.integers(0, 1000))
def test_the_trend_is_the_line_that_most_lie_on(pace, lead, n, seed):
    rng = np.random.default_rng(seed)
    a = np.sort(rng.uniform(0, 1e9, n))
    b = pace * a + lead
    found, start = trend(a, b)
    assert found == pytest.approx(pace, rel=1e-6)
    assert start == pytest.approx(lead, abs=1e-3 * max(abs(lead), 1e3))
    # A few moments elsewhere change little.
    wild = b.copy()
    wild[: n // 5] += 1e10
    assert n < 10 or trend(a, wild)[0] == pytest.approx(pace, rel=1e-6)


def test_what_is_slower_throughout_is_in_place_and_what_moved_is_not():
    steps = [(f"step{k}", 10) for k in range(40)]
    slower = [(name, 2 * lasts) for name, lasts in steps]
    a, b = program(*steps), program(*slower)
    comparison = compare(a, b, cache=False)
    later, _, pace = offsets(common_paths(comparison), a.calls.start, b.calls.start)
    assert pace == pytest.approx(2.0, rel=0.01)
    assert np.abs(later).max() < 0.01 * b.calls.end.max()
    moved = program(*slower[1:], slower[0])
    comparison = compare(a, moved, cache=False)
    later, _, _ = offsets(common_paths(comparison), a.calls.start, moved.calls.start)
    first = next(c for c, f in enumerate(a.calls.function.tolist()) if a.functions.label[f] == "step0")
    assert later[first] > 0.8 * moved.calls.end.max()
    assert np.abs(np.delete(later, first)).max() < 0.1 * moved.calls.end.max()


@given(st.integers(0, 10_000), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_a_bar_is_of_the_kind_that_takes_most_of_its_sum(seed, bars):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 30))
    start, kind = np.sort(rng.integers(-5, 110, n)), rng.integers(0, len(KINDS), n).astype(np.uint8)
    weight, strength = rng.integers(0, 4, n).astype(np.float64), rng.random(n)
    found, mean = kinds_of_bars(start, weight, kind, strength, (0, 100), bars)
    for bar in range(bars):
        here = [i for i in range(n) if 0 <= start[i] <= 100 and min(start[i] * bars // 100, bars - 1) == bar]
        sums = [sum(weight[i] for i in here if kind[i] == k) for k in range(len(KINDS))]
        most = max(range(1, len(KINDS)), key=lambda k: sums[k])
        if sums[most] > 0 and sums[most] >= sum(sums) / 4:
            assert found[bar] == most
            wanted = sum(weight[i] * strength[i] for i in here if kind[i] == most) / sums[most]
            assert mean[bar] == pytest.approx(wanted)
        else:
            assert (found[bar], mean[bar]) == (SAME, 0.0)


def blue(drawing, element):
    return (drawing.palette[element.color, :3] == HUES[MOVED, :3]).all(axis=1)


def test_what_a_stall_puts_off_has_not_moved_in_the_overview():
    steps = [(f"step{k}", 10) for k in range(40)]
    stalled = [(name, 400 if k == 15 else lasts) for k, (name, lasts) in enumerate(steps)]
    drawing = tv.compare(program(*steps), program(*stalled)).drawing()
    bars = [e for e in drawing.elements if e.kind == "interval"]
    assert len(bars) == 2
    assert not any(blue(drawing, e).any() for e in bars)
    moved = tv.compare(program(*steps), program(*steps[1:], steps[0])).drawing()
    a, b = (blue(moved, e) for e in moved.elements if e.kind == "interval")
    # In A the first step, in B the last.
    assert (np.flatnonzero(a).tolist(), np.flatnonzero(b).tolist()) == ([0], [len(b) - 1])
