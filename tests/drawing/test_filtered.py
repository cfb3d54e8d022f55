"""Some elements of a drawing, alone."""

from __future__ import annotations

import numpy as np
import pytest

from tracevis3d.drawing.filtered import taken
from tracevis3d.drawing.primitives import Tubes


@pytest.mark.parametrize("full", [True, False])
def test_tubes_keep_what_is_theirs(full):
    n = 5
    first = np.array([0, 2, 5, 7, 10, 12])
    point = np.arange(36, dtype=np.float32).reshape(12, 3)
    optional = {
        "end_color": np.arange(10, 15, dtype=np.int32),
        "gloss": np.linspace(0, 1, n, dtype=np.float32),
        "time": np.linspace(0.5, 0.9, n, dtype=np.float32),
    }
    tubes = Tubes(
        "tube", point, point[:, :2], first, np.arange(n, dtype=np.int32), np.arange(20, 25),
        **(optional if full else {}),
    )  # fmt: skip
    which = np.array([3, 0])
    some = taken(tubes, which)
    assert [some.point[a:b].tolist() for a, b in zip(some.first[:-1], some.first[1:], strict=True)] == [
        point[first[i] : first[i + 1]].tolist() for i in which
    ]
    assert some.id.tolist() == [23, 20]
    for name, values in optional.items():
        assert getattr(some, name).tolist() == (values[which].tolist() if full else [])
