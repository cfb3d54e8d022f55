"""What is selected in a trace, against sets of numbers, and as text."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.trace.selection import MOST, Selection, read_calls, read_range, same_calls, write_calls

NUMBERS = st.lists(st.one_of(st.integers(0, 30), st.integers(0, 2**40)), max_size=30)
RANGES = st.none() | st.tuples(st.integers(0, 2**50), st.integers(0, 2**50))


@given(NUMBERS, NUMBERS, RANGES, st.booleans())
def test_selecting_is_a_union_or_takes_the_place(before, given_calls, time_range, extend):
    first, _ = Selection().chosen(before)
    found, left_out = first.chosen(given_calls, None, time_range, extend)
    assert found.calls.tolist() == sorted({*given_calls, *(before if extend else ())})
    assert left_out == 0
    if given_calls:
        assert found.active == given_calls[0]
    else:
        assert found.active == (first.active if extend else -1)
    assert found.time_range == (None if time_range is None else tuple(sorted(time_range)))


@given(NUMBERS, NUMBERS)
def test_taking_out_is_a_difference_and_something_that_is_left_is_active(before, gone):
    first, _ = Selection().chosen(before)
    found = first.without(gone)
    left = sorted(set(before) - set(gone))
    assert found.calls.tolist() == left
    assert found.active == (first.active if first.active in left else left[-1] if left else -1)


@given(NUMBERS, RANGES)
def test_texts_and_json_give_back_what_was_written(calls, time_range):
    written, _ = Selection().chosen(calls, None, time_range)
    for read in (
        Selection.of_texts(**written.texts()),
        Selection.of_json(json.loads(json.dumps(written.as_json()))),
    ):
        assert read.calls.tolist() == written.calls.tolist()
        assert (read.active, read.time_range) == (written.active, written.time_range)


@pytest.mark.parametrize("calls", [[], [0], [0, 1], [5, 7, 8, 9, 11]])
def test_numbers_in_a_row_are_written_as_a_range(calls):
    assert read_calls(write_calls(np.array(calls, np.int64))).tolist() == calls
    assert write_calls(np.array([5, 7, 8, 9, 11])) == "5 7-9 11"


def test_what_is_no_number_is_passed_over():
    assert read_calls("3 x 9-7 5-6").tolist() == [3, 5, 6]
    assert read_range("3 x") is None
    for damaged in (None, [], {"calls": 7, "active": "x", "time_range": [1]}, {"time_range": ["1", 2]}):
        found = Selection.of_json(damaged)
        assert (found.active, found.time_range) == (-1, None)


def test_more_calls_than_can_be_selected_are_left_out():
    found, left_out = Selection().chosen(np.arange(MOST + 5))
    assert (len(found), left_out) == (MOST, 5)
    assert len(read_calls(f"0-{10**15}")) == MOST


def test_which_hovered_calls_are_the_same():
    one = {"a": np.array([1, 2]), "b": np.array([3])}
    other = {"a": np.array([1, 2]), "b": np.array([4]), "c": np.array([3])}
    assert same_calls(one, other) == {"a"}
