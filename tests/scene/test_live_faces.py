"""Faces of live bars that are left out can't be seen, from wherever it is looked at."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("bpy")
import bpy

from tracevis3d.scene.geometry import meshes
from tracevis3d.scene.live.bar_mesh import EDGES, FACES, topology
from tracevis3d.scene.live.faces import ALL, seen

CORNERS = np.array(
    [[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]], float
)
PLACES = st.tuples(*[st.floats(-30, 30)] * 3)


@given(st.lists(PLACES, min_size=1, max_size=3), st.integers(0, 10**6))
@settings(deadline=None, max_examples=80)
def test_no_face_that_looks_at_an_eye_is_left_out(eyes, seed) -> None:
    low, high = np.array([-16.0, 0.0, 0.0]), np.array([0.0, 0.9, 6.4])
    found = seen(eyes, low, high, straight=True)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        ends = np.sort(low + (high - low) * rng.random((2, 3)), axis=0)
        corner = ends[0] + CORNERS * (ends[1] - ends[0])
        for face, is_kept in zip(FACES, found, strict=True):
            a, b, c, _ = corner[face]
            # Outwards: away from the box's middle.
            normal = np.cross(b - a, c - a)
            normal *= np.sign(np.dot(normal, a - corner.mean(axis=0)))
            if any(np.dot(normal, np.array(eye) - a) > 1e-9 for eye in eyes):
                assert is_kept


def test_half_of_the_faces_do_from_where_one_looks_as_a_rule() -> None:
    low, high = (-16.0, 0.0, 0.0), (0.0, 0.9, 6.4)
    assert sum(seen([(5.0, -25.0, 11.0)], low, high, straight=True)) == 3
    # Of bars whose sides lie askew only the ends tell.
    assert sum(seen([(5.0, -25.0, 11.0)], low, high, straight=False)) == 5
    assert seen([(-8.0, 0.4, 3.0)], low, high, straight=True) == ALL


@given(st.lists(st.booleans(), min_size=6, max_size=6).filter(any), st.integers(1, 4))
@settings(deadline=None, max_examples=64)
def test_a_mesh_of_some_faces_is_sound(faces, n) -> None:
    corner, first, edge, corner_edge = topology(tuple(faces), n)
    wanted = [(FACES[i] + 8 * bar).tolist() for bar in range(n) for i in range(6) if faces[i]]
    assert corner.reshape(-1, 4).tolist() == wanted
    assert first.tolist() == list(range(0, len(corner), 4))
    # Each edge is one of a bar's, is used, and joins the corners that it is given to.
    known = {
        tuple(sorted(e)) for e in (EDGES[None] + 8 * np.arange(n)[:, None, None]).reshape(-1, 2).tolist()
    }
    assert {tuple(sorted(e)) for e in edge.tolist()} <= known
    assert set(corner_edge.tolist()) == set(range(len(edge)))
    for i, face in enumerate(wanted):
        for k in range(4):
            assert sorted(edge[corner_edge[4 * i + k]].tolist()) == sorted((face[k], face[(k + 1) % 4]))
    mesh = bpy.data.meshes.new("faces")
    meshes.fill(mesh, np.zeros((8 * n, 3), np.float32), corner, first, edge, corner_edge)
    assert len(mesh.polygons) == n * sum(faces)
    bpy.data.meshes.remove(mesh)
