"""Series over time against slow twins that follow each nanosecond."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracevis3d.features.tracks.series import Occurrences, Rate, Steps, held, steps_of

TIMES = st.lists(st.integers(0, 60), max_size=12)
EDGES = st.lists(st.integers(-5, 70), min_size=2, max_size=8, unique=True).map(sorted).map(np.array)


def value_at(steps, time):
    """Return the value in force at a nanosecond."""
    found = 0.0
    for at, value in zip(steps.time.tolist(), steps.value.tolist()):
        if at <= time:
            found = value
    return found


def made(times, seed):
    values = np.random.default_rng(seed).integers(-3, 9, len(times)).astype(np.float64)
    return held(np.array(sorted(times), np.int64), values)


@given(TIMES, st.integers(0, 99), EDGES)
def test_cells_of_steps_have_the_mean_and_the_extremes_of_their_nanoseconds(times, seed, edges):
    steps = made(times, seed)
    cells = steps.cells(edges)
    for i, (low, high) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist())):
        each = [value_at(steps, t) for t in range(low, high)]
        assert cells.mean[i] == pytest.approx(np.mean(each))
        assert (cells.least[i], cells.most[i]) == (min(each), max(each))


@given(TIMES, st.integers(0, 99), EDGES)
def test_the_peak_is_the_first_highest_value(times, seed, edges):
    steps, (low, high) = made(times, seed), (int(edges[0]), int(edges[-1]))
    each = [value_at(steps, t) for t in range(low, high)]
    assert steps.peak((low, high)) == (low + int(np.argmax(each)), max(each))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(-2, 3)), max_size=15))
def test_changes_add_up(changes):
    steps = steps_of(np.array([t for t, _ in changes], np.int64), np.array([c for _, c in changes], np.int64))
    for time in range(-1, 42):
        assert value_at(steps, time) == sum(change for at, change in changes if at <= time)
    assert (np.diff(steps.time) > 0).all()
    assert not len(steps.value) or (np.diff(steps.value) != 0).all()


@given(TIMES, EDGES, st.booleans())
def test_rates_are_sums_by_time(times, edges, weighted):
    times = sorted(times)
    weight = np.arange(1.0, len(times) + 1) if weighted else None
    cells = Rate(np.array(times, np.int64), weight).cells(edges)
    for i, (low, high) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist())):
        inside = [(i + 1.0 if weighted else 1.0) for i, t in enumerate(times) if low <= t < high]
        assert cells.mean[i] == pytest.approx(sum(inside) / ((high - low) / 1e9), rel=1e-12)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=10), EDGES)
@example([(0, 9), (1, 0)], np.array([5, 9]))
def test_a_cell_has_a_call_if_something_happens_in_it(given_spans, edges):
    start = np.array([s for s, _ in given_spans], np.int64)
    end = start + np.array([d for _, d in given_spans], np.int64)
    found = Occurrences(start, end, np.arange(len(start))).within(edges)
    for i, (low, high) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist())):
        inside = [k for k in range(len(start)) if start[k] < high and (end[k] > low or start[k] >= low)]
        assert (found[i] >= 0) == bool(inside)
        if inside:
            assert int(found[i]) in inside
            assert end[found[i]] == max(end[inside])


def test_what_never_changes_is_nothing():
    empty = Steps(np.empty(0, np.int64), np.empty(0))
    assert empty.cells(np.array([0, 5, 9])).mean.tolist() == [0.0, 0.0]
    assert empty.peak((0, 9)) == (0, 0.0)


@settings(max_examples=20)
@given(st.integers(1, 10**15))
def test_large_times_lose_nothing(origin):
    steps = Steps(np.array([origin, origin + 10]), np.array([1.0, 0.0]))
    assert steps.cells(np.array([origin - 5, origin, origin + 20])).mean.tolist() == [0.0, 0.5]
