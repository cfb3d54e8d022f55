"""Tubes with few sections and corners, which stand in for them in small pictures."""

from types import SimpleNamespace

import numpy as np

from tracevis3d.scene.window.highlight import outline


def tubes(counts, sides=24, radius=0.5):
    """Return straight tubes along x with so many sections, beside each other along y."""
    turn = 2 * np.pi * np.arange(sides) / sides
    rings = [
        np.stack([np.full(sides, x), 3 * k + radius * np.cos(turn), radius * np.sin(turn)], axis=1)
        for k, count in enumerate(counts)
        for x in np.linspace(0.0, 9.0, count)
    ]
    first = np.concatenate([[0], np.cumsum(counts)])
    return SimpleNamespace(word="Tubes", first=first, ring=np.array(rings, np.float32), sides=sides)


def test_a_coarse_tube_reaches_as_far_with_few_faces():
    counts = np.array([40, 7, 2, 1])
    for which in (np.arange(4), np.array([1, 3]), np.array([2])):
        fine, coarse = (outline(tubes(counts), which, coarse=coarse) for coarse in (False, True))
        assert len(fine.triangle) == 2 * 24 * (counts[which] - 1).sum()
        assert len(coarse.triangle) == 2 * 6 * (np.minimum(counts[which], 10) - 1).sum()
        for k in which.tolist():
            near = [np.abs(shape.point[:, 1] - 3 * k) < 1 for shape in (fine, coarse)]
            ends = [
                (shape.point[at].min(axis=0), shape.point[at].max(axis=0))
                for shape, at in zip((fine, coarse), near)
            ]
            np.testing.assert_allclose(ends[1], ends[0], atol=0.07)
        # Each face joins two sections of one tube.
        corners = coarse.point[coarse.triangle]
        assert (np.ptp(corners[..., 1], axis=1) <= 1.01).all()
        assert (np.ptp(corners[..., 0], axis=1) > 0).all()
