"""The texts of rulers: upright, at full height, and beside their ticks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

bpy = pytest.importorskip("bpy")

from tracevis3d.drawing.primitives import Axis  # noqa: E402
from tracevis3d.scene.text.axes import lay_out  # noqa: E402
from tracevis3d.scene.text.glyphs import typeface  # noqa: E402

GROUND = Axis(
    (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 10.0, (2.0, 5.0), ("2", "500 KiB"), title="Bytes",
    outward=(0.0, -1.0, 0.0),
)  # fmt: skip


def seen_from(turn: float, tilt: float):
    """Return right, up and forward of a camera."""
    a, b = math.radians(turn), math.radians(tilt)
    forward = np.array([-math.sin(a) * math.cos(b), math.cos(a) * math.cos(b), -math.sin(b)])
    right = np.array([math.cos(a), math.sin(a), 0.0])
    return right, np.cross(right, forward), forward


@settings(deadline=None)
@given(turn=st.floats(-60, 60), tilt=st.floats(10, 90))
def test_texts_on_the_ground_are_not_squeezed_and_clear_their_ticks(turn, tilt) -> None:
    right, up, forward = seen_from(turn, tilt)
    ruler = lay_out(GROUND, (right, up, forward), typeface())
    flat = np.stack([right, up])
    tall = np.linalg.norm(flat @ ruler.up)
    assert tall >= 0.8 - 1e-9
    assert ruler.right @ right > 0, "from left to right"
    assert ruler.up @ up > 0, "upright"
    assert abs(ruler.right @ ruler.up) < 1e-9
    # A text's box lies beyond the end of its tick: in the ground, or raised, as the camera sees it.
    if abs(ruler.up @ np.asarray(GROUND.outward)) > 1 - 1e-9:
        flat = np.eye(3)
    out = flat @ np.asarray(GROUND.outward)
    for k in range(2):
        tick = float(out @ (flat @ ruler.end[1 + k]))
        corners = [
            ruler.middle[k] + a * ruler.right * ruler.width[k] / 2 + b * ruler.up * ruler.height / 2
            for a in (-1, 1)
            for b in (-1, 1)
        ]
        assert min(float(out @ (flat @ corner)) for corner in corners) > tick - 1e-6


def test_texts_on_a_wall_stay_in_it() -> None:
    wall = Axis((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 10.0, (2.0,), ("2",), outward=(0.0, 0.0, -1.0))
    ruler = lay_out(wall, seen_from(20, 30), typeface())
    assert ruler.right == pytest.approx([1, 0, 0])
    assert ruler.up == pytest.approx([0, 0, 1])
