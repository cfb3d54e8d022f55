"""Colours: distinct, orderly, and still told apart by people with a colour deficiency."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.drawing.palettes import OTHER, PALETTES, cycle, parse

SAFE = [name for name in PALETTES if name != "paper"]

# Deuteranopia and protanopia at full severity, on linear RGB (Machado, Oliveira and Fernandes 2009).
DEFICIENCIES = {
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}


def linear(srgb):
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIELAB of linear RGB (..., 3)."""
    xyz = np.clip(rgb, 0, 1) @ np.array(
        [[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]]
    )
    f = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    return np.stack(
        [116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1
    )


def distance(colors, deficiency=None):
    rgb = linear(np.asarray(colors, np.float64)[:, :3])
    if deficiency:
        rgb = rgb @ np.array(DEFICIENCIES[deficiency]).T
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(lab(rgb), 2))


@pytest.mark.parametrize("name", PALETTES)
def test_palettes_are_opaque_srgb(name):
    palette = PALETTES[name]
    for colors in (palette.kinds, palette.anchors, palette.ramp(100)):
        assert colors.dtype == np.float32
        assert colors.shape[1] == 4
        assert ((colors >= 0) & (colors <= 1)).all()
        assert (colors[:, 3] == 1).all()
    assert palette.words


@pytest.mark.parametrize("name", PALETTES)
def test_kinds_differ_from_each_other_and_from_the_grey_of_others(name):
    assert distance([*PALETTES[name].kinds, OTHER]) > 11


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("name", SAFE)
def test_the_first_kinds_differ_for_the_colour_blind_too(name, deficiency):
    assert distance(PALETTES[name].kinds[:7], deficiency) > 8


@pytest.mark.parametrize("deficiency", [None, *DEFICIENCIES])
@pytest.mark.parametrize("name", SAFE)
def test_ramps_grow_lighter_all_the_way(name, deficiency):
    rgb = linear(PALETTES[name].ramp(64)[:, :3].astype(np.float64))
    if deficiency:
        rgb = rgb @ np.array(DEFICIENCIES[deficiency]).T
    lightness = lab(rgb)[:, 0]
    assert (np.diff(lightness) > -0.35).all()
    assert lightness[-1] - lightness[0] > 60


def test_the_papers_ramp_is_the_rainbow_from_blue_to_red():
    ramp = PALETTES["paper"].ramp(5)
    np.testing.assert_allclose(
        ramp[:, :3], [[0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0], [1, 0, 0]], atol=1e-6
    )


@pytest.mark.parametrize("name", PALETTES)
def test_a_ramp_goes_through_its_anchors(name):
    anchors = PALETTES[name].anchors
    np.testing.assert_allclose(PALETTES[name].ramp(len(anchors)), anchors, atol=1e-6)


def test_hexadecimal_colours_are_read():
    np.testing.assert_allclose(parse("ff0080 000000"), [[1, 0, 128 / 255, 1], [0, 0, 0, 1]], atol=1e-6)


@given(st.integers(0, 200), st.integers(3, 12))
def test_neighbours_in_a_ring_never_share_a_colour(n, colors):
    given_colors = cycle(n, colors)
    assert len(given_colors) == n
    assert ((given_colors >= 0) & (given_colors < colors)).all()
    if n > 1:
        assert (given_colors != np.roll(given_colors, 1)).all()
    assert len(set(given_colors.tolist())) == min(n, colors)
