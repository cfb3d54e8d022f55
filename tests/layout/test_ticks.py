"""Ticks are round, inside, evenly spaced, and their texts say their values exactly."""

import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout import ticks
from tracevis3d.layout.scales import LOG_RANGE, Scale
from tracevis3d.units import TIME_UNITS

NS = dict(TIME_UNITS)
TIMES = st.integers(0, 10**15)


def in_ns(text: str) -> Fraction:
    """What an exact duration such as ``1,234.5 ms`` is in nanoseconds."""
    number, unit = text.replace(",", "").split(" ")
    return Fraction(number) * NS[unit]


@given(TIMES, st.integers(1, 10**14), st.integers(2, 15))
def test_time_ticks_are_inside_even_round_and_few(start, span, most):
    found = ticks.time_ticks(start, start + span, most)
    assert len(found.at) <= most
    assert all(start <= t <= start + span for t in (*found.at, *found.minor))
    assert not set(found.at) & set(found.minor)
    steps = {b - a for a, b in pairwise(found.at)}
    assert len(steps) <= 1
    for step in steps:
        seconds = step / 1e9
        if seconds >= 1:
            assert seconds in {1, 2, 5, 10, 15, 30} or seconds % 60 == 0
        else:
            assert str(int(step))[0] in "125"
            assert set(str(int(step))[1:]) <= {"0"}


@given(TIMES, st.integers(1, 10**14))
def test_tick_texts_say_the_times_exactly(start, span):
    found = ticks.time_ticks(start, start + span)
    base = in_ns(found.offset) if found.offset else 0
    for at, text in zip(found.at, found.text):
        assert text.startswith("+") == bool(found.offset)
        assert base + Fraction(text.lstrip("+").replace(",", "")) * NS[found.unit] == at


@given(TIMES, st.integers(10, 10**14))
def test_ticks_fill_the_axis(start, span):
    assert len(ticks.time_ticks(start, start + span, 10).at) >= 2


def test_usual_axes():
    usual = ticks.time_ticks(0, 435_000_000, 10)
    assert usual.text == ("0", "50", "100", "150", "200", "250", "300", "350", "400")
    assert usual.unit == "ms"
    assert ticks.time_ticks(0, 3 * 60 * 10**9, 7).text == ("0", "30", "60", "90", "120", "150", "180")
    hours = ticks.time_ticks(0, 3 * 3600 * 10**9, 4)
    assert (hours.text, hours.unit) == (("0", "1", "2", "3"), "h")
    narrow = ticks.time_ticks(12_345_678_900, 12_345_679_400, 6)
    assert narrow.offset == "12.345678 s"
    assert narrow.unit == "µs"
    assert narrow.text[0] == "+0.9"


@given(st.floats(1e-6, 1e12), st.floats(1, 1e8))
def test_decades_are_powers_of_ten_inside(low, ratio):
    found = ticks.decades(low, low * ratio)
    assert len(found) <= 8
    for value in found:
        assert re.fullmatch(r"1(\.0)?e[-+]\d+", f"{value:.1e}")
        assert low * (1 - 1e-6) <= value <= low * ratio * (1 + 1e-6)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=30).map(sorted), st.floats(0.1, 20))
def test_thinned_ticks_stand_apart_and_keep_the_last(places, least):
    kept = ticks.thin(places, places, least)
    assert kept[-1] == len(places) - 1
    assert all(places[b] - places[a] >= least for a, b in pairwise(kept))


VALUES = st.lists(st.floats(0, 1e12), min_size=1, max_size=50).map(np.array)


@given(st.sampled_from(["linear", "sqrt", "log"]), VALUES)
def test_scales_are_monotone_from_0_to_1(kind, values):
    scale = Scale.over(kind, values)
    places = scale.place(np.sort(values))
    assert (np.diff(places) >= 0).all()
    assert ((places >= 0) & (places <= 1)).all()
    assert scale.place(scale.high) == (1.0 if values.max() > 0 else 0.0)
    assert scale.place(0.0) == 0.0


@given(VALUES)
def test_linear_and_sqrt_scales_are_what_they_say(values):
    high = values.max()
    if high > 1e-200:
        np.testing.assert_allclose(Scale.over("linear", values).place(values), values / high)
        np.testing.assert_allclose(Scale.over("sqrt", values).place(values), np.sqrt(values / high))


def test_a_log_scale_has_equal_steps_for_equal_factors_and_a_floor():
    scale = Scale.over("log", np.array([0.0, 1.0, 10.0, 100.0, 10_000.0]))
    np.testing.assert_allclose(scale.place([1, 10, 100, 1000, 10_000]), [0, 0.25, 0.5, 0.75, 1])
    wide = Scale.over("log", np.array([1e-9, 1e9]))
    assert wide.low == 1e9 / LOG_RANGE


@given(st.sampled_from(["linear", "sqrt", "log"]), VALUES, st.floats(0.05, 0.5))
def test_ticks_of_a_scale_lie_where_their_values_do(kind, values, apart):
    scale = Scale.over(kind, values)
    places, texts = scale.ticks(repr, 5, apart)
    assert len(places) == len(texts) >= 1
    for place, text in zip(places, texts):
        assert scale.place(float(text)) == pytest.approx(place, abs=1e-9)
    assert all(b - a >= apart - 1e-9 for a, b in pairwise(places))


def test_a_short_logarithmic_scale_has_ticks_between_powers_of_ten():
    assert Scale("log", 1.0, 8.0).ticks(str) == ((0.0, pytest.approx(1 / 3), pytest.approx(0.774, abs=1e-3)),
                                                 ("1.0", "2.0", "5.0"))  # fmt: skip
    _, texts = Scale("log", 3.0, 400.0).ticks(str)
    assert texts == ("5.0", "10.0", "20.0", "50.0", "100.0", "200.0")
    assert Scale("log", 1.0, 1e4).ticks(str)[1] == ("1.0", "10.0", "100.0", "1000.0", "10000.0")
    assert Scale("log", 6.0, 8.0).ticks(str)[1] == ("8.0",)
