"""Points and boxes in other coordinates, against homogeneous products one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tracevis3d.layout.sight.affine import (
    box_around,
    corners,
    diagonal,
    inverse_transformed,
    middle,
    transformed,
    transformed_box,
)

numbers = st.floats(-100, 100)
points = st.integers(1, 6).flatmap(lambda n: arrays(np.float64, (n, 3), elements=numbers))


@st.composite
def matrices(draw):
    """Return an affine matrix that is not flat: turned, stretched, sheared and moved."""
    matrix = np.eye(4)
    matrix[:3, :3] = draw(arrays(np.float64, (3, 3), elements=st.floats(-3, 3))) + 8 * np.eye(3)
    matrix[:3, 3] = draw(arrays(np.float64, 3, elements=numbers))
    return matrix


@given(matrices(), points)
def test_points_are_moved_as_homogeneous_columns(matrix, given):
    wanted = [(matrix @ [*point, 1.0])[:3] for point in given]
    assert np.allclose(transformed(matrix, given), wanted)
    assert np.allclose(transformed(matrix.tolist(), given[0]), wanted[0])


@given(matrices(), points)
def test_the_way_back(matrix, given):
    assert np.allclose(inverse_transformed(matrix, transformed(matrix, given)), given, atol=1e-6)


def test_nothing_comes_back_from_a_flat_object():
    with pytest.raises(np.linalg.LinAlgError):
        inverse_transformed(np.diag([1, 0, 1, 1]), [0, 0, 0])


def test_a_box_has_eight_corners():
    found = {tuple(corner) for corner in corners([0, 1, 2], [3, 4, 5]).tolist()}
    assert found == {(x, y, z) for x in (0, 3) for y in (1, 4) for z in (2, 5)}


@given(matrices(), points, st.floats(0, 50))
def test_a_moved_box_holds_the_boxes_and_no_more(matrix, low, size):
    a, b = transformed_box(matrix, low, low + size)
    inside = transformed(matrix, np.concatenate([low, low + size]))
    assert (inside >= a - 1e-6).all()
    assert (inside <= b + 1e-6).all()
    around = transformed(matrix, corners(low.min(axis=0), low.max(axis=0) + size))
    assert np.allclose(around.min(axis=0), a)
    assert np.allclose(around.max(axis=0), b)


def test_boxes_together():
    one, other = (np.zeros(3), np.array([1.0, 2, 2])), (np.array([-1.0, 1, 1]), np.ones(3))
    low, high = box_around(box for box in (one, other))
    assert low.tolist() == [-1, 0, 0]
    assert high.tolist() == [1, 2, 2]
    assert box_around([]) is None
    assert diagonal(one) == 3.0
    assert middle(one).tolist() == [0.5, 1, 1]
