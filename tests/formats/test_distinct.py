"""Distinct numbers, held against plain sorting."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.formats.distinct import by_index, distinct, numbered, packed, places_among


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-(1 << 32), 1 << 32), max_size=30), st.sampled_from([1, 1 << 20]))
def test_distinct_numbers_are_found_with_and_without_sorting(values, divisor):
    column = np.array(values, np.int64) // divisor
    keys, index = distinct(column)
    assert keys.tolist() == sorted(set(column.tolist()))
    assert keys[index].tolist() == column.tolist()
    for count in (len(keys), 1 << 17):
        order = by_index(index, count).tolist()
        assert order == sorted(range(len(index)), key=lambda row: index[row])


def test_many_distinct_numbers_are_found():
    """More than there is room for at first, thrice."""
    column = np.random.default_rng(5).integers(-(1 << 62), 1 << 62, 20_000).repeat(2)
    keys, index = distinct(column)
    assert (np.diff(keys) > 0).all()
    assert (keys[index] == column).all()
    assert len(keys) == len(set(column.tolist()))


NUMBERS = st.integers(-3, 9) | st.sampled_from([-(1 << 63), (1 << 63) - 1, 1 << 40])


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, max_size=12), st.lists(NUMBERS, max_size=8))
def test_places_are_the_last_ones_with_and_without_sorting(values, known):
    found = places_among(np.array(values, np.int64), np.array(known, np.int64)).tolist()
    assert found == [max((k for k, one in enumerate(known) if one == value), default=-1) for value in values]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NUMBERS, st.integers(0, 3), NUMBERS), max_size=10))
def test_packed_keys_sort_as_those_they_are_made_of(rows):
    keys = np.array(rows, np.int64).reshape(-1, 3)
    order = np.lexsort(packed(*keys.T[::-1])).tolist()
    assert order == sorted(range(len(rows)), key=lambda row: rows[row])
    values, index = numbered(np.ascontiguousarray(keys[:, 0]))
    assert values.tolist() == list(dict.fromkeys(keys[:, 0].tolist()))
    assert values[index].tolist() == keys[:, 0].tolist()
