"""Tubes: frames, rings and faces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.kernels.layout.sweep import sweep_frames
from tracevis3d.layout.tube import Buffers, sweep

LIGHT = np.array([0, -1, 0, 0.4, 0.6, 0.5], np.float32)


def frames(point: np.ndarray, side=(0.0, 0.0, 0.0)) -> np.ndarray:
    out = np.empty((len(point), 6), np.float32)
    sweep_frames(
        np.ascontiguousarray(point, np.float32),
        np.array([0, len(point)], np.int64),
        np.array(side, np.float32),
        0,
        1,
        out,
    )
    return out.reshape(-1, 2, 3)


def twin_frames(point: np.ndarray) -> np.ndarray:
    """Double reflection in float64, point by point, after the paper's table I."""
    x = np.asarray(point, np.float64)
    t = np.array([x[min(i + 1, len(x) - 1)] - x[max(i - 1, 0)] for i in range(len(x))])
    t /= np.linalg.norm(t, axis=1, keepdims=True)
    start = np.zeros(3)
    start[np.argmin(np.abs(t[0]))] = 1
    r = [start - (start @ t[0]) * t[0]]
    r[0] /= np.linalg.norm(r[0])
    for i in range(len(x) - 1):
        v1 = x[i + 1] - x[i]
        rl = r[i] - 2 / (v1 @ v1) * (v1 @ r[i]) * v1
        tl = t[i] - 2 / (v1 @ v1) * (v1 @ t[i]) * v1
        v2 = t[i + 1] - tl
        c2 = v2 @ v2
        r.append(rl - 2 / c2 * (v2 @ rl) * v2 if c2 > 1e-14 else rl)
    return np.stack([t, np.array(r)], axis=1)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 30), st.integers(0, 10_000))
def test_frames_are_those_of_the_twin(n, seed):
    rng = np.random.default_rng(seed)
    # Steps that turn by less than a right angle: beyond that neighbouring tangents may cancel.
    steps = rng.normal(size=(n, 3)) * 0.25 + [1.0, 0.3, -0.2]
    point = np.cumsum(steps, axis=0)
    assert np.allclose(frames(point), twin_frames(point), atol=2e-3)


def test_frames_turn_by_the_torsion_of_a_helix():
    """A frame that minimises rotation turns against the normal by the integral of the torsion."""
    radius, pitch, turns, n = 2.0, 0.7, 3.0, 4000
    u = np.linspace(0, 2 * np.pi * turns, n)
    point = np.stack([radius * np.cos(u), radius * np.sin(u), pitch * u], axis=1)
    made = frames(point)
    inward = -np.stack([np.cos(u), np.sin(u), np.zeros(n)], axis=1)
    other = np.cross(made[:, 0], inward)
    angle = np.unwrap(np.arctan2((made[:, 1] * other).sum(axis=1), (made[:, 1] * inward).sum(axis=1)))
    torsion = pitch / (radius**2 + pitch**2)
    length = np.hypot(radius, pitch) * u[-1]
    assert angle[-1] - angle[0] == pytest.approx(-torsion * length, abs=0.02)


def test_frames_are_orthonormal_whatever_the_path():
    rng = np.random.default_rng(3)
    point = np.concatenate(
        [
            np.repeat(rng.normal(size=(1, 3)), 4, axis=0),
            rng.normal(size=(50, 3)),
            np.zeros((3, 3)),
            [[0, 0, 1], [0, 0, 0]],
        ]
    )
    for side in ((0, 0, 0), (1, 0, 0), (0, 0, 1)):
        made = frames(point, side)
        assert np.isfinite(made).all()
        assert np.allclose(np.linalg.norm(made, axis=2), 1, atol=1e-4)
        assert np.abs((made[:, 0] * made[:, 1]).sum(axis=1)).max() < 1e-3


def test_width_keeps_to_its_side():
    u = np.linspace(0, 1, 40)
    point = np.stack([np.sin(3 * u), 3 * u, np.cos(2 * u)], axis=1)
    made = frames(point, (1, 0, 0))
    wanted = np.array([1, 0, 0]) - made[:, 0] * made[:, 0, :1]
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    kept = np.abs(made[:, 0, 0]) < 0.9
    assert kept.any()
    assert np.allclose(made[kept, 1], wanted[kept], atol=1e-3)


def tubes(lengths, sides=7, seed=0):
    rng = np.random.default_rng(seed)
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    point = np.cumsum(rng.normal(size=(first[-1], 3)) * 0.2 + [1, 0, 0], axis=0).astype(np.float32)
    radius = np.tile([0.3, 0.1], (len(point), 1)).astype(np.float32)
    color = np.ones((len(lengths), 3), np.float32)
    return sweep(point, radius, first, (0, 0, 1), color, LIGHT, sides, Buffers()), point


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(3, 9))
def test_tubes_are_closed_bodies(lengths, sides):
    mesh, _ = tubes(lengths, sides)
    sizes = np.diff(np.append(mesh.face, len(mesh.corner)))
    assert sizes.sum() == len(mesh.corner)
    assert mesh.corner.max() == len(mesh.position) - 1
    assert len(mesh.owner) == len(mesh.face)
    # Each corner's edge joins it with the next corner of its face.
    following = np.arange(len(mesh.corner)) + 1
    following[np.append(mesh.face[1:], len(mesh.corner)) - 1] = mesh.face
    wanted = np.sort(np.stack([mesh.corner, mesh.corner[following]], axis=1), axis=1)
    assert (np.sort(mesh.edge[mesh.corner_edge], axis=1) == wanted).all()
    # Side faces share each inner edge in opposite directions: normals agree.
    heading = np.where(mesh.edge[mesh.corner_edge, 0] == mesh.corner, 1, -1)
    used = np.bincount(mesh.corner_edge, minlength=len(mesh.edge))
    net = np.bincount(mesh.corner_edge, weights=heading, minlength=len(mesh.edge))
    assert (net[used == 2] == 0).all()
    assert set(used.tolist()) <= {0, 1, 2}


def test_faces_look_outwards_and_sections_are_ellipses():
    mesh, point = tubes([12], 16)
    position = mesh.position.reshape(14, 16, 3)
    centre = position[1:-1].mean(axis=1)
    assert np.allclose(centre, point, atol=1e-5)
    reach = np.linalg.norm(position[1:-1] - centre[:, None], axis=2)
    assert np.allclose(reach.max(axis=1), 0.3, atol=1e-4)
    assert np.allclose(reach.min(axis=1), 0.1, atol=1e-4)
    for f in range(len(mesh.face)):
        corner = mesh.corner[mesh.face[f] : mesh.face[f] + 4]
        a, b, c = mesh.position[corner[:3]]
        ring = min(max(int(corner[0]) // 16 - 1, 0), 11)
        middle = (mesh.position[corner]).mean(axis=0)
        reference = (
            middle - point[ring] if f > 1 else (point[0] - point[1] if f == 0 else point[-1] - point[-2])
        )
        assert np.cross(b - a, c - a) @ reference > 0
    assert mesh.shaded.shape == (14 * 16, 4)
    assert (mesh.shaded[:, 3] == 1).all()
    assert (mesh.shaded[:, :3] > 0.5).all()


def test_buffers_are_used_again():
    buffers = Buffers()
    big = buffers.take("a", (10, 3), np.float32)
    small = buffers.take("a", (4, 3), np.float32)
    assert small.base is big.base


def test_light_falls_on_flat_tubes_as_on_round_ones():
    """A cushion: brightness turns with the angle around the section, whatever its radii."""
    rng = np.random.default_rng(3)
    point = np.array([[0, 0, 0], [0.5, 1, 0.2], [1, 2, 0]], np.float32)
    first, white = np.array([0, 3]), np.ones((1, 3), np.float32)
    toward = rng.normal(size=3)
    toward /= np.linalg.norm(toward)
    light = np.array([*toward, 0.3, 0.7, 0.2], np.float32)
    round_, flat = (
        sweep(point, np.tile(np.float32(radius), (3, 1)), first, (1, 0, 0), white, light, 12, Buffers())
        for radius in ([0.2, 0.2], [3.0, 0.05])
    )
    np.testing.assert_allclose(flat.shaded, round_.shaded, atol=1e-6)
    assert np.ptp(flat.shaded[:, 0]) > 0.2
