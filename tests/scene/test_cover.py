"""Texts that something stands before aren't shown: measured on what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("bpy")

from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Boxes, Camera, Drawing, Labels, Tubes
from tracevis3d.scene.build import build
from tracevis3d.scene.text.cover import _ACROSS, _ALONG, Cover

pytestmark = pytest.mark.blender

PALETTE = np.array([[0.7, 0.3, 0.2, 1]], np.float32)


def boxes(low: np.ndarray, size: np.ndarray) -> Boxes:
    n = len(low)
    return Boxes(
        "call", np.float32(low), np.float32(size), np.zeros(n, np.int32), np.arange(n, dtype=np.int64)
    )


def built(projection: str, *elements, labels=()):
    camera = Camera((0, -1, 0.3), (0, 0, 0), (10, 4, 5), projection=projection)
    return build(Drawing(PALETTE, tuple(elements), camera, labels), frame=Frame(640, 360))


def meets(point: np.ndarray, toward: np.ndarray, far: float, low: np.ndarray, size: np.ndarray) -> bool:
    """Walk along the ray in small steps."""
    t = np.linspace(2e-3, min(far, 30.0), 4000)
    at = point + toward / np.linalg.norm(toward) * t[:, None]
    return bool(((at[:, None] > low) & (at[:, None] < low + size)).all(axis=2).any())


@given(st.integers(0, 10_000), st.sampled_from(["perspective", "orthographic"]))
@settings(max_examples=12, deadline=None)
def test_what_is_covered_is_that_of_the_plain_rule(seed, projection):
    rng = np.random.default_rng(seed)
    low, size = rng.uniform(0, 9, (6, 3)), rng.uniform(0.3, 2, (6, 3))
    scene = built(projection, boxes(low, size))
    cover = Cover(scene.drawing, scene.view)
    left, right, up = rng.uniform(0, 8, 3), np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
    wide, high = 1.5, 0.1
    hidden = 0
    for along in _ALONG:
        for across in _ACROSS:
            point = left + right * along * wide + up * across * high
            view = scene.view
            toward = view.eye - point if view.perspective else -view.forward
            far = float(np.linalg.norm(toward)) if view.perspective else np.inf
            hidden += meets(point, toward, far, low, size)
    count = len(_ALONG) * len(_ACROSS)
    # Steps may pass a corner.
    assert abs(cover.share(left, right, up, wide, high) * count - hidden) <= 1


def test_a_name_behind_a_box_is_left_out_and_one_before_it_is_not():
    wall = boxes(np.array([[0, 2, 0]]), np.array([[10, 0.5, 4]]))
    names = [
        Labels(
            "function", (text,), np.float32([[x, y, 2]]), np.float32([0.4]), np.float32([9]), np.float32([1])
        )
        for text, x, y in (("before", 2.5, 1.9), ("behind", 7.5, 3.0))
    ]
    shown = built("orthographic", wall, labels=tuple(names))
    assert shown.counts["labels"] == 1
    assert shown.counts["labels_left_out"] == 1


def test_a_name_below_a_wide_tube_is_left_out():
    path = np.array([[5, 0, 0], [5, 0, 4]], np.float32)
    tube = Tubes(
        "tube", path, np.tile(np.float32([3.0, 0.1]), (2, 1)), np.array([0, 2]), np.zeros(1, np.int32),
        np.zeros(1, np.int64), level=True,
    )  # fmt: skip
    name = Labels(
        "function",
        ("hidden",),
        np.float32([[5, 1.0, 2]]),
        np.float32([0.4]),
        np.float32([9]),
        np.float32([1]),
    )
    assert built("orthographic", tube, labels=(name,)).counts["labels"] == 0
    assert built("orthographic", labels=(name,)).counts["labels"] == 1
