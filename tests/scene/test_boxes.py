"""Which template part a box is shown by."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.kernels.layout.box_parts import box_parts, recode


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.integers(0, 1000), st.floats(0.01, 10), st.integers(1, 5))
def test_codes_are_those_of_the_twin(n, seed, edge, colors):
    rng = np.random.default_rng(seed)
    size = np.exp(rng.normal(0, 4, (n, 3))).astype(np.float32)
    color = rng.integers(-1, colors + 1, n).astype(np.int32)
    part, used = np.empty(n, np.int32), np.zeros(colors * 1000, np.uint8)
    box_parts(size, color, np.float32(edge), 10, colors, part, used)
    for i in range(n):
        ratio = size[i].astype(np.float64) / np.float32(edge)
        if np.abs(np.log2(ratio) - np.round(np.log2(ratio))).min() < 1e-5:
            continue  # on a border, where rounding decides
        buckets = np.clip(np.floor(np.log2(ratio)), 0, 9).astype(int)
        c = min(max(int(color[i]), 0), colors - 1)
        assert part[i] == ((c * 10 + buckets[0]) * 10 + buckets[1]) * 10 + buckets[2]
    assert set(np.flatnonzero(used).tolist()) == set(part.tolist())
    rank = np.cumsum(used).astype(np.int32) - 1
    wanted = rank[part]
    recode(part, rank)
    assert (part == wanted).all()
