"""Distinct numbers, held against plain sorting."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.formats.distinct import by_index, distinct


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
