"""What lies beside a stretch of a box, against points."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout.sight.slab import beside

ends = st.tuples(st.integers(-9, 9), st.integers(1, 9))


@given(
    st.tuples(ends, ends, ends),
    st.integers(-12, 12),
    st.integers(-12, 12),
    st.integers(0, 2),
    st.integers(0, 2),
)
def test_beside_a_stretch(box, a, b, axis, pad):
    low = np.array([first for first, _ in box], float)
    high = low + np.array([long for _, long in box])
    parts = beside((low, high), a, b, axis, pad)
    points = np.random.default_rng(1).uniform(low, high, (60, 3))
    inside = sum(((points >= first) & (points <= last)).all(axis=1).astype(int) for first, last in parts)
    wanted = (points[:, axis] < min(a, b)) | (points[:, axis] > max(a, b))
    assert np.array_equal(np.asarray(inside) * np.ones(60, int), wanted.astype(int))
    for first, last in parts:
        others = [i for i in range(3) if i != axis]
        assert np.array_equal(first[others], low[others] - pad)
        assert np.array_equal(last[others], high[others] + pad)
