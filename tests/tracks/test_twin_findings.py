"""What is found in tracks, against plain twins that look at every nanosecond and every stretch."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from statistics import median

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracevis3d import units
from tracevis3d.features.tracks import findings as found_in
from tracevis3d.features.tracks.findings import findings, highest, total
from tracevis3d.features.tracks.series import Rate, held
from tracevis3d.features.tracks.tracks import Band, Track

WINDOW, EDGES = (10, 50), np.array([10, 15, 20, 30, 40, 50])
CELLS = list(pairwise(EDGES.tolist()))
#: Of steps: when they begin, and their values.
VALUES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 4)), max_size=8)


def steps(rows):
    rows = sorted(rows, key=lambda row: row[0])
    return held(np.array([t for t, _ in rows], np.int64), np.array([v for _, v in rows], np.float64))


def each_nanosecond(rows):
    """Return the values of the nanoseconds of the window."""
    found, at = [], 0
    for time in range(WINDOW[1]):
        at = [at, *(v for t, v in rows if t == time)][-1]
        found.append(at)
    return found[WINDOW[0] :]


def track_of(key, bands, ceiling=0.0, title="title", colors=None, names=None):
    made = tuple(
        Band(names[i] if names else f"band {i}", one, colors[i] if colors else i)
        for i, one in enumerate(bands)
    )
    return Track(key, title, made, lambda value: f"<{value:g}>", ceiling, lambda value: f"[{value:g}]")


def only(track):
    return findings((track,), WINDOW, EDGES)


def in_cells(values):
    """Return the mean of each cell of what each nanosecond has."""
    return [Fraction(sum(values[a - 10 : b - 10]), b - a) for a, b in CELLS]


def plain_peak(key, when, value, means):
    """Return the sentence, the short one and how much the series varies; None where it hardly does."""
    usual, span = median(means), max(abs(value), abs(min(means)))
    if value == 0 or (varies := (value - min(usual, value)) / span) < Fraction(1, 50):
        return None
    what = {
        "memory": "Live memory", "calls": "The rate of calls", "depth": "The stack",
        "allocations": "Allocation",
    }.get(key, "title")  # fmt: skip
    said = f"[{float(value):g}] calls" if key == "depth" else f"<{float(value):g}>"
    sentence = f"{what} {'is deepest with' if key == 'depth' else 'peaks at'} {said} at {when} ns"
    if key in ("calls", "allocations") and usual > 0 and value >= 2 * usual:
        sentence += f", {units.count(float(f'{float(value / usual):.2g}'))} times the median"
    return sentence, said, varies


KEYS = st.sampled_from(["counters", "memory", "io", "calls", "depth", "allocations", "new"])


@given(KEYS, st.lists(VALUES, min_size=1, max_size=3))
@example("calls", [[(0, 50), (20, 51)]])
@example("calls", [[(0, 51), (20, 50)]])
@example("counters", [[(0, 49), (20, 50)]])
@example("calls", [[(0, 1), (30, 2)]])
@example("calls", [[(0, 1), (40, 2)]])
@example("memory", [[(0, 1), (40, 2)]])
@example("allocations", [[(0, 3), (40, 5)]])
@settings(deadline=None)
def test_the_peak_of_steps_is_that_of_the_nanoseconds(key, bands):
    values = [sum(column) for column in zip(*map(each_nanosecond, bands), strict=True)]
    value, when = max(values), WINDOW[0] + values.index(max(values))
    track = track_of(key, list(map(steps, bands)))
    assert highest(track, WINDOW, EDGES) == (when, value)
    expected = plain_peak(key, when, value, in_cells(values))
    if expected is None:
        assert only(track) == ()
        return
    (found,) = only(track)
    important = {"counters": 0.95, "memory": 0.9, "calls": 0.35, "depth": 0.1}.get(key, 0.3)
    assert (found.sentence, found.short) == expected[:2]
    assert (found.track, found.band, found.time, found.value) == (0, -1, when, value)
    assert found.weight == pytest.approx(float(important * expected[2]))


@given(KEYS, st.lists(st.lists(st.integers(0, 60), max_size=9), min_size=1, max_size=2))
@settings(deadline=None)
def test_the_peak_of_rates_is_in_the_middle_of_the_fullest_cell(key, bands):
    bands = [sorted(times) for times in bands]
    track = track_of(key, [Rate(np.array(times, np.int64)) for times in bands])
    assert total(track) is None
    means = [Fraction(10**9 * sum(a <= t < b for times in bands for t in times), b - a) for a, b in CELLS]
    top = means.index(max(means))
    when = (CELLS[top][0] + CELLS[top][1]) // 2
    assert highest(track, WINDOW, EDGES) == (when, pytest.approx(float(means[top])))
    expected = plain_peak(key, when, means[top], means)
    assert [(one.sentence, one.short) for one in only(track)] == ([expected[:2]] if expected else [])


def plain_stretch(sums):
    """Return the shortest stretch of cells with nine tenths of a series, the first of equals."""
    n, whole = len(sums), sum(sums)
    fitting = [
        (j - i, i, j) for i in range(n) for j in range(i, n + 1)
        if 10 * sum(sums[i:j]) >= 9 * whole
    ]  # fmt: skip
    return min(fitting)[1:]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12).filter(any))
@example([1, 9, 0])
@example([9, 1])
@example([1, 8, 1])
def test_the_shortest_stretch_with_most_of_it_is_found(sums):
    assert found_in._stretch(np.array(sums, np.float64)) == plain_stretch(sums)


def plain_when(sums):
    """Say when nine tenths of a time are, if that is less than half of the window."""
    if not sum(sums):
        return ""
    first, stop = plain_stretch(sums)
    low, high = EDGES[first], EDGES[stop]
    return "" if 2 * (high - low) >= 40 else f", 90 % of it from {low} ns to {high} ns"


@given(VALUES, st.integers(0, 5), st.booleans())
@example([(0, 1), (22, 2)], 2, True)
@example([(0, 1), (21, 2)], 2, True)
@example([(0, 1), (23, 2)], 2, True)
@example([(0, 2), (22, 3)], 3, True)
@example([(10, 4), (20, 0)], 4, True)
@example([(10, 4), (30, 0)], 4, True)
@example([(0, 1)], 2, True)
@example([], 2, False)
@settings(deadline=None)
def test_how_many_run_is_that_of_the_nanoseconds(rows, threads, waits):
    values = each_nanosecond(rows)
    track = track_of("running", [steps(rows)], threads, "Threads that run" if waits else "within a call")
    if threads < 2:
        assert only(track) == ()
        return
    (found,) = only(track)
    alone, mean = Fraction(values.count(1), 40), Fraction(sum(values), 40)
    verb, many = ("runs", "run") if waits else ("is within a call", "are within a call")
    if max(values) <= 1:
        expected = f"Never more than one of {threads} threads {verb} at a time"
    elif 10 * alone >= 3:
        expected = f"Only one of {threads} threads {verb} for {units.percentage(float(alone))} of the time"
    else:
        expected = f"On average {units.count(round(float(mean), 2))} of {threads} threads {many}"
        expected += plain_when([sum(values[a - 10 : b - 10]) for a, b in CELLS])
    assert (found.sentence, found.short) == (expected, f"{max(values)} {many}")
    assert (found.time, found.value) == (WINDOW[0] + values.index(max(values)), max(values))
    assert (found.track, found.band) == (0, 0)
    assert found.weight == pytest.approx(float(Fraction(3, 4) * max(alone, 1 - mean / threads)))


@given(st.lists(VALUES, min_size=1, max_size=3), st.integers(1, 9), st.booleans())
@example([[(0, 1)], [(0, 1)]], 3, True)
@example([[(12, 1), (13, 0)]], 1, True)
@example([[(0, 4)]], 1, True)
@settings(deadline=None)
def test_how_many_wait_is_that_of_the_nanoseconds(bands, threads, named):
    each = list(map(each_nanosecond, bands))
    values = [sum(column) for column in zip(*each, strict=True)]
    track = track_of("waits", list(map(steps, bands)), threads, names=None if named else [""] * 3)
    if not max(values):
        assert only(track) == ()
        return
    (found,) = only(track)
    sums = list(map(sum, each))
    top, mean = sums.index(max(sums)), Fraction(sum(sums), 40)
    expected = f"On average {units.count(round(float(mean), 2))} of {threads} threads wait"
    if named:
        expected += f", {units.percentage(sums[top] / sum(sums))} of it in band {top}"
    assert (found.sentence, found.short) == (expected, f"{max(values)} wait")
    assert (found.time, found.value) == (WINDOW[0] + values.index(max(values)), max(values))
    assert (found.track, found.band) == (0, -1)
    assert found.weight == pytest.approx(float(Fraction(9, 10) * min(mean / threads, 1)))


def test_of_rates_nobody_knows_how_many_run_or_wait():
    for key in ("running", "waits"):
        assert only(track_of(key, [Rate(np.array([20, 30]))], 4)) == ()


@given(st.lists(st.tuples(VALUES, st.integers(-1, 1)), min_size=1, max_size=3))
@example([([(0, 1)], 0), ([(0, 1)], 1)])
@example([([(0, 4)], -1), ([(20, 1), (30, 0)], 0)])
@example([([(10, 1), (30, 0)], 0)])
@example([([(49, 1)], 0)])
@settings(deadline=None)
def test_the_module_with_most_time_is_named(bands):
    each = [each_nanosecond(rows) for rows, _ in bands]
    track = track_of("modules", [steps(rows) for rows, _ in bands], 2.0, colors=[c for _, c in bands])
    sums, named = list(map(sum, each)), [i for i, (_, color) in enumerate(bands) if color >= 0]
    if not named or not sum(sums):
        assert only(track) == ()
        return
    (found,) = only(track)
    top = max(named, key=lambda i: (sums[i], -i))
    share, means = Fraction(sums[top], sum(sums)), in_cells(each[top])
    said = units.percentage(float(share))
    expected = f"band {top} takes {said} of the time"
    expected += plain_when([sum(each[top][a - 10 : b - 10]) for a, b in CELLS])
    assert (found.sentence, found.short) == (expected, f"band {top} {said}")
    at = means.index(max(means))
    assert (found.track, found.band, found.time) == (0, top, sum(CELLS[at]) // 2)
    assert found.value == pytest.approx(float(means[at]))
    assert found.weight == pytest.approx(float(share / 2 + Fraction(1, 5)))


def test_the_most_important_come_first_and_each_says_its_track():
    tracks = (
        track_of("depth", [steps([(0, 1), (40, 2)])]), track_of("counters", [steps([])]),
        track_of("waits", [steps([(0, 4)])], 4), track_of("counters", [steps([(0, 1), (40, 4)])]),
    )  # fmt: skip
    found = findings(tracks, WINDOW, EDGES)
    assert [one.track for one in found] == [2, 3, 0]
    assert [one.weight for one in found] == sorted((one.weight for one in found), reverse=True)


@pytest.mark.parametrize(
    ("time", "window", "expected"),
    [
        (1234, (0, 10_000), "1.23 µs"),
        (123_456_789, (123_456_000, 123_456_999), "123.456789 ms"),
        (123_456_789, (123_456_000, 123_457_000), "123.45679 ms"),
        (123_456_789, (123_450_000, 123_459_999), "123.45679 ms"),
        (123_456_789, (123_450_000, 123_460_000), "123.4568 ms"),
        (123_456_789, (0, 123_456_789), "123 ms"),
        (1_123_456_789, (1_123_456_789, 1_123_456_790), "1.12345679 s"),
    ],
)
def test_a_moment_is_told_with_the_digits_that_tell_it_within_its_window(time, window, expected):
    assert found_in._moment(time, window) == expected
