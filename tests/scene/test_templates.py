"""Templates: one mesh of all shapes and colours that boxes need."""

import numpy as np
import pytest

pytest.importorskip("bpy")

from tracevis3d.drawing.primitives import Camera
from tracevis3d.scene import materials, styles
from tracevis3d.scene.geometry import templates
from tracevis3d.scene.styles import Light


def test_shapes_that_are_laid_out_together_are_as_each_alone():
    style, light = styles.named("paper"), Light.of(Camera((0, -1, 0), (0, 0, 0), (10, 0, 10)))
    shapes = [
        templates.plain_box((0.1, 0.0, 0.0), 1, 0),
        templates.plain_box((0.0, 0.2, 0.1), 1, 0),
        templates.plain_box((0.1, 0.1, 0.1), 1, 3),
        templates.plain_box((0.05, 0.0, 0.0), 1, 0),
        templates.box((0.1, 0.2, 0.05), 1, 5),
    ]
    colors = np.random.default_rng(1).random((6, 4)).astype(np.float32)
    parts = [(shape, colors[i : i + 1 + i % 3]) for i, shape in enumerate(shapes)]
    whole = templates.template("whole", parts, style, light)
    alone = [templates.template("alone", [part], style, light) for part in parts]

    def read(mesh, name, prop, dtype, wide):
        found = np.empty(len(mesh.attributes[name].data) * wide, dtype)
        mesh.attributes[name].data.foreach_get(prop, found)
        return found.tolist()

    for name, prop, dtype, wide in (
        ("position", "vector", np.float32, 3),
        (materials.TINT, "color", np.float32, 4),
        (materials.SHADED, "color", np.float32, 4),
        ("sharp_face", "value", np.bool_, 1),
    ):
        assert read(whole, name, prop, dtype, wide) == [
            x for mesh in alone for x in read(mesh, name, prop, dtype, wide)
        ], name
    assert read(whole, "part", "value", np.int32, 1) == [
        part + sum(len(c) for _, c in parts[:i])
        for i, mesh in enumerate(alone)
        for part in read(mesh, "part", "value", np.int32, 1)
    ]
    first = 0
    corners = [int(v) for p in whole.polygons for v in p.vertices]
    wanted = []
    for mesh in alone:
        wanted += [first + int(v) for p in mesh.polygons for v in p.vertices]
        first += len(mesh.vertices)
    assert corners == wanted
