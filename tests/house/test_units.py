"""What is written of a quantity gives it back when it is read, within the rounding that the text promises."""

import doctest
import math
import re
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracevis3d import units
from tracevis3d.errors import UsageError

NS = dict(units.TIME_UNITS)
BYTES = dict(units.BYTE_UNITS)
TIMES = st.integers(-(10**18), 10**18)


def in_ns(text: str) -> Fraction:
    """What a duration such as ``1,234.5 ms`` or ``2 min 5 s`` is in nanoseconds."""
    sign = -1 if text.startswith("-") else 1
    words = text.lstrip("-").replace(",", "").split(" ")
    return sign * sum(
        (Fraction(n) * NS[unit] for n, unit in zip(words[::2], words[1::2], strict=True)), Fraction()
    )


@given(st.integers(-(10**18), 10**18))
def test_exact_durations_lose_nothing(ns):
    assert in_ns(units.exact_duration(ns)) == ns


@given(st.floats(1, 1e11))
def test_durations_are_right_to_three_digits(ns):
    text = units.duration(ns)
    assert float(in_ns(text)) == pytest.approx(ns, rel=5.1e-3)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (1, "1 ns"),
        (999.6, "1 µs"),
        (1_234_567, "1.23 ms"),
        (435_000_000, "435 ms"),
        (1_500_000_000, "1.5 s"),
        (119_000_000_000, "119 s"),
        (250_000_000_000, "4 min 10 s"),
        (7_500_000_000_000, "2 h 5 min"),
        (-2_000, "-2 µs"),
    ],
)
def test_durations_for_people(ns, text):
    assert units.duration(ns) == text


@pytest.mark.parametrize(
    ("n", "text"), [(0, "0"), (12, "12"), (1234567, "1,234,567"), (1.234, "1.23"), (1e6, "1,000,000")]
)
def test_counts(n, text):
    assert units.count(n) == text


@pytest.mark.parametrize(
    ("n", "text"), [(0, "0 B"), (1023, "1,020 B"), (1536, "1.5 KiB"), (5 << 30, "5 GiB")]
)
def test_sizes(n, text):
    assert units.byte_size(n) == text


@given(st.floats(-1e18, 1e18))
@example(119_999_999_999.0)
@example(3_599_999_999_999.0)
@example(7_199_999_999_999.0)
def test_durations_give_the_value_back_within_their_rounding(ns):
    text = units.duration(ns)
    read = float(in_ns(text))
    if " h " in text:
        assert abs(read - ns) <= 30.5 * NS["s"]
        assert int(text.split(" ")[2]) < 60
    elif " min " in text:
        assert abs(read - ns) <= 0.5 * NS["s"] + 1
        assert int(text.split(" ")[2]) < 60
    else:
        assert read == pytest.approx(ns, rel=5.1e-3, abs=1e-11)


@given(st.integers(-(2**61), 2**61))
def test_typed_times_are_read_back_exactly_where_a_float_holds_them(ns):
    text = units.typed_time(ns)
    assert "," not in text
    assert units.read_time("t", text) == pytest.approx(ns, rel=1e-15)
    if abs(ns) < 2**50:
        assert units.read_time("t", text) == ns


@given(TIMES)
def test_short_times_are_read_back_to_six_digits(ns):
    assert units.read_time("t", units.short_time(ns)) == pytest.approx(ns, rel=5.1e-6, abs=0.5)


@given(
    st.sampled_from(["", " "]), st.sampled_from([*units.TIME_UNITS, ("us", 1000), ("μs", 1000), ("", 10**6)])
)
def test_every_unit_is_read_with_and_without_a_space(space, unit):
    name, size = unit
    assert units.read_time("t", f"1.5{space}{name}") == round(1.5 * size)


@pytest.mark.parametrize("text", ["", "soon", "1.2.3 ms", "5 weeks", "1e40 s", "nan"])
def test_what_is_no_time_is_said_in_one_sentence(text):
    with pytest.raises(UsageError, match=r"^start=.*: a time is expected, such as 1\.5s"):
        units.read_time("start", text)


@given(st.floats(0, 1e15))
def test_counts_give_the_number_back(n):
    read = float(units.count(n).replace(",", ""))
    if n >= 1000 or n.is_integer():
        assert abs(read - n) <= 0.5
    else:
        assert read == pytest.approx(n, rel=5.1e-3, abs=1e-11)


@given(st.integers(0, 10**15))
def test_things_are_counted_in_the_plural_unless_one(n):
    number, thing = units.counted(n, "call").split(" ")
    assert int(number.replace(",", "")) == n
    assert (thing == "call") == (n == 1)


@given(st.floats(0, 1e15))
def test_sizes_give_the_bytes_back(n):
    number, unit = units.byte_size(n).split(" ")
    assert float(number.replace(",", "")) * BYTES[unit] == pytest.approx(n, rel=5.1e-3, abs=1e-11)


@given(st.floats(0, 5), st.integers(1, 5))
@example(0.9951, 2)
@example(0.99999, 4)
@example(0.0996, 2)
def test_percentages_give_the_share_back_and_never_round_to_nothing_or_all(share, digits):
    text = units.percentage(share, digits)
    bound, number = re.fullmatch(r"([<>] )?([\d.,]+) %", text).groups()
    read, least = float(number.replace(",", "")), 10.0 ** (1 - digits)
    assert len(number.partition(".")[2]) <= digits - 1
    if bound == "< ":
        assert 0 < 100 * share < least == read
    elif bound == "> ":
        assert 100 > 100 * share > read == pytest.approx(100 - least)
    else:
        places = max(digits - 1 - max(math.floor(math.log10(read)), 0), 0) if read else 0
        assert abs(read - 100 * share) <= 0.51 * 10.0**-places
        assert (read == 0) == (share == 0)
        assert share == 1 or read != 100 or share > 1


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"), (1e-5, "< 0.1 %"), (0.001, "0.1 %"), (0.034, "3.4 %"), (0.1, "10 %"), (0.345, "34 %"),
        (0.996, "99.6 %"), (0.9999, "> 99.9 %"), (1, "100 %"), (1.5, "150 %"),
    ],
)  # fmt: skip
def test_shares_for_people(share, text):
    assert units.percentage(share) == text


def test_examples_in_the_docstrings_are_true():
    assert doctest.testmod(units).failed == 0
