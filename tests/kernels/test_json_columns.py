"""Columns of numbers in JSON, held against Python's own reading of it."""

import json
import math

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.formats.profiles.documents import column_of, table_of, with_columns


def _other_form(number: str) -> bool:
    """Return whether JSON writes a number with an exponent, or with more digits than a table takes."""
    return "e" in number or len(number.strip("-0.")) > 9


blanks = st.sampled_from([None, 1])
odd = st.one_of(st.none(), st.booleans(), st.text(max_size=2), st.floats(allow_nan=False), st.integers())
numbers = st.one_of(
    st.integers(-(1 << 49), 1 << 49), st.none(), st.decimals(-99_999, 99_999, places=6).map(float)
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.lists(st.integers(-(1 << 59), 1 << 59)), st.lists(odd, max_size=4)), blanks)
def test_a_list_of_whole_numbers_is_a_column(rows, indent):
    column = column_of(json.dumps(rows, indent=indent).encode())
    plain = all(type(row) is int and abs(row) < 10**18 for row in rows)
    assert plain or column is None
    if plain:
        assert column.tolist() == rows


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(st.lists(st.lists(numbers, max_size=4), max_size=6), st.lists(st.lists(odd, max_size=3))),
    blanks,
)
def test_a_list_of_rows_is_a_table_of_the_same_floats(rows, indent):
    table = table_of(json.dumps(rows, indent=indent).encode(), 3)
    if table is None:
        assert not rows or any(
            len(row) > 3
            or any(type(x) in (bool, str) or (x is not None and _other_form(str(x))) for x in row)
            for row in rows
        )
        return
    assert len(table) == len(rows)
    for found, row in zip(table.tolist(), rows, strict=True):
        for one, other in zip(found, [*row, None, None, None][:3], strict=True):
            assert math.isnan(one) if other is None else one == other


def test_what_is_no_plain_list_is_read_otherwise():
    for text in (b"[1,2.5]", b"[1e3]", b"{}", b"7", b"[[1]]", b'["a"]', b"[null]"):
        assert column_of(text) is None
    for text in (b"[]", b"[1]", b"[[1,2,3,4]]", b"[[[1]]]", b"[[1e3]]", b"[[12345678901234567]]", b"{}"):
        assert table_of(text, 3) is None or text == b"[]"
    assert table_of(b"[[1],[null,-2.5],[]]", 2).tolist()[1][1] == -2.5


def test_only_the_named_fields_become_columns():
    said = with_columns(b'{"a": [1, 2], "b": [1, 2], "a2": {"a": [3]}, "c": [1, null]}', ("a", "c"))
    assert isinstance(said["a"], np.ndarray)
    assert said["a"].tolist() == [1, 2]
    assert (said["b"], said["a2"], said["c"]) == ([1, 2], {"a": [3]}, [1, None])
    assert with_columns(b"[1, 2]", ("a",)) == [1, 2]
    for text in (b"", b"{", b'{"a": [1,}'):
        try:
            with_columns(text, ("a",))
        except msgspec.DecodeError:
            continue
        raise AssertionError(text)
