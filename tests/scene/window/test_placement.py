"""Views that stand beside each other: none reaches into another after it has grown."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.scene.placement import make_room

length = st.floats(0.5, 9)


def boxes_in_a_row(lengths, axis):
    """Return boxes beside each other, one unit apart."""
    found, at = [], 0.0
    for one in lengths:
        low, high = np.zeros(3), np.ones(3)
        low[axis], high[axis] = at, at + one
        found.append((low, high))
        at += one + 1.0
    return found


@settings(max_examples=100, deadline=None)
@given(st.lists(length, min_size=2, max_size=5), st.integers(0, 4), length, length, st.integers(0, 2))
def test_a_view_that_grows_reaches_into_none(lengths, which, left, right, axis):
    row = boxes_in_a_row(lengths, axis)
    before = row.pop(min(which, len(row) - 1))
    now = before[0].copy(), before[1].copy()
    now[0][axis] -= left
    now[1][axis] += right
    own, shifts = make_room(before, now, row, axis)
    placed = [(now[0][axis] + own, now[1][axis] + own)]
    placed += [(low[axis] + s, high[axis] + s) for (low, high), s in zip(row, shifts, strict=True)]
    placed.sort()
    assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(placed))
    if left < 1 and right < 1:
        assert own == 0
        assert not any(shifts)


def test_views_that_somebody_has_put_into_each_other_stay():
    before, now = (np.zeros(3), np.ones(3)), (np.zeros(3), np.full(3, 2.0))
    other = np.full(3, 0.5), np.full(3, 1.5)
    assert make_room(before, now, [other]) == (0.0, [0.0])
