"""The camera moves back until its subject just fits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Camera
from tracevis3d.drawing.projection import fit

COORDINATE = st.floats(-50, 50)
EXTENT = st.floats(0.5, 40)
ANGLE = st.floats(-1.4, 1.4)


@st.composite
def cameras(draw):
    low = [draw(COORDINATE) for _ in range(3)]
    high = [value + draw(EXTENT) for value in low]
    turn, tilt = draw(ANGLE), draw(ANGLE)
    direction = (np.sin(turn) * np.cos(tilt), -np.cos(turn) * np.cos(tilt), np.sin(tilt))
    projection = draw(st.sampled_from(["perspective", "orthographic"]))
    return Camera(direction, tuple(low), tuple(high), projection=projection, lens=draw(st.floats(20, 200)))


FRAMES = st.builds(Frame, st.integers(100, 4000), st.integers(100, 4000))


@given(cameras(), FRAMES, st.floats(0.3, 1), st.floats(0.3, 1))
def test_the_box_just_fits_its_share_of_the_picture(camera, frame, wide, tall):
    projection = fit(camera, frame, (wide, tall))
    corner = np.array(list(itertools.product(*zip(camera.low, camera.high))))
    pixels = projection.pixels(corner)
    low, high = pixels.min(axis=0), pixels.max(axis=0)
    room = np.array([frame.width * wide, frame.height * tall])
    middle = np.array([frame.width, frame.height]) / 2
    assert (low >= middle - room / 2 - 0.5).all()
    assert (high <= middle + room / 2 + 0.5).all()
    filled = (high - low) / room
    assume(np.isfinite(filled).all())
    assert filled.max() == pytest.approx(1, abs=0.01)


@given(cameras(), FRAMES)
def test_the_axes_of_the_camera_are_orthonormal_and_right_handed(camera, frame):
    p = fit(camera, frame)
    axes = np.array([p.right, p.up, p.forward])
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(np.cross(p.right, p.up), -p.forward, atol=1e-9)


@given(st.floats(20, 200), FRAMES)
def test_from_the_front_a_plane_is_shown_to_scale(lens, frame):
    camera = Camera((0, -1, 0), (0, 0, 0), (16, 0, 9), lens=lens)
    p = fit(camera, frame)
    x, z = np.meshgrid(np.linspace(0, 16, 5), np.linspace(0, 9, 4))
    points = np.stack([x.ravel(), np.zeros(x.size), z.ravel()], axis=1)
    pixels = p.pixels(points)
    scale = (pixels[-1] - pixels[0]) / [16, 9]
    assert scale[0] == pytest.approx(scale[1])
    np.testing.assert_allclose(pixels, pixels[0] + points[:, [0, 2]] * scale[0], atol=1e-6)


def test_straight_from_above_is_no_special_case():
    camera = Camera((0, 0, 1), (0, 0, 0), (4, 4, 1))
    assert np.isfinite(fit(camera, Frame()).pixels([(1, 2, 0.5)])).all()
