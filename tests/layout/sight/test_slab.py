"""What lies beside a stretch of a box, against points."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tracevis3d.layout.sight.slab import LEAST, Slab, beside

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


shares = st.tuples(st.integers(0, 90), st.integers(5, 10)).map(lambda s: (s[0] / 100, (s[0] + s[1]) / 100))
slabs = st.dictionaries(st.integers(0, 2), shares).map(
    lambda found: Slab((-1.0, 2.0, 0.0), (3.0, 3.0, 10.0), tuple((a, *s) for a, s in found.items()))
)
points = st.tuples(st.floats(-2, 4), st.floats(1, 4), st.floats(-1, 11))


@given(slabs, points)
def test_bounds_are_of_what_is_shown(slab, point):
    inside = all(slab.ends(axis)[0] <= point[axis] <= slab.ends(axis)[1] for axis in (0, 1, 2))
    low, high = slab.bounds()
    assert ((low <= point) & (point <= high)).all() == inside
    assert {axis for axis in (0, 1, 2) if np.isfinite(low[axis])} == {part[0] for part in slab.shares}


@given(slabs, points, points)
@example(Slab((-1.0, 2.0, 0.0), (3.0, 3.0, 10.0), ((2, 0.0, 0.05),)), (0.0, 1.0, 0.0), (1.0, 2.0, -1.0))
def test_a_ray_runs_through_what_is_shown(slab, origin, towards):
    direction = np.array(towards) - origin
    if np.abs(direction).min() < 1e-3:
        return
    found = slab.along(origin, direction)
    at = np.linspace(0.0, 3.0, 301)
    low, high = slab.bounds()
    point = np.array(origin) + at[:, None] * direction
    inside = ((point >= low) & (point <= high)).all(axis=1)
    begin, end = found if found is not None else (1.0, 0.0)
    surely = (at > begin + 1e-6) & (at < end - 1e-6)
    assert inside[surely].all()
    assert not inside[(at < begin - 1e-6) | (at > end + 1e-6)].any()


@given(slabs, st.integers(0, 2), st.integers(0, 1), st.floats(-0.5, 1.5), st.booleans())
def test_a_dragged_plane_stays_in_the_box(slab, axis, end, share, both):
    dragged = slab.dragged(axis, end, share, both)
    before = {own: rest for own, *rest in slab.shares}
    for own, first, last in dragged.shares:
        assert 0 <= first < last <= 1 + 1e-9
        if own != axis:
            assert before[own] == [first, last]
        elif both:
            assert abs((last - first) - (before[own][1] - before[own][0])) < 1e-9
        elif end:
            assert first == before[own][0]
            assert last >= first + LEAST - 1e-9
        else:
            assert last == before[own][1]


@given(slabs)
def test_sections_lie_in_the_box(slab):
    for axis, first, last in slab.shares:
        for end, share in ((0, first), (1, last)):
            corners = slab.section(axis, end)
            wanted = slab.low[axis] + share * (slab.high[axis] - slab.low[axis])
            assert np.allclose(corners[:, axis], wanted)
            for other in {0, 1, 2} - {axis}:
                assert sorted(set(corners[:, other])) == [slab.low[other], slab.high[other]]
            assert len({tuple(corner) for corner in corners}) == 4
