"""Rulers: which part of an axis is in sight, and where its ticks lie."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.overlay.test_compose import AXES, HEIGHT, WIDTH, measure, seen_from
from tracevis3d.drawing.primitives import Axis
from tracevis3d.overlay.items import Overlay, Theme
from tracevis3d.overlay.rulers import lay_rulers

FREE = (30.0, 60.0, WIDTH - 20.0, HEIGHT - 40.0)
THEME = Theme()
number = st.floats(-20, 20)
point = st.tuples(number, number, number)


def ruler(axis, eye):
    """Return the line of an axis's ruler, which runs from pixel to pixel; None without."""
    out = Overlay()
    lay_rulers((axis,), eye, FREE, np.array(axis.origin, np.float64), THEME, measure, out)
    return out.lines[0][:2] if out.lines else None


@settings(max_examples=60)
@given(point, point, point)
def test_a_ruler_covers_the_part_of_its_axis_that_is_in_sight(start, end, where):
    """Held to samples of the axis."""
    way = np.subtract(end, start)
    length = float(np.linalg.norm(way))
    # An axis through the eye is a point, but for samples in the eye itself, which fall anywhere.
    aside = np.linalg.norm(np.cross(np.subtract(where, start), way)) / max(length, 1e-9)
    if length < 0.1 or aside < 0.01:
        return
    axis = Axis(start, tuple(way / length), length, (), (), window=(0, 10**9))
    eye = seen_from(np.array(where))
    at = eye.pixels(np.array(start) + np.linspace(0, 1, 4001)[:, None] * way)
    with np.errstate(invalid="ignore"):
        inside = ((at >= FREE[:2]) & (at <= FREE[2:])).all(axis=1)
    seen = at[inside]
    found = ruler(axis, eye)
    long = np.linalg.norm(seen[-1] - seen[0]) if len(seen) else 0.0
    if found is None:
        assert long < 145
    elif long > 145:
        step = np.linalg.norm(np.diff(seen, axis=0), axis=1).max()
        ends = np.array([seen[0], seen[-1]])
        assert np.abs(np.array(found) - ends).max() <= step + 1


def test_rulers_of_time_are_in_one_unit():
    right, up, forward = AXES
    eye, out = seen_from(-8 * forward), Overlay()
    axes = [
        Axis(tuple(high * up - 2 * right), tuple(right), 4.0, (), (), window=(0, last))
        for high, last in ((1.0, 1_330_000_000), (-1.0, 980_000_000))
    ]
    lay_rulers(tuple(axes), eye, FREE, np.zeros(3), THEME, measure, out)
    units = [text.text.split()[-1] for text in out.texts]
    assert len(units) > 4
    assert set(units) == {"s"}
