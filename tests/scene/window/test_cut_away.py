"""What lies beside a slab is left out of the scene, held to the definition box by box and face by face."""

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from tests.support.drawings import everything  # noqa: E402
from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.primitives import Lines, Marks, Tubes, Wedges  # noqa: E402
from tracevis3d.scene.build import build  # noqa: E402
from tracevis3d.scene.geometry import forms  # noqa: E402
from tracevis3d.scene.geometry.forms import Form  # noqa: E402
from tracevis3d.scene.window import cut_away, element_metadata  # noqa: E402

pytestmark = pytest.mark.blender
INF = np.inf
LOW, HIGH = (12.5, -INF, 2.0), (23.0, INF, INF)
#: A box of the economical form ends so much of itself before its neighbour at most.
GAP = 0.08


@pytest.fixture
def built():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    drawing = everything(200)
    built = build(replace(drawing, labels=()), frame=Frame(320, 180))
    element_metadata.write_drawing(built.collection, built.drawing, [None] * len(drawing.elements))
    return built


def shown_of(built, i):
    return next(o for o in built.collection.objects if o.get("tracevis3d_element") == i)


def points_of(shown):
    """Return what a 3D view draws of an object: its points in the scene, and the corners of its faces."""
    graph = bpy.context.evaluated_depsgraph_get()
    mesh = shown.evaluated_get(graph).to_mesh()
    at = np.array([shown.matrix_world @ v.co for v in mesh.vertices], np.float64).reshape(-1, 3)
    return at, [list(face.vertices) for face in mesh.polygons]


def bounds_of_boxes(element, low, high):
    """Return where each box begins and ends within a stretch, by the definition; of those that are left."""
    found = []
    for first, size in zip(element.low.astype(np.float64), element.size.astype(np.float64)):
        begin = [max(a, b) for a, b in zip(first, low)]
        end = [min(a + c, b) for a, c, b in zip(first, size, high)]
        if all(a < b for a, b in zip(begin, end)):
            found.append((begin, end))
    return np.array(found).reshape(-1, 2, 3)


def held_to(at, wanted):
    """Assert that points are those of boxes, but for the gaps between neighbours."""
    boxes = at.reshape(-1, 8, 3)
    assert len(boxes) == len(wanted) > 5
    slack = GAP * (wanted[:, 1] - wanted[:, 0]) + 1e-4
    begin, end = boxes.min(axis=1), boxes.max(axis=1)
    assert (begin >= wanted[:, 0] - 1e-4).all()
    assert (begin <= wanted[:, 0] + slack).all()
    assert (end <= wanted[:, 1] + 1e-4).all()
    assert (end >= wanted[:, 1] - slack).all()


def test_boxes_are_cut_exactly_and_come_back(built):
    element, shown = built.drawing.elements[0], shown_of(built, 0)
    whole, _ = points_of(shown)
    held_to(whole, bounds_of_boxes(element, (-INF,) * 3, (INF,) * 3))
    cut_away.cut(shown, LOW, HIGH)
    assert cut_away.is_cut(shown)
    held_to(points_of(shown)[0], bounds_of_boxes(element, LOW, HIGH))
    # A plane that is dragged on.
    cut_away.cut(shown, (14.0, -INF, -INF), HIGH)
    held_to(points_of(shown)[0], bounds_of_boxes(element, (14.0, -INF, -INF), HIGH))
    assert len([m for m in shown.modifiers if m.name.startswith("TraceVis3D Slab")]) == 1
    cut_away.restore(shown)
    assert not cut_away.is_cut(shown)
    np.testing.assert_array_equal(points_of(shown)[0], whole)


def test_an_object_that_is_moved_and_turned_is_cut_where_the_scene_says(built):
    element, shown = built.drawing.elements[0], shown_of(built, 0)
    shown.location, shown.rotation_euler = (3.0, 0.0, 1.0), (0.0, 0.0, np.pi)
    bpy.context.view_layer.update()
    cut_away.cut(shown, (-20.0, -INF, 4.0), (-9.5, INF, INF))
    # Turned about z, x runs the other way.
    wanted = bounds_of_boxes(element, (12.5, -INF, 3.0), (23.0, INF, INF))
    wanted = wanted * [-1, -1, 1] + [3.0, 0.0, 1.0]
    held_to(points_of(shown)[0], np.sort(wanted, axis=1))


def test_pictures_are_cut_too(built):
    element, shown = built.drawing.elements[0], shown_of(built, 0)
    forms.show([shown], Form.FULL)
    cut_away.cut(shown, LOW, HIGH)
    graph = bpy.context.evaluated_depsgraph_get()
    graph.update()
    at = np.array(
        [
            tuple(i.matrix_world.translation)
            for i in graph.object_instances
            if i.is_instance and i.parent.original == shown
        ]
    )
    wanted = bounds_of_boxes(element, LOW, HIGH)
    np.testing.assert_allclose(np.sort(at[:, 0]), np.sort(wanted[:, 0, 0]), atol=1e-4)


def test_signs_are_left_out_as_a_whole(built):
    i = next(i for i, e in enumerate(built.drawing.elements) if isinstance(e, Marks))
    element, shown = built.drawing.elements[i], shown_of(built, i)
    before = len(points_of(shown)[0])
    middle = float(np.median(element.point[:, 0])) + 1e-3
    cut_away.cut(shown, (middle, -INF, -INF), (INF,) * 3)
    left = int((element.point[:, 0] > middle).sum())
    assert len(points_of(shown)[0]) * len(element) == before * left


@pytest.mark.parametrize("word", [Tubes, Wedges, Lines])
def test_of_meshes_the_faces_beside_it_go(built, word):
    i = next(i for i, e in enumerate(built.drawing.elements) if isinstance(e, word))
    shown = shown_of(built, i)
    at, faces = points_of(shown)
    low, high = (np.percentile(at[:, 0], share) for share in (20.1, 70.1))
    cut_away.cut(shown, (low, -INF, -INF), (high, INF, INF))
    after, left = points_of(shown)
    beside = [(at[face, 0] < low).all() or (at[face, 0] > high).all() for face in faces]
    if word is not Lines:
        assert len(left) == len(faces) - sum(beside) < len(faces)
    # What is left ends at it.
    assert after[:, 0].min() == pytest.approx(low, abs=1e-4)
    assert after[:, 0].max() == pytest.approx(high, abs=1e-4)


def test_lines_that_cross_a_slab_keep_their_direction():
    """One line from (0, 0, 0) to (10, 4, 2): what is left lies on it, from end to end of the slab."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    line = Lines(
        kind="link",
        point=np.array([[0, 0, 0], [10, 4, 2]], np.float32),
        first=np.array([0, 2]),
        width=np.array([0.05], np.float32),
        color=np.zeros(1, np.int32),
        id=np.zeros(1, np.int64),
    )
    drawing = replace(everything(20), labels=(), elements=(line,))
    built = build(drawing, frame=Frame(320, 180))
    element_metadata.write_drawing(built.collection, built.drawing, [None])
    shown = shown_of(built, 0)
    cut_away.cut(shown, (3.0, -INF, -INF), (7.0, INF, INF))
    after, _ = points_of(shown)
    assert after[:, 0].min() == pytest.approx(3.0, abs=1e-4)
    assert after[:, 0].max() == pytest.approx(7.0, abs=1e-4)
    along = np.array([10, 4, 2]) / np.linalg.norm([10, 4, 2])
    away = after - (after @ along)[:, None] * along
    # A 64th of the line, and its own thickness.
    assert np.linalg.norm(away, axis=1).max() < 0.05 + 10.95 / 64
